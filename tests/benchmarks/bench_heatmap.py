"""What a slider frame of the heatmap study computes, without a window.

One context for all frames, as in the window: aggregation and true map are kept, the noise of the
baselines too; ε takes 60 values. Times are medians of the first result (the picture) and of the
second (its metrics), after one warm-up frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from statistics import median, quantiles
from types import MappingProxyType
from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.heatmaps import aggregate
from explorer.studies.base.study import Fidelity, Selection, default_request
from explorer.studies.heatmap.study import HeatmapStudy
from tests.benchmarks.table import Row, at_most, sized
from tests.studies.test_heatmap import FakePoints

REGION = Region(40.5, -74.3, 41.0, -73.6)


class Bench:
    """A data set of clustered users, and the least a study needs of whoever runs it."""

    synthetic = True
    names: Mapping[str, str] = MappingProxyType({})

    def __init__(self, users: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        user = np.repeat(np.arange(users), rng.geometric(0.03, users))
        homes = rng.normal(0.5, 0.13, (users, 2))
        at = np.clip(homes[user] + rng.normal(0, 0.02, (len(user), 2)), 0, 1)
        lat, lon = 40.5 + 0.5 * at[:, 0], -74.3 + 0.7 * at[:, 1]
        self._points = FakePoints(user, lat, lon, None, users, users, users)
        self._kept: dict[object, Any] = {}

    def points(self, *_: Any) -> FakePoints:
        return self._points

    def check(self) -> None:
        """Nobody cancels."""

    def checkins(self, selection: Selection) -> Bench:
        return self

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        raise AssertionError("no coarse frame needs another process")


def frames(key: str, values: list[float], **fixed: Any) -> tuple[list[float], list[float]]:
    """Return milliseconds to the picture and to the metrics for every value of one slider."""
    study, bench = HeatmapStudy(), Bench(200)
    pictures, metrics = [], []
    for value in [values[0], *values]:
        request = replace(
            default_request(study, **{**fixed, key: value}),
            selection=Selection("0" * 64, REGION),
            fidelity=Fidelity.COARSE,
        )
        start = time.perf_counter()
        stream = study.answer(request, bench)
        next(stream)
        pictures.append(1e3 * (time.perf_counter() - start))
        # A map that is drawn coarser than asked has its metrics only at rest.
        if next(stream, None) is not None:
            metrics.append(1e3 * (time.perf_counter() - start))
    return pictures[1:], metrics[1:]


def run() -> list[Row]:
    """Measure frames of every mechanism, and the aggregation before the first."""
    epsilons = np.geomspace(0.1, 10, sized(60, 2)).tolist()
    rows = []
    mechanisms = ("pyramid", "capped", "least-squares", "laplace", "top", "gaussian", "integers")
    for side, limit in sized(((256, 4.0), (1024, 30.0)), ((64, 4.0),)):
        for mechanism in mechanisms:
            # With so many assumed users least squares fits up to eight or nine levels.
            fixed = {"n0": 100_000} if mechanism == "least-squares" else {}
            pictures, metrics = frames(
                "epsilon", epsilons, resolution=side, mechanism=mechanism, **fixed
            )
            note = f"p95 {quantiles(pictures, n=20)[-1]:.2f}"
            if metrics:
                note += f"; with metrics {median(metrics):.1f}"
            rows.append(
                at_most(f"picture, {mechanism}, Δ={side}", median(pictures), limit, "ms", note)
            )
    sigmas = np.linspace(0.015, 0.05, sized(30, 2)).tolist()
    for side, limit in sized(((256, 16.0), (1024, 66.0)), ((64, 16.0),)):
        pictures, _ = frames("sigma", sigmas, resolution=side)
        rows.append(
            at_most(f"both pictures while σ moves, Δ={side}", median(pictures), limit, "ms")
        )
    rng = np.random.default_rng(1)
    n = sized(100_000, 1_000)
    user, lat, lon = rng.integers(0, 5000, n), rng.random(n), rng.random(n)
    once = partial(aggregate, user, lat, lon, None, (0.0, 0.0, 1.0, 1.0), 8)
    times = []
    for _ in range(sized(9, 1)):
        start = time.perf_counter()
        once()
        times.append(1e3 * (time.perf_counter() - start))
    rows.append(at_most("aggregation of 100,000 check-ins, Δ=256", median(times), 8.0, "ms"))
    return rows
