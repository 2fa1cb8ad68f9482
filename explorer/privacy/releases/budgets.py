"""Budgets of releases in exact fractions: filters, splits over levels, conversions to (ε, δ).

**Filters: budgets that stay valid when every choice depends on what was released before.** With
mechanisms and ε chosen from earlier outputs, log-likelihood ratios of the outputs add up along
every path and each is at most its ε: the sum is a filter, and equals what was spent at any time. As
zero-concentrated DP an ε costs ε²/2; Σε_i²/2 ≤ ρ on every path makes the whole ρ-zCDP (Feldman and
Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023).

**Splits: budgets of levels in whole units of 2⁻⁴⁰, from ratios whose square is a fraction.**

**Conversions to (ε, δ), and the cost of composition fixed in advance.** None but the conversion of
a ρ that is capped is a gate: exact composition is for ε's that were fixed before anything was seen.
`adaptive_branch_delta` shows what goes wrong otherwise. Doubles are allowed in these alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

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
