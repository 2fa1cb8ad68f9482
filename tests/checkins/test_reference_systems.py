"""Coordinates in other reference systems: detected, asked for, converted or rejected."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import geopandas
import numpy as np
import pandas
import pyproj
import pytest

from explorer.checkins import (
    CheckinError,
    LoadCancelled,
    MappingNeeded,
    Reason,
    open_checkins,
    sniff,
)
from explorer.checkins.parsing.crs import SYSTEMS, accuracy, candidates, canonical_crs, converter

Write = Callable[..., Path]
ROWS = 400
METRES = ("EPSG:25832", "EPSG:3857", "EPSG:27700", "EPSG:2154", "EPSG:2056", "EPSG:32733")


def places(crs: str) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes where a system is used, far from the edges."""
    west, south, east, north = pyproj.CRS(crs).area_of_use.bounds
    draw = np.random.default_rng(5)
    lon = west + (east - west) * draw.uniform(0.4, 0.6, ROWS)
    return lon, south + (north - south) * draw.uniform(0.4, 0.6, ROWS)


def table(crs: str, names: tuple[str, str] = ("easting", "northing")) -> tuple[str, np.ndarray]:
    """The text of a file with such coordinates, and the latitudes in it, sorted."""
    lon, lat = places(crs)
    forward = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    x, y = forward.transform(lon, lat)
    lines = [f"u{i % 9},{x[i]:.4f},{y[i]:.4f}\n" for i in range(ROWS)]
    return f"user,{names[0]},{names[1]}\n" + "".join(lines), np.sort(lat)


@pytest.mark.full
@pytest.mark.parametrize(
    ("crs", "names"),
    list(zip(METRES, 2 * [("easting", "northing"), ("x", "y"), ("lon", "lat")], strict=True)),
)
def test_metres_in_a_text_file_are_asked_for_and_converted(
    crs: str, names: tuple[str, str], write: Write
) -> None:
    text, lat = table(crs, names)
    path = write(text, "points.csv")
    with pytest.raises(MappingNeeded, match="not degrees") as asked:
        open_checkins(path, cache_dir=None)
    preview = asked.value.preview
    assert preview.mapping.crs == ""
    assert not preview.mapping.planar
    family = {"EPSG:25832": "UTM", "EPSG:32733": "UTM"}.get(crs, crs)
    assert family in str(asked.value)
    known = replace(preview.mapping, crs=crs)
    with open_checkins(path, known, cache_dir=None) as data:
        assert data.rows == ROWS
        assert np.abs(np.sort(data.points(data.extent).lat) - lat).max() < 8e-8
        assert data.mapping.crs == crs
        assert data.columns["crs"] == crs
        (note,) = (note for note in data.report.notes if "converted" in note)
        assert crs in note
        # A projection of WGS 84 itself is exact; another datum is converted to some metres.
        exact = pyproj.CRS(crs).datum == pyproj.CRS("EPSG:4326").datum
        assert ("exactly" in note) == exact
        assert ("to about " in note) != exact


def test_degrees_and_pixels_are_not_asked_about(write: Write) -> None:
    degrees = "user,x,y\n" + "".join(f"{i},{-73.5 + i / 100},{40.5}\n" for i in range(30))
    assert sniff(write(degrees)).mapping.crs is None
    pixels = "user,x,y\n" + "".join(f"{i},{300 + i},{9000}\n" for i in range(30))
    mapping = sniff(write(pixels)).mapping
    assert (mapping.crs, mapping.planar) == (None, True)
    image = "image,user,x,y\n" + "".join(f"a,{i},{60_000 + i},{90_000}\n" for i in range(30))
    assert sniff(write(image)).mapping.crs is None


def test_what_does_not_convert_is_rejected_and_counted(write: Write, tmp_path: Path) -> None:
    text, _ = table("EPSG:25832")
    bad = {
        "u1,0,0": Reason.ZERO_ZERO,
        "u1,1e30,5800000": Reason.NOT_CONVERTED,
        "u1,nan,5800000": Reason.NOT_FINITE,
        "u1,inf,5800000": Reason.NOT_FINITE,
        "u1,here,5800000": Reason.NOT_A_NUMBER,
        "u1,,5800000": Reason.BLANK_FIELD,
    }
    path = write(text + "\n".join(bad) + "\n", "points.csv")
    mapping = replace(sniff(path).mapping, crs="EPSG:25832")
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert data.rows == ROWS
        found = {e.line: r for r, rows in data.report.examples.items() for e in rows}
        assert found == {ROWS + 2 + i: reason for i, reason in enumerate(bad.values())}
        assert data.export_rejected(tmp_path / "aside.csv") == len(bad)
        assert Reason.NOT_CONVERTED.value in (tmp_path / "aside.csv").read_text()


def test_the_system_is_part_of_what_is_kept(write: Write, tmp_path: Path) -> None:
    path, cache = write(table("EPSG:25832")[0], "points.csv"), tmp_path / "cache"
    mapping = sniff(path).mapping
    extents = set()
    for crs in ("EPSG:25832", "EPSG:25833", "25832"):
        with open_checkins(path, replace(mapping, crs=canonical_crs(crs)), cache_dir=cache) as data:
            extents.add(data.extent)
    assert len(extents) == len([p for p in cache.iterdir() if p.is_dir()]) == 2


@pytest.mark.filterwarnings("error")
def test_how_exact_a_conversion_is_stands_in_the_report_and_nowhere_else() -> None:
    for crs, said in (
        ("EPSG:3857", "exactly"),
        ("EPSG:32733", "exactly"),
        ("EPSG:25832", "to about 1 m"),
        ("EPSG:27700", "to about "),
    ):
        converter(crs)
        assert accuracy(crs).startswith(said)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["gpkg", "geojson", "parquet", "point.parquet"])
def test_a_file_that_names_its_system_is_not_asked_about(kind: str, tmp_path: Path) -> None:
    lon, lat = places("EPSG:27700")
    points = geopandas.GeoDataFrame(
        {"user": [f"u{i % 9}" for i in range(ROWS)]},
        geometry=geopandas.points_from_xy(lon, lat),
        crs="EPSG:4326",
    )
    path = tmp_path / f"points.{kind}"
    metres = points.to_crs("EPSG:27700")
    if kind.endswith("parquet"):
        metres.to_parquet(path, geometry_encoding="geoarrow" if "point" in kind else "WKB")
    else:
        metres.to_file(path)
    preview = sniff(path)
    assert preview.columns[:2] == ("y", "x")
    assert preview.mapping.crs == "EPSG:27700"
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == ROWS
        assert np.abs(np.sort(data.points(data.extent).lat) - np.sort(lat)).max() < 8e-8


def test_a_geopackage_without_a_system_is_asked_about(tmp_path: Path) -> None:
    lon, lat = places("EPSG:25832")
    points = geopandas.GeoDataFrame(
        {"user": np.arange(ROWS) % 40},
        geometry=geopandas.points_from_xy(lon, lat),
        crs="EPSG:4326",
    ).to_crs("EPSG:25832")
    path = tmp_path / "points.gpkg"
    with pytest.warns(UserWarning, match="crs"):
        points.set_crs(None, allow_override=True).to_file(path)
    with pytest.raises(MappingNeeded, match="not degrees") as asked:
        open_checkins(path, cache_dir=None)
    known = replace(asked.value.preview.mapping, crs="EPSG:25832")
    with open_checkins(path, known, cache_dir=None) as data:
        assert np.abs(np.sort(data.points(data.extent).lat) - np.sort(lat)).max() < 8e-8


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("25832", "EPSG:25832"),
        ("epsg:3857", "EPSG:3857"),
        ("EPSG:4326", None),
        ("OGC:CRS84", None),
        ("urn:ogc:def:crs:EPSG::25832", "EPSG:25832"),
        ("URN:OGC:DEF:CRS:EPSG:9.9:4326", None),
        ("ESRI:54030", "ESRI:54030"),
        (pyproj.CRS(25832).to_wkt(), "EPSG:25832"),
        (pyproj.CRS(25832).to_json(), "EPSG:25832"),
    ],
)
def test_names_of_systems(asked: str, name: str | None) -> None:
    assert canonical_crs(asked) == name


@pytest.mark.parametrize(
    "asked",
    [
        "EPSG:999999",
        "Mars",
        "EPSG:5773",
        "EPSG:4978",
        "",
        "+init=epsg:25832",
        "+init=/dev/null:1",
        "+proj=utm +zone=32",
        "/etc/passwd",
        "WGS84",
        "http://127.0.0.1:9/x",
        "https://spatialreference.org/ref/epsg/25832/",
        "{",
        "[" * 70_000,
        "PROJCS[" * 30_000,
        '{"$schema": "http://127.0.0.1:9/"}',
    ],
)
def test_no_such_system(asked: str) -> None:
    with pytest.raises(ValueError, match=r"is no|coordinates"):
        canonical_crs(asked)


def test_likely_systems_hold_the_places_they_are_made_for() -> None:
    for crs, _words, _x, _y in SYSTEMS:
        lon, lat = places(crs)
        x, y = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(lon, lat)
        assert crs in dict(candidates((y, x))), crs
    assert candidates((np.array([52.5]), np.array([13.4]))) == []


def test_positions_come_back_to_two_millimetres() -> None:
    for crs in METRES:
        lon, lat = places(crs)
        x, y = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(lon, lat)
        found_lat, found_lon = converter(crs)(np.asarray(y), np.asarray(x))
        assert np.abs(found_lat - lat).max() < 8e-8
        assert np.abs(found_lon - lon).max() < 8e-8


def test_without_the_library_it_is_refused_with_what_to_install(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(table("EPSG:25832")[0], "points.csv")
    mapping = replace(sniff(path).mapping, crs="EPSG:25832")
    canonical_crs.cache_clear()
    monkeypatch.setitem(sys.modules, "pyproj", None)
    with pytest.raises(CheckinError, match=r"pyproj.* pip install '\.\["):
        open_checkins(path, mapping, cache_dir=None)
    with pytest.raises(MappingNeeded, match="EPSG:25832"):
        open_checkins(path, cache_dir=None)


def test_a_cancelled_conversion_leaves_no_thread(write: Write) -> None:
    """The guard of this folder looks for threads."""
    header, *rows = table("EPSG:25832")[0].splitlines(keepends=True)
    path = write(header + "".join(rows) * 200, "points.csv")
    mapping = replace(sniff(path).mapping, crs="EPSG:25832")
    asked = iter(range(100_000))
    with pytest.raises(LoadCancelled):
        open_checkins(path, mapping, cache_dir=None, cancelled=lambda: next(asked) > 12)


@pytest.mark.full
def test_columns_of_a_table_stay_beside_geometries(tmp_path: Path) -> None:
    """A table may have latitudes of its own; the geometry is what is guessed, but not a must."""
    frame = pandas.DataFrame(
        {"user": np.arange(30) % 15, "latitude": 50.0, "longitude": np.arange(30) / 10}
    )
    points = geopandas.GeoDataFrame(
        frame,
        geometry=geopandas.points_from_xy(frame["longitude"], frame["latitude"] - 10),
        crs="EPSG:4326",
    )
    path = tmp_path / "points.gpkg"
    points.to_file(path)
    preview = sniff(path)
    assert preview.columns == ("latitude", "longitude", "user", "latitude", "longitude")
    with open_checkins(path, cache_dir=None) as data:
        assert data.extent[0] == 40.0
    other = replace(preview.mapping, lat=3, lon=4)
    with open_checkins(path, other, cache_dir=None) as data:
        assert data.extent[0] == 50.0
