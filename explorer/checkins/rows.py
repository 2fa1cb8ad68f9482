"""The steps of a load that work on rows: read and judge, find duplicates, number, store."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.database import quote, run
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Example, Mapping, Reason
from explorer.checkins.scanning import (
    EXAMPLE_LENGTH,
    EXAMPLES,
    FIELD_SEPARATOR,
    CopyNeeded,
    Scan,
    scan_lines,
)
from explorer.checkins.statements import text_source, typed_rows

Tick = Callable[[float], None]

HEAD_ROWS = 10_000
_SAME = "user_id, time, lat, lon, location"
_PARQUET = "(FORMAT parquet, COMPRESSION snappy)"
_NOT_THE_MAPPING = (Reason.ZERO_ZERO, Reason.DUPLICATE)
"""Reasons that say nothing about whether the columns were told apart rightly."""


def read_text(
    con: Any,
    path: Path,
    dialect: Dialect,
    mapping: Mapping,
    width: int,
    folder: Path,
    fingerprint: bool,
    note: Callable[[int, int], None],
    stages: tuple[Tick, Tick],
    judge: Callable[[float], None],
) -> tuple[Scan, Path]:
    """Write ``raw.parquet``: every line that is a row, in file order, typed and judged.

    Parameters
    ----------
    note : callable
        Called with bytes on disk and lines so far.
    stages : (tick, tick)
        Reporters of preparing a copy and of reading.
    judge : callable
        Called with the share of the first rows that fail; may raise.

    Returns
    -------
    (Scan, Path)
        What the pass over the lines found, and the file the reader was given.
    """
    preparing, reading = stages
    raw = folder / "raw.parquet"
    size = path.stat().st_size
    source, delimiter = path, dialect.delimiter
    scan: Scan | None = None

    def statement(parallel: bool = True) -> str:
        header = dialect.has_header and source == path
        table = text_source(source, delimiter, header, width, parallel)
        return f"COPY ({typed_rows(table, mapping, width)}) TO {quote(raw)} {_PARQUET}"

    def pass_over(copy: Any, tick: Tick | None) -> None:
        nonlocal scan

        def seen(done: int, lines: int) -> None:
            note(done, lines)
            if tick is None:
                reading(max(con.query_progress(), 0.0) / 100)
            else:
                tick(done / size)

        scan = scan_lines(path, dialect, copy, seen, fingerprint)

    if not dialect.compressed and dialect.encoding in ("utf-8", "utf-8-sig"):
        judge(failing_head(con, source, delimiter, dialect.has_header, mapping, width, folder))
        try:
            run(con, statement(), reading, meanwhile=lambda: pass_over(None, None))
        except CopyNeeded:
            scan = None
    if scan is None:
        source = folder / "lines.txt"
        with source.open("wb") as copy:
            pass_over(copy, preparing)
        if dialect.quoted:
            delimiter = FIELD_SEPARATOR
        judge(failing_head(con, source, delimiter, False, mapping, width, folder))
        run(con, statement(), reading)
    assert scan is not None
    expected = scan.lines - scan.skipped().size
    if count(con, raw) != expected:
        # in parallel, the reader may lose lines around the ends of its buffers
        run(con, statement(parallel=False), reading)
    if count(con, raw) != expected:
        raise CheckinError(
            f"{path.name}: {expected} lines should be rows, but the reader returned "
            f"{count(con, raw)}; convert the file to plain UTF-8 text with one row a line."
        )
    return scan, source


def count(con: Any, file: Path) -> int:
    """Return how many rows a Parquet file has."""
    return int(con.execute(f"SELECT count(*) FROM read_parquet({quote(file)})").fetchone()[0])


def failing_head(
    con: Any,
    source: Path,
    delimiter: str,
    header: bool,
    mapping: Mapping,
    width: int,
    folder: Path,
) -> float:
    """Return the share of the first 10,000 rows whose fields don't hold what they should."""
    head = folder / "head.txt"
    with source.open("rb") as file, head.open("wb") as copy:
        left = 8 << 20
        for _ in range(HEAD_ROWS + header):
            line = file.readline(left)
            left -= len(line)
            copy.write(line)
            if not line or left <= 0:
                break
    table = text_source(head, delimiter, header, width)
    share = failing_share(con, typed_rows(table, mapping, width))
    head.unlink()
    return share


def failing_share(con: Any, rows: str) -> float:
    """Return the share of judged rows that fail for a reason the mapping may be to blame for."""
    fine = ", ".join(str(reason.code) for reason in _NOT_THE_MAPPING)
    failing, total = con.execute(
        f"SELECT count_if(code NOT IN (0, {fine})), count(*) FROM ({rows})"
    ).fetchone()
    return failing / total if total else 0.0


def store_rows(con: Any, folder: Path, detect_duplicates: bool, stages: tuple[Tick, Tick]) -> None:
    """Write ``rows.parquet`` and ``users.parquet`` from ``raw.parquet``.

    ``rows``: user (dense index), time, lat, lon, weight, in file order. ``users``: user, user_id.
    The temporary table ``duplicates`` holds the numbers of the rows that repeat an earlier one.
    """
    finding, storing = stages
    raw = f"read_parquet({quote(folder / 'raw.parquet')}, file_row_number=true)"
    con.execute("CREATE TEMP TABLE duplicates (n BIGINT)")
    if detect_duplicates:
        run(
            con,
            f"CREATE TEMP TABLE repeated AS SELECT h FROM (SELECT hash({_SAME}) AS h FROM {raw} "
            "WHERE code = 0) GROUP BY h HAVING count(*) > 1",
            finding,
        )
        if con.execute("SELECT count(*) FROM repeated").fetchone()[0]:
            run(
                con,
                "INSERT INTO duplicates SELECT n FROM (SELECT file_row_number AS n, "
                f"row_number() OVER (PARTITION BY {_SAME} ORDER BY file_row_number) AS k "
                f"FROM {raw} WHERE code = 0 AND hash({_SAME}) IN (SELECT h FROM repeated)) "
                "WHERE k > 1",
                finding,
            )
        con.execute("DROP TABLE repeated")
    run(
        con,
        "CREATE TEMP TABLE users AS WITH ids AS "
        f"(SELECT DISTINCT user_id FROM {raw} WHERE code = 0), numbers AS "
        "(SELECT user_id, CASE WHEN (SELECT bool_and(regexp_full_match(user_id, '-?[0-9]{1,18}')) "
        "FROM ids) THEN CAST(user_id AS BIGINT) END AS number FROM ids) "
        "SELECT (row_number() OVER (ORDER BY number, user_id) - 1)::UINTEGER AS user, user_id "
        "FROM numbers",
        storing,
    )
    con.execute(f"COPY (FROM users ORDER BY user) TO {quote(folder / 'users.parquet')} {_PARQUET}")
    unique = ""
    if con.execute("SELECT count(*) FROM duplicates").fetchone()[0]:
        unique = "AND file_row_number NOT IN (SELECT n FROM duplicates)"
    run(
        con,
        f"COPY (SELECT user, time, lat, lon, weight FROM {raw} JOIN users USING (user_id) "
        f"WHERE code = 0 {unique}) TO {quote(folder / 'rows.parquet')} {_PARQUET}",
        storing,
    )


def store_aside(con: Any, folder: Path, scan: Scan, tick: Tick) -> dict[Reason, int]:
    """Write ``aside.parquet`` (line, code; ascending) and return how many rows each reason has."""
    raw = f"read_parquet({quote(folder / 'raw.parquet')}, file_row_number=true)"
    skipped = scan.skipped()
    before = skipped - np.arange(skipped.size)  # rows up to which a line shifts nothing
    steps, last = np.unique(before[::-1], return_index=True)
    con.execute("CREATE TEMP TABLE shifts (step BIGINT, shift BIGINT)")
    _insert(con, "shifts", [steps.tolist(), (skipped.size - last).tolist()])
    con.execute("CREATE TEMP TABLE odd (line BIGINT, code UTINYINT)")
    _insert(con, "odd", [[n for n, _ in scan.odd], [reason.code for _, reason in scan.odd]])
    bad = (
        f"SELECT file_row_number + 1 AS row, code FROM {raw} WHERE code <> 0 "
        f"UNION ALL SELECT n + 1, {Reason.DUPLICATE.code} FROM duplicates"
    )
    run(
        con,
        "COPY (SELECT line, code::UTINYINT AS code FROM (SELECT row + coalesce(shift, 0) AS line, "
        f"code FROM ({bad}) ASOF LEFT JOIN shifts ON row >= step UNION ALL FROM odd) "
        f"ORDER BY line) TO {quote(folder / 'aside.parquet')} {_PARQUET}",
        tick,
    )
    counts = con.execute(
        f"SELECT code, count(*) FROM {_aside(folder)} GROUP BY code ORDER BY code"
    ).fetchall()
    return {Reason.of(code): n for code, n in counts}


def _insert(con: Any, table: str, columns: list[list[int]]) -> None:
    for at in range(0, len(columns[0]), 10_000):
        piece = [column[at : at + 10_000] for column in columns]
        con.execute(f"INSERT INTO {table} SELECT unnest(?), unnest(?)", piece)


def _aside(folder: Path) -> str:
    return f"read_parquet({quote(folder / 'aside.parquet')})"


def first_lines(con: Any, folder: Path) -> dict[Reason, list[int]]:
    """Return the numbers of the first lines of each reason."""
    found: dict[Reason, list[int]] = {}
    for code, line in con.execute(
        "SELECT code, line FROM (SELECT *, row_number() OVER (PARTITION BY code ORDER BY line) "
        f"AS k FROM {_aside(folder)}) WHERE k <= {EXAMPLES} ORDER BY code, line"
    ).fetchall():
        found.setdefault(Reason.of(code), []).append(line)
    return found


def text_examples(
    con: Any, folder: Path, scan: Scan, source: Path, copied: bool, dialect: Dialect
) -> dict[Reason, tuple[Example, ...]]:
    """Return the first lines of each reason with their text."""
    numbers = first_lines(con, folder)
    odd = {line for line, _ in scan.odd}
    wanted = sorted({n for lines in numbers.values() for n in lines if n not in odd})
    missing = sorted([*odd, *scan.joined]) if copied else []
    texts = dict(scan.odd_texts)
    texts.update(_lines_of(source, scan.checkpoints, missing, wanted))
    separator = FIELD_SEPARATOR if copied and dialect.quoted else ""

    def shown(line: int) -> str:
        text = texts.get(line, b"")[: 4 * EXAMPLE_LENGTH].decode(errors="replace")
        if separator:
            text = text.replace(separator, dialect.delimiter)
        return text[:EXAMPLE_LENGTH]

    return {reason: tuple(Example(n, shown(n)) for n in lines) for reason, lines in numbers.items()}


def _lines_of(
    source: Path, checkpoints: list[tuple[int, int]], missing: list[int], wanted: list[int]
) -> dict[int, bytes]:
    """Return the bytes of some lines of the file the reader was given.

    Parameters
    ----------
    missing : list of int
        Numbers of lines that are not in that file, ascending.
    """
    found: dict[int, bytes] = {}
    starts = [lines for lines, _ in checkpoints]
    with source.open("rb") as file:
        at, line = -1, 0
        for number in wanted:
            block = bisect_right(starts, number - 1) - 1
            if block != at:
                at, line = block, starts[block]
                file.seek(checkpoints[block][1])
            absent = bisect_right(missing, number) - bisect_right(missing, line)
            for _ in range(number - line - absent - 1):
                file.readline()
            found[number] = file.readline().rstrip(b"\r\n")
            line = number
    return found
