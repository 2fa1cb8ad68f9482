"""The SQL that questions about stored rows are made of."""

from typing import Any

from explorer.checkins.model import Box
from explorer.geography.plane import Plane


def rows_inside(box: Box, start: str | None, end: str | None) -> tuple[str, list[Any]]:
    """Return the test of a row lying in a closed box and a half-open time range, and its values.

    Raises
    ------
    ValueError
        If the box is empty or an instant can't be read.
    """
    south, west, north, east = box
    if not (south <= north and west <= east):
        raise ValueError(f"box: {box} is empty; give south, west, north, east")
    parts = ["lat BETWEEN ? AND ? AND lon BETWEEN ? AND ?"]
    values: list[Any] = [south, north, west, east]
    for name, instant, relation in (("start", start, ">="), ("end", end, "<")):
        if instant is not None:
            parts.append(f"time {relation} CAST(? AS TIMESTAMPTZ)")
            values.append(_instant(name, instant))
    return " AND ".join(parts), values


def positions(plane: Plane) -> str:
    """Return SQL for the columns of rows in a plane, positions in its unit and y upwards.

    Dividing whole numbers by a power of ten rounds once: 3 steps of 0.1 are the same 0.3 that
    somebody types for the edge of a region.
    """
    step = plane.step
    factor = f"/ {step.denominator}e0" if step < 1 else f"* {step.numerator}e0"
    y = "0 - lat" if plane.down else "lat"
    return f"* REPLACE (({y}) {factor} AS lat, lon {factor} AS lon)"


def grid_cell(box: Box, columns: int, rows: int) -> str:
    """Return SQL for row·columns + column of a kept row inside the box."""
    if columns < 1 or rows < 1:
        raise ValueError(f"columns, rows: {columns} × {rows} cells; give at least 1 × 1")
    south, west, north, east = (float(side) for side in box)
    if not (south < north and west < east):
        raise ValueError(f"box: {box} has no area to divide into cells")
    row = f"least(floor((lat - ({south!r})) / {north - south!r} * {rows}), {rows - 1})"
    column = f"least(floor((lon - ({west!r})) / {east - west!r} * {columns}), {columns - 1})"
    return f"({row} * {columns} + {column})::INTEGER"


def _instant(name: str, text: str) -> str:
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{name}: {text!r} is not an ISO 8601 instant such as 2010-01-31T00:00:00Z"
        ) from None
    return text
