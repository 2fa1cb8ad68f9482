"""Fields for reading a file: reference system, plane, decimal mark, date, zone; open questions."""

from __future__ import annotations

from collections.abc import Mapping as Table, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QEvent,
    QLocale,
    QObject,
    QSignalBlocker,
    Qt,
    QTime,
    QTimeZone,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.model import E7, Candidate, Question
from explorer.checkins.parsing.crs import candidates
from explorer.checkins.parsing.times import (
    OFFERED,
    distinguishing_value,
    example_of,
    format_of_example,
    meaning_of,
    moment,
    only_digits,
    reads_time,
    takes_zone,
)
from explorer.figures.pages.backdrop import MAX_BYTES, size_of
from explorer.files import read_bounded
from explorer.geography.plane import PIXEL, Plane, plain
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.panels.plane import PICTURES
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox, ZoneField

if TYPE_CHECKING:
    from explorer.checkins.parsing.crs import Points


DEGREES, UNKNOWN, OTHER = "degrees", "", "other"
NOT_YET = "Choose the reference system of the coordinates: the file does not say it."
LOOKING_UP = "Looking up the reference system …"


class SystemFields(QWidget):
    """Choice of the reference system, with the resulting position of the first row.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._points: Points | None = None
        self._asked = False
        self._wrong = self._known = ""
        self._job = LatestJob("looking up a reference system", self, preempt_after_s=0.0)
        self._job.done.connect(self._found)
        self._job.failed.connect(self._not_found)
        self.system = ChoiceBox("Reference system of the coordinates")
        self.system.setToolTip("What x (easting) and y (northing) are measured in")
        self.system.setMinimumContentsLength(30)
        self.number = QLineEdit(placeholderText="EPSG number")
        self.number.setAccessibleName("EPSG number of the reference system")
        self.number.setFixedWidth(110)
        self.where = styled_label("muted", "")
        label = plain_label("Coordi&nates are")
        label.setBuddy(self.system)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (label, self.system, self.number, self.where):
            row.addWidget(widget)
        row.addStretch(1)
        self._offer(None)
        self.system.currentIndexChanged.connect(self._update)
        self.number.editingFinished.connect(self._update)
        self.number.textEdited.connect(self._typing)

    @property
    def crs(self) -> str | None:
        """The system as `Mapping.crs`: None for degrees, empty if not chosen."""
        selected = self.system.currentData()
        if selected == OTHER:
            return self.number.text().strip()
        return None if selected == DEGREES else str(selected)

    @property
    def problem(self) -> str:
        """Error or missing input."""
        if self.crs is None:
            return ""
        return NOT_YET if not self.crs else self._wrong

    def show_system(self, crs: str | None) -> None:
        """Show the system found in the file; None for degrees, empty for none."""
        self._offer(crs)
        self._update()

    def place(self, points: Points | None) -> None:
        """Set y and x of the first rows, which suggest likely systems."""
        self._points = points
        with QSignalBlocker(self.system):
            self._offer(self.crs)
        self._look_up()

    def close_job(self) -> None:
        """Stop and wait for the thread."""
        self._job.close()

    def _offer(self, crs: str | None) -> None:
        likely = [] if self._points is None else candidates(self._points)
        self._asked |= crs == ""
        items = [(DEGREES, "degrees (WGS 84)"), (E7, "degrees times ten million (E7)")]
        if self._asked and self.system.currentData() != OTHER:
            items.insert(0, (UNKNOWN, "— choose —"))
        items += [(name, f"{name}: {words}") for name, words in likely]
        if crs and crs not in dict(items) and self.system.currentData() != OTHER:
            items.append((crs, crs))
        items.append((OTHER, "another one, by its EPSG number"))
        selected = OTHER if self.system.currentData() == OTHER else DEGREES if crs is None else crs
        with QSignalBlocker(self.system):
            self.system.offer(items, selected)
        self.number.setVisible(self.system.currentData() == OTHER)

    def _typing(self) -> None:
        self._wrong = LOOKING_UP
        self.changed.emit()

    def _update(self) -> None:
        self.number.setVisible(self.system.currentData() == OTHER)
        self._look_up()
        self.changed.emit()

    def _look_up(self) -> None:
        """Compute the position of the first row, in a thread because PROJ starts slowly."""
        crs, points = self.crs, self._points
        self.where.setText("")
        if not crs:
            self._job.cancel()
            self._wrong = ""
            return
        if crs != self._known:
            self._wrong = LOOKING_UP
        first = None if points is None or not points[0].size else (points[0][:1], points[1][:1])

        def locate(_task: object) -> tuple[float, float] | None:
            from explorer.checkins.parsing.crs import canonical_crs, converter

            name = canonical_crs(crs)
            if first is None or name is None:
                return None
            lat, lon = converter(name)(*first)
            return float(lat[0]), float(lon[0])

        self._job.submit(crs, locate)

    def _found(self, crs: str, place: tuple[float, float] | None) -> None:
        if crs != self.crs:
            return
        self._wrong, self._known = "", crs
        if place is not None:
            self.where.setText(_position_text(*place))
        self.changed.emit()

    def _not_found(self, crs: str, error: Exception) -> None:
        if crs == self.crs:
            self._wrong, self._known = explain(error, "data").sentence, ""
            self.changed.emit()


def _position_text(lat: float, lon: float) -> str:
    """Return the position of the first row as text."""
    if not (abs(lat) <= 90 and abs(lon) <= 180):
        return "the first row does not convert"
    ns, ew = "NS"[lat < 0], "EW"[lon < 0]
    return f"first row: {abs(lat):.3f}° {ns}, {abs(lon):.3f}° {ew}"


ENDS = (("left", "x from"), ("right", "to"), ("low", "y from"), ("high", "to"))
PLANE_NOT_YET = (
    "Declare the range of x and y: it is not taken from the data, because it would reveal "
    "something about them."
)


class PlaneFields(QWidget):
    """Check box with the range of a plane.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.picture: Path | None = None
        """Picture whose size was used as range."""
        self._wrong = ""
        self.on = CheckBox("&x and y are positions in a picture or plane, not degrees", self)
        self.on.toggled.connect(self._update)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.on)
        self.ends: dict[str, QLineEdit] = {}
        self._parts: list[QWidget] = []
        for key, name in ENDS:
            field = self.ends[key] = QLineEdit("0" if key in ("left", "low") else "")
            field.setAccessibleName(f"{'x' if key in ('left', 'right') else 'y'}, {key} end")
            field.setFixedWidth(64)
            label = plain_label(name)
            label.setBuddy(field)
            self._parts += [label, field]
        self.unit = QLineEdit(PIXEL)
        self.unit.setAccessibleName("Unit of x and y")
        self.unit.setFixedWidth(48)
        self.way = ChoiceBox("Which way y goes")
        self.way.offer([("down", "y down"), ("up", "y up")], "down")
        self.button = QPushButton("Of a picture…")
        self.button.setToolTip("Take the size of a PNG or JPEG picture, and lay it behind the map")
        self.button.clicked.connect(self._ask)
        self._parts += [self.unit, self.way, self.button]
        for widget in self._parts:
            row.addWidget(widget)
        row.addStretch(1)
        for edit in (*self.ends.values(), self.unit):
            edit.textChanged.connect(self._update)
        self.way.currentIndexChanged.connect(self._update)
        self._update()

    @property
    def text(self) -> str | None:
        """The plane as `Plane.text`, empty if incomplete; None for degrees."""
        if not self.on.isChecked():
            return None
        plane = self._plane()
        return "" if plane is None else plane.text

    @property
    def problem(self) -> str:
        """Error or missing input."""
        return "" if self.text is None or self.text else self._wrong or PLANE_NOT_YET

    def show_plane(self, text: str | None) -> None:
        """Show a plane; an empty text for an undeclared one, None for degrees."""
        self.on.setChecked(text is not None)
        if text:
            plane = Plane.parse(text)
            for key, field in self.ends.items():
                field.setText(plain(getattr(plane, key)))
            self.unit.setText(plane.unit)
            self.way.setCurrentIndex(self.way.findData("down" if plane.down else "up"))

    def take_picture(self, path: Path) -> None:
        """Use the size of a picture as range."""
        try:
            width, height = size_of(read_bounded(path, MAX_BYTES), path.name)
        except (OSError, ValueError) as error:
            self._wrong = f"{error}."
            self.changed.emit()
            return
        self.picture = path
        self.show_plane(Plane(0.0, 0.0, float(width), float(height)).text)

    def _plane(self) -> Plane | None:
        texts = {key: field.text().strip() for key, field in self.ends.items()}
        self._wrong = ""
        if not all(texts.values()):
            return None
        try:
            numbers = {key: float(text) for key, text in texts.items()}
            down = self.way.currentData() == "down"
            return Plane(**numbers, unit=self.unit.text().strip(), down=down)
        except ValueError as error:
            text = str(error).partition("could not convert string to float: ")
            self._wrong = f"{text[2]} is no number." if text[2] else f"{text[0]}."
            return None

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Picture that x and y lie in", "", PICTURES)
        if path:
            self.take_picture(Path(path))

    def _update(self) -> None:
        for widget in self._parts:
            widget.setVisible(self.on.isChecked())
        self.changed.emit()


DECIMALS = {".": "point", ",": "comma"}
TYPED = "typed"


class ReadingFields(QWidget):
    """Three choices, each followed by its effect on the file.

    Signals
    -------
    decimal_chosen(str)
        The file should be parsed again.
    changed()
    """

    decimal_selected = Signal(str)
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._wrong = ""
        self._first = ""
        self._formats: tuple[str, ...] = ()
        self.decimal = ChoiceBox("Decimal mark")
        self.decimal.offer(list(DECIMALS.items()), ".")
        self.decimal.currentIndexChanged.connect(
            lambda: self.decimal_selected.emit(self.decimal.currentData())
        )
        self.times = ChoiceBox("Time format")
        self.times.currentIndexChanged.connect(self._chosen)
        self.example = QLineEdit(placeholderText="31.12.2024 23:59")
        self.example.setAccessibleName("An example of the times in the file")
        self.example.textChanged.connect(self._chosen)
        self.example.hide()
        self.zone = ZoneField()
        self.zone.textChanged.connect(self._chosen)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        self.hints: list[QLabel] = []
        parts = (
            ("&Decimal mark", self.decimal),
            ("Ti&mes look like", self.times),
            ("Time &zone of the file", self.zone),
        )
        for place, (name, widget) in enumerate(parts):
            label = plain_label(name)
            label.setBuddy(widget)
            hint = styled_label("muted", word_wrap=True)
            self.hints.append(hint)
            for row, part in enumerate((label, widget, hint)):
                grid.addWidget(part, row + (row == 2), place)
            grid.setColumnStretch(place, 1 + place % 2)
        grid.addWidget(self.example, 2, 1)

    def show_reading(self, decimal: str, zone: str | None, number: str) -> None:
        """Show decimal mark, zone and a number from the file."""
        with QSignalBlocker(self.decimal), QSignalBlocker(self.zone):
            self.decimal.setCurrentIndex(self.decimal.findData(decimal))
            self.zone.setText(zone or self.zone.text())
        same = number.replace(",", ".")
        self.hints[0].setText(f"{number[:20]} is read as {same[:20]}" if same != number else "")

    def show_times(self, formats: Sequence[str], values: Sequence[str], chosen: str) -> None:
        """Offer the detected and common formats with examples."""
        self._formats = tuple(formats)
        self._values = [value.strip() for value in values if value.strip()]
        items = [(form, self._seen(form)) for form in formats]
        if len(formats) > 1:
            items.insert(0, ("", "— choose —"))
            chosen = ""
        known = {form for form, _ in items}
        items += [(form, example_of(form)) for form in OFFERED if form not in known]
        if chosen and chosen not in {form for form, _ in items}:
            items.append((chosen, example_of(chosen)))
        with QSignalBlocker(self.times):
            self.times.offer([*items, (TYPED, "like an example…")], chosen)
        self._chosen()

    @property
    def time_format(self) -> str:
        """Chosen format; ISO 8601 by default."""
        selected: str = self.times.currentData() or ""
        if selected == TYPED:
            try:
                return format_of_example(self.example.text().strip())
            except ValueError:
                return next(iter(self._formats), "iso")
        return selected or next(iter(self._formats), "iso")

    @property
    def zone_name(self) -> str | None:
        """Time zone as typed; None for UTC."""
        return self.zone.zone

    @property
    def problem(self) -> str:
        """Reason why the choices are invalid; empty if valid."""
        return self._wrong if self.times.isEnabled() else ""

    def set_used(self, used: bool) -> None:
        """Enable the time fields if there is a column of times."""
        for widget in (self.times, self.example, self.zone):
            widget.setEnabled(used)
        self.zone.setEnabled(used and takes_zone(self.time_format))
        self._describe(used)

    def _seen(self, form: str) -> str:
        """Return an example of a format from the file, explained if ambiguous."""
        value = next((v for v in self._values if reads_time(v, form)), example_of(form))
        if len(self._formats) < 2:
            return value[:40]
        value = distinguishing_value(self._values, self._formats) or value
        read = moment(value, form)
        clock = f"{read:, %H:%M}" if read and only_digits(form) else ""
        return f"{value[:40]}: {_in_words(read)}{clock}" if read else value[:40]

    def _chosen(self) -> None:
        self.example.setVisible(self.times.currentData() == TYPED)
        self._wrong = ""
        if self.times.currentData() == "":
            orders = " or ".join(map(meaning_of, self._formats))
            value = distinguishing_value(self._values, self._formats)
            self._wrong = f"Choose what {value[:40]} means: {orders}."
        elif self.times.currentData() == TYPED:
            try:
                format_of_example(self.example.text().strip())
            except ValueError as error:
                self._wrong = f"{str(error)[:1].upper()}{str(error)[1:]}."
        self._wrong = self._wrong or self.zone.problem
        self._describe(self.times.isEnabled())
        self.changed.emit()

    def _describe(self, used: bool) -> None:
        """Show below the fields how the file is interpreted."""
        form = self.time_format
        self.hints[1].setText(meaning_of(form) if used and not self._wrong else "")
        if not used or self._wrong:
            self.hints[2].setText("")
        elif not takes_zone(form):
            self.hints[2].setText("the times say it themselves")
        else:
            self.hints[2].setText(self._in_utc(form))

    def _in_utc(self, form: str) -> str:
        """Return the first time of the file in UTC."""
        zone = self.zone_name
        value = next((v for v in self._values if reads_time(v, form)), "")
        if zone is None or not value or form == "iso":
            return "times without an offset are UTC" if zone is None else ""
        wall = moment(value, form)
        assert wall is not None
        day = QDate(wall.year, wall.month, wall.day)
        there = QDateTime(
            day,
            QTime(wall.hour, wall.minute, wall.second),
            QTimeZone(zone.encode()),
            QDateTime.TransitionResolution.RelativeToBefore,
        )
        utc = there.toUTC()
        days = utc.date().daysTo(day)
        when = {0: "", 1: " the day before", -1: " the day after"}[days]
        return f"{wall:%H:%M} there is {utc.toString('HH:mm')} UTC{when}"


def _in_words(moment: datetime) -> str:
    month = QLocale(QLocale.Language.English).monthName(moment.month)
    return f"{moment.day} {month} {moment.year}"


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
    def next_stop(self) -> QWidget | None:
        """Button of the first answer to confirm, or where it is chosen; None if there is none."""
        card = next((card for card in self.cards.values() if not card.is_confirmed), None)
        if card is None or card.button.isEnabled():
            return card and card.button
        return card.answers.button(0)

    @property
    def problem(self) -> str:
        """Unconfirmed answers as text; empty if none."""
        names = [card.short for card in self.cards.values() if not card.is_confirmed]
        if not names:
            return ""
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{len(names)} answer{'s' * (len(names) > 1)} to confirm: {listed}."
