"""Errors of user-level baselines of frequency estimation: enumerated, drawn, bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(
    st.integers(1, 6), st.integers(1, 6), st.floats(0, 1), st.integers(0, 2**32),
)  # fmt: skip
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
