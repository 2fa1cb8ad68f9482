"""T rounds of randomised response on two and three symbols, certified from below.

Each is one ε₀-LDP randomiser, common to all clients and not adaptive. An accountant that promises
ε for all such randomisers promises it for these: it cannot report less than either leaks.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from explorer.privacy.core.bound import SHUFFLE_RDP, Reference, Role
from explorer.privacy.shuffle_rdp.composition import FINE, Certified, Composition
from explorer.privacy.shuffle_rdp.losses import (
    RoundLoss,
    randomised_response_loss,
    three_symbol_loss,
)
from explorer.privacy.shuffle_rdp.lower import Direction
from explorer.privacy.shuffle_rdp.one_round import (
    RandomisedResponseRound,
    ThreeSymbolRound,
    three_symbol_log_p,
)

EPS0_MIN, EPS0_MAX = 1e-12, 100.0
"""Where rounds are composed: below, losses lose their digits; above, there are no clones."""
LOOSE = 1e-3
"""Relative excess beyond which a number is called truncated."""
DEPTH = 50.0
DEPTHS = DEPTH, 4 * DEPTH, 16 * DEPTH
SUMMED = 1e-9
"""What sums of one round are raised or lowered by for their rounding."""
DENSEST_PAIR = 1e6
"""Depth times the mean number of coins up to which all of a round of coins is listed."""
_DENSEST = 3e8
"""Variance of the count up to which all of randomised response is listed where that is needed."""
_CELLS = 700
"""Losses that a round of three symbols is merged on: 1e-9 of ε downwards, and quick."""

COMPOSED_RESPONSES = Reference(
    SHUFFLE_RDP,
    "the pair of Theorem 2, composed",
    "larger of both directions, rounded down",
)
COMPOSED_THREE_SYMBOL = Reference(
    "this program",
    "randomised response on three symbols, composed",
    "one client moves from 1 to 2, all others hold 3; rounded down",
)
COMPOSED_LOWER = Reference(
    f"{SHUFFLE_RDP}; this program",
    "the pair of Theorem 2 and randomised response on three symbols, composed",
    "the larger, of 2RR in both directions, rounded down",
)


def is_loose(known: Certified, share: float = LOOSE) -> bool:
    """Return whether a number is further beside the truth than a share of itself."""
    return known.excess > share * known.value


def depth_for(delta: float, T: int) -> float:
    """Return at which e^−depth outcomes of a round are left out: T of them are little beside δ."""
    return DEPTH * max(1, math.ceil((math.log(T) - math.log(delta) + 12) / DEPTH))


def larger_of(found: Sequence[Certified]) -> Certified:
    """Return the largest of lower bounds on one number.

    One that is not known well does no harm if it cannot be the largest.
    """
    best = max(found, key=lambda known: known.value)
    return Certified(best.value, max(known.value + known.excess for known in found) - best.value)


class ComposedRounds(Protocol):
    """T rounds of one kind, bounded on one side."""

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1]."""

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0, a relative excess of `enough` being good enough."""


class _FromBelow(ABC):
    """Rounds of one randomiser at min(ε₀, 100), which is ε₀-LDP too, k of n clients in each."""

    def __init__(self, eps0: float, k: float, n: float) -> None:
        self._round = min(eps0, EPS0_MAX), k, n
        self._known, self._lesser = eps0 >= EPS0_MIN, eps0 > EPS0_MAX
        self._routes: dict[tuple[float, bool], list[Composition]] = {}
        self._alone: RandomisedResponseRound | ThreeSymbolRound | None = None

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1]."""
        if T == 1 and (one := self._one_round()) is not None:
            return self._certified(float(one.epsilon(delta)[0]))
        return self._largest(lambda route: route.epsilon(delta, T), depth_for(delta, T))

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0."""
        if T == 1 and (one := self._one_round()) is not None:
            return self._certified(float(one.delta(epsilon)[0]))
        found = Certified(0.0, math.inf)
        for depth in DEPTHS:
            found = self._largest(lambda route: route.delta(epsilon, T, enough), depth, enough)
            if found.value * LOOSE >= T * math.exp(-depth):
                break
        return found

    @abstractmethod
    def _laws(self, depth: float, thin: bool) -> list[RoundLoss]:
        """Return the laws of one round whose larger divergence counts."""

    @abstractmethod
    def _curve(self) -> RandomisedResponseRound | ThreeSymbolRound | None:
        """Return one round exactly, if it can be had."""

    @abstractmethod
    def _may_be_dense(self, depth: float) -> bool:
        """Return whether all outcomes of a round can be listed."""

    def _certified(self, value: float) -> Certified:
        return Certified(value * (1 - SUMMED), math.inf if self._lesser else 0.0)

    def _one_round(self) -> RandomisedResponseRound | ThreeSymbolRound | None:
        if self._alone is None and self._known:
            self._alone = self._curve()
        return self._alone

    def _largest(
        self, ask: Callable[[Composition], Certified], depth: float, enough: float = FINE
    ) -> Certified:
        if not self._known:
            return Certified(0.0, math.inf if self._round[0] > 0 else 0.0)
        found = []
        for index, route in enumerate(self._composed(depth, thin=True)):
            known = ask(route)
            downsampled = math.isfinite(route.loss.reach)
            if is_loose(known, max(LOOSE, enough)) and downsampled and self._may_be_dense(depth):
                # Of few rounds the atoms themselves show, not only what they add up to.
                known = max(known, ask(self._composed(depth, thin=False)[index]))
            found.append(known)
        best = larger_of(found)
        return best._replace(excess=math.inf) if self._lesser else best

    def _composed(self, depth: float, *, thin: bool) -> list[Composition]:
        if (depth, thin) not in self._routes:
            laws = self._laws(depth, thin)
            self._routes[depth, thin] = [Composition(law, Role.LOWER) for law in laws]
        return self._routes[depth, thin]


class ResponseRounds(_FromBelow):
    """Rounds of binary randomised response (2RR), k of n clients in each, from below.

    Parameters
    ----------
    eps0 : float
        In [0, 800]; above 100 that of 100, whose randomised response is ε₀-LDP too, and below
        1e-12 nothing.
    k, n : float
        1 ≤ k ≤ n ≤ 1e12.
    direction : Direction
    """

    def __init__(
        self, eps0: float, k: float, n: float, direction: Direction = Direction.BOTH
    ) -> None:
        super().__init__(eps0, k, n)
        self._direction = direction

    def _laws(self, depth: float, thin: bool) -> list[RoundLoss]:
        loss = randomised_response_loss(*self._round, depth=depth, thin=thin)
        both = {Direction.QP: loss, Direction.PQ: loss.reversed()}
        wanted = both if self._direction is Direction.BOTH else (self._direction,)
        return [both[which] for which in wanted]

    def _curve(self) -> RandomisedResponseRound | None:
        both = self._direction is Direction.BOTH
        return RandomisedResponseRound(*self._round) if both else None

    def _may_be_dense(self, depth: float) -> bool:
        eps0, k, _ = self._round
        return k * math.exp(-eps0) <= _DENSEST


class ThreeSymbolRounds(_FromBelow):
    """Rounds of randomised response on three symbols (3RR), as `ResponseRounds`."""

    def _laws(self, depth: float, thin: bool) -> list[RoundLoss]:
        return [three_symbol_loss(*self._round, cells=_CELLS, depth=depth, thin=thin)]

    def _curve(self) -> ThreeSymbolRound:
        return ThreeSymbolRound(*self._round)

    def _may_be_dense(self, depth: float) -> bool:
        eps0, k, _ = self._round
        return depth * k * math.exp(three_symbol_log_p(eps0)) <= DENSEST_PAIR


class LowerRounds:
    """The larger of 2RR in both directions and of 3RR: the *lower bound (2RR, 3RR)*.

    Parameters as of `ResponseRounds`.
    """

    def __init__(self, eps0: float, k: float, n: float) -> None:
        self._pairs = ResponseRounds(eps0, k, n), ThreeSymbolRounds(eps0, k, n)

    def each(self, delta: float, T: int) -> tuple[Certified, Certified]:
        """Return ε at δ in (0, 1] of 2RR and of 3RR."""
        two, three = (pair.epsilon(delta, T) for pair in self._pairs)
        return two, three

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1]."""
        return larger_of(self.each(delta, T))

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0."""
        return larger_of([pair.delta(epsilon, T, enough) for pair in self._pairs])
