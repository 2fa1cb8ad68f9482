"""Headline above a plot or map: value, meaning and the bound it rests on."""

import re
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QVBoxLayout

from explorer.figures.captions import parameter_text
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import BEST_CLAIM, ClaimedBound, headline_of, value_here
from explorer.studies.base.numbers import format_number, in_signs
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import Result, relevant
from explorer.studies.registry import get_study
from explorer.ui.base.styled import Announcer, styled_label, tool_button
from explorer.ui.plot.reading import COMPUTING
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText
from explorer.ui.widgets.staleness import Spinner

HEIGHT = 100
NUMBER_WIDTH = 150
"""In pixels; longer numbers are written smaller."""
_UNIT = 4
"""Longest unit in characters that stands beside its number."""
_SIGNED = (Role.UPPER, Role.LOWER, Role.EXACT, Role.ESTIMATE)
"""Roles that the sign in a number tells where nothing is claimed."""
_SETTLED_MS = 120
"""The sentence is muted until no newer number has come for so long."""
_COMPUTING = Headline("", COMPUTING)
_OLD = "Old answer, for {}. "


class HeadlineStrip(QFrame):
    """Headline above the plot; shows "computing…" until there is a result, hidden without claim.

    Signals
    -------
    claim_requested(str)
        Key of the curve to claim; empty for the default.
    """

    claim_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("answer")
        self.setAccessibleName("Answer")
        self.number = FixedSizeLabel(smallest=0.6)
        self.number.setObjectName("answer-number")
        self.role = FixedSizeText("muted", lines=3)
        self.text = FixedSizeText("answer-text", lines=3)
        self.by = styled_label("muted", "Claim")
        self.badge = styled_label("badge", "curator only")
        self.claim = tool_button("", "Claim another bound", "Claimed bound")
        self.claim.setObjectName("claim")
        self.claim.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.claim.setMenu(self._menu)
        self.beside = FixedSizeText("beside", lines=2)
        self.spinner = Spinner()
        self._result: Result | None = None
        self._found: ClaimedBound | None = None
        self.kept = False
        """Whether the number is that of an earlier answer, as the present one has none yet."""
        self._old_parts = (False, False)
        """Whether all of it, and whether the sentence, is that of an earlier answer."""
        self._behind = QTimer(self, singleShot=True)
        self._behind.setInterval(_SETTLED_MS)
        self._behind.timeout.connect(lambda: self.set_trailing(*self._old_parts))
        self._away = False
        self._unit = ""
        self._old = ""
        """Values that the answer is for in place of refused ones."""
        left, right, second = QVBoxLayout(), QVBoxLayout(), QHBoxLayout()
        left.setSpacing(4)
        number = QHBoxLayout()
        number.addWidget(self.number)
        number.addWidget(self.spinner)
        left.addLayout(number)
        left.addWidget(self.role)
        left.addStretch(1)
        second.setSpacing(8)
        for widget in (self.badge, self.by, self.claim):
            second.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        second.addWidget(self.beside, 1)
        right.setSpacing(2)
        right.addWidget(self.text)
        right.addLayout(second)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(6)
        layout.addLayout(left)
        layout.addLayout(right, 1)
        for text in (self.number, self.role, self.text, self.beside):
            text.setAutoFillBackground(True)  # opaque: what is behind it is not painted again
        self.number.setFixedWidth(NUMBER_WIDTH)
        self.role.setFixedWidth(NUMBER_WIDTH + self.spinner.width())
        self.setFixedHeight(HEIGHT)
        self.announcer = Announcer(self)
        self.show_computing()

    def show_computing(self, answer: Headline = _COMPUTING) -> None:
        """Show that the result is being computed."""
        self._result = self._found = None
        self.kept = False
        self._write(answer, "")

    def show_none(self) -> None:
        """Hide."""
        self._result = self._found = None
        self.kept = False
        self._away = True
        self.hide()

    def show_result(self, result: Result, claim: ClaimedBound | None) -> None:
        """Show the headline of a result and its claim.

        A number of an earlier answer is not written anew: its sentence would name the present
        values of the sliders. It also stays if the first of the new numbers can't be claimed, and
        without a claim while there is none (`kept`).
        """
        if self._found is not None and (
            claim.outdated if claim is not None else result.curve_follows
        ):
            return
        answer = headline_of(get_study(result.request.study), result, claim)
        before = self._result
        self.kept = (
            answer is None
            and not result.complete
            and before is not None
            and (before.request.study, before.request.quantity)
            == (result.request.study, result.request.quantity)
        )
        if self.kept:
            return
        if result.curve_follows and answer is not None and self._found is not None:
            # The sentence, which takes more than the number, follows with the curve: until the
            # slider rests it is often that of the number before.
            answer = replace(answer, text=self.text.text())
            self._behind.start()
        if answer is None and result.complete:
            self.show_none()
            return
        # Nothing is shown of an answer without a headline.
        self._result, self._found = (result if answer is not None else None), claim
        self._write(answer or _COMPUTING, _beside(result, claim))

    def show_answer(self, answer: Headline) -> None:
        """Show a result without claim."""
        self._result = self._found = None
        self.kept = False
        self._write(answer, answer.beside)

    def set_trailing(self, trailing: bool, sentence: bool = False) -> None:
        """Grey the headline, or its sentence alone, while the next one is being computed."""
        self._old_parts = trailing, sentence
        self.spinner.show_busy(trailing or sentence)
        trailing = trailing or bool(self._old)
        sentence = sentence or self._behind.isActive()
        for widget in (self.number, self.role, self.text, self.beside):
            grey = trailing or (sentence and widget is self.text)
            if widget.isEnabled() == grey:
                widget.setEnabled(not grey)

    def show_old(self, values: str) -> None:
        """Say that the answer is not for what was typed, but for these values; empty: it is."""
        if values != self._old:
            before, self._old = self._old, values
            self.set_trailing(False)
            text = (
                self.text.text().removeprefix(_OLD.format(before)) if before else self.text.text()
            )
            self.text.setText(_OLD.format(values) + text if values else text)

    def words(self) -> str:
        """Return the full text for screen readers."""
        by = f"by {self.claim.text()}, {self.beside.text()}" if not self.claim.isHidden() else ""
        who = self.badge.text() if not self.badge.isHidden() else ""
        text = (self.number.text(), self.text.text().removesuffix("."), by, who)
        return ". ".join(filter(None, text))

    def _write(self, answer: Headline, beside: str) -> None:
        before = self.words()
        number, self._unit = _without_long_unit(in_signs(answer.number))
        if number != self.number.text():
            self.number.setText(number)
            self.number.setToolTip(number)
        self.role.setText(self._role(answer))
        old = _OLD.format(self._old) if self._old else ""
        self.text.setText(old + in_signs(answer.text).removeprefix(old))
        self.text.setToolTip(answer.more)
        self.beside.setText(beside)
        claim = self._found
        if claim is not None:
            wanted = bool(claim.wanted) and claim.failing is None
            name = _name(self._result, claim) if wanted else BEST_CLAIM[claim.kind].capitalize()
            if name != self.claim.text():
                self.claim.setText(name)
        for widget, there in (
            (self.badge, answer.curator_only),
            (self.by, claim is not None),
            (self.claim, claim is not None),
        ):
            if widget.isHidden() == there:
                widget.setVisible(there)
        if self._away:
            self._away = False
            self.show()
        words = self.words()
        if words != before:
            self.setAccessibleDescription(words)
            self.announcer.say(words)

    def _role(self, answer: Headline) -> str:
        """Return role, statistic and unit of the number, and the δ that it is for."""
        result, claim = self._result, self._found
        if result is None:
            return ""
        study, values = get_study(result.request.study), dict(result.request.values)
        pairs = claim.text.pairs if claim is not None else ()
        pure = bool(pairs) and not any(delta for _, delta in pairs)  # holds for every δ
        at = [
            parameter_text(p, values[p.key]).replace(" ", "\xa0")
            for p in study.parameters
            if not pure and p.symbol in ("δ", "δ′") and relevant(p, values, result.request.quantity)
        ]
        signs = [role.value for role in _SIGNED if f" {role.glyph} " in f" {answer.number}"]
        role = [_claimed_role(claim)] if claim is not None else signs[:1]
        shown = str(answer.statistic) if answer.statistic is not None else ""
        return ", ".join(filter(None, (*role, shown, self._unit, *at)))

    def _fill_menu(self) -> None:
        """Set the claimable curves with their values."""
        self._menu.clear()
        result, claim = self._result, self._found
        if result is None or claim is None:
            return
        study = get_study(result.request.study)
        among = study.claims[result.request.quantity].among
        known = {s.key: s for s in result.series if not s.pin}
        offered = [("", BEST_CLAIM[claim.kind].capitalize())]
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


def _without_long_unit(number: str) -> tuple[str, str]:
    """Return a number and the unit that stands in the line below it; short ones stay beside it."""
    relation = re.search(r"[≤≥≈=<>] ?\S+", number)
    unit = number[relation.end() :].strip() if relation else ""
    return (number[: relation.end()], unit) if relation and len(unit) > _UNIT else (number, "")


def _claimed_role(claim: ClaimedBound) -> str:
    """Return the role of a claim; an exact number is claimed as a bound, see `number_text`."""
    role = claim.series.role
    for sign, way in (("≤", "up"), ("≥", "down")):
        if role is Role.EXACT and sign in claim.text.number:
            return f"{role.value}, rounded {way}"
    return role.value


def _name(result: Result | None, claim: ClaimedBound) -> str:
    if result is None:
        return claim.series.label
    return get_study(result.request.study).short_name(claim.series.key, claim.series.label)


def _beside(result: Result, claim: ClaimedBound | None) -> str:
    """Return the name and grade of the bound, or that the user's claim is being computed."""
    if claim is None:
        return ""
    if claim.waiting:
        return claim.line
    grade = f" · {claim.series.grade.value}" if claim.series.role is not Role.EXACT else ""
    chosen = claim.wanted == claim.series.key
    return ("chosen by you" if chosen else _name(result, claim)) + grade
