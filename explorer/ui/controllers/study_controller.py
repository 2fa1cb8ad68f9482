"""Requests answers for the session state of one workspace."""

from collections import deque
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.engine.compute.latest import Delivery
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.study import Request
from explorer.studies.registry import get_study

LATE_MS = 120
"""Time without a new result after which the shown one is marked as stale."""


class StudyController(QObject):
    """Submits the request of one workspace when it changes, and emits the results.

    Results are delivered in order. One that is older than the last delivered, or of another study
    or data set, is dropped. One that merely lags behind a moving slider is delivered: otherwise
    nothing would be shown during a drag.

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
    _delivered = Signal()

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
        self._delivered.connect(self._receive_all)
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
        self._delivered.emit()

    def _receive_all(self) -> None:
        """Handle stored deliveries; of several results only the newest is shown."""
        if self._closed:
            return
        came = [self._arrived.popleft() for _ in range(len(self._arrived))]
        newest = max((i for i, d in enumerate(came) if d.result is not None), default=-1)
        for i, delivery in enumerate(came):
            if i < newest and delivery.result is not None:
                delivery = replace(delivery, result=None)
            self._receive(delivery)

    def _receive(self, delivery: Delivery) -> None:
        if delivery.generation >= max(self._newest_shown, self._oldest_valid):
            if delivery.result is not None:
                self._newest_shown = delivery.generation
                self._answered = delivery.result.request
                if self._answered == self.request:
                    self._late.stop()
                    self._set_stale(False)
                else:
                    self._late.start()
                self.result_ready.emit(delivery.result, delivery.elapsed_ms)
            elif delivery.error is not None:
                self._newest_shown = delivery.generation
                self._answered = None
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


def _subject(request: Request) -> tuple[str, str, str | None]:
    """Return what a result must share with the newest request to be shown."""
    data = request.selection.data if request.selection is not None else None
    return (request.study, request.quantity, data)
