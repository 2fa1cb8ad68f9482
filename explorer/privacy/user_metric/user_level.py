"""User-level DP, the baseline of Tables 1 and 2: every pair of datasets protected alike at ε.

(α, δ)-d_EM-DP with α ≤ ε is (ε, δ)-user-level DP, because no two datasets are further apart than 1.
The other way round, user-level DP of a linear query is d_EM-DP on the discrete space: its
sensitivity is `lipschitz(values, Discrete(k).matrix(), p)` and its errors are those of `linear` and
`gaussian` at α = ε with that sensitivity (Table 2a).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.composition import kov_exact_delta
from explorer.privacy.core.roots import root_near
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.user_metric.frequency import MAX_DOMAIN
from explorer.privacy.user_metric.gaussian import gaussian_delta, gaussian_sigma


def per_item_epsilon(k: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Any:
    """Return the largest ε₀ whose k-fold composition is (ε, δ)-DP, exactly.

    What user-level DP leaves each of a user's k items when all are released (Kairouz, Oh &
    Viswanath 2015, Theorem 3.3, inverted); never less than ε/k.

    Parameters
    ----------
    k : array of float
        Items, in [1, 1e9].
    epsilon : array of float
        In [0, 800].
    delta : array of float
        In [1e-300, 1); at δ = 1 the largest ε₀ of the domain, 800, is returned.
    """
    return vectorised(_per_item)(
        checks.rounds(k),
        checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON),
        checks.delta(delta),
    )


def _per_item(items: float, epsilon: float, delta: float) -> float:
    if delta >= 1.0:
        return checks.MAX_EPSILON
    share = epsilon / items
    if share * items > epsilon:
        share = math.nextafter(share, 0.0)
    target, root = math.log(delta), math.sqrt(items)

    def excess(x: float) -> float:
        value = float(kov_exact_delta(epsilon, math.exp(x), items))
        return (math.log(value) if value > 0 else -math.inf) - target

    def slope(x: float) -> float:
        # Many small responses are a Gaussian mechanism of this width.
        a, b = (float(gaussian_delta(math.exp(-x - t) / root, epsilon)) for t in (-1e-4, 1e-4))
        return (math.log(b) - math.log(a)) / 2e-4 if a > 0 else 1.0

    high = math.log(checks.MAX_EPSILON)
    low = min(math.log(max(share, 1e-305)), high)
    start = -math.log(float(gaussian_sigma(epsilon, delta)) * root)
    solved = math.exp(root_near(excess, slope, low, start, high))
    # ε/k always is enough; nothing below it has been tried.
    return max(solved, share) if excess(math.log(solved)) <= 0 else share


def hadamard_epsilon_printed(epsilon: ArrayLike, m: ArrayLike, delta: ArrayLike) -> Any:
    """Return ε/√(m ln(m/δ)), the paper's budget of an item: **not private** (errata user-E8).

    The constant was dropped; `per_item_epsilon` is the largest budget that is private.
    """
    e = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)
    items, log_term = _items_and_log(m, delta)
    with np.errstate(divide="ignore"):
        return scalar_if_0d(e / np.sqrt(items * log_term))


def local_improvement_threshold(
    epsilon: ArrayLike, k: ArrayLike, m: ArrayLike, delta: ArrayLike
) -> Any:
    """Return the α above which, by the paper, d_EM-DP errs less than local user-level DP.

    ε√k where ε√k < ln(m/δ), ε²k/ln(m/δ) beyond: up to the constants that both O(·) drop
    (Section 6.2.1, Table 2b).
    """
    e, size = _epsilon_and_size(epsilon, k)
    _, log_term = _items_and_log(m, delta)
    root = e * np.sqrt(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return scalar_if_0d(np.where(root < log_term, root, root**2 / log_term))


def central_improvement_threshold(
    epsilon: ArrayLike, k: ArrayLike, m: ArrayLike, delta: ArrayLike
) -> Any:
    """Return the α above which, by the paper, d_EM-DP errs less than central user-level DP.

    ε√(k ln(m/δ)) where ε√k < √ln(m/δ), ε²k beyond, for n ≤ m/α (Section 6.2.2, Table 2b).
    """
    e, size = _epsilon_and_size(epsilon, k)
    _, log_term = _items_and_log(m, delta)
    root = e * np.sqrt(size)
    steep = np.sqrt(log_term)
    return scalar_if_0d(np.where(root < steep, root * steep, root**2))


def _epsilon_and_size(epsilon: ArrayLike, k: ArrayLike) -> tuple[FloatArray, FloatArray]:
    return (
        checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON),
        checks.integers("k", k, 1, MAX_DOMAIN),
    )


def _items_and_log(m: ArrayLike, delta: ArrayLike) -> tuple[FloatArray, FloatArray]:
    items = checks.integers("m", m, 1, checks.MAX_COUNT)
    return items, np.log(items) - np.log(checks.delta(delta))
