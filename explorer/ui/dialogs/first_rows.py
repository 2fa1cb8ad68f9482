"""First lines of a file: what is above the header, the columns in use, and cells that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping as Table, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.checkins.parsing.header import HeaderLines, Line
from explorer.checkins.parsing.row_rules import CellFault, bad_cells
from explorer.checkins.parsing.streams import decoded_chunks, raw_chunks
from explorer.checkins.scan import Damage
from explorer.ui.base.styled import plain_tip, styled_label, tool_button
from explorer.ui.base.theme import chrome_for
from explorer.ui.dialogs.reading_fields import mark
from explorer.ui.plot.labels import ElidedLabel
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
    for number, line in enumerate(lines, 1):
        line = line.rstrip(b"\r")
        if kinds.left:
            kind = kinds.next(line)
            if kind is Line.NAMES:
                header = header or number
            elif kind is Line.BEFORE and not header:
                above.append((number, line[:500].decode("utf-8", "replace")))
            free = number + 1
        elif len(rows) < len(heights) and number >= free and line.strip():
            free = number + heights[len(rows)]
            rows.append(number)
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
            self.table.setVerticalHeaderLabels([str(self._number(r)) for r in self._all_rows()])
        self._say()

    def _all_rows(self) -> Iterator[int]:
        yield from range(self.table.rowCount())

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
