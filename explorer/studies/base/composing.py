"""Composition bounds at many points, each different round prepared once."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.noise.demonstration import IntArray
from explorer.privacy.shuffle_rdp import (
    COMPOSED_LOWER,
    ComposedRounds,
    LowerRounds,
    is_loose,
    larger_of,
)
from explorer.privacy.shuffle_rdp.numerical import composed_clone_total_variation
from explorer.privacy.shuffling import Clones
from explorer.studies.base.study import Context

Prepare = Callable[[float, float, float], ComposedRounds]
_Rounds = TypeVar("_Rounds")
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
        Cache key of the rounds, used if all points share them.
    """
    value, loose = np.zeros(points[0].size), np.zeros(points[0].size, bool)
    for j, made, delta, rounds in _asked(prepare, points, context, key):
        known = made.epsilon(delta, rounds)
        value[j], loose[j] = known.value, is_loose(known)
    role, reference = side
    return Bound(value, role, reference, truncated=loose, grade=Grade.PROVED)


def composed_lower(
    points: Five, context: Context, key: tuple[object, ...]
) -> tuple[Bound, FloatArray]:
    """Return the lower bound (2RR, 3RR) on ε at δ at every point, and both that it is made of.

    Parameters as of `composed_bound`. The second result has shape (2, points): 2RR's row, then
    3RR's.
    """
    pairs, loose = np.zeros((2, points[0].size)), np.zeros(points[0].size, bool)
    for j, made, delta, rounds in _asked(LowerRounds, points, context, key):
        found = made.each(delta, rounds)
        pairs[:, j] = np.reshape([known.value for known in found], (2, 1))
        loose[j] = is_loose(larger_of(found))
    bound = Bound(
        pairs.max(axis=0), Role.LOWER, COMPOSED_LOWER, truncated=loose, grade=Grade.PROVED
    )
    return bound, pairs


def _asked(
    prepare: Callable[[float, float, float], _Rounds],
    points: Five,
    context: Context,
    key: tuple[object, ...],
) -> Iterator[tuple[IntArray, _Rounds, float, int]]:
    """Yield indices of equal points, their prepared rounds, δ and T."""
    local, sampled, clients, rounds, delta = points
    stacked = np.stack([local, sampled, clients], axis=1)
    rows, which = np.unique(stacked, axis=0, return_inverse=True)
    for i, row in enumerate(rows):
        context.check()
        chain = tuple(float(v) for v in row)
        make = partial(prepare, *chain)
        made: _Rounds = context.cached((*key, *chain), make) if len(rows) == 1 else make()
        these = np.flatnonzero(which.ravel() == i)
        asked = np.stack([rounds[these], delta[these]], axis=1)
        for T, d in np.unique(asked, axis=0):
            context.check()
            yield these[(asked == (T, d)).all(axis=1)], made, float(d), int(T)


def clones_apart(
    local: float, sampled: float, clients: float, rounds: float, variant: Clones, context: Context
) -> float:
    """Return an upper bound on δ(0) of composed rounds of clones; cached for all δ."""
    chain = (local, sampled, clients, rounds, variant)
    found: float = context.cached(
        ("clones", "total variation", *chain),
        lambda: float(composed_clone_total_variation(*chain).value),
    )
    return found
