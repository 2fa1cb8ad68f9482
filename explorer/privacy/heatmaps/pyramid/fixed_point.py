"""The arithmetic of the map's statistic: whole numbers throughout.

A user's mass of 1 is 2^40, and sums of whole numbers do not depend on their order: whoever adds up
the same rows gets the same map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.pyramid.morton import encode
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import Edges

BITS = 40
"""A user's mass of 1 is 2^40, as long as all users' together stay below 2^63."""
LARGEST_WEIGHT = 1 << 22
"""Of check-ins with whole-number weights: 2^40 times it is below 2^63."""
_MOST = 2.0**50


def lines(offset: NDArray[Any], span: int, side: int) -> IntArray:
    """Return ⌊offset · side / span⌋, exactly and without dividing whole numbers, at most side − 1.

    It is ⌊(offset · side + ½) · fl(1/span)⌋ in double precision: the exact quotient keeps ½/span
    from every whole number, relatively more than 2⁻⁵¹ while side · span < 2⁵⁰, and the two
    roundings move it by less than 2⁻⁵².

    Parameters
    ----------
    offset : array of int
        From the southern or western edge, in [0, span].
    span : int
        Length of the box.
    side : int
        Cells along it.

    Raises
    ------
    ValueError
        If the span is below 1, or side · span 2^50 or more.
    """
    found = ((offset * float(side) + 0.5) * reciprocal(span, side)).astype(np.int64)
    return np.minimum(found, side - 1)


def reciprocal(span: int, side: int) -> float:
    """Return 1/span in double precision, if `lines` is exact with it."""
    if span < 1:
        raise ValueError("box: it has no area to divide into cells; choose a larger one")
    if side * span >= _MOST:
        raise ValueError(f"box: {span} steps are too many for {side} exact columns; take fewer")
    return 1.0 / span


def cells_of_rows(y: NDArray[Any], x: NDArray[Any], edges: Edges, level: int) -> IntArray:
    """Return the Morton codes of the cells that rows inside a box lie in.

    The northern and eastern sides themselves belong to the last row and column.
    """
    side = 1 << level
    row = lines(y.astype(np.int64) - edges.south, edges.north - edges.south, side)
    column = lines(edges.eastwards(x) - edges.west, edges.east - edges.west, side)
    return encode(row, column)


def mass_bits(users: int) -> int:
    """Return b: a mass of 1 is 2^b, so that the masses of so many users add up to less than 2^63.

    Below 2^23 users b is 40, whoever comes or goes. Beyond, one user more can change it and with it
    all roundings, so that there is no sensitivity: good for a screen, not for a release.
    """
    return BITS if users < 1 << (63 - BITS) else 62 - (users - 1).bit_length()


def row_masses(totals: NDArray[Any], bits: int = BITS) -> IntArray:
    """Return ⌊2^b/t⌋: what each of a user's t check-ins weighs.

    Together they weigh at most 2^b, and less than t below it.
    """
    found: IntArray = np.int64(1 << bits) // totals.astype(np.int64)
    return found
