"""M_LDP and M_mean for a release: every word enumerated, limits proved in fractions, moments."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import coordinates as co
from explorer.privacy.noise.bits import SeededBits

LEVELS = st.one_of(st.floats(2.0**-40, 30), st.sampled_from([2.0**-40, 1e-6, 1.0, 30.0]))


class Listed:
    """Every word of a few leading bits, once."""

    def __init__(self, width: int) -> None:
        self.width = width

    def words(self, count: int) -> np.ndarray:
        assert count == 1 << self.width
        return np.arange(count, dtype=np.uint64) << np.uint64(64 - self.width)


@given(LEVELS, st.integers(4, 62))
def test_the_limit_is_safe_and_tight(alpha, width):
    level = co.exact_level(alpha)
    assert level <= Fraction(alpha) < level + Fraction(1, 2**40)
    k, whole = co.largest_truth(level, width), 1 << width
    with mpmath.workdps(80):
        bound = mpmath.exp(mpmath.mpf(level.numerator) / level.denominator)
        assert mpmath.mpf(k) / (whole - k) <= bound
        # One more would break it, so nothing is given away.
        assert whole - k == 1 or mpmath.mpf(k + 1) / (whole - k - 1) > bound


@given(LEVELS, st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20))
def test_no_record_whatever_it_is_leaves_the_limits(alpha, shares):
    level = co.exact_level(alpha)
    counts = co.truth_counts(np.abs(shares), level)
    top = co.largest_truth(level)
    assert ((counts >= 2**61) & (counts <= top)).all()


@pytest.mark.parametrize("width", [3, 6, 9])
@pytest.mark.parametrize("alpha", [0.05, 0.7, 2.0, 5.0])
def test_the_output_law_by_enumeration(width, alpha):
    # All words, all shares, both sides of the half-space: the law of the code that runs.
    level = co.exact_level(alpha)
    count = 1 << width
    laws = []
    for share in np.linspace(0, 1, 9):
        for side in (True, False):
            signs = co.exact_signs(
                np.full(count, side), np.full(count, share), level, Listed(width), width
            )
            plus = int((signs > 0).sum())
            laws.append((plus, count - plus))
            want = 0.5 + (1 if side else -1) * 0.5 * np.tanh(alpha / 2) * share
            assert abs(plus / count - want) <= 2 / count
    bound = mpmath.exp(mpmath.mpf(level.numerator) / level.denominator)
    for one in laws:
        for other in laws:
            for p, q in zip(one, other, strict=True):
                assert q or not p
                assert p <= bound * q


def test_moments_are_those_of_the_mechanism():
    rng = np.random.default_rng(5)
    n, m, alpha = 400_000, 3, 1.5
    v = np.array([0.5, -0.2, 0.8])
    z = co.exact_m_ldp(np.tile(v, (n, 1)), alpha, np.sqrt(m), SeededBits(rng))
    radius = float(co.m_ldp_radius(m, np.sqrt(m), alpha))
    assert np.linalg.norm(z, axis=1) == pytest.approx(radius, rel=1e-12)
    # 5 standard errors on 3 means and 6 products: false alarms below 6e-6.
    assert np.abs(z.mean(axis=0) - v).max() < 5 * radius / np.sqrt(m * n)
    second = z.T @ z / n
    assert np.abs(second - radius**2 / m * np.eye(m)).max() < 5 * radius**2 / np.sqrt(n)


@pytest.mark.full
def test_the_released_mean_has_the_stated_error():
    rng = np.random.default_rng(6)
    n, c = 200, np.array([0.5, 2.0, 2.0, 0.0])
    x = rng.uniform(-1, 1, (n, 4))
    bits = SeededBits(rng)
    draws = [co.exact_m_mean(x, c, bits) for _ in range(400)]
    assert all(np.isnan(d.mean[3]) and not d.informative[3] for d in draws)
    errors = np.array([np.sum((d.mean[:3] - x.mean(axis=0)[:3]) ** 2) for d in draws])
    want = float(co.m_mean_mse(np.mean(x[:, :3] ** 2, axis=0), c[:3], n, "optimal"))
    # 5 standard errors of the mean of 400: false alarms below 6e-7 were it normal.
    assert errors.mean() == pytest.approx(want, abs=5 * errors.std() / 20)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.exact_level(30.5), r"alpha: 30.5 is outside \[2\^-40, 30\]"),
        (lambda: co.exact_level(0.0), "alpha: 0.0 is outside"),
        (lambda: co.exact_m_ldp([1.0], 1.0, 1.0, None), "v must be a matrix"),
        (lambda: co.exact_m_mean([[0.0, 1.5]], [1.0, 1.0], None), r"x: 1.5 is outside \[-1, 1\]"),
        (lambda: co.exact_m_mean([[0.0]], [1.0, 1.0], None), r"x must have shape \(n, 2\)"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
