"""Looks at the true map: a certificate says how many there were before, whoever made them.

A look is the opening of a file in the window, or by a command that prints what is true of it.
What is drawn of it afterwards, while sliders are dragged, is the same look. It is kept in the
user's own ledger, made for it if there is none: what is not kept, no certificate could say.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.release.door import Place
from explorer.release.places import default_ledger, default_settings

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


def own_place() -> Place:
    """Return the user's own ledger."""
    return Place(default_ledger(), default_settings())


def count_look(data: CheckinData, place: Place | None = None) -> None:
    """Keep that the true map of check-ins was shown; of made-up people nothing is kept.

    Several files that were opened as one are kept each: any of them may be released from.

    Raises
    ------
    ReleaseError
        If it can't be kept.
    OSError
        If a file is gone by now, or there can be no folder for the ledger.
    """
    if data.synthetic:
        return
    if data.fingerprint and not data.files.together:
        hashes = {data.fingerprint}
    else:
        hashes = {_sha256(part.path) for part in data.files.parts}
    place = place or own_place()
    place.ledger.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with place.open() as ledger:
        for sha256 in sorted(hashes):
            ledger.known.shown(sha256)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
