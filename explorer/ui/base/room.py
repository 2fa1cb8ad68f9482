"""How much room a window has."""

from PySide6.QtWidgets import QWidget

NARROW = 1024
"""Pixels of a window up to which there is no room for three columns."""


def is_narrow(widget: QWidget) -> bool:
    """Return whether the window around a widget is so narrow."""
    return widget.window().width() <= NARROW
