"""Tools of the map for mouse and keyboard: region, corners of a polygon, measured line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session
from explorer.geography.coordinates import distance_km
from explorer.geography.plane import Plane
from explorer.geography.region import Box, PolygonRegion, Region, parse_rings, written_rings
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Origin, Selection, all_sides
from explorer.ui.base.errors import Banner, Problem, explain
from explorer.ui.base.styled import plain_label, styled_label

GESTURE = "drag the region"
"""A drag is one undo step."""

GRAB_PX = 9.0
"""Distance in pixels at which an edge or corner is grabbed."""
MIN_DRAG_PX = 4.0
"""Drags below this size in pixels count as clicks."""


@dataclass(frozen=True, slots=True)
class PixelBox:
    """A box on the screen, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def handles(self) -> tuple[tuple[float, float], ...]:
        """Positions of the corners and side centres."""
        x = (self.left, (self.left + self.right) / 2, self.right)
        y = (self.top, (self.top + self.bottom) / 2, self.bottom)
        return tuple((a, b) for a in x for b in y if not (a == x[1] and b == y[1]))


@dataclass(frozen=True, slots=True)
class Grip:
    """Sides of the box moved by a drag; all four move it as a whole, none draws a new one."""

    west: bool = False
    east: bool = False
    north: bool = False
    south: bool = False

    @property
    def new(self) -> bool:
        """Whether a new box is drawn."""
        return not (self.west or self.east or self.north or self.south)

    @property
    def whole(self) -> bool:
        """Whether the whole box is moved."""
        return self.west and self.east and self.north and self.south


def grip_at(box: PixelBox | None, x: float, y: float) -> Grip:
    """Return the grip under the pointer.

    Parameters
    ----------
    box : PixelBox or None
        Region on the screen; None if there is none.
    x, y : float
        Pixels, y downwards.
    """
    if box is None:
        return Grip()
    inside_x = box.left - GRAB_PX <= x <= box.right + GRAB_PX
    inside_y = box.top - GRAB_PX <= y <= box.bottom + GRAB_PX
    if not (inside_x and inside_y):
        return Grip()
    # On a box smaller than twice the distance the nearer side is used.
    west = abs(x - box.left) <= GRAB_PX and abs(x - box.left) <= abs(x - box.right)
    east = abs(x - box.right) <= GRAB_PX and not west
    north = abs(y - box.top) <= GRAB_PX and abs(y - box.top) <= abs(y - box.bottom)
    south = abs(y - box.bottom) <= GRAB_PX and not north
    grip = Grip(west, east, north, south)
    return Grip(True, True, True, True) if grip.new else grip


def dragged_box(
    box: Box | None, grip: Grip, start: tuple[float, float], end: tuple[float, float]
) -> Box:
    """Return the box of degrees resulting from a drag.

    Parameters
    ----------
    box : Box or None
        South, west, north, east before the drag; required unless a new one is drawn.
    grip : Grip
    start, end : (float, float)
        Longitude and latitude of the start and of the present position.

    Returns
    -------
    Box
        South, west, north, east with south ≤ north and west ≤ east: a side dragged past its
        opposite is exchanged with it. Not clipped to the globe: the region validates it.
    """
    if grip.new or box is None:
        return (
            min(start[1], end[1]),
            min(start[0], end[0]),
            max(start[1], end[1]),
            max(start[0], end[0]),
        )
    south, west, north, east = box
    right, up = end[0] - start[0], end[1] - start[1]
    if grip.west:
        west += right
    if grip.east:
        east += right
    if grip.south:
        south += up
    if grip.north:
        north += up
    return (min(south, north), min(west, east), max(south, north), max(west, east))


def usable(box: Box, like: Region | None = None) -> bool:
    """Return whether a box can be a region in the plane of another one."""
    try:
        Region(*box) if like is None else like.at(box)
    except ValueError:
        return False
    return True


def with_drawn_region(selection: Selection, box: Box) -> Selection:
    """Return a selection with a region drawn on the map.

    Raises
    ------
    ValueError
        If the box is not a valid region.
    """
    if selection.region.plane is None:
        # A drag may end slightly beyond a pole, which means the pole.
        box = (max(box[0], -90.0), box[1], min(box[2], 90.0), box[3])
    drawn = all_sides(Origin.DRAWN)
    return replace(selection, region=selection.region.at(box), region_from=drawn)


def cursor_of(grip: Grip) -> Qt.CursorShape:
    """Return the cursor shape for a grip."""
    if grip.whole:
        return Qt.CursorShape.SizeAllCursor
    if grip.new:
        return Qt.CursorShape.CrossCursor
    if (grip.west or grip.east) and (grip.north or grip.south):
        rising = grip.east == grip.north
        return Qt.CursorShape.SizeBDiagCursor if rising else Qt.CursorShape.SizeFDiagCursor
    return Qt.CursorShape.SizeHorCursor if grip.west or grip.east else Qt.CursorShape.SizeVerCursor


class Drawn(Protocol):
    """Panes in which regions are drawn."""

    region_dragged: SignalInstance
    region_drawn: SignalInstance

    def set_region(self, region: Region | None, dragged: bool = False) -> None:
        """Outline the region."""


class RegionDrag(QObject):
    """Writes regions drawn in panes to the session: during a drag and at its end.

    Attributes
    ----------
    before : Selection or None
        Selection at the start of the running drag; None otherwise.
    """

    def __init__(
        self, session: Session, panes: Drawn, banner: Banner, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._panes, self._banner = session, panes, banner
        self.before: Selection | None = None
        panes.region_dragged.connect(self._follow)
        panes.region_drawn.connect(self._end)

    def show_region(self) -> None:
        """Outline the session's region; the map does not move during a drag."""
        selection = self._session.state.selection
        region = selection.region if selection is not None else None
        self._panes.set_region(region, dragged=self.before is not None)

    def set_box(self, box: Box, gesture: str | None = None) -> None:
        """Set a region as one undo step, or show why it is invalid."""
        selection = self._session.state.selection
        if selection is None:
            self._banner.show_problem(Problem("hint", "Open check-ins before choosing a region."))
            return
        try:
            drawn = with_drawn_region(selection, box)
        except ValueError as error:
            self._banner.show_problem(explain(error, "region"))
            return
        self._banner.settled("region")
        self._session.set_selection(drawn, gesture)

    def set_outline(self, rings: Sequence[Sequence[tuple[float, float]]], origin: Origin) -> bool:
        """Set a polygon with these rings of (latitude, longitude) as one undo step.

        An invalid one changes nothing; why it is invalid is shown.

        Returns
        -------
        bool
            Whether it is set.
        """
        selection = self._session.state.selection
        if selection is None:
            self._banner.show_problem(Problem("hint", "Open check-ins before choosing a region."))
            return False
        try:
            region = PolygonRegion.of(rings)
        except ValueError as error:
            self._banner.show_problem(explain(error, "region"))
            return False
        self._banner.settled("region")
        drawn = replace(selection, region=region, region_from=all_sides(origin))
        self._session.set_selection(drawn)
        return True

    def use_box(self) -> None:
        """Replace a polygon by the box around it, as one undo step."""
        selection = self._session.state.selection
        if selection is not None and selection.region.polygon is not None:
            region = selection.region.at(selection.region.box)
            self._session.set_selection(replace(selection, region=region))

    def _follow(self, box: Box) -> None:
        self.before = self.before or self._session.state.selection
        self.set_box(box, GESTURE)

    def _end(self, box: Box | None) -> None:
        """Keep the region of a drag, or restore the former one if it made none."""
        before, self.before = self.before, None
        if box is not None:
            self.set_box(box, GESTURE)
        elif before is not None:
            self._session.set_selection(before, GESTURE)
        self._session.end_gesture()
        self.show_region()


POINTS_EXAMPLE = "40.70, -74.02\n40.88, -73.93\n40.80, -73.90"
POINTS_HELP = (
    "One point a line: latitude, longitude in degrees, in order around the region. At least 3 "
    "points; the last is joined to the first. A line with | begins a further ring: another area, "
    "or a hole."
)


class RegionPointsDialog(QDialog):
    """Edits the corners of a polygon, one a line.

    Parameters
    ----------
    region : Region
        Its corners are offered if it is a polygon.

    Signals
    -------
    entered(object)
        List of rings of (latitude, longitude) of a valid polygon.
    """

    entered = Signal(object)

    def __init__(self, region: Region, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Region from points")
        self.edit = QPlainTextEdit(written_rings(region))
        self.edit.setPlaceholderText(POINTS_EXAMPLE)
        self.edit.setTabChangesFocus(True)
        self.edit.setMinimumHeight(220)
        label = plain_label("&Points")
        label.setBuddy(self.edit)
        self.problem = styled_label("notes", " ", word_wrap=True)
        self.problem.setMinimumHeight(3 * self.problem.fontMetrics().lineSpacing())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.use = QPushButton("&Use this region")
        self.use.setDefault(True)
        buttons.addButton(self.use, QDialogButtonBox.ButtonRole.ActionRole)
        self.use.clicked.connect(self._enter)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.addWidget(styled_label("muted", POINTS_HELP, word_wrap=True))
        box.addLayout(row)
        box.addWidget(self.edit, 1)
        box.addWidget(self.problem)
        box.addWidget(buttons)
        self.resize(420, 440)

    def _enter(self) -> None:
        try:
            rings = parse_rings(self.edit.toPlainText())
            PolygonRegion.of(rings)
        except ValueError as error:
            self.problem.setText(str(error))
            self.edit.setFocus()
            return
        self.entered.emit(rings)
        self.accept()


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
