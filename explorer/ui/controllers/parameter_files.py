"""Reads files that are values of parameters, and remembers their paths."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from PySide6.QtCore import QObject, Signal

from explorer.engine.service import StudyService
from explorer.ui.base.jobs import LatestJob, Task

_RESTORE = ("", "files of the last session")
"""Key of the job that restores files."""
_PRIORS = "explorer.engine.release_priors"
"""Imported in the thread: with all of releases it would delay the window by .2 s."""


class ParameterFiles(QObject):
    """Provides files to studies under their name and content.

    A file is read once in a thread to compute its hash; only name and hash enter the session and
    recipes.

    Signals
    -------
    opened(str, str, str)
        Study, parameter and new value.
    failed(str, str, object)
        Study, parameter and error.
    listed(str, str, Path or None, tuple of (str, str))
        Study, parameter, ledger, and id and text of each release that can be its value.
    restored(object)
        Names of files of the last session that are missing or changed.
    busy_changed(bool)
    """

    opened = Signal(str, str, str)
    failed = Signal(str, str, object)
    listed = Signal(str, str, object, object)
    restored = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, service: StudyService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._jobs: dict[tuple[str, str], LatestJob] = {}

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return any(job.busy for job in self._jobs.values())

    def open(self, study_id: str, key: str, path: Path) -> None:
        """Read a file, then signal the parameter's value; a newer choice replaces a waiting one.

        `path` may be a folder if the parameter takes one.
        """
        self._submit((study_id, key), lambda task: self._service.add_file(path, task.check))

    def list_releases(self, study_id: str, key: str, ledger: Path | None, data: str) -> None:
        """Read which releases of a ledger can be a parameter's value, then signal them.

        `ledger` is None for the user's own; `data` is the fingerprint of the open check-ins.
        """

        def work(_task: Task) -> _Listed:
            return _Listed(ledger, resolve_name(_PRIORS).usable_releases(ledger, [data]))

        self._submit((study_id, key), work)

    def open_release(
        self, study_id: str, key: str, ledger: Path | None, release: str, data: str
    ) -> None:
        """Write the map of a release as a file, then signal the parameter's value."""

        def work(task: Task) -> str:
            path = resolve_name(_PRIORS).write_release(ledger, release, [data])
            return self._service.add_file(path, task.check)

        self._submit((study_id, key), work)

    def restore(self, paths: Mapping[str, str]) -> None:
        """Reopen files of a former session if unchanged.

        `paths` maps each value to the path of its file.
        """
        if paths:
            self._submit(_RESTORE, lambda task: _restore(self._service, dict(paths), task.check))

    def cancel(self) -> None:
        """Cancel reading; the running read fails as cancelled."""
        for key, job in self._jobs.items():
            if job.cancel():
                self._failed(key, ValueError("Opening was cancelled."))

    def close(self) -> None:
        """Stop reading and wait for the threads."""
        for job in self._jobs.values():
            job.close()

    def _submit(self, key: tuple[str, str], function: Callable[[Task], object]) -> None:
        if key not in self._jobs:
            job = self._jobs[key] = LatestJob("reading a file", self)
            job.done.connect(self._done)
            job.failed.connect(self._failed)
            job.busy_changed.connect(lambda _: self.busy_changed.emit(self.busy))
        self._jobs[key].submit(key, function)

    def _done(self, key: tuple[str, str], result: object) -> None:
        if key == _RESTORE:
            self.restored.emit(result)
        elif isinstance(result, _Listed):
            self.listed.emit(*key, result.ledger, result.releases)
        else:
            self.opened.emit(*key, result)

    def _failed(self, key: tuple[str, str], error: Exception) -> None:
        if key == _RESTORE:
            self.restored.emit([])
        else:
            self.failed.emit(*key, error)


@dataclass(frozen=True)
class _Listed:
    """Releases of a ledger: id and text of each."""

    ledger: Path | None
    releases: tuple[tuple[str, str], ...]


def _restore(service: StudyService, paths: dict[str, str], check: Callable[[], None]) -> list[str]:
    """Open unchanged files; return the names of the others."""
    lost = []
    for value, path in paths.items():
        try:
            same = service.add_file(Path(path), check) == value
        except OSError:
            same = False
        if not same:
            lost.append(value.rpartition("#")[0])
    return lost
