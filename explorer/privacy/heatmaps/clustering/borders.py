"""Where the regions of centres meet under ℓ1: the lines of a Voronoi diagram. Knows no privacy."""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray

TIE = 1e-9
"""Of the sides: how much farther each centre counts than the one before it. Two centres on a
diagonal are equally far from whole areas, which then belong to the first, as in `k_median`."""


def l1_borders(centres: ArrayLike, sides: tuple[float, float]) -> FloatArray:
    """Return the borders between the regions of the nearest centres in a rectangle.

    The lines through all centres along both axes cut the rectangle into cells in which every
    distance is linear with slopes ±1, so that only the nearest centre of each of four directions
    counts; of each two of these, the part of their bisector where no other is nearer is a border.

    Parameters
    ----------
    centres : array_like, shape (k, 2)
        Inside [0, sides[0]] × [0, sides[1]].
    sides : (float, float)
        > 0.

    Returns
    -------
    ndarray of float, shape (pieces, 4)
        Both coordinates of the one end of a straight piece, then of the other.
    """
    c = np.asarray(centres, float)
    cuts = [np.unique([0.0, side, *c[:, axis]]) for axis, side in enumerate(sides)]
    low = np.stack(np.meshgrid(*(cut[:-1] for cut in cuts), indexing="ij"), -1).reshape(-1, 2)
    high = np.stack(np.meshgrid(*(cut[1:] for cut in cuts), indexing="ij"), -1).reshape(-1, 2)
    middle = (low + high) / 2
    slope = np.where(middle[:, None] > c, 1.0, -1.0)
    late = TIE * sum(sides) * np.arange(len(c))
    far = np.abs(middle[:, None] - c).sum(-1) + late
    # Of the centres with the same slopes in a cell the nearest is so everywhere in it.
    groups = [(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    least = np.stack(
        [np.where((slope == g).all(-1), far, np.inf).min(-1) for g in map(np.array, groups)], -1
    )
    gradient = np.array(groups)
    pieces = []
    for one, other in combinations(range(4), 2):
        both = np.isfinite(least[:, one]) & np.isfinite(least[:, other])
        normal = gradient[one] - gradient[other]
        step = np.array([-normal[1], normal[0]])
        at = middle[both] - (
            (least[both, one] - least[both, other])[:, None] * normal / (normal @ normal)
        )
        # What must be ≤ 0 along at + s·step, as value and growth.
        tests = [(low[both, i] - at[:, i], -step[i]) for i in (0, 1)]
        tests += [(at[:, i] - high[both, i], step[i]) for i in (0, 1)]
        offset = at - middle[both]
        for third in set(range(4)) - {one, other}:
            here = least[both, one] + offset @ gradient[one]
            there = least[both, third] + offset @ gradient[third]
            tests.append((here - there, float((gradient[one] - gradient[third]) @ step)))
        start, end = np.full(len(at), -np.inf), np.full(len(at), np.inf)
        for value, growth in tests:
            if growth > 0:
                end = np.minimum(end, -value / growth)
            elif growth < 0:
                start = np.maximum(start, -value / growth)
            else:
                start = np.where(value > 0, np.inf, start)
        there = end > start
        ends = [at[there] + s[there, None] * step for s in (start, end)]
        pieces.append(np.concatenate(ends, -1))
    return np.concatenate(pieces)
