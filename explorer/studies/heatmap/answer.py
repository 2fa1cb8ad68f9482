"""The pictures and the comparison of the heatmap study, step by step.

Apart from the study itself, so that the window can show its parameters without the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import compare, level_of
from explorer.privacy.heatmaps.evaluation.distance import (
    Interval,
    block_interval,
    exact_distance,
    quick_intervals,
)
from explorer.studies.base.study import (
    Context,
    Fidelity,
    NoWorker,
    Readout,
    Request,
    Result,
    Surface,
)
from explorer.studies.heatmap import text
from explorer.studies.heatmap.conditions import conditions
from explorer.studies.heatmap.guarantee import guarantee
from explorer.studies.heatmap.public import MADE_OF_NOISE
from explorer.studies.heatmap.run import (
    Estimate,
    Stopwatch,
    Task,
    draw,
    exact_estimate,
    exact_truth,
    run_mechanism,
    true_map,
)

LARGEST_EXACT = 256
"""Largest Δ whose exact earth mover's distance is asked for, as 512² takes a minute; beyond, the
interval from as many blocks stands."""
BLOCKS = 64
"""Blocks on a side in the sharper interval."""


def answers(request: Request, context: Context) -> Iterator[Result]:
    """Yield the answers of `HeatmapStudy.answer`."""
    selection = request.selection
    if selection is None:
        raise ValueError("heatmap: there are no check-ins; open a file first")
    watch = Stopwatch()
    data = context.checkins(selection)
    rows = selection.rows
    points = context.memo(
        ("heatmap points", rows),
        lambda: data.points(
            rows.region.box,
            rows.start,
            rows.end,
            rows.users,
            rows.data_seed,
            rows.exact_share,
            context.check,
        ),
    )
    watch.lap("points")
    level = level_of(int(request["resolution"]))
    truth = true_map(rows, points, level, request["sigma"], context, watch)
    context.check()
    estimate = run_mechanism(Task(request, points, truth.counts, context, watch))
    picture = draw(estimate, request["sigma"], truth.counts.level, watch)
    synthetic = bool(data.synthetic)
    first = Result(
        request,
        Fidelity.COARSE,
        surfaces=(
            Surface("true", "True heatmap", truth.picture, selection.region, True,
                    text.stamp(synthetic, curator_only=True)),
            Surface("private", text.pane_label(request), picture, selection.region, False,
                    text.stamp(synthetic, curator_only=False)),
        ),
        conditions=conditions(request),
        guarantee=guarantee(request),
        notes=(*text.curator_notes(request, points), *text.notes(request), *estimate.notes),
        stamp=text.stamp(synthetic, curator_only=False),
    )  # fmt: skip
    plain = _plain_readouts(estimate, points)
    if not truth.counts.users:
        metrics = _metric_readouts(None, None, None, text.NO_TRUTH)
        yield _with(first, plain, metrics, watch, request.fidelity, complete=True)
        return
    yield _with(first, plain, _metric_readouts(), watch, Fidelity.COARSE, complete=False)

    watch.resume()
    context.check()
    q = exact_truth(rows, truth.counts, request["sigma"], context)
    p = exact_estimate(estimate, request["sigma"], level)
    context.check()
    agreement = compare(q, p)
    context.check()
    width, height = selection.region.width_km, selection.region.height_km
    unit, km = quick_intervals(p, q, width, height)
    watch.lap("metrics")
    coarse = request.fidelity is Fidelity.COARSE
    yield _with(first, plain, _metric_readouts(agreement, unit, km), watch, Fidelity.COARSE, coarse)
    if coarse:
        return

    for name, function, arguments, last in _refinements(1 << level):
        watch.resume()
        note = "" if function is exact_distance or not last else text.INTERVAL_ONLY
        try:
            unit &= context.run_in_worker(function, p, q, *arguments)
        except NoWorker as error:
            # The map is drawn all the same, and the distance lies in what is known already.
            why = f"The distance is an interval only: {error}."
            metrics = _metric_readouts(agreement, unit, km, why)
            first = replace(first, notes=(*first.notes, why))
            yield _with(first, plain, metrics, watch, Fidelity.FULL, complete=True)
            return
        watch.lap(name)
        metrics = _metric_readouts(agreement, unit, km)
        yield _with(first, plain, metrics, watch, Fidelity.COARSE, complete=False)
        watch.resume()
        km &= context.run_in_worker(function, p, q, *arguments, width, height)
        watch.lap(f"{name} km")
        metrics = _metric_readouts(agreement, unit, km, note)
        fidelity = Fidelity.FULL if last else Fidelity.COARSE
        yield _with(first, plain, metrics, watch, fidelity, complete=last)


def _refinements(side: int) -> list[tuple[str, Callable[..., Interval], tuple[int, ...], bool]]:
    """Return how the distance is narrowed: name of the step, function, arguments, whether last."""
    steps: list[tuple[str, Callable[..., Interval], tuple[int, ...]]] = []
    if side > BLOCKS:
        steps.append(("emd blocks", block_interval, (BLOCKS,)))
    if side <= LARGEST_EXACT:
        steps.append(("emd exact", exact_distance, ()))
    else:
        steps.append(("emd fine blocks", block_interval, (LARGEST_EXACT,)))
    return [(*step, step is steps[-1]) for step in steps]


def _plain_readouts(estimate: Estimate, points: Any) -> tuple[Readout, ...]:
    """Return counts and the budget's split; neither has a role."""
    readouts = [
        Readout("users_used", "Users in the map", points.users_used, curator_only=True),
        Readout("users_in_region", "Users in region", points.users_in_region, curator_only=True),
        Readout("users_in_file", "Users in file", points.users_in_file, curator_only=True),
        Readout("checkins", "Check-ins in the map", points.rows, curator_only=True),
        Readout("cells_read", "Noisy counts read", estimate.cells_read),
    ]
    if estimate.objective is not None:
        readouts.append(Readout("objective", "Misfit minimised", estimate.objective))
    readouts += [Readout(key, MADE_OF_NOISE[key], value) for key, value in estimate.made_of_noise]
    readouts += [
        Readout(f"epsilon_level_{i}", f"ε of level {i}", value)
        for i, value in estimate.epsilon_levels
    ]
    return tuple(readouts)


def _metric_readouts(
    agreement: Any = None, unit: Interval | None = None, km: Interval | None = None, note: str = ""
) -> tuple[Readout, ...]:
    """Return the comparison with the truth, as far as it is known.

    A note says why a distance is not a number, or, without a comparison, why there is none.
    """
    why = note if agreement is None else ""
    similarity = pearson = kl = None
    if agreement is not None:
        similarity, kl = agreement.similarity, agreement.kl
        # A constant map has no correlation with anything.
        pearson = None if np.isnan(agreement.pearson) else agreement.pearson
    return (
        Readout("similarity", "Similarity", similarity, curator_only=True, note=why),
        Readout("pearson", "Pearson correlation", pearson, curator_only=True, note=why),
        Readout("kl", "KL divergence", kl, curator_only=True, unit="nats", note=why),
        _distance_readout("emd", "Earth mover's distance", unit, "of the side", note),
        _distance_readout("emd_km", "Earth mover's distance", km, "km", note),
    )


def _distance_readout(
    key: str, label: str, found: Interval | None, unit: str, note: str
) -> Readout:
    if found is None:
        return Readout(key, label, None, unit=unit, curator_only=True, note=note)
    return Readout(
        key, label, found.value, text.distance_role(found.exact), unit, found.low, found.high,
        curator_only=True, note=note,
    )  # fmt: skip


def _with(
    first: Result,
    plain: tuple[Readout, ...],
    metrics: tuple[Readout, ...],
    watch: Stopwatch,
    fidelity: Fidelity,
    complete: bool,
) -> Result:
    """Return the first result with what is known by now."""
    return Result(
        first.request,
        fidelity,
        surfaces=first.surfaces,
        readouts=(*metrics, *plain),
        conditions=first.conditions,
        guarantee=first.guarantee,
        notes=first.notes,
        stamp=first.stamp,
        complete=complete,
        timings_ms=dict(watch.spent),
    )
