"""Log of views of the non-private map; certificates state the count.

A view is the opening of a file in the window, or by a command that prints exact results from it:
as check-ins, or as the data of a study, such as users' values. Redrawing it later, for example
while a slider moves, is the same view. Views are recorded in the user's own ledger, which is
created if there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.files import file_sha256
from explorer.release.content_hash import file_digests
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings, default_ledger, default_settings

if TYPE_CHECKING:
    from explorer.checkins import CheckinData

# Pipeline and mechanisms are not imported here: the window records a view while it draws the first
# map, which slow imports would delay.


def record_view(
    data: CheckinData, path: Path | None = None, settings: Path | None = None
) -> frozenset[str]:
    """Record a view of the non-private map of check-ins; synthetic data are not recorded.

    Files opened together are recorded one by one, as a release may use any of them. Keyed marks
    of the user ids are stored too (`explorer.release.ledger.known_data.OpenedIds`).

    Parameters
    ----------
    data : CheckinData
    path, settings : Path, optional
        Of the ledger and of this machine's settings; default: the user's own.

    Returns
    -------
    frozenset of str
        SHA-256 of the files, hexadecimal.

    Raises
    ------
    ReleaseError
        If the ledger can't be written to.
    OSError
        If a file no longer exists, or the ledger's folder can't be created.
    """
    if data.synthetic:
        return frozenset()
    if data.fingerprint and not data.files.together:
        files = {data.fingerprint: data.files.parts[0].path}
    else:
        files = {file_sha256(part.path): part.path for part in data.files.parts}
    with _open_ledger(path, settings) as ledger:
        _record_views(ledger, files)
        if data.unit == "user":
            how = f"{data.mapping.user} {data.users}"
            with suppress(ValueError):  # the data have been closed
                ledger.known.record_opened_ids(files, how, data.user_ids)
    return frozenset(files)


def record_file_views(
    files: Mapping[str, Path | None], path: Path | None = None, settings: Path | None = None
) -> None:
    """Record a view of files by their hashes; otherwise as `record_view`.

    Parameters
    ----------
    files : mapping from SHA-256 to Path or None
        Paths, so that the same content is recognised in another file; None if unknown.
    path, settings : Path, optional
    """
    with _open_ledger(path, settings) as ledger:
        _record_views(ledger, files)


def _open_ledger(path: Path | None, settings: Path | None) -> Ledger:
    return Ledger(path or default_ledger(), FileSettings(settings or default_settings()))


def _record_views(ledger: Ledger, files: Mapping[str, Path | None]) -> None:
    for sha256, file in sorted(files.items()):
        if file is not None and not ledger.known.knows_content(sha256):
            with suppress(OSError):  # if the file is gone, its hash is still recorded
                result, content = file_digests(file)
                if result == sha256:
                    ledger.known.record_content(sha256, content)
        ledger.known.record_view(sha256)
