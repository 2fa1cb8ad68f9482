"""Runs Algorithms 1 and 2 on users' items: shares, a map of answers, an average, and audits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.spaces import FiniteSpace, Grid, MetricSpace, Sphere, Square
from explorer.privacy.user_metric.exact_release import IntegerTable
from explorer.studies.base.parameters import table_rows
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import Context, Guarantee, Mark, Request, ScalarResult, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.guarantees.audits import Audited
from explorer.studies.linear_queries.queries import read_values
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.inputs import (
    ITEM_WISE,
    ONE_HOT,
    PLACES,
    POSITION,
    Inputs,
    Items,
    PrivacyTarget,
)

MAX_ALPHA0 = 40.0
"""Above it the smallest 64-bit weight would be 0."""
_MAX_DOTS = 1500
_MAX_COMPARED = 100
"""Largest space other than a grid in which d_EM of the estimate is computed."""

TRUE_SHARES = Curve(
    "truth",
    "true shares K̃ (curator only)",
    "true (curator only)",
    Role.EXACT,
    guarantee.DISTANCE,
    mark=Mark.BARS,
)
ANSWERS = Curve(
    "answers",
    "shares of the answers, as drawn",
    "shares of the answers",
    Role.ESTIMATE,
    guarantee.ALGORITHM_2,
    mark=Mark.DOTS,
)
UNBIASED = Curve(
    "estimate",
    "estimate F = v·A⁻¹, unbiased, signed",
    "unbiased estimate F",
    Role.ESTIMATE,
    guarantee.ALGORITHM_2,
    primary=0,
    mark=Mark.DOTS,
)
PROJECTED = Curve(
    "projected",
    "its projection on shares",
    "estimate, projected",
    Role.ESTIMATE,
    guarantee.ALGORITHM_2,
    mark=Mark.DOTS,
)
BEFORE = Curve(
    "before",
    "users' items (curator only)",
    "items (curator only)",
    Role.EXACT,
    guarantee.DISTANCE,
    mark=Mark.DOTS,
)
AFTER = Curve(
    "after",
    "answers, shuffled",
    "answers, shuffled",
    Role.ESTIMATE,
    guarantee.ALGORITHM_2,
    mark=Mark.DOTS,
)
TRUE_AVERAGE = replace(TRUE_SHARES, label="true average (curator only)")
RELEASED = Curve("release", "released", "", Role.ESTIMATE, guarantee.ALGORITHM_1, mark=Mark.DOTS)


@dataclass(frozen=True)
class QuantityResult:
    """Part of a result that depends on the quantity.

    Attributes
    ----------
    series : tuple of Series
    readouts : tuple of ScalarResult
    notes : tuple of str
    guarantee : Guarantee or None
    histograms : tuple of two ndarrays, or None
        Histograms whose d_EM remains to be computed; that takes longer than the rest.
    """

    series: tuple[Series, ...]
    readouts: tuple[ScalarResult, ...] = ()
    notes: tuple[str, ...] = ()
    guarantee: Guarantee | None = None
    histograms: tuple[FloatArray, FloatArray] | None = None


def undefined_result(key: str, label: str, points: SweptPoints, why: str) -> QuantityResult:
    """Return a curve without values and the reason for it."""
    nowhere = np.full(points.x.shape, np.nan)
    return QuantityResult(
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


def item_shares(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return shares of the items: true, as answered, estimated and projected."""
    why = inputs.refusal() or ("" if inputs.finite else guarantee.NO_TABLE)
    if why:
        return undefined_result("estimate", "estimate F", points, why)
    table, items = _table(inputs), inputs.mechanism_items()
    answers = _answers(inputs, table, items)
    sizes = np.array(inputs.users.sizes)
    # Of every user the number of each item, counted at once.
    places = inputs.users.all_items + np.repeat(np.arange(len(sizes)) * table.size, sizes)
    counts = np.bincount(places, minlength=len(sizes) * table.size).reshape(-1, table.size)
    each = counts / sizes[:, None]
    truth = each.mean(axis=0)
    low, high = points.sweep.low, points.sweep.high
    x = np.arange(table.size, dtype=float)
    inside = (x >= low) & (x <= high)
    x = x[inside]
    v = np.bincount(answers, minlength=table.size) / len(answers)
    series = [TRUE_SHARES.series(x, truth[inside]), ANSWERS.series(x, v[inside])]
    law = table.law()
    readouts = list(_levels(inputs, table, law))
    try:
        estimate = um.debiased_histogram(answers, law)
        mse = um.debiased_mse(truth, law, sum(map(len, items)))
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
        return _finish(inputs, series, readouts, table.level)
    if not inputs.equal:
        # Drawing adds the variance of s draws with replacement, a user each.
        spread = [1 - share @ share for share in each]
        mse += math.fsum(spread) / (len(items[0]) * len(items) ** 2)
    projected = um.simplex_projection(estimate)
    series += [UNBIASED.series(x, estimate[inside]), PROJECTED.series(x, projected[inside])]
    readouts += [
        ScalarResult(
            "rmse",
            "root mean square error ‖F − K̃‖₂",
            math.sqrt(mse),
            Role.EXACT,
            note="over all draws, before projecting",
        ),
        ScalarResult(
            "error", "this draw's ‖F − K̃‖₂", float(np.linalg.norm(estimate - truth)), Role.EXACT
        ),
        ScalarResult(
            "projected_error",
            "of its projection",
            float(np.linalg.norm(projected - truth)),
            Role.EXACT,
        ),
    ]
    result = _finish(inputs, series, readouts, table.level)
    if not inside.all():
        result = replace(
            result, notes=(*result.notes, guarantee.bars_note(int(inside.sum()), table.size))
        )
    if isinstance(inputs.metric, Grid) or table.size <= _MAX_COMPARED:
        return replace(result, histograms=(truth, projected))
    return result


OF_ONE_DRAW = frozenset({"error", "projected_error", "projected_emd", "quantile"})
"""Keys of the readouts that describe the draw shown only."""


def projected_distance(inputs: Inputs, histograms: tuple[FloatArray, FloatArray]) -> ScalarResult:
    """Return d_EM between the projected estimate of this draw and the true histogram."""
    away = float(inputs.context.run_in_worker(distance_of_shares, inputs.metric, *histograms))
    return ScalarResult("projected_emd", "this draw's d_EM of the projection", away, Role.EXACT)


def distance_of_shares(metric: MetricSpace, p: FloatArray, q: FloatArray) -> float:
    """Return d_EM of two histograms of a finite space (runs in a worker process)."""
    every = np.arange(p.size)
    return metric.emd(every, every, p, q)


def items_and_answers(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return locations of the items and of their answers."""
    why = inputs.refusal()
    metric, locations = inputs.metric, inputs.locations()
    if not why and isinstance(metric, FiniteSpace) and locations is None:
        why = guarantee.NO_PLACE
    if why:
        return undefined_result("after", "answers", points, why)
    items = inputs.mechanism_items()
    readouts: tuple[ScalarResult, ...]
    notes: tuple[str, ...] = ()
    rng = np.random.default_rng((abs(inputs.request.seed), 31))
    if isinstance(metric, Square):
        level = _alpha0(inputs)
        before = np.concatenate(items)
        after = um.priv_emd_item_wise(before, um.PlanarLaplace(metric, level, clip=True), rng)
        before, after = before / metric.side, after / metric.side
        readouts = (ScalarResult("alpha0", "α₀ of an item", level, Role.LOWER, "1/diameter"),)
        notes = (guarantee.PLANAR,)
    elif isinstance(metric, Sphere):
        level = _alpha0(inputs)
        before = np.concatenate(items)
        after = um.priv_emd_item_wise(before, um.SphereLaplace(metric, level), rng)
        # Longitude to the right and latitude upwards, as shares of the whole.
        before, after = ((at[:, ::-1] + (180.0, 90.0)) / (360.0, 180.0) for at in (before, after))
        readouts = (ScalarResult("alpha0", "α₀ of an item", level, Role.LOWER, "1/diameter"),)
        notes = (guarantee.IN_FLOATS,)
    elif locations is not None:
        table = _table(inputs)
        level = table.level
        answers = _answers(inputs, table, items)
        corner, size = _frame(inputs, locations)
        before, after = (
            (locations[items] - corner) / size for items in (np.concatenate(items), answers)
        )
        readouts = _levels(inputs, table, table.law())
        if isinstance(metric, Grid):
            # Points of one cell would hide one another.
            before = before + rng.uniform(-0.4, 0.4, before.shape) / metric.width
            after = after + rng.uniform(-0.4, 0.4, after.shape) / metric.width
            notes = ("Items are cells: points are strewn over their cell to be seen.",)
    few = evenly_spread(len(before), _MAX_DOTS)
    if len(few) < len(before):
        notes += (f"Drawn are {len(few):,} of {len(before):,} items, and as many answers.",)
    mix = um.shuffled(np.arange(len(before)), inputs.bits(4))
    series = []
    for curve, at in ((BEFORE, before[mix]), (AFTER, after)):
        x, y = at[few][np.argsort(at[few, 0])].T
        series.append(curve.series(x, y))
    result = _finish(inputs, series, list(readouts), level)
    return replace(result, notes=(*result.notes, *notes))


def _frame(inputs: Inputs, locations: FloatArray) -> tuple[FloatArray, float]:
    """Return the lower left corner and the side of the square that holds the items."""
    request = inputs.request
    if isinstance(inputs.metric, Grid):
        return np.array([request["left"], request["bottom"]]), float(request["space_side"])
    return locations.min(axis=0), float(np.ptp(locations, axis=0).max())


def average(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return an average over all items, true and released."""
    why = inputs.refusal()
    if not why and not inputs.finite:
        return _average_of_points(inputs, points)
    values: FloatArray | None = None
    if not why:
        values, why = _values(inputs)
    if why or values is None:
        return undefined_result("release", "released", points, why)
    target, items = inputs.target(), inputs.mechanism_items()
    step = Fraction(str(inputs.request["step"]))
    try:
        query = um.LatticeQuery(values, inputs.distances, step)
    except ValueError as error:
        return undefined_result("release", "released", points, str(error).partition(": ")[2])
    n, m = len(items), target.m
    truth = np.mean([query.mean(own) for own in inputs.users.items], axis=0)
    released = _vectors(inputs, query, items).mean(axis=0)
    at_once, averaged = (1, n) if inputs.local else (n, 1)
    scale = query.scale(target.alpha, at_once)
    absolute, square = um.lattice_noise_moments(scale, step / (m * at_once))
    x = np.arange(1, len(truth) + 1, dtype=float)
    inside = (x >= points.sweep.low) & (x <= points.sweep.high)
    series = [
        TRUE_AVERAGE.series(x[inside], truth[inside]),
        RELEASED.series(x[inside], released[inside]),
    ]
    off = released - truth
    readouts = [
        ScalarResult(
            "lip",
            "Lipschitz constant, ℓ1",
            float(query.lip),
            Role.UPPER,
            note="of the rounded values",
        ),
        ScalarResult("scale", "scale of the noise", float(scale), Role.EXACT),
        ScalarResult(
            "rmse", "root mean square noise of one number", math.sqrt(square / averaged), Role.EXACT
        ),
        ScalarResult("error", "this draw's ‖q − q̃‖₁", float(np.abs(off).sum()), Role.EXACT),
    ]
    if averaged == 1:
        readouts.append(
            ScalarResult("mean_error", "mean noise of one number", absolute, Role.EXACT)
        )
        if inputs.equal and scale:
            from scipy.special import gammainc

            quantile = float(gammainc(len(truth), np.abs(off).sum() / float(scale)))
            readouts.append(
                ScalarResult(
                    "quantile",
                    "share of releases with a smaller error",
                    quantile,
                    Role.ESTIMATE,
                    note="of continuous noise",
                )
            )
    result = _finish(inputs, series, readouts, 0.0)
    if inside.all():
        return result
    return replace(result, notes=(*result.notes, guarantee.bars_note(int(inside.sum()), len(x))))


def _average_of_points(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return an average over points, true and released with noise in floating point.

    A distance is 1-Lipschitz, so that k of them are k-Lipschitz in ℓ1; a position is so in ℓ1, and
    √2 of it in ℓ2.
    """
    metric, request, target = inputs.metric, inputs.request, inputs.target()
    function: Callable[[Items], FloatArray]
    if request["query"] == PLACES:
        places = _places(inputs)
        lip = len(places) * metric.length

        def function(own: Items) -> FloatArray:
            return np.asarray(metric.cross(own, places) * metric.length)
    elif request["query"] == POSITION and isinstance(metric, Square):
        corner = np.array([request["left"], request["bottom"]])
        lip = metric.length * (1.0 if metric.norm == 1 else math.sqrt(2))

        def function(own: Items) -> FloatArray:
            return np.asarray(own + corner)
    else:
        return undefined_result("release", "released", points, guarantee.NO_AVERAGE)
    truth, items = _mean_of_users(function, inputs.users.items), inputs.mechanism_items()
    n = len(items)
    at_once, averaged = (1, n) if inputs.local else (n, 1)
    rows = _mean_of_users(function, items)[None]
    if inputs.local:
        rows = np.array([function(own).mean(axis=0) for own in items])
    rng = np.random.default_rng((abs(request.seed), 32))
    released = um.priv_emd_linear(rows, target.alpha, lip, 1.0, rng, at_once).mean(axis=0)
    scale = float(um.k_norm_scale(target.alpha, lip, at_once))
    x = np.arange(1, len(truth) + 1, dtype=float)
    inside = (x >= points.sweep.low) & (x <= points.sweep.high)
    series = [
        TRUE_AVERAGE.series(x[inside], truth[inside]),
        replace(RELEASED, source=guarantee.ON_POINTS).series(x[inside], released[inside]),
    ]
    unit = inputs.space.unit
    readouts = [
        ScalarResult("lip", "Lipschitz constant, ℓ1", lip, Role.UPPER, unit),
        ScalarResult("scale", "scale of the noise", scale, Role.EXACT, unit),
        ScalarResult(
            "rmse",
            "root mean square noise of one number",
            math.sqrt(2 / averaged) * scale,
            Role.EXACT,
            unit,
        ),
        ScalarResult(
            "error", "this draw's ‖q − q̃‖₁", float(np.abs(released - truth).sum()), Role.EXACT, unit
        ),
    ]
    result = _finish(inputs, series, readouts, 0.0)
    notes = (note for note in result.notes if note != guarantee.SEEDED)
    return replace(result, notes=(*notes, guarantee.IN_FLOATS))


def _mean_of_users(function: Callable[[Items], FloatArray], users: Sequence[Items]) -> FloatArray:
    """Return the mean over users of each one's mean of a function of items."""
    sizes = np.array([len(own) for own in users])
    values = function(np.concatenate(users))
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes, axis=0)
    return np.asarray((sums / sizes[:, None]).mean(axis=0))


_MAX_PLACES = 20


def _places(inputs: Inputs) -> FloatArray:
    """Return the typed places, relative to the box's corner where there is one.

    Raises
    ------
    ValueError
        If they are no places of the space; names the row and what to do.
    """
    request, name = inputs.request, "places"
    rows = table_rows(str(request["places"]), name)
    if not rows or len(rows[0]) != 2 or len(rows) > _MAX_PLACES:
        raise ValueError(f"{name}: give 1 to {_MAX_PLACES} rows of two numbers each")
    at = np.array(rows, dtype=float)
    if not isinstance(inputs.metric, Sphere):
        at -= (request["left"], request["bottom"])
    low, high = np.zeros(2), np.full(2, float(request["space_side"]))
    what = "inside the box, x and y"
    if isinstance(inputs.metric, Sphere):
        low, high = np.array([-90.0, -180.0]), np.array([90.0, 180.0])
        what = "on the Earth, latitude within ±90 and longitude within ±180"
    for i, place in enumerate(at, 1):
        if (place < low).any() or (place > high).any():
            raise ValueError(f"{name}, row {i}: no place {what}; write it as two numbers")
    return at


def _vectors(inputs: Inputs, query: um.LatticeQuery, items: tuple[Items, ...]) -> FloatArray:
    """Return the output of Algorithm 1: one vector, or one per user in the local model."""
    target, bits = inputs.target(), inputs.bits(2)
    lists = items if inputs.local else (np.concatenate(items),)
    return np.array(
        [query.release(own, target.m, len(own) // target.m, target.alpha, bits) for own in lists]
    )


def answer_rows(inputs: Inputs, item_wise: bool) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return columns and rows of the table that a recipient of the release receives.

    One row per shuffled answer of Algorithm 2, or per vector of Algorithm 1. In the local model
    each row names the user who would have sent it.

    Raises
    ------
    ValueError
        If nothing can be drawn.
    """
    why = inputs.missing or inputs.refusal() or ("" if inputs.finite else guarantee.NO_TABLE)
    values: FloatArray | None = None
    if not why and not item_wise:
        values, why = _values(inputs)
    if why:
        raise ValueError(why)
    items = inputs.mechanism_items()
    senders = inputs.users.names if inputs.local else ("",)
    first = ("user",) if inputs.local else ()
    rows: list[list[str]] = []
    if values is None:
        answers = _answers(inputs, _table(inputs), items)
        labels, each = inputs.labels(), len(answers) // len(senders)
        columns: tuple[str, ...] = (*first, "answer")
        for i, answer in enumerate(answers.tolist()):
            rows.append([*senders[i // each :][:1], labels[answer]][-len(columns) :])
        return columns, rows
    query = um.LatticeQuery(values, inputs.distances, Fraction(str(inputs.request["step"])))
    columns = (*first, *(f"q{i + 1}" for i in range(values.shape[1])))
    for sender, vector in zip(senders, _vectors(inputs, query, items).tolist(), strict=True):
        rows.append([sender, *map(repr, vector)][-len(columns) :])
    return columns, rows


def _values(inputs: Inputs) -> tuple[FloatArray | None, str]:
    """Return the values of the averaged function, or the reason why there are none."""
    request, kind = inputs.request, inputs.request["query"]
    size = len(inputs.distances)
    if kind == ONE_HOT:
        return np.eye(size), ""
    if kind == POSITION:
        locations = inputs.locations()
        return locations, "" if locations is not None else guarantee.NO_POSITION
    if kind == PLACES:
        if not isinstance(inputs.metric, Grid):
            return None, guarantee.NO_PLACES
        corner = np.array([request["left"], request["bottom"]])
        centres = np.asarray(inputs.locations()) - corner
        return np.abs(centres[:, None] - _places(inputs)).sum(axis=2), ""
    value = str(request["values"])
    if not value:
        return None, "no file of values is chosen: open a CSV file under “file of values”"
    values, _ = read_values(
        str(inputs.context.file(value)),
        value.partition("#")[0],
        inputs.labels(),
        inputs.space.named,
        str(request["values_decimal"]),
    )
    return values, ""


def _alpha0(inputs: Inputs) -> float:
    """Return the largest α₀ that the request's privacy parameters allow in its model."""
    n = 1 if inputs.local else len(inputs.users.names)
    return allowed_alpha0(inputs, inputs.target(), n)


def allowed_alpha0(inputs: Inputs, target: PrivacyTarget, n: int) -> float:
    """Return the largest α₀ proved to meet a target with n users in one shuffle."""
    near = inputs.space.min_distance
    key = (target.alpha, target.delta, target.m, n, near)
    allowed: float = inputs.context.cached(
        ("users-data", "alpha0", key), lambda: float(um.best_alpha0(*key))
    )
    return min(allowed, MAX_ALPHA0)


def _table(inputs: Inputs) -> IntegerTable:
    alpha0 = _alpha0(inputs)
    space = tuple((k, v) for k, v in inputs.request.values if k.startswith("space"))
    table: IntegerTable = inputs.context.cached(
        ("users-data", "table", alpha0, space),
        lambda: um.integer_table(alpha0, inputs.distances),
    )
    return table


def _answers(inputs: Inputs, table: IntegerTable, items: tuple[Items, ...]) -> Items:
    """Return the shuffled answers; in the local model each user's are shuffled separately."""
    bits = inputs.bits(1)
    lists = items if inputs.local else (np.concatenate(items),)
    answers = table.answer(np.concatenate(items), bits)
    ends = np.cumsum([len(own) for own in lists])[:-1]
    return np.concatenate([um.shuffled(own, bits) for own in np.split(answers, ends)])


def _levels(inputs: Inputs, table: IntegerTable, law: FloatArray) -> tuple[ScalarResult, ...]:
    moved = float((law * inputs.distances).sum(axis=1).mean()) * inputs.space.diameter
    return (
        ScalarResult(
            "alpha0",
            "α₀ of an item",
            table.level,
            Role.UPPER,
            "1/diameter",
            note=guarantee.alpha0_note(_alpha0(inputs)),
        ),
        ScalarResult(
            "moved",
            "mean distance of an answer from its item",
            moved,
            Role.EXACT,
            inputs.space.unit,
            note="mean over the space's items, drawn evenly",
        ),
    )


def _finish(
    inputs: Inputs, series: list[Series], readouts: list[ScalarResult], item_level: float
) -> QuantityResult:
    target = inputs.target()
    more = [ScalarResult("alpha", "α of the mechanism", target.alpha, None, "1/diameter")]
    if target.r is not None:
        more.append(
            ScalarResult(
                "delta_total", "δ of the whole", target.total_delta(item_level > 0), Role.UPPER
            )
        )
    notes = [guarantee.SIMULATED] if inputs.local else []
    notes += [guarantee.SEEDED] + ([] if inputs.equal else [guarantee.WEIGHTS])
    return QuantityResult(
        tuple(series),
        (*readouts, *more),
        tuple(notes),
        guarantee.guarantee(
            epsilon=target.epsilon,
            alpha=target.alpha,
            delta=target.total_delta(item_level > 0),
            r=target.r,
            local=inputs.local,
            item_level=item_level,
        ),
    )


_AUDITED_USERS, _AUDITED_ITEMS = 3, 4
"""Users in both data sets, and items per user if all have the same number."""
_MAX_AUDITED_ITEMS = 1000
"""Largest data set of which one item moves."""


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited | str:
    """Return an audit of the requested algorithm: one user moves to the nearest other item."""
    inputs = Inputs(request, context)
    if inputs.missing or not inputs.finite:
        return f"{inputs.missing or guarantee.NO_TABLE}."
    apart = np.where(inputs.distances > 0, inputs.distances, np.inf)
    here, there = (int(i) for i in np.unravel_index(np.argmin(apart), apart.shape))
    near = float(apart[here, there])
    target = inputs.target()
    if target.r is None:
        target, size, moved = replace(target, m=_AUDITED_ITEMS), _AUDITED_ITEMS, _AUDITED_ITEMS
    else:
        size, moved = max(1, math.ceil(near / target.r)), 1
        if size > _MAX_AUDITED_ITEMS:
            return "r is far less than the distance of any two items."
    still = np.full(size, here)
    other = still.copy()
    other[:moved] = there
    count = 1 if inputs.local else _AUDITED_USERS
    data = [[first, *[still] * (count - 1)] for first in (still, other)]
    item_wise = request["promise"] == ITEM_WISE
    score = (_answer_score if item_wise else _average_score)(inputs, target, count, here, there)
    epsilon = target.alpha * near if target.r is None else target.epsilon

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        bits = SeededBits(rng)
        items: Sequence[Items] = data[side] * runs
        if target.r is not None:
            items = um.drawn_items(items, target.m, bits)
        return score(np.concatenate(items).reshape(runs, -1), bits)

    draws_note = f" after {target.m} draws of each" if target.r is not None else ""
    return Audited(
        f"Algorithm {2 if item_wise else 1}{draws_note}; users: {count}, items of each: {size}, of "
        f"whom one moves {moved} to the nearest other item",
        run,
        epsilon,
        target.total_delta(item_wise),
        "promised of this move",
        200,
    )


ScoreFunction = Callable[[Items, SeededBits], FloatArray]
"""Maps the items of all users of many runs, shape (runs, users·m), to a score of each run."""


def _answer_score(
    inputs: Inputs, target: PrivacyTarget, users: int, here: int, there: int
) -> ScoreFunction:
    """Return the log-likelihood ratio of the answers of Algorithm 2."""
    table = um.integer_table(allowed_alpha0(inputs, target, users), inputs.distances)
    law = np.log(table.law())
    weight: FloatArray = law[there] - law[here]

    def score(items: Items, bits: SeededBits) -> FloatArray:
        answers = table.answer(items.ravel(), bits).reshape(items.shape)
        return np.asarray(weight[answers].sum(axis=1))

    return score


def _average_score(
    inputs: Inputs, target: PrivacyTarget, users: int, here: int, there: int
) -> ScoreFunction:
    """Return how much nearer the output of Algorithm 1 is to the moved mean than to the other."""
    shares = np.eye(len(inputs.distances))[:, [here, there]]
    query = um.LatticeQuery(shares, inputs.distances, Fraction(1, 1000))
    means = [query.mean(np.array([here] * (users - 1) + [last])) for last in (here, there)]

    def score(items: Items, bits: SeededBits) -> FloatArray:
        outputs = np.array(
            [query.release(own, target.m, users, target.alpha, bits) for own in items]
        )
        first, second = (np.abs(outputs - mean).sum(axis=1) for mean in means)
        return np.asarray(first - second)

    return score
