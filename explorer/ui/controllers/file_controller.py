"""Opening files: check-ins, and exported pictures and tables with a recipe inside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.engine.host import Host
from explorer.engine.recipe import Recipe, recipe_from_dict
from explorer.engine.session import Session
from explorer.figures.view_state import ViewState
from explorer.resources import samples
from explorer.studies.model import Selection
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.controllers.session_keeper import SessionKeeper
from explorer.ui.errors import Problem, explain

if TYPE_CHECKING:
    from explorer.checkins import CheckinData, Mapping

DATA_FILTER = "Check-ins (*.txt *.tsv *.csv *.gz *.parquet);;All files (*)"
RECIPE_FILTER = "Exported by Privacy Explorer (*.png *.svg *.pdf *.csv *.json);;All files (*)"


class FileController(QObject):
    """Decides what a file is and brings the window to it.

    Signals
    -------
    problem(Problem)
    followed(Recipe)
        The session now asks what a recipe asked.
    """

    problem = Signal(object)
    followed = Signal(object)

    def __init__(
        self,
        session: Session,
        host: Host,
        data: DataController,
        keeper: SessionKeeper,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._host, self._data, self._keeper = session, host, data, keeper
        self._waiting: Recipe | None = None
        self._wanted: Selection | None = keeper.selection
        self._path: Path | None = None
        data.loaded.connect(self._loaded)

    @property
    def waiting(self) -> Recipe | None:
        """A recipe whose data are not open yet."""
        return self._waiting

    def open_any(self, path: str | Path) -> None:
        """Open a file as what its first bytes say it is."""
        path = Path(path)
        try:
            is_recipe = looks_exported(path)
        except OSError as error:
            self.problem.emit(explain(error, "data"))
            return
        (self.open_recipe if is_recipe else self.open_data)(path)

    def open_data(self, path: str | Path, ask: bool = False) -> None:
        """Open check-ins; with `ask`, show how the columns are read first."""
        self._path = Path(path)
        self._data.open(self._path, self._columns_wanted(), ask=ask)

    def _columns_wanted(self) -> Mapping | None:
        """Return how a waiting recipe read this file's columns, if it says so."""
        from explorer.checkins import Mapping

        recipe = self._waiting
        if recipe is None or not recipe.columns or self._path.name != recipe.data_name:
            return None
        return Mapping(**recipe.columns)

    def open_sample(self) -> None:
        """Open the sample that ships with the program."""
        self._path = None
        self._data.open_sample()

    def choose_data(self, parent: QWidget, ask: bool = False) -> None:
        """Ask for a check-in file and open it; with `ask`, show how it is read first."""
        path, _ = QFileDialog.getOpenFileName(parent, "Open check-ins", self.folder(), DATA_FILTER)
        if path:
            self.open_data(path, ask)

    def choose_recipe(self, parent: QWidget) -> None:
        """Ask for an exported file and go back to what it shows."""
        path, _ = QFileDialog.getOpenFileName(
            parent, "Open recipe of an exported file", self.folder(), RECIPE_FILTER
        )
        if path:
            self.open_recipe(path)

    def open_recipe(self, path: str | Path) -> None:
        """Go back to what an exported file shows; its data are never opened by themselves."""
        from explorer.figures.read_recipe import recipe_of

        try:
            recipe = recipe_from_dict(recipe_of(Path(path)))
            ViewState.from_dict(recipe.view)
        except (ValueError, OSError) as error:
            self.problem.emit(explain(error, "recipe"))
            return
        self._keeper.note_file(path)
        selection = recipe.request.selection
        if selection is None or self._is_open(selection.data):
            self._follow(recipe)
            return
        self._waiting = recipe
        if any(s.sha256 == selection.data for s in samples()):
            self.open_sample()
            return
        name = f"“{recipe.data_name}”" if recipe.data_name else "its check-ins"
        self.problem.emit(
            Problem(
                "recipe",
                f"This picture was made from {name}, which is not open: open that file "
                "(File ▸ Open check-ins…) and the picture will come back.",
                f"sha256 of the file: {selection.data}",
            )
        )

    def _is_open(self, fingerprint: str) -> bool:
        try:
            self._host.data(fingerprint)
        except LookupError:
            return False
        return True

    def _follow(self, recipe: Recipe) -> None:
        self._waiting = None
        self._session.follow(recipe.request, "open recipe")
        self.followed.emit(recipe)

    def _loaded(self, data: CheckinData) -> None:
        """Remember the file; go on with a recipe or a selection that waited for it."""
        path, self._path = self._path, None
        self._keeper.data_path = str(path.resolve()) if path is not None else None
        if path is not None:
            self._keeper.note_file(path)
        waiting = self._waiting
        if waiting is not None:
            if waiting.request.selection.data == data.fingerprint:
                self._follow(waiting)
                return
            self.problem.emit(
                Problem(
                    "recipe",
                    f"{data.basename} is not the file the recipe was made from; the recipe "
                    "still waits for that one.",
                    f"sha256 wanted: {waiting.request.selection.data}\n"
                    f"sha256 of this file: {data.fingerprint}",
                )
            )
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted.data == data.fingerprint:
            self._session.replace_data(wanted)

    def folder(self) -> str:
        """Return where a file dialog starts: beside the file used last."""
        for path in self._keeper.recent:
            if os.path.isdir(os.path.dirname(path)):
                return os.path.dirname(path)
        return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def looks_exported(path: Path) -> bool:
    """Return whether a file is a picture or table of this program rather than check-ins.

    Raises
    ------
    OSError
        If the file can't be read.
    """
    with path.open("rb") as stream:
        head = stream.read(65536)
    if head.startswith((b"\x89PNG", b"%PDF-")):
        return True
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and b"<svg" in head:
        return True
    return start.startswith(b"{") or (start.startswith(b"#") and b"\n# recipe: " in head)
