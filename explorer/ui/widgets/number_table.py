"""Table whose selection can be copied as text, CSV, Markdown or LaTeX."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from explorer.figures.table_copy import Cell, format_table, readable
from explorer.studies.base.result import Roles, role_of_cell

Index = QModelIndex | QPersistentModelIndex
COPY_WORDS = {
    "tsv": "&Copy",
    "markdown": "Copy as &Markdown",
    "latex": "Copy as &LaTeX",
    "csv": "Copy as CS&V",
}
_WIDEST = 320


class TableModel(QAbstractTableModel):
    """Table model for texts and numbers, formatted for reading.

    Attributes
    ----------
    right_from : int or None
        First of the columns whose titles and texts are aligned right; None for numbers only.
    marks : sequence of QPixmap
        Picture before the first cell of each row.
    strong : int
        Row in bold; -1 for none.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns: Sequence[str] = ()
        self.tips: Sequence[str] = ()
        self.rows: Sequence[Sequence[Cell]] = ()
        self.roles: Roles = ()
        self.right_from: int | None = None
        self.marks: Sequence[QPixmap] = ()
        self.strong = -1

    def set_table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        tips: Sequence[str] = (),
        roles: Roles = (),
    ) -> bool:
        """Set the table; returns whether its shape changed.

        `roles` gives the role of each number, as `Table.roles`, which sets the rounding.
        """
        same = list(columns) == list(self.columns) and len(rows) == len(self.rows)
        if not same:
            self.beginResetModel()
        self.columns, self.rows, self.tips, self.roles = columns, rows, tips, roles
        if not same:
            self.endResetModel()
        elif rows and columns:
            last = self.index(len(rows) - 1, len(columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        return not same

    def _is_right(self, column: int) -> bool:
        return self.right_from is not None and column >= self.right_from

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, alignment or tool tip."""
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            rounding = role_of_cell(self.roles, index.row(), index.column())
            return "–" if cell is None else readable(cell, rounding)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            left = isinstance(cell, str) and not self._is_right(index.column())
            side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.DecorationRole and not index.column():
            return self.marks[index.row()] if index.row() < len(self.marks) else None
        if role == Qt.ItemDataRole.FontRole and index.row() == self.strong:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return readable(cell, digits=15)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return a column's title or tool tip."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and self._is_right(section):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = self.tips[section] if section < len(self.tips) else ""
            # With the title: a long one is elided in the header.
            return "\n".join(dict.fromkeys(filter(None, (self.columns[section], tip))))
        return None


class NumberTable(QTableView):
    """Table view; Ctrl+C copies, the context menu copies as Markdown, LaTeX or CSV.

    Copies the selection, or everything if at most one cell is selected.

    Parameters
    ----------
    name : str
        Name for screen readers.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.table = TableModel(self)
        self.title = self.note = ""
        self.setModel(self.table)
        self.setAccessibleName(name)
        self.setTabKeyNavigation(False)  # Tab leaves the table; arrow keys move in it
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.menu = QMenu(self)
        for fmt, words in COPY_WORDS.items():
            action = self.menu.addAction(words)
            action.triggered.connect(lambda _=False, fmt=fmt: self.copy(fmt))

    def set_plain(self, right_from: int) -> None:
        """Draw no frame and no grid, and align columns from one on right."""
        self.table.right_from = right_from
        self.setProperty("plain", True)
        self.setShowGrid(False)
        self.setAlternatingRowColors(False)

    def set_table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        tips: Sequence[str] = (),
        roles: Roles = (),
    ) -> None:
        """Set the table; column widths are kept while the titles stay the same."""
        before = list(self.table.columns)
        self.table.set_table(columns, rows, tips, roles)
        if before != list(columns):
            self.resizeColumnsToContents()
            for place in range(len(columns)):
                if self.columnWidth(place) > _WIDEST:
                    self.setColumnWidth(place, _WIDEST)

    def formatted(self, fmt: str) -> str:
        """Return the selection, or everything, in a format."""
        selected = self.selectionModel().selectedIndexes()
        table = self.table
        if len(selected) < 2:
            return format_table(table.columns, table.rows, fmt, self.title, self.note, table.roles)
        rows = sorted({i.row() for i in selected})
        places = sorted({i.column() for i in selected})
        return format_table(
            [table.columns[c] for c in places],
            [[table.rows[r][c] for c in places] for r in rows],
            fmt,
            roles=[[role_of_cell(table.roles, r, c) for r in rows] for c in places],
        )

    def copy(self, fmt: str = "tsv") -> None:
        """Copy the selection, or everything."""
        QGuiApplication.clipboard().setText(self.formatted(fmt))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the copy key."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu."""
        self.menu.popup(event.globalPos())
