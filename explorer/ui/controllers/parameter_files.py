"""Reads the files that parameters name, beside the window, and remembers where they are."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled
from explorer.ui.base.jobs import LatestJob

_RESTORE = "files of the last session"


class ParameterFiles(QObject):
    """Makes files available to studies under their name and content.

    A file is read once, in a thread, to know its content; only that and its name go into the
    session's questions and into recipes.

    Signals
    -------
    opened(str, str, str)
        Study, parameter and the parameter's new value.
    failed(str, str, object)
        Study, parameter and why the file can't be used.
    restored(object)
        Names of the files of the last session that are gone or no longer the same.
    busy_changed(bool)
    """

    opened = Signal(str, str, str)
    failed = Signal(str, str, object)
    restored = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, host: StudyRuntime, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._jobs: dict[object, LatestJob] = {}
        self._waiting: set[object] = set()
        self._stop = threading.Event()

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return bool(self._waiting)

    def open(self, study_id: str, key: str, path: Path) -> None:
        """Read a file and then tell the parameter's value; a newer choice replaces a waiting one.

        `path` may be a folder where the parameter takes one.
        """
        stop = self._stop
        self._submit((study_id, key), lambda: self._host.add_file(path, lambda: _check(stop)))

    def restore(self, paths: Mapping[str, str]) -> None:
        """Open files of an earlier session again, where they are still the same.

        `paths` tells where the file of each value was.
        """
        if paths:
            stop = self._stop
            self._submit(_RESTORE, lambda: _restore(self._host, dict(paths), stop))

    def cancel(self) -> None:
        """Stop reading; what is being read fails as cancelled."""
        self._stop.set()
        self._stop = threading.Event()

    def close(self) -> None:
        """Stop reading and wait for the threads."""
        self._stop.set()
        for job in self._jobs.values():
            job.close()

    def _submit(self, key: object, function: object) -> None:
        if key not in self._jobs:
            job = self._jobs[key] = LatestJob("reading a file", self)
            job.done.connect(self._done)
            job.failed.connect(self._failed)
        before = self.busy
        self._waiting.add(key)
        self._jobs[key].submit(key, function)
        if not before:
            self.busy_changed.emit(True)

    def _finish(self, key: object) -> None:
        self._waiting.discard(key)
        if not self._waiting:
            self.busy_changed.emit(False)

    def _done(self, key: object, result: object) -> None:
        self._finish(key)
        if key == _RESTORE:
            self.restored.emit(result)
        else:
            self.opened.emit(*key, result)

    def _failed(self, key: object, error: Exception) -> None:
        self._finish(key)
        if isinstance(error, Cancelled):
            error = ValueError("Opening was cancelled.")
        if key == _RESTORE:
            self.restored.emit([])
        else:
            self.failed.emit(*key, error)


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise Cancelled


def _restore(host: StudyRuntime, paths: dict[str, str], stop: threading.Event) -> list[str]:
    """Open the files that are where they were and the same; return the names of the others."""
    lost = []
    for value, path in paths.items():
        try:
            same = host.add_file(Path(path), lambda: _check(stop)) == value
        except OSError:
            same = False
        if not same:
            lost.append(value.rpartition("#")[0])
    return lost
