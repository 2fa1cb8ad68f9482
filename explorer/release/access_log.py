"""Looks at the true map: a certificate says how many there were before, whoever made them.

A look is the opening of a file in the window, or by a command that prints what is true of it:
as check-ins, or as what a study reads, such as users' data, whose exact counts it shows.
What is drawn of it afterwards, while sliders are dragged, is the same look. It is kept in the
user's own ledger, made for it if there is none: what is not kept, no certificate could say.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.files import file_sha256
from explorer.release.content_hash import file_digests
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

    Several files that were opened as one are kept each: any of them may be released from. Keyed
    marks of the users' ids are kept too (`explorer.release.ledger.opened_ids`).

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
        files = {data.fingerprint: data.files.parts[0].path}
    else:
        files = {file_sha256(part.path): part.path for part in data.files.parts}
    with _opened(path, settings) as ledger:
        _count(ledger, files)
        if data.unit == "user":
            how = f"{data.mapping.user} {data.users}"
            with suppress(ValueError):  # the data were closed meanwhile
                ledger.known.keep_opened(files, how, data.user_ids)
    return frozenset(files)


def count_files(
    files: Mapping[str, Path | None], path: Path | None = None, settings: Path | None = None
) -> None:
    """Keep that what is true of files was shown; else as `count_look`.

    Parameters
    ----------
    files : mapping from SHA-256 to Path or None
        Where they are, so that their content is recognised in another file; None if that is not
        known.
    path, settings : Path, optional
    """
    with _opened(path, settings) as ledger:
        _count(ledger, files)


def _opened(path: Path | None, settings: Path | None) -> Ledger:
    return Ledger(path or default_ledger(), FileSettings(settings or default_settings()))


def _count(ledger: Ledger, files: Mapping[str, Path | None]) -> None:
    for sha256, file in sorted(files.items()):
        if file is not None and not ledger.known.content_known(sha256):
            with suppress(OSError):  # it is gone by now: its own hash is kept all the same
                found, content = file_digests(file)
                if found == sha256:
                    ledger.known.has_content(sha256, content)
        ledger.known.shown(sha256)
