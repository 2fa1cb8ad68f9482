"""Settings of this machine about ledgers, and default paths of both.

The last known entry of every ledger is stored, to detect rollbacks and loss.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from explorer.files import USER_FOLDERS, private_folder, write_whole
from explorer.release.errors import LedgerError, ReleaseError
from explorer.release.exact_json import canonical, read_json
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.storage import exclusive_lock

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Settings(Protocol):
    """A persistent JSON object of this machine."""

    def read(self) -> dict[str, Any]:
        """Return the stored object; {} if there is none."""

    def change(self, does: Change) -> dict[str, Any]:
        """Replace the stored object by a function of it, durably, and return the new one.

        Reading and writing are atomic; otherwise, of two processes that each record an entry, one
        could overwrite the higher number with the lower.
        """


@dataclass(frozen=True)
class FileSettings:
    """`Settings` in a JSON file."""

    path: Path

    def read(self) -> dict[str, Any]:
        """Return the content of the file; {} if it is missing or unreadable."""
        try:
            result = read_json(self.path.read_bytes(), self.path.name)
        except (OSError, ReleaseError):
            return {}
        return result if isinstance(result, dict) else {}

    def change(self, does: Change) -> dict[str, Any]:
        """Replace the file if the content changes."""
        try:
            private_folder(self.path.parent)
            with exclusive_lock(self.path.with_name(f"{self.path.name}.lock")):
                before = self.read()
                after = does(before)
                if after != before:
                    write_whole(self.path, canonical(after), private=True)
                return after
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise LedgerError(
                f"{self.path.parent}: the disk is full, 1 MB is needed there to remember the "
                "ledger's last entry; whatever is entered in the ledger counts: see what was "
                "spent with 'privacy-explorer ledger show'"
            ) from None


@dataclass(frozen=True)
class LedgerHead:
    """The last entry of a ledger that this machine has written or seen.

    Attributes
    ----------
    path : str
        Path of the ledger; "" once its loss was recorded.
    seq : int
        −1 if the ledger had no entry.
    hash : str
    """

    path: str
    seq: int
    hash: str


def ledger_heads(settings: Settings) -> dict[str, LedgerHead]:
    """Return the last known entries in settings, by id of the ledger."""
    return _heads(settings.read())


def _heads(value: Mapping[str, Any]) -> dict[str, LedgerHead]:
    stored, result = value.get("ledgers"), {}
    for name, item in (stored if isinstance(stored, dict) else {}).items():
        if isinstance(item, dict) and set(item) == {"path", "seq", "hash"}:
            path, seq, digest = item["path"], item["seq"], item["hash"]
            if isinstance(path, str) and type(seq) is int and isinstance(digest, str):
                result[name] = LedgerHead(path, seq, digest)
    return result


class KnownLedgers:
    """The ledgers recorded in `Settings`, and this machine's id.

    Attributes
    ----------
    host : str
        Random id of this machine, created on first use.
    """

    def __init__(self, settings: Settings, random_bytes: Callable[[int], bytes]) -> None:
        self._settings = settings
        fresh = random_bytes(16).hex()

        def with_host(stored: dict[str, Any]) -> dict[str, Any]:
            host = stored.get("host")
            return stored if host and isinstance(host, str) else {**stored, "host": fresh}

        stored = settings.read()
        if with_host(stored) is not stored:
            stored = settings.change(with_host)
        self.host: str = stored["host"]

    def ledgers(self) -> dict[str, LedgerHead]:
        """Return the last known entries by id of the ledger."""
        return ledger_heads(self._settings)

    def remember(self, ledger: str, path: Path, entry: Entry | None) -> None:
        """Record the last entry of a ledger, unless a later one is recorded.

        With None, record a ledger that has no entry yet.
        """
        seq, digest = (-1, "") if entry is None else (entry.seq, entry.hash)
        self._write(ledger, LedgerHead(str(path.resolve()), seq, digest))

    def mark_gone(self, ledger: str) -> None:
        """Record that the loss of a ledger was reported."""
        known = self.ledgers()[ledger]
        self._write(ledger, LedgerHead("", known.seq, known.hash))

    def _write(self, ledger: str, head: LedgerHead) -> None:
        def with_head(stored: dict[str, Any]) -> dict[str, Any]:
            known = _heads(stored).get(ledger)
            if known is not None and known.seq > head.seq:
                return stored
            ledgers = stored.get("ledgers")
            ledgers = dict(ledgers) if isinstance(ledgers, dict) else {}
            ledgers[ledger] = {"path": head.path, "seq": head.seq, "hash": head.hash}
            return {**stored, "host": self.host, "ledgers": ledgers}

        self._settings.change(with_head)


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
