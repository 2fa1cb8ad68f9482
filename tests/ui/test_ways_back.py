"""Undo in fields, presets, Compare, low screens and long headers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from explorer.studies.registry import get_study, study_infos
from explorer.ui.dialogs.help_window import page_html
from explorer.ui.panels.presets import follow_preset
from explorer.ui.widgets.number_table import NumberTable
from tests.ui.small_map import SMALL_MAP

CONTROL = Qt.KeyboardModifier.ControlModifier
STUDY = "amplification"
LOWEST_PX = 720
SCALE = 1.25


@pytest.fixture
def window(open_window, settled):
    window = open_window(study=STUDY)
    settled(window)
    return window


def test_undo_in_a_field_takes_back_the_step_once_it_is_entered(window, qtbot) -> None:
    field = window.parameters.row("eps0").field
    before = window.session.request()["eps0"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "2.5")
    qtbot.keyClick(field, Qt.Key.Key_Z, CONTROL)
    assert field.text() != "2.5"  # while typing, undo affects the text
    assert window.session.undo_text == ""
    field.selectAll()
    qtbot.keyClicks(field, "2.5")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.session.request()["eps0"] == 2.5
    qtbot.keyClick(field, Qt.Key.Key_Z, CONTROL)
    assert window.session.request()["eps0"] == before
    assert float(field.text()) == before
    qtbot.keyClick(field, Qt.Key.Key_Y, CONTROL)
    assert window.session.request()["eps0"] == 2.5
    assert field.text() == "2.5"


def test_undo_never_brings_back_what_was_typed_of_the_same_number(window, qtbot) -> None:
    field = window.parameters.row("eps0").field
    window.session.set_value("eps0", 2.5)
    before, shown = window.session.request(), field.text()
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, shown)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.session.request() == before
    assert not field.isUndoAvailable()
    qtbot.keyClick(field, Qt.Key.Key_Z, CONTROL)
    assert window.session.request() != before


def test_a_preset_keeps_neither_pins_nor_target(window, settled) -> None:
    bounds = window.workspaces["bounds"]
    bounds.solving.set_shown(True)
    bounds.solve_bar.target.set_number(0.123)
    bounds.solve_bar.target_set.emit(0.123)
    window.session.pin()
    window.session.set_value("eps0", 0.7)
    settled(window)
    bounds.solving.set_shown(False)
    before = window.session.state
    follow_preset(window.session, get_study(STUDY).presets[1])
    settled(window)
    assert window.session.state.pins == ()
    bounds.solving.set_shown(True)
    assert bounds.solve_bar.target.number != 0.123
    window.session.undo()
    assert window.session.state == before


def test_a_question_chosen_in_compare_leaves_it(window) -> None:
    for way in ("menu", "page"):
        window.tabs.setCurrentIndex(window.tabs.count() - 1)
        assert window.tool is not None
        if way == "menu":
            next(a for a in window.findChildren(QAction) if a.data() == STUDY).trigger()
        else:
            window.show_all()
            window.start.page.asked.emit(f"study:{STUDY}")
        assert window.tool is None, way
        assert window.pages.currentWidget() is window.workspaces["bounds"], way


def test_no_menu_begins_or_ends_with_a_line_or_has_two_in_a_row(window) -> None:
    for menu in window.menuBar().findChildren(QMenu):
        lines = [a.isSeparator() for a in menu.actions() if a.isVisible()]
        if lines:
            assert (lines[0], lines[-1]) == (False, False), menu.title()
        assert (True, True) not in pairwise(lines), menu.title()


def test_formulas_to_come_are_not_shown_as_they_are_typed() -> None:
    for info in study_infos():
        assert "\\frac" not in page_html(get_study(info.id))
    assert "\\frac" in page_html(get_study("shuffle-rdp"), as_typed=True)


def test_a_long_header_begins_with_its_beginning_and_is_whole_in_its_tip(qtbot) -> None:
    table = NumberTable("numbers")
    qtbot.addWidget(table)
    name = "an upper bound with " + "very " * 40 + "long words"
    table.set_table([name, "b"], [[1.0, 2.0]], tips=["its source", ""])
    header = table.horizontalHeader()
    assert table.columnWidth(0) < header.fontMetrics().horizontalAdvance(name)
    assert header.textElideMode() is Qt.TextElideMode.ElideRight
    assert header.defaultAlignment() & Qt.AlignmentFlag.AlignLeft
    tip = table.table.headerData(0, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert tip == f"{name}\nits source"


@pytest.mark.parametrize("study", ["shuffle-rdp", "histograms"])
def test_all_of_a_busy_window_fits_on_a_low_screen(open_window, study, qtbot) -> None:
    """At 125 % a screen of 720 px has 576 for the window; only notes need more, a few lines each.

    Pages behind the one in front need no height.
    """
    window = open_window(study=study)
    for controller in window.answers.values():
        controller.cancel()  # a result would bring notes of its own
    qtbot.waitUntil(lambda: not window.busy)
    bounds = window.workspaces["bounds"]
    bounds.solving.set_shown(True)
    words = bounds.preset_note, bounds.notes
    bounds.preset_note.words.setText("What a paper claims and what comes out here. " * 30)
    bounds.notes.setText("Something holds only if something else does. " * 30)
    for part in words:
        part.show()
    areas = [part.parent().parent() for part in words]
    assert all(part.isVisible() for part in words)
    window.resize(window.minimumSizeHint().width(), 100)
    qtbot.waitUntil(lambda: all(area.verticalScrollBar().maximum() > 0 for area in areas))
    window.resize(1280, 1200)
    qtbot.waitUntil(lambda: all(area.verticalScrollBar().maximum() == 0 for area in areas))
    for key in ("heatmap", study):
        window.show_study(key)
    for part in words:
        part.hide()
    window.resize(1280, 100)
    qtbot.wait(200)  # a layout that is still to come may need more
    assert bounds.solve_bar.isVisible()
    assert window.height() * SCALE <= LOWEST_PX


def test_the_status_bar_says_complete_after_the_way_back(open_window, settled, qtbot) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    for study in ("unbounded", "heatmap", "unbounded"):
        window.show_study(study)
        settled(window)
        qtbot.waitUntil(lambda: window.answer_state.text() == "Complete")
