"""Is the adaptive quadtree as private as it claims? Exact enumeration.

See `tests.privacy.heatmaps.transcripts` for how; audits by runs: `test_heatmap_audits`.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    ExactBudgets,
    IntegerCounts,
    adaptive_budgets,
    adaptive_budgets_exact,
    adaptive_quadtree,
    adaptive_tree,
    adaptive_tree_exact,
    from_grid,
    transcript_loss,
)
from tests.privacy.heatmaps.transcripts import Key, TranscriptAudit, counts_of, user

UNIT = Fraction(1, 2**40)
THRESHOLD = 2.0
"""Low, so that small numbers split; audits with it hold for all, as no proof uses it."""


class Audit(TranscriptAudit):
    """Two neighbours, and what the program may spend on telling them apart."""

    def __init__(
        self,
        one: list[int] | np.ndarray,
        other: list[int] | np.ndarray,
        budgets: ExactBudgets,
        resolution: int = 1,
        reused_noise: bool = False,
        set_truth: Callable[[IntegerCounts], None] = lambda counts: None,
    ) -> None:
        super().__init__(one, other, resolution)
        self.budgets, self.reused_noise, self.set_truth = budgets, reused_noise, set_truth

    def run(self, side: int, noisy: Callable[[Key], int]) -> tuple[Any, dict[Key, Fraction]]:
        """The transcript of one side if its noise makes these numbers, and all scales."""
        counts, scales = self.data[side], {}
        first: dict[tuple[int, int], tuple[int, Fraction]] = {}

        def noise(level, draw, cells, scale):
            drawn = []
            for cell, count in zip(cells.tolist(), counts.at(level, cells).tolist(), strict=True):
                scales[level, cell, draw] = scale
                if draw and self.reused_noise:
                    before, wide = first[level, cell]
                    drawn.append(math.floor(before * scale / wide))
                    continue
                drawn.append(noisy((level, cell, draw)) - count)
                first[level, cell] = drawn[-1], scale
            return np.array(drawn, object)

        self.set_truth(counts)
        return adaptive_tree_exact(counts, self.budgets, noise, THRESHOLD).noisy, scales

    def decides(self, key: Key) -> bool:
        """Whether a cell may be split by a number."""
        level, _, draw = key
        return draw == 0 and level < self.budgets.start + len(self.budgets.spent) - 1

    def stated(self, noisy: Any) -> Fraction | None:
        """The loss by `transcript_loss`, which does not know of noise that is used twice."""
        return None if self.reused_noise else transcript_loss(noisy, *self.data, self.budgets)


SMALL = adaptive_budgets_exact(Fraction(1), 0, 1)
DEEP = adaptive_budgets_exact(Fraction(1), 0, 2)


@pytest.mark.parametrize("seed", range(16))
def test_adding_or_removing_costs_epsilon_on_2x2(seed: int) -> None:
    """All transcripts: every number that changes a term or a decision, for the root every one."""
    rng = np.random.default_rng(seed)
    base, more = rng.integers(0, 3, 4), user(rng, 4, 1)
    pair = (base, base + more) if seed % 2 else (base + more, base)
    assert Audit(*pair, SMALL).largest(list(range(-3, 9))) == SMALL.epsilon == 1


@pytest.mark.parametrize("seed", range(24))
def test_fractional_users_cost_their_share_on_2x2(seed: int) -> None:
    """Users of total B cost ε, of less their share of it, in the paths of any one cell."""
    rng = np.random.default_rng(100 + seed)
    resolution = int(rng.integers(2, 7))
    total = resolution if seed % 3 else int(rng.integers(1, resolution + 1))
    base, more = rng.integers(0, 5, 4), user(rng, 4, total)
    found = Audit(base, base + more, SMALL, resolution).largest([-3, 1, 2, 5])
    assert found == SMALL.epsilon * Fraction(total, resolution)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_adding_or_removing_costs_epsilon_on_4x4(seed: int) -> None:
    """With decisions on siblings and parents: every cell of level 1 split or not, in company."""
    rng = np.random.default_rng(200 + seed)
    base, more = rng.integers(0, 2, 16), user(rng, 16, 1)
    audit, wide = Audit(base, base + more, DEEP), [7 if seed % 2 else 12]
    assert audit.largest(wide) == DEEP.epsilon == 1
    siblings = {
        tuple(cell for level, cell, draw, _ in noisy if level == 1 and draw)
        for noisy, _ in audit.transcripts(wide)
    }
    assert len(siblings) > 12  # of 16: which of the four are not split


def test_replacing_costs_what_the_proof_says() -> None:
    """From the root 2(ε − e₀), 1.4 ε; from level 1 on 2ε."""
    found = Audit([1, 0, 0, 0], [0, 0, 1, 0], SMALL).largest([-1, 6])
    assert found == 2 * SMALL.left[1] * UNIT
    assert found == pytest.approx(1.4, rel=1e-9)
    moved = np.eye(16, dtype=int)
    assert Audit(moved[0], moved[15], DEEP).largest([8]) == found
    lower = adaptive_budgets_exact(Fraction(1), 1, 2)
    assert Audit(moved[0], moved[15], lower).largest([8]) == 2


def test_enumeration_sees_a_stop_that_spends_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """r_i again and not r_{i+1}: e₀ + ε = 1.3 ε."""

    def wasteful(self: ExactBudgets, level: int, draw: int) -> Fraction:
        k = level - self.start
        return (self.left[k] if draw else self.spent[k]) * UNIT

    monkeypatch.setattr(ExactBudgets, "of", wasteful)
    found = Audit([0, 1, 0, 0], [0, 0, 0, 0], SMALL).largest([-1, 6])
    assert found == SMALL.epsilon + SMALL.spent[0] * UNIT
    assert found == pytest.approx(1.3, rel=1e-9)


def test_enumeration_sees_a_decision_on_the_exact_count(monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = "estimate * budgets", "truth(level, cells) * budgets"
    source = inspect.getsource(adaptive_quadtree)
    assert source.count(right) == 1
    mutant = ModuleType("mutant_of_the_adaptive_tree")
    monkeypatch.setitem(sys.modules, mutant.__name__, mutant)
    exec(source.replace(right, wrong), mutant.__dict__)
    monkeypatch.setattr(adaptive_quadtree, "grow", mutant.grow)  # type: ignore[attr-defined]

    def set_truth(counts: IntegerCounts) -> None:
        mutant.truth = counts.at  # type: ignore[attr-defined]

    pair = [2, 0, 0, 0], [3, 0, 0, 0]
    assert Audit(*pair, SMALL, set_truth=set_truth).largest([-1, 6]) == math.inf
    monkeypatch.undo()
    assert Audit(*pair, SMALL).largest([-1, 6]) == 1


def test_enumeration_sees_noise_that_is_used_twice() -> None:
    pair = [0, 1, 0, 0], [0, 0, 0, 0]
    assert Audit(*pair, SMALL, reused_noise=True).largest([-1, 6]) == math.inf


def test_neighbours_must_be_of_one_kind() -> None:
    for other, name in ((counts_of([0] * 16, 1), "level"), (counts_of([0] * 4, 2), "resolution")):
        with pytest.raises(ValueError, match=f"^neighbour: its {name}"):
            transcript_loss([], counts_of([0] * 4, 1), other, SMALL)


def test_densities_of_the_continuous_mechanism_differ_by_at_most_epsilon() -> None:
    """Of 200 pairs with users spread at random: the log-ratio at what was drawn, in full."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        grid, more = rng.gamma(0.1, 3, (16, 16)), rng.dirichlet(np.full(256, 0.05))
        one, other = from_grid(grid), from_grid(grid + more.reshape(16, 16))
        budgets, noise = adaptive_budgets(0.9, 1, 4), AdaptiveDemonstrationNoise(seed)
        loss = 0.0

        def read(level, draw, cells, one=one, other=other, noise=noise, budgets=budgets):
            nonlocal loss
            drawn, budget = noise(level, draw, cells), budgets.of(level, draw)
            moved = drawn + budget * (one.at(level, cells) - other.at(level, cells))
            loss += float(np.sum(np.abs(moved) - np.abs(drawn)))
            return drawn

        adaptive_tree(one, budgets, read, 3.0)
        assert abs(loss) <= 0.9 * (1 + 1e-9)
