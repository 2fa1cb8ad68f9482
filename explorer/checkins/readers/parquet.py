"""Check-ins that come as Parquet: columns by name and type, read by DuckDB as text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.checkins.database import check, connect, parquet_table, reachable, run
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Format, IsCancelled, Preview
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    Beginning,
    Judge,
    Written,
    check_width,
    table_preview,
    write_table,
)
from explorer.checkins.readers.plan import Plan
from explorer.checkins.rows import ROWS, count


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


def _row_texts(con: Any, path: Path, numbers: list[int]) -> dict[int, str]:
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


class ParquetReader:
    """Reads Parquet."""

    name = "Parquet"
    suffixes = (".parquet",)

    def can_read(self, head: bytes) -> float:
        """Return whether it begins as every Parquet file does."""
        return float(head.startswith(b"PAR1"))

    def preview(self, look: Beginning) -> Preview:
        """Guess which of the columns is which.

        Raises
        ------
        CheckinError
            If the file is damaged, or has too many columns.
        """
        import duckdb

        con = connect()
        try:
            with reachable(con, look.path) as source:
                columns = tuple(_columns(con, source))
                check_width(look.name, len(columns))
                head = f"CREATE TEMP TABLE head AS FROM {_as_text(con, source, 2000)}"
                run(con, head, lambda _: look.check())
                rows = con.execute("FROM head").fetchall()
        except duckdb.Error as fault:
            raise damaged(look.name, fault) from fault
        finally:
            con.close()
        body = [tuple("" if cell is None else str(cell) for cell in row) for row in rows]
        return table_preview(look, Format.PARQUET, columns, body)

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, judge: Judge
    ) -> Written:
        """Write every row.

        Raises
        ------
        CheckinError
            If the file is damaged.
        """
        import duckdb

        try:
            scan = write_table(
                con, plan, folder, work, judge, lambda limit: _as_text(con, plan.path, limit)
            )
        except duckdb.Error as fault:
            if not_its_fault(fault):
                raise
            raise damaged(plan.name, fault) from fault
        if count(con, folder / ROWS) != scan.lines:
            raise damaged(plan.name, ValueError("rows are missing"))
        return Written(scan, lambda numbers: _row_texts(con, plan.path, numbers))

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the cells, joined by commas, of the rows asked for."""
        with reachable(con, path) as source:
            for numbers in batches:
                check(cancelled)
                texts = _row_texts(con, source, numbers)
                yield from (texts.get(number, "") for number in numbers)


READER = ParquetReader()
