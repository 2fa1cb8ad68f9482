"""DuckDB connections: lazy import, cancellable statements, exact file names."""

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.checkins import cache
from explorer.checkins.errors import LoadCancelled

POLL_SECONDS = 0.01
MAX_THREADS = 4
MEMORY_BASE, MEMORY_PER_THREAD = 60, 40
"""Megabytes. With less the CSV reader uses one buffer at a time; more is not faster."""


def _threads() -> int:
    return min(os.cpu_count() or 2, MAX_THREADS)


def streaming_bytes() -> int:
    """Return the memory in bytes for streaming between files of any size."""
    return (MEMORY_BASE + MEMORY_PER_THREAD * _threads()) * 1_000_000


def connect(scratch: Path | None = None, memory: int | None = None) -> Any:
    """Open an in-memory database that spills to a folder above a memory limit, or never."""
    import duckdb

    memory = memory or streaming_bytes()
    con = duckdb.connect(
        config={
            "threads": _threads(),
            "memory_limit": f"{memory // 1_000_000}MB",
            "preserve_insertion_order": True,
            "temp_directory": str(scratch) if scratch and _is_utf8(str(scratch)) else "",
            "autoinstall_known_extensions": False,
        }
    )
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET enable_progress_bar = true")
    con.execute("SET enable_progress_bar_print = false")
    return con


def limit_memory(con: Any, memory: int, spill: int) -> int:
    """Set the limits of memory and of disk space; return the memory limit."""
    con.execute(f"SET memory_limit = '{memory // 1_000_000}MB'")
    con.execute(f"SET max_temp_directory_size = '{max(spill // 1_000_000, 1)}MB'")
    return memory


def quote(text: str) -> str:
    """Return an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def written_file(path: Path) -> str:
    """Return an SQL literal for a file written by COPY."""
    return quote(os.path.abspath(path))


def read_file(path: Path) -> str:
    """Return an SQL literal that matches exactly this file in a table function.

    Such functions take ``* ? [`` in a path for a pattern, ``~`` and ``s3:`` at its beginning for
    somewhere else: unescaped, ``x[1].txt`` is ``x1.txt``.
    """
    return quote("".join(f"[{c}]" if c in "*?[" else c for c in os.path.abspath(path)))


def parquet_table(*paths: Path, numbered: bool = False) -> str:
    """Return a table expression of exactly these Parquet files, one after the other.

    Names of the folders around it (``user=5``) do not become columns.

    Parameters
    ----------
    numbered : bool
        Whether there is a column ``file_row_number``, from 0.
    """
    numbers = ", file_row_number=true" if numbered else ""
    files = ", ".join(map(read_file, paths))
    return f"read_parquet([{files}], hive_partitioning=false{numbers})"


def finds_exactly(con: Any, path: Path) -> bool:
    """Return whether the database finds exactly this file under its name.

    It does not if the name is not valid UTF-8, if it has a backslash before a pattern character, or
    a pattern character in a folder that may be entered but not listed.
    """
    absolute = os.path.abspath(path)
    if not _is_utf8(absolute):
        return False
    matches = con.execute(f"SELECT file FROM glob({read_file(path)})").fetchmany(2)
    return bool(matches == [(absolute,)])


def is_plain(path: Path) -> bool:
    """Return whether nothing in a name is special to the database, which then finds that file."""
    absolute = os.path.abspath(path)
    return _is_utf8(absolute) and not set(absolute) & set("*?[\\")


def _is_utf8(text: str) -> bool:
    """Return whether a path is valid UTF-8, as the database requires."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextlib.contextmanager
def reachable(con: Any, path: Path) -> Iterator[Path]:
    """Yield a path under which the database reads exactly this file: itself or a link.

    Raises
    ------
    OSError
        If there is no such file (any more), or no link can be made.
    """
    if finds_exactly(con, path):
        yield path
        return
    with cache.scratch() as folder:
        link = folder / "source"
        link.symlink_to(os.path.abspath(path))
        if not (link.is_file() and finds_exactly(con, link)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        yield link


@contextlib.contextmanager
def plainly_named(path: Path) -> Iterator[str]:
    """Yield a path that GDAL takes for a single file: itself or a link.

    GDAL takes a semicolon and some control characters in a path for syntax of its own, and refuses
    names that are not valid UTF-8.
    """
    absolute = os.path.abspath(path)
    if _is_utf8(absolute) and absolute.isprintable() and ";" not in absolute:
        yield absolute
        return
    with cache.scratch() as folder:
        suffix = path.suffix if path.suffix[1:].isalnum() and path.suffix.isascii() else ""
        link = folder / f"source{suffix}"
        link.symlink_to(absolute)
        yield str(link)


def run(
    con: Any,
    sql: str,
    tick: Callable[[float], None],
    meanwhile: Callable[[], None] | None = None,
    fetch: Callable[[Any], Any] = lambda _: None,
) -> Any:
    """Execute a statement in a thread, so that it can be cancelled at any moment.

    Parameters
    ----------
    con : DuckDB connection
    sql : str
    tick : callable
        Called about every 10 ms with the share done (0…1); an exception stops the statement
        and is raised here once the thread has ended.
    meanwhile : callable or None
        Work done by the caller's thread while the statement runs; an exception stops both.
    fetch : callable
        Called in that thread, too, with the connection: a query is worked out as it is fetched.

    Returns
    -------
    What `fetch` does.
    """
    failure: list[BaseException] = []
    result: list[Any] = []

    def work() -> None:
        try:
            result.append(fetch(con.execute(sql)))
        except BaseException as fault:  # re-raised in the caller's thread
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
    return result[0]


class SharedConnection:
    """A connection shared by several threads until it is closed.

    `closed` is called when all queries have ended.
    """

    def __init__(self, con: Any, name: str, closed: Callable[[], None] = lambda: None) -> None:
        self._con = con
        self._name = name
        self._idle = threading.Condition()
        self._cursors: list[Any] = []
        self._closed = False
        self._when_closed = closed

    def check_open(self) -> None:
        """Raise ValueError if it is closed, for queries that need no cursor."""
        if self._closed:
            raise ValueError(f"{self._name} has been closed; open it again")

    @contextlib.contextmanager
    def cursor(self) -> Iterator[Any]:
        """Yield a cursor of the calling thread, interrupted by `close`."""
        with self._idle:
            self.check_open()
            cursor = self._con.cursor()
            self._cursors.append(cursor)
        try:
            yield cursor
        finally:
            with self._idle:
                self._cursors.remove(cursor)
                cursor.close()
                self._idle.notify_all()

    def close(self) -> None:
        """Interrupt running queries and close; may be called twice."""
        with self._idle:
            if self._closed:
                return
            self._closed = True
            while self._cursors:  # an interrupt before a question has begun is lost
                for cursor in self._cursors:
                    cursor.interrupt()
                self._idle.wait(POLL_SECONDS)
        self._con.close()
        self._when_closed()


def check(cancelled: Callable[[], bool] | None) -> None:
    """Raise `LoadCancelled` if `cancelled` returns true."""
    if cancelled is not None and cancelled():
        raise LoadCancelled("loading was cancelled")
