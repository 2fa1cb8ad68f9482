"""Noise on every leaf: what the paper compares with, and two mechanisms that it leaves out.

Laplace noise and only the largest leaves of it are the paper's baselines. Gaussian noise it leaves
aside, as adding more noise for moderate δ, which is false for small ε (errata heat-18). Discrete
Laplace noise on whole counts adds, at large ε, almost none (errata heat-35).
"""

import math

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.measurement import Reader
from explorer.privacy.heatmaps.quadtree import all_codes
from explorer.privacy.noise.demonstration import discrete_laplace_quantiles, gaussian_sigma


def unit_noise_grid(level: int, unit_noise: Reader) -> FloatArray:
    """Return the noise of scale 1 of all leaves, shape (2^ℓ, 2^ℓ) [row, column]."""
    return unit_noise(level, all_codes(level))


def laplace_grid(counts: CellCounts, epsilon: float, noise: FloatArray) -> FloatArray:
    """Return the positive part of s + Lap(1/ε) on every leaf.

    ε-DP for adding or removing one user (with real-valued noise): the ℓ1-sensitivity of s is 1,
    and dropping negative cells looks at the noisy counts only.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent Laplace draws of scale 1.

    References
    ----------
    *Baselines* in Section 4 of the paper, after Liu et al. 2019.
    """
    checks.positive("epsilon", epsilon)
    return _positive_part(counts, noise / epsilon)


def gaussian_grid(
    counts: CellCounts, epsilon: float, delta: float, noise: FloatArray
) -> FloatArray:
    """Return the positive part of s + N(0, σ²) on every leaf, with the least σ for (ε, δ).

    (ε, δ)-DP for adding or removing one user (with real-valued noise): a user moves s by at most 1
    in ℓ1, hence in ℓ2. Replacing one moves it by at most √2: see `gaussian_epsilon_of_replacement`.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    delta : float
        In (0, 1).
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent standard normal draws.

    References
    ----------
    σ: Balle and Wang 2018, Theorem 8.
    """
    checks.positive("epsilon", epsilon)
    return _positive_part(counts, noise * gaussian_sigma(epsilon, delta))


def gaussian_epsilon_of_replacement(epsilon: float, delta: float) -> float:
    """Return the ε at the same δ that `gaussian_grid` keeps when one user is replaced.

    s then moves by at most √2 in ℓ2 (one cell gains what another loses), so this is the ε whose
    least σ for that sensitivity is the σ used; right to 10⁻⁹ and rounded up.
    """
    from scipy.special import log_ndtr

    checks.positive("epsilon", epsilon)
    sigma = gaussian_sigma(epsilon, delta)
    ratio = math.sqrt(2) / sigma

    def log_delta(level: float) -> float:
        upper = float(log_ndtr(ratio / 2 - level / ratio))
        lower = level + float(log_ndtr(-ratio / 2 - level / ratio))
        return upper + math.log(-math.expm1(min(lower - upper, -1e-300)))

    low, high = epsilon, 2 * epsilon + 1
    while log_delta(high) > math.log(delta):
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if log_delta(middle) <= math.log(delta) else (middle, high)
    return high * (1 + 1e-9)


def discrete_grid(votes: CellCounts, epsilon: float, noise: FloatArray) -> FloatArray:
    """Return the positive part of whole counts plus discrete Laplace noise of scale 1/ε.

    ε-DP for adding or removing one user who counts 1 in one cell (`one_cell_each`): the
    ℓ1-sensitivity is 1. The noise is 0 with probability tanh(ε/2): at ε = 10 in all but one cell of
    11,000, and there is no better ε-DP way to answer one count.

    Parameters
    ----------
    votes : CellCounts
        With whole masses.
    epsilon : float
        Finite and > 0.
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent Laplace draws of scale 1.

    Raises
    ------
    ValueError
        If a mass isn't whole, and as `laplace_grid`.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan 2009 (the geometric mechanism); errata heat-35.
    """
    if (votes.masses != np.rint(votes.masses)).any():
        raise ValueError("votes: a mass is not a whole number")
    checks.positive("epsilon", epsilon)
    return _positive_part(votes, discrete_laplace_quantiles(noise, 1 / epsilon))


def _positive_part(counts: CellCounts, noise: FloatArray) -> FloatArray:
    """Return max(s + noise, 0), in the noise's own memory."""
    if noise.shape != (1 << counts.level,) * 2:
        raise ValueError(f"noise: shape {noise.shape} does not fit level {counts.level}")
    noise[counts.cells] += counts.masses
    return np.maximum(noise, 0.0, out=noise)


def cells_kept(side: int, percent: float) -> int:
    """Return how many leaves the top-t % baseline keeps: t % of Δ², rounded up, at least 1.

    The paper does not say how it rounds, and at its sizes rounding decides everything
    (errata heat-25).

    Raises
    ------
    ValueError
        If the percentage is outside [0, 100].
    """
    checks.reals("top_percent", percent, 0.0, 100.0)
    # 0.01 % of 256² must not become one more through rounding of the product.
    exact = side * side * percent / 100
    return min(side * side, max(1, math.ceil(exact * (1 - 1e-12))))


def top_grid(noisy: FloatArray, kept: int) -> FloatArray:
    """Keep the `kept` largest leaves of a noisy non-negative map, zero the rest.

    Of equal leaves the earliest in row-major order stay. It looks at the noisy counts only, so
    the guarantee is that of `laplace_grid`.
    """
    flat = noisy.ravel()
    if kept >= flat.size:
        return noisy.copy()
    threshold = np.partition(flat, flat.size - kept)[flat.size - kept]
    above = np.flatnonzero(flat > threshold)
    ties = np.flatnonzero(flat == threshold)[: kept - len(above)]
    result = np.zeros_like(flat)
    result[above] = flat[above]
    result[ties] = threshold
    return result.reshape(noisy.shape)
