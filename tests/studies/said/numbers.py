"""Numbers in a text: found, and compared with computed ones at as many digits as are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cache

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Fidelity, Result, preset, preset_request
from explorer.studies.errata import LABEL
from explorer.studies.registry import get_study
from tests.studies import context

_NUMBERED = (
    "Theorem|Claim|Corollary|Proposition|Figure|Section|Lemma|Table|[Ee]quation|Example|Remark|"
    "Fact|Algorithm|Appendix|[Cc]ondition"
)
_NAME = re.compile(
    rf"(?:{_NUMBERED})s?\s\(?(?:[A-Z][.-]?)?\d+(?:\.\d+)*\)?(?:\([ivx]+\))?(?:\s?\([a-d]\))?"
    r"(?:(?:,| and) [A-Z]?\d+(?:\.\d+)*)*"
    r"|\(\d\d?\)|\[[A-Z][\w+]*\]|\[\d+\]|ℓ[12]\b|\b[23]RR\b|\b20(?:19|2\d)\b|arXiv [\d.]+|\bv1\b"
    rf"|{LABEL.pattern}"
)
_NUMBER = re.compile(
    r"(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![A-Za-z])\.\d+)(?:e[-−]?\d+|(?:[·×]10)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−·×", "0123456789--**")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text in order, without those that name a theorem or a figure."""
    return _NUMBER.findall(_NAME.sub("#", text))


def computed_in(text: str) -> list[str]:
    """Return `numbers_in` without small whole numbers, which stand in formulas."""
    return [n for n in numbers_in(text) if not (n.isdecimal() and len(n) == 1)]


def value_of(written: str) -> Decimal:
    """Return what a number in a text is."""
    mantissa, power = written, ""
    for sign in ("·10", "×10"):
        if sign in written:
            mantissa, power = written.split(sign)
    if not power and written.startswith("10") and len(written) > 2 and written[2] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻":
        mantissa, power = "1", written[2:]
    plain = mantissa.replace(",", "").translate(_PLAIN)
    return Decimal(plain).scaleb(int(power.translate(_PLAIN) or 0))


class Measured(str):
    """A number that was measured once, by a simulation or training too long for a test."""

    __slots__ = ()


@dataclass(frozen=True)
class Said:
    """A computed number that a text says.

    Attributes
    ----------
    value : float
    role : Role or None
        An upper bound is rounded up, a lower one down, all else to nearest.
    digits : int or None
        Significant digits where trailing zeros before the point are none: 4,700 has two.
    """

    value: float
    role: Role | None = None
    digits: int | None = None

    def problem(self, written: str) -> str:
        """Return what is wrong with the number as it is written; nothing if it is right."""
        digits = self.digits or _digits(written)
        rounding = {Role.UPPER: ROUND_CEILING, Role.LOWER: ROUND_FLOOR}.get(
            self.role or Role.EXACT, ROUND_HALF_EVEN
        )
        exact = Context(prec=12).plus(Decimal(self.value))
        right = Context(prec=digits, rounding=rounding).plus(exact)
        return "" if value_of(written) == right else f"{written} is written, {right} is computed"


def _digits(written: str) -> int:
    mantissa = re.split(r"[e·×]", written.replace(",", ""))[0]
    return max(len(mantissa.replace(".", "").lstrip("0")), 1)


def problems(text: str, expected: Iterable[str | Said]) -> list[str]:
    """Return where a text's numbers are not the expected ones, in order."""
    return compared(numbers_in(text), expected)


def compared(found: list[str], expected: Iterable[str | Said]) -> list[str]:
    """Return where written numbers are not the expected ones, in order."""
    wanted = list(expected)
    if len(found) != len(wanted):
        return [f"{len(found)} numbers {found}, {len(wanted)} expected {wanted}"]
    out = []
    for written, item in zip(found, wanted, strict=True):
        if isinstance(item, Said):
            out.append(item.problem(written))
        elif written != item:
            out.append(f"{written} is written where {item} is given")
    return [problem for problem in out if problem]


_STILL = {"simulate": False, "trials": 1, "runs": 50}


@dataclass(frozen=True)
class Ask:
    """The numbers of a preset's own question, or with other values."""

    study: str
    key: str

    def __call__(
        self, name: str, role: Role | None = None, digits: int | None = None, **changes: object
    ) -> Said:
        """Return a readout by key; `changes` are parameters, or ``quantity``."""
        found = answer_of(self.study, self.key, **changes).readout(name)
        own = found.role if found.role in (Role.UPPER, Role.LOWER) else None
        assert found.value is not None, (name, found.note)
        return Said(float(found.value), role or own, digits)

    def value(self, name: str, **changes: object) -> float:
        """Return a readout as a plain number."""
        return self(name, **changes).value

    def first(self, name: str, **changes: object) -> float:
        """Return a readout of the first fine answer that has it: curves that follow add to it."""
        for found in _answers(self.study, self.key, changes):
            values = [r.value for r in found.readouts if r.key == name and r.value is not None]
            if found.fidelity is Fidelity.FULL and values:
                return float(values[0])
        raise AssertionError(f"no answer has {name}")

    def cell(self, table: str, row: int, column: int, role: Role | None = None) -> Said:
        """Return what stands in a table."""
        answer = answer_of(self.study, self.key)
        (found,) = (t for t in answer.tables if t.key == table)
        return Said(float(found.rows[row][column]), role)

    def curve(self, name: str, **changes: object) -> list[Said]:
        """Return what a curve shows, point by point."""
        answer = answer_of(self.study, self.key, **changes)
        (series,) = (s for s in answer.series if s.key == name)
        own = series.role if series.role in (Role.UPPER, Role.LOWER) else None
        return [Said(float(y), own) for y in series.y]


@cache
def _host() -> context.Context:
    return context.Context()


def answer_of(study: str, key: str, **changes: object) -> Result:
    """Return the answer to a preset's question, with other values; kept once made."""
    return _answer(study, key, tuple(changes.items()))


@cache
def _answer(study_id: str, key: str, changes: tuple[tuple[str, object], ...]) -> Result:
    for found in _answers(study_id, key, dict(changes)):
        # Trials go on after everything that is computed is there.
        if study_id in _SIMULATED and any(r.key == "nothing" for r in found.readouts):
            break
    return found


def _answers(study_id: str, key: str, values: dict[str, object]) -> Iterator[Result]:
    study, values = get_study(study_id), dict(values)
    chosen = preset(study, key)
    if "quantity" in values:
        chosen = replace(chosen, quantity=str(values.pop("quantity")), sweep=None)
    request = preset_request(study, chosen)
    still = {k: v for k, v in _STILL.items() if any(p.key == k for p in study.parameters)}
    for name, value in (still | values).items():
        request = request.with_value(name, value)
    if request.sweep is not None and request.sweep.key != "i":
        request = replace(request, sweep=replace(request.sweep, points=2))
    yield from study.answer(request, _host())


_SIMULATED = ("private-regression",)


def crossing(difference: Callable[[float], float], low: float, high: float) -> float:
    """Return where a difference that changes its sign once does so, to 1e-6 of itself."""
    first = difference(low) > 0
    while high - low > 1e-6 * high:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if (difference(middle) > 0) is first else (low, middle)
    return high
