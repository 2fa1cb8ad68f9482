"""M_LDP and M_mean for a release: the one bit that depends on a record is drawn exactly.

A report is B·g/‖g‖ or its opposite. The direction g is drawn without looking at the record, so all
of a report's privacy is in one bit: on which side of the record's half-space it lies. The guarantee
holds for every direction, even a public one; hence directions and the final product may
be floating-point numbers, and only the bit needs whole numbers and the system's random source.

With p the probability that the bit is the true one, a record is α-LDP if and only if
p/(1−p) ≤ e^α. p is a fraction k/2⁶², and k is cut at the largest whole number with
k/(2⁶² − k) ≤ 1 + α + … + α^j/j! ≤ e^α and, for lies, at its complement. What rounding does to p
below these limits (at most 2⁻⁵²) changes the mean of a report by as little and its privacy not at
all.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.coordinates.channel import m_ldp_radius, normals
from explorer.privacy.coordinates.sampling import MeanEstimate, m_mean_channels
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import BitSource, uniform_below

MAX_LEVEL = 30
"""Largest level of a channel that is released."""
LEVEL_GRAIN = 1 << 40
"""Levels are rounded down to multiples of 2⁻⁴⁰."""
_WIDTH = 62


def exact_level(alpha: float | Fraction) -> Fraction:
    """Return the largest multiple of 2⁻⁴⁰ that is at most α.

    Raises
    ------
    ValueError
        Unless 2⁻⁴⁰ ≤ α ≤ 30.
    """
    if not (math.isfinite(alpha) and Fraction(1, LEVEL_GRAIN) <= Fraction(alpha) <= MAX_LEVEL):
        raise ValueError(f"alpha: {alpha} is outside [2^-40, {MAX_LEVEL}]")
    return Fraction(math.floor(Fraction(alpha) * LEVEL_GRAIN), LEVEL_GRAIN)


def largest_truth(alpha: Fraction, width: int = _WIDTH) -> int:
    """Return the largest k for which k/(2^width − k) is proved to be at most e^α.

    e^α is replaced by a partial sum of its series, all of whose terms are positive: an error in the
    safe direction, of less than 2⁻¹⁰⁰ of it.
    """
    total, term, j = Fraction(1), Fraction(1), 0
    while term * (1 << 100) > total or j < alpha:
        j += 1
        term = term * alpha / j
        total += term
    # The sum is itself shortened from below, or the fractions grow without need.
    short = Fraction(math.floor(total * (1 << 120)), 1 << 120)
    return math.floor((1 << width) * short / (1 + short))


def truth_counts(share: ArrayLike, alpha: Fraction, width: int = _WIDTH) -> NDArray[np.int64]:
    """Return k, where the reported bit is the true one with probability k/2^width.

    Parameters
    ----------
    share : array_like of float
        ‖v‖/r of each record; above 1 counts as 1, and anything that is no number as 0.
    alpha : Fraction
        Level.
    width : int
        Bits of the denominator, 2 to 62.
    """
    top = largest_truth(alpha, width)
    half = 1 << (width - 1)
    part = np.clip(np.nan_to_num(np.asarray(share, dtype=float), nan=0.0), 0.0, 1.0)
    # Between ½ and the top; cut once more as whole numbers, whatever rounding did before.
    count = half + np.floor(part * float(top - half)).astype(np.int64)
    return np.asarray(np.clip(count, half, top))


def exact_signs(
    towards: NDArray[np.bool_],
    share: ArrayLike,
    alpha: Fraction,
    bits: BitSource,
    width: int = _WIDTH,
) -> FloatArray:
    """Return ±1 for every row: the sign that turns a direction into a report.

    Parameters
    ----------
    towards : ndarray of bool, shape (n,)
        Whether the direction lies in the record's half-space. A wrong entry costs accuracy, not
        privacy.
    share, alpha, width
        As in `truth_counts`.
    bits : BitSource
        `SystemBits` for a release.
    """
    truthful = uniform_below(1 << width, towards.size, bits) < truth_counts(share, alpha, width)
    return np.where(towards == truthful, 1.0, -1.0)


def exact_m_ldp(v: ArrayLike, alpha: float | Fraction, r: float, bits: BitSource) -> FloatArray:
    """Draw one report of each row for a release: α-LDP with no condition on rounding.

    Parameters
    ----------
    v : array_like of shape (n, m)
        Records; norms above r are treated as r.
    alpha : float or Fraction
        Level in [2⁻⁴⁰, 30], rounded down to a multiple of 2⁻⁴⁰.
    r : float
        Radius of the ball of records, > 0; public.
    bits : BitSource
        `SystemBits` for a release. Directions come from a generator that it seeds.

    Returns
    -------
    ndarray, shape (n, m)
        On the sphere of radius B(m, r, α); mean v up to 2⁻⁵⁰ B.

    References
    ----------
    Mechanism 2 of Aliakbarpour et al. 2024 with the unbiased constant (errata coord-A1).
    """
    rows = np.asarray(v, dtype=float)
    if rows.ndim != 2 or not rows.shape[1]:
        raise ValueError(f"v must be a matrix of records, got shape {rows.shape}")
    checks.reals("v", rows, -math.inf, math.inf, open_low=True, open_high=True)
    checks.positive("r", r)
    level = exact_level(alpha)
    g = normals(np.random.default_rng(bits.words(8)), rows.shape)
    towards = np.einsum("ij,ij->i", g, rows) >= 0.0
    share = np.linalg.norm(rows, axis=1) / r
    signs = exact_signs(towards, share, level, bits)
    radius = float(m_ldp_radius(rows.shape[1], r, float(level)))
    lengths = np.linalg.norm(g, axis=1)
    return np.asarray((radius * signs / lengths)[:, None] * g)


def exact_m_mean(
    x: ArrayLike, c: ArrayLike, bits: BitSource, rule: str = "optimal"
) -> MeanEstimate:
    """Release M_mean's average of all users' reports, c-CDP with no condition on rounding.

    Parameters
    ----------
    x : array_like of shape (n, d)
        Records in [−1, 1]^d.
    c : array_like of shape (d,)
        Budgets below 4096, rounded down to multiples of 2⁻⁴⁰, so that the levels of the channels
        are exact differences and no coordinate gets more than its budget. Differences of
        neighbouring budgets are at most 30.
    bits : BitSource
        `SystemBits` for a release.
    rule : str
        Weights, as in `m_mean`.
    """
    rows = checks.reals("x", x, -1.0, 1.0)
    budgets = checks.reals("c", c, 0.0, 4096.0, open_high=True)
    if rows.ndim != 2 or not rows.shape[0] or budgets.shape != rows.shape[1:]:
        raise ValueError(f"x must have shape (n, {budgets.size}), got {rows.shape}")
    budgets = np.floor(budgets * LEVEL_GRAIN) / LEVEL_GRAIN
    mean, informed = np.zeros(rows.shape[1]), np.zeros(rows.shape[1], dtype=bool)
    for channel in m_mean_channels(budgets, rule):
        at = channel.coordinates
        reports = exact_m_ldp(rows[:, at], channel.alpha, math.sqrt(at.size), bits)
        mean[at] += channel.coefficients * reports.mean(axis=0)
        informed[at] = True
    mean[~informed] = np.nan
    return MeanEstimate(mean, np.clip(mean, -1.0, 1.0), informed)
