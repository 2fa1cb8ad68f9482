"""The Bounds workspace with a study unknown to all widgets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from explorer.figures.geometry import absent_stretches
from explorer.figures.style import series_styles
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import Scale, Series, Sweep, default_sweep
from explorer.studies.registry import get_study
from explorer.ui.plot.curves import MAX_POINTS, thin
from explorer.ui.plot.labels import apart
from tests import snapshots


@pytest.fixture
def tiny(open_window, settled, tiny_study, qtbot):
    window = open_window(study="tiny")
    settled(window)
    return window


def curve(window, key):
    return window.workspaces["bounds"].plot.curves[key]


def hover(plot, x: float, y: float) -> None:
    """Move the pointer to a point of the view; QTest drops moves to the present position."""
    QTest.qWait(25)  # pyqtgraph drops moves faster than the screen rate
    at = QPointF(plot.mapFromScene(plot.view.mapViewToScene(QPointF(x, y))))
    none = Qt.MouseButton.NoButton
    QApplication.sendEvent(
        plot.viewport(),
        QMouseEvent(
            QEvent.Type.MouseMove,
            at,
            plot.viewport().mapToGlobal(at),
            none,
            none,
            Qt.KeyboardModifier.NoModifier,
        ),
    )


def test_a_study_nobody_has_heard_of_is_shown_whole(tiny) -> None:
    bounds = tiny.workspaces["bounds"]
    assert tiny.pages.currentWidget() is bounds
    assert tiny.windowTitle().startswith("Randomized response")
    assert "Randomized response" in [a.text() for a in tiny.menus.study_actions.actions()]
    line = curve(tiny, "truth")
    result = bounds.current_result
    assert np.allclose(10**line.x, result.series[0].x)
    assert np.array_equal(line.y, result.series[0].y)
    assert bounds.plot.bottom.labelText == "ε  privacy"
    assert bounds.plot.left.labelText.startswith("p  probability")
    snapshots.check(tiny.guarantee.sentence.text())
    assumed, met = tiny.guarantee.condition_texts()
    assert "○" in assumed
    assert assumed.endswith(" assumed")
    assert "✓" in met
    assert met.endswith(" ε ≤ 2 ε = 1")
    assert bounds.readouts.text_of("chance") == "= 0.7311"
    assert not tiny.badge.isVisible()
    assert tiny.answer_state.text() == "Complete"
    assert bounds.plot.titles.progress.text == "2 of 2 curves up to date"


def test_curves_legend_and_crosshair_tell_every_curve(tiny) -> None:
    bounds = tiny.workspaces["bounds"]
    styles = series_styles(bounds.current_result.series, "light")
    for key, style in styles.items():
        pen = curve(tiny, key).line.pen
        assert pen.color().name() == style.colour
        assert bounds.legend.row(key).swatch.style_shown == style
    assert bounds.legend.row("linear").role.text() == "upper bound · numerical"
    assert bounds.legend.here.text() == "Values at ε = 1"
    assert bounds.legend.row("linear").value.text() == "≤ 0.75"
    assert "Warner" in bounds.legend.row("truth").label.toolTip()
    plot = tiny.workspaces["bounds"].plot
    hover(plot, 0.0, 0.7)
    assert plot.crosshair.table.isVisible()
    text = plot.crosshair.table.text()
    assert "ε = " in text
    assert "randomized response" in text
    assert "0.7" in text
    hover(plot, 0.9, 0.7)
    assert "not valid here" in plot.crosshair.table.text()
    hover(plot, 0.9, 5.0)
    assert not plot.crosshair.table.isVisible()


def test_a_curve_leaves_the_plot_where_it_does_not_hold(tiny, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    linear = curve(tiny, "linear")
    gone = 10**linear.x > 2
    assert np.array_equal(np.isnan(linear.y), gone)
    assert len(linear.ends.points) == 1  # hollow mark at the end
    assert "above ε = 2" in bounds.legend.row("linear").label.toolTip()
    (stretch,) = absent_stretches(bounds.current_result.series[1])
    assert stretch[0] <= 2 <= stretch[1] * 1.1
    assert stretch[1] == 10
    assert "leaves 1" in bounds.plot.lanes.reason_at(0.9, 3)
    assert bounds.plot.lanes.reason_at(-1.0, 3) == ""
    linear.set_series(
        replace(bounds.current_result.series[1], x=np.array([1.0]), y=np.array([2.0])), True, False
    )
    assert [point.y() for point in linear.ends.points] == [2.0]  # else nothing of it was seen
    tiny.session.set_value("eps", 5.0)
    qtbot.waitUntil(lambda: bounds.legend.row("linear").value.text() == "not valid")


def test_items_stay_while_the_slider_moves(tiny, settled, qtbot) -> None:
    tiny.session.set_quantity("error")
    settled(tiny)
    items = {id(i) for i in tiny.workspaces["bounds"].plot.view.addedItems}
    line = curve(tiny, "error")
    before = line.y.copy()
    tiny.session.set_value("n", 100_000)
    qtbot.waitUntil(lambda: not np.array_equal(line.y, before))
    assert {id(i) for i in tiny.workspaces["bounds"].plot.view.addedItems} == items


def test_axes_are_chosen_typed_and_undone(tiny, settled, qtbot) -> None:
    bounds, session = tiny.workspaces["bounds"], tiny.session
    bounds.y_axis.title.choose("error")
    assert session.request().quantity == "error"
    assert bounds.plot.left.labelText.startswith("p")  # until there is a result
    settled(tiny)
    assert bounds.plot.left.labelText.startswith("err")
    assert bounds.plot.y_log
    title, low = bounds.x_axis.title, bounds.x_axis.range.low
    assert title.keys == ["n", "eps", "beta"]
    title.choose("n")
    settled(tiny)
    assert session.request().sweep == Sweep("n", 1, 1_000_000, 100, Scale.LOG)
    title.range.trigger()
    assert low.isVisible()
    low.selectAll()
    qtbot.keyClicks(low, "10")
    qtbot.keyClick(low, Qt.Key.Key_Return)
    low.window().close()
    assert session.request().sweep.low == 10
    title.log.trigger()
    assert session.request().sweep.scale is Scale.LINEAR
    settled(tiny)
    assert not bounds.plot.x_log
    for _ in range(4):
        session.undo()
    assert session.request().quantity == "truth"
    settled(tiny)
    assert bounds.plot.left.labelText.startswith("p")
    assert not session.undo_text


def test_an_impossible_range_is_refused(tiny, qtbot) -> None:
    tiny.session.set_sweep(Sweep("eps", 0.01, 5, 100, Scale.LOG))
    before = tiny.session.request()
    for field, text, why in (
        ("low", "7", "must grow"),
        ("low", "0", "runs from"),
        ("high", "11", "runs from"),
    ):
        box = getattr(tiny.workspaces["bounds"].x_axis.range, field)
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, text)
        qtbot.keyClick(box, Qt.Key.Key_Return)
        assert why in box.toolTip(), (field, text)
        assert tiny.session.request() == before


def test_the_line_is_the_slider(tiny, qtbot) -> None:
    plot = tiny.workspaces["bounds"].plot
    assert plot.value_line.value() == 0.0  # log₁₀ of ε = 1
    tiny.session.set_value("eps", 0.1)
    qtbot.waitUntil(lambda: plot.value_line.value() == -1.0)
    for at in (-0.5, 0.2, 0.5):
        plot.value_line.setPos(at)
        plot.value_line.sigDragged.emit(plot.value_line)
    plot.value_line.sigPositionChangeFinished.emit(plot.value_line)
    assert tiny.session.request()["eps"] == pytest.approx(10**0.5, rel=1e-3)
    tiny.session.undo()
    assert tiny.session.request()["eps"] == 0.1
    tiny.session.undo()
    qtbot.waitUntil(lambda: plot.value_line.value() == 0.0)
    # With the mouse.
    area = plot.view.sceneBoundingRect()

    def pixel(x: float) -> QPoint:
        scene = plot.view.mapViewToScene(QPointF(x, 0.5))
        return plot.mapFromScene(QPointF(scene.x(), area.center().y()))

    qtbot.mouseMove(plot.viewport(), pixel(0.0))
    qtbot.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(0.0))
    for x in (-0.2, -0.5, -1.0):
        qtbot.mouseMove(plot.viewport(), pixel(x))
        qtbot.wait(20)
    qtbot.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(-1.0))
    assert tiny.session.request()["eps"] == pytest.approx(0.1, rel=0.05)
    tiny.session.undo()
    assert tiny.session.request()["eps"] == 1.0


def test_hiding_a_curve_hides_its_marks_and_is_kept_for_the_picture(tiny, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    bounds.legend.row("linear").check.click()
    linear = curve(tiny, "linear")
    assert not linear.line.isVisible()
    assert not linear.ends.isVisible()
    assert bounds.view_state().hidden == ("linear",)
    tiny.session.set_quantity("error")
    assert bounds.view_state().hidden in ((), ("linear",))
    tiny.session.set_quantity("truth")
    qtbot.waitUntil(lambda: not tiny.busy)
    assert not curve(tiny, "linear").line.isVisible()
    bounds.legend.row("linear").check.click()
    assert curve(tiny, "linear").line.isVisible()


def test_zooming_ends_with_the_question(tiny, settled) -> None:
    """Also between axes of equal scales, where nothing else resets the view."""
    bounds = tiny.workspaces["bounds"]
    tiny.session.set_quantity("error")
    for key, zoomed in (("n", (10.0, 20.0)), ("eps", (0.1, 0.2)), ("n", (10.0, 20.0))):
        tiny.session.set_sweep(default_sweep(get_study("tiny"), key))
        result = settled(tiny)
        assert not bounds.plot.user_view
        (left, right), _ = bounds.plot.data_ranges()
        x = result.series[0].x
        assert left <= x.min() * 1.001
        assert right >= x.max() * 0.999
        bounds.plot.set_data_ranges(zoomed, None)
        assert bounds.plot.user_view
    tiny.session.set_quantity("truth")
    settled(tiny)
    assert not bounds.plot.user_view


def test_zooming_stays_until_reset(tiny, settled, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    whole = bounds.plot.data_ranges()
    assert bounds.view_state().x_range is None
    bounds.plot.setFocus()
    qtbot.keyClick(bounds.plot, Qt.Key.Key_Plus)
    qtbot.keyClick(bounds.plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    zoomed = bounds.plot.data_ranges()
    assert zoomed != whole
    tiny.session.set_value("eps", 3.0)
    settled(tiny)
    assert bounds.plot.data_ranges() == zoomed
    assert bounds.view_state().x_range == pytest.approx(zoomed[0])
    bounds.row.reset.click()
    assert bounds.plot.data_ranges()[0] == whole[0]
    assert bounds.plot.data_ranges()[1] == pytest.approx(whole[1], abs=0.02)


def test_a_view_state_comes_back(tiny, settled) -> None:
    bounds = tiny.workspaces["bounds"]
    view = ViewState(x_log=True, y_log=True, hidden=("linear",), x_range=(0.1, 1.0))
    bounds.apply_view_state(view)
    back = bounds.view_state()
    assert back.hidden == ("linear",)
    assert back.y_log
    assert back.x_range == pytest.approx((0.1, 1.0))
    assert bounds.y_axis.title.log.isChecked()


def test_coarse_answers_say_so_until_the_exact_one(tiny, qtbot) -> None:
    seen = []
    tiny.answered.connect(
        lambda result: seen.append(
            (result.complete, tiny.answer_state.text(), len(curve(tiny, "truth").x))
        )
    )
    tiny.session.set_value("slow", True)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1][0])
    assert seen == [(False, "Computing…", 10), (True, "Complete", 100)]


def test_a_failed_answer_keeps_the_last_picture_and_says_so(tiny, settled, qtbot, moon):
    bounds = tiny.workspaces["bounds"]
    kept = curve(tiny, "truth").y.copy()

    moon.touch()
    tiny.session.set_value("eps", 0.5)
    qtbot.waitUntil(tiny.banner.isVisible)
    assert tiny.banner.text.text().startswith("eps:")
    assert bounds.stale.isVisible()
    assert np.array_equal(curve(tiny, "truth").y, kept)
    moon.unlink()
    tiny.session.set_value("eps", 0.6)
    settled(tiny)
    assert not bounds.stale.isVisible()
    assert not tiny.banner.isVisible()


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    x = np.arange(50_000.0)
    series = Series("a", "a", Role.EXACT, x, x, Reference("a", "b"))
    places = thin(series)
    assert len(places) <= MAX_POINTS
    assert (places[0], places[-1]) == (0, 49_999)


def test_nothing_of_the_workspace_is_cut_off(tiny, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    for size in ((1024, 700), (1280, 800)):
        tiny.resize(*size)
        qtbot.turns()
        for bar in (bounds.row, bounds.plot):
            for child in bar.findChildren(QWidget):
                if child.isVisible() and child.parent() is bar:
                    assert bar.rect().contains(child.geometry()), size


def test_names_at_the_ends_and_a_hover_box_that_keeps_off_the_pointer(tiny, qtbot) -> None:
    tiny.resize(1280, 800)
    qtbot.turns()
    plot = tiny.workspaces["bounds"].plot
    assert "randomized response" in {item.name for item, *_ in plot.end_names.placed()}
    assert plot.end_names.size().width() > 40
    assert not plot.end_names.overlaps()
    (x0, x1), (y0, y1) = plot.view.viewRange()
    for a in (0.02, 0.5, 0.98):
        for b in (0.02, 0.5, 0.98):
            x, y = x0 + a * (x1 - x0), y0 + b * (y1 - y0)
            hover(plot, x, y)
            box, at = plot.crosshair.table, plot.view.mapViewToScene(QPointF(x, y))
            assert box.isVisible()
            assert not box.geometry().contains(plot.mapFromScene(at))
    wide = plot.end_names.size().width()
    tiny.resize(1024, 720)
    qtbot.turns()
    assert plot.end_names.size().width() == wide > 0


def test_names_keep_apart_and_stay_as_near_as_they_can() -> None:
    assert apart([10, 100], 14, 0, 200) == [10, 100]
    assert apart([50, 51, 52], 14, 0, 200) == [50, 64, 78]
    assert apart([198, 199], 14, 0, 200) == [186, 200]
