"""The middle of the window with its docks: all that belongs to the question in front."""

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

LAYOUT_VERSION = 1
WIDTHS = [276, 268]
"""Of the docks at first, left and right."""


class Desk(QMainWindow):
    """Docks around a middle, within the window, so that another page can take the place of all.

    Attributes
    ----------
    docks : dict of str to QDockWidget
    """

    def __init__(self) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks)
        self.docks: dict[str, QDockWidget] = {}
        self._plain = QByteArray()
        self._unseen: bytes | None = None
        """A layout restored and never laid out: Qt would save one of no size."""

    def add_dock(self, key: str, content: QWidget, area: Qt.DockWidgetArea) -> None:
        """Put something into a dock that is called like its key."""
        dock = self.docks[key] = QDockWidget(key.capitalize(), self)
        dock.setObjectName(f"dock-{key}")
        dock.setWidget(content)
        self.addDockWidget(area, dock)

    def begin(self) -> None:
        """Take the present layout for the plain one."""
        self._spread()
        self._plain = self.saveState(LAYOUT_VERSION)

    def reset(self) -> None:
        """Put docks back to where they were at first."""
        self.restoreState(self._plain, LAYOUT_VERSION)
        for dock in self.docks.values():
            dock.show()
        self._spread()

    def restore(self, layout: bytes) -> None:
        """Put docks where they were when `saved` was called."""
        self.restoreState(QByteArray(layout), LAYOUT_VERSION)
        self._unseen = None if self.isVisible() else layout

    def saved(self) -> bytes:
        """Return where the docks are."""
        return self._unseen or bytes(self.saveState(LAYOUT_VERSION).data())

    def showEvent(self, event: QShowEvent) -> None:
        """From now on the layout is what is seen."""
        super().showEvent(event)
        self._unseen = None

    def _spread(self) -> None:
        self.resizeDocks(list(self.docks.values()), WIDTHS, Qt.Orientation.Horizontal)
