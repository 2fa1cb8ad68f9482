"""Opening of a ledger: integrity, rollback detection, key, interrupted releases; and `Writer`.

A rollback of ledger and settings together (a virtual machine), or a chain rewritten completely by
its owner, is not detected here: only certificates issued before can show it.
"""

from __future__ import annotations

import glob
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical
from explorer.release.ledger.chain import Entry, entry_hash
from explorer.release.ledger.keys import key_check, key_file, make_key, read_key
from explorer.release.ledger.locks import DrawLock
from explorer.release.ledger.settings import KnownLedgers, LedgerHead
from explorer.release.ledger.state import MOVED, NO_KEY, RESTORED, UNKNOWN, LedgerState, apply
from explorer.release.ledger.storage import (
    entries_of,
    head_of,
    load_state,
    meta,
    save_state,
    set_meta,
    transaction,
)
from explorer.release.ledger.view import check_derived_tables, check_entries


@dataclass(frozen=True)
class Writer:
    """Appends entries to a ledger.

    Attributes
    ----------
    con : sqlite3.Connection
    ledger, host : str
        Ids of the ledger and of this machine.
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
        """Return the current time in the format of entries."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def write(self, kind: str, body: Mapping[str, Any], release: str = "") -> Entry:
        """Append an entry if the rules allow it; the caller has begun a transaction.

        The stored state is updated with it, so that the cost does not depend on the number of
        entries.

        Raises
        ------
        RuleError
            If the rules do not allow the entry.
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
        state = load_state(self.con, release)
        before = copy(state)
        before.accounts, before.joined = dict(state.accounts), dict(state.joined)
        before.releases, before.remarks = dict(state.releases), set(state.remarks)
        apply(state, whole)
        entry = Entry(seq + 1, prev, entry_hash(prev, whole), whole)
        self.con.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            (entry.seq, prev, entry.hash, canonical(whole).decode()),
        )
        save_state(self.con, state, before)
        return entry


OLDER = (
    "this ledger is older than your last release: restore the newer file, or stop releasing about "
    "these people"
)
NOTICES = {
    MOVED: "This ledger was used on another computer since it was used here; certificates will "
    "say so. If it is still used there, the total is at most the sum of both.",
    RESTORED: "This ledger is new to this computer, or the computer's settings are: it was "
    "restored, or comes from another computer. Certificates will say so. If another copy is still "
    "used, the total is at most the sum of both.",
    UNKNOWN: "A ledger that this computer remembers is gone: what was spent earlier is unknown, "
    "and every later certificate will say so.",
    NO_KEY: "The ledger's key was missing, so a new one was made: sums hold, but which files and "
    "people were here before can't be checked any more.",
}
LOST = "A release was interrupted while it was drawn: it counts as spent."
CLOCK_BACK = "The clock is earlier than the last entry; order is by number, and it will be marked."


@dataclass
class Opened:
    """Result of opening a ledger.

    Attributes
    ----------
    id : str
    key : bytes or None
    problem : str
        Why no release is possible; "" if one is.
    notices : list of str
        For the curator.
    last : Entry or None
        The last entry.
    """

    id: str = ""
    key: bytes | None = None
    problem: str = ""
    notices: list[str] = field(default_factory=list)
    last: Entry | None = None


def open_ledger(
    con: sqlite3.Connection,
    path: Path,
    known_ledgers: KnownLedgers,
    writer: Callable[[str], Writer],
    random_bytes: Callable[[int], bytes],
) -> Opened:
    """Check a ledger and append the entries that opening it requires (remarks, lost releases)."""
    result = Opened()
    with transaction(con):
        try:
            entries = entries_of(con, path.name)
            state = check_entries(entries)
            check_derived_tables(con, state)
        except ReleaseError as error:
            result.id, result.problem = meta(con, "ledger"), str(error)
            return result
        result.id = meta(con, "ledger")
        result.problem = behind(known_ledgers.ledgers().get(result.id), entries)
        if result.problem:
            return result
        remarks = _remarks(known_ledgers, path, result.id, state)
        if not result.id:
            result.id = random_bytes(16).hex()
            set_meta(con, "ledger", result.id)
        result.key, result.problem, fresh = _key(con, path, entries, random_bytes)
        if result.problem:
            return result
        remarks += [NO_KEY] if fresh and entries else []
        write, now = writer(result.id).write, writer(result.id).time()
        if now < state.last_at:
            result.notices.append(CLOCK_BACK)
        for remark in remarks:
            entry = write("moved", {"remark": remark, "host": known_ledgers.host})
            result.notices.append(NOTICES[remark])
            entries = [*entries, entry]
        _sweep(path, state)
        for release in [r for r in state.releases.values() if r.state == "started"]:
            lock = DrawLock(path, release.id)
            if lock.acquired:  # the process that drew it has ended
                entries = [*entries, write("lose", {"release": release.id}, release.id)]
                con.execute("DELETE FROM outputs WHERE release = ?", (release.id,))
                result.notices.append(LOST)
                lock.unlock()
    result.last = entries[-1] if entries else None
    return result


def _sweep(path: Path, state: LedgerState) -> None:
    """Remove lock files of releases that are not being drawn."""
    for file in path.parent.glob(f"{glob.escape(path.name)}.*.lock"):
        release = file.name.removeprefix(f"{path.name}.").removesuffix(".lock")
        if release not in state.releases or state.releases[release].state != "started":
            DrawLock(path, release).unlock()


def behind(known: LedgerHead | None, entries: Sequence[Entry]) -> str:
    """Return the problem if a ledger lacks the last known entry (rollback or fork), else ""."""
    if known is None or known.seq < 0:
        return ""
    if known.seq >= len(entries):
        return OLDER
    if entries[known.seq].hash != known.hash:
        return (
            f"this ledger is a fork: its entry {known.seq} is not the one this computer has seen; "
            "the total spent is at most the sum of both"
        )
    return ""


def _remarks(known_ledgers: KnownLedgers, path: Path, ledger: str, state: LedgerState) -> list[str]:
    """Return the remarks to enter about moved, restored and missing ledgers."""
    here, remarks = str(path.resolve()), []
    lost = [
        name
        for name, known in known_ledgers.ledgers().items()
        if name != ledger
        and known.path
        and (known.path == here or (not ledger and not Path(known.path).exists()))
    ]
    if lost:
        remarks.append(UNKNOWN)
        for name in lost:
            known_ledgers.mark_gone(name)
    if state.entries and state.host != known_ledgers.host:
        # MOVED needs the knowledge that the ledger was used here before
        remarks.append(MOVED if ledger in known_ledgers.ledgers() else RESTORED)
    return remarks


def _key(
    con: sqlite3.Connection,
    path: Path,
    entries: Sequence[Entry],
    random_bytes: Callable[[int], bytes],
) -> tuple[bytes | None, str, bool]:
    """Return the key, a problem with it, and whether it was created now."""
    file = key_file(path)
    try:
        key = read_key(file)
        fresh = key is None
        if key is None:
            key = make_key(file, random_bytes)
    except ReleaseError as error:
        return None, str(error), False
    check = meta(con, "key")
    if fresh or not check:
        set_meta(con, "key", key_check(key))
    elif check != key_check(key):
        return None, f"{file.name} is the key of another ledger; put back the one of this", False
    return key, "", fresh
