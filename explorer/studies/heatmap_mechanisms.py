"""The true heatmap and the mechanisms' estimates of it, as the heatmap study runs them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps import (
    CellCounts,
    SparseMap,
    aggregate,
    cells_kept,
    laplace_grid,
    measure,
    reconstruct,
    schedule,
    smoothing,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.reference import from_variables, reduced_problem, solve_reduced
from explorer.privacy.noise import DemonstrationNoise
from explorer.studies import heatmap_statements as said
from explorer.studies.model import Context, Request, Selection


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
    request: Request, counts: CellCounts, context: Context, watch: Stopwatch
) -> Estimate:
    """Run the mechanism with demonstration noise."""
    epsilon: float = request["epsilon"]
    if request["mechanism"] == "pyramid":
        return _pyramid(request, counts, context, watch)
    # Both baselines share their noise, so that thresholding is the only difference seen.
    unit_noise = DemonstrationNoise(request.seed, "laplace")
    noise = context.memo(
        ("heatmap noise", unit_noise, counts.level),
        lambda: unit_noise_grid(counts.level, unit_noise),
    )
    watch.lap("noise")
    grid = laplace_grid(counts, epsilon, noise)
    if request["mechanism"] == "top":
        grid = top_grid(grid, cells_kept(1 << counts.level, request["top_percent"]))
    watch.lap("select")
    levels = ((counts.level, epsilon),)
    total = float(grid.sum())
    if not total > 0:
        uniform = SparseMap.uniform(counts.level)
        return Estimate(uniform, levels, grid.size, notes=(said.ALL_CELLS_EMPTY,))
    return Estimate(grid / total, levels, grid.size)


def _pyramid(request: Request, counts: CellCounts, context: Context, watch: Stopwatch) -> Estimate:
    plan = schedule(request["epsilon"], counts.level, request["w"], request["variant"])
    noisy = measure(counts, plan, request["w"], DemonstrationNoise(request.seed, "pyramid"))
    watch.lap("select")
    if request["backend"] == "tree":
        solution = reconstruct(noisy)
    else:
        problem = reduced_problem(noisy)
        solution = from_variables(noisy, problem, context.heavy(solve_reduced, problem))
    watch.lap("solve")
    blocks = solution.blocks()
    levels = tuple((i, plan.epsilon[i]) for i in range(plan.start, plan.level + 1))
    notes = (said.ALL_COUNTS_NEGATIVE,) if blocks.is_uniform else ()
    return Estimate(blocks.normalised(), levels, noisy.draws, solution.objective(), notes)


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
