"""Integer contributions of users, and their sums over users.

No floats are used. A user's contribution depends on that user's rows and public numbers only;
contributions are then summed as integers. No row content raises an error: public limits
(`MAX_UNITS`) and the size of memory bound everything that could exceed 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.integers import IntegerCounts, integer_counts
from explorer.privacy.heatmaps.quadtree import encode
from explorer.privacy.releases.means import centred_value, read_decimal
from explorer.release.mechanisms.base import IntArray, UserRecords
from explorer.release.mechanisms.fields import Area

MAX_UNITS = 1 << 28
"""B at most: with it sums over all users of 2³³ rows stay below 2⁶²."""

Whole = NDArray[Any]


def heatmap_counts(records: UserRecords, area: Area, level: int, units: int) -> IntegerCounts:
    """Return every user's share of rows in the cells of a box by cumulative floors, total B."""
    rows, user = _rows(records, area)
    codes = _cells(records, area, rows, level)
    return integer_counts(user, codes, np.ones(len(rows), np.int64), level, units)


def one_cell_counts(records: UserRecords, area: Area, level: int) -> Whole:
    """Return the number of users with most of their rows in each cell, in Morton order.

    Shape (4^level,). Among equal cells of a user, the one with the smallest Morton code counts.
    """
    rows, user = _rows(records, area)
    user, codes, visits = _visits(user, _cells(records, area, rows, level), 4**level)
    # Of each user's cells the first with the most visits.
    order = np.lexsort((codes, -visits, user))
    first = order[np.flatnonzero(np.diff(user[order], prepend=-1))]
    return sum_by_index(codes[first], np.ones(len(first), np.int64), 4**level)


def user_count(records: UserRecords, area: Area) -> Whole:
    """Return the number of users with a selected row, shape (1,)."""
    user = _rows(records, area)[1]
    present = np.flatnonzero(np.diff(user, prepend=-1))
    return sum_by_index(np.zeros(len(present), np.int64), np.ones(len(present), np.int64), 1)


def region_counts(records: UserRecords, area: Area, rows: int, columns: int) -> Whole:
    """Return the number of users with any row in each grid cell, row by row from south-west."""
    assert area.edges is not None
    at, user = _rows(records, area)
    y, x = _lines(records, area, at, rows, columns)
    _, cells, _ = _visits(user, y * columns + x, rows * columns)
    return sum_by_index(cells, np.ones(len(cells), np.int64), rows * columns)


def bin_counts(
    records: UserRecords,
    area: Area,
    column: str,
    bin_of: Callable[[str], int | None],
    bins: int,
    B: int,
) -> Whole:
    """Return every user's share of rows in bins by cumulative floors, total B, summed over users.

    Parameters
    ----------
    column : str
        Of texts.
    bin_of : callable text → bin
        None if the text makes the row unreadable.
    bins : int
    B : int
    """
    texts = records.texts[column]
    known: dict[str, int] = {}

    def found(text: str | None) -> int:
        if text is None:
            return -1
        if text not in known:
            at = bin_of(text)
            known[text] = -1 if at is None else at
        return known[text]

    rows, user = _rows(records, area)
    at = np.fromiter((found(texts[row]) for row in rows.tolist()), np.int64, len(rows))
    there = at >= 0
    level = max((bins - 1).bit_length() + 1, 2) // 2
    counts = integer_counts(
        user[there], at[there], np.ones(np.count_nonzero(there), np.int64), level, B
    )
    return sum_by_index(counts.codes, counts.masses, bins)


def mean_sums(
    records: UserRecords,
    area: Area,
    columns: tuple[str, ...],
    bounds: list[tuple[int, int]],
    B: int,
) -> tuple[Whole, Whole]:
    """Return Σ(2y − B) over users for every column, and the number of users.

    Parameters
    ----------
    columns : tuple of str
        A row counts if it is readable in all columns.
    bounds : list of (int, int)
        Of each column, in units of 10⁻⁸⁰.
    B : int

    Returns
    -------
    sums : ndarray, shape (columns,)
    users : ndarray, shape (1,)
    """
    texts = [records.texts[column] for column in columns]
    known: dict[str | None, int | None] = {None: None}
    rows, user = _rows(records, area)
    sums, users = [0] * len(columns), 0
    mine: list[tuple[int, ...]] = []

    def leave() -> None:
        nonlocal users
        if mine:
            for k, (low, high) in enumerate(bounds):
                sums[k] += 2 * centred_value((row[k] for row in mine), low, high, B) - B
            users += 1
            mine.clear()

    before = -1
    for row, who in zip(rows.tolist(), user.tolist(), strict=True):
        if who != before:
            leave()
            before = who
        values = []
        for column in texts:
            text = column[row]
            if text not in known:
                known[text] = read_decimal(text) if text is not None else None
            value = known[text]
            if value is None:
                break
            values.append(value)
        else:
            mine.append(tuple(values))
    leave()
    return _pack(sums), _pack([users])


def sum_by_index(index: IntArray, values: Whole, size: int) -> Whole:
    """Return the sums of values with equal indices, shape (size,)."""
    result = np.zeros(size, values.dtype)
    np.add.at(result, index, values)
    return result


def _pack(values: list[int]) -> Whole:
    fits = all(abs(value) < 1 << 62 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)


def _rows(records: UserRecords, area: Area) -> tuple[IntArray, IntArray]:
    """Return the indices of selected rows and their users."""
    marked = area.mask(records)
    return np.flatnonzero(marked), records.user_of_rows()[marked]


def _cells(records: UserRecords, area: Area, rows: IntArray, level: int) -> IntArray:
    y, x = _lines(records, area, rows, 1 << level, 1 << level)
    return encode(y, x)


def _lines(
    records: UserRecords, area: Area, at: IntArray, rows: int, columns: int
) -> tuple[IntArray, IntArray]:
    """Return the grid row and column of rows of the file.

    The northern and eastern edges belong to the last row and column.
    """
    assert records.lat is not None
    assert records.lon is not None
    sides = area.edges
    assert sides is not None

    def line(values: NDArray[Any], low: int, high: int, count: int) -> IntArray:
        offset = values.astype(np.int64) - low
        return np.asarray(np.minimum(offset * count // (high - low), count - 1))

    return (
        line(records.lat[at], sides.south, sides.north, rows),
        line(sides.eastwards(records.lon[at]), sides.west, sides.east, columns),
    )


def _visits(user: IntArray, cells: IntArray, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return distinct (user, cell) pairs, sorted, with the number of rows of each."""
    keys = user * size + cells
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    visits, keys = np.diff(first, append=len(keys)), keys[first]
    return keys // size, keys % size, visits
