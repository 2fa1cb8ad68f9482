"""Answers computed in a process of their own, so that a window shares its interpreter with nobody.

A thread that computes takes the interpreter's lock from the window and waits for it in turn: while
a slider was dragged, a first answer of 3 ms took 27, and importing a study's mathematics stopped
the window for up to 0.28 s (measured on two cores). The process runs the same `LatestWorker`.
"""

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.engine.compute.latest import Delivery
from explorer.engine.compute.process import END_S, ServerProcess
from explorer.engine.compute.server import serve
from explorer.engine.executors.base import WorkerDied
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled, Request
from explorer.studies.registry import Card, registered

_DIED = (
    "the process that computes ended before it answered (out of memory, or killed); "
    "move a slider to start it again"
)
CALL_POLL_S = 0.01


class ComputeClient:
    """Answers requests as a `LatestWorker` does, newest first, in another process.

    The process starts with `start` or the first request. If it ends by itself, the running request
    fails with `WorkerDied` and the next one starts another.

    Parameters
    ----------
    runtime : StudyRuntime
        Complete answers that come back are kept there; `add_file` there makes a file known here.

    Notes
    -----
    Studies registered in this process are known in the other, which makes its own by their class.
    """

    def __init__(self, runtime: StudyRuntime) -> None:
        self._runtime = runtime
        self._deliver: Callable[[Delivery], None] = lambda _: None
        self._condition = threading.Condition()
        self._commands: deque[tuple[Any, ...]] = deque()
        self._process: ServerProcess | None = None
        self._threads: list[threading.Thread] = []
        self._asked: tuple[int, Request] | None = None
        self._returned: dict[int, tuple[Any, Exception | None]] = {}
        self._waiting: set[int] = set()
        self._studies: tuple[Card, ...] = ()
        self._calls = 0
        self.generation = 0
        """Generation of the newest request."""
        self._finished = 0
        self._closed = False
        runtime.file_listeners.append(self._file_added)

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        with self._condition:
            return self._finished < self.generation

    @property
    def pid(self) -> int | None:
        """The process' number; None while there is none."""
        with self._condition:
            return self._process.pid if self._process is not None else None

    def deliver_to(self, deliver: Callable[[Delivery], None]) -> None:
        """Say who receives every `Delivery`, **in a thread** of this object or of `cancel`."""
        self._deliver = deliver

    def start(self) -> None:
        """Start the process and let it load what answers need, before anything is asked."""
        with self._condition:
            if self._process is None and not self._closed:
                self._begin()
                self._queue_command("prepare")

    def submit(self, request: Request) -> int:
        """Ask for an answer; replaces whatever was waiting. Returns the generation."""
        with self._condition:
            if self._closed:
                raise RuntimeError("compute client: closed")
            if self._process is None:
                self._begin()
            self.generation += 1
            self._drop_unsent()
            self._asked = (self.generation, request)
            self._send_studies()
            self._queue_command("submit", request, self.generation)
            return self.generation

    def cancel(self) -> None:
        """Drop the waiting request and stop the running one at its next check."""
        with self._condition:
            dropped = self._drop_unsent()
            if dropped is not None:
                self._finished = dropped[0]
            if self._process is not None:
                self._queue_command("cancel")
        if dropped is not None:
            self._deliver(Delivery(*dropped, finished=True))

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], check: Callable[[], None]
    ) -> Any:
        """Return ``function(runtime, *args, check)`` computed in the process, on the runtime there.

        Waits in the caller's thread; requests are answered at the same time.

        Parameters
        ----------
        function : callable
            Importable by name; it, its arguments and what it returns are pickled.
        args : tuple
        check : callable
            Called every few milliseconds while waiting; may raise `Cancelled`, upon which the
            function's own check raises it there.

        Raises
        ------
        Cancelled
            From `check`, or because this was closed meanwhile.
        WorkerDied
            If the process ended before it answered.
        Exception
            Whatever the function raised.
        """
        with self._condition:
            if self._closed:
                raise Cancelled
            if self._process is None:
                self._begin()
            process = self._process
            self._calls += 1
            number = self._calls
            self._waiting.add(number)
            self._send_studies()
            self._queue_command("call", number, function, args)
        try:
            while True:
                with self._condition:
                    self._condition.wait_for(lambda: number in self._returned, CALL_POLL_S)
                    if number in self._returned:
                        value, error = self._returned.pop(number)
                        self._waiting.discard(number)
                        break
                    if self._closed:
                        raise Cancelled
                    if self._process is not process:
                        raise WorkerDied(_DIED)
                check()
        except BaseException:
            with self._condition:
                self._waiting.discard(number)
                self._returned.pop(number, None)
                if self._process is process:
                    self._queue_command("give up", number)
            raise
        if error is not None:
            raise error
        return value

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing runs or waits; False if that took longer than `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(lambda: self._finished >= self.generation, timeout)

    def close(self) -> None:
        """End the process, running requests and all, and wait for it; nothing is delivered after.

        Does nothing the second time.
        """
        with self._condition:
            if self._closed:
                return
            self._closed = True
            self._condition.notify_all()
            process, threads = self._process, list(self._threads)
        self._runtime.file_listeners.remove(self._file_added)
        if process is None:
            return
        process.join()  # its commands were ended by the thread that sends them
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(END_S)

    # Under the lock

    def _queue_command(self, *command: Any) -> None:
        self._commands.append(command)
        self._condition.notify_all()

    def _send_studies(self) -> None:
        """Have the process know the studies registered here, before a question about one."""
        if self._studies != registered():
            self._studies = registered()
            self._queue_command("studies", self._studies)

    def _begin(self) -> None:
        process = ServerProcess(serve, "privacy-explorer-compute")
        self._process = process
        self._commands.clear()
        self._returned.clear()
        self._studies = ()
        self._commands.extend(
            ("file", value, path) for value, path in self._runtime.files().items()
        )
        self._threads = [
            threading.Thread(target=target, args=(process,), name=name, daemon=True)
            for target, name in ((self._send, "commands"), (self._receive_all, "answers"))
        ]
        for thread in self._threads:
            thread.start()

    def _drop_unsent(self) -> tuple[int, Request] | None:
        """Forget a request not yet sent, and return it: the newest one is all that is wanted."""
        unsent = [c for c in self._commands if c[0] == "submit"]
        for command in unsent:
            self._commands.remove(command)
        return (unsent[-1][2], unsent[-1][1]) if unsent else None

    # Threads

    def _file_added(self, value: str, path: Path) -> None:
        with self._condition:
            if self._process is not None:
                self._queue_command("file", value, path)

    def _send(self, process: ServerProcess) -> None:
        """Send commands; a full pipe makes this thread wait, never the one that asks."""
        try:
            while True:
                with self._condition:
                    self._condition.wait_for(
                        lambda: self._commands or self._closed or self._process is not process
                    )
                    if self._closed or self._process is not process:
                        return
                    command = self._commands.popleft()
                process.commands.send(command)
        except OSError:
            return  # it has ended: the thread that receives says so
        finally:
            process.end_commands()

    def _receive_all(self, process: ServerProcess) -> None:
        with process.answers:
            try:
                while True:
                    came = process.answers.recv()
                    if isinstance(came, Delivery):
                        self._receive(came)
                    else:
                        self._take(*came)
            except Exception:  # it ended, or says what can't be understood: no use either way
                process.kill()
                self._ended(process)

    def _receive(self, delivery: Delivery) -> None:
        if delivery.result is not None and delivery.result.complete:
            self._runtime.cache_result(delivery.result)
        with self._condition:
            if self._closed:
                return
            if delivery.finished:
                self._finished = max(self._finished, delivery.generation)
                self._condition.notify_all()
        self._deliver(delivery)

    def _take(self, number: int, value: Any, error: Exception | None) -> None:
        with self._condition:
            if number in self._waiting:
                self._returned[number] = (value, error)
                self._condition.notify_all()

    def _ended(self, process: ServerProcess) -> None:
        """Fail what was asked of a process that has ended by itself."""
        with self._condition:
            if self._closed or self._process is not process:
                return
            self._process = None
            lost = self._asked if self._finished < self.generation else None
            self._finished = self.generation
            self._condition.notify_all()
        process.join()
        if lost is not None:
            self._deliver(Delivery(*lost, error=WorkerDied(_DIED), finished=True))
