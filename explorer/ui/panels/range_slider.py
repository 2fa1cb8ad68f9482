"""Slider with two handles for a range of integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from explorer.ui.widgets.number_slider import KEY_PAUSE_MS

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


class _Part(QSlider):
    """Focus, keys and accessibility of a part; mouse and painting are handled by its parent."""

    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._drawn_by = parent
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

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
