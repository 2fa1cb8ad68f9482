"""Curves of an experiment's report, verdicts on what the paper says, and points of one's own."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.figures.pages.experiment import FORMATS, experiment_picture
from explorer.geography.region import Region
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.simulation import student_95
from explorer.studies.heatmap.experiments.figures import FIGURES, Figure, figure_points, verdicts
from explorer.studies.heatmap.experiments.plan import Point, Row, Trials
from explorer.studies.heatmap.experiments.report_curves import (
    drawn_panels,
    read_points,
    report_table,
)
from explorer.studies.heatmap.experiments.samples import Gazes, Place, place_of, plane_places
from explorer.studies.heatmap.experiments.trial import MEASURES, TrialValues
from explorer.studies.heatmap.help import figure_1_leads, figure_1_verdict
from tests.studies.test_experiments import key_of

PLACES = [Place("one"), Place("two")]


def trials_of(
    figure: Figure, mechanisms: tuple[str, ...] = ("pyramid", "laplace", "top")
) -> Trials:
    """The trials of a figure, which nobody has counted samples for."""
    where = [(place, Gazes()) for place in PLACES]
    points = figure_points(figure, where, mechanisms, figure.draws, {})

    def row(point: Point) -> Row:
        trials = tuple(
            {
                "counts": "",
                "region": point.place.name,
                "draw": draw,
                "values": {"epsilon": 1.0, "sigma": 0.02, **point.values},
                "users": point.users,
            }
            for draw in range(point.draws)
        )
        return Row(point, trials, point.users or 0)

    return Trials.of([row(point) for point in points], key_of)


def found_by(trials: Trials, value: Any) -> dict[str, TrialValues]:
    """Results: the value of mechanism, x and run for every measure."""
    found = {}
    for row in trials.rows:
        for trial in row.trials:
            number = value(trial["values"]["mechanism"], row.point.x, trial)
            found[key_of(trial)] = dict.fromkeys(MEASURES, number)
    return found


def document_of(name: str, trials: Trials, found: dict[str, TrialValues]) -> dict[str, Any]:
    about = {"schema": "privacy-explorer-experiment/1", "experiment": name, "stamp": "made"}
    judged = verdicts(FIGURES[name], trials, found) if name in FIGURES else []
    return about | {"settings": {}, **trials.report(found), "verdicts": judged}


SMALL = replace(FIGURES["figure-1"].with_values({"epsilon": (0.1, 1.0)}), draws=2)


def test_pooled_means_have_students_interval_over_all_runs() -> None:
    trials = trials_of(SMALL, ("pyramid",))
    runs = iter([1.0, 2.0, 3.0, 6.0, 5.0, 5.0, 5.0, 5.0])
    pooled = trials.report(found_by(trials, lambda *_: next(runs)))["pooled"]
    first, second = pooled
    half = student_95(3) * np.std([1, 2, 3, 6], ddof=1) / 2
    assert (first["x"], first["runs"], first["emd"]) == (0.1, 4, 3.0)
    assert (first["kl_low"], first["kl_high"]) == pytest.approx((max(3 - half, 0), 3 + half))
    assert (second["emd"], second["emd_low"], second["emd_high"]) == (5.0, 5.0, 5.0)


def test_thresholds_are_curves_of_their_own() -> None:
    trials = trials_of(SMALL)
    document = document_of("figure-1", trials, found_by(trials, lambda *_: 0.5))
    panels = drawn_panels(document)
    assert [panel.measure for panel in panels] == ["emd", "similarity", "pearson", "kl"]
    assert [s.key for s in panels[0].series] == ["pyramid", "laplace", "top-0.01", "top-0.001"]
    assert all(s.x.tolist() == [0.1, 1.0] for s in panels[0].series)
    columns, rows = report_table(document)
    assert len(rows) == 8
    assert all(len(row) == len(columns) for row in rows)


def test_each_measure_is_judged() -> None:
    """An error that is smaller is a similarity that is worse; ties are told as such."""
    trials = trials_of(SMALL, ("pyramid", "laplace"))

    def value(mechanism: str, x: float, trial: dict[str, Any]) -> float:
        wobble = 0.01 * float(trial["draw"])
        if mechanism == "laplace":
            return 0.5 + wobble
        # Ahead at ε = 1, behind at ε = .1, by more than what differs between runs.
        return (0.3 if x == 1.0 else 0.7) + wobble + (0.001 if trial["region"] == "one" else 0)

    judged = verdicts(SMALL, trials, found_by(trials, value))
    assert [row["measure"] for row in judged] == ["emd", "similarity", "pearson", "kl"]
    assert {row["verdict"] for row in judged} == {"differs"}
    texts = {row["measure"]: str(row["text"]) for row in judged}
    assert "worse at ε = 0.1" in texts["kl"]
    assert "better at ε = 1" in texts["kl"]
    assert "better at ε = 0.1" in texts["similarity"]

    ahead = found_by(trials, lambda m, *_: 0.2 if m == "pyramid" else 0.5)
    by = {row["measure"]: row["verdict"] for row in verdicts(SMALL, trials, ahead)}
    assert by == {"emd": "agrees", "similarity": "differs", "pearson": "differs", "kl": "agrees"}
    noise = iter(np.random.default_rng(1).normal(size=100))
    level = verdicts(SMALL, trials, found_by(trials, lambda *_: float(next(noise))))
    assert all(row["verdict"] in ("open", "differs") for row in level)


@pytest.mark.parametrize(
    ("end", "verdict"),
    [(0.9, "agrees"), (0.1, "differs"), (0.505, "open")],
)
def test_trends_are_judged_between_the_first_and_the_last_x(end: float, verdict: str) -> None:
    figure = replace(FIGURES["figure-5"].with_values({"resolution": ("64", "512")}), draws=3)
    trials = trials_of(figure, ("laplace",))
    judged = verdicts(
        figure,
        trials,
        found_by(trials, lambda _, x, t: (0.5 if x == 64 else end) + 0.01 * t["draw"]),
    )
    by = {row["measure"]: row["verdict"] for row in judged}
    assert by["emd"] == verdict


def test_figures_take_other_values_where_they_have_a_place() -> None:
    first = FIGURES["figure-1"].with_values({"epsilon": (0.3, 3.0), "resolution": ("64",)})
    assert first.panels[0].xs == (0.3, 3.0)
    assert first.panels[0].settings(0.3) == (200, {"resolution": "64", "epsilon": 0.3})
    by_users, by_side = FIGURES["figure-2"].with_values({"users": (30, 60)}).panels
    assert (by_users.xs, by_side.settings(64)[0]) == ((30, 60), 200)
    shuffled = FIGURES["figure-13"].with_values({"users": (80,), "B": (2, 4)}).panels[0]
    assert shuffled.settings(4)[1]["n0"] == 80
    with pytest.raises(ValueError, match="epsilon: 2 values"):
        FIGURES["figure-4"].with_values({"epsilon": (1.0, 2.0)})
    with pytest.raises(ValueError, match="all"):
        FIGURES["figure-4"].with_values({"users": (None,)})
    assert [panel.xs for panel in FIGURES["figure-5"].panels] == [(64, 128, 256, 512)]


@pytest.mark.full
@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if fmt != "png"])
def test_pictures_of_a_report_are_the_same_again(fmt: str) -> None:
    trials = trials_of(SMALL)
    found = found_by(trials, lambda m, x, t: 0.1 * len(m) / x + 0.01 * t["draw"])
    document = document_of("figure-1", trials, found)
    picture = experiment_picture(document, fmt, size_px=(520, 366))
    assert picture == experiment_picture(document, fmt, size_px=(520, 366))
    assert len(picture) > 5000
    with pytest.raises(ValueError, match="pixels"):
        experiment_picture(document, fmt, size_px=(20, 20))


@pytest.mark.full
def test_points_of_ones_own_are_runs_where_their_x_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("name,x,emd,kl,kl_low,kl_high\na,1,.2,2,1,3\na,1,.4,,,\na,2,.5,4,,\n")
    by = {own.measure: own for own in read_points(file)}
    half = student_95(1) * 0.1
    (x, mean, low, high), single = by["emd"].points
    assert (x, mean, low, high) == pytest.approx((1, 0.3, 0, 0.3 + half))
    assert single[:2] == (2.0, 0.5)
    assert math.isnan(single[2])
    assert by["kl"].points[0] == (1.0, 2.0, 1.0, 3.0)
    trials = trials_of(SMALL)
    document = document_of("figure-1", trials, found_by(trials, lambda *_: 0.5))
    drawn = drawn_panels(document, tuple(by.values()))
    assert [len(panel.series) for panel in drawn] == [5, 4, 4, 5]
    assert experiment_picture(document, "png", size_px=(520, 366), overlay=tuple(by.values()))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x,error\n1,2\n2,3\n", "one of emd"),
        ("x,emd\n1,two\n2,3\n", "line 2, field 2"),
        ("x,emd\n,2\n2,3\n", "field 1"),
        ("x,emd\n1,\n2,\n", "no row"),
    ],
)
def test_files_of_points_that_cannot_be_read_are_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(TableFileError, match=told):
        read_points(file)


def test_places_are_named_by_region_and_image() -> None:
    region = Region(1, 2, 3, 4)
    assert place_of(region).name == "1,2,3,4"
    assert [p.name for p in plane_places([region], ["park", None])] == [
        "1,2,3,4 in park",
        "1,2,3,4",
    ]


def test_figure_1_is_behind_by_one_measure_at_a_small_epsilon() -> None:
    """Against “consistently across all metrics”, on the bundled check-ins."""
    assert figure_1_leads("0.1") == {"emd": 0, "similarity": 0, "pearson": 0, "kl": 1}
    assert figure_1_leads("1") == {"emd": -1, "similarity": -1, "pearson": -1, "kl": 0}
    assert figure_1_verdict()[0] == "≠"
