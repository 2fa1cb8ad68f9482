"""Arithmetic of releases: budgets, splits, decimals, selection, conversions, attacks."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.core.composition import kov_exact_delta
from explorer.privacy.noise.bits import ByteBits
from explorer.privacy.noise.exact import discrete_laplace
from explorer.privacy.noise.laplace_law import dlap_pmf, dlap_quantile, dlap_sd, dlap_tail
from explorer.privacy.releases import attacks, budgets, conversions, means, selection
from explorer.privacy.releases.budgets import level_split

UNIT = Fraction(1, 2**40)
fractions = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(20))


@given(fractions, st.lists(fractions, max_size=30))
def test_filters_never_go_beyond_their_budget(budget, requests):
    for gate, cost in (
        (budgets.pure_filter, lambda e: e),
        (budgets.zcdp_filter, lambda e: e * e / 2),
    ):
        found = gate(budget, Fraction(0), requests)
        spent = sum((cost(e) for e, yes in zip(requests, found.accepted, strict=True) if yes), 0)
        assert (found.spent, found.remaining) == (spent, budget - spent)
        assert found.spent <= budget
        running = Fraction(0)
        for epsilon, yes in zip(requests, found.accepted, strict=True):
            assert yes == (running + cost(epsilon) <= budget)
            running += cost(epsilon) if yes else 0


@given(fractions, fractions)
def test_what_fits_most_fits_and_one_unit_more_does_not(budget, spent):
    for gate, largest in (
        (budgets.pure_filter, budgets.largest_fit_pure),
        (budgets.zcdp_filter, budgets.largest_fit_zcdp),
    ):
        units = largest(budget, spent)
        assert units == 0 or gate(budget, spent, [units * UNIT]).accepted == (True,)
        assert gate(budget, spent, [(units + 1) * UNIT]).accepted == (False,)


def test_an_overdrawn_account_fits_nothing():
    assert budgets.pure_filter(Fraction(1), Fraction(2), [UNIT]).accepted == (False,)
    assert budgets.largest_fit_pure(Fraction(1), Fraction(2)) == 0
    assert budgets.largest_fit_zcdp(Fraction(1), Fraction(2)) == 0


@pytest.mark.parametrize("request_", [Fraction(0), Fraction(-1, 4)])
def test_requests_of_nothing_are_refused(request_):
    for gate in (budgets.pure_filter, budgets.zcdp_filter):
        with pytest.raises(ValueError, match="epsilon"):
            gate(Fraction(1), Fraction(0), [request_])


def test_weekly_releases_are_those_of_the_specification():
    tenth, delta = Fraction(1, 10), Fraction(1, 10**6)

    def zcdp(weeks: int) -> float:
        return conversions.zcdp_to_epsilon(weeks * tenth**2 / 2, delta).best

    assert [round(zcdp(weeks), 2) for weeks in (4, 52, 260)] == [0.90, 3.62, 9.05]
    for reach, weeks in ((1, 4), (3, 37), (10, 307)):
        assert zcdp(weeks) <= reach < zcdp(weeks + 1)
    assert next(n for n in range(1, 999) if zcdp(n) < n * 0.1) == 24
    ones = (conversions.zcdp_to_epsilon(Fraction(n, 2), delta).best < n for n in range(1, 999))
    assert next(n for n, pays in enumerate(ones, 1) if pays) == 103


@given(
    st.integers(0, 2**60),
    st.fractions(min_value=Fraction(1, 50), max_value=1),
    st.integers(0, 6),
    st.integers(0, 8),
)
def test_splits_are_floors_of_irrational_shares(units, squared, first, more):
    found = level_split(units, squared, first, first + more)
    assert sum(found) <= units < sum(found) + len(found) + 1
    with localcontext() as context:
        context.prec = 120
        gamma = (Decimal(squared.numerator) / Decimal(squared.denominator)).sqrt()
        weights = [gamma**k if k else Decimal(1) for k in range(more + 1)]
        for share, weight in zip(found, weights, strict=True):
            exact = Decimal(units) * weight / sum(weights)
            # 120 digits tell which whole number a share is next to, but not on which side.
            assert Decimal("-1e-60") <= exact - share < 1 + Decimal("1e-60")


def test_laws_of_noise_agree_with_each_other():
    for epsilon, B in ((Fraction(1), 1), (Fraction(1, 7), 3), (Fraction(9), 2)):
        k = range(-400 * B, 400 * B + 1)
        pmf = np.array([dlap_pmf(epsilon, B, one) for one in k])
        assert pmf.sum() == pytest.approx(1, abs=1e-12)
        assert math.sqrt((pmf * np.array(k) ** 2).sum()) == pytest.approx(dlap_sd(epsilon, B))
        for m in (0, 1, 5):
            assert pmf[np.abs(k) >= m].sum() == pytest.approx(dlap_tail(epsilon, B, m))
        for beta in (Fraction(1, 20), Fraction(1, 3), Fraction(1, 10**9)):
            m = dlap_quantile(epsilon, B, beta)
            assert dlap_tail(epsilon, B, m + 1) <= float(beta) * (1 + 1e-12)
            assert m == 0 or dlap_tail(epsilon, B, m) > float(beta)


SCALES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 3),
    Fraction(50),
    Fraction(2**20 * 2**40, 353263913368),
    Fraction(2**50 + 1, 3),
]


@pytest.mark.full
@pytest.mark.parametrize(
    ("scale", "size"), [*((scale, 10**6) for scale in SCALES), (Fraction(2**70 + 1, 3), 50_000)]
)
def test_a_million_draws_have_their_law(scale, size):
    """χ² on cells of about a quarter of a scale, false alarm 1e-6."""
    rng = np.random.default_rng(int(scale.numerator % 1000))
    draws = discrete_laplace(scale, size, ByteBits(rng.bytes))
    width = max(int(scale / 4), 1)
    cells = np.array((draws // width).tolist(), dtype=np.int64)
    reach = int(scale * 8 / width) + 3

    def above(m: int) -> float:
        """P(X ≥ m)."""
        return dlap_tail(1 / scale, 1, m) / 2 if m > 0 else 1 - dlap_tail(1 / scale, 1, 1 - m) / 2

    edges = [above(k * width) for k in range(-reach, reach + 2)]
    expected = np.array([a - b for a, b in pairwise(edges)])
    seen = np.bincount(cells[np.abs(cells) <= reach] + reach, minlength=2 * reach + 1)
    common = expected * len(draws) >= 8
    seen = np.append(seen[common], len(draws) - seen[common].sum())
    expected = np.append(expected[common], 1 - expected[common].sum()) * len(draws)
    assert stats.chisquare(seen, expected).pvalue > 1e-6


def test_composition_fixed_in_advance_by_definition():
    epsilons = [Fraction(1), Fraction(1, 3), Fraction(1, 4), Fraction(2, 7)]
    for cut in (Fraction(0), Fraction(1, 2), Fraction(3, 2)):
        direct = 0.0
        for signs in product((1, -1), repeat=4):
            total = sum(s * e for s, e in zip(signs, epsilons, strict=True))
            chance = math.prod(
                1 / (1 + math.exp(-s * e)) for s, e in zip(signs, epsilons, strict=True)
            )
            direct += chance * max(0.0, 1 - math.exp(cut - total))
        assert conversions.fixed_composition_delta(epsilons, cut) == pytest.approx(direct)
    ours = conversions.fixed_composition_delta([Fraction(1, 5)] * 30, Fraction(2))
    assert ours == pytest.approx(kov_exact_delta(2.0, 0.2, 30), rel=1e-9)


def test_many_different_epsilons_are_rounded_up():
    rng = np.random.default_rng(2)
    epsilons = [Fraction(int(e), 2**40) for e in rng.integers(2**36, 2**38, 40)]
    found = conversions.fixed_composition_delta(epsilons, Fraction(2))
    grid = Fraction(sum(epsilons), 4000)
    coarse = conversions.fixed_composition_delta(
        [-(-e // grid) * grid for e in epsilons], Fraction(2)
    )
    fine = conversions.fixed_composition_delta([e // grid * grid for e in epsilons], Fraction(2))
    assert fine < found < coarse
    assert coarse < 1.2 * fine


def test_adaptive_choice_breaks_exact_composition():
    """The specification's example: both paths are within (ln 6, 1/3), the whole is not."""
    found = conversions.adaptive_branch_delta(
        Fraction(2), [Fraction(7)], [Fraction(3)] * 3, Fraction(6)
    )
    assert found == (Fraction(1, 3), Fraction(21, 64), Fraction(79, 192))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-0.5", Fraction(-1, 2)),
        ("+.25", Fraction(1, 4)),
        ("3.", 3),
        ("1e2", 100),
        ("2.5E-1", Fraction(1, 4)),
        (" 7 ", 7),
        ("0" * 40, 0),
        ("9" * 40, 10**40 - 1),
        ("1e40", 10**40),
        ("1e-40", Fraction(1, 10**40)),
        ("." + "1" * 40 + "e-40", Fraction(int("1" * 40), 10**80)),
        ("nan", None),
        ("inf", None),
        ("", None),
        (".", None),
        ("1e41", None),
        ("1e-41", None),
        ("9" * 41, None),
        ("1_0", None),
        ("1,5", None),
        ("0x1", None),
        ("1e", None),
        ("--1", None),
        ("\u0661", None),
        ("1\n2", None),
        ("1e1000", None),
        ("e5", None),
    ],
)
def test_decimals_are_read_exactly_or_not_at_all(text, value):
    found = means.read_decimal(text)
    assert found == (None if value is None else value * 10**means.DECIMAL_PLACES)


@given(st.lists(st.decimals(-5, 5, places=3), min_size=1, max_size=8), st.integers(1, 2**20))
def test_user_values_by_definition(rows, B):
    low, high = Fraction(-1), Fraction(7, 2)
    clipped = [min(max(Fraction(row), low), high) for row in rows]
    expected = math.floor(B * sum(x - low for x in clipped) / (len(rows) * (high - low)))
    assert means.user_value([str(row) for row in rows], "-1", "3.5", B) == expected


@given(st.integers(-(10**9), 10**9), st.integers(-100, 10**6), st.integers(1, 2**20))
def test_means_stay_within_their_bounds(total, users, B):
    found = means.mean_from_noisy(total, users, Fraction(-1), Fraction(5), B)
    assert -1 <= found <= 5


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_selection_is_epsilon_dp_for_scores_that_move_together(epsilon):
    """All neighbours of up to three candidates, scores 0 to 3: exactly ε; apart it is not."""
    worst = max(
        selection.permute_and_flip_worst_log_ratio(scores, epsilon)
        for n in (1, 2, 3)
        for scores in product(range(4), repeat=n)
    )
    assert worst == pytest.approx(float(epsilon), rel=1e-10)
    before, after = (selection.permute_and_flip_law(scores, epsilon) for scores in ((0, 5), (1, 4)))
    assert abs(np.log(before / after)).max() == pytest.approx(2 * float(epsilon), rel=1e-9)


@pytest.mark.full
def test_selections_have_their_law():
    """χ², false alarm 1e-6."""
    scores, epsilon = np.array([7, 7, 2, 0, 6]), Fraction(2, 5)
    bits = ByteBits(np.random.default_rng(5).bytes)
    runs = 6_000
    drawn = [selection.permute_and_flip(scores, epsilon, bits) for _ in range(runs)]
    expected = selection.permute_and_flip_law(scores.tolist(), epsilon) * runs
    assert stats.chisquare(np.bincount(drawn, minlength=5), expected).pvalue > 1e-6


def test_selections_of_scores_of_any_size():
    scores = np.array([2**62, 2**62 - 1, 0])
    bits = ByteBits(np.random.default_rng(5).bytes)
    found = {selection.permute_and_flip(scores, 2**39 * UNIT, bits) for _ in range(200)}
    assert found == {0, 1}


def test_gaps_are_seldom_beyond_their_quantile():
    for scores in ([0, 3, 5, 5], [9, 0, 0, 0, 0, 0], list(range(30))):
        for epsilon in (Fraction(1, 2), Fraction(2)):
            law = selection.permute_and_flip_law(scores, epsilon)
            most = selection.gap_quantile(len(scores), epsilon, Fraction(1, 20))
            beyond = np.array([max(scores) - score > most for score in scores])
            assert law[beyond].sum() <= 0.05


def test_what_attacks_can_do():
    count = attacks.averaging_sd(dlap_sd(Fraction(1), 1), 100)
    assert round(count, 3) == 0.136
    assert attacks.best_guess(Fraction(1)) == pytest.approx(0.7310585786300049)
    # 1,000, 10,000 and 100,000 runs that tell without fault prove no more.
    most = [
        attacks.audit_epsilon_lower(n, 0, n, Fraction(1, 100)).eps_lower
        for n in (1000, 10_000, 100_000)
    ]
    assert [round(one, 2) for one in most] == [5.24, 7.54, 9.85]
    assert attacks.audit_epsilon_lower(0, 5, 10, Fraction(1, 100)).eps_lower == 0


@given(fractions, st.fractions(0, 1))
def test_tests_of_membership_have_at_least_the_total_error(epsilon, alpha):
    found = attacks.tradeoff(epsilon, alpha)
    assert 0 <= found.beta <= 1
    assert float(alpha) + found.beta >= found.best_total_error - 1e-12
