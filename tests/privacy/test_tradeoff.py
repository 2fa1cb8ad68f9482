"""Trade-off curves: against exact tests of enumerated laws, on their promised side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy import tradeoff_beta
from explorer.privacy.audit import judged_tests, thresholds_of
from explorer.privacy.core.bound import Role
from explorer.privacy.odds import tradeoff_attained, tradeoff_from_deltas
from tests import snapshots

ALPHA = np.linspace(0.0, 1.0, 41)


def deltas(p: np.ndarray, q: np.ndarray, eps: np.ndarray) -> np.ndarray:
    """The larger of both orders' hockey-stick divergences, by definition."""
    e = np.exp(eps)[:, None]
    both = [np.maximum(a - e * b, 0.0).sum(axis=1) for a, b in ((p, q), (q, p))]
    return np.maximum(*both)


def laws(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return tuple(rng.dirichlet(np.full(5, 0.7)) for _ in range(2))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_curves_of_two_enumerated_laws_are_on_their_sides(seed, count):
    p, q = laws(seed)
    exact = np.minimum(tradeoff_beta(p, q, ALPHA), tradeoff_beta(q, p, ALPHA))
    eps = np.linspace(0.0, 4.0, count)
    below = tradeoff_from_deltas(ALPHA, eps, np.minimum(deltas(p, q, eps), 1.0))
    above = tradeoff_attained(ALPHA, eps, deltas(p, q, eps))
    assert (below.role, above.role) == (Role.LOWER, Role.UPPER)
    assert (below.value <= exact + 1e-15).all()
    # The best promise for both orders is convex: at most what it is between two attained points.
    assert (above.value >= below.value).all()


def test_many_points_find_a_symmetric_law():
    """Randomised response has one and the same curve in both orders, of two straight lines."""
    p = np.array([0.8, 0.2])
    eps = np.linspace(0.0, np.log(4), 400)
    exact = tradeoff_beta(p, p[::-1], ALPHA)
    below = tradeoff_from_deltas(ALPHA, eps, deltas(p, p[::-1], eps)).value
    above = tradeoff_attained(ALPHA, eps, deltas(p, p[::-1], eps)).value
    np.testing.assert_allclose(below, exact, atol=1e-12)
    np.testing.assert_allclose(above, exact, atol=5e-3)


@pytest.mark.parametrize(
    ("eps", "delta", "alpha", "beta"),
    [
        (1.0, 0.0, 0.0, 1.0),
        (1.0, 0.01, 0.0, 0.99),
        (np.log(3), 0.0, 0.25, 0.25),
        (0.0, 0.2, 0.3, 0.5),
        (700.0, 0.0, 1e-3, 0.0),
    ],
)
def test_the_piecewise_linear_curve(eps, delta, alpha, beta):
    assert tradeoff_from_deltas(alpha, eps, delta).value[0] == pytest.approx(beta, abs=1e-14)


def test_a_delta_too_small_or_a_grid_without_zero_is_refused():
    with pytest.raises(ValueError, match="eps: must increase") as error:
        tradeoff_attained(ALPHA, [0.1, 0.2], [0.1, 0.1])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="shapes"):
        tradeoff_from_deltas(ALPHA, [0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="type1"):
        tradeoff_from_deltas(1.1, 0.1, 0.1)


def test_judged_tests_are_above_the_truth_with_their_confidence():
    """Tests of a Gaussian shift: both errors and ε, on their sides in 200 audits of 95 %."""
    from scipy.stats import norm

    rng, cuts, wrong = np.random.default_rng(0), np.linspace(-1, 2, 8), 0
    truth = norm.sf(cuts), norm.cdf(cuts, loc=1.0)
    for _ in range(200):
        scores = rng.normal(size=500), rng.normal(1.0, size=500)
        hits = [(s[:, None] >= cuts).sum(axis=0) for s in scores]
        found = judged_tests(*hits, 500, 0.95)
        wrong += bool((found.type1[:8] < truth[0]).any() or (found.type2[:8] < truth[1]).any())
    assert wrong <= 20


def test_thresholds_are_scores_that_were_seen():
    few = thresholds_of(np.zeros(100), np.ones(100))
    assert set(few) <= {0.0, 1.0}
    many = thresholds_of(np.arange(500.0), np.arange(500.0))
    assert (np.diff(many) > 0).all()
    assert many.size >= 20
