"""What other ledgers of this machine know of a file: where looks were kept, not the release."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from explorer.release.errors import ReleaseError
from explorer.release.ledger.keys import key_file, read_key
from explorer.release.ledger.people import KnownPeople
from explorer.release.ledger.settings import Settings, remembered
from explorer.release.ledger.storage import connect_reading


def looks_elsewhere(settings: Settings, ledger: str, file_sha256: str, content: str) -> int | None:
    """Return how often the true map of a file was shown by what other ledgers have, or None.

    Parameters
    ----------
    settings : Settings
        What this machine remembers of ledgers.
    ledger : str
        The one whose own records are not asked here.
    file_sha256, content : str
        Of the file (`explorer.release.content`).

    Returns
    -------
    int or None
        None if none of them knows that the file was opened. One that is there and can't be read
        might: then it is 0. One that is not there any more is left out.
    """
    found = None
    for name, known in remembered(settings).items():
        path = Path(known.path)
        if name == ledger or not known.path or not path.exists():
            continue
        try:
            key = read_key(key_file(path))
            if key is None:
                raise ReleaseError("its key is gone")
            with closing(connect_reading(path)) as con:
                record = KnownPeople(path, con, key).file(file_sha256, content)
        except ReleaseError:
            found = found or 0
            continue
        if record is not None and record.opened_after is not None:
            found = (found or 0) + record.shown
    return found
