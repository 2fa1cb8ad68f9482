"""List of running work, for the status bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from explorer.ui.base.styled import plain_label, tool_button

if TYPE_CHECKING:
    from explorer.checkins import Progress

CALM_MS = 250
"""Work shorter than this is not announced: the status bar would only flicker."""


@dataclass
class _Job:
    name: str
    cancel: Callable[[], None]
    last: bool
    busy: bool = False
    said: str = ""
    fraction: float | None = None


class Activity(QObject):
    """Collects what the controllers are busy with.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: dict[str, _Job] = {}

    def watch(
        self,
        key: str,
        name: str,
        busy_changed: SignalInstance,
        cancel: Callable[[], None],
        last: bool = False,
    ) -> None:
        """Listen to a controller's ``busy_changed(bool)``.

        Jobs that are `last` are named, and cancelled, after all others: answers, which are
        refined while a file is read or written.
        """
        job = self._jobs[key] = _Job(name, cancel, last)

        def set_busy(busy: bool) -> None:
            job.busy, job.said, job.fraction = busy, "", None
            self.changed.emit()

        busy_changed.connect(set_busy)

    def progress(self, key: str, said: str, fraction: float | None) -> None:
        """Tell how far a job is: words, and a fraction from 0 to 1 if it is known."""
        job = self._jobs[key]
        job.said, job.fraction = said, fraction
        self.changed.emit()

    def share(self, key: str, done: float | None) -> None:
        """Tell which share of a job is done, 0 to 1; None if that is not known (any more)."""
        job = self._jobs[key]
        if done != job.fraction:
            said = "" if done is None else f"{job.name} · {100 * min(max(done, 0.0), 1.0):.0f} %"
            self.progress(key, said, done)

    @property
    def running(self) -> list[_Job]:
        """The jobs that run, the one that `cancel` stops first."""
        return sorted((job for job in self._jobs.values() if job.busy), key=lambda job: job.last)

    def cancel(self) -> None:
        """Stop the job that is named first, and no other."""
        if running := self.running:
            running[0].cancel()


class ActivityBar(QWidget):
    """Words, a bar and a button; there only while something takes longer than a moment.

    No higher than a line of text: else the whole window would be laid out anew, and move, whenever
    it comes or goes.
    """

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self._activity = activity
        self.words = plain_label()
        self.bar = QProgressBar(textVisible=False, maximum=1000)
        self.bar.setFixedSize(110, 12)
        self.bar.setAccessibleName("Progress")
        tip = "Stop what is named first; what there is of an answer stays (Esc)"
        self.button = tool_button("Cancel", tip, quiet=True)
        self.button.setStyleSheet("padding: 0 6px;")
        self.button.clicked.connect(activity.cancel)
        line = self.fontMetrics().height() + 2
        self.button.setFixedHeight(line)
        self.setFixedHeight(line)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self.bar, self.words, self.button):
            layout.addWidget(widget)
        self._calm = QTimer(self, singleShot=True)
        self._calm.setInterval(CALM_MS)
        self._calm.timeout.connect(self._show)
        activity.changed.connect(self._changed)
        self.hide()

    def _changed(self) -> None:
        if not self._activity.running:
            self._calm.stop()
            self.hide()
        elif self.isVisible():
            self._show()
        elif not self._calm.isActive():
            self._calm.start()

    def _show(self) -> None:
        jobs = self._activity.running
        if not jobs:
            return
        said = [job.said or job.name for job in jobs]
        self.words.setText(f"● {' · '.join(said)}")
        fraction = jobs[0].fraction
        if fraction is not None:
            self.bar.setValue(round(1000 * min(max(fraction, 0.0), 1.0)))
        # A bar without an end would be painted 140 times a second, and there is none to show.
        self.bar.setVisible(fraction is not None)
        self.show()


def duration_words(ms: float) -> str:
    """Return a duration for reading: ``12 ms``, ``4.9 s``, ``75 s``."""
    if ms < 999.5:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 59_950 else f"{ms / 1000:.0f} s"


def progress_words(progress: Progress) -> tuple[str, float]:
    """Return what to say of a load, and how much of it is done."""
    said = f"{progress.stage} · {progress.rows:,} rows · {progress.bytes_done / 1e6:.0f} MB"
    if progress.seconds_left is not None:
        said += f" · {max(progress.seconds_left, 0):.0f} s left"
    return said, progress.fraction
