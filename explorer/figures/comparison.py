"""Comparison table of numbers from several studies, with export to Markdown, LaTeX and CSV."""

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.csv_rows import CsvRows
from explorer.figures.captions import parameter_text
from explorer.figures.table_copy import tex
from explorer.privacy.core.bound import Grade, Role
from explorer.studies.base.claims import conditions_of, failing_of
from explorer.studies.base.numbers import format_interval, format_number
from explorer.studies.base.plots import name_without_variant
from explorer.studies.base.study import (
    Condition,
    Request,
    Result,
    ScalarResult,
    Study,
    parameter,
    quantity,
    relevant,
)
from explorer.studies.registry import get_study

CURATOR_ONLY = "curator only"
_COLUMNS = (
    ("study", "Study"),
    ("quantity", "Quantity"),
    ("statement", "Statement"),
    ("role", "Role"),
    ("value", "Value"),
    ("low", "Low"),
    ("high", "High"),
    ("unit", "Unit"),
    ("at", "At"),
    ("conditions", "Conditions"),
    ("reference", "Reference"),
    ("stamp", "Stamp"),
)
_OPTIONAL = {"low", "high", "unit", "conditions", "reference", "stamp"}
"""Columns that are omitted if they are empty in all rows."""
_LOG_FROM = 30.0
"""Ratio of largest to smallest number from which the axis is logarithmic."""
_EDGES = {"low": Role.LOWER, "high": Role.UPPER}


@dataclass(frozen=True)
class ComparedRow:
    """A number with its context.

    Attributes
    ----------
    study, quantity, statement : str
        Name of the study, quantity with symbol, and theorem or mechanism.
    role : Role or None
    value, low, high : float or None
        The number and its error bar; None where there is none.
    unit : str
    settings : tuple of str
        Relevant parameters with their values.
    conditions : tuple of Condition
        Of the answer, without those of other curves.
    reference : str
    stamp : str
        Must be shown with the number, also in copies.
    recipe : str
        JSON from which it can be computed again.
    missing : str
        Why there is no value.
    short : str
        Short form of the statement.
    requested_quantity : str
        Quantity of the request, common to all rows of its answer.
    claimed : bool
        Whether it was the claim when it was added.
    grade : Grade or None
        Of the bound; None if it is none.
    delta : float or None
        The δ of the request; None without one.
    """

    study: str
    quantity: str
    statement: str
    role: Role | None
    value: float | None
    low: float | None
    high: float | None
    unit: str
    settings: tuple[str, ...]
    conditions: tuple[Condition, ...]
    reference: str
    stamp: str
    recipe: str = ""
    missing: str = ""
    short: str = ""
    requested_quantity: str = ""
    claimed: bool = False
    grade: Grade | None = None
    delta: float | None = None

    @property
    def at(self) -> str:
        """All settings."""
        return ", ".join(self.settings)

    @property
    def failing(self) -> tuple[Condition, ...]:
        """The conditions that do not hold, but for those that only say how sharp a bound is."""
        return failing_of(self.conditions)

    @property
    def conditions_text(self) -> str:
        """How many of its conditions hold, and which don't: ``✓ 2 · ✗ k ≤ n``."""
        holding = sum(c.holds is True for c in self.conditions)
        marks = [f"✓ {holding}"] if holding else []
        if self.failing:
            marks.append("✗ " + "; ".join(c.text for c in self.failing))
        return " · ".join(marks)


def compared_row(
    request: Request,
    key: str,
    result: Result | None,
    recipe: str = "",
    missing: str = "",
    *,
    claimed: bool = False,
) -> ComparedRow:
    """Return the row of a readout, or of a curve evaluated at one point.

    Without an answer the row has the reason.
    """
    study = get_study(request.study)
    shown = quantity(study, request.quantity)
    y = " ".join(filter(None, (shown.symbol, shown.name)))
    at = settings(request)
    delta = dict(request.values).get("delta")
    promise = float(delta) if isinstance(delta, float | int) else None
    number = _number_of(result, key) if result else None
    if result is None or number is None:
        why = missing or ("this answer does not have it" if result else "not computed")
        name = curve_name(study, key)
        return ComparedRow(
            study.name,
            y,
            name,
            None,
            None,
            None,
            None,
            "",
            at,
            (),
            "",
            "",
            recipe,
            why,
            short=name,
            requested_quantity=y,
            claimed=claimed,
            delta=promise,
        )
    series = next((s for s in result.series if s.key == key), None)
    # A readout of a curve's value is the quantity on the y axis; others have their own name.
    measured, unit = (y, number.unit or shown.unit) if series else (number.label, number.unit)
    if series:
        reference = str(series.reference)
    else:
        cited = result.guarantee.references if result.guarantee else ()
        reference = str(cited[0]) if cited else ""
    curator = number.curator_only or result.curator_only
    return ComparedRow(
        study.name,
        measured,
        number.label + ", claimed" * claimed,
        number.role,
        _finite(number.value),
        _finite(number.low),
        _finite(number.high),
        unit,
        at,
        conditions_of(result.conditions, result.series, [series] if series else []),
        reference,
        "; ".join(filter(None, (result.stamp, CURATOR_ONLY if curator else ""))),
        recipe,
        "" if number.value is not None else _why(number),
        short=study.short_name(key, number.label),
        requested_quantity=y,
        claimed=claimed,
        grade=series.grade if series and number.role in (Role.UPPER, Role.LOWER) else None,
        delta=promise,
    )


def curve_name(study: Study, key: str) -> str:
    """Return the name of a declared curve without its answer; of a readout its words."""
    names = {c.key: name_without_variant(c) for p in study.plots for c in p.curves}
    return study.short_name(key, names.get(key, "") or key.replace("_", " "))


def _number_of(result: Result, key: str) -> ScalarResult | None:
    """Return a readout, or the single point of a curve without one."""
    for item in result.readouts:
        if item.key == key:
            return item
    for s in result.series:
        if s.key == key and s.x.size == 1:
            low, high = (
                None if edge is None or not s.present[0] else float(edge[0])
                for edge in (s.low, s.high)
            )
            value = float(s.y[0]) if s.present[0] else None
            return ScalarResult(
                key, s.label, value, s.role, low=low, high=high, note=s.note or s.undefined_reason
            )
    return None


def varying_first(rows: Sequence[ComparedRow]) -> list[str]:
    """Return each row's settings, first those that differ between rows of a study."""
    rows_text = []
    for row in rows:
        others = [set(r.settings) for r in rows if r.study == row.study]
        common = set.intersection(*others)
        ordered = sorted(row.settings, key=lambda part: part in common)
        rows_text.append(", ".join(ordered))
    return rows_text


def settings(request: Request) -> tuple[str, ...]:
    """Return all relevant parameters with their values, including the x axis."""
    study, values = get_study(request.study), dict(request.values)
    swept = request.sweep.key if request.sweep is not None else ""
    axis_only = parameter(study, swept).axis_only if swept else False
    return tuple(
        parameter_text(p, values[p.key])
        for p in study.parameters
        if not p.axis_only
        and (relevant(p, values, request.quantity) or (axis_only and p.key == swept))
    )


def value_text(row: ComparedRow) -> str:
    """Return a row's number with the glyph of its role: ``≤ 1.04``."""
    glyph = f"{row.role.glyph} " if row.role is not None else ""
    if row.value is not None:
        return glyph + format_number(row.value, row.role)
    if row.low is not None and row.high is not None:
        return format_interval(row.low, row.high)
    return "–"


@dataclass(frozen=True)
class Group:
    """Rows with equal study, quantity and settings.

    Attributes
    ----------
    letter : str
        ``A``, ``B``, …
    title : str
        Differences from the other groups, and the study if there are several.
    places : tuple of int
        Indices of the rows.
    """

    letter: str
    title: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class Grouping:
    """Rows grouped by setting, and the settings that all groups share."""

    groups: tuple[Group, ...]
    common: str
    verdict: str


def group_rows(rows: Sequence[ComparedRow]) -> Grouping:
    """Group rows by study, quantity and settings, in order of first occurrence."""
    result: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    for place, row in enumerate(rows):
        result.setdefault((row.study, row.requested_quantity, row.settings), []).append(place)
    subjects = list(dict.fromkeys(key[:2] for key in result))
    groups = []
    for number, ((study, requested_quantity, settings), places) in enumerate(result.items()):
        alike = [set(s) for *subject, s in result if tuple(subject) == (study, requested_quantity)]
        common = set.intersection(*alike)
        differs = [part for part in settings if part not in common]
        named = [study] if len({s for s, _ in subjects}) > 1 else []
        named += [requested_quantity] if len({a for s, a in subjects if s == study}) > 1 else []
        title = (
            " · ".join((*named, ", ".join(differs))).strip(" ·")
            or f"{study} · {requested_quantity}"
        )
        groups.append(Group(_letter(number), title, tuple(places)))
    shared: set[str] = set.intersection(*(set(r.settings) for r in rows)) if rows else set()
    ordered = [part for part in rows[0].settings if part in shared] if rows else []
    return Grouping(tuple(groups), " · ".join(ordered), _verdict(rows, groups, subjects))


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _verdict(
    rows: Sequence[ComparedRow], groups: Sequence[Group], subjects: Sequence[tuple[str, str]]
) -> str:
    """Return which of two settings has the smaller bound, and how certain that is.

    Empty unless both have the same study, quantity and δ.
    """
    if len(groups) != 2 or len(subjects) != 1:
        return ""
    claimed = [next((rows[p] for p in g.places if rows[p].claimed), None) for g in groups]
    a, b = claimed
    if a is None or b is None or a.value is None or b.value is None or a.delta != b.delta:
        return ""
    if a.value == b.value or not {a.role, b.role} <= {Role.UPPER, Role.EXACT}:
        return ""
    first = 0 if a.value < b.value else 1
    small, large = (a, b) if first == 0 else (b, a)
    names = groups[first].letter, groups[1 - first].letter
    numbers = [format_number(r.value, Role.UPPER) for r in (small, large)]
    text = f"{names[0]} has the smaller bound: {numbers[0]} against {numbers[1]}."
    lower = [
        r.value
        for r in (rows[p] for p in groups[1 - first].places)
        if r.role is Role.LOWER and r.value is not None and r.quantity == large.quantity
    ]
    # A lower bound at one setting exceeds an upper bound at the other.
    if lower and small.value is not None and small.value < max(lower):
        least = format_number(max(lower), Role.LOWER)
        text += f" Proved: nothing below {least} can be promised at {names[1]}."
    elif lower:
        text += " A better analysis could turn that round."
    return text


def axis_of(rows: Sequence[ComparedRow]) -> tuple[float, float, bool]:
    """Return the ends of the axis for some rows, and whether it is logarithmic."""
    numbers = [x for row in rows for x in (row.value, row.low, row.high) if x is not None]
    low, high = min(numbers), max(numbers)
    if low > 0 and high / low >= _LOG_FROM:
        return 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)), True
    low = min(low, 0.0)
    return low, high if high > low else low + 1.0, False


def share_of(number: float, axis: tuple[float, float, bool]) -> float:
    """Return the position of a number on an axis, 0 to 1."""
    low, high, log = axis
    if log:
        return math.log(max(number, low) / low) / math.log(high / low)
    return (number - low) / (high - low)


def markdown(rows: Sequence[ComparedRow]) -> str:
    """Return rows as a table in Markdown."""
    columns = _used(rows)
    lines = [[title for _, title in columns], ["---"] * len(columns)]
    lines += [[_markdown_cell(_text(row, key)) for key, _ in columns] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def latex(rows: Sequence[ComparedRow]) -> str:
    """Return rows as a LaTeX ``tabular`` that needs no package."""
    columns = _used(rows)
    spec = "".join("r" if key in ("value", "low", "high") else "l" for key, _ in columns)
    lines = [" & ".join(title for _, title in columns) + r" \\", r"\hline"]
    lines += [
        " & ".join(tex(" ".join(_text(row, key).split())) for key, _ in columns) + r" \\"
        for row in rows
    ]
    return "\n".join([rf"\begin{{tabular}}{{{spec}}}", *lines, r"\end{tabular}"]) + "\n"


def comma_separated(rows: Sequence[ComparedRow]) -> str:
    """Return rows as CSV with full precision and a recipe per row."""
    out = io.StringIO()
    writer = CsvRows(out)
    writer.write_row([key for key, _ in _COLUMNS] + ["recipe"])
    for row in rows:
        cells = {key: _text(row, key) for key, _ in _COLUMNS}
        for key in ("value", "low", "high"):
            number = getattr(row, key)
            cells[key] = "" if number is None else repr(float(number))
        writer.write_row([*cells.values(), row.recipe])
    return out.getvalue()


def _used(rows: Sequence[ComparedRow]) -> list[tuple[str, str]]:
    return [
        (key, title)
        for key, title in _COLUMNS
        if key not in _OPTIONAL or any(_text(row, key) for row in rows)
    ]


def _text(row: ComparedRow, key: str) -> str:
    if key == "role":
        return row.role.value if row.role is not None else ""
    if key == "value":
        text = value_text(row)
        return f"{text} ({row.missing})" if row.missing else text
    if key in ("low", "high"):
        number = getattr(row, key)
        return "" if number is None else format_number(number, _EDGES[key])
    if key == "conditions":
        return row.conditions_text
    return str(getattr(row, key))


def _why(readout: ScalarResult) -> str:
    return readout.note or ("" if readout.low is not None else "does not hold here")


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _markdown_cell(text: str) -> str:
    return re.sub(r"([\\|*_`<>])", r"\\\1", " ".join(text.split()))
