"""The distance that coupled draws exceed with probability at most δ, for 0/1 distances."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um


@given(st.floats(0, 1), st.integers(1, 40), st.floats(-30, 0).map(math.exp))
def test_it_is_the_quantile_of_a_binomial(r, s, delta):
    masses = [math.comb(s, k) * r**k * (1 - r) ** (s - k) for k in range(s + 1)]
    k = round(um.binomial_threshold(delta, r, s) * s)
    assert math.fsum(masses[k + 1 :]) <= delta * (1 + 1e-9)
    if k > 0:
        assert math.fsum(masses[k:]) > delta * (1 - 1e-9)


@given(
    st.floats(0, 1), st.integers(1, 10**12), st.floats(-690, 0).map(math.exp).filter(lambda d: d)
)
def test_no_bound_is_below_it(r, s, delta):
    least = um.binomial_threshold(delta, r, s)
    assert 0 <= least <= 1
    for rule in um.Concentration:
        bound = um.bounded_reduction(1.0, delta, r, s, rule).threshold
        assert least <= float(bound) * (1 + 1e-9) + 1e-12


def test_many_draws_come_near_the_mean():
    found = um.binomial_threshold(1e-12, 0.008, np.array([1e3, 1e4, 1e6, 1e9]))
    assert np.all(np.diff(found) < 0)
    assert found[-1] == pytest.approx(0.008, rel=0.01)
    # Spec: 0.01547 by KL at s = 1e4, 0.02760 by Lemma 5.2.
    assert 0.012 < found[1] < 0.01547


@given(
    st.floats(-300, 0).map(lambda x: 10.0**x),
    st.floats(-9, 0).map(lambda x: 10.0**x) | st.floats(0, 1),
    st.floats(0, 12).map(lambda x: float(round(10.0**x))),
)
def test_the_kl_threshold_is_large_enough_and_hardly_larger(delta, r, s):
    found = float(um.bounded_reduction(1.0, delta, r, s).threshold)
    if not (0.0 < r < 1.0) or found >= 1.0 or delta >= 1.0:
        return
    with mpmath.workdps(50):
        rate, need = mpmath.mpf(r), -mpmath.log(mpmath.mpf(delta)) / mpmath.mpf(s)

        def kl(c):
            return c * mpmath.log(c / rate) + (1 - c) * mpmath.log((1 - c) / (1 - rate))

        assert kl(mpmath.mpf(found)) >= need
        lower = mpmath.mpf(found) * (1 - mpmath.mpf("4e-14"))
        assert lower <= rate or kl(lower) <= need
