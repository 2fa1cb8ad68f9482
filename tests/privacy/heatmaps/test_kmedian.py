"""Private k-median: resolution, the coreset's promise, planted clusters through the noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import SparseMap, emd_norm, from_grid, schedule
from explorer.privacy.heatmaps.clustering import (
    as_points,
    cluster,
    clustering_bound,
    coreset_error,
    coreset_order,
    data_cost,
    distances,
    k_median,
    k_median_cost,
    median_level,
    private_coreset,
)
from explorer.privacy.heatmaps.theory import median_cost, noise_term
from explorer.privacy.noise.demonstration import DemonstrationNoise
from tests import snapshots


@pytest.mark.parametrize(
    ("epsilon", "users", "k", "level"),
    [(1.0, 200, 4, 7), (1.0, 256, 4, 7), (1.0, 257, 4, 8), (0.1, 10, 25, 0), (1.0, 1024, 1, 10)],
)
def test_resolution_is_the_mended_one(epsilon, users, k, level):
    assert median_level(epsilon, users, k) == level


@given(st.floats(1e-6, 100), st.integers(1, 10**6), st.integers(1, 1000))
def test_cells_cost_at_most_root_k_over_epsilon(epsilon, users, k):
    level = median_level(epsilon, users, k)
    side = 2**level
    if level < 24:
        assert users / side <= math.sqrt(k) / epsilon * (1 + 1e-9)
    if level:
        assert users / (side / 2) > math.sqrt(k) / epsilon * (1 - 1e-9)


def test_deepest_level_is_capped():
    assert median_level(800.0, 10**12, 1) == 24


def test_points_of_a_map_keep_its_mass_and_cost():
    # A leaf, a block of 2 × 2 leaves and one of 16 × 16 on a 32 × 32 grid.
    blocks = SparseMap(5, np.array([5, 4, 1]), np.array([3, 9, 3]), np.array([2.0, 1.0, 5.0]))
    rng = np.random.default_rng(1)
    for split in (1, 2, 8, 16):
        x = as_points(blocks, split)
        assert x.weights.sum() == pytest.approx(8)
        assert len(x.points) == 1 + min(2, split) ** 2 + min(16, split) ** 2
        for _ in range(20):
            centres = rng.random((3, 2))
            # The dense cost has cells at their corners: the same picture moved by half a leaf.
            exact = median_cost(blocks.grid(), centres - 0.5 / 32)
            assert abs(k_median_cost(x.points, x.weights, centres) - exact) <= x.slack + 1e-12
    assert as_points(blocks, 16).slack == 0.0
    with pytest.raises(ValueError, match="split: 3 is not a") as error:
        as_points(blocks, 3)
    snapshots.check(error.value)


def test_cost_of_the_data_is_the_dense_cost():
    rng = np.random.default_rng(2)
    grid = rng.poisson(0.4, (16, 16)).astype(float)
    centres = rng.random((3, 2))
    assert data_cost(from_grid(grid), centres) == pytest.approx(
        median_cost(grid, centres - 0.5 / 16)
    )


@pytest.mark.parametrize("seed", range(5))
def test_costs_differ_by_no_more_than_the_distance_of_the_maps(seed):
    """The one inequality Corollary A.1 rests on, for any centres."""
    rng = np.random.default_rng(seed)
    grid = np.zeros((16, 16))
    grid[rng.integers(0, 16, 6), rng.integers(0, 16, 6)] = rng.integers(5, 50, 6)
    counts, plan = from_grid(grid), schedule(1.0, 4, 12, "theory")
    coreset = private_coreset(counts, plan, 12, DemonstrationNoise(seed, "pyramid"))
    apart = emd_norm(grid - coreset.grid())
    x = as_points(coreset, 16)
    for _ in range(30):
        centres = rng.random((int(rng.integers(1, 6)), 2))
        cost = k_median_cost(x.points, x.weights, centres)
        assert abs(data_cost(counts, centres) - cost) <= apart + 1e-9


@pytest.mark.parametrize("variant", ["theory", "experiments"])
def test_expected_error_is_within_the_bound_for_sparse_data(variant):
    """Two cells, w = 20: nothing is left out, and all of the difference is noise."""
    grid = np.zeros((64, 64))
    grid[5, 9], grid[50, 40] = 120.0, 80.0
    counts, plan = from_grid(grid), schedule(1.0, 6, 20, variant)
    centres = np.array([[0.1, 0.15], [0.8, 0.6]])
    found = []
    for seed in range(40):
        x = as_points(private_coreset(counts, plan, 20, DemonstrationNoise(seed, "pyramid")), 8)
        cost = k_median_cost(x.points, x.weights, centres)
        found.append(abs(cost - data_cost(counts, centres)))
    bound = coreset_error(plan, 20, 200)
    assert bound.role is Role.UPPER
    above = {"theory": 1 / 64, "experiments": (1 + 1 / 2 + 1 / 64) * 16}[variant]
    expected = float(noise_term(plan, 20).value) + above / plan.epsilon[plan.start] + 200 / 64
    assert float(bound.value) == pytest.approx(expected)
    assert np.mean(found) <= float(bound.value)


@pytest.mark.full
@pytest.mark.parametrize(("k", "epsilon"), [(5, 4.0)])
def test_planted_clusters_survive_the_noise(k, epsilon):
    rng = np.random.default_rng(k)
    n = 4000
    truth = np.array([[0.2, 0.2], [0.8, 0.25], [0.5, 0.8], [0.15, 0.7], [0.85, 0.9]])[:k]
    level = median_level(epsilon, n, k)
    points = truth[rng.integers(0, k, n)] + rng.normal(0, 0.01, (n, 2))
    side = 2**level
    cells = np.clip((points * side).astype(int), 0, side - 1)
    grid = np.zeros((side, side))
    np.add.at(grid, tuple(cells.T), 1.0)
    counts, w = from_grid(grid), 4 * k
    plan = schedule(epsilon, level, w)
    coreset = private_coreset(counts, plan, w, DemonstrationNoise(1, "pyramid"))
    private = cluster(coreset, k, rng)
    apart = distances(private.centres, truth)
    assert sorted(np.argmin(apart, axis=0).tolist()) == list(range(k))
    assert apart.min(axis=0).max() < 0.03
    best = k_median(points, np.ones(n), k, rng)
    paid = data_cost(counts, private.centres)
    assert best.cost * 0.9 <= paid
    assert paid <= float(
        clustering_bound(best.cost, 1.0, 0.0, coreset_error(plan, w, n).value).value
    )


def test_nothing_positive_still_has_centres():
    counts, plan = from_grid(np.zeros((8, 8))), schedule(0.01, 3, 1, "experiments")
    for seed in range(30):
        coreset = private_coreset(counts, plan, 1, DemonstrationNoise(seed, "pyramid"))
        if coreset.is_uniform:
            break
    assert coreset.is_uniform
    found = cluster(coreset, 4, np.random.default_rng(0))
    # Four centres of a flat square: no more than an eighth off the optimum, .25.
    assert 0.2 < found.cost < 0.3


def test_orders_and_bounds():
    order = coreset_order([1.0, 2.0], 16)
    assert order.role is Role.ESTIMATE
    np.testing.assert_allclose(order.value, [4.0, 2.0])
    exact = clustering_bound(10.0, 2.0, 0.5, 1.0).value
    assert exact == pytest.approx((2 * (1.5 * 10 + 1) + 1) / 0.5)
    assert float(clustering_bound(10.0, 1.0, 0.0, 0.0).value) == 10.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: median_level(0.0, 1, 1), "epsilon: 0 is outside"),
        (lambda: median_level(1.0, 0, 1), "assumed_users: 0 is outside"),
        (lambda: median_level(1.0, 1, 0), "k: 0 is outside"),
        (lambda: coreset_error(schedule(1.0, 3, 4), 4, 0), "assumed_users: 0 is outside"),
        (lambda: coreset_order(0.0, 1), "epsilon: 0 is outside"),
        (lambda: coreset_order(1.0, 0), "k: 0 is outside"),
        (lambda: clustering_bound(-1.0, 1.0, 0.0, 0.0), "optimum: -1 is outside"),
        (lambda: clustering_bound(1.0, 0.5, 0.0, 0.0), "factor: 0.5 is outside"),
        (lambda: clustering_bound(1.0, 1.0, 1.0, 0.0), r"lam: 1 is outside \[0, 1\)"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call()
