"""Boxes and cells of a map on the Earth."""

from __future__ import annotations

from explorer.geography.region import Box
from explorer.studies.base.study import Surface


def cell_of(surface: Surface, longitude: float, latitude: float) -> tuple[int, int, Box] | None:
    """Return row, column and box of the cell of a surface at a position; None outside."""
    assert surface.region is not None
    south, west, north, east = surface.region.box
    if not (south <= latitude <= north and west <= longitude <= east):
        return None
    rows, columns = surface.values.shape
    row = min(int((latitude - south) / (north - south) * rows), rows - 1)
    column = min(int((longitude - west) / (east - west) * columns), columns - 1)
    high, wide = (north - south) / rows, (east - west) / columns
    box = (
        south + row * high,
        west + column * wide,
        south + (row + 1) * high,
        west + (column + 1) * wide,
    )
    return row, column, box


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
