"""Solves in a thread: one goal is worked on, the newest waits, those between are dropped."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal

from explorer.engine.runtime.runtime import StudyRuntime
from explorer.engine.solving.goal import SolveGoal
from explorer.engine.solving.solve import solve
from explorer.studies.base.study import Cancelled
from explorer.ui.base.jobs import LatestJob

PATIENCE_S = 1.0
"""A goal that takes longer gives way to a newer one."""


class SolveController(QObject):
    """Hands goals to a thread and solutions back, in order.

    Signals
    -------
    solved(Goal, Solution)
    failed(Goal, Exception)
        Not for what was cancelled.
    idle()
        Nothing runs or waits any more, cancelled or not.
    busy_changed(bool)
    """

    solved = Signal(object, object)
    failed = Signal(object, object)
    idle = Signal()
    busy_changed = Signal(bool)

    def __init__(self, host: StudyRuntime, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._newest = 0
        self._dropped_below = 0
        self._busy = False
        self._jobs = LatestJob("solve", self)
        self._jobs.done.connect(self._done)
        self._jobs.failed.connect(self._failed)

    @property
    def busy(self) -> bool:
        """Whether a solution is still to come."""
        return self._busy

    def submit(self, goal: SolveGoal) -> None:
        """Ask for a solution; replaces the goal that waits, if any."""
        self._newest += 1
        number, began = self._newest, [0.0]

        def check() -> None:
            late = time.monotonic() - began[0] > PATIENCE_S
            if number < self._dropped_below or (late and number < self._newest):
                raise Cancelled

        def work() -> object:
            began[0] = time.monotonic()
            check()
            return self._host.beside(solve, goal, check)

        self._jobs.submit((number, goal), work)
        self._set_busy(True)

    def cancel(self) -> None:
        """Drop what waits and stop what runs at its next check."""
        self._dropped_below = self._newest + 1
        self._jobs.drop()
        if self._busy:
            self._set_busy(False)
            self.idle.emit()

    def close(self) -> None:
        """Cancel, end the thread and wait for it."""
        self._dropped_below = self._newest + 1
        self._jobs.close()

    def _done(self, key: tuple[int, SolveGoal], solution: object) -> None:
        if key[0] >= self._dropped_below:
            self.solved.emit(key[1], solution)
            self._settle(key[0])

    def _failed(self, key: tuple[int, SolveGoal], error: Exception) -> None:
        if key[0] >= self._dropped_below:
            if not isinstance(error, Cancelled):
                self.failed.emit(key[1], error)
            self._settle(key[0])

    def _settle(self, number: int) -> None:
        if number == self._newest:
            self._set_busy(False)
            self.idle.emit()

    def _set_busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)
