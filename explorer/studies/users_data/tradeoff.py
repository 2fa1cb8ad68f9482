"""Algorithms 1 to 3 as tests: run on a few users, of whom one moves."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import SeededBits
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.users_data import text
from explorer.studies.users_data.parameters import ITEM_WISE
from explorer.studies.users_data.reading import Items
from explorer.studies.users_data.released import allowed_alpha0
from explorer.studies.users_data.subject import Promise, Subject

_USERS, _ITEMS = 3, 4
"""In both data sets, and items of every user where all have as many."""
_MOVED_MOST = 1000
"""Most items of a user of whom one moves."""


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited | str:
    """Return the algorithm that is asked for, on users of whom one moves to the nearest item."""
    subject = Subject(request, context)
    if subject.missing or not subject.finite:
        return f"{subject.missing or text.NO_TABLE}."
    apart = np.where(subject.distances > 0, subject.distances, np.inf)
    here, there = (int(i) for i in np.unravel_index(np.argmin(apart), apart.shape))
    near = float(apart[here, there])
    promise = subject.promise()
    if promise.r is None:
        promise, size, moved = replace(promise, m=_ITEMS), _ITEMS, _ITEMS
    else:
        size, moved = max(1, math.ceil(near / promise.r)), 1
        if size > _MOVED_MOST:
            return "r is far less than the distance of any two items."
    still = np.full(size, here)
    other = still.copy()
    other[:moved] = there
    count = 1 if subject.local else _USERS
    data = [[first, *[still] * (count - 1)] for first in (still, other)]
    item_wise = request["promise"] == ITEM_WISE
    scored = (_answers if item_wise else _averages)(subject, promise, count, here, there)
    epsilon = promise.alpha * near if promise.r is None else promise.epsilon

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        bits = SeededBits(rng)
        items: Sequence[Items] = data[side] * runs
        if promise.r is not None:
            items = um.drawn_items(items, promise.m, bits)
        return scored(np.concatenate(items).reshape(runs, -1), bits)

    drawn = f" after {promise.m} draws of each" if promise.r is not None else ""
    return Audited(
        f"Algorithm {2 if item_wise else 1}{drawn}; users: {count}, items of each: {size}, of whom "
        f"one moves {moved} to the nearest other item",
        run,
        epsilon,
        promise.total_delta(item_wise),
        "promised of this move",
        200,
    )


Scored = Callable[[Items, SeededBits], FloatArray]
"""From the items of all users of many runs, shape (runs, users·m), to a score of each run."""


def _answers(subject: Subject, promise: Promise, users: int, here: int, there: int) -> Scored:
    """Return Algorithm 2 and how much its answers' counts look like a move."""
    table = um.integer_table(allowed_alpha0(subject, promise, users), subject.distances)
    law = np.log(table.law())
    weight: FloatArray = law[there] - law[here]

    def scored(items: Items, bits: SeededBits) -> FloatArray:
        answers = table.answer(items.ravel(), bits).reshape(items.shape)
        return np.asarray(weight[answers].sum(axis=1))

    return scored


def _averages(subject: Subject, promise: Promise, users: int, here: int, there: int) -> Scored:
    """Return Algorithm 1 on shares of the two items, and how much nearer it is to a move's."""
    shares = np.eye(len(subject.distances))[:, [here, there]]
    query = um.LatticeQuery(shares, subject.distances, Fraction(1, 1000))
    means = [query.mean(np.array([here] * (users - 1) + [last])) for last in (here, there)]

    def scored(items: Items, bits: SeededBits) -> FloatArray:
        seen = np.array(
            [query.release(own, promise.m, users, promise.alpha, bits) for own in items]
        )
        first, second = (np.abs(seen - mean).sum(axis=1) for mean in means)
        return np.asarray(first - second)

    return scored
