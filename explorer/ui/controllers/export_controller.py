"""Writes the answer in front to a file or the clipboard, beside the window's own work."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result

PICTURES = ("png", "svg", "pdf")
TABLES = ("csv", "json")


@dataclass(frozen=True)
class ExportJob:
    """What is to be written.

    Attributes
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
        Goes inside the file.
    format : str
        ``png``, ``svg``, ``pdf``, ``csv`` or ``json``.
    path : Path or None
        None is the clipboard.
    size_px : (int, int)
    dpi : float
    """

    result: Result
    view: ViewState
    recipe: Mapping[str, Any]
    format: str
    path: Path | None = None
    size_px: tuple[int, int] = (1600, 1000)
    dpi: float = 150.0


def rendered(job: ExportJob) -> bytes:
    """Return a job's file as bytes.

    Raises
    ------
    ValueError
        If the view shows nothing, or the size is out of range.
    """
    # matplotlib is imported in here, by whoever first exports something.
    if job.format in TABLES:
        from explorer.figures.tables import table_bytes

        return table_bytes(job.result, job.view, job.recipe, job.format)
    from explorer.figures.export import figure_bytes
    from explorer.figures.map_layers import shipped_basemap, shipped_cities

    layers = (shipped_basemap(), shipped_cities()) if job.result.surfaces else (None, None)
    return figure_bytes(
        job.result, job.view, job.recipe, job.format,
        size_px=job.size_px, dpi=job.dpi, basemap=layers[0], cities=layers[1],
    )  # fmt: skip


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


def _copy(fmt: str, content: bytes) -> None:
    """Put a picture (with its recipe) or a table on the clipboard."""
    mime = QMimeData()
    if fmt == "png":
        mime.setImageData(QImage.fromData(QByteArray(content)))
        mime.setData("image/png", QByteArray(content))
    else:
        mime.setText(content.decode())
    QGuiApplication.clipboard().setMimeData(mime)
