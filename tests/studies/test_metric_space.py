"""The metric-space panel: every kind at every end, and files with everything wrong with them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from explorer.geography.coordinates import EARTH_RADIUS_KM
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.study import Kind, Request, relevant
from explorer.studies.metric_space.files import read_matrix, read_points
from explorer.studies.metric_space.parameters import (
    KINDS,
    MATRIX,
    POINTS,
    half_circumference,
    space_parameters,
)
from explorer.studies.metric_space.space import space_of
from tests import snapshots
from tests.studies.context import Context

PARAMETERS = {p.key: p for p in space_parameters()}


def request(**values):
    for key in values:
        assert key in PARAMETERS
    return Request(
        "any", tuple((k, p.parse(values.get(k, p.default))) for k, p in PARAMETERS.items())
    )


def chosen(context=None, **values):
    return space_of(request(**values), context or Context())


def write(folder, text, name="mine.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS if kind not in (MATRIX, POINTS)])
@pytest.mark.parametrize("end", ["low", "high"])
def test_every_kind_at_both_ends_of_what_it_asks(kind, end):
    asked = {
        key: getattr(p, end)
        for key, p in PARAMETERS.items()
        if p.numeric and relevant(p, {"space": kind}, "")
    }
    space = chosen(space=kind, **asked)
    assert space.metric is not None
    assert space.diameter == space.metric.length > 0
    assert 0 <= space.min_distance <= 1
    assert space.picture.points.shape == (len(space.picture.groups), 2)
    assert np.isfinite(space.picture.points).all()
    assert 1 < len(space.picture.points) <= 3000
    assert space.picture.note
    if space.size is not None and space.size <= 5000:
        d = space.metric.matrix()
        assert d.max() == pytest.approx(1.0)
        assert d[d > 0].min() == pytest.approx(space.min_distance)


def test_only_what_a_kind_needs_is_asked():
    shown = {
        kind: {k for k, p in PARAMETERS.items() if relevant(p, {"space": kind}, "")}
        for kind, _ in KINDS
    }
    assert shown["sphere"] == {"space", "space_unit", "space_earth"}
    assert shown["clustered"] == {"space", "space_clusters", "space_each", "space_near"}
    own = {"space_points", "space_norm", "space_decimal"}
    assert shown["points"] == {"space", "space_unit", *own}
    assert all(p.group == "space" for p in PARAMETERS.values())
    few = {p.key for p in space_parameters(("clustered", "discrete"), "clustered")}
    assert few == {"space", "space_clusters", "space_each", "space_near", "space_items"}


def test_lengths_have_their_units():
    assert chosen(space="sphere").diameter == 12_450.7
    km = chosen(space="sphere", space_unit="km").diameter
    assert km == pytest.approx(20_037.46, abs=0.02)
    assert chosen(space="sphere", space_unit="m").diameter == pytest.approx(1000 * km)
    assert chosen(space="sphere", space_unit="none").diameter == 1.0
    assert chosen(space="sphere", space_earth="paper").diameter == pytest.approx(12_930)
    mean = half_circumference("mean", "km")
    assert mean == pytest.approx(math.pi * EARTH_RADIUS_KM)
    assert chosen(space="square-l2", space_side=3.0).diameter == pytest.approx(3 * math.sqrt(2))
    assert chosen(space="grid", space_side=8.0, space_cells=8).diameter == pytest.approx(14.0)


@pytest.mark.parametrize("kind", [MATRIX, POINTS])
def test_a_file_still_to_be_chosen_is_no_error(kind):
    space = chosen(space=kind)
    assert space.metric is None
    assert "open a CSV file" in space.missing
    assert math.isnan(space.diameter)


def test_a_space_is_kept_while_its_own_parameters_stay(tmp_path):
    context = Context()
    value = context.add_file(write(tmp_path, "0,1\n1,0\n"))
    first = chosen(context, space=MATRIX, space_matrix=value)
    assert chosen(context, space=MATRIX, space_matrix=value) is first
    assert chosen(context, space=MATRIX, space_matrix=value, space_unit="km").unit == "km"


@pytest.mark.parametrize(
    "text",
    [
        "0,3,4\n3,0,5\n4,5,0\n",
        "\ufeff,A,B,C\nA,0,3,4\nB,3,0,5\nC,4,5,0\n",
        "name;A;B;C\r\nA;0;3,0;4\r\nB;3,0;0;5\r\n\r\nC;4;5;0\r\n",
        "# miles\n,1,2,3\n1,0,3,4\n2,3,0,5\n3,4,5,0\n",
        "0\t3\t4\n3\t0\t5\n4\t5\t0",
    ],
)
def test_distances_are_read_with_and_without_names(text, tmp_path):
    read = read_matrix(str(write(tmp_path, text)), "mine.csv", "mi")
    assert read.metric.length == 5.0
    np.testing.assert_allclose(read.metric.matrix() * 5, [[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    assert len(read.labels) == 3
    assert read.named == ("A" in text or ",1,2,3" in text)


def test_typed_distances_are_a_metric_or_say_where_they_are_none():
    space = chosen(space="typed", space_typed="0 3 4; 3 0 5; 4 5 0", space_unit="mi")
    assert (space.diameter, space.unit, space.size) == (5.0, "mi", 3)
    assert space.min_distance == pytest.approx(3 / 5)
    for text, where in (
        ("0 1 4; 1 0 2; 4 2 0", "line 1, field 3: the distance from 1 to 3, 4, is more than"),
        ("0 1; 2 0", "line 1, field 2: the distance from 1 to 2 is 1 and back 2"),
        ("0 1; 1 1", "line 2, field 2: the distance of 2 to itself is 1"),
        ("0 -1; -1 0", "line 1, field 2"),
        ("0 1 2; 1 0 2", "line 1: 3 distances where there are 2 rows"),
        ("0", "at least 2 items"),
        ("0 0; 0 0", "all distances are 0"),
    ):
        with pytest.raises(ValueError, match=re.escape(where)) as caught:
            chosen(space="typed", space_typed=text)
        assert "typed distances" in str(caught.value)


def test_numbers_that_are_names_need_a_header_or_a_diagonal_of_zeros(tmp_path):
    read = read_matrix(str(write(tmp_path, "7,0,3\n8,3,0\n")), "mine.csv", "")
    assert read.labels == ("7", "8")
    assert read.named
    across = read_matrix(str(write(tmp_path, "A,B\n0,3\n3,0\n")), "mine.csv", "")
    assert across.labels == ("A", "B")
    assert across.named


def test_great_circles_say_which_columns_they_do_not_use(tmp_path):
    path = write(tmp_path, "city,lat,lon,height\nBerlin,52,13,34\nParis,48,2,?\nSuva,-18,178,6\n")
    read = read_points(str(path), "mine.csv", "km", "great-circle", 1.0)
    assert (read.metric.size, read.set_aside) == (3, 0)
    assert read.note.endswith("field 4 of mine.csv is not used")
    plain = write(tmp_path, "52,13\n48,2\n")
    assert not read_points(str(plain), "mine.csv", "km", "great-circle", 1.0).note


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A,0,1\nB,1,0\nC,2,2\n", "line 1: 2 distances where there are 3 rows of them"),
        ("0,1,x\n1,0,1\n1,1,0\n", "line 1, field 3: 'x' is not a distance"),
        (",A,B\nA,0,-1\nB,-1,0\n", "line 2, field 3: '-1' is not a distance"),
        ("0,nan\nnan,0\n", "line 1, field 2: 'nan' is not a distance"),
        ("0,1\n2,0\n", "from 1 to 2 is 1 and back 2 (line 2, field 1); make both the same"),
        (",A,B\nA,0,1\nB,1,3\n", "line 3, field 3: the distance of B to itself is 3"),
        ("0,0\n0,0\n", "all distances are 0"),
        ("7\n", "at least 2 items are needed"),
        ("0,1,2,3\n1,0,2,3\n2,2,0,3\n", "line 1: 4 distances where there are 3 rows of them"),
        ("hello,world\nfoo,bar\n", "no numbers to read; at least 2 items are needed"),
        ("a,b\n0,1\n", "one line to read below the names of line 1; at least 2 items"),
        (
            ",B,A,C\nA,0,3,4\nB,3,0,5\nC,4,5,0\n",
            "line 1, field 2: this column is named 'B' and row 1 is named 'A'; put columns and "
            "rows in one order",
        ),
        (
            ",Bonn,Berlin,Paris\nBonn,0,1,2\nBerlin,1,0,9\nParis,2,9,0\n",
            "line 3, field 4: the distance from Berlin to Paris, 9, is more than the way through "
            "Bonn, 1 + 2 = 3",
        ),
    ],
)
def test_what_is_no_metric_is_named_with_its_place(text, said, tmp_path):
    with pytest.raises(TableFileError) as error:
        read_matrix(str(write(tmp_path, text)), "mine.csv", "")
    assert said in str(error.value)
    assert str(error.value).startswith("mine.csv")
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_say_so(tmp_path):
    with pytest.raises(TableFileError, match=r"mine.csv, line 2:") as error:
        read_matrix(str(write(tmp_path, "A,B\nMünchen,0\n", encoding="latin-1")), "mine.csv", "")
    snapshots.check(error.value)
    long = "\n".join("0,1" for _ in range(1200))
    with pytest.raises(TableFileError, match="line 1001: more than 1000") as error:
        read_points(str(write(tmp_path, long)), "mine.csv", "", "2", 1.0)
    snapshots.check(error.value)


@pytest.mark.parametrize(("norm", "far"), [("2", 5.0), ("1", 7.0), ("inf", 4.0)])
def test_points_under_each_norm(norm, far, tmp_path):
    path = write(tmp_path, "x,y\n0,0\n3,4\n0,4\n")
    read = read_points(str(path), "mine.csv", "km", norm, 1.0)
    assert read.metric.length == pytest.approx(far)
    np.testing.assert_allclose(read.coordinates, [[0, 0], [3, 4], [0, 4]])


def test_points_on_the_globe(tmp_path):
    path = write(tmp_path, "city,lat,lon\nBerlin,52.52,13.405\nParis,48.857,2.352\nSuva,-18,178\n")
    half = half_circumference("mean", "km")
    read = read_points(str(path), "mine.csv", "km", "great-circle", half)
    d = read.metric.matrix() * read.metric.length
    berlin, paris = np.radians([(52.52, 13.405), (48.857, 2.352)])
    cosine = math.sin(berlin[0]) * math.sin(paris[0]) + math.cos(berlin[0]) * math.cos(
        paris[0]
    ) * math.cos(berlin[1] - paris[1])
    assert d[0, 1] == pytest.approx(EARTH_RADIUS_KM * math.acos(cosine))
    assert read.labels == ("Berlin", "Paris", "Suva")
    np.testing.assert_allclose(read.coordinates[0], [13.405, 52.52])


def test_lines_without_a_point_are_set_aside_and_counted(tmp_path):
    path = write(tmp_path, "a,b\n0,0\n1,?\n3,4\n5\n6,8\ninf,0\n2,2\n")
    read = read_points(str(path), "mine.csv", "", "2", 1.0)
    assert (read.metric.size, read.set_aside) == (4, 3)
    snapshots.check(read.note)
    poles = write(tmp_path, "10,20\n95,1\n11,21\n")
    note = read_points(str(poles), "mine.csv", "", "great-circle", 1.0).note
    assert "latitude outside ±90°" in note


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,?\n2,?\n3,4\n", "line 2, field 2: '?' is not a coordinate; give a number; 2 of 3"),
        ("1,1\n1,1\n", "all points are the same"),
        ("a,b\n1,2,3\n4\n", "line 3: 1 coordinates where the first line has 3; 1 of 2 lines"),
        ("a,b\n", "no numbers to read; at least 2 items are needed"),
        ("", "nothing to read; at least 2 items are needed"),
    ],
)
def test_files_without_points_are_refused(text, said, tmp_path):
    with pytest.raises(TableFileError) as error:
        read_points(str(write(tmp_path, text)), "mine.csv", "", "2", 1.0)
    assert said in str(error.value)


def test_scaling_lays_a_plane_out_as_it_is(tmp_path):
    rng = np.random.default_rng(4)
    points = rng.uniform(0, 10, (40, 2))
    d = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    text = "\n".join(",".join(f"{v:.17g}" for v in row) for row in (d + d.T) / 2)
    context = Context()
    value = context.add_file(write(tmp_path, text))
    space = chosen(context, space=MATRIX, space_matrix=value, space_unit="km")
    drawn = space.picture.points
    again = np.hypot(*(drawn[:, None] - drawn).transpose(2, 0, 1))
    np.testing.assert_allclose(again, d, atol=1e-6)
    assert "keeps 100 %" in space.picture.note
    assert space.min_distance == pytest.approx(d[d > 0].min() / d.max())
    assert space.unit == "km"


def test_what_scaling_loses_is_reported(tmp_path):
    context = Context()
    star = np.ones((4, 4)) - np.eye(4)
    value = context.add_file(write(tmp_path, "\n".join(",".join(map(str, r)) for r in star)))
    note = chosen(context, space=MATRIX, space_matrix=value).picture.note
    assert "keeps 67 %" in note


def test_large_files_are_read_in_the_worker(tmp_path):
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 1, (150, 60))
    text = "\n".join(",".join(f"{v:.17g}" for v in row) for row in points)
    context = Context()
    value = context.add_file(write(tmp_path, text))
    space = chosen(context, space=POINTS, space_points=value)
    assert context.heavy_calls == ["read_points"]
    assert space.size == 150
    assert "multidimensional scaling" in space.picture.note


def test_files_not_open_are_asked_for():
    value = "gone.csv#" + "0" * 64
    assert PARAMETERS["space_matrix"].kind is Kind.FILE
    with pytest.raises(LookupError, match=r"gone\.csv"):
        chosen(space=MATRIX, space_matrix=value)
