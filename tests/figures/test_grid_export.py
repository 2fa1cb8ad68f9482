"""A grid's answer in every format: the same numbers by other programs, the recipe, the pictures."""

from __future__ import annotations

import io
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pypdf import PdfReader

from explorer import __version__
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.experiments import Checkpoint
from explorer.engine.grid_runner import GridRunner
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.formats import Kind, by_suffix, of_kind
from explorer.figures.grid import (
    GridJob,
    columns_of,
    headings,
    legend_series,
    panels,
    ranges,
    rendered_grid,
    rows_of,
    shape,
)
from explorer.figures.recipes import from_parquet, read_exported, read_recipe
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.grid import Grid
from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study, study_infos
from tests.engine.test_grid_runner import GRIDS, tiny

QUICK = ("amplification", "choose-alpha", "coordinate-learnt", "unbounded", "private-regression")


def computed(study_id, grid, folder):
    runner = GridRunner(tiny(study_id), grid)
    with closing(Checkpoint(folder / f"{study_id}.db")) as checkpoint:
        for _ in runner.run(InPlaceExecutor(), checkpoint):
            pass
    return runner.answer


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grids")
    known = {}

    def answer(study_id, grid=None):
        grid = grid or Grid(GRIDS[study_id])
        if (study_id, grid) not in known:
            known[study_id, grid] = computed(study_id, grid, folder)
        return known[study_id, grid]

    return answer


def job_of(answer, suffix, **changes):
    view = changes.pop("view", ViewState(x_log=True, y_log=True))
    recipe = Recipe(answer.request, view=view.to_dict(), grid=answer.grid).to_dict()
    return GridJob(answer, view, recipe, by_suffix(suffix, Kind.GRID), **changes)


def as_frames(answer):
    """Return the CSV and the Parquet file as pandas reads them."""
    text = rendered_grid(job_of(answer, "csv"))
    from_csv = pd.read_csv(
        io.BytesIO(text), comment="#", dtype=object, keep_default_na=False, na_values=[""]
    )
    from_parquet = pd.read_parquet(io.BytesIO(rendered_grid(job_of(answer, "parquet"))))
    return from_csv, from_parquet


@pytest.mark.parametrize("study_id", QUICK)
def test_pandas_reads_every_point_of_every_curve(study_id, answers) -> None:
    answer = answers(study_id)
    from_csv, from_parquet = as_frames(answer)
    expected = [
        (cell.request, s, i) for cell in answer.cells for s in cell.series for i in range(len(s.x))
    ]
    assert len(from_csv) == len(from_parquet) == len(expected) > 0
    assert list(from_csv.columns) == list(from_parquet.columns) == list(columns_of(answer))
    swept = answer.request.sweep.key
    records = zip(
        expected, from_csv.to_dict("records"), from_parquet.to_dict("records"), strict=True
    )
    for (request, s, i), text, row in records:
        for axis in answer.axes:
            key = axis.parameter.key
            assert row[key] == request[key]
            assert str(text[key]) == str(request[key])
        assert row[swept] == s.x[i]
        assert (row["series"], row["role"]) == (s.key, s.role.value)
        assert row["reference"] == str(s.reference)
        assert row["version"] == __version__
        assert row["seed"] == request.seed
        if np.isfinite(s.y[i]):
            assert row["value"] == float(text["value"]) == s.y[i]  # to the last bit
            slack = 1e-14 * abs(s.y[i])
            if s.role is Role.UPPER:
                assert row["rounded"] >= s.y[i] - slack
            if s.role is Role.LOWER:
                assert row["rounded"] <= s.y[i] + slack
            assert row["rounded"] == pytest.approx(s.y[i], rel=1e-3, abs=1e-300)
        else:
            assert pd.isna(row["value"])
            assert pd.isna(text["value"])
            assert row["absent"] == s.undefined_reason != ""


def test_no_parameter_is_called_like_a_column_of_the_table() -> None:
    from explorer.figures.grid import _OWN_COLUMNS

    for info in study_infos():
        keys = {p.key for p in get_study(info.id).parameters}
        assert not keys & {"study", "quantity", *_OWN_COLUMNS}, info.id


def test_tables_have_the_parameters_that_matter_as_columns(answers) -> None:
    columns = list(columns_of(answers("amplification")))
    assert columns[:5] == ["study", "quantity", "n", "delta", "eps0"]


@pytest.mark.full
@pytest.mark.parametrize("suffix", [f.suffix for f in of_kind(Kind.GRID)])
def test_every_format_carries_question_view_and_grid(suffix, answers, tmp_path) -> None:
    answer = answers("amplification")
    path = tmp_path / "a[b]*?.file"
    path.write_bytes(rendered_grid(job_of(answer, suffix)))
    recipe = recipe_from_dict(read_recipe(path))
    assert recipe.request == answer.request
    assert recipe.grid == answer.grid
    assert recipe.left_out == ()
    assert read_exported(None, (path, None), None) == read_recipe(path)


def test_other_parquet_files_are_not_taken_for_ours(tmp_path) -> None:
    path = tmp_path / "checkins.parquet"
    pd.DataFrame({"user": [1, 2], "lat": [0.5, 1.5]}).to_parquet(path)
    assert read_exported(None, (path, None), None) is None
    with pytest.raises(ValueError, match="no recipe"):
        read_recipe(path)
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match="damaged"):
        read_recipe(path)


def test_a_damaged_parquet_file_is_refused_in_printable_words(tmp_path) -> None:
    """Whatever the database quotes of it, and without the folder."""
    path = tmp_path / "a.parquet"
    table = pa.table({"x": [1.0]}, metadata={"recipe": '{"schema": "privacy-explorer-recipe/1"}'})
    pq.write_table(table, path)
    whole = path.read_bytes()
    assert read_recipe(path)["schema"] == "privacy-explorer-recipe/1"
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for at in (footer, len(whole) - 5):  # a type that there is not, and the footer's length
        path.write_bytes(whole[:at] + b"\x1e" + whole[at + 1 :])
        with pytest.raises(ValueError, match=r"a\.parquet: .*damaged") as caught:
            from_parquet(path)
        assert str(caught.value).isprintable()
        assert str(tmp_path) not in str(caught.value)


def test_a_grid_that_cannot_be_asked_is_left_out_of_its_recipe(answers) -> None:
    raw = job_of(answers("amplification"), "json").recipe
    recipe = recipe_from_dict({**raw, "grid": {"over": ["n=10", "nonsense=1"]}})
    assert recipe.grid is None
    assert "nonsense" in recipe.left_out[0]


@pytest.mark.full
def test_json_says_all_of_every_cell(answers) -> None:
    answer = answers("private-regression", Grid(("eps=1,4",), trials=3))
    document = json.loads(rendered_grid(job_of(answer, "json")))
    assert document["finished"]
    assert document["over"] == {"eps": [1.0, 4.0]}
    for cell, said in zip(answer.cells, document["cells"], strict=True):
        assert said["seeds"] == list(cell.seeds)
        assert len(said["seeds"]) == 3
        for s, told in zip(cell.series, said["series"], strict=True):
            assert told["role"] == s.role.value
            assert [y if y is not None else np.nan for y in told["y"]] == pytest.approx(
                s.y, nan_ok=True
            )


def test_plots_stand_in_rows_and_columns_with_the_same_axes(answers) -> None:
    answer = answers("amplification")
    assert shape(answer) == (1, 2, 2)
    assert headings(answer) == (
        ["n = 1,000 clients", "n = 100,000 clients"],
        ["δ = 10⁻⁹", "δ = 10⁻⁶"],
    )
    for panel in panels(answer, 0):
        (cell,) = panel.cells
        n, delta = answer.values_at(cell.place)
        assert cell.request["n"] == n == (1000, 100_000)[panel.column]
        assert cell.request["delta"] == delta == (1e-9, 1e-6)[panel.row]
    (_, right), (low, high) = ranges(answer, (), True, True)
    for cell in answer.cells:
        for s in cell.series:
            there = s.y[s.present & (s.y > 0)]
            assert s.x.max() <= right
            assert there.size == 0 or low <= there.min() <= there.max() <= high


@pytest.mark.full
def test_colours_stand_for_the_third_parameter_and_pages_do_not(answers) -> None:
    over = ("eps=0.2,1", "r=0.008,0.1", "delta=1e-12,1e-6")
    pages = answers("unbounded", Grid(over))
    assert shape(pages) == (2, 2, 2)
    colours = answers("unbounded", Grid(over, colours=True))
    assert shape(colours) == (1, 2, 2)
    assert [s.label for s in legend_series(colours)] == ["δ = 10⁻¹²", "δ = 10⁻⁶"]
    for panel in panels(colours, 0, "chernoff"):
        assert len(panel.cells) == len(panel.series) == 2
        for cell, s in zip(panel.cells, panel.series, strict=True):
            own = next(o for o in cell.series if o.key == "chernoff")
            assert s.key == f"delta={cell.request['delta']}"
            np.testing.assert_array_equal(s.y, own.y)
    assert len(PdfReader(io.BytesIO(rendered_grid(job_of(pages, "pdf")))).pages) == 2
    assert len(PdfReader(io.BytesIO(rendered_grid(job_of(colours, "pdf")))).pages) == 1


@pytest.mark.full
def test_pictures_have_the_size_asked_for_and_what_fails(answers) -> None:
    answer = answers("amplification")
    picture = Image.open(io.BytesIO(rendered_grid(job_of(answer, "png", size_px=(900, 700)))))
    assert picture.size == (900, 700)
    nothing = job_of(answer, "png", view=ViewState(hidden=tuple(s.key for s in answer.series)))
    with pytest.raises(ValueError, match="no curve"):
        rendered_grid(nothing)
    with pytest.raises(ValueError, match="at least 100"):
        rendered_grid(job_of(answer, "png", size_px=(10, 10)))


@pytest.mark.full
def test_a_cell_without_an_answer_is_a_row_that_says_why(answers) -> None:
    answer = answers("amplification")
    broken = replace(answer.cells[0], series=(), error="n: too few")
    answer = replace(answer, cells=(broken, *answer.cells[1:]))
    first = dict(zip(columns_of(answer), next(rows_of(answer)), strict=True))
    assert (first["n"], first["value"], first["absent"]) == (1000, None, "n: too few")
    svg = rendered_grid(job_of(answer, "svg")).decode()
    for said in ("n = 1,000", "δ = 10", "upper bound", "no answer: n: too few"):
        assert said in svg


def test_defaults_of_every_study_can_stand_in_a_recipe_without_a_grid() -> None:
    for info in study_infos():
        assert "grid" not in Recipe(default_request(get_study(info.id))).to_dict()
