"""Tasks of the compute process other than study answers: imports, queries, self-checks, files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.checkins.errors import LoadCancelled
from explorer.checkins.model import Dialect, Mapping, Progress
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.studies.base.study import Cancelled
from explorer.studies.guarantees.checks import Check, checks, count

if TYPE_CHECKING:
    from explorer.checkins.sources import SniffedSource


@dataclass(frozen=True, slots=True)
class ImportTask:
    """Arguments of an import by `explorer.engine.large_import.open_any_size`."""

    source: tuple[Path, ...]
    mapping: Mapping | None
    dialect: Dialect | None
    memory: int
    sniffed: SniffedSource | None
    cache_dir: Path


def import_data(
    runtime: StudyRuntime,
    task: ImportTask,
    check: Callable[[], None],
    report: Callable[[Progress], None],
) -> None:
    """Import a file into the cache, on this machine or on the cluster in use.

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
            sniffed=task.sniffed,
            in_memory=0,
            progress=report,
            cancelled=cancelled,
            executor=partial(runtime.computing.for_import, check=check),
        ).close()
    except LoadCancelled:
        check()
        raise


@dataclass(frozen=True, slots=True)
class DataQuestion:
    """A method call on an open data set.

    Attributes
    ----------
    data : str
        Fingerprint.
    method : str
        Of `explorer.checkins.CheckinData`.
    arguments : tuple
        Positional; they are pickled, and so is what the method returns.
    """

    data: str
    method: str
    arguments: tuple[Any, ...]


def ask_data(runtime: StudyRuntime, question: DataQuestion, check: Callable[[], None]) -> Any:
    """Call a method of an open data set; raises LookupError if it is not open."""
    check()
    return getattr(runtime.data(question.data), question.method)(*question.arguments)


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Self-check request: `runs` of every audit (0 for none), noise from `seed`."""

    runs: int = 4000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SelfCheckProgress:
    """Results so far, and the number of checks in total."""

    found: tuple[Check, ...]
    total: int


def run_self_check(
    runtime: StudyRuntime,
    wanted: SelfCheck,
    check: Callable[[], None],
    report: Callable[[SelfCheckProgress], object] = lambda _: None,
) -> SelfCheckProgress:
    """Run all checks, reporting after each; exceptions of `check` propagate."""
    done: list[Check] = []
    total = count(wanted.runs)
    ask = lambda request: final_result(runtime, request, check)  # noqa: E731
    for item in checks(ask, wanted.runs, wanted.seed):
        check()
        done.append(item)
        report(SelfCheckProgress(tuple(done), total))
    return SelfCheckProgress(tuple(done), total)


def run_function(
    _runtime: StudyRuntime, function: Callable[[], Any], check: Callable[[], None]
) -> Any:
    """Return what a function without arguments returns, a `partial` of one importable by name."""
    check()
    return function()
