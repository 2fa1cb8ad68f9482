"""Colour bar below the panes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from explorer.figures.colour_maps import (
    DIFFERENCE_SCALE,
    ERROR_SCALE,
    MAPS_SCALE,
    diverging_table,
    largest,
    scale_of,
)
from explorer.studies.base.study import Surface

BAR_HEIGHT, WEDGE, APART = 10, 9, 6
"""Height of the bar, length of its wedges and space between labels, in pixels."""
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


@dataclass(frozen=True)
class People:
    """Unit of a legend in people instead of shares.

    Attributes
    ----------
    factor : float
        People, per km² where there are kilometres, of a share of 1 in a cell.
    unit : str
    """

    factor: float
    unit: str

    @classmethod
    def of(cls, users: float, surface: Surface) -> People:
        """Return the unit of a map of a number of users, all of whom weigh the same."""
        region, (rows, columns) = surface.region, surface.values.shape
        if region is None or region.plane is not None:
            return cls(users, "people per cell")
        return cls(users * rows * columns / (region.width_km * region.height_km), "people per km²")

    def format(self, share: float, step: float | None = None) -> str:
        """Format a share as people; `step` is the distance of ticks in people."""
        value = share * self.factor
        if value == 0:
            return "0"
        finest = step if step is not None else abs(value) / 100
        digits = min(6, max(0, -math.floor(math.log10(finest) + 1e-9)))
        return f"{value:,.{digits}f}".replace("-", "−")


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
        self._people: People | None = None
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
            self._describe()

    def set_people(self, people: People | None) -> None:
        """Write people instead of shares; None for shares."""
        if people != self._people:
            self._people = people
            self._describe()

    def _describe(self) -> None:
        low = -self._top if self._diverging else 0.0
        if self._people is None:
            ends = f"from {format_share(low)} to {format_share(self._top)}"
        else:
            people = self._people
            ends = f"from {people.format(low)} to {people.format(self._top)} {people.unit}"
        self.setAccessibleDescription(ends)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(200, BAR_HEIGHT + self.fontMetrics().height() + 3)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the widget."""
        painter = QPainter(self)
        text = self.palette().color(QPalette.ColorRole.WindowText)
        bar = QRectF(0.5, 0.5, self.width() - 1, BAR_HEIGHT - 1)
        if self._beyond:
            bar.adjust(WEDGE if self._diverging else 0, 0, -WEDGE, 0)
        painter.drawImage(bar, self._image)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Mid), 1))
        painter.drawRect(bar)
        if self._top <= 0:
            return
        if self._beyond:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for end, out, colour in ((bar.right(), WEDGE, 255), (bar.left(), -WEDGE, 0)):
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
        free = math.inf
        # From the right, so that the end of the scale always has its number.
        for x, label in reversed(self._marks(bar, metrics.horizontalAdvance("0.0000 %") + 14)):
            painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 2))
            wide = metrics.horizontalAdvance(label)
            left = min(max(x - wide / 2, 0), self.width() - wide)
            if left + wide + APART <= free:
                free = left
                painter.drawText(
                    QRectF(left, bar.bottom() + 2, wide + 1, metrics.height()),
                    Qt.AlignmentFlag.AlignLeft,
                    label,
                )

    def _marks(self, bar: QRectF, widest: float) -> list[tuple[float, str]]:
        """Return places in pixels and labels of ticks and ends, from the left."""
        top = self._top
        if self._diverging:  # space for its ends only
            ends = ((0.0, -top), (0.5, 0.0), (1.0, top))
            return [
                (round(bar.left() + at * bar.width()) + 0.0, self._end_label(value))
                for at, value in ends
            ]
        factor = 1.0 if self._people is None else self._people.factor
        step = round_step(top * factor, max(1, min(MAX_TICKS, int(bar.width() // widest))))
        marks = []
        for index in range(int(top * factor / step + 1e-9) + 1):
            share = index * step / factor
            number = (
                format_share(share, step)
                if self._people is None
                else self._people.format(share, step)
            )
            if share < top * (1 - 1e-9):
                marks.append((round(bar.left() + share / top * bar.width()) + 0.0, number))
        unit = "" if self._people is None else f" {self._people.unit}"
        return [*marks, (bar.right(), self._end_label(top) + unit)]

    def _end_label(self, value: float) -> str:
        """Return an end of the scale with two significant digits."""
        if value == 0:
            return "0"
        size = abs(value) if self._people is None else abs(value) * self._people.factor
        step = 10.0 ** (math.floor(math.log10(size)) - 1)
        if self._people is not None:
            number = self._people.format(value, step)
        else:
            number = format_share(value, step, abs(value))
        return f"+{number}" if self._diverging and value > 0 else number


class SharedBars(QWidget):
    """Common colour bars of all panes: of maps, of differences, and of errors per cell.

    Attributes
    ----------
    bars : dict of str to ColourBar
        By what they show (`scale_of`).
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.maps = ColourBar("Colour scale")
        self.difference = ColourBar("Colour scale of the difference")
        self.difference.set_colours(diverging_table())
        self.error = ColourBar("Colour scale of the error per cell")
        self.bars = {
            MAPS_SCALE: self.maps,
            DIFFERENCE_SCALE: self.difference,
            ERROR_SCALE: self.error,
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._row = row
        for bar in self.bars.values():
            row.addWidget(bar, 1)

    def arrange(self, panes: Mapping[str, int]) -> None:
        """Show the scales of panes, each as wide as its number of panes."""
        for place, (scale, bar) in enumerate(self.bars.items()):
            number = panes.get(scale, 0)
            bar.setVisible(number > 0)
            self._row.setStretch(place, number)

    def set_people(self, people: People | None) -> None:
        """Write people instead of shares; None for shares."""
        for bar in self.bars.values():
            bar.set_people(people)

    def show_scale(self, ends: Mapping[str, float], surfaces: Iterable[Surface]) -> None:
        """Show where each scale ends, 0 by default, and whether a surface exceeds it."""
        reached = dict.fromkeys(self.bars, 0.0)
        for surface in surfaces:
            scale = scale_of(surface)
            reached[scale] = max(reached[scale], largest(surface))
        for scale, bar in self.bars.items():
            end = ends.get(scale, 0.0)
            bar.set_scale(end, reached[scale] > end * (1 + 1e-6), scale == DIFFERENCE_SCALE)
