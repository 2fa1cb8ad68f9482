"""Draggable horizontal line at the target value of a plot."""

import math

import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor

from explorer.figures import style
from explorer.studies.base.numbers import format_number
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.plot.labels import PlotLabel


class TargetLine(QObject):
    """Horizontal line across a plot with a label at the right end.

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
