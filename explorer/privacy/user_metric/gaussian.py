"""PrivEMDLinear with Gaussian noise, calibrated exactly.

The paper's width √(1.25 ln(1/δ))/α mixes up √(2 ln(1.25/δ)) and omits the Lipschitz constant: at
α = 25, δ = 1e-12 its true δ is 4.5e-5 (errata user-B1). It is here to be shown, never to calibrate.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import increasing_root
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.linear import MAX_DIM, log_gamma_step

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_JUST_ABOVE = 2e-13
"""Added to ln σ, so that rounding is on the private side."""


def _mills(x: FloatArray) -> FloatArray:
    """R(x) = Φ(−x)/φ(x) for x ≥ −1."""
    from scipy.special import erfcx

    return np.asarray(math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)))


def _mills_slope(x: FloatArray) -> FloatArray:
    """−R'(x) = 1 − x·R(x), which the difference would lose for large x."""
    large = x > 20.0
    u = 1.0 / np.where(large, x, 20.0) ** 2
    series = u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u * (1 - 9 * u * (1 - 11 * u)))))
    moderate = np.where(large, 0.0, x)
    return np.where(large, series, 1 - moderate * _mills(moderate))


def _log_delta(epsilon: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return ln δ at ε ≥ 0 of N(0,1) and N(ratio,1), 0 < ratio.

    δ = Φ(−low) − e^ε·Φ(−high) with low, high = ε/ratio ∓ ratio/2, and e^ε·φ(high) = φ(low): so
    δ = φ(low)·[R(low) − R(high)], R the Mills ratio, and no e^ε is ever formed.
    """
    from scipy.special import ndtr

    with np.errstate(all="ignore"):
        middle = np.minimum(epsilon / ratio, 1e150)
        step = np.minimum(ratio, 1e150)
        low, high = middle - step / 2, middle + step / 2
        log_density = -0.5 * low * low - _HALF_LOG_2PI
        # Near each other the difference is an integral of a positive slope.
        near = step < 0.5
        close = np.zeros(near.shape)
        if near.any():
            x = middle[near, None] + 0.5 * _NODES * step[near, None]
            close[near] = 0.5 * step[near] * (_WEIGHTS * _mills_slope(x)).sum(axis=-1)
        apart = _mills(np.maximum(low, 0.0)) - _mills(high)
        tail = log_density + np.log(np.where(near, close, apart))
        # With low ≤ 0 the first term is at least ½ and the second at most ½ and well below it.
        body = np.log(ndtr(-low) - np.exp(log_density) * _mills(high))
        out = np.where(near | (low > 0), tail, body)
    return np.where(middle >= 1e150, -np.inf, np.minimum(out, 0.0))


def gaussian_delta(
    sigma: ArrayLike,
    alpha: ArrayLike,
    distance: ArrayLike = 1.0,
    lip: ArrayLike = 1.0,
    n: ArrayLike = 1,
) -> Any:
    """Return the exact δ at ε = αx of Gaussian noise between datasets at distance x.

    Φ(D/2σ − εσ/D) − e^ε·Φ(−D/2σ − εσ/D) with D = lip·x/n. It increases in x, so x = 1 is the worst
    pair and the one to calibrate at.

    Parameters
    ----------
    sigma : array of float
        Standard deviation of every coordinate, > 0.
    alpha : array of float
        In [0, 800].
    distance : array of float
        x in [0, 1].
    lip : array of float
        ℓ2 sensitivity of the query (`lipschitz` with p = 2), ≥ 0.
    n : array of float
        Users in the central model with equal public sizes; 1 in the local model.

    References
    ----------
    Balle & Wang 2018, Theorem 8.
    """
    s = checks.reals("sigma", sigma, 0.0, open_low=True)
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
    x = checks.reals("distance", distance, 0.0, 1.0)
    slope = checks.reals("lip", lip, 0.0, 1e300)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    with np.errstate(over="ignore", under="ignore"):
        ratio = slope * x / users / s
    epsilon, ratio = np.broadcast_arrays(a * x, ratio)
    positive = ratio > 0
    return scalar_if_0d(
        np.where(positive, np.exp(_log_delta(epsilon, np.where(positive, ratio, 1.0))), 0.0)
    )


def gaussian_sigma(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return the smallest σ whose noise is (α, δ)-d_EM-DP: `gaussian_delta` ≤ δ at every distance.

    Parameters
    ----------
    alpha : array of float
        In [0, 800].
    delta : array of float
        In [1e-300, 1]; at δ = 1 no noise is needed and σ is 0.
    lip, n
        As in `gaussian_delta`.

    References
    ----------
    Balle & Wang 2018, Algorithm 1, in place of the paper's width (errata user-B1).
    """
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
    d = checks.delta(delta)
    slope = checks.reals("lip", lip, 0.0, 1e300)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    a, d = np.broadcast_arrays(a, d)
    target = np.log(d)
    # δ ≤ e^{−low²/2} where low > 0, and δ ≤ 1/(σ√2π) always: two values of σ that are enough.
    t = np.sqrt(-2 * target)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tail = np.where(a > 0, (t + np.sqrt(t * t + 2 * a)) / (2 * a), np.inf)
    log_high = np.minimum(np.log(tail), -_HALF_LOG_2PI - target)
    needed = target < 0

    def excess(log_sigma: FloatArray) -> FloatArray:
        return np.where(needed, target - _log_delta(a, np.exp(-log_sigma)), 0.0)

    root = _near_root(a, target, log_high) + _JUST_ABOVE
    missed = ~(excess(root) >= 0)
    if missed.any():
        root = np.where(missed, _bracketed_root(excess, log_high), root)
    with np.errstate(over="ignore"):
        sigma = np.where(needed, np.exp(root) * (1 + 4e-15), 0.0) * slope / users
    return scalar_if_0d(sigma)


def _near_root(epsilon: FloatArray, target: FloatArray, start: FloatArray) -> FloatArray:
    """Return about the ln σ with ln δ = target, by Newton's method from the private side.

    dδ/dratio is φ(low), so that ln δ is steep where it is small and flattens: no step overshoots.
    """
    x = start
    for _ in range(30):
        with np.errstate(all="ignore"):
            ratio = np.exp(-x)
            low = epsilon / ratio - ratio / 2
            log_delta = _log_delta(epsilon, ratio)
            slope = np.exp(-x - 0.5 * low * low - _HALF_LOG_2PI - log_delta)
            step = (log_delta - target) / slope
        step = np.where(np.isfinite(step), np.clip(step, -3.0, 3.0), 0.0)
        x = x + step
        if (np.abs(step) < 1e-7).all():
            break
    return x


def _bracketed_root(excess: Callable[[FloatArray], FloatArray], high: FloatArray) -> FloatArray:
    """Return the ln σ at which `excess` turns positive, from above, below a point where it has."""
    low = high - 2.0
    for _ in range(12):
        short = excess(low) > 0
        if not short.any():
            break
        low = np.where(short, 2 * low - high, low)
    # From the private side: the upper end of the bracket keeps the promise.
    _, root = increasing_root(excess, low, high + 1e-9)
    return root


def gaussian_sigma_printed(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return lip·√(1.25 ln(1/δ))/(αn), the paper's width: **not private in general** (user-B1)."""
    a, d, slope, users = _printed_arguments(alpha, delta, lip, n)
    return scalar_if_0d(slope * np.sqrt(-1.25 * np.log(d)) / (a * users))


def gaussian_sigma_textbook(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return lip·√(2 ln(1.25/δ))/(αn), proved for α ≤ 1 only and wrong from about 9 on."""
    a, d, slope, users = _printed_arguments(alpha, delta, lip, n)
    return scalar_if_0d(slope * np.sqrt(2 * np.log(1.25 / d)) / (a * users))


def _printed_arguments(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike, n: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return (
        checks.reals("alpha", alpha, 0.0, MAX_ALPHA, open_low=True),
        checks.delta(delta),
        checks.reals("lip", lip, 0.0, 1e300),
        checks.integers("n", n, 1, checks.MAX_COUNT),
    )


def gaussian_euclidean_mean(sigma: ArrayLike, dim: ArrayLike) -> Any:
    """Return E‖N(0, σ²I)‖₂ = σ√2·Γ((dim+1)/2)/Γ(dim/2)."""
    s = checks.reals("sigma", sigma, 0.0, 1e300)
    d = checks.integers("dim", dim, 1, MAX_DIM)
    return scalar_if_0d(s * math.sqrt(2) * np.exp(log_gamma_step(d / 2, 0.5)))


def lemma62_bound(
    spectral_norm: ArrayLike, dim: ArrayLike, alpha: ArrayLike, delta: ArrayLike, n: ArrayLike
) -> Any:
    """Return ‖F‖₂√(1.25·dim·ln(1/δ))/(α√n), Lemma 6.2 as printed.

    It inherits the width of `gaussian_sigma_printed` and is not the error of a private release;
    that is `gaussian_euclidean_mean` of `gaussian_sigma`, divided by √n in the local model.
    """
    a, d, norm, users = _printed_arguments(alpha, delta, spectral_norm, n)
    size = checks.integers("dim", dim, 1, MAX_DIM)
    return scalar_if_0d(norm * np.sqrt(-1.25 * size * np.log(d)) / (a * np.sqrt(users)))


def priv_emd_gaussian(
    answer: ArrayLike,
    alpha: float,
    delta: float,
    lip: float,
    rng: np.random.Generator,
    n: int = 1,
) -> FloatArray:
    """Release answers of a linear query with (α, δ)-d_EM-DP each, by Gaussian noise.

    Parameters
    ----------
    answer : array_like of float, shape (rows, dim) or (dim,)
        True answers (`linear_query`); rows as in `priv_emd_linear`.
    alpha, delta, lip, n
        As in `gaussian_sigma`.
    rng : numpy.random.Generator
    """
    true = np.asarray(answer, dtype=float)
    if true.ndim not in (1, 2) or not np.isfinite(true).all():
        raise ValueError(f"answer: shape {true.shape} must be (rows, dim) and every entry finite")
    return np.asarray(true + gaussian_sigma(alpha, delta, lip, n) * rng.standard_normal(true.shape))
