"""A user's own query from a CSV file, with errors that say what to mend."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.text_table import (
    DecimalSign,
    Dialect,
    TableFileError,
    TextTable,
    read_table,
)

COLUMNS_MAX = 64
"""Most numbers of an answer."""
_BYTES_MAX = 50_000_000


def read_values(
    path: str,
    name: str,
    labels: tuple[str, ...],
    named: bool,
    decimal: str = DecimalSign.AUTO,
) -> tuple[FloatArray, str]:
    """Return the values of a query on every item of a finite space, in the order of the space.

    Where both files have names, rows belong to items by name, whatever their order: by place they
    would make other slopes, and too little noise.

    Parameters
    ----------
    path : str
        Where the file is.
    name : str
        What to call it in messages.
    labels : tuple of str
        The items of the space.
    named : bool
        Whether these are names from the space's own file.
    decimal : str
        A `DecimalSign`.

    Returns
    -------
    values : ndarray of float, shape (items, dim)
    note : str
        Which names were not used; empty if all were.

    Raises
    ------
    TableFileError
        If there are not as many rows as items, names are others than those of the space, or a
        field is no number: naming the file, the line, the field and what to do.
    """
    table = _table(path, name, decimal)
    dialect, lines = table.dialect, list(zip(table.lines, table.rows, strict=True))
    size = len(labels)
    # Names may be numbers; then those of the space tell them from values.
    known = {fields[0] for _, fields in lines if len(fields) > 1} & set(labels)
    by_name = named and 2 * len(known) > size
    if len(lines) == size + 1 and _is_header(lines[0][1], by_name, dialect):
        lines = lines[1:]
    if len(lines) != size:
        raise TableFileError(
            f"{name}: {len(lines)} rows of values where the space has {size:,} items; give one "
            "row an item, in the order of the space or with its names"
        )
    first = 1 if by_name or not any(dialect.number_like(fields[0]) for _, fields in lines) else 0
    count = len(lines[0][1]) - first
    if not 1 <= count <= COLUMNS_MAX:
        raise TableFileError(
            f"{name}, line {lines[0][0]}: {count} values; give 1 to {COLUMNS_MAX} numbers an item"
        )
    values = np.array([_row(table, line, fields, first, count) for line, fields in lines])
    if not first:
        return values, ""
    if not named:
        return values, (
            f"{name} names its rows, the space does not name its items: rows are taken in the "
            "order of the space"
        )
    return values[_order(name, lines, labels)], ""


def _table(path: str, name: str, decimal: str) -> TextTable:
    """Return the lines of a file that hold anything."""
    at = Path(path)
    if at.stat().st_size > _BYTES_MAX:
        raise TableFileError(f"{name}: larger than {_BYTES_MAX // 10**6} MB; keep fewer columns")
    return read_table(at, name, decimal, comments=True)


def _is_header(fields: list[str], by_name: bool, dialect: Dialect) -> bool:
    """Whether the one line too many holds no values, so that no item's is taken for names."""
    if by_name and len(fields) > 1 and fields[0] == "":
        return True
    return not any(dialect.number_like(field) for field in (fields[1:] or fields))


def _order(name: str, lines: list[tuple[int, list[str]]], labels: tuple[str, ...]) -> list[int]:
    """Return which row each item of the space has, by name."""
    own = [fields[0] for _, fields in lines]
    if tuple(own) == labels:
        return list(range(len(own)))
    places: dict[str, int] = {}
    for place, (line, (label, *_)) in enumerate(lines):
        if label not in labels:
            raise TableFileError(
                f"{name}, line {line}, field 1: no item of the space is named {label!r}; use the "
                "names of the space's file, or leave names out and keep its order"
            )
        if label in places or labels.count(label) > 1:
            raise TableFileError(
                f"{name}, line {line}, field 1: more than one item is named {label!r}; give every "
                "item a name of its own in both files, or keep the order of the space's file"
            )
        places[label] = place
    return [places[label] for label in labels]


def _row(table: TextTable, line: int, fields: list[str], first: int, count: int) -> list[float]:
    values = fields[first:]
    if len(values) != count:
        raise table.error(
            line, None, f"{len(values)} values where the first row has {count}; give every item "
            "as many",
        )  # fmt: skip
    row = []
    for column, text in enumerate(values):
        number = table.dialect.number(text)
        if number is None:
            why = table.dialect.why_none(text) or f"{text!r} is not a number of the answer"
            raise table.error(line, column + first + 1, f"{why}; give a number up to 1e100")
        row.append(number)
    return row
