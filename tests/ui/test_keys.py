"""Tabs, panes, guide and curves by the keyboard alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

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
    assert window.tabs.currentWidget() is window.tools["compare"]
    window.show_all()
    QTest.keyClick(window, Qt.Key.Key_1, CTRL)
    assert not window.start.shown
    assert window.tabs.currentWidget() is bounds

    def pane_of(widget):
        inside = (p for p in window.panes() if p is widget or p.isAncestorOf(widget))
        return next(inside, None)

    visited = []
    for _ in range(5):
        QTest.keyClick(window, Qt.Key.Key_F6)
        visited.append(pane_of(QApplication.focusWidget()))
    assert set(visited) == set(window.panes())
    assert visited[0] is visited[-1] or len(set(visited)) == 4
    QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert pane_of(QApplication.focusWidget()) is visited[-2]
    assert window.status_row.hint.isVisible()
    QTest.keyClick(window, Qt.Key.Key_Question)
    keys = next(d for d in window.findChildren(QDialog) if d.windowTitle() == "Keyboard and mouse")
    assert keys.isVisible()
    keys.close()
