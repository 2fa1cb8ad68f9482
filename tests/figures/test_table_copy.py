"""Tables as text to paste."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.table_copy import format_table, plain_number, tex
from explorer.figures.tables import table_text, wide_table
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark, Table
from tests.figures.samples import RECIPE, curves, file_bytes, series

COLUMNS = ("mechanism", "ε₀", "error & more")
ROWS = (("K-norm | ℓ₁", 0.1, 2.5e-8), ("50 %", None, 1_000_000.0), ("none", float("inf"), 3.0))


def test_csv_and_tabs_keep_full_precision():
    for fmt, mark in (("csv", ","), ("tsv", "\t")):
        read = list(csv.reader(io.StringIO(format_table(COLUMNS, ROWS, fmt)), delimiter=mark))
        assert read[0] == list(COLUMNS)
        assert read[1][0] == "K-norm | ℓ₁"
        assert float(read[1][2]) == 2.5e-8
        assert read[2][1] == ""
        assert read[3][1] == "∞"
    third = format_table(("x",), ((1 / 3,),), "csv").splitlines()[1]
    assert float(third) == 1 / 3
    assert plain_number(1e15) == "1000000000000000.0"


def test_markdown_is_a_table_with_its_sides():
    text = format_table(COLUMNS, ROWS, "markdown", "A title", "holds\nfor all")
    lines = text.splitlines()
    assert lines[0] == "**A title**"
    assert lines[2] == "| mechanism | ε₀ | error & more |"
    assert lines[3] == "|:---|---:|---:|"
    assert lines[4] == r"| K-norm \| ℓ₁ | 0.1 | 2.5×10⁻⁸ |"
    assert lines[5] == "| 50 % |  | 1,000,000 |"
    assert lines[-1] == "holds for all"


def test_latex_escapes_and_writes_mathematics():
    text = format_table(COLUMNS, ROWS, "latex", "A title")
    assert r"\begin{tabular}{lrr}" in text
    assert r"& $\varepsilon _{0}$ & error \& more \\" in text
    assert r"K-norm | $\ell _{1}$ & 0.1 & 2.5$\times$10$^{-8}$ \\" in text
    assert r"50 \% &  & 1,000,000 \\" in text
    assert text.startswith("% A title\n")
    assert tex(r"a_b^c\d{e}~$#") == (
        r"a\_b\textasciicircum{}c\textbackslash{}d\{e\}\textasciitilde{}\$\#"
    )
    assert tex("nₕ/n ≤ λₘₐₓ") == r"n$_{h}$/n $\le$ $\lambda _{max}$"
    assert tex("nₘᵢₙ") == r"n$_{min}$"
    assert all(line.count(" & ") in (0, 2) for line in text.splitlines())


def test_other_formats_are_refused():
    with pytest.raises(ValueError, match=r"'xls' .* tsv, csv"):
        format_table(COLUMNS, ROWS, "xls")


def test_no_point_of_a_path_or_of_repeated_runs_is_lost():
    line = series("line", Role.EXACT, [1, 2, 3], [0, 1, 2])
    path = series("path", Role.EXACT, [5, 6, 7], [1, 3, 1], mark=Mark.PATH)
    runs = series(
        "runs",
        Role.ESTIMATE,
        [8, 9],
        [2, 2],
        mark=Mark.DOTS,
        low=np.array([7.0, 8]),
        high=np.array([9.0, 10]),
    )
    names, table = wide_table((line, path, runs))
    assert names == ["x", "line", "path", "runs", "runs:low", "runs:high"]
    np.testing.assert_array_equal(table[:3, :2], [[0, 1], [1, 2], [2, 3]])
    np.testing.assert_array_equal(table[3:6, [0, 2]], [[1, 5], [3, 6], [1, 7]])
    np.testing.assert_array_equal(table[6:, [0, 3, 4, 5]], [[2, 8, 7, 9], [2, 9, 8, 10]])
    assert np.isnan(table[3:, 1]).all()
    names, table = wide_table(())
    assert table.shape == (0, 1)


def test_exports_hold_the_tables_of_a_study():
    table = Table(
        "t",
        "Levels, all",
        ("level", "ε"),
        (("top\nmost", 0.5), ("low", None), ("far", float("nan"))),
        "exact",
    )
    result = replace(curves(), tables=(table,))
    view = ViewState.for_result(result)
    text = table_text(result, view, RECIPE)
    assert "# table t: Levels, all\n" in text
    assert "\n# level,ε\n" in text
    assert "\n# low,\n" in text
    before, _, after = text.partition("\nx,")
    assert all(line.startswith("# ") for line in before.splitlines())
    assert "#" not in after
    document = json.loads(file_bytes(result, view, RECIPE, "json"))
    assert document["tables"] == [
        {
            "key": "t",
            "title": "Levels, all",
            "columns": ["level", "ε"],
            "note": "exact",
            "rows": [["top\nmost", 0.5], ["low", None], ["far", None]],
        }
    ]
    assert document["series"][0]["mark"] == "line"
