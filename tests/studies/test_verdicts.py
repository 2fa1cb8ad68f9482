"""Every preset says in a few letters how what comes out compares with its paper."""

from __future__ import annotations

import json

import numpy as np
import pytest

from explorer.privacy.coordinates.mean import m_mean_variances
from explorer.privacy.user_metric import sorted_delta
from explorer.studies.base.help_page import preset_numbers, trend
from explorer.studies.coordinate_mean.simulation import (
    USERS,
    D,
    crossing,
    mean_error,
    median_error,
    paper_budget,
)
from explorer.studies.heatmap.help import FILLED, trends
from explorer.studies.registry import get_study, study_infos
from tests.studies import verdict_numbers
from tests.studies.preset_answers import PATH
from tests.studies.said.numbers import numbers_in

PRESETS = [(info.id, item) for info in study_infos() for item in get_study(info.id).presets]
ANSWERS = json.loads(PATH.read_text(encoding="utf-8"))["answers"]
SIMULATED = "_simulated"
"""Ends the keys of dots, which the kept answers leave out."""


@pytest.mark.full
def test_every_preset_has_a_verdict() -> None:
    failures = [
        (study_id, item.key)
        for study_id, item in PRESETS
        if item.status not in ("=", "≠", "+", "▷", "?")
        or not 0 < len(item.verdict) <= 28
        or not (item.published or item.status == "+")
        or not item.computed
    ]
    assert not failures


def test_the_curves_of_a_figure_are_there_and_have_points() -> None:
    failures = []
    for study_id, item in PRESETS:
        name = f"{study_id}/{item.key}"
        if not item.key.startswith("figure") or name not in ANSWERS or name in NOT_JUDGED:
            continue
        series = ANSWERS[f"{study_id}/{item.key}"]["series"]
        keys = [k.removesuffix(SIMULATED) for k in item.curves]
        known = [k for k in keys if k in series]
        drawn = [k for k in known if any(y != "nan" and y is not None for y in series[k]["y"])]
        simulated = any(k.endswith(SIMULATED) for k in item.curves)
        if (
            len(known) < len(keys)
            or len(drawn) < 2
            or not 2 <= len(keys) <= 5
            or (simulated and not dict(item.values).get("simulate"))
        ):
            failures.append((study_id, item.key))
    assert not failures


NOT_JUDGED = {f"heatmap/figure-{number}" for number in (4, 5, 6, 7)} | {
    "cldp-sgd/figure-5a-mnist",
    "cldp-sgd/figure-5b-mnist",
}
"""They need files of the user's, and say so."""
BY_EXPERIMENT = {f"heatmap/figure-{number}" for number in (1, 10, 11)}
KEPT = {
    name: preset_numbers(*name.split("/"))
    for name in json.loads(verdict_numbers.PATH.read_text(encoding="utf-8"))
}


@pytest.mark.full
def test_the_kept_numbers_are_what_is_computed() -> None:
    for name, numbers in verdict_numbers.cheap().items():
        assert KEPT[name] == pytest.approx(numbers, rel=1e-6, abs=1e-9), name


def test_each_preset_is_judged_or_needs_files() -> None:
    presets = {f"{study_id}/{item.key}" for study_id, item in PRESETS}
    assert set(KEPT) == set(verdict_numbers.JUDGES) | BY_EXPERIMENT
    assert set(KEPT) == presets - NOT_JUDGED


def test_equation_7_is_proved_by_hops_in_increasing_order_alone() -> None:
    found = KEPT["itemwise/second-branch-broken"]
    assert found["paper"] == pytest.approx(13.3547, abs=1e-4)
    assert found["simple"] < found["exact"] < found["paper"] < found["sorted"]
    assert sorted_delta(50.0, found["paper"], 200, 10**9) <= 1e-9


def test_means_and_medians_of_figure_3_cross_apart() -> None:
    assert crossing(mean_error) == pytest.approx(0.0859, abs=1e-4)
    assert crossing(median_error) == pytest.approx(0.1751, abs=2e-4)
    normals = np.random.default_rng(3).standard_normal((100_000, D)) ** 2
    budget = paper_budget(0.175)
    variances = m_mean_variances(np.ones(D), budget) / USERS
    drawn = float(np.median(normals @ variances))
    assert median_error(budget, 0.175) == pytest.approx(drawn, rel=0.02)


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


@pytest.mark.parametrize(
    ("name", "changed", "status", "said"),
    [
        ("itemwise/second-branch-broken", {"simple": 13.4, "sorted": 15.0}, "=", ["15", "13.4"]),
        ("shuffle-rdp/figure-2b", {"lower_rdp": 0.02}, "=", []),
        ("shuffle-rdp/figure-5b", {"clones_numerical": 18.0}, "=", ["18.3", "18"]),
        ("amplification/published-bracket", {"exact_2021": 0.18}, "≠", ["0.18"]),
        ("amplification/small-eps0", {"exact_2023": 0.06}, "≠", ["0.06", "0.05301"]),
        ("histograms/table-2", {"separation[3,3]": 640.0}, "≠", ["640"]),
        ("cldp-sgd/theorem-3-convergence", {"remark": 100.0}, "=", []),
        ("choose-alpha/printed", {"alpha": 25.2}, "=", ["25.2"]),
        ("linear-queries/width", {"printed": 1e-13}, "=", ["1e-13", "1e-12"]),
        ("frequency/local", {"edge": 5.5}, "=", ["5.5", "5.48"]),
        ("unbounded/draws", {"printed s=3454": 20.0}, "=", ["1.2"]),
        ("coordinate-mean/beliefs", {"proposition4": 0.3}, "≠", ["0.2"]),
        ("coordinate-learnt/example1-limits", {"bcdp m11=1.0": 3.0}, "=", ["1"]),
        ("private-regression/baseline", {"median": 1e-9}, "≠", None),
        ("heatmap/figure-9", {"pyramid": 0.6}, "≠", None),
        ("heatmap-theory/figure-12", {"printed": 10.0}, "=", ["10", "11.32"]),
        ("users-data/local", {"rmse": 0.1}, "≠", None),
    ],
)
def test_a_verdict_follows_its_numbers(name, changed, status, said) -> None:
    judge, found = verdict_numbers.JUDGES[name], dict(KEPT[name])
    assert set(changed) <= set(found)
    assert judge(found)[0] != status
    verdict = judge(found | changed)
    assert verdict[0] == status
    assert said is None or numbers_in(verdict[1]) == said
