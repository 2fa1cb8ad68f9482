"""Every preset says in a few letters how what comes out compares with its paper."""

from __future__ import annotations

import json

import numpy as np
import pytest

from explorer.privacy.coordinates.reports.mean import m_mean_variances
from explorer.privacy.user_metric import sorted_delta
from explorer.studies.base.help_page import Preset
from explorer.studies.base.verdicts import trend
from explorer.studies.coordinate_mean import figure3, help as coordinate_mean
from explorer.studies.heatmap.trends import FILLED, trends
from explorer.studies.itemwise import help as itemwise
from explorer.studies.registry import cards, get_study
from tests.studies import verdict_numbers
from tests.studies.preset_answers import PATH
from tests.studies.said.numbers import numbers_in

PRESETS = [
    pytest.param(card.id, item, id=f"{card.id}/{item.key}")
    for card in cards()
    for item in get_study(card.id).presets
]
ANSWERS = json.loads(PATH.read_text(encoding="utf-8"))["answers"]
SIMULATED = "_simulated"
"""Ends the keys of dots, which the kept answers leave out."""


@pytest.mark.parametrize(("study_id", "item"), PRESETS)
def test_a_preset_has_a_verdict(study_id: str, item: Preset) -> None:
    assert item.status in ("=", "≠", "+", "▷", "?")
    assert 0 < len(item.verdict) <= 28
    assert item.published or item.status == "+"
    assert item.computed


@pytest.mark.parametrize(("study_id", "item"), [p for p in PRESETS if p.values[1].curves])
def test_the_curves_of_a_figure_are_there_and_have_points(study_id: str, item: Preset) -> None:
    series = ANSWERS[f"{study_id}/{item.key}"]["series"]
    keys = [k.removesuffix(SIMULATED) for k in item.curves]
    assert set(keys) <= set(series)
    assert any(k.endswith(SIMULATED) for k in item.curves) <= bool(
        dict(item.values).get("simulate")
    )
    assert 2 <= len(item.curves) <= 5
    drawn = [k for k in keys if any(y != "nan" and y is not None for y in series[k]["y"])]
    assert len(drawn) >= 2


KEPT = json.loads(verdict_numbers.PATH.read_text(encoding="utf-8"))


def test_the_kept_numbers_are_what_is_computed() -> None:
    for name, numbers in verdict_numbers.cheap().items():
        assert KEPT[name] == pytest.approx(numbers, rel=1e-6), name


def test_a_judge_for_each_kept_preset() -> None:
    judges = {f"itemwise/{k}" for k in itemwise.JUDGES}
    judges |= {f"coordinate-mean/{k}" for k in coordinate_mean.JUDGES}
    assert set(KEPT) == judges | {f"heatmap/figure-{number}" for number in (1, 10, 11)}


def test_equation_7_is_proved_by_hops_in_increasing_order_alone() -> None:
    found = KEPT["itemwise/second-branch-broken"]
    assert found["paper"] == pytest.approx(13.3547, abs=1e-4)
    assert found["simple"] < found["exact"] < found["paper"] < found["sorted"]
    assert sorted_delta(50.0, found["paper"], 200, 10**9) <= 1e-9


def test_means_and_medians_of_figure_3_cross_apart() -> None:
    assert figure3.crossing(figure3.mean_error) == pytest.approx(0.0859, abs=1e-4)
    assert figure3.crossing(figure3.median_error) == pytest.approx(0.1751, abs=2e-4)
    normals = np.random.default_rng(3).standard_normal((100_000, figure3.D)) ** 2
    budget = figure3.paper_budget(0.175)
    variances = m_mean_variances(np.ones(figure3.D), budget) / figure3.USERS
    drawn = float(np.median(normals @ variances))
    assert figure3.median_error(budget, 0.175) == pytest.approx(drawn, rel=0.02)


def test_by_which_measures_figures_10_and_11_get_worse() -> None:
    assert trends("figure-10", "pyramid")["pearson"] == 1
    assert trends("figure-11", "pyramid") == {"emd": 0, "similarity": 0, "pearson": 1, "kl": 1}
    for figure in ("figure-10", "figure-11"):
        kl = [KEPT[f"heatmap/{figure}"][f"pyramid_kl_{share}"] for share in FILLED]
        assert min(kl) == kl[0]
        assert trends(figure, "laplace")["emd"] == trends(figure, "laplace")["kl"] == -1


def test_a_trend_needs_more_than_its_interval() -> None:
    assert trend((1.0, 0.5, 1.5), (1.6, 1.1, 2.1)) == 0
    assert trend((1.0, 0.9, 1.1), (1.6, 1.5, 1.7)) == 1
    assert trend((1.6, 1.5, 1.7), (1.0, 0.9, 1.1)) == -1


def test_a_verdict_follows_its_numbers() -> None:
    found = dict(KEPT["itemwise/second-branch-broken"])
    assert itemwise.JUDGES["second-branch-broken"](found)[0] == "≠"
    status, said = itemwise.JUDGES["second-branch-broken"](found | {"simple": 13.4, "sorted": 15.0})
    assert status == "="
    assert numbers_in(said) == ["15", "13.4"]
