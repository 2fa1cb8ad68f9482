"""Losses with missing noise: against series to forty digits, enumeration, the whole domain."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps.shuffle_parameters import (
    deficient_epsilon,
    deficient_levels,
    shuffle_plan,
    zero_loss,
)
from explorer.privacy.noise.demonstration import polya_pmf


def _exact_loss(k, rho, a):
    with mpmath.workdps(40):
        rho, a = mpmath.mpf(rho), mpmath.mpf(a)
        p = mpmath.exp(-a)

        def f(j):
            ways = mpmath.rf(rho, j) / mpmath.factorial(j)
            return p**j * ways * mpmath.hyp2f1(rho, rho + j, j + 1, p * p)

        return float(mpmath.log(f(0) / f(k)))


@pytest.mark.parametrize(
    ("rho", "a", "k"),
    [
        (0.9, 0.005, 64),
        (0.5, 0.005, 64),
        (0.999999, 0.01, 3),
        (0.01, 0.5, 2),
        (0.3, 5.0, 1),
        (0.7, 1e-4, 1),
        (0.7, 1e-4, 5000),
        (0.5, 1e-6, 1),
        (1e-6, 0.1, 4),
        (0.9, 100.0, 2),
    ],
)
def test_loss_is_that_of_the_series(rho, a, k):
    assert float(zero_loss(k, rho, a)) == pytest.approx(_exact_loss(k, rho, a), rel=1e-13)


@pytest.mark.parametrize("rho", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("shift", [1, 3, 7])
def test_no_outcome_loses_more_than_where_the_noise_is_zero(rho, shift):
    """By enumeration of all outcomes; and a user spread evenly loses most."""
    a, reach = 0.4, 150
    one = polya_pmf(np.arange(400), rho, math.exp(-a))
    law = np.convolve(one, one[::-1])[399 - reach : 400 + reach]
    losses = np.log(law[:-shift] / law[shift:])
    assert np.abs(losses).max() == pytest.approx(float(zero_loss(shift, rho, a)), rel=1e-9)
    assert np.argmax(np.abs(losses)) in (reach, reach - shift)
    assert (np.diff(losses[reach:]) <= 1e-12).all()


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_the_worst_user_spreads_evenly(rho):
    """Over all ways to split 6 units among 4 cells."""
    resolution, epsilon = 6, 0.9
    g = [0.0, *zero_loss(np.arange(1, 7), rho, epsilon / resolution).tolist()]

    def splits(left, cells):
        if cells == 1:
            yield (left,)
            return
        for first in range(left + 1):
            yield from ((first, *rest) for rest in splits(left - first, cells - 1))

    for cells in (1, 2, 3, 4):
        worst = max(sum(g[v] for v in split) for split in splits(resolution, cells))
        found = deficient_epsilon(epsilon, resolution, 1 - rho, cells).value
        assert float(found) == pytest.approx(worst, rel=1e-12)


def test_published_numbers():
    """ε_i = .32: .43 at 10 % missing and, at B = 64, 1.7 at 50 %, for data in one cell."""
    found = deficient_epsilon(0.32129, 64, [0.0, 0.1, 0.5, 1.0])
    assert found.role is Role.EXACT
    np.testing.assert_allclose(found.value[:3], [0.32129, 0.43311, 1.72798], rtol=1e-5)
    assert found.value[3] == math.inf
    np.testing.assert_allclose(deficient_epsilon(0.32129, 2**20, 0.1).value, 0.43467, rtol=1e-5)


UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 1e-16, 1 - 1e-16, 1.0]))


@given(
    st.floats(1e-300, 800),
    st.one_of(st.integers(1, 2**40), st.integers(1, 10)),
    UNIT,
    st.integers(1, 10**12),
)
def test_the_whole_domain(epsilon, resolution, missing, cells):
    value = float(deficient_epsilon(epsilon, resolution, missing, cells).value)
    assert value >= epsilon
    one = float(deficient_epsilon(epsilon, resolution, missing).value)
    assert one <= value * (1 + 1e-9)
    less = float(deficient_epsilon(epsilon, resolution, missing / 2, cells).value)
    assert less <= value * (1 + 1e-9)
    assert (missing < 1) == math.isfinite(value) or 1 - missing == 0


def test_levels_of_a_plan():
    parts = (Fraction(0), Fraction(1, 2), Fraction(1, 4))
    plan = shuffle_plan(parts, 100, 64, 1e-6)
    np.testing.assert_allclose(deficient_levels(plan, 0.0), [0.5, 0.25])
    worst, place = deficient_levels(plan, 0.2), deficient_levels(plan, 0.2, one_place=True)
    np.testing.assert_allclose(
        worst, deficient_epsilon([0.5, 0.25], 64, 0.2, [4, 16]).value, rtol=1e-12
    )
    np.testing.assert_array_equal(deficient_levels(plan, [0.0, 0.2])[1], worst)
    assert (worst > place).all()
    assert (place > [0.5, 0.25]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: deficient_epsilon(0.0, 4, 0.1), "epsilon: 0 is outside"),
        (lambda: deficient_epsilon(1.0, 0, 0.1), "resolution: 0 is outside"),
        (lambda: deficient_epsilon(1.0, 4, 1.1), "missing: 1.1 is outside"),
        (lambda: deficient_epsilon(1.0, 4, 0.1, 0), "cells: 0 is outside"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call()
