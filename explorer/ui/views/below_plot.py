"""What stands below the plot: the legend, every number as a table, and the study's own tables."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabWidget, QToolButton, QVBoxLayout, QWidget

from explorer.figures.tables import wide_table
from explorer.studies.model import Result, Table
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.still_text import StillText


class _TablePage(QWidget):
    """One table of the study and what holds for it."""

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = NumberTable(table.title)
        self.note = StillText("faint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.setSpacing(4)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.note)

    def show_table(self, table: Table) -> None:
        self.view.title, self.view.note = table.title, table.note
        self.view.setAccessibleName(table.title)
        self.view.setAccessibleDescription(table.note)
        self.view.set_table(table.columns, table.rows)
        self.note.setText(table.note)
        if self.note.isHidden() == bool(table.note):
            self.note.setVisible(bool(table.note))


class BelowPlot(QTabWidget):
    """Tabs below the plot; a table is brought up to date only while it is looked at.

    Parameters
    ----------
    legend : QWidget
        The first tab: legend and readouts.
    """

    def __init__(self, legend: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent, documentMode=True)
        self.setObjectName("sides")
        self.setAccessibleName("Legend and tables")
        self.tabBar().setDrawBase(False)
        self.tabBar().setExpanding(False)
        self.setUsesScrollButtons(True)
        self._result: Result | None = None
        self._x_symbol = "x"
        self._fresh: set[str] = set()
        self._pages: dict[str, _TablePage] = {}
        self.numbers = NumberTable("All numbers of the plot")
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.addWidget(self.numbers)
        self.addTab(legend, "Legend")
        self.addTab(page, "Numbers")
        self.setTabToolTip(1, "x and every curve's y, as a table")
        self.copy_button = QToolButton(text="Copy as …", objectName="copy-as")
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy_button.setProperty("quiet", True)
        self.copy_button.setToolTip("Copy the table, or what is selected of it (Ctrl+C)")
        self.setCornerWidget(self.copy_button, Qt.Corner.TopRightCorner)
        self.currentChanged.connect(self._turned)
        self._turned()

    def show_result(self, result: Result, x_symbol: str) -> None:
        """Show the tables of an answer; `x_symbol` names the first column of the numbers."""
        self._result, self._x_symbol = result, x_symbol
        self._fresh.clear()
        if [t.key for t in result.tables] != list(self._pages):
            self._rebuild(result.tables)
        for place, table in enumerate(result.tables, start=2):
            if self.tabText(place) != table.title:
                self.setTabText(place, table.title)
        self._refresh()

    def page(self, key: str) -> NumberTable:
        """Return the view of one of the study's tables."""
        return self._pages[key].view

    def table_in_front(self) -> NumberTable | None:
        """Return the table that is looked at; None while the legend is."""
        if self.currentIndex() == 1:
            return self.numbers
        page = self.currentWidget()
        return page.view if isinstance(page, _TablePage) else None

    def _rebuild(self, tables: tuple[Table, ...]) -> None:
        while self.count() > 2:
            page = self.widget(2)
            self.removeTab(2)
            page.deleteLater()
        self._pages = {}
        for table in tables:
            self._pages[table.key] = _TablePage(table)
            self.addTab(self._pages[table.key], table.title)

    def _turned(self, *_: object) -> None:
        view = self.table_in_front()
        self.copy_button.setEnabled(view is not None)
        if view is not None:
            self.copy_button.setMenu(view.menu)
        self._refresh()

    def _refresh(self) -> None:
        """Bring the table that is looked at up to date."""
        wanted = {0: "", 1: "numbers"}.get(self.currentIndex(), "tables")
        if self._result is None or not wanted or wanted in self._fresh:
            return
        self._fresh.add(wanted)
        if wanted == "numbers":
            self._show_numbers(self._result)
            return
        for table in self._result.tables:
            self._pages[table.key].show_table(table)

    def _show_numbers(self, result: Result) -> None:
        keys, numbers = wide_table(result.series)
        known = {s.key: s for s in result.series}
        names, tips = [self._x_symbol], ["What runs along the x axis"]
        for key in keys[1:]:
            series = known.get(key) or known[key.rpartition(":")[0]]
            ending = "" if key in known else f", {key.rpartition(':')[2]}"
            names.append(f"{series.role.glyph} {series.label}{ending}")
            tips.append(f"{series.label}{ending} ({series.role.value}); {series.reference}")
        rows = [[None if math.isnan(v) else v for v in row] for row in numbers.tolist()]
        self.numbers.title = ""
        self.numbers.set_table(names, rows, tips)
