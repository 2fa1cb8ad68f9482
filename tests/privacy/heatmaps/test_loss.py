"""What a map loses, in plain words; ranks and thresholds from binomial tails; flat or not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    adaptive_budgets,
    adaptive_tree,
    flatness_statistic,
    from_grid,
    loss_statistics,
    lower_rank,
    map_quality,
    too_noisy_threshold,
    upper_rank,
)
from explorer.privacy.heatmaps.adaptive_quadtree import FLATNESS_THRESHOLDS

chances = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


@given(st.integers(1, 120), chances, chances)
def test_ranks_are_the_tightest_that_hold(draws, quantile, confidence) -> None:
    """Against SciPy's binomial law; a millionth of slack where a tail meets the confidence."""
    below = stats.binom.cdf(np.arange(draws), draws, float(quantile))  # [k − 1] for rank k
    enough = np.flatnonzero(below >= float(confidence) - 1e-9) + 1
    upper = upper_rank(draws, quantile, confidence)
    assert upper in {None if not len(enough) else enough[0], *enough[1:2]}
    if upper is None:
        assert not (below >= float(confidence) + 1e-9).any()
    else:
        assert below[upper - 1] >= float(confidence) - 1e-9
    lower = lower_rank(draws, quantile, confidence)
    few = np.flatnonzero(below <= 1 - float(confidence) - 1e-9) + 1
    assert (lower or 0) >= (few[-1] if len(few) else 0)
    assert lower is None or below[lower - 1] <= 1 - float(confidence) + 1e-9
    mirrored = upper_rank(draws, 1 - quantile, confidence)
    # Counting from the other end turns one into the other.
    assert lower == (None if mirrored is None else draws + 1 - mirrored)


def test_ranks_for_which_epsilon() -> None:
    """The plan of bisection: 100…800 draws, the .9-quantile, .05 shared by 56 decisions."""
    confidence = 1 - Fraction(5, 100) / (2 * 7 * 4)
    for draws in (100, 200, 400, 800):
        upper, lower = (
            rank(draws, Fraction(9, 10), confidence) for rank in (upper_rank, lower_rank)
        )
        assert lower is not None
        assert upper is not None
        assert lower < 0.9 * draws < upper <= draws
        law = stats.binom(draws, 0.9)
        assert law.cdf(upper - 1) >= float(confidence) > law.cdf(upper - 2)
        assert law.cdf(lower - 1) <= 1 - float(confidence) < law.cdf(lower)


def test_a_map_is_called_too_noisy_on_purpose() -> None:
    """Of 20 draws 7: .0024 if the chance is a tenth, found with .94 if it is a half."""
    least, attained = too_noisy_threshold()
    assert least == 7
    assert attained == pytest.approx(0.0024, abs=5e-5)
    assert stats.binom.sf(least - 1, 20, 0.5) == pytest.approx(0.94, abs=0.005)
    assert too_noisy_threshold(3, Fraction(1, 2), Fraction(1, 100)) == (4, 0.0)
    assert too_noisy_threshold(1, Fraction(1, 2), Fraction(1, 2)) == (1, 0.5)


@pytest.mark.parametrize("name", ["draws", "quantile", "confidence"])
def test_ranks_name_what_is_wrong(name) -> None:
    given_ = {"draws": 10, "quantile": Fraction(1, 2), "confidence": Fraction(1, 2), name: 0}
    for rank in (upper_rank, lower_rank):
        with pytest.raises(ValueError, match=f"^{name}:"):
            rank(**given_)


def test_mass_that_moves_by_known_ways() -> None:
    """A tenth of the mass three columns east of where it was, on a map of 16 km by 8 km."""
    truth = np.zeros((8, 8))
    truth[2, 1], truth[5, 6] = 0.4, 0.6
    estimate = truth.copy()
    estimate[2, 1] -= 0.1
    estimate[2, 4] += 0.1
    found = loss_statistics(3 * truth, 7 * estimate, 16.0, 8.0)
    assert found.level == 3
    assert found.square_km == (2.0, 1.0)
    assert found.wrong_shares == pytest.approx((0, 0.1, 0.1, 0.1))
    assert found.wrong_share == pytest.approx(0.1)
    assert found.emd_km == pytest.approx(0.6)
    assert found.mean_km == pytest.approx(6.0)
    coarse = loss_statistics(truth, estimate, 16.0, 8.0, finest=1)
    assert coarse.level == 1
    assert coarse.mean_km == pytest.approx(8.0)  # from square to square, centre to centre
    corner = np.zeros((8, 8))
    corner[0, 7] = 1
    far = loss_statistics(corner, np.flip(corner), 16.0, 8.0)
    assert (far.level, far.wrong_share) == (1, 1.0)  # nothing is near enough: the coarsest squares
    with pytest.raises(ValueError, match=r"^finest:"):
        loss_statistics(truth, estimate, 16.0, 8.0, finest=4)
    with pytest.raises(ValueError, match=r"^estimate:"):
        loss_statistics(truth, np.ones((4, 4)), 16.0, 8.0)


def test_qualities_of_a_map_whose_mass_moved_by_a_block() -> None:
    """All mass two blocks east, on blocks of 2 × 2 cells: in sides, and in km of a 10 × 40 map."""
    truth = np.zeros((16, 16))
    truth[4:6, 2:4] = 3.0
    moved = np.roll(truth, 4, axis=1)
    found = map_quality(truth, 5 * moved, (10.0, 40.0), blocks=8)
    assert found.emd == pytest.approx(2 / 8)
    assert found.emd_km == pytest.approx(2.5)
    assert found.similarity == pytest.approx(0)
    assert found.pearson < 0 < found.kl
    same = map_quality(truth, 2 * truth)
    assert (same.emd, same.emd_km) == (0.0, None)
    assert (same.similarity, same.pearson) == pytest.approx((1, 1))
    inside = truth.copy()
    inside[4, 2], inside[5, 3] = 6.0, 0.0
    # What moves inside a block is not seen by the distance, but by the others.
    assert map_quality(truth, inside, blocks=8).emd == pytest.approx(0)
    assert map_quality(truth, inside, blocks=64).emd == pytest.approx(0.25 * 2 / 16)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_losses_shrink_with_coarser_squares(seed, level) -> None:
    rng = np.random.default_rng(seed)
    truth, estimate = rng.gamma(0.3, 1, (2, 2**level, 2**level)) + 1e-9
    found = loss_statistics(truth, estimate, 3.0, 5.0)
    assert len(found.wrong_shares) == level + 1
    assert all(
        a <= b + 1e-12 for a, b in zip(found.wrong_shares, found.wrong_shares[1:], strict=False)
    )
    width, height = found.square_km
    # What is wrong moves by one square at least, and across the map at most.
    assert found.wrong_share == 0 or min(width, height) <= found.mean_km * (1 + 1e-9)
    assert found.mean_km <= 8.0


@pytest.mark.parametrize(("cells", "rate"), FLATNESS_THRESHOLDS)
def test_flat_maps_are_seldom_called_not_flat(cells, rate) -> None:
    """Rate of 200,000 flat maps within five standard errors of the stated one; any total."""
    runs = 200_000
    u = np.random.default_rng(cells).laplace(size=(runs, cells))
    f = np.sum((u - u.mean(axis=1, keepdims=True)) ** 2, axis=1)
    assert f[:3] == pytest.approx([flatness_statistic((row + 7) / 0.3, 0.3) for row in u[:3]])
    found = float(np.mean(f > FLATNESS_THRESHOLDS[cells, rate]))
    assert abs(found - rate) < 5 * math.sqrt(rate / runs)


def test_a_map_with_mass_in_one_place_is_not_flat() -> None:
    grid = np.zeros((16, 16))
    grid[3, 4] = 200
    budgets = adaptive_budgets(1.0, 2, 4)
    for grid_, above in ((grid, True), (np.full((16, 16), 200 / 256), False)):
        tree = adaptive_tree(from_grid(grid_), budgets, AdaptiveDemonstrationNoise(1))
        statistic = flatness_statistic(tree.levels[0].first, budgets.spent[0])
        assert (statistic > FLATNESS_THRESHOLDS[16, 0.01]) is above
