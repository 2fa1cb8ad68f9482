"""The studies' own results through every format; see also the made-up ones."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PIL import Image

from explorer.checkins import open_checkins
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.recipes import read_recipe
from explorer.figures.tables import table_text
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.resources import resource_path, samples
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Result,
    Scale,
    Selection,
    Sweep,
    all_sides,
    default_request,
)
from explorer.studies.registry import get_study
from tests.figures.reading import panes
from tests.figures.samples import export

MAPS = ("svg", "gif", "json")


@pytest.fixture(scope="module")
def host() -> Iterator[StudyRuntime]:
    made = StudyRuntime()
    yield made
    made.close()


@pytest.fixture(scope="module")
def accountant(host) -> Result:
    request = default_request(get_study("shuffle-rdp"))
    return final_result(host, replace(request, sweep=Sweep("T", 1, 1e6, 40, Scale.LOG)))


@pytest.fixture(scope="module")
def heatmap(host, tmp_path_factory) -> Result:
    sample = samples()[0]
    with resource_path(sample.file) as path:
        data = open_checkins(
            path,
            cache_dir=tmp_path_factory.mktemp("cache"),
            known_synthetic=frozenset({sample.sha256}),
        )
    host.add_data(data)
    selection = Selection(data.fingerprint, Region(*sample.suggested_region), users=100)
    request = default_request(get_study("heatmap"), resolution="64")
    request = replace(request, selection=selection, fidelity=Fidelity.COARSE, seed=5)
    return final_result(host, request)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "fmt"), [*product(["accountant"], ["png", "csv"]), *product(["heatmap"], MAPS)]
)
def test_every_export_brings_back_its_request(kind, fmt, request, tmp_path):
    result = request.getfixturevalue(kind)
    view = ViewState.for_result(
        result, theme="dark", surfaces=tuple(s.key for s in result.surfaces)
    )
    recipe = Recipe(result.request, "sample.txt.gz", view=view.to_dict()).to_dict()
    target = tmp_path / f"out.{fmt}"
    export(result, view, recipe, target, size_px=(900, 600), dpi=90)
    read = recipe_from_dict(read_recipe(target))
    assert read.request == result.request
    assert ViewState.from_dict(read.view) == view


def test_a_private_map_brings_back_its_settings(heatmap, tmp_path):
    """Not the draw, nor its data: those are the curator's."""
    asked = replace(heatmap.request.selection, region_from=all_sides(Origin.PUBLIC), data_seed=3)
    result = replace(heatmap, request=replace(heatmap.request, selection=asked))
    view = ViewState.for_result(result, theme="dark")
    recipe = Recipe(result.request, "sample.txt.gz", view=view.to_dict()).to_dict()
    export(result, view, recipe, tmp_path / "out.json")
    read = recipe_from_dict(read_recipe(tmp_path / "out.json"))
    assert read.request.values == result.request.values
    assert read.request.selection is None
    assert read.part.of(Selection("other data", Region(0, 0, 1, 1))) == replace(
        asked, data="other data"
    )
    assert ViewState.from_dict(read.view) == view


def test_the_accountants_table_holds_its_curves(accountant):
    view = ViewState.for_result(accountant)
    lines = [
        line for line in table_text(accountant, view, {}).splitlines() if not line.startswith("#")
    ]
    header = lines[0].split(",")
    columns = ["x"]
    for s in accountant.series:
        ends = [] if s.low is None else [f"{s.key}:low", f"{s.key}:high"]
        columns += [s.key, *ends]
    assert header == columns
    rows = [line.split(",") for line in lines[1:]]
    places = [float(row[0]) for row in rows]
    assert places == sorted({x for s in accountant.series for x in s.x})
    for s in accountant.series:
        cells = {x: row[header.index(s.key)] for x, row in zip(places, rows, strict=True)}
        expected = {x: y for x, y in zip(s.x, s.y, strict=True) if np.isfinite(y)}
        assert {x: float(cell) for x, cell in cells.items() if cell} == expected


def test_the_samples_map_is_stamped_synthetic(heatmap, tmp_path):
    view = ViewState.for_result(heatmap, surfaces=("true", "private"))
    target = tmp_path / "map.json"
    export(heatmap, view, {}, target)
    document = json.loads(target.read_text())
    assert document["stamp"] == "synthetic data"
    assert {s["key"] for s in document["surfaces"]} == {"true", "private"}
    assert any(r["curator_only"] for r in document["readouts"])
    for surface, read in zip(heatmap.surfaces, document["surfaces"], strict=True):
        np.testing.assert_array_equal(np.array(read["values"], np.float32), surface.values)


@pytest.mark.full
def test_the_brightest_spot_of_the_private_map_is_drawn_where_it_is(heatmap):
    from explorer.figures.picture import figure_bytes

    private = heatmap.surface("private").values
    view = ViewState.for_result(heatmap, show_basemap=False, show_cities=False)
    data = figure_bytes(heatmap, view, {}, "png", size_px=(900, 900), dpi=100)
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    (columns,) = panes(pixels, np.array([68, 1, 84]))
    part = pixels[:, columns]
    # viridis: green minus blue grows with the value, and paper and ink have none of it.
    warm = part[..., 1] - part[..., 2]
    dark = np.argwhere((np.abs(part - [68, 1, 84]) <= 6).all(2))
    south, east = dark.max(0)
    north, west = dark.min(0)
    row, column = np.unravel_index(np.argmax(private), private.shape)
    y, x = np.argwhere(warm == warm.max()).mean(0)
    assert (x - west) / (east - west) * 64 == pytest.approx(column + 0.5, abs=1.5)
    assert (south - y) / (south - north) * 64 == pytest.approx(row + 0.5, abs=1.5)
