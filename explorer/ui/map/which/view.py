"""Which ε? Error against ε on the map's own users, and the smallest ε for a target."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.engine.error_curves import HERE, SAMPLE, Answer, Judge, Question, Searching
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.engine.session.session import Session, SessionState
from explorer.figures import style
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import Request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments import which_words as words
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    DRAWS,
    MEASURES,
    STAGES,
    Axis,
    read_by,
)
from explorer.studies.heatmap.experiments.judging import taken
from explorer.studies.heatmap.experiments.which_epsilon import Found
from explorer.studies.heatmap.mechanisms import MECHANISMS, RECOMMENDED
from explorer.ui.base.errors import Banner, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.drawing.map_style import style_for
from explorer.ui.map.which.parts import FILE, JUDGED, MORE_DRAWS, AnswerLine, Parts

STUDY = "heatmap"
ASK_AFTER_MS = 250
"""After the last change of a setting that moves the curves."""
STEP = 1.1
"""By how much the up and down keys move a target."""


class WhichEpsilon(QWidget):
    """The view below the maps: plot, table, and what is asked.

    Nothing is computed while it is hidden.

    Parameters
    ----------
    session : Session
    runtime : StudyRuntime
    banner : Banner
        Where it is said what went wrong.

    Signals
    -------
    answered(object)
        An `Answer` is on the screen, finished or not.
    said(str)
        For the status line.
    """

    answered = Signal(object)
    said = Signal(str)

    def __init__(self, session: Session, runtime: StudyRuntime, banner: Banner) -> None:
        super().__init__()
        self.setAccessibleName("Which ε? Curator only")
        self._session, self._banner = session, banner
        self.axis, self.measure, self.statistic = "epsilon", "emd_km", words.OFTEN
        self.judged_on, self.draws = HERE, DRAWS
        self.targets = {key: measure.target for key, measure in MEASURES.items()}
        self.answer: Answer | None = None
        self.certified: Found | None = None
        self._mechanism = ""
        self._asked: object = None
        self._cancelled = False
        self._lines: list[words.Line] = []
        self.judge = Judge(runtime)
        self.job = LatestJob("judging ε", self, preempt_after_s=0.0)
        self._soon = QTimer(self, singleShot=True, interval=ASK_AFTER_MS)
        self.line = AnswerLine()
        self.parts = Parts(self)
        self.plot = self.parts.plot
        self._connect()
        self._restyle()
        self._show_target()

    def _connect(self) -> None:
        parts = self.parts
        for box, change in (
            (parts.measure, self._choose_measure),
            (parts.statistic, self._choose_statistic),
            (parts.axis, self._choose_axis),
            (parts.judged, self._choose_judged),
        ):
            box.activated.connect(lambda _, box=box, change=change: change(box.currentData()))
        parts.field.entered.connect(lambda value: self.set_target(float(value)))
        parts.field.stepped.connect(lambda way: self.set_target(self.target * STEP**way))
        parts.table.clicked.connect(lambda at: self._pick(self._lines[at.row()].mechanism))
        parts.use.clicked.connect(self.take)
        parts.sure.clicked.connect(self.make_sure)
        parts.more.clicked.connect(self._draw_more)
        parts.stop.clicked.connect(self._stop_or_go_on)
        parts.copy.clicked.connect(self.copy_csv)
        self.plot.point_chosen.connect(self._choose_point)
        self.plot.target.dragged.connect(self.set_target)
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
    def target(self) -> float:
        """What one can live with, in the unit of the measure."""
        return self.targets[self.measure]

    @property
    def request(self) -> Request:
        """The map's question."""
        return self._session.request(STUDY)

    @property
    def mechanism(self) -> str:
        """Whose ε is found: picked in the table, else the map's, if it has a curve here."""
        found = self._mechanism or str(self.request["mechanism"])
        return found if MECHANISMS[found].comparable else RECOMMENDED.key

    def question(self) -> Question:
        """Return what curves are asked for now."""
        return Question(self.request, self.axis, self.measure, self.judged_on, self.draws)

    def set_target(self, target: float) -> None:
        """Ask for the ε of another target."""
        self.targets[self.measure] = words.rounded(target)
        self.certified = None
        self._show_target()
        self._read_off()

    def ask(self) -> None:
        """Ask for the curves of what is set, unless that is what was asked last."""
        if not self.isHidden() and self.request.selection is not None:
            self._soon.start()

    def _ask(self) -> None:
        question, key = self.question(), self._key()
        if key == self._asked or self.request.selection is None:
            return
        self._asked, self._cancelled = key, False
        if self.answer is not None and self.answer.question.axis != question.axis:
            self.answer = None
        self.certified = None
        self._banner.settled("which")
        self.job.submit(question, lambda task: self.judge.curves(question, task.check, task.report))
        self._say_state()

    def _key(self) -> object:
        """Return all that curves depend on."""
        request, axis = self.request, AXES[self.axis]
        read = frozenset({"mechanism"}).union(*map(read_by, MECHANISMS))
        values = tuple((k, v) for k, v in request.values if k != axis.key and k in read)
        rows = None if request.selection is None else request.selection.rows
        return values, rows, axis.key, self.measure, self.judged_on, self.draws

    def make_sure(self) -> None:
        """Search for an ε that is enough and one that is not."""
        question, mechanism, target = self.question(), self.mechanism, self.target
        self._asked = None
        self._banner.settled("which")

        def work(task: Task) -> Found:
            return self.judge.make_sure(question, mechanism, target, task.check, task.report)

        self.job.submit((mechanism, target), work)

    def take(self) -> None:
        """Give the map the mechanism and the ε that were found, as one undoable step."""
        epsilon = self._usable()
        if epsilon is not None:
            self._set_map(self.mechanism, AXES["epsilon"], epsilon)

    def cancel(self) -> None:
        """Stop computing; what is there stays."""
        self._soon.stop()
        self._cancelled = self.job.cancel()
        self._asked = None
        self._say_state()

    def close_view(self) -> None:
        """Stop everything and end the processes; the window closes."""
        self._session.changed.disconnect(self._state_changed)
        self._soon.stop()
        self.job.close()
        self.judge.close()

    def copy_csv(self) -> None:
        """Put the numbers of all curves on the clipboard, stamped."""
        if self.answer is not None:
            asked = self.answer.question
            judged = next((w for key, w in JUDGED if key == asked.judged_on), "a stand-in file")
            about = [f"judged on: {judged}", f"{self.answer.users} users"]
            about += [f"{key} = {value}" for key, value in asked.request.values]
            stamp, axis = text.stamp(False, curator_only=True), AXES[asked.axis]
            numbers = self.answer.curves, axis, asked.shown_measure, stamp, about
            QGuiApplication.clipboard().setText(words.as_csv(*numbers))
            self.said.emit("The numbers are on the clipboard: for the curator only.")

    # What was chosen -----------------------------------------------------------------------------

    def _choose_measure(self, key: str) -> None:
        self.measure = key
        self._show_target()
        self.ask()

    def _choose_statistic(self, key: str) -> None:
        self.statistic = key
        self._draw()

    def _choose_axis(self, key: str) -> None:
        self.axis = key
        self._show_target()
        self.ask()

    def _choose_judged(self, key: str) -> None:
        if key == FILE:
            path, _ = QFileDialog.getOpenFileName(self, "A public file of check-ins to judge on")
            key = path or self.judged_on
        self.judge_on(key)

    def judge_on(self, key: str) -> None:
        """Judge on the map's check-ins, the sample, or the file at a path."""
        self.judged_on = key
        known = key in (HERE, SAMPLE)
        self.parts.judged.offer(JUDGED, key if known else FILE)
        self.answer = None
        self.ask()

    def _draw_more(self) -> None:
        self.draws = MORE_DRAWS
        self.ask()

    def _stop_or_go_on(self) -> None:
        if self.job.busy:
            self.cancel()
        else:
            self.ask()

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
        asked = taken(self.request, mechanism, axis, x, here=self.question().here)
        self._mechanism = ""
        self._session.follow(asked, text=f"use {axis.symbol} = {nearest(x)}")

    def _drag_epsilon(self, x: float) -> None:
        if self.axis == "epsilon":
            epsilon = min(max(words.rounded(x), 0.01), 20.0)
            self._session.set_value("epsilon", epsilon, STUDY, gesture="which ε")

    # What comes ----------------------------------------------------------------------------------

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if self.isHidden():
            return
        if state.selection is None or (
            old.selection is not None and state.selection.data != old.selection.data
        ):
            self.cancel()
            self.answer = None
            self._draw()
        if state.request_of(STUDY)["mechanism"] != old.request_of(STUDY)["mechanism"]:
            self._mechanism = ""
        self._draw_now()
        self._read_off()
        self.ask()

    def _progress(self, key: object, said: object) -> None:
        if isinstance(said, Answer):
            self._take_answer(said)
        elif isinstance(said, Searching):
            self.parts.state.setText(
                f"making sure · ε = {nearest(said.epsilon)}: {said.done:,} of {said.wanted:,} draws"
            )

    def _done(self, key: object, found: object) -> None:
        if isinstance(found, Answer):
            self._take_answer(found)
        elif isinstance(found, Found) and key == (self.mechanism, self.target):
            self.certified = found
            self._read_off()
        self._say_state()

    def _take_answer(self, answer: Answer) -> None:
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
            self.plot.show_answer(self.answer, self.mechanism, self.statistic)
        self._draw_now()
        self._show_target()
        self._read_off()

    def _draw_now(self) -> None:
        """Put the line at what the map has now."""
        axis, request = AXES[self._shown.axis], self.request
        if axis.key == "users":
            selection = request.selection
            now = None if selection is None or selection.users is None else float(selection.users)
        else:
            now = float(request[axis.key])
        said = "" if now is None else f"{axis.symbol} now {nearest(now)}"
        self.plot.set_value_line(now, said)
        self.plot.value_line.setMovable(axis.key == "epsilon")

    def _show_target(self) -> None:
        on_epsilon = self.axis == "epsilon"
        self.parts.show_field(on_epsilon, self.question())
        self.parts.field.set_number(self.target)
        shown = self.answer is not None and self.answer.question.measure == self.measure
        wanted = self.target if on_epsilon and shown else None
        self.plot.show_target(wanted, self.question().shown_measure)

    def _read_off(self) -> None:
        """Say which ε the target needs, by the curves as far as they are known."""
        measure, target = self._shown.shown_measure, self.targets[self._shown.measure]
        curves = self.answer.curves if self.answer is not None else ()
        on_epsilon = self._shown.axis == "epsilon"
        self._lines = words.lines(curves, measure, target) if on_epsilon else []
        self.plot.show_met(self._lines, target if on_epsilon else None, self.statistic)
        self.parts.show_lines(measure, target, self._lines, self.mechanism)
        mine = next((line for line in self._lines if line.mechanism == self.mechanism), None)
        curve = next((c for c in curves if c.mechanism == self.mechanism), None)
        small = words.LOOK
        if self.answer is not None and not self.answer.question.here:
            small = words.STAND_IN.format(users=f"{self.answer.users:,}")
        if self.certified is not None and self.certified.enough is not None:
            head = f"ε = {at_most(self.certified.enough)}"
        else:
            head = words.headline(mine) if on_epsilon else ""
        if self.certified is not None:
            said = words.certified(self.certified, self.mechanism, measure, target)
        else:
            now = float(self.request["epsilon"])
            said = words.sentence(curve, measure, target, now, mine) if on_epsilon else (
                f"{measure.name.capitalize()} over {AXES[self._shown.axis].symbol}, at today's "
                f"ε = {nearest(now)}."
            )  # fmt: skip
        self.line.say(head, said, small)
        read_at = (mine and mine.epsilon) or float(self.request["epsilon"])
        sure = words.how_sure(curve, measure, read_at)
        self.line.sentence.setToolTip(sure if on_epsilon else "")
        usable = self._usable()
        name = "" if usable is None else f" = {nearest(usable, 6)}"
        other = self.mechanism != self.request["mechanism"]
        self.parts.use.setText(f"Use ε{name}" + f", {MECHANISMS[self.mechanism].title}" * other)
        self.parts.use.setEnabled(usable is not None)
        self.parts.sure.setEnabled(on_epsilon and bool(curves))

    def _usable(self) -> float | None:
        """Return the ε that would be taken: certified if it is, else estimated."""
        if self.certified is not None and self.certified.enough is not None:
            return float(at_most(self.certified.enough))
        line = next((line for line in self._lines if line.mechanism == self.mechanism), None)
        curves = self.answer.curves if self.answer is not None else ()
        draws = [min(curve.draws) for curve in curves if curve.mechanism == self.mechanism]
        return line.epsilon if line is not None and draws[0] >= STAGES[-1] else None

    def _say_state(self) -> None:
        answer, busy = self.answer, self.job.busy
        self.parts.stop.setText("Cancel" if busy else "Go on")
        unfinished = answer is None or not answer.finished
        self.parts.stop.setEnabled(busy or (unfinished and self.request.selection is not None))
        self.parts.more.setEnabled(self.draws < MORE_DRAWS)
        for button in (self.parts.copy, self.parts.export):
            button.setEnabled(answer is not None)
        if answer is None:
            self.parts.state.setText("computing…" if busy else "")
            return
        least = min((min(curve.draws) for curve in answer.curves), default=0)
        how = "finished" if answer.finished else "computing…" if busy else "stopped"
        self.parts.state.setText(
            f"{least} draw{'s' * (least != 1)} a point · "
            f"{answer.done:,} of {answer.total:,} · {how}"
        )

    def _restyle(self) -> None:
        self.plot.set_theme(style.theme(style_for(self.palette()).theme))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "plot"):
            self._restyle()
