"""Opening files: check-ins, and exported pictures and tables with a recipe inside."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.checkins.model import Mapping
from explorer.checkins.readers import file_patterns
from explorer.engine.service import StudyService
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import Session
from explorer.figures.formats import recipe_formats
from explorer.figures.read_recipe import read_exported
from explorer.figures.view_state import ViewState
from explorer.resources import samples
from explorer.studies.base.study import Selection
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.session_store import SessionStore

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


class FileController(QObject):
    """Decides what a file is and brings the window to it.

    Signals
    -------
    problem(Problem)
    followed(Recipe)
        The session now asks what a recipe asked.
    recognised()
        What a file is has been found out, and what it asks for is done or on its way.
    busy_changed(bool)
    """

    problem = Signal(object)
    followed = Signal(object)
    recognised = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        data: DataController,
        keeper: SessionStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._service, self._data, self._keeper = session, service, data, keeper
        self.waiting: Recipe | None = None
        """A recipe whose data are not open yet."""
        self._wanted: Selection | None = keeper.selection
        self._path: Path | None = None
        data.loaded.connect(self._loaded)
        self._reading = LatestJob("reading a file", self, preempt_after_s=0.0)
        self._reading.done.connect(self._recognised)
        self._reading.failed.connect(self._unreadable)
        self._reading.busy_changed.connect(self.busy_changed)
        self._coming = False

    @property
    def busy(self) -> bool:
        """Whether a file is being looked at."""
        return self._reading.busy

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self._reading.close()

    def cancel(self) -> None:
        """Forget the file that is being looked at."""
        self._reading.cancel()

    def open_any(self, path: str | Path) -> None:
        """Open a file as what its first bytes say it is."""
        self._coming = False
        self._look_at(Path(path), exported=None)

    def open_recipe(self, path: str | Path, coming: bool = False) -> None:
        """Go back to what an exported file shows; its data are never opened by themselves.

        `coming` tells that check-ins are about to be opened.
        """
        self._coming = coming
        self._look_at(Path(path), exported=True)

    def _look_at(self, path: Path, exported: bool | None) -> None:
        """Find out what a file is, in the other process: disks are slow, and it may be anything.

        `exported` is None if it may also be check-ins.
        """
        self._reading.submit(
            path,
            lambda task: self._service.call(read_exported, (path, exported), task.check),
        )

    def _recognised(self, path: Path, raw: dict[str, Any] | None) -> None:
        if raw is None:
            self.open_data(path)
        else:
            self._take_recipe(path, raw)
        self.recognised.emit()

    def _unreadable(self, _path: Path, error: Exception) -> None:
        self.problem.emit(explain(error, "recipe" if isinstance(error, ValueError) else "data"))
        self.recognised.emit()

    def open_data(self, path: str | Path, ask: bool = False) -> None:
        """Open check-ins; with `ask`, show how the columns are read first."""
        self._path = Path(path)
        wanted = self._wanted.region.plane if self._wanted is not None else None
        again = wanted is not None and str(self._path) == self._keeper.data_path
        plane = wanted.text if wanted is not None and again else ""
        self._data.open(self._path, self._columns_wanted(), ask=ask, plane=plane)

    def _columns_wanted(self) -> Mapping | None:
        """Return how a waiting recipe read this file's columns, if it says so."""
        recipe, path = self.waiting, self._path
        if recipe is None or not recipe.columns or path is None or path.name != recipe.data_name:
            return None
        return Mapping(**recipe.columns)

    def open_sample(self) -> None:
        """Open the sample that ships with the program."""
        self._path = None
        self._data.open_sample()

    def choose_data(self, parent: QWidget, ask: bool = False) -> None:
        """Ask for a check-in file and open it; with `ask`, show how it is read first."""
        kinds = f"Check-ins ({file_patterns()});;All files (*)"
        path, _ = QFileDialog.getOpenFileName(parent, "Open check-ins", self.folder(), kinds)
        if path:
            self.open_data(path, ask)

    def choose_recipe(self, parent: QWidget) -> None:
        """Ask for an exported file and go back to what it shows."""
        patterns = " ".join(f"*.{f.suffix}" for f in recipe_formats())
        path, _ = QFileDialog.getOpenFileName(
            parent, "Open recipe of an exported file", self.folder(),
            f"Exported by Privacy Explorer ({patterns});;All files (*)",
        )  # fmt: skip
        if path:
            self.open_recipe(path)

    def _take_recipe(self, path: Path, raw: dict[str, Any]) -> None:
        """Ask what a recipe asks, now or once its data are open."""
        try:
            recipe = recipe_from_dict(raw)
            ViewState.from_dict(recipe.view)
        except ValueError as error:
            self.problem.emit(explain(error, "recipe"))
            return
        self._keeper.note_file(path)
        selection = recipe.request.selection
        if recipe.part is not None and self._session.state.selection is None:
            self.waiting = recipe
            if self._coming:
                return
            self._say(
                "This file holds settings and not of which check-ins: open check-ins "
                "(File ▸ Open check-ins…) and they will be asked the same."
            )
            return
        if selection is None or self._is_open(selection.data):
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

    def _is_open(self, fingerprint: str) -> bool:
        try:
            self._service.runtime.data(fingerprint)
        except LookupError:
            return False
        return True

    def _follow(self, recipe: Recipe) -> None:
        self.waiting = None
        request, present = recipe.request, self._session.state
        if recipe.part is not None and present.selection is not None:
            # Neither the draw nor its data are told: both stay as they are.
            seed = present.request_of(request.study).seed
            request = replace(request, selection=recipe.part.of(present.selection), seed=seed)
        self._session.follow(request, "open recipe")
        self.followed.emit(recipe)
        if recipe.left_out:
            first, *others = recipe.left_out
            more = f" (and {len(others)} more)" if others else ""
            self._say(f"A part of the recipe could not be read: {first}{more}.")

    def _loaded(self, data: CheckinData) -> None:
        """Remember the file; go on with a recipe or a selection that waited for it."""
        path, self._path = self._path, None
        self._keeper.data_path = str(path.resolve()) if path is not None else None
        if path is not None:
            self._keeper.note_file(path)
        waiting = self.waiting
        selection = waiting.request.selection if waiting is not None else None
        if waiting is not None and waiting.part is None and selection is not None:
            if selection.data == data.fingerprint:
                self._follow(waiting)
                return
            self._say(
                f"{data.basename} is not the file the recipe was made from; the recipe "
                "still waits for that one.",
                f"sha256 wanted: {selection.data}\nsha256 of this file: {data.fingerprint}",
            )
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted.data == data.fingerprint:
            self._session.replace_data(wanted)
        if waiting is not None and waiting.part is not None:
            self._follow(waiting)

    def folder(self) -> str:
        """Return where a file dialog starts: beside the file used last."""
        for path in self._keeper.recent:
            if os.path.isdir(os.path.dirname(path)):
                return os.path.dirname(path)
        return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def paths_in(mime: QMimeData) -> list[str]:
    """Return the files that are dragged here, of all that is."""
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
