"""Certificates against the exact levels of random mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import explorer.privacy.coordinates as co
from tests import snapshots

LEVEL = st.one_of(st.floats(0, 800), st.floats(0, 5))
Q = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300]))


def random_mechanism(seed):
    rng = np.random.default_rng(seed)
    sizes = [(2, 2), (2, 3), (2, 2, 2), (3, 2, 2)][rng.integers(4)]
    points = math.prod(sizes)
    prior = rng.dirichlet(np.full(points, rng.choice([0.3, 1.0, 5.0])))
    channel = rng.dirichlet(np.full(3, rng.choice([1.0, 20.0])), points)
    return sizes, prior, channel


@given(st.integers(0, 10**6))
def test_order_of_notions_and_certificates(seed):
    sizes, prior, channel = random_mechanism(seed)
    exact = co.bcdp_levels(sizes, prior, channel)
    c, total = co.cdp_levels(sizes, channel), co.ldp_level(channel)
    q = co.coupling(sizes, prior)
    best = co.best_certificate(c, q, total)
    tolerance = 1e-9
    assert (exact <= best + tolerance).all()
    assert (best <= co.bcdp_from_cdp_and_ldp(c, q, total) + tolerance).all()
    assert (exact <= co.bcdp_from_cdp(c, q) + tolerance).all()
    assert (c <= total + tolerance).all()
    assert total <= co.ldp_from_cdp(c) + tolerance
    assert (exact <= co.bdp_level(prior, channel) + tolerance).all()
    assert co.bdp_level(prior, channel) <= total + tolerance
    assert (exact <= co.bcdp_from_ldp(total, len(sizes)) + tolerance).all()


def test_best_certificate_is_attained_when_one_coupling_is_bounded():
    # x_2 equals x_1 with probability q more than by chance. One output has probability
    # proportional to e^{c·x_1 + (L−c)·x_2}, and is rare, so that the others have no say.
    q, c, total, rare = 0.3, 0.2, 1.0, 1e-7
    prior = np.array([1 + q, 1 - q, 1 - q, 1 + q]) / 4
    like = rare * np.exp([0.0, total - c, c, total])
    # P(x_2 = 1 | x_1 = 1) = (1+q)/2 leaves mass on both sides; extreme conditionals attain it.
    prior = np.array([1.0, 0.0, 1 - q, q]) / 2
    channel = np.stack([like, 1 - like], axis=1)
    np.testing.assert_allclose(co.coupling((2, 2), prior)[0], q)
    expected = math.log((1 - q) * math.exp(c) + q * math.exp(total))
    assert co.bcdp_levels((2, 2), prior, channel)[0] == pytest.approx(expected, rel=1e-9)
    assert co.best_certificate([c, total - c], q, total)[0] == pytest.approx(expected, rel=1e-12)


@given(st.lists(LEVEL, min_size=1, max_size=6), Q, LEVEL)
def test_certificates_are_monotone_and_between_c_and_total(c, q, total):
    c = np.minimum(c, total)
    level = co.best_certificate(c, q, total)
    assert np.isfinite(level).all()
    assert (level >= c * (1 - 1e-12)).all()
    assert (level <= total * (1 + 1e-12)).all()
    assert (level <= co.bcdp_from_cdp_and_ldp(c, q, total) * (1 + 1e-12) + 1e-13).all()
    assert (co.best_certificate(c, min(1.0, q + 0.1), total) >= level * (1 - 1e-12)).all()
    assert (co.best_certificate(c, q, total + 1.0) >= level * (1 - 1e-12)).all()
    np.testing.assert_allclose(co.best_certificate(c, 0.0, total), c)
    np.testing.assert_allclose(co.best_certificate(c, 1.0, total), total)


def test_releases_add_budgets_not_levels():
    c, q, total = np.array([0.05, 0.6]), 0.2, 0.6
    once, twice = (co.repeated_certificate(c, q, total, n) for n in (1, 2))
    np.testing.assert_allclose(once, co.best_certificate(c, q, total))
    np.testing.assert_allclose(twice, co.best_certificate(2 * c, q, 2 * total))
    assert twice[0] > 2 * once[0]
    np.testing.assert_array_equal(co.repeated_certificate(c, q, total, 0), 0.0)


@given(st.lists(st.floats(1e-6, 800), min_size=1, max_size=6), Q, st.integers(0, 10**6))
def test_linear_budgets_satisfy_part_one(levels, q, seed):
    direction = np.random.default_rng(seed).uniform(0, 1, len(levels))
    scale = co.linear_budget_scale(levels, q, direction)
    assert (co.bcdp_from_cdp(scale * direction, q) <= np.array(levels) * (1 + 1e-7)).all()


def test_linear_budget_matrix_edges():
    matrix = co.linear_budget_matrix([1.0, math.inf], [0.0, 0.5])
    np.testing.assert_array_equal(matrix, [[1.0, 0.0], [0.0, 0.0]])
    assert co.linear_budget_scale([1.0, math.inf], 0.0, [0.0, 1.0]) == math.inf
    with pytest.raises(ValueError, match="coordinate_levels: 0 is") as error:
        co.linear_budget_matrix([0.0, 1.0], 0.1)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="direction must have") as error:
        co.linear_budget_scale([1.0, 1.0], 0.1, [1.0])
    snapshots.check(error.value)


def test_sums_without_a_coordinate_keep_small_levels():
    c = np.array([1e-9, 700.0, 1e-9])
    level = co.bcdp_from_cdp(c, [1.0, 1.0, 0.0])
    assert level[1] == pytest.approx(700.0 + 2e-9, rel=1e-15)
    assert level[2] == 1e-9
