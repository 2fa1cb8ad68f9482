"""Raster tiles in Web Mercator from one file: MBTiles and PMTiles.

Sources: MBTiles 1.3 and PMTiles 3 (their published specifications). Tiles are square pictures,
2ᶻ × 2ᶻ of them at zoom z; rows of MBTiles grow northwards, those of PMTiles southwards. Files are
not trusted: every length is checked before it is read, and pictures are decoded only after their
size is known. Reading is to be done in a worker of `explorer.bounded`, which limits memory.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import math
import re
import sqlite3
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.geography.region import Box
from explorer.lazy import missing_library

Pixels = NDArray[np.uint8]
"""Premultiplied red, green, blue and opacity, shape (rows, columns, 4); row 0 is the southern."""

EDGE = math.degrees(math.atan(math.sinh(math.pi)))
"""Northernmost latitude of Web Mercator, 85.05°."""
DEEPEST = 22
"""Largest zoom that is read; a tile is then some 10 m wide."""
MAX_TILE_BYTES = 4_000_000
SIDES = (64, 1024)
"""Smallest and largest side of a tile in pixels."""
MAX_TILES = 256
"""Most tiles of one picture; a file whose coarsest zoom has more in view stays empty."""
CACHE_BYTES = 64_000_000
"""Decoded tiles kept in this process."""
QUERY_S = 5.0
"""Longest time of a database query: without an index every tile is searched for."""
MAX_CREDIT = 300
FORMATS = ("PNG", "JPEG", "WEBP")
VECTOR_TILES = (
    "this file holds vector tiles. Convert them to raster tiles, or to GeoPackage with ogr2ogr"
)
EXTRA = "tiles"
"""The extra of this package that reads PMTiles and GeoTIFF."""

Cancelled = Callable[[], bool]


class TileFile(Protocol):
    """A file of tiles.

    Attributes
    ----------
    name, credit : str
        Title and attribution as plain text; empty if the file has none.
    zooms : (int, int)
        Coarsest and finest.
    box : Box
        Degrees that the file claims to cover.
    """

    name: str
    credit: str
    zooms: tuple[int, int]
    box: Box

    def tile(self, zoom: int, x: int, y: int) -> bytes | None:
        """Return a tile, its column from the west and row from the north; None if missing."""

    def first(self) -> bytes | None:
        """Return any tile."""

    def close(self) -> None:
        """Close the file."""


def plain_credit(text: object) -> str:
    """Return an attribution as one line of text without markup."""
    if not isinstance(text, str):
        return ""
    words = html.unescape(re.sub(r"<[^<>]{0,2000}>", " ", text[: 20 * MAX_CREDIT]))
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:MAX_CREDIT]


def claimed_box(numbers: object) -> Box:
    """Return the box that a file claims to cover; the whole map if it is none."""
    whole = (-EDGE, -180.0, EDGE, 180.0)
    try:
        west, south, east, north = (float(n) for n in numbers)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return whole
    sane = -180 <= west < east <= 180 and -90 <= south < north <= 90
    return (south, west, north, east) if sane else whole


@contextmanager
def database(path: Path, what: str) -> Iterator[Query]:
    """Open an SQLite file for reading only, without trusting what it defines.

    Raises
    ------
    ValueError
        If SQLite can't read it; `what` names the format.
    """
    query = Query(path, what)
    try:
        yield query
    finally:
        query.close()


class Query:
    """Queries of a database that may not take long."""

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what, self._until = path, what, math.inf
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            self._open = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._damaged(error) from None
        self._open.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64_000_000)
        self._open.set_progress_handler(lambda: int(time.monotonic() > self._until), 10_000)
        self.rows("PRAGMA trusted_schema = OFF")
        self.rows("PRAGMA query_only = ON")

    def rows(self, text: str, *values: object, most: int = 1000) -> list[tuple[Any, ...]]:
        """Return at most so many rows of a query."""
        self._until = time.monotonic() + QUERY_S
        try:
            return self._open.execute(text, values).fetchmany(most)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._damaged(error) from None

    def each(self, text: str, cancelled: Cancelled) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query of any length."""
        self._until = math.inf
        try:
            for number, row in enumerate(self._open.execute(text)):
                if number % 1000 == 0 and cancelled():
                    raise InterruptedError
                yield row
        except sqlite3.Error as error:
            raise self._damaged(error) from None

    def tables(self) -> set[str]:
        """Return the names of tables and views."""
        rows = self.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return {str(name) for (name,) in rows}

    def close(self) -> None:
        """Close the file."""
        self._open.close()

    def _damaged(self, error: Exception) -> ValueError:
        if "interrupt" in str(error):
            return ValueError(
                f"{self._path.name}: a query takes over {QUERY_S:g} s; add an index on "
                "zoom_level, tile_column and tile_row, or write the file again"
            )
        return ValueError(f"{self._path.name} is no readable {self._what} ({error})")


class MBTiles:
    """Tiles in an SQLite database.

    Raises
    ------
    ValueError
        If the file is damaged, empty, or holds vector tiles.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._query = path, Query(path, "MBTiles file")
        try:
            self._read()
        except ValueError:
            self.close()
            raise

    def _read(self) -> None:
        path, stored = self._path, {}
        if "metadata" in self._query.tables():
            rows = self._query.rows("SELECT name, substr(value, 1, 20000) FROM metadata")
            stored = {str(name): value for name, value in rows}
        self.name = plain_credit(stored.get("name"))
        self.credit = plain_credit(stored.get("attribution"))
        if str(stored.get("format", "")).lower() in ("pbf", "mvt"):
            raise ValueError(f"{path.name}: {VECTOR_TILES}")
        ((low, high),) = self._query.rows("SELECT min(zoom_level), max(zoom_level) FROM tiles")
        self.zooms = checked_zooms(path.name, low, high)
        bounds = stored.get("bounds")
        self.box = claimed_box(bounds.split(",") if isinstance(bounds, str) else None)

    def tile(self, zoom: int, x: int, y: int) -> bytes | None:
        """Return a tile, its column from the west and row from the north; None if missing."""
        rows = self._query.rows(
            f"SELECT {_BLOB} FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
            zoom,
            x,
            (1 << zoom) - 1 - y,
            most=1,
        )
        return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None

    def first(self) -> bytes | None:
        """Return any tile."""
        rows = self._query.rows(f"SELECT {_BLOB} FROM tiles LIMIT 1")
        return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None

    def close(self) -> None:
        """Close the file."""
        self._query.close()


_BLOB = f"CASE WHEN length(tile_data) <= {MAX_TILE_BYTES} THEN tile_data ELSE x'00' END"


def checked_zooms(name: str, low: object, high: object) -> tuple[int, int]:
    """Return the zooms of a file, at most `DEEPEST`.

    Raises
    ------
    ValueError
        If they are none.
    """
    if not (isinstance(low, int) and isinstance(high, int)):
        raise ValueError(f"{name} holds no tiles; write it again")
    if not 0 <= low <= high <= 30 or low > DEEPEST:
        raise ValueError(f"{name}: zoom {low}…{high} is outside 0…{DEEPEST}; write it again")
    return low, min(high, DEEPEST)


class PMTiles:
    """Tiles in an archive with a directory.

    Raises
    ------
    ValueError
        If the library is missing, or the file is damaged, empty or holds vector tiles.
    """

    _DEPTH = 4
    _MAX_BYTES = 16_000_000
    _MAX_UNPACKED = 16_000_000
    _MAX_ENTRIES = 200_000

    def __init__(self, path: Path) -> None:
        if lacking := missing_library("Reading PMTiles", EXTRA, "pmtiles"):
            raise ValueError(lacking)
        from pmtiles import tile as library

        self._library, self._path = library, path
        self._file = path.open("rb")
        self._kept: OrderedDict[int, Any] = OrderedDict()
        try:
            self._length = path.stat().st_size
            self._read()
        except (library.MagicNumberNotFound, library.SpecVersionUnsupported):
            self.close()
            raise ValueError(
                f"{path.name} is not PMTiles version 3; convert it with pmtiles convert"
            ) from None
        except ValueError as error:
            self.close()
            text = str(error)
            raise ValueError(text if path.name in text else f"{path.name}: {text}") from None
        except MemoryError:
            self.close()
            raise
        except Exception as error:  # the library checks nothing, so damage raises anything
            self.close()
            raise ValueError(f"{path.name} is no readable PMTiles file ({error})") from None

    def _read(self) -> None:
        library, name = self._library, self._path.name
        self._header = header = library.deserialize_header(self._bytes(0, 127))
        kind = header["tile_type"]
        if kind.name in ("MVT", "MLT"):
            raise ValueError(f"{name}: {VECTOR_TILES}")
        if kind.name not in ("PNG", "JPEG", "WEBP"):
            raise ValueError(f"{name} holds {kind.name} tiles; write PNG, JPEG or WebP tiles")
        if header["internal_compression"] is not library.Compression.GZIP:
            raise ValueError(f"{name}: its directories are not gzip; write it with pmtiles convert")
        if header["tile_compression"].name not in ("NONE", "UNKNOWN"):
            raise ValueError(f"{name}: its pictures are compressed twice; write it again")
        self.zooms = checked_zooms(name, header["min_zoom"], header["max_zoom"])
        corners = ("min_lon_e7", "min_lat_e7", "max_lon_e7", "max_lat_e7")
        self.box = claimed_box([header[corner] / 1e7 for corner in corners])
        raw = self._bytes(header["metadata_offset"], header["metadata_length"])
        stored = json.loads(self._unpacked(raw)) if raw else {}
        stored = stored if isinstance(stored, dict) else {}
        self.name = plain_credit(stored.get("name"))
        self.credit = plain_credit(stored.get("attribution"))

    def _bytes(self, offset: int, length: int) -> bytes:
        if not (offset >= 0 and 0 <= length <= self._MAX_BYTES and offset + length <= self._length):
            raise ValueError(
                f"{self._path.name} is damaged or cut short: it refers to bytes beyond its end"
            )
        self._file.seek(offset)
        return self._file.read(length)

    def _unpacked(self, packed: bytes) -> bytes:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            plain = unpacker.decompress(packed, self._MAX_UNPACKED)
        except zlib.error as error:
            raise ValueError(f"{self._path.name}: a directory is damaged ({error})") from None
        if not unpacker.eof:
            raise ValueError(f"{self._path.name}: a directory is cut short or unpacks to too much")
        return plain

    def _directory(self, offset: int, length: int) -> Any:
        """Return the entries of a directory; the last 32 are kept."""
        if offset not in self._kept:
            # The library unpacks without a limit: it gets what was unpacked here, packed anew.
            plain = self._unpacked(self._bytes(offset, length))
            try:
                count = self._library.read_varint(io.BytesIO(plain))
                if count > self._MAX_ENTRIES:
                    raise ValueError(f"{self._path.name}: a directory has too many tiles")
                entries = self._library.deserialize_directory(gzip.compress(plain, 1))
            except (EOFError, IndexError, MemoryError):
                raise ValueError(f"{self._path.name}: a directory is damaged") from None
            self._kept[offset] = entries
            while len(self._kept) > 32:
                self._kept.popitem(last=False)
        self._kept.move_to_end(offset)
        return self._kept[offset]

    def _walk(self, choose: Callable[[Any], Any]) -> bytes | None:
        """Follow entries from the root directory to a tile."""
        header = self._header
        place = header["root_offset"], header["root_length"]
        for _ in range(self._DEPTH):
            entry = choose(self._directory(*place))
            if entry is None:
                return None
            if entry.run_length:
                if entry.length > MAX_TILE_BYTES:
                    return b"\0"
                return self._bytes(header["tile_data_offset"] + entry.offset, entry.length)
            place = header["leaf_directory_offset"] + entry.offset, entry.length
        raise ValueError(f"{self._path.name}: its directories are nested too deeply")

    def tile(self, zoom: int, x: int, y: int) -> bytes | None:
        """Return a tile, its column from the west and row from the north; None if missing."""
        number = self._library.zxy_to_tileid(zoom, x, y)
        return self._walk(lambda entries: self._library.find_tile(entries, number))

    def first(self) -> bytes | None:
        """Return any tile."""
        return self._walk(lambda entries: entries[0] if entries else None)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def decode(data: bytes) -> Any:
    """Return a tile as a square picture of premultiplied colours.

    Raises
    ------
    ValueError
        If it is no PNG, JPEG or WebP picture of a tile's size.
    """
    from PIL import Image

    if len(data) > MAX_TILE_BYTES:
        raise ValueError("a tile is too large")
    try:
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
        low, high = SIDES
        if picture.width != picture.height or not low <= picture.width <= high:
            raise ValueError(
                f"a tile has {picture.width} × {picture.height} pixels; tiles are squares of "
                f"{low} to {high} pixels"
            )
        return picture.convert("RGBA").convert("RGBa")
    except (OSError, SyntaxError, EOFError, zlib.error, Image.DecompressionBombError) as error:
        raise ValueError(f"a tile is no {', '.join(FORMATS)} picture ({error})") from None


class TileCache:
    """Decoded tiles by key; the oldest make room, so that they stay below a number of bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.held = limit, 0
        self._kept: OrderedDict[object, Any] = OrderedDict()

    def get(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the picture of a key, made if it is not kept; None is kept too."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        picture = self._kept[key] = make()
        self.held += _weight(picture)
        while self.held > self.limit and len(self._kept) > 1:
            self.held -= _weight(self._kept.popitem(last=False)[1])
        return picture


def _weight(picture: Any) -> int:
    return 64 if picture is None else 4 * picture.width * picture.height


_cache = TileCache()


class TileLayer:
    """Draws a file of tiles in degrees.

    Attributes
    ----------
    kind, name, credit, detail : str
    box : Box

    Raises
    ------
    ValueError
        If the first tile is no picture.
    """

    kind = "raster tiles"

    def __init__(self, file: TileFile, label: str, key: object) -> None:
        self._file, self._label, self._key = file, label, key
        self.name, self.credit, self.box = file.name, file.credit, file.box
        self.detail = "zoom {} to {}".format(*file.zooms)
        self._damaged: set[tuple[int, int, int]] = set()
        try:
            self._side: int = self._first_side()
        except ValueError:
            file.close()
            raise

    def _first_side(self) -> int:
        """Return the side of any tile in pixels."""
        data = self._file.first()
        if data is None:
            raise ValueError(f"{self._label} holds no tiles; write it again")
        if data[:2] == b"\x1f\x8b":
            raise ValueError(f"{self._label}: {VECTOR_TILES}")
        try:
            side: int = decode(data).width
        except ValueError as error:
            raise ValueError(f"{self._label}: {error}; write the file again") from None
        return side

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def zoom_for(self, degrees_per_pixel: float) -> int:
        """Return the zoom whose pixels are about as wide as those of a picture."""
        wanted = math.log2(360 / (degrees_per_pixel * self._side)) - 0.4
        low, high = self._file.zooms
        return min(max(math.ceil(wanted), low), high)

    def paint(
        self, box: Box, columns: int, rows: int, cancelled: Cancelled
    ) -> tuple[Pixels, list[str]]:
        """Return a picture of a box within ±180°, and notes on what is missing.

        Rows of the map are equally high in degrees, those of tiles in Web Mercator: each row of
        the picture is taken at its own latitude, halfway between the two nearest rows of tiles.
        """
        from PIL import Image

        south, west, north, east = box
        pixels = np.zeros((rows, columns, 4), np.uint8)
        zoom = self.zoom_for((east - west) / columns)
        around = self._side << zoom
        latitude = south + (np.arange(rows) + 0.5) * (north - south) / rows
        seen = np.flatnonzero(np.abs(latitude) < EDGE)
        if not seen.size:
            return pixels, []
        down = (0.5 - np.arcsinh(np.tan(np.radians(latitude[seen]))) / (2 * np.pi)) * around
        left, right = ((lon + 180) / 360 * around for lon in (west, east))
        first_x, last_x = int(left // self._side), min(int(right // self._side), (1 << zoom) - 1)
        first_y, last_y = int(down[-1] // self._side), int(down[0] // self._side)
        wide, high = last_x - first_x + 1, last_y - first_y + 1
        if wide * high > MAX_TILES:
            return pixels, [f"{self._label} has no tiles this coarse: zoom in to see it"]
        side = self._side
        mosaic = Image.new("RGBa", (wide * side, high * side))
        for y in range(first_y, last_y + 1):
            for x in range(first_x, last_x + 1):
                if cancelled():
                    raise InterruptedError
                if (tile := self._tile(zoom, x, y)) is not None:
                    mosaic.paste(tile, ((x - first_x) * side, (y - first_y) * side))
        shift = first_x * side
        strip = mosaic.resize(
            (columns, high * side),
            Image.Resampling.BILINEAR,
            box=(left - shift, 0, min(right - shift, wide * side), high * side),
        )
        source = np.asarray(strip).astype(np.uint16)
        place = np.clip(down - first_y * side - 0.5, 0, high * side - 1)
        above = np.minimum(place.astype(np.int64), high * side - 2)
        share = np.rint(256 * (place - above)).astype(np.uint16)[:, None, None]
        mixed = source[above] * (256 - share) + source[above + 1] * share
        pixels[seen] = (mixed >> 8).astype(np.uint8)
        number = len(self._damaged)
        lost = f"{self._label}: {number} damaged tile{'s' * (number > 1)} left out"
        return pixels, [lost] * bool(number)

    def _tile(self, zoom: int, x: int, y: int) -> Any:
        """Return a tile, else the part of a coarser one that is in its place, else None."""
        for up in range(min(4, zoom - self._file.zooms[0] + 1)):
            place = zoom - up, x >> up, y >> up
            tile = _cache.get((self._key, *place), lambda place=place: self._decoded(place))  # type: ignore[misc]
            if tile is not None:
                if not up:
                    return tile
                part = self._side / (1 << up)
                left, top = (part * (k % (1 << up)) for k in (x, y))
                return tile.resize(tile.size, 2, box=(left, top, left + part, top + part))
        return None

    def _decoded(self, place: tuple[int, int, int]) -> Any:
        data = self._file.tile(*place)
        if data is None:
            return None
        try:
            tile = decode(data)
        except ValueError:
            self._damaged.add(place)
            return None
        same = tile.width == self._side
        return tile if same else tile.resize((self._side, self._side), 2)
