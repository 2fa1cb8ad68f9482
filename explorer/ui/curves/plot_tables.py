"""What stands below the plot: the legend, every number as a table, and the study's own tables."""

import math

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QToolButton, QVBoxLayout, QWidget

from explorer.figures.tables import empty_texts, wide_table
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Result, Table
from explorer.ui.base.styled import tool_button
from explorer.ui.drawing.diagram import DiagramView
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.links import with_titles
from explorer.ui.widgets.number_table import NumberTable

STALE_MS = 250
"""A table that the newest answer has not got yet is greyed after so long, not at once."""


_EDGES = {"low": Role.LOWER, "high": Role.UPPER}
"""Ends of a band are rounded outwards."""


class _TablePage(QWidget):
    """One table of the study and what holds for it."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._shown: Table | None = None
        self.view = NumberTable(table.title)
        self.note = FixedSizeText("faint")
        self.diagram = DiagramView()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.setSpacing(4)
        beside = QHBoxLayout()
        beside.addWidget(self.diagram, 3)
        beside.addWidget(self.view, 2)
        layout.addLayout(beside, 1)
        layout.addWidget(self.note)

    def show_table(self, table: Table) -> None:
        if table == self._shown:
            return
        self._shown = table
        self.diagram.setVisible(table.diagram is not None)
        if table.diagram is not None:
            self.diagram.show_diagram(table.diagram, table.title)
        self.view.title, self.view.note = table.title, table.note
        self.view.setAccessibleName(table.title)
        self.view.setAccessibleDescription(table.note)
        self.view.set_table(table.columns, table.rows, roles=table.roles)
        self.note.setText(table.note)
        if self.note.isHidden() == bool(table.note):
            self.note.setVisible(bool(table.note))


class PlotTables(QTabWidget):
    """Tabs below the plot; a table is brought up to date only while it is looked at.

    Tables come with complete answers only: while a slider moves, those of the last one stay, and
    are greyed where the next are long in coming.

    Parameters
    ----------
    legend : QWidget
        The first tab: legend and readouts.
    import_curve : QAction
        Has a button beside the tabs.
    """

    def __init__(self, legend: QWidget, import_curve: QAction) -> None:
        super().__init__(documentMode=True)
        self.setObjectName("below")
        self.setAccessibleName("Legend and tables")
        self.tabBar().setDrawBase(False)
        self.tabBar().setExpanding(False)
        self.setUsesScrollButtons(True)
        self._result: Result | None = None
        self._x_symbol = "x"
        self._subject: tuple[str, str] | None = None
        self._fresh = False
        self._pages: dict[str, _TablePage] = {}
        self._tables: dict[str, Table] = {}
        self._late = QTimer(self, singleShot=True)
        self._late.setInterval(STALE_MS)
        self._late.timeout.connect(self._grey)
        self.numbers = NumberTable("All numbers of the plot")
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(14, 6, 14, 8)
        layout.addWidget(self.numbers)
        self.addTab(legend, "Legend")
        self.addTab(page, "Numbers")
        self.setTabToolTip(1, "x and every curve's y, as a table")
        tip = "Copy the table, or what is selected of it (Ctrl+C)"
        self.copy_button = tool_button("Copy as …", tip, quiet=True)
        self.copy_button.setObjectName("copy-as")
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        words, tip = import_curve.text().replace("&", ""), import_curve.toolTip()
        self.import_button = tool_button(words, tip, words, quiet=True)
        self.import_button.clicked.connect(lambda _=False: import_curve.trigger())
        corner = QWidget()
        beside = QHBoxLayout(corner)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(4)
        beside.addWidget(self.import_button)
        beside.addWidget(self.copy_button)
        self.setCornerWidget(corner, Qt.Corner.TopRightCorner)
        self.currentChanged.connect(self._turned)
        self._turned()

    def show_result(self, result: Result, x_symbol: str) -> None:
        """Show the tables of an answer; `x_symbol` names the first column of the numbers."""
        self._result, self._x_symbol = result, x_symbol
        self._fresh = False
        subject = (result.request.study, result.request.quantity)
        keys = [t.key for t in result.tables]
        coming = subject == self._subject and not result.complete and set(keys) < set(self._pages)
        self._subject = subject
        if not coming and keys != list(self._pages):
            self._rebuild(result.tables)
        for table in result.tables:
            self._tables[table.key] = table
            place = self.indexOf(self._pages[table.key])
            if self.tabText(place) != table.title:
                self.setTabText(place, table.title)
        if not coming:
            self._late.stop()
        elif not self._late.isActive():
            self._late.start()
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
        while (page := self.widget(2)) is not None:
            self.removeTab(2)
            page.deleteLater()
        self._pages, self._tables = {}, {}
        for table in tables:
            self._pages[table.key] = _TablePage(table)
            self.addTab(self._pages[table.key], table.title)

    def _turned(self, *_: object) -> None:
        view = self.table_in_front()
        self.copy_button.setEnabled(view is not None and view.isEnabled())
        if view is not None:
            self.copy_button.setMenu(view.menu)
        self._fresh = False
        self._refresh()

    def _refresh(self) -> None:
        """Bring the table that is looked at up to date."""
        if self._result is None or self._fresh or self.currentIndex() == 0:
            return
        self._fresh = True
        page = self.currentWidget()
        if not isinstance(page, _TablePage):
            self._show_numbers(self._result)
            return
        key = next(key for key, there in self._pages.items() if there is page)
        page.show_table(self._tables[key])
        if self._known(key):
            self._enable(page, True)

    def _grey(self) -> None:
        """Take the light from tables of the answer before, as long as there are no others."""
        for key, page in self._pages.items():
            self._enable(page, self._known(key))

    def _known(self, key: str) -> bool:
        """Return whether the newest answer has a table."""
        return self._result is not None and any(t.key == key for t in self._result.tables)

    def _enable(self, page: _TablePage, known: bool) -> None:
        page.view.setEnabled(known)
        if page is self.currentWidget():
            self.copy_button.setEnabled(known)

    def _show_numbers(self, result: Result) -> None:
        keys, numbers = wide_table(result.series)
        known = {s.key: s for s in result.series}
        names, tips = [self._x_symbol], ["What runs along the x axis"]
        roles: list[Role | None] = [None]
        for key in keys[1:]:
            series = known.get(key) or known[key.rpartition(":")[0]]
            edge = "" if key in known else key.rpartition(":")[2]
            ending = f", {edge}" if edge else ""
            names.append(f"{series.role.glyph} {series.label}{ending}")
            tip = f"{series.label}{ending} ({series.role.value}); {series.reference}"
            tips.append("\n".join([with_titles(tip), *empty_texts(series, result.series)]))
            roles.append(_EDGES.get(edge, series.role))
        rows = [[None if math.isnan(v) else v for v in row] for row in numbers.tolist()]
        self.numbers.title = ""
        self.numbers.set_table(names, rows, tips, roles)
