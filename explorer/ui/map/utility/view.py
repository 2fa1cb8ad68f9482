"""View of the utility curves: error against ε for the users of the map, and its headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.engine.error_curves import (
    ErrorCurves,
    ErrorCurves as Curves,
    Question,
    SearchProgress,
    find_curves,
    search_epsilon,
)
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.engine.session.utility_settings import UtilitySettings, utility_to_recipe
from explorer.figures import style
from explorer.figures.view_state import ViewState
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import Headline, Headline as InFront
from explorer.studies.base.study import Request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments import utility_report as words
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    DRAWS,
    MEASURES,
    Axis,
    Found,
    first_target,
    parameters_read_by,
    request_at,
)
from explorer.studies.heatmap.experiments.samples import place_of
from explorer.studies.heatmap.experiments.utility_report import (
    MEAN,
    TITLE,
    log_axis,
    utility_result,
)
from explorer.studies.heatmap.mechanisms import MECHANISMS, RECOMMENDED
from explorer.ui.base.errors import Banner, explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.theme import map_style_for
from explorer.ui.controllers.workspace import Exported
from explorer.ui.map.utility.plot import FILE, MORE_DRAWS, Parts, csv_of
from explorer.ui.widgets.boxes import ChoiceBox


def lines_of(shown: Question, curves: Curves | None, target: float) -> list[words.Line]:
    """Return the ε that each mechanism needs; empty if ε is not on the axis."""
    known = curves is not None and shown.axis == "epsilon"
    return words.lines(curves.curves, shown.shown_measure, target) if curves and known else []


def in_front(
    shown: Question,
    found: Curves | None,
    lines: Sequence[words.Line],
    mechanism: str,
    target: float,
    certified: Found | None,
    request: Request,
) -> Headline:
    """Return the headline of a mechanism: certified if available, else estimated or proved.

    `request` is the map's current request, `shown` that of the curves.
    """
    measure, now = shown.shown_measure, float(request["epsilon"])
    mine = next((line for line in lines if line.mechanism == mechanism), None)
    curves = () if found is None else found.curves
    curve = next((c for c in curves if c.mechanism == mechanism), None)
    users = int(request["n0"]) if found is None else found.users
    sure = ""
    if certified is not None:
        head, text = words.sure_answer(certified, mechanism, measure, target)
    elif shown.axis == "epsilon":
        head, text = words.headline(mine), words.sentence(curve, measure, target, now, mine)
        sure = words.how_sure(curve, measure, (mine and mine.epsilon) or now)
    else:
        head, text = "", words.over(AXES[shown.axis], measure, now)
    rests_on = words.evaluation_text(shown.origin, users, mechanism, request["w"])
    return Headline(head, text, rests_on, curator_only=not shown.proved, more=sure)


def usable(lines: Sequence[words.Line], mechanism: str, certified: Found | None) -> float | None:
    """Return the recommended ε: certified if available, else estimated from enough draws."""
    if certified is not None and certified.enough is not None:
        return float(at_most(certified.enough))
    return next((x.epsilon for x in lines if x.mechanism == mechanism), None)


STUDY = "heatmap"
ASK_AFTER_MS = 250
"""Delay after the last change of a setting."""
STEP = 1.1
"""Step of the up and down keys for a target, as a factor."""
DRAG = "target"
"""Moves closer together than this are one undo step."""


class UtilityView(QWidget):
    """Page in place of the maps: plot, table and settings.

    Nothing is computed while it is hidden.

    Parameters
    ----------
    session : Session
    service : StudyService
    banner : Banner
        Banner for problems.

    Signals
    -------
    answered(object)
        An `ErrorCurves` is shown, complete or not.
    message(str)
        For the status bar.
    spoke()
        `headline` may have changed.
    """

    answered = Signal(object)
    message = Signal(str)
    headline_changed = Signal()

    def __init__(self, session: Session, service: StudyService, banner: Banner) -> None:
        super().__init__()
        self.setAccessibleName("Utility, curator only")
        self._session, self._banner = session, banner
        self.draws = DRAWS
        self.answer: ErrorCurves | None = None
        self.certified: Found | None = None
        self._mechanism = ""
        self._asked: object = None
        self._cancelled = False
        self.lines: list[words.Line] = []
        self._service = service
        self.job = LatestJob("judging ε", self, preempt_after_s=0.0)
        self._soon = QTimer(self, singleShot=True)
        self.headline = InFront("", words.few_runs(0))
        """Headline of the curves' request."""
        self.parts = Parts(self)
        self.plot = self.parts.plot
        self._connect()
        self._restyle()

    def _connect(self) -> None:
        parts = self.parts
        for name, box in parts.boxes.items():
            box.activated.connect(lambda _, name=name, box=box: self._choose(name, box))
        parts.field.entered.connect(lambda value: self.set_target(float(value)))
        parts.field.stepped.connect(lambda way: self.set_target(self.target * STEP**way, DRAG))
        parts.table.clicked.connect(lambda at: self._pick(self.lines[at.row()].mechanism))
        for button, does in (
            (parts.use, self.take),
            (parts.sure, self.search_certified),
            (parts.more, self._draw_more),
            (parts.stop, self._stop_or_go_on),
            (parts.copy, self.copy_csv),
        ):
            button.clicked.connect(does)
        self.plot.point_selected.connect(self._choose_point)
        self.plot.target.dragged.connect(lambda target: self.set_target(target, DRAG))
        self.plot.target.line.sigPositionChangeFinished.connect(self._session.end_gesture)
        self.plot.curve_stepped.connect(lambda by: self.parts.field.stepped.emit(-by))
        self.plot.line_dragged.connect(self._drag_epsilon)
        self.plot.line_released.connect(self._session.end_gesture)
        self._soon.timeout.connect(self._ask)
        self.job.progress.connect(self._progress)
        self.job.done.connect(self._done)
        self.job.failed.connect(self._failed)
        self.job.busy_changed.connect(lambda _: self._say_state())
        self._session.changed.connect(self._state_changed)

    # What is asked -------------------------------------------------------------------------------

    @property
    def which(self) -> UtilitySettings:
        """Settings of the view."""
        return self._session.state.which

    @property
    def target(self) -> float:
        """Current target error."""
        return self.target_of(self.which.measure)

    def target_of(self, measure: str) -> float:
        """Return the target error of a measure: chosen, or the default."""
        selected = self.request.selection
        sides = None if selected is None else place_of(selected.region).sides_km
        return self.which.targets.get(measure) or first_target(MEASURES[measure], sides)

    @property
    def request(self) -> Request:
        """Request of the map."""
        return self._session.request(STUDY)

    @property
    def mechanism(self) -> str:
        """Mechanism whose ε is searched: selected in the table, else the map's.

        Only mechanisms with a curve; for proved values, the best one that has them.
        """
        selected = self._mechanism or str(self.request["mechanism"])
        if not MECHANISMS[selected].comparable:
            selected = RECOMMENDED.key
        if self._mechanism or not self._shown.proved or MECHANISMS[selected].proved:
            return selected
        return next((line.mechanism for line in self.lines if line.epsilon is not None), selected)

    def question(self) -> Question:
        """Return the request for the curves."""
        which = self.which
        return Question(self.request, which.axis, which.measure, which.judged_on, self.draws)

    def set_target(self, target: float, gesture: str | None = None) -> None:
        """Set another target."""
        which = self.which.with_target(self.which.measure, words.round_shown(target))
        self._session.set_which(which, "change target", gesture)

    def ask(self, after_ms: int = ASK_AFTER_MS) -> None:
        """Request the curves, unless they are already requested."""
        if not self.isHidden() and self.request.selection is not None:
            self._soon.start(after_ms)

    def _ask(self) -> None:
        question, key = self.question(), self._key()
        if key == self._asked or self.request.selection is None:
            return
        self._asked, self._cancelled = key, False
        if self.answer is not None and self.answer.question.axis != question.axis:
            self.answer = None
        self.certified = None
        self._banner.settled("which")
        self.job.submit(
            question,
            lambda task: self._service.call(find_curves, question, task.check, task.report),
        )
        self._say_state()

    def _key(self) -> object:
        """Return the settings on which the curves depend."""
        request, which = self.request, self.which
        read = frozenset({"mechanism"}).union(*map(parameters_read_by, MECHANISMS))
        values = tuple((k, v) for k, v in request.values if k != which.axis and k in read)
        rows = None if request.selection is None else request.selection.rows
        return values, rows, which.axis, which.measure, which.judged_on, self.draws

    @property
    def role(self) -> str:
        """What the number of the headline is and from how many runs: ``estimate, 20 runs``."""
        if not self.headline.number or self.headline.number.endswith("…"):
            return ""
        if self._shown.proved or self.certified is not None:
            return "proved" if self._shown.proved else "95 % sure"
        curves = () if self.answer is None else self.answer.curves
        runs = words.fewest_runs([c for c in curves if c.mechanism == self.mechanism])
        return f"estimate, {runs} run{'s' * (runs != 1)}"

    def search_certified(self) -> None:
        """Search for a sufficient and an insufficient ε."""
        sought = self.question(), self.mechanism, self.target
        self._soon.stop()
        self._banner.settled("which")
        self.job.submit(
            sought[1:],
            lambda task: self._service.call(search_epsilon, sought, task.check, task.report),
        )

    def take(self) -> None:
        """Apply the mechanism and ε found to the map, as one undo step."""
        epsilon = usable(self.lines, self.mechanism, self.certified)
        if epsilon is not None:
            self._set_map(self.mechanism, AXES["epsilon"], epsilon)

    def open_view(self) -> None:
        """Show the session's settings and request the curves."""
        if self.answer is not None and self.answer.question.judged_on != self.which.judged_on:
            self.answer = None
        self.parts.offer(self.which)
        self._draw()
        self.ask(0)

    def forget(self) -> None:
        """Stop computing and clear the curves: the rows changed."""
        self.cancel()
        self.answer = None
        self._draw()

    def cancel(self) -> None:
        """Stop computing; results so far stay."""
        self._soon.stop()
        self._cancelled = self.job.cancel()
        self._asked = None
        self._say_state()

    def close_view(self) -> None:
        """Stop everything before the window closes."""
        self._session.changed.disconnect(self._state_changed)
        self._soon.stop()
        self.job.close()

    def copy_csv(self) -> None:
        """Copy the values of all curves, stamped."""
        if self.answer is not None:
            QGuiApplication.clipboard().setText(csv_of(self.answer))
            who = "" if self.answer.question.proved else ": for the curator only"
            self.message.emit(f"The numbers are on the clipboard{who}.")

    # What was chosen -----------------------------------------------------------------------------

    def _choose(self, name: str, box: ChoiceBox) -> None:
        selected = str(box.currentData())
        if selected == FILE:
            path, _ = QFileDialog.getOpenFileName(self, "A public file of check-ins to judge on")
            selected = path or self.which.judged_on
        which = self.which.with_choice(name, selected)
        self._session.set_which(which, f"choose {box.currentText()}")
        self.parts.offer(self.which)

    def evaluate_on(self, key: str) -> None:
        """Evaluate on the map's check-ins, the sample, proved bounds, or a file."""
        self._session.set_which(self.which.with_choice("judged_on", key), "judge on others")

    def _draw_more(self) -> None:
        self.draws = MORE_DRAWS
        self.ask()

    def _stop_or_go_on(self) -> None:
        (self.cancel if self.job.busy else self.ask)()

    def _pick(self, mechanism: str) -> None:
        self._mechanism = mechanism
        self.certified = None
        self.plot.choose(mechanism)
        self._read_off()

    def _choose_point(self, mechanism: str, x: float) -> None:
        self._set_map(mechanism, AXES[self._shown.axis], x)

    def _set_map(self, mechanism: str, axis: Axis, x: float) -> None:
        if self.request.selection is None:
            return
        request = request_at(self.request, mechanism, axis, x, self._shown.origin)
        self._mechanism = ""
        self._session.follow(request, text=f"use {axis.symbol} = {nearest(x)}")

    def _drag_epsilon(self, x: float) -> None:
        if self.which.axis == "epsilon":
            epsilon = min(max(words.round_shown(x), 0.01), 20.0)
            self._session.set_value("epsilon", epsilon, STUDY, gesture="which ε")

    # What comes ----------------------------------------------------------------------------------

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if self.isHidden():
            return
        if state.selection is None:
            self.forget()
        if state.which != old.which:
            self._follow(state.which, old.which)
        if state.request_of(STUDY)["mechanism"] != old.request_of(STUDY)["mechanism"]:
            self._mechanism = ""
        self._draw_now()
        self._show_target()
        self._read_off()
        self.ask()

    def _follow(self, which: UtilitySettings, old: UtilitySettings) -> None:
        """Apply other settings."""
        self.parts.offer(which)
        if (which.measure, which.targets) != (old.measure, old.targets):
            self.certified = None
        if which.judged_on != old.judged_on:
            self.answer, self._mechanism = None, ""
        if which.statistic != old.statistic:
            self._draw()

    def _progress(self, _key: object, news: object) -> None:
        if isinstance(news, ErrorCurves):
            self._take_answer(news)
        elif isinstance(news, SearchProgress):
            self.parts.state.setText(
                f"Verifying ε = {nearest(news.epsilon)}: {news.done:,} of {news.wanted:,} runs"
            )

    def _done(self, key: object, found: object) -> None:
        if isinstance(found, ErrorCurves):
            self._take_answer(found)
        elif isinstance(found, Found) and key == (self.mechanism, self.target):
            self.certified = found
            self._read_off()
        if not isinstance(found, ErrorCurves) and not (self.answer and self.answer.finished):
            self._asked = None  # the search replaced the curves; they can continue
        self._say_state()

    def _take_answer(self, answer: ErrorCurves) -> None:
        self.answer = answer
        self._draw()
        self._say_state()
        self.answered.emit(answer)

    def _failed(self, _key: object, error: Exception) -> None:
        self._asked = None
        self._banner.show_problem(explain(error, "which"))
        self._say_state()

    # What is shown -------------------------------------------------------------------------------

    @property
    def _shown(self) -> Question:
        return self.question() if self.answer is None else self.answer.question

    def _draw(self) -> None:
        self.plot.setEnabled(self.answer is not None)
        if self.answer is not None and self.answer.curves:
            self._read_off()
            self.plot.show_answer(self.answer, self.mechanism, self.which.statistic)
        self._draw_now()
        self._show_target()
        self._read_off()

    def _draw_now(self) -> None:
        """Place the line at the map's present error."""
        axis, request = AXES[self._shown.axis], self.request
        if axis.key == "users":
            selection = request.selection
            now = None if selection is None or selection.users is None else float(selection.users)
        else:
            now = None if axis.of_data else float(request[axis.key])
        self.plot.set_value_line(now, "" if now is None else f"{axis.symbol} = {nearest(now)} now")
        self.plot.value_line.setMovable(axis.key == "epsilon")

    def _show_target(self) -> None:
        on_epsilon, measure = self.which.axis == "epsilon", self.which.measure
        self.parts.show_field(on_epsilon, self.question())
        self.parts.field.set_number(self.target)
        shown = self.answer is not None and self.answer.question.measure == measure
        wanted = self.target if on_epsilon and shown else None
        self.plot.show_target(wanted, self.question().shown_measure)

    def _read_off(self) -> None:
        """Show the ε that the target requires, as far as the curves are known."""
        shown, target = self._shown, self.target_of(self._shown.measure)
        self._update_headline()
        on_epsilon = shown.axis == "epsilon"
        self.plot.show_met(self.lines, target if on_epsilon else None, self.which.statistic)
        now = float(self.request["epsilon"])
        curves = self.answer.curves if self.answer is not None and on_epsilon else ()
        errors = {
            curve.mechanism: words.mean_at(curve, now)
            for curve in curves
            if curve.proved or min(curve.draws) >= DRAWS
        }
        self.parts.show_lines(
            shown.shown_measure,
            target,
            self.lines,
            self.mechanism,
            shown,
            errors,
            f"ε = {nearest(now)}",
        )
        epsilon = usable(self.lines, self.mechanism, self.certified)
        other = self.mechanism != self.request["mechanism"]
        self.parts.show_use(epsilon, MECHANISMS[self.mechanism].title if other else "")
        there = self.answer is not None and bool(self.answer.curves)
        self.parts.sure.setEnabled(on_epsilon and there and not shown.proved)

    def _update_headline(self) -> None:
        """Update the headline."""
        shown, target = self._shown, self.target_of(self._shown.measure)
        self.lines = lines_of(shown, self.answer, target)
        self.headline = in_front(
            shown, self.answer, self.lines, self.mechanism, target, self.certified, self.request
        )
        self.headline_changed.emit()

    def _say_state(self) -> None:
        more = self.draws < MORE_DRAWS and not self._shown.proved
        able = self.request.selection is not None
        self.parts.show_state(self.answer, self.job.busy, able, more, self.draws)

    def _restyle(self) -> None:
        self.plot.set_theme(style.theme(map_style_for(self.palette()).theme))
        self.parts.colour_lines(self.lines)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "plot"):
            self._restyle()


def export_curves(view: UtilityView) -> Exported | None:
    """Return the curves for export; None if there are none."""
    answer, drawn = view.answer, view.plot.result
    if answer is None or drawn is None:
        return None
    question = answer.question
    axis, measure = AXES[question.axis], MEASURES[question.measure]
    target = view.target_of(measure.key)
    statistic = MEAN if question.proved else view.which.statistic
    shown = replace(view.which, statistic=statistic, targets={measure.key: target})
    summary = utility_to_recipe(shown, question.draws)
    judged = summary["judged_on"]  # never the path of a file
    notes = [f"Judged on {judged}" + f", {answer.users:,} users" * (axis.key != "users") + "."]
    if not answer.finished:
        notes.append(f"{answer.done:,} of {answer.total:,} draws are there.")
    notes += [view.headline.text, view.headline.beside]
    result = utility_result(
        question.request,
        axis,
        measure,
        statistic,
        drawn.series,
        answer.curves,
        answer.grey,
        target,
        text.stamp(False, curator_only=True),
        notes,
    )
    look = ViewState(
        title=TITLE,
        theme=map_style_for(view.palette()).theme,
        x_log=log_axis(axis),
        y_log=measure.log,
    )
    return Exported(result, look, question.request, {"which": summary})
