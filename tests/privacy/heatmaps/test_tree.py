"""The tree solver against linear programming, its feasibility and its tie rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, hstack, vstack

from explorer.privacy.heatmaps import (
    Measurement,
    ReducedProblem,
    children,
    decode,
    descend,
    kappa,
    reconstruct,
    reconstruct_by_reference,
    reduced_problem,
)
from explorer.privacy.heatmaps.reconstruction import Reconstruction

KINDS = ("smooth", "integers", "mostly zero", "negative", "equal", "huge", "tiny")


def random_measurement(rng: np.random.Generator, kind: str) -> Measurement:
    level = int(rng.integers(1, 6))
    start = int(rng.integers(0, min(level, 2) + 1))
    w = int(rng.choice([1, 2, 3, 5, 8, 20, 1000]))

    def read(i: int, cells: np.ndarray) -> np.ndarray:
        n = len(cells)
        match kind:
            case "smooth":
                return rng.normal(1, 4, n)
            case "integers":
                return rng.integers(-2, 4, n).astype(float)
            case "mostly zero":
                return np.where(rng.random(n) < 0.8, 0.0, rng.normal(0, 3, n))
            case "negative":
                return -rng.exponential(1, n)
            case "equal":
                return np.full(n, 2.0)
            case "huge":
                return rng.normal(1e6, 4e6, n)
            case _:
                return rng.normal(1e-7, 4e-7, n)

    return descend(read, start, level, w)


def optimum(problem: ReducedProblem) -> float:
    """The reduced problem's least value, by HiGHS from its textbook form."""
    cells, variables = len(problem.weights), len(problem.costs)
    matrix = coo_array(
        (np.ones(len(problem.rows)), (problem.rows, problem.columns)), shape=(cells, variables)
    )
    unit = max(np.abs(problem.targets).max(), 1e-300)
    target = problem.targets / unit
    over = hstack([matrix, -eye_array(cells)])
    under = hstack([-matrix, -eye_array(cells)])
    result = linprog(
        np.concatenate([problem.costs, problem.weights]),
        A_ub=vstack([over, under]).tocsr(),
        b_ub=np.concatenate([target, -target]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0
    return float(result.fun) * unit


def assert_feasible(solution: Reconstruction) -> None:
    m = solution.measurement
    scale = max(1.0, solution.total)
    for mass in solution.masses:
        assert (mass >= 0).all()
        assert np.isfinite(mass).all()
    for k in range(len(m.codes) - 1):
        parents = solution.masses[k][m.selected[k]]
        below = solution.masses[k + 1].reshape(-1, 4).sum(axis=1)
        np.testing.assert_allclose(below, parents, rtol=1e-12, atol=1e-13 * scale)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_objective_is_the_linear_programs(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(25):
        m = random_measurement(rng, kind)
        solution = reconstruct(m)
        assert_feasible(solution)
        problem = reduced_problem(m)
        best = optimum(problem)
        assert solution.objective() == pytest.approx(best, rel=1e-9, abs=1e-300)
        # The written-out problem gives the same number for the same masses.
        x = np.concatenate(
            [mass[place] for mass, place in zip(solution.masses, problem.places, strict=True)]
        )
        assert problem.objective(x) == pytest.approx(solution.objective(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_start_masses_are_the_positive_parts(kind: str) -> None:
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(20):
        m = random_measurement(rng, kind)
        solution = reconstruct(m)
        np.testing.assert_array_equal(solution.masses[0], np.maximum(m.values[0], 0))
        assert (solution.total == 0) == bool((m.values[0] <= 0).all())
        assert solution.blocks().is_uniform == (solution.total == 0)


def test_no_random_point_beats_it() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        m = random_measurement(rng, "smooth")
        solution, problem = reconstruct(m), reduced_problem(m)
        best = solution.objective()
        x = np.concatenate(
            [mass[place] for mass, place in zip(solution.masses, problem.places, strict=True)]
        )
        for step in (0.01, 0.3, 3.0):
            for _ in range(20):
                other = np.maximum(x + step * rng.normal(size=len(x)), 0)
                assert problem.objective(other) >= best - 1e-9 * (1 + best)


def test_reference_backend_has_the_same_objective() -> None:
    rng = np.random.default_rng(6)
    for kind in KINDS:
        for _ in range(3):
            m = random_measurement(rng, kind)
            reference, ours = reconstruct_by_reference(m), reconstruct(m)
            assert (reference.masses[0] >= 0).all()
            scale = max(1e-300, float(np.abs(np.concatenate(m.values)).max()))
            assert reference.objective() == pytest.approx(
                ours.objective(), rel=1e-6, abs=1e-6 * scale
            )


def test_one_cell_by_hand() -> None:
    """Root 4, one leaf kept with count 1: the leaf takes 1, the rest is shared by all four."""
    m = Measurement(
        1,
        0,
        (np.array([0]), np.arange(4)),
        (np.array([4.0]), np.array([0.2, 1.0, 0.1, -3.0])),
        (np.array([True]), np.array([False, True, False, False])),
    )
    solution = reconstruct(m)
    np.testing.assert_allclose(solution.masses[1], [0.75, 1.75, 0.75, 0.75])
    # 2⁻¹·|1 − 1.75| + κ₁·2.25 with κ₁ = 1 − 1/2.
    assert solution.objective() == pytest.approx(0.5 * 0.75 + 0.5 * 2.25)
    blocks = solution.blocks()
    assert blocks.grid().tolist() == [[0.75, 1.75], [0.75, 0.75]]


def test_ties_share_in_proportion_to_length() -> None:
    """Root 2 over kept leaves that want 1, 3, 0 and −1: mass runs out within a tie of 1 : 3."""
    m = Measurement(
        1,
        0,
        (np.array([0]), np.arange(4)),
        (np.array([2.0]), np.array([1.0, 3.0, 0.0, -1.0])),
        (np.array([True]), np.ones(4, bool)),
    )
    np.testing.assert_allclose(reconstruct(m).masses[1], [0.5, 1.5, 0.0, 0.0])


def test_left_out_mass_is_spread_evenly() -> None:
    m = Measurement(
        2,
        0,
        (np.array([0]), np.arange(4), 4 * 2 + np.arange(4)),
        (np.array([8.0]), np.array([-1.0, -1.0, 0.5, -1.0]), np.zeros(4)),
        (np.array([True]), np.array([False, False, True, False]), np.zeros(4, bool)),
    )
    # Nothing kept below, so that even the kept child's mass has no preference.
    solution = reconstruct(m)
    np.testing.assert_allclose(solution.masses[1], [1.875, 1.875, 2.375, 1.875])
    grid = solution.blocks().grid()
    row, column = decode(np.array([2]))
    assert grid[2 * row[0] : 2 * row[0] + 2, 2 * column[0] : 2 * column[0] + 2] == pytest.approx(
        np.full((2, 2), 2.375 / 4)
    )
    assert grid[0, 0] == pytest.approx(1.875 / 4)
    assert grid.sum() == pytest.approx(8)


def test_kappa_is_the_cost_of_unmeasured_depth() -> None:
    for level in range(8):
        for j in range(level + 1):
            assert kappa(j, level) == pytest.approx(sum(2.0**-i for i in range(j, level + 1)))


def test_children_of_a_selected_cell_are_its_quarters() -> None:
    row, column = decode(children(np.array([5])))
    parent_row, parent_column = decode(np.array([5]))
    assert (row // 2 == parent_row).all()
    assert (column // 2 == parent_column).all()
    assert list(zip(row % 2, column % 2, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
