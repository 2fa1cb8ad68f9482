"""GeoPackage, GeoJSON and Excel: layers, sheets, invalid geometries and files."""

from __future__ import annotations

import datetime
import json
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import geopandas
import openpyxl
import pytest
import shapely
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from explorer import bounded
from explorer.checkins import (
    CheckinError,
    Mapping,
    MappingNeeded,
    Reason,
    open_checkins,
    sniff,
)
from explorer.checkins.parsing.crs import canonical_crs
from explorer.checkins.parsing.guess_columns import with_columns
from tests import snapshots

Write = Callable[..., Path]
DAY = datetime.datetime(2010, 3, 28, 12, 30, 15)
SHAPES = {
    shapely.Point(13.4, 52.5): None,
    shapely.Point(13.5, 52.6, 34.0): None,
    shapely.MultiPoint([(13.6, 52.7)]): None,
    shapely.MultiPoint([(13.6, 52.7), (13.7, 52.8)]): Reason.NOT_A_POINT,
    shapely.LineString([(0, 0), (1, 1)]): Reason.NOT_A_POINT,
    shapely.Point(0, 0): Reason.ZERO_ZERO,
    shapely.Point(200, 10): Reason.OUT_OF_RANGE,
    shapely.Point(): Reason.NO_GEOMETRY,
    None: Reason.NO_GEOMETRY,
    shapely.Polygon([(0, 0), (1, 0), (1, 1)]): Reason.NOT_A_POINT,
}


@pytest.mark.full
@pytest.mark.parametrize("kind", ["gpkg", "geojson", "geojsonl", "parquet"])
def test_what_is_no_point_is_rejected_and_counted(kind: str, tmp_path: Path) -> None:
    shapes = [*SHAPES, *[shapely.Point(13.7, 52.5)] * 20]
    table = geopandas.GeoDataFrame(
        {"user": [f"u{i % 9}" for i in range(len(shapes))]}, geometry=shapes, crs="EPSG:4326"
    )
    path = tmp_path / f"shapes.{kind}"
    table.to_parquet(path) if kind == "parquet" else table.to_file(
        path, driver={"gpkg": "GPKG", "geojson": "GeoJSON", "geojsonl": "GeoJSONSeq"}[kind]
    )
    with open_checkins(path, cache_dir=None) as data:
        found = {e.line: r for r, rows in data.report.examples.items() for e in rows}
        wanted = {i: reason for i, reason in enumerate(SHAPES.values(), 1) if reason is not None}
        assert found == wanted
        assert data.report.physical_lines == len(shapes)
        assert sorted(set(data.points(data.extent).lon)) == [13.4, 13.5, 13.6, 13.7]
        assert data.export_rejected(tmp_path / "aside.csv") == len(wanted)
        said = (tmp_path / "aside.csv").read_text(encoding="utf-8")
        assert "LINESTRING (0 0, 1 1)" in said
        assert Reason.NOT_A_POINT.value in said


@pytest.mark.full
def test_a_geopackage_with_several_layers_asks_which(tmp_path: Path) -> None:
    path = tmp_path / "city[1].gpkg"
    for layer, lat in (("north", 53.0), ("south", 47.0)):
        points = geopandas.points_from_xy([11.0, 11.5], [lat, lat])
        table = geopandas.GeoDataFrame({"user": ["a", "b"]}, geometry=points, crs="EPSG:4326")
        table.to_file(path, layer=layer)
    roads = geopandas.GeoDataFrame(geometry=[shapely.LineString([(0, 0), (1, 1)])], crs="EPSG:4326")
    roads.to_file(path, layer="roads")
    assert sniff(path).layers == ("north", "south")
    with pytest.raises(MappingNeeded, match="tables: north, south"):
        open_checkins(path, cache_dir=None)
    cache = tmp_path / "cache"
    for layer, lat in (("south", 47.0), ("north", 53.0), ("south", 47.0)):
        dialect = sniff(path, layer=layer).dialect
        with open_checkins(path, dialect=dialect, cache_dir=cache) as data:
            assert data.extent == (lat, 11.0, lat, 11.5)
            assert data.columns["layer"] == layer
    assert len([p for p in cache.iterdir() if p.is_dir()]) == 2
    with pytest.raises(CheckinError, match=r"'roads' .* north, south"):
        sniff(path, layer="roads")


def test_a_geopackage_of_lines_alone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "roads.gpkg"
    line = shapely.LineString([(0, 0), (1, 1)])
    geopandas.GeoDataFrame(geometry=[line], crs="EPSG:4326").to_file(path)
    with pytest.raises(CheckinError, match=r"points .*roads \(LineString"):
        sniff(path)


@pytest.mark.full
def test_parts_of_a_data_set_must_agree_in_their_system(tmp_path: Path) -> None:
    points = geopandas.points_from_xy([11.0, 11.5], [48.0, 48.5])
    table = geopandas.GeoDataFrame({"user": ["a", "b"]}, geometry=points, crs="EPSG:4326")
    folder = tmp_path / "parts"
    folder.mkdir()
    table.to_file(folder / "a.gpkg")
    table.to_file(folder / "b.gpkg")
    with open_checkins(folder, cache_dir=None) as data:
        assert data.rows == 4
    table.to_crs("EPSG:25832").to_file(folder / "b.gpkg")
    with pytest.raises(CheckinError, match=r"b\.gpkg differs .* EPSG:25832"):
        open_checkins(folder, cache_dir=None)


def test_other_databases_and_damaged_files_are_refused(tmp_path: Path, write: Write) -> None:
    other = tmp_path / "other.gpkg"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE t (a)")
    file.close()
    with pytest.raises(CheckinError, match=r"SQLite.* GeoPackage"):
        sniff(other)
    points = geopandas.points_from_xy([11.0] * 5000, [48.0] * 5000)
    table = geopandas.GeoDataFrame(
        {"user": [i % 50 for i in range(5000)]}, geometry=points, crs="EPSG:4326"
    )
    path = tmp_path / "points.gpkg"
    table.to_file(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckinError, match="damaged"):
        open_checkins(path, cache_dir=None)
    feature = {"type": "Feature", "geometry": None, "properties": {"user": 1}}
    text = json.dumps({"type": "FeatureCollection", "features": [feature] * 50})
    with pytest.raises(CheckinError, match=r"damaged.* GeoJSON"):
        sniff(write(text[:-70], "cut.geojson"))


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("a.gpkg", "pyogrio", "geofiles"),
        ("a.geojson", "pyarrow", "geofiles"),
        ("a.xlsx", "openpyxl", "excel"),
    ],
)
def test_without_the_library_it_is_said_what_to_install(
    name: str, library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    if extra == "excel":
        book([["user", "lat", "lon"], [1, 2.5, 3.5]]).save(path)
    else:
        points = geopandas.points_from_xy([11.0], [48.0])
        geopandas.GeoDataFrame({"user": [1]}, geometry=points, crs="EPSG:4326").to_file(path)
    canonical_crs.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(bounded, "_serving", 2**30)  # a worker would have the library
    said = rf"{name} is .*needs the library {library}, .*pip install '\.\[{extra}\]'\. Or save"
    with pytest.raises(CheckinError, match=said):
        open_checkins(path, cache_dir=None)


def book(rows: list[list[object]], mac: bool = False) -> openpyxl.Workbook:
    """A workbook with one sheet."""
    made = openpyxl.Workbook()
    if mac:
        made.epoch = CALENDAR_MAC_1904
    for row in rows:
        made.active.append(row)
    return made


@pytest.mark.parametrize(
    ("user", "rounded"), [(1234567890123456789, 12), ("1234567890123456789", 0)]
)
def test_numbers_that_a_sheet_has_rounded_are_counted(tmp_path: Path, user, rounded: int) -> None:
    made = book([["user", "time", "lat", "lon"]], False)
    for i in range(12):
        made.active.append([user, DAY + datetime.timedelta(days=i), 40.5 + i / 100, -73.5])
    path = tmp_path / "book.xlsx"
    made.save(path)
    with open_checkins(path, Mapping(user=0, time=1, lat=2, lon=3), cache_dir=None) as data:
        notes = [note for note in data.report.notes if "15 digits" in note]
    assert [int(note.split()[0]) for note in notes] == [rounded] * bool(rounded)


SERIAL_OF_2024 = {False: 45292, True: 43830}
"""The number of 2024-01-01 in the date system of 1900 and of 1904."""


def trips(path: Path, names: list[str], cells: Callable[[int], list[object]], mac=False) -> Path:
    """Write a workbook of 40 rows about 8 users; ``cells`` returns what stands between."""
    made = book([["user", *names, "lat", "lon"]], mac)
    for i in range(40):
        made.active.append([f"u{i % 8}", *cells(i), 40.5 + i / 100, -73.5])
    made.save(path)
    return path


@pytest.mark.full
@pytest.mark.parametrize("mac", [False, True])
def test_dates_without_a_format_are_read_by_the_date_system(mac: bool, tmp_path: Path) -> None:
    day = SERIAL_OF_2024[mac]
    # 07:30:01 has more digits than a spreadsheet keeps: seconds must not be lost by that.
    path = trips(tmp_path / "a.xlsx", ["time"], lambda i: [round(day + i + 27001 / 86400, 10)], mac)
    preview = sniff(path)
    assert preview.questions == ()
    assert preview.mapping.time_format == ("excel_1904" if mac else "excel_1900")
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.first_time) == (40, "2024-01-01T07:30:01Z")
        assert data.last_time == "2024-02-09T07:30:01Z"
        assert data.report.naive_times
    vienna = replace(preview.mapping, zone="Europe/Vienna")
    with open_checkins(path, vienna, cache_dir=None) as data:
        assert data.first_time == "2024-01-01T06:30:01Z"


def whole_days(i: int) -> list[object]:
    return [45292 + i]


def days_and_hours(i: int) -> list[object]:
    return [45292.25 + i]


@pytest.mark.parametrize(
    ("name", "cells", "asked"),
    [
        ("date", whole_days, False),
        ("Datum", days_and_hours, False),
        ("time", whole_days, True),
        ("start_value", days_and_hours, True),
        ("reading", days_and_hours, True),
        ("altitude", whole_days, None),
    ],
)
def test_numbers_that_may_be_dates_are_asked_about(name, cells, asked, tmp_path: Path) -> None:
    preview = sniff(trips(tmp_path / "a.xlsx", [name], cells))
    question = preview.question("time")
    assert (question is not None) == bool(asked)
    assert preview.mapping.time == (1 if asked is False else None)
    if question is not None:
        assert [one.fields for one in question.candidates] == [(("time", 1),), (("time", None),)]
        with open_checkins(
            tmp_path / "a.xlsx", with_columns(preview, {"time": 1}), cache_dir=None
        ) as data:
            first = "2024-01-01T06:00:00Z" if cells is days_and_hours else "2024-01-01T00:00:00Z"
            assert data.first_time == first


@pytest.mark.parametrize("day", [DAY.date(), 40265], ids=["date", "number"])
@pytest.mark.parametrize(
    "clock",
    [
        DAY.time(),
        datetime.timedelta(hours=12, minutes=30),
        0.521006944,
    ],
    ids=["time", "duration", "number"],
)
def test_times_of_day_beside_dates_are_asked_about(day, clock, tmp_path: Path) -> None:
    path = trips(tmp_path / "a.xlsx", ["date", "time"], lambda _: [day, clock])
    question = sniff(path).question("time")
    assert question is not None
    assert question.candidates[0].fields == (("time", 1),)
    snapshots.check(question.text)
    assert "“time”" in question.text
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=None)


@pytest.mark.parametrize("mac", [False, True])
def test_every_row_of_a_sheet_is_accounted_for(mac: bool, tmp_path: Path) -> None:
    made = book([["Report of March"], [], ["user", "time", "lat", "lon", "note"]], mac)
    sheet = made.active
    for i in range(20):
        sheet.append([i % 3, DAY + datetime.timedelta(days=i), 40.5 + i / 100, -73.5, "x"])
    sheet["C10"], sheet["E12"], sheet["A15"] = "=1+40", "=NOW()", None
    sheet.append([])
    sheet.append([7, "yesterday", 40.0, -73.0])
    sheet.append([7, DAY, "#N/A", -73.0])
    sheet.merge_cells("A21:A22")
    made.create_sheet("Empty")
    path = tmp_path / "book.xlsx"
    made.save(path)
    preview = sniff(path)
    assert preview.columns == ("user", "time", "lat", "lon", "note")
    assert preview.layers == ()
    with open_checkins(path, cache_dir=None) as data:
        report = data.report
        assert (report.physical_lines, report.header, report.blank) == (26, 1, 2)
        assert report.before_header == 1
        found = {e.line: r for r, rows in report.examples.items() for e in rows}
        assert found == {
            10: Reason.FORMULA,
            15: Reason.BLANK_FIELD,
            22: Reason.BLANK_FIELD,
            25: Reason.BAD_TIME,
            26: Reason.NOT_A_NUMBER,
        }
        assert report.kept == 17  # a formula in a column that is not used costs nothing
        assert report.accounted == report.physical_lines
        assert data.first_time == "2010-03-28T12:30:15Z"
        assert any("merged cells" in note for note in report.notes)
        assert data.export_rejected(tmp_path / "aside.csv") == 5
        texts = (tmp_path / "aside.csv").read_text(encoding="utf-8").splitlines()
        assert texts[1].endswith('"0,2010-04-03 12:30:15,=1+40,-73.5,x"')


def test_formulas_with_results_are_read(tmp_path: Path) -> None:
    """As a spreadsheet saves them: the library writes none, so it is put in afterwards."""
    path, done = tmp_path / "plain.xlsx", tmp_path / "book.xlsx"
    made = book([["user", "lat", "lon"], *([i, 40.5, -73.5] for i in range(5))])
    made.active["B3"] = "=20+21"
    made.save(path)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(done, "w") as after:
        for part in before.namelist():
            data = before.read(part)
            if part.endswith("sheet1.xml"):
                assert b"<v />" in data or b"<v></v>" in data or b"<v/>" in data
                for empty in (b"<v />", b"<v></v>", b"<v/>"):
                    data = data.replace(empty, b"<v>41</v>")
            after.writestr(part, data)
    with open_checkins(done, cache_dir=None) as data:
        assert data.rows == 5
        assert data.extent[2] == 41.0


def test_a_workbook_with_several_sheets_asks_which(tmp_path: Path) -> None:
    made = book([["user", "lat", "lon"], [1, 40.5, -73.5], [2, 40.6, -73.6]])
    made.active.title = "Friends"
    other = made.create_sheet("Others")
    for row in (["name", "latitude", "longitude", "time"], ["x", 50.0, 8.0, DAY]):
        other.append(row)
    path = tmp_path / "book.xlsx"
    made.save(path)
    with pytest.raises(MappingNeeded, match="tables: Friends, Others"):
        open_checkins(path, cache_dir=None)
    preview = sniff(path, layer="Others")
    assert preview.layers == ("Friends", "Others")
    assert preview.mapping.time == 3
    with open_checkins(path, dialect=sniff(path, layer="Friends").dialect, cache_dir=None) as data:
        assert (data.rows, data.columns["layer"]) == (2, "Friends")
    with pytest.raises(CheckinError, match=r"'None'; .* Friends, Others"):
        sniff(path, layer="None")


def test_numbers_stay_as_they_were_typed(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    users = ["007", 7, 12345678901, 7.5, True]
    book([["user", "lat", "lon"], *([user, 40.5, -73.5] for user in users)]).save(path)
    cells = [row[0] for row in sniff(path).rows]
    assert cells == ["007", "7", "12345678901", "7.5", "TRUE"]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "save it as .xlsx without"),
        ("cut.xlsx", b"PK\x03\x04[Content_Types].xml" + bytes(600), "damaged Excel workbook"),
        (
            "a.ods",
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "OpenDocument sheet: save",
        ),
    ],
)
def test_other_spreadsheets_are_refused_with_a_remedy(
    name: str, data: bytes, why: str, write: Write
) -> None:
    with pytest.raises(CheckinError, match=why):
        sniff(write(data, name))


def test_a_workbook_without_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    book([["nothing", "here"]]).save(path)
    with pytest.raises(CheckinError, match="three columns"):
        sniff(path)
