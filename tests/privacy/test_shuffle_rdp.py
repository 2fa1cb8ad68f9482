"""The shuffle accountant against many digits, enumeration, the paper's numbers and theory."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.divergences import hockey_stick, orders_up_to
from explorer.privacy.shuffling import shuffled_delta

LOG_EPS0 = st.floats(math.log(0.01), math.log(10)).map(math.exp)


@st.composite
def populations(draw, most=10**6):
    n = round(math.exp(draw(st.floats(0, math.log(most)))))
    return draw(st.integers(1, max(n, 1))), max(n, 1)


def theorem1(lam, eps0, k, n):
    """As printed, 80 digits."""
    with mpmath.workdps(80):
        e = mpmath.exp(mpmath.mpf(eps0))
        gamma, s = mpmath.mpf(k) / n, e - 1 / e
        kbar = int(mpmath.floor((k - 1) / (2 * e))) + 1
        total = mpmath.mpf(0)
        for j in range(2, lam + 1):
            if j == 2:
                z = 4 * (e - 1) ** 2 / (kbar * e)
            else:
                z = j * mpmath.gamma(mpmath.mpf(j) / 2) * (2 * s**2 / kbar) ** (mpmath.mpf(j) / 2)
            few = s**j * mpmath.exp(-(k - 1) / (8 * e))
            total += mpmath.binomial(lam, j) * gamma**j * (z + few)
        return float(mpmath.log(1 + total) / (lam - 1))


def round_laws(eps0, k, n):
    """P and Q of one round of randomised response: k messages, all 0 but for one record."""
    p = 1 / (math.exp(eps0) + 1)
    others = np.array([math.comb(k - 1, m) * p**m * (1 - p) ** (k - 1 - m) for m in range(k)])
    zero = np.convolve(others, [1 - p, p])
    one = np.convolve(others, [p, 1 - p])
    gamma = k / n
    return zero, gamma * one + (1 - gamma) * zero


def renyi(p, q, lam):
    return math.log(float(np.sum(p**lam * q ** (1.0 - lam)))) / (lam - 1)


@given(st.integers(2, 120), LOG_EPS0, populations())
def test_theorem1_against_many_digits(lam, eps0, population):
    k, n = population
    # Where the floor in k̄ is within rounding of an integer either side is right.
    x = (k - 1) / (2 * math.exp(eps0))
    assume(abs(x - round(x)) > 1e-9)
    assert rdp.upper_rdp(lam, eps0, k, n) == pytest.approx(theorem1(lam, eps0, k, n), rel=1e-11)


@pytest.mark.parametrize("lam_max", [2, 3, 33, 34, 65, 600, 1100])
def test_theorem1_tables_agree_over_block_edges(lam_max):
    table = rdp.upper_rdp_table([0.5, 8.0], [100, 10**5], 10**6, lam_max)
    longer = rdp.upper_rdp_table([0.5, 8.0], [100, 10**5], 10**6, lam_max + 40)
    np.testing.assert_allclose(table, longer[:, : lam_max - 1], rtol=1e-12)
    assert table[1, -1] == pytest.approx(theorem1(lam_max, 8.0, 10**5, 10**6), rel=1e-11)


@given(st.integers(2, 200), st.floats(0.05, 3), populations())
def test_upsilon_is_the_part_of_few_clones(lam, eps0, population):
    k, n = population
    with mpmath.workdps(200):
        e = mpmath.exp(mpmath.mpf(eps0))
        x = mpmath.mpf(k) / n * (e - 1 / e)
        exact = ((1 + x) ** lam - 1 - lam * x) * mpmath.exp(-(k - 1) / (8 * e))
        if exact < mpmath.mpf(10) ** -290:
            return
        exact = float(exact)
    assert rdp.upsilon(lam, eps0, k, n) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 7), (3, 4), (6, 6), (12, 100)])
@pytest.mark.parametrize("eps0", [0.2, 1.0, 3.0])
def test_lower_bounds_are_the_divergences_of_enumerated_laws(eps0, k, n):
    p, q = round_laws(eps0, k, n)
    for lam in (2, 3, 7, 20):
        assert rdp.lower_rdp(lam, eps0, k, n, "QP") == pytest.approx(renyi(q, p, lam), rel=1e-9)
        assert rdp.lower_rdp(lam, eps0, k, n, "PQ") == pytest.approx(renyi(p, q, lam), rel=1e-9)
    for eps in (0.0, 0.1 * eps0, 0.8 * eps0):
        forward = rdp.randomised_response_delta(eps, eps0, k, n, "QP")
        backward = rdp.randomised_response_delta(eps, eps0, k, n, "PQ")
        assert forward == pytest.approx(hockey_stick(q, p, eps), rel=1e-9, abs=1e-14)
        assert backward == pytest.approx(hockey_stick(p, q, eps), rel=1e-9, abs=1e-14)
        assert rdp.randomised_response_delta(eps, eps0, k, n) == max(forward, backward)


@pytest.mark.full
@pytest.mark.parametrize(
    ("lam", "eps0", "k", "n", "direction"),
    [
        (2, 0.01, 1000, 10**8, "QP"),
        (512, 8.0, 1, 10, "PQ"),
        (400, 6.0, 4000, 4000, "QP"),
        (64, 3.0, 9000, 9000, "PQ"),
    ],
)
def test_lower_bounds_against_many_digits(lam, eps0, k, n, direction):
    with mpmath.workdps(300):
        e = mpmath.exp(mpmath.mpf(eps0))
        p, gamma, s = 1 / (e + 1), mpmath.mpf(k) / n, e - 1 / e
        power = lam if direction == "QP" else 1 - lam
        total, mass = mpmath.mpf(0), (1 - p) ** k
        for m in range(k + 1):
            total += mass * (1 + gamma * s / k * (m - k * p)) ** power
            mass = mass * (k - m) / (m + 1) * p / (1 - p)
        exact = float(mpmath.log(total) / (lam - 1))
    assert rdp.lower_rdp(lam, eps0, k, n, direction) == pytest.approx(exact, rel=1e-10)


def test_wide_windows_are_sampled_without_loss():
    # k = 1e7 and ε₀ = 1: one count in dozens is visited. Compare with all of them.
    from explorer.privacy.shuffle_rdp.lower import Direction, RandomisedResponsePair

    sampled = RandomisedResponsePair(1.0, 1e7, 1e8, 64.0)
    every = RandomisedResponsePair(1.0, 1e7, 1e8, 64.0, dense=True)
    assert every.m.size > 20 * sampled.m.size
    for direction in (Direction.QP, Direction.PQ):
        np.testing.assert_allclose(sampled.rdp(64, direction), every.rdp(64, direction), rtol=1e-11)


@given(LOG_EPS0, populations(), st.integers(2, 512))
def test_lower_is_below_every_upper_bound(eps0, population, top):
    k, n = population
    lower = rdp.lower_rdp_table(eps0, k, n, top)
    assert np.all(lower <= rdp.capped_rdp_table(eps0, k, n, top) * (1 + 1e-9))
    # Rényi divergences grow with their order.
    assert np.all(np.diff(lower) >= -1e-9 * lower[1:])


@given(LOG_EPS0, populations(2000), st.floats(0, 1))
def test_one_round_of_randomised_response_is_below_the_clones(eps0, population, share):
    k, _ = population
    for variant in ("2021", "2023"):
        bound = shuffled_delta(share * eps0, eps0, k, variant)
        assert rdp.randomised_response_delta(share * eps0, eps0, k, k) <= bound * (1 + 1e-8)


@given(LOG_EPS0, populations(), st.integers(1, 10**6), st.floats(-12, -1))
def test_monotone_where_theory_says_so(eps0, population, T, log_delta):
    k, n = population
    delta = 10.0**log_delta
    base = rdp.upper_epsilon(eps0, k, n, T, delta, 64, capped=True).epsilon
    slack = 1 + 1e-12
    for more in (
        rdp.upper_epsilon(eps0 * 1.1, k, n, T, delta, 64, capped=True),
        rdp.upper_epsilon(eps0, k, n, T + 1, delta, 64, capped=True),
        rdp.upper_epsilon(eps0, k, n, T, delta / 2, 64, capped=True),
        rdp.upper_epsilon(eps0, k, n, T, delta, 32, capped=True),
    ):
        assert more.epsilon * slack >= base
    assert rdp.upper_epsilon(eps0, k, 2 * n, T, delta, 64, capped=True).epsilon <= base * slack
    assert base <= T * rdp.pure_epsilon(eps0, k, n) * slack
    alone = rdp.upper_epsilon(eps0, k, n, T, delta, 64)
    assert base <= alone.epsilon * slack
    lower = rdp.lower_rdp_epsilon(eps0, k, n, T, delta, 64).epsilon
    assert lower <= alone.epsilon * (1 + 1e-9)
    assert rdp.lower_rdp_epsilon(eps0 * 1.1, k, n, T, delta, 64).epsilon * (1 + 1e-9) >= lower


@given(
    st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 800.0])),
    populations(10**12),
    st.integers(1, 10**9),
    st.floats(-300, 0).map(lambda x: max(10.0**x, 1e-300)),
    st.sampled_from([2, 3, 64, 512]),
)
def test_whole_domain(eps0, population, T, delta, lam_max):
    k, n = population
    for found in (
        rdp.upper_epsilon(eps0, k, n, T, delta, lam_max),
        rdp.upper_epsilon(eps0, k, n, T, delta, lam_max, capped=True),
        rdp.lower_rdp_epsilon(eps0, k, n, T, delta, lam_max),
    ):
        assert np.isfinite(found.epsilon)
        assert found.epsilon >= 0
    for shuffle in ("none", "closed", "closed_nocond"):
        assert np.isfinite(rdp.pipeline_epsilon(eps0, k, n, T, delta, shuffle))
    assert not np.isnan(rdp.upsilon(lam_max, eps0, k, n))
    if k <= 10**8:
        assert 0 <= rdp.randomised_response_delta(eps0 / 2, eps0, k, n) <= 1


def test_no_local_leak_no_leak():
    assert np.all(rdp.upper_rdp_table(0.0, 10, 100, 64) == 0)
    assert np.all(rdp.lower_rdp_table(0.0, 10, 100, 64) == 0)
    assert rdp.upper_rdp(64, 1e-5, 10, 100) < 1e-7
    assert rdp.upsilon(5, 0.0, 10, 100) == 0


def test_floor_rounds_down_where_it_is_within_rounding():
    # ε₀ = ln 2: (k−1)/(2e^ε₀) is an integer up to rounding at k = 4i+1 (shuf-B3).
    k = np.arange(5, 4001, 4)
    assert np.all(rdp.effective_clones(math.log(2), k) == (k - 1) / 4)
    assert rdp.effective_clones(1.0, 1) == 1


def test_reverse_direction_can_be_far_larger():
    # Errata shuf-A2.
    assert rdp.lower_rdp(512, 3.0, 10**4, 10**4, "QP") == pytest.approx(0.31268, rel=1e-4)
    assert rdp.lower_rdp(512, 3.0, 10**4, 10**4, "PQ") == pytest.approx(2.04917, rel=1e-4)


def test_caps_bite_where_the_errata_say():
    # Errata shuf-A6: first orders at which Theorem 1 exceeds the Rényi cap, n = 1e6, k = 1000.
    for eps0, first in ((3.0, None), (4.0, 268), (5.0, 9), (8.0, 2)):
        over = rdp.upper_rdp_table(eps0, 1000, 10**6, 512) > rdp.renyi_cap_table(
            eps0, 1000, 10**6, 512
        )
        assert (int(orders_up_to(512)[over][0]) if over.any() else None) == first
    assert rdp.upper_epsilon(8.0, 1000, 10**6, 1000, 1e-8).epsilon == pytest.approx(2271.8, 1e-4)
    assert rdp.upper_epsilon(8.0, 1000, 10**6, 1000, 1e-8, capped=True).epsilon <= 1381.4


@pytest.mark.parametrize(("lam_max", "expected"), [(64, 0.2107), (512, 0.02254), (2048, 0.00811)])
def test_order_at_the_edge_is_reported(lam_max, expected):
    found = rdp.upper_epsilon(1.0, 10**4, 10**7, 1000, 1e-8, lam_max)
    assert found.epsilon == pytest.approx(expected, rel=5e-3)
    assert found.at_edge
    assert found.order == lam_max


@pytest.mark.parametrize(
    ("eps0", "k", "n", "theorem3", "clones"),
    [
        (2.0, 10**3, 10**6, 1.0402, 2.530),
        (1.0, 10**4, 10**7, 0.0764, 0.1547),
        (1.0, 10**3, 10**6, 0.2538, 0.5908),
        (3.0, 10**3, 10**6, 4.0862, 20.45),
    ],
)
def test_headline_table(eps0, k, n, theorem3, clones):
    found = rdp.upper_epsilon(eps0, k, n, 10**5, 1e-8)
    assert found.epsilon == pytest.approx(theorem3, abs=6e-5)
    numeric = rdp.pipeline_epsilon(eps0, k, n, 10**5, 1e-8, "numeric")
    assert numeric == pytest.approx(clones, rel=3e-4)


def test_headline_factor_fourteen():
    found = rdp.upper_epsilon(2.0, 1000, 10**6, 10**5, 1e-8)
    assert found.epsilon == pytest.approx(1.0402185, rel=1e-7)
    assert found.order == 28
    assert not found.at_edge
    bare = rdp.pipeline_epsilon(2.0, 1000, 10**6, 10**5, 1e-8, "none")
    assert bare == pytest.approx(14.252, abs=1e-3)
    assert bare / found.epsilon == pytest.approx(13.70, abs=0.01)
    # The closed form's condition fails there, so the pipeline falls back to the same number.
    assert not rdp.pipeline_holds(2.0, 1000, 10**6, 10**5, 1e-8)
    assert rdp.pipeline_epsilon(2.0, 1000, 10**6, 10**5, 1e-8, "closed") == bare


def test_mnist_numbers():
    def eps(eps0, k, epochs):
        return float(rdp.upper_epsilon(eps0, k, 60_000, epochs * 60_000 // k, 1e-5).epsilon)

    assert eps(2.0, 2000, 200) == pytest.approx(5.7946, abs=5e-5)
    assert eps(2.0, 2000, 50) == pytest.approx(2.9875, abs=5e-5)
    rounds = np.arange(1, 1201)
    five_a = rdp.upper_epsilon(1.5, 10_000, 60_000, rounds, 1e-5).epsilon
    assert rounds[five_a <= 1.4].max() == 212
    assert rounds[five_a <= 2.91].max() == 1067


def test_sampling_hardly_ever_costs_nothing():
    # fδ ≥ Tγ: with probability 1 − fδ the record is never sampled at all.
    assert rdp.round_delta(1, 10**9, 1, 1e-3) == 1.0
    assert rdp.pipeline_epsilon(1.0, 1, 10**9, 1, 1e-3, "numeric") == 0.0


def test_arrays_broadcast():
    T = np.array([1, 100, 10**4])
    found = rdp.upper_epsilon(np.array([[0.5], [2.0]]), 1000, 10**6, T, 1e-8)
    assert found.epsilon.shape == (2, 3)
    assert found.epsilon[1, 2] == rdp.upper_epsilon(2.0, 1000, 10**6, 10**4, 1e-8).epsilon
    picked = rdp.upper_rdp(np.array([2, 64, 512]), 2.0, 1000, 10**6)
    np.testing.assert_allclose(
        picked, rdp.upper_rdp_table(2.0, 1000, 10**6, 512)[[0, 62, 510]], rtol=1e-12
    )


def test_convergence_falls_with_privacy_given_up_and_time_spent():
    base = rdp.convergence_bound(2, 1.0, 10.0, 100, 1.0, 1000, 100)
    assert rdp.convergence_bound(2, 1.0, 10.0, 100, 2.0, 1000, 100) < base
    assert rdp.convergence_bound(2, 1.0, 10.0, 100, 1.0, 1000, 10_000) < base
    moment = rdp.gradient_second_moment(2, 1.0, 100, 1.0, 1000)
    attenuation = ((math.e + 1) / (math.e - 1)) ** 2
    assert moment == pytest.approx(1 + 14 * 100 * attenuation / 1000, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: rdp.upper_rdp(2, -1.0, 1, 1), "eps0: -1 is outside"),
        (lambda: rdp.upper_rdp(2, 1.0, 2, 1), "k: 2 is outside .1, n = 1."),
        (lambda: rdp.upper_rdp(1, 1.0, 1, 1), "lam: 1 is outside"),
        (lambda: rdp.upper_rdp(2.5, 1.0, 1, 1), "lam: 2.5 is not a whole number"),
        (lambda: rdp.lower_rdp(2, 1.0, 0, 1), "k: 0 is outside"),
        (lambda: rdp.lower_rdp(2, 1.0, 1, 1, "QQ"), "QQ"),
        (lambda: rdp.pipeline_epsilon(1.0, 1, 1, 1, 0.1, share=2.0), "f: 2 is outside"),
        (lambda: rdp.convergence_bound(0.5, 1.0, 1.0, 1, 1.0, 1, 1), "p: 0.5 is outside"),
        (lambda: rdp.convergence_bound(2, 1.0, 1.0, 1, 0.0, 1, 1), "eps0: 0 is outside"),
    ],
)
def test_errors_name_parameter_value_and_domain(call, named):
    with pytest.raises(ValueError, match=named):
        call()
