"""A look at the beginning of a file: which reader it is for, and what that makes of it."""

import os
import stat
from dataclasses import replace
from pathlib import Path

from explorer.bounded import in_worker
from explorer.checkins.apart import IN_PLACE, apart
from explorer.checkins.database import check
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import IsCancelled, Preview
from explorer.checkins.readers import all_readers, get_reader
from explorer.checkins.readers.base import HEAD, Beginning


def check_readable(path: Path) -> int:
    """Return a file's size, or say in one sentence why it can't be read.

    Raises
    ------
    CheckinError
    """
    name = shown_name(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise CheckinError(f"{name} is a folder; choose a check-in file inside it.")
        if not stat.S_ISREG(status.st_mode):
            raise CheckinError(f"{name} is not a regular file; save its contents to a file first.")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise CheckinError(
            f"{name} does not exist (any more); check its name and folder."
        ) from None
    except PermissionError:
        raise CheckinError(
            f"{name} may not be read by you; ask its owner for permission to read it."
        ) from None
    except OSError as fault:
        raise CheckinError(
            f"{name} can't be read ({fault.strerror or fault}); copy it to a local disk and retry."
        ) from None
    if status.st_size == 0:
        raise CheckinError(f"{name} is empty; choose a file with check-ins in it.")
    return status.st_size


def sniff(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    cancelled: IsCancelled | None = None,
    decimal: str | None = None,
    layer: str | None = None,
    unpack: bool = False,
) -> Preview:
    """Look at the beginning of a file and guess how to read it.

    Parameters
    ----------
    path : path
        In a format of one of the readers.
    delimiter : str, optional
        The character between two fields of text; guessed if omitted.
    encoding : str, optional
        A codec of `encodings.NAMES`; detected if omitted.
    cancelled : callable, optional
        Asked every few milliseconds; true stops.
    decimal : str, optional
        What stands before a number's fraction, a point or a comma; guessed if omitted.
    layer : str, optional
        Of a file with several layers or sheets; the one with check-ins if omitted.
    unpack : bool
        Whether it may unpack to any multiple of its size.

    Returns
    -------
    Preview
        Its mapping lacks columns that could not be told; the window then asks.

    Raises
    ------
    CheckinError
        If the file can't be opened, is empty, is of no format with a reader, or has over 20,000
        columns.
    UnpackNeeded
        If a workbook unpacks to far more than its size, without `unpack`.
    LoadCancelled
        If `cancelled` said so.
    """
    path = Path(path)
    check(cancelled)
    size = check_readable(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as fault:
        raise CheckinError(
            f"{shown_name(path)} can't be read ({fault.strerror or fault}); copy it and retry."
        ) from None
    suffix = path.suffix.lower()
    best = max(all_readers(), key=lambda r: (r.can_read(head), suffix in r.suffixes))
    if best is not get_reader(IN_PLACE) and not in_worker():
        found: Preview = apart(
            sniff,
            path,
            delimiter,
            encoding,
            decimal=decimal,
            layer=layer,
            unpack=unpack,
            name=shown_name(path),
            cancelled=cancelled,
        )
        return found
    preview = best.preview(
        Beginning(path, size, head, delimiter, encoding, layer, cancelled, decimal, unpack)
    )
    return replace(preview, dialect=replace(preview.dialect, unpack=unpack))
