"""Private k-median clustering of the plane: a private map as a coreset (the paper's Appendix A).

Every user is a point of the unit square, or a distribution on it; the cost of centres is a linear
functional of the users' sum whose change is at most an earth mover's distance. So centres that are
good for the private map are good for the users, whatever algorithm finds them.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS as PAPER, Bound, FloatArray, Reference, Role
from explorer.privacy.heatmaps.budget_schedule import Schedule
from explorer.privacy.heatmaps.clustering import Clustering, k_median, k_median_cost
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.measurement import Reader, measure
from explorer.privacy.heatmaps.quadtree import MAX_LEVEL, SparseMap
from explorer.privacy.heatmaps.reconstruction import reconstruct
from explorer.privacy.heatmaps.theory import noise_term


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
        n₀ ≥ 1, fixed before the data are seen: with the data's own count Δ would tell it.
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
    wanted = (assumed_users * Fraction(epsilon)) ** 2
    level = 0
    while level < MAX_LEVEL and 4**level * k < wanted:
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
    """Return κ: what noise and cells add to the difference of the costs, in expectation.

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
    return Bound(value, Role.UPPER, Reference(PAPER, "Corollary A.1", note))


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
    where = Reference(PAPER, "Corollary A.1", "order only, no constant")
    return Bound(np.sqrt(clusters) / level, Role.ESTIMATE, where)


def clustering_bound(optimum: ArrayLike, factor: float, lam: float, kappa: ArrayLike) -> Bound:
    """Return what centres found on a (λ, κ)-coreset cost the users at most.

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
    return Bound(value, Role.UPPER, Reference(PAPER, "Corollary A.2"))
