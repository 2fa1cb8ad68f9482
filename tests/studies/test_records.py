"""Tables that users bring: what is read, what is rejected, what is refused and how."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.studies.base import csv_table
from explorer.studies.base.csv_table import numeric, read_records, read_summary


def table(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_records(path, name)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_ends_and_names(tmp_path, delimiter, end):
    text = end.join(delimiter.join(row) for row in (("a", "b"), ("1", "2"), ("3", "4.5")))
    found, values = numeric(table(tmp_path, "\ufeff" + text))
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(values, [[1, 2], [3, 4.5]])
    assert not found.rejected


def test_a_table_without_names_gets_some(tmp_path):
    found = table(tmp_path, "1,2\n3,4\n")
    assert found.names == ("column 1", "column 2")
    assert len(found.rows) == 2


def test_quoted_fields_and_blank_lines(tmp_path):
    found = table(tmp_path, 'a,"b, c"\n\n1,2\n"3",4\n\n')
    assert found.names == ("a", "b, c")
    assert found.lines == [3, 4]


def test_bad_rows_are_counted_with_line_and_field(tmp_path):
    text = "a,b\n1,2\n1\n1,x\n1,\n1,nan\n1,inf\n1,1_0\n" + "5,6\n" * 9
    found, values = numeric(table(tmp_path, text))
    assert values.shape == (10, 2)
    assert [item.line for item in found.rejected] == [3, 4, 5, 6, 7, 8]
    assert str(found.rejected[0]) == "line 3: 1 fields, 2 expected"
    assert str(found.rejected[1]) == "line 4, b: 'x' is not a number"
    assert str(found.rejected[2]) == "line 5, b: the field is empty"
    said = read_summary(found, 10)
    assert "10 records in 2 columns; 6 lines rejected" in said
    assert "and 1 more" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "0 usable records"),
        ("a,b\n", "0 usable records"),
        ("a,b\n1,2\n", "1 usable record;"),
        ("a,b\n1,2,3\n4\n", r"0 usable records \(line 2: 3 fields, 2 expected\)"),
        ("a\n1\n2\n", "line 1: there is one column only"),
        (b"a,b\n1,2\n\xff\xfe,3\n", r"line 3: not UTF-8"),
        ("a,b\n" + "1,x\n" * 5, "line 2, b: 'x' is not a number; 5 of 5"),
        ('a,b\n1,2\n3,"' + "4" * 140_000 + "\n", "line 3: field larger than"),
    ],
)
def test_what_is_no_table_is_refused_with_place_and_remedy(tmp_path, text, why):
    with pytest.raises(ValueError, match=rf"t\.csv.*{why}"):
        numeric(table(tmp_path, text))


def test_long_files_are_cut_and_that_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "MAX_RECORDS", 3)
    found = table(tmp_path, "a,b\n" + "1,2\n" * 5)
    assert found.cut
    assert len(found.rows) == 3
    assert "only the first 3 are read" in read_summary(found, 3)


def test_decimal_commas_between_semicolons(tmp_path):
    _, values = numeric(table(tmp_path, "a;b\n0,5;1\n1,5;2\n1e2;,5\n"))
    np.testing.assert_array_equal(values, [[0.5, 1], [1.5, 2], [100, 0.5]])


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("1e308", "1e308 is too large (at most 1e100)"),
        ("-2e100", "-2e100 is too large (at most 1e100)"),
        ("1e-101", "1e-101 is too small (at least 1e-100, or 0)"),
        ("1e-999", "1e-999 is too small (at least 1e-100, or 0)"),
        ("1\x1f", "'1\\x1f' is not a number"),
        ('"1,5"', "'1,5' has a decimal comma; between commas write a decimal point"),
    ],
)
def test_numbers_out_of_range_are_rejected_by_line_and_field(tmp_path, field, why):
    found, values = numeric(table(tmp_path, f"a,b\n1,2\n3,{field}\n4,5\n"))
    assert values.shape == (2, 2)
    assert [str(item) for item in found.rejected] == [f"line 3, b: {why}"]
