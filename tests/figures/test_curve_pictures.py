import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from explorer.figures.picture import figure_bytes
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark
from tests.figures.reading import SVG, group, numbers, to_data, view_of, words_of
from tests.figures.samples import PICTURES, RECIPE, curves, series


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_reader_of_the_plot_gets_the_numbers_back(theme):
    x = np.linspace(0, 10, 41)
    result = curves(series("parabola", Role.EXACT, x**2 - 3 * x, x), log=False)
    data = figure_bytes(
        result,
        view_of(result, theme=theme, hidden=("paper", "exact", "lower", "simulated")),
        RECIPE,
        "svg",
    )
    root = ElementTree.fromstring(data)
    line = numbers(next(group(root, "series-parabola").iter(f"{SVG}path")).get("d"))
    read_x, read_y = to_data(root, "x", line[:, 0]), to_data(root, "y", line[:, 1])
    assert len(read_x) > 10
    assert read_x[0] == pytest.approx(0, abs=1e-4)
    assert read_x[-1] == pytest.approx(10, abs=1e-4)
    np.testing.assert_allclose(read_y, read_x**2 - 3 * read_x, atol=0.02)


def test_the_first_and_the_last_bar_stand_clear_of_the_frame():
    x = np.arange(4.0)
    bars = [series(k, Role.EXACT, x + 1, x, mark=Mark.BARS) for k in ("a", "b", "c")]
    result = curves(*bars, log=False)
    shown = view_of(result, y_log=False, hidden=("paper", "exact", "lower", "simulated"))
    root = ElementTree.fromstring(figure_bytes(result, shown, RECIPE, "svg"))
    sides = {
        key: numbers(" ".join(p.get("d") for p in group(root, f"series-{key}").iter(f"{SVG}path")))
        for key in ("a", "c")
    }
    frame = numbers(next(group(root, "patch_2").iter(f"{SVG}path")).get("d"))[:, 0]
    width = np.ptp(sides["a"][:, 0]) / (3 + 0.8 / 3)
    assert sides["a"][:, 0].min() - frame.min() > 0.04 * width
    assert frame.max() - sides["c"][:, 0].max() > 0.04 * width


@pytest.mark.parametrize("mark", [Mark.DOTS, Mark.LINE])
def test_dots_at_the_ends_stand_clear_of_the_frame_and_lines_go_to_it(mark):
    x = np.linspace(1, 9, 5)
    result = curves(series("ends", Role.ESTIMATE, x + 1, x, mark=mark), log=False)
    shown = view_of(result, hidden=("paper", "exact", "lower", "simulated"))
    root = ElementTree.fromstring(figure_bytes(result, shown, RECIPE, "svg"))
    frame = numbers(next(group(root, "patch_2").iter(f"{SVG}path")).get("d"))[:, 0]
    ends = to_data(root, "x", np.array([frame.min(), frame.max()]))
    if mark is Mark.DOTS:
        assert ends[0] < 1 - 0.1
        assert ends[1] > 9 + 0.1
    else:
        np.testing.assert_allclose(ends, [1, 9], atol=1e-3)


def test_gaps_stay_gaps_and_are_marked():
    x = np.linspace(0, 9, 10)
    y = np.array([1, 2, np.nan, np.nan, 5, np.nan, 7, 8, 9, np.nan])
    result = curves(
        series("gaps", Role.UPPER, y, x, undefined_reason="it does not hold"), log=False
    )
    view = view_of(result, hidden=("paper", "exact", "lower", "simulated"))
    data = figure_bytes(result, view, RECIPE, "svg")
    root = ElementTree.fromstring(data)
    path = next(group(root, "series-gaps").iter(f"{SVG}path")).get("d")
    drawn = to_data(root, "x", numbers(path)[:, 0])
    np.testing.assert_allclose(sorted({round(float(v), 3) for v in drawn}), [0, 1, 4, 6, 7, 8])
    # The lone point at 4 is no line: it must show as a marker all the same.
    assert path.count("M") == 3
    marked = [g for g in root.iter(f"{SVG}g") if g.get("id") == "absent-gaps"]
    assert len(marked) == 3
    assert "x = 2 … 3, 5, 9:" in words_of(data, "svg")


def test_zeros_on_logarithmic_axes_are_said_and_not_drawn():
    x = np.array([0.0, 1, 10, 100, 1000])
    result = curves(series("zeros", Role.LOWER, [0, 0, 1, 10, 100], x))
    hidden = ("paper", "exact", "lower", "simulated")
    data = figure_bytes(
        result, view_of(result, hidden=hidden, x_log=True, y_log=True), RECIPE, "svg"
    )
    path = next(group(ElementTree.fromstring(data), "series-zeros").iter(f"{SVG}path")).get("d")
    assert len(numbers(path)) <= 3
    text = words_of(data, "svg")
    assert "below a logarithmic axis" in text
    assert "a logarithmic axis" in text


@pytest.mark.parametrize("y", [[0, 0, 0], [np.nan] * 3, [-1, -2, 0], [5, 5, 5], [1e-300, 1e300, 1]])
@pytest.mark.parametrize("log", [False, True])
def test_extreme_curves_are_drawn(y, log):
    result = curves(series("odd", Role.BASELINE, y, [1, 2, 3], undefined_reason="never"))
    view = view_of(result, hidden=("paper", "exact", "lower", "simulated"), x_log=log, y_log=log)
    image = Image.open(
        io.BytesIO(figure_bytes(result, view, RECIPE, "png", size_px=(500, 400), dpi=80))
    )
    assert image.size == (500, 400)


def test_a_curve_that_holds_nowhere_is_named_with_the_reason():
    result = curves(series("none", Role.UPPER, [np.nan] * 4, undefined_reason="ε₀ is too large"))
    text = words_of(figure_bytes(result, view_of(result), RECIPE, "pdf"), "pdf")
    assert "Curve none" in text
    assert "too large" in text


def test_a_pinned_curve_says_again_only_what_differs():
    x = np.arange(1.0, 5.0)
    more = {"note": "order at the edge", "undefined_reason": "k is too small"}
    present = series("odd", Role.UPPER, [1, 2, np.nan, np.nan], x, **more)
    same = replace(present, key="pin1:odd", label="odd (pinned: as now)", pin=1)
    other = replace(
        present,
        key="pin2:odd",
        label="odd (pinned: k = 2)",
        pin=2,
        note="order inside",
        y=np.array([1, np.nan, np.nan, np.nan]),
    )
    result = curves(present, same, other)

    def said(**view):
        size = (1600, 2000)  # room for everything there is to say
        return words_of(
            figure_bytes(result, view_of(result, **view), RECIPE, "svg", size_px=size), "svg"
        )

    text = said()
    assert text.count("at the edge") == 1
    assert "odd (pinned: k = 2):" in text
    assert text.count("k is too small") == 2
    assert "x = 2 … 4" in text
    # With the curve that it was hidden, it speaks for itself.
    text = said(hidden=("odd",))
    assert "odd (pinned:" in text
    assert "at the edge" in text


@pytest.mark.full
@pytest.mark.parametrize("fmt", ["svg", "pdf"])
def test_legend_names_every_visible_curve_with_its_role(fmt):
    result = curves()
    text = words_of(figure_bytes(result, view_of(result, hidden=("lower",)), RECIPE, fmt), fmt)
    for label in ("Curve paper — upper bound", "Curve exact", "Curve simulated — estimate"):
        assert label in text
    assert "Curve lower" not in text
    assert "Guarantee: Nobody" in text
    assert "(by 999,998)" in text
    assert "✗ ε₀ is below log(n) (2 > 1.5)" in text
    assert "assumed: The shuffler" in text
    assert "n = 1000000" in text


def test_hiding_a_curve_recolours_no_other():
    result = curves()

    def colour(view):
        root = ElementTree.fromstring(figure_bytes(result, view, RECIPE, "svg"))
        style = next(group(root, "series-simulated").iter(f"{SVG}path")).get("style")
        return re.search(r"stroke: (#\w+)", style).group(1)

    assert colour(view_of(result)) == colour(view_of(result, hidden=("paper", "exact")))


def test_no_stamp_where_none_is_due():
    result = curves()
    assert "not private" not in words_of(
        figure_bytes(result, view_of(result), RECIPE, "svg"), "svg"
    )


@pytest.mark.full
def test_labels_with_signs_of_every_kind_are_drawn():
    odd = series("odd", Role.UPPER, [1, 2, 3], label="50 % of $x_i$ & <b>\\frac 東京 🎉\n\x07")
    result = curves(odd)
    view = view_of(result, title="Costs $5 or $6, 東京")
    for fmt in PICTURES:
        data = figure_bytes(result, view, RECIPE, fmt)
        if fmt == "svg":
            assert "Costs $5 or $6" in words_of(data, "svg")
            assert "$x_i$ & <b>" in words_of(data, "svg")
