"""Headline above a plot or map: value, meaning and the bound it rests on."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QVBoxLayout

from explorer.figures.captions import parameter_text
from explorer.studies.base.claims import ClaimedBound, headline_of, value_here
from explorer.studies.base.numbers import format_number, in_signs
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import Result, relevant
from explorer.studies.registry import get_study
from explorer.ui.base.announcer import Announcer
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.plot.reading import COMPUTING
from explorer.ui.widgets.fixed_size_text import FixedSizeText

BEST = {"bounds": "tightest valid bound", "mechanisms": "best of them"}
"""Default claim by kind of claim."""


class HeadlineStrip(QFrame):
    """Headline above the plot; shows "computing…" until there is a result, hidden without claim.

    Signals
    -------
    claim_wanted(str)
        Key of the curve to claim; empty for the default.
    """

    claim_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("answer")
        self.setAccessibleName("Answer")
        self.number = styled_label("answer-number")
        self.text = FixedSizeText("answer-text")
        self.by = styled_label("faint", "by")
        self.badge = styled_label("badge", "curator only")
        self.claim = tool_button("", "Claim another bound", "Claimed bound")
        self.claim.setObjectName("claim")
        self.claim.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.claim.setMenu(self._menu)
        self.beside = FixedSizeText("faint")
        self._result: Result | None = None
        self._found: ClaimedBound | None = None
        self._widest = 0
        self._away = False
        first = QHBoxLayout()
        first.setSpacing(10)
        first.addWidget(self.number, 0, Qt.AlignmentFlag.AlignTop)
        first.addWidget(self.text, 1)
        second = QHBoxLayout()
        second.setSpacing(6)
        for widget in (self.badge, self.by, self.claim):
            second.addWidget(widget)
        second.addWidget(self.beside, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 10, 6)
        layout.setSpacing(3)
        layout.addLayout(first)
        layout.addLayout(second)
        self.announcer = Announcer(self)
        self.show_computing()

    def show_computing(self) -> None:
        """Show that the result is being computed."""
        self._result = self._found = None
        self._write(Headline("", COMPUTING), "")

    def show_none(self) -> None:
        """Hide."""
        self._result = self._found = None
        self._away = True
        self.hide()

    def show_result(self, result: Result, claim: ClaimedBound | None) -> None:
        """Show the headline of a result and its claim."""
        answer = headline_of(get_study(result.request.study), result, claim)
        self._result, self._found = result, claim
        if answer is None and result.complete:
            self.show_none()
        else:
            self._write(answer or Headline("", COMPUTING), _beside(result, claim))

    def show_answer(self, answer: Headline) -> None:
        """Show a result without claim."""
        self._result = self._found = None
        if answer.number != self.number.text():
            self._widest = 0
            self.number.setMinimumWidth(0)
        self._write(answer, answer.beside)

    def set_trailing(self, trailing: bool) -> None:
        """Grey or ungrey the headline."""
        for widget in (self.number, self.text, self.beside):
            if widget.isEnabled() == trailing:
                widget.setEnabled(not trailing)

    def words(self) -> str:
        """Return the full text for screen readers."""
        by = f"by {self.claim.text()}, {self.beside.text()}" if not self.claim.isHidden() else ""
        who = self.badge.text() if not self.badge.isHidden() else ""
        text = (self.number.text(), self.text.text().removesuffix("."), by, who)
        return ". ".join(filter(None, text))

    def _write(self, answer: Headline, beside: str) -> None:
        before = self.words()
        if answer.number != self.number.text():
            self.number.setText(in_signs(answer.number))
            width = self.number.sizeHint().width()
            if width > self._widest or not answer.number:  # stable width while numbers change
                self._widest = width if answer.number else 0
                self.number.setMinimumWidth(self._widest)
        self.text.setText(in_signs(answer.text))
        self.text.setToolTip(answer.more)
        self.beside.setText(beside)
        claim = self._found
        if claim is not None:
            wanted = bool(claim.wanted) and claim.failing is None
            name = _name(self._result, claim) if wanted else BEST[claim.kind]
            if name != self.claim.text():
                self.claim.setText(name)
        for widget, there in (
            (self.number, bool(answer.number)),
            (self.badge, answer.curator_only),
            (self.by, claim is not None),
            (self.claim, claim is not None),
            (self.beside, bool(beside)),
        ):
            if widget.isHidden() == there:
                widget.setVisible(there)
        if self._away:
            self._away = False
            self.show()
        if self.words() != before:
            self.setAccessibleDescription(self.words())
            self.announcer.say(self.words())

    def _fill_menu(self) -> None:
        """Set the claimable curves with their values."""
        self._menu.clear()
        result, claim = self._result, self._found
        if result is None or claim is None:
            return
        study = get_study(result.request.study)
        among = study.claims[result.request.quantity].among
        known = {s.key: s for s in result.series if not s.pin}
        offered = [("", BEST[claim.kind])]
        for key in among:
            if key in known:
                value = value_here(result, known[key])
                text = format_number(value, known[key].role) if value == value else "not valid here"
                glyph = f"{known[key].role.glyph} " if value == value else ""
                offered.append((key, f"{study.short_name(key, known[key].label)} · {glyph}{text}"))
        for key, words in offered:
            action = self._menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(key == claim.wanted)
            action.triggered.connect(lambda _=False, key=key: self.claim_requested.emit(key))


def _name(result: Result | None, claim: ClaimedBound) -> str:
    if result is None:
        return claim.series.label
    return get_study(result.request.study).short_name(claim.series.key, claim.series.label)


def _beside(result: Result, claim: ClaimedBound | None) -> str:
    """Return the name of the bound and its δ, and why the user's claim is not used."""
    study, values = get_study(result.request.study), dict(result.request.values)
    text = []
    if claim is not None and (claim.failing is not None or claim.waiting):
        text.append(claim.line)
    elif claim is not None:
        text.append(_name(result, claim) if not claim.wanted else "chosen by you")
    text += [
        parameter_text(p, values[p.key])
        for p in study.parameters
        if p.symbol == "δ" and relevant(p, values, result.request.quantity)
    ]
    return " · ".join(text)
