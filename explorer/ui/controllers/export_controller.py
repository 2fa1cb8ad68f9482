"""Writes the answer in front to a file or the clipboard, beside the window's own work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from PySide6.QtCore import QByteArray, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from explorer.figures.animation.frames import Animation, with_frames
from explorer.figures.export_job import ExportJob, rendered
from explorer.figures.formats import ExportFormat
from explorer.files import write_whole
from explorer.studies.base.study import Request, Result
from explorer.ui.base.jobs import LatestJob, Task

DRAWS = Animation()
Answer = Callable[[Request, Callable[[], None]], Iterator[Result]]
"""``answer(request, check)`` yields results, of which the first are frames."""


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
    progress(float)
        The share that is done, of an animation.
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
        """Whether something is being exported."""
        return self._job.busy

    def start(self, job: ExportJob, animation: Animation = DRAWS) -> None:
        """Carry out a job, with these frames if it is an animation; one that runs is cancelled."""
        self._job.submit(job, lambda task: self._carry_out(job, animation, task))

    def cancel(self) -> None:
        """Let the job that runs write nothing."""
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
    """Put a picture (with its recipe) or a table on the clipboard."""
    mime = QMimeData()
    if form.clipboard.startswith("image/"):
        mime.setImageData(QImage.fromData(QByteArray(content)))
        mime.setData(form.clipboard, QByteArray(content))
    else:
        mime.setText(content.decode())
    QGuiApplication.clipboard().setMimeData(mime)
