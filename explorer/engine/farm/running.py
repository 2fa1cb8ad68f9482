"""The grid that the compute process works on, and news of it for a window that asks and asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from explorer.engine.executors.base import Executor
from explorer.engine.executors.checkpoint import Checkpoint
from explorer.engine.experiments import kept_trials
from explorer.engine.farm.farm import Farm
from explorer.engine.runtime.computing import Computing
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.grid import Grid
from explorer.studies.base.grid_answer import Cell, GridAnswer
from explorer.studies.base.study import Cancelled, Request

NEWS_S = 0.3
"""How long a question for news waits for some."""
MOST_CELLS = 16
"""In one piece of news: a window unpacks it in its own process."""
ABANDONED_S = 10.0
"""After so long without a question nobody is waiting any more."""


@dataclass(frozen=True)
class Asked:
    """A question over a grid, and how much of its answer is known to who asks."""

    request: Request
    grid: Grid
    seen: int = 0


@dataclass(frozen=True)
class News:
    """What has changed.

    Attributes
    ----------
    seen : int
        To be said with the next question.
    cells : tuple of Cell
        Those that are new or better.
    done, total : int
    ended : bool
        Whether nothing more will come.
    """

    seen: int
    cells: tuple[Cell, ...]
    done: int
    total: int
    ended: bool


class RunningGrid:
    """Computes one grid at a time in a thread; the newest one asked for takes its place.

    Parameters
    ----------
    computing : Computing
        All cores of this machine, or a cluster.
    """

    def __init__(self, computing: Computing) -> None:
        self._computing = computing
        self._changed = threading.Condition()
        self._run: _Run | None = None

    def news(self, asked: Asked, files: Mapping[str, Path], check: Callable[[], None]) -> News:
        """Return what has changed since, soon; begin if this is not what is computed.

        Raises
        ------
        Cancelled
            From `check`; the grid is then given up.
        Exception
            What ended the computation.
        """
        with self._changed:
            run = self._run
            if run is None or run.asked != (asked.request, asked.grid) or run.stopped:
                if run is not None:
                    run.stopped = True
                farm = Farm(asked.request, asked.grid, files)
                of_data = any(value in files for _, value in asked.request.values)
                executor = partial(self._computing.for_tasks, of_data)
                run = self._run = _Run(farm, executor, self._changed)
                run.thread.start()
            try:
                end = time.monotonic() + NEWS_S
                while run.version <= asked.seen and not run.ended and time.monotonic() < end:
                    self._changed.wait(0.02)
                    check()
            except Cancelled:
                run.stopped = True
                raise
            run.polled = time.monotonic()
            if run.error is not None:
                self._run = None
                raise run.error
            answer = run.farm.answer
            new = sorted(
                (version, place)
                for place, version in enumerate(run.versions)
                if version > asked.seen
            )[:MOST_CELLS]
            cells = tuple(cell for _, at in new if (cell := answer.cells[at]) is not None)
            seen = new[-1][0] if new else asked.seen
            ended = run.ended and seen >= run.version
            return News(seen, cells, answer.done, answer.total, ended)

    def answer(self, request: Request, grid: Grid) -> GridAnswer | None:
        """Return what is known of a grid, if it is the newest one."""
        with self._changed:
            run = self._run
            known = run is not None and run.asked == (request, grid)
            return run.farm.answer if known and run is not None else None

    def close(self) -> None:
        """Stop."""
        with self._changed:
            run, self._run = self._run, None
            if run is not None:
                run.stopped = True
        if run is not None:
            run.thread.join()


class _Run:
    """A thread that computes a grid; everything but `farm` under its condition."""

    def __init__(
        self,
        farm: Farm,
        executor: Callable[[Callable[[], None]], Executor],
        changed: threading.Condition,
    ) -> None:
        self.farm = farm
        self.asked = farm.answer.request, farm.answer.grid
        self.version = 0
        self.versions = [0] * len(farm.answer.cells)
        self.ended = self.stopped = False
        self.error: Exception | None = None
        self.polled = time.monotonic()
        self._executor, self._changed = executor, changed
        self.thread = threading.Thread(target=self._work, name="grid", daemon=True)

    def _check(self) -> None:
        if self.stopped or time.monotonic() - self.polled > ABANDONED_S:
            raise Cancelled

    def _work(self) -> None:
        try:
            with closing(Checkpoint(kept_trials())) as checkpoint:
                executor = self._executor(self._check)  # connecting a cluster takes its time
                for places in self.farm.run(executor, checkpoint, self._check):
                    with self._changed:
                        for place in places:
                            self.version += 1
                            self.versions[place] = self.version
                        self._changed.notify_all()
            with self._changed:
                self.ended = True
        except Cancelled:
            self.stopped = True
        except Exception as error:  # told to whoever asks
            self.error, self.ended = error, True
        finally:
            with self._changed:
                self._changed.notify_all()


def grid_news(runtime: StudyRuntime, asked: Asked, check: Callable[[], None]) -> News:
    """Return what is new of a grid (in the compute process)."""
    running = runtime.keep("grids", partial(RunningGrid, runtime.computing))
    return running.news(asked, runtime.files(), check)


def grid_answer(runtime: StudyRuntime, request: Request, grid: Grid) -> GridAnswer:
    """Return the answer that was computed (in the compute process).

    Raises
    ------
    LookupError
        If another one was meanwhile.
    """
    found = runtime.keep("grids", partial(RunningGrid, runtime.computing)).answer(request, grid)
    if found is None:
        raise LookupError("this grid is not there any more; compute it again")
    return found
