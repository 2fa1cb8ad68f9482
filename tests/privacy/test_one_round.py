"""One shuffled round as a curve: randomised response from below, the closed form inverted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.shuffling import (
    clones_closed_delta,
    clones_closed_form,
    clones_condition,
    shuffled_epsilon,
)


def enumerated_delta(eps, eps0, k, n):
    """Both hockey-stick divergences of the two laws of the count, by summing over all of it."""
    p, gamma = 1 / (math.exp(eps0) + 1), k / n
    count = np.arange(k + 1)
    law = np.array([math.comb(k, m) * p**m * (1 - p) ** (k - m) for m in count])
    other = np.convolve(
        [math.comb(k - 1, m) * p**m * (1 - p) ** (k - 1 - m) for m in range(k)], [p, 1 - p]
    )
    mixed = gamma * other + (1 - gamma) * law
    lift = math.exp(eps)
    return max(np.maximum(mixed - lift * law, 0).sum(), np.maximum(law - lift * mixed, 0).sum())


@given(
    st.floats(0.01, 6),
    st.integers(1, 40),
    st.integers(1, 60),
    st.floats(0, 1),
)
def test_small_rounds_are_their_enumeration(eps0, k, extra, share):
    n = k + extra - 1
    curve = rdp.RandomisedResponseRound(eps0, k, n)
    eps = share * float(rdp.pure_epsilon(eps0, k, n)) * 0.99
    expected = enumerated_delta(eps, eps0, k, n)
    assert curve.delta(eps)[0] == pytest.approx(expected, rel=1e-9, abs=1e-14)
    if expected > 1e-12:
        assert curve.epsilon(expected)[0] == pytest.approx(eps, rel=1e-6, abs=1e-9)


@given(st.floats(0.001, 20), st.floats(0, 9), st.floats(0, 1), st.floats(-30, -0.01))
def test_the_curve_is_the_pointwise_divergence_and_its_inverse_inverts(eps0, size, rate, power):
    n = round(10**size)
    k = max(1, round(n * rate))
    curve = rdp.RandomisedResponseRound(eps0, k, n)
    eps = float(curve.epsilon(10.0**power)[0])
    assert 0 <= eps <= float(rdp.pure_epsilon(eps0, k, n)) * (1 + 1e-12)
    if k <= 1e6:
        direct = rdp.randomised_response_delta(eps, eps0, k, n)
        assert curve.delta(eps)[0] == pytest.approx(direct, rel=1e-6, abs=1e-15)
    assert curve.delta(eps)[0] <= 10.0**power * (1 + 1e-6) + 1e-15


@pytest.mark.parametrize(
    ("k", "eps0", "eps", "exact"),
    # Sums of both tails with 40 digits (Euler–Maclaurin).
    [
        (160 * 10**9, 1.2855291503895698, 3.16e-5, 7.4170090408457547e-27),
        (600 * 10**9, 0.4979545243722878, 5.67e-6, 9.2798834996618047e-26),
        (750 * 10**9, 0.8131107668032833, 9.33e-6, 2.0046275769633504e-29),
    ],
)
def test_of_most_messages_the_bound_is_still_below(k, eps0, eps, exact):
    assert exact * (1 - 3e-8) < rdp.RandomisedResponseRound(eps0, k, k).delta(eps)[0] < exact
    assert rdp.ResponseRounds(eps0, k, k).delta(eps, 1).value < exact


@pytest.mark.parametrize(
    ("k", "n", "eps0", "eps", "exact"),
    [
        (6 * 10**11, 10**12, 1e-3, 0.0, 3.0901937449448732e-10),
        (10, 1000, 1e-9, 2e-12, 4.7656250061448056e-13),
    ],
)
def test_ratios_next_to_one_keep_their_digits(k, n, eps0, eps, exact):
    assert rdp.randomised_response_delta(eps, eps0, k, n) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("curve", "k", "n", "eps0", "eps", "exact"),
    # Both laws summed with 60 digits.
    [
        (
            rdp.RandomisedResponseRound,
            15,
            47,
            0.5691851575505448,
            0.21892020619431543,
            1.91269386e-19,
        ),
        (
            rdp.RandomisedResponseRound,
            18,
            18,
            1.9741448566287736,
            1.9741448566131423,
            1.50449525e-12,
        ),
        (rdp.ThreeSymbolRound, 15, 47, 0.5691851575505448, 0.21892020619431543, 1.86956376e-21),
    ],
)
def test_near_the_largest_ratio_the_bound_is_still_below(curve, k, n, eps0, eps, exact):
    assert exact * (1 - 2e-3) < curve(eps0, k, n).delta([eps])[0] < exact


def test_all_but_one_of_very_many_sampled():
    # 1 − γ is 1e-12, of which the rounded γ left four digits; the sum with 60 digits.
    delta = rdp.randomised_response_delta(27.6, 40.0, 10**12 - 1, 10**12)
    assert delta == pytest.approx(0.03054064974828598, rel=1e-9)


def test_below_every_bound_for_all_randomisers():
    for eps0 in (0.1, 1.0, 4.0, 8.0):
        k = np.array([10, 100, 1000, 10**5])
        lower = rdp.randomised_response_round_epsilon(eps0, k, k, 1e-6)
        for variant in ("2021", "2023"):
            assert np.all(lower <= shuffled_epsilon(eps0, k, 1e-6, variant) * (1 + 1e-9))
    assert rdp.randomised_response_round_epsilon(0.0, 5, 5, 1e-6) == 0


@given(
    st.floats(1e-3, 16),
    st.integers(1, 20_000),
    st.floats(-300, -0.01),
    st.sampled_from(["2021", "2023"]),
)
@example(1.0, 10, -30.0, "2021")
def test_the_clones_bound_is_nowhere_below_randomised_response(eps0, n, power, variant):
    """Not by a rounding either: where δ is small both are ε₀, up to its last digits."""
    delta = 10.0**power
    lower = rdp.randomised_response_round_epsilon(eps0, n, n, delta)
    assert lower <= shuffled_epsilon(eps0, n, delta, variant) <= eps0


def test_the_closed_form_ignored_condition_is_unsound():
    """Errata shuf-A9: at ε₀ = 4, k = 1000 the closed form claims less than 2RR alone leaks."""
    claimed = clones_closed_form(4.0, 1000, 5e-11)
    assert claimed == pytest.approx(2.3466, abs=1e-4)
    assert not clones_condition(4.0, 1000, 5e-11)
    assert rdp.RandomisedResponseRound(4.0, 1000, 1000).delta(claimed)[0] == pytest.approx(
        6.8e-8, rel=1e-2
    )
    assert rdp.randomised_response_round_epsilon(4.0, 1000, 1000, 5e-11) > claimed


@given(st.floats(0.01, 12), st.integers(1, 10**9), st.floats(-290, -0.7))
def test_the_closed_form_inverts(eps0, k, power):
    delta = 10.0**power
    eps = clones_closed_form(eps0, k, delta)
    if eps <= 700:
        assert math.log(clones_closed_delta(eps, eps0, k)) == pytest.approx(
            math.log(delta), rel=1e-6, abs=1e-6
        )


def test_the_closed_form_has_no_delta_below_its_linear_term():
    assert clones_closed_delta(0.0, 1.0, 100) == 1.0
    assert clones_closed_delta(800.0, 800.0, 1) == 1.0
    with pytest.raises(ValueError, match="eps0: 0"):
        clones_closed_delta(0.1, 0.0, 10)
