"""Looks at the true map: a certificate says how many there were before, whoever made them.

A look is the opening of a file in the window, or by a command that prints what is true of it:
as check-ins, or as what a study reads, such as users' data, whose exact counts it shows.
What is drawn of it afterwards, while sliders are dragged, is the same look. It is kept in the
user's own ledger, made for it if there is none: what is not kept, no certificate could say.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.files import file_sha256
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.places import default_ledger, default_settings

if TYPE_CHECKING:
    from explorer.checkins import CheckinData

# The door and its mechanisms are not imported: the window counts a look while it shows the first
# map, and would stumble over them.


def count_look(
    data: CheckinData, path: Path | None = None, settings: Path | None = None
) -> frozenset[str]:
    """Keep that the true map of check-ins was shown; of made-up people nothing is kept.

    Several files that were opened as one are kept each: any of them may be released from.

    Parameters
    ----------
    data : CheckinData
    path, settings : Path, optional
        Of the ledger, and of what this machine remembers; the user's own if omitted.

    Returns
    -------
    frozenset of str
        SHA-256 of the files, in hexadecimal digits.

    Raises
    ------
    ReleaseError
        If it can't be kept.
    OSError
        If a file is gone by now, or there can be no folder for the ledger.
    """
    if data.synthetic:
        return frozenset()
    if data.fingerprint and not data.files.together:
        hashes = {data.fingerprint}
    else:
        hashes = {file_sha256(part.path) for part in data.files.parts}
    count_files(hashes, path, settings)
    return frozenset(hashes)


def count_files(
    hashes: Collection[str], path: Path | None = None, settings: Path | None = None
) -> None:
    """Keep that what is true of files was shown, by their SHA-256; else as `count_look`."""
    path = path or default_ledger()
    with Ledger(path, FileSettings(settings or default_settings())) as ledger:
        for sha256 in sorted(hashes):
            ledger.known.shown(sha256)
