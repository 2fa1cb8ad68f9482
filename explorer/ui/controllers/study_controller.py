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
"""After so long without an answer what is on the screen is marked as another question's."""


class StudyController(QObject):
    """Submits the question of one workspace whenever it changes and hands on its answers.

    Answers are delivered in order: one that is older than what was handed on already, or that
    belongs to another study or another data set, is dropped. An answer that is merely behind a
    slider that moves on is handed on; dropping it would leave the screen empty while dragging.

    Signals
    -------
    result_ready(Result, float)
        An answer and the milliseconds since work on it began.
    failed(Exception)
        Why there is none.
    busy_changed(bool)
        Whether anything runs or waits.
    stale_changed(bool)
        Whether what was handed on last answers another question than the newest, and has done so
        for longer than a glance; at once where there was no answer to the newest at all. Also
        emitted while that stays so, when `busy` changes.
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
        """The newest question submitted."""
        self._newest_shown = 0
        self._oldest_wanted = 0
        self.busy = False
        """Whether an answer is still to come."""
        self._closed = False
        self.stale = False
        """Whether the last answer is marked as another question's."""
        self._answered: Request | None = None
        self._late = QTimer(self, singleShot=True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(lambda: self._set_stale(self._answered != self.request))
        self._arrived: deque[Delivery] = deque()
        self._delivered.connect(self._receive_all)
        self._runner = service.answers(workspace, self._arrive)
        session.changed.connect(self._state_changed)

    def refresh(self) -> None:
        """Ask now, if this workspace's study is in front and has what it needs.

        What was asked before is dropped: files and check-ins may be others under the same name.
        """
        self._ask(self._session.state, force=True)

    def cancel(self) -> None:
        """Drop what waits and stop what runs, within half a second."""
        self._runner.cancel(soon=True)

    def close(self) -> None:
        """Stop everything and wait for the thread; nothing is delivered afterwards."""
        if not self._closed:
            self._closed = True
            self._late.stop()
            self._session.changed.disconnect(self._state_changed)
            self._runner.close()

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
            self._runner.cancel()
            self._oldest_wanted = self._runner.generation + 1
        self._runner.submit(request)
        self._set_busy(True)
        if not self._late.isActive():
            self._late.start()

    def _arrive(self, delivery: Delivery) -> None:
        """Note what came, in whatever thread; the window takes it when it has the time."""
        self._arrived.append(delivery)
        self._delivered.emit()

    def _receive_all(self) -> None:
        """Take what came meanwhile; of several pictures only the newest is worth painting."""
        if self._closed:
            return
        came = [self._arrived.popleft() for _ in range(len(self._arrived))]
        newest = max((i for i, d in enumerate(came) if d.result is not None), default=-1)
        for i, delivery in enumerate(came):
            if i < newest and delivery.result is not None:
                delivery = replace(delivery, result=None)
            self._receive(delivery)

    def _receive(self, delivery: Delivery) -> None:
        if delivery.generation >= max(self._newest_shown, self._oldest_wanted):
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
        if delivery.finished and delivery.generation == self._runner.generation:
            self._set_busy(False)

    def _set_stale(self, stale: bool) -> None:
        if stale != self.stale:
            self.stale = stale
            self.stale_changed.emit(stale)

    def _set_busy(self, busy: bool) -> None:
        if busy != self.busy:
            self.busy = busy
            self.busy_changed.emit(busy)
            if self.stale:  # what is marked is no longer, or again, about to be replaced
                self.stale_changed.emit(True)


def _subject(request: Request) -> tuple[str, str, str | None]:
    """Return what an answer must share with the newest question to be worth showing."""
    data = request.selection.data if request.selection is not None else None
    return (request.study, request.quantity, data)
