"""The adaptive quadtree as the map's mechanism: its numbers, refusals, what may be published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.studies.base.study import Fidelity, Origin, Result, default_request, preset_request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.mechanisms import EXPECT_LITTLE
from explorer.studies.heatmap.public import public_result
from explorer.studies.heatmap.study import HeatmapStudy
from tests import snapshots
from tests.studies.test_heatmap import FakeContext, FakeData, answers, request_for


def blocks(result: Result, size: int) -> np.ndarray:
    values = result.surface("private").values.astype(float)
    n = len(values) // size
    return values.reshape(n, size, n, size).sum(axis=(1, 3))


def test_it_is_first_and_the_default() -> None:
    request = default_request(HeatmapStudy())
    assert request["mechanism"] == "adaptive"
    assert HeatmapStudy.presets[0].key == "adaptive"
    for preset in HeatmapStudy.presets:
        assert "mechanism" in dict(preset.values), preset.key
        assert preset_request(HeatmapStudy(), preset)["mechanism"]


def test_a_file_without_a_mechanism_means_the_former_default() -> None:
    """What was written when there was one algorithm, or only its default."""
    raw = Recipe(default_request(HeatmapStudy())).to_dict()
    assert recipe_from_dict(raw).request["mechanism"] == "adaptive"
    del raw["values"]["mechanism"]
    assert recipe_from_dict(raw).request["mechanism"] == "pyramid"


@pytest.mark.parametrize(("rho", "tau"), [(0.1, 6.2), (0.2, 2.7)])
def test_a_threshold_too_low_for_the_share_is_refused_with_a_remedy(rho: float, tau: float) -> None:
    """An empty cell would have one split quarter or more: 2·exp(−τρ/(1−ρ)) ≥ 1."""
    with pytest.raises(ValueError, match=r"^tau: τ = .* is too") as error:
        answers(request_for(rho=rho, tau=tau))
    snapshots.check(error.value)
    assert answers(request_for(rho=rho, tau=1.1 * tau))[-1].complete
    assert answers(request_for(rho=rho, tau=tau, q=2, L=2))[-1].complete  # nothing is split


def test_levels_are_those_asked_for_and_no_deeper_than_the_map() -> None:
    def levels(**values: int) -> list[str]:
        found = answers(request_for(resolution=32, **values))[-1].readouts
        return [r.key for r in found if r.key.startswith("epsilon_level_")]

    assert levels() == [f"epsilon_level_{i}" for i in range(2, 6)]
    assert levels(q=1, L=3) == [f"epsilon_level_{i}" for i in range(1, 4)]
    assert levels(q=6, L=1) == ["epsilon_level_1"]


def test_it_reads_cells_twice_or_splits_them_and_counts_what_it_reads() -> None:
    """Only the 16 cells of the start level exist, and each is read once: all of ε at once."""
    last = answers(request_for(L=2))[-1]
    assert last.readout("cells_read").value == 16
    # None is split below an unreachable threshold: one of two readings each, down to level 2.
    high = answers(request_for(tau=100.0, epsilon=0.01))[-1]
    assert high.readout("cells_read").value == 32


def test_users_are_estimated_from_noisy_counts() -> None:
    last = answers(request_for(epsilon=20.0), FakeContext(FakeData(300)))[-1]
    assert last.readout("noisy_users").value == pytest.approx(300, abs=5)
    assert not last.readout("noisy_users").curator_only


@pytest.mark.full
def test_a_large_map_is_smoothed_at_rest() -> None:
    """Same noisy counts: cells that were not split keep their mass, and only the inside changes."""
    context = FakeContext(FakeData(200))
    fixed = {"resolution": 256, "sigma": 0.0, "epsilon": 2.0}
    moving = answers(request_for(**fixed), context)[0]
    resting = answers(request_for(fidelity=Fidelity.FULL, **fixed), context)[0]
    flat, smooth = (r.surface("private").values for r in (moving, resting))
    assert len(np.unique(flat)) < len(np.unique(smooth)) / 4
    np.testing.assert_allclose(blocks(moving, 64), blocks(resting, 64), atol=2e-6)


def test_whether_it_can_be_told_from_a_flat_map_may_be_published() -> None:
    clear = answers(request_for(epsilon=20.0), FakeContext(FakeData(300)))[-1]
    shown = public_result(clear)
    assert shown.readout("flatness").value > 87.8
    assert text.NOT_FLAT in shown.notes
    lost = answers(request_for(epsilon=0.01), FakeContext(FakeData(5)))[-1]
    assert lost.readout("flatness").value < 87.8
    assert text.MAYBE_FLAT in public_result(lost).notes
    # No threshold is known for other start levels: nothing is said.
    without = answers(request_for(q=0))[-1]
    assert not {text.NOT_FLAT, text.MAYBE_FLAT} & set(without.notes)
    assert "flatness" not in {r.key for r in without.readouts}


def test_an_even_map_is_called_uneven_in_one_percent_of_draws() -> None:
    """An empty region: only noise enters. 400 draws; more than 14 have a chance of 4·10⁻⁶."""
    data = FakeData(1)
    data._all = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    context = FakeContext(data)
    told = 0
    for seed in range(400):
        first = next(HeatmapStudy().answer(request_for(seed=seed, resolution=16), context))
        told += text.NOT_FLAT in first.notes
    assert told <= 14


def test_the_recommendation_takes_public_numbers_alone() -> None:
    study = HeatmapStudy()
    chosen = study.advice(default_request(study))
    assert (chosen.key, chosen.value, chosen.caution) == ("mechanism", "adaptive", "")
    snapshots.check(chosen.reason)
    assert study.advice(default_request(study, mechanism="pyramid")) == chosen


def test_too_small_an_epsilon_for_the_assumed_users_is_said() -> None:
    """Below ε·n₀ = 20, with the number it is said for; n₀ from the data's own count is not told."""
    study = HeatmapStudy()
    few = request_for(epsilon=0.09)
    snapshots.check(study.advice(few).caution)
    assert not study.advice(request_for(epsilon=0.1)).caution
    assert not study.advice(request_for(epsilon=0.09, n0=300)).caution
    sampled = request_for(users=50, epsilon=0.3)
    assert "50 users asked for" in study.advice(sampled).caution
    said = answers(few)[-1]
    assert EXPECT_LITTLE in said.notes
    assert EXPECT_LITTLE in public_result(said).notes
    counted = replace(few, selection=replace(few.selection, n0_from=Origin.EXTENT))
    assert EXPECT_LITTLE not in public_result(answers(counted)[-1]).notes
