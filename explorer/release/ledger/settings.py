"""What this machine remembers beside its ledgers, so that one that is older or gone is noticed."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from explorer.files import private_folder, write_whole
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical, read_json
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.errors import LedgerError
from explorer.release.ledger.locks import alone

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Settings(Protocol):
    """A JSON object that is kept between runs of the program, on the same machine."""

    def read(self) -> dict[str, Any]:
        """Return what was written last, {} at first."""

    def change(self, does: Change) -> dict[str, Any]:
        """Keep what is made of what was written last, and return it; it is on disk then.

        Nobody else changes it meanwhile: of two processes that remember an entry each, the one
        that read first would else write the lower one over the higher.
        """


@dataclass(frozen=True)
class FileSettings:
    """`Settings` in a file of their own."""

    path: Path

    def read(self) -> dict[str, Any]:
        """Return what the file holds; {} if there is none, or none that can be read."""
        try:
            found = read_json(self.path.read_bytes(), self.path.name)
        except (OSError, ReleaseError):
            return {}
        return found if isinstance(found, dict) else {}

    def change(self, does: Change) -> dict[str, Any]:
        """Replace the file, if there is a change."""
        try:
            private_folder(self.path.parent)
            with alone(self.path.with_name(f"{self.path.name}.lock")):
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
class Remembered:
    """The last entry that this machine has written to, or seen in, a ledger; −1 if it had none.

    Attributes
    ----------
    path : str
        Where the ledger was; "" once it was said that it is gone.
    """

    path: str
    seq: int
    hash: str


def remembered(settings: Settings) -> dict[str, Remembered]:
    """Return the heads that settings hold, by id of ledger."""
    return _heads(settings.read())


def _heads(value: Mapping[str, Any]) -> dict[str, Remembered]:
    stored, found = value.get("ledgers"), {}
    for name, item in (stored if isinstance(stored, dict) else {}).items():
        if isinstance(item, dict) and set(item) == {"path", "seq", "hash"}:
            path, seq, digest = item["path"], item["seq"], item["hash"]
            if isinstance(path, str) and type(seq) is int and isinstance(digest, str):
                found[name] = Remembered(path, seq, digest)
    return found


class Memory:
    """What `Settings` hold about ledgers: who this machine is, and their heads.

    Attributes
    ----------
    host : str
        Random; made when it is first asked for.
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

    def ledgers(self) -> dict[str, Remembered]:
        """Return the heads by id of ledger."""
        return remembered(self._settings)

    def keep(self, ledger: str, path: Path, entry: Entry | None) -> None:
        """Remember a head, unless a higher one is; also a ledger that has but looks, no entry."""
        seq, digest = (-1, "") if entry is None else (entry.seq, entry.hash)
        self._write(ledger, Remembered(str(path.resolve()), seq, digest))

    def gone(self, ledger: str) -> None:
        """Remember that it was said that a ledger is gone."""
        known = self.ledgers()[ledger]
        self._write(ledger, Remembered("", known.seq, known.hash))

    def _write(self, ledger: str, head: Remembered) -> None:
        def with_head(stored: dict[str, Any]) -> dict[str, Any]:
            known = _heads(stored).get(ledger)
            if known is not None and known.seq > head.seq:
                return stored
            ledgers = stored.get("ledgers")
            ledgers = dict(ledgers) if isinstance(ledgers, dict) else {}
            ledgers[ledger] = {"path": head.path, "seq": head.seq, "hash": head.hash}
            return {**stored, "host": self.host, "ledgers": ledgers}

        self._settings.change(with_head)
