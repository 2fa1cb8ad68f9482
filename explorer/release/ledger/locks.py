"""Which process is drawing a release: one that dies lets go."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO


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
