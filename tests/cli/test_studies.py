"""What can be asked, listed; presets on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.cli import run
from explorer.figures.recipes import read_recipe
from explorer.studies.registry import get_study, study_infos


def test_the_list_names_every_study_and_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studies"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for info, line in zip(study_infos(), lines, strict=False):
        assert line.split()[0] == info.id
        assert info.question in line


def test_json_holds_the_whole_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studies", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "privacy-explorer-studies/1"
    assert [s["id"] for s in found["studies"]] == [c.id for c in study_infos()]
    for said in found["studies"]:
        study = get_study(said["id"])
        assert [p["key"] for p in said["parameters"]] == [p.key for p in study.parameters]
        assert {q["key"]: q["sweeps"] for q in said["quantities"]} == {
            q.key: list(q.sweeps) for q in study.quantities
        }
        assert said["references"]
        assert [p["key"] for p in said["presets"]] == [p.key for p in study.presets]
        for p in said["parameters"]:
            assert p["default"] is not None
            assert p["help"]


@pytest.mark.parametrize("study_id", [c.id for c in study_infos()])
def test_one_study_in_words(study_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studies", study_id]) == 0
    told = capsys.readouterr().out
    study = get_study(study_id)
    assert study.question in told
    for p in study.parameters:
        assert f"\n  {p.key}" in told
    for preset in study.presets:
        assert preset.name in told


def test_a_study_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studies", "alchemy"]) == 1
    assert "shuffle-rdp" in capsys.readouterr().err


def test_a_preset_can_be_begun_with_and_changed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bounds", "shuffle-rdp", "--preset", "figure-2a", "--sweep", "T=100:1000:2"]
    assert run([*words, "--set", "eps0=1"]) == 0
    recipe = next(
        json.loads(line.removeprefix("# recipe: "))
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("# recipe: ")
    )
    assert recipe["values"]["k"] == 1000
    assert recipe["values"]["eps0"] == 1
    assert recipe["sweep"]["points"] == 2
    assert run(["bounds", "shuffle-rdp", "--preset", "figure-9"]) == 1
    assert "figure-2a" in capsys.readouterr().err


def test_figures_are_listed_with_their_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studies", "shuffle-rdp", "--figures"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("shuffle-rdp figure-2a  Figure 2 (a): ≠ ")
    assert len(lines) == len(get_study("shuffle-rdp").presets)
    assert run(["studies", "--figures"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(
        len(get_study(c.id).presets) for c in study_infos()
    )


def test_a_preset_s_picture_has_its_curves_as_in_the_window(tmp_path: Path) -> None:
    words = ["bounds", "unbounded", "--preset", "fact-5.1", "--size", "400x300"]
    assert run([*words, "--output", str(tmp_path / "fact.svg")]) == 0
    recipe = read_recipe(tmp_path / "fact.svg")
    assert sorted(recipe["view"]["hidden"]) == ["table"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "key", "text", "table", "first"),
    [
        (
            ["coordinate-mean", "--quantity", "run", "--set", "profile=file"],
            "demand_file",
            "name,level,q\nage,0.5,0.1\nzip,2,0\n",
            "run",
            ["column 1", 0.5],
        ),
        (
            [
                *("private-regression", "--set", "profile=file", "--sweep", "n=100:200:2"),
                *("--set", "n=100", "--set", "trials=2", "--set", "evaluation=held-out"),
            ],
            "demand_file",
            "age,0.5\nzip,2\n",
            "coefficients",
            ["feature 1"],
        ),
        (
            ["histograms", "--quantity", "run"],
            "column_file",
            "smoker [yes|no]\n" + "no\nyes\n" * 200,
            "run",
            ["yes", 200.0],
        ),
    ],
    ids=["levels", "features", "column"],
)
def test_levels_and_columns_of_a_file_are_options(
    words: list[str], key: str, text: str, table: str, first: list[object], tmp_path: Path
) -> None:
    path, out = tmp_path / "own.csv", tmp_path / "out.json"
    path.write_text(text, "utf-8")
    asked = ["bounds", *words, "--set", f"{key}={path}", "--seed", "1"]
    assert run([*asked, "--output", str(out)]) == 0
    tables = {t["key"]: t["rows"] for t in json.loads(out.read_text("utf-8"))["tables"]}
    assert tables[table][0][: len(first)] == first
