"""The command experiment: rows as JSON, going on after a stop, and what it says of wrong words."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import run, running
from explorer.engine.experiments import Checkpoint, trials_file
from explorer.studies.heatmap.experiments.figures import FIGURES
from tests import snapshots
from tests.planes import OF_THE_EARTH, gaze_table

REGION = "40.55,-74.10,40.90,-73.75"
QUALITY = ["experiment", "heatmap-quality"]
SMALL = [
    *QUALITY,
    "--data",
    "sample",
    "--region",
    REGION,
    "--region",
    "40.6,-74.1,40.9,-73.8",
    "--mechanisms",
    "pyramid,laplace",
    "--epsilon",
    "1,4",
    "--users",
    "50,all",
    "--draws",
    "3",
    "--resolution",
    "16",
    "--data-seed",
    "7",
    "--workers",
    "1",
]
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command with nothing known already; what it returns and says."""

    def call(*words: str, fresh: bool = True) -> tuple[int, str, str]:
        if fresh:
            trials_file().unlink(missing_ok=True)
        code = run(list(words))
        told = capsys.readouterr()
        # What stands in the file is not about the trials.
        lines = told.err.splitlines(keepends=True)
        return code, told.out, "".join(ln for ln in lines if not ln.startswith("synthetic-"))

    return call


@pytest.mark.full
def test_rows_progress_and_the_same_numbers_by_any_number_of_workers(
    said: Said, tmp_path: Path
) -> None:
    table = tmp_path / "rows.csv"
    code, out, err = said(*SMALL, "--json", "--output", str(table))
    assert code == 0
    assert err.splitlines()[0] == "48 trials"
    assert "48 of 48 trials" in err
    assert f"written: {table}" in err
    document = json.loads(out)
    rows = document["rows"]
    assert [(r["region"], r["users_asked"], r["epsilon"], r["mechanism"]) for r in rows] == [
        (region, users, epsilon, mechanism)
        for region in ("40.55,-74.1,40.9,-73.75", "40.6,-74.1,40.9,-73.8")
        for users in (50, "all")
        for epsilon in (1.0, 4.0)
        for mechanism in ("pyramid", "laplace")
    ]
    for row in rows:
        assert row["draws"] == 3
        assert row["users"] == 50 or (row["users_asked"] == "all" and row["users"] > 50)
        assert 0 < row["emd_low"] < row["emd"] < row["emd_high"] < 2
        assert row["emd_p05"] <= row["emd_p50"] <= row["emd_p95"]
        assert row["emd_km"] > row["emd"]
        assert 0 < row["similarity"] <= 1
        assert -1 <= row["pearson"] <= 1
        assert row["kl"] > 0
    # Less private is nearer, and a grid of noise is far.
    assert all(a["emd"] > b["emd"] for a, b in zip(rows[0::4], rows[2::4], strict=True))
    assert len(document["means"]) == 8
    assert {r["against"] for r in document["differences"]} == {"pyramid"}
    assert document["stamp"] == "synthetic data"
    assert document["settings"]["data_seed"] == 7
    lines = table.read_text(encoding="utf-8").splitlines()
    assert "# stamp: synthetic data" in lines
    written = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [float(row["emd"]) for row in written] == [row["emd"] for row in rows]

    words = [*SMALL[:-1], "2", "--json", "--quiet"]
    code, again, err = said(*words)
    assert (code, json.loads(again), err) == (0, document, "")
    code, again, err = said(*SMALL, "--json", fresh=False)
    assert json.loads(again) == document
    assert err.startswith("48 trials, 48 ")
    assert err.count("\n") == 1
    # More draws: only the new ones are computed.
    code, out, err = said(*SMALL, "--draws", "4", fresh=False)
    assert err.startswith("64 trials, 48 of them known already\n")
    assert out.splitlines()[-1] == "synthetic data"


@pytest.mark.full
def test_the_same_command_goes_on_after_a_stop(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed = said(*SMALL, "--json")[1]
    heard: list[int] = []

    def stop(_: Any, done: int, total: int) -> None:
        heard.append(done)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(running.Progress, "at", stop)
        code, out, err = said(*SMALL, "--json")
    assert code == 130
    assert out == ""
    (done,) = heard
    assert 0 < done < 48
    assert f"{done} of 48 trials" in err
    code, out, err = said(*SMALL, "--json", fresh=False)
    assert code == 0
    assert err.startswith(f"48 trials, {done} of them known already\n")
    assert out == undisturbed


def test_the_busiest_cells_and_single_draws(said: Said) -> None:
    words = [
        "--data",
        "sample",
        "--regions",
        "2",
        "--draws",
        "1",
        "--resolution",
        "16",
        "--mechanisms",
        "pyramid",
        "--epsilon",
        "1",
        "--workers",
        "1",
        "--json",
    ]
    code, out, _ = said(*QUALITY, *words)
    assert code == 0
    rows = json.loads(out)["rows"]
    assert len({row["region"] for row in rows}) == len(rows) == 2
    for row in rows:
        south, west, north, east = map(float, row["region"].split(","))
        assert (north - south, east - west) == pytest.approx((1 / 6, 0.25), abs=1e-6)
        assert row["emd_low"] is None  # one draw says nothing of the noise
    assert json.loads(out)["means"][0]["emd_regions_low"] is not None


@pytest.mark.full
def test_what_users_contribute_is_a_setting_of_its_own_counts(said: Said) -> None:
    words = [
        "--data",
        "sample",
        "--region",
        REGION,
        "--draws",
        "2",
        "--resolution",
        "16",
        "--epsilon",
        "4",
        "--mechanisms",
        "adaptive,integers",
        "--users",
        "60",
        "--workers",
        "1",
        "--json",
        "--quiet",
    ]
    found = {}
    for rule in ("weights=checkins", "weights=cells", "weights=one-cell", "cap=2"):
        code, out, _ = said(*QUALITY, *words, "--set", rule, fresh=False)
        assert code == 0
        rows = json.loads(out)["rows"]
        key, value = rule.split("=")
        assert all(str(row[key]) == value for row in rows)
        found[rule] = [row["emd"] for row in rows]
    assert len(set(map(tuple, found.values()))) == 4
    code, out, _ = said(*QUALITY, *words, fresh=False)
    assert [row["emd"] for row in json.loads(out)["rows"]] == found["weights=checkins"]
    # Whole counts of one cell each err by the noise alone where the truth is made so as well.
    assert found["weights=one-cell"][1] < found["weights=checkins"][1]


def test_what_is_kept_of_experiments_is_shown_and_cleared_with_the_cache(said: Said) -> None:
    Checkpoint(trials_file()).close()
    assert "of experiments in" in said("cache", "show", fresh=False)[1]
    code, out, _ = said("cache", "clear", fresh=False)
    assert code == 0
    assert "freed" in out
    assert list(trials_file().parent.iterdir()) == []
    assert "experiments" not in said("cache", "show", fresh=False)[1]


def test_fewer_users_than_asked_are_told(said: Said) -> None:
    words = ["--draws", "1", "--resolution", "16", "--epsilon", "1", "--mechanisms", "pyramid"]
    words += ["--users", "50,90000", "--workers", "1", "--json", "--quiet"]
    code, out, err = said(*QUALITY, "--data", "sample", "--region", REGION, *words)
    assert code == 0
    few, many = json.loads(out)["rows"]
    assert (few["users"], many["users_asked"]) == (50, 90000)
    assert err.startswith(f"{many['region']} has {many['users']:,} users of 90,000;")
    assert err.count("\n") == 1


def test_a_figure_by_name(said: Said) -> None:
    words = ["--mechanisms", "pyramid", "--draws", "1", "--set", "sigma=0.05", "--workers", "2"]
    code, out, _ = said("experiment", "figure-10", *words, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["experiment"] == "figure-10"
    assert document["stamp"] == "synthetic data"
    assert [(r["axis"], r["x"]) for r in document["rows"]] == [
        ("filled", x) for x in (0.04, 0.15, 0.3, 0.75)
    ]
    assert all(r["emd_km"] is None and r["sigma"] == 0.05 for r in document["rows"])


@pytest.mark.full
@pytest.mark.parametrize("data", [(), ("--data", "sample", "--region", REGION)])
def test_figure_13_of_made_data_and_of_check_ins(said: Said, data: tuple[str, ...]) -> None:
    words = [*data, "--draws", "1", "--workers", "2", "--set", "w=4", "--json"]
    code, out, _ = said("experiment", "figure-13", *words)
    assert code == 0
    document = json.loads(out)
    shuffled = [r for r in document["rows"] if r["mechanism"] == "shuffled-pyramid"]
    assert [r["x"] for r in shuffled] == [2**i for i in range(4, 13)]
    assert {r["mechanism"] for r in document["rows"]} == {"pyramid", "shuffled-pyramid"}
    assert {(r["axis"], r["users"], r["n0"]) for r in shuffled} == {("B", 50, 50)}
    assert (shuffled[0]["emd_km"] is None) is not bool(data)


def test_figure_9_of_a_table_of_points_in_a_picture(said: Said, tmp_path: Path) -> None:
    table = gaze_table(tmp_path / "gaze.csv", users=60)
    words = ["--plane", "320x240", "--mechanisms", "adaptive", "--workers", "1", "--json"]
    code, out, _ = said("experiment", "figure-9", "--data", str(table), *words, "--draws", "1")
    assert code == 0
    document = json.loads(out)
    assert document["title"].endswith("changed: mechanisms")  # one draw is what the figure has
    (row,) = (r for r in document["rows"] if r["region"] == "park")
    assert (row["users"], row["epsilon"], row["resolution"]) == (50, 10, 512)
    assert row["emd_km"] is None
    assert 0 < row["emd"] < 0.1


@pytest.mark.full
def test_planes_have_pictures_tables_and_no_kilometres(said: Said, tmp_path: Path) -> None:
    """Heatmap quality and Figure 13 on one image and on the mean over all."""
    data = ["--data", str(gaze_table(tmp_path / "gaze.csv", users=60)), "--plane", "320x240"]
    few = ["--draws", "2", "--workers", "1", "--quiet"]
    words = ["--mechanisms", "laplace", "--epsilon", "1,5", "--users", "40", "--resolution", "32"]
    picture, table = tmp_path / "figure.svg", tmp_path / "table.tex"
    size = ("--size", "88x62mm", "--output", str(picture))
    code, out, _ = said(*QUALITY, *data, "--image", "all", *words, *few, *size)
    assert code == 0
    assert not OF_THE_EARTH.search(out)
    assert "<svg" in picture.read_text(encoding="utf-8")
    words = ["--resolution", "32", "--set", "B=16,256", "--set", "w=4", "--output", str(table)]
    code, out, _ = said("experiment", "figure-13", *data, "--image", "park", *words, *few, "--json")
    assert code == 0
    document = json.loads(out)
    assert {(r["x"], r["users"], r["emd_km"]) for r in document["rows"]} == {
        (16, 50, None),
        (256, 50, None),
    }
    assert {row["measure"] for row in document["verdicts"]} == {
        "emd",
        "similarity",
        "pearson",
        "kl",
    }
    assert document["title"].endswith("draws, image")
    assert "tabular" in table.read_text(encoding="utf-8")
    code, _, err = said(*QUALITY, *data, "--image", "hill")
    assert code == 1
    assert "park, sea" in err


def test_the_list_names_them_all_and_what_they_need(said: Said) -> None:
    code, out, _ = said("experiment", "--list")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines()]
    assert names == ["heatmap-quality", *FIGURES]
    for figure in FIGURES.values():
        assert f"({figure.needs})" in out


def test_check_ins_for_a_figure_of_pictures_are_refused_with_what_to_name(said: Said) -> None:
    code, out, err = said("experiment", "figure-9", "--data", "sample")
    assert (code, out) == (1, "")
    for word in ("figure-9", "points in images", "--plane 320x240"):
        assert word in err


WITH_DATA = [*QUALITY, "--data", "sample", "--region", REGION]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["experiment"], ["NAME", "--list"]),
        (["experiment", "figure-3"], ["NAME", "figure-3", "heatmap-quality, figure-1"]),
        ([*QUALITY, "--region", REGION], ["--data", "sample"]),
        ([*QUALITY, "--data", "sample"], ["--region", "--regions N"]),
        ([*WITH_DATA, "--regions", "3"], ["--regions", "choose"]),
        ([*WITH_DATA, "--region", "1,2,3"], ["--region", "3 numbers"]),
        ([*WITH_DATA, "--mechanisms", "pyramid,magic"], ["--mechanisms", "'magic'", "laplace"]),
        ([*WITH_DATA, "--mechanisms", "planar-laplace"], ["planar-laplace", "promises a distance"]),
        ([*WITH_DATA, "--epsilon", "1;2"], ["--epsilon", "'1;2'", "commas"]),
        ([*WITH_DATA, "--epsilon", "0"], ["--epsilon", "outside"]),
        ([*WITH_DATA, "--resolution", "100"], ["--resolution", "128"]),
        ([*WITH_DATA, "--users", "0"], ["--users", "'0'", "all"]),
        ([*WITH_DATA, "--users", "many"], ["--users", "'many'", "all"]),
        ([*WITH_DATA, "--draws", "0"], ["--draws", "1"]),
        ([*WITH_DATA, "--workers", "0"], ["--workers", "1"]),
        ([*WITH_DATA, "--output", "rows.xls"], ["--output", ".csv"]),
        ([*WITH_DATA, "--set", "epsilon=3"], ["--set", "--epsilon"]),
        ([*WITH_DATA, "--set", "variant=mine"], ["--set", "experiments, theory"]),
        ([*WITH_DATA, "--set", "magic=1"], ["magic", "variant"]),
        (
            ["experiment", "figure-1", "--data", "sample", "--sigma", ".1"],
            ["--sigma", "figure-1", "heatmap-quality"],
        ),
        (["experiment", "figure-4", "--data", "sample", "--epsilon", "1,2"], ["--epsilon", "give"]),
        (
            [*WITH_DATA, "--users", "5,9", "--output", "a.pdf"],
            ["--output", "--epsilon and --users"],
        ),
        ([*WITH_DATA, "--overlay", "own.csv"], ["--overlay", "--output"]),
        ([*WITH_DATA, "--size", "1x2mm"], ["--size", "200x150"]),
        (["experiment", "figure-2"], ["--data", "check-ins"]),
        (["experiment", "figure-10", "--data", "sample"], ["--data", "figure-10"]),
        (["experiment", "figure-10", "--set", "epsilon=3"], ["--set", "epsilon"]),
    ],
)
def test_wrong_words_are_told_with_the_option_and_what_to_do(
    said: Said, words: list[str], told: list[str]
) -> None:
    code, out, err = said(*words)
    assert code == 2, err
    assert out == ""
    assert err.count("\n") == 1
    for part in told:
        assert part in err, err


def test_regions_without_check_ins_are_told(said: Said) -> None:
    nowhere = [*QUALITY, "--data", "sample", "--region", "1,1,2,2", "--draws", "1"]
    code, _, err = said(*nowhere)
    assert code == 1
    snapshots.check(err)
    assert "1,1,2,2:" in err
    assert "--region" in err
    code, _, err = said("experiment", "figure-4", "--data", "sample", "--region", "1,1,2,2")
    assert code == 1
    assert "it takes 500 users" in err
    assert "--region" in err
    code, _, err = said(*QUALITY, "--data", "sample", "--regions", "90000")
    assert code == 1
    assert "--regions" in err
