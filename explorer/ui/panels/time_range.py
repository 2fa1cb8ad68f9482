"""Time range of the data: slider with two handles, month buttons, UTC fields, animation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QDateTime, QRectF, QSignalBlocker, QSize, Qt, QTimer, QTimeZone, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QDateTimeEdit, QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.study import Origin, Request
from explorer.ui.base.playback import RunButton
from explorer.ui.base.styled import plain_label
from explorer.ui.widgets.boxes import UTC as UTC_NAME, ChoiceBox, ZoneField, paint_chevron
from explorer.ui.widgets.number_slider import KEY_PAUSE_MS, AccessibleSlider

BEGIN, WHOLE, END = range(3)
"""Parts: low handle, bar, high handle."""
_HANDLE, _BAR = 10.0, 8.0
"""Width of a handle and minimum width of the bar in pixels, so that each can be grabbed."""
_HIGH = 16


class RangeSlider(QWidget):
    """Moves one or both ends of a range in whole steps.

    A click beside the handles moves the nearer one there. Each part is in the tab order and moved
    by the keys of a slider.

    Parameters
    ----------
    names : three str
        Names of the parts for screen readers: start, range, end.
    words : callable
        Formats a number for them.

    Signals
    -------
    range_moved(object, object)
        Start and end as moved by the user; not emitted by `set_range`.
    gesture_ended()
        A drag or a series of key presses ended.
    """

    range_moved = Signal(object, object)
    gesture_ended = Signal()

    def __init__(self, names: tuple[str, str, str], words: Callable[[int], str]) -> None:
        super().__init__()
        self._names, self._words = names, words
        self._low, self._high, self._step = 0, 1, 1
        self.range = (0, 1)
        """Start and end within the scale; not necessarily whole steps."""
        self._held: tuple[int, float] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._pause = QTimer(self, singleShot=True)
        self._pause.setInterval(KEY_PAUSE_MS)
        self._pause.timeout.connect(self.gesture_ended)
        self.parts = tuple(_Part(self) for _ in names)
        for place, part in enumerate(self.parts):
            part.valueChanged.connect(partial(self._stepped, place))
            part.left.connect(self._end_keys)
        self.setTabOrder(self.parts[BEGIN], self.parts[WHOLE])
        self.setTabOrder(self.parts[WHOLE], self.parts[END])
        self._show_parts()

    def set_scale(self, low: int, high: int, step: int, page: int) -> None:
        """Set the ends of the scale, the step and the page step."""
        self._low, self._high, self._step = low, high, step
        for part in self.parts:
            part.setPageStep(page)
        self.set_range(low, high)

    @property
    def step(self) -> int:
        """Step by which both ends move."""
        return self._step

    @property
    def scale(self) -> tuple[int, int]:
        """Ends of the scale."""
        return self._low, self._high

    def set_range(self, begin: int, end: int) -> None:
        """Show a range, clipped to the scale, without emitting a signal."""
        begin = min(max(begin, self._low), self._high)
        self.range = (begin, min(max(end, begin), self._high))
        self._show_parts()

    # Numbers ---------------------------------------------------------------------------------

    def _moved(self, place: int, number: float) -> tuple[int, int]:
        """Return the range with a part moved to the step nearest to a number."""
        low, high, step = self._low, self._high, self._step
        begin, end = self.range
        to = low + round((number - low) / step) * step
        if place == BEGIN:
            below_end = low + max(end - low - 1, 0) // step * step
            return min(max(to, low), below_end), end
        if place == END:
            above_begin = low + ((begin - low) // step + 1) * step
            return begin, min(max(to, above_begin), high)
        length = end - begin
        begin = min(max(to, low), high - length)
        return begin, begin + length

    def _move(self, place: int, number: float) -> None:
        moved = self._moved(place, number)
        if moved != self.range:
            self.set_range(*moved)
            self.range_moved.emit(*moved)

    def _stepped(self, place: int, value: int) -> None:
        """Apply a part's move by keys or a screen reader."""
        self._pause.start()
        self._move(place, self._low + value * self._step)
        self._show_parts()

    def _end_keys(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self.gesture_ended.emit()

    def _show_parts(self) -> None:
        low, step = self._low, self._step
        begin, end = self.range
        count = (self._high - low) // step
        first, last = (begin - low) // step, -((low - end) // step)
        numbers = (
            (0, max(last - 1, 0), first),
            (0, count - (last - first), first),
            (min(first + 1, count), count, last),
        )
        both = f"{self._words(begin)} to {self._words(end)}"
        text = (self._words(begin), both, self._words(end))
        for part, name, (least, most, value), words in zip(
            self.parts, self._names, numbers, text, strict=True
        ):
            with QSignalBlocker(part):
                part.setRange(least, most)
                part.setValue(value)
            part.setAccessibleName(f"{name}, {words}")
            part.words = words
        self._place_parts()

    # Pixels ----------------------------------------------------------------------------------

    @property
    def _usable(self) -> float:
        return max(self.width() - 2 * _HANDLE - _BAR, 1.0)

    def bar(self) -> QRectF:
        """Return the rectangle of the bar between the handles."""
        span = max(self._high - self._low, 1)
        left, right = (_HANDLE + (n - self._low) / span * self._usable for n in self.range)
        return QRectF(left, self.height() / 2 - 3, right + _BAR - left, 6)

    def _number_at(self, place: int, x: float) -> float:
        """Return the number at which a part's inner edge is at x."""
        x -= _HANDLE + (_BAR if place == END else 0)
        return self._low + min(max(x / self._usable, 0.0), 1.0) * (self._high - self._low)

    def _place_parts(self) -> None:
        bar, top = self.bar(), (self.height() - _HIGH) / 2
        for part, left, width in zip(
            self.parts,
            (bar.left() - _HANDLE, bar.left(), bar.right()),
            (_HANDLE, bar.width(), _HANDLE),
            strict=True,
        ):
            part.setGeometry(QRectF(left, top, width, _HIGH).toRect())
        self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(120, _HIGH + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(60, _HIGH + 6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the parts according to their numbers."""
        super().resizeEvent(event)
        self._place_parts()

    # Mouse -----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Grab a handle or the bar, or move the nearer handle here."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._end_keys()
        x, bar = event.position().x(), self.bar()
        place = BEGIN if x < bar.left() else END if x > bar.right() else WHOLE
        edge = bar.right() if place == END else bar.left()
        self._held = place, x - edge
        self.parts[place].setFocus(Qt.FocusReason.MouseFocusReason)
        if place != WHOLE and abs(x - edge) > _HANDLE:
            self._held = place, _HANDLE / 2 * (1 if place == END else -1)
            self.mouseMoveEvent(event)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the grabbed part."""
        if self._held is not None:
            place, offset = self._held
            self._move(place, self._number_at(place, event.position().x() - offset))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End the drag."""
        if self._held is not None:
            self._held = None
            self.update()
            self.gesture_ended.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step the focused part; without focus the wheel scrolls the page."""
        part = next((part for part in self.parts if part.hasFocus()), None)
        if part is None:
            event.ignore()
            return
        part.setValue(part.value() + (1 if event.angleDelta().y() > 0 else -1))
        event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw groove, bar and handles in the palette's colours."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, bar = self.palette(), self.bar()
        accent = palette.highlight().color() if self.isEnabled() else palette.mid().color()
        halo = accent.toRgb()
        halo.setAlpha(70)
        middle = self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.mid().color())
        painter.drawRoundedRect(QRectF(2, middle - 2, self.width() - 4, 4), 2, 2)
        painter.setBrush(accent)
        painter.drawRect(bar)
        handles = {
            BEGIN: QRectF(bar.left() - _HANDLE, middle - 7, _HANDLE, 14),
            END: QRectF(bar.right(), middle - 7, _HANDLE, 14),
        }
        for place, part in enumerate(self.parts):
            if part.hasFocus():
                painter.setBrush(halo)
                around = handles.get(place, bar).adjusted(-2, -2, 2, 2)
                painter.drawRoundedRect(around, 5, 5)
        held = None if self._held is None else self._held[0]
        painter.setPen(QPen(accent, 2))
        for place, box in handles.items():
            painter.setBrush(accent if held in (place, WHOLE) else palette.base().color())
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4)


class _Part(AccessibleSlider):
    """Focus, keys and accessibility of a part; mouse and painting are handled by its parent."""

    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._drawn_by = parent
        self.words = ""
        """Time, or both times, that it stands at."""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def accessible_text(self) -> str:
        """Return the times."""
        return self.words

    def minimumSizeHint(self) -> QSize:
        """Return a minimal size: the parent sets the geometry."""
        return QSize(0, 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw nothing."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Repaint the focus frame."""
        super().focusInEvent(event)
        self._drawn_by.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End a series of key presses."""
        super().focusOutEvent(event)
        self.left.emit()
        self._drawn_by.update()


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
        selected = self.presets.itemData(index)
        if selected is not None and not self._silent:
            self.chosen.emit(*selected)

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
        selected = request.selection
        return selected and _Times(selected.start, selected.end, selected.time_from)

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
        selected = self._session.state.selection
        assert isinstance(value, _Times)
        if selected is not None:
            moved = replace(selected, start=value.start, end=value.end, time_from=value.came)
            self._session.set_selection(moved, gesture)
