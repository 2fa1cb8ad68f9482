"""Executor interface, and the calls and batches implemented once above it.

Functions go by their importable names. One defined in ``__main__`` would travel by value, and a
worker with other code would then go unnoticed. Nothing that draws release noise goes through here:
a job that is sent again would be a second release.

`InPlaceExecutor` starts no process: inside a worker it runs a study's tasks in place.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO

import numpy as np

import explorer
from explorer.bounded import portable as portable
from explorer.checkins.cache import scratch

CHECK_S = 0.01
"""Seconds between two calls of `check` while waiting."""
BATCH_S = 0.25
"""Seconds a batch is to take: long beside its transport, short beside the patience of a user."""
MAX_GROWTH = 8
IN_FLIGHT = 4
"""Batches for each worker that are sent ahead."""
MAX_FAILURES = 5
INSTALL_THE_SAME = "install there what is installed here"

MAX_NAMED = 300
"""Letters of a task that an error shows."""

Task = Any
"""Plain JSON (study, values, cell, trial) if it has a key or a seed; else any picklable object."""


class WorkerDied(RuntimeError):  # noqa: N818  (an event, reported as one)
    """A worker process ended during a job (killed, out of memory).

    Parameters
    ----------
    message : str
    times : int
        How often that happened to the same job.
    """

    def __init__(self, message: str, times: int = 1) -> None:
        super().__init__(message)
        self.times = times


class DifferentCode(RuntimeError):  # noqa: N818
    """A worker has other code or libraries than this process; the message names it."""


class Executor(ABC):
    """Runs functions in other processes. Safe to use from several threads."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of jobs that run at the same time, at least 1; it may change for a cluster."""

    @abstractmethod
    def submit(self, function: str, *args: Any) -> Future[Any]:
        """Submit ``function(*args)``, the function given as ``package.module:function``.

        Returns at once. A broken pool is renewed.

        Returns
        -------
        Future
            Raises `WorkerDied` if the worker ended, CancelledError if the pool was ended on
            purpose (it may be submitted again), else what the function raised.

        Raises
        ------
        Cancelled
            After `close`.
        NoWorker
            If the system starts no worker.
        """

    @abstractmethod
    def cancel(self, future: Future[Any]) -> None:
        """Cancel a future: it is not started, or its result is discarded."""

    @abstractmethod
    def close(self) -> None:
        """End the workers at once; running jobs are lost, later ones are cancelled."""

    @abstractmethod
    def shared_folder(self) -> AbstractContextManager[Path]:
        """Yield a folder that all workers see under the same name, removed afterwards.

        Raises
        ------
        NoWorker
            If there is none; the message names the machines that do not see it.
        """

    @abstractmethod
    def state(self) -> str:
        """Return a sentence that describes the workers."""

    def ready(self) -> bool:
        """Return whether a job would start now; make a worker available soon otherwise."""
        return True

    def check_workers(self) -> None:
        """Raise `NoWorker` if submitted jobs can no longer be computed."""
        return

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], check: Callable[[], None]
    ) -> Any:
        """Return ``function(*args)`` computed by a worker, which must be able to import it.

        `check` is called every few milliseconds while waiting; its exception ends the call. Raises
        otherwise as `submit` and its future do.
        """
        name = name_of(function)
        while True:
            self._wait_ready(check)
            future = self.submit(name, *args)
            try:
                while not future.done():
                    check()
                    self.check_workers()
                    wait([future], CHECK_S)
            except BaseException:
                self.cancel(future)
                raise
            try:
                return future.result()
            except CancelledError:  # with another caller's job; after `close` the next round ends
                continue

    def map(
        self, function: Callable[[Task], Any], tasks: Iterable[Task], check: Callable[[], None]
    ) -> Iterator[tuple[int, Any]]:
        """Yield task numbers and results in the order of completion; see `batches`."""
        for batch in self.batches(function, tasks, check):
            yield from batch

    def batches(
        self, function: Callable[[Task], Any], tasks: Iterable[Task], check: Callable[[], None]
    ) -> Iterator[list[tuple[int, Any]]]:
        """Yield batches of task numbers and results in the order of completion.

        A batch is as many tasks as take `BATCH_S` by measured times. One whose worker ended is
        sent again, alone, so that failures are counted against the batch that causes them.

        Parameters
        ----------
        function : callable
            Of a task; importable by name. Never one that draws release noise: a batch sent again
            would be a second release.
        tasks : iterable of Task
        check : callable
            As in `call`.

        Raises
        ------
        WorkerDied
            If that befell one batch `MAX_FAILURES` times; it is named.
        DifferentCode
            If a worker's package, Python, numpy or machine differs from this process'.
        Exception
            Exceptions of `check`, the function or `submit`.
        """
        name, code = name_of(function), code_here()
        numbered = enumerate(tasks)
        again: deque[_Batch] = deque()
        flying: dict[Future[Any], _Batch] = {}
        size = 1
        self._wait_ready(check)
        try:
            while True:
                while len(flying) < (1 if again else IN_FLIGHT * self.workers):
                    batch = again.popleft() if again else _Batch(list(islice(numbered, size)))
                    if not batch.tasks:
                        break
                    sent = [task for _, task in batch.tasks]
                    flying[self.submit(name_of(run_batch), name, sent, code)] = batch
                if not flying:
                    return
                done, _ = wait(flying, CHECK_S, FIRST_COMPLETED)
                check()
                self.check_workers()
                for future in done:
                    batch = flying.pop(future)
                    try:
                        results, seconds = future.result()
                    except WorkerDied as error:
                        again.append(batch.failed(name, error))
                    except CancelledError:
                        again.append(batch)
                    else:
                        n = len(results)
                        size = max(1, min(MAX_GROWTH * n, round(n * BATCH_S / (seconds + 1e-9))))
                        yield [
                            (number, r) for (number, _), r in zip(batch.tasks, results, strict=True)
                        ]
        finally:
            for future in flying:
                self.cancel(future)

    def _wait_ready(self, check: Callable[[], None]) -> None:
        while not self.ready():
            check()
            time.sleep(CHECK_S / 2)


@dataclass(slots=True)
class _Batch:
    """Numbered tasks that are sent together, and the number of times their worker died."""

    tasks: list[tuple[int, Task]]
    failures: int = 0

    def failed(self, name: str, error: WorkerDied) -> _Batch:
        """Count a failure and return the batch for another attempt; raises after the last."""
        self.failures += error.times
        if self.failures < MAX_FAILURES:
            return self
        first, last = self.tasks[0], self.tasks[-1]
        raise WorkerDied(
            f"{name}: the worker ended {self.failures} times at tasks {first[0]} to {last[0]}, "
            f"the first being {_name_nodes(first[1])} ({error})"
        ) from error


def run_batch(
    function: str, tasks: Sequence[Task], code: dict[str, str]
) -> tuple[list[Any], float]:
    """Return the results of tasks and the seconds taken, or raise `DifferentCode` (in a worker)."""
    check_code(code)
    run = resolve_name(function)
    began = time.perf_counter()
    return [run(task) for task in tasks], time.perf_counter() - began


def check_code(code: dict[str, str]) -> None:
    """Raise `DifferentCode`, naming this worker, unless it has exactly this code."""
    other = differences(code_here(), code)
    if other:
        raise DifferentCode(
            f"worker {os.getpid()} on {platform.node()} has {other}; {INSTALL_THE_SAME}"
        )


def differences(theirs: dict[str, str], code: dict[str, str]) -> str:
    """Return the differences of a worker's code from this code; empty if there are none."""
    return ", ".join(
        f"{key} {theirs.get(key)} instead of {code[key]}"
        for key in code
        if theirs.get(key) != code[key]
    )


@cache
def code_here() -> dict[str, str]:
    """Return the versions on which last bits depend: this package, Python, numpy, machine."""
    digest = hashlib.sha256()
    for path in sorted(Path(explorer.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return {
        "privacy-explorer": explorer.__version__,
        "sources": digest.hexdigest()[:16],
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def name_of(function: Callable[..., Any]) -> str:
    """Return ``package.module:function``; ValueError if others could not import that."""
    name = f"{function.__module__}:{function.__qualname__}"
    if function.__module__ == "__main__" or "<" in name or resolve_name(name) is not function:
        raise ValueError(f"{name} can't be imported by a worker; define it in a module, by itself")
    return name


def canonical(task: Task) -> str:
    """Return a task's canonical JSON; TypeError or ValueError if it is not plain JSON."""
    return json.dumps(
        task, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def task_key(task: Task) -> str:
    """Return the sha256 of a task's canonical form, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(task).encode()).hexdigest()


def task_seed(key: str) -> np.random.Philox:
    """Return a task's own random bits: Philox keyed by the first 128 bits of the task's key.

    They do not depend on batch, order, executor or retry.
    """
    return np.random.Philox(key=int(key[:32], 16))


def _name_nodes(task: Task) -> str:
    """Return a task as shown in error messages."""
    try:
        text = canonical(task)
    except (TypeError, ValueError):
        text = repr(task)
    return text if len(text) <= MAX_NAMED else f"{text[:MAX_NAMED]}…"


def outcome(function: str, args: BinaryIO) -> bytes:
    """Call a function with pickled arguments; return its pickled result or exception."""
    try:
        result = resolve_name(function)(*pickle.load(args))
        return pickle.dumps((result, None), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        return pickle.dumps((None, portable(error)))


class InPlaceExecutor(Executor):
    """Runs every function immediately in the submitting thread."""

    workers = 1

    def submit(self, function: str, *args: Any) -> Future[Any]:
        """Return the completed future of ``function(*args)`` (see `Executor.submit`)."""
        future: Future[Any] = Future()
        try:
            future.set_result(resolve_name(function)(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def cancel(self, future: Future[Any]) -> None:
        """Do nothing: the job has ended."""

    def close(self) -> None:
        """Do nothing: no process was started."""

    def shared_folder(self) -> AbstractContextManager[Path]:
        """Yield a temporary folder of this machine."""
        return scratch()

    def state(self) -> str:
        """Return a sentence that describes the workers."""
        return "this process"
