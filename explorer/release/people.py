"""The rows of a release's file, every user's together: what a mechanism is given of the data.

Nothing here says how many rows could not be read, nor which: that may leave by no way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
"""One value a row: int64 of latitudes, longitudes and times, str objects of all else."""


@dataclass(frozen=True)
class People:
    """All readable rows, a user's rows together; who a user is isn't told.

    Users stand in no order that means anything. A row whose user or number of fields can't be read
    is not here. Of the others each column says for itself whether it could be read.

    Attributes
    ----------
    user_starts : ndarray of int64, shape (users + 1,)
        Rows of user u are ``user_starts[u]`` up to, and without, ``user_starts[u + 1]``: at least
        one.
    columns : mapping of str to ndarray, shape (rows,)
        By declared name, of those columns that were asked for. Of type latitude and longitude:
        int64, whole steps of 1e-7 degree, the nearest ones. Of type time: int64, whole seconds
        since 1970 UTC, rounded down. Of type text and decimal: objects, str without white space
        around them in normal form C; of a decimal not judged further (`decimals.exact_decimal`).
        Where a value can't be read it is 0, or "".
    readable : mapping of str to ndarray of bool, shape (rows,)
        By the same names: where the value could be read. Decimals are readable where
        `exact_decimal` can read them, latitudes within ±90, longitudes within ±180.
    """

    user_starts: NDArray[np.int64]
    columns: Mapping[str, Column]
    readable: Mapping[str, NDArray[np.bool_]]

    @property
    def users(self) -> int:
        """How many users there are: curator only."""
        return len(self.user_starts) - 1

    @property
    def rows(self) -> int:
        """How many rows there are: curator only."""
        return int(self.user_starts[-1])

    def user_of_row(self) -> NDArray[np.int64]:
        """Return the number of every row's user, shape (rows,)."""
        return np.repeat(np.arange(self.users, dtype=np.int64), np.diff(self.user_starts))

    def all_readable(self, *names: str) -> NDArray[np.bool_]:
        """Return of every row whether all of these columns could be read."""
        found = np.ones(self.rows, dtype=np.bool_)
        for name in names:
            found &= self.readable[name]
        return found
