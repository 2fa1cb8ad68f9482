"""Runs readers of untrusted files in bounded worker processes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import bounded
from explorer.checkins.errors import CheckinError, LoadCancelled
from explorer.checkins.memory import database_bytes
from explorer.checkins.readers import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from explorer.checkins.model import Dialect, IsCancelled


IN_PLACE = "text"
"""The reader that runs in the calling process: its steps are bounded and it streams."""


def needs_worker(dialect: Dialect) -> bool:
    """Return whether files of a dialect must be read in a worker, and this is none."""
    return dialect.reader != IN_PLACE and not bounded.in_worker()


def run_in_worker(
    function: Callable[..., Any],
    *args: Any,
    name: str,
    cancelled: IsCancelled | None = None,
    report: Callable[[Any], object] | None = None,
    memory: int | None = None,
    **keywords: Any,
) -> Any:
    """Return ``function(*args, cancelled=…, **keywords)``, run by `explorer.bounded.call`.

    Parameters
    ----------
    function, args, name, cancelled, report
        As there.
    memory : int, optional
        Memory limit of the worker in bytes; default: a quarter of the free memory.
    keywords : dict
        Further ones of the function; `progress` is one of `explorer.bounded.call`.

    Raises
    ------
    CheckinError
        Also if the worker had to be stopped.
    LoadCancelled
        If `cancelled` returns True.
    """
    progress = keywords.pop("progress", None)
    with _errors_converted():
        return bounded.call(
            _with_readers,
            dict(READERS),
            partial(function, *args, **keywords),
            name=name,
            memory=memory or database_bytes(),
            cancelled=cancelled,
            report=report,
            **({"progress": progress} if progress else {}),
        )


def stream_from_worker(
    function: Callable[..., Any], *args: Any, name: str, cancelled: IsCancelled | None = None
) -> Generator[Any, None, Any]:
    """Yield the reports of a function run in a worker; see `explorer.bounded.stream`.

    Raises
    ------
    CheckinError, LoadCancelled
        As `run_in_worker`.
    """
    with _errors_converted():
        return (
            yield from bounded.stream(
                _with_readers,
                dict(READERS),
                partial(function, *args),
                name=name,
                memory=database_bytes(),
                cancelled=cancelled,
            )
        )


def _with_readers(readers: dict[str, str], function: Callable[..., Any], **keywords: Any) -> Any:
    """Call a function with the given table of readers.

    A worker imports the table as this library has it, without the readers that another package has
    added to the caller's. The order counts too: of readers equally sure the first is taken.
    """
    if list(readers.items()) != list(READERS.items()):
        READERS.clear()
        READERS.update(readers)
    return function(**keywords)


@contextmanager
def _errors_converted() -> Iterator[None]:
    try:
        yield
    except bounded.LimitExceeded as fault:
        raise CheckinError(str(fault)) from None
    except bounded.CallCancelled:
        raise LoadCancelled("loading was cancelled") from None


TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")
"""Suffixes of files usually read in the calling process."""
MODULES = ("explorer.checkins.map_preview",)
"""Modules that workers import before their first call."""


def warm_workers(count: int, *paths: Path) -> None:
    """Start idle workers in advance, unless all paths are text files by name.

    Parameters
    ----------
    count : int
        1 for a load, 2 for one with an early picture.
    paths : Path
        What will be opened; nothing if that is not known yet.
    """
    if not paths or any(path.suffix.lower() not in TEXT_SUFFIXES for path in paths):
        bounded.warm(count, MODULES)
