"""Map panes: added, changed, closed, read at the pointer, exported and animated."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from explorer.engine.session.session import state_from_dict, state_to_dict
from explorer.figures.colour_maps import diverging_table
from explorer.figures.recipes import read_recipe
from explorer.studies.heatmap.parameters import pane_keys
from explorer.ui.map.panes import COMPUTING
from tests.ui.map_page import MapPage, made_checkins, opened
from tests.ui.small_map import SMALL_MAP
from tests.ui.test_map import drag, send

SIX = "true,least-squares,laplace,difference,error"


@pytest.fixture(scope="module")
def checkins(tmp_path_factory):
    return made_checkins(tmp_path_factory.mktemp("panes"))


@pytest.fixture
def map_page(qtbot, checkins) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        map_page.load(checkins)
        map_page.session.set_value("resolution", "32", "heatmap")
        map_page.answered()
        yield map_page


def choose(menu: QMenu, words: str) -> None:
    """Choose an entry of an opened menu."""
    menu.aboutToShow.emit()
    next(a for a in menu.actions() if a.text() == words).trigger()


def entries(menu: QMenu) -> list[str]:
    menu.aboutToShow.emit()
    return [a.text() for a in menu.actions() if not a.isSeparator()]


def beside(map_page: MapPage, text: str) -> object:
    """Show surfaces and wait for all of them."""
    map_page.session.set_value("beside", text, "heatmap")
    map_page.qtbot.waitUntil(
        lambda: {s.key for s in map_page.answered().surfaces} == set(pane_keys(text))
    )
    return map_page.map.current_result


def test_a_map_is_added_changed_and_closed_each_in_one_step(map_page: MapPage) -> None:
    panes, session = map_page.map.panes, map_page.session
    choose(map_page.map.add_menu, "Depth cap + least squares")
    assert panes.keys == ("true", "private", "private:least-squares")
    result = map_page.answered()
    shown = panes.panes["private:least-squares"]
    np.testing.assert_array_equal(shown.image.image, result.surface("private:least-squares").values)
    assert panes.slots["private:least-squares"].stamp.text().startswith("preview only")
    assert "least squares" in panes.headers["private:least-squares"].detail.text()

    choose(panes.headers["private:least-squares"].menu, "Laplace baseline")
    assert panes.keys == ("true", "private", "private:laplace")
    result = map_page.answered()
    np.testing.assert_array_equal(
        panes.panes["private:laplace"].image.image, result.surface("private:laplace").values
    )
    choose(panes.headers["private:laplace"].menu, "Close this map")
    assert panes.keys == ("true", "private")
    for keys in (("private:laplace",), ("private:least-squares",), ()):
        session.undo()
        assert panes.keys == ("true", "private", *keys)
    session.redo()
    assert panes.keys[-1] == "private:least-squares"
    again = map_page.answered().surface("private:least-squares").values
    np.testing.assert_array_equal(panes.panes["private:least-squares"].image.image, again)


@pytest.mark.full
def test_menus_offer_what_is_not_shown_and_six_are_enough(map_page: MapPage) -> None:
    offered = entries(map_page.map.add_menu)
    assert offered.index("True map, curator only") < offered.index("Error per cell")
    assert "Adaptive quadtree" not in offered
    assert "True map" not in offered
    map_page.session.set_value("beside", SIX, "heatmap")
    assert len(map_page.map.panes.keys) == 6
    assert not map_page.map.add_button.isEnabled()
    assert map_page.map.error_action.isEnabled()
    assert "Error per cell" not in entries(map_page.map.panes.headers["difference"].menu)
    map_page.map.error_action.trigger()
    assert map_page.map.add_button.isEnabled()


def test_the_main_maps_menu_chooses_the_mechanism(map_page: MapPage) -> None:
    menu = map_page.map.panes.headers["private"].menu
    assert "Close this map" not in entries(menu)
    choose(menu, "Laplace baseline")
    assert map_page.session.request("heatmap")["mechanism"] == "laplace"
    assert "Laplace" in map_page.answered().surface("private").label


def test_a_pane_is_changed_with_the_keyboard(map_page: MapPage) -> None:
    map_page.session.set_value("beside", "true,laplace", "heatmap")
    button = map_page.map.panes.headers["private:laplace"].button
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert button.accessibleName().startswith("Change or close: ")
    assert "Laplace" in button.accessibleName()

    def press() -> None:
        menu = QApplication.activePopupWidget()
        QTest.keyClick(menu, Qt.Key.Key_Up)  # last entry
        QTest.keyClick(menu, Qt.Key.Key_Return)

    QTimer.singleShot(50, press)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert map_page.map.panes.keys == ("true", "private")
    assert map_page.map.add_button.accessibleName() == "Add a map beside"
    assert map_page.map.add_button.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_one_click_shows_the_error_at_rest(map_page: MapPage) -> None:
    panes = map_page.map.panes
    map_page.map.error_action.trigger()
    assert panes.keys == ("true", "private", "error")
    assert panes.panes["error"].waiting == COMPUTING or panes.panes["error"].image.isVisible()
    map_page.qtbot.waitUntil(
        lambda: any("20 draws" in s.label for s in map_page.map.current_result.surfaces)
    )
    error = map_page.map.current_result.surface("error")
    np.testing.assert_array_equal(panes.panes["error"].image.image, error.values)
    assert panes.panes["error"].waiting == ""
    assert "curator" in panes.slots["error"].stamp.text()
    assert "curator only" in panes.panes["error"].accessibleName()
    own = float(map_page.map.current_result.surface("error").values.max())
    assert tuple(panes.panes["error"].image.levels) == pytest.approx((0, own))
    assert panes.shared_bars.error.isVisible()
    assert panes.shared_bars.error.top == pytest.approx(own)
    assert panes.shared_bars.maps.top == pytest.approx(panes.top("true"))
    assert own < panes.top("true")
    map_page.map.error_action.trigger()
    assert panes.keys == ("true", "private")
    assert not panes.shared_bars.error.isVisible()


def test_a_difference_is_coloured_to_both_sides(map_page: MapPage) -> None:
    result = beside(map_page, "true,difference")
    panes = map_page.map.panes
    top = panes.top("true")
    item = panes.panes["difference"].image
    assert tuple(item.levels) == pytest.approx((-top, top))
    np.testing.assert_array_equal(item.lut, diverging_table())
    assert panes.shared_bars.difference.isVisible()
    map_page.map.linked_action.setChecked(False)
    own = float(np.abs(result.surface("difference").values).max())
    assert tuple(item.levels) == pytest.approx((-own, own))
    assert panes.bars["difference"].isVisible()
    assert not panes.shared_bars.isVisible()
    # A slot that showed a difference uses the colours of maps again.
    map_page.session.set_value("beside", "true,laplace", "heatmap")
    assert not np.array_equal(panes.panes["private:laplace"].image.lut, diverging_table())


def test_without_the_true_map_one_pane_has_its_own_scale(map_page: MapPage) -> None:
    panes = map_page.map.panes
    before = panes.box
    choose(panes.headers["true"].menu, "Hide the true map")
    assert panes.keys == ("private",)
    result = map_page.answered()
    assert [s.key for s in result.surfaces] == ["private"]
    assert panes.top("private") == pytest.approx(float(result.surface("private").values.max()))
    (south, west, north, east), region = panes.box, map_page.region
    assert south < region.south < region.north < north
    assert west < region.west < region.east < east
    choose(map_page.map.add_menu, "True map")
    assert panes.keys == ("true", "private")
    assert panes.box == pytest.approx(before)


@pytest.mark.full
def test_six_panes_look_at_the_same_and_read_out_the_same_cell(map_page: MapPage) -> None:
    result = beside(map_page, SIX)
    panes = map_page.map.panes
    assert panes.keys == pane_keys(SIX)
    QApplication.processEvents()
    sizes = {(p.width(), p.height()) for p in panes.panes.values()}
    assert max(w for w, _ in sizes) == min(w for w, _ in sizes)
    assert max(h for _, h in sizes) - min(h for _, h in sizes) <= 1
    rows = {p.y() for p in panes.panes.values()}
    assert len(rows) == 2
    centre = (panes.camera.longitude, panes.camera.latitude)
    drag(panes.panes["error"], (0.5, 0.5), (0.6, 0.4))
    assert (panes.camera.longitude, panes.camera.latitude) != centre
    for pane in panes.panes.values():
        (west, east), (south, north) = pane.view.viewRange()
        assert (west + east) / 2 == pytest.approx(panes.camera.longitude)
        assert (south + north) / 2 == pytest.approx(panes.camera.latitude)

    pane, region = panes.panes["difference"], result.surface("private").region
    longitude, latitude = 0.5 * (region.west + region.east), 0.5 * (region.south + region.north)
    x, y = pane.to_pixels(longitude, latitude)
    none = Qt.MouseButton.NoButton
    send(pane.viewport(), QEvent.Type.MouseMove, QPoint(round(x), round(y)), none, none)
    map_page.qtbot.waitUntil(lambda: "difference " in panes.readout.text())
    said = panes.readout.text()
    for name in ("true", "private", "least-squares", "laplace", "error"):
        assert f"{name} " in said
    for other in panes.panes.values():
        assert other.marked == pane.marked
        assert other.marked_text
        assert other.marked_text.split()[0] in said


def test_every_private_pane_says_how_far_it_is_off(map_page: MapPage) -> None:
    beside(map_page, "true,laplace")
    map_page.qtbot.waitUntil(lambda: map_page.map.current_result.complete)
    slots = map_page.map.panes.slots
    for key, readout in (
        ("private", "emd_blocks_km"),
        ("private:laplace", "emd_blocks_km:laplace"),
    ):
        item = map_page.map.current_result.readout(readout)
        assert item.curator_only
        said = slots[key].caption.text()
        assert said.endswith(" km (this map)")
        assert float(said.split()[2]) == pytest.approx(item.value, rel=5e-3)
        assert slots[key].caption.isVisible()
    people, rows = (
        map_page.map.current_result.readout(key).value for key in ("users_used", "checkins")
    )
    assert slots["true"].caption.text() == f"{people:,.0f} people, {rows:,.0f} check-ins"


@pytest.mark.full
def test_closed_panes_leave_nothing_behind(map_page: MapPage) -> None:
    beside(map_page, SIX)
    dots = map_page.map.panes.panes["true"]
    map_page.session.set_value("beside", "", "heatmap")
    map_page.session.set_value("beside", "laplace,least-squares,difference", "heatmap")
    panes = map_page.map.panes
    stamps = {key: slot.stamp.text() for key, slot in map_page.map.panes.slots.items()}
    for key, pane in panes.panes.items():
        assert pane.dots.image is None or not pane.dots.isVisible()
        assert (key == "difference") == ("curator" in stamps[key])
    assert dots in [slot.pane for slot in panes.all_slots]
    assert len(panes.all_slots) == 6


def test_a_pane_left_out_for_lack_of_room_comes_back_as_it_was(map_page: MapPage) -> None:
    beside(map_page, "true,difference")
    page = map_page.map
    page.panes.set_keys(page.beside.keys[:2])  # as while a window is made smaller
    page.panes.set_keys(page.beside.keys)
    assert [pane.image.isVisible() for pane in page.panes.panes.values()] == [True] * 3


@pytest.mark.full
def test_a_session_keeps_its_panes(map_page: MapPage) -> None:
    map_page.session.set_value("beside", SIX, "heatmap")
    raw = json.loads(json.dumps(state_to_dict(map_page.session.state)))
    assert state_from_dict(raw).request_of("heatmap")["beside"] == SIX
    for request in raw["requests"]:
        del request["values"]["beside"]  # as written before panes could be chosen
    assert state_from_dict(raw).request_of("heatmap")["beside"] == "true"


def test_playing_shows_other_draws_until_any_input(map_page: MapPage) -> None:
    panes = map_page.map.panes
    beside(map_page, "true,laplace")
    map_page.qtbot.waitUntil(lambda: map_page.map.current_result.complete)
    rest = map_page.map.current_result
    text = map_page.session.undo_text
    seeds: list[int] = []
    map_page.map.play.drawn.connect(lambda result: seeds.append(result.request.seed))
    QTest.mouseClick(map_page.map.play_button, Qt.MouseButton.LeftButton)
    assert map_page.map.play_action.isChecked()
    map_page.qtbot.waitUntil(lambda: len(seeds) >= 4)
    assert seeds[:4] == [1, 2, 3, 4]
    assert not np.array_equal(
        panes.panes["private:laplace"].image.image, rest.surface("private:laplace").values
    )
    assert map_page.map.seed != 0
    QTest.keyClick(panes.panes["true"], Qt.Key.Key_Left)
    assert not map_page.map.play_action.isChecked()
    assert not map_page.map.play.playing
    assert map_page.map.seed == 0
    for key in ("private", "private:laplace"):
        np.testing.assert_array_equal(panes.panes[key].image.image, rest.surface(key).values)
    assert map_page.session.undo_text == text
    assert map_page.session.request("heatmap").seed == 0


def test_playing_is_stopped_by_its_button_and_by_a_change(map_page: MapPage) -> None:
    button = map_page.map.play_button
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert map_page.map.play.playing
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not map_page.map.play.playing
    map_page.map.play_action.setChecked(True)
    map_page.session.set_value("epsilon", 3.0, "heatmap")
    assert not map_page.map.play.playing
    assert map_page.answered().request["epsilon"] == 3.0
    assert map_page.map.play_action.isEnabled()


def test_the_window_comes_back_with_its_panes_and_exports_private_ones_alone(
    open_window, settled, qtbot, monkeypatch, tmp_path
) -> None:
    values = (*SMALL_MAP, ("beside", "true,laplace,difference,error"))
    first = open_window(study="heatmap", values=values)
    settled(first)
    keys = ("true", "private", "private:laplace", "difference", "error")
    assert first.workspaces["map"].panes.keys == keys
    first.close()
    second = open_window()
    second.resize(1280, 800)  # a screen may be too narrow for more than two
    settled(second)
    qtbot.waitUntil(lambda: second.workspaces["map"].panes.keys == keys)
    assert second.workspaces["map"].view_state().surfaces == keys
    for with_true, wanted in ((False, ["private", "private:laplace"]), (True, list(keys))):
        path = tmp_path / f"map-{with_true}.csv"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, p=path: (str(p), ""))
        second.menus.actions["export"].trigger()
        dialog = second.output.dialog
        assert "difference" in dialog.true_map.text()
        dialog.format.setCurrentIndex(dialog.format.findData("csv"))
        dialog.true_map.setChecked(with_true)
        with qtbot.waitSignal(second.output.controller.done):
            dialog.save.click()
        text = path.read_text(encoding="utf-8")
        rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
        assert [name for name in rows[0] if name not in ("row", "column", "lat", "lon")] == wanted
        assert read_recipe(path).get("private_only", False) is not with_true
        if not with_true:
            assert "off by" not in text
            assert "emd" not in text
            assert "Earth mover" not in text
