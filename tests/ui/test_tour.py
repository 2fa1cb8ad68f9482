"""The tour: its steps on the real window, by mouse and by keys, and what it leaves alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from explorer.ui.app.options import TOUR_STEPS
from explorer.ui.app.tour import STEPS
from tests.snapshots import check
from tests.ui.map_page import made_checkins
from tests.ui.test_geometry import moved, places


def card_of(window):
    return window.menus.tour.card


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="heatmap", start_page=True, values=(("resolution", "32"),))
    settled(window)
    return window


def test_the_steps_are_those_of_the_command_line() -> None:
    assert tuple(step.id for step in STEPS) == TOUR_STEPS
    assert len(TOUR_STEPS) == 6  # the start page says so


@pytest.mark.main_path
def test_each_step_is_ticked_when_it_is_done(window, settled, qtbot) -> None:
    offer = next(
        b for b in window.start.page.findChildren(QPushButton) if b.text().startswith("Take the")
    )
    window.resize(1280, 800)
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    tour, card = window.menus.tour, card_of(window)
    assert not window.start.shown
    assert card.isVisible()
    qtbot.waitUntil(lambda: tour.ticked == {"open"})  # the sample is open at the start
    texts, shown = [], window.rect()
    for step in STEPS:
        assert tour.step is step
        qtbot.wait(20)
        assert shown.contains(card.geometry())
        assert not card.geometry().intersects(tour.anchor())
        texts += [card.accessibleName(), card.text.text(), card.command.text(), card.run.text(), ""]
        if step.id not in tour.ticked:
            assert "✓" not in card.state.text()
        match step.id:
            case "drag":
                qtbot.mouseClick(card.run, Qt.MouseButton.LeftButton)
                row = window.parameters.row("epsilon")
                assert row.isAncestorOf(QApplication.focusWidget())
                assert "drag" not in tour.ticked  # nothing was changed yet
                row.slider.step(-5)
            case "guarantee":
                qtbot.mouseClick(card.run, Qt.MouseButton.LeftButton)
            case "find":
                qtbot.mouseClick(card.run, Qt.MouseButton.LeftButton)
                assert window.workspaces["map"].utility.action.isChecked()
            case "compare":
                qtbot.mouseClick(card.run, Qt.MouseButton.LeftButton)
                menu = window.workspaces["map"].add_menu
                qtbot.waitUntil(menu.isVisible)
                next(a for a in menu.actions() if a.isEnabled()).trigger()
                menu.close()
            case "export":
                settled(window)
                qtbot.mouseClick(card.run, Qt.MouseButton.LeftButton)
                qtbot.waitUntil(lambda: window.output.dialog is not None)
                window.output.dialog.reject()
        qtbot.waitUntil(lambda step=step: step.id in tour.ticked)
        assert "✓" in card.state.text()
        qtbot.mouseClick(card.forward, Qt.MouseButton.LeftButton)
    assert not tour.shown
    check(texts)


def test_keys_walk_through_the_tour_and_nothing_moves(window, qtbot) -> None:
    window.show_study("heatmap")
    qtbot.wait(50)
    before, value = places(window), window.session.request()["epsilon"]
    window.menus.action("tour").trigger()
    tour, card = window.menus.tour, card_of(window)
    after = {key: place for key, place in places(window).items() if key in before}
    assert moved(before, after) == []
    assert window.focusWidget() is card.forward
    for key, place in (("Right", 1), ("Return", 2), ("Left", 1), ("Left", 0), ("Left", 0)):
        QTest.keyClick(window.focusWidget(), getattr(Qt.Key, f"Key_{key}"))
        assert tour.place == place
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert not tour.shown
    assert window.focusWidget() is not card.forward
    window.menus.action("tour").trigger()  # again, from the first step
    assert (tour.shown, tour.place) == (True, 0)
    window.parameters.enter()
    QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert card.isAncestorOf(window.focusWidget())
    window.activity.cancel()
    qtbot.waitUntil(lambda: not window.activity.running)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not tour.shown
    assert window.session.request()["epsilon"] == value
    assert moved(before, places(window)) == []


def test_the_users_file_stays_open_unless_the_sample_is_asked_for(
    open_window, settled, qtbot, tmp_path
) -> None:
    path = made_checkins(tmp_path, rows=3000, users=100)
    window = open_window(study="itemwise", data=path)
    window.session.set_value("resolution", "16", "heatmap")
    qtbot.waitUntil(lambda: window.data.current is not None)
    window.start_tour()
    tour, card = window.menus.tour, card_of(window)
    assert window.session.state.study == "heatmap"
    assert path.name in card.text.text()
    assert "open" not in tour.ticked
    for _ in STEPS:
        card.forward.click()
    assert not tour.shown
    assert window.data.current.basename == path.name
    window.start_tour()
    card.run.click()
    qtbot.waitUntil(lambda: window.data.current.synthetic)
    qtbot.waitUntil(lambda: "open" in tour.ticked)


def test_the_card_points_at_a_tab_and_stays_inside_a_narrow_window(window, qtbot) -> None:
    window.start_tour("find")
    tabs = window.workspaces["map"].tools.tabs
    corner = tabs.mapTo(window, tabs.tabRect(1).topLeft())
    assert window.menus.tour.anchor().topLeft() == corner
    assert window.menus.tour.anchor().size() == tabs.tabRect(1).size()
    window.menus.tour.end()
    window.resize(1024, 720)
    for step in TOUR_STEPS:
        window.start_tour(step)
        qtbot.wait(30)
        assert window.rect().contains(card_of(window).geometry())
        assert window.menus.tour.anchor().isValid()
    window.menus.tour.end()
