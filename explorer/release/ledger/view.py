"""Read-only, verified view of a ledger or of an exported ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from explorer.files import open_regular, read_bounded
from explorer.release.errors import ChangedOutputError, LedgerError, ReleaseError
from explorer.release.exact_json import read_json, sha256
from explorer.release.ledger.chain import BrokenChainError, Entry, check_chain, read_export
from explorer.release.ledger.keys import key_check, key_file, read_key
from explorer.release.ledger.state import LedgerState, replay
from explorer.release.ledger.storage import (
    SQLITE_MAGIC,
    StoredOutputs,
    connect_reading,
    entries_of,
    load_state,
    meta,
    translate_errors,
)

MAX_EXPORT_BYTES = 1_000_000_000

DERIVED_MISMATCH = "what the ledger keeps beside its entries does not follow from them"


@dataclass(frozen=True)
class View:
    """A ledger with a valid chain and allowed entries.

    Attributes
    ----------
    id : str
    entries : sequence of Entry
    state : LedgerState
        After all entries.
    key : bytes or None
        None for an export, or if the key was deleted.
    outputs : mapping from a release to bytes
        Stored outputs; none for an export.
    """

    id: str
    entries: Sequence[Entry]
    state: LedgerState
    key: bytes | None = None
    outputs: Mapping[str, bytes] = field(default_factory=dict)

    def until(self, seq: int) -> LedgerState:
        """Return the state after the entry numbered `seq`."""
        state, _, _ = replay(entry.body for entry in self.entries[: seq + 1])
        return state


def check_entries(entries: Sequence[Entry]) -> LedgerState:
    """Check chain and rules of entries and return the resulting state.

    Raises
    ------
    BrokenChainError
        If an entry was edited, is missing, or is not allowed.
    """
    check_chain(entries)
    state, first_bad, problem = replay(entry.body for entry in entries)
    if first_bad is not None:
        raise BrokenChainError(first_bad, f"it breaks the rules ({problem})")
    return state


def check_derived_tables(con: sqlite3.Connection, state: LedgerState) -> None:
    """Raise LedgerError if the stored state differs from that of a replay."""
    try:
        stored_state = load_state(con)
    except (ReleaseError, KeyError, TypeError, AttributeError, ValueError):
        raise LedgerError(DERIVED_MISMATCH) from None
    names = ["accounts", "joined", "releases", "remarks", "last_at", "entries"]
    names += ["ledger", "host"] if state.entries else []  # the first entry has them
    if any(getattr(stored_state, name) != getattr(state, name) for name in names):
        raise LedgerError(DERIVED_MISMATCH)
    for release, stored in con.execute("SELECT release, complete FROM outputs"):
        status = state.releases[release].state if release in state.releases else ""
        if bool(stored) != (status in ("committed", "published", "withdrawn")):
            raise LedgerError(
                f"release {release}: an output is stored that no entry records. Restore the ledger "
                "from a backup."
            )


def check_digest(what: str, release: str, data: bytes, entered: str | None) -> None:
    """Raise ChangedOutputError if stored bytes do not have the hash that was entered."""
    if entered is not None and sha256(data) != entered:
        raise ChangedOutputError(
            f"release {release}: the stored {what} was changed. Restore the ledger from a backup."
        )


def check_outputs(path: Path, view: View) -> None:
    """Compare all stored outputs and certificates with the hashes in the entries.

    Raises
    ------
    LedgerError
        Naming the first release whose output or certificate is missing or has changed.
    """
    drawn = {
        name: release for name, release in view.state.releases.items() if release.output_sha256
    }
    with translate_errors(path), closing(connect_reading(path)) as con:
        query = "SELECT release, stored, certificate FROM outputs WHERE complete"
        for name, stored, certificate in con.execute(query):
            release = drawn.pop(name, None)
            if release is None:
                continue
            check_digest("output", name, bytes(stored), release.output_sha256)
            if release.certificate_sha256 is not None:
                published = bytes(certificate or b"")
                check_digest("certificate", name, published, release.certificate_sha256)
    for name in drawn:
        raise LedgerError(
            f"release {name}: its output is missing. Restore the ledger from a backup."
        )


def read_ledger(path: Path) -> View:
    """Read and check a ledger or an export of one.

    Raises
    ------
    LedgerError
        The message begins with the file's name.
    """
    with translate_errors(path), open_regular(path) as file:
        head = file.read(len(SQLITE_MAGIC))
    try:
        return _store(path) if head == SQLITE_MAGIC else _export(path)
    except LedgerError as error:
        text = str(error)
        if text.startswith((f"{path.name}:", str(path))):
            raise
        raise LedgerError(f"{path.name}: {text}") from None


def _export(path: Path) -> View:
    with translate_errors(path):
        data = read_bounded(path, MAX_EXPORT_BYTES)
    try:
        document = read_json(data, path.name)
    except ReleaseError as error:
        raise LedgerError(str(error)) from None
    ledger, entries = read_export(document)
    state = check_entries(entries)
    if state.ledger not in ("", ledger):
        raise LedgerError("ledger: is not the one that the entries name")
    return View(ledger, entries, state)


def _store(path: Path) -> View:
    with translate_errors(path), closing(connect_reading(path)) as con:
        con.execute("BEGIN")
        try:
            entries = entries_of(con, path.name)
            state = check_entries(entries)
            check_derived_tables(con, state)
            key = read_key(key_file(path))
            if key is not None and key_check(key) != meta(con, "key"):
                key = None
            return View(meta(con, "ledger"), entries, state, key, StoredOutputs(path))
        except ReleaseError as error:
            raise LedgerError(str(error)) from None


@dataclass(frozen=True)
class CopyComparison:
    """Comparison of two copies of a ledger.

    Attributes
    ----------
    diverges_at : int or None
        First entry in which they differ; None if one continues the other.
    max_spent : dict from population to Fraction
        Upper bound of the total ε: Σε of both, common entries counted once.
    """

    diverges_at: int | None
    max_spent: Mapping[str, Fraction]


def compare_copies(one: View, other: View) -> CopyComparison:
    """Compare two copies of a ledger.

    Raises
    ------
    LedgerError
        If their ids differ.
    """
    if one.id != other.id:
        raise LedgerError("these are copies of different ledgers; give two of the same")
    common = 0
    for mine, theirs in zip(one.entries, other.entries, strict=False):
        if mine.hash != theirs.hash:
            break
        common += 1
    if common == min(len(one.entries), len(other.entries)):
        longer = max(one, other, key=lambda view: len(view.entries)).state
        return CopyComparison(None, {name: a.spent_epsilon for name, a in longer.accounts.items()})
    shared = one.until(common - 1)
    most: dict[str, Fraction] = {}
    for name in one.state.accounts.keys() | other.state.accounts.keys():
        spent = Fraction(0)
        for state, sign in ((one.state, 1), (other.state, 1), (shared, -1)):
            if name in state.accounts:
                spent += sign * state.accounts[name].spent_epsilon
        most[name] = spent
    return CopyComparison(common, most)
