"""Conversions of spent budgets to (ε, δ), and the cost of composition and of periodic releases.

None but the conversion of a ρ that is capped is a gate: exact composition is for ε's that were
fixed before anything was seen. `adaptive_branch_delta` shows what goes wrong otherwise. Doubles are
allowed here, while `explorer.privacy.releases.budgets` is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from explorer.privacy.releases.budgets import pure_cost, zcdp_cost

Law = dict[Fraction, Fraction]
_MAX_STEPS = 20_000
"""Of a grid that sums of losses are kept on."""
_MAX_LISTED = 14
"""So many ε's have few enough sums to be kept without a grid."""


class ZcdpEpsilon(NamedTuple):
    """ε at δ of a ρ-zCDP guarantee.

    Attributes
    ----------
    simple : float
        ρ + 2√(ρ·ln 1/δ) (Bun and Steinke 2016).
    best : float
        The least over the order α > 1 of the tight conversion (Canonne, Kamath and Steinke 2020).
    """

    simple: float
    best: float


class ZcdpCost(NamedTuple):
    """Cost of an ε as zero-concentrated DP: as filters count it, and the least valid one."""

    gate: Fraction
    tight: float


class BranchDeltas(NamedTuple):
    """δ of two continuations of a first response, each fixed in advance, and chosen by it."""

    path_plus: Fraction
    path_minus: Fraction
    adaptive: Fraction


def zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> ZcdpEpsilon:
    """Return ε at δ of ρ-zCDP.

    Parameters
    ----------
    rho : Fraction
        > 0.
    delta : Fraction
        In (0, 1).
    """
    if not rho > 0:
        raise ValueError(f"rho: {rho} is not above 0")
    if not 0 < delta < 1:
        raise ValueError(f"delta: {delta} is outside (0, 1)")
    r, log = float(rho), math.log(delta.denominator) - math.log(delta.numerator)

    def at(u: np.ndarray) -> np.ndarray:
        # α = 1 + e^u: αρ + [ln 1/δ − ln α]/(α − 1) + ln(1 − 1/α).
        beyond = np.exp(u)
        epsilon = (1 + beyond) * r + (log - np.log1p(beyond)) / beyond - np.log1p(1 / beyond)
        return np.asarray(epsilon)

    low, high = -30.0, 60.0
    while high - low > 1e-7:
        # Every order is a bound: looking on around the best of a grid needs no convexity to hold.
        grid = np.linspace(low, high, 101)
        k = int(np.argmin(at(grid)))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, 100)]
    best = float(at(np.array([(low + high) / 2]))[0])
    return ZcdpEpsilon(r + 2 * math.sqrt(r * log), max(best, 0.0))


def pure_to_rho(epsilon: Fraction) -> ZcdpCost:
    """Return the zCDP cost of ε-DP: ε²/2, which gates count, and ε·tanh(ε/2), which is tight."""
    if not epsilon >= 0:
        raise ValueError(f"epsilon: {epsilon} is below 0")
    return ZcdpCost(Fraction(epsilon) ** 2 / 2, float(epsilon) * math.tanh(float(epsilon) / 2))


def fixed_composition_delta(epsilons: Iterable[Fraction], epsilon: Fraction) -> float:
    """Return the worst-case δ at ε of pure releases whose ε's were fixed in advance.

    That of independent randomised responses, which are the worst (Kairouz, Oh and Viswanath 2015):
    Σ_s P(s)·(1 − e^{ε−s})₊ over the sums s of losses ±ε_i, P(+) = e^{ε_i}/(1 + e^{ε_i}). Exact up
    to rounding where there are at most 14 ε's, or they have a common divisor above 1/20,000 of
    their sum; else every ε_i is rounded up to a multiple of that, which can only raise δ.

    Parameters
    ----------
    epsilons : iterable of Fraction
        > 0 each.
    epsilon : Fraction
        ≥ 0.
    """
    parts = [Fraction(part) for part in epsilons]
    if min(parts, default=Fraction(1)) <= 0:
        raise ValueError(f"epsilons: {min(parts)} is not above 0")
    if epsilon < 0:
        raise ValueError(f"epsilon: {epsilon} is below 0")
    if not parts:
        return 0.0
    whole = sum(parts, Fraction(0))
    denominator = math.lcm(*(part.denominator for part in parts))
    step = Fraction(math.gcd(*(int(part * denominator) for part in parts)), denominator)
    if whole / step > _MAX_STEPS and len(parts) > _MAX_LISTED:
        step = whole / _MAX_STEPS
    if whole / step > _MAX_STEPS:
        law = _by_sums(parts)
    else:
        law = _on_grid([math.ceil(part / step) for part in parts], step)
    return math.fsum(
        chance * -math.expm1(float(epsilon - total)) for total, chance in law if total > epsilon
    )


def _by_sums(parts: list[Fraction]) -> list[tuple[Fraction, float]]:
    """Return the sums of losses and their probabilities, of few parts."""
    law = {Fraction(0): 1.0}
    for part in parts:
        up, down = _two(part)
        after: dict[Fraction, float] = {}
        for total, chance in law.items():
            after[total + part] = after.get(total + part, 0.0) + chance * up
            after[total - part] = after.get(total - part, 0.0) + chance * down
        law = after
    return list(law.items())


def _on_grid(steps: list[int], step: Fraction) -> list[tuple[Fraction, float]]:
    """Return the same of losses that are whole numbers of steps."""
    reach = sum(steps)
    law = np.zeros(2 * reach + 1)
    law[reach] = 1.0
    for size in steps:
        up, down = _two(size * step)
        after = np.zeros_like(law)
        after[size:] += up * law[: len(law) - size]
        after[: len(law) - size] += down * law[size:]
        law = after
    indices = np.flatnonzero(law)
    return [((k - reach) * step, float(law[k])) for k in indices.tolist()]


def _two(part: Fraction) -> tuple[float, float]:
    """Return the probabilities of a loss of ε and of −ε."""
    up = 1 / (1 + math.exp(-float(part)))
    return up, math.exp(-float(part)) * up


def adaptive_branch_delta(
    first_odds: Fraction,
    after_plus: Iterable[Fraction],
    after_minus: Iterable[Fraction],
    cut: Fraction,
) -> BranchDeltas:
    """Return the exact δ of a response that is followed by one of two continuations by its answer.

    Both may be within a budget of (ε, δ) when each is fixed in advance, and yet the adaptive whole
    is not: exact (ε, δ)-composition is no filter.

    Parameters
    ----------
    first_odds : Fraction
        e^ε of the first randomised response, > 1.
    after_plus, after_minus : iterable of Fraction
        Odds of those that follow an answer +, and −.
    cut : Fraction
        e^ε of the claim, ≥ 1.
    """
    plus, minus = tuple(after_plus), tuple(after_minus)
    for odds in (first_odds, *plus, *minus):
        if not odds > 1:
            raise ValueError(f"odds: {odds} is not above 1")
    if cut < 1:
        raise ValueError(f"cut: {cut} is below 1")
    first = Fraction(first_odds)
    # Losses of the two answers, as likelihood ratios with their probabilities.
    yes, no = first / (1 + first), 1 / (1 + first)
    follow_plus, follow_minus = _responses(plus), _responses(minus)

    def delta(one: Law, other: Law) -> Fraction:
        """Return Σ (P − cut·Q)₊, with P/Q the ratio and P the chance."""
        losses = [(yes * chance, first * ratio) for ratio, chance in one.items()]
        losses += [(no * chance, ratio / first) for ratio, chance in other.items()]
        return sum((p * (1 - cut / ratio) for p, ratio in losses if ratio > cut), Fraction(0))

    return BranchDeltas(
        delta(follow_plus, follow_plus),
        delta(follow_minus, follow_minus),
        # Either data set may be the likelier one.
        max(delta(follow_plus, follow_minus), delta(follow_minus, follow_plus)),
    )


def _responses(odds: tuple[Fraction, ...]) -> Law:
    """Return likelihood ratios of independent responses with their probabilities."""
    law = {Fraction(1): Fraction(1)}
    for each in map(Fraction, odds):
        after: dict[Fraction, Fraction] = {}
        for ratio, chance in law.items():
            for then, part in ((ratio * each, each), (ratio / each, Fraction(1))):
                after[then] = after.get(then, Fraction(0)) + chance * part / (1 + each)
        law = after
    return law


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
