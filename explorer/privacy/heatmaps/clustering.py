"""Weighted k-median in the plane under ℓ1, its Voronoi diagram, and private clustering.

**k-median**: seeding, coordinate medians, swaps. Run on a private map it is post-processing and
costs nothing; run on the users' own points it is the truth to compare with, for the curator alone.

**Private clustering: a private map as a coreset (the paper's Appendix A).** Every user is a point
of the unit square, or a distribution on it; the cost of centres is a linear functional of the
users' sum whose change is at most an earth mover's distance. So centres that are good for the
private map are good for the users, whatever algorithm finds them.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS, Bound, FloatArray, Reference, Role
from explorer.privacy.heatmaps.budget_schedule import Schedule
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.measurement import Reader, measure
from explorer.privacy.heatmaps.quadtree import MAX_LEVEL, SparseMap
from explorer.privacy.heatmaps.reconstruction import reconstruct
from explorer.privacy.heatmaps.theory import noise_term
from explorer.privacy.noise.demonstration import IntArray

TIE = 1e-9
"""Of the sides: how much farther each centre counts than the one before it. Two centres on a
diagonal are equally far from whole areas, which then belong to the first, as in `k_median`."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """k centres and whose centre is the nearest.

    Attributes
    ----------
    centres : ndarray, shape (k, 2)
    labels : ndarray of int, shape (points,)
        Index of the nearest centre of each point, the first of equally near ones.
    cost : float
        Σ weight · ℓ1 distance to it.
    """

    centres: FloatArray
    labels: IntArray
    cost: float


def distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Return ℓ1 distances, shape (points, centres)."""
    out = np.abs(points[:, 0, None] - centres[:, 0])
    out += np.abs(points[:, 1, None] - centres[:, 1])
    return np.asarray(out)


def k_median_cost(points: ArrayLike, weights: ArrayLike, centres: ArrayLike) -> float:
    """Return Σ_x w(x) min_c ‖x − c‖₁.

    Parameters
    ----------
    points : array_like, shape (n, 2)
    weights : array_like, shape (n,)
        ≥ 0.
    centres : array_like, shape (k, 2)
        k ≥ 1.

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite or a weight is negative.
    """
    x, w = _check_weights(points, weights)
    c = np.asarray(centres, dtype=float)
    if c.ndim != 2 or c.shape[1] != 2 or not len(c) or not np.isfinite(c).all():
        raise ValueError(f"centres: shape {c.shape} is not (k, 2) of finite numbers with k ≥ 1")
    return _cost(x, w, c)


def k_median(
    points: ArrayLike,
    weights: ArrayLike,
    k: int,
    rng: np.random.Generator,
    restarts: int = 3,
    swaps: int | None = 100,
) -> Clustering:
    """Return k centres of low cost: the best of several runs.

    A run seeds by distance sampling, then alternates nearest centres with coordinate-wise
    weighted medians (which are optimal for ℓ1), then replaces single centres by single points
    where that is cheaper and improves again, until nothing does.

    Parameters
    ----------
    points : array_like, shape (n, 2)
    weights : array_like, shape (n,)
        ≥ 0. Points without weight do not count.
    k : int
        ≥ 1.
    rng : numpy.random.Generator
        For seeding and which swaps are tried.
    restarts : int
        Runs, ≥ 1.
    swaps : int, optional
        Points tried as a new centre in each run, drawn by weight times distance. None tries all
        until no swap of one centre for one point is cheaper, a local optimum whose cost is at
        most 5 times that of the best k points, and so 10 times the least (Arya et al. 2004).

    Returns
    -------
    Clustering
        k centres, also where fewer points have weight (then some coincide).

    Raises
    ------
    ValueError
        As in `k_median_cost`, or if k or restarts is below 1.

    References
    ----------
    Arthur and Vassilvitskii 2007, *k-means++*, with distances in place of their squares; Arya,
    Garg, Khandekar, Meyerson, Munagala and Pandit 2004, *Local search heuristics for k-median*.
    """
    x, w = _check_weights(points, weights)
    checks.reals("k", k, 1)
    checks.reals("restarts", restarts, 1)
    heavy = w > 0
    if not heavy.any():
        centres = np.tile(x.mean(axis=0) if len(x) else np.full(2, 0.5), (k, 1))
        return Clustering(centres, np.zeros(len(x), dtype=np.int64), 0.0)
    own, weight = x[heavy], w[heavy]
    best: FloatArray | None = None
    for _ in range(restarts):
        centres = _improve(own, weight, seeds(own, weight, k, rng))
        centres = _swap(own, weight, centres, rng, swaps)
        if best is None or _cost(own, weight, centres) < _cost(own, weight, best):
            best = centres
    assert best is not None
    return Clustering(best, np.argmin(distances(x, best), axis=1), _cost(own, weight, best))


def seeds(points: FloatArray, weights: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """Draw k points, each by weight times distance to those drawn before (k-medians++)."""
    centres = np.empty((k, 2))
    mass = weights
    nearest = np.full(len(points), np.inf)
    for i in range(k):
        centres[i] = points[_draw_index(mass, rng)]
        nearest = np.minimum(nearest, distances(points, centres[i : i + 1])[:, 0])
        mass = weights * nearest
        if not mass.any():
            # Every point is a centre already: the rest coincide with the heaviest.
            centres[i + 1 :] = points[np.argmax(weights)]
            break
    return centres


def medians(points: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Return the weighted median of each coordinate in each cluster, NaN where there is none.

    The lower median where a whole interval is optimal.
    """
    out = np.full((k, 2), np.nan)
    for axis in (0, 1):
        order = np.lexsort((points[:, axis], labels))
        value, weight, label = points[order, axis], weights[order], labels[order]
        present, first = np.unique(label, return_index=True)
        ends = np.append(first[1:], len(label))
        for j, start, end in zip(present.tolist(), first.tolist(), ends.tolist(), strict=True):
            running = np.cumsum(weight[start:end])
            out[j, axis] = value[start + np.searchsorted(running, 0.5 * running[-1])]
    return out


def _improve(points: FloatArray, weights: FloatArray, centres: FloatArray) -> FloatArray:
    """Alternate assignment and medians until the cost stops falling."""
    cost = _cost(points, weights, centres)
    while True:
        labels = np.argmin(distances(points, centres), axis=1)
        new_centres = medians(points, weights, labels, len(centres))
        new_centres = np.where(np.isnan(new_centres), centres, new_centres)
        new_cost = _cost(points, weights, new_centres)
        if not new_cost < cost:
            return centres
        centres, cost = new_centres, new_cost


def _swap(
    points: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    rng: np.random.Generator,
    swaps: int | None,
) -> FloatArray:
    """Replace single centres by single points while that is cheaper."""
    count = 0
    waiting = list(rng.permutation(len(points))) if swaps is None else None
    near = _neighbours(points, centres)
    while waiting if waiting is not None else count < (swaps or 0):
        if waiting is not None:
            candidate = int(waiting.pop())
        else:
            count += 1
            mass = weights * near.first
            if not mass.any():
                return centres
            candidate = _draw_index(mass, rng)
        place = _best_swap(points, weights, near, len(centres), candidate)
        if place is None:
            continue
        trial = centres.copy()
        trial[place] = points[candidate]
        centres = _improve(points, weights, trial)
        near = _neighbours(points, centres)
        if waiting is not None:
            waiting = list(rng.permutation(len(points)))
    return centres


class _Neighbours(NamedTuple):
    """Every point's nearest centre, how far it is, and how far the second nearest is."""

    nearest: IntArray
    first: FloatArray
    second: FloatArray


def _neighbours(points: FloatArray, centres: FloatArray) -> _Neighbours:
    apart = distances(points, centres)
    rows = np.arange(len(apart))
    nearest = np.argmin(apart, axis=1)
    first = apart[rows, nearest]
    apart[rows, nearest] = np.inf
    return _Neighbours(nearest, first, apart.min(axis=1))


def _best_swap(
    points: FloatArray, weights: FloatArray, near: _Neighbours, k: int, candidate: int
) -> int | None:
    """Return the centre whose replacement by a point saves most, None if none saves anything.

    With a point's nearest and second nearest centre known, all k replacements cost one pass.
    """
    new = np.abs(points[:, 0] - points[candidate, 0]) + np.abs(points[:, 1] - points[candidate, 1])
    remaining = np.minimum(near.first, new)
    lost = weights * (np.minimum(near.second, new) - remaining)
    costs = float(weights @ remaining) + np.bincount(near.nearest, lost, minlength=k)
    place = int(np.argmin(costs))
    # Savings within rounding of the sums would go round in circles.
    return place if costs[place] < float(weights @ near.first) * (1 - 1e-9) else None


def _draw_index(mass: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index with probability in proportion to a mass that is not all 0."""
    running = np.cumsum(mass / mass.max())
    at = int(np.searchsorted(running, rng.random() * running[-1], side="right"))
    return min(at, int(np.flatnonzero(mass)[-1]))


def _cost(points: FloatArray, weights: FloatArray, centres: FloatArray) -> float:
    return float(weights @ distances(points, centres).min(axis=1))


def _check_weights(points: ArrayLike, weights: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, w = np.asarray(points, dtype=float), np.asarray(weights, dtype=float)
    if x.ndim != 2 or x.shape[1] != 2 or w.shape != (len(x),):
        raise ValueError(f"points, weights: shapes {x.shape} and {w.shape} are not (n, 2) and (n,)")
    if not (np.isfinite(x).all() and np.isfinite(w).all() and (w >= 0).all()):
        raise ValueError("points, weights: numbers must be finite and weights at least 0")
    return x, w


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


class WeightedPoints(NamedTuple):
    """A map as points.

    Attributes
    ----------
    points : ndarray, shape (n, 2)
        Row and column coordinates in the unit square: middles of cells.
    weights : ndarray, shape (n,)
    slack : float
        At most this much the cost of any centres changes by taking points for flat cells.
    """

    points: FloatArray
    weights: FloatArray
    slack: float


def median_level(epsilon: float, assumed_users: int, k: int) -> int:
    """Return ℓ with Δ = 2^ℓ = 2^⌈log₂(n₀ε/√k)⌉, between 0 and 24.

    Moving users to cells of side 1/Δ then costs at most n₀/Δ ≤ √k/ε in all.

    Parameters
    ----------
    epsilon : float
        Finite and > 0.
    assumed_users : int
        n₀ ≥ 1, fixed before the data are seen: the data's own count would be disclosed by Δ.
    k : int
        Clusters, ≥ 1.

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.

    References
    ----------
    Appendix A of Ghazi et al. 2022; the printed Δ = ⌈log(ε/(n√k))⌉ is upside down (errata heat-14).
    """
    checks.positive("epsilon", epsilon)
    checks.reals("assumed_users", assumed_users, 1)
    checks.reals("k", k, 1)
    # Δ ≥ n₀ε/√k if and only if Δ²k ≥ (n₀ε)²; in fractions, as a logarithm may round past it.
    cells = (assumed_users * Fraction(epsilon)) ** 2
    level = 0
    while level < MAX_LEVEL and 4**level * k < cells:
        level += 1
    return level


def private_coreset(counts: CellCounts, plan: Schedule, w: int, unit_noise: Reader) -> SparseMap:
    """Return ŝ, the pyramid algorithm's map before it is normalised: Σε_i-DP.

    Parameters are those of `measure`; the total mass estimates the number of users. Where no noisy
    count is positive the answer is a uniform map of mass 1 (errata heat-7).

    References
    ----------
    Corollary A.1 of Ghazi et al. 2022.
    """
    return reconstruct(measure(counts, plan, w, unit_noise)).blocks()


def as_points(coreset: SparseMap, split: int = 8) -> WeightedPoints:
    """Return a map's mass in the middles of its cells.

    Parameters
    ----------
    coreset : SparseMap
        Normalised or not.
    split : int
        A power of two: cells larger than a leaf are divided into at most split × split parts.

    Raises
    ------
    ValueError
        If split is not a power of two of at least 1.
    """
    if split < 1 or split & (split - 1):
        raise ValueError(f"split: {split} is not a power of two of at least 1")
    row, column, size = coreset.spans()
    pieces = np.minimum(size, split)
    points, weights, slack = [np.zeros((0, 2))], [np.zeros(0)], 0.0
    side = float(1 << coreset.level)
    for number in np.unique(pieces).tolist():
        here = pieces == number
        part = size[here] / number
        middle = (np.arange(number) + 0.5) * part[:, None]
        r = np.repeat(row[here, None] + middle, number, axis=1)
        c = np.tile(column[here, None] + middle, (1, number))
        points.append(np.stack([r.ravel(), c.ravel()], axis=1) / side)
        weights.append(np.repeat(coreset.masses[here] / number**2, number**2))
        # Points of a flat square of side d are d/2 from its middle on average under ℓ1; a leaf's
        # mass is at its middle by definition.
        larger = part > 1
        slack += float((coreset.masses[here] * part)[larger].sum()) / (2 * side)
    return WeightedPoints(np.concatenate(points), np.concatenate(weights), slack)


def cluster(
    coreset: SparseMap,
    k: int,
    rng: np.random.Generator,
    split: int = 8,
    restarts: int = 3,
    swaps: int | None = 100,
) -> Clustering:
    """Return k centres for a private map, by `k_median` on its points: post-processing.

    Parameters
    ----------
    coreset : SparseMap
        `private_coreset`, or any other private map.
    k : int
        ≥ 1.
    rng : numpy.random.Generator
        Of the heuristic; it protects nothing.
    split, restarts, swaps
        As in `as_points` and `k_median`.

    References
    ----------
    Corollary A.2 of Ghazi et al. 2022.
    """
    x = as_points(coreset, split)
    return k_median(x.points, x.weights, k, rng, restarts, swaps)


def data_cost(counts: CellCounts, centres: ArrayLike) -> float:
    """Return the cost of centres for the users themselves: for the curator alone.

    Parameters
    ----------
    counts : CellCounts
        Users at the middles of their cells.
    centres : array_like, shape (k, 2)
        Row and column coordinates in the unit square.
    """
    row, column = counts.cells
    points = (np.stack([row, column], axis=1) + 0.5) / (1 << counts.level)
    return k_median_cost(points, counts.masses, centres)


def coreset_error(plan: Schedule, w: int, assumed_users: float) -> Bound:
    """Return κ: the share of noise and cells in the difference of the costs, in expectation.

    E|cost_C(users) − cost_C(ŝ)| ≤ κ + λ·cost_C(users) for every C of k centres, where λ falls as
    w/k grows (Lemma 3.4, whose constant is not known). κ is the noise term of Theorem 3.1, n₀/Δ
    for moving every user to the middle of a cell, and two terms that its proof leaves out: on
    levels above the start level, which the experimental variant does not measure, and 2^{−ℓ} for
    the difference of the totals (errata heat-12), the noise of the start level alone counts.

    Parameters
    ----------
    plan : Schedule
    w : int
    assumed_users : float
        n₀ ≥ 1.

    References
    ----------
    Corollary A.1 of Ghazi et al. 2022 with the constants of its proof; O(√k/ε) for w of the order
    of k and Δ as in `median_level`.
    """
    checks.reals("assumed_users", assumed_users, 1)
    # ‖P_i z‖₁ ≤ ‖P_q z‖₁ ≤ ‖ν_q‖₁ for i ≤ q, as every optimum has max(t, 0) on the start level.
    above = sum(2.0**-i for i in range(plan.start)) + 2.0**-plan.last
    start_noise = 4**plan.start / plan.epsilon[plan.start]
    note = "noise and snapping; λ of the cost comes on top; errata heat-10, heat-12, heat-21"
    value = noise_term(plan, w).value + above * start_noise + assumed_users / (1 << plan.last)
    return Bound(value, Role.UPPER, Reference(HEATMAPS, "Corollary A.1", note))


def coreset_order(epsilon: ArrayLike, k: ArrayLike) -> Bound:
    """Return √k/ε, the order of κ without any constant; arrays broadcast.

    Parameters
    ----------
    epsilon : array_like of float
        > 0.
    k : array_like of int
        ≥ 1.
    """
    level, clusters = np.broadcast_arrays(
        checks.positive("epsilon", epsilon), checks.reals("k", k, 1)
    )
    where = Reference(HEATMAPS, "Corollary A.1", "order only, no constant")
    return Bound(np.sqrt(clusters) / level, Role.ESTIMATE, where)


def clustering_bound(optimum: ArrayLike, factor: float, lam: float, kappa: ArrayLike) -> Bound:
    """Return an upper bound on the users' cost of centres found on a (λ, κ)-coreset.

    If their cost on the coreset is at most `factor` times the least there, then
    cost(users) ≤ (factor·((1 + λ)·optimum + κ) + κ)/(1 − λ): both sides of the coreset's promise,
    for the users' best centres and for the ones found.

    Parameters
    ----------
    optimum : array_like of float
        Least cost for the users, ≥ 0.
    factor : float
        ≥ 1, of the algorithm that ran on the coreset.
    lam : float
        λ in [0, 1).
    kappa : array_like of float
        κ ≥ 0.

    References
    ----------
    Corollary A.2 of Ghazi et al. 2022, written out.
    """
    least, rest = np.broadcast_arrays(
        checks.reals("optimum", optimum, 0.0), checks.reals("kappa", kappa, 0.0)
    )
    checks.reals("factor", factor, 1.0)
    checks.reals("lam", lam, 0.0, 1.0, open_high=True)
    value = (factor * ((1 + lam) * least + rest) + rest) / (1 - lam)
    return Bound(value, Role.UPPER, Reference(HEATMAPS, "Corollary A.2"))
