"""Reader of users' CSV tables: rows of fields, with errors that name file, line and field.

All studies read their files here; check-ins have readers of their own. A table is UTF-8 with one
row a line, as `csv` parses it. Numbers are digits, a sign, an exponent; no words such as nan, no
underscores; at most 1e100 in size, and 0 or at least 1e-100, so that nothing that is computed from
them leaves the range of doubles.

*Delimiter.* The first of tab, semicolon and comma that gives every line the same number of fields,
more than one; else the one that most lines agree on, so that the others can be named. *Decimal
sign.* Between commas a point. With tabs or semicolons either, but one kind a file: where comma
fractions all have three digits they may be thousands, and the user must say.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from explorer.files import read_bounded
from explorer.privacy.core.bound import FloatArray

LARGEST, SMALLEST = 1e100, 1e-100
BLANKS = " \t\u00a0"
NUMBERS = {
    ".": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?"),
    ",": re.compile(r"[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]{1,6})?"),
}
MAX_NUMBER_LENGTH = 64
"""Characters of a number; longer fields are none, and no pattern sees them."""
_LIKE = re.compile(r"[+-]?([.,]?[0-9][0-9_.,]*([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_HEADING = 300
"""Characters of a heading with bounds; matching time grows with their square."""
_BOUNDS = re.compile(r"^(?P<name>.*?)\s*\[(?P<low>[^:\]]+):(?P<high>[^:\]]+)\]$")


class DecimalSign(StrEnum):
    """Decimal sign of a file's numbers."""

    AUTO = "auto"
    POINT = "point"
    COMMA = "comma"


@dataclass(frozen=True)
class Dialect:
    """Delimiter and decimal sign of a file.

    Attributes
    ----------
    delimiter : str
        Tab, semicolon or comma.
    decimal : str
        Point or comma.
    fractions : bool
        Whether fractions such as 1/3 are numbers. Elsewhere they could be dates.
    """

    delimiter: str = ","
    decimal: str = "."
    fractions: bool = False

    def number(self, text: str) -> float | None:
        """Return the number in a field; None if there is none or it is out of range."""
        if self.fractions and "/" in text:
            above, _, below = text.partition("/")
            parts = [number_field(part, self.delimiter, self.decimal) for part in (above, below)]
            return None if parts[0] is None or not parts[1] else parts[0] / parts[1]
        return number_field(text, self.delimiter, self.decimal)

    def number_like(self, text: str) -> bool:
        """Whether a field is a number or was meant as one: ``1e308``, ``1_000``, ``nan``."""
        plain = _CONTROL.sub("", text).strip(BLANKS)
        return fits(_LIKE, plain) or (self.fractions and self.number(plain) is not None)

    def why_none(self, text: str) -> str:
        """Return why a field has no number although it may look like one; empty for words."""
        kept = text.strip(BLANKS)
        if fits(NUMBERS[self.decimal], kept):
            if self.number(kept) is not None:
                return ""
            shown = kept if len(kept) <= 40 else f"{kept[:40]}…"
            if abs(float(kept.replace(",", "."))) > 1:
                return f"{shown} is too large (at most 1e100)"
            return f"{shown} is too small (at least 1e-100, or 0)"
        if self.decimal == "." and fits(NUMBERS[","], kept):
            if self.delimiter == ",":
                return f"{text!r} has a decimal comma; between commas write a decimal point"
            return f"{text!r} has a comma and the file's decimal sign is a point"
        if self.decimal == "," and fits(NUMBERS["."], kept):
            return f"{text!r} has a point and the file's decimal sign is a comma"
        return ""


def fits(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a whole field fits a pattern; one longer than `MAX_NUMBER_LENGTH` does not."""
    return len(text) <= MAX_NUMBER_LENGTH and pattern.fullmatch(text) is not None


def number_field(text: str, delimiter: str, decimal: str) -> float | None:
    """Return the number in a field; None if there is none or it is out of range.

    Parameters
    ----------
    text : str
        Blanks around a number are allowed.
    delimiter : str
        Of the file; between commas the decimal sign can't be a comma.
    decimal : str
        ``.`` or ``,``.
    """
    kept = text.strip(BLANKS)
    if (delimiter == "," and decimal == ",") or not fits(NUMBERS[decimal], kept):
        return None
    value = float(kept.replace(",", "."))
    if value == 0.0:
        # Numbers too small for a double are read as 0, too.
        mantissa = re.split("[eE]", kept)[0]
        return None if re.search("[1-9]", mantissa) else value
    return value if SMALLEST <= abs(value) <= LARGEST else None


def heading_bounds(heading: str, where: str) -> tuple[str, tuple[float, float] | None]:
    """Return a column's name and the public bounds in its heading: ``age [0:120]``, if any.

    Raises
    ------
    TableFileError
        If they are not two numbers in order; the message begins with `where` and the heading.
    """
    match = _BOUNDS.match(heading) if len(heading) <= _MAX_HEADING else None
    if match is None:
        return heading, None
    low, high = (number_field(match[end], ";", ".") for end in ("low", "high"))
    if low is None or high is None or not low < high:
        raise TableFileError(
            f"{where}, {heading!r}: the bounds in brackets must be two numbers, the smaller "
            "first, as in age [0:120]"
        )
    return match["name"] or heading, (low, high)


MAX_RECORDS = 1_000_000
MAX_BYTES = 50_000_000
MAX_KEPT_BYTES = 500_000_000
"""Of a file whose first rows are kept, however many there are."""
"""Of files that are read into a table of items."""
DELIMITERS = ("\t", ";", ",")
_BLOCK_ROWS = 20_000
"""Rows whose fields are made numbers at once, so that a copy of their text stays small."""
_MAX_HEAD_ROWS = 1000
"""Lines that decide on the delimiter."""
_EXAMPLES = 5
_DIGITS = re.compile(r"[-+.,0-9eE\n]*")
_BOTH = re.compile(r"[+-]?[0-9.,]*([0-9],[0-9]+\.|[0-9]\.[0-9]+,)[0-9.,]*")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_CHOOSE = "choose it under “decimal sign”"


class TableFileError(ValueError):
    """Error in a user's file: one sentence with the place and what to do."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A line that is not used.

    Attributes
    ----------
    line : int
        Number of the line in the file, the first being 1.
    field : str
        Name of the column; empty if the line as a whole is wrong.
    why : str
    """

    line: int
    field: str
    why: str

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.field}" if self.field else "")
        return f"{where}: {self.why}"


@dataclass(frozen=True)
class CsvTable:
    """The non-empty rows of a file, all fields text without blanks around them.

    Attributes
    ----------
    name : str
        For messages.
    dialect : Dialect
    lines : list of int
        Where each row begins in the file, the first line being 1.
    rows : list of list of str
        Without the header, once it is taken off.
    names : tuple of str
        Fields of the header; empty without one.
    header_line : int
        Where that is in the file; 0 without one.
    rejected : tuple of RejectedRow
        Lines that are not among the rows.
    cut : bool
        Whether the file has more rows than were to be read.
    """

    name: str
    dialect: Dialect
    lines: list[int]
    rows: list[list[str]]
    names: tuple[str, ...] = ()
    header_line: int = 0
    rejected: tuple[RejectedRow, ...] = ()
    cut: bool = False

    def error(self, line: int, field: int | None, what: str) -> TableFileError:
        """Return an error that names file, line and field (from 1)."""
        where = f"{self.name}, line {line}" + ("" if field is None else f", field {field}")
        return TableFileError(f"{where}: {what}")

    def without_header(self) -> CsvTable:
        """Return the table whose names are the fields of the first line."""
        return replace(
            self,
            names=tuple(self.rows[0]),
            header_line=self.lines[0],
            lines=self.lines[1:],
            rows=self.rows[1:],
        )

    def keeping(self, kept: list[int], rejected: list[RejectedRow]) -> CsvTable:
        """Return the table of the rows at these places, the others rejected."""
        return replace(
            self,
            rows=[self.rows[i] for i in kept],
            lines=[self.lines[i] for i in kept],
            rejected=tuple(sorted((*self.rejected, *rejected), key=lambda item: item.line)),
        )

    def numbers(
        self,
        first: int,
        count: int,
        other_count: str,
        other: str,
        low: float = -np.inf,
        advice: str = "",
    ) -> FloatArray:
        """Return the numbers of every row from its field `first` (0 or 1) on, `count` of them.

        Raises
        ------
        TableFileError
            Where a row has more or fewer (`other_count` says what to do), or a field is no number
            of at least `low`: what is wrong with its writing is said, or else `other`, then
            `advice`.
        """
        values = np.empty((len(self.rows), count))
        for row, line, fields in zip(values, self.lines, self.rows, strict=True):
            if len(fields) - first != count:
                raise self.error(line, None, f"{len(fields) - first} {other_count}")
            for i, text in enumerate(fields[first:]):
                number = self.dialect.number(text)
                if number is None or number < low:
                    why = number is None and self.dialect.why_none(text)
                    raise self.error(line, i + first + 1, (why or f"{text!r} {other}") + advice)
                row[i] = number
        return values


def read_csv(
    path: Path,
    name: str,
    decimal: DecimalSign | str = DecimalSign.AUTO,
    *,
    comments: bool = False,
    max_rows: int | None = None,
    max_fields: int | None = None,
    keep: str = "",
) -> CsvTable:
    """Return a file's rows and how its numbers are written.

    Parameters
    ----------
    path : Path
    name : str
        What to call it in messages.
    decimal : DecimalSign
        What the user says of it.
    comments : bool
        Whether lines that begin with ``#`` are left out.
    max_rows : int, optional
        Rows after so many are not read.
    max_fields : int, optional
        A file of more fields is refused, before they take memory.
    keep : str
        What to keep of a file of more than `MAX_BYTES` or `max_fields`, which is refused then.

    Raises
    ------
    TableFileError
        If it is no text, no CSV, or its decimal sign can't be told: naming file, line and field
        and what to do.
    """
    if keep and path.stat().st_size > MAX_BYTES:
        raise TableFileError(f"{name}: larger than {MAX_BYTES // 10**6} MB; keep {keep}")
    try:
        raw = read_bounded(path, MAX_BYTES if keep else MAX_KEPT_BYTES)
    except OSError as error:
        raise TableFileError(f"{name}: {error.strerror}") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise TableFileError(
            f"{name}, line {line}: not UTF-8 text; save the file as CSV in UTF-8"
        ) from None
    # Each field but a line's last ends with a sign that can delimit. A decimal comma is such a sign
    # too, hence the factor: fields are counted exactly while they are read.
    signs = sum(map(raw.count, (b"\t", b";", b",", b"\n")))
    if max_fields is not None and signs > 2 * max_fields:
        raise _too_many_fields(name, max_fields, keep)
    delimiter = _delimiter(text, comments)
    fields_read = 0
    lines, rows = [], []
    for line, fields in itertools.islice(_rows(text, delimiter, name, comments), max_rows):
        fields_read += len(fields)
        if max_fields is not None and fields_read > max_fields:
            raise _too_many_fields(f"{name}, line {line}", max_fields, keep)
        lines.append(line)
        rows.append(fields)
    sign = DecimalSign(decimal)
    table = CsvTable(name, Dialect(delimiter, "."), lines, rows)
    if delimiter == ",":
        if sign is DecimalSign.COMMA:
            raise TableFileError(
                f"{name}: its fields are separated by commas, so that decimals are written with a "
                "point; separate fields by semicolons for decimal commas"
            )
        return table
    if sign is DecimalSign.POINT or (sign is DecimalSign.AUTO and not _decimal_commas(table)):
        return table
    return replace(table, dialect=Dialect(delimiter, ","))


def read_records(
    path: Path,
    name: str,
    decimal: str = DecimalSign.AUTO,
    *,
    max_fields: int | None = None,
    keep: str = "",
) -> CsvTable:
    """Read a table of at least two columns and two rows, one record each.

    The first line holds names unless all its fields are numbers; without it names are made up.
    Lines with another number of fields are rejected, those after `MAX_RECORDS` records not read.

    Parameters
    ----------
    path, name, decimal, max_fields, keep
        As in `read_csv`.

    Raises
    ------
    TableFileError
        If it can't be read as such a table; the message names file and line and says what to do.
    """
    table = read_csv(
        path, name, decimal, max_rows=MAX_RECORDS + 2, max_fields=max_fields, keep=keep
    )
    table = _with_column_names(table) if table.rows else table
    count = len(table.names)
    kept: list[int] = []
    rejected: list[RejectedRow] = []
    for i, (line, fields) in enumerate(zip(table.lines, table.rows, strict=True)):
        if len(kept) == MAX_RECORDS:
            table = replace(table, cut=True)
            break
        if len(fields) == count:
            kept.append(i)
        else:
            rejected.append(RejectedRow(line, "", f"{len(fields)} fields, {count} expected"))
    if len(kept) < 2:
        result = f"{len(kept)} usable record{'' if len(kept) == 1 else 's'}"
        aside = f" ({rejected[0]})" if rejected else ""
        raise TableFileError(
            f"{name}: {result}{aside}; at least 2 are needed, one a line, after a line of names"
        )
    return table.keeping(kept, rejected)


def _too_many_fields(where: str, most: int, keep: str) -> TableFileError:
    return TableFileError(f"{where}: the file has more than {most:,} fields; keep {keep}")


def _with_column_names(table: CsvTable) -> CsvTable:
    """Return a table with names of all columns, those of the first line if it has any."""
    fields = table.rows[0]
    if len(fields) < 2:
        raise table.error(
            table.lines[0],
            None,
            "there is one column only; a table needs at least two, separated "
            "by comma, semicolon or tab",
        )
    made_up = tuple(f"column {i}" for i in range(1, len(fields) + 1))
    if all(table.dialect.number_like(field) for field in fields):
        return replace(table, names=made_up)
    names = tuple(field or other for field, other in zip(fields, made_up, strict=True))
    return replace(table.without_header(), names=names)


def numeric(table: CsvTable) -> tuple[CsvTable, FloatArray]:
    """Return records all of whose fields are numbers, and these; other rows are rejected.

    Raises
    ------
    TableFileError
        If hardly any row is left; the message names file, line and field.
    """
    number, values = table.dialect.number, np.empty((len(table.rows), len(table.names)))
    kept: list[int] = []
    rejected: list[RejectedRow] = []
    for start in range(0, len(table.rows), _BLOCK_ROWS):
        block = range(start, min(start + _BLOCK_ROWS, len(table.rows)))
        plain = _plain_numbers(replace(table, rows=table.rows[start : block.stop]))
        if plain is not None:
            values[len(kept) : len(kept) + len(block)] = plain
            kept.extend(block)
            continue
        for i in block:
            row = table.rows[i]
            parsed = [number(field) for field in row]
            if None not in parsed:
                values[len(kept)] = parsed
                kept.append(i)
            else:
                bad, line = parsed.index(None), table.lines[i]
                rejected.append(RejectedRow(line, table.names[bad], why_no_number(table, row[bad])))
    if not rejected:
        return table, values
    if len(kept) < max(2, len(table.rows) // 2):
        raise TableFileError(
            f"{table.name}, {rejected[0]}; {len(rejected)} of {len(table.rows)} records are not "
            "all numbers: remove columns of words"
        )
    return table.keeping(kept, rejected), values[: len(kept)]


def why_no_number(table: CsvTable, text: str) -> str:
    """Return why a field of a column of numbers can't be used."""
    if not text:
        return "the field is empty"
    return table.dialect.why_none(text) or f"{text[:40]!r} is not a number"


def _plain_numbers(table: CsvTable) -> FloatArray | None:
    """Return all fields as numbers, read at once; None unless every one is one in range."""
    text = "\n".join("\n".join(row) for row in table.rows)
    if not _DIGITS.fullmatch(text) or (table.dialect.decimal == "." and "," in text):
        return None
    if table.dialect.decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    try:
        values = np.array(text.split("\n"), dtype=float)
    except ValueError:
        return None
    if values.size != len(table.rows) * len(table.names):
        # A field of several lines.
        return None
    size = np.abs(values)
    # A zero may be a number too small for a double: such files are read field by field.
    tiny = "e-" in text.lower()
    fits = ((size <= LARGEST) & (size >= SMALLEST)) | ((size == 0) & (not tiny))
    if not fits.all():
        return None
    return values.reshape(len(table.rows), -1)


def read_summary(table: CsvTable, kept: int) -> str:
    """Return one sentence about how many records are used and which are not."""
    text = f"{table.name}: {kept:,} records in {len(table.names)} columns"
    if table.rejected:
        examples = "; ".join(str(item) for item in table.rejected[:_EXAMPLES])
        more = len(table.rejected) - _EXAMPLES
        text += f"; {len(table.rejected):,} lines rejected ({examples}"
        text += f"; and {more:,} more)" if more > 0 else ")"
    if table.cut:
        text += f"; the file has more, only the first {MAX_RECORDS:,} are read"
    return text + "."


def _rows(text: str, delimiter: str, name: str, comments: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows, each with the line it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for fields in reader:
            line, before = before + 1, reader.line_num
            kept = [field.strip(BLANKS) for field in fields]
            if any(kept) and not (comments and kept[0].startswith("#")):
                yield line, kept
    except csv.Error as error:
        raise TableFileError(
            f"{name}, line {reader.line_num}: {error}; save the table as plain CSV, one row a line"
        ) from None


def _delimiter(text: str, comments: bool) -> str:
    """Return the delimiter that most of the first lines agree on, all of them if one does."""
    end = 0
    for _ in range(_MAX_HEAD_ROWS):
        end = text.find("\n", end) + 1
        if not end:
            break
    head = text[:end] if end else text
    best = (0.0, ",")
    for delimiter in DELIMITERS:
        counts: Counter[int] = Counter()
        # Reading the whole file reports the error.
        with contextlib.suppress(TableFileError):
            counts.update(len(fields) for _, fields in _rows(head, delimiter, "", comments))
        fields, agree = max(counts.items(), key=lambda item: item[1], default=(0, 0))
        share = agree / max(counts.total(), 1)
        if fields > 1 and share > best[0]:
            best = (share, delimiter)
    return best[1]


def _decimal_commas(table: CsvTable) -> bool:
    """Return whether the numbers have decimal commas, or say why that can't be told."""
    comma: tuple[int, int, str] | None = None
    point: tuple[int, int, str] | None = None
    thousands = True
    for line, row in zip(table.lines, table.rows, strict=True):
        for i, text in enumerate(row, 1):
            if "," in text:
                if fits(_BOTH, text):
                    raise table.error(
                        line,
                        i,
                        f"{text!r} has a comma and a point; write numbers without thousands signs",
                    )
                if fits(NUMBERS[","], text):
                    comma = comma or (line, i, text)
                    thousands &= fits(_THOUSANDS, text)
            elif "." in text and point is None and fits(NUMBERS["."], text):
                point = (line, i, text)
    if comma is None:
        return False
    if point is not None:
        raise table.error(
            comma[0],
            comma[1],
            f"{comma[2]!r} has a decimal comma, and line {point[0]}, field {point[1]}, {point[2]!r}"
            f" a point; write one kind, or {_CHOOSE}",
        )
    if thousands:
        raise table.error(
            comma[0],
            comma[1],
            f"{comma[2]!r} may be a thousand or a decimal comma, as all of the file's commas have "
            f"three digits after them; write a point, or {_CHOOSE}",
        )
    return True
