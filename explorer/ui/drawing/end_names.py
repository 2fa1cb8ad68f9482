"""Names of curves at their ends, in the margin right of a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from explorer.ui.drawing.curves import Curve

LEAST_APART = 14.0
"""Pixels between the middles of two names."""
WIDEST = 226
_STUB, _TEXT = 16.0, 21.0
"""Where, from the plot's edge, the coloured stub ends and the name begins."""
_AT_EDGE = 0.03
"""Share of the plot's width: a curve that ends further away has its name in the legend alone."""


@dataclass(frozen=True)
class EndName:
    """A curve's name, in bold letters or plain ones, the colour of its stub, and the curve."""

    name: str
    colour: str
    bold: bool
    curve: Curve


def apart(heights: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Return ascending heights at least so far apart, each as near as may be, within two ends."""
    placed = [max(h, low) for h in heights]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + least)
    bottom = high
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], bottom)
        bottom = placed[i] - least
    return placed


class EndNames(pg.GraphicsWidget):
    """As high as the plot beside it, and as wide as its names need."""

    def __init__(self, view: pg.ViewBox) -> None:
        super().__init__()
        self._view = view
        self._names: list[EndName] = []
        self._text = QColor()
        self._font = QGuiApplication.font()
        self._bold = QFont(self._font)
        self._bold.setBold(True)
        self._metrics = QFontMetricsF(self._bold)
        self._set_width(0)
        view.sigRangeChanged.connect(lambda *_: self.update())

    def set_colour(self, text: str) -> None:
        """Write in this colour."""
        self._text = QColor(text)
        self.update()

    def show_names(self, names: Sequence[EndName]) -> None:
        """Show these names; none take no room."""
        if [n.name for n in names] != [n.name for n in self._names]:
            widest = max((self._metrics.horizontalAdvance(n.name) for n in names), default=0.0)
            self._set_width(min(round(_TEXT + widest) + 4, WIDEST) if names else 0)
        self._names = list(names)
        self.update()

    def _set_width(self, width: int) -> None:
        if self.minimumWidth() != width or self.maximumWidth() != width:
            self.setMinimumWidth(width)
            self.setMaximumWidth(width)

    def placed(self) -> list[tuple[EndName, float, float]]:
        """Return names with the heights of their curves' ends and their own, from the top down."""
        (x0, x1), (y0, y1) = self._view.viewRange()
        height = self.size().height()
        ends = []
        for item in self._names:
            curve = item.curve
            inside = (curve.x >= x0) & (curve.x <= x1 + 1e-9 * abs(x1))
            inside &= (curve.y >= y0) & (curve.y <= y1)
            there = np.flatnonzero(inside)
            if there.size and curve.x[there[-1]] >= x1 - _AT_EDGE * (x1 - x0):
                ends.append((item, float(y1 - curve.y[there[-1]]) / (y1 - y0) * height))
        ends.sort(key=lambda end: end[1])
        half = self._metrics.height() / 2
        least = max(LEAST_APART, self._metrics.height())
        own = apart([at for _, at in ends], least, half, height - half)
        return [(item, at, y) for (item, at), y in zip(ends, own, strict=True)]

    def overlaps(self) -> bool:
        """Whether two names lie closer than they may: there is no room for all."""
        return any(b - a < LEAST_APART - 1e-6 for (*_, a), (*_, b) in pairwise(self.placed()))

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Draw."""
        if not self._names:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, high = self.size().width(), self._metrics.height()
        for item, at, y in self.placed():
            colour = QColor(item.colour)
            painter.setPen(QPen(colour, 1.0))
            painter.drawLine(QPointF(0, at), QPointF(6, y))
            painter.setPen(QPen(colour, 3.0))
            painter.drawLine(QPointF(6, y), QPointF(_STUB, y))
            painter.setPen(self._text)
            painter.setFont(self._bold if item.bold else self._font)
            room = width - _TEXT
            name = self._metrics.elidedText(item.name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(
                QRectF(_TEXT, y - high / 2, room, high),
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
                name,
            )
