"""The command that asks over a grid: tables, pictures, seeds, and going on after a stop."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pandas as pd
import pytest

from explorer.cli import run
from explorer.figures.recipes import read_recipe
from tests.waiting import time_limit, wait_until

SMALL = ["amplification", "--sweep", "eps0=0.5:2:3", "--over", "n=1e4,1e5", "--workers", "1"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> None:
    """Have each test begin with nothing kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.full
def test_the_table_on_stdout_has_the_numbers_of_the_command_bounds(capsys) -> None:
    assert run(["sweep", *SMALL, "--over", "delta=1e-8,1e-6"]) == 0
    out, err = capsys.readouterr()
    table = pd.read_csv(io.StringIO(out), comment="#")
    assert "4 answers" in err
    for (n, delta), cell in table.groupby(["n", "delta"]):
        assert run(["bounds", *SMALL[:3], "--set", f"n={n}", "--set", f"delta={delta}"]) == 0
        alone = pd.read_csv(io.StringIO(capsys.readouterr().out), comment="#")
        for key, curve in cell.groupby("series"):
            own = alone.dropna(subset=[key])
            mine = curve.dropna(subset=["value"])
            assert list(mine["eps0"]) == list(own["x"])
            assert list(mine["value"]) == list(own[key])


def test_a_parquet_file_holds_its_recipe_and_json_goes_to_stdout(tmp_path, capsys) -> None:
    path = tmp_path / "grid.parquet"
    assert run(["sweep", *SMALL, "--json", "--output", str(path), "--quiet"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["over"] == {"n": [10_000, 100_000]}
    assert read_recipe(path) == document["recipe"]
    assert document["recipe"]["grid"]["over"] == ["n=1e4,1e5"]
    assert set(pd.read_parquet(path)["n"]) == {10_000, 100_000}
    assert err.startswith("written: ")


@pytest.mark.full
def test_trials_have_a_mean_and_an_interval(capsys) -> None:
    asked = [
        "sweep",
        "private-regression",
        "--sweep",
        "n=200:400:2",
        "--over",
        "eps=1,4",
        "--set",
        "trials=2",
        "--workers",
        "1",
        "--quiet",
        "--json",
        "--seed",
        "7",
    ]
    assert run([*asked, "--trials", "2"]) == 0
    two = json.loads(capsys.readouterr().out)
    for many in two["cells"]:
        assert many["seeds"][0] == 7
        assert len(many["seeds"]) == 2
        drawn = [s for s in many["series"] if "mean of 2 trials" in s["note"]]
        assert drawn
        for s in drawn:
            assert all(a <= b <= c for a, b, c in zip(s["low"], s["y"], s["high"], strict=True))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["amplification"], "--over"),
        (["heatmap", "--over", "epsilon=1,2"], "heatmap-quality"),
        (["amplification", "--over", "n=1e99"], "outside"),
        (["amplification", "--over", "eps0=1,2"], "x axis"),
        (["amplification", "--over", "n=10", "--colours"], "third"),
        (["amplification", "--over", "n=10", "--output", "a.xlsx"], "extension"),
        (["amplification", "--over", "n=10", "--output", "/nowhere/a.csv"], "folder"),
        (["amplification", "--over", "n=10", "--trials", "0"], "trials"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(arguments, said, capsys) -> None:
    assert run(["sweep", *arguments]) != 0
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


@pytest.mark.full
def test_a_stopped_command_goes_on(tmp_path) -> None:
    command = [
        sys.executable,
        "-m",
        "explorer",
        "sweep",
        "shuffle-rdp",
        "--sweep",
        "T=1:1e6:3",
        "--over",
        "eps0=0.5:4:5",
        "--workers",
        "1",
        "--output",
        str(tmp_path / "a.csv"),
    ]
    with (tmp_path / "said").open("w+") as said:
        first = subprocess.Popen(command, stderr=said, env=os.environ | {"PYTHONUNBUFFERED": "1"})
        assert wait_until(lambda: kept_in(tmp_path / "cache") >= 1, 60)
        first.send_signal(signal.SIGINT)
        assert first.wait(time_limit(30)) == 130
        said.seek(0)
        words = said.read()
    assert re.search(r"\d of \d+ answers", words)
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "known already" in again.stderr
    table = pd.read_csv(tmp_path / "a.csv", comment="#")
    assert len(table.groupby("eps0")) == 5


def kept_in(cache) -> int:
    """Return how many answers are kept by now."""
    found = list(cache.rglob("trials-*.db"))
    try:
        with closing(sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True)) as db:
            return db.execute("SELECT count(*) FROM trial").fetchone()[0]
    except (IndexError, sqlite3.OperationalError):  # not there yet
        return 0
