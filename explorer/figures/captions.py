"""Texts around a picture: numbers, labels, captions and footnotes."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from explorer.figures.view_state import ViewState, quantity_of, study_of
from explorer.geography.region import region_of, rings_in
from explorer.privacy.core.bound import BoolArray, Role
from explorer.studies.base.grid import run_values
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.parameters import files_of
from explorer.studies.base.phrases import names_unit, with_role
from explorer.studies.base.study import (
    Kind,
    Mark,
    Parameter,
    Result,
    ScalarResult,
    Series,
    Study,
    Surface,
    Value,
    relevant,
    with_unit,
)

EPSILON = "epsilon"
"""Key of the ε that a map spends."""
_MARKS = {True: "✓", False: "✗", None: "assumed:"}


def parameter_text(parameter: Parameter, value: Value) -> str:
    """Return a parameter's value as text: ``ε = 1``, ``mechanism: pyramid``."""
    if parameter.kind is Kind.CHOICE:
        label = dict(parameter.choices).get(str(value), str(value))
        return f"{parameter.name}: {label}"
    if parameter.kind is Kind.SEVERAL:
        labels = dict(parameter.choices)
        chosen = [labels.get(part, part) for part in str(value).split(",") if part]
        return f"{parameter.name}: {', '.join(chosen) or 'none'}"
    if parameter.kind is Kind.FLAG:
        return f"{parameter.name}: {'yes' if value else 'no'}"
    if parameter.kind is Kind.FILE:
        files = (file.rpartition("#") for file in files_of(value))
        named = [f"{name} (sha256 {digest[:12]}…)" for name, _, digest in files]
        return f"{parameter.name}: {', '.join(named) or 'none'}"
    if parameter.kind is Kind.TABLE:
        return f"{parameter.name}: {value}"
    number = format_number(
        value if isinstance(value, int) else float(value), digits=PARAMETER_DIGITS
    )
    unit = parameter.unit
    if parameter.kind is Kind.INTEGER and value == 1:
        unit = unit.removesuffix("s")
    return f"{parameter.symbol or parameter.name} = {number}" + (f" {unit}" if unit else "")


def settings_line(result: Result, with_swept: bool = False) -> str:
    """Return the values of all relevant parameters.

    The parameter on the x axis is omitted by default, as a picture shows its whole range; a
    guarantee in words holds for its single value.
    """
    request, study = result.request, study_of(result)
    known = {p.key: p for p in study.parameters} if study else {}
    swept = request.sweep.key if request.sweep else ""
    unused: set[str] = set()
    if swept and not (with_swept and swept in known and not known[swept].axis_only):
        unused = {swept, *(known[swept].replaces if swept in known else ())}
    given = dict(request.values)
    values = study.used_values(given) if study else given
    parts = []
    for key, value in values.items():
        parameter = known.get(key)
        if key in unused or (parameter is not None and not parameter.in_panel):
            continue  # the panes' titles name the maps
        if parameter is None:
            parts.append(f"{key} = {value}")
        elif parameter.default_unsaid and value == parameter.default:
            continue
        elif relevant(parameter, values, request.quantity):
            parts.append(parameter_text(with_unit(parameter, request.unit_values), value))
    return " · ".join(parts)


def data_line(recipe: Mapping[str, Any]) -> str:
    """Return the description of the check-ins in a recipe; empty without any."""
    selection = recipe.get("selection")
    if not isinstance(selection, Mapping):
        return ""
    parts = []
    data = recipe.get("data")
    if isinstance(data, Mapping):
        parts.append(f"data {data.get('name') or 'unnamed'} (sha256 {data['sha256'][:12]}…)")
    if selection.get("region") is not None:
        plane = selection.get("plane") or ""
        region = region_of((*selection["region"],), plane, rings_in(selection))
        parts.append(f"region {region.words}")
    else:
        parts.append("a region found from the check-ins")
    if selection.get("image"):
        parts.append(f"image {selection['image']}")
    if selection.get("start") or selection.get("end"):
        parts.append(f"time {selection.get('start') or '…'} to {selection.get('end') or '…'}")
    elif "time_from" in selection:
        parts.append("a time range found from the check-ins")
    seed, unit = f"sample seed {selection.get('data_seed', 0)}", selection.get("unit") or "user"
    if selection.get("users") is not None:
        parts.append(f"at most {selection['users']:,} {unit}s ({seed})")
    elif selection.get("share") is not None:
        parts.append(f"a share of {selection['share']:g} of the {unit}s ({seed})")
    else:
        parts.append("the whole file as one unit" if unit == "file" else f"all {unit}s")
    if "seed" in recipe and "which" not in recipe:  # error curves have seeds of their own
        parts.append(f"noise seed {recipe['seed']}")
    return " · ".join(parts)


def axis_labels(result: Result) -> tuple[str, str]:
    """Return the labels of both axes, with mathtext if the study has it."""
    request, study, shown = result.request, study_of(result), quantity_of(result)
    x = request.sweep.key if request.sweep else ""
    for p in study.parameters if study else ():
        if p.key == x:
            p = with_unit(p, dict(request.values))
            x = axis_label(p.name, p.symbol, p.latex, p.unit)
            break
    y = request.quantity
    if shown is not None:
        y = axis_label(shown.name, shown.symbol, shown.latex, shown.unit)
    return x, y


def axis_label(name: str, symbol: str, latex: str, unit: str) -> str:
    """Return the label of an axis: name, symbol (or mathtext), and unit unless in the name."""

    def plain(text: str) -> str:
        return text.replace("$", r"\$")

    parts = [plain(name)]
    if latex:
        parts.append(f"${latex}$")
    elif symbol:
        parts.append(plain(symbol))
    # The unit is omitted if the name contains it: “messages sent by a user [messages]”.
    return ", ".join(parts) + (f" [{plain(unit)}]" if unit and not names_unit(name, unit) else "")


def legend_label(series: Series) -> str:
    """Return a curve's label with its role, which every legend must show."""
    label = with_role(series.label, series.role, " — ")
    if series.present.any():
        return label
    return f"{label} ({'computing…' if series.computing else 'does not apply here'})"


def short_legend_label(series: Series) -> str:
    """Return a curve's label with the sign of its role, for small pages."""
    long = with_role(series.label, series.role, " — ")
    sign = "" if long == series.label else f"{series.role.glyph} "
    missing = " (…)" if series.computing else " (✗)"
    return f"{sign}{series.label}" + ("" if series.present.any() else missing)


def absent_ranges(x: Sequence[float], present: BoolArray) -> list[tuple[float, float]]:
    """Return the intervals of x without a curve, by first and last missing point."""
    missing = np.concatenate(([False], ~np.asarray(present), [False]))
    edges = np.flatnonzero(np.diff(missing.astype(np.int8)))
    return [(float(x[a]), float(x[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def absence_text(series: Series) -> str:
    """Return where and why a curve is absent; empty if it is present everywhere."""
    ranges = absent_ranges(list(series.x), series.present)
    if not ranges:
        return ""
    if series.present.any() and series.mark is Mark.PATH:
        where = "in parts"
    elif series.present.any():
        where = "for x = " + ", ".join(
            format_number(a) if a == b else f"{format_number(a)} … {format_number(b)}"
            for a, b in ranges[:3]
        )
        where += " and more" if len(ranges) > 3 else ""
    else:
        where = "anywhere"
    if series.computing:
        return f"… {series.label} is not all computed yet: {series.undefined_reason}"
    return f"✗ {series.label} is not drawn {where}: {series.undefined_reason or 'not defined'}"


def invalid_texts(stretches: Sequence[tuple[float, float, str]]) -> list[str]:
    """Return where and why a plot is hatched, as no claimed curve holds there."""
    texts = []
    for low, high, why in stretches:
        where = (
            f"between x = {format_number(low)} and {format_number(high)}"
            if math.isfinite(low) and math.isfinite(high)
            else "at every x"
        )
        texts.append(f"Hatched {where}: nothing that is claimed holds there: {why}")
    return texts


def guarantee_lines(result: Result) -> list[str]:
    """Return the guarantee and its conditions, a line each."""
    lines = []
    promise = result.guarantee
    if promise is not None:
        sentence = " ".join(filter(None, (promise.sentence, promise.beside)))
        lines += [promise.claimed] if promise.claimed else []
        lines.append(f"Guarantee{_swept_value(result)}: {sentence}")
        lines.append(
            f"Protects {promise.unit}. Add or remove: {promise.add_remove}. "
            f"Replace one: {promise.replace_one}. {promise.trust}"
        )
    if result.conditions:
        lines.append(
            "Conditions: "
            + " · ".join(
                f"{_MARKS[c.holds]} {c.text}" + (f" ({c.margin})" if c.margin else "")
                for c in result.conditions
            )
        )
    return lines


def _swept_value(result: Result) -> str:
    """Return the value of the x parameter for which texts and single numbers hold."""
    request, study = result.request, study_of(result)
    if request.sweep is None:
        return ""
    key = request.sweep.key
    value = dict(request.values).get(key)
    for p in study.parameters if study else ():
        if p.key == key and value is not None and not p.axis_only:
            return f" at {parameter_text(p, value)}"
    return ""


def readout_line(result: Result, with_curator_only: bool) -> str:
    """Return the known numbers next to a picture; the curator's only if requested."""
    return _readouts(
        result, [r for r in result.readouts if with_curator_only or not r.curator_only]
    )


def comparison_line(result: Result) -> str:
    """Return the numbers that depend on the non-private map, to be shown with it only."""
    return _readouts(result, [r for r in result.readouts if r.curator_only])


def drawing_line(result: Result, shown: Sequence[Surface]) -> str:
    """Return the public numbers of overlays that replace cells."""
    keys = tuple(f"{surface.key}_" for surface in shown if surface.overlay is not None)
    shown_readouts = [
        r for r in result.readouts if keys and r.key.startswith(keys) and not r.curator_only
    ]
    return _readouts(result, shown_readouts)


def _readouts(result: Result, selection: Sequence[ScalarResult]) -> str:
    parts = []
    for r in selection:
        unit = f" {r.unit}" if r.unit else ""
        sign = "=" if r.role in (None, Role.BASELINE) else r.role.glyph
        if r.value is not None and math.isfinite(r.value):
            number = format_number(r.value, r.role)
            parts.append(f"{r.label} {sign} {number}{unit}")
        elif r.low is not None and r.high is not None:
            low, high = format_number(r.low, Role.LOWER), format_number(r.high, Role.UPPER)
            parts.append(f"{r.label} in [{low}, {high}]{unit}")
        elif r.value is None and r.note.startswith("infinite"):
            parts.append(f"{r.label} {sign} ∞")
    at = _swept_value(result).strip()
    return (f"{at[0].upper()}{at[1:]}: " if at and parts else "") + " · ".join(parts)


def notes_of(
    view: ViewState, caption: list[str], conditions: list[str], footer: str, credit: str = ""
) -> tuple[list[str], list[str], str]:
    """Return the notes below a picture, without the parts that the view leaves out.

    The credit in the footer is never omitted, as the licences of map data require it.
    """
    without = view.left_out
    return (
        [] if "caption" in without else caption,
        [] if "conditions" in without else conditions,
        credit if "footer" in without else ". ".join(filter(None, (footer, credit))),
    )


def origin_line(result: Result, view: ViewState, recipe: Mapping[str, Any]) -> str:
    """Return the line with program, version and content of the file."""
    program = f"Privacy Explorer {recipe.get('version') or ''}".strip()
    if not recipe.get("private_only"):
        return f"{program}; this file carries its recipe"
    animation = recipe.get("animation", {})
    maps = int(animation.get("frames", 1)) * private_maps(result, view)
    spend = spending(result, view, animation)
    carried = f"{maps} noisy maps alone, which together spend {spend}" if spend else "one noisy map"
    return f"{program}; this file carries its settings and, of the check-ins, {carried}"


def private_maps(result: Result, view: ViewState) -> int:
    """Return the number of mechanism draws behind the shown surfaces."""
    shown = shown_surfaces(result, view)
    return len({s.source or s.key for s in shown if not s.curator_only})


def spending(result: Result, view: ViewState, animation: Mapping[str, Any]) -> str:
    """Return the total cost of the private maps of all frames; empty for at most one map.

    Basic composition: every map spends its ε (and δ) again, and varying ε are added. Maps side by
    side share their demonstration noise, so that their cost is a lower bound.
    """
    frames, side_by_side = int(animation.get("frames", 1)), private_maps(result, view)
    if frames * side_by_side < 2:
        return ""
    study, values = study_of(result), dict(result.request.values)
    delta = any(
        p.key == "delta" and relevant(p, values, "") for p in (study.parameters if study else ())
    )
    least = "at least " * (side_by_side > 1)
    if study is not None and animation.get("key") == EPSILON:
        (p,) = (p for p in study.parameters if p.key == EPSILON)
        total = side_by_side * sum(float(value) for value in run_values(p, frames))
        # for several maps this is a lower bound, so it is rounded down
        role = Role.LOWER if least else Role.UPPER
        more = f" and {frames * side_by_side} times δ" * delta
        return f"{least}ε = {format_number(total, role)}{more}"
    return f"{least}{frames * side_by_side} times ε" + " and δ" * delta


def shown_surfaces(result: Result, view: ViewState) -> list[Surface]:
    """Return the surfaces of a result that a view shows, in the view's order.

    Raises
    ------
    ValueError
        If the view shows none of them.
    """
    by_key = {surface.key: surface for surface in result.surfaces}
    shown = [by_key[key] for key in view.surfaces if key in by_key]
    if result.surfaces and not shown:
        raise ValueError(
            f"surfaces: the view shows {', '.join(view.surfaces) or 'none'}; "
            f"this result has {', '.join(by_key)}"
        )
    return shown


def with_short_names(study: Study | None, series: Iterable[Series]) -> tuple[Series, ...]:
    """Return curves with the names of the window's legend as labels."""
    if study is None:
        return tuple(series)
    return tuple(replace(s, label=study.short_name(s.key, s.label)) for s in series)


def visible_series(result: Result, view: ViewState) -> list[Series]:
    """Return the curves of a result that a view does not hide."""
    return [series for series in result.series if series.key not in view.hidden]


def stamp_of(result: Result, surface: Surface | None = None) -> str:
    """Return the stamp of a surface: its own one, else the result's."""
    return (surface.stamp if surface else "") or result.stamp


def joint_stamp(result: Result, shown: Sequence[Surface]) -> str:
    """Return the stamps of surfaces in one line; different stamps name their surfaces.

    Common beginnings and ends are written once: ``draw 1 of 3 — curator only (True heatmap),
    demonstration noise (Private heatmap) — not private``.
    """
    named: dict[str, dict[str, None]] = {}
    for surface in shown:
        if stamp := stamp_of(result, surface):
            name = re.split(r":| \(", surface.label, maxsplit=1)[0]
            named.setdefault(stamp, {})[name] = None
    if not named or (len(named) == 1 and all(stamp_of(result, surface) for surface in shown)):
        return "".join(named)
    parts = [stamp.split(" — ") for stamp in named]
    most = min(map(len, parts)) - 1 if len(parts) > 1 else 0
    lead = min(_alike(parts), most)
    trail = min(_alike([part[::-1] for part in parts]), most - lead)
    differing = (
        f"{' — '.join(part[lead : len(part) - trail])} ({', '.join(labels)})"
        for part, labels in zip(parts, named.values(), strict=True)
    )
    pieces = (*parts[0][:lead], ", ".join(differing), *parts[0][len(parts[0]) - trail :])
    return " — ".join(pieces)


def _alike(parts: Sequence[Sequence[str]]) -> int:
    """Return the length of the common prefix of several sequences."""
    at = zip(*parts, strict=False)
    return sum(1 for _ in takewhile(lambda labels: len(set(labels)) == 1, at))
