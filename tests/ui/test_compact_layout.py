"""Windows of 1024 pixels: the guarantee is a strip that opens over the plot."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.access import check


def test_the_guarantee_is_a_strip_where_there_is_little_room(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    dock, narrow, plot = (
        window.docks["guarantee"],
        window.compact_layout,
        window.workspaces["bounds"].plot,
    )
    assert dock.isVisible()
    assert narrow.rail.isHidden()
    window.resize(1024, 720)
    qtbot.waitUntil(narrow.rail.isVisible)
    qtbot.waitUntil(lambda: narrow.rail.width() == 44)
    assert dock.isHidden()
    saved = window.saved_layout()
    odds, failing = window.guarantee.brief()
    assert narrow.rail.odds.text().split() == odds.split()
    assert narrow.rail.failing.text() == f"✗ {failing}"
    assert odds in narrow.rail.accessibleName()
    assert plot.end_names.size().width() == 0
    assert check(window) == []

    plot.setFocus()
    QTest.keyClick(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert narrow.overlay.isVisible()
    assert window.guarantee.isVisible()
    assert window.guarantee.isAncestorOf(window.focusWidget())
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert narrow.overlay.isHidden()
    assert plot.hasFocus()
    qtbot.mouseClick(narrow.rail, Qt.MouseButton.LeftButton)
    assert narrow.overlay.isVisible()
    window.resize(1280, 800)
    qtbot.waitUntil(dock.isVisible)
    assert dock.widget() is window.guarantee
    dock.hide()
    window.restore_layout(saved)  # the saved layout contains it
    assert dock.isVisible()
    assert narrow.overlay.isHidden()
    assert narrow.rail.isHidden()
