"""Mechanisms that add noise to all cells of one level: laws, calibration, and dense aggregation."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.heatmaps import (
    CellCounts,
    all_codes,
    dense_map,
    discrete_grid,
    emd_norm,
    from_grid,
    gaussian_epsilon_of_replacement,
    gaussian_grid,
    laplace_grid,
    measure_dense,
    nearest_map,
    one_cell_each,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.baselines import DEEPEST, dense_measurement_level
from explorer.privacy.noise.demonstration import (
    DemonstrationGaussian,
    DemonstrationNoise,
    discrete_laplace_pmf,
    discrete_laplace_quantiles,
    gaussian_sigma,
)

BOX = (10.0, 20.0, 12.0, 24.0)


def test_gaussian_draws_are_standard_normal() -> None:
    """Kolmogorov–Smirnov on 65,536 draws of a fixed seed; false alarm 1e-4."""
    noise = DemonstrationGaussian(5, "gaussian")
    draws = unit_noise_grid(8, noise).ravel()
    assert stats.kstest(draws, "norm").pvalue > 1e-4
    # A cell's draw is the same whatever else is read.
    np.testing.assert_array_equal(noise(8, np.array([77, 3])), noise(8, np.arange(100))[[77, 3]])
    assert not np.array_equal(
        draws, unit_noise_grid(8, DemonstrationGaussian(6, "gaussian")).ravel()
    )


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0, 30.0])
def test_quantiles_have_the_discrete_law(scale: float) -> None:
    """χ² on 65,536 draws of a fixed seed over the values with at least ten expected; 1e-4."""
    laplace = unit_noise_grid(8, DemonstrationNoise(8, "laplace")).ravel()
    draws = discrete_laplace_quantiles(laplace, scale)
    assert (draws == np.rint(draws)).all()
    reach = np.arange(-400, 401)
    expected = discrete_laplace_pmf(reach, scale) * draws.size
    seen = Counter(draws.astype(int).tolist())
    usual = expected >= 10
    inside = np.array([seen[int(k)] for k in reach[usual]])
    observed = np.append(inside, draws.size - inside.sum())
    wanted = np.append(expected[usual], draws.size - expected[usual].sum())
    if wanted[-1] < 1e-6 * draws.size:
        assert observed[-1] == 0
        observed, wanted = observed[:-1], wanted[:-1] * observed[:-1].sum() / wanted[:-1].sum()
    if len(wanted) > 1:
        assert stats.chisquare(observed, wanted).pvalue > 1e-4


@given(st.floats(-37, 37), st.floats(1e-3, 1e3))
def test_quantiles_are_quantiles(x: float, scale: float) -> None:
    """P(|Z| ≥ k) ≥ P(|X| ≥ |x|) > P(|Z| ≥ k+1), up to rounding at the jumps."""
    k = abs(float(discrete_laplace_quantiles(np.array([x]), scale)[0]))
    p = math.exp(-1 / scale)

    def log_tail(k: float) -> float:
        return 0.0 if k == 0 else math.log(2) - k / scale - math.log1p(p)

    assert log_tail(k) >= -abs(x) - 1e-9
    assert log_tail(k + 1) <= -abs(x) + 1e-9


def test_scale_must_be_positive() -> None:
    for scale in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="scale"):
            discrete_laplace_quantiles(np.zeros(1), scale)


def grid_counts() -> CellCounts:
    rng = np.random.default_rng(0)
    return from_grid(np.floor(rng.exponential(0.7, (16, 16))))


def test_leaves_are_counts_plus_noise_or_nothing() -> None:
    counts = grid_counts()
    s = counts.grid()
    normal = unit_noise_grid(4, DemonstrationGaussian(1, "gaussian"))
    laplace = unit_noise_grid(4, DemonstrationNoise(1, "laplace"))
    kept = normal.copy(), laplace.copy()
    for epsilon in (0.1, 1.0, 10.0):
        sigma = gaussian_sigma(epsilon, 1e-6)
        np.testing.assert_allclose(
            gaussian_grid(counts, epsilon, 1e-6, normal), np.maximum(s + sigma * normal, 0)
        )
        np.testing.assert_allclose(
            laplace_grid(counts, epsilon, laplace), np.maximum(s + laplace / epsilon, 0)
        )
        whole = discrete_grid(counts, epsilon, laplace)
        np.testing.assert_array_equal(
            whole, np.maximum(s + discrete_laplace_quantiles(laplace, 1 / epsilon), 0)
        )
        top = top_grid(whole, 5)
        assert np.count_nonzero(top) <= 5
        assert top.max() == whole.max()
    np.testing.assert_array_equal((normal, laplace), kept)


def test_wrong_leaves_are_refused() -> None:
    counts = grid_counts()
    noise = np.zeros((16, 16))
    for epsilon in (0.0, math.inf):
        with pytest.raises(ValueError, match="epsilon"):
            gaussian_grid(counts, epsilon, 1e-6, noise)
        with pytest.raises(ValueError, match="epsilon"):
            discrete_grid(counts, epsilon, noise)
    with pytest.raises(ValueError, match="delta"):
        gaussian_grid(counts, 1.0, 0.0, noise)
    with pytest.raises(ValueError, match="noise"):
        gaussian_grid(counts, 1.0, 0.1, noise[:4])
    with pytest.raises(ValueError, match="votes"):
        discrete_grid(from_grid(np.full((16, 16), 0.5)), 1.0, noise)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_replacing_a_user_under_gaussian_noise(epsilon: float, delta: float) -> None:
    """At the returned ε the least σ for sensitivity √2 is the σ in use: neither more nor less."""
    wider = gaussian_epsilon_of_replacement(epsilon, delta)
    assert epsilon < wider < 2 * epsilon + 1
    assert gaussian_sigma(wider, delta, math.sqrt(2)) == pytest.approx(
        gaussian_sigma(epsilon, delta), rel=1e-6
    )


def test_discrete_noise_is_private_on_every_count() -> None:
    """Odds of every noisy count under neighbouring truths, exactly from the law drawn from."""
    for epsilon in (0.1, 1.0, 10.0):
        reach = np.arange(-30, 31)
        here, there = (
            discrete_laplace_pmf(reach, 1 / epsilon),
            discrete_laplace_pmf(reach - 1, 1 / epsilon),
        )
        odds = np.abs(np.log(here) - np.log(there))
        assert odds.max() == pytest.approx(epsilon)


people = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4), st.integers(1, 3)),
    max_size=40,
)


@given(people, st.integers(0, 5), st.booleans())
def test_every_user_counts_once(rows: list, who: int, weighted: bool) -> None:
    table = np.array(rows, float).reshape(-1, 4)
    user = table[:, 0].astype(np.uint32)
    latitude, longitude = 10.2 + table[:, 1] * 0.5, 20.3 + table[:, 2]
    weight = table[:, 3] if weighted else None

    def votes(some: np.ndarray) -> CellCounts:
        return one_cell_each(
            user[some],
            latitude[some],
            longitude[some],
            None if weight is None else weight[some],
            BOX,
            3,
        )

    every, others = votes(np.ones(len(user), bool)), votes(user != who)
    inside = (latitude <= 12) & (longitude <= 24)
    assert every.users == len(set(user[inside].tolist()))
    assert every.total == every.users
    assert (every.masses == np.rint(every.masses)).all()
    change = every.dense(3) - others.dense(3)
    assert sorted(change)[:-1] == [0] * 63
    assert change.max() == (who in user[inside])
    for u in set(user[inside].tolist()):
        mine = votes(user == u)
        visits: Counter[int] = Counter()
        for i in np.flatnonzero(inside & (user == u)):
            cell = one_cell_each(
                np.zeros(1, int), latitude[i : i + 1], longitude[i : i + 1], None, BOX, 3
            ).codes[0]
            visits[int(cell)] += 1 if weight is None else int(weight[i])
        best = max(visits.values())
        assert mine.codes[0] == min(c for c, times in visits.items() if times == best)


@given(epsilon=st.floats(1e-3, 800), assumed=st.floats(1, 1e9), level=st.integers(0, 12))
def test_dense_level_stays_on_the_grid(epsilon: float, assumed: float, level: int) -> None:
    found = dense_measurement_level(epsilon, assumed, level)
    assert 0 <= found <= min(level, DEEPEST)


def test_dense_aggregation_is_the_nearest_map_to_noisy_counts() -> None:
    counts = grid_counts()
    for seed in range(3):
        noise = DemonstrationNoise(seed, "dense")
        noisy = measure_dense(counts, 1.0, 64, noise)
        assert noisy.level == 3
        np.testing.assert_allclose(
            noisy.values, counts.coarsened(3).grid() + noise(3, all_codes(3))
        )
        found = dense_map(noisy)
        np.testing.assert_array_equal(
            found.masses, dense_map(noisy, nearest_map(noisy.values)).masses
        )
        grid = found.masses[all_codes(3)]
        assert (grid >= 0).all()
        assert grid.sum() == pytest.approx(max(0.0, noisy.values.sum()), abs=1e-6)
        least = emd_norm(grid - noisy.values)
        rng = np.random.default_rng(seed)
        for _ in range(3):
            other = np.maximum(grid + rng.normal(0, 0.3, grid.shape), 0)
            assert emd_norm(other - noisy.values) >= least - 1e-7


def test_dense_aggregation_of_nothing_is_uniform() -> None:
    counts = CellCounts(4, np.zeros(0, np.int64), np.zeros(0), 0, 0)
    for seed in range(20):
        noisy = measure_dense(counts, 1.0, 4, DemonstrationNoise(seed, "dense"))
        if noisy.values.sum() <= 0:
            assert dense_map(noisy).total == 0
            drawn = dense_map(noisy).on(4)
            assert drawn.is_uniform
            return
    pytest.fail("no seed of 20 gave a total below 0, whose probability is 1/2 each")


def test_neighbours_of_dense_counts_have_densities_within_exp_epsilon() -> None:
    rng = np.random.default_rng(7)
    for seed in range(20):
        grid, user = rng.random((16, 16)), rng.dirichlet(np.full(256, 0.05)).reshape(16, 16)
        one, other = from_grid(grid), from_grid(grid + user)
        noisy = measure_dense(one, 0.8, 100, DemonstrationNoise(seed, "dense"))
        shift = np.abs(noisy.values - one.coarsened(noisy.level).grid()) - np.abs(
            noisy.values - other.coarsened(noisy.level).grid()
        )
        assert abs(0.8 * float(shift.sum())) <= 0.8 * (1 + 1e-9)
