"""Bounds on M_mean's error: the paper's, and the error of the projected average."""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import corollary1_threshold
from explorer.privacy.coordinates.levels import log_mix_high
from explorer.privacy.coordinates.mean import increments, m_mean_variances
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


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
