"""Pinned curves: kept in the session as questions, answered beside the one in front."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from explorer.engine.service import StudyService
from explorer.engine.session.plot_view import MAX_PINS, Pin
from explorer.engine.session.session import Session
from explorer.figures.pins import PinnedAnswer, pin_label, with_pins
from explorer.studies.base.study import Request, Result, parameter, quantity
from explorer.studies.registry import get_study
from explorer.ui.controllers.background_answers import BackgroundAnswers
from explorer.ui.curves.beside.pin_list import PinList, PinRow


class Pinning(QObject):
    """Puts the curves of pins beside those of an answer, and lists the pins.

    Parameters
    ----------
    session : Session
    service : StudyService
    pins : PinList

    Signals
    -------
    answered()
        Curves of a pin have come: what is shown is to be drawn again.
    """

    answered = Signal()

    def __init__(self, session: Session, service: StudyService, pins: PinList) -> None:
        super().__init__(pins)
        self._session, self.list = session, pins
        self.answers = BackgroundAnswers(service, "pinned curves", self)
        self.answers.changed.connect(self.answered)
        pins.unpinned.connect(self._unpin)
        pins.all_unpinned.connect(self.unpin_all)

    def close(self) -> None:
        """End the thread."""
        self.answers.close()

    @property
    def full(self) -> bool:
        """Whether no more curves can be pinned to the plot in front."""
        request = self._session.state.request
        mine = [
            p for p in self._session.state.pins if p.subject == (request.study, request.quantity)
        ]
        return len(mine) >= MAX_PINS

    def pin(self, hidden: frozenset[str]) -> None:
        """Keep the curves of the question in front, but for the hidden ones."""
        if not self.full:
            self._session.pin(hidden)

    def unpin_all(self) -> None:
        """Take away all pins of the study in front."""
        study = self._session.state.study
        left = tuple(p for p in self._session.state.pins if p.request.study != study)
        self._session.set_pins(left, "unpin all")

    def _unpin(self, place: int) -> None:
        pin = self._of_study(self._session.state.study)[place]
        left = tuple(p for p in self._session.state.pins if p != pin)
        self._session.set_pins(left, "unpin")

    def _of_study(self, study_id: str) -> list[Pin]:
        return [p for p in self._session.state.pins if p.request.study == study_id]

    def shown(self, request: Request) -> list[tuple[int, Pin, Request]]:
        """Return number, pin and what to ask, for each pin that lies in a request's plot."""
        asked = [(p, p.on_axis_of(request)) for p in self._of_study(request.study)]
        drawn = [(p, r) for p, r in asked if r is not None]
        return [(number, p, r) for number, (p, r) in enumerate(drawn, start=1)]

    def beside(self, result: Result, hidden_of: Callable[[Result], frozenset[str]]) -> Result:
        """Return an answer with the curves of pins that have come; ask for the others.

        `hidden_of` says which curves of an answer are not drawn.
        """
        shown = self.shown(result.request)
        self.answers.set_requests([request for _, _, request in shown])
        known = [(number, p, self.answers.result(r)) for number, p, r in shown]
        return with_pins(
            result,
            [PinnedAnswer(n, r, p.hidden | hidden_of(r)) for n, p, r in known if r],
        )

    def update(self, result: Result, colour: str) -> None:
        """Bring the list up to date with an answer in front."""
        numbers = {p: (number, r) for number, p, r in self.shown(result.request)}
        rows = []
        for pin in self._of_study(result.request.study):
            words = pin_label(pin.request, result.request)
            if pin not in numbers:
                rows.append(PinRow(0, words, f"not shown here: {_axes(pin.request)}"))
                continue
            number, request = numbers[pin]
            error = self.answers.error(request)
            found = self.answers.result(request) is not None
            why = f"not shown: {error}" if error else "" if found else "computing…"
            rows.append(PinRow(number, words, why))
        self.list.show_pins(rows, colour)


def _axes(request: Request) -> str:
    """Return what stands on the axes of a question."""
    study = get_study(request.study)
    y = quantity(study, request.quantity)
    words = f"pinned over {y.symbol or y.name}"
    if request.sweep is not None:
        x = parameter(study, request.sweep.key)
        words = f"it shows {y.symbol or y.name} over {x.symbol or x.name}"
    return words
