"""*Utility* as a picture and as numbers: the curator's alone, with the map's question inside."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import by_suffix, of_kind
from explorer.figures.recipes import read_recipe
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Result, Series
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments import utility_report as words
from explorer.studies.heatmap.experiments.error_curves import AXES, MEASURES, ErrorCurve
from explorer.studies.heatmap.experiments.plan import QUANTILES
from explorer.studies.heatmap.experiments.utility_report import (
    GREY,
    TARGET,
    TITLE,
    axis_values,
    log_axis,
    utility_result,
)
from explorer.studies.heatmap.mechanisms import MECHANISMS
from tests.figures.reading import group, numbers, to_data, words_of
from tests.figures.samples import maps

LIMIT = "acceptable error"
FORMATS = [f.suffix for f in of_kind()]
STAMP = text.stamp(False, curator_only=True)
SAID = "Judged on these check-ins, 509 users."


def curve_of(mechanism: str, x, y) -> ErrorCurve:
    spread = np.array([y * q for q in (0.8, 0.9, 1.0, 1.1, 1.2)])
    assert len(spread) == len(QUANTILES)
    return ErrorCurve(mechanism, np.array(x), (20,) * len(x), y, 0.95 * y, 1.05 * y, spread)


def result_of(axis: str = "epsilon", measure: str = "emd_km", grey: float = 6.5) -> Result:
    chosen, x = AXES[axis], axis_values(AXES[axis])
    fall = np.linspace(9, 0.5, len(x))
    curves = [curve_of("adaptive", x, fall), curve_of("pyramid", x, 1.5 * fall)]
    drawn = [
        Series(
            c.mechanism,
            MECHANISMS[c.mechanism].title,
            Role.ESTIMATE,
            c.x,
            c.mean,
            MECHANISMS[c.mechanism].references[0],
            c.quantile(0.1),
            c.quantile(0.9),
        )
        for c in curves
    ]
    return utility_result(
        maps().request,
        chosen,
        MEASURES[measure],
        words.TARGET_SHARE,
        drawn,
        curves,
        np.full(len(x), grey),
        1.0,
        STAMP,
        [SAID],
    )


def written(fmt: str, result: Result, **view) -> bytes:
    recipe = Recipe(maps().request, "mine.txt").to_dict() | {"which": {"axis": "epsilon"}}
    look = ViewState(title=TITLE, **{"x_log": True, "y_log": True, **view})
    return render(ExportJob(result, look, recipe, by_suffix(fmt), size_px=(1000, 700), dpi=100))


@pytest.mark.full
@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_is_the_curators_and_opens_as_the_map(fmt: str, tmp_path: Path) -> None:
    path = tmp_path / "which"
    path.write_bytes(written(fmt, result_of()))
    recipe = recipe_from_dict(read_recipe(path))
    assert recipe.request == maps().request
    assert recipe.part is None
    said = words_of(path.read_bytes(), fmt) if fmt in ("svg", "pdf") else path.read_text("latin-1")
    if fmt != "png":
        assert "curator only" in said
        assert SAID.split(",")[0] in said


def test_the_page_has_axes_target_grey_map_and_no_other_seed() -> None:
    content = written("svg", result_of())
    said = words_of(content, "svg")
    for part in (
        "ε, more private to the left",
        "error in km, 9 of 10 maps are below",
        "acceptable error: 1 km",
        "error of a uniform map: 6.5 km",
        STAMP,
        "Bands: 10–90 % of draws.",
        "adaptive quadtree — estimate",
    ):
        assert part in said, part
    assert "noise seed" not in said  # that of the map drew none of the curves
    assert "ε = 1" not in said  # it is on the axis


def test_the_target_stands_at_its_value() -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(written("svg", result_of(), y_log=False))
    for key, level in ((TARGET, 1.0), (GREY, 6.5)):
        path = next(group(root, key).iter("{http://www.w3.org/2000/svg}path"))
        y = to_data(root, "y", numbers(path.get("d"))[:, 1])
        assert np.isclose(y, level, atol=0.02).any(), (key, y)


@pytest.mark.full
@pytest.mark.parametrize(
    ("axis", "measure"), [*((axis, "kl") for axis in AXES), ("epsilon", "similarity")]
)
def test_every_axis_and_measure_is_drawn(axis: str, measure: str) -> None:
    look = {"x_log": log_axis(AXES[axis]), "y_log": MEASURES[measure].log}
    said = words_of(written("svg", result_of(axis, measure), **look), "svg")
    assert AXES[axis].name in said
    assert MEASURES[measure].name in said
    assert (LIMIT in said) is (axis == "epsilon")


def test_the_numbers_are_all_there() -> None:
    result = result_of()
    document = json.loads(written("json", result))
    assert document["stamp"] == STAMP
    tables = {t["key"]: t for t in document["tables"]}
    assert tables["needed"]["rows"][0][0] == "adaptive quadtree"
    draws = tables["draws"]
    assert draws["columns"][:6] == [
        "mechanism",
        "epsilon",
        "draws",
        "mean",
        "mean_low",
        "mean_high",
    ]
    assert len(draws["rows"]) == 2 * len(AXES["epsilon"].values)
    lines = written("csv", result).decode().splitlines()
    rows = list(csv.DictReader(io.StringIO("\n".join(x for x in lines if not x.startswith("#")))))
    assert [float(r["x"]) for r in rows] == list(axis_values(AXES["epsilon"]))
    assert float(rows[0]["adaptive"]) == 9
    assert float(rows[0]["adaptive:high"]) == pytest.approx(9.9)


def test_a_grey_map_that_differs_from_point_to_point_is_no_level() -> None:
    chosen = AXES["sigma"]
    result = utility_result(
        maps().request,
        chosen,
        MEASURES["emd_km"],
        words.MEAN,
        (),
        (),
        np.arange(5.0),
        1.0,
        STAMP,
        [],
    )
    assert result.readouts == ()
    assert replace(result, notes=()).stamp == STAMP
