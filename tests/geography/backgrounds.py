"""Small files of backgrounds: tiles, a GeoTIFF, lines and areas."""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

SIDE = 256


def tile_png(colour: tuple[int, ...], side: int = SIDE, form: str = "PNG") -> bytes:
    """Return a tile of one colour."""
    stream = io.BytesIO()
    Image.new("RGBA" if len(colour) == 4 else "RGB", (side, side), colour).save(stream, form)
    return stream.getvalue()


def tile_colour(z: int, x: int, y: int) -> tuple[int, int, int]:
    """Return the colour of a tile of `write_mbtiles`, from its place."""
    return 40 * z % 256, 30 + 37 * x % 200, 30 + 53 * y % 200


def tiles_of(zooms: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
    """Return all tiles of some zooms."""
    return [
        (z, x, y, tile_png(tile_colour(z, x, y)))
        for z in zooms
        for x in range(1 << z)
        for y in range(1 << z)
    ]


def write_mbtiles(
    path: Path, tiles: Iterable[tuple[int, int, int, bytes]], **metadata: str
) -> Path:
    """Write tiles, with rows from the north, to an MBTiles file."""
    con = sqlite3.connect(path)
    with con:
        con.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
        con.execute(
            "CREATE TABLE tiles (zoom_level INT, tile_column INT, tile_row INT, tile_data BLOB)"
        )
        con.execute("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row)")
        con.executemany("INSERT INTO metadata VALUES (?, ?)", metadata.items())
        con.executemany(
            "INSERT INTO tiles VALUES (?, ?, ?, ?)",
            [(z, x, (1 << z) - 1 - y, data) for z, x, y, data in tiles],
        )
    con.close()
    return path


def write_pmtiles(path: Path, tiles: Iterable[tuple[int, int, int, bytes]], kind: str) -> Path:
    """Write tiles to a PMTiles archive."""
    from pmtiles.tile import Compression, TileType, zxy_to_tileid
    from pmtiles.writer import Writer

    numbered = sorted((zxy_to_tileid(z, x, y), z, data) for z, x, y, data in tiles)
    zooms = [z for _, z, _ in numbered]
    with path.open("wb") as file:
        writer = Writer(file)
        for number, _, data in numbered:
            writer.write_tile(number, data)
        writer.finalize(
            {
                "tile_type": TileType[kind],
                "tile_compression": Compression.NONE,
                "min_zoom": min(zooms),
                "max_zoom": max(zooms),
                "min_lon_e7": -1_800_000_000,
                "min_lat_e7": -850_000_000,
                "max_lon_e7": 1_800_000_000,
                "max_lat_e7": 850_000_000,
            },
            {
                "name": "Plain",
                "attribution": '<a href="https://example.org">© Example</a> &amp; co',
            },
        )
    return path


def write_geotiff(
    path: Path, pixels: np.ndarray, box: tuple[float, ...], crs: str | None = "EPSG:4326"
) -> Path:
    """Write bands, shape (bands, rows, columns), row 0 north, over west, south, east, north."""
    import rasterio
    from rasterio.transform import from_bounds

    bands, rows, columns = pixels.shape
    with warnings.catch_warnings():  # of rasterio's own code
        warnings.simplefilter("ignore")
        place = from_bounds(*box, columns, rows)
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=columns,
        height=rows,
        count=bands,
        dtype=pixels.dtype,
        crs=crs,
        transform=place,
    ) as file:
        file.write(pixels)
        file.update_tags(TIFFTAG_COPYRIGHT="© Survey")
    return path


SQUARE = [[-10.0, -10.0], [10.0, -10.0], [10.0, 10.0], [-10.0, 10.0], [-10.0, -10.0]]
HOLE = [[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0], [-5.0, -5.0]]


def write_geojson(path: Path, *shapes: dict, **more: object) -> Path:
    """Write geometries as features."""
    features = [{"type": "Feature", "properties": {}, "geometry": shape} for shape in shapes]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **more}))
    return path


def write_shapefile(path: Path, rings: list[list[list[float]]], kind: int = 5) -> Path:
    """Write one record with its parts as they are; WGS 84 in the .prj."""
    points = np.array([point for ring in rings for point in ring], "<f8")
    starts = np.cumsum([0, *(len(ring) for ring in rings[:-1])]).astype("<i4")
    box = struct.pack("<4d", *points.min(axis=0), *points.max(axis=0))
    record = struct.pack("<i", kind) + box + struct.pack("<ii", len(rings), len(points))
    record += starts.tobytes() + points.tobytes()
    body = struct.pack(">ii", 1, len(record) // 2) + record
    head = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, (100 + len(body)) // 2)
    path.write_bytes(head + struct.pack("<ii", 1000, kind) + box + bytes(32) + body)
    path.with_suffix(".prj").write_text('GEOGCS["WGS 84",DATUM["WGS_1984"]]')
    return path


def write_geopackage(
    path: Path, *blobs: bytes, srs: int = 4326, kind: str = "GEOMETRY", about: str = ""
) -> Path:
    """Write a layer of well-known binary geometries."""
    con = sqlite3.connect(path)
    with con:
        con.executescript(
            "CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT, description TEXT);"
            "CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT,"
            " geometry_type_name TEXT, srs_id INT);"
            "CREATE TABLE gpkg_spatial_ref_sys (srs_id INT, organization TEXT,"
            " organization_coordsys_id INT);"
            'CREATE TABLE "my ""roads" (fid INTEGER PRIMARY KEY, geom BLOB);'
        )
        con.execute("INSERT INTO gpkg_contents VALUES ('my \"roads', 'features', ?)", (about,))
        con.execute(
            "INSERT INTO gpkg_geometry_columns VALUES ('my \"roads', 'geom', ?, ?)", (kind, srs)
        )
        con.execute("INSERT INTO gpkg_spatial_ref_sys VALUES (?, 'EPSG', ?)", (srs, srs))
        head = b"GP\0\1" + struct.pack("<i", srs)
        con.executemany(
            'INSERT INTO "my ""roads" (geom) VALUES (?)', [(head + blob,) for blob in blobs]
        )
    con.close()
    return path


def wkb_line(points: list[tuple[float, ...]]) -> bytes:
    """Return a line as well-known binary, little-endian, with Z if there is a third number."""
    code = 2 + 1000 * (len(points[0]) == 3)
    numbers = [number for point in points for number in point]
    return struct.pack(f"<BII{len(numbers)}d", 1, code, len(points), *numbers)
