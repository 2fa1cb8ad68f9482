"""Mouse drags in panes and sliders, one event after another."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from explorer.ui.map.pane import MapPane

APART_MS = 15
"""pyqtgraph handles at most one move every 10 ms."""


class Hand:
    """Sends press, move and release of the left button at fractional pixels."""

    def __init__(self, widget: QWidget) -> None:
        self._view = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
        self._down = False

    def press(self, x: float, y: float) -> None:
        self._send(QEvent.Type.MouseButtonPress, x, y)

    def move(self, x: float, y: float) -> None:
        self._send(QEvent.Type.MouseMove, x, y)

    def release(self, x: float, y: float) -> None:
        self._send(QEvent.Type.MouseButtonRelease, x, y)

    def _send(self, kind: QEvent.Type, x: float, y: float) -> None:
        at = QPointF(x, y)
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        moved = kind == QEvent.Type.MouseMove
        self._down = self._down if moved else kind == QEvent.Type.MouseButtonPress
        button, held = none if moved else left, left if self._down else none
        event = QMouseEvent(
            kind, at, self._view.mapToGlobal(at), button, held, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(self._view, event)


def middle_of_region(pane: MapPane) -> tuple[float, float]:
    """Return the pixel at the centre of a pane's region."""
    region = pane.region
    assert region is not None
    return pane.to_pixels((region.west + region.east) / 2, (region.south + region.north) / 2)


def drag_region(pane: MapPane, step: QPointF, steps: int) -> Iterator[tuple[float, float]]:
    """Move the region in steps of pixels; yields after each step and after the release."""
    hand, (x, y) = Hand(pane), middle_of_region(pane)
    hand.move(x, y)
    hand.press(x, y)
    for _ in range(steps):
        x, y = x + step.x(), y + step.y()
        QTest.qWait(APART_MS)
        hand.move(x, y)
        yield x, y
    hand.release(x, y)
    yield x, y
