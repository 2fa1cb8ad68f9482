"""Explains invalid cells of a row by the rules of loading, with remedies."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from explorer.checkins.model import E7, Mapping
from explorer.checkins.parsing.numbers import BLANKS, coordinate_in, has_thousands, number
from explorer.checkins.parsing.times import reads_time, time_fault
from explorer.user_rows import id_text

MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100
"""Beyond these, sums of weights or of their squares may lose precision."""


class CellFault(NamedTuple):
    """Fault and remedy of an invalid cell.

    Attributes
    ----------
    what : str
        The fault, in words that follow the cell's name: ``latitude is empty``.
    remedy : str
        What to do, in the imperative.
    """

    what: str
    remedy: str


EMPTY = "fill it in, or leave it: the row will be rejected"
UNKNOWN_POSITION = CellFault(
    "(0, 0) is what devices report when they don't know where they are",
    "correct the position, or leave it: the row will be rejected",
)


def bad_cells(
    row: Sequence[str], mapping: Mapping, decimal: str = ".", width: int | None = None
) -> dict[int, CellFault]:
    """Return the invalid cells of a row by column.

    The same rules as loading, cell by cell; a row without any is valid unless it repeats another.

    Parameters
    ----------
    row : sequence of str
    mapping : Mapping
    decimal : str
        Decimal sign.
    width : int, optional
        Expected number of fields; not checked if omitted.
    """
    bad: dict[int, CellFault] = {}
    if width is not None and len(row) != width:
        remedy = "look for a separator inside a field; put quotes around that field"
        what = f"the row has {len(row)} fields where others have {width}"
        bad[min(len(row), width)] = CellFault(what, remedy)

    def cell(column: int) -> str:
        return row[column].strip(BLANKS) if column < len(row) else ""

    for name, needed in (("user", mapping.user), ("image", mapping.image)):
        if needed is not None and not (id_text(cell(needed)) if name == "user" else cell(needed)):
            bad.setdefault(needed, CellFault(f"the {name} is empty", EMPTY))
    places = []
    for name, column, low, high in limits(mapping):
        if column is None:
            continue
        value = number(cell(column), decimal)
        if mapping.order:
            value = coordinate_in(cell(column), mapping.order, name[:3])
        if value is None:
            bad.setdefault(column, _no_number(name, cell(column), decimal))
        elif not low <= value <= high:
            bad.setdefault(column, _outside(name, cell(column), value, low, high))
        elif value == 0:
            places.append(column)
    if len(places) == 2 and not mapping.planar:
        bad.update(dict.fromkeys(places, UNKNOWN_POSITION))
    time = mapping.time
    if time is not None:
        text = row[time] if time < len(row) else ""
        if not cell(time):
            bad.setdefault(time, CellFault("the time is empty", EMPTY))
        elif not reads_time(text, mapping.time_format, decimal):
            bad.setdefault(time, CellFault(*time_fault(text, mapping.time_format, decimal)))
    if mapping.weight is not None:
        text = cell(mapping.weight)
        value = number(text, decimal)
        if value is None:
            bad.setdefault(mapping.weight, _no_number("weight", text, decimal))
        elif not MIN_WEIGHT <= value <= MAX_WEIGHT:
            what = f"the weight {text[:20]} is not a positive number".replace("-", "−")
            bad.setdefault(mapping.weight, CellFault(what, "give how many check-ins the row is"))
    return bad


def _no_number(name: str, text: str, decimal: str) -> CellFault:
    """Return why a field is not a number."""
    if not text:
        return CellFault(f"the {name} is empty", EMPTY)
    other = {".": ",", ",": "."}[decimal]
    signs = {".": "point", ",": "comma"}
    if number(text, other) is not None:
        return CellFault(
            f"the {name} has a {signs[other]} where the file has decimal {signs[decimal]}s",
            f"write it with a {signs[decimal]}, or choose the {signs[other]} as decimal mark",
        )
    if has_thousands(text):
        return CellFault(
            f"the {name} has separators of thousands",
            f"write it without them, as 1234{decimal}5",
        )
    return CellFault(f"the {name} is no number", f"write it as a number, such as 48{decimal}2081")


def _outside(name: str, text: str, value: float, low: float, high: float) -> CellFault:
    """Return the fault of a number outside its range."""
    side, end = ("above", high) if value > high else ("below", low)
    remedy = "correct it"
    if name in ("latitude", "longitude"):
        remedy += ", or look whether latitude and longitude are swapped"
    return CellFault(f"the {name} {text[:20]} is {side} {end:g}".replace("-", "−"), remedy)


def limits(mapping: Mapping) -> Iterator[tuple[str, int | None, float, float]]:
    """Yield name, column, minimum and maximum of both coordinates."""
    plane = mapping.plane_there
    if plane is not None:
        yield "y", mapping.lat, plane.low, plane.high
        yield "x", mapping.lon, plane.left, plane.right
    elif mapping.crs == E7:
        yield "latitude", mapping.lat, -90e7, 90e7
        yield "longitude", mapping.lon, -180e7, 180e7
    elif mapping.planar or mapping.crs is not None:
        yield "y", mapping.lat, -math.inf, math.inf
        yield "x", mapping.lon, -math.inf, math.inf
    else:
        yield "latitude", mapping.lat, -90, 90
        yield "longitude", mapping.lon, -180, 180
