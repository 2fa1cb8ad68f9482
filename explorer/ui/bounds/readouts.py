"""Scalar results beside the plot, and their layout with the legend."""

import html

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.studies.base.numbers import format_interval, format_number
from explorer.studies.base.study import ScalarResult
from explorer.ui.base.styled import styled_label
from explorer.ui.bounds.legend import Legend
from explorer.ui.bounds.reference_curves import PinList
from explorer.ui.widgets.fixed_size_text import SelectableLabel

_WIDGETSIZE_MAX = 16_777_215
"""Qt's constant for an unlimited size."""


def readout_text(item: ScalarResult) -> str:
    """Return the number or interval of a scalar result with unit and role symbol."""
    glyph = f"{item.role.glyph} " if item.role is not None else ""
    if item.value is not None:
        text = glyph + format_number(item.value, item.role)
    elif item.low is not None and item.high is not None:
        text = format_interval(item.low, item.high)
    else:  # the tooltip states the reason; infinity itself can be shown
        return "infinite" if item.note.startswith("infinite") else "–"
    return f"{text} {item.unit}".rstrip()


def readout_tip(item: ScalarResult) -> str:
    """Return the explanation of a scalar result as rich text; empty for none."""
    lines = []
    if item.role is not None:
        lines.append(f"{item.role.glyph} {item.role.value}")
    if item.note:
        lines.append(html.escape(item.note))
    if item.curator_only:
        lines.append("Curator only: computed from real data without accounting.")
    return "<p>" + "<br>".join(lines) + "</p>" if lines else ""


class _Number(SelectableLabel):
    """Label that grows when needed and never shrinks.

    A label of fixed size does not trigger a new layout of the workspace. Its size hint, which lays
    out a document, is computed only for texts longer than all before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._written = ""
        self._longest = 0

    def write(self, text: str) -> None:
        """Set the text."""
        if text == self._written:
            return
        self._written = text
        self.setText(text)
        length = self.fontMetrics().horizontalAdvance(text)
        if length > self._longest:
            self._longest = length
            self.setFixedSize(self.sizeHint().expandedTo(self.minimumSize()))

    def reset(self) -> None:
        """Reset the size: other results are shown from now on."""
        self._written, self._longest = "", 0
        self.setText("")
        self.setMinimumSize(0, 0)
        self.setMaximumSize(_WIDGETSIZE_MAX, _WIDGETSIZE_MAX)


class ReadoutsTable(QWidget):
    """Grid of labels and numbers; unused rows are reused."""

    def __init__(self, title: str = "Numbers") -> None:
        super().__init__()
        self.setAutoFillBackground(True)  # opaque, as the legend
        self._keys: list[str] = []
        self._cells: list[tuple[QLabel, _Number]] = []
        self._built: list[tuple[QLabel, _Number]] = []
        self._shown: list[ScalarResult | None] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(styled_label("heading", title), 0, 0, 1, 2)

    def show_readouts(self, readouts: tuple[ScalarResult, ...]) -> None:
        """Show scalar results."""
        if self.isHidden() == bool(readouts):
            self.setVisible(bool(readouts))
        if [r.key for r in readouts] != self._keys:
            self._rebuild(readouts)
        for (label, number), item, before in zip(self._cells, readouts, self._shown, strict=True):
            if item == before:
                continue
            if before is None or item.label != before.label:
                label.setText(item.label)
            number.write(readout_text(item))
            tip = readout_tip(item)
            if tip != number.toolTip():
                for cell in (label, number):
                    cell.setToolTip(tip)
        self._shown = list(readouts)

    def preferred_width(self) -> int:
        """Return the width at which nothing is elided; 0 without results.

        Unlike the layout's own hint it includes rows that were just created and are shown only by
        the event loop.
        """
        if not self._cells:
            return 0
        labels = max(label.sizeHint().width() for label, _ in self._cells)
        numbers = max(number.minimumWidth() for _, number in self._cells)
        return labels + numbers + self._grid.horizontalSpacing()

    def text_of(self, key: str) -> str:
        """Return the text beside the label of a scalar result."""
        return self._cells[self._keys.index(key)][1].text()

    def _rebuild(self, readouts: tuple[ScalarResult, ...]) -> None:
        while len(self._built) < len(readouts):
            label, number = styled_label("muted"), _Number()
            self._built.append((label, number))
            for column, cell in enumerate((label, number)):
                self._grid.addWidget(cell, len(self._built), column)
        self._keys = [r.key for r in readouts]
        self._cells, self._shown = self._built[: len(readouts)], [None] * len(readouts)
        for place, (label, number) in enumerate(self._built):
            number.reset()
            for cell in (label, number):
                if cell.isHidden() == (place < len(readouts)):
                    cell.setVisible(place < len(readouts))


_SIDE_BY_SIDE = 620
"""Width in pixels from which legend and numbers stand side by side."""


class LegendArea(QScrollArea):
    """Legend, pins and scalar results."""

    def __init__(self, legend: Legend, pins: PinList, readouts: ReadoutsTable) -> None:
        super().__init__(widgetResizable=True)
        self._legend, self._readouts = legend, readouts
        inner = QWidget()
        # Rows that do not fit are scrolled to, not squeezed.
        inner.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
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
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its rows take the focus, and scroll it
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    @property
    def side_by_side(self) -> bool:
        """Whether the numbers stand beside the legend."""
        return self._columns.direction() is QBoxLayout.Direction.LeftToRight

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt to the new size."""
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Place the numbers beside the legend if both fit, else below."""
        wanted = self._legend.preferred_width() + self._readouts.preferred_width() + 70
        wide = self.width() >= max(_SIDE_BY_SIDE, wanted)
        if wide != self.side_by_side:
            direction = QBoxLayout.Direction
            self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
            self._columns.setSpacing(28 if wide else 10)
