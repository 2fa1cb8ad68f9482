"""Tabs outside the first picture are built soon after it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.view_state import ViewState
from explorer.ui.base.lazy_tabs import IdleTasks, LazyTabs, TabFactory
from explorer.ui.base.startup_tuning import MAKE_AHEAD
from tests.ui.small_map import SMALL_MAP

made_ahead = pytest.mark.skipif(not MAKE_AHEAD, reason="PRIVACY_EXPLORER_NO_TUNING is set")


class Page(QWidget):
    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        self.fields = [QLineEdit() for _ in range(2)]
        for field in self.fields:
            column.addWidget(field)


@made_ahead
def test_only_the_workspace_in_front_is_made_at_once(open_window, qtbot) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP, ahead=True)
    assert list(window.workspaces) == ["map"]
    titles = ["Bounds", "Map", "Compare", "Sweep", "Figures", "Release"]
    assert [window.tabs.tabText(i) for i in range(window.tabs.count())] == titles
    qtbot.waitUntil(lambda: list(window.workspaces) == ["bounds", "map"])
    qtbot.waitUntil(lambda: len(window.tools) == 4)
    assert window.pages.currentWidget() is window.workspaces["map"]
    assert window.tabs.count() == 6
    assert window.tools["figures"].entries == []  # no study is imported
    assert window.isActiveWindow()  # none of them was a window meanwhile


@made_ahead
def test_a_plot_in_front_needs_no_map(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification", ahead=True)
    assert list(window.workspaces) == ["bounds"]
    settled(window)
    qtbot.waitUntil(lambda: "map" in window.workspaces)
    window.session.set_study("heatmap")
    assert window.pages.currentWidget() is window.workspaces["map"]
    assert settled(window).surfaces
    window.data_panel.show_report()
    window.data_panel.dialog("report").close()


def test_columns_are_asked_for_before_there_is_a_map(open_window, qtbot, tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("user,lat,lon\n" + "".join(f"{i % 9},{i}.5,{i}.25\n" for i in range(20)))
    window = open_window(study="amplification")
    window.files.open_data(path, ask=True)
    qtbot.waitUntil(lambda: "map" in window.workspaces)  # built for the request
    dialog = window.data_panel.dialog("mapping")
    qtbot.waitUntil(dialog.isVisible)
    dialog.close()


@pytest.mark.parametrize("study", ["heatmap", "amplification"])
def test_a_page_made_ahead_belongs_to_the_window_before_its_tab_does(open_window, study) -> None:
    window = open_window(study=study)
    for tabs in (window.workspaces, window.tools):
        for piece in tabs.pieces()[:-1]:  # the last step would insert the page
            piece()
        assert all(page.window() is window for page in tabs.all_built())
        assert len(tabs.all_built()) > len(tabs)


def test_a_tab_chosen_before_its_page_is_made(open_window) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    bar = window.tabs
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(2).center())
    assert window.tool is not None
    assert window.pages.currentWidget() is window.tools["compare"]
    assert window.tools["compare"].isVisible()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    assert window.session.state.study != "heatmap"
    actions = window.workspaces["bounds"].view_actions()
    assert all(action.isVisible() for action in actions)
    assert set(actions) <= set(window.menus.view_menu.actions())


def test_a_map_made_late_looks_where_it_looked_before(open_window, settled, qtbot) -> None:
    first = open_window(study="heatmap", values=SMALL_MAP)
    settled(first)
    first.workspaces["map"].apply_view_state(ViewState(theme="light", show_cities=False))
    first.session.set_study("amplification")
    first.close()
    second = open_window(study="amplification")
    assert "map" not in second.workspaces
    second.close()  # before the map is built: its stored view is not lost
    third = open_window(study="amplification")
    assert not third.workspaces["map"].view_state().show_cities


def test_the_tab_key_comes_to_all_of_a_late_page_and_leaves_it(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    before, after, tabs, stack = QPushButton(), QPushButton(), QTabBar(), QStackedWidget()
    pages = LazyTabs(tabs, stack, {"a": TabFactory("A", Page), "b": TabFactory("B", Page)})
    for widget in (before, tabs, stack, after):
        column.addWidget(widget)
    assert (list(pages), pages.key_at(0), pages.key_at(1)) == ([], "a", "b")
    page = pages["a"]
    assert pages["a"] is page
    assert stack.currentWidget() is page
    assert "b" not in pages
    window.show()
    before.setFocus()
    visited = []
    for _ in range(5):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        visited.append(window.focusWidget())
    assert visited.index(page.fields[0]) + 1 == visited.index(page.fields[1])
    assert after in visited
    assert before in visited


@made_ahead
def test_idle_work_is_done_piece_by_piece_and_can_be_left(qtbot) -> None:
    tabs, stack, done = QTabBar(), QStackedWidget(), []
    for widget in (tabs, stack):
        qtbot.addWidget(widget)
    making = TabFactory("A", Page, (lambda: done.append("read"),))
    pages = LazyTabs(tabs, stack, {"a": making})
    idle = IdleTasks(pages.pieces(), tabs)
    idle.begin()
    idle.begin()
    qtbot.waitUntil(lambda: done == ["read"])
    assert "a" not in pages
    idle.stop()
    qtbot.wait(100)
    assert pages.all_built() == []
    pages.pieces()[1]()
    assert "a" not in pages  # built but not inserted: must be closed with the window too
    assert pages.all_built() == [pages["a"]]


def test_idle_work_waits_while_it_is_held(qtbot) -> None:
    parent, done, held = QWidget(), [], [True]
    qtbot.addWidget(parent)
    idle = IdleTasks(
        [lambda: done.append("made")], parent, after_ms=0, between_ms=1, held=lambda: held[0]
    )
    idle.begin()
    qtbot.wait(20)
    assert done == []
    held[0] = False
    qtbot.waitUntil(lambda: done == ["made"])


def test_imports_leave_out_what_is_not_needed() -> None:
    code = """
import linecache, sys
from explorer.ui.base.startup_tuning import tune_imports, tune_plots
tune_imports()
tune_plots()
import pyqtgraph, PySide6.QtWidgets
from pyqtgraph.Qt import QtWidgets
print([name for name in linecache.cache if "pyqtgraph" in name])
print("QCalendarWidget" in vars(QtWidgets))
print(QtWidgets.QCalendarWidget is PySide6.QtWidgets.QCalendarWidget)
print("QCalendarWidget" in dir(PySide6.QtWidgets))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["[]", "False", "True", "True"]
