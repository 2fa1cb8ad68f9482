"""M_LDP: the locally private channel of Duchi, Jordan and Wainwright for one vector.

Mechanism 2 of Aliakbarpour et al., with the constant that makes it unbiased. The report of a
vector v with ‖v‖ ≤ r is a point of the sphere of radius B in the half-space of v (or the other
one). v enters through one probability and one sign only, so floating point cannot spoil the
guarantee by more than the rounding of that probability; from α of about 37 on, it rounds to 1.
These samplers take numpy generators and are for studies; a release keeps α ≤ 30 a channel and
draws from the system's randomness.

Words: m is the dimension, r the radius of the input ball, α the privacy level of the channel.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

# A smaller level would need a sphere of infinite radius; designs skip such a channel.
SMALLEST_LEVEL = 1e-300

_TABLE_END = 300
_GAMMA_RATIOS = np.array(
    [0.0] + [math.gamma((m + 1) / 2) / math.gamma(m / 2) for m in range(1, _TABLE_END)]
)


def gamma_ratio(m: ArrayLike) -> FloatArray:
    """Return g_m = Γ((m+1)/2)/Γ(m/2) for whole m ≥ 1, to about 1e-15.

    A difference of log-gammas loses 4e-11 at m = 1e5 (errata coord-B6); from m = 300 on this is the
    asymptotic series in 1/n, n = m/2.
    """
    m = checks.whole("m", m, 1)
    n = np.maximum(m, _TABLE_END) / 2.0
    x = 1.0 / n
    series = 1.0 + x * (
        -1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - x * 399 / 262144)))
    )
    result: FloatArray = np.where(
        m < _TABLE_END, _GAMMA_RATIOS[np.minimum(m, _TABLE_END - 1)], np.sqrt(n) * series
    )
    return result


def _coth_half(alpha: FloatArray) -> FloatArray:
    """Return coth(α/2): infinite at 0, 1 at infinity."""
    with np.errstate(divide="ignore", over="ignore"):
        result: FloatArray = 1.0 / np.tanh(alpha / 2.0)
    return result


def m_ldp_radius(m: ArrayLike, r: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return B = √π·r·g_m·coth(α/2), the radius of the reports' sphere.

    Mechanism 2 prints twice this, which makes the mean of a report 2v (errata coord-A1). Infinite
    at α = 0: such a channel carries nothing and must be skipped (errata coord-B3).
    """
    r = checks.positive("r", r)
    alpha = checks.reals("alpha", alpha, 0.0)
    result: FloatArray = math.sqrt(math.pi) * r * gamma_ratio(m) * _coth_half(alpha)
    return result


def m_ldp_second_moment(m: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return V(m, α) = π·g_m²·coth²(α/2), the second moment of each coordinate at r = √m.

    It does not vanish as α → ∞ but tends to about π·m/2 (errata coord-A3). Infinite at α = 0, and
    wherever the number is beyond the largest float.
    """
    alpha = checks.reals("alpha", alpha, 0.0)
    with np.errstate(over="ignore"):
        result: FloatArray = math.pi * gamma_ratio(m) ** 2 * _coth_half(alpha) ** 2
    return result


def log_second_moment(m: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return log V(m, α), which is finite for every α > 0."""
    return log_moment_at(log_moment_limit(m), checks.reals("alpha", alpha, 0.0))


def log_moment_limit(m: ArrayLike) -> FloatArray:
    """Return log V(m, ∞) = log(π·g_m²)."""
    result: FloatArray = math.log(math.pi) + 2.0 * np.log(gamma_ratio(m))
    return result


def log_moment_at(limit: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return `log_second_moment` from `log_moment_limit`, α ≥ 0 not checked: for searches."""
    with np.errstate(divide="ignore"):
        result: FloatArray = limit - 2.0 * np.log(np.tanh(0.5 * alpha))
        small = (alpha > 0.0) & (alpha < 1e-300)
        if small.any():
            # Half of the smallest floats rounds to 0; there tanh(x) is x.
            result = np.where(small, math.log(4.0) + limit - 2.0 * np.log(alpha), result)
    return result


def m_ldp_variance(v_i: ArrayLike, m: ArrayLike, r: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return the exact variance B²/m − v_i² of one coordinate of a report."""
    v_i = checks.reals("v_i", v_i, -math.inf, math.inf, open_low=True, open_high=True)
    with np.errstate(over="ignore"):
        result: FloatArray = m_ldp_radius(m, r, alpha) ** 2 / np.asarray(m) - v_i**2
    return result


def m_ldp_mse(norm_v: ArrayLike, m: ArrayLike, r: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return the exact error E‖Z − v‖² = B² − ‖v‖² of a report."""
    norm_v = checks.reals("norm_v", norm_v, 0.0, open_high=True)
    with np.errstate(over="ignore"):
        result: FloatArray = m_ldp_radius(m, r, alpha) ** 2 - norm_v**2
    return result


def m_ldp_positive_probability(norm_v: ArrayLike, r: ArrayLike, alpha: ArrayLike) -> FloatArray:
    """Return P(Z·v > 0) = ½(1 + tanh(α/2)·‖v‖/r), ‖v‖ clipped to r (errata coord-B5)."""
    norm_v = checks.reals("norm_v", norm_v, 0.0)
    r = checks.positive("r", r)
    alpha = checks.reals("alpha", alpha, 0.0)
    result: FloatArray = 0.5 * (1.0 + np.tanh(alpha / 2.0) * np.minimum(norm_v / r, 1.0))
    return result


def log_half_space_probabilities(
    share: ArrayLike, alpha: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithms of P(Z·v > 0) and of P(Z·v < 0) for ‖v‖ = share·r.

    The second keeps its relative accuracy where the first rounds to 0.
    """
    share, alpha = np.broadcast_arrays(np.asarray(share, float), np.asarray(alpha, float))
    with np.errstate(divide="ignore"):
        # 1 − tanh(α/2) = 2/(e^α + 1).
        log_tail = math.log(2.0) - np.logaddexp(alpha, 0.0)
        minus = np.logaddexp(np.log1p(-share), np.log(share) + log_tail) - math.log(2.0)
    plus = np.log1p(np.tanh(alpha / 2.0) * share) - math.log(2.0)
    return plus, minus


def m_ldp_loss(v: ArrayLike, v_prime: ArrayLike, r: float, alpha: ArrayLike) -> FloatArray:
    """Return the exact privacy loss sup_z log f(z|v)/f(z|v') between two inputs.

    The density of a report has one value on the half-space of its input and one on the other, so
    the supremum is over the at most four intersections that have positive measure: two of them
    if the inputs are collinear. It is α between opposite corners and between any two distinct
    corners that are not opposite.

    Parameters
    ----------
    v, v_prime : array_like of shape (m,)
        Inputs of norm at most r; norms within 4 units in the last place of r count as r.
    r : float
        Radius, > 0.
    alpha : array_like
        Levels in [0, ∞].

    Returns
    -------
    ndarray, shape of alpha
    """
    first = checks.reals("v", v, -math.inf, math.inf, open_low=True, open_high=True)
    second = checks.reals("v_prime", v_prime, -math.inf, math.inf, open_low=True, open_high=True)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise ValueError(
            f"v and v_prime must be vectors of one length, got {first.shape}, {second.shape}"
        )
    checks.positive("r", r)
    alpha = checks.reals("alpha", alpha, 0.0)
    shares = np.array([np.linalg.norm(first), np.linalg.norm(second)]) / r
    if (shares > 1.0 + 1e-9).any():
        raise ValueError(f"‖v‖ must be at most r = {r:g}, got {shares.max() * r:g}")
    shares[shares >= 1.0 - 1e-15] = 1.0
    plus, minus = log_half_space_probabilities(shares, alpha[..., None])
    pivot = int(np.argmax(np.abs(first)))
    cross = np.abs(first * second[pivot] - first[pivot] * second)
    collinear = cross.max() <= 1e-15 * abs(first[pivot]) * np.abs(second).max()
    same = bool(first @ second > 0.0)
    losses = [np.zeros(alpha.shape)]
    with np.errstate(invalid="ignore"):
        # The difference of two impossible outputs is not a number, and maxima skip it.
        if not collinear or same or not shares.all():
            losses += [plus[..., 0] - plus[..., 1], minus[..., 0] - minus[..., 1]]
        if not collinear or not same:
            losses += [plus[..., 0] - minus[..., 1], minus[..., 0] - plus[..., 1]]
    result: FloatArray = np.fmax.reduce(np.stack(losses))
    return result


def half_space_signs(
    v: FloatArray, g: FloatArray, u: FloatArray, share: FloatArray, alpha: float
) -> FloatArray:
    """Return ±1 for every row: the sign that turns the direction g into the report's.

    +1 if g is in the half-space of v, turned over with the probability of a report against v.
    At v = 0 both half-spaces have probability ½ and sign(0) counts as +1, so that the report is
    uniform without a special case (errata coord-B5).
    """
    towards = np.einsum("ij,ij->i", g, v) >= 0.0
    keep = u < 0.5 * (1.0 + math.tanh(alpha / 2.0) * np.minimum(share, 1.0))
    result: FloatArray = np.where(towards == keep, 1.0, -1.0)
    return result


def m_ldp_from_draws(
    v: ArrayLike, r: float, alpha: float, g: ArrayLike, u: ArrayLike
) -> FloatArray:
    """Return reports as a deterministic map of the draws: B·τ·t·g/‖g‖.

    Parameters
    ----------
    v : array_like of shape (m,) or (n, m)
        Inputs; norms above r are treated as r.
    r, alpha : float
        Radius of the input ball, > 0; privacy level, ≥ 1e-300.
    g : array_like, same shape as v
        Standard normals, no row all zero.
    u : array_like of shape () or (n,)
        Uniform in [0, 1): τ is +1 where u < P(Z·v > 0).
    """
    v, g = np.atleast_1d(np.asarray(v, float)), np.atleast_1d(np.asarray(g, float))
    if v.shape != g.shape or v.ndim > 2:
        raise ValueError(f"g must have the shape of v, got {g.shape} and {v.shape}")
    checks.reals("v", v, -math.inf, math.inf, open_low=True, open_high=True)
    checks.reals("u", u, 0.0, 1.0, open_high=True)
    checks.reals("alpha", alpha, SMALLEST_LEVEL)
    rows, directions = np.atleast_2d(v), np.atleast_2d(g)
    lengths = np.linalg.norm(directions, axis=1)
    if not (lengths > 0.0).all():
        raise ValueError("g must have no row of zeros, got one")
    radius = float(m_ldp_radius(rows.shape[1], r, alpha))
    share = np.linalg.norm(rows, axis=1) / r
    signs = half_space_signs(rows, directions, np.atleast_1d(np.asarray(u, float)), share, alpha)
    result: FloatArray = ((radius * signs / lengths)[:, None] * directions).reshape(v.shape)
    return result


def m_ldp(v: ArrayLike, alpha: float, r: float, rng: np.random.Generator) -> FloatArray:
    """Draw one α-LDP report of each row: unbiased, on the sphere of radius B.

    Parameters
    ----------
    v : array_like of shape (n, m) or (m,)
        Inputs; norms above r are treated as r.
    alpha : float
        Privacy level, ≥ 1e-300. (At 0 there is nothing to report.)
    r : float
        Radius of the input ball, > 0.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray, same shape as v
        E Z = v, E ZZᵀ = (B²/m)·I.
    """
    v = np.asarray(v, float)
    g = normals(rng, v.shape)
    return m_ldp_from_draws(v, r, alpha, g, rng.random(v.shape[:-1]))


def normals(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw standard normals without a row of zeros (which has no direction)."""
    g = rng.standard_normal(shape)
    if shape[-1] <= 2:
        # Only here is a row of zeros more than a theoretical possibility.
        g[(g == 0.0).all(axis=-1)] = 1.0
    return g
