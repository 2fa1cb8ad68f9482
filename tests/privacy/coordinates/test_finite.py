"""Exact levels on finite domains, against the definitions with all their events."""

from __future__ import annotations

import math
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import explorer.privacy.coordinates as co
from tests.privacy.coordinates.test_certificates import random_mechanism


def events(n):
    """All non-empty subsets of range(n)."""
    return chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1))


def points(sizes):
    return list(product(*(range(size) for size in sizes)))


def level_by_events(sizes, prior, channel, i):
    """Definition 4 letter by letter: all events of outputs and all events of x_i."""
    x = np.array(points(sizes))
    worst = 0.0
    for S, T in product(events(sizes[i]), repeat=2):
        laws = []
        for event in (S, T):
            mass = np.where(np.isin(x[:, i], event), prior, 0.0)
            laws.append(mass @ channel / mass.sum() if mass.sum() > 0 else None)
        if laws[0] is None or laws[1] is None:
            continue
        for R in events(channel.shape[1]):
            a, b = (law[list(R)].sum() for law in laws)
            if a > 0:
                worst = max(worst, math.log(a / b) if b > 0 else math.inf)
    return worst


def coupling_by_events(sizes, prior, i):
    x = np.array(points(sizes))
    others = [tuple(row) for row in np.delete(x, i, axis=1)]
    keys = sorted(set(others))
    worst = 0.0
    for S, T in product(events(sizes[i]), repeat=2):
        laws = []
        for event in (S, T):
            law = dict.fromkeys(keys, 0.0)
            for mass, value, key in zip(prior, x[:, i], others, strict=True):
                law[key] += mass if value in event else 0.0
            total = sum(law.values())
            laws.append(np.array([law[key] / total for key in keys]) if total > 0 else None)
        if laws[0] is not None and laws[1] is not None:
            worst = max(worst, 0.5 * np.abs(laws[0] - laws[1]).sum())
    return worst


@given(st.integers(0, 10**6))
def test_levels_and_coupling_are_those_of_all_events(seed):
    sizes, prior, channel = random_mechanism(seed)
    exact = [level_by_events(sizes, prior, channel, i) for i in range(len(sizes))]
    np.testing.assert_allclose(co.bcdp_levels(sizes, prior, channel), exact, rtol=1e-9, atol=1e-12)
    couplings = [coupling_by_events(sizes, prior, i) for i in range(len(sizes))]
    np.testing.assert_allclose(co.coupling(sizes, prior), couplings, rtol=1e-9, atol=1e-12)
    assert (co.coupling(sizes, prior, later_only=True) <= np.array(couplings) + 1e-12).all()


@given(st.integers(0, 10**6))
def test_post_processing_never_raises_a_level(seed):
    sizes, prior, channel = random_mechanism(seed)
    merged = np.stack([channel[:, 0] + channel[:, 1], channel[:, 2]], axis=1)
    before, after = (co.bcdp_levels(sizes, prior, c) for c in (channel, merged))
    assert (after <= before + 1e-9).all()


@given(st.tuples(*[st.floats(0.01, 1.0)] * 3))
def test_example1_closed_form_is_brute_force(abc):
    channel = co.example1_channel(*abc)
    levels = co.bcdp_levels((2, 2), np.full(4, 0.25), channel)
    np.testing.assert_allclose(co.example1_levels(*abc), levels, rtol=1e-6, atol=1e-9)
    assert co.ldp_level(channel) == math.inf
    assert co.cdp_levels((2, 2), channel).max() == math.inf


def test_example1_is_not_ldp_and_can_be_infinite():
    np.testing.assert_allclose(co.example1_levels(0.5, 0.5, 0.5), math.log(2))
    # Errata coord-A5.
    assert co.example1_levels(0.5, 1.0, 1.0)[0] == math.inf
    assert co.example1_levels(1.0, 1.0, 0.5)[1] == math.inf
    assert co.example1_levels(np.linspace(0.1, 1, 4), 0.5, 0.5).shape == (4, 2)


def test_example2_does_not_compose():
    channel, fair = co.example2_channel(), np.full(8, 1 / 8)
    once = co.bcdp_levels((2, 2, 2), fair, channel)
    np.testing.assert_allclose(once, [0.0, math.log(3), math.log(3)], atol=1e-12)
    twice = co.composed_bcdp_levels((2, 2, 2), fair, channel)
    np.testing.assert_allclose(twice, [math.inf, math.log(5), math.log(5)], atol=1e-12)
    np.testing.assert_array_equal(co.composed_channel(channel, 1), channel)


def test_prior_of_figure_3_has_its_coupling():
    for d, q in product((2, 3, 5), (0.0, 0.3, 1.0)):
        prior = co.copies_prior(d, q)
        np.testing.assert_allclose(co.coupling([2] * d, prior), q, atol=1e-12)
    # The last coordinate is exempt for M_mean: no later one depends on it.
    last = co.coupling([2] * 3, co.copies_prior(3, 0.4), later_only=True)
    np.testing.assert_allclose(last, [0.4, 0.4, 0.0], atol=1e-12)


def test_coarser_views_only_lower_the_coupling():
    # Exclusive or: 0 on every pair, 1 on all three.
    prior = np.array([float(a ^ b == c) for a, b, c in points((2, 2, 2))]) / 4
    np.testing.assert_allclose(co.coupling((2, 2, 2), prior), 1.0)
    pair = prior.reshape(2, 2, 2).sum(axis=2).ravel()
    np.testing.assert_allclose(co.coupling((2, 2), pair), 0.0, atol=1e-15)
    # Gaussian pair, ρ = 0.3, x_1 cut to [−3, 3]: 0.19 with two bins, towards 0.655 with many.
    grid = np.linspace(-3, 3, 61)
    law = np.exp(-(grid[:, None] ** 2 - 0.6 * np.outer(grid, grid) + grid[None] ** 2) / (2 * 0.91))
    fine = law / law.sum()
    fine_q = co.coupling((61, 61), fine.ravel())[0]
    halves = fine.copy()
    halves[30] /= 2
    rows = np.stack([halves[:31].sum(axis=0), halves[30:].sum(axis=0)])
    columns = np.stack(
        [rows[:, :30].sum(axis=1) + rows[:, 30] / 2, rows[:, 31:].sum(axis=1) + rows[:, 30] / 2],
        axis=1,
    )
    assert co.coupling((2, 2), columns.ravel() / columns.sum())[0] == pytest.approx(0.19, abs=0.01)
    assert fine_q == pytest.approx(0.655, abs=0.02)


@given(st.integers(0, 10**6))
def test_trade_off_is_in_the_region_of_the_level_and_touches_it(seed):
    sizes, prior, channel = random_mechanism(seed)
    alphas = np.linspace(0, 1, 41)
    for i, level in enumerate(co.bcdp_levels(sizes, prior, channel)):
        laws = co.conditional_laws(sizes, prior, channel, i)
        pairs = list(product(laws, repeat=2))
        bound = co.tradeoff_bound(level, alphas)
        for P, Q in pairs:
            beta = co.tradeoff_beta(P, Q, alphas)
            assert (beta >= bound - 1e-9).all()
            assert (np.diff(beta) <= 1e-12).all()
            # Randomised tests over all events reach it, and no event beats it.
            for R in events(len(P)):
                tested = co.tradeoff_beta(P, Q, min(1.0, P[list(R)].sum()))
                assert tested <= 1 - Q[list(R)].sum() + 1e-9
        assert max(co.level_of_tradeoff(P, Q) for P, Q in pairs) == pytest.approx(level, abs=1e-9)


@given(st.one_of(st.floats(0, 800), st.just(math.inf)), st.floats(0, 1))
def test_trade_off_bound_is_a_number_between_0_and_the_diagonal(level, alpha):
    beta = float(co.tradeoff_bound(level, alpha))
    assert 0.0 <= beta <= 1.0 - alpha + 1e-15
    assert co.tradeoff_bound(0.0, alpha) == pytest.approx(1.0 - alpha)


def test_an_infinite_level_bounds_no_test():
    # A report of 1 excludes x = 0: a test without false alarms misses only a quarter.
    beta = co.tradeoff_beta([1.0, 0.0], [0.25, 0.75], 0.0)
    assert beta == pytest.approx(0.25)
    assert co.tradeoff_bound(math.inf, [0.0, 0.3, 1.0]) == pytest.approx([0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.ldp_level([[0.5, 0.6]]), "rows of channel must sum to 1"),
        (lambda: co.bcdp_levels([2], [0.5, 0.6], np.eye(2)), "prior must sum to 1"),
        (lambda: co.bcdp_levels([2, 2], [1.0, 0.0], np.eye(2)), "one row a point, 4, got 2"),
        (lambda: co.coupling([], [1.0]), "sizes must have at least one"),
        (lambda: co.coupling([0], [1.0]), r"sizes: 0 is outside \[1"),
        (lambda: co.example1_levels(0.0, 1, 1), r"a: 0 is outside \(0, 1\]"),
        (lambda: co.composed_channel(np.full((2, 3), 1 / 3), 40), "copies must leave"),
        (lambda: co.copies_prior(21, 0.1), r"d: 21 is outside \[1, 20\]"),
        (lambda: co.tradeoff_beta([1.0], [0.5], 0.1), "Q must be a law"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
