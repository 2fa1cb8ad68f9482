"""What is pinned: one row a pin, with a button that takes it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QToolButton, QWidget

from explorer.figures.style import PIN_DASHES, SeriesStyle
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.drawing.swatch import ElidedLabel, Swatch


@dataclass(frozen=True)
class PinRow:
    """What is said of a pin.

    Attributes
    ----------
    number : int
        That chooses its dashes; 0 if its curves are not shown.
    words : str
    why_not : str
        Why its curves are not shown; empty if they are.
    """

    number: int
    words: str
    why_not: str = ""


class _Cells:
    """The widgets of one pin."""

    def __init__(self, pins: PinList, place: int) -> None:
        self.swatch = Swatch()
        self.label = ElidedLabel()
        self.button = tool_button("✕", quiet=True)
        self.button.clicked.connect(lambda _=False: pins.unpinned.emit(place))

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return (self.swatch, self.label, self.button)

    def update(self, row: PinRow, colour: str) -> None:
        dash = PIN_DASHES[(row.number - 1) % len(PIN_DASHES)]
        self.swatch.set_style(SeriesStyle(colour, dash, 1.4, "o", "/"))
        self.swatch.setVisible(row.number > 0)
        words = row.words + (f" · {row.why_not}" if row.why_not else "")
        if words != self.label.text():
            self.label.setText(words)
            self.label.setToolTip(words)
            self.button.setAccessibleName(f"Unpin {row.words.removeprefix('pinned: ')}")
            self.button.setToolTip(f"Unpin {row.words.removeprefix('pinned: ')}")
        self.label.setEnabled(row.number > 0)


class PinList(QWidget):
    """One row a pin; hidden without any.

    Signals
    -------
    unpinned(int)
        The place of a pin that is to go.
    all_unpinned()
    """

    unpinned = Signal(int)
    all_unpinned = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._cells: list[_Cells] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(1)
        self._grid.setColumnStretch(1, 1)
        self._all = tool_button("Unpin all", quiet=True)
        self._all.clicked.connect(lambda _=False: self.all_unpinned.emit())
        head = QHBoxLayout()
        head.addWidget(styled_label("heading", "Pinned"), 1)
        head.addWidget(self._all)
        self._grid.addLayout(head, 0, 0, 1, 3)
        self.hide()

    def show_pins(self, rows: Sequence[PinRow], colour: str) -> None:
        """Show these pins, their dashes in a colour."""
        if len(rows) != len(self._cells):
            self._rebuild(len(rows))
        for cells, row in zip(self._cells, rows, strict=True):
            cells.update(row, colour)
        if self.isHidden() == bool(rows):
            self.setVisible(bool(rows))

    def texts(self) -> list[str]:
        """Return what is said of each pin."""
        return [cells.label.text() for cells in self._cells]

    def button(self, place: int) -> QToolButton:
        """Return the button that takes a pin away."""
        return self._cells[place].button

    def _rebuild(self, count: int) -> None:
        for cells in self._cells:
            for widget in cells.widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._cells = [_Cells(self, place) for place in range(count)]
        for place, cells in enumerate(self._cells, start=1):
            for column, widget in enumerate(cells.widgets):
                self._grid.addWidget(widget, place, column)
