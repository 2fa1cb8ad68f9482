"""Parallel designs of M_LDP channels, and second moments of these channels.

**Moments.** `DUCHI` is M_LDP. `PRIV_UNIT` rounds each coordinate afresh to ±1 with the right mean
and sends the corner by PrivUnit with the cap of least error; a single coordinate by randomised
response. Both are α-private in all that they read, so that statements about levels hold for
either.

With V = E Z_i² a report's coordinate has variance V − x_i², and two have covariance −x_i·x_j by
M_LDP and (g/m_c − 1)·x_i·x_j by PrivUnit, which is 0 at the best cap: there g = m_c.

**Designs: any set of channels, each reading a subset of the coordinates.** M_mean is the design of
nested subsets. Disjoint and hybrid designs, such as {1}, {2}, {3…10}, satisfy the same certificate
and are often far better, because a channel's error grows with the number of coordinates it carries
(beyond the paper, no. 3). Of a design, L is the sum of all levels and c_i the sum of the levels of
the channels that contain i; the coupling q_i is needed only over the coordinates that are seen by
channels not containing i.

Subsets are tuples of 0-based coordinates.

**Two groups of coordinates, some sensitive and the others not.** "Best" is the least exact error of
one user's report in the worst case x = 0, channels combined with weights 1/V. It is found by
search: what is returned is a budget that satisfies its constraint, with its exact error; that no
better one exists is not certified.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.channel import (
    SMALLEST_LEVEL,
    gamma_ratio,
    log_moment_at,
    log_moment_limit,
    log_second_moment,
)
from explorer.privacy.coordinates.levels import (
    best_certificate,
    log_mix,
    log_mix_high,
    log_mix_low,
    log_mix_total,
)
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import minimise_interval

DUCHI, PRIV_UNIT = "duchi", "privunit"
CHANNELS = (DUCHI, PRIV_UNIT)


def log_channel_moment(m: ArrayLike, alpha: ArrayLike, channel: str = DUCHI) -> FloatArray:
    """Return log V of a channel for m coordinates at level α, +∞ at α = 0.

    Parameters
    ----------
    m : array_like of int
        Coordinates of one channel, ≥ 1.
    alpha : array_like
        Levels in [0, ∞].
    channel : {"duchi", "privunit"}

    Returns
    -------
    ndarray
        Of the second moment of each coordinate of a report of x ∈ [−1, 1]^m.
    """
    checks.one_of("channel", channel, CHANNELS)
    if channel == DUCHI:
        return log_second_moment(m, alpha)
    return -2.0 * _log_best_cosine(checks.whole("m", m, 1), checks.reals("alpha", alpha, 0.0))


def log_moment_function(m: checks.IntArray, channel: str) -> Callable[[FloatArray], FloatArray]:
    """Return `log_channel_moment` as a function of α ≥ 0, which is not checked: for searches.

    Of PrivUnit interpolated from its values and slopes, within 2e-7 of itself.
    """
    if channel == DUCHI:
        return partial(log_moment_at, log_moment_limit(m))

    def moment(alpha: FloatArray) -> FloatArray:
        sizes = np.broadcast_to(m, alpha.shape)
        result = np.empty(alpha.shape)
        with np.errstate(divide="ignore"):
            log_level = np.log(alpha)
        for size in np.unique(m):
            here = sizes == size
            if size == 1:
                result[here] = log_second_moment(1, alpha[here])
                continue
            curve, low, high = _interpolated_cosine(int(size))
            place = log_level[here]
            # For small levels m_c is in proportion to them.
            beyond = np.minimum(place - low, 0.0)
            result[here] = -2.0 * (curve(np.clip(place, low, high)) + beyond)
        return result

    return moment


@lru_cache(maxsize=512)
def _interpolated_cosine(m: int) -> tuple[Callable[[FloatArray], FloatArray], float, float]:
    """Return log m_c of the best cap as a function of log α, and between which ends."""
    from scipy.interpolate import CubicHermiteSpline

    levels, thresholds = _best_caps(m)
    # Next to 1 caps are no longer distinct as floats, and V is 1 within 1e-7.
    usable = thresholds <= -1e-8
    levels, thresholds = levels[usable], thresholds[usable]
    slopes = -0.5 * log_moment_slope(np.full(levels.size, m), np.exp(levels), PRIV_UNIT)
    return CubicHermiteSpline(levels, thresholds, slopes), float(levels[0]), float(levels[-1])


def log_moment_slope(m: checks.IntArray, alpha: FloatArray, channel: str) -> FloatArray:
    """Return the derivative of `log_channel_moment` in log α."""
    small = np.clip(alpha, 1e-8, 300.0)
    slope: FloatArray = np.where(alpha < 1e-8, 2.0, 2.0 * alpha / np.sinh(small))
    if channel == DUCHI:
        return -slope
    m, alpha, small, slope = (x.copy() for x in np.broadcast_arrays(m, alpha, small, slope))
    for size in np.unique(m[m > 1]):
        # The best cap is where m_c does not change with it: only α does.
        here = m == size
        _, share = _cap(int(size), np.exp(_log_best_cosine(m[here], alpha[here])))
        gain, rest = -np.expm1(-small[here]), np.exp(-small[here])
        slope[here] = 2.0 * small[here] * rest / (gain * (rest + share * gain))
    return -slope


def priv_unit_moments(
    m: int, alpha: float, threshold: float | None = None
) -> tuple[float, float, float, float]:
    """Return g, V, E W² and E Z_iZ_j/(x_i·x_j) of PrivUnit on corners, W the report's unit vector.

    V = 1/m_c², E W_i² = ((m−1)·g·m_c + 1)/m along the input and E Z_iZ_j = (g/m_c)·x_i·x_j.

    Parameters
    ----------
    m : int
        Dimension, ≥ 2.
    alpha : float
        Level in [1e-100, ∞).
    threshold : float, optional
        g in [0, 1), where the cap begins; by default the best one.
    """
    size = int(checks.whole("m", m, 2))
    level = float(checks.reals("alpha", alpha, 1e-100, open_high=True))
    if threshold is None:
        g = math.exp(float(_log_best_cosine(np.array(size), np.array(level))))
    else:
        g = float(checks.reals("threshold", threshold, 0.0, 1.0, open_high=True))
    log_cosine = float(_log_cosine(size, np.array(level), np.array(g)))
    cosine = math.exp(log_cosine)
    with np.errstate(over="ignore"):
        # A cap too small for floats carries no information: infinite.
        V, cross = float(np.exp(-2.0 * log_cosine)), float(g * np.exp(-log_cosine))
    return g, V, ((size - 1) * g * cosine + 1.0) / size, cross


def _log_best_cosine(m: checks.IntArray, alpha: FloatArray) -> FloatArray:
    """Return log m_c at the best cap, which is also log g there."""
    m, alpha = np.broadcast_arrays(m, alpha)
    result = np.empty(alpha.shape)
    for size in np.unique(m):
        here = m == size
        level = alpha[here]
        if size == 1:
            result[here] = -0.5 * log_second_moment(1, level)
            continue
        levels, thresholds = _best_caps(int(size))
        with np.errstate(divide="ignore"):
            g = np.exp(np.interp(np.log(level), levels, thresholds))
        # dm_c/dg = 0 where g = m_c, so that this step squares the error.
        g = np.minimum(np.exp(_log_cosine(int(size), level, g)), math.exp(thresholds[-1]))
        result[here] = _log_cosine(int(size), level, g)
    return result


@lru_cache(maxsize=512)
def _best_caps(m: int) -> tuple[FloatArray, FloatArray]:
    """Return log α and log g of best caps.

    g = m_c = K(e^α−1)/(1 + c(e^α−1)) means e^α − 1 = g/(K − g·c).
    """
    g = np.concatenate([np.geomspace(1e-12, 0.5, 400), 1.0 - np.geomspace(0.49, 5e-11, 600)])
    above, share = _cap(m, g)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        levels = np.log(np.log1p(g / (above - g * share)))
        rising = np.isfinite(levels) & (np.diff(levels, prepend=-math.inf) > 0.0)
    # Where the cap is too small for floats its level can't be told, and is beyond all use.
    end = g.size if rising.all() else int(np.argmin(rising))
    return levels[:end], np.log(g[:end])


def _cap(m: int, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K = E[W; W ≥ g] and c = P(W ≥ g), W a coordinate of a uniform unit vector."""
    from scipy.special import betainc

    left = (1.0 - g) * (1.0 + g)
    above = left ** ((m - 1) / 2) / (2.0 * math.sqrt(math.pi) * float(gamma_ratio(m)))
    return above, np.asarray(betainc((m - 1) / 2, 0.5, left)) / 2.0


def _log_cosine(m: int, alpha: FloatArray, g: FloatArray) -> FloatArray:
    """Return log m_c of the cap from g: m_c = K(e^α−1)/(1 + c(e^α−1)); −∞ at α = 0."""
    above, share = _cap(m, g)
    gain = -np.expm1(-alpha)
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(above) + np.log(gain) - np.log(np.exp(-alpha) + share * gain)
    return result


Subset = Sequence[int]


def incidence(d: int, subsets: Sequence[Subset]) -> FloatArray:
    """Return the 0/1 matrix (coordinates × channels) of a design, refusing impossible subsets."""
    count = int(checks.whole("d", d, 1))
    matrix = np.zeros((count, len(subsets)))
    for j, subset in enumerate(subsets):
        members = checks.whole(f"subsets[{j}]", list(subset), 0, count - 1)
        if members.size == 0 or np.unique(members).size != members.size:
            raise ValueError(f"subsets[{j}] must be distinct coordinates, got {list(subset)}")
        matrix[members, j] = 1.0
    return matrix


def active_levels(subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return the levels of a design's channels, those too small to report anything being 0."""
    levels = checks.reals("alphas", alphas, 0.0, open_high=True)
    if levels.ndim == 0 or levels.shape[-1] != len(subsets):
        raise ValueError(
            f"alphas must have one level a subset, {len(subsets)}, got shape {levels.shape}"
        )
    return np.where(levels < SMALLEST_LEVEL, 0.0, levels)


def design_cdp(d: int, subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return c_i, the sum of the levels of the channels that contain i, shape (…, d)."""
    result: FloatArray = active_levels(subsets, alphas) @ incidence(d, subsets).T
    return result


def design_ldp(subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return L, the sum of the levels of all channels, shape (…)."""
    result: FloatArray = active_levels(subsets, alphas).sum(axis=-1)
    return result


def design_bcdp(d: int, subsets: Sequence[Subset], alphas: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return the certified coordinate levels log((1−q_i)e^{c_i} + q_i·e^L), shape (…, d)."""
    return best_certificate(design_cdp(d, subsets, alphas), q, design_ldp(subsets, alphas))


def design_mse(
    d: int,
    subsets: Sequence[Subset],
    alphas: ArrayLike,
    x2: ArrayLike = 0.0,
    channel: str = DUCHI,
) -> FloatArray:
    """Return the exact error of one user's combined report, summed over coordinates.

    Channels are combined with weights 1/V, which minimise the error at x = 0.

    Parameters
    ----------
    d, subsets, alphas : the design
        alphas of shape (…, number of channels), in [0, ∞).
    x2 : array_like of shape (…, d) or ()
        Squares of the coordinates in [0, 1]; averages of squares give the average over users.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Returns
    -------
    ndarray of shape (…)
        Σ_i (Σ_j a_ij²·V_j − x_i²·Σ_j a_ij²); infinite if a coordinate is in no active channel.
    """
    levels = active_levels(subsets, alphas)
    x2 = checks.reals("x2", x2, 0.0, 1.0)
    members = incidence(d, subsets)
    weights = np.exp(-log_channel_moment(members.sum(axis=0).astype(np.int64), levels, channel))
    totals = weights @ members.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Weights are squared relative to their total, which keeps tiny ones from underflowing.
        share = weights[..., None, :] * members / totals[..., None]
        squares = np.where(totals > 0.0, (share**2).sum(axis=-1), 0.0)
        errors = (1.0 / totals - x2 * squares).sum(axis=-1)
    result: FloatArray = np.maximum(errors, 0.0)
    return result


CONSTRAINTS = ("paper", "exact")
# Below this share of what is allowed, a channel's weight is beyond the resolution of a float.
_SMALLEST_SHARE = 1e-6


@dataclass(frozen=True)
class TwoLevels:
    """Budgets of k sensitive and d − k other coordinates, arrays over the swept parameters.

    Attributes
    ----------
    mse : ndarray
        Exact error of one user's report at x = 0; divide by n. Infinite if there is no estimate.
    c_sensitive, c_rest : ndarray
        Budgets; c_rest is also the total level L.
    """

    mse: FloatArray
    c_sensitive: FloatArray
    c_rest: FloatArray


def best_two_levels(
    d: ArrayLike,
    k: ArrayLike,
    level: ArrayLike,
    eps: ArrayLike,
    q: ArrayLike,
    constraint: str = "exact",
    channel: str = DUCHI,
) -> TwoLevels:
    """Return the budgets (a on k coordinates, L on the others) of least error.

    Parameters
    ----------
    d, k : array_like of int
        Coordinates, and sensitive ones, 1 ≤ k ≤ d.
    level : array_like
        Coordinate level δ_i ≥ 0 demanded for the sensitive ones; the others demand ε.
    eps : array_like
        Total level in [0, ∞).
    q : array_like
        Coupling in [0, 1].
    constraint : {"paper", "exact"}
        Proposition 4, part 2, which is what choosing the best ζ amounts to; or the best
        certificate log((1−q)e^a + q·e^L) ≤ δ.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Notes
    -----
    a may be best below what is allowed, if few coordinates are sensitive and δ is not far below
    ε: a smaller a leaves more to the channel that does not carry them.
    """
    checks.one_of("constraint", constraint, CONSTRAINTS)
    d, k = checks.whole("d", d, 1), checks.whole("k", k, 1)
    checks.at_most("k", k, "d", d, 1)
    eps = checks.reals("eps", eps, 0.0, open_high=True)
    level = np.minimum(checks.reals("level", level, 0.0), eps)
    q = checks.reals("q", q, 0.0, 1.0)
    d, k, level, eps, q = np.broadcast_arrays(d, k, level, eps, q)
    highest = np.maximum(np.minimum(eps, log_mix_high(q, level)), level)
    highest = np.where(k == d, level, highest)
    shape, total, count, few, low, share_q = (
        level.shape,
        highest[..., None],
        d[..., None],
        k[..., None],
        level[..., None],
        q[..., None],
    )

    def budgets(u: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        top = np.where(u >= 1.0, total, low + (total - low) * np.sin(0.5 * math.pi * u) ** 2)
        if constraint == "paper":
            allowed = np.where(top <= low, top, low - log_mix(share_q, 0.0, top))
        else:
            allowed = log_mix_low(share_q, low, top)
        with np.errstate(invalid="ignore"):
            allowed = np.where(allowed > 0.0, allowed, 0.0)
        return allowed * _SMALLEST_SHARE ** (1.0 - s), top

    everything = log_moment_function(count, channel)
    others = log_moment_function(np.maximum(count - few, 1), channel)
    with np.errstate(divide="ignore"):
        log_few, log_others = np.log(few), np.log(count - few)

    def log_error(a: FloatArray, top: FloatArray) -> FloatArray:
        first = -everything(a)
        second = -others(np.maximum(top - a, 0.0))
        with np.errstate(invalid="ignore"):
            rest = log_others - np.logaddexp(first, second)
        rest = np.where(few == count, -np.inf, rest)
        return np.asarray(np.logaddexp(log_few - first, rest))

    # A larger total never hurts, so either a is all that a total allows or the total is the highest
    # (or, as the paper's constraint allows less just above the least total, that one).
    edges = np.array([-1.0, 1.0] if constraint == "exact" else [-1.0, 1.0, 0.0])
    edge = edges.reshape(-1, *(1,) * (level.ndim + 1))

    def on_edges(place: FloatArray) -> tuple[FloatArray, FloatArray]:
        return budgets(np.where(edge < 0.0, place, edge), np.where(edge < 0.0, 1.0, place))

    place, values = minimise_interval(lambda u: log_error(*on_edges(u)), (edges.size, *shape), 129)
    best = np.argmin(values, axis=0)[None]
    a, top, value = (
        np.take_along_axis(np.broadcast_to(array, values.shape), best, axis=0)[0]
        for array in (*(edge[..., 0] for edge in on_edges(place[..., None])), values)
    )
    with np.errstate(over="ignore"):
        mse = np.exp(value)
    # A coordinate with level 0 is never reported, but the others may still be.
    nothing = level == 0.0
    return TwoLevels(
        np.where(nothing, np.inf, mse),
        np.where(nothing, 0.0, a),
        np.where(nothing, np.where(q == 0.0, eps, 0.0), top),
    )


# Channels of the sensitive and of the other coordinates: one for all of a kind, or one for each.
LAYOUTS = ("one channel", "groups", "singles and group", "group and singles", "singles")


@dataclass(frozen=True)
class DisjointTwoLevels:
    """Levels of disjoint channels for k sensitive and d − k other coordinates.

    Attributes
    ----------
    mse : ndarray
        Exact error of one user's report at x = 0; divide by n.
    alpha_sensitive, alpha_rest : ndarray
        Level of each channel of the kind.
    layout : ndarray of int
        Index into `LAYOUTS`; in the first everything is in one channel of both levels.
    """

    mse: FloatArray
    alpha_sensitive: FloatArray
    alpha_rest: FloatArray
    layout: checks.IntArray


def best_two_levels_disjoint(
    d: int, k: int, level: ArrayLike, eps: ArrayLike, q: ArrayLike, channel: str = DUCHI
) -> DisjointTwoLevels:
    """Return the best disjoint design for k sensitive coordinates, for many parameters at once.

    For each layout the total level follows from the sensitive channels' level a, as the exact
    constraint is tight: L = a + log(1 + (e^{δ−a} − 1)/q), at most ε. What is left goes to the other
    channels, and the error is convex in a. Parameters as in `best_two_levels`, d and k scalar.
    """
    d, k = int(checks.whole("d", d, 1)), int(checks.whole("k", k, 1, float(d)))
    eps = checks.reals("eps", eps, 0.0, open_high=True)
    level = np.minimum(checks.reals("level", level, 0.0), eps)
    level, eps, q = np.broadcast_arrays(level, eps, checks.reals("q", q, 0.0, 1.0))
    low, most, coupling = level[..., None], eps[..., None], q[..., None]
    rest = d - k
    # The layouts of more than one channel side by side, along the first axis: channels of the
    # sensitive coordinates, channels of the others.
    along = (4, *(1,) * (level.ndim + 1))
    first = np.array([1, k, 1, k]).reshape(along)
    second = np.maximum(np.array([1, 1, rest, rest]), 1).reshape(along)

    own = log_moment_function(k // first, channel)
    other = log_moment_function(np.maximum(rest // second, 1), channel)
    log_k, log_rest = math.log(k), math.log(max(rest, 1))

    def levels(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        a = low * _SMALLEST_SHARE ** (1.0 - u)
        total = np.minimum(most, log_mix_total(coupling, low, a))
        return a, (total - first * a) / second

    def log_error(u: FloatArray) -> FloatArray:
        a, b = levels(u)
        value = log_k + own(a)
        if rest:
            value = np.logaddexp(value, log_rest + other(np.maximum(b, 0.0)))
        return np.where(b >= 0.0, value, np.inf)

    u, value = minimise_interval(log_error, (4, *level.shape), 129)
    a, b = (array[..., 0] for array in levels(u[..., None]))
    one = math.log(d) + log_moment_function(np.array(d), channel)(level)
    errors = np.concatenate([one[None], value])
    shares = np.concatenate([level[None], a])
    others = np.concatenate([level[None], b if rest else np.zeros_like(b)])
    best = np.argmin(errors, axis=0)[None]
    error, a, b = (np.take_along_axis(array, best, axis=0)[0] for array in (errors, shares, others))
    with np.errstate(over="ignore"):
        return DisjointTwoLevels(np.exp(error), a, b, best[0])
