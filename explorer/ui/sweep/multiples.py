"""Small multiples: grid of plots with common axes, cursor and legend, in pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QListWidget, QListWidgetItem, QWidget

from explorer.figures import style
from explorer.figures.captions import legend_label
from explorer.figures.geometry import axis_coordinates, bar_edges
from explorer.figures.grid import Panel
from explorer.figures.style import SeriesStyle
from explorer.studies.base.numbers import APPROXIMATELY, format_number
from explorer.studies.base.study import Series
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.plot.axes import ValueAxis
from explorer.ui.plot.curves import Curve, pen_of
from explorer.ui.plot.labels import PlotLabel
from explorer.ui.plot.reading import COMPUTING, NOT_VALID, reading

MIN_PLOT_SIZE = (128, 92)
"""Minimum size of a plot in pixels; pages with larger grids scroll."""
MARGIN_SIZE = (110, 80)
"""Space for axes and headings in pixels."""
ABSENT_SIGN = "✗"
MAX_READINGS = 4
"""Maximum number of values shown at the cursor in a plot."""
Ends = tuple[float, float]


class _Bottom(ValueAxis):
    """X axis of one column; without a label where the next column begins."""

    def __init__(self, last: bool) -> None:
        super().__init__("bottom")
        self._last = last

    def tickStrings(self, values: list[float], scale: float, spacing: float | None) -> list[str]:
        """Return the labels of major ticks."""
        (low, high), texts = self.range, super().tickStrings(values, scale, spacing)
        if self._last or not texts:
            return texts
        end = low + 0.8 * (high - low)
        return [text if v < end else "" for v, text in zip(values, texts, strict=True)]


class _Plot:
    """One plot: view, curves, failure mark, cursor line and values."""

    def __init__(self) -> None:
        self.view = pg.ViewBox(enableMenu=False, defaultPadding=0.0)
        self.view.disableAutoRange()
        self.panel: Panel | None = None
        self.curves: dict[str, Curve] = {}
        self.line = pg.InfiniteLine(angle=90, movable=False)
        self.line.setZValue(20)
        self.line.hide()
        self.view.addItem(self.line, ignoreBounds=True)
        self.mark = PlotLabel(self.view, 22, (1.0, 1.0))
        self.values = [PlotLabel(self.view, 24, (0.0, 0.0)) for _ in range(MAX_READINGS)]
        self.view.sigRangeChanged.connect(self.place_mark)

    def place_mark(self, *_: object) -> None:
        (_, right), (bottom, _) = self.view.viewRange()
        self.mark.setPos(right, bottom)


class SmallMultiples(pg.GraphicsView):
    """Grid of plots with common axes.

    Signals
    -------
    chosen(int)
        Index of the plot selected by click, ↑ or ↓.
    opened(int)
        Double click or Enter.
    page_stepped(int)
        Page Up (−1) or Page Down (1).
    """

    chosen = Signal(int)
    opened = Signal(int)
    page_stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__(background=None)
        self.setObjectName("small-multiples")
        self.setAccessibleName("Small multiples")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = style.LIGHT
        self._styles: dict[str, style.SeriesStyle] = {}
        self._hidden: frozenset[str] = frozenset()
        self._shape = (0, 0)
        self._whole: tuple[Ends, Ends] = ((0.0, 1.0), (0.0, 1.0))
        self._moving = False
        self.user_view = False
        """Whether the user zoomed or panned."""
        self.x_log = self.y_log = False
        self.x_symbol = "x"
        self.plots: list[_Plot] = []
        self.cursor_at: float | None = None
        """Cursor position in view coordinates."""
        self.selected = 0
        self.read_first: tuple[str, ...] = ()
        """Keys of curves whose values are listed first."""
        self.scene().sigMouseMoved.connect(self._pointer_moved)

    # Content

    def set_theme(self, theme: style.Theme) -> None:
        """Apply the colours of a theme."""
        self._theme = theme
        self.setBackground(theme.background)

    def show_panels(
        self,
        panels: list[Panel],
        headings: tuple[list[str], list[str]],
        labels: tuple[str, str],
    ) -> None:
        """Show plots row by row, with headings."""
        shape = (len(headings[1]), len(headings[0]))
        if shape != self._shape:
            self._shape = shape
            self._build()
        self._write(headings, labels)
        for plot, panel in zip(self.plots, panels, strict=True):
            plot.panel = panel
            keys = [s.key for s in panel.series]
            for gone in set(plot.curves).difference(keys):
                plot.curves.pop(gone).remove()
            edges = bar_edges(panel.series, self.x_log)
            for s in panel.series:
                if s.key not in plot.curves:
                    plot.curves[s.key] = Curve(plot.view)
                curve = plot.curves[s.key]
                curve.set_style(self._styles[s.key], self._theme.axes, self.devicePixelRatioF())
                curve.set_series(s, self.x_log, self.y_log, edges.get(s.key))
                curve.set_visible(s.key not in self._hidden)
            self._mark(plot, panel)
        self._choose(min(self.selected, len(self.plots) - 1), tell=False)
        self._read()

    def set_look(
        self,
        styles: dict[str, style.SeriesStyle],
        hidden: frozenset[str],
        x_log: bool,
        y_log: bool,
        x: Ends,
        y: Ends,
    ) -> None:
        """Set styles, hidden curves and the common ranges in data units."""
        if (x_log, y_log) != (self.x_log, self.y_log):
            self.user_view, self.cursor_at = False, None
        self._styles, self._hidden = styles, hidden
        self.x_log, self.y_log = x_log, y_log
        (x0, x1), (y0, y1) = (
            axis_coordinates(np.array(ends), log) for ends, log in ((x, x_log), (y, y_log))
        )
        space = 0.06 * (y1 - y0)
        self._whole = ((float(x0), float(x1)), (float(y0 - space), float(y1 + space)))
        if not self.user_view:
            self._show_range(*self._whole)

    def _build(self) -> None:
        """Create the plots, with axes at the left and bottom."""
        rows, columns = self._shape
        grid = pg.GraphicsLayout()
        grid.setContentsMargins(4, 2, 6, 2)
        grid.setSpacing(4)
        self.plots = [_Plot() for _ in range(rows * columns)]
        self._above = [pg.LabelItem() for _ in range(columns)]
        self._beside = [pg.LabelItem(angle=90) for _ in range(rows)]
        self._lefts = [ValueAxis("left") for _ in range(rows)]
        self._bottoms = [_Bottom(i == columns - 1) for i in range(columns)]
        self._words = (pg.LabelItem(), pg.LabelItem(angle=-90))
        grid.addItem(self._words[1], 1, 0, rows, 1)
        for row in range(rows):
            grid.addItem(self._lefts[row], row + 1, 1)
            grid.addItem(self._beside[row], row + 1, columns + 2)
            grid.layout.setRowStretchFactor(row + 1, 1)
        for column in range(columns):
            grid.addItem(self._above[column], 0, column + 2)
            grid.addItem(self._bottoms[column], rows + 1, column + 2)
            grid.layout.setColumnStretchFactor(column + 2, 1)
        grid.addItem(self._words[0], rows + 2, 2, 1, columns)
        for number, plot in enumerate(self.plots):
            row, column = divmod(number, columns)
            grid.addItem(plot.view, row + 1, column + 2)
            plot.view.sigRangeChangedManually.connect(partial(self._user_moved, plot))
        for row, axis in enumerate(self._lefts):
            axis.linkToView(self.plots[row * columns].view)
        for column, axis in enumerate(self._bottoms):
            axis.linkToView(self.plots[(rows - 1) * columns + column].view)
        self._grid = grid  # not owned by the scene
        self.setCentralItem(grid)
        self.setMinimumSize(
            MARGIN_SIZE[0] + columns * MIN_PLOT_SIZE[0], MARGIN_SIZE[1] + rows * MIN_PLOT_SIZE[1]
        )
        self.cursor_at = None
        self.selected = 0
        self._show_range(*self._whole)

    def _write(self, headings: tuple[list[str], list[str]], labels: tuple[str, str]) -> None:
        theme = self._theme
        for items, texts in zip(
            (self._above, self._beside, self._words), (*headings, labels), strict=True
        ):
            for item, text in zip(items, texts, strict=True):
                item.setText(text, color=theme.text, size="9pt")
        for axis in (*self._lefts, *self._bottoms):
            axis.set_log(self.y_log if axis in self._lefts else self.x_log)
            axis.setPen(pg.mkPen(theme.frame, width=1))
            axis.setTextPen(theme.muted)
            axis.setTickPen(pg.mkPen(theme.frame, width=1))
        ground = QColor(theme.axes)
        ground.setAlpha(205)
        for plot in self.plots:
            plot.view.setBackgroundColor(theme.axes)
            plot.line.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
            plot.mark.set_look(theme.stamp_text, ground)

    def _mark(self, plot: _Plot, panel: Panel) -> None:
        """Show the number of failing conditions in a plot's corner, or that there is no result."""
        failing = panel.failing(self._hidden)
        message = f"✗ {len(failing)}" if failing else ""
        if not panel.cells:
            message = COMPUTING
        elif panel.errors:
            message = "✗ no answer"
        plot.mark.set_text(message)
        plot.mark.setVisible(bool(message))
        plot.place_mark()
        tips = [*panel.errors, *(f"✗ {text}" for text in failing)]
        plot.view.setToolTip("\n".join(tips))

    # View

    def _show_range(self, x: Ends, y: Ends) -> None:
        self._moving = True
        for plot in self.plots:
            plot.view.setRange(xRange=x, yRange=y, padding=0, disableAutoRange=False)
        self._moving = False

    def _user_moved(self, plot: _Plot, *_: object) -> None:
        if not self._moving:
            self.user_view = True
            x, y = plot.view.viewRange()
            self._show_range(tuple(x), tuple(y))
            self._read()

    def reset_view(self) -> None:
        """Reset the view."""
        self.user_view = False
        self._show_range(*self._whole)

    # Cursor and selected plot

    def set_cursor(self, x: float | None) -> None:
        """Place the cursor at x in all plots, in view coordinates; None removes it."""
        self.cursor_at = x
        self._read()

    def readings(self) -> list[list[tuple[str, str]]]:
        """Return the values at the cursor: curve keys and texts per plot."""
        x = self.cursor_at
        if x is None:
            return [[] for _ in self.plots]
        values = []
        for plot in self.plots:
            there = []
            for s in plot.panel.series if plot.panel is not None else ():
                if s.key in self._hidden or not s.present.any():
                    continue
                absent = COMPUTING if s.computing else "∞" if s.infinite else ABSENT_SIGN
                curve = plot.curves[s.key]
                text = reading(curve, x, 0.0, plot.view.viewPixelSize(), self.x_symbol, absent)
                text = ABSENT_SIGN if text == NOT_VALID else text
                plain = text == absent or text.startswith(APPROXIMATELY)
                there.append((s.key, text if plain else f"{s.role.glyph} {text}"))
            rank = {key: i for i, key in enumerate(self.read_first)}
            values.append(sorted(there, key=lambda one: rank.get(one[0], len(rank))))
        return values

    def _read(self) -> None:
        ground = QColor(self._theme.axes)
        ground.setAlpha(205)
        message = []
        for plot, there in zip(self.plots, self.readings(), strict=True):
            plot.line.setVisible(self.cursor_at is not None)
            if self.cursor_at is not None:
                plot.line.setPos(self.cursor_at)
            (left, right), (_, top) = plot.view.viewRange()
            aside = self.cursor_at is not None and self.cursor_at > (left + right) / 2
            line = plot.view.viewPixelSize()[1] * (self.fontMetrics().height() + 4)
            for i, label in enumerate(plot.values):
                label.setVisible(i < len(there))
                if i < len(there):
                    key, text = there[i]
                    label.set_look(self._styles[key].colour, ground)
                    label.set_text(text)
                    # On the side of the plot away from the cursor.
                    label.set_anchor((0.0, 0.0))
                    label.setPos(left if aside else (left + right) / 2, top - i * line)
            if there:
                message.append("; ".join(text for _, text in there[:MAX_READINGS]))
        if self.cursor_at is not None:
            x = 10**self.cursor_at if self.x_log else self.cursor_at
            text = f"{self.x_symbol} = {format_number(float(x))}: {' | '.join(message)}"
            self.setAccessibleDescription(text)

    def _choose(self, number: int, tell: bool = True) -> None:
        self.selected = max(number, 0)
        for i, plot in enumerate(self.plots):
            here = i == self.selected
            colour = self._theme.map_region if here else self._theme.frame
            plot.view.setBorder(pg.mkPen(colour, width=2 if here else 1))
        if tell:
            self.chosen.emit(self.selected)

    def _plot_at(self, position: QPointF) -> int | None:
        for number, plot in enumerate(self.plots):
            if plot.view.sceneBoundingRect().contains(position):
                return number
        return None

    # Pointer and keys

    def _pointer_moved(self, position: QPointF) -> None:
        number = self._plot_at(position)
        if number is not None:
            at = self.plots[number].view.mapSceneToView(position).x()
            computed = self._computed(number)
            # Interpolated values are not bounds: the nearest computed point is used.
            near = computed[np.argmin(np.abs(computed - at))] if computed.size else at
            self.set_cursor(float(near))

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the cursor."""
        self.set_cursor(None)
        super().leaveEvent(event)

    def mousePressEvent(self, event: object) -> None:
        """Select the plot."""
        super().mousePressEvent(event)
        number = self._plot_at(self.mapToScene(event.position().toPoint()))  # type: ignore[attr-defined]
        if number is not None:
            self._choose(number)

    def mouseDoubleClickEvent(self, event: object) -> None:
        """Open the plot."""
        number = self._plot_at(self.mapToScene(event.position().toPoint()))  # type: ignore[attr-defined]
        if number is not None:
            self.opened.emit(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the grid's own keys."""
        keys: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Left: lambda: self._step(-1),
            Qt.Key.Key_Right: lambda: self._step(1),
            Qt.Key.Key_Up: lambda: self._choose(max(self.selected - 1, 0)),
            Qt.Key.Key_Down: lambda: self._choose(min(self.selected + 1, len(self.plots) - 1)),
            Qt.Key.Key_PageUp: lambda: self.page_stepped.emit(-1),
            Qt.Key.Key_PageDown: lambda: self.page_stepped.emit(1),
            Qt.Key.Key_Return: lambda: self.opened.emit(self.selected),
            Qt.Key.Key_Enter: lambda: self.opened.emit(self.selected),
            Qt.Key.Key_0: self.reset_view,
            Qt.Key.Key_Home: self.reset_view,
        }
        act = keys.get(event.key())
        if act is None or not self.plots:
            event.ignore()
        else:
            act()

    def _computed(self, number: int) -> np.ndarray:
        """Return the nearest computed x of a plot, in view coordinates."""
        panel = self.plots[number].panel
        shown = [s for s in panel.series if s.key not in self._hidden] if panel else []
        xs = [axis_coordinates(s.x, self.x_log) for s in shown]
        places = np.unique(np.concatenate(xs)) if xs else np.empty(0)
        return places[np.isfinite(places)]

    def _step(self, way: int) -> None:
        """Move the cursor to the next computed x of the selected plot."""
        places = self._computed(self.selected)
        if not places.size:
            return
        if self.cursor_at is None:
            self.set_cursor(float(places[0] if way > 0 else places[-1]))
            return
        gap = 1e-9 * (float(np.ptp(places)) or 1.0)
        later = places[(places - self.cursor_at) * way > gap]
        if later.size:
            self.set_cursor(float(later[0] if way > 0 else later[-1]))


_ICON = QSize(26, 10)
_LINES = 3
MIN_COLUMN_PX = 230
"""Maximum width in pixels; longer texts are elided, with a tool tip."""


class Legend(QListWidget):
    """Common legend with check boxes that show or hide curves in all plots.

    Signals
    -------
    ticked(str, bool)
        Key of a curve, and whether to show it.
    """

    ticked = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Curves")
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setIconSize(_ICON)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMaximumHeight(_LINES * (self.fontMetrics().height() + 8))
        self._listed: tuple[object, ...] = ()
        self.itemChanged.connect(self._changed)

    def show_curves(
        self,
        series: Sequence[Series],
        styles: Mapping[str, SeriesStyle],
        hidden: Collection[str],
        *,
        ticks: bool,
    ) -> None:
        """List these curves."""
        listed = (
            tuple((s.key, legend_label(s), s.note, styles[s.key]) for s in series),
            tuple(sorted(hidden)),
            ticks,
        )
        if listed == self._listed:
            return
        self._listed = listed
        selected = self.chosen
        self.blockSignals(True)
        self.clear()
        for s in series:
            item = QListWidgetItem(_sample(styles[s.key]), legend_label(s))
            item.setData(Qt.ItemDataRole.UserRole, s.key)
            item.setToolTip("\n".join(filter(None, (legend_label(s), str(s.reference), s.note))))
            if ticks:
                shown = Qt.CheckState.Unchecked if s.key in hidden else Qt.CheckState.Checked
                item.setCheckState(shown)
            self.addItem(item)
            if s.key == selected:
                self.setCurrentItem(item)
        self.blockSignals(False)
        self._fit()

    @property
    def chosen(self) -> str:
        """Key of the current curve; empty for none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use as many columns as fit."""
        space = self.viewport().width() - 4
        high = self.fontMetrics().height() + 6
        self.setGridSize(QSize(space // max(1, space // MIN_COLUMN_PX), high))
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """Give each curve the width of a column."""
        self.blockSignals(True)
        for row in range(self.count()):
            self.item(row).setSizeHint(self.gridSize())
        self.blockSignals(False)

    def item_of(self, key: str) -> QListWidgetItem:
        """Return the row of a curve; KeyError if not listed."""
        for row in range(self.count()):
            if self.item(row).data(Qt.ItemDataRole.UserRole) == key:
                return self.item(row)
        raise KeyError(key)

    def _changed(self, item: QListWidgetItem) -> None:
        shown = item.checkState() is Qt.CheckState.Checked
        self.ticked.emit(str(item.data(Qt.ItemDataRole.UserRole)), shown)


class PageBar(QWidget):
    """Pager: ‹ δ = 10⁻⁹ · page 1 of 3 ›.

    Signals
    -------
    stepped(int)
    """

    stepped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.before = tool_button("‹", "The page before (Page Up)", "The page before")
        self.after = tool_button("›", "The next page (Page Down)", "The next page")
        self.which = styled_label("heading")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        for widget in (self.before, self.which, self.after):
            row.addWidget(widget)
        row.addStretch(1)
        self.before.clicked.connect(lambda _=False: self.stepped.emit(-1))
        self.after.clicked.connect(lambda _=False: self.stepped.emit(1))

    def show_page(self, words: str, page: int, pages: int) -> None:
        """Set page number and count."""
        self.which.setText(f"{words} · page {page + 1} of {pages}")
        self.before.setEnabled(page > 0)
        self.after.setEnabled(page < pages - 1)


def _sample(style: SeriesStyle) -> QIcon:
    """Return a sample of a curve."""
    picture = QPixmap(_ICON * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(QColor(0, 0, 0, 0))
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen_of(style))
    painter.drawLine(1, 5, 25, 5)
    painter.end()
    return QIcon(picture)
