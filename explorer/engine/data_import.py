"""Sorting a data set larger than memory in the compute process; the window then opens it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from explorer.checkins.errors import LoadCancelled
from explorer.checkins.model import Dialect, Mapping, Progress
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled


@dataclass(frozen=True, slots=True)
class ImportTask:
    """What is imported, as `explorer.engine.large_import.open_any_size` has it."""

    source: tuple[Path, ...]
    mapping: Mapping | None
    dialect: Dialect | None
    memory: int
    cache_dir: Path


def import_data(
    runtime: StudyRuntime,
    task: ImportTask,
    check: Callable[[], None],
    report: Callable[[Progress], None],
) -> None:
    """Leave an entry in the cache, made here or on the cluster in use.

    Raises
    ------
    Cancelled
        When `check` says so.
    CheckinError, ValueError, NoWorker
        As `open_any_size` and `Computing.for_import`.
    """
    from explorer.engine.large_import import open_any_size  # with DuckDB, on first use

    def cancelled() -> bool:
        try:
            check()
        except Cancelled:
            return True
        return False

    try:
        open_any_size(
            task.source,
            task.mapping,
            dialect=task.dialect,
            cache_dir=task.cache_dir,
            memory=task.memory,
            in_memory=0,
            progress=report,
            cancelled=cancelled,
            executor=partial(runtime.computing.for_import, check=check),
        ).close()
    except LoadCancelled:
        check()
        raise
