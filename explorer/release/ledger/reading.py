"""What a ledger that is open can be asked."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from explorer.release.exact_json import canonical, read_json
from explorer.release.ledger.accounts import Account, Release
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.errors import LedgerError
from explorer.release.ledger.keys import file_tag, key_file
from explorer.release.ledger.known_data import KnownData
from explorer.release.ledger.state import LedgerState
from explorer.release.ledger.storage import (
    StoredOutputs,
    entries_of,
    load_book,
    meta,
    said,
    set_meta,
    transaction,
)
from explorer.release.ledger.view import View, check_stored, checked


class LedgerReading:
    """The half of a ledger that writes nothing.

    Attributes
    ----------
    path : Path
    id : str
    problem : str
        Why there can be no release, "" if there can.
    """

    path: Path
    id: str
    problem: str
    _con: sqlite3.Connection
    _key: bytes | None

    def account(self, population: str) -> Account:
        """Return the account that releases about a population are charged to."""
        return self.book("").account_of(population)

    def accounts(self) -> tuple[Account, ...]:
        """Return all accounts."""
        return tuple(self.book("").accounts.values())

    def releases(self) -> tuple[Release, ...]:
        """Return all releases, and what was spent elsewhere, in order of the entries."""
        return tuple(sorted(self.book().releases.values(), key=lambda release: release.seq))

    def release(self, name: str) -> Release:
        """Return a release by its id."""
        return self.book(name).release(name)

    def prepared(self) -> tuple[Release, ...]:
        """Return what was reserved and not drawn: to be continued or given back."""
        return tuple(release for release in self.releases() if release.state == "reserved")

    def book(self, release: str | None = None) -> LedgerState:
        """Return balances and releases, or one release, as they are kept beside the entries."""
        with said(self.path):
            return load_book(self._con, release)

    def view(self) -> View:
        """Return all entries, checked anew, as those who verify see them.

        Raises
        ------
        LedgerError
            If the chain is broken.
        """
        with said(self.path):
            entries = entries_of(self._con, self.path.name)
        return View(self.id, entries, checked(entries), self._key, StoredOutputs(self.path))

    def entries(self) -> list[Entry]:
        """Return all entries, whether their chain holds or not."""
        with said(self.path):
            return entries_of(self._con, self.path.name)

    def output(self, release: str) -> dict[str, Any]:
        """Return what was stored: looking again is free.

        Raises
        ------
        LedgerError
            If nothing was committed, or what is stored is not what was committed.
        """
        with said(self.path):
            row = self._con.execute(
                "SELECT stored FROM outputs WHERE release = ? AND complete", (release,)
            ).fetchone()
        if row is None:
            raise LedgerError(f"release {release}: nothing is stored, as it was not committed")
        check_stored("output", release, bytes(row[0]), self.release(release).output_sha256)
        found: dict[str, Any] = read_json(bytes(row[0]), f"output of {release}")
        return found

    def certificate(self, release: str) -> dict[str, Any] | None:
        """Return the certificate that a release was published with, if it was.

        Raises
        ------
        LedgerError
            If what is stored is not what was published.
        """
        with said(self.path):
            row = self._con.execute(
                "SELECT certificate FROM outputs WHERE release = ?", (release,)
            ).fetchone()
        if row is None or row[0] is None:
            return None
        entered = self.release(release).certificate_sha256
        check_stored("certificate", release, bytes(row[0]), entered)
        found: dict[str, Any] = read_json(bytes(row[0]), f"certificate of {release}")
        return found

    @property
    def known(self) -> KnownData:
        """Files and people, under the ledger's key."""
        return KnownData(self.path, self._con, self._need_key())

    def keep_beside(self, release: str, name: str, value: Any) -> None:
        """Keep something of a release that no entry holds: it is in no export."""
        text = canonical(value).decode()
        with said(self.path), transaction(self._con):
            set_meta(self._con, f"{name} {release}", text)

    def beside(self, release: str, name: str) -> Any:
        """Return what was kept so, None if nothing was."""
        with said(self.path):
            text = meta(self._con, f"{name} {release}")
        return read_json(text.encode(), name) if text else None

    def parameters_chosen(self, release: str, file_sha256: str) -> tuple[str, int]:
        """Return what a certificate says of when parameters were chosen, and how often was looked.

        See `KnownData.parameters_chosen`.
        """
        return self.known.parameters_chosen(self.view().book, release, file_sha256)

    def tag(self, release: str, file_sha256: str) -> str:
        """Return a file's tag in the certificate of a release."""
        return file_tag(self._need_key(), release, file_sha256)

    def _need_key(self) -> bytes:
        if self._key is None:
            raise LedgerError(f"{key_file(self.path).name}: {self.problem or 'can not be read'}")
        return self._key
