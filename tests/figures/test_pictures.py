import io
import os
import re
import subprocess
import sys
import threading
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from pypdf import PdfReader

from explorer.figures.colour_maps import colour_table
from explorer.figures.export import (
    PICTURE_FORMATS,
    draw_page,
    export_figure,
    figure_bytes,
    own_settings,
)
from explorer.figures.maps import colour_limits
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.privacy.bounds import Role
from tests.figures.pixels import panes
from tests.figures.samples import RECIPE, REGION, STAMP, curves, hot_map, maps, series
from tests.geography.resources import basemap, cities

SVG = "{http://www.w3.org/2000/svg}"
BOTH = ("true", "private")


def view_of(result, **changes):
    return ViewState.for_result(result, **changes)


def words_of(data: bytes, fmt: str) -> str:
    """All text of a vector picture, with runs of spaces made one."""
    if fmt == "svg":
        text = " ".join(
            "".join(t.itertext()) for t in ElementTree.fromstring(data).iter(f"{SVG}text")
        )
    else:
        text = PdfReader(io.BytesIO(data)).pages[0].extract_text()
    return " ".join(text.split())


def numbers(path: str) -> np.ndarray:
    """The points of an SVG path made of straight lines."""
    found = re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path)
    return np.array(found, float)


def group(root, gid):
    return next(g for g in root.iter(f"{SVG}g") if g.get("id") == gid)


def to_data(root, axis: str, values: np.ndarray) -> np.ndarray:
    """Turn SVG positions into data units by the ticks' own labels, as a reader would."""
    positions, labels = [], []
    for place in range(1, 30):
        try:
            tick = group(root, f"{axis}tick_{place}")
        except StopIteration:
            break
        use = next(tick.iter(f"{SVG}use"))
        label = "".join(next(tick.iter(f"{SVG}text")).itertext()).strip().replace("−", "-")
        positions.append(float(use.get(axis)))
        labels.append(float(label))
    assert len(labels) >= 3
    slope, offset = np.polyfit(positions, labels, 1)
    np.testing.assert_allclose(np.polyval((slope, offset), positions), labels, atol=1e-6)
    return slope * values + offset


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


def test_gaps_stay_gaps_and_are_marked():
    x = np.linspace(0, 9, 10)
    y = np.array([1, 2, np.nan, np.nan, 5, np.nan, 7, 8, 9, np.nan])
    result = curves(series("gaps", Role.UPPER, y, x, why_absent="it does not hold"), log=False)
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
    assert "is not drawn for x = 2 … 3, 5, 9: it does not hold" in words_of(data, "svg")


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
    assert "left of a logarithmic axis" in text


@pytest.mark.parametrize("y", [[0, 0, 0], [np.nan] * 3, [-1, -2, 0], [5, 5, 5], [1e-300, 1e300, 1]])
@pytest.mark.parametrize("log", [False, True])
def test_extreme_curves_are_drawn(y, log):
    result = curves(series("odd", Role.BASELINE, y, [1, 2, 3], why_absent="never"))
    view = view_of(result, hidden=("paper", "exact", "lower", "simulated"), x_log=log, y_log=log)
    image = Image.open(
        io.BytesIO(figure_bytes(result, view, RECIPE, "png", size_px=(500, 400), dpi=80))
    )
    assert image.size == (500, 400)


def test_a_curve_that_holds_nowhere_is_named_with_the_reason():
    result = curves(series("none", Role.UPPER, [np.nan] * 4, why_absent="ε₀ is too large"))
    text = words_of(figure_bytes(result, view_of(result), RECIPE, "pdf"), "pdf")
    assert "Curve none is not drawn anywhere: ε₀ is too large" in text


@pytest.mark.parametrize("fmt", ["svg", "pdf"])
def test_legend_names_every_visible_curve_with_its_role(fmt):
    result = curves()
    text = words_of(figure_bytes(result, view_of(result, hidden=("lower",)), RECIPE, fmt), fmt)
    for label in ("Curve paper — upper bound", "Curve exact", "Curve simulated — estimate"):
        assert label in text
    assert "Curve lower" not in text
    assert "Guarantee: Nobody learns more" in text
    assert "✓ n is at least 2 (by 999,998)" in text
    assert "✗ ε₀ is below log(n) (2 > 1.5)" in text
    assert "assumed: The shuffler is honest" in text
    assert "n = 1000000" in text


def test_hiding_a_curve_recolours_no_other():
    result = curves()

    def colour(view):
        root = ElementTree.fromstring(figure_bytes(result, view, RECIPE, "svg"))
        style = next(group(root, "series-simulated").iter(f"{SVG}path")).get("style")
        return re.search(r"stroke: (#\w+)", style).group(1)

    assert colour(view_of(result)) == colour(view_of(result, hidden=("paper", "exact")))


@pytest.mark.parametrize("fmt", ["svg", "pdf"])
@pytest.mark.parametrize("made", [lambda: curves(stamp=STAMP), maps])
def test_the_stamp_is_in_the_picture_as_text(fmt, made):
    result = made()
    text = words_of(figure_bytes(result, view_of(result), RECIPE, fmt), fmt)
    assert STAMP in text


def test_every_pane_carries_its_own_stamp():
    result = maps()
    view = view_of(result, surfaces=BOTH)
    text = words_of(figure_bytes(result, view, RECIPE, "svg", size_px=(1600, 1000)), "svg")
    assert f"curator only — {STAMP}" in text
    assert f"demonstration noise — {STAMP}" in text
    assert "True heatmap — curator only" in text


def test_no_stamp_where_none_is_due():
    result = curves()
    assert "not private" not in words_of(
        figure_bytes(result, view_of(result), RECIPE, "svg"), "svg"
    )


@pytest.mark.parametrize("size", [(1600, 1000), (1200, 500), (700, 900)])
def test_the_hot_cell_is_where_it_belongs(size):
    """The lit cell's centre, in pixels, against the extent of the region's own pixels."""
    result = maps(hot_map(2, 12, 16), hot_map(9, 4, 16))
    view = view_of(result, surfaces=BOTH, linked_scale=False, show_basemap=False, show_cities=False)
    data = figure_bytes(result, view, RECIPE, "png", size_px=size, dpi=100)
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    dark, bright = colour_table("viridis")[[0, 255]].astype(int)
    found = panes(pixels, dark)
    assert len(found) == 2
    for columns, (row, column) in zip(found, [(2, 12), (9, 4)], strict=True):
        part = pixels[:, columns].astype(int)
        lit = np.argwhere((np.abs(part - bright) <= 3).all(2))
        unlit = np.argwhere((np.abs(part - dark) <= 3).all(2))
        bottom, right = unlit.max(0) + 1
        left = unlit.min(0)[1]
        cell = (right - left) / 16
        shape = (REGION.east - REGION.west) / ((REGION.north - REGION.south) * REGION.aspect)
        tall = cell / shape
        centre = (lit.min(0) + lit.max(0) + 1) / 2
        assert (centre[1] - left) / cell == pytest.approx(column + 0.5, abs=0.2)
        assert (bottom - centre[0]) / tall == pytest.approx(row + 0.5, abs=0.2)
        high, wide = lit.max(0) - lit.min(0) + 1
        assert wide == pytest.approx(cell, abs=2)
        assert high == pytest.approx(tall, abs=2)


def test_ticks_of_the_map_tell_the_right_degrees():
    result = maps()
    data = figure_bytes(result, view_of(result), RECIPE, "svg")
    root = ElementTree.fromstring(data)

    def degrees(tick):
        text = "".join(next(tick.iter(f"{SVG}text")).itertext()).strip()
        number, side = text.split("° ")
        return float(number) * {"N": 1, "E": 1, "S": -1, "W": -1}[side]

    region = numbers(next(group(root, "region").iter(f"{SVG}path")).get("d"))
    for axis, low, high in (("x", REGION.west, REGION.east), ("y", REGION.south, REGION.north)):
        ticks = [group(root, f"{axis}tick_{k}") for k in (1, 2, 3)]
        places = [float(next(t.iter(f"{SVG}use")).get(axis)) for t in ticks]
        fit = np.polyfit(places, [degrees(t) for t in ticks], 1)
        corners = np.polyval(fit, region[:, 0 if axis == "x" else 1])
        assert corners.min() == pytest.approx(low, abs=1e-3)
        assert corners.max() == pytest.approx(high, abs=1e-3)


def test_colour_scales_never_leak_the_truth():
    result = maps(hot_map(0, 0, 4, 0.9), hot_map(1, 1, 4, 0.2))
    true, private = result.surfaces
    assert colour_limits([true, private], linked=True) == pytest.approx([0.9, 0.9])
    assert colour_limits([true, private], linked=False) == pytest.approx([0.9, 0.2])
    assert colour_limits([private], linked=True) == pytest.approx([0.2])
    assert colour_limits([private], linked=False) == pytest.approx([0.2])
    empty = maps(np.zeros((4, 4), np.float32), np.zeros((4, 4), np.float32))
    assert colour_limits(empty.surfaces, linked=True) == [1.0, 1.0]


@pytest.mark.parametrize("fmt", PICTURE_FORMATS)
def test_a_private_map_alone_depends_on_nothing_of_the_truth(fmt):
    private = hot_map(5, 5, 16, 0.3)
    one = maps(hot_map(0, 0, 16, 0.9), private)
    other = maps(np.full((16, 16), 1 / 256, np.float32), private)
    pictures = [
        figure_bytes(r, view_of(r, surfaces=("private",)), RECIPE, fmt, size_px=(600, 500), dpi=80)
        for r in (one, other)
    ]
    assert pictures[0] == pictures[1]
    if fmt == "svg":
        assert "Similarity" not in words_of(pictures[0], "svg")


def test_metrics_stand_beside_the_true_map():
    result = maps()
    text = words_of(figure_bytes(result, view_of(result, surfaces=BOTH), RECIPE, "svg"), "svg")
    assert "Similarity = 0.834" in text
    assert "EMD in [0.1, 0.2] sides" in text


def test_basemap_credits_and_scale_bar_are_drawn():
    result = maps()
    data = figure_bytes(result, view_of(result), RECIPE, "svg", basemap=basemap(), cities=cities())
    root = ElementTree.fromstring(data)
    assert len(numbers(next(group(root, "basemap").iter(f"{SVG}path")).get("d"))) > 50
    assert group(root, "scale-bar") is not None
    text = words_of(data, "svg")
    assert "Natural Earth" in text
    assert "GeoNames" in text
    without = figure_bytes(
        result,
        view_of(result, show_basemap=False, show_cities=False),
        RECIPE,
        "svg",
        basemap=basemap(),
        cities=cities(),
    )
    assert b'id="basemap"' not in without
    assert "GeoNames" not in words_of(without, "svg")


@pytest.mark.parametrize(
    "region",
    [Region(-60, -100, 75, 80), Region(60.1, 20.1, 60.3, 20.2), Region(-90, 0, -60, 170)],
)
def test_regions_of_every_shape_fit(region):
    result = maps(region=region)
    for surfaces in (BOTH, ("private",)):
        data = figure_bytes(
            result, view_of(result, surfaces=surfaces), RECIPE, "png",
            size_px=(900, 600), dpi=100, basemap=basemap(), cities=cities(),
        )  # fmt: skip
        assert Image.open(io.BytesIO(data)).size == (900, 600)


LONG = "A very long label that someone wrote without thinking of paper, " * 4


@pytest.mark.parametrize("inches", [(10.7, 6.7), (7.2, 4.4), (3.5, 2.6), (4.0, 9.0)])
@pytest.mark.parametrize("kind", ["curves", "maps"])
def test_nothing_written_leaves_the_sheet(kind, inches):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if kind == "curves":
        extra = [
            series(f"s{i}", Role.UPPER, [i, i + 1, np.nan], label=LONG, why_absent=LONG)
            for i in range(3)
        ]
        result = curves(*extra, stamp=STAMP)
    else:
        result = maps()
    view = view_of(result, surfaces=BOTH, title=LONG)
    with own_settings():
        page = draw_page(result, view, RECIPE, inches, 100)
        renderer = FigureCanvasAgg(page.figure).get_renderer()
        page.figure.draw(renderer)
        sheet = page.figure.bbox
        texts = [*page.figure.texts]
        for legend in page.figure.legends:
            texts += legend.get_texts()
        for axes in page.figure.axes:
            texts += [axes.xaxis.label, axes.yaxis.label, *axes.texts]
        assert len(texts) > 5
        for text in texts:
            if text.get_text():
                box = text.get_window_extent(renderer)
                assert box.x0 >= sheet.x0 - 1, text.get_text()
                assert box.x1 <= sheet.x1 + 1, text.get_text()
                assert box.y0 >= sheet.y0 - 1, text.get_text()
                assert box.y1 <= sheet.y1 + 1, text.get_text()
        for axes in page.figure.axes:
            for text in axes.texts:
                if "not private" in text.get_text():
                    inside = text.get_window_extent(renderer)
                    assert inside.x1 <= axes.bbox.x1 + 1
        if kind == "curves":
            # The picture keeps a fair share of the sheet whatever is written around it.
            assert page.figure.axes[0].bbox.height >= 0.2 * sheet.height


@pytest.mark.parametrize("fmt", PICTURE_FORMATS)
@pytest.mark.parametrize("made", [curves, maps])
def test_the_same_input_gives_the_same_bytes(fmt, made):
    result = made()
    first, second = (
        figure_bytes(result, view_of(result), RECIPE, fmt, size_px=(500, 400), dpi=80)
        for _ in range(2)
    )
    assert first == second


def test_bytes_do_not_depend_on_the_process(tmp_path):
    code = (
        "import sys, hashlib\n"
        "from tests.figures.samples import *\n"
        "from explorer.figures.export import figure_bytes\n"
        "from explorer.figures.view_state import ViewState\n"
        "r = maps()\n"
        "for f in ('svg', 'pdf'):\n"
        "    b = figure_bytes(r, ViewState.for_result(r), RECIPE, f, size_px=(500, 400), dpi=80)\n"
        "    print(hashlib.sha256(b).hexdigest())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 2


def test_a_users_own_matplotlib_settings_change_nothing_and_stay():
    import matplotlib

    result = curves()
    expected = figure_bytes(result, view_of(result), RECIPE, "svg")
    with matplotlib.rc_context({"font.size": 31, "svg.fonttype": "path", "lines.linewidth": 9}):
        assert figure_bytes(result, view_of(result), RECIPE, "svg") == expected
        assert matplotlib.rcParams["font.size"] == 31
        assert matplotlib.rcParams["svg.fonttype"] == "path"


def test_exports_from_several_threads_do_not_mix():
    result = curves()
    expected = figure_bytes(result, view_of(result), RECIPE, "png", size_px=(400, 300), dpi=60)
    got: list[bytes] = []

    def work():
        got.append(figure_bytes(result, view_of(result), RECIPE, "png", size_px=(400, 300), dpi=60))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [expected] * 4


@pytest.mark.parametrize(("size", "dpi"), [((1601, 999), 150), ((333, 777), 97), ((640, 480), 30)])
def test_png_has_exactly_the_size_asked_for(size, dpi):
    result = curves()
    image = Image.open(
        io.BytesIO(figure_bytes(result, view_of(result), RECIPE, "png", size_px=size, dpi=dpi))
    )
    assert image.size == size
    assert image.info["dpi"] == pytest.approx((dpi, dpi), abs=0.1)


@pytest.mark.parametrize("made", [curves, maps])
def test_the_smallest_size_is_drawn(made):
    result = made()
    data = figure_bytes(result, view_of(result), RECIPE, "png", size_px=(100, 100), dpi=300)
    assert Image.open(io.BytesIO(data)).size == (100, 100)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fmt": "gif"}, "fmt: 'gif'"),
        ({"size_px": (20, 20)}, "size_px"),
        ({"size_px": (100_000, 100_000)}, "size_px"),
        ({"dpi": 5}, "dpi"),
        ({"dpi": float("nan")}, "dpi"),
        ({"recipe": {"a": float("nan")}}, "recipe"),
        ({"recipe": {"a": object()}}, "recipe"),
        ({"recipe": {"a": "x" * 1_100_000}}, "recipe"),
        ({"view": ViewState(hidden=("paper", "exact", "lower", "simulated"))}, "every curve"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(change, words):
    result = curves()
    arguments = {"view": view_of(result), "recipe": RECIPE, "fmt": "png", **change}
    with pytest.raises(ValueError, match=words):
        figure_bytes(result, **arguments)


def test_a_map_without_a_shown_surface_is_refused():
    result = maps()
    with pytest.raises(ValueError, match="this result has true, private"):
        figure_bytes(result, view_of(result, surfaces=("nowhere",)), RECIPE, "png")


def test_an_export_that_fails_leaves_the_old_file(tmp_path):
    target = tmp_path / "plot.png"
    target.write_bytes(b"old")
    result = curves()
    with pytest.raises(ValueError, match="recipe"):
        export_figure(result, view_of(result), {"bad": float("inf")}, target)
    assert target.read_bytes() == b"old"
    export_figure(result, view_of(result), RECIPE, target, size_px=(300, 200), dpi=50)
    assert target.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in tmp_path.iterdir()] == ["plot.png"]
    with pytest.raises(OSError, match="No such file"):
        export_figure(result, view_of(result), RECIPE, tmp_path / "no" / "plot.svg")


def test_names_as_long_as_names_may_be(tmp_path):
    target = tmp_path / ("n" * 251 + ".svg")
    export_figure(curves(), view_of(curves()), RECIPE, target)
    assert target.stat().st_size > 1000


def test_labels_with_signs_of_every_kind_are_drawn():
    odd = series("odd", Role.UPPER, [1, 2, 3], label="50 % of $x_i$ & <b>\\frac 東京 🎉\n\x07")
    result = curves(odd)
    view = view_of(result, title="Costs $5 or $6, 東京")
    for fmt in PICTURE_FORMATS:
        data = figure_bytes(result, view, RECIPE, fmt)
        if fmt == "svg":
            assert "Costs $5 or $6" in words_of(data, "svg")
            assert "$x_i$ & <b>" in words_of(data, "svg")
