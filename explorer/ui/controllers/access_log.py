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


class AccessLog(QObject):
    """Logs each view of the non-private map in the ledger; certificates state the count.

    Entries are written in order in a thread; the window waits for them when it closes.

    Attributes
    ----------
    files : frozenset of str
        SHA-256 of the files logged last; empty for synthetic data.
    problem : Exception or None
        Emitted with the reason why an entry could not be written.

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
        """Log one access to a file, unless it is synthetic."""
        self._thread.submit(_count, data).add_done_callback(self._done)

    def count_file(self, value: str, path: Path | None = None) -> None:
        """Log one access to a file read by a study; callable from any thread.

        `value` is the parameter's value (name and SHA-256), `path` the file.
        """
        if not self._closed:
            self._thread.submit(_count_file, value, path).add_done_callback(self._done)

    def count_path(self, path: Path) -> None:
        """Log one access to a file that is not open, unless it is a synthetic sample."""
        self._thread.submit(_count_path, path).add_done_callback(self._done)

    def close(self) -> None:
        """Wait for pending entries."""
        self._closed = True
        self._thread.shutdown()

    def _done(self, future: Future[frozenset[str]] | Future[None]) -> None:
        # Runs in the logging thread; signals reach the interface through its queue.
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
    from explorer.release import access_log  # imported late, in the thread

    return access_log
