"""M_LDP and M_mean run on a table of records: what the readers of the reports would see.

A simulation of a local protocol, by the reports of a release with seeded bits in place of the
system's. The first columns are the sensitive ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.privacy.noise.bits import SeededBits
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Mark,
    Readout,
    Request,
    Result,
    Series,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean import text
from explorer.studies.coordinate_mean.parameters import FILE, RUN_BASELINE, RUN_BEST
from explorer.studies.coordinate_mean.plans import (
    Plan,
    baseline_plans,
    best_zeta_plans,
    paper_plans,
)
from explorer.studies.coordinate_mean.points import coordinates, demands_of
from explorer.studies.coordinate_mean.public_file import PublicCoupling
from explorer.studies.private_regression.data import Source, describe, load, sample_block

MAX_USERS = 20_000
"""Synthetic records at most."""


@dataclass(frozen=True)
class Run:
    """One run, complete and picklable; `users` synthetic records without a file."""

    source: Source
    users: int
    c: tuple[float, ...]
    rule: str
    channel: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came out: averages of the reports and of the records, by column, in [−1, 1]."""

    reported: FloatArray
    truth: FloatArray
    squares: FloatArray
    users: int


def run(task: Run) -> Outcome:
    """Draw every user's report and average (in a worker process)."""
    if task.source.path is None:
        x = sample_block(len(task.c) - 1, 0, task.users)
    else:
        x = load(task.source).values
    rng = np.random.default_rng((abs(task.seed), 12))
    if task.channel == co.DUCHI:
        found = co.exact_m_mean(x, task.c, SeededBits(rng), task.rule)
    else:
        found = co.m_mean_average(x, task.c, rng, task.rule, task.channel)
    return Outcome(found.mean, x.mean(axis=0), (x**2).mean(axis=0), x.shape[0])


def answer(
    request: Request, context: Context, points: SweptPoints, public: PublicCoupling | None
) -> Iterator[Result]:
    """Yield the run on the user's records, or on synthetic ones until a file is open."""
    value = str(request["records"])
    d, names, low, high = int(request["d"]), None, None, None
    source, stamp, notes = Source(), text.SYNTHETIC, [text.NO_RECORDS]
    if value:
        source = Source(context.file(value), value, decimal=request["records_decimal"])
        columns = context.memo(
            ("coordinate-mean", "columns", source),
            lambda: context.run_in_worker(describe, source),
        )
        d, names, low, high = len(columns.names), columns.names, columns.low, columns.high
        stamp, notes = text.REAL_DATA, [columns.summary]
        lost = int(columns.clipped.sum())
        if lost:
            notes.append(f"{lost:,} values lie outside the public bounds and are clipped to them.")
    wanted = {
        key: np.full(column.shape, float(d)) if key == "d" else column
        for key, column in points.columns.items()
    }
    points = coordinates(replace(points, columns=wanted), d)
    demand = demands_of(request, points)[-1]
    plans = {"paper": paper_plans([demand])[0], "baseline": baseline_plans([demand])[0]}
    plan = plans["baseline" if request["run_by"] == RUN_BASELINE else "paper"]
    if request["run_by"] == RUN_BEST:
        (plan,) = best_zeta_plans([demand], context.check)
    task = Run(
        source,
        min(int(request["n"]), MAX_USERS),
        tuple(float(x) for x in plan.c),
        plan.rule,
        plan.channel,
        request.seed,
    )
    found: Outcome = context.memo(
        ("coordinate-mean", "run", task), lambda: context.run_in_worker(run, task)
    )
    spread = np.sqrt(np.maximum(plan.second - found.squares * plan.squares, 0.0) / found.users)
    real = bool(value)
    yield Result(
        request,
        Fidelity.FULL if request.fidelity is Fidelity.FULL else Fidelity.COARSE,
        series=_series(points, found, spread),
        tables=(
            _table(demand.levels, plan, found, spread, names, low, high),
            *(() if public is None else (public.table(),)),
        ),
        readouts=_readouts(plan, found, real),
        conditions=text.conditions(
            demand, plans, 0.0, float(found.users), request["q_from"] == FILE, public
        ),
        guarantee=text.guarantee(demand, plan, 1, public),
        notes=(*notes, text.SIMULATED_PROTOCOL),
        stamp=stamp,
        curator_only=real,
        complete=True,
    )


def _series(points: SweptPoints, found: Outcome, spread: FloatArray) -> tuple[Series, ...]:
    at = np.rint(points["i"][:-1]).astype(int) - 1
    inside = (at >= 0) & (at < found.truth.size)
    at = np.clip(at, 0, found.truth.size - 1)
    no_such = "" if inside.all() else "there is no such column"
    reported, truth = (np.where(inside, v[at], np.nan) for v in (found.reported, found.truth))
    margin = 1.96 * spread[at]
    why = text.NO_REPORT if np.isnan(found.reported).any() else no_such
    return (
        Series(
            "reported",
            "mean of the reports, ± 1.96 standard deviations",
            Role.ESTIMATE,
            points.x,
            reported,
            text.MECHANISM,
            low=reported - margin,
            high=reported + margin,
            undefined_reason=why,
            mark=Mark.DOTS,
        ),
        Series(
            "truth",
            "mean of the records themselves",
            Role.BASELINE,
            points.x,
            truth,
            Reference("Own data", "not private"),
            undefined_reason=no_such,
            mark=Mark.BARS,
        ),
    )


def _readouts(plan: Plan, found: Outcome, real: bool) -> tuple[Readout, ...]:
    error = float(((found.reported - found.truth) ** 2).sum())
    expected = float((plan.second - found.squares * plan.squares).sum()) / found.users
    return (
        Readout("users", "users", float(found.users), None),
        Readout(
            "drawn",
            "squared error of this draw",
            text.finite(error),
            Role.ESTIMATE,
            curator_only=real,
        ),
        Readout(
            "expected", "its expectation", text.finite(expected), Role.EXACT, curator_only=real
        ),
        Readout("total", "L of a user's report", plan.total, Role.EXACT, "nats"),
    )


def _table(
    levels: FloatArray,
    plan: Plan,
    found: Outcome,
    spread: FloatArray,
    names: tuple[str, ...] | None,
    low: FloatArray | None,
    high: FloatArray | None,
) -> Table:
    """Return every column's level, budget and mean, in the column's own unit."""
    start = np.full(levels.size, -1.0) if low is None else low
    width = np.full(levels.size, 2.0) if high is None or low is None else high - low

    def own(values: FloatArray) -> FloatArray:
        scaled: FloatArray = start + 0.5 * (values + 1.0) * width
        return scaled

    columns = (own(found.reported), 0.5 * width * spread, own(found.truth))
    return Table(
        "run",
        "This run by column",
        (
            "column",
            "level demanded",
            "budget c",
            "mean of the reports",
            "standard deviation",
            "mean of the records",
        ),
        tuple(
            (
                names[i] if names else f"column {i + 1}",
                float(levels[i]),
                float(plan.c[i]),
                *(text.finite(float(column[i])) for column in columns),
            )
            for i in range(levels.size)
        ),
        "In the columns' own units, levels in nats; the first columns are the sensitive ones. "
        "Reports alone are seen by their readers; standard deviations and means of the records are "
        "computed from the records.",
        (None, Role.BASELINE, Role.EXACT, Role.ESTIMATE, Role.EXACT, Role.EXACT),
    )
