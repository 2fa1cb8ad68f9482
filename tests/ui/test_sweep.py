"""The Sweep tab: a grid from the compute process, shown as small multiples."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from explorer.engine.session.session import state_from_dict, state_to_dict
from explorer.figures.recipes import read_recipe
from explorer.studies.base.grid import Grid
from explorer.studies.base.study import Sweep
from tests.ui.test_access import check

NOT_HERE = ("numba", "cvxpy", "loky", "dask", "sklearn")


@pytest.fixture
def window(open_window, settled):
    """The amplification study over three points, in the Sweep tab."""
    window = open_window(study="amplification")
    settled(window)
    sweep = window.session.state.request.sweep
    window.session.set_sweep(replace(sweep, low=0.5, high=2.0, points=3))
    settled(window)
    window.pages.setCurrentWidget(window.tools["sweep"])
    return window


@pytest.fixture
def sweep(window):
    return window.tools["sweep"]


def type_over(qtbot, sweep, place, key, values) -> None:
    """Choose a parameter and type its values."""
    row = sweep.form.rows[place]
    row.parameter.setCurrentIndex(row.parameter.findData(key))
    row.parameter.activated.emit(row.parameter.currentIndex())
    row = sweep.form.rows[place]
    row.values.setFocus()
    row.values.selectAll()
    qtbot.keyClicks(row.values, values)
    qtbot.keyClick(row.values, Qt.Key.Key_Tab)


def computed(qtbot, sweep):
    """Press Compute and wait for the whole grid."""
    sweep.form.button.click()
    qtbot.waitUntil(lambda: sweep.answer is not None and sweep.answer.finished)
    qtbot.waitUntil(lambda: not sweep.job.busy and not sweep._redraw.isActive())
    return sweep.answer


@pytest.fixture
def grid(window, sweep, qtbot):
    type_over(qtbot, sweep, 0, "n", "1e4,1e5,1e6")
    type_over(qtbot, sweep, 1, "delta", "1e-8,1e-6")
    return computed(qtbot, sweep)


def test_a_typed_grid_is_computed_and_every_plot_has_the_studys_numbers(
    window, sweep, grid, settled, qtbot
) -> None:
    assert window.session.state.grid_of("amplification").over == (
        "n=1e4,1e5,1e6",
        "delta=1e-8,1e-6",
    )
    assert len(sweep.multiples.plots) == 6
    assert sweep.state.text() == "6 answers"
    for cell in grid.cells:
        window.session.follow(cell.request)
        own = settled(window)
        for s, alone in zip(cell.series, own.series, strict=True):
            assert s.key == alone.key
            # Processes whose libraries add in threads may differ in the last digits.
            np.testing.assert_allclose(s.y, alone.y, rtol=1e-12)


@pytest.mark.full
def test_what_computes_is_not_in_the_windows_process() -> None:
    import subprocess
    import sys

    # This process has run other tests: a fresh one imports what the tab requires.
    code = (
        "import sys, explorer.ui.sweep.workspace\n"
        f"print([m for m in {NOT_HERE!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def _undo_redo_and_the_session_keep_the_grid(window, sweep, grid, qtbot) -> None:
    kept = window.session.state
    again = state_from_dict(json.loads(json.dumps(state_to_dict(kept))))
    assert again.grid_of("amplification") == kept.grid_of("amplification")
    window.session.undo()
    assert window.session.state.grid_of("amplification").over[1] != "delta=1e-8,1e-6"
    assert sweep.form.rows[1].values.text() != "1e-8,1e-6"
    window.session.redo()
    assert sweep.form.rows[1].values.text() == "1e-8,1e-6"
    assert sweep.current


def _the_cursor_reads_every_plot_at_the_same_x(window, sweep, grid, qtbot) -> None:
    shown = sweep.multiples
    plot = shown.plots[4]
    centre = plot.view.mapViewToScene(QPointF(float(np.log10(1.02)), 0.0))
    shown._pointer_moved(QPointF(centre.x(), plot.view.sceneBoundingRect().center().y()))
    assert shown.cursor_at == pytest.approx(0.0, abs=1e-9)  # ε₀ = 1, the computed point
    for number, there in enumerate(shown.readings()):
        column, row = number % 3, number // 3
        (cell,) = (
            c
            for c in grid.cells
            if grid.values_at(c.place) == ((10_000, 100_000, 1_000_000)[column], (1e-8, 1e-6)[row])
        )
        for key, said in there:
            s = next(s for s in cell.series if s.key == key)
            value = s.y[1]
            if np.isfinite(value) and said.startswith("≤"):
                number_said = float(
                    said[2:].partition(" (")[0].replace("−", "-").replace("×10", "e")
                )
                assert number_said >= value * (1 - 1e-12)
                assert number_said == pytest.approx(value, rel=1e-3)
    assert all(plot.line.isVisible() for plot in shown.plots)
    assert "ε₀ = 1:" in shown.accessibleDescription()
    shown.setFocus()
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.cursor_at == pytest.approx(np.log10(2.0))
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    assert shown.cursor_at == pytest.approx(np.log10(0.5))


def _everything_has_a_name_and_room(window, sweep, grid, qtbot) -> None:
    for size in ((1024, 700), (1280, 800)):
        window.resize(*size)
        qtbot.turns()
        assert window.width() == size[0]
        assert check(window) == []
        for widget in (sweep.form.button, sweep.form.file, sweep.legend, sweep.open):
            corner = widget.mapTo(sweep, QPoint(widget.width() - 1, widget.height() - 1))
            assert sweep.rect().contains(corner), widget.accessibleName()


def _a_plot_tells_its_provenance_and_opens_in_bounds(window, sweep, grid, qtbot) -> None:
    shown = sweep.multiples
    shown.setFocus()
    for _ in range(5):
        qtbot.keyClick(shown, Qt.Key.Key_Down)
    assert shown.selected == 5
    said = sweep.about.text()
    assert "n = 1,000,000" in said
    assert "δ = 10⁻⁶" in said
    assert "in full" in said
    reference = next(s.reference for s in grid.cells[5].series if s.key == "exact_2021")
    assert str(reference) in sweep.about.toolTip()
    before = window.session.state.request
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    assert window.session.state.request["n"] == 1_000_000
    assert window.session.state.request["delta"] == 1e-6
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    assert "changed since" in sweep.state.text()
    window.session.undo()
    assert window.session.state.request == before
    assert sweep.state.text() == "6 answers"


def _axes_are_linked_and_the_legend_hides_a_curve_everywhere(window, sweep, grid, qtbot) -> None:
    shown = sweep.multiples
    ranges = {tuple(map(tuple, plot.view.viewRange())) for plot in shown.plots}
    assert len(ranges) == 1
    view = shown.plots[2].view
    view.setXRange(-0.1, 0.1, padding=0)
    view.sigRangeChangedManually.emit([True, True])
    assert all(plot.view.viewRange()[0] == pytest.approx([-0.1, 0.1]) for plot in shown.plots)
    shown.reset_view()
    key = "exact_2021"
    sweep.legend.item_of(key).setCheckState(Qt.CheckState.Unchecked)
    assert key in window.session.state.look_of("amplification", "eps").hidden
    assert not any(plot.curves[key].line.isVisible() for plot in shown.plots)
    window.session.undo()
    assert all(plot.curves[key].line.isVisible() for plot in shown.plots)
    log = sweep.form.log.isChecked()
    sweep.form.log.click()
    assert window.session.state.look_of("amplification", "eps").y_log is not log
    assert shown.y_log is not log


def test_a_grid_is_read_linked_kept_and_opened(window, sweep, grid, qtbot) -> None:
    for step in (
        _undo_redo_and_the_session_keep_the_grid,
        _the_cursor_reads_every_plot_at_the_same_x,
        _everything_has_a_name_and_room,
        _a_plot_tells_its_provenance_and_opens_in_bounds,
        _axes_are_linked_and_the_legend_hides_a_curve_everywhere,
    ):
        window.pages.setCurrentWidget(sweep)
        step(window, sweep, grid, qtbot)


def test_exported_tables_and_pictures_bring_the_grid_back(
    window, sweep, grid, open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    for suffix in ("parquet", "csv", "png"):  # tests/figures writes all
        path = tmp_path / f"grid.{suffix}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, p=path: (str(p), ""))
        window.menus.actions["export"].trigger()
        qtbot.waitUntil(lambda p=path: p.exists() and not sweep.writing.busy)
        assert read_recipe(path)["grid"]["over"] == list(grid.grid.over)
    points = sum(len(s.x) for cell in grid.cells for s in cell.series)
    assert len(pd.read_parquet(tmp_path / "grid.parquet")) == points
    window.menus.actions["copy-numbers"].trigger()
    qtbot.waitUntil(lambda: "# recipe: " in QGuiApplication.clipboard().text())
    window.session.set_grid("amplification", Grid(), "nothing")
    window.pages.setCurrentWidget(window.workspaces["bounds"])
    window.files.open_recipe(tmp_path / "grid.parquet")
    qtbot.waitUntil(lambda: sweep.current and sweep.answer.finished)
    assert window.pages.currentWidget() is sweep
    assert sweep.grid == grid.grid


def test_computing_is_stopped_and_goes_on(window, sweep, settled, qtbot) -> None:
    window.session.set_study("shuffle-rdp")
    settled(window)
    window.session.set_sweep(Sweep("T", 1, 1e6, 5))
    settled(window)
    window.pages.setCurrentWidget(sweep)
    window.session.set_grid("shuffle-rdp", Grid(("eps0=0.5:4:3",)), "grid")
    sweep.form.button.click()
    assert sweep.form.button.text() == "Stop"
    qtbot.waitUntil(lambda: sweep.answer.done >= 1)
    sweep.form.button.click()
    assert not sweep.job.busy
    done = sweep.answer.done
    assert not sweep.answer.finished
    assert "stopped:" in sweep.state.text()
    answer = computed(qtbot, sweep)
    assert answer.done >= done
    assert len(answer.cells) == 3


def test_pages_and_colours_show_the_third_parameter(window, sweep, settled, qtbot) -> None:
    window.session.set_study("unbounded")
    settled(window)
    window.session.set_sweep(replace(window.session.state.request.sweep, points=3))
    settled(window)
    window.pages.setCurrentWidget(sweep)
    window.session.set_grid(
        "unbounded", Grid(("eps=0.2,1", "r=0.008,0.1", "delta=1e-12,1e-9,1e-6")), "grid"
    )
    computed(qtbot, sweep)
    assert sweep.pages.which.text() == "δ = 10⁻¹² · page 1 of 3"
    qtbot.keyClick(sweep.multiples, Qt.Key.Key_PageDown)
    assert sweep.page == 1
    assert {p.panel.cells[0].request["delta"] for p in sweep.multiples.plots} == {1e-9}
    sweep.form.third.setCurrentIndex(1)
    sweep.form.third.activated.emit(1)
    assert window.session.state.grid_of("unbounded").colours
    computed(qtbot, sweep)
    assert not sweep.pages.isVisible()
    assert [sweep.legend.item(i).text().split(" — ")[0] for i in range(3)] == [
        "δ = 10⁻¹²",
        "δ = 10⁻⁹",
        "δ = 10⁻⁶",
    ]
    assert all(len(plot.curves) == 3 for plot in sweep.multiples.plots)


def test_what_cannot_be_asked_is_said(window, sweep, settled, qtbot) -> None:
    type_over(qtbot, sweep, 0, "n", "1e4,oops")
    row = sweep.form.rows[0]
    assert row.values.property("wrong")
    assert "oops" in row.values.toolTip()
    sweep.form.button.click()
    assert window.banner.isVisible()
    assert "oops" in window.banner.text.text()
    assert sweep.answer is None


def test_a_map_has_no_grid(open_window, settled) -> None:
    from tests.ui.small_map import SMALL_MAP

    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    window.pages.setCurrentWidget(window.tools["sweep"])
    sweep = window.tools["sweep"]
    assert not sweep.form.isEnabled()
    assert "Utility" in sweep.empty.text()
