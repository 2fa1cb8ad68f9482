"""Processes that compute, forked from one that has imported what they need.

The program starts them fresh, which takes two seconds of imports each; forked, tests of windows
take a third less of the processor, and 72 tests of commands, whose workers also find compiled code
loaded, 30 s for 60. What they do, and how they are talked to, stays the same;
`tests/engine/test_survivors.py`, the tests of workers (`fresh_workers`) and the programs that tests
start go the whole way.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.popen_forkserver import Popen
from typing import Any

from loky.backend.process import LokyProcess

PRELOADED = "tests.warm_processes_preload"
FRESH_WORKER = LokyProcess._Popen


class WarmContext:
    """Stands for the context that starts processes fresh, as far as `ServerProcess` asks it."""

    def __init__(self) -> None:
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([PRELOADED])
        # Now, while temporary folders are where they are by default: a socket's path must be short.
        forkserver.ensure_running()
        self.Pipe = self._context.Pipe

    def Process(  # noqa: N802 - the name contexts have
        self, *, target: Callable[..., None], args: tuple[Any, ...], name: str
    ) -> Any:
        """Return a process that finds the environment of its start, not that of its server."""
        given = (_Environment(), target, args)
        return self._context.Process(target=_run, args=given, name=name)


class WarmWorker(Popen):
    """Starts a process of loky's pools."""

    def _launch(self, process_obj: Any) -> None:
        given = ({**os.environ, **process_obj.env}, process_obj._target, process_obj._args)
        process_obj._target, process_obj._args = _run, given
        super()._launch(process_obj)


class _Environment:
    """Is a dictionary of this process' environment when it is sent to another."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(os.environ),)


def _run(environment: dict[str, str], target: Callable[..., None], args: tuple[Any, ...]) -> None:
    # It was forked from the server that it asks for workers of its own: not to start another.
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    os.environ.clear()
    os.environ.update(environment)
    target(*args)
