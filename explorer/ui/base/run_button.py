"""The button that lets a parameter run over its range, drawn as a small triangle."""

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPainter, QPaintEvent, QPalette, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolButton

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
