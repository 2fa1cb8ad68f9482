"""Records in the ledger that a file of a registered population was opened."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from explorer.files import file_sha256
from explorer.resources import samples

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


class LookCounter(QObject):
    """Keeps that the true map of real people was shown: a certificate says how often.

    Every look is kept, in order and beside the interface; the window waits for it when it closes.

    Attributes
    ----------
    files : frozenset of str
        SHA-256 of the files that were counted last; empty of made-up people.
    problem : Exception or None
        Why a look could not be kept.

    Signals
    -------
    counted()
    failed(Exception)
    """

    counted = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files: frozenset[str] = frozenset()
        self.problem: Exception | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, "looks")

    def count(self, data: CheckinData) -> None:
        """Keep one look at a file, unless it is made up."""
        self._thread.submit(_count, data).add_done_callback(self._done)

    def count_file(self, value: str, path: Path | None = None) -> None:
        """Keep one look at a file that a study reads, from whichever thread.

        `value` is a parameter's: the file's name and SHA-256; `path` is where it is.
        """
        if not self._closed:
            self._thread.submit(_count_file, value, path).add_done_callback(self._done)

    def count_path(self, path: Path) -> None:
        """Keep one look at a file that is not open, unless it is a made-up sample."""
        self._thread.submit(_count_path, path).add_done_callback(self._done)

    def close(self) -> None:
        """Wait for what is still to be kept."""
        self._closed = True
        self._thread.shutdown()

    def _done(self, future: Future[frozenset[str]] | Future[None]) -> None:
        # in the thread that counts: signals reach the interface through its queue
        if self._closed:
            return
        error = future.exception()
        if isinstance(error, Exception):
            self.problem = error
            self.failed.emit(error)
        else:
            found = future.result()
            self.files = self.files if found is None else found
            self.counted.emit()


def _count(data: CheckinData) -> frozenset[str]:
    return frozenset() if data.synthetic else _looks().record_view(data)


def _count_path(path: Path) -> None:
    sha256 = file_sha256(path)
    if sha256 not in {sample.sha256 for sample in samples() if sample.synthetic}:
        _looks().record_file_views({sha256: path})


def _count_file(value: str, path: Path | None) -> None:
    _looks().record_file_views({value.rpartition("#")[2]: path})


def _looks() -> ModuleType:
    from explorer.release import access_log  # late: here, in the thread

    return access_log
