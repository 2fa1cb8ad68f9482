"""Windows of 1024 pixels: the guarantee is a strip that opens over the plot."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest

from explorer.ui.panels.guarantee import RAIL_TITLE
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
    columns = window.sides.width(), window.guarantee.width()
    window.resize(1024, 720)
    qtbot.waitUntil(narrow.rail.isVisible)
    qtbot.waitUntil(lambda: narrow.rail.width() == 44)
    assert dock.isHidden()
    qtbot.waitUntil(lambda: window.sides.width() == columns[0])
    saved = window.saved_layout()
    odds, failing = window.guarantee.brief()
    assert odds
    assert failing == 0
    assert narrow.rail.odds.text().split() == odds.split()
    assert narrow.rail.failing.text() == ""
    assert odds in narrow.rail.accessibleName()
    assert 100 < plot.end_names.size().width() < plot.width() / 3
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
    qtbot.waitUntil(lambda: (window.sides.width(), window.guarantee.width()) == columns)
    dock.hide()
    window.restore_layout(saved)  # the saved layout contains it
    assert dock.isVisible()
    assert narrow.overlay.isHidden()
    assert narrow.rail.isHidden()


def test_the_strip_counts_failing_conditions_and_says_no_odds_where_none_are_known(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="linear-queries")
    settled(window)
    window.resize(1024, 720)
    rail = window.compact_layout.rail
    qtbot.waitUntil(rail.isVisible)
    before = rail.grab().toImage()
    assert window.guarantee.brief() == ("", 0)
    assert (rail.failing.text(), rail.odds.text()) == ("", "")
    assert "no odds" in rail.accessibleName()
    window.show_study("heatmap")  # a preview: one condition fails
    settled(window)
    odds, failing = window.guarantee.brief()
    assert failing > 0
    assert rail.failing.text() == f"✗ {failing}"
    assert rail.odds.text().split() == odds.split() != []
    title = QRect(0, 0, rail.width(), rail.fontMetrics().horizontalAdvance(RAIL_TITLE))
    after = rail.grab().toImage()
    assert after.copy(title) == before.copy(title), "the title stays where it is"
    colours = {after.pixel(x, y) for x in range(title.width()) for y in range(title.height())}
    assert len(colours) > 2, "and is written"
