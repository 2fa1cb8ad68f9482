"""Upper bounds, exact numbers and lower bounds of one thing keep their order on all the domain."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, strategies as st

from explorer.privacy import histograms as hg, shuffle_rdp as rdp, user_metric as um
from explorer.privacy.core.composition import kov_epsilon, kov_exact_epsilon, subsampled_epsilon
from explorer.privacy.shuffling import (
    clones_closed_form,
    clones_condition,
    shuffled_epsilon,
)
from explorer.privacy.user_metric.theorem44 import closed_form
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


def ordered(*values: float, slack: float = 1e-9) -> None:
    """Check numbers, none of them below 0, each at most the next one."""
    assert all(value >= 0 for value in values)
    for low, high in itertools.pairwise(values):
        assert low <= high * (1 + slack) + 1e-12


@given(EPS, COUNT, st.floats(0, 6), DELTA)
def test_one_shuffle(eps0, k, log_times, delta):
    n = min(10**12, int(k * 10**log_times))
    with alarm(LIMIT):
        exact = shuffled_epsilon(eps0, k, delta)
        stronger = shuffled_epsilon(eps0, k, delta, "2023")
        response = rdp.randomised_response_round_epsilon(eps0, k, k, delta)
        sampled = rdp.randomised_response_round_epsilon(eps0, k, n, delta)
    ordered(sampled, response)
    ordered(response, stronger, exact, slack=1e-7)
    if clones_condition(eps0, k, delta):
        # Down to where ε₀ itself has no digits.
        assert exact <= clones_closed_form(eps0, k, delta) * (1 + 1e-9) + 1e-300
    assert exact <= eps0 * (1 + 1e-12)


@given(EPS, COUNT, st.floats(0, 6), ROUNDS, DELTA, st.sampled_from([2, 16, 512]))
def test_many_rounds(eps0, k, log_times, T, delta, lam_max):
    n = min(10**12, int(k * 10**log_times))
    arguments = (eps0, k, n, T, delta)
    with alarm(LIMIT):
        theorem = rdp.upper_epsilon(*arguments, lam_max).epsilon
        plain = rdp.upper_epsilon(*arguments, lam_max, capped=False).epsilon
        red = rdp.lower_rdp_epsilon(*arguments, lam_max).epsilon
        lines = [rdp.pipeline_epsilon(*arguments, how) for how in rdp.Shuffling]
        per_round = subsampled_epsilon(eps0, k / n)
        best, closed = kov_exact_epsilon(per_round, T, delta), kov_epsilon(per_round, T, delta)
        low, high = rdp.lower_rdp(lam_max, eps0, k, n), rdp.upper_rdp(lam_max, eps0, k, n)
        above, below = rdp.clone_epsilon(*arguments), rdp.randomised_response_epsilon(*arguments)
    ordered(low, high)
    ordered(red)
    assert all(line >= 0 or math.isnan(line) for line in lines)
    assert math.isnan(plain) or theorem <= plain * (1 + 1e-12)
    ordered(best, closed)
    for bound in (theorem, best, closed):
        for better in (below, above):
            if better.valid:
                ordered(float(better.value), bound, slack=1e-3)
    if above.valid and below.valid:
        ordered(float(below.value), float(above.value), slack=1e-3)


@given(
    st.sampled_from([1.0, 2.0, math.inf]),
    st.floats(1e-300, 1e150),
    st.floats(1e-300, 1e300),
    st.integers(1, 10**6),
    st.floats(5e-324, 800),
    COUNT,
    ROUNDS,
)
def test_convergence(p, L, D, d, eps0, k, T):
    assert rdp.convergence_bound(p, L, D, d, eps0, k, T) >= 0


@given(EPS, COUNT, UNIT)
def test_deltas_of_histograms(eps, n, q):
    with alarm(LIMIT):
        one, two = hg.count_delta(eps, n, q, "replace"), hg.histogram_delta(eps, n, q)
    assert one <= 1
    assert two <= 1
    for exact, level, times in ((one, eps, 2.0), (two, eps / 2, 4.0)):
        assert exact >= 0
        if 0 < level <= 1 and q <= 0.5:  # what the paper proves
            ordered(exact, times * math.exp(-n * q * level**2 / 50), slack=1e-8)


@given(EPS, DELTA, COUNT, st.sampled_from(["count", "histogram"]))
def test_noise_of_histograms(eps, delta, n, query):
    with alarm(LIMIT):
        least, fewest = hg.calibrate(eps, delta, n, query), hg.least_users(eps, delta, query)
    # There is noise exactly from so many users on.
    assert bool(least.feasible) == (n >= fewest)
    if not least.feasible:
        return
    level, times = (eps / 2, 4.0) if query == "histogram" else (eps, 2.0)
    if 1e-6 < level <= 1 and n >= (paper := 50 * math.log(times / delta) / level**2) * 2:
        ordered(least.noise, paper)
    rate = min(max(least.noise / n, 0.0), 1.0)
    exact = hg.histogram_delta if query == "histogram" else hg.count_delta
    assert exact(eps, n, rate) <= delta * (1 + 1e-4)


def hops_agree(alpha, alpha0, delta, m, n, internal, exact=None):
    """Check what Theorem 4.4 certifies by exact hops, where need be with its own split of α."""
    if exact is None:
        good = um.group_alpha0(alpha, delta, m, n) >= alpha0 * (1 - 1e-9)
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
        exact = min(um.group_alpha(alpha0, delta, m, n), alpha0 * m)
        theorem = um.theorem44_certificate(alpha0, delta, m, n, internal)
        reached = um.group_delta_certified(alpha, alpha0, m, n)
    ordered(exact, alpha0 * m)
    assert reached.value >= 0
    if theorem.valid and 0 < float(theorem.alpha) <= 800:
        # It may be above plain composition, which needs no δ.
        hops_agree(float(theorem.alpha), alpha0, delta, m, n, internal, exact)


@given(EPS, DELTA, COUNT, COUNT, st.sampled_from(["simple", "tight"]))
def test_item_wise_inverted(alpha, delta, m, n, internal):
    with alarm(LIMIT):
        exact = um.group_alpha0(alpha, delta, m, n)
        theorem = um.theorem44_alpha0(alpha, delta, m, n, internal).alpha0
        printed = closed_form(alpha, delta, m, n)
    ordered(alpha / m, exact)
    if theorem > 0 or alpha == 0:
        hops_agree(alpha, float(theorem), delta, m, n, internal)
    if printed.valid and printed.branch == 1:
        assert exact >= float(printed.alpha0) * (1 - 1e-3) - 1e-9


@given(st.floats(1e-6, 800), DELTA, st.floats(1e-6, 1e6), COUNT)
def test_widths(alpha, delta, lip, n):
    least = um.gaussian_sigma(alpha, delta, lip, n)
    for width in (
        um.gaussian_sigma_printed(alpha, delta, lip, n),
        um.gaussian_sigma_textbook(alpha, delta, lip, n),
    ):
        if width > 0 and um.gaussian_delta(width, alpha, lip=lip, n=n) <= delta:
            ordered(least, width)


def test_known_values():
    assert shuffled_epsilon(4.0, 10**5, 1e-6) == pytest.approx(0.1697698, abs=1e-7)
    assert not clones_condition(4.0, 1000, 5e-11)
    printed = um.gaussian_sigma_printed(25.0, 1e-12)
    assert um.gaussian_delta(printed, 25.0) > 1e-12
    assert um.group_alpha0(25, 1e-12, 1000, 10**5) == pytest.approx(3.8489, abs=1e-4)
    assert hg.calibrate(1.0, 1e-6, 1000).noise == pytest.approx(43.7, abs=0.05)
