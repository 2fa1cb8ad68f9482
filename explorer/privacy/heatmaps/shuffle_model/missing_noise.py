"""What the shuffle-model protocol still promises when part of the promised noise is missing.

Each of n_min users sends a Pólya share of the noise. If only ρ·n_min of them do, ρ < 1, the noise
of a cell is the difference of two negative binomial variables of shape ρ with p = e^{−a},
a = ε/B, instead of ρ = 1 (discrete Laplace). With f its probabilities, for k ≥ 0,

    f(k) ∝ e^{−ka} F(k),  F(k) = ∫₀^∞ e^{−(ρ+k)u} (1 − e^{−u})^{−ρ} (1 − e^{−2a−u})^{−ρ} du

(Euler's integral of the hypergeometric series Σ_j NB(j) NB(j+k)). So f is a mixture of
exponentials, hence log-convex on k ≥ 0, largest at 0 and symmetric. From this follow the exact
privacy losses: a change of one count by v has the loss g(v) = ln f(0)/f(v), attained where the
noise is 0; g is concave, so that a user whose B units are spread evenly over several cells loses
more than one whose units are in one cell.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.papers import HEATMAPS as PAPER

RESOLUTION_MAX = 2.0**40
"""Largest B."""
_STEP = 0.25


def deficient_epsilon(
    epsilon: ArrayLike, resolution: ArrayLike, missing: ArrayLike, cells: ArrayLike = 1
) -> Bound:
    """Return the exact level of one pyramid level when a fraction of the noise is missing.

    Parameters
    ----------
    epsilon : array_like of float
        ε_i of the level with all noise, in (0, 800].
    resolution : array_like of int
        B, in [1, 2⁴⁰].
    missing : array_like of float
        Fraction of the n_min guaranteed users who do not add their share, in [0, 1].
    cells : array_like of int
        Over how many cells of the level one user's data may be spread, in [1, 10¹²]; B at most
        matter. With 1 it is the level of a user who stays in one cell.

    Returns
    -------
    Bound
        sup of the privacy loss when a user's data are replaced by nothing, the shuffled sums being
        all that is seen: ε where nothing is missing, infinite where everything is. Exact; up to
        the n-th digit of a floating-point number.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Appendix F of Ghazi et al. 2022 with the noise of both errata heat-1 and heat-2. For ε_i = .32
    in one cell: .43 at 10 % missing, 1.7 at 50 % and B = 64 (there it grows like ln ln B without
    end).
    """
    eps = checks.reals("epsilon", epsilon, 0.0, checks.EPSILON_MAX, open_low=True)
    scale = checks.integers("resolution", resolution, 1, RESOLUTION_MAX)
    share = 1 - checks.reals("missing", missing, 0.0, 1.0)
    spread = checks.integers("cells", cells, 1, checks.COUNT_MAX)
    eps, scale, share, spread = np.broadcast_arrays(eps, scale, share, spread)
    parts = np.minimum(spread, scale)
    # B units over h cells as evenly as whole numbers allow.
    low = np.floor(scale / parts)
    more = scale - low * parts
    value = (parts - more) * zero_loss(low, share, eps / scale)
    larger = more > 0
    if larger.any():
        extra = zero_loss((low + 1)[larger], share[larger], (eps / scale)[larger])
        value = np.asarray(value)
        value[larger] += more[larger] * extra
    # With all noise every split loses exactly ε; less noise never loses less.
    value = np.where(share == 1, eps, np.maximum(value, eps))
    where = Reference(
        PAPER, "Appendix F", "difference of two Pólya shares, scale B/ε: errata heat-1, heat-2"
    )
    return Bound(value, Role.EXACT, where)


def zero_loss(k: ArrayLike, share: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return ln f(0)/f(k) of the difference of two negative binomials of shape ρ and p = e^{−a}.

    Parameters
    ----------
    k : array_like of int
        ≥ 1, up to 2⁴⁰.
    share : array_like of float
        ρ in [0, 1].
    rate : array_like of float
        a > 0.

    Returns
    -------
    ndarray
        ka at ρ = 1, infinite at ρ = 0.

    Notes
    -----
    The integral over ln u by the trapezoidal rule, whose error at this step is below 1e-15 as the
    integrand is analytic in a strip of half-width π/2; its left end, where the integrand is a
    power, is summed as a geometric series. F(0) − F(k) is integrated by itself, so that small
    losses keep their digits.
    """
    shift, rho, a = np.broadcast_arrays(
        np.asarray(k, float), np.asarray(share, float), np.asarray(rate, float)
    )
    out = np.where(rho > 0, shift * a, math.inf)
    part = (rho > 0) & (rho < 1)
    if part.any():
        out[part] += _excess(shift[part], rho[part], a[part])
    return out


def _excess(k: FloatArray, rho: FloatArray, a: FloatArray) -> FloatArray:
    """Return ln F(0)/F(k), one-dimensional."""
    # From where every part of the integrand is a power of u to where e^{−ρu} is nothing.
    first = np.log(np.minimum(np.minimum(2 * a, 1 / (k + 1)), 1.0)) - 40.0
    last = np.log(800 / rho)
    nodes = np.arange(math.ceil(float((last - first).max()) / _STEP))
    log_u = first[:, None] + _STEP * nodes
    with np.errstate(under="ignore", over="ignore"):
        u = np.exp(log_u)
        ratio = np.where(u < 1e-9, 1.0 - u / 2, -np.expm1(-u) / np.maximum(u, 1e-9))
        # u^{1−ρ} rather than u·u^{−ρ}: neither factor may leave the range of numbers by itself.
        log_f = (1 - rho[:, None]) * log_u - rho[:, None] * (
            u + np.log(ratio) + np.log(-np.expm1(-(2 * a[:, None] + u)))
        )
        peak = log_f.max(axis=1, keepdims=True)
        weight = np.exp(log_f - peak)
        tail = weight[:, 0] / np.expm1(_STEP * (1 - rho))
        gone = -np.expm1(-k[:, None] * u)
        all_of_it = weight.sum(axis=1) + tail
        # Below the first node 1 − e^{−ku} is ku, and the series begins one power higher.
        lost = (weight * gone).sum(axis=1)
        lost += weight[:, 0] * gone[:, 0] / np.expm1(_STEP * (2 - rho))
        left = (weight * np.exp(-k[:, None] * u)).sum(axis=1) + tail
    small = lost < 0.5 * all_of_it
    direct = np.log(all_of_it) - np.log(left)
    return np.where(small, -np.log1p(-np.where(small, lost / all_of_it, 0.0)), direct)
