"""One to six maps on a page: a grid, one colour scale, each map with its title and stamp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from explorer.figures.colour_maps import colour_limits
from explorer.figures.picture import draw_page, own_settings
from explorer.figures.tables import table_text
from explorer.studies.base.study import Surface
from tests.figures.reading import view_of, words_of
from tests.figures.samples import RECIPE, REGION, file_bytes, hot_map, maps

SIZES = [((1600, 1000), 150), ((900, 1300), 100), ((2079, 1465), 600)]


def with_panes(number: int):
    """A result with that many maps: true, private, another mechanism's, difference, error, p90."""
    base = maps()
    true, private = base.surfaces
    more = [
        replace(private, key="private:laplace", label="Private heatmap: Laplace, ε = 1"),
        Surface(
            "difference",
            "Difference: private − true",
            private.values - true.values,
            REGION,
            True,
            true.stamp,
            diverging=True,
        ),
        Surface(
            "error",
            "Error per cell (standard deviation of 20 draws)",
            hot_map(3, 3, 16, 0.01),
            REGION,
            True,
            true.stamp,
        ),
        Surface(
            "p90", "90th percentile of 20 draws", hot_map(2, 2, 16, 0.02), REGION, True, true.stamp
        ),
    ]
    return replace(base, surfaces=(true, private, *more)[:number])


def view(result, **changes):
    return view_of(result, surfaces=tuple(s.key for s in result.surfaces), **changes)


@pytest.mark.full
@pytest.mark.parametrize(("size", "dpi"), SIZES, ids=["screen", "upright", "paper column"])
@pytest.mark.parametrize(("number", "linked"), [(3, True), (5, True), (6, False)])
def test_panes_stand_in_a_grid_and_nothing_meets(number, linked, size, dpi):
    result = with_panes(number)
    with own_settings():
        page = draw_page(
            result, view(result, linked_scale=linked), RECIPE, (size[0] / dpi, size[1] / dpi), dpi
        )
        renderer = FigureCanvasAgg(page.figure).get_renderer()
        shown = [axes for axes in page.figure.axes if axes.get_title()]
        bars = [axes for axes in page.figure.axes if not axes.get_title()]
        boxes = [axes.get_window_extent(renderer) for axes in shown]
        titles = [axes.title.get_window_extent(renderer) for axes in shown]
    assert len(shown) == number
    # Maps, the difference, and an error whose scale is its own.
    assert len(bars) == (1 + (number > 3) + (number > 4) if linked else number)
    widths = {round(box.width) for box in boxes}
    heights = {round(box.height) for box in boxes}
    assert max(widths) - min(widths) <= 1
    assert max(heights) - min(heights) <= 1
    rows = len({round(box.y0) for box in boxes})
    assert rows == (-(-number // 2) if size[1] > size[0] else 1 + (number > 3))
    for group in (boxes, titles):
        for place, one in enumerate(group):
            assert not any(one.overlaps(other) for other in group[place + 1 :])
    least = 0.09 if dpi == 600 else 0.22  # in a column of a paper the letters take their room
    assert sum(box.width * box.height for box in boxes) >= least * size[0] * size[1]


def test_linked_panes_share_the_truths_scale_and_the_difference_lies_on_both_sides():
    result = with_panes(6)
    true = float(result.surfaces[0].values.max())
    error = float(result.surfaces[4].values.max())
    tops = [true, true, true, true, error, true]
    assert colour_limits(result.surfaces, linked=True) == pytest.approx(tops)
    with own_settings():
        page = draw_page(result, view(result), RECIPE, (10, 7), 100)
    limits = [axes.images[0].get_clim() for axes in page.figure.axes if axes.get_title()]
    ends = zip(result.surfaces, tops, strict=True)
    assert limits == [(-top if s.diverging else 0.0, top) for s, top in ends]
    own = colour_limits(result.surfaces, linked=False)
    assert own[3] == pytest.approx(float(np.abs(result.surfaces[3].values).max()))


def test_without_the_true_map_no_scale_comes_from_it():
    """An error pane is the curator's too, and must not set the scale of the maps."""
    _, private, other, difference, error, _ = with_panes(6).surfaces
    tops = colour_limits([private, other, difference, error], linked=True)
    assert tops == pytest.approx([float(private.values.max())] * 3 + [float(error.values.max())])


@pytest.mark.full
def test_every_pane_has_title_and_stamp():
    result = with_panes(6)
    text = words_of(file_bytes(result, view(result), RECIPE, "svg", size_px=(1600, 1000)), "svg")
    for said in ("Private: Laplace", "Difference: private − true", "Error per cell", "90th"):
        assert said in text
    assert text.count("not private: computed") == 1
    only = "True heatmap, Difference, Error per cell, 90th percentile of 20 draws"
    assert f"({only}), demonstration noise" in text


def test_numbers_have_a_column_a_pane():
    result = with_panes(6)
    lines = table_text(result, view(result), RECIPE).splitlines()
    head = next(line for line in lines if line.startswith("row,"))
    panes = ["true", "private", "private:laplace", "difference", "error", "p90"]
    assert head.split(",") == ["row", "column", "lat", "lon", *panes]
    rows = [line.split(",") for line in lines[lines.index(head) + 1 :]]
    assert len(rows) == result.surfaces[0].values.size
    found = np.array([row[4:] for row in rows], float)
    for column, surface in zip(found.T, result.surfaces, strict=True):
        np.testing.assert_allclose(column, surface.values.ravel(), rtol=1e-6)
