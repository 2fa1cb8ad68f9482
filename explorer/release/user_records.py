"""Rows as they were read, a user's together: what mechanisms of a release are run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class UserRecords:
    """All rows of all users of a file, without their ids.

    What cannot be read in a row is marked in that row alone, and no row decides how another is
    read. Columns that no mechanism asked for are None or left out.

    Attributes
    ----------
    starts : ndarray of int64, shape (users + 1,)
        Not decreasing, from 0 to the number of rows: rows ``starts[u]`` up to, and without,
        ``starts[u + 1]`` are user u's. The order of users, and of a user's rows, says nothing.
    lat, lon : ndarray of int, shape (rows,), or None
        Whole numbers of 10⁻⁷ degrees, any number where unreadable.
    placed : ndarray of bool, shape (rows,), or None
        Whether both are readable: a latitude within ±90°, a longitude within ±180°.
    time : ndarray of int, shape (rows,), or None
        Whole seconds since 1970 in UTC, rounded down; any number where unreadable.
    timed : ndarray of bool, shape (rows,), or None
        Whether it is readable.
    texts : mapping from a column's name to a sequence of str or None, each of length rows
        Columns that are not coordinates or times, as read; None where unreadable.
    """

    starts: IntArray
    lat: NDArray[Any] | None = None
    lon: NDArray[Any] | None = None
    placed: BoolArray | None = None
    time: NDArray[Any] | None = None
    timed: BoolArray | None = None
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.starts[-1])

    @property
    def users(self) -> int:
        """How many users there are."""
        return len(self.starts) - 1

    def of_rows(self) -> IntArray:
        """Return the index of every row's user, ascending."""
        return np.repeat(np.arange(self.users), np.diff(self.starts))
