"""Coastlines and borders at three levels of detail, decoded from one compact file.

Format (written by ``resources/convert_basemap.py``): the magic line, then one zlib stream holding a
JSON line and the levels' numbers. The JSON line is ``{"levels": [{"name", "quantum", "degrees",
"lines", "points"}, …]}``, coarsest first. Each level holds, in this order, the number of points of
every line (uint16), the first longitude and latitude of every line (uint32) and then the steps in
longitude and in latitude from point to point (uint16), all as whole multiples of ``quantum``
degrees, zigzag-coded (0, −1, 1, −2 → 0, 1, 2, 3) and stored a byte plane at a time, lowest first.

Sources: Natural Earth 4.1 (public domain) by way of world-atlas, US Census Bureau 2017 (public
domain) by way of us-atlas; both packages ISC. See ``resources/LICENSES.md``.
"""

import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.coordinates import first_longitude
from explorer.geography.region import Box
from explorer.resources import resource_bytes

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

MAGIC = b"PXMAP1\n"
MAX_BYTES = 64_000_000
"""Larger unpacked data are refused."""


@dataclass(frozen=True)
class Level:
    """Polylines at one level of detail.

    Attributes
    ----------
    name : str
        ``110m``, ``50m`` or ``10m`` (the scale 1 : 110 million and so on of the source).
    degrees : float
        Widest view, in degrees of longitude, for which this level is fine enough to be wanted.
    lon, lat : ndarray of float32, shape (m,)
        Points in degrees; a NaN in both ends each line, so that a drawing that connects finite
        neighbours (``arrayToQPath(connect="finite")``, matplotlib's ``plot``) needs nothing else.
        No two joined points are more than 180° of longitude apart.
    """

    name: str
    degrees: float
    lon: Float32Array
    lat: Float32Array

    def within(self, box: Box) -> tuple[Float32Array, Float32Array]:
        """Return the segments whose bounding box touches a box.

        Parameters
        ----------
        box : tuple of float
            South, west, north, east in degrees.

        Returns
        -------
        lon, lat : ndarray of float32
            Points with NaN breaks, as in the attributes.
        """
        south, west, north, east = box
        lon, lat = self.lon, self.lat
        # A comparison with NaN is False, so segments that touch a break drop out by themselves.
        seen = (
            (np.minimum(lon[:-1], lon[1:]) <= east)
            & (np.maximum(lon[:-1], lon[1:]) >= west)
            & (np.minimum(lat[:-1], lat[1:]) <= north)
            & (np.maximum(lat[:-1], lat[1:]) >= south)
        )
        keep = np.zeros(lon.size, bool)
        keep[:-1] |= seen
        keep[1:] |= seen
        index = np.flatnonzero(keep)
        ends = ~np.append(seen, False)[index]
        where = np.flatnonzero(ends) + 1
        return (
            np.insert(lon[index], where, np.float32(np.nan)),
            np.insert(lat[index], where, np.float32(np.nan)),
        )


def lines_in(level: Level, box: Box) -> tuple[Float32Array, Float32Array]:
    """Return the lines of a level in a view that may reach beyond ±180, with NaN breaks."""
    south, west, north, east = box
    start = first_longitude(west, east)
    parts = [(level.lon[:0], level.lat[:0])]
    for turn in (-360.0, 0.0, 360.0):
        first, last = max(west, start, turn - 180), min(east, start + 360, turn + 180)
        if first < last:
            lon, lat = level.within((south, first - turn, north, last - turn))
            parts.append((lon + np.float32(turn), lat))
    lon, lat = (np.concatenate(side) for side in zip(*parts, strict=True))
    return lon, lat


def clip_lines(
    lon: Float32Array, lat: Float32Array, box: Box
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clip lines to a box, for drawings that cannot rely on clipping.

    Parameters
    ----------
    lon, lat : ndarray of float, shape (m,)
        Lines with NaN breaks, as `Level.within` returns them.
    box : tuple of float
        South, west, north, east in degrees.

    Returns
    -------
    lon, lat : ndarray of float
        The parts inside, edges included; a NaN ends every part. Algorithm: Liang and Barsky,
        *A new concept and method for line clipping*, 1984, for all segments at once.
    """
    south, west, north, east = box
    points = np.stack([lon, lat], axis=1).astype(np.float64)
    if len(points) < 2:
        return np.empty(0), np.empty(0)
    start, step = points[:-1], np.diff(points, axis=0)
    low, high = np.array([west, south]), np.array([east, north])
    with np.errstate(divide="ignore", invalid="ignore"):
        near, far = (low - start) / step, (high - start) / step
    # A segment along an axis never crosses that axis' sides: it is inside all along or nowhere.
    still = step == 0
    inside = (start >= low) & (start <= high)
    enter = np.where(still, np.where(inside, -np.inf, np.inf), np.minimum(near, far)).max(axis=1)
    leave = np.where(still, np.where(inside, np.inf, -np.inf), np.maximum(near, far)).min(axis=1)
    enter, leave = np.maximum(enter, 0), np.minimum(leave, 1)
    seen = np.flatnonzero(enter < leave)  # false for segments that touch a break
    first = start[seen] + enter[seen, None] * step[seen]
    last = start[seen] + leave[seen, None] * step[seen]
    # Segments join up where one ends at its own end and the next begins at its own start.
    joined = np.zeros(len(seen), bool)
    joined[1:] = (np.diff(seen) == 1) & (leave[seen[:-1]] == 1) & (enter[seen[1:]] == 0)
    parts: list[NDArray[np.float64]] = []
    for k in range(len(seen)):
        parts += [last[k]] if joined[k] else [np.full(2, np.nan), first[k], last[k]]
    if not parts:
        return np.empty(0), np.empty(0)
    clipped = np.vstack([*parts[1:], np.full(2, np.nan)])
    return clipped[:, 0], clipped[:, 1]


@dataclass(frozen=True)
class Basemap:
    """All levels of detail, coarsest first."""

    levels: tuple[Level, ...]

    def level_for(self, visible_degrees: float) -> Level:
        """Return the level for a view of this many degrees of longitude.

        The finest level that is meant for views this wide; the coarsest for anything wider.
        """
        for level in reversed(self.levels):
            if visible_degrees <= level.degrees:
                return level
        return self.levels[0]


class _Stream:
    """Reads arrays one after the other from the unpacked bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, count: int, width: int) -> IntArray:
        end = self.position + count * width
        if count < 0 or end > len(self.data):
            raise ValueError("basemap: the file ends before its last level")
        planes = np.frombuffer(self.data, np.uint8, count * width, self.position)
        self.position = end
        zigzag = np.zeros(count, np.int64)
        for byte, plane in enumerate(planes.reshape(width, count)):
            zigzag |= plane.astype(np.int64) << (8 * byte)
        return (zigzag >> 1) ^ -(zigzag & 1)


def _read_level(stream: _Stream, entry: dict[str, Any]) -> Level:
    lines, points = int(entry["lines"]), int(entry["points"])
    quantum = float(entry["quantum"])
    lengths = stream.take(lines, 2)
    starts = [stream.take(lines, 4) for _ in range(2)]
    if lines < 1 or lengths.min() < 2 or lengths.sum() != points:
        raise ValueError(f"basemap: the line lengths of level {entry['name']!r} do not add up")
    first = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    # One slot more a line, for its NaN.
    slots = np.arange(points) + np.repeat(np.arange(lines), lengths)
    axes = []
    for start in starts:
        # Walking all lines in one sum: each line's first step leads from the end of the line
        # before it to its own start.
        steps = np.zeros(points, np.int64)
        inner = np.ones(points, bool)
        inner[first] = False
        steps[inner] = stream.take(points - lines, 2)
        run = np.cumsum(steps)
        values = run - np.repeat(run[first] - start, lengths)
        axis = np.full(points + lines, np.nan, np.float32)
        axis[slots] = values * quantum
        axes.append(axis)
    lon, lat = axes
    # Half a degree of grace: rounding may lift a pole or the antimeridian by half a quantum.
    if np.nanmax(np.abs(lon)) > 180.5 or np.nanmax(np.abs(lat)) > 90.5:
        raise ValueError(f"basemap: level {entry['name']!r} leaves the globe")
    return Level(str(entry["name"]), float(entry["degrees"]), lon, lat)


def read_basemap(data: bytes) -> Basemap:
    """Unpack a basemap.

    Parameters
    ----------
    data : bytes
        The file's contents; the format is in the module's description.

    Returns
    -------
    Basemap
        Levels from coarse to fine.

    Raises
    ------
    ValueError
        If the bytes are not a basemap, or are damaged or cut short.
    """
    if not data.startswith(MAGIC):
        raise ValueError("basemap: the data does not start like a basemap file")
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(data[len(MAGIC) :], MAX_BYTES)
        if not unpacker.eof:
            raise ValueError("basemap: the file is cut short or unpacks to too much")
        header, _, numbers = body.partition(b"\n")
        entries = json.loads(header)["levels"]
        stream = _Stream(numbers)
        levels = tuple(_read_level(stream, entry) for entry in entries)
    except (zlib.error, KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"basemap: the file is damaged ({error})") from None
    if not levels or stream.position != len(numbers):
        raise ValueError("basemap: the file does not end with its last level")
    if [e.degrees for e in levels] != sorted((e.degrees for e in levels), reverse=True):
        raise ValueError("basemap: levels must go from coarse to fine")
    return Basemap(levels)


@cache
def shipped_basemap() -> Basemap:
    """Return the shipped lines of coasts and borders, loaded once."""
    return read_basemap(resource_bytes("basemap.bin"))
