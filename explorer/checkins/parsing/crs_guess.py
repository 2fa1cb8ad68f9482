"""Detects coordinates that are not degrees (projected, E7, of images and other planes) or swapped.

Swapped latitude and longitude are recognised by the positions of towns.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from explorer.checkins.model import FloatArray, Mapping
from explorer.checkins.parsing.numbers import Rows, number
from explorer.geography.cities import shipped_cities

_PROJECTED: dict[str, tuple[str, ...]] = {
    "lon": (
        "easting",
        "eastings",
        "east",
        "rechtswert",
        "rechts",
        "ostwert",
        "xcoord",
        "coordx",
        "xcoordinate",
        "utmx",
        "utme",
        "utmeast",
        "x",
        "lon",
        "lng",
        "long",
        "longitude",
    ),
    "lat": (
        "northing",
        "northings",
        "north",
        "hochwert",
        "hoch",
        "nordwert",
        "ycoord",
        "coordy",
        "ycoordinate",
        "utmy",
        "utmn",
        "utmnorth",
        "y",
        "lat",
        "latitude",
    ),
}
"""Names of columns with projected coordinates, letters only."""

SYSTEMS: tuple[tuple[str, str, tuple[float, float], tuple[float, float]], ...] = (
    ("EPSG:2056", "Switzerland, LV95", (2.48e6, 2.84e6), (1.07e6, 1.30e6)),
    ("EPSG:28992", "Netherlands, RD New", (-1e4, 3.0e5), (2.9e5, 6.4e5)),
    ("EPSG:2157", "Ireland, ITM", (4.1e5, 7.8e5), (5.1e5, 9.7e5)),
    ("EPSG:27700", "British National Grid", (-1.1e5, 6.9e5), (-2e4, 1.26e6)),
    ("EPSG:2154", "France, Lambert-93", (-4e5, 1.4e6), (5.9e6, 7.3e6)),
    ("EPSG:31467", "Germany, Gauß-Krüger zone 3", (3.2e6, 3.8e6), (5.1e6, 6.2e6)),
    ("EPSG:31468", "Germany, Gauß-Krüger zone 4", (4.2e6, 4.8e6), (5.1e6, 6.2e6)),
    ("EPSG:3035", "Europe, LAEA", (2.4e6, 7.4e6), (1.3e6, 5.5e6)),
    ("EPSG:25832", "UTM zone 32N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25833", "UTM zone 33N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25831", "UTM zone 31N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25830", "UTM zone 30N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:32618", "UTM zone 18N, WGS 84 (zone z: 32600 + z)", (1.6e5, 8.4e5), (0.0, 9.4e6)),
    ("EPSG:32733", "UTM zone 33S, WGS 84 (zone z: 32700 + z)", (1.6e5, 8.4e5), (1.1e6, 1.0e7)),
    ("EPSG:3857", "Web Mercator", (-2.004e7, 2.004e7), (-2.005e7, 2.005e7)),
)
"""Common systems: name, description, range of x and y in metres, narrowest first."""

_SURELY_METRES = 20_000
"""Larger than image sizes in pixels and than any degrees."""

Points = tuple[FloatArray, FloatArray]


def points_of(
    rows: Sequence[Sequence[str]], lat: int, lon: int, number: Callable[[str], float | None]
) -> Points:
    """Return y and x of the rows that have both."""
    pairs = [(number(row[lat]), number(row[lon])) for row in rows if max(lat, lon) < len(row)]
    whole = [pair for pair in pairs if None not in pair]
    y, x = np.array(whole, float).reshape(-1, 2).T
    return y, x


def candidates(points: Points) -> list[tuple[str, str]]:
    """Return name and description of the systems that fit most points, narrowest first.

    Empty for numbers that may be degrees, or pixels of a picture.
    """
    y, x = points
    y, x = y[(x != 0) | (y != 0)], x[(x != 0) | (y != 0)]
    if not x.size or np.median(np.maximum(abs(x), abs(y))) < _SURELY_METRES:
        return []
    return [
        (name, words)
        for name, words, (left, right), (low, high) in SYSTEMS
        if np.mean((left <= x) & (x <= right) & (low <= y) & (y <= high)) > 0.9
    ]


_E7 = re.compile(r"(?P<role>lat|lon|lng)[a-z]*[ _.-]*e7", re.IGNORECASE)


def e7_columns(names: Sequence[str]) -> dict[str, int]:
    """Return the columns named as degrees times ten million, if there is exactly one pair."""
    by_role: dict[str, list[int]] = {"lat": [], "lon": []}
    for i, name in enumerate(names):
        if match := _E7.search(name[:200]):
            by_role["lat" if match["role"].lower() == "lat" else "lon"].append(i)
    single = all(len(columns) == 1 for columns in by_role.values())
    return {role: columns[0] for role, columns in by_role.items()} if single else {}


def is_e7(names: Sequence[str], lat: int | None, lon: int | None) -> bool:
    """Return whether both coordinate names denote degrees times ten million."""
    columns = [column for column in (lat, lon) if column is not None and column < len(names)]
    return len(columns) == 2 and all(_E7.search(names[column][:200]) for column in columns)


def metric_columns(
    places: dict[str, int], rows: Sequence[Sequence[str]], number: Callable[[str], float | None]
) -> dict[str, int] | None:
    """Return the columns of y and x if they clearly are metres; else None.

    Parameters
    ----------
    places : dict
        Column of each name, of letters only.
    """
    columns = {
        role: next(places[word] for word in known if word in places)
        for role, known in _PROJECTED.items()
        if any(word in places for word in known)
    }
    if set(columns) != {"lat", "lon"}:
        return None
    return columns if candidates(points_of(rows, columns["lat"], columns["lon"], number)) else None


_PLANAR: dict[str, tuple[str, ...]] = {
    "lon": ("x", "xcoord", "xpx", "xpixel", "gazex", "fixationx", "fixx", "posx"),
    "lat": ("y", "ycoord", "ypx", "ypixel", "gazey", "fixationy", "fixy", "posy"),
    "image": (
        "image",
        "imageid",
        "img",
        "imgid",
        "picture",
        "pictureid",
        "stimulus",
        "stimulusid",
        "frame",
        "scene",
    ),
}
"""Names of columns with image coordinates, letters only."""


def planar_columns(
    places: dict[str, int], rows: Sequence[Sequence[str]], number: Callable[[str], float | None]
) -> dict[str, int] | None:
    """Return the columns of x, y and image if they clearly are not degrees; else None.

    That is so if rows are about images, or if most of them do not lie on the globe: names alone
    do not tell, because x and y may be degrees, too.
    """
    columns = {
        role: next(places[word] for word in known if word in places)
        for role, known in _PLANAR.items()
        if any(word in places for word in known)
    }
    if not {"lat", "lon"} <= set(columns) or "lat" in places or "latitude" in places:
        return None
    if "image" in columns:
        return columns
    y = [n for row in rows if (n := number(row[columns["lat"]])) is not None]
    x = [n for row in rows if (n := number(row[columns["lon"]])) is not None]
    off = sum(abs(b) > 90 or abs(a) > 180 for a, b in zip(x, y, strict=False))
    return columns if 2 * off > len(rows) > 0 else None


_MAX_ROWS = 24
_NEAR_KM = 50.0
_MOST, _FEW = 0.8, 0.2

Array = np.ndarray[Any, np.dtype[np.float64]]


_SWAPPED = "Latitude and longitude seem to be swapped: "


def _degrees(rows: Rows, mapping: Mapping, decimal: str) -> tuple[Array, Array] | None:
    """Return latitudes and longitudes of sampled rows; None if they are not degrees."""
    if mapping.lat is None or mapping.lon is None or mapping.planar or mapping.crs:
        return None
    if mapping.order:
        return None
    last = max(mapping.lat, mapping.lon)
    pairs = [
        (lat, lon)
        for row in rows
        if last < len(row)
        and (lat := number(row[mapping.lat], decimal)) is not None
        and (lon := number(row[mapping.lon], decimal)) is not None
        and abs(lat) <= 180
        and abs(lon) <= 180
    ]
    if not pairs:
        return None
    lat, lon = np.array(pairs[:: -(-len(pairs) // _MAX_ROWS)]).T
    return lat, lon


def beyond_the_poles(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if most latitudes exceed ±90 and fit swapped; else an empty text."""
    there = _degrees(rows, mapping, decimal)
    if there is None:
        return ""
    fits, fits_turned = (np.mean(np.abs(values) <= 90) for values in there)
    if fits < _FEW and fits_turned > _MOST:
        return _SWAPPED + "most latitudes are beyond the poles. Choose their columns the other way."
    return ""


def looks_swapped(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if latitude and longitude seem swapped; else an empty text.

    They do if few of the first rows are near a town and most would be if swapped, or if most
    latitudes exceed ±90 and would not if swapped.
    """
    there, reason = _degrees(rows, mapping, decimal), beyond_the_poles(rows, mapping, decimal)
    if there is None or reason:
        return reason
    lat, lon = there
    fits, fits_turned = np.mean(np.abs(lat) <= 90), np.mean(np.abs(lon) <= 90)
    if min(fits, fits_turned) < _MOST or _near_towns(lat, lon) >= _FEW:
        return ""
    near = _near_towns(lon, lat)
    if near < _MOST:
        return ""
    return _SWAPPED + (
        f"hardly any of the first rows lies near a town, but {near:.0%} do the other way round. "
        "Choose their columns the other way, or as they are if this is meant."
    )


def _near_towns(lat: Array, lon: Array) -> float:
    """Return the share of positions near a town."""
    towns = shipped_cities()
    places = zip(lat.tolist(), lon.tolist(), strict=True)
    return float(np.mean([towns.nearest(*place)[1] <= _NEAR_KM for place in places]))
