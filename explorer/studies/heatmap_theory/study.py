"""How far off a private heatmap must be, how its ε is spent, and what shuffling it costs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from explorer.privacy.core.bound import Bound, Role
from explorer.privacy.heatmaps import Schedule, start_level
from explorer.studies.base.claims import number_only
from explorer.studies.base.study import (
    Claim,
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Mark,
    Readout,
    Request,
    Result,
    Series,
    Study,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.heatmap_theory import text
from explorer.studies.heatmap_theory.curves import (
    FEWEST,
    PLANS,
    cells_sent,
    communication_bounds,
    error_bounds,
    fits,
    level_of,
    metric_bounds,
    missing_bounds,
    plan_of,
    sent,
)
from explorer.studies.heatmap_theory.face import FACES, SHORT_NAMES
from explorer.studies.heatmap_theory.help import PAGE, PRESETS
from explorer.studies.heatmap_theory.parameters import PARAMETERS, QUANTITIES
from explorer.studies.heatmap_theory.simulation import simulated
from explorer.studies.heatmap_theory.tradeoff import audits

_COARSE_POINTS = 32


@with_tradeoff(("epsilon",), also=("delta",), audits=audits)
class HeatmapTheory(Study):
    """Error bounds of sparse and dense aggregation, schedules, Lemma B, shuffle communication."""

    id = "heatmap-theory"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        "error": Claim(
            ("experiments", "theory", "capped", "dense"), number_only, "mechanisms", solves="n"
        ),
        "similarity": Claim(("similarity", "huber"), number_only, better="high"),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield all curves, then, if asked for, more and more dots of a simulation."""
        context.check()
        points = swept_points(self, request)
        if request.quantity == "missing":
            # Half a millisecond each.
            coarse = _missing(request, points.downsampled(_COARSE_POINTS), context)
            only = request.fidelity is Fidelity.COARSE
            yield replace(coarse, fidelity=Fidelity.COARSE, complete=only)
            if only:
                return
        kind = {"error": _errors, "split": _split, "bits": _bits, "missing": _missing}
        dots = (
            request.quantity == "error"
            and request["simulate"]
            and request.fidelity is Fidelity.FULL
        )
        found = kind.get(request.quantity, _metrics)(request, points, context)
        full = replace(found, complete=not dots)
        yield full
        if dots:
            yield from simulated(full, request, points, context)


def _result(
    request: Request,
    points: SweptPoints,
    bounds: dict[str, Bound],
    conditions: tuple[Condition, ...],
    guarantee: Guarantee | None,
    unit: str = "",
    more: tuple[Readout, ...] = (),
) -> Result:
    series = tuple(
        series_from(key, text.LABELS[key], points, bound, note=text.NOTES.get(key, ""))
        for key, bound in bounds.items()
    )
    readouts = tuple(
        readout_from(key, text.LABELS[key], bound, unit=unit, note=text.NOTES.get(key, ""))
        for key, bound in bounds.items()
    )
    return Result(
        request,
        request.fidelity,
        series=series,
        readouts=readouts + more,
        conditions=conditions,
        guarantee=guarantee,
    )


def _errors(request: Request, points: SweptPoints, context: Context) -> Result:
    bounds = error_bounds(request, points, context)
    uppers = {
        key: float(b.value[-1]) for key, b in bounds.items() if b.role is Role.UPPER and b.valid[-1]
    }
    conditions = text.error_conditions(
        float(request["k"]),
        4.0 ** level_of(request),
        uppers,
        float(request["n"]),
        float(request["epsilon"]),
    )
    plans = _plans(request)
    differences = (
        text.schedules_differ(plans["theory"], plans["experiments"]),
        text.CAPPED_DIFFERS,
        text.dense_differs(request["epsilon"], level_of(request)),
        text.bounds_differ(request["simulate"]),
    )
    promise = text.central_guarantee(request["epsilon"], differences)
    found = _result(request, points, bounds, conditions, promise, "of the side")
    return replace(found, tables=_budgets(request, plans))


def _plans(request: Request) -> dict[str, Schedule]:
    """Return every variant's schedule at the sliders; none where the map has too few cells."""
    level, k = level_of(request), int(request["k"])
    assumed = float(request["guess"]) * float(request["n"])
    w = min(k, 4**level)
    return {key: plan_of(key, float(request["epsilon"]), level, w, assumed) for key in PLANS}


def _budgets(request: Request, plans: dict[str, Schedule]) -> tuple[Table, ...]:
    """Return, level by level, what is measured and what it adds to the error."""
    level, k = level_of(request), int(request["k"])
    w, n = min(k, 4**level), float(request["n"])
    rows: list[tuple[str | float | None, ...]] = []
    for key, plan in plans.items():
        for i in plan.measured:
            cells = 4**i if i == plan.start else 4 * min(w, 4 ** (i - 1))
            part = plan.epsilon[i]
            rows.append(
                (
                    text.LABELS[key],
                    float(i),
                    part,
                    float(cells),
                    2**0.5 / part,
                    2 / n * 6 * 2.0**-i * cells / part,
                )
            )
    columns = ("variant", "level", "εᵢ", "cells read, at most", "s.d. of a count", "adds to error")
    note = (
        "ε exact; standard deviation of the Laplace noise in users; the last column is the level's "
        "part of the sum in Theorem 3.1, 2/n · 6 · 2⁻ⁱ · cells/εᵢ, an upper bound."
    )
    roles = (None, None, Role.EXACT, Role.UPPER, Role.EXACT, Role.UPPER)
    return (Table("levels", "Level by level", columns, tuple(rows), note, roles),)


def _split(request: Request, points: SweptPoints, _context: Context) -> Result:
    level = level_of(request)
    x = points.x[points.x <= level]
    x = x if x.size else points.x[:1]
    at = np.rint(x).astype(int)
    inside = at <= level
    reason = "" if inside.all() else text.NOT_MEASURED
    plans = _plans(request)
    series, readouts = [], []
    for key, plan in plans.items():
        parts = np.array(plan.epsilon)
        y = np.where(inside, parts[np.minimum(at, level)], np.nan)
        role = Role.EXACT
        source = text.SCHEDULES
        span = f"levels {plan.start} to {plan.last} are measured"
        series.append(
            Series(
                key,
                text.LABELS[key],
                role,
                x,
                y,
                source,
                undefined_reason=reason,
                note=span,
                mark=Mark.BARS,
            )
        )
        readouts.append(Readout(f"last_{key}", f"deepest level: {text.LABELS[key]}", plan.last))
    q = start_level(min(int(request["k"]), 4**level), level)
    readouts.append(Readout("q", "q, finest level with at most w cells", q))
    return Result(
        request,
        request.fidelity,
        series=tuple(series),
        tables=_budgets(request, plans),
        readouts=tuple(readouts),
        conditions=(
            Condition(
                "The map has room for k cells: k ≤ Δ²",
                bool(fits(request, points)[-1]),
                "w is at most Δ²",
            ),
            text.NOT_FROM_DATA,
        ),
        guarantee=text.central_guarantee(
            request["epsilon"],
            (
                text.schedules_differ(plans["theory"], plans["experiments"]),
                text.CAPPED_DIFFERS,
            ),
        ),
    )


def _metrics(request: Request, points: SweptPoints, _context: Context) -> Result:
    unit = "nats" if request.quantity == "kl" else ""
    return _result(
        request,
        points,
        metric_bounds(request, points),
        (text.BLURRED,),
        text.metric_guarantee(),
        unit,
    )


def _bits(request: Request, points: SweptPoints, _context: Context) -> Result:
    bounds = communication_bounds(request, points)
    more: list[Readout] = [Readout("m", "cells of all levels, m", cells_sent(request))]
    arguments = (float(request["epsilon"]), int(request["n"]), int(request["B"]))
    for key, printed in (("corrected", False), ("printed", True)):
        message = sent(request, *arguments, float(request["delta"]), printed)
        if message is not None:
            label = text.LABELS[key]
            more.append(Readout(f"r_{key}", f"shares r: {label}", message.shares))
            more.append(
                Readout(f"bits_{key}", f"a message: {label}", message.message_bits, unit="bits")
            )
    n = float(request["n"])
    enough = n >= FEWEST
    guarantee = (
        text.shuffle_guarantee(float(request["epsilon"]), float(request["delta"]), False)
        if enough
        else None
    )
    conditions = text.shuffle_conditions(n, enough)
    return _result(request, points, bounds, conditions, guarantee, "MB", tuple(more))


def _missing(request: Request, points: SweptPoints, context: Context) -> Result:
    bounds = missing_bounds(request, points, context)
    guarantee = text.shuffle_guarantee(float(bounds["worst"].value[-1]), None, True)
    missing = float(request["missing"])
    conditions = text.shuffle_conditions(float(request["n"]), True, missing)[1:]
    return _result(request, points, bounds, conditions, guarantee)
