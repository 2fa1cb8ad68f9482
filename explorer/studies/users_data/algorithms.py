"""Releases of users' data: item by item, or as an average."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.spaces import FiniteSpace, Grid, MetricSpace, Square
from explorer.privacy.user_metric.integer_tables import IntegerTable
from explorer.studies.base.study import Context, Guarantee, Mark, Readout, Request, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.guarantees.audits import Audited
from explorer.studies.linear_queries.values_file import read_values
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.inputs import ITEM_WISE, ONE_HOT, POSITION, Promise, Subject
from explorer.studies.users_data.reading import Items

ALPHA0_MAX = 40.0
"""Beyond it the least of 64-bit weights would be 0."""
_DOTS = 1500
_COMPARED_MAX = 100
"""Most items of a space without a shortcut whose estimate is compared by d_EM."""


@dataclass(frozen=True)
class Drawn:
    """What a quantity shows.

    Attributes
    ----------
    series : tuple of Series
    readouts : tuple of Readout
    notes : tuple of str
    guarantee : Guarantee or None
    apart : tuple of two ndarrays, or None
        Histograms whose distance is still to be found, which takes longer than the rest.
    """

    series: tuple[Series, ...]
    readouts: tuple[Readout, ...] = ()
    notes: tuple[str, ...] = ()
    guarantee: Guarantee | None = None
    apart: tuple[FloatArray, FloatArray] | None = None


def absent(key: str, label: str, points: SweptPoints, why: str) -> Drawn:
    """Return a curve that is nowhere, and why."""
    nowhere = np.full(points.x.shape, np.nan)
    return Drawn(
        (
            Series(
                key,
                label,
                Role.EXACT,
                points.x,
                nowhere,
                guarantee.ALGORITHM_2,
                undefined_reason=why,
            ),
        ),
        notes=(why[0].upper() + why[1:] + ".",),
    )


def shares(subject: Subject, points: SweptPoints) -> Drawn:
    """Return the shares of the items, true, as estimated from the answers, and projected."""
    why = subject.refusal() or ("" if subject.finite else guarantee.NO_TABLE)
    if why:
        return absent("estimate", "estimate F", points, why)
    table, kept = _table(subject), subject.kept()
    answers = _answers(subject, table, kept)
    each = [np.bincount(own, minlength=table.size) / len(own) for own in subject.users.items]
    truth = np.mean(each, axis=0)
    low, high = points.sweep.low, points.sweep.high
    x = np.arange(table.size, dtype=float)
    shown = (x >= low) & (x <= high)
    x = x[shown]
    series = [
        Series(
            "truth",
            "true shares K̃ (curator only)",
            Role.EXACT,
            x,
            truth[shown],
            guarantee.DISTANCE,
            mark=Mark.BARS,
        )
    ]
    v = np.bincount(answers, minlength=table.size) / len(answers)
    series.append(
        Series(
            "answers",
            "shares of the answers, as drawn",
            Role.ESTIMATE,
            x,
            v[shown],
            guarantee.ALGORITHM_2,
            mark=Mark.DOTS,
        )
    )
    readouts = list(_levels(subject, table))
    try:
        estimate = um.debiased_histogram(answers, table.law())
        mse = um.debiased_mse(truth, table.law(), sum(map(len, kept)))
    except ValueError as error:
        why = str(error).removeprefix("channel: ")
        series.append(
            Series(
                "estimate",
                "estimate F",
                Role.ESTIMATE,
                x,
                np.full(x.shape, np.nan),
                guarantee.ALGORITHM_2,
                undefined_reason=why,
            )
        )
        return _finished(subject, series, readouts, table.level)
    if not subject.equal:
        # Drawing adds the variance of s draws with replacement, a user each.
        spread = [1 - share @ share for share in each]
        mse += math.fsum(spread) / (len(kept[0]) * len(kept) ** 2)
    projected = um.simplex_projection(estimate)
    for key, label, values, mark in (
        ("estimate", "estimate F = v·A⁻¹, unbiased, signed", estimate, Mark.DOTS),
        ("projected", "its projection on shares", projected, Mark.DOTS),
    ):
        series.append(
            Series(key, label, Role.ESTIMATE, x, values[shown], guarantee.ALGORITHM_2, mark=mark)
        )
    readouts += [
        Readout(
            "rmse",
            "root mean square error ‖F − K̃‖₂",
            math.sqrt(mse),
            Role.EXACT,
            note="over all draws, before projecting",
        ),
        Readout(
            "error", "this draw's ‖F − K̃‖₂", float(np.linalg.norm(estimate - truth)), Role.EXACT
        ),
        Readout(
            "projected_error",
            "of its projection",
            float(np.linalg.norm(projected - truth)),
            Role.EXACT,
        ),
    ]
    found = _finished(subject, series, readouts, table.level)
    if not shown.all():
        found = replace(found, notes=(*found.notes, guarantee.shown(int(shown.sum()), table.size)))
    if isinstance(subject.metric, Grid) or table.size <= _COMPARED_MAX:
        return replace(found, apart=(truth, projected))
    return found


OF_ONE_DRAW = frozenset({"error", "projected_error", "projected_emd", "quantile"})
"""Keys of the readouts that are about the draw shown, and about no other."""


def projected_distance(subject: Subject, apart: tuple[FloatArray, FloatArray]) -> Readout:
    """Return how far a draw's projected estimate is from the truth."""
    away = float(subject.context.run_in_worker(distance_of_shares, subject.metric, *apart))
    return Readout("projected_emd", "this draw's d_EM of the projection", away, Role.EXACT)


def distance_of_shares(metric: MetricSpace, p: FloatArray, q: FloatArray) -> float:
    """Return d_EM of two histograms of a finite space (runs in a worker process)."""
    every = np.arange(p.size)
    return metric.emd(every, every, p, q)


def before_and_after(subject: Subject, points: SweptPoints) -> Drawn:
    """Return where items lie before and after, as points."""
    why = subject.refusal()
    metric, places = subject.metric, subject.places()
    if not why and isinstance(metric, FiniteSpace) and places is None:
        why = guarantee.NO_PLACE
    if why:
        return absent("after", "answers", points, why)
    kept = subject.kept()
    readouts: tuple[Readout, ...]
    notes: tuple[str, ...] = ()
    rng = np.random.default_rng((abs(subject.request.seed), 31))
    if isinstance(metric, Square):
        level = _alpha0(subject)
        before = np.concatenate(kept)
        after = um.priv_emd_item_wise(before, um.PlanarLaplace(metric, level, clip=True), rng)
        before, after = before / metric.side, after / metric.side
        readouts = (Readout("alpha0", "α₀ of an item", level, Role.LOWER, "1/diameter"),)
        notes = (guarantee.PLANAR,)
    elif places is not None:
        table = _table(subject)
        level = table.level
        answers = _answers(subject, table, kept)
        corner, size = _frame(subject, places)
        before, after = (
            (places[items] - corner) / size for items in (np.concatenate(kept), answers)
        )
        readouts = _levels(subject, table)
        if isinstance(metric, Grid):
            # Points of one cell would hide one another.
            before = before + rng.uniform(-0.4, 0.4, before.shape) / metric.width
            after = after + rng.uniform(-0.4, 0.4, after.shape) / metric.width
            notes = ("Items are cells: points are strewn over their cell to be seen.",)
    few = evenly_spread(len(before), _DOTS)
    if len(few) < len(before):
        notes += (f"Drawn are {len(few):,} of {len(before):,} items, and as many answers.",)
    mix = um.shuffled(np.arange(len(before)), subject.bits(4))
    series = []
    for key, label, role, at, source in (
        ("before", "users' items (curator only)", Role.EXACT, before[mix], guarantee.DISTANCE),
        ("after", "answers, shuffled", Role.ESTIMATE, after, guarantee.ALGORITHM_2),
    ):
        x, y = at[few][np.argsort(at[few, 0])].T
        series.append(Series(key, label, role, x, y, source, mark=Mark.DOTS))
    found = _finished(subject, series, list(readouts), level)
    return replace(found, notes=(*found.notes, *notes))


def _frame(subject: Subject, places: FloatArray) -> tuple[FloatArray, float]:
    """Return the lower left corner and the side of what the space's items lie in."""
    request = subject.request
    if isinstance(subject.metric, Grid):
        return np.array([request["left"], request["bottom"]]), float(request["space_side"])
    return places.min(axis=0), float(np.ptp(places, axis=0).max())


def average(subject: Subject, points: SweptPoints) -> Drawn:
    """Return an average over all items, true and with its noise."""
    why = subject.refusal() or ("" if subject.finite else guarantee.NO_TABLE)
    values: FloatArray | None = None
    if not why:
        values, why = _values(subject)
    if why or values is None:
        return absent("release", "released", points, why)
    promise, kept = subject.promise(), subject.kept()
    step = Fraction(str(subject.request["step"]))
    try:
        query = um.LatticeQuery(values, subject.distances, step)
    except ValueError as error:
        return absent("release", "released", points, str(error).partition(": ")[2])
    n, m = len(kept), promise.m
    truth = np.mean([query.mean(own) for own in subject.users.items], axis=0)
    released = _vectors(subject, query, kept).mean(axis=0)
    at_once, averaged = (1, n) if subject.local else (n, 1)
    scale = query.scale(promise.alpha, at_once)
    absolute, square = um.lattice_noise_moments(scale, step / (m * at_once))
    x = np.arange(1, len(truth) + 1, dtype=float)
    shown = (x >= points.sweep.low) & (x <= points.sweep.high)
    series = [
        Series(
            "truth",
            "true average (curator only)",
            Role.EXACT,
            x[shown],
            truth[shown],
            guarantee.DISTANCE,
            mark=Mark.BARS,
        ),
        Series(
            "release",
            "released",
            Role.ESTIMATE,
            x[shown],
            released[shown],
            guarantee.ALGORITHM_1,
            mark=Mark.DOTS,
        ),
    ]
    off = released - truth
    readouts = [
        Readout(
            "lip",
            "Lipschitz constant, ℓ1",
            float(query.lip),
            Role.UPPER,
            note="of the rounded values",
        ),
        Readout("scale", "scale of the noise", float(scale), Role.EXACT),
        Readout(
            "rmse", "root mean square noise of one number", math.sqrt(square / averaged), Role.EXACT
        ),
        Readout("error", "this draw's ‖q − q̃‖₁", float(np.abs(off).sum()), Role.EXACT),
    ]
    if averaged == 1:
        readouts.append(Readout("mean_error", "mean noise of one number", absolute, Role.EXACT))
        if subject.equal and scale:
            from scipy.special import gammainc

            quantile = float(gammainc(len(truth), np.abs(off).sum() / float(scale)))
            readouts.append(
                Readout(
                    "quantile",
                    "share of releases with a smaller error",
                    quantile,
                    Role.ESTIMATE,
                    note="of continuous noise",
                )
            )
    found = _finished(subject, series, readouts, 0.0)
    if shown.all():
        return found
    return replace(found, notes=(*found.notes, guarantee.shown(int(shown.sum()), len(x))))


def _vectors(subject: Subject, query: um.LatticeQuery, kept: tuple[Items, ...]) -> FloatArray:
    """Return what Algorithm 1 releases: one vector, or one of every user."""
    promise, bits = subject.promise(), subject.bits(2)
    lists = kept if subject.local else (np.concatenate(kept),)
    return np.array(
        [query.release(own, promise.m, len(own) // promise.m, promise.alpha, bits) for own in lists]
    )


def answer_rows(subject: Subject, item_wise: bool) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return what a reader would get, as the columns and rows of a table.

    The shuffled answers of Algorithm 2, an item a row, or Algorithm 1's vectors; in the local
    model with the user whose device would have sent them.

    Raises
    ------
    ValueError
        Saying why nothing can be drawn.
    """
    why = subject.missing or subject.refusal() or ("" if subject.finite else guarantee.NO_TABLE)
    values: FloatArray | None = None
    if not why and not item_wise:
        values, why = _values(subject)
    if why:
        raise ValueError(why)
    kept = subject.kept()
    senders = subject.users.names if subject.local else ("",)
    first = ("user",) if subject.local else ()
    rows: list[list[str]] = []
    if values is None:
        answers = _answers(subject, _table(subject), kept)
        labels, each = subject.labels(), len(answers) // len(senders)
        columns: tuple[str, ...] = (*first, "answer")
        for i, answer in enumerate(answers.tolist()):
            rows.append([*senders[i // each :][:1], labels[answer]][-len(columns) :])
        return columns, rows
    query = um.LatticeQuery(values, subject.distances, Fraction(str(subject.request["step"])))
    columns = (*first, *(f"q{i + 1}" for i in range(values.shape[1])))
    for sender, vector in zip(senders, _vectors(subject, query, kept).tolist(), strict=True):
        rows.append([sender, *map(repr, vector)][-len(columns) :])
    return columns, rows


def _values(subject: Subject) -> tuple[FloatArray | None, str]:
    """Return the table of the averaged function, or why there is none."""
    request, kind = subject.request, subject.request["query"]
    size = len(subject.distances)
    if kind == ONE_HOT:
        return np.eye(size), ""
    if kind == POSITION:
        places = subject.places()
        return places, "" if places is not None else guarantee.NO_POSITION
    value = str(request["values"])
    if not value:
        return None, "no file of values is chosen: open a CSV file under “file of values”"
    values, _ = read_values(
        str(subject.context.file(value)),
        value.partition("#")[0],
        subject.labels(),
        subject.space.named,
        str(request["values_decimal"]),
    )
    return values, ""


def _alpha0(subject: Subject) -> float:
    """Return the α₀ that what is promised allows, in the model that is asked for."""
    n = 1 if subject.local else len(subject.users.names)
    return allowed_alpha0(subject, subject.promise(), n)


def allowed_alpha0(subject: Subject, promise: Promise, n: int) -> float:
    """Return the most α₀ that is proved to keep a promise to n users shuffled together."""
    near = subject.space.min_distance
    key = (promise.alpha, promise.delta, promise.m, n, near)
    allowed: float = subject.context.memo(
        ("users-data", "alpha0", key), lambda: float(um.best_alpha0(*key))
    )
    return min(allowed, ALPHA0_MAX)


def _table(subject: Subject) -> IntegerTable:
    alpha0 = _alpha0(subject)
    space = tuple((k, v) for k, v in subject.request.values if k.startswith("space"))
    table: IntegerTable = subject.context.memo(
        ("users-data", "table", alpha0, space),
        lambda: um.integer_table(alpha0, subject.distances),
    )
    return table


def _answers(subject: Subject, table: IntegerTable, kept: tuple[Items, ...]) -> Items:
    """Return the shuffled answers: one list of all users' items, or the users' lists in turn."""
    bits = subject.bits(1)
    lists = kept if subject.local else (np.concatenate(kept),)
    answers = table.answer(np.concatenate(kept), bits)
    ends = np.cumsum([len(own) for own in lists])[:-1]
    return np.concatenate([um.shuffled(own, bits) for own in np.split(answers, ends)])


def _levels(subject: Subject, table: IntegerTable) -> tuple[Readout, ...]:
    law, d = table.law(), subject.distances
    moved = float((law * d).sum(axis=1).mean()) * subject.space.diameter
    return (
        Readout(
            "alpha0",
            "α₀ of an item",
            table.level,
            Role.UPPER,
            "1/diameter",
            note=guarantee.alpha0_said(_alpha0(subject)),
        ),
        Readout(
            "moved",
            "mean distance of an answer from its item",
            moved,
            Role.EXACT,
            subject.space.unit,
            note="mean over the space's items, drawn evenly",
        ),
    )


def _finished(
    subject: Subject, series: list[Series], readouts: list[Readout], item_level: float
) -> Drawn:
    promise = subject.promise()
    more = [Readout("alpha", "α of the mechanism", promise.alpha, None, "1/diameter")]
    if promise.r is not None:
        more.append(
            Readout(
                "delta_total", "δ of the whole", promise.total_delta(item_level > 0), Role.UPPER
            )
        )
    notes = [guarantee.SIMULATED] if subject.local else []
    notes += [guarantee.SEEDED] + ([] if subject.equal else [guarantee.WEIGHTS])
    return Drawn(
        tuple(series),
        (*readouts, *more),
        tuple(notes),
        guarantee.guarantee(
            epsilon=promise.epsilon,
            alpha=promise.alpha,
            delta=promise.total_delta(item_level > 0),
            r=promise.r,
            local=subject.local,
            item_level=item_level,
        ),
    )


_AUDITED_USERS, _AUDITED_ITEMS = 3, 4
"""In both data sets, and items of every user where all have as many."""
_MAX_AUDITED_ITEMS = 1000
"""Most items of a user of whom one moves."""


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited | str:
    """Return the algorithm that is asked for, on users of whom one moves to the nearest item."""
    subject = Subject(request, context)
    if subject.missing or not subject.finite:
        return f"{subject.missing or guarantee.NO_TABLE}."
    apart = np.where(subject.distances > 0, subject.distances, np.inf)
    here, there = (int(i) for i in np.unravel_index(np.argmin(apart), apart.shape))
    near = float(apart[here, there])
    promise = subject.promise()
    if promise.r is None:
        promise, size, moved = replace(promise, m=_AUDITED_ITEMS), _AUDITED_ITEMS, _AUDITED_ITEMS
    else:
        size, moved = max(1, math.ceil(near / promise.r)), 1
        if size > _MAX_AUDITED_ITEMS:
            return "r is far less than the distance of any two items."
    still = np.full(size, here)
    other = still.copy()
    other[:moved] = there
    count = 1 if subject.local else _AUDITED_USERS
    data = [[first, *[still] * (count - 1)] for first in (still, other)]
    item_wise = request["promise"] == ITEM_WISE
    scored = (_answer_score if item_wise else _average_score)(subject, promise, count, here, there)
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


ScoreFunction = Callable[[Items, SeededBits], FloatArray]
"""From the items of all users of many runs, shape (runs, users·m), to a score of each run."""


def _answer_score(
    subject: Subject, promise: Promise, users: int, here: int, there: int
) -> ScoreFunction:
    """Return Algorithm 2 and how much its answers' counts look like a move."""
    table = um.integer_table(allowed_alpha0(subject, promise, users), subject.distances)
    law = np.log(table.law())
    weight: FloatArray = law[there] - law[here]

    def scored(items: Items, bits: SeededBits) -> FloatArray:
        answers = table.answer(items.ravel(), bits).reshape(items.shape)
        return np.asarray(weight[answers].sum(axis=1))

    return scored


def _average_score(
    subject: Subject, promise: Promise, users: int, here: int, there: int
) -> ScoreFunction:
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
