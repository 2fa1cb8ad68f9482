"""Announcements to screen readers, delayed until changes have stopped."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

ANNOUNCE_MS = 700
"""After the last change something is read out."""


class Announcer(QTimer):
    """Has the newest words about a widget read out, if it is on the screen then.

    Signals
    -------
    said(str)
        What was read out.
    """

    said = Signal(str)

    def __init__(self, about: QWidget) -> None:
        super().__init__(about, singleShot=True)
        self._about = about
        self._words = ""
        self.timeout.connect(self._say)

    def say(self, words: str, after_ms: int = ANNOUNCE_MS) -> None:
        """Have this read out a while from now, unless other words come before."""
        self._words = words
        self.start(after_ms)

    def _say(self) -> None:
        if self._about.isVisible() and self._words:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._about, self._words))
            self.said.emit(self._words)
