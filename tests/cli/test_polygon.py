"""``heatmap --polygon``: counted, exported and asked again from its recipe and its line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import run
from explorer.engine.session.code_export import map_line
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures.recipes import read_recipe
from explorer.geography.region import PolygonRegion
from explorer.studies.base.study import Origin

CORNERS = [[40.7, -74.02], [40.7, -73.93], [40.8, -73.9], [40.88, -73.93]]
POINTS = ";".join(f"{latitude},{longitude}" for latitude, longitude in CORNERS)
SMALL = ("--resolution", "16", "--quiet")


def write_geojson(path: Path, *rings: list[list[float]]) -> Path:
    closed = [[[x, y] for y, x in (*ring, ring[0])] for ring in rings]
    path.write_text(json.dumps({"type": "Polygon", "coordinates": closed}))
    return path


def asked(capsys, *words: str) -> dict:
    assert run(["heatmap", "sample", *words, *SMALL, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.full
def test_a_file_and_typed_points_are_the_same_region(tmp_path: Path, capsys) -> None:
    typed = asked(capsys, "--polygon", POINTS)
    file = write_geojson(tmp_path / "area.geojson", CORNERS)
    read = asked(capsys, "--polygon", str(file))
    box = asked(capsys, "--region", "40.7,-74.02,40.88,-73.9")
    read.pop("timings_ms")
    assert read == {key: value for key, value in typed.items() if key != "timings_ms"}
    assert typed["users"]["used"] < box["users"]["used"]
    selection = typed["recipe"]["selection"]
    assert (selection["polygon"], selection["region"]) == (CORNERS, [40.7, -74.02, 40.88, -73.9])
    assert "polygon" not in box["recipe"]["selection"]
    once = asked(capsys, "--polygon", POINTS, "--once")
    assert once["users"]["used"] == typed["users"]["used"]
    assert once["metrics"] == typed["metrics"]


HOLE = [[40.75, -73.96], [40.75, -73.94], [40.76, -73.95]]
ISLAND = [[40.69, -73.9], [40.69, -73.88], [40.7, -73.89]]


@pytest.mark.full
def test_areas_and_holes_of_a_file_are_counted_and_kept(tmp_path: Path, capsys) -> None:
    file = tmp_path / "areas.geojson"
    shells = [[[[x, y] for y, x in (*ring, ring[0])] for ring in (CORNERS, HOLE)]]
    shells.append([[[x, y] for y, x in (*ISLAND, ISLAND[0])]])
    file.write_text(json.dumps({"type": "MultiPolygon", "coordinates": shells}))
    read = asked(capsys, "--polygon", str(file))
    selection = read["recipe"]["selection"]
    assert (selection["polygon"], len(selection["rings"])) == (CORNERS, 2)
    assert selection["region"] == [40.69, -74.02, 40.88, -73.88]
    region = recipe_from_dict(read["recipe"]).request.selection.region
    assert region.polygon.holes == (False, True, False)
    assert recipe_from_dict(read["recipe"]).to_dict()["selection"] == selection
    target = tmp_path / "map.geojson"
    words = ["--polygon", str(file), "--panes", "private", "--output", str(target)]
    assert run(["heatmap", "sample", *words, *SMALL]) == 0
    assert recipe_from_dict(read_recipe(target)).part.region == region
    capsys.readouterr()
    (typed,) = [w for w in shlex.split(map_line(read_recipe(target))) if "--polygon" in w]
    again = asked(capsys, *typed.split("=", 1))
    assert again["recipe"]["selection"] == selection


@pytest.mark.full
def test_exports_leave_out_cells_outside_and_keep_the_polygon(tmp_path: Path, capsys) -> None:
    region = PolygonRegion.of([[(y, x) for y, x in CORNERS]])
    touched = region.polygon.touched(16, 16)
    assert 0 < touched.sum() < touched.size
    for name in ("map.csv", "map.json", "map.geojson", "map.tif"):
        target = tmp_path / name
        words = ["--polygon", POINTS, "--panes", "private", "--output", str(target)]
        assert run(["heatmap", "sample", *words, *SMALL]) == 0
        recipe = recipe_from_dict(read_recipe(target))
        assert recipe.part.region == region
    capsys.readouterr()
    rows = [line for line in (tmp_path / "map.csv").read_text().splitlines() if line[0].isdigit()]
    assert len(rows) == touched.sum()
    (surface,) = json.loads((tmp_path / "map.json").read_text())["surfaces"]
    inside = [[value is not None for value in row] for row in surface["values"]]
    assert inside == touched.tolist()
    cells = json.loads((tmp_path / "map.geojson").read_text())["features"]
    assert all(touched[c["properties"]["row"], c["properties"]["column"]] for c in cells)
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(tmp_path / "map.tif") as image:
        np.testing.assert_array_equal(np.isfinite(image.read(1)[::-1]), touched)
    words = shlex.split(map_line(read_recipe(target)))
    assert f"--polygon={POINTS}" in words


def test_a_recipe_whose_box_is_not_the_polygons_is_refused(capsys) -> None:
    recipe = asked(capsys, "--polygon", POINTS)["recipe"]
    again = recipe_from_dict(recipe)
    assert again.request.selection.region == PolygonRegion.of([[(y, x) for y, x in CORNERS]])
    assert again.request.selection.region_origin is Origin.TYPED
    assert again.to_dict()["selection"] == recipe["selection"]
    with pytest.raises(ValueError, match="box around its polygon"):
        recipe_from_dict(recipe | {"selection": recipe["selection"] | {"region": [0, 0, 1, 1]}})


def test_what_is_no_region_is_refused(tmp_path: Path, capsys) -> None:
    holes = write_geojson(tmp_path / "hole.geojson", CORNERS, [[y, x + 0.001] for y, x in CORNERS])
    lines, within = tmp_path / "lines.geojson", tmp_path / "within.geojson"
    lines.write_text(json.dumps({"type": "LineString", "coordinates": [[0, 0], [1, 1]]}))
    closed = [[[[x, y] for y, x in (*ring, ring[0])]] for ring in (CORNERS, HOLE)]
    within.write_text(json.dumps({"type": "MultiPolygon", "coordinates": closed}))
    for words, reason in (
        (["--polygon", "40.7,-74;40.8,-73.9"], "at least 3 points"),
        (["--polygon", str(holes)], "hole.geojson: Rings 1 and 2 of the region overlap."),
        (["--polygon", str(lines)], "lines.geojson has 1 lines, 0 outlines"),
        (["--polygon", str(within)], "within.geojson: an area lies in another."),
        (["--polygon", str(tmp_path / "no.geojson")], "there is no file"),
        (["--polygon", POINTS, "--region", "40,-74,41,-73"], "choose --region or --polygon"),
        (["--polygon", POINTS, "--plane", "320x240"], "leave out --plane"),
    ):
        assert run(["heatmap", "sample", *words, *SMALL]) == 2
        assert reason in capsys.readouterr().err
