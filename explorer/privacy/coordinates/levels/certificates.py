"""What a mechanism's CDP and LDP levels certify about a coordinate: Propositions 3, 4 and 6.

A mechanism that is L-LDP and c-CDP is so for everybody. Its coordinate level δ_i holds only
against beliefs whose coupling q_i (the total variation between the laws of the other coordinates
given two values of coordinate i) is at most the q that was assumed, which must be public: never
estimate it from the protected records. Levels δ_i do not compose; c and L do, and δ_i is computed
again from their sums.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.levels.log_mixtures import log_mix, log_mix_high
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


def bcdp_from_ldp(eps: ArrayLike, d: int) -> FloatArray:
    """Return the levels ε·1 that every ε-LDP mechanism has (Proposition 3), shape (…, d)."""
    eps = checks.reals("eps", eps, 0.0)
    count = int(checks.whole("d", d, 1))
    result: FloatArray = np.repeat(eps[..., None], count, axis=-1)
    return result


def ldp_from_cdp(c: ArrayLike) -> FloatArray:
    """Return Σ_i c_i over the d coordinates, the LDP level of every c-CDP mechanism.

    Proposition 4, part 1, prints the sum up to n, which is the number of users (errata coord-A6).
    """
    result: FloatArray = checks.positive_levels("c", c).sum(axis=-1)
    return result


def bcdp_from_cdp(c: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return c_i + log(1 + q_i(e^{Σ_{j≠i} c_j} − 1)) (Proposition 4, part 1), shape (…, d).

    Needs CDP on the whole product domain, prior mass or not (errata coord-B15).
    """
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    # Sums from both sides: subtracting c_i from the total would lose small levels beside large.
    zero = np.zeros_like(c[..., :1])
    left = np.concatenate([zero, np.cumsum(c[..., :-1], axis=-1)], axis=-1)
    right = np.concatenate([np.cumsum(c[..., :0:-1], axis=-1)[..., ::-1], zero], axis=-1)
    result: FloatArray = c + log_mix(q, 0.0, left + right)
    return result


def bcdp_from_cdp_and_ldp(c: ArrayLike, q: ArrayLike, eps: ArrayLike) -> FloatArray:
    """Return min(c_i + log(1 + q_i(e^ε − 1)), ε) (Proposition 4, part 2), shape (…, d)."""
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    eps = checks.reals("eps", eps, 0.0)[..., None]
    result: FloatArray = np.minimum(c + log_mix(q, 0.0, eps), eps)
    return result


def best_certificate(c: ArrayLike, q: ArrayLike, total: ArrayLike) -> FloatArray:
    """Return log((1−q_i)e^{c_i} + q_i·e^L), at most Proposition 4's level (beyond the paper, 1).

    Of two values of coordinate i, a maximal coupling of the other coordinates leaves them as they
    are with probability at least 1 − q_i, and then the loss is at most c_i; otherwise at most L.
    It is attained when q_i alone is bounded, conservative when all q_j are, and it is not the
    level for a given prior.

    Parameters
    ----------
    c : array_like of shape (…, d)
        CDP levels in [0, ∞]; those above L count as L, since L-LDP implies them.
    q : array_like, broadcast against c
        Couplings in [0, 1]; scalars hold for every coordinate. Sweep it: the levels are a function
        of the true coupling, from c_i at 0 to L at 1.
    total : array_like of shape (…)
        LDP level L in [0, ∞].
    """
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    total = checks.reals("total", total, 0.0)[..., None]
    return log_mix(q, np.minimum(c, total), total)


def repeated_certificate(
    c: ArrayLike, q: ArrayLike, total: ArrayLike, releases: ArrayLike
) -> FloatArray:
    """Return the levels after a number of independent releases.

    c and L add over releases; coordinate levels do not (Example 2: level 0 once, infinite twice).
    """
    count = checks.whole("releases", releases, 0)
    c = checks.positive_levels("c", c)
    total = checks.reals("total", total, 0.0)
    with np.errstate(invalid="ignore"):
        many = np.where(count[..., None] > 0, count[..., None] * c, 0.0)
        sums = np.where(count > 0, count * total, 0.0)
    return best_certificate(many, q, sums)


def linear_budget_matrix(coordinate_levels: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return A_δ of Proposition 6, equation (53): A·c ≤ 1 suffices for part 1's levels.

    A_ii = 1/δ_i and A_ij = 1/log(1 + (e^{δ_i} − 1)/q_i), which is 0 where q_i = 0. Row i does not
    depend on the column off the diagonal.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Levels in (0, ∞]; a level 0 must be treated on its own, c_i = 0 (errata coord-C4).
    q : array_like of shape () or (d,)
        Couplings in [0, 1].
    """
    levels = checks.reals("coordinate_levels", coordinate_levels, 0.0, open_low=True)
    if levels.ndim != 1 or not levels.size:
        raise ValueError(f"coordinate_levels must be a vector, got shape {levels.shape}")
    q = np.broadcast_to(checks.reals("q", q, 0.0, 1.0), levels.shape)
    with np.errstate(over="ignore"):
        off = np.where(np.isinf(levels), 0.0, 1.0 / log_mix_high(q, np.minimum(levels, 1e300)))
        matrix = np.repeat(off[:, None], levels.size, axis=1)
        np.fill_diagonal(matrix, 1.0 / levels)
    result: FloatArray = matrix
    return result


def linear_budget_scale(coordinate_levels: ArrayLike, q: ArrayLike, direction: ArrayLike) -> float:
    """Return the largest t for which t·direction satisfies Proposition 6.

    Infinite if the direction costs nothing (it is 0 wherever it matters).
    """
    direction = checks.reals("direction", direction, 0.0, open_high=True)
    matrix = linear_budget_matrix(coordinate_levels, q)
    if direction.shape != matrix.shape[:1]:
        raise ValueError(f"direction must have shape {matrix.shape[:1]}, got {direction.shape}")
    used = float((matrix @ direction).max())
    return 1.0 / used if used > 0.0 else math.inf
