"""Where the program keeps things on a user's machine: cache, session, ledger."""

import atexit
import errno
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from platformdirs import PlatformDirs

from explorer.checkins.cache import new_entry

_DIRS = PlatformDirs("privacy-explorer", appauthor=False)


@dataclass(frozen=True)
class CacheFolder:
    """Where things are kept that can be made again, and why not in the user's own folder."""

    path: Path
    complaint: str = ""


def cache_folder() -> Path:
    """Return the folder of things that can be made again; created private to the user.

    Where the user's cannot be written to it is a temporary one that lasts as long as this process.
    """
    return find_cache(_DIRS.user_cache_dir).path


@cache
def find_cache(wanted: str) -> CacheFolder:
    """Return the folder asked for or, if it can't be written to, a temporary one."""
    try:
        folder = _private(Path(wanted))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), wanted)
    except OSError as error:
        entry = new_entry(None)  # locked: if we are killed, the next start takes it away
        atexit.register(entry.close)
        return CacheFolder(
            entry.folder,
            f"Nothing can be cached in {wanted} ({(error.strerror or str(error)).lower()}), so "
            "check-ins will be read anew at every start.",
        )
    return CacheFolder(folder)


def checkins_cache() -> Path:
    """Return the folder of validated check-ins; it need not be there yet."""
    return cache_folder() / "checkins"


def cache_complaint() -> str:
    """Return what to tell the user if the cache folder can't be written to, else nothing."""
    return find_cache(_DIRS.user_cache_dir).complaint


def state_folder() -> Path:
    """Return the folder of the saved session; created private to the user.

    Raises
    ------
    OSError
        If it can't be made.
    """
    return _private(Path(_DIRS.user_state_dir))


def _private(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
