"""Frequency estimation: matrices, exact errors against enumeration, samplers, projections."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy import user_metric as um
from explorer.privacy.spaces import Clustered, Discrete, MatrixSpace

SMALL = [(2, 2, 0.3, 1.0), (3, 4, 0.1, 3.0), (5, 1, 0.2, 1.0), (1, 4, 0.7, 2.0), (2, 3, 1.0, 0.5)]
COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 20))
ALPHA0 = st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 1e-9, 800.0]))


def _matrix(blocks, s, t):
    ones = np.ones((t, t))
    return (
        blocks.a * np.eye(s * t)
        + blocks.b * np.kron(np.eye(s), ones)
        + blocks.c * np.kron(np.ones((s, s)), ones)
    )


@pytest.mark.parametrize(("s", "t", "r", "a0"), SMALL)
def test_coefficients_are_those_of_the_running_mechanism_and_its_inverse(s, t, r, a0):
    law = um.GKRR(Clustered(s, t, r), a0).law()
    A = _matrix(um.gkrr_coefficients(s, t, r, a0), s, t)
    np.testing.assert_allclose(A, law, rtol=1e-12)
    B = _matrix(um.gkrr_inverse(s, t, r, a0), s, t)
    np.testing.assert_allclose(A @ B, np.eye(s * t), atol=1e-11)
    np.testing.assert_allclose(B.sum(axis=1), 1.0, rtol=1e-11)


@pytest.mark.parametrize(("s", "t", "r", "a0"), SMALL)
def test_exact_errors_against_enumeration(s, t, r, a0):
    # One item, all answers: Σ_y P(y|x)‖B_y − e_x‖², for every x.
    A = um.GKRR(Clustered(s, t, r), a0).law()
    B, m, n = np.linalg.inv(A), 7, 11
    P = np.kron(np.eye(s), np.ones((t, 1)))
    for x in range(s * t):
        error = B - np.eye(s * t)[x]
        full = A[x] @ (error**2).sum(axis=1) / (m * n)
        across = A[x] @ ((error @ P) ** 2).sum(axis=1) / (m * n)
        assert um.gkrr_mse(s, t, r, a0, m, n) == pytest.approx(full, rel=1e-9)
        assert um.gkrr_cluster_mse(s, t, r, a0, m, n) == pytest.approx(across, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("s", "t", "r", "a0"), SMALL)
def test_gkrr_is_exactly_alpha0_d_private(s, t, r, a0):
    # Audit by enumeration of the law that the sampler follows (next test).
    space = Clustered(s, t, r)
    log_law, d = np.log(um.GKRR(space, a0).law()), space.matrix()
    loss = (log_law[:, None, :] - log_law[None]).max(axis=2)
    assert (loss <= a0 * d + 1e-12).all()
    assert (np.abs(loss - a0 * d) < 1e-12).all()


@pytest.mark.parametrize(("s", "t", "r", "a0"), SMALL)
def test_gkrr_draws_follow_the_law(s, t, r, a0):
    # χ² with false alarm 1e-6 each.
    space = Clustered(s, t, r)
    mechanism, rng = um.GKRR(space, a0), np.random.default_rng(1)
    for x in (0, s * t - 1):
        answers = mechanism.answer(np.full(40_000, x), rng)
        counts = np.bincount(answers, minlength=s * t)
        assert stats.chisquare(counts, mechanism.law()[x] * 40_000).pvalue > 1e-6


@pytest.mark.full
@pytest.mark.parametrize(("s", "t", "r", "a0"), SMALL[1:3])
def test_gkrr_estimate_is_unbiased_with_the_exact_error(s, t, r, a0):
    # Z-scores below 5.5.
    space, rng = Clustered(s, t, r), np.random.default_rng(2)
    mechanism = um.GKRR(space, a0)
    items = rng.integers(0, s * t, 50) ** 2 % (s * t)
    truth = space.histogram(items)
    draws = np.array(
        [um.gkrr_estimate(mechanism.answer(items, rng), mechanism) for _ in range(2000)]
    )
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-9)
    error = draws.mean(axis=0) - truth
    assert (np.abs(error) < 5.5 * draws.std(axis=0) / math.sqrt(2000)).all()
    squares = ((draws - truth) ** 2).sum(axis=1)
    exact = um.gkrr_mse(s, t, r, a0, 50)
    assert abs(squares.mean() - exact) < 5.5 * squares.std() / math.sqrt(2000)
    distance = space.emd_of_masses(draws, truth)
    tight = um.gkrr_emd_bound(s, t, r, a0, 50)
    assert distance.mean() < tight + 5.5 * distance.std() / math.sqrt(2000)
    assert tight <= um.gkrr_emd_bound(s, t, r, a0, 50, printed=True)
    assert tight <= um.theorem66_bound(s, t, r, a0, 50) * (1 + 1e-9)


@given(COUNT, COUNT, st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])), ALPHA0, COUNT, COUNT)
def test_errors_over_the_whole_domain(s, t, r, a0, m, n):
    mse, across = um.gkrr_mse(s, t, r, a0, m, n), um.gkrr_cluster_mse(s, t, r, a0, m, n)
    bounds = [
        um.gkrr_emd_bound(s, t, r, a0, m, n),
        um.gkrr_emd_bound(s, t, r, a0, m, n, printed=True),
        um.theorem66_bound(s, t, r, a0, m, n),
        *um.gkrr_coefficients(s, t, r, a0),
    ]
    assert not any(math.isnan(value) for value in [mse, across, *bounds])
    assert not any(math.isnan(v) for v in um.gkrr_inverse(s, t, r, a0)) or a0 * r == 0
    assert mse >= 0
    assert bounds[0] <= bounds[1] * (1 + 1e-12)
    if s * t == 1:
        assert mse == 0
    if s > 1 and a0 == 0:
        assert mse == math.inf
    # Cauchy–Schwarz: t terms a cluster.
    assert across <= t * mse * (1 + 1e-9)


@given(COUNT, ALPHA0, COUNT, COUNT)
def test_hadamard_error_over_the_whole_domain(k, e, m, n):
    value = um.hadamard_mse(k, e, m, n)
    assert value >= (k - 1) / (m * n) * (1 - 1e-12)
    assert um.hadamard_mse(k, min(e + 1, 800), m, n) <= value * (1 + 1e-12)


@pytest.mark.parametrize(("k", "e"), [(1, 1.0), (3, 0.7), (5, 0.7), (8, 2.0)])
def test_hadamard_response_by_enumeration(k, e):
    mechanism = um.HadamardResponse(k, e)
    law = mechanism.law()
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-12)
    # Audit: ε₀-LDP exactly.
    loss = np.log(law[:, None, :] / law[None]).max()
    assert loss <= e + 1e-12
    estimates = np.array([mechanism.estimate([y]) for y in range(mechanism.K)])
    np.testing.assert_allclose(law @ estimates, np.eye(k), atol=1e-12)
    squares = ((estimates[None] - np.eye(k)[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose((law * squares).sum(axis=1), um.hadamard_mse(k, e, 1), rtol=1e-9)
    assert 2 ** math.ceil(math.log2(k + 1)) == mechanism.K
    # χ² with false alarm 1e-6.
    draws = mechanism.answer(np.full(40_000, k - 1), np.random.default_rng(3))
    counts = np.bincount(draws, minlength=mechanism.K)
    assert stats.chisquare(counts, law[k - 1] * 40_000).pvalue > 1e-6


def test_laplace_baseline():
    # Kolmogorov–Smirnov with false alarm 1e-6. Replacing one of n users moves ℓ1 by up to 2/n.
    rng, n, epsilon = np.random.default_rng(4), 50, 0.4
    histogram = np.full(5000, 1 / 5000)
    noise = um.laplace_histogram(histogram, n, epsilon, rng) - histogram
    assert stats.kstest(noise, stats.laplace(scale=2 / (n * epsilon)).cdf).pvalue > 1e-6
    mean = um.laplace_l1_mean(5000, n, epsilon)
    assert abs(np.abs(noise).sum() - mean) < 5.5 * mean / math.sqrt(5000)
    assert um.laplace_l1_mean(5, n, epsilon, printed=True) == um.laplace_l1_mean(5, n, epsilon) / 2
    # The loss between users (1,0) and (0,1), exactly: 2/n over the scale.
    assert (2 / n) / um.laplace_scale(n, epsilon) == pytest.approx(epsilon)


FINITE = st.lists(st.floats(-5, 5), min_size=1, max_size=8)


@given(FINITE, st.integers(0, 2**32 - 1))
def test_simplex_projection_is_the_nearest_point(values, seed):
    f = np.array(values)
    p = um.simplex_projection(f)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    # Optimality (variational inequality) and so a smaller error to every histogram.
    for q in np.random.default_rng(seed).dirichlet(np.ones(len(f)), 10):
        assert (f - p) @ (q - p) <= 1e-9
        assert np.linalg.norm(p - q) <= np.linalg.norm(f - q) + 1e-12
    np.testing.assert_allclose(um.simplex_projection(p), p, atol=1e-12)


def test_simplex_projection_can_move_further_in_emd_but_ours_at_most_twice():
    rng, grown = np.random.default_rng(5), 0.0
    space = Clustered(2, 3, 0.1)
    for _ in range(300):
        truth = rng.dirichlet(np.full(6, 0.3))
        f = truth + rng.normal(0, 0.3, 6)
        f += (1 - f.sum()) / 6
        before = space.emd_of_masses(f, truth)
        grown = max(grown, space.emd_of_masses(um.simplex_projection(f), truth) / before)
        ours = um.emd_projection(f, space)
        assert (ours >= 0).all()
        assert ours.sum() == pytest.approx(1.0, abs=1e-12)
        assert space.emd_of_masses(ours, truth) <= 2 * before * (1 + 1e-9)
    assert grown > 1.0


@pytest.mark.parametrize(("s", "t", "r"), [(2, 3, 0.1), (3, 2, 0.8), (1, 4, 0.5), (4, 1, 1.0)])
def test_emd_projection_against_linear_programming(s, t, r):
    from scipy.optimize import linprog

    space, rng, k = Clustered(s, t, r), np.random.default_rng(6), s * t
    for _ in range(20):
        f = rng.normal(1 / k, 0.5, k)
        f += (1 - f.sum()) / k
        P = np.kron(np.eye(s), np.ones((1, t)))
        # Variables: q, |q − f|, |P(q − f)|.
        eye, zero = np.eye(k), np.zeros
        rows = np.block(
            [
                [eye, -eye, zero((k, s))],
                [-eye, -eye, zero((k, s))],
                [P, zero((s, k)), -np.eye(s)],
                [-P, zero((s, k)), -np.eye(s)],
            ]
        )
        found = linprog(
            np.concatenate([zero(k), np.full(k, r / 2), np.full(s, (1 - r) / 2)]),
            A_ub=rows,
            b_ub=np.concatenate([f, -f, P @ f, -P @ f]),
            A_eq=np.concatenate([np.ones(k), zero(k + s)])[None],
            b_eq=[1.0],
        )
        got = float(space.emd_of_masses(um.emd_projection(f, space), f))
        assert got == pytest.approx(found.fun, abs=1e-9)


def test_user_level_budgets_and_thresholds():
    from explorer.privacy.core.composition import kov_exact_delta

    found = um.per_item_epsilon([1, 10, 1000, 10**6], 1.0, 1e-6)
    claim = kov_exact_delta(1.0, found, [1, 10, 1000, 10**6])
    np.testing.assert_allclose(claim, 1e-6, rtol=1e-6)
    assert (claim <= 1e-6 * (1 + 1e-9)).all()
    # Errata user-E8: the printed budget is not private.
    printed = um.hadamard_epsilon_printed(1, 1000, 1e-12)
    assert kov_exact_delta(1, printed, 1000) > 5e-11
    assert um.per_item_epsilon(1000, 1, 1e-12) == pytest.approx(0.004839, abs=1e-6)
    for threshold in (um.local_improvement_threshold, um.central_improvement_threshold):
        sweep = threshold(np.linspace(0.01, 5, 400), 100, 1000, 1e-12)
        assert (np.diff(sweep) > 0).all()
        assert np.diff(sweep).max() < 30


@given(st.integers(1, 10**5), st.floats(0, 800), st.one_of(st.floats(1e-300, 1), st.just(1.0)))
def test_per_item_budget_over_the_domain(k, epsilon, delta):
    found = um.per_item_epsilon(k, epsilon, delta)
    assert epsilon / k * (1 - 1e-12) <= found <= 800


def test_sizes_and_refusals():
    space = Discrete(4)
    assert um.gkrr_estimate([0, 1, 1], um.GKRR(space, 2.0)).shape == (4,)
    assert um.gkrr_mse([2, 3], 2, 0.3, [[1.0], [2.0]], 10).shape == (2, 2)
    for call, message in (
        (lambda: um.GKRR(space, 2.0).answer([4], np.random.default_rng(0)), "items: 4 is outside"),
        (lambda: um.gkrr_estimate([0], um.GKRR(space, 0.0)), "mechanism: at alpha0 = 0"),
        (lambda: um.HadamardResponse(3, 0.0).estimate([1]), "epsilon0: at 0"),
        (lambda: um.HadamardResponse(0, 1.0), "k: 0 is outside"),
        (lambda: um.simplex_projection([math.nan]), "estimate: shape"),
        (lambda: um.laplace_histogram([0.5], 3, 1.0, np.random.default_rng(0)), "histogram: shape"),
        (lambda: um.gkrr_mse(2, 2, 1.5, 1.0, 10), "r: 1.5 is outside"),
        (lambda: um.emd_projection([0.5, 0.1], Clustered(2, 1, 1.0)), "q: its sum"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("a0", [0.3, 2.0, 9.0])
@pytest.mark.parametrize(
    "space", [Clustered(3, 2, 0.3), Clustered(4, 1, 1.0), Clustered(2, 3, 0.1)]
)
def test_bounds_on_any_metric_hold_on_clusters_whose_errors_are_known(space, a0):
    s, t, r = space.clusters, space.each, space.r
    square, distance = um.MetricFrequency(space).errors(a0)
    assert square == pytest.approx(float(um.gkrr_mse(s, t, r, a0, 1, 1)), rel=1e-9)
    # The bound for clusters has a tree with inner nodes.
    halved = float(um.gkrr_emd_bound(s, t, r, a0, 1, 1))
    assert halved * (1 - 1e-9) <= distance <= 2.1 * halved


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_bounds_on_any_metric_hold_of_simulated_estimates(seed):
    rng = np.random.default_rng(seed)
    space = MatrixSpace.from_embedding(rng.normal(size=(6, 2)))
    bounds = um.MetricFrequency(space)
    d, items, a0 = space.matrix(), rng.integers(0, 6, 40), 4.0
    arms = bounds.arms
    assert (arms[:, None] + arms >= d - np.diag(np.full(6, np.inf))).all()
    law = um.Exponential(space, a0).law()
    truth = np.bincount(items, minlength=6) / 40
    squares, distances = [], []
    for _ in range(120):
        answers = [rng.choice(6, p=law[x]) for x in items]
        z = np.bincount(answers, minlength=6) / 40 @ np.linalg.inv(law) - truth
        every = np.arange(6)
        mass = np.maximum(z, 0).sum()
        away = space.emd(every, every, np.maximum(z, 0) / mass, np.maximum(-z, 0) / mass) * mass
        squares.append(z @ z)
        distances.append(away)
        assert away <= arms @ np.abs(z) + 1e-9
    square, distance = bounds.errors(a0)
    assert np.mean(squares) <= square / 40 * 1.1
    assert np.mean(distances) <= distance / math.sqrt(40)
    assert np.mean(distances) <= bounds.distance_bound(np.mean(squares))


def test_items_that_are_one_place_have_no_bounds():
    touching = MatrixSpace.from_distances([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert um.MetricFrequency(touching).errors(3.0) == (math.inf, math.inf)
    with pytest.raises(ValueError, match="201 items; give 2 to 120"):
        um.MetricFrequency(Discrete(201))
