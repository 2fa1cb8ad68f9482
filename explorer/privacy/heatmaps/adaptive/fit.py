"""The map fitted to an adaptive tree, and smoothed inside cells that were not split.

Post-processing of noisy counts: privacy is that of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.adaptive.tree import AdaptiveTree
from explorer.privacy.heatmaps.pyramid.least_squares import onto_simplex, onto_simplices
from explorer.privacy.heatmaps.pyramid.morton import all_codes, decode
from explorer.privacy.heatmaps.pyramid.sparse import SparseMap
from explorer.privacy.noise.demonstration import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveFit:
    """A non-negative map of mass 1 made of the tree's leaves.

    Attributes
    ----------
    total : float
        T: the fitted count of the whole square, an estimate of the number of users. Where it is not
        above 0 the map is uniform.
    cells : SparseMap
        The leaves in Morton order, which tile the square, with masses of sum 1.
    variances : ndarray of float64, shape (leaves,)
        Of the noise in each leaf's fitted count in users, before any projection and as if the tree
        had been fixed beforehand.
    """

    total: float
    cells: SparseMap
    variances: FloatArray

    def flat(self) -> FloatArray:
        """Return the map on the grid [row, column], every leaf's mass spread evenly in it."""
        return _spread(self.cells, self.cells.masses)

    def smooth(self) -> FloatArray:
        """Return the flat map smoothed inside the leaves: `smooth_stopped_cells`."""
        return smooth_stopped_cells(self.flat(), self.cells.levels, self.cells.codes)

    def standard_errors(self) -> FloatArray:
        """Return the noise's standard deviation in the leaves' densities on the grid.

        As a share of the total per grid cell, in the map's own unit; infinite without a total.
        """
        scale = np.sqrt(self.variances) / self.total if self.total > 0 else np.full(1, np.inf)
        return _spread(self.cells, scale)


def fit_adaptive(tree: AdaptiveTree, level: int) -> AdaptiveFit:
    """Return the non-negative map nearest to an adaptive tree's counts.

    Upwards and downwards over the tree: weighted least squares with every split cell the sum of its
    children, exactly, whatever the tree's shape (Hay, Rastogi, Miklau and Suciu 2010, *Boosting the
    accuracy of differentially private histograms through consistency*, for a variance of each cell
    and four children where there are any). On the way down every family is projected on the
    non-negative counts with the sum of its parent's, by Euclidean distance.

    Parameters
    ----------
    tree : AdaptiveTree
    level : int
        ℓ of the grid, at least the tree's deepest level.

    Raises
    ------
    ValueError
        If the level is above the tree's deepest.
    """
    deepest = tree.start + len(tree.levels) - 1
    if level < deepest:
        raise ValueError(f"level: {level} is below the tree's {deepest}")
    counts, variances = [tree.levels[-1].counts], [tree.levels[-1].variances]
    for visited in tree.levels[-2::-1]:
        sums, spread = (part[-1].reshape(-1, 4).sum(axis=1) for part in (counts, variances))
        own, variance = visited.counts.copy(), visited.variances.copy()
        split = visited.split
        share = spread / (variance[split] + spread)
        own[split] = share * own[split] + (1 - share) * sums
        variance[split] *= share
        counts.append(own)
        variances.append(variance)
    counts.reverse()
    variances.reverse()
    total = float(counts[0].sum())
    if not total > 0:
        return AdaptiveFit(total, SparseMap.uniform(level), variances[0].sum(keepdims=True))
    masses, spread = onto_simplex(counts[0], total), variances[0]
    leaves = []
    for k, visited in enumerate(tree.levels):
        whole = np.flatnonzero(~visited.split)
        at = np.full(len(whole), tree.start + k)
        leaves.append((at, visited.codes[whole], masses[whole], spread[whole]))
        if k + 1 == len(tree.levels):
            break
        parent, parent_spread = masses[visited.split], spread[visited.split]
        four, each = counts[k + 1].reshape(-1, 4), variances[k + 1].reshape(-1, 4)
        # What the parent knows more is shared in proportion to variances.
        share = each / each.sum(axis=1, keepdims=True)
        four = four + share * (parent - four.sum(axis=1))[:, None]
        masses = onto_simplices(four, parent).ravel()
        spread = (each * (1 - share) + share**2 * parent_spread[:, None]).ravel()
    levels, codes, found, noise = (np.concatenate(part) for part in zip(*leaves, strict=True))
    order = np.argsort(codes << 2 * (level - levels))
    cells = SparseMap(level, levels[order], codes[order], found[order] / total)
    return AdaptiveFit(total, cells, noise[order])


def _spread(cells: SparseMap, values: FloatArray) -> FloatArray:
    """Return values of leaves in Morton order, spread evenly over their grid cells."""
    # Leaves tile the square, so that in Morton order every one is a run of grid cells.
    size = np.left_shift(1, 2 * (cells.level - cells.levels))
    flat: FloatArray = np.repeat(values / size, size)[_places(cells.level)]
    return flat


@lru_cache(maxsize=2)
def _places(level: int) -> IntArray:
    """Return Morton codes of a grid, kept from frame to frame."""
    codes = all_codes(level)
    codes.flags.writeable = False
    return codes


def smooth_stopped_cells(flat: FloatArray, levels: IntArray, codes: IntArray) -> FloatArray:
    """Smooth a map inside given cells, each keeping its mass.

    A cell of s × s ≥ 2 × 2 grid cells takes the moving average of the flat map over (s + 1) × (s +
    1) grid cells, those on the edge being repeated outwards, rescaled to the cell's mass. All
    averages come from the map given, so that the order of cells does not matter; cells of mass 0
    stay so. Mean earth mover's distances to the truth fell by 7 % in the adaptive tree's trials.

    Parameters
    ----------
    flat : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Constant in each of the cells.
    levels, codes : ndarray of int, shape (n,)
        Disjoint cells.

    Returns
    -------
    ndarray of float64, shape (2^ℓ, 2^ℓ)
    """
    side = len(flat)
    found = flat.copy()
    sides = side >> np.asarray(levels)
    wide = int(sides.max(initial=1))
    if wide == 1:
        return found
    reach = wide // 2
    sums = np.zeros((side + 2 * reach + 1,) * 2)
    np.cumsum(np.pad(flat, reach, mode="edge"), axis=0, out=sums[1:, 1:])
    np.cumsum(sums[1:, 1:], axis=1, out=sums[1:, 1:])
    for s in np.unique(sides[sides > 1]).tolist():
        near, far = (slice(at, at + side) for at in (reach - s // 2, reach + s // 2 + 1))
        average = sums[far, far] - sums[near, far]
        average -= sums[far, near]
        average += sums[near, near]
        average /= (s + 1) ** 2
        row, column = decode(codes[sides == s])
        inside = _by_cell(average, s)[row, column]
        density = flat[row * s, column * s][:, None, None]
        # More than a quarter of every window is the cell itself; only rounding can hide that.
        np.maximum(inside, density / 4, out=inside)
        mean = inside.mean(axis=(1, 2), keepdims=True)
        inside *= np.divide(density, mean, out=np.zeros_like(mean), where=density > 0)
        _by_cell(found, s)[row, column] = inside
    return found


def _by_cell(grid: FloatArray, side: int) -> FloatArray:
    """Return a view [row, column, row inside, column inside] of a grid's cells of some side."""
    cells = len(grid) // side
    return grid.reshape(cells, side, cells, side).transpose(0, 2, 1, 3)
