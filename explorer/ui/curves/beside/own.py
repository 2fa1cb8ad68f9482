"""Curves from users' files: chosen or dropped on the plot, read beside, kept in the session."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog

from explorer.engine.service import StudyService
from explorer.engine.session.own_curves import (
    CurveFile,
    OwnCurve,
    Plot,
    beside,
    imported,
    plot_of,
    read_curves,
)
from explorer.engine.session.session import Session
from explorer.figures.read_recipe import read_exported
from explorer.studies.base.study import Result
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import styled_label
from explorer.ui.controllers.file_controller import paths_in
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.curves.legend import Legend
from explorer.ui.curves.plot import BoundsPlot

SUFFIXES = (".csv", ".tsv", ".txt")
KINDS = f"Curves ({' '.join(f'*{suffix}' for suffix in SUFFIXES)});;All files (*)"
IMPORTS = (
    "Draw the curves of a CSV file, grey and dashed: x, y, name, role, or x and a column a curve. "
    "A file dropped on the plot is drawn, too"
)
MOST_TOLD = 200
"""Rows that are not drawn, in the details."""


class OwnCurves(QObject):
    """Brings curves of files to the plot in front, and takes them away.

    Parameters
    ----------
    session : Session
    service : StudyService
    plot : BoundsPlot
        Takes files that are dropped on it, if they may hold curves; others are the window's.
    legend : Legend

    action : QAction
        Asks for a file.
    """

    def __init__(
        self,
        session: Session,
        service: StudyService,
        plot: BoundsPlot,
        legend: Legend,
        action: QAction,
    ) -> None:
        super().__init__(plot)
        self._session, self._service, self._plot = session, service, plot
        self._window: WorkspaceHost | None = None
        action.triggered.connect(self.choose)
        plot.viewport().setAcceptDrops(True)
        plot.viewport().installEventFilter(self)
        self.job = LatestJob("reading curves", self, preempt_after_s=0.0)
        self.job.done.connect(self._read)
        self.job.failed.connect(self._failed)
        legend.remove_wanted.connect(self.remove)
        self.hint = styled_label("card", word_wrap=True)
        self.hint.setParent(plot)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.hide()

    def join(self, window: WorkspaceHost) -> None:
        """Tell a window what happens, and let it open what holds no curves."""
        self._window = window
        window.activity.watch("curves", "reading curves", self.job.busy_changed, self.cancel)

    def cancel(self) -> None:
        """Forget the file that is read."""
        self.job.cancel()

    def close(self) -> None:
        """Stop, and wait for the thread."""
        self.job.close()

    @property
    def here(self) -> tuple[OwnCurve, ...]:
        """Those in the plot in front."""
        state = self._session.state
        plot = plot_of(state.request) if state.own else None
        return tuple(curve for curve in state.own if curve.plot == plot)

    def beside(self, result: Result) -> Result:
        """Return an answer with the curves of its plot."""
        return beside(result, self._session.state.own)

    def choose(self) -> None:
        """Ask for a file and draw its curves."""
        folder = self._window.files.folder() if self._window is not None else ""
        path, _ = QFileDialog.getOpenFileName(self._plot, "Import curve", folder, KINDS)
        if path:
            self.take(Path(path))

    def take(self, path: Path) -> None:
        """Draw the curves of a file in the plot in front."""
        plot = plot_of(self._session.state.request)
        self.job.submit(path, partial(self._look, path, plot))

    def remove(self, key: str) -> None:
        """Take a curve out of the plot in front."""
        gone = [curve for curve in self.here if curve.key == key]
        left = tuple(curve for curve in self._session.state.own if curve not in gone)
        self._session.set_own(left, "remove curve")

    def _look(self, path: Path, plot: Plot, task: Task) -> CurveFile | None:
        if self._service.call(read_exported, (path, None), task.check) is not None:
            return None
        read: CurveFile = self._service.call(read_curves, (path, plot), task.check)
        return read

    def _read(self, path: Path, found: CurveFile | None) -> None:
        if found is None:  # what this program exported comes back as it was
            if self._window is not None:
                self._window.files.open_recipe(path)
            return
        try:
            own = imported(self._session.state.own, found.curves)
        except ValueError as error:
            self._tell(explain(error, "curves"))
            return
        self._session.set_own(own, "import curve")
        count, file = len(found.curves), found.curves[0].file
        if self._window is not None:
            curves = "curve" if count == 1 else "curves"
            self._window.show_status(f"{count} {curves} of {file} drawn, grey and dashed.")
        if found.rejected:
            bad = len(found.rejected)
            rows = "1 row is" if bad == 1 else f"{bad:,} rows are"
            sentence = f"{rows} not drawn: {found.rejected[0]}."
            self._tell(Problem("curves", sentence, "\n".join(found.rejected[:MOST_TOLD])))

    def _failed(self, path: Path, error: Exception) -> None:
        problem = explain(error, "curves")
        window = self._window
        if window is not None:
            problem = replace(
                problem, remedy="Open as check-ins", do=lambda: window.files.open_data(path)
            )
        self._tell(problem)

    def _tell(self, problem: Problem) -> None:
        if self._window is not None:
            self._window.show_problem(problem)

    # Files over the plot

    def eventFilter(self, _target: QObject, event: QEvent) -> bool:
        """Take one file that may hold curves; all else goes on to the window."""
        if isinstance(event, QDropEvent):  # entering and moving are drops, too
            path = _curve_file(event.mimeData())
            if path is None:
                return False
            event.acceptProposedAction()
            dropped = not isinstance(event, QDragEnterEvent | QDragMoveEvent)
            self._hint("" if dropped else path.name)
            if dropped:
                self.take(path)
            return True
        if event.type() is QEvent.Type.DragLeave:
            self._hint("")
        return False

    def _hint(self, name: str) -> None:
        """Say over the plot what dropping does; without a name nothing."""
        self.hint.setVisible(bool(name))
        if name:
            self.hint.setText(f"Drop to draw the curves of {name[:60]} here, grey and dashed")
            self.hint.adjustSize()
            self.hint.resize(self.hint.width() + 32, self.hint.height() + 24)
            self.hint.move(self._plot.rect().center() - self.hint.rect().center())
            self.hint.raise_()


def _curve_file(mime: QMimeData) -> Path | None:
    """Return the file that is dragged, if it is one and may hold curves."""
    paths = paths_in(mime)
    if len(paths) != 1 or Path(paths[0]).suffix.lower() not in SUFFIXES:
        return None
    return Path(paths[0])
