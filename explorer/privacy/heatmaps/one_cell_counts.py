"""Every user counted once, in one cell: whole counts for integer noise."""

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from explorer.privacy.heatmaps.contributions import Contribution
from explorer.privacy.heatmaps.pyramid.counts import CellCounts, aggregate
from explorer.user_rows import EARTH_STEP, Box


def one_cell_each(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    cap: int | None = None,
    step: Fraction = EARTH_STEP,
) -> CellCounts:
    """Count every user once, in the cell of the grid where they checked in most often.

    Of cells visited equally often the first in Morton order counts. A user's cell depends on their
    own check-ins alone, so adding or removing one user changes one count by 1, at every level.
    What the map then shows is where users mostly are, not how they spread their check-ins.

    Parameters and errors are those of `aggregate`; at most ``cap`` check-ins of a user count.

    Returns
    -------
    CellCounts
        Whole masses; their sum is the number of users with a check-in inside the box.
    """
    rule = Contribution("one-cell", cap)
    return aggregate(user, latitude, longitude, weight, box, level, rule, step)
