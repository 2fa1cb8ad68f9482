"""What the paper proves about errors, as numbers: constants kept where the proof has them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.bounds import Bound, FloatArray, Reference, Role
from explorer.privacy.heatmaps.schedule import PAPER, Schedule


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
    for i in range(plan.start, plan.level + 1):
        candidates = 4**i if i == plan.start else 4 * min(w, 4 ** (i - 1))
        total += 2.0**-i * candidates / plan.epsilon[i]
    where = Reference(
        PAPER, "Theorem 3.1", "selection bias mended by counting candidates: errata 10"
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
    value = _distance(emd) / (2 * _positive("sigma", sigma) ** 2)
    return Bound(value, Role.UPPER, Reference(PAPER, "Lemma B.3"))


def similarity_bound(emd: ArrayLike, sigma: float) -> Bound:
    """Return max(0, 1 − √EMD/2σ), a lower bound on the heatmaps' similarity (Corollary B.5).

    Parameters and limits are those of `kl_bound`; one minus it bounds total variation from above
    (Lemma B.4).
    """
    variation = np.sqrt(_distance(emd)) / (2 * _positive("sigma", sigma))
    return Bound(
        np.maximum(0.0, 1 - variation), Role.LOWER, Reference(PAPER, "Lemma B.4, Corollary B.5")
    )


def sparse_lower_bound(k: int, epsilon: float, n: int) -> float:
    """Return .004 √k/(εn): errors below its order are beyond every ε-DP algorithm (Theorem C.1).

    For k-sparse averages of n ≥ k/ε distributions on a fine enough grid. The constant is the
    proof's .4·.01; since its packing needs a smaller one still (errata 15), take it as the order
    of the bound, not as a bound.
    """
    if k < 1 or n < 1:
        raise ValueError(f"k: {k} and n: {n} must be at least 1")
    return 0.004 * math.sqrt(k) / (_positive("epsilon", epsilon) * n)


def dense_level(epsilon: float, n: int) -> int:
    """Return ℓ* = ½ log₂(εn) rounded, at least 0: the level that dense aggregation measures.

    n must be a number fixed before the data are seen; the data's own count gives no DP.
    """
    if n < 1:
        raise ValueError(f"n: {n} is below 1")
    return max(0, round(0.5 * math.log2(_positive("epsilon", epsilon) * n)))


def dense_noise_term(epsilon: float, n: int) -> Bound:
    """Return (ℓ*+1) 2^{ℓ*} √2/ε ≥ E‖ν‖_EMD for the noise of dense aggregation (Theorem D.1).

    In users, as `noise_term`.
    """
    level = dense_level(epsilon, n)
    value = (level + 1) * 2.0**level * math.sqrt(2) / epsilon
    return Bound(np.array(value), Role.UPPER, Reference(PAPER, "Theorem D.1", "ℓ* rounded"))


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


def _positive(name: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name}: {value!r} is not a finite number above 0")
    return value


def _distance(emd: ArrayLike) -> FloatArray:
    value = np.asarray(emd, dtype=float)
    if not (np.isfinite(value).all() and (value >= 0).all()):
        raise ValueError("emd: a distance is finite and at least 0")
    return value
