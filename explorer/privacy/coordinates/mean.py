"""M_mean: unbiased reports of a vector whose coordinates have budgets of their own.

Mechanism 1 of Aliakbarpour et al.: sort by the budget c; channel k is M_LDP of the coordinates
k…d at level c_k − c_{k−1}; a coordinate is estimated by a weighted mean of the channels that saw
it. The reports together are c-CDP and c_d-LDP. Channels of level 0 (ties) are skipped (errata
coord-B3); a coordinate with c_i = 0 has no report: its mean is undefined (NaN) and its error
infinite.

Budgets come in any order (errata coord-B8); weights and combination matrices are in the order of
the sorted budget, everything else in the order of the input. Weights need no privacy, since
combining reports is post-processing.

**Exact levels on the corners {−1, 1}^d of the cube, for d ≤ 4.** A channel's report z says of every
corner v only on which side of the plane v·z = 0 it is, because its density has one value there and
another on the other side. So the output space falls into finitely many chambers (2, 4, 14, 104 of
them for 1…4 coordinates) and all levels are exact maxima.
"""

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.channel import SMALLEST_LEVEL, log_half_space_probabilities
from explorer.privacy.coordinates.designs import DUCHI, log_channel_moment
from explorer.privacy.coordinates.levels import bcdp_levels_from_logs
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

RULES = ("paper", "optimal")


def _budget(c: ArrayLike) -> FloatArray:
    c = checks.positive_levels("c", c)
    checks.reals("c", c, 0.0, open_high=True)
    return c


def increments(c: ArrayLike) -> tuple[checks.IntArray, FloatArray, checks.IntArray]:
    """Return the stable order of a budget, and of each sorted channel its level and dimension.

    Parameters
    ----------
    c : array_like of shape (…, d)
        Budgets in [0, ∞).

    Returns
    -------
    order : ndarray of int, shape (…, d)
    alpha : ndarray, shape (…, d)
        c_k − c_{k−1} with c_0 = 0; exactly 0 in a tie, and where it is below 1e-300.
    m : ndarray of int, shape (d,)
        d − k + 1.
    """
    c = _budget(c)
    order = np.argsort(c, axis=-1, kind="stable")
    alpha = np.diff(np.sort(c, axis=-1), axis=-1, prepend=0.0)
    alpha[alpha < SMALLEST_LEVEL] = 0.0
    return order.astype(np.int64), alpha, np.arange(c.shape[-1], 0, -1, dtype=np.int64)


def log_weights(
    alpha: FloatArray, m: checks.IntArray, rule: str, channel: str = DUCHI
) -> FloatArray:
    """Return log w_k of sorted channels: −∞ where the channel is skipped."""
    checks.one_of("rule", rule, RULES)
    if rule == "paper":
        with np.errstate(divide="ignore"):
            result: FloatArray = 2.0 * np.log(alpha) - np.log(m)
        return result
    return -log_channel_moment(m, alpha, channel)


def m_mean_weights(c: ArrayLike, rule: str = "paper") -> FloatArray:
    """Return the weight w_k of every channel, in sorted order, shape (…, d).

    The rule ``"paper"`` is (c_k − c_{k−1})²/(d−k+1), proportional to the inverse variance of small
    increments only; ``"optimal"`` is 1/V(d−k+1, c_k − c_{k−1}), which minimises the largest
    variance (errata coord-B9: at most 0.01% better in Figure 3, 6% for c = (1, 9, 9.5, 10)).
    """
    _, alpha, m = increments(c)
    with np.errstate(over="ignore"):
        result: FloatArray = np.exp(log_weights(alpha, m, rule))
        if rule == "paper":
            result = alpha**2 / m
    return result


def m_mean_combination(c: ArrayLike, rule: str = "paper", channel: str = DUCHI) -> FloatArray:
    """Return the lower triangular matrix a_ik = w_k/Σ_{k'≤i} w_k' in sorted order.

    Rows of coordinates with c_i = 0 are NaN: no information. One budget only, shape (d,).
    """
    c = _budget(c)
    if c.ndim != 1:
        raise ValueError(f"c must be one vector here, got shape {c.shape}")
    _, alpha, m = increments(c)
    logs = log_weights(alpha, m, rule, channel)
    totals = np.logaddexp.accumulate(logs)
    with np.errstate(invalid="ignore"):
        # Above the diagonal a weight may exceed the total so far; those entries are dropped.
        matrix = np.tril(np.exp(np.minimum(logs[None, :] - totals[:, None], 0.0)))
    matrix[np.isneginf(totals)] = np.nan
    result: FloatArray = matrix
    return result


def _error_terms(
    c: FloatArray, rule: str, channel: str
) -> tuple[checks.IntArray, FloatArray, FloatArray]:
    """Return the order, Σ_k a_ik²·V_k and Σ_k a_ik² of every sorted coordinate, in O(d)."""
    order, alpha, m = increments(c)
    logs = log_weights(alpha, m, rule, channel)
    skipped = alpha == 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        totals = np.logaddexp.accumulate(logs, axis=-1)
        moments = np.where(skipped, -np.inf, 2.0 * logs + log_channel_moment(m, alpha, channel))
        second = np.exp(np.logaddexp.accumulate(moments, axis=-1) - 2.0 * totals)
        squares = np.exp(np.logaddexp.accumulate(2.0 * logs, axis=-1) - 2.0 * totals)
    silent = np.isneginf(totals)
    return order, np.where(silent, np.inf, second), np.where(silent, 0.0, squares)


def _unsort(order: checks.IntArray, values: FloatArray) -> FloatArray:
    result = np.empty(np.broadcast_shapes(order.shape, values.shape))
    np.put_along_axis(result, order, np.broadcast_to(values, result.shape), axis=-1)
    return result


def m_mean_variances(x: ArrayLike, c: ArrayLike, rule: str = "paper") -> FloatArray:
    """Return the exact variance of each coordinate of one user's report.

    Var ν_i = Σ_k a_ik²·V_k − x_i²·Σ_k a_ik², infinite where c_i = 0.

    Parameters
    ----------
    x : array_like of shape (…, d)
        The user's data in [−1, 1].
    c : array_like of shape (…, d)
        Budgets in [0, ∞).
    rule : {"paper", "optimal"}
        Weights, see `m_mean_weights`.
    """
    x = checks.reals("x", x, -1.0, 1.0)
    second, squares = m_mean_moments(c, rule)
    result: FloatArray = second - x**2 * squares
    return result


def m_mean_moments(
    c: ArrayLike, rule: str = "paper", channel: str = DUCHI
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_k a_ik²·V_k and Σ_k a_ik² of each coordinate, both of shape (…, d).

    The variance of coordinate i is the first less x_i² times the second; where c_i = 0 they are
    infinite and 0. Parameters as in `m_mean_variances`; `channel` as in `log_channel_moment`.
    """
    order, second, squares = _error_terms(_budget(c), rule, channel)
    return _unsort(order, second), _unsort(order, squares)


def m_mean_covariance(x: ArrayLike, c: ArrayLike, rule: str = "paper") -> FloatArray:
    """Return the exact covariance matrix of one user's report, shape (d, d).

    Cov(ν_i, ν_j) = −x_i·x_j·Σ_{k ≤ min(i,j)} a_ik·a_jk off the diagonal. Coordinates with
    c_i = 0 have infinite variance and undefined (NaN) covariances.
    """
    x = checks.reals("x", x, -1.0, 1.0)
    c = _budget(c)
    if c.ndim != 1 or x.shape != c.shape:
        raise ValueError(f"x and c must be vectors of one length, got {x.shape} and {c.shape}")
    order, _, _ = increments(c)
    matrix = m_mean_combination(c, rule)
    ordered = x[order]
    covariance = -np.outer(ordered, ordered) * (matrix @ matrix.T)
    np.fill_diagonal(covariance, m_mean_variances(x, c, rule)[order])
    result = np.empty_like(covariance)
    result[np.ix_(order, order)] = covariance
    return result


def m_mean_mse(
    x2bar: ArrayLike, c: ArrayLike, n: ArrayLike, rule: str = "paper", channel: str = DUCHI
) -> FloatArray:
    """Return the exact error E‖ν̄ − x̄‖² of the average of n users' reports, not projected.

    Parameters
    ----------
    x2bar : array_like of shape (…, d) or ()
        Averages of x_i² over the users, in [0, 1]. 0 is the worst case, 1 is data of ±1.
    c : array_like of shape (…, d)
        Budgets in [0, ∞); any c_i = 0 makes the error infinite.
    n : array_like of shape (…)
        Number of users, ≥ 1.
    rule : {"paper", "optimal"}
        Weights, see `m_mean_weights`.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Returns
    -------
    ndarray of shape (…)
        Summed over coordinates; against the empirical mean (errata coord-B14).
    """
    x2bar = checks.reals("x2bar", x2bar, 0.0, 1.0)
    n = checks.reals("n", n, 1.0, open_high=True)
    second, squares = m_mean_moments(c, rule, channel)
    with np.errstate(over="ignore"):
        per_user = (second - x2bar * squares).sum(axis=-1)
    result: FloatArray = np.maximum(per_user, 0.0) / n
    return result


def m_mean_combine(
    c: ArrayLike, outputs: list[ArrayLike | None], rule: str = "paper"
) -> FloatArray:
    """Return one user's report from the outputs of the channels.

    Parameters
    ----------
    c : array_like of shape (d,)
        Budgets.
    outputs : list of d
        Output of the k-th sorted channel, of length d − k + 1; None where it is skipped.
    rule : {"paper", "optimal"}
        Weights, see `m_mean_weights`.

    Returns
    -------
    ndarray of shape (d,), in the order of c
        NaN where c_i = 0.
    """
    matrix = m_mean_combination(c, rule)
    order, alpha, m = increments(c)
    if len(outputs) != m.size:
        raise ValueError(f"outputs must have one entry a channel, {m.size}, got {len(outputs)}")
    sums = np.zeros(m.size)
    for k, output in enumerate(outputs):
        if alpha[k] == 0.0:
            continue
        report = np.zeros(0) if output is None else np.asarray(output, float)
        if report.shape != (m[k],):
            raise ValueError(f"outputs[{k}] must have shape ({m[k]},), got {report.shape}")
        sums[k:] += matrix[k:, k] * report
    sums[np.isnan(matrix).any(axis=1)] = np.nan
    result = np.empty_like(sums)
    result[order] = sums
    return result


_MAX_DIMENSION = 4


@cache
def chambers(m: int) -> FloatArray:
    """Return one whole-numbered point of every chamber of the planes v·z = 0, v a corner.

    A chamber is a threshold function without bias; up to four inputs these have weights of at most
    3, so the points of a small cube meet all of them.
    """
    points = np.array(list(product(range(-3, 4), repeat=m)))
    sides = points @ corners(m).T
    points, sides = points[(sides != 0).all(axis=1)], sides[(sides != 0).all(axis=1)] > 0
    _, first = np.unique(sides, axis=0, return_index=True)
    result: FloatArray = points[np.sort(first)].astype(float)
    return result


def corners(m: int) -> FloatArray:
    """Return the corners of the cube, the last coordinate fastest, bit 1 being +1."""
    return np.array(list(product((-1.0, 1.0), repeat=m)))


def corner_log_likelihoods(c: ArrayLike) -> FloatArray:
    """Return log-likelihoods of all joint outputs of M_mean's channels on the corners.

    Parameters
    ----------
    c : array_like of shape (d,), d ≤ 4
        Budgets in [0, ∞), in any order.

    Returns
    -------
    ndarray of shape (2^d, outputs)
        Up to a constant for each output, rows in the order of `corners`.
    """
    order, alpha, _ = increments(c)
    d = order.size
    if order.ndim != 1 or d > _MAX_DIMENSION:
        raise ValueError(
            f"c must be a vector of at most {_MAX_DIMENSION} budgets, got {np.shape(c)}"
        )
    points = corners(d)
    logs = np.zeros((points.shape[0], 1))
    for k in np.flatnonzero(alpha):
        columns = points[:, order[k:]]
        plus, minus = log_half_space_probabilities(1.0, alpha[k])
        factor = np.where(columns @ chambers(d - int(k)).T > 0.0, plus, minus)
        logs = (logs[:, :, None] + factor[:, None, :]).reshape(points.shape[0], -1)
    return logs


def m_mean_corner_levels(c: ArrayLike, prior: ArrayLike) -> FloatArray:
    """Return the exact coordinate levels δ_i of all M_mean channels for a prior on the corners.

    Parameters
    ----------
    c : array_like of shape (d,), d ≤ 4
        Budgets in [0, ∞).
    prior : array_like of shape (2^d,)
        Probabilities of the corners, the last coordinate fastest, bit 1 being +1.
    """
    logs = corner_log_likelihoods(c)
    return bcdp_levels_from_logs([2] * checks.positive_levels("c", c).size, prior, logs)
