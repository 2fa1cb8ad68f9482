"""M_LDP: constants, exact law of the code that runs, unbiasedness, audits."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import explorer.privacy.coordinates as co
from explorer.privacy.coordinates.channel import log_second_moment
from explorer.privacy.coordinates.mean import chambers, corners
from explorer.privacy.coordinates.sampling import Channel
from tests.privacy.coordinates.exact import density
from tests.privacy.sampler_audits import loss_lower_bound


@given(st.integers(1, 10**7))
def test_gamma_ratio_agrees_with_fifty_digits(m):
    with mpmath.workdps(50):
        exact = mpmath.gamma(mpmath.mpf(m + 1) / 2) / mpmath.gamma(mpmath.mpf(m) / 2)
    assert float(co.gamma_ratio(m)) == pytest.approx(float(exact), rel=4e-15)


def test_gamma_ratio_where_table_and_series_meet():
    m = np.arange(250, 350)
    np.testing.assert_allclose(co.gamma_ratio(m + 2), co.gamma_ratio(m) * (m + 1) / m, rtol=2e-15)


def test_one_coordinate_is_randomised_response():
    # Errata coord-A1: the printed constant is twice this.
    for alpha in (0.1, 1.0, 5.0):
        assert co.m_ldp_radius(1, 3.0, alpha) == pytest.approx(3.0 / math.tanh(alpha / 2))


@given(st.integers(1, 10**6), st.floats(0, 800))
def test_second_moment_is_positive_decreasing_and_has_a_limit(m, alpha):
    now, more = co.m_ldp_second_moment(m, [alpha, alpha + 0.5])
    assert now >= more >= math.pi * co.gamma_ratio(m) ** 2 * (1 - 1e-15)
    if alpha > 0 and np.isfinite(now):
        assert float(np.exp(log_second_moment(m, alpha))) == pytest.approx(float(now), rel=1e-10)


def test_logarithm_of_the_second_moment_survives_the_smallest_levels():
    logs = log_second_moment(3, [5e-324, 1e-310, 1e-300, 1e-200])
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()


@pytest.mark.full
@pytest.mark.parametrize(("m", "alpha"), [(1, 0.7), (2, 1.3), (3, 0.2), (3, 4.0), (4, 30.0)])
def test_density_of_the_running_code_is_exact_on_every_chamber(m, alpha):
    channel = Channel(np.arange(m), alpha, np.ones(m))
    for x in corners(m):
        for z in chambers(m)[:: 3 if m < 4 else 20]:
            expected = 2.0 / (1.0 + math.exp(-alpha if x @ z > 0 else alpha))
            # Towards α = 30 the probability of a turned report is rounded to 1e-3 of itself.
            close = pytest.approx(expected, rel=1e-3 if alpha > 20 else 1e-9)
            assert density(channel, x, z) == close


def test_density_of_the_running_code_inside_the_cube():
    alpha, m = 1.5, 2
    channel = Channel(np.arange(m), alpha, np.ones(m))
    for x in ([0.0, 0.0], [0.3, -0.1], [1.0, 0.2]):
        p = float(co.m_ldp_positive_probability(np.linalg.norm(x), math.sqrt(m), alpha))
        z = np.array([0.7, 0.4])
        expected = 2 * p if np.dot(x, z) >= 0 else 2 * (1 - p)
        assert density(channel, x, z) == pytest.approx(expected, rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("m", [1, 2, 3])
def test_loss_is_alpha_between_corners_by_enumeration(m):
    alpha = 1.7
    channel = Channel(np.arange(m), alpha, np.ones(m))
    table = np.array([[density(channel, x, z) for z in chambers(m)] for x in corners(m)])
    for a, b in product(range(2**m), repeat=2):
        loss = np.log(table[a] / table[b]).max()
        expected = co.m_ldp_loss(corners(m)[a], corners(m)[b], math.sqrt(m), alpha)
        assert loss == pytest.approx(expected, abs=1e-9)
        assert expected <= alpha + 1e-12
        assert expected == pytest.approx(0.0 if a == b else alpha, abs=1e-12)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
    st.floats(0, 800),
)
def test_loss_is_between_zero_and_alpha_and_that_of_the_likelihoods(v, seed, alpha):
    m = len(v)
    rng = np.random.default_rng(seed)
    v, w = np.array(v), rng.uniform(-1, 1, m)
    r = math.sqrt(m)
    loss = co.m_ldp_loss(v, w, r, alpha)
    assert 0.0 <= loss <= alpha * (1 + 1e-12) + 1e-12
    p, p2 = (co.m_ldp_positive_probability(np.linalg.norm(a), r, alpha) for a in (v, w))
    for z in rng.standard_normal((20, m)):
        f = p if z @ v > 0 else 1 - p
        f2 = p2 if z @ w > 0 else 1 - p2
        if f > 1e-6 and f2 > 1e-6 and v.any():
            assert math.log(f / f2) <= loss + 1e-7


def test_loss_sweeps_and_survives_infinity():
    alphas = np.array([0.0, 1e-9, 1.0, 800.0, math.inf])
    losses = co.m_ldp_loss([1.0, 1.0], [1.0, -1.0], math.sqrt(2), alphas)
    np.testing.assert_allclose(losses, alphas, rtol=1e-6)
    same = co.m_ldp_loss([1.0, 1.0], [1.0, 1.0], math.sqrt(2), alphas)
    np.testing.assert_array_equal(same, 0.0)


def test_reports_are_unbiased_with_the_stated_covariance():
    # 16 z-scores below 5.5: false alarm at most 16·4e-8.
    rng = np.random.default_rng(5)
    v, r, alpha, n = np.array([0.9, -0.4, 0.0]), math.sqrt(3), 0.8, 400_000
    z = co.m_ldp(np.tile(v, (n, 1)), alpha, r, rng)
    radius = float(co.m_ldp_radius(3, r, alpha))
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), radius, rtol=1e-12)
    sd = np.sqrt(co.m_ldp_variance(v, 3, r, alpha))
    assert (np.abs(z.mean(axis=0) - v) < 5.5 * sd / math.sqrt(n)).all()
    second = z.T @ z / n
    error = np.abs(second - np.eye(3) * radius**2 / 3)
    assert (error < 5.5 * radius**2 / math.sqrt(n)).all()
    mse = ((z - v) ** 2).sum(axis=1)
    exact = float(co.m_ldp_mse(np.linalg.norm(v), 3, r, alpha))
    assert abs(mse.mean() - exact) < 5.5 * mse.std() / math.sqrt(n)


def test_reports_are_uniform_in_each_half_sphere():
    # Kolmogorov–Smirnov on the angle in the plane: false alarm 1e-6 for each of two tests.
    rng = np.random.default_rng(6)
    v = np.array([0.6, 0.3])
    z = co.m_ldp(np.tile(v, (100_000, 1)), 2.0, math.sqrt(2), rng)
    angle = np.arctan2(z[:, 1], z[:, 0]) - math.atan2(v[1], v[0])
    angle = (angle + math.pi) % (2 * math.pi) - math.pi
    front = np.abs(angle) < math.pi / 2
    for part, shift in ((angle[front], math.pi / 2), (angle[~front] % (2 * math.pi), -math.pi / 2)):
        assert stats.kstest((part + shift) / math.pi, "uniform").pvalue > 1e-6
    p = float(co.m_ldp_positive_probability(np.linalg.norm(v), math.sqrt(2), 2.0))
    assert stats.binomtest(int(front.sum()), front.size, p).pvalue > 1e-6


@pytest.mark.parametrize("alpha", [0.3, 1.0, 3.0])
def test_audit(alpha):
    # Clopper–Pearson lower bound on the loss: above α with probability at most 1e-6.
    rng, n, m = np.random.default_rng(7), 200_000, 5
    v = np.ones(m)
    w = v.copy()
    w[0] = -1.0
    a, b = (co.m_ldp(np.tile(x, (n, 1)), alpha, math.sqrt(m), rng) for x in (v, w))
    counts = [int(((z @ v > 0) & (z @ w < 0)).sum()) for z in (a, b)]
    bound = loss_lower_bound(counts[0], n, counts[1], n, 1e-6)
    assert 0.7 * alpha < bound <= alpha


def test_zero_vector_and_long_vectors_need_no_special_case():
    g = np.array([0.3, -0.2])
    up = co.m_ldp_from_draws([0.0, 0.0], 1.0, 1.0, g, 0.49)
    down = co.m_ldp_from_draws([0.0, 0.0], 1.0, 1.0, g, 0.51)
    np.testing.assert_allclose(up, -down)
    assert up @ g > 0
    assert np.isfinite(co.m_ldp_from_draws([3.0, 4.0], 1.0, 800.0, g, 0.999)).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.gamma_ratio(0), r"m: 0 is outside \[1"),
        (lambda: co.gamma_ratio(1.5), "m: 1.5 is not a whole number"),
        (lambda: co.m_ldp_radius(1, 0.0, 1.0), r"r: 0 is outside \(0, inf\)"),
        (lambda: co.m_ldp_second_moment(3, -1.0), r"alpha: -1 is outside \[0, inf\]"),
        (lambda: co.m_ldp_second_moment(3, math.nan), "alpha: nan is outside"),
        (lambda: co.m_ldp_loss([2.0], [0.0], 1.0, 1.0), r"‖v‖ must be at most r = 1, got 2"),
        (
            lambda: co.m_ldp([0.5], 0.0, 1.0, np.random.default_rng(0)),
            "alpha: 0 is outside",
        ),
        (lambda: co.m_ldp_from_draws([0.5], 1.0, 1.0, [0.0], 0.5), "no row of zeros"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call()
