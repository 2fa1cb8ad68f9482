"""Known terms within rich text: dotted underline, and what they mean on hover or Enter."""

import html
from functools import partial

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QCursor, QDesktopServices, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from explorer.studies.glossary import TERMS, mark_terms

SCHEME = "term"
WIDEST = 360
"""Of a tool tip, in device-independent pixels."""
_MARK = f"<a href='{SCHEME}:{{key}}' style='color:palette(text)'>{{word}}</a>"


def term_tip(key: str) -> str:
    """Return the tool tip of a term as rich text, at most `WIDEST` wide with its frame."""
    term = TERMS[key]
    words = f"<b>{html.escape(term.name, False)}</b>: {html.escape(term.means, False)}"
    return f"<table width='{WIDEST - 30}'><tr><td>{words}</td></tr></table>"


def show_glossed(label: QLabel, rich: str) -> None:
    """Show rich text in a label, the first occurrence of each known term explained by itself.

    Other links in it stay, and go where `QDesktopServices` sends them.
    """
    label.setText(mark_terms(rich, _MARK))
    if not label.property("glossed"):
        label.setProperty("glossed", True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        label.setOpenExternalLinks(False)
        label.linkHovered.connect(partial(_hovered, label))
        label.linkActivated.connect(partial(_followed, label))
    label.sizeHint()  # the text becomes a document when it is first measured
    for document in label.findChildren(QTextDocument):
        _dot(document)


def _hovered(label: QWidget, address: str) -> None:
    scheme, _, key = address.partition(":")
    if scheme == SCHEME and key in TERMS:
        QToolTip.showText(QCursor.pos(), term_tip(key), label)
    else:
        QToolTip.hideText()


def _followed(label: QWidget, address: str) -> None:
    """Explain a term, below the text where the pointer is elsewhere; open any other link."""
    scheme, _, key = address.partition(":")
    if scheme != SCHEME:
        QDesktopServices.openUrl(QUrl(address))
    elif key in TERMS:
        at = QCursor.pos()
        if not label.rect().contains(label.mapFromGlobal(at)):
            at = label.mapToGlobal(QPoint(0, label.height()))
        QToolTip.showText(at, term_tip(key), label)


def _dot(document: QTextDocument) -> None:
    """Draw the underlines of terms as dots, which HTML has no word for."""
    dotted = QTextCharFormat()
    dotted.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    block = document.begin()
    while block.isValid():
        pieces = block.begin()
        while not pieces.atEnd():
            piece = pieces.fragment()
            if piece.charFormat().anchorHref().startswith(f"{SCHEME}:"):
                cursor = QTextCursor(document)
                cursor.setPosition(piece.position())
                cursor.setPosition(
                    piece.position() + piece.length(), QTextCursor.MoveMode.KeepAnchor
                )
                cursor.mergeCharFormat(dotted)
            pieces += 1
        block = block.next()
