"""Records of a data file in the other ledgers of this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from explorer.release.errors import ReleaseError
from explorer.release.ledger.keys import key_file, read_key
from explorer.release.ledger.known_data import KnownData, SeenIds
from explorer.release.ledger.settings import Settings, ledger_heads
from explorer.release.ledger.storage import connect_reading, load_state


def views_elsewhere(settings: Settings, ledger: str, file_sha256: str, content: str) -> int | None:
    """Return the number of views of a file's non-private map that other ledgers recorded.

    Parameters
    ----------
    settings : Settings
        Of this machine.
    ledger : str
        Id of the ledger to leave out.
    file_sha256, content : str
        Of the file (`explorer.release.content_hash`).

    Returns
    -------
    int or None
        None if no other ledger recorded that the file was opened. A ledger that exists but can't
        be read counts as 0 views; one that no longer exists is skipped.
    """
    views = None
    for path, key in _others(settings, ledger):
        try:
            if key is None:
                raise ReleaseError("its key is gone")
            with closing(connect_reading(path)) as con:
                record = KnownData(path, con, key).file(file_sha256, content)
        except ReleaseError:
            views = views or 0
            continue
        if record is not None and record.opened_after is not None:
            views = (views or 0) + record.shown
    return views


def spending_elsewhere(
    settings: Settings, ledger: str, file_sha256: str, content: str
) -> dict[str, Fraction]:
    """Return the ε that other ledgers of this machine spent on the people of a file.

    Parameters
    ----------
    settings, ledger, file_sha256, content
        As of `views_elsewhere`.

    Returns
    -------
    dict from the path of a ledger to Fraction
        Σε of their accounts, where it is above 0. Ledgers that can't be read are skipped.
    """
    spending = {}
    for path, key in _others(settings, ledger):
        with suppress(ReleaseError), closing(connect_reading(path)) as con:
            if key is None:
                continue
            known = KnownData(path, con, key).populations(file_sha256, content)
            state = load_state(con, "")
            accounts = {account.population: account for account in map(state.account_of, known)}
            spent = sum((one.spent_epsilon for one in accounts.values()), Fraction(0))
            if spent:
                spending[str(path)] = spent
    return spending


def ids_seen_elsewhere(
    settings: Settings, ledger: str, file_sha256: str, content: str, ids: Collection[str]
) -> SeenIds:
    """Return which ids of a file were in other files, from the records of other ledgers.

    Parameters
    ----------
    settings, ledger, file_sha256, content
        As of `views_elsewhere`.
    ids : collection of str
        Of the file.
    """
    result = SeenIds(np.zeros(len(ids), np.bool_), partial=False)
    for path, key in _others(settings, ledger):
        try:
            if key is None:
                raise ReleaseError("its key is gone")
            with closing(connect_reading(path)) as con:
                one = KnownData(path, con, key).seen(ids, file_sha256, content)
        except ReleaseError:
            result = replace(result, partial=True)
        else:
            result = SeenIds(result.each | one.each, result.partial or one.partial)
    return result


def _others(settings: Settings, ledger: str) -> Iterator[tuple[Path, bytes | None]]:
    """Yield paths and keys of the other ledgers that exist; None for a key that can't be read."""
    for name, known in ledger_heads(settings).items():
        path = Path(known.path)
        if name == ledger or not known.path or not path.exists():
            continue
        try:
            yield path, read_key(key_file(path))
        except ReleaseError:
            yield path, None
