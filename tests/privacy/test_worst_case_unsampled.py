"""The worst case of unsampled rounds: second ways of computing it, enumeration, its search."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.special import gammaln

from explorer.privacy.core.bound import Grade, Role
from explorer.privacy.randomisers import tables
from explorer.privacy.shuffle_rdp import one_round, worst_case_unsampled as unsampled
from explorer.privacy.shuffling import shuffled_delta, shuffled_epsilon

LOG_EPS0 = st.floats(math.log(0.05), math.log(6)).map(math.exp)


@st.composite
def randomisers(draw):
    """Draw a table with positive entries: 2RR, 3RR, or any; and its ε₀."""
    eps0 = draw(st.floats(0.1, 3.0))
    size = draw(st.integers(2, 4))
    if draw(st.booleans()):
        table = np.ones((size, size)) + math.expm1(eps0) * np.eye(size)
    else:
        power = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
        row = st.lists(power, min_size=size, max_size=size)
        table = np.exp(eps0 * np.array(draw(st.lists(row, min_size=3, max_size=3))))
    table /= table.sum(axis=1, keepdims=True)
    return table, math.log((table.max(axis=0) / table.min(axis=0)).max())


@given(randomisers(), st.integers(2, 5), st.floats(0, 1))
@settings(deadline=None, max_examples=25)
def test_no_table_of_few_clients_exceeds_the_bound(case, n, share):
    table, eps0 = case
    if eps0 < unsampled.MIN_EPS0:
        return
    eps = share * eps0
    pairs = itertools.permutations(range(len(table)), 2)
    exact = max(tables.exact_delta(table, i, j, eps, n) for i, j in pairs)
    found = unsampled.UnsampledRound(eps0, n).certify(eps)
    assert exact <= found.value * (1 + 1e-9) + 1e-15
    assert found.corner <= found.value
    assert found.closed


@given(LOG_EPS0, st.integers(2, 6), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.99))
@settings(deadline=None, max_examples=30)
def test_the_integral_is_all_outcomes_and_its_noise(eps0, n, part, theta, share):
    E, m = math.exp(eps0), round(part * (n - 1))
    alpha = min((1 + theta / (E + 1)) / (E + 2), 1 / (E + 1))
    eps = share * eps0
    exact = unsampled.unsampled_mixed_delta(eps, eps0, n, m, alpha)
    contour = unsampled._Contour(eps0, n, eps)
    found = contour.true(contour.value(theta, m))
    assert exact * (1 - 1e-9) <= found
    # Only beside ε₀ does the noise of so few messages cost more.
    assert found <= exact * 1.03 + 1e-4 * math.expm1(eps0)


def common_sum(eps0, n, eps):
    """Return D(α₀) by adding up counts of the three kinds of messages, far into their tails."""
    E = math.exp(eps0)
    p, third = 1 / (E + 2), 1 / (E * (E + 2))
    sizes = [round(n * x + 14 * math.sqrt(n * x)) for x in (p, p, third)]
    i, j, m = np.ogrid[tuple(slice(0, min(size, n) + 1) for size in sizes)]
    rest = n - i - j - m
    inside = rest >= 0
    logs = math.lgamma(n + 1) - gammaln(np.maximum(rest, 0) + 1)
    logs = logs + np.maximum(rest, 0) * math.log1p(-2 * p - third)
    for count, mass in ((i, p), (j, p), (m, third)):
        logs = logs + count * math.log(mass) - gammaln(count + 1)
    total = i * (E - math.exp(eps)) - j * math.expm1(eps + eps0) - m * E * math.expm1(eps)
    return float((np.exp(logs) * np.maximum(total, 0) * inside).sum() / n)


def alike_sum(eps0, n, eps, rare, common):
    """Return V(α₁, m) of others of one type, by the number of their rare messages, all base.

    Of the common ones one in E is base.
    """
    E = math.exp(eps0)
    i, other = np.arange(n), np.arange(n)[:, None]
    chances = stats.binom.pmf(i, n - 1, 1 / (E + 1))
    shares = (stats.binom.pmf(other, n - 1 - i, 1 / E) / (other + i + 1)).sum(axis=0)
    total = i * rare + (n - 1 - i) * common
    own = E - math.exp(eps), -math.expm1(eps + eps0) / E
    means = sum(np.maximum(total + g, 0) for g in own)
    return float((chances * shares) @ means / (E + 1))


@pytest.mark.parametrize(("eps0", "n"), [(0.5, 100), (1.0, 120), (2.5, 300)])
@pytest.mark.parametrize("delta", [1e-2, 1e-7])
def test_the_integral_at_the_corners_is_their_sum(eps0, n, delta):
    eps = one_round.lower_round_epsilon(eps0, n, n, delta)
    gain, loss = math.exp(eps0) - math.exp(eps), math.expm1(eps + eps0)
    exact = np.array(
        [
            common_sum(eps0, n, eps),
            alike_sum(eps0, n, eps, gain, -loss * math.exp(-eps0)),
            alike_sum(eps0, n, eps, -loss, gain * math.exp(-eps0)),
        ]
    )
    contour = unsampled._Contour(eps0, n, eps)
    found = np.array([contour.true(contour.value(*corner)) for corner in contour._corners()])
    assert np.all(found >= exact * (1 - 1e-10))
    near = exact > 1e-2 * exact.max()
    assert found[near] == pytest.approx(exact[near], rel=5e-3)


@pytest.mark.parametrize("depth", [12.0, 20.0, 40.0])
def test_the_rule_for_the_share_is_never_too_low(depth):
    x, weight = unsampled._radau(unsampled._share_nodes(depth))
    assert x[0] == 0
    y = depth * np.geomspace(0.01, 50, 60)
    found, exact = np.exp(-np.outer(y, x)) @ weight, -np.expm1(-y) / y
    assert np.all(found >= exact * (1 - 1e-13))
    assert found[y < 1.3 * depth] == pytest.approx(exact[y < 1.3 * depth], rel=1e-8)


@given(LOG_EPS0, st.integers(2, 3000), st.floats(-9, -1), st.data())
@settings(deadline=None, max_examples=15)
def test_a_box_bounds_all_its_values(eps0, n, power, data):
    eps = one_round.lower_round_epsilon(eps0, n, n, 10.0**power)
    if eps >= 0.99 * eps0:
        return
    contour = unsampled._Contour(eps0, n, eps)
    low, high = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
    first, last = sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    box = unsampled._Box(low, high, first, last)
    ends = [contour.value(theta, m) for theta in (low, high) for m in (first, last)]
    bound = max(ends) + contour.excess(box)[0]
    for theta in np.linspace(low, high, 5):
        for m in np.unique(np.linspace(first, last, 5).round()):
            assert contour.value(float(theta), float(m)) <= bound * (1 + 1e-9)


@pytest.mark.parametrize(
    ("eps0", "n", "lower", "published"),
    [
        (1.0, 300, 0.25098, 0.25492),
        (2.0, 300, 0.72740, 0.74850),
        (0.5, 1000, 0.05685, 0.05713),
        (1.0, 1000, 0.13056, 0.13109),
        (2.0, 1000, 0.37197, 0.37462),
        (1.0, 10**5, 0.010917, 0.010921),
        (2.0, 10**5, 0.031230, 0.031240),
        (3.0, 300, 2.0416, 2.0752),
    ],
)
def test_table_of_single_rounds(eps0, n, lower, published):
    bound = unsampled.unsampled_round_epsilon(eps0, n, 1e-6)
    assert lower < float(bound.value) <= published
    assert float(bound.value) == pytest.approx(published, rel=1e-3)
    assert (bound.role, bound.grade) == (Role.UPPER, Grade.NUMERICAL)
    assert not bound.truncated


@pytest.mark.parametrize("eps0", [0.5, math.log(2), 0.7])
def test_the_search_closes_where_two_and_three_symbols_leak_alike(eps0):
    n, delta = 10**5, 1e-6
    found = unsampled.UnsampledRound(eps0, n).epsilon(delta)
    assert found.closed
    assert not found.clones
    assert found.boxes < 100
    lower = one_round.lower_round_epsilon(eps0, n, n, delta)
    assert lower < found.value <= 1.01 * lower


@pytest.mark.full
@given(st.floats(0.02, 12), st.floats(0.7, 20).map(math.exp), st.floats(-40, -0.1))
@settings(deadline=None, max_examples=12)
def test_it_lies_between_the_lower_bound_and_the_clones(eps0, size, power):
    n, delta = round(size), 10.0**power
    bound = unsampled.unsampled_round_epsilon(eps0, n, delta)
    lower = one_round.lower_round_epsilon(eps0, n, n, delta)
    if n <= 60:
        lower = max(lower, one_round.mixed_response_epsilon(eps0, n, delta))
    assert lower <= float(bound.value) <= shuffled_epsilon(eps0, n, delta, "2023")


def test_an_open_search_leaves_the_clones_and_says_so(monkeypatch):
    monkeypatch.setattr(unsampled, "BOXES", 3)
    bound = unsampled.unsampled_round_epsilon([0.5, 30.0], 1000, 1e-6)
    assert bound.value == pytest.approx(shuffled_epsilon([0.5, 30.0], 1000, 1e-6, "2023"), rel=0)
    assert bound.truncated.tolist() == [True, False]
    found = unsampled.UnsampledRound(0.5, 1000).certify(0.05)
    assert not found.closed
    assert found.boxes == 3


def test_a_search_ends_where_another_bound_is_less():
    round_ = unsampled.UnsampledRound(5.0, 1000)
    clones = float(shuffled_delta(0.05, 5.0, 1000, "2023"))
    found = round_.certify(0.05, clones)
    assert found.boxes == 1 < round_.certify(0.05).boxes
    assert found.value >= clones


def test_domain_and_the_ends():
    assert unsampled.unsampled_round_epsilon(2.0, 1, 1e-6).value == shuffled_epsilon(
        2.0, 1, 1e-6, "2023"
    )
    assert unsampled.unsampled_round_epsilon(2.0, 5, 1.0).value == 0
    assert unsampled.UnsampledRound(2.0, 5).certify(2.0).value == 0
    with pytest.raises(ValueError, match="eps0"):
        unsampled.UnsampledRound(30.0, 5)
    with pytest.raises(ValueError, match="n"):
        unsampled.UnsampledRound(1.0, 1)
    with pytest.raises(ValueError, match="alpha"):
        unsampled.unsampled_mixed_delta(0.1, 1.0, 5, 2, 0.1)


@given(st.floats(0.1, 4), st.integers(1, 6), st.floats(0, 1))
@settings(max_examples=20)
def test_mixed_responses_are_all_multisets_of_others(eps0, n, share):
    E = math.exp(eps0)
    table = np.array([[E, 1.0], [1.0, E]]) / (E + 1)
    exact = tables.exact_delta(table, 0, 1, share * eps0, n)
    deltas = [one_round.mixed_response_delta(share * eps0, eps0, n, m) for m in range(n)]
    assert max(deltas) == pytest.approx(exact, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(
    ("eps0", "n", "mixed", "alike"), [(0.5, 10, 0.206592, 0.199554), (1.0, 30, 0.279576, 0.272550)]
)
def test_mixed_others_lose_more_than_alike_ones(eps0, n, mixed, alike):
    found = one_round.mixed_response_epsilon(eps0, n, 0.01)
    assert found == pytest.approx(mixed, abs=6e-7)
    assert one_round.lower_round_epsilon(eps0, n, n, 0.01) == pytest.approx(alike, abs=6e-7)
    assert found <= unsampled.unsampled_round_epsilon(eps0, n, 0.01).value
