"""Ids of check-in files that were opened: keyed marks in files beside the ledger.

They serve one sentence, for the curator alone: how many ids of a file that is to be released were
seen in other files before. They are in no entry, certificate or export, and can be forgotten.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.files import private_folder, replacing
from explorer.release.ledger.keys import MARK_BYTES, key_check, marks_in_order

MOST_IDS = 1_000_000
"""Marks kept of one file: 8 MB, and 2 s to make them."""
MOST_FILES = 32
"""Files whose marks are kept: those opened last."""
_SUFFIX = ".ids"

Marks = NDArray[np.uint64]


@dataclass(frozen=True)
class Seen:
    """Which ids were seen in other files.

    Attributes
    ----------
    each : ndarray of bool, shape (ids,)
        Whether that id was.
    partial : bool
        Whether there may be more, as not all marks are kept or can be read.
    """

    each: NDArray[np.bool_]
    partial: bool


class OpenedIds:
    """The marks of a ledger, each file's in one of their own, in a folder of mode 0700.

    A file's first line is a check of the key, ``all`` or ``some`` (of its ids) and the marks of the
    data files; sorted marks of 8 bytes follow.

    Attributes
    ----------
    folder : Path
        ``ledger.opened`` beside ``ledger.sqlite``. It need not be there.
    """

    def __init__(self, ledger: Path, key: bytes) -> None:
        self.folder = _folder(ledger)
        self._key = key
        self._check = key_check(key)[:16]

    def keep(
        self,
        files: Collection[bytes],
        name: str,
        ids: Callable[[], Iterable[str]],
    ) -> None:
        """Keep the marks of the ids of data files that were opened as one, unless they are there.

        Parameters
        ----------
        files : collection of bytes
            Marks of the data files and of their contents.
        name : str
            Of what was opened: kept once under each name.
        ids : callable
            Returns them, each once. Those after the first `MOST_IDS` are left out.

        Raises
        ------
        OSError
            If they can't be written.
        """
        path = self.folder / (hmac.digest(self._key, name.encode(), sha256)[:16].hex() + _SUFFIX)
        if path.exists():
            path.touch()
            return
        found = iter(ids())
        marks = _sorted(self._key, islice(found, MOST_IDS))
        all_of_them = "some" if next(found, None) is not None else "all"
        first = " ".join([self._check, all_of_them, *sorted(mark.hex() for mark in files)])
        private_folder(self.folder)
        with replacing(path, private=True) as file:
            file.write(f"{first}\n".encode("ascii"))
            file.write(marks.astype(">u8").tobytes())
        by_age = sorted(self._paths(), key=lambda one: one.stat().st_mtime_ns)
        for old in by_age[:-MOST_FILES]:
            old.unlink(missing_ok=True)

    def seen(self, ids: Collection[str], files: Collection[bytes]) -> Seen:
        """Return which ids were in other files: not in those with one of some files' marks."""
        paths, own = self._paths(), {mark.hex() for mark in files}
        partial = len(paths) >= MOST_FILES
        each = np.zeros(len(ids), np.bool_)
        marks = _marks(self._key, ids) if paths else np.empty(0, np.uint64)
        for path in paths:
            try:
                line, _, data = path.read_bytes().partition(b"\n")
                check, extent, *kept = line.decode("ascii").split(" ")
                stored = np.frombuffer(data, ">u8")
            except (OSError, ValueError):  # forgotten by now, cut off or of another program
                partial = True
                continue
            if check != self._check:
                partial = True
            elif not own & set(kept):
                each |= np.isin(marks, stored)
                partial |= extent != "all"
        return Seen(each, partial)

    def _paths(self) -> list[Path]:
        return _paths(self.folder)


def forget(ledger: Path) -> int:
    """Delete all marks of a ledger; return of how many files they were."""
    paths = _paths(_folder(ledger))
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _folder(ledger: Path) -> Path:
    return ledger.with_suffix(".opened")


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"))


def _marks(key: bytes, ids: Iterable[str]) -> Marks:
    """Return the marks of ids in their order, as whole numbers."""
    joined = b"".join(marks_in_order(key, ids))
    assert len(joined) % MARK_BYTES == 0
    return np.frombuffer(joined, ">u8").astype(np.uint64)


def _sorted(key: bytes, ids: Iterable[str]) -> Marks:
    """Return the marks of ids, each once, so that their order tells nothing of a file's."""
    return np.unique(_marks(key, ids))
