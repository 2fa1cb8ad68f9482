"""The points of a sweep as the accountant's curves take them."""

import numpy as np

from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.shuffle_accountant.curves import Points

COARSE_ORDER = 512
"""The largest order of a coarse answer."""


def swept_rounds(swept: SweptPoints) -> Points:
    """Return the sweep's points and, last, the sliders' own; γ on the axis makes k."""
    sampled = swept["k"]
    if swept.sweep.key == "gamma":
        sampled = np.append(np.rint(swept.x * swept["n"][:-1]), sampled[-1])
    return Points(
        swept["eps0"], sampled, swept["n"], swept["T"], swept["delta"], swept["lam"]
    )  # fmt: skip


def among(swept: SweptPoints, points: Points, wanted: int) -> tuple[SweptPoints, Points]:
    """Return about so many of the points where there is an answer, and the sliders' own."""
    there = np.flatnonzero(points.holds[:-1])
    chosen = there[evenly_spread(there.size, wanted)]
    fewer = SweptPoints(swept.sweep, swept.x[chosen], {})
    return fewer, points.at(np.append(chosen, swept.x.size))


def low_orders(swept: SweptPoints) -> SweptPoints:
    """Return the points of a sweep over λ whose table is quickly made, if there are any."""
    top = max(COARSE_ORDER, swept["lam"][-1])
    kept = np.append(swept.x <= top, True)
    if not kept[:-1].any():
        return swept
    columns = {key: column[kept] for key, column in swept.columns.items()}
    return SweptPoints(swept.sweep, swept.x[kept[:-1]], columns)
