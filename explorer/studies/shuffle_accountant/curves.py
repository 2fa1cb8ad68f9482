"""The curves of the shuffle accountant at arrays of parameter points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.privacy.core.checks import DELTA_MIN
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffle_rdp import Shuffling
from explorer.privacy.shuffling.clones import CloneCurve, Clones, shuffled_epsilon
from explorer.studies.base.composing import clones_apart, composed_bound, composed_lower
from explorer.studies.base.study import Context

SHARE = 0.5
"""Share of δ that the comparator gives to its rounds."""
_PIECE = 8
_AT_ONCE = 4000
_CROWDS = 16
_DECADES = 4


@dataclass(frozen=True)
class Points:
    """Parameter points, arrays of one length.

    Only `local`, `sampled` and `clients` shape what one round leaks; `rounds` and `delta` come
    in afterwards, so a sweep of these two shares one table of Rényi levels.
    """

    local: FloatArray
    sampled: FloatArray
    clients: FloatArray
    rounds: FloatArray
    delta: FloatArray
    order: FloatArray

    @property
    def holds(self) -> BoolArray:
        """Where at least one and at most all clients are sampled."""
        return np.asarray((self.sampled >= 1) & (self.sampled <= self.clients))

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.local.size)

    def at(self, index: Any) -> Points:
        """Return some of the points."""
        return Points(*(getattr(self, f.name)[index] for f in fields(self)))

    def rows(self) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.intp]]]:
        """Return the distinct (ε₀, k, n) as rows, and which of them each point has."""
        stacked = np.stack([self.local, self.sampled, self.clients], axis=1)
        found, inverse = np.unique(stacked, axis=0, return_inverse=True)
        return found, inverse.ravel()


@dataclass(frozen=True)
class EpsilonCurves:
    """ε at δ of T rounds, by every route, one entry a point.

    `theorem1_alone` is Theorem 3 without caps; `theorem1` takes them in.
    """

    theorem1: FloatArray
    theorem1_alone: FloatArray
    order: FloatArray
    at_edge: BoolArray
    lower_rdp: FloatArray
    closed: FloatArray
    unamplified: FloatArray
    cap: FloatArray
    numerical: FloatArray


@dataclass(frozen=True)
class RenyiCurves:
    """Rényi levels of one round, one entry a point."""

    theorem1: FloatArray
    theorem1_alone: FloatArray
    lower: FloatArray
    cap: FloatArray


_Curves = TypeVar("_Curves", EpsilonCurves, RenyiCurves)


def tables(
    name: str,
    compute: Callable[..., FloatArray],
    points: Points,
    lam_max: int,
    context: Context,
) -> FloatArray:
    """Return a table over orders for every point, computing each distinct round once.

    A single round is kept for the next request: while T or δ is dragged nothing is computed anew.
    """
    rows, which = points.rows()
    if len(rows) == 1:
        e, k, n = rows[0]
        table: FloatArray = context.memo(
            ("shuffle-rdp", name, float(e), float(k), float(n), lam_max),
            lambda: compute(e, k, n, lam_max),
        )
        return table.reshape(1, -1)
    out = np.empty((len(rows), lam_max - 1))
    for start in range(0, len(rows), _PIECE):
        context.check()
        e, k, n = rows[start : start + _PIECE].T
        out[start : start + _PIECE] = compute(e, k, n, lam_max)
    return np.asarray(out[which])


def _pieces(points: Points) -> Iterator[Points]:
    """Yield the points a few thousand at a time: a table holds hundreds of numbers a point."""
    for start in range(0, points.size, _AT_ONCE):
        yield points.at(slice(start, start + _AT_ONCE))


def _joined(parts: list[_Curves]) -> _Curves:
    """Return curves over all points from those over pieces of them."""
    kind = type(parts[0])
    names = [f.name for f in fields(kind)]
    return kind(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def epsilon_curves(
    points: Points,
    lam_max: int,
    variant: Clones,
    context: Context,
    *,
    numerical: bool = True,
) -> EpsilonCurves:
    """Compute every curve of ε at δ; `numerical` says whether the exact clones are wanted."""
    if points.size > _AT_ONCE:
        return _joined(
            [
                epsilon_curves(piece, lam_max, variant, context, numerical=numerical)
                for piece in _pieces(points)
            ]
        )
    orders = orders_up_to(lam_max)
    e, k, n, T, d = points.local, points.sampled, points.clients, points.rounds, points.delta
    alone = tables("Theorem 1", rdp.upper_rdp_table, points, lam_max, context)
    caps = tables("cap", rdp.renyi_cap_table, points, lam_max, context)
    lower = tables("Theorem 2", rdp.lower_rdp_table, points, lam_max, context)
    context.check()
    bare = epsilon_from_rdp(alone, orders, T, d)
    capped = (
        bare if np.all(alone <= caps) else epsilon_from_rdp(np.minimum(alone, caps), orders, T, d)
    )
    cap = T * rdp.pure_epsilon(e, k, n)
    holds = rdp.pipeline_holds(e, k, n, T, d, SHARE)
    closed = np.where(
        holds, rdp.pipeline_epsilon(e, k, n, T, d, Shuffling.CLOSED_UNCHECKED, SHARE), np.nan
    )
    return EpsilonCurves(
        theorem1=np.minimum(capped.epsilon, cap),
        theorem1_alone=bare.epsilon,
        order=capped.order.astype(float),
        at_edge=capped.at_edge,
        lower_rdp=epsilon_from_rdp(lower, orders, T, d).epsilon,
        closed=closed,
        unamplified=rdp.pipeline_epsilon(e, k, n, T, d, Shuffling.NONE),
        cap=cap,
        numerical=(
            numerical_clones(points, variant, context) if numerical else np.full(e.shape, np.nan)
        ),
    )


def numerical_clones(points: Points, variant: Clones, context: Context) -> FloatArray:
    """Return ε at δ by exact clones, sampling and strong composition."""
    shuffled = shuffled_clones(points, variant, context)
    gamma, slack = points.sampled / points.clients, (1 - SHARE) * points.delta
    return np.asarray(rdp.composed_shuffles(shuffled, gamma, points.rounds, slack))


def shuffled_clones(points: Points, variant: Clones, context: Context) -> FloatArray:
    """Return ε of one shuffle by exact clones, at the δ₀ that the comparator gives a round."""
    e, k, n, T, d = points.local, points.sampled, points.clients, points.rounds, points.delta
    per_round = rdp.round_delta(k, n, T, d, SHARE)
    shuffled = np.empty(e.shape)
    pairs, which = np.unique(np.stack([e, k], axis=1), axis=0, return_inverse=True)
    which = which.ravel()
    often = np.bincount(which) > 2
    for i in np.flatnonzero(often):
        context.check()
        some = np.flatnonzero(which == i)
        local, sampled = pairs[i].tolist()
        curve = clone_curve(local, sampled, variant, per_round[some], context)
        shuffled[some] = curve.epsilon(per_round[some])
    # A crowd asked once or twice needs no curve; several at once are quicker than one by one.
    seldom = np.flatnonzero(~often[which])
    for start in range(0, seldom.size, _CROWDS):
        context.check()
        some = seldom[start : start + _CROWDS]
        shuffled[some] = shuffled_epsilon(e[some], k[some], per_round[some], variant)
    # The sliders' own without the curve's 1e-4, so that it is the same on every axis.
    shuffled[-1] = shuffled_epsilon(e[-1], k[-1], per_round[-1], variant)
    return shuffled


def clone_curve(
    local: float, sampled: float, variant: Clones, delta: FloatArray, context: Context
) -> CloneCurve:
    """Return the kept curve ε(δ) of one shuffle over at least the range of these δ."""
    # Ranges are rounded out so that dragging T or δ mostly stays within what is kept.
    low = max(10.0 ** (_DECADES * np.floor(np.log10(delta.min()) / _DECADES)), DELTA_MIN)
    high = min(10.0 ** (_DECADES * np.ceil(np.log10(delta.max()) / _DECADES)), 1.0)
    made: CloneCurve = context.memo(
        ("shuffle-rdp", "clones", local, sampled, variant.value, low, high),
        lambda: CloneCurve(local, sampled, variant, low, high),
    )
    return made


def composed_bounds(
    points: Points, variant: Clones, context: Context
) -> tuple[Bound, Bound, FloatArray]:
    """Return ε at δ by certified composition: clones from above, the larger of 2RR and 3RR below.

    And both that the lower is made of, see `composed_lower`.
    """
    five = (points.local, points.sampled, points.clients, points.rounds, points.delta)

    def clones(e: float, k: float, n: float) -> rdp.CloneRounds:
        return rdp.CloneRounds(e, k, n, variant)

    above, key = (Role.UPPER, rdp.COMPOSED_CLONES), ("shuffle-rdp", "composed")
    return (
        composed_bound(clones, five, above, context, (*key, variant.value)),
        *composed_lower(five, context, key),
    )


def total_variation(point: Points, variant: Clones, context: Context) -> float:
    """Return an upper bound on δ(0) of all rounds together, at one point."""
    return clones_apart(
        float(point.local),
        float(point.sampled),
        float(point.clients),
        float(point.rounds),
        variant,
        context,
    )


def exact_strong_composition(points: Points, variant: Clones, context: Context) -> FloatArray:
    """Return ε at δ by exact clones, sampling and the exact composition of KOV, Theorem 3.3.

    `EpsilonCurves.numerical` takes their closed form, Theorem 3.4.
    """
    shuffled = shuffled_clones(points, variant, context)
    out = np.empty(points.size)
    for at in range(points.size):
        context.check()
        one = points.at(at)
        slack = (1 - SHARE) * one.delta
        gamma = one.sampled / one.clients
        out[at] = rdp.composed_shuffles(shuffled[at], gamma, one.rounds, slack, exact=True)
    return out


def renyi_curves(points: Points, context: Context) -> RenyiCurves:
    """Compute the Rényi levels of one round at each point's own order."""
    if points.size > _AT_ONCE:
        return _joined([renyi_curves(piece, context) for piece in _pieces(points)])
    top = int(points.order.max())
    column = points.order.astype(int) - 2

    def pick(name: str, compute: Callable[..., FloatArray]) -> FloatArray:
        table = tables(name, compute, points, top, context)
        if table.shape[0] == 1:
            return np.asarray(table[0, column])
        return np.asarray(table[np.arange(points.size), column])

    alone = pick("Theorem 1", rdp.upper_rdp_table)
    cap = pick("cap", rdp.renyi_cap_table)
    return RenyiCurves(
        theorem1=np.minimum(alone, cap),
        theorem1_alone=alone,
        lower=pick("Theorem 2", rdp.lower_rdp_table),
        cap=cap,
    )


def spread(values: FloatArray, holds: BoolArray) -> FloatArray:
    """Return values computed where `holds` over all points, NaN elsewhere."""
    out = np.full(holds.shape, np.nan)
    out[holds] = values
    return out
