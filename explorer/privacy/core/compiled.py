"""Compiles functions with numba and keeps their machine code in a private folder.

numba's files are pickles: whoever can write to their folder can run code as the user who reads
them. numba itself keeps them beside the source or in a folder that it creates with the usual mode.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.files import USER_FOLDERS, is_private, private_folder

FOLDER_VARIABLE = "NUMBA_CACHE_DIR"


def machine_code_folder() -> Path | None:
    """Return the folder for machine code, or None if none is safe.

    It is the folder that the environment names, if that is private, else one in the user's cache.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named and is_private(Path(named)):
        return Path(named)
    try:
        cache = private_folder(Path(USER_FOLDERS.user_cache_dir), disposable=True)
        return private_folder(cache / "compiled", disposable=True)
    except OSError:
        return None


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function with numba on its first call.

    Its machine code is kept in `machine_code_folder`; without one, every process compiles.

    Parameters
    ----------
    function : callable
    **options
        Of ``numba.njit``.
    """
    import numba

    config: Any = numba.config  # its names are made when it is imported
    before = config.CACHE_DIR
    try:
        folder = machine_code_folder()
        if folder is None:
            return numba.njit(**options)(function)
        config.CACHE_DIR = str(folder)
        return _saved_if_possible(numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba can't write to the folder
        return numba.njit(**options)(function)
    finally:
        config.CACHE_DIR = before


def _saved_if_possible(dispatcher: Any) -> Any:
    """Let a compiled function run although its machine code can't be saved, as on a full disk."""
    save = dispatcher._cache.save_overload

    def save_overload(signature: Any, code: Any) -> None:
        with suppress(OSError):
            save(signature, code)

    dispatcher._cache.save_overload = save_overload
    return dispatcher
