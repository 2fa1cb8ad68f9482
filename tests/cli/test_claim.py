"""``bounds --claim`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.cli import run
from explorer.figures.recipes import read_recipe
from tests import snapshots

QUESTION = ("bounds", "amplification", "--sweep", "delta=1e-8:1e-4:5")


@pytest.mark.parametrize(
    ("words", "wanted", "number"),
    [
        ((), "", "ε ≤ 0.04503 by “clones 2021, evaluated exactly”, the best applicable bound"),
        (("--claim", "local"), "local", "ε ≤ 2 by “ε₀ alone: no amplification”, chosen by you"),
    ],
)
def test_what_is_claimed_is_said_and_stands_in_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words, wanted, number
) -> None:
    file = tmp_path / "a.json"
    assert run([*QUESTION, *words, "--output", str(file)]) == 0
    assert f"Claimed: {number}" in capsys.readouterr().err
    document = json.loads(file.read_text())
    assert document["recipe"]["view"]["claim"] == wanted
    assert document["claim"]["wanted"] == wanted
    assert f"Claimed: {number}" in document["guarantee"]["claimed"]


def test_what_cannot_be_claimed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUESTION, "--claim", "lower"]) == 1
    said = capsys.readouterr().err
    snapshots.check(said)
    assert "'lower'" in said
    for key in ("exact_2021", "exact_2023", "closed", "local"):
        assert key in said


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "series"), [((), "exact_2021"), (("--claim", "closed"), "closed")]
)
def test_solve_takes_what_is_claimed(capsys: pytest.CaptureFixture[str], words, series) -> None:
    question = ["bounds", "amplification", *words, "--solve", "eps0", "--target", "0.1", "--json"]
    assert run(question) == 0
    assert json.loads(capsys.readouterr().out)["series"] == series


@pytest.mark.full
def test_a_curve_that_is_computed_after_the_others_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["bounds", "shuffle-rdp", "--set", "eps0=2.5", "--solve", "eps0", "--target", "1"]
    assert run([*words, "--for", "numerical_upper"]) == 0
    assert capsys.readouterr().out == "4.04398\n"


def test_the_ends_of_a_pictures_axes_are_given_and_stand_in_its_recipe(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    ends = ("--x-range", "1e-7:1e-5", "--y-range", "0.01:1")
    assert run([*QUESTION, *ends, "--output", str(file)]) == 0
    view = read_recipe(file)["view"]
    assert (view["x_range"], view["y_range"]) == ([1e-7, 1e-5], [0.01, 1.0])


@pytest.mark.parametrize("typed", ["1", "2:1", "a:b", "0:1", "1:inf", "1:2:3"])
def test_ends_that_are_no_range_are_refused(capsys: pytest.CaptureFixture[str], typed: str) -> None:
    assert run([*QUESTION, "--y-range", typed, "--output", "never.svg"]) == 2
    said = capsys.readouterr().err
    assert "--y-range" in said
    assert repr(typed) in said
