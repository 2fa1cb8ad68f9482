"""Tab reaches every control of every workspace in order; names, values and focus are told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMainWindow, QWidget
from shiboken6 import Shiboken

from explorer.studies.base.numbers import format_number
from explorer.ui.app.tab_order import focus_chain
from explorer.ui.gallery import Card
from explorer.ui.widgets.number_slider import AccessibleSlider, NumberSlider
from tests.ui.access import controls, name_of


def look(window: QWidget, widget: QWidget) -> QImage:
    """Return the picture of a widget with its edges."""
    QApplication.processEvents()
    box = widget.rect().translated(widget.mapTo(window, QPoint(0, 0)))
    return window.grab(box.adjusted(-2, -2, 2, 2)).toImage()


def shows_focus(window: QWidget, widget: QWidget) -> bool:
    """Whether the focused widget looks different without the focus."""
    if isinstance(widget, QLineEdit):
        widget.deselect()
    focused = look(window, widget)
    widget.clearFocus()
    other = look(window, widget)
    widget.setFocus(Qt.FocusReason.OtherFocusReason)
    return focused != other


def walk(window: QWidget) -> list[QWidget]:
    """Press Tab until it comes back; return where the focus was, each once and visibly."""
    visited: list[QWidget] = []
    for _ in range(300):
        focus = QApplication.focusWidget()
        if focus is not None and focus not in visited:
            visited.append(focus)
            assert shows_focus(window, focus), focus
        elif focus is not None and focus is not visited[-1]:
            return visited
        QTest.keyClick(focus or window, Qt.Key.Key_Tab)
    raise AssertionError("Tab does not come back")


def check(window: Any) -> list[QWidget]:
    """Walk through the page in front and check every control; return the walk."""
    visited = walk(window)
    there = [w for w in controls(window) if w.isVisible() and w.isEnabled()]
    there += [w for w in window.findChildren(AccessibleSlider) if w.isVisible() and w.isEnabled()]
    by_arrows = [w for w in there if isinstance(w, Card)]  # one card is a stop of Tab
    by_tab = [w for w in there if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    missing = [name_of(w) for w in by_tab if w not in visited]
    assert missing == []
    assert {w for w in there if w not in by_tab} <= {*by_arrows, *_unchecked(there)}
    for widget in visited:
        told = QAccessible.queryAccessibleInterface(widget)
        name = told.text(QAccessible.Text.Name)
        if isinstance(widget, QComboBox):  # Qt tells the choice as the name, and relates the label
            name = name_of(widget)
        assert re.search(r"\w", name), widget
        assert not re.search(r"&\w", name), name
        if isinstance(widget, AccessibleSlider):
            value = told.valueInterface()
            number, least, most, _step = widget.accessible_range()
            assert value.currentValue() == number
            assert (value.minimumValue(), value.maximumValue()) == (least, most)
            assert told.text(QAccessible.Text.Value) == widget.accessible_text()
    return visited


def _unchecked(widgets: list[QWidget]) -> list[QWidget]:
    """Return the buttons of exclusive groups that arrow keys reach from the checked one."""
    return [w for w in widgets if w.property("autoExclusive") and not w.property("checked")]


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="shuffle-rdp", size=(1280, 800))
    window.activateWindow()
    settled(window)
    return window


def test_tab_goes_from_parameters_over_answer_and_plot_to_the_menus(window, settled) -> None:
    bounds = window.workspaces["bounds"]
    QTest.keyClick(window, Qt.Key.Key_F6)
    first = window.parameters.row("eps0")
    assert QApplication.focusWidget() is first.field
    visited = check(window)
    assert visited[:3] == [first.field, first.slider, first.run]
    legend = bounds.legend
    order = [
        *window.parameters.row("T").stops(),
        window.parameters.section("more").heading,
        window.presets.button,
        bounds.answer.claim,
        *bounds.row.buttons,
        bounds.plot,
        *(legend.row(key).check for key in legend.front),
        legend.more,
        bounds.below.tabBar(),
        bounds.below.import_button,
        window.guarantee.in_full,
        *(row.box for row in window.guarantee.offers.values()),
        *(fold.heading for fold in window.guarantee.folds.values()),
        window.guarantee.copy,
        window.tabs,
    ]
    order = [w for w in order if w.isVisible() and w.isEnabled()]
    assert len(order) > 15
    places = [visited.index(w) for w in order]
    assert places == sorted(places)
    assert visited[-1].objectName() == "search"
    QTest.keyClick(first.field, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is visited[-1]
    # Sliders tell their number with its unit.
    slider = window.parameters.row("T").slider
    told = QAccessible.queryAccessibleInterface(slider)
    assert told.text(QAccessible.Text.Value) == "100,000 rounds"
    told.valueInterface().setCurrentValue(2000)
    assert window.session.request()["T"] == 2000
    settled(window)
    assert told.text(QAccessible.Text.Value) == "2,000 rounds"
    for row in window.parameters.findChildren(NumberSlider):
        text = QAccessible.queryAccessibleInterface(row).text(QAccessible.Text.Value)
        assert text.startswith(format_number(row.number, digits=4)), text


def test_every_control_of_a_tool_is_reached(window, qtbot) -> None:
    window.workspaces["bounds"].add_to_comparison()
    for tool in ("compare", "sweep", "figures", "release"):
        window.show_tool(tool)
        if tool == "figures":
            qtbot.waitUntil(lambda: not window.tool.listing)
        qtbot.wait(100)  # a page may focus its first field
        window.tabs.setFocus(Qt.FocusReason.TabFocusReason)
        inside = [w for w in check(window) if window.tool.isAncestorOf(w)]
        assert len(inside) > 4, tool


def test_every_control_of_the_start_page_is_reached(window) -> None:
    window.show_all()
    visited = check(window)
    page = window.start.page
    assert visited[0] is page.first
    there = [w for w in controls(page) if w.isVisible()]
    assert set(there) <= set(visited)


def test_every_control_of_map_data_and_utility_is_reached(open_window, settled, qtbot) -> None:
    window = open_window(study="heatmap", values=(("resolution", "16"),), size=(1280, 800))
    window.activateWindow()
    settled(window)
    page = window.workspaces["map"]
    QTest.keyClick(window, Qt.Key.Key_F6)
    visited = check(window)
    assert visited[0] is window.parameters.row("epsilon").field
    places = [
        visited.index(w) for w in (next(iter(page.panes.panes.values())), window.guarantee.in_full)
    ]
    assert places == sorted(places)
    window.sides.setCurrentIndex(1)
    window.sides.tabBar().setFocus()
    assert any(window.data_panel.isAncestorOf(w) for w in check(window))
    page.utility.action.setChecked(True)
    view = page.utility.view
    measure = view.parts.measure  # the distance in km takes long
    measure.setCurrentIndex(measure.findData("similarity"))
    measure.activated.emit(measure.currentIndex())
    qtbot.waitUntil(lambda: view.answer is not None and view.answer.finished)
    qtbot.waitUntil(lambda: not window.activity.running)
    window.tabs.setFocus()
    assert any(view.isAncestorOf(w) for w in check(window))


@pytest.mark.parametrize("place", [0, 1])
def test_menus_outlive_what_is_deleted_in_the_tab_chain(qtbot, place) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    fields = [QLineEdit(window), QLineEdit(window)]
    recent = window.menuBar().addMenu("File").addMenu("Recent")
    entry = recent.addAction("one.csv")
    fields.insert(1, QLineEdit(window))
    assert [w for w in focus_chain(window) if w in fields] == [fields[0], fields[2], fields[1]]
    fields[place].deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert [Shiboken.isValid(w) for w in (fields[place], window, recent)] == [False, True, True]
    assert entry.text() == "one.csv"
