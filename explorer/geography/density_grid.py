"""Files of grids of numbers, such as people per cell, brought onto the grid of a region by area.

Two kinds of files are read. A GeoTIFF has one band of numbers in degrees of latitude and longitude,
north up; pixels without data count 0. A CSV table has a line of names and then one cell a line: the
latitude and longitude of its centre and its value, in columns called ``lat``, ``lon`` and
``value`` (any order; with three columns the third may have any name). Lines above the names may
begin with ``#``: a map that this program exported as CSV is such a table. Its cells lie on a
regular grid; those that are missing inside the table's own extent hold 0.

`ReleasedGrid` is a third kind of file, which the program writes itself: the map of an earlier
release, brought onto other cells as the others are. It is no grid of a user, since its ε counts.

`grid_on_region` runs in a worker of limited memory (`explorer.bounded`), as files may be damaged or
very large; no connection is opened.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.bounded import call
from explorer.files import read_bounded
from explorer.geography.background import GDAL_SETTINGS, TIFF
from explorer.geography.tiles import EXTRA
from explorer.lazy import missing_library
from explorer.user_rows import Box

Floats = NDArray[np.float64]

LEAST_COVERED = 0.5
"""A file that covers less of a region is refused."""
MEMORY = 1_500_000_000
"""Bytes that a worker may take."""
MAX_CELLS = 30_000_000
"""Most pixels of a file inside a region, or cells of a table."""
MAX_CSV_BYTES = 50_000_000
RELEASED = "privacy-explorer-released-map/1"
"""Schema of a file with a `ReleasedGrid`."""
LATITUDES = ("lat", "latitude", "y")
LONGITUDES = ("lon", "lng", "long", "longitude", "x")
VALUES = ("value", "population", "people", "count", "density", "private")
OFF_GRID = 0.1
"""How far a centre may be from its place on the grid, in steps."""


@dataclass(frozen=True)
class Cells:
    """Part of a regular grid of degrees.

    Attributes
    ----------
    south, west : float
        Corner, in degrees.
    height, width : float
        Of a cell, in degrees.
    values : ndarray of float64, shape (rows, columns)
        ≥ 0, row 0 south and column 0 west.
    """

    south: float
    west: float
    height: float
    width: float
    values: Floats

    @property
    def box(self) -> Box:
        """South, west, north, east."""
        rows, columns = self.values.shape
        north, east = self.south + rows * self.height, self.west + columns * self.width
        return self.south, self.west, north, east

    def part(self, box: Box) -> Cells:
        """Return the cells that meet a box."""
        south, west, north, east = box
        rows = _span(south - self.south, north - self.south, self.height, self.values.shape[0])
        columns = _span(west - self.west, east - self.west, self.width, self.values.shape[1])
        return Cells(
            self.south + rows.start * self.height,
            self.west + columns.start * self.width,
            self.height,
            self.width,
            self.values[rows, columns],
        )


def _span(low: float, high: float, step: float, count: int) -> slice:
    """Return the indices of the cells between two distances from the first one's edge."""
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return slice(min(max(first, 0), count), max(min(last, count), 0))


def grid_on_region(
    path: Path, box: Box, side: int, cancelled: Callable[[], bool] | None = None
) -> Floats:
    """Return the masses that a file puts into the cells of a region's grid.

    A cell of the file is divided among the region's cells by the area that they share. Where the
    file covers a part of the region only, the rest has the mean density of that part.

    Parameters
    ----------
    path : Path
    box : (south, west, north, east)
        In degrees; `east` may be above 180.
    side : int
        Cells on a side of the region's grid.
    cancelled : callable, optional

    Returns
    -------
    ndarray of float64, shape (side, side)
        ≥ 0, of sum above 0, row 0 south and column 0 west.

    Raises
    ------
    OSError
        If the file can't be read.
    ValueError
        If it holds no such grid, covers less than half of the region, or has no mass there; the
        message names file, field and remedy.
    """
    masses: Floats = call(
        _read_onto, str(path), box, side, name=path.name, memory=MEMORY, cancelled=cancelled
    )
    return masses


def _read_onto(path: str, box: Box, side: int, *, cancelled: Callable[[], bool]) -> Floats:
    """Do what `grid_on_region` does, in the worker."""
    file = Path(path)
    with file.open("rb") as stream:
        head = stream.read(4)
    pieces = _of_tiff(file, box) if head in TIFF else _of_table(file, box)
    return onto_grid(pieces, box, side, file.name)


def onto_grid(pieces: Sequence[Cells], box: Box, side: int, name: str) -> Floats:
    """Return the masses of a region's cells: those of pieces that do not overlap, by shared area.

    Parameters
    ----------
    pieces : sequence of Cells
        Each in the box's own degrees.
    box : (south, west, north, east)
    side : int
    name : str
        Of the file, for messages.

    Raises
    ------
    ValueError
        As `grid_on_region`.
    """
    south, west, north, east = box
    masses, covered = np.zeros((side, side)), np.zeros((side, side))
    for cells in pieces:
        if not cells.values.size:
            continue
        low, left, high, right = cells.box
        rows = _shares(low, cells.height, cells.values.shape[0], south, north, side)
        columns = _shares(left, cells.width, cells.values.shape[1], west, east, side)
        masses += rows @ cells.values @ columns.T
        covered += np.outer(
            _covered(low, high, south, north, side), _covered(left, right, west, east, side)
        )
    share = float(covered.mean())
    if share < LEAST_COVERED:
        raise ValueError(
            f"{name} covers {100 * share:.0f} % of the region; choose a file that covers at least "
            "half of it, or a region inside the file"
        )
    total = float(masses.sum())
    if not math.isfinite(total):
        raise ValueError(f"{name}: its values add up to more than a number holds; divide them")
    if not total > 0:
        raise ValueError(
            f"{name} has only zeros in the region; choose a file or a region with people in it"
        )
    masses += np.maximum(1 - covered, 0.0) * (total / covered.sum())
    return masses


@dataclass(frozen=True, eq=False)
class ReleasedGrid:
    """Map of an earlier release, without the filter of pictures.

    Attributes
    ----------
    box : (south, west, north, east)
        In degrees; `east` may be above 180.
    values : ndarray of float64, shape (rows, columns)
        ≥ 0, row 0 south and column 0 west.
    """

    box: Box
    values: Floats

    def to_bytes(self) -> bytes:
        """Return the file: the same bytes for the same map."""
        packed = zlib.compress(np.ascontiguousarray(self.values, "<f8").tobytes())
        document = {
            "schema": RELEASED,
            "box": list(self.box),
            "shape": list(self.values.shape),
            "values": base64.b64encode(packed).decode(),
        }
        return json.dumps(document, separators=(",", ":")).encode()

    @classmethod
    def read(cls, path: Path) -> ReleasedGrid:
        """Return the map in a file.

        Raises
        ------
        OSError
            If the file can't be read.
        ValueError
            If it is not such a file.
        """
        try:
            document = json.loads(read_bounded(path, MAX_CSV_BYTES))
            rows, columns = map(int, document["shape"])
            south, west, north, east = map(float, document["box"])
            _check_count(rows * columns, path.name)
            unpack = zlib.decompressobj()
            data = unpack.decompress(base64.b64decode(document["values"]), 8 * rows * columns)
            values = np.frombuffer(data, "<f8").reshape(rows, columns)
            sound = document["schema"] == RELEASED and south < north and west < east
        except (KeyError, TypeError, ValueError, zlib.error):
            sound = False
        if not sound or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(f"{path.name} is no map of a release; choose one of a ledger again")
        return cls((south, west, north, east), values)

    def onto(self, box: Box, side: int, name: str) -> Floats:
        """Return what the map puts into the cells of a region's grid, by shared area.

        Raises
        ------
        ValueError
            As `grid_on_region`.
        """
        south, west, north, east = self.box
        rows, columns = self.values.shape
        height, width = (north - south) / rows, (east - west) / columns
        pieces = [
            Cells(south, west - turn, height, width, self.values)
            for _, turn in _turned(box, west, east)
        ]
        return onto_grid(pieces, box, side, name)


def _shares(first: float, step: float, count: int, low: float, high: float, side: int) -> Floats:
    """Return which share of every cell of a file lies in each of the region's, along one axis."""
    ends = first + step * np.arange(count + 1)
    edges = np.linspace(low, high, side + 1)
    below = np.minimum(ends[None, 1:], edges[1:, None])
    above = np.maximum(ends[None, :-1], edges[:-1, None])
    return np.asarray(np.maximum(below - above, 0.0) / step)


def _covered(low: float, high: float, start: float, end: float, side: int) -> Floats:
    """Return which share of each of the region's cells lies between two places, along one axis."""
    edges = np.linspace(start, end, side + 1)
    return np.asarray(np.diff(np.clip(edges, low, high)) / np.diff(edges))


def _turned(box: Box, west: float, east: float) -> list[tuple[Box, float]]:
    """Return the box moved by whole turns to where it meets longitudes, and the degrees added."""
    south, left, north, right = box
    turns = (-360.0, 0.0, 360.0)
    return [
        ((south, left + turn, north, right + turn), turn)
        for turn in turns
        if left + turn < east and right + turn > west
    ]


def _checked(values: Floats, name: str, where: Callable[[int], str]) -> None:
    """Refuse numbers that are not finite or negative."""
    for bad, what in ((~np.isfinite(values), "not a finite number"), (values < 0, "negative")):
        if bad.any():
            raise ValueError(
                f"{name}, {where(int(np.flatnonzero(bad)[0]))}: the value is {what}; masses are 0 "
                "or above, remove the cell or mend its value"
            )


def _of_tiff(path: Path, box: Box) -> list[Cells]:
    """Return the pixels of a GeoTIFF that meet a box."""
    if lacking := missing_library("Reading a grid as GeoTIFF", EXTRA, "rasterio"):
        raise ValueError(lacking)
    os.environ.update(GDAL_SETTINGS)
    import rasterio
    from rasterio.errors import RasterioError

    try:
        with rasterio.open(path.resolve(), driver="GTiff") as file:
            return _pixels(file, path.name, box)
    except RasterioError as error:
        raise ValueError(f"{path.name} is no readable GeoTIFF ({error})") from None


def _pixels(file: Any, name: str, box: Box) -> list[Cells]:
    from rasterio.windows import Window

    if file.count != 1:
        raise ValueError(f"{name} has {file.count} bands; keep the one with the numbers of people")
    if file.crs is None or not file.crs.is_geographic:
        raise ValueError(
            f"{name} is not in degrees; convert it with gdalwarp -t_srs EPSG:4326 -r sum"
        )
    (width, skew, west, turn, down, north) = tuple(file.transform)[:6]
    if skew or turn or width <= 0 or down >= 0:
        raise ValueError(f"{name} is not north up; convert it with gdalwarp -t_srs EPSG:4326")
    height, east = -down, west + width * file.width
    if east - west > 360 * (1 + 1e-6):
        raise ValueError(f"{name} is {east - west:g}° wide; cut it to 360°")
    pieces = []
    for (south_side, left, north_side, right), degrees in _turned(box, west, east):
        rows = _span(north - north_side, north - south_side, height, file.height)
        columns = _span(left - west, right - west, width, file.width)
        count = (rows.stop - rows.start, columns.stop - columns.start)
        if count[0] <= 0 or count[1] <= 0:
            continue
        _check_count(count[0] * count[1], name)
        pixels = file.read(
            1, window=Window(columns.start, rows.start, count[1], count[0]), masked=True
        )
        people = pixels.astype(float) * file.scales[0] + file.offsets[0]  # as GDAL's tools read it
        values = np.asarray(people.filled(0.0))
        _checked(values.ravel(), name, partial(_pixel, rows.start, columns.start, count[1]))
        pieces.append(
            Cells(
                north - height * rows.stop,
                west + width * columns.start - degrees,
                height,
                width,
                values[::-1],
            )
        )
    return pieces


def _pixel(row: int, column: int, wide: int, at: int) -> str:
    """Return the place of a pixel in words, counted from 1."""
    return f"row {row + at // wide + 1}, column {column + at % wide + 1}"


def _check_count(cells: int, name: str) -> None:
    if cells > MAX_CELLS:
        raise ValueError(
            f"{name} has {cells:,} cells here, more than {MAX_CELLS:,}; add neighbouring cells up "
            "to coarser ones"
        )


def _of_table(path: Path, box: Box) -> list[Cells]:
    """Return the cells of a CSV table that meet a box."""
    cells = read_table(path)
    _, west, _, east = cells.box
    pieces = []
    for turned, degrees in _turned(box, west, east):
        part = cells.part(turned)
        pieces.append(Cells(part.south, part.west - degrees, part.height, part.width, part.values))
    return pieces


def read_table(path: Path) -> Cells:
    """Return the grid in a CSV table.

    Raises
    ------
    ValueError
        Naming file, line, field and remedy.
    """
    name = path.name
    raw = read_bounded(path, MAX_CSV_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(f"{name}, line {line}: not UTF-8 text; save it as CSV in UTF-8") from None
    above = _comments(text)
    head = text[len(above) :].partition("\n")[0]
    delimiter = max("\t;,", key=head.count)
    reader = csv.reader(io.StringIO(text[len(above) :], newline=""), delimiter=delimiter)
    skipped = above.count("\n")
    try:
        header = next(reader, [])
        columns = _columns([field.strip().casefold() for field in header], name, skipped + 1)
        lines, numbers = [], []
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            lines.append(skipped + reader.line_num)
            numbers.append(_numbers(fields, columns, name, lines[-1], header))
    except csv.Error as error:
        line = skipped + reader.line_num
        raise ValueError(f"{name}, line {line}: {error}; save it as plain CSV") from None
    if not numbers:
        raise ValueError(f"{name} has no line below its names; give a cell a line")
    lat, lon, values = np.array(numbers).T
    _checked(values, name, lambda at: f"line {lines[at]}")
    _checked_degrees(lat, 90.0, "latitude", name, lines)
    _checked_degrees(lon, 360.0, "longitude", name, lines)
    south, height, rows = _axis(lat, "latitude", name, lines)
    west, width, places = _axis(lon, "longitude", name, lines)
    count = (int(rows.max()) + 1, int(places.max()) + 1)
    _check_count(count[0] * count[1], name)
    if count[1] * width > 360 * (1 + 1e-6):
        raise ValueError(f"{name} is {count[1] * width:g}° wide; cut it to 360°")
    index = rows * count[1] + places
    _, first, times = np.unique(index, return_index=True, return_counts=True)
    if (times > 1).any():
        at = int(np.flatnonzero(index == index[first[times > 1][0]])[1])
        raise ValueError(
            f"{name}, line {lines[at]}: the cell at {lat[at]:g}, {lon[at]:g} is there twice; "
            "keep one line a cell"
        )
    grid = np.zeros(count)
    grid[rows, places] = values
    return Cells(south - height / 2, west - width / 2, height, width, grid)


def _comments(text: str) -> str:
    """Return the lines above the names that begin with ``#``, as this program's exports have."""
    end = 0
    while text.startswith("#", end) and (after := text.find("\n", end) + 1):
        end = after
    return text[:end]


def _columns(header: list[str], name: str, line: int) -> tuple[int, int, int]:
    """Return where latitude, longitude and value stand in a line of names."""
    found = []
    for known in (LATITUDES, LONGITUDES, VALUES):
        at = [i for i, field in enumerate(header) if field in known]
        if not at and known is VALUES and len(header) == 3:
            at = [i for i in range(3) if i not in found]
        if len(at) != 1:
            raise ValueError(
                f"{name}, line {line}: {len(at)} columns are called {', '.join(known)}; name the "
                "columns lat, lon and value"
            )
        found.append(at[0])
    return found[0], found[1], found[2]


def _numbers(
    fields: list[str], columns: tuple[int, int, int], name: str, line: int, header: list[str]
) -> tuple[float, float, float]:
    """Return the three numbers of a line."""
    if len(fields) != len(header):
        raise ValueError(f"{name}, line {line}: {len(fields)} fields, {len(header)} expected")
    result = []
    for column in columns:
        try:
            result.append(float(fields[column]))
        except ValueError:
            raise ValueError(
                f"{name}, line {line}, {header[column].strip()}: {fields[column][:40]!r} is not a "
                "number; write it as 1234.5"
            ) from None
    return result[0], result[1], result[2]


def _checked_degrees(
    degrees: Floats, most: float, what: str, name: str, lines: Sequence[int]
) -> None:
    bad = ~(np.abs(degrees) <= most)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name}, line {lines[at]}: {what} {degrees[at]:g} is outside ±{most:g}; give degrees"
        )


def _axis(
    centres: Floats, what: str, name: str, lines: Sequence[int]
) -> tuple[float, float, NDArray[np.int64]]:
    """Return the first centre along an axis, the step between centres, and every cell's index."""
    different = np.unique(centres)
    steps = np.diff(different)
    if not steps.size:
        raise ValueError(f"{name}: all cells have one {what}; a grid has at least two")
    # Centres are often rounded: neighbours' mean distance first, then that of the ends.
    step = float(steps[steps < 1.5 * steps.min()].mean())
    reach = float(different[-1] - different[0])
    step = reach / round(reach / step)
    places = (centres - different[0]) / step
    index = np.rint(places)
    off = np.abs(places - index) > OFF_GRID
    if off.any():
        at = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{name}, line {lines[at]}: {what} {centres[at]:g} is not on a regular grid of "
            f"{step:.6g}°; give the centres of equally large cells"
        )
    return float(different[0]), step, index.astype(np.int64)
