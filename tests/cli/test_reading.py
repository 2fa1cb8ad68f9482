"""What a file does not tell about its numbers and times is said by options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.cli import run
from explorer.engine.session.recipe import recipe_from_dict

SWAPPED = "lat=lon,lon=lat"
HEATMAP = ("--resolution", "16", "--quiet", "--no-cache", "--json")


def table(tmp_path: Path, time: str) -> str:
    path = tmp_path / "wien.csv"
    rows = [f"K{i % 9};{time};48,{200 + i};16,{300 + i}" for i in range(60)]
    path.write_text("\n".join(["Kunde;Zeitpunkt;Breite;Länge", *rows]), encoding="utf-8")
    return str(path)


def heatmap(capsys, *arguments: str) -> tuple[int, dict, str]:
    code = run(["heatmap", *arguments, *HEATMAP])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if printed.out else {}, printed.err


@pytest.mark.full
def test_an_example_and_a_zone_are_in_the_recipe(tmp_path: Path, capsys) -> None:
    path = table(tmp_path, "03.04.2024 00:30")
    day = ("--start", "2024-04-02T22:00:00Z", "--end", "2024-04-02T23:00:00Z")
    code, printed, _ = heatmap(
        capsys,
        path,
        "--time-zone",
        "europe/vienna",
        "--time-format",
        "31.12.2024 23:59",
        "--decimal",
        "comma",
        *day,
    )
    assert code == 0
    assert printed["users"]["used"] == 9
    columns = recipe_from_dict(printed["recipe"]).columns
    assert columns["zone"] == "Europe/Vienna"
    assert columns["decimal"] == ","
    assert columns["time_format"] == "%d.%m.%Y %H:%M"
    _, without, _ = heatmap(capsys, path)
    assert not {"zone", "decimal"} & set(recipe_from_dict(without["recipe"]).columns)


@pytest.mark.full
def test_the_order_of_day_and_month_is_asked_and_answered(tmp_path: Path, capsys) -> None:
    path = table(tmp_path, "03/04/2024 10:00")
    code, _, said = heatmap(capsys, path)
    assert code == 2
    assert len(said.splitlines()) == 1
    assert "--time-format '31/12/2024 23:59'" in said
    assert "--time-format '12/31/2024 23:59'" in said
    # an option that is about something else is no answer
    code, _, said = heatmap(capsys, path, "--time-zone", "UTC")
    assert code == 2
    assert "--time-format" in said
    april = ("--start", "2024-04-03", "--end", "2024-04-04")
    code, printed, _ = heatmap(capsys, path, "--time-format", "31/12/2024 23:59", *april)
    assert (code, printed["users"]["used"]) == (0, 9)
    code, printed, _ = heatmap(capsys, path, "--columns", "time=")
    assert code == 0


def test_swapped_columns_are_said_and_put_right(tmp_path: Path, capsys) -> None:
    path = tmp_path / "beijing.csv"  # names win over towns, but no latitude is 116
    rows = [f"K{i % 9},116.{300 + i},39.{800 + i}" for i in range(60)]
    path.write_text("\n".join(["user,lat,lon", *rows]), encoding="utf-8")
    code, _, said = heatmap(capsys, str(path))
    assert code == 2
    assert "swapped" in said
    assert SWAPPED in said
    code, printed, _ = heatmap(capsys, str(path), "--columns", "lat=lon,lon=lat")
    assert (code, printed["users"]["used"]) == (0, 9)


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--time-format", "03/04/2024", "an example whose day is above 12"),
        ("--time-format", "soon", "give an example such as"),
        ("--time-zone", "Wien", "Europe/Vienna"),
        ("--decimal", "semicolon", "point"),
    ],
)
def test_options_that_say_nothing_are_refused(tmp_path, capsys, option, value, why) -> None:
    code, _, said = heatmap(capsys, table(tmp_path, "2024-04-03"), option, value)
    assert code != 0
    assert why in said


@pytest.mark.full
def test_delimiter_and_header_are_given_by_options(tmp_path: Path, capsys) -> None:
    path = tmp_path / "two.csv"
    rows = [f"k{i % 7}|g{i % 3}|48.{i + 100}|16.{i + 200}" for i in range(60)]
    path.write_text("\n".join(["user|note|lat|lon", "note|user|lat|lon", *rows]) + "\n")
    for line, users in (("1", 7), ("2", 3)):
        given = ("--delimiter", "bar", "--header-row", line)
        code, printed, _ = heatmap(capsys, str(path), *given)
        assert (code, printed["users"]["used"]) == (0, users)
        columns = recipe_from_dict(printed["recipe"]).columns
        assert (columns["delimiter"], columns["header"]) == ("|", int(line))
    for wrong in ("0", "x", "-1"):
        assert heatmap(capsys, str(path), "--header-row", wrong)[0] == 2
    code, _, said = heatmap(capsys, str(path), "--header-row", "100")
    assert code != 0
    assert "line 100" in said
