"""Labels of plots: text items, names at the ends of curves, values at the pointer, swatches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QGraphicsItem, QLabel, QSizePolicy, QStyleOptionGraphicsItem, QWidget

from explorer.figures.style import SeriesStyle
from explorer.studies.base.study import Mark
from explorer.ui.plot.curves import DOT_SIZE, PATTERNS, SYMBOLS, Curve, pen_of
from explorer.ui.widgets.fixed_size_text import smaller_font

_MARGIN = 4.0


class PlotLabel(pg.GraphicsObject):
    """One line of text of constant size in pixels.

    A `pyqtgraph.TextItem` lays out a document for each new text and draws a polygon below it, which
    takes as long as four curves.

    Parameters
    ----------
    view : ViewBox
        View in whose coordinates it is placed.
    depth : float
        Stacking order.
    anchor : (float, float)
        Point of the label placed at its position: (0, 0) is its upper left corner.
    """

    def __init__(self, view: pg.ViewBox, depth: float, anchor: tuple[float, float]) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)
        self.setZValue(depth)
        self._text = ""
        self._anchor = anchor
        self._font = QGuiApplication.font()
        self._metrics = QFontMetricsF(self._font)
        self._area = QRectF()
        self._start = QPointF()
        self._colour, self._ground = QColor(), QBrush()
        view.addItem(self, ignoreBounds=True)

    def text(self) -> str:
        """Return the text."""
        return self._text

    def set_look(self, colour: str, ground: QColor) -> None:
        """Set text and background colours."""
        self._colour, self._ground = QColor(colour), QBrush(ground)
        self.update()

    def set_text(self, text: str) -> None:
        """Set the text."""
        if text != self._text:
            self._text = text
            self._measure()

    @property
    def anchor(self) -> tuple[float, float]:
        """Point of the label placed at its position."""
        return self._anchor

    def set_anchor(self, anchor: tuple[float, float]) -> None:
        """Set the anchor."""
        if anchor != self._anchor:
            self._anchor = anchor
            self._measure()

    def _measure(self) -> None:
        metrics = self._metrics
        width = metrics.horizontalAdvance(self._text) + 2 * _MARGIN
        height = metrics.height() + 2 * _MARGIN
        self.prepareGeometryChange()
        self._area = QRectF(-self._anchor[0] * width, -self._anchor[1] * height, width, height)
        self._start = self._area.topLeft() + QPointF(_MARGIN, _MARGIN + metrics.ascent())
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle in pixels relative to the position."""
        return self._area

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the label."""
        painter.fillRect(self._area, self._ground)
        painter.setFont(self._font)
        painter.setPen(self._colour)
        painter.drawText(self._start, self._text)


POINTER_GAP_PX = 24
"""Distance in pixels between pointer and table."""
_CROSSHAIR_MARGIN = 8
_ON_NEAREST = 1000
"""Weight of a point of the nearest curve below the table."""


class Crosshair:
    """Two lines through the pointer and a table of values in the emptiest corner.

    Parameters
    ----------
    view : ViewBox
    parent : QWidget
        Widget that contains the table.
    """

    def __init__(self, view: pg.ViewBox, parent: QWidget) -> None:
        self._view = view
        self._lines = [pg.InfiniteLine(angle=angle, movable=False) for angle in (90, 0)]
        for line in self._lines:
            line.setZValue(20)
            line.hide()
            view.addItem(line, ignoreBounds=True)
        self.table = QLabel(parent, textFormat=Qt.TextFormat.RichText)
        self.table.setObjectName("readout")
        self.table.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.table.hide()

    def set_colour(self, colour: str) -> None:
        """Set the colour of the lines."""
        for line in self._lines:
            line.setPen(pg.mkPen(colour, width=1, style=Qt.PenStyle.DotLine))

    def show(
        self,
        at: QPoint,
        x: float,
        y: float,
        text: str,
        curves: Sequence[tuple[np.ndarray, np.ndarray]] = (),
        nearest: int | None = None,
    ) -> None:
        """Show the crosshair at a point of the view (and of the parent widget) with a text.

        Parameters
        ----------
        at : QPoint
        x, y : float
        text : str
        curves : sequence of (ndarray, ndarray)
            Points of the curves in view coordinates, which the table avoids,
        nearest : int or None
            above all those of this curve.
        """
        self._lines[0].setPos(x)
        self._lines[1].setPos(y)
        for line in self._lines:
            line.show()
        self.table.setText(text)
        self.table.adjustSize()
        self.table.move(self._place(at, self.table.size(), curves, nearest))
        self.table.show()

    def _place(
        self,
        at: QPoint,
        size: QSize,
        curves: Sequence[tuple[np.ndarray, np.ndarray]],
        nearest: int | None,
    ) -> QPoint:
        """Return the upper left corner of the emptiest position away from the pointer."""
        area = self._view.sceneBoundingRect()
        (x0, x1), (y0, y1) = self._view.viewRange()
        room = area.toRect().adjusted(
            _CROSSHAIR_MARGIN, _CROSSHAIR_MARGIN, -_CROSSHAIR_MARGIN, -_CROSSHAIR_MARGIN
        )
        right, low = room.right() - size.width(), room.bottom() - size.height()
        places = [
            QPoint(room.left(), room.top()),
            QPoint(right, room.top()),
            QPoint(room.left(), low),
            QPoint(right, low),
        ]
        points = [
            (
                area.left() + (xs - x0) / (x1 - x0) * area.width(),
                area.top() + (y1 - ys) / (y1 - y0) * area.height(),
            )
            for xs, ys in curves
        ]

        def covered(place: QPoint) -> int:
            box = QRect(place, size)
            return sum(
                (_ON_NEAREST if number == nearest else 1)
                * int(
                    np.count_nonzero(
                        (px >= box.left())
                        & (px <= box.right())
                        & (py >= box.top())
                        & (py <= box.bottom())
                    )
                )
                for number, (px, py) in enumerate(points)
            )

        free = [
            p
            for p in places
            if not QRect(p, size)
            .adjusted(-POINTER_GAP_PX, -POINTER_GAP_PX, POINTER_GAP_PX, POINTER_GAP_PX)
            .contains(at)
        ]
        if free:
            return min(free, key=covered)
        # The table is nearly as large as the plot: beside the pointer, on the larger side.
        around = self.table.parentWidget()  # the view may have been replaced meanwhile
        assert around is not None
        wide, high = around.width(), around.height()
        left = (
            at.x() + POINTER_GAP_PX if at.x() < wide / 2 else at.x() - POINTER_GAP_PX - size.width()
        )
        return QPoint(left, min(max(at.y() - size.height() // 2, 4), high - size.height() - 4))

    def hide(self) -> None:
        """Hide."""
        for line in self._lines:
            line.hide()
        self.table.hide()


MIN_DISTANCE_PX = 14.0
"""Vertical distance in pixels between two names."""
MAX_TABLE_WIDTH = 226
_STUB, _TEXT = 16.0, 21.0
"""Distances in pixels from the plot's edge to the end of the stub and to the name."""
_AT_EDGE = 0.03
"""Share of the plot's width; curves that end further inside have no name here."""


@dataclass(frozen=True)
class EndName:
    """Name of a curve, whether bold, colour of its stub, and the curve."""

    name: str
    colour: str
    bold: bool
    curve: Curve


def apart(heights: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Return ascending heights with a minimum distance, as near to the given ones as possible."""
    placed = [max(h, low) for h in heights]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + least)
    bottom = high
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], bottom)
        bottom = placed[i] - least
    return placed


class EndNames(pg.GraphicsWidget):
    """Column of names, as high as the plot and as wide as the names require."""

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
        """Set the text colour."""
        self._text = QColor(text)
        self.update()

    def show_names(self, names: Sequence[EndName]) -> None:
        """Show names; without any the column has no width."""
        if [n.name for n in names] != [n.name for n in self._names]:
            widest = max((self._metrics.horizontalAdvance(n.name) for n in names), default=0.0)
            self._set_width(min(round(_TEXT + widest) + 4, MAX_TABLE_WIDTH) if names else 0)
        self._names = list(names)
        self.update()

    def _set_width(self, width: int) -> None:
        if self.minimumWidth() != width or self.maximumWidth() != width:
            self.setMinimumWidth(width)
            self.setMaximumWidth(width)

    def placed(self) -> list[tuple[EndName, float, float]]:
        """Return names with the heights of curve ends and of the names, from top to bottom."""
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
        least = max(MIN_DISTANCE_PX, self._metrics.height())
        own = apart([at for _, at in ends], least, half, height - half)
        return [(item, at, y) for (item, at), y in zip(ends, own, strict=True)]

    def overlaps(self) -> bool:
        """Whether names overlap because there are too many."""
        return any(b - a < MIN_DISTANCE_PX - 1e-6 for (*_, a), (*_, b) in pairwise(self.placed()))

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Draw the names."""
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


class Swatch(QWidget):
    """Sample of a series: a line, a dot with error bar, bars or an area."""

    def __init__(self) -> None:
        super().__init__()
        self.style_shown: SeriesStyle | None = None
        self.mark = Mark.LINE
        self.banded = False
        self.setFixedSize(QSize(34, 14))

    def set_style(self, style: SeriesStyle, mark: Mark = Mark.LINE, banded: bool = False) -> None:
        """Set style and mark, with or without band or error bar."""
        if (style, mark, banded) != (self.style_shown, self.mark, self.banded):
            self.style_shown, self.mark, self.banded = style, mark, banded
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the swatch."""
        style = self.style_shown
        if style is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = pen_of(style, ratio=self.devicePixelRatioF())
        middle = QRectF(self.rect()).center().y()
        if self.mark is Mark.DOTS:
            self._paint_dot(painter, style, middle)
        elif self.mark is Mark.BARS:
            for left, height in ((4, 8), (14, 12), (24, 5)):
                bar = QRectF(left, self.height() - height - 1, 7, height)
                _fill(painter, style, bar, 70, 150)
                painter.setPen(QPen(pen.color(), 1.2))
                painter.drawRect(bar)
        else:
            inside = QRectF(1, 1, self.width() - 2, self.height() - 2)
            if self.mark is Mark.AREA:
                _fill(painter, style, inside, 36, 105)
                middle = 1.5
            elif self.banded:
                _fill(painter, style, inside, 45, 0)
            painter.setPen(pen)
            painter.drawLine(QPointF(1, int(middle)), QPointF(self.width() - 1, int(middle)))

    def _paint_dot(self, painter: QPainter, style: SeriesStyle, middle: float) -> None:
        x, colour = self.width() / 2, QColor(style.colour)
        painter.setPen(QPen(colour, 1.3))
        if self.banded:
            painter.drawLine(QPointF(x, 1), QPointF(x, self.height() - 1))
            for y in (1.0, self.height() - 1.0):
                painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.translate(x, middle)
        painter.scale(DOT_SIZE, DOT_SIZE)
        painter.drawPath(Symbols[SYMBOLS[style.marker]])


def _fill(painter: QPainter, style: SeriesStyle, area: QRectF, wash: int, strength: int) -> None:
    colour = QColor(style.colour)
    colour.setAlpha(wash)
    painter.fillRect(area, colour)
    if strength:
        colour.setAlpha(strength)
        painter.fillRect(area, QBrush(colour, PATTERNS[style.hatch]))


_BAR = (44, 4)
"""Width and height in pixels of the bar of a `ProgressText`."""
_BAR_GAP = 8


class ProgressText(QWidget):
    """One line of text, aligned right, before a bar that shows a share.

    Parameters
    ----------
    parent : QWidget
        Plot that places it.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.text = ""
        self._share = 1.0

    def show_share(self, text: str, share: float) -> None:
        """Show a text and a share from 0 to 1; the bar is empty at 1, and hidden without text."""
        if (text, share) != (self.text, self._share):
            self.text, self._share = text, share
            self.setAccessibleName(text)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw both."""
        if not self.text:
            return
        painter, palette = QPainter(self), self.palette()
        wide, high = _BAR
        bar = QRect(self.width() - wide, (self.height() - high) // 2, wide, high)
        left = self.rect().adjusted(0, 0, -wide - _BAR_GAP, 0)
        text = painter.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideLeft, left.width())
        painter.setPen(palette.placeholderText().color())
        painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.fillRect(bar, palette.mid())
        if self._share < 1:
            bar.setWidth(round(self._share * wide))
            painter.fillRect(bar, palette.highlight())
        painter.end()


class ElidedLabel(QLabel):
    """Line of text, elided at its end; first written smaller, with `smallest` below 1."""

    def __init__(self, smallest: float = 1.0) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self._smallest = smallest
        self.setMinimumWidth(40)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_strong(self, strong: bool) -> None:
        """Set bold or normal weight."""
        font = self.font()
        if font.bold() != strong:
            font.setBold(strong)
            self.setFont(font)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        if self._smallest < 1:
            painter.setFont(smaller_font(self.font(), self.text(), self.width(), self._smallest))
        fitting = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, self.width()
        )
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, fitting)
