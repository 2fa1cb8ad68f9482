import csv
import io
import json
import re

import numpy as np
import pytest

from explorer.figures.tables import result_document, table_text
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from tests.figures.samples import (
    RECIPE,
    REGION,
    STAMP,
    curves,
    export,
    file_bytes,
    hot_map,
    maps,
    series,
)


def read(text: str) -> tuple[list[str], list[dict[str, str]]]:
    comments = [line for line in text.splitlines() if line.startswith("#")]
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return comments, list(csv.DictReader(io.StringIO(rest)))


def test_curves_come_back_exactly_and_empty_where_not_valid():
    result = curves()
    comments, rows = read(table_text(result, ViewState.for_result(result), RECIPE))
    assert list(rows[0]) == [
        "x",
        "paper",
        "exact",
        "lower",
        "simulated",
        "simulated:low",
        "simulated:high",
    ]
    for s in result.series:
        x = np.array([float(row["x"]) for row in rows])
        y = np.array([float(row[s.key]) if row[s.key] else np.nan for row in rows])
        np.testing.assert_array_equal(x, s.x)
        np.testing.assert_array_equal(y, np.where(s.present, s.y, np.nan))
    assert rows[-1]["paper"] == ""
    text = "\n".join(comments)
    assert "Curve paper —" in text
    assert "Theorem 2 (constant corrected)" in text
    assert "larger than n" in text
    assert "stamp" not in text


def test_curves_over_different_points_share_a_table():
    a = series("a", Role.EXACT, [1, 2, 3], [1, 2, 4])
    b = series("b", Role.EXACT, [10, 20], [2, 3])
    result = curves(a, b)
    hidden = ("paper", "exact", "lower", "simulated")
    _, rows = read(table_text(result, ViewState.for_result(result, hidden=hidden), RECIPE))
    assert [tuple(row.values()) for row in rows] == [
        ("1", "1", ""),
        ("2", "2", "10"),
        ("3", "", "20"),
        ("4", "3", ""),
    ]


def test_what_does_not_hold_and_what_was_not_computed_are_distinguished():
    whole = series("whole", Role.UPPER, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    thin = series(
        "thin", Role.EXACT, [np.nan, 7, np.nan], [1, 3, 5], undefined_reason="ε₀ is too large"
    )
    none = series(
        "none", Role.UPPER, [np.nan] * 5, [1, 2, 3, 4, 5], undefined_reason="n is too small"
    )
    runs = series("runs", Role.ESTIMATE, [1, 2], [4, 4])
    result = curves(whole, thin, none, runs)
    hidden = ("paper", "exact", "lower", "simulated")
    view = ViewState.for_result(result, hidden=hidden)
    comments, rows = read(table_text(result, view, RECIPE))
    head = next(line for line in comments if "x is T" in line)
    assert "was not computed" in head
    own = [line for line in comments if line.startswith("# thin: ")]
    assert any(line.startswith("# thin: computed at 3 of 5") for line in own)
    assert any(re.match("# thin: ✗ .* x = 1, 5: .*too large", line) for line in own)
    assert any(re.match("# none: ✗ .* any x: .*too small", line) for line in comments)
    assert any(line.startswith("# runs: in 2 rows of its own") for line in comments)
    assert not any(line.startswith("# whole: ✗") or "whole: computed" in line for line in comments)
    # Every empty cell of the thin curve is one or the other.
    empty = {float(row["x"]) for row in rows[:5] if not row["thin"]}
    assert empty == {1.0, 5.0} | {2.0, 4.0}
    document = json.loads(file_bytes(result, view, RECIPE, "json"))
    assert "not computed" in document["absent"]
    assert document["series"][1]["x"] == [1, 3, 5]
    assert document["series"][1]["y"] == [None, 7, None]


def test_what_is_infinite_is_not_said_to_fail():
    y = [1.0, np.nan, np.nan]
    result = curves(series("odd", Role.EXACT, y, [1, 2, 3], undefined_reason="infinite: no noise"))
    view = ViewState.for_result(result, hidden=("paper", "exact", "lower", "simulated"))
    comments, _ = read(table_text(result, view, RECIPE))
    assert any(line.startswith("# odd: ✗ at x = 2 … 3: infinite") for line in comments)
    assert any(line.endswith("does not hold or is infinite") for line in comments)


def test_curves_over_the_same_points_are_empty_only_where_they_do_not_hold():
    result = curves()
    comments, _ = read(table_text(result, ViewState.for_result(result), RECIPE))
    head = next(line for line in comments if "x is T" in line)
    assert head.endswith("; empty where a statement does not hold")
    assert not any("not computed" in line for line in comments)


def test_infinite_values_are_empty_in_csv_and_null_in_json():
    odd = series("odd", Role.UPPER, [np.inf, 1.5, np.nan], [1, 2, 3])
    result = curves(odd)
    view = ViewState.for_result(result, hidden=("paper", "exact", "lower", "simulated"))
    _, rows = read(table_text(result, view, RECIPE))
    assert [row["odd"] for row in rows] == ["", "1.5", ""]
    document = json.loads(file_bytes(result, view, RECIPE, "json"))
    assert document["series"][0]["y"] == [None, 1.5, None]


def test_maps_are_tables_of_cells_with_their_centres():
    result = maps(hot_map(1, 2, 4, 0.8), hot_map(3, 0, 4, 0.1))
    view = ViewState.for_result(result, surfaces=("true", "private"))
    comments, rows = read(table_text(result, view, RECIPE))
    assert list(rows[0]) == ["row", "column", "lat", "lon", "true", "private"]
    assert len(rows) == 16
    hot = rows[1 * 4 + 2]
    assert (hot["row"], hot["column"], hot["true"], hot["private"]) == ("1", "2", "0.8", "0.0")
    assert float(hot["lat"]) == pytest.approx(
        REGION.south + (REGION.north - REGION.south) * 1.5 / 4
    )
    assert float(hot["lon"]) == pytest.approx(REGION.west + (REGION.east - REGION.west) * 2.5 / 4)
    assert rows[12]["private"] == "0.1"
    text = "\n".join(comments)
    assert f"curator only — {STAMP}" in text
    assert "Similarity = 0.834" in text


def test_what_only_the_curator_may_see_stays_out_unless_shown():
    result = maps()
    view = ViewState.for_result(result)
    assert view.surfaces == ("private",)
    text = table_text(result, view, RECIPE)
    assert "Similarity" not in text
    assert "curator only" not in text
    assert STAMP in text
    assert text.splitlines()[-1].count(",") == 4
    document = result_document(result, view, RECIPE)
    assert [s["key"] for s in document["surfaces"]] == ["private"]
    assert [r["key"] for r in document["readouts"]] == ["cells_read"]


def test_json_holds_everything_that_is_shown():
    result = curves(stamp=STAMP)
    view = ViewState.for_result(result, hidden=("lower",))
    document = json.loads(file_bytes(result, view, RECIPE, "json"))
    assert document["recipe"] == RECIPE
    assert document["stamp"] == STAMP
    assert [s["key"] for s in document["series"]] == ["paper", "exact", "simulated"]
    assert document["series"][0]["role"] == "upper bound"
    assert document["series"][0]["reference"]["where"] == "Theorem 2"
    assert document["series"][2]["low"] == list(result.series[3].low)
    assert [c["holds"] for c in document["conditions"]] == [True, None, False]
    assert document["guarantee"]["replace_one"] == "ε-DP"
    assert document["readouts"][0]["value"] == 17.0


@pytest.mark.parametrize("fmt", ["csv", "json"])
def test_the_same_input_gives_the_same_bytes(fmt):
    result = maps()
    view = ViewState.for_result(result)
    assert file_bytes(result, view, RECIPE, fmt) == file_bytes(result, view, RECIPE, fmt)


def test_surfaces_on_different_grids_are_refused_as_csv():
    result = maps(hot_map(0, 0, 4), hot_map(0, 0, 8))
    view = ViewState.for_result(result, surfaces=("true", "private"))
    with pytest.raises(ValueError, match="different grids"):
        table_text(result, view, RECIPE)
    assert len(result_document(result, view, RECIPE)["surfaces"]) == 2


def test_unknown_formats_and_failures_leave_files_alone(tmp_path):
    result = curves()
    view = ViewState.for_result(result)
    target = tmp_path / "out.xlsx"
    target.write_text("old")
    with pytest.raises(ValueError, match="the extension"):
        export(result, view, RECIPE, target)
    assert target.read_text() == "old"
    with pytest.raises(ValueError, match="recipe"):
        export(result, view, {"bad": float("nan")}, tmp_path / "out.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["out.xlsx"]


def test_notes_with_line_breaks_stay_comments():
    bad = series("bad", Role.UPPER, [1, 2], label="two\nlines", note="a\r\nb,c\n=1+1")
    text = table_text(curves(bad), ViewState.for_result(curves(bad)), RECIPE)
    before, _, after = text.partition("\nx,")
    assert all(line.startswith("# ") for line in before.splitlines())
    assert all(line[0].isdigit() for line in after.splitlines()[1:])
