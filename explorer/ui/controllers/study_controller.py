"""Requests answers: for the state of one workspace, and secondary ones in background."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal

from explorer.engine.compute.latest import Delivery
from explorer.engine.runtime import final_result
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.study import Cancelled, Request, Result
from explorer.studies.registry import get_study
from explorer.ui.base.jobs import LatestJob

_ARRIVED = QEvent.Type(QEvent.registerEventType())
LATE_MS = 120
"""Time without a new result after which the shown one is marked as stale."""


class StudyController(QObject):
    """Submits the request of one workspace when it changes, and emits the results.

    Results are delivered in order. One that is older than the last delivered, or of another study
    or data set, is dropped. One that merely lags behind a moving slider is delivered: otherwise
    nothing would be shown during a drag. A curve may come after the number of a newer value
    (`LatestWorker`): it is delivered, and that number once more, so that the number never goes
    back.

    Signals
    -------
    result_ready(Result, float)
        A result and the milliseconds since its computation began.
    failed(Exception)
        The error.
    busy_changed(bool)
        Whether anything is running or waiting.
    stale_changed(bool)
        Whether the last delivered result has been stale for a while; at once if the newest request
        failed. Also emitted while it stays stale, when `busy` changes.
    """

    result_ready = Signal(object, float)
    failed = Signal(object)
    busy_changed = Signal(bool)
    stale_changed = Signal(bool)

    def __init__(
        self, session: Session, service: StudyService, workspace: str, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._workspace = workspace
        self._study_id: str | None = None
        self.request: Request | None = None
        """Newest request submitted."""
        self._newest_shown = 0
        self._number: Delivery | None = None
        """The last delivery, if it was a number whose curve follows."""
        self._oldest_valid = 0
        self.busy = False
        """Whether a result is pending."""
        self._closed = False
        self.stale = False
        """Whether the last result is marked as stale."""
        self._answered: Request | None = None
        self._late = QTimer(self, singleShot=True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(lambda: self._set_stale(self._answered != self.request))
        self._arrived: deque[Delivery] = deque()
        self.runner = service.answers(workspace, self._arrive)
        session.changed.connect(self._state_changed)

    def refresh(self) -> None:
        """Submit the current request, if its study is current and its data are available.

        Former requests are dropped: files and check-ins may differ under the same name.
        """
        self._ask(self._session.state, force=True)

    def cancel(self) -> None:
        """Drop the waiting request and stop the running one within half a second."""
        self.runner.cancel(soon=True)

    def close(self) -> None:
        """Stop and wait for the thread; nothing is delivered afterwards."""
        if not self._closed:
            self._closed = True
            self._late.stop()
            self._session.changed.disconnect(self._state_changed)
            self.runner.close()

    def _state_changed(self, state: SessionState, _old: SessionState) -> None:
        self._ask(state)

    def _ask(self, state: SessionState, force: bool = False) -> None:
        study = get_study(state.study)
        if self._closed or study.workspace != self._workspace:
            return
        request = state.request_of(study.id)
        if study.needs_data:
            if state.selection is None:
                return
            request = replace(request, selection=state.selection)
        if request == self.request and not force:
            return
        before, self.request = self.request, request
        if before is not None and (force or _subject(before) != _subject(request)):
            self.runner.cancel()
            self._oldest_valid = self.runner.generation + 1
        self.runner.submit(request)
        self._set_busy(True)
        if not self._late.isActive():
            self._late.start()

    def _arrive(self, delivery: Delivery) -> None:
        """Store a delivery, in any thread, until the window handles it."""
        self._arrived.append(delivery)
        # In the order of paint requests, which have this priority: by a signal what comes next
        # would be handled before what is there is painted.
        QCoreApplication.postEvent(self, QEvent(_ARRIVED), Qt.EventPriority.LowEventPriority.value)

    def customEvent(self, _event: QEvent) -> None:
        """Handle what has arrived."""
        self._receive_all()

    def _receive_all(self) -> None:
        """Handle stored deliveries; of several results only the newest is shown.

        A number, of which half of what follows a slider is shown, does not replace a curve; one of
        a newer value is shown after the curve.
        """
        if self._closed:
            return
        came = [self._arrived.popleft() for _ in range(len(self._arrived))]
        came.sort(key=lambda delivery: delivery.generation)
        for i, delivery in enumerate(came):
            if delivery.result is not None and any(
                _replaces(later, delivery) for later in came[i + 1 :]
            ):
                delivery = replace(delivery, result=None)
            self._receive(delivery)

    def _receive(self, delivery: Delivery) -> None:
        number, result = self._number, delivery.result
        if number is not None and self._oldest_valid <= delivery.generation < number.generation:
            if result is not None and not result.curve_follows:
                self.result_ready.emit(result, delivery.elapsed_ms)
                self.result_ready.emit(number.result, number.elapsed_ms)
        elif delivery.generation >= max(self._newest_shown, self._oldest_valid):
            if result is not None:
                self._newest_shown = delivery.generation
                self._number = delivery if result.curve_follows else None
                self._answered = result.request
                if self._answered == self.request:
                    self._late.stop()
                    self._set_stale(False)
                else:
                    self._late.start()
                self.result_ready.emit(result, delivery.elapsed_ms)
            elif delivery.error is not None:
                self._newest_shown = delivery.generation
                self._number, self._answered = None, None
                self._set_stale(True)
                self.failed.emit(delivery.error)
        if delivery.finished and delivery.generation == self.runner.generation:
            self._set_busy(False)

    def _set_stale(self, stale: bool) -> None:
        if stale != self.stale:
            self.stale = stale
            self.stale_changed.emit(stale)

    def _set_busy(self, busy: bool) -> None:
        if busy != self.busy:
            self.busy = busy
            self.busy_changed.emit(busy)
            if self.stale:  # whether the stale result is about to be replaced has changed
                self.stale_changed.emit(True)


def _replaces(later: Delivery, earlier: Delivery) -> bool:
    """Return whether a result need not be shown because a later one is there."""
    if later.result is None or later.generation < earlier.generation:
        return False
    return earlier.result.curve_follows or not later.result.curve_follows


def _subject(request: Request) -> tuple[str, str, str | None]:
    """Return what a result must share with the newest request to be shown."""
    data = request.selection.data if request.selection is not None else None
    return (request.study, request.quantity, data)


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
