"""What a smaller α allows holds at a larger one; conditions that are strict are kept strictly."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from explorer.privacy import user_metric as um

COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 100))
DELTA = st.one_of(st.floats(-690, 0).map(math.exp), st.just(1.0), st.just(1e-300))
NEAR = st.sampled_from([1.0, 0.5, 0.2, 0.1])
MORE = st.floats(1.0, 50.0)
JAGS = 1 - 1e-3
"""Kinks of the exact sum: the envelope may fall by so little, with a few hundred clones."""


def test_the_discrete_example():
    # Specification, "Monotone envelope": f falls from its peak to α/m, the envelope does not.
    arguments = (1e-6, 20, 20_000, 1.0)
    alpha = np.array([50.0, 53.0, 70.0, 100.0, 145.0])
    plain = um.group_alpha0_at(alpha, *arguments)
    np.testing.assert_allclose(plain[1:], [7.8126, 7.7335, 7.5173, 7.2501], atol=1e-4)
    best = um.group_alpha0(alpha, *arguments)
    np.testing.assert_allclose(best[1:], 7.8184, atol=1e-4)
    assert np.all(np.diff(best) >= 0)
    quick = um.group_alpha0_estimate(alpha, *arguments)
    np.testing.assert_allclose(quick, best, rtol=1e-3)
    # All of it is certified: at the largest α no worse than where it was found.
    assert um.least_group_delta(145.0, best[-1] * (1 - 1e-9), 20, 20_000, 1.0) <= 1e-6
    assert um.group_delta(145.0, best[-1], 20, 20_000, 1.0) > 1


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.floats(0.05, 400),
    MORE,
    st.integers(1, 300),
    st.integers(1, 10**6),
    DELTA,
    NEAR,
    st.sampled_from(["2021", "2023"]),
)
@example(8.9, 3.0, 2, 1425, 0.0622307, 0.5, "2021")
@example(6.1, 4.0, 2, 163, 0.00303583, 1.0, "2023")
@example(67.0, 2.0, 21, 125, 1.66e-14, 1.0, "2023")
def test_a_weaker_promise_allows_at_least_as_much(alpha, more, m, n, delta, near, clones):
    weak = min(alpha * more, 800.0)
    allowed = um.group_alpha0([alpha, weak], delta, m, n, near, 1.0, clones)
    assert allowed[1] >= allowed[0] * JAGS
    assert np.all(allowed >= um.group_alpha0_at([alpha, weak], delta, m, n, near, 1.0, clones))
    # A larger δ′ and more users allow no less.
    assert um.group_alpha0(weak, min(2 * delta, 1.0), m, n, near, 1.0, clones) >= allowed[1] * JAGS
    assert um.group_alpha0(weak, delta, m, 3 * n, near, 1.0, clones) >= allowed[1] * JAGS
    # It is what the least δ′ of all smaller α certifies.
    if delta < 1:
        found = um.least_group_delta(weak, allowed[1] * JAGS, m, n, near, 1.0, clones)
        assert found <= delta * (1 + 1e-6)


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(st.floats(0.02, 30), MORE, st.integers(1, 300), st.integers(1, 10**6), DELTA, NEAR)
def test_a_stricter_item_certifies_at_least_as_much(a0, more, m, n, delta, near):
    strict, weak = um.group_alpha([a0, min(a0 * more, 800)], delta, m, n, near)
    assert strict <= weak * (1 + 1e-5)
    if math.isfinite(strict) and delta < 1:
        # The least α: just below it less is allowed.
        assert um.group_alpha0(strict, delta, m, n, near) >= a0 * JAGS
        below = um.group_alpha0(strict * 0.999, delta, m, n, near)
        assert below <= a0 * (1 + 1e-9) or strict < 1e-6


def test_alpha_of_an_item_is_the_first_crossing():
    # 7.5 is allowed from 23.4 on; f comes down to it again at 103 and is α/m from 150 on.
    found = float(um.group_alpha(7.5, 1e-6, 20, 20_000, 1.0))
    assert found == pytest.approx(23.427, abs=1e-3)
    assert um.group_alpha_estimate(7.5, 1e-6, 20, 20_000, 1.0) == pytest.approx(found, rel=1e-2)


@given(st.floats(0, 800), st.floats(0, 800), DELTA, COUNT, COUNT, st.sampled_from(um.Internal))
@example(1.0, 60.0, 1e-12, 1000, 1, um.Internal.SIMPLE)
def test_theorem_44_allows_a_weaker_promise_no_less(one, other, delta, m, n, internal):
    found = um.theorem44_alpha0(sorted([one, other]), delta, m, n, internal)
    assert found.alpha0[1] >= found.alpha0[0] * (1 - 1e-9)
    plain = um.theorem44_invert(sorted([one, other]), delta, m, n, internal)
    assert np.all(found.alpha0 >= plain.alpha0)
    more = um.theorem44_alpha0(sorted([one, other]), min(3 * delta, 1.0), m, n, internal)
    assert np.all(more.alpha0 >= found.alpha0 * (1 - 1e-9))


def test_theorem_44_keeps_what_it_allowed_where_its_condition_ends():
    # Local, m = 1000: with δ = δ′e^−α it allows less from α = 25 on, and nothing from 27 on.
    alpha = np.array([24.0, 26.0, 30.0, 100.0])
    plain = um.theorem44_invert(alpha, 1e-12, 1000).alpha0
    assert plain[2] == plain[3] == 0
    best = um.theorem44_alpha0(alpha, 1e-12, 1000).alpha0
    assert np.all(np.diff(best) >= 0)
    assert best[3] == pytest.approx(0.0249336, rel=1e-5)
    # It is certified, and the next larger one is not.
    for factor, holds in ((1.0, True), (1 + 1e-9, False)):
        sure = um.theorem44_certificate(best[3] * factor, 1e-12, 1000)
        assert bool(sure.valid) is holds


def _limit(total: int, delta: float, alpha: float = 0.0) -> Decimal:
    """Theorem 4.4's limit with δ·e^−α inside, of the doubles' exact values, to 50 digits."""
    getcontext().prec = 50
    inside = (4 * Decimal(total)).ln() - Decimal(delta).ln() + Decimal(alpha)
    return (Decimal(total) / (16 * inside)).ln()


@given(st.floats(0, 800), DELTA, COUNT, COUNT)
@example(40.0, 1e-06, 20, 2000)
@example(26.0, 1e-12, 1000, 1)
def test_the_condition_of_theorem_44_is_kept_strictly(alpha, delta, m, n):
    found = um.theorem44_invert(alpha, delta, m, n)
    if found.alpha0 > 0:
        assert Decimal(float(found.alpha0)) < _limit(m * n, delta, alpha)
    limit = float(um.validity_limit(m * n, delta))
    assert Decimal(limit) < _limit(m * n, delta)
    assert Decimal(limit) > _limit(m * n, delta) - Decimal("1e-11")
    tight = um.theorem44_invert(alpha, delta, m, n, um.Internal.TIGHT)
    if tight.alpha0 > 0:
        inside = float(um.theorem44_delta_inside(tight.alpha0, m, delta, n)) * (1 - 1e-12)
        if inside > 1e-300:
            assert Decimal(float(tight.alpha0)) < _limit(m * n, inside)


@pytest.mark.full
@pytest.mark.parametrize("rule", um.Internal)
def test_at_the_limit_itself_theorem_44_certifies_nothing(rule):
    """The condition is strict: where α₀ is the limit, to the last digit, it does not hold."""
    met = 0
    for m in range(200, 1000, 40):

        def beyond(a0, m=m):
            return um.theorem44_certificate(a0, 1e-9, m, 10, rule).limit - a0

        low, high = 0.0, 10.0
        while np.nextafter(low, high) < high:
            middle = (low + high) / 2
            low, high = (middle, high) if beyond(middle) > 0 else (low, middle)
        for a0 in (low, high):
            sure = um.theorem44_certificate(a0, 1e-9, m, 10, rule)
            assert bool(sure.valid) is bool(a0 < sure.limit)
            met += a0 == sure.limit
    assert met > 0
