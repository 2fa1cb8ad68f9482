"""The best that is proved here of item-wise release: the largest α₀, or the least α, of all ways.

All are proofs about one mechanism, so that the best of their numbers holds: exact hops with the
stronger clones (`group_alpha0`), the same in increasing order, and for 0/1 distances hops side by
side (`product_alpha0`).

References
----------
Our proofs on Lemma B.1 of Imola, Roy Chowdhury & Chaudhuri, "Metric Differential Privacy at the
User-Level via the Earth Mover's Distance"; specification "Better than e^α", I and II, and
"Monotone envelope", which says why the largest may be taken.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.group_calibration import group_alpha, group_alpha0
from explorer.privacy.user_metric.product_hops import product_alpha, product_alpha0

PRODUCT_ITEMS = 30
"""Most items of a user whose hops are added up side by side while somebody waits."""


def best_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    *,
    side_by_side: bool = True,
) -> Any:
    """Return the largest α₀ of which (α, δ')-bounded d_EM-DP is proved, where d is at most 1.

    Rounded down, by 1e-3 of itself at most. Arguments as in `group_alpha0`.

    Parameters
    ----------
    side_by_side : bool
        Whether `product_alpha0` is asked too, which takes up to some seconds: where the smallest
        distance is 1 and m at most 30.
    """

    def solve(alpha: float, delta: float, m: float, n: float, near: float) -> float:
        at = alpha, delta, m, n, near, 1.0, Clones.STRONGER
        found = [group_alpha0(*at, in_order=way) for way in _ways(near)]
        if side_by_side and near >= 1 and m <= PRODUCT_ITEMS:
            found.append(product_alpha0(alpha, delta, m, n))
        return float(max(found))

    return vectorised(solve)(*_arguments(alpha, delta_prime, m, n, min_distance))


def best_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    *,
    side_by_side: bool = True,
) -> Any:
    """Return the least α of which item-wise release at α₀ is proved: the inverse of `best_alpha0`.

    Rounded up; infinite beyond 800.
    """

    def solve(alpha0: float, delta: float, m: float, n: float, near: float) -> float:
        at = alpha0, delta, m, n, near, 1.0, Clones.STRONGER
        found = [group_alpha(*at, in_order=way) for way in _ways(near)]
        if side_by_side and near >= 1 and m <= PRODUCT_ITEMS:
            found.append(product_alpha(alpha0, delta, m, n))
        return float(min(found))

    return vectorised(solve)(*_arguments(alpha0, delta_prime, m, n, min_distance))


def _ways(near: float) -> tuple[bool, ...]:
    """Return whether hops are in order or not: where all are as long, that is one."""
    return (False,) if near >= 1 else (False, True)


def _arguments(
    level: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike, min_distance: ArrayLike
) -> tuple[np.ndarray[Any, Any], ...]:
    # What else they must be is checked by the functions that are asked.
    return (
        checks.reals("alpha", level, 0.0, checks.MAX_EPSILON),
        checks.delta(delta_prime, "delta_prime"),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
        checks.reals("min_distance", min_distance, 0.0, 1.0),
    )
