"""Functions without such a test of their own, over their whole domains: numbers, and in time.

The alarm is against calls that hang; speed is measured in tests/benchmarks.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy import coordinates as co, heatmaps as hm, histograms, learning
from explorer.privacy.core import composition, divergences
from explorer.privacy.core.bound import Bound
from explorer.privacy.heatmaps import theory
from explorer.privacy.shuffling import clones_closed_delta
from explorer.studies.shuffled_histograms.tables import table1_rows, table2_rows
from tests.privacy.hang import alarm

EPS = st.one_of(st.floats(0, 800), st.floats(-300, 2).map(lambda x: 10.0**x), st.just(0.0))
POSITIVE = st.one_of(st.floats(1e-9, 800), st.floats(-300, 2).map(lambda x: 10.0**x))
COUNT = st.one_of(st.floats(0, 12).map(lambda x: int(10**x)), st.integers(1, 100))
DELTA = st.one_of(
    st.floats(-300, 0).map(lambda x: max(10.0**x, 1e-300)), st.floats(-12, -1).map(lambda x: 10**x)
)
UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 5e-324, 1 - 2**-53]))
ROUNDS = st.floats(0, 9).map(lambda x: int(10**x))
WIDE = st.floats(0, 6).map(lambda x: int(10**x))
LIMIT = 10


def numbers(*values, infinite=False):
    for value in values:
        array = np.asarray(value, dtype=float)
        assert not np.isnan(array).any()
        assert infinite or np.isfinite(array).all()
        assert (array >= 0).all()


def bounds(*found: Bound):
    for bound in found:
        assert np.array_equal(np.isnan(bound.value), ~bound.valid)
        assert bound.valid.all() or bound.reason


@given(EPS, COUNT, UNIT)
def test_counts_of_removed_users(eps, n, q):
    with alarm(LIMIT):
        for adjacency in histograms.Adjacency:
            both = histograms.count_divergences(eps, n, q, adjacency)
            numbers(both)
            assert max(both) <= 1


@given(COUNT, st.floats(0.5, 1), UNIT, st.floats(0, 2))
def test_error_laws(n, p, share, alpha):
    s = round(share * n)
    with alarm(LIMIT):
        law = histograms.error_law(n, p, s)
        tail = histograms.error_tail(n, p, s, alpha)
    assert all(np.isfinite(np.asarray(part, dtype=float)).all() for part in law)
    numbers(tail)
    assert tail <= 1


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(EPS, DELTA, WIDE)
def test_samples_of_support_identification(eps, delta, h):
    with alarm(LIMIT):
        found = histograms.exact_samples(eps, delta, h)
    numbers(found, infinite=True)
    assert found.n >= h
    if 0 < eps <= 1:
        with alarm(LIMIT):
            numbers(histograms.printed_samples(eps, delta, h), infinite=True)


@given(WIDE, st.floats(0, 15).map(lambda x: int(10**x)), st.floats(1e-9, 0.99), UNIT)
def test_coupon_collecting(h, k, failure, share):
    with alarm(LIMIT):
        n = histograms.least_samples(h, k, failure)
        missing = histograms.missing_probability(int(share * 1e15), h, k)
    numbers(n, infinite=True)
    assert 0 <= missing <= 1
    if n < 1e7:
        assert histograms.missing_probability(n, h, k) <= failure * (1 + 1e-6)


@given(COUNT, UNIT, DELTA)
def test_radii(n, q, beta):
    with alarm(LIMIT):
        radius = histograms.noise_radius(n, q, beta)
    assert 0 <= radius <= n + 1


@pytest.mark.full
@given(COUNT, COUNT, POSITIVE, DELTA, WIDE)
def test_tables(n, d, eps, delta, h):
    with alarm(LIMIT):
        first = table1_rows(n, d, eps, delta)
        second = table2_rows(eps, delta, h, 10)
    for row in [*first, *(row for rows in second.values() for row in rows)]:
        bounds(*(part for part in vars(row).values() if isinstance(part, Bound)))


@given(EPS, UNIT, st.floats(1.0000001, 4096))
def test_sampling_and_renyi_levels_of_pure_dp(eps, gamma, order):
    sampled = composition.subsampled_epsilon(eps, gamma)
    numbers(sampled)
    assert sampled <= eps * (1 + 1e-12)
    level = composition.pure_dp_renyi(order, eps)
    numbers(level)
    assert level <= eps * (1 + 1e-12)


@pytest.mark.full
@given(EPS, EPS, ROUNDS, DELTA)
def test_strong_composition(eps, whole, T, delta):
    with alarm(LIMIT):
        exact, closed = (
            function(eps, T, delta)
            for function in (composition.kov_exact_epsilon, composition.kov_epsilon)
        )
        share = composition.kov_exact_delta(whole, eps, T)
    numbers(exact, closed, share)
    assert exact <= closed * (1 + 1e-9) + 1e-300
    assert share <= 1 + 1e-9


@given(st.floats(0, 1e6), st.integers(2, 4096), ROUNDS, DELTA)
def test_conversion(level, top, T, delta):
    orders = divergences.orders_up_to(top)
    found = divergences.epsilon_from_rdp(level * orders, orders, T, delta)
    numbers(found.epsilon)
    assert 2 <= float(found.order) <= top
    assert math.isfinite(float(divergences.conversion_penalty(top, delta)))


@given(EPS, POSITIVE, COUNT)
def test_inverse_of_the_closed_form(eps, eps0, k):
    value = clones_closed_delta(eps, eps0, k)
    assert 0 <= value <= 1 or math.isinf(value) or value >= 0
    assert not math.isnan(value)


@given(EPS, COUNT, st.floats(0, 6), ROUNDS, DELTA)
def test_training(eps0, k, log_times, T, delta):
    n = min(10**12, int(k * 10**log_times))
    with alarm(LIMIT):
        bounds(
            learning.training_epsilon(eps0, k, n, T, delta),
            learning.training_epsilon_numerical(eps0, k, n, T, delta),
        )


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(WIDE, st.floats(0, 800), UNIT, UNIT)
def test_many_coordinates(d, level, q, share):
    budgets = np.full(d, level / d)
    with alarm(LIMIT):
        numbers(
            co.budget_vector(np.full(d, level), 800.0, q, max(share, 1e-9)),
            co.bcdp_from_cdp(budgets, q),
            co.best_certificate(budgets, q, level),
            co.tradeoff_bound(level, share),
        )
        numbers(co.m_mean_mse(share, budgets, 1e12), infinite=True)
    numbers(co.gamma_ratio(d))


@given(
    st.floats(1e-6, 800),
    st.integers(0, 20),
    st.integers(1, 10**6),
    st.sampled_from(hm.Variant),
    st.floats(1, 1e12),
    st.floats(1, 1e12),
)
def test_heatmap_theory(eps, level, w, variant, assumed, n):
    last = hm.depth_cap(eps, assumed, hm.start_level(w, level), level)
    for plan in (
        hm.schedule(eps, level, w, variant),
        hm.schedule(eps, level, w, variant, last=max(last, hm.start_level(w, level))),
    ):
        bounds(
            theory.noise_term(plan, w),
            theory.sparse_error_bound(plan, w, n),
            hm.coreset_error(plan, w, assumed),
        )
    bounds(
        theory.sparse_lower_bound(w, eps, int(n)),
        theory.dense_error_bound(eps, assumed, n, level),
        hm.coreset_order(eps, w),
    )
    lower = float(theory.sparse_lower_bound(w, eps, int(n)).value)
    assert 0 <= lower <= 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: histograms.calibrate(801.0, 0.1, 10), r"eps: 801 is outside \[0, 800\]"),
        (lambda: histograms.calibrate(1.0, 0.0, 10), r"delta: 0 is outside \[1e-300, 1\]"),
        (lambda: histograms.calibrate(1.0, 0.1, 2.5), "n: 2.5 is not a whole number"),
        (lambda: histograms.histogram_delta(1.0, 10, 1.5), r"q: 1.5 is outside \[0, 1\]"),
        (lambda: histograms.exact_samples(1.0, 0.1, 0), r"h: 0 is outside \[1, 1e\+06\]"),
        (lambda: composition.subsampled_epsilon(1.0, -0.1), r"gamma: -0.1 is outside \[0, 1\]"),
        (lambda: composition.kov_epsilon(1.0, 0, 0.1), r"T: 0 is outside \[1, 1e\+09\]"),
        (lambda: composition.kov_epsilon(math.nan, 1, 0.1), "eps: nan is outside"),
        (lambda: learning.training_epsilon(1.0, 3, 2, 1, 0.1), "k: 3 is outside"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call()
