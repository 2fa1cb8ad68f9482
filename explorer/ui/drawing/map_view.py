"""The view box of a map's pane."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt


class PaneView(pg.ViewBox):
    """A view box that leaves mouse and keys to its pane."""

    def __init__(self, pane: Any) -> None:
        super().__init__(enableMenu=False, enableMouse=False, defaultPadding=0)
        self._pane = pane
        self.setAcceptHoverEvents(True)

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom."""
        self._pane.wheel(event.scenePos(), event.delta())
        event.accept()

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pan, or draw the region."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.accept()
            self._pane.drag(event)
        else:
            event.ignore()

    def mouseClickEvent(self, event: Any) -> None:
        """Zoom in on a double click."""
        if event.double() and event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self._pane.wheel(event.scenePos(), 462)  # twice as large
