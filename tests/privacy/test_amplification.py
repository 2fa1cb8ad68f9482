"""Clones: against the published double sum, enumeration and published brackets."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy import shuffling
from explorer.privacy.core import binomial
from explorer.privacy.core.binomial import log_half_pmf
from explorer.privacy.shuffling import (
    CloneCurve,
    Clones,
    blanket_condition,
    clones_closed_form,
    clones_condition,
    shuffled_delta,
    shuffled_epsilon,
)

LOG_EPS0 = st.floats(math.log(0.01), math.log(10)).map(math.exp)
LOG_DELTA = st.floats(-20, -1).map(lambda x: 10.0**x)


def published_delta(eps, eps0, k, pc):
    """E_C[u₁S(a−1) − u₂S(a)], C ~ Bin(k−1, p_c), as printed, in 50 digits."""
    with mpmath.workdps(50):
        e, e0, pc = mpmath.mpf(eps), mpmath.mpf(eps0), mpmath.mpf(pc)
        beta = 1 / (mpmath.exp(e0) + 1)
        u1 = beta * (mpmath.exp(e0) - mpmath.exp(e))
        u2 = beta * (mpmath.exp(e + e0) - 1)
        tau = (mpmath.exp(e + e0) - 1) / ((mpmath.exp(e) + 1) * (mpmath.exp(e0) - 1))

        def tail(c, x):
            return sum(mpmath.binomial(c, i) for i in range(max(x, 0), c + 1)) / mpmath.mpf(2) ** c

        total = mpmath.mpf(0)
        for c in range(k):
            a = int(mpmath.floor((c + 1) * tau)) + 1
            weight = mpmath.binomial(k - 1, c) * pc**c * (1 - pc) ** (k - 1 - c)
            total += weight * (u1 * tail(c, a - 1) - u2 * tail(c, a))
        return float(total)


def clone_probability(eps0, variant):
    with mpmath.workdps(50):
        e0 = mpmath.exp(mpmath.mpf(eps0))
        return 1 / e0 if variant is Clones.PUBLISHED else 2 / (e0 + 1)


@pytest.mark.parametrize("variant", list(Clones))
@pytest.mark.parametrize("k", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("eps0", [0.05, 1.0, 4.0, 12.0])
def test_equals_the_published_double_sum(eps0, k, variant):
    for share in (0.0, 0.1, 0.5, 0.95, 0.9999):
        exact = published_delta(share * eps0, eps0, k, clone_probability(eps0, variant))
        found = shuffled_delta(share * eps0, eps0, k, variant)
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("eps0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_stronger_pair_is_the_spread_bound_of_its_proof(eps0, k):
    # (1/k)E[(Σ g_i)_+], g = E−e^ε or −(e^εE−1) with probability 1/(E+1) each, else 0.
    E = math.exp(eps0)
    p = 1 / (E + 1)
    for eps in (0.0, 0.2 * eps0, 0.7 * eps0):
        steps = [(E - math.exp(eps), p), (-(math.exp(eps) * E - 1), p), (0.0, 1 - 2 * p)]
        sums = {0.0: 1.0}
        for _ in range(k):
            grown: dict[float, float] = {}
            for value, mass in sums.items():
                for step, weight in steps:
                    grown[value + step] = grown.get(value + step, 0.0) + mass * weight
            sums = grown
        bound = sum(mass * max(value, 0.0) for value, mass in sums.items()) / k
        assert shuffled_delta(eps, eps0, k, "2023") == pytest.approx(bound, rel=1e-10)


@pytest.mark.parametrize(
    ("eps0", "k", "delta", "published", "stronger"),
    [
        (4.0, 10**5, 1e-6, 0.1697698, 0.1181531),
        (1.0, 10**4, 1e-6, 0.0530053, 0.0432062),
        (1.0, 10**6, 1e-6, 0.0043345, 0.0035135),
    ],
)
def test_external_values(eps0, k, delta, published, stronger):
    assert shuffled_epsilon(eps0, k, delta) == pytest.approx(published, rel=1e-5)
    assert shuffled_epsilon(eps0, k, delta, "2023") == pytest.approx(stronger, rel=1e-5)


def test_inside_the_bracket_of_another_implementation():
    assert 0.16753858 <= shuffled_epsilon(4.0, 10**5, 1e-6) <= 0.17279055


@given(LOG_EPS0, st.integers(1, 3000), LOG_DELTA, st.sampled_from(list(Clones)))
def test_inversion_inverts(eps0, k, delta, variant):
    found = shuffled_epsilon(eps0, k, delta, variant)
    assert 0 <= found <= eps0
    # Relative to ε₀ − ε as well: close to ε₀, δ is a steep function of that difference.
    slack = 1e-9 * found + 1e-12 * eps0
    assert shuffled_delta(min(found + slack, eps0), eps0, k, variant) <= delta * (1 + 1e-6)
    if found > slack:
        assert shuffled_delta(found - slack, eps0, k, variant) >= delta * (1 - 1e-6)


@given(LOG_EPS0, st.integers(1, 3000), st.floats(0, 1))
def test_orderings_that_theory_demands(eps0, k, share):
    eps = share * eps0
    delta = shuffled_delta(eps, eps0, k)
    assert 0 <= delta <= 1
    assert shuffled_delta(eps, eps0, k, "2023") <= delta * (1 + 1e-9)
    assert shuffled_delta(eps, eps0, k + 1) <= delta * (1 + 1e-9)
    assert shuffled_delta(eps, eps0 * 1.01, k) >= delta * (1 - 1e-9)
    assert shuffled_delta(min(eps * 1.01, eps0), eps0, k) <= delta * (1 + 1e-9)
    # No amplification: δ of randomised response itself.
    alone = -math.expm1(eps - eps0) / (1 + math.exp(-eps0))
    assert delta <= alone * (1 + 1e-9)


@given(
    st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-12, 800.0])),
    st.integers(1, 10**12),
    st.floats(-300, 0).map(lambda x: max(10.0**x, 1e-300)),
)
def test_whole_domain(eps0, k, delta):
    closed = clones_closed_form(eps0, k, delta)
    assert np.isfinite(closed)
    assert closed >= 0
    for variant in Clones:
        assert 0 <= shuffled_epsilon(eps0, k, delta, variant) <= eps0


@given(st.floats(0.01, 10), st.integers(10, 10**6), LOG_DELTA)
def test_closed_form_is_above_exact_where_its_condition_holds(eps0, k, delta):
    if clones_condition(eps0, k, delta):
        assert clones_closed_form(eps0, k, delta) >= shuffled_epsilon(eps0, k, delta)


def test_closed_form_is_unsound_without_its_condition():
    # ε₀ = 4, k = 1000: the closed form claims 2.347 at 5e-11, below the exact clones (shuf-A9).
    assert not clones_condition(4.0, 1000, 5e-11)
    assert clones_closed_form(4.0, 1000, 5e-11) == pytest.approx(2.3466, abs=1e-4)
    assert shuffled_epsilon(4.0, 1000, 5e-11) > 2.35


def test_conditions_at_the_papers_example():
    # Fig. 2(a), k = 1000: limits 1.18 and 1.997 at δ = 1e-8, 0.94 at the per-round δ₀ (shuf-A8).
    assert clones_condition(1.17, 1000, 1e-8)
    assert not clones_condition(1.19, 1000, 1e-8)
    assert clones_condition(0.93, 1000, 5e-11)
    assert not clones_condition(0.95, 1000, 5e-11)
    assert blanket_condition(1.99, 1000, 1e-8)
    assert not blanket_condition(2.0, 1000, 1e-8)


@given(LOG_EPS0, st.integers(1, 2000), st.sampled_from(list(Clones)))
def test_curve_is_above_the_inversion_and_close(eps0, k, variant):
    curve = CloneCurve(eps0, k, variant, 1e-16, 1e-8)
    delta = np.geomspace(1e-16, 1e-8, 23)
    exact = shuffled_epsilon(eps0, k, delta, variant)
    found = curve.epsilon(delta)
    assert np.all(found >= exact * (1 - 1e-9))
    # Corners of the curve of few messages are cut; smooth ones are followed closely.
    assert np.all(found <= exact * (1 + (1e-2 if k < 300 else 1e-3)) + 1e-12)
    with pytest.raises(ValueError, match="delta: 1e-05 is outside"):
        curve.epsilon(1e-5)


@pytest.mark.parametrize(("eps0", "k"), [(0.5, 6 * 10**6), (1.0, 3 * 10**6), (3.0, 2 * 10**7)])
def test_wide_form_is_above_the_sum_and_close(eps0, k, monkeypatch):
    eps = shuffled_epsilon(eps0, k, np.array([1e-3, 1e-8, 1e-60, 1e-250]))
    wide = shuffled_delta(eps, eps0, k)
    assert shuffling.ClonePair(eps0, k).wide
    monkeypatch.setattr(shuffling, "_WIDE", math.inf)
    exact = shuffled_delta(eps, eps0, k)
    assert np.all(wide >= exact)
    np.testing.assert_allclose(wide, exact, rtol=2e-5)


def test_arrays_broadcast_and_repeat_scalars():
    k = np.array([10, 1000])
    delta = np.array([[1e-3], [1e-6], [1e-9]])
    found = shuffled_epsilon(1.0, k, delta)
    assert found.shape == (3, 2)
    assert found[2, 1] == pytest.approx(shuffled_epsilon(1.0, 1000, 1e-9), rel=1e-12)


@pytest.mark.parametrize("variant", list(Clones))
@pytest.mark.parametrize("eps0", [499.0, 501.0, 720.0, 760.0, 800.0])
def test_without_clones_delta_is_that_of_the_local_parameter(eps0, variant):
    # (e^ε₀ − e^ε)/(e^ε₀ + 1): a clone has chance 2e^−499 a message. Beyond 745 it was 0.
    delta = shuffled_delta([eps0 - 1, eps0 - 1e-6], eps0, 10**6, variant)
    assert delta == pytest.approx([-math.expm1(-1), -math.expm1(-1e-6)], rel=1e-6)
    found = shuffled_epsilon(eps0, 10**6, [1e-300, 0.5], variant)
    assert found == pytest.approx([eps0, eps0 - math.log(2)], rel=1e-11)


def test_no_local_leak_no_leak():
    assert shuffled_epsilon(0.0, 100, 1e-9) == 0.0
    assert shuffled_epsilon(5e-324, 1, 1.0) <= 5e-324
    assert shuffled_delta(0.0, 5e-324, 1) <= 5e-324
    assert shuffled_delta(0.0, 0.0, 100) == 0.0
    assert shuffled_epsilon(1e-6, 100, 1e-9) < 1e-6


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: shuffled_epsilon(-1.0, 10, 0.1), "eps0: -1 is outside"),
        (lambda: shuffled_epsilon(1.0, 0, 0.1), "k: 0 is outside"),
        (lambda: shuffled_epsilon(1.0, 2.5, 0.1), "k: 2.5 is not a whole number"),
        (lambda: shuffled_epsilon(1.0, 10, 0.0), "delta: 0 is outside"),
        (lambda: shuffled_delta(-0.1, 1.0, 10), "eps: -0.1 is outside"),
        (lambda: shuffled_epsilon(1.0, 10, 0.1, "2022"), "2022"),
    ],
)
def test_errors_name_the_parameter(call, named):
    with pytest.raises(ValueError, match=named):
        call()


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(
        st.tuples(st.floats(1e-3, 10), st.floats(0, 6.3), st.floats(-30, -0.5)),
        min_size=2,
        max_size=12,
    ),
    st.sampled_from(list(Clones)),
)
def test_many_crowds_at_once_as_one_by_one(crowds, variant):
    eps0, log_k, log_delta = np.array(crowds).T
    k, delta = np.rint(10**log_k), 10**log_delta
    found = shuffled_epsilon(eps0, k, delta, variant)
    alone = [shuffled_epsilon(*point, variant) for point in zip(eps0, k, delta, strict=True)]
    np.testing.assert_allclose(found, alone, rtol=1e-12, atol=0)
    # Whatever steps were saved, ε is where δ is reached: z² turns 2e-9 of ε into more of δ.
    there = shuffled_delta(found, eps0, k, variant)
    before = shuffled_delta(found * (1 - 3e-9), eps0, k, variant)
    solved = (found > 0) & (found < eps0 * (1 - 1e-6))
    assert np.all(there[solved] <= delta[solved] * (1 + 1e-9))
    assert np.all(before[solved] >= delta[solved] * (1 - 1e-9))


@pytest.mark.parametrize("variant", list(Clones))
def test_a_small_crowd_hides_nothing_from_the_smallest_delta(variant):
    # δ falls in a straight line to 0 at ε₀ from about Pr[all clones alike], here above 1e-210.
    eps0, k = 0.45, 963
    assert float(shuffled_delta(eps0 * (1 - 1e-9), eps0, k, variant)) > 1e-220
    assert shuffled_epsilon(eps0, k, 1e-289, variant) == pytest.approx(eps0, rel=1e-12)


def test_runs_of_fair_coins_as_each_alone():
    # λ = 0.37: the largest count below λN stays or grows by 1 with each N.
    N = np.arange(5000.0, 10000.0)[None, :]
    b = np.ceil(0.37 * N) - 1
    f = binomial.half_pmf_run(N, b)
    np.testing.assert_allclose(f, np.exp(log_half_pmf(b, N)), rtol=1e-11)
    F = binomial.running_tail(N, b, f)
    for i in (0, 1, 2500, 4999):
        n, low = N[0, i], np.arange(b[0, i] + 1)
        alone = math.fsum(np.exp(log_half_pmf(low, np.full(low.shape, n))))
        assert F[0, i] == pytest.approx(alone, rel=1e-11)


@pytest.mark.parametrize(
    ("eps0", "k", "delta", "variant"),
    [
        (2.9909203198582426, 5, 1.8462159013278606e-09, "2021"),
        (0.1029732268712866, 6, 4.3306447848696797e-14, "2021"),
        (5.392974481113492, 58, 2.4745319981384124e-11, "2023"),
        (1.6292472738716213, 6, 2.0874149620319713e-10, "2023"),
    ],
)
def test_the_last_digit_of_epsilon_is_on_the_safe_side(eps0, k, delta, variant):
    """Near ε₀, δ at the double just below the true ε is larger by up to 1e-5 of itself."""
    epsilon = shuffled_epsilon(eps0, k, delta, variant)
    found = published_delta(epsilon, eps0, k, clone_probability(eps0, Clones(variant)))
    assert found <= delta * (1 + 1e-11)


def test_no_epsilon_is_left_where_delta_of_nothing_is_small_enough():
    assert shuffled_delta(0.0, 1.21875, 6, "2021") < 10**-0.5
    assert shuffled_epsilon(1.21875, 6, 10**-0.5, "2021") == 0.0
