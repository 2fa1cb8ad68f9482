"""One thread, one job running, the newest waiting, the rest dropped.

Conflation is the only rate limit. Cancelling at every new value would starve the screen (jobs of
100 ms then never finish while a slider moves), so a running job gets its first result out; what
refines it gives way to anything newer, and so does a job without any result after a while. The one
exception is a curve that follows its number (`curve_follows`): it is computed several times a
second although newer requests wait. Their numbers are computed, and delivered, between two of its
points, so that what an older request still gets may come after a newer one's number.
"""

import math
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.studies.base.study import Cancelled

REFINE_DELAY_S = 0.03
"""A result is refined only after so long without a newer request: two frames, so that a moving
slider never waits for a refinement to notice that it is not needed."""
CURVE_PERIOD_S, CURVE_PAUSE_S = 0.05, 0.005
"""So often the curve that follows a number is computed in any case: begun early enough to be there
after so long without one, if it takes as long as the last. Curves that take longer leave a short
pause: numbers follow the slider between two of their points, too."""
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


@dataclass(eq=False)
class _Task:
    """A request that is answered.

    Attributes
    ----------
    generation : int
    request : object
    began : float
    results : generator
    first : object or None
        What was delivered while an older curve was computed.
    answered : bool
        Whether a result was delivered.
    owed : bool
        Whether its curve is computed although newer requests wait.
    delivered, numbered : float
        When the last result, and the number whose curve is owed, were there.
    """

    generation: int
    request: Any
    began: float
    results: Generator[Any, None, None] = field(init=False)
    first: Any = None
    answered: bool = False
    owed: bool = False
    delivered: float = 0.0
    numbered: float = 0.0

    @property
    def number_follows(self) -> bool:
        """Whether its number alone is there, or nothing yet."""
        return self.first is None or getattr(self.first, "curve_follows", False)


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
        self._begun: _Task | None = None
        """The newest request whose number came while an older curve was computed."""
        self._dropped_below = 0
        self.generation = 0
        """Generation of the newest request."""
        self._curve_at, self._curve_took = -math.inf, 0.0
        """When the last curve was there, and how long it took after its number."""
        self._number_at, self._number_took = -math.inf, 0.0
        """The same of the last number whose curve follows."""
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
            task, self._begun = self._begun, None
            with self._condition:
                if task is None:
                    self._running = None
                    self._condition.notify_all()
                    self._condition.wait_for(lambda: self._closed or self._waiting is not None)
                    if not self._closed:
                        task = self._take_waiting()
                if task is not None:
                    self._running = task.generation
            if task is None:
                return
            self._work(task)

    def _take_waiting(self) -> _Task:
        """Begin to answer what waits; the condition is held."""
        assert self._waiting is not None
        (generation, request), self._waiting = self._waiting, None
        task = _Task(generation, request, self._clock())
        task.results = self._answer(request, partial(self._check, task))
        return task

    def _check(self, task: _Task) -> None:
        """Raise `Cancelled` if a task is to end; compute a newer number while its curve is owed."""
        waits = self._waiting is not None
        newer = waits or self._begun not in (None, task)
        late = self._clock() - task.began >= self._preempt_after_s
        if self._unwanted(task.generation) or (
            newer and ((task.answered and not task.owed) or late)
        ):
            raise Cancelled
        # As long as a number takes the curve is computed: else it would never be there.
        turn = self._clock() - self._number_at >= self._number_took
        if waits and turn and task.owed and threading.current_thread() is self._thread:
            self._begin_newest()
            if self._begun is not None and not self._begun.number_follows:
                task.owed = False  # a newer curve is there already
                raise Cancelled

    def _begin_newest(self) -> None:
        """Compute and deliver the number of the waiting request; its curve is computed later."""
        if self._begun is not None:
            self._end(self._begun, None)
        with self._condition:
            task = self._begun = None if self._waiting is None else self._take_waiting()
        if task is None:
            return
        try:
            task.first = self._next(task)
        except Cancelled:
            return
        except Exception as caught:  # shown to the user by whoever receives it
            self._begun = None
            self._end(task, caught)

    def _work(self, task: _Task) -> None:
        error: Exception | None = None
        try:
            result = self._next(task) if task.first is None else task.first
            while result is not None and self._goes_on(task, result):
                result = self._next(task)
        except Cancelled:
            error = None
        except Exception as caught:  # shown to the user by whoever receives it
            error = caught
        self._end(task, error)

    def _next(self, task: _Task) -> Any:
        """Deliver the next result of a task and return it; None if there is none that is wanted."""
        result = next(task.results, None)
        if result is not None and self._unwanted(task.generation):
            self._discard(result)
            return None
        if result is not None:
            task.delivered = self._clock()
            if getattr(result, "curve_follows", False):
                self._number_at, self._number_took = task.delivered, task.delivered - task.began
            elapsed_ms = 1e3 * (task.delivered - task.began)
            self._deliver(Delivery(task.generation, task.request, result, None, False, elapsed_ms))
        return result

    def _goes_on(self, task: _Task, result: Any) -> bool:
        """Return whether a task goes on after a result that was delivered."""
        follows = getattr(result, "curve_follows", False)
        if not follows:
            self._curve_at = task.delivered
            if task.owed:
                self._curve_took = task.delivered - task.numbered
        first, task.answered = not task.answered or task.owed, True
        pause = max(CURVE_PERIOD_S - self._curve_took, CURVE_PAUSE_S)
        task.owed = follows and self._clock() - self._curve_at >= pause
        if task.owed:
            task.numbered = self._clock()
            return True
        refines = first and not follows and not getattr(result, "complete", True)
        return not self._newer_comes(task.generation, REFINE_DELAY_S if refines else 0.0)

    def _end(self, task: _Task, error: Exception | None) -> None:
        task.results.close()
        if not self._closed:
            elapsed_ms = 1e3 * (self._clock() - task.began)
            self._deliver(Delivery(task.generation, task.request, None, error, True, elapsed_ms))

    def _unwanted(self, generation: int) -> bool:
        return self._closed or generation < self._dropped_below

    def _newer_comes(self, generation: int, seconds: float) -> bool:
        """Wait a little for a newer request, a cancel or the end; return whether one came."""
        with self._condition:
            return self._condition.wait_for(
                lambda: (
                    self._waiting is not None
                    or self._begun is not None
                    or self._unwanted(generation)
                ),
                seconds,
            )
