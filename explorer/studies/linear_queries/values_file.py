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


def read_values(path: str, name: str, size: int) -> FloatArray:
    """Return the values of a query on every item of a finite space.

    Parameters
    ----------
    path : str
        Where the file is.
    name : str
        What to call it in messages.
    size : int
        Items of the space.

    Returns
    -------
    ndarray of float, shape (size, dim)

    Raises
    ------
    SpaceFileError
        If there are not as many rows as items, or a field is no number: naming the file, the
        line, the field and what to do.
    """
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
    if len(lines) == size + 1:
        lines = lines[1:]
    if len(lines) != size:
        raise SpaceFileError(
            f"{name}: {len(lines)} rows of values where the space has {size:,} items; give one "
            "row an item, in the order of the space"
        )
    first = 1 if all(_number(fields[0]) is None for _, fields in lines) else 0
    count = len(lines[0][1]) - first
    if not 1 <= count <= COLUMNS_MAX:
        raise SpaceFileError(
            f"{name}, line {lines[0][0]}: {count} values; give 1 to {COLUMNS_MAX} numbers an item"
        )
    return np.array([_row(name, line, fields, first, count) for line, fields in lines])


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
