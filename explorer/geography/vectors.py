"""Lines and areas from GeoJSON, GeoPackage and Shapefile, in degrees, and their drawing.

Sources: RFC 7946; OGC GeoPackage 1.3 with well-known binary (ISO 19125, and its extension for Z and
M by thousands or high bits); ESRI Shapefile Technical Description, 1998. Files are not trusted:
counts are checked against what is left of the file before anything is allocated.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.coordinates import KM_PER_DEGREE
from explorer.geography.region import Box, PolygonRegion
from explorer.geography.tiles import Cancelled, Pixels, Query, plain_credit
from explorer.lazy import missing_library
from explorer.polygon import JOIN_AREAS, MAX_POINTS as MAX_CORNERS

FloatArray = NDArray[np.float64]

MAX_POINTS = 3_000_000
"""Most points of a file; more would take seconds to draw."""
MAX_GEOJSON = 100_000_000
"""Largest GeoJSON file in bytes: it is read as a whole."""
CHUNK = 20_000
"""About how many points are drawn as one path."""
DEGREES = 4326
"""EPSG number of degrees of WGS 84."""
WEB_MERCATOR = 3857
SAME_DEGREES = frozenset((DEGREES, 4258, 4269, 4979, 0, -1, 84))
"""EPSG numbers of systems of degrees that differ by about a metre, which no picture shows."""
_RADIUS = 6378137.0
_SIMPLER = (MAX_CORNERS, 800, 600, 400, 200)
"""Numbers of corners tried for an outline that has too many."""


class Shapes:
    """Collects lines and rings of one file.

    Attributes
    ----------
    credit : str
        Attribution from the file; empty if it has none.
    parts : list of FloatArray
        Points of each line or ring, shape (n, 2): x and y as in the file.
    closed : list of bool
    """

    def __init__(self, name: str, cancelled: Cancelled) -> None:
        self.name, self.cancelled = name, cancelled
        self.credit = ""
        self.parts: list[FloatArray] = []
        self.closed: list[bool] = []
        self.points = 0

    def add(self, points: FloatArray, closed: bool) -> None:
        """Add a line or ring; one with an infinite coordinate is left out.

        Raises
        ------
        ValueError
            If there are too many points.
        """
        least = 3 if closed else 2
        if len(points) < least or not np.isfinite(points).all():
            return
        self.points += len(points)
        if self.points > MAX_POINTS:
            raise ValueError(
                f"{self.name} has over {MAX_POINTS:,} points; cut it to the place you look at, or "
                "simplify it, with ogr2ogr -clipsrc or -simplify"
            )
        if len(self.parts) % 1000 == 0 and self.cancelled():
            raise InterruptedError
        self.parts.append(points)
        self.closed.append(closed)

    def add_polygon(self, rings: list[FloatArray], outside: int = 1) -> None:
        """Add a shell and its holes, turned so that a nonzero winding number is inside."""
        for number, ring in enumerate(rings):
            turn = outside if number == 0 else -outside
            if len(ring) >= 3:
                self.add(ring if _area(ring) * turn >= 0 else ring[::-1], True)


@dataclass(frozen=True)
class Outline:
    """Outline of the areas of a file.

    Attributes
    ----------
    rings : list of lists of (latitude, longitude)
    points : int
        Number of corners in the file.
    moved : float
        How far the outline may lie from the file's, in metres; 0 where it is the file's.
    """

    rings: list[list[tuple[float, float]]]
    points: int
    moved: float


def _outlines(
    parts: list[FloatArray], cancelled: Cancelled
) -> Iterator[tuple[list[FloatArray], float]]:
    """Yield rings with few enough corners, and how far they may lie from these: in metres.

    These themselves if they have; else simpler and simpler ones, as one may cross itself.
    """
    if sum(map(len, parts)) <= MAX_CORNERS:
        yield parts, 0.0
        return
    weights = [_weights(part, cancelled) for part in parts]
    for most in _SIMPLER:
        kept, moved = _kept(weights, most)
        yield [part[keep] for part, keep in zip(parts, kept, strict=True)], moved


def _weights(ring: FloatArray, cancelled: Cancelled) -> FloatArray:
    """Return of every corner by how many metres the outline moves, at most, where it is left out.

    Douglas and Peucker's method, once for all tolerances: of what lies between two corners that are
    kept, the farthest from the line between them is next. It weighs no more than the one before, so
    that corners above any weight are an outline of that tolerance. Three always stay.
    """
    metres = ring * (1000 * KM_PER_DEGREE)
    metres[:, 0] *= math.cos(math.radians(float(ring[:, 1].mean())))
    weights = np.zeros(len(ring))
    far = int(np.argmax(np.hypot(*(metres - metres[0]).T)))
    weights[[0, far]] = math.inf
    closed = np.concatenate([metres, metres[:1]])
    parts = [(0, far, math.inf), (far, len(ring), math.inf)]
    for number in count():
        if not parts:
            break
        if number % 1000 == 0 and cancelled():
            raise InterruptedError
        first, last, limit = parts.pop()
        if last - first < 2:
            continue
        along = closed[last] - closed[first]
        away = closed[first + 1 : last] - closed[first]
        share = np.clip(away @ along / max(float(along @ along), 1e-300), 0, 1)
        distance = np.hypot(*(away - share[:, None] * along).T)
        at = int(np.argmax(distance))
        weight = min(float(distance[at]), limit)
        weights[first + 1 + at] = weight
        parts += [(first, first + 1 + at, weight), (first + 1 + at, last, weight)]
    finite = np.where(np.isinf(weights), -1.0, weights)
    weights[int(np.argmax(finite))] = math.inf
    return weights


def _kept(weights: list[FloatArray], most: int) -> tuple[list[NDArray[np.bool_]], float]:
    """Return which corners of each ring the simpler outline has, and by how much it moves."""
    every = np.concatenate(weights)
    order = np.argsort(-every, kind="stable")
    keep = np.zeros(len(every), bool)
    keep[order[:most]] = True
    keep |= np.isinf(every)
    moved = float(every[~keep].max(initial=0.0))
    return np.split(keep, np.cumsum([len(ring) for ring in weights])[:-1]), moved


def _area(ring: FloatArray) -> float:
    x, y = ring[:, 0], ring[:, 1]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y)) / 2


# Files -----------------------------------------------------------------------------------------


def geojson_shapes(path: Path, shapes: Shapes) -> int | str:
    """Read GeoJSON; return its reference system.

    Raises
    ------
    ValueError
        If it is too large, no GeoJSON, or in an unknown reference system.
    """
    if path.stat().st_size > MAX_GEOJSON:
        raise ValueError(
            f"{path.name} has over {MAX_GEOJSON / 1e6:g} MB; convert it to GeoPackage with ogr2ogr"
        )
    try:
        whole = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no readable GeoJSON ({error})") from None
    if not isinstance(whole, dict):
        raise ValueError(f"{path.name} is no GeoJSON: it has no type")
    features = whole.get("features") if whole.get("type") == "FeatureCollection" else [whole]
    try:
        for feature in features if isinstance(features, list) else []:
            _add_geojson(feature, shapes, 0)
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        text = str(error)
        raise ValueError(
            text if path.name in text else f"{path.name} is no readable GeoJSON ({text})"
        ) from None
    credits = (plain_credit(whole.get(key)) for key in ("attribution", "copyright", "license"))
    shapes.credit = next(filter(None, credits), "")
    system = whole.get("crs")
    name = system.get("properties", {}).get("name") if isinstance(system, dict) else None
    if name is None or "CRS84" in str(name):
        return DEGREES
    match = re.fullmatch(r"(?:urn:ogc:def:crs:)?EPSG:[0-9.]{0,8}:?(\d{4,6})", str(name))
    if match is None:
        raise ValueError(
            f"{path.name}: its reference system {str(name)[:60]!r} is not known; "
            "convert it with ogr2ogr -t_srs EPSG:4326"
        )
    return int(match[1])


def _add_geojson(item: Any, shapes: Shapes, depth: int) -> None:
    if not isinstance(item, dict) or depth > 4:
        return
    kind = item.get("type")
    inside: Any = item.get("coordinates")
    if kind == "Feature":
        _add_geojson(item.get("geometry"), shapes, depth + 1)
    elif kind == "GeometryCollection":
        for part in item["geometries"]:
            _add_geojson(part, shapes, depth + 1)
    elif kind in ("LineString", "MultiLineString"):
        for line in [inside] if kind == "LineString" else inside:
            shapes.add(_positions(line), False)
    elif kind in ("Polygon", "MultiPolygon"):
        for polygon in [inside] if kind == "Polygon" else inside:
            shapes.add_polygon([_positions(ring) for ring in polygon])


def _positions(raw: Any) -> FloatArray:
    return np.array([(x, y) for x, y, *_ in raw], float).reshape(-1, 2)


def geopackage_shapes(path: Path, shapes: Shapes) -> int | str:
    """Read the lines and areas of all layers of a GeoPackage; return their reference system.

    Raises
    ------
    ValueError
        If there are none, or its layers are in different systems.
    """
    query = Query(path, "GeoPackage")
    try:
        tables = query.tables()
        if "gpkg_geometry_columns" not in tables:
            raise ValueError(
                f"{path.name} has no lines or areas; convert its tiles with gdal_translate -of "
                "MBTiles"
            )
        with suppress(ValueError):  # a table without this column
            described = query.rows("SELECT description FROM gpkg_contents WHERE description <> ''")
            shapes.credit = plain_credit(described[0][0]) if described else ""
        columns = query.rows("SELECT table_name, column_name, srs_id FROM gpkg_geometry_columns")
        systems = set()
        for table, column, number in columns:
            if table not in tables:
                continue
            before = shapes.points
            table, column = (str(name).replace('"', '""') for name in (table, column))
            for (blob,) in query.each(f'SELECT "{column}" FROM "{table}"', shapes.cancelled):
                if isinstance(blob, bytes):
                    _add_geopackage(blob, shapes)
            if shapes.points > before:
                systems.add(_epsg_of(query, number))
    except (struct.error, IndexError) as error:
        raise ValueError(f"{path.name}: a geometry is damaged ({error})") from None
    finally:
        query.close()
    if len(systems) > 1:
        raise ValueError(
            f"{path.name} has layers in different reference systems; convert it with "
            "ogr2ogr -t_srs EPSG:4326"
        )
    return next(iter(systems), DEGREES)


def _epsg_of(query: Query, number: object) -> int:
    rows = query.rows(
        "SELECT organization, organization_coordsys_id FROM gpkg_spatial_ref_sys WHERE srs_id = ?",
        number,
        most=1,
    )
    known = rows and str(rows[0][0]).upper() == "EPSG" and isinstance(rows[0][1], int)
    return rows[0][1] if known else int(str(number))


_ENVELOPES = (0, 32, 48, 48, 64)


def _add_geopackage(blob: bytes, shapes: Shapes) -> None:
    flags = blob[3] if blob[:2] == b"GP" and len(blob) > 8 else 0xFF
    envelope = (flags >> 1) & 7
    if flags & 0xD0 or envelope >= len(_ENVELOPES):
        return  # empty, of a kind of its own, or no geometry
    _add_wkb(blob, 8 + _ENVELOPES[envelope], shapes, 0)


_LINE, _POLYGON = 2, 3
_WITHIN = {4: 1, 5: _LINE, 6: _POLYGON, 7: 0}


def _add_wkb(blob: bytes, at: int, shapes: Shapes, depth: int) -> int:
    """Add a geometry of well-known binary; return the position behind it."""
    order = "<" if blob[at] else ">"
    (code,) = struct.unpack_from(order + "I", blob, at + 1)
    at += 5
    if code & 0x20000000:  # with the number of a reference system
        at += 4
    kind = code & 0xFFFF
    dimensions = 2 + bool(code & 0x80000000) + bool(code & 0x40000000)
    dimensions += (0, 1, 1, 2)[kind // 1000] if kind < 4000 else 0
    kind %= 1000
    if kind == 1:
        return at + 8 * dimensions
    if kind == _LINE:
        points, at = _wkb_points(blob, at, order, dimensions)
        shapes.add(points, False)
    elif kind == _POLYGON:
        rings = []
        (number,) = struct.unpack_from(order + "I", blob, at)
        at += 4
        for _ in range(number):
            points, at = _wkb_points(blob, at, order, dimensions)
            rings.append(points)
        shapes.add_polygon(rings)
    elif kind in _WITHIN and depth < 4:
        (number,) = struct.unpack_from(order + "I", blob, at)
        at += 4
        for _ in range(number):
            at = _add_wkb(blob, at, shapes, depth + 1)
    else:
        raise struct.error(f"type {code} is not line or area; curves must be segmented")
    return at


def _wkb_points(blob: bytes, at: int, order: str, dimensions: int) -> tuple[FloatArray, int]:
    (number,) = struct.unpack_from(order + "I", blob, at)
    at += 4
    end = at + 8 * dimensions * number
    if end > len(blob):
        raise struct.error("it ends early")
    values = np.frombuffer(blob, order + "f8", dimensions * number, at)
    return values.reshape(number, dimensions)[:, :2].astype(float), end


def shapefile_shapes(path: Path, shapes: Shapes) -> int | str:
    """Read the lines or areas of a Shapefile; return the reference system of its .prj.

    Raises
    ------
    ValueError
        If it is damaged, holds points, or has no .prj.
    """
    data = path.read_bytes() if path.stat().st_size <= 1_000_000_000 else b""
    if len(data) < 100 or struct.unpack_from(">i", data)[0] != 9994:
        raise ValueError(f"{path.name} is no readable Shapefile, or has over 1 GB")
    at = 100
    while at + 12 <= len(data):
        (words,) = struct.unpack_from(">i", data, at + 4)
        end = at + 8 + 2 * words
        if words < 2 or end > len(data):
            raise ValueError(f"{path.name} is damaged or cut short at byte {at}")
        (kind,) = struct.unpack_from("<i", data, at + 8)
        if kind % 10 in (3, 5) and kind <= 25:
            _add_record(data[at + 8 : end], kind % 10 == 5, shapes)
        at = end
    system = path.with_suffix(".prj")
    if not system.is_file():
        raise ValueError(
            f"{path.name} has no {system.name} beside it, which names the reference system; copy "
            "it there too, or convert with ogr2ogr -t_srs EPSG:4326"
        )
    return system.read_bytes()[:65536].decode("utf-8", "replace")


def _add_record(record: bytes, closed: bool, shapes: Shapes) -> None:
    if len(record) < 44:
        return
    parts, points = struct.unpack_from("<ii", record, 36)
    if not (0 < parts <= points and 44 + 4 * parts + 16 * points <= len(record)):
        raise ValueError(f"{shapes.name}: a record is damaged; write it again")
    starts = np.frombuffer(record, "<i4", parts, 44)
    values = np.frombuffer(record, "<f8", 2 * points, 44 + 4 * parts).reshape(points, 2)
    # Shells run clockwise and holes the other way, so that all stay as they are.
    for first, last in zip(starts, [*starts[1:], points], strict=True):
        if 0 <= first < last <= points:
            shapes.add(values[first:last].astype(float), closed)


# Reference systems -----------------------------------------------------------------------------


def to_degrees(points: FloatArray, system: int | str, name: str) -> FloatArray:
    """Convert x and y to longitude and latitude.

    Parameters
    ----------
    points : FloatArray, shape (n, 2)
    system : int or str
        EPSG number or well-known text.

    Raises
    ------
    ValueError
        If PROJ is needed and not installed, or does not know the system.
    """
    if isinstance(system, str):
        text = system.lstrip()
        if re.match(r"GEOG(CS|CRS)", text):
            system = DEGREES
        elif "WGS_1984_Web_Mercator" in text or re.search(r'"EPSG",\s*"?3857', text):
            system = WEB_MERCATOR
    if system in SAME_DEGREES:
        return points
    if system == WEB_MERCATOR:
        longitude = np.degrees(points[:, 0] / _RADIUS)
        latitude = np.degrees(np.arctan(np.sinh(points[:, 1] / _RADIUS)))
        return np.column_stack([longitude, latitude])
    if lacking := missing_library(f"{name}: its reference system", "geofiles", "pyproj"):
        raise ValueError(f"{lacking}, or convert the file with ogr2ogr -t_srs EPSG:4326")
    os.environ["PROJ_NETWORK"] = "OFF"
    import pyproj

    try:
        if isinstance(system, int):
            known = pyproj.CRS.from_epsg(system)
        elif re.match(r"(PROJ|COMPD|BOUND|COMPOUND)\w*\s*[\[(]", system.lstrip()):
            known = pyproj.CRS.from_wkt(system)
        else:
            raise ValueError
        change = pyproj.Transformer.from_crs(known, DEGREES, always_xy=True)
        longitude, latitude = change.transform(points[:, 0], points[:, 1])
    except (pyproj.exceptions.ProjError, ValueError, TypeError):
        raise ValueError(
            f"{name}: its reference system is not known; convert the file with "
            "ogr2ogr -t_srs EPSG:4326"
        ) from None
    return np.column_stack([longitude, latitude])


# Drawing ---------------------------------------------------------------------------------------

READERS = {
    "GeoJSON": geojson_shapes,
    "GeoPackage": geopackage_shapes,
    "Shapefile": shapefile_shapes,
}


@dataclass(frozen=True)
class Ink:
    """Colour and width of lines.

    Attributes
    ----------
    colour : (int, int, int)
        Red, green, blue; areas are filled with it at an eighth of its strength.
    width : float
        In pixels of the picture.
    """

    colour: tuple[int, int, int] = (90, 98, 112)
    width: float = 1.0


class VectorLayer:
    """Draws the lines and areas of a file.

    Attributes
    ----------
    kind, name, credit, detail : str
    box : Box

    Raises
    ------
    ValueError
        If there are none, or they leave the globe.
    """

    kind = "lines and areas"
    name = ""

    def __init__(self, path: Path, form: str, cancelled: Cancelled) -> None:
        shapes = Shapes(path.name, cancelled)
        system = READERS[form](path, shapes)
        self.credit = shapes.credit
        if not shapes.parts:
            raise ValueError(f"{path.name} has no lines or areas; points can't be a background")
        whole = to_degrees(np.concatenate(shapes.parts), system, path.name)
        beyond = (np.abs(whole[:, 0]) > 360) | (np.abs(whole[:, 1]) > 90.000001)
        if not np.isfinite(whole).all() or beyond.any():
            raise ValueError(
                f"{path.name}: its coordinates are not degrees; name their reference system, or "
                "convert the file with ogr2ogr -t_srs EPSG:4326"
            )
        lengths = np.array([len(part) for part in shapes.parts])
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        self._points, self._starts, self._lengths = whole, starts, lengths
        self._closed = np.array(shapes.closed)
        low, high = (reduce.reduceat(whole, starts) for reduce in (np.minimum, np.maximum))
        self._low, self._high = low, high
        (west, south), (east, north) = low.min(axis=0), high.max(axis=0)
        self.box: Box = (float(south), float(west), float(north), float(east))
        areas = int(self._closed.sum())
        self.detail = f"{len(lengths) - areas:,} lines, {areas:,} outlines of areas"

    def outline(self, name: str, cancelled: Cancelled) -> Outline:
        """Return the outline of the file's areas, a simpler one if it has too many points.

        Raises
        ------
        ValueError
            If it has lines, areas that overlap, or no simpler outline.
        """
        if not self._closed.all():
            raise ValueError(
                f"{name} has {self.detail}. A region has areas only: leave the lines out, for "
                "example with ogr2ogr -where."
            )
        parts = [
            part[:-1] if len(part) > 1 and (part[0] == part[-1]).all() else part
            for part in np.split(self._points, self._starts[1:])
        ]
        number, why = sum(map(len, parts)), ValueError()
        for tried, moved in _outlines(parts, cancelled):
            rings = [[(y, x) for x, y in ring.tolist()] for ring in tried]
            try:
                holes = PolygonRegion.of(rings).polygon.holes
            except ValueError as error:
                why = error
                continue
            # Shells turn one way and holes the other.
            if len({(_area(part) > 0) ^ hole for part, hole in zip(parts, holes, strict=True)}) > 1:
                raise ValueError(f"{name}: an area lies in another. {JOIN_AREAS}")
            return Outline(rings, number, moved)
        if number <= MAX_CORNERS:
            raise ValueError(f"{name}: {why}")
        raise ValueError(
            f"{name} has {number:,} points, and a region takes at most {MAX_CORNERS:,}; no simpler "
            f"outline was found. {why} Or simplify it with ogr2ogr -simplify."
        )

    def close(self) -> None:
        """Release nothing: the file was read as a whole."""

    def paint(
        self,
        box: Box,
        columns: int,
        rows: int,
        cancelled: Cancelled,
        ink: Ink = Ink(),
    ) -> tuple[Pixels, list[str]]:
        """Return a picture of a box within ±180°, and no notes."""
        from matplotlib.backends import backend_agg
        from matplotlib.path import Path as Outline
        from matplotlib.transforms import Affine2D

        south, west, north, east = box
        wide, high = east - west, north - south
        grow = 2 * ink.width
        edge = np.array([grow * wide / columns, grow * high / rows])
        seen = (
            (self._low <= np.array([east, north]) + edge)
            & (self._high >= np.array([west, south]) - edge)
        ).all(axis=1)
        if not seen.any():
            return np.zeros((rows, columns, 4), np.uint8), []
        library: Any = backend_agg
        renderer = library.RendererAgg(columns, rows, 72)
        place = Affine2D().translate(-west, -south).scale(columns / wide, rows / high)
        red, green, blue = (part / 255 for part in ink.colour)
        for closed in (True, False):
            gc = renderer.new_gc()
            gc.set_linewidth(ink.width)
            gc.set_foreground((red, green, blue, 1.0), isRGBA=True)
            gc.set_antialiased(True)
            fill = (red, green, blue, 0.125) if closed else None
            for points, codes in self._chunks(np.flatnonzero(seen & (self._closed == closed))):
                if cancelled():
                    raise InterruptedError
                renderer.draw_path(gc, Outline(points, codes), place, fill)
        plain = np.asarray(renderer.buffer_rgba())[::-1]
        pixels = plain.copy()
        opacity = plain[..., 3:].astype(np.uint16)
        pixels[..., :3] = (plain[..., :3] * opacity + 127) // 255
        return pixels, []

    def _chunks(self, parts: NDArray[np.int64]) -> Iterator[tuple[FloatArray, NDArray[np.uint8]]]:
        """Yield points and path codes of parts, some 20,000 points at a time."""
        if not parts.size:
            return
        group = np.cumsum(self._lengths[parts]) // CHUNK
        for chosen in np.split(parts, np.flatnonzero(np.diff(group)) + 1):
            lengths = self._lengths[chosen]
            first = np.cumsum(lengths) - lengths
            index = np.arange(lengths.sum()) + np.repeat(self._starts[chosen] - first, lengths)
            codes = np.full(index.size, 2, np.uint8)  # a line to each point
            codes[first] = 1  # a move to the first
            yield self._points[index], codes
