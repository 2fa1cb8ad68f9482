"""Runs the trials of an experiment, reusing stored results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from explorer.engine.executors.base import Executor, canonical, code_here, task_key
from explorer.engine.executors.checkpoint import Checkpoint
from explorer.engine.paths import cache_folder
from explorer.files import private_folder
from explorer.studies.heatmap.experiments.plan import Trials
from explorer.studies.heatmap.experiments.trial import Found, run_trial, task_of


def trials_folder() -> Path:
    """Return the cache folder of trial results, created with private permissions."""
    return private_folder(cache_folder() / "experiments", disposable=True)


def clear_trials() -> int:
    """Delete stored trial results and return their size in bytes.

    An experiment that is running goes on, and keeps what it finds for itself alone.
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
        As `Executor.batches`; what came before stays.
    """
    kept = checkpoint.known(trials.by_key)
    yield kept
    missing = [trial for key, trial in trials.by_key.items() if key not in kept]
    tasks = [task_of(trial, folder) for trial in missing]
    for batch in executor.batches(run_trial, tasks, check):
        checkpoint.add((missing[number], found) for number, found in batch)
        yield {task_key(missing[number]): found for number, found in batch}
