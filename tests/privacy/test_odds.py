"""Odds of an observer: against enumeration, known tables and each other; always the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import odds
from explorer.privacy.core.bound import Grade, Role
from explorer.privacy.core.composition import kov_exact_delta
from explorer.privacy.shuffle_rdp import clone_epsilon, numerical
from explorer.privacy.shuffling import shuffled_delta


@pytest.mark.parametrize(
    ("distance", "most"),
    [
        (odds.clone_total_variation(2.0, 10**5), 0.005224),
        (odds.clone_total_variation(4.0, 10**5), 0.017972),
        (numerical.composed_clone_total_variation(2.0, 10**3, 10**6, 10**5), 0.017477),
        (numerical.composed_clone_total_variation(3.0, 10**3, 10**6, 10**5), 0.036528),
        (numerical.composed_clone_total_variation(2.0, 10**3, 10**6, 10**5, "2023"), 0.012975),
        (numerical.composed_clone_total_variation(2.0, 500, 10**4, 400), 0.079739),
        (numerical.composed_clone_total_variation(2.0, 500, 10**4, 400, "2023"), 0.058875),
        (odds.count_total_variation(10**4, 34.0677e-4), 0.068363),
        (odds.two_bin_total_variation(10**4, 42.7468e-4), 0.086348),
    ],
)
def test_the_specs_table(distance, most):
    assert distance.role is Role.UPPER
    assert float(distance.value) == pytest.approx(most, rel=2e-4)


def test_randomised_response_attains_what_epsilon_and_delta_alone_allow():
    eps = np.array([0.0, 0.3, 2.0, 30.0])
    told = odds.guess_from_eps_delta(eps, 0.0)
    assert np.all(told >= np.exp(eps) / (1 + np.exp(eps)) * (1 - 1e-16))
    assert told == pytest.approx(np.exp(eps) / (1 + np.exp(eps)), rel=1e-15)
    assert odds.guess_from_total_variation(odds.pure_total_variation(eps).value) == pytest.approx(
        told, rel=1e-15
    )


@given(st.floats(0, 40), st.floats(0, 1))
def test_guesses_are_rounded_up(eps, delta):
    # Rational arithmetic on the double that stands for e^ε.
    power = Fraction(math.exp(eps))
    exact = (power + Fraction(delta)) / (1 + power)
    assert odds.guess_from_eps_delta(eps, delta) >= exact * (1 - Fraction(3, 10**16))
    assert 0.5 <= odds.guess_from_eps_delta(eps, delta) <= 1
    assert Fraction(odds.guess_from_total_variation(delta)) >= min(
        (1 + Fraction(delta)) / 2, Fraction(1)
    )


def _binomial(n, q):
    return [math.comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(n + 1)]


@given(st.integers(1, 9), st.integers(1, 99))
def test_counts_and_two_bins_against_enumeration(n, percent):
    q = percent / 100
    law = [*_binomial(n, Fraction(q)), Fraction(0)]
    shifted = [Fraction(0), *law[:-1]]
    count = sum(max(a - b, Fraction(0)) for a, b in zip(law, shifted, strict=True))
    found = odds.count_total_variation(n, q)
    assert Fraction(float(found.value)) >= count
    assert float(found.value) == pytest.approx(float(count), rel=1e-8)
    both = sum(
        max(shifted[i] * law[j] - law[i] * shifted[j], Fraction(0))
        for i in range(n + 2)
        for j in range(n + 2)
    )
    found = odds.two_bin_total_variation(n, q)
    assert Fraction(float(found.value)) >= both
    assert float(found.value) == pytest.approx(float(both), rel=1e-8)
    assert found.grade is Grade.PROVED


@given(st.floats(0.01, 8), st.integers(1, 10**6), st.floats(0, 1))
def test_no_point_of_the_curve_says_more(eps0, k, share):
    # TV ≤ (e^ε − 1 + 2δ)/(e^ε + 1) for each (ε, δ(ε)).
    distance = float(odds.clone_total_variation(eps0, k).value)
    eps = share * eps0
    delta = float(shuffled_delta(eps, eps0, k))
    right = odds.guess_from_total_variation(distance)
    assert right <= odds.guess_from_eps_delta(eps, min(delta * (1 + 1e-9), 1.0)) * (1 + 1e-8)
    assert distance <= float(odds.pure_total_variation(eps0).value) * (1 + 1e-8)


@given(
    st.floats(0.05, 6),
    st.integers(1, 10**4),
    st.integers(1, 1000),
    st.integers(1, 10**5),
    st.floats(-12, -1),
)
def test_composed_odds_lie_between_responses_and_the_point_at_delta(eps0, k, times, T, log_delta):
    rounds = (eps0, k, times * k, T)
    upper = numerical.composed_clone_total_variation(*rounds)
    lower = numerical.composed_response_total_variation(*rounds)
    assert lower.role is Role.LOWER
    assert float(lower.value) <= float(upper.value)
    delta = 10.0**log_delta
    told = odds.guess_from_eps_delta(float(clone_epsilon(*rounds, delta).value), delta)
    if not upper.truncated:
        assert odds.guess_from_total_variation(upper.value) <= told * (1 + 1e-4)


@given(st.floats(0.05, 3), st.integers(1, 300))
def test_one_message_a_round_is_strong_composition(eps0, T):
    # k = n = 1: each round is randomised response itself.
    exact = float(kov_exact_delta(0.0, eps0, T))
    upper = float(numerical.composed_clone_total_variation(eps0, 1, 1, T).value)
    assert exact * (1 - 1e-9) <= upper <= min(1.0, exact * (1 + 1e-2))
    lower = float(numerical.composed_response_total_variation(eps0, 1, 1, T).value)
    assert lower <= exact * (1 + 1e-9)


def test_domain():
    with pytest.raises(ValueError, match="delta: 2 is outside"):
        odds.guess_from_eps_delta(1.0, 2.0)
    with pytest.raises(ValueError, match="eps0: 801 is outside"):
        numerical.composed_clone_total_variation(801.0, 1, 1, 1)
