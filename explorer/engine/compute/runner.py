"""From a slider to an answer: one request running, the newest waiting, the rest dropped.

Conflation is the only rate limit. Cancelling on every new value would starve the screen (jobs of
100 ms then never finish while a slider moves), so a running request always gets its first answer
out; what refines it gives way to anything newer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled, Request, Result

REFINE_DELAY_S = 0.03
"""An answer is refined only after so long without a newer request: two frames, so that a moving
slider never waits for a refinement to notice that it is unwanted."""
PREEMPT_AFTER_S = 2.0
"""After this long without a first answer, a newer request may push the running one out."""


@dataclass(frozen=True)
class Delivery:
    """Something that happened to a request.

    Attributes
    ----------
    generation : int
        Of the request; grows by one with each submission to a runner.
    request : Request
    result : Result or None
        An answer, if that is what is delivered.
    error : Exception or None
        Why there is none.
    finished : bool
        Whether nothing more will come for this request (answered in full, failed, or dropped
        for a newer one).
    elapsed_ms : float
        Since work on the request began.
    """

    generation: int
    request: Request
    result: Result | None = None
    error: Exception | None = None
    finished: bool = False
    elapsed_ms: float = 0.0


class AnswerRunner:
    """A thread that answers requests, newest first.

    Parameters
    ----------
    host : Host
    deliver : callable
        Receives every `Delivery`, **in the runner's thread** (a request dropped by `cancel` is
        reported in the caller's); a window hands it on through a queued signal.
    name : str
        For the thread.
    """

    def __init__(self, host: StudyRuntime, deliver: Callable[[Delivery], None], name: str) -> None:
        self._host = host
        self._deliver = deliver
        self._name = name
        self._condition = threading.Condition()
        self._waiting: tuple[int, Request] | None = None
        self._running: int | None = None
        self._dropped_below = 0
        self._generation = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def generation(self) -> int:
        """Generation of the newest request."""
        return self._generation

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        with self._condition:
            return self._waiting is not None or self._running is not None

    def submit(self, request: Request, generation: int | None = None) -> int:
        """Ask for an answer; replaces whatever was waiting.

        Returns the generation, which is the one given (larger than all before) or the next.
        """
        with self._condition:
            if self._closed:
                raise RuntimeError(f"runner {self._name} is closed")
            self._generation = self._generation + 1 if generation is None else generation
            self._waiting = (self._generation, request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name)
                self._thread.start()
            self._condition.notify_all()
            return self._generation

    def cancel(self) -> None:
        """Drop the waiting request and stop the running one at its next check."""
        with self._condition:
            waiting, self._waiting = self._waiting, None
            self._dropped_below = self._generation + 1
            self._condition.notify_all()
        if waiting is not None:
            self._deliver(Delivery(*waiting, finished=True))

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._waiting is None and self._running is None, timeout
            )

    def close(self, timeout: float = 10.0) -> None:
        """Stop the running request, end the thread and wait for it.

        Raises
        ------
        RuntimeError
            If the thread has not ended in time.
        """
        with self._condition:
            self._closed = True
            self._waiting = None
            self._condition.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            if thread.is_alive():
                raise RuntimeError(f"runner {self._name} did not stop within {timeout:g} s")

    def _run(self) -> None:
        while True:
            with self._condition:
                self._running = None
                self._condition.notify_all()
                self._condition.wait_for(lambda: self._closed or self._waiting is not None)
                if self._closed or self._waiting is None:
                    return
                (generation, request), self._waiting = self._waiting, None
                self._running = generation
            self._answer(generation, request)

    def _answer(self, generation: int, request: Request) -> None:
        began = time.perf_counter()
        answered = False

        def elapsed() -> float:
            return 1e3 * (time.perf_counter() - began)

        def check() -> None:
            newer = self._waiting is not None
            late = elapsed() > 1e3 * PREEMPT_AFTER_S
            if self._closed or generation < self._dropped_below or (newer and (answered or late)):
                raise Cancelled

        error: Exception | None = None
        answers = self._host.answer(request, check)
        try:
            for result in answers:
                if self._closed or generation < self._dropped_below:
                    break
                self._deliver(Delivery(generation, request, result, None, False, elapsed()))
                rest = 0.0 if answered or result.complete else REFINE_DELAY_S
                answered = True
                if self._newer_comes(generation, rest):
                    break
        except Cancelled:
            error = None
        except Exception as caught:  # shown to the user by whoever receives it
            error = caught
        finally:
            answers.close()
        if not self._closed:
            self._deliver(Delivery(generation, request, None, error, True, elapsed()))

    def _newer_comes(self, generation: int, seconds: float) -> bool:
        """Wait a little for a newer request, a cancel or the end; return whether one came."""
        with self._condition:
            return self._condition.wait_for(
                lambda: (
                    self._waiting is not None or self._closed or generation < self._dropped_below
                ),
                seconds,
            )
