"""One thread, one job running, the newest waiting, the rest dropped.

Conflation is the only rate limit. Cancelling at every new value would starve the screen (jobs of
100 ms then never finish while a slider moves), so a running job gets its first result out; what
refines it gives way to anything newer, and so does a job without any result after a while.
"""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from explorer.studies.base.study import Cancelled

REFINE_DELAY_S = 0.03
"""A result is refined only after so long without a newer request: two frames, so that a moving
slider never waits for a refinement to notice that it is not needed."""
PREEMPT_AFTER_S = 2.0
"""After this long without a first result, a newer request may stop the running one."""

Check = Callable[[], None]
Answer = Callable[[Any, Check], Generator[Any, None, None]]


@dataclass(frozen=True)
class Delivery:
    """Something that happened to a request.

    Attributes
    ----------
    generation : int
        Of the request; grows by one with each submission to a worker.
    request : object
    result : object or None
        A result, if that is what is delivered.
    error : Exception or None
        Why there is none.
    finished : bool
        Whether nothing more will come for this request (answered in full, failed, or dropped
        for a newer one).
    elapsed_ms : float
        Since work on the request began.
    """

    generation: int
    request: Any
    result: Any = None
    error: Exception | None = None
    finished: bool = False
    elapsed_ms: float = 0.0


class LatestWorker:
    """A thread that answers requests, newest first. It starts with the first request.

    Parameters
    ----------
    answer : callable
        ``answer(request, check)`` yields results, each better than the one before. It calls
        ``check()`` every few milliseconds, which raises `Cancelled` when the request is to end.
    deliver : callable
        Receives every `Delivery`, **in the worker's thread** (a request dropped by `cancel` is
        reported in the caller's); a window hands it on through a queued signal.
    name : str
        For the thread.
    preempt_after_s : float
        How long a request without a result may hold up a newer one: 0 lets it end at once,
        infinity lets it run to its end.
    discard : callable
        Receives, in the worker's thread, a result that came when nobody wanted it any more.
    clock : callable
        Seconds, growing; for tests.
    """

    def __init__(
        self,
        answer: Answer,
        deliver: Callable[[Delivery], None],
        name: str,
        *,
        preempt_after_s: float = PREEMPT_AFTER_S,
        discard: Callable[[Any], object] = lambda _: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._answer = answer
        self._deliver = deliver
        self._name = name
        self._preempt_after_s = preempt_after_s
        self._discard = discard
        self._clock = clock
        self._condition = threading.Condition()
        self._waiting: tuple[int, Any] | None = None
        self._running: int | None = None
        self._dropped_below = 0
        self.generation = 0
        """Generation of the newest request."""
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        with self._condition:
            return self._waiting is not None or self._running is not None

    def submit(self, request: Any, generation: int | None = None) -> int:
        """Ask for an answer; replaces whatever was waiting.

        Returns the generation, which is the one given (larger than all before) or the next.

        Raises
        ------
        RuntimeError
            After `close`.
        """
        with self._condition:
            if self._closed:
                raise RuntimeError(f"{self._name}: closed")
            self.generation = self.generation + 1 if generation is None else generation
            self._waiting = (self.generation, request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name)
                self._thread.start()
            self._condition.notify_all()
            return self.generation

    def cancel(self, soon: bool = False) -> None:
        """Drop the waiting request and stop the running one at its next check.

        `soon` changes nothing here: a thread can't be ended from outside.
        """
        with self._condition:
            waiting, self._waiting = self._waiting, None
            self._dropped_below = self.generation + 1
            self._condition.notify_all()
        if waiting is not None:
            self._deliver(Delivery(*waiting, finished=True))

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._waiting is None and self._running is None, timeout
            )

    def close(self, timeout: float = 15.0) -> None:
        """Stop the running request, end the thread and wait for it; nothing is delivered after.

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
                raise RuntimeError(f"{self._name} did not stop within {timeout:g} s")

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
            self._work(generation, request)

    def _work(self, generation: int, request: Any) -> None:
        began = self._clock()
        answered = False

        def elapsed_s() -> float:
            return self._clock() - began

        def check() -> None:
            newer = self._waiting is not None
            if self._unwanted(generation) or (
                newer and (answered or elapsed_s() >= self._preempt_after_s)
            ):
                raise Cancelled

        error: Exception | None = None
        results = self._answer(request, check)
        try:
            for result in results:
                if self._unwanted(generation):
                    self._discard(result)
                    break
                self._deliver(Delivery(generation, request, result, None, False, 1e3 * elapsed_s()))
                rest = 0.0 if answered or getattr(result, "complete", True) else REFINE_DELAY_S
                answered = True
                if self._newer_comes(generation, rest):
                    break
        except Cancelled:
            error = None
        except Exception as caught:  # shown to the user by whoever receives it
            error = caught
        finally:
            results.close()
        if not self._closed:
            self._deliver(Delivery(generation, request, None, error, True, 1e3 * elapsed_s()))

    def _unwanted(self, generation: int) -> bool:
        return self._closed or generation < self._dropped_below

    def _newer_comes(self, generation: int, seconds: float) -> bool:
        """Wait a little for a newer request, a cancel or the end; return whether one came."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._waiting is not None or self._unwanted(generation), seconds
            )
