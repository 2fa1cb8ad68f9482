"""Cells, boxes and positions of a map, and their texts."""

from __future__ import annotations

from explorer.geography.coordinates import coordinate_decimals, format_place, turn_offset
from explorer.geography.plane import Plane
from explorer.geography.region import Box, Region
from explorer.studies.base.study import Surface
from explorer.user_rows import steps


def cell_of(surface: Surface, longitude: float, latitude: float) -> tuple[int, int, Box] | None:
    """Return row, column and box of the cell of a surface at a position.

    None outside, also of a polygon.
    """
    assert surface.region is not None
    south, west, north, east = surface.region.box
    if surface.region.plane is None:
        longitude += turn_offset(longitude, (west + east) / 2)
    if not (south <= latitude <= north and west <= longitude <= east):
        return None
    polygon = surface.region.polygon
    if polygon is not None and not polygon.holds(steps([latitude]), steps([longitude]))[0]:
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


def on_earth(region: Region | None) -> bool:
    """Whether the map of a region is of the Earth; true without a region."""
    return plane_of(region) is None


def plane_of(region: Region | None) -> Plane | None:
    """Return the plane of a region; None for the Earth."""
    return None if region is None else region.plane


def place_words(position: tuple[float, float], scale: float, region: Region | None) -> str:
    """Return a position (x, y) as text, with decimals according to the scale per pixel."""
    decimals = coordinate_decimals(scale)
    return format_place(position[1], position[0], decimals, plane_of(region))


def cell_words(row: int, column: int, region: Region | None) -> str:
    """Return the position of a cell in the grid as text."""
    corner = "south-west" if on_earth(region) else "lower left"
    return f"cell {column + 1}, {row + 1} from the {corner}"


def beside(box: Box, region: Region, longitude: float) -> Box:
    """Return a box of the region, shifted to where it is drawn in a view around a longitude.

    On the Earth the map is drawn once, nearest to the centre of the view.
    """
    if region.plane is not None:
        return box
    south, west, north, east = box
    turn = turn_offset((region.west + region.east) / 2, longitude)
    return south, west + turn, north, east + turn


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
