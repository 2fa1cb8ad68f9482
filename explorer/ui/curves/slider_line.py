"""The line at the slider's value: it stands where the slider does, and may be dragged."""

from PySide6.QtCore import QObject, QTimer

from explorer.engine.session.session import Session
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.study import Request, parameter
from explorer.studies.registry import get_study
from explorer.ui.curves.plot import BoundsPlot

LATE_MS = 12
"""The line moves with the curves where they are as quick as this, else alone."""


class SliderLine(QObject):
    """Puts a plot's line where the slider is; dragging it sets the parameter, as one step.

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
        """Move no more."""
        self._late.stop()

    def place_late(self, drawn: Request | None) -> None:
        """Put it at the slider soon, if no answer comes before."""
        self._drawn = drawn
        if not self._late.isActive():
            self._late.start()

    def place(self, drawn: Request | None) -> None:
        """Put it at the slider, if what is drawn has the slider's parameter below it."""
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
        """Put it at the slider: the curves take their time."""
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
