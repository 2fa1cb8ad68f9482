"""Glossary terms in labels: dotted, explained on hover and by Enter."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QLabel, QToolTip

from explorer.studies.glossary import TERMS
from explorer.ui.panels.start import TIP_WIDTH, show_glossed, term_tip


@pytest.fixture
def label(qtbot):
    label = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
    qtbot.addWidget(label)
    show_glossed(label, "Find the ε at which the <b>EMD</b> is small.")
    label.show()
    yield label
    QToolTip.hideText()


def test_terms_are_dotted_and_their_text_stays(label) -> None:
    (document,) = label.findChildren(QTextDocument)
    assert document.toPlainText() == "Find the ε at which the EMD is small."
    block = document.begin()
    dotted, pieces = [], block.begin()
    while not pieces.atEnd():
        form = pieces.fragment().charFormat()
        if form.underlineStyle() == QTextCharFormat.UnderlineStyle.DotLine:
            dotted.append(pieces.fragment().text())
        pieces += 1
    assert dotted == ["ε", "EMD"]


def test_a_term_is_explained_on_hover_and_by_enter(label, qtbot) -> None:
    label.linkHovered.emit("term:emd")
    assert TERMS["emd"].means[:40] in QToolTip.text()
    label.linkHovered.emit("")
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
    label.setFocus()
    qtbot.keyClick(label, Qt.Key.Key_Tab)  # to the first link
    qtbot.keyClick(label, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: TERMS["epsilon"].means[:40] in QToolTip.text())


@pytest.mark.parametrize("key", TERMS)
def test_no_tool_tip_is_wider_than_allowed(qtbot, key) -> None:
    tip = QLabel(term_tip(key), wordWrap=True)  # as Qt generates it for rich text
    qtbot.addWidget(tip)
    tip.setContentsMargins(6, 6, 6, 6)
    assert tip.sizeHint().width() <= TIP_WIDTH
