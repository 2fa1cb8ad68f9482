"""Curves from users' files: read, refused row by row, kept in sessions and recipes, exported."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import run
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.engine.session import imported_curves
from explorer.engine.session.imported_curves import (
    CurveFile,
    imported_from_list,
    imported_to_list,
    merge_imported,
    plot_of,
    read_curves,
    with_imported_curves,
)
from explorer.engine.session.plot_view import first_keys
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import Session, SessionState, state_from_dict, state_to_dict
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import by_suffix
from explorer.figures.recipes import read_recipe
from explorer.figures.style import LIGHT, series_styles
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.study import Sweep, default_request
from explorer.studies.registry import get_study
from tests import snapshots

PLOT = ("amplification", "eps", "eps0")
WIDE = "eps0,Mine,Theirs\n4,0.4,0.8\n1,0.1,\n2,0.2,0.3\n"
LONG = "x,y,name,role\n1,0.1,Mine,upper bound\n2,0.2,Mine,upper\n1,0.3,Other,\n"


def of(text: str, folder: Path, name: str = "my.csv") -> CurveFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_curves(None, (path, PLOT), None)


def test_a_column_a_curve_or_a_row_a_point(tmp_path: Path) -> None:
    mine, theirs = of(WIDE, tmp_path).curves
    assert (mine.label, mine.x, mine.y) == ("Mine (my.csv)", (1, 2, 4), (0.1, 0.2, 0.4))
    assert (theirs.x, theirs.y) == ((2, 4), (0.3, 0.8))
    mine, other = of(LONG, tmp_path).curves
    assert (mine.called, mine.y, other.called) == ("upper bound", (0.1, 0.2), "")
    snapshots.check(mine.series.note)
    assert mine.series.role is Role.BASELINE
    (alone,) = of("1\t0,5\n2\t0,75\n", tmp_path).curves
    assert (alone.label, alone.y) == ("my.csv", (0.5, 0.75))
    assert [c.name for c in of("x;a;a\n1;2;3\n2;3;4\n", tmp_path).curves] == ["a", "a (2)"]


def test_bad_rows_are_named_with_what_to_do(tmp_path: Path) -> None:
    read = of(
        "x,y,name,role\n1,0.1,a,\nb,0.2,a,\n3,0.3,a,best\n4,0.3\n5,0.5,a,exact\n6,1,a,\n", tmp_path
    )
    assert [c.x for c in read.curves] == [(1, 6)]
    assert read.rejected == (
        "my.csv, line 3, x: 'b' is not a number; write a number such as 0.25, or leave the row out",
        "my.csv, line 4, role: 'best' is no role; write upper bound, lower bound, exact, estimate, "
        "baseline, or nothing",
        "my.csv, line 5: 2 fields, 4 expected; give every row as many",
        "my.csv, line 6, role: “a” has another role above; give each curve one",
    )
    read = of("x,a,b\n1,2,3\n2,?,4\n3,,\n", tmp_path)
    assert [row.split(": ")[0] for row in read.rejected] == [
        "my.csv, line 3, a",
        "my.csv, line 4",
    ]
    with pytest.raises(TableFileError, match=r"my.csv, line 2") as error:
        of("user,lat\nada,1\nbob,2\n", tmp_path)
    snapshots.check(error.value)
    with pytest.raises(TableFileError, match="at least 2 are") as error:
        of("", tmp_path)
    snapshots.check(error.value)


INTERVALS = (
    "eps0,Mine,Mine low (95 % interval),Mine high,Yours,Yours ±\n"
    "1,2,1,4,3,.5\n2,3,2,3,,\n3,4,,,5,0\n"
)


def test_intervals_are_low_and_high_or_half_a_width(tmp_path: Path) -> None:
    mine, yours = of(INTERVALS, tmp_path).curves
    assert (mine.y, mine.meaning) == ((2, 3, 4), "95 % interval")
    np.testing.assert_array_equal([mine.low, mine.high], [[1, 2, np.nan], [4, 3, np.nan]])
    assert (yours.x, yours.low, yours.high, yours.meaning) == ((1, 3), (2.5, 5), (3.5, 5), "")
    assert mine.meaning in mine.series.note
    for text, meaning in (
        ("x,y,±\n1,2,.5\n2,3,1\n", ""),
        ("x,Mine,low,high (s.d.)\n1,2,1.5,2.5\n2,3,2,4\n", "s.d."),
    ):
        (alone,) = of(text, tmp_path).curves
        assert (alone.low, alone.high, alone.meaning) == ((1.5, 2), (2.5, 4), meaning)
    assert [c.name for c in of("x,a,b,low\n1,2,3,4\n2,3,4,5\n", tmp_path).curves] == [
        "a",
        "b",
        "low",
    ]
    said = json.loads(json.dumps(imported_to_list((mine, yours))))
    again = imported_from_list(said, [])
    assert repr(again) == repr((mine, yours))  # NaN is not itself
    for end, value in (("low", [5, 1, 1]), ("high", [9])):
        left_out: list[str] = []
        assert imported_from_list([{**said[0], end: value}], left_out) == ()
        assert left_out[0].startswith(f"own[0].{end}")


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ("1,2,3,4", "low"),
        ("1,2,1,1.5", "high"),
        ("1,2,,3", "low"),
        ("1,2,1,", "high"),
        ("1,2,a,3", "low"),
        ("1,,1,3", "y"),
    ],
)
def test_a_row_whose_interval_is_none_is_named_with_its_field(row, where, tmp_path: Path) -> None:
    for heading, field in (("x,y,low,high", where), ("x,a,a low,a high", f"a {where}")):
        read = of(f"{heading}\n{row}\n5,6,,\n", tmp_path)
        assert len(read.curves[0].x) == 1
        (said,) = read.rejected
        assert said.startswith(f"my.csv, line 2, {field.replace('a y', 'a')}: ")
    with pytest.raises(TableFileError, match="'a low'"):
        of("x,a,a low\n1,2,1\n2,3,1\n", tmp_path)
    (negative,) = of("x,y,±\n1,2,-1\n2,3,1\n", tmp_path).rejected
    assert negative.startswith("my.csv, line 2, ±: ")


def test_a_file_read_again_takes_the_place_of_what_it_was(tmp_path: Path, monkeypatch) -> None:
    first = of(WIDE, tmp_path).curves
    other = of(WIDE, tmp_path, "other.csv").curves
    again = of("x,New\n1,1\n2,2\n", tmp_path).curves
    assert merge_imported((*first, *other), again) == (*other, *again)
    monkeypatch.setattr(imported_curves, "MAX_CURVES", 3)
    with pytest.raises(TableFileError, match="4 own curves with 10") as error:
        merge_imported(first, other)
    snapshots.check(error.value)


@pytest.fixture
def drawn(tmp_path: Path):
    study = get_study("amplification")
    request = replace(default_request(study), sweep=Sweep("eps0", 0.5, 4.0, 4))
    runtime = StudyRuntime()
    result = final_result(runtime, request)
    runtime.close()
    own = of(WIDE, tmp_path).curves
    assert plot_of(request) == own[0].plot
    return result, own, with_imported_curves(result, own)


def test_they_are_baselines_and_colour_no_other_curve_anew(drawn) -> None:
    result, own, both = drawn
    assert both.series[: len(result.series)] == result.series
    assert (
        with_imported_curves(result, [replace(c, plot=("amplification", "eps", "n")) for c in own])
        == result
    )
    styles, before = (series_styles(r.series, "light") for r in (both, result))
    assert {k: styles[k] for k in before} == before
    assert {styles[c.key].colour for c in own} == {LIGHT.muted}
    assert all(styles[c.key].dash for c in own)
    low = replace(
        both, series=tuple(replace(s, y=np.zeros_like(s.y)) if s.own else s for s in both.series)
    )
    assert evaluate_claim(low).series.key == evaluate_claim(result).series.key
    keys = [s.key for s in both.series]
    look = SessionState("amplification").look_of("amplification", "eps")
    assert set(first_keys(look, result.request, keys)) >= {c.key for c in own}


@pytest.mark.full
@pytest.mark.parametrize("fmt", ["csv", "png", "svg"])
def test_every_format_has_them_and_its_recipe_brings_them_back(
    drawn, fmt: str, tmp_path: Path
) -> None:
    result, own, both = drawn
    view = ViewState.for_result(result, own=tuple(imported_to_list(own)))
    recipe = Recipe(result.request, view=view.to_dict()).to_dict()
    path = tmp_path / f"plot.{fmt}"
    path.write_bytes(render(ExportJob(both, view, recipe, by_suffix(fmt))))
    if fmt in ("csv", "json", "svg"):
        assert "Mine (my.csv)" in path.read_text(encoding="utf-8")
    back = recipe_from_dict(read_recipe(path))
    assert imported_from_list(back.view["own"], []) == own
    assert ViewState.from_dict(back.view) == view


def test_exports_have_their_intervals_and_what_they_are(drawn, tmp_path: Path) -> None:
    result, _, _ = drawn
    own = of(INTERVALS, tmp_path).curves
    both = with_imported_curves(result, own)
    view = ViewState.for_result(result, own=tuple(imported_to_list(own)))
    recipe = Recipe(result.request, view=view.to_dict()).to_dict()
    for suffix in ("csv", "svg"):
        path = tmp_path / f"plot.{suffix}"
        path.write_bytes(render(ExportJob(both, view, recipe, by_suffix(suffix))))
        back = recipe_from_dict(read_recipe(path))
        assert repr(imported_from_list(back.view["own"], [])) == repr(own)
    lines = (tmp_path / "plot.csv").read_text(encoding="utf-8").splitlines()
    assert any("95 % interval" in line for line in lines if line[0] == "#")
    rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
    assert [r[f"{own[0].key}:high"] for r in rows if r["x"] in ("1", "2", "3")] == ["4", "3", ""]


def test_sessions_keep_them_and_leave_out_what_is_no_curve(drawn) -> None:
    _, own, _ = drawn
    session = Session(SessionState("amplification"))
    session.set_own(own, "import curves")
    raw = json.loads(json.dumps(state_to_dict(session.state)))
    assert state_from_dict(raw).own == session.state.own == own
    session.undo()
    assert session.state.own == ()
    said: list[str] = []
    raw["own"][0]["y"] = [1.0]
    raw["own"][1]["over"] = "type1"
    assert state_from_dict(raw, said).own == ()
    assert said == [
        "own[0]: 3 x and 1 y; there must be as many",
        "own[1].over: 'eps' can't be swept over 'type1'",
    ]


def test_the_command_line_draws_them_and_names_bad_rows(tmp_path: Path, capsys) -> None:
    of(WIDE + "five,1,2\n", tmp_path)
    path = tmp_path / "out.csv"
    asked = ["bounds", "amplification", "--sweep", "eps0=0.5:4:4", "--output", str(path)]
    assert run([*asked, "--curves", str(tmp_path / "my.csv")]) == 0
    snapshots.check(capsys.readouterr().err)
    header = next(t for t in path.read_text(encoding="utf-8").splitlines() if t[0] != "#")
    snapshots.check(header)
    (mine, _) = imported_from_list(recipe_from_dict(read_recipe(path)).view["own"], [])
    assert mine.x == (1, 2, 4)
