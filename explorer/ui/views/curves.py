"""Curves, bands and marks that stay in the scene and only change their data."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPolygonItem

from explorer.figures.style import SeriesStyle
from explorer.studies.model import Series

MAX_POINTS = 2000
_PIXELS_PER_POINT = 96 / 72


def pen_of(style: SeriesStyle, alpha: int = 255, ratio: float = 1.0) -> QPen:
    """Return the pen of a curve: the style table's colour, dashes and width.

    A cosmetic pen's width counts device pixels, of which `ratio` go into one of the window's.
    """
    colour = QColor(style.colour)
    colour.setAlpha(alpha)
    pen = QPen(colour, style.width * _PIXELS_PER_POINT * ratio)
    pen.setCosmetic(True)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap if style.dash else Qt.PenCapStyle.RoundCap)
    if style.dash:
        pen.setDashPattern(list(style.dash))
    return pen


def view_coordinates(numbers: np.ndarray, log: bool) -> np.ndarray:
    """Return numbers as the view has them: exponents of ten on a logarithmic axis."""
    if not log:
        return np.asarray(numbers, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.log10(numbers)
    return np.where(np.isfinite(exponents), exponents, np.nan)


def thin(series: Series) -> np.ndarray:
    """Return the places of at most `MAX_POINTS` points, both ends among them."""
    n = len(series.x)
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, MAX_POINTS).round().astype(int))


class Curve:
    """The items of one series: a line, hollow marks where it leaves the plot, perhaps a band."""

    def __init__(self, view: pg.ViewBox) -> None:
        self._view = view
        self.line = pg.PlotCurveItem(connect="finite", antialias=True, skipFiniteCheck=False)
        self.ends = pg.ScatterPlotItem(size=8, pxMode=True)
        self.ends.setZValue(12)
        self.line.setZValue(10)
        self.band: QGraphicsPolygonItem | None = None
        view.addItem(self.line, ignoreBounds=True)
        view.addItem(self.ends, ignoreBounds=True)
        self.x = self.y = np.empty(0)

    def set_style(self, style: SeriesStyle, background: str, ratio: float) -> None:
        """Draw in this style from now on, on a screen with so many device pixels a pixel."""
        self.line.setPen(pen_of(style, ratio=ratio))
        self.ends.setPen(pg.mkPen(style.colour, width=1.6 * ratio))
        self.ends.setBrush(pg.mkBrush(background))
        if self.band is not None:
            fill = QColor(style.colour)
            fill.setAlpha(45)
            self.band.setBrush(QBrush(fill))

    def set_series(self, series: Series, x_log: bool, y_log: bool) -> None:
        """Show these numbers."""
        places = thin(series)
        self.x = view_coordinates(series.x[places], x_log)
        self.y = view_coordinates(series.y[places], y_log)
        self.line.setData(self.x, self.y)
        edge = _edges(np.isfinite(self.y))
        if len(edge) or len(self.ends.data):
            self.ends.setData(self.x[edge], self.y[edge])
        self.ends.setVisible(bool(len(edge)) and self.line.isVisible())
        if series.low is not None and series.high is not None:
            self._set_band(series, places, x_log, y_log)
        elif self.band is not None:
            self.band.setPolygon(QPolygonF())

    def _set_band(self, series: Series, places: np.ndarray, x_log: bool, y_log: bool) -> None:
        if self.band is None:
            self.band = QGraphicsPolygonItem()
            self.band.setPen(QPen(Qt.PenStyle.NoPen))
            fill = QColor(self.line.opts["pen"].color())
            fill.setAlpha(45)
            self.band.setBrush(QBrush(fill))
            self._view.addItem(self.band, ignoreBounds=True)
        low = view_coordinates(series.low[places], y_log)
        high = view_coordinates(series.high[places], y_log)
        shown = np.isfinite(low) & np.isfinite(high) & np.isfinite(self.x)
        xs, low, high = self.x[shown], low[shown], high[shown]
        outline = np.column_stack([np.r_[xs, xs[::-1]], np.r_[high, low[::-1]]])
        self.band.setPolygon(QPolygonF([QPointF(*p) for p in outline]))

    def set_visible(self, visible: bool) -> None:
        """Show or hide everything of this series."""
        if visible != self.line.isVisible():
            self.line.setVisible(visible)
            self.ends.setVisible(visible and bool(len(self.ends.data)))
            if self.band is not None:
                self.band.setVisible(visible)

    def remove(self) -> None:
        """Take the items out of the scene."""
        for item in (self.line, self.ends, self.band):
            if item is not None:
                self._view.removeItem(item)


def _edges(present: np.ndarray) -> np.ndarray:
    """Return the places where a curve begins or ends within the plot, not at its ends."""
    if present.all() or not present.any():
        return np.empty(0, int)
    change = np.flatnonzero(present[1:] != present[:-1])
    return np.unique([i if present[i] else i + 1 for i in change])


def absent_stretches(series: Series) -> list[tuple[float, float]]:
    """Return the stretches of x (in data units) where a curve does not hold."""
    missing = ~series.present
    if not missing.any():
        return []
    padded = np.concatenate([[False], missing, [False]])
    starts = np.flatnonzero(padded[1:] & ~padded[:-1])
    stops = np.flatnonzero(~padded[1:] & padded[:-1]) - 1
    last = len(series.x) - 1
    return [
        (float(series.x[max(a - 1, 0) if a else 0]), float(series.x[min(b + 1, last)]))
        for a, b in zip(starts, stops, strict=True)
    ]


class AbsenceLanes(pg.GraphicsObject):
    """Thin hatched lanes along the bottom of the plot: where which curve does not hold.

    Parameters
    ----------
    view : ViewBox
        The lanes keep their height in pixels whatever part of the plot it shows.
    """

    HEIGHT = 7

    def __init__(self, view: pg.ViewBox) -> None:
        super().__init__()
        self._view = view
        self._lanes: list[tuple[QColor, list[tuple[float, float]], str]] = []
        self.setZValue(5)
        view.addItem(self, ignoreBounds=True)
        view.sigTransformChanged.connect(self._view_changed)

    def set_lanes(self, lanes: list[tuple[QColor, list[tuple[float, float]], str]]) -> None:
        """Show one lane for each (colour, stretches in view coordinates, reason)."""
        self._lanes = lanes
        self.prepareGeometryChange()
        self.update()

    @property
    def pixels(self) -> float:
        """Height of all lanes together."""
        return self.HEIGHT * len(self._lanes) + 3.0 if self._lanes else 0.0

    def reason_at(self, x: float, pixels_above_bottom: float) -> str:
        """Return why the curve whose lane is there is absent; empty if there is no lane."""
        row = int(pixels_above_bottom // self.HEIGHT)
        if 0 <= row < len(self._lanes):
            _, stretches, reason = self._lanes[row]
            if any(a <= x <= b for a, b in stretches):
                return reason
        return ""

    def _view_changed(self, *_: object) -> None:
        self.prepareGeometryChange()
        self.update()

    def boundingRect(self) -> QRectF:
        """Return what is drawn over, in the view's coordinates."""
        if not self._lanes:
            return QRectF()
        shown = self._view.viewRect()
        height = self._view.viewPixelSize()[1] * self.HEIGHT * len(self._lanes)
        return QRectF(shown.left(), shown.top(), shown.width(), height)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw."""
        if not self._lanes:
            return
        shown = self._view.viewRect()
        pixel = self._view.viewPixelSize()[1]
        for row, (colour, stretches, _) in enumerate(self._lanes):
            wash = QColor(colour)
            wash.setAlpha(40)
            bottom = shown.top() + row * self.HEIGHT * pixel
            for a, b in stretches:
                left, right = max(a, shown.left()), min(b, shown.right())
                if right > left:
                    lane = QRectF(left, bottom + pixel, right - left, (self.HEIGHT - 2) * pixel)
                    painter.fillRect(lane, wash)
                    hatch = QBrush(colour, Qt.BrushStyle.BDiagPattern)
                    hatch.setTransform(painter.transform().inverted()[0])
                    painter.fillRect(lane, hatch)
