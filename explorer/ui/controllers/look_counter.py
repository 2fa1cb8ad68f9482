"""Counts in the ledger every time a file was opened, from the window's first moment on."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


class LookCounter(QObject):
    """Keeps that the true map of real people was shown: a certificate says how often.

    Every look is kept, in order and beside the interface; the window waits for it when it closes.

    Signals
    -------
    counted()
    failed(Exception)
        Also kept as `problem`, for whoever comes later.
    """

    counted = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.problem: Exception | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, "looks")

    def count(self, data: CheckinData) -> None:
        """Keep one look at a file, unless it is made up."""
        if not data.synthetic:
            self._thread.submit(_count, data).add_done_callback(self._done)

    def close(self) -> None:
        """Wait for what is still to be kept."""
        self._closed = True
        self._thread.shutdown()

    def _done(self, future: Future[None]) -> None:
        # in the thread that counts: signals reach the interface through its queue
        if self._closed:
            return
        error = future.exception()
        if isinstance(error, Exception):
            self.problem = error
            self.failed.emit(error)
        else:
            self.counted.emit()


def _count(data: CheckinData) -> None:
    from explorer.release.looks import count_look  # late: here, in the thread

    count_look(data)
