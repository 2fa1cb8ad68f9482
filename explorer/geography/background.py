"""Backgrounds of the map from files of the user's own, as pictures in degrees.

A file is recognised by its content and opened by `describe` or `draw`, which are to be called
through `explorer.bounded.call`: they run in a worker of limited memory that is killed when a file
makes it hang, and keep the last files and decoded tiles for the next call. No connection is ever
opened.
"""

from __future__ import annotations

import atexit
import math
import os
import re
import stat
import struct
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from explorer.geography.region import Box
from explorer.geography.tiles import (
    EXTRA,
    Cancelled,
    MBTiles,
    Pixels,
    PMTiles,
    TileLayer,
    claimed_box,
    database,
    plain_credit,
)
from explorer.geography.vectors import Ink, Outline, VectorLayer
from explorer.lazy import missing_library

MEMORY = 1_500_000_000
"""Bytes that a worker may take to draw."""
MAX_PIXELS = 12_000_000
"""Largest picture that is drawn."""
OPEN_FILES = 6
TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""How TIFF and BigTIFF begin."""
SUFFIXES = (".mbtiles", ".pmtiles", ".tif", ".tiff", ".gpkg", ".geojson", ".json", ".shp")
KINDS = "MBTiles, PMTiles or GeoTIFF pictures, and GeoPackage, GeoJSON or Shapefile lines and areas"
WHOLE_READ = 400_000_000
"""Most pixels of a GeoTIFF without overviews, which is read as a whole for a wide view."""

GDAL_SETTINGS = {
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
    "GDAL_CACHEMAX": "64",
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_HTTP_PROXY": "http://127.0.0.1:9",
    "GDAL_HTTPS_PROXY": "http://127.0.0.1:9",
    "GDAL_PAM_ENABLED": "NO",
    "GDAL_VRT_ENABLE_PYTHON": "NO",
    "PROJ_NETWORK": "OFF",
}
"""Read by GDAL on its import: no side files, and connections go to an unused local port."""


@dataclass(frozen=True)
class Background:
    """What a file offers.

    Attributes
    ----------
    kind : str
        ``raster tiles``, ``picture`` or ``lines and areas``.
    name : str
        Title from the file; empty if it has none.
    credit : str
        Attribution as plain text, to be shown wherever the file is drawn.
    detail : str
        Zooms or counts, for a tool tip.
    box : Box
        South, west, north, east that it covers, in degrees.
    """

    kind: str
    name: str
    credit: str
    detail: str
    box: Box


@dataclass(frozen=True)
class Drawing:
    """A picture of a box.

    Attributes
    ----------
    box : Box
    pixels : Pixels
        Premultiplied colours and opacity, uint8 of shape (rows, columns, 4), row 0 south.
    notes : tuple of str
        What is missing and why.
    """

    box: Box
    pixels: Pixels
    notes: tuple[str, ...] = ()


def is_dark(pixels: Pixels, ground: Sequence[int]) -> bool:
    """Return whether a picture on a ground of one colour is dark on average.

    Parameters
    ----------
    pixels : Pixels
        Premultiplied.
    ground : sequence of int
        Red, green and blue, 0…255.
    """
    some = pixels[::4, ::4].reshape(-1, 4).mean(axis=0)
    light = some[:3] + np.array(ground[:3]) * (1 - some[3] / 255)
    return float(light @ (0.2126, 0.7152, 0.0722)) < 127.5


class Layer(Protocol):
    """An open file that draws itself."""

    kind: str
    name: str
    credit: str
    detail: str
    box: Box

    def paint(
        self, box: Box, columns: int, rows: int, cancelled: Cancelled
    ) -> tuple[Pixels, list[str]]:
        """Return a picture of a box within ±180°, and notes on what is missing."""

    def close(self) -> None:
        """Close the file."""


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress warnings of libraries, which concern their own code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class GeoTiff:
    """Draws a picture with coordinates, warped to degrees by GDAL.

    Raises
    ------
    ValueError
        If the library is missing, or the picture is damaged, has no reference system, no colours
        of 8 bits, or is too large to be read as a whole without having overviews.
    """

    kind = "picture"

    def __init__(self, path: Path) -> None:
        if lacking := missing_library("Reading GeoTIFF as a background", EXTRA, "rasterio"):
            raise ValueError(lacking)
        os.environ.update(GDAL_SETTINGS)
        import rasterio
        from rasterio.errors import RasterioError
        from rasterio.warp import transform_bounds

        self._label, self._errors = path.name, RasterioError
        with _without_warnings():
            try:
                self._file = file = rasterio.open(path.resolve(), driver="GTiff")
            except RasterioError as error:
                raise ValueError(f"{path.name} is no readable GeoTIFF ({error})") from None
            try:
                self._check(path)
                west, south, east, north = transform_bounds(file.crs, "EPSG:4326", *file.bounds)
            except (RasterioError, ValueError) as error:
                self._file.close()
                text = str(error)
                raise ValueError(text if path.name in text else f"{path.name}: {text}") from None
        tags = self._file.tags()
        self.name = plain_credit(tags.get("TIFFTAG_DOCUMENTNAME"))
        self.credit = plain_credit(tags.get("TIFFTAG_COPYRIGHT"))
        self.box = claimed_box((west, south, east, north))
        self.detail = f"{self._file.width:,} × {self._file.height:,} pixels"

    def _check(self, path: Path) -> None:
        file = self._file
        if file.crs is None:
            raise ValueError(
                f"{path.name} names no reference system; add it with gdal_edit.py -a_srs EPSG:…"
            )
        if file.count not in (1, 2, 3, 4) or any(kind != "uint8" for kind in file.dtypes):
            raise ValueError(
                f"{path.name} has {file.count} bands of {file.dtypes[0]}; a background has 1 to 4 "
                "of 8 bits: convert it with gdal_translate -ot Byte -scale"
            )
        if file.width * file.height > WHOLE_READ and not file.overviews(1):
            raise ValueError(
                f"{path.name} is large and has no overviews; add them with gdaladdo {path.name} "
                "2 4 8 16 32"
            )
        if max(file.block_shapes[0]) > 1 << 16 or math.prod(file.block_shapes[0]) > 1 << 26:
            raise ValueError(
                f"{path.name} is not stored in tiles; convert it with gdal_translate -co TILED=YES"
            )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def paint(
        self, box: Box, columns: int, rows: int, cancelled: Cancelled
    ) -> tuple[Pixels, list[str]]:
        """Return a picture of a box within ±180°, and notes on what is missing."""
        from rasterio.enums import ColorInterp, Resampling
        from rasterio.transform import from_bounds
        from rasterio.vrt import WarpedVRT

        south, west, north, east = box
        file = self._file
        alpha = ColorInterp.alpha in file.colorinterp
        try:
            with (
                _without_warnings(),
                WarpedVRT(
                    file,
                    crs="EPSG:4326",
                    transform=from_bounds(west, south, east, north, columns, rows),
                    width=columns,
                    height=rows,
                    resampling=Resampling.nearest if self._palette else Resampling.bilinear,
                    add_alpha=not alpha,
                ) as warped,
            ):
                bands = warped.read()
        except self._errors as error:
            empty = np.zeros((rows, columns, 4), np.uint8)
            return empty, [f"{self._label} can't be read here ({error})"]
        colours, opacity = bands[:-1], bands[-1].astype(np.uint16)
        if self._palette:
            table = np.zeros((256, 4), np.uint8)
            for index, entry in self._palette.items():
                table[index] = entry
            picked = table[colours[0]]
            colours, opacity = (
                np.moveaxis(picked[..., :3], -1, 0),
                np.minimum(opacity, picked[..., 3]),
            )
        elif len(colours) < 3:
            colours = np.repeat(colours[:1], 3, axis=0)
        pixels = np.empty((rows, columns, 4), np.uint8)
        pixels[..., 3] = opacity
        for band in range(3):
            pixels[..., band] = (colours[band] * opacity + 127) // 255
        return np.ascontiguousarray(pixels[::-1]), []

    @property
    def _palette(self) -> dict[int, tuple[int, ...]]:
        if self._file.count > 1:
            return {}
        try:
            palette: dict[int, tuple[int, ...]] = self._file.colormap(1)
        except ValueError:
            return {}
        return palette


def open_layer(path: Path, cancelled: Cancelled) -> Layer:
    """Open a file by its content.

    Raises
    ------
    OSError
        If it can't be read.
    ValueError
        If it is no background; the message says what to do.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path.name} is no file; choose {KINDS}")
    key = str(path), status.st_size, status.st_mtime_ns
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"SQLite format 3\0"):
        with database(path, "MBTiles file or GeoPackage") as query:
            tables = query.tables()
        if "gpkg_contents" in tables:
            return VectorLayer(path, "GeoPackage", cancelled)
        if "tiles" in tables:
            return TileLayer(MBTiles(path), path.name, key)
    elif head.startswith(b"PMTiles"):
        return TileLayer(PMTiles(path), path.name, key)
    elif head.startswith(TIFF):
        return GeoTiff(path)
    elif head.startswith(b"\0\0\x27\x0a"):
        return VectorLayer(path, "Shapefile", cancelled)
    elif head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return VectorLayer(path, "GeoJSON", cancelled)
    raise ValueError(f"{path.name} is no background; choose {KINDS}")


HEAD = 65_536
"""Bytes by which a file is recognised before it is opened."""
_LINES_OR_AREAS = re.compile(rb'"type"\s*:\s*"(?:Multi)?(?:LineString|Polygon)"')
_POINTS = re.compile(rb'"type"\s*:\s*"(?:Multi)?Point"')
_SHAPES_OF_POINTS = (1, 8, 11, 18, 21, 28)
"""Shape types of Shapefile that are points."""


def lies_behind(path: Path) -> bool:
    """Return whether a file holds tiles, a picture, lines or areas, but no points and no recipe.

    Only the first bytes are read, and of databases the tables. A file that cannot be read, or may
    hold points as well, is none.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(b"SQLite format 3\0"):
            return _database_lies_behind(path)
    except (OSError, ValueError):
        return False
    if b"privacy-explorer-" in head:  # exported by this program
        return False
    if head.startswith(b"\0\0\x27\x0a") and len(head) >= 36:
        return struct.unpack_from("<i", head, 32)[0] not in _SHAPES_OF_POINTS
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return bool(_LINES_OR_AREAS.search(head)) and not _POINTS.search(head)
    return head.startswith((b"PMTiles", *TIFF))


def _database_lies_behind(path: Path) -> bool:
    with database(path, "MBTiles file or GeoPackage") as query:
        tables = query.tables()
        if "gpkg_contents" not in tables:
            return "tiles" in tables
        if "gpkg_geometry_columns" not in tables:
            return False
        found = query.rows("SELECT geometry_type_name FROM gpkg_geometry_columns")
        kinds = {str(kind).upper().removeprefix("MULTI") for (kind,) in found}
        return bool(kinds) and kinds <= {"LINESTRING", "POLYGON", "CURVE", "SURFACE"}


_open: OrderedDict[tuple[str, int, int], Layer] = OrderedDict()
"""The last files, in a worker."""


def _kept(path: Path, cancelled: Cancelled) -> Layer:
    status = path.stat()
    key = str(path), status.st_size, status.st_mtime_ns
    if key not in _open:
        _open[key] = open_layer(path, cancelled)
        while len(_open) > OPEN_FILES:
            _open.popitem(last=False)[1].close()
    _open.move_to_end(key)
    return _open[key]


@atexit.register
def close_files() -> None:
    """Close the files that are kept for the next call; done at exit as well."""
    while _open:
        _open.popitem()[1].close()


def describe(path: str, *, cancelled: Cancelled) -> Background:
    """Return what a file offers.

    Raises
    ------
    OSError
        If it can't be read.
    ValueError
        If it is no background; the message says what to do.
    """
    layer = _kept(Path(path), cancelled)
    return Background(layer.kind, layer.name, layer.credit, layer.detail, layer.box)


def outline(path: str, *, cancelled: Cancelled) -> Outline:
    """Return the outline of a file's areas, a simpler one if it has too many points.

    Raises
    ------
    OSError
        If it can't be read.
    ValueError
        If it is no GeoJSON, GeoPackage or Shapefile, or its areas make no region.
    """
    layer = _kept(Path(path), cancelled)
    name = Path(path).name
    if not isinstance(layer, VectorLayer):
        raise ValueError(f"{name} has no outline. Choose a GeoJSON, GeoPackage or Shapefile.")
    return layer.outline(name, cancelled)


def draw(
    paths: Sequence[str], box: Box, columns: int, rows: int, ink: Ink, *, cancelled: Cancelled
) -> Drawing:
    """Return a picture of a box with all files, the first lowest.

    Parameters
    ----------
    paths : sequence of str
    box : Box
        South, west, north, east in degrees; it may reach beyond ±180°, where the map is repeated.
    columns, rows : int
    ink : Ink
        Of lines and areas.

    Raises
    ------
    OSError, ValueError
        As `describe`; also for more than `MAX_PIXELS`.
    """
    if not 0 < columns * rows <= MAX_PIXELS:
        raise ValueError(f"a background of {columns} × {rows} pixels is too large")
    south, west, north, east = box
    pixels = np.zeros((rows, columns, 4), np.uint8)
    notes: list[str] = []
    per_column = (east - west) / columns
    for path in paths:
        layer = _kept(Path(path), cancelled)
        more: Any = {"ink": ink} if isinstance(layer, VectorLayer) else {}
        for turn in range(math.floor((west + 180) / 360), math.ceil((east + 180) / 360)):
            shift = 360.0 * turn
            first = max(0, math.ceil((shift - 180 - west) / per_column - 1e-9))
            last = min(columns, math.floor((shift + 180 - west) / per_column + 1e-9))
            if first >= last:
                continue
            part = (
                south,
                max(west + first * per_column - shift, -180.0),
                north,
                min(west + last * per_column - shift, 180.0),
            )
            above, missing = layer.paint(part, last - first, rows, cancelled, **more)
            _lay_over(pixels[:, first:last], above)
            notes += [note for note in missing if note not in notes]
    return Drawing(box, pixels, tuple(notes))


def _lay_over(below: Pixels, above: Pixels) -> None:
    """Lay premultiplied colours over others, in place."""
    clear = 255 - above[..., 3:].astype(np.uint16)
    below[:] = above + ((below * clear + 127) // 255).astype(np.uint8)
