"""Answers of the heatmap study: maps, numbers, and the comparison with the true map, in stages.

Apart from the study itself, so that its parameters can be shown without importing the mathematics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.checkins.selection import RowSelection, SelectedRows, ShardedRows
from explorer.geography.region import Region
from explorer.privacy.heatmaps import compare, level_of
from explorer.privacy.heatmaps.counts import BY_CHECKINS, from_rows
from explorer.privacy.heatmaps.evaluation import (
    BLOCKS,
    Interval,
    block_interval,
    block_sums,
    exact_distance,
    quick_intervals,
)
from explorer.privacy.heatmaps.row_pass import count_rows
from explorer.studies.base.study import (
    Context,
    Fidelity,
    NoWorker,
    Request,
    Result,
    ScalarResult,
    Surface,
)
from explorer.studies.heatmap import text
from explorer.studies.heatmap.contributions import requested_rule
from explorer.studies.heatmap.drawings import Drawing, drawings, true_cost_of_centres
from explorer.studies.heatmap.draws import DRAWS, maps_of_draws
from explorer.studies.heatmap.guarantee import conditions, guarantee, in_words_of, unit_of
from explorer.studies.heatmap.mechanisms import mechanism_of, of_settings
from explorer.studies.heatmap.parameters import (
    CENTRES,
    DIFFERENCE,
    OF_DRAWS,
    PRIVATE,
    TRUE,
    beside,
    is_map,
    is_private,
    pane_keys,
    request_of_surface,
)
from explorer.studies.heatmap.public import OF_SETTINGS, noise_readout
from explorer.studies.heatmap.run import (
    Counted,
    Estimate,
    Stopwatch,
    Task,
    Truth,
    draw,
    drawn_level,
    exact_estimate,
    exact_truth,
    points_of,
    run_mechanism,
    true_map,
)
from explorer.studies.heatmap.text import AVERAGE_ERROR, FAR, in_unit

LARGEST_EXACT = 256
"""Largest Δ whose exact earth mover's distance is asked for, as 512² takes a minute; beyond, the
interval from as many blocks stands."""
_COMPARED_HERE = 32 * 32
"""Cells whose distance takes at most 10 ms: no worker has to start for it."""


def answers(request: Request, context: Context) -> Iterator[Result]:
    """Yield the answers of `HeatmapStudy.answer`.

    Maps finer than can be drawn at the rate of a slider come on a coarser level before.
    """
    live = replace(request, fidelity=Fidelity.COARSE)
    level = level_of(int(request["resolution"]))
    if drawn_level(live, level) == drawn_level(request, level):
        yield from _answers(request, context)
        return
    for result in _answers(live, context):
        yield replace(result, request=request, complete=False)
        context.check()
    yield from _answers(request, context, early=False)


def _answers(request: Request, context: Context, early: bool = True) -> Iterator[Result]:
    """Yield answers of one fidelity; `early` ones count the first users only."""
    selection = request.selection
    if selection is None:
        raise ValueError("heatmap: there are no check-ins; open a file first")
    watch = Stopwatch()
    data = context.checkins(selection)
    points = points_of(selection, context)
    watch.lap("points")
    level = level_of(int(request["resolution"]))
    counted = Counted.of_request(request)
    drawn_on = drawn_level(request, level)
    first_users = (
        points.preview_selection()
        if early and isinstance(points, SelectedRows | ShardedRows)
        else None
    )
    if first_users is not None and (
        drawn_early := _early(request, context, points, first_users, watch)
    ):
        yield drawn_early
        context.check()
    truth = true_map(counted, points, level, drawn_on, request["sigma"], context, watch)
    context.check()
    task = Task(request, points, truth.counts, context, watch)
    synthetic = bool(data.synthetic)
    maps = _private_maps(task)
    drawn_of = drawings(task, {key: draw_maps.estimate for key, draw_maps in maps.items()})
    context.check()
    first = Result(
        request,
        Fidelity.COARSE,
        surfaces=_surfaces(request, truth, maps, drawn_of, {}, 0, synthetic),
        conditions=conditions(request),
        guarantee=guarantee(request, data.names.get("user", "")),
        notes=(
            *text.curator_notes(request, points),
            *text.notes(request),
            *(note for draw_maps in maps.values() for note in draw_maps.estimate.notes),
        ),
        stamp=text.stamp(synthetic, curator_only=False),
    )
    plain = (
        *plain_readouts(request, maps[PRIVATE].estimate, points),
        *(item for drawing in drawn_of.values() for item in drawing.readouts),
    )
    coarse, empty = request.fidelity is Fidelity.COARSE, not truth.counts.users
    of_draws = tuple(name for name in beside(request["beside"]) if name in OF_DRAWS and not coarse)
    live = drawn_on < level
    why = text.NO_TRUTH if empty else text.AT_REST if live else ""
    metrics = metric_readouts(selection.region, note=why)
    ended = (empty or live) and not of_draws
    fidelity = request.fidelity if ended else Fidelity.COARSE
    yield _with(first, plain, metrics, watch, fidelity, complete=ended)
    if isinstance(points, SelectedRows) and not coarse:
        points.cache_surroundings(context.check)
    if ended:
        return
    watch.resume()
    context.check()
    if not empty:
        compared = _Comparison(task, counted, maps)
        metrics = compared.quick()
        yield _with(first, plain, metrics, watch, Fidelity.COARSE, coarse)
        if coarse:
            return
        if CENTRES in drawn_of:
            watch.resume()
            plain += true_cost_of_centres(task, maps[PRIVATE].estimate, drawn_of[CENTRES])
            watch.lap("centres judged")
    for number, draw_maps in maps_of_draws(task, of_draws) if of_draws else ():
        surfaces = _surfaces(request, truth, maps, drawn_of, draw_maps, number, synthetic)
        first = replace(first, surfaces=surfaces)
        ended = empty and number == DRAWS
        fidelity = Fidelity.FULL if ended else Fidelity.COARSE
        yield _with(first, plain, metrics, watch, fidelity, ended)
    if not empty:
        yield from compared.refined(first, plain)


class _RowsNeeded(Exception):  # noqa: N818
    """Counts alone are not enough for the request: rows are needed."""


class _NoRows:
    """Placeholder for the points where only counts are available."""

    def __getattr__(self, name: str) -> Any:
        raise _RowsNeeded(name)


def _early(
    request: Request, context: Context, points: Any, part: RowSelection, watch: Stopwatch
) -> Result | None:
    """Return pictures of the first users, scaled to all; None if they need more than counts.

    Scaled up, one user moves them by more than the noise is made for: they keep no guarantee, so
    that all of them, the noisy ones too, are for the curator only.
    """
    assert request.selection is not None
    if requested_rule(request) != BY_CHECKINS or part.layout.weight is not None:
        return None
    level = level_of(int(request["resolution"]))
    share = part.layout.rows.users / points.users_in_file
    rows, begin = part.layout.rows, time.perf_counter()
    counts = from_rows(count_rows(rows, part.where, level))
    points.preview_took(len(rows.y), time.perf_counter() - begin)
    if not counts.users:
        return None
    counts = replace(counts, masses=counts.masses / share)
    task = Task(request, _NoRows(), counts, context, watch)
    try:
        maps = _private_maps(task)
    except _RowsNeeded:
        return None
    drawn_on = drawn_level(request, level)
    shown = Estimate(counts.blocks().normalised(), (), 0)
    truth = Truth(counts, draw(shown, request["sigma"], drawn_on, watch))
    synthetic = bool(context.checkins(request.selection).synthetic)
    stamp = text.stamp(synthetic, curator_only=True)
    surfaces = tuple(
        replace(
            surface,
            label=text.of_first_users(surface.label, share),
            curator_only=True,
            stamp=stamp,
        )
        for surface in _surfaces(request, truth, maps, {}, {}, 0, synthetic)
    )
    return Result(
        request,
        Fidelity.COARSE,
        surfaces=surfaces,
        readouts=metric_readouts(request.selection.region, note=text.EARLY),
        conditions=conditions(request),
        guarantee=guarantee(request),
        notes=(text.EARLY,),
        stamp=stamp,
        timings_ms=dict(watch.spent),
        early=True,
    )


@dataclass(frozen=True)
class _Made:
    """A mechanism's map, as computed and as drawn."""

    estimate: Estimate
    picture: NDArray[np.float32]


def _private_maps(task: Task) -> dict[str, _Made]:
    """Return the maps of all mechanisms shown, by the keys of their surfaces."""
    request, maps = task.request, {}
    for key in filter(is_map, pane_keys(request["beside"])):
        estimate = run_mechanism(replace(task, request=request_of_surface(request, key)))
        drawn_on = drawn_level(request, task.counts.level)
        picture = draw(estimate, request["sigma"], drawn_on, task.watch)
        maps[key] = _Made(estimate, picture)
        task.context.check()
    return maps


def _surfaces(
    request: Request,
    truth: Truth,
    maps: Mapping[str, _Made],
    drawn_of: Mapping[str, Drawing],
    drawn: Mapping[str, NDArray[np.float32]],
    draws: int,
    synthetic: bool,
) -> tuple[Surface, ...]:
    """Return the panes in their order, without those that are not known yet."""
    assert request.selection is not None
    region, surfaces = request.selection.region, []
    for key in pane_keys(request["beside"]):
        overlay, source = None, ""
        if is_map(key):
            label, values = text.pane_label(request_of_surface(request, key)), maps[key].picture
        elif key in drawn_of:
            label, values = text.drawing_label(request, key), drawn_of[key].values
            overlay, source = drawn_of[key].overlay, drawn_of[key].source
        elif key == TRUE:
            label, values = "True heatmap", truth.picture
        elif key == DIFFERENCE:
            label, values = text.DIFFERENCE_LABEL, maps[PRIVATE].picture - truth.picture
        elif key in drawn:
            label, values = text.of_draws_label(key, draws), drawn[key]
        else:
            continue
        secret = not is_private(key)
        stamp = text.stamp(synthetic, curator_only=secret)
        diverging = key == DIFFERENCE
        surfaces.append(
            Surface(key, label, values, region, secret, stamp, diverging, overlay, source)
        )
    return tuple(surfaces)


class _Comparison:
    """How far the maps are from the truth, known better and better.

    The main map's numbers are the readouts of the study; of every further one there is the distance
    in the map's unit, ``emd_km:mechanism``, which stays an interval. Of all of them there is the
    error that *Utility* shows, too: the distance of the sums over 64 × 64 blocks.
    """

    def __init__(self, task: Task, counted: Counted, maps: Mapping[str, _Made]) -> None:
        self._task, self._watch = task, task.watch
        request, level = task.request, task.counts.level
        self._level = level
        self._truth = exact_truth(counted, task.counts, request["sigma"], task.context)
        self._maps = {
            key: exact_estimate(built.estimate, request["sigma"], level)
            for key, built in maps.items()
        }
        task.context.check()
        region = counted.rows.region
        self._region, self._sides = region, region.sides
        self._others: dict[str, Interval] = {}
        self._sums = {key: block_sums(p, BLOCKS) for key, p in self._maps.items()}
        self._true_sums = block_sums(self._truth, BLOCKS)
        self._errors: dict[str, Interval] = {}

    def quick(self) -> tuple[ScalarResult, ...]:
        """Return what takes no solver."""
        self._agreement = compare(self._truth, self._maps[PRIVATE])
        self._task.context.check()
        for key, p in self._maps.items():
            unit, km = quick_intervals(p, self._truth, *self._sides)
            if key == PRIVATE:
                self._unit, self._km = unit, km
            else:
                self._others[key] = km
            _, error = quick_intervals(self._sums[key], self._true_sums, *self._sides)
            self._errors[key] = error
            self._task.context.check()
        self._watch.lap("metrics")
        return self._readouts()

    def refined(self, first: Result, plain: tuple[ScalarResult, ...]) -> Iterator[Result]:
        """Yield results with the errors of the maps, the last one complete; then exact distances.

        The distances of maps as fine as these take seconds, and no sentence rests on them: they
        are added to the complete answer.
        """
        steps = _refinements(1 << self._level)
        try:
            for key in self._maps:
                self._watch.resume()
                self._errors[key] = self._average_error(key)
                self._watch.lap("emd of blocks")
                last = key == list(self._maps)[-1]
                yield self._now(first, plain, complete=last, coming=text.EXACT_COMING * last)
            for step in steps:
                self._watch.resume()
                last = step is steps[-1]
                note = text.INTERVAL_ONLY if last and step.function is not exact_distance else ""
                self._unit &= self._narrowed(PRIVATE, step)
                self._watch.lap(step.name)
                yield self._now(first, plain, complete=True, coming=text.EXACT_COMING)
                self._watch.resume()
                self._km &= self._narrowed(PRIVATE, step, *self._sides)
                self._watch.lap(f"{step.name} {self._region.unit}")
                for key in self._others if step is steps[0] else ():
                    yield self._now(first, plain, complete=True, coming=text.EXACT_COMING)
                    self._watch.resume()
                    self._others[key] &= self._narrowed(key, step, *self._sides)
                    self._watch.lap("emd beside")
                coming = "" if last else text.EXACT_COMING
                yield self._now(first, plain, note, complete=True, coming=coming)
        except NoWorker as error:
            # The map is drawn all the same, and the distance lies in what is known already.
            why = f"The distance is an interval only: {error}."
            first = replace(first, notes=(*first.notes, why))
            yield self._now(first, plain, why, complete=True)

    def _narrowed(self, key: str, step: _Step, *sides: float) -> Interval:
        """Return the distance of a map as a step finds it, kept while nothing of it changes."""
        task = self._task
        drawn_request = request_of_surface(task.request, key).with_value("beside", "")
        interval: Interval = task.context.cached(
            ("heatmap distance", drawn_request, step, sides),
            lambda: compared_maps(
                task.context, step.function, self._maps[key], self._truth, *step.arguments, *sides
            ),
        )
        return interval

    def _average_error(self, key: str) -> Interval:
        """Return the distance of a map's block sums."""
        task = self._task
        drawn_request = request_of_surface(task.request, key).with_value("beside", "")
        error: Interval = task.context.cached(
            ("heatmap average error", drawn_request),
            lambda: compared_maps(
                task.context, exact_distance, self._sums[key], self._true_sums, *self._sides
            ),
        )
        return error

    def _now(
        self,
        first: Result,
        plain: tuple[ScalarResult, ...],
        note: str = "",
        *,
        complete: bool,
        coming: str = "",
    ) -> Result:
        """Return the first result with the distances as they are known."""
        fidelity = Fidelity.FULL if complete else Fidelity.COARSE
        shown = _with(first, plain, self._readouts(note), self._watch, fidelity, complete)
        return replace(shown, coming=coming)

    def _readouts(self, note: str = "") -> tuple[ScalarResult, ...]:
        return (
            *metric_readouts(self._region, self._agreement, self._unit, self._km, note),
            *(
                distance_readout(
                    key.replace(PRIVATE, in_unit(FAR, self._region)),
                    f"Earth mover's distance, {mechanism_of(drawn_request).title}",
                    km,
                    self._region.unit,
                    "",
                )
                for key, km in self._others.items()
                for drawn_request in [request_of_surface(self._task.request, key)]
            ),
            *(
                distance_readout(
                    key.replace(PRIVATE, in_unit(AVERAGE_ERROR, self._region)),
                    f"Average error ({BLOCKS} × {BLOCKS} blocks)",
                    error,
                    self._region.unit,
                    "",
                )
                for key, error in self._errors.items()
            ),
        )


def compared_maps(
    context: Context, function: Callable[..., Any], p: NDArray[Any], q: NDArray[Any], *args: Any
) -> Any:
    """Return ``function(p, q, *args)`` of two maps; coarse ones are compared in this process."""
    context.check()
    if p.size <= _COMPARED_HERE:
        return function(p, q, *args)
    return context.run_in_worker(function, p, q, *args)


@dataclass(frozen=True)
class _Step:
    """How a distance is narrowed."""

    name: str
    function: Callable[..., Interval]
    arguments: tuple[int, ...] = ()


def _refinements(side: int) -> list[_Step]:
    """Return how the distance of two maps of so many cells on a side is narrowed."""
    coarse = [_Step("emd blocks", block_interval, (BLOCKS,))] if side > BLOCKS else []
    if side <= LARGEST_EXACT:
        return [*coarse, _Step("emd exact", exact_distance)]
    return [*coarse, _Step("emd fine blocks", block_interval, (LARGEST_EXACT,))]


def _with(
    first: Result,
    plain: tuple[ScalarResult, ...],
    metrics: tuple[ScalarResult, ...],
    watch: Stopwatch,
    fidelity: Fidelity,
    complete: bool,
) -> Result:
    """Return the first result with the intervals known so far."""
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


def plain_readouts(request: Request, estimate: Estimate, points: Any) -> tuple[ScalarResult, ...]:
    """Return counts and the budget's split; neither has a role."""
    in_file = None if points.region_only else points.users_in_file
    name = in_words_of("Users", unit_of(request))
    readouts = [
        ScalarResult("users_used", f"{name} in the map", points.users_used, curator_only=True),
        ScalarResult(
            "users_in_region", f"{name} in region", points.users_in_region, curator_only=True
        ),
        ScalarResult("users_in_file", f"{name} in file", in_file, curator_only=True),
        ScalarResult("checkins", "Check-ins in the map", points.rows, curator_only=True),
        ScalarResult("cells_read", "Noisy counts read", estimate.cells_read),
    ]
    if estimate.objective is not None:
        readouts.append(ScalarResult("objective", "Misfit minimised", estimate.objective))
    readouts += [noise_readout(key, value) for key, value in estimate.made_of_noise]
    readouts += [
        ScalarResult(key, OF_SETTINGS[key][0], value, unit=OF_SETTINGS[key][1])
        for key, value in of_settings(request).items()
    ]
    readouts += [
        ScalarResult(f"epsilon_level_{i}", f"ε of level {i}", value)
        for i, value in estimate.epsilon_levels
    ]
    return tuple(readouts)


def metric_readouts(
    region: Region,
    agreement: Any = None,
    unit: Interval | None = None,
    km: Interval | None = None,
    note: str = "",
) -> tuple[ScalarResult, ...]:
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
        ScalarResult("similarity", "Similarity", similarity, curator_only=True, note=why),
        ScalarResult("pearson", "Pearson correlation", pearson, curator_only=True, note=why),
        ScalarResult("kl", "KL divergence", kl, curator_only=True, unit="nats", note=why),
        distance_readout("emd", "Earth mover's distance", unit, "of the side", note),
        distance_readout(in_unit(FAR, region), "Earth mover's distance", km, region.unit, note),
    )


def distance_readout(
    key: str, label: str, interval: Interval | None, unit: str, note: str
) -> ScalarResult:
    """Return a distance as far as it is known."""
    if interval is None:
        return ScalarResult(key, label, None, unit=unit, curator_only=True, note=note)
    return ScalarResult(
        key,
        label,
        interval.value,
        text.distance_role(interval.exact),
        unit,
        interval.low,
        interval.high,
        curator_only=True,
        note=note,
    )
