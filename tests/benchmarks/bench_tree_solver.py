"""The tree solver against HiGHS and cvxpy on the same reduced problems.

Instances: 200 users of clustered check-ins, Δ = 256, w = 20, ε from 0.5 to 5. HiGHS's time is
`run()` alone on one thread, without building the model; cvxpy's is `solve()` of a parametrised
problem after its first, compiling solve. Ours is `reconstruct` from the noisy counts.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, eye_array, hstack

from explorer.privacy.heatmaps import (
    CellCounts,
    Measurement,
    ReducedProblem,
    aggregate,
    measure,
    reconstruct,
    reduced_problem,
    schedule,
)
from explorer.privacy.noise.demonstration import DemonstrationNoise
from tests.benchmarks.table import Row, at_least, at_most, sized

EPSILONS = sized((0.5, 1.0, 2.0, 5.0), (1.0,))
SEEDS = range(sized(5, 1))


def clustered_counts(level: int, users: int = 200, seed: int = 0) -> CellCounts:
    """Return check-ins of users who move around a handful of places each."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), rng.geometric(0.03, users))
    homes = rng.normal(0.5, 0.13, (users, 2))
    at = np.clip(homes[user] + rng.normal(0, 0.02, (len(user), 2)), 0, 1)
    return aggregate(user, at[:, 0], at[:, 1], None, (0.0, 0.0, 1.0, 1.0), level)


def matrix_of(problem: ReducedProblem) -> csc_array:
    """Return M, cells × variables."""
    shape = (len(problem.weights), len(problem.costs))
    ones = np.ones(len(problem.rows))
    return coo_array((ones, (problem.rows, problem.columns)), shape=shape).tocsc()


def highs_model(problem: ReducedProblem) -> Any:
    """Return a HiGHS instance with min w·(a + b) + κ·x, M x + a − b = t, all ≥ 0."""
    import highspy

    cells = len(problem.weights)
    matrix = hstack([matrix_of(problem), eye_array(cells), -eye_array(cells)]).tocsc()
    columns = matrix.shape[1]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, cells
    lp.col_cost_ = np.concatenate([problem.costs, problem.weights, problem.weights])
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    lp.row_lower_ = lp.row_upper_ = problem.targets
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    return highs


def cvxpy_problem(problem: ReducedProblem) -> tuple[Any, Any]:
    """Return a parametrised cvxpy problem and its parameter, the noisy counts."""
    import cvxpy

    x = cvxpy.Variable(len(problem.costs), nonneg=True)
    targets = cvxpy.Parameter(len(problem.targets))
    misfit = cvxpy.multiply(problem.weights, targets - matrix_of(problem) @ x)
    return cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(misfit) + problem.costs @ x)), targets


def milliseconds(run: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - start)


def run() -> list[Row]:
    """Measure every instance with all three solvers in turn."""
    counts = clustered_counts(8)
    ours, highs_times, cvxpy_times, worst = [], [], [], 0.0
    gc.disable()
    try:
        for epsilon in EPSILONS:
            for seed in SEEDS:
                noisy = measure(
                    counts, schedule(epsilon, 8, 20), 20, DemonstrationNoise(seed, "pyramid")
                )
                ours.append(_tree_time(noisy))
                problem = reduced_problem(noisy)
                times = []
                for _ in range(3):
                    highs = highs_model(problem)
                    times.append(milliseconds(highs.run))
                highs_times.append(median(times))
                best = highs.getInfo().objective_function_value
                worst = max(worst, abs(reconstruct(noisy).objective() - best) / max(1.0, best))
                if seed == 0:
                    cvxpy_times.append(_cvxpy_time(problem))
    finally:
        gc.enable()
    tree, lp, cp = median(ours), median(highs_times), median(cvxpy_times)
    return [
        at_most("tree solver, Δ=256, w=20, 200 users", tree, 1.0, "ms", "plain Python, median"),
        at_least("… times faster than highspy run()", lp / tree, 3.0, "×", f"HiGHS {lp:.2f} ms"),
        at_least("… times faster than cvxpy solve()", cp / tree, 8.0, "×", f"cvxpy {cp:.2f} ms"),
        at_most("… objective against HiGHS, largest relative gap", worst, 1e-9, ""),
    ]


def _tree_time(noisy: Measurement) -> float:
    return median(milliseconds(lambda: reconstruct(noisy)) for _ in range(15))


def _cvxpy_time(problem: ReducedProblem) -> float:
    import cvxpy

    task, targets = cvxpy_problem(problem)
    targets.value = problem.targets
    task.solve(solver=cvxpy.HIGHS)  # compiles
    rng = np.random.default_rng(0)
    times = []
    for _ in range(3):
        # Other counts every time: solving the same ones again would start at their solution.
        targets.value = problem.targets + rng.laplace(0, 1, len(problem.targets))
        times.append(milliseconds(lambda: task.solve(solver=cvxpy.HIGHS)))
    return median(times)
