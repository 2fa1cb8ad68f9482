"""Time range of the data: month buttons, UTC fields and animation."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from PySide6.QtCore import QDateTime, Qt, QTimeZone, Signal
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QDateTimeEdit, QGridLayout, QHBoxLayout, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.study import Origin, Request
from explorer.ui.base.playback import RunButton
from explorer.ui.base.styled import plain_label
from explorer.ui.panels.range_slider import RangeSlider
from explorer.ui.widgets.boxes import ChoiceBox, paint_chevron
from explorer.ui.widgets.zone_field import UTC as UTC_NAME, ZoneField


class TimeField(QDateTimeEdit):
    """UTC time to the minute, typed or picked from a calendar.

    Parameters
    ----------
    name : str
        Name for screen readers and tool tip.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setTimeZone(QTimeZone.utc())
        self.setDisplayFormat("yyyy-MM-dd HH:mm")
        self.setCalendarPopup(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the time only if focused; otherwise the wheel scrolls the page."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw with the chevron of combo boxes."""
        super().paintEvent(event)
        paint_chevron(self)


MAX_MONTHS = 60
NO_TIMES = "The file has no times, so all check-ins are used."
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
_STEPS = ((60 * _DAY, _DAY, 30), (2 * _DAY, _HOUR, 24), (0, _MINUTE, 60))
"""Minimum span in seconds, with its step in seconds and steps per page."""
SLIDER_HELP = (
    "Drag an end, or the bar between them; the maps follow. A range that is chosen while looking "
    "at the map breaks the guarantee: type one that was fixed beforehand."
)


def month_ranges(first: str, last: str) -> list[tuple[str, str, str]]:
    """Return name, start and end (exclusive) of each month between two instants, oldest first."""
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
    """Presets, a slider over the whole span, and two date and time fields.

    Signals
    -------
    chosen(object, object)
        Start and end as ISO 8601 in UTC, end exclusive; None is unbounded.
    dragged(object, object)
        The same, while the slider moves.
    gesture_ended()
        The move ended.
    zone_chosen(str or None)
        Time zone of times without offset; None is UTC.
    """

    chosen = Signal(object, object)
    dragged = Signal(object, object)
    gesture_ended = Signal()
    zone_selected = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._span: tuple[str | None, str | None] = (None, None)
        self._range: tuple[str | None, str | None] = (None, None)
        self._at = (0, 0)
        self._still = ""
        self._silent = False
        self.slider = RangeSlider(
            (
                "Beginning of the time range, slider",
                "Time range as a whole, slider",
                "End of the time range, slider",
            ),
            lambda seconds: f"{_utc(seconds):%Y-%m-%d %H:%M}",
        )
        self.slider.range_moved.connect(self._moved)
        self.slider.gesture_ended.connect(self.gesture_ended)
        self.run = RunButton("the time range")
        self.presets = ChoiceBox("Time range")
        self.start = TimeField("Beginning of the time range, UTC")
        self.end = TimeField("End of the time range, UTC, excluded")
        self.why = plain_label(NO_TIMES, word_wrap=True)
        self.why.setObjectName("muted")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.presets, 0, 0, 1, 2)
        moved = QHBoxLayout()
        moved.setSpacing(4)
        moved.addWidget(self.slider, 1)
        moved.addWidget(self.run)
        grid.addLayout(moved, 1, 0, 1, 2)
        for row, (text, field) in enumerate((("From", self.start), ("Until", self.end)), 2):
            field.dateTimeChanged.connect(self._edited)
            label = plain_label(text)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        self.zone = ZoneField()
        self.zone.chosen.connect(self._zone_entered)
        self.zone.refused.connect(self._show_message)
        self._zone_label = plain_label("Zone of file")
        self._zone_label.setBuddy(self.zone)
        grid.addWidget(self._zone_label, 4, 0)
        grid.addWidget(self.zone, 4, 1)
        grid.addWidget(self.why, 5, 0, 1, 2)
        self.show_zone(None, used=False)
        grid.setColumnStretch(1, 1)
        self.presets.activated.connect(self._preset_selected)
        self.set_span(None, None)

    def set_span(self, first: str | None, last: str | None, still: str = "") -> None:
        """Set the times of the first and last check-in; None without times.

        `still` disables the slider with the reason why the maps cannot follow it.
        """
        if (first, last, still) == (*self._span, self._still) and self.presets.count():
            return
        self._span, self._still = (first, last), still
        self._silent = True
        self.presets.clear()
        self.presets.addItem("All times", (None, None))
        known = first is not None and last is not None
        if first is not None and last is not None:
            for name, start, end in month_ranges(first, last)[:MAX_MONTHS]:
                self.presets.addItem(name, (start, end))
        self.presets.addItem("Between the times below", None)
        for widget in (self.presets, self.start, self.end):
            widget.setEnabled(known)
        self._scale()
        self._show_message("" if known else NO_TIMES)
        self._silent = False

    def show_zone(self, zone: str | None, used: bool) -> None:
        """Show the time zone of times without offset; hidden without such times."""
        self._zone = zone
        self.zone.setText(zone or UTC_NAME)
        for widget in (self._zone_label, self.zone):
            widget.setVisible(used)

    def _zone_entered(self, zone: str | None) -> None:
        if zone != self._zone:
            self.zone_selected.emit(zone)

    def _scale(self) -> None:
        """Set the slider's scale to the span, in days, hours or minutes."""
        first, last = self._span
        why = self._still if first is not None else NO_TIMES
        self.slider.setEnabled(not why)
        self.slider.setToolTip(why or SLIDER_HELP)
        self.refuse_run("")
        if first is not None and last is not None:
            low, high = _seconds(first), _seconds(last)
            _, step, page = next(row for row in _STEPS if high - low >= row[0])
            self.slider.set_scale(low // step * step, (high // step + 1) * step, step, page)

    def refuse_run(self, why: str) -> None:
        """Disable the animation with a reason; an empty reason enables it if there are times."""
        self.run.refuse(why or (self._still if self._span[0] is not None else NO_TIMES))

    def instants(self, begin: int, end: int) -> tuple[str | None, str | None]:
        """Convert a range to the slider's scale; an open end is the end of the scale."""
        low, high = self.slider.scale
        return (
            None if begin <= low else f"{_utc(begin):%Y-%m-%dT%H:%M:%SZ}",
            None if end >= high else f"{_utc(end):%Y-%m-%dT%H:%M:%SZ}",
        )

    def show_range(self, start: str | None, end: str | None) -> None:
        """Show the present range."""
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
            low, high = self.slider.scale
            self.slider.set_range(
                low if start is None else _seconds(start), high if end is None else _seconds(end)
            )
            self._at = self.slider.range
            self._show_message("")
        self._silent = False

    def _moved(self, *to: int) -> None:
        """Apply a slider move; at the end of the scale the range is open."""
        start, end = (
            before if now == at else None if now == far else f"{_utc(now):%Y-%m-%dT%H:%M:%SZ}"
            for before, at, now, far in zip(
                self._range, self._at, to, self.slider.scale, strict=True
            )
        )
        self.dragged.emit(start, end)

    def _preset_selected(self, index: int) -> None:
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
        """Return a field's instant; None if it only shows the first or last check-in.

        That value was not chosen: it would reveal the first or last check-in, and as an exclusive
        end would exclude the last one.
        """
        known = self._span[place]
        untouched = known is not None and field.dateTime() == _qt(known)
        return None if self._range[place] is None and untouched else instant

    def _show_message(self, text: str) -> None:
        text = text or self._still
        self.why.setText(text)
        self.why.setVisible(bool(text))


def _qt(instant: str) -> QDateTime:
    return QDateTime.fromSecsSinceEpoch(_seconds(instant), QTimeZone.utc())


def _seconds(instant: str) -> int:
    moment = datetime.fromisoformat(instant)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class _Times:
    """Time range with its origin."""

    start: str | None
    end: str | None
    came: Origin


class TimeTrack:
    """Moves a range from the first to the last check-in; without a range, moves the end only.

    An animated range was not fixed beforehand: its origin counts as drawn until it is back at its
    start.

    Parameters
    ----------
    session : Session
    times : TimeRange
    """

    study, key = "", "time"

    def __init__(self, session: Session, times: TimeRange) -> None:
        self._session, self._times = session, times
        self.button = times.run
        self.refuse = times.refuse_run
        self._range = times.slider.range

    def value(self, request: Request) -> object:
        """Return the range of a request; none without data."""
        chosen = request.selection
        return chosen and _Times(chosen.start, chosen.end, chosen.time_from)

    def begin(self, _value: object) -> float:
        """Store the length of the range; return its place."""
        self._range = begin, end = self._times.slider.range
        low, high = self._times.slider.scale
        space = high - low - (end - begin)
        return (begin - low) / space if space else 1.0

    def at(self, place: float) -> object:
        """Return the range at a place, in whole steps of the slider."""
        (low, high), step = self._times.slider.scale, self._times.slider.step
        begin, end = self._range
        if (begin, end) == (low, high):
            moved = low, low + max(step, round(place * (high - low) / step) * step)
        else:
            space = high - low - (end - begin)
            start = min(low + round(place * space / step) * step, low + space)
            moved = start, start + end - begin
        return _Times(*self._times.instants(*moved), Origin.DRAWN)

    def ask(self, value: object, gesture: str) -> None:
        """Select a range."""
        chosen = self._session.state.selection
        assert isinstance(value, _Times)
        if chosen is not None:
            moved = replace(chosen, start=value.start, end=value.end, time_from=value.came)
            self._session.set_selection(moved, gesture)
