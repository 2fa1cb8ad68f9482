"""What an export will look like, drawn as it will be, only smaller."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QByteArray, Qt, Slot
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from explorer.figures.export_job import ExportJob, rendered
from explorer.figures.formats import Kind, by_suffix
from explorer.ui.base.jobs import LatestJob, Task

LEAST_DPI = 30


class ExportPreview(QLabel):
    """Draws the newest job, on the same sheet with the same letters, in as many dots as it has.

    Parameters
    ----------
    worker : LatestJob
        Draws beside the interface; outlives this.
    """

    def __init__(self, worker: LatestJob) -> None:
        super().__init__("drawing…", textFormat=Qt.TextFormat.PlainText)
        self._worker = worker
        self._job: ExportJob | None = None
        self.setAccessibleName("Preview")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(380, 240)
        worker.done.connect(self._show)
        worker.failed.connect(self._say_why)

    def show_job(self, job: ExportJob) -> None:
        """Draw a job soon, or say that its format is no picture."""
        self._job = job
        if job.format.kind is Kind.NUMBERS:
            self._worker.cancel()
            self.setText(f"{job.format.name} holds numbers: nothing is drawn.")
            return
        ratio = self.devicePixelRatioF()
        wide, high = job.size_px
        share = min(self.width() * ratio / wide, self.height() * ratio / high, 1.0)
        share = max(share, LEAST_DPI / job.dpi, 100 / min(wide, high))
        small = replace(
            job,
            format=by_suffix("png"),
            path=None,
            size_px=(max(round(wide * share), 100), max(round(high * share), 100)),
            dpi=max(job.dpi * share, LEAST_DPI),
        )
        self._worker.submit(self, partial(_drawn, small))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw again in the new size."""
        super().resizeEvent(event)
        if self._job is not None:
            self.show_job(self._job)

    @Slot(object, object)
    def _show(self, key: object, content: bytes) -> None:
        if key is self:
            picture = QPixmap()
            picture.loadFromData(QByteArray(content))
            ratio = self.devicePixelRatioF()
            fitting = picture.scaled(
                self.size() * ratio,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            shown = picture if picture.width() <= fitting.width() else fitting
            shown.setDevicePixelRatio(ratio)
            self.setPixmap(shown)
            self.setAccessibleDescription(f"{picture.width()} × {picture.height()} dots")

    @Slot(object, object)
    def _say_why(self, key: object, error: Exception) -> None:
        if key is self:
            self.setText(f"{error}.")


def _drawn(job: ExportJob, task: Task) -> bytes:
    task.check()
    return rendered(job)
