"""Files written by version 0.1.0 open as what they were, ever after.

They were made by commit 8564317: a recipe of every preset, a plot and a map in all formats there
were, a comparison, and two sessions. Nothing here may be written anew when a test fails.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import state_from_dict
from explorer.figures.formats import Kind, recipe_formats
from explorer.figures.recipes import read_recipe
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import preset, preset_request
from explorer.studies.registry import get_study
from tests.figures.samples import exported_map

COMPAT = Path(__file__).parent / "data" / "compat"
PRESETS: list[dict[str, Any]] = json.loads((COMPAT / "presets.json").read_text(encoding="utf-8"))
FORMATS = dict.fromkeys(f.suffix for f in recipe_formats() if f.kind is not Kind.GRID)
WRITTEN = [suffix for suffix in FORMATS if (COMPAT / f"map.{suffix}").exists()]


def holds(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Whether every field written then still says the same; newer ones may stand beside it."""
    return all(
        holds(now[key], value) if isinstance(value, dict) else now[key] == value
        for key, value in then.items()
        if key not in ("version", "data")
    )


@pytest.mark.full
@pytest.mark.parametrize("row", PRESETS, ids=lambda r: f"{r['recipe']['study']}-{r['preset']}")
def test_the_recipe_of_every_preset_opens_as_it_was(row) -> None:
    raw = row["recipe"]
    recipe = recipe_from_dict(raw)
    assert holds(recipe.to_dict(), raw)


@pytest.mark.full
@pytest.mark.parametrize("row", PRESETS, ids=lambda r: f"{r['recipe']['study']}-{r['preset']}")
def test_presets_keep_their_names(row) -> None:
    study = get_study(row["recipe"]["study"])
    assert preset_request(study, preset(study, row["preset"])).study == study.id


def test_every_format_written_then_is_still_one() -> None:
    assert {path.suffix[1:] for path in COMPAT.glob("map.*")} == set(WRITTEN)
    assert len(WRITTEN) == 5


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("stem", ["plot", "map"])
def test_exports_of_every_format_hold_request_and_view(stem, suffix) -> None:
    written = json.loads((COMPAT / f"{stem}.json").read_text(encoding="utf-8"))["recipe"]
    recipe = recipe_from_dict(read_recipe(COMPAT / f"{stem}.{suffix}"))
    assert holds(recipe.to_dict(), written)
    view = ViewState.from_dict(recipe.view)
    assert holds(json.loads(json.dumps(view.to_dict())), written["view"])


@pytest.mark.full
@pytest.mark.parametrize("suffix", FORMATS)
def test_exports_of_now_hold_request_and_view_too(suffix, tmp_path) -> None:
    """The map written then, asked again: in every format that there is by now."""
    written = json.loads((COMPAT / "map.json").read_text(encoding="utf-8"))["recipe"]
    recipe = recipe_from_dict(written)
    path = tmp_path / "map"
    path.write_bytes(exported_map(recipe.to_dict(), suffix))
    again = recipe_from_dict(read_recipe(path))
    assert again == recipe
    assert holds(again.to_dict(), written)


def test_every_row_of_a_comparison_can_be_asked_again() -> None:
    with (COMPAT / "comparison.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 18
    for row in rows:
        raw = json.loads(row["recipe"])
        assert holds(recipe_from_dict(raw).to_dict(), raw)


@pytest.mark.parametrize("name", ["window-2.json", "window-3.json"])
def test_sessions_open_with_all_their_parts(name) -> None:
    raw = json.loads((COMPAT / name).read_text(encoding="utf-8"))["session"]
    left_out: list[str] = []
    state = state_from_dict(raw, left_out)
    assert left_out == []
    assert state.study == raw["study"]
    for written in raw["requests"]:
        # Region and sample are one for all studies; the window takes them when its data is open.
        written.pop("selection")
        assert holds(Recipe(state.request_of(written["study"])).to_dict(), written)
    for look in raw["looks"]:
        kept = state.look_of(look["study"], look["quantity"])
        assert (kept.y_log, sorted(kept.hidden)) == (look["y_log"], sorted(look["hidden"]))
    assert len(state.pins) == len(raw["pins"])
    assert len(state.comparison) == len(raw["comparison"])
