"""Worker processes that end however the process ends that started them."""

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
"""Names of loggers."""


class ParentPipe:
    """A pipe to whose other end nobody writes, and which the system closes with this process.

    Attributes
    ----------
    path : str
        What `exit_with_parent` is to be called with in a worker process.
    """

    def __init__(self) -> None:
        self._ends = os.pipe()
        self.path = path_of(self._ends[0])

    def close(self) -> None:
        """Let the workers end."""
        for end in self._ends:
            os.close(end)

    def __enter__(self) -> ParentPipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def quiet_libraries() -> None:
    """Keep warnings of libraries off standard error, where this program's own sentences stand.

    What concerns the user is in the error that is raised, or in the load report.
    """
    warnings.simplefilter("ignore")
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.addHandler(logging.NullHandler())
        library.propagate = False


def exit_with_parent(lifeline: str) -> None:
    """Let this process be ended by the system once a pipe's other end is closed.

    SIGIO's default is the end of the process, whatever that is doing: a thread that looks for its
    parent would not wake up while compiled code holds the interpreter's lock. An interrupt from
    the keyboard is the parent's affair, which a terminal sends to all.
    """
    quiet_libraries()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # Opened anew: the signal goes to one process for each opening.
        end = os.open(lifeline, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        os._exit(1)  # closed already
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([end], [], [], 0)[0]:  # meanwhile
        os._exit(1)


def path_of(descriptor: int) -> str:
    """Return the path by which other processes open what this one has open."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"
