"""Simulated errors over their theory: one point of the sweep and mechanism after the other."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explorer.studies.base.simulation import dots_series, trial_pieces
from explorer.studies.base.study import Context, Fidelity, Request, Result, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean import text
from explorer.studies.coordinate_mean.parameters import MEDIAN
from explorer.studies.coordinate_mean.plans import Plan
from explorer.studies.coordinate_mean.simulation import (
    Experiment,
    errors,
    summary,
    trials_a_call,
    users_drawn,
)

_PLACES = 9
MECHANISMS = ("paper", "baseline", "exact", "hybrid")


def simulated(
    full: Result,
    request: Request,
    points: SweptPoints,
    known: dict[str, tuple[SweptPoints, list[Plan]]],
    context: Context,
) -> Iterator[Result]:
    """Yield the full answer with more and more dots, the last one complete.

    Every dot has a seed of its own, made of the request's, the mechanism's and the place's, so
    that it is the same whatever else is drawn.
    """
    jobs = [(key, place) for place in _places(points, known) for key in MECHANISMS if key in known]
    dots: dict[str, list[tuple[float, float, float, float]]] = {key: [] for key in MECHANISMS}
    stood_in = 0.0
    for done, (key, place) in enumerate(jobs, 1):
        where, plans = known[key]
        j = int(np.flatnonzero(where.x == place)[0])
        n, x2, q = int(where["n"][j]), float(where["x2"][j]), float(where["q"][j])
        plan = plans[j]
        if np.isfinite(plan.worst):
            users = users_drawn(plan, n, int(request["trials"]))
            stood_in = max(stood_in, n / users)
            experiment = Experiment(plan, users, q, x2)
            pieces = trial_pieces(
                context,
                errors,
                experiment,
                int(request["trials"]),
                trials_a_call(experiment),
                (abs(request.seed), MECHANISMS.index(key), j),
            )
            found = np.concatenate(list(pieces)) * (users / n)
            dots[key].append((place, *summary(found, request["dots"])))
        last = done == len(jobs)
        if last or key == MECHANISMS[-1]:
            notes = full.notes
            if stood_in > 1.0:
                notes += (
                    f"Up to {stood_in:,.0f} times fewer users were drawn than asked for, and the "
                    "errors divided accordingly: they fall exactly as 1/n.",
                )
            yield replace(
                full,
                fidelity=Fidelity.FULL,
                series=full.series + _series(dots, request),
                notes=notes,
                progress=done / len(jobs),
                complete=last,
            )


def _places(points: SweptPoints, known: dict[str, tuple[SweptPoints, list[Plan]]]) -> list[float]:
    """Return about nine places where every mechanism is known."""
    common = points.x
    for where, _ in known.values():
        common = np.intersect1d(common, where.x)
    return [float(x) for x in common[evenly_spread(common.size, _PLACES)]]


def _series(
    dots: dict[str, list[tuple[float, float, float, float]]], request: Request
) -> tuple[Series, ...]:
    bars = "median and quartiles" if request["dots"] == MEDIAN else "mean and 95 % interval"
    note = f"{bars} of {request['trials']} trials, seed {request.seed}, averages not projected"
    return tuple(
        dots_series(
            f"{key}_simulated", f"simulated: {text.NAMES[key][0]}", text.FIGURE_3, rows, note
        )
        for key, rows in dots.items()
        if rows
    )
