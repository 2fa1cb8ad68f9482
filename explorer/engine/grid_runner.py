"""Computes a study over a grid of parameters: coarse results first, then exact ones, then trials.

Every piece is stored on arrival under the hash of its settings: the same request resumes an
interrupted grid, and cells shared with another grid are computed once.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from explorer.engine.computing import Computing
from explorer.engine.executors.base import Executor, InPlaceExecutor, Task, task_key, task_seed
from explorer.engine.experiments import Checkpoint, trials_file
from explorer.engine.runtime import FileNotOpenError, StudyRuntime
from explorer.engine.session.recipe import Recipe, request_from_dict
from explorer.studies.base.grid import (
    MAX_TYPED_POINTS,
    Cell,
    Grid,
    GridAnswer,
    answer_to_dict,
    average_trials,
    axes_of,
    cell_of,
    requests_of,
    series_of,
)
from explorer.studies.base.parameters import files_of
from explorer.studies.base.study import Cancelled, Kind, Request, Scale, Series, quantity
from explorer.studies.registry import StudyInfo, get_study, registered_studies, set_registered

FIRST, BEST, AGAIN = "first", "best", "again"
"""A study's first answer, its last one, and of another trial the last one's simulated curves."""


def stored_task(request: Request, part: str) -> Task:
    """Return the settings a piece of work depends on; its storage key is their hash."""
    return {"question": Recipe(request).to_dict(), "part": part}


def worker_task(task: Task, files: Mapping[str, Path]) -> Task:
    """Return a piece of work with file paths and third-party studies, for a worker."""
    study = get_study(task["question"]["study"])
    values = task["question"]["values"]
    kinds = (p.key for p in study.parameters if p.kind is Kind.FILE)
    needed = [file for key in kinds for file in files_of(values[key])]
    return {
        **task,
        "files": {value: str(files[value]) for value in needed if value in files},
        "cards": [asdict(info) for info in registered_studies()],
    }


def with_trial_seed(request: Request, trial: int) -> Request:
    """Return the request of a trial; the first one keeps the request's own seed.

    The others have 53 bits of the hash of the question and their number (`task_seed`).
    """
    if not trial:
        return request
    key = task_key({"question": Recipe(request).to_dict(), "trial": trial})
    return replace(request, seed=int(task_seed(key).random_raw()) >> 11)


@cache
def _runtime() -> StudyRuntime:
    """Return this worker's runtime, shared by all its trials."""
    return StudyRuntime(worker=InPlaceExecutor())


def run_cell(task: Task) -> dict[str, Any]:
    """Return a study's answer, or its error, as JSON values (in a worker).

    Raises
    ------
    FileNotOpenError
        If it needs a file that was not open when the grid was asked.
    """
    infos = [StudyInfo(**info) for info in task["cards"]]
    if set(infos) != set(registered_studies()):
        set_registered(infos)
    runtime = _runtime()
    for value, path in task["files"].items():
        runtime.register_file(value, Path(path))
    try:
        request = request_from_dict(task["question"], "question", MAX_TYPED_POINTS)
        # A stored result must not depend on earlier work of this worker.
        answers = runtime.fresh_answer(request, lambda: None)
        result = next(answer for answer in answers if not answer.curve_follows)
        if task["part"] != FIRST:
            result = deque(answers, maxlen=1)[-1] if not result.final else result
    except FileNotOpenError:
        raise  # a missing file is temporary: it must not be stored as the answer
    except (ValueError, LookupError) as error:
        return {"error": " ".join(str(error).split()) or type(error).__name__}
    return answer_to_dict(result, only_simulated=task["part"] == AGAIN)


Piece = tuple[int, int]
"""A cell's place and a trial's number."""


class GridRunner:
    """Computes the answers of one grid, piece by piece.

    Parameters
    ----------
    request : Request
        The request of every cell, before the grid's values are set.
    grid : Grid
    files : mapping of str to Path
        Where the files of `Kind.FILE` values are; workers must see them.

    Attributes
    ----------
    answer : GridAnswer
        Results so far.
    known : int
        Pieces loaded from storage.

    Raises
    ------
    ValueError
        As `axes_of`.
    """

    def __init__(
        self, request: Request, grid: Grid, files: Mapping[str, Path] | None = None
    ) -> None:
        study = get_study(request.study)
        axes = axes_of(study, request, grid)
        # Lower limit of errors and of quantities on a logarithmic axis.
        shown = quantity(study, request.quantity)
        positive = shown.statistic is not None or shown.scale is Scale.LOG
        self._least = 0.0 if positive else -math.inf
        self._files = files or {}
        self._asked = requests_of(request, axes)
        self._first: dict[int, Cell] = {}
        self._drawn: dict[int, dict[int, tuple[int, tuple[Series, ...]]]] = {}
        self.known = 0
        n = len(self._asked)
        self.answer = GridAnswer(request, grid, axes, (None,) * n, 0, n)

    def run(
        self,
        executor: Executor,
        checkpoint: Checkpoint,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, ...]]:
        """Yield the indices of changed cells of `answer`, batch by batch.

        Raises
        ------
        WorkerDied, DifferentCode, Cancelled, NoWorker
            As `Executor.batches`; earlier batches stay stored.
        """
        requests = {(place, 0): request for place, request in enumerate(self._asked)}
        yield from self._part(FIRST, requests, executor, checkpoint, check)
        requests = {(c.place, 0): self._asked[c.place] for c in self._cells() if not c.final}
        self._expect(len(requests))
        yield from self._part(BEST, requests, executor, checkpoint, check)
        self._first = {c.place: c for c in self._cells() if not c.error and c.simulates}
        self._drawn = {place: {} for place in self._first}
        requests = {}
        for trial in range(1, self.answer.grid.trials):
            for place in self._first:  # trial after trial: every cell has some before any has all
                check()
                requests[place, trial] = with_trial_seed(self._asked[place], trial)
        self._expect(len(requests))
        yield from self._part(AGAIN, requests, executor, checkpoint, check)

    def _cells(self) -> list[Cell]:
        return [cell for cell in self.answer.cells if cell is not None]

    def _expect(self, more: int) -> None:
        self.answer = replace(self.answer, total=self.answer.total + more)

    def _part(
        self,
        part: str,
        requests: dict[Piece, Request],
        executor: Executor,
        checkpoint: Checkpoint,
        check: Callable[[], None],
    ) -> Iterator[tuple[int, ...]]:
        """Load stored results, then compute the rest, batch by batch."""
        keys = {}
        for piece, request in requests.items():
            check()
            keys[piece] = task_key(stored_task(request, part))
        stored = checkpoint.known(keys.values())
        if present := [(piece, stored[key]) for piece, key in keys.items() if key in stored]:
            self.known += len(present)
            yield self._put(part, requests, present)
        missing = [piece for piece, key in keys.items() if key not in stored]
        tasks = (worker_task(stored_task(requests[piece], part), self._files) for piece in missing)
        for batch in executor.batches(run_cell, tasks, check):
            results = [(missing[number], raw) for number, raw in batch]
            checkpoint.add((stored_task(requests[piece], part), raw) for piece, raw in results)
            yield self._put(part, requests, results)

    def _put(
        self, part: str, requests: dict[Piece, Request], results: list[tuple[Piece, dict[str, Any]]]
    ) -> tuple[int, ...]:
        changed: dict[int, Cell] = {}
        for (place, trial), raw in results:
            if part != AGAIN:
                changed[place] = cell_of(place, self._asked[place], raw)
                continue
            seed = requests[place, trial].seed
            if "error" in raw:
                self._first[place] = replace(
                    self._first[place], error=f"trial {trial + 1}, seed {seed}: {raw['error']}"
                )
            self._drawn[place][trial] = seed, tuple(series_of(raw)) if "series" in raw else ()
        for place in {place for (place, _), _ in results} if part == AGAIN else ():
            first, drawn = self._first[place], self._drawn[place]
            # In the order of the trials, not of their coming: sums depend on it.
            others = [drawn[trial] for trial in sorted(drawn)]
            changed[place] = first if first.error else average_trials(first, others, self._least)
        cells = tuple(changed.get(place, cell) for place, cell in enumerate(self.answer.cells))
        self.answer = replace(self.answer, cells=cells, done=self.answer.done + len(results))
        return tuple(sorted(changed))


POLL_TIMEOUT_S = 0.3
"""How long a question for news waits for some."""
MAX_CELLS_PER_POLL = 16
"""In one piece of news: a window unpacks it in its own process."""
ABANDONED_S = 10.0
"""A grid that has not been polled for this long is abandoned."""


@dataclass(frozen=True)
class GridQuery:
    """Poll for a grid's progress: request, grid, and the last version seen."""

    request: Request
    grid: Grid
    seen: int = 0


@dataclass(frozen=True)
class GridProgress:
    """Changes since the last poll.

    Attributes
    ----------
    seen : int
        Version to pass with the next query.
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


class BackgroundGrid:
    """Computes one grid at a time in a thread; a new request replaces the running one.

    Parameters
    ----------
    computing : Computing
        All cores of this machine, or a cluster.
    """

    def __init__(self, computing: Computing) -> None:
        self._computing = computing
        self._changed = threading.Condition()
        self._run: _Run | None = None

    def progress(
        self, query: GridQuery, files: Mapping[str, Path], check: Callable[[], None]
    ) -> GridProgress:
        """Return the changes since the last poll; starts the grid if it is not running.

        Raises
        ------
        Cancelled
            From `check`; the grid is then given up.
        Exception
            Exception that ended the computation.
        """
        with self._changed:
            run = self._run
            if run is None or run.asked != (query.request, query.grid) or run.stopped:
                if run is not None:
                    run.stopped = True
                runner = GridRunner(query.request, query.grid, files)
                of_data = any(value in files for _, value in query.request.values)
                executor = partial(self._computing.for_tasks, of_data)
                run = self._run = _Run(runner, executor, self._changed)
                run.thread.start()
            try:
                end = time.monotonic() + POLL_TIMEOUT_S
                while run.version <= query.seen and not run.ended and time.monotonic() < end:
                    self._changed.wait(0.02)
                    check()
            except Cancelled:
                run.stopped = True
                raise
            run.polled = time.monotonic()
            if run.error is not None:
                self._run = None
                raise run.error
            answer = run.runner.answer
            new = sorted(
                (version, place)
                for place, version in enumerate(run.versions)
                if version > query.seen
            )[:MAX_CELLS_PER_POLL]
            cells = tuple(cell for _, at in new if (cell := answer.cells[at]) is not None)
            seen = new[-1][0] if new else query.seen
            ended = run.ended and seen >= run.version
            return GridProgress(seen, cells, answer.done, answer.total, ended)

    def answer(self, request: Request, grid: Grid) -> GridAnswer | None:
        """Return the answer so far of a grid; None unless it is the newest one."""
        with self._changed:
            run = self._run
            current = run is not None and run.asked == (request, grid)
            return run.runner.answer if current and run is not None else None

    def close(self) -> None:
        """Stop the computation and wait for its thread."""
        with self._changed:
            run, self._run = self._run, None
            if run is not None:
                run.stopped = True
        if run is not None:
            run.thread.join()


class _Run:
    """Thread that computes a grid; all attributes but `runner` are guarded by its condition."""

    def __init__(
        self,
        runner: GridRunner,
        executor: Callable[[Callable[[], None]], Executor],
        changed: threading.Condition,
    ) -> None:
        self.runner = runner
        self.asked = runner.answer.request, runner.answer.grid
        self.version = 0
        self.versions = [0] * len(runner.answer.cells)
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
            with closing(Checkpoint(trials_file())) as checkpoint:
                executor = self._executor(self._check)  # connecting a cluster takes its time
                for places in self.runner.run(executor, checkpoint, self._check):
                    with self._changed:
                        for place in places:
                            self.version += 1
                            self.versions[place] = self.version
                        self._changed.notify_all()
            with self._changed:
                self.ended = True
        except Cancelled:
            self.stopped = True
        except Exception as error:  # raised by the next poll
            self.error, self.ended = error, True
        finally:
            with self._changed:
                self._changed.notify_all()


def grid_progress(
    runtime: StudyRuntime, query: GridQuery, check: Callable[[], None]
) -> GridProgress:
    """Return the changes of a grid since the last poll (in the compute process)."""
    running = runtime.keep("grids", partial(BackgroundGrid, runtime.computing))
    return running.progress(query, runtime.files(), check)


def grid_answer(runtime: StudyRuntime, request: Request, grid: Grid) -> GridAnswer:
    """Return the computed answer of a grid (in the compute process).

    Raises
    ------
    LookupError
        If another one was meanwhile.
    """
    answer = runtime.keep("grids", partial(BackgroundGrid, runtime.computing)).answer(request, grid)
    if answer is None:
        raise LookupError("this grid is not there any more; compute it again")
    return answer
