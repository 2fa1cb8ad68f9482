"""What releases at regular intervals add up to; no calendar refills a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from explorer.privacy.releases.budgets import pure_cost, zcdp_cost
from explorer.privacy.releases.conversions import zcdp_to_epsilon


@dataclass(frozen=True)
class Repeated:
    """So many releases of one ε each.

    Attributes
    ----------
    releases : int
    sum_epsilon : Fraction
        Under *sum*.
    zcdp_epsilon : float
        ε at δ of the ρ that *zcdp* needs, an upper bound up to rounding.
    """

    releases: int
    sum_epsilon: Fraction
    zcdp_epsilon: float


def repeated(epsilon: Fraction, delta: Fraction, releases: Sequence[int]) -> list[Repeated]:
    """Return what numbers of releases add up to under both gates.

    Parameters
    ----------
    epsilon : Fraction
        > 0, of each.
    delta : Fraction
        In (0, 1), for *zcdp*.
    releases : sequence of int
        Each ≥ 1.
    """
    if any(number < 1 for number in releases):
        raise ValueError("releases: give numbers of at least 1")
    return [
        Repeated(number, number * pure_cost(epsilon), _zcdp(epsilon, delta, number))
        for number in releases
    ]


def most_releases(epsilon: Fraction, budget: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return how many releases stay within an ε under *sum*, and within it at δ under *zcdp*."""
    within_sum = int(budget / pure_cost(epsilon))
    within_zcdp = _first(lambda number: _zcdp(epsilon, delta, number) > budget) - 1
    return within_sum, within_zcdp


def zcdp_pays_from(epsilon: Fraction, delta: Fraction) -> int:
    """Return the least number of releases whose ε at δ under *zcdp* is below their sum.

    Fewer never are: ε at δ of ρ grows like √ρ at first, the sum like the number.
    """
    return _first(lambda number: _zcdp(epsilon, delta, number) < number * epsilon)


def _first(holds: Callable[[int], bool]) -> int:
    """Return the least number ≥ 1 from which on something holds."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _zcdp(epsilon: Fraction, delta: Fraction, releases: int) -> float:
    return zcdp_to_epsilon(releases * zcdp_cost(epsilon), delta).best
