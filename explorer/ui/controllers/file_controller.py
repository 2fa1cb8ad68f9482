"""Opens files: check-ins, exported pictures and tables with a recipe, and values of parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping as Table, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QObject, QStandardPaths, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from explorer.checkins.model import Mapping
from explorer.checkins.readers import file_patterns
from explorer.checkins.workers import warm_workers
from explorer.engine.service import StudyService
from explorer.engine.session.link import is_link, recipe_of
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import Session
from explorer.figures.formats import recipe_formats
from explorer.figures.recipes import read_exported
from explorer.figures.view_state import ViewState
from explorer.geography.background import lies_behind
from explorer.resources import samples
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Selection
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.startup_tuning import WORKERS_EARLY
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.session_store import SessionStore

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


def warm_readers() -> None:
    """Start the reader processes for binary formats, if needed."""
    if WORKERS_EARLY:
        warm_workers(2)


class FileController(QObject):
    """Detects the type of a file and opens it.

    Signals
    -------
    problem(Problem)
    followed(Recipe)
        A recipe has been applied to the session.
    opened()
        Check-ins requested by the user are open, and no recipe waited for them.
    background(Path)
        A file holds no check-ins but what lies behind the map.
    recognised()
        The type of a file is known and its opening has started.
    busy_changed(bool)
    """

    problem = Signal(object)
    followed = Signal(object)
    opened = Signal()
    background = Signal(object)
    recognised = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        data: DataController,
        session_store: SessionStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._service, self._data, self._session_store = (
            session,
            service,
            data,
            session_store,
        )
        self.waiting: Recipe | None = None
        """Recipe whose data are not open yet."""
        self._wanted: Selection | None = session_store.selection
        self._paths: tuple[Path, ...] = ()
        self._asked_for = False
        data.loaded.connect(self._loaded)
        data.reread.connect(self._reread)
        self._reading = LatestJob("reading a file", self, preempt_after_s=0.0)
        self._reading.done.connect(self._recognised)
        self._reading.failed.connect(self._unreadable)
        self._reading.busy_changed.connect(self.busy_changed)
        self._coming = False

    @property
    def busy(self) -> bool:
        """Whether a file is being inspected."""
        return self._reading.busy

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self._reading.close()

    def cancel(self) -> None:
        """Cancel the inspection of a file."""
        self._reading.cancel()

    def open_any(self, path: str | Path, *others: str | Path) -> None:
        """Open a file by its content; several files are check-ins."""
        self._coming = False
        if others:
            self.open_data([Path(path), *map(Path, others)])
        else:
            self._look_at(Path(path), exported=None)

    def open_recipe(self, path: str | Path, coming: bool = False) -> None:
        """Restore the view of an exported file; its data are not opened automatically.

        `coming` states that check-ins are about to be opened.
        """
        self._coming = coming
        self._look_at(Path(path), exported=True)

    def open_link(self, text: str, coming: bool = False) -> None:
        """Apply a link; `coming` as for `open_recipe`."""
        self._coming = coming
        try:
            self._take_recipe(recipe_of(text))
        except ValueError as error:
            self.problem.emit(explain(error, "recipe"))
        self.recognised.emit()

    def choose_link(self, parent: QWidget) -> None:
        """Ask for a link, initially from the clipboard, and apply it."""
        copied = QGuiApplication.clipboard().text().strip()
        text, given = QInputDialog.getText(
            parent,
            "Open link",
            "What Edit ▸ Copy link put on the clipboard:",
            text=copied if is_link(copied) else "",
        )
        if given and text.strip():
            self.open_link(text)

    def _look_at(self, path: Path, exported: bool | None) -> None:
        """Detect the type of a file in the compute process: disks are slow.

        `exported` is None if the file may also be check-ins.
        """

        def look(task: Task) -> dict[str, Any] | Path | None:
            if exported is None and lies_behind(path):
                return path
            raw: dict[str, Any] | None = self._service.call(
                read_exported, (path, exported), task.check
            )
            return raw

        self._reading.submit(path, look)

    def _recognised(self, path: Path, raw: dict[str, Any] | Path | None) -> None:
        if isinstance(raw, Path):
            self.background.emit(raw)
        elif raw is None:
            self.open_data(path)
        else:
            self._session_store.note_file(path)
            self._take_recipe(raw)
        self.recognised.emit()

    def _unreadable(self, _path: Path, error: Exception) -> None:
        self.problem.emit(explain(error, "recipe" if isinstance(error, ValueError) else "data"))
        self.recognised.emit()

    def open_data(
        self, source: str | Path | Sequence[Path], ask: bool = False, at_start: bool = False
    ) -> None:
        """Open check-ins; with `ask`, confirm the columns first.

        `at_start` if the user did not request it now.
        """
        self._asked_for = not at_start
        self._paths = (Path(source),) if isinstance(source, str | Path) else tuple(source)
        again = self._paths == self._session_store.data_source
        region = self._wanted.region if self._wanted is not None and again else None
        plane = region.plane.text if region is not None and region.plane is not None else ""
        columns, layer, confirmed = self._stored_columns()
        self._data.open(
            self._paths,
            columns if confirmed else None,
            ask=ask,
            plane=plane,
            region=region,
            layer=layer,
            former=None if confirmed else columns,
        )

    def _stored_columns(self) -> tuple[Mapping | None, str, bool]:
        """Return the stored mapping for files, and their layer or sheet.

        From a waiting recipe about files of this name, or from the last time. The third value
        states whether column names were stored: older mappings may hold a user column that was
        never confirmed.
        """
        recipe, paths = self.waiting, self._paths
        columns = (
            dict(self._session_store.data_columns)
            if paths == self._session_store.data_source
            else {}
        )
        if recipe is not None and recipe.columns and paths:
            first = min(paths)  # same rule as `DataFiles.name`
            name = f"{first.name} and {len(paths) - 1} more" if len(paths) > 1 else first.name
            columns = dict(recipe.columns) if name == recipe.data_name else columns
        if not columns:
            return None, "", True
        layer, confirmed = columns.pop("layer", ""), "names" in columns
        columns.pop("names", None)
        return Mapping(**columns), layer, confirmed

    def open_sample(self) -> None:
        """Open the bundled sample."""
        self._paths = ()
        self._data.open_sample()

    def choose_data(self, parent: QWidget, ask: bool = False) -> None:
        """Ask for check-in files and open them; with `ask`, confirm the columns first."""
        warm_readers()
        kinds = f"Check-ins ({file_patterns()});;All files (*)"
        paths, _ = QFileDialog.getOpenFileNames(parent, "Open check-ins", self.folder(), kinds)
        if paths:
            self.open_data([Path(path) for path in paths], ask)

    def choose_folder(self, parent: QWidget) -> None:
        """Ask for a folder of check-in files and open them as one data set."""
        warm_readers()
        path = QFileDialog.getExistingDirectory(parent, "Open a folder of check-ins", self.folder())
        if path:
            self.open_data(path)

    def choose_recipe(self, parent: QWidget) -> None:
        """Ask for an exported file and restore its view."""
        patterns = " ".join(f"*.{f.suffix}" for f in recipe_formats())
        path, _ = QFileDialog.getOpenFileName(
            parent,
            "Open recipe of an exported file",
            self.folder(),
            f"Exported by Privacy Explorer ({patterns});;All files (*)",
        )
        if path:
            self.open_recipe(path)

    def _take_recipe(self, raw: dict[str, Any]) -> None:
        """Apply a recipe, now or once its data are open."""
        try:
            recipe = recipe_from_dict(raw)
            ViewState.from_dict(recipe.view)
        except ValueError as error:
            self.problem.emit(explain(error, "recipe"))
            return
        selection = recipe.request.selection
        if recipe.part is not None and self._session.state.selection is None:
            self.waiting = recipe
            if self._coming:
                return
            self._say(
                "This holds settings and not of which check-ins: open check-ins "
                "(File ▸ Open check-ins…) and they will be asked the same."
            )
            return
        if selection is None or self._is_open(selection):
            self._follow(recipe)
            return
        self.waiting = recipe
        if any(s.sha256 == selection.data for s in samples()):
            self.open_sample()
            return
        name = f"“{recipe.data_name}”" if recipe.data_name else "its check-ins"
        self._say(
            f"This picture was made from {name}, which is not open: open that file "
            "(File ▸ Open check-ins…) and the picture will come back.",
            f"sha256 of the file: {selection.data}",
        )

    def _say(self, sentence: str, detail: str = "") -> None:
        self.problem.emit(Problem("recipe", sentence, detail))

    def _is_open(self, selection: Selection) -> bool:
        try:
            return self._service.runtime.data(selection.data).unit == selection.unit
        except LookupError:
            return False

    def _follow(self, recipe: Recipe) -> None:
        self.waiting = None
        request, present = recipe.request, self._session.state
        if recipe.part is not None and present.selection is not None:
            # The recipe contains neither the noise draw nor the data: both stay unchanged.
            seed = present.request_of(request.study).seed
            request = replace(request, selection=recipe.part.of(present.selection), seed=seed)
        # The view is part of the same undo step.
        zone = recipe.columns.get("zone") if recipe.columns else ""
        self._session.follow(
            request, "open recipe", which=recipe.which, grid=recipe.grid, zone=zone
        )
        self.followed.emit(recipe)
        if recipe.left_out:
            first, *others = recipe.left_out
            more = f" (and {len(others)} more)" if others else ""
            self._say(f"A part of the recipe could not be read: {first}{more}.")

    def _reread(self, data: CheckinData) -> None:
        """Store how the open file is read."""
        self._session_store.note_columns(data.columns)

    def _loaded(self, data: CheckinData) -> None:
        """Store the file in the list; apply a waiting recipe or selection."""
        paths, self._paths = self._paths, ()
        self._session_store.note_data(paths, data.columns)
        waiting = self.waiting
        asked_for, self._asked_for = self._asked_for, False
        selection = waiting.request.selection if waiting is not None else None
        if waiting is not None and waiting.part is None and selection is not None:
            if selection.data == data.fingerprint:
                # The present answer about the privacy unit overrides the stored one.
                there = replace(selection, unit=Unit(data.unit))
                request = replace(waiting.request, selection=there)
                self._follow(replace(waiting, request=request))
                return
            self._say(
                f"{data.basename} is not the file the recipe was made from; the recipe "
                "still waits for that one.",
                f"sha256 wanted: {selection.data}\nsha256 of this file: {data.fingerprint}",
            )
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted.data == data.fingerprint:
            self._session.replace_data(replace(wanted, unit=Unit(data.unit)))
        if waiting is not None and waiting.part is not None:
            self._follow(waiting)
        elif asked_for:
            self.opened.emit()

    def folder(self) -> str:
        """Return the start folder of a file dialog: that of the last file."""
        for path in self._session_store.recent:
            if os.path.isdir(os.path.dirname(path)):
                return os.path.dirname(path)
        return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def paths_in(mime: QMimeData) -> list[str]:
    """Return the local files among dragged items."""
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]


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

    def restore(self, paths: Table[str, str]) -> None:
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
