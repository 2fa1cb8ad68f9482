"""Tables of text that users bring: one rule for delimiters, decimal signs and numbers.

Every study's files are read here (check-ins have a room of their own). A table is UTF-8 with one
row a line, as `csv` understands it.

*Delimiter.* The first of tab, semicolon and comma that gives every line the same number of fields,
more than one; else the one that most lines agree on, so that the others can be named. *Decimal
sign.* Between commas a point. With tabs or semicolons either, but one kind a file: where comma
fractions all have three digits they may be thousands, and the user must say. *Numbers.* Digits,
a sign, an exponent; no words such as nan, no underscores; at most 1e100 in size, and 0 or at least
1e-100, so that nothing that is computed from them leaves the range of doubles.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

LARGEST, SMALLEST = 1e100, 1e-100
DELIMITERS = ("\t", ";", ",")
_HEAD = 1000
"""Lines that decide on the delimiter."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS = " \t\u00a0"
_NUMBERS = {
    ".": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?"),
    ",": re.compile(r"[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]{1,6})?"),
}
_LIKE = re.compile(r"[+-]?([.,]?[0-9][0-9_.,]*([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_BOTH = re.compile(r"[+-]?[0-9.,]*([0-9],[0-9]+\.|[0-9]\.[0-9]+,)[0-9.,]*")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_CHOOSE = "choose it under “decimal sign”"


class DecimalSign(StrEnum):
    """What stands before the decimals of a file's numbers."""

    AUTO = "auto"
    POINT = "point"
    COMMA = "comma"


class TableFileError(ValueError):
    """What is wrong with a file, where, and what to do: one sentence for the user."""


@dataclass(frozen=True)
class Dialect:
    """How a file's numbers are written.

    Attributes
    ----------
    delimiter : str
        Tab, semicolon or comma.
    decimal : str
        Point or comma.
    """

    delimiter: str = ","
    decimal: str = "."

    def number(self, text: str) -> float | None:
        """Return the number a field holds; None if it holds none or one out of range."""
        return number_field(text, self.delimiter, self.decimal)

    def number_like(self, text: str) -> bool:
        """Whether a field is a number or was meant as one: ``1e308``, ``1_000``, ``nan``."""
        return bool(_LIKE.fullmatch(_CONTROL.sub("", text).strip(_BLANKS)))

    def why_none(self, text: str) -> str:
        """Return why a field has no number although it may look like one; empty for words."""
        kept = text.strip(_BLANKS)
        if _NUMBERS[self.decimal].fullmatch(kept):
            if self.number(kept) is not None:
                return ""
            shown = kept if len(kept) <= 40 else f"{kept[:40]}…"
            if abs(float(kept.replace(",", "."))) > 1:
                return f"{shown} is too large (at most 1e100)"
            return f"{shown} is too small (at least 1e-100, or 0)"
        if self.decimal == "." and _NUMBERS[","].fullmatch(kept):
            if self.delimiter == ",":
                return f"{text!r} has a decimal comma; between commas write a decimal point"
            return f"{text!r} has a comma and the file's decimal sign is a point"
        if self.decimal == "," and _NUMBERS["."].fullmatch(kept):
            return f"{text!r} has a point and the file's decimal sign is a comma"
        return ""


@dataclass(frozen=True)
class TextTable:
    """A file's rows that hold anything, all fields text without blanks around them.

    Attributes
    ----------
    name : str
        For messages.
    dialect : Dialect
    lines : list of int
        Where each row begins in the file, the first line being 1.
    rows : list of list of str
    """

    name: str
    dialect: Dialect
    lines: list[int]
    rows: list[list[str]]

    def error(self, line: int, field: int | None, what: str) -> TableFileError:
        """Return an error that names file, line and field (from 1)."""
        where = f"{self.name}, line {line}" + ("" if field is None else f", field {field}")
        return TableFileError(f"{where}: {what}")


def number_field(text: str, delimiter: str, decimal: str) -> float | None:
    """Return the number a field holds; None if it holds none or one out of range.

    Parameters
    ----------
    text : str
        Blanks around a number are allowed.
    delimiter : str
        Of the file; between commas the decimal sign can't be a comma.
    decimal : str
        ``.`` or ``,``.
    """
    kept = text.strip(_BLANKS)
    if (delimiter == "," and decimal == ",") or not _NUMBERS[decimal].fullmatch(kept):
        return None
    value = float(kept.replace(",", "."))
    if value == 0.0:
        # What is too small for a double reads as 0, too.
        mantissa = re.split("[eE]", kept)[0]
        return None if re.search("[1-9]", mantissa) else value
    return value if SMALLEST <= abs(value) <= LARGEST else None


def read_table(
    path: Path,
    name: str,
    decimal: DecimalSign | str = DecimalSign.AUTO,
    *,
    comments: bool = False,
    most_rows: int | None = None,
) -> TextTable:
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
    most_rows : int, optional
        Rows after so many are not read.

    Raises
    ------
    TableFileError
        If it is no text, no CSV, or its decimal sign can't be told: naming file, line and field
        and what to do.
    """
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise TableFileError(
            f"{name}, line {line}: not UTF-8 text; save the file as CSV in UTF-8"
        ) from None
    delimiter = _delimiter(text, comments)
    lines, rows = [], []
    for line, fields in itertools.islice(_rows(text, delimiter, name, comments), most_rows):
        lines.append(line)
        rows.append(fields)
    sign = DecimalSign(decimal)
    table = TextTable(name, Dialect(delimiter, "."), lines, rows)
    if delimiter == ",":
        if sign is DecimalSign.COMMA:
            raise TableFileError(
                f"{name}: its fields are separated by commas, so that decimals are written with a "
                "point; separate fields by semicolons for decimal commas"
            )
        return table
    if sign is DecimalSign.POINT or (sign is DecimalSign.AUTO and not _decimal_commas(table)):
        return table
    return TextTable(name, Dialect(delimiter, ","), lines, rows)


def _rows(text: str, delimiter: str, name: str, comments: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold anything, each with the line it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for fields in reader:
            line, before = before + 1, reader.line_num
            kept = [field.strip(_BLANKS) for field in fields]
            if any(kept) and not (comments and kept[0].startswith("#")):
                yield line, kept
    except csv.Error as error:
        raise TableFileError(
            f"{name}, line {reader.line_num}: {error}; save the table as plain CSV, one row a line"
        ) from None


def _delimiter(text: str, comments: bool) -> str:
    """Return the delimiter that most of the first lines agree on, all of them if one does."""
    end = 0
    for _ in range(_HEAD):
        end = text.find("\n", end) + 1
        if not end:
            break
    head = text[:end] if end else text
    best = (0.0, ",")
    for delimiter in DELIMITERS:
        counts: Counter[int] = Counter()
        # What is wrong with it is said when the whole file is read.
        with contextlib.suppress(TableFileError):
            counts.update(len(fields) for _, fields in _rows(head, delimiter, "", comments))
        fields, agree = max(counts.items(), key=lambda item: item[1], default=(0, 0))
        share = agree / max(counts.total(), 1)
        if fields > 1 and share > best[0]:
            best = (share, delimiter)
    return best[1]


def _decimal_commas(table: TextTable) -> bool:
    """Return whether the numbers have decimal commas, or say why that can't be told."""
    comma: tuple[int, int, str] | None = None
    point: tuple[int, int, str] | None = None
    thousands = True
    for line, row in zip(table.lines, table.rows, strict=True):
        for i, text in enumerate(row, 1):
            if "," in text:
                if _BOTH.fullmatch(text):
                    raise table.error(
                        line, i,
                        f"{text!r} has a comma and a point; write numbers without thousands signs",
                    )  # fmt: skip
                if _NUMBERS[","].fullmatch(text):
                    comma = comma or (line, i, text)
                    thousands &= bool(_THOUSANDS.fullmatch(text))
            elif "." in text and point is None and _NUMBERS["."].fullmatch(text):
                point = (line, i, text)
    if comma is None:
        return False
    if point is not None:
        raise table.error(
            comma[0], comma[1],
            f"{comma[2]!r} has a decimal comma, and line {point[0]}, field {point[1]}, {point[2]!r}"
            f" a point; write one kind, or {_CHOOSE}",
        )  # fmt: skip
    if thousands:
        raise table.error(
            comma[0], comma[1],
            f"{comma[2]!r} may be a thousand or a decimal comma, as all of the file's commas have "
            f"three digits after them; write a point, or {_CHOOSE}",
        )  # fmt: skip
    return True
