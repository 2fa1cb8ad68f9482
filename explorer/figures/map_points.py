"""The points of maps as numbers: noisy points, numbered centres."""

import io
from collections.abc import Sequence
from typing import Any

from explorer.csv_rows import CsvRows
from explorer.geography.coordinates import wrap_longitude
from explorer.studies.base.study import Surface

COLUMNS = ("number", "lat", "lon", "share")
"""Number from 1, latitude, longitude, share of the total; None where a point stands for none."""
WITHOUT_A_PLACE = ("number", "north", "east", "share")
"""Shares of the way from the region's south to its north and from west to east."""


ON_A_PLANE = ("number", "y", "x", "share")
"""Of a plane that is not the Earth."""


def point_columns(surface: Surface) -> tuple[str, ...]:
    """Return what the columns of a map's points are called."""
    if surface.region is None:
        return WITHOUT_A_PLACE
    return COLUMNS if surface.region.plane is None else ON_A_PLANE


def point_rows(surface: Surface) -> list[tuple[int, float, float, float | None]]:
    """Return the points of a map, a row each; none of a map that has only cells."""
    overlay = surface.overlay
    if overlay is None:
        return []
    south, west, north, east = (0.0, 0.0, 1.0, 1.0)
    if surface.region is not None:
        south, west, north, east = surface.region.box
    lat = (south + overlay.points[:, 0] * (north - south)).round(9).tolist()
    lon = (west + overlay.points[:, 1] * (east - west)).round(9).tolist()
    if surface.region is not None and surface.region.plane is not None:
        lat = [surface.region.plane.y(north) for north in lat]
    elif surface.region is not None:
        lon = [round(wrap_longitude(v), 9) for v in lon]
    shares = [None] * len(lat) if overlay.shares is None else overlay.shares.tolist()
    return list(zip(range(1, len(lat) + 1), lat, lon, shares, strict=True))


def points_document(surface: Surface) -> dict[str, Any]:
    """Return the points of a map as a member of a JSON document; nothing without any."""
    if surface.overlay is None:
        return {}
    columns = point_columns(surface)
    return {"points": [dict(zip(columns, row, strict=True)) for row in point_rows(surface)]}


def points_only(shown: Sequence[Surface]) -> bool:
    """Return whether all of some maps have points, so that a table of these says it all."""
    return bool(shown) and all(surface.overlay is not None for surface in shown)


def write_points(out: io.StringIO, shown: Sequence[Surface]) -> None:
    """Write points as CSV, a row each, with the keys of their maps."""
    writer = CsvRows(out)
    writer.write_row(("map", *point_columns(shown[0])))
    for surface in shown:
        writer.write_rows((surface.key, *row) for row in point_rows(surface))
