"""Theorems 4.3 and 4.4 on item-wise release, the certificate they give, and their printed forms.

The theorem is a closed form under a validity condition. `hops` has the numerically exact analysis
of the same hops, valid without a condition: that is the one to calibrate with. It shares α out by
distance and pays e^α for the way, the theorem e^h: so for α of hundreds, where h ≪ α, the theorem
with its tight δ may allow a few per cent more, and is as right (its hops summed exactly agree).

Here α₀ is the item mechanism's parameter and α the user's; δ is the number *inside* the logarithm
and δ' = δ·e^h the one that is claimed (errata user-A7).

**Certificate: what Theorem 4.4 certifies of a given α₀ at a claimed δ', with its condition.**

**Inversion: the largest α₀ that Theorem 4.4 certifies for a target (α, δ').** At one α the
condition may bind: with δ = δ'e^−α the limit ln(mn/(16 ln(4mn/δ))) falls as α grows, so that the
theorem at α itself allows less than at a smaller a, or nothing. But what is (a, δ')-private is
(α, δ')-private for every α ≥ a: `theorem44_alpha0` is the most that any a ≤ α allows.

**Printed forms: equations (6) and (7), closed forms for α₀, and what they really spend.** Shown
beside the right numbers; never to calibrate with (errata user-A3 to user-A6, user-F1).
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.roots import increasing_root
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.user_metric.calibration import MAX_ALPHA

MAX_TOTAL = checks.MAX_COUNT**2
"""Largest number of items in one shuffle: m and n up to 1e12 each."""


_MARGIN = 1e-12
"""More than rounding can add to a validity limit: logarithms of up to 56 and their difference."""
_ROUNDING_UP = 1 + 1e-11
"""Adds more than rounding may have taken off."""
_ROUNDING_DOWN = 1 - 1e-12
"""Takes more off a root than rounding may have added."""
_LIMIT_MARGIN = 2e-12
"""The same for a limit that is itself a root: more than `validity_at` takes off one."""


class Internal(StrEnum):
    """Choice of the δ inside the theorem for a claimed δ'."""

    SIMPLE = "simple"
    """δ = δ'·e^−α: always enough, because h(mn; m, m) ≤ α."""
    TIGHT = "tight"
    """The largest δ with δ·e^{h(mn;m,m)} ≤ δ'."""


def log1p_amplified(gain: Any, alpha0: Any, log_term: Any, total: Any) -> FloatArray:
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
    d = checks.reals("distance", distance, 0.0, 1.0)
    log_term = math.log(4) - np.log(checks.delta(delta))
    return scalar_if_0d(log1p_amplified(np.tanh(a0 * d / 2), a0, log_term, size))


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
    moved = checks.integers("x0", x0, 0.0, MAX_TOTAL)
    length = checks.reals("x1", x1, 0.0, MAX_TOTAL)
    log_delta = np.log(checks.delta(delta))
    checks.at_most("x0", moved, "total", size)
    checks.at_most("x1", length, "x0", moved)
    some = np.where(moved > 0, moved, 1.0)
    return scalar_if_0d(
        np.where(moved > 0, some * _hop(a0, length / some, size, some, log_delta), 0.0)
    )


def _hop(a0: Any, mean_distance: Any, size: Any, moved: Any, log_delta: Any) -> FloatArray:
    log_term = math.log(4) + np.log(moved) - log_delta
    return log1p_amplified(np.tanh(a0 * mean_distance / 2), a0, log_term, size)


def validity_limit(total: ArrayLike, delta: ArrayLike, items: ArrayLike | None = None) -> Any:
    """Return ln(total/(16 ln(4·items/δ))), below which α₀ has to be; may be negative.

    Rounded down, by 1e-12: the condition is strict, and what is below the number returned is below
    the limit.

    Parameters
    ----------
    total : array of float
        Items in the shuffle.
    delta : array of float
        The δ inside, in [1e-300, 1].
    items : array of float, optional
        Items of the user. By default `total`, as Theorem 4.3 is printed; its proof needs only
        m, the user's own (errata user-A6).
    """
    size = _total(total)
    mine = size if items is None else checks.integers("items", items, 1, MAX_TOTAL)
    return scalar_if_0d(validity_at(size, mine, np.log(checks.delta(delta))))


def validity_at(size: Any, items: Any, log_delta: Any) -> FloatArray:
    """`validity_limit` of checked arguments, with ln δ, which may be below the smallest double."""
    limit = np.log(size) - np.log(16 * (math.log(4) + np.log(items) - log_delta))
    return np.asarray(limit - _MARGIN)


def theorem44_ratio(
    w: ArrayLike, alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return h(mn; m, mw)/w, which falls in w: its supremum is at 0 (errata user-A1, user-A2).

    Parameters
    ----------
    w : array of float
        Earth mover's distance in (0, 1].
    alpha0, m, delta, n
        As in `theorem44_alpha`.
    """
    distance = checks.reals("w", w, 0.0, 1.0, open_low=True)
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    return scalar_if_0d(items * _hop(a0, distance, items * users, items, log_delta) / distance)


def theorem44_alpha(alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return Theorem 4.4's α = sup_w h(mn; m, mw)/w, even where it is not valid.

    The supremum is not attained; it is the limit 4α₀(√(m·e^α₀ ln(4m/δ)/n) + e^α₀/n) as w → 0
    (errata user-A2). Infinite where that has no double.

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
    return scalar_if_0d(alpha_at(a0, items, users, log_delta))


def theorem44_delta(alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return δ' = δ·e^{h(mn;m,m)}, the δ that Theorem 4.4 claims; infinite beyond 1e308."""
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    h = items * _hop(a0, 1.0, items * users, items, log_delta)
    with np.errstate(over="ignore"):
        return scalar_if_0d(np.exp(log_delta + h))


def theorem44_delta_tight(
    alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return (δ/m)(e^h − 1)/(e^{h/m} − 1), from Theorem 4.3's proof (errata user-A7)."""
    a0, items, users, log_delta = checked(alpha0, m, delta, n)
    hop = _hop(a0, 1.0, items * users, items, log_delta)
    with np.errstate(over="ignore"):
        return scalar_if_0d(np.exp(log_delta - np.log(items) + _log_hops(items, hop)))


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
    return scalar_if_0d(np.exp(log_delta_inside(a0, items, users, target)))


def log_delta_inside(
    a0: FloatArray, items: FloatArray, users: FloatArray, target: FloatArray
) -> FloatArray:
    """Ln δ of `theorem44_delta_inside`, of checked arguments, ln δ' = target.

    Solves x + h(x) = target; the left side is concave with one crossing.
    """
    return _log_inside(a0, items, items * users, np.tanh(a0 / 2), target)


def _log_inside(
    a0: FloatArray, moved: FloatArray, total: FloatArray, gain: FloatArray, target: FloatArray
) -> FloatArray:
    """Ln δ with ln δ + h = target, h that of `moved` items whose mean distance gives `gain`."""
    a0, moved, total, gain, target = np.broadcast_arrays(a0, moved, total, gain, target)

    def excess(x: FloatArray) -> FloatArray:
        log_term = math.log(4) + np.log(moved) - x
        return x + moved * log1p_amplified(gain, a0, log_term, total) - target

    low = target - excess(target)
    for _ in range(200):
        short = excess(low) > 0
        if not short.any():
            break
        low = np.where(short, target - 2 * (target - low) - 1.0, low)
    root, _ = increasing_root(excess, low, np.array(target, dtype=float))
    return root


def alpha_at(
    a0: FloatArray, items: FloatArray, users: FloatArray, log_delta: FloatArray
) -> FloatArray:
    """`theorem44_alpha` of checked arguments, with ln δ, which may be below the smallest double."""
    with np.errstate(over="ignore"):
        half = np.exp(a0 / 2)
        root = np.sqrt(items * (math.log(4) + np.log(items) - log_delta) / users)
        return np.asarray(4 * a0 * half * (root + half / users))


def _total(total: ArrayLike) -> FloatArray:
    return checks.integers("total", total, 1, MAX_TOTAL)


def _alpha0(alpha0: ArrayLike) -> FloatArray:
    return checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON)


def checked(
    alpha0: ArrayLike, m: ArrayLike, delta: ArrayLike, n: ArrayLike, name: str = "delta"
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Check the arguments that most functions share; δ is returned as its logarithm."""
    return (
        _alpha0(alpha0),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
        np.log(checks.delta(delta, name)),
    )


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
        alpha = alpha_at(a0, items, users, log_delta) * _ROUNDING_UP
    else:
        alpha = _simple(a0, items, users, target) * _ROUNDING_UP
        log_delta = target - np.minimum(alpha, 1e300)
    limit = validity_at(items * users, items * users, log_delta)
    return TheoremCertificate(alpha, limit, np.asarray(a0 < limit))


@dataclass(frozen=True)
class ChangeCertificate:
    """What Theorem 4.3 certifies of one change.

    Attributes
    ----------
    epsilon : ndarray of float
        The ε of the change at the δ′ that is claimed, rounded up.
    limit : ndarray of float
        ln(total/(16 ln(4·total/δ))) with the δ inside, below which α₀ has to be.
    valid : ndarray of bool
        Whether it is.
    """

    epsilon: FloatArray
    limit: FloatArray
    valid: BoolArray


def theorem43_epsilon(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    total: ArrayLike,
    x0: ArrayLike,
    x1: ArrayLike,
) -> ChangeCertificate:
    """Return the ε at which Theorem 4.3 protects a change of any ‖v‖₀ and ‖v‖₁.

    v has the distance of every item in the shuffle from what it is changed to. The δ inside is the
    largest with δ·e^h ≤ δ′; h(total; ‖v‖₀, ‖v‖₁) then holds at δ′.

    Parameters
    ----------
    alpha0 : array of float
        In [0, 800].
    delta_prime : array of float
        The δ′ claimed, in [1e-300, 1].
    total : array of float
        Items in the shuffle, in [1, 1e24]: m in the local model, mn in the central one.
    x0 : array of float
        ‖v‖₀, the items that move, whole, in [1, total].
    x1 : array of float
        ‖v‖₁, the sum of their normalised distances, in [0, x0].
    """
    size, a0 = _total(total), _alpha0(alpha0)
    moved = checks.integers("x0", x0, 1.0, MAX_TOTAL)
    length = checks.reals("x1", x1, 0.0, MAX_TOTAL)
    target = np.log(checks.delta(delta_prime, "delta_prime"))
    checks.at_most("x0", moved, "total", size)
    checks.at_most("x1", length, "x0", moved)
    mean = length / moved
    log_delta = _log_inside(a0, moved, size, np.tanh(a0 * mean / 2), target)
    epsilon = moved * _hop(a0, mean, size, moved, log_delta) * _ROUNDING_UP
    limit = validity_at(size, size, log_delta)
    return ChangeCertificate(np.asarray(epsilon), limit, np.asarray(a0 < limit))


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
    target = checks.reals("alpha", alpha, 0.0, checks.MAX_EPSILON)
    a0, items, users, _ = checked(alpha0, m, 1.0, n)
    target, a0, items, users = np.broadcast_arrays(target, a0, items, users)
    largest = np.log(4 * items) - np.log(checks.MIN_DELTA)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        end = items * users * np.exp(-a0) / 16 - np.log(users)
        log_term = np.clip(np.minimum(end, largest) * (1 - 1e-10), 0.0, None)
        half = np.exp(a0 / 2)
        last = 4 * a0 * half * (np.sqrt(items * log_term / users) + half / users)
        rest = np.minimum(target, last) / (4 * a0) - np.exp(a0) / users
        log_delta = np.log(4 * items) - users / items * np.exp(-a0) * rest**2
    inside = (rest > 0) & (log_delta <= 0) & (log_delta >= np.log(checks.MIN_DELTA))
    # Rounded up by more than the square of the rest may have lost.
    delta = np.exp(np.where(inside, log_delta + 1e-11, 0.0))
    delta = np.clip(delta, checks.MIN_DELTA, 1.0)
    limit = validity_at(items * users, items * users, np.log(delta))
    return TheoremDelta(
        np.minimum(theorem44_delta(a0, items, delta, users) * _ROUNDING_UP, 1.0),
        np.minimum(theorem44_delta_tight(a0, items, delta, users) * _ROUNDING_UP, 1.0),
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
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
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
    a = checks.reals("alpha", alpha, 0.0, MAX_ALPHA)
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a0 = closed_form(a, delta_prime, m, n).alpha0
    return scalar_if_0d(alpha_at(a0, items, users, target - a))


def closed_form_claim(
    alpha0: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Any:
    """Return the α at which equation (6) or (7) gives this α₀: its value by the paper.

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


class Binding(StrEnum):
    """Constraint that limits an inverted α₀."""

    ALPHA = "alpha"
    VALIDITY = "validity"
    INFEASIBLE = "infeasible"
    """No α₀ > 0 satisfies the theorem's condition."""


@dataclass(frozen=True)
class Inversion:
    """The largest α₀ that Theorem 4.4 certifies, and the constraint that limits it.

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
    root = root * _ROUNDING_DOWN
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
    inversion = theorem44_invert(alpha, delta_prime, m, n, rule)
    stuck = inversion.binding != Binding.ALPHA.value
    if rule is Internal.TIGHT or not stuck.any():
        return inversion
    _, items, users, target = checked(0.0, m, delta_prime, n, "delta_prime")
    a, items, users, target = np.broadcast_arrays(
        np.asarray(alpha, dtype=float), items, users, target
    )
    meeting = np.minimum(a, np.maximum(_meeting(items, users, target), 0.0))
    best = theorem44_invert(meeting, np.exp(target), items, users, rule)
    better = stuck & (best.alpha0 > inversion.alpha0)
    return Inversion(
        np.where(better, best.alpha0, inversion.alpha0),
        inversion.unconstrained,
        np.where(better, Binding.VALIDITY.value, inversion.binding),
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
    _, root = increasing_root(excess, np.zeros(top.shape), top)
    return np.asarray(reached(root))


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
    solved, _ = increasing_root(excess, np.zeros(alpha.shape), upper)
    return solved


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
    root, _ = increasing_root(excess, np.zeros(top.shape), np.maximum(top, 0.0))
    return np.where(top > 0, np.maximum(root - _LIMIT_MARGIN, 0.0), top)


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
