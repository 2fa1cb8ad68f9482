"""Results of trials on the disk, so that a stopped sweep goes on where it was."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from explorer.engine.executors.base import Executor, Task, canonical, task_key


class Checkpoint:
    """A SQLite file with a row a trial, for one thread of one process: the client alone writes.

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
        self._connection = sqlite3.connect(path)
        try:
            # A batch that was committed survives the client's death; the last ones before a power
            # cut may be lost, the file stays whole.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS trial (key TEXT PRIMARY KEY, task TEXT, result TEXT)"
                " WITHOUT ROWID"
            )
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{path.name} can't be resumed ({error}); choose another") from error

    def complete(
        self,
        executor: Executor,
        function: Callable[[Task], Any],
        tasks: Iterable[Task],
        check: Callable[[], None],
    ) -> None:
        """Compute the tasks that are missing, and keep every batch of results as it comes.

        Results are plain JSON. Raises what `Executor.batches` does; what came before stays.
        """
        present = {key for (key,) in self._connection.execute("SELECT key FROM trial")}
        missing = [task for task in tasks if task_key(task) not in present]
        for batch in executor.batches(function, missing, check):
            self.add((missing[number], result) for number, result in batch)

    def add(self, results: Iterable[tuple[Task, Any]]) -> None:
        """Keep results in one transaction; of a task that is there already, nothing changes."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO trial VALUES (?, ?, ?)",
                ((task_key(t), canonical(t), json.dumps(result)) for t, result in results),
            )

    def rows(self) -> Iterator[tuple[Task, Any]]:
        """Yield tasks and results in the order of the tasks' keys, in which sums are to be taken.

        The last digit of a sum in the order of arrival would differ from run to run.
        """
        for task, result in self._connection.execute("SELECT task, result FROM trial ORDER BY key"):
            yield json.loads(task), json.loads(result)

    def known(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the results that are kept under some keys."""
        found = {}
        for key in keys:
            row = self._connection.execute("SELECT result FROM trial WHERE key = ?", (key,))
            if (kept := row.fetchone()) is not None:
                found[key] = json.loads(kept[0])
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
