"""Which files and people a ledger knows: under its key, outside the chain, for the curator alone.

What is kept here comes from the data. Nothing of it is in an export or a certificate but the
number of times a true map was shown, which the curator caused.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from explorer.release.ledger.accounts import NO_KEY, UNKNOWN
from explorer.release.ledger.keys import content_mark, file_mark, person_marks
from explorer.release.ledger.opened_ids import OpenedIds, Seen
from explorer.release.ledger.state import LedgerState
from explorer.release.ledger.storage import head_of, meta, said, set_meta, transaction

FIXED, OPENED = "fixed before the data were opened", "data opened before"
"""What a certificate says of its parameters."""


@dataclass(frozen=True)
class FileRecord:
    """What is known of a data file.

    Attributes
    ----------
    population : str
        Whose people it is about.
    opened_after : int or None
        The last entry when it was first opened, −1 if there was none; None if it never was.
    shown : int
        How many times its true map was shown.
    """

    population: str
    opened_after: int | None
    shown: int


class KnownData:
    """Files and people of a ledger, recognised by keyed hashes."""

    def __init__(self, path: Path, con: sqlite3.Connection, key: bytes) -> None:
        self._path, self._con, self._key = path, con, key

    def file(self, file_sha256: str, content: str = "") -> FileRecord | None:
        """Return what is known of a file, or None.

        When it was opened, and how often shown, is that of any file of its content
        (`explorer.release.content_hash`); whose people it is about is its own.
        """
        own = file_mark(self._key, file_sha256)
        with said(self._path):
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

    def content_known(self, file_sha256: str) -> bool:
        """Return whether it is known what a file's content is recognised by."""
        with said(self._path):
            return bool(meta(self._con, _content_name(file_mark(self._key, file_sha256))))

    def has_content(self, file_sha256: str, content: str) -> None:
        """Keep what a file's content is recognised by, and of it what is known of the file."""
        own, mark = file_mark(self._key, file_sha256), content_mark(self._key, content)
        with said(self._path), transaction(self._con):
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
        kept = meta(self._con, _content_name(own))
        marks = [own, *([bytes.fromhex(kept)] if kept else [])]
        return marks + ([content_mark(self._key, content)] if content and not kept else [])

    def populations(self, file_sha256: str, content: str) -> set[str]:
        """Return whose people files of this content are about."""
        with said(self._path):
            found = {
                str(population)
                for mark in self._marks(file_sha256, content)
                for (population,) in self._con.execute(
                    "SELECT population FROM files WHERE mark = ?", (mark,)
                )
            }
        return found - {""}

    def belongs(self, file_sha256: str, population: str) -> None:
        """Keep whose people a file is about."""
        with said(self._path), transaction(self._con):
            for mark in self._marks(file_sha256):
                self._con.execute(
                    "INSERT INTO files VALUES (?, ?, NULL, 0) "
                    "ON CONFLICT (mark) DO UPDATE SET population = excluded.population",
                    (mark, population),
                )

    def opened(self, file_sha256: str) -> None:
        """Keep that a file was opened: now, unless it was before."""
        self._count(file_sha256, 0)

    def shown(self, file_sha256: str) -> None:
        """Count that the true map of a file was shown."""
        self._count(file_sha256, 1)

    def _count(self, file_sha256: str, times: int) -> None:
        with said(self._path), transaction(self._con):
            for mark in self._marks(file_sha256):
                self._con.execute(
                    "INSERT INTO files VALUES (?, '', ?, ?) ON CONFLICT (mark) DO UPDATE SET "
                    "opened_after = coalesce(opened_after, excluded.opened_after), "
                    "shown = shown + excluded.shown",
                    (mark, head_of(self._con)[0], times),
                )

    def parameters_chosen(
        self, book: LedgerState, release: str, file_sha256: str
    ) -> tuple[str, int]:
        """Return what a certificate says of when parameters were chosen, and how often was looked.

        Where records may be missing (the key or an earlier ledger is gone), or there is no plan, it
        says that the data were opened before.
        """
        known = self.file(file_sha256)
        planned = book.release(release).planned
        after = known.opened_after if known else None
        fixed = (
            planned is not None
            and not book.remarks & {NO_KEY, UNKNOWN}
            and (after is None or planned <= after)
        )
        return (FIXED if fixed else OPENED), known.shown if known else 0

    def shared(self, ids: Iterable[str]) -> dict[str, int]:
        """Return how many of some ids are known to be in each population; none are kept.

        Other ids for the same people go unseen; two people of a million and a million look
        alike with chance 5·10⁻⁸.
        """
        marks, found = person_marks(self._key, ids), Counter[str]()
        with said(self._path):
            for mark, population in self._con.execute("SELECT mark, population FROM people"):
                if mark in marks:
                    found[population] += 1
        return dict(found)

    def keep_opened(self, files: Iterable[str], how: str, ids: Callable[[], Iterable[str]]) -> None:
        """Keep marks of the ids of files that were opened as one (`OpenedIds.keep`).

        Parameters
        ----------
        files : iterable of str
            Their SHA-256.
        how : str
            They were read: what makes the ids others.
        ids : callable
        """
        marks = [self._marks(file) for file in files]
        name = "\n".join([how, *sorted(known[-1].hex() for known in marks)])
        self.opened_ids.keep({mark for known in marks for mark in known}, name, ids)

    def seen(self, ids: Collection[str], file_sha256: str, content: str) -> Seen:
        """Return which ids of a file were in other files that were opened."""
        return self.opened_ids.seen(ids, self._marks(file_sha256, content))

    @property
    def opened_ids(self) -> OpenedIds:
        """Marks of the ids of files that were opened."""
        return OpenedIds(self._path, self._key)

    def remember(self, population: str, ids: Iterable[str]) -> None:
        """Keep that ids are people of a population."""
        marks = sorted(person_marks(self._key, ids))
        # how much is needed would tell how many people there are: a full disk says only that
        with said(self._path), transaction(self._con):
            self._con.executemany(
                "INSERT OR IGNORE INTO people VALUES (?, ?)", ((m, population) for m in marks)
            )


def _content_name(mark: bytes) -> str:
    return f"content {mark.hex()}"
