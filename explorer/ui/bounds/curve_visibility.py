"""Applies the legend's choices to the session: visible curves, claim, comparison."""

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.engine.session.comparison import added_words, entries_of, with_entries
from explorer.engine.session.plot_view import PlotView, Subject, first_keys, hidden_keys
from explorer.engine.session.session import Session
from explorer.studies.base.claims import ClaimedBound, evaluate_claim
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.bounds.legend import Legend
from explorer.ui.panels.headline import HeadlineStrip


class CurveVisibility(QObject):
    """Stores in the session which curves of a plot are visible; undoable."""

    def __init__(self, session: Session, legend: Legend) -> None:
        super().__init__(legend)
        self._session = session
        self.claimed = ""
        self.keys: list[str] = []
        """Keys of the curves drawn last, also hidden ones."""
        self._before: tuple[Subject, PlotView] | None = None
        """View before a single curve was shown alone."""
        legend.toggled.connect(self._toggle)
        legend.solo_requested.connect(self.solo)

    def at(self, result: Result, claim: ClaimedBound | None) -> PlotView:
        """Set the current result and its claim; return the view of its plot."""
        self.claimed = claim.series.key if claim is not None else ""
        self.keys = [s.key for s in result.series]
        return self._session.state.look_of(result.request.study, result.request.quantity)

    @property
    def subject(self) -> Subject:
        """Current study and quantity."""
        request = self._session.state.request
        return request.study, request.quantity

    @property
    def look(self) -> PlotView:
        """Current view of the plot."""
        return self._session.state.look_of(*self.subject)

    def hidden_of(self, result: Result) -> frozenset[str]:
        """Return the hidden curves of a result or a pin."""
        request, keys = result.request, [s.key for s in result.series]
        look = self._session.state.look_of(request.study, request.quantity)
        return hidden_keys(look, request, keys, self.claimed)

    def first_of(self, result: Result) -> tuple[str, ...]:
        """Return the curves with a row above the fold."""
        keys = [s.key for s in result.series]
        return first_keys(self.look, result.request, keys, self.claimed)

    @staticmethod
    def names_of(result: Result) -> dict[str, str]:
        """Return short curve names by key."""
        study = get_study(result.request.study)
        return {s.key: study.short_name(s.key, s.label) for s in result.series}

    def set_y_log(self, on: bool) -> None:
        """Set the scale of the y axis."""
        self._session.set_look(self.subject, replace(self.look, y_log=on), "change y scale")

    def solo(self, key: str) -> None:
        """Show one curve alone, or restore the former view."""
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
        """Add the values at the sliders to the comparison; return a status message.

        Hidden curves are left out.
        """
        before = self._session.state.comparison
        try:
            entries = with_entries(before, entries_of(result, hidden, claim))
        except ValueError as error:
            return f"{error}."
        self._session.set_comparison(entries, "add to comparison")
        return added_words(len(entries) - len(before))


class ClaimSelector(QObject):
    """Stores in the session which curve is claimed; undoable."""

    def __init__(self, session: Session, legend: Legend, answer: HeadlineStrip) -> None:
        super().__init__(legend)
        self._session = session
        self._subject = ("", "")
        self.key = ""
        """Key of the claimed curve; empty for the tightest valid bound."""
        legend.claim_requested.connect(self._claim)
        answer.claim_requested.connect(self._claim)

    def of(self, result: Result) -> tuple[ClaimedBound | None, tuple[str, ...]]:
        """Return the claim of a result, and the keys of the claimable curves."""
        study, shown = self._subject = (result.request.study, result.request.quantity)
        self.key = self._session.state.claim_of(study, shown)
        claim = get_study(study).claims.get(shown)
        return (None, ()) if claim is None else (evaluate_claim(result, self.key), claim.among)

    def _claim(self, key: str) -> None:
        look = self._session.state.look_of(*self._subject)
        self._session.set_look(self._subject, replace(look, claim=key), "change claim")
