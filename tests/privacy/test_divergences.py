"""Lemma 1 and the small divergences everything else is made of."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.binomial import log_pmf, stirling_error
from explorer.privacy.core.composition import pure_dp_renyi, subsampled_epsilon
from explorer.privacy.core.divergences import (
    conversion_penalty,
    epsilon_from_rdp,
    hockey_stick,
    orders_up_to,
)


def test_penalty_is_negative_only_for_large_delta():
    order = np.arange(2, 513)
    turning = (1 - 1 / order) ** (order - 1.0) / order
    assert np.all(conversion_penalty(order, turning * 1.001) < 0)
    assert np.all(conversion_penalty(order, turning * 0.999) > 0)


@given(
    st.integers(2, 60),
    st.floats(1e-12, 0.5),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=4),
)
def test_conversion_is_the_minimum_over_orders(top, delta, rounds):
    orders = orders_up_to(top)
    rdp = 1e-5 * orders
    found = epsilon_from_rdp(rdp, orders, np.array(rounds), delta)
    for i, T in enumerate(rounds):
        each = [T * r + conversion_penalty(o, delta) for r, o in zip(rdp, orders, strict=True)]
        assert found.epsilon[i] == pytest.approx(max(min(each), 0.0), rel=1e-12, abs=1e-15)
        assert found.at_edge[i] == (found.order[i] == top)


def test_conversion_clips_at_zero_unless_told_not_to():
    orders = orders_up_to(512)
    assert epsilon_from_rdp(1e-9 * orders, orders, 1, 1e-3).epsilon == 0.0
    raw = epsilon_from_rdp(1e-9 * orders, orders, 1, 1e-3, clip=False)
    assert raw.epsilon == pytest.approx(-6.4e-4, rel=0.1)


def test_gaussian_mechanism_against_its_known_conversion():
    # ρ(λ) = λ/2σ² at σ = 1: Lemma 1's minimum over real orders is a smooth function; the integers
    # come within 1 % of it and never below.
    orders = orders_up_to(200)
    found = epsilon_from_rdp(orders / 2, orders, 1, 1e-6)
    real = np.linspace(1.01, 200, 400_000)
    best = (real / 2 + conversion_penalty(real, 1e-6)).min()
    assert best <= found.epsilon <= 1.01 * best


@given(st.floats(1.5, 4096), st.floats(0, 800))
def test_pure_dp_renyi_is_randomised_responses_divergence(order, eps):
    with mpmath.workdps(700):
        e, lam = mpmath.mpf(eps), mpmath.mpf(order)
        ratio = (mpmath.exp(lam * e) + mpmath.exp((1 - lam) * e)) / (1 + mpmath.exp(e))
        exact = float(mpmath.log(ratio) / (lam - 1))
    assert pure_dp_renyi(order, eps) == pytest.approx(exact, rel=1e-11, abs=1e-300)
    assert pure_dp_renyi(order, eps) <= eps * (1 + 1e-12)


@given(st.floats(0, 800), st.floats(0, 1))
def test_subsampling_against_many_digits(eps, gamma):
    with mpmath.workdps(400):
        exact = float(mpmath.log(1 + mpmath.mpf(gamma) * (mpmath.exp(mpmath.mpf(eps)) - 1)))
    assert subsampled_epsilon(eps, gamma) == pytest.approx(exact, rel=1e-12, abs=1e-300)


def test_hockey_stick_of_two_coins():
    p, q = np.array([0.8, 0.2]), np.array([0.3, 0.7])
    assert hockey_stick(p, q, 0.0) == pytest.approx(0.5)
    assert hockey_stick(p, q, math.log(2)) == pytest.approx(0.2)
    assert hockey_stick(p, q, 5.0) == 0.0
    assert hockey_stick(p, q, np.array([0.0, 5.0])) == pytest.approx([0.5, 0.0])


@pytest.mark.parametrize(
    ("trials", "p"), [(1, 0.3), (7, 0.5), (40, 0.02), (10**5, 0.3), (10**12, 0.25)]
)
def test_binomial_probabilities_keep_their_digits(trials, p):
    centre = round(trials * p)
    reach = math.ceil(6 * math.sqrt(trials * p * (1 - p)))
    counts = sorted({0, trials, centre, max(0, centre - reach), min(trials, centre + reach)})
    found = log_pmf(counts, trials, math.log(p), math.log1p(-p))
    with mpmath.workdps(60):
        for m, value in zip(counts, found, strict=True):
            exact = (
                mpmath.loggamma(trials + 1)
                - mpmath.loggamma(m + 1)
                - mpmath.loggamma(trials - m + 1)
                + m * mpmath.log(mpmath.mpf(p))
                + (trials - m) * mpmath.log(1 - mpmath.mpf(p))
            )
            assert value == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def test_stirling_error_wants_whole_small_numbers():
    with pytest.raises(ValueError, match="m: below 16"):
        stirling_error(np.array([2.5]))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: conversion_penalty(1.0, 0.1), "lam: 1 is outside"),
        (lambda: conversion_penalty(2.0, 0.0), "delta: 0 is outside"),
        (lambda: epsilon_from_rdp([1.0], [2.0], 0, 0.1), "T: 0 is outside"),
        (lambda: epsilon_from_rdp([1.0], [2.0], 1.5, 0.1), "T: 1.5 is not a whole number"),
        (lambda: orders_up_to(5000), "lam_max: 5000 is outside"),
        (lambda: subsampled_epsilon(1.0, 1.5), "gamma: 1.5 is outside"),
        (lambda: subsampled_epsilon(-1.0, 0.5), "eps: -1 is outside"),
        (lambda: subsampled_epsilon(math.nan, 0.5), "eps: nan is outside"),
    ],
)
def test_errors_name_parameter_value_and_domain(call, named):
    with pytest.raises(ValueError, match=named):
        call()
