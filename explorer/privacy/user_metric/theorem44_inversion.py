"""Theorem 4.4 inverted: the largest α₀ that it certifies for a target (α, δ').

At one α the condition may bind: with δ = δ'e^−α the limit ln(mn/(16 ln(4mn/δ))) falls as α grows,
so that the theorem at α itself allows less than at a smaller a, or nothing. But what is (a, δ')-
private is (α, δ')-private for every α ≥ a: `theorem44_alpha0` is the most that any a ≤ α allows.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import increasing_root
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.theorem44 import (
    Internal,
    checked,
    log1p_amplified,
    validity_at,
)

_DOWN = 1 - 1e-12
"""Takes more off a root than rounding may have added."""
_BELOW = 2e-12
"""The same for a limit that is itself a root: more than `validity_at` takes off one."""


class Binding(StrEnum):
    """Constraint that limits an inverted α₀."""

    ALPHA = "alpha"
    VALIDITY = "validity"
    INFEASIBLE = "infeasible"
    """No α₀ > 0 satisfies the theorem's condition."""


@dataclass(frozen=True)
class Inversion:
    """The largest α₀ that Theorem 4.4 certifies, and what limits it.

    Attributes
    ----------
    alpha0 : ndarray of float
        min of the root and the validity cap, 0 where the cap is not positive.
    unconstrained : ndarray of float
        The root of the theorem's α, whatever its condition says.
    binding : ndarray of str
        A `Binding`.
    """

    alpha0: FloatArray
    unconstrained: FloatArray
    binding: NDArray[np.str_]


def theorem44_invert(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> Inversion:
    """Return the largest α₀ that Theorem 4.4 certifies at α itself for (α, δ')-bounded d_EM-DP.

    The condition is the printed one, with mn in both places. Rounded down, by 1e-12.

    Parameters
    ----------
    alpha : array of float
        In [0, 800].
    delta_prime : array of float
        In [1e-300, 1].
    m, n : array of float
        As in `theorem44_alpha`.
    internal : Internal
        How δ is chosen from δ'.
    """
    rule = Internal(internal)
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a, items, users, target = np.broadcast_arrays(a, items, users, target)
    total = items * users
    if rule is Internal.SIMPLE:
        log_delta = target - a
        root = _alpha0_of(a, items, users, log_delta)
        cap = validity_at(total, total, log_delta)
    else:
        root, cap = _tight_root(a, items, users, target), _tight_cap(items, users, target)
    root = root * _DOWN
    # The condition is strict: stay one step below the cap, itself rounded down.
    capped = np.nextafter(np.maximum(cap, 0.0), 0.0)
    binding = np.where(
        cap <= 0,
        Binding.INFEASIBLE.value,
        np.where(root < cap, Binding.ALPHA.value, Binding.VALIDITY.value),
    )
    return Inversion(np.asarray(np.where(cap <= 0, 0.0, np.minimum(root, capped))), root, binding)


def theorem44_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> Inversion:
    """Return the largest α₀ that Theorem 4.4 certifies at δ' for any a ≤ α: it rises with α.

    With δ = δ'e^−a the α₀ of the theorem's α rises with a and the limit falls: where they meet, at
    a = mn·e^−α₀/16 − ln(4mn/δ'), is the most there is, and all larger α have it. With δ·e^h = δ'
    the limit does not depend on α. Parameters as in `theorem44_invert`.
    """
    rule = Internal(internal)
    found = theorem44_invert(alpha, delta_prime, m, n, rule)
    stuck = found.binding != Binding.ALPHA.value
    if rule is Internal.TIGHT or not stuck.any():
        return found
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a, items, users, target = np.broadcast_arrays(
        np.asarray(alpha, dtype=float), items, users, target
    )
    meeting = np.minimum(a, np.maximum(_meeting(items, users, target), 0.0))
    best = theorem44_invert(meeting, np.exp(target), items, users, rule)
    better = stuck & (best.alpha0 > found.alpha0)
    return Inversion(
        np.where(better, best.alpha0, found.alpha0),
        found.unconstrained,
        np.where(better, Binding.VALIDITY.value, found.binding),
    )


def _meeting(items: FloatArray, users: FloatArray, target: FloatArray) -> FloatArray:
    """Return the α at which the α₀ of the theorem's α, δ = δ'e^−α, reaches the limit; or ≤ 0."""
    total = items * users
    spent = math.log(4) + np.log(total) - target
    log_users = np.log(users)

    def reached(a0: FloatArray) -> FloatArray:
        return total * np.exp(-a0) / 16 - spent

    def excess(a0: FloatArray) -> FloatArray:
        # ln(4m/δ) = total·e^−α₀/16 − ln n there.
        log_term = np.maximum(total * np.exp(-a0) / 16 - log_users, 0.0)
        half = np.exp(a0 / 2)
        alpha = 4 * a0 * half * (np.sqrt(items * log_term / users) + half / users)
        return np.asarray(alpha - reached(a0))

    top = np.maximum(validity_at(total, total, target), 0.0)
    _, found = increasing_root(excess, np.zeros(top.shape), top)
    return np.asarray(reached(found))


def _tight_root(
    alpha: FloatArray, items: FloatArray, users: FloatArray, target: FloatArray
) -> FloatArray:
    """Return the α₀ with the requested α at the largest δ inside, ln δ' = target.

    `alpha_at` = α gives √(ln(4m/δ)) = (α/(4α₀e^{α₀/2}) − e^{α₀/2}/n)·√(n/m) and with it
    h = m·ln(1 + tanh(α₀/2)·2α/(mα₀)). As α₀ grows this δ rises, while the largest with δ·e^h ≤ δ'
    falls: they meet once.
    """
    log_items = math.log(4) + np.log(items)

    def excess(a0: FloatArray) -> FloatArray:
        some = np.maximum(a0, 1e-290)
        half = np.exp(some / 2)
        root = np.maximum(alpha / (4 * some * half) - half / users, 0.0)
        hops = items * np.log1p(np.tanh(some / 2) * (2 * alpha / (items * some)))
        return np.asarray(log_items - root * root * (users / items) + hops - target)

    upper = _alpha0_of(alpha, items, users, target)
    found, _ = increasing_root(excess, np.zeros(alpha.shape), upper)
    return found


def _tight_cap(items: FloatArray, users: FloatArray, target: FloatArray) -> FloatArray:
    """Return the α₀ at which the condition ends with the largest δ inside, ln δ' = target.

    There ln(4mn/δ) = mn·e^−α₀/16; not positive if no α₀ > 0 satisfies the condition.
    """
    total = items * users
    log_total = math.log(4) + np.log(total)

    def excess(a0: FloatArray) -> FloatArray:
        log_term = total * np.exp(-a0) / 16
        mine = np.maximum(log_term - np.log(users), 0.0)
        hops = items * log1p_amplified(np.tanh(a0 / 2), a0, mine, total)
        return np.asarray(log_total - log_term + hops - target)

    top = validity_at(total, total, target)
    found, _ = increasing_root(excess, np.zeros(top.shape), np.maximum(top, 0.0))
    return np.where(top > 0, np.maximum(found - _BELOW, 0.0), top)


def _alpha0_of(
    alpha: FloatArray, items: FloatArray, users: FloatArray, log_delta: FloatArray
) -> FloatArray:
    """Solve α = 4α₀(A·e^{α₀/2} + e^α₀/n) by Newton's method in ln α₀, from the right."""
    positive = alpha > 0
    log_target = np.log(np.where(positive, alpha, 1.0)) - math.log(4)
    log_a = 0.5 * np.log(items * (math.log(4) + np.log(items) - log_delta) / users)
    log_n = np.log(users)
    # Each term alone, and e^α₀ ≥ 1, bound the root from above.
    plain = log_target - np.logaddexp(log_a, -log_n)
    steep = np.maximum(2 * np.maximum(log_target - log_a, 0.0), 1.0)
    y = np.minimum(plain, np.log(np.minimum(steep, np.maximum(log_target + log_n, 1.0))))
    for _ in range(60):
        a0 = np.exp(y)
        first, second = log_a + a0 / 2, a0 - log_n
        both = np.logaddexp(first, second)
        share = np.exp(second - both)
        step = (y + both - log_target) / (1 + a0 * (0.5 + 0.5 * share))
        y = y - step
        if np.abs(step).max(initial=0.0) < 1e-14:
            break
    return np.asarray(np.where(positive, np.exp(y), 0.0))
