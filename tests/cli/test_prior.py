"""Public priors on the command line: what they are made of, and what is refused."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.cli import run
from explorer.engine.session.code_export import map_line

REGION = "40.5,-74.3,41.0,-73.6"
MAP = ["--region", REGION, "--resolution", "16", "--epsilon", "0.3", "--quiet"]


def written(path: Path, first: int) -> Path:
    """Check-ins of 60 users around one place, from a number on."""
    rng = np.random.default_rng(first)
    rows = (
        f"{user},2010-01-01T00:00:00Z,{40.7 + rng.normal(0, 0.03):.6f},"
        f"{-74 + rng.normal(0, 0.03):.6f}\n"
        for user in range(first, first + 60)
        for _ in range(2)
    )
    path.write_text("user,time,lat,lon\n" + "".join(rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The data, and the check-ins of other people."""
    return str(written(tmp_path / "data.csv", 100)), str(written(tmp_path / "other.csv", 500))


def mapped(capsys: pytest.CaptureFixture[str], data: str, *words: str) -> dict[str, Any]:
    assert run(["heatmap", data, *MAP, *words, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_map_takes_the_priors_it_is_given(capsys, files, tmp_path: Path) -> None:
    data, other = files
    grid = tmp_path / "people.csv"
    cells = ((40.55 + 0.1 * i, -74.25 + 0.1 * j) for i in range(5) for j in range(7))
    grid.write_text("lat,lon,value\n" + "".join(f"{a:.2f},{b:.2f},1\n" for a, b in cells))
    priors = ["--prior", f"checkins:{other}", "--prior", f"grid:{grid}"]
    like = mapped(capsys, data, "--mechanism", "adaptive-prior", *priors)
    values = like["recipe"]["values"]
    digest = hashlib.sha256(Path(other).read_bytes()).hexdigest()
    assert values["prior_checkins"] == f"other.csv#{digest}"
    assert values["prior_grid"].startswith("people.csv#")
    assert values["prior_cities"] is False
    assert sum(like["epsilon_per_level"].values()) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        (["checkins"], "checkins:FILE"),
        (["cities:x"], "checkins:FILE"),
        (["city"], "checkins:FILE"),
        (["cities", "cities"], "given twice"),
        (["none", "cities"], "no other prior"),
        (["release:abc"], "release abc"),
        (["release"], "release:ID"),
        (["grid:a.csv", "grid:a.csv"], "given twice"),
        (["checkins:missing.csv"], "missing.csv"),
        (["grid:DATA.xyz"], "a file"),
    ],
)
def test_priors_that_cannot_be_taken(capsys, files, priors, message) -> None:
    words = [word for prior in priors for word in ("--prior", prior)]
    assert run(["heatmap", files[0], *MAP, "--mechanism", "adaptive-prior", *words]) == 2
    told = capsys.readouterr().err
    assert "--prior" in told
    assert message in told


def test_the_data_are_no_prior_of_their_own_map(capsys, files) -> None:
    data = files[0]
    words = ["--mechanism", "adaptive-prior", "--prior", f"checkins:{data}"]
    assert run(["heatmap", data, *MAP, *words]) != 0
    assert "data.csv holds" in capsys.readouterr().err
    assert run(["heatmap", data, *MAP, "--prior", "cities"]) == 2
    assert "adaptive-prior" in capsys.readouterr().err


def test_an_experiment_pairs_maps_with_and_without(capsys, files, tmp_path: Path) -> None:
    data, other = files
    words = ["experiment", "heatmap-quality", "--data", data, "--region", REGION]
    words += ["--mechanisms", "adaptive,adaptive-prior", "--prior", f"checkins:{other}"]
    words += ["--epsilon", ".3", "--users", "all", "--draws", "4", "--resolution", "16"]
    assert run([*words, "--workers", "1", "--quiet", "--json"]) == 0
    rows = {row["mechanism"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["adaptive-prior"]["emd"] < rows["adaptive"]["emd"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, []),
        ({"prior_cities": False}, ["none"]),
        (
            {
                "prior_grid": f"a.csv#{'0' * 64}/b.tif#{'1' * 64}",
                "prior_release": f"release {'ab' * 16}, ε 1⁄2.released#{'2' * 64}",
            },
            ["cities", "grid:a.csv", "grid:b.tif", f"release:{'ab' * 16}"],
        ),
        (
            {"prior_checkins": "my own.csv#" + "0" * 64, "prior_grid": "p.tif#" + "1" * 64},
            ["cities", "checkins:my own.csv", "grid:p.tif"],
        ),
    ],
)
def test_a_copied_command_names_priors(values, words) -> None:
    settings = {"private_only": True, "values": {"mechanism": "adaptive-prior", **values}}
    line = shlex.split(map_line({**settings, "selection": {}}))
    assert [word for word in line if word.startswith("--prior")] == [
        f"--prior={word}" for word in words
    ]
