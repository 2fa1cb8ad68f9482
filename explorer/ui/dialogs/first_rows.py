"""Table of the first rows of a file; unreadable cells are marked with the reason."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.model import Mapping, Preview
from explorer.checkins.parsing.row_errors import CellFault, bad_cells
from explorer.ui.base.styled import plain_tip, styled_label
from explorer.ui.plot.map_style import style_for

NONE_RED = "Every cell shown can be read."
MOVE = "Move to a red cell to read what is wrong with it."


class FirstRows(QWidget):
    """Table, with the error and remedy of the selected cell below it."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[tuple[int, int], CellFault] = {}
        self.table = QTableWidget()
        self.table.setAccessibleName("The first rows of the file")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.currentCellChanged.connect(self._say)
        self.line = styled_label("muted", word_wrap=True)
        self.line.setAccessibleName("What is wrong with the cell")
        self.next_button = QPushButton("Next &red cell")
        self.next_button.setToolTip("Go to the next cell that can't be read, row by row")
        self.next_button.setAutoDefault(False)
        self.next_button.clicked.connect(self.next_error)
        below = QHBoxLayout()
        below.addWidget(self.line, 1)
        below.addWidget(self.next_button, 0, Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.table, 1)
        box.addLayout(below)

    def hasHeightForWidth(self) -> bool:
        """Return False: the height does not depend on the width, the rows scroll."""
        return False

    def show_rows(self, preview: Preview, shown: int) -> None:
        """Show the first rows of a preview."""
        self.preview, table = preview, self.table
        rows = preview.rows[:shown]
        width = max([len(preview.columns), *(len(row) for row in rows)])
        with QSignalBlocker(table):
            table.clear()
            table.setRowCount(len(rows))
            table.setColumnCount(width)
            table.setHorizontalHeaderLabels(
                [*preview.columns, *("(surplus)" for _ in range(width - len(preview.columns)))]
            )
            for r, row in enumerate(rows):
                for c in range(width):
                    table.setItem(r, c, QTableWidgetItem(row[c][:200] if c < len(row) else ""))
            table.resizeColumnsToContents()
            for c in range(width):
                table.setColumnWidth(c, min(table.columnWidth(c) + 8, 260))

    def judge(self, mapping: Mapping, roles: dict[int | None, str]) -> None:
        """Mark the cells that a mapping cannot read."""
        style, preview = style_for(self.palette()), self.preview
        width, decimal = len(preview.columns), preview.dialect.decimal
        self._faults = {}
        for r in range(self.table.rowCount()):
            found = bad_cells(preview.rows[r], mapping, decimal, width)
            for c in range(self.table.columnCount()):
                item = self.table.item(r, c)
                assert item is not None
                fault = found.get(c)
                if fault is not None:
                    self._faults[r, c] = fault
                text = self.cell_problem(r, c)
                item.setToolTip(plain_tip(text or item.text()))
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, text)
                item.setBackground(QBrush(style.warn_back) if fault else QBrush())
                item.setForeground(QBrush(style.warn_text) if fault else QBrush())
        for c, name in enumerate(preview.columns):
            header = self.table.horizontalHeaderItem(c)
            assert header is not None
            header.setText(f"{name}\n{roles[c]}" if c in roles else f"{name}\n ")
            wanted = self.table.horizontalHeader().sectionSizeHint(c) + 8
            self.table.setColumnWidth(c, max(self.table.columnWidth(c), wanted))
        self.next_button.setEnabled(bool(self._faults))
        self._say()

    def cell_problem(self, row: int, column: int) -> str:
        """Return row, column, error and remedy of a cell; empty if it is readable."""
        fault = self._faults.get((row, column))
        if fault is None:
            return ""
        names = self.preview.columns
        name = f"“{names[column][:40]}”" if column < len(names) else "(surplus)"
        remedy = fault.remedy[:1].upper() + fault.remedy[1:]
        return f"Row {row + 1}, {name}: {fault.what}. {remedy}."

    def next_error(self) -> None:
        """Select the next unreadable cell, cyclically."""
        here = (self.table.currentRow(), self.table.currentColumn())
        red = sorted(self._faults)
        if red:
            self.table.setCurrentCell(*next((cell for cell in red if cell > here), red[0]))
            self.table.setFocus()
            self._say()

    def _say(self, *_: int) -> None:
        here = self.cell_problem(self.table.currentRow(), self.table.currentColumn())
        self.line.setText(here or (MOVE if self._faults else NONE_RED))
        style = style_for(self.palette())
        self.line.setStyleSheet(f"color: {style.warn_text.name()};" if here else "")
