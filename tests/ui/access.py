"""Accessibility checks of windows and dialogs: names, tab order, mnemonics."""

from __future__ import annotations

import re
from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QLabel,
    QLineEdit,
    QTabBar,
    QWidget,
)

from explorer.ui.widgets.number_slider import NumberSlider

INSIDE = (QAbstractSpinBox, QComboBox, QDockWidget, QTabBar)
"""Compound Qt widgets whose inner parts are skipped."""


def controls(root: QWidget) -> list[QWidget]:
    """Return the interactive widgets of a window, without the parts of compound Qt widgets."""
    return [
        w
        for w in root.findChildren(QWidget)
        if w.window() is root.window()
        and isinstance(w, (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, NumberSlider))
        and not isinstance(w.parentWidget(), INSIDE)
        and not w.objectName().startswith("qt_")
        and type(w).__name__ != "QTableCornerButton"
    ]


def bare(button: QAbstractButton) -> str:
    """Return the text of a button without the mark of its shortcut."""
    return re.sub("&(.)", r"\1", button.text())


def name_of(widget: QWidget) -> str:
    """Return the accessible name of a widget."""
    said = widget.accessibleName()
    if not said and isinstance(widget, QAbstractButton):
        said = widget.text()
    if not said:
        labels = widget.window().findChildren(QLabel)
        said = next((label.text() for label in labels if label.buddy() is widget), "")
    return said.strip()


def check(root: QWidget) -> list[str]:
    """Return the accessibility problems of a window or dialog."""
    wrong = []
    for widget in controls(root):
        what = f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}"
        if not re.search(r"\w", name_of(widget)):
            wrong.append(f"{what}: no name (“{name_of(widget)}”)")
        if not widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not _reached_by_arrows(widget):
            wrong.append(f"{what} ({name_of(widget)}): not reached by Tab")
    return wrong


def _reached_by_arrows(widget: QWidget) -> bool:
    """Return whether a widget is one of several exclusive ones that is reached by Tab."""
    around = widget.parentWidget()
    if not isinstance(widget, QAbstractButton) or not widget.isCheckable() or around is None:
        return False
    options = Qt.FindChildOption.FindDirectChildrenOnly
    group = widget.group()
    alike = group.buttons() if group else around.findChildren(type(widget), options=options)
    reached = [w for w in alike if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    return len(reached) == 1 and reached[0].isChecked()


def mnemonics(texts: list[str]) -> list[str]:
    """Return the mnemonics that are used by more than one text."""
    letters = [m[1].lower() for t in texts if (m := re.search(r"&(\w)", t.replace("&&", "")))]
    return [letter for letter, count in Counter(letters).items() if count > 1]
