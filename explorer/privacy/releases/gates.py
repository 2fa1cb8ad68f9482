"""Budgets that stay valid when every choice depends on what was released before.

With mechanisms and ε chosen from earlier outputs, log-likelihood ratios of the outputs add up along
every path and each is at most its ε: the sum is a filter, and tells what was spent at any time. As
zero-concentrated DP an ε costs ε²/2; Σε_i²/2 ≤ ρ on every path makes the whole ρ-zCDP (Feldman and
Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from explorer.privacy.heatmaps.integers import EPSILON_UNIT

Cost = Callable[[Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a gate did with requests.

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
    """Return what an ε takes of a budget that is a sum of ε: itself."""
    return _above_zero(epsilon)


def zcdp_cost(epsilon: Fraction) -> Fraction:
    """Return what an ε takes of a budget ρ: ε²/2, as ε-DP is ε²/2-zCDP (Bun and Steinke 2016)."""
    return _above_zero(epsilon) ** 2 / 2


def pure_filter(budget: Fraction, spent: Fraction, requests: Iterable[Fraction]) -> Filtered:
    """Accept requests in order as long as Σε stays within a budget.

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
    """Accept requests in order as long as Σε²/2 stays within ρ; `spent` is a sum of ε²/2."""
    return _filter(rho, spent, requests, zcdp_cost)


def largest_fit_pure(budget: Fraction, spent: Fraction) -> int:
    """Return the most units of 2⁻⁴⁰ that a release may cost; 0 where nothing is left."""
    return max(math.floor((Fraction(budget) - spent) / EPSILON_UNIT), 0)


def largest_fit_zcdp(rho: Fraction, spent: Fraction) -> int:
    """Return the largest e with (e·2⁻⁴⁰)²/2 ≤ ρ − spent; 0 where nothing is left."""
    left = max(2 * (Fraction(rho) - spent) / EPSILON_UNIT**2, Fraction(0))
    return math.isqrt(math.floor(left))


def user_level_bound(epsilon_per_unit: Fraction, units: int) -> Fraction:
    """Return ε·units: what a promise for parts of a user's data adds up to for the user, at most.

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
