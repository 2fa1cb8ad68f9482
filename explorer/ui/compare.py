"""The Compare workspace: numbers of several studies and mechanisms side by side."""

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Self

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.service import StudyService
from explorer.engine.session.comparison import (
    Common,
    Entry,
    common_parameters,
    move_rows,
    set_for_all,
)
from explorer.engine.session.recipe import Recipe
from explorer.engine.session.session import Session, SessionState
from explorer.figures.comparison import (
    ComparedRow,
    axis_of,
    compared_row,
    group_rows,
    share_of,
    value_text,
    varying_first,
)
from explorer.figures.formats import Kind, by_suffix, of_kind
from explorer.figures.style import Theme as PlotTheme
from explorer.files import write_whole
from explorer.studies.base.numbers import format_interval
from explorer.studies.base.study import Request
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.styled import plain_label, styled_label, tool_button, with_titles
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.study_controller import BackgroundAnswers
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.dialogs.export import ask_for_file
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.value_field import ValueField

DOTS_ROLE = Qt.ItemDataRole.UserRole + 1
_RADIUS, _EDGE = 4.0, 12.0


@dataclass(frozen=True)
class Dots:
    """Dots of one row, in shares of the axis.

    Attributes
    ----------
    own : float or None
    span : (float, float) or None
        Error bar.
    others : tuple of float
        Values of the same statement at other settings.
    colour : int
        Index of the theme's curve colour.
    """

    own: float | None
    span: tuple[float, float] | None
    others: tuple[float, ...]
    colour: int


def dots_of(rows: Sequence[ComparedRow], place: int) -> Dots | None:
    """Return the position of a row's value on the common scale of its measure."""
    row = rows[place]
    alike = [
        r for r in rows if (r.quantity, r.unit) == (row.quantity, row.unit) and r.value is not None
    ]
    if row.value is None or not alike:
        return None
    axis = axis_of(alike)
    span = None
    if row.low is not None and row.high is not None:
        span = (share_of(row.low, axis), share_of(row.high, axis))
    statement = (row.study, row.short)
    named = [(r.study, r.short) for r in alike]
    others = tuple(
        share_of(r.value, axis)
        for r, name in zip(alike, named, strict=True)
        if r is not row and name == statement and r.value is not None
    )
    colour = list(dict.fromkeys(named)).index(statement)
    return Dots(share_of(row.value, axis), span, others, colour)


class DotsDelegate(QStyledItemDelegate):
    """Paints the `Dots` stored under `DOTS_ROLE`."""

    theme: PlotTheme | None = None

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw axis, rings of other settings, error bar and dot."""
        super().paint(painter, option, index)
        dots, theme = index.data(DOTS_ROLE), self.theme
        if not isinstance(dots, Dots) or theme is None:
            return
        area = QRectF(option.rect).adjusted(_EDGE, 0, -_EDGE, 0)

        def place(share: float) -> QPointF:
            return QPointF(area.left() + share * area.width(), area.center().y())

        colour = QColor(theme.curves[dots.colour % len(theme.curves)])
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.drawLine(place(0.0), place(1.0))
        painter.setPen(QPen(colour, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for share in dots.others:
            painter.drawEllipse(place(share), _RADIUS, _RADIUS)
        if dots.span is not None:
            painter.setPen(QPen(colour, 2))
            painter.drawLine(*map(place, dots.span))
        if dots.own is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(place(dots.own), _RADIUS, _RADIUS)
        painter.restore()


class CommonBar(QWidget):
    """Row of inputs: set [parameter] to [value] in all rows.

    Signals
    -------
    wanted(str, float)
        A value should be set in all rows.
    update_requested()
        Missing values should be computed again.
    """

    wanted = Signal(str, float)
    update_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._common: dict[str, Common] = {}
        self.parameter = ChoiceBox("Parameter to set in all rows")
        self.parameter.setMaximumWidth(330)
        self.value = ValueField(float)
        self.value.setAccessibleName("Value in all rows")
        self.value.setFixedWidth(92)
        tip = "Give this parameter the same value in every row that has it"
        self.button = tool_button("Set for all", tip)
        self.update_all = tool_button("Update all", "Compute cancelled and failed rows again")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 12, 0)
        words = plain_label("Set")
        words.setBuddy(self.parameter)
        to = styled_label("muted", "to")
        to.setBuddy(self.value)
        for widget, stretch in (
            (words, 0),
            (self.parameter, 3),
            (to, 0),
            (self.value, 0),
            (self.button, 0),
        ):
            row.addWidget(widget, stretch)
        row.addStretch(1)
        row.addWidget(self.update_all)
        self.parameter.activated.connect(lambda _: self._show_value())
        self.button.clicked.connect(lambda _=False: self._emit_requested())
        self.value.returnPressed.connect(self._entered)
        self.update_all.clicked.connect(lambda _=False: self.update_requested.emit())

    def offer(self, common: Sequence[Common], rows: int) -> None:
        """Set the parameters of a comparison with a number of rows."""
        before = self.parameter.currentData()
        self._common = {c.parameter.key: c for c in common}
        items = [
            (
                c.parameter.key,
                f"{'  '.join(filter(None, (c.parameter.symbol, c.parameter.name)))}"
                f" · {c.rows} of {rows} rows",
            )
            for c in common
        ]
        first = items[0][0] if items else ""
        self.parameter.offer(items, before if before in self._common else first)
        for widget in (self.parameter, self.value, self.button, self.update_all):
            widget.setEnabled(bool(items))
        self._show_value()

    def _show_value(self) -> None:
        selected = self._common.get(self.parameter.currentData())
        if selected is not None:
            self.value.set_number(selected.value)
            self.value.set_help(selected.parameter.help)

    def _entered(self) -> None:
        self.value.editingFinished.emit()
        self._emit_requested()

    def _emit_requested(self) -> None:
        key, number = self.parameter.currentData(), self.value.number
        if key is not None and number is not None and not self.value.property("wrong"):
            self.wanted.emit(key, float(number))


class RowsBar(QWidget):
    """Row of buttons: order, removal, copy and export.

    Signals
    -------
    moved(int)
        Move selected rows up (−1) or down (1).
    removed()
        Remove the selected rows.
    emptied()
    copied(str)
        Format: ``md``, ``tex`` or ``csv``.
    exported()
    """

    moved = Signal(int)
    removed = Signal()
    emptied = Signal()
    copied = Signal(str)
    exported = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 4)

        def add(text: str, tip: str, emit: Callable[[], object]) -> QToolButton:
            button = tool_button(text, tip, tip)
            button.clicked.connect(lambda _=False: emit())
            row.addWidget(button)
            return button

        self.up = add("↑", "Move the selected rows up (Alt+Up)", lambda: self.moved.emit(-1))
        self.down = add("↓", "Move the selected rows down (Alt+Down)", lambda: self.moved.emit(1))
        self.remove = add("Remove", "Remove the selected rows (Delete)", self.removed.emit)
        self.empty = add("Remove all", "Remove all rows", self.emptied.emit)
        row.addStretch(1)
        self.copy = tool_button("Copy as", "Copy the table to the clipboard")
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.copy)
        for form in of_kind(Kind.COMPARISON):
            action = menu.addAction(form.name)
            action.triggered.connect(lambda _=False, key=form.suffix: self.copied.emit(key))
        self.copy.setMenu(menu)
        row.addWidget(self.copy)
        self.export = add("Export…", "Write the table to a file", self.exported.emit)

    def set_usable(self, rows: bool, chosen: bool) -> None:
        """Enable the buttons that apply."""
        for button in (self.empty, self.copy, self.export):
            button.setEnabled(rows)
        for button in (self.up, self.down, self.remove):
            button.setEnabled(chosen)


COLUMNS = ("Setting and statement", "What it is", "Value", "Error bar", "Conditions", "Stamp", "")
WIDTHS = (240, 172, 104, 110, 76, 90, 150)
DOTS_FROM = 640
"""Table width in pixels from which dots are shown."""
VALUE, BAR, STAMP, DOTS = 2, 3, 5, 6
EMPTY = (
    "Nothing is compared yet. In the tab Bounds, “Add to Compare” (Ctrl+D) adds the numbers of "
    "the question at the current settings. Numbers of several questions can be compared."
)


class _Table(QTableWidget):
    """Table with keys of its own: Delete, Alt with an arrow."""

    moved = Signal(int)
    removed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the table's own keys."""
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if event.key() == Qt.Key.Key_Delete:
            self.removed.emit()
        elif alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        """Return the height of the header and three rows."""
        return QSize(240, 120)


class CompareWorkspace(Workspace):
    """Shows the session's comparison; changes are undoable.

    Signals
    -------
    message(str)
        Emitted with a message for the status bar.
    failed(Exception)
        Emitted with the reason why a file could not be written.
    """

    message = Signal(str)
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
        self.entry_rows: list[int | None] = []
        """Index in `rows` of each table line; None for headings."""
        self._sorted: tuple[int, bool] | None = None
        self._build()
        self.answers.changed.connect(self._fill)
        session.changed.connect(self._state_changed)
        theme.changed.connect(self._retheme)
        self._retheme()

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""
        page = cls(window.session, window.service, window.theme, window.files.folder, window)
        compared = page.answers
        window.activity.watch("compare", "comparing", compared.busy_changed, compared.cancel)
        page.message.connect(window.show_status)
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
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(24)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setToolTip("Click to sort")
        for column, width in enumerate(WIDTHS):
            self.table.setColumnWidth(column, width)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setShowGrid(False)
        self.dots = DotsDelegate(self.table)
        self.table.setItemDelegateForColumn(DOTS, self.dots)
        self.verdict = styled_label("sentence", word_wrap=True)
        self.common_line = styled_label("muted", word_wrap=True)
        self.empty = styled_label("muted", EMPTY, word_wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(60, 0, 60, 0)
        self.note = styled_label("notes", word_wrap=True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.hide()
        self.shown = QWidget()
        frame = QVBoxLayout(self.shown)
        frame.setContentsMargins(12, 0, 12, 0)
        for widget in (self.verdict, self.common_line):
            frame.addWidget(widget)
        frame.addWidget(self.table, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.common)
        layout.addWidget(self.note)
        layout.addWidget(self.empty, 1)
        layout.addWidget(self.shown, 1)
        layout.addWidget(self.bar)
        self.common.wanted.connect(self._set_for_all)
        self.common.update_requested.connect(self.update_all)
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
        """Disconnect and stop the thread."""
        self._session.changed.disconnect(self._state_changed)
        self.answers.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show dots if there is space."""
        super().resizeEvent(event)
        self.table.setColumnHidden(DOTS, self.table.viewport().width() < DOTS_FROM)

    def showEvent(self, event: QShowEvent) -> None:
        """Compute missing values when the tab becomes visible."""
        super().showEvent(event)
        self._fill()

    # Display

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
            return  # computed only while visible
        entries = self._entries
        requests = [self._asked(entry) for entry in entries]
        self.answers.set_requests(list(dict.fromkeys(requests)))
        self.rows = [
            compared_row(
                entry.request,
                entry.key,
                self.answers.result(request),
                json.dumps(Recipe(request).to_dict(), ensure_ascii=False, separators=(",", ":")),
                self.answers.error(request) or "computing…",
                claimed=entry.claimed,
            )
            for entry, request in zip(entries, requests, strict=True)
        ]
        self._show_groups()
        self.common.offer(common_parameters(entries), len(entries))
        self.empty.setVisible(not self.rows)
        self.shown.setVisible(bool(self.rows))
        self.table.setColumnHidden(STAMP, not any(r.stamp for r in self.rows))
        self.table.setColumnHidden(DOTS, self.table.viewport().width() < DOTS_FROM)
        self.table.setColumnHidden(BAR, not any(r.low is not None for r in self.rows))
        self._selection_changed()

    def _show_groups(self) -> None:
        """Write the rows grouped by setting, below headings that state the differences."""
        result, varying = group_rows(self.rows), varying_first(self.rows)
        self.entry_rows = [p for group in result.groups for p in (None, *group.places)]
        self.table.clearSpans()
        self.table.setRowCount(len(self.entry_rows))
        line = 0
        for group in result.groups:
            for column in range(len(COLUMNS)):
                title = "" if column else f"{group.letter}   {group.title}"
                item = self._write(line, column, title, title, chosen=False, bold=True)
            item.setData(DOTS_ROLE, None)
            self.table.setSpan(line, 0, 1, len(COLUMNS))
            for place in group.places:
                line += 1
                row = self.rows[place]
                for column, (text, tip) in enumerate(_cells(row, varying[place])):
                    item = self._write(line, column, text, tip, chosen=True, bold=row.claimed)
                item.setData(DOTS_ROLE, dots_of(self.rows, place))
            line += 1
        self.verdict.setText(result.verdict)
        self.verdict.setVisible(bool(result.verdict))
        self.common_line.setText(f"The same in all: {result.common}")
        self.common_line.setVisible(bool(result.common) and len(result.groups) > 1)

    def _write(
        self, row: int, column: int, text: str, tip: str, *, chosen: bool, bold: bool
    ) -> QTableWidgetItem:
        """Write a cell; headings cannot be selected."""
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
            if column == VALUE:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if item.text() != text:
            item.setText(text)
        if item.toolTip() != tip:
            item.setToolTip(tip)
        font = self.table.font()
        font.setBold(bold)
        item.setFont(font)
        flags = Qt.ItemFlag.ItemIsEnabled
        item.setFlags(flags | Qt.ItemFlag.ItemIsSelectable if chosen else flags)
        return item

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if state.comparison != old.comparison or state.selection != old.selection:
            if state.comparison != old.comparison:
                self.note.hide()
            self._fill()

    def _retheme(self) -> None:
        self.dots.theme = self._theme.plot
        self.table.viewport().update()

    # Actions

    def _chosen(self) -> list[int]:
        lines = {index.row() for index in self.table.selectionModel().selectedRows()}
        return sorted(place for line in lines if (place := self.entry_rows[line]) is not None)

    def _selection_changed(self) -> None:
        self.bar.set_usable(bool(self.rows), bool(self._chosen()))

    def _select(self, entries: list[Entry]) -> None:
        """Select the rows of entries."""
        selection, flag = self.table.selectionModel(), QItemSelectionModel.SelectionFlag
        selection.clearSelection()
        for line, place in enumerate(self.entry_rows):
            if place is not None and self._entries[place] in entries:
                selection.select(self.table.model().index(line, 0), flag.Select | flag.Rows)

    def _move(self, by: int) -> None:
        selected = self._chosen()
        kept = [self._entries[row] for row in selected]
        self._session.set_comparison(move_rows(self._entries, selected, by), "move rows")
        self._select(kept)

    def _remove(self) -> None:
        selected = self._chosen()
        if selected:
            left = tuple(e for row, e in enumerate(self._entries) if row not in selected)
            self._session.set_comparison(left, "remove rows")
            self.table.clearSelection()

    def _sort(self, column: int) -> None:
        """Sort rows by a column; reverse if already sorted."""
        backwards = self._sorted == (column, False)
        self._sorted = (column, backwards)
        keyed = sorted(
            zip(self.rows, self._entries, strict=True),
            key=lambda pair: _sort_key(pair[0], column),
            reverse=backwards,
        )
        # Rows without a number come last in both directions.
        keyed.sort(key=lambda pair: column == VALUE and pair[0].value is None)
        self._session.set_comparison(tuple(e for _, e in keyed), "sort comparison")

    def _set_for_all(self, key: str, value: float) -> None:
        entries, refused = set_for_all(self._entries, key, value)
        self._session.set_comparison(entries, f"set {key} for all")
        self.note.setText("Not set everywhere. " + "; ".join(refused))
        self.note.setVisible(bool(refused))

    def update_all(self) -> None:
        """Compute cancelled or failed values again."""
        self.answers.forget_errors()
        self._fill()

    def copy(self, fmt: str) -> None:
        """Copy the table as ``md``, ``tex`` or ``csv``."""
        if self.rows:
            form = by_suffix(fmt, Kind.COMPARISON)
            QGuiApplication.clipboard().setText(resolve_name(form.writer)(self.rows))
            self.message.emit(f"The comparison is on the clipboard as {form.label}.")

    def export_file(self) -> None:
        """Ask for a file and write the table; the suffix selects the format."""
        if not self.rows:
            return
        start = Path(self._folder()) / "comparison"
        path = ask_for_file(self, "Export the comparison", start, Kind.COMPARISON)
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write the table to a file; the suffix selects the format."""
        text = resolve_name(by_suffix(path.suffix, Kind.COMPARISON).writer)(self.rows)
        try:
            write_whole(path, text.encode())
        except OSError as error:
            self.failed.emit(error)
        else:
            self.message.emit(f"The comparison is in {path.name}.")


def _cells(row: ComparedRow, at: str) -> list[tuple[str, str]]:
    """Return text and tooltip of each column."""
    unit = f" {row.unit}" if row.unit and row.value is not None else ""
    role = f"{row.role.glyph} {row.role.value}" if row.role is not None else ""
    bar = ""
    if row.low is not None and row.high is not None:
        bar = format_interval(row.low, row.high)
    value = value_text(row) + unit if row.missing != "computing…" else "computing…"
    holds = [
        f"{_sign(c.holds)} {c.text}" + (f" ({c.margin})" if c.margin else "")
        for c in row.conditions
    ]
    counts = (("✓", sum(c.holds is True for c in row.conditions)), ("✗", len(row.failing)))
    text = "  ".join(f"{sign} {count}" for sign, count in counts if count)
    kind = " · ".join(filter(None, (role, row.grade.value if row.grade else "")))
    about = "<br>".join(
        (
            html.escape(f"{row.study}: {row.quantity}, {row.statement}"),
            html.escape(at),
            with_titles(row.reference),
        )
    )
    measures = "" if row.quantity == row.requested_quantity else row.quantity
    return [
        (f"     {row.short}", about),
        (kind, measures or row.quantity),
        (value, "\n".join(filter(None, (role, row.missing)))),
        (bar, bar),
        (text, "<br>".join(html.escape(line) for line in holds)),
        (row.stamp, row.stamp),
        ("", ""),
    ]


def _sign(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "assumed:"}[holds]


def _sort_key(row: ComparedRow, column: int) -> tuple[float, str]:
    if column == VALUE:
        return (row.value if row.value is not None else 0.0, "")
    if column == BAR:
        return ((row.high - row.low) if row.low is not None and row.high is not None else 0.0, "")
    return (0.0, _cells(row, row.at)[column][0].casefold())
