"""The main window on the sample: studies, tabs, undo, theme, layout, closing while busy."""

from __future__ import annotations

import sys
import threading
import time

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from explorer.studies.registry import study_info
from explorer.ui.base import theme as themes
from tests.ui.small_map import SMALL_MAP
from tests.waiting import time_limit
from tests.warm_answers import map_request


@pytest.fixture
def shuffle(open_window, settled):
    window = open_window(study="shuffle-rdp")
    settled(window)
    return window


@pytest.mark.main_path
def test_opens_with_the_sample(shuffle) -> None:
    assert shuffle.data.current is not None
    assert shuffle.data.current.synthetic
    assert not shuffle.data_state.text()  # this result uses no check-ins
    assert shuffle.answer_state.text().startswith("Complete")
    asked = shuffle.session.request("heatmap").with_value("beside", "")
    # Else every window of the tests would compute what one has computed for all.
    assert asked == map_request().with_value("beside", "")


@pytest.mark.main_path
def test_dragging_a_slider_moves_the_curve_and_the_sentence(shuffle, qtbot) -> None:
    plot = shuffle.workspaces["bounds"].plot
    said, curve = shuffle.guarantee.sentence.text(), plot.curves["theorem1"].y.copy()
    slider = shuffle.parameters.row("eps0").slider
    middle = slider.height() // 2
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 2, middle))
    qtbot.mouseMove(slider, QPoint(slider.width() // 3, middle))
    qtbot.waitUntil(lambda: not (plot.curves["theorem1"].y == curve).all())
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 3, middle))
    qtbot.waitUntil(lambda: shuffle.guarantee.sentence.text() != said)
    assert shuffle.session.undo_text == "change ε₀"
    assert shuffle.menus.actions["undo"].text() == "&Undo change ε₀"
    shuffle.menus.actions["undo"].trigger()
    assert not shuffle.menus.actions["undo"].isEnabled()
    qtbot.waitUntil(lambda: shuffle.guarantee.sentence.text() == said)
    shuffle.menus.actions["redo"].trigger()
    qtbot.waitUntil(lambda: shuffle.guarantee.sentence.text() != said)


def test_tabs_header_and_menu_choose_the_study_together(shuffle, settled, qtbot) -> None:
    shuffle.tabs.setCurrentIndex(1)
    assert shuffle.session.state.study == "heatmap"
    assert shuffle.question.name.text() == "Heatmaps"
    assert shuffle.sides.isTabVisible(1)
    assert "Synthetic" in shuffle.data_state.text()
    qtbot.waitUntil(lambda: shuffle.current_result is not None)
    qtbot.waitUntil(shuffle.badge.isVisible)
    assert shuffle.badge.text()
    shuffle.show_study("shuffle-rdp")
    assert shuffle.question.question.text() == study_info("shuffle-rdp").question
    assert shuffle.tabs.currentIndex() == 0
    assert not shuffle.sides.isTabVisible(1)
    assert not shuffle.badge.isVisible()
    assert "shuffle" in shuffle.windowTitle().lower()
    shuffle.menus.study_actions.actions()[0].trigger()
    assert shuffle.tabs.currentIndex() == 1
    for _ in range(3):
        shuffle.session.undo()
    assert shuffle.session.state.study == "shuffle-rdp"
    assert shuffle.tabs.currentIndex() == 0


def test_the_theme_reaches_everything(shuffle) -> None:
    for name, chrome in (("dark", themes.DARK), ("light", themes.LIGHT)):
        shuffle.menus.actions[f"theme-{name}"].trigger()
        assert QApplication.palette().window().color().name() == chrome.panel
        plot = shuffle.workspaces["bounds"].plot
        assert plot.backgroundBrush().color().name() == shuffle.theme.plot.axes
        pens = [curve.line.pen.color().name() for curve in plot.curves.values()]
        assert set(pens) <= set(shuffle.theme.plot.curves)
        assert shuffle.workspaces["bounds"].view_state().theme == name


def _contrast(a: str, b: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("c", [themes.LIGHT, themes.DARK], ids=["light", "dark"])
def test_writing_stands_out_from_its_ground(c) -> None:
    """WCAG 2.1 AA requires 4.5 for text of ordinary size,"""
    pairs = [(c.text, g) for g in (c.window, c.panel, c.field, c.accent_soft, c.warn_back)]
    pairs += [(c.muted, g) for g in (c.window, c.panel, c.field)]
    pairs += [(c.good, c.panel), (c.bad, c.panel), (c.bad, c.field), (c.warn, c.warn_back)]
    pairs += [(c.good, c.good_back), (c.text, c.good_back), (c.text, c.border)]
    pairs += [(c.on_accent, c.accent), (c.accent, c.accent_soft)]
    assert {pair: _contrast(*pair) for pair in pairs if _contrast(*pair) < 4.5} == {}
    # and 3 for outlines of fields and focus.
    edges = [(e, g) for e in (c.edge, c.accent) for g in (c.field, c.panel, c.window)]
    assert {pair: _contrast(*pair) for pair in edges if _contrast(*pair) < 3} == {}


def test_menus_offer_what_is_in_front_and_do_it(shuffle, qtbot) -> None:
    for key, workspace in shuffle.workspaces.items():
        for action in workspace.view_actions():
            assert action.isVisible() == (key == "bounds") or action.isSeparator()
    for menu_action in shuffle.menuBar().actions():
        for action in menu_action.menu().actions():
            assert action.text() or action.isSeparator()
    texts = [a.text() for m in shuffle.menuBar().actions() for a in m.menu().actions() if a.text()]
    assert len(texts) == len(set(texts))
    keys = [
        key.toString()
        for m in shuffle.menuBar().actions()
        for a in m.menu().actions()
        for key in a.shortcuts()
        if a.shortcutContext() is Qt.ShortcutContext.WindowShortcut
    ]
    assert len(keys) == len(set(keys))
    session = shuffle.session
    session.set_value("eps0", 3.0)
    session.set_value("k", 77)
    shuffle.menus.actions["reset"].trigger()
    assert (session.request()["eps0"], session.request()["k"]) == (2.0, 1000)
    session.undo()
    assert (session.request()["eps0"], session.request()["k"]) == (3.0, 77)
    shuffle.docks["guarantee"].close()
    assert not shuffle.docks["guarantee"].isVisible()
    shuffle.menus.actions["layout"].trigger()
    assert shuffle.docks["guarantee"].isVisible()
    for key in ("keys", "about"):
        shuffle.menus.actions[key].trigger()
        tops = QApplication.topLevelWidgets()
        (dialog,) = [w for w in tops if w.isVisible() and w.isWindow() and w.parent()]
        assert dialog.windowTitle()
        dialog.close()
    shuffle.close()
    shuffle.close()  # twice is harmless


@pytest.mark.main_path
def test_dropping_check_ins_opens_them(shuffle, settled, qtbot, tmp_path) -> None:
    path = tmp_path / "few.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    path.write_text("\n".join(rows) + "\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(400, 300),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(shuffle.data.loaded):
        shuffle.dropEvent(event)
    assert shuffle.data.current.basename == "few.txt"
    assert shuffle.session_store.recent[0] == str(path)
    assert "few.txt" in [a.text() for a in shuffle.menus.recent.actions()]


def test_a_file_that_is_not_there_is_reported_in_a_sentence(shuffle, qtbot, tmp_path) -> None:
    with qtbot.waitSignal(shuffle.files.recognised):
        shuffle.files.open_any(tmp_path / "nothing.csv")
    qtbot.waitUntil(shuffle.banner.isVisible)
    assert "nothing.csv" in shuffle.banner.text.text()
    shuffle.banner.shut.click()
    assert not shuffle.banner.isVisible()


@pytest.mark.parametrize("after_ms", [0, 120])
def test_closing_during_work_leaves_nothing(open_window, qtbot, after_ms) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    qtbot.wait(after_ms)
    window.session.set_study("shuffle-rdp")
    window.session.set_value("eps0", 1.5)
    began = time.monotonic()
    window.close()
    assert time.monotonic() - began < time_limit(5)
    names = {t.name for t in threading.enumerate()}
    assert not {n for n in names if n.startswith(("answers", "opening", "export"))}


def test_two_hundred_repaints_leave_none_alone(shuffle, qtbot) -> None:
    """Some versions of PySide lose references to None while painting, and then abort."""
    plot = shuffle.workspaces["bounds"].plot
    plot.viewport().repaint()
    before = sys.getrefcount(None)
    for _ in range(200):
        plot.viewport().repaint()
    assert sys.getrefcount(None) > before - 50


def test_the_theme_follows_the_system_until_one_is_chosen(own_looks) -> None:
    theme = themes.Theme("system")
    heard: list[str] = []
    theme.changed.connect(lambda: heard.append(theme.name))
    theme._system_changed(Qt.ColorScheme.Dark)
    assert (theme.name, heard) == ("dark", ["dark"])
    theme.choose("light")
    theme._system_changed(Qt.ColorScheme.Light)
    theme._system_changed(Qt.ColorScheme.Dark)
    assert (theme.name, heard) == ("light", ["dark", "light"])
    theme.choose("system")
    assert heard == ["dark", "light", "dark"]
    with pytest.raises(ValueError, match="pink"):
        theme.choose("pink")


def test_a_region_asked_for_at_the_start_is_in_the_middle_of_the_view(open_window, settled) -> None:
    from explorer.geography.region import Region

    region = Region(40.70, -73.95, 40.80, -73.85)
    window = open_window(study="heatmap", values=SMALL_MAP, region=region)
    settled(window)
    south, west, north, east = window.workspaces["map"].view_state().map_box
    assert window.current_result.request.selection.region == region
    assert abs((south + north) / 2 - 40.75) < 0.01
    assert abs((west + east) / 2 + 73.90) < 0.01
    assert north - south < 1
