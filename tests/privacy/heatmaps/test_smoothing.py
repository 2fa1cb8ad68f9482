"""The filter against its definition, in all its ways of being applied; metrics and bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from explorer.privacy.heatmaps import (
    Smoothing,
    SparseMap,
    cells_kept,
    compare,
    from_grid,
    laplace_grid,
    measure,
    pyramid_norm,
    quick_bounds,
    reconstruct,
    schedule,
    smoothing,
    top_grid,
    unit_noise_grid,
)
from explorer.privacy.heatmaps.evaluation import Interval, block_sums, quick_intervals
from explorer.privacy.noise.demonstration import DemonstrationNoise


def by_definition(p: np.ndarray, sigma: float) -> np.ndarray:
    """H(x') = Σ_x p(x) exp(−|x'−x|²/2σ²) / Σ_y exp(−|y−x|²/2σ²), cell by cell."""
    side = len(p)
    at = np.stack(np.meshgrid(*[np.arange(side) / side] * 2, indexing="ij"), -1).reshape(-1, 2)
    kernel = np.exp(-cdist(at, at, "sqeuclidean") / (2 * sigma**2))
    return (kernel / kernel.sum(axis=0) @ p.ravel()).reshape(side, side)


def random_map(side: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    p = rng.exponential(1, (side, side)) * (rng.random((side, side)) < 0.2)
    p[0, 0] = 1
    return p / p.sum()


@pytest.mark.parametrize("side", [1, 2, 8, 16, 32])
@pytest.mark.parametrize("sigma", [0.015, 0.02, 0.1, 0.3, 2.0])
def test_filter_is_its_definition(side: int, sigma: float) -> None:
    p = random_map(side, 1)
    expected = by_definition(p, sigma)
    np.testing.assert_allclose(Smoothing(side, sigma).exact(p), expected, atol=1e-13)
    np.testing.assert_allclose(
        Smoothing(side, sigma).picture(p), expected, atol=2e-6 * expected.max()
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("side", "sigma"),
    [
        *((64, sigma) for sigma in (0.0005, 0.003, 0.008, 0.02, 0.05, 0.2)),
        *((256, 0.003), (512, 0.02), (1024, 0.0005), (1024, 0.2)),
    ],
)
def test_every_way_gives_the_same_map(side: int, sigma: float) -> None:
    filtered = Smoothing(side, sigma)
    p = random_map(side, 2)
    expected = filtered.matrix @ p @ filtered.matrix.T
    peak = expected.max()
    ways = {
        "exact": (filtered.exact(p), 1e-12),
        "picture": (filtered.picture(p), 2e-6),
        "fft": (filtered._by_fft(p), 1e-12),
    }
    for name, (found, error) in ways.items():
        assert found.min() >= 0, name
        np.testing.assert_allclose(found, expected, atol=error * peak, err_msg=name)
        assert found.sum() == pytest.approx(1, rel=1e-4 if name == "picture" else 1e-11)


@pytest.mark.parametrize("sigma", [0.0, 0.004, 0.02, 0.2])
@pytest.mark.parametrize("level", [0, 3, 6, 9])
def test_blocks_need_not_be_drawn(level: int, sigma: float) -> None:
    plan = schedule(2.0, level, 5)
    counts = from_grid(50 * random_map(2**level, 3))
    noisy = measure(counts, plan, 5, DemonstrationNoise(3, "pyramid"))
    blocks = reconstruct(noisy).blocks().normalised()
    assert level < 6 or len(set(blocks.levels.tolist())) > 2
    filtered = Smoothing(2**level, sigma)
    expected = filtered.exact(blocks.grid())
    np.testing.assert_allclose(filtered.exact(blocks), expected, atol=1e-11 * expected.max())
    np.testing.assert_allclose(filtered.picture(blocks), expected, atol=2e-6 * expected.max())


def test_uniform_stays_uniform_inside() -> None:
    uniform = SparseMap.uniform(7)
    picture = smoothing(128, 0.02).exact(uniform)
    assert picture.sum() == pytest.approx(1)
    np.testing.assert_allclose(picture[30:-30, 30:-30], 1 / 128**2, rtol=1e-9)
    assert uniform.is_uniform


def test_no_blur_changes_nothing() -> None:
    p = random_map(16, 4)
    np.testing.assert_array_equal(Smoothing(16, 0.0).exact(p), p)
    assert Smoothing(16, 0.0).exact(p) is not p
    np.testing.assert_array_equal(Smoothing(16, 0.001).exact(p), p)  # 0.016 of a cell


@pytest.mark.parametrize("sigma", [-0.1, math.nan, math.inf])
def test_sigma_is_checked(sigma: float) -> None:
    with pytest.raises(ValueError, match="sigma"):
        Smoothing(8, sigma)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"\(4, 4\)"):
        Smoothing(8, 0.1).exact(np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"\(16, 16\)"):
        Smoothing(8, 0.1).picture(SparseMap.uniform(4))


def test_one_filter_is_kept() -> None:
    assert smoothing(64, 0.02) is smoothing(64, 0.02)


def transport_cost(p: np.ndarray, q: np.ndarray, width: float, height: float) -> float:
    """Optimal transport by its textbook linear program."""
    side = len(p)
    row, column = np.divmod(np.arange(side * side), side)
    cost = (np.abs(column[:, None] - column) * width + np.abs(row[:, None] - row) * height) / side
    n = side * side
    supply = np.kron(np.eye(n), np.ones(n))
    demand = np.kron(np.ones(n), np.eye(n))
    result = linprog(
        cost.ravel(),
        A_eq=np.vstack([supply, demand])[:-1],
        b_eq=np.concatenate([p.ravel() / p.sum(), q.ravel() / q.sum()])[:-1],
    )
    assert result.status == 0
    return float(result.fun)


@pytest.mark.parametrize("sides", [(1.0, 1.0), (3.0, 0.5)])
def test_quick_bounds_hold_the_distance(sides: tuple[float, float]) -> None:
    rng = np.random.default_rng(7)
    for side in (1, 2, 4):
        for _ in range(10):
            p, q = rng.exponential(1, (2, side, side)) * (rng.random((2, side, side)) < 0.6)
            p[0, 0] += 0.1
            q[-1, -1] += 0.1
            bounds, cost = quick_bounds(p, q), transport_cost(p, q, *sides)
            assert bounds.lower(*sides) <= cost + 1e-9
            assert bounds.upper(*sides) >= cost - 1e-9
            unit, scaled = quick_intervals(p, q, *sides)
            assert (scaled.low, scaled.high) == (bounds.lower(*sides), bounds.upper(*sides))
            assert (unit.low, unit.high) == (bounds.lower(), bounds.upper())


def test_quick_bounds_of_two_points() -> None:
    """One cell apart in x within a quarter: both bounds are exact below, twice above."""
    p, q = np.zeros((2, 4, 4))
    p[0, 0] = q[0, 1] = 5.0
    bounds = quick_bounds(p, q)
    assert bounds.lower() == pytest.approx(0.25)
    assert bounds.upper() == pytest.approx(2 * 0.25)  # only leaves differ: 2^-2 · 2
    assert bounds.lower(width=8.0) == pytest.approx(2.0)
    assert quick_bounds(p, p).upper() == 0


def test_pyramid_norm_of_one_leaf_is_below_two() -> None:
    """Errata heat-12: ‖P δ‖₁ = 2 − 2^{−ℓ}, less than the EMD norm 2 of Lemma 3.5."""
    for level in range(6):
        z = np.zeros((2**level, 2**level))
        z[0, 0] = 1
        assert pyramid_norm(z) == pytest.approx(2 - 2.0**-level)


def test_metrics_of_equal_and_of_disjoint_maps() -> None:
    p = random_map(16, 5)
    same = compare(p, 7 * p)
    assert same.similarity == pytest.approx(1)
    assert same.pearson == pytest.approx(1)
    assert same.kl == pytest.approx(0, abs=1e-9)
    one, other = np.zeros((2, 8, 8))
    one[0, 0] = other[7, 7] = 1
    apart = compare(one, other)
    assert apart.similarity == pytest.approx(0)
    assert apart.total_variation == pytest.approx(1)
    assert apart.kl == pytest.approx(52 * math.log(2))
    assert apart.pearson == pytest.approx(-1 / 63)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_metrics_stay_in_their_ranges(seed: int, level: int) -> None:
    p, q = random_map(2**level, seed), random_map(2**level, seed + 1)
    found = compare(p, q)
    assert -1e-12 <= found.similarity <= 1
    assert -1 <= found.pearson <= 1
    assert found.kl >= -1e-9
    assert found.similarity == pytest.approx(1 - found.total_variation)
    # Pinsker's inequality ties the two together.
    assert found.total_variation**2 <= found.kl / 2 + 1e-9


def test_constant_maps_have_no_correlation() -> None:
    assert math.isnan(compare(np.ones((4, 4)), random_map(4, 0)).pearson)


@pytest.mark.parametrize(
    "bad", [np.zeros((4, 4)), -np.ones((4, 4)), np.full((4, 4), np.nan), np.ones((8, 8))]
)
def test_metrics_refuse_what_is_no_map(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="estimate"):
        compare(np.ones((4, 4)), bad)


def test_laplace_baseline_is_the_positive_part() -> None:
    rng = np.random.default_rng(0)
    s = rng.random((16, 16)) * (rng.random((16, 16)) < 0.3)
    noise = unit_noise_grid(4, DemonstrationNoise(1, "laplace"))
    np.testing.assert_allclose(
        laplace_grid(from_grid(s), 0.5, noise), np.maximum(s + noise / 0.5, 0), atol=1e-15
    )
    with pytest.raises(ValueError, match="epsilon"):
        laplace_grid(from_grid(s), 0.0, noise)
    with pytest.raises(ValueError, match="noise"):
        laplace_grid(from_grid(s), 1.0, noise[:8])


@given(st.lists(st.integers(0, 3), min_size=16, max_size=16), st.integers(1, 20))
def test_top_cells_are_the_largest(values: list[int], kept: int) -> None:
    grid = np.array(values, float).reshape(4, 4)
    found = top_grid(grid, kept).ravel()
    order = sorted(range(16), key=lambda c: (-values[c], c))
    expected = np.zeros(16)
    for c in order[:kept]:
        expected[c] = values[c]
    np.testing.assert_array_equal(found, expected)


def test_share_of_cells_is_rounded_up() -> None:
    assert cells_kept(100, 1.0) == 100
    assert cells_kept(256, 0.01) == 7
    assert cells_kept(16, 0.0) == 1
    assert cells_kept(16, 100) == 256
    with pytest.raises(ValueError, match="top_percent"):
        cells_kept(16, 101)


def test_intervals_combine() -> None:
    wide, narrow = Interval(0.1, 0.9), Interval(0.2, 0.5)
    assert wide & narrow == narrow
    assert wide & Interval(0.3, 2.0) == Interval(0.3, 0.9)
    exact = Interval(0.25, 0.25, exact=True)
    assert wide & exact == exact == exact & wide
    assert exact.value == 0.25
    assert wide.value is None


@pytest.mark.parametrize("side", [16, 64, 128, 256])
@pytest.mark.parametrize("sigma", [0.0, 0.0001, 0.02, 0.3])
def test_block_sums_are_those_of_the_whole_heatmap(side: int, sigma: float) -> None:
    filtered = Smoothing(side, sigma)
    level = side.bit_length() - 1
    blocks = SparseMap(
        level,
        np.array([1, 1, 2, level]),
        np.array([0, 1, 8, 4**level - 1]),
        np.array([0.25, 0.125, 0.5, 0.125]),
    )
    for p in (random_map(side, 3), blocks):
        expected = block_sums(filtered.exact(p), 32)
        np.testing.assert_allclose(filtered.block_sums(p, 32), expected, atol=1e-13)
