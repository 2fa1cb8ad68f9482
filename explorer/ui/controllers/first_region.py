"""Which part of newly opened check-ins is worth looking at first."""

from __future__ import annotations

import numpy as np

from explorer.checkins import Box, CheckinData
from explorer.geography.projection import aspect_at
from explorer.geography.region import Region

SIDE = 0.35
"""Degrees of latitude of a first region: a city."""
SMALLEST = 0.002
"""Degrees; check-ins at a single place still get a box around it."""
CELLS = 240


def first_region(data: CheckinData) -> Region:
    """Return a city-sized box around the densest area, or all of a smaller extent.

    The choice looks at the real data, so it is not private.

    Parameters
    ----------
    data : CheckinData
        With at least one row. Asked from a worker: two aggregated queries.
    """
    south, west, north, east = data.extent
    high, wide = max(north - south, SMALLEST), max(east - west, SMALLEST)
    aspect = aspect_at((south + north) / 2)
    if high <= SIDE and wide <= SIDE * aspect:
        return _boxed((south + north) / 2, (west + east) / 2, high * 1.04, wide * 1.04)
    # The extent may be a point in one direction; a query needs a box.
    centre = _densest(data, (south, west, south + high, west + wide))
    aspect = aspect_at(min(max(centre[0], -89.0), 89.0))
    finer = (
        centre[0] - SIDE,
        centre[1] - SIDE * aspect,
        centre[0] + SIDE,
        centre[1] + SIDE * aspect,
    )
    latitude, longitude = _densest(data, finer, window=CELLS // 2)
    return _boxed(latitude, longitude, SIDE, SIDE * aspect)


def _densest(data: CheckinData, box: Box, window: int = 3) -> tuple[float, float]:
    """Return the middle of the window of `window`² cells with most check-ins."""
    counts = data.density(box, CELLS, CELLS).astype(np.int64)
    sums = np.zeros((CELLS + 1, CELLS + 1), np.int64)
    sums[1:, 1:] = counts.cumsum(0).cumsum(1)
    inside = (
        sums[window:, window:] - sums[:-window, window:] - sums[window:, :-window]
        + sums[:-window, :-window]
    )  # fmt: skip
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    south, west, north, east = box
    return (
        south + (row + window / 2) / CELLS * (north - south),
        west + (column + window / 2) / CELLS * (east - west),
    )


def _boxed(latitude: float, longitude: float, high: float, wide: float) -> Region:
    """Return a region of a size around a middle, moved to lie on the globe."""
    high, wide = min(high, 180.0), min(wide, 180.0)
    south = min(max(latitude - high / 2, -90.0), 90.0 - high)
    west = min(max(longitude - wide / 2, -180.0), 180.0 - wide)
    return Region(south, west, south + high, west + wide)
