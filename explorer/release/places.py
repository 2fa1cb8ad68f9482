"""Where ledgers are, and what this machine remembers of them."""

from __future__ import annotations

from pathlib import Path

from explorer.files import USER_FOLDERS
from explorer.release.ledger.settings import FileSettings


def default_ledger() -> Path:
    """Return the ledger that is used where no other is named."""
    return Path(USER_FOLDERS.user_data_dir) / "ledger.sqlite"


def default_settings() -> Path:
    """Return the file of what this machine remembers: not beside a ledger, or both roll back."""
    return Path(USER_FOLDERS.user_config_dir) / "ledgers.json"


def machine_settings() -> FileSettings:
    """Return what this machine remembers of all ledgers."""
    return FileSettings(default_settings())
