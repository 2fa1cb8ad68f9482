"""Files: written whole or not at all, in the place and with the permissions of those before.

And the digest that tells one from another.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal digits; raises OSError if it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as `replacing` does.

    Raises
    ------
    OSError
        If it can't be written; an existing file then stays as it was.
    """
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write into that takes its place, on disk, once the block is left.

    Nobody ever sees half of it. A symbolic link is followed, not replaced, and a file that is there
    keeps its mode and owner; if anything fails it stays as it was. Into what is no regular file (a
    pipe) is written directly.

    Raises
    ------
    OSError
        If there is no such folder, or it or the file can't be written to.
    """
    target = Path(os.path.realpath(path))
    try:
        before = target.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with target.open("wb") as file:
            yield file
        return
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    # Short, whatever the target is called: its name may already be as long as names may be.
    aside = target.with_name(f".{secrets.token_hex(6)}.part")
    mode = 0o666 if before is None else stat.S_IMODE(before.st_mode) & 0o777
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(aside, flags, mode)
    except OSError as error:
        error.filename = str(path)  # what the user asked for, not our detour
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
            if before is not None and hasattr(os, "fchmod"):
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.fchown(handle, before.st_uid, before.st_gid)
                os.fchmod(handle, stat.S_IMODE(before.st_mode))
        os.replace(aside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
