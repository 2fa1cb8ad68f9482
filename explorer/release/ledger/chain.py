"""Hash chain of the ledger's entries, which detects changed, missing and moved entries.

hash = SHA-256("PXL1" LF prev LF body), where body is canonical JSON and prev is the hash of the
previous entry (64 zeros for the first). Every body has 128 random bits, so that a published hash
commits to its entry without revealing it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.release.errors import LedgerError, ReleaseError
from explorer.release.exact_json import canonical, short_repr

GENESIS = "0" * 64
EXPORT = "privacy-explorer/ledger-export/1"

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """A stored entry.

    Attributes
    ----------
    seq : int
        From 0.
    prev, hash : str
        Hexadecimal.
    body : mapping
        Content of the entry.
    """

    seq: int
    prev: str
    hash: str
    body: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON values of an export."""
        return {"seq": self.seq, "prev": self.prev, "hash": self.hash, "body": dict(self.body)}


class BrokenChainError(LedgerError):
    """The entry numbered `seq` was edited, removed or moved."""

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(seq, problem)
        self.seq, self.problem = seq, problem

    def __str__(self) -> str:
        return f"entry {self.seq}: {self.problem}; no release is possible from this ledger"


def entry_hash(prev: str, body: Mapping[str, Any]) -> str:
    """Return the hash of an entry from the previous hash and its body."""
    return hashlib.sha256(b"PXL1\n" + prev.encode("ascii") + b"\n" + canonical(body)).hexdigest()


def chain_hashes(bodies: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the hashes of all entries, from their bodies."""
    hashes, prev = [], GENESIS
    for body in bodies:
        prev = entry_hash(prev, body)
        hashes.append(prev)
    return hashes


def check_chain(entries: Iterable[Entry]) -> None:
    """Raise `BrokenChainError` at the first entry that does not follow the previous one."""
    prev = GENESIS
    for place, entry in enumerate(entries):
        if entry.seq != place or entry.body.get("seq", place) != place:
            raise BrokenChainError(place, "entries are missing or not in order")
        if entry.prev != prev or entry.hash != entry_hash(prev, entry.body):
            raise BrokenChainError(place, "it was edited, as its hash does not fit")
        prev = entry.hash


def export_entries(ledger: str, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the JSON values of an export: all entries, without key, outputs and data."""
    return {
        "schema": EXPORT,
        "ledger": ledger,
        "entries": [entry.as_json() for entry in entries],
    }


def read_export(document: object) -> tuple[str, list[Entry]]:
    """Parse an export into the ledger's id and entries, without checking the chain.

    Raises
    ------
    LedgerError
        If the document is no export of a ledger.
    """
    if not isinstance(document, dict) or document.get("schema") != EXPORT:
        raise LedgerError(f"schema: is not {EXPORT}, so this is not an exported ledger")
    if set(document) != {"schema", "ledger", "entries"}:
        raise LedgerError("schema, ledger, entries: one is missing, or there are others")
    ledger, items = document["ledger"], document["entries"]
    if not isinstance(ledger, str) or not _ID.fullmatch(ledger):
        raise LedgerError(f"ledger: {short_repr(ledger)} is not an id of 32 hexadecimal digits")
    if not isinstance(items, list):
        raise LedgerError("entries: is not a list")
    return ledger, [_entry(place, item) for place, item in enumerate(items)]


def _entry(place: int, item: object) -> Entry:
    if not isinstance(item, dict) or set(item) != {"seq", "prev", "hash", "body"}:
        raise LedgerError(f"entries[{place}]: must hold seq, prev, hash and body, and nothing else")
    seq, body = item["seq"], item["body"]
    if type(seq) is not int or not isinstance(body, dict):
        raise LedgerError(f"entries[{place}]: seq is not a whole number, or body is not an object")
    for key in ("prev", "hash"):
        if not isinstance(item[key], str) or not re.fullmatch(r"[0-9a-f]{64}", item[key]):
            raise LedgerError(f"entries[{place}].{key}: is not a SHA-256 in hexadecimal digits")
    try:
        canonical(body)
    except ReleaseError as error:
        raise LedgerError(f"entries[{place}].body: {error}") from None
    return Entry(seq, item["prev"], item["hash"], body)
