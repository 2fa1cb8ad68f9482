"""SQL expressions for queries over stored rows."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from explorer.checkins.model import Box, FloatArray
from explorer.geography.plane import Plane
from explorer.user_rows import EARTH_STEP

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""Origin of the seconds of rows."""


LONGITUDES = "min(lon), max(lon), min(lon) FILTER (WHERE lon >= 0), max(lon) FILTER (WHERE lon < 0)"
"""SQL of the argument of `longitudes_of`."""


def ends_of(lon: FloatArray) -> list[float | None]:
    """Return the argument of `longitudes_of` for a non-empty array."""
    east_half, west_half = lon[lon >= 0], lon[lon < 0]
    return [
        float(lon.min()),
        float(lon.max()),
        float(east_half.min()) if len(east_half) else None,
        float(west_half.max()) if len(west_half) else None,
    ]


def joined_ends(parts: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Combine the arguments of `longitudes_of` of several parts."""
    return [
        best((end for end in ends if end is not None), default=None)
        for best, ends in zip((min, max, min, max), zip(*parts, strict=True), strict=True)
    ]


def longitudes_of(ends: Sequence[float | None], plane: Plane | None = None) -> tuple[float, float]:
    """Return the western and eastern end of longitudes; east > 180 across the antimeridian.

    They cross it where they would else be more than 180° wide, and are not so across it.

    Parameters
    ----------
    found : sequence of float or None, length 4
        The least and the largest, the least that is not below 0, and the largest below 0; None
        where there is none.
    """
    west, east, first, last = ends
    assert west is not None
    assert east is not None
    wide = plane is None and east - west > 180
    if wide and first is not None and last is not None and last + 360 - first <= 180:
        return first, last + 360
    return west, east


def _longitude(box: Box, plane: Plane | None) -> str:
    """Return SQL for a longitude increasing eastwards from the west of a box."""
    _, west, _, east = box
    if plane is not None or (west > -180 and east < 180):
        return "lon"
    per_unit = f"{EARTH_STEP.denominator}e0"
    east_of, west_of = (f"round((lon {sign} 360) * {per_unit}) / {per_unit}" for sign in "+-")
    return (
        f"(CASE WHEN lon < {west!r} THEN {east_of} WHEN lon > {east!r} THEN {west_of} ELSE lon END)"
    )


def rows_inside(
    box: Box, start: str | None, end: str | None, plane: Plane | None
) -> tuple[str, list[Any]]:
    """Return an SQL condition for a closed box and half-open time range, and its values.

    Raises
    ------
    ValueError
        If the box is empty or an instant can't be read.
    """
    south, west, north, east = box
    if not (south <= north and west <= east):
        raise ValueError(f"box: {box} is empty; give south, west, north, east")
    parts = [f"lat BETWEEN ? AND ? AND {_longitude(box, plane)} BETWEEN ? AND ?"]
    values: list[Any] = [south, north, west, east]
    for name, instant, relation in (("start", start, ">="), ("end", end, "<")):
        if instant is not None:
            parts.append(f"time {relation} CAST(? AS TIMESTAMPTZ)")
            values.append((EPOCH + timedelta(seconds=seconds(name, instant))).isoformat())
    return " AND ".join(parts), values


def positions(plane: Plane | None) -> str:
    """Return SQL that rounds positions to whole steps and turns y upwards.

    Dividing integers by a power of ten rounds once: 3 steps of 0.1 equal the 0.3 typed for the edge
    of a region. For planes the number of steps is stored.
    """
    if plane is None:
        per_unit = f"{EARTH_STEP.denominator}e0"
        sides = (
            f"round({name} * {per_unit}) / {per_unit} + 0 AS {name}" for name in ("lat", "lon")
        )
        return f"* REPLACE ({', '.join(sides)})"
    step = plane.step
    factor = f"/ {step.denominator}e0" if step < 1 else f"* {step.numerator}e0"
    y = "0 - lat" if plane.down else "lat"
    return f"* REPLACE (({y}) {factor} AS lat, lon {factor} AS lon)"


def grid_cell(box: Box, columns: int, rows: int, plane: Plane | None) -> str:
    """Return SQL for the index row·columns + column of the cell of a row."""
    if columns < 1 or rows < 1:
        raise ValueError(f"columns, rows: {columns} × {rows} cells; give at least 1 × 1")
    south, west, north, east = (float(side) for side in box)
    if not (south < north and west < east):
        raise ValueError(f"box: {box} has no area to divide into cells")
    row = f"least(floor((lat - ({south!r})) / {north - south!r} * {rows}), {rows - 1})"
    lon = _longitude((south, west, north, east), plane)
    column = f"least(floor(({lon} - ({west!r})) / {east - west!r} * {columns}), {columns - 1})"
    return f"({row} * {columns} + {column})::INTEGER"


def cell_sides(box: Box, partition: int, index: int) -> Box:
    """Return the box of a cell of a partition × partition grid, numbered as in `grid_cell`."""
    south, west, north, east = box
    row, column = divmod(index, partition)
    height, width = (north - south) / partition, (east - west) / partition
    return (
        south + row * height,
        west + column * width,
        south + (row + 1) * height,
        west + (column + 1) * width,
    )


def seconds(name: str, text: str) -> int:
    """Return the whole seconds since 2000-01-01 UTC of an ISO 8601 instant, rounded down.

    Raises
    ------
    ValueError
        If it can't be read.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{name}: {text!r} is not an ISO 8601 instant such as 2010-01-31T00:00:00Z"
        ) from None
    return (instant.replace(tzinfo=instant.tzinfo or UTC) - EPOCH) // timedelta(seconds=1)
