"""Labels and tool buttons, with the properties that Qt's Python stubs take from setters only."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QToolButton


def styled_label(name: str, text: str = "", *, word_wrap: bool = False) -> QLabel:
    """Return a label with the object name by which the style sheet draws it."""
    label = QLabel(text, wordWrap=word_wrap)
    label.setObjectName(name)
    return label


def tool_button(text: str = "", tip: str = "", *, checkable: bool = False) -> QToolButton:
    """Return a tool button with its text and tooltip."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    return button
