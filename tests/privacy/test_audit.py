"""Audits: Clopper–Pearson against its definition, coverage, and mechanisms that break promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.audit import (
    clopper_pearson,
    delta_lower_bound,
    epsilon_lower_bound,
    likeliest_events,
)


@given(st.integers(1, 10**5), st.floats(0, 1), st.floats(1e-9, 0.4))
def test_clopper_pearson_are_the_probabilities_whose_tails_are_the_risk(n, share, risk):
    hits = round(share * n)
    low, high = clopper_pearson(hits, n, risk)
    assert 0 <= low <= hits / n <= high <= 1
    if hits:
        assert stats.binom.sf(hits - 1, n, low) == pytest.approx(risk, rel=1e-6)
    if hits < n:
        assert stats.binom.cdf(hits, n, high) == pytest.approx(risk, rel=1e-6)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_each_side_is_wrong_no_more_often_than_the_risk(p, n):
    """By enumeration of all outcomes."""
    low, high = clopper_pearson(np.arange(n + 1), n, 0.05)
    pmf = stats.binom.pmf(np.arange(n + 1), n, p)
    assert pmf[low > p].sum() <= 0.05 + 1e-12
    assert pmf[high < p].sum() <= 0.05 + 1e-12


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_bound_is_too_high_at_most_as_often_as_said(epsilon):
    """All outcomes of n runs of binary randomised response on both inputs, two events."""
    n, confidence = 30, 0.9
    keep = 1 / (1 + math.exp(-epsilon))
    k = np.arange(n + 1)
    first, second = stats.binom.pmf(k, n, keep), stats.binom.pmf(k, n, 1 - keep)
    wrong = sum(
        first[i] * second[j]
        for i in k
        for j in k
        if epsilon_lower_bound([i, n - i], [j, n - j], n, confidence).epsilon > epsilon
    )
    assert wrong <= 1 - confidence


def test_broken_promises_are_found_and_kept_ones_are_not():
    rng, n = np.random.default_rng(1), 50_000
    # Randomised response at ε = 1; the bound exceeds 1 with probability at most 1e-6.
    keep = math.e / (1 + math.e)
    p, q = rng.binomial(n, keep), rng.binomial(n, 1 - keep)
    found = epsilon_lower_bound([p, n - p], [q, n - q], n)
    assert 0.9 < found.epsilon <= 1
    # The two events are each other's complement: one is likelier here, one there.
    assert (found.event, found.swapped) in {(0, False), (1, True)}
    # Noise that is never negative reveals who has the larger count.
    a, b = (rng.poisson(3.0, n) + count for count in (1, 0))
    seen = epsilon_lower_bound([(a == 0).sum()], [(b == 0).sum()], n)
    assert seen.swapped
    assert seen.epsilon > 4.5
    assert delta_lower_bound([(a == 0).sum()], [(b == 0).sum()], n, 800.0) == 0.0
    assert 0.04 < delta_lower_bound([(a == 0).sum()], [(b == 0).sum()], n, 2.0) <= math.exp(-3)


def test_delta_is_taken_off_first():
    # P(E) = 0.1 here and 0 there is (0, 0.1)-DP: nothing is left of it at δ = 0.1.
    assert epsilon_lower_bound([5000], [0], 50_000, delta=0.1).epsilon == -math.inf
    assert epsilon_lower_bound([5000], [0], 50_000, delta=0.05).epsilon > 4


def test_different_numbers_of_runs():
    even = epsilon_lower_bound([800], [200], (1000, 1000)).epsilon
    more = epsilon_lower_bound([80_000], [200], (100_000, 1000)).epsilon
    assert even < more < math.log(4)


def test_events_found_on_one_half_are_good_on_the_other():
    # Discrete Laplace of scale 2 against itself moved by 1: every outcome on one side has loss ½.
    rng = np.random.default_rng(2)
    halves = []
    for _ in range(2):
        noise = rng.geometric(1 - math.exp(-0.5), (2, 2, 100_000))
        moved = (noise[0] - noise[1]) + np.array([[1], [0]])
        halves.append([np.bincount(np.clip(row + 30, 0, 60), minlength=61) for row in moved])
    masks = likeliest_events(*halves[0])
    counts = [masks @ half for half in halves[1]]
    found = epsilon_lower_bound(*counts, 100_000).epsilon
    assert 0.4 < found <= 0.5
    sizes = masks.sum(axis=1)
    assert (np.diff(sizes) <= 0).all()
    assert all((masks[i] >= masks[i + 1]).all() for i in range(len(masks) - 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: clopper_pearson(3, 2, 0.1), "hits: 3 is outside"),
        (lambda: clopper_pearson(1, 2, 0.0), "risk: 0 is outside"),
        (lambda: epsilon_lower_bound([1], [1, 2], 5), "counts_p, counts_q: shapes"),
        (lambda: epsilon_lower_bound([1], [1], 5, 1.0), "confidence: 1 is outside"),
        (lambda: epsilon_lower_bound([1], [1], 5, delta=2.0), "delta: 2 is outside"),
        (lambda: delta_lower_bound([], [], 5, 1.0), "counts_p, counts_q: shapes"),
        (lambda: delta_lower_bound([1], [1], 5, -1.0), "epsilon: -1 is outside"),
        (lambda: likeliest_events([1], [1], 0), "events: 0 is outside"),
        (lambda: likeliest_events([1], [1, 2]), "counts_p, counts_q: shapes"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=words):
        call()
