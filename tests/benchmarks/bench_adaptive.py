"""Frames of the adaptive quadtree, and how much faster they are than a tree walked cell by cell."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    CellCounts,
    adaptive_budgets,
    adaptive_tree,
    aggregate,
    fit_adaptive,
)
from tests.benchmarks.table import Row, at_least, at_most, sized
from tests.privacy.heatmaps.adaptive_reference import reference_map

LEVEL, REPEATS = sized(8, 5), 15


def check_ins(users: int) -> CellCounts:
    """Clustered users on a 256 × 256 grid."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(users), rng.geometric(0.03, users))
    homes = rng.normal(0.5, 0.13, (users, 2))
    lat, lon = np.clip(homes[user] + rng.normal(0, 0.02, (len(user), 2)), 0, 1).T
    return aggregate(user, lat, lon, None, (0.0, 0.0, 1.0, 1.0), LEVEL)


def milliseconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Median processor time of one call."""
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - start))
    return median(times)


def run() -> list[Row]:
    """Measure flat frames, smoothing, and both ways over the same tree."""
    rows = []
    noise = AdaptiveDemonstrationNoise(1)
    for users, epsilon in ((200, 1.0), (200, 10.0), (7000, 1.0), (7000, 10.0)):
        counts, budgets = check_ins(users), adaptive_budgets(epsilon, 2, LEVEL)

        def frame(counts=counts, budgets=budgets) -> Any:
            return fit_adaptive(adaptive_tree(counts, budgets, noise), LEVEL)

        fitted, draws = frame(), adaptive_tree(counts, budgets, noise).draws
        name = f"n={users}, ε={epsilon:g}, Δ=256"
        flat = milliseconds(lambda frame=frame: frame().flat())
        rows.append(at_most(f"flat frame, {name}", flat, 6.0, "ms", f"{draws} draws"))
        rows.append(at_most(f"smoothing at rest, {name}", milliseconds(fitted.smooth), 10.0, "ms"))
    grid = counts.grid()
    drawn = {
        (level, draw, code): value
        for level in range(2, LEVEL + 1)
        for draw in (0, 1)
        for code, value in enumerate(noise(level, draw, np.arange(4**level)).tolist())
    }
    peer = milliseconds(
        lambda: reference_map(grid, budgets, lambda *key: drawn[key], 10.0), repeats=3
    )
    rows.append(at_least("times faster than cell by cell in Python", peer / flat, 5.0, "×"))
    return rows
