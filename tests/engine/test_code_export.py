"""Lines and scripts that make an answer again give its very numbers."""

from __future__ import annotations

import json
import runpy
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import run
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.engine.session.code_export import (
    FUNCTIONS,
    bounds_line,
    bounds_script,
    map_line,
    map_script,
)
from explorer.engine.session.link import link_of
from explorer.engine.session.recipe import Recipe
from explorer.figures.export import apply_export_policy
from explorer.figures.view_state import ViewState
from explorer.resources import resource_path, samples
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import (
    Origin,
    Region,
    Result,
    Scale,
    Selection,
    Sweep,
    all_sides,
    default_request,
)
from explorer.studies.registry import get_study
from tests import snapshots

pytestmark = pytest.mark.full

QUESTIONS = [
    ("amplification", "", Sweep("delta", 1e-8, 1e-4, 5, Scale.LOG), {"eps0": 1 / 3}, ""),
    ("amplification", "", Sweep("n", 1e3, 1e6, 6, Scale.LOG), {}, "local"),
    ("amplification", "delta", Sweep("eps", 0.01, 0.2, 4, Scale.LINEAR), {}, ""),
    ("shuffle-rdp", "", Sweep("T", 1, 1e4, 3, Scale.LOG), {"k": 500, "lam_max": 64}, "theorem1"),
    ("itemwise", "", None, {"m": 20}, ""),
    ("coordinate-mean", "", None, {}, ""),
]


def _answer(study_id: str, shown: str, sweep: Sweep | None, values: dict[str, float]) -> Result:
    study = get_study(study_id)
    request = default_request(study, **values)
    request = replace(request, quantity=shown or request.quantity)
    if sweep is None:
        assert request.sweep is not None
        sweep = replace(request.sweep, points=5)
    runtime = StudyRuntime()
    try:
        return final_result(runtime, replace(request, sweep=sweep))
    finally:
        runtime.close()


def _same(numbers: dict[str, dict[float, float]], result: Result) -> None:
    assert numbers
    for series in result.series:
        if series.key in numbers:
            wanted = {
                x: y
                for x, y in zip(series.x.tolist(), series.y.tolist(), strict=True)
                if np.isfinite(y)
            }
            got = {x: y for x, y in numbers[series.key].items() if np.isfinite(y)}
            assert list(got) == pytest.approx(list(wanted), rel=1e-12)
            assert list(got.values()) == pytest.approx(list(wanted.values()), rel=1e-9)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q[0]}-{q[1]}-{q[4]}")
def test_line_and_script_compute_the_same_numbers(question, tmp_path: Path, capsys) -> None:
    study_id, shown, sweep, values, claim = question
    result = _answer(study_id, shown, sweep, values)
    hidden = [result.series[-1].key, "no such curve"]

    program, *words = shlex.split(bounds_line(result, claim, hidden))
    assert program == "privacy-explorer"
    file = tmp_path / "again.json"
    assert run([*words, "--output", str(file)]) == 0
    recipe = json.loads(file.read_text())["recipe"]
    asked = Recipe(result.request).to_dict()
    for key in ("study", "values", "quantity", "sweep", "seed"):
        assert recipe[key] == asked[key]
    assert recipe["view"]["claim"] == claim
    assert recipe["view"]["hidden"] == hidden[:1]

    script = tmp_path / "again.py"
    script.write_text(bounds_script(result, claim), encoding="utf-8")
    capsys.readouterr()
    runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    numbers: dict[str, dict[float, float]] = {}
    for row in said.splitlines():
        match row.split(" "):
            case [key, x, y]:
                numbers.setdefault(key, {})[float(x)] = float(y)
    _same(numbers, result)
    found = evaluate_claim(result, claim)
    assert found is not None
    assert found.series.key in numbers
    alone = (study_id, result.request.quantity, found.series.key) in FUNCTIONS
    assert (len(numbers) == 1) is alone
    if not alone:
        assert found.line in said
        assert set(numbers) == {s.key for s in result.series if s.x.size}


def test_the_maps_line_tells_nothing_that_is_not_private(capsys, tmp_path: Path) -> None:
    from explorer.checkins import open_checkins

    runtime = StudyRuntime()
    with resource_path(samples()[0].file) as path:
        data = open_checkins(path, cache_dir=None, use_cache=False)
        runtime.add_data(data)
        box = Region(40.55, -74.1, 40.9, -73.75)
        selection = Selection(
            data.fingerprint, box, None, None, 150, 7, None, all_sides(Origin.TYPED)
        )
        request = default_request(get_study("heatmap"), epsilon=1 / 3, sigma=0.01, resolution="16")
        result = final_result(runtime, replace(request, selection=selection))
        view = ViewState.for_result(result)
        recipe = Recipe(result.request, data.basename, view=view.to_dict()).to_dict()
        settings = apply_export_policy(result, view, recipe)[2]
        line, script = map_line(settings), map_script(settings)
        for text in (line, script, link_of(settings)):
            assert data.fingerprint not in text
            assert data.basename not in text
        program, command, file, *words = shlex.split(line)
        assert (program, command, file) == ("privacy-explorer", "heatmap", "FILE")
        written = tmp_path / "again.csv"
        assert run([command, "sample", *words, "--no-cache", "--output", str(written)]) == 0
        capsys.readouterr()
        (values,) = (s.values for s in result.surfaces if s.key in view.surfaces)
        again = [row for row in written.read_text().splitlines() if row and row[0] != "#"]
        total = sum(float(row.split(",")[-1]) for row in again[1:])
        assert total == pytest.approx(float(np.nansum(values)), rel=1e-6)
        done = subprocess.run(
            [sys.executable, "-c", script.replace("'FILE'", "'sample'")],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["recipe"]["values"] == dict(settings["values"])

        drawn = replace(selection, region_from=all_sides(Origin.DRAWN))
        drawn_result = replace(result, request=replace(result.request, selection=drawn))
        line = map_line(apply_export_policy(drawn_result, view, recipe)[2])
        assert "--region" not in line.partition("#")[0]
        snapshots.check(line)
    with pytest.raises(ValueError, match="have not passed") as error:
        map_line(recipe)
    snapshots.check(error.value)
    runtime.close()
