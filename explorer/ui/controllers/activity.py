"""List of running work, for the status bar."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from explorer.ui.base.styled import plain_label, tool_button

if TYPE_CHECKING:
    from explorer.checkins import Progress

SHOW_AFTER_MS = 250
"""Jobs shorter than this are not shown, to avoid flicker."""


@dataclass
class _Job:
    name: str
    cancel: Callable[[], object]
    last: bool
    busy: bool = False
    message: str = ""
    fraction: float | None = None


class Activity(QObject):
    """Registry of running work.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: dict[str, _Job] = {}
        self._named: tuple[_Job | None, float] = (None, 0.0)
        """Job that the status bar names first, and since when in seconds."""

    def watch(
        self,
        key: str,
        name: str,
        busy_changed: SignalInstance,
        cancel: Callable[[], object],
        last: bool = False,
    ) -> None:
        """Register the ``busy_changed(bool)`` signal of a controller.

        Jobs that are `last` are listed, and cancelled, after all others: results refined while a
        file is read or written.
        """
        job = self._jobs[key] = _Job(name, cancel, last)

        def set_busy(busy: bool) -> None:
            job.busy, job.message, job.fraction = busy, "", None
            self.changed.emit()

        busy_changed.connect(set_busy)

    def progress(self, key: str, text: str, fraction: float | None) -> None:
        """Set the progress of a job: text, and a fraction from 0 to 1 if known."""
        job = self._jobs[key]
        job.message, job.fraction = text, fraction
        self.changed.emit()

    def share(self, key: str, done: float | None, text: str = "") -> None:
        """Set the fraction of a job that is done, or what it does while that is unknown (None)."""
        job = self._jobs[key]
        if done is not None:
            text = f"{job.name} · {100 * min(max(done, 0.0), 1.0):.0f} %"
        if (text, done) != (job.message, job.fraction):
            self.progress(key, text, done)

    @property
    def running(self) -> list[_Job]:
        """Running jobs; the first is the one stopped by `cancel`."""
        return sorted((job for job in self._jobs.values() if job.busy), key=lambda job: job.last)

    def cancel(self) -> None:
        """Stop the first job only."""
        if running := self.running:
            running[0].cancel()

    def note_named(self, job: _Job | None) -> None:
        """Note which job the status bar names first."""
        if job is not self._named[0]:
            self._named = job, time.monotonic()

    def escape(self) -> bool:
        """Stop the first job by Esc; return whether there was one to stop.

        A job that is `last` is stopped only once the status bar has named it for a while: Esc that
        comes when a file has just been read is not meant for the answer that follows.
        """
        running = self.running
        if not running:
            return False
        named, since = self._named
        seen = running[0] is named and time.monotonic() - since >= SHOW_AFTER_MS / 1000
        if running[0].last and not seen:
            return False
        running[0].cancel()
        return True


class ActivityBar(QWidget):
    """Text, progress bar and cancel button; visible only for longer work.

    Not higher than a text line, so that the window keeps its layout when it appears.
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
        self._calm.setInterval(SHOW_AFTER_MS)
        self._calm.timeout.connect(self._show)
        activity.changed.connect(self._changed)
        self.hide()

    def _changed(self) -> None:
        if not self._activity.running:
            self._calm.stop()
            self._activity.note_named(None)
            self.hide()
        elif self.isVisible():
            self._show()
        elif not self._calm.isActive():
            self._calm.start()

    def _show(self) -> None:
        jobs = self._activity.running
        if not jobs:
            return
        self._activity.note_named(jobs[0])
        text = [job.message or job.name for job in jobs]
        self.words.setText(f"● {' · '.join(text)}")
        fraction = jobs[0].fraction
        if fraction is not None:
            self.bar.setValue(round(1000 * min(max(fraction, 0.0), 1.0)))
        # An indeterminate bar would be repainted 140 times a second; the maximum hides it.
        self.bar.setVisible(fraction is not None)
        self.show()


def duration_words(ms: float) -> str:
    """Return a readable duration: ``12 ms``, ``4.9 s``, ``75 s``."""
    if ms < 999.5:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 59_950 else f"{ms / 1000:.0f} s"


def progress_words(progress: Progress) -> tuple[str, float]:
    """Return text and fraction of a load's progress."""
    text = f"{progress.stage} · {progress.rows:,} rows · {progress.bytes_done / 1e6:.0f} MB"
    if progress.seconds_left is not None:
        text += f" · {max(progress.seconds_left, 0):.0f} s left"
    return text, progress.fraction
