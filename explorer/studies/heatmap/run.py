"""Counts of the true heatmap, and the mechanisms of one curator that estimate it.

The table of `explorer.studies.heatmap.mechanisms` names the functions from `Task` to `Estimate`.
Counts of data larger than memory are summed over shards, on a cluster where there is one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.checkins.layout import ARRAYS, Layout
from explorer.checkins.memory import allow_files
from explorer.checkins.selection import SelectedRows, ShardedRows
from explorer.geography.region import Region
from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    AdaptiveTree,
    Budgets,
    CellCounts,
    FittedMap,
    Measurement,
    Schedule,
    SparseMap,
    UserCells,
    adaptive_budgets,
    adaptive_tree,
    aggregate,
    cells_kept,
    check_threshold,
    dense_map,
    depth_cap,
    discrete_grid,
    fit,
    fit_adaptive,
    flatness_statistic,
    gaussian_grid,
    laplace_grid,
    measure,
    measure_dense,
    measure_levels,
    measured_levels,
    nearest_map,
    prior_densities,
    prior_map,
    reconstruct,
    schedule,
    smoothing,
    start_level,
    top_grid,
    unit_noise_grid,
    user_cells,
)
from explorer.privacy.heatmaps.adaptive_quadtree import FLATNESS_THRESHOLDS
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution, from_rows, sum_by_code
from explorer.privacy.heatmaps.evaluation import block_sums
from explorer.privacy.heatmaps.measurement import Reader
from explorer.privacy.heatmaps.reconstruction import (
    from_variables,
    reduced_problem,
    solve_reduced,
)
from explorer.privacy.heatmaps.row_pass import (
    CountedRows,
    FirstUsers,
    compile_pass,
    count_rows,
    mass_bits,
)
from explorer.privacy.noise.demonstration import DemonstrationGaussian, DemonstrationNoise
from explorer.studies.base.numbers import format_number
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Context, Fidelity, Overlay, Request, Selection
from explorer.studies.heatmap import text
from explorer.studies.heatmap.contributions import requested_rule
from explorer.studies.heatmap.mechanisms import INTERPOLATION, mechanism_of, used_releases
from explorer.studies.heatmap.priors import Prior, priors_of
from explorer.studies.heatmap.public import PRIOR_WEIGHT

ELSEWHERE_S = 0.5
"""Counting that takes less than this many seconds here is not sent to a cluster."""

TASKS_A_WORKER = 4

_OPEN = 512
"""Shards that a worker keeps open."""
LIVE_LEVEL = 9
"""Finest level of maps while a slider is dragged, and of those whose metrics are computed then:
finer ones take longer than a frame and follow once the sliders rest."""


def drawn_level(request: Request, level: int) -> int:
    """Return the level of the pictures of a map."""
    return min(level, LIVE_LEVEL) if request.fidelity is Fidelity.COARSE else level


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
    """True counts and their heatmap as it is drawn; for the curator only."""

    counts: CellCounts
    picture: NDArray[np.float32]


@dataclass(frozen=True)
class Estimate:
    """A mechanism's map before smoothing, as few blocks or a dense grid, with its notes."""

    map: SparseMap | NDArray[np.float64]
    epsilon_levels: tuple[tuple[int, float], ...]
    cells_read: int
    objective: float | None = None
    notes: tuple[str, ...] = ()
    made_of_noise: tuple[tuple[str, float], ...] = ()
    """Further functions of noisy counts, by the keys of `explorer.studies.heatmap.public`."""
    overlay: Overlay | None = None


@dataclass(frozen=True)
class Task:
    """Input of a mechanism: request, counts, context and stopwatch.

    `given` are priors that are ready; without them they are made of what the request names.
    """

    request: Request
    points: Any
    counts: CellCounts
    context: Context
    watch: Stopwatch
    given: tuple[Prior, ...] | None = None

    @property
    def epsilon(self) -> float:
        """The ε of the whole map."""
        return float(self.request["epsilon"])

    def kept_noise(self, noise: Reader, level: int, codes: Any) -> NDArray[np.float64]:
        """Return the noise of all cells of a level, kept until the seed changes."""
        cached_noise: NDArray[np.float64] = self.context.cached(
            ("heatmap noise", noise, level, np.ndim(codes)), lambda: noise(level, codes)
        )
        self.context.check()
        return cached_noise

    def priors(self) -> tuple[Prior, ...]:
        """Return the public priors that the request names, on the cells of the map."""
        if self.given is not None:
            return self.given
        selection = self.request.selection
        assert selection is not None
        whole = selection.unit is Unit.USER and not selection.sampled
        if not whole and used_releases(self.request):
            raise ValueError(
                "prior_release: an earlier release protects every user in it, this map rows or a "
                "sample; leave the release out, or take all users"
            )
        priors = priors_of(
            dict(self.request.values),
            selection.region,
            self.counts.level,
            self.context,
            selection.data,
        )
        self.watch.lap("priors")
        return priors

    def votes(self) -> CellCounts:
        """Return every user counted once, in the cell that `one_cell_each` finds."""
        counted = Counted.of_request(self.request)
        once = replace(counted, rule=replace(counted.rule, weights="one-cell"))
        counts = counts_of(once, self.points, self.counts.level, self.context)
        self.watch.lap("aggregate")
        return counts

    def visits(self) -> UserCells:
        """Return the cells of every user, for mechanisms that each user runs alone."""
        counted, points, level = Counted.of_request(self.request), self.points, self.counts.level
        cells: UserCells = self.context.cached(
            ("heatmap visits", counted, level),
            lambda: user_cells(
                points.user,
                points.lat,
                points.lon,
                points.weight,
                counted.rows.region.box,
                level,
                counted.rule,
                counted.rows.region.step,
            ),
        )
        self.watch.lap("aggregate")
        return cells


def points_of(selection: Selection, context: Context) -> Any:
    """Return the check-ins of a selection, read once."""
    data = context.checkins(selection)
    rows = selection.rows
    return context.cached(
        ("heatmap points", rows),
        lambda: data.points(
            rows.region.box,
            rows.start,
            rows.end,
            rows.users,
            rows.data_seed,
            rows.exact_share,
            context.check,
            rows.image,
            rows.region.polygon,
        ),
    )


@dataclass(frozen=True)
class Counted:
    """Which check-ins are counted, and how: what counts and all that is made of them are kept for.

    Attributes
    ----------
    rows : Selection
        From `Selection.rows`.
    rule : Contribution
        What one user contributes.
    """

    rows: Selection
    rule: Contribution = BY_CHECKINS

    @classmethod
    def of_request(cls, request: Request) -> Counted:
        """Return what a request's true map counts."""
        assert request.selection is not None
        return cls(request.selection.rows, requested_rule(request))


def counts_of(counted: Counted, points: Any, level: int, context: Context) -> CellCounts:
    """Return what lies in the cells of a level, counted once."""
    region = counted.rows.region

    def count() -> CellCounts:
        if isinstance(points, ShardedRows):
            return count_shards(points, region, level, counted.rule, context)
        plain = isinstance(points, SelectedRows) and counted.rule == BY_CHECKINS
        if plain and points.selection.layout.weight is None:
            return counted_points(points, level, context)
        return aggregate(
            points.user,
            points.lat,
            points.lon,
            points.weight,
            region.box,
            level,
            counted.rule,
            region.step,
        )

    counts: CellCounts = context.cached(("heatmap counts", counted, level), count)
    return counts


def counted_points(points: SelectedRows, level: int, context: Context) -> CellCounts:
    """Return the aggregate of check-ins that weigh the same, without taking out any row."""
    part, bits = points.selection, mass_bits(points.users_in_file)
    begin = time.perf_counter()
    counted = points.cached(FirstUsers).count(
        part.layout.rows, part.where, level, part.most, part.among, bits, context.check
    )
    whole = (part.most, part.among) == (None, None)
    seconds = time.perf_counter() - begin if whole else 0.0  # else most rows are not looked at
    points.record_counts(counted.present, counted.used, counted.rows, seconds)
    return from_rows(counted)


def true_map(
    counted: Counted,
    points: Any,
    level: int,
    drawn: int,
    sigma: float,
    context: Context,
    watch: Stopwatch,
) -> Truth:
    """Return the aggregate and, on some level, its heatmap; kept while neither changes."""
    counts = counts_of(counted, points, level, context)
    watch.lap("aggregate")

    def make() -> NDArray[np.float32]:
        if not counts.users:
            return np.zeros((1 << drawn, 1 << drawn), np.float32)
        shown = counts.blocks().coarsened(drawn).normalised()
        return smoothing(1 << drawn, sigma).picture(shown)

    picture = context.cached(("heatmap true picture", counted, level, drawn, sigma), make)
    watch.lap("true map")
    return Truth(counts, picture)


def run_mechanism(task: Task) -> Estimate:
    """Run the mechanism of a request, with demonstration noise.

    Mechanisms that differ in what they do with the same noisy counts share their draw, so that a
    difference between their maps is one between the mechanisms.
    """
    estimate: Estimate = resolve_name(mechanism_of(task.request).run)(task)
    return estimate


def laplace(task: Task) -> Estimate:
    """Add Laplace noise to every cell of the map."""
    noise = _noise_grid(task, DemonstrationNoise(task.request.seed, "laplace"))
    return _of_cells(task, laplace_grid(task.counts, task.epsilon, noise))


def gaussian(task: Task) -> Estimate:
    """Add Gaussian noise to every cell of the map."""
    noise = _noise_grid(task, DemonstrationGaussian(task.request.seed, "gaussian"))
    return _of_cells(task, gaussian_grid(task.counts, task.epsilon, task.request["delta"], noise))


def discrete_laplace(task: Task) -> Estimate:
    """Count every user once, and add whole-number noise to every cell of the map."""
    noise = _noise_grid(task, DemonstrationNoise(task.request.seed, "laplace"))
    return _of_cells(task, discrete_grid(task.votes(), task.epsilon, noise))


def _noise_grid(task: Task, unit_noise: Reader) -> NDArray[np.float64]:
    """Return noise of scale 1 for every cell of the map, kept until the seed changes."""
    level = task.counts.level
    noise: NDArray[np.float64] = task.context.cached(
        ("heatmap noise", unit_noise, level), lambda: unit_noise_grid(level, unit_noise)
    )
    task.watch.lap("noise")
    return noise


def _of_cells(task: Task, grid: NDArray[np.float64]) -> Estimate:
    """Return the map of noisy cells, or of the largest share of them."""
    level = task.counts.level
    if "top_percent" in mechanism_of(task.request).uses:
        grid = top_grid(grid, cells_kept(1 << level, task.request["top_percent"]))
    task.watch.lap("select")
    return of_grid(task, grid)


def of_grid(task: Task, grid: NDArray[np.float64]) -> Estimate:
    """Return the map of cells that are not negative, row 0 south."""
    level = task.counts.level
    levels = ((level, task.epsilon),)
    total = float(grid.sum())
    if not total > 0:
        uniform = SparseMap.uniform(level)
        return Estimate(uniform, levels, grid.size, notes=(text.ALL_CELLS_EMPTY,))
    return Estimate(grid / total, levels, grid.size)


def pyramid(task: Task) -> Estimate:
    """Run the paper's algorithm: ever finer cells down to those of the map."""
    request = task.request
    return _measure_and_reconstruct(
        task, schedule(task.epsilon, task.counts.level, request["w"], request["variant"])
    )


def run_capped(task: Task) -> Estimate:
    """Run the paper's algorithm down to the level that the assumed number of users allows."""
    return _measure_and_reconstruct(task, _cap(task))


def least_squares(task: Task) -> Estimate:
    """Measure all cells down to the capped depth, and fit them."""
    plan, noise = _cap(task), DemonstrationNoise(task.request.seed, "pyramid")
    noisy = measure_levels(task.counts, plan, partial(task.kept_noise, noise))
    task.watch.lap("select")
    task.context.check()
    fitted = fit(noisy)
    task.watch.lap("solve")
    return _of_fitted(fitted, task.counts.level, _split(plan), noisy.draws)


def dense(task: Task) -> Estimate:
    """Measure the cells of one level, which the assumed number of users sets."""
    noise = partial(task.kept_noise, DemonstrationNoise(task.request.seed, "dense"))
    noisy = measure_dense(task.counts, task.epsilon, task.request["n0"], noise)
    task.watch.lap("select")
    fitted = dense_map(noisy, task.context.run_in_worker(nearest_map, noisy.values))
    task.watch.lap("solve")
    levels = ((noisy.level, task.epsilon),)
    return _of_fitted(fitted, task.counts.level, levels, noisy.values.size)


def _cap(task: Task) -> Schedule:
    """Return how ε is split over the levels down to the capped depth."""
    epsilon, level, w = task.epsilon, task.counts.level, task.request["w"]
    last = depth_cap(epsilon, task.request["n0"], start_level(w, level), level)
    return schedule(epsilon, level, w, last=last)


def _split(plan: Schedule) -> tuple[tuple[int, float], ...]:
    return tuple((i, plan.epsilon[i]) for i in plan.measured)


def _measure_and_reconstruct(task: Task, plan: Schedule) -> Estimate:
    """Measure as the schedule says, and return the map nearest to the counts."""
    noise = DemonstrationNoise(task.request.seed, "pyramid")
    noisy = measure(task.counts, plan, task.request["w"], noise)
    return reconstructed(task, plan, noisy)


def reconstructed(task: Task, plan: Schedule, noisy: Measurement) -> Estimate:
    """Return the map nearest to noisy counts."""
    request, watch = task.request, task.watch
    watch.lap("select")
    if request["backend"] == "tree":
        solution = reconstruct(noisy)
    else:
        problem = reduced_problem(noisy)
        solution = from_variables(
            noisy, problem, task.context.run_in_worker(solve_reduced, problem)
        )
    watch.lap("solve")
    blocks = solution.blocks().on(task.counts.level)
    notes = (text.ALL_COUNTS_NEGATIVE,) if blocks.is_uniform else ()
    return Estimate(blocks.normalised(), _split(plan), noisy.draws, solution.objective(), notes)


def _of_fitted(
    fitted: FittedMap, level: int, split: tuple[tuple[int, float], ...], cells_read: int
) -> Estimate:
    grid = fitted.on(level)
    if not isinstance(grid, SparseMap):
        return Estimate(grid / fitted.total, split, cells_read)
    notes = (text.TOTAL_NEGATIVE,) if grid.is_uniform else ()
    return Estimate(grid.normalised(), split, cells_read, notes=notes)


def draw(estimate: Estimate, sigma: float, level: int, watch: Stopwatch) -> NDArray[np.float32]:
    """Return the heatmap as it is drawn on a level, in single precision."""
    shown = estimate.map
    if isinstance(shown, SparseMap):
        shown = shown.coarsened(level)
    elif len(shown) > 1 << level:
        shown = block_sums(shown, 1 << level)
    picture = smoothing(1 << level, sigma).picture(shown)
    watch.lap("filter")
    return picture


def exact_truth(
    counted: Counted, counts: CellCounts, sigma: float, context: Context
) -> NDArray[np.float64]:
    """Return the true heatmap as the estimate is judged by, kept while nothing changes."""
    key = ("heatmap truth", counted, counts.level, sigma)
    filtered = smoothing(1 << counts.level, sigma)
    exact: NDArray[np.float64] = context.cached(
        key, lambda: filtered.exact(counts.blocks().normalised())
    )
    return exact


def exact_estimate(estimate: Estimate, sigma: float, level: int) -> NDArray[np.float64]:
    """Return the estimated heatmap as it is judged, in double precision."""
    return smoothing(1 << level, sigma).exact(estimate.map)


def count_shards(
    points: ShardedRows,
    region: Region,
    level: int,
    rule: Contribution,
    context: Context,
) -> CellCounts:
    """Return the aggregate of all shards: the same whole numbers as of one layout.

    Parameters
    ----------
    points : ShardedRows
        No user is in two of its parts.
    region : Region
    level : int
    rule : Contribution
    context : Context
        Asked before every shard whether to go on, and for a cluster where there is much to count.
    """
    parts = points.parts
    if rule == BY_CHECKINS and all(part.selection.layout.weight is None for part in parts):
        counted = _count_on_cluster(points, level, context)
        return from_rows(counted or counted_rows(parts, level, context.check))
    pieces = []
    for part in parts:
        context.check()
        columns = (part.user, part.lat, part.lon, part.weight)
        pieces.append(aggregate(*columns, region.box, level, rule, region.step))
    codes = np.concatenate([piece.codes for piece in pieces])
    order = np.argsort(codes, kind="stable")
    masses = np.concatenate([piece.masses for piece in pieces])[order]
    users, rows = sum(p.users for p in pieces), sum(p.rows for p in pieces)
    return CellCounts(level, *sum_by_code(codes[order], masses), users, rows)


def counted_rows(
    parts: Sequence[SelectedRows], level: int, check: Callable[[], None] = lambda: None
) -> CountedRows:
    """Return what a pass over the rows of all shards finds."""
    bits = mass_bits(parts[0].users_in_file)
    cells: Any = np.zeros(4**level, np.int64)
    present = used = rows = 0
    for points in parts:
        check()
        begin, part = time.perf_counter(), points.selection
        counted = count_rows(part.layout.rows, part.where, level, part.most, part.among, bits)
        points.record_counts(
            counted.present, counted.used, counted.rows, time.perf_counter() - begin
        )
        cells += counted.cells
        present, used, rows = present + counted.present, used + counted.used, rows + counted.rows
    return CountedRows(cells, bits, present, used, rows)


def _count_on_cluster(points: ShardedRows, level: int, context: Context) -> CountedRows | None:
    """Return the counts of a cluster; None if there is none, or too little to count."""
    places, bits = points.places, mass_bits(points.users_in_file)
    if not places or points.seconds < ELSEWHERE_S:
        return None
    shared = {"where": points.parts[0].selection.where, "level": level, "bits": bits}

    def tasks(workers: int) -> list[dict[str, Any]]:
        count = min(len(places), TASKS_A_WORKER * workers)
        bounds = [len(places) * i // count for i in range(count + 1)]
        return [
            {**shared, "first": first, "places": [str(place) for place in places[first:last]]}
            for first, last in pairwise(bounds)
        ]

    pieces = context.map_on_cluster(count_piece, tasks, places)
    if pieces is None:
        return None
    cells: Any = np.zeros(4**level, np.int64)
    for _, (first, numbers, piece_cells) in pieces:
        cells += piece_cells
        for part, counts in zip(points.parts[first:], numbers, strict=False):
            part.record_counts(*counts)
    totals = points.users_in_region, points.users_used, points.rows
    return CountedRows(cells, bits, *totals)


def count_piece(task: dict[str, Any]) -> tuple[int, list[tuple[int, int, int]], Any]:
    """Return the number of the first of some shards, what is in each, and their cells (a task)."""
    with suppress(ImportError):  # without numba it counts in numpy
        compile_pass()
    cells: Any = np.zeros(4 ** task["level"], np.int64)
    numbers = []
    for place in task["places"]:
        rows = _open(Path(place)).rows
        counted = count_rows(rows, task["where"], task["level"], bits=task["bits"])
        cells += counted.cells
        numbers.append((counted.present, counted.used, counted.rows))
    return task["first"], numbers, cells


@lru_cache(maxsize=_OPEN)
def _open(place: Path) -> Layout:
    """Return a shard of a folder that is never written to; its sums are checked once."""
    allow_files(_OPEN * len(ARRAYS))
    return Layout.open(place)


SMOOTH_AT_ONCE = 7
"""Finest level whose map is smoothed while a slider moves; finer ones, which take 5 to 400 ms, are
smoothed at rest."""
PRIOR_AT_ONCE = 9
"""The same for maps with a prior or interpolation: 3 to 9 ms at 256 × 256."""
FALSE_ALARM = 0.01


@dataclass(frozen=True)
class _Grown:
    """An adaptive tree and the budgets it was read with."""

    tree: AdaptiveTree
    budgets: Budgets

    def estimate(self, grid: NDArray[np.float64], total: float, *lost: str) -> Estimate:
        """Return a map of the tree; remarks `lost` are made where nothing is left of the counts."""
        flatness, notes = _flatness(self.tree, self.budgets)
        return Estimate(
            grid,
            tuple(enumerate(self.budgets.spent, self.tree.start)),
            self.tree.draws,
            notes=(*(() if total > 0 else lost), *notes),
            made_of_noise=(("noisy_users", total), *flatness),
        )


def _grown(task: Task) -> _Grown:
    """Split cells where noisy counts show mass.

    Raises
    ------
    ValueError
        If the threshold is too low for the share: nothing is read then.
    """
    request, level = task.request, task.counts.level
    start, last = measured_levels(level, request["q"], request["L"])
    budgets = adaptive_budgets(task.epsilon, start, last, request["rho"])
    tau = _threshold(request["tau"], budgets)
    tree = adaptive_tree(task.counts, budgets, AdaptiveDemonstrationNoise(request.seed), tau)
    task.watch.lap("select")
    task.context.check()
    return _Grown(tree, budgets)


def adaptive(task: Task) -> Estimate:
    """Grow a tree, fit it, and smooth the map inside its leaves; raises as `_grown`."""
    grown, level = _grown(task), task.counts.level
    fitted = fit_adaptive(grown.tree, level)
    task.watch.lap("solve")
    live = task.request.fidelity is Fidelity.COARSE
    interpolates = task.request["smoothing"] == INTERPOLATION
    if live and level > (PRIOR_AT_ONCE if interpolates else SMOOTH_AT_ONCE):
        grid = fitted.flat()
    elif interpolates:
        grid = prior_map(grown.tree, prior_densities([], level, grown.tree.start)).grid
    else:
        grid = fitted.smooth()
    task.watch.lap("smooth")
    return grown.estimate(grid, fitted.total, text.TOTAL_NEGATIVE)


def adaptive_prior(task: Task) -> Estimate:
    """Grow a tree, and make its map with public priors.

    Raises
    ------
    ValueError
        As `_grown`; if a prior is no good, before anything is read.
    LookupError
        If the file of a prior is not open.
    """
    priors, level = task.priors(), task.counts.level
    grown = _grown(task)
    if task.request.fidelity is Fidelity.COARSE and level > PRIOR_AT_ONCE:
        fitted = fit_adaptive(grown.tree, level)
        return grown.estimate(fitted.flat(), fitted.total, text.TOTAL_NEGATIVE)
    start = grown.tree.start
    densities = task.context.cached(
        ("prior densities", tuple(prior.key for prior in priors), level, start),
        lambda: prior_densities([prior.masses for prior in priors], level, start),
    )
    found = prior_map(grown.tree, densities)
    task.watch.lap("solve")
    estimate = grown.estimate(found.grid, found.total, text.PRIOR_ALONE)
    weights = found.prior_weights if priors else {}
    told = [(f"{PRIOR_WEIGHT}{level}", weight) for level, weight in weights.items()]
    finest = [("prior_weight", weight) for weight in list(weights.values())[-1:]]
    return replace(estimate, made_of_noise=(*estimate.made_of_noise, *finest, *told))


def _threshold(tau: float, budgets: Budgets) -> float:
    """Return τ, or refuse it in the words of the parameters."""
    try:
        check_threshold(tau, budgets)
    except ValueError as error:
        rho = budgets.spent[0] / budgets.left[0]
        raise ValueError(
            f"tau: τ = {format_number(tau)} is too low for ρ = {format_number(rho)}: empty cells "
            "would be split without end; raise τ or ρ"
        ) from error
    return tau


def _flatness(
    tree: AdaptiveTree, budgets: Budgets
) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Return the statistic of the test for a flat map, and its note; empty without one."""
    first = tree.levels[0].first
    threshold = FLATNESS_THRESHOLDS.get((len(first), FALSE_ALARM))
    if threshold is None:
        return (), ()
    statistic = flatness_statistic(first, budgets.of(tree.start, 0))
    return (("flatness", statistic),), (
        text.NOT_FLAT if statistic > threshold else text.MAYBE_FLAT,
    )
