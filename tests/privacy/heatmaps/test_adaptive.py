"""The adaptive quadtree: budgets, plain Python and dense solvers, smoothing, whole numbers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    IntegerCounts,
    adaptive_budgets,
    adaptive_budgets_exact,
    adaptive_tree,
    adaptive_tree_exact,
    check_threshold,
    decode,
    fit_adaptive,
    fresh_noise,
    from_grid,
    measured_levels,
    smooth_stopped_cells,
)
from explorer.privacy.noise.bits import SeededBits
from explorer.privacy.noise.exact import discrete_laplace
from tests.privacy.heatmaps.adaptive_reference import reference_map

shares = st.lists(st.fractions(Fraction(1, 20), Fraction(19, 20)), min_size=1, max_size=4)
levels = st.integers(0, 8).flatmap(lambda q: st.tuples(st.just(q), st.integers(q, q + 4)))


@given(st.fractions(Fraction(1, 1000), 50), levels, shares)
def test_every_path_spends_the_whole_budget(epsilon, ends, share) -> None:
    """Split all the way down, or stopped anywhere: in whole numbers exactly, never above ε."""
    exact = adaptive_budgets_exact(epsilon, *ends, share)
    assert epsilon - Fraction(1, 2**40) < exact.epsilon <= epsilon
    rounded = adaptive_budgets(float(epsilon), *ends, [float(part) for part in share])
    assert exact.rounded().last == rounded.last == ends[1]
    for k, level in enumerate(range(ends[0], ends[1] + 1)):
        before = sum((exact.of(i, 0) for i in range(ends[0], level)), Fraction(0))
        whole = [exact.of(level, 0)] + ([exact.of(level, 1)] if level < ends[1] else [])
        assert before + sum(whole) == exact.epsilon
        assert rounded.spent[k] == pytest.approx(float(exact.of(level, 0)), rel=1e-5)
    assert math.fsum(rounded.spent) == pytest.approx(float(epsilon), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 2, 8), "epsilon"),
        ((math.inf, 2, 8), "epsilon"),
        ((1e-101, 2, 8), "epsilon"),
        ((1.0, 3, 2), "start"),
        ((1.0, 0, 2, 1.0), "share"),
        ((1.0, 0, 2, [0.3, 0.0]), "share"),
        ((1.0, 0, 2, []), "share"),
    ],
)
def test_budgets_name_what_is_wrong(arguments, name) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        adaptive_budgets(*arguments)


def test_levels_without_anything_to_spend_are_refused() -> None:
    assert adaptive_budgets_exact(Fraction(4, 2**40), 0, 1).spent == (1, 3)
    with pytest.raises(ValueError, match=r"^epsilon: .* level 0 "):
        adaptive_budgets_exact(Fraction(3, 2**40), 0, 1)
    with pytest.raises(ValueError, match=r"^epsilon: .* level 2 "):
        adaptive_budgets_exact(Fraction(1, 2**41), 2, 2)


def test_thresholds_at_which_empty_trees_grow_are_refused() -> None:
    budgets = adaptive_budgets(1.0, 2, 8)
    least = math.log(2) * 0.7 / 0.3
    check_threshold(1.0001 * least, budgets)
    for bad in (0.9999 * least, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^threshold:"):
            check_threshold(bad, budgets)
    check_threshold(0.1, adaptive_budgets(1.0, 2, 2))  # nothing can be split


def test_levels_are_clipped_to_the_grid() -> None:
    assert measured_levels(8) == (2, 8)
    assert measured_levels(1) == (1, 1)
    assert measured_levels(8, last=1) == (1, 1)
    assert measured_levels(6, 3, 12) == (3, 6)
    with pytest.raises(ValueError, match=r"^start:"):
        measured_levels(8, -1)
    counts, too_deep = from_grid(np.ones((16, 16))), adaptive_budgets(1.0, 2, 5)
    with pytest.raises(ValueError, match=r"^last:"):
        adaptive_tree(counts, too_deep, AdaptiveDemonstrationNoise(0))


@st.composite
def cases(draw: st.DrawFn):
    """A grid of clustered masses, budgets, noise and a threshold at which some cells are split."""
    level = draw(st.integers(0, 5))
    start, last = measured_levels(level, draw(st.integers(0, 2)), draw(st.integers(0, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    grid = rng.gamma(0.05, 1, (2**level, 2**level)) * draw(st.sampled_from([0, 1, 30]))
    share = draw(st.lists(st.floats(0.1, 0.6), min_size=1, max_size=3))
    budgets = adaptive_budgets(draw(st.sampled_from([0.1, 1.0, 10.0])), start, last, share)
    noise = AdaptiveDemonstrationNoise(draw(st.integers(0, 2**32)))
    return grid, budgets, noise, draw(st.floats(0.5, 12))


@given(cases())
def test_agrees_with_the_tree_walked_cell_by_cell(case) -> None:
    grid, budgets, noise, threshold = case
    level = len(grid).bit_length() - 1
    tree = adaptive_tree(from_grid(grid), budgets, noise, threshold)
    fitted = fit_adaptive(tree, level)

    def one(level: int, draw: int, code: int) -> float:
        return float(noise(level, draw, np.array([code]))[0])

    total, flat, seen = reference_map(grid, budgets, one, threshold)
    assert fitted.total == pytest.approx(total, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(fitted.flat(), flat, rtol=1e-7, atol=1e-9)
    visited = {
        (tree.start + k, code): (count, split)
        for k, part in enumerate(tree.levels)
        for code, count, split in zip(
            part.codes.tolist(), part.counts.tolist(), part.split.tolist(), strict=True
        )
    }
    assert visited.keys() == seen.keys()
    for cell, (count, split) in visited.items():
        assert split == seen[cell][1]
        assert count == pytest.approx(seen[cell][0], rel=1e-9, abs=1e-9)
    twice = sum(not split for (i, _), (_, split) in visited.items() if i < budgets.last)
    assert tree.draws == len(visited) + twice


@pytest.mark.parametrize("epsilon", [1e-100, 1e-9, 1e9])
def test_extreme_budgets_give_maps_and_no_warnings(epsilon) -> None:
    """Warnings are errors here; a budget without end gives the truth."""
    grid = np.random.default_rng(1).gamma(0.1, 5, (32, 32))
    for seed in range(20):
        tree = adaptive_tree(
            from_grid(grid), adaptive_budgets(epsilon, 1, 5), AdaptiveDemonstrationNoise(seed)
        )
        fitted = fit_adaptive(tree, 5)
        for drawn in (fitted.flat(), fitted.smooth()):
            assert (drawn >= 0).all()
            assert drawn.sum() == pytest.approx(1, rel=1e-9)
        if epsilon > 1:
            np.testing.assert_allclose(fitted.flat() * fitted.total, grid, atol=1e-6)


@given(st.integers(0, 2**32), st.integers(0, 1), st.floats(1, 1500))
def test_the_fit_is_that_of_weighted_least_squares(seed, start, threshold) -> None:
    """On trees of any shape, against a dense solver; counts so large that nothing is projected."""
    rng = np.random.default_rng(seed)
    grid = rng.uniform(40, 120, (8, 8))
    budgets = adaptive_budgets(15.0, start, 3)
    tree = adaptive_tree(from_grid(grid), budgets, AdaptiveDemonstrationNoise(seed), threshold)
    fitted = fit_adaptive(tree, 3)
    leaves = list(zip(fitted.cells.levels.tolist(), fitted.cells.codes.tolist(), strict=True))
    rows, counts, weights = [], [], []
    for k, visited in enumerate(tree.levels):
        i = start + k
        for code, count, variance in zip(
            visited.codes.tolist(), visited.counts, visited.variances, strict=True
        ):
            rows.append([j >= i and leaf >> 2 * (j - i) == code for j, leaf in leaves])
            counts.append(count)
            weights.append(1 / variance)
    matrix, root = np.array(rows, float), np.sqrt(weights)
    solved, *_ = np.linalg.lstsq(matrix * root[:, None], np.array(counts) * root, rcond=None)
    assert (solved > 0).all()
    np.testing.assert_allclose(fitted.cells.masses * fitted.total, solved, rtol=1e-8)
    covariance = np.linalg.inv(matrix.T @ (matrix * np.array(weights)[:, None]))
    np.testing.assert_allclose(fitted.variances, np.diag(covariance), rtol=1e-7)


@given(cases())
def test_maps_are_whole_and_smoothing_keeps_every_leafs_mass(case) -> None:
    grid, budgets, noise, threshold = case
    level = len(grid).bit_length() - 1
    fitted = fit_adaptive(adaptive_tree(from_grid(grid), budgets, noise, threshold), level)
    first = fitted.cells.codes << 2 * (level - fitted.cells.levels)
    sizes = 4 ** (level - fitted.cells.levels)
    np.testing.assert_array_equal(first, np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    assert sizes.sum() == grid.size
    np.testing.assert_allclose(fitted.flat(), fitted.cells.grid() / fitted.cells.masses.sum())
    smooth = fitted.smooth()
    assert (smooth >= 0).all()
    assert smooth.sum() == pytest.approx(1, rel=1e-9)
    rows, columns, side = fitted.cells.spans()
    for r, c, s, mass in zip(rows, columns, side, fitted.cells.masses, strict=True):
        assert smooth[r : r + s, c : c + s].sum() == pytest.approx(mass, rel=1e-9, abs=1e-18)
    assert fitted.standard_errors().shape == grid.shape
    assert (fitted.standard_errors() > 0).all()


def test_smoothing_is_the_moving_average_written_out() -> None:
    rng = np.random.default_rng(2)
    level, counts = 5, rng.gamma(0.1, 20, (32, 32))
    counts[:, 16:] = 0
    counts[24:, 8:16] = 0
    tree = adaptive_tree(
        from_grid(counts), adaptive_budgets(2.0, 1, 5), AdaptiveDemonstrationNoise(4)
    )
    fitted = fit_adaptive(tree, level)
    flat = fitted.flat()
    expected = flat.copy()
    assert {1, 2, 4, 8} <= set(fitted.cells.spans()[2].tolist())
    assert (fitted.cells.masses == 0).any()
    for row, column, s in zip(*fitted.cells.spans(), strict=True):
        if s == 1 or not flat[row, column]:
            continue
        window = np.arange(-(s // 2), s // 2 + 1)
        found = np.empty((s, s))
        for a, b in itertools.product(range(s), repeat=2):
            across = np.clip(row + a + window, 0, 31), np.clip(column + b + window, 0, 31)
            found[a, b] = flat[np.ix_(*across)].mean()
        mass = flat[row, column] * s * s
        expected[row : row + s, column : column + s] = found * mass / found.sum()
    np.testing.assert_allclose(fitted.smooth(), expected, rtol=1e-9, atol=1e-15)


def test_smoothing_bears_masses_of_every_size() -> None:
    """A faint cell beside a heavy one: sums of everything must not swallow it."""
    flat = np.zeros((8, 8))
    flat[:4, :4], flat[4:, :4], flat[4:, 4:] = 1 / 16, 1e-25, 1e-300
    smooth = smooth_stopped_cells(flat, np.ones(4, int), np.arange(4))
    for rows, columns in itertools.product((slice(0, 4), slice(4, 8)), repeat=2):
        part = flat[rows, columns].sum()
        assert smooth[rows, columns].sum() == pytest.approx(part, rel=1e-9)
        assert (smooth[rows, columns] >= 0).all()


def test_noise_belongs_to_cell_and_draw() -> None:
    """Only visited cells are asked for, once; ε, τ and levels keep draws; the two draws differ."""
    noise = AdaptiveDemonstrationNoise(9)
    asked: list[tuple[int, int, int]] = []

    def counted(level, draw, cells):
        asked.extend((level, draw, code) for code in cells.tolist())
        return noise(level, draw, cells)

    rng = np.random.default_rng(0)
    counts = from_grid(rng.gamma(0.05, 40, (32, 32)))
    tree = adaptive_tree(counts, adaptive_budgets(1.0, 2, 5), counted)
    assert len(asked) == len(set(asked)) == tree.draws
    codes = np.arange(4**6)
    one, other = noise(6, 0, codes), noise(6, 1, codes)
    # Five standard errors of a correlation of independent draws.
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(len(codes))
    np.testing.assert_array_equal(noise(6, 1, codes[100:200]), other[100:200])
    more = adaptive_tree(counts, adaptive_budgets(3.0, 2, 4, 0.4), noise, 8.0)
    first = (tree.levels[0].first * 0.3 - more.levels[0].first * 1.2) / (0.3 - 1.2)
    np.testing.assert_allclose(first, counts.dense(2), atol=1e-9)


def test_empty_data_are_read_like_others() -> None:
    """33 readings on average (16 cells twice, seldom a split), and no warning."""
    empty, budgets = from_grid(np.zeros((256, 256))), adaptive_budgets(1.0, 2, 8)
    draws, uniform = [], 0
    for seed in range(300):
        tree = adaptive_tree(empty, budgets, AdaptiveDemonstrationNoise(seed))
        draws.append(tree.draws)
        fitted = fit_adaptive(tree, 8)
        if fitted.total <= 0:
            uniform += 1
            kept = fitted
    np.testing.assert_array_equal(kept.flat(), np.full((256, 256), 2.0**-16))
    np.testing.assert_allclose(kept.smooth(), 2.0**-16)
    assert min(draws) == 32
    # A split with chance ½e^{−30/7} adds 7 readings: 0.77 ± 0.13 (s.e.), deeper ones apart.
    assert 0.77 - 5 * 0.13 < np.mean(draws) - 32 < 0.77 + 7 * 0.13
    assert 100 < uniform < 200


def whole(grid, resolution: int) -> IntegerCounts:
    row, column = np.nonzero(grid)
    counts = from_grid(np.array(grid, float))
    masses = np.array(grid)[decode(counts.codes)].astype(np.int64)
    assert len(row) == len(column) == len(masses)
    return IntegerCounts(counts.level, counts.codes, masses, 1, resolution)


@pytest.mark.parametrize(("noisy", "split"), [(3, False), (4, True)])
def test_a_tie_does_not_split(noisy, split) -> None:
    """ε = 2, ρ = ½: a count of 3 times the 1 that is left equals the threshold of 3."""
    budgets = adaptive_budgets_exact(Fraction(2), 0, 1, Fraction(1, 2))
    found = adaptive_tree_exact(
        whole([[0, 0], [0, 0]], 1), budgets, lambda i, j, cells, _: np.full(len(cells), noisy), 3.0
    )
    assert found.tree.levels[0].split.tolist() == [split]


def test_whole_numbers_of_any_size_are_exact() -> None:
    huge = 10**30
    grid = np.full((2, 2), 2**60)
    budgets = adaptive_budgets_exact(Fraction(1), 0, 1)
    found = adaptive_tree_exact(
        whole(grid, 2**20), budgets, lambda i, j, cells, _: np.full(len(cells), huge, object)
    )
    assert found.noisy == (
        (0, 0, 0, 2**62 + huge),
        *((1, cell, 0, 2**60 + huge) for cell in range(4)),
    )


def test_exact_noise_has_the_scale_of_its_budget() -> None:
    """Scales handed to the sampler are B·2⁴⁰/units; what comes back is what is added."""
    resolution, budgets = 4, adaptive_budgets_exact(Fraction(3, 2), 1, 2)
    counts = whole([[5, 0, 0, 3], [0, 2, 0, 0], [0, 0, 9, 0], [1, 0, 0, 0]], resolution)
    asked = []

    def sampler(scale, size, bits):
        drawn = discrete_laplace(scale, size, bits)
        asked.append((scale, drawn))
        return drawn

    bits = SeededBits(np.random.default_rng(3))
    found = adaptive_tree_exact(counts, budgets, fresh_noise(sampler, bits), 1.0)
    scales = {scale for scale, _ in asked}
    assert scales <= {Fraction(resolution) / budgets.of(*at) for at in ((1, 0), (1, 1), (2, 0))}
    assert sum(len(drawn) for _, drawn in asked) == len(found.noisy) == found.tree.draws
    by_cell = {(i, code, j): value for i, code, j, value in found.noisy}
    for code, value in enumerate(asked[0][1]):
        assert by_cell[1, code, 0] == counts.at(1, np.array([code]))[0] + value
    np.testing.assert_array_equal(
        found.tree.levels[0].first, [by_cell[1, code, 0] / resolution for code in range(4)]
    )
