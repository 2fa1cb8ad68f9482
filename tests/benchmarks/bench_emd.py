"""Exact grid EMD against HiGHS on the same flow problem; live interval; unequal steps.

Maps: check-ins of even and of odd users of the bundled sample in its region, smoothed with σ = 0.02
of the side, as the heatmap study compares them. Ours: median of calls after warm-up, everything
included. HiGHS: `run()` alone, once, one thread.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

import highspy
import numpy as np
from scipy.ndimage import gaussian_filter

from explorer.privacy.transport.grid import block_interval, grid_emd
from explorer.resources import resource_bytes, samples
from tests.benchmarks.table import Row, at_least, at_most, sized

WIDTH_KM, HEIGHT_KM = 29.5, 38.9
SIDES = (64, 15, 10.0), (128, 7, 20.0), (256, 3, None)
"""Cells a side, how often each is timed, and how much faster than HiGHS it has to be."""


@cache
def _rows() -> np.ndarray:
    lines = gzip.decompress(resource_bytes(samples()[0].file)).decode().splitlines()
    return np.array([line.split("\t")[:4] for line in lines])


def _maps(side: int) -> tuple[np.ndarray, np.ndarray]:
    south, west, north, east = samples()[0].suggested_region
    table = _rows()
    user, lat, lon = table[:, 0].astype(int), table[:, 2].astype(float), table[:, 3].astype(float)
    row = np.floor((lat - south) / (north - south) * side).astype(int)
    column = np.floor((lon - west) / (east - west) * side).astype(int)
    inside = (row >= 0) & (row < side) & (column >= 0) & (column < side)
    maps = []
    for parity in (0, 1):
        chosen = inside & (user % 2 == parity)
        grid = np.zeros((side, side))
        np.add.at(grid, (row[chosen], column[chosen]), 1)
        grid = gaussian_filter(grid, 0.02 * side, mode="constant")
        maps.append(grid / grid.sum())
    return maps[0], maps[1]


def _highs(p: np.ndarray, q: np.ndarray, step: float) -> tuple[float, float]:
    """Return the optimum and the seconds `run()` took."""
    number = np.arange(p.size).reshape(p.shape)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    tails = np.concatenate([t.ravel() for a, b in pairs for t in (a, b)])
    heads = np.concatenate([t.ravel() for a, b in pairs for t in (b, a)])
    arcs = tails.size
    programme = highspy.HighsLp()
    programme.num_col_, programme.num_row_ = arcs, p.size
    programme.col_cost_ = np.full(arcs, step)
    programme.col_lower_ = np.zeros(arcs)
    programme.col_upper_ = np.full(arcs, highspy.kHighsInf)
    programme.row_lower_ = programme.row_upper_ = (p - q).ravel()
    programme.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    programme.a_matrix_.start_ = 2 * np.arange(arcs + 1)
    programme.a_matrix_.index_ = np.stack([tails, heads], axis=1).ravel()
    programme.a_matrix_.value_ = np.tile([1.0, -1.0], arcs)
    solver = highspy.Highs()
    for key, value in {"output_flag": False, "threads": 1, "parallel": "off"}.items():
        solver.setOptionValue(key, value)
    solver.passModel(programme)
    start = time.perf_counter()
    solver.run()
    seconds = time.perf_counter() - start
    return solver.getObjectiveValue(), seconds


def _median_ms(times: int, call: Callable[[], Any]) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - start))
    return median(taken)


def run() -> list[Row]:
    """Measure; the first calls compile."""
    small = _maps(16)
    grid_emd(*small)
    grid_emd(*small, 1.0, 1.3)
    rows = []
    for side, times, faster in sized(SIDES, ((64, 1, 10.0),)):
        p, q = _maps(side)
        exact = grid_emd(p, q)
        ours = _median_ms(times, lambda p=p, q=q: grid_emd(p, q))
        limit = {64: 16.0, 128: 74.0, 256: 700.0}[side]
        rows.append(
            Row(
                f"exact EMD, {side}²", ours, limit, "ms", None, f"gap {exact.gap / exact.value:.0e}"
            )
        )
        if faster is not None:
            value, seconds = _highs(p, q, 1 / side)
            agree = abs(value / exact.value - 1)
            rows.append(
                at_least(
                    f"HiGHS / ours, {side}²",
                    1e3 * seconds / ours,
                    faster,
                    "times",
                    f"HiGHS {seconds:.2f} s, values differ by {agree:.0e}",
                )
            )
        far = grid_emd(p, q, WIDTH_KM / side, HEIGHT_KM / side)
        km = _median_ms(
            times // 2 + 1,
            lambda p=p, q=q, s=side: grid_emd(p, q, WIDTH_KM / s, HEIGHT_KM / s),
        )
        rows.append(
            Row(
                f"exact EMD in km (unequal steps), {side}²",
                km,
                None,
                "ms",
                None,
                f"{km / ours:.1f} × equal steps, gap {far.gap / far.value:.0e}",
            )
        )
    interval = block_interval(p, q)
    live = _median_ms(sized(15, 1), lambda: block_interval(p, q))
    rows.append(
        at_most(
            "live interval at 256², 64² blocks",
            live,
            50.0,
            "ms",
            f"{interval.lower / exact.value - 1:+.1%} … {interval.upper / exact.value - 1:+.1%}",
        )
    )
    return rows
