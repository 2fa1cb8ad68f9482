"""Choice of delimiter and encoding of a file."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt

from explorer.checkins import LoadCancelled, Mapping
from explorer.checkins.parsing import streams
from explorer.studies.heatmap.parameters import TRUE
from explorer.ui.dialogs import open_checkins
from explorer.ui.dialogs.open_checkins import READING_FILE
from tests.ui.map_page import MapPage, opened


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


def choose(map_page: MapPage, combo, value: str) -> None:
    """Choose, and wait for the new preview."""
    combo.setCurrentIndex(combo.findData(value))
    map_page.qtbot.waitUntil(lambda: map_page.panel.dialog("mapping").problem != READING_FILE)


def confirm_all(dialog) -> None:
    for card in dialog.cards.values():
        card.button.click()


def asked(map_page: MapPage, path):
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path, ask=True)
    return map_page.panel.dialog("mapping")


def test_another_delimiter_is_looked_at_and_loaded(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "both.csv"
    # Six fields by commas, three by semicolons: both are possible.
    path.write_text("".join(f"{i % 5},x;48.{i:03d},1;11.{i:03d},2,3\n" for i in range(30)))
    dialog = asked(map_page, path)
    assert dialog.reading.delimiter.currentData() == dialog.preview.delimiter
    assert dialog.dialect is None
    choose(map_page, dialog.reading.delimiter, ";")
    assert dialog.table.columnCount() == 3
    assert dialog.table.item(0, 0).text() == "0,x"
    assert dialog.reading.columns["delimiter"].remark.text() == "3 columns"
    choose(map_page, dialog.reading.delimiter, ",")
    assert dialog.dialect is None or dialog.dialect.delimiter == ","
    assert dialog.table.columnCount() == 5
    dialog.reject()


def test_columns_named_e7_are_converted_when_they_are_chosen(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "trips.csv"
    rows = "".join(
        f"u{i % 12},{482000000 + i},{163000000 + i},{481000000 + i},{162000000 + i},48.5,16.5\n"
        for i in range(24)
    )
    names = "user,startLatitudeE7,startLongitudeE7,endLatitudeE7,endLongitudeE7,p,q\n"
    path.write_text(names + rows)
    dialog = asked(map_page, path)
    assert dialog.system.crs != "E7"  # two matching pairs: neither is chosen
    card = dialog.position
    card.options[card.other].radio.click()
    for role, column in (("lat", 3), ("lon", 4)):
        card.boxes[role].setCurrentIndex(column + 1)
    assert dialog.mapping.crs == "E7"
    for role, column in (("lat", 5), ("lon", 6)):
        card.boxes[role].setCurrentIndex(column + 1)
    assert dialog.mapping.crs is None
    for role, column in (("lat", 1), ("lon", 2)):
        card.boxes[role].setCurrentIndex(column + 1)
    map_page.qtbot.waitUntil(card.button.isEnabled)
    confirm_all(dialog)
    assert dialog.problem == ""
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        dialog.load_button.click()
    south, west, north, _ = map_page.data.current.extent
    assert (south, west, north) == (48.2, 16.3, 48.2000023)


def test_whether_to_trust_an_archive_is_asked(map_page: MapPage, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    rows = "".join(f"u{i % 12},48.{i:03d},11.{i:03d}\n" for i in range(40))
    path = tmp_path / "large.csv.gz"
    path.write_bytes(gzip.compress(("user,lat,lon\n" + rows + "\n" * 400_000).encode()))
    before = map_page.data.current
    with map_page.qtbot.waitSignal(map_page.data.unpack_requested) as asking:
        map_page.data.open(path)
    assert map_page.data.current is before
    map_page.panel.ask_unpack(asking.args[0])
    box = map_page.panel.dialog("unpack")
    assert box.defaultButton().text().replace("&", "") == "Cancel"
    go = next(b for b in box.buttons() if b is not box.defaultButton())
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        go.click()
    assert map_page.data.current.rows == 40


def test_an_encoding_is_tried_refused_and_loaded(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "letters.csv"
    rows = "".join(f"Jörg{i % 3},48.{i:03d},11.{i:03d}\n" for i in range(30))
    path.write_bytes(("user,lat,lon\n" + rows).encode())
    dialog = asked(map_page, path)
    choose(map_page, dialog.reading.encoding, "utf-16")
    assert "UTF-16" in dialog.problem
    assert dialog.verdict.text() == dialog.problem
    assert not any(card.button.isEnabled() for card in dialog.cards.values())
    assert not dialog.load_button.isEnabled()
    choose(map_page, dialog.reading.encoding, "latin-1")
    assert dialog.problem == ""
    assert dialog.table.item(0, 0).text() == "JÃ¶rg0"
    assert dialog.dialect.encoding == "latin-1"
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        map_page.qtbot.mouseClick(dialog.load_button, Qt.MouseButton.LeftButton)
    assert map_page.data.current.users == 3
    assert any("Latin-1" in note for note in map_page.data.current.report.notes)


def test_the_guess_follows_what_is_chosen(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "bars.csv"
    path.write_text(
        "user|lat|lon\n" + "".join(f"{i % 4}|48.{i:03d}|11.{i:03d}\n" for i in range(30))
    )
    dialog = asked(map_page, path)
    assert dialog.mapping.user == 0
    choose(map_page, dialog.reading.delimiter, ",")
    assert dialog.mapping.missing
    assert not dialog.load_button.isEnabled()
    choose(map_page, dialog.reading.delimiter, "|")
    assert (dialog.mapping.user, dialog.mapping.lat, dialog.mapping.lon) == (0, 1, 2)
    assert dialog.problem == ""


def test_looking_again_keeps_the_window_alive(
    map_page: MapPage, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in a thread, blocks loading meanwhile, and ends with the dialog."""
    path = tmp_path / "bars.csv"
    path.write_text("user|lat|lon\n" + "".join(f"{i % 9}|48.{i}|11.{i}\n" for i in range(30)))
    dialog = asked(map_page, path)
    seen: list[threading.Thread] = []

    def slow(source, settings, cancelled) -> None:
        seen.append(threading.current_thread())
        while not cancelled():
            time.sleep(0.01)
        raise LoadCancelled

    monkeypatch.setattr(open_checkins.checkins, "sniff_source", slow)
    dialog.reading.delimiter.setCurrentIndex(dialog.reading.delimiter.findData(","))
    map_page.qtbot.waitUntil(lambda: bool(seen))
    assert seen[0] is not threading.main_thread()
    assert dialog.problem == READING_FILE
    assert not dialog.load_button.isEnabled()
    dialog.reject()
    assert not seen[0].is_alive()


@pytest.mark.full
def test_what_is_shown_of_a_file_read_with_other_columns_is_of_the_new_ones(
    map_page: MapPage, tmp_path
) -> None:
    path = tmp_path / "points.csv"
    rng = np.random.default_rng(1)
    rows = [
        f"{i % 20},{x:.3f},{x / 9:.3f},{y:.3f}\n" for i, (x, y) in enumerate(rng.random((300, 2)))
    ]
    path.write_text("user,x,left,y\n" + "".join(rows))
    dots: list[np.ndarray] = []
    map_page.map.dots.ready.connect(lambda counts, _box: dots.append(counts))
    map_page.session.set_value("resolution", "16")
    map_page.map.utility.action.setChecked(True)
    map_page.map.utility.view.evaluate_on("theory")  # available at once
    pictures, asked = [], set()
    for x in (1, 2):
        before = len(dots)
        map_page.load(path, mapping=Mapping(user=0, lat=3, lon=x, plane="0,0,1,1"))
        assert map_page.map.utility.view.answer is None
        pictures.append(map_page.answered().surface(TRUE).values)
        asked.add(map_page.controller.request)
        map_page.qtbot.waitUntil(lambda before=before: len(dots) > before)
        map_page.qtbot.waitUntil(lambda: map_page.map.utility.view.answer is not None)
    assert len(asked) == 1  # the request does not distinguish them
    assert not np.array_equal(*pictures)
    assert dots[0].shape == dots[-1].shape
    assert not np.array_equal(dots[0], dots[-1])
