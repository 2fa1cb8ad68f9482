"""Texts of a window or dialog as lines, for approved snapshots."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from PySide6.QtGui import QAction, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGroupBox,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QStatusBar,
    QTabBar,
    QTableWidget,
    QTextEdit,
    QWidget,
)

from explorer.ui.app.frame import StatusRow

_PLACE = r"(?:Theorems?|Lemma|Corollary|Proposition|Definition|Section|Figure|Table|Example|App\.) "
_NUMBER = re.compile(
    rf"({_PLACE}[A-Z]?\.?\d[\d.]*)|"
    r"[−-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+(?=\s?(?:ms|s|min|%|kB|MB|km)\b))"
    r"(?:×10[⁻⁰¹²³⁴-⁹]+)?"
)
"""A number that a place in a paper has, or a computed one."""
MAX_CHOICES = 15
"""Longer lists are data, such as time zones."""
_SILENT = (QLineEdit, QPlainTextEdit, QTextEdit)
"""What is typed in them is no text of the program."""


def plain(text: str) -> str:
    """Return a text without markup and mnemonics; computed numbers are ``#``."""
    if "<" in text and ">" in text:
        document = QTextDocument()
        document.setHtml(text)
        text = document.toPlainText()
    text = text.replace("&&", "\0").replace("&", "").replace("\0", "&")
    text = _NUMBER.sub(lambda found: found[1] or "#", text)
    return " ".join(text.split())


def texts(root: QWidget) -> list[str]:
    """Return every text of the visible widgets once, in the order of the widgets."""
    found: dict[str, None] = {}
    for widget in (root, *root.findChildren(QWidget)):
        if (widget is root or widget.isVisibleTo(root)) and widget.window() is root.window():
            for kind, text in _of_widget(widget):
                if re.search(r"\w", line := plain(text)):
                    found.setdefault(f"{kind}{line}")
    # What a screen reader or a tool tip repeats is listed once, what is elided in full only.
    bare = {line for line in found if not line.startswith("  ")}
    return [
        line
        for line in found
        if line.strip().partition(": ")[2] not in bare
        and not (line.endswith("…") and _is_elided(line, bare))
    ]


def _is_elided(line: str, others: Collection[str]) -> bool:
    """Whether another text is longer than a line with an ellipsis and begins with its words."""
    return any(len(other) > len(line) and other.startswith(line[:-1]) for other in others)


def menu_texts(menus: list[QMenu]) -> list[str]:
    """Return the entries of menus with their shortcuts and status tips."""
    lines = []
    for menu in menus:
        for action in menu.actions():
            if action.isSeparator() or not action.isVisible():
                continue
            keys = ", ".join(key.toString() for key in action.shortcuts())
            parts = (menu.title(), action.text(), keys, action.statusTip())
            lines.append(" | ".join(plain(part) for part in parts if part))
    return lines


def _of_widget(widget: QWidget) -> Iterator[tuple[str, str]]:
    if isinstance(widget, QStatusBar | StatusRow) or isinstance(widget.parentWidget(), StatusRow):
        return
    text = getattr(widget, "text", None)
    if callable(text) and not isinstance(widget, (*_SILENT, QAction)):
        value = text()
        if isinstance(value, str):
            yield "", value
    if isinstance(widget, QGroupBox | QMenu):
        yield "", widget.title()
    if isinstance(widget, QTabBar):
        for place in range(widget.count()):
            if widget.isTabVisible(place):
                yield "", widget.tabText(place)
                yield "  tip: ", widget.tabToolTip(place)
    if isinstance(widget, QComboBox):
        for place in range(min(widget.count(), MAX_CHOICES)):
            yield "  choice: ", widget.itemText(place)
    if isinstance(widget, QListWidget):
        for place in range(widget.count()):
            yield "", widget.item(place).text()
    if isinstance(widget, QAbstractItemView):
        yield from _of_view(widget)
    if isinstance(widget, QLineEdit):
        yield "  placeholder: ", widget.placeholderText()
    if widget.isWindow():
        yield "", widget.windowTitle()
    yield "  tip: ", widget.toolTip()
    yield "  name: ", widget.accessibleName()


def _of_view(view: QAbstractItemView) -> Iterator[tuple[str, str]]:
    """Yield headings of a table, and its first column if it is one of words."""
    model = view.model()
    if model is None or not isinstance(view, QTableWidget):
        return
    for column in range(view.columnCount()):
        item = view.horizontalHeaderItem(column)
        if item is not None:
            yield "  column: ", item.text()
            yield "  tip: ", item.toolTip()
