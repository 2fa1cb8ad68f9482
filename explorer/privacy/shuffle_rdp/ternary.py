"""The core of Theorem 1: ternary |χ|^α divergences of shuffled messages, and Lemma 2.

D_α = E_R|(P−Q)/R|^α, where P, Q and R are the laws of k shuffled messages whose data sets differ in
one client's record only (Definition 4). Lemma 2 makes Rényi levels of the D_α of all orders,
Theorem 4 bounds them for any data of the others, Theorem 6 where these are alike. Binary and
three-symbol randomised response (2RR, 3RR) have exact values, below which no bound can lie.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_half_pmf, log_pmf, logistic_log_p
from explorer.privacy.core.bound import SHUFFLE_RDP, FloatArray, Reference
from explorer.privacy.core.divergences import softplus
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.shuffle_rdp.upper import (
    binomial_transform,
    log_alike,
    log_mixed,
    log_sharp_mixed,
)

THEOREM_4 = Reference(SHUFFLE_RDP, "Theorem 4", "any data of the others")
THEOREM_6 = Reference(SHUFFLE_RDP, "Theorem 6", "the others alike")
SHARP = Reference(
    SHUFFLE_RDP, "Theorem 5 with the sharp α = 2", "ours: linear programme over all randomisers"
)
SHARP_ALIKE = Reference(
    SHUFFLE_RDP, "Theorem 6 for α = 2, sharp", "ours: linear programme over all randomisers"
)
EXACT_2RR = Reference(SHUFFLE_RDP, "Definition 4 of binary randomised response", "summed exactly")
EXACT_3RR = Reference(
    SHUFFLE_RDP, "Definition 4 of three-symbol randomised response", "summed exactly"
)

MAX_ALPHA = 64
"""Largest α of the exact values."""
_MAX_LOCAL = 10.0
_FINE = 400.0
"""Counts on a deviation, of very many: the sum over every h-th is then good to 1e-10."""
_ROWS = 3.0


def _alpha(alpha: ArrayLike) -> FloatArray:
    return checks.integers("alpha", alpha, 2, MAX_ALPHA)


def _at(table: Any, alpha: FloatArray, *arguments: FloatArray) -> Any:
    """Pick each point's own α from a table of logarithms over 2…64."""
    order, *arrays = np.broadcast_arrays(alpha, *arguments)
    rows = table(*(a.ravel() for a in arrays), MAX_ALPHA)
    with np.errstate(over="ignore"):
        value = np.exp(rows[np.arange(order.size), order.ravel().astype(int) - 2])
    return scalar_if_0d(value.reshape(order.shape))


def theorem6(alpha: ArrayLike, eps0: ArrayLike, m: ArrayLike) -> Any:
    """Return Theorem 6's bound on D_α of m messages, the others' data alike.

    4(e^ε₀−1)²/(m·e^ε₀) for α = 2, αΓ(α/2)(2s²/m)^{α/2} from 3 on, s = e^ε₀ − e^−ε₀.

    Parameters
    ----------
    alpha, eps0, m : array of float, broadcast together
        α whole, in [2, 64]; ε₀ in [0, 10]; m whole, in [1, 1e12].
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    return _at(log_alike, _alpha(alpha), e, checks.integers("m", m, 1, checks.MAX_COUNT))


def theorem4(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return Theorem 4's bound on D_α of k messages, whatever the others' data.

    Theorem 6 at m = k̄ = ⌊(k−1)/(2e^ε₀)⌋+1, and s^α·e^{−(k−1)/(8e^ε₀)} for too few clones.
    Domains as in `theorem6`.
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    return _at(log_mixed, _alpha(alpha), e, checks.integers("k", k, 1, checks.MAX_COUNT))


def sharp_alike(eps0: ArrayLike, m: ArrayLike) -> Any:
    """Return the largest D_2 of m messages among all ε₀-LDP randomisers, the others' data alike.

    (E−1)²/m·max(1/E, 2/(E+2)), E = e^ε₀: attained by 2RR where E ≤ 2 and by 3RR above.

    Notes
    -----
    The ratio (P−Q)/R of the counts is the average of m independent terms (p−q)/r with mean 0, so
    D_2 is 1/m of one message's Σ(p−q)²/r. Columns (p, q, r) whose ratios are at most E are
    non-negative combinations of those with entries in {1, E}: a linear programme over the eight of
    them with Σp = Σq = Σr = 1. Its dual has the solutions u (for p and for q) and v (for r)

    - E ≥ 2: u = E(E−1)/(E+2), v = −2(E−1)/(E+2);
    - E ≤ 2: u = (E−1)²/E, v = −(E−1)²/E,

    for which u(p+q) + v·r ≥ (p−q)²/r at all eight columns; 2u + v is the value above.
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    messages = checks.integers("m", m, 1, checks.MAX_COUNT)
    ratio = np.exp(e)
    return scalar_if_0d(np.expm1(e) ** 2 / messages * np.maximum(1 / ratio, 2 / (ratio + 2)))


def sharp_mixed(eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return a bound on D_2 of k messages, whatever the others' data, sharper than Theorem 4.

    Theorem 5 with `sharp_alike`: E[1/(M+1)] for M ~ Bin(k−1, 1/E) clones is
    (E/k)(1 − (1−1/E)^k).
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    found = np.exp(log_sharp_mixed(e, checks.integers("k", k, 1, checks.MAX_COUNT)))
    return scalar_if_0d(found)


def lemma2_rdp(lam: int, gamma: float, divergences: ArrayLike) -> float:
    """Return Lemma 2's Rényi level of order λ: ln(1 + Σ_{α=2}^{λ} C(λ,α)γ^α·D_α)/(λ−1).

    Parameters
    ----------
    lam : int
        In [2, 4096].
    gamma : float
        Sampling rate, in (0, 1].
    divergences : array of float, shape (λ−1,)
        D_α, or bounds on it, for α = 2…λ; positive.
    """
    order = int(checks.integers("lam", lam, 2, checks.MAX_ORDER))
    rate = float(checks.reals("gamma", gamma, 0.0, 1.0, open_low=True))
    found = checks.positive("divergences", divergences)
    if found.shape != (order - 1,):
        raise ValueError(f"divergences: {found.shape} is not the shape ({order - 1},)")
    log_w = np.arange(2.0, order + 1) * math.log(rate) + np.log(found)
    return float(softplus(binomial_transform(log_w[None, :], order)[0, -1])) / (order - 1)


def ternary_2rr(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return D_α of k messages of 2RR exactly, all others and one of the two cases alike.

    E|s(m−kp)/k|^α, m ~ Bin(k, p), p = 1/(e^ε₀+1). Domains as in `theorem6`; of very many counts
    evenly spaced ones are summed, good to 1e-9.
    """
    return _exact(_of_2rr, alpha, eps0, k)


def ternary_3rr(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return D_α of k messages of 3RR exactly: the client moves from 1 to 2, all others hold 3.

    ((e^ε₀−1)/k)^α·E|N₁−N₂|^α over the trinomial counts of 1 and 2, probability 1/(e^ε₀+2) each.
    Domains and accuracy as in `ternary_2rr`.
    """
    return _exact(_of_3rr, alpha, eps0, k)


def _exact(one: Any, alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)

    def value(order: float, local: float, size: float) -> float:
        return math.exp(one(order, local, size)) if local > 0 else 0.0

    return vectorised(value)(_alpha(alpha), e, clients)


def _reach(alpha: float) -> float:
    """Return how many deviations out |z|^α e^{−z²/2} is below e^−80 of its peak at √α."""
    return math.sqrt(alpha) + 9


def _window(mean: float, most: float, alpha: float) -> tuple[float, float, float]:
    """Return where |m − mean|^α times a binomial law lives, and the law's deviation."""
    deviation = math.sqrt(mean * (1 - mean / most))
    # Of few counts the law falls more slowly than a normal one, by e^−1 a count at least.
    reach = _reach(alpha) * deviation + 60 + alpha * (2 + math.log1p(alpha))
    return max(0.0, math.floor(mean - reach)), min(most, math.ceil(mean + reach)), deviation


def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _of_2rr(alpha: float, eps0: float, k: float) -> float:
    log_p, log_q = logistic_log_p(eps0)
    mean = k * math.exp(log_p)
    low, high, deviation = _window(mean, k, alpha)
    step = max(1.0, math.floor(deviation / _FINE))
    m = np.arange(low, high + 1, step)
    with np.errstate(divide="ignore"):
        away = np.log(np.abs(m - mean)) + math.log(2 * math.sinh(eps0) / k)
    return _log_sum(log_pmf(m, k, log_p, log_q) + alpha * away) + math.log(step)


def _of_3rr(alpha: float, eps0: float, k: float) -> float:
    log_share = math.log(2) - eps0 - math.log1p(2 * math.exp(-eps0))
    mean = k * math.exp(log_share)
    low, high, deviation = _window(mean, k, alpha)
    low = max(low, 1.0)
    # Odd steps visit even and odd counts alike, whose differences lie on different lattices.
    step = math.floor(deviation / _ROWS) | 1 if low > 512 else 1
    stride = math.floor(2 * math.sqrt(low) / _FINE) | 1
    N = np.arange(low, high + 1, step)[:, None]
    reach = (_reach(alpha) + 1) / 2 * math.sqrt(high) + 2
    fewer = np.ceil(N / 2) - 1 - (stride - 1) / 2 - stride * np.arange(math.ceil(reach / stride))
    inside = fewer >= 0
    apart = N - 2 * np.where(inside, fewer, 0.0)
    logs = log_half_pmf(np.where(inside, fewer, 0.0), N) + alpha * np.log(apart)
    logs += log_pmf(N, k, log_share, math.log1p(-math.exp(log_share)))
    scale = alpha * (math.log(math.expm1(eps0)) - math.log(k)) + math.log(2 * step * stride)
    return _log_sum(logs[inside]) + scale
