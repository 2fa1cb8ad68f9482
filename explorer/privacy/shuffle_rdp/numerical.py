"""ε after T rounds by composition of privacy losses, certified: rounding included.

Two kinds of laws of one round are composed: those of randomised response on two and three symbols,
which bound from below what an accountant sound for *all* ε₀-LDP randomisers can report, and that of
the subsampled clones, which dominates every such randomiser and bounds from above. The one is
rounded down and the other up, through every step from the atoms of one round to the number
returned.

Randomised response is one ε₀-LDP randomiser, common to all clients and not adaptive. An accountant
that promises ε for all such randomisers promises it for this one: it cannot report less than it
leaks.

**Epochs: each client takes part once an epoch, in a random split of all clients into rounds.** A
round has at least k of the n clients, ⌊n/k⌋ rounds are an epoch, and T rounds are composed epoch by
epoch.

- *Fixed*: one randomiser is chosen before each epoch, for all its rounds. The groups of the rounds
  are a random split of one shuffle of n messages, and merging them gives that back: the epoch is
  exactly a shuffle of n.
- *Adaptive*: the randomiser may change from round to round (training does that). Given the split
  only one round sees the changed client, so by joint convexity the epoch is dominated by the clones
  of one shuffle of k, with no gain from sampling. Larger groups are dominated too: disclose their
  surplus messages, and who sent them.

Sharper bounds for adaptive rounds (Feldman & Shenfeld, arXiv 2502.08202 and 2602.17284) come close
to independent sampling; they are not verified here, so they are not offered.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import SHUFFLE_RDP, Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.composition import kov_exact_epsilon
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.accountant import Shuffling, pipeline_epsilon, upper_epsilon
from explorer.privacy.shuffle_rdp.composition import FINE, Certified, Composition
from explorer.privacy.shuffle_rdp.losses import (
    TWO_LEVEL_EPS0,
    RoundLoss,
    clone_loss,
    randomised_response_loss,
    three_symbol_loss,
    two_level_loss,
)
from explorer.privacy.shuffle_rdp.lower import Direction
from explorer.privacy.shuffle_rdp.one_round import (
    RandomisedResponseRound,
    ThreeSymbolRound,
    three_symbol_log_p,
)
from explorer.privacy.shuffle_rdp.upper import pure_epsilon
from explorer.privacy.shuffling import (
    Clones,
    log_clone_probability,
    shuffled_delta,
    shuffled_epsilon,
)

MIN_EPS0, MAX_EPS0 = 1e-12, 100.0
"""Where rounds are composed: below, losses lose their digits; above, there are no clones."""
TRUNCATED_EXCESS = 1e-3
"""Relative excess beyond which a number is called truncated."""
DEPTH = 50.0
DEPTHS = DEPTH, 4 * DEPTH, 16 * DEPTH
SUMMED = 1e-9
"""Relative rounding error of sums of one round."""
DENSEST_PAIR = 1e6
"""Depth times the mean number of coins up to which all of a round of coins is listed."""
_MAX_LISTED_VARIANCE = 3e8
"""Variance of the count up to which all of randomised response is listed where that is needed."""
_RESPONSE_CELLS = 700
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
CLONE_CELLS = 700
"""Losses that a round of clones is gathered on: 1e-5 of ε upwards, and quick."""
_LAST_DIGIT = 1e-15
"""Relative rounding error of a single formula."""
_MAX_MESSAGES = 1e7
"""Beyond so many messages a round the clones' bound stands alone."""
COMPOSED_CLONES = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "subsampled clones, composed",
    "rounded up",
)
EPOCH_FIXED = Reference(
    "Feldman, McMillan & Talwar",
    "clones of one shuffle of n an epoch, composed",
    "one randomiser fixed before each epoch; rounded up",
)
EPOCH_ADAPTIVE = Reference(
    "Feldman, McMillan & Talwar",
    "clones of one shuffle of k an epoch, composed",
    "randomisers may adapt between rounds; no gain from sampling; rounded up",
)


def is_loose(bound: Certified, share: float = TRUNCATED_EXCESS) -> bool:
    """Return whether a number exceeds the truth by more than a share of itself."""
    return bound.excess > share * bound.value


def depth_for(delta: float, T: int) -> float:
    """Return the depth: outcomes below e^−depth are left out, T of which are far below δ."""
    return DEPTH * max(1, math.ceil((math.log(T) - math.log(delta) + 12) / DEPTH))


def larger_of(bounds: Sequence[Certified]) -> Certified:
    """Return the largest of lower bounds on one number.

    One that is not known well does no harm if it cannot be the largest.
    """
    best = max(bounds, key=lambda bound: bound.value)
    return Certified(best.value, max(bound.value + bound.excess for bound in bounds) - best.value)


class ComposedRounds(Protocol):
    """T rounds of one kind, bounded on one side."""

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1]."""

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0, a relative excess of `enough` being good enough."""


class _FromBelow(ABC):
    """Rounds of one randomiser at min(ε₀, 100), which is ε₀-LDP too, k of n clients in each."""

    def __init__(self, eps0: float, k: float, n: float) -> None:
        self._round = min(eps0, MAX_EPS0), k, n
        self._known, self._lesser = eps0 >= MIN_EPS0, eps0 > MAX_EPS0
        self._routes: dict[tuple[float, bool], list[Composition]] = {}
        self._alone: RandomisedResponseRound | ThreeSymbolRound | None = None

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1]."""
        if T == 1 and (one := self._one_round()) is not None:
            return self._certify(float(one.epsilon(delta)[0]))
        return self._largest(lambda route: route.epsilon(delta, T), depth_for(delta, T))

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0."""
        if T == 1 and (one := self._one_round()) is not None:
            return self._certify(float(one.delta(epsilon)[0]))
        bound = Certified(0.0, math.inf)
        for depth in DEPTHS:
            bound = self._largest(lambda route: route.delta(epsilon, T, enough), depth, enough)
            if bound.value * TRUNCATED_EXCESS >= T * math.exp(-depth):
                break
        return bound

    @abstractmethod
    def _laws(self, depth: float, thin: bool) -> list[RoundLoss]:
        """Return the laws of one round whose larger divergence counts."""

    @abstractmethod
    def _curve(self) -> RandomisedResponseRound | ThreeSymbolRound | None:
        """Return one round exactly, if it can be had."""

    @abstractmethod
    def _may_be_dense(self, depth: float) -> bool:
        """Return whether all outcomes of a round can be listed."""

    def _certify(self, value: float) -> Certified:
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
        bounds = []
        for index, route in enumerate(self._compose(depth, thin=True)):
            bound = ask(route)
            downsampled = math.isfinite(route.loss.reach)
            if (
                is_loose(bound, max(TRUNCATED_EXCESS, enough))
                and downsampled
                and self._may_be_dense(depth)
            ):
                # Of few rounds the atoms themselves show, not only what they add up to.
                bound = max(bound, ask(self._compose(depth, thin=False)[index]))
            bounds.append(bound)
        best = larger_of(bounds)
        return best._replace(excess=math.inf) if self._lesser else best

    def _compose(self, depth: float, *, thin: bool) -> list[Composition]:
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
        directions = both if self._direction is Direction.BOTH else (self._direction,)
        return [both[which] for which in directions]

    def _curve(self) -> RandomisedResponseRound | None:
        both = self._direction is Direction.BOTH
        return RandomisedResponseRound(*self._round) if both else None

    def _may_be_dense(self, depth: float) -> bool:
        eps0, k, _ = self._round
        return k * math.exp(-eps0) <= _MAX_LISTED_VARIANCE


class ThreeSymbolRounds(_FromBelow):
    """Rounds of randomised response on three symbols (3RR), as `ResponseRounds`.

    Their losses are merged on about `cells` values; if those are fewer than usual, one round's are,
    too, of which else the exact δ is known.
    """

    def __init__(self, eps0: float, k: float, n: float, cells: int = _RESPONSE_CELLS) -> None:
        super().__init__(eps0, k, n)
        self._cells = cells

    def _laws(self, depth: float, thin: bool) -> list[RoundLoss]:
        return [three_symbol_loss(*self._round, cells=self._cells, depth=depth, thin=thin)]

    def _curve(self) -> ThreeSymbolRound | None:
        return ThreeSymbolRound(*self._round) if self._cells >= _RESPONSE_CELLS else None

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


class CloneRounds:
    """Rounds of subsampled clones, k of n clients in each, from above.

    They dominate every ε₀-LDP randomiser if all clients of a round use one common, non-adaptive
    one; without sampling (k = n), and with `Clones.PUBLISHED`, any.

    Parameters
    ----------
    eps0 : float
        In [0, 800].
    k, n : float
        1 ≤ k ≤ n ≤ 1e12.
    variant : Clones
    cells : int
        Losses that a round is gathered on; half as many err by 2e-5 of ε instead of 5e-6.
    """

    def __init__(
        self,
        eps0: float,
        k: float,
        n: float,
        variant: Clones = Clones.PUBLISHED,
        cells: int = CLONE_CELLS,
    ) -> None:
        self._round, self._variant, self._cells = (eps0, k, n), variant, cells
        self._pure = float(pure_epsilon(eps0, k, n)) * (1 + _LAST_DIGIT)
        self._routes: dict[tuple[float, bool], Composition] = {}

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return ε at δ in (0, 1].

        For ε₀ > 100, where there are no clones to speak of, and below 1e-12 the least of Theorem 3
        with caps, the pipeline and the sampled rounds as if each were randomised response (Kairouz,
        Oh & Viswanath, Theorem 3.3).
        """
        eps0, k, n = self._round
        if delta >= 1:
            return Certified(0.0, 0.0)
        if T == 1:
            return Certified(self._one_round(delta), 0.0)
        most = T * self._pure * (1 + _LAST_DIGIT)
        depth = depth_for(delta, T)
        for thin in (True, False):
            # Of few rounds the atoms themselves show, not only what they add up to.
            route = self._compose(depth, thin=thin)
            if route is not None:
                composed = route.epsilon(delta, T)
                most = min(most, composed.value)
                if composed.excess <= TRUNCATED_EXCESS * min(composed.value, most):
                    return Certified(most, composed.excess)
        others = (
            upper_epsilon(eps0, k, n, T, delta, capped=True).epsilon,
            pipeline_epsilon(eps0, k, n, T, delta, Shuffling.NUMERIC),
            kov_exact_epsilon(pure_epsilon(eps0, k, n), T, delta, Role.UPPER),
        )
        value = min(most, *(float(v) * (1 + SUMMED) for v in others))
        return Certified(value, math.inf if value > 0 else 0.0)

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return δ at ε ≥ 0."""
        eps0, k, n = self._round
        if epsilon >= T * self._pure * (1 + _LAST_DIGIT):
            return Certified(0.0, 0.0)
        if T == 1:
            # ln(1 + n/k·(e^ε − 1)), whose e^ε may have no double.
            inner = epsilon + math.log1p((1 - n / k) * math.expm1(-epsilon))
            value = k / n * float(shuffled_delta(min(inner, eps0), eps0, k, self._variant))
            return Certified(min(value * (1 + SUMMED), 1.0), 0.0)
        # What T rounds of (ε_s, 0)-DP have in any case.
        most = min(math.tanh(T * self._pure / 2) * (1 + SUMMED), 1.0)
        route, least = None, math.inf
        for depth in DEPTHS:
            route = self._compose(depth, thin=True)
            if route is None:
                break
            bound = route.delta(epsilon, T, enough)
            least = min(least, bound.value)
            if T * route.loss.missing <= TRUNCATED_EXCESS * bound.value:
                return Certified(min(most, bound.value), bound.excess)
        return Certified(min(most, least), math.inf)

    def _one_round(self, delta: float) -> float:
        eps0, k, n = self._round
        if delta * n >= k:
            return 0.0
        whole = max(delta * n / k * (1 - _LAST_DIGIT), checks.MIN_DELTA)
        inner = float(shuffled_epsilon(eps0, k, whole, self._variant))
        gamma = k / n
        value = math.log1p(gamma * math.expm1(inner)) if inner < 700 else self._pure
        return min(value * (1 + SUMMED), self._pure)

    def _compose(self, depth: float, *, thin: bool) -> Composition | None:
        """Return the composition; None without clones, or with too many for this request."""
        eps0, k, n = self._round
        if not MIN_EPS0 <= eps0 <= MAX_EPS0:
            return None
        if not thin:
            downsampled = self._compose(depth, thin=True)
            clones = k * math.exp(float(log_clone_probability(eps0, self._variant)))
            if (
                downsampled is None
                or math.isinf(downsampled.loss.reach)
                or depth * clones > DENSEST_PAIR
            ):
                return None
        if (depth, thin) not in self._routes:
            loss = clone_loss(eps0, k, n, self._variant, self._cells, depth, thin=thin)
            self._routes[depth, thin] = Composition(loss, Role.UPPER)
        return self._routes[depth, thin]


class TwoLevelRounds:
    """T rounds of one two-level randomiser, from above; never above the clones of 2023.

    Parameters
    ----------
    eps0, theta, k, n
        As of `two_level_loss`.
    """

    def __init__(self, eps0: float, theta: float, k: float, n: float) -> None:
        self._round = eps0, theta, k, n
        self._clones = CloneRounds(eps0, k, n, Clones.STRONGER)
        self._routes: dict[float, Composition] = {}

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return an upper bound on ε at δ in (0, 1]."""
        general = self._clones.epsilon(delta, T)
        if delta >= 1 or not self._is_listable:
            return general
        composed = self._compose(depth_for(delta, T)).epsilon(delta, T)
        return min(composed, general, key=lambda bound: bound.value)

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return an upper bound on δ at ε ≥ 0."""
        general = self._clones.delta(epsilon, T, enough)
        if not self._is_listable:
            return general
        bound = self._compose(depth_for(1e-12, T)).delta(epsilon, T, enough)
        return min(bound, general, key=lambda known: known.value)

    @property
    def _is_listable(self) -> bool:
        """Whether the losses of a round can be listed."""
        eps0, _, k, _ = self._round
        return k <= _MAX_MESSAGES and TWO_LEVEL_EPS0[0] <= eps0 <= TWO_LEVEL_EPS0[1]

    def _compose(self, depth: float) -> Composition:
        if depth not in self._routes:
            self._routes[depth] = Composition(two_level_loss(*self._round, depth=depth), Role.UPPER)
        return self._routes[depth]


def randomised_response_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Bound:
    """Return ε at δ of T rounds of randomised response: the *2RR lower bound*.

    No accountant that is sound for all ε₀-LDP randomisers can report less; a particular
    randomiser may leak less. Arguments broadcast; domains as in `upper_epsilon`. Marked truncated
    where a lower number than could be had does, see `ResponseRounds`.
    """
    which = Direction(direction)
    return _compose(
        lambda e, s, c: ResponseRounds(e, s, c, which), (eps0, k, n, T), delta, COMPOSED_RESPONSES
    )


def three_symbol_epsilon(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike
) -> Bound:
    """Return ε at δ of T rounds of randomised response on three symbols (3RR), from below.

    Arguments broadcast; domains as in `upper_epsilon`; truncated as in
    `randomised_response_epsilon`.
    """
    return _compose(ThreeSymbolRounds, (eps0, k, n, T), delta, COMPOSED_THREE_SYMBOL)


def lower_epsilon(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike
) -> Bound:
    """Return the larger ε at δ of T rounds of 2RR and 3RR: the *lower bound (2RR, 3RR)*.

    No accountant that is sound for all ε₀-LDP randomisers, or for all that are common to the
    clients of a round and not adaptive, can report less; a particular randomiser may leak less.
    Arguments as in `three_symbol_epsilon`.
    """
    return _compose(LowerRounds, (eps0, k, n, T), delta, COMPOSED_LOWER)


def clone_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
) -> Bound:
    """Return ε at δ of T rounds of subsampled clones: the *numerical upper bound*.

    Conditions as in `CloneRounds`. Arguments broadcast; domains as in `upper_epsilon`. Marked
    truncated where a larger number than could be had does.
    """
    which = Clones(variant)
    return _compose(
        lambda e, s, c: CloneRounds(e, s, c, which), (eps0, k, n, T), delta, COMPOSED_CLONES
    )


def composed_clone_total_variation(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
) -> Bound:
    """Return δ(0) of T rounds of subsampled clones: how far apart the two cases are at most.

    Arguments and conditions as in `clone_epsilon`.
    """
    which = Clones(variant)
    return _compose(
        lambda e, s, c: CloneRounds(e, s, c, which), (eps0, k, n, T), None, COMPOSED_CLONES
    )


def composed_response_total_variation(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike
) -> Bound:
    """Return δ(0) of T rounds of randomised response from below, the larger of both directions.

    No statement about all ε₀-LDP randomisers can say that the two cases are nearer to each other.
    Arguments as in `randomised_response_epsilon`.
    """
    return _compose(ResponseRounds, (eps0, k, n, T), None, COMPOSED_RESPONSES)


def composed_lower_total_variation(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike
) -> Bound:
    """Return the larger δ(0) of T rounds of 2RR and 3RR from below; see `lower_epsilon`."""
    return _compose(LowerRounds, (eps0, k, n, T), None, COMPOSED_LOWER)


def _compose(
    prepare: Callable[[float, float, float], ComposedRounds],
    rounds: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    delta: ArrayLike | None,
    reference: Reference,
) -> Bound:
    """Evaluate at broadcast points, δ(0) if no δ is given."""
    eps0, k, n, T = rounds
    arrays = np.broadcast_arrays(
        checks.epsilon0(eps0),
        *checks.population(k, n),
        checks.rounds(T),
        1.0 if delta is None else checks.delta(delta),
    )
    flat = np.stack([a.ravel() for a in arrays])
    value, loose = np.zeros(flat.shape[1]), np.zeros(flat.shape[1], dtype=bool)
    chains, which = np.unique(flat[:3], axis=1, return_inverse=True)
    for i in range(chains.shape[1]):
        if chains[0, i] == 0:
            continue
        composed = prepare(*(float(v) for v in chains[:, i]))
        for j in np.flatnonzero(which.ravel() == i):
            turns = int(flat[3, j])
            bound = (
                composed.delta(0.0, turns) if delta is None else composed.epsilon(flat[4, j], turns)
            )
            value[j], loose[j] = bound.value, is_loose(bound)
    shape = arrays[0].shape
    role = Role.UPPER if reference is COMPOSED_CLONES else Role.LOWER
    return Bound(
        value.reshape(shape), role, reference, truncated=loose.reshape(shape), grade=Grade.PROVED
    )


class Allocation(StrEnum):
    """When the randomiser of a round is chosen, if each client takes part once an epoch."""

    FIXED = "fixed"
    """Before the epoch, one for all its rounds."""
    ADAPTIVE = "adaptive"
    """Before each round, from the results of earlier rounds."""


def rounds_an_epoch(k: ArrayLike, n: ArrayLike) -> Any:
    """Return ⌊n/k⌋: rounds of at least k clients that see each of n clients once."""
    sampled, clients = checks.population(k, n)
    return scalar_if_0d(np.floor_divide(clients, sampled))


def epochs_begun(T: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return ⌈T/⌊n/k⌋⌉, the number of epochs that T rounds begin and that are composed."""
    return scalar_if_0d(np.ceil(checks.rounds(T) / rounds_an_epoch(k, n)))


def shuffled_an_epoch(k: ArrayLike, n: ArrayLike, how: Allocation | str) -> FloatArray:
    """Return the number of messages of the shuffle equivalent to an epoch: n, or k if adaptive."""
    sampled, clients = checks.population(k, n)
    return clients if Allocation(how) is Allocation.FIXED else sampled


def allocation_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    how: Allocation | str = Allocation.ADAPTIVE,
    variant: Clones | str = Clones.PUBLISHED,
) -> Bound:
    """Return ε at δ of T rounds in which each client takes part once an epoch, rounded up.

    Arguments broadcast; domains as in `upper_epsilon`. `Clones.STRONGER` needs one common
    randomiser a round (an epoch, if fixed); no sampling is involved, so the 2021 analysis holds for
    any ε₀-LDP randomisers.
    """
    crowd = shuffled_an_epoch(k, n, how)
    bound = clone_epsilon(eps0, crowd, crowd, epochs_begun(T, k, n), delta, variant)
    reference = EPOCH_FIXED if Allocation(how) is Allocation.FIXED else EPOCH_ADAPTIVE
    return Bound(bound.value, Role.UPPER, reference, truncated=bound.truncated, grade=Grade.PROVED)
