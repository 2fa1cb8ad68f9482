"""What Theorem 4.4 certifies of a given α₀ at a claimed δ', with its condition."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.user_metric.theorem44.theorem import (
    Internal,
    alpha_at,
    checked,
    log_delta_inside,
    theorem44_delta,
    theorem44_delta_tight,
    validity_at,
)

_UP = 1 + 1e-11
"""Adds more than rounding may have taken off."""


@dataclass(frozen=True)
class TheoremCertificate:
    """The other direction of `theorem44_invert`.

    Attributes
    ----------
    alpha : ndarray of float
        The α certified, rounded up; infinite beyond 1e308.
    limit : ndarray of float
        ln(mn/(16 ln(4mn/δ))), below which α₀ has to be; may be negative.
    valid : ndarray of bool
        Whether it is.
    """

    alpha: FloatArray
    limit: FloatArray
    valid: BoolArray


def theorem44_certificate(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> TheoremCertificate:
    """Return the α for which item-wise release at α₀ is (α, δ')-bounded d_EM-DP by Theorem 4.4.

    With δ = δ'e^−α, α = 4α₀(√(m·e^α₀(ln(4m/δ') + α)/n) + e^α₀/n) is a quadratic equation in α;
    with δ·e^h = δ' the δ comes first.

    Parameters
    ----------
    alpha0 : array of float
        In [0, 800].
    delta_prime : array of float
        The δ' claimed, in [1e-300, 1].
    m, n : array of float
        Items of every user and users (1: local model), whole, in [1, 1e12].
    internal : Internal
        How the theorem's δ is chosen from δ'.
    """
    rule = Internal(internal)
    a0, items, users, target = checked(alpha0, m, delta_prime, n, "delta_prime")
    a0, items, users, target = np.broadcast_arrays(a0, items, users, target)
    if rule is Internal.TIGHT:
        log_delta = log_delta_inside(a0, items, users, target)
        alpha = alpha_at(a0, items, users, log_delta) * _UP
    else:
        alpha = _simple(a0, items, users, target) * _UP
        log_delta = target - np.minimum(alpha, 1e300)
    limit = validity_at(items * users, items * users, log_delta)
    return TheoremCertificate(alpha, limit, np.asarray(a0 < limit))


@dataclass(frozen=True)
class TheoremDelta:
    """The δ' that Theorem 4.4 gives α and α₀ together.

    Attributes
    ----------
    claimed, tight : ndarray of float
        δ·e^h as claimed, and (δ/m)(e^h − 1)/(e^{h/m} − 1), which the proof gives; at most 1.
    valid : ndarray of bool
        Whether the theorem's condition holds at that δ, which must be in [1e-300, 1].
    """

    claimed: FloatArray
    tight: FloatArray
    valid: BoolArray


def theorem44_delta_at(
    alpha: ArrayLike, alpha0: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> TheoremDelta:
    """Return δ' such that Theorem 4.4 makes item-wise release at α₀ (α, δ')-bounded d_EM-DP.

    The δ inside at which the theorem's α is some a ≤ α: ln(4m/δ) = (n/(m·e^α₀))·(a/(4α₀) −
    e^α₀/n)². Both claims fall as a grows, since ln δ + h is concave in ln δ and 0 or more at its
    end; but from some a on the theorem's condition fails, where ln(4m/δ) = mn·e^−α₀/16 − ln n. So a
    is α or, if that is less, just below where the condition ends. Rounded up.

    Parameters
    ----------
    alpha : array of float
        In [0, 800].
    alpha0, m, n
        As in `theorem44_certificate`.
    """
    asked = checks.reals("alpha", alpha, 0.0, checks.EPSILON_MAX)
    a0, items, users, _ = checked(alpha0, m, 1.0, n)
    asked, a0, items, users = np.broadcast_arrays(asked, a0, items, users)
    largest = np.log(4 * items) - np.log(checks.DELTA_MIN)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        end = items * users * np.exp(-a0) / 16 - np.log(users)
        log_term = np.clip(np.minimum(end, largest) * (1 - 1e-10), 0.0, None)
        half = np.exp(a0 / 2)
        last = 4 * a0 * half * (np.sqrt(items * log_term / users) + half / users)
        rest = np.minimum(asked, last) / (4 * a0) - np.exp(a0) / users
        log_delta = np.log(4 * items) - users / items * np.exp(-a0) * rest**2
    inside = (rest > 0) & (log_delta <= 0) & (log_delta >= np.log(checks.DELTA_MIN))
    # Rounded up by more than the square of the rest may have lost.
    delta = np.exp(np.where(inside, log_delta + 1e-11, 0.0))
    delta = np.clip(delta, checks.DELTA_MIN, 1.0)
    limit = validity_at(items * users, items * users, np.log(delta))
    return TheoremDelta(
        np.minimum(theorem44_delta(a0, items, delta, users) * _UP, 1.0),
        np.minimum(theorem44_delta_tight(a0, items, delta, users) * _UP, 1.0),
        np.asarray(inside & (a0 < limit)),
    )


def _simple(a0: Any, items: FloatArray, users: FloatArray, target: FloatArray) -> FloatArray:
    """Solve α − C = √(b(L + α)), b = 16α₀²m·e^α₀/n, C = 4α₀e^α₀/n, L = ln(4m/δ')."""
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.exp(a0)
        # The root first: the square of a small α₀ has no double.
        root = 4 * a0 * np.sqrt(items * steep / users)
        b = root * root
        c = 4 * a0 * steep / users
        log_term = np.log(4.0) + np.log(items) - target
        alpha = c + b / 2 + root * np.sqrt(b / 4 + log_term + c)
    return np.where(np.isnan(alpha), np.inf, alpha)
