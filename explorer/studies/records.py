"""Tables of records that users bring: CSV in, columns out, every bad line counted and named.

Used by studies about coordinates (public tables, regressions); check-ins have a room of their own.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.privacy.bounds import FloatArray

MOST_RECORDS = 1_000_000
DELIMITERS = (",", ";", "\t")
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class SetAside:
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
    set_aside : tuple of SetAside
    cut : bool
        Whether the file has more than `MOST_RECORDS` records; the others are not read.
    """

    file: str
    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    set_aside: tuple[SetAside, ...]
    cut: bool


@dataclass(frozen=True)
class Numbers:
    """Numeric columns of a table.

    Attributes
    ----------
    file : str
    names : tuple of str
    values : ndarray of shape (n, columns)
        Finite.
    set_aside : tuple of SetAside
    cut : bool
    """

    file: str
    names: tuple[str, ...]
    values: FloatArray
    set_aside: tuple[SetAside, ...]
    cut: bool


def number(text: str) -> float:
    """Return the number a field holds; NaN if it holds none (words, blanks, nan, inf, 1_000)."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and "_" not in text else math.nan


def read_records(path: Path, name: str) -> Records:
    """Read a CSV table: UTF-8, fields separated by comma, semicolon or tab.

    The first line holds names unless all its fields are numbers. Lines with another number of
    fields are set aside, blank ones skipped.

    Raises
    ------
    ValueError
        If it can't be read as such a table; the message names file and line and says what to do.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{name}, line {line}: not UTF-8 text; save the table as CSV in UTF-8"
        ) from None
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first.count)
    names: tuple[str, ...] = ()
    rows: list[list[str]] = []
    lines: list[int] = []
    set_aside: list[SetAside] = []
    cut = False
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for fields in reader:
            line, before = before + 1, reader.line_num
            fields = [field.strip() for field in fields]
            if not any(fields):
                continue
            if not names:
                if len(fields) < 2:
                    raise ValueError(
                        f"{name}, line {line}: there is one column only; a table needs at least "
                        "two, separated by comma, semicolon or tab"
                    )
                headed = any(math.isnan(number(field)) for field in fields)
                names = tuple(
                    (field if headed else "") or f"column {i}" for i, field in enumerate(fields, 1)
                )
                if headed:
                    continue
            if len(rows) == MOST_RECORDS:
                cut = True
                break
            if len(fields) != len(names):
                why = f"{len(fields)} fields, {len(names)} expected"
                set_aside.append(SetAside(line, "", why))
                continue
            rows.append(fields)
            lines.append(line)
    except csv.Error as error:
        raise ValueError(
            f"{name}, line {reader.line_num}: {error}; save the table as plain CSV"
        ) from None
    if len(rows) < 2:
        found = f"{len(rows)} usable record{'' if len(rows) == 1 else 's'}"
        aside = f" ({set_aside[0]})" if set_aside else ""
        raise ValueError(
            f"{name}: {found}{aside}; at least 2 are needed, one a line, after a line of names"
        )
    return Records(name, names, rows, lines, tuple(set_aside), cut)


def numeric(records: Records) -> Numbers:
    """Return a table all of whose columns are numbers; rows with other fields are set aside.

    Raises
    ------
    ValueError
        If hardly any row is left; the message names file, line and field.
    """
    try:
        values = np.array(records.rows, dtype=float)
        plain = bool(np.isfinite(values).all()) and not any(
            "_" in field for row in records.rows for field in row
        )
    except ValueError:
        plain = False
    set_aside: list[SetAside] = []
    if not plain:
        kept = []
        for line, row in zip(records.lines, records.rows, strict=True):
            parsed = [number(field) for field in row]
            bad = next((i for i, value in enumerate(parsed) if math.isnan(value)), None)
            if bad is None:
                kept.append(parsed)
            else:
                why = f"{row[bad][:40]!r} is not a number" if row[bad] else "the field is empty"
                set_aside.append(SetAside(line, records.names[bad], why))
        if len(kept) < max(2, len(records.rows) // 2):
            raise ValueError(
                f"{records.file}, {set_aside[0]}; {len(set_aside)} of {len(records.rows)} records "
                "are not all numbers: remove columns of words and write decimals with a point"
            )
        values = np.array(kept)
    together = tuple(sorted((*records.set_aside, *set_aside), key=lambda item: item.line))
    return Numbers(records.file, records.names, values, together, records.cut)


def what_was_read(table: Records | Numbers, kept: int) -> str:
    """Return one sentence about how many records are used and which are not."""
    said = f"{table.file}: {kept:,} records in {len(table.names)} columns"
    if table.set_aside:
        examples = "; ".join(str(item) for item in table.set_aside[:_EXAMPLES])
        more = len(table.set_aside) - _EXAMPLES
        said += f"; {len(table.set_aside):,} lines set aside ({examples}"
        said += f"; and {more:,} more)" if more > 0 else ")"
    if table.cut:
        said += f"; the file has more, only the first {MOST_RECORDS:,} are read"
    return said + "."
