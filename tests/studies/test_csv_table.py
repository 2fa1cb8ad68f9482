"""One rule for the tables that users bring: delimiters, decimal signs, numbers, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.studies.base.csv_table import (
    TableFileError,
    number_field,
    numeric,
    read_csv,
    read_records,
)
from explorer.studies.linear_queries.queries import read_values
from explorer.studies.metric_space.files import read_matrix, read_points
from tests import snapshots

TEXT = st.text(alphabet='01239.,;\t\n"-+eE_ naif\x00\x1e\x1f\u00a0#ab', max_size=120)


def table(folder, text, decimal="auto", name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv(path, name, decimal)


def numbers(found):
    return [[found.dialect.number(field) for field in row] for row in found.rows]


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal", "first"),
    [
        ("0,0;1,5;2,5\n", ";", ",", [0, 1.5, 2.5]),
        ("0;1,5\n1,5;0\n", ";", ",", [0, 1.5]),
        ("0\t1,5\n1,5\t0\n", "\t", ",", [0, 1.5]),
        ("0\t1.5\n1.5\t0\n", "\t", ".", [0, 1.5]),
        ("0,1.5\n1.5,0\n", ",", ".", [0, 1.5]),
        ("0;0,125\n0,125;0\n", ";", ",", [0, 0.125]),
        ("0;1234,500\n1234,500;0\n", ";", ",", [0, 1234.5]),
        ("0;1,000\n1,5;0\n", ";", ",", [0, 1]),
        ("1,0;2\n3,0;4\n", ";", ",", [1, 2]),
        ("0,5\n1,5\n", ",", ".", [0, 5]),
        ("0;1\n\n1;0\n2;3;4\n5;6\n", ";", ".", [0, 1]),
    ],
)
def test_delimiters_and_decimal_signs(text, delimiter, decimal, first, tmp_path):
    found = table(tmp_path, text)
    assert (found.dialect.delimiter, found.dialect.decimal) == (delimiter, decimal)
    assert numbers(found)[0] == first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0;1,500\n1,500;0\n", "line 1, field 2: '1,500' may be a thousand or a decimal comma"),
        (
            "0;1,5\n1.5;0\n",
            "line 1, field 2: '1,5' has a decimal comma, and line 2, field 1, '1.5'",
        ),
        ("0;1.234,5\n1;0\n", "line 1, field 2: '1.234,5' has a comma and a point"),
        (b"a;b\n1;\xff\n", "line 2: not UTF-8 text; save"),
        ('1,2\n3,"' + "4" * 140_000 + "\n", "line 2: field larger than"),
    ],
)
def test_what_can_not_be_told_is_refused_with_place_and_remedy(text, said, tmp_path):
    with pytest.raises(TableFileError) as error:
        table(tmp_path, text)
    assert str(error.value).startswith("t.csv, ")
    assert said in str(error.value)


def test_the_decimal_sign_can_be_chosen(tmp_path):
    thousands = "0;1,500\n1,500;0\n"
    assert numbers(table(tmp_path, thousands, "comma"))[0] == [0, 1.5]
    # With a point chosen commas are no part of a number.
    assert numbers(table(tmp_path, thousands, "point"))[0] == [0, None]
    assert numbers(table(tmp_path, "0;1.5\n1,5;0\n", "point"))[0] == [0, 1.5]
    with pytest.raises(TableFileError, match="its fields are") as error:
        table(tmp_path, "0,1\n1,0\n", "comma")
    snapshots.check(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "nan",
        "inf",
        "-inf",
        "1_000",
        "1,5",
        "1 5",
        "1\x1f",
        "0x1f",
        "1e",
        "--1",
        ".",
        "١",
        "1e101",
        "1e-101",
        "1e-999",
        "1e999",
        "1e1000000",
    ],
)
def test_no_numbers(text):
    assert number_field(text, ",", ".") is None
    assert number_field(text, ";", ".") is None


@given(st.floats(-1e100, 1e100).filter(lambda v: v == 0 or abs(v) >= 1e-100))
def test_numbers_are_read_as_they_are_written(value):
    assert number_field(f" {value!r}\t", ",", ".") == value
    assert number_field(repr(value).replace(".", ","), ";", ",") == value


def test_a_space_with_decimal_commas_is_the_one_with_points(tmp_path):
    points, commas = (tmp_path / name for name in ("points.csv", "commas.csv"))
    points.write_text("0,1.5,2.5\n1.5,0,1\n2.5,1,0\n")
    commas.write_text("0,0;1,5;2,5\n1,5;0;1,0\n2,5;1,0;0\n")
    first, second = (read_matrix(str(p), p.name, "").metric for p in (points, commas))
    assert first.length == second.length == 2.5
    np.testing.assert_array_equal(first.matrix(), second.matrix())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1e308\n1e308,0\n", "line 1, field 2: 1e308 is too large (at most 1e100)"),
        ("0,1e-200\n1e-200,0\n", "line 1, field 2: 1e-200 is too small (at least 1e-100, or 0)"),
        ("0,1e-999\n1e-999,0\n", "line 1, field 2: 1e-999 is too small"),
        ("0,1\x1f\n1,0\n", "line 1, field 2: '1\\x1f' is not a distance"),
        ('0,"1,5"\n"1,5",0\n', "line 1, field 2: '1,5' has a decimal comma; between commas"),
        ("0,1_0\n1_0,0\n", "line 1, field 2: '1_0' is not a distance"),
        (",a,b\na,0,1e999\nb,1e999,0\n", "line 2, field 3: 1e999 is too large"),
    ],
)
def test_distances_out_of_range_are_named_before_any_arithmetic(text, said, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(text)
    with np.errstate(all="raise"), pytest.raises(TableFileError) as error:
        read_matrix(str(path), "d.csv", "")
    assert str(error.value).startswith("d.csv, ")
    assert said in str(error.value)


def test_points_out_of_range_are_set_aside_and_values_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("0,0\n1,1\n2,1e308\n3,3\n")
    read = read_points(str(path), "p.csv", "", "2", 1.0)
    assert (read.metric.size, read.set_aside) == (3, 1)
    snapshots.check(read.note)
    path.write_text("1\n1e308\n3\n")
    with pytest.raises(TableFileError, match=r"v\.csv, line 2, field 1: 1e308") as error:
        read_values(str(path), "v.csv", ("a", "b", "c"), False)
    snapshots.check(error.value)


@pytest.mark.full
@given(TEXT)
def test_any_text_is_read_or_refused_in_our_words(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_bytes(text.encode())
    for read in (
        lambda: read_matrix(str(path), "any.csv", ""),
        lambda: read_points(str(path), "any.csv", "", "2", 1.0),
        lambda: read_values(str(path), "any.csv", ("a", "b", "c"), False),
        lambda: numeric(read_records(path, "any.csv"))[::-1],
    ):
        said = ""
        try:
            found = read()
            assert not isinstance(found, tuple) or np.isfinite(found[0]).all()
        except TableFileError as error:
            said = str(error)
        assert not said or (said.startswith("any.csv") and "\n" not in said)


def test_good_rows_are_kept_whatever_the_way_they_are_read(tmp_path):
    # All at once where every field is digits, one by one where a word stands among them.
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, 3)) * 10.0 ** rng.integers(-90, 90, (200, 3))
    lines = [",".join(repr(float(v)) for v in row) for row in values]
    for extra, bad in (([], 0), (["x,1,2"], 1)):
        path = tmp_path / "n.csv"
        path.write_text("\n".join(["a,b,c", *lines, *extra]))
        found, read = numeric(read_records(path, "n.csv"))
        np.testing.assert_array_equal(read, values)
        assert len(found.rejected) == bad
    assert not math.isnan(read.sum())
