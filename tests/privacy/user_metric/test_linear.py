"""PrivEMDLinear: sensitivity, noise laws, exact errors, Gaussian calibration, audits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import betaincinv

from explorer.privacy import user_metric as um
from explorer.privacy.core.roots import increasing_root
from explorer.privacy.spaces import Discrete, Grid, MatrixSpace, Square
from explorer.privacy.user_metric.linear import log_gamma_step
from tests.privacy.sampler_audits import loss_lower_bound

ALPHA = st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 1e-12, 800.0]))
DELTA = st.one_of(st.floats(1e-300, 1), st.floats(-690, 0).map(math.exp), st.just(1.0))
DIM = st.integers(1, 10**6)
ORDER = st.one_of(st.floats(1, 50), st.just(math.inf), st.floats(1, 1e6))


@pytest.mark.full
def test_lipschitz_is_attained_by_point_masses_and_by_nothing_more():
    rng = np.random.default_rng(1)
    space = MatrixSpace.from_embedding(rng.normal(size=(6, 2)))
    f = rng.normal(size=(6, 3))
    for p in (1.0, 2.0, 3.5, math.inf):
        lip = um.lipschitz(f, space.matrix(), p)
        best = 0.0
        for _ in range(30):
            a, b = rng.dirichlet(np.full(6, 0.3), 2)
            moved = np.linalg.norm(um.linear_query(f, a) - um.linear_query(f, b), ord=p)
            ratio = moved / space.emd(np.arange(6), np.arange(6), a, b)
            best = max(best, ratio)
            assert ratio <= lip * (1 + 1e-9)
        eye = np.eye(6)
        points = max(
            np.linalg.norm(um.linear_query(f, eye[i]) - um.linear_query(f, eye[j]), ord=p)
            / space.emd([i], [j])
            for i in range(6)
            for j in range(i)
        )
        assert points == pytest.approx(lip, rel=1e-12)
        assert best > 0.3 * lip


def test_distance_to_a_city_is_1_lipschitz():
    space = Square(2)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 2), axis=-1).reshape(-1, 2)
    f = space.cross(grid, [[0.3, 0.9]])
    assert um.lipschitz(f, space.distances(grid), 1) <= 1 + 1e-12


def test_user_level_sensitivity_is_that_on_the_discrete_space():
    # Table 2a: all of a user's items may change, so the query moves by the diameter of f.
    f = np.random.default_rng(4).normal(size=(5, 3))
    widest = max(np.linalg.norm(a - b) for a in f for b in f)
    space = MatrixSpace.from_embedding(f)
    assert um.lipschitz(f, Discrete(5).matrix(), 2) == pytest.approx(widest)
    # Other distances are shorter, so on any space of diameter 1 the query is at least as steep.
    assert um.lipschitz(f, space.matrix(), 2) >= widest * (1 - 1e-12)


def test_items_at_distance_zero_must_agree():
    assert um.lipschitz([[0], [1]], np.zeros((2, 2)), 2) == math.inf
    assert um.lipschitz([[1], [1]], np.zeros((2, 2)), 2) == 0.0
    assert um.lipschitz([[3.0, 1.0]], [[0.0]], 1) == 0.0
    with pytest.raises(ValueError, match="distances: shape"):
        um.lipschitz([[0], [1]], [[0]], 2)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 40.0, math.inf])
def test_noise_norm_is_gamma_and_direction_is_the_cone_measure(p):
    # Five Kolmogorov–Smirnov tests a p, each with false alarm 1e-6.
    rng = np.random.default_rng(int(min(p, 50) * 10))
    dim, b, size = 3, 0.7, 20_000
    z = um.k_norm_noise(size, dim, b, p, rng)
    length = np.linalg.norm(z, ord=p, axis=1)
    assert stats.kstest(length, stats.gamma(dim, scale=b).cdf).pvalue > 1e-6
    # Cone measure: a uniform point of the solid ball, by rejection from the cube, normalised.
    cube = rng.uniform(-1, 1, (60_000, dim))
    ball = cube[np.linalg.norm(cube, ord=p, axis=1) <= 1]
    ball /= np.linalg.norm(ball, ord=p, axis=1, keepdims=True)
    unit = z / length[:, None]
    weights = np.array([0.3, -1.0, 0.6])
    assert stats.ks_2samp(unit[:, 0], ball[:, 0]).pvalue > 1e-6
    assert stats.ks_2samp(unit @ weights, ball @ weights).pvalue > 1e-6
    top, middle = length > np.median(length), unit[:, 1]
    assert stats.ks_2samp(middle[top], middle[~top]).pvalue > 1e-6
    assert stats.ks_2samp(z[:, 0], -z[:, 2]).pvalue > 1e-6


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_exact_moments_are_those_of_the_draws(p):
    # Z-scores below 5.5, false alarm 4e-8 each.
    rng = np.random.default_rng(7)
    dim, alpha, lip, n, size = 4, 2.0, 1.5, 3, 100_000
    z = um.k_norm_noise(size, dim, um.k_norm_scale(alpha, lip, n), p, rng)
    for draws, exact in (
        (np.abs(z[:, 1]), um.k_norm_coordinate_mean(dim, alpha, p, lip, n)),
        (z[:, 2] ** 2, um.k_norm_coordinate_variance(dim, alpha, p, lip, n)),
        (np.linalg.norm(z, ord=p, axis=1), um.k_norm_mean(dim, alpha, lip, n)),
    ):
        assert abs(draws.mean() - exact) < 5.5 * draws.std() / math.sqrt(size)
    if p == 1.0:
        length = np.linalg.norm(z, axis=1)
        exact = um.laplace_euclidean_mean(dim, alpha, lip, n)
        assert abs(length.mean() - exact) < 5.5 * length.std() / math.sqrt(size)


@given(DIM, ALPHA, ORDER, st.floats(0, 1e6), st.integers(1, 10**12), st.floats(0, 1))
def test_errors_are_numbers_over_the_whole_domain(dim, alpha, p, lip, n, prob):
    for value in (
        um.k_norm_scale(alpha, lip, n),
        um.k_norm_mean(dim, alpha, lip, n),
        um.k_norm_quantile(prob, dim, alpha, lip, n),
        um.k_norm_coordinate_mean(dim, alpha, p, lip, n),
        um.k_norm_coordinate_variance(dim, alpha, p, lip, n),
    ):
        assert not math.isnan(value)
        assert value >= 0
    if alpha > 1e-100:
        b = um.k_norm_scale(alpha, lip, n)
        mean = um.k_norm_coordinate_mean(dim, alpha, p, lip, n)
        assert mean <= um.k_norm_mean(dim, alpha, lip, n) * (1 + 1e-9)
        if p in (1.0, math.inf):
            assert mean == pytest.approx(b if p == 1 else (dim + 1) * b / 2, rel=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 30, 10**4, 10**6])
def test_euclidean_mean_of_laplace_noise(dim):
    got = um.laplace_euclidean_mean(dim, 1.0)
    if dim == 1:
        assert got == pytest.approx(1.0, rel=1e-12)
    # Between the mean of each coordinate and the root mean square; near the latter for large dim.
    rms = math.sqrt(2 * dim)
    assert rms * (1 - 1.26 / dim) <= got * (1 + 1e-12) <= rms * (1 + 2e-12)
    if dim >= 30:
        # Var‖z‖² = 20 dim: E‖z‖ = rms·(1 − 20dim/(8·4dim²) + O(dim^−2)).
        assert got == pytest.approx(rms * (1 - 5 / (8 * dim)), rel=8 / dim**2)


@given(st.floats(1e-3, 1e7), st.floats(0, 3))
def test_gamma_ratio_against_40_digits(x, h):
    with mpmath.workdps(40):
        expected = float(mpmath.loggamma(mpmath.mpf(x) + mpmath.mpf(h)) - mpmath.loggamma(x))
    assert float(log_gamma_step(x, h)) == pytest.approx(expected, rel=3e-14, abs=2e-14)


def _gaussian_delta_40(sigma, alpha, x, lip, n):
    with mpmath.workdps(60):
        e, moved, s = mpmath.mpf(alpha) * x, mpmath.mpf(lip) * x / n, mpmath.mpf(sigma)
        first = mpmath.ncdf(moved / (2 * s) - e * s / moved)
        return float(first - mpmath.exp(e) * mpmath.ncdf(-moved / (2 * s) - e * s / moved))


@given(
    st.floats(-2, 2), st.floats(0, 30), st.floats(1e-3, 1), st.floats(0.1, 10), st.integers(1, 50)
)
def test_gaussian_delta_against_60_digits(log_sigma, alpha, x, lip, n):
    sigma = 10**log_sigma
    expected = _gaussian_delta_40(sigma, alpha, x, lip, n)
    got = um.gaussian_delta(sigma, alpha, x, lip, n)
    assert got == pytest.approx(expected, rel=2e-10, abs=1e-40)


@given(ALPHA, DELTA, st.floats(0.1, 10), st.integers(1, 10**12))
def test_gaussian_sigma_is_the_smallest_private_one_over_the_whole_domain(alpha, delta, lip, n):
    sigma = um.gaussian_sigma(alpha, delta, lip, n)
    assert not math.isnan(sigma)
    if delta == 1.0:
        assert sigma == 0.0
        return
    assert 0 < sigma < math.inf
    got = um.gaussian_delta(sigma, alpha, 1.0, lip, n)
    assert got <= delta * (1 + 1e-9)
    assert um.gaussian_delta(sigma * (1 - 1e-6), alpha, 1.0, lip, n) > delta * (1 - 1e-9)


@given(st.floats(0.01, 100), st.floats(-40, -0.1), st.floats(0.01, 0.99))
def test_gaussian_delta_rises_with_distance_and_falls_with_sigma(alpha, log_delta, x):
    sigma = um.gaussian_sigma(alpha, math.exp(log_delta))
    assert um.gaussian_delta(sigma, alpha, x) <= um.gaussian_delta(sigma, alpha, 1.0) * (1 + 1e-9)
    assert um.gaussian_delta(2 * sigma, alpha) <= um.gaussian_delta(sigma, alpha)


def test_the_printed_widths_are_not_private():
    printed, textbook = um.gaussian_sigma_printed(25, 1e-12), um.gaussian_sigma_textbook(25, 1e-12)
    assert um.gaussian_delta(printed, 25) == pytest.approx(4.5e-5, rel=0.01)
    assert um.gaussian_delta(textbook, 25) > 1e-9
    assert um.gaussian_sigma(25, 1e-12) == pytest.approx(0.33434, rel=1e-4)


def test_gaussian_draws_and_their_length():
    # Kolmogorov–Smirnov with false alarm 1e-6; z-score below 5.5.
    rng = np.random.default_rng(3)
    answer = np.tile([1.0, -2.0, 0.5], (40_000, 1))
    noise = um.priv_emd_gaussian(answer, 2.0, 1e-6, 1.3, rng, n=4) - answer
    sigma = um.gaussian_sigma(2.0, 1e-6, 1.3, 4)
    assert stats.kstest(noise.ravel() / sigma, "norm").pvalue > 1e-6
    length = np.linalg.norm(noise, axis=1)
    exact = um.gaussian_euclidean_mean(sigma, 3)
    assert abs(length.mean() - exact) < 5.5 * length.std() / 200


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_audit_of_priv_emd_linear(p):
    # A lower bound on ε from 2·10^5 runs that exceeds αw with probability at most 1e-6.
    space = Grid(3, 3)
    f = np.random.default_rng(5).normal(size=(9, 2))
    lip = um.lipschitz(f, space.matrix(), p)
    pairs = [(i, j) for i in range(9) for j in range(9) if i != j]
    steepest = max(
        pairs,
        key=lambda ij: np.linalg.norm(f[ij[0]] - f[ij[1]], ord=p) / space.emd([ij[0]], [ij[1]]),
    )
    alpha, trials = 4.0, 200_000
    w = space.matrix()[steepest]
    rng = np.random.default_rng(11)
    true = [f[i] for i in steepest]
    out = [um.priv_emd_linear(np.tile(t, (trials, 1)), alpha, lip, p, rng) for t in true]
    gap = true[0] - true[1]
    scale = lip / alpha
    if p in (1.0, 2.0, 3.0):
        # The gradient of the norm at gap separates the two best.
        normal = np.sign(gap) * np.abs(gap) ** (p - 1)
    else:
        normal = np.where(np.abs(gap) == np.abs(gap).max(), np.sign(gap), 0.0)
    normal = normal / (normal @ gap)
    scores = [(o - true[0]) @ normal for o in out]
    bound = max(
        loss_lower_bound(
            int((scores[0] > cut).sum()), trials, int((scores[1] > cut).sum()), trials, 1e-6 / 3
        )
        for cut in (0.0, scale, 2 * scale)
    )
    assert bound <= alpha * w
    assert bound > 0.3 * alpha * w


def test_audit_of_the_gaussian():
    # Pr[z > cut] − e^ε·Pr'[z > cut] at the optimal cut: a lower bound on δ that is too high with
    # probability at most 1e-6, and with 4·10^5 runs not far below.
    alpha, delta, lip, trials = 1.5, 0.05, 2.0, 400_000
    rng = np.random.default_rng(12)
    sigma = um.gaussian_sigma(alpha, delta, lip)
    a, b = (
        um.priv_emd_gaussian(np.full((trials, 1), x), alpha, delta, lip, rng).ravel()
        for x in (lip, 0.0)
    )
    cut = lip / 2 + alpha * sigma**2 / lip
    hits, others = int((a > cut).sum()), int((b > cut).sum())
    low = betaincinv(hits, trials - hits + 1, 5e-7)
    high = betaincinv(others + 1, trials - others, 1 - 5e-7)
    bound = low - math.exp(alpha) * high
    assert bound <= delta
    assert bound > 0.8 * delta


def test_solid_ball_with_the_gamma_of_the_sphere_would_not_be_pure():
    # Errata user-B3: the density at 0 is infinite; ours is bounded by its value at 0.
    rng = np.random.default_rng(2)
    z = um.k_norm_noise(200_000, 2, 1.0, 2.0, rng)
    # Density 1/(2!·π) at 0 in the plane: the disc of radius 0.05 has at most that much mass.
    inside = int((np.hypot(*z.T) < 0.05).sum())
    expected = 1 - math.exp(-0.05) * 1.05
    # Binomial test, false alarm 1e-6.
    assert stats.binomtest(inside, 200_000, expected).pvalue > 1e-6
    assert expected <= 0.05**2 / 2


def test_shapes_sweeps_and_refusals():
    assert um.k_norm_mean([1, 2], [[1.0], [2.0], [4.0]]).shape == (3, 2)
    assert um.gaussian_sigma([1.0, 2.0], 1e-6).shape == (2,)
    assert um.priv_emd_linear([1.0, 2.0], 1.0, 1.0, 2.0, np.random.default_rng(0)).shape == (2,)
    np.testing.assert_allclose(um.linear_query([[1.0], [3.0]], [[1, 1], [0, 5]]), [[2.0], [3.0]])
    for call, message in (
        (lambda: um.k_norm_scale(-1.0), "alpha: -1 is outside"),
        (lambda: um.k_norm_coordinate_mean(1, 1.0, 0.5), "p: 0.5 is outside"),
        (lambda: um.gaussian_sigma(1.0, 0.0), "delta: 0 is outside"),
        (lambda: um.linear_query([[1.0]], [[0.0]]), "histogram: a dataset without items"),
        (lambda: um.priv_emd_linear([1.0], 0.0, 1.0, 2.0, np.random.default_rng(0)), "alpha: 0"),
        (lambda: um.k_norm_noise(1, 0, 1.0, 2.0, np.random.default_rng(0)), "dim: 0 is outside"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=5), st.floats(0.1, 5))
def test_bracketed_roots(targets, power):
    target = np.array(targets)
    low, high = np.full(target.shape, -100.0), np.full(target.shape, 100.0)

    def excess(x):
        return np.sign(x) * np.abs(x) ** power - np.sign(target) * np.abs(target) ** power

    a, b = increasing_root(excess, low, high)
    assert (excess(a) <= 0).all()
    assert (np.abs(a - target) <= 1e-6 + 1e-6 * np.abs(target)).all()
    assert (b >= a).all()
    nowhere = increasing_root(lambda x: x - 200, low, high)
    np.testing.assert_array_equal(nowhere[0], high)
