"""The Compare tab: numbers of several studies and mechanisms side by side."""

import html
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Self

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QScrollArea,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.service import StudyService
from explorer.engine.session.comparison import Entry, common_parameters, moved, set_for_all
from explorer.engine.session.recipe import Recipe
from explorer.engine.session.session import Session, SessionState
from explorer.figures.comparison import (
    ComparedRow,
    compared_row,
    value_text,
    varying_first,
)
from explorer.figures.formats import Kind, by_suffix
from explorer.files import write_whole
from explorer.studies.base.numbers import format_interval
from explorer.studies.base.study import Request
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.compare.bar import CommonBar, RowsBar
from explorer.ui.compare.chart import CompareChart
from explorer.ui.controllers.background_answers import BackgroundAnswers
from explorer.ui.controllers.workspace import Workspace, WorkspaceHost
from explorer.ui.widgets.links import with_titles
from explorer.ui.widgets.save_file import ask_for_file

COLUMNS = ("Study", "Quantity", "Statement", "Value", "Error bar", "At", "Conditions",
           "Reference", "Stamp")  # fmt: skip
WIDTHS = (104, 110, 150, 116, 100, 130, 82, 130, 90)
EMPTY = (
    "Nothing is compared yet. In a question's Bounds, “Compare” (Ctrl+D) adds its numbers at the "
    "sliders' values; numbers of other questions can stand beside them."
)


class _Table(QTableWidget):
    """A table that knows its own keys: Delete, Alt with an arrow."""

    moved = Signal(int)
    removed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Act on the keys that are this widget's own."""
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if event.key() == Qt.Key.Key_Delete:
            self.removed.emit()
        elif alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        """Return room for the header and three rows."""
        return QSize(240, 120)


class CompareWorkspace(Workspace):
    """Shows the session's comparison; what is done to it can be undone.

    Signals
    -------
    said(str)
        What was done, for the status bar.
    failed(Exception)
        Why a file could not be written.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        theme: Theme,
        folder: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._theme, self._folder = session, theme, folder
        self.answers = BackgroundAnswers(service, "compared numbers", self)
        self.rows: list[ComparedRow] = []
        self._sorted: tuple[int, bool] | None = None
        self._build()
        self.answers.changed.connect(self._fill)
        session.changed.connect(self._state_changed)
        theme.changed.connect(self._retheme)
        self._retheme()

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Return the workspace of a window."""
        page = cls(window.session, window.service, window.theme, window.files.folder, window)
        compared = page.answers
        window.activity.watch("compare", "comparing", compared.busy_changed, compared.cancel)
        page.said.connect(window.show_status)
        page.failed.connect(lambda error: window.show_problem(explain(error, "export")))
        return page

    def _build(self) -> None:
        self.common, self.bar = CommonBar(), RowsBar()
        self.table = _Table(0, len(COLUMNS))
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.setAccessibleName("Comparison")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.verticalHeader().setDefaultSectionSize(24)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setToolTip("Click to sort")
        for column, width in enumerate(WIDTHS):
            self.table.setColumnWidth(column, width)
        self.chart = CompareChart()
        inside = QWidget()
        chart_box = QVBoxLayout(inside)
        chart_box.setContentsMargins(14, 8, 14, 8)
        chart_box.addWidget(self.chart)
        chart_box.addStretch(1)
        below = QScrollArea(widgetResizable=True)
        below.setFrameShape(QFrame.Shape.NoFrame)
        below.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        below.setWidget(inside)
        self.empty = styled_label("muted", EMPTY, word_wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(60, 0, 60, 0)
        self.note = styled_label("notes", word_wrap=True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.hide()
        holder = QWidget()
        frame = QVBoxLayout(holder)
        frame.setContentsMargins(12, 0, 12, 0)
        frame.addWidget(self.table)
        self.splitter = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self.splitter.addWidget(holder)
        self.splitter.addWidget(below)
        self.splitter.setSizes([330, 280])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.common)
        layout.addWidget(self.note)
        layout.addWidget(self.empty, 1)
        layout.addWidget(self.splitter, 1)
        layout.addWidget(self.bar)
        self.common.wanted.connect(self._set_for_all)
        self.common.update_wanted.connect(self.update_all)
        self.bar.moved.connect(self._move)
        self.bar.removed.connect(self._remove)
        self.bar.emptied.connect(lambda: self._session.set_comparison((), "empty comparison"))
        self.bar.copied.connect(self.copy)
        self.bar.exported.connect(self.export_file)
        self.table.moved.connect(self._move)
        self.table.removed.connect(self._remove)
        self.table.itemSelectionChanged.connect(self._selection_changed)
        header.sectionClicked.connect(self._sort)

    def close_workspace(self) -> None:
        """Disconnect from the session and end the thread."""
        self._session.changed.disconnect(self._state_changed)
        self.answers.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Compute what is not known yet, now that it is looked at."""
        super().showEvent(event)
        self._fill()

    # What is shown

    @property
    def _entries(self) -> tuple[Entry, ...]:
        return self._session.state.comparison

    def _asked(self, entry: Entry) -> Request:
        request = entry.request
        if get_study(request.study).needs_data:
            request = replace(request, selection=self._session.state.selection)
        return request

    def _fill(self) -> None:
        if not self.isVisible():
            return  # nothing is computed before somebody looks
        entries = self._entries
        asked = [self._asked(entry) for entry in entries]
        self.answers.set_requests(list(dict.fromkeys(asked)))
        self.rows = [
            compared_row(
                entry.request, entry.key, self.answers.result(request),
                json.dumps(Recipe(request).to_dict(), ensure_ascii=False, separators=(",", ":")),
                self.answers.error(request) or "computing…", claimed=entry.claimed,
            )
            for entry, request in zip(entries, asked, strict=True)
        ]  # fmt: skip
        self.table.setRowCount(len(self.rows))
        for place, (row, at) in enumerate(zip(self.rows, varying_first(self.rows), strict=True)):
            for column, (text, tip) in enumerate(_cells(row, at)):
                self._write(place, column, text, tip)
        self.chart.show_rows(self.rows)
        self.common.offer(common_parameters(entries), len(entries))
        self.empty.setVisible(not self.rows)
        self.splitter.setVisible(bool(self.rows))
        self.table.setColumnHidden(len(COLUMNS) - 1, not any(r.stamp for r in self.rows))
        self.table.setColumnHidden(4, not any(r.low is not None for r in self.rows))
        self._selection_changed()

    def _write(self, row: int, column: int, text: str, tip: str) -> None:
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
            if column == COLUMNS.index("Value"):
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if item.text() != text:
            item.setText(text)
        if item.toolTip() != tip:
            item.setToolTip(tip)

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if state.comparison != old.comparison or state.selection != old.selection:
            if state.comparison != old.comparison:
                self.note.hide()
            self._fill()

    def _retheme(self) -> None:
        self.chart.set_theme(self._theme.plot)

    # What is done

    def _chosen(self) -> list[int]:
        return sorted({index.row() for index in self.table.selectionModel().selectedRows()})

    def _selection_changed(self) -> None:
        self.bar.set_usable(bool(self.rows), bool(self._chosen()))

    def _select(self, entries: list[Entry]) -> None:
        """Select the rows of these entries."""
        selection, flag = self.table.selectionModel(), QItemSelectionModel.SelectionFlag
        selection.clearSelection()
        for row, entry in enumerate(self._entries):
            if entry in entries:
                selection.select(self.table.model().index(row, 0), flag.Select | flag.Rows)

    def _move(self, by: int) -> None:
        chosen = self._chosen()
        kept = [self._entries[row] for row in chosen]
        self._session.set_comparison(moved(self._entries, chosen, by), "move rows")
        self._select(kept)

    def _remove(self) -> None:
        chosen = self._chosen()
        if chosen:
            left = tuple(e for row, e in enumerate(self._entries) if row not in chosen)
            self._session.set_comparison(left, "remove rows")
            self.table.clearSelection()

    def _sort(self, column: int) -> None:
        """Put the rows in the order of a column; the other way round if they are in it already."""
        backwards = self._sorted == (column, False)
        self._sorted = (column, backwards)
        keyed = sorted(
            zip(self.rows, self._entries, strict=True),
            key=lambda pair: _sort_key(pair[0], column),
            reverse=backwards,
        )
        # What has no number is last either way.
        keyed.sort(key=lambda pair: column == COLUMNS.index("Value") and pair[0].value is None)
        self._session.set_comparison(tuple(e for _, e in keyed), "sort comparison")

    def _set_for_all(self, key: str, value: float) -> None:
        entries, refused = set_for_all(self._entries, key, value)
        self._session.set_comparison(entries, f"set {key} for all")
        self.note.setText("Not set everywhere. " + "; ".join(refused))
        self.note.setVisible(bool(refused))

    def update_all(self) -> None:
        """Compute again what was cancelled or failed."""
        self.answers.forget_errors()
        self._fill()

    def copy(self, fmt: str) -> None:
        """Put the table on the clipboard as ``md``, ``tex`` or ``csv``."""
        if self.rows:
            form = by_suffix(fmt, Kind.COMPARISON)
            QGuiApplication.clipboard().setText(resolve_name(form.writer)(self.rows))
            self.said.emit(f"The comparison is on the clipboard as {form.label}.")

    def export_file(self) -> None:
        """Ask for a file and write the table to it; the extension chooses the format."""
        if not self.rows:
            return
        start = Path(self._folder()) / "comparison"
        path = ask_for_file(self, "Export the comparison", start, Kind.COMPARISON)
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write the table to a file whose extension chooses the format."""
        text = resolve_name(by_suffix(path.suffix, Kind.COMPARISON).writer)(self.rows)
        try:
            write_whole(path, text.encode())
        except OSError as error:
            self.failed.emit(error)
        else:
            self.said.emit(f"The comparison is in {path.name}.")


def _cells(row: ComparedRow, at: str) -> list[tuple[str, str]]:
    """Return text and tooltip of each column."""
    unit = f" {row.unit}" if row.unit and row.value is not None else ""
    role = f"{row.role.glyph} {row.role.value}" if row.role is not None else ""
    bar = ""
    if row.low is not None and row.high is not None:
        bar = format_interval(row.low, row.high)
    value = value_text(row) + unit if row.missing != "computing…" else "computing…"
    holds = [f"{_sign(c.holds)} {c.text}" + (f" ({c.margin})" if c.margin else "")
             for c in row.conditions]  # fmt: skip
    counts = (("✓", sum(c.holds is True for c in row.conditions)), ("✗", len(row.failing)))
    said = "  ".join(f"{sign} {count}" for sign, count in counts if count)
    return [
        (row.study, row.study),
        (row.quantity, row.quantity),
        (row.statement, row.statement),
        (value, "\n".join(filter(None, (role, row.missing)))),
        (bar, bar),
        (at, "\n".join(row.settings)),
        (said, "<br>".join(html.escape(line) for line in holds)),
        (row.reference, with_titles(row.reference)),
        (row.stamp, row.stamp),
    ]


def _sign(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "assumed:"}[holds]


def _sort_key(row: ComparedRow, column: int) -> tuple[float, str]:
    if column == COLUMNS.index("Value"):
        return (row.value if row.value is not None else 0.0, "")
    if column == COLUMNS.index("Error bar"):
        return ((row.high - row.low) if row.low is not None and row.high is not None else 0.0, "")
    return (0.0, _cells(row, row.at)[column][0].casefold())
