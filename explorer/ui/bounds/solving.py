"""Solve for: computes the parameter value at which a curve reaches a target."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.engine.solving import (
    DIGITS,
    Solution,
    SolveGoal,
    solution_sentence,
    solvable_parameters,
    solvable_series,
    solve,
)
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import Request, Result, Series, Study, parameter, quantity
from explorer.studies.registry import get_study
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.panels.presets import preset_in_front
from explorer.ui.plot.curve_plot import BoundsPlot, TargetLine
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.value_field import ValueField

_LINES = 2
"""Maximum length of the solution's text; in narrow windows the tool tip shows the rest."""


class SolveBar(QWidget):
    """Row of inputs: solve for [parameter] so that [curve] = [target].

    Signals
    -------
    wanted()
        Emitted by Enter in the target field, or by the button.
    target_set(float)
        Another target was typed; solving starts with `wanted`.
    stepped(int)
        Up (1) or down (−1) key in the target field.
    chosen()
        Another parameter or curve was selected.
    left()
        Escape was pressed.
    """

    wanted = Signal()
    target_set = Signal(float)
    stepped = Signal(int)
    chosen = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.parameter = ChoiceBox("Parameter to solve for")
        self.curve = ChoiceBox("Curve that is to reach the target")
        for box in (self.parameter, self.curve):
            box.setMinimumContentsLength(5)
        self.target = ValueField(float)
        self.target.setAccessibleName("Target of the curve")
        self.target.set_help(
            "Target value of the curve. Press Enter to solve, change it with the up and down "
            "keys, or drag the target line in the plot."
        )
        self.target.setFixedWidth(92)
        self.button = tool_button("Solve", "Find the parameter's value and move its slider there")
        self.message = FixedSizeText("muted")
        self.message.setAccessibleName("Solution")
        # Space for the solution is reserved, so that nothing moves when it appears.
        self.message.setFixedHeight(_LINES * self.message.fontMetrics().lineSpacing())
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        words = QLabel("<b>Solve</b> for", textFormat=Qt.TextFormat.RichText)
        words.setBuddy(self.parameter)
        so_that = styled_label("muted", "so that")
        so_that.setBuddy(self.curve)
        equals = styled_label("muted", "=")
        equals.setBuddy(self.target)
        for widget, stretch in (
            (words, 0),
            (self.parameter, 2),
            (so_that, 0),
            (self.curve, 3),
            (equals, 0),
            (self.target, 0),
            (self.button, 0),
        ):
            row.addWidget(widget, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 6)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(self.message)
        self.parameter.activated.connect(lambda _: self.chosen.emit())
        self.curve.activated.connect(lambda _: self.chosen.emit())
        self.target.entered.connect(lambda y: self.target_set.emit(float(y)))
        self.target.stepped.connect(self.stepped)
        self.target.editingFinished.connect(self._entered)
        self.button.clicked.connect(lambda _=False: self.wanted.emit())

    def offer(
        self,
        parameters: Sequence[tuple[str, str]],
        parameter: str,
        curves: Sequence[tuple[str, str]],
        curve: str,
    ) -> None:
        """Set the choices (key, text) and the selected keys."""
        self.parameter.offer(parameters, parameter)
        self.curve.offer(curves, curve)
        for box in (self.parameter, self.curve):
            box.setToolTip(box.currentText())
        usable = bool(parameters) and bool(curves)
        for widget in (self.parameter, self.curve, self.target, self.button):
            widget.setEnabled(usable)

    def show_message(self, text: str) -> None:
        """Show a solution, or none."""
        self.message.setText(text)
        self.message.setToolTip(text)

    def _entered(self) -> None:
        """Solve after Enter; leaving the field with Tab only sets the target."""
        if self.target.hasFocus() and not self.target.property("wrong"):
            self.wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the row's own keys."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


LIVE_DIGITS = 3
"""Digits of a solution while the target moves; more at rest."""
PREEMPT_AFTER_S = 1.0
"""Time after which a running solve yields to a newer one."""
_STEP = 0.02
"""Share of the target, or of the visible y range, per key press."""


@dataclass
class SolveTarget:
    """Last inputs for one quantity of a study."""

    parameter: str
    curve: str = ""
    """Curve selected by the user; if missing, the claimed curve is solved."""
    target: float | None = None


class Solving(QObject):
    """Connects input row, target line and solver thread, and sets the parameter.

    Parameters
    ----------
    session : Session
    service : StudyService
    plot : BoundsPlot
    bar : SolveBar

    Signals
    -------
    busy_changed(bool)
    shown_changed(bool)
        Emitted when the row is shown or hidden.
    """

    busy_changed = Signal(bool)
    shown_changed = Signal(bool)

    def __init__(
        self, session: Session, service: StudyService, plot: BoundsPlot, bar: SolveBar
    ) -> None:
        super().__init__(bar)
        self._session, self._plot, self.bar = session, plot, bar
        self.line = TargetLine(plot)
        self._service = service
        self._job = LatestJob("solve", self, preempt_after_s=PREEMPT_AFTER_S)
        self._choices: dict[tuple[str, str], SolveTarget] = {}
        self._result: Result | None = None
        self._gestures = 0
        self._ending = False
        self._applying = False
        bar.hide()
        bar.show_message("")
        bar.wanted.connect(self.solve)
        bar.target_set.connect(self._target_typed)
        bar.stepped.connect(self._stepped)
        bar.chosen.connect(self._chosen)
        bar.left.connect(lambda: self.set_shown(False))
        self.line.dragged.connect(self._dragged)
        self.line.released.connect(self.solve)
        self._job.done.connect(self._solved)
        self._job.failed.connect(self._failed)
        self._job.busy_changed.connect(self._busy_changed)
        session.changed.connect(self._state_changed)

    @property
    def busy(self) -> bool:
        """Whether a solution is being computed."""
        return self._job.busy

    @property
    def shown(self) -> bool:
        """Whether the row is visible."""
        return not self.bar.isHidden()

    def set_shown(self, shown: bool) -> None:
        """Show the row with the focus in the target field, or hide it."""
        if shown != self.shown:
            self.bar.setVisible(shown)
            if not shown:
                self._job.cancel()
                self.bar.show_message("")
            self._refresh()
            self.shown_changed.emit(shown)
        if shown:
            self.bar.target.setFocus()
            self.bar.target.selectAll()

    def cancel(self) -> None:
        """Cancel solving."""
        self._job.cancel()

    def close(self) -> None:
        """Disconnect and stop the thread."""
        self._session.changed.disconnect(self._state_changed)
        self._job.close()

    def show_result(self, result: Result) -> None:
        """Update the choices for the current result."""
        self._result = result
        self._refresh()

    # Requests

    def _choice(self) -> SolveTarget | None:
        """Return the goal for the current result; None if it cannot be solved."""
        result = self._result
        if result is None or result.request.study != self._session.state.study:
            return None
        study, request = get_study(result.request.study), result.request
        parameters = [p.key for p in solvable_parameters(study, request)]
        if not (parameters and self._curves(result)):
            return None
        subject = (study.id, request.quantity)
        choice = self._choices.setdefault(subject, SolveTarget(""))
        if choice.parameter not in parameters:
            claim = study.claims.get(request.quantity)
            swept = request.sweep.key if request.sweep is not None else ""
            first = [key for key in (claim.solves if claim else "", swept) if key in parameters]
            choice.parameter = first[0] if first else parameters[0]
        if choice.target is None:
            choice.target = self._value_now(result, self._curve(result, choice))
        return choice

    def _curves(self, result: Result) -> list[Series]:
        return [s for s in solvable_series(result) if s.key not in self._plot.hidden]

    def _curve(self, result: Result, choice: SolveTarget) -> str:
        """Return the curve to solve: the selected, else the claimed, else the first."""
        curves = self._curves(result)
        request = result.request
        value = evaluate_claim(
            result, self._session.state.claim_of(request.study, request.quantity)
        )
        text = [s.key for s in curves if s.role in (Role.UPPER, Role.EXACT)]
        wanted = (choice.curve, value.series.key if value is not None else "", *text)
        return next((key for key in wanted if key in {s.key for s in curves}), curves[0].key)

    def _value_now(self, result: Result, curve: str) -> float | None:
        """Return the value of a curve at the sliders, rounded to digits one would type."""
        known = {r.key: r.value for r in result.readouts}
        now = known[curve] if curve in known else self._plot.value_here(curve)
        return float(f"{now:.3g}") if now is not None and math.isfinite(now) else None

    def _refresh(self) -> None:
        """Update row and target line."""
        if not self.shown:
            self.line.show(None)
            return
        choice, result = self._choice(), self._result
        if choice is None or result is None:
            self.bar.offer([], "", [], "")
            self.bar.show_message("Nothing in this plot can be solved for.")
            self.line.show(None)
            return
        study, request = self._front()
        parameters = [
            (p.key, "  ".join(filter(None, (p.symbol, p.name))))
            for p in solvable_parameters(study, request)
        ]
        curves = [(s.key, study.short_name(s.key, s.label)) for s in self._curves(result)]
        self.bar.offer(parameters, choice.parameter, curves, self._curve(result, choice))
        if choice.target is not None:
            self.bar.target.set_number(choice.target)
        shown = quantity(study, request.quantity)
        self.line.show(choice.target, shown.symbol or shown.name)

    def _front(self) -> tuple[Study, Request]:
        request = self._session.request()
        return get_study(request.study), request

    def _chosen(self) -> None:
        choice = self._choice()
        if choice is not None:
            choice.parameter = self.bar.parameter.currentData()
            choice.curve = self.bar.curve.currentData()
            self.bar.show_message("")
            self._refresh()

    def _target_typed(self, target: float) -> None:
        choice = self._choice()
        if choice is not None:
            choice.target = target
            self._refresh()

    def _dragged(self, target: float) -> None:
        choice = self._choice()
        if choice is not None:
            choice.target = float(f"{target:.3g}")
            self.bar.target.set_number(choice.target)
            self._submit(LIVE_DIGITS)

    def _stepped(self, direction: int) -> None:
        choice = self._choice()
        if choice is None or choice.target is None:
            return
        if self._plot.y_log and choice.target > 0:
            target = choice.target * (1 + _STEP) ** direction
        else:
            low, high = self._plot.data_ranges()[1]
            target = choice.target + direction * _STEP * (high - low)
        choice.target = float(f"{target:.3g}")
        self._refresh()
        self.solve()

    def solve(self) -> None:
        """Solve for the present target; the result is a new undo step."""
        self._ending = True
        self._submit(DIGITS)

    def _submit(self, digits: int) -> None:
        choice, result = self._choice(), self._result
        if choice is None or choice.target is None or result is None:
            self._idle()
            return
        _, request = self._front()
        goal = SolveGoal(
            request, self._curve(result, choice), choice.parameter, choice.target, digits
        )
        self._job.submit(goal, lambda task: self._service.call(solve, goal, task.check))

    # Results

    def _solved(self, goal: SolveGoal, solution: Solution) -> None:
        if not self._current(goal):
            return
        study = get_study(goal.request.study)
        self.bar.show_message(solution_sentence(solution))
        if solution.value is None:
            return
        p = parameter(study, goal.parameter)
        self._applying = True
        try:
            self._session.set_value(
                p.key, p.clamp(solution.value), study.id, f"solve {self._gestures}"
            )
        finally:
            self._applying = False

    def _failed(self, goal: SolveGoal, error: Exception) -> None:
        if self._current(goal):
            self.bar.show_message(f"Not solved: {error}")

    def _current(self, goal: SolveGoal) -> bool:
        """Return whether a goal still matches the current request."""
        _, request = self._front()
        if request.study != goal.request.study or not self.shown:
            return False
        key = goal.parameter
        query = goal.request.with_value(key, request[key])
        return (query.values, query.quantity) == (request.values, request.quantity)

    def _busy_changed(self, busy: bool) -> None:
        self.busy_changed.emit(busy)
        if not busy:
            self._idle()

    def _idle(self) -> None:
        if self._ending:
            self._ending = False
            self._gestures += 1
            self._session.end_gesture()

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if self._applying:
            return
        if old is not None and state.request != old.request and preset_in_front(state) is not None:
            # A target for the former settings does not apply to a preset.
            self._choices.pop((state.study, state.request.quantity), None)
        if not self.shown:
            return
        if old is None or state.request != old.request or state.study != old.study:
            self.bar.show_message("")  # the former solution no longer applies
        if old is None or state.study != old.study:
            self._refresh()
