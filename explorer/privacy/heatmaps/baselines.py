"""What the paper compares with: Laplace noise on every leaf, and only the largest leaves of it."""

from __future__ import annotations

import math

import numpy as np

from explorer.privacy.bounds import FloatArray
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.measurement import Reader
from explorer.privacy.heatmaps.morton import all_codes


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
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon: {epsilon!r} is not a finite number above 0")
    noisy = noise / epsilon
    if noisy.shape != (1 << counts.level,) * 2:
        raise ValueError(f"noise: shape {noise.shape} does not fit level {counts.level}")
    noisy[counts.cells] += counts.masses
    return np.maximum(noisy, 0.0, out=noisy)


def cells_kept(side: int, percent: float) -> int:
    """Return how many leaves the top-t % baseline keeps: t % of Δ², rounded up, at least 1.

    The paper does not say how it rounds, and at its sizes rounding decides everything
    (errata 25).

    Raises
    ------
    ValueError
        If the percentage is outside [0, 100].
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"top_percent: {percent!r} is outside [0, 100]")
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
