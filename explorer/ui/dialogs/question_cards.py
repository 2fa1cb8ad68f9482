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

SHORT_NAMES = {
    "user": "person",
    "position": "position",
    "time": "time",
    "time_format": "date format",
    "crs": "coordinates",
    "layer": "table",
}
"""Button texts by kind of question; other kinds use their key."""

OTHER_ANSWER = "Another answer, chosen above"
CARDS_PER_ROW = 3
"""Number of cards per row."""
MAX_CANDIDATES = 6
"""Maximum number of candidates on a card; others are chosen in the fields above."""
MAX_HEIGHT_PX = 330
"""Height in pixels up to which the cards do not scroll."""


class ElidedRadioButton(QRadioButton):
    """Radio button with elided text."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
        self.setAccessibleName(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the text for the new width."""
        super().resizeEvent(event)
        space = self.width() - 28  # indicator and spacing
        fitting = self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, space)
        self.setText(fitting.replace("&", "&&"))


class QuestionCard(QFrame):
    """One question with its candidates and a button that confirms the selected one.

    Signals
    -------
    chosen(Candidate)
        A candidate was selected.
    confirmed(Candidate or None)
        The answer was confirmed; None if it was chosen in the fields above.
    """

    chosen = Signal(object)
    confirmed = Signal(object)

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.is_confirmed = False
        self.short = SHORT_NAMES.get(question.key, question.key.replace("_", " "))
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(question.title)
        box = QVBoxLayout(self)
        title = QLabel(question.title, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        bold = title.font()
        bold.setBold(True)
        title.setFont(bold)
        why = styled_label("muted", question.text, word_wrap=True)
        why.setTextFormat(Qt.TextFormat.PlainText)
        space = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        space.setHeightForWidth(True)  # otherwise a two-line title is cut off
        for label in (title, why):
            label.setSizePolicy(space)
            box.addWidget(label)
        self.answers = QButtonGroup(self)
        for place, one in enumerate(question.candidates[:MAX_CANDIDATES]):
            words = f"{one.text[:60]}  ({one.example})" if one.example else one.text[:60]
            self._add(box, words, place, f"{one.text}\n{one.example}")
        self._add(box, OTHER_ANSWER, MAX_CANDIDATES, "").setVisible(False)
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
        """Selected candidate; None if the answer is in the fields above."""
        place = self.answers.checkedId()
        return self.question.candidates[place] if 0 <= place < MAX_CANDIDATES else None

    def confirm(self) -> None:
        """Confirm the selected answer."""
        self.is_confirmed = True
        self._show_state()
        self.confirmed.emit(self.candidate)

    def follow(self, values: Table[str, Any]) -> None:
        """Select the answer that the dialog's fields have; a different one is unconfirmed."""
        candidates = self.question.candidates
        names = {*self.question.fields, *(name for one in candidates for name, _ in one.fields)}
        if all(values.get(name) in (None, "") for name in names):
            return
        same = (
            i
            for i, one in enumerate(self.question.candidates[:MAX_CANDIDATES])
            if all(values.get(name) == value for name, value in one.fields)
        )
        place = next(same, MAX_CANDIDATES)
        if place != self.answers.checkedId():
            self.is_confirmed = False
            self._select(place)

    def _picked(self, place: int) -> None:
        self.is_confirmed = False
        self._show_state()
        if place < MAX_CANDIDATES:
            self.chosen.emit(self.question.candidates[place])

    def _select(self, place: int | None) -> None:
        other = self.answers.button(MAX_CANDIDATES)
        other.setVisible(place == MAX_CANDIDATES)
        button = None if place is None else self.answers.button(place)
        if button is not None:
            button.setChecked(True)
        self._show_state()

    def _show_state(self) -> None:
        done = self.is_confirmed
        self.button.setText("✓ Confirmed" if done else f"Confirm {self.short}")
        self.button.setEnabled(not done and self.answers.checkedId() >= 0)


class QuestionCards(QScrollArea):
    """Cards of all questions about a file.

    Signals
    -------
    chosen(Candidate)
        A candidate was selected on a card.
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
        """Show a card for each question with candidates; existing cards stay."""
        open_questions = [one for one in questions if one.candidates]
        if open_questions == [card.question for card in self.cards.values()]:
            return
        before, self.cards = self.cards, {}
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        for place, question in enumerate(open_questions):
            card = before.get(question.key)
            if card is None or card.question != question:
                card = QuestionCard(question)
                card.chosen.connect(self.chosen)
                card.confirmed.connect(self.confirmed)
            self.cards[question.key] = card
            grid.addWidget(card, place // CARDS_PER_ROW, place % CARDS_PER_ROW)
        for column in range(min(CARDS_PER_ROW, len(open_questions))):
            grid.setColumnStretch(column, 1)
        old = self.takeWidget()
        self.setWidget(page)
        if old is not None:
            old.deleteLater()
        self.setVisible(bool(open_questions))
        self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Request another height when the cards need it."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def hasHeightForWidth(self) -> bool:
        """Return True: titles wrap, so the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height in pixels that shows all confirm buttons."""
        page = self.widget()
        return min(page.heightForWidth(width), MAX_HEIGHT_PX) if page is not None else 0

    def follow(self, values: Table[str, Any]) -> None:
        """Select on each card the answer that the dialog's fields have."""
        for card in self.cards.values():
            card.follow(values)

    @property
    def problem(self) -> str:
        """Unconfirmed answers as text; empty if none."""
        names = [card.short for card in self.cards.values() if not card.is_confirmed]
        if not names:
            return ""
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{len(names)} answer{'s' * (len(names) > 1)} to confirm: {listed}."
