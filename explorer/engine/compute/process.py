"""Processes of our own; beside this only `release.subprocess_runner` names `multiprocessing`.

They are started fresh (spawn): a fork would take the window's threads and locks with it, and what a
frozen build runs is not a Python that could be given a command.
"""

import atexit
import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from explorer.engine.executors.embedded import worker_environment
from explorer.shutdown import interrupts_held

END_S = 5.0
"""How long a process may take to end when asked to."""


class ServerProcess:
    """A process that serves commands until no more can come.

    It ends when `end_commands` is called or this process ends in whatever way: its connection is
    then at its end.

    Parameters
    ----------
    serve : callable
        ``serve(commands, answers)``, importable by name: the process' whole life. It receives from
        one connection until that raises EOFError, and sends to the other.
    name : str

    Attributes
    ----------
    commands, answers : Connection
        Each may be used by one thread at a time.
    """

    def __init__(self, serve: Callable[[Connection, Connection], None], name: str) -> None:
        context = multiprocessing.get_context("spawn")
        theirs, self.commands = context.Pipe(duplex=False)
        self.answers, ours = context.Pipe(duplex=False)
        # Not daemonic: a daemonic process may have no worker of its own.
        self._process = context.Process(target=serve, args=(theirs, ours), name=name)
        # Its environment is set before it imports anything.
        with _environment(worker_environment()), interrupts_held():
            self._process.start()
        # The copies of the process' ends are closed here: its death is then the pipes' end.
        theirs.close()
        ours.close()
        # Before multiprocessing waits at exit for a process that waits for its commands' end.
        atexit.register(self.end_commands)

    @property
    def pid(self) -> int | None:
        """The process' number."""
        return self._process.pid

    def end_commands(self) -> None:
        """Signal the process that no more commands will come."""
        self.commands.close()

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ValueError):  # it has ended, and was waited for
            self._process.kill()

    def join(self) -> None:
        """Wait for the process to end; one that takes longer than `END_S` is killed."""
        atexit.unregister(self.end_commands)
        self._process.join(END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Let processes that are started now find these values."""
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value
