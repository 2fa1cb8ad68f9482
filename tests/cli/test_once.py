"""`heatmap --once`: one question of a folder, without opening it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from explorer.checkins.region_query import REGION_QUERY_NOTE
from explorer.cli import run
from tests import snapshots
from tests.engine.test_large_import import made_folder

REGION = "40.0,-74.5,41.0,-73.0"
ASKED = ("--region", REGION, "--resolution", "16", "--seed", "7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "rows", rows=600)


@pytest.mark.full
def test_the_answer_is_that_of_the_opened_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for way in (["--no-cache"], ["--once"]):
        numbers = tmp_path / f"{way[0]}.csv"
        asked = ["heatmap", str(folder), *ASKED, "--json", *way, "--output", str(numbers)]
        assert run(asked) == 0
        printed = capsys.readouterr()
        told = re.sub(r"Users in file = [\d,]+ · ", "", numbers.read_text())
        found.append((json.loads(printed.out), told))
        assert (REGION_QUERY_NOTE in printed.err) == (way == ["--once"])
    (opened, rows), (once, same_rows) = found
    assert rows == same_rows
    assert once["asked_once"] == REGION_QUERY_NOTE
    assert "asked_once" not in opened
    for what in ("metrics", "recipe", "contributions", "stamp"):
        assert once[what] == opened[what], what
    assert once["users"] == {**opened["users"], "in_file": None}
    assert once["rows"]["kept"] < opened["rows"]["kept"]
    assert run(["heatmap", str(folder), *ASKED, "--once", "--quiet"]) == 0
    snapshots.check(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give --region"),
        (["--region", REGION, "--set-aside", "aside.csv"], "leave out --set-aside"),
        (["--region", REGION, "--cluster", "local:1"], "leave out --cluster"),
        (["--region", "0,0,5,5", "--plane", "10x10"], "leave out --plane"),
    ],
)
def test_what_it_does_not_tell_is_refused(
    options: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["heatmap", str(folder), "--once", *options]) == 2
    assert words in capsys.readouterr().err
