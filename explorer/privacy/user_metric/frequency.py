"""Frequency estimation: exact errors, the paper's bounds on them, samplers and estimates.

**GKRR on a clustered space.** s clusters of t items: distance r inside a cluster, 1 between
clusters. GKRR answers item x with y with probability ∝ e^{α₀(1−d(x,y))}; its matrix is aI +
(b·I_clusters + c·11ᵀ) ⊗ 11ᵀ and so is the inverse, which gives an unbiased *signed* estimate F̃ of
the normalised histogram K̃. All errors and d_EM bounds are of that unprojected estimate.

With E = e^α₀, g = e^{(1−r)α₀}: everything is divided by E, so that no α₀ overflows, and R − 1 is
summed from positive terms, so that no α₀ cancels it.

**The exponential mechanism on any metric**: upper bounds that hold for all data, in ℓ2 and, along
trees that are nowhere shorter than the metric, in d_EM.

**Laplace noise on clusters**: the mean earth mover's distance of a noisy histogram, exactly.

**One item a user: histograms to which each user reports one item drawn from their own.** The report
depends on that item alone, so that whatever is ε-private for one item is ε-private for all of a
user's data, without a δ: a mixture of ε-private laws. Every estimate is unbiased for the mean of
the users' histograms; S is the mean of their ‖K̃_i‖², in [1/k, 1].

**Estimates are signed**: GKRR's sum to 1, Hadamard response's and Laplace's do not. "Normalising"
by the sum can make the error infinite (errata user-E2); projection onto the simplex costs no
privacy and never increases the ℓ2 error, but it can increase d_EM.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.designs import PRIV_UNIT, log_channel_moment
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.spaces import Clustered, FiniteSpace, IntArray, indices
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.exact_release import MAX_CONDITION
from explorer.privacy.user_metric.itemwise import GKRR, Exponential

MAX_DOMAIN = 1e12
"""Largest number of clusters, of items in a cluster and of items in a domain."""


class Blocks(NamedTuple):
    """The three coefficients of a matrix aI + (b·I_clusters + c·11ᵀ) ⊗ 11ᵀ."""

    a: Any
    b: Any
    c: Any


class _Scaled(NamedTuple):
    """E, g and 1 divided by E, their differences, and Z and W divided by E."""

    s: FloatArray
    t: FloatArray
    one: FloatArray
    e_minus_g: FloatArray
    g_minus_one: FloatArray
    z: FloatArray
    w: FloatArray


def _scale(s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike) -> _Scaled:
    clusters = checks.integers("s", s, 1, MAX_DOMAIN)
    size = checks.integers("t", t, 1, MAX_DOMAIN)
    distance = checks.reals("r", r, 0.0, 1.0)
    a0 = checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON)
    clusters, size, distance, a0 = np.broadcast_arrays(clusters, size, distance, a0)
    with np.errstate(under="ignore"):
        one = np.exp(-a0)
        g = np.exp(-distance * a0)
        e_minus_g = -np.expm1(-distance * a0)
        g_minus_one = g * -np.expm1(-(1 - distance) * a0)
        z = 1 + (size - 1) * g + (clusters - 1) * size * one
        w = -np.expm1(-a0) + (size - 1) * g_minus_one
    return _Scaled(clusters, size, one, e_minus_g, g_minus_one, z, w)


def gkrr_coefficients(s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike) -> Blocks:
    """Return (a, b, c) of GKRR's transition matrix, a = (E−g)/Z, b = (g−1)/Z, c = 1/Z.

    Z is the same for every input, so that GKRR satisfies α₀·d exactly (errata user-E7).

    Parameters
    ----------
    s, t : array of float
        Clusters and items in each, in [1, 1e12].
    r : array of float
        Distance inside a cluster, in [0, 1]; the paper's r < ½ is not needed (errata user-E5).
    alpha0 : array of float
        In [0, 800].
    """
    x = _scale(s, t, r, alpha0)
    return Blocks(*(scalar_if_0d(v / x.z) for v in (x.e_minus_g, x.g_minus_one, x.one)))


def gkrr_inverse(s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike) -> Blocks:
    """Return (a', b', c') of the inverse: Z/(E−g), −(g−1)Z/((E−g)W), −1/W.

    Infinite where the matrix is singular: at α₀ = 0, and at r = 0 unless t = 1 (where a' and b'
    matter through their sum only, which is finite). Parameters as in `gkrr_coefficients`.
    """
    x = _scale(s, t, r, alpha0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a = x.z / x.e_minus_g
        b = _product(x.g_minus_one, x.z / x.e_minus_g / x.w)
        c = x.one / x.w
    return Blocks(scalar_if_0d(a), scalar_if_0d(-b), scalar_if_0d(-c))


def _product(factor: FloatArray, value: FloatArray) -> FloatArray:
    """factor·value with 0·∞ = 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(factor == 0, 0.0, factor * value)


def _off_diagonals(
    s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike
) -> tuple[_Scaled, FloatArray, FloatArray]:
    """|b'| and |c'|."""
    x = _scale(s, t, r, alpha0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # At α₀ = 0 both differences vanish; their ratio does not, and the error is infinite.
        share = np.where(x.w > 0, x.g_minus_one / x.w, 0.0)
        b = _product(share, x.z / x.e_minus_g)
        c = x.one / x.w
    return x, b, c


def gkrr_excess(s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike) -> Any:
    """Return R − 1, the variance of one item's unbiased estimate summed over the domain.

    With a' + tb' + stc' = 1: u(2+u) + (t−1)(b'+c')² + (s−1)t·c'², u = (t−1)|b'| + (st−1)|c'|.
    Infinite where the matrix is singular.
    """
    x, b, c = _off_diagonals(s, t, r, alpha0)
    with np.errstate(over="ignore"):
        u = _product(x.t - 1, b) + _product(x.s * x.t - 1, c)
        return scalar_if_0d(
            u * (2 + u) + _product(x.t - 1, (b + c) ** 2) + _product((x.s - 1) * x.t, c**2)
        )


def gkrr_cluster_excess(s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike) -> Any:
    """Return R_P − 1, the same for the masses of the clusters: v(2+v) + (s−1)(tc')²."""
    x, _, c = _off_diagonals(s, t, r, alpha0)
    with np.errstate(over="ignore"):
        v = _product((x.s - 1) * x.t, c)
        return scalar_if_0d(v * (2 + v) + _product(x.s - 1, (x.t * c) ** 2))


def gkrr_mse(
    s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return E‖F̃ − K̃‖₂² = (R − 1)/mn exactly, for every K̃.

    Parameters
    ----------
    s, t, r, alpha0
        As in `gkrr_coefficients`.
    m, n : array of float
        Items of every user and users, in [1, 1e12].
    """
    return scalar_if_0d(gkrr_excess(s, t, r, alpha0) / _items(m, n))


def gkrr_cluster_mse(
    s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return E‖(F̃ − K̃)P‖₂² = (R_P − 1)/mn exactly, P summing each cluster."""
    return scalar_if_0d(gkrr_cluster_excess(s, t, r, alpha0) / _items(m, n))


def gkrr_emd_bound(
    s: ArrayLike,
    t: ArrayLike,
    r: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    *,
    printed: bool = False,
) -> Any:
    """Return an upper bound on E d_EM(F̃, K̃): Theorem 6.5, halved by default.

    (r/2)√(st·mse) + ((1−r)/2)√(s·mse_P), because d_EM on this space is exactly
    (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ (errata user-E4). `printed` gives the paper's r√(st·mse) +
    √(s·mse_P).
    """
    mse = np.asarray(gkrr_mse(s, t, r, alpha0, m, n))
    across = np.asarray(gkrr_cluster_mse(s, t, r, alpha0, m, n))
    clusters, size, distance = (np.asarray(v, dtype=float) for v in (s, t, r))
    inner, outer = (distance, np.ones(())) if printed else (distance / 2, (1 - distance) / 2)
    with np.errstate(over="ignore"):
        root, root_across = np.sqrt(clusters * size * mse), np.sqrt(clusters * across)
    return scalar_if_0d(
        _product(*np.broadcast_arrays(inner, root))
        + _product(*np.broadcast_arrays(outer, root_across))
    )


def theorem66_bound(
    s: ArrayLike, t: ArrayLike, r: ArrayLike, alpha0: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return r√(st³/mn)(E+s)/(E−g) + √(s²t²/mn)·√(s+2(E−1))/W, Theorem 6.6 as printed."""
    x = _scale(s, t, r, alpha0)
    items = _items(m, n)
    distance = np.asarray(r, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        inner = distance * np.sqrt(x.s * x.t**3 / items)
        outer = np.sqrt((x.s * x.t) ** 2 / items)
        # √(s + 2(E−1))/E = √(s·e^−2α₀ + 2(e^−α₀ − e^−2α₀))
        spread = np.sqrt(x.s * x.one**2 + 2 * x.one * (1 - x.one))
        total = _product(inner, (1 + x.s * x.one) / x.e_minus_g) + outer * (spread / x.w)
    return scalar_if_0d(total)


def theorem66_remark(
    k: ArrayLike, alpha: ArrayLike, delta: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return 4√(k³/mn) + 64√(k³)/(α√n)·√(ln(4m/δ) + α), the simplified local bound as printed.

    It does not follow from Theorem 6.6 (errata user-E6).
    """
    return _remark(k, alpha, delta, m, n, np.sqrt)


def corollary68_remark(
    k: ArrayLike, alpha: ArrayLike, delta: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return 4√(k³/mn) + 64√(k³)/(αn)·√(ln(4m/δ) + α), the simplified central bound as printed.

    It carries the caveats of equation (7) (errata user-E9).
    """
    return _remark(k, alpha, delta, m, n, np.asarray)


def _remark(
    k: ArrayLike, alpha: ArrayLike, delta: ArrayLike, m: ArrayLike, n: ArrayLike, power: Any
) -> Any:
    size = checks.integers("k", k, 1, MAX_DOMAIN)
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA, open_low=True)
    d = checks.delta(delta)
    items = checks.integers("m", m, 1, checks.MAX_COUNT)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    cube = np.sqrt(size**3)
    log_term = math.log(4) + np.log(items) - np.log(d)
    with np.errstate(over="ignore"):
        return scalar_if_0d(
            4 * cube / np.sqrt(items * users)
            + 64 * cube / (a * power(users)) * np.sqrt(log_term + a)
        )


def hadamard_mse(k: ArrayLike, epsilon0: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return E‖F̃ − K̃‖₂² = (k/tanh²(ε₀/2) − 1)/mn of Hadamard response with K = 2^⌈log2(k+1)⌉.

    Parameters
    ----------
    k : array of float
        Size of the domain, in [1, 1e12].
    epsilon0 : array of float
        Local parameter of one item, in [0, 800]; infinite error at 0.
    m, n
        As in `gkrr_mse`.
    """
    size = checks.integers("k", k, 1, MAX_DOMAIN)
    e = checks.epsilon0(epsilon0)
    with np.errstate(divide="ignore", over="ignore"):
        # k/tanh² − 1 = (k−1) + k/sinh², whose second term alone is small for large ε₀.
        half = np.minimum(e / 2, 350.0)
        return scalar_if_0d(((size - 1) + size / np.sinh(half) ** 2) / _items(m, n))


def hadamard_cluster_mse_bound(
    k: ArrayLike, epsilon0: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return (k(1+τ)/τ² − 1)/mn ≥ E‖(F̃ − K̃)P‖₂² of Hadamard response, τ = tanh(ε₀/2).

    Two estimates F̃(x), F̃(x') have the covariance 1/τ (per item) if row x+1 xor x'+1 is the row of
    the item answered for, and 0 otherwise; every x has at most one such partner in its cluster.
    With clusters of one item `hadamard_mse` is exact and smaller. Parameters as in `hadamard_mse`.
    """
    size = checks.integers("k", k, 1, MAX_DOMAIN)
    e = checks.epsilon0(epsilon0)
    with np.errstate(divide="ignore", over="ignore"):
        tau = np.tanh(e / 2)
        return scalar_if_0d((size * (1 + tau) / tau**2 - 1) / _items(m, n))


def laplace_mse(k: ArrayLike, n: ArrayLike, epsilon: ArrayLike, users: ArrayLike = 1) -> Any:
    """Return 2k·(2/(nε))²/users, the exact E‖F̃ − K̃‖₂² of averaged Laplace histograms.

    Central: n users, once. Local: every user adds the noise of n = 1 and `users` are averaged. The
    same for the masses of clusters, which add up the noise of their items.

    Parameters
    ----------
    k, n, epsilon
        As in `laplace_l1_mean`.
    users : array of float
        In [1, 1e12].
    """
    size = checks.integers("k", k, 1, MAX_DOMAIN)
    count = checks.integers("users", users, 1, checks.MAX_COUNT)
    with np.errstate(over="ignore"):
        return scalar_if_0d(2 * size * np.asarray(laplace_scale(n, epsilon)) ** 2 / count)


def emd_bound(
    s: ArrayLike, t: ArrayLike, r: ArrayLike, mse: ArrayLike, cluster_mse: ArrayLike
) -> Any:
    """Return (r/2)√(st·mse) + ((1−r)/2)√(s·mse_P) ≥ E d_EM(F̃, K̃), for estimates of sum 1.

    By Cauchy–Schwarz and Jensen, d_EM being (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ (errata user-E4). An
    estimate of another sum has no d_EM (errata user-E3); shifting all its entries alike to sum 1
    increases neither error.

    Parameters
    ----------
    s, t, r
        As in `gkrr_coefficients`.
    mse, cluster_mse : array of float
        E‖F̃ − K̃‖₂² and E‖(F̃ − K̃)P‖₂², ≥ 0.
    """
    clusters = checks.integers("s", s, 1, MAX_DOMAIN)
    size = checks.integers("t", t, 1, MAX_DOMAIN)
    distance = checks.reals("r", r, 0.0, 1.0)
    whole = checks.reals("mse", mse, 0.0)
    across = checks.reals("cluster_mse", cluster_mse, 0.0)
    with np.errstate(over="ignore"):
        inner = np.broadcast_arrays(distance / 2, np.sqrt(clusters * size * whole))
        outer = np.broadcast_arrays((1 - distance) / 2, np.sqrt(clusters * across))
    return scalar_if_0d(_product(*inner) + _product(*outer))


def laplace_scale(n: ArrayLike, epsilon: ArrayLike) -> Any:
    """Return 2/(nε): one user changes the normalised histogram by up to 2/n in ℓ1.

    The paper's 1/(nε) is only 2ε-DP (errata user-E1). Infinite at ε = 0.
    """
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    e = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)
    with np.errstate(divide="ignore", over="ignore"):
        return scalar_if_0d(2 / (users * e))


def laplace_l1_mean(
    k: ArrayLike, n: ArrayLike, epsilon: ArrayLike, *, printed: bool = False
) -> Any:
    """Return E‖noise‖₁ = k·scale of the Laplace baseline; `printed` uses the paper's scale."""
    size = checks.integers("k", k, 1, MAX_DOMAIN)
    return scalar_if_0d(size * laplace_scale(n, epsilon) / (2 if printed else 1))


def _items(m: ArrayLike, n: ArrayLike) -> FloatArray:
    return np.asarray(
        checks.integers("m", m, 1, checks.MAX_COUNT) * checks.integers("n", n, 1, checks.MAX_COUNT)
    )


_NODES = 96
"""Of the quadrature: its relative error is below 1e-9 for any number of items and users."""


def laplace_emd_mean(
    s: ArrayLike,
    t: ArrayLike,
    r: ArrayLike,
    n: ArrayLike,
    epsilon: ArrayLike,
    users: ArrayLike = 1,
) -> Any:
    """Return E d_EM(F̃, K̃) of averaged Laplace histograms that are shifted to sum 1.

    d_EM is (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ (errata user-E4), so that only the mean absolute noise of one
    item and of one cluster are needed. Both are sums of independent Laplace variables, of which
    E|Y| = (2/π)∫₀^∞ (1 − φ(u))/u² du with the characteristic function φ; with u = tan(θ)/rms the
    integrand is smooth on [0, π/2] (Gauss–Legendre). `emd_bound` by Cauchy–Schwarz is up to √2
    times as much.

    Parameters
    ----------
    s, t : array of int
        Clusters and items in each, in [1, 1e6].
    r : array of float
        Distance inside a cluster, in [0, 1].
    n, epsilon : array
        As in `laplace_scale`; infinite at ε = 0.
    users : array of int
        In [1, 1e12]: whose noisy histograms are averaged.

    Raises
    ------
    ValueError
        Naming the parameter, the value and its domain.
    """
    clusters = checks.integers("s", s, 1, MAX_DOMAIN)
    size = checks.integers("t", t, 1, MAX_DOMAIN)
    distance = checks.reals("r", r, 0.0, 1.0)
    count = checks.integers("users", users, 1, checks.MAX_COUNT)
    scale = np.asarray(laplace_scale(n, epsilon)) / count
    k = clusters * size
    # What shifting takes from an item is its share of all the noise.
    item = _mean_absolute(1 - 1 / k, count, 1 / k, (k - 1) * count)
    whole = _mean_absolute(1 - 1 / clusters, size * count, 1 / clusters, (k - size) * count)
    with np.errstate(over="ignore", invalid="ignore"):
        inner = np.where(distance > 0, distance / 2 * k * item * scale, 0.0)
        outer = np.where(distance < 1, (1 - distance) / 2 * clusters * whole * scale, 0.0)
    return scalar_if_0d(inner + outer)


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    """Return tan²θ and weights/sin²θ of the quadrature on [0, π/2]."""
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    theta = (node + 1) * math.pi / 4
    return np.tan(theta) ** 2, weight * math.pi / 4 / np.sin(theta) ** 2


def _mean_absolute(a: FloatArray, i: FloatArray, b: FloatArray, j: FloatArray) -> FloatArray:
    """Return E|a·(i Laplace variables added up) − b·(j others)|, of scale 1."""
    a, i, b, j = (np.asarray(v, dtype=float)[..., None] for v in np.broadcast_arrays(a, i, b, j))
    mean_square = 2 * (a**2 * i + b**2 * j)
    there = mean_square > 0
    per = 1 / np.where(there, mean_square, 1.0)
    squares, weights = _rule()
    log_phi = -i * np.log1p(a**2 * per * squares) - j * np.log1p(b**2 * per * squares)
    total = (-np.expm1(log_phi) * weights).sum(axis=-1)
    root = np.sqrt(np.where(there, mean_square, 0.0))[..., 0]
    return np.asarray(2 / math.pi * root * total)


def one_item_hadamard_mse(
    k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike
) -> Any:
    """Return E‖F̃ − K̃‖₂² = (k/tanh²(ε/2) − S)/n of Hadamard response.

    Parameters
    ----------
    k : array of float
        Size of the domain, in [1, 1e12].
    epsilon : array of float
        User-level privacy, in [0, 800]; infinite error at 0.
    n : array of float
        Users, in [1, 1e12].
    mean_square : array of float
        S, in [0, 1].
    """
    size, e, users, square = _check(k, epsilon, n, mean_square)
    with np.errstate(divide="ignore", over="ignore"):
        # k/tanh² − S = (k − S) + k/sinh², whose second term alone is small for large ε.
        half = np.minimum(e / 2, 350.0)
        return scalar_if_0d(((size - square) + size / np.sinh(half) ** 2) / users)


def one_item_grr_mse(k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike) -> Any:
    """Return E‖F̃ − K̃‖₂² = (((1−q)² + (k−1)q²)/(p−q)² − S)/n of k-ary randomised response.

    p = e^ε/(e^ε+k−1) and q = 1/(e^ε+k−1). Parameters as in `one_item_hadamard_mse`.
    """
    size, e, users, square = _check(k, epsilon, n, mean_square)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Over q²: (1−q)/q = e^ε + k − 2 and (p−q)/q = e^ε − 1, all divided by e^ε.
        other = np.exp(-e)
        apart = -np.expm1(-e)
        second = ((1 + (size - 2) * other) ** 2 + (size - 1) * other**2) / apart**2
        return scalar_if_0d(np.where(e == 0, np.inf, (second - square) / users))


def priv_unit_histogram_mse(
    k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike
) -> Any:
    """Return E‖F̃ − K̃‖₂² = ((1−1/k)V − (S−1/k))/n of PrivUnit on the plane of histograms.

    The drawn item x is reported as e_x − 1/k, which has the same length √(1−1/k) for all items, in
    the k−1 dimensions of that plane; V is the second moment of PrivUnit there. Parameters as in
    `one_item_hadamard_mse`, with k ≥ 2.
    """
    size, e, users, square = _check(k, epsilon, n, mean_square)
    checks.integers("k", size, 2, MAX_DOMAIN)
    moment = np.exp(log_channel_moment((size - 1).astype(np.int64), e, PRIV_UNIT))
    return scalar_if_0d(((1 - 1 / size) * moment - (square - 1 / size)) / users)


def _check(*arguments: ArrayLike) -> tuple[FloatArray, ...]:
    k, epsilon, n, square = arguments
    return tuple(
        np.broadcast_arrays(
            checks.integers("k", k, 1, MAX_DOMAIN),
            checks.epsilon0(epsilon),
            checks.integers("n", n, 1, checks.MAX_COUNT),
            checks.reals("mean_square", square, 0.0, 1.0),
        )
    )


MAX_METRIC_ITEMS = 120
"""Most items of a metric whose law is inverted at every point of a curve."""
_INVERSION = 1e-13
"""Relative error of an inverse for each unit of the condition number, with room."""


class MetricFrequency:
    """Errors of shares estimated by the exponential mechanism in any finite metric space.

    Every item x is answered by y with probability A(x, y) ∝ e^{−c·d(x,y)}, c the largest rate up to
    α₀ that is α₀·d-private (`Exponential`); F = vA⁻¹ of the shares v of N answers is unbiased for
    the shares K of the items. For a set S of items N·Var F(S) = Σ_y (KA)(y)·(A⁻¹1_S)(y)² − K(S),
    linear in K, so that its maximum over the items is the largest for any data.

    d_EM of F and K is at most their distance on a tree that is nowhere shorter than d: a spanning
    tree of least length, whose edges carry |F(S) − K(S)| of the items S behind them, or a star with
    arms ρ(x) + ρ(y) ≥ d(x, y) of least sum, whose arms carry |F(x) − K(x)|. By Jensen's inequality
    the mean of each is at most its standard deviation.

    Parameters
    ----------
    space : FiniteSpace
        Of 2 to 120 items.

    Attributes
    ----------
    arms : ndarray of float, shape (items,)
        ρ, as shares of the diameter.

    Raises
    ------
    ValueError
        If there are too few or too many items.
    """

    def __init__(self, space: FiniteSpace) -> None:
        if not 2 <= space.size <= MAX_METRIC_ITEMS:
            raise ValueError(f"space: {space.size} items; give 2 to {MAX_METRIC_ITEMS}")
        self.space = space
        self._distances = space.matrix()
        self.arms = _star(self._distances)
        self._behind, self._lengths = _spanning_tree(self._distances)

    def errors(self, alpha0: float) -> tuple[float, float]:
        """Return bounds on N·E‖F − K‖² and √N·E d_EM(F, K) at α₀, for any data.

        Infinite where the law has a condition number above 1e8, or items are at distance 0.

        Parameters
        ----------
        alpha0 : float
            In [0, 800].
        """
        law = Exponential(self.space, alpha0).law()
        condition = float(np.linalg.cond(law))
        if not condition <= MAX_CONDITION:
            return math.inf, math.inf
        inverse: FloatArray = np.asarray(np.linalg.inv(law), dtype=float)
        up = 1 + _INVERSION * condition
        every = np.eye(len(law))
        square = float(((law @ inverse**2).sum(axis=1) - 1).max())
        star = self.arms @ _deviations(law, inverse, every)
        tree = self._lengths @ _deviations(law, inverse, self._behind)
        return max(square, 0.0) * up, float(min(star, tree)) * up

    def distance_bound(self, mse: ArrayLike) -> Any:
        """Return a bound on the mean d_EM of an estimate of sum 1 with a mean squared ℓ2 error.

        By Cauchy–Schwarz on the star: ‖ρ‖₂·√mse.
        """
        return scalar_if_0d(np.linalg.norm(self.arms) * np.sqrt(np.asarray(mse, dtype=float)))


def _deviations(law: FloatArray, inverse: FloatArray, sets: FloatArray) -> FloatArray:
    """Return the largest √(N·Var F(S)) for any data, of the sets in the columns."""
    variances = law @ (inverse @ sets) ** 2 - sets
    return np.asarray(np.sqrt(np.maximum(variances.max(axis=0), 0.0)))


def _star(d: FloatArray) -> FloatArray:
    """Return arms ρ ≥ 0 of least sum with ρ(x) + ρ(y) ≥ d(x, y) for all x ≠ y."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    k = len(d)
    x, y = np.triu_indices(k, 1)
    row = np.arange(x.size)
    sums = csr_array(
        (-np.ones(2 * x.size), (np.concatenate([row, row]), np.concatenate([x, y]))),
        shape=(x.size, k),
    )
    solution = linprog(np.ones(k), A_ub=sums, b_ub=-d[x, y], bounds=(0, None), method="highs")
    arms = np.full(k, d.max() / 2) if solution.x is None else np.maximum(solution.x, 0.0)
    # The solver may miss a limit by its tolerance.
    short = float(np.max(d[x, y] - arms[x] - arms[y], initial=0.0))
    return np.asarray(arms + short)


def _spanning_tree(d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a spanning tree of least length (Prim): the items behind each edge, and its length.

    Ways along it are sums of distances, so that none is shorter than d.
    """
    k = len(d)
    near, parent = d[0].copy(), np.zeros(k, dtype=int)
    outside = np.ones(k, dtype=bool)
    outside[0] = False
    order = []
    for _ in range(k - 1):
        item = int(np.argmin(np.where(outside, near, np.inf)))
        outside[item] = False
        order.append(item)
        closer = outside & (d[item] < near)
        near[closer], parent[closer] = d[item][closer], item
    behind = np.eye(k)
    for item in reversed(order):
        behind[:, parent[item]] += behind[:, item]
    return behind[:, order], near[order]


_MAX_DOMAIN = 1 << 24


def gkrr_estimate(answers: ArrayLike, mechanism: GKRR) -> FloatArray:
    """Return the unbiased estimate F̃ = ṽB of the normalised histogram (Algorithm 4).

    Parameters
    ----------
    answers : array_like of int, shape (N,)
        GKRR's answers to all items, N ≥ 1.
    mechanism : GKRR
        With α₀ > 0, and r > 0 unless clusters have one item.

    Returns
    -------
    ndarray, shape (size,)
        Signed, of sum 1.
    """
    space = mechanism.space
    v = space.histogram(answers)
    if mechanism.alpha0 == 0 or (space.r == 0 and space.each > 1):
        raise ValueError(
            f"mechanism: at alpha0 = {mechanism.alpha0:g}, r = {space.r:g} answers do not tell "
            "items apart and there is no unbiased estimate"
        )
    if space.size == 1:
        return v
    a, b, c = gkrr_inverse(space.clusters, space.each, max(space.r, 1e-300), mechanism.alpha0)
    per_cluster = v.reshape(space.clusters, space.each).sum(axis=1)
    if space.each == 1:
        # a' and b' act together: a' + b' = 1 − s·c'.
        return np.asarray((1 - space.clusters * c) * v + c)
    return np.asarray(a * v + b * np.repeat(per_cluster, space.each) + c)


class HadamardResponse:
    """ε₀-LDP answers in [0, K), K = 2^⌈log2(k+1)⌉: those where row x+1 of H is +1 are likelier.

    Parameters
    ----------
    k : int
        Size of the domain, in [1, 2^24 − 1].
    epsilon0 : float
        In [0, 800].

    References
    ----------
    Acharya, Sun & Zhang 2018, with the block structure left out; Lemma 6.4.
    """

    def __init__(self, k: int, epsilon0: float) -> None:
        self.k = int(checks.integers("k", k, 1, _MAX_DOMAIN - 1))
        self.epsilon0 = float(checks.epsilon0(epsilon0))
        self.K = 1 << self.k.bit_length()

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return one answer for every item."""
        row = indices(items, self.k) + 1
        y = rng.integers(0, self.K, len(row))
        agree = rng.random(len(row)) < 1 / (1 + math.exp(-self.epsilon0))
        # Flipping the lowest bit that the row has flips the sign, and keeps y uniform in a half.
        wrong = _signs(row, y) != np.where(agree, 1, -1)
        return np.where(wrong, y ^ (row & -row), y)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        x = np.arange(self.k)[:, None] + 1
        signs = _signs(x, np.arange(self.K)[None, :])
        likely = 1 / (1 + math.exp(-self.epsilon0))
        return np.where(signs > 0, likely, math.exp(-self.epsilon0) * likely) * (2 / self.K)

    def estimate(self, answers: ArrayLike) -> FloatArray:
        """Return the unbiased estimate of the normalised histogram, shape (k,); ε₀ > 0.

        F̃(x) = mean of H[x+1, y]/tanh(ε₀/2), by one fast Walsh–Hadamard transform of the counts.
        """
        if self.epsilon0 == 0:
            raise ValueError("epsilon0: at 0 answers do not tell items apart")
        y = indices(answers, self.K)
        if len(y) == 0:
            raise ValueError("answers: there must be at least one")
        counts = np.bincount(y, minlength=self.K).astype(float)
        h = 1
        while h < self.K:
            pairs = counts.reshape(-1, 2, h)
            counts = np.stack(
                [pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1
            ).ravel()
            h *= 2
        return np.asarray(counts[1 : self.k + 1] / (len(y) * math.tanh(self.epsilon0 / 2)))


def _signs(row: IntArray, column: IntArray) -> IntArray:
    """Return H[row, column] = (−1)^popcount(row & column)."""
    both = (row & column).astype(np.uint64)
    return np.asarray(1 - 2 * (np.bitwise_count(both).astype(np.int64) & 1))


def laplace_histogram(
    histogram: ArrayLike, n: int, epsilon: float, rng: np.random.Generator
) -> FloatArray:
    """Return K̃ plus Laplace noise of scale 2/(nε): user-level DP in the central model.

    Parameters
    ----------
    histogram : array_like of float, shape (k,)
        Normalised histogram of all users' items, equal numbers each.
    n : int
        Users.
    epsilon : float
        In (0, 800].

    References
    ----------
    Lemma 6.7, with the scale that is ε-DP (errata user-E1).
    """
    mass = np.asarray(histogram, dtype=float)
    if mass.ndim != 1 or not np.isfinite(mass).all() or abs(math.fsum(mass) - 1) > 1e-9:
        raise ValueError(f"histogram: shape {mass.shape} must be a list of masses of sum 1")
    checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON, open_low=True)
    return np.asarray(mass + rng.laplace(0.0, laplace_scale(n, epsilon), mass.shape))


def simplex_projection(estimate: ArrayLike) -> FloatArray:
    """Return the nearest point of the probability simplex in ℓ2.

    Parameters
    ----------
    estimate : array_like of float, shape (..., k)
        Finite.

    References
    ----------
    Held, Wolfe & Crowder 1974: subtract the threshold at which the positive part sums to 1.
    """
    f = np.asarray(estimate, dtype=float)
    if f.ndim == 0 or f.shape[-1] == 0 or not np.isfinite(f).all():
        raise ValueError(f"estimate: shape {f.shape} must have entries, all finite")
    # Relative to the largest entry, so that huge estimates keep a sum of 1.
    shifted = f - f.max(axis=-1, keepdims=True)
    down = -np.sort(-shifted, axis=-1)
    over = (np.cumsum(down, axis=-1) - 1) / np.arange(1, f.shape[-1] + 1)
    support = (down > over).sum(axis=-1, keepdims=True)
    threshold = np.take_along_axis(over, support - 1, axis=-1)
    return np.asarray(np.maximum(shifted - threshold, 0.0))


def emd_projection(estimate: ArrayLike, space: Clustered) -> FloatArray:
    """Return a histogram nearest to a signed estimate in d_EM on a clustered space.

    Its error is at most twice that of the estimate, by the triangle inequality; it costs no
    privacy. Solved in closed form: cluster masses first (only their sum over clusters with too
    little matters), then inside each cluster.

    Parameters
    ----------
    estimate : array_like of float, shape (size,)
        Of sum 1 (to 1e-9), such as `gkrr_estimate`.
    space : Clustered

    Raises
    ------
    ValueError
        If the shape or the sum is not as above.
    """
    f = np.asarray(estimate, dtype=float)
    space.emd_of_masses(f, np.full(space.size, 1.0 / space.size))
    inside = f.reshape(space.clusters, space.each)
    masses = _cut_to_sum(inside.sum(axis=1), 1.0)
    out = np.empty(inside.shape)
    for i, (row, mass) in enumerate(zip(inside, masses, strict=True)):
        out[i] = _cut_to_sum(row, mass)
    return out.ravel()


def _cut_to_sum(values: FloatArray, total: float) -> FloatArray:
    """Return a point ≥ 0 of this sum that is nearest in ℓ1: negatives to 0, the rest cut or raised.

    With P the positive part: if ΣP ≥ total entries of P are only lowered, else only raised, and
    either is the least that any point of the sum can do.
    """
    positive = np.maximum(values, 0.0)
    have = math.fsum(positive)
    if have >= total:
        return np.asarray(positive * (total / have) if have > 0 else positive)
    raised: FloatArray = positive + (total - have) / len(positive)
    return raised
