"""CSV that a spreadsheet opens runs nothing that strangers wrote into it."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, strategies as st

from explorer.csv_rows import CsvRows, inert
from explorer.figures.table_copy import format_table


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=-1"])
def test_what_a_spreadsheet_would_run_is_text(text: str) -> None:
    assert inert(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["-1", "+1.5", "-1e-9", "-inf", "", "a=1", "'=1", -1.5, 0, None])
def test_numbers_and_other_texts_are_left(cell: object) -> None:
    assert inert(cell) == cell


@given(st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), max_size=6))
def test_no_cell_begins_a_formula_and_all_come_back(rows: list[list[str]]) -> None:
    out = io.StringIO()
    CsvRows(out).write_rows(rows)
    found = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    written = [row for row in rows if row != [""]]
    assert [row for row in found if row not in ([], [""])] == [
        [str(inert(cell)) for cell in row] for row in written
    ]


def test_names_in_a_table_are_quoted() -> None:
    text = format_table(("name", "value"), (("=HYPERLINK(1)", -1.0),), "csv")
    assert list(csv.reader(io.StringIO(text)))[1] == ["'=HYPERLINK(1)", "-1"]
