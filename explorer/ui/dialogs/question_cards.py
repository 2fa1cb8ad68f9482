"""Cards for open questions about a file; each preselected answer must be confirmed."""

from __future__ import annotations

from collections.abc import Mapping as Table, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.model import Candidate, Question
from explorer.ui.base.styled import styled_label

SHORT = {
    "user": "person",
    "position": "position",
    "time": "time",
    "time_format": "date format",
    "crs": "coordinates",
    "layer": "table",
}
"""What the button of a card confirms; other kinds of questions are called by their key."""

OTHER = "Another answer, chosen above"
A_ROW = 3
"""Cards beside each other."""
MOST = 6
"""Candidates of a card; others are chosen in the fields above."""
HIGHEST = 330
"""Pixels of the cards up to which they are shown without scrolling."""


class ElidedRadioButton(QRadioButton):
    """A radio button whose words end in an ellipsis where they do not fit."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
        self.setAccessibleName(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the words into the new width."""
        super().resizeEvent(event)
        room = self.width() - 28  # the mark, and the space beside it
        fitting = self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, room)
        self.setText(fitting.replace("&", "&&"))


class QuestionCard(QFrame):
    """One question: its candidates, one of them selected, and a button that confirms it.

    Signals
    -------
    chosen(Candidate)
        A candidate was selected.
    confirmed(Candidate or None)
        The button was pressed; None if the answer was chosen in the fields above.
    """

    chosen = Signal(object)
    confirmed = Signal(object)

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.is_confirmed = False
        self.short = SHORT.get(question.key, question.key.replace("_", " "))
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(question.title)
        box = QVBoxLayout(self)
        title = QLabel(question.title, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        bold = title.font()
        bold.setBold(True)
        title.setFont(bold)
        why = styled_label("muted", question.text, word_wrap=True)
        why.setTextFormat(Qt.TextFormat.PlainText)
        room = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        room.setHeightForWidth(True)  # without it a title of two lines is cut
        for label in (title, why):
            label.setSizePolicy(room)
            box.addWidget(label)
        self.answers = QButtonGroup(self)
        for place, one in enumerate(question.candidates[:MOST]):
            words = f"{one.text[:60]}  ({one.example})" if one.example else one.text[:60]
            self._add(box, words, place, f"{one.text}\n{one.example}")
        self._add(box, OTHER, MOST, "").setVisible(False)
        box.addStretch(1)
        self.button = QPushButton()
        self.button.clicked.connect(self.confirm)
        box.addWidget(self.button)
        self._select(question.preselected)
        self.answers.idClicked.connect(self._picked)

    def _add(self, box: QVBoxLayout, words: str, place: int, tip: str) -> QRadioButton:
        radio = ElidedRadioButton(words)
        radio.setToolTip(tip)
        radio.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.answers.addButton(radio, place)
        box.addWidget(radio)
        return radio

    @property
    def candidate(self) -> Candidate | None:
        """The selected candidate; None if the answer is in the fields above."""
        place = self.answers.checkedId()
        return self.question.candidates[place] if 0 <= place < MOST else None

    def confirm(self) -> None:
        """Confirm the selected answer."""
        self.is_confirmed = True
        self._show_state()
        self.confirmed.emit(self.candidate)

    def follow(self, values: Table[str, Any]) -> None:
        """Select the answer that the fields of the dialog have; another one is not confirmed."""
        candidates = self.question.candidates
        names = {*self.question.fields, *(name for one in candidates for name, _ in one.fields)}
        if all(values.get(name) in (None, "") for name in names):
            return
        same = (
            i
            for i, one in enumerate(self.question.candidates[:MOST])
            if all(values.get(name) == value for name, value in one.fields)
        )
        place = next(same, MOST)
        if place != self.answers.checkedId():
            self.is_confirmed = False
            self._select(place)

    def _picked(self, place: int) -> None:
        self.is_confirmed = False
        self._show_state()
        if place < MOST:
            self.chosen.emit(self.question.candidates[place])

    def _select(self, place: int | None) -> None:
        other = self.answers.button(MOST)
        other.setVisible(place == MOST)
        button = None if place is None else self.answers.button(place)
        if button is not None:
            button.setChecked(True)
        self._show_state()

    def _show_state(self) -> None:
        done = self.is_confirmed
        self.button.setText("✓ Confirmed" if done else f"Confirm {self.short}")
        self.button.setEnabled(not done and self.answers.checkedId() >= 0)


class QuestionCards(QScrollArea):
    """All cards of a file.

    Signals
    -------
    chosen(Candidate)
        A candidate was selected in one of them.
    confirmed(Candidate or None)
        The answer of a card was confirmed.
    """

    chosen = Signal(object)
    confirmed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Questions about the file")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.cards: dict[str, QuestionCard] = {}
        self.hide()

    def ask(self, questions: Sequence[Question]) -> None:
        """Show a card for each question that has candidates; those shown before stay."""
        asked = [one for one in questions if one.candidates]
        if asked == [card.question for card in self.cards.values()]:
            return
        before, self.cards = self.cards, {}
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        for place, question in enumerate(asked):
            card = before.get(question.key)
            if card is None or card.question != question:
                card = QuestionCard(question)
                card.chosen.connect(self.chosen)
                card.confirmed.connect(self.confirmed)
            self.cards[question.key] = card
            grid.addWidget(card, place // A_ROW, place % A_ROW)
        for column in range(min(A_ROW, len(asked))):
            grid.setColumnStretch(column, 1)
        old = self.takeWidget()
        self.setWidget(page)
        if old is not None:
            old.deleteLater()
        self.setVisible(bool(asked))
        self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another height when the cards need one."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def hasHeightForWidth(self) -> bool:
        """Whether the height follows from the width; it does, as titles wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height that keeps the buttons that confirm in view, in pixels."""
        page = self.widget()
        return min(page.heightForWidth(width), HIGHEST) if page is not None else 0

    def follow(self, values: Table[str, Any]) -> None:
        """Select in each card the answer that the fields of the dialog have."""
        for card in self.cards.values():
            card.follow(values)

    @property
    def problem(self) -> str:
        """Which answers are still to be confirmed; empty if none."""
        names = [card.short for card in self.cards.values() if not card.is_confirmed]
        if not names:
            return ""
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{len(names)} answer{'s' * (len(names) > 1)} to confirm: {listed}."
