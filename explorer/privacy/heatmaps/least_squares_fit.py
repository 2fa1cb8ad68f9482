"""The map fitted to the noisy counts of all cells of some levels by weighted least squares.

The paper reads few cells and solves a linear program. With the depth capped there are few levels,
so that all their cells can be read; then the fit that minimises the weighted squares of all
misfits is linear, unbiased and of the least variance among linear unbiased ones, and two passes
over the tree find it. Values of a level are in Morton order: four neighbours in a row are the
children of one cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.budget_schedule import Schedule
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.measurement import Reader
from explorer.privacy.heatmaps.quadtree import SparseMap, all_codes


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """Noisy counts of all cells of levels start..L.

    Attributes
    ----------
    start : int
    values : tuple of ndarray of float64, of 4^start, 4^(start+1)… entries
        Level by level, in Morton order.
    variances : tuple of float
        Of the noise of one cell of each level, > 0; only their ratios matter.
    """

    start: int
    values: tuple[FloatArray, ...]
    variances: tuple[float, ...]

    @property
    def last(self) -> int:
        """L, the deepest level."""
        return self.start + len(self.values) - 1

    @property
    def draws(self) -> int:
        """Number of cells read."""
        return sum(len(values) for values in self.values)


def measure_levels(counts: CellCounts, plan: Schedule, unit_noise: Reader) -> LevelCounts:
    """Add Laplace noise of scale 1/ε_i to every cell of the measured levels.

    For real-valued noise the result is ε-DP for adding or removing one user, since each level's
    counts have ℓ1-sensitivity 1 and Σε_i = ε; replacing one user costs 2ε.

    Parameters
    ----------
    counts : CellCounts
        With the plan's ℓ.
    plan : Schedule
        Σ 4^i cells of levels start..L are drawn: cap the depth (`depth_cap`).
    unit_noise : callable (level, codes) → noise
        Independent Laplace draws of scale 1.

    Raises
    ------
    ValueError
        If counts and plan differ in ℓ.
    """
    if counts.level != plan.level:
        raise ValueError(f"level: counts have {counts.level}, the schedule {plan.level}")
    values = []
    exact = counts.dense(plan.last)
    for i in reversed(plan.measured):
        cells = np.arange(4**i, dtype=np.int64)
        values.append(unit_noise(i, cells) / plan.epsilon[i] + exact)
        exact = exact.reshape(-1, 4).sum(axis=1) if i else exact
    variances = tuple(2.0 / plan.epsilon[i] ** 2 for i in plan.measured)
    return LevelCounts(plan.start, tuple(values[::-1]), variances)


def least_squares(noisy: LevelCounts) -> tuple[FloatArray, ...]:
    """Return the consistent counts nearest to noisy ones in weighted squares, level by level.

    Minimises Σ_i Σ_c (t(c) − h(c))² / variance_i over all h with h(parent) = Σ h(children).
    Upwards every cell's own count is averaged with the sum of its children, downwards what is
    left over goes a quarter to each child; O(cells).

    Parameters
    ----------
    noisy : LevelCounts

    Returns
    -------
    tuple of ndarray of float64
        h of every cell, in the shapes of ``noisy.values``; unbiased, and possibly negative.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu 2010, *Boosting the accuracy of differentially private
    histograms through consistency*, Theorem 3, for four children and a variance a level.
    """
    fitted = [noisy.values[-1]]
    below = noisy.variances[-1]
    for own, variance in zip(noisy.values[-2::-1], noisy.variances[-2::-1], strict=True):
        children = fitted[-1].reshape(-1, 4).sum(axis=1)
        # Shares of the two estimates in inverse proportion to variances `variance` and 4·below.
        share = 4 * below / (variance + 4 * below)
        fitted.append(share * own + (1 - share) * children)
        below = share * variance
    consistent = [fitted[-1]]
    for up in fitted[-2::-1]:
        four = up.reshape(-1, 4)
        left = (consistent[-1] - four.sum(axis=1)) / 4
        consistent.append((four + left[:, None]).ravel())
    return tuple(consistent)


def onto_simplices(values: FloatArray, totals: NDArray[np.floating]) -> FloatArray:
    """Return the rows nearest to given rows of four, non-negative and with given sums.

    Parameters
    ----------
    values : ndarray of float64, shape (N, 4)
    totals : ndarray of float64, shape (N,)
        ≥ 0.

    References
    ----------
    Held, Wolfe and Crowder 1974; the thresholds of Duchi et al. 2008, *Efficient projections onto
    the ℓ1-ball*, all rows at once.
    """
    a, b, c, d = values.T
    # Sorting four columns with five exchanges is several times faster than sorting rows.
    a, b = np.maximum(a, b), np.minimum(a, b)
    c, d = np.maximum(c, d), np.minimum(c, d)
    a, c = np.maximum(a, c), np.minimum(a, c)
    b, d = np.maximum(b, d), np.minimum(b, d)
    b, c = np.maximum(b, c), np.minimum(b, c)
    # θ_k = (sum of the k largest − total)/k; the largest of them is the threshold.
    running = a - totals
    threshold = running.copy()
    for k, column in ((2, b), (3, c), (4, d)):
        running += column
        np.maximum(threshold, running / k, out=threshold)
    projected: FloatArray = np.maximum(values - threshold[:, None], 0.0)
    return projected


def onto_simplex(values: FloatArray, total: float | NDArray[np.floating]) -> FloatArray:
    """Return the vectors nearest to those along the last axis, non-negative with sums ≥ 0."""
    ordered = np.sort(values, axis=-1)[..., ::-1]
    size = np.arange(1, values.shape[-1] + 1)
    thresholds = (np.cumsum(ordered, axis=-1) - np.asarray(total)[..., None]) / size
    return np.asarray(np.maximum(values - thresholds.max(axis=-1, keepdims=True), 0.0))


@dataclass(frozen=True, slots=True)
class FittedMap:
    """Non-negative masses of all cells of one level.

    Attributes
    ----------
    level : int
        L.
    masses : ndarray of float64, shape (4^L,)
        In Morton order; all 0 iff the fitted total is not above 0.
    """

    level: int
    masses: FloatArray

    @property
    def total(self) -> float:
        """Mass of the whole map."""
        return float(self.masses.sum())

    def on(self, level: int) -> SparseMap | FloatArray:
        """Return the map on a grid of level ℓ ≥ L, every cell's mass spread evenly in it.

        Few cells come as blocks, many as a dense grid, whichever is drawn faster. Where nothing is
        positive the map is uniform.
        """
        if level < self.level:
            raise ValueError(f"level: {level} is below the map's {self.level}")
        if not self.total > 0:
            return SparseMap.uniform(level)
        if len(self.masses) <= 4 << level:
            codes = np.flatnonzero(self.masses)
            return SparseMap(level, np.full(len(codes), self.level), codes, self.masses[codes])
        grid = self.masses[all_codes(self.level)]
        times = 1 << (level - self.level)
        if times == 1:
            return grid
        return np.asarray(np.repeat(np.repeat(grid / times**2, times, axis=0), times, axis=1))


def fit(noisy: LevelCounts) -> FittedMap:
    """Return the non-negative map of the least-squares fit: top-down projections on simplices.

    The start level's fitted counts are projected on those of their own sum, then every cell's
    children on those of their parent's mass. The total is the fitted one, never the number of
    users. It is post-processing: privacy is that of the measurement.
    """
    levels = least_squares(noisy)
    total = float(levels[0].sum())
    if not total > 0:
        return FittedMap(noisy.last, np.zeros(len(levels[-1])))
    masses = onto_simplex(levels[0], total)
    for values in levels[1:]:
        masses = onto_simplices(values.reshape(-1, 4), masses).ravel()
    return FittedMap(noisy.last, masses)


def variance_of_fit(variances: Sequence[float]) -> tuple[float, ...]:
    """Return the variance of one cell's fitted count on every level, before any projection.

    Parameters
    ----------
    variances : sequence of float
        Of the noise of one cell of levels start..L, > 0.
    """
    up = [float(variances[-1])]
    for variance in reversed(variances[:-1]):
        up.append(variance * 4 * up[-1] / (variance + 4 * up[-1]))
    up.reverse()
    result = up[:1]
    for own in up[1:]:
        # h = z + (h_parent − Σz)/4, where h_parent is a mixture of Σz and what is known above it.
        result.append(own - (4 * own - result[-1]) / 16)
    return tuple(result)
