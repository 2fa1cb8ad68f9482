"""Rényi levels of subsampled clones: against many digits, below nothing that is true, adding up."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.divergences import conversion_penalty
from explorer.privacy.shuffle_rdp import accountant
from explorer.privacy.shuffling import Clones

VARIANTS = list(Clones)


def exact_level(lam, eps0, k, n, variant):
    """The clone pair's two laws, counted, and the sampled pair's divergence, 40 digits."""
    with mpmath.workdps(40):
        e, gamma = mpmath.exp(mpmath.mpf(eps0)), mpmath.mpf(k) / n
        pc = 1 / e if variant is Clones.PUBLISHED else 2 / (e + 1)
        other = 1 - pc
        P, Q = {}, {}
        for c in range(k):
            for a in range(c + 1):
                mass = (
                    mpmath.binomial(k - 1, c)
                    * pc**c
                    * (other ** (k - 1 - c) if c < k - 1 else 1)
                    * mpmath.binomial(c, a)
                    / mpmath.mpf(2) ** c
                )
                for counts, own, changed in (
                    ((a + 1, c - a), e / (e + 1), 1 / (e + 1)),
                    ((a, c - a + 1), 1 / (e + 1), e / (e + 1)),
                ):
                    P[counts] = P.get(counts, 0) + mass * own
                    Q[counts] = Q.get(counts, 0) + mass * changed
        total = mpmath.mpf(0)
        for counts, q in Q.items():
            if counts[0] > counts[1]:
                ratio = 1 + gamma * (P[counts] / q - 1)
                total += q * (ratio**lam + ratio ** (1 - lam) - 1 - ratio)
        return float(mpmath.log1p(total) / (lam - 1))


@given(
    st.floats(1.1, 60.0),
    st.floats(0.05, 6.0),
    st.integers(1, 14),
    st.integers(1, 200),
    st.sampled_from(VARIANTS),
)
def test_levels_against_many_digits(lam, eps0, k, times, variant):
    n = k * times
    expected = exact_level(lam, eps0, k, n, variant)
    got = rdp.clone_rdp(lam, eps0, k, n, variant)
    assert expected <= got * (1 + 1e-13)
    assert got <= expected * (1 + 1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("eps0", "k", "n", "lam"), [(1.0, 60, 60, 40), (2.0, 80, 300, 20)])
def test_what_is_left_out_is_paid_for(monkeypatch, eps0, k, n, lam, variant):
    exact = exact_level(lam, eps0, k, n, variant)
    full = rdp.clone_rdp(lam, eps0, k, n, variant)
    assert exact <= full <= exact * (1 + 1e-6)
    # A window far too narrow: what it lists alone is below the truth, what is returned is not.
    law = accountant.clone_loss

    def narrow(*arguments):
        made = law(*arguments)
        likely = made.mass > 1e-3
        missing = float(made.mass[~likely].sum())
        return type(made)(
            made.mass[likely], made.excess[likely], made.log_ratio[likely], missing, made.accuracy
        )

    monkeypatch.setattr(accountant, "clone_loss", narrow)
    short = rdp.clone_rdp(lam, eps0, k, n, variant)
    assert short >= exact
    monkeypatch.setattr(accountant, "clone_loss", lambda *a: _unpaid(narrow(*a)))
    assert rdp.clone_rdp(lam, eps0, k, n, variant) < exact


def _unpaid(made):
    return type(made)(made.mass, made.excess, made.log_ratio, 0.0, made.accuracy)


@given(
    st.floats(0.02, 8.0),
    st.integers(1, 3000),
    st.integers(1, 1000),
    st.sampled_from(VARIANTS),
    st.sampled_from([2, 3, 8, 40, 300]),
)
def test_levels_lie_between_randomised_response_and_the_caps(eps0, k, times, variant, lam):
    n = k * times
    got = rdp.clone_rdp(lam, eps0, k, n, variant)
    assert rdp.lower_rdp(lam, eps0, k, n) <= got * (1 + 1e-9)
    assert got <= rdp.renyi_cap_table(eps0, k, n, lam)[-1] * (1 + 1e-9)
    if variant is Clones.STRONGER:
        assert got <= rdp.clone_rdp(lam, eps0, k, n) * (1 + 1e-5)


@pytest.mark.parametrize(
    ("eps0", "variant", "expected"),
    [
        (2.0, "2021", (1.9190e-8, 7.6761e-8, 2.6866e-7)),
        (2.0, "2023", (1.0576e-8, 4.2306e-8, 1.4807e-7)),
    ],
)
def test_levels_of_figure_2a(eps0, variant, expected):
    found = rdp.clone_rdp(np.array([2, 8, 28]), eps0, 1e3, 1e6, variant)
    assert found == pytest.approx(expected, rel=4e-5)
    theorem1 = rdp.upper_rdp(np.array([2, 8, 28]), eps0, 1e3, 1e6)
    assert (theorem1 / found > 15).all()


@pytest.mark.parametrize(
    ("eps0", "variant", "epsilon", "order"),
    [
        (2.0, "2021", 0.22134, 120),
        (2.0, "2023", 0.16228, 160),
        (3.0, "2021", 0.47767, 59),
        (3.0, "2023", 0.32794, 84),
    ],
)
def test_epsilon_of_the_figures(eps0, variant, epsilon, order):
    found = rdp.clone_rdp_epsilon(eps0, 1e3, 1e6, 1e5, 1e-8, 2048, variant)
    assert float(found.epsilon) == pytest.approx(epsilon, rel=2e-5)
    assert int(found.order) == order
    assert not found.at_edge
    composed = float(rdp.clone_epsilon(eps0, 1e3, 1e6, 1e5, 1e-8, variant).value)
    assert composed < float(found.epsilon)


def test_the_best_whole_order_is_found():
    made = rdp.CloneRenyi(1.5, 300.0, 5000.0, Clones.STRONGER)
    orders = np.arange(2.0, 401)
    for T, delta in ((1, 1e-6), (40, 1e-5), (3000, 1e-8), (100_000, 1e-3)):
        worth = T * made.levels(orders) + conversion_penalty(orders, delta)
        found = made.epsilon(T, delta, 400)
        assert float(found.epsilon) <= min(float(worth.min()), T * 2.0) * (1 + 1e-12)
        assert float(found.epsilon) == pytest.approx(
            min(float(worth.min()), T * float(rdp.pure_epsilon(1.5, 300, 5000))), rel=1e-9
        )


def test_fewer_cells_only_raise():
    fine = rdp.clone_rdp(np.array([2.0, 30.0, 400.0]), 2.0, 2000, 50_000, cells=10**7)
    coarse = rdp.clone_rdp(np.array([2.0, 30.0, 400.0]), 2.0, 2000, 50_000, cells=60)
    assert (coarse > fine).all()
    assert (coarse < 1.05 * fine).all()


@pytest.mark.parametrize("eps0", [0.0, 1e-14, 150.0])
def test_where_there_are_no_clones_only_the_cap_counts(eps0):
    got = rdp.clone_rdp(8, eps0, 100, 1000)
    cap = float(rdp.renyi_cap_table(eps0, 100, 1000, 8)[-1])
    assert got == pytest.approx(cap, rel=1e-10)


def test_differing_randomisers_break_the_sampled_bound():
    # n = 2, k = 1: client 2 always says c, so her message tells that client 1 was not sampled.
    e = math.exp(2.0)
    p, q = e / (e + 1), 1 / (e + 1)
    second = math.log(0.5 + 0.5 * (p * p / q + q * q / p))
    assert second == pytest.approx(1.3250, abs=5e-5)
    assert rdp.clone_rdp(2, 2.0, 1, 2) == pytest.approx(0.9189, abs=5e-5)


@pytest.mark.parametrize(
    ("eps0", "k", "n", "wide"),
    [(2.0, 1e3, 1e6, True), (0.05, 1e9, 1e12, False), (1.0, 1e4, 1e4, True), (1e-9, 5, 1e9, False)],
)
def test_less_is_listed_only_where_no_more_counts(monkeypatch, eps0, k, n, wide):
    orders = np.array([1.5, 2.0, 8.0, 64.0, 512.0])
    round_ = accountant.CloneRenyi(eps0, k, n)
    levels = round_.levels(orders)
    assert round_._is_wide == wide
    monkeypatch.setattr(accountant, "_DEPTHS", accountant._DEPTHS[1:])
    monkeypatch.setattr(accountant.CloneRenyi, "_is_wide", False)
    deeper = accountant.CloneRenyi(eps0, k, n).levels(orders)
    assert levels == pytest.approx(deeper, rel=2e-6)
