"""Exact hops: against enumeration, 50 digits, real mechanisms; bounds, monotone, inverted."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um
from explorer.privacy.shuffling import shuffled_delta
from explorer.privacy.spaces import Clustered
from explorer.privacy.user_metric import mean_excess
from explorer.privacy.user_metric.mean_excess import (
    _closed_form,
    _tilt,
    log_mean_excess,
    log_mean_excesses,
)

ALPHA0 = st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 1e-12, 1e-3, 1.0, 800.0]))
EPSILON = ALPHA0
COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 50), st.sampled_from([1, 10**12]))
DELTA = st.one_of(st.floats(1e-300, 1), st.floats(-690, 0).map(math.exp))


def _brute(total, p, kappa):
    """E[((U−V) − κ(U+V))_+] over the multinomial, in 40 digits."""
    with mpmath.workdps(40):
        p, kappa = mpmath.mpf(p), mpmath.mpf(kappa)
        out = mpmath.mpf(0)
        for u in range(total + 1):
            for v in range(total - u + 1):
                gain = (u - v) - kappa * (u + v)
                if gain > 0:
                    ways = mpmath.binomial(total, u) * mpmath.binomial(total - u, v)
                    out += ways * (p / 2) ** (u + v) * (1 - p) ** (total - u - v) * gain
        return out


@pytest.mark.parametrize("total", [1, 2, 7, 24])
@pytest.mark.parametrize("a0", [1e-3, 0.4, 2.0, 9.0])
def test_mean_excess_against_enumeration(total, a0):
    for kappa in (0.0, 1e-4, 0.1, 0.29, 0.31, 0.77, 0.999):
        log_q = math.log(-math.expm1(-a0))
        got = log_mean_excess(total, -a0, log_q, kappa, math.log1p(-kappa))
        expected = float(mpmath.log(_brute(total, math.exp(-a0), kappa)))
        assert not got.truncated
        assert expected <= got.log <= expected + 3e-11


@pytest.mark.parametrize(
    ("total", "a0", "kappa"),
    [(3000, 0.7, 0.25), (3000, 0.7, 0.35), (20_000, 3.0, 0.05), (2000, 1e-4, 0.3), (9000, 2, 0.6)],
)
def test_mean_excess_against_exact_sums(total, a0, kappa):
    from scipy.special import gammaln

    p = math.exp(-a0)
    N = np.arange(1, total + 1)
    log_n = (
        gammaln(total + 1)
        - gammaln(N + 1)
        - gammaln(total - N + 1)
        - N * a0
        + (total - N) * math.log1p(-p)
    )
    terms = []
    for n, weight in zip(N.tolist(), log_n.tolist(), strict=True):
        if weight < log_n.max() - 900:
            continue
        i = np.arange(math.ceil(n * (1 - kappa) / 2))
        fair = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1) - n * math.log(2)
        with np.errstate(divide="ignore"):
            terms.append(weight + fair + np.log(np.maximum(n * (1 - kappa) - 2 * i, 0)))
    expected = np.logaddexp.reduce(np.concatenate(terms))
    got = log_mean_excess(total, -a0, math.log1p(-p), kappa, math.log1p(-kappa))
    # The reference loses digits to log-gammas of the size of total·ln total.
    assert got.log == pytest.approx(expected, abs=3e-9)


@pytest.mark.full
@pytest.mark.parametrize(
    ("total", "a0", "kappa"),
    [(1e6, 1, 0.02), (3e6, 0.1, 5e-3), (1e5, 0.5, 0.2), (1e6, 4, 0.1), (3e5, 0.1, 0.07)],
)
def test_rounding_is_on_the_safe_side(monkeypatch, total, a0, kappa):
    # Against sums of positive terms without a difference, and without the margins.
    log_q, gap = math.log(-math.expm1(-a0)), math.log1p(-kappa)
    got = log_mean_excess(total, -a0, log_q, kappa, gap).log
    for name in ("_DIRECT_KAPPA", "_ROUNDING", "_ROUNDING_STEP"):
        monkeypatch.setattr(mean_excess, name, 0.0)
    monkeypatch.setattr(mean_excess, "_MIN_RUN", math.inf)
    expected = log_mean_excess(total, -a0, log_q, kappa, gap).log
    assert expected <= got <= expected + 2e-9


def _together(total, log_p, kappas):
    log_p = np.asarray(log_p, dtype=float)
    log_q = np.array([[math.log(-math.expm1(v)) for v in row] for row in log_p.tolist()])
    return log_mean_excesses(total, log_p, log_q, kappas, np.log1p(-kappas))


@pytest.mark.parametrize("total", [2, 24])
@pytest.mark.parametrize("a0", [0.4, 2.0])
def test_many_excesses_together_against_enumeration(total, a0):
    kappas = np.array([0.0, 1e-4, 0.1, 0.31, 0.77, 0.99, 0.9999])
    log_p = np.stack([np.full(7, -a0), np.linspace(-a0, -a0 / 2, 7)], axis=-1)
    got = _together(total, log_p, kappas)
    for i, kappa in enumerate(kappas.tolist()):
        for j in (0, 1):
            expected = float(mpmath.log(_brute(total, math.exp(log_p[i, j]), kappa)))
            assert expected <= got[i, j] <= expected + 1e-9


@given(
    st.integers(1, 30_000),
    st.floats(0.001, 9),
    st.floats(0, 0.98),
    st.floats(0.001, 0.3),
    st.integers(1, 12),
)
def test_many_excesses_together_are_what_they_are_alone(total, a0, kappa, wider, size):
    kappas = np.linspace(kappa, min(kappa + wider, 0.99), size)
    log_p = np.linspace(-a0, -a0 / 2, 2 * size).reshape(size, 2)
    got = _together(float(total), log_p, kappas)
    for i, j in np.ndindex(size, 2):
        log_q = math.log(-math.expm1(log_p[i, j]))
        alone = log_mean_excess(total, log_p[i, j], log_q, kappas[i], math.log1p(-kappas[i])).log
        assert alone - 1e-9 <= got[i, j] <= alone + 1e-8


@pytest.mark.parametrize("z", [0.0, 0.5, 3.0, 12.0, 40.0])
def test_closed_form_bounds_the_sum_and_is_close(z):
    total, a0 = 800_000_000.0, 3.0
    mean = total * math.exp(-a0)
    kappa = z / math.sqrt(mean)
    log_q = math.log(-math.expm1(-a0))
    exact = log_mean_excess(total, -a0, log_q, kappa, math.log1p(-kappa))
    assert not exact.truncated
    bound = _closed_form(_tilt(total, -a0, log_q, kappa), kappa)
    assert exact.log <= bound <= exact.log + 0.02
    beyond = log_mean_excess(1e4 * total, -a0, log_q, kappa / 100, math.log1p(-kappa / 100))
    assert beyond.truncated
    assert beyond.log == pytest.approx(bound + math.log(100), abs=0.02)


def _multisets(law, items):
    """The exact law of the multiset of independent answers, from the matrix that is sampled."""
    k = law.shape[1]
    out = {(0,) * k: 1.0}
    for x in items:
        step: dict[tuple[int, ...], float] = {}
        for counts, mass in out.items():
            for y in range(k):
                key = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                step[key] = step.get(key, 0.0) + mass * law[x, y]
        out = step
    return out


def _hockey_stick(p, q, epsilon):
    return math.fsum(max(p[key] - math.exp(epsilon) * q[key], 0.0) for key in p)


@pytest.mark.parametrize(
    ("s", "t", "r", "a0"), [(2, 2, 0.3, 1.0), (1, 2, 0.5, 3.0), (2, 1, 1, 2.0)]
)
def test_hops_bound_every_pair_of_shuffled_datasets(s, t, r, a0):
    # Exact enumeration of what PrivEMDItemWise outputs, for all pairs of datasets of size m.
    space, m = Clustered(s, t, r), 3
    law = um.GKRR(space, a0).law()
    datasets = list(itertools.combinations_with_replacement(range(s * t), m))
    laws = {items: _multisets(law, items) for items in datasets}
    for x, y in itertools.permutations(datasets, 2):
        w = space.emd(x, y)
        for alpha in (0.5 * a0, 0.9 * m * a0, m * a0):
            near = r if t > 1 else 1.0
            delta = um.group_delta(alpha, a0, m, min_distance=near, variant="2023")
            assert delta <= um.group_delta(alpha, a0, m) * (1 + 1e-9)
            assert _hockey_stick(laws[x], laws[y], alpha * w) <= delta * (1 + 1e-9) + 1e-15
        if len(set(x) ^ set(y)) and sum(a != b for a, b in zip(x, y, strict=True)) == 1:
            for epsilon in (0.0, 0.3 * a0, 0.6 * a0):
                d = w * m
                bounds = [um.hop_delta(m, a0, d, epsilon, 1.0, v) for v in ("2021", "2023")]
                true = _hockey_stick(laws[x], laws[y], epsilon)
                assert true <= bounds[1] * (1 + 1e-9) + 1e-15
                assert bounds[1] <= bounds[0] * (1 + 1e-9)


def test_a_diameter_above_one_is_needed_where_there_is_one():
    # Three points on a line of length 3 (unit steps between the pair that moves).
    a0, far, m = 1.0, 3.0, 6
    at_one = um.hop_delta(m, a0, 1.0, 0.2)
    at_far = um.hop_delta(m, a0, 1.0, 0.2, diameter=far)
    assert at_far > 1.5 * at_one
    assert um.group_delta(2.0, a0, m, diameter=far) > um.group_delta(2.0, a0, m)
    with pytest.raises(ValueError, match="distance: 2 is outside"):
        um.hop_delta(m, a0, 2.0, 0.2)


def test_the_papers_example_corrected():
    # Specification, "The concrete example, corrected": rounded down there.
    assert math.floor(um.group_alpha0(25, 1e-12, 1e3, 1e5) * 1e4) == 38489
    assert math.floor(um.group_alpha0(25, 1e-12, 1e3) * 1e5) == 8067
    assert math.floor(um.group_alpha0(25, 1e-12, 1e3, 1e3) * 1e4) == 13456
    assert math.floor(um.group_alpha0(5, 1e-12, 1e3, 1e5) * 1e4) == 22558
    assert math.floor(um.group_alpha0(1, 1e-12, 1e3, 1e5) * 1e4) == 9482


def test_a_hop_of_the_whole_diameter_is_the_clones_pair():
    # At distance 1 the pair of Lemma B.1 is that of Feldman, McMillan & Talwar 2021.
    for total, a0, epsilon in [(1, 1.0, 0.3), (1000, 2.0, 0.4), (10**6, 4.0, 0.05)]:
        for variant in ("2021", "2023"):
            clones = shuffled_delta(epsilon, a0, total, variant)
            ours = um.hop_delta(total, a0, 1.0, epsilon, variant=variant)
            assert ours == pytest.approx(clones, rel=1e-9)


def test_estimates_are_near_the_exact_calibration():
    alpha = np.array([1.0, 5.0, 25.0])
    for m, n in [(1000, 1), (1000, 1e3), (1000, 1e5)]:
        exact = um.group_alpha0(alpha, 1e-12, m, n)
        assert um.group_alpha0_estimate(alpha, 1e-12, m, n) == pytest.approx(exact, rel=0.1)


def test_exact_hops_are_never_worse_than_theorem_44_nor_than_composition():
    for alpha, m, n in [(25, 1000, 1), (25, 1000, 1e5), (5, 1000, 1e5), (1, 1000, 1e3)]:
        exact = um.group_alpha0(alpha, 1e-12, m, n)
        printed = um.theorem44_invert(alpha, 1e-12, m, n, "tight")
        assert exact > float(printed.alpha0)
        assert exact >= alpha / m


@given(COUNT, COUNT, ALPHA0, st.floats(0, 1), EPSILON, DELTA)
def test_hops_over_the_whole_domain(m, n, a0, distance, epsilon, delta):
    value = um.hop_delta(m * n, a0, distance, epsilon)
    assert 0.0 <= value <= 1.0
    assert (value == 0.0) == (epsilon >= a0 * distance)
    found = um.hop_epsilon(m * n, a0, distance, delta)
    assert 0.0 <= found <= a0 * distance
    assert um.hop_delta(m * n, a0, distance, found) <= delta * (1 + 1e-9)


@given(COUNT, COUNT, ALPHA0, EPSILON, DELTA)
def test_groups_over_the_whole_domain(m, n, a0, alpha, delta):
    value = um.group_delta(alpha, a0, m, n)
    assert value >= 0.0
    assert not math.isnan(value)
    assert (value == 0.0) == (alpha >= m * a0)
    found = um.group_alpha0(alpha, delta, m, n)
    assert alpha / m * (1 - 1e-15) - 1e-320 <= found <= 800.0
    assert um.group_delta(alpha, found, m, n) <= delta * (1 + 1e-9) or delta == 1


@given(COUNT, COUNT, EPSILON, DELTA, st.floats(0, 1))
def test_stronger_clones_calibrate_to_no_less(m, n, alpha, delta, near):
    plain = um.group_alpha0(alpha, delta, m, n, min_distance=near)
    stronger = um.group_alpha0(alpha, delta, m, n, min_distance=near, variant="2023")
    assert stronger >= plain * (1 - 1e-6)
    value = um.group_delta(alpha, stronger, m, n, min_distance=near, variant="2023")
    assert value <= delta * (1 + 1e-9) or delta == 1


@given(COUNT, COUNT, st.floats(1e-6, 20), DELTA)
def test_alpha_of_alpha0_inverts_the_guarantee(m, n, a0, delta):
    alpha = um.group_alpha(a0, delta, m, n)
    if math.isinf(alpha):
        assert um.group_delta(800.0, a0, m, n) > delta
    else:
        assert alpha <= m * a0
        assert um.group_delta(alpha, a0, m, n) <= delta * (1 + 1e-9) or delta == 1


@given(st.integers(1, 10**5), st.integers(1, 100), st.floats(1e-3, 10), st.floats(0.01, 0.9))
def test_delta_falls_with_epsilon_and_total_and_rises_with_alpha0(m, n, a0, share):
    epsilon = share * a0
    here = um.hop_delta(m * n, a0, 1.0, epsilon)
    slack = 1 + 1e-10
    assert um.hop_delta(m * n, a0, 1.0, 1.01 * epsilon) <= here * slack
    assert um.hop_delta(2 * m * n, a0, 1.0, epsilon) <= here * slack
    assert um.hop_delta(m * n, a0, 0.9, 0.9 * epsilon) <= max(here, 1.0)
    assert here <= um.hop_delta(m * n, 1.01 * a0, 1.0, epsilon) * slack
    alpha = share * m * a0 if share * m * a0 < 100 else 100.0
    group = um.group_delta(alpha, a0, m, n)
    assert group <= um.group_delta(alpha, 1.01 * a0, m, n) * slack
    assert um.group_delta(alpha, a0, m, n, min_distance=0.3) <= group * slack


def test_group_dominates_the_telescoped_hops():
    # δ' for m equal hops of distance w is at least Lemma A.2's sum at ε_i = αw/m.
    alpha, a0, m, n = 6.0, 0.9, 20, 10
    for w in (0.05, 0.3, 1.0):
        epsilon = alpha * w / m
        hop = um.hop_delta(m * n, a0, w, epsilon)
        telescoped = hop * math.expm1(m * epsilon) / math.expm1(epsilon)
        assert telescoped <= um.group_delta(alpha, a0, m, n) * (1 + 1e-9)


def test_sweeps_broadcast():
    alpha0 = np.linspace(0.1, 2.0, 5)
    swept = um.group_delta(3.0, alpha0, 20, [[1], [500]])
    assert swept.shape == (2, 5)
    assert swept[1, 3] == um.group_delta(3.0, alpha0[3], 20, 500)
    certified = um.group_delta_certified(3.0, 2.0, 1e6, [1, 1e6])
    assert certified.truncated.tolist() == [False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": -1}, "alpha: -1 is outside"),
        ({"alpha0": 801}, "alpha0: 801 is outside"),
        ({"m": 0}, "m: 0 is outside"),
        ({"n": 1.5}, "n: 1.5 is not a whole number"),
        ({"min_distance": 2}, "distance: 2 is outside"),
        ({"alpha": math.nan}, "alpha: nan is outside"),
    ],
)
def test_refusals(arguments, message):
    good = {"alpha": 1.0, "alpha0": 1.0, "m": 10, "n": 10}
    with pytest.raises(ValueError, match=message):
        um.group_delta(**{**good, **arguments})
