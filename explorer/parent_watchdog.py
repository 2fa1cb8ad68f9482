"""Makes worker processes exit when their parent dies, however it dies."""

from __future__ import annotations

import fcntl
import logging
import os
import select
import signal
import warnings

_LIBRARIES = (
    "PIL",
    "fontTools",
    "matplotlib",
    "numba",
    "pyogrio",
    "pypdf",
    "pyproj",
    "rasterio",
)
"""Loggers that are silenced."""


class ParentPipe:
    """A pipe that the system closes when this process ends; nothing is written to it.

    Attributes
    ----------
    path : str
        What `exit_with_parent` is to be called with in a worker process.
    """

    def __init__(self) -> None:
        self._ends = os.pipe()
        self.path = path_of(self._ends[0])

    def close(self) -> None:
        """End the workers."""
        for end in self._ends:
            os.close(end)

    def __enter__(self) -> ParentPipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def quiet_libraries() -> None:
    """Keep library warnings off standard error, which carries this program's messages.

    What concerns the user is in the error that is raised, or in the load report.
    """
    warnings.simplefilter("ignore")
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.addHandler(logging.NullHandler())
        library.propagate = False


def exit_with_parent(pipe: str) -> None:
    """Make the system end this process when the other end of a pipe is closed.

    The default action of SIGIO ends the process even while compiled code holds the interpreter's
    lock, when a polling thread would not run. SIGINT is ignored: a terminal sends it to the parent
    too, which handles it.
    """
    quiet_libraries()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # Opened anew: the signal goes to one process for each opening.
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        os._exit(1)  # closed already
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([end], [], [], 0)[0]:  # meanwhile
        os._exit(1)


def path_of(descriptor: int) -> str:
    """Return the path by which other processes open a descriptor of this one."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"
