"""Runs the trials of an experiment and stores their results, so that it can be resumed.

The command and the window run the same trials, kept in one file: either goes on from the other.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.engine.executors.base import Executor, Task, canonical, code_here, task_key
from explorer.engine.paths import cache_folder
from explorer.files import private_file, private_folder
from explorer.studies.heatmap.experiments.figures import (
    CHECKINS,
    EITHER,
    FIGURES,
    SYNTHETIC,
    Figure,
    check_users,
    figure_places,
    figure_points,
    synthetic_sources,
    users_present,
    verdicts,
)
from explorer.studies.heatmap.experiments.plan import SCHEMA, Point, Trials, rows_of
from explorer.studies.heatmap.experiments.samples import CheckinSource, Place, Source
from explorer.studies.heatmap.experiments.trial import MEASURES, TrialValues, run_trial, task_of
from explorer.studies.heatmap.text import SYNTHETIC as STAMP_OF_SYNTHETIC, stamp

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.runtime import StudyRuntime
    from explorer.studies.heatmap.priors import Sources

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
) -> Iterator[dict[str, TrialValues]]:
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


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes
    ----------
    counted, rows : int
        Rows whose users have been counted, and rows there are.
    known, done, total : int
        Trials: stored before, finished, and all; 0 while users are counted.
    short : tuple of str
        Sentences on regions with fewer users than were asked for.
    """

    counted: int
    rows: int
    known: int = 0
    done: int = 0
    total: int = 0
    short: tuple[str, ...] = ()


def run_points(
    points: Sequence[Point],
    seed: int,
    executor: Executor,
    sources: Sources,
    report: Callable[[Progress], object],
    figure: Figure | None = None,
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Run the unknown trials of some points and return the report of all.

    That of a figure has ``verdicts`` on what the paper says of it. Raises as `find_trials`.
    """
    on_earth = all(p.place.region is None or p.place.region.plane is None for p in points)
    measures = [key for key in MEASURES if key != "emd_km" or on_earth]
    with executor.shared_folder() as folder, closing(Checkpoint(trials_file())) as checkpoint:
        rows = []
        for row in rows_of(points, seed, folder, sources, measures):
            check()
            rows.append(row)
            report(Progress(len(rows), len(points)))
        users = {(row.point.place.name, row.users, row.point.users or 0) for row in rows}
        short = tuple(
            f"{name} has {there:,} users of {wanted:,}; all are taken"
            for name, there, wanted in sorted(users)
            if there < wanted
        )
        trials = Trials.of(rows, task_key)
        results: dict[str, TrialValues] = {}
        news = Progress(len(rows), len(points), total=len(trials.by_key), short=short)
        for i, part in enumerate(find_trials(trials, executor, checkpoint, folder, check)):
            results |= part
            news = replace(news, done=len(results), known=news.known if i else len(results))
            report(news)
    result = trials.report(results)
    if figure is not None:
        result["verdicts"] = verdicts(figure, trials, results)
    return result


def stamp_of(data: CheckinData | None) -> str:
    """Return the stamp of numbers computed from check-ins or from synthetic data."""
    return STAMP_OF_SYNTHETIC if data is None else stamp(data.synthetic, curator_only=True)


def document_of(
    name: str,
    figure: Figure | None,
    data: CheckinData | None,
    settings: Mapping[str, Any],
    report: Mapping[str, Any],
    changed: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document of an experiment: what it is, its stamp, its settings and its report.

    `changed` names what is not as the figure says of itself.
    """
    about = {"experiment": name}
    if figure is not None:
        title = figure.title + (f"; changed: {', '.join(changed)}" if changed else "")
        about |= {"title": title, "expected": figure.expected}
    origin = {} if data is None else {"data": data.basename, "sha256": data.fingerprint}
    settings = {**settings, **origin}
    return {"schema": SCHEMA, **about, "stamp": stamp_of(data), "settings": settings, **report}


@dataclass(frozen=True)
class FigureQuery:
    """A figure of the paper as it is, but for the number of draws.

    Attributes
    ----------
    figure : str
        Key of `FIGURES`.
    data : str
        Fingerprint of the open check-ins; empty if there are none.
    draws : int
    seed : int
        Of noise and made data.
    users : tuple of int
        Numbers of users on its x axis in place of the paper's; empty for these.
    """

    figure: str
    data: str = ""
    draws: int = 1
    seed: int = 0
    users: tuple[int, ...] = ()

    @property
    def asked(self) -> Figure:
        """The figure at these numbers of users."""
        figure = FIGURES[self.figure]
        return figure.with_values({"users": self.users}) if self.users else figure


@dataclass(frozen=True)
class FigureData:
    """What a figure is computed from.

    Attributes
    ----------
    text : str
        The file and its regions, or that the data are made.
    stamp : str
    details : tuple of str
        Names of the regions, or descriptions of the made data.
    why : str
        Why the data are made although check-ins are open; empty otherwise.
    short : tuple of str
        Sentences on places with fewer users than the figure takes.
    users : tuple of int
        Those of the numbers on its x axis that every place has; empty if that is all of them.
    """

    text: str
    stamp: str
    details: tuple[str, ...]
    why: str = ""
    short: tuple[str, ...] = ()
    users: tuple[int, ...] = ()


_Where = list[tuple[Place, Source]]


def _sources_of(
    runtime: StudyRuntime, query: FigureQuery, check: Callable[[], None]
) -> tuple[CheckinData | None, _Where, str]:
    """Return the check-ins if the figure takes them, the places, and why others are not taken.

    Raises
    ------
    ValueError
        If the figure is about check-ins and there are none.
    """
    figure, why = query.asked, ""
    if query.data and figure.needs != SYNTHETIC:
        data = runtime.data(query.data)
        try:
            places = figure_places(figure, data)
            if figure.needs == EITHER:
                check_users(figure, data, places, fixed=True)
        except ValueError as error:
            # What follows is about options of the command.
            why = str(error).partition("; ")[0].removeprefix(f"{figure.name}: ")
        else:
            source = CheckinSource(data, check=check)
            return data, [(place, source) for place in places], ""
    if figure.needs == CHECKINS:
        if why:
            raise ValueError(f"{why}; open other check-ins")
        raise ValueError("this figure is about check-ins; open a file, or the sample")
    return None, synthetic_sources(figure, query.seed), why


def figure_data(runtime: StudyRuntime, query: FigureQuery, check: Callable[[], None]) -> FigureData:
    """Return what a figure would be computed from, and where there are too few users for it.

    Raises
    ------
    ValueError
        As `_sources_of`, or if a place has fewer users than the least on an x axis.
    """
    data, where, why = _sources_of(runtime, query, check)
    short: tuple[str, ...] = ()
    users: tuple[int, ...] = ()
    if data is None:
        details = tuple(dict.fromkeys(source.data for _, source in where))
        text = f"Made data, seed {query.seed}"
    else:
        details = tuple(place.name for place, _ in where)
        kind = "region" if where[0][0].image is None else "image"
        text = f"{data.basename}, {len(where)} {kind}{'s' * (len(where) > 1)}"
        short, users = _few_users(query.asked, data, [place for place, _ in where], check)
    return FigureData(text, stamp_of(data), details, why, short, users)


def _few_users(
    figure: Figure, data: CheckinData, places: Sequence[Place], check: Callable[[], None]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return `FigureData.short` and `users` of check-ins."""
    present: dict[str, int] = {}
    for place in places:
        check()
        present |= users_present(data, [place])
    fewest, on_axis = min(present.values()), set()
    most = max(panel.settings(x)[0] for panel in figure.panels for x in panel.xs)
    for panel in figure.panels:
        if panel.axis == "users":
            on_axis |= set(panel.xs)
    users = tuple(sorted(n for n in on_axis if n <= fewest))
    if on_axis and not users:
        raise ValueError(
            f"the figure takes {min(on_axis)} users and more, and a place has {fewest:,}; open "
            "other check-ins"
        )
    short = tuple(
        f"{name} has {there:,} users of {most:,}" for name, there in present.items() if there < most
    )
    return short, users if len(users) < len(on_axis) else ()


def run_figure(
    runtime: StudyRuntime,
    query: FigureQuery,
    check: Callable[[], None],
    report: Callable[[Progress], object],
) -> dict[str, Any]:
    """Return the document of a figure, as the command makes it.

    Raises
    ------
    ValueError
        As `_sources_of`, or if a region has not the users of an x axis, or nobody.
    Cancelled, WorkerDied, NoWorker
        As `find_trials`; earlier batches stay stored.
    """
    figure = query.asked
    data, where, _ = _sources_of(runtime, query, check)
    if data is not None:
        check_users(figure, data, [place for place, _ in where])
    points = list(figure_points(figure, where, figure.compared, query.draws, {}))
    executor = runtime.computing.for_tasks(data is not None, check)
    sources = runtime.context(check)
    found = run_points(points, query.seed, executor, sources, report, figure, check)
    changed = ["users"] * bool(query.users) + ["draws"] * (query.draws != figure.draws)
    settings: dict[str, Any] = {"seed": query.seed, "data_seed": 0}
    if query.users:
        settings["users"] = list(query.users)
    return document_of(figure.name, figure, data, settings, found, changed)
