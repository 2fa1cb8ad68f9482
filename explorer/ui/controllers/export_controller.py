"""Writes the answer in front to a file or the clipboard, beside the window's own work."""

from __future__ import annotations

import threading

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from explorer.figures.export_job import ExportJob, rendered
from explorer.figures.formats import ExportFormat


class ExportController(QObject):
    """Carries out one export at a time in a thread.

    Drawing itself can't be interrupted; a cancelled export writes nothing.

    Signals
    -------
    done(ExportJob)
        The file is whole on the disk, or the clipboard holds it.
    failed(Exception)
    cancelled()
    busy_changed(bool)
    """

    done = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)
    _finished = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._number = 0
        self._busy = False
        self._closed = False
        self._finished.connect(self._hear)

    @property
    def busy(self) -> bool:
        """Whether something is being exported."""
        return self._busy

    def start(self, job: ExportJob) -> None:
        """Carry out a job; one that runs is cancelled."""
        if self._closed:
            return
        self._stop.set()
        before, self._stop = self._thread, threading.Event()
        self._number += 1
        self._thread = threading.Thread(
            target=self._run, args=(job, self._number, self._stop, before), name="export"
        )
        self._thread.start()
        self._set_busy(True)

    def cancel(self) -> None:
        """Let the job that runs write nothing."""
        if self._busy:
            self._stop.set()
            self._number += 1
            self._set_busy(False)
            self.cancelled.emit()

    def close(self) -> None:
        """Cancel and wait for the thread; nothing is signalled afterwards."""
        self._closed = True
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(
        self, job: ExportJob, number: int, stop: threading.Event, before: threading.Thread | None
    ) -> None:
        if before is not None:
            before.join()
        outcome: object
        try:
            if stop.is_set():
                return
            outcome = rendered(job)
            if stop.is_set():
                return
            if job.path is not None:
                from explorer.files import write_whole

                write_whole(job.path, outcome)
        except Exception as error:  # told to the user
            outcome = error
        if not self._closed:
            self._finished.emit(number, job, outcome)

    def _hear(self, number: int, job: ExportJob, outcome: bytes | Exception) -> None:
        if self._closed or number != self._number:
            return
        self._set_busy(False)
        if isinstance(outcome, Exception):
            self.failed.emit(outcome)
            return
        if job.path is None:
            _copy(job.format, outcome)
        self.done.emit(job)

    def _set_busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)


def _copy(form: ExportFormat, content: bytes) -> None:
    """Put a picture (with its recipe) or a table on the clipboard."""
    mime = QMimeData()
    if form.clipboard.startswith("image/"):
        mime.setImageData(QImage.fromData(QByteArray(content)))
        mime.setData(form.clipboard, QByteArray(content))
    else:
        mime.setText(content.decode())
    QGuiApplication.clipboard().setMimeData(mime)
