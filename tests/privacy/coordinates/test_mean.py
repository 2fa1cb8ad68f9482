"""M_mean: exact moments, exact privacy of the code that runs, audits."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import explorer.privacy.coordinates as co
from explorer.privacy.coordinates.levels import (
    bcdp_levels_from_logs,
    cdp_levels_from_logs,
)
from explorer.privacy.coordinates.mean import chambers, corners
from tests import snapshots
from tests.privacy.coordinates.exact import density
from tests.privacy.sampler_audits import loss_lower_bound

BUDGETS = st.lists(
    st.one_of(st.floats(0, 800), st.floats(0, 4), st.sampled_from([0.0, 1.0, 1e-200])),
    min_size=1,
    max_size=8,
)


def dense_moments(x, c, rule):
    """Covariance from the combination matrix, channel by channel."""
    c, x = np.asarray(c, float), np.asarray(x, float)
    order = np.argsort(c, kind="stable")
    d, alpha = c.size, np.diff(c[order], prepend=0.0)
    weights, covariance = co.m_mean_weights(c, rule), np.zeros((d, d))
    a = np.tril(np.tile(weights, (d, 1)))
    a = a / a.sum(axis=1, keepdims=True)
    for k in np.flatnonzero(alpha):
        seen = np.arange(d) >= k
        v = np.where(seen, x[order], 0.0)
        moment = np.diag(np.where(seen, float(co.m_ldp_second_moment(d - k, alpha[k])), 0.0))
        covariance += np.outer(a[:, k], a[:, k]) * (moment - np.outer(v, v))
    result = np.empty_like(covariance)
    result[np.ix_(order, order)] = covariance
    return result


@pytest.mark.parametrize("rule", ["paper", "optimal"])
@given(c=st.lists(st.floats(0.01, 20), min_size=1, max_size=6), seed=st.integers(0, 10**6))
def test_covariance_and_error_are_those_of_the_channels(rule, c, seed):
    x = np.random.default_rng(seed).uniform(-1, 1, len(c))
    expected = dense_moments(x, c, rule)
    covariance = co.m_mean_covariance(x, c, rule)
    scale = expected.max()
    np.testing.assert_allclose(covariance, expected, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(co.m_mean_variances(x, c, rule), np.diag(expected), rtol=1e-9)
    mse = float(co.m_mean_mse(x**2, c, 7, rule))
    assert mse == pytest.approx(np.trace(expected) / 7, rel=1e-9)


@given(BUDGETS, st.sampled_from(["paper", "optimal"]), st.floats(0, 1), st.floats(1, 1e12))
def test_errors_are_numbers_everywhere(c, rule, x2, n):
    variances = co.m_mean_variances(np.sqrt(x2), c, rule)
    assert not np.isnan(variances).any()
    assert np.array_equal(np.isinf(variances) & (np.array(c) > 1e-100), np.zeros(len(c), bool))
    assert np.isinf(variances[np.array(c) == 0.0]).all()
    mse = co.m_mean_mse(x2, c, n, rule)
    assert mse >= 0.0
    assert mse <= co.m_mean_mse(0.0, c, n, rule)
    order = np.random.default_rng(0).permutation(len(c))
    assert co.m_mean_mse(x2, np.array(c)[order], n, rule) == pytest.approx(float(mse), rel=1e-12)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
def test_optimal_weights_are_optimal(c):
    best = float(co.m_mean_mse(0.0, c, 1, "optimal"))
    assert best <= float(co.m_mean_mse(0.0, c, 1, "paper")) * (1 + 1e-12)


def test_optimal_weights_gain_what_the_errata_say():
    # Errata coord-B9.
    c = [1.0, 9.0, 9.5, 10.0]
    gain = co.m_mean_mse(0, c, 1, "paper") / co.m_mean_mse(0, c, 1, "optimal")
    assert 1.04 < gain < 1.08


def test_batches():
    c = np.array([[0.1, 0.5, 0.0], [1.0, 1.0, 1.0]])
    both = co.m_mean_mse(0.5, c, [10, 20])
    np.testing.assert_allclose(both, [co.m_mean_mse(0.5, c[0], 10), co.m_mean_mse(0.5, c[1], 20)])
    assert np.isinf(both[0])
    many = co.m_mean_mse(0.5, c[1], np.array([1.0, 1e12]))
    assert many.shape == (2,)


def test_a_million_coordinates():
    c = np.linspace(0.1, 3.0, 10**6)
    assert np.isfinite(co.m_mean_mse(0.0, c, 1e12, "optimal"))


def test_combination_refuses_wrong_outputs():
    with pytest.raises(ValueError, match=r"outputs\[1\] must have") as error:
        co.m_mean_combine([0.1, 0.2], [[1.0, 2.0], None])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="one entry a channel, 2") as error:
        co.m_mean_combine([0.1, 0.2], [[1.0, 2.0]])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="rule: 'best' is") as error:
        co.m_mean_weights([0.1], "best")
    snapshots.check(error.value)


@pytest.mark.full
@pytest.mark.parametrize("c", [[0.4, 1.6], [1.6, 0.4], [0.3, 0.3, 1.1], [0.2, 1.5, 0.7]])
def test_privacy_of_the_running_code_by_enumeration(c):
    """The joint law of the channels' reports, read off the sampler, on all corners."""
    d = len(c)
    logs = np.zeros((2**d, 1))
    for channel in co.m_mean_channels(c):
        table = np.log(
            [
                [density(channel, x, z) for z in chambers(channel.coordinates.size)]
                for x in corners(d)
            ]
        )
        logs = (logs[:, :, None] + table[:, None, :]).reshape(2**d, -1)
    np.testing.assert_allclose(cdp_levels_from_logs([2] * d, logs), c, rtol=1e-7)
    spread = (logs.max(axis=0) - logs.min(axis=0)).max()
    assert spread == pytest.approx(max(c), rel=1e-7)
    for q in (0.0, 0.25, 0.8):
        prior = co.copies_prior(d, q)
        levels = bcdp_levels_from_logs([2] * d, prior, logs)
        np.testing.assert_allclose(levels, co.m_mean_corner_levels(c, prior), rtol=1e-6)
        assert (levels <= co.best_certificate(c, q, max(c)) * (1 + 1e-9)).all()


def test_chambers_are_all_there():
    assert [len(chambers(m)) for m in (1, 2, 3, 4)] == [2, 4, 14, 104]
    rng = np.random.default_rng(0)
    for m in (3, 4):
        known = {tuple(row) for row in chambers(m) @ corners(m).T > 0}
        drawn = rng.standard_normal((20_000, m)) @ corners(m).T > 0
        assert {tuple(row) for row in drawn} == known


@given(
    st.lists(st.one_of(st.floats(0, 800), st.floats(0, 3)), min_size=1, max_size=3),
    st.integers(0, 10**6),
)
def test_exact_levels_never_exceed_certificates(c, seed):
    d = len(c)
    prior = np.random.default_rng(seed).dirichlet(np.full(2**d, 0.5))
    q = co.coupling([2] * d, prior)
    levels = co.m_mean_corner_levels(c, prior)
    assert (levels <= co.best_certificate(c, q, max(c)) * (1 + 1e-9) + 1e-9).all()
    if d == 1:
        assert levels[0] == pytest.approx(c[0], abs=1e-12)


def test_four_coordinates_and_no_more():
    levels = co.m_mean_corner_levels([0.5, 0.5, 1.0, 2.0], co.copies_prior(4, 0.1))
    assert (levels <= co.best_certificate([0.5, 0.5, 1.0, 2.0], 0.1, 2.0)).all()
    with pytest.raises(ValueError, match="at most 4 budgets"):
        co.m_mean_corner_levels(np.ones(5), co.copies_prior(5, 0.1))


@pytest.mark.parametrize("rule", ["paper", "optimal"])
def test_reports_have_the_exact_mean_and_covariance(rule):
    # 4 means and 16 second moments beyond 5.5 standard errors: false alarm below 1e-6.
    rng, n = np.random.default_rng(11), 300_000
    x, c = np.array([0.8, -0.3, 0.0, 1.0]), np.array([2.0, 0.5, 1.1, 0.5])
    reports = co.m_mean(np.tile(x, (n, 1)), c, rng, rule)
    covariance = co.m_mean_covariance(x, c, rule)
    errors = reports - x
    assert (np.abs(errors.mean(axis=0)) < 5.5 * np.sqrt(np.diag(covariance) / n)).all()
    products = errors[:, :, None] * errors[:, None, :]
    spread = products.std(axis=0) / math.sqrt(n)
    assert (np.abs(products.mean(axis=0) - covariance) < 5.5 * spread).all()


def test_averages_and_silent_coordinates():
    rng = np.random.default_rng(12)
    x = rng.uniform(-1, 1, (20_000, 3))
    estimate = co.m_mean_average(x, [0.0, 2.0, 3.0], rng)
    assert estimate.informative.tolist() == [False, True, True]
    assert np.isnan(estimate.mean[0])
    # Two coordinates beyond 5.5 standard errors: false alarm below 1e-7.
    sd = np.sqrt(co.m_mean_variances(0.0, [0.0, 2.0, 3.0]) / 20_000)
    assert (np.abs(estimate.mean - x.mean(axis=0))[1:] < 5.5 * sd[1:]).all()
    assert (np.abs(estimate.projected[1:]) <= 1.0).all()
    reports = co.m_mean(x[:10], [0.0, 2.0, 3.0], rng)
    assert np.isnan(reports[:, 0]).all()
    assert np.isfinite(reports[:, 1:]).all()
    assert np.isnan(co.m_mean(x[:10], np.zeros(3), rng)).all()


def test_same_seed_same_reports_and_average():
    x = np.random.default_rng(1).uniform(-1, 1, (10_000, 4))
    c = [0.5, 0.5, 1.0, 2.0]
    first, second = (co.m_mean(x, c, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    average = co.m_mean_average(x, c, np.random.default_rng(9)).mean
    np.testing.assert_allclose(average, first.mean(axis=0), rtol=1e-10)


def test_audit_of_cdp_and_ldp():
    # Lower bounds on the loss exceed the levels with probability at most 1e-6 each.
    rng, n, d = np.random.default_rng(13), 200_000, 4
    c = np.array([0.5, 0.5, 2.0, 2.0])
    channels = co.m_mean_channels(c)
    x = np.ones(d)
    for flips, level in (([-1, 1, 1, 1], 0.5), ([1, 1, -1, 1], 2.0), ([-1, 1, -1, 1], 2.0)):
        other = x * flips
        counts = []
        for record in (x, other):
            hit = np.ones(n, bool)
            for channel in channels:
                reports = co.draw_reports(np.tile(record, (n, 1)), [channel], rng)
                z = reports[:, channel.coordinates] / channel.coefficients
                v, w = x[channel.coordinates], other[channel.coordinates]
                if not np.array_equal(v, w):
                    hit &= (z @ v > 0) & (z @ w < 0)
            counts.append(int(hit.sum()))
        bound = loss_lower_bound(counts[0], n, counts[1], n, 1e-6)
        assert 0.7 * level < bound <= level


@given(BUDGETS, st.integers(1, 5), st.integers(0, 10**6), st.sampled_from(["paper", "optimal"]))
def test_sampler_gives_numbers_in_the_whole_domain(c, n, seed, rule):
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 0.0, 1.0, 0.3], (n, len(c)))
    reports = co.m_mean(x, c, rng, rule)
    # Budgets too small for a sphere of finite radius count as none.
    # A channel's budget is the step between one demand and the next: the first step that is
    # large enough speaks for its coordinate and all with more.
    ranked = np.sort(c)
    speaking = ranked[np.diff(ranked, prepend=0.0) >= 1e-300]
    silent = np.array(c) < (speaking[0] if speaking.size else np.inf)
    assert np.array_equal(np.isnan(reports), np.tile(silent, (n, 1)))


def test_records_must_be_in_the_cube():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"x: 1.5 is outside \[-1, 1\]"):
        co.m_mean([[1.5, 0.0]], [1.0, 1.0], rng)
    with pytest.raises(ValueError, match=r"x must have shape \(n, 2\)") as error:
        co.m_mean([[0.5, 0.0, 0.1]], [1.0, 1.0], rng)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match=r"c: inf is outside \[0") as error:
        co.m_mean([[0.5]], [math.inf], rng)
    snapshots.check(error.value)


def test_nested_designs_are_m_mean():
    c = np.array([0.3, 0.3, 0.9, 2.0])
    subsets, alphas = [(0, 1, 2, 3), (2, 3), (3,)], np.array([0.3, 0.6, 1.1])
    np.testing.assert_allclose(co.design_cdp(4, subsets, alphas), c)
    x2 = np.array([0.1, 1.0, 0.4, 0.0])
    error = co.design_mse(4, subsets, alphas, x2)
    assert error == pytest.approx(float(co.m_mean_mse(x2, c, 1, "optimal")), rel=1e-12)
    for ours, theirs in zip(
        co.design_channels(4, subsets, alphas), co.m_mean_channels(c, "optimal"), strict=True
    ):
        np.testing.assert_allclose(ours.coefficients, theirs.coefficients, rtol=1e-12)


@pytest.mark.full
def test_designs_by_enumeration():
    """Certificates of parallel designs hold for the exact law of the reports, seen by anybody."""
    rng = np.random.default_rng(3)
    d = 3
    for subsets in ([(0,), (1, 2)], [(0,), (1,), (2,)], [(0, 1, 2), (0,), (1, 2)]):
        alphas = rng.uniform(0.1, 2.0, len(subsets))
        logs = np.zeros((8, 1))
        for channel in co.design_channels(d, subsets, alphas):
            table = np.log(
                [
                    [density(channel, x, z) for z in chambers(channel.coordinates.size)]
                    for x in corners(d)
                ]
            )
            logs = (logs[:, :, None] + table[:, None, :]).reshape(8, -1)
        np.testing.assert_allclose(
            cdp_levels_from_logs([2] * d, logs), co.design_cdp(d, subsets, alphas), rtol=1e-7
        )
        for _ in range(10):
            prior = rng.dirichlet(np.full(8, 0.5))
            q = co.coupling([2] * d, prior)
            levels = bcdp_levels_from_logs([2] * d, prior, logs)
            assert (levels <= co.design_bcdp(d, subsets, alphas, q) + 1e-8).all()


def test_designs_refuse_and_skip():
    assert co.design_mse(2, [(0,)], [1.0]) == math.inf
    assert np.isfinite(co.design_mse(2, [(0,), (1,), (0, 1)], [1.0, 1.0, 0.0]))
    assert co.design_mse(2, [(0,), (1,)], [[1.0, 1.0], [2.0, 0.0]]).shape == (2,)
    with pytest.raises(ValueError, match=r"subsets\[0\]: 2 is outside \[0, 1\]"):
        co.design_cdp(2, [(2,)], [1.0])
    with pytest.raises(ValueError, match=r"subsets\[0\] must be") as error:
        co.design_cdp(2, [(1, 1)], [1.0])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="one level a subset, 1"):
        co.design_cdp(2, [(1,)], [1.0, 2.0])


@given(st.integers(0, 10**6))
def test_designs_in_bulk_agree_with_their_samplers_coefficients(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    subsets = [tuple(np.flatnonzero(rng.random(d) < 0.6)) or (0,) for _ in range(4)]
    alphas = rng.uniform(0, 3, 4) * (rng.random(4) < 0.8)
    x2 = rng.random(d)
    second, squares = np.zeros(d), np.zeros(d)
    for channel in co.design_channels(d, subsets, alphas):
        v = float(co.m_ldp_second_moment(channel.coordinates.size, channel.alpha))
        second[channel.coordinates] += channel.coefficients**2 * v
        squares[channel.coordinates] += channel.coefficients**2
    expected = (second - x2 * squares).sum() if (second > 0).all() else math.inf
    assert co.design_mse(d, subsets, alphas, x2) == pytest.approx(expected, rel=1e-9)


def test_products_of_corners():
    assert [tuple(row) for row in corners(2)] == list(product((-1, 1), repeat=2))


def test_errors_beyond_the_largest_float_are_infinite_without_a_warning():
    tiny = np.full(5000, 1e-150)
    assert np.isfinite(co.m_mean_mse(0.0, tiny[:10], 1e12))
    assert np.isinf(co.m_mean_mse(0.0, np.full(10, 1e-160), 1.0))
    co.m_mean_mse(0.0, tiny, 1.0)
    assert co.design_mse(3, [(0,), (1,), (2,)], [1e-154] * 3) > 1e300
    assert np.isinf(co.design_mse(3, [(0,), (1,), (2,)], [1e-160] * 3))
    assert np.isinf(co.theorem3_r2(np.full(10, 1e-160)))
    assert co.theorem2_bound(np.full(10, 1e-160), 1.0) == 10
