"""Dialog that opens check-ins: how the file is read, its first rows, and open questions."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping as Table, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer import checkins
from explorer.checkins.errors import CheckinError, printable
from explorer.checkins.model import E7, Candidate, Dialect, Format, Mapping, Preview, Question
from explorer.checkins.parsing.ambiguities import remaining_questions
from explorer.checkins.parsing.column_names import is_known_column
from explorer.checkins.parsing.crs import Points, is_e7, looks_swapped, points_of
from explorer.checkins.parsing.encodings import MIN_SURE_RATING, shown_encoding
from explorer.checkins.parsing.guess_columns import OF_ROWS
from explorer.checkins.parsing.header import HeaderLines, Line
from explorer.checkins.parsing.numbers import coordinate_in, number
from explorer.checkins.parsing.row_rules import CellFault, bad_cells
from explorer.checkins.parsing.streams import decoded_chunks, raw_chunks
from explorer.checkins.readers import get_reader
from explorer.checkins.scan import Damage
from explorer.checkins.sources import SniffSettings
from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import distance_km
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import plain_tip, styled_label, tool_button
from explorer.ui.base.theme import chrome_for
from explorer.ui.controllers.data_controller import MappingRequest
from explorer.ui.dialogs.answer_cards import AnswerCard, PersonCard, PositionCard, TimeCard
from explorer.ui.dialogs.reading_fields import ReadingFields, mark
from explorer.ui.plot.labels import ElidedLabel
from explorer.ui.widgets.boxes import CheckBox
from explorer.ui.widgets.fixed_size_text import FixedSizeText

SHOWN, LEAST_SHOWN, MAX_CELLS = 200, 12, 20_000
"""Maximum number of rows in the table; fewer of a wide table, whose cells would take long."""
NOT_READ = "line before the header, not read"
LINES_ABOVE = 3
"""Number of lines above the header that have room."""
LINE_PX, NUMBER_PX, SCROLL_BAR_PX = 18, 52, 10
ALL_READ = "Every value in the chosen columns can be read."


@dataclass(frozen=True)
class Outline:
    """The lines of a text file.

    Attributes
    ----------
    above : tuple of (int, str)
        Number, from 1, and text of the lines before the header.
    header : int
        Number of the line with the names; 0 if there is none.
    rows : tuple of int
        Number of the first line of each of the first rows.
    total : int or None
        Number of lines of the file; None while they are counted.
    """

    above: tuple[tuple[int, str], ...] = ()
    header: int = 0
    rows: tuple[int, ...] = ()
    total: int | None = None


def outline_of(
    path: Path,
    preview: Preview,
    check: Callable[[], None],
    report: Callable[[Outline], object],
) -> Outline:
    """Read the lines of a text file; report them before all are counted.

    Parameters
    ----------
    path : Path
    preview : Preview
    check : callable
        Called every few milliseconds; may raise to stop.
    report : callable
        Receives the outline without the total.
    """
    dialect = preview.dialect
    # A row whose quoted fields hold line ends takes several lines.
    heights = [1 + sum(map(_line_ends, row)) for row in preview.sample[:SHOWN]]
    found, head, lines, last = None, b"", 0, b"\n"
    chunks = raw_chunks(path, dialect, None, Damage(), lambda _: check())
    try:
        for chunk in decoded_chunks(chunks, dialect):
            lines += chunk.count(b"\n")
            last = chunk[-1:] or last
            if found is None:
                head += chunk
                found = _numbered(head.split(b"\n")[:-1], dialect, heights)
                if len(found.rows) < len(heights):
                    found = None
                else:
                    report(found)
    except CheckinError:  # it unpacks to too much, which opening asks about
        return found or _numbered(head.split(b"\n"), dialect, heights)
    found = found or _numbered(head.split(b"\n"), dialect, heights)
    return Outline(found.above, found.header, found.rows, lines + (last != b"\n"))


def _line_ends(text: str) -> int:
    return text.count("\n")


def _numbered(lines: Sequence[bytes], dialect: Dialect, heights: Sequence[int]) -> Outline:
    kinds = HeaderLines(dialect)
    above: list[tuple[int, str]] = []
    rows: list[int] = []
    header, free = 0, 1
    for at, line in enumerate(lines, 1):
        line = line.rstrip(b"\r")
        if kinds.left:
            kind = kinds.next(line)
            if kind is Line.NAMES:
                header = header or at
            elif kind is Line.BEFORE and not header:
                above.append((at, line[:500].decode("utf-8", "replace")))
            free = at + 1
        elif len(rows) < len(heights) and at >= free and line.strip():
            free = at + heights[len(rows)]
            rows.append(at)
    return Outline(tuple(above), header, tuple(rows))


class PlainHeader(QHeaderView):
    """Header without frames: numbers of lines, or names above what the columns are used as."""

    def __init__(self, orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self.roles: Table[int | None, str] = {}
        """What the columns are used as."""
        self.setProperty("plain", True)
        self.setHighlightSections(False)

    def sectionSizeFromContents(self, section: int) -> QSize:
        """Return the space of a bold name."""
        if self.orientation() == Qt.Orientation.Vertical:
            return QSize(NUMBER_PX, LINE_PX)
        font = self.font()
        font.setBold(True)
        model = self.model()
        name = str(model.headerData(section, self.orientation())).split("\n")[0]
        metrics = type(self.fontMetrics())(font)
        wide = max(map(metrics.horizontalAdvance, (name, "longitude")))
        return QSize(wide + 8, 2 * LINE_PX)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw a number, or a name with its use."""
        colours = chrome_for(self.window().palette())
        text = str(self.model().headerData(section, self.orientation()))
        inside = rect.adjusted(3, 0, -3, 0)
        painter.save()
        if self.orientation() == Qt.Orientation.Vertical:
            painter.setPen(QColor(colours.muted))
            painter.drawText(rect.adjusted(6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
            return
        if section in self.roles:
            painter.fillRect(rect, QColor(colours.accent_soft))
        painter.setPen(QColor(colours.border))
        for y in (rect.top(), rect.top() + rect.height() // 2):
            painter.drawLine(rect.left(), y, rect.right(), y)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        name, _, role = text.partition("\n")
        upper = QRect(inside.topLeft(), QSize(inside.width(), rect.height() // 2))
        middle = Qt.AlignmentFlag.AlignVCenter
        elided = Qt.TextElideMode.ElideRight
        name = painter.fontMetrics().elidedText(name, elided, upper.width())
        painter.drawText(upper, middle, name)
        font.setPointSizeF(font.pointSizeF() * 0.9)
        painter.setFont(font)
        painter.setPen(QColor(colours.accent))
        painter.drawText(upper.translated(0, rect.height() // 2), middle, role)
        painter.restore()


class LineAbove(QWidget):
    """A line before the header, with its number."""

    def __init__(self) -> None:
        super().__init__()
        self.number, self.text = styled_label("muted"), styled_label("muted")
        self.number.setFixedWidth(NUMBER_PX - 9)
        self.remark = styled_label("faint", NOT_READ)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 0, 0, 0)
        row.setSpacing(6)
        for label in (self.number, self.text, self.remark):
            row.addWidget(label)
        row.addStretch(1)
        self.setFixedHeight(LINE_PX)


class FirstRows(QWidget):
    """Table of the first rows, with what cannot be read and why below it."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[tuple[int, int], CellFault] = {}
        self._verdict = ""
        self._rows: tuple[tuple[str, ...], ...] = ()
        self._widths: list[int] = []
        """Widths of the columns in pixels that their contents need."""
        self.outline = Outline()
        self.notes = FixedSizeText("notes", lines=2)
        self.notes.hide()
        self.above = [LineAbove() for _ in range(LINES_ABOVE)]
        self.table = QTableWidget()
        self.table.setAccessibleName("The first rows of the file")
        self.table.setProperty("plain", True)
        self.table.setShowGrid(False)
        self.table.setCornerButtonEnabled(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.header = PlainHeader(Qt.Orientation.Horizontal)
        self.table.setHorizontalHeader(self.header)
        numbers = PlainHeader(Qt.Orientation.Vertical)
        numbers.setMinimumSectionSize(LINE_PX)
        numbers.setDefaultSectionSize(LINE_PX)
        numbers.setFixedWidth(NUMBER_PX)
        self.table.setVerticalHeader(numbers)
        self._corner = styled_label("muted")
        self._corner.setParent(self.table)
        self._corner.setGeometry(6, 0, NUMBER_PX - 6, LINE_PX)
        self.table.currentCellChanged.connect(self._say)
        bar = self.table.verticalScrollBar()
        bar.valueChanged.connect(self._say)
        bar.rangeChanged.connect(self._say)
        self.line = ElidedLabel()
        self.line.setObjectName("hint")
        self.line.setAccessibleName("Lines shown, and what is wrong with the selected value")
        self.next_button = tool_button(
            "Ne&xt red cell", "Go to the next value that cannot be read, row by row", link=True
        )
        self.next_button.clicked.connect(self.next_error)
        self.more = tool_button("", "Show more lines in place of the questions", link=True)
        self.more.setCheckable(True)
        for button in (self.next_button, self.more):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        below = QHBoxLayout()
        below.setSpacing(16)
        below.addWidget(self.line, 1)
        below.addWidget(self.next_button)
        below.addWidget(self.more)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.notes)
        for line in self.above:
            box.addWidget(line)
        box.addWidget(self.table, 1)
        box.addLayout(below)

    def hasHeightForWidth(self) -> bool:
        """Return False: the height does not depend on the width, the rows scroll."""
        return False

    def show_rows(self, preview: Preview) -> None:
        """Show the first rows of a preview."""
        self.preview, table = preview, self.table
        rows = preview.sample or preview.rows
        self._rows = rows = rows[: max(LEAST_SHOWN, min(SHOWN, MAX_CELLS // len(preview.columns)))]
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
            self._widths = [min(table.columnWidth(c) + 4, 260) for c in range(width)]
        self._spread()
        self.more.setText("Show fewer lines" if self.more.isChecked() else self._all)
        self.more.setEnabled(len(rows) > 3)
        self.show_outline(Outline())

    @property
    def _all(self) -> str:
        return f"Show {self.table.rowCount()} {self._what}s"

    @property
    def _what(self) -> str:
        return "line" if self.preview.delimiter else "row"

    def show_outline(self, outline: Outline) -> None:
        """Show the numbers of the lines, and those before the header."""
        self.outline = outline
        above = list(outline.above)
        left = len(above) - LINES_ABOVE
        if left > 0:
            shown = above[: LINES_ABOVE - 1]
            more = f"… and {left + 1} more lines before the header, not read"
            above = [*shown, (above[-1][0], more)]
        for i, line in enumerate(self.above):
            line.setVisible(i < len(above))
            number, text = above[i] if i < len(above) else (0, "")
            line.number.setText(str(number))
            line.text.setText(text[:90])
            line.remark.setVisible(not text.startswith("… and "))
        self._corner.setText(str(outline.header or ""))
        with QSignalBlocker(self.table):
            rows = range(self.table.rowCount())
            self.table.setVerticalHeaderLabels([str(self._number(r)) for r in rows])
        self._say()

    def _number(self, row: int) -> int:
        numbers, preview = self.outline.rows, self.preview
        above = preview.dialect.lines_above if preview.delimiter else 0
        return numbers[row] if row < len(numbers) else above + row + 1

    def judge(self, mapping: Mapping, roles: Table[int | None, str]) -> int:
        """Mark columns in use and the cells that a mapping cannot read; return the good rows."""
        colours, preview = chrome_for(self.window().palette()), self.preview
        width, decimal = len(preview.columns), preview.dialect.decimal
        rows = self._rows
        self._faults, good = {}, 0
        plain = {True: QBrush(QColor(colours.accent_soft)), False: QBrush()}
        red = QBrush(QColor(colours.warn_back)), QBrush(QColor(colours.warn))
        for r in range(self.table.rowCount()):
            result = bad_cells(rows[r], mapping, decimal, width)
            good += not result
            for c in range(self.table.columnCount()):
                item = self.table.item(r, c)
                assert item is not None
                fault = result.get(c)
                if fault is not None:
                    self._faults[r, c] = fault
                text = self.cell_problem(r, c)
                item.setToolTip(plain_tip(text or item.text()))
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, text)
                item.setBackground(red[0] if fault else plain[c in roles])
                item.setForeground(red[1] if fault else QBrush())
        self.header.roles = roles
        for c, name in enumerate(preview.columns):
            header = self.table.horizontalHeaderItem(c)
            assert header is not None
            header.setText(f"{name}\n{roles.get(c, '')}".rstrip())
            header.setToolTip(plain_tip(name))
        total = self.table.rowCount()
        self._verdict = ALL_READ if roles else ""
        if good < total:
            self._verdict = (
                f"{good} of the first {total} rows can be read; the others will be rejected and "
                "listed."
            )
        self.next_button.setVisible(bool(self._faults))
        self._say()
        return good

    def cell_problem(self, row: int, column: int) -> str:
        """Return row, column, error and remedy of a cell; empty if it is readable."""
        fault = self._faults.get((row, column))
        if fault is None:
            return ""
        names = self.preview.columns
        name = f"“{names[column][:40]}”" if column < len(names) else "(surplus)"
        remedy = fault.remedy[:1].upper() + fault.remedy[1:]
        return f"{self._what.title()} {self._number(row)}, {name}: {fault.what}. {remedy}."

    def next_error(self) -> None:
        """Select the next unreadable cell, cyclically."""
        here = (self.table.currentRow(), self.table.currentColumn())
        red = sorted(self._faults)
        if red:
            self.table.setCurrentCell(*next((cell for cell in red if cell > here), red[0]))
            self.table.setFocus()
            self._say()

    def show_more(self, more: bool) -> None:
        """Say what the link does next."""
        self.more.setText("Show fewer lines" if more else self._all)

    def _say(self, *_: int) -> None:
        here = self.cell_problem(self.table.currentRow(), self.table.currentColumn())
        self.line.setText(here or f"{self._lines} {self._verdict}".strip())
        self.line.setToolTip(plain_tip(self.line.text()))
        mark(self.line, bool(here))

    @property
    def _lines(self) -> str:
        """Which lines are shown, such as ``Lines 4 to 7 of 76,214.``."""
        count = self.table.rowCount()
        if not count:
            return ""
        first = max(self.table.rowAt(0), 0)
        last = self.table.rowAt(self.table.viewport().height() - LINE_PX // 2)
        last = count - 1 if last < 0 else last
        total = self.outline.total
        known = self.preview.delimiter and total is not None
        of = f"{total:,}" if known else f"the first {count}"
        return f"{self._what.title()}s {self._number(first)} to {self._number(last)} of {of}."

    def _spread(self) -> None:
        """Divide the width that is left among the columns."""
        left = self.table.width() - NUMBER_PX - SCROLL_BAR_PX - sum(self._widths)
        for c, width in enumerate(self._widths):
            self.table.setColumnWidth(c, width + max(left, 0) // len(self._widths))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the width anew, and say which lines are shown."""
        super().resizeEvent(event)
        self._spread()
        if self.table.rowCount():
            self._say()


SIZE_PX = 984, 680
READING_FILE = "Looking at the file …"
NONE_READABLE = "None of the first rows can be read with these settings."
CONFIRMED = "✓ Confirmed"
BY_NAME, BY_VALUES = "✓ Recognised by its name", "✓ Recognised by its values"
QUESTIONS_OF = {
    "user": ("user",),
    "position": ("position", "crs", "plane"),
    "time": ("time", "time_format"),
}
"""Keys of the questions that each card asks."""
ASKED_ELSEWHERE = {"user", "position", "crs", "plane", "time", "encoding", "layer"}
"""Keys of the questions that the answers of the cards or the fields above are about; the card of
the time asks all others."""
FIELDS_OF = {
    "user": ("user", "unit"),
    "position": ("lat", "lon", "order", "crs", "plane", "image"),
    "time": ("time", "time_format"),
}
"""Fields of a mapping that each card's answer sets."""
ONE_OF_TWO = "Only one position of a row is used. Open the file again for the other."
NEAR_TOWN_KM = 100
PEOPLE_PER_KM2 = 3000
"""Density of a town, from whose population its radius follows."""


def _town(lat: float, lon: float) -> str:
    """Return in or near which town a position is, behind a colon; empty far from all."""
    cities = shipped_cities()
    around = (lat - 0.1, lon - 0.15, lat + 0.1, lon + 0.15)
    city = next(iter(cities.visible(around, 1)), None) or cities.nearest(lat, lon)[0]
    km = distance_km(lat, lon, city.latitude, city.longitude)
    if km > NEAR_TOWN_KM:
        return ""
    inside = math.pi * km**2 * PEOPLE_PER_KM2 < city.population
    return f": {'in' if inside else 'near'} {city.name}"


class Remembered(Protocol):
    """Answers that were confirmed for files of the same header and format."""

    def recall(self, preview: Preview) -> tuple[str, dict[str, Any], Collection[str]] | None:
        """Return the file's name, the fields of its mapping, and what was asked, if known."""

    def remember(self, preview: Preview, mapping: Mapping | None, asked: Sequence[str]) -> None:
        """Keep the answers to what was asked for files like this; None forgets them."""


def _read_with(preview: Preview) -> dict[str, Any]:
    """Return how the lines of a file were read, by the names of a mapping's fields."""
    return {
        "encoding": preview.encoding,
        "delimiter": preview.delimiter,
        "decimal": preview.dialect.decimal,
        "header": preview.header_line,
    }


def _digest(question: Question) -> str:
    """Return a hash of what is asked: of persons in these words, else among these answers.

    The words about persons quote ids, which a former answer knows nothing of.
    """
    about = question.text if question.key == "user" else [c.fields for c in question.candidates]
    return hashlib.sha256(json.dumps([question.key, about]).encode()).hexdigest()


class MappingDialog(QDialog):
    """How a file is read, with its first rows and a card for person, position and time.

    Parameters
    ----------
    request : MappingRequest
    parent : QWidget, optional
    memory : Remembered, optional
        Where answers for files like this are kept.

    Signals
    -------
    load(tuple of Path, Mapping, Dialect or None)
        *Open* was pressed; None if dialect and encoding are as detected.
    picture_selected(Path)
        Set with *Open*: picture whose size is the range of x and y.
    """

    load = Signal(object, object, object)
    picture_selected = Signal(object)

    def __init__(
        self,
        request: MappingRequest,
        parent: QWidget | None = None,
        memory: Remembered | None = None,
    ) -> None:
        super().__init__(parent)
        self.request, self._memory = request, memory
        self.preview = request.preview
        self.values: dict[str, Any] = {}
        """Columns by role, with unit and order, as fields of the mapping."""
        self.settled: dict[str, tuple[tuple[Any, ...], str]] = {}
        """Answer of each card that needs no more confirmation, and why not."""
        self._refused = ""
        former = self.preview.mapping
        self._chosen = SniffSettings(
            former.encoding,
            unpack=self.preview.dialect.unpack,
            delimiter=former.delimiter,
            header=former.header,
        )
        self._by_hand = False
        """Whether the user changed how the file is read."""
        self._detected = self.preview
        """The last preview without such changes, under which answers are remembered."""
        self._named_e7 = False
        self._questions: tuple[tuple[object, ...], tuple[Question, ...]] = ((), ())
        self._job = LatestJob("looking at a file", self, preempt_after_s=0.0)
        self._job.done.connect(self._preview_read)
        self._job.failed.connect(self._preview_failed)
        self._counting = LatestJob("counting lines", self, preempt_after_s=0.0)
        self._counting.progress.connect(self._show_outline)
        self._counting.done.connect(self._show_outline)
        self.finished.connect(self._close_jobs)
        self.setWindowTitle(f"Open {self.preview.basename}")
        self._build()
        self._connect()
        self._show_preview()
        self._focus_next()

    # Parts -----------------------------------------------------------------------------------

    def _build(self) -> None:
        self.title = styled_label("subtitle", self.windowTitle())
        self.detected = styled_label("muted")
        top = QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.detected)
        self.reading = ReadingFields(self.preview)
        self.rows = FirstRows()
        self.table = self.rows.table
        self.person, self.position = PersonCard(), PositionCard()
        self.time = TimeCard(self.reading.example)
        self.cards: dict[str, AnswerCard] = {
            "user": self.person,
            "position": self.position,
            "time": self.time,
        }
        self.system, self.plane = self.position.system, self.position.plane
        self.swap_button = self.position.swap_button
        self.answers = QWidget()
        row = QHBoxLayout(self.answers)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        for card in self.cards.values():
            row.addWidget(card, 1)
        self.verdict = styled_label("warning", word_wrap=True)
        self.verdict.setFixedHeight(34)
        self.verdict.setAccessibleName("What is left to do before the file can be opened")
        self.remember = CheckBox("Remember for files like this", self)
        self.remember.setToolTip(
            "Keep these answers for files with the same header and format. Nothing is sent "
            "anywhere, and the file is not changed."
        )
        cancel, self.load_button = QPushButton("Cancel"), QPushButton("Open")
        self.load_button.setObjectName("door")
        for button, width in ((cancel, 100), (self.load_button, 130)):
            button.setFixedSize(width, 32)
            button.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.load_button.clicked.connect(self._accept)
        self.cancel_button = cancel
        foot = QHBoxLayout()
        foot.setSpacing(16)
        for widget in (cancel, self.verdict, self.remember, self.load_button):
            foot.addWidget(widget, int(widget is self.verdict))
        foot.insertSpacing(3, 8)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 14, 20, 16)
        box.setSpacing(6)
        box.addLayout(top)
        box.addWidget(self.reading)
        box.addWidget(self.rows, 1)
        box.addWidget(self.answers)
        box.addSpacing(12)
        box.addLayout(foot)
        self.setMinimumSize(*SIZE_PX)
        self.resize(*SIZE_PX)

    def _connect(self) -> None:
        self.reading.reread.connect(self._choose_reading)
        self.reading.encoding_confirmed.connect(lambda: self._confirm("encoding"))
        for widget in (self.reading, self.system, self.plane):
            widget.changed.connect(self._check)
        for key, card in self.cards.items():
            card.changed.connect(self._answer)
            card.confirmed.connect(partial(self._confirm, key))
        self.swap_button.clicked.connect(self._swap)
        self.rows.more.toggled.connect(self._show_more)

    def _show_more(self, more: bool) -> None:
        """Show more lines in place of the cards, or the cards again."""
        self.answers.setVisible(not more)
        self.rows.show_more(more)

    def _focus_next(self) -> None:
        """Focus the next answer to confirm, or *Open* once there is none."""
        if self.reading.confirm_button.isEnabled() and self.reading.confirm_button.isVisibleTo(
            self
        ):
            self.reading.confirm_button.setFocus()
            return
        card = next((card for card in self.cards.values() if not card.is_confirmed), None)
        (self.load_button if card is None else card.first_stop).setFocus()

    def _set_tab_order(self) -> None:
        stops: list[QWidget] = [self.reading.first.field, self.reading.confirm_button]
        stops += [column.field for column in self.reading.columns.values()]
        stops += [self.table, self.rows.next_button, self.rows.more]
        for card in self.cards.values():
            stops += card.stops
        stops += [self.remember, self.load_button, self.cancel_button]
        for before, after in pairwise(stops):
            self.setTabOrder(before, after)

    # Reading the file again ------------------------------------------------------------------

    def _read_again(self) -> None:
        """Read the beginning of the file again with the chosen dialect."""
        self._refused = READING_FILE
        self._check()
        source, chosen = self.request.source, self._chosen
        self._job.submit(
            chosen, lambda task: checkins.sniff_source(source, chosen, task.cancelled).preview
        )

    def _choose_reading(self) -> None:
        """Read the file again with what was chosen above it."""
        reading = self.reading
        changed = {
            name: box.currentData()
            for name, box in (
                ("encoding", reading.encoding),
                ("delimiter", reading.delimiter),
                ("decimal", reading.decimal),
                ("header", reading.header),
            )
            if box.currentData() != _read_with(self.preview)[name]
        }
        self._by_hand = self._by_hand or bool(changed)
        layer = reading.layer.currentData() or None
        self._chosen = self._chosen._replace(layer=layer, **changed)
        self._read_again()

    def _preview_read(self, chosen: SniffSettings, preview: Preview) -> None:
        if chosen == self._chosen:
            if preview.columns != self.preview.columns:
                self.settled.clear()
            self.preview, self._refused = preview, ""
            if not any(getattr(chosen, name) is not None for name in _read_with(preview)):
                self._detected = preview
            self._show_preview()

    def _preview_failed(self, chosen: object, error: Exception) -> None:
        if chosen == self._chosen:
            self._refused = explain(error, "data").sentence
            self._check()

    def _show_preview(self) -> None:
        """Show columns and rows of the preview with the detected mapping."""
        preview = self.preview
        suggested = preview.suggested
        names = ("user", "lat", "lon", "order", "time", "location", "weight", "unit")
        self.values = {name: getattr(suggested, name) for name in names}
        for card in self.cards.values():
            card.forget_pick()
        with QSignalBlocker(self.reading):
            self.reading.show_preview(preview, suggested.time, preview.mapping.time_format)
        with QSignalBlocker(self.plane):
            self.plane.offer_images(preview.columns, suggested.image)
            self.plane.show_plane(preview.mapping.plane)
        with QSignalBlocker(self.system):
            self.system.place(self._points())
            self.system.show_system(preview.mapping.crs, preview.mapping.planar)
        self._named_e7 = preview.mapping.crs == E7
        self.rows.show_rows(preview)
        self._show_reason()
        self._count_lines()
        for key in self.cards:
            if (reason := self._recognised(key)) and not self._asked_by(key):
                self.settled.setdefault(key, (self._answer_of(key), reason))
        self._recall()
        self._check()

    def _show_reason(self) -> None:
        """Show why the file is asked about, unless a card says it."""
        reason, before = self.request.reason, self.request.preview
        if any(question.text in reason for question in before.questions):
            reason = " ".join(before.problems)
        shown = [f"The text is read as {shown_encoding(before.encoding)}."]
        for text in (*shown, *(one for one in before.problems if "like a time" in one)):
            reason = reason.replace(text, "")
        reason = " ".join(reason.split())
        self.rows.notes.setText(reason)
        self.rows.notes.setVisible(bool(reason))

    def _count_lines(self) -> None:
        preview, source = self.preview, self.request.source
        self.detected.setText(self._size(None))
        if not preview.delimiter or len(source) > 1 or not source[0].is_file():
            return
        self._counting.submit(
            preview.dialect,
            lambda task: outline_of(source[0], preview, task.check, task.report),
        )

    def _show_outline(self, dialect: object, outline: Outline) -> None:
        if dialect == self.preview.dialect:
            self.rows.show_outline(outline)
            self.detected.setText(self._size(outline.total))

    def _size(self, lines: int | None) -> str:
        """Return size and lines of the file."""
        preview = self.preview
        name = "" if preview.delimiter else get_reader(preview.dialect.reader).name
        size = f"{preview.size / 1e6:,.1f} MB" if preview.size >= 1e5 else f"{preview.size:,} bytes"
        parts = [name, "gzip" if preview.dialect.compressed else "", size]
        parts.append("" if lines is None else f"{lines:,} line{'s' * (lines != 1)}")
        return ", ".join(filter(None, parts))

    # What was answered before ----------------------------------------------------------------

    def _recall(self) -> None:
        """Take over the answers that are remembered for files like this."""
        preview = self.preview
        self.remember.setEnabled(self._memory is not None and self._detected.has_header)
        if self._memory is None or self._by_hand:
            return
        known = self._memory.recall(self._detected)
        if known is None:
            return
        file, fields, answered = known
        now, before = _read_with(preview), self._chosen
        forced: dict[str, Any] = {name: fields.get(name) for name in now}
        self._chosen = before._replace(**forced)
        if any(forced[name] not in (None, now[name], getattr(before, name)) for name in now):
            self._read_again()
            return
        self.remember.setChecked(True)
        self.values = {name: fields.get(name) for name in self.values}
        with QSignalBlocker(self.reading):
            self.reading.zone.setText(fields.get("zone") or "")
            self.reading.show_times(preview, self.values["time"])
            if self.values["time"] is not None:
                self.reading.choose_format(fields.get("time_format", "iso"))
        with QSignalBlocker(self.plane), QSignalBlocker(self.system):
            self.plane.offer_images(preview.columns, fields.get("image"))
            self.plane.show_plane(fields.get("plane"))
            self.system.place(self._points())
            self.system.show_system(fields.get("crs"), fields.get("plane") is not None)
        self._named_e7 = fields.get("crs") == E7
        for key in self.cards:
            self.settled.pop(key, None)
            if {_digest(one) for one in self._asked_by(key)} <= set(answered):
                self.settled[key] = self._answer_of(key), f"✓ Remembered from {file}"
        if self.values["time"] is not None and not self.reading.fits(self.reading.time_format):
            self.settled.pop("time", None)  # these dates are written in another way
        if looks_swapped(preview.rows, self.mapping, preview.dialect.decimal):
            self.settled.pop("position", None)
        if fields.get("encoding"):
            self.settled["encoding"] = (preview.encoding,), CONFIRMED

    # Answers ---------------------------------------------------------------------------------

    @property
    def dialect(self) -> Dialect | None:
        """Chosen dialect, if it differs from the detected one."""
        result = self.preview.dialect
        return result if result.unpack or result != self.request.preview.dialect else None

    @property
    def mapping(self) -> Mapping:
        """Chosen mapping."""
        plane = self.plane.text
        return Mapping(
            **self.values,
            image=self.plane.image.currentData() if plane is not None else None,
            time_format=self.reading.time_format,
            zone=self.reading.zone_name,
            decimal=self._chosen.decimal,
            encoding=self._chosen.encoding
            or (self.preview.encoding if self._encoding_asked else None),
            delimiter=self._chosen.delimiter,
            header=self._chosen.header,
            plane=plane,
            crs=self.system.crs if plane is None else None,
        )

    @property
    def _encoding_asked(self) -> bool:
        return self.preview.question("encoding") is not None

    def _points(self) -> Points | None:
        """Return y and x of the first rows in the chosen columns."""
        lat, lon = self.values["lat"], self.values["lon"]
        if lat is None or lon is None:
            return None
        read = partial(number, decimal=self.preview.dialect.decimal)
        return points_of(self.preview.rows, lat, lon, read)

    def _answer_of(self, key: str) -> tuple[Any, ...]:
        """Return what a card's confirmation is about."""
        if key == "encoding":
            return (self.preview.encoding,)
        mapping = self.mapping
        return tuple(getattr(mapping, name) for name in FIELDS_OF[key])

    def _confirm(self, key: str) -> None:
        """Confirm an answer as it is."""
        self.settled[key] = self._answer_of(key), CONFIRMED
        self._check()
        self._focus_next()

    def _answer(self, fields: Table[str, Any]) -> None:
        """Apply an answer of a card."""
        further = {name for one in self.time.further.values() for name in one.question.fields}
        if further.intersection(fields):
            self.settled.pop("time", None)
        self.values |= {name: value for name, value in fields.items() if name in self.values}
        if "time" in fields:
            with QSignalBlocker(self.reading):
                self.reading.show_times(self.preview, fields["time"])
        if "time_format" in fields:
            with QSignalBlocker(self.reading):
                self.reading.choose_format(fields["time_format"])
        if "lat" in fields:
            self.system.place(self._points())
            self._take_system_of_names()
        self._check()

    def _swap(self) -> None:
        """Swap the columns of latitude and longitude."""
        self.position.forget_pick()
        self._answer({"lat": self.values["lon"], "lon": self.values["lat"]})

    def _take_system_of_names(self) -> None:
        """Scale integer degrees (times ten million) while both column names say so."""
        lat, lon = self.values["lat"], self.values["lon"]
        named = is_e7(self.preview.columns if self.preview.has_header else (), lat, lon)
        if named != self._named_e7 and None not in (lat, lon):
            self._named_e7 = named
            before = self.preview.mapping.crs
            with QSignalBlocker(self.system):
                self.system.show_system(E7 if named else None if before == E7 else before)

    def _open_questions(self) -> tuple[Question, ...]:
        """Return the open questions for the chosen columns."""
        mapping = replace(self.mapping, crs=self.preview.mapping.crs)
        state = (self.preview, mapping.time, mapping.lat, mapping.lon, mapping.plane)
        if self._questions[0] != state:
            self._questions = state, remaining_questions(self.preview, mapping, ())
        return self._questions[1]

    def _asked_by(self, key: str) -> list[Question]:
        """Return the open questions that a card asks."""
        return [
            question
            for question in self._open_questions()
            if question.key in QUESTIONS_OF[key]
            or (key == "time" and question.key not in ASKED_ELSEWHERE)
        ]

    # State -----------------------------------------------------------------------------------

    @property
    def problem(self) -> str:
        """Reason why it cannot be loaded; empty if it can."""
        if self._refused:
            return self._refused
        if self.preview.layers and not self.reading.layer.currentData():
            return "Choose the layer or sheet with the check-ins."
        for key in self.cards:
            if (problem := self._problem_of(key)) and self._begun(key):
                return problem
        used, names = self.mapping.columns, self.preview.columns
        twice = next((c for c in used if used.count(c) > 1), None)
        if twice is not None:
            return f"Column “{names[twice]}” is chosen twice; every column can hold one thing."
        if not self.mapping.missing and self._readable == 0 and self.preview.rows:
            return NONE_READABLE
        return self._to_confirm

    def _begun(self, key: str) -> bool:
        """Return whether an answer of a card is selected, complete or not."""
        return self.cards[key].place_of(self.values) >= 0

    def _problem_of(self, key: str) -> str:
        """Return why the answer of a card cannot be confirmed."""
        problem = self.cards[key].problem(self.values)
        if key == "position" and not problem:
            return self.plane.problem or ("" if self.plane.is_on else self.system.problem)
        return problem or (self.reading.problem if key == "time" else "")

    @property
    def _to_confirm(self) -> str:
        """Unconfirmed answers as text; empty if none."""
        names = ["encoding"] * (self._encoding_asked and "encoding" not in self.settled)
        names += [card.short for key, card in self.cards.items() if key not in self.settled]
        if not names:
            return ""
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{len(names)} answer{'s' * (len(names) > 1)} to confirm: {listed}."

    def _recognised(self, key: str) -> str:
        """Return why an answer that no question is about needs no confirmation; else empty."""
        preview, values = self.preview, self.values
        known = {"user": values["user"] if values["unit"] is None else 0}
        known["position"] = None if values["lat"] is None else values["lon"]
        if key == "position" and looks_swapped(preview.rows, self.mapping, preview.dialect.decimal):
            return ""
        if known.get(key, 0) is None or not (preview.has_header or preview.format == Format.SNAP):
            return ""
        if key == "time" and self.values["time"] is None:
            return "✓ No column looks like a time"
        if not preview.has_header:
            return "✓ Recognised by its format"
        columns = [c for name in FIELDS_OF[key] if isinstance(c := values.get(name), int)]
        named = all(is_known_column(preview.columns[column]) for column in columns)
        return BY_NAME if named else BY_VALUES

    def _check(self) -> None:
        mapping, preview = self.mapping, self.preview
        with QSignalBlocker(self.reading):
            self.reading.set_used(mapping.time is not None)
        questions = {question.key: question for question in self._open_questions()}
        for key in list(self.settled):
            if self.settled[key][0] != self._answer_of(key):
                del self.settled[key]
        for key, card in self.cards.items():
            asked = self._asked_by(key)
            card.offer(preview.columns, self._why(key, asked), self._candidates(key, asked))
        self.time.ask([one for one in questions.values() if one.key not in ASKED_ELSEWHERE])
        shown = {**self.values, "time_format": self.reading.times.currentData()}
        self.time.follow(shown, "time" in self.settled)
        self.reading.example.setVisible(self.reading.typed)
        self.time.note.setText(self._zone_note)
        self.time.note.setVisible(bool(self._zone_note))
        pairs = {frozenset(one.columns) for one in self.position.candidates}
        self.position.note.setText(ONE_OF_TWO if len(pairs) > 1 else "")
        swapped = looks_swapped(preview.rows, mapping, preview.dialect.decimal)
        self.position.show_swapped(swapped)
        self.rows.judge(mapping, self._roles)
        for key, card in self.cards.items():
            card.show_values(self.values)
            ready = self._begun(key) and not self._problem_of(key) and not self._refused
            card.show_state(self.settled[key][1] if key in self.settled else "", ready)
        self._show_encoding(questions.get("encoding"))
        problem = self.problem
        self.verdict.setText(problem)
        self.verdict.setToolTip(plain_tip(problem))
        self.load_button.setEnabled(not problem)
        self._set_tab_order()

    def _why(self, key: str, asked: Sequence[Question]) -> str:
        """Return why a card asks."""
        texts = [question.text for question in asked if question.key in ("crs", key)]
        texts += [question.title for question in asked if question.key == "plane"]
        if not (asked or self.preview.has_header or self._recognised(key)):
            texts = ["The file has no header: this was guessed from its contents."]
        if key == "user":
            texts.append("Rows with the same value are one person.")
        return " ".join(filter(None, texts))

    def _candidates(self, key: str, asked: Sequence[Question]) -> list[Candidate]:
        """Return the likely answers of a card, with a value from the file each."""
        preview = self.preview
        question = next((one for one in asked if one.key == key), None)
        if question is not None:
            found = [one for one in question.candidates if one.columns]
            return [self._placed(one) for one in found] if key == "position" else found
        suggested = preview.suggested
        roles = ("lat", "lon", "order") if key == "position" else (key,)
        fields = tuple((role, getattr(suggested, role)) for role in roles)
        columns = list(dict.fromkeys(c for _, c in fields if isinstance(c, int)))
        if not columns:
            return []
        text = ", ".join(printable(preview.columns[column][:40]) for column in columns)
        return [self._placed(Candidate(text, fields, self._example(key, columns)))]

    def _example(self, key: str, columns: Sequence[int]) -> str:
        """Return a value of columns, or how many values the column of the person has."""
        rows = self.preview.sample[:OF_ROWS]
        filled = [row for row in rows if all(c < len(row) and row[c].strip() for c in columns)]
        if key == "user":
            count = len({row[columns[0]] for row in filled})
            return f"{count:,} value{'s' * (count != 1)} in {len(filled):,} rows"
        return ", ".join(printable(row[c].strip()[:40]) for row in filled[:1] for c in columns)

    def _placed(self, candidate: Candidate) -> Candidate:
        """Return a candidate whose example says near which town its first position is."""
        fields = dict(candidate.fields)
        mapping = self.preview.mapping
        if "lat" not in fields or mapping.planar or mapping.crs:
            return candidate
        decimal = self.preview.dialect.decimal
        for row in self.preview.rows:
            if max(candidate.columns) >= len(row):
                continue
            cells = row[fields["lat"]], row[fields["lon"]]
            if order := fields.get("order"):
                pair = [coordinate_in(cells[0], order, role) for role in ("lat", "lon")]
            else:
                pair = [number(cell, decimal) for cell in cells]
            lat, lon = pair
            if lat is None or lon is None or abs(lat) > 90 or abs(lon) > 180:
                continue
            return replace(candidate, example=f"{lat:.6g}, {lon:.6g}{_town(lat, lon)}")
        return candidate

    @property
    def _roles(self) -> dict[int | None, str]:
        """What the chosen columns are used as."""
        mapping = self.mapping
        names = {
            "user": "person",
            "lat": "y" if mapping.planar else "latitude",
            "lon": "x" if mapping.planar else "longitude",
            "time": "time",
            "location": "place",
            "weight": "weight",
            "image": "image",
        }
        roles: dict[int | None, str] = {}
        for role, name in names.items():
            column = getattr(mapping, role)
            if column is not None:
                roles[column] = f"{roles[column]}, {name}" if column in roles else name
        return roles

    @property
    def _zone_note(self) -> str:
        if not self.reading.naive:
            return ""
        if self.reading.zone_name is None:
            return (
                "The file states no time zone, so times are read as UTC. Choose the zone above if "
                "that is wrong."
            )
        return f"The file states no time zone: times are read as those of {self.reading.zone_name}."

    @property
    def _readable(self) -> int:
        mapping, decimal = self.mapping, self.preview.dialect.decimal
        width = len(self.preview.columns)
        return sum(
            len(row) == width and not bad_cells(row, mapping, decimal) for row in self.preview.rows
        )

    def _show_encoding(self, question: Question | None) -> None:
        """Show how sure the encoding of the text is."""
        if not self.preview.delimiter:
            return
        percent = int(100 * self.preview.encoding_confidence)
        confirmed = "encoding" in self.settled
        if question is None:
            sure = f"detected, {percent} % sure" if percent < 100 else "detected"
            self.reading.show_encoding("chosen" if self._chosen.encoding else sure)
            return
        if not question.candidates:
            self.reading.show_encoding("choose another", question.text, True)
            self.reading.confirm_button.hide()
            return
        example = next((one.example for one in question.candidates if one.example), "")
        check = f"check “{example}”" if example else ""
        if self.preview.encoding_confidence < MIN_SURE_RATING:
            check = f"{percent} % sure: {check}".removesuffix(": ")
        self.reading.show_encoding(check, question.text, not confirmed, confirmed)

    def _close_jobs(self) -> None:
        self._job.close()
        self._counting.close()
        self.system.close_job()

    def _accept(self) -> None:
        if self.problem:
            return
        if self._memory is not None and self.remember.isEnabled():
            keep = self.mapping if self.remember.isChecked() else None
            asked = [_digest(one) for key in self.cards for one in self._asked_by(key)]
            self._memory.remember(self._detected, keep, asked)
        if self.plane.picture is not None and self.plane.text:
            self.picture_selected.emit(self.plane.picture)
        self.load.emit(self.request.source, self.mapping, self.dialect)
        self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels; Return presses the button that has the focus."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, QAbstractButton):
                focused.click()
            return
        super().keyPressEvent(event)
