"""Check-ins that come as Parquet: columns by name and type, read by DuckDB as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.checkins.database import connect, parquet_table, reachable, run, written_file
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, Example, Format, Preview, Reason
from explorer.checkins.readers.detect import check_width
from explorer.checkins.readers.guess_columns import (
    decimal_sign,
    fitting_share,
    guess_mapping,
    mapping_problems,
)
from explorer.checkins.readers.line_scanner import EXAMPLE_LENGTH, Scan
from explorer.checkins.readers.plan import Plan
from explorer.checkins.readers.sql import typed_rows
from explorer.checkins.readers.streams import CHUNK
from explorer.checkins.readers.text import HEAD_ROWS, Judge, judge_rows
from explorer.checkins.rows import PARQUET, ROWS, Tick, count, first_lines

PREVIEW_ROWS = 50


def _columns(con: Any, path: Path) -> list[str]:
    return [row[0] for row in con.execute(f"DESCRIBE FROM {parquet_table(path)}").fetchall()]


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _as_text(con: Any, path: Path, limit: int | None = None) -> str:
    """Return a table expression with every column as text, named ``c0…``."""
    texts = ", ".join(
        f"CAST({_name(name)} AS VARCHAR) AS c{i}" for i, name in enumerate(_columns(con, path))
    )
    ending = f" LIMIT {limit}" if limit is not None else ""
    return f"(SELECT {texts} FROM {parquet_table(path)}{ending})"


def sniff_parquet(path: Path, size: int, tick: Callable[[], None] = lambda: None) -> Preview:
    """Look at a Parquet file's columns and first rows.

    Parameters
    ----------
    tick : callable
        Called about every 10 ms; may raise to stop.

    Raises
    ------
    CheckinError
        If it is damaged, or has too many columns.
    """
    import duckdb

    name = shown_name(path)
    con = connect()
    try:
        with reachable(con, path) as source:
            columns = tuple(_columns(con, source))
            check_width(name, len(columns))
            head = f"CREATE TEMP TABLE head AS FROM {_as_text(con, source, 2000)}"
            run(con, head, lambda _: tick())
            rows = con.execute("FROM head").fetchall()
    except duckdb.Error as fault:
        raise damaged(name, fault) from fault
    finally:
        con.close()
    body = [tuple("" if cell is None else str(cell) for cell in row) for row in rows]
    decimal = decimal_sign(body, "")
    mapping = guess_mapping(columns, body, len(columns), decimal, tick)
    return Preview(
        name, size, Dialect(Format.PARQUET, "", decimal=decimal), columns,
        tuple(body[:PREVIEW_ROWS]), mapping, fitting_share(body, mapping, len(columns), decimal),
        tuple(mapping_problems(columns, body, mapping, decimal)),
    )  # fmt: skip


def damaged(name: str, fault: Exception) -> CheckinError:
    """Return what to say of a file that DuckDB can't read as Parquet: never a path of its own."""
    words = str(fault).lower()
    if "magic bytes" in words or "footer" in words or "too small" in words:
        what = "its end, where the list of its columns stands, is missing"
    elif "decompression" in words:
        what = "a part of it can't be unpacked"
    else:
        what = "some of its bytes make no sense"
    return CheckinError(
        f"{name} is a damaged Parquet file: {what}. Fetch or write it again; no row of it was used."
    )


def not_its_fault(fault: Exception) -> bool:
    """Tell whether an error is about memory or the disk rather than about the file."""
    import duckdb

    if isinstance(fault, duckdb.OutOfMemoryException):
        return True
    return isinstance(fault, duckdb.IOException) and "write" in str(fault).lower()


def read_parquet(
    con: Any,
    plan: Plan,
    folder: Path,
    note: Callable[[int, int], None],
    reading: Tick,
    judge: Judge,
) -> Scan:
    """Write ``rows.parquet`` as `TextReader` of `readers.text` does; lines are row numbers.

    Raises
    ------
    CheckinError
        If the file is damaged.
    """
    import duckdb

    scan, path, decimal = Scan(), plan.path, plan.dialect.decimal

    def digest() -> None:
        sha256, done = hashlib.sha256(), 0
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                sha256.update(chunk)
                done += len(chunk)
                note(done, scan.lines)
        scan.fingerprint = sha256.hexdigest()

    def typed(limit: int | None = None) -> str:
        return typed_rows(_as_text(con, path, limit), plan.mapping, None, decimal=decimal)

    try:
        scan.lines = count(con, path)
        judge(judge_rows(con, typed(HEAD_ROWS), reading))
        run(
            con,
            f"COPY ({typed()}) TO {written_file(folder / ROWS)} {PARQUET}",
            reading,
            meanwhile=digest if plan.fingerprint else None,
        )
    except duckdb.Error as fault:
        if not_its_fault(fault):
            raise
        raise damaged(plan.name, fault) from fault
    if count(con, folder / ROWS) != scan.lines:
        raise damaged(plan.name, ValueError("rows are missing"))
    return scan


def parquet_examples(con: Any, folder: Path, path: Path) -> dict[Reason, tuple[Example, ...]]:
    """Return the first rows of each reason as comma-separated text."""
    numbers = first_lines(con, folder)
    wanted = sorted({n for lines in numbers.values() for n in lines})
    texts = row_texts(con, path, wanted)
    return {
        reason: tuple(Example(n, texts.get(n, "")[:EXAMPLE_LENGTH]) for n in lines)
        for reason, lines in numbers.items()
    }


def row_texts(con: Any, path: Path, numbers: list[int]) -> dict[int, str]:
    """Return the cells, joined by commas, of the rows of these numbers (from 1)."""
    columns = _columns(con, path)
    cells = ", ".join(f"coalesce(CAST({_name(name)} AS VARCHAR), '')" for name in columns)
    if "file_row_number" not in map(str.lower, columns):
        rows, number = parquet_table(path, numbered=True), "file_row_number + 1"
    else:  # counting is slower, but the reader's own column would clash with the file's
        number = next(
            n for n in ("n" * i for i in range(1, 99)) if n not in map(str.lower, columns)
        )
        rows = f"(SELECT *, row_number() OVER () AS {number} FROM {parquet_table(path)})"
    found = con.execute(
        f"SELECT {number}, concat_ws(',', {cells}) FROM {rows} "
        f"WHERE {number} IN (SELECT unnest(?::BIGINT[]))",
        [numbers],
    )
    return dict(found.fetchall())
