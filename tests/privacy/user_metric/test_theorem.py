"""Theorems 4.3 and 4.4: limits, inversion, the paper's closed forms and what they spend."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy import user_metric as um
from tests import snapshots
from tests.privacy.user_metric.own_split import assert_private

ALPHA0 = st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 1e-9, 800.0]))
COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 100))
DELTA = st.one_of(st.floats(1e-300, 1), st.floats(-690, 0).map(math.exp), st.just(1.0))


@given(ALPHA0, COUNT, DELTA, COUNT, st.floats(1e-9, 1))
def test_alpha_is_the_supremum_over_w(a0, m, delta, n, w):
    top = um.theorem44_alpha(a0, m, delta, n)
    ratio = um.theorem44_ratio(w, a0, m, delta, n)
    assert not math.isnan(top)
    assert 0 <= ratio <= top * (1 + 1e-12) + 1e-300
    if 1e-6 < a0 < 20:
        near = um.theorem44_ratio(1e-12, a0, m, delta, n)
        # h/w at w differs from the limit by about half of hop·w.
        assert near == pytest.approx(top, rel=1e-3 + 1e-12 * top / m)


@given(ALPHA0, COUNT, DELTA, COUNT)
def test_delta_claims_are_ordered(a0, m, delta, n):
    printed = um.theorem44_delta(a0, m, delta, n)
    tight = um.theorem44_delta_tight(a0, m, delta, n)
    assert not math.isnan(printed)
    assert delta * (1 - 1e-9) <= tight <= printed * (1 + 1e-9)


@given(ALPHA0, COUNT, DELTA, COUNT)
def test_internal_delta_inverts_the_claim(a0, m, delta_prime, n):
    inside = um.theorem44_delta_inside(a0, m, delta_prime, n)
    assert 0 <= inside <= delta_prime * (1 + 1e-12)
    if inside > 1e-300:
        # h is up to 1e13 in magnitude: its rounding is what remains.
        h = um.group_epsilon(m * n, m, m, a0, min(inside, 1.0))
        claim = math.log(inside) + h
        assert claim == pytest.approx(math.log(delta_prime), abs=1e-9 + 1e-14 * h)


@given(st.floats(0, 800), DELTA, COUNT, COUNT, st.sampled_from(["simple", "tight"]))
def test_inversion_inverts_and_says_what_binds(alpha, delta_prime, m, n, rule):
    found = um.theorem44_invert(alpha, delta_prime, m, n, rule)
    a0, free, binding = float(found.alpha0), float(found.unconstrained), str(found.binding)
    assert not math.isnan(free)
    assert 0 <= a0 <= free
    assert binding in ("alpha", "validity", "infeasible")
    assert (binding == "alpha") == (a0 == free) or a0 == 0
    if binding == "infeasible":
        assert a0 == 0
    if rule == "simple" and free > 0 and alpha - math.log(delta_prime) < 680:
        inside = delta_prime * math.exp(-alpha)
        if 1e-300 <= inside <= 1:
            assert um.theorem44_alpha(min(free, 800), m, inside, n) <= alpha * (1 + 1e-9)
            if free < 800:
                again = um.theorem44_alpha(free, m, inside, n)
                assert again == pytest.approx(alpha, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("m", "n", "alpha", "delta_prime", "more"),
    [
        (37, 88_327_437, 478.0, 1.35e-5, 0.008),
        (58, 5_272_054, 615.0, 5.4e-4, 0.007),
        (97, 153_631_460, 744.0, 5.3e-8, 0.002),
    ],
)
def test_where_it_allows_more_than_exact_hops_it_is_private_all_the_same(
    m, n, alpha, delta_prime, more
):
    # Exact hops share α out by distance, αd/m each, and pay e^α for it; the theorem's split needs
    # h ≪ α for the longest way and pays e^h.
    alpha0 = float(um.theorem44_invert(alpha, delta_prime, m, n, "tight").alpha0)
    assert alpha0 == pytest.approx(um.group_alpha0(alpha, delta_prime, m, n), rel=1.2 * more)
    assert alpha0 > um.group_alpha0(alpha, delta_prime, m, n) * (1 + 0.8 * more)
    assert um.group_delta(alpha, alpha0, m, n) > delta_prime
    inside = um.theorem44_delta_inside(alpha0, m, delta_prime, n)
    assert um.group_epsilon(m * n, m, m, alpha0, inside) < alpha / 8
    assert_private(alpha, alpha0, delta_prime, inside, m, n)


def test_tight_rule_certifies_more_than_the_simple_one():
    simple = um.theorem44_invert(25, 1e-12, 1000, [1, 1000, 1e5])
    tight = um.theorem44_invert(25, 1e-12, 1000, [1, 1000, 1e5], "tight")
    assert (tight.alpha0 > simple.alpha0).all()
    # Specification, "The concrete example, corrected".
    np.testing.assert_allclose(tight.alpha0, [0.02497, 0.5985, 2.48387], rtol=3e-4)
    np.testing.assert_allclose(simple.alpha0[[0, 2]], [0.02491, 2.40528], rtol=3e-4)


def test_the_papers_three_is_not_private():
    # Errata user-A1: α₀ = 3 certifies 41.98, not 25; it is h at w = 1.
    inside = 1e-12 * math.exp(-25)
    assert um.theorem44_alpha(3.0, 1000, inside, 1e5) == pytest.approx(41.98, abs=0.005)
    assert um.theorem44_ratio(1.0, 3.0, 1000, inside, 1e5) == pytest.approx(25.02, abs=0.005)


def test_closed_forms_jump_and_overspend():
    # Errata user-A3 and user-A5.
    assert um.closed_form_achieved(100, 1e-12, 1e3, 1e8) > 2.5 * 100
    low, high = um.closed_form([25.0, 25.0], 1e-12, 1e3, [1.0, 1e5]).branch
    assert (low, high) == (1, 2)
    n = np.geomspace(1, 1e8, 4000)
    sweep = um.closed_form(25.0, 1e-12, 1e3, np.floor(n))
    jump = np.flatnonzero(np.diff(sweep.branch))
    assert len(jump) == 1
    step = sweep.alpha0[jump + 1] - sweep.alpha0[jump]
    assert step[0] == pytest.approx(2 * math.log(2) - 1, abs=0.02)


@given(st.floats(0, 800), DELTA, COUNT, COUNT)
def test_closed_form_over_the_whole_domain(alpha, delta_prime, m, n):
    found = um.closed_form(alpha, delta_prime, m, n)
    assert float(found.alpha0) >= 0
    assert not math.isnan(um.closed_form_achieved(alpha, delta_prime, m, n))
    if found.valid:
        assert alpha < m


@given(COUNT, COUNT, st.floats(0, 1), st.floats(0, 1), ALPHA0, DELTA)
def test_group_epsilon_over_the_whole_domain(m, n, share, mean, a0, delta):
    x0 = math.floor(share * m)
    value = um.group_epsilon(m * n, x0, mean * x0, a0, delta)
    assert value >= 0
    assert math.isfinite(value)
    if x0 == 0:
        assert value == 0
    one = um.single_item_epsilon(m * n, a0, mean, delta)
    assert one == pytest.approx(um.group_epsilon(m * n, 1, mean, a0, delta), rel=1e-12)


def test_lemma_b1_bounds_the_exact_hop_where_it_is_valid():
    for total, a0, d, delta in [
        (1e4, 1.0, 1.0, 1e-6),
        (1e6, 3.0, 0.3, 1e-9),
        (1e3, 0.2, 1.0, 1e-5),
    ]:
        assert a0 < um.validity_limit(total, delta)
        printed = um.single_item_epsilon(total, a0, d, delta)
        assert um.hop_epsilon(total, a0, d, delta) <= printed


def test_refusals():
    with pytest.raises(ValueError, match="x1: 5 is outside"):
        um.group_epsilon(10, 3, 5, 1.0, 0.1)
    with pytest.raises(ValueError, match="w: 0 is outside"):
        um.theorem44_ratio(0.0, 1.0, 10, 0.1)
    with pytest.raises(ValueError, match="delta_prime: 0 is") as error:
        um.theorem44_invert(1.0, 0.0, 10)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="'loose' is not a") as error:
        um.theorem44_invert(1.0, 0.1, 10, 1, "loose")
    snapshots.check(error.value)


def test_calibration():
    assert um.alpha_from_requirements(0.2, [0.08, 0.008], [1 / 30, 1.0]) == pytest.approx(25.0)
    miles = um.alpha_from_distances(0.2, [1000, 100], [1 / 31, 1.0], 12450.7)
    assert miles == pytest.approx(24.9, abs=0.01)
    swept = um.alpha_from_requirements([[0.1, 0.1], [0.4, 0.4]], [0.5, 0.1], [0.5, 1.0])
    np.testing.assert_allclose(swept, [0.4, 1.6])
    assert um.alpha_from_requirements(0.1, 0.0, 0.5) == math.inf
    with pytest.raises(ValueError, match="q: 2 is outside"):
        um.alpha_from_requirements(0.1, 2.0, 0.5)
    with pytest.raises(ValueError, match="distance: 20 is outside"):
        um.alpha_from_distances(0.1, 20.0, 0.5, 10.0)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_calibrated_alpha_meets_every_requirement(requirements):
    epsilon, q, tau = np.array(requirements).T
    alpha = um.alpha_from_requirements(epsilon, q, tau)
    asked = q * tau > 0
    if math.isfinite(alpha):
        assert (alpha * (q * tau)[asked] <= epsilon[asked] * (1 + 1e-12) + 1e-300).all()


@pytest.mark.parametrize("moved", [1, 7, 60])
@pytest.mark.parametrize("a0", [0.2, 1.0])
def test_theorem_43_holds_of_randomised_response_item_by_item(a0, moved):
    # Items 0 and 1 at distance 1, `moved` of m items change from 0 to 1: ‖v‖₀ = ‖v‖₁.
    m, delta = 3000, 1e-4
    sure = um.theorem43_epsilon(a0, delta, m, moved, moved)
    assert sure.valid
    flip = 1 / (1 + math.exp(a0))
    before = stats.binom.pmf(np.arange(m + 1), m, flip)
    still = stats.binom.pmf(np.arange(m - moved + 1), m - moved, flip)
    after = np.convolve(still, stats.binom.pmf(np.arange(moved + 1), moved, 1 - flip))
    for one, two in ((before, after), (after, before)):
        left = np.maximum(one - math.exp(float(sure.epsilon)) * two, 0).sum()
        assert left <= delta


@given(
    st.floats(0, 6),
    st.floats(1e-30, 0.5),
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 10**6),
)
def test_theorem_43_spends_its_delta_and_grows_with_the_change(a0, delta, m, part, mean, n):
    x0 = max(1, round(part * m))
    x1 = mean * x0
    sure = um.theorem43_epsilon(a0, delta, m * n, x0, x1)
    # The δ inside: δ·e^h = δ′ at the ε returned.
    inside = delta * math.exp(-float(sure.epsilon))
    if inside >= 1e-300:
        at_inside = um.group_epsilon(m * n, x0, x1, a0, inside)
        assert sure.epsilon == pytest.approx(at_inside, rel=1e-6, abs=1e-12)
    less = um.theorem43_epsilon(a0, delta, m * n, x0, x1 / 2)
    assert less.epsilon <= sure.epsilon * (1 + 1e-9)
    whole = um.theorem43_epsilon(a0, delta, m * n, m, m)
    tight = um.theorem44_certificate(a0, delta, m, n, um.Internal.TIGHT)
    assert bool(whole.valid) == bool(tight.valid)
    assert whole.epsilon <= tight.alpha * (1 + 1e-9)
