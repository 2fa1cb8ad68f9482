"""Numbers with a role: finite where valid, absent where not, and ordered as their roles say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Role
from explorer.privacy.histograms import claims as hist
from explorer.privacy.shuffle_rdp import (
    Shuffling,
    claims as rdp,
    clone_epsilon,
    randomised_response_epsilon,
)
from explorer.privacy.user_metric import claims as metric
from tests.privacy.hang import alarm
from tests.privacy.user_metric.own_split import assert_private

EPS = st.one_of(st.floats(0, 800), st.floats(-9, 1).map(lambda x: 10.0**x), st.just(0.0))
COUNT = st.one_of(st.floats(0, 12).map(lambda x: int(10**x)), st.integers(1, 50))
DELTA = st.one_of(
    st.floats(-300, 0).map(lambda x: max(10.0**x, 1e-300)), st.floats(-12, -1).map(lambda x: 10**x)
)
UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 1e-300]))
ROUNDS = st.floats(0, 9).map(lambda x: int(10**x))
LIMIT = 10


def holds_together(bound: Bound) -> None:
    assert np.array_equal(np.isnan(bound.value), ~bound.valid)
    assert (bound.value[bound.valid] >= 0).all()
    assert bound.valid.all() or bound.reason
    assert bound.reference.paper
    assert bound.reference.where


def at_most(lower: Bound, upper: Bound, slack: float = 1e-9) -> None:
    assert lower.role in (Role.LOWER, Role.EXACT)
    assert upper.role in (Role.UPPER, Role.EXACT)
    both = lower.valid & upper.valid
    assert (lower.value[both] <= upper.value[both] * (1 + slack) + 1e-12).all()


@given(EPS, COUNT, st.floats(0, 6), DELTA)
def test_one_shuffle(eps0, k, log_times, delta):
    n = min(10**12, int(k * 10**log_times))
    with alarm(LIMIT):
        closed, exact = rdp.closed_clones(eps0, k, delta), rdp.exact_clones(eps0, k, delta)
        stronger = rdp.exact_clones(eps0, k, delta, "2023")
        response = rdp.response_round(eps0, k, k, delta)
        sampled = rdp.response_round(eps0, k, n, delta)
    for bound in (closed, exact, stronger, response, sampled):
        holds_together(bound)
    at_most(response, stronger, 1e-7)
    assert float(stronger.value) <= float(exact.value) * (1 + 1e-7) + 1e-12
    # Down to where ε₀ itself has no digits.
    assert not closed.valid or float(exact.value) <= float(closed.value) * (1 + 1e-9) + 1e-300
    assert float(exact.value) <= eps0 * (1 + 1e-12)
    assert float(sampled.value) <= float(response.value) * (1 + 1e-9) + 1e-12


@given(EPS, COUNT, st.floats(0, 6), ROUNDS, DELTA, st.sampled_from([2, 16, 512]))
def test_many_rounds(eps0, k, log_times, T, delta, lam_max):
    arguments = (eps0, k, min(10**12, int(k * 10**log_times)), T, delta)
    with alarm(LIMIT):
        theorem = rdp.theorem3(*arguments, lam_max)
        plain = rdp.theorem3(*arguments, lam_max, capped=False)
        red = rdp.lower_curve(*arguments, lam_max)
        lines = [rdp.pipeline(*arguments, how) for how in Shuffling]
        alone = [rdp.unshuffled(*arguments, exact=exact) for exact in (False, True)]
        low, high = rdp.theorem2(lam_max, *arguments[:3]), rdp.theorem1(lam_max, *arguments[:3])
        above, below = clone_epsilon(*arguments), randomised_response_epsilon(*arguments)
    for bound in (theorem, plain, red, *lines, *alone, low, high, above, below):
        holds_together(bound)
    at_most(low, high)
    assert red.role is Role.ESTIMATE
    assert float(theorem.value) <= float(plain.value) * (1 + 1e-12) or not plain.valid
    for bound in (theorem, above, alone[1]):
        at_most(below, bound, 1e-3)
    for bound in (theorem, *alone):
        at_most(Bound(above.value, Role.LOWER, above.reference), bound, 1e-3)
    assert float(alone[1].value) <= float(alone[0].value) * (1 + 1e-9) + 1e-12


@given(
    st.sampled_from([1.0, 2.0, math.inf]),
    st.floats(1e-300, 1e150), st.floats(1e-300, 1e300), st.integers(1, 10**6),
    st.floats(5e-324, 800), COUNT, ROUNDS,
)  # fmt: skip
def test_convergence(p, L, D, d, eps0, k, T):
    holds_together(rdp.convergence(p, L, D, d, eps0, k, T))


@given(EPS, COUNT, UNIT, st.sampled_from(["count", "histogram"]))
def test_deltas_of_histograms(eps, n, q, query):
    with alarm(LIMIT):
        exact, proved = hist.exact_delta(eps, n, q, query), hist.proved_delta(eps, n, q, query)
    holds_together(exact)
    holds_together(proved)
    at_most(exact, proved, 1e-8)
    assert float(exact.value) <= 1


@given(EPS, DELTA, COUNT, st.sampled_from(["count", "histogram"]))
def test_noise_of_histograms(eps, delta, n, query):
    with alarm(LIMIT):
        least, fewest = hist.least_noise(eps, delta, n, query), hist.fewest_users(eps, delta, query)
        paper = hist.paper_noise(min(eps, 1.0), delta, n, query) if eps > 1e-6 else None
    holds_together(least)
    holds_together(fewest)
    # There is noise exactly from so many users on.
    assert bool(least.valid) == (bool(fewest.valid) and n >= float(fewest.value))
    if paper is not None:
        holds_together(paper)
        if eps <= 1:
            at_most(least, paper)
    if least.valid:
        reached = hist.exact_delta(eps, n, min(max(float(least.value) / n, 0.0), 1.0), query)
        assert float(reached.value) <= delta * (1 + 1e-4)


def hops_agree(alpha, alpha0, delta, m, n, internal, exact=None):
    """Check what Theorem 4.4 certifies by exact hops, where need be with its own split of α."""
    if exact is None:
        good = float(metric.exact_alpha0(alpha, delta, m, n).value) >= alpha0 * (1 - 1e-9)
    else:
        good = exact <= alpha * (1 + 1e-9)
    if good:
        return
    if internal == "tight":
        inside = um.theorem44_delta_inside(alpha0, m, delta, n)
    else:
        inside = delta * math.exp(-alpha)
    # A smaller δ inside has no double.
    if inside >= 1e-300:
        assert_private(alpha, alpha0, delta, inside, m, n)


@given(EPS, DELTA, COUNT, COUNT, EPS, st.sampled_from(["simple", "tight"]))
def test_item_wise(alpha0, delta, m, n, alpha, internal):
    with alarm(LIMIT):
        composed, exact = metric.composed_alpha(alpha0, m), metric.exact_alpha(alpha0, delta, m, n)
        theorem = metric.theorem_alpha(alpha0, delta, m, n, internal)
        claim = metric.exact_delta(alpha, alpha0, m, n)
    for bound in (composed, exact, theorem, claim):
        holds_together(bound)
        assert bound.role is Role.UPPER
    assert float(exact.value) <= float(composed.value) * (1 + 1e-9)
    if theorem.valid and 0 < float(theorem.value) <= 800:
        # It may be above plain composition, which needs no δ.
        hops_agree(float(theorem.value), alpha0, delta, m, n, internal, float(exact.value))


@given(EPS, DELTA, COUNT, COUNT, st.sampled_from(["simple", "tight"]))
def test_item_wise_inverted(alpha, delta, m, n, internal):
    with alarm(LIMIT):
        composed = metric.composed_alpha0(alpha, m)
        exact = metric.exact_alpha0(alpha, delta, m, n)
        theorem = metric.theorem_alpha0(alpha, delta, m, n, internal)
        printed = metric.printed_alpha0(alpha, delta, m, n)
    for bound in (composed, exact, theorem, printed):
        holds_together(bound)
        assert bound.role is Role.LOWER
    assert float(exact.value) >= float(composed.value) * (1 - 1e-9)
    if theorem.valid:
        hops_agree(alpha, float(theorem.value), delta, m, n, internal)
    if printed.valid:
        assert float(exact.value) >= float(printed.value) * (1 - 1e-3) - 1e-9


@given(st.floats(1e-6, 800), DELTA, st.floats(1e-6, 1e6), COUNT)
def test_widths(alpha, delta, lip, n):
    analytic = metric.analytic_width(alpha, delta, lip, n)
    holds_together(analytic)
    for bound in (
        metric.printed_width(alpha, delta, lip, n),
        metric.textbook_width(alpha, delta, lip, n),
    ):
        holds_together(bound)
        at_most(analytic, bound)


def test_known_values():
    assert float(rdp.exact_clones(4.0, 10**5, 1e-6).value) == pytest.approx(0.1697698, abs=1e-7)
    assert not rdp.closed_clones(4.0, 1000, 5e-11).valid
    assert not metric.printed_width(25.0, 1e-12).valid
    assert float(metric.exact_alpha0(25, 1e-12, 1000, 10**5).value) == pytest.approx(
        3.8489, abs=1e-4
    )
    assert float(hist.least_noise(1.0, 1e-6, 1000).value) == pytest.approx(43.7, abs=0.05)
    assert not hist.paper_noise(1.0, 1e-6, 1000).valid
    assert float(hist.paper_noise(1.0, 1e-6, 10**4).value) == pytest.approx(3040, abs=1)
