"""No other process: inside a worker, what a study would hand to one runs where it is."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer.checkins.cache import scratch
from explorer.engine.executors.base import Executor


class InPlaceExecutor(Executor):
    """Runs every function at once in the thread that submits it."""

    workers = 1

    def submit(self, function: str, *args: Any) -> Future[Any]:
        """Return what became of ``function(*args)`` (see `Executor.submit`)."""
        future: Future[Any] = Future()
        try:
            future.set_result(resolve_name(function)(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def cancel(self, future: Future[Any]) -> None:
        """Do nothing: it is over."""

    def close(self) -> None:
        """Do nothing: there is no process."""

    def shared_folder(self) -> AbstractContextManager[Path]:
        """Yield a temporary folder of this machine."""
        return scratch()

    def state(self) -> str:
        """Return who works."""
        return "this process"
