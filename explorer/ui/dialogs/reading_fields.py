"""Fields for the decimal mark, date format and time zone of a file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QDate, QDateTime, QLocale, QSignalBlocker, QTime, QTimeZone, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

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
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.zone_field import ZoneField

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
        self.times = ChoiceBox("Times look like")
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
        chosen: str = self.times.currentData() or ""
        if chosen == TYPED:
            try:
                return format_of_example(self.example.text().strip())
            except ValueError:
                return next(iter(self._formats), "iso")
        return chosen or next(iter(self._formats), "iso")

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
