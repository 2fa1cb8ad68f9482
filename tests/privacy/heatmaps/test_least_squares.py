"""Depth cap and least squares: against a dense solver, unbiased, and private as it runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from explorer.privacy.heatmaps import (
    FittedMap,
    LevelCounts,
    SparseMap,
    all_codes,
    depth_cap,
    fit,
    from_grid,
    least_squares,
    measure,
    measure_levels,
    reconstruct,
    schedule,
    variance_of_fit,
)
from explorer.privacy.heatmaps.least_squares_fit import onto_simplex, onto_simplices
from explorer.privacy.heatmaps.reconstruction import reconstruct_by_reference
from explorer.privacy.noise.demonstration import DemonstrationNoise


def ancestors(start: int, last: int) -> np.ndarray:
    """The matrix of ones from leaves of level `last` to all cells of levels start…last."""
    leaves = np.arange(4**last)
    return np.vstack(
        [
            leaves[None, :] >> 2 * (last - i) == np.arange(4**i)[:, None]
            for i in range(start, last + 1)
        ]
    ).astype(float)


@st.composite
def noisy_trees(draw: st.DrawFn) -> LevelCounts:
    start = draw(st.integers(0, 2))
    depth = draw(st.integers(0, 3 - start))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = tuple(rng.normal(1, 5, 4**i) for i in range(start, start + depth + 1))
    variances = draw(
        st.lists(st.floats(1e-3, 1e3), min_size=depth + 1, max_size=depth + 1).map(tuple)
    )
    return LevelCounts(start, values, variances)


@given(noisy_trees())
def test_two_passes_solve_the_least_squares_problem(noisy: LevelCounts) -> None:
    matrix = ancestors(noisy.start, noisy.last)
    root = np.repeat([v**-0.5 for v in noisy.variances], [len(values) for values in noisy.values])
    leaves, *_ = np.linalg.lstsq(
        matrix * root[:, None], np.concatenate(noisy.values) * root, rcond=None
    )
    fitted = least_squares(noisy)
    np.testing.assert_allclose(np.concatenate(fitted), matrix @ leaves, atol=1e-6)


@given(noisy_trees())
def test_variance_of_the_fit_is_that_of_the_dense_solution(noisy: LevelCounts) -> None:
    matrix = ancestors(noisy.start, noisy.last)
    precision = np.repeat(
        [1 / v for v in noisy.variances], [len(values) for values in noisy.values]
    )
    covariance = matrix @ np.linalg.inv(matrix.T @ (matrix * precision[:, None])) @ matrix.T
    expected, at = [], 0
    for values in noisy.values:
        expected.append(covariance[at, at])
        at += len(values)
    np.testing.assert_allclose(variance_of_fit(noisy.variances), expected, rtol=1e-7)


@given(noisy_trees())
def test_the_fit_is_consistent_and_keeps_consistent_counts(noisy: LevelCounts) -> None:
    fitted = least_squares(noisy)
    for above, below in itertools.pairwise(fitted):
        np.testing.assert_allclose(above, below.reshape(-1, 4).sum(axis=1), atol=1e-9)
    again = least_squares(LevelCounts(noisy.start, fitted, noisy.variances))
    for one, other in zip(fitted, again, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_the_fit_is_unbiased() -> None:
    """Means of 4,000 runs lie within 4.9 standard errors of the truth for all 84 cells.

    False alarm below 84 · 1e-6. The standard error is that of `variance_of_fit`, so too small a
    variance would be found as well.
    """
    rng = np.random.default_rng(5)
    truth = [rng.exponential(3, 64)]
    for _ in range(2):
        truth.insert(0, truth[0].reshape(-1, 4).sum(axis=1))
    plan = schedule(1.0, 3, 4)
    variances = tuple(2 / plan.epsilon[i] ** 2 for i in plan.measured)
    runs = 4000
    total = [np.zeros_like(t) for t in truth]
    for _ in range(runs):
        values = tuple(
            t + rng.laplace(0, 1 / plan.epsilon[i], t.shape)
            for i, t in zip(plan.measured, truth, strict=True)
        )
        for kept, fitted in zip(
            total, least_squares(LevelCounts(1, values, variances)), strict=True
        ):
            kept += fitted
    for t, kept, variance in zip(truth, total, variance_of_fit(variances), strict=True):
        assert np.abs(kept / runs - t).max() <= 4.9 * (variance / runs) ** 0.5


@given(
    arrays(float, st.tuples(st.integers(1, 20), st.just(4)), elements=st.floats(-50, 50)),
    st.integers(0, 2**32),
)
def test_projections_are_the_nearest_points(values: np.ndarray, seed: int) -> None:
    totals = np.random.default_rng(seed).exponential(5, len(values))
    found = onto_simplices(values, totals)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), totals, rtol=1e-9, atol=1e-9)
    for row, total, ours in zip(values, totals, found, strict=True):
        np.testing.assert_allclose(onto_simplex(row, total), ours, atol=1e-9)
        # Optimal iff what was taken off is the same wherever something is left, and less nowhere.
        moved = row - ours
        level = moved[ours > 0].max(initial=-np.inf)
        assert np.allclose(moved[ours > 0], level, atol=1e-9)
        assert (moved[ours == 0] <= level + 1e-9).all()


def test_a_projection_agrees_with_a_quadratic_program() -> None:
    import cvxpy as cp

    rng = np.random.default_rng(6)
    for _ in range(5):
        row, total = rng.normal(0, 3, 4), float(rng.exponential(4))
        x = cp.Variable(4, nonneg=True)
        cp.Problem(cp.Minimize(cp.sum_squares(x - row)), [cp.sum(x) == total]).solve(
            solver=cp.CLARABEL
        )
        np.testing.assert_allclose(
            onto_simplices(row[None], np.array([total]))[0], x.value, atol=1e-5
        )


def test_a_total_of_nothing_leaves_nothing() -> None:
    values = np.array([[3.0, -1.0, 0.0, 2.0]])
    np.testing.assert_array_equal(onto_simplices(values, np.zeros(1)), np.zeros((1, 4)))


def counts_for(level: int, seed: int = 0, users: int = 60):
    rng = np.random.default_rng(seed)
    grid = np.zeros((2**level, 2**level))
    at = np.clip(rng.normal(0.4, 0.2, (users, 2)) * 2**level, 0, 2**level - 1).astype(int)
    np.add.at(grid, tuple(at.T), 1.0)
    return from_grid(grid)


@given(
    level=st.integers(0, 7),
    w=st.integers(1, 100),
    assumed=st.floats(1e-3, 1e6),
    epsilon=st.floats(1e-3, 800),
    seed=st.integers(0, 2**64),
)
def test_mass_is_conserved_and_never_negative(
    level: int, w: int, assumed: float, epsilon: float, seed: int
) -> None:
    counts = counts_for(level)
    q = schedule(epsilon, level, w).q
    plan = schedule(epsilon, level, w, last=depth_cap(epsilon, assumed, q, level))
    assert sum(plan.epsilon) == pytest.approx(epsilon, rel=1e-14)
    assert all(e == 0 for e in plan.epsilon[plan.last + 1 :])
    noise = DemonstrationNoise(seed, "pyramid")
    noisy = measure_levels(counts, plan, noise)
    assert noisy.draws == sum(4**i for i in plan.measured)
    fitted_total = float(least_squares(noisy)[0].sum())
    found = fit(noisy)
    assert (found.masses >= 0).all()
    assert found.total == pytest.approx(max(0.0, fitted_total), rel=1e-9, abs=1e-9)
    drawn = found.on(level)
    grid = drawn.grid() if isinstance(drawn, SparseMap) else drawn
    assert grid.shape == (2**level, 2**level)
    assert grid.sum() == pytest.approx(found.total if found.total > 0 else 1.0, rel=1e-9)
    lazy = measure(counts, plan, w, noise)
    assert lazy.level == plan.last
    capped = reconstruct(lazy)
    blocks = capped.blocks()
    if not blocks.is_uniform:
        assert blocks.masses.sum() == pytest.approx(capped.total, rel=1e-9)
    assert blocks.on(level).grid().shape == grid.shape


def test_noise_is_the_same_draw_for_both_reconstructions() -> None:
    """Lazy and dense read the same noise: the same seed, mechanism, level and Morton code."""
    counts = counts_for(5)
    plan = schedule(0.7, 5, 20, last=4)
    noise = DemonstrationNoise(3, "pyramid")
    dense, lazy = measure_levels(counts, plan, noise), measure(counts, plan, 20, noise)
    for k, codes in enumerate(lazy.codes):
        np.testing.assert_allclose(dense.values[k][codes], lazy.values[k], atol=1e-9)


def test_the_capped_program_is_solved_exactly() -> None:
    """κ and weights with L in place of ℓ: against the linear program (40 trees)."""
    for seed in range(40):
        level, last = 5, 2 + seed % 3
        plan = schedule(0.5, level, [4, 7, 20][seed % 3], last=last)
        m = measure(counts_for(level, seed), plan, 7, DemonstrationNoise(seed, "pyramid"))
        ours, reference = reconstruct(m), reconstruct_by_reference(m)
        assert ours.objective() == pytest.approx(reference.objective(), rel=1e-6, abs=1e-7)


def test_flat_below_the_cap() -> None:
    masses = np.arange(16.0)
    found = FittedMap(2, masses)
    grids = []
    for level in (2, 3, 5):
        drawn = found.on(level)
        grids.append(drawn.grid() if isinstance(drawn, SparseMap) else drawn)
    np.testing.assert_array_equal(grids[0], masses[all_codes(2)])
    for grid, times in zip(grids[1:], (2, 8), strict=True):
        np.testing.assert_allclose(grid, np.kron(grids[0], np.ones((times, times))) / times**2)
    with pytest.raises(ValueError, match="level"):
        found.on(1)


def test_many_cells_come_as_a_grid() -> None:
    rng = np.random.default_rng(0)
    found = FittedMap(6, rng.exponential(1, 4**6))
    drawn = found.on(7)
    assert isinstance(drawn, np.ndarray)
    np.testing.assert_allclose(drawn[::2, ::2] * 4, found.masses[all_codes(6)])


def test_depth_by_the_fixed_number_of_users() -> None:
    assert [depth_cap(e, 200, 2, 8) for e in (0.1, 0.5, 1, 2, 5, 10)] == [2, 3, 4, 4, 5, 5]
    assert depth_cap(1.0, 127, 2, 8) == 3
    assert depth_cap(1.0, 128, 2, 8) == 4
    assert depth_cap(1e-300, 1e-300, 2, 8) == 2
    assert depth_cap(800.0, 1e300, 2, 8) == 8


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0.0, 1, 0, 1), "epsilon"), ((1.0, 0, 0, 1), "assumed_users"), ((1.0, 1, 2, 1), "q")],
)
def test_depth_names_what_is_wrong(arguments: tuple, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        depth_cap(*arguments)


def test_schedules_refuse_levels_that_are_not_there() -> None:
    for last in (1, 9):
        with pytest.raises(ValueError, match=r"^last:"):
            schedule(1.0, 8, 20, last=last)
    with pytest.raises(ValueError, match=r"^level:"):
        measure_levels(counts_for(3), schedule(1.0, 4, 4), DemonstrationNoise(0, "pyramid"))


@given(seed=st.integers(0, 2**32), w=st.sampled_from([1, 4, 20]), last=st.integers(2, 4))
def test_neighbouring_data_have_densities_within_exp_epsilon(seed: int, w: int, last: int) -> None:
    """Log-densities of everything drawn change by at most ε when one user is added (exact)."""
    rng = np.random.default_rng(seed)
    grid, user = rng.random((16, 16)), rng.dirichlet(np.full(256, 0.05)).reshape(16, 16)
    one, other = from_grid(grid), from_grid(grid + user)
    plan = schedule(0.9, 4, w, last=last)
    noisy = measure_levels(one, plan, DemonstrationNoise(seed, "pyramid"))
    loss = 0.0
    for i, values in zip(plan.measured, noisy.values, strict=True):
        loss += plan.epsilon[i] * float(
            np.sum(np.abs(values - one.dense(i)) - np.abs(values - other.dense(i)))
        )
    assert abs(loss) <= 0.9 * (1 + 1e-9)


def test_an_enormous_epsilon_returns_the_truth() -> None:
    counts = counts_for(4)
    plan = schedule(1e7, 4, 20, last=4)
    drawn = fit(measure_levels(counts, plan, DemonstrationNoise(1, "pyramid"))).on(4)
    grid = drawn.grid() if isinstance(drawn, SparseMap) else drawn
    np.testing.assert_allclose(grid, counts.grid(), atol=1e-4)
