"""Splits records of quoted files (RFC 4180), whose fields may span lines."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from explorer.checkins.model import Reason
from explorer.checkins.parsing.numbers import number
from explorer.checkins.parsing.streams import MAX_LINE

FIELD_SEPARATOR = "\x1f"
"""Field separator in the copy of a quoted file (ASCII unit separator)."""

LINE_SEPARATOR = "\x1e"
"""Replacement for line ends within fields (ASCII record separator)."""

MAX_RECORD_LINES = 100
"""Maximum number of lines of a quoted field; longer ones lost their closing quote."""


class SplitError(Enum):
    """Reasons why a record cannot be split into fields."""

    OPEN = "a quoted field has not ended"
    BROKEN = "a quote stands where none may"


def split_record(line: str, delimiter: str) -> list[str] | SplitError:
    """Split a record at the delimiters outside of double quotes.

    A field is either free of quotes or enclosed in them, with inner ones doubled (RFC 4180).
    """
    if '"' not in line:
        return line.split(delimiter)
    fields: list[str] = []
    at = 0
    while True:
        if line.startswith('"', at):
            parts: list[str] = []
            at += 1
            while True:
                end = line.find('"', at)
                if end < 0:
                    return SplitError.OPEN
                parts.append(line[at:end])
                at = end + 1
                if not line.startswith('"', at):
                    break
                parts.append('"')
                at += 1
            fields.append("".join(parts))
            if at == len(line):
                return fields
            if not line.startswith(delimiter, at):
                return SplitError.BROKEN
            at += 1
        else:
            end = line.find(delimiter, at)
            text = line[at:] if end < 0 else line[at:end]
            if '"' in text:
                return SplitError.BROKEN
            fields.append(text)
            if end < 0:
                return fields
            at = end + 1


def split_quoted(line: str, delimiter: str) -> list[str] | None:
    """Return the fields of a record; None if its quotes are broken."""
    fields = split_record(line, delimiter)
    return None if isinstance(fields, SplitError) else fields


@dataclass(frozen=True)
class RowShape:
    """Shape of a line that is a row of its own.

    Attributes
    ----------
    width : int
        Fields in a row.
    delimiter, decimal : str
    degrees : tuple of (int, float)
        Columns with a number, and how far from zero it may be.
    """

    width: int
    delimiter: str
    decimal: str = "."
    degrees: tuple[tuple[int, float], ...] = ()

    def fits(self, line: str) -> bool:
        """Return whether a line is a row, with broken quotes treated as letters."""
        fields = split_quoted(line, self.delimiter) or line.split(self.delimiter)
        if len(fields) != self.width:
            return False
        for column, limit in self.degrees:
            value = number(fields[column], self.decimal)
            if value is None or not abs(value) <= limit:
                return False
        return True


class RecordJoiner:
    """Joins consecutive lines of a quoted file into records.

    A stray quote must not invalidate the rows up to the next quote. If lines can't be joined, or
    are rows by themselves, only the first of them is rejected and the others are parsed again.

    Parameters
    ----------
    shape : RowShape
    fault : callable
        Returns the reason why a line by itself is malformed, or None.
    record : callable
        Called with first and last line and the fields of each record.
    blank : callable
        Called with the number of each blank line outside records.
    reject : callable
        Called with number, reason and text of each rejected line.
    """

    def __init__(
        self,
        shape: RowShape,
        fault: Callable[[bytes], Reason | None],
        record: Callable[[int, int, list[str]], None],
        blank: Callable[[int], None],
        reject: Callable[[int, Reason, bytes], None],
    ) -> None:
        self._shape = shape
        self._fault = fault
        self._record = record
        self._blank = blank
        self._reject = reject
        self._first = 0
        self._lines: list[bytes] = []
        self._size = 0
        self._quotes = 0

    @property
    def open(self) -> bool:
        """Whether a record is incomplete."""
        return bool(self._lines)

    def feed(self, number: int, line: bytes) -> None:
        """Process the next line, given without its end."""
        todo = deque([(number, line)])
        while todo:
            self._take(*todo.popleft(), todo)

    def finish(self) -> None:
        """Signal that no line follows that could complete a record."""
        todo: deque[tuple[int, bytes]] = deque()
        while self._lines or todo:
            if todo:
                self._take(*todo.popleft(), todo)
            else:
                self._give_up(self._lines, todo)

    def _take(self, number: int, line: bytes, todo: deque[tuple[int, bytes]]) -> None:
        if self._lines:
            self._continue(number, line, todo)
            return
        reason = self._fault(line)
        if reason is not None:
            self._reject(number, reason, line)
        elif not line:
            self._blank(number)
        else:
            fields = split_record(line.decode(), self._shape.delimiter)
            if fields is SplitError.OPEN:
                self._first, self._lines = number, [line]
                self._size, self._quotes = len(line), line.count(b'"')
            elif isinstance(fields, SplitError):
                self._reject(number, Reason.BROKEN_QUOTES, line)
            else:
                self._record(number, number, fields)

    def _continue(self, number: int, line: bytes, todo: deque[tuple[int, bytes]]) -> None:
        """Process a line that may continue the open record."""
        lines = [*self._lines, line] if b'"' in line else self._lines
        self._size += 1 + len(line)
        too_much = len(self._lines) >= MAX_RECORD_LINES or self._size > MAX_LINE
        if too_much or self._fault(line) is not None:
            self._give_up([*self._lines, line], todo)
            return
        if lines is self._lines:
            self._lines.append(line)
            return
        self._quotes += line.count(b'"')
        if self._quotes % 2:  # inside quotes the number of quotes is odd
            self._lines.append(line)
            return
        texts = [part.decode() for part in lines]
        fields = split_record("\n".join(texts), self._shape.delimiter)
        if isinstance(fields, SplitError) or not self._trusted(texts, fields):
            self._give_up(lines, todo)
            return
        self._lines = []
        self._record(self._first, number, fields)

    def _trusted(self, lines: list[str], fields: list[str]) -> bool:
        """Return whether lines are one record, rather than rows between two stray quotes."""
        fits = self._shape.fits
        if len(fields) != self._shape.width or any(map(fits, lines[1:-1])):
            return False
        # A field of several lines in the first or last column leaves one line that looks like a
        # row, never two.
        return not (fits(lines[0]) and fits(lines[-1]))

    def _give_up(self, lines: list[bytes], todo: deque[tuple[int, bytes]]) -> None:
        """Reject the first line and process the others again."""
        self._lines = []
        self._reject(self._first, Reason.BROKEN_QUOTES, lines[0])
        todo.extendleft((self._first + i, lines[i]) for i in range(len(lines) - 1, 0, -1))
