"""Colour bar below the panes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from explorer.figures.colour_maps import diverging_table, largest
from explorer.studies.base.study import Surface

BAR_HEIGHT = 10
MAX_TICKS = 6


def round_step(top: float, at_most: int) -> float:
    """Return the smallest of 1, 2, 5 × 10^k that fits at most `n` times into 0…top (> 0)."""
    exponent = math.floor(math.log10(top / at_most))
    for factor in (1, 2, 5, 10, 20):
        step = factor * 10.0**exponent
        if top / step <= at_most:
            return step
    raise AssertionError("a step of 2 decades always fits")


def format_share(value: float, step: float | None = None, like: float | None = None) -> str:
    """Format a share of all users' weight: in % or, if very small, in ppm.

    Parameters
    ----------
    value : float
        Share, 0…1.
    step : float, optional
        Distance to the neighbouring value, which sets the decimals. Without it three significant
        digits.
    like : float, optional
        Share that selects the unit, so that neighbouring values have the same.
    """
    if value == 0:
        return "0"
    unit, name = (1e-2, "%") if (like or step or abs(value)) >= 1e-5 else (1e-6, "ppm")
    if step is None:
        digits = min(6, max(0, 2 - math.floor(math.log10(abs(value) / unit))))
    else:
        digits = max(0, -math.floor(math.log10(step / unit) + 1e-9))
    return f"{value / unit:.{digits}f} {name}".replace("-", "−")


class ColourBar(QWidget):
    """Horizontal colour bar with ticks; a wedge marks values beyond its end."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setToolTip(
            "Share of all users' weight that a cell of the blurred map holds; every user weighs "
            "the same. A wedge at the end: some cells lie beyond the scale."
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._top = 0.0
        self._beyond = False
        self._diverging = False
        self._image = QImage()

    @property
    def top(self) -> float:
        """Value at the end of the scale; 0 for none."""
        return self._top

    @property
    def beyond(self) -> bool:
        """Whether the wedge is shown."""
        return self._beyond

    def set_colours(self, table: np.ndarray) -> None:
        """Set the colour map: uint8, shape (256, 3)."""
        line = np.ascontiguousarray(table[:, :3], dtype=np.uint8)
        self._image = QImage(line.data, 256, 1, 768, QImage.Format.Format_RGB888).copy()
        self.update()

    def set_scale(self, top: float, beyond: bool, diverging: bool = False) -> None:
        """Set the end of the scale, whether values exceed it, and whether it begins below 0."""
        if (top, beyond, diverging) != (self._top, self._beyond, self._diverging):
            self._top, self._beyond, self._diverging = top, beyond, diverging
            low = format_share(-top if diverging else 0.0)
            self.setAccessibleDescription(f"from {low} to {format_share(top)}")
            self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(200, BAR_HEIGHT + self.fontMetrics().height() + 8)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the widget."""
        painter = QPainter(self)
        text = self.palette().color(QPalette.ColorRole.WindowText)
        bar = QRectF(10.5, 2.5, self.width() - 32, BAR_HEIGHT)
        painter.drawImage(bar, self._image)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Mid), 1))
        painter.drawRect(bar)
        if self._top <= 0:
            return
        if self._beyond:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for end, out, colour in ((bar.right(), 9, 255), (bar.left(), -9, 0)):
                if out > 0 or self._diverging:
                    painter.setBrush(self._image.pixelColor(colour, 0))
                    painter.drawPolygon(
                        QPolygonF(
                            [
                                QPointF(end, bar.top()),
                                QPointF(end + out, bar.center().y()),
                                QPointF(end, bar.bottom()),
                            ]
                        )
                    )
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(text)
        metrics = painter.fontMetrics()
        widest = metrics.horizontalAdvance("0.0000 %") + 14
        at_most = max(1, min(MAX_TICKS, int(bar.width() // widest)))
        step = round_step(self._top, 2 if self._diverging else at_most)
        highest = int(self._top / step + 1e-9)
        # A scale on both sides of 0 has space for its ends only.
        ticks = (-highest, 0, highest) if self._diverging else range(highest + 1)
        for index in ticks:
            value = index * step
            place = value / self._top if not self._diverging else 0.5 + value / self._top / 2
            x = round(bar.left() + place * bar.width()) + 0.0
            painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3))
            label = format_share(value, step)
            wide = metrics.horizontalAdvance(label)
            left = min(max(x - wide / 2, 0), self.width() - wide)
            painter.drawText(
                QRectF(left, bar.bottom() + 4, wide + 1, metrics.height()),
                Qt.AlignmentFlag.AlignLeft,
                label,
            )


class SharedBars(QWidget):
    """Common colour bars of all panes: of maps, and of differences."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.maps = ColourBar("Colour scale")
        self.difference = ColourBar("Colour scale of the difference")
        self.difference.set_colours(diverging_table())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.maps, 2)
        row.addWidget(self.difference, 1)

    def show_scale(self, end: float, surfaces: Iterable[Surface]) -> None:
        """Show a scale that ends at `end`, and whether a surface exceeds it."""
        reached = {False: 0.0, True: 0.0}
        for surface in surfaces:
            reached[surface.diverging] = max(reached[surface.diverging], largest(surface))
        for diverging, bar in ((False, self.maps), (True, self.difference)):
            bar.set_scale(end, reached[diverging] > end * (1 + 1e-6), diverging)
