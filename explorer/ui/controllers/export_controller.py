"""Writes results to files or the clipboard in a thread: one answer, or all quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from explorer.engine.runtime import final_result
from explorer.engine.service import StudyService
from explorer.engine.session.plot_view import hidden_keys
from explorer.engine.session.session import SessionState, with_quantity
from explorer.figures.animation_frames import Animation, with_frames
from explorer.figures.export import ExportJob, rendered
from explorer.figures.formats import ExportFormat, by_suffix
from explorer.figures.view_state import ViewState
from explorer.files import write_whole
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import Request, Result
from explorer.studies.registry import get_study
from explorer.ui.base.jobs import LatestJob, Task

DRAWS = Animation()
Answer = Callable[[Request, Callable[[], None]], Iterator[Result]]
"""``answer(request, check)`` yields results; the first ones are frames."""


class ExportController(QObject):
    """Runs one export at a time in a thread.

    Rendering cannot be interrupted; a cancelled export writes nothing.

    Signals
    -------
    done(ExportJob)
        Emitted when the file is complete or the clipboard is set.
    failed(Exception)
    cancelled()
    busy_changed(bool)
    progress(float)
        Completed share of an animation.
    """

    done = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)
    progress = Signal(float)

    def __init__(self, answer: Answer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answer = answer
        self._job = LatestJob("export", self, preempt_after_s=0.0)
        self._job.done.connect(self._written)
        self._job.failed.connect(lambda _job, error: self.failed.emit(error))
        self._job.progress.connect(lambda _job, done: self.progress.emit(done))
        self._job.busy_changed.connect(self.busy_changed)

    @property
    def busy(self) -> bool:
        """Whether an export is running."""
        return self._job.busy

    def start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        """Run a job, with its frames if it is an animation; a running one is cancelled."""
        self._job.submit(job, lambda task: self._carry_out(job, animation, task))

    def cancel(self) -> None:
        """Cancel the running job; it writes nothing."""
        if self._job.cancel():
            self.cancelled.emit()

    def close(self) -> None:
        """Cancel and wait for the thread; nothing is signalled afterwards."""
        self._job.close()

    def _carry_out(self, job: ExportJob, animation: Animation, task: Task) -> bytes:
        def report(done: float) -> None:
            task.check()
            task.report(done)

        job = with_frames(replace(job, report=report), animation, self._answer, task.check)
        content = rendered(job)
        task.check()
        if job.path is not None:
            write_whole(job.path, content)
        return content

    def _written(self, job: ExportJob, content: bytes) -> None:
        if job.path is None:
            _copy(job.format, content)
        self.done.emit(job)


def _copy(form: ExportFormat, content: bytes) -> None:
    """Copy a picture (with its recipe) or a table to the clipboard."""
    mime = QMimeData()
    if form.clipboard.startswith("image/"):
        mime.setImageData(QImage.fromData(QByteArray(content)))
        mime.setData(form.clipboard, QByteArray(content))
    else:
        mime.setText(content.decode())
    QGuiApplication.clipboard().setMimeData(mime)


SUFFIXES = ("pdf", "csv")
Recipes = Callable[[Request, ViewState], Mapping[str, Any]]


class ExportAll(QObject):
    """Exports all quantities in a thread; after cancellation complete files stay.

    Signals
    -------
    done(Path, int)
        The folder and the number of files written.
    failed(Exception)
    busy_changed(bool)
    progress(float)
    """

    done = Signal(object, int)
    failed = Signal(object)
    busy_changed = Signal(bool)
    progress = Signal(float)

    def __init__(self, service: StudyService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._job = LatestJob("export of all", self, preempt_after_s=0.0)
        self._job.done.connect(lambda folder, written: self.done.emit(folder, written))
        self._job.failed.connect(lambda _folder, error: self.failed.emit(error))
        self._job.busy_changed.connect(self.busy_changed)
        self._job.progress.connect(lambda _folder, share: self.progress.emit(share))

    @property
    def busy(self) -> bool:
        """Whether an export is running."""
        return self._job.busy

    def start(self, state: SessionState, theme: str, recipe: Recipes, parent: Path) -> None:
        """Export all quantities of the current study into a new subfolder.

        Parameters
        ----------
        state : SessionState
        theme : str
        recipe : callable
            Returns the recipe of a request under a view.
        parent : Path
        """
        names = chain([state.study], (f"{state.study}-{n}" for n in count(2)))
        folder = next(parent / name for name in names if not (parent / name).exists())
        self._job.submit(folder, lambda task: self._write(state, theme, recipe, folder, task))

    def cancel(self) -> None:
        """Cancel the export."""
        self._job.cancel()

    def close(self) -> None:
        """Cancel, and wait for the thread."""
        self._job.close()

    def _write(
        self, state: SessionState, theme: str, recipe: Recipes, folder: Path, task: Task
    ) -> int:
        keys = [q.key for q in get_study(state.study).quantities]
        folder.mkdir()
        for place, key in enumerate(keys):
            request = with_quantity(state.request_of(state.study), key)
            result = self._service.call(final_result, request, task.check)
            view = window_view(state, result, theme)
            for suffix in SUFFIXES:
                task.check()
                job = ExportJob(result, view, recipe(request, view), by_suffix(suffix))
                write_whole(folder / f"{state.study}-{key}.{suffix}", rendered(job))
            task.report((place + 1) / len(keys))
        return len(keys) * len(SUFFIXES)


def window_view(state: SessionState, result: Result, theme: str) -> ViewState:
    """Return the view in which the window would show a result."""
    request = result.request
    look = state.look_of(request.study, request.quantity)
    claim = state.claim_of(request.study, request.quantity)
    claim_result = evaluate_claim(result, claim)
    keys = [series.key for series in result.series]
    hidden = hidden_keys(
        look, request, keys, claim_result.series.key if claim_result is not None else ""
    )
    return ViewState.for_result(
        result, theme=theme, y_log=look.y_log, hidden=tuple(sorted(hidden)), claim=claim
    )
