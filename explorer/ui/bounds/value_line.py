"""Vertical line at the current parameter value: dragging, keyboard and curve selection."""

from PySide6.QtCore import QObject, QTimer

from explorer.engine.session.session import Session
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.study import Request, Result, parameter
from explorer.studies.registry import get_study
from explorer.ui.base.styled import ANNOUNCE_MS, Announcer
from explorer.ui.bounds.legend import Legend
from explorer.ui.panels.headline import HeadlineStrip
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.widgets.number_slider import KEY_PAUSE_MS, step_value


class ValueLineKeys(QObject):
    """Keyboard control of the plot: ← → move the line, ↑ ↓ select a curve.

    Parameters
    ----------
    session : Session
    plot : BoundsPlot
    legend : Legend
    answer : AnswerStrip

    Attributes
    ----------
    key : str
        Key of the selected curve; empty for none.
    announcer : Announcer
        Announces its value on selection, and 0.7 s after the last step.
    """

    def __init__(
        self, session: Session, plot: BoundsPlot, legend: Legend, answer: HeadlineStrip
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
        """Close the present undo step."""
        self._pause.stop()
        self._gestures += 1
        self._session.end_gesture()

    def choose(self, key: str) -> None:
        """Highlight and announce a curve, or none."""
        self.key = key
        self._plot.choose(key)
        self._legend.choose(key)
        self._tell(0)

    def show_result(self, result: Result) -> None:
        """Announce the selected curve; describe the plot once the result is complete."""
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
        number = step_value(p, float(request[p.key]), steps)
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


LATE_MS = 12
"""The line waits this long for the curves, then moves without them."""


class SliderLine(QObject):
    """Keeps the line of a plot at the slider's value; dragging it sets the parameter.

    Parameters
    ----------
    session : Session
    plot : BoundsPlot
    """

    def __init__(self, session: Session, plot: BoundsPlot) -> None:
        super().__init__(plot)
        self._session, self._plot = session, plot
        self._drags = 0
        self._late = QTimer(self, singleShot=True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(self._move)
        self._drawn: Request | None = None
        plot.line_dragged.connect(self._dragged)
        plot.line_released.connect(self._released)

    def close(self) -> None:
        """Stop moving the line."""
        self._late.stop()

    def place_late(self, drawn: Request | None) -> None:
        """Place the line soon, unless a result arrives first."""
        self._drawn = drawn
        if not self._late.isActive():
            self._late.start()

    def place(self, drawn: Request | None) -> None:
        """Place the line at the slider's value, if the drawn x axis is that parameter."""
        self._late.stop()
        request = self._session.state.request
        sweep = request.sweep
        if sweep is None or drawn is None or drawn.sweep is None or drawn.sweep.key != sweep.key:
            self._plot.set_value_line(None, "")
            return
        p = parameter(get_study(request.study), sweep.key)
        if p.axis_only or not p.numeric:
            self._plot.set_value_line(None, "")
            return
        value = request[p.key]
        assert not isinstance(value, str)
        text = f"{p.symbol} = {format_number(value, digits=PARAMETER_DIGITS)}"
        self._plot.set_value_line(value, text)

    def _move(self) -> None:
        """Place the line without waiting for the curves."""
        if get_study(self._session.state.study).workspace == "bounds":
            self.place(self._drawn)

    def _dragged(self, x: float) -> None:
        request = self._session.state.request
        if request.sweep is not None:
            p = parameter(get_study(request.study), request.sweep.key)
            number, gesture = p.clamp(float(f"{x:.4g}")), f"line {p.key} {self._drags}"
            self._session.set_value(p.key, number, request.study, gesture)

    def _released(self) -> None:
        self._drags += 1
        self._session.end_gesture()
