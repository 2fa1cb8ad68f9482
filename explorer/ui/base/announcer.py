"""Announcements to screen readers, delayed until changes have stopped."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

ANNOUNCE_MS = 700
"""Delay after the last change, in milliseconds."""


class Announcer(QTimer):
    """Announces the latest text about a widget if it is visible.

    Signals
    -------
    message(str)
        The announced text.
    """

    message = Signal(str)

    def __init__(self, about: QWidget) -> None:
        super().__init__(about, singleShot=True)
        self._about = about
        self._words = ""
        self.timeout.connect(self._say)

    def say(self, words: str, after_ms: int = ANNOUNCE_MS) -> None:
        """Announce a text after a delay; a newer text replaces it."""
        self._words = words
        self.start(after_ms)

    def _say(self) -> None:
        if self._about.isVisible() and self._words:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._about, self._words))
            self.message.emit(self._words)
