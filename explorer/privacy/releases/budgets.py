"""Budgets of releases in exact fractions: adaptive filters, and splits over levels.

**Filters: budgets that stay valid when every choice depends on what was released before.** With
mechanisms and ε chosen from earlier outputs, log-likelihood ratios of the outputs add up along
every path and each is at most its ε: the sum is a filter, and equals what was spent at any time. As
zero-concentrated DP an ε costs ε²/2; Σε_i²/2 ≤ ρ on every path makes the whole ρ-zCDP (Feldman and
Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023).

**Splits: budgets of levels in whole units of 2⁻⁴⁰, from ratios whose square is a fraction.**
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from explorer.privacy.heatmaps.budget_schedule import EPSILON_UNIT

Cost = Callable[[Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Filtered:
    """Result of a filter: accepted requests and the total spent.

    Attributes
    ----------
    accepted : tuple of bool
        Of each request in order; one that is refused costs nothing.
    spent, remaining : Fraction
        Afterwards.
    """

    accepted: tuple[bool, ...]
    spent: Fraction
    remaining: Fraction


def pure_cost(epsilon: Fraction) -> Fraction:
    """Return the cost of an ε in a budget that is a sum of ε: itself."""
    return _above_zero(epsilon)


def zcdp_cost(epsilon: Fraction) -> Fraction:
    """Return the cost of an ε in a budget ρ: ε²/2, as ε-DP is ε²/2-zCDP (Bun and Steinke 2016)."""
    return _above_zero(epsilon) ** 2 / 2


def pure_filter(budget: Fraction, spent: Fraction, requests: Iterable[Fraction]) -> Filtered:
    """Accept requests in order while Σε remains within a budget.

    Parameters
    ----------
    budget, spent : Fraction
        ≥ 0; what was spent may be above the budget, then nothing fits.
    requests : iterable of Fraction
        ε of each, > 0.

    Raises
    ------
    ValueError
        If a number is outside its domain.
    """
    return _filter(budget, spent, requests, pure_cost)


def zcdp_filter(rho: Fraction, spent: Fraction, requests: Iterable[Fraction]) -> Filtered:
    """Accept requests in order while Σε²/2 remains within ρ; `spent` is a sum of ε²/2."""
    return _filter(rho, spent, requests, zcdp_cost)


def largest_fit_pure(budget: Fraction, spent: Fraction) -> int:
    """Return the most units of 2⁻⁴⁰ that a release may cost; 0 where nothing is left."""
    return max(math.floor((Fraction(budget) - spent) / EPSILON_UNIT), 0)


def largest_fit_zcdp(rho: Fraction, spent: Fraction) -> int:
    """Return the largest e with (e·2⁻⁴⁰)²/2 ≤ ρ − spent; 0 where nothing is left."""
    left = max(2 * (Fraction(rho) - spent) / EPSILON_UNIT**2, Fraction(0))
    return math.isqrt(math.floor(left))


def user_level_bound(epsilon_per_unit: Fraction, units: int) -> Fraction:
    """Return ε·units: the user-level ε of a guarantee for parts of a user's data, at most.

    Parameters
    ----------
    epsilon_per_unit : Fraction
        ≥ 0, for each unit of protection: a user-day, an event.
    units : int
        How many of a user's there are, ≥ 1.
    """
    if units < 1 or epsilon_per_unit < 0:
        raise ValueError(f"units, epsilon: {units}, {epsilon_per_unit} must be at least 1 and 0")
    return Fraction(epsilon_per_unit) * units


def _filter(limit: Fraction, spent: Fraction, requests: Iterable[Fraction], cost: Cost) -> Filtered:
    if limit < 0 or spent < 0:
        raise ValueError(f"budget, spent: {limit}, {spent} must not be below 0")
    total, accepted = Fraction(spent), []
    for request in requests:
        after = total + cost(request)
        accepted.append(after <= limit)
        total = after if accepted[-1] else total
    return Filtered(tuple(accepted), total, Fraction(limit) - total)


def _above_zero(epsilon: Fraction) -> Fraction:
    if not epsilon > 0:
        raise ValueError(f"epsilon: {epsilon} is not above 0")
    return Fraction(epsilon)


def level_split(
    epsilon_units: int, gamma_squared: Fraction, first: int, last: int
) -> tuple[int, ...]:
    """Return ⌊E·w_i/Σw⌋ with w_i = γ^{i−first}, without rounding before the floor.

    Their sum is at most E. With γ² = g = p/q the weights are a rational number, or one times √g:
    E·w_i/Σw = X + Y·√g, whose floor a square root of whole numbers finds.

    Parameters
    ----------
    epsilon_units : int
        E ≥ 0.
    gamma_squared : Fraction
        In (0, 1].
    first, last : int
        Levels, first ≤ last.

    Raises
    ------
    ValueError
        If a number is outside its domain.
    """
    if not 0 < gamma_squared <= 1:
        raise ValueError(f"gamma_squared: {gamma_squared} is outside (0, 1]")
    if epsilon_units < 0 or not first <= last:
        raise ValueError(f"epsilon_units, levels: {epsilon_units}, {first}..{last} make no split")
    g, count = Fraction(gamma_squared), last - first + 1
    root = Fraction(math.isqrt(g.numerator), math.isqrt(g.denominator))
    if root**2 == g:
        whole = sum(root**k for k in range(count))
        return tuple(math.floor(epsilon_units * root**k / whole) for k in range(count))
    # Σw = even + odd·√g, and 1/Σw = (even − odd·√g)/(even² − odd²·g): √g is irrational.
    even = sum((g**k for k in range((count + 1) // 2)), Fraction(0))
    odd = sum((g**k for k in range(count // 2)), Fraction(0))
    norm = even**2 - odd**2 * g
    units = []
    for k in range(count):
        factor = epsilon_units * g ** (k // 2) / norm
        # w = g^(k//2), times √g where k is odd.
        plain, rooted = (even, -odd) if k % 2 == 0 else (-odd * g, even)
        units.append(_floor(factor * plain, factor * rooted, g))
    return tuple(units)


def _floor(x: Fraction, y: Fraction, g: Fraction) -> int:
    """Return ⌊x + y·√g⌋."""
    # y·√g = ±√(y²g); over a common denominator D it is ±√M/D up to whole numbers.
    square = y * y * g
    D = math.lcm(x.denominator, square.denominator)
    M = square * D * D
    assert M.denominator == 1
    base = int(x * D)
    root = math.isqrt(int(M))
    if y >= 0:
        return (base + root) // D
    return (base - root - (root * root != M)) // D
