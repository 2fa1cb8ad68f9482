"""Equations (6) and (7): the paper's closed forms for α₀, and what they really spend.

Shown beside the right numbers; never to calibrate with (errata user-A3 to user-A6, user-F1).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.user_metric.calibration import ALPHA_MAX
from explorer.privacy.user_metric.theorem44.theorem import alpha_at, checked, validity_at


@dataclass(frozen=True)
class ClosedForm:
    """Equations (6) and (7) as printed: shown, never to calibrate (errata user-A3 to user-A6).

    Attributes
    ----------
    alpha0 : ndarray of float
    branch : ndarray of int
        1 or 2.
    log_term : ndarray of float
        L = ln(4m·e^α/δ').
    valid : ndarray of bool
        Whether Theorem 4.4's condition holds at this α₀ with δ = δ'e^−α, and α < m.
    """

    alpha0: FloatArray
    branch: NDArray[np.int64]
    log_term: FloatArray
    valid: BoolArray


def closed_form(
    alpha: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> ClosedForm:
    """Return α₀ of equation (6) (n = 1, local) or (7) (central) as printed.

    Never to calibrate with: branch 1 is 4.6–8 times too small, branch 2 exceeds the budget for
    α₀ > 4, and neither states its condition (errata user-A3 to user-A6, user-F1).

    Parameters
    ----------
    alpha : array of float
        In [0, 800].
    delta_prime, m, n
        As in `theorem44_invert`.
    """
    a = checks.reals("alpha", alpha, 0.0, ALPHA_MAX)
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a, items, users, target = np.broadcast_arrays(a, items, users, target)
    log_term = math.log(4) + np.log(items) + a - target
    ratio = a * np.sqrt(users) / (32 * np.sqrt(items * log_term))
    first = ratio <= 1
    alpha0 = np.where(first, ratio, 2 * np.log(np.where(first, 1.0, 2 * ratio)))
    valid = (a < items) & (alpha0 < validity_at(items * users, items * users, target - a))
    return ClosedForm(alpha0, np.where(first, 1, 2).astype(np.int64), log_term, valid)


def closed_form_achieved(
    alpha: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return the α that Theorem 4.4 certifies at `closed_form`'s α₀ with δ = δ'e^−α.

    Above α the closed form spends more than it was given.
    """
    a = checks.reals("alpha", alpha, 0.0, ALPHA_MAX)
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a0 = closed_form(a, delta_prime, m, n).alpha0
    return scalar_if_0d(alpha_at(a0, items, users, target - a))


def closed_form_claim(
    alpha0: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return the α at which equation (6) or (7) gives this α₀: what the paper says it is worth.

    NaN for α₀ between 1 and 2 ln 2, which the printed forms jump over (errata user-A5); may exceed
    800.

    Parameters
    ----------
    alpha0 : array of float
        In [0, 800].
    delta_prime, m, n
        As in `closed_form`.
    """
    a0, items, users, target = checked(alpha0, m, delta_prime, n, "delta_prime")
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.where(a0 <= 1, a0, np.exp(a0 / 2) / 2)
        # α√n = 32·ratio·√(m(L₀ + α)), squared: α² = 2bα + 2bL₀.
        root = math.sqrt(512) * ratio * np.sqrt(items / users)
        half = root * root
        log_term = math.log(4) + np.log(items) - target
        alpha = half + root * np.sqrt(half + 2 * log_term)
    return scalar_if_0d(np.where((a0 > 1) & (a0 < 2 * math.log(2)), np.nan, alpha))
