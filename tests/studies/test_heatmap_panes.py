"""What stands beside the private map: other mechanisms, the difference, and how draws vary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Selection,
    all_sides,
    default_request,
    parameter,
    preset_request,
    relevant,
)
from explorer.studies.heatmap import text
from explorer.studies.heatmap.draws import DRAWS, SHOWN_AFTER
from explorer.studies.heatmap.parameters import CHOICES, MOST, is_private, pane_keys
from explorer.studies.heatmap.public import public_result
from explorer.studies.heatmap.study import HeatmapStudy
from tests import snapshots
from tests.studies.test_heatmap import REGION, FakeContext, FakeData, answers, request_for

EVERYTHING = "true,least-squares,difference,error,p90"


def test_the_true_map_stands_beside_by_default_and_comes_first() -> None:
    assert default_request(HeatmapStudy())["beside"] == "true"
    assert pane_keys("true") == ("true", "private")
    assert pane_keys("") == ("private",)
    assert pane_keys("difference,least-squares,true") == (
        "true",
        "private",
        "difference",
        "private:least-squares",
    )


def test_names_are_checked_and_counted() -> None:
    p = parameter(HeatmapStudy(), "beside")
    assert p.parse(" true , error,true,") == "true,error"
    with pytest.raises(ValueError, match="beside: 'nothing' is") as error:
        p.parse("true,nothing")
    snapshots.check(error.value)
    names = [name for name, _ in CHOICES]
    assert p.parse(",".join(names[:MOST])).count(",") == MOST - 1
    with pytest.raises(ValueError, match=r"6 are more than 5"):
        p.parse(",".join(names[: MOST + 1]))


def test_a_recipe_without_the_parameter_shows_the_true_map() -> None:
    raw = Recipe(request_for(beside="error")).to_dict()
    assert recipe_from_dict(raw).request["beside"] == "error"
    del raw["values"]["beside"]
    assert recipe_from_dict(raw).request["beside"] == "true"


def test_every_map_is_that_of_its_mechanism_alone_with_the_same_draw() -> None:
    first = answers(request_for(beside="true,least-squares,laplace,difference"))[0]
    assert [s.key for s in first.surfaces] == [
        "true",
        "private",
        "private:least-squares",
        "private:laplace",
        "difference",
    ]
    for mechanism in ("least-squares", "laplace"):
        alone = answers(request_for(mechanism=mechanism))[0].surface("private")
        beside = first.surface(f"private:{mechanism}")
        np.testing.assert_array_equal(beside.values, alone.values)
        assert beside.label == alone.label
        assert not beside.curator_only
    off = first.surface("private").values - first.surface("true").values
    np.testing.assert_array_equal(first.surface("difference").values, off)
    assert first.surface("difference").diverging
    assert first.surface("difference").curator_only


def test_a_map_that_may_fail_says_its_delta() -> None:
    labels = {s.key: s.label for s in answers(request_for(beside="gaussian"))[0].surfaces}
    assert "δ = " in labels["private:gaussian"]
    assert "δ" not in labels["private"]


def test_the_error_is_the_spread_of_the_draws_from_this_seed_on() -> None:
    request = request_for(beside="error,p10,p50,p90", fidelity=Fidelity.FULL, resolution=32)
    results = answers(request)
    assert "error" not in {s.key for s in results[0].surfaces}
    labels = {s.label for r in results for s in r.surfaces if s.key == "error"}
    assert labels == {text.of_draws_label("error", n) for n in SHOWN_AFTER}
    pictures = [
        answers(request_for(seed=request.seed + i, resolution=32))[0].surface("private").values
        for i in range(DRAWS)
    ]
    last = results[-1]
    assert last.complete
    np.testing.assert_allclose(
        last.surface("error").values, np.std(pictures, axis=0, ddof=1), rtol=1e-4, atol=1e-9
    )
    for name, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9)):
        np.testing.assert_allclose(
            last.surface(name).values, np.quantile(pictures, share, axis=0), rtol=1e-5, atol=1e-9
        )
        assert last.surface(name).curator_only
    assert text.NO_BIAS in last.notes


def test_a_coarse_answer_has_no_draws_and_all_mechanisms() -> None:
    last = answers(request_for(beside=EVERYTHING))[-1]
    assert last.complete
    assert [s.key for s in last.surfaces] == [
        "true",
        "private",
        "private:least-squares",
        "difference",
    ]


def test_noise_of_the_draws_is_not_kept() -> None:
    context = FakeContext(FakeData())
    answers(request_for(mechanism="laplace"), context)
    before = len(context.kept)
    request = request_for(mechanism="laplace", beside="true,error", fidelity=Fidelity.FULL)
    answers(request, context)
    assert len(context.kept) < before + DRAWS


def test_every_further_map_has_its_distance() -> None:
    """The same number as if it were the only one; the distances are computed once."""
    context = FakeContext(FakeData())
    request = request_for(beside="true,laplace", fidelity=Fidelity.FULL)
    last = answers(request, context)[-1]
    found = last.readout("emd_km:laplace")
    alone = answers(request_for(mechanism="laplace", fidelity=Fidelity.FULL))[-1]
    assert found.curator_only
    assert found.value == pytest.approx(alone.readout("emd_km").value)
    ran = list(context.ran)
    again = answers(request_for(beside="laplace,error", fidelity=Fidelity.FULL), context)[-1]
    assert context.ran == ran
    assert again.readout("emd_km:laplace").value == found.value
    assert again.readout("emd").value == last.readout("emd").value


def test_without_check_ins_draws_are_shown_and_the_answer_ends() -> None:
    data = FakeData(users=1)
    data._all = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    for beside in ("true", EVERYTHING):
        request = request_for(beside=beside, fidelity=Fidelity.FULL, resolution=32)
        results = answers(request, FakeContext(data))
        assert [r.complete for r in results] == [False] * (len(results) - 1) + [True]
        assert {s.key for s in results[-1].surfaces} == set(pane_keys(beside))


def test_maps_shown_together_say_that_one_is_to_be_published() -> None:
    said = text.SHOWN_TOGETHER.format(n=3)
    assert said in answers(request_for(beside="laplace,least-squares"))[-1].notes
    assert not any(
        "Publish one" in note for note in answers(request_for(beside="true,error"))[-1].notes
    )


def test_only_private_maps_are_published() -> None:
    request = request_for(beside=EVERYTHING, fidelity=Fidelity.FULL, resolution=32)
    selection = Selection("f" * 64, REGION, region_from=all_sides(Origin.TYPED))
    result = answers(replace(request, selection=selection))[-1]
    public = public_result(result)
    assert [s.key for s in public.surfaces] == ["private", "private:least-squares"]
    assert all(is_private(s.key) and not s.curator_only for s in public.surfaces)
    assert public.request["beside"] == EVERYTHING  # a setting: it says nothing of the check-ins
    assert not any(r.key.startswith("emd") for r in public.readouts)
    assert text.SHOWN_TOGETHER.format(n=2) in public.notes
    assert public.surface("private:least-squares").label == (
        text.pane_label(request.with_value("mechanism", "least-squares"))
    )


def test_what_a_further_map_needs_is_shown_and_stands_in_the_conditions() -> None:
    for key, mechanism in (("n0", "least-squares"), ("delta", "gaussian"), ("w", "capped")):
        p = parameter(HeatmapStudy(), key)
        alone = {"mechanism": "laplace", "beside": "true,error"}
        assert not relevant(p, alone, "")
        assert relevant(p, {**alone, "beside": f"true,{mechanism}"}, "")
    request = request_for(mechanism="laplace", beside="gaussian")
    said = [c.text for c in answers(request)[0].conditions]
    assert any(text.startswith("ε, δ, Δ, σ, p, k were chosen") for text in said)


def test_what_stands_beside_makes_a_papers_figure_no_other() -> None:
    study = HeatmapStudy()
    paper = next(p for p in study.presets if p.published)
    request = preset_request(study, paper)
    users = Selection("f" * 64, REGION, users=paper.users)
    for beside in ("true", "error"):
        asked = replace(request.with_value("beside", beside), selection=users)
        conditions = answers(replace(asked, fidelity=Fidelity.COARSE))[0].conditions
        assert any(c.margin == "as in a paper's figure" for c in conditions)
