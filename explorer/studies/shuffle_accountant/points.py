"""The points of a sweep as the accountant's curves take them."""

import numpy as np

from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.shuffle_accountant.curves import Points

ONE_ROUND = ("T", "delta", "lam")
"""Sweeps over which all points share one round."""
COARSE_ORDER = 512
"""The largest order of a coarse answer."""


def swept_rounds(swept: SweptPoints) -> Points:
    """Return the sweep's points and, last, the sliders' own; γ on the axis makes k."""
    sampled = swept["k"]
    if swept.sweep.key == "gamma":
        sampled = np.append(np.rint(swept.x * swept["n"][:-1]), sampled[-1])
    return Points(swept["eps0"], sampled, swept["n"], swept["T"], swept["delta"], swept["lam"])


def among(
    swept: SweptPoints, points: Points, wanted: int, *, own: bool = False
) -> tuple[SweptPoints, Points]:
    """Return about so many of the points where there is an answer, and the sliders' own.

    With `own` the sliders' point is on the curve, too: where points are very few.
    """
    there = np.flatnonzero(points.holds[:-1])
    chosen = there[evenly_spread(there.size, wanted)]
    x = swept.x[chosen]
    if own and points.holds[-1]:
        here = float(swept[swept.sweep.key][-1])
        at = int(np.searchsorted(x, here))
        if 0 < at < x.size and x[at] != here:
            chosen, x = np.insert(chosen, at, swept.x.size), np.insert(x, at, here)
    return SweptPoints(swept.sweep, x, {}), points.at(np.append(chosen, swept.x.size))


def low_orders(swept: SweptPoints) -> SweptPoints:
    """Return the points of a sweep over λ whose table is quickly made, if there are any."""
    top = max(COARSE_ORDER, swept["lam"][-1])
    kept = np.append(swept.x <= top, True)
    if not kept[:-1].any():
        return swept
    columns = {key: column[kept] for key, column in swept.columns.items()}
    return SweptPoints(swept.sweep, swept.x[kept[:-1]], columns)
