"""Composed rounds of shuffled messages: bounds on ε, trade-off laws and audits."""

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TypeVar

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.checks import MIN_DELTA
from explorer.privacy.noise.demonstration import IntArray
from explorer.privacy.shuffle_rdp import (
    COMPOSED_CLONES,
    COMPOSED_LOWER,
    CloneRounds,
    ComposedRounds,
    LowerRounds,
    is_loose,
    larger_of,
)
from explorer.privacy.shuffling import Clones
from explorer.studies.base.study import Context, Guarantee
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.tradeoffs import Law

Prepare = Callable[[float, float, float], ComposedRounds]
_Rounds = TypeVar("_Rounds")
_Answer = TypeVar("_Answer")
_MAX_KNOWN = 2000
Five = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def composed_bound(
    prepare: Prepare,
    points: Five,
    side: tuple[Role, Reference],
    context: Context,
    key: tuple[object, ...],
) -> Bound:
    """Return ε at δ at every point, certified.

    Parameters
    ----------
    prepare : callable
        From ε₀, k and n to the rounds, `CloneRounds` for one.
    points : tuple of ndarray, all of one length
        ε₀, k, n, T and δ.
    side : Role, Reference
    context : Context
        Checked for cancellation between two points.
    key : tuple
        Cache key of what is known of such rounds.
    """
    value, loose = np.zeros(points[0].size), np.zeros(points[0].size, bool)
    for j, bound in _at_points(prepare, lambda r, *at: r.epsilon(*at), points, context, key):
        value[j], loose[j] = bound.value, is_loose(bound)
    role, reference = side
    return Bound(value, role, reference, truncated=loose, grade=Grade.PROVED)


def composed_lower(
    points: Five, context: Context, key: tuple[object, ...]
) -> tuple[Bound, FloatArray]:
    """Return the lower bound (2RR, 3RR) on ε at δ at every point, and its two parts.

    Parameters as of `composed_bound`. The second result has shape (2, points): 2RR's row, then
    3RR's.
    """
    pairs, loose = np.zeros((2, points[0].size)), np.zeros(points[0].size, bool)
    for j, both in _at_points(LowerRounds, LowerRounds.each, points, context, key):
        pairs[:, j] = np.reshape([bound.value for bound in both], (2, 1))
        loose[j] = is_loose(larger_of(both))
    bound = Bound(
        pairs.max(axis=0), Role.LOWER, COMPOSED_LOWER, truncated=loose, grade=Grade.PROVED
    )
    return bound, pairs


def _at_points(
    prepare: Callable[[float, float, float], _Rounds],
    ask: Callable[[_Rounds, float, int], _Answer],
    points: Five,
    context: Context,
    key: tuple[object, ...],
) -> Iterator[tuple[IntArray, _Answer]]:
    """Yield indices of equal points, and what is asked of their rounds at δ and T.

    Answers are kept: later ones have some of the points again, and the curve of a single round over
    T is the same wherever the slider of T stands. So is a single round itself.
    """
    local, sampled, clients, rounds, delta = points
    stacked = np.stack([local, sampled, clients], axis=1)
    rows, which = np.unique(stacked, axis=0, return_inverse=True)
    known: dict[tuple[float, ...], _Answer] = context.cached((*key, "values"), dict)
    if len(known) > _MAX_KNOWN:
        known.clear()
    for i, row in enumerate(rows):
        context.check()
        chain = tuple(float(v) for v in row)
        make = partial(prepare, *chain)
        made: Callable[[], _Rounds] = cache(make)
        if len(rows) == 1:
            made = partial(context.cached, (*key, *chain), make)
        same = np.flatnonzero(which.ravel() == i)
        pairs = np.stack([rounds[same], delta[same]], axis=1)
        for T, d in np.unique(pairs, axis=0):
            context.check()
            at = *chain, float(T), float(d)
            if at not in known:
                known[at] = ask(made(), float(d), int(T))
            yield same[(pairs == (T, d)).all(axis=1)], known[at]


def clones_key(variant: Clones) -> tuple[object, ...]:
    """Return the cache key of prepared `CloneRounds`, for `composed_bound`.

    All studies have one, so that a round is prepared once for all that is computed of it.
    """
    return ("shuffle-rdp", "composed", variant.value)


def clones_apart(
    local: float, sampled: float, clients: float, rounds: float, variant: Clones, context: Context
) -> float:
    """Return an upper bound on δ(0) of composed rounds of clones; cached for all δ."""
    if local == 0:
        return 0.0
    chain = (local, sampled, clients)

    def apart() -> float:
        composed: CloneRounds = context.cached(
            (*clones_key(variant), *chain), lambda: CloneRounds(*chain, variant)
        )
        return composed.delta(0.0, int(rounds)).value

    total_variation: float = context.cached(
        ("clones", "total variation", *chain, rounds, variant), apart
    )
    return total_variation


_DELTA_TOLERANCE = 0.01
"""Relative error of δ that is not visible on a curve."""


def round_laws(
    chain: tuple[float, float, float, float],
    variant: Clones,
    promise: Guarantee,
    context: Context,
    key: tuple[object, ...],
) -> Iterator[Law]:
    """Yield the laws of T rounds of clones and of randomised response.

    Parameters
    ----------
    chain : tuple of float
        ε₀, k, n and T.
    variant : Clones
    promise : Guarantee
        Its first ε is about the largest at which δ matters.
    context : Context
    key : tuple
        Cache key of the rounds.
    """
    local, sampled, clients, rounds = chain
    turns = int(rounds)

    def deltas(made: ComposedRounds) -> Callable[[FloatArray], FloatArray]:
        return lambda eps: np.array(
            [made.delta(float(e), turns, _DELTA_TOLERANCE).value for e in eps]
        )

    clones: ComposedRounds = context.cached(
        (*clones_key(variant), local, sampled, clients),
        lambda: CloneRounds(local, sampled, clients, variant),
    )
    response: ComposedRounds = context.cached(
        (*key, local, sampled, clients), lambda: LowerRounds(local, sampled, clients)
    )
    farthest, delta = min(promise.pairs)
    yield Law(
        "law",
        f"law of the {variant.value} clones through all rounds",
        deltas(clones),
        Role.UPPER,
        farthest,
        COMPOSED_CLONES,
    )
    yield Law(
        "response",
        "2RR, 3RR: nobody can promise more",
        deltas(response),
        Role.LOWER,
        response.epsilon(max(delta, MIN_DELTA), turns).value,
        COMPOSED_LOWER,
    )


def responses_run(
    local: float, sampled: int, clients: int, rounds: int, delta: float, eps: float
) -> Audited:
    """Return the audit of T rounds of shuffled randomised response; one of n clients changes.

    The other messages of a round are drawn as their sum. The score is the log-likelihood ratio.

    Parameters
    ----------
    local : float
        ε₀.
    sampled, clients, rounds : int
        k, n and T.
    delta, eps : float
        What is promised.
    """
    flipped = math.exp(-local) / (1 + math.exp(-local))
    share = sampled / clients

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        score = np.zeros(runs)
        for _ in range(rounds):
            ones = rng.binomial(sampled - 1, flipped, runs)
            own = np.full(runs, flipped)
            if side:
                own[rng.random(runs) < share] = 1 - flipped
            ones = ones + (rng.random(runs) < own)
            alike = ones / sampled
            ratio = (1 - flipped) / flipped * alike + flipped / (1 - flipped) * (1 - alike)
            score += np.log1p(share * (ratio - 1))
        return score

    many = "" if rounds == 1 else f", {rounds:,} rounds"
    return Audited(
        f"binary randomised response of {sampled:,} of {clients:,} clients{many}; one of them "
        "holds 1 instead of 0",
        run,
        eps,
        delta,
        "promised of all ε₀-LDP randomisers",
        max(1, 100_000 // rounds),
    )
