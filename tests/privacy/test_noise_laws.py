"""Laws of noise: probabilities that sum to 1, shares that add up, the analytic Gaussian's σ."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.noise.demonstration import discrete_laplace_pmf, gaussian_sigma, polya_pmf


@given(st.floats(0.05, 50))
def test_discrete_laplace_sums_to_one_and_is_private(scale: float) -> None:
    k = np.arange(-int(60 * scale) - 5, int(60 * scale) + 6)
    pmf = discrete_laplace_pmf(k, scale)
    assert pmf.sum() == pytest.approx(1, rel=1e-9)
    ratio = np.abs(np.diff(np.log(pmf[pmf > 1e-290])))
    np.testing.assert_allclose(ratio, 1 / scale, rtol=1e-6)


@pytest.mark.parametrize(("users", "p"), [(1, 0.3), (3, 0.6), (20, 0.8)])
def test_polya_shares_add_up_to_discrete_laplace(users: int, p: float) -> None:
    """n shares with r = 1/n sum to a geometric; two such sums differ by discrete Laplace."""
    k = np.arange(400)
    share = polya_pmf(k, 1 / users, p)
    assert share.sum() == pytest.approx(1, abs=1e-12)
    one_side = np.array([1.0])
    for _ in range(users):
        one_side = np.convolve(one_side, share)[:400]
    np.testing.assert_allclose(one_side, (1 - p) * p**k, atol=1e-12)
    difference = np.convolve(one_side, one_side[::-1])
    lags = np.arange(-399, 400)
    expected = discrete_laplace_pmf(lags, -1 / math.log(p))
    np.testing.assert_allclose(difference, expected, atol=1e-12)


@pytest.mark.parametrize(("r", "p"), [(0.005, 0.5), (2.5, 0.9), (1e-9, 0.999)])
def test_polya_to_thirty_digits(r: float, p: float) -> None:
    with mpmath.workdps(30):
        for k in (0, 1, 7, 100):
            exact = mpmath.rf(r, k) / mpmath.factorial(k) * mpmath.mpf(p) ** k
            exact *= (1 - mpmath.mpf(p)) ** r
            assert float(polya_pmf(k, r, p)) == pytest.approx(float(exact), rel=1e-6)


def test_gaussian_sigma_of_the_smallest_delta() -> None:
    # 2Φ(1/2σ) − 1 = δ: σ is 1/δ√(2π), whose square has no double.
    assert gaussian_sigma(0.0, 1e-250) == pytest.approx(1e250 / math.sqrt(2 * math.pi), rel=1e-10)


@given(st.floats(0, 30), st.floats(-12, -0.05), st.floats(0.01, 100))
def test_gaussian_sigma_is_the_least(epsilon: float, log_delta: float, sensitivity: float) -> None:
    delta = 10**log_delta
    sigma = gaussian_sigma(epsilon, delta, sensitivity)

    def spent(noise: float) -> mpmath.mpf:
        with mpmath.workdps(50):
            s = mpmath.mpf(noise) / sensitivity
            return mpmath.ncdf(0.5 / s - epsilon * s) - mpmath.exp(epsilon) * mpmath.ncdf(
                -0.5 / s - epsilon * s
            )

    assert spent(sigma * (1 + 1e-9)) <= delta
    assert spent(sigma * (1 - 1e-6)) > delta


def test_laplace_against_gaussian() -> None:
    """Errata heat-18: at ε = .01, δ = 10⁻³ the Gaussian adds less noise than Laplace, not more."""
    assert gaussian_sigma(0.01, 1e-3) == pytest.approx(93.9, abs=0.05)
    mean = math.sqrt(2 / math.pi)
    assert mean * gaussian_sigma(0.024, 1e-3) < 1 / 0.024
    assert mean * gaussian_sigma(0.0252, 1e-3) > 1 / 0.0252


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: discrete_laplace_pmf(0, 0.0), "scale"),
        (lambda: polya_pmf(-1, 1.0, 0.5), "k"),
        (lambda: polya_pmf(0, 0.0, 0.5), "r"),
        (lambda: polya_pmf(0, 1.0, 1.0), "p"),
        (lambda: gaussian_sigma(-1.0, 0.1), "epsilon"),
        (lambda: gaussian_sigma(1.0, 0.0), "delta"),
        (lambda: gaussian_sigma(1.0, 0.1, 0.0), "sensitivity"),
    ],
)
def test_wrong_arguments_are_named(call, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        call()
