"""Adaptive quadtree, for demonstrations and for releases: reading, splitting, fitting, smoothing.

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

**Fit.** The map fitted to the tree is smoothed inside cells that were not split. Post-processing of
noisy counts: privacy is that of the tree.

**Releases: the tree in exact integer arithmetic, and its transcript.** Like
`explorer.privacy.heatmaps.integers`: users' distributions are whole numbers of total B or less, the
budgets multiples of 2⁻⁴⁰ of which every path of the tree spends ε exactly, and the noise is
discrete Laplace drawn from integers. No floating-point number touches the counts before the noise;
what is decided and fitted afterwards is a function of noisy whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.heatmaps.budget_schedule import THRESHOLD, Budgets, ExactBudgets
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.integers import IntegerCounts, Sampler
from explorer.privacy.heatmaps.least_squares_fit import onto_simplex, onto_simplices
from explorer.privacy.heatmaps.quadtree import SparseMap, all_codes, children, decode
from explorer.privacy.noise.demonstration import DemonstrationNoise, IntArray

Reader = Callable[[int, int, IntArray], FloatArray]
"""(level, draw, Morton codes) → one number a cell."""
Decision = Callable[[int, IntArray, FloatArray], BoolArray]
"""(level, Morton codes, estimated counts in users) → whether each cell is split."""
FLATNESS_THRESHOLDS = {(4, 0.01): 34.3, (16, 0.01): 87.8, (16, 0.05): 62.4, (64, 0.01): 229.0}
"""(start cells, false-alarm rate) → quantile of `flatness_statistic` under flat counts.

Quantiles of the statistic of unit Laplace draws, by simulation (5·10⁵ runs).
"""
WholeNoise = Callable[[int, int, IntArray, Fraction], NDArray[Any]]
"""(level, draw, Morton codes, scale) → whole numbers, one a cell."""
Noisy = tuple[int, int, int, int]
"""Level, Morton code, draw, noisy whole number."""


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
    """Readings and decisions of an adaptive quadtree, levels q..L.

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
        screen an `AdaptiveDemonstrationNoise`. Evaluated at visited cells only.
    threshold : float
        τ: a cell is split if its estimated count times what its children may spend is above it. Any
        number is as private; `check_threshold` rejects those at which empty trees grow too large.

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
        decisions: BoolArray = estimate * budgets.of(level, 1) > threshold
        return decisions

    return grow_by(read, budgets, split)


def grow_by(read: Reader, budgets: Budgets, splits: Decision) -> AdaptiveTree:
    """Grow the tree with a given rule for splitting cells.

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


def check_level(tree: AdaptiveTree, level: int) -> None:
    """Refuse grids that are coarser than a tree's deepest level."""
    deepest = tree.start + len(tree.levels) - 1
    if level < deepest:
        raise ValueError(f"level: {level} is below the tree's {deepest}")


def upward_estimates(tree: AdaptiveTree) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return every cell's estimate from what was read in it and below, and its variance.

    The weighted mean of a split cell's own count and its children's sum: the first pass of
    `fit_adaptive`, which knows nothing of parents and siblings.

    Returns
    -------
    counts, variances : list of ndarray of float64
        z and Z of every level of the tree, in the order of its cells.
    """
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
    return counts[::-1], variances[::-1]


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
    check_level(tree, level)
    counts, variances = upward_estimates(tree)
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
        # The parent's additional information is shared in proportion to variances.
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
    smoothed = flat.copy()
    sides = side >> np.asarray(levels)
    wide = int(sides.max(initial=1))
    if wide == 1:
        return smoothed
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
        _by_cell(smoothed, s)[row, column] = inside
    return smoothed


def _by_cell(grid: FloatArray, side: int) -> FloatArray:
    """Return a view [row, column, row inside, column inside] of a grid's cells of some side."""
    cells = len(grid) // side
    return grid.reshape(cells, side, cells, side).transpose(0, 2, 1, 3)


def flatness_statistic(start_counts: ArrayLike, start_budget: float) -> float:
    """Return F = e_q²·Σ(y − ȳ)² over the first readings of the start level.

    If all start cells hold the same count only noise enters, whatever that count is, so that the
    law of F is known exactly: above a threshold of `FLATNESS_THRESHOLDS` the map is "not a flat
    map". A function of released numbers; it costs no privacy.

    Parameters
    ----------
    start_counts : array of float, shape (4^q,)
        y of draw 0, in users: ``tree.levels[0].first``.
    start_budget : float
        e_q, > 0.
    """
    checks.positive("start_budget", start_budget)
    y = np.asarray(start_counts, dtype=float)
    return float(start_budget**2 * np.sum((y - y.mean()) ** 2))


@dataclass(frozen=True, slots=True, eq=False)
class ExactAdaptiveTree:
    """A tree and the noisy whole numbers it was made from.

    Attributes
    ----------
    tree : AdaptiveTree
        Counts in users: noisy whole numbers over B.
    noisy : tuple of (int, int, int, int)
        Level, Morton code, draw and noisy whole number of everything read, ascending. All that is
        released is a function of these and of public numbers.
    """

    tree: AdaptiveTree
    noisy: tuple[Noisy, ...]


def fresh_noise(sampler: Sampler, bits: Any) -> WholeNoise:
    """Return fresh noise for every cell and draw.

    Parameters
    ----------
    sampler : callable (scale, size, bits) → whole numbers
        Exact discrete Laplace: `explorer.privacy.noise.exact.discrete_laplace`.
    bits : source of random bits
        The operating system's, for a release.
    """
    return lambda level, draw, cells, scale: sampler(scale, len(cells), bits)


def adaptive_tree_exact(
    counts: IntegerCounts,
    budgets: ExactBudgets,
    noise: WholeNoise,
    threshold: float = THRESHOLD,
) -> ExactAdaptiveTree:
    """Read cells with discrete Laplace noise of scale B/budget and split those with enough mass.

    Exactly ε-DP for adding or removing one user, ε being `ExactBudgets.epsilon`, and 2ε for
    replacing one, if the noise is exact, secret and fresh for every cell and draw, and B, box, ℓ,
    budgets and threshold were fixed without the data. Every user's whole numbers are ≥ 0 with a
    total of at most B, each user's made without looking at others, so that p = z/B in the proof of
    `explorer.privacy.heatmaps.adaptive_quadtree`.

    Parameters
    ----------
    counts : IntegerCounts
    budgets : ExactBudgets
        With L ≤ ℓ.
    noise : callable (level, draw, codes, scale) → whole numbers
        See `fresh_noise`.
    threshold : float
        τ, as in `adaptive_tree`.

    Raises
    ------
    ValueError
        As `adaptive_tree`, before any noise is drawn.
    """
    rounded = budgets.rounded()
    fits(counts.level, rounded)
    noisy: list[Noisy] = []

    def read(level: int, draw: int, cells: IntArray) -> FloatArray:
        drawn = noise(level, draw, cells, counts.resolution / budgets.of(level, draw))
        # Counts are below 2^63 and noise may be of any size: their sum needs Python's integers.
        total = counts.at(level, cells).astype(object) + np.asarray(drawn).astype(object)
        noisy.extend(
            (level, cell, draw, int(value))
            for cell, value in zip(cells.tolist(), total.tolist(), strict=True)
        )
        return np.asarray(total / counts.resolution, dtype=float)

    tree = grow(read, rounded, threshold)
    return ExactAdaptiveTree(tree, tuple(sorted(noisy)))


def tree_of_readings(
    noisy: Iterable[Noisy], budgets: ExactBudgets, resolution: int
) -> AdaptiveTree:
    """Return the tree that noisy whole numbers were read by.

    Cells that were read once, above the deepest level, are those that were split: nothing is
    decided again, so that the tree is the same wherever this runs.

    Parameters
    ----------
    noisy : iterable of (int, int, int, int)
        As in `ExactAdaptiveTree`.
    budgets : ExactBudgets
    resolution : int
        B.

    Raises
    ------
    ValueError
        If a reading is missing.
    """
    readings = {(level, cell, draw): value for level, cell, draw, value in noisy}

    def read(level: int, draw: int, cells: IntArray) -> FloatArray:
        keys = [(level, cell, draw) for cell in cells.tolist()]
        if missing := [key for key in keys if key not in readings]:
            raise ValueError(f"readings: that of level, cell, draw {missing[0]} is missing")
        return np.array([readings[key] / resolution for key in keys], dtype=float)

    def split(level: int, cells: IntArray, estimate: FloatArray) -> BoolArray:
        return np.array([(level, cell, 1) not in readings for cell in cells.tolist()], dtype=bool)

    return grow_by(read, budgets.rounded(), split)


def transcript_loss(
    noisy: Iterable[Noisy], counts: IntegerCounts, neighbour: IntegerCounts, budgets: ExactBudgets
) -> Fraction:
    """Return ln P(noisy | counts) − ln P(noisy | neighbour) exactly.

    Every reading adds b·(|Y − s'| − |Y − s|)/B, with b its budget, Y the noisy number and s, s' the
    two counts: discrete Laplace noise of scale B/b has ln P(k) = −|k|·b/B + const. Which cells are
    read follows from the noisy numbers alone, so that nothing else tells the two apart. At most ε
    in absolute value if the data differ by one user.

    Parameters
    ----------
    noisy : iterable of (int, int, int, int)
        As in `ExactAdaptiveTree`.
    counts, neighbour : IntegerCounts
        Of one level and one B.
    budgets : ExactBudgets

    Raises
    ------
    ValueError
        If the two data sets differ in level or B.
    """
    for name in ("level", "resolution"):
        if getattr(counts, name) != getattr(neighbour, name):
            raise ValueError(
                f"neighbour: its {name} is {getattr(neighbour, name)}, not {getattr(counts, name)}"
            )
    loss = Fraction(0)
    for level, cell, draw, value in noisy:
        here, there = (int(data.at(level, np.array([cell]))[0]) for data in (counts, neighbour))
        loss += budgets.of(level, draw) * (abs(value - there) - abs(value - here))
    return loss / counts.resolution
