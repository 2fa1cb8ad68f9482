"""Bounds by composition at many points: the library's own, each round prepared once."""

from collections.abc import Callable
from functools import partial

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.odds import composed_clone_total_variation
from explorer.privacy.shuffle_rdp import ComposedRounds, is_loose
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Context

Prepare = Callable[[float, float, float], ComposedRounds]


def composed_bound(
    prepare: Prepare,
    points: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
    side: tuple[Role, Reference],
    context: Context,
    key: tuple[object, ...],
) -> Bound:
    """Return ε at δ at every point, certified.

    Parameters
    ----------
    prepare : callable
        From ε₀, k and n to the rounds, `CloneRounds` or `ResponseRounds`.
    points : tuple of ndarray, all of one length
        ε₀, k, n, T and δ.
    side : Role, Reference
    context : Context
        Asked between two points whether anybody still waits.
    key : tuple
        Under which the rounds are kept if all points share them.
    """
    local, sampled, clients, rounds, delta = points
    stacked = np.stack([local, sampled, clients], axis=1)
    rows, which = np.unique(stacked, axis=0, return_inverse=True)
    value, loose = np.zeros(delta.size), np.zeros(delta.size, bool)
    for i, row in enumerate(rows):
        context.check()
        chain = tuple(float(v) for v in row)
        make = partial(prepare, *chain)
        made: ComposedRounds = context.memo((*key, *chain), make) if len(rows) == 1 else make()
        for j in np.flatnonzero(which.ravel() == i):
            context.check()
            known = made.epsilon(float(delta[j]), int(rounds[j]))
            value[j], loose[j] = known.value, is_loose(known)
    role, reference = side
    return Bound(value, role, reference, truncated=loose, grade=Grade.PROVED)


def clones_apart(
    local: float, sampled: float, clients: float, rounds: float, variant: Clones, context: Context
) -> float:
    """Return an upper bound on δ(0) of composed rounds of clones, kept while δ alone changes."""
    chain = (local, sampled, clients, rounds, variant)
    found: float = context.memo(
        ("clones", "total variation", *chain),
        lambda: float(composed_clone_total_variation(*chain).value),
    )
    return found
