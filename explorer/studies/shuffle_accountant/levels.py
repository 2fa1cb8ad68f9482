"""Rényi levels beyond the paper's: of the subsampled clones, and of Theorem 1 sharpened."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Context
from explorer.studies.shuffle_accountant.curves import Points, tables

_Found = TypeVar("_Found")


def _each_round(
    points: Points,
    variant: Clones,
    context: Context,
    ask: Callable[[rdp.CloneRenyi, Points], _Found],
) -> list[tuple[BoolArray, _Found]]:
    """Ask every distinct round about its points; a single round is kept for the next request."""
    rows, which = points.rows()
    found = []
    for i, row in enumerate(rows):
        context.check()
        local, sampled, clients = (float(v) for v in row)
        make = partial(rdp.CloneRenyi, local, sampled, clients, variant)
        key = ("shuffle-rdp", "clone levels", local, sampled, clients, variant.value)
        made: rdp.CloneRenyi = context.memo(key, make) if len(rows) == 1 else make()
        found.append((which == i, ask(made, points.at(which == i))))
    return found


def clone_epsilons(
    points: Points, lam_max: int, variant: Clones, context: Context
) -> tuple[FloatArray, BoolArray]:
    """Return ε at δ by Lemma 1 of the clones' Rényi levels, and where the best order is λ_max."""
    value, edge = np.zeros(points.size), np.zeros(points.size, bool)
    for some, found in _each_round(
        points, variant, context, lambda made, p: made.epsilon(p.rounds, p.delta, lam_max)
    ):
        value[some], edge[some] = found.epsilon, found.at_edge
    return value, edge


def clone_levels(points: Points, variant: Clones, context: Context) -> FloatArray:
    """Return the clones' Rényi level of one round at each point's order."""
    value = np.zeros(points.size)
    for some, found in _each_round(points, variant, context, lambda made, p: made.levels(p.order)):
        value[some] = found
    return value


def _sharpened(points: Points, lam_max: int, context: Context) -> FloatArray:
    """Return Theorem 1 with the sharp α = 2, and its cap, at orders 2…λ_max."""
    sharp = partial(rdp.upper_rdp_table, sharp=True)
    made = tables("Theorem 1, sharpened", sharp, points, lam_max, context)
    return np.minimum(made, tables("cap", rdp.renyi_cap_table, points, lam_max, context))


def sharpened_epsilons(points: Points, lam_max: int, context: Context) -> FloatArray:
    """Return ε at δ by Theorem 3 of Theorem 1 sharpened, with its caps."""
    table = _sharpened(points, lam_max, context)
    found = epsilon_from_rdp(table, orders_up_to(lam_max), points.rounds, points.delta)
    pure = rdp.pure_epsilon(points.local, points.sampled, points.clients)
    return np.asarray(np.minimum(found.epsilon, points.rounds * pure))


def sharpened_levels(points: Points, context: Context) -> FloatArray:
    """Return Theorem 1 sharpened, with its cap, at each point's order."""
    table = _sharpened(points, int(points.order.max()), context)
    row = np.arange(points.size) if table.shape[0] > 1 else 0
    return np.asarray(table[row, points.order.astype(int) - 2])
