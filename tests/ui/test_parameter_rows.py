"""Rows of parameters, generated from declarations."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.study import Kind, Parameter, Scale
from explorer.studies.registry import get_study, study_ids
from explorer.ui.panels.parameters import ParametersPanel
from explorer.ui.widgets.number_slider import STEPS
from explorer.ui.widgets.parameter_rows import (
    ChoiceRow,
    FileRow,
    FlagRow,
    NumberRow,
    TableRow,
    direction,
    make_row,
)

LOG = Parameter("d", "δ", "failure", "Help.", Kind.REAL, 1e-8, 1e-30, 0.1, Scale.LOG)
LINEAR = Parameter("s", "σ", "blur", "Help.", Kind.REAL, 0.02, 0.0, 0.2, unit="side")
WHOLE = Parameter("n", "n", "people", "Help.", Kind.INTEGER, 1000, 1, 10**9, Scale.LOG)
FEW = Parameter("k", "k", "few", "Help.", Kind.INTEGER, 2, 0, 5, more_private="high")


@pytest.fixture
def heard(qtbot):
    """Show a parameter's row and record its signals."""

    def show(parameter: Parameter):
        row = make_row(parameter)
        qtbot.addWidget(row)
        row.resize(260, 70)
        row.show_value(parameter.default)
        with qtbot.waitActive(row):
            row.show()
        events: list[tuple] = []
        row.edited.connect(lambda value, gesture: events.append((value, gesture)))
        row.gesture_ended.connect(lambda: events.append(("end",)))
        return row, events

    return show


@pytest.mark.parametrize("parameter", [LOG, LINEAR, WHOLE, FEW], ids=lambda p: p.key)
def test_showing_a_value_emits_nothing_and_keeps_it_exact(heard, parameter) -> None:
    row, events = heard(parameter)
    value = parameter.clamp(parameter.low + (parameter.high - parameter.low) / math.pi)
    row.show_value(value)
    assert row.slider.number == value
    assert events == []


@pytest.mark.parametrize("parameter", [LOG, LINEAR, WHOLE, FEW], ids=lambda p: p.key)
def test_keys_move_within_the_domain_and_always_move(qtbot, heard, parameter) -> None:
    row, events = heard(parameter)
    row.slider.setFocus()
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Left,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_End,
        Qt.Key.Key_Home,
    ):
        before = row.slider.number
        qtbot.keyClick(row.slider, key)
        assert row.slider.number != before
        assert parameter.parse(row.slider.number) == row.slider.number
    assert row.slider.number == parameter.low
    qtbot.keyClick(row.slider, Qt.Key.Key_Left)
    assert len(events) == 7
    assert all(gesture for _, gesture in events)


def test_a_run_of_keys_is_one_gesture(qtbot, heard) -> None:
    row, events = heard(LOG)
    row.slider.setFocus()
    for _ in range(3):
        qtbot.keyClick(row.slider, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: events[-1] == ("end",))
    assert [e for e in events if e != ("end",)] == events[:3]


def test_dragging_is_one_gesture_from_press_to_release(qtbot, heard) -> None:
    row, events = heard(LOG)
    middle = row.slider.height() // 2
    qtbot.mousePress(row.slider, Qt.MouseButton.LeftButton, pos=QPoint(40, middle))
    for x in (60, 90, 130):
        qtbot.mouseMove(row.slider, QPoint(x, middle))
    qtbot.mouseRelease(row.slider, Qt.MouseButton.LeftButton, pos=QPoint(130, middle))
    values = [e[0] for e in events[:-1]]
    assert events[-1] == ("end",)
    assert len(values) >= 2
    assert values == sorted(values)
    assert float(f"{values[-1]:.4g}") == values[-1]  # no digits that were not chosen


def test_taking_hold_of_the_handle_does_not_move_it(qtbot, heard) -> None:
    row, events = heard(LOG)
    handle = row.slider.handle().toPoint()
    qtbot.mouseClick(row.slider, Qt.MouseButton.LeftButton, pos=handle + QPoint(3, 0))
    assert events == [("end",)]
    assert row.slider.number == 1e-8


def test_sliders_are_fine() -> None:
    assert STEPS >= 1000
    numbers = [LOG.at_place(i / STEPS) for i in range(STEPS + 1)]
    assert len(set(numbers)) == STEPS + 1
    assert numbers[0] == LOG.low
    assert numbers[-1] == LOG.high


def test_the_wheel_moves_only_a_focused_slider(qtbot, heard) -> None:
    row, events = heard(LOG)
    other = QWidget(row, focusPolicy=Qt.FocusPolicy.StrongFocus)

    def turn() -> None:
        at = QPointF(row.slider.rect().center())
        QApplication.sendEvent(
            row.slider,
            QWheelEvent(
                at,
                row.slider.mapToGlobal(at),
                QPoint(),
                QPoint(0, 120),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )

    other.setFocus()
    turn()
    assert events == []
    row.slider.setFocus()
    turn()
    assert len(events) == 1
    assert events[0][0] > 1e-8


def test_typing_a_value(qtbot, heard) -> None:
    row, events = heard(LOG)
    row.field.setFocus()
    row.field.selectAll()
    qtbot.keyClicks(row.field, "10^-6")
    assert events == []
    qtbot.keyClick(row.field, Qt.Key.Key_Return)
    assert events == [(1e-6, False)]
    assert row.field.text() == "1e-6"


@pytest.mark.parametrize(("text", "why"), [("2", "10⁻³⁰ to 0.1"), ("x", "Cannot read")])
def test_a_wrong_value_is_marked_and_explained(qtbot, heard, text, why) -> None:
    row, events = heard(LOG)
    row.field.setFocus()
    row.field.selectAll()
    qtbot.keyClicks(row.field, text)
    qtbot.keyClick(row.field, Qt.Key.Key_Return)
    assert events == []
    assert row.field.property("wrong")
    assert why in row.field.toolTip()
    assert row.field.text() == text
    qtbot.keyClick(row.field, Qt.Key.Key_Escape)
    assert row.field.text() == "1e-8"
    assert not row.field.property("wrong")


def test_a_reason_fits_in_its_place_and_is_whole_on_hover(qtbot, heard) -> None:
    row, _ = heard(LOG)
    row.setFixedWidth(224)
    for text in ("2oo", "2000"):
        row.field.setText(text)
        row.field.setModified(True)
        qtbot.keyClick(row.field, Qt.Key.Key_Return)
        assert row.reason.fontMetrics().horizontalAdvance(row.reason.text()) <= row.reason.width()
        assert row.reason.text().split()[0] in row.reason.toolTip()
        assert len(row.reason.text()) <= len(row.reason.toolTip())


def test_one_of_two_readings_is_chosen_in_the_place_of_the_slider(qtbot, heard) -> None:
    row, events = heard(WHOLE)
    row.field.setLocale(QLocale("de_DE"))
    height = row.sizeHint().height()
    for place, number in ((0, 50), (1, 50_000)):
        row.field.setFocus()
        row.field.selectAll()
        qtbot.keyClicks(row.field, "50.000")
        qtbot.keyClick(row.field, Qt.Key.Key_Return)
        assert not row.slider.isVisible()
        assert row.sizeHint().height() == height
        assert [row.field, *row.either] == row.stops()[:3]
        assert [button.text() for button in row.either] == ["50", "50,000"]
        row.show_error("Too few for these data.")  # another reason asks nothing
        assert row.either == []
        assert row.slider.isVisible()
        qtbot.keyClick(row.field, Qt.Key.Key_Return)
        qtbot.mouseClick(row.either[place], Qt.MouseButton.LeftButton)
        assert events[-1] == (number, False)
        assert row.slider.isVisible()
        assert row.either == []
        assert not row.field.property("wrong")


def test_a_fraction_is_no_whole_number(qtbot, heard) -> None:
    row, events = heard(WHOLE)
    row.field.setFocus()
    row.field.selectAll()
    qtbot.keyClicks(row.field, "2.5")
    qtbot.keyClick(row.field, Qt.Key.Key_Return)
    assert events == []
    assert "whole number" in row.field.toolTip()


def test_what_is_being_typed_survives_an_echo(qtbot, heard) -> None:
    row, _ = heard(LOG)
    row.field.setFocus()
    row.field.selectAll()
    qtbot.keyClicks(row.field, "1e-")
    row.show_value(1e-8)
    assert row.field.text() == "1e-"
    row.show_value(1e-7)
    assert row.field.text() == "1e-7"


def test_arrow_keys_in_the_field_step_the_slider(qtbot, heard) -> None:
    row, events = heard(FEW)
    row.field.setFocus()
    qtbot.keyClick(row.field, Qt.Key.Key_Up)
    qtbot.keyClick(row.field, Qt.Key.Key_Down)
    assert [e[0] for e in events] == [3, 2]


@pytest.mark.parametrize("study_id", study_ids())
def test_every_parameter_of_every_study_has_a_row_that_says_what_it_is(qtbot, study_id) -> None:
    session = Session(SessionState(study_id))
    panel = ParametersPanel(session)
    qtbot.addWidget(panel)
    kinds = {
        Kind.CHOICE: ChoiceRow,
        Kind.FLAG: FlagRow,
        Kind.FILE: FileRow,
        Kind.TABLE: TableRow,
    }
    for p in get_study(study_id).parameters:
        if not p.in_panel:
            with pytest.raises(KeyError):
                panel.row(p.key)
            continue
        row = panel.row(p.key)
        assert isinstance(row, kinds.get(p.kind, NumberRow))
        assert p.help.split()[0] in row.toolTip()
        if p.numeric:
            assert p.name in row.slider.accessibleName()
            said = row.slider.accessibleDescription()
            told = (p.symbol, p.name, format_number(p.default, digits=PARAMETER_DIGITS))
            assert said.startswith(", ".join(filter(None, told)))
            assert p.help in said
            assert ("private to the" in said) is bool(p.more_private)
            assert row.slider.number == p.default
            assert row.minimumSizeHint().width() <= 260
    session.changed.disconnect()


@pytest.mark.parametrize("study_id", study_ids())
def test_every_tooltip_says_which_way_is_more_private(study_id) -> None:
    for p in get_study(study_id).parameters:
        said = f"{p.help} {direction(p)}"
        if p.numeric:
            assert "more private" in said or "nothing about privacy" in said, p.key
    assert direction(LOG).startswith("Neither")
    assert direction(FEW).startswith("Larger")


def test_rows_write_to_the_session_and_follow_it(qtbot, tiny_study) -> None:
    session = Session(SessionState("tiny"))
    panel = ParametersPanel(session)
    qtbot.addWidget(panel)
    panel.resize(280, 500)
    panel.show()
    assert panel.row("eps").isVisible()
    assert not panel.row("n").isVisible()  # matters for another quantity only
    session.set_quantity("error")
    assert panel.row("n").isVisible()
    assert panel.row("eps").swept.isVisible()
    assert not panel.row("n").swept.isVisible()
    panel.row("tail").box.activated.emit(1)
    qtbot.mouseClick(panel.row("slow").box, Qt.MouseButton.LeftButton, pos=QPoint(8, 12))
    assert session.request()["tail"] == "chebyshev"
    assert session.request()["slow"] is True
    slider = panel.row("eps").slider
    slider.setFocus()
    for _ in range(4):
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert session.request()["eps"] > 1.0
    session.undo()
    assert session.request()["eps"] == slider.number == 1.0
    session.undo()
    session.undo()
    assert panel.row("tail").box.currentData() == "hoeffding"
    assert not panel.row("slow").box.isChecked()
    session.changed.disconnect()


def test_two_drags_are_two_steps(qtbot, tiny_study) -> None:
    session = Session(SessionState("tiny"))
    panel = ParametersPanel(session)
    qtbot.addWidget(panel)
    panel.resize(280, 400)
    panel.show()
    slider = panel.row("eps").slider
    middle = slider.height() // 2
    for xs in ((40, 60, 80), (90, 110, 130)):
        qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(xs[0], middle))
        for x in xs[1:]:
            qtbot.mouseMove(slider, QPoint(x, middle))
        qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(xs[-1], middle))
    after_second = session.request()["eps"]
    session.undo()
    after_first = session.request()["eps"]
    assert after_first < after_second
    session.undo()
    assert session.request()["eps"] == 1.0
    assert not session.undo_text
    session.changed.disconnect()


def test_the_end_of_a_slider_has_the_unit_that_another_parameter_chooses(qtbot) -> None:
    session = Session(SessionState("choose-alpha"))
    panel = ParametersPanel(session)
    qtbot.addWidget(panel)
    row = panel._page(get_study("choose-alpha")).rows["distance1"]
    assert row.high_end.text().endswith(" mi")
    session.set_value("space_unit", "km")
    assert row.high_end.text().endswith(" km")
    assert " km;" in row.toolTip()
    session.set_value("space_unit", "none")
    assert not row.high_end.text().endswith("km")


def test_a_typed_table_is_taken_by_its_button_or_when_left_and_says_what_is_wrong(
    qtbot, heard
) -> None:
    typed = Parameter("t", "", "table", "Help.", Kind.TABLE, "0.7 0.3; 0.3 0.7")
    row, events = heard(typed)
    assert row.field.toPlainText() == "0.7 0.3\n0.3 0.7"
    row.button.click()
    assert events == []
    row.field.setPlainText("0.5 0.5\n0.25, 0.75")
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    assert events == [("0.5 0.5; 0.25 0.75", False)]
    row.show_value(events[0][0])
    row.field.setPlainText("0.5 0.5\n0.25 x")
    qtbot.keyClick(row.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(events) == 1
    assert row.error.isVisibleTo(row)
    assert "ow 2, field 2:" in row.error.text()
    assert row.field.toPlainText().startswith("0.5 0.5\n0.25 x")
