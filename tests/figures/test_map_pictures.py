import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from explorer.figures.captions import joint_stamp
from explorer.figures.colour_maps import colour_limits, colour_table
from explorer.figures.picture import draw_page, figure_bytes, own_settings
from explorer.figures.style import THEMES
from explorer.geography.region import Region
from tests.figures.reading import BOTH, SVG, group, numbers, panes, view_of, words_of
from tests.figures.samples import RECIPE, REGION, STAMP, hot_map, maps


def test_the_stamp_names_what_it_is_about():
    result = maps()
    view = view_of(result, surfaces=BOTH)
    text = words_of(figure_bytes(result, view, RECIPE, "svg", size_px=(1600, 1000)), "svg")
    said = "curator only (True heatmap), demonstration noise (Private heatmap)"
    assert f"{said} — {STAMP}" in text
    assert "True heatmap —" in text


@pytest.mark.parametrize(
    ("stamps", "said"),
    [
        (("a — c", "a — c"), "a — c"),
        (("a — c", "b — c"), "a (True heatmap), b (Private heatmap) — c"),
        (("1 — a — c", "1 — b — c"), "1 — a (True heatmap), b (Private heatmap) — c"),
        (("a", "a — c"), "a (True heatmap), a — c (Private heatmap)"),
        (("a", ""), "a (True heatmap)"),
        (("", ""), ""),
    ],
)
def test_stamps_are_joined(stamps, said):
    result = replace(maps(), stamp="")
    shown = [replace(s, stamp=t) for s, t in zip(result.surfaces, stamps, strict=True)]
    assert joint_stamp(result, shown) == said


@pytest.mark.full
@pytest.mark.parametrize("size", [(2079, 1465), (700, 900), (300, 200)])
def test_the_stamp_covers_nothing(size):
    """It covered a tenth to a fifth of the data."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    result = maps()
    dpi = 600 if size == (2079, 1465) else 100
    places = []
    for among in ((), ("a longer stamp " * 40,)):
        with own_settings():
            page = draw_page(
                result,
                view_of(result, surfaces=BOTH),
                RECIPE,
                (size[0] / dpi, size[1] / dpi),
                dpi,
                stamps=among,
            )
            renderer = FigureCanvasAgg(page.figure).get_renderer()
            page.figure.draw_without_rendering()
            (stamp,) = (text for text in page.figure.texts if text.get_gid() == "stamp")
            box = stamp.get_bbox_patch().get_window_extent(renderer)
            others = [axes.get_tightbbox(renderer) for axes in page.figure.axes]
            others += [t.get_window_extent(renderer) for t in page.figure.texts if t is not stamp]
        assert not any(box.overlaps(other) for other in others)
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= size[0]
        assert box.y1 <= size[1]
        places.append(page.figure.axes[0].get_position().height)
    # The room is that of the longest stamp of all frames, whichever is drawn.
    assert places[1] <= places[0]


@pytest.mark.full
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


def test_metrics_stand_beside_the_true_map():
    result = maps()
    text = words_of(figure_bytes(result, view_of(result, surfaces=BOTH), RECIPE, "svg"), "svg")
    assert "Similarity = 0.834" in text
    assert "EMD in [0.1, 0.2] sides" in text


@pytest.mark.full
def test_basemap_credits_and_scale_bar_are_drawn():
    result = maps()
    data = figure_bytes(result, view_of(result), RECIPE, "svg")
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
    )
    assert b'id="basemap"' not in without
    assert "GeoNames" not in words_of(without, "svg")


@pytest.mark.full
@pytest.mark.parametrize(
    "region",
    [Region(-60, -100, 75, 80), Region(60.1, 20.1, 60.3, 20.2), Region(-90, 0, -60, 170)],
)
def test_regions_of_every_shape_fit(region):
    result = maps(region=region)
    view = view_of(result, surfaces=BOTH)
    data = figure_bytes(result, view, RECIPE, "png", size_px=(900, 600), dpi=100)
    assert Image.open(io.BytesIO(data)).size == (900, 600)


def test_a_map_without_a_shown_surface_is_refused():
    result = maps()
    with pytest.raises(ValueError, match="has true, private"):
        figure_bytes(result, view_of(result, surfaces=("nowhere",)), RECIPE, "png")


SIZES = [((1600, 1000), 150), ((2079, 1465), 600), ((700, 900), 90), ((1200, 500), 100)]


@pytest.mark.full
@pytest.mark.parametrize(("size", "dpi"), SIZES, ids=["screen", "paper column", "portrait", "wide"])
@pytest.mark.parametrize("surfaces", [BOTH, ("private",)], ids=["both", "private"])
@pytest.mark.parametrize(
    "box",
    [None, (40.7, -74.05, 40.8, -74.0), (40.2, -75.5, 40.3, -73.0)],
    ids=["region", "tall part", "wide part"],
)
def test_a_map_fills_its_page(size, dpi, surfaces, box):
    """A zoomed view filled a fifth of the page: panes kept the shape they had in the window."""
    result = maps()
    view = view_of(result, surfaces=surfaces, map_box=box)
    with own_settings():
        page = draw_page(result, view, RECIPE, (size[0] / dpi, size[1] / dpi), dpi)
    shown = page.figure.axes[: len(surfaces)]
    heights = [axes.get_position().height for axes in shown]
    assert min(heights) >= 0.55
    assert sum(axes.get_position().width for axes in shown) >= 0.55
    for axes in shown:
        west, east = axes.get_xlim()
        south, north = axes.get_ylim()
        asked = box or REGION.box
        assert south <= asked[0] < asked[2] <= north
        assert west <= asked[1] < asked[3] <= east
        # True to the map's shape: a degree of latitude is as long as it should be.
        place = axes.get_position()
        across = place.width * size[0] / ((east - west) / REGION.aspect)
        assert across == pytest.approx(place.height * size[1] / (north - south), rel=1e-6)


@pytest.mark.parametrize("box", [(-80, -170, 80, 170), (80, 0, 90, 3), (-90, 0, -60, 1)])
@pytest.mark.parametrize("size", [(1600, 500), (500, 1200)])
def test_the_map_ends_at_the_poles(box, size):
    result = maps(region=Region(60, 0, 70, 20))
    with own_settings():
        view = view_of(result, surfaces=BOTH, map_box=box)
        page = draw_page(result, view, RECIPE, (size[0] / 100, size[1] / 100), 100)
    for axes in page.figure.axes[:2]:
        assert -90 <= axes.get_ylim()[0] <= box[0]
        assert box[2] <= axes.get_ylim()[1] <= 90


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_stamp_can_be_read_on_every_map(theme, value):
    """On an opaque strip of its own: its background does not depend on the map below."""
    colours = THEMES[theme]
    assert contrast(colours.stamp_text, colours.stamp_back) >= 4.5
    values = np.full((16, 16), value, np.float32)
    result = maps(values, values)
    view = view_of(result, theme=theme, map_box=(40.6, -74.1, 40.7, -74.0), surfaces=BOTH)
    data = figure_bytes(result, view, RECIPE, "png", size_px=(900, 600), dpi=100)
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).reshape(-1, 3)
    back = [int(colours.stamp_back[i : i + 2], 16) for i in (1, 3, 5)]
    assert (pixels == back).all(1).sum() > 4000
