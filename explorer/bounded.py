"""Runs functions that parse untrusted files in a worker process of bounded memory and time.

A file of a few kilobytes can make a parser allocate gigabytes or never return, and compiled code
checks no flag. Such functions therefore run in a separate process. It is killed when it exceeds its
memory limit, makes no progress for a minute, or does not stop after a cancellation::

    found = call(preview_of, path, name=path.name, memory=database_bytes(), cancelled=cancelled)

The function must be importable by name. Arguments, reports and results are pickled and should be
small; large data go through files. The function receives the keyword ``cancelled`` (a callable)
and, if reports are requested, ``report`` (a callable). Nested calls run in the same worker.
Workers are reused, so that a call usually takes about a millisecond.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from explorer.parent_watchdog import ParentPipe, exit_with_parent

STALL_S = 60.0
"""Seconds without progress after which a worker is killed."""
STEP_BYTES = 1 << 20
"""Bytes read or written that count as progress."""
POLL_S = 0.01
"""Interval between checks of a worker, in seconds; memory grows by about 20 MB in between."""
YIELD_S = 0.3
"""Seconds that a worker has to stop by itself."""
REUSED_BYTES = 400_000_000
"""Workers holding more memory than this after a call are not reused."""
IDLE_WORKERS = 2
"""Number of idle workers kept for the next calls."""

COMMAND = "from explorer.bounded import serve"
"""First part of a worker's command, which a frozen build runs itself."""

Cancelled = Callable[[], bool]


class LimitExceeded(ValueError):  # noqa: N818  (names the condition)
    """A file exceeded the limits of memory or time, or crashed its worker."""


class CallCancelled(Exception):  # noqa: N818  (a signal, not an error)
    """The call was cancelled."""


def call(
    function: Callable[..., Any],
    *args: Any,
    name: str,
    memory: int,
    cancelled: Cancelled | None = None,
    report: Callable[[Any], object] | None = None,
    progress: Callable[[Any], object] = lambda _: object(),
) -> Any:
    """Return ``function(*args, cancelled=…)`` computed in a worker.

    Parameters
    ----------
    function : callable
        Importable by name. Its keyword ``cancelled`` returns whether it should stop; it may raise
        anything then.
    args : tuple
        Pickled.
    name : str
        Of the file, for messages.
    memory : int
        Bytes that the worker may hold resident.
    cancelled : callable, optional
        Asked every 10 ms; true stops the worker, by force if it has not ended after 0.3 s.
    report : callable, optional
        Receives, in this thread, what the function gives its keyword ``report``.
    progress : callable
        Returns of a report what changes when there is progress; by default every report is.

    Raises
    ------
    LimitExceeded
        If the worker took too much memory, made no progress for a minute, or died.
    CallCancelled
        If `cancelled` said so.
    Exception
        Whatever the function raised.
    """
    reports = stream(
        function,
        *args,
        name=name,
        memory=memory,
        cancelled=cancelled,
        progress=progress,
        reporting=report is not None,
    )
    while True:
        try:
            result = next(reports)
        except StopIteration as end:
            return end.value
        if report is not None:
            try:
                report(result)
            except BaseException:
                reports.close()
                raise


def stream(
    function: Callable[..., Any],
    *args: Any,
    name: str,
    memory: int,
    cancelled: Cancelled | None = None,
    progress: Callable[[Any], object] = lambda _: object(),
    reporting: bool = True,
) -> Generator[Any, None, Any]:
    """Yield what a function reports from a worker and return its value; see `call`.

    Closing the generator stops the function.
    """
    if _serving is not None:
        return (yield from _in_place(function, args, cancelled, reporting))
    worker = _take()
    try:
        value = yield from worker.run(function, args, name, memory, cancelled, progress, reporting)
    finally:
        _give_back(worker)
    return value


def warm(count: int = 1, modules: tuple[str, ...] = ()) -> None:
    """Start workers in the background until `count` are idle.

    Parameters
    ----------
    count : int
    modules : tuple of str
        What those that are started import before their first call.
    """
    with _lock:
        missing = [_Worker(modules) for _ in range(min(count, IDLE_WORKERS) - len(_idle))]
        _idle.extend(missing)


def memory_limit() -> int | None:
    """Return the memory limit of this process in bytes; None outside of a worker's call."""
    return _serving


def in_worker() -> bool:
    """Return whether this process is a worker that executes a call."""
    return _serving is not None


def _in_place(
    function: Callable[..., Any], args: tuple[Any, ...], cancelled: Cancelled | None, many: bool
) -> Generator[Any, None, Any]:
    """Run a function in this process and yield its reports when it has returned."""
    result: list[Any] = []
    keywords = {"report": result.append} if many else {}
    value = function(*args, cancelled=cancelled, **keywords)
    yield from result
    return value


class _Worker:
    """A worker process, which executes one call after the other."""

    def __init__(self, modules: tuple[str, ...] = ()) -> None:
        pipe = _pipe_path()
        theirs, commands = os.pipe()
        answers, ours = os.pipe()
        self._commands = Connection(commands, readable=False)
        self._answers = Connection(answers, writable=False)
        command = f"{COMMAND}; serve({theirs}, {ours}, {pipe!r}, {modules!r})"
        if not getattr(sys, "frozen", False):  # not by the environment, which shadows the library
            paths = [path for path in sys.path if path]
            command = f"import sys; sys.path[:] = {paths!r}; {command}"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs, ours),
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        finally:
            os.close(theirs)
            os.close(ours)
        self.reusable = True
        self._stats: Any = None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self.reusable = False
        self._process.kill()
        self._process.wait()
        self._commands.close()
        self._answers.close()

    def run(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        name: str,
        memory: int,
        cancelled: Cancelled | None,
        progress: Callable[[Any], object],
        reporting: bool,
    ) -> Generator[Any, None, Any]:
        """Execute a call and monitor the process meanwhile."""
        watch = _Watch(self._process.pid, memory)
        ended = False
        try:
            self._commands.send_bytes(pickle.dumps((function, args, memory, reporting)))
            while True:
                if self._answers.poll(POLL_S):
                    kind, value = self._answers.recv()
                    if kind == "report":
                        watch.reported(progress(value))
                        yield value
                        continue
                    ended = True
                    if kind == "error":
                        if cancelled is not None and cancelled():
                            raise CallCancelled
                        raise value
                    return value
                if cancelled is not None and cancelled():
                    raise CallCancelled
                if fault := watch.fault(name):
                    self.kill()
                    raise LimitExceeded(fault)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.kill()
            raise LimitExceeded(_died(name, self._process.returncode)) from None
        finally:
            if ended:
                self.reusable = self.alive and watch.resident() <= REUSED_BYTES
            elif self.reusable:
                self._stop()

    def _stop(self) -> None:
        """Request the function to stop; kill the process if it does not."""
        until = time.monotonic() + YIELD_S
        try:
            self._commands.send_bytes(_STOP)
            while (left := until - time.monotonic()) > 0 and self._answers.poll(left):
                if self._answers.recv()[0] != "report":
                    return
        except (EOFError, OSError):
            pass
        self.kill()


class _Watch:
    """Monitors memory and progress of a process during one call."""

    def __init__(self, pid: int, memory: int) -> None:
        import psutil

        self._process, self._memory = psutil.Process(pid), memory
        self._gone = psutil.Error
        self._since = time.monotonic()
        self._bytes = self._moved()
        self._last: object = None

    def resident(self) -> int:
        """Return the resident bytes, 0 if the process has ended."""
        with suppress(self._gone):
            return int(self._process.memory_info().rss)
        return 0

    def reported(self, mark: object) -> None:
        """Record a report; one equal to the last is no progress."""
        if mark != self._last:
            self._last, self._since = mark, time.monotonic()

    def fault(self, name: str) -> str:
        """Return the reason to kill the process, or an empty string."""
        if self.resident() > self._memory:
            return (
                f"{name} takes more than {self._memory / 1e6:,.0f} MB of memory to read and "
                "was stopped: it is damaged, or made to fill memory. If you trust it, close other "
                "programs, or save it as CSV and open that."
            )
        now = time.monotonic()
        if now - self._since > 1.0:  # seldom: it takes longer than to ask for the memory
            moved = self._moved()
            if moved - self._bytes >= STEP_BYTES:
                self._bytes, self._since = moved, now
        if now - self._since > STALL_S:
            return (
                f"{name} was read for {STALL_S:.0f} s without progress and stopped: it "
                "is damaged, or made to hang. If you trust it, save it as CSV and open that."
            )
        return ""

    def _moved(self) -> int:
        """Return the bytes read and written since the start."""
        with suppress(self._gone, AttributeError):
            counts = self._process.io_counters()
            return int(counts.read_chars + counts.write_chars)
        return 0


def _died(name: str, code: int | None) -> str:
    how = ""
    if code is not None and code < 0:
        with suppress(ValueError):
            how = f" ({signal.Signals(-code).name})"
    return (
        f"{name} ended the process that read it{how}: it is damaged, or made to do so. Fetch or "
        "write it again; no row of it was used."
    )


_STOP = b""
_lock = threading.Lock()
_idle: list[_Worker] = []
_held: list[ParentPipe] = []
_serving: int | None = None


def _pipe_path() -> str:
    """Return the path of the pipe whose closing ends the workers."""
    if not _held:
        _held.append(ParentPipe())
    return _held[0].path


def _take() -> _Worker:
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.alive:
                return worker
        return _Worker()


def _give_back(worker: _Worker) -> None:
    with _lock:
        if worker.reusable and len(_idle) < IDLE_WORKERS:
            _idle.append(worker)
            return
    if worker.alive:
        worker.kill()


def _forget() -> None:
    """Clear the state in a forked child: the workers belong to its parent."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()
    _held.clear()


def _end() -> None:
    """Kill the idle workers, at exit."""
    with _lock:
        while _idle:
            _idle.pop().kill()


os.register_at_fork(after_in_child=_forget)
atexit.register(_end)


# In the worker


def serve(commands: int, answers: int, pipe: str, modules: tuple[str, ...] = ()) -> None:
    """Execute calls until the pipe closes; the main function of a worker."""
    global _serving
    exit_with_parent(pipe)
    taken, given = Connection(commands, writable=False), Connection(answers, readable=False)
    with suppress(ImportError):  # what nearly every call needs
        import duckdb  # noqa: F401
        import numpy as np  # noqa: F401
        import psutil  # noqa: F401
    for module in modules:
        with suppress(ImportError):  # an import that is needed is tried again by the call
            import_module(module)
    with suppress(EOFError, OSError):
        while True:
            order = taken.recv_bytes()
            if order == _STOP:  # a call that has ended
                continue
            keywords: dict[str, Any] = {"cancelled": partial(taken.poll, 0)}
            try:
                function, args, _serving, reporting = pickle.loads(order)
                if reporting:
                    keywords["report"] = lambda value: given.send(("report", value))
                answer = pickle.dumps(("value", function(*args, **keywords)))
            except BaseException as error:
                answer = pickle.dumps(("error", portable(error)))
            given.send_bytes(answer)


def portable(error: BaseException) -> Exception:
    """Return a picklable exception with its traceback as a note.

    Its causes stay behind: some libraries have them pickled too, and then who reads the exception
    imports those libraries.
    """
    error.add_note("".join(traceback.format_exception(error)))
    error.__cause__ = error.__context__ = error.__traceback__ = None
    try:
        if isinstance(error, Exception) and str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # whatever an exception's own way of being pickled raises
        pass
    plain = RuntimeError(f"{type(error).__name__}: {error}")
    plain.__notes__ = error.__notes__
    return plain
