"""Variation of a private map between draws: error per cell and percentiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.studies.base.study import Context, Selection, Tasks
from explorer.studies.heatmap.parameters import ERROR, QUANTILES
from explorer.studies.heatmap.run import Task, draw, run_mechanism

DRAWS = 20
SHOWN_AFTER = (3, 8, DRAWS)
"""Numbers of draws after which the maps of their errors and percentiles are shown."""
MANY_CELLS = 1 << 20
"""Beyond, percentiles are computed in strips, as all at once takes hundreds of megabytes."""


@dataclass(frozen=True)
class WithoutNoise(Context):
    """A context that keeps no noise: a draw that comes once would push out what comes again."""

    context: Context

    def check(self) -> None:
        """Raise `Cancelled` as the context within does."""
        self.context.check()

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run work elsewhere."""
        return self.context.run_in_worker(function, *args)

    @property
    def workers(self) -> int:
        """How many tasks run at the same time."""
        return self.context.workers

    def map_in_workers(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks elsewhere."""
        return self.context.map_in_workers(function, tasks)

    def map_on_cluster(
        self, function: Callable[[Any], Any], tasks: Tasks, places: Sequence[Path]
    ) -> Iterator[tuple[int, Any]] | None:
        """Run tasks on a cluster."""
        return self.context.map_on_cluster(function, tasks, places)

    def checkins(self, selection: Selection) -> Any:
        """Return the open check-ins."""
        return self.context.checkins(selection)

    def file(self, value: str) -> Path:
        """Return where an open file is."""
        return self.context.file(value)

    def checkins_of_file(self, value: str, *, public: bool = False) -> Any:
        """Return the check-ins in an open file."""
        return self.context.checkins_of_file(value, public=public)

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return cached values, but draw noise anew."""
        noise = isinstance(key, tuple) and key[0] == "heatmap noise"
        return make() if noise else self.context.cached(key, make)


def maps_of_draws(
    task: Task, names: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, NDArray[np.float32]]]]:
    """Yield the number of draws and the maps of errors and percentiles, after ever more draws.

    The draws are those of the task's seed and the ones that follow it. ``error`` is the standard
    deviation of a cell over draws (n − 1 in the denominator): what noise does to it, without what
    the mechanism gets wrong on average; ``p10``, ``p50`` and ``p90`` are percentiles, cell by cell,
    and sum to nothing in particular.
    """
    context = WithoutNoise(task.context)
    seed, sigma, level = task.request.seed, task.request["sigma"], task.counts.level
    levels = {name: QUANTILES[name] for name in names if name in QUANTILES}
    pictures: list[NDArray[np.float32]] = []
    mean, squares = (np.zeros((1 << level, 1 << level)) for _ in range(2))
    for number in range(1, DRAWS + 1):
        request = replace(task.request, seed=seed + number - 1)
        estimate = run_mechanism(replace(task, request=request, context=context))
        picture = draw(estimate, sigma, level, task.watch)
        task.context.check()
        if levels:
            pictures.append(picture)
        # Welford: one pass, and no difference of large numbers.
        off = picture - mean
        mean += off / number
        squares += off * (picture - mean)
        task.watch.lap("draws")
        if number not in SHOWN_AFTER:
            continue
        maps = {}
        if ERROR in names:
            maps[ERROR] = np.sqrt(squares / (number - 1)).astype(np.float32)
        maps.update(_percentiles(pictures, levels, task.context.check))
        task.watch.lap("draws")
        yield number, maps
        task.watch.resume()


def _percentiles(
    pictures: list[NDArray[np.float32]], levels: dict[str, float], check: Callable[[], None]
) -> dict[str, NDArray[np.float32]]:
    """Return percentiles of equally large pictures, cell by cell."""
    if not levels:
        return {}
    side = len(pictures[0])
    strip = max(1, min(side, MANY_CELLS // side // 4))
    maps = {name: np.empty_like(pictures[0]) for name in levels}
    for top in range(0, side, strip):
        rows = slice(top, top + strip)
        quantiles = np.quantile([p[rows] for p in pictures], list(levels.values()), axis=0)
        for name, values in zip(levels, quantiles, strict=True):
            maps[name][rows] = values
        check()
    return maps
