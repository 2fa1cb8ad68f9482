"""Run button of animated parameters, and an event filter that stops them on user input."""

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPolygonF
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolButton, QWidget

RUNS = "Animate {} over its range; any click or key stops it. Right-click for options."


class RunButton(QToolButton):
    """Toggle button of an animation; checked while it runs.

    Signals
    -------
    menu_requested(QPoint)
        The options menu is requested at a screen position.
    """

    menu_requested = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("run")
        self.setCheckable(True)
        self.setProperty("quiet", True)
        self._name = name
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.refuse("")
        self.toggled.connect(self._toggled)
        self._toggled(False)

    def refuse(self, why: str) -> None:
        """Disable the button with a reason; an empty reason enables it."""
        tip = why or RUNS.format(self._name)
        if tip != self.toolTip():
            self.setToolTip(tip)
            self.setAccessibleDescription(tip)
            self.setEnabled(not why)

    def sizeHint(self) -> QSize:
        """Return a square of the height of a text line."""
        side = self.fontMetrics().height() + 2
        return QSize(side, side)

    def minimumSizeHint(self) -> QSize:
        """Return the preferred size."""
        return self.sizeHint()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the options menu."""
        self.menu_requested.emit(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a triangle, or a square while running."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(group, QPalette.ColorRole.PlaceholderText))
        size = 0.26 * self.fontMetrics().height()
        middle = QPointF(self.width() / 2, self.height() / 2)
        corners = [(-0.8, -1.0), (1.0, 0.0), (-0.8, 1.0)]
        if self.isChecked():
            corners = [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]
        painter.drawPolygon(QPolygonF([middle + QPointF(x, y) * size for x, y in corners]))

    def _toggled(self, running: bool) -> None:
        self.setAccessibleName(f"{'Stop' if running else 'Run'} {self._name}")


_KEYS = frozenset({QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride})
_INPUTS = _KEYS | {
    QEvent.Type.MouseButtonPress,
    QEvent.Type.Wheel,
    QEvent.Type.TouchBegin,
    QEvent.Type.Close,
}
_PRESSES = (Qt.Key.Key_Space, Qt.Key.Key_Select)
"""Keys that activate a button."""


class InputWatcher(QObject):
    """Event filter that reports clicks, keys, wheel turns and closing windows.

    Signals
    -------
    input_received()
        Emitted on input other than pressing one of the starter buttons.
    """

    input_received = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._starters: tuple[QWidget, ...] = ()

    def watch(self, *starters: QWidget) -> None:
        """Start watching; activating one of the starters is ignored."""
        self._starters = starters
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def rest(self) -> None:
        """Stop watching."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Report input and pass the event on."""
        if event.type() in _INPUTS and isinstance(watched, QWidget):
            other = isinstance(event, QKeyEvent) and event.key() not in _PRESSES
            if watched not in self._starters or other:
                self.input_received.emit()
        return False
