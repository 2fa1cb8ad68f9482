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
"""

import math
from collections.abc import Callable, Sequence
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
from explorer.privacy.coordinates.levels import best_certificate
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

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
