"""The paper's error bounds, and errors of projected averages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

import explorer.privacy.coordinates as co


@given(st.floats(-1, 1), st.floats(0.01, 100))
def test_clipped_normal_against_quadrature(mu, sigma):
    law = stats.norm(mu, sigma)
    inside, _ = integrate.quad(
        lambda x: (x - mu) ** 2 * law.pdf(x),
        max(-1, mu - 12 * sigma),
        min(1, mu + 12 * sigma),
        epsabs=1e-15,
        epsrel=1e-12,
    )
    expected = inside + (1 + mu) ** 2 * law.cdf(-1) + (1 - mu) ** 2 * law.sf(1)
    assert float(co.clipped_normal_mse(mu, sigma)) == pytest.approx(expected, rel=1e-9)


@given(st.floats(-1, 1), st.one_of(st.floats(0, math.inf), st.floats(0, 10)))
def test_clipped_normal_is_between_zero_and_its_limit(mu, sigma):
    value = float(co.clipped_normal_mse(mu, sigma))
    assert 0 <= value <= (1 + mu**2) * (1 + 1e-12)
    assert value <= sigma**2 * (1 + 1e-12) + 1e-290 if sigma < 1e150 else True
    if sigma > 1e12:
        assert value == pytest.approx(1 + mu**2, rel=1e-9)


def test_both_ways_to_integrate_meet():
    near = co.clipped_normal_mse(0.3, [1 - 1e-12, 1 + 1e-12])
    assert near[0] == pytest.approx(float(near[1]), rel=1e-10)


@pytest.mark.parametrize(
    ("level", "ratio"),
    [(0.1, 5.99), (1, 6.90), (2, 9.9), (5, 35.9), (10, 139), (20, 558), (40, 2231)],
)
def test_theorem2_misses_a_growing_factor(level, ratio):
    # Errata coord-A3, for data of ±1.
    c = np.full(10, float(level))
    exact = float(co.m_mean_mse(1.0, c, 1e9))
    assert exact / float(co.theorem2_bound(c, 1e9)) == pytest.approx(ratio, rel=6e-3)


@given(st.lists(st.floats(0, 800), min_size=1, max_size=8), st.floats(1, 1e12))
def test_theorem2_is_capped_and_a_number(c, n):
    value = float(co.theorem2_bound(c, n))
    assert 0 < value <= len(c)
    assert float(co.theorem3_r2(c)) > 0
    assert np.isinf(co.theorem3_r2(c)) or min(c) > 0


@given(
    st.floats(1, 1e12),
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.floats(1e-9, 800),
    st.floats(1e-9, 800),
    st.floats(0, 1),
)
def test_corollary1_is_a_number(n, d, share, level, eps, q):
    k = max(1, round(share * d))
    case, value = co.corollary1_bound(n, d, k, level, eps, q)
    assert int(case) in (1, 2)
    assert (int(case) == 1) == (q <= float(co.corollary1_threshold(level, eps)))
    assert value > 0
    assert np.isfinite(value)


@given(st.lists(st.floats(0, 800), min_size=2, max_size=8), st.floats(1, 1e12), st.floats(0, 1e6))
def test_theorem3_is_capped_and_falls_with_users(c, n, radius):
    value = float(co.theorem3_bound(c, n, radius))
    assert 0 <= value <= (radius**2 + radius) * len(c) * (1 + 1e-12)
    assert float(co.theorem3_bound(c, 4 * n, radius)) <= value
    if min(c) > 0.1 and n > 1e11:
        expected = math.sqrt(float(co.theorem3_r2(c)))
        expected = math.log(len(c)) / math.sqrt(n) * expected * (expected + len(c))
        assert value == pytest.approx((radius**2 + radius) * min(expected, len(c)), rel=1e-9)


def test_corollary1_stays_within_a_factor_of_theorem2():
    # Errata coord-A4: (19) survives as an order of magnitude.
    worst = 0.0
    for q in np.linspace(0, 1, 41):
        for level in (0.05, 0.2, 0.5):
            for k in (1, 2, 5, 8):
                levels = np.repeat([level, 2.0], [k, 10 - k])
                c = co.budget_vector(levels, 2.0, q, 0.5)
                ratio = float(co.theorem3_r2(c)) / float(
                    co.corollary1_bound(1, 10, k, level, 2.0, q)[1]
                )
                worst = max(worst, ratio)
    assert worst < 4.1


def test_projection_only_helps_the_average():
    for c in (np.full(10, 0.2), np.linspace(0.1, 2, 10)):
        plain = float(co.m_mean_mse(1.0, c, 1e4))
        assert float(co.projected_mse(0.0, 1.0, c, 1e4)) <= plain * (1 + 1e-12)
    silent = co.projected_mse(0.0, 1.0, np.array([0.0, 1.0]), 1e4)
    assert 1.0 < silent < 1.1


def test_projected_errors_batch_over_users_and_budgets():
    c = np.array([[0.1, 0.2], [1.0, 2.0]])
    assert co.projected_mse(0.0, 1.0, c, [1e3, 1e4]).shape == (2,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.clipped_normal_mse(1.1, 1.0), r"mu: 1.1 is outside \[-1, 1\]"),
        (lambda: co.clipped_normal_mse(0.0, -1.0), r"sigma: -1 is outside \[0, inf\]"),
        (lambda: co.theorem2_bound([1.0], 0.0), r"n: 0 is outside \[1, inf\)"),
        (lambda: co.theorem3_bound([1.0], 1.0, 1.0), "at least a feature and a label"),
        (lambda: co.corollary1_bound(1, 2, 3, 0.1, 1, 0.1), r"k: 3 is outside \[1, d = 2\]"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
