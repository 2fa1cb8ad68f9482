"""Runs M_LDP and M_mean on a table of records and compares the means with the true ones.

A simulation of a local protocol with the reports of a release, but seeded bits instead of the
system's. The first columns are the sensitive ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.noise.bits import SeededBits
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import Context, Mark, Request, ScalarResult, Series, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean import guarantee
from explorer.studies.coordinate_mean.demanded import OwnDemand
from explorer.studies.coordinate_mean.theory import (
    NO_REPORT,
    Demand,
    Plan,
    baseline_plans,
    best_zeta_plans,
    coordinates,
    demands_of,
    finite,
    paper_plans,
)
from explorer.studies.private_regression.data import Source, describe, load, sample_block

RUN_PAPER, RUN_BEST, RUN_BASELINE = "paper", "best_zeta", "baseline"
"""Mechanisms that can be run."""
MAX_USERS = 20_000
"""Largest number of synthetic records."""


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
    """Averages of the reports, of the records and of their squares, by column, in [−1, 1]."""

    reported: FloatArray
    truth: FloatArray
    squares: FloatArray
    users: int


def run(task: Run) -> Outcome:
    """Draw every user's report and average them (runs in a worker process)."""
    if task.source.path is None:
        x = sample_block(len(task.c) - 1, 0, task.users)
    else:
        x = load(task.source).values
    rng = np.random.default_rng((abs(task.seed), 12))
    if task.channel == co.DUCHI:
        average = co.exact_m_mean(x, task.c, SeededBits(rng), task.rule)
    else:
        average = co.m_mean_average(x, task.c, rng, task.rule, task.channel)
    return Outcome(average.mean, x.mean(axis=0), (x**2).mean(axis=0), x.shape[0])


@dataclass(frozen=True)
class CompletedRun:
    """A run with what it was run with.

    Attributes
    ----------
    swept : SweptPoints
        The columns to draw.
    demand : Demand
    plans : dict of str to Plan
        The paper's mechanism and min δ-LDP, which the conditions compare.
    plan : Plan
        The mechanism that was run.
    outcome : Outcome
    names : tuple of str or None
        Names of the file's columns; None for synthetic records.
    low, width : ndarray of float
        Public bounds of the columns.
    notes : tuple of str
    """

    swept: SweptPoints
    demand: Demand
    plans: dict[str, Plan]
    plan: Plan
    outcome: Outcome
    names: tuple[str, ...] | None
    low: FloatArray
    width: FloatArray
    notes: tuple[str, ...]

    @property
    def real(self) -> bool:
        """Whether the records come from a file."""
        return self.names is not None

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of the mean of the reports, by column."""
        variance = self.plan.second - self.outcome.squares * self.plan.squares
        return np.sqrt(np.maximum(variance, 0.0) / self.outcome.users)


def complete(
    request: Request, context: Context, swept: SweptPoints, own: OwnDemand | None
) -> CompletedRun:
    """Run a mechanism on the user's records, or on synthetic ones until a file is open.

    Raises
    ------
    ValueError
        If the user's own demand has another number of levels than the file has columns.
    """
    value = str(request["records"])
    source, columns = Source(), None
    d, notes = int(swept["d"][-1]), [guarantee.NO_RECORDS]
    if value:
        source = Source(context.file(value), value, decimal=request["records_decimal"])
        columns = context.cached(
            ("coordinate-mean", "columns", source),
            lambda: context.run_in_worker(describe, source),
        )
        d, notes = len(columns.names), [columns.summary]
        if own is not None and len(own.levels) != d:
            raise ValueError(
                f"{value.partition('#')[0]}: {d} columns, and {len(own.levels)} levels are "
                "demanded; give a level for each column, in the order of the columns"
            )
        clipped = int(columns.clipped.sum())
        if clipped:
            notes.append(
                f"{clipped:,} values lie outside the public bounds and are clipped to them."
            )
    columns_with_d = {
        key: np.full(column.shape, float(d)) if key == "d" else column
        for key, column in swept.columns.items()
    }
    swept = coordinates(replace(swept, columns=columns_with_d), d)
    demand = demands_of(request, swept, own)[-1]
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
    outcome: Outcome = context.cached(
        ("coordinate-mean", "run", task), lambda: context.run_in_worker(run, task)
    )
    return CompletedRun(
        swept,
        demand,
        plans,
        plan,
        outcome,
        None if columns is None else columns.names,
        np.full(d, -1.0) if columns is None else columns.low,
        np.full(d, 2.0) if columns is None else columns.high - columns.low,
        (*notes, guarantee.SIMULATED_PROTOCOL),
    )


def draw_reported(curve: Curve, p: Any) -> Series:
    """Draw the means of the reports with their standard deviations."""
    completed, outcome = p.run, p.run.outcome
    at, inside, reason = _columns(completed)
    reported = np.where(inside, outcome.reported[at], np.nan)
    margin = 1.96 * completed.deviation[at]
    if np.isnan(outcome.reported).any():
        reason = NO_REPORT
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        completed.swept.x,
        reported,
        curve.source,
        low=reported - margin,
        high=reported + margin,
        undefined_reason=reason,
        mark=Mark.DOTS,
    )


def draw_truth(curve: Curve, p: Any) -> Series:
    """Draw the means of the records."""
    at, inside, reason = _columns(p.run)
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        p.run.swept.x,
        np.where(inside, p.run.outcome.truth[at], np.nan),
        curve.source,
        undefined_reason=reason,
        mark=Mark.BARS,
    )


def _columns(completed: CompletedRun) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], str]:
    """Return the index of the column at every point, whether it exists, and the reason if not."""
    at = np.rint(completed.swept["i"][:-1]).astype(int) - 1
    inside = (at >= 0) & (at < completed.outcome.truth.size)
    reason = "" if inside.all() else "there is no such column"
    return np.clip(at, 0, completed.outcome.truth.size - 1), inside, reason


def readouts(completed: CompletedRun) -> tuple[ScalarResult, ...]:
    """Return the number of users, the error of this draw and its expectation, and L."""
    plan, outcome, real = completed.plan, completed.outcome, completed.real
    drawn = float(((outcome.reported - outcome.truth) ** 2).sum())
    expected = float((plan.second - outcome.squares * plan.squares).sum()) / outcome.users
    errors = (
        ("drawn", "squared error of this draw", drawn, Role.ESTIMATE),
        ("expected", "its expectation", expected, Role.EXACT),
    )
    return (
        ScalarResult("users", "users", float(outcome.users), None),
        *(
            ScalarResult(
                key,
                label,
                finite(value),
                role,
                curator_only=real,
                note="" if np.isfinite(value) else NO_REPORT,
            )
            for key, label, value, role in errors
        ),
        ScalarResult("total", "L of a user's report", plan.total, Role.EXACT, "nats"),
    )


def table(completed: CompletedRun) -> Table:
    """Return every column's level, budget and mean, in the column's own unit."""

    def unscaled(values: FloatArray) -> FloatArray:
        result: FloatArray = completed.low + 0.5 * (values + 1.0) * completed.width
        return result

    outcome, levels = completed.outcome, completed.demand.levels
    columns = (
        unscaled(outcome.reported),
        0.5 * completed.width * completed.deviation,
        unscaled(outcome.truth),
    )
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
                completed.names[i] if completed.names else f"column {i + 1}",
                float(levels[i]),
                float(completed.plan.c[i]),
                *(finite(float(column[i])) for column in columns),
            )
            for i in range(levels.size)
        ),
        f"In the columns' own units, levels in nats; {_order(completed.demand)}. "
        "Reports alone are seen by their readers; standard deviations and means of the records are "
        "computed from the records.",
        (None, Role.BASELINE, Role.EXACT, Role.ESTIMATE, Role.EXACT, Role.EXACT),
    )


def _order(demand: Demand) -> str:
    """Return in which order columns have their levels."""
    return "levels as demanded" if demand.own else "the first columns are the sensitive ones"
