"""Tabs, areas, value line and curves by keyboard alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from tests.ui.dragging import APART_MS

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="amplification")
    window.activateWindow()
    settled(window)
    return window


def test_tabs_panes_and_the_list_of_keys(window, qtbot) -> None:
    bounds = window.workspaces["bounds"]
    QTest.keyClick(window, Qt.Key.Key_3, CTRL)
    assert window.pages.currentWidget() is window.tools["compare"]
    window.parameters.row("n").field.setFocus()
    for _ in range(window.tabs.count()):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab, CTRL)
        assert window.pages.currentIndex() == window.tabs.currentIndex()
    assert window.tool is window.tools["compare"]
    window.show_all()
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    assert not window.start.shown
    assert window.pages.currentWidget() is bounds

    def pane_of(widget):
        inside = (p for p in window.focus_areas() if p is widget or p.isAncestorOf(widget))
        return next(inside, None)

    visited = []
    for _ in range(5):
        QTest.keyClick(window, Qt.Key.Key_F6)
        visited.append(pane_of(QApplication.focusWidget()))
    assert set(visited) == {area for area in window.focus_areas() if area.isVisible()}
    assert visited[0] is visited[-1]
    assert visited.index(visited[0], 1) == 4
    QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert pane_of(QApplication.focusWidget()) is visited[-2]
    assert window.status_row.hint.isVisible()
    QTest.keyClick(window, Qt.Key.Key_Question)
    keys = next(d for d in window.findChildren(QDialog) if d.windowTitle() == "Keyboard and mouse")
    assert keys.isVisible()
    keys.close()


def test_the_plot_is_read_by_keys_alone(window, settled, qtbot) -> None:
    bounds, session = window.workspaces["bounds"], window.session
    plot, guide, legend = bounds.plot, bounds.guide, bounds.legend
    sweep = session.request().sweep
    at = session.request()[sweep.key]
    plot.setFocus()
    with qtbot.waitSignal(guide.announcer.message) as said:
        QTest.keyClick(plot, Qt.Key.Key_Down)
    drawn = legend.order(plot.hidden)
    assert guide.key == plot.chosen == drawn[0]
    for part in (legend.row(drawn[0]).label.text(), legend.row(drawn[0]).value.text()):
        assert part in said.args[0]
    assert legend.row(drawn[0]).label.font().bold()
    widths = [plot.style_of(key).width for key in drawn]
    assert widths[0] > max(widths[1:])
    with qtbot.waitSignal(guide.announcer.message):
        QTest.keyClick(plot, Qt.Key.Key_Down)
    assert guide.key == drawn[1]

    before = legend.row(drawn[1]).value.text()
    with qtbot.waitSignal(guide.announcer.message) as said:
        QTest.keyClick(plot, Qt.Key.Key_Right)
    settled(window)
    assert legend.row(drawn[1]).value.text() != before
    assert before not in said.args[0]
    moved = session.request()[sweep.key]
    session.undo()
    assert session.request()[sweep.key] == at
    window.parameters.row(sweep.key).slider.step(1.0)
    assert session.request()[sweep.key] == moved
    guide.end_gesture()
    for _ in range(3):
        QTest.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert moved < session.request()[sweep.key] < moved * 1.05
    guide.end_gesture()
    session.undo()  # a series of key presses is one change
    assert session.request()[sweep.key] == moved
    settled(window)
    assert legend.words_of(drawn[1]) in plot.accessibleDescription()
    assert bounds.answer.number.text() in plot.accessibleDescription()
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert not plot.chosen


def test_a_click_in_the_legend_chooses_and_its_menu_does_the_rest(window, qtbot) -> None:
    bounds = window.workspaces["bounds"]
    legend, key = bounds.legend, bounds.legend.front[1]
    qtbot.mouseClick(legend.row(key).role, Qt.MouseButton.LeftButton)
    assert bounds.plot.chosen == key
    legend.row(key).check.setFocus()
    QTest.keyClick(legend.row(key).check, Qt.Key.Key_Return)
    assert not bounds.plot.chosen
    menu = {action.text(): action for action in legend.menu_for(key).actions()}
    wanted = {
        "Claim this bound",
        "Show alone, or all again\tS",
        "Hide",
        "Pin this curve",
        "Copy value",
        "Copy source",
        "Add to Compare",
    }
    assert wanted <= set(menu)
    menu["Add to Compare"].trigger()
    (entry,) = window.session.state.comparison
    assert entry.key == key


def test_escape_takes_a_drag_back_and_the_pointer_moves_nothing_more(window, settled) -> None:
    session, left = window.session, Qt.MouseButton.LeftButton
    before, undo = session.request(), session.undo_text
    slider, plot = window.parameters.row("n").slider, window.workspaces["bounds"].plot
    line = plot.view.mapViewToScene(QPointF(plot.value_line.value(), plot.view.viewRange()[1][0]))
    held = (
        (slider, slider.handle().toPoint()),
        (plot.viewport(), plot.mapFromScene(line) - QPoint(0, 30)),
    )
    for widget, at in held:
        QTest.mouseMove(widget, at)
        QTest.mousePress(widget, left, pos=at)
        for by in (10, 20, 40):
            QTest.qWait(APART_MS)
            QTest.mouseMove(widget, at + QPoint(by, 0))
        assert session.request() != before
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert session.request() == before
        QTest.qWait(APART_MS)
        QTest.mouseMove(widget, at + QPoint(60, 0))
        QTest.mouseRelease(widget, left, pos=at + QPoint(60, 0))
        assert (session.request(), session.undo_text) == (before, undo)
        settled(window)


def test_axis_titles_are_menus(window, qtbot, settled) -> None:
    bounds, session = window.workspaces["bounds"], window.session
    plot, (y, x) = bounds.plot, (bounds.plot.titles.y, bounds.plot.titles.x)
    assert plot.rect().contains(x.geometry())
    assert plot.rect().contains(y.geometry())
    asked = session.request()
    assert (y.current, x.current) == (asked.quantity, asked.sweep.key)

    def choose_last() -> None:
        menu = QApplication.activePopupWidget()
        assert menu is x.menu()
        other = next(a for a in menu.actions() if a.data() not in (None, asked.sweep.key))
        menu.setActiveAction(other)
        QTest.keyClick(menu, Qt.Key.Key_Return)

    plot.setFocus()
    QTimer.singleShot(0, choose_last)
    QTest.keyClick(plot, Qt.Key.Key_X)
    assert session.request().sweep.key != asked.sweep.key
    settled(window)
    was_log = plot.y_log
    y.log.trigger()
    assert plot.y_log is not was_log
    y.range.trigger()
    assert bounds.y_axis.range.isVisible()
    high = bounds.y_axis.range.high
    high.selectAll()
    top = plot.data_ranges()[1][1]
    QTest.keyClicks(high, f"{top / 2:.3g}")
    QTest.keyClick(high, Qt.Key.Key_Return)
    assert plot.data_ranges()[1][1] == pytest.approx(top / 2, rel=0.01)
    assert plot.user_view
    bounds.y_axis.range.close()
