"""Client of the compute process: answers are computed outside the window's process.

A thread that computes takes the interpreter's lock from the window and waits for it in turn: while
a slider was dragged, a first answer of 3 ms took 27, and importing a study's mathematics stopped
the window for up to 0.28 s (measured on two cores). The process runs the same `LatestWorker`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.engine.compute.latest import Delivery
from explorer.engine.compute.process import END_S, ServerProcess
from explorer.engine.compute.server import serve
from explorer.engine.compute.transport import Receiver
from explorer.engine.executors.base import WorkerDied
from explorer.engine.executors.cluster import Cluster
from explorer.engine.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled, Request
from explorer.studies.registry import StudyInfo, registered_studies

if TYPE_CHECKING:
    from explorer.checkins.data import StoredData

_PROCESS_DIED = (
    "the process that computes ended before it answered (out of memory, or killed); "
    "move a slider to start it again"
)
CALL_POLL_S = 0.01
STOP_S = 0.4
"""How long a stopped request may take to end by itself."""


class ComputeClient:
    """Has requests answered, and functions carried out, in another process.

    The process starts with `start` or the first question. If it ends by itself, what it was asked
    fails with `WorkerDied`, and the next question starts another, with the same data sets and files
    open.

    Parameters
    ----------
    runtime : StudyRuntime
        Complete answers that come back are kept there; data sets and files added there become
        known to the process, by where they are.

    Attributes
    ----------
    condition : threading.Condition
        Guards this and its streams.

    Notes
    -----
    Studies registered in this process are known in the other, which makes its own by their class.
    """

    def __init__(self, runtime: StudyRuntime) -> None:
        self.runtime = runtime
        self.condition = threading.Condition()
        self._streams: dict[str, AnswerStream] = {}
        self._commands: deque[tuple[Any, ...]] = deque()
        self._process: ServerProcess | None = None
        self._forced: ServerProcess | None = None
        self._threads: list[threading.Thread] = []
        self._returned: dict[int, tuple[Any, Exception | None]] = {}
        self._waiting: dict[int, Callable[[Any], object]] = {}
        self._studies: tuple[StudyInfo, ...] = ()
        self._prepared = False
        self._calls = 0
        self._cluster: Cluster | None = None
        self._closed = False
        runtime.file_listeners.append(self._file_added)
        runtime.data_listeners.append(self._data_changed)

    @property
    def pid(self) -> int | None:
        """The process' number; None while there is none."""
        with self.condition:
            return self._process.pid if self._process is not None else None

    def answers(self, name: str, deliver: Callable[[Delivery], None]) -> AnswerStream:
        """Return a stream that answers requests, independent of streams of other names.

        `deliver` receives every `Delivery`, **in a thread**. The one of that name before is closed.
        """
        stream = AnswerStream(self, name, deliver)
        with self.condition:
            before = self._streams.get(name)
            self._streams[name] = stream
        if before is not None:
            before.close()
        return stream

    def start(self) -> None:
        """Start the process and preload what answers need, before the first request."""
        with self.condition:
            self._prepared = True
            if self._process is None and not self._closed:
                self._begin()

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        check: Callable[[], None],
        report: Callable[[Any], object] | None = None,
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
        report : callable, optional
            Receives, **in another thread**, what the function gives its last argument: it is then
            called as ``function(runtime, *args, check, report)``.

        Raises
        ------
        Cancelled
            From `check`, or because this was closed meanwhile.
        WorkerDied
            If the process ended before it answered.
        Exception
            Whatever the function raised.
        """
        with self.condition:
            if self._closed:
                raise Cancelled
            self._calls += 1
            number = self._calls
            self._waiting[number] = report or (lambda _: None)
            self.send("call", number, function, args, report is not None)
            process = self._process
        try:
            while True:
                with self.condition:
                    self.condition.wait_for(lambda: number in self._returned, CALL_POLL_S)
                    if number in self._returned:
                        value, error = self._returned.pop(number)
                        self._waiting.pop(number, None)
                        break
                    if self._closed:
                        raise Cancelled
                    if self._process is not process:
                        if self._forced is not process:
                            raise WorkerDied(_PROCESS_DIED)
                        # Ended for another client's request: sent again to a new process.
                        self.send("call", number, function, args, report is not None)
                        process = self._process
                check()
        except BaseException:
            with self.condition:
                self._waiting.pop(number, None)
                self._returned.pop(number, None)
                if self._process is process:
                    self._queue_command("give up", number)
            raise
        if error is not None:
            raise error
        return value

    def use_cluster(self, cluster: Cluster | None) -> None:
        """Have the process, and any that comes after it, send work to a cluster; None: to none."""
        with self.condition:
            self._cluster = cluster
            if self._process is not None:
                self._queue_command("cluster", cluster)

    def close(self) -> None:
        """End the process, running requests and all, and wait for it; nothing is delivered after.

        Does nothing the second time.
        """
        with self.condition:
            if self._closed:
                return
            self._closed = True
            self.condition.notify_all()
            process, threads = self._process, list(self._threads)
            streams = list(self._streams.values())
        for stream in streams:
            stream.close()
        self.runtime.file_listeners.remove(self._file_added)
        self.runtime.data_listeners.remove(self._data_changed)
        if process is None:
            return
        process.join()  # its commands were ended by the thread that sends them
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(END_S)

    # Under the lock

    @property
    def started(self) -> bool:
        """Whether there is a process to be asked."""
        return self._process is not None and not self._closed

    def send(self, *command: Any) -> None:
        """Ask the process for something; it is started first if there is none.

        Raises
        ------
        RuntimeError
            After `close`.
        """
        if self._closed:
            raise RuntimeError("compute client: closed")
        if self._process is None:
            self._begin()
        if self._studies != registered_studies():
            # Before a question about one of them.
            self._studies = registered_studies()
            self._queue_command("studies", self._studies)
        self._queue_command(*command)

    def stop_soon(self, stream: AnswerStream, generation: int) -> None:
        """End the process if a stopped request of a stream has not ended after `STOP_S`."""
        timer = threading.Timer(STOP_S, self._stop_by_force, (self._process, stream, generation))
        timer.daemon = True
        timer.start()

    def take_back(self, name: str, stream: str) -> list[tuple[Any, ...]]:
        """Return the commands of a stream that were not sent yet, and send them no more."""
        unsent = [c for c in self._commands if c[:2] == (name, stream)]
        for command in unsent:
            self._commands.remove(command)
        return unsent

    def _queue_command(self, *command: Any) -> None:
        self._commands.append(command)
        self.condition.notify_all()

    def _begin(self) -> None:
        process = ServerProcess(serve, "privacy-explorer-compute")
        self._process = process
        self._commands.clear()
        self._returned.clear()
        self._studies = ()
        self._commands.append(("cluster", self._cluster))
        self._commands.extend(("file", *known) for known in self.runtime.files().items())
        self._commands.extend(("data", *known) for known in self.runtime.stored_data().items())
        if self._prepared:  # one that comes after another, too: else it counts more slowly
            self._commands.append(("prepare",))
        self._threads = [
            threading.Thread(target=target, args=(process,), name=name, daemon=True)
            for target, name in ((self._send_all, "commands"), (self._receive_all, "answers"))
        ]
        for thread in self._threads:
            thread.start()

    # Threads

    def _file_added(self, value: str, path: Path) -> None:
        with self.condition:
            if self._process is not None:
                self._queue_command("file", value, path)

    def _data_changed(self, fingerprint: str, stored: StoredData | None) -> None:
        with self.condition:
            if self._process is not None:
                self._queue_command("data", fingerprint, stored)

    def _send_all(self, process: ServerProcess) -> None:
        """Send commands; a full pipe makes this thread wait, never the one that asks."""
        try:
            while True:
                with self.condition:
                    self.condition.wait_for(
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
        receiver = Receiver(process.answers)
        take: dict[str, Callable[..., None]] = {
            "answer": self._take_answer,
            "report": self._take_report,
            "value": self._take_value,
        }
        with process.answers:
            try:
                while True:
                    kind, *came = receiver.receive()
                    take[kind](*came)
            except Exception:  # it ended, or says what can't be understood: no use either way
                process.kill()
                self._ended(process)

    def _take_answer(self, name: str, delivery: Delivery) -> None:
        with self.condition:
            stream = self._streams.get(name)
        if stream is not None:
            stream.receive(delivery)

    def _take_report(self, number: int, value: Any) -> None:
        with self.condition:
            report = self._waiting.get(number)
        if report is not None:
            report(value)

    def _take_value(self, number: int, value: Any, error: Exception | None) -> None:
        with self.condition:
            if number in self._waiting:
                self._returned[number] = (value, error)
                self.condition.notify_all()

    def _stop_by_force(self, process: ServerProcess, stream: AnswerStream, generation: int) -> None:
        with self.condition:
            if self._closed or self._process is not process or stream.finished(generation):
                return
            self._forced = process
        process.kill()  # whoever receives its answers starts another

    def _ended(self, process: ServerProcess) -> None:
        """Fail the requests of a process that ended by itself.

        After one that was ended for a request that did not stop, the others are asked again.
        """
        with self.condition:
            if self._closed or self._process is not process:
                return
            self._process, forced = None, self._forced is process
            lost = [(stream, stream.generation) for stream in self._streams.values()]
            self.condition.notify_all()
        process.join()
        for stream, generation in lost:
            stream.fail(WorkerDied(_PROCESS_DIED), generation, again=forced)


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

    def __init__(
        self, client: ComputeClient, name: str, deliver: Callable[[Delivery], None]
    ) -> None:
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
