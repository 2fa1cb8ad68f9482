"""Default paths of the ledger and of this machine's settings."""

from __future__ import annotations

from pathlib import Path

from explorer.files import USER_FOLDERS
from explorer.release.ledger.settings import FileSettings


def default_ledger() -> Path:
    """Return the path of the default ledger."""
    return Path(USER_FOLDERS.user_data_dir) / "ledger.sqlite"


def default_settings() -> Path:
    """Return the path of this machine's settings.

    It is not in the ledger's folder: if both were restored from one backup, a rollback of the
    ledger would not be noticed.
    """
    return Path(USER_FOLDERS.user_config_dir) / "ledgers.json"


def machine_settings() -> FileSettings:
    """Return this machine's settings about ledgers."""
    return FileSettings(default_settings())
