"""Animates repeated draws of the demonstration noise."""

from __future__ import annotations

import time
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from explorer.engine.compute.latest import Delivery
from explorer.engine.service import AnswerRunner, StudyService
from explorer.studies.base.study import Fidelity, Request
from explorer.ui.base.playback import InputWatcher

FRAME_S = 0.04
"""Shortest time between two draws: 25 per second."""


class Play(QObject):
    """Requests one draw after the other; the next only after the last has arrived.

    The session is not changed: afterwards its seed applies again. Any input except on the starter
    buttons stops the animation.

    Signals
    -------
    drawn(Result)
        Result of another draw.
    stopped()
        Emitted also after an error.
    """

    drawn = Signal(object)
    stopped = Signal()
    _delivered = Signal(object)

    def __init__(self, service: StudyService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._worker: AnswerRunner | None = None
        self._asked: Request | None = None
        self._generation = 0
        self._asked_at = 0.0
        self._input = InputWatcher(self)
        self._input.input_received.connect(self.stop)
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._ask)
        self._delivered.connect(self._receive)

    @property
    def playing(self) -> bool:
        """Whether the animation runs."""
        return self._asked is not None

    @property
    def seed(self) -> int | None:
        """Seed of the last requested draw."""
        return None if self._asked is None else self._asked.seed

    def start(self, request: Request, *starters: QWidget) -> None:
        """Start with the seed after a request's; input to the starters does not stop it."""
        if self._worker is None:
            self._worker = self._service.answers("play", self._delivered.emit)
        self._asked = replace(request, fidelity=Fidelity.COARSE)
        self._input.watch(*starters)
        self._ask()

    def stop(self) -> None:
        """Stop if running."""
        if self._asked is None or self._worker is None:
            return
        self._asked = None
        self._next.stop()
        self._worker.cancel()
        self._input.rest()
        self.stopped.emit()

    def close(self) -> None:
        """Stop everything and wait for the thread."""
        self.stop()
        if self._worker is not None:
            self._worker.close()

    def _ask(self) -> None:
        if self._asked is None or self._worker is None:
            return
        self._asked = replace(self._asked, seed=(self._asked.seed + 1) % 2**31)
        self._asked_at = time.perf_counter()
        self._generation = self._worker.submit(self._asked)

    def _receive(self, delivery: Delivery) -> None:
        if self._asked is None or delivery.generation != self._generation:
            return
        result = delivery.result
        if delivery.error is not None:
            self.stop()
        elif result is not None and not result.early and not self._next.isActive():
            self._generation += 1  # refined results of this draw are not needed
            self.drawn.emit(result)
            rest = FRAME_S - (time.perf_counter() - self._asked_at)
            self._next.start(max(0, round(1e3 * rest)))
