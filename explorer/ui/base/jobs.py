"""Background jobs in a thread: the newest request runs, older ones are dropped."""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.studies.base.study import Cancelled


@dataclass(frozen=True)
class Task:
    """Interface of a running job to check for cancellation and report progress.

    Attributes
    ----------
    check : callable
        Raises `Cancelled` when the job should stop.
    report : callable
        Emits its argument through the `progress` signal.
    """

    check: Callable[[], None]
    report: Callable[[object], None]

    def cancelled(self) -> bool:
        """Whether the job should stop, for libraries that poll."""
        try:
            self.check()
        except Cancelled:
            return True
        return False


@dataclass(frozen=True)
class _Job:
    number: int
    key: object
    function: Callable[[Task], Any]


class LatestJob(QObject):
    """Thread that runs the newest of the submitted functions.

    The thread starts with the first job and ends with `close`. Signals are emitted in the thread of
    this object; none is emitted for cancelled or replaced jobs.

    Parameters
    ----------
    name : str
        Name of the thread.
    parent : QObject, optional
    preempt_after_s : float
        How long a job may delay a newer one; by default it runs to its end.
    discard : callable
        Called, in either thread, with results that are no longer wanted.

    Signals
    -------
    progress(object, object)
        Key and progress value of a job.
    done(object, object)
        Key and return value of a job.
    failed(object, object)
        Key and exception of a job.
    busy_changed(bool)
    """

    progress = Signal(object, object)
    done = Signal(object, object)
    failed = Signal(object, object)
    busy_changed = Signal(bool)
    _delivered = Signal(object)
    _reported = Signal(int, object, object)

    def __init__(
        self,
        name: str,
        parent: QObject | None = None,
        *,
        preempt_after_s: float = math.inf,
        discard: Callable[[Any], object] = lambda _: None,
    ) -> None:
        super().__init__(parent)
        self._newest = 0
        self._oldest_valid = 0
        self.busy = False
        """Whether a job is running or waiting."""
        self._closed = False
        self._delivered.connect(self._receive)
        self._reported.connect(self._report)
        self._discard = discard
        self._worker = LatestWorker(
            self._carry_out,
            self._delivered.emit,
            name,
            preempt_after_s=preempt_after_s,
            discard=lambda result: discard(result[0]),
        )

    def submit(self, key: object, function: Callable[[Task], Any]) -> None:
        """Submit a function; it replaces a waiting one."""
        if self._closed:
            return
        self._newest += 1
        self._worker.submit(_Job(self._newest, key, function))
        self._set_busy(True)

    def cancel(self) -> bool:
        """Drop the waiting job and stop the running one at its next check; return whether any."""
        if not self.busy:
            return False
        self._oldest_valid = self._newest + 1
        self._worker.cancel()
        self._set_busy(False)
        return True

    def close(self) -> None:
        """Cancel, stop the thread and wait for it; no signals are emitted afterwards.

        Raises
        ------
        RuntimeError
            If it does not end in time.
        """
        self._closed = True
        self._worker.close()

    def _carry_out(self, job: _Job, check: Callable[[], None]) -> Generator[Any, None, None]:
        def report(value: object) -> None:
            self._reported.emit(job.number, job.key, value)

        check()
        yield (job.function(Task(check, report)),)

    def _report(self, number: int, key: object, value: object) -> None:
        if not self._closed and number >= self._oldest_valid:
            self.progress.emit(key, value)

    def _receive(self, delivery: Delivery) -> None:
        job: _Job = delivery.request
        if self._closed or job.number < self._oldest_valid:
            if delivery.result is not None:
                self._discard(delivery.result[0])
            return
        if delivery.result is not None:
            self.done.emit(job.key, delivery.result[0])
        elif delivery.error is not None:
            self.failed.emit(job.key, delivery.error)
        if delivery.finished and job.number == self._newest:
            self._set_busy(False)

    def _set_busy(self, busy: bool) -> None:
        if busy != self.busy:
            self.busy = busy
            self.busy_changed.emit(busy)
