"""Sliders and curves that a plot shows by default, short names, and the headline."""

import math
from collections.abc import Iterable

from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import (
    Face,
    Headline,
    Quantity,
    Request,
    Result,
    Study,
    parameter,
    quantity,
    relevant,
)

__all__ = [
    "Face",
    "Headline",
    "essential_keys",
    "face_of",
    "headline_of",
    "number_of",
    "primary_keys",
    "short_name",
]

MAX_SLIDERS = 4
MOST_CURVES = 5
MAX_LETTERS = 26
"""Of a curve's short name."""


def face_of(study: Study, quantity_key: str) -> Face:
    """Return the defaults of a quantity.

    A study that declares none for it shows its first parameters that matter, and first curves.
    """
    declared = study.faces.get(quantity_key)
    if declared is not None:
        return declared
    values = {p.key: p.default for p in study.parameters}
    mattering = [
        p.key
        for p in study.parameters
        if p.in_panel and not p.group and relevant(p, values, quantity_key)
    ]
    claim = study.claims.get(quantity_key)
    return Face(tuple(mattering[:MAX_SLIDERS]), claim.among[:MOST_CURVES] if claim else ())


def essential_keys(study: Study, request: Request) -> tuple[str, ...]:
    """Return the parameters shown by default: relevant ones of the plot, and that of the x axis."""
    values, keys = dict(request.values), face_of(study, request.quantity).essential
    swept = "" if request.sweep is None else request.sweep.key
    if swept and swept not in keys and parameter(study, swept).in_panel:
        keys = (*keys[: MAX_SLIDERS - 1], swept)
    return tuple(k for k in keys if relevant(parameter(study, k), values, request.quantity))


def primary_keys(study: Study, request: Request, there: Iterable[str]) -> tuple[str, ...]:
    """Return the curves drawn by default, of those that an answer has, in order of rank."""
    there = list(there)
    declared = face_of(study, request.quantity).primary
    return tuple(k for k in declared if k in there) or tuple(there[:MOST_CURVES])


def short_name(study: Study, key: str, label: str) -> str:
    """Return the name of a curve where there is little room; the label where it has no shorter."""
    return study.short_names.get(key, label)


def number_of(result: Result, key: str) -> float | None:
    """Return the finite number of a readout at the sliders' values; None if there is none."""
    found = next((r.value for r in result.readouts if r.key == key), None)
    return None if found is None or not math.isfinite(found) else float(found)


def headline_of(study: Study, result: Result, found: ClaimedBound | None) -> Headline | None:
    """Return the headline; None while nothing is known, or where nothing is claimed."""
    face = study.faces.get(result.request.quantity)
    if face is not None and face.answer is not None:
        return face.answer(result, found)
    if found is None:
        return _first_number(study, result)
    name = short_name(study, found.series.key, found.series.label)
    shown = quantity(study, result.request.quantity)
    said = found.text.lines[0] if found.text.lines else _by(shown, name)
    return Headline(found.text.number, said)


def _first_number(study: Study, result: Result) -> Headline | None:
    """Return a headline of the first curve drawn by default that is no baseline."""
    keys = primary_keys(study, result.request, [s.key for s in result.series])
    there = [s for key in keys for s in result.series if s.key == key]
    for series in there:
        value = number_of(result, series.key)
        if value is not None and series.role is not Role.BASELINE:
            shown = quantity(study, result.request.quantity)
            number = f"{series.role.glyph} {format_number(value, series.role)}"
            name = short_name(study, series.key, series.label)
            # Without a symbol: the name is too long here and stands in the sentence.
            return Headline(f"{shown.symbol} {number} {shown.unit}".strip(), _by(shown, name))
    return None


def _by(shown: Quantity, name: str) -> str:
    return f"{shown.name[:1].upper()}{shown.name[1:]}, by “{name}”."
