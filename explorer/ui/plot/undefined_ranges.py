"""Hatched ranges where a curve is undefined or no claim is valid."""

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

Lane = tuple[QColor, list[tuple[float, float]], str]


class _AlongX(pg.GraphicsObject):
    """Item drawn over ranges of x in the visible part of the plot."""

    def __init__(self, view: pg.ViewBox, depth: float) -> None:
        super().__init__()
        self._view = view
        self._area: QRectF | None = None
        self.setZValue(depth)
        view.addItem(self, ignoreBounds=True)
        view.sigTransformChanged.connect(self._view_changed)

    def _view_changed(self, *_: object) -> None:
        self.prepareGeometryChange()
        self._area = None
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle in view coordinates."""
        if self._area is None:
            self._area = self._covered()
        return self._area

    def _hatch(
        self, painter: QPainter, area: QRectF, colour: QColor, pattern: Qt.BrushStyle
    ) -> None:
        hatch = QBrush(colour, pattern)
        hatch.setTransform(painter.transform().inverted()[0])
        painter.fillRect(area, hatch)


class UndefinedLanes(_AlongX):
    """Hatched lanes along the bottom of the plot, one per curve, where it is undefined.

    Parameters
    ----------
    view : ViewBox
        View; the lanes have a constant height in pixels.
    """

    HEIGHT = 7

    def __init__(self, view: pg.ViewBox) -> None:
        self._lanes: list[Lane] = []
        super().__init__(view, 5)

    def set_lanes(self, lanes: list[Lane]) -> None:
        """Set the lanes: (colour, ranges in view coordinates, reason)."""
        if lanes != self._lanes:
            self._lanes = lanes
            self._view_changed()

    @property
    def pixels(self) -> float:
        """Total height of the lanes in pixels."""
        return self.HEIGHT * len(self._lanes) + 3.0 if self._lanes else 0.0

    def reason_at(self, x: float, pixels_above_bottom: float) -> str:
        """Return the reason of the lane at a position; empty without lane."""
        row = int(pixels_above_bottom // self.HEIGHT)
        if 0 <= row < len(self._lanes):
            _, stretches, reason = self._lanes[row]
            if any(a <= x <= b for a, b in stretches):
                return reason
        return ""

    def _covered(self) -> QRectF:
        if not self._lanes:
            return QRectF()
        shown = self._view.viewRect()
        height = self._view.viewPixelSize()[1] * self.HEIGHT * len(self._lanes)
        return QRectF(shown.left(), shown.top(), shown.width(), height)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the lanes."""
        if not self._lanes:
            return
        shown = self._view.viewRect()
        pixel = self._view.viewPixelSize()[1]
        for row, (colour, stretches, _reason) in enumerate(self._lanes):
            wash = QColor(colour)
            wash.setAlpha(40)
            bottom = shown.top() + row * self.HEIGHT * pixel
            for a, b in stretches:
                left, right = max(a, shown.left()), min(b, shown.right())
                if right > left:
                    lane = QRectF(left, bottom + pixel, right - left, (self.HEIGHT - 2) * pixel)
                    painter.fillRect(lane, wash)
                    self._hatch(painter, lane, colour, Qt.BrushStyle.BDiagPattern)


class InvalidRanges(_AlongX):
    """Light hatch over the full height where no claim is valid.

    Parameters
    ----------
    view : ViewBox
    """

    def __init__(self, view: pg.ViewBox) -> None:
        self._stretches: list[tuple[float, float, str]] = []
        self._colour = QColor("#808080")
        super().__init__(view, 1)

    def set_colour(self, colour: str) -> None:
        """Set the colour of the hatch."""
        self._colour = QColor(colour)
        self.update()

    def set_stretches(self, stretches: list[tuple[float, float, str]]) -> None:
        """Set the ranges: from, to in view coordinates, and the reason."""
        if stretches != self._stretches:
            self._stretches = stretches
            self._view_changed()

    def reason_at(self, x: float) -> str:
        """Return why no claim is valid at x; empty if one is."""
        return next((why for a, b, why in self._stretches if a <= x <= b), "")

    def _covered(self) -> QRectF:
        return QRectF(self._view.viewRect()) if self._stretches else QRectF()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the hatch."""
        shown = self._view.viewRect()
        wash, lines = QColor(self._colour), QColor(self._colour)
        wash.setAlpha(18)
        lines.setAlpha(70)
        for a, b, _reason in self._stretches:
            left, right = max(a, shown.left()), min(b, shown.right())
            if right > left:
                area = QRectF(left, shown.top(), right - left, shown.height())
                painter.fillRect(area, wash)
                self._hatch(painter, area, lines, Qt.BrushStyle.FDiagPattern)
