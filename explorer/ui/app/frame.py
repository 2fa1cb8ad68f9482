"""The window before there is anything in it but its start page.

That page needs no study, no numpy and no plot: the first picture waits for none.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from explorer.ui.app.context import WindowContext
from explorer.ui.app.start import Start
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.activity import Activity
from explorer.ui.controllers.session_store import SessionStore
from explorer.ui.dialogs.palette import KEY, PLACEHOLDER
from explorer.ui.panels.status import StatusRow

MENUS = ("&File", "&Edit", "&View", "&Study", "&Release", "&Help")


class WindowFrame(WindowContext):
    """Bars, banner and start page, as wide and high as they stay.

    Parameters
    ----------
    theme : Theme
    keeper : SessionStore, optional

    Signals
    -------
    painted()
        Its first picture is there once control goes back to Qt.
    left()
        It was closed before there was anything behind the start page.
    """

    painted = Signal()
    left = Signal()

    def __init__(self, theme: Theme, keeper: SessionStore | None = None) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle("Privacy Explorer")
        self.theme, self.keeper = theme, keeper or SessionStore(None)
        self.built = self._seen = False
        self.activity = Activity(self)
        self.banner = Banner()
        self.titles = {title: self.menuBar().addMenu(title) for title in MENUS}
        self._search = QPushButton(f"{PLACEHOLDER}     {KEY}")
        self._search.setObjectName("search")
        self._search.setAccessibleName(f"{PLACEHOLDER}, {KEY}")
        self._search.clicked.connect(lambda: self.find_anything())
        self.place_search()
        self.start = Start(self)
        column = QVBoxLayout(around := QWidget())
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.banner)
        column.addWidget(self.start.stack, 1)
        self.setCentralWidget(around)
        self.status_row = row = StatusRow(self.activity)
        self.answer_state, self.data_state, self.badge = row.answer, row.data, row.badge
        self.statusBar().addWidget(row, 1)

    def place_search(self) -> None:
        """Put the search into the corner of the menu bar, behind all else in the order of Tab."""
        self._search.setParent(None)
        self.menuBar().setCornerWidget(self._search, Qt.Corner.TopRightCorner)
        self._search.show()

    def show_status(self, text: str) -> None:
        """Show what was done in the status bar, for a while."""
        self.statusBar().showMessage(text, 6000)

    def show_problem(self, problem: Problem) -> None:
        """Show what went wrong in the banner."""
        self.banner.show_problem(problem)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say when the first picture has been painted."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self.painted.emit()
