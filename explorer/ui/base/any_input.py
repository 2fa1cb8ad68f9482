"""The next thing that a user does, wherever it is: what runs by itself stops at it."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

_KEYS = frozenset({QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride})
_INPUTS = _KEYS | {
    QEvent.Type.MouseButtonPress,
    QEvent.Type.Wheel,
    QEvent.Type.TouchBegin,
    QEvent.Type.Close,
}
_PRESSES = (Qt.Key.Key_Space, Qt.Key.Key_Select)
"""Keys that press a button."""


class AnyInput(QObject):
    """Tells of clicks, keys, turns of the wheel and windows that close while it watches.

    Signals
    -------
    came()
        Something was clicked, typed or turned, other than to press a button that starts and stops.
    """

    came = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._starters: tuple[QWidget, ...] = ()

    def watch(self, *starters: QWidget) -> None:
        """Watch from now on; to press one of the starters is no input."""
        self._starters = starters
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def rest(self) -> None:
        """Watch no longer."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell of any input, and let it pass."""
        if event.type() in _INPUTS and isinstance(watched, QWidget):
            other = isinstance(event, QKeyEvent) and event.key() not in _PRESSES
            if watched not in self._starters or other:
                self.came.emit()
        return False
