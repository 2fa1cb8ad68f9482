"""One entry after the last: what both opening a ledger and working with it write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from explorer.release.exact_json import canonical
from explorer.release.ledger.chain import Entry, entry_hash
from explorer.release.ledger.rules import apply
from explorer.release.ledger.storage import head_of, load_book, save_book


@dataclass(frozen=True)
class Writer:
    """Writes entries of one ledger, on one machine.

    Attributes
    ----------
    con : sqlite3.Connection
    ledger, host : str
        Ids.
    now : callable
        The clock.
    random_bytes : callable
        For nonces.
    """

    con: sqlite3.Connection
    ledger: str
    host: str
    now: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]

    def time(self) -> str:
        """Return the time as entries have it."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def write(self, kind: str, body: Mapping[str, Any], release: str = "") -> Entry:
        """Append an entry, inside a transaction that has begun, if the rules allow it.

        The balances are read and written beside it, so that this costs the same however many
        entries there are.

        Raises
        ------
        RuleError
            If they don't.
        """
        seq, prev, _ = head_of(self.con)
        whole = {
            **body,
            "kind": kind,
            "seq": seq + 1,
            "at": self.time(),
            "nonce": self.random_bytes(16).hex(),
        }
        if seq < 0:
            whole |= {"ledger": self.ledger, "host": self.host}
        book = load_book(self.con, release)
        before = copy(book)
        before.accounts, before.joined = dict(book.accounts), dict(book.joined)
        before.releases, before.remarks = dict(book.releases), set(book.remarks)
        apply(book, whole)
        entry = Entry(seq + 1, prev, entry_hash(prev, whole), whole)
        self.con.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            (entry.seq, prev, entry.hash, canonical(whole).decode()),
        )
        save_book(self.con, book, before)
        return entry
