"""Trade-off laws and audits of composed rounds of shuffled messages."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.core.checks import MIN_DELTA
from explorer.privacy.shuffle_rdp import (
    COMPOSED_CLONES,
    COMPOSED_LOWER,
    CloneRounds,
    ComposedRounds,
    LowerRounds,
)
from explorer.privacy.shuffling import Clones
from explorer.studies.base.study import Context, Guarantee
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.tradeoffs import Law

_ENOUGH = 0.01
"""Relative excess of a δ that no curve shows: from one to the next δ changes by far more."""


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
        return lambda eps: np.array([made.delta(float(e), turns, _ENOUGH).value for e in eps])

    clones: ComposedRounds = context.cached(
        (*key, variant.value, local, sampled, clients),
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
