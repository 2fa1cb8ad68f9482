"""Error bounds of the paper, with the constants of its proofs."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS, Bound, FloatArray, Reference, Role
from explorer.privacy.heatmaps.budget_schedule import Schedule, depth_cap

DIAMETER = 2.0
"""Of the unit square under ℓ1: no distance of two distributions is larger."""


DENSE_REFERENCE = Reference(
    HEATMAPS, "Theorem D.1", "snapping to level ℓ* costs 2^-ℓ* (errata heat-16)"
)


def noise_term(plan: Schedule, w: int) -> Bound:
    """Return the noise's part of the bound on E‖ŝ − s‖_EMD in Theorem 3.1.

    6 Σ_i 2^{−i} |T_i| / ε_i over the measured levels, where |T_i| ≤ 4 min(w, 4^{i−1}) cells are
    candidates, 4^q at the start level. In users: divide by n for the unit of an EMD.

    Parameters
    ----------
    plan : Schedule
    w : int
        ≥ 1; that of the schedule.
    """
    total = 0.0
    for i in plan.measured:
        candidates = 4**i if i == plan.start else 4 * min(w, 4 ** (i - 1))
        total += 2.0**-i * candidates / plan.epsilon[i]
    where = Reference(
        HEATMAPS, "Theorem 3.1", "selection bias mended by counting candidates: errata heat-10"
    )
    return Bound(np.array(6 * total), Role.UPPER, where)


def kl_bound(emd: ArrayLike, sigma: float) -> Bound:
    """Return EMD/2σ², an upper bound on the heatmaps' KL divergence (Lemma B.3).

    Proved for the filter without borders; for ours it is checked for Δ ≤ 512, σ from .005 to .1.

    Parameters
    ----------
    emd : array_like of float, ≥ 0
        Distance of the maps before blurring, in the unit square under ℓ1.
    sigma : float
        > 0, as a fraction of the side.
    """
    value = _distance(emd) / (2 * checks.positive("sigma", sigma) ** 2)
    return Bound(value, Role.UPPER, Reference(HEATMAPS, "Lemma B.3"))


def similarity_bound(emd: ArrayLike, sigma: float) -> Bound:
    """Return max(0, 1 − √EMD/2σ), a lower bound on the heatmaps' similarity (Corollary B.5).

    Parameters and limits are those of `kl_bound`; one minus it bounds total variation from above
    (Lemma B.4).
    """
    variation = np.sqrt(_distance(emd)) / (2 * checks.positive("sigma", sigma))
    return Bound(
        np.maximum(0.0, 1 - variation), Role.LOWER, Reference(HEATMAPS, "Lemma B.4, Corollary B.5")
    )


def sparse_lower_printed(k: int, epsilon: float, n: int) -> Bound:
    """Return .004 √k/(εn), the order of the lower bound with the constants of its proof.

    The constant is the proof's .4·.01; since its packing needs a smaller one still (errata
    heat-15), it is the order of the bound, not a bound: `sparse_lower_bound` is one.
    """
    checks.reals("k", k, 1)
    checks.reals("n", n, 1)
    checks.positive("epsilon", epsilon)
    value = 0.004 * math.sqrt(k) / (epsilon * n)
    where = Reference(HEATMAPS, "Theorem C.1", "order only: errata heat-15")
    return Bound(np.array(value), Role.ESTIMATE, where)


def sparse_lower_bound(k: ArrayLike, epsilon: ArrayLike, n: ArrayLike) -> Bound:
    """Return a number that the expected error of some input exceeds, for every ε-DP algorithm.

    The packing proof of Theorem C.1 with its constants worked out. On D + 1 points of a grid of
    spacing 1/t, distributions whose first D masses are at least 2γt apart in ℓ1 are at least γ
    apart in earth mover's distance, and volumes show that there are (4γt)^{−D} of them. Of n users
    let n₀ have one of them and the others a fixed one. If the error were below γn₀/2n with
    probability p on all inputs, then (4γt)^{−D}·p·e^{−εn₀} ≤ 1. Hence an expected error of at least
    (1 − p)·p^{1/D}·e^{−εn₀/D}·n₀/8nt for every p, n₀ and admissible (D, t); the largest is taken.

    Parameters
    ----------
    k : array_like of int
        Sparsity, ≥ 1: n users' average has at most k cells with mass, so that the approximation's
        multiplicative part vanishes. Broadcast with the others.
    epsilon : array_like of float
        > 0.
    n : array_like of int
        ≥ 1.

    Returns
    -------
    Bound
        In the unit square under ℓ1, for Δ ≥ 2^⌈log₂ √k⌉; 0 for k = 1. Adding or removing users and
        replacing them give the same number.

    References
    ----------
    Theorem C.1 and Lemma C.2 of the paper; largest for smallest power of two, ‖r‖₁ ≤ ½ for = ½ and
    the radius scaled by n₀/n (errata heat-15).
    """
    cells, level, users = np.broadcast_arrays(
        checks.reals("k", k, 1, open_high=True),
        checks.positive("epsilon", epsilon),
        checks.reals("n", n, 1, open_high=True),
    )
    best = np.zeros(cells.shape)
    down = 2.0 ** np.floor(0.5 * np.log2(cells))
    up = 2.0 ** np.ceil(0.5 * np.log2(cells))
    for side, points in ((down, np.minimum(down * down, cells)), (up, cells)):
        free = np.maximum(points - 1, 0.0)
        dimension = np.maximum(free, 1.0)
        # (1 − p) p^{1/D} is largest at p = 1/(D + 1), n₀ e^{−εn₀/D} at D/ε if that were whole.
        chance = 1 / (dimension + 1)
        share = (1 - chance) * chance ** (1 / dimension)
        with np.errstate(over="ignore"):
            ratio = dimension / level
        for whole in (np.floor(ratio), np.ceil(ratio)):
            planted = np.clip(whole, 1.0, users)
            errors = planted * np.exp(-level * planted / dimension) / (8 * users * side)
            best = np.maximum(best, np.where(free >= 1, share * errors, 0.0))
    where = Reference(HEATMAPS, "Theorem C.1", "constants worked out, errata heat-15")
    return Bound(best, Role.LOWER, where)


def sparse_noise_norm(plan: Schedule, w: int) -> float:
    """Return a bound on E‖ŝ − s‖_EMD for maps with mass in at most w cells, in users.

    E‖P(ŝ − s)‖₁ is at most `noise_term` plus, where levels above q are not measured,
    Σ_{i<q} 2^{−i} E‖ν_q‖₁ (a coarser cell errs by no more than those of level q in it, which are
    those of the noise); a factor 1 + 2^{−L} mends Lemma 3.5. Inversely proportional to ε.
    """
    noise = float(noise_term(plan, w).value)
    if plan.start:
        noise += (2 - 2.0 ** (1 - plan.start)) * 4**plan.start / plan.epsilon[plan.start]
    return (1 + 2.0**-plan.last) * noise


def sparse_error_bound(plan: Schedule, w: int, n: float) -> Bound:
    """Return an upper bound on the expected error of the pyramid algorithm on sparse maps.

    For maps with mass in at most w cells, whose pyramid the selection can keep whole, so that the
    proof of Theorem 3.1 leaves the noise alone: 2/n (Lemma 2.1 with its better constant) times
    `sparse_noise_norm`. With a depth cap L < ℓ, 2^{−L} for its flat cells comes on top. Other maps
    err by a multiple of their distance from the nearest such map in addition.

    Parameters
    ----------
    plan : Schedule
    w : int
        ≥ 1; that of the schedule.
    n : float
        Users there are, ≥ 1.

    Returns
    -------
    Bound
        Earth mover's distance in the unit square, at most its diameter 2.
    """
    checks.reals("n", n, 1)
    value = 2 / n * sparse_noise_norm(plan, w) + flat_cells(plan)
    note = "its proof's constants, at most w cells (errata heat-10, heat-11, heat-12, heat-21)"
    return Bound(
        np.array(min(value, DIAMETER)), Role.UPPER, Reference(HEATMAPS, "Theorem 3.1", note)
    )


def flat_cells(plan: Schedule) -> float:
    """Return 2^{−L}, the error of cells that are flat below a capped depth; 0 without a cap."""
    return 2.0**-plan.last if plan.last < plan.level else 0.0


def dense_error_bound(epsilon: float, assumed_users: float, n: float, level: int = 30) -> Bound:
    """Return an upper bound on the expected error of dense aggregation, and at most 2.

    4/n times the noise's norm on level ℓ* (the projection at most doubles it, Lemma 2.1 doubles it
    again) plus 2^{−ℓ*} for what a flat cell hides where ℓ* < ℓ.

    Parameters
    ----------
    epsilon : float
        Finite and > 0.
    assumed_users : float
        n₀ > 0, which sets ℓ*.
    n : float
        Users there are, ≥ 1.
    level : int
        ℓ of the map, the largest ℓ* there can be.
    """
    return Bound(
        np.array(dense_error(epsilon, assumed_users, n, level)), Role.UPPER, DENSE_REFERENCE
    )


def dense_error(epsilon: float, assumed_users: float, n: float, level: int = 30) -> float:
    """Return the number of `dense_error_bound`: for curves, whose every point would be a bound."""
    checks.reals("n", n, 1)
    deep = depth_cap(epsilon, assumed_users, 0, level)
    value = 4 / n * _dense_norm(deep, epsilon) + (2.0**-deep if deep < level else 0.0)
    return min(value, DIAMETER)


def dense_level(epsilon: float, n: float) -> int:
    """Return ℓ* = ½ log₂(εn) rounded, at least 0: the level that dense aggregation measures.

    n must be a number fixed before the data are seen; the data's own count gives no DP.
    """
    checks.reals("n", n, 1)
    checks.positive("epsilon", epsilon)
    return depth_cap(epsilon, n, 0, 4096)


def dense_noise_term(epsilon: float, n: float) -> Bound:
    """Return (ℓ*+1) 2^{ℓ*} √2/ε ≥ E‖ν‖_EMD for the noise of dense aggregation (Theorem D.1).

    In users, as `noise_term`. Bounding E|Lap(1/ε)| = 1/ε by its deviation √2/ε leaves room for the
    2^−ℓ*|Σν| that Lemma 3.5 overlooks (errata heat-12) from ℓ* = 1 on. At ℓ* = 0 it doesn't: there
    E‖ν‖_EMD is 2/ε, but nothing depends on the noise, since a single cell is all the map.
    """
    value = _dense_norm(dense_level(epsilon, n), epsilon)
    return Bound(np.array(value), Role.UPPER, Reference(HEATMAPS, "Theorem D.1", "ℓ* rounded"))


def _dense_norm(level: int, epsilon: float) -> float:
    return (level + 1) * 2.0**level * math.sqrt(2) / epsilon


def median_cost(grid: NDArray[np.floating], centres: ArrayLike) -> float:
    """Return the k-median cost Σ_a x(a) min_c ‖a − c‖₁ of a map in the unit square (Appendix A).

    Parameters
    ----------
    grid : array, shape (Δ, Δ)
        Masses x ≥ 0 [row, column]; cell (r, c) is at (r/Δ, c/Δ).
    centres : array_like, shape (k, 2)
        Row and column coordinates.
    """
    x, at = np.asarray(grid, dtype=float), np.asarray(centres, dtype=float)
    if at.ndim != 2 or at.shape[1] != 2 or not len(at):
        raise ValueError(f"centres: shape {at.shape} is not (k, 2) with k ≥ 1")
    row = np.arange(x.shape[0])[:, None] / x.shape[0]
    column = np.arange(x.shape[1]) / x.shape[1]
    nearest = np.full(x.shape, math.inf)
    for centre in at:
        np.minimum(nearest, np.abs(row - centre[0]) + np.abs(column - centre[1]), out=nearest)
    return float((x * nearest).sum())


def _distance(emd: ArrayLike) -> FloatArray:
    return checks.reals("emd", emd, 0.0, open_high=True)
