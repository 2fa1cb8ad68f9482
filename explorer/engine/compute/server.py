"""What the compute process does: it carries out the commands that a `ComputeClient` sends."""

import gc
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.engine.executors.base import portable
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled
from explorer.studies.registry import cards, get_study, set_registered


def serve(commands: Connection, answers: Connection) -> None:
    """Answer what comes until the commands end (the process' whole life)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the window decides when this ends
    server = ComputeServer(answers)
    try:
        while True:
            name, *values = commands.recv()
            server.carry_out(name, values)
    except (EOFError, OSError):
        server.runtime.worker.close()
        gc.collect()  # the worker's semaphores are given back, else they are said to leak
        os._exit(0)  # what still runs is needed by nobody, so no thread is waited for


class ComputeServer:
    """Carries out commands, and sends deliveries and what functions return.

    Parameters
    ----------
    answers : Connection
    """

    def __init__(self, answers: Connection) -> None:
        self.runtime = StudyRuntime()
        self._answers = answers
        self._lock = threading.Lock()
        self._worker = LatestWorker(self.runtime.answer, self._deliver, "answers")
        self._asked = threading.Event()
        self._calls: set[int] = set()
        self._commands: dict[str, Callable[..., object]] = {
            "submit": self._submit,
            "cancel": self._worker.cancel,
            "file": self.runtime.register_file,
            "studies": set_registered,
            "prepare": self._prepare,
            "call": self._call,
            "give up": self._calls.discard,
        }

    def carry_out(self, name: str, values: list[Any]) -> None:
        """Carry out a command; nothing here takes longer than starting a thread."""
        self._commands[name](*values)

    def _submit(self, request: Any, generation: int) -> None:
        self._asked.set()
        self._worker.submit(request, generation)

    def _prepare(self) -> None:
        threading.Thread(target=_load_studies, args=(self._asked,), daemon=True).start()

    def _call(self, number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._calls.add(number)
        threading.Thread(target=self._run_call, args=(number, function, args), daemon=True).start()

    def _run_call(self, number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        def check() -> None:
            if number not in self._calls:
                raise Cancelled

        value, error = None, None
        try:
            value = function(self.runtime, *args, check)
        except Cancelled:
            return  # nobody waits for it
        except Exception as caught:  # raised again where it was asked
            error = portable(caught)
        if number in self._calls:
            self._calls.discard(number)
            self._send((number, value, error))

    def _deliver(self, delivery: Delivery) -> None:
        if delivery.error is not None:
            delivery = replace(delivery, error=portable(delivery.error))
        self._send(delivery)

    def _send(self, message: object) -> None:
        try:
            with self._lock:
                self._answers.send(message)
        except OSError:
            return  # nobody receives any more: the end of the commands ends the process


def _load_studies(asked: threading.Event) -> None:
    """Import what answers need, one study after another, until the first question comes."""
    for card in cards():
        if asked.is_set():
            return
        with suppress(ValueError):  # whoever asks it something is told
            get_study(card.id)
    gc.collect()
    gc.freeze()  # it all stays: looking through it again would hold up an answer
