"""DuckDB, imported late, run so that it can be cancelled and leaves nothing behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.checkins.errors import LoadCancelled

POLL_SECONDS = 0.01
MAX_THREADS = 4
MEMORY_BASE, MEMORY_PER_THREAD = 60, 40
"""Megabytes. Less, and the CSV reader works on one buffer at a time; more is not faster."""


def connect(scratch: Path | None = None, megabytes: int | None = None) -> Any:
    """Open an in-memory database that spills into a folder (or not at all) above a limit."""
    import duckdb

    threads = min(os.cpu_count() or 2, MAX_THREADS)
    megabytes = megabytes or MEMORY_BASE + MEMORY_PER_THREAD * threads
    con = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": f"{megabytes}MB",
            "preserve_insertion_order": True,
            "temp_directory": str(scratch) if scratch is not None else "",
            "autoinstall_known_extensions": False,
        }
    )
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET enable_progress_bar = true")
    con.execute("SET enable_progress_bar_print = false")
    return con


def quote(text: str | Path) -> str:
    """Return an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def run(
    con: Any,
    sql: str,
    tick: Callable[[float], None],
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Run a statement in a thread of its own, so that it can be stopped at any moment.

    Parameters
    ----------
    con : DuckDB connection
    sql : str
    tick : callable
        Called about every 10 ms with the share done (0…1); whatever it raises stops the statement
        and is raised here once the thread has ended.
    meanwhile : callable or None
        Work done by the caller's thread while the statement runs; an exception stops both.
    """
    failure: list[BaseException] = []

    def work() -> None:
        try:
            con.execute(sql)
        except BaseException as fault:  # handed to the caller's thread, whatever it is
            failure.append(fault)

    tick(0.0)
    thread = threading.Thread(target=work, name="checkins-duckdb")
    thread.start()
    try:
        if meanwhile is not None:
            meanwhile()
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            tick(min(max(con.query_progress(), 0.0), 100.0) / 100)
    except BaseException:
        while thread.is_alive():  # an interrupt before the statement has begun is lost
            con.interrupt()
            thread.join(POLL_SECONDS)
        raise
    if failure:
        raise failure[0]


def check(cancelled: Callable[[], bool] | None) -> None:
    """Raise `LoadCancelled` if the answer is no longer wanted."""
    if cancelled is not None and cancelled():
        raise LoadCancelled("loading was cancelled")
