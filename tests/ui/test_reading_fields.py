"""Formats of numbers and times in the open dialog, and marks of unreadable cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from explorer.ui.dialogs.open_checkins import ALL_READ, BY_NAME, READING_FILE
from explorer.ui.dialogs.reading_fields import TYPED
from tests import snapshots
from tests.ui.map_page import MapPage, opened


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


def table(tmp_path: Path, *first: str, time: str = "{day}.09.2025 10:{i}") -> Path:
    path = tmp_path / "besuche.csv"
    rows = [
        f"K-{i % 9};{time.format(day=10 + i % 18, i=i)};48,{2000 + i};16,{3000 + i};Café {i}"
        for i in range(10, 60)
    ]
    path.write_text("\n".join(["Kunde;Zeitpunkt;Breite;Länge;Ort", *first, *rows]))
    return path


def asked(map_page: MapPage, path: Path):
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path, ask=True)
    return map_page.panel.dialog("mapping")


def load(map_page: MapPage, dialog) -> None:
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        map_page.qtbot.mouseClick(dialog.load_button, Qt.MouseButton.LeftButton)


def test_a_german_table_opens_with_its_zone(map_page: MapPage, tmp_path: Path) -> None:
    dialog = asked(map_page, table(tmp_path, "K-1;20.10.2025 00:55;48,2081;16,3713;Café"))
    fields = dialog.reading
    assert fields.columns["header"].remark.text() == "German names"
    assert fields.decimal.currentData() == ","
    assert fields.columns["decimal"].remark.text() == "48,2081 is 48.2081"
    assert fields.times.currentText() == "20.10.2025 00:55"
    assert fields.columns["times"].remark.text() == "day.month.year"
    assert not any("%" in fields.times.itemText(i) for i in range(fields.times.count()))
    fields.zone.setText("Europe/Wien")
    snapshots.check(dialog.problem)
    assert not dialog.load_button.isEnabled()
    fields.zone.setText("Europe/Vienna")
    assert fields.columns["zone"].remark.text() == "00:55 is 22:55 UTC the day before"
    assert dialog.problem == ""
    load(map_page, dialog)
    data = map_page.data.current
    assert data.last_time == "2025-10-19T22:55:00Z"
    assert data.mapping.zone == "Europe/Vienna"
    assert data.mapping.decimal is None


def test_the_order_of_day_and_month_must_be_chosen(map_page: MapPage, tmp_path: Path) -> None:
    path = table(tmp_path, "K-1;01/01/2025 10:00;48,2;16,3;x", time="03/04/2025 10:{i}")
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path)
    dialog = map_page.panel.dialog("mapping")
    card, times = dialog.time, dialog.reading.times
    assert dialog.problem.startswith("Choose what 03/04/2025 10:10 means")
    orders = card.further["time_format"].group
    assert orders.checkedId() == -1  # nothing is preselected
    assert not card.button.isEnabled()
    assert not dialog.load_button.isEnabled()
    offered = [times.itemText(i) for i in range(3)]
    assert offered[1:] == ["03/04/2025 10:10: 3 April 2025", "03/04/2025 10:10: 4 March 2025"]
    times.setCurrentIndex(1)
    assert orders.checkedId() == 0
    orders.button(1).click()
    assert times.currentText() == offered[2]
    assert not dialog.load_button.isEnabled()
    card.button.click()
    assert dialog.problem == ""
    load(map_page, dialog)
    assert map_page.data.current.last_time == "2025-03-04T10:59:00Z"


def test_an_example_is_typed(map_page: MapPage, tmp_path: Path) -> None:
    dialog = asked(map_page, table(tmp_path, time="2025-{day}-01T10:{i}"))
    assert dialog.mapping.time is None  # no such month
    card = dialog.time
    card.options[card.other].radio.click()
    assert "Choose the column with the time" in dialog.problem
    card.boxes["time"].setCurrentIndex(card.boxes["time"].findData(1))
    fields = dialog.reading
    fields.times.setCurrentIndex(fields.times.findData(TYPED))
    assert fields.example.isVisibleTo(dialog)
    fields.example.setText("yesterday")
    assert "give an example" in dialog.problem
    fields.example.setText("03/04/2024")
    snapshots.check(dialog.problem)
    fields.example.setText("31.12.2024 23:59")
    assert dialog.mapping.time_format == "%d.%m.%Y %H:%M"
    assert dialog.problem.startswith("None")
    dialog.reject()


def test_a_chosen_decimal_mark_is_looked_at_and_loaded(map_page: MapPage, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    rows = [f"u{i % 9};{48 + i % 2};16,{300 + i};1.5;2.5" for i in range(30)]
    path.write_text("\n".join(["user;lat;lon;a;b", *rows]))
    dialog = asked(map_page, path)
    decimal = dialog.reading.decimal
    assert decimal.currentData() == "."
    assert dialog.problem.startswith("None")
    decimal.setCurrentIndex(decimal.findData(","))
    map_page.qtbot.waitUntil(lambda: dialog.problem != READING_FILE)
    assert dialog.problem == ""
    load(map_page, dialog)
    assert map_page.data.current.rows == 30
    assert map_page.data.current.mapping.decimal == ","


def test_red_cells_say_why_and_keys_reach_them(map_page: MapPage, tmp_path: Path) -> None:
    dialog = asked(
        map_page,
        table(
            tmp_path,
            "K-1;17.10.2025 20:26;148,2201;16,3790;Café",
            "K-2;31.02.2025 09:10;48,2011;16,3688;Café",
            "K-2;16.10.2025 07:02;48,1899;;Café",
            "K-2;16.10.2025 07:02;1.148,1;16,3;Café",
            "K-2;16.10.2025 07:02;48,1;16,3;Café;surplus",
        ),
    )
    rows = dialog.rows
    dialog.show()
    map_page.qtbot.waitUntil(lambda: rows.outline.total is not None)
    said = []
    for _ in range(5):
        map_page.qtbot.keyClick(rows.next_button, Qt.Key.Key_Space)
        said.append(rows.line.text())
        here = rows.table.currentItem()
        assert here.toolTip() == rows.line.text()
        assert here.data(Qt.ItemDataRole.AccessibleDescriptionRole) == rows.line.text()
    snapshots.check(said)
    map_page.qtbot.keyClick(rows.next_button, Qt.Key.Key_Space)
    assert rows.line.text() == said[0]  # after the last the first
    map_page.qtbot.keyClick(rows.table, Qt.Key.Key_Down)
    map_page.qtbot.keyClick(rows.table, Qt.Key.Key_Left)
    assert rows.line.text() == said[1]
    dialog.reject()


def test_good_rows_are_not_red(map_page: MapPage, tmp_path: Path) -> None:
    dialog = asked(map_page, table(tmp_path))
    assert dialog.rows.line.text().endswith(ALL_READ)
    assert not dialog.rows.next_button.isVisibleTo(dialog)
    dialog.reject()


def test_swapped_columns_are_put_right_by_a_button(map_page: MapPage, tmp_path: Path) -> None:
    path = tmp_path / "swapped.csv"
    rows = [f"u{i % 9},139.{300 + i},35.{200 + i}" for i in range(40)]
    path.write_text("\n".join(["user,lat,lon", *rows]))
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path)
    dialog = map_page.panel.dialog("mapping")
    card = dialog.position
    assert "swapped" in card.why.text()
    assert dialog.mapping.lat == 2  # the other order is preselected
    assert not dialog.load_button.isEnabled()
    card.answers.button(1).click()
    assert dialog.mapping.lat == 1
    assert dialog.rows.header.roles[1] == "latitude"
    assert dialog.swap_button.isVisibleTo(dialog)
    dialog.swap_button.click()
    assert (dialog.mapping.lat, dialog.mapping.lon) == (2, 1)
    assert not dialog.swap_button.isVisibleTo(dialog)
    assert card.answers.checkedId() == 0
    assert dialog.person.button.text() == BY_NAME
    card.button.click()
    load(map_page, dialog)
    assert map_page.data.current.extent[0] == pytest.approx(35.2)
