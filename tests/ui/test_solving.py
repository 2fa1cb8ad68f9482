"""Solve for: a typed, dragged or stepped target sets the parameter."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QWidget

from tests import snapshots
from tests.ui.test_access import check


@pytest.fixture
def tiny(tiny_study, open_window, settled):
    window = open_window(study="tiny")
    settled(window)
    return window


@pytest.fixture
def solving(tiny, qtbot):
    """The row, opened by its key."""
    qtbot.keyClick(tiny, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    solving = tiny.workspaces["bounds"].solving
    assert solving.shown
    return solving


def type_target(qtbot, bar, text: str) -> None:
    bar.target.setFocus()
    bar.target.selectAll()
    qtbot.keyClicks(bar.target, text)
    qtbot.keyClick(bar.target, Qt.Key.Key_Return)


def slider(window, key: str) -> float:
    return window.parameters.row(key).slider.number


def test_the_bar_opens_with_what_there_is_and_goes_with_escape(tiny, solving, qtbot) -> None:
    bar = solving.bar
    items = [bar.parameter.itemData(i) for i in range(bar.parameter.count())]
    assert items == ["eps"]
    assert [bar.curve.itemData(i) for i in range(bar.curve.count())] == ["truth", "linear"]
    assert bar.target.text() == "0.731"
    assert solving.line.line.isVisible()
    assert bar.target.hasFocus()
    assert tiny.workspaces["bounds"].solve_action.isChecked()
    qtbot.keyClick(bar.target, Qt.Key.Key_Escape)
    assert not solving.shown
    assert not solving.line.line.isVisible()
    assert not tiny.workspaces["bounds"].solve_action.isChecked()


def _a_typed_target_moves_the_slider_and_one_undo_takes_it_back(tiny, solving, qtbot) -> None:
    type_target(qtbot, solving.bar, "0.9")
    qtbot.waitUntil(lambda: tiny.session.request()["eps"] != 1.0)
    assert tiny.session.request()["eps"] == pytest.approx(math.log(9), rel=1e-5)
    assert slider(tiny, "eps") == tiny.session.request()["eps"]
    line = tiny.workspaces["bounds"].plot.value_line
    qtbot.waitUntil(lambda: line.value() == pytest.approx(math.log10(2.19722)))
    assert solving.bar.message.text().startswith("ε = 2.19722 gives p = 0.9")
    qtbot.waitUntil(lambda: not solving.busy)
    tiny.session.undo()
    assert tiny.session.request()["eps"] == 1.0
    assert solving.bar.message.text() == ""
    assert not tiny.session.undo_text


def _dragging_the_line_solves_on_the_way_and_undoes_as_one(tiny, solving, qtbot) -> None:
    plot, line = tiny.workspaces["bounds"].plot, solving.line.line
    seen = []
    tiny.session.changed.connect(lambda new, _old: seen.append(new.request["eps"]))
    area = plot.view.sceneBoundingRect()

    def pixel(y: float) -> QPoint:
        scene = plot.view.mapViewToScene(QPointF(0.0, y))
        return plot.mapFromScene(QPointF(area.left() + 0.2 * area.width(), scene.y()))

    start = line.value()
    qtbot.mouseMove(plot.viewport(), pixel(start))
    qtbot.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(start))
    for y in (0.75, 0.8, 0.85, 0.9):
        qtbot.mouseMove(plot.viewport(), pixel(y))
        qtbot.wait(60)
    qtbot.waitUntil(lambda: len(seen) >= 2)  # follows during the drag
    qtbot.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(0.9))
    target = float(solving.bar.target.text())
    assert target == pytest.approx(0.9, abs=0.01)
    qtbot.waitUntil(lambda: not solving.busy)
    wanted = math.log(target / (1 - target))
    assert tiny.session.request()["eps"] == pytest.approx(wanted, rel=2e-5)
    tiny.session.undo()
    assert tiny.session.request()["eps"] == 1.0


def _what_cannot_be_is_said_and_moves_nothing(tiny, solving, qtbot) -> None:
    type_target(qtbot, solving.bar, "0.2")
    qtbot.waitUntil(lambda: bool(solving.bar.message.text()))
    assert solving.bar.message.text().startswith("Impossible: p = 0.2 is not reached for ε from")
    snapshots.check(solving.bar.message.text())
    assert tiny.session.request()["eps"] == 1.0
    assert not tiny.session.undo_text


def _the_bar_is_whole_and_its_controls_have_names(tiny, solving, qtbot) -> None:
    bar = solving.bar
    for size in ((1024, 700), (1280, 800)):
        tiny.resize(*size)
        qtbot.turns()
        assert tiny.width() == size[0]
        type_target(qtbot, bar, "0.2")
        qtbot.waitUntil(lambda: bar.message.isVisible())
        qtbot.turns()
        for child in bar.findChildren(QWidget):
            if child.isVisible() and child.parent() is bar:
                assert bar.rect().contains(child.geometry()), child
        assert check(tiny) == []


def _what_was_found_moves_neither_row_nor_plot(tiny, solving, qtbot) -> None:
    bar = solving.bar
    qtbot.turns()
    places = [(w.pos(), w.size()) for w in (bar, bar.button, tiny.workspaces["bounds"].plot)]
    bar.show_message("a sentence of many words, " * 20)
    qtbot.turns()
    assert bar.message.heightForWidth(bar.message.width()) > bar.message.height()
    assert [
        (w.pos(), w.size()) for w in (bar, bar.button, tiny.workspaces["bounds"].plot)
    ] == places
    assert bar.message.toolTip() == bar.message.text()


def _a_hidden_curve_is_not_offered(tiny, solving, qtbot) -> None:
    tiny.workspaces["bounds"].legend.row("truth").check.click()
    assert [solving.bar.curve.itemData(i) for i in range(solving.bar.curve.count())] == ["linear"]
    assert solving.bar.target.isEnabled()


def test_a_target_is_typed_dragged_and_refused(tiny, solving, qtbot) -> None:
    for step in (
        _a_typed_target_moves_the_slider_and_one_undo_takes_it_back,
        _dragging_the_line_solves_on_the_way_and_undoes_as_one,
        _what_cannot_be_is_said_and_moves_nothing,
        _the_bar_is_whole_and_its_controls_have_names,
        _what_was_found_moves_neither_row_nor_plot,
        _a_hidden_curve_is_not_offered,
    ):
        step(tiny, solving, qtbot)


def test_keys_step_the_target(tiny, solving, qtbot) -> None:
    qtbot.keyClick(solving.bar.target, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: tiny.session.request()["eps"] > 1.0)
    assert float(solving.bar.target.text()) > 0.731
    assert solving.line.line.value() == pytest.approx(float(solving.bar.target.text()))


def test_another_parameter_and_curve_can_be_chosen(tiny, solving, settled, qtbot) -> None:
    tiny.session.set_quantity("error")
    settled(tiny)
    bar = solving.bar
    keys = [bar.parameter.itemData(i) for i in range(bar.parameter.count())]
    assert keys == ["eps", "n", "beta"]
    bar.parameter.setCurrentIndex(keys.index("n"))
    bar.parameter.activated.emit(keys.index("n"))
    type_target(qtbot, bar, "0.01")
    qtbot.waitUntil(lambda: tiny.session.request()["n"] != 1000)
    n = tiny.session.request()["n"]
    gap = 2 * math.e / (1 + math.e) - 1

    def error(people: int) -> float:
        return math.sqrt(math.log(2 / 0.05) / 2 / people) / gap

    assert isinstance(n, int)
    assert error(n) <= 0.01 < error(n - 1)
    assert f"n = {n:,} gives err = 0.01" in bar.message.text()
    assert solving.line.line.value() == pytest.approx(-2.0)  # logarithmic axis


def test_a_solution_that_comes_late_is_dropped(tiny, solving, qtbot, monkeypatch) -> None:
    type_target(qtbot, solving.bar, "0.9")
    tiny.session.set_quantity("error")
    qtbot.waitUntil(lambda: not solving.busy)
    assert tiny.session.request()["eps"] == 1.0
    assert solving.bar.message.text() == ""


def test_solving_is_cancelled_and_a_failure_is_reported(tiny, solving, settled, qtbot, moon):
    tiny.session.set_value("slow", True)
    settled(tiny)
    type_target(qtbot, solving.bar, "0.9")
    assert solving.busy
    assert "solve" in tiny.activity._jobs
    tiny.activity.cancel()
    assert not solving.busy
    qtbot.wait(50)
    assert tiny.session.request()["eps"] == 1.0
    moon.touch()
    type_target(qtbot, solving.bar, "0.8")
    qtbot.waitUntil(lambda: solving.bar.message.text().startswith("Not solved: eps:"))


def test_closing_while_solving_leaves_nothing_behind(tiny, solving, settled, qtbot) -> None:
    tiny.session.set_value("slow", True)
    settled(tiny)
    type_target(qtbot, solving.bar, "0.9")
    assert solving.busy
    tiny.close()
