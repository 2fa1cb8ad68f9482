"""Plot of curves: updates in place while sliders move."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QObject,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QGraphicsEllipseItem,
    QGraphicsGridLayout,
    QGraphicsItem,
    QGraphicsScene,
)

from explorer.figures import style
from explorer.figures.geometry import (
    FUNCTIONS,
    absent_stretches,
    axis_coordinates,
    bar_edges,
    invalid_stretches,
    whole_axis,
)
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Result, Series
from explorer.ui.plot.axes import AxisTitles, ValueAxis, hull, whole_view
from explorer.ui.plot.curves import Curve, InvalidRanges, UndefinedLanes
from explorer.ui.plot.handles import Handles
from explorer.ui.plot.labels import Crosshair, EndName, EndNames, PlotLabel
from explorer.ui.plot.reading import (
    Drawn,
    hover_table,
    nearest_curves,
    value_at,
    wrap_text,
)

_KEYS = Qt.Key
_PAN = {
    _KEYS.Key_Left: (-0.1, 0.0),
    _KEYS.Key_Right: (0.1, 0.0),
    _KEYS.Key_Down: (0.0, -0.1),
    _KEYS.Key_Up: (0.0, 0.1),
}
"""Pan step and zoom factor, in shares of the view."""
_ZOOM = {_KEYS.Key_Plus: 0.8, _KEYS.Key_Equal: 0.8, _KEYS.Key_Minus: 1.25}
WHOLE = (_KEYS.Key_0, _KEYS.Key_Home)
_GUIDE = {_KEYS.Key_Left: -1.0, _KEYS.Key_Right: 1.0}
_CURVE = {_KEYS.Key_Up: -1, _KEYS.Key_Down: 1}
FINE_STEP = 0.1
"""Step with Shift, as for sliders."""


def guide_steps(event: QKeyEvent) -> float:
    """Return the slider steps of a key that moves the line; 0 for other keys."""
    held = event.modifiers()
    if held & Qt.KeyboardModifier.ControlModifier:
        return 0.0
    fine = held & Qt.KeyboardModifier.ShiftModifier
    return _GUIDE.get(Qt.Key(event.key()), 0.0) * (FINE_STEP if fine else 1.0)


def curve_steps(event: QKeyEvent) -> int:
    """Return 1 for the next curve below, -1 for the one above, 0 for other keys."""
    panning = event.modifiers() & Qt.KeyboardModifier.ControlModifier
    return 0 if panning else _CURVE.get(Qt.Key(event.key()), 0)


def move_by_key(view: pg.ViewBox, key: Qt.Key) -> bool:
    """Pan or zoom a view by an arrow, plus or minus key; return whether it was one."""
    if key in _PAN:
        (x0, x1), (y0, y1) = view.viewRange()
        right, up = _PAN[key]
        view.translateBy(x=right * (x1 - x0), y=up * (y1 - y0))
        return True
    if key in _ZOOM:
        view.scaleBy((_ZOOM[key], _ZOOM[key]))
        return True
    return False


_CHOSEN_WIDTH, _CLAIMED_WIDTH = 1.9, 1.4
"""Width factors of the highlighted and of the claimed curve."""
FADED = 0.4
"""Opacity of curves that show an earlier answer."""
_MARK = 4.5
"""Radius in pixels of the mark of the claimed value."""
SETTLE_MS = 160
"""Duration of the movement of the axes to their new ranges after a drag."""


class BoundsPlot(pg.GraphicsView):
    """Axes, curves, value line and crosshair.

    Signals
    -------
    line_dragged(float)
        Position of the dragged value line, in data units.
    line_released()
    view_changed()
        The user zoomed, panned or reset the view.
    guide_stepped(float)
        The line should move by a number of slider steps.
    curve_stepped(int)
        The next curve below (1) or above (-1) should be selected; 0 for none.

    """

    line_dragged = Signal(float)
    line_released = Signal()
    view_changed = Signal()
    guide_stepped = Signal(float)
    curve_stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__(background=None)
        self.setObjectName("bounds-plot")
        self.setAccessibleName("Plot of bounds")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(260, 124)
        self.x_log = self.y_log = False
        self.hidden: frozenset[str] = frozenset()
        self.result: Result | None = None
        self.curves: dict[str, Curve] = {}
        self._resting: dict[str, Curve] = {}
        """Curves that only complete results have; kept until the next complete one."""
        self._styles: dict[str, style.SeriesStyle] = {}
        self._short_names: Mapping[str, str] = {}
        self._claimed = self.chosen = ""
        self._theme = style.LIGHT
        self.user_view = False
        """Whether the user zoomed or panned."""
        self._build()

    def _build(self) -> None:
        self.view = pg.ViewBox(enableMenu=False, defaultPadding=0.0)
        self.view.disableAutoRange()
        self.view.sigRangeChangedManually.connect(self._user_moved)
        self._frozen = False
        self._framed: tuple[object, ...] = ()
        """Study, quantity and scales whose ranges the axes show."""
        self._from = self._to = [[0.0, 1.0], [0.0, 1.0]]
        self._settling = QVariantAnimation(self, duration=SETTLE_MS)
        self._settling.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._settling.valueChanged.connect(self._move_axes)
        self.left, self.bottom = ValueAxis("left", False), ValueAxis("bottom", False)
        self.titles = AxisTitles(self, self.view)
        frame = pg.GraphicsWidget()
        layout = QGraphicsGridLayout(frame)
        layout.setContentsMargins(6, self.titles.height + 4, 18, self.titles.height)
        layout.setSpacing(0)
        layout.addItem(self.left, 0, 0)
        layout.addItem(self.view, 0, 1)
        layout.addItem(self.bottom, 1, 1)
        self.end_names = EndNames(self.view)
        layout.addItem(self.end_names, 0, 2)
        for axis in (self.left, self.bottom):
            axis.linkToView(self.view)
            axis.setGrid(255)
            # Redrawing ticks and grid is slower than the curves: they are part of the background.
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemHasNoContents)
            axis.redrawn.connect(self._redraw_axes)
        self.view.setZValue(10)
        self.setCentralItem(frame)
        # A spatial index of a few moving items would be rebuilt for each frame.
        self.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.lanes = UndefinedLanes(self.view)
        self.invalid = InvalidRanges(self.view)
        self.value_line = pg.InfiniteLine(angle=90, movable=True)
        self.value_line.setZValue(15)
        self.value_line.setCursor(Qt.CursorShape.SizeHorCursor)
        self.value_line.sigDragged.connect(self._line_dragged)
        self.value_line.sigPositionChangeFinished.connect(lambda _: self.line_released.emit())
        self.value_line.hide()
        self.view.addItem(self.value_line, ignoreBounds=True)
        self.claim_mark = QGraphicsEllipseItem(-_MARK, -_MARK, 2 * _MARK, 2 * _MARK)
        self.claim_mark.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)
        self.claim_mark.setZValue(17)
        self.claim_mark.hide()
        self.view.addItem(self.claim_mark, ignoreBounds=True)
        self.line_label = PlotLabel(self.view, 16, (0.0, 0.0))
        self.empty_label = PlotLabel(self.view, 16, (0.5, 0.5))
        self.empty_label.set_text("No curve is shown. Tick one in the legend.")
        self.empty_label.hide()
        self.value_line.sigPositionChanged.connect(self._place_label)
        self.view.sigRangeChanged.connect(self._place_label)
        self.view.sigResized.connect(self._resized)
        self.line_text = ""
        self.handles = Handles(self.view)
        self.crosshair = Crosshair(self.view, self.viewport())
        self.scene().sigMouseMoved.connect(self._pointer_moved)

    def drawBackground(self, painter: QPainter, area: QRectF | QRect) -> None:
        """Draw ticks and grid, which the view keeps until one of them changes."""
        super().drawBackground(painter, area)
        for axis in (self.left, self.bottom):
            painter.save()
            painter.setTransform(axis.sceneTransform(), True)
            axis.paint(painter, None, None)
            painter.restore()

    def _redraw_axes(self) -> None:
        self.resetCachedContent()
        self.viewport().update()

    # Content

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        self._theme = theme
        ratio = self.devicePixelRatioF()
        self.setBackground(theme.axes)
        for axis in (self.left, self.bottom):
            axis.setPen(pg.mkPen(theme.frame, width=1))
            axis.setTextPen(theme.muted)
            axis.setTickPen(pg.mkPen(theme.grid, width=1))
            axis.set_words(axis.labelText, theme.text)
        self.value_line.setPen(pg.mkPen(theme.muted, width=1.5 * ratio))
        self.value_line.setHoverPen(pg.mkPen(theme.text, width=3 * ratio))
        self.claim_mark.setBrush(pg.mkBrush(theme.text))
        self.claim_mark.setPen(pg.mkPen(theme.axes, width=2))
        ground = QColor(theme.axes)
        ground.setAlpha(150)
        self.line_label.set_look(theme.text, ground)
        self.empty_label.set_look(theme.text, ground)
        self.crosshair.set_colour(theme.muted)
        self.end_names.set_colour(theme.text)
        self.handles.set_theme(theme, ratio)
        self.invalid.set_colour(theme.muted)
        if self.result is not None:
            self._restyle(self.result)
            self.set_hidden(self.hidden)

    def set_axes(self, x_label: str, y_label: str, x_log: bool, y_log: bool) -> None:
        """Set the titles and scales of the axes."""
        changed = (x_log, y_log) != (self.x_log, self.y_log)
        self.x_log, self.y_log = x_log, y_log
        self.bottom.set_log(x_log)
        self.left.set_log(y_log)
        for axis, text in ((self.bottom, x_label), (self.left, y_label)):
            if axis.labelText != text:
                axis.set_words(text, self._theme.text)
        if changed:
            self.user_view = False

    def show_result(self, result: Result) -> None:
        """Show a result: existing curves are updated, others added or removed."""
        keys = [s.key for s in result.series]
        # An estimate may become a bound under the same key, which changes its dashes.
        if self.result is None or _looks(result) != _looks(self.result):
            for key in set(self.curves) - set(keys):
                self._resting[key] = self.curves.pop(key)
                self._resting[key].set_visible(False)
            if self.result is not None and _subject(self.result) != _subject(result):
                for key in list(self._resting):
                    self._resting.pop(key).remove()
            for key in keys:
                if key in self._resting:
                    self.curves[key] = self._resting.pop(key)
                elif key not in self.curves:  # a curve enters the scene when it is created
                    self.curves[key] = Curve(self.view)
            self._restyle(result)
        self.result = result
        edges = bar_edges(result.series, self.x_log)
        for series in result.series:
            self.curves[series.key].set_series(
                series, self.x_log, self.y_log, edges.get(series.key)
            )
        self.bottom.set_whole(not self.x_log and whole_axis(result.series))
        self.set_hidden(self.hidden)
        if self.crosshair.table.isVisible():
            self.crosshair.hide()

    def set_hidden(self, hidden: frozenset[str]) -> None:
        """Hide these series."""
        self.hidden = hidden
        self._apply_hidden()
        self._show_lanes()
        self._name_ends()
        if not self.user_view:
            self.fit()

    def set_faded(self, keys: Collection[str]) -> None:
        """Fade the curves that show an earlier answer."""
        for key, curve in self.curves.items():
            curve.set_opacity(FADED if key in keys else 1.0)

    def set_frozen(self, frozen: bool) -> None:
        """Freeze the axes, so that they only grow, or move them to the ranges of the curves."""
        if frozen:
            self._settling.stop()
        elif self._frozen:
            self._settle()
        self._frozen = frozen

    def _settle(self) -> None:
        """Start the movement of the axes to the whole view."""
        if self.result is None or self.user_view:
            return
        start, end = self.view.viewRange(), self._whole()
        if start != end:
            self._settling.setStartValue(0.0)
            self._settling.setEndValue(1.0)
            self._from, self._to = start, end
            self._settling.start()

    def _move_axes(self, share: float) -> None:
        """Show ranges between those at the start and at the end of the movement."""
        x, y = (
            [a + share * (b - a) for a, b in zip(start, end, strict=True)]
            for start, end in zip(self._from, self._to, strict=True)
        )
        self._set_ranges([x, y])

    def set_names(self, names: Mapping[str, str], claimed: str) -> None:
        """Set the short names of curves, and the key of the claimed curve, which is bold."""
        self._short_names = names
        if claimed != self._claimed:
            self._claimed = claimed
            if self.result is not None:
                self._restyle(self.result)

    def _name_ends(self) -> None:
        """Show the short names at the curves' ends."""
        drawn = [self._drawn(s) for s in self._visible() if self._short_names and not s.pin]
        self.end_names.show_names(
            [
                EndName(d.name, d.colour, d.series.key in (self._claimed, self.chosen), d.curve)
                for d in drawn
                if d.series.mark in FUNCTIONS
            ]
        )

    def set_value_line(self, x: float | None, text: str) -> None:
        """Place the line at the slider's value; None hides it."""
        if x is None or (self.x_log and x <= 0):
            self.value_line.hide()
            self.line_label.hide()
            return
        at = math.log10(x) if self.x_log else x
        if at != self.value_line.value():
            self.value_line.setPos(at)
        if text != self.line_text:
            self.line_text = text
            self.line_label.set_text(text)
        self._place_label()
        self.value_line.show()
        self.line_label.show()

    def mark_value(self, at: tuple[float, float] | None) -> None:
        """Mark the claimed value at (x, y); None, or a point off the axes' scales, hides it."""
        logs = () if at is None else (self.x_log, self.y_log)
        place = [
            float(axis_coordinates(np.array([value]), log)[0])
            for value, log in zip(at or (), logs, strict=True)
        ]
        there = bool(place) and all(map(math.isfinite, place))
        if there:
            self.claim_mark.setPos(*place)
        if self.claim_mark.isVisible() != there:
            self.claim_mark.setVisible(there)

    def _place_label(self, *_: object) -> None:
        """Keep the line's label at the top, on the side with space."""
        (x0, x1), (y0, y1) = self.view.viewRange()
        self.empty_label.setPos((x0 + x1) / 2, (y0 + y1) / 2)
        at = self.value_line.value()
        self.line_label.set_anchor((1.0 if at > x0 + 0.8 * (x1 - x0) else 0.0, 0.0))
        self.line_label.setPos(at, y1)

    def choose(self, key: str) -> None:
        """Highlight one curve; none for an empty key."""
        self.chosen = key
        if self.result is not None:
            self._restyle(self.result)
            self._name_ends()

    def has_style(self, key: str) -> bool:
        """Return whether a curve of the result shown last has that key."""
        return key in self._styles

    def style_of(self, key: str) -> style.SeriesStyle:
        """Return the style of a series of the present result."""
        return self._styles[key]

    def _restyle(self, result: Result) -> None:
        self._styles = style.series_styles(result.series, self._theme.name)
        for key, factor in ((self._claimed, _CLAIMED_WIDTH), (self.chosen, _CHOSEN_WIDTH)):
            if key in self._styles:
                plain = self._styles[key]
                self._styles[key] = replace(plain, width=plain.width * factor)
        for key, curve in self.curves.items():
            curve.set_style(self._styles[key], self._theme.axes, self.devicePixelRatioF())

    def _apply_hidden(self) -> None:
        for key, curve in self.curves.items():
            curve.set_visible(key not in self.hidden)
        visible = self._visible()
        self.handles.show(visible, self.x_log, self.y_log)
        self.empty_label.setVisible(bool(self.curves) and not visible)

    def _show_lanes(self) -> None:
        lanes = []
        for series in self._visible():
            stretches = [self._in_view(*ends) for ends in absent_stretches(series)]
            if stretches:
                colour = QColor(self._styles[series.key].colour)
                name = self._short_names.get(series.key, series.label)
                lanes.append((colour, stretches, f"{name}: {series.undefined_reason}"))
        self.lanes.set_lanes(lanes)
        nothing = invalid_stretches(self.result.series) if self.result else []
        self.invalid.set_stretches([(*self._in_view(a, b), why) for a, b, why in nothing])

    def _in_view(self, low: float, high: float) -> tuple[float, float]:
        """Convert a range of x to view coordinates; an end off the axis is far outside."""
        a, b = axis_coordinates(np.array([low, high]), self.x_log)
        far = 1e300
        return (float(a) if np.isfinite(a) else -far, float(b) if np.isfinite(b) else far)

    def _visible(self) -> list[Series]:
        return [s for s in self.result.series if s.key not in self.hidden] if self.result else []

    # View

    def data_ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the visible ranges in data units."""
        (x0, x1), (y0, y1) = self.view.viewRange()
        return (
            (10**x0, 10**x1) if self.x_log else (x0, x1),
            (10**y0, 10**y1) if self.y_log else (y0, y1),
        )

    def set_data_ranges(self, x: tuple[float, float] | None, y: tuple[float, float] | None) -> None:
        """Show these ranges (data units); None for both resets the view."""
        self.user_view = x is not None or y is not None
        self.fit()
        if x is not None:
            self.view.setXRange(*axis_coordinates(np.array(x), self.x_log), padding=0)
        if y is not None:
            self.view.setYRange(*axis_coordinates(np.array(y), self.y_log), padding=0)

    def reset_view(self) -> None:
        """Reset the view."""
        self.user_view = False
        self.fit()
        self.view_changed.emit()

    def fit(self) -> None:
        """Fit the whole sweep, and all visible curves; while frozen, ranges only grow."""
        if self.result is None:
            return
        wanted, before = self._whole(), self.view.viewRange()
        framed = (_subject(self.result), self.result.request.sweep, self.x_log, self.y_log)
        if self._frozen and framed == self._framed:
            wanted = [
                list(hull([(a, b), (c, d)])) for (a, b), (c, d) in zip(before, wanted, strict=True)
            ]
        else:
            self._settling.stop()
        self._framed = framed
        self._set_ranges(wanted)

    def _whole(self) -> list[list[float]]:
        """Return the ranges that show the whole sweep and all visible curves."""
        assert self.result is not None
        extents = [(s.mark, self.curves[s.key].extent) for s in self._visible()]
        sweep, ends = self.result.request.sweep, None
        if sweep is not None:
            low, high = axis_coordinates(np.array([sweep.low, sweep.high]), self.x_log)
            ends = float(low), float(high)
        # The hatched lanes stand below the curves.
        return whole_view(
            extents,
            ends,
            self.view.viewRange(),
            (self.view.width(), self.view.height()),
            self.lanes.pixels,
            self.y_log,
        )

    def _set_ranges(self, wanted: list[list[float]]) -> None:
        if wanted != self.view.viewRange():
            self.view.setRange(
                xRange=wanted[0], yRange=wanted[1], padding=0, disableAutoRange=False
            )
            self.view.updateMatrix()  # doing it while painting would paint twice

    def _user_moved(self, *_: object) -> None:
        self._settling.stop()
        self.user_view = True
        self.view_changed.emit()

    # Pointer and keys

    def _line_dragged(self, line: pg.InfiniteLine) -> None:
        at = line.value()
        self.line_dragged.emit(10**at if self.x_log else at)

    def _pointer_moved(self, position: QPointF) -> None:
        area = self.view.sceneBoundingRect()
        if self.result is None or not area.contains(position):
            self.crosshair.hide()
            return
        point = self.view.mapSceneToView(position)
        reason = self.lanes.reason_at(point.x(), area.bottom() - position.y())
        drawn = [self._drawn(s) for s in self._visible()]
        shown, nearest = nearest_curves(drawn, point.x(), point.y())
        symbol = str(self.bottom.labelText).split("  ")[0]
        head = (symbol, format_number(self._data_x(point.x())))
        text = (
            wrap_text(reason)
            if reason
            else hover_table(
                head,
                drawn,
                shown,
                nearest,
                (point.x(), point.y()),
                self.view.viewPixelSize(),
                self.invalid.reason_at(point.x()),
            )
        )
        self.crosshair.show(
            self.mapFromScene(position),
            point.x(),
            point.y(),
            text,
            [(d.curve.x, d.curve.y) for d in drawn],
            nearest,
        )

    def _drawn(self, s: Series) -> Drawn:
        colour = self._styles[s.key].colour
        return Drawn(s, self._short_names.get(s.key, s.label), colour, self.curves[s.key])

    def _data_x(self, x: float) -> float:
        return 10**x if self.x_log else x

    def value_at(self, key: str, x: float) -> float | None:
        """Return the value of a curve at x (view coordinates); None if undefined."""
        return value_at(self.curves[key], x)

    def value_here(self, key: str) -> float | None:
        """Return the value of a curve at the value line; None if undefined."""
        if not self.value_line.isVisible() or key not in self.curves:
            return None
        return self.value_at(key, self.value_line.value())

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the crosshair."""
        self.crosshair.hide()
        super().leaveEvent(event)

    def mouseDoubleClickEvent(self, event: object) -> None:
        """Reset the view."""
        self.reset_view()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        if hasattr(self, "crosshair"):
            self.crosshair.hide()
            self._name_ends()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Frame the axes."""
        super().focusInEvent(event)
        self.view.setBorder(pg.mkPen(self.palette().highlight().color(), width=2))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the frame of the focus."""
        super().focusOutEvent(event)
        self.view.setBorder(None)

    def _resized(self, *_: object) -> None:
        """Fit the plot to the space beside the axes and their titles."""
        self.titles.place()
        if not self.user_view:
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the plot's own keys."""
        key = Qt.Key(event.key())
        if (steps := guide_steps(event)) and self.value_line.isVisible():
            self.guide_stepped.emit(steps)
        elif key == Qt.Key.Key_Escape and (
            held := [h for h in (self.value_line, *self.handles.rings) if h.moving]
        ):
            held[0].moving = False  # the window takes the drag back
            event.ignore()
        elif (by := curve_steps(event)) or (key == Qt.Key.Key_Escape and self.chosen):
            self.curve_stepped.emit(by)
        elif move_by_key(self.view, key):
            self._user_moved()
        elif key in WHOLE:
            self.reset_view()
        elif not self.titles.open(key):
            event.ignore()


def _subject(result: Result) -> tuple[str, str]:
    return result.request.study, result.request.quantity


def _looks(result: Result) -> list[tuple[str, str]]:
    """Return the properties on which the styles of a result depend."""
    return [(s.key, s.role) for s in result.series]


class TargetLine(QObject):
    """Draggable horizontal line at a target value, with a label at the right end.

    Parameters
    ----------
    plot : BoundsPlot

    Signals
    -------
    dragged(float)
        Position of the dragged line, in data units.
    released()
    """

    dragged = Signal(float)
    released = Signal()

    def __init__(self, plot: BoundsPlot) -> None:
        super().__init__(plot)
        self._plot = plot
        self.target: float | None = None
        self._symbol = ""
        self.line = pg.InfiniteLine(angle=0, movable=True)
        self.line.setZValue(14)
        self.line.setCursor(Qt.CursorShape.SizeVerCursor)
        self.line.sigDragged.connect(self._dragged)
        self.line.sigPositionChangeFinished.connect(lambda _: self.released.emit())
        self.label = PlotLabel(plot.view, 16, (1.0, 1.0))
        plot.view.addItem(self.line, ignoreBounds=True)
        for item in (self.line, self.label):
            item.hide()
        plot.view.sigRangeChanged.connect(self._place_label)
        self.line.sigPositionChanged.connect(self._place_label)

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        ratio = self._plot.devicePixelRatioF()
        pen = pg.mkPen(theme.stamp_text, width=1.3 * ratio, style=Qt.PenStyle.DashLine)
        self.line.setPen(pen)
        self.line.setHoverPen(pg.mkPen(theme.stamp_text, width=3 * ratio))
        ground = QColor(theme.axes)
        ground.setAlpha(225)
        self.label.set_look(theme.stamp_text, ground)

    def show(self, target: float | None, symbol: str = "") -> None:
        """Set the target (data units); None, or one below a logarithmic axis, hides it."""
        self.target, self._symbol = target, symbol
        visible = False
        if target is not None and not (self._plot.y_log and target <= 0):
            visible = True
            at = math.log10(target) if self._plot.y_log else target
            if at != self.line.value():
                self.line.setPos(at)
            self._place_label()
        self.line.setVisible(visible)
        self.label.setVisible(visible)

    def _dragged(self, line: pg.InfiniteLine) -> None:
        at = line.value()
        self.dragged.emit(10**at if self._plot.y_log else at)

    def _place_label(self, *_: object) -> None:
        """Keep the label at the right end, on the side of the line with space."""
        if self.target is None:
            return
        (_, x1), (y0, y1) = self._plot.view.viewRange()
        at = self.line.value()
        self.label.set_anchor((1.0, 0.0 if at > y1 - 0.12 * (y1 - y0) else 1.0))
        self.label.set_text(f"target {self._symbol} = {format_number(self.target)}")
        self.label.setPos(x1, at)
