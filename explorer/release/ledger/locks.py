"""File locks of ledgers; the system releases the locks of a process that dies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from explorer.release.errors import LedgerError

with contextlib.suppress(ImportError):  # without locks, ledgers and certificates can be verified
    import fcntl

UNSUPPORTED = (
    "releases are not offered on this system, as its locks do not tell a process that died from "
    "one that draws; use Linux or macOS"
)


def unsupported_reason() -> str:
    """Return why releases are not supported on this system; "" if they are."""
    return "" if "fcntl" in globals() else UNSUPPORTED


def require_locks() -> None:
    """Raise LedgerError if releases are not supported on this system."""
    if reason := unsupported_reason():
        raise LedgerError(reason)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file in the block."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class DrawLock:
    """Lock of a release that is being drawn.

    Attributes
    ----------
    acquired : bool
        Whether this process holds it.
    """

    def __init__(self, ledger: Path, release: str) -> None:
        self._path = ledger.with_name(f"{ledger.name}.{release}.lock")
        self._file: IO[str] | None = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None

    @property
    def acquired(self) -> bool:
        """Whether this process holds the lock."""
        return self._file is not None

    def unlock(self) -> None:
        """Release the lock and delete its file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None
