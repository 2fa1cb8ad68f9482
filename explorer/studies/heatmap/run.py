"""The true heatmap and the mechanisms' estimates of it, as the heatmap study runs them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps import (
    CellCounts,
    FittedMap,
    Schedule,
    SparseMap,
    aggregate,
    cells_kept,
    dense_map,
    depth_cap,
    discrete_grid,
    fit,
    gaussian_grid,
    laplace_grid,
    measure,
    measure_dense,
    measure_levels,
    nearest_map,
    one_cell_each,
    reconstruct,
    schedule,
    smoothing,
    start_level,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.pyramid.measurement import Reader
from explorer.privacy.heatmaps.pyramid.reference import (
    from_variables,
    reduced_problem,
    solve_reduced,
)
from explorer.privacy.noise.demonstration import DemonstrationGaussian, DemonstrationNoise
from explorer.studies.base.study import Context, Request, Selection
from explorer.studies.heatmap import text as said
from explorer.studies.heatmap.parameters import GAUSSIAN, PYRAMIDS, TOP, WHOLE


@dataclass
class Stopwatch:
    """Milliseconds spent on each named step."""

    spent: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=lambda: time.perf_counter())

    def lap(self, name: str) -> None:
        """Book the time since the last lap under a name."""
        now = time.perf_counter()
        self.spent[name] = self.spent.get(name, 0.0) + 1e3 * (now - self._last)
        self._last = now

    def resume(self) -> None:
        """Forget the time since the last lap: somebody else spent it."""
        self._last = time.perf_counter()


@dataclass(frozen=True)
class Truth:
    """What only the curator may see: the aggregate and its heatmap as it is drawn."""

    counts: CellCounts
    picture: NDArray[np.float32]


@dataclass(frozen=True)
class Estimate:
    """A mechanism's map before smoothing: few blocks, or a dense grid; and what is said of it."""

    map: SparseMap | NDArray[np.float64]
    epsilon_levels: tuple[tuple[int, float], ...]
    cells_read: int
    objective: float | None = None
    notes: tuple[str, ...] = ()


def true_map(
    selection: Selection,
    points: Any,
    level: int,
    sigma: float,
    context: Context,
    watch: Stopwatch,
) -> Truth:
    """Return the aggregate and its heatmap, kept for as long as neither changes."""
    counts: CellCounts = context.memo(
        ("heatmap counts", selection, level),
        lambda: aggregate(
            points.user, points.lat, points.lon, points.weight, selection.region.box, level
        ),
    )
    watch.lap("aggregate")

    def make() -> NDArray[np.float32]:
        if not counts.users:
            return np.zeros((1 << level, 1 << level), np.float32)
        return smoothing(1 << level, sigma).picture(counts.blocks().normalised())

    picture = context.memo(("heatmap true picture", selection, level, sigma), make)
    watch.lap("true map")
    return Truth(counts, picture)


def run_mechanism(
    request: Request, points: Any, counts: CellCounts, context: Context, watch: Stopwatch
) -> Estimate:
    """Run the mechanism with demonstration noise.

    Mechanisms that differ in what they do with the same noisy counts share their draw, so that a
    difference between their maps is one between the mechanisms.
    """
    mechanism: str = request["mechanism"]
    if mechanism == "least-squares":
        return _least_squares(request, counts, context, watch)
    if mechanism in PYRAMIDS:
        return _pyramid(request, counts, context, watch)
    if mechanism == "dense":
        return _dense(request, counts, context, watch)
    return _leaves(request, points, counts, context, watch)


def _kept_noise(noise: Reader, level: int, codes: Any, context: Context) -> NDArray[np.float64]:
    """Return the noise of all cells of a level, kept until the seed changes."""
    kept: NDArray[np.float64] = context.memo(
        ("heatmap noise", noise, level, np.ndim(codes)), lambda: noise(level, codes)
    )
    context.check()
    return kept


def _leaves(
    request: Request, points: Any, counts: CellCounts, context: Context, watch: Stopwatch
) -> Estimate:
    """Add noise to every cell of the map."""
    epsilon, mechanism, level = request["epsilon"], request["mechanism"], counts.level
    unit_noise: Reader = (
        DemonstrationGaussian(request.seed, "gaussian")
        if mechanism in GAUSSIAN
        else DemonstrationNoise(request.seed, "laplace")
    )
    noise = context.memo(
        ("heatmap noise", unit_noise, level), lambda: unit_noise_grid(level, unit_noise)
    )
    watch.lap("noise")
    if mechanism in GAUSSIAN:
        grid = gaussian_grid(counts, epsilon, request["delta"], noise)
    elif mechanism in WHOLE:
        selection = request.selection
        assert selection is not None
        box = selection.region.box
        votes: CellCounts = context.memo(
            ("heatmap votes", selection.rows, level),
            lambda: one_cell_each(points.user, points.lat, points.lon, points.weight, box, level),
        )
        watch.lap("aggregate")
        grid = discrete_grid(votes, epsilon, noise)
    else:
        grid = laplace_grid(counts, epsilon, noise)
    if mechanism in TOP:
        grid = top_grid(grid, cells_kept(1 << level, request["top_percent"]))
    watch.lap("select")
    levels = ((level, epsilon),)
    total = float(grid.sum())
    if not total > 0:
        uniform = SparseMap.uniform(level)
        return Estimate(uniform, levels, grid.size, notes=(said.ALL_CELLS_EMPTY,))
    return Estimate(grid / total, levels, grid.size)


def _plan(request: Request, level: int) -> Schedule:
    """Return how ε is split over the levels, down to the capped depth if there is one."""
    epsilon, w = request["epsilon"], request["w"]
    if request["mechanism"] == "pyramid":
        return schedule(epsilon, level, w, request["variant"])
    last = depth_cap(epsilon, request["n0"], start_level(w, level), level)
    return schedule(epsilon, level, w, last=last)


def _split(plan: Schedule) -> tuple[tuple[int, float], ...]:
    return tuple((i, plan.epsilon[i]) for i in plan.measured)


def _pyramid(request: Request, counts: CellCounts, context: Context, watch: Stopwatch) -> Estimate:
    plan = _plan(request, counts.level)
    noisy = measure(counts, plan, request["w"], DemonstrationNoise(request.seed, "pyramid"))
    watch.lap("select")
    if request["backend"] == "tree":
        solution = reconstruct(noisy)
    else:
        problem = reduced_problem(noisy)
        solution = from_variables(noisy, problem, context.heavy(solve_reduced, problem))
    watch.lap("solve")
    blocks = solution.blocks().on(counts.level)
    notes = (said.ALL_COUNTS_NEGATIVE,) if blocks.is_uniform else ()
    return Estimate(blocks.normalised(), _split(plan), noisy.draws, solution.objective(), notes)


def _least_squares(
    request: Request, counts: CellCounts, context: Context, watch: Stopwatch
) -> Estimate:
    plan = _plan(request, counts.level)
    noise = DemonstrationNoise(request.seed, "pyramid")
    noisy = measure_levels(
        counts, plan, lambda level, codes: _kept_noise(noise, level, codes, context)
    )
    watch.lap("select")
    context.check()
    found = fit(noisy)
    watch.lap("solve")
    return _of_fitted(found, counts.level, _split(plan), noisy.draws)


def _dense(request: Request, counts: CellCounts, context: Context, watch: Stopwatch) -> Estimate:
    epsilon: float = request["epsilon"]
    noise = DemonstrationNoise(request.seed, "dense")
    noisy = measure_dense(
        counts,
        epsilon,
        request["n0"],
        lambda level, codes: _kept_noise(noise, level, codes, context),
    )
    watch.lap("select")
    found = dense_map(noisy, context.heavy(nearest_map, noisy.values))
    watch.lap("solve")
    return _of_fitted(found, counts.level, ((noisy.level, epsilon),), noisy.values.size)


def _of_fitted(
    found: FittedMap, level: int, split: tuple[tuple[int, float], ...], read: int
) -> Estimate:
    drawn = found.on(level)
    if not isinstance(drawn, SparseMap):
        return Estimate(drawn / found.total, split, read)
    notes = (said.TOTAL_NEGATIVE,) if drawn.is_uniform else ()
    return Estimate(drawn.normalised(), split, read, notes=notes)


def draw(estimate: Estimate, sigma: float, level: int, watch: Stopwatch) -> NDArray[np.float32]:
    """Return the heatmap as it is drawn, in single precision."""
    picture = smoothing(1 << level, sigma).picture(estimate.map)
    watch.lap("filter")
    return picture


def exact_truth(
    selection: Selection, counts: CellCounts, sigma: float, context: Context
) -> NDArray[np.float64]:
    """Return the true heatmap as the estimate is judged by, kept while nothing changes."""
    key = ("heatmap truth", selection, counts.level, sigma)
    filtered = smoothing(1 << counts.level, sigma)
    exact: NDArray[np.float64] = context.memo(
        key, lambda: filtered.exact(counts.blocks().normalised())
    )
    return exact


def exact_estimate(estimate: Estimate, sigma: float, level: int) -> NDArray[np.float64]:
    """Return the estimated heatmap as it is judged, in double precision."""
    return smoothing(1 << level, sigma).exact(estimate.map)
