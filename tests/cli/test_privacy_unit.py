"""The privacy unit and the columns on the command line; names of columns stay with the curator."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import run
from explorer.engine.session.link import link_of, recipe_of
from explorer.engine.session.recipe import recipe_from_dict
from explorer.geography.region import Region
from explorer.release.errors import ParameterError
from explorer.release.plan import build_plan
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Selection, default_request
from explorer.studies.heatmap.guarantee import conditions, guarantee
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap.text import notes
from explorer.studies.registry import get_study

CANARY = "canary-4711"
REGION = ("--region", "40,-75,41,-73")


def table(folder: Path, user: str = "") -> Path:
    path = folder / "table.csv"
    names = [*([user] if user else []), "time", "lat", "lon"]
    rows = [
        [
            *([f"u{i % 5}"] if user else []),
            f"2024-01-{1 + i % 28:02}T10:00:00Z",
            f"{40.1 + i * 0.01:.4f}",
            f"{-74.9 + i * 0.02:.4f}",
        ]
        for i in range(60)
    ]
    path.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    return path


def heatmap(capsys: Any, *words: Any) -> tuple[int, dict[str, Any], str]:
    code = run(["heatmap", *map(str, words), *REGION, "--resolution", "16", "--json", "--no-cache"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if code == 0 else {}, printed.err


@pytest.mark.parametrize(("unit", "users"), [("row", 60), ("file", 1)])
def test_a_file_without_a_user_column(tmp_path: Path, capsys: Any, unit: str, users: int) -> None:
    path = table(tmp_path)
    code, printed, said = heatmap(capsys, path, "--columns", "user=", "--unit", unit)
    assert code == 0
    assert (printed["unit"], printed["users"]["used"]) == (unit, users)
    assert printed["columns"] == {
        "user": None,
        "time": {"name": "time", "index": 1},
        "lat": {"name": "lat", "index": 2},
        "lon": {"name": "lon", "index": 3},
    }
    assert "lat" in said
    recipe = printed["recipe"]
    assert recipe["data"]["columns"]["unit"] == recipe["selection"]["unit"] == unit
    assert recipe["data"]["columns"]["names"] == {"time": "time", "lat": "lat", "lon": "lon"}
    assert recipe["data"]["columns"]["lat"] == 1
    assert recipe_from_dict(recipe).request.selection.unit is Unit(unit)


def test_units_need_a_file_without_a_user_column(tmp_path: Path, capsys: Any) -> None:
    path = table(tmp_path, "user_id")
    assert heatmap(capsys, path)[1]["unit"] == "user"
    for words in (
        ("--unit", "row"),
        ("--columns", "user=user_id", "--unit", "file"),
        ("--columns", "user="),
    ):
        code, _, said = heatmap(capsys, path, *words)
        assert code
        assert "--unit" in said


@pytest.mark.full
def test_the_users_column_is_named_to_the_curator_alone(tmp_path: Path, capsys: Any) -> None:
    path = table(tmp_path, CANARY)
    columns = ("--columns", f"user={CANARY}")
    code, printed, said = heatmap(capsys, path, *columns)
    assert code == 0
    assert CANARY in printed["guarantee"]["unit"]
    assert printed["columns"]["user"] == {"name": CANARY, "index": 1}
    assert CANARY in said
    code, private, said = heatmap(capsys, path, *columns, "--panes", "private")
    assert code == 0
    assert private["columns"] is None
    assert CANARY not in json.dumps(private) + said


def test_private_settings_and_links_hold_the_unit(tmp_path: Path, capsys: Any) -> None:
    words = ("--columns", "user=", "--unit", "row", "--panes", "private")
    _, printed, _ = heatmap(capsys, table(tmp_path), *words)
    recipe = printed["recipe"]
    assert recipe["selection"]["unit"] == printed["unit"] == "row"
    assert recipe_of(link_of(recipe))["selection"]["unit"] == "row"


@pytest.mark.full
@pytest.mark.parametrize("unit", [Unit.ROW, Unit.FILE])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("sample", [{}, {"users": 3}, {"share": 0.5}], ids=["all", "few", "share"])
def test_no_sentence_of_a_map_promises_anything_to_users(
    unit: Unit, mechanism: str, sample: dict[str, Any]
) -> None:
    selection = Selection("a" * 64, Region(40, -75, 41, -73), unit=unit, **sample)
    asked = replace(default_request(get_study("heatmap"), mechanism=mechanism), selection=selection)
    promise = guarantee(asked)
    texts = [promise.unit, promise.add_remove, promise.replace_one, promise.sentence]
    texts += [part for c in conditions(asked) for part in (c.text, c.margin, c.short)]
    texts += notes(asked)
    allowed = "no user column"
    assert not [text for text in texts if "user" in text.lower().replace(allowed, "")]


@pytest.mark.parametrize("unit", ["row", "file", 3])
def test_releases_take_users_alone(unit: Any) -> None:
    with pytest.raises(ParameterError, match="unit"):
        build_plan("p", "x.csv", "heatmap.adaptive/1", {"unit": unit}, None, None)  # type: ignore[arg-type]
