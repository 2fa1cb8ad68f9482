"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file aside and move it into place, so that nobody ever sees half of it.

    An existing file is replaced; if anything fails it stays as it was.

    Raises
    ------
    OSError
        If the folder can't be written to.
    """
    # Short, whatever the target is called: its name may already be as long as names may be.
    aside = path.with_name(f".{secrets.token_hex(6)}.part")
    handle = os.open(
        aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
