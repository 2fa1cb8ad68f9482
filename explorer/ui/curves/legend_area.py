"""Legend and numbers below a plot, side by side where there is room for both."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QVBoxLayout, QWidget

from explorer.ui.curves.beside.pin_list import PinList
from explorer.ui.curves.legend import Legend
from explorer.ui.curves.readouts import ReadoutsTable

_SIDE_BY_SIDE = 620
"""Pixels from which on legend and numbers stand beside each other."""


class LegendArea(QScrollArea):
    """What the curves are, what is pinned, and the numbers at the sliders' values."""

    def __init__(self, legend: Legend, pins: PinList, readouts: ReadoutsTable) -> None:
        super().__init__(widgetResizable=True)
        self._legend, self._readouts = legend, readouts
        inner = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        self._columns.setContentsMargins(14, 6, 14, 8)
        self._columns.setSpacing(28)
        curves = QVBoxLayout()
        curves.setSpacing(0)
        curves.addWidget(pins)
        curves.addWidget(legend)
        curves.addStretch(1)
        self._columns.addLayout(curves, 1)
        self._columns.addWidget(readouts, 0, Qt.AlignmentFlag.AlignTop)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    @property
    def side_by_side(self) -> bool:
        """Whether the numbers stand beside the legend, not below it."""
        return self._columns.direction() is QBoxLayout.Direction.LeftToRight

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Put the numbers beside the legend where both fit uncut, else below it."""
        wanted = self._legend.wanted_width() + self._readouts.wanted_width() + 70
        wide = self.width() >= max(_SIDE_BY_SIDE, wanted)
        if wide != self.side_by_side:
            direction = QBoxLayout.Direction
            self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
            self._columns.setSpacing(28 if wide else 10)
