"""Where the program keeps things on a user's machine: cache, session, ledger."""

from __future__ import annotations

from pathlib import Path

from platformdirs import PlatformDirs

_DIRS = PlatformDirs("privacy-explorer", appauthor=False)


def cache_folder() -> Path:
    """Return the folder of things that can be made again; created private to the user."""
    return _private(Path(_DIRS.user_cache_dir))


def state_folder() -> Path:
    """Return the folder of the saved session; created private to the user."""
    return _private(Path(_DIRS.user_state_dir))


def _private(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
