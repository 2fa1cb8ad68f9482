"""Budget vectors c for M_mean: Theorem 2, its best ζ, and the largest vector of a total level L.

A demand is a vector of *coordinate levels* δ_i: what may be learnt about coordinate i by somebody
whose beliefs couple the coordinates by at most q in total variation. These δ_i are privacy
levels of BCDP and have nothing to do with the δ of approximate differential privacy. Everything
is in nats; arrays carry the coordinate on their last axis and broadcast on the others.

**Best ζ, and rounding to fewer levels.** "Best" is the least exact error of one user's report in
the worst case x = 0, channels combined with weights 1/V.

**Errors at a budget**: the paper's bounds, and the error of the projected average.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.designs import DUCHI, log_channel_moment
from explorer.privacy.coordinates.levels import log_mix, log_mix_high, log_mix_low
from explorer.privacy.coordinates.mean import increments, m_mean_variances
from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.roots import minimise_interval

_SNAP = 1e-12


def effective_levels(coordinate_levels: ArrayLike, eps: ArrayLike) -> FloatArray:
    """Return δ̃_i = min(δ_i, ε): an ε-LDP mechanism is ε-BCDP in every coordinate (Prop. 3)."""
    levels = checks.positive_levels("coordinate_levels", coordinate_levels)
    eps = checks.reals("eps", eps, 0.0)
    result: FloatArray = np.minimum(levels, eps[..., None])
    return result


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
    q = checks.reals("q", q, 0.0, 1.0)
    return budget_of_couplings(coordinate_levels, eps, q[..., None], zeta)


def budget_of_couplings(
    coordinate_levels: ArrayLike, eps: ArrayLike, couplings: ArrayLike, zeta: ArrayLike
) -> FloatArray:
    """Return Theorem 2's budget where every coordinate has a bound q_i on its own coupling.

    The theorem's proof needs q_i only in the level of coordinate i. It carries over with the
    largest total c_d ≤ max δ̃ for which log(1 + q_i(e^{c_d} − 1)) ≤ ζδ̃_i, except where c_d ≤ δ̃_i
    and i is not of the lowest level: there the level of the whole report is small enough. Then
    c_i = c_d where c_d ≤ δ̃_i, else δ̃_i − log(1 + q_i(e^{c_d} − 1)), which Proposition 4, part 2
    certifies. With equal q_i it is equation (16).

    Parameters
    ----------
    coordinate_levels, eps, zeta : as in `budget_vector`
    couplings : array_like of shape (…, d) or (…, 1)
        Bounds q_i in [0, 1], public.

    Returns
    -------
    ndarray of shape (…, d)
    """
    levels = effective_levels(coordinate_levels, eps)
    q = checks.reals("couplings", couplings, 0.0, 1.0)
    zeta = checks.reals("zeta", zeta, 0.0, 1.0, open_low=True)
    levels, q, zeta = np.broadcast_arrays(levels, q, zeta[..., None])
    lowest = levels.min(axis=-1, keepdims=True)
    most = log_mix_high(q, zeta * levels)
    most = np.where(levels > lowest, np.maximum(most, levels), most)
    top = np.minimum(most.min(axis=-1, keepdims=True), levels.max(axis=-1, keepdims=True))
    near = (levels < top) & (top <= levels * (1.0 + _SNAP))
    top = np.minimum(top, np.where(near, levels, np.inf).min(axis=-1, keepdims=True))
    c = _spent_at(top, levels, q)
    result: FloatArray = np.where((q == 0.0).all(axis=-1, keepdims=True), levels, c)
    return result


def _spent_at(top: FloatArray, levels: FloatArray, q: FloatArray) -> FloatArray:
    """Return the budgets that Proposition 4, part 2 allows at a total level."""
    with np.errstate(invalid="ignore"):
        # Where both are infinite the other branch is taken.
        rest = np.maximum(levels - log_mix(q, 0.0, top), 0.0)
    return np.where(top <= levels, top, rest)


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


# More distinct levels than this are rounded down before a search.
_MAX_LEVELS = 64


@dataclass(frozen=True)
class ZetaAllocation:
    """The best free parameter of Theorem 2, arrays over the swept couplings.

    Attributes
    ----------
    zeta : ndarray of shape (…)
    c : ndarray of shape (…, d)
        `budget_vector` at that ζ, unless truncated.
    mse : ndarray of shape (…)
        Exact error of one user's report at x = 0; divide by n.
    truncated : bool
        Demands were rounded down to 64 levels to keep the search short: the guarantee holds, the
        error may be larger than it could be.
    """

    zeta: FloatArray
    c: FloatArray
    mse: FloatArray
    truncated: bool = False


def best_zeta(
    coordinate_levels: ArrayLike, eps: float, q: ArrayLike, channel: str = DUCHI
) -> ZetaAllocation:
    """Return the ζ of Theorem 2 of least exact error.

    The paper's heuristic ζ = (1+q)/2 is worse than min δ-LDP for most q (errata coord-A2); this
    never is, since at ζ_0 the budget of Theorem 2 is that of min δ-LDP.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Demanded levels δ_i in [0, ∞].
    eps : float
        Total level in [0, ∞).
    q : array_like of shape (…)
        Couplings in [0, 1].
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.
    """
    checks.reals("eps", eps, 0.0, open_high=True)
    levels = effective_levels(coordinate_levels, eps)
    if levels.ndim != 1:
        raise ValueError(f"coordinate_levels must be a vector, got shape {levels.shape}")
    q = checks.reals("q", q, 0.0, 1.0)
    distinct, place, counts = rounded_levels(levels, _MAX_LEVELS)
    least = distinct[0]
    if least == 0.0:
        c = np.where((q == 0.0)[..., None], levels, 0.0)
        return ZetaAllocation(np.ones(q.shape), c, np.full(q.shape, np.inf))
    highest = np.minimum(distinct[-1], log_mix_high(q, least))[..., None]

    def budget(top: FloatArray) -> FloatArray:
        """Return c by level for totals of shape (…, k), shape (…, k, levels)."""
        wide, coupling = top[..., None], q[..., None, None]
        return np.where(coupling == 0.0, distinct, _spent_at(wide, distinct, coupling))

    def log_error(top: FloatArray) -> FloatArray:
        return grouped_log_mse(budget(top), counts, channel)

    u, value = minimise_interval(
        lambda place: log_error(least + (highest - least) * place), q.shape, 257
    )
    top = least + (highest[..., 0] - least) * u
    # The error jumps where the total passes a level, so the levels themselves are tried as well.
    steps = np.minimum(np.broadcast_to(distinct, (*q.shape, distinct.size)), highest)
    at_steps = log_error(steps)
    best = np.argmin(at_steps, axis=-1)[..., None]
    step_value = np.take_along_axis(at_steps, best, axis=-1)[..., 0]
    top = np.where(step_value <= value, np.take_along_axis(steps, best, axis=-1)[..., 0], top)
    zeta = np.clip(log_mix(q, 0.0, top) / least, np.finfo(float).tiny, 1.0)
    with np.errstate(over="ignore"):
        mse = np.exp(np.minimum(value, step_value))
    return ZetaAllocation(
        np.where(q == 0.0, 1.0, zeta),
        budget(top[..., None])[..., 0, :][..., place],
        mse,
        bool((distinct[place] < levels).any()),
    )


def best_budget_of_couplings(
    coordinate_levels: ArrayLike,
    eps: float,
    couplings: ArrayLike,
    channel: str = DUCHI,
    *,
    exact: bool = False,
) -> ZetaAllocation:
    """Return the budget of least exact error among the largest that a total level allows.

    By default that of `budget_of_couplings` at its best ζ.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Demanded levels δ_i in [0, ∞].
    eps : float
        Total level in [0, ∞).
    couplings : array_like of shape (d,)
        Bounds q_i in [0, 1], public.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.
    exact : bool
        By the exact constraint, `budget_at_total`, in place of Proposition 4, part 2.

    Returns
    -------
    ZetaAllocation
        Of one demand: ζ is the least that allows the budget's total level.
    """
    checks.reals("eps", eps, 0.0, open_high=True)
    levels = effective_levels(coordinate_levels, eps)
    q = checks.reals("couplings", couplings, 0.0, 1.0)
    if levels.ndim != 1 or q.shape != levels.shape:
        raise ValueError(
            f"coordinate_levels and couplings must be vectors of one length, got shapes "
            f"{levels.shape} and {q.shape}"
        )
    if levels.min() == 0.0:
        c = np.where((q == 0.0).all(), levels, 0.0)
        return ZetaAllocation(np.ones(()), c, np.full((), np.inf))
    # Different budgets are channels of their own, so that a larger coupling may err less.
    same, below = levels[:, None] == levels, levels < levels.max()
    of_level = np.where(same, q, 0.0).max(axis=-1)
    of_all = np.full(q.size, q[below].max() if below.any() else 0.0)
    found = [_best_total(levels, x, channel, exact) for x in (q, of_level, of_all)]
    return min(found, key=lambda one: float(one.mse))


def _best_total(levels: FloatArray, q: FloatArray, channel: str, exact: bool) -> ZetaAllocation:
    """Return the best budget over total levels, with one bound on the coupling a coordinate."""
    (demanded, coupling), place, counts = np.unique(
        np.stack([levels, q]), axis=1, return_inverse=True, return_counts=True
    )
    least = demanded[0]
    most = np.maximum(log_mix_high(coupling, demanded), demanded)
    highest = min(float(demanded[-1]), float(most.min()))

    def spent(top: FloatArray) -> FloatArray:
        if not exact:
            return _spent_at(top, demanded, coupling)
        return np.nan_to_num(log_mix_low(coupling, demanded, top), nan=0.0)

    def log_error(top: FloatArray) -> FloatArray:
        c = spent(top[..., None])
        order = np.argsort(c, axis=-1, kind="stable")
        return grouped_log_mse(np.take_along_axis(c, order, axis=-1), counts[order], channel)

    u, _ = minimise_interval(lambda at: log_error(least + (highest - least) * at), (), 257)
    # The error jumps where the total passes a level, so the levels themselves are tried as well.
    tops = np.append(np.minimum(demanded, highest), least + (highest - least) * u)
    values = log_error(tops)
    top = tops[np.argmin(values)]
    needed = (demanded < top) if (demanded < top).any() else demanded == least
    zeta = float((log_mix(coupling, 0.0, top) / demanded)[needed].max())
    c = spent(np.array([top]))[place.reshape(-1)]
    with np.errstate(over="ignore"):
        return ZetaAllocation(np.clip(zeta, np.finfo(float).tiny, 1.0), c, np.exp(values.min()))


def grouped_log_mse(c: FloatArray, counts: checks.IntArray, channel: str = DUCHI) -> FloatArray:
    """Return the logarithm of M_mean's worst-case error for budgets shared by groups.

    Parameters
    ----------
    c : ndarray of shape (…, groups)
        Non-decreasing budgets.
    counts : ndarray of int, shape (groups,) or (…, groups)
        Coordinates in each group.
    """
    alpha = np.diff(c, axis=-1, prepend=0.0)
    sizes = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    moments = log_channel_moment(sizes, np.maximum(alpha, 0.0), channel)
    totals = np.logaddexp.accumulate(-moments, axis=-1)
    result: FloatArray = np.logaddexp.reduce(np.log(counts) - totals, axis=-1)
    return result


def best_nested_rounding(c: ArrayLike, groups: int) -> FloatArray:
    """Return a budget of at most `groups` distinct values, nowhere above c, of small error.

    Each distinct value is a channel that every user must send, so a vector of a hundred different
    budgets is worth rounding. Adjacent values are merged, the pair that costs least first, as long
    as there are too many or as it lowers the error: often it does, since small increments are
    nearly worthless.

    Parameters
    ----------
    c : array_like of shape (d,)
        Budgets in [0, ∞).
    groups : int
        Distinct values wanted at most, ≥ 1.
    """
    c = checks.positive_levels("c", checks.reals("c", c, 0.0, open_high=True))
    most = int(checks.whole("groups", groups, 1))
    if c.ndim != 1:
        raise ValueError(f"c must be a vector, got shape {c.shape}")
    silent = c == 0.0
    if silent.all():
        return c
    if silent.any():
        # Coordinates without a report stay so and no other joins them, unless there is no choice.
        result = np.zeros_like(c)
        if most > 1:
            result[~silent] = best_nested_rounding(c[~silent], most - 1)
        return result
    values, place, counts = rounded_levels(c, 128)
    while values.size > 1:
        # Row j − 1 drops value j, whose coordinates join those of the value below.
        rows = [np.flatnonzero(np.arange(values.size) != j) for j in range(1, values.size)]
        candidates = np.stack([values[row] for row in rows])
        sizes = np.stack([np.add.reduceat(counts, row) for row in rows])
        errors = grouped_log_mse(candidates, sizes)
        best = int(np.argmin(errors))
        if values.size <= most and errors[best] >= grouped_log_mse(values, counts):
            break
        values, counts = candidates[best], sizes[best]
        place = np.where(place > best, place - 1, place)
    return values[place]


def rounded_levels(
    levels: FloatArray, most: int
) -> tuple[FloatArray, checks.IntArray, checks.IntArray]:
    """Return at most `most` distinct levels, rounded down, each level's members and their number.

    Rounding a demanded level or a budget down only strengthens the guarantee.

    Returns
    -------
    values : ndarray of shape (groups,), increasing
    place : ndarray of int, shape of `levels`
        Index into `values`.
    counts : ndarray of int, shape (groups,)
    """
    distinct, place = np.unique(levels, return_inverse=True)
    start = np.unique(
        np.linspace(0, distinct.size, min(distinct.size, most), endpoint=False).astype(np.int64)
    )
    place = np.searchsorted(start, place, side="right") - 1
    return distinct[start], place, np.bincount(place)


def theorem3_r2(c: ArrayLike) -> FloatArray:
    """Return r² = Σ_i 1/Σ_{k≤i} (c_k − c_{k−1})²/(d−k+1) of Theorems 2 and 3, shape (…).

    Infinite if any c_i = 0. Theorem 3 states it for c although its copies have c/2 (errata
    coord-B13).
    """
    _, alpha, m = increments(c)
    with np.errstate(divide="ignore", over="ignore"):
        # In logarithms, so that no square underflows beside a larger one.
        logs = np.logaddexp.accumulate(2.0 * np.log(alpha) - np.log(m), axis=-1)
        result: FloatArray = np.exp(-logs).sum(axis=-1)
    return result


def theorem2_bound(c: ArrayLike, n: ArrayLike) -> FloatArray:
    """Return (17) without its unknown constant: min(r²/n, d).

    Not an upper bound on anything by itself. Its claim needs increments of order 1 at most: the
    true error does not vanish as they grow, and is 5.99 times this at c = 0.1·1, 558 times at
    20·1 (d = 10; errata coord-A3). The cap d needs the average to be projected.
    """
    n = checks.reals("n", n, 1.0, open_high=True)
    result: FloatArray = np.minimum(theorem3_r2(c) / n, float(np.shape(c)[-1]))
    return result


def theorem3_bound(c: ArrayLike, n: ArrayLike, radius: ArrayLike) -> FloatArray:
    """Return Theorem 3's excess risk of private regression, without its unknown constant.

    (R² + R)·min((log d/√n)(r² + r·d), d) over a ball of radius R: an order of magnitude. Stated for
    c although the copies have c/2, which costs a factor of 4 or more in r² (errata coord-B13).

    Parameters
    ----------
    c : array_like of shape (…, d)
        Budgets of features and label, d ≥ 2.
    n, radius : array_like of shape (…)
        Users, ≥ 1; radius of the ball of coefficients, in [0, ∞).
    """
    n = checks.reals("n", n, 1.0, open_high=True)
    radius = checks.reals("radius", radius, 0.0, open_high=True)
    r2, d = theorem3_r2(c), float(np.shape(c)[-1])
    if d < 2:
        raise ValueError("c must have at least a feature and a label, got one coordinate")
    with np.errstate(over="ignore"):
        rate = np.minimum(math.log(d) / np.sqrt(n) * (r2 + np.sqrt(r2) * d), d)
        result: FloatArray = (radius**2 + radius) * rate
    return result


def corollary1_bound(
    n: ArrayLike, d: ArrayLike, k: ArrayLike, level: ArrayLike, eps: ArrayLike, q: ArrayLike
) -> tuple[checks.IntArray, FloatArray]:
    """Return which case of Corollary 1 applies, and its bound without the unknown constant.

    Parameters
    ----------
    n, d, k : array_like of int
        Users; coordinates; sensitive coordinates, 1 ≤ k ≤ d.
    level, eps : array_like
        Level δ > 0 of the sensitive coordinates; ε > 0 (the corollary assumes ε > 2δ).
    q : array_like
        Coupling in [0, 1].

    Returns
    -------
    case : ndarray of int
        1 for (18), where q is at most `corollary1_threshold`, else 2 for (19).
    bound : ndarray

    Notes
    -----
    Its proof of case 2 is wrong for q > 1/(e^{δ/2}+1), where (16) gives c_1 = c_d; (19) survives
    as an order of magnitude (errata coord-A4).
    """
    n = checks.reals("n", n, 1.0, open_high=True)
    d = checks.whole("d", d, 1).astype(float)
    k = checks.whole("k", k, 1).astype(float)
    checks.at_most("k", k, "d", d, 1)
    level = checks.positive("level", level)
    eps = checks.positive("eps", eps)
    q = checks.reals("q", q, 0.0, 1.0)
    first = q <= corollary1_threshold(level, eps)
    top = np.where(first, 0.0, log_mix_high(q, level / 2.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sensitive = d * k / level**2
        rest = np.where(
            first,
            (d - k) ** 2 / eps**2,
            (d - k) ** 2 / ((d - k) / d * level**2 + (top - level / 2.0) ** 2),
        )
        rest = np.where(d == k, 0.0, rest)
    return np.where(first, 1, 2), (sensitive + rest) / n


def clipped_normal_mse(mu: ArrayLike, sigma: ArrayLike) -> FloatArray:
    """Return E(clip(X, −1, 1) − μ)² for X ~ N(μ, σ²): the error of a projected average.

    Parameters
    ----------
    mu : array_like
        True mean in [−1, 1].
    sigma : array_like
        Standard deviation in [0, ∞].
    """
    from scipy.special import ndtr

    mu = checks.reals("mu", mu, -1.0, 1.0)
    sigma = checks.reals("sigma", sigma, 0.0)
    mu, sigma = np.broadcast_arrays(mu, sigma)
    # Below the smallest scale the average is exact for every purpose; above the largest it is ±1.
    scale = np.clip(sigma, 1e-150, 1e150)
    left, right = (-1.0 - mu) / scale, (1.0 - mu) / scale
    outside = (1.0 + mu) ** 2 * ndtr(left) + (1.0 - mu) ** 2 * ndtr(-right)
    root = math.sqrt(2.0 * math.pi)
    with np.errstate(under="ignore"):
        densities = (right * np.exp(-0.5 * right**2) - left * np.exp(-0.5 * left**2)) / root
        wide = scale**2 * (ndtr(right) - ndtr(left) - densities)
        # For large σ the difference above cancels; a short interval is integrated instead.
        nodes, weights = np.polynomial.legendre.leggauss(24)
        distance = nodes - mu[..., None]
        narrow = (distance**2 * np.exp(-0.5 * (distance / scale[..., None]) ** 2)) @ weights
        narrow = narrow / (scale * root)
    result: FloatArray = np.where(sigma == 0.0, 0.0, outside + np.where(scale > 1.0, narrow, wide))
    return result


def projected_mse(
    xbar: ArrayLike, x2bar: ArrayLike, c: ArrayLike, n: ArrayLike, rule: str = "paper"
) -> FloatArray:
    """Return the error of the projected average if the average is normal: an estimate.

    Each coordinate's average has exact mean x̄_i and variance; its law is taken as normal, which
    the central limit theorem gives for large n. A coordinate with c_i = 0 counts as its limit, an
    average clipped to ±1 with probability ½ each.

    Parameters
    ----------
    xbar, x2bar : array_like of shape (…, d) or ()
        Averages of x_i and of x_i² over the users.
    c, n, rule : as in `m_mean_mse`
    """
    xbar = checks.reals("xbar", xbar, -1.0, 1.0)
    x2bar = checks.reals("x2bar", x2bar, 0.0, 1.0)
    n = checks.reals("n", n, 1.0, open_high=True)
    variances = m_mean_variances(np.sqrt(x2bar), c, rule) / n[..., None]
    result: FloatArray = clipped_normal_mse(xbar, np.sqrt(np.maximum(variances, 0.0))).sum(axis=-1)
    return result
