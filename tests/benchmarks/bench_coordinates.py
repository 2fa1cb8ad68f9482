"""Bayesian coordinate DP: drawing reports, against the normals alone and the printed mechanism."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from explorer.privacy import coordinates as co
from explorer.studies.coordinate_mean.simulation import simulate
from tests.benchmarks.table import Row, at_least, at_most, sized

USERS, D = sized(100_000, 500), 10


def _median(call: Callable[[], object], repeats: int = 7) -> float:
    if sized(True, False):  # warm
        call()
    times = []
    for _ in range(sized(repeats, 1)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _as_printed(x: np.ndarray, c: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mechanisms 1 and 2 step by step: one uniform point of a half-sphere a channel and user."""
    n, d = x.shape
    reports, weights = np.zeros((n, d)), np.zeros(d)
    before = 0.0
    for k in range(d):
        alpha, before = c[k] - before, c[k]
        if alpha == 0.0:
            continue
        v, m = x[:, k:], d - k
        r = np.sqrt(m)
        radius = float(co.m_ldp_radius(m, r, alpha))
        towards = 2.0 * (rng.random(n) < 1.0 / (1.0 + np.exp(-alpha))) - 1.0
        norms = np.linalg.norm(v, axis=1)
        flip = 2.0 * (rng.random(n) < 0.5 + norms / (2.0 * r)) - 1.0
        target = (flip * r / norms)[:, None] * v
        z = rng.standard_normal((n, m))
        z = z / np.linalg.norm(z, axis=1, keepdims=True)
        side = np.sign((z * target).sum(axis=1)) * towards
        z = radius * side[:, None] * z
        weight = alpha**2 / m
        reports[:, k:] += weight * z
        weights[k:] += weight
    return reports / weights


def _first_and_last(study_id: str, whole: bool = True, **values: object) -> tuple[float, float]:
    """Return the median times to a study's first and, if `whole`, to its last answer.

    Nothing is remembered.
    """
    from explorer.studies.base.study import default_request, default_sweep
    from explorer.studies.registry import get_study
    from tests.studies.context import Context

    study = get_study(study_id)
    firsts, lasts = [], []
    for repeat in range(sized(6, 1)):
        request = default_request(study, **values)
        if sized(False, True):
            request = replace(request, sweep=default_sweep(study, request.sweep.key, 3))
        start = time.perf_counter()
        answers = study.answer(request, Context())
        given = [next(answers)]
        first = time.perf_counter() - start
        if whole:
            given += answers
        if repeat or sized(False, True):
            firsts.append(first)
            lasts.append(time.perf_counter() - start)
        assert given[-1].complete or not whole, study_id
    return statistics.median(firsts), statistics.median(lasts)


def answers() -> list[Row]:
    """Time the three studies in the window's place, worker processes left out."""
    mean = _first_and_last("coordinate-mean")
    learnt = _first_and_last("coordinate-learnt")
    regression = _first_and_last("private-regression", whole=False)
    return [
        at_most("coordinate-mean, first curves over q", 1e3 * mean[0], 40.0, "ms"),
        at_most("  all curves, 100 points", 1e3 * mean[1], 1000.0, "ms"),
        at_most("coordinate-learnt, tests of a coordinate, 100 points", 1e3 * learnt[1], 8.0, "ms"),
        at_most("private-regression, Theorem 3 over n", 1e3 * regression[0], 40.0, "ms"),
    ]


def run() -> list[Row]:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, (USERS, D))
    c = np.repeat([0.09, 0.77], [2, 8])
    draws = [np.empty((4096, m)) for m in (10, 8)]

    def normals() -> None:
        for _ in range(USERS // 4096 + 1):
            for block in draws:
                rng.standard_normal(out=block)

    ours = _median(lambda: co.m_mean(x, c, rng))
    alone = _median(normals)
    printed = _median(lambda: _as_printed(x, c, rng))
    rows = [
        at_most("M_mean, n = 1e5, d = 10, two levels", ours, 0.12, "s"),
        Row("  against drawing its 1.8e6 normals alone", ours / alone, None, "×", None),
        at_least("  faster than Mechanism 2 as printed", printed / ours, 1.0, "×"),
    ]
    # d = 100 with all budgets distinct: 5050 normals a user, unless budgets are rounded.
    small, wide = sized((2_000, 100), (50, 10))
    x = rng.uniform(-1.0, 1.0, (small, wide))
    c = np.linspace(0.1, 3.0, wide)
    rounding = _median(lambda: co.best_nested_rounding(c, 8), 3)
    rounded = co.best_nested_rounding(c, 8)
    full = _median(lambda: co.m_mean(x, c, rng), 3)
    fast = _median(lambda: co.m_mean(x, rounded, rng), 3)
    gain = float(co.m_mean_mse(0.0, c, 1.0) / co.m_mean_mse(0.0, rounded, 1.0, "optimal"))
    trials = _median(lambda: simulate(0.1, sized(20, 1), rng), 3) * 50
    q = np.linspace(0.0, 1.0, sized(200, 3))
    rows += [
        Row("Figure 3 as drawn, 1000 trials of 1e4 users (20 timed)", trials, None, "s", None),
        at_most("round 100 distinct budgets to at most 8 levels", rounding, 2.0, "s"),
        at_least("M_mean, d = 100: speed gained by rounding", full / fast, 4.0, "×"),
        at_least("  and error of all distinct ÷ rounded", gain, 1.0, "×"),
        at_most(
            "best budgets under the exact constraint, 200 values of q",
            _median(lambda: co.best_two_levels(10, 2, 0.2, 2.0, q), 3),
            2.0,
            "s",
        ),
        at_most(
            "best disjoint design, 200 values of q",
            _median(lambda: co.best_two_levels_disjoint(10, 2, 0.2, 2.0, q), 3),
            2.0,
            "s",
        ),
    ]
    return rows + answers()
