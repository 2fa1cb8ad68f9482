"""Run button of animated parameters, and an event filter that stops them on user input."""

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPolygonF
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolButton, QWidget

RUNS = "Let {} run over its range; any click or key stops it. Right click: how"


class RunButton(QToolButton):
    """Checked while the parameter runs.

    Signals
    -------
    menu_wanted(QPoint)
        How it runs is to be chosen; where on the screen.
    """

    menu_wanted = Signal(object)

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
        """Say why it can't run now; without a reason it can."""
        tip = why or RUNS.format(self._name)
        if tip != self.toolTip():
            self.setToolTip(tip)
            self.setAccessibleDescription(tip)
            self.setEnabled(not why)

    def sizeHint(self) -> QSize:
        """Return a square as high as a line of text."""
        side = self.fontMetrics().height() + 2
        return QSize(side, side)

    def minimumSizeHint(self) -> QSize:
        """Return the size it likes."""
        return self.sizeHint()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Let choose how it runs."""
        self.menu_wanted.emit(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a triangle; while it runs, a square."""
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
