"""Randomised response on three symbols: every count listed, certified rounds, how good it is."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import Role
from explorer.privacy.shuffle_rdp import numerical, one_round as rounds
from explorer.privacy.shuffling import shuffled_epsilon
from tests.privacy.test_shuffle_composition import exact_delta, only

SIDES = (Role.LOWER, Role.UPPER)
LOG_EPS0 = st.floats(math.log(0.02), math.log(12)).map(math.exp)


def law_of_counts(holders, eps0):
    """The law of the shuffled messages of clients who hold these symbols, message by message."""
    large = mpmath.exp(mpmath.mpf(eps0))
    law = {(0, 0, 0): mpmath.mpf(1)}
    for own in holders:
        longer = Counter()
        for counts, mass in law.items():
            for said in range(3):
                more = tuple(c + (i == said) for i, c in enumerate(counts))
                longer[more] += mass * (large if said == own else 1) / (large + 2)
        law = longer
    return law


@cache
def one_round(eps0, k, n):
    """Both laws of one round with k of n sampled, all but the first client holding 3."""
    with mpmath.workdps(40):
        without = law_of_counts([2] * k, eps0)
        return [
            {
                counts: (k * mass + (n - k) * without[counts]) / n
                for counts, mass in law_of_counts([own] + [2] * (k - 1), eps0).items()
            }
            for own in (0, 1)
        ]


def enumerated(eps, eps0, k, n):
    with mpmath.workdps(40):
        first, second = one_round(eps0, k, n)
        large = mpmath.exp(mpmath.mpf(eps))
        return mpmath.fsum(max(first[c] - large * second[c], 0) for c in first)


@cache
def every_sum(eps0, k, n, T):
    """All sums of T losses with their probabilities."""
    with mpmath.workdps(40):
        first, second = one_round(eps0, k, n)
        single = Counter()
        for counts, mass in first.items():
            loss = mpmath.log(mass / second[counts])
            single[mpmath.nstr(loss, 30)] += mass
        atoms = [(mpmath.mpf(loss), mass) for loss, mass in single.items()]
        sums = {mpmath.mpf(0): mpmath.mpf(1)}
        for _ in range(T):
            longer = {}
            for (total, p), (loss, q) in itertools.product(sums.items(), atoms):
                key = mpmath.mpf(mpmath.nstr(total + loss, 30))
                longer[key] = longer.get(key, 0) + p * q
            sums = longer
        return list(sums.items())


@given(LOG_EPS0, st.integers(1, 12), st.sampled_from([0, 0, 1, 5, 90]), st.floats(0, 0.999))
@settings(max_examples=30)
def test_one_round_is_its_enumeration_rounded_down(eps0, k, more, share):
    n = k + more
    eps = share * float(rdp.pure_epsilon(eps0, k, n))
    exact = enumerated(eps, eps0, k, n)
    found = rdp.three_symbol_delta(eps, eps0, k, n)
    assert found <= exact
    assert found == pytest.approx(float(exact), rel=1e-10, abs=1e-16)
    delta = float(exact)
    if 1e-14 < delta < 1:
        back = rdp.three_symbol_round_epsilon(eps0, k, n, delta)
        assert enumerated(back, eps0, k, n) >= delta * (1 - 1e-15)
        assert back <= eps * (1 + 1e-15)
        assert enumerated(back, eps0, k, n) == pytest.approx(delta, rel=1e-8)


@pytest.mark.full
@pytest.mark.parametrize(
    ("eps0", "k", "n", "T"), [(1.0, 1, 1, 60), (3.0, 1, 50, 50), (2.0, 2, 4, 12), (1.0, 3, 30, 5)]
)
def test_composed_rounds_lie_on_their_side_of_every_sum(eps0, k, n, T):
    sums = every_sum(eps0, k, n, T)
    whole = exact_delta(sums, 0)
    for route, share, side in itertools.product(
        ("listed", "line", "lattice"), (0.5, 1e-3, 1e-9), SIDES
    ):
        delta = float(whole * share)
        law = rdp.three_symbol_loss(eps0, k, n, side)
        rounds, upper, which = only(route, law, side), side is Role.UPPER, (route, share, side)
        eps = rounds.epsilon(delta, T).value
        found = exact_delta(sums, eps)
        assert found <= delta if upper else found >= delta or eps == 0, which
        value, truth = rounds.delta(0.5 * eps, T).value, exact_delta(sums, 0.5 * eps)
        assert value >= truth if upper else value <= truth, which


@given(
    LOG_EPS0,
    st.integers(1, 300),
    st.integers(1, 50),
    st.floats(-0.05, 0.999),
    st.sampled_from([30, 700]),
)
def test_the_law_of_losses_is_the_round_merged_below_and_split_above(eps0, k, times, share, cells):
    n = times * k
    eps = max(share, 0.0) * float(rdp.pure_epsilon(eps0, k, n))
    exact = float(rdp.three_symbol_delta(eps, eps0, k, n))
    below, above = (
        rdp.Composition(rdp.three_symbol_loss(eps0, k, n, side, cells), side).delta(eps, 1).value
        for side in SIDES
    )
    assert below <= exact * (1 + 1e-9) + 1e-15
    assert above >= exact * (1 - 1e-9) - 1e-15
    whole = rdp.Composition(rdp.three_symbol_loss(eps0, k, n, cells=10**6), Role.LOWER)
    assert whole.delta(eps, 1).value == pytest.approx(exact, rel=1e-7, abs=1e-13)


@given(
    st.floats(0.1, 3),
    st.integers(600, 4000),
    st.integers(1, 100),
    st.integers(2, 10**6),
    st.floats(-12, -1),
)
@settings(max_examples=12)
def test_some_outcomes_stand_for_all(eps0, said, times, T, log_delta):
    # Where most numbers of messages are left out the result is below that of all, and as near.
    k = int(said * (math.exp(eps0) + 2) / 2)
    listed, thin = (
        rdp.three_symbol_loss(eps0, k, times * k, cells=400, thin=only_some)
        for only_some in (False, True)
    )
    delta = 10.0**log_delta
    above = rdp.Composition(
        rdp.three_symbol_loss(eps0, k, times * k, Role.UPPER, thin=False), Role.UPPER
    ).epsilon(delta, T)
    every, some = (rdp.Composition(law, Role.LOWER).epsilon(delta, T) for law in (listed, thin))
    assert some.value <= above.value * (1 + 1e-7)
    assert some.value >= every.value - 3 * (some.excess + every.excess) - 1e-12


@pytest.mark.parametrize(
    ("eps0", "n", "two", "three"),
    [
        (0.7, 10**5, 0.006701, 0.006697),
        (1.0, 10**5, 0.010142, 0.010917),
        (2.0, 10**3, 0.323279, 0.371973),
        (2.0, 10**5, 0.024661, 0.031230),
        (4.0, 10**5, 0.084714, 0.117025),
    ],
)
def test_table_of_single_rounds(eps0, n, two, three):
    assert rdp.randomised_response_round_epsilon(eps0, n, n, 1e-6) == pytest.approx(two, abs=6e-7)
    assert rdp.three_symbol_round_epsilon(eps0, n, n, 1e-6) == pytest.approx(three, abs=6e-7)
    assert rdp.lower_round_epsilon(eps0, n, n, 1e-6) == pytest.approx(max(two, three), abs=6e-7)


@pytest.mark.parametrize(
    ("eps0", "low", "high"),
    [
        (1.0, 0.04980, 0.04983),
        (2.0, 0.13732, 0.13736),
        (3.0, 0.2756, 0.2759),
        (4.0, 0.4962, 0.4968),
    ],
)
def test_table_of_composed_rounds(eps0, low, high):
    rounds = (eps0, 10**3, 10**6, 10**5, 1e-8)
    found = rdp.three_symbol_epsilon(*rounds)
    assert low <= float(found.value) <= high
    assert not found.truncated
    assert found.role is Role.LOWER
    two = float(rdp.randomised_response_epsilon(*rounds).value)
    both = rdp.lower_epsilon(*rounds)
    assert (
        float(both.value)
        == max(two, float(found.value))
        < float(rdp.clone_epsilon(*rounds, "2023").value)
    )
    # From above the same law of losses is next to it.
    law = rdp.three_symbol_loss(*rounds[:3], Role.UPPER)
    above = rdp.Composition(law, Role.UPPER).epsilon(1e-8, 10**5).value
    assert float(found.value) <= above <= float(found.value) * (1 + 1e-4)


@given(LOG_EPS0, st.integers(1, 10**7), st.floats(-280, -0.01))
def test_nowhere_above_the_clones_of_one_common_randomiser(eps0, n, power):
    lower = rdp.lower_round_epsilon(eps0, n, n, 10.0**power)
    assert lower <= shuffled_epsilon(eps0, n, 10.0**power, "2023") <= eps0


@given(
    LOG_EPS0, st.integers(1, 10**5), st.integers(1, 100), st.integers(1, 10**6), st.floats(-12, -1)
)
def test_composed_it_is_nowhere_above_the_clones(eps0, k, times, T, log_delta):
    rounds = (eps0, k, times * k, T, 10.0**log_delta)
    lower = float(rdp.lower_epsilon(*rounds).value)
    assert lower <= float(rdp.clone_epsilon(*rounds, "2023").value)
    assert lower >= float(rdp.randomised_response_epsilon(*rounds).value)


def summed(eps, eps0, k, n):
    """δ of one round of 3RR as a sum over N, of positive terms with 40 digits."""
    with mpmath.workdps(40):
        large, at = mpmath.exp(mpmath.mpf(eps0)), mpmath.exp(mpmath.mpf(eps))
        p, k, n = 2 / (large + 2), mpmath.mpf(k), mpmath.mpf(n)
        rest = 1 - 1 / large
        share = (1 - at / large + (at - 1) / large**2) / ((at + 1) * rest)
        less = (at - 1) / (at + 1) * (k / large + n - k) / large / rest
        total = mpmath.mpf(0)
        for N in range(int(less / share) + 1, int(min(k, 2 * less / share + 6 * k * p + 100)) + 1):
            x, coin, loss = share * N - less, mpmath.mpf(2) ** -N, mpmath.mpf(0)
            for said in range(max(int(mpmath.ceil(x)), 0)):
                loss += (x - said) * coin
                coin *= (N - said) / mpmath.mpf(said + 1)
            total += mpmath.binomial(k, N) * p**N * (1 - p) ** (k - N) * loss
        return (1 + at) * (large - 1) / n * total


DEEP = [
    # ε₀, k, n, ε: the tail of V grows with N, then falls, and the largest summand is near either.
    (11.2267, 2010391, 60752172, 0.0998258),
    (11.6252, 1238516, 445235800, 0.0137566),
    (0.165783, 278, 1394, 0.01758742),
    (0.0521504, 308, 931, 0.00790741),
    (4.64293, 1320, 9109, 0.520457),
    (0.02443869, 300, 300, 0.0119083),
    (9.0, 40000, 40000, 3.0),
]


@pytest.mark.parametrize(("eps0", "k", "n", "eps"), DEEP)
def test_deep_tails_are_rounded_down_and_close(eps0, k, n, eps):
    exact = summed(eps, eps0, k, n)
    found = rdp.ThreeSymbolRound(eps0, k, n).delta(eps)[0]
    assert exact * (1 - mpmath.mpf("3e-11")) <= found <= exact
    solved = rdp.ThreeSymbolRound(eps0, k, n).epsilon(float(exact))[0]
    assert eps * (1 - 1e-9) <= solved <= eps * (1 + 1e-15)


def test_rare_messages_of_a_huge_crowd_are_found():
    # Of 5·10¹⁰ clients some 700 report 1 or 2: ε was 0 here, as the search for them was too coarse.
    found = rdp.three_symbol_round_epsilon(18.768774, 51884793000, 51884793000, 4.366e-4)
    assert 0.15 < found < shuffled_epsilon(18.768774, 51884793000, 4.366e-4, "2023")


@given(
    st.lists(
        st.tuples(
            LOG_EPS0, st.floats(0, 27), st.floats(0, 1), st.floats(-60, -0.1), st.floats(0, 1)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_many_rounds_at_once_are_as_one_by_one(drawn):
    eps0, log_n, kept, log_delta, share = np.array(drawn).T
    n = np.floor(np.exp(log_n))
    k = np.maximum(np.floor(n * kept**3), 1.0)
    at, delta = share * eps0, np.exp(log_delta)
    many = rdp.ThreeSymbolRound(eps0, k, n)
    alone = [rdp.ThreeSymbolRound(*one) for one in zip(eps0, k, n, strict=True)]
    deltas = np.array([one.delta(x)[0] for one, x in zip(alone, at, strict=True)])
    solved = np.array([one.epsilon(d)[0] for one, d in zip(alone, delta, strict=True)])
    assert np.allclose(many.delta(at), deltas, rtol=1e-9, atol=1e-300)
    assert np.allclose(many.epsilon(delta), solved, rtol=1e-9, atol=1e-300)


def test_a_crowd_too_large_to_be_listed_is_lowered(monkeypatch):
    # The normal tails that stand for exact ones from there on are 1e-5 below them.
    curve = rdp.ThreeSymbolRound(1.0, 3e6, 3e6)
    eps = curve.epsilon(np.array([1e-2, 1e-6, 1e-12, 1e-100]))
    sampled = curve.delta(eps)
    monkeypatch.setattr(rounds, "_WIDE", math.inf)
    ratio = sampled / curve.delta(eps)
    assert np.all((ratio < 1) & (ratio > 1 - 2e-5))


@pytest.mark.parametrize("eps0", [0.1, 0.5, math.log(2), 1.0, 2.0, 4.0, 8.0])
def test_no_randomiser_does_better_to_first_order(eps0):
    """Columns with entries 1 and E of (P, Q, R): weights that maximise the sum of (P−Q)²/R."""
    large = math.exp(eps0)
    columns = np.array(list(itertools.product((1.0, large), repeat=3)))
    gain = np.square(columns[:, 0] - columns[:, 1]) / columns[:, 2]
    best = linprog(-gain, A_eq=columns.T, b_eq=np.ones(3), method="highs")
    two, three = (large - 1) ** 2 / large, 2 * (large - 1) ** 2 / (large + 2)
    assert -best.fun == pytest.approx(max(two, three), rel=1e-9)
    # And ε follows, where δ is as far out on either law: 3RR wins from e^ε₀ = 2 on.
    k = 10**8
    lower = rdp.randomised_response_round_epsilon(eps0, k, k, 1e-6 * math.sqrt(two))
    found = rdp.three_symbol_round_epsilon(eps0, k, k, 1e-6 * math.sqrt(three))
    assert found / lower == pytest.approx(math.sqrt(three / two), rel=5e-3)


def test_odds_of_the_worst_known_randomiser():
    distance = numerical.composed_lower_total_variation(2.0, 10**3, 10**6, 10**5)
    assert distance.role is Role.LOWER
    # The published 0.011758 is the lower end of an interval; the upper end here is 0.01176346.
    above = rdp.Composition(rdp.three_symbol_loss(2.0, 1e3, 1e6, Role.UPPER, 3000), Role.UPPER)
    assert 0.011758 <= float(distance.value) <= above.delta(0.0, 10**5).value <= 0.011765
    assert float(distance.value) > float(
        numerical.composed_response_total_variation(2.0, 10**3, 10**6, 10**5).value
    )


def test_domain_and_the_ends():
    assert rdp.three_symbol_delta(0.0, 0.0, 5, 5) == 0
    assert rdp.three_symbol_round_epsilon(2.0, 5, 5, 1.0) == 0
    assert rdp.three_symbol_delta(2.0, 2.0, 5, 5) == 0
    # ε₀ = 800 has no e^ε₀; the 3RR of 100 is as good.
    assert rdp.three_symbol_round_epsilon(800.0, 1, 1, 1e-6) == pytest.approx(100, rel=1e-6)
    with pytest.raises(ValueError, match="k"):
        rdp.three_symbol_delta(1.0, 1.0, 5, 4)
    known = rdp.larger_of([rdp.Certified(1.0, 0.0), rdp.Certified(0.5, 0.2)])
    assert known == rdp.Certified(1.0, 0.0)
    assert rdp.larger_of([rdp.Certified(1.0, 0.0), rdp.Certified(0.5, 0.7)]).excess > 0.1
