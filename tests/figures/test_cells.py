"""Cells as GeoJSON: what RFC 7946 asks for, and that nothing private leaves with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import run
from explorer.engine.session.recipe import Recipe
from explorer.figures.read_recipe import read_recipe
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Origin
from tests.figures.reading import BOTH
from tests.figures.samples import RECIPE, REGION, STAMP, curves, export, file_bytes, maps

FOUND = [o for o in Origin if not o.may_be_told]


def document(result, **view) -> dict:
    return json.loads(file_bytes(result, ViewState.for_result(result, **view), RECIPE, "geojson"))


def test_a_cell_is_a_polygon_with_the_value_of_every_map() -> None:
    made = document(maps(), surfaces=BOTH)
    assert made["type"] == "FeatureCollection"
    assert made["bbox"] == [REGION.west, REGION.south, REGION.east, REGION.north]
    assert f"curator only — {STAMP}" in made["stamp"]
    assert made["recipe"] == RECIPE
    true, private = made["features"]  # all other cells are empty in both
    assert true["properties"] == {"row": 1, "column": 2, "true": 0.8, "private": 0.0}
    assert private["properties"] == {"row": 13, "column": 11, "true": 0.0, "private": 0.5}
    (ring,) = true["geometry"]["coordinates"]
    high, wide = (REGION.north - REGION.south) / 16, (REGION.east - REGION.west) / 16
    s, w = REGION.south + high, REGION.west + 2 * wide
    corners = [(w, s), (w + wide, s), (w + wide, s + high), (w, s + high), (w, s)]
    np.testing.assert_allclose(ring, corners, atol=1e-9)  # anticlockwise and closed
    assert ring[0] == ring[-1]


def test_neighbours_share_their_edge_to_the_last_digit() -> None:
    values = np.full((64, 64), 1 / 4096, np.float32)
    corners = {
        tuple(corner)
        for feature in document(maps(private=values, true=values))["features"]
        for corner in feature["geometry"]["coordinates"][0]
    }
    assert len(corners) == 65 * 65


@pytest.mark.parametrize("came_from", FOUND)
def test_a_place_that_may_not_be_told_is_refused_with_a_remedy(came_from: Origin) -> None:
    result = maps(came_from=came_from)
    with pytest.raises(ValueError, match=r"give its four edges.* or choose CSV or JSON"):
        document(result)
    assert len(document(result, surfaces=BOTH)["features"]) == 2  # the curator's own file


def test_with_a_told_place_the_recipe_is_the_gates() -> None:
    result = maps()
    view = ViewState.for_result(result)
    recipe = Recipe(result.request, "name.txt").to_dict()
    made = file_bytes(result, view, recipe, "geojson")
    assert json.loads(made)["recipe"]["private_only"] is True
    for withheld in (b"name.txt", b"cdcd", b'"true":', b"0.834"):
        assert withheld not in made
    other = replace(result, surfaces=(maps(np.eye(16)).surfaces[0], result.surfaces[1]))
    assert file_bytes(other, view, recipe, "geojson") == made


def test_the_recipe_comes_back_and_other_geojson_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cells.geojson"
    result = maps()
    export(result, ViewState.for_result(result, surfaces=BOTH), RECIPE, path)
    assert read_recipe(path) == RECIPE
    for text in (
        '{"type": "FeatureCollection", "features": []}',
        '{"type":"Point","coordinates":[1,2]}',
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match="this is GeoJSON"):
            read_recipe(path)


def test_curves_are_refused() -> None:
    result = curves()
    with pytest.raises(ValueError, match=r"GeoJSON is for maps; choose one of \.png .*\.json for"):
        document(result)


def test_the_command_line_has_it_for_maps_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.geojson"
    assert run(["bounds", "amplification", "--output", str(path)]) != 0
    assert "one of .png .svg .pdf .csv .json" in capsys.readouterr().err
    asked = ["heatmap", "sample", "--resolution", "16", "--quiet", "--panes", "private"]
    assert run([*asked, "--output", str(path)]) == 0
    assert read_recipe(path)["private_only"] is True


def test_a_large_map_has_all_its_cells() -> None:
    values = np.random.default_rng(1).random((256, 256), np.float32)
    result = maps(values, values)
    made = document(result, surfaces=BOTH)
    assert len(made["features"]) == 256 * 256
