"""Links to errata and the errata page."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel

from explorer.studies.errata import errata
from explorer.ui.base.styled import link_labels, with_titles
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from tests.ui.access import check


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="unbounded")
    settled(window)
    return window


def page_of(window):
    return window.menus.errata.page


def at_top(page) -> str:
    """Heading at the top of the visible part."""
    return page.text.cursorForPosition(page.text.viewport().rect().topLeft()).block().text()


def test_the_page_has_all_entries_is_linked_to_and_searched(window, qtbot) -> None:
    window.menus.actions["errata"].trigger()
    page = page_of(window)
    qtbot.waitUntil(page.isVisible)
    told = page.text.toPlainText()
    for item in errata().values():
        assert f"{item.label} · {item.title}" in told
        assert item.right in told
    assert "Newer versions" in told
    assert check(page) == []
    for label in ("shuf-A4", "coord-B11", "heat-7"):
        assert QDesktopServices.openUrl(QUrl(f"errata:{label}"))
        qtbot.waitUntil(lambda label=label: at_top(page_of(window)).startswith(f"{label} ·"))
    window.menus.errata.open()
    page = page_of(window)
    qtbot.keyClicks(page.search, "clones comparator")
    told = page.text.toPlainText()
    assert "shuf-B2" in told
    assert "heat-1 " not in told
    assert f"of {len(errata())} entries" in told
    window.menus.errata.open("heat-1")
    assert page.search.text() == ""
    assert at_top(page).startswith("heat-1 ·")


def test_closed_windows_follow_no_links(open_window, settled) -> None:
    first = open_window(study="unbounded")
    settled(first)
    second = open_window(study="unbounded")
    settled(second)
    first.close()
    assert QDesktopServices.openUrl(QUrl("errata:shuf-A4"))
    assert page_of(second) is not None
    assert page_of(first) is None
    second.close()


def test_labels_in_text_are_links_and_nothing_else_is(qtbot) -> None:
    assert link_labels("a < b (errata shuf-A4)") == (
        "a &lt; b (errata <a href='errata:shuf-A4'>shuf-A4</a>)"
    )
    assert link_labels("SHA-256, sub-A4") == "SHA-256, sub-A4"
    text = FixedSizeText()
    qtbot.addWidget(text)
    inside = text.findChild(QLabel)
    text.setText("first < line\nsee shuf-A4")
    assert inside.textFormat() == Qt.TextFormat.RichText
    assert inside.openExternalLinks()
    assert "first &lt; line<br>" in inside.text()
    assert text.text() == "first < line\nsee shuf-A4"
    text.setText("plain <b>")
    assert inside.textFormat() == Qt.TextFormat.PlainText
    assert inside.text() == "plain <b>"


def test_tooltips_say_what_their_labels_are_about() -> None:
    assert with_titles("Theorem 1; errata shuf-A4").splitlines() == [
        "Theorem 1; errata shuf-A4",
        "shuf-A4: The range of the order λ",
    ]
    assert with_titles("Theorem 1") == "Theorem 1"
