"""Atomic file writing, private folders and file digests."""

import contextlib
import errno
import hashlib
import logging
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from platformdirs import PlatformDirs

log = logging.getLogger("explorer")

USER_FOLDERS = PlatformDirs("privacy-explorer", appauthor=False)
"""The user's folders for cache, configuration, data and state."""
temporary: set[str] = set()
"""Files and folders to remove however this process ends."""
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
_OTHERS = 0o077
_OTHERS_WRITE = 0o022


def private_folder(path: Path, *, disposable: bool = False) -> Path:
    """Return a folder that only this user can enter; create it if it is missing.

    A folder of this user that others can enter (earlier versions of the program created some with
    mode 0755) is restricted to mode 0700, which is logged once as a warning. Parent folders may be
    links and belong to anyone, as a home folder on a server does, but nobody else may be able to
    exchange the folder: a parent in which everybody can write must have the sticky bit.

    Parameters
    ----------
    path : Path
    disposable : bool
        Whether to empty the folder if others could write to it so far: for caches, whose files
        are trusted and can be made again.

    Raises
    ------
    OSError
        If the folder can't be used: a link, another owner, or a mode that can't be changed.
        ``filename`` and ``strerror`` are a message for the user.
    """
    if path.is_symlink():
        raise _unsafe(path, "it is a link, and the program uses only a folder of its own")
    _create_folders(path)
    if not hasattr(os, "geteuid"):  # Windows: user folders are private there
        return path
    real = Path(os.path.realpath(path.parent))
    for parent in (real, *real.parents):
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _unsafe(path, f"every user can write to {parent}, and so exchange this folder")
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise _unsafe(path, "it belongs to another user")
        mode = stat.S_IMODE(status.st_mode)
        if mode & _OTHERS:
            _restrict(path, handle, mode)
            if disposable and mode & _OTHERS_WRITE:
                _empty(path, handle)
    finally:
        os.close(handle)
    return path


def is_private(path: Path) -> bool:
    """Return whether `private_folder` would accept a folder as it is; changes nothing."""
    try:
        status = path.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return own and not status.st_mode & _OTHERS


def private_file(path: Path) -> None:
    """Restrict an existing file of this user to mode 0600; other owners' files are skipped."""
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()
        if stat.S_IMODE(status.st_mode) & _OTHERS and status.st_uid == os.geteuid():
            path.chmod(PRIVATE_FILE)


def _create_folders(path: Path) -> None:
    """Create a folder and its missing parents, accessible by this user only."""
    missing = [path]
    while not os.path.lexists(missing[-1].parent):
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        try:
            folder.mkdir(PRIVATE_FOLDER)
        except FileExistsError:
            if not folder.is_dir():
                raise


def _unsafe(path: Path, why: str) -> PermissionError:
    return PermissionError(
        errno.EACCES, f"{why}; remove it, or name another place with XDG variables", str(path)
    )


def _restrict(path: Path, handle: int, mode: int) -> None:
    """Remove all rights of others on an open folder."""
    with contextlib.suppress(OSError):
        os.fchmod(handle, mode & PRIVATE_FOLDER)
    if os.fstat(handle).st_mode & _OTHERS:
        raise _unsafe(path, "other users can use it, and its mode can't be changed")
    can = "write to" if mode & _OTHERS_WRITE else "read"
    log.warning("%s: other users could %s this folder; now only you can.", path, can)


def _empty(path: Path, handle: int) -> None:
    """Remove files that others may have put into a folder."""
    for name in os.listdir(handle):
        child = path / name
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                child.unlink()
    if os.listdir(handle):
        raise _unsafe(path, "other users could write to it, and it can't be emptied")


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises
    ------
    OSError
        Also if it is a pipe or a device, which might never give or end what is read.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        why = "it is not a regular file; save its contents to a file first"
        raise OSError(errno.EINVAL, why, str(path))
    return os.fdopen(handle, "rb")


def read_bounded(path: Path, most: int) -> bytes:
    """Return the contents of a regular file.

    Raises
    ------
    OSError
        As `open_regular`, or if there are more than `most` bytes.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        why = f"it is larger than {most / 1e6:.3g} MB"
        raise OSError(errno.EFBIG, why, str(path))
    return data


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal digits; raises OSError if it can't be read."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file atomically, as `replacing`.

    Raises
    ------
    OSError
        If it can't be written; an existing file then stays as it was.
    """
    with replacing(path, private=private) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a file that atomically replaces `path` at the end of the block.

    Symbolic links are followed, not replaced. An existing file keeps its mode and owner, and its
    contents if anything fails. Pipes and devices are written directly.

    Parameters
    ----------
    path : Path
    private : bool
        Whether the file gets mode 0600, whatever its mode was.

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
    if private:
        mode = PRIVATE_FILE
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(aside, flags, mode)
    except OSError as error:
        error.filename = str(path)  # what the user asked for, not our detour
        raise
    temporary.add(str(aside))
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
            if before is not None and hasattr(os, "fchmod"):
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.fchown(handle, before.st_uid, before.st_gid)
                os.fchmod(handle, mode if private else stat.S_IMODE(before.st_mode))
        os.replace(aside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    finally:
        temporary.discard(str(aside))
