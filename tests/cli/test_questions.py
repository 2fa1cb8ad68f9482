"""All open questions about a file are printed at once, with the options that answer them."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.cli import run


@pytest.fixture
def rides(tmp_path: Path) -> Path:
    path = tmp_path / "rides.csv"
    rows = (f"{i},k{i % 9},48.1{i},16.2{i},48.3{i},16.4{i},03/04/2024 10:00" for i in range(60))
    header = 'ride,"card,no",a_lat,a_lon,b_lat,b_lon,on'
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def heatmap(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    asked = ["heatmap", *map(str, arguments), "--resolution", "16", "--quiet", "--no-cache"]
    code = run(asked)
    return code, capsys.readouterr().err.splitlines()


def test_every_question_has_a_line_with_its_options(rides: Path, capsys) -> None:
    path = rides.with_name("plain.csv")
    path.write_text(rides.read_text().replace('"card,no"', "code"), encoding="utf-8")
    code, lines = heatmap(capsys, path)
    assert code == 2
    assert len(lines) == 3
    assert "--columns user=" in lines[0]
    for prefix in "ab":
        assert f"--columns lat={prefix}_lat,lon={prefix}_lon" in lines[1]
    assert "--time-format '31/12/2024 23:59'" in lines[2]


def test_one_answer_leaves_the_others_open(rides: Path, capsys) -> None:
    code, lines = heatmap(capsys, rides, "--columns", "user=2")
    assert (code, len(lines)) == (2, 2)
    code, lines = heatmap(capsys, rides, "--columns", "user=2", "--columns", "lat=a_lat,lon=a_lon")
    assert (code, len(lines)) == (2, 1)
    answers = ("--columns", "user=2,lat=3,lon=4", "--time-format", "31/12/2024 23:59")
    assert heatmap(capsys, rides, *answers)[0] == 0
    code, lines = heatmap(capsys, rides, "--columns", "user=2", "--columns", "user=1")
    assert code == 2
    assert "twice" in lines[0]


def test_names_that_cannot_be_typed_are_given_by_number(rides: Path, capsys) -> None:
    path = rides.with_name("both.csv")
    text = rides.read_text().replace("ride,", "user id,").replace("card,no", "user=number,2")
    path.write_text(text, encoding="utf-8")
    _, lines = heatmap(capsys, path)
    assert "'user=user id'" in lines[0]
    assert "--columns user=2" in lines[0]


def test_two_columns_of_one_name_are_told_apart_by_number(rides: Path, capsys) -> None:
    path = rides.with_name("twins.csv")
    path.write_text(rides.read_text().replace("ride,", '"card,no",'), encoding="utf-8")
    code, lines = heatmap(capsys, rides, "--columns", "user=card")
    assert code == 1
    path.write_text(rides.read_text().replace('"card,no"', "ride"), encoding="utf-8")
    code, lines = heatmap(capsys, path, "--columns", "user=ride")
    assert code == 1
    assert "1 or 2" in lines[0]


def test_both_coordinates_in_one_column(tmp_path: Path, capsys) -> None:
    path = tmp_path / "points.csv"
    rows = (f"u{i % 9};POINT ({16 + i / 100} {48 + i / 100})" for i in range(60))
    path.write_text("\n".join(("user;position", *rows)) + "\n", encoding="utf-8")
    code, lines = heatmap(capsys, path)
    assert code == 2
    assert "--columns lonlat=position" in lines[0]
    assert "--columns latlon=position" in lines[0]
    assert heatmap(capsys, path, "--columns", "lonlat=position")[0] == 0
    code, lines = heatmap(capsys, path, "--columns", "lonlat=position,lat=1")
    assert code == 2
