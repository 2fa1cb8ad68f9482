"""Answers to questions beside the one in front: pinned curves, rows of a comparison."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from explorer.engine.runtime.runtime import StudyRuntime, final_result
from explorer.studies.base.study import Cancelled, Request, Result


class BackgroundAnswers(QObject):
    """Keeps the best answers to a list of questions, computing one at a time in a thread.

    Signals
    -------
    changed()
        An answer came, or the reason why there is none.
    busy_changed(bool)
    """

    changed = Signal()
    busy_changed = Signal(bool)
    _delivered = Signal(object, object)

    def __init__(self, host: StudyRuntime, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._name = name
        self._known: dict[Request, Result | Exception] = {}
        self._condition = threading.Condition()
        self._wanted: list[Request] = []
        self._closed = False
        self._thread: threading.Thread | None = None
        self._busy = False
        self._delivered.connect(self._receive)

    @property
    def busy(self) -> bool:
        """Whether answers are still to come."""
        return self._busy

    def set_requests(self, requests: Sequence[Request]) -> None:
        """Keep the answers to these questions and no others; compute those not known."""
        if self._closed:
            return
        self._known = {r: a for r, a in self._known.items() if r in set(requests)}
        for request in requests:
            if request not in self._known:
                kept = self._host.cached_result(request)
                if kept is not None:
                    self._known[request] = kept
        with self._condition:
            self._wanted = [r for r in requests if r not in self._known]
            waiting = bool(self._wanted)
            if waiting and self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name)
                self._thread.start()
            self._condition.notify_all()
        self._set_busy(waiting)

    def result(self, request: Request) -> Result | None:
        """Return the answer to a question that is wanted, if it is known."""
        found = self._known.get(request)
        return found if isinstance(found, Result) else None

    def error(self, request: Request) -> str:
        """Return why there is no answer to a question; empty if there may be one."""
        found = self._known.get(request)
        return str(found) if isinstance(found, Exception) else ""

    def forget_errors(self) -> None:
        """Let what failed or was cancelled be computed again when it is next wanted."""
        self._known = {r: a for r, a in self._known.items() if isinstance(a, Result)}

    def cancel(self) -> None:
        """Give up what is not known yet."""
        with self._condition:
            given_up, self._wanted = self._wanted, []
        for request in given_up:
            self._known[request] = Cancelled("cancelled")
        self._set_busy(False)
        if given_up:
            self.changed.emit()

    def close(self, timeout: float = 10.0) -> None:
        """End the thread and wait for it.

        Raises
        ------
        RuntimeError
            If it has not ended in time.
        """
        with self._condition:
            self._closed = True
            self._wanted = []
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                raise RuntimeError(f"{self._name} did not stop within {timeout:g} s")

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._closed or bool(self._wanted))
                if self._closed:
                    return
                request = self._wanted[0]

            def check(request: Request = request) -> None:
                if self._closed or request not in self._wanted:
                    raise Cancelled

            outcome: object
            try:
                outcome = self._host.beside(final_result, request, check)
            except Cancelled:
                continue
            except Exception as error:  # shown beside the question
                outcome = error
            with self._condition:
                if request in self._wanted:
                    self._wanted = [r for r in self._wanted if r != request]
                else:
                    continue
                if self._closed:
                    return
            self._delivered.emit(request, outcome)

    def _receive(self, request: Request, outcome: Result | Exception) -> None:
        if self._closed:
            return
        self._known[request] = outcome
        with self._condition:
            waiting = bool(self._wanted)
        self._set_busy(waiting)
        self.changed.emit()

    def _set_busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)
