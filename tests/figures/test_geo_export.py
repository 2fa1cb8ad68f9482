"""Cells as GeoJSON (RFC 7946) and GeoTIFF: what is in them, and that nothing private leaves."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from explorer.cli import run
from explorer.engine.session.recipe import Recipe
from explorer.figures import formats
from explorer.figures.formats import FORMATS, ExportFormat, by_suffix
from explorer.figures.recipes import MAX_HEAD, read_recipe
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Origin
from tests.figures.reading import BOTH
from tests.figures.samples import (
    CELLS,
    RECIPE,
    REGION,
    STAMP,
    curves,
    export,
    file_bytes,
    maps,
)

pytestmark = pytest.mark.full

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


@pytest.mark.parametrize("fmt", CELLS)
@pytest.mark.parametrize("came_from", FOUND)
def test_a_place_that_may_not_be_told_is_refused_with_a_remedy(came_from: Origin, fmt: str) -> None:
    result = maps(came_from=came_from)
    said = rf"^{by_suffix(fmt).name}: .*give its four edges.* or choose CSV or JSON"
    with pytest.raises(ValueError, match=said):
        file_bytes(result, ViewState.for_result(result), RECIPE, fmt)
    own = ViewState.for_result(result, surfaces=BOTH)
    assert file_bytes(result, own, RECIPE, fmt)  # the curator's own file


@pytest.mark.parametrize("fmt", CELLS)
def test_with_a_told_place_the_recipe_is_the_gates(fmt: str, tmp_path: Path) -> None:
    result = maps()
    view = ViewState.for_result(result)
    recipe = Recipe(result.request, "name.txt").to_dict()
    made = file_bytes(result, view, recipe, fmt)
    path = tmp_path / "cells"
    path.write_bytes(made)
    assert read_recipe(path)["private_only"] is True
    for withheld in (b"name.txt", b"cdcd", b'"true":', b"True heatmap", b"0.834"):
        assert withheld not in made
    other = replace(result, surfaces=(maps(np.eye(16)).surfaces[0], result.surfaces[1]))
    assert file_bytes(other, view, recipe, fmt) == made


@pytest.mark.parametrize("fmt", CELLS)
def test_the_recipe_comes_back(fmt: str, tmp_path: Path) -> None:
    path = tmp_path / f"cells.{fmt}"
    result = maps()
    export(result, ViewState.for_result(result, surfaces=BOTH), RECIPE, path)
    assert read_recipe(path) == RECIPE


def test_other_geojson_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cells.geojson"
    for text in (
        '{"type": "FeatureCollection", "features": []}',
        '{"type":"Point","coordinates":[1,2]}',
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match="this is GeoJSON"):
            read_recipe(path)


def raster(path: Path, result, **view):
    """Open what a map is as a GeoTIFF."""
    export(result, ViewState.for_result(result, **view), RECIPE, path)
    return pytest.importorskip("rasterio").open(path)


def test_a_geotiff_lies_where_the_map_does_north_up(tmp_path: Path) -> None:
    with raster(tmp_path / "a.tif", maps(), surfaces=BOTH) as image:
        assert image.crs.to_epsg() == 4326
        assert tuple(image.bounds) == pytest.approx(
            (REGION.west, REGION.south, REGION.east, REGION.north), abs=1e-12
        )
        assert image.transform.e < 0 < image.transform.a
        assert image.descriptions == ("True heatmap", "Private heatmap: pyramid, ε = 1")
        assert [image.tags(band)["KEY"] for band in (1, 2)] == list(BOTH)
        assert f"curator only — {STAMP}" in image.tags()["STAMP"]
        assert "Similarity = 0.834" in image.tags()["ABOUT"]
        assert np.isnan(image.nodata)
        true, private = image.read()
    assert (true[16 - 1 - 1, 2], private[16 - 1 - 13, 11]) == (np.float32(0.8), 0.5)
    assert np.count_nonzero(true) == np.count_nonzero(private) == 1


def test_a_place_read_off_a_geotiff_is_that_of_the_cell(tmp_path: Path) -> None:
    """A longitude and latitude in the hot cell give its value, beside it nothing."""
    high, wide = (REGION.north - REGION.south) / 16, (REGION.east - REGION.west) / 16
    lat, lon = REGION.south + 1.5 * high, REGION.west + 2.5 * wide
    with raster(tmp_path / "a.tif", maps(), surfaces=BOTH) as image:
        there, north, east = image.sample([(lon, lat), (lon, lat + high), (lon + wide, lat)], 1)
    assert (there[0], north[0], east[0]) == (np.float32(0.8), 0, 0)


def test_a_geotiff_of_a_private_map_holds_its_cells_and_no_other_band(tmp_path: Path) -> None:
    with raster(tmp_path / "a.tif", maps()) as image:
        assert image.count == 1
        (private,) = image.read()
        assert np.array_equal(private[::-1], maps().surface("private").values)
        told = image.tags() | image.tags(1)
    assert set(told) == {
        "TIFFTAG_IMAGEDESCRIPTION",
        "TIFFTAG_SOFTWARE",
        "STAMP",
        "ABOUT",
        "KEY",
        "AREA_OR_POINT",
    }
    assert "true" not in json.loads(told["TIFFTAG_IMAGEDESCRIPTION"])["view"]["surfaces"]


def test_a_large_geotiff_has_its_recipe_before_its_numbers(tmp_path: Path) -> None:
    """What reads recipes looks at a file's beginning alone."""
    values = np.random.default_rng(1).random((1024, 1024), np.float32)
    path = tmp_path / "a.tif"
    raster(path, maps(values, values), surfaces=BOTH).close()
    assert path.stat().st_size > MAX_HEAD
    assert read_recipe(path) == RECIPE


def test_other_and_damaged_tiffs_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    Image.new("L", (4, 4)).save(path)
    with pytest.raises(ValueError, match="no recipe"):
        read_recipe(path)
    export(maps(), ViewState.for_result(maps()), RECIPE, path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ValueError, match="damaged"):
        read_recipe(path)


@pytest.mark.parametrize("form", [f for f in FORMATS if f.library], ids=lambda f: f.suffix)
def test_without_its_library_a_format_says_what_to_install(
    form: ExportFormat,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert form.missing == ""
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    remedy = f"{form.name} needs the library {form.library}, which is not installed: pip install "
    assert form.missing == f"{remedy}'.[{form.extra}]'"
    result = maps()
    with pytest.raises(ValueError, match=re.escape(form.missing)):
        file_bytes(result, ViewState.for_result(result), RECIPE, form.suffix)
    path = tmp_path / f"map.{form.suffix}"
    assert run(["heatmap", "sample", "--output", str(path)]) != 0
    assert form.missing in " ".join(capsys.readouterr().err.split())
    assert not path.exists()


@pytest.mark.parametrize("fmt", CELLS)
def test_curves_are_refused(fmt: str) -> None:
    result = curves()
    said = rf"{by_suffix(fmt).name} is for maps; choose one of \.png .*\.json for"
    with pytest.raises(ValueError, match=said):
        file_bytes(result, ViewState.for_result(result), RECIPE, fmt)


@pytest.mark.parametrize("fmt", CELLS)
def test_the_command_line_has_it_for_maps_alone(
    fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"out.{fmt}"
    assert run(["bounds", "amplification", "--output", str(path)]) != 0
    error = capsys.readouterr().err
    for suffix in (".png", ".svg", ".pdf", ".csv", ".json"):
        assert suffix in error
    asked = ["heatmap", "sample", "--resolution", "16", "--quiet", "--panes", "private"]
    assert run([*asked, "--output", str(path)]) == 0
    assert read_recipe(path)["private_only"] is True


def test_a_large_map_has_all_its_cells() -> None:
    values = np.random.default_rng(1).random((128, 128), np.float32)
    result = maps(values, values)
    made = document(result, surfaces=BOTH)
    assert len(made["features"]) == 128 * 128
