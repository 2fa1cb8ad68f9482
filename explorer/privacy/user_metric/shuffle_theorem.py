"""Theorems 4.3 and 4.4: what the paper proves of item-wise release, and its inversion.

The theorem is a closed form under a validity condition. `hops` has the numerically exact analysis
of the same hops, valid without a condition: that is the one to calibrate with. It shares α out by
distance and pays e^α for the way, the theorem e^h: so for α of hundreds, where h ≪ α, the theorem
with its tight δ may allow a few per cent more, and is as right (its hops summed exactly agree).

Here α₀ is the item mechanism's parameter and α the user's; δ is the number *inside* the logarithm
and δ' = δ·e^h the one that is claimed (errata A7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy import domain
from explorer.privacy.bounds import FloatArray
from explorer.privacy.roots import increasing_root
from explorer.privacy.user_metric.calibration import ALPHA_MAX

TOTAL_MAX = domain.COUNT_MAX**2
"""Largest number of items in one shuffle: m and n up to 1e12 each."""


class Internal(StrEnum):
    """How the δ inside the theorem is chosen from the δ' that is claimed."""

    SIMPLE = "simple"
    """δ = δ'·e^−α: always enough, because h(mn; m, m) ≤ α."""
    TIGHT = "tight"
    """The largest δ with δ·e^{h(mn;m,m)} ≤ δ'."""


class Binding(StrEnum):
    """What limits an inverted α₀."""

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


def _log1p_amplified(gain: Any, alpha0: Any, log_term: Any, total: Any) -> FloatArray:
    """ln(1 + gain·K), K = 8√(e^α₀·ℓ/total) + 8e^α₀/total, also where e^α₀ has no double."""
    with np.errstate(over="ignore", divide="ignore"):
        u = np.exp(np.asarray(alpha0) / 2) / np.sqrt(total)
        inside = np.sqrt(log_term) + u
        plain = gain * (8 * u) * inside
        logs = np.log(gain) + math.log(8) + np.log(u) + np.log(inside)
        return np.asarray(np.where(plain < 1e250, np.log1p(np.minimum(plain, 1e250)), logs))


def single_item_epsilon(
    total: ArrayLike, alpha0: ArrayLike, distance: ArrayLike, delta: ArrayLike
) -> Any:
    """Return Lemma B.1's ε at δ when one of `total` items moves by a distance.

    ln(1 + tanh(α₀d/2)(8√(e^α₀ ln(4/δ)/total) + 8e^α₀/total)), whatever its condition says.

    Parameters
    ----------
    total : array of float
        Items in the shuffle, in [1, 1e24].
    alpha0 : array of float
        In [0, 800].
    distance : array of float
        Normalised, in [0, 1].
    delta : array of float
        In [1e-300, 1].
    """
    size, a0 = _total(total), _alpha0(alpha0)
    d = domain.reals("distance", distance, 0.0, 1.0)
    log_term = math.log(4) - np.log(domain.delta(delta))
    return domain.simple(_log1p_amplified(np.tanh(a0 * d / 2), a0, log_term, size))


def group_epsilon(
    total: ArrayLike, x0: ArrayLike, x1: ArrayLike, alpha0: ArrayLike, delta: ArrayLike
) -> Any:
    """Return h(total; x0, x1) of Theorem 4.3: x0 items move by x1 altogether.

    x0·ln(1 + tanh(α₀x1/(2x0))·(8√(e^α₀ ln(4x0/δ)/total) + 8e^α₀/total)); 0 where x0 = 0.

    Parameters
    ----------
    total : array of float
        Items in the shuffle, in [1, 1e24]: m in the local model, mn in the central one.
    x0 : array of float
        Items that move, whole, in [0, total].
    x1 : array of float
        Sum of their distances, in [0, x0].
    alpha0, delta
        As in `single_item_epsilon`.
    """
    size, a0 = _total(total), _alpha0(alpha0)
    moved = domain.integers("x0", x0, 0.0, TOTAL_MAX)
    length = domain.reals("x1", x1, 0.0, TOTAL_MAX)
    log_delta = np.log(domain.delta(delta))
    for name, low, high in (("x0", moved, size), ("x1", length, moved)):
        a, b = np.broadcast_arrays(low, high)
        if (a > b).any():
            at = int(np.argmax(a > b))
            raise ValueError(f"{name}: {a.flat[at]:g} is outside [0, {b.flat[at]:g}]")
    some = np.where(moved > 0, moved, 1.0)
    return domain.simple(
        np.where(moved > 0, some * _hop(a0, length / some, size, some, log_delta), 0.0)
    )


def _hop(a0: Any, mean_distance: Any, size: Any, moved: Any, log_delta: Any) -> FloatArray:
    log_term = math.log(4) + np.log(moved) - log_delta
    return _log1p_amplified(np.tanh(a0 * mean_distance / 2), a0, log_term, size)


def validity_limit(total: ArrayLike, delta: ArrayLike, items: ArrayLike | None = None) -> Any:
    """Return ln(total/(16 ln(4·items/δ))), below which α₀ has to be; may be negative.

    Parameters
    ----------
    total : array of float
        Items in the shuffle.
    delta : array of float
        The δ inside, in [1e-300, 1].
    items : array of float, optional
        Items of the user. By default `total`, as Theorem 4.3 is printed; its proof needs only
        m, the user's own (errata A6).
    """
    size = _total(total)
    mine = size if items is None else domain.integers("items", items, 1, TOTAL_MAX)
    return domain.simple(validity_at(size, mine, np.log(domain.delta(delta))))


def validity_at(size: Any, items: Any, log_delta: Any) -> FloatArray:
    """`validity_limit` of checked arguments, with ln δ, which may be below the smallest double."""
    return np.asarray(np.log(size) - np.log(16 * (math.log(4) + np.log(items) - log_delta)))


def theorem44_ratio(
    w: ArrayLike, alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return h(mn; m, mw)/w, which falls in w: its supremum is the limit at 0 (errata A1, A2).

    Parameters
    ----------
    w : array of float
        Earth mover's distance in (0, 1].
    alpha0, m, delta, n
        As in `theorem44_alpha`.
    """
    distance = domain.reals("w", w, 0.0, 1.0, open_low=True)
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    return domain.simple(items * _hop(a0, distance, items * users, items, log_delta) / distance)


def theorem44_alpha(alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return Theorem 4.4's α = sup_w h(mn; m, mw)/w, whatever its condition says.

    The supremum is not attained; it is the limit 4α₀(√(m·e^α₀ ln(4m/δ)/n) + e^α₀/n) as w → 0
    (errata A2). Infinite where that has no double.

    Parameters
    ----------
    alpha0 : array of float
        The item mechanism's parameter, in [0, 800].
    m : array of float
        Items of every user, whole, in [1, 1e12].
    delta : array of float
        The δ inside the theorem, in [1e-300, 1]; claimed is `theorem44_delta`.
    n : array of float
        1 in the local model; users in the central one, in [1, 1e12].
    """
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    return domain.simple(alpha_at(a0, items, users, log_delta))


def theorem44_delta(alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return δ' = δ·e^{h(mn;m,m)}, the δ that Theorem 4.4 claims; infinite beyond 1e308."""
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    h = items * _hop(a0, 1.0, items * users, items, log_delta)
    with np.errstate(over="ignore"):
        return domain.simple(np.exp(log_delta + h))


def theorem44_delta_tight(
    alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return (δ/m)(e^h − 1)/(e^{h/m} − 1), which the proof of Theorem 4.3 gives (errata A7)."""
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    hop = _hop(a0, 1.0, items * users, items, log_delta)
    with np.errstate(over="ignore"):
        return domain.simple(np.exp(log_delta - np.log(items) + _log_hops(items, hop)))


def _log_hops(items: FloatArray, hop: FloatArray) -> FloatArray:
    """ln[(e^{m·hop} − 1)/(e^hop − 1)] = ln Σ_{j<m} e^{j·hop}, for every hop ≥ 0."""
    # Below 1e-290 every term is 1.
    some = np.maximum(hop, 1e-290)
    return np.where(
        hop > 1e-290, _log_expm1(items * some) - _log_expm1(some), np.log(items + 0.0 * hop)
    )


def _log_expm1(x: FloatArray) -> FloatArray:
    moderate = np.minimum(x, 30.0)
    return np.where(
        x < 30.0, np.log(np.expm1(moderate)), x + np.log1p(-np.exp(-np.maximum(x, 1.0)))
    )


def theorem44_delta_inside(
    alpha0: ArrayLike, m: ArrayLike, delta_prime: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return the largest δ with δ·e^{h(mn;m,m)} ≤ δ'; 0 where it is below the smallest double.

    Parameters
    ----------
    alpha0, m, n
        As in `theorem44_alpha`.
    delta_prime : array of float
        The δ' to be claimed, in [1e-300, 1].
    """
    a0, items, users, target = checked(alpha0, m, delta_prime, n, "delta_prime")
    return domain.simple(np.exp(log_delta_inside(a0, items, users, target)))


def log_delta_inside(
    a0: FloatArray, items: FloatArray, users: FloatArray, target: FloatArray
) -> FloatArray:
    """Ln δ of `theorem44_delta_inside`, of checked arguments, ln δ' = target.

    Solves x + h(x) = target; the left side is concave with one crossing.
    """
    a0, items, users, target = np.broadcast_arrays(a0, items, users, target)
    total = items * users
    gain = np.tanh(a0 / 2)

    def excess(x: FloatArray) -> FloatArray:
        log_term = math.log(4) + np.log(items) - x
        return x + items * _log1p_amplified(gain, a0, log_term, total) - target

    low = target - excess(target)
    for _ in range(200):
        short = excess(low) > 0
        if not short.any():
            break
        low = np.where(short, target - 2 * (target - low) - 1.0, low)
    found, _ = increasing_root(excess, low, np.array(target, dtype=float))
    return found


def theorem44_invert(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> Inversion:
    """Return the largest α₀ that Theorem 4.4 certifies for (α, δ')-bounded d_EM-DP.

    The condition is the printed one, with mn in both places.

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
    a = domain.reals("alpha", alpha, 0.0, ALPHA_MAX)
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a, items, users, target = np.broadcast_arrays(a, items, users, target)
    total = items * users
    if rule is Internal.SIMPLE:
        log_delta = target - a
        root = _alpha0_of(a, items, users, log_delta)
        cap = validity_at(total, total, log_delta)
    else:
        root, cap = _tight_root(a, items, users, target), _tight_cap(items, users, target)
    # The condition is strict: stay one step below the cap.
    capped = np.nextafter(np.maximum(cap, 0.0), 0.0)
    binding = np.where(
        cap <= 0,
        Binding.INFEASIBLE.value,
        np.where(root < cap, Binding.ALPHA.value, Binding.VALIDITY.value),
    )
    return Inversion(np.asarray(np.where(cap <= 0, 0.0, np.minimum(root, capped))), root, binding)


def _tight_root(
    alpha: FloatArray, items: FloatArray, users: FloatArray, target: FloatArray
) -> FloatArray:
    """Return the α₀ whose α is the one asked for with the largest δ inside, ln δ' = target.

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
        hops = items * _log1p_amplified(np.tanh(a0 / 2), a0, mine, total)
        return np.asarray(log_total - log_term + hops - target)

    top = validity_at(total, total, target)
    found, _ = increasing_root(excess, np.zeros(top.shape), np.maximum(top, 0.0))
    return np.where(top > 0, found, top)


def alpha_at(
    a0: FloatArray, items: FloatArray, users: FloatArray, log_delta: FloatArray
) -> FloatArray:
    """`theorem44_alpha` of checked arguments, with ln δ, which may be below the smallest double."""
    with np.errstate(over="ignore"):
        half = np.exp(a0 / 2)
        root = np.sqrt(items * (math.log(4) + np.log(items) - log_delta) / users)
        return np.asarray(4 * a0 * half * (root + half / users))


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


def _total(total: ArrayLike) -> FloatArray:
    return domain.integers("total", total, 1, TOTAL_MAX)


def _alpha0(alpha0: ArrayLike) -> FloatArray:
    return domain.reals("alpha0", alpha0, 0.0, domain.EPSILON_MAX)


def checked(
    alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike, name: str = "delta"
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Check the arguments that most functions share; δ is returned as its logarithm."""
    return (
        _alpha0(alpha0),
        domain.integers("m", m, 1, domain.COUNT_MAX),
        domain.integers("n", n, 1, domain.COUNT_MAX),
        np.log(domain.delta(delta, name)),
    )
