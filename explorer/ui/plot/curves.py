"""Items for curves, bands, bars, marks and undefined ranges, updated in place."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import create_qpolygonf, ndarray_from_qpolygonf
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

from explorer.figures.geometry import area_edges, axis_coordinates, runs
from explorer.figures.style import SeriesStyle
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark, Series

PATTERNS = {
    "/": Qt.BrushStyle.BDiagPattern,
    "\\": Qt.BrushStyle.FDiagPattern,
    "x": Qt.BrushStyle.DiagCrossPattern,
    "-": Qt.BrushStyle.HorPattern,
    "|": Qt.BrushStyle.VerPattern,
    "+": Qt.BrushStyle.CrossPattern,
    ".": Qt.BrushStyle.Dense6Pattern,
}
"""Qt's brush patterns for `explorer.figures.style.HATCHES`."""


class FilledItem(pg.GraphicsObject):
    """Shape with fill, hatch and outline that is updated in place.

    Parameters
    ----------
    view : ViewBox
        View in whose coordinates the path is.
    depth : float
        Stacking order.
    """

    def __init__(self, view: pg.ViewBox, depth: float) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._bounds = QRectF()
        self._wash = QBrush()
        self._hatch: QBrush | None = None
        self._outline = QPen(Qt.PenStyle.NoPen)
        self.setZValue(depth)
        view.addItem(self, ignoreBounds=True)

    def set_look(
        self,
        colour: str,
        wash: int,
        hatch: str = "",
        strength: int = 0,
        outline: QPen | None = None,
    ) -> None:
        """Set fill (opacity of 255), hatch (sign, opacity) and outline."""
        fill, lines = QColor(colour), QColor(colour)
        fill.setAlpha(wash)
        lines.setAlpha(strength)
        self._wash = QBrush(fill)
        self._hatch = QBrush(lines, PATTERNS[hatch]) if hatch else None
        self._outline = outline if outline is not None else QPen(Qt.PenStyle.NoPen)
        self.update()

    def set_path(self, path: QPainterPath) -> None:
        """Set the path."""
        self.prepareGeometryChange()
        self._path = path
        self._bounds = path.boundingRect()
        self.update()

    @property
    def path(self) -> QPainterPath:
        """The path in view coordinates."""
        return self._path

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle in view coordinates."""
        return self._bounds

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the shape."""
        if self._path.isEmpty():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(self._path, self._wash)
        if self._hatch is not None:
            # In pixels: otherwise the pattern is stretched with the view.
            self._hatch.setTransform(painter.transform().inverted()[0])
            painter.fillPath(self._path, self._hatch)
        if self._outline.style() != Qt.PenStyle.NoPen:
            painter.setPen(self._outline)
            painter.drawPath(self._path)


def between(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> QPainterPath:
    """Return the area between two edges; NaN separates shapes."""
    path = QPainterPath()
    for run in runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
        xs = x[run]
        if len(xs) < 2:
            continue
        outline = np.column_stack([np.r_[xs, xs[::-1]], np.r_[high[run], low[run][::-1]]])
        path.addPolygon(QPolygonF([QPointF(*p) for p in outline.tolist()]))
        path.closeSubpath()
    return path


def columns(left: np.ndarray, right: np.ndarray, base: float, top: np.ndarray) -> QPainterPath:
    """Return bars from a base to their tops; NaN leaves a bar out."""
    path = QPainterPath()
    there = np.isfinite(left) & np.isfinite(right) & np.isfinite(top)
    for a, b, y in zip(left[there], right[there], top[there], strict=True):
        path.addRect(QRectF(QPointF(a, min(base, y)), QPointF(b, max(base, y))))
    return path


class _OverAll(pg.GraphicsObject):
    """Item that may be drawn anywhere in the visible range."""

    def __init__(self, view: pg.ViewBox, depth: float) -> None:
        super().__init__()
        self._view = view
        self._shown = QRectF()
        self.setZValue(depth)
        view.addItem(self, ignoreBounds=True)

    def viewTransformChanged(self) -> None:
        """Set the bounding rectangle to the visible range."""
        super().viewTransformChanged()
        shown = self._view.viewRect()
        if shown != self._shown:
            self.prepareGeometryChange()
            self._shown = shown

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle in view coordinates."""
        return self._shown


class StrokeItem(_OverAll):
    """Polyline with gaps at points that are not finite; updated in place.

    Parameters
    ----------
    view : ViewBox
        View in whose coordinates the points are.
    depth : float
        Stacking order.
    pairs : bool
        Whether the points are ends of separate segments, in pairs.

    Attributes
    ----------
    x, y : ndarray
        Points.
    pen : QPen
    """

    def __init__(self, view: pg.ViewBox, depth: float, pairs: bool = False) -> None:
        super().__init__(view, depth)
        self._pairs = pairs
        self._path = QPainterPath()
        self.x = self.y = np.empty(0)
        self.pen = QPen(Qt.PenStyle.NoPen)

    def set_pen(self, pen: QPen) -> None:
        """Set the pen."""
        self.pen = pen
        self.update()

    def set_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Set the points."""
        if not (len(x) or len(self.x)):
            return
        self.x, self.y = x, y
        path = QPainterPath()
        there = np.isfinite(x) & np.isfinite(y)
        if self._pairs:
            pieces = [slice(i, i + 2) for i in range(0, len(x), 2) if there[i : i + 2].all()]
        else:
            pieces = [slice(0, len(x))] if len(x) and there.all() else runs(there)
        for piece in pieces:
            path.addPolygon(_polygon(x[piece], y[piece]))
        self._path = path
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the lines."""
        if len(self.x):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self.pen)
            painter.drawPath(self._path)


class HollowMarks(_OverAll):
    """A few circles of constant size in pixels.

    Parameters
    ----------
    view : ViewBox
        View in whose coordinates the centres are.
    depth : float
        Stacking order.
    size : float
        Diameter in pixels.

    Attributes
    ----------
    points : list of QPointF
        Centres.
    """

    def __init__(self, view: pg.ViewBox, depth: float, size: float) -> None:
        super().__init__(view, depth)
        self._circle = QRectF(-size / 2, -size / 2, size, size)
        self._pen, self._brush = QPen(), QBrush()
        self.points: list[QPointF] = []

    def set_look(self, pen: QPen, brush: QBrush) -> None:
        """Set pen and brush."""
        self._pen, self._brush = pen, brush
        self.update()

    def set_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Set the centres."""
        points = [QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]
        if points != self.points:
            self.points = points
            self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the circles."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._pen)
        painter.setBrush(self._brush)
        to_pixels = painter.transform()
        painter.resetTransform()
        for point in self.points:
            painter.drawEllipse(self._circle.translated(to_pixels.map(point)))


def _polygon(x: np.ndarray, y: np.ndarray) -> QPolygonF:
    polygon: QPolygonF = create_qpolygonf(len(x))
    points = ndarray_from_qpolygonf(polygon)
    points[:, 0], points[:, 1] = x, y
    return polygon


MAX_POINTS = 2000
_PIXELS_PER_POINT = 96 / 72
_JOINED = (Mark.LINE, Mark.PATH, Mark.AREA)
SYMBOLS = {
    "o": "o",
    "s": "s",
    "^": "t1",
    "D": "d",
    "v": "t",
    "P": "+",
    "X": "x",
    "<": "t3",
    ">": "t2",
    "h": "h",
    "p": "p",
}
"""pyqtgraph's symbols for `explorer.figures.style.MARKERS`."""
DOT_SIZE = 9
_NONE, _NOWHERE = np.empty(0), np.empty(0, int)
Extent = tuple[float, float, float, float]
Edges = tuple[np.ndarray, np.ndarray]
"""Left and right edges of bars."""


def pen_of(style: SeriesStyle, alpha: int = 255, ratio: float = 1.0) -> QPen:
    """Return the pen of a curve: colour, dashes and width of its style.

    The width of a cosmetic pen is in device pixels; `ratio` is the device pixel ratio.
    """
    colour = QColor(style.colour)
    colour.setAlpha(alpha)
    pen = QPen(colour, style.width * _PIXELS_PER_POINT * ratio)
    pen.setCosmetic(True)
    # For points so close a bevel join looks like a round one, which takes twice the time.
    pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap if style.dash else Qt.PenCapStyle.RoundCap)
    if style.dash:
        pen.setDashPattern(list(style.dash))
    return pen


def thin(series: Series) -> np.ndarray:
    """Return the indices of at most `MAX_POINTS` points, including both ends."""
    n = len(series.x)
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, MAX_POINTS).round().astype(int))


class Curve:
    """Items of one series, created when its mark first requires them and then updated.

    A line or path has hollow marks where it leaves the plot, an area also a hatched fill, an
    estimate's band a plain fill; dots have error bars; bars are hatched columns.

    Attributes
    ----------
    x, y : ndarray
        Points in view coordinates; y is NaN where undefined.
    heights : ndarray
        y in data units, as computed: converted back from a logarithmic axis the last digits differ.
    role : Role or None
        Heights of the bars.
    low, high : ndarray or None
        Ends of band, area or error bars at these points, in data units.
    """

    def __init__(self, view: pg.ViewBox) -> None:
        self._view = view
        self.line = StrokeItem(view, 10)
        self.ends = HollowMarks(view, 12, DOT_SIZE)
        self.fill: FilledItem | None = None
        self.dots: pg.ScatterPlotItem | None = None
        self.whiskers: StrokeItem | None = None
        self.caps: pg.ScatterPlotItem | None = None
        self.x = self.y = self.heights = np.empty(0)
        self.role: Role | None = None
        self.low: np.ndarray | None = None
        self.high: np.ndarray | None = None
        self.mark = Mark.LINE
        self.x_log = self.y_log = False
        self.extent: Extent = (np.nan,) * 4
        """Left, right, bottom and top of all finite points; NaN if there are none."""
        self._drawn: tuple[object, ...] = ()
        self._undrawn: tuple[Series, np.ndarray, Edges | None] | None = None
        """Data that the items of a hidden curve do not show yet."""
        self._look: tuple[SeriesStyle, str, float] | None = None

    # Style

    def set_style(self, style: SeriesStyle, background: str, ratio: float) -> None:
        """Set the style for a device pixel ratio."""
        self._look = (style, background, ratio)
        self.line.set_pen(pen_of(style, ratio=ratio))
        self.ends.set_look(pg.mkPen(style.colour, width=1.6 * ratio), pg.mkBrush(background))
        if self.fill is not None:
            self._style_fill(self.fill, style, ratio)
        if self.dots is not None and self.whiskers is not None and self.caps is not None:
            thin_pen = pg.mkPen(style.colour, width=1.3 * ratio)
            self.dots.setPen(pg.mkPen(background, width=0.8 * ratio))
            self.dots.setBrush(pg.mkBrush(style.colour))
            self.dots.setSymbol(SYMBOLS[style.marker])
            self.whiskers.set_pen(thin_pen)
            self.caps.setPen(thin_pen)

    def _style_fill(self, fill: FilledItem, style: SeriesStyle, ratio: float) -> None:
        if self.mark is Mark.BARS:
            edge = pg.mkPen(style.colour, width=1.4 * ratio)
            fill.set_look(style.colour, 70, style.hatch, 150, edge)
            # True bars stay while a slider moves, and take a fifth of the time of a frame.
            fill.setCacheMode(fill.CacheMode.DeviceCoordinateCache)
        elif self.mark is Mark.AREA:
            fill.set_look(style.colour, 36, style.hatch, 105)
        else:
            fill.set_look(style.colour, 45)

    # Data

    def set_series(
        self,
        series: Series,
        x_log: bool,
        y_log: bool,
        edges: Edges | None = None,
    ) -> None:
        """Set the data; `edges` are the edges of bars (`bar_edges`).

        Unchanged data are skipped: a slider changes some curves only, and no pinned one.
        """
        self.role = series.role
        numbers = (series.x, series.y, series.low, series.high, *(edges or ()))
        drawn = (series.mark, x_log, y_log, *(None if a is None else a.tobytes() for a in numbers))
        if drawn == self._drawn:
            return
        self._drawn = drawn
        places = thin(series)
        self.mark, self.x_log, self.y_log = series.mark, x_log, y_log
        self.x = axis_coordinates(series.x[places], x_log)
        self.heights = series.y[places]
        self.y = axis_coordinates(self.heights, y_log)
        self.low = self.high = None
        if series.low is not None and series.high is not None:
            self.low, self.high = series.low[places], series.high[places]
        self._undrawn = series, places, edges
        if self.line.isVisible():
            self._draw()

    def _draw(self) -> None:
        """Update the items, once they are visible."""
        if self._undrawn is None:
            return
        series, places, edges = self._undrawn
        self._undrawn = None
        joined = series.mark in _JOINED
        self.line.set_points(*((self.x, self.y) if joined else (_NONE, _NONE)))
        leaves = series.mark in (Mark.LINE, Mark.AREA)
        edge = _edges(np.isfinite(self.y)) if leaves else _NOWHERE
        self.ends.set_points(self.x[edge], self.y[edge])
        self.ends.setVisible(bool(len(edge)) and self.line.isVisible())
        self._set_fill(series, places, edges)
        self._set_dots(series)
        self.extent = self._measure(edges, places)

    def _set_fill(
        self,
        series: Series,
        places: np.ndarray,
        edges: Edges | None,
    ) -> None:
        if series.mark is Mark.BARS and edges is not None:
            path = columns(edges[0][places], edges[1][places], self._base(), self.y)
        elif series.mark in (Mark.LINE, Mark.AREA) and self.low is not None:
            x, low, high = (e[places] for e in area_edges(series, self.y_log))
            path = between(np.where(np.isnan(x), np.nan, self.x), low, high)
        elif self.fill is None:
            return
        else:
            path = QPainterPath()
        if self.fill is None:
            self.fill = FilledItem(self._view, {Mark.BARS: 7, Mark.AREA: 4}.get(series.mark, 3))
            self.fill.setVisible(self.line.isVisible())
            if self._look is not None:
                style, _, ratio = self._look
                self._style_fill(self.fill, style, ratio)
        self.fill.set_path(path)

    def _base(self) -> float:
        """Return the base of bars: 0, or below everything on a logarithmic axis."""
        if not self.y_log:
            return 0.0
        there = self.y[np.isfinite(self.y)]
        return float(there.min()) - 1000.0 if there.size else 0.0

    def _set_dots(self, series: Series) -> None:
        is_dots = series.mark is Mark.DOTS
        if self.dots is None or self.whiskers is None or self.caps is None:
            if not is_dots:
                return
            self.dots = pg.ScatterPlotItem(size=DOT_SIZE, pxMode=True)
            self.whiskers = StrokeItem(self._view, 11, pairs=True)
            self.caps = pg.ScatterPlotItem(size=DOT_SIZE - 1, pxMode=True, symbol="_")
            for item, depth in ((self.caps, 11), (self.dots, 12)):
                item.setZValue(depth)
                self._view.addItem(item, ignoreBounds=True)
            for item in (self.whiskers, self.dots):
                item.setVisible(self.line.isVisible())
            if self._look is not None:
                self.set_style(*self._look)
        there = np.isfinite(self.x) & np.isfinite(self.y) & is_dots
        self.dots.setData(self.x[there], self.y[there])
        x = low = high = np.empty(0)
        if is_dots and self.low is not None and self.high is not None:
            low, high = (axis_coordinates(e, self.y_log) for e in (self.low, self.high))
            if self.y_log:  # an error bar that reaches 0 has no lower end on this axis
                low = np.where(self.low <= 0, self.y - 1000.0, low)
            known = there & np.isfinite(low) & np.isfinite(high)
            x, low, high = self.x[known], low[known], high[known]
        self.whiskers.set_points(np.repeat(x, 2), np.column_stack([low, high]).ravel())
        if len(x) or len(self.caps.data):
            self.caps.setData(np.tile(x, 2), np.r_[low, high])
        # An empty scatter plot takes as long to paint as one of a few points.
        self.caps.setVisible(bool(len(x)) and self.line.isVisible())

    # Extent

    def _measure(self, edges: Edges | None, places: np.ndarray) -> Extent:
        there = np.isfinite(self.y) & np.isfinite(self.x)
        if not there.any():
            return (np.nan,) * 4
        if self.low is None and self.mark is not Mark.BARS:
            x, y = (self.x, self.y) if there.all() else (self.x[there], self.y[there])
            return float(x.min()), float(x.max()), float(y.min()), float(y.max())
        xs, ys = [self.x[there]], [self.y[there]]
        if self.low is not None and self.high is not None and self.mark is not Mark.BARS:
            ys += [axis_coordinates(e[there], self.y_log) for e in (self.low, self.high)]
        if self.mark is Mark.BARS and edges is not None:
            left, right = (e[places] for e in edges)
            space = 0.25 * (right - left)  # between the first bar and the axis
            xs += [left - space, right + space]
            if not self.y_log:
                ys.append(np.zeros(1))
            else:  # keep the lowest bar visible
                ys.append(ys[0].min(keepdims=True) - 0.12 * (float(np.ptp(ys[0])) or 1.0))
        x, y = np.concatenate(xs), np.concatenate(ys)
        x, y = x[np.isfinite(x)], y[np.isfinite(y)]
        return float(x.min()), float(x.max()), float(y.min()), float(y.max())

    def set_visible(self, visible: bool) -> None:
        """Show or hide the items."""
        if visible:
            self._draw()
        if visible != self.line.isVisible():
            self.line.setVisible(visible)
            self.ends.setVisible(visible and bool(self.ends.points))
            for item in (self.fill, self.dots, self.whiskers):
                if item is not None:
                    item.setVisible(visible)
            if self.caps is not None:
                self.caps.setVisible(visible and bool(len(self.caps.data)))

    def set_opacity(self, opacity: float) -> None:
        """Set the opacity of all items, 0 to 1."""
        if opacity != self.line.opacity():
            for item in self._items():
                item.setOpacity(opacity)

    def remove(self) -> None:
        """Remove the items from the scene."""
        for item in self._items():
            self._view.removeItem(item)

    def _items(self) -> list[Any]:
        items = (self.line, self.ends, self.fill, self.dots, self.whiskers, self.caps)
        return [item for item in items if item is not None]


def _edges(present: np.ndarray) -> np.ndarray:
    """Return the indices where a curve begins or ends inside the plot, or of its only point."""
    if np.count_nonzero(present) == 1:  # without a mark nothing of it would be seen
        return np.flatnonzero(present)
    if present.all() or not present.any():
        return _NOWHERE
    change = np.flatnonzero(present[1:] != present[:-1])
    return np.unique([i if present[i] else i + 1 for i in change])


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
