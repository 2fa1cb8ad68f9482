"""The adaptive quadtree for the screen: which cells are read, split, and what they are found to be.

Starting from all cells of level q, a cell is read with a share of the budget its path has left. If
what was read shows enough mass it is split, and its children go on with the rest; if not, it is
read once more with the rest and stays whole. Trees and grids that follow noisy counts are known
from spatial data: Cormode, Procopiuc, Srivastava, Shen and Yu 2012, *Differentially private spatial
decompositions*; Qardaji, Yang and Li 2013, *Differentially private grids for geospatial data*;
Zhang, Xiao and Xie 2016, *PrivTree*. Here budgets depend on the level alone, a decision sees
nothing but noisy counts, and what stopping saves is spent on the cell itself.

**ε-differential privacy** for adding or removing one user, of whom every cell c holds p(c) with a
total of at most 1. Fix all noisy numbers. Which cells are read with which budgets is a function of
them and of public numbers, the same for both data sets; a reading of c with budget b changes the
log-likelihood by at most b·p(c), so that the log-ratio is at most Σ_c β(c)·p(c) with β(c) what c
spends in all. The leaves m of the tree of readings partition the square and p(c) = Σ_{m⊆c} p(m),
hence that is Σ_m p(m)·Σ_{c⊇m} β(c). Along a path a split cell spends e_i and hands on r_{i+1} =
r_i − e_i, one that is not split spends e_i + r_{i+1} = r_i, level L spends all of r_L: ε in all. So
the log-ratio is at most ε·Σ_m p(m) ≤ ε. What follows the noise is post-processing. Replacing
a user costs 2ε, as |p − p'| ≤ p + p'.

The two readings of a cell need independent noise: from the same unit noise at two scales the exact
count could be solved for. Empty cells get noise like all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.heatmaps.adaptive.budgets import THRESHOLD, Budgets
from explorer.privacy.heatmaps.pyramid.counts import CellCounts
from explorer.privacy.heatmaps.pyramid.morton import children
from explorer.privacy.noise.demonstration import DemonstrationNoise, IntArray

Reader = Callable[[int, int, IntArray], FloatArray]
"""(level, draw, Morton codes) → one number a cell."""
Decision = Callable[[int, IntArray, FloatArray], BoolArray]
"""(level, Morton codes, estimated counts in users) → whether each cell is split."""


@dataclass(frozen=True, slots=True, eq=False)
class VisitedLevel:
    """The cells of one level that were read.

    Attributes
    ----------
    codes : ndarray of int64, shape (n,)
        Morton codes, ascending; below the start level four children of a split cell in a row.
    first : ndarray of float64, shape (n,)
        y: the noisy counts of draw 0, in users.
    split : ndarray of bool, shape (n,)
    counts : ndarray of float64, shape (n,)
        t: of split cells and of the deepest level y; of others the mean of both readings, weighted
        by their precisions.
    variances : ndarray of float64, shape (n,)
        Of the noise in `counts`.
    """

    codes: IntArray
    first: FloatArray
    split: BoolArray
    counts: FloatArray
    variances: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveTree:
    """What an adaptive quadtree read and decided: levels q..L.

    Attributes
    ----------
    start : int
        q.
    levels : tuple of VisitedLevel
        Down to the deepest level of which a cell was read.
    draws : int
        How many noisy numbers were drawn.
    """

    start: int
    levels: tuple[VisitedLevel, ...]
    draws: int


@dataclass(frozen=True, slots=True)
class AdaptiveDemonstrationNoise:
    """Unit Laplace noise of one seed for the screen, a function of level, draw and cell.

    Moving ε, ρ, τ, q or L keeps every cell's two draws.
    """

    seed: int

    def __call__(self, level: int, draw: int, codes: IntArray) -> FloatArray:
        """Return the draws of scale 1 for these Morton codes of this level."""
        mechanism = "adaptive/final" if draw else "adaptive"
        return DemonstrationNoise(self.seed, mechanism)(level, codes)


def adaptive_tree(
    counts: CellCounts, budgets: Budgets, noise: Reader, threshold: float = THRESHOLD
) -> AdaptiveTree:
    """Read cells with Laplace noise of scale 1/budget and split those with enough mass.

    For real-valued noise ε-DP for adding or removing one user, 2ε for replacing one, with ε what
    the start level has left: see the module's docstring.

    Parameters
    ----------
    counts : CellCounts
    budgets : Budgets
        With L ≤ ℓ.
    noise : callable (level, draw, codes) → noise
        Independent Laplace draws of scale 1, draw 0 and 1 of a cell independent as well; for the
        screen an `AdaptiveDemonstrationNoise`. Asked for visited cells only.
    threshold : float
        τ: a cell is split if its estimated count times what its children may spend is above it. Any
        number is as private; `check_threshold` tells those at which empty trees grow too large.

    Raises
    ------
    ValueError
        If L is above ℓ.
    """
    fits(counts.level, budgets)

    def read(level: int, draw: int, cells: IntArray) -> FloatArray:
        noisy: FloatArray = counts.at(level, cells)
        noisy += noise(level, draw, cells) / budgets.of(level, draw)
        return noisy

    return grow(read, budgets, threshold)


def fits(level: int, budgets: Budgets) -> None:
    """Refuse budgets that reach below the leaves."""
    if budgets.last > level:
        raise ValueError(f"last: {budgets.last} is outside [{budgets.start}, {level}]")


def grow(read: Reader, budgets: Budgets, threshold: float) -> AdaptiveTree:
    """Grow the tree from noisy counts alone.

    Parameters
    ----------
    read : callable (level, draw, codes) → noisy counts in users
        Called once for the cells of a level that are read, and once for those not split.
    budgets : Budgets
    threshold : float

    Notes
    -----
    A decision uses the least-squares estimate G of a cell from its own reading, its siblings' and
    its parent's estimate; equality does not split.
    """

    def split(level: int, cells: IntArray, estimate: FloatArray) -> BoolArray:
        found: BoolArray = estimate * budgets.of(level, 1) > threshold
        return found

    return grow_by(read, budgets, split)


def grow_by(read: Reader, budgets: Budgets, splits: Decision) -> AdaptiveTree:
    """Grow the tree with cells split as somebody decides.

    Parameters
    ----------
    read, budgets
        As in `grow`.
    splits : callable (level, codes, estimates) → mask
    """
    levels: list[VisitedLevel] = []
    cells = np.arange(4**budgets.start, dtype=np.int64)
    above: tuple[FloatArray, FloatArray] | None = None
    draws = 0
    for i in range(budgets.start, budgets.last + 1):
        first = read(i, 0, cells)
        variance = 2.0 / budgets.of(i, 0) ** 2
        draws += len(cells)
        variances = np.full(len(cells), variance)
        if i == budgets.last:
            nothing = np.zeros(len(cells), bool)
            levels.append(VisitedLevel(cells, first, nothing, first, variances))
            break
        estimate, spread = _estimates(first, variance, above)
        split = splits(i, cells, estimate)
        stopped = np.flatnonzero(~split)
        again = read(i, 1, cells[stopped])
        draws += len(stopped)
        counts = first.copy()
        second = 2.0 / budgets.of(i, 1) ** 2
        share = second / (variance + second)  # the precisions' shares
        counts[stopped] = share * first[stopped] + (1 - share) * again
        variances[stopped] = variance * share
        levels.append(VisitedLevel(cells, first, split, counts, variances))
        if len(stopped) == len(cells):
            break
        above = estimate[split], spread[split]
        cells = children(cells[split])
    return AdaptiveTree(budgets.start, tuple(levels), draws)


def _estimates(
    first: FloatArray, variance: float, above: tuple[FloatArray, FloatArray] | None
) -> tuple[FloatArray, NDArray[np.float64]]:
    """Return G and its variance H from a level's readings and the estimates of their parents."""
    if above is None:
        return first, np.full(len(first), variance)
    parent, spread = above
    four = first.reshape(-1, 4)
    sums = four.sum(axis=1)
    share = 4 * variance / (4 * variance + spread)  # of the parent's estimate in the family's sum
    estimate = (four + (share * (parent - sums) / 4)[:, None]).ravel()
    return estimate, np.repeat(0.75 * variance + share * spread / 16, 4)
