"""What a map loses in words, and whether it is too noisy: for the curator only, at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import LossStatistics, loss_statistics
from explorer.studies.base.claims import headline_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Fidelity, Result
from explorer.studies.heatmap import losses, text
from explorer.studies.heatmap.public import public_result
from explorer.studies.registry import get_study
from tests import snapshots
from tests.studies.test_heatmap import FakeContext, FakeData, NoWorkerContext, answers, request_for

KEYS = ("loss", "loss_km", "spots_kept", "noise_level", "draws_failed", "bias")


@pytest.fixture(scope="module")
def context() -> FakeContext:
    return FakeContext(FakeData(200))


def at_rest(context: FakeContext, **values: object) -> list[Result]:
    return answers(request_for(fidelity=Fidelity.FULL, **values), context)


def test_the_sentence_is_that_of_the_statistics(context: FakeContext) -> None:
    result = at_rest(context, epsilon=2.0)[-1]
    truth, private = (result.surface(key).values for key in ("true", "private"))
    region = result.request.selection.region
    found = loss_statistics(truth, private, region.width_km, region.height_km)
    lost = result.readout("loss")
    assert lost.value == pytest.approx(found.wrong_share, rel=1e-5)
    assert result.readout("loss_km").value == pytest.approx(found.mean_km, rel=1e-5)
    assert lost.note.startswith(losses.loss_sentence(found))
    assert result.readout("loss_km").note == losses.misplaced_sentence(found.mean_km)
    kept = result.readout("spots_kept").value
    assert lost.note.endswith(
        f"{kept} of the 10 busiest areas (32 × 32 grid) are still in the top 10."
    )


@pytest.mark.parametrize(
    ("wrong", "sides", "said"),
    [
        (
            0.1267,
            (4.2, 4.21),
            "About 13 % of the activity is shown in the wrong cell (4.2 × 4.2 km).",
        ),
        (
            0.004,
            (12.6, 9.04),
            "About 0.4 % of the activity is shown in the wrong cell (13 × 9 km).",
        ),
        (0.0, (4.2, 4.2), "All of the activity is shown in the right cell (4.2 × 4.2 km)."),
    ],
)
def test_the_sentence_has_two_figures(wrong, sides, said) -> None:
    lost = LossStatistics((0.0, wrong), 1, sides, wrong, 3.11 * wrong, 3.11 if wrong else 0.0)
    assert losses.loss_sentence(lost) == said


@pytest.mark.full
def test_the_distance_in_squares_as_fine_as_the_map_is_the_map_s(context: FakeContext) -> None:
    """What is known is not solved for again, and is the same number."""
    rng = np.random.default_rng(1)
    truth = rng.random((16, 16))
    near = truth + 0.1 * rng.random((16, 16))
    solved = loss_statistics(truth, near, 2.0, 1.0)
    assert solved.level == 4
    assert loss_statistics(truth, near, 2.0, 1.0, 4, solved.emd_km) == solved
    assert loss_statistics(truth, near, 2.0, 1.0, 4, 0.5).emd_km == 0.5
    assert loss_statistics(truth, near, 2.0, 1.0, 3, 0.5).emd_km != 0.5


def test_busiest_squares_that_stay_are_counted() -> None:
    truth = np.zeros((32, 32))
    truth.ravel()[:12] = np.arange(12, 0, -1)
    assert losses.count_busiest_kept(truth, truth) == (10, 10)
    moved = truth.copy()
    moved[0, 2], moved[20, 20] = 0, 99
    assert losses.count_busiest_kept(truth, moved) == (9, 10)
    assert losses.count_busiest_kept(truth, np.ones((32, 32))) == (0, 10)  # a grey map shows none
    few = np.zeros((64, 64))
    few[:2, :2], few[40, 40] = 1, 1
    assert losses.count_busiest_kept(few, few) == (2, 2)


def test_a_map_at_a_tiny_epsilon_is_too_noisy_and_at_a_large_one_is_not() -> None:
    few = FakeContext(FakeData(20))
    bad = at_rest(few, epsilon=0.01)[-1]
    assert bad.readout("noise_level").note == losses.TOO_NOISY
    assert bad.readout("draws_failed").value >= 7
    assert "at most .0024" in bad.readout("draws_failed").note.replace("0.0024", ".0024")
    good = at_rest(FakeContext(FakeData(200)), epsilon=10.0)[-1]
    assert good.readout("draws_failed").value == 0
    assert good.readout("noise_level").note == ""
    assert 0 < good.readout("noise_level").value < 0.2


def test_the_verdict_has_its_two_thresholds() -> None:
    def said(*drawn: float) -> str:
        return losses._verdict(1.0, drawn)[0].note

    assert said(*[1.0] * 7, *[0.1] * 13) == losses.TOO_NOISY
    assert said(*[1.0] * 6, *[0.1] * 14) == ""
    assert said(*[0.5] * 20).startswith("Very noisy: 50 % of a uniform map's error")
    assert said(*[0.499] * 20) == ""


def test_draws_are_those_of_the_seeds_that_follow(context: FakeContext) -> None:
    """The map of the next seed shares 19 of its 20 draws; the first is the map shown."""
    fixed = {"epsilon": 0.5, "resolution": 32}
    one, two = (at_rest(context, seed=seed, **fixed)[-1] for seed in (5, 6))
    asked = [result.request.with_value("beside", "") for result in (one, two)]
    kept = [context.kept["heatmap draws", request] for request in asked]
    assert kept[0][3:] == kept[1][2:-1]
    assert kept[0][0] == kept[1][0]
    assert one.readout("emd").value == pytest.approx(kept[0][2], rel=1e-6)
    assert two.readout("emd").value == pytest.approx(kept[0][3], rel=1e-6)
    # Convexity: the mean map is no farther off than draws are on average.
    bias = one.readout("bias")
    assert 0 < bias.value == kept[0][1] <= np.mean(kept[0][2:])
    snapshots.check(bias.note)


def test_it_comes_after_the_picture_and_not_while_a_slider_moves(context: FakeContext) -> None:
    assert not set(KEYS) & {r.key for r in answers(request_for(), context)[-1].readouts}
    results = at_rest(context, resolution=32)
    assert [r.final for r in results] == [False] * (len(results) - 1) + [True]
    assert all((r.fidelity is Fidelity.FULL) == r.complete for r in results)
    first = next(i for i, r in enumerate(results) if "loss" in {x.key for x in r.readouts})
    assert all("loss" in {x.key for x in r.readouts} for r in results[first:])
    assert {"loss", "draws compared"} <= set(results[-1].timings_ms)


def test_the_exact_distance_is_added_to_a_complete_answer(context: FakeContext) -> None:
    """Only numbers of distances change once the answer is complete."""
    results = at_rest(context, resolution=128, seed=11)
    at = next(i for i, r in enumerate(results) if r.complete)
    complete, final = results[at], results[-1]
    assert {r.coming for r in results[:at]} == {""}
    assert {r.coming for r in results[at:-1]} == {text.EXACT_COMING}
    assert all(r.complete for r in results[at:])
    assert complete.readout("emd_km").value is complete.readout("loss_km").value is None
    assert {"noise_level", "draws_failed", "bias"} <= {r.key for r in complete.readouts}
    assert final.final
    assert final.readout("emd_km").role is Role.EXACT
    assert final.readout("loss_km").value > 0
    changed = {
        one.key
        for one, other in zip(complete.readouts, final.readouts, strict=True)
        if one != other
    }
    assert changed == {"emd", "emd_km", "loss_km"}
    assert all(a.values is b.values for a, b in zip(complete.surfaces, final.surfaces, strict=True))
    for one in ("fidelity", "tables", "conditions", "guarantee", "notes", "stamp"):
        assert getattr(complete, one) == getattr(final, one)
    study = get_study("heatmap")
    assert headline_of(study, complete, None) == headline_of(study, final, None)


def test_the_sentence_stays_from_the_first_answer_to_the_last(context: FakeContext) -> None:
    results = at_rest(context, resolution=128, epsilon=8.0)
    notes = {x.note for r in results for x in r.readouts if x.key == "loss"}
    assert len(notes) == 1


def test_nothing_of_it_leaves_with_a_private_map(context: FakeContext) -> None:
    last = at_rest(context, resolution=32)[-1]
    assert all(last.readout(key).curator_only for key in KEYS)
    shown = public_result(last)
    assert not set(KEYS) & {r.key for r in shown.readouts}
    words = " ".join((*shown.notes, *(r.note for r in shown.readouts)))
    assert "wrong" not in words
    assert "draws" not in words


def test_slow_ones_are_not_judged(context: FakeContext) -> None:
    last = at_rest(context, mechanism="pyramid", backend="cvxpy", resolution=16)[-1]
    assert "noise_level" not in {x.key for x in last.readouts}
    assert last.readout("draws_failed").note == losses.TOO_SLOW
    assert "is shown in the" in last.readout("loss").note


def test_without_a_worker_only_the_sentence_and_without_a_truth_nothing() -> None:
    request = request_for(fidelity=Fidelity.FULL, resolution=64)
    alone = answers(request, NoWorkerContext(FakeData()))[-1]
    assert alone.final
    assert set(KEYS[:3]) == set(KEYS) & {r.key for r in alone.readouts}
    assert alone.readout("loss_km").value is None  # neither drawn again nor solved for
    data = FakeData(users=1)
    data._all = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    empty = answers(replace(request, seed=1), FakeContext(data))[-1]
    assert empty.complete
    assert not set(KEYS) & {r.key for r in empty.readouts}


def test_coarse_maps_need_no_worker() -> None:
    request = request_for(fidelity=Fidelity.FULL, resolution=32)
    alone, usual = (answers(request, c(FakeData()))[-1] for c in (NoWorkerContext, FakeContext))
    assert alone.final
    assert set(KEYS) <= {r.key for r in alone.readouts}
    assert alone.readouts == usual.readouts


def test_the_answer_in_front_tells_what_the_metrics_know_and_nothing_of_a_private_map(
    context: FakeContext,
) -> None:
    study = get_study("heatmap")
    seen = [(result, headline_of(study, result, None)) for result in at_rest(context, epsilon=2.0)]
    assert any(answer is not None and " … " in answer.number for _, answer in seen)
    result, answer = seen[-1]
    far = result.readout("emd_blocks_km").value
    assert answer.number == f"≈ {nearest(far, 3)} km"
    assert answer.curator_only
    assert answer.text.startswith("Average error of this one noisy map (adaptive quadtree, ε = 2)")
    assert headline_of(study, public_result(result), None) is None
    moved = at_rest(context, mechanism="planar-laplace")[-1]
    assert "Utility" not in headline_of(study, moved, None).text  # its ε is no other's
