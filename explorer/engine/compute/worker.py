"""One worker process for what may not run beside the interface: cvxpy, numba, long Python.

Importing cvxpy in a thread stops the interface for 77 ms and compiling with numba for 50–80 ms
(measured); in a process of its own neither is noticed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from explorer.engine.paths import cache_folder
from explorer.studies.base.study import Cancelled, NoWorker

KILL_AFTER_S = 2.0
"""How long a job that nobody waits for any more may hold up the next one before it is killed."""
SHARED_MEMORY = Path("/dev/shm")
"""Where Linux keeps the semaphores without which no worker process can be started."""


class WorkerDied(RuntimeError):  # noqa: N818  (an event, told to users as one)
    """The worker process ended during a job (killed, out of memory)."""


class WorkerProcess:
    """Runs module-level functions, one at a time, in a process that starts when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: Any = None
        self._lifeline: tuple[Any, Any] | None = None
        self._stale: list[tuple[Future[Any], float]] = []
        self._closed = False

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], check: Callable[[], None]
    ) -> Any:
        """Return ``function(*args)`` computed in the process.

        Parameters
        ----------
        function : callable
            Importable by name; it and its arguments are pickled.
        args : tuple
        check : callable
            Called every few milliseconds while waiting; may raise `Cancelled`.

        Raises
        ------
        Cancelled
            From `check`, or because the worker was closed meanwhile.
        WorkerDied
            If the process ended before it answered.
        NoWorker
            If the system doesn't let it start.
        Exception
            Whatever the function raised.
        """
        future = self._submit(function, args, check)
        try:
            while not future.done():
                check()
                _wait(future, 0.01)
        except BaseException:
            if not future.cancel():
                with self._lock:
                    self._stale.append((future, time.monotonic()))
            raise
        return self._outcome(future)

    def close(self) -> None:
        """End the process at once; running jobs are lost, later calls are cancelled."""
        with self._lock:
            self._closed = True
            executor, self._executor = self._executor, None
        if executor is not None:
            _end(executor)

    def _submit(
        self, function: Callable[..., Any], args: tuple[Any, ...], check: Callable[[], None]
    ) -> Future[Any]:
        while True:
            with self._lock:
                if self._closed:
                    raise Cancelled
                self._stale = [item for item in self._stale if not item[0].done()]
                overdue = any(time.monotonic() - since > KILL_AFTER_S for _, since in self._stale)
                if overdue and self._executor is not None:
                    _end(self._executor)
                    self._executor, self._stale = None, []
                if not self._stale:
                    future: Future[Any] = self._start().submit(function, *args)
                    return future
            check()
            time.sleep(0.005)

    def _start(self) -> Any:
        if self._executor is None:
            from loky import ProcessPoolExecutor
            from loky.backend import get_context

            try:
                # This process holds the end that is written to, which nobody does: the system
                # closes it however this process ends, and the worker ends with it.
                self._lifeline = get_context().Pipe(duplex=False)
                # Compiled code is kept between sessions; one BLAS thread, so that the window keeps
                # the other core.
                self._executor = ProcessPoolExecutor(
                    max_workers=1,
                    initializer=end_with,
                    initargs=(self._lifeline[0],),
                    env={
                        "NUMBA_CACHE_DIR": str(cache_folder() / "compiled"),
                        "OMP_NUM_THREADS": "1",
                        "OPENBLAS_NUM_THREADS": "1",
                        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
                    },
                )
            except OSError as error:
                raise NoWorker(_why_not(error)) from error
        return self._executor

    def _outcome(self, future: Future[Any]) -> Any:
        from loky.process_executor import ShutdownExecutorError, TerminatedWorkerError

        try:
            return future.result()
        except (TerminatedWorkerError, ShutdownExecutorError) as error:
            with self._lock:
                self._executor = None
                if self._closed:
                    raise Cancelled from error
            raise WorkerDied(
                "the worker process ended before it answered (out of memory, or killed); "
                "try a coarser resolution"
            ) from error


def end_with(lifeline: Any) -> None:
    """Let this process be ended by the system once a pipe's other end is closed.

    SIGIO's default is the end of the process, whatever that is doing: a thread that waits would
    not wake up while compiled code holds the interpreter's lock.
    """
    if not hasattr(os, "O_ASYNC"):
        return
    import fcntl

    global _held
    _held = lifeline  # collected, it would be closed
    place = lifeline.fileno()
    fcntl.fcntl(place, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(place, fcntl.F_SETFL, fcntl.fcntl(place, fcntl.F_GETFL) | os.O_ASYNC)
    if lifeline.poll():  # closed already
        os._exit(1)


_held: Any = None


def _why_not(error: OSError) -> str:
    """Return why the worker process does not start, and what to do."""
    why = (error.strerror or str(error)).lower()
    if os.access(SHARED_MEMORY, os.W_OK):
        return f"the process for long computations can't start: {why}"
    return (
        f"the process for long computations can't start, because nothing can be written to "
        f"{SHARED_MEMORY} ({why}); make it writable, in a container by mounting a tmpfs there"
    )


def _wait(future: Future[Any], seconds: float) -> None:
    """Wait for a future without raising what it holds."""
    from concurrent.futures import wait

    wait([future], timeout=seconds)


def _end(executor: Any) -> None:
    """Kill an executor's process and let its threads end.

    The thread that was writing a large argument into the dead process' pipe would wait for ever,
    because this process holds the other end open too.
    """
    queue = executor._call_queue
    executor.shutdown(wait=True, kill_workers=True)
    reader = getattr(queue, "_reader", None)
    if reader is not None:
        reader.close()
