"""PrivEMDLinear with pure guarantees: norm-shaped noise, its exact errors and its sampler.

A linear query is q(K) = E over K's items of f(item), f into ℝ^dim. Its sensitivity under earth
mover's distance is exactly the Lipschitz constant of f (Theorem 4.1; two point masses attain it),
measured in the norm of the noise. The noise has density ∝ exp(−‖z‖_p/b), b = lip/(αn): once, not
twice as the text and Algorithm 1 together would have it (errata user-B2).

Conventions: the local model is n = 1. Dividing by n needs every user to hold the same public
number of items; without that only n = 1 is sound. p is in [1, ∞].
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.user_metric.calibration import MAX_ALPHA

_LARGE = 32.0


def _stirling(x: FloatArray) -> FloatArray:
    """Ln Γ(x) − [(x−½)ln x − x + ½ln 2π] for x ≥ 32."""
    u = 1.0 / (x * x)
    out: FloatArray = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x
    return out


def log_gamma_step(x: Any, h: Any) -> FloatArray:
    """Return ln Γ(x+h) − ln Γ(x) for x > 0, h ≥ 0 (arrays broadcast), to machine precision.

    Subtracting two log-gammas would leave an absolute error of eps·x·ln x.
    """
    from scipy.special import gammaln

    x, h = np.broadcast_arrays(np.asarray(x, float), np.asarray(h, float))
    big = np.maximum(x, _LARGE)
    far = (
        (big - 0.5) * np.log1p(h / big)
        + h * (np.log(big + h) - 1.0)
        + (_stirling(big + h) - _stirling(big))
    )
    small = np.minimum(x, _LARGE)
    return np.asarray(np.where(x >= _LARGE, far, gammaln(small + h) - gammaln(small)))


_ENTRIES = 1 << 18
"""Most numbers held at once: they fit in the processor's cache."""


class Slopes(NamedTuple):
    """Steepest pairs of items, one entry a number of leading coordinates.

    Attributes
    ----------
    lip : ndarray of float, shape (dim,)
        Entry j − 1: the largest ‖f(x) − f(x')‖_p / d(x, x') of the first j coordinates of f.
    first, second : ndarray of int, shape (dim,)
        A pair of items that attains it.
    """

    lip: FloatArray
    first: NDArray[np.intp]
    second: NDArray[np.intp]


def prefix_lipschitz(
    values: ArrayLike, first: ArrayLike, second: ArrayLike, distances: ArrayLike, p: float
) -> Slopes:
    """Return `lipschitz` over given pairs for the first 1, 2, …, dim coordinates of a query.

    With all pairs of items this is Δ_EM of the query (Theorem 4.1). Where distance is the length
    of a shortest path through neighbours, pairs of neighbours are enough.

    Parameters
    ----------
    values : array_like of float, shape (k, dim)
        f of every item, finite; dim ≥ 1.
    first, second : array_like of int, shape (pairs,)
        Items of each pair, in [0, k); at least one pair.
    distances : array_like of float, shape (pairs,)
        d ≥ 0 of each pair, finite.
    p : float
        In [1, ∞].

    Returns
    -------
    Slopes
        `lip` is infinite where f differs on two items at distance 0.

    Raises
    ------
    ValueError
        If shapes do not fit or a number is outside its domain.
    """
    order = float(checks.reals("p", p, 1.0))
    f = np.asarray(values, dtype=float)
    if f.ndim != 2 or f.shape[1] == 0 or not np.isfinite(f).all():
        raise ValueError(f"values: shape {f.shape} must be (items, dim ≥ 1) and every entry finite")
    i, j = (np.asarray(v, dtype=np.intp) for v in (first, second))
    d = checks.reals("distances", distances, 0.0, 1e300)
    if i.ndim != 1 or i.size == 0 or i.shape != j.shape or i.shape != d.shape:
        raise ValueError(f"first: {i.shape}, {j.shape} and {d.shape} must be one row of pairs")
    if min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= len(f):
        raise ValueError(f"first: every item of a pair must be in [0, {len(f)})")
    lip = np.full(f.shape[1], -1.0)
    best = np.zeros(f.shape[1], dtype=np.intp)
    rows = max(1, _ENTRIES // f.shape[1])
    for start in range(0, i.size, rows):
        part = slice(start, start + rows)
        slope = _over(_prefix_norms(np.abs(f[i[part]] - f[j[part]]), order), d[part, None])
        at = slope.argmax(axis=0)
        top = slope[at, np.arange(f.shape[1])]
        better = top > lip
        lip[better], best[better] = top[better], start + at[better]
    return Slopes(lip, i[best], j[best])


def _prefix_norms(change: FloatArray, order: float) -> FloatArray:
    """ℓp norms of the first 1, 2, … entries of every row of numbers ≥ 0."""
    if math.isinf(order):
        return np.maximum.accumulate(change, axis=1)
    if order == 1.0:
        return np.cumsum(change, axis=1)
    # Scaled by the row's largest, so that no power over- or underflows where it matters.
    top = change.max(axis=1, keepdims=True)
    scaled = change / np.where(top > 0, top, 1.0)
    out: FloatArray = np.cumsum(scaled**order, axis=1) ** (1 / order) * top
    return out


def _over(change: FloatArray, distance: FloatArray) -> FloatArray:
    """Change over distance; 0/0 = 0, anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(change > 0, change / distance, 0.0)


MAX_DIM = 1e6
"""Largest dimension of a query."""
_PAIRS = 1 << 20


def lipschitz(values: ArrayLike, distances: ArrayLike, p: float) -> float:
    """Return max over pairs of items of ‖f(x) − f(x')‖_p / d(x, x').

    This is Δ_EM of the linear query of f, in the ℓp norm (Theorem 4.1, with equality).

    Parameters
    ----------
    values : array_like of float, shape (k, dim)
        f(x) of every item.
    distances : array_like of float, shape (k, k)
        d(x, x') ≥ 0.
    p : float
        In [1, ∞].

    Returns
    -------
    float
        Infinite if f differs on two items at distance 0; 0 for fewer than two items.

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite or a distance is negative.
    """
    order = _order(p)
    f = np.asarray(values, dtype=float)
    d = np.asarray(distances, dtype=float)
    if f.ndim != 2 or not np.isfinite(f).all():
        raise ValueError(f"values: shape {f.shape} must be (items, dim) and every entry finite")
    if d.shape != (f.shape[0], f.shape[0]):
        raise ValueError(f"distances: shape {d.shape} must be {(f.shape[0], f.shape[0])}")
    if not np.isfinite(d).all() or (d < 0).any():
        raise ValueError("distances: every entry must be finite and at least 0")
    worst = 0.0
    rows = max(1, _PAIRS // max(1, f.size))
    for start in range(0, f.shape[0], rows):
        change = np.linalg.norm(f[start : start + rows, None, :] - f[None], ord=order, axis=-1)
        worst = max(worst, _steepest(change, d[start : start + rows]))
    return worst


def _steepest(change: FloatArray, distance: FloatArray) -> float:
    apart = distance > 0
    if (change[~apart] > 0).any():
        return math.inf
    with np.errstate(over="ignore"):
        return float((change[apart] / distance[apart]).max(initial=0.0))


def k_norm_scale(alpha: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1) -> Any:
    """Return b = lip/(αn), the scale of the noise; infinite at α = 0, 0 at lip = 0.

    Parameters
    ----------
    alpha : array of float
        In [0, 800], per normalised distance.
    lip : array of float
        Sensitivity ≥ 0 of the query in the norm of the noise (`lipschitz`).
    n : array of float
        Users in the central model with equal public sizes, in [1, 1e12]; 1 in the local model.

    References
    ----------
    Lemma 4.2, with lip in the scale (errata user-B2, user-B4).
    """
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
    slope = checks.reals("lip", lip, 0.0, 1e300)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return scalar_if_0d(np.where(slope == 0, 0.0, slope / (a * users)))


def k_norm_mean(dim: ArrayLike, alpha: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1) -> Any:
    """Return E‖z‖_p = dim·b of the noise, in its own norm (the same for every p)."""
    with np.errstate(over="ignore"):
        return scalar_if_0d(_dimension(dim) * k_norm_scale(alpha, lip, n))


def k_norm_quantile(
    probability: ArrayLike,
    dim: ArrayLike,
    alpha: ArrayLike,
    lip: ArrayLike = 1.0,
    n: ArrayLike = 1,
) -> Any:
    """Return the quantile of ‖z‖_p, which is Gamma(shape dim, scale b).

    Parameters
    ----------
    probability : array of float
        In [0, 1].
    dim, alpha, lip, n
        As in `k_norm_scale`; dim whole, in [1, 1e6].
    """
    from scipy.special import gammaincinv

    prob = checks.reals("probability", probability, 0.0, 1.0)
    unit = gammaincinv(_dimension(dim), prob)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = unit * k_norm_scale(alpha, lip, n)
    # 0·∞: the quantile at probability 0 is 0, and no noise at all is 0.
    return scalar_if_0d(np.where(np.isnan(scaled), 0.0, scaled))


def k_norm_coordinate_mean(
    dim: ArrayLike, alpha: ArrayLike, p: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return E|z_i| of the noise with density ∝ exp(−‖z‖_p/b).

    (dim+1)·b·Γ(2/p)Γ(dim/p+1)/(Γ(1/p)Γ((dim+1)/p+1)); (dim+1)b/2 for p = ∞. Arrays broadcast.
    """
    return _coordinate_moment(1, dim, alpha, p, lip, n)


def k_norm_coordinate_variance(
    dim: ArrayLike, alpha: ArrayLike, p: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return Var z_i of the noise with density ∝ exp(−‖z‖_p/b).

    (dim+1)(dim+2)b²Γ(3/p)Γ(dim/p+1)/(Γ(1/p)Γ((dim+2)/p+1)): 2b² for p = 1, (dim+1)b² for p = 2,
    (dim+1)(dim+2)b²/3 for p = ∞. Arrays broadcast.
    """
    return _coordinate_moment(2, dim, alpha, p, lip, n)


def _coordinate_moment(
    power: int, dim: ArrayLike, alpha: ArrayLike, p: ArrayLike, lip: ArrayLike, n: ArrayLike
) -> Any:
    """E|z_i|^power: the radius is Gamma(dim+1), the place uniform in the solid ball."""
    d = _dimension(dim)
    inverse = 1.0 / checks.reals("p", p, 1.0)
    b = np.asarray(k_norm_scale(alpha, lip, n))
    # Γ((power+1)/p)/Γ(1/p) = Γ(1+(power+1)/p)/Γ(1+1/p)/(power+1) is finite for every p.
    place = (
        log_gamma_step(1 + inverse, power * inverse)
        - log_gamma_step(1 + d * inverse, power * inverse)
        - math.log(power + 1)
    )
    radius = d + 1 if power == 1 else (d + 1) * (d + 2)
    with np.errstate(over="ignore"):
        return scalar_if_0d(radius * np.exp(place) * b**power)


def laplace_euclidean_mean(
    dim: ArrayLike, alpha: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return E‖z‖₂ of the p = 1 noise: dim independent Laplace variables of scale b.

    By E√Y = (1/2√π)∫(1 − E e^{−tY})t^{−3/2}dt and E e^{−tZ²} = √π·u·erfcx(u) with u = 1/(2√t):
    E‖z‖₂ = b·(2/√π)∫₀^∞ 1 − (√π·u·erfcx(u))^dim du, whose integrand is smooth and bounded.
    """
    d = _dimension(dim)
    b = np.asarray(k_norm_scale(alpha, lip, n))
    sizes, inverse = np.unique(d, return_inverse=True)
    unit = np.array([_laplace_length(float(size)) for size in sizes])
    with np.errstate(over="ignore"):
        return scalar_if_0d(unit[inverse].reshape(d.shape) * b)


def _laplace_length(dim: float) -> float:
    from scipy.special import erfcx

    nodes, weights = _nodes()
    x = 0.5 * (nodes + 1)
    # u = √dim·x/(1−x): the integrand falls like dim/2u², so nothing is left over at x = 1.
    u = math.sqrt(dim) * x / (1 - x)
    near = np.minimum(u, 30.0)
    w = 1.0 / np.maximum(u, 30.0) ** 2
    tail = np.log1p(-w / 2 * (1 - w * 3 / 2 * (1 - w * 5 / 2 * (1 - w * 7 / 2))))
    with np.errstate(divide="ignore"):
        log_m = np.where(u < 30.0, np.log(math.sqrt(math.pi) * near * erfcx(near)), tail)
    values = -np.expm1(dim * log_m) * math.sqrt(dim) / (1 - x) ** 2
    return float(weights @ values) / math.sqrt(math.pi)


def averaged_laplace_mean(
    users: ArrayLike, alpha: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Any:
    """Return E|mean of `users` independent Laplace variables of scale b|.

    (2b/√π)·Γ(users + ½)/(users·Γ(users)): the sum is the difference of two Gamma(users, b). It is
    b for one user and b·2/√(π·users) for many: the error of a coordinate when local answers with
    p = 1 noise are averaged.

    Parameters
    ----------
    users : array of float
        Whole, in [1, 1e12].
    alpha, lip, n
        As in `k_norm_scale`.
    """
    count = checks.integers("users", users, 1, checks.MAX_COUNT)
    unit = 2 / math.sqrt(math.pi) * np.exp(log_gamma_step(count, 0.5)) / count
    with np.errstate(over="ignore"):
        return scalar_if_0d(unit * k_norm_scale(alpha, lip, n))


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    return nodes, weights


def k_norm_noise(
    size: int, dim: int, scale: float, p: float, rng: np.random.Generator
) -> FloatArray:
    """Draw noise with density e^{−‖z‖_p/b}/(dim!·b^dim·Vol B_p).

    ‖z‖_p ~ Gamma(dim, b) times a point of the sphere under its *cone* measure; for p = ∞
    Gamma(dim+1, b) times a point of the solid cube, which is the same. "Uniform on the sphere" is
    the cone measure for p = 1, 2, ∞ only, and a point of the solid ball with Gamma(dim) has no
    pure guarantee at all (errata user-B3).

    Parameters
    ----------
    size, dim : int
        Number of draws ≥ 0 and their dimension in [1, 1e6].
    scale : float
        b ≥ 0, finite.
    p : float
        In [1, ∞].
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (size, dim)
    """
    order = _order(p)
    shape = (_count("size", size), int(_dimension(dim)))
    b = float(checks.reals("scale", scale, 0.0, 1e300))
    if order == 1.0:
        return rng.laplace(0.0, b, shape) if b > 0 else np.zeros(shape)
    if math.isinf(order):
        return rng.gamma(shape[1] + 1.0, b, (shape[0], 1)) * rng.uniform(-1.0, 1.0, shape)
    # |g|^p ~ Gamma(1/p): Gamma(1+1/p)·U^p has that law and does not vanish for large p.
    g = rng.gamma(1 + 1 / order, 1.0, shape) ** (1 / order) * rng.uniform(-1.0, 1.0, shape)
    largest = np.abs(g).max(axis=1, keepdims=True)
    g /= np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(g, ord=order, axis=1, keepdims=True)
    return rng.gamma(float(shape[1]), b, (shape[0], 1)) * g / np.where(length > 0, length, 1.0)


def linear_query(values: ArrayLike, histogram: ArrayLike) -> FloatArray:
    """Return q(K) = Σ_x K̃(x)·f(x).

    Parameters
    ----------
    values : array_like of float, shape (k, dim)
        f of every item.
    histogram : array_like of float, shape (..., k)
        Counts or masses ≥ 0 of every item, not all 0; normalised here.

    Raises
    ------
    ValueError
        If shapes do not fit, or a dataset is empty or has a negative mass.
    """
    f = np.asarray(values, dtype=float)
    mass = np.asarray(histogram, dtype=float)
    if f.ndim != 2 or mass.ndim == 0 or mass.shape[-1] != f.shape[0]:
        raise ValueError(f"histogram: last side of {mass.shape} must be the items of {f.shape}")
    if not np.isfinite(mass).all() or (mass < 0).any():
        raise ValueError("histogram: every mass must be finite and at least 0")
    total = mass.sum(axis=-1, keepdims=True)
    if (total <= 0).any():
        raise ValueError("histogram: a dataset without items has no average")
    return np.asarray((mass / total) @ f)


def priv_emd_linear(
    answer: ArrayLike,
    alpha: float,
    lip: float,
    p: float,
    rng: np.random.Generator,
    n: int = 1,
) -> FloatArray:
    """Release answers of a linear query with (α, 0)-d_EM-DP each (Algorithm 1, PrivEMDLinear).

    Local model (n = 1): each row is one user's q(K_i), unbounded d_EM-DP. Central model: the row
    is q of the global dataset of n users of equal public size, bounded d_EM-DP (Lemma 4.2).

    Parameters
    ----------
    answer : array_like of float, shape (rows, dim) or (dim,)
        True answers (`linear_query`).
    alpha : float
        In (0, 800].
    lip : float
        `lipschitz` of the query in the ℓp norm, finite.
    p, rng, n
        As in `k_norm_noise` and `k_norm_scale`.

    Returns
    -------
    ndarray, the shape of `answer`
        Floating-point demonstration noise: not for release.
    """
    checks.reals("alpha", alpha, 0.0, MAX_ALPHA, open_low=True)
    true = np.asarray(answer, dtype=float)
    rows = np.atleast_2d(true)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"answer: shape {true.shape} must be (rows, dim) and every entry finite")
    scale = k_norm_scale(alpha, lip, n)
    noise = k_norm_noise(rows.shape[0], rows.shape[1], scale, p, rng)
    return np.asarray((rows + noise).reshape(true.shape))


def _order(p: float) -> float:
    return float(checks.reals("p", p, 1.0))


def _dimension(dim: ArrayLike) -> FloatArray:
    return checks.integers("dim", dim, 1, MAX_DIM)


def _count(name: str, value: int) -> int:
    return int(checks.integers(name, value, 0, 1e9))
