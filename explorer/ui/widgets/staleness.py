"""Marks outdated results: a chip in the corner, and reduced opacity.

The chip lies over a corner, outside any layout, so that nothing moves when it appears.
"""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGraphicsOpacityEffect, QLabel, QWidget

OPACITY = 0.45
_SPINNER_PX, _TURN_MS = 14, 80


def dim(widget: QWidget, dimmed: bool) -> None:
    """Reduce or restore a widget's opacity; unlike disabling this keeps focus and pointer."""
    if dimmed and widget.graphicsEffect() is None:
        effect = QGraphicsOpacityEffect(widget)
        effect.setOpacity(OPACITY)
        widget.setGraphicsEffect(effect)
    elif not dimmed and widget.graphicsEffect() is not None:
        widget.setGraphicsEffect(None)  # type: ignore[arg-type]  # None takes the effect away


class Spinner(QWidget):
    """Turning arc that takes its place also while it is hidden."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(_SPINNER_PX, _SPINNER_PX)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Computing")
        self._angle = 0
        self._turns = QTimer(self)
        self._turns.setInterval(_TURN_MS)
        self._turns.timeout.connect(self._turn)
        self.hide()

    def show_busy(self, busy: bool) -> None:
        """Show and turn, or hide."""
        if busy == self.isHidden():
            self.setVisible(busy)
            (self._turns.start if busy else self._turns.stop)()

    def _turn(self) -> None:
        self._angle = (self._angle - 30) % 360
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw three quarters of a circle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().placeholderText().color(), 2))
        painter.drawArc(self.rect().adjusted(2, 2, -2, -2), 16 * self._angle, 16 * 270)
        painter.end()


LAST_ANSWER = "This is the last answer there was, not one to the present question."
UPDATING = "updating…"
_MARGIN = 8


class StaleMark(QLabel):
    """Chip that is hidden while the result matches the present request.

    Parameters
    ----------
    over : QWidget
        Widget in whose upper right corner it lies.
    texts : sequence of QWidget
        Widgets to dim.
    view : pyqtgraph.ViewBox, optional
        Curves to dim.
    """

    def __init__(
        self, over: QWidget, texts: Sequence[QWidget], view: pg.ViewBox | None = None
    ) -> None:
        super().__init__(over, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setObjectName("notes")
        self._texts, self._view = texts, view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def mark(self, stale: bool, updating: bool) -> None:
        """Mark the result as stale, or not; `updating` if a new one is on the way."""
        self.setText(UPDATING if updating else LAST_ANSWER)
        self.setWordWrap(not updating)
        self._place()
        self.setVisible(stale)
        if self._view is not None:
            self._view.setOpacity(OPACITY if stale else 1.0)
        for part in self._texts:
            dim(part, stale)

    def _place(self) -> None:
        # Not cached: Python's wrapper of a scroll area's viewport may not outlive the call.
        over = self.parentWidget()
        space = (over.width() if over is not None else 0) - 2 * _MARGIN
        width = min(self.fontMetrics().horizontalAdvance(self.text()) + 28, space)
        wrapped = self.heightForWidth(width)
        self.resize(width, wrapped if wrapped > 0 else self.sizeHint().height())
        self.move(_MARGIN + space - width, _MARGIN)
        self.raise_()
