"""The optimal item mechanism: against closed forms, its promise by enumeration, its answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from explorer.privacy import spaces, user_metric as um
from tests import snapshots

SMALL = [
    spaces.Grid(3, 3),
    spaces.Clustered(3, 4, 0.1),
    spaces.Discrete(6),
    spaces.MatrixSpace([[0, 0.3, 1], [0.3, 0, 0.8], [1, 0.8, 0]]),
]


def test_two_items_and_even_ones_have_closed_forms() -> None:
    for a in (0.1, 1.0, 5.0):
        two = um.lp_optimum([[0, 1], [1, 0]], [0.5, 0.5], a)
        assert two == pytest.approx(1 / (1 + math.exp(a)), rel=1e-7)
        k = 7
        even = um.lp_optimum(1 - np.eye(k), np.full(k, 1 / k), a)
        assert even == pytest.approx((k - 1) / (math.exp(a) + k - 1), rel=1e-7)


def test_an_even_line_has_the_truncated_geometric() -> None:
    # Ghosh, Roughgarden & Sundararajan: Pr[y | x] ∝ r^|x−y|, all beyond the ends at the ends.
    k, a = 6, 4.0
    d = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    r = math.exp(-a / (k - 1))
    law = (1 - r) / (1 + r) * r ** np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    law[:, [0, -1]] = r ** np.abs(np.subtract.outer(np.arange(k), [0, k - 1])) / (1 + r)
    # Relabelled: an answer that is never the best guess is taken for the one that is.
    best = np.array([(d.T @ law[:, y] / k).argmin() for y in range(k)])
    error = sum(law[x, y] * d[x, best[y]] for x in range(k) for y in range(k)) / k
    assert um.lp_optimum(d, np.full(k, 1 / k), a) == pytest.approx(error, rel=1e-7)


@pytest.mark.parametrize("space", SMALL, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("alpha0", [0.1, 1.0, 8.0, 60.0, 400.0])
def test_no_two_items_are_told_apart_better_than_promised(space, alpha0) -> None:
    made = um.Optimal(space, alpha0)
    law, d = made.law(), space.matrix()
    np.testing.assert_allclose(law.sum(axis=1), 1, rtol=1e-12)
    assert (law > 0).all()
    for x, other in itertools.permutations(range(space.size), 2):
        assert np.log(law[x] / law[other]).max() <= alpha0 * d[x, other] * (1 + 1e-11)
    # As good as the program says, and better than the exponential mechanism.
    assert made.mean >= made.least * (1 - 1e-6)
    exponential = um.Exponential(space, alpha0, sharp=False).law()
    assert made.mean <= (exponential * d).sum(axis=1).mean() * (1 + 1e-9)
    if alpha0 <= 8:
        assert made.mean == pytest.approx(made.least, rel=1e-3)


def test_the_specifications_grid() -> None:
    made = um.Optimal(spaces.Grid(6, 6), 5.0)
    assert made.mean == pytest.approx(0.2121, abs=5e-5)


def test_a_prior_buys_utility_and_costs_no_privacy() -> None:
    space, prior = spaces.Grid(3, 1), np.array([0.98, 0.01, 0.01])
    even, skewed = um.Optimal(space, 2.0), um.Optimal(space, 2.0, prior)
    assert skewed.mean < float(prior @ (even.law() * space.matrix()).sum(axis=1))
    law, d = skewed.law(), space.matrix()
    for x, other in itertools.permutations(range(3), 2):
        assert np.log(law[x] / law[other]).max() <= 2.0 * d[x, other] * (1 + 1e-11)


def test_answers_have_its_law() -> None:
    # χ² with a false-alarm rate of 1e-6 an item; the seed is fixed.
    space, rng = spaces.Clustered(2, 3, 0.2), np.random.default_rng(0)
    made = um.Optimal(space, 3.0)
    for x in range(space.size):
        seen = np.bincount(made.answer(np.full(20_000, x), rng), minlength=space.size)
        assert stats.chisquare(seen, 20_000 * made.law()[x]).pvalue > 1e-6


def test_what_is_too_large_or_no_prior_is_refused() -> None:
    with pytest.raises(ValueError, match="of 1 to 40 items"):
        um.Optimal(spaces.Grid(7, 6), 1.0)
    with pytest.raises(ValueError, match="prior: it must") as error:
        um.lp_optimum([[0, 1], [1, 0]], [0.5, -0.5], 1.0)
    snapshots.check(error.value)
