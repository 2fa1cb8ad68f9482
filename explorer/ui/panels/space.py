"""Picture of the metric space of the current answer."""

import numpy as np
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from explorer.figures import style
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import SpacePicture
from explorer.ui.base.styled import styled_label
from explorer.ui.plot.curves import SYMBOLS
from explorer.ui.widgets.fixed_size_text import FixedSizeText

MAX_POINTS = 1500
"""Maximum number of points; more would overlap in so small a picture."""
_MARGIN = 9.0


class SpacePlot(QWidget):
    """Points of a space in the plane, x and y on one scale, colour and shape by cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.points = np.empty((0, 2))
        self.groups = np.empty(0, np.intp)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)

    def set_points(self, points: np.ndarray, groups: np.ndarray) -> None:
        """Show points, one row each, and their clusters."""
        places = np.arange(len(points))
        if len(points) > MAX_POINTS:
            places = np.linspace(0, len(points) - 1, MAX_POINTS).round().astype(int)
        self.points = np.asarray(points, float)[places]
        self.groups = np.asarray(groups)[places]
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """Return a low size for points on a line, a higher one otherwise."""
        spans = np.ptp(self.points, axis=0) if len(self.points) else np.zeros(2)
        return QSize(220, 30 if spans[1] <= 0.05 * spans[0] else 118)

    def positions(self) -> np.ndarray:
        """Return the positions of the points in pixels of the widget."""
        if not len(self.points):
            return np.empty((0, 2))
        low, high = self.points.min(0), self.points.max(0)
        room = np.array([self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN])
        spans = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            scales = np.where(spans > 0, np.maximum(room, 1.0) / spans, np.inf)
        scale = float(scales.min()) if np.isfinite(scales.min()) else 1.0
        middle = np.array([self.width(), self.height()]) / 2
        flip = np.array([1.0, -1.0])
        positions: np.ndarray = middle + (self.points - (low + high) / 2) * scale * flip
        return positions

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the points."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        dark = palette.base().color().lightness() < 128
        theme = style.DARK if dark else style.LIGHT
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.setBrush(QColor(theme.axes))
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
        size = 5.0 if len(self.points) <= 150 else 3.0
        edge = QColor(theme.axes)
        for (x, y), group in zip(self.positions(), self.groups, strict=True):
            painter.save()
            painter.translate(QPointF(x, y))
            painter.scale(size, size)
            painter.setPen(QPen(edge, 0.6 / size))
            painter.setBrush(QColor(theme.curves[group % len(theme.curves)]))
            painter.drawPath(Symbols[SYMBOLS[style.MARKERS[group % len(style.MARKERS)]]])
            painter.restore()


class SpaceView(QWidget):
    """Kind, picture, diameter and note of a metric space."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: SpacePicture | None = None
        self.name = FixedSizeText()
        self.plot = SpacePlot()
        self.diameter = styled_label("muted", word_wrap=True)
        self.diameter.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.note = FixedSizeText("faint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 6)
        layout.setSpacing(4)
        for widget in (self.name, self.plot, self.diameter, self.note):
            layout.addWidget(widget)

    def show_space(self, space: SpacePicture) -> None:
        """Show a space, unless it is shown already."""
        before = self._shown
        if before is space or (before is not None and _same(before, space)):
            return
        self._shown = space
        clusters = len(np.unique(space.groups))
        name = space.name[:1].upper() + space.name[1:]
        self.name.setText(name)
        self.plot.set_points(space.points, space.groups)
        diameter = f"Diameter {format_number(space.diameter)} {space.unit}".rstrip()
        if diameter != self.diameter.text():
            self.diameter.setText(diameter)
        self.note.setText(space.note)
        self.note.setVisible(bool(space.note))
        self.plot.setAccessibleName(f"Picture of the space: {space.name}")
        self.plot.setAccessibleDescription(
            f"{len(space.points)} points"
            + (f" in {clusters} clusters" if clusters > 1 else "")
            + f". {diameter}. {space.note}"
        )
        self.plot.setToolTip(f"<p>{name}: {self.plot.accessibleDescription()}</p>")


def _same(a: SpacePicture, b: SpacePicture) -> bool:
    return (
        (a.name, a.diameter, a.unit, a.note) == (b.name, b.diameter, b.unit, b.note)
        and np.array_equal(a.points, b.points)
        and np.array_equal(a.groups, b.groups)
    )
