"""Budget vectors: Theorem 2 and the exact constraint."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import explorer.privacy.coordinates as co
from explorer.privacy.coordinates.levels import (
    bcdp_levels_from_logs,
    log_mix,
    log_mix_high,
    log_mix_low,
    log_mix_total,
)

LEVEL = st.one_of(st.floats(0, 800), st.floats(0, 5), st.sampled_from([0.0, 1e-12, math.inf]))
LEVELS = st.lists(LEVEL, min_size=1, max_size=8)
EPS = st.one_of(st.floats(0, 800), st.floats(0, 5))
Q = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1e-12, 1 - 1e-12]))
ZETA = st.floats(1e-9, 1)


@given(Q, st.floats(0, 800), st.floats(0, 800))
def test_mixing_agrees_with_sixty_digits(q, low, high):
    with mpmath.workdps(60):
        share = mpmath.mpf(q)
        exact = mpmath.log((1 - share) * mpmath.exp(low) + share * mpmath.exp(high))
    assert float(log_mix(q, low, high)) == pytest.approx(float(exact), rel=1e-13, abs=1e-40)


@given(Q, st.floats(0, 800), st.floats(0, 800))
def test_mixing_is_inverted(q, target, low):
    if q > 0:
        high = float(log_mix_high(q, target))
        assert float(log_mix(q, 0.0, high)) == pytest.approx(target, rel=1e-9, abs=1e-300)
        if low <= target:
            top = float(log_mix_total(q, target, low))
            assert float(log_mix(q, low, top)) == pytest.approx(target, rel=1e-9, abs=1e-300)
    high = target + 1.0
    low = float(log_mix_low(q, target, high))
    if not math.isnan(low):
        assert float(log_mix(q, low, high)) <= target * (1 + 1e-9) + 1e-12


@given(LEVELS, EPS, Q, ZETA)
def test_theorem2_keeps_every_promise(levels, eps, q, zeta):
    c = co.budget_vector(levels, eps, q, zeta)
    demanded = co.effective_levels(levels, eps)
    assert np.isfinite(c).all()
    assert (c >= 0).all()
    assert (c <= demanded * (1 + 1e-12)).all()
    certified = co.bcdp_from_cdp_and_ldp(c, q, c.max())
    assert (certified <= demanded * (1 + 1e-9) + 1e-12).all()
    # The order of budgets is that of demands, and the order of coordinates is immaterial.
    order = np.argsort(demanded, kind="stable")
    assert (np.diff(c[order]) >= 0).all()
    np.testing.assert_array_equal(co.budget_vector(np.array(levels)[order], eps, q, zeta), c[order])


@given(LEVELS, EPS, ZETA)
def test_no_coupling_gives_the_demands_and_full_coupling_the_least(levels, eps, zeta):
    demanded = co.effective_levels(levels, eps)
    np.testing.assert_array_equal(co.budget_vector(levels, eps, 0.0, zeta), demanded)
    expected = np.full(demanded.shape, demanded.min())
    np.testing.assert_allclose(co.budget_vector(levels, eps, 1.0, 1.0), expected, rtol=1e-12)


def test_no_total_level_at_all():
    np.testing.assert_array_equal(
        co.budget_vector([0.5, math.inf], math.inf, 0.0, 1.0), [0.5, math.inf]
    )
    c = co.budget_vector([0.5, math.inf], math.inf, 0.1, 0.5)
    assert np.isfinite(c).all()
    assert co.best_certificate(c, 0.1, c.max())[0] <= 0.5
    np.testing.assert_array_equal(co.budget_vector([math.inf] * 2, math.inf, 0.3, 0.5), math.inf)


def test_printed_formula_where_it_is_sane():
    rng = np.random.default_rng(3)
    for _ in range(200):
        levels, eps = np.sort(rng.uniform(0.1, 3, 5)), rng.uniform(1, 3)
        q, zeta = rng.uniform(0.05, 0.95), rng.uniform(0.1, 0.99)
        tilde = np.minimum(levels, eps)
        top = min(math.log((math.exp(zeta * tilde[0]) + q - 1) / q), tilde[-1])
        printed = np.where(top <= tilde, top, tilde - math.log(1 + q * math.exp(top) - q))
        np.testing.assert_allclose(co.budget_vector(levels, eps, q, zeta), printed, rtol=1e-10)


@pytest.mark.parametrize("q", [0.05, 0.3, 0.5, 0.9])
def test_at_the_least_useful_zeta_it_is_min_delta_ldp(q):
    # Errata coord-B2: rounding lands on the wrong side of a jump without the snap.
    levels = [0.2, 0.2, 2.0]
    zeta = co.best_possible_zeta(levels, 2.0, q)
    np.testing.assert_allclose(co.budget_vector(levels, 2.0, q, zeta), 0.2, rtol=1e-11)


def test_batches_broadcast():
    q, zeta = np.linspace(0, 1, 5)[:, None], np.array([0.3, 1.0])
    levels, eps = np.array([0.2, 1.0, 3.0]), 2.0
    batch = co.budget_vector(levels, eps, q, zeta)
    assert batch.shape == (5, 2, 3)
    for i in range(5):
        for j in range(2):
            one = co.budget_vector(levels, eps, q[i, 0], zeta[j])
            np.testing.assert_array_equal(batch[i, j], one)
    assert co.budget_at_total(levels, 2.0, np.full(4, 0.1), np.linspace(0, 1, 4)).shape == (4, 3)


@given(LEVELS, EPS, Q, st.floats(0, 1))
def test_exact_constraint_is_met_and_tight(levels, eps, q, share):
    most = float(co.largest_total(levels, eps, q))
    demanded = co.effective_levels(levels, eps)
    assert demanded.min() * (1 - 1e-12) <= most <= eps
    total = share * most
    c = co.budget_at_total(levels, eps, q, total)
    assert (c <= total).all() if share < 1 else True
    ok = ~np.isnan(c)
    if share < 1 - 1e-9:
        assert ok.all()
    certified = co.best_certificate(np.where(ok, c, 0.0), q, total)
    assert (certified[ok] <= demanded[ok] * (1 + 1e-9) + 1e-12).all()
    tight = ok & (c < total) & (q < 0.999) & (c > 0)
    if demanded.max() < 30:
        np.testing.assert_allclose(certified[tight], demanded[tight], rtol=1e-6, atol=1e-12)


@given(st.floats(0, 800), st.floats(1e-9, 800))
def test_corollary_threshold(level, eps):
    value = float(co.corollary1_threshold(level, eps))
    with mpmath.workdps(40):
        exact = mpmath.expm1(mpmath.mpf(level) / 2) / mpmath.expm1(mpmath.mpf(eps))
    assert value == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.1, -1.0], 1.0, 0.1, 0.5), r"coordinate_levels: -1 is outside \[0, inf\]"),
        (([], 1.0, 0.1, 0.5), "at least one coordinate"),
        (([0.1], -1.0, 0.1, 0.5), r"eps: -1 is outside \[0, inf\]"),
        (([0.1], 1.0, 1.1, 0.5), r"q: 1.1 is outside \[0, 1\]"),
        (([0.1], 1.0, 0.1, 0.0), r"zeta: 0 is outside \(0, 1\]"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        co.budget_vector(*arguments)


def test_where_the_coupling_matters():
    levels, prior = [0.2, 0.8, 3.0], co.copies_prior(3, 1.0)
    c = co.budget_vector(levels, 2.0, 0.3, 0.4)
    matters = co.coupling_matters(levels, 2.0, c.max())
    assert matters.tolist() == [True, False, False]
    # Full coupling, against the assumption: only that level is exceeded.
    exact = co.m_mean_corner_levels(c, prior)
    assert (exact > np.array(levels)).tolist() == matters.tolist()


def test_as_many_couplings_as_coordinates_are_still_a_sweep():
    levels, q = np.array([0.2, 1.0, 3.0]), np.array([0.0, 0.1, 0.9])
    totals = co.largest_total(levels, 2.0, q)
    budgets = co.budget_at_total(levels, 2.0, q, 0.5 * totals)
    vectors = co.budget_vector(levels, 2.0, q, 0.5)
    assert budgets.shape == vectors.shape == (3, 3)
    for i in range(3):
        assert totals[i] == co.largest_total(levels, 2.0, q[i])
        np.testing.assert_array_equal(
            budgets[i], co.budget_at_total(levels, 2.0, q[i], 0.5 * totals[i])
        )
        np.testing.assert_array_equal(vectors[i], co.budget_vector(levels, 2.0, q[i], 0.5))


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from([0.05, 0.2, 0.21, 1.0, 3.0]), st.floats(0.0, 1.0)),
        min_size=2,
        max_size=6,
    ),
    eps=st.floats(0.1, 5.0),
    zeta=st.floats(0.01, 1.0),
)
def test_couplings_of_each_coordinate_are_certified_and_equal_ones_give_theorem_2(pairs, eps, zeta):
    levels, couplings = np.array(pairs).T
    demanded = np.minimum(levels, eps)
    for c in (
        co.budget_of_couplings(levels, eps, couplings, zeta),
        co.best_budget_of_couplings(levels, eps, couplings).c,
    ):
        total = c.max()
        assert total <= eps
        assert (co.bcdp_from_cdp_and_ldp(c, couplings, total) <= demanded * (1 + 1e-9)).all()
    exact = co.best_budget_of_couplings(levels, eps, couplings, exact=True)
    certified = co.best_certificate(exact.c, couplings, exact.c.max())
    assert (certified <= demanded * (1 + 1e-9)).all()
    one = np.full(levels.size, couplings[0])
    assert np.array_equal(
        co.budget_of_couplings(levels, eps, one, zeta),
        co.budget_vector(levels, eps, couplings[0], zeta),
    )


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from([0.2, 1.0, 2.0]), st.floats(0.0, 1.0)), min_size=2, max_size=5
    )
)
@settings(max_examples=20)
def test_couplings_of_each_coordinate_never_err_more_than_the_largest_of_them(pairs):
    levels, couplings = np.array(pairs).T
    own = co.best_budget_of_couplings(levels, 2.0, couplings)
    assert own.mse <= co.best_zeta(levels, 2.0, couplings.max()).mse * (1 + 1e-6)
    exact = co.m_mean_mse(np.zeros(levels.size), own.c, 1, rule="optimal")
    assert exact == pytest.approx(float(own.mse), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_levels_for_couplings_of_each_coordinate_hold_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(8, 0.5))
    couplings = co.coupling([2] * 3, prior)
    levels = np.array([0.3, 0.5, 1.5])
    for c in (
        co.budget_of_couplings(levels, 2.0, couplings, 0.7),
        co.best_budget_of_couplings(levels, 2.0, couplings).c,
    ):
        exact = bcdp_levels_from_logs([2] * 3, prior, co.corner_log_likelihoods(c))
        assert (exact <= levels + 1e-12).all()
