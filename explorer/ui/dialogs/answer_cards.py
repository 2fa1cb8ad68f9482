"""Cards that ask for person, position and time of a file, each with a button that confirms."""

from __future__ import annotations

from collections.abc import Mapping as Table, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.model import Candidate, Question
from explorer.ui.base.styled import plain_label, plain_tip, styled_label, tool_button
from explorer.ui.dialogs.reading_fields import PlaneFields, SystemFields, make_small
from explorer.ui.plot.labels import ElidedLabel
from explorer.ui.widgets.boxes import ChoiceBox

CARD_PX = 304, 322
INDENT_PX = 22
"""Width of the mark of a radio button, with the space behind it."""
WITH_TWO_LINES = 3
"""Number of likely answers from which their remarks stand beside them."""
RICH = Qt.TextFormat.RichText
CHOOSE = "Choose a column, or “There is no such column”."


class ElidedRadioButton(QRadioButton):
    """Radio button with elided text, bold while it is selected."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
        self.setText(words.replace("&", "&&"))
        self.setAccessibleName(words)
        self.toggled.connect(self._fit)

    @property
    def widest(self) -> int:
        """Width in pixels of the bold text with the mark."""
        font = self.font()
        font.setBold(True)
        return type(self.fontMetrics())(font).horizontalAdvance(self.words) + INDENT_PX + 6

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the text for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self, *_: object) -> None:
        font = self.font()
        font.setBold(self.isChecked())
        self.setFont(font)
        space = self.width() - INDENT_PX - 4
        fitting = self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, space)
        self.setText(fitting.replace("&", "&&"))


class Answer(QWidget):
    """A possible answer: a radio button with remarks; a click on them selects it, too.

    Parameters
    ----------
    words : str
    beside : str or QWidget
        Remark or field at the right of it.
    below : str
        Remark below it.
    """

    def __init__(self, words: str, beside: str | QWidget = "", below: str = "") -> None:
        super().__init__()
        self.radio = ElidedRadioButton(words)
        self.radio.setAccessibleDescription(f"{beside} {below}".strip() if beside != "" else below)
        if isinstance(beside, QWidget):
            self.radio.setAccessibleDescription(below)
        self.setToolTip(plain_tip(words))
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.radio)
        policy = QSizePolicy.Policy.Fixed
        if beside == "":
            self.radio.setSizePolicy(QSizePolicy.Policy.Ignored, policy)
        else:
            wide = isinstance(beside, QWidget)
            self.radio.setFixedWidth(min(self.radio.widest, 128 if wide else 190))
            if not isinstance(beside, QWidget):
                label = ElidedLabel()
                label.setText(beside)
                label.setObjectName("hint")
                beside = label
            row.addWidget(beside, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(row)
        if below:
            remark = ElidedLabel()
            remark.setText(below)
            remark.setObjectName("hint")
            remark.setContentsMargins(0, 0, 0, 0)
            line = QHBoxLayout()
            line.addSpacing(INDENT_PX)
            line.addWidget(remark, 1)
            box.addLayout(line)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the answer."""
        if self.radio.isEnabled():
            self.radio.click()
        super().mousePressEvent(event)


class AnswerCard(QFrame):
    """A question about the columns of a file, with possible answers and a button that confirms.

    Parameters
    ----------
    number : int
    short : str
        What is asked for, in the texts of buttons and messages.
    title : str
    button : str
        Text of the button that confirms, with its mnemonic.
    roles : tuple of str
        Fields of a mapping with the columns that the card asks for.
    another : str
        Text of the answer with a choice among all columns.

    Signals
    -------
    changed(dict)
        Fields of the mapping that an answer sets.
    confirmed()
    """

    changed = Signal(object)
    confirmed = Signal()

    def __init__(
        self, number: int, short: str, title: str, button: str, roles: tuple[str, ...], another: str
    ) -> None:
        super().__init__()
        self.setObjectName("card")
        self.short, self.roles, self._another, self._confirm = short, roles, another, button
        self.is_confirmed = False
        self.tail: list[QWidget] = []
        """Fields below the answers, in the order of the focus."""
        self.candidates: list[Candidate] = []
        self.options: list[Answer] = []
        self._pending = -1
        self._offered: object = None
        self.setAccessibleName(title)
        self.setMinimumWidth(CARD_PX[0])
        self.setFixedHeight(CARD_PX[1])
        self.title = styled_label("card-title", f"{number}  {title}")
        self.why = styled_label("hint", word_wrap=True)
        self.why.setMinimumHeight(16)
        self.answers = QButtonGroup(self)
        self.answers.idClicked.connect(self._picked)
        self.list = QVBoxLayout()
        self.list.setSpacing(4)
        page = QWidget()
        self.body = QVBoxLayout(page)
        self.body.setContentsMargins(0, 0, 4, 0)
        self.body.setSpacing(5)
        self.body.addWidget(self.why)
        self.body.addLayout(self.list)
        self.make_tail()
        self.body.addStretch(1)
        self.make_foot()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        self.area = area
        self.button = QPushButton()
        self.button.setObjectName("door")
        self.button.setFixedHeight(28)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self.confirmed)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 9, 12, 13)
        box.setSpacing(2)
        box.addWidget(self.title)
        box.addWidget(area, 1)
        box.addSpacing(4)
        box.addWidget(self.button)

    def make_tail(self) -> None:
        """Build what stands below the answers."""

    def make_foot(self) -> None:
        """Build what stands above the button."""

    def remarks(self, candidate: Candidate) -> tuple[str, str]:
        """Return the remarks beside and below a candidate."""
        return "", candidate.example

    def offer(self, names: Sequence[str], why: str, candidates: Sequence[Candidate]) -> None:
        """Show why the question is asked and its likely answers; all columns can be chosen."""
        self.why.setText(why)
        if self._offered == (offered := (tuple(names), tuple(candidates))):
            return
        self._offered, self._pending = offered, -1
        self.candidates = [one for one in candidates if one.columns]
        for button in self.answers.buttons():
            self.answers.removeButton(button)
        while (item := self.list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.options = []
        for candidate in self.candidates:
            beside, below = self.remarks(candidate)
            if len(self.candidates) > WITH_TWO_LINES:
                beside, below = beside or below, ""
            self._add(Answer(candidate.text[:60], beside, below))
        self.boxes = {
            role: ChoiceBox(f"Column with the {_ROLE_NAMES[role]}") for role in self.roles
        }
        for role, box in self.boxes.items():
            make_small(box)
            box.addItem("choose" if len(self.roles) == 1 else _ROLE_NAMES[role], None)
            for column, name in enumerate(names):
                box.addItem(name, column)
            box.currentIndexChanged.connect(self._boxes_changed)
        self.other = len(self.options)
        self._add_other()
        self.add_none()

    def _add(self, answer: Answer) -> None:
        self.answers.addButton(answer.radio, len(self.options))
        self.options.append(answer)
        self.list.addWidget(answer)

    def _add_other(self) -> None:
        boxes = list(self.boxes.values())
        if len(boxes) == 1:
            self._add(Answer(self._another, boxes[0]))
            return
        self._add(Answer(self._another))
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(INDENT_PX, 0, 0, 0)
        line.setSpacing(10)
        for box in boxes:
            line.addWidget(box, 1)
        self.list.addWidget(row)

    def add_none(self) -> None:
        """Add the answers that name no column."""

    def fields_of(self, place: int) -> dict[str, Any]:
        """Return the fields that an answer sets; all columns None while none is chosen."""
        if place < self.other:
            return dict(self.candidates[place].fields)
        return dict.fromkeys(self.roles)

    def _picked(self, place: int) -> None:
        self._pending = place
        self.changed.emit(self.fields_of(place))

    def _boxes_changed(self) -> None:
        self._pending = self.other
        self.changed.emit({role: box.currentData() for role, box in self.boxes.items()})

    def place_of(self, values: Table[str, Any]) -> int:
        """Return the answer that fields of a mapping have; −1 if there is none yet."""
        if self._pending != self.other:
            for place, candidate in enumerate(self.candidates):
                if all(values.get(name) == value for name, value in candidate.fields):
                    return place
        if any(values.get(role) is not None for role in self.roles):
            return self.other
        return self._pending if self._pending >= self.other else -1

    def show_values(self, values: Table[str, Any]) -> None:
        """Select the answer that fields of a mapping have."""
        place = self.place_of(values)
        self.answers.setExclusive(False)
        for i, answer in enumerate(self.options):
            answer.radio.setChecked(i == place)
        self.answers.setExclusive(True)
        for role, box in self.boxes.items():
            box.setEnabled(place == self.other)
            with QSignalBlocker(box):
                column = values.get(role) if place == self.other else None
                box.setCurrentIndex(box.findData(column) if column is not None else 0)

    def forget_pick(self) -> None:
        """Select the likely answer that the columns have, even if they were chosen one by one."""
        self._pending = -1

    def problem(self, values: Table[str, Any]) -> str:
        """Return what is missing of the selected answer."""
        chosen = self.place_of(values) != self.other
        complete = all(values.get(role) is not None for role in self.roles)
        return "" if chosen or complete else f"Choose the column with the {self.short}."

    def show_state(self, done: str, ready: bool) -> None:
        """Show that the answer is confirmed, and why; or whether it can be."""
        self.is_confirmed = bool(done)
        self.button.setText(done or self._confirm)
        self.button.setAccessibleName(f"{self.short}: {done}" if done else "")
        self.button.setEnabled(ready and not done)
        if self.button.property("done") != bool(done):
            self.button.setProperty("done", bool(done))
            self.button.style().unpolish(self.button)
            self.button.style().polish(self.button)

    @property
    def first_stop(self) -> QWidget:
        """The button, or the first answer while there is nothing to confirm."""
        checked = self.answers.checkedButton() or self.options[0].radio
        return self.button if self.button.isEnabled() else checked

    @property
    def stops(self) -> list[QWidget]:
        """Widgets that the focus visits, in order."""
        radios = [answer.radio for answer in self.options]
        return [*radios, *self.boxes.values(), *self.order_stops, *self.tail, self.button]

    @property
    def order_stops(self) -> list[QWidget]:
        """Further answers below."""
        return []


_ROLE_NAMES = {
    "user": "person",
    "lat": "latitude",
    "lon": "longitude",
    "time": "time",
}


class PersonCard(AnswerCard):
    """Which column names the person, or what is protected without one."""

    def __init__(self) -> None:
        super().__init__(
            1,
            "person",
            "Which column names the person?",
            "Confirm perso&n",
            ("user",),
            "Another column",
        )

    def make_tail(self) -> None:
        """Build the answers for a file without such a column."""
        self.units: dict[str, QRadioButton] = {}
        self.unit_group = QButtonGroup(self)
        grid = QGridLayout()
        grid.setContentsMargins(INDENT_PX, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for place, (unit, (bold, rest)) in enumerate(_UNITS.items()):
            radio = self.units[unit] = QRadioButton()
            radio.setAccessibleName(f"{bold} {rest}")
            self.unit_group.addButton(radio, place)
            label = QLabel(f"<b>{bold}</b> {rest}", wordWrap=True, textFormat=RICH)
            label.setObjectName("hint")
            grid.addWidget(radio, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, place, 1)
        self.unit_group.idClicked.connect(self._unit_picked)
        self.tail += self.units.values()
        self.body.addLayout(grid)
        remark = styled_label(
            "hint", "Releases need a column that names the person.", word_wrap=True
        )
        remark.setContentsMargins(INDENT_PX, 0, 0, 0)
        self.body.addWidget(remark)

    def remarks(self, candidate: Candidate) -> tuple[str, str]:
        """Return how many values the column has, or an example."""
        return candidate.example.rpartition("; ")[2], ""

    def add_none(self) -> None:
        """Add the answer that there is no such column."""
        self.none = len(self.options)
        self._add(Answer("There is no such column"))

    def fields_of(self, place: int) -> dict[str, Any]:
        """Return the fields that an answer sets."""
        return {"unit": None} | super().fields_of(place)

    def place_of(self, values: Table[str, Any]) -> int:
        """Return the answer that fields of a mapping have."""
        return self.none if values.get("unit") else super().place_of(values)

    def show_values(self, values: Table[str, Any]) -> None:
        """Select the answer that fields of a mapping have."""
        super().show_values(values)
        none = self.place_of(values) == self.none
        self.unit_group.setExclusive(False)
        for unit, radio in self.units.items():
            radio.setEnabled(none)
            radio.setChecked(values.get("unit") == unit)
        self.unit_group.setExclusive(True)

    def problem(self, values: Table[str, Any]) -> str:
        """Return what is missing of the selected answer."""
        if values.get("unit") or values.get("user") is not None:
            return ""
        if self.place_of(values) == self.none:
            return "Choose what is protected: one row or the whole file."
        return CHOOSE

    def _boxes_changed(self) -> None:
        self._pending = self.other
        self.changed.emit({"user": self.boxes["user"].currentData(), "unit": None})

    def _unit_picked(self, place: int) -> None:
        self.changed.emit({"user": None, "unit": list(self.units)[place]})


_UNITS = {
    "row": ("One row", "is protected: a person with many rows is protected less."),
    "file": ("The whole file", "is protected: the map will be nearly pure noise."),
}
"""Choices of the privacy unit without a column that names the person."""


class PositionCard(AnswerCard):
    """Which columns hold the position, and in which system it is."""

    def __init__(self) -> None:
        super().__init__(
            2,
            "position",
            "Which columns hold the position?",
            "Confirm &position",
            ("lat", "lon"),
            "Other columns",
        )

    def make_tail(self) -> None:
        """Build the fields of the reference system and of a plane."""
        self.swapped = styled_label("warning", word_wrap=True)
        self.swap_button = tool_button("Swap latitude and longitude", link=True)
        self.swap_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.system, self.plane = SystemFields(), PlaneFields()
        self.note = styled_label("hint", word_wrap=True)
        for widget in (self.swapped, self.swap_button, self.system, self.plane, self.note):
            self.body.addWidget(widget)
        self.tail += [self.swap_button, *self.system.stops, *self.plane.stops]
        self.system.system.currentIndexChanged.connect(
            lambda: self.plane.set_on(self.system.planar)
        )

    def fields_of(self, place: int) -> dict[str, Any]:
        """Return the fields that an answer sets."""
        return {"order": None} | super().fields_of(place)

    def _boxes_changed(self) -> None:
        self._pending = self.other
        columns = {role: box.currentData() for role, box in self.boxes.items()}
        self.changed.emit({**columns, "order": None})

    def show_swapped(self, text: str) -> None:
        """Show that the columns look swapped, with a button that swaps them."""
        self.swapped.setText(text)
        self.swapped.setVisible(bool(text))
        self.swap_button.setVisible(bool(text))


class FurtherQuestion(QWidget):
    """A question of a card beside its own, with its answers; none is preselected.

    Signals
    -------
    changed(dict)
        Fields that the picked answer sets.
    """

    changed = Signal(object)

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question, self.picked = question, -1
        title = styled_label("hint", question.title, word_wrap=True)
        title.setToolTip(plain_tip(question.text))
        self.group = QButtonGroup(self)
        self.group.idClicked.connect(self._pick)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addWidget(title)
        for place, one in enumerate(question.candidates):
            shown, more = one.text, one.example
            if question.key == "time_format":  # the example says what the text says
                shown, more = more or shown, ""
            answer = Answer(shown, more)
            answer.radio.setAccessibleDescription(f"{question.title} {one.text}")
            self.group.addButton(answer.radio, place)
            box.addWidget(answer)

    def follow(self, values: Table[str, Any], settled: bool) -> None:
        """Select the answer that fields have; no column counts only once that was picked."""
        matches = [
            place
            for place, one in enumerate(self.question.candidates)
            if all(values.get(name) == value for name, value in one.fields)
        ]
        chosen = [
            place
            for place in matches
            if settled
            or all(value is not None for _, value in self.question.candidates[place].fields)
        ]
        if self.picked not in matches:
            self.picked = next(iter(chosen), -1)
        self.group.setExclusive(False)
        for place, button in enumerate(self.group.buttons()):
            button.setChecked(place == self.picked)
        self.group.setExclusive(True)

    def _pick(self, place: int) -> None:
        self.picked = place
        self.changed.emit(dict(self.question.candidates[place].fields))


class TimeCard(AnswerCard):
    """Which column holds the time, and how dates are written."""

    def __init__(self, example: QWidget) -> None:
        self._example = example
        super().__init__(
            3,
            "time",
            "Which column holds the time?",
            "Confirm &time",
            ("time",),
            "Another column",
        )

    def make_tail(self) -> None:
        """Build the place of further questions, such as how dates are written."""
        self.further: dict[str, FurtherQuestion] = {}
        self.further_list = QVBoxLayout()
        self.body.addLayout(self.further_list)
        self.body.addWidget(self._example)
        self.note = styled_label("hint", word_wrap=True)
        self.body.addWidget(self.note)

    def make_foot(self) -> None:
        """Build the fields of place and weight."""
        row = QHBoxLayout()
        row.setSpacing(8)
        self.extra = {}
        for role, (name, tip) in _EXTRA.items():
            box = self.extra[role] = ChoiceBox(f"Column with the {name.lower()}, if there is one")
            box.setToolTip(tip)
            label = plain_label(name)
            label.setToolTip(tip)
            label.setBuddy(box)
            make_small(box)
            for widget in (label, box):
                row.addWidget(widget, int(widget is box))
            box.currentIndexChanged.connect(self._extra_changed)
        self.tail += [self._example, *self.extra.values()]
        self.body.addLayout(row)

    def offer(self, names: Sequence[str], why: str, candidates: Sequence[Candidate]) -> None:
        """Show the likely answers."""
        super().offer(names, why, candidates)
        for box in self.extra.values():
            items = [(None, "none"), *enumerate(names)]
            if [box.itemText(i) for i in range(box.count())] != [text for _, text in items]:
                with QSignalBlocker(box):
                    box.clear()
                    for column, text in items:
                        box.addItem(text, column)

    def add_none(self) -> None:
        """Add the answer that there is no time."""
        self.none = len(self.options)
        self._add(Answer("There is no time", below="No time range can then be chosen."))

    def place_of(self, values: Table[str, Any]) -> int:
        """Return the answer that fields of a mapping have."""
        place = super().place_of(values)
        return self.none if place < 0 else place

    def problem(self, values: Table[str, Any]) -> str:
        """Return what is missing of the selected answer."""
        if values.get("time") is None and self.place_of(values) == self.other:
            return "Choose the column with the time, or “There is no time”."
        unanswered = (one.question for one in self.further.values() if one.picked < 0)
        return next(
            (question.title for question in unanswered if question.key != "time_format"), ""
        )

    def ask(self, questions: Sequence[Question]) -> None:
        """Ask further questions about the file, in the order given."""
        if list(questions) == [one.question for one in self.further.values()]:
            return
        for one in self.further.values():
            one.hide()
            one.deleteLater()
        self.further = {question.key: FurtherQuestion(question) for question in questions}
        for one in self.further.values():
            one.changed.connect(self.changed)
            self.further_list.addWidget(one)

    def follow(self, values: Table[str, Any], settled: bool) -> None:
        """Select the answers to further questions that fields have, all if they are settled."""
        for one in self.further.values():
            one.follow(values, settled)

    @property
    def order_stops(self) -> list[QWidget]:
        """The answers to further questions."""
        return [button for one in self.further.values() for button in one.group.buttons()]

    def show_values(self, values: Table[str, Any]) -> None:
        """Select the answer that fields of a mapping have."""
        super().show_values(values)
        for role, box in self.extra.items():
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(values.get(role)))

    def _extra_changed(self) -> None:
        self.changed.emit({role: box.currentData() for role, box in self.extra.items()})


_EXTRA = {
    "location": ("Place", "Id of the place; may be missing"),
    "weight": ("Weight", "How many check-ins the row stands for; 1 without it"),
}
