"""Lipschitz constants of leading parts of a query, and averaged Laplace answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Grid


@given(st.integers(0, 2**32), st.sampled_from([1.0, 1.4, 2.0, 9.0, 64.0, math.inf]))
def test_every_leading_part_is_that_of_lipschitz(seed, p):
    rng = np.random.default_rng(seed)
    f, z = rng.normal(size=(12, 4)), rng.normal(size=(12, 3))
    d = np.linalg.norm(z[:, None] - z, axis=2)
    i, j = np.triu_indices(12, 1)
    s = um.prefix_lipschitz(f, i, j, d[i, j], p)
    for k in range(4):
        assert s.lip[k] == pytest.approx(um.lipschitz(f[:, : k + 1], d, p), rel=1e-12)
        a, b = s.first[k], s.second[k]
        attained = np.linalg.norm(f[a, : k + 1] - f[b, : k + 1], ord=p) / d[a, b]
        assert attained == pytest.approx(s.lip[k], rel=1e-12)


@given(st.integers(0, 2**32), st.sampled_from([1.0, 2.0, 3.0, math.inf]))
def test_neighbours_are_enough_where_distance_is_a_path(seed, p):
    grid = Grid(5, 4)
    f = np.random.default_rng(seed).normal(size=(20, 3))
    d = grid.matrix()
    i, j = np.nonzero(np.triu(np.isclose(d, 1 / 7)))
    s = um.prefix_lipschitz(f, i, j, d[i, j], p)
    assert s.lip[-1] == pytest.approx(um.lipschitz(f, d, p), rel=1e-12)


def test_items_at_distance_zero():
    f = [[1.0], [1.0], [2.0]]
    one = um.prefix_lipschitz(f, [0], [1], [0.0], 2.0)
    assert one.lip[0] == 0
    two = um.prefix_lipschitz(f, [0, 0], [1, 2], [0.0, 0.0], 2.0)
    assert two.lip[0] == math.inf
    assert (two.first[0], two.second[0]) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([[1.0], [math.nan]], [0], [1], [1.0], 2.0), "values"),
        (([[1.0], [2.0]], [0], [2], [1.0], 2.0), "first"),
        (([[1.0], [2.0]], [], [], [], 2.0), "first"),
        (([[1.0], [2.0]], [0], [1], [-1.0], 2.0), "distances"),
        (([[1.0], [2.0]], [0], [1], [1.0], 0.5), "p"),
    ],
)
def test_arguments_outside_their_domain(arguments, name):
    with pytest.raises(ValueError, match=name):
        um.prefix_lipschitz(*arguments)


def test_averaged_laplace_answers():
    # b for one, 3b/4 for two (E|X + Y| = 3b/2), b·2/√(πn) for many.
    b = um.k_norm_scale(25.0)
    assert um.averaged_laplace_mean(1, 25.0) == pytest.approx(b, rel=1e-14)
    assert um.averaged_laplace_mean(2, 25.0) == pytest.approx(0.75 * b, rel=1e-14)
    many = um.averaged_laplace_mean(1e12, 25.0)
    assert many == pytest.approx(b * 2 / math.sqrt(math.pi * 1e12), rel=1e-11)
    # The mean of draws within five standard errors: false alarm 6e-7.
    draws = np.abs(np.random.default_rng(2).laplace(0, b, (40_000, 7)).mean(axis=1))
    margin = 5 * draws.std() / math.sqrt(len(draws))
    assert abs(draws.mean() - um.averaged_laplace_mean(7, 25.0)) < margin
