"""Sliders whose accessible values are numbers with units, and the slider of a parameter."""

import atexit
import math
from typing import Any
from weakref import WeakSet

from PySide6.QtCore import QObject, QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAccessibleValueChangeEvent,
    QAccessibleValueInterface,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QAccessibleWidget, QSizePolicy, QSlider
from shiboken6 import Shiboken

from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
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


class AccessibleSlider(QSlider):
    """Slider whose value is told to screen readers as a number and as text with its unit.

    Qt's own interface tells the position of the handle; so does this class until a subclass
    overrides the three methods.
    """

    def accessible_text(self) -> str:
        """Return the value with its unit."""
        return str(self.value())

    def accessible_range(self) -> tuple[float, float, float, float]:
        """Return value, minimum, maximum and smallest step."""
        return self.value(), self.minimum(), self.maximum(), self.singleStep()

    def take_accessible(self, number: float) -> None:
        """Set a value that a screen reader asks for."""
        self.setValue(round(number))

    # Painting: a groove filled up to the handle, in the palette's colours

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(120, int(2 * _RADIUS) + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(60, int(2 * _RADIUS) + 6)

    def share(self) -> float:
        """Return where the handle stands, from 0 to 1."""
        span = max(self.maximum() - self.minimum(), 1)
        return (self.value() - self.minimum()) / span

    def handle(self) -> QPointF:
        """Return the middle of the handle in pixels."""
        x = _RADIUS + self.share() * max(self.width() - 2 * _RADIUS, 1.0)
        return QPointF(x, self.height() / 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw groove and handle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        accent = palette.highlight().color() if self.isEnabled() else palette.mid().color()
        handle = self.handle()
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


class _Numbers(QAccessibleValueInterface):
    """Number of an `AccessibleSlider`.

    An object of its own: Qt is given its address, which in a class with two bases is that of the
    first.
    """

    def __init__(self, slider: AccessibleSlider) -> None:
        super().__init__()
        self._slider = slider

    def currentValue(self) -> float:
        """Return the number."""
        return self._slider.accessible_range()[0]

    def minimumValue(self) -> float:
        """Return the smallest number."""
        return self._slider.accessible_range()[1]

    def maximumValue(self) -> float:
        """Return the largest number."""
        return self._slider.accessible_range()[2]

    def minimumStepSize(self) -> float:
        """Return the smallest step."""
        return self._slider.accessible_range()[3]

    def setCurrentValue(self, value: float) -> None:
        """Set the number."""
        self._slider.take_accessible(float(value))


class _Interface(QAccessibleWidget):
    """Accessible interface of an `AccessibleSlider`."""

    def __init__(self, slider: AccessibleSlider) -> None:
        super().__init__(slider, QAccessible.Role.Slider)
        self._slider, self._numbers = slider, _Numbers(slider)

    def text(self, kind: QAccessible.Text) -> str:
        """Return the value as text, or what Qt tells of the widget."""
        if kind is QAccessible.Text.Value:
            return self._slider.accessible_text()
        return super().text(kind)

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        """Return the interface of the number, or Qt's."""
        if kind is QAccessible.InterfaceType.ValueInterface:
            return self._numbers
        return super().interface_cast(kind)


_interfaces: WeakSet[_Interface] = WeakSet()


def _interface(_class: str, owner: QObject) -> QAccessibleInterface | None:
    if not isinstance(owner, AccessibleSlider):
        return None
    made = _Interface(owner)
    _interfaces.add(made)
    return made


@atexit.register
def _delete_interfaces() -> None:
    """Delete what Qt would delete later, when calling Python crashes."""
    for made in list(_interfaces):
        if Shiboken.isValid(made):
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(made))


QAccessible.installFactory(_interface)


class NumberSlider(AccessibleSlider):
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
        self._unit = parameter.unit
        self._placed = False

    def set_unit(self, unit: str) -> None:
        """Set a unit that depends on another parameter."""
        self._unit = unit

    def accessible_text(self) -> str:
        """Return the number with its unit."""
        text = format_number(self._number, digits=PARAMETER_DIGITS)
        return f"{text} {self._unit}".rstrip()

    def accessible_range(self) -> tuple[float, float, float, float]:
        """Return number, ends of the scale, and the step of an arrow key at the number."""
        p = self._parameter
        step = abs(step_value(p, self._number, 1.0) - self._number)
        return self._number, p.low, p.high, step

    def take_accessible(self, number: float) -> None:
        """Set the nearest number of the scale, as a key does."""
        self._pause.start()
        self._move_to(self._parameter.clamp(number))

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
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleValueChangeEvent(self, number))

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

    def share(self) -> float:
        """Return where the handle stands on the parameter's scale, from 0 to 1."""
        return min(max(self._parameter.place_of(self._number), 0.0), 1.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the handle here, or grab it."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        handle = self.handle().x()
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
        """Handle the slider's own keys; Escape lets go, and the window takes the drag back."""
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
            if event.key() == Qt.Key.Key_Escape:
                self._grabbed_at = None
                self.setSliderDown(False)
            event.ignore()
            return
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End a series of key presses."""
        if self._pause.isActive():
            self._pause.stop()
            self.gesture_ended.emit()
        super().focusOutEvent(event)
