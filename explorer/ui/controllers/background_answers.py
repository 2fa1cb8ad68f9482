"""Evaluates secondary requests: pinned curves and rows of a comparison."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from explorer.engine.runtime import final_result
from explorer.engine.service import StudyService
from explorer.studies.base.study import Cancelled, Request, Result
from explorer.ui.base.jobs import LatestJob


class BackgroundAnswers(QObject):
    """Caches the best results of a list of requests; computes one at a time in a thread.

    Signals
    -------
    changed()
        Emitted when a result or an error is available.
    busy_changed(bool)
    """

    changed = Signal()
    busy_changed = Signal(bool)

    def __init__(self, service: StudyService, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._known: dict[Request, Result | Exception] = {}
        self._missing: list[Request] = []
        self._asked: Request | None = None
        self._job = LatestJob(name, self)
        self._job.done.connect(self._receive)
        self._job.failed.connect(self._receive)

    @property
    def busy(self) -> bool:
        """Whether results are pending."""
        return bool(self._missing)

    def set_requests(self, requests: Sequence[Request]) -> None:
        """Set the list of requests; compute those without result."""
        self._known = {r: a for r, a in self._known.items() if r in set(requests)}
        for request in requests:
            if request not in self._known:
                cached = self._service.runtime.cached_result(request)
                if cached is not None:
                    self._known[request] = cached
        self._set_missing([r for r in requests if r not in self._known])

    def result(self, request: Request) -> Result | None:
        """Return the result of a request, if available."""
        entry = self._known.get(request)
        return entry if isinstance(entry, Result) else None

    def error(self, request: Request) -> str:
        """Return the error of a request; empty if there is none."""
        entry = self._known.get(request)
        return str(entry) if isinstance(entry, Exception) else ""

    def forget_errors(self) -> None:
        """Allow failed and cancelled requests to be computed again."""
        self._known = {r: a for r, a in self._known.items() if isinstance(a, Result)}

    def cancel(self) -> None:
        """Drop pending requests."""
        if self._missing:
            self._known |= dict.fromkeys(self._missing, Cancelled("cancelled"))
            self._set_missing([])
            self.changed.emit()

    def close(self) -> None:
        """Stop the thread and wait."""
        self._job.close()

    def _set_missing(self, requests: list[Request]) -> None:
        before, self._missing = self.busy, requests
        if self._asked is not None and self._asked not in requests:
            self._job.cancel()
            self._asked = None
        if requests and self._asked is None:
            self._asked = requests[0]
            self._job.submit(
                requests[0],
                lambda task: self._service.call(final_result, requests[0], task.check),
            )
        if self.busy != before:
            self.busy_changed.emit(self.busy)

    def _receive(self, request: Request, outcome: Result | Exception) -> None:
        self._known[request] = outcome
        self._asked = None
        self._set_missing([r for r in self._missing if r != request])
        self.changed.emit()
