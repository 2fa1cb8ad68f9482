"""Exact δ against enumeration, the table of least noise, samplers against their exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import histograms as hg
from explorer.studies.shuffled_histograms.tables import table1_rows, table2_rows

EPS = st.one_of(st.floats(0, 800), st.floats(0, 3))
USERS = st.one_of(st.integers(1, 10**12), st.integers(1, 200))
RATE = st.one_of(st.floats(0, 1), st.floats(-700, 0).map(math.exp))


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("p", [Fraction(3, 4), Fraction(1, 10)])
@pytest.mark.parametrize("eps", [0.0, 0.4, 2.0])
def test_exact_delta_is_that_of_the_enumerated_protocol(n, p, eps):
    count = hg.shuffled_delta(hg.zsum_randomizer(p), n, eps)
    assert hg.count_delta(eps, n, float(1 - p)) == pytest.approx(count, rel=1e-12)
    two_bins = hg.shuffled_delta(hg.hist_randomizer(p, 2), n, eps)
    assert hg.histogram_delta(eps, n, float(1 - p)) == pytest.approx(two_bins, rel=1e-12)


@pytest.mark.parametrize(
    ("query", "eps", "noise"),
    [
        ("count", 1.0, [34.98, 34.45, 34.00, 34.06, 34.07, 34.07]),
        ("count", 0.5, [math.inf, 105.4, 94.5, 91.2, 90.28, 90.16]),
        ("histogram", 1.0, [51.6, 45.6, 43.7, 43.0, 42.75, 42.66]),
        ("histogram", 0.5, [math.inf, math.inf, 158.4, 141.9, 137.7, 136.25]),
    ],
)
def test_table_of_least_noise(query, eps, noise):
    n = np.array([200, 400, 1000, 3000, 10_000, 100_000])
    found = hg.calibrate(eps, 1e-6, n, query)
    np.testing.assert_allclose(found.noise, noise, rtol=2e-3)
    assert ((found.delta <= 1e-6) == found.feasible).all()


def test_least_users_and_broken_conditions():
    assert [hg.least_users(e, d, "count") for e, d in ((1, 1e-3), (1, 1e-6), (0.5, 1e-6))] == [
        30,
        80,
        268,
    ]
    assert hg.least_users(1e-3, 1e-6) > 1e6
    p = hg.calibrate(1, 1e-6, 10_000, "count").p
    assert hg.count_delta(1, 5000, 1 - p) == pytest.approx(228e-6, rel=0.01)
    assert hg.count_delta(1, 10_000, p, "addremove") == pytest.approx(1.4e-3, rel=0.02)
    printed = hg.printed_p(1, 1e-6, 7255)
    assert hg.count_delta(1, 7255, printed) == pytest.approx(8.6e-87, rel=0.01)
    assert hg.count_delta(1, 7255, printed, "addremove") == pytest.approx(4.6e-33, rel=0.01)


@given(EPS, USERS, RATE)
def test_delta_is_a_probability_falling_with_epsilon_and_users(eps, n, q):
    for exact in (hg.count_delta, hg.histogram_delta):
        values = exact([eps, eps / 2], n, q)
        assert np.isfinite(values).all()
        assert 0 <= values[0] <= values[1] * (1 + 1e-8) <= 1 + 1e-8
    assert hg.histogram_delta(eps, n, q) >= hg.count_delta(eps, n, q) * (1 - 1e-8)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: hg.count_delta(801, 10, 0.1), "eps"),
        (lambda: hg.histogram_delta(1, 0, 0.1), "n"),
        (lambda: hg.calibrate(1, 0, 10), "delta"),
        (lambda: hg.printed_p(1, 1e-6, 100), "n"),
        (lambda: hg.error_law(10, 0.5, 11), "s"),
        (lambda: hg.count_delta(1, 10, 1.5), "q"),
    ],
)
def test_outside_the_domain(call, name):
    with pytest.raises(ValueError, match=f"^{name}:"):
        call()


def test_missing_values_where_most_are():
    # Seven values six times each: one arrangement class of 42!/6!⁷ among 7⁴².
    none = math.factorial(42) / (math.factorial(6) ** 7 * 7**42)
    assert hg.missing_probability(42, 7, 6) == pytest.approx(1 - none, abs=1e-12)
    assert hg.least_samples(7, 6, 1 - none / 2) == 42


def test_error_law_is_that_of_all_outputs():
    for n, p, s in ((9, 0.7, 3), (30, 0.9, 5), (30, 0.6, 30), (4, 0.5, 0)):
        outputs, law = hg.output_law(n, p, s)
        error = outputs - s / n
        found = hg.error_law(n, p, s)
        assert law.sum() == pytest.approx(1, rel=1e-12)
        assert found.bias == pytest.approx(law @ error, abs=1e-14)
        assert found.rmse == pytest.approx(math.sqrt(law @ error**2), abs=1e-12)
        tail = law[np.abs(error) > 0.0713].sum()
        assert hg.error_tail(n, p, s, 0.0713) == pytest.approx(tail, abs=1e-12)


def test_samplers_follow_the_output_law():
    # Two χ² tests at 1e-6 each: 2e-6 false alarms.
    from scipy.stats import chi2

    n, p, s, draws = 6, 0.7, 3, 4000
    outputs, law = hg.output_law(n, p, s)
    rng = np.random.default_rng(20)
    values = np.array([0] * s + [1] * (n - s))
    by_message = np.array([hg.hist(values, 2, p, rng)[0] for _ in range(draws)])
    at_once = hg.simulate_count(s, n, p, rng, draws)
    for sample in (by_message, at_once):
        seen = (np.abs(sample[:, None] - outputs) < 1e-9).sum(axis=0)
        assert seen.sum() == draws
        assert ((seen - draws * law) ** 2 / (draws * law)).sum() < chi2.isf(1e-6, law.size - 1)


def test_views_of_the_claims():
    assert hg.privacy_of_views(hg.r_infinity(), 3) == (math.inf, 0.0, 0.0)
    gap = hg.privacy_of_views(hg.r_gap(), 2)
    assert gap[:2] == (math.inf, math.inf)
    assert math.isfinite(gap.shuffled)
    response = hg.randomized_response(Fraction(3, 4), 3)
    views = hg.privacy_of_views(response, 3)
    assert views.local <= views.shuffled == pytest.approx(math.log(6))
    assert hg.simulates_locally(response, (0, 1, 2))


def test_reductions_find_what_they_look_for():
    # Each fails with probability below 1/100; the seed is fixed.
    assert hg.printed_samples(1, 1e-6, 2) == (3631, 865)
    assert hg.printed_samples(1, 1e-6, 10) == (18972, 881)
    rng = np.random.default_rng(5)
    need = hg.exact_samples(1, 1e-6, 2)
    t, p = hg.calibrated_error(1, 1e-6, need.n, 2)
    game = hg.pointer_chasing(500, rng)
    held = hg.draw_support_samples(game.support(), int(need.n), rng)
    assert hg.solve_pointer_chasing(held, 7, p, t, rng) == hg.chase(game.a, game.b, 7)
    need = hg.exact_samples(1, 1e-6, 3)
    t, p = hg.calibrated_error(1, 1e-6, need.n, 3)
    tree = hg.pointer_jumping(9, 3, rng)
    held = hg.draw_support_samples(tree.support(), int(need.n), rng)
    path = hg.solve_pointer_jumping(held, 9, 3, p, t, rng)
    assert path == hg.jump(9, tree.levels)


def test_tables_say_which_rows_are_orders_only():
    rows = table1_rows(1e5, [1, 2, 1000], 1, 1e-6)
    assert [row.order_only for row in rows] == [True, True, True, True, False, False, True]
    assert all(np.isfinite(row.value.value[row.value.valid]).all() for row in rows)
    for table in table2_rows(1, 1e-6, [1, 5], 1000).values():
        assert table[3].value.value[1] < table[2].value.value[1]
