"""Every kind of mark as drawn in the window; guarantee, shading, progress."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication

from explorer.figures.style import HATCHES, MARKERS, series_styles
from explorer.studies.base.study import Mark, Sweep
from explorer.ui.plot.axes import linear_ticks
from explorer.ui.plot.curves import PATTERNS, SYMBOLS, FilledItem
from tests import snapshots
from tests.ui.test_bounds import hover
from tests.ui.test_groups_and_files import marks, window  # noqa: F401  (fixtures)


@pytest.fixture
def plot(window):  # noqa: F811
    return window.workspaces["bounds"].plot


@pytest.fixture
def showing(window, settled):  # noqa: F811
    """Put a quantity on the y axis and wait for its result."""

    def show(quantity: str, **values: object):
        for key, value in values.items():
            window.session.set_value(key, value)
        window.session.set_quantity(quantity)
        return settled(window)

    return show


def pixel_at(plot, x: float, y: float) -> QColor:
    """Colour on the screen at a point of the view."""
    at = plot.mapFromScene(plot.view.mapViewToScene(QPointF(x, y)))
    return plot.grab().toImage().pixelColor(at)


def rectangles(path) -> np.ndarray:
    """Left, right, bottom and top of every bar of a path."""
    polygons = path.toSubpathPolygons()
    boxes = [p.boundingRect() for p in polygons]
    return np.array([[b.left(), b.right(), b.top(), b.bottom()] for b in boxes])


def test_bars_stand_side_by_side_from_zero_and_fill_the_axis(showing, plot, window) -> None:  # noqa: F811
    showing("budget")
    ours, theirs = (rectangles(plot.curves[k].fill.path) for k in ("ours", "theirs"))
    np.testing.assert_allclose(ours[:, 1], np.arange(7))
    np.testing.assert_allclose(ours[:, 0], np.arange(7) - 0.4)
    np.testing.assert_allclose(theirs[:, 0], np.arange(5))
    np.testing.assert_allclose(ours[:, 2], 0)
    np.testing.assert_allclose(ours[:, 3], 0.7 ** np.arange(7))
    (x0, x1), (_, y1) = plot.data_ranges()
    # Away from the axis and both ends of the plot.
    assert -0.6 < x0 < -0.42
    assert 6.42 < x1 < 6.6
    assert y1 >= 1
    labels = plot.bottom.tickValues(x0, x1, 600)[0][1]
    assert labels == [float(i) for i in range(7)]
    assert pixel_at(plot, 0.8, 0.35) != pixel_at(plot, 0.8, 0.9)
    hover(plot, 2.3, 0.2)
    assert "0.49 at i = 2" in plot.crosshair.table.text()
    snapshots.check(plot.lanes.reason_at(6.0, 3))
    assert plot.lanes.reason_at(3.0, 3) == ""
    # Bars alone leave no part of the axis empty.
    before = plot.data_ranges()[0]
    asked = replace(plot.result.request, sweep=Sweep("level", 0.0, 20.0, 21))
    plot.result = replace(plot.result, request=asked)
    plot.fit()
    assert plot.data_ranges()[0] == before
    # On a logarithmic axis they stand on the bottom.
    window.workspaces["bounds"].y_axis.title.log.trigger()
    boxes = rectangles(plot.curves["ours"].fill.path)
    _, (y0, _) = plot.view.viewRange()
    assert (boxes[:, 2] < y0).all()
    np.testing.assert_allclose(boxes[:, 3], np.arange(7) * np.log10(0.7))
    assert y0 < boxes[:, 3].min()  # the lowest bar is visible too


def test_dots_bands_and_what_is_hidden(plot, window) -> None:  # noqa: F811
    curve, series = plot.curves["dots"], window.current_result.series[3]
    np.testing.assert_allclose(10 ** curve.dots.getData()[0], series.x)
    np.testing.assert_allclose(10 ** curve.dots.getData()[1], series.y)
    ends = 10 ** curve.whiskers.y.reshape(-1, 2)
    np.testing.assert_allclose(ends, np.column_stack([series.low, series.high]))
    hover(plot, float(np.log10(series.x[2])), 0.0)
    text = plot.crosshair.table.text()
    assert " ± " in text
    assert f"at ε = {series.x[2]:.4g}" in text
    # A band is in view and read.
    assert plot.curves["banded"].fill.path.elementCount() > 50
    hover(plot, -0.5, 0.0)
    text = plot.crosshair.table.text()
    x = float(re.search(r"ε = ([\d.]+)", text)[1])
    low, high = (float(n) for n in re.search(r"\(([\d.]+) … ([\d.]+)\)", text).groups())
    assert (low, high) == pytest.approx((1.2 / x, 1.6 / x), rel=0.01)
    # Hiding hides every item of a mark.
    legend = window.workspaces["bounds"].legend
    legend.row("dots").check.click()
    dots = plot.curves["dots"]
    assert not any(i.isVisible() for i in (dots.dots, dots.whiskers, dots.caps))
    legend.row("region").check.click()
    assert not plot.curves["region"].fill.isVisible()
    legend.row("dots").check.click()
    assert dots.dots.isVisible()


def test_what_has_not_changed_is_not_painted_again(showing, plot, monkeypatch) -> None:
    painted, paint = [], FilledItem.paint

    def noted(item, *args: object) -> None:
        painted.append(item)
        paint(item, *args)

    monkeypatch.setattr(FilledItem, "paint", noted)
    result = showing("budget")
    bars, dots = result.series[0], replace(result.series[0], key="dots", mark=Mark.DOTS)
    times = []
    for share in (0.2, 0.3, 0.4, 0.5):
        plot.show_result(replace(result, series=(bars, replace(dots, y=share * dots.y))))
        plot.grab()
        times.append(painted.count(plot.curves[bars.key].fill))
    assert times[0] > 0
    assert times[1] == times[-1]
    # Without error bars there is nothing to paint of them, with some there is.
    assert not plot.curves["dots"].caps.isVisible()
    plot.show_result(replace(result, series=(replace(dots, low=dots.y / 2, high=dots.y),)))
    assert plot.curves["dots"].caps.isVisible()
    plot.set_hidden(frozenset({"dots"}))
    assert not plot.curves["dots"].caps.isVisible()
    plot.show_result(replace(result, series=(dots,)))
    plot.set_hidden(frozenset())
    assert not plot.curves["dots"].caps.isVisible()


def test_dots_at_the_ends_of_an_axis_are_seen_whole(plot, window) -> None:  # noqa: F811
    sweep = window.session.request("marks").sweep
    series = window.current_result.series[3]
    for low, high in ((series.x[0], sweep.high), (sweep.low, series.x[-1])):
        dots = replace(
            series,
            key="ends",
            x=np.array([low, high]),
            y=np.array([0.1, 10.0]),
            low=None,
            high=None,
        )
        request = replace(window.current_result.request, sweep=replace(sweep, low=low, high=high))
        plot.show_result(replace(window.current_result, request=request, series=(dots,)))
        plot.fit()
        (left, right), (bottom, top) = plot.view.viewRange()
        per_x, per_y = plot.view.viewPixelSize()
        for at in np.log10(dots.x):
            assert left + 4.5 * per_x < at < right - 4.5 * per_x
        for at in np.log10(dots.y):
            assert bottom + 4.5 * per_y < at < top - 4.5 * per_y


def test_an_area_is_hatched_and_a_path_keeps_its_order(showing, plot) -> None:
    result = showing("tradeoff")
    area = result.series[1]
    outline = plot.curves["area"].fill.path
    middle = QPointF(0.5, float(np.interp(0.5, area.x, (area.low + area.high) / 2)))
    assert outline.contains(middle)
    assert not outline.contains(QPointF(0.9, 0.95))
    hover(plot, 0.5, 0.3)
    text = plot.crosshair.table.text()
    low, high = np.interp(0.5, area.x, area.low), np.interp(0.5, area.x, area.high)
    ends = re.findall(r"([\d.]+) … ([\d.]+)", text)
    assert any(np.allclose([float(v) for v in pair], [low, high], atol=2e-3) for pair in ends)
    looks = [plot.curves[k].fill._hatch.style() for k in ("area", "other")]
    assert looks[0] != looks[1]  # distinguishable without colours
    path, curve = result.series[0], plot.curves["path"]
    np.testing.assert_array_equal(curve.line.x, path.x)
    np.testing.assert_array_equal(curve.line.y, path.y)
    assert plot.data_ranges()[0][1] >= 1.2  # beyond the sweep
    hover(plot, float(path.x[100]), float(path.y[100]))
    assert f"({path.x[100]:.4g}, {path.y[100]:.4g})" in plot.crosshair.table.text()
    assert plot.value_at("path", 0.5) is None


def test_legend_shows_marks_and_says_nothing_where_nothing_can_be_read(showing, window) -> None:  # noqa: F811
    legend = window.workspaces["bounds"].legend
    assert legend.row("dots").swatch.mark is Mark.DOTS
    assert legend.row("dots").swatch.banded
    assert legend.row("region").swatch.mark is Mark.AREA
    assert legend.row("dots").value.text() == ""
    assert legend.row("region").value.text() == "≈ 0.5"
    window.session.set_value("eps", 8.0)
    assert legend.row("upper").value.text() in ("≈ 2", "not valid")
    showing("budget")
    assert legend.row("ours").swatch.mark is Mark.BARS
    for key in ("ours", "theirs"):
        image = legend.row(key).swatch.grab().toImage()
        seen = {image.pixelColor(x, y).name() for x in range(34) for y in range(14)}
        assert len(seen) > 4


def test_items_stay_while_a_slider_moves_whatever_the_mark(window, plot, showing, qtbot, settled):  # noqa: F811
    for quantity in ("error", "budget", "tradeoff"):
        showing(quantity)
        before = {id(item) for item in plot.view.addedItems}
        window.session.set_value("width", 33.0)
        window.session.set_value("eps", 2.5)
        settled(window)
        assert {id(item) for item in plot.view.addedItems} == before
        window.session.set_value("eps", 1.0)
        settled(window)
    keys = {s.key for s in window.current_result.series}
    assert set(plot.curves) == keys


def test_where_nothing_claimed_holds_is_hatched_with_the_reason(window, plot, showing) -> None:  # noqa: F811
    edge = float(np.log10(window.current_result.series[0].x[-1]))
    reason = plot.invalid.reason_at(edge - 0.05)
    snapshots.check(reason)
    assert "closed form" in reason
    assert plot.invalid.reason_at(-0.5) == ""
    hover(plot, edge - 0.05, 0.5)
    assert "Nothing claimed" in plot.crosshair.table.text()
    hover(plot, -0.5, 0.5)
    assert "Nothing claimed" not in plot.crosshair.table.text()
    plot.crosshair.hide()  # in the visible corner
    image = plot.grab().toImage()
    _, (_, y1) = plot.view.viewRange()
    colours = []
    for x in (edge - 0.1, -0.35):
        at = plot.mapFromScene(plot.view.mapViewToScene(QPointF(x, y1 - 0.1)))
        patch = {
            image.pixelColor(at.x() + i, at.y() + j).name() for i in range(9) for j in range(9)
        }
        colours.append(len(patch))
    assert colours[0] > colours[1]
    result = showing("many")
    assert plot.invalid.reason_at(0.9) == ""
    # More curves than colours have dashes of their own.
    styles = series_styles(result.series, "light")
    pens = {
        (c.line.pen.color().name(), tuple(c.line.pen.dashPattern())) for c in plot.curves.values()
    }
    assert len(pens) == len(styles) == 12


def test_every_sign_of_the_table_has_one_in_the_window() -> None:
    assert set(MARKERS) == set(SYMBOLS)
    assert set(HATCHES) == set(PATTERNS)
    assert len(set(SYMBOLS.values())) == len(MARKERS)
    assert len(set(PATTERNS.values())) == len(HATCHES)


@pytest.mark.parametrize(("low", "high"), [(-0.4, 6.4), (0, 3), (0.2, 0.8), (0, 1000), (-3, 27)])
@pytest.mark.parametrize("room", [1, 3, 10])
def test_ticks_of_what_is_counted_are_whole(low, high, room) -> None:
    major, minor = linear_ticks(low, high, room, whole=True)
    assert all(tick == round(tick) for tick in major + minor)
    assert len(major) <= room + 2


def test_the_guarantee_says_for_which_values_and_why_two_differ(window, settled, qtbot) -> None:  # noqa: F811
    panel = window.guarantee
    snapshots.check(panel.part("differences"))
    for eps in (1, 2):
        window.session.set_value("eps", float(eps))
        settled(window)
        with qtbot.waitSignal(window.output.controller.done):
            window.guarantee.copy.click()
        copied = QGuiApplication.clipboard().text().replace("\u00a0", " ")
        assert f"ε = {eps} · " in copied
        assert "w = 10 km" in copied
        assert "space: interval" in copied


def test_progress_is_shown_and_escape_stops_the_work(window, settled, qtbot) -> None:  # noqa: F811
    from explorer.ui.controllers.activity import ActivityBar

    bar = window.findChild(ActivityBar)
    window.session.set_value("steps", 500)  # takes 25 s: even a slow window stops it
    window.session.set_value("mode", "slow")
    qtbot.waitUntil(lambda: bar.isVisible() and bar.bar.isVisible() and bar.bar.value() > 100)
    assert "%" in bar.words.text()
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.busy)
    assert not window.current_result.complete
    assert window.answer_state.text() == "Stopped early"
    assert not bar.isVisible()
    window.session.set_value("steps", 2)
    settled(window)
    assert window.answer_state.text().startswith("Complete")
