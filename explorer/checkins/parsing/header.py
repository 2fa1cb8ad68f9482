"""Finds the header of a table and the surrounding lines that are no rows.

Exports often begin with lines that are neither names nor rows: ``sep=;``, a title, comments. A
second line of names or of units may follow the header. These lines are counted as lines before the
header, so that the number of rejected rows is that of rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from explorer.checkins.model import Dialect
from explorer.checkins.parsing.column_names import NOBODY, is_known_column
from explorer.checkins.parsing.guess_columns import is_number, looks_like_header
from explorer.checkins.parsing.numbers import Rows
from explorer.checkins.parsing.times import is_iso, share, time_format

MAX_ABOVE = 60
"""Maximum number of rows searched for a header."""

_NO_UNIT = NOBODY | {"", "-", "--", "?", "nil", "inf", "unbekannt", "missing", "error"}
_NO_UNIT |= {"invalid", "no fix", "nofix"}
"""Words for missing numbers; rows of them are not lines of units."""

_COMMENT = re.compile(r"\s*(#|%|//|--)")
_DELIMITER = re.compile(r'"?sep=(\\t|.)"?[\s,;]*', re.IGNORECASE)


@dataclass(frozen=True)
class HeaderRows:
    """Position of the header among the first rows.

    Attributes
    ----------
    header : int or None
        Its place among the rows, from 0; None if there is none.
    first : int
        Place of the first row below header and units.
    """

    header: int | None
    first: int


def find_header(rows: Rows) -> HeaderRows:
    """Find the header among the first rows, below titles and above units or second names.

    A row above the header must not be a row of data, and the header has about as many fields as
    most rows: otherwise a first row that is only broken would pass for a title. Known names right
    above numbers are a header whatever follows: rows that broken quotes swallow may be most.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows of a table, without comment lines.
    """
    usual, typed = _usual_row(rows)
    numbers: list[tuple[int, int]] = []
    for i, row in enumerate(rows[: min(MAX_ABOVE, len(rows) - 1)]):  # at least one row follows
        if _names_numbers(row, rows[i + 1]):
            numbers.append((-1, i))
            break
        if len(row) == usual and sum(is_number(row[c]) for c in typed[0] if row[c]) >= 2:
            break
        if abs(len(row) - usual) <= 1 and looks_like_header(rows[i : i + 200]):
            numbers.append((abs(len(row) - usual), i))
            if len(row) == usual:
                break
    if numbers:
        first = min(numbers)[1]
    elif rows and looks_like_header(rows):
        first = 0
    else:
        return HeaderRows(None, 0)
    end = _end_of_header(rows, first, usual, typed)
    names = max(range(first, end), key=lambda i: (_familiar(rows[i]), -i))
    return HeaderRows(names, end)


def header_at(rows: Rows, place: int) -> HeaderRows:
    """Return a header that was chosen, with units or second names below it.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows of a table, without comment lines.
    place : int
        Place of the header among the rows.
    """
    usual, typed = _usual_row(rows[place + 1 :])
    return HeaderRows(place, _end_of_header(rows, place, usual, typed))


def _usual_row(rows: Rows) -> tuple[int, tuple[list[int], list[int]]]:
    """Return the number of fields of most rows, and their columns with numbers and with times."""
    body = rows[len(rows) // 2 :]
    usual = usual_number([len(row) for row in body])
    return usual, _typed_columns([row for row in body if len(row) == usual][:200])


def _end_of_header(rows: Rows, first: int, usual: int, typed: tuple[list[int], list[int]]) -> int:
    """Return the place of the first row below a header, its units and second names."""
    end = first + 1
    while end < min(len(rows) - 1, first + 4) and _is_second_header(rows[end], usual, *typed):
        end += 1
    return end


def _names_numbers(row: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether known names are above at least two numbers."""
    if len(row) != len(below) or any(map(is_number, row)):
        return False
    return (
        sum(
            is_number(value)
            for name, value in zip(row, below, strict=True)
            if is_known_column(name)
        )
        >= 2
    )


def is_comment(line: str) -> bool:
    """Return whether a line begins with a comment mark."""
    return bool(_COMMENT.match(line))


def strip_comment_mark(line: str) -> str:
    """Return the text of a comment line."""
    return line.lstrip("#%/- ")


def declared_delimiter(line: str) -> str | None:
    """Return the delimiter of a declaration such as ``sep=;``, or None."""
    match = _DELIMITER.fullmatch(line)
    if not match:
        return None
    return "\t" if match[1] == "\\t" else match[1]


def usual_number(counts: Sequence[int]) -> int:
    """Return the most frequent number, the largest in case of a tie; 0 of none."""
    return max(set(counts), key=lambda n: (counts.count(n), n)) if counts else 0


def _familiar(row: Sequence[str]) -> int:
    return sum(map(is_known_column, row))


def _typed_columns(rows: Rows) -> tuple[list[int], list[int]]:
    """Return the columns with numbers and those with times in most rows."""
    numeric, times = [], []
    for i in range(len(rows[0]) if rows else 0):
        cells = [row[i] for row in rows]
        if share(cells, is_number) > 0.5:
            numeric.append(i)
        elif time_format(cells) is not None:
            times.append(i)
    return numeric, times


def _is_second_header(
    row: Sequence[str], usual: int, numeric: Sequence[int], times: Sequence[int]
) -> bool:
    """Return whether a row below the header holds units or further names."""
    if len(row) != usual:
        return False
    values = [row[i].strip() for i in numeric]
    instants = [row[i].strip() for i in times]
    if any(map(is_number, values)) or any(is_iso(v) or _is_time(v) for v in instants):
        return False
    words = [value for value in values if value.casefold() not in _NO_UNIT]
    return len(words) >= min(2, len(numeric)) and bool(words)


def _is_time(text: str) -> bool:
    """Return whether a text is a time."""
    return bool(text) and time_format([text]) is not None


class Line(Enum):
    """Kind of a line above the first row."""

    BEFORE = "before the header"
    BLANK = "blank"
    NAMES = "names"


class HeaderLines:
    """Classifies the physical lines above the first row, one by one.

    Parameters
    ----------
    dialect : Dialect
    """

    def __init__(self, dialect: Dialect) -> None:
        self._before = dialect.lines_before_header
        self._names = dialect.header_lines if dialect.has_header else 0
        self._after = dialect.lines_after_header
        self._begun = False

    @property
    def left(self) -> int:
        """Number of non-blank lines still expected."""
        return self._before + self._names + self._after

    def next(self, line: bytes) -> Line:
        """Return the kind of the next line, given without its end."""
        if self._before:
            self._before -= 1
            return Line.BEFORE if line else Line.BLANK
        if self._names and (line or self._begun):  # a blank line may be part of a quoted name
            self._names -= 1
            self._begun = True
            return Line.NAMES
        if not line:
            return Line.BLANK
        self._after -= 1
        return Line.BEFORE
