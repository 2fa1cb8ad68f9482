"""Numbers in sentences: rounded to the side on which what is said stays true."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.privacy.bounds import Role
from explorer.studies.wording import at_least, at_most, guesses, odds, times, with_role


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (3.848989, "3.849", "3.848"),
        (0.0806785, "0.08068", "0.08067"),
        (0.1 + 0.2, "0.3", "0.3"),
        (25.0, "25", "25"),
        (1e-6, "1e-6", "1e-6"),
        (2.8312e-6, "2.832e-6", "2.831e-6"),
        (99.99999, "100", "99.99"),
        (0.0, "0", "0"),
    ],
)
def test_bounds_are_rounded_to_their_own_side(value, up, down):
    assert (at_most(value), at_least(value)) == (up, down)


@given(st.floats(1e-300, 1e300), st.integers(1, 6))
def test_rounding_moves_by_one_digit_at_most(value, digits):
    up, down = float(at_most(value, digits)), float(at_least(value, digits))
    assert down <= value * (1 + 1e-11)
    assert up >= value * (1 - 1e-11)
    assert up - down <= 1.001 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits) * 10


def test_infinity_and_nothing_are_said_as_they_are():
    assert at_most(math.inf) == "inf"
    assert at_least(0.0) == "0"


@given(st.floats(0, 900), st.floats(0, 1))
def test_odds_are_never_below_the_best_test(epsilon, delta):
    # (e^ε + δ)/(1 + e^ε): what randomised response that fails with probability δ attains.
    right, wrong = (float(part) for part in odds(epsilon, delta).split(":"))
    low = math.exp(-epsilon)
    assert right + wrong == pytest.approx(100)
    assert right >= 100 * (1 + delta * low) / (1 + low) - 1e-6


@pytest.mark.parametrize(("epsilon", "delta", "best"), [(0.0, 0.0, "50:50"), (0.0, 0.1, "55:45")])
def test_odds_without_epsilon(epsilon, delta, best):
    assert odds(epsilon, delta) == best


def test_what_is_lost_is_said_to_be_lost():
    for epsilon, delta in ((900.0, 0.0), (math.inf, 0.0), (0.1, 1.0)):
        assert guesses(epsilon, delta, "which", "after").startswith("No protection")


@pytest.mark.parametrize(
    ("label", "role", "whole"),
    [
        ("Theorem 1 (upper bound)", Role.UPPER, "Theorem 1 (upper bound)"),
        ("Theorem 3.2", Role.UPPER, "Theorem 3.2 — upper bound"),
        ("M_mean, exact constraint", Role.EXACT, "M_mean, exact constraint — exact"),
        ("exact hops", Role.LOWER, "exact hops — lower bound"),
        ("error (exact)", Role.EXACT, "error (exact)"),
    ],
)
def test_a_name_tells_its_role_unless_it_says_so_itself(label, role, whole):
    assert with_role(label, role, " — ") == whole


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.426, "0.426 times"),
        (2.4327, "2.43 times"),
        (999.4, "999 times"),
        (999.6, "1,000 times"),
        (1361.2, "1,360 times"),
        (74_811.0, "74,800 times"),
        (2.04e12, "2.04e12 times"),
        (3e-7, "3e-7 times"),
        (math.inf, "infinitely many times"),
    ],
)
def test_ratios_are_written_for_reading(ratio, said):
    assert times(ratio) == said
