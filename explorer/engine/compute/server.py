"""The process in which `explorer.engine.compute.client` has answers computed."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from explorer.engine.compute.runner import AnswerRunner, Delivery
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled
from explorer.studies.registry import cards, get_study, know


def serve() -> None:
    """Answer what comes over standard input until that ends (the process' whole life)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the window decides when this ends
    commands = sys.stdin.buffer
    server = ComputeServer(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints must not come between the answers
    try:
        while True:
            name, *values = pickle.load(commands)
            server.carry_out(name, values)
    except (EOFError, OSError):
        server.host.worker.close()
        # What still runs is wanted by nobody, so no thread is waited for; but the worker's
        # semaphores are given back as at any end, else they are said to leak.
        atexit._run_exitfuncs()
        os._exit(0)


class ComputeServer:
    """Carries out commands, and writes deliveries and what functions return to a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.host = StudyRuntime()
        self._stream = stream
        self._lock = threading.Lock()
        self._runner = AnswerRunner(self.host, self._deliver, "answers")
        self._asked = threading.Event()
        self._wanted: set[int] = set()

    def carry_out(self, name: str, values: list[Any]) -> None:
        """Carry out a command; nothing here takes longer than starting a thread."""
        match name:
            case "submit":
                self._asked.set()
                self._runner.submit(*values)
            case "cancel":
                self._runner.cancel()
            case "file":
                self.host.know_file(*values)
            case "studies":
                know(*values)
            case "prepare":
                threading.Thread(target=_load_studies, args=(self._asked,), daemon=True).start()
            case "call":
                self._wanted.add(values[0])
                threading.Thread(target=self._call, args=values, daemon=True).start()
            case "give up":
                self._wanted.discard(values[0])

    def _call(self, number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        def check() -> None:
            if number not in self._wanted:
                raise Cancelled

        value, error = None, None
        try:
            value = function(self.host, *args, check)
        except Cancelled:
            return  # nobody waits for it
        except Exception as caught:  # raised again where it was asked
            error = _portable(caught)
        if number in self._wanted:
            self._wanted.discard(number)
            self._write((number, value, error))

    def _deliver(self, delivery: Delivery) -> None:
        if delivery.error is not None:
            delivery = replace(delivery, error=_portable(delivery.error))
        self._write(delivery)

    def _write(self, message: object) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except OSError:
            return  # nobody listens any more: the end of standard input ends the process


def _portable(error: Exception) -> Exception:
    """Return an exception that arrives as it left, with where it came from in a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # whatever an exception's own way of being pickled raises
        pass
    told = RuntimeError(f"{type(error).__name__}: {error}")
    told.__notes__ = error.__notes__
    return told


def _load_studies(asked: threading.Event) -> None:
    """Import what answers need, one study after another, until the first question comes."""
    import gc

    for card in cards():
        if asked.is_set():
            return
        with suppress(ValueError):  # said to whoever asks about it
            get_study(card.id)
    gc.collect()
    gc.freeze()  # it all stays: looking through it again would hold up an answer
