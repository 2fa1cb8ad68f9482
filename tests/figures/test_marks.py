"""Every mark on paper: read back from the picture, and its geometry by hand."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from explorer.figures.geometry import (
    absent_stretches,
    area_edges,
    bar_edges,
    invalid_stretches,
    runs,
    whole_axis,
)
from explorer.figures.pages.series import legend_handle
from explorer.figures.picture import figure_bytes
from explorer.figures.style import DASHES, dashes, series_styles, theme
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark, Scale, Sweep
from tests.figures.reading import SVG, group, numbers, to_data, view_of, words_of
from tests.figures.samples import PICTURES, RECIPE, curves, file_bytes, series


def only(*shown, low=0.0, high=10.0):
    """A result with these series alone."""
    made = curves(log=False)
    sweep = Sweep("T", low, high, 11, Scale.LINEAR)
    return replace(made, series=shown, request=replace(made.request, sweep=sweep))


def picture(result, fmt="svg", **view):
    return figure_bytes(result, view_of(result, **{"y_log": False, **view}), RECIPE, fmt)


def corners(root, gid):
    """The rectangles of a group's paths, as left, right, bottom and top in data units."""
    found = []
    for path in group(root, gid).iter(f"{SVG}path"):
        at = numbers(path.get("d"))
        if len(at) >= 4:
            x, y = to_data(root, "x", at[:, 0]), to_data(root, "y", at[:, 1])
            found.append((x.min(), x.max(), y.min(), y.max()))
    return np.array(found)


def test_bars_of_several_series_stand_side_by_side_around_their_x():
    a = series("a", Role.EXACT, [1, 2, 4], [1, 2, 4], mark=Mark.BARS)
    b = series("b", Role.EXACT, [1, 1], [2, 4], mark=Mark.BARS)
    edges = bar_edges([a, series("line", Role.EXACT, [1, 2]), b], False)
    assert set(edges) == {"a", "b"}
    np.testing.assert_allclose(edges["a"][0], [0.6, 1.6, 3.6])
    np.testing.assert_allclose(edges["a"][1], [1.0, 2.0, 4.0])
    np.testing.assert_allclose(edges["b"][0], [2.0, 4.0])
    np.testing.assert_allclose(edges["b"][1], [2.4, 4.4])
    (left, right) = bar_edges([series("c", Role.EXACT, [1], [100], mark=Mark.BARS)], True)["c"]
    np.testing.assert_allclose((left[0] + right[0]) / 2, 2.0)


def test_bars_come_back_from_the_picture():
    root = ElementTree.fromstring(
        picture(
            only(
                series(
                    "b",
                    Role.EXACT,
                    [3, 1.5, np.nan],
                    [1, 2, 3],
                    mark=Mark.BARS,
                    undefined_reason="no third level",
                )
            )
        )
    )
    boxes = corners(root, "series-b")
    np.testing.assert_allclose(boxes[:, 0], [0.6, 1.6], atol=0.01)
    np.testing.assert_allclose(boxes[:, 1], [1.4, 2.4], atol=0.01)
    np.testing.assert_allclose(boxes[:, 2], 0, atol=0.01)
    np.testing.assert_allclose(boxes[:, 3], [3, 1.5], atol=0.01)
    assert "no third level" in words_of(
        picture(
            only(
                series(
                    "b",
                    Role.EXACT,
                    [3, np.nan],
                    [1, 3],
                    mark=Mark.BARS,
                    undefined_reason="no third level",
                )
            )
        ),
        "svg",
    )


def test_bars_over_whole_numbers_have_whole_ticks():
    bars = series("b", Role.EXACT, [3, 1, 2], [0, 1, 2], mark=Mark.BARS)
    assert whole_axis([bars])
    assert not whole_axis([series("b", Role.EXACT, [3], [0.5], mark=Mark.BARS)])
    assert not whole_axis([series("l", Role.EXACT, [3, 4])])
    dots = series("d", Role.EXACT, [3, 4], mark=Mark.DOTS)
    assert whole_axis([dots, dots])
    assert not whole_axis([dots, series("l", Role.EXACT, [3, 4])])
    assert not whole_axis([series("d", Role.EXACT, [3], [0.5], mark=Mark.DOTS)])
    assert not whole_axis([])
    root = ElementTree.fromstring(picture(only(bars, low=0, high=2)))
    labels = [
        "".join(next(g.iter(f"{SVG}text")).itertext())
        for g in root.iter(f"{SVG}g")
        if re.fullmatch(r"xtick_\d+", g.get("id") or "")
    ]
    assert labels == ["0", "1", "2"]


@pytest.mark.full
def test_dots_have_their_error_bars():
    x = np.array([8.0, 2.0, 5.0])  # in any order
    dots = series(
        "d", Role.ESTIMATE, [4, 6, 5], x, low=[3, 5.5, 4], high=[5.5, 7, 5.5], mark=Mark.DOTS
    )
    dots = replace(dots, low=np.asarray(dots.low), high=np.asarray(dots.high))
    root = ElementTree.fromstring(picture(only(dots)))
    spread = corners_of_lines(root, "spread-d")
    np.testing.assert_allclose(
        spread[np.argsort(spread[:, 0])], [[2, 5.5, 7], [5, 4, 5.5], [8, 3, 5.5]], atol=0.02
    )


def corners_of_lines(root, gid):
    found = []
    for path in group(root, gid).iter(f"{SVG}path"):
        at = numbers(path.get("d"))
        x, y = to_data(root, "x", at[:, 0]), to_data(root, "y", at[:, 1])
        found.append((x.mean(), y.min(), y.max()))
    return np.array(found)


def test_a_path_keeps_its_order_and_may_leave_the_sweep():
    turn = np.linspace(0, 2 * np.pi, 60)
    path = series("p", Role.EXACT, 5 + 4 * np.sin(turn), 10 + 5 * np.cos(turn), mark=Mark.PATH)
    root = ElementTree.fromstring(picture(only(path)))
    at = numbers(next(group(root, "series-p").iter(f"{SVG}path")).get("d"))
    x, y = to_data(root, "x", at[:, 0]), to_data(root, "y", at[:, 1])
    np.testing.assert_allclose(((x - 10) / 5) ** 2 + ((y - 5) / 4) ** 2, 1, atol=0.02)
    assert x.max() > 14.9


def test_areas_have_gaps_as_lines_have_and_ends_beyond_the_picture():
    x = np.arange(6.0)
    area = series(
        "a",
        Role.EXACT,
        [1, 1, np.nan, 2, 2, 2],
        x,
        low=np.zeros(6),
        high=np.array([1, 1, 1, 2, np.inf, 2]),
        mark=Mark.AREA,
        undefined_reason="gap",
    )
    at, low, high = area_edges(area, False)
    assert np.isnan(at[2])
    assert high[4] > 100
    assert np.isfinite(high[[0, 1, 3, 4, 5]]).all()
    _, low, _ = area_edges(area, True)
    assert (low[[0, 1, 3]] < -100).all()
    assert runs(np.isfinite(at)) == [slice(0, 2), slice(3, 6)]
    for log in (False, True):
        root = ElementTree.fromstring(picture(only(area), y_log=log))
        assert len(list(group(root, "area-a").iter(f"{SVG}path"))) >= 2


def test_where_nothing_claimed_holds_is_hatched_with_the_reasons():
    x = np.arange(11.0)
    a = series("a", Role.UPPER, np.where(x < 6, 1, np.nan), x, undefined_reason="a is for small x")
    b = series(
        "b", Role.EXACT, np.where(x < 8, 2, np.nan), x, undefined_reason="b has no closed form"
    )
    base = series("base", Role.BASELINE, 0 * x, x)
    ((low, high, why),) = invalid_stretches([a, b, base])
    assert (low, high) == (7.0, 10.0)
    assert why == f"{a.undefined_reason}; {b.undefined_reason}"
    assert invalid_stretches([a, series("ok", Role.LOWER, x, x)]) == []
    assert invalid_stretches([base]) == []
    data = picture(only(a, b, base))
    assert any(g.get("id") == "invalid" for g in ElementTree.fromstring(data).iter())
    text = words_of(data, "svg")
    assert "x = 7 and 10:" in text
    assert b.undefined_reason in text
    assert "Hatched" not in words_of(picture(only(b, series("ok", Role.LOWER, x, x))), "svg")


def test_where_each_mark_is_missing():
    nan = np.nan
    line = series("l", Role.UPPER, [1, nan, nan, 4], [1, 2, 3, 4], undefined_reason="w")
    assert absent_stretches(line) == [(1, 4)]
    bars = series("b", Role.UPPER, [1, nan], [1, 2], mark=Mark.BARS, undefined_reason="w")
    assert absent_stretches(bars) == [(1.75, 2.25)]
    path = series("p", Role.UPPER, [1, nan], [1, 2], mark=Mark.PATH, undefined_reason="w")
    assert absent_stretches(path) == []
    nowhere = series("p", Role.UPPER, [nan, nan], [1, 2], mark=Mark.PATH, undefined_reason="w")
    assert absent_stretches(nowhere) == [(-np.inf, np.inf)]


@pytest.mark.full
@pytest.mark.parametrize("fmt", PICTURES)
def test_every_mark_is_drawn_in_every_format(fmt):
    x = np.array([1.0, 2, 4, 8])
    marks = [
        series(
            mark,
            Role.ESTIMATE,
            [0.1 * factor, np.nan, 10 * factor, 1000 * factor],
            x,
            mark=mark,
            undefined_reason="hole",
            low=np.array([0, 1, 1, 100.0]),
            high=np.array([1, 2, np.inf, 2000.0]),
        )
        for factor, mark in enumerate(Mark, 1)
    ]
    result = only(*marks, series("other", Role.BASELINE, [1, 2, 3, 4], x))
    for log in (False, True) if fmt == "png" else (True,):
        data = picture(result, fmt, x_log=log, y_log=log)
        assert len(data) > 3000
        if fmt == "png":
            image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
            for mark in Mark:
                colour = series_styles(result.series, "light")[mark].colour
                rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
                assert (np.abs(image - rgb).sum(2) < 60).sum() > 50, mark


@pytest.mark.parametrize("mark", list(Mark))
def test_every_mark_is_a_table_in_csv_and_json(mark):
    item = series(
        "m",
        Role.ESTIMATE,
        [0.1, np.nan, 10],
        [3.0, 1, 3],
        mark=mark,
        undefined_reason="hole",
        low=np.array([0, 1, 1.0]),
        high=np.array([1, 2, np.inf]),
    )
    result = only(item)
    text = file_bytes(result, view_of(result), RECIPE, "csv").decode()
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    # Two points at one x: rows of their own, in their own order.
    assert [(r["x"], r["m"], r["m:low"], r["m:high"]) for r in rows] == [
        ("3", "0.1", "0", "1"),
        ("1", "", "1", "2"),
        ("3", "10", "1", ""),
    ]
    (document,) = json.loads(file_bytes(result, view_of(result), RECIPE, "json"))["series"]
    assert document["mark"] == mark.value
    assert document["y"] == [0.1, None, 10]
    assert document["high"] == [1, 2, None]


def test_legends_show_the_mark():
    from matplotlib.patches import Patch

    styles = series_styles([series("m", Role.EXACT, [1, 2])], "light")

    def handle(mark, **more):
        return legend_handle(series("m", Role.EXACT, [1, 2], mark=mark, **more), styles["m"])

    band = {"low": np.zeros(2), "high": np.ones(2)}
    assert isinstance(handle(Mark.BARS), Patch)
    assert handle(Mark.AREA, **band).get_hatch()
    assert handle(Mark.DOTS).get_linestyle() == "None"
    assert handle(Mark.PATH).get_linestyle() == "-"
    assert len(handle(Mark.LINE, **band)) == 2


@pytest.mark.parametrize("role", list(Role))
def test_more_curves_than_colours_are_distinguished_by_dashes(role):
    colours = len(theme("light").curves)
    many = [series(f"s{i}", role, [1, 2]) for i in range(5 * colours)]
    styles = list(series_styles(many, "light").values())
    assert len({(s.colour, s.dash) for s in styles}) == 5 * colours
    assert [s.dash for s in styles[:colours]] == [DASHES[role]] * colours
    assert all(len(dashes(role, cycle)) % 2 == 0 for cycle in range(5))
    # A second curve of a colour is never taken for a first one of another role.
    assert not {s.dash for s in styles[colours:]} & set(DASHES.values())
