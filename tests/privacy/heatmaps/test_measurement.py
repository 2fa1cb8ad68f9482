"""Lazy noise and selection: same law as dense noise, the stated number of draws, ties in order."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.heatmaps import (
    CellCounts,
    all_codes,
    decode,
    descend,
    from_grid,
    largest,
    measure,
    reconstruct,
    schedule,
)
from explorer.privacy.noise.demonstration import DemonstrationNoise


def random_counts(level: int, seed: int, users: int = 50) -> CellCounts:
    rng = np.random.default_rng(seed)
    grid = np.zeros((2**level, 2**level))
    at = np.clip(rng.normal(0.4, 0.2, (users, 2)) * 2**level, 0, 2**level - 1).astype(int)
    np.add.at(grid, tuple(at.T), 1.0)
    return from_grid(grid)


@given(
    level=st.integers(1, 7),
    w=st.integers(1, 300),
    epsilon=st.floats(1e-6, 1e6),
    seed=st.integers(0, 2**64),
    variant=st.sampled_from(["experiments", "theory"]),
)
def test_lazy_equals_dense_bit_for_bit(
    level: int, w: int, epsilon: float, seed: int, variant: str
) -> None:
    counts, plan = random_counts(level, 1), schedule(epsilon, level, w, variant)
    noise = DemonstrationNoise(seed, "pyramid")
    lazy = measure(counts, plan, w, noise)
    dense = {
        i: counts.at(i, all_codes(i).ravel()) + noise(i, all_codes(i).ravel()) / plan.epsilon[i]
        for i in range(plan.start, level + 1)
    }
    where = {i: np.argsort(all_codes(i).ravel()) for i in dense}
    from_dense = descend(lambda i, cells: dense[i][where[i][cells]], plan.start, level, w)
    for k in range(len(lazy.codes)):
        np.testing.assert_array_equal(lazy.codes[k], from_dense.codes[k])
        np.testing.assert_array_equal(lazy.values[k], from_dense.values[k])
        np.testing.assert_array_equal(lazy.selected[k], from_dense.selected[k])
    assert lazy.draws <= 4**plan.start + sum(
        4 * max(1, min(w, 4 ** (i - 1))) if i - 1 > plan.start else 4**i
        for i in range(plan.start + 1, level + 1)
    )
    if variant == "experiments":
        assert lazy.draws <= 4**plan.q + 4 * w * (level - plan.q)


@given(level=st.integers(1, 7), w=st.integers(1, 100), seed=st.integers(0, 1000))
def test_selection_is_a_tree(level: int, w: int, seed: int) -> None:
    plan = schedule(1.0, level, w)
    m = measure(random_counts(level, seed), plan, w, DemonstrationNoise(seed, "pyramid"))
    assert m.selected[0].all()
    for k in range(1, len(m.codes)):
        kept_above = set(m.codes[k - 1][m.selected[k - 1]].tolist())
        assert set((m.codes[k] >> 2).tolist()) == kept_above
        assert (np.diff(m.codes[k]) > 0).all()
        assert m.selected[k].sum() == min(w, len(m.codes[k]))
        if not m.selected[k].all():
            assert m.values[k][m.selected[k]].min() >= m.values[k][~m.selected[k]].max()


def test_a_cell_seen_again_keeps_its_draw() -> None:
    """Another w or ε reads other cells, but a cell's unit draw stays."""
    counts = random_counts(6, 2)
    drawn: dict[tuple[int, int], float] = {}
    for w, epsilon in product((4, 5, 20, 60), (0.3, 2.0)):
        plan = schedule(epsilon, 6, w)
        m = measure(counts, plan, w, DemonstrationNoise(9, "pyramid"))
        for k, codes in enumerate(m.codes):
            i = m.start + k
            unit = (m.values[k] - counts.at(i, codes)) * plan.epsilon[i]
            for code, value in zip(codes.tolist(), unit.tolist(), strict=True):
                assert drawn.setdefault((i, code), value) == pytest.approx(value, abs=1e-9)


@given(
    st.lists(st.integers(-1, 2), min_size=1, max_size=64),
    st.integers(1, 70),
)
def test_largest_is_a_stable_sort(values: list[int], w: int) -> None:
    codes = np.arange(len(values))
    row, column = decode(codes)
    order = sorted(codes, key=lambda c: (-values[c], row[c], column[c]))
    expected = np.zeros(len(values), bool)
    expected[order[:w]] = True
    np.testing.assert_array_equal(largest(np.array(values, float), codes, w), expected)


Outcome = tuple[tuple[int, ...], ...]


def lazy_law(truth: list[list[int]], w: int) -> dict[Outcome, int]:
    """Weights of all outcomes if noise (0 with weight 2, 1 with weight 1) is drawn when asked for.

    Runs the algorithm on every path of answers. An outcome is what was read on each level.
    """
    law: dict[Outcome, int] = defaultdict(int)

    class Unanswered(Exception):  # noqa: N818  (no error: the end of a path)
        def __init__(self, level: int, codes: np.ndarray) -> None:
            self.level, self.codes = level, codes

    def explore(answers: list[np.ndarray], weight: int) -> None:
        def read(level: int, codes: np.ndarray) -> np.ndarray:
            if level < len(answers):
                return answers[level]
            raise Unanswered(level, codes)

        try:
            m = descend(read, 0, len(truth) - 1, w)
        except Unanswered as question:
            true = np.array([truth[question.level][c] for c in question.codes.tolist()], float)
            for noise in product((0, 1), repeat=len(true)):
                explore([*answers, true + noise], weight * 2 ** noise.count(0))
        else:
            outcome = []
            for codes, values in zip(m.codes, m.values, strict=True):
                outcome += [tuple(codes.tolist()), tuple(int(v) for v in values)]
            law[tuple(outcome)] += weight

    explore([], 1)
    return law


@pytest.mark.parametrize("start", [[2, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]])
def test_lazy_noise_has_the_law_of_dense_noise(start: list[int]) -> None:
    """Exact enumeration of all 2^21 assignments of two-point noise to the cells of Δ = 4, w = 1."""
    leaves = [start[c // 4] if c % 4 == 1 else 0 for c in range(16)]
    truth = [[sum(start)], start, leaves]
    lazy = lazy_law(truth, 1)

    lower = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    lower_weight = 2 ** (16 - lower.sum(axis=1))
    dense: dict[Outcome, int] = defaultdict(int)
    for upper in product((0, 1), repeat=5):
        middle = np.array(start) + upper[1:]
        kept = int(np.flatnonzero(largest(middle.astype(float), np.arange(4), 1))[0])
        cells = tuple(range(4 * kept, 4 * kept + 4))
        place = lower[:, cells] @ [1, 2, 4, 8]
        weights = np.bincount(place, weights=lower_weight, minlength=16)
        for pattern in range(16):
            read = tuple(leaves[c] + (pattern >> n & 1) for n, c in enumerate(cells))
            outcome = (
                (0,),
                (sum(start) + upper[0],),
                (0, 1, 2, 3),
                tuple(middle.tolist()),
                cells,
                read,
            )
            dense[outcome] += int(weights[pattern]) * 2 ** upper.count(0)
    # The 12 leaves that the lazy algorithm does not read weigh 3 each.
    assert {outcome: weight * 3**12 for outcome, weight in lazy.items()} == dict(dense)
    assert sum(dense.values()) == 3**21


def test_levels_must_fit() -> None:
    with pytest.raises(ValueError, match="level"):
        measure(random_counts(3, 0), schedule(1.0, 4, 20), 20, DemonstrationNoise(0, "pyramid"))


@pytest.mark.full
@pytest.mark.parametrize("level", range(1, 13))
@pytest.mark.parametrize("w", [1, 20, 1024])
def test_every_resolution_ends_in_a_map(level: int, w: int) -> None:
    rng = np.random.default_rng(level)
    codes = np.unique(rng.integers(0, 4**level, 300))
    counts = CellCounts(level, codes, rng.random(len(codes)), 100, 300)
    for epsilon in (1e-6, 1.0, 1e6):
        plan = schedule(epsilon, level, w)
        m = measure(counts, plan, w, DemonstrationNoise(1, "pyramid"))
        blocks = reconstruct(m).blocks()
        spans = blocks.spans()
        assert np.isfinite(blocks.masses).all()
        assert (blocks.masses > 0).all()
        assert (spans[0] + spans[2] <= 2**level).all()
        if level <= 6:
            assert blocks.grid().sum() == pytest.approx(blocks.masses.sum(), rel=1e-12)


def test_enormous_epsilon_returns_the_truth_where_all_cells_are_kept() -> None:
    counts = random_counts(4, 3, users=20)
    plan = schedule(1e6, 4, 256)
    m = measure(counts, plan, 256, DemonstrationNoise(1, "pyramid"))
    np.testing.assert_allclose(reconstruct(m).blocks().grid(), counts.grid(), atol=1e-4)


def test_no_users_at_all() -> None:
    counts = CellCounts(5, np.zeros(0, np.int64), np.zeros(0), 0, 0)
    m = measure(counts, schedule(1.0, 5, 20), 20, DemonstrationNoise(1, "pyramid"))
    assert np.isfinite(reconstruct(m).blocks().normalised().grid()).all()


def test_neighbouring_data_have_densities_within_exp_epsilon() -> None:
    """The log-density of everything measured changes by at most ε when one user is added.

    Exact for real-valued noise: for any output the difference of log densities is
    Σ_i ε_i Σ_c (|t − a| − |t − b|) over the cells read, which are the same for both data.
    """
    rng = np.random.default_rng(4)
    for trial in range(40):
        level, w, epsilon = int(rng.integers(1, 5)), int(rng.choice([1, 3, 20])), 0.7
        variant = ["experiments", "theory"][trial % 2]
        grid = rng.random((2**level, 2**level))
        user = rng.dirichlet(np.full(4**level, 0.1)).reshape(grid.shape)
        one, other = from_grid(grid), from_grid(grid + user)
        plan = schedule(epsilon, level, w, variant)
        for source in (one, other):
            m = measure(source, plan, w, DemonstrationNoise(trial, "pyramid"))
            loss = 0.0
            for k, codes in enumerate(m.codes):
                i = m.start + k
                loss += plan.epsilon[i] * float(
                    np.sum(
                        np.abs(m.values[k] - one.at(i, codes))
                        - np.abs(m.values[k] - other.at(i, codes))
                    )
                )
            assert abs(loss) <= epsilon * (1 + 1e-9)
