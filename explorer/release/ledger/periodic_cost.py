"""Cumulative cost of periodic releases. Budgets are never replenished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from explorer.privacy.releases.budgets import pure_cost, zcdp_cost
from explorer.privacy.releases.conversions import zcdp_to_epsilon


@dataclass(frozen=True)
class PeriodicCost:
    """Cumulative cost of a number of releases with equal ε.

    Attributes
    ----------
    releases : int
    sum_epsilon : Fraction
        Σε, under *sum*.
    zcdp_epsilon : float
        ε at δ of the total ρ, under *zcdp*: an upper bound up to rounding.
    """

    releases: int
    sum_epsilon: Fraction
    zcdp_epsilon: float


def periodic_cost(
    epsilon: Fraction, delta: Fraction, releases: Sequence[int]
) -> list[PeriodicCost]:
    """Return the cumulative cost of numbers of releases under both gates.

    Parameters
    ----------
    epsilon : Fraction
        > 0, of each release.
    delta : Fraction
        In (0, 1), for *zcdp*.
    releases : sequence of int
        Each ≥ 1.
    """
    if any(number < 1 for number in releases):
        raise ValueError("releases: give numbers of at least 1")
    return [
        PeriodicCost(number, number * pure_cost(epsilon), _zcdp(epsilon, delta, number))
        for number in releases
    ]


def max_releases(epsilon: Fraction, budget: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return the maximum numbers of releases within a budget: under *sum*, and at δ of *zcdp*."""
    within_sum = int(budget / pure_cost(epsilon))
    within_zcdp = _first(lambda number: _zcdp(epsilon, delta, number) > budget) - 1
    return within_sum, within_zcdp


def zcdp_break_even(epsilon: Fraction, delta: Fraction) -> int:
    """Return the smallest number of releases whose ε at δ under *zcdp* is below Σε.

    It is below for all larger numbers too: ε at δ grows like √ρ at first, Σε linearly.
    """
    return _first(lambda number: _zcdp(epsilon, delta, number) < number * epsilon)


def _first(holds: Callable[[int], bool]) -> int:
    """Return the smallest number ≥ 1 for which a monotone predicate holds, by bisection."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _zcdp(epsilon: Fraction, delta: Fraction, releases: int) -> float:
    return zcdp_to_epsilon(releases * zcdp_cost(epsilon), delta).best
