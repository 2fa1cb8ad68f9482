"""Pictures of outputs and of budgets, in the theme's colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.release.mechanisms.base import Shown
from explorer.studies.base.numbers import nearest
from explorer.ui.base.theme import Theme

MAX_BARS = 12


class SmallPicture(QWidget):
    """Picture of an output: a map, a number or bars; empty if there is none.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.shown: Shown | None = None
        self._image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return a small square size."""
        return QSize(84, 84)

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return self.sizeHint()

    def show_output(self, shown: Shown | None) -> None:
        """Set the picture; None clears it."""
        self.shown, self._image = shown, QImage()
        if shown is not None and shown.grid is not None:
            top = float(shown.grid.max()) or 1.0
            levels = np.clip(shown.grid[::-1] / top * 255, 0, 255).astype(np.uint8)
            pixels = np.ascontiguousarray(colour_table(COLOUR_MAPS[0])[levels], np.uint8)
            rows, columns = pixels.shape[:2]
            form = QImage.Format.Format_RGB888
            self._image = QImage(pixels.tobytes(), columns, rows, 3 * columns, form).copy()
        self.setAccessibleName(_words(shown))
        self.setToolTip(_words(shown))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture."""
        painter, colours = QPainter(self), self._theme.chrome
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(box, QColor(self._theme.plot.axes))
        if self.shown is None:
            painter.setPen(QColor(colours.border))
            painter.drawRect(box)
        elif not self._image.isNull():
            side = min(box.width(), box.height())
            square = QRectF(0, 0, side, side)
            square.moveCenter(box.center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(square, self._image)
        elif len(self.shown.table) == 1:
            painter.setPen(QColor(colours.text))
            value = nearest(self.shown.table[0][1])
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, value)
        else:
            self._paint_bars(painter, box.adjusted(4, 4, -4, -4))
        painter.end()

    def _paint_bars(self, painter: QPainter, box: QRectF) -> None:
        assert self.shown is not None
        values = [max(value, 0.0) for _, value in self.shown.table[:MAX_BARS]]
        top, step = max(values, default=0.0) or 1.0, box.width() / max(len(values), 1)
        for place, value in enumerate(values):
            high = value / top * box.height()
            bar = QRectF(box.left() + place * step, box.bottom() - high, step - 2, high)
            painter.fillRect(bar, QColor(self._theme.plot.curves[0]))


def _words(shown: Shown | None) -> str:
    if shown is None:
        return "No rehearsal yet"
    if shown.grid is not None:
        return f"Rehearsed map of {shown.grid.shape[0]} × {shown.grid.shape[1]} cells"
    few = ", ".join(f"{name} {nearest(value)}" for name, value in shown.table[:4])
    return f"Rehearsed: {few}"


class BudgetBar(QWidget):
    """Bar of the budget: earlier releases, this one, and the rest.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.spent: Sequence[float] = ()
        self.asked = 0.0
        self.setFixedHeight(max(10, self.fontMetrics().height() * 3 // 4))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_shares(self, spent: Sequence[float], asked: float, text: str) -> None:
        """Set the shares of earlier releases and of this one."""
        self.spent, self.asked = spent, asked
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw one segment per release, separated by gaps."""
        painter, colours = QPainter(self), self._theme.chrome
        width, height, at = float(self.width()), float(self.height()), 0.0
        painter.fillRect(self.rect(), QColor(colours.border))
        over = sum(self.spent) + self.asked > 1 + 1e-12
        for share in self.spent:
            part = QRectF(at, 0, max(share * width - 1, 1), height)
            painter.setOpacity(0.6)
            painter.fillRect(part, QColor(colours.muted))
            at += share * width
        painter.setOpacity(1.0)
        part = QRectF(at, 0, min(self.asked * width, width - at), height)
        painter.fillRect(part, QColor(colours.bad if over else colours.accent))
        painter.end()
