"""Small questions to the data beside the main study: one runs, the newest waits, the rest drop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal


class LatestJob(QObject):
    """A thread that carries out the newest of the functions it was given.

    The thread starts with the first job and ends with `close`.

    Signals
    -------
    done(object, object)
        The key a job was given and what its function returned.
    failed(object, object)
        The key and the exception.
    """

    done = Signal(object, object)
    failed = Signal(object, object)
    _finished = Signal(object, object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._condition = threading.Condition()
        self._waiting: tuple[object, Callable[[], Any]] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._finished.connect(self._hand_on)

    def submit(self, key: object, function: Callable[[], Any]) -> None:
        """Ask for a function to be carried out; replaces the one that waits, if any."""
        with self._condition:
            if self._closed:
                return
            self._waiting = (key, function)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name)
                self._thread.start()
            self._condition.notify_all()

    def drop(self) -> None:
        """Forget the job that waits."""
        with self._condition:
            self._waiting = None

    def close(self, timeout: float = 10.0) -> None:
        """End the thread after the job that runs and wait for it.

        Raises
        ------
        RuntimeError
            If it has not ended in time.
        """
        with self._condition:
            self._closed = True
            self._waiting = None
            self._condition.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)
            if thread.is_alive():
                raise RuntimeError(f"{self._name} did not stop within {timeout:g} s")

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._closed or self._waiting is not None)
                if self._closed or self._waiting is None:
                    return
                (key, function), self._waiting = self._waiting, None
            try:
                result, error = function(), None
            except Exception as caught:  # whoever asked shows it
                result, error = None, caught
            if self._closed:
                return
            self._finished.emit(key, result, error)

    def _hand_on(self, key: object, result: Any, error: Exception | None) -> None:
        if self._closed:
            return
        if error is None:
            self.done.emit(key, result)
        else:
            self.failed.emit(key, error)
