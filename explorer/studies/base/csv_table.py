"""Tables of records that users bring: CSV in, columns out, every bad line counted and named.

Used by studies about coordinates (public tables, regressions); check-ins have a room of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.text_table import (
    LARGEST,
    SMALLEST,
    DecimalSign,
    Dialect,
    TableFileError,
    TextTable,
    read_table,
)

MAX_RECORDS = 1_000_000
_EXAMPLES = 5
_DIGITS = re.compile(r"[-+.,0-9eE\n]*")


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
class Records:
    """A table as it was read, all fields text.

    Attributes
    ----------
    file : str
        Name for messages.
    names : tuple of str
        Of the columns; made up if the file has none.
    rows : list of list of str
    lines : list of int
        Where each row starts in the file.
    set_aside : tuple of RejectedRow
    cut : bool
        Whether the file has more than `MAX_RECORDS` records; the others are not read.
    dialect : Dialect
        How its numbers are written.
    """

    file: str
    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    set_aside: tuple[RejectedRow, ...]
    cut: bool
    dialect: Dialect


@dataclass(frozen=True)
class Numbers:
    """Numeric columns of a table.

    Attributes
    ----------
    file : str
    names : tuple of str
    values : ndarray of shape (n, columns)
        Finite.
    set_aside : tuple of RejectedRow
    cut : bool
    """

    file: str
    names: tuple[str, ...]
    values: FloatArray
    set_aside: tuple[RejectedRow, ...]
    cut: bool


def read_records(path: Path, name: str, decimal: str = DecimalSign.AUTO) -> Records:
    """Read a table of at least two columns (see `text_tables`).

    The first line holds names unless all its fields are numbers. Lines with another number of
    fields are set aside, blank ones skipped.

    Parameters
    ----------
    path : Path
    name : str
        What to call it in messages.
    decimal : str
        A `DecimalSign`.

    Raises
    ------
    ValueError
        If it can't be read as such a table; the message names file and line and says what to do.
    """
    table = read_table(path, name, decimal, most_rows=MAX_RECORDS + 2)
    names = _names(table)
    first = 1 if names else 0
    names = names or tuple(f"column {i}" for i in range(1, len(table.rows[0]) + 1))
    rows: list[list[str]] = []
    lines: list[int] = []
    set_aside: list[RejectedRow] = []
    cut = False
    for line, fields in zip(table.lines[first:], table.rows[first:], strict=True):
        if len(rows) == MAX_RECORDS:
            cut = True
            break
        if len(fields) != len(names):
            set_aside.append(RejectedRow(line, "", f"{len(fields)} fields, {len(names)} expected"))
            continue
        rows.append(fields)
        lines.append(line)
    if len(rows) < 2:
        found = f"{len(rows)} usable record{'' if len(rows) == 1 else 's'}"
        aside = f" ({set_aside[0]})" if set_aside else ""
        raise TableFileError(
            f"{name}: {found}{aside}; at least 2 are needed, one a line, after a line of names"
        )
    return Records(name, names, rows, lines, tuple(set_aside), cut, table.dialect)


def _names(table: TextTable) -> tuple[str, ...]:
    """Return the names of the first line; nothing if it holds numbers only."""
    if not table.rows:
        raise TableFileError(
            f"{table.name}: 0 usable records; at least 2 are needed, one a line, after a line of "
            "names"
        )
    fields = table.rows[0]
    if len(fields) < 2:
        raise table.error(
            table.lines[0], None, "there is one column only; a table needs at least two, separated "
            "by comma, semicolon or tab",
        )  # fmt: skip
    if all(table.dialect.number_like(field) for field in fields):
        return ()
    return tuple(field or f"column {i}" for i, field in enumerate(fields, 1))


def numeric(records: Records) -> Numbers:
    """Return a table all of whose columns are numbers; rows with other fields are set aside.

    Raises
    ------
    ValueError
        If hardly any row is left; the message names file, line and field.
    """
    values = _plain_numbers(records)
    set_aside: list[RejectedRow] = []
    if values is None:
        kept, number = [], records.dialect.number
        for line, row in zip(records.lines, records.rows, strict=True):
            parsed = [number(field) for field in row]
            if None not in parsed:
                kept.append(parsed)
            else:
                bad = parsed.index(None)
                set_aside.append(
                    RejectedRow(line, records.names[bad], why_no_number(records, row[bad]))
                )
        if len(kept) < max(2, len(records.rows) // 2):
            raise TableFileError(
                f"{records.file}, {set_aside[0]}; {len(set_aside)} of {len(records.rows)} records "
                "are not all numbers: remove columns of words"
            )
        values = np.array(kept, dtype=float)
    together = tuple(sorted((*records.set_aside, *set_aside), key=lambda item: item.line))
    return Numbers(records.file, records.names, values, together, records.cut)


def why_no_number(records: Records, text: str) -> str:
    """Return why a field of a column of numbers can't be used."""
    if not text:
        return "the field is empty"
    return records.dialect.why_none(text) or f"{text[:40]!r} is not a number"


def _plain_numbers(records: Records) -> FloatArray | None:
    """Return all fields as numbers, read at once; None unless every one is one in range."""
    text = "\n".join("\n".join(row) for row in records.rows)
    if not _DIGITS.fullmatch(text) or (records.dialect.decimal == "." and "," in text):
        return None
    if records.dialect.decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    try:
        values = np.array(text.split("\n"), dtype=float)
    except ValueError:
        return None
    if values.size != len(records.rows) * len(records.names):
        # A field of several lines.
        return None
    size = np.abs(values)
    # Zero may be what is too small for a double: such files are read field by field.
    tiny = "e-" in text.lower()
    fits = ((size <= LARGEST) & (size >= SMALLEST)) | ((size == 0) & (not tiny))
    if not fits.all():
        return None
    return values.reshape(len(records.rows), -1)


def read_summary(table: Records | Numbers, kept: int) -> str:
    """Return one sentence about how many records are used and which are not."""
    said = f"{table.file}: {kept:,} records in {len(table.names)} columns"
    if table.set_aside:
        examples = "; ".join(str(item) for item in table.set_aside[:_EXAMPLES])
        more = len(table.set_aside) - _EXAMPLES
        said += f"; {len(table.set_aside):,} lines set aside ({examples}"
        said += f"; and {more:,} more)" if more > 0 else ")"
    if table.cut:
        said += f"; the file has more, only the first {MAX_RECORDS:,} are read"
    return said + "."
