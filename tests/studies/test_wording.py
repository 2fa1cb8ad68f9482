"""Sentences about odds, and names of curves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.studies.base.phrases import guesses, odds, times, times_in_100, with_role


@given(st.floats(0, 900), st.floats(0, 1))
def test_odds_are_never_below_the_best_test(epsilon, delta):
    # (e^ε + δ)/(1 + e^ε): what randomised response that fails with probability δ attains.
    right, wrong = (float(part) for part in odds(epsilon, delta).split(":"))
    low = math.exp(-epsilon)
    assert right + wrong == pytest.approx(100)
    assert right >= 100 * (1 + delta * low) / (1 + low) - 1e-6


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.5, "50"),
        (0.50873, "50.88"),
        (0.5088, "50.88"),
        (0.508800001, "50.89"),
        (0.51826, "51.83"),
        (0.99989, "99.99"),
        (0.99991, "100"),
        (1.0, "100"),
    ],
)
def test_times_in_100_are_rounded_up_to_the_hundredth(chance, said):
    assert times_in_100(chance) == said


@pytest.mark.parametrize(("epsilon", "delta", "best"), [(0.0, 0.0, "50:50"), (0.0, 0.1, "55:45")])
def test_odds_without_epsilon(epsilon, delta, best):
    assert odds(epsilon, delta) == best


def test_what_is_lost_is_said_to_be_lost():
    for epsilon, delta in ((900.0, 0.0), (math.inf, 0.0), (0.1, 1.0)):
        assert guesses(epsilon, delta, "which", "after").startswith("This bound gives no useful")


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
