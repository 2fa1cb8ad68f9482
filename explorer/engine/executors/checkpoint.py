"""Stores results of trials on disk, so that an interrupted sweep can be resumed."""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.engine.executors.base import Executor, Task, canonical, task_key
from explorer.files import private_file

log = logging.getLogger("explorer")

_TABLE = (
    "CREATE TABLE IF NOT EXISTS trial (key TEXT PRIMARY KEY, task TEXT, result TEXT) WITHOUT ROWID"
)


class Checkpoint:
    """SQLite file with one row a trial, for one thread of one process.

    Where the file can't be opened or its disk is full, results are kept in memory: a sweep then
    goes on, and begins anew next time.

    Parameters
    ----------
    path : Path
        Made if there is none.

    Raises
    ------
    ValueError
        If the file is something else.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        try:
            self._connection = sqlite3.connect(path)
            self._prepare(path)
            private_file(path)
        except (sqlite3.OperationalError, OSError) as error:
            self._leave_file(error)

    def _prepare(self, path: Path) -> None:
        try:
            # A batch that was committed survives the client's death; the last ones before a power
            # cut may be lost, the file stays whole.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            self.close()
            if isinstance(error, sqlite3.OperationalError):
                raise  # of the disk, not of what the file holds
            raise ValueError(f"{path.name} can't be resumed ({error}); choose another") from error

    def _leave_file(self, error: Exception) -> None:
        """Continue in memory with all results of the file."""
        log.warning(
            "%s: results can't be kept (%s); the next run finds them anew", self._name, error
        )
        file, self._connection = getattr(self, "_connection", None), sqlite3.connect(":memory:")
        self._connection.execute(_TABLE)
        if file is not None:
            with suppress(sqlite3.Error):  # it was closed, or can't be read either
                rows = file.execute("SELECT * FROM trial").fetchall()
                self._connection.executemany("INSERT INTO trial VALUES (?, ?, ?)", rows)
                file.close()

    def complete(
        self,
        executor: Executor,
        function: Callable[[Task], Any],
        tasks: Iterable[Task],
        check: Callable[[], None],
    ) -> None:
        """Compute the missing tasks, storing every batch of results on arrival.

        Results are plain JSON. Raises what `Executor.batches` does; what came before stays.
        """
        present = {key for (key,) in self._connection.execute("SELECT key FROM trial")}
        missing = [task for task in tasks if task_key(task) not in present]
        for batch in executor.batches(function, missing, check):
            self.add((missing[number], result) for number, result in batch)

    def add(self, results: Iterable[tuple[Task, Any]]) -> None:
        """Store results in one transaction; existing ones are not changed."""
        rows = [(task_key(t), canonical(t), json.dumps(result)) for t, result in results]
        try:
            self._insert(rows)
        except sqlite3.OperationalError as error:  # the disk is full
            self._leave_file(error)
            self._insert(rows)

    def _insert(self, rows: list[tuple[str, str, str]]) -> None:
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO trial VALUES (?, ?, ?)", rows)

    def rows(self) -> Iterator[tuple[Task, Any]]:
        """Yield tasks and results ordered by task key, the order in which sums are taken.

        The last digit of a sum in the order of arrival would differ from run to run.
        """
        for task, result in self._connection.execute("SELECT task, result FROM trial ORDER BY key"):
            yield json.loads(task), json.loads(result)

    def known(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the stored results of some keys."""
        found = {}
        for key in keys:
            row = self._connection.execute("SELECT result FROM trial WHERE key = ?", (key,))
            if (kept := row.fetchone()) is not None:
                found[key] = json.loads(kept[0])
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
