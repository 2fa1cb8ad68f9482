"""Errors of user-level baselines of frequency estimation: enumerated, drawn, bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Clustered


@given(st.integers(1, 5), st.integers(1, 5), st.floats(0.05, 8.0))
def test_hadamards_cluster_error_is_below_its_bound(s, t, epsilon0):
    k, m, n = s * t, 3, 5
    response = um.HadamardResponse(k, epsilon0)
    law = response.law()
    signs = np.where(law > 1 / response.K, 1.0, -1.0) / math.tanh(epsilon0 / 2)
    across = np.kron(np.eye(s), np.ones((t, 1)))
    bound = um.hadamard_cluster_mse_bound(k, epsilon0, m, n)
    for x in range(k):
        error = (signs.T - np.eye(k)[x]) @ across
        exact = law[x] @ (error**2).sum(axis=1) / (m * n)
        assert exact <= bound * (1 + 1e-9)
        if t == 1:
            assert exact == pytest.approx(um.hadamard_mse(k, epsilon0, m, n), rel=1e-9)


@pytest.mark.parametrize(("n", "users"), [(30, 1), (1, 30)])
def test_laplace_error_against_draws(n, users):
    # The mean of draws within five standard errors: false alarm 6e-7.
    rng = np.random.default_rng(8)
    noise = rng.laplace(0, um.laplace_scale(n, 0.7), (3000, users, 6)).mean(axis=1)
    squared = (noise**2).sum(axis=1)
    margin = 5 * squared.std() / math.sqrt(len(squared))
    assert abs(squared.mean() - um.laplace_mse(6, n, 0.7, users)) < margin


@pytest.mark.parametrize(("n", "users"), [(30, 1), (1, 30)])
@pytest.mark.parametrize(("s", "t", "r"), [(2, 1, 0.3), (3, 4, 0.2), (4, 2, 1.0), (5, 3, 0.0)])
def test_laplace_distance_against_draws(n, users, s, t, r):
    # The mean of draws within five standard errors: false alarm 6e-7 each.
    rng = np.random.default_rng(9)
    noise = rng.laplace(0, um.laplace_scale(n, 0.7), (4000, users, s * t)).mean(axis=1)
    noise -= noise.mean(axis=1, keepdims=True)
    truth = np.full(s * t, 1 / (s * t))
    drawn = Clustered(s, t, r).emd_of_masses(truth + noise, truth)
    mean = um.laplace_emd_mean(s, t, r, n, 0.7, users)
    assert abs(drawn.mean() - mean) < 5 * drawn.std() / math.sqrt(len(drawn))


def test_laplace_distance_in_closed_form_and_in_the_limit():
    # Of two items each has half the difference of two Laplace variables: E|z₁ − z₂|/2 = 3b/4.
    assert um.laplace_emd_mean(2, 1, 0.5, 10, 1.0) == pytest.approx(0.75 * 0.2, rel=1e-12)
    # Many users: normal, the root mean square times √(2/π).
    mse = um.laplace_mse(12, 1, 1.0, 10**9) * 11 / 12
    across = um.laplace_mse(12, 1, 1.0, 10**9) * 2 / 3
    normal = math.sqrt(2 / math.pi) * um.emd_bound(3, 4, 0.2, mse, across)
    assert um.laplace_emd_mean(3, 4, 0.2, 1, 1.0, 10**9) == pytest.approx(normal, rel=1e-8)
    # Many items: a Laplace variable each, shifting changes nothing; clusters are normal.
    found = um.laplace_emd_mean(10**6, 1, 1.0, 10, 1.0)
    assert found == pytest.approx(0.5 * 10**6 * 0.2, rel=1e-5)
    assert um.laplace_emd_mean(1, 1, 0.5, 10, 1.0) == 0
    assert um.laplace_emd_mean(2, 2, 0.5, 10, 0.0) == math.inf
    with pytest.raises(ValueError, match="users"):
        um.laplace_emd_mean(2, 2, 0.5, 10, 1.0, 0)


@given(
    st.integers(2, 1000),
    st.integers(1, 1000),
    st.floats(0, 1),
    st.integers(1, 10**9),
    st.integers(1, 10**9),
)
def test_laplace_distance_is_below_its_bound_and_not_far(s, t, r, n, users):
    mse = um.laplace_mse(s * t, n, 1.0, users)
    bound = um.emd_bound(s, t, r, mse, mse)
    # Shifting takes at most half the variance (two clusters), Cauchy–Schwarz at most √2.
    assert bound * 0.4999 <= um.laplace_emd_mean(s, t, r, n, 1.0, users) <= bound * (1 + 1e-9)


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_the_bound_on_the_distance_holds_for_any_error_of_sum_zero(s, t, r, seed):
    rng = np.random.default_rng(seed)
    space = Clustered(s, t, r)
    gap = rng.normal(size=(40, s * t))
    gap -= gap.mean(axis=1, keepdims=True)
    truth = np.full(s * t, 1 / (s * t))
    mean = space.emd_of_masses(truth + gap, truth).mean()
    mse = (gap**2).sum(axis=1).mean()
    across = (gap.reshape(40, s, t).sum(axis=2) ** 2).sum(axis=1).mean()
    assert mean <= um.emd_bound(s, t, r, mse, across) * (1 + 1e-9) + 1e-12


def test_the_bound_is_the_halved_theorem_for_gkrr():
    arguments = (4, 3, 0.2, 1.5, 10, 7)
    errors = um.gkrr_mse(*arguments), um.gkrr_cluster_mse(*arguments)
    assert um.emd_bound(4, 3, 0.2, *errors) == pytest.approx(um.gkrr_emd_bound(*arguments))


def test_no_privacy_parameter_no_finite_error():
    assert um.hadamard_cluster_mse_bound(5, 0.0, 10) == math.inf
    assert um.laplace_mse(5, 10, 0.0) == math.inf
    with pytest.raises(ValueError, match="cluster_mse"):
        um.emd_bound(2, 2, 0.1, 1.0, -1.0)
