"""Main loop of the compute process: runs the commands that a `ComputeClient` sends."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.engine.compute.transport import Sender
from explorer.engine.executors.base import portable
from explorer.engine.paths import compiled_folder
from explorer.engine.runtime import StudyRuntime
from explorer.parent_watchdog import quiet_libraries
from explorer.privacy.heatmaps.row_pass import compile_pass
from explorer.studies.base.study import Cancelled
from explorer.studies.registry import get_study, set_registered, study_infos

END_S = 1.0
"""Time limit of closing open data sets."""
FIRST_ANSWER_S = 3.0
"""How long loading what is compiled waits for the first answer."""
SWITCH_S = 0.0005
"""After so long a thread that computes lets a command be read; Python's own 5 ms are a third of the
time between two values of a slider, and a newer number is computed between two points of a curve
only once it is known to be wanted."""
_OF_THE_MAP = ("explorer.checkins.loading", "explorer.studies.heatmap.losses", "duckdb")
"""Modules that its answers import when they are needed."""


def serve(commands: Connection, answers: Connection) -> None:
    """Answer what comes until the commands end (the process' whole life)."""
    quiet_libraries()
    sys.setswitchinterval(SWITCH_S)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the window decides when this ends
    server = ComputeServer(answers)
    try:
        while True:
            name, *values = commands.recv()
            server.carry_out(name, values)
    except (EOFError, OSError):
        # No parent is left that could kill this process.
        threading.Timer(END_S, os._exit, (0,)).start()
        server.runtime.close()
        gc.collect()  # the worker's semaphores are returned, else a leak is reported
        os._exit(0)  # results of running threads are not needed any more: none is joined


class ComputeServer:
    """Carries out commands, and sends deliveries and what functions return.

    Parameters
    ----------
    answers : Connection
    """

    def __init__(self, answers: Connection) -> None:
        self.runtime = StudyRuntime()
        self._sender = Sender(answers)
        self._workers: dict[str, LatestWorker] = {}
        self._asked, self._answered = threading.Event(), threading.Event()
        self._calls: set[int] = set()
        self._commands: dict[str, Callable[..., object]] = {
            "submit": self._submit,
            "cancel": self._cancel,
            "end": self._end,
            "file": self.runtime.register_file,
            "data": self._register_data,
            "studies": set_registered,
            "cluster": self.runtime.computing.use,
            "prepare": self._prepare,
            "call": self._call,
            "give up": self._calls.discard,
        }

    def carry_out(self, name: str, values: list[Any]) -> None:
        """Carry out a command; nothing here takes longer than starting a thread."""
        self._commands[name](*values)

    def _submit(self, name: str, request: Any, generation: int) -> None:
        self._asked.set()
        worker = self._workers.get(name)
        if worker is None:
            worker = LatestWorker(self.runtime.answer, partial(self._deliver, name), name)
            self._workers[name] = worker
        worker.submit(request, generation)

    def _cancel(self, name: str) -> None:
        if name in self._workers:
            self._workers[name].cancel()

    def _end(self, name: str) -> None:
        worker = self._workers.pop(name, None)
        if worker is not None:
            _in_thread(worker.close)

    def _register_data(self, fingerprint: str, stored: Any) -> None:
        # What was open under that name is closed, which waits for its questions to end. What is
        # asked next must not find it, so the commands wait as well.
        self.runtime.register_data(fingerprint, stored)

    def _prepare(self) -> None:
        _in_thread(_load_studies, self._asked, self._answered)

    def _call(
        self, number: int, function: Callable[..., Any], args: tuple[Any, ...], reports: bool
    ) -> None:
        self._calls.add(number)
        _in_thread(self._run_call, number, function, args, reports)

    def _run_call(
        self, number: int, function: Callable[..., Any], args: tuple[Any, ...], reports: bool
    ) -> None:
        def check() -> None:
            if number not in self._calls:
                raise Cancelled

        def report(value: object) -> None:
            check()
            self._send("report", number, value)

        value, error = None, None
        try:
            value = function(self.runtime, *args, check, *([report] if reports else ()))
        except Cancelled:
            return  # no client waits for it
        except Exception as caught:  # raised again where it was asked
            error = portable(caught)
        if number in self._calls:
            self._calls.discard(number)
            self._send("value", number, value, error)

    def _deliver(self, name: str, delivery: Delivery) -> None:
        if delivery.error is not None:
            delivery = replace(delivery, error=portable(delivery.error))
        self._send("answer", name, delivery, stream=name)
        if delivery.result is not None:
            self._answered.set()

    def _send(self, *message: object, stream: str = "") -> None:
        try:
            self._sender.send(message, stream)
        except OSError:
            return  # the receiver is gone: the end of the commands ends the process


def _in_thread(function: Callable[..., object], *args: Any) -> None:
    threading.Thread(target=function, args=args, daemon=True).start()


def _load_studies(asked: threading.Event, answered: threading.Event) -> None:
    """Import what answers need, then compile what counts check-ins: until then it is slower.

    Loading what is compiled takes a second in which the interpreter is shared: the first answer,
    for which somebody waits, comes first.
    """
    loads: list[Callable[[], object]] = [partial(get_study, info.id) for info in study_infos()]
    loads += [partial(import_module, name) for name in _OF_THE_MAP]
    for load in loads:
        if asked.is_set():
            break
        with suppress(ValueError):  # reported with the first request that needs it
            load()
    else:
        gc.collect()
        gc.freeze()  # it all stays: looking through it again would hold up an answer
    answered.wait(FIRST_ANSWER_S)
    os.environ["NUMBA_CACHE_DIR"] = str(compiled_folder())
    with suppress(ImportError):  # without numba it counts in numpy
        compile_pass()
    # Some values of a slider need it: imported then, it would hold up a drag for half a second.
    import_module("scipy.special")
