"""Background picture of a map in a plane other than the Earth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer.engine.runtime import FileNotOpenError
from explorer.engine.service import StudyService
from explorer.figures.pages.backdrop import MAX_BYTES, pixels_of
from explorer.files import read_bounded
from explorer.ui.base.errors import Banner, explain
from explorer.ui.base.jobs import LatestJob, Task


class Backdrop(QObject):
    """Reads the picture in a thread and identifies it by name and content.

    Signals
    -------
    changed()
        Emitted when the picture changed or was removed.
    """

    changed = Signal()
    _added = Signal(str, object)

    def __init__(self, service: StudyService, banner: Banner, parent: QObject) -> None:
        super().__init__(parent)
        self._service, self._banner = service, banner
        self.value = ""
        """Name and sha256 of the picture, as in `ViewState.picture`; empty for none."""
        self.data = b""
        self.pixels: np.ndarray | None = None
        self.awaited = ""
        """Name and sha256 of a picture whose file is not open yet."""
        self._added.connect(self._open_awaited)
        service.runtime.file_listeners.append(self._added.emit)  # in any thread
        self._job = LatestJob("reading a picture", self)
        self._job.done.connect(self._read)
        self._job.failed.connect(self._failed)

    @property
    def name(self) -> str:
        """Name of the picture's file, also if it is not open."""
        name = (self.value or self.awaited).rpartition("#")[0]
        return f"{name} (not open)" if self.awaited else name

    def open(self, path: Path) -> None:
        """Read a picture file and show it."""
        service = self._service

        def work(task: Task) -> tuple[str, bytes, np.ndarray]:
            data = read_bounded(path, MAX_BYTES)
            pixels = pixels_of(data, path.name)
            return service.add_file(path, task.check), data, pixels

        self._job.submit(path, work)

    def restore(self, value: str) -> None:
        """Show the picture of a view state when its file is open; an empty name removes it."""
        if value == self.value:
            return
        self.clear()
        if not value:
            return
        try:
            self.open(self._service.runtime.file(value))
        except FileNotOpenError:
            self.awaited = value
            self.changed.emit()

    def _open_awaited(self, value: str, path: Path) -> None:
        if value == self.awaited:
            self.open(path)

    def clear(self) -> None:
        """Remove the picture."""
        self._job.cancel()
        if self.value or self.awaited:
            self.awaited = ""
            self.value, self.data, self.pixels = "", b"", None
            self.changed.emit()

    def close(self) -> None:
        """Stop and wait for the thread."""
        self._service.runtime.file_listeners.remove(self._added.emit)
        self._job.close()

    def _read(self, _path: object, content: tuple[str, bytes, np.ndarray]) -> None:
        self.value, self.data, self.pixels = content
        self.awaited = ""
        self._banner.settled("picture")
        self.changed.emit()

    def _failed(self, _path: object, error: Exception) -> None:
        self._banner.show_problem(explain(error, "picture"))
