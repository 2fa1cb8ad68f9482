"""A user's own query from a CSV file, with errors that say what to mend."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from explorer.privacy.bounds import FloatArray
from explorer.studies.metric_space import SpaceFileError

COLUMNS_MAX = 64
"""Most numbers of an answer."""
_BYTES_MAX = 50_000_000


def read_values(
    path: str, name: str, labels: tuple[str, ...], named: bool
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

    Returns
    -------
    values : ndarray of float, shape (items, dim)
    note : str
        Which names were not used; empty if all were.

    Raises
    ------
    SpaceFileError
        If there are not as many rows as items, names are others than those of the space, or a
        field is no number: naming the file, the line, the field and what to do.
    """
    lines = _lines(path, name)
    size = len(labels)
    # Names may be numbers; then those of the space tell them from values.
    known = {fields[0] for _, fields in lines if len(fields) > 1} & set(labels)
    by_name = named and 2 * len(known) > size
    if len(lines) == size + 1 and _is_header(lines[0][1], by_name):
        lines = lines[1:]
    if len(lines) != size:
        raise SpaceFileError(
            f"{name}: {len(lines)} rows of values where the space has {size:,} items; give one "
            "row an item, in the order of the space or with its names"
        )
    first = 1 if by_name or all(_number(fields[0]) is None for _, fields in lines) else 0
    count = len(lines[0][1]) - first
    if not 1 <= count <= COLUMNS_MAX:
        raise SpaceFileError(
            f"{name}, line {lines[0][0]}: {count} values; give 1 to {COLUMNS_MAX} numbers an item"
        )
    values = np.array([_row(name, line, fields, first, count) for line, fields in lines])
    if not first:
        return values, ""
    if not named:
        return values, (
            f"{name} names its rows, the space does not name its items: rows are taken in the "
            "order of the space"
        )
    return values[_order(name, lines, labels)], ""


def _lines(path: str, name: str) -> list[tuple[int, list[str]]]:
    """Return the lines of a file that hold anything, with their numbers."""
    at = Path(path)
    if at.stat().st_size > _BYTES_MAX:
        raise SpaceFileError(f"{name}: larger than {_BYTES_MAX // 10**6} MB; keep fewer columns")
    try:
        text = at.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpaceFileError(f"{name}: not text in UTF-8; save it as a CSV file") from None
    reader = csv.reader(io.StringIO(text))
    lines: list[tuple[int, list[str]]] = []
    try:
        for fields in reader:
            cleaned = [field.strip() for field in fields]
            if any(cleaned) and not cleaned[0].startswith("#"):
                lines.append((reader.line_num, cleaned))
    except csv.Error as error:
        raise SpaceFileError(
            f"{name}, line {reader.line_num}: {error}; write one row a line, fields separated by "
            "commas"
        ) from None
    return lines


def _is_header(fields: list[str], by_name: bool) -> bool:
    """Whether the one line too many holds no values, so that no item's is taken for names."""
    if by_name and len(fields) > 1 and fields[0] == "":
        return True
    return all(_number(field) is None for field in (fields[1:] or fields))


def _order(name: str, lines: list[tuple[int, list[str]]], labels: tuple[str, ...]) -> list[int]:
    """Return which row each item of the space has, by name."""
    own = [fields[0] for _, fields in lines]
    if tuple(own) == labels:
        return list(range(len(own)))
    places: dict[str, int] = {}
    for place, (line, (label, *_)) in enumerate(lines):
        if label not in labels:
            raise SpaceFileError(
                f"{name}, line {line}, field 1: no item of the space is named {label!r}; use the "
                "names of the space's file, or leave names out and keep its order"
            )
        if label in places or labels.count(label) > 1:
            raise SpaceFileError(
                f"{name}, line {line}, field 1: more than one item is named {label!r}; give every "
                "item a name of its own in both files, or keep the order of the space's file"
            )
        places[label] = place
    return [places[label] for label in labels]


def _row(name: str, line: int, fields: list[str], first: int, count: int) -> list[float]:
    values = fields[first:]
    if len(values) != count:
        raise SpaceFileError(
            f"{name}, line {line}: {len(values)} values where the first row has {count}; give "
            "every item as many"
        )
    row = []
    for column, text in enumerate(values):
        number = _number(text)
        if number is None or not math.isfinite(number) or abs(number) > 1e100:
            raise SpaceFileError(
                f"{name}, line {line}, field {column + first + 1}: {text!r} is not a number of "
                "the answer; give a number between -1e100 and 1e100"
            )
        row.append(number)
    return row


def _number(text: str) -> float | None:
    """Return a field as a number; a decimal comma is understood."""
    if "_" in text:
        return None
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return None
