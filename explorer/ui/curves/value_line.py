"""The line at the slider and the chosen curve: moved by keys, chosen by click, read out."""

from PySide6.QtCore import QObject, QTimer

from explorer.engine.session.session import Session
from explorer.studies.base.study import Result, parameter
from explorer.studies.registry import get_study
from explorer.ui.base.announcer import ANNOUNCE_MS, Announcer
from explorer.ui.curves.answer_strip import AnswerStrip
from explorer.ui.curves.legend import Legend
from explorer.ui.curves.plot import BoundsPlot
from explorer.ui.widgets.number_slider import KEY_PAUSE_MS, stepped


class ValueLineKeys(QObject):
    """Lets the plot be read by keys: ← → move the line there, ↑ ↓ choose the curve.

    Parameters
    ----------
    session : Session
    plot : BoundsPlot
    legend : Legend
    answer : AnswerStrip

    Attributes
    ----------
    key : str
        Of the chosen curve; empty for none.
    announcer : Announcer
        Says its value when it is chosen, and 0.7 s after the last step.
    """

    def __init__(
        self, session: Session, plot: BoundsPlot, legend: Legend, answer: AnswerStrip
    ) -> None:
        super().__init__(plot)
        self._session, self._plot, self._legend, self._answer = session, plot, legend, answer
        self.key = ""
        self.announcer = Announcer(plot)
        self._told = ""
        self._gestures = 0
        self._pause = QTimer(self, singleShot=True)
        self._pause.setInterval(KEY_PAUSE_MS)
        self._pause.timeout.connect(self.end_gesture)
        plot.guide_stepped.connect(self._step)
        plot.curve_stepped.connect(self._next)
        legend.chosen.connect(self.choose)

    def end_gesture(self) -> None:
        """Take the steps so far as one change that can be undone."""
        self._pause.stop()
        self._gestures += 1
        self._session.end_gesture()

    def choose(self, key: str) -> None:
        """Draw a curve bold, or none, and say what it is."""
        self.key = key
        self._plot.choose(key)
        self._legend.choose(key)
        self._tell(0)

    def show_result(self, result: Result) -> None:
        """Say what the chosen curve comes to, if one reads by keys; tell what is drawn at rest."""
        if self.key and self.key not in {s.key for s in result.series}:
            self.choose("")
        if result.complete:
            lines = [self._legend.words_of(key) for key in self._legend.order(self._plot.hidden)]
            self._plot.setAccessibleDescription("; ".join((self._answer.words(), *lines)))
            if self._plot.hasFocus():
                self._tell(ANNOUNCE_MS)

    def _tell(self, after_ms: int) -> None:
        words = self._legend.words_of(self.key) if self.key else ""
        if words != self._told:
            self._told = words
            self.announcer.say(words, after_ms)

    def _step(self, steps: float) -> None:
        request = self._session.state.request
        if request.sweep is None:
            return
        p = parameter(get_study(request.study), request.sweep.key)
        if p.axis_only or not p.numeric:
            return
        number = stepped(p, float(request[p.key]), steps)
        step = f"guide {p.key} {self._gestures}"
        self._session.set_value(p.key, number, request.study, step)
        self._pause.start()

    def _next(self, by: int) -> None:
        drawn = self._legend.order(self._plot.hidden)
        if not by or not drawn:
            self.choose("")
        elif self.key in drawn:
            self.choose(drawn[(drawn.index(self.key) + by) % len(drawn)])
        else:
            self.choose(drawn[0 if by > 0 else -1])
