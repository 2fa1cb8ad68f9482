"""The ledger in a window of its own, beside plan, map or result: the same page as on its tab."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from explorer.ui.release.ledger_page import LedgerPage

SIZE = (900, 640)


class LedgerWindow(QDialog):
    """Shows a ledger's page.

    Parameters
    ----------
    page : LedgerPage
    parent : QWidget

    Signals
    -------
    wanted()
        It comes up: what it shows is to be read anew.
    """

    wanted = Signal()

    def __init__(self, page: LedgerPage, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Ledger")
        self.page = page
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(page)
        self.resize(*SIZE)

    def bring_up(self) -> None:
        """Show it, in front."""
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what is shown."""
        super().showEvent(event)
        self.wanted.emit()
