"""Least squares from private reports, and the exact trust region."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import explorer.privacy.coordinates as co


def problem(seed, p=None):
    rng = np.random.default_rng(seed)
    p = p or int(rng.integers(1, 7))
    raw = rng.standard_normal((p, p)) * 10.0 ** rng.uniform(-6, 6)
    A = raw + raw.T
    if rng.random() < 0.3:
        A = A @ A
    return A, rng.standard_normal(p) * 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-4, 4)


@given(st.integers(0, 10**9))
def test_trust_region_satisfies_the_conditions_of_global_optimality(seed):
    A, b, R = problem(seed)
    found = co.trust_region(A, b, R)
    size = np.abs(A).max() + np.abs(b).max() / R
    assert np.linalg.norm(found.theta) <= R * (1 + 1e-12)
    assert found.multiplier >= 0
    eigenvalues = np.linalg.eigvalsh(A) + found.multiplier
    assert eigenvalues[0] >= -1e-9 * size
    residual = A @ found.theta + found.multiplier * found.theta - b
    assert np.linalg.norm(residual) <= 1e-7 * (size * R)
    if found.multiplier > 1e-9 * size:
        assert np.linalg.norm(found.theta) == pytest.approx(R, rel=1e-9)


@given(st.integers(0, 10**9))
def test_no_point_of_the_ball_is_better(seed):
    A, b, R = problem(seed)
    found = co.trust_region(A, b, R)
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((200, b.size))
    radii = R * rng.random((200, 1)) ** 0.2
    points *= radii / np.linalg.norm(points, axis=1, keepdims=True)
    values = 0.5 * np.einsum("ij,jk,ik->i", points, A, points) - points @ b
    scale = np.abs(A).max() * R**2 + np.abs(b).max() * R
    assert found.value <= values.min() + 1e-10 * scale


@pytest.mark.parametrize("sign", [1, -1])
def test_hard_cases(sign):
    # b orthogonal to the lowest eigenvectors, and the solution too short without them.
    found = co.trust_region(np.diag([1.0, -1.0]), [0.5 * sign, 0.0], 2.0)
    assert found.hard_case
    assert found.value == pytest.approx(-2.0625, rel=1e-12)
    np.testing.assert_allclose(np.abs(found.theta), [0.25, math.sqrt(4 - 1 / 16)])
    both = co.trust_region(np.diag([1.0, -1.0, -1.0]), [0.0, 0.0, 0.0], 3.0)
    assert both.value == pytest.approx(-4.5)
    long = co.trust_region(np.diag([-0.9, -1.0]), [5.0 * sign, 0.0], 2.0)
    assert not long.hard_case
    assert np.linalg.norm(long.theta) == pytest.approx(2.0)
    near = co.trust_region(np.diag([1.0, -1.0]), [0.5, 1e-9], 2.0)
    assert near.value == pytest.approx(-2.0625, rel=1e-8)


def test_degenerate_trust_regions():
    assert co.trust_region([[0.0]], [0.0], 1.0).value == 0.0
    assert co.trust_region([[0.0]], [2.0], 3.0).value == -6.0
    assert co.trust_region([[1.0]], [2.0], 0.0).value == 0.0
    singular = co.trust_region(np.diag([1.0, 0.0]), [1.0, 0.0], 5.0)
    np.testing.assert_allclose(singular.theta, [1.0, 0.0], atol=1e-12)
    assert not singular.hard_case


@given(st.integers(0, 10**9))
def test_clipping_is_the_nearest_psd_matrix(seed):
    A, _, _ = problem(seed)
    clipped = co.psd_clip(A)
    assert np.linalg.eigvalsh(clipped)[0] >= -1e-12 * np.abs(A).max()
    rng = np.random.default_rng(seed)
    best = np.linalg.norm(A - clipped)
    for _ in range(10):
        other = clipped + 0.1 * np.abs(A).max() * rng.standard_normal(A.shape)
        other = co.psd_clip(other)
        assert np.linalg.norm(A - other) >= best * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_convex_solver_agrees_with_the_trust_region_of_the_clipped_matrix(seed):
    A, b, R = problem(seed, 4)
    theta = co.minimise_clipped(A, b, R)
    clipped = co.psd_clip(A)
    value = 0.5 * theta @ clipped @ theta - b @ theta
    exact = co.trust_region(clipped, b, R)
    scale = np.abs(clipped).max() * R**2 + np.abs(b).max() * R
    assert np.linalg.norm(theta) <= R * (1 + 1e-12)
    assert value == pytest.approx(exact.value, abs=1e-6 * scale)


def test_moments_are_unbiased_but_one_copy_is_not():
    # Beyond 5.5 standard errors in one of 9 entries: false alarm below 4e-7.
    rng, n = np.random.default_rng(21), 200_000
    x, c = np.tile([0.5, -0.8, 0.3], (n, 1)), np.array([2.0, 3.0, 4.0])
    first, second = (co.m_mean(x, c / 2, rng) for _ in range(2))
    A, b = co.regression_moments(first[:, :2], first[:, 2], second[:, :2], second[:, 2])
    products = first[:, :, None] * second[:, None, :]
    spread = products.std(axis=0) / math.sqrt(n)
    truth = np.outer(x[0], x[0])
    assert (np.abs(A - truth[:2, :2]) < 5.5 * spread[:2, :2]).all()
    assert (np.abs(b - truth[:2, 2]) < 5.5 * spread[:2, 2]).all()
    # Errata coord-B12: the square of one copy is far off.
    squared, _ = co.regression_moments(first[:, :2], first[:, 2], first[:, :2], first[:, 2])
    assert squared[0, 0] > truth[0, 0] + 1.0


def records(n, rng):
    z = rng.uniform(-1, 1, (n, 3))
    label = z @ [0.4, -0.3, 0.0] + rng.uniform(-0.2, 0.2, n)
    return np.column_stack([z, label])


@pytest.mark.parametrize("method", ["psd-clip", "trust-region"])
def test_regression_finds_the_coefficients(method):
    # Standard errors, over 16 seeds: 0.020, 0.008, 0.011. Tolerance over five of the largest.
    rng = np.random.default_rng(22)
    x = records(300_000, rng)
    found = co.private_regression(x, [8.0, 8.0, 16.0, 16.0], 1.0, rng, method=method)
    assert np.linalg.norm(found.theta) <= 1.0 + 1e-9
    np.testing.assert_allclose(found.theta, [0.4, -0.3, 0.0], atol=0.12)
    assert found.value == pytest.approx(
        0.5 * found.theta @ found.A @ found.theta - found.b @ found.theta
    )
    assert not found.indefinite


def test_few_users_make_the_objective_indefinite_and_still_give_an_answer():
    rng = np.random.default_rng(23)
    x = records(200, rng)
    for method in ("psd-clip", "trust-region"):
        found = co.private_regression(x, np.full(4, 0.5), 1.0, rng, method=method)
        assert found.indefinite
        assert np.linalg.norm(found.theta) <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: co.trust_region([[1.0]], [1.0], -1.0), r"R: -1 is outside \[0, inf\)"),
        (lambda: co.trust_region([[1.0]], [1.0, 2.0], 1.0), r"A must have shape \(2, 2\)"),
        (lambda: co.psd_clip([[1.0, 2.0]]), "A must be square"),
        (lambda: co.regression_moments([[1.0]], [1.0], [[1.0]], [1.0, 2.0]), "Z2, l1, l2"),
        (
            lambda: co.private_regression([[0.1, 0.1]], [0.0, 1.0], 1.0, None),
            r"c: 0 is outside \(0, inf\)",
        ),
        (
            lambda: co.private_regression([[0.1]], [1.0], 1.0, None),
            "at least a feature and a label",
        ),
        (
            lambda: co.private_regression([[0.1, 0.1]], [1.0, 1.0], 1.0, None, method="x"),
            "method: .* is not one of",
        ),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
