"""Choice of layers, sheets and reference systems of ambiguous files."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import geopandas
import numpy as np
import openpyxl
import pyproj
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.ui.dialogs.open_checkins import READING_FILE
from explorer.ui.dialogs.reading_fields import LOOKING_UP, NOT_YET
from tests.ui.map_page import MapPage, opened

LAT, LON = 52.0 + np.arange(60) / 100, 13.0 + np.arange(60) / 100


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


@pytest.fixture
def metres(tmp_path):
    x, y = pyproj.Transformer.from_crs(4326, 25833, always_xy=True).transform(LON, LAT)
    path = tmp_path / "metres.csv"
    lines = [f"u{i % 5},{a:.3f},{b:.3f}\n" for i, (a, b) in enumerate(zip(x, y, strict=True))]
    path.write_text("user,easting,northing\n" + "".join(lines))
    return path


def asked(map_page: MapPage, path):
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path)
    return map_page.panel.dialog("mapping")


def choose(map_page: MapPage, combo, value) -> None:
    assert combo.findData(value) >= 0
    combo.setCurrentIndex(combo.findData(value))
    dialog = map_page.panel.dialog("mapping")
    map_page.qtbot.waitUntil(lambda: dialog.problem not in (READING_FILE, LOOKING_UP))


def load(map_page: MapPage, dialog) -> None:
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        map_page.qtbot.mouseClick(dialog.load_button, Qt.MouseButton.LeftButton)


def test_a_likely_system_is_chosen_by_where_it_puts_the_first_row(
    map_page: MapPage, metres
) -> None:
    dialog = asked(map_page, metres)
    card = dialog.position
    assert "not degrees" in card.why.text()
    assert dialog.problem == NOT_YET
    assert not card.button.isEnabled()
    assert not dialog.load_button.isEnabled()
    choose(map_page, dialog.system.system, "EPSG:25832")
    assert "52.0" in dialog.system.where.text()
    assert "7.0" in dialog.system.where.text()
    choose(map_page, dialog.system.system, "EPSG:25833")
    assert dialog.system.where.text() == "first row: 52.000° N, 13.000° E"
    assert not dialog.load_button.isEnabled()
    dialog.position.button.click()
    assert dialog.problem == ""
    load(map_page, dialog)
    data = map_page.data.current
    assert data.mapping.crs == "EPSG:25833"
    assert np.allclose(data.extent, (52.0, 13.0, 52.59, 13.59), atol=1e-6)


def test_another_system_is_named_by_its_number(map_page: MapPage, metres) -> None:
    dialog = asked(map_page, metres)
    choose(map_page, dialog.system.system, "other")
    assert dialog.system.number.isVisibleTo(dialog)
    for text, problem in (("999999", "no reference system"), ("32633", "")):
        dialog.system.number.clear()
        QTest.keyClicks(dialog.system.number, text)
        assert dialog.problem == LOOKING_UP
        QTest.keyClick(dialog.system.number, Qt.Key.Key_Tab)
        dialog.system.number.editingFinished.emit()
        map_page.qtbot.waitUntil(lambda: dialog.problem != LOOKING_UP)
        assert problem in dialog.problem
        assert dialog.problem
    dialog.position.button.click()
    assert dialog.problem == ""
    load(map_page, dialog)
    assert map_page.data.current.mapping.crs == "EPSG:32633"


def test_degrees_stay_degrees(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "degrees.csv"
    rows = "".join(
        f"u{i % 4},{a:.3f},{b:.3f}\n" for i, (a, b) in enumerate(zip(LAT, LON, strict=True))
    )
    path.write_text("user,lat,lon\n" + rows)
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path, ask=True)
    dialog = map_page.panel.dialog("mapping")
    assert dialog.mapping.crs is None
    assert dialog.mapping == dialog.preview.mapping
    dialog.reject()


def test_a_sheet_is_chosen_looked_at_and_loaded(map_page: MapPage, tmp_path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Friends"
    book.active.append(["name", "lat", "lon"])
    book.create_sheet("Check-ins").append(["user", "when", "latitude", "longitude"])
    day = datetime.datetime(2010, 5, 1)
    for i, (lat, lon) in enumerate(zip(LAT, LON, strict=True)):
        book["Friends"].append([f"f{i}", lat, lon])
        book["Check-ins"].append([i % 6, day + datetime.timedelta(hours=i), lat, lon])
    path = tmp_path / "book.xlsx"
    book.save(path)
    dialog = asked(map_page, path)
    layer = dialog.reading.layer
    assert [layer.itemText(i) for i in (1, 2)] == ["Friends", "Check-ins"]
    assert "layer or sheet" in dialog.problem
    choose(map_page, layer, "Check-ins")
    assert all(card.is_confirmed for card in dialog.cards.values())
    assert dialog.table.columnCount() == 4
    assert dialog.problem == ""
    assert "Excel" in dialog.detected.text()
    load(map_page, dialog)
    data = map_page.data.current
    assert (data.rows, data.users, data.columns["layer"]) == (60, 6, "Check-ins")


def test_geojson_dropped_on_the_window_is_check_ins(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="unbounded")
    settled(window)
    window.session.set_value("resolution", "16", "heatmap")
    path = tmp_path / "places.json"
    points = geopandas.GeoDataFrame(
        {"user": [f"u{i % 5}" for i in range(60)]},
        geometry=geopandas.points_from_xy(LON, LAT),
        crs=4326,
    )
    points.to_file(path, driver="GeoJSON")
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_any(path)
    assert window.data.current.rows == 60
    settled(window)
