"""Choosing a time range: months with one click, or any two instants in UTC."""

from datetime import UTC, datetime

from PySide6.QtCore import QDateTime, QTimeZone, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from explorer.ui.widgets.choice_box import ChoiceBox
from explorer.ui.widgets.time_field import TimeField

MONTHS_AT_MOST = 60
NO_TIMES = "The file has no times, so all check-ins are used."


def month_ranges(first: str, last: str) -> list[tuple[str, str, str]]:
    """Return name, start and end (excluded) of every month between two instants, oldest first."""
    begin, end = (datetime.fromisoformat(t).astimezone(UTC) for t in (first, last))
    months = []
    year, month = begin.year, begin.month
    while (year, month) <= (end.year, end.month):
        following = (year + 1, 1) if month == 12 else (year, month + 1)
        start = datetime(year, month, 1, tzinfo=UTC)
        months.append(
            (
                f"{start:%B %Y}",
                f"{start:%Y-%m-%dT%H:%M:%SZ}",
                f"{datetime(*following, 1, tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}",
            )
        )
        year, month = following
    return months


class TimeRange(QWidget):
    """A list of presets above two date and time fields.

    Signals
    -------
    chosen(object, object)
        Start and end as ISO 8601 in UTC, the end excluded; None is unbounded.
    """

    chosen = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._span: tuple[str | None, str | None] = (None, None)
        self._range: tuple[str | None, str | None] = (None, None)
        self._silent = False
        self.presets = ChoiceBox("Time range")
        self.start = TimeField("Beginning of the time range, UTC")
        self.end = TimeField("End of the time range, UTC, excluded")
        self.why = QLabel(NO_TIMES, wordWrap=True)
        self.why.setObjectName("muted")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.presets, 0, 0, 1, 2)
        for row, (text, field) in enumerate((("From", self.start), ("Until", self.end)), 1):
            field.dateTimeChanged.connect(self._edited)
            label = QLabel(text)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.why, 3, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self.presets.activated.connect(self._preset_chosen)
        self.set_span(None, None)

    def set_span(self, first: str | None, last: str | None) -> None:
        """Set when the first and last check-in are; None where the file has no times."""
        if (first, last) == self._span and self.presets.count():
            return
        self._span = (first, last)
        self._silent = True
        self.presets.clear()
        self.presets.addItem("All times", (None, None))
        known = first is not None and last is not None
        if first is not None and last is not None:
            for name, start, end in month_ranges(first, last)[:MONTHS_AT_MOST]:
                self.presets.addItem(name, (start, end))
        self.presets.addItem("Between the times below", None)
        for widget in (self.presets, self.start, self.end):
            widget.setEnabled(known)
        self._show_message("" if known else NO_TIMES)
        self._silent = False

    def show_range(self, start: str | None, end: str | None) -> None:
        """Show the range in use."""
        self._range = (start, end)
        self._silent = True
        place = self.presets.findData((start, end))
        if place < 0:
            place = next(
                (
                    i
                    for i in range(self.presets.count())
                    if self.presets.itemData(i) is not None
                    and tuple(self.presets.itemData(i)) == (start, end)
                ),
                self.presets.count() - 1,
            )
        self.presets.setCurrentIndex(place)
        for field, instant in (
            (self.start, start or self._span[0]),
            (self.end, end or self._span[1]),
        ):
            if instant is not None:
                field.setDateTime(_qt(instant))
        if self.presets.isEnabled():
            self._show_message("")
        self._silent = False

    def _preset_chosen(self, index: int) -> None:
        chosen = self.presets.itemData(index)
        if chosen is not None and not self._silent:
            self.chosen.emit(*chosen)

    def _edited(self) -> None:
        if self._silent:
            return
        start, end = (
            field.dateTime().toUTC().toString("yyyy-MM-ddTHH:mm:ss") + "Z"
            for field in (self.start, self.end)
        )
        if start >= end:
            self._show_message("The end lies before the beginning; the range before stays in use.")
            return
        self._show_message("")
        self.chosen.emit(*map(self._typed, (0, 1), (self.start, self.end), (start, end)))

    def _typed(self, place: int, field: TimeField, instant: str) -> str | None:
        """Return a field's instant, None where it only shows when the check-ins begin or end.

        That is no choice of anybody's: it would tell the first or last check-in, and an end that
        is excluded would leave the last one out.
        """
        known = self._span[place]
        untouched = known is not None and field.dateTime() == _qt(known)
        return None if self._range[place] is None and untouched else instant

    def _show_message(self, text: str) -> None:
        self.why.setText(text)
        self.why.setVisible(bool(text))


def _qt(instant: str) -> QDateTime:
    moment = datetime.fromisoformat(instant)
    return QDateTime.fromSecsSinceEpoch(int(moment.timestamp()), QTimeZone.utc())
