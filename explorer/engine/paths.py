"""Folders on the user's machine: cache and session state.

Each folder is private to the user (see `explorer.files.private_folder`).
"""

import atexit
import errno
import logging
import multiprocessing
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explorer.checkins.cache import new_entry
from explorer.files import USER_FOLDERS, private_folder
from explorer.privacy.core.compiled import machine_code_folder

log = logging.getLogger("explorer")


@dataclass(frozen=True)
class CacheFolder:
    """Cache folder in use, and the reason if it is not the user's own."""

    path: Path
    complaint: str = ""


def cache_folder() -> Path:
    """Return the cache folder, created with private permissions.

    Where the user's can't be written to, or isn't safe, it is a temporary one that lasts as long
    as this process.
    """
    return find_cache(USER_FOLDERS.user_cache_dir).path


@cache
def find_cache(wanted: str) -> CacheFolder:
    """Return the requested folder or, if it cannot be used, a temporary one."""
    try:
        folder = private_folder(Path(wanted), disposable=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), wanted)
        for name in _SUBFOLDERS:
            if os.path.lexists(folder / name):
                private_folder(folder / name, disposable=True)
    except OSError as error:
        entry = new_entry(None)  # locked: if we are killed, the next start takes it away
        atexit.register(entry.close)
        why = error.strerror or str(error)
        result = CacheFolder(
            entry.folder,
            f"Nothing can be cached in {error.filename or wanted} ({why[:1].lower()}{why[1:]}), so "
            "check-ins will be read anew at every start.",
        )
        if multiprocessing.parent_process() is None:
            log.warning(result.complaint)
        return result
    return CacheFolder(folder)


_SUBFOLDERS = ("checkins", "compiled", "experiments", "released")


def checkins_cache() -> Path:
    """Return the folder of validated check-ins, which may not exist yet."""
    return cache_folder() / "checkins"


def compiled_folder() -> Path:
    """Return the private folder of numba's compiled code."""
    cache = cache_folder()
    return machine_code_folder() or private_folder(cache / "compiled", disposable=True)


def cache_complaint() -> str:
    """Return a warning if the cache folder cannot be written to, else an empty text."""
    return find_cache(USER_FOLDERS.user_cache_dir).complaint


def state_folder() -> Path:
    """Return the folder of the saved session, created with private permissions.

    Raises
    ------
    OSError
        If it can't be made, or isn't safe.
    """
    return private_folder(Path(USER_FOLDERS.user_state_dir))
