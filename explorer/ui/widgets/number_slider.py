"""Slider for a numeric parameter, linear or logarithmic."""

import math

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider

from explorer.studies.base.study import Kind, Parameter

STEPS = 4000
_RADIUS = 7.0
KEY_PAUSE_MS = 700
"""Key presses and wheel turns closer together than this are one gesture."""


def step_value(p: Parameter, number: float, steps: float) -> float | int:
    """Return the value moved by hundredths of the scale, integers by at least one."""
    moved = p.at_place(min(max(p.place_of(number) + steps / 100, 0.0), 1.0))
    if p.kind is Kind.INTEGER and moved == number:
        return p.clamp(number + math.copysign(1, steps))
    return moved


class NumberSlider(QSlider):
    """Slider for a parameter's value.

    Signals
    -------
    number_moved(object)
        Value chosen by the user, of the parameter's type; not emitted by `set_number`.
    gesture_ended()
        A drag or a series of key presses ended.
    """

    number_moved = Signal(object)
    gesture_ended = Signal()

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._number: float = parameter.low
        self.set_parameter(parameter)
        self._grabbed_at: float | None = None
        self.setRange(0, STEPS)
        self.setSingleStep(STEPS // 100)
        self.setPageStep(STEPS // 10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._pause = QTimer(self, singleShot=True)
        self._pause.setInterval(KEY_PAUSE_MS)
        self._pause.timeout.connect(self.gesture_ended)

    def set_parameter(self, parameter: Parameter) -> None:
        """Set the parameter whose domain is the scale; `set_number` sets the value."""
        self._parameter = parameter
        self._placed = False

    @property
    def number(self) -> float:
        """Exact value, which may lie between two slider positions."""
        return self._number

    def set_number(self, number: float) -> None:
        """Show a value without emitting a signal."""
        if number == self._number and self._placed:
            return
        self._number, self._placed = number, True
        with QSignalBlocker(self):
            self.setValue(self._position(number))

    def step(self, steps: float) -> None:
        """Move by hundredths of the scale, integers by at least one."""
        self._pause.start()
        self._move_to(step_value(self._parameter, self._number, steps))

    def _position(self, number: float) -> int:
        return round(STEPS * min(max(self._parameter.place_of(number), 0.0), 1.0))

    def _move_to(self, number: float) -> None:
        if number == self._number:
            return
        self.set_number(number)
        self.update()
        self.number_moved.emit(number)

    # Mouse: a press moves the handle there, then it follows

    def _fraction_at(self, x: float) -> float:
        usable = max(self.width() - 2 * _RADIUS, 1.0)
        return min(max((x - _RADIUS) / usable, 0.0), 1.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the handle here, or grab it."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        handle = self._handle().x()
        self._grabbed_at = x - handle if abs(x - handle) <= _RADIUS + 2 else 0.0
        self._pause.stop()
        self.setSliderDown(True)
        if self._grabbed_at == 0.0:
            self._move_to(self._parameter.at_place(self._fraction_at(x)))
        self.update()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the handle."""
        if self._grabbed_at is not None:
            self._move_to(
                self._parameter.at_place(self._fraction_at(event.position().x() - self._grabbed_at))
            )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        if self._grabbed_at is not None:
            self._grabbed_at = None
            self.setSliderDown(False)
            self.update()
            self.gesture_ended.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step if focused."""
        # Otherwise the wheel scrolls the page.
        if not self.hasFocus():
            event.ignore()
            return
        self.step(event.angleDelta().y() / 120)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the slider's own keys."""
        fine = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        steps = {
            Qt.Key.Key_Left: -1.0,
            Qt.Key.Key_Down: -1.0,
            Qt.Key.Key_Right: 1.0,
            Qt.Key.Key_Up: 1.0,
            Qt.Key.Key_PageDown: -10.0,
            Qt.Key.Key_PageUp: 10.0,
        }.get(Qt.Key(event.key()))
        if steps is not None:
            self.step(steps / 10 if fine else steps)
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._pause.start()
            self._move_to(self._parameter.at_place(0.0 if event.key() == Qt.Key.Key_Home else 1.0))
        else:
            event.ignore()
            return
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End a series of key presses."""
        if self._pause.isActive():
            self._pause.stop()
            self.gesture_ended.emit()
        super().focusOutEvent(event)

    # Painting: a groove filled up to the handle, in the palette's colours

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(120, int(2 * _RADIUS) + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(60, int(2 * _RADIUS) + 6)

    def _handle(self) -> QPointF:
        fraction = min(max(self._parameter.place_of(self._number), 0.0), 1.0)
        x = _RADIUS + fraction * max(self.width() - 2 * _RADIUS, 1.0)
        return QPointF(x, self.height() / 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw groove and handle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        accent = palette.highlight().color() if self.isEnabled() else palette.mid().color()
        handle = self._handle()
        groove = QRectF(_RADIUS - 2, handle.y() - 2, self.width() - 2 * _RADIUS + 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.mid().color())
        painter.drawRoundedRect(groove, 2, 2)
        painter.setBrush(accent)
        painter.drawRoundedRect(QRectF(groove.left(), groove.top(), handle.x(), 4), 2, 2)
        if self.hasFocus():
            halo = accent.toRgb()
            halo.setAlpha(70)
            painter.setBrush(halo)
            painter.drawEllipse(handle, _RADIUS + 2.5, _RADIUS + 2.5)
        painter.setPen(QPen(accent, 2))
        painter.setBrush(accent if self.isSliderDown() else palette.base().color())
        painter.drawEllipse(handle, _RADIUS - 1, _RADIUS - 1)
