"""Ternary divergences: exact values, the printed bounds, the sharp case, and Lemma 2."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import shuffle_rdp as rdp

LOCAL = st.floats(0.02, 8.0)


def enumerated(alpha, k, columns):
    """D_α of k messages with these columns (p, q, r), the others drawing from r."""
    total = mpmath.mpf(0)
    with mpmath.workdps(30):
        for counts in itertools.product(range(k + 1), repeat=len(columns)):
            if sum(counts) != k:
                continue
            mass = mpmath.factorial(k)
            ratio = mpmath.mpf(0)
            for count, (p, q, r) in zip(counts, columns, strict=True):
                mass *= mpmath.mpf(r) ** count / mpmath.factorial(count)
                ratio += count * (mpmath.mpf(p) - q) / r
            total += mass * abs(ratio / k) ** alpha
    return float(total)


@given(st.integers(2, 12), LOCAL, st.integers(1, 8))
def test_exact_values_against_enumeration(alpha, eps0, k):
    e = mpmath.exp(mpmath.mpf(eps0))
    two = [(1 / (e + 1), e / (e + 1), e / (e + 1)), (e / (e + 1), 1 / (e + 1), 1 / (e + 1))]
    a = 1 / (e + 2)
    three = [(e * a, a, a), (a, e * a, a), (a, a, e * a)]
    assert rdp.ternary_2rr(alpha, eps0, k) == pytest.approx(enumerated(alpha, k, two), rel=1e-10)
    assert rdp.ternary_3rr(alpha, eps0, k) == pytest.approx(enumerated(alpha, k, three), rel=1e-10)


@pytest.mark.parametrize("eps0", [0.3, 2.0, 6.0, 10.0])
@pytest.mark.parametrize("k", [1e3, 1e4, 1e6, 1e9])
def test_many_messages_against_moments(eps0, k):
    v = 2 / (math.exp(eps0) + 2)
    second, fourth = k * v, k * (v - 3 * v * v)
    sixth = k * (v - 15 * v * v + 30 * v**3)
    scale = math.expm1(eps0) / k
    for alpha, moment in (
        (2, second),
        (4, fourth + 3 * second**2),
        (6, sixth + 15 * fourth * second + 15 * second**3),
    ):
        found = rdp.ternary_3rr(alpha, eps0, k)
        assert found == pytest.approx(scale**alpha * moment, rel=2e-8)


@given(st.integers(2, 64), LOCAL, st.integers(1, 10**6))
def test_the_bounds_are_in_order(alpha, eps0, k):
    exact = max(rdp.ternary_2rr(alpha, eps0, k), rdp.ternary_3rr(alpha, eps0, k))
    alike, mixed = rdp.theorem6(alpha, eps0, k), rdp.theorem4(alpha, eps0, k)
    assert exact <= alike * (1 + 1e-7)
    assert alike <= mixed * (1 + 1e-12)
    if alpha == 2:
        assert exact == pytest.approx(rdp.sharp_alike(eps0, k), rel=1e-7)
        assert rdp.sharp_alike(eps0, k) <= rdp.sharp_mixed(eps0, k) * (1 + 1e-12)
        assert rdp.sharp_mixed(eps0, k) <= mixed


@given(LOCAL, st.integers(1, 10**6))
def test_the_dual_solution_proves_the_sharp_case(eps0, m):
    """Eight columns with entries in {1, E} generate all: the dual bounds each of them."""
    e = math.exp(eps0)
    if e >= 2:
        u, v = e * (e - 1) / (e + 2), -2 * (e - 1) / (e + 2)
    else:
        u, v = (e - 1) ** 2 / e, -((e - 1) ** 2) / e
    for p, q, r in itertools.product((1.0, e), repeat=3):
        assert u * (p + q) + v * r >= (p - q) ** 2 / r - 1e-9 * e**2
    assert rdp.sharp_alike(eps0, m) * m == pytest.approx(2 * u + v, rel=1e-12)


def test_no_random_randomiser_exceeds_the_sharp_case():
    rng = np.random.default_rng(5)
    for _ in range(300):
        eps0 = float(rng.uniform(0.1, 4))
        rows = np.exp(eps0 * rng.integers(0, 2, size=(3, 6)) * rng.uniform(0, 1, size=(3, 6)))
        p, q, r = rows / rows.sum(axis=1, keepdims=True)
        ratio = max(float(np.max(a / b)) for a in (p, q, r) for b in (p, q, r))
        assert np.sum((p - q) ** 2 / r) <= rdp.sharp_alike(math.log(ratio), 1) * (1 + 1e-12)


@given(st.floats(0.1, 5.0), st.integers(1, 400))
def test_clones_left_over_are_averaged(eps0, k):
    """E[1/(M+1)], M ~ Bin(k−1, 1/E), against its sum."""
    p = math.exp(-eps0)
    with mpmath.workdps(30):
        mean = mpmath.fsum(
            mpmath.binomial(k - 1, m)
            * mpmath.mpf(p) ** m
            * (1 - mpmath.mpf(p)) ** (k - 1 - m)
            / (m + 1)
            for m in range(k)
        )
    expected = rdp.sharp_alike(eps0, 1) * float(mean)
    assert rdp.sharp_mixed(eps0, k) == pytest.approx(expected, rel=1e-9)


@given(st.integers(2, 64), st.floats(0.1, 5.0), st.integers(1, 5000), st.integers(1, 500))
def test_theorem_1_is_lemma_2_of_theorem_4(lam, eps0, k, times):
    orders, gamma = np.arange(2, lam + 1), 1 / times
    bounds = np.atleast_1d(rdp.theorem4(orders, eps0, k))
    printed = rdp.upper_rdp(lam, eps0, k, k * times)
    assert rdp.lemma2_rdp(lam, gamma, bounds) == pytest.approx(float(printed), rel=1e-10)
    bounds[0] = rdp.sharp_mixed(eps0, k)
    sharpened = rdp.upper_rdp_table(eps0, k, k * times, lam, sharp=True)[-1]
    assert rdp.lemma2_rdp(lam, gamma, bounds) == pytest.approx(float(sharpened), rel=1e-10)
    assert sharpened <= printed


@given(st.integers(2, 200), st.floats(0.1, 6.0), st.integers(1, 20_000), st.integers(1, 1000))
def test_the_sharpened_theorem_stays_above_randomised_response(lam, eps0, k, times):
    table = rdp.upper_rdp_table(eps0, k, k * times, lam, sharp=True)
    assert float(rdp.lower_rdp(lam, eps0, k, k * times)) <= float(table[-1]) * (1 + 1e-9)


def test_the_sharp_bound_of_the_paper_s_crowd():
    assert rdp.sharp_mixed(2.0, 1000) == pytest.approx(0.06425, rel=1e-4)
    assert rdp.theorem4(2, 2.0, 1000) == pytest.approx(0.3250, rel=2e-4)


def test_domains_are_named():
    with pytest.raises(ValueError, match="alpha: 1 is outside"):
        rdp.ternary_2rr(1, 1.0, 5)
    with pytest.raises(ValueError, match="divergences"):
        rdp.lemma2_rdp(4, 0.5, [1.0, 1.0])
