"""One asker's answers from the compute process."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import Any, Protocol

from explorer.engine.compute.latest import Delivery
from explorer.engine.runtime import StudyRuntime
from explorer.studies.base.study import Request


class Client(Protocol):
    """What a stream asks of a `ComputeClient`; its condition is held for the last three."""

    runtime: StudyRuntime
    condition: Condition

    @property
    def started(self) -> bool:
        """Whether there is a process to be asked."""

    def send(self, *command: Any) -> None:
        """Ask the process for something."""

    def stop_soon(self, stream: AnswerStream, generation: int) -> None:
        """End the process if a stopped request of a stream has not ended after a while."""

    def take_back(self, name: str, stream: str) -> list[tuple[Any, ...]]:
        """Return the commands that were not sent yet, and send them no more."""


class AnswerStream:
    """Answers requests as a `LatestWorker` does, newest first, in the process of a client.

    Made by `ComputeClient.answers`. The streams of a client are answered side by side.

    Parameters
    ----------
    client : ComputeClient
    name : str
        Of this stream alone.
    deliver : callable
        Receives every `Delivery`, **in a thread** of the client or of `cancel`.
    """

    def __init__(self, client: Client, name: str, deliver: Callable[[Delivery], None]) -> None:
        self._client = client
        self._condition = client.condition
        self._name = name
        self._deliver = deliver
        self._asked: tuple[int, Request] | None = None
        self.generation = 0
        """Generation of the newest request."""
        self._epochs: dict[int, int] = {}
        self._finished = self._unwanted = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        with self._condition:
            return self._finished < self.generation

    def submit(self, request: Request) -> int:
        """Ask for an answer; replaces whatever was waiting. Returns the generation."""
        with self._condition:
            if self._closed:
                raise RuntimeError(f"{self._name}: closed")
            self.generation += 1
            self._drop_unsent()
            self._asked = (self.generation, request)
            self._epochs[self.generation] = self._client.runtime.epoch
            self._client.send("submit", self._name, request, self.generation)
            return self.generation

    def cancel(self, soon: bool = False) -> None:
        """Drop the waiting request and stop the running one at its next check.

        With `soon` it is stopped within half a second: if it does not check, the process is ended
        and started anew.
        """
        with self._condition:
            dropped = self._drop_unsent()
            if dropped is not None:
                self._finished = dropped[0]
            self._unwanted = self.generation
            if self._client.started:
                self._client.send("cancel", self._name)
                if soon and self._finished < self.generation:
                    self._client.stop_soon(self, self.generation)
        if dropped is not None:
            self._deliver(Delivery(*dropped, finished=True))

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(lambda: self._finished >= self.generation, timeout)

    def close(self) -> None:
        """Stop what runs; nothing is delivered afterwards. Does nothing the second time."""
        with self._condition:
            if self._closed:
                return
            self._closed = True
            self._drop_unsent()
            if self._client.started:
                self._client.send("end", self._name)

    # For the client

    def receive(self, delivery: Delivery) -> None:
        """Deliver a message of the process."""
        with self._condition:
            if self._closed:
                return
            epoch = self._epochs.get(delivery.generation)
            if delivery.finished:
                self._finished = max(self._finished, delivery.generation)
                self._epochs = {n: e for n, e in self._epochs.items() if n > delivery.generation}
                self._condition.notify_all()
        if delivery.result is not None and delivery.result.final and epoch is not None:
            self._client.runtime.cache_result(delivery.result, epoch)
        self._deliver(delivery)

    def finished(self, generation: int) -> bool:
        """Whether nothing more comes for a request; the client's condition is held."""
        return self._finished >= generation

    def fail(self, error: Exception, generation: int, again: bool = False) -> None:
        """Say that the process ended before it answered what was asked up to a generation.

        What was asked since is asked of another process; so is this, with `again`, unless it was
        stopped.
        """
        with self._condition:
            waits = self._finished < generation == self.generation and not self._closed
            if again and waits and self._unwanted < generation and self._asked is not None:
                asked, request = self._asked
                self._client.send("submit", self._name, request, asked)
                return
            stopped = self._unwanted >= generation
            lost = self._asked if self._finished < self.generation == generation else None
            self._finished = max(self._finished, generation)
            self._epochs = {n: e for n, e in self._epochs.items() if n > generation}
            self._condition.notify_all()
            if self._closed:
                return
        if lost is not None:
            self._deliver(Delivery(*lost, error=None if stopped else error, finished=True))

    def _drop_unsent(self) -> tuple[int, Request] | None:
        """Forget a request not yet sent, and return it: the newest one is all that is wanted."""
        unsent = self._client.take_back("submit", self._name)
        return (unsent[-1][3], unsent[-1][2]) if unsent else None
