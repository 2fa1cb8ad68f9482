"""Which curve is claimed, from legend and answer to the session and back."""

from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.engine.session.session import Session
from explorer.studies.base.claims import Claimed, claimed
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.curves.answer_strip import AnswerStrip
from explorer.ui.curves.legend import Legend


class Claiming(QObject):
    """Keeps what the user claims of the quantity in front; each choice can be undone."""

    def __init__(self, session: Session, legend: Legend, answer: AnswerStrip) -> None:
        super().__init__(legend)
        self._session = session
        self._subject = ("", "")
        self.key = ""
        """Of the curve that is claimed of the answer drawn; empty for the tightest valid bound."""
        legend.claim_wanted.connect(self._claim)
        answer.claim_wanted.connect(self._claim)

    def of(self, result: Result) -> tuple[Claimed | None, tuple[str, ...]]:
        """Return what is claimed of an answer, and the keys of the curves that may be."""
        study, shown = self._subject = (result.request.study, result.request.quantity)
        self.key = self._session.state.claim_of(study, shown)
        claim = get_study(study).claims.get(shown)
        return (None, ()) if claim is None else (claimed(result, self.key), claim.among)

    def _claim(self, key: str) -> None:
        look = self._session.state.look_of(*self._subject)
        self._session.set_look(self._subject, replace(look, claim=key), "change claim")
