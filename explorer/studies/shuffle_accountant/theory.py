"""Bounds on the privacy of shuffled rounds, at arrays of parameter points, and their sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import SHUFFLE_RDP, BoolArray, Bound, FloatArray, Reference, Role
from explorer.privacy.core.checks import MAX_EPSILON, MIN_DELTA
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffle_rdp import Allocation, Shuffling
from explorer.privacy.shuffle_rdp.accountant import LEVEL_CELLS
from explorer.privacy.shuffle_rdp.losses import COMPOSED_BLANKET
from explorer.privacy.shuffle_rdp.numerical import CLONE_CELLS, TwoLevelRounds
from explorer.privacy.shuffling import CloneCurve, Clones, shuffled_epsilon
from explorer.studies.base.study import Context
from explorer.studies.guarantees.rounds import (
    clones_apart,
    clones_key,
    composed_bound,
    composed_lower,
)

THEOREM_1 = Reference(SHUFFLE_RDP, "Theorem 1", "log domain; errata shuf-A5, shuf-B3")
THEOREM_2 = Reference(SHUFFLE_RDP, "Theorem 2", "both directions; errata shuf-A1, shuf-A2")
THEOREM_3 = Reference(
    SHUFFLE_RDP, "Theorem 3 (7) with Lemma 1", "min with the caps; errata shuf-A4, shuf-A6, shuf-A7"
)
LEMMA_1 = Reference(SHUFFLE_RDP, "Lemma 1 of Theorem 2", "not a lower bound on ε; errata shuf-A3")
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
RENYI_CAP = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 2.5", "randomised response dominates (ε, 0)-DP"
)
CLOSED = Reference(
    "Feldman, McMillan & Talwar 2021",
    "Theorem 3.1",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata shuf-A8, shuf-B1",
)
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata shuf-B2"
)
NUMERICAL = {
    Clones.PUBLISHED: Reference(
        "Feldman, McMillan & Talwar 2021",
        "Theorem 3.2, evaluated exactly",
        "one common, non-adaptive randomiser where k < n; with Ullman 2017 and Kairouz, Oh & "
        "Viswanath 2015, Theorem 3.4",
    ),
    Clones.STRONGER: Reference(
        "Feldman, McMillan & Talwar 2023",
        "Theorem 3.1, evaluated exactly",
        "one common, non-adaptive randomiser (erratum in arXiv 2208.04591); with Ullman 2017 and "
        "Kairouz, Oh & Viswanath 2015, Theorem 3.4",
    ),
}
KOV_EXACT = Reference(
    "Kairouz, Oh & Viswanath 2015",
    "Theorem 3.3, evaluated exactly",
    "of numerical clones after Ullman 2017; errata shuf-B1",
)
SHARPENED = Reference(
    SHUFFLE_RDP,
    "Theorem 1 with a sharp term of order 2",
    "ours: Theorem 5 with the largest D₂ among all ε₀-LDP randomisers",
)


SHARE = 0.5
"""Share of δ that the comparator gives to its rounds."""
_COARSE_CELLS = 350
"""Losses of a round while a slider moves."""
_LEAK_ALIKE = math.log(2)
"""The ε₀ at which 2RR and 3RR leak alike to first order; above, 3RR leaks more."""
_ROUNDS_BATCH = 8
"""Distinct rounds whose tables are computed between two checks for cancellation."""
_MAX_POINTS = 4000
"""Points computed at once: a table holds hundreds of numbers a point."""
_CROWD_BATCH = 16
_DECADES = 4
"""Ranges of δ of a cached curve are rounded out to multiples of so many decades."""


@dataclass(frozen=True)
class Rounds:
    """Parameters of shuffled rounds at many points, arrays of one length.

    Only ε₀, k and n determine the Rényi levels of one round, so that a sweep over T, δ or λ shares
    one table of levels.

    Attributes
    ----------
    local : ndarray of float
        ε₀.
    sampled, clients : ndarray of float
        k of n clients are sampled in each round.
    rounds : ndarray of float
        T.
    delta : ndarray of float
    order : ndarray of float
        λ.
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

    def at(self, index: Any) -> Rounds:
        """Return some of the points."""
        return Rounds(*(getattr(self, f.name)[index] for f in fields(self)))

    def distinct(self) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.intp]]]:
        """Return the distinct (ε₀, k, n), and the row of each point among them."""
        stacked = np.stack([self.local, self.sampled, self.clients], axis=1)
        distinct, inverse = np.unique(stacked, axis=0, return_inverse=True)
        return distinct, inverse.ravel()

    @property
    def five(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """ε₀, k, n, T and δ, as composition takes them."""
        return self.local, self.sampled, self.clients, self.rounds, self.delta


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
    points: Rounds,
    lam_max: int,
    context: Context,
) -> FloatArray:
    """Return a table over orders for every point, computing each distinct round once.

    The table of a single round is cached, so that nothing is computed while T or δ changes.
    """
    rows, which = points.distinct()
    if len(rows) == 1:
        e, k, n = rows[0]
        table: FloatArray = context.cached(
            ("shuffle-rdp", name, float(e), float(k), float(n), lam_max),
            lambda: compute(e, k, n, lam_max),
        )
        return table.reshape(1, -1)
    out = np.empty((len(rows), lam_max - 1))
    for start in range(0, len(rows), _ROUNDS_BATCH):
        context.check()
        e, k, n = rows[start : start + _ROUNDS_BATCH].T
        out[start : start + _ROUNDS_BATCH] = compute(e, k, n, lam_max)
    return np.asarray(out[which])


def _pieces(points: Rounds) -> Iterator[Rounds]:
    """Yield the points a few thousand at a time."""
    for start in range(0, points.size, _MAX_POINTS):
        yield points.at(slice(start, start + _MAX_POINTS))


def _concatenate(parts: list[_Curves]) -> _Curves:
    """Concatenate curves over pieces of the points."""
    kind = type(parts[0])
    names = [f.name for f in fields(kind)]
    return kind(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def epsilon_curves(
    points: Rounds,
    lam_max: int,
    variant: Clones,
    context: Context,
    *,
    numerical: bool = True,
) -> EpsilonCurves:
    """Compute every curve of ε at δ; the exact clones, which are slow, only if `numerical`."""
    if points.size > _MAX_POINTS:
        return _concatenate(
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


def numerical_clones(points: Rounds, variant: Clones, context: Context) -> FloatArray:
    """Return ε at δ by exact clones, sampling and strong composition."""
    shuffled = shuffled_clones(points, variant, context)
    gamma, slack = points.sampled / points.clients, (1 - SHARE) * points.delta
    return np.asarray(rdp.composed_shuffles(shuffled, gamma, points.rounds, slack))


def shuffled_clones(points: Rounds, variant: Clones, context: Context) -> FloatArray:
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
    # A crowd of one or two points needs no curve; several at once are quicker than one by one.
    rare = np.flatnonzero(~often[which])
    for start in range(0, rare.size, _CROWD_BATCH):
        context.check()
        some = rare[start : start + _CROWD_BATCH]
        shuffled[some] = shuffled_epsilon(e[some], k[some], per_round[some], variant)
    # At the sliders without the curve's error of 1e-4, so that all axes give the same number.
    shuffled[-1] = shuffled_epsilon(e[-1], k[-1], per_round[-1], variant)
    return shuffled


def clone_curve(
    local: float, sampled: float, variant: Clones, delta: FloatArray, context: Context
) -> CloneCurve:
    """Return the cached curve ε(δ) of one shuffle over at least the range of these δ."""
    # Rounded out, so that changes of T or δ mostly stay within a cached curve.
    low = max(10.0 ** (_DECADES * np.floor(np.log10(delta.min()) / _DECADES)), MIN_DELTA)
    high = min(10.0 ** (_DECADES * np.ceil(np.log10(delta.max()) / _DECADES)), 1.0)
    curve: CloneCurve = context.cached(
        ("shuffle-rdp", "clones", local, sampled, variant.value, low, high),
        lambda: CloneCurve(local, sampled, variant, low, high),
    )
    return curve


def composed_responses(points: Rounds, context: Context) -> tuple[Bound, FloatArray]:
    """Return a certified lower bound on ε at δ by composition, and 2RR's and 3RR's of it.

    The second result has shape (2, points), see `composed_lower`.
    """
    return composed_lower(points.five, context, ("shuffle-rdp", "composed"))


def composed_clones(points: Rounds, variant: Clones, context: Context) -> Bound:
    """Return a certified upper bound on ε at δ by composition of the clones."""
    clones = partial(rdp.CloneRounds, variant=variant)
    side = Role.UPPER, rdp.COMPOSED_CLONES
    return composed_bound(clones, points.five, side, context, clones_key(variant))


def coarse_clones(points: Rounds, variant: Clones, context: Context) -> Bound:
    """Return the same with half as many losses a round, but for the last point."""
    clones = partial(rdp.CloneRounds, variant=variant, cells=_COARSE_CELLS)
    side, key = (Role.UPPER, rdp.COMPOSED_CLONES), ("shuffle-rdp", "coarse", variant.value)
    curve = composed_bound(clones, points.at(slice(-1)).five, side, context, key)
    here = composed_clones(points.at(slice(-1, None)), variant, context)
    return replace(
        here,
        value=np.append(curve.value, here.value),
        valid=np.append(curve.valid, here.valid),
        truncated=np.append(curve.truncated, here.truncated),
    )


def coarse_responses(points: Rounds, context: Context) -> Bound:
    """Return the lower bound by the randomiser alone that leaks more where messages are many."""

    def likely(e: float, k: float, n: float) -> rdp.ComposedRounds:
        if e <= _LEAK_ALIKE:
            return rdp.ResponseRounds(e, k, n)
        return rdp.ThreeSymbolRounds(e, k, n, _COARSE_CELLS)

    side, key = (Role.LOWER, rdp.COMPOSED_LOWER), ("shuffle-rdp", "coarse", "responses")
    return composed_bound(likely, points.five, side, context, key)


def _worst_rounds(
    local: float, sampled: float, clients: float, context: Context
) -> rdp.WorstCaseRounds:
    """Return the kept rounds of the worst case, which stop when the answer is not wanted."""
    rounds: rdp.WorstCaseRounds = context.cached(
        ("shuffle-rdp", "worst case", local, sampled, clients),
        lambda: rdp.WorstCaseRounds(local, sampled, clients),
    )
    rounds.check = context.check
    return rounds


def worst_case(points: Rounds, context: Context) -> Bound:
    """Return ε at δ of the worst randomiser that all clients of a round share, from above."""

    def prepare(local: float, sampled: float, clients: float) -> rdp.WorstCaseRounds:
        return _worst_rounds(local, sampled, clients, context)

    return rdp.worst_case_epsilon(*points.five, prepare)


def worst_case_levels(points: Rounds, context: Context) -> Bound:
    """Return the Rényi level of that randomiser's round at each point's order, from above."""
    value = np.full(points.size, np.nan)
    reasons: dict[str, None] = {}
    rows, which = points.distinct()
    for i, (local, sampled, clients) in enumerate(rows.tolist()):
        context.check()
        reason = rdp.why_no_worst_case(local, sampled, clients)
        if not reason:
            rounds = _worst_rounds(local, sampled, clients, context)
            levels = rdp.worst_case_rdp(rounds, points.order[which == i])
            if levels is not None:
                value[which == i] = levels
                continue
            reason = rdp.OPEN
        reasons[reason] = None
    known = np.isfinite(value)
    return Bound(value, Role.UPPER, rdp.WORST_CASE, known, "; ".join(reasons))


def corner_levels(points: Rounds, context: Context) -> FloatArray:
    """Return the larger Rényi level of 2RR and 3RR at each point's order: a lower bound."""
    value = np.zeros(points.size)
    rows, which = points.distinct()
    for i, (local, sampled, clients) in enumerate(rows.tolist()):
        context.check()
        value[which == i] = rdp.corner_rdp(local, sampled, clients, points.order[which == i])
    return value


def total_variation(point: Rounds, variant: Clones, context: Context) -> float:
    """Return an upper bound on δ(0) of all rounds together, at one point."""
    return clones_apart(
        float(point.local),
        float(point.sampled),
        float(point.clients),
        float(point.rounds),
        variant,
        context,
    )


def exact_strong_composition(points: Rounds, variant: Clones, context: Context) -> FloatArray:
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


def renyi_curves(points: Rounds, context: Context) -> RenyiCurves:
    """Compute the Rényi levels of one round at each point's own order."""
    if points.size > _MAX_POINTS:
        return _concatenate([renyi_curves(piece, context) for piece in _pieces(points)])
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
    """Return values computed where `holds` as values at all points, NaN elsewhere."""
    out = np.full(holds.shape, np.nan)
    out[holds] = values
    return out


_Value = TypeVar("_Value")


def _each_round(
    points: Rounds,
    variant: Clones,
    context: Context,
    evaluate: Callable[[rdp.CloneRenyi, Rounds], _Value],
    cells: int = LEVEL_CELLS,
) -> list[tuple[BoolArray, _Value]]:
    """Evaluate every distinct round at its points; a single round is cached."""
    rows, which = points.distinct()
    values = []
    for i, row in enumerate(rows):
        context.check()
        local, sampled, clients = (float(v) for v in row)
        make = partial(rdp.CloneRenyi, local, sampled, clients, variant, cells)
        key = ("shuffle-rdp", "clone levels", local, sampled, clients, variant.value, cells)
        levels: rdp.CloneRenyi = context.cached(key, make) if len(rows) == 1 else make()
        values.append((which == i, evaluate(levels, points.at(which == i))))
    return values


def clone_epsilons(
    points: Rounds, lam_max: int, variant: Clones, context: Context
) -> tuple[FloatArray, BoolArray]:
    """Return ε at δ by Lemma 1 of the clones' Rényi levels, and where the best order is λ_max.

    With the law that the composition of the clones has gathered.
    """
    value, edge = np.zeros(points.size), np.zeros(points.size, bool)
    for index, result in _each_round(
        points,
        variant,
        context,
        lambda levels, p: levels.epsilon(p.rounds, p.delta, lam_max),
        CLONE_CELLS,
    ):
        value[index], edge[index] = result.epsilon, result.at_edge
    return value, edge


def clone_levels(points: Rounds, variant: Clones, context: Context) -> FloatArray:
    """Return the clones' Rényi level of one round at each point's order."""
    value = np.zeros(points.size)
    for index, result in _each_round(points, variant, context, lambda r, p: r.levels(p.order)):
        value[index] = result
    return value


def _sharpen(points: Rounds, lam_max: int, context: Context) -> FloatArray:
    """Return Theorem 1 with the sharp α = 2, and its cap, at orders 2…λ_max."""
    sharp = partial(rdp.upper_rdp_table, sharp=True)
    table = tables("Theorem 1, sharpened", sharp, points, lam_max, context)
    return np.minimum(table, tables("cap", rdp.renyi_cap_table, points, lam_max, context))


def sharpened_epsilons(points: Rounds, lam_max: int, context: Context) -> FloatArray:
    """Return ε at δ by Theorem 3 of Theorem 1 sharpened, with its caps."""
    table = _sharpen(points, lam_max, context)
    result = epsilon_from_rdp(table, orders_up_to(lam_max), points.rounds, points.delta)
    pure = rdp.pure_epsilon(points.local, points.sampled, points.clients)
    return np.asarray(np.minimum(result.epsilon, points.rounds * pure))


def sharpened_levels(points: Rounds, context: Context) -> FloatArray:
    """Return Theorem 1 sharpened, with its cap, at each point's order."""
    table = _sharpen(points, int(points.order.max()), context)
    row = np.arange(points.size) if table.shape[0] > 1 else 0
    return np.asarray(table[row, points.order.astype(int) - 2])


def own_bound(points: Rounds, theta: float, context: Context) -> Bound:
    """Return ε at δ of one known randomiser of two levels, by composition of its blanket.

    Parameters
    ----------
    points : Rounds
    theta : float
        Share of the messages that one record makes likelier.
    context : Context
    """

    def prepare(e: float, k: float, n: float) -> TwoLevelRounds:
        return TwoLevelRounds(min(e, MAX_EPSILON), theta, k, n)

    side = (Role.UPPER, COMPOSED_BLANKET)
    return composed_bound(prepare, points.five, side, context, ("shuffle-rdp", "own", theta))


def own_total_variation(point: Rounds, theta: float, context: Context) -> float:
    """Return an upper bound on δ(0) of all rounds of one known randomiser, at one point."""
    chain = (float(point.local), theta, float(point.sampled), float(point.clients))
    rounds = int(point.rounds)
    own: float = context.cached(
        ("shuffle-rdp", "own apart", *chain, rounds),
        lambda: TwoLevelRounds(*chain).delta(0.0, rounds).value,
    )
    return min(own, total_variation(point, Clones.STRONGER, context))


def epochs_over(points: Rounds) -> BoolArray:
    """Return where at least one whole epoch is over."""
    return np.asarray(points.rounds >= points.clients // points.sampled)


def epoch_bound(
    points: Rounds,
    how: Allocation | None,
    side: tuple[Role, Reference],
    variant: Clones,
    context: Context,
    key: str,
) -> Bound:
    """Return ε at δ if each client takes part once an epoch.

    Parameters
    ----------
    points : Rounds
    how : Allocation or None
        None for a fresh sample in every round.
    side : Role, Reference
        Of the bound. A lower bound counts epochs that are over, an upper bound those that began.
    variant : Clones
    context : Context
    key : str
        Of the curve: key in the cache.
    """
    lower = side[0] is Role.LOWER
    crowd, clients, rounds = points.sampled, points.clients, points.rounds
    if how is not None:
        over = rounds // rdp.rounds_an_epoch(crowd, clients)
        rounds = over if lower else np.asarray(rdp.epochs_begun(rounds, crowd, clients))
        crowd = clients = np.asarray(rdp.shuffled_an_epoch(crowd, clients, how))
    prepare: Callable[[float, float, float], rdp.ComposedRounds] = (
        rdp.LowerRounds if lower else partial(rdp.CloneRounds, variant=variant)
    )
    return composed_bound(
        prepare,
        (points.local, crowd, clients, rounds, points.delta),
        side,
        context,
        ("shuffle-rdp", "epochs", key, variant.value),
    )
