"""Every user counted once, in one cell: whole counts for integer noise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.pyramid.counts import Box, CellCounts, cells_of, sum_by_code


def one_cell_each(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
) -> CellCounts:
    """Count every user once, in the cell of the grid where they checked in most often.

    Of cells visited equally often the first in Morton order counts. A user's cell depends on their
    own check-ins alone, so adding or removing one user changes one count by 1, at every level.
    What the map then shows is where users mostly are, not how they spread their check-ins.

    Parameters and errors are those of `aggregate`.

    Returns
    -------
    CellCounts
        Whole masses; their sum is the number of users with a check-in inside the box.
    """
    user, codes, weights, rows = cells_of(user, latitude, longitude, weight, box, level)
    if not rows:
        return CellCounts(level, np.zeros(0, np.int64), np.zeros(0), 0, 0)
    order = np.lexsort((codes, user))
    user, codes = user[order].astype(np.int64), codes[order]
    first = np.flatnonzero((np.diff(user, prepend=-1) != 0) | (np.diff(codes, prepend=-1) != 0))
    ones = np.ones(rows) if weights is None else weights[order]
    visits = np.add.reduceat(ones, first)
    user, codes = user[first], codes[first]
    # Last of each user's cells in the order of visits, and of equal ones the first in code.
    order = np.lexsort((-codes, visits, user))
    last = np.flatnonzero(np.diff(user[order], append=-1) != 0)
    chosen = np.sort(codes[order][last])
    cells, masses = sum_by_code(chosen, np.ones(len(chosen)))
    return CellCounts(level, cells, masses, len(chosen), rows)
