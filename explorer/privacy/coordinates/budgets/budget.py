"""Budget vectors c for M_mean: Theorem 2's, and the largest one that a total level L allows.

A demand is a vector of *coordinate levels* δ_i: what may be learnt about coordinate i by somebody
whose beliefs couple the coordinates by at most q in total variation. These δ_i are privacy
levels of BCDP and have nothing to do with the δ of approximate differential privacy. Everything
is in nats; arrays carry the coordinate on their last axis and broadcast on the others.
"""

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.levels.log_mixtures import log_mix, log_mix_high, log_mix_low
from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray

_SNAP = 1e-12


def effective_levels(coordinate_levels: ArrayLike, eps: ArrayLike) -> FloatArray:
    """Return δ̃_i = min(δ_i, ε): an ε-LDP mechanism is ε-BCDP in every coordinate (Prop. 3)."""
    levels = checks.positive_levels("coordinate_levels", coordinate_levels)
    eps = checks.reals("eps", eps, 0.0)
    result: FloatArray = np.minimum(levels, eps[..., None])
    return result


def _with_coordinate_axis(*scalars: FloatArray) -> list[FloatArray]:
    return [scalar[..., None] for scalar in scalars]


def budget_vector(
    coordinate_levels: ArrayLike, eps: ArrayLike, q: ArrayLike, zeta: ArrayLike
) -> FloatArray:
    """Return the budget c of Theorem 2, equation (16), in the order of the input.

    M_mean with this c is ε-LDP, c-CDP, and has coordinate levels at most δ_i against every prior
    whose coupling is at most q.

    Parameters
    ----------
    coordinate_levels : array_like of shape (…, d)
        Demanded levels δ_i in [0, ∞].
    eps : array_like of shape (…)
        Total level ε in [0, ∞].
    q : array_like of shape (…)
        Bound on the coupling in [0, 1]. It must be public: c, hence q, can be read off the reports.
    zeta : array_like of shape (…)
        Free parameter ζ in (0, 1].

    Returns
    -------
    ndarray of shape (…, d)
        0 where a coordinate gets no report at all.

    Notes
    -----
    At q = 0 the printed formula divides by zero; its limit is δ̃ for every ζ (errata coord-B1).
    Where c_d exceeds a δ̃_i by less than 1e-12 of it, c_d is lowered to it, since c_i jumps there
    by (1−ζ)δ̃_1 and rounding would decide (errata coord-B2).
    """
    levels = effective_levels(coordinate_levels, eps)
    q = checks.reals("q", q, 0.0, 1.0)
    zeta = checks.reals("zeta", zeta, 0.0, 1.0, open_low=True)
    levels, q, zeta = np.broadcast_arrays(levels, *_with_coordinate_axis(q, zeta))
    lowest = levels.min(axis=-1, keepdims=True)
    top = np.minimum(
        log_mix_high(q[..., :1], zeta[..., :1] * lowest), levels.max(axis=-1, keepdims=True)
    )
    near = (levels < top) & (top <= levels * (1.0 + _SNAP))
    top = np.minimum(top, np.where(near, levels, np.inf).min(axis=-1, keepdims=True))
    with np.errstate(invalid="ignore"):
        # Where both are infinite the other branch is taken.
        rest = np.maximum(levels - log_mix(q, 0.0, top), 0.0)
    c = np.where(top <= levels, top, rest)
    result: FloatArray = np.where(q == 0.0, levels, c)
    return result


def best_possible_zeta(coordinate_levels: ArrayLike, eps: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return ζ_0 = log(1 + q(e^{δ̃_1} − 1))/δ̃_1, at which (16) is min δ-LDP (errata coord-B2).

    1 where δ̃_1 = 0, and at least the smallest positive float.
    """
    lowest = effective_levels(coordinate_levels, eps).min(axis=-1)
    q = checks.reals("q", q, 0.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(lowest > 0.0, log_mix(q, 0.0, lowest) / lowest, 1.0)
    result: FloatArray = np.clip(value, np.finfo(float).tiny, 1.0)
    return result


def budget_at_total(
    coordinate_levels: ArrayLike, eps: ArrayLike, q: ArrayLike, total: ArrayLike
) -> FloatArray:
    """Return the largest c_i that the exact constraint allows at a total level L.

    The best certificate of a mechanism that is c-CDP and L-LDP is
    log((1−q)e^{c_i} + q·e^L) (beyond the paper, no. 1), hence
    c_i = min(L, log((e^{δ̃_i} − q·e^L)/(1−q))).

    Parameters
    ----------
    coordinate_levels, eps, q : as in `budget_vector`
    total : array_like of shape (…)
        Total level L ≥ 0.

    Returns
    -------
    ndarray of shape (…, d)
        NaN for a coordinate whose level cannot be met at this L whatever its budget.
    """
    levels = effective_levels(coordinate_levels, eps)
    q = checks.reals("q", q, 0.0, 1.0)
    total = checks.reals("total", total, 0.0, open_high=True)
    return log_mix_low(q[..., None], levels, total[..., None])


def largest_total(coordinate_levels: ArrayLike, eps: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return the largest total level L at which no coordinate's level is exceeded.

    Between min δ̃ (where all budgets equal L) and ε; at it some budgets may be 0.
    """
    levels = effective_levels(coordinate_levels, eps)
    q = checks.reals("q", q, 0.0, 1.0)
    eps = np.asarray(eps, float)
    result: FloatArray = np.minimum(eps, log_mix_high(q[..., None], levels).min(axis=-1))
    return result


def coupling_matters(coordinate_levels: ArrayLike, eps: ArrayLike, total: ArrayLike) -> BoolArray:
    """Return for which coordinates the guarantee rests on the assumed coupling, shape (…, d).

    Where the total level L is at most δ̃_i it does not: L-LDP alone gives the level. So not only
    the last coordinate is exempt from Assumption 1, and it only is if its level is the largest; a
    label exempt in this sense still counts in the couplings of the features with it (errata
    coord-A7).
    """
    total = checks.reals("total", total, 0.0)
    result: BoolArray = total[..., None] > effective_levels(coordinate_levels, eps)
    return result


def corollary1_threshold(level: ArrayLike, eps: ArrayLike) -> FloatArray:
    """Return (e^{δ/2} − 1)/(e^ε − 1), the coupling up to which Corollary 1's bound (18) holds."""
    level = checks.reals("level", level, 0.0, open_high=True)
    eps = checks.positive("eps", eps)
    with np.errstate(over="ignore"):
        small = np.expm1(level / 2.0) / np.expm1(eps)
        large = np.exp(level / 2.0 - eps) * (-np.expm1(-level / 2.0)) / (-np.expm1(-eps))
    result: FloatArray = np.where(eps < 30.0, small, large)
    return result
