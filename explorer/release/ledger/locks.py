"""Which process is drawing a release: one that dies lets go."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from explorer.release.ledger.errors import LedgerError

with contextlib.suppress(ImportError):  # ledgers and certificates can be checked all the same
    import fcntl

NOT_OFFERED = (
    "releases are not offered on this system, as its locks do not tell a process that died from "
    "one that draws; use Linux or macOS"
)


def not_offered() -> str:
    """Return why there can be no release on this system, "" if there can."""
    return "" if "fcntl" in globals() else NOT_OFFERED


def need_locks() -> None:
    """Raise LedgerError where there can be no release."""
    if said := not_offered():
        raise LedgerError(said)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time be in the block, of all that name this file."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class DrawLock:
    """The right to draw a release; `taken` tells whether this process has it."""

    def __init__(self, ledger: Path, release: str) -> None:
        self._path = ledger.with_name(f"{ledger.name}.{release}.lock")
        self._file: IO[str] | None = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None

    @property
    def taken(self) -> bool:
        """Whether nobody else has it."""
        return self._file is not None

    def leave(self) -> None:
        """Let go of it, and of its file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None
