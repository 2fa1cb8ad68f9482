"""Rows grouped by user: the input of release mechanisms."""

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
    """All rows of all users of a file, without the ids.

    Rows are independent: an unreadable value is marked in its own row and affects no other.
    Columns that the mechanism does not need are None or left out.

    Attributes
    ----------
    starts : ndarray of int64, shape (users + 1,)
        Non-decreasing, from 0 to the number of rows: rows ``starts[u]:starts[u + 1]`` belong to
        user u. The order of users, and of a user's rows, carries no information.
    lat, lon : ndarray of int, shape (rows,), or None
        In units of 10⁻⁷ degrees; arbitrary where unreadable.
    placed : ndarray of bool, shape (rows,), or None
        Whether both coordinates are readable: latitude within ±90°, longitude within ±180°.
    time : ndarray of int, shape (rows,), or None
        Seconds since 1970 in UTC, rounded down; arbitrary where unreadable.
    timed : ndarray of bool, shape (rows,), or None
        Whether the time is readable.
    texts : mapping from a column's name to a sequence of str or None, each of length rows
        Other columns as text; None where unreadable.
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
        """Number of rows."""
        return int(self.starts[-1])

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.starts) - 1

    def user_of_rows(self) -> IntArray:
        """Return the user index of every row, ascending."""
        return np.repeat(np.arange(self.users), np.diff(self.starts))
