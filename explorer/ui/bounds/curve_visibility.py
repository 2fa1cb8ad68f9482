"""Applies the legend's choices to the session: visible curves, claim, comparison."""

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.engine.session.comparison import added_words, entries_of, with_entries
from explorer.engine.session.plot_view import PlotView, Subject, first_keys, hidden_keys
from explorer.engine.session.session import Session
from explorer.studies.base.claims import Claimed, claimed
from explorer.studies.base.face import short_name
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.bounds.legend import Legend
from explorer.ui.panels.answer_strip import AnswerStrip


class CurveVisibility(QObject):
    """Keeps what the user shows and hides of a plot; each choice can be undone."""

    def __init__(self, session: Session, legend: Legend) -> None:
        super().__init__(legend)
        self._session = session
        self.claimed = ""
        self.keys: list[str] = []
        """Of the curves drawn last, hidden ones too."""
        self._before: tuple[Subject, PlotView] | None = None
        """The look from before one curve was shown alone."""
        legend.toggled.connect(self._toggle)
        legend.solo_wanted.connect(self.solo)

    def at(self, result: Result, found: Claimed | None) -> PlotView:
        """Look at an answer, of which this is claimed; return how."""
        self.claimed = found.series.key if found is not None else ""
        self.keys = [s.key for s in result.series]
        return self._session.state.look_of(result.request.study, result.request.quantity)

    @property
    def subject(self) -> Subject:
        """Study and quantity in front."""
        request = self._session.state.request
        return request.study, request.quantity

    @property
    def look(self) -> PlotView:
        """How they are looked at."""
        return self._session.state.look_of(*self.subject)

    def hidden_of(self, result: Result) -> frozenset[str]:
        """Return the curves of an answer to the question in front, or a pin's, that are hidden."""
        request, keys = result.request, [s.key for s in result.series]
        look = self._session.state.look_of(request.study, request.quantity)
        return hidden_keys(look, request, keys, self.claimed)

    def first_of(self, result: Result) -> tuple[str, ...]:
        """Return the curves of an answer that have a row above the fold."""
        keys = [s.key for s in result.series]
        return first_keys(self.look, result.request, keys, self.claimed)

    @staticmethod
    def names_of(result: Result) -> dict[str, str]:
        """Return short names of an answer's curves, by key."""
        study = get_study(result.request.study)
        return {s.key: short_name(study, s.key, s.label) for s in result.series}

    def set_y_log(self, on: bool) -> None:
        """Make the y axis logarithmic or linear."""
        self._session.set_look(self.subject, replace(self.look, y_log=on), "change y scale")

    def solo(self, key: str) -> None:
        """Show one curve alone, or what was shown before."""
        look = self.look
        alone = replace(
            look, hidden=frozenset(self.keys) - {key}, shown=frozenset({key}), every=False
        )
        if look != alone:
            self._before = (self.subject, look)
            self._session.set_look(self.subject, alone, "show one curve")
            return
        known = self._before is not None and self._before[0] == self.subject
        before = self._before[1] if known and self._before is not None else PlotView(look.y_log)
        again = replace(before, y_log=look.y_log, claim=look.claim)
        self._session.set_look(self.subject, again, "show all curves")

    def _toggle(self, key: str, shown: bool) -> None:
        text = f"{'show' if shown else 'hide'} curve"
        self._session.set_look(self.subject, self.look.ticked(key, shown), text)

    def add_to_comparison(self, result: Result, hidden: Collection[str], claim: str) -> str:
        """Add an answer's numbers at the sliders' values to the comparison; return what was done.

        Those of hidden curves are left out.
        """
        before = self._session.state.comparison
        try:
            entries = with_entries(before, entries_of(result, hidden, claim))
        except ValueError as error:
            return f"{error}."
        self._session.set_comparison(entries, "add to comparison")
        return added_words(len(entries) - len(before))


class ClaimSelector(QObject):
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
