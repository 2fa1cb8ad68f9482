"""Points set on the map by mouse and keyboard: of a measured line, and of a polygon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from explorer.geography.coordinates import distance_km
from explorer.geography.plane import Plane
from explorer.studies.base.numbers import nearest

Position = tuple[float, float]
"""Longitude and latitude in degrees, or x and y of a plane."""

HINT = (
    "Click points on the map, or move the cross with the arrow keys and press Enter; "
    "Backspace takes a point back, Esc ends."
)
POLYGON_HINT = "Click the corners, or use arrows and Enter. The first one closes, Esc ends."
POLYGON_MORE = "Click or Enter on the first closes, Backspace undoes."


def length_of(points: Sequence[Position], plane: Plane | None) -> float:
    """Return the length of a line through points, in km or in the plane's unit."""
    total = 0.0
    for (x, y), (to_x, to_y) in pairwise(points):
        if plane is None:
            total += distance_km(y, x, to_y, to_x)
        else:
            total += math.hypot(to_x - x, to_y - y)
    return total


def length_words(length: float, plane: Plane | None) -> str:
    """Return a length with three significant digits and its unit."""
    if plane is not None:
        return f"{nearest(length)} {plane.unit}"
    if length < 1:
        return f"{1000 * length:,.0f} m"
    digits = max(0, 2 - math.floor(math.log10(length)))
    return f"{length:,.{digits}f} km"


class PointsTool(QObject):
    """Points that are set one after the other, shared by all panes.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.active = False
        self.points: list[Position] = []
        self.cursor: Position | None = None
        """Position of the next point."""

    @property
    def line(self) -> list[Position]:
        """The points, and the cursor behind them."""
        return [*self.points, *([self.cursor] if self.cursor is not None else [])]

    def set_active(self, active: bool) -> None:
        """Begin without points, or end."""
        if active != self.active:
            self.active = active
            self.points, self.cursor = [], None
            self.changed.emit()

    def begin_with(self, points: Sequence[Position]) -> None:
        """Go on from points that were set before; the tool must be active."""
        self.points = list(points)
        self.changed.emit()

    def set_cursor(self, position: Position | None) -> None:
        """Move the cursor."""
        if self.active and position != self.cursor:
            self.cursor = position
            self.changed.emit()

    def add(self, position: Position) -> None:
        """Add a point."""
        if self.active:
            self.points.append(position)
            self.cursor = position
            self.changed.emit()

    def take_back(self) -> None:
        """Remove the last point."""
        if self.points:
            self.points.pop()
            self.changed.emit()

    def close_at_first(self) -> bool:
        """End at the first point, which was chosen again; return whether the tool does that."""
        return False

    def words(self, plane: Plane | None) -> str:
        """Return what the points are, or how to set them."""
        raise NotImplementedError

    def label(self, plane: Plane | None) -> str:
        """Return the text beside the last point; empty for none."""
        return ""


class MeasureTool(PointsTool):
    """Measures the length of a line."""

    def words(self, plane: Plane | None) -> str:
        """Return the length as text; how to measure while there is no line."""
        line = self.line
        if not self.points or len(line) < 2:
            return HINT
        return f"Distance: {length_words(length_of(line, plane), plane)}"

    def label(self, plane: Plane | None) -> str:
        """Return the length."""
        line = self.line
        if not self.points or len(line) < 2:
            return ""
        return length_words(length_of(line, plane), plane)


class PolygonTool(PointsTool):
    """Draws the outline of a region.

    Signals
    -------
    closed(object)
        List of (latitude, longitude): the first point was chosen again.
    """

    closed = Signal(object)

    def close_at_first(self) -> bool:
        """Close the outline; a second click on the only point does nothing."""
        if len(self.points) > 1:
            self.closed.emit([(latitude, longitude) for longitude, latitude in self.points])
        return bool(self.points)

    def words(self, plane: Plane | None) -> str:
        """Return how many points there are and how to go on."""
        if not self.points:
            return POLYGON_HINT
        number = len(self.points)
        return f"Polygon, {number} point{'s' * (number != 1)}. {POLYGON_MORE}"


def paint_measure(
    painter: QPainter, line: Sequence[tuple[float, float]], text: str, width: float
) -> None:
    """Draw a measured line in pixels, visible on every colour, with its length at the end."""
    points = [QPointF(x, y) for x, y in line]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for colour, wide in ((QColor(255, 255, 255), 4), (QColor(0, 0, 0), 1.5)):
        painter.setPen(QPen(colour, wide))
        painter.setBrush(QColor(255, 255, 255))
        painter.drawPolyline(points)
        for point in points[:-1]:
            painter.drawEllipse(point, 3, 3)
        end = points[-1]
        for across, down in ((7.0, 0.0), (0.0, 7.0)):
            painter.drawLine(
                QPointF(end.x() - across, end.y() - down), QPointF(end.x() + across, end.y() + down)
            )
    if text:
        metrics = painter.fontMetrics()
        wide_px, high = metrics.horizontalAdvance(text) + 10.0, metrics.height() + 2.0
        left = end.x() + 10 if end.x() + 10 + wide_px <= width else end.x() - 10 - wide_px
        area = QRectF(max(0.0, left), max(0.0, end.y() - high - 8), wide_px, high)
        painter.fillRect(area, QColor(0, 0, 0, 200))
        painter.setPen(QColor(255, 255, 255))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()
