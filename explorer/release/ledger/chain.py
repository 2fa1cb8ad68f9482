"""The chain of hashes: an entry that is changed, left out or put elsewhere breaks it.

hash = SHA-256("PXL1" LF prev LF body), the body as canonical JSON, prev that of the entry before
and 64 zeros at first. Every body carries 128 random bits, so that a published hash commits to its
entry without telling it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical, shortened
from explorer.release.ledger.errors import LedgerError

GENESIS = "0" * 64
EXPORT = "privacy-explorer/ledger-export/1"

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """An entry as it is stored.

    Attributes
    ----------
    seq : int
        From 0.
    prev, hash : str
        Hexadecimal.
    body : mapping
        What happened.
    """

    seq: int
    prev: str
    hash: str
    body: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return it as an export holds it."""
        return {"seq": self.seq, "prev": self.prev, "hash": self.hash, "body": dict(self.body)}


class BrokenChainError(LedgerError):
    """An entry was edited, left out or moved; `seq` is its place."""

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(seq, problem)
        self.seq, self.problem = seq, problem

    def __str__(self) -> str:
        return f"entry {self.seq}: {self.problem}; no release is possible from this ledger"


def entry_hash(prev: str, body: Mapping[str, Any]) -> str:
    """Return the hash of an entry that follows another."""
    return hashlib.sha256(b"PXL1\n" + prev.encode("ascii") + b"\n" + canonical(body)).hexdigest()


def chain_hashes(bodies: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the hashes of entries from the first on."""
    hashes, prev = [], GENESIS
    for body in bodies:
        prev = entry_hash(prev, body)
        hashes.append(prev)
    return hashes


def check_chain(entries: Iterable[Entry]) -> None:
    """Raise `BrokenChainError` at the first entry that does not follow from those before."""
    prev = GENESIS
    for place, entry in enumerate(entries):
        if entry.seq != place or entry.body.get("seq", place) != place:
            raise BrokenChainError(place, "entries are missing or not in order")
        if entry.prev != prev or entry.hash != entry_hash(prev, entry.body):
            raise BrokenChainError(place, "it was edited, as its hash does not fit")
        prev = entry.hash


def exported(ledger: str, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what `read_export` reads: all entries, and no key, output or person."""
    return {
        "schema": EXPORT,
        "ledger": ledger,
        "entries": [entry.as_json() for entry in entries],
    }


def read_export(document: object) -> tuple[str, list[Entry]]:
    """Return a ledger's id and entries; their chain is not yet checked.

    Raises
    ------
    LedgerError
        If it is no export of a ledger.
    """
    if not isinstance(document, dict) or document.get("schema") != EXPORT:
        raise LedgerError(f"schema: is not {EXPORT}, so this is no exported ledger")
    if set(document) != {"schema", "ledger", "entries"}:
        raise LedgerError("schema, ledger, entries: one is missing, or there is more")
    ledger, items = document["ledger"], document["entries"]
    if not isinstance(ledger, str) or not _ID.fullmatch(ledger):
        raise LedgerError(f"ledger: {shortened(ledger)} is no id of 32 hexadecimal digits")
    if not isinstance(items, list):
        raise LedgerError("entries: is no list")
    return ledger, [_entry(place, item) for place, item in enumerate(items)]


def _entry(place: int, item: object) -> Entry:
    if not isinstance(item, dict) or set(item) != {"seq", "prev", "hash", "body"}:
        raise LedgerError(f"entries[{place}]: does not hold seq, prev, hash and body alone")
    seq, body = item["seq"], item["body"]
    if type(seq) is not int or not isinstance(body, dict):
        raise LedgerError(f"entries[{place}]: seq is no whole number, or body no object")
    for key in ("prev", "hash"):
        if not isinstance(item[key], str) or not re.fullmatch(r"[0-9a-f]{64}", item[key]):
            raise LedgerError(f"entries[{place}].{key}: is no SHA-256 in hexadecimal digits")
    try:
        canonical(body)
    except ReleaseError as error:
        raise LedgerError(f"entries[{place}].body: {error}") from None
    return Entry(seq, item["prev"], item["hash"], body)
