"""Files and user ids that a ledger recognises by keyed marks, for the curator only.

These records depend on the data. They are outside the chain and in no export; certificates use
only the number of views of the non-private map, which depends on the curator's actions. The other
ledgers of this machine are searched too, as they may know the same people.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.files import private_folder, replacing
from explorer.release.errors import ReleaseError
from explorer.release.ledger.keys import (
    MARK_BYTES,
    content_mark,
    file_mark,
    key_check,
    key_file,
    marks_in_order,
    person_marks,
    read_key,
)
from explorer.release.ledger.settings import Settings, ledger_heads
from explorer.release.ledger.state import NO_KEY, UNKNOWN, LedgerState
from explorer.release.ledger.storage import (
    connect_reading,
    head_of,
    load_state,
    meta,
    set_meta,
    transaction,
    translate_errors,
)

MAX_IDS = 1_000_000
"""Marks stored for one file: 8 MB, computed in 2 s."""
MAX_FILES = 32
"""Number of files whose marks are stored: the most recently opened ones."""
_SUFFIX = ".ids"

Marks = NDArray[np.uint64]


@dataclass(frozen=True)
class SeenIds:
    """Which ids were in other files opened before.

    Attributes
    ----------
    each : ndarray of bool, shape (ids,)
    partial : bool
        Whether ids may be missing, as not all marks are stored or readable.
    """

    each: NDArray[np.bool_]
    partial: bool


class OpenedIds:
    """Keyed marks of the user ids of opened check-in files, in files next to the ledger.

    Before a release the curator sees from them how many ids of its file were in other files. They
    are in no entry, certificate or export, and can be deleted (`forget_ids`). The first line of
    each file has a check value of the key, ``all`` or ``some`` (of the ids) and the marks of the
    data files; sorted marks of 8 bytes follow.

    Attributes
    ----------
    folder : Path
        ``ledger.opened`` next to ``ledger.sqlite``, mode 0700. It may not exist.
    """

    def __init__(self, ledger: Path, key: bytes) -> None:
        self.folder = _folder(ledger)
        self._key = key
        self._check = key_check(key)[:16]

    def store(
        self,
        files: Collection[bytes],
        name: str,
        ids: Callable[[], Iterable[str]],
    ) -> None:
        """Store the marks of the ids of data files opened together, unless they are stored.

        Parameters
        ----------
        files : collection of bytes
            Marks of the data files and of their contents.
        name : str
            Identifies the data set; its marks are stored once.
        ids : callable
            Returns the distinct ids. Those after the first `MAX_IDS` are omitted.

        Raises
        ------
        OSError
            If the file can't be written.
        """
        path = self.folder / (hmac.digest(self._key, name.encode(), sha256)[:16].hex() + _SUFFIX)
        if path.exists():
            path.touch()
            return
        result = iter(ids())
        marks = _sorted(self._key, islice(result, MAX_IDS))
        all_of_them = "some" if next(result, None) is not None else "all"
        first = " ".join([self._check, all_of_them, *sorted(mark.hex() for mark in files)])
        private_folder(self.folder)
        with replacing(path, private=True) as file:
            file.write(f"{first}\n".encode("ascii"))
            file.write(marks.astype(">u8").tobytes())
        by_age = sorted(self._paths(), key=lambda one: one.stat().st_mtime_ns)
        for old in by_age[:-MAX_FILES]:
            old.unlink(missing_ok=True)

    def seen(self, ids: Collection[str], files: Collection[bytes]) -> SeenIds:
        """Return which ids were in stored files, except those with one of the given marks."""
        paths, own = self._paths(), {mark.hex() for mark in files}
        partial = len(paths) >= MAX_FILES
        each = np.zeros(len(ids), np.bool_)
        marks = _marks(self._key, ids) if paths else np.empty(0, np.uint64)
        for path in paths:
            try:
                line, _, data = path.read_bytes().partition(b"\n")
                check, extent, *opened = line.decode("ascii").split(" ")
                stored = np.frombuffer(data, ">u8")
            except (OSError, ValueError):  # deleted meanwhile, truncated or of another version
                partial = True
                continue
            if check != self._check:
                partial = True
            elif not own & set(opened):
                each |= np.isin(marks, stored)
                partial |= extent != "all"
        return SeenIds(each, partial)

    def _paths(self) -> list[Path]:
        return _paths(self.folder)


def forget_ids(ledger: Path) -> int:
    """Delete all marks of ids of a ledger; return the number of files they were for."""
    paths = _paths(_folder(ledger))
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _folder(ledger: Path) -> Path:
    return ledger.with_suffix(".opened")


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"))


def _marks(key: bytes, ids: Iterable[str]) -> Marks:
    """Return the marks of ids as integers, in order."""
    joined = b"".join(marks_in_order(key, ids))
    assert len(joined) % MARK_BYTES == 0
    return np.frombuffer(joined, ">u8").astype(np.uint64)


def _sorted(key: bytes, ids: Iterable[str]) -> Marks:
    """Return the distinct marks of ids, sorted, so that their order reveals nothing."""
    return np.unique(_marks(key, ids))


FIXED, OPENED = "fixed before the data were opened", "data opened before"
"""Statements of certificates about when parameters were chosen."""


@dataclass(frozen=True)
class FileRecord:
    """Record of a data file.

    Attributes
    ----------
    population : str
        "" if none was recorded.
    opened_after : int or None
        Number of the last entry when the file was first opened, −1 if there was none; None if it
        was never opened.
    shown : int
        Number of views of its non-private map.
    """

    population: str
    opened_after: int | None
    shown: int


class KnownData:
    """Records of files and user ids of a ledger, identified by keyed hashes."""

    def __init__(self, path: Path, con: sqlite3.Connection, key: bytes) -> None:
        self._path, self._con, self._key = path, con, key

    def file(self, file_sha256: str, content: str = "") -> FileRecord | None:
        """Return the record of a file, or None.

        Openings and views of any file with the same content count
        (`explorer.release.content_hash`); the population is that of the file itself.
        """
        own = file_mark(self._key, file_sha256)
        with translate_errors(self._path):
            rows = [
                row
                for mark in self._marks(file_sha256, content)
                for row in self._con.execute(
                    "SELECT mark, population, opened_after, shown FROM files WHERE mark = ?",
                    (mark,),
                )
            ]
        if not rows:
            return None
        return FileRecord(
            next((population for mark, population, _, _ in rows if mark == own), ""),
            min((after for _, _, after, _ in rows if after is not None), default=None),
            max(shown for *_, shown in rows),
        )

    def knows_content(self, file_sha256: str) -> bool:
        """Return whether the content hash of a file is recorded."""
        with translate_errors(self._path):
            return bool(meta(self._con, _content_name(file_mark(self._key, file_sha256))))

    def record_content(self, file_sha256: str, content: str) -> None:
        """Record the content hash of a file, and transfer the file's record to the content."""
        own, mark = file_mark(self._key, file_sha256), content_mark(self._key, content)
        with translate_errors(self._path), transaction(self._con):
            if meta(self._con, _content_name(own)):
                return
            set_meta(self._con, _content_name(own), mark.hex())
            self._con.execute(
                "INSERT INTO files SELECT ?, '', opened_after, shown FROM files WHERE mark = ? "
                "ON CONFLICT (mark) DO UPDATE SET shown = shown + excluded.shown, "
                "opened_after = coalesce(min(opened_after, excluded.opened_after), "
                "opened_after, excluded.opened_after)",
                (mark, own),
            )

    def _marks(self, file_sha256: str, content: str = "") -> list[bytes]:
        own = file_mark(self._key, file_sha256)
        content_hash = meta(self._con, _content_name(own))
        marks = [own, *([bytes.fromhex(content_hash)] if content_hash else [])]
        return marks + ([content_mark(self._key, content)] if content and not content_hash else [])

    def populations(self, file_sha256: str, content: str) -> set[str]:
        """Return the populations recorded for files with this content."""
        with translate_errors(self._path):
            result = {
                str(population)
                for mark in self._marks(file_sha256, content)
                for (population,) in self._con.execute(
                    "SELECT population FROM files WHERE mark = ?", (mark,)
                )
            }
        return result - {""}

    def record_population(self, file_sha256: str, population: str) -> None:
        """Record the population of a file."""
        with translate_errors(self._path), transaction(self._con):
            for mark in self._marks(file_sha256):
                self._con.execute(
                    "INSERT INTO files VALUES (?, ?, NULL, 0) "
                    "ON CONFLICT (mark) DO UPDATE SET population = excluded.population",
                    (mark, population),
                )

    def record_opened(self, file_sha256: str) -> None:
        """Record that a file was opened, unless an earlier opening is recorded."""
        self._count(file_sha256, 0)

    def record_view(self, file_sha256: str) -> None:
        """Count a view of the non-private map of a file."""
        self._count(file_sha256, 1)

    def _count(self, file_sha256: str, times: int) -> None:
        with translate_errors(self._path), transaction(self._con):
            for mark in self._marks(file_sha256):
                self._con.execute(
                    "INSERT INTO files VALUES (?, '', ?, ?) ON CONFLICT (mark) DO UPDATE SET "
                    "opened_after = coalesce(opened_after, excluded.opened_after), "
                    "shown = shown + excluded.shown",
                    (mark, head_of(self._con)[0], times),
                )

    def parameters_chosen(
        self, state: LedgerState, release: str, file_sha256: str
    ) -> tuple[str, int]:
        """Return `FIXED` or `OPENED` and the number of views, as a certificate states them.

        `OPENED` applies too if records may be missing (the key or an earlier ledger is lost), or
        if there is no plan.
        """
        known = self.file(file_sha256)
        planned = state.release(release).planned
        after = known.opened_after if known else None
        fixed = (
            planned is not None
            and not state.remarks & {NO_KEY, UNKNOWN}
            and (after is None or planned <= after)
        )
        return (FIXED if fixed else OPENED), known.shown if known else 0

    def shared(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the number of the given ids in each population, without storing them.

        The same users under other ids are not recognised; among 10⁶ ids two collide with
        probability 5·10⁻⁸.
        """
        marks, result = person_marks(self._key, ids), Counter[str]()
        with translate_errors(self._path):
            for mark, population in self._con.execute("SELECT mark, population FROM people"):
                if mark in marks:
                    result[population] += 1
        return dict(result)

    def record_opened_ids(
        self, files: Iterable[str], how: str, ids: Callable[[], Iterable[str]]
    ) -> None:
        """Store marks of the ids of files opened together (`OpenedIds.store`).

        Parameters
        ----------
        files : iterable of str
            Their SHA-256.
        how : str
            Reading options that determine the ids.
        ids : callable
        """
        marks = [self._marks(file) for file in files]
        name = "\n".join([how, *sorted(known[-1].hex() for known in marks)])
        self.opened_ids.store({mark for known in marks for mark in known}, name, ids)

    def seen(self, ids: Collection[str], file_sha256: str, content: str) -> SeenIds:
        """Return which ids of a file were in other files opened before."""
        return self.opened_ids.seen(ids, self._marks(file_sha256, content))

    @property
    def opened_ids(self) -> OpenedIds:
        """Marks of the ids of opened files."""
        return OpenedIds(self._path, self._key)

    def record_ids(self, population: str, ids: Iterable[str]) -> None:
        """Record the ids of a population."""
        marks = sorted(person_marks(self._key, ids))
        # no size is passed: in the message of a full disk it would reveal the number of users
        with translate_errors(self._path), transaction(self._con):
            self._con.executemany(
                "INSERT OR IGNORE INTO people VALUES (?, ?)", ((m, population) for m in marks)
            )


def _content_name(mark: bytes) -> str:
    return f"content {mark.hex()}"


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
