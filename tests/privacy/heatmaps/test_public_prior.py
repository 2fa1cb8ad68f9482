"""Maps of an adaptive tree and public priors: dense evidence, symmetries, large counts, gain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import multivariate_normal

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    AdaptiveTree,
    adaptive_budgets,
    adaptive_tree,
    fit_adaptive,
    from_grid,
    measured_levels,
    prior_densities,
    prior_family,
    prior_interpolated_shares,
    prior_map,
    prior_weights,
)
from explorer.privacy.heatmaps.public_prior import base_weights

LEVEL = 5


def clusters(seed: int, places: int = 4, people: int = 400) -> np.ndarray:
    """Counts of people in round clusters."""
    rng = np.random.default_rng(seed)
    centre = rng.uniform(0.1, 0.9, (places, 2))[rng.integers(0, places, people)]
    at = np.clip(rng.normal(centre, 0.05), 0, 0.999) * 2**LEVEL
    grid = np.zeros((2**LEVEL, 2**LEVEL))
    np.add.at(grid, tuple(at.astype(int).T), 1)
    return grid


def tree_of(grid: np.ndarray, epsilon: float = 1.0, seed: int = 0) -> AdaptiveTree:
    budgets = adaptive_budgets(epsilon, 2, len(grid).bit_length() - 1)
    return adaptive_tree(from_grid(grid), budgets, AdaptiveDemonstrationNoise(seed))


@st.composite
def trees(draw: st.DrawFn) -> tuple[AdaptiveTree, int, list[np.ndarray]]:
    """A tree of any depth and size of counts, its grid's level, and up to three priors."""
    level = draw(st.integers(0, 5))
    start, last = measured_levels(level, draw(st.integers(0, 2)), draw(st.integers(0, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    side = (2**level, 2**level)
    grid = rng.gamma(0.05, 1, side) * draw(st.sampled_from([0, 1, 30, 1e9]))
    budgets = adaptive_budgets(draw(st.sampled_from([0.1, 1.0, 10.0])), start, last)
    noise = AdaptiveDemonstrationNoise(draw(st.integers(0, 2**32)))
    priors = [
        draw(st.sampled_from([np.ones(side), grid + 1e-3, rng.gamma(0.1, 1, side) + 1e-9]))
        for _ in range(draw(st.integers(0, 3)))
    ]
    return adaptive_tree(from_grid(grid), budgets, noise), level, priors


@given(trees())
def test_maps_are_finite_have_mass_1_and_nothing_negative(case) -> None:
    tree, level, priors = case
    found = prior_map(tree, prior_densities(priors, level, tree.start))
    assert np.isfinite(found.grid).all()
    assert found.grid.min() >= 0
    assert found.grid.sum() == pytest.approx(1)
    for weights in found.level_weights.values():
        assert weights.sum() == pytest.approx(1)
    assert all(0 <= weight <= 1 + 1e-12 for weight in found.prior_weights.values())
    assert len(found.level_weights) == (len(tree.levels) if found.total > 0 else 0)


@given(trees(), st.floats(1e-30, 1e30), st.randoms())
def test_neither_unit_nor_order_of_priors_matters(case, factor, random) -> None:
    tree, level, priors = case
    plain = prior_map(tree, prior_densities(priors, level, tree.start)).grid
    shuffled = [factor * prior for prior in random.sample(priors, len(priors))]
    other = prior_map(tree, prior_densities(shuffled, level, tree.start)).grid
    np.testing.assert_allclose(other, plain, rtol=1e-6, atol=1e-9)


@given(trees())
def test_without_priors_measured_cells_are_those_of_the_fit(case) -> None:
    tree, level, _ = case
    found = prior_map(tree, prior_densities([], level, tree.start)).grid
    cells = fit_adaptive(tree, level).cells
    row, column, size = cells.spans()
    sums = [found[r : r + s, c : c + s].sum() for r, c, s in zip(row, column, size, strict=True)]
    np.testing.assert_allclose(sums, cells.masses, rtol=1e-9, atol=1e-12)


@given(trees())
def test_priors_without_information_have_no_weight(case) -> None:
    tree, level, priors = case
    densities = prior_densities(priors, level, tree.start)
    silent = replace(densities, information=tuple(0.0 * g for g in densities.information))
    without = prior_densities([], level, tree.start)
    found = prior_map(tree, silent)
    np.testing.assert_allclose(found.grid, prior_map(tree, without).grid, rtol=1e-9, atol=1e-12)
    assert not any(found.prior_weights.values())


def test_a_flat_prior_has_no_information() -> None:
    flat = prior_densities([np.full((16, 16), 7.0)], 4, 1)
    np.testing.assert_allclose([g[0] for g in flat.information], 0, atol=1e-12)


@given(
    st.integers(0, 2**32), st.integers(1, 16), st.floats(0.1, 100), st.sampled_from([0.5, 2, 32])
)
def test_evidence_is_the_density_of_normal_counts_with_a_known_sum(seed, n, total, kappa) -> None:
    rng = np.random.default_rng(seed)
    z, noise, mu = rng.normal(total / n, 3, n), rng.uniform(1, 9, n), rng.dirichlet(np.ones(n))
    mu = (mu + 0.05) / (mu + 0.05).sum()
    found = prior_family(z, noise, total, mu, kappa)
    spread = total**2 * mu / (kappa + 1)
    covariance = np.diag(spread) - np.outer(spread, spread) / spread.sum()
    reading = covariance + np.diag(noise)
    expected = multivariate_normal.logpdf(z, total * mu, reading) + n / 2 * np.log(2 * np.pi)
    assert found.log_evidence == pytest.approx(expected, rel=1e-8, abs=1e-8)
    mean = total * mu + covariance @ np.linalg.solve(reading, z - total * mu)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-8)


@given(st.integers(0, 2**32), st.integers(0, 4))
def test_interpolation_turns_with_the_map(seed, level) -> None:
    masses = np.random.default_rng(seed).gamma(0.2, 1, (2**level, 2**level))
    shares = prior_interpolated_shares(masses)
    np.testing.assert_allclose(shares.reshape(2**level, 2, 2**level, 2).sum(axis=(1, 3)), 1)
    np.testing.assert_allclose(prior_interpolated_shares(masses.T), shares.T)
    np.testing.assert_allclose(prior_interpolated_shares(masses[::-1]), shares[::-1])


@pytest.mark.parametrize("deep", [False, True])
def test_evidence_of_a_thousand_million_people_is_weighed(deep) -> None:
    """Every plain power of e would be 0; the right prior stands out all the same."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(4**LEVEL, 0.5)).reshape(2**LEVEL, 2**LEVEL)
    tree = tree_of(np.floor(1e9 * truth), 1.0 if deep else 1e-6)
    found = prior_map(tree, prior_densities([truth[::-1], truth], LEVEL, 2))
    level_weights = list(found.level_weights.values())
    assert np.isfinite(level_weights).all()
    right, turned = level_weights[-1][-6:].sum(), level_weights[-1][4:10].sum()
    assert right > 0.5 > turned
    z = np.full((1, 16), 1e9) * truth.reshape(64, 16)[0]
    assert prior_family(z, np.ones(16), z.sum(), np.full(16, 1 / 16), 32.0).log_evidence < 0


def test_weights_of_hopeless_hypotheses_do_not_spoil_the_others() -> None:
    evidence = np.zeros((10, 3))
    evidence[4:] = -1e5
    found = prior_weights(evidence, base_weights(2), [1.0, 1.0])
    np.testing.assert_allclose(found.level[:4], 0.25)
    assert found.level[4:].max() == 0
    none = prior_weights(np.where(evidence == 0, -1e5, 0.0), base_weights(2), [0.0, 0.0])
    np.testing.assert_allclose(none.families[:4], 0.25)


def test_a_like_map_helps_and_one_turned_round_does_no_harm() -> None:
    """Total variation of 16 × 16 blocks, mean over maps and draws; single maps may lose."""
    like, turned, none = [], [], []
    for seed in range(12):
        truth, other = clusters(seed), clusters(seed)[::-1, ::-1]
        same = np.roll(truth, (1, 0), (0, 1))
        for priors, errors in (([same], like), ([other], turned), ([], none)):
            found = prior_map(tree_of(truth, 0.2, seed), prior_densities(priors, LEVEL, 2))
            off = (found.grid - truth / truth.sum()).reshape(16, 2, 16, 2).sum(axis=(1, 3))
            errors.append(0.5 * np.abs(off).sum())
    assert np.mean(like) < 0.75 * np.mean(none)
    assert np.mean(turned) < 1.03 * np.mean(none)


def test_without_a_total_the_map_is_the_priors() -> None:
    tree = tree_of(
        np.zeros((4, 4)),
        0.1,
        next(
            seed
            for seed in range(99)
            if fit_adaptive(tree_of(np.zeros((4, 4)), 0.1, seed), 2).total <= 0
        ),
    )
    prior = np.arange(1.0, 17.0).reshape(4, 4) ** 3
    found = prior_map(tree, prior_densities([prior], 2, 2))
    assert found.level_weights == {}
    assert np.corrcoef(found.grid.ravel(), prior.ravel())[0, 1] > 0.99
    uniform = prior_map(tree, prior_densities([], 2, 2))
    np.testing.assert_allclose(uniform.grid, 1 / 16)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((4, 4)), r"^prior 2: .*sum"),
        (np.ones((4, 8)), r"^prior 2: .*\(4, 8\)"),
        (np.full((4, 4), -1.0), r"^prior 2: -1 is outside"),
        (np.full((4, 4), np.nan), r"^prior 2: nan is outside"),
        (np.full((4, 4), np.inf), r"^prior 2: inf is outside"),
    ],
)
def test_priors_that_are_no_map_are_refused(bad, message) -> None:
    with pytest.raises(ValueError, match=message):
        prior_densities([np.ones((4, 4)), bad], 2, 1)


def test_densities_of_another_tree_are_refused() -> None:
    tree = tree_of(clusters(0))
    with pytest.raises(ValueError, match=r"^densities: .* 1, not 2"):
        prior_map(tree, prior_densities([], LEVEL, 1))
    with pytest.raises(ValueError, match=r"^level: 2 is below"):
        prior_map(tree_of(clusters(0), 10.0), prior_densities([], 2, 2))
