"""k-median: brute force on few points, planted clusters, medians, degenerate inputs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps.clustering import (
    _best_swap,
    _neighbours,
    distances,
    k_median,
    k_median_cost,
    medians,
    seeds,
)


def _least_cost(points: np.ndarray, weights: np.ndarray, k: int) -> float:
    """Over all ways to divide the points; one cluster's best centre is its coordinates' median."""
    best = np.inf
    for rest in itertools.product(range(k), repeat=len(points) - 1):
        labels = np.array([0, *rest])
        centres = medians(points, weights, labels, k)
        centres = centres[~np.isnan(centres[:, 0])]
        own = np.abs(points - medians(points, weights, labels, k)[labels]).sum(axis=1)
        best = min(best, float((weights * own).sum()))
        assert k_median_cost(points, weights, centres) <= float((weights * own).sum()) + 1e-12
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_least_cost_is_found_by_brute_force(seed, k):
    rng = np.random.default_rng(seed)
    points, weights = rng.random((7, 2)), rng.exponential(size=7)
    found = k_median(points, weights, k, rng, restarts=6, swaps=None)
    assert found.cost == pytest.approx(_least_cost(points, weights, k), rel=1e-9)
    assert found.cost == pytest.approx(k_median_cost(points, weights, found.centres))
    np.testing.assert_array_equal(found.labels, np.argmin(distances(points, found.centres), axis=1))


@pytest.mark.parametrize("k", [2, 5, 9])
def test_planted_clusters_are_found(k):
    rng = np.random.default_rng(k)
    truth = np.stack([np.arange(k) % 3, np.arange(k) // 3], axis=1) * 0.3 + 0.1
    group = rng.integers(0, k, 3000)
    points = truth[group] + rng.laplace(0, 0.01, (3000, 2))
    found = k_median(points, np.ones(3000), k, rng)
    apart = distances(found.centres, truth)
    # Every true centre has its own found centre within .005.
    assert sorted(np.argmin(apart, axis=0).tolist()) == list(range(k))
    assert apart.min(axis=0).max() < 0.005
    assert found.cost <= k_median_cost(points, np.ones(3000), truth)
    assert (np.bincount(found.labels, minlength=k) > 3000 / k / 2).all()


POINTS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=25
)


@given(POINTS, st.integers(1, 6), st.integers(0, 1000), st.sampled_from([None, 0, 20]))
def test_never_worse_than_one_median_and_better_with_more_centres(rows, k, seed, swaps):
    table = np.array(rows, float)
    points, weights = table[:, :2], table[:, 2]
    rng = np.random.default_rng(seed)
    found = k_median(points, weights, k, rng, restarts=1, swaps=swaps)
    assert found.centres.shape == (k, 2)
    assert np.isfinite(found.centres).all()
    if weights.any():
        one = medians(points, weights, np.zeros(len(points), np.int64), 1)
        assert found.cost <= k_median_cost(points, weights, one) + 1e-9
    distinct = len({tuple(p) for p in points[weights > 0].tolist()})
    if distinct <= k:
        assert found.cost == 0


@given(POINTS, st.integers(1, 4), st.integers(0, 1000))
def test_a_swap_is_the_best_of_all(rows, k, seed):
    table = np.array(rows, float)
    points, weights = table[:, :2], table[:, 2] + 0.5
    rng = np.random.default_rng(seed)
    centres = points[rng.integers(0, len(points), k)]
    candidate = int(rng.integers(0, len(points)))
    before = k_median_cost(points, weights, centres)
    costs = []
    for place in range(k):
        trial = centres.copy()
        trial[place] = points[candidate]
        costs.append(k_median_cost(points, weights, trial))
    found = _best_swap(points, weights, _neighbours(points, centres), k, candidate)
    if found is None:
        assert min(costs) >= before * (1 - 1e-8)
    else:
        assert costs[found] == pytest.approx(min(costs))
        assert costs[found] < before


def test_weighted_median_minimises_each_coordinate():
    rng = np.random.default_rng(3)
    points, weights = rng.random((40, 2)), rng.exponential(size=40)
    centre = medians(points, weights, np.zeros(40, np.int64), 1)
    cost = k_median_cost(points, weights, centre)
    for other in points:
        assert cost <= k_median_cost(points, weights, [[other[0], centre[0, 1]]]) + 1e-12
        assert cost <= k_median_cost(points, weights, [[centre[0, 0], other[1]]]) + 1e-12
    assert np.isnan(medians(points, weights, np.zeros(40, np.int64), 2)[1]).all()


def test_seeds_are_drawn_by_weight_and_distance():
    # A point without weight or on a seed is never drawn.
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    for seed in range(30):
        drawn = seeds(points, np.array([1.0, 1.0, 0.0]), 2, np.random.default_rng(seed))
        assert sorted(drawn[:, 0].tolist()) == [0.0, 1.0]


def test_without_weight_or_points_there_is_an_answer():
    rng = np.random.default_rng(0)
    assert k_median(np.zeros((0, 2)), [], 3, rng).centres.tolist() == [[0.5, 0.5]] * 3
    assert k_median([[0.2, 0.4]], [0.0], 2, rng).cost == 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: k_median([[0.0, 0.0]], [1.0], 0, r), "k: 0 is outside"),
        (lambda r: k_median([[0.0]], [1.0], 1, r), "points, weights: shapes"),
        (lambda r: k_median([[0.0, 0.0]], [-1.0], 1, r), "points, weights: numbers"),
        (lambda r: k_median_cost([[0.0, 0.0]], [1.0], []), r"centres: shape \(0,\)"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call(np.random.default_rng(0))
