"""Where the panels beside a study stand, and that a workspace about all studies has none."""

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from explorer.ui.controllers.workspace import Workspace

VERSION = 1
WIDTHS = [276, 268]


class DockLayout:
    """Places the docks of a window, hides them and brings them back.

    Parameters
    ----------
    window : QMainWindow
        With everything in it that its layout is about.
    docks : list of QDockWidget
    """

    def __init__(self, window: QMainWindow, docks: list[QDockWidget]) -> None:
        self._window, self._docks = window, docks
        self._aside: bytes | None = None
        """The layout before docks were put out of the way; None while they are not."""
        self._hidden: list[QDockWidget] = []
        self._plain = self._state()

    def _state(self) -> bytes:
        return bytes(self._window.saveState(VERSION).data())

    def reset(self) -> None:
        """Put docks back to where they were at first."""
        self._aside, self._hidden = None, []
        self._window.restoreState(QByteArray(self._plain), VERSION)
        for dock in self._docks:
            dock.show()
        self._window.resizeDocks(self._docks, WIDTHS, Qt.Orientation.Horizontal)

    def restore(self, layout: bytes) -> None:
        """Put docks where they were when `saved` was called."""
        self._window.restoreState(QByteArray(layout), VERSION)

    def saved(self) -> bytes:
        """Return where the docks are, or were before they were put out of the way."""
        return self._aside or self._state()

    def follow(self, page: Workspace | None) -> None:
        """Put docks out of the way of a workspace that stands alone; None is one of studies."""
        alone = page is not None and page.alone
        if alone and self._aside is None:
            self._aside = self._state()
            self._hidden = [dock for dock in self._docks if not dock.isHidden()]
            for dock in self._hidden:
                dock.hide()
        elif not alone and self._aside is not None:
            for dock in self._hidden:
                dock.show()
            self._aside, self._hidden = None, []
