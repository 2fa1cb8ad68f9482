"""Dense aggregation: noise on the cells of one level, then the nearest non-negative map."""

from dataclasses import dataclass

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.pyramid.budget_schedule import depth_cap
from explorer.privacy.heatmaps.pyramid.counts import CellCounts
from explorer.privacy.heatmaps.pyramid.least_squares import FittedMap
from explorer.privacy.heatmaps.pyramid.measurement import Reader
from explorer.privacy.heatmaps.pyramid.morton import all_codes
from explorer.privacy.heatmaps.pyramid.norms import nearest_nonnegative

DEEPEST = 7
"""Deepest level whose nearest map is looked for: a second for 4^7 cells, eight for 4^8."""


@dataclass(frozen=True, slots=True)
class DenseCounts:
    """Noisy counts of all cells of one level.

    Attributes
    ----------
    level : int
        ℓ*.
    values : ndarray of float64, shape (2^ℓ*, 2^ℓ*)
        [row, column], row 0 south.
    """

    level: int
    values: FloatArray


def dense_measurement_level(epsilon: float, assumed_users: float, level: int) -> int:
    """Return ℓ* = ½ log₂(ε n₀) rounded, between 0 and the smaller of ℓ and `DEEPEST`.

    n₀ is fixed before the data are seen, never the data's own count (see `depth_cap`); the paper
    uses n, which is not private unless n is public.
    """
    return depth_cap(epsilon, assumed_users, 0, min(level, DEEPEST))


def measure_dense(
    counts: CellCounts, epsilon: float, assumed_users: float, unit_noise: Reader
) -> DenseCounts:
    """Add Laplace noise of scale 1/ε to every cell of level ℓ*.

    For real-valued noise the result is ε-DP for adding or removing one user, since the counts have
    ℓ1-sensitivity 1 and ℓ* does not depend on the data; replacing one user costs 2ε.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    assumed_users : float
        n₀, finite and > 0.
    unit_noise : callable (level, codes) → noise
        Independent Laplace draws of scale 1.

    References
    ----------
    Appendix D of the paper; ℓ* rounded, G_t and P_t are the cells of level ℓ* (errata heat-16).
    """
    level = dense_measurement_level(epsilon, assumed_users, counts.level)
    codes = all_codes(level)
    return DenseCounts(level, counts.dense(level)[codes] + unit_noise(level, codes) / epsilon)


def nearest_map(values: FloatArray) -> FloatArray:
    """Return ŝ ≥ 0 with the least ‖ŝ − s̃‖_EMD; module-level, to run in another process."""
    return nearest_nonnegative(values)[1]


def dense_map(noisy: DenseCounts, nearest: FloatArray | None = None) -> FittedMap:
    """Return the map nearest to noisy counts in the EMD norm: post-processing.

    What a cell is below 0 is taken from cells near by that are above 0, along the cheapest
    transport; where the total is not above 0 nothing is left.

    Parameters
    ----------
    noisy : DenseCounts
    nearest : ndarray, optional
        What `nearest_map` returned for its values, if that ran elsewhere.
    """
    found = nearest_map(noisy.values) if nearest is None else nearest
    masses = np.empty(4**noisy.level)
    masses[all_codes(noisy.level)] = found
    return FittedMap(noisy.level, masses)
