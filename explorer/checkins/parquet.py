"""Check-ins that come as Parquet: columns by name and type, read by DuckDB as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.checkins.columns import fitting_share, guess_mapping
from explorer.checkins.database import connect, quote, run
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Example, Format, Mapping, Preview, Reason
from explorer.checkins.rows import HEAD_ROWS, PARQUET, ROWS, count, first_lines, judge_rows
from explorer.checkins.scanning import EXAMPLE_LENGTH, Scan
from explorer.checkins.statements import typed_rows
from explorer.checkins.streams import CHUNK

PREVIEW_ROWS = 50


def _columns(con: Any, path: Path) -> list[str]:
    return [row[0] for row in con.execute(f"DESCRIBE FROM read_parquet({quote(path)})").fetchall()]


def _as_text(con: Any, path: Path, limit: int | None = None) -> str:
    """Return a table expression with every column as text, named ``c0…``."""
    texts = ", ".join(
        f'CAST("{name.replace(chr(34), chr(34) * 2)}" AS VARCHAR) AS c{i}'
        for i, name in enumerate(_columns(con, path))
    )
    ending = f" LIMIT {limit}" if limit is not None else ""
    return f"(SELECT {texts} FROM read_parquet({quote(path)}){ending})"


def sniff_parquet(path: Path, size: int) -> Preview:
    """Look at a Parquet file's columns and first rows.

    Raises
    ------
    CheckinError
        If DuckDB can't read it.
    """
    import duckdb

    con = connect()
    try:
        columns = tuple(_columns(con, path))
        rows = con.execute(f"FROM {_as_text(con, path, 2000)}").fetchall()
    except duckdb.Error as fault:
        raise CheckinError(
            f"{path.name} is a damaged Parquet file ({str(fault).splitlines()[0][:200]}); "
            "write it again."
        ) from None
    finally:
        con.close()
    body = [tuple("" if cell is None else str(cell) for cell in row) for row in rows]
    mapping = guess_mapping(columns, body, len(columns))
    problems = []
    if mapping.missing:
        problems.append("No column looks like " + ", ".join(mapping.missing) + ".")
    return Preview(
        path.name, size, Dialect(Format.PARQUET, ""), columns, tuple(body[:PREVIEW_ROWS]),
        mapping, fitting_share(body, mapping, len(columns)), tuple(problems),
    )  # fmt: skip


def read_parquet(
    con: Any,
    path: Path,
    mapping: Mapping,
    folder: Path,
    fingerprint: bool,
    note: Callable[[int, int], None],
    reading: Callable[[float], None],
    judge: Callable[[float], None],
) -> Scan:
    """Write ``rows.parquet`` as `explorer.checkins.rows.read_text` does; lines are row numbers.

    Raises
    ------
    CheckinError
        If the file is damaged.
    """
    import duckdb

    scan = Scan()

    def digest() -> None:
        sha256, done = hashlib.sha256(), 0
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                sha256.update(chunk)
                done += len(chunk)
                note(done, scan.lines)
        scan.fingerprint = sha256.hexdigest()

    try:
        scan.lines = count(con, path)
        head = typed_rows(_as_text(con, path, HEAD_ROWS), mapping, None)
        judge(judge_rows(con, head)[0])
        rows = typed_rows(_as_text(con, path), mapping, None)
        run(
            con,
            f"COPY ({rows}) TO {quote(folder / ROWS)} {PARQUET}",
            reading,
            meanwhile=digest if fingerprint else None,
        )
    except duckdb.Error as fault:
        raise CheckinError(
            f"{path.name} is a damaged Parquet file ({str(fault).splitlines()[0][:200]}); "
            "write it again."
        ) from None
    return scan


def parquet_examples(con: Any, folder: Path, path: Path) -> dict[Reason, tuple[Example, ...]]:
    """Return the first rows of each reason as comma-separated text."""
    numbers = first_lines(con, folder)
    wanted = sorted({n for lines in numbers.values() for n in lines})
    texts = dict(
        con.execute(
            f"SELECT file_row_number + 1, {row_text(con, path)} "
            f"FROM read_parquet({quote(path)}, file_row_number=true) "
            "WHERE file_row_number + 1 IN (SELECT unnest(?::BIGINT[]))",
            [wanted],
        ).fetchall()
    )
    return {
        reason: tuple(Example(n, texts.get(n, "")[:EXAMPLE_LENGTH]) for n in lines)
        for reason, lines in numbers.items()
    }


def row_text(con: Any, path: Path) -> str:
    """Return SQL for a row's cells joined by commas."""
    cells = ", ".join(
        f"coalesce(CAST(\"{name.replace(chr(34), chr(34) * 2)}\" AS VARCHAR), '')"
        for name in _columns(con, path)
    )
    return f"concat_ws(',', {cells})"
