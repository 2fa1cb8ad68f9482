"""Backgrounds from files: what is where, and that bad files are refused with a remedy."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import explorer.lazy
from explorer.bounded import call
from explorer.geography import background as module, tiles
from explorer.geography.background import Background, Drawing, describe, draw, lies_behind
from explorer.geography.tiles import MBTiles, TileCache, TileLayer, decode
from explorer.geography.vectors import Ink
from tests.geography.backgrounds import (
    HOLE,
    SQUARE,
    tile_colour,
    tile_png,
    tiles_of,
    wkb_line,
    write_geojson,
    write_geopackage,
    write_geotiff,
    write_mbtiles,
    write_pmtiles,
    write_shapefile,
)

INK = Ink((200, 0, 0), 1.0)


def never() -> bool:
    return False


def drawn(path: Path, box=(-60.0, -180.0, 60.0, 180.0), columns=180, rows=120) -> Drawing:
    return draw([str(path)], box, columns, rows, INK, cancelled=never)


def about(path: Path) -> Background:
    return describe(str(path), cancelled=never)


def row_of(latitude: float, drawing: Drawing) -> int:
    south, _, north, _ = drawing.box
    return int((latitude - south) / (north - south) * len(drawing.pixels))


def column_of(longitude: float, drawing: Drawing) -> int:
    _, west, _, east = drawing.box
    return int((longitude - west) / (east - west) * drawing.pixels.shape[1])


def colour_at(drawing: Drawing, latitude: float, longitude: float) -> tuple[int, ...]:
    return tuple(drawing.pixels[row_of(latitude, drawing), column_of(longitude, drawing)].tolist())


@pytest.fixture(params=["mbtiles", "pmtiles"])
def tile_file(request, tmp_path) -> Path:
    path = tmp_path / f"plain.{request.param}"
    if request.param == "mbtiles":
        return write_mbtiles(path, tiles_of(range(4)), attribution="<b>© Example</b> &amp; co")
    pytest.importorskip("pmtiles")
    return write_pmtiles(path, tiles_of(range(4)), "PNG")


def test_tiles_lie_where_web_mercator_puts_them(tile_file) -> None:
    drawing = drawn(tile_file, columns=1440, rows=480)
    assert drawing.notes == ()
    # At zoom 2 the second row of tiles from the north begins at 66.51°, the third at the equator.
    # Each latitude is its own inverse here: 40.98° and 55.78° border the rows of zoom 3.
    for lat, y in ((30.0, 3), (45.0, 2), (58.0, 2), (-30.0, 4), (-45.0, 5)):
        for lon, x in ((-170.0, 0), (-100.0, 1), (20.0, 4), (170.0, 7)):
            assert colour_at(drawing, lat, lon) == (*tile_colour(3, x, y), 255)
    column = drawing.pixels[:, column_of(20.0, drawing), 2].astype(int)
    borders = np.flatnonzero(np.abs(np.diff(column)) > 20)
    border = -60 + (borders + 1) * 120 / len(column)
    assert np.abs(border[:, None] - [-40.98, 0.0, 40.98]).min(axis=1).max() < 0.5


def test_the_zoom_follows_the_size_of_pixels_and_finer_views_enlarge_the_finest(tile_file) -> None:
    assert colour_at(drawn(tile_file, columns=360), 30, 20)[0] == tile_colour(1, 0, 0)[0]
    assert colour_at(drawn(tile_file, columns=720), 30, 20)[0] == tile_colour(2, 0, 0)[0]
    near = drawn(tile_file, (20.0, 10.0, 20.1, 10.1), 300, 300)
    assert colour_at(near, 20.05, 10.05) == (*tile_colour(3, 4, 3), 255)


def test_a_view_across_the_antimeridian_shows_both_sides(tile_file) -> None:
    drawing = drawn(tile_file, (0.0, 170.0, 20.0, 190.0), 200, 200)
    zoomed = colour_at(drawing, 10, 175)[0] // 40
    last = (1 << zoomed) - 1
    y = last // 2
    assert colour_at(drawing, 10, 175) == (*tile_colour(zoomed, last, y), 255)
    assert colour_at(drawing, 10, 185) == (*tile_colour(zoomed, 0, y), 255)
    turned = drawn(tile_file, (0.0, -190.0, 20.0, -170.0), 200, 200)
    assert np.array_equal(turned.pixels, drawing.pixels)


def test_polar_rows_and_missing_tiles_are_transparent(tmp_path) -> None:
    path = write_mbtiles(tmp_path / "a.mbtiles", [(1, 0, 0, tile_png((9, 8, 7)))])
    drawing = drawn(path, (-90.0, -180.0, 90.0, 180.0), 400, 400)
    assert colour_at(drawing, 60, -90) == (9, 8, 7, 255)
    assert colour_at(drawing, 88, -90) == (0, 0, 0, 0)
    assert colour_at(drawing, 60, 90) == (0, 0, 0, 0)


def test_a_coarser_tile_stands_in_for_a_missing_one(tmp_path) -> None:
    there = [tile for tile in tiles_of(range(4)) if tile[:2] != (3, 4)]
    drawing = drawn(write_mbtiles(tmp_path / "a.mbtiles", there), columns=1440, rows=480)
    assert colour_at(drawing, 20, 20) == (*tile_colour(2, 2, 1), 255)
    assert colour_at(drawing, 20, 60) == (*tile_colour(3, 5, 3), 255)


def test_attribution_is_text(tile_file) -> None:
    assert about(tile_file).credit == "© Example & co"
    assert about(tile_file).kind == "raster tiles"


def test_vector_tiles_are_refused_with_the_conversion(tmp_path) -> None:
    data = b"\x1f\x8b" + bytes(50)
    named = write_mbtiles(tmp_path / "v.mbtiles", [(0, 0, 0, data)], format="pbf")
    unnamed = write_mbtiles(tmp_path / "w.mbtiles", [(0, 0, 0, data)])
    for path in (named, unnamed):
        with pytest.raises(ValueError, match="ogr2ogr"):
            about(path)
    pytest.importorskip("pmtiles")
    archive = write_pmtiles(tmp_path / "v.pmtiles", [(0, 0, 0, data)], "MVT")
    with pytest.raises(ValueError, match="ogr2ogr"):
        about(archive)


HOSTILE = {
    "huge picture": tile_png((1, 2, 3), 1025),
    "flat picture": b"GIF89a" + bytes(40),
    "cut": tile_png((1, 2, 3))[:200],
    "too many bytes": bytes(tiles.MAX_TILE_BYTES + 1),
    "nothing": b"",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_tiles_are_refused_or_left_out(tmp_path, kind) -> None:
    data = HOSTILE[kind]
    with pytest.raises(ValueError, match="tile"):
        about(write_mbtiles(tmp_path / "only.mbtiles", [(0, 0, 0, data)]))
    good = [tile for tile in tiles_of(range(2)) if tile[:3] != (1, 1, 0)]
    path = write_mbtiles(tmp_path / "one.mbtiles", [*good, (1, 1, 0, data)])
    drawing = drawn(path, columns=360)
    assert len(drawing.notes) == 1
    assert "1 damaged tile" in drawing.notes[0]
    assert colour_at(drawing, 30, 20) == (*tile_colour(0, 0, 0), 255)


def test_a_picture_that_unpacks_to_gigabytes_is_not_unpacked() -> None:
    bomb = bytearray(tile_png((0, 0, 0)))
    bomb[16:24] = struct.pack(">II", 60_000, 60_000)
    with pytest.raises(ValueError, match="tile"):
        decode(bytes(bomb))


@pytest.mark.parametrize(
    ("zoom", "works"), [(tiles.DEEPEST, True), (30, False), (31, False), (-1, False), ("x", False)]
)
def test_zooms_out_of_range(tmp_path, zoom, works) -> None:
    place = (zoom, 0, 0) if isinstance(zoom, str) or not 0 <= zoom <= 30 else (zoom, 1 << 20, 5)
    path = tmp_path / "deep.mbtiles"
    write_mbtiles(path, [(0, 0, 0, tile_png((1, 1, 1)))])
    with sqlite3.connect(path) as con:
        con.execute("UPDATE tiles SET zoom_level = ?, tile_column = ?", place[:2])
    con.close()
    if works:
        assert f"zoom {zoom}" in about(path).detail
        assert drawn(path).notes  # a world of tiles this fine is not loaded
    else:
        with pytest.raises(ValueError, match=r"zoom|no tiles"):
            about(path)


def test_a_database_that_searches_too_long_is_stopped(tmp_path, monkeypatch) -> None:
    path = tmp_path / "slow.mbtiles"
    with sqlite3.connect(path) as con:
        con.execute(
            "CREATE VIEW tiles AS WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n) "
            "SELECT k AS zoom_level, 0 AS tile_column, 0 AS tile_row, x'00' AS tile_data FROM n"
        )
    con.close()
    monkeypatch.setattr(tiles, "QUERY_S", 0.1)
    with pytest.raises(ValueError, match="index"):
        about(path)


@pytest.mark.parametrize("at", [8, 40, 60, 96, 97, 100, 101])
def test_damaged_archives_are_refused(tmp_path, at) -> None:
    pytest.importorskip("pmtiles")
    path = write_pmtiles(tmp_path / "a.pmtiles", tiles_of(range(2)), "PNG")
    data = bytearray(path.read_bytes())
    data[at : at + 8 if at < 96 else at + 1] = b"\xff" * (8 if at < 96 else 1)
    path.write_bytes(data)
    if at in (40, 96):  # leaves, which there are none of, and whether tiles are in order
        assert about(path).kind == "raster tiles"
    else:
        with pytest.raises(ValueError, match=r"a\.pmtiles"):
            about(path)


@pytest.mark.parametrize("damaged", [False, True])
def test_archives_are_closed_at_exit(tmp_path, damaged) -> None:
    pytest.importorskip("pmtiles")
    path = write_pmtiles(tmp_path / "a.pmtiles", tiles_of(range(1)), "PNG")
    if damaged:
        path.write_bytes(path.read_bytes()[:100])
    code = (
        "import contextlib, sys; from explorer.geography.background import describe\n"
        "with contextlib.suppress(ValueError): describe(sys.argv[1], cancelled=bool)"
    )
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code, str(path)], capture_output=True, check=True
    )
    assert b"ResourceWarning" not in ended.stderr, ended.stderr.decode()


def test_a_directory_that_unpacks_to_gigabytes_is_refused(tmp_path) -> None:
    pytest.importorskip("pmtiles")
    from pmtiles.tile import deserialize_header, serialize_header

    path = write_pmtiles(tmp_path / "a.pmtiles", tiles_of(range(2)), "PNG")
    data = path.read_bytes()
    packed = gzip.compress(bytes(64_000_000), 9)
    header = deserialize_header(data[:127])
    header["root_offset"], header["root_length"] = len(data), len(packed)
    path.write_bytes(serialize_header(header) + data[127:] + packed)
    with pytest.raises(ValueError, match="unpacks to too much"):
        about(path)


def test_the_cache_keeps_a_number_of_bytes() -> None:
    made: list[int] = []

    def make(key: int):
        made.append(key)
        return decode(tile_png((key, 0, 0), 64))

    cache = TileCache(3 * 4 * 64 * 64)
    for key in (1, 2, 3, 1, 4, 1, 2):
        cache.get(key, lambda key=key: make(key))
    assert made == [1, 2, 3, 4, 2]
    assert cache.held <= cache.limit


def test_tiles_are_decoded_once(tmp_path, monkeypatch) -> None:
    path = write_mbtiles(tmp_path / "a.mbtiles", tiles_of(range(3)))
    layer = TileLayer(MBTiles(path), "a", "own key")
    taken: list[tuple[int, ...]] = []
    whole = layer._file.tile
    monkeypatch.setattr(layer._file, "tile", lambda *place: taken.append(place) or whole(*place))
    for _ in range(3):
        layer.paint((-60.0, -170.0, 60.0, 170.0), 600, 200, never)
    assert len(taken) == len(set(taken)) > 1


# GeoTIFF ---------------------------------------------------------------------------------------


@pytest.mark.full  # rasterio is installed for the full tests only
def test_geotiff_is_warped_to_degrees(tmp_path) -> None:
    pytest.importorskip("rasterio")
    colours = np.zeros((3, 40, 40), np.uint8)
    colours[0, :20], colours[1, 20:], colours[2, :, 20:] = 250, 240, 230
    half = 20037508.342789244 / 2  # 90° of longitude, 66.51° of latitude
    path = write_geotiff(tmp_path / "a.tif", colours, (-half, -half, half, half), "EPSG:3857")
    drawing = drawn(path, (-80.0, -100.0, 80.0, 100.0), 400, 320)
    assert colour_at(drawing, 30, -45) == (250, 0, 0, 255)
    assert colour_at(drawing, -30, 45) == (0, 240, 230, 255)
    assert colour_at(drawing, 65, 45) == (250, 0, 230, 255)
    assert colour_at(drawing, 70, 45) == (0, 0, 0, 0)
    assert colour_at(drawing, 0, 95) == (0, 0, 0, 0)
    assert about(path).credit == "© Survey"
    assert about(path).box == pytest.approx((-66.513, -90, 66.513, 90), abs=0.01)


@pytest.mark.full
@pytest.mark.parametrize(
    ("pixels", "crs", "remedy"),
    [
        (np.zeros((1, 9, 9), np.uint8), None, "gdal_edit"),
        (np.zeros((1, 9, 9), np.float32), "EPSG:4326", "gdal_translate -ot Byte"),
        (np.zeros((5, 9, 9), np.uint8), "EPSG:4326", "gdal_translate"),
    ],
)
def test_geotiff_that_is_no_picture(tmp_path, pixels, crs, remedy) -> None:
    pytest.importorskip("rasterio")
    path = write_geotiff(tmp_path / "a.tif", pixels, (0, 0, 9, 9), crs)
    with pytest.raises(ValueError, match=remedy):
        about(path)


@pytest.mark.full
def test_one_band_is_grey(tmp_path) -> None:
    pytest.importorskip("rasterio")
    path = write_geotiff(tmp_path / "a.tif", np.full((1, 9, 9), 77, np.uint8), (0, 0, 9, 9))
    assert colour_at(drawn(path, (1.0, 1.0, 8.0, 8.0), 50, 50), 4, 4) == (77, 77, 77, 255)


# Lines and areas -------------------------------------------------------------------------------


def inside_and_outside(drawing: Drawing) -> None:
    """Assert that the square with a hole is filled, its hole and surroundings are not."""
    assert colour_at(drawing, 7.5, 0)[3] == pytest.approx(32, abs=2)
    assert colour_at(drawing, 0, 7.5)[3] == pytest.approx(32, abs=2)
    assert colour_at(drawing, 0, 0) == (0, 0, 0, 0)
    assert colour_at(drawing, 15, 0) == (0, 0, 0, 0)
    assert colour_at(drawing, 10.0, 3)[0] > 150 or colour_at(drawing, 9.9, 3)[0] > 150


BOX = (-20.0, -20.0, 20.0, 20.0)


def test_geojson_areas_have_holes_however_they_are_turned(tmp_path) -> None:
    for number, hole in enumerate((HOLE, HOLE[::-1])):
        shape = {"type": "Polygon", "coordinates": [SQUARE, hole]}
        path = write_geojson(tmp_path / f"{number}.geojson", shape)
        inside_and_outside(drawn(path, BOX, 400, 400))
    assert about(path).box == (-10, -10, 10, 10)


def test_shapefile(tmp_path) -> None:
    path = write_shapefile(tmp_path / "a.shp", [SQUARE[::-1], HOLE])
    inside_and_outside(drawn(path, BOX, 400, 400))
    path.with_suffix(".prj").unlink()
    with pytest.raises(ValueError, match=r"a\.prj"):
        about(_touched(path))


def _touched(path: Path) -> Path:
    """Give a file another time, so that it is read again."""
    os.utime(path, ns=(1, 1))
    return path


def test_geopackage_lines_with_heights_and_in_metres(tmp_path) -> None:
    path = write_geopackage(tmp_path / "a.gpkg", wkb_line([(-10.0, 5.0, 7.0), (10.0, 5.0, 8.0)]))
    drawing = drawn(path, BOX, 400, 400)
    assert drawing.pixels[row_of(5.0, drawing) - 1 : row_of(5.0, drawing) + 1, 200, 3].max() > 100
    assert colour_at(drawing, 6, 0) == (0, 0, 0, 0)
    assert about(path).detail.startswith("1 lines")
    metres = write_geopackage(
        tmp_path / "m.gpkg", wkb_line([(0.0, 0.0), (1113194.9079, 0.0)]), srs=3857
    )
    assert about(metres).box == pytest.approx((0, 0, 0, 10), abs=1e-6)


@pytest.mark.parametrize("form", ["GPKG", "GeoJSON"])
def test_files_of_another_writer(tmp_path, form) -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    shape = shapely.MultiPolygon([shapely.Polygon(SQUARE, [HOLE])])
    path = tmp_path / f"b.{form.lower()}"
    geopandas.GeoDataFrame(geometry=[shape], crs=4326).to_file(path, driver=form)
    inside_and_outside(drawn(path, BOX, 400, 400))
    if form == "GPKG":
        pytest.importorskip("pyproj")
        path = tmp_path / "utm.gpkg"
        geopandas.GeoDataFrame(geometry=[shapely.box(9, 45, 11, 46)], crs=4326).to_crs(
            25832
        ).to_file(path, driver=form)
        assert about(path).box == pytest.approx((45, 9, 46, 11), abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"type": "Point", "coordinates": [1, 2]}',
        '{"type": "LineString", "coordinates": [[1, 2], [500, 2]]}',
        '{"type": "LineString", "coordinates": [[1], 2]}',
        '{"type": "LineString", "coordinates": [[1, 2], [3, 4]], "crs": '
        '{"properties": {"name": "x"}}}',
        "[" * 100_000,
    ],
)
def test_bad_geojson(tmp_path, text) -> None:
    path = tmp_path / "bad.geojson"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"bad\.geojson"):
        about(path)


def test_damaged_geometries_are_refused(tmp_path) -> None:
    whole = wkb_line([(0.0, 0.0), (1.0, 1.0)])
    endless = struct.pack("<BII", 1, 2, 0xFFFFFFFF)
    nested = struct.pack("<BII", 1, 7, 1) * 50
    for number, blob in enumerate((whole[:-3], endless, nested, b"\1")):
        path = write_geopackage(tmp_path / f"{number}.gpkg", blob)
        with pytest.raises(ValueError, match="damaged"):
            about(path)


def test_other_files_are_refused(tmp_path) -> None:
    for name, data in (("a.txt", b"hello"), ("b.mbtiles", b""), ("c.zip", b"PK\3\4")):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ValueError, match="no background"):
            about(path)
    os.mkfifo(tmp_path / "pipe.mbtiles")
    with pytest.raises(ValueError, match="no file"):
        about(tmp_path / "pipe.mbtiles")


@pytest.mark.full  # rasterio is installed for the full tests only
def test_changed_bytes_are_drawn_or_refused(tmp_path) -> None:
    for name in ("pmtiles", "rasterio"):
        pytest.importorskip(name)
    square = {"type": "Polygon", "coordinates": [SQUARE, HOLE]}
    colours = np.arange(3 * 64 * 64).reshape(3, 64, 64).astype(np.uint8)
    whole = [
        write_mbtiles(tmp_path / "a.mbtiles", tiles_of(range(2)), bounds="-180,-80,180,80"),
        write_pmtiles(tmp_path / "a.pmtiles", tiles_of(range(2)), "PNG"),
        write_geotiff(tmp_path / "a.tif", colours, (0, 0, 9, 9)),
        write_geojson(tmp_path / "a.geojson", square),
        write_shapefile(tmp_path / "a.shp", [SQUARE[::-1], HOLE]),
        write_geopackage(tmp_path / "a.gpkg", wkb_line([(0.0, 0.0, 1.0), (1.0, 1.0, 2.0)])),
    ]
    rng = random.Random(7)
    read = 0
    for number in range(300):
        path = whole[number % len(whole)]
        data = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 2, 5, 20])):
            place = rng.randrange(min(len(data), rng.choice([200, 2000, len(data)])))
            data[place] = rng.choice([0, 255, rng.randrange(256), data[place] ^ 1])
        changed = tmp_path / f"changed-{number}{path.suffix}"
        changed.write_bytes(data)
        if path.suffix == ".shp":
            changed.with_suffix(".prj").write_text(path.with_suffix(".prj").read_text())
        with contextlib.suppress(ValueError):
            drawn(changed, (-60.0, -170.0, 60.0, 170.0))
            read += 1
    assert 50 < read < 280


def test_layers_lie_over_each_other(tmp_path) -> None:
    tiled = write_mbtiles(tmp_path / "a.mbtiles", [(0, 0, 0, tile_png((0, 0, 255)))])
    shape = {"type": "Polygon", "coordinates": [SQUARE]}
    areas = write_geojson(tmp_path / "a.geojson", shape)
    drawing = draw([str(tiled), str(areas)], BOX, 200, 200, INK, cancelled=never)
    red, _, blue, opacity = colour_at(drawing, 0, 0)
    assert (red, blue, opacity) == pytest.approx((25, 223, 255), abs=3)
    assert colour_at(drawing, 15, 0) == (0, 0, 255, 255)


def test_a_missing_library_names_the_extra(tmp_path, monkeypatch) -> None:
    (tmp_path / "a.pmtiles").write_bytes(b"PMTiles\3" + bytes(200))
    (tmp_path / "a.tif").write_bytes(b"II*\0" + bytes(200))
    monkeypatch.setattr(explorer.lazy, "find_spec", lambda _: None)
    for name in ("a.pmtiles", "a.tif"):
        with pytest.raises(ValueError, match=r"pip install '\.\[tiles\]'"):
            about(tmp_path / name)


def test_a_worker_draws_and_stays(tmp_path) -> None:
    path = write_mbtiles(tmp_path / "a.mbtiles", tiles_of(range(2)))
    result = call(draw, (str(path),), BOX, 100, 100, INK, name=path.name, memory=module.MEMORY)
    assert result.pixels.shape == (100, 100, 4)
    assert colour_at(result, 10, 10)[3] == 255
    with pytest.raises(ValueError, match="too large"):
        call(draw, (), BOX, 10_000, 10_000, INK, name="a", memory=module.MEMORY)


def test_vector_files_are_credited(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": SQUARE}
    credited = write_geojson(tmp_path / "a.geojson", line, attribution="<b>© City</b> &amp; co")
    assert about(credited).credit == "© City & co"
    assert about(write_geojson(tmp_path / "b.geojson", line)).credit == ""
    roads = write_geopackage(tmp_path / "c.gpkg", wkb_line([(0, 0), (1, 1)]), about="© Roads")
    assert about(roads).credit == "© Roads"


def test_backgrounds_are_told_from_checkins_by_their_first_bytes(tmp_path: Path) -> None:
    pytest.importorskip("rasterio")
    line = {"type": "LineString", "coordinates": SQUARE}
    point = {"type": "Point", "coordinates": [1, 2]}
    blob = wkb_line([(0, 0), (1, 1)])
    tile = [(0, 0, 0, tile_png((1, 2, 3)))]
    behind = (
        write_geojson(tmp_path / "a.geojson", line),
        write_geopackage(tmp_path / "a.gpkg", blob, kind="MULTILINESTRING"),
        write_shapefile(tmp_path / "a.shp", [SQUARE]),
        write_mbtiles(tmp_path / "a.mbtiles", tile),
        write_geotiff(tmp_path / "a.tif", np.zeros((3, 4, 4), np.uint8), (0, 0, 1, 1)),
    )
    recipe = tmp_path / "exported.geojson"
    recipe.write_text('{"schema": "privacy-explorer-cells/1", "type": "Polygon"}')
    text = tmp_path / "visits.csv"
    text.write_text("user,lat,lon\n1,2,3\n")
    others = (
        write_geojson(tmp_path / "b.geojson", point),
        write_geojson(tmp_path / "c.geojson", line, point),
        write_geopackage(tmp_path / "b.gpkg", blob, kind="POINT"),
        write_geopackage(tmp_path / "c.gpkg", blob),
        recipe,
        text,
        tmp_path,
        tmp_path / "missing.pmtiles",
    )
    assert [path.name for path in behind if not lies_behind(path)] == []
    assert [path.name for path in others if lies_behind(path)] == []
