"""Worker processes on this machine: for cvxpy, numba, simulations, long Python.

Importing cvxpy in a thread stops the interface for 77 ms and compiling with numba for 50–80 ms
(measured); in a process of its own neither is noticed.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from explorer.checkins.cache import scratch
from explorer.engine.executors.base import Executor, WorkerDied, outcome
from explorer.engine.paths import compiled_folder
from explorer.parent_watchdog import ParentPipe, exit_with_parent, path_of
from explorer.shutdown import interrupts_held
from explorer.studies.base.study import Cancelled, NoWorker

KILL_AFTER_S = 2.0
"""Time that an abandoned job may delay the next one before it is killed."""
SHARED_MEMORY = Path("/dev/shm")
"""Where Linux keeps the semaphores without which no worker process can be started."""


def worker_environment() -> dict[str, str]:
    """Return the environment variables of worker processes.

    One BLAS thread each: a second one would spin for a core that the window paints on (a heatmap's
    frame took twice as long). Compiled code is kept between sessions.
    """
    return {
        "NUMBA_CACHE_DIR": str(compiled_folder()),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
    }


class EmbeddedExecutor(Executor):
    """Pool of loky worker processes, started on first use and ended with this process."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._pool: Any = None
        self._lifeline: ParentPipe | None = None
        self._jobs: dict[Future[Any], tuple[Future[Any], _Parcel]] = {}
        self._stale: dict[Future[Any], float] = {}
        self._closed = False

    @property
    def workers(self) -> int:
        """Number of processes."""
        return self._workers

    def submit(self, function: str, *args: Any) -> Future[Any]:
        """Submit ``function(*args)`` (see `Executor.submit`)."""
        parcel = _Parcel(args)
        future: Future[Any] = Future()
        try:
            with self._lock:
                if self._closed:
                    raise Cancelled
                job = run_parcel, function, parcel.path
                try:
                    running = self._start(job)
                except BrokenExecutor:
                    self._pool = None
                    running = self._start(job)
                self._jobs[future] = running, parcel
                pool = self._pool
        except BaseException:
            parcel.close()
            raise
        running.add_done_callback(partial(self._finish, future, parcel, pool))
        return future

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a future; a running job is killed if it delays the next one for too long."""
        future.cancel()
        running, parcel = self._jobs.get(future, (None, None))
        if running is not None and parcel is not None:
            # One that only waits then does nothing. It is not cancelled in the pool, whose thread
            # fails on what is cancelled when it is closed.
            parcel.empty()
            with self._lock:
                self._stale[running] = time.monotonic()

    def ready(self) -> bool:
        """Return whether no cancelled job is still running; kill those that run too long."""
        with self._lock:
            if self._closed:
                return True
            self._stale = {job: since for job, since in self._stale.items() if not job.done()}
            if any(time.monotonic() - since > KILL_AFTER_S for since in self._stale.values()):
                pool, self._pool = self._pool, None
                self._stale = {}
            else:
                return not self._stale
        _kill(pool)
        return True

    def close(self) -> None:
        """End the processes at once; running jobs are lost, later ones are cancelled."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
            lifeline, self._lifeline = self._lifeline, None
        _kill(pool)
        if lifeline is not None:
            lifeline.close()

    def shared_folder(self) -> AbstractContextManager[Path]:
        """Yield a temporary folder of this machine."""
        return scratch()

    def state(self) -> str:
        """Return a sentence with the number of processes."""
        return f"{self.workers} process{'es' * (self.workers > 1)} on this machine"

    def _start(self, job: tuple[Any, ...]) -> Any:
        pool = self._running_pool()
        with interrupts_held():  # processes start now
            return pool.submit(*job)

    def _running_pool(self) -> Any:
        if self._pool is None:
            # Only when a worker is wanted: it is slow to import.
            from loky import ProcessPoolExecutor
            from loky.backend import resource_tracker

            resource_tracker.ensure_running()  # as in `interrupts_held`

            try:
                self._lifeline = self._lifeline or ParentPipe()
                self._pool = ProcessPoolExecutor(
                    max_workers=self._workers,
                    initializer=exit_with_parent,
                    initargs=(self._lifeline.path,),
                    env=worker_environment(),
                )
            except OSError as error:
                raise NoWorker(_start_error(error)) from error
        return self._pool

    def _finish(
        self, future: Future[Any], parcel: _Parcel, pool: Any, running: Future[Any]
    ) -> None:
        """Set the result of a job's future.

        The pool's thread calls this while it holds the lock that `submit` takes under ours.
        """
        self._jobs.pop(future, None)
        value, error = None, None  # type: tuple[Any, BaseException | None]
        if future.set_running_or_notify_cancel():
            broken = running.exception()
            if broken is None:
                value, error = parcel.result()
            elif isinstance(broken, BrokenExecutor) and not self._closed:
                error = WorkerDied(
                    "the worker process ended before it answered (out of memory, or killed); "
                    "try a coarser resolution"
                )
            else:
                error = broken if pool is self._pool else CancelledError()
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        parcel.close()


class _Parcel:
    """Arguments of a job, then its result, in one in-memory file shared with the worker.

    The pool's own pipes carry the file's name alone: a thread that writes something large for a
    killed worker would never return, nor would one that reads a half-written result.
    """

    def __init__(self, args: tuple[Any, ...]) -> None:
        # In no folder, so that nothing is left behind if this process is killed.
        self._file = os.fdopen(os.memfd_create("job"), "w+b")
        self.path = path_of(self._file.fileno())
        try:
            pickle.dump(args, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except BaseException:
            self.close()
            raise

    def empty(self) -> None:
        """Remove the arguments, so that a worker skips the job."""
        with suppress(ValueError):  # done meanwhile
            self._file.truncate(0)

    def result(self) -> tuple[Any, Exception | None]:
        """Return the function's result, or raise its exception."""
        self._file.seek(0)
        outcome: tuple[Any, Exception | None] = pickle.load(self._file)
        return outcome

    def close(self) -> None:
        """Free the memory."""
        self._file.close()


def run_parcel(function: str, path: str) -> None:
    """Replace a function's arguments in a file by its result or exception (in a worker)."""
    with open(path, "r+b") as file:
        if not os.fstat(file.fileno()).st_size:  # given up
            return
        answer = outcome(function, file)
        file.seek(0)
        file.truncate()
        file.write(answer)


def _kill(pool: Any) -> None:
    """End a pool's processes and wait for its threads."""
    if pool is not None:
        pool.shutdown(wait=True, kill_workers=True)


def _start_error(error: OSError) -> str:
    """Return the reason why the worker process does not start, with a remedy."""
    why = (error.strerror or str(error)).lower()
    if os.access(SHARED_MEMORY, os.W_OK):
        return f"the process for long computations can't start: {why}"
    return (
        f"the process for long computations can't start, because nothing can be written to "
        f"{SHARED_MEMORY} ({why}); make it writable, in a container by mounting a tmpfs there"
    )
