"""Table of all numbers and tables of a study, below the plot."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.privacy.core.bound import Role
from explorer.ui.bounds.legend import LEGEND_COLUMNS
from explorer.ui.bounds.plot_tables import STALE_MS
from explorer.ui.widgets.number_table import NumberTable
from tests.ui.test_access import check, mnemonics
from tests.ui.test_groups_and_files import marks, window  # noqa: F401  (fixtures)


@pytest.fixture
def below(window):  # noqa: F811
    return window.workspaces["bounds"].below


def test_all_numbers_stand_in_a_table_that_follows_the_slider(window, below, settled) -> None:  # noqa: F811
    assert [below.tabText(i) for i in range(below.count())] == [
        "Legend",
        "Numbers",
        "Budget of every level",
        "Counts",
    ]
    assert below.numbers.table.rowCount() == 0  # hidden tables are not filled
    below.setCurrentIndex(1)
    model = below.numbers.table
    result = window.current_result
    columns = [model.headerData(i, Qt.Orientation.Horizontal) for i in range(model.columnCount())]
    assert columns[:3] == ["ε", "≤ upper bound", "= exact error"]
    assert "≈ simulation, low" in columns
    assert model.rowCount() == len(np.unique(np.concatenate([s.x for s in result.series])))
    shown = np.array([np.nan if row[2] is None else row[2] for row in model.rows])
    exact = result.series[1]
    np.testing.assert_array_equal(
        shown[[x in exact.x for x in (r[0] for r in model.rows)]], exact.y
    )
    assert model.index(model.rowCount() - 1, 1).data() == "–"
    # A dash may mean either; the column's tool tip explains.
    tips = dict(zip(columns, model.tips, strict=True))
    assert re.search(
        r"\n✗ does not hold at x = .*: it holds for small ε only", tips["≤ upper bound"]
    )
    few = next(s for s in result.series if s.key == "dots").x.size
    assert f"\ncomputed at {few} of {model.rowCount()} x" in tips["≈ simulation"]
    window.session.set_quantity("many")
    settled(window)
    assert model.columnCount() == 13
    window.session.set_quantity("tradeoff")
    settled(window)
    assert model.rowCount() == 300  # points of a path have rows of their own


def test_the_studys_tables_are_tabs_with_what_holds_for_them(window, below, settled) -> None:  # noqa: F811
    below.setCurrentIndex(2)
    view = below.page("levels")
    assert view.table.index(0, 1).data() == "0.5"
    assert view.table.index(1, 1).data() == "–"
    assert below.currentWidget().note.text() == "Exact; ε per level."
    below.setCurrentIndex(3)
    assert below.page("counts").table.index(0, 0).data() == "1,000,000"
    window.session.set_study("shuffle-rdp")
    settled(window)
    assert below.count() == 2
    assert below.currentIndex() < 2


def test_ctrl_c_and_the_menu_copy_what_is_selected_or_all(window, below, qtbot) -> None:  # noqa: F811
    below.setCurrentIndex(2)
    view, clipboard = below.page("levels"), QGuiApplication.clipboard()
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "level\tε\twhy\ntop\t0.5\tall of it\nbottom\t\ta | b & c\n"
    words = [action.text().replace("&", "") for action in view.menu.actions()]
    assert words == ["Copy", "Copy as Markdown", "Copy as LaTeX", "Copy as CSV"]
    assert mnemonics([action.text() for action in view.menu.actions()]) == []
    view.menu.actions()[1].trigger()
    assert clipboard.text().startswith("**Budget of every level**")
    assert r"| bottom |  | a \| b & c |" in clipboard.text()
    view.menu.actions()[2].trigger()
    assert r"bottom &  & a | b \& c \\" in clipboard.text()
    view.selectionModel().select(view.table.index(0, 0), QItemSelectionModel.SelectionFlag.Select)
    view.selectionModel().select(view.table.index(1, 0), QItemSelectionModel.SelectionFlag.Select)
    view.menu.actions()[3].trigger()
    assert list(csv.reader(io.StringIO(clipboard.text()))) == [["level"], ["top"], ["bottom"]]
    assert below.copy_button.menu() is view.menu
    below.setCurrentIndex(0)
    of_legend = below.copy_button.menu()
    of_legend.aboutToShow.emit()  # its texts are written when the menu opens
    of_legend.actions()[3].trigger()
    head, *rows = csv.reader(io.StringIO(clipboard.text()))
    legend = window.workspaces["bounds"].legend
    assert head == list(LEGEND_COLUMNS)
    assert [row[0] for row in rows] == [
        legend.row(key).label.text()
        for key in legend.order(window.workspaces["bounds"].plot.hidden)
    ]
    assert all(row[1] for row in rows)


def test_the_menu_opens_by_mouse_and_by_key(window, below, qtbot) -> None:  # noqa: F811
    below.setCurrentIndex(1)
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), below.numbers.mapToGlobal(QPoint(5, 5))
    )
    QApplication.sendEvent(below.numbers, event)
    assert below.numbers.menu.isVisible()
    below.numbers.menu.close()
    below.numbers.setFocus()
    qtbot.keyClick(below.numbers, Qt.Key.Key_Tab)
    assert not below.numbers.hasFocus()  # Tab leaves the table


def test_the_tables_have_names(window, below) -> None:  # noqa: F811
    assert check(window) == []
    for place in (2, 3):
        below.setCurrentIndex(place)
        view = below.table_in_front()
        assert view.accessibleName() == below.tabText(place)
    assert below.page("levels").accessibleDescription() == "Exact; ε per level."


def test_tables_of_the_complete_answer_stay_while_a_slider_moves(window, below, settled) -> None:  # noqa: F811
    below.setCurrentIndex(2)
    view, complete = below.page("levels"), window.current_result
    coarse = replace(complete, tables=(), complete=False)
    below.show_result(coarse, "ε")
    assert below.page("levels") is view
    assert below.currentIndex() == 2
    assert view.isEnabled()  # no flicker for quick results
    QTest.qWait(STALE_MS + 100)
    for _ in range(20):  # longer on a busy machine
        if view.isEnabled():
            QTest.qWait(STALE_MS)
    assert not view.isEnabled()  # outdated
    assert not below.copy_button.isEnabled()
    below.show_result(complete, "ε")
    assert view.isEnabled()
    assert below.copy_button.isEnabled()
    below.show_result(replace(complete, tables=()), "ε")
    assert below.count() == 2  # a complete result without tables has none


def test_bounds_in_the_table_are_rounded_to_their_safe_side(qtbot) -> None:
    view = NumberTable("numbers")
    qtbot.addWidget(view)
    row = [0.5, 1.73205081, 1.73205081, 1.73205081]
    view.set_table(
        ["x", "upper", "lower", "exact"], [row], roles=[None, Role.UPPER, Role.LOWER, Role.EXACT]
    )
    shown = [view.table.index(0, place).data() for place in range(4)]
    assert shown == ["0.5", "1.733", "1.732", "1.732"]
    assert "1.733" in view.formatted("markdown")
    assert view.formatted("csv").splitlines()[-1] == "0.5,1.73205081,1.73205081,1.73205081"
