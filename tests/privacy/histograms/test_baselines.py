"""The local and the central model with constants: exact laws, and privacy by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import histograms as h


def geometric(rate, reach=400):
    z = np.arange(-reach, reach + 1)
    law = np.exp(-rate * np.abs(z))
    return z, law / law.sum()


@given(st.floats(0.1, 6), st.integers(1, 40), st.floats(1e-4, 0.9))
def test_the_central_quantile_is_that_of_the_noise(eps, d, beta):
    t = round(float(h.central_error(1000, d, eps, beta).value) * 1000)
    z, law = geometric(eps / 2)

    def beyond(level):
        return 1 - (1 - law[np.abs(z) > level].sum()) ** d

    assert beyond(t) <= beta * (1 + 1e-9)
    assert t == 0 or beyond(t - 1) > beta * (1 - 1e-9)


@pytest.mark.parametrize("sensitivity", [1.0, 2.0])
def test_the_central_rmse_is_that_of_the_noise(sensitivity):
    z, law = geometric(0.8 / sensitivity)
    expected = math.sqrt(float(law @ z**2)) / 50
    assert h.central_rmse(50, 0.8, sensitivity) == pytest.approx(expected, rel=1e-9)


def test_unary_encoding_is_private_and_its_rmse_exact():
    eps, d = 1.3, 3
    flip = 1 / (math.exp(eps / 2) + 1)
    laws = []
    for value in range(d):
        one_hot = np.eye(d)[value]
        laws.append(
            [
                math.prod(
                    flip if bit != own else 1 - flip for bit, own in zip(bits, one_hot, strict=True)
                )
                for bits in itertools.product((0, 1), repeat=d)
            ]
        )
    ratio = max(np.max(np.array(a) / b) for a in laws for b in laws)
    assert math.log(ratio) == pytest.approx(eps)
    one = math.sqrt(flip * (1 - flip)) / (1 - 2 * flip)
    assert h.local_rmse(400, eps) == pytest.approx(one / 20)


def test_the_local_bound_holds_in_simulation():
    """Of 2000 runs at β = 0.1 about 200 may fail; more than 260 has probability below 1e-5."""
    rng = np.random.default_rng(5)
    n, d, eps, beta = 300, 4, 2.0, 0.1
    alpha = float(h.local_error(n, d, eps, beta).value)
    flip = 1 / (math.exp(eps / 2) + 1)
    counts = np.array([150, 100, 50, 0])
    seen = rng.binomial(counts, 1 - flip, (2000, d)) + rng.binomial(n - counts, flip, (2000, d))
    error = np.abs((seen / n - flip) / (1 - 2 * flip) - counts / n).max(axis=1)
    assert np.sum(error > alpha) <= 260


def test_the_stable_histogram_is_private_where_a_bin_appears():
    """Its δ: a bin of one user clears the threshold with probability δ/4."""
    eps, delta = 0.7, 1e-4
    threshold = 1 + 2 / eps * math.log(2 / delta)
    scale = 2 / eps
    assert 0.5 * math.exp(-(threshold - 1) / scale) == pytest.approx(delta / 4)
    n, occupied, beta = 10_000, 20, 0.05
    alpha = float(h.stable_error(n, occupied, eps, delta, beta).value)
    rng = np.random.default_rng(7)
    # The worst count stands at the threshold.
    noise = rng.laplace(0, scale, (4000, occupied))
    noisy = threshold + noise
    error = np.abs(np.where(noisy < threshold, 0, noisy) - threshold).max(axis=1)
    assert np.mean(error > alpha * n) <= beta


@given(
    st.floats(1e-3, 800),
    st.floats(0, 12),
    st.floats(0, 300),
    st.floats(-300, 0),
    st.floats(-300, 0),
)
def test_finite_and_positive_over_the_whole_domain(eps, users, bins, beta, delta):
    n, d = round(10**users), math.floor(10.0**bins)
    b, small = max(10.0**beta, 1e-300), max(10.0**delta, 1e-300)
    for bound in (
        h.local_error(n, float(d), eps, b),
        h.central_error(n, float(d), eps, b),
        h.stable_error(n, float(d), eps, small, b),
    ):
        assert np.isfinite(bound.value)
        assert bound.value >= 0
    assert h.local_rmse(n, eps) >= 0
    assert h.central_rmse(n, eps) >= 0


def test_arguments_outside_are_named():
    with pytest.raises(ValueError, match="eps: 0"):
        h.local_error(10, 2, 0.0, 0.1)
    with pytest.raises(ValueError, match="beta"):
        h.central_error(10, 2, 1.0, 0.0)
