"""Runs the trials of an experiment and stores their results, so that it can be resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.engine.executors.base import Executor, Task, canonical, code_here, task_key
from explorer.engine.paths import cache_folder
from explorer.files import private_file, private_folder
from explorer.studies.heatmap.experiments.plan import Trials
from explorer.studies.heatmap.experiments.trial import Found, run_trial, task_of

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
                raise  # of the disk, not of the file's content
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

        Results are plain JSON. Raises as `Executor.batches`; earlier batches stay stored.
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
        results = {}
        for key in keys:
            row = self._connection.execute("SELECT result FROM trial WHERE key = ?", (key,))
            if (stored := row.fetchone()) is not None:
                results[key] = json.loads(stored[0])
        return results

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def trials_folder() -> Path:
    """Return the cache folder of trial results, created with private permissions."""
    return private_folder(cache_folder() / "experiments", disposable=True)


def clear_trials() -> int:
    """Delete stored trial results and return their size in bytes.

    A running experiment continues, but its results are not shared with later ones.
    """
    freed = 0
    for path in trials_folder().iterdir():
        freed += path.stat().st_size
        path.unlink()
    return freed


def trials_file() -> Path:
    """Return the cache file for trials run by exactly this code.

    Other code, Python, numpy or another machine may find other numbers: they have other files.
    """
    folder = trials_folder()
    return folder / f"trials-{hashlib.sha256(canonical(code_here()).encode()).hexdigest()[:16]}.db"


def find_trials(
    trials: Trials,
    executor: Executor,
    checkpoint: Checkpoint,
    folder: Path,
    check: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Found]]:
    """Yield results of trials by key: first the stored ones, then batch by batch.

    Every batch is stored on arrival, so that the same call can resume after a stop.

    Parameters
    ----------
    trials : Trials
        With `task_key` as their key.
    executor : Executor
    checkpoint : Checkpoint
    folder : Path
        Where the counts lie; the workers must see it.
    check : callable
        Called every few milliseconds while waiting; may raise to stop.

    Raises
    ------
    WorkerDied, DifferentCode, Cancelled, NoWorker
        As `Executor.batches`; earlier batches stay stored.
    """
    stored = checkpoint.known(trials.by_key)
    yield stored
    missing = [trial for key, trial in trials.by_key.items() if key not in stored]
    tasks = [task_of(trial, folder) for trial in missing]
    for batch in executor.batches(run_trial, tasks, check):
        checkpoint.add((missing[number], result) for number, result in batch)
        yield {task_key(missing[number]): result for number, result in batch}
