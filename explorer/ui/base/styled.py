"""Labels and tool buttons, with the properties that Qt's Python stubs take from setters only."""

from PySide6.QtWidgets import QLabel, QToolButton


def styled_label(name: str, text: str = "", *, word_wrap: bool = False) -> QLabel:
    """Return a label with the object name by which the style sheet draws it."""
    label = QLabel(text, wordWrap=word_wrap)
    label.setObjectName(name)
    return label


def tool_button(
    text: str, tip: str = "", name: str = "", *, quiet: bool = False, checkable: bool = False
) -> QToolButton:
    """Return a tool button; `name` is for screen readers, a quiet one has no frame."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(name)
    button.setProperty("quiet", quiet)
    button.setCheckable(checkable)
    return button
