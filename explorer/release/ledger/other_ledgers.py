"""What other ledgers of this machine know of a file: where looks were kept, not the release."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from explorer.release.errors import ReleaseError
from explorer.release.ledger.keys import key_file, read_key
from explorer.release.ledger.known_data import KnownData
from explorer.release.ledger.opened_ids import Seen
from explorer.release.ledger.settings import Settings, remembered
from explorer.release.ledger.storage import connect_reading, load_book


def looks_elsewhere(settings: Settings, ledger: str, file_sha256: str, content: str) -> int | None:
    """Return how often the true map of a file was shown by what other ledgers have, or None.

    Parameters
    ----------
    settings : Settings
        What this machine remembers of ledgers.
    ledger : str
        The one whose own records are not asked here.
    file_sha256, content : str
        Of the file (`explorer.release.content_hash`).

    Returns
    -------
    int or None
        None if none of them knows that the file was opened. One that is there and can't be read
        might: then it is 0. One that is not there any more is left out.
    """
    found = None
    for path, key in _others(settings, ledger):
        try:
            if key is None:
                raise ReleaseError("its key is gone")
            with closing(connect_reading(path)) as con:
                record = KnownData(path, con, key).file(file_sha256, content)
        except ReleaseError:
            found = found or 0
            continue
        if record is not None and record.opened_after is not None:
            found = (found or 0) + record.shown
    return found


def spent_elsewhere(
    settings: Settings, ledger: str, file_sha256: str, content: str
) -> dict[str, Fraction]:
    """Return what other ledgers of this machine spent on the people of a file's content.

    Parameters
    ----------
    settings, ledger, file_sha256, content
        As of `looks_elsewhere`.

    Returns
    -------
    dict from the path of a ledger to Fraction
        Σε of their accounts, where it is above 0. Ledgers that can't be read are left out.
    """
    found = {}
    for path, key in _others(settings, ledger):
        with suppress(ReleaseError), closing(connect_reading(path)) as con:
            if key is None:
                continue
            known = KnownData(path, con, key).populations(file_sha256, content)
            book = load_book(con, "")
            accounts = {account.population: account for account in map(book.account_of, known)}
            spent = sum((one.spent_epsilon for one in accounts.values()), Fraction(0))
            if spent:
                found[str(path)] = spent
    return found


def seen_elsewhere(
    settings: Settings, ledger: str, file_sha256: str, content: str, ids: Collection[str]
) -> Seen:
    """Return which ids of a file were in other files, by what other ledgers of this machine have.

    Parameters
    ----------
    settings, ledger, file_sha256, content
        As of `looks_elsewhere`.
    ids : collection of str
        Of the file.
    """
    found = Seen(np.zeros(len(ids), np.bool_), partial=False)
    for path, key in _others(settings, ledger):
        try:
            if key is None:
                raise ReleaseError("its key is gone")
            with closing(connect_reading(path)) as con:
                one = KnownData(path, con, key).seen(ids, file_sha256, content)
        except ReleaseError:
            found = replace(found, partial=True)
        else:
            found = Seen(found.each | one.each, found.partial or one.partial)
    return found


def _others(settings: Settings, ledger: str) -> Iterator[tuple[Path, bytes | None]]:
    """Yield the other ledgers that are there, and their keys; None where one can't be read."""
    for name, known in remembered(settings).items():
        path = Path(known.path)
        if name == ledger or not known.path or not path.exists():
            continue
        try:
            yield path, read_key(key_file(path))
        except ReleaseError:
            yield path, None
