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
from explorer.checkins.statements import TEXT_ID, text_source, typed_rows

Tick = Callable[[float], None]

HEAD_ROWS = 10_000
_SAME = "same, user_id, time, lat, lon"
MANY = 200_000
"""Entries of a joined table that surely fit into memory."""

_PASS_ROWS = 5_000_000
"""Rows among which duplicates are sought at a time, so that memory does not grow with the file."""

PARQUET = "(FORMAT parquet, COMPRESSION lz4, DICTIONARY_SIZE_LIMIT 1000)"
"""Quick to write rather than small: looking for dictionaries costs more than it saves."""

ROWS, DUPLICATES, USERS, ASIDE = (
    "rows.parquet", "duplicates.parquet", "users.parquet", "aside.parquet",
)  # fmt: skip
"""Files of an entry. Rows set aside stay among the others, told by their code; the order of the
file is what their line numbers are made of."""

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
    """Write ``rows.parquet``: every line that is a row, in file order, typed and judged.

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
    raw = folder / ROWS
    size = path.stat().st_size
    source, delimiter = path, dialect.delimiter
    scan: Scan | None = None

    def statement(integers: bool, parallel: bool = True) -> str:
        header = dialect.has_header and source == path
        table = text_source(source, delimiter, header, width, parallel)
        return f"COPY ({typed_rows(table, mapping, width, integers)}) TO {quote(raw)} {PARQUET}"

    def look() -> bool:
        header = dialect.has_header and source == path
        failing, integers = judge_head(
            con, source, delimiter, header, mapping, width, folder, dialect.quoted
        )
        judge(failing)
        return integers

    def pass_over(copy: Any, tick: Tick | None) -> None:
        nonlocal scan

        def seen(done: int, lines: int) -> None:
            note(done, lines)
            if tick is None:
                reading(max(con.query_progress(), 0.0) / 100)
            else:
                tick(done / size)

        scan = scan_lines(path, dialect, copy, seen, fingerprint)

    integers = False
    if not dialect.needs_copy:
        try:
            integers = look()
            run(con, statement(integers), reading, meanwhile=lambda: pass_over(None, None))
        except CopyNeeded:
            scan = None
    if scan is None:
        source = folder / "lines.txt"
        with source.open("wb") as copy:
            pass_over(copy, preparing)
        if dialect.quoted:
            delimiter = FIELD_SEPARATOR
        integers = look()
        run(con, statement(integers), reading)
    assert scan is not None
    expected = scan.lines - scan.skipped().size
    if integers and count(con, raw, f"code = {TEXT_ID}"):
        integers = False
        run(con, statement(integers), reading)
    if count(con, raw) != expected:
        # in parallel, the reader may lose lines around the ends of its buffers
        run(con, statement(integers, parallel=False), reading)
    if count(con, raw) != expected:
        raise CheckinError(
            f"{path.name}: {expected} lines should be rows, but the reader returned "
            f"{count(con, raw)}; convert the file to plain UTF-8 text with one row a line."
        )
    return scan, source


def count(con: Any, file: Path, test: str = "true") -> int:
    """Return how many rows of a Parquet file pass a test."""
    query = f"SELECT count(*) FROM read_parquet({quote(file)}) WHERE {test}"
    return int(con.execute(query).fetchone()[0])


def judge_head(
    con: Any,
    source: Path,
    delimiter: str,
    header: bool,
    mapping: Mapping,
    width: int,
    folder: Path,
    quoted: bool,
) -> tuple[float, bool]:
    """Return which share of the first 10,000 rows fails, and whether the ids are integers.

    Raises
    ------
    CopyNeeded
        If there are quotes, which the reader does not understand.
    """
    head = folder / "head.txt"
    with source.open("rb") as file, head.open("wb") as copy:
        left = 8 << 20
        for _ in range(HEAD_ROWS + header):
            line = file.readline(left)
            left -= len(line)
            copy.write(line)
            if quoted and delimiter != FIELD_SEPARATOR and b'"' in line:
                raise CopyNeeded
            if not line or left <= 0:
                break
    table = text_source(head, delimiter, header, width)
    judged = judge_rows(con, typed_rows(table, mapping, width))
    head.unlink()
    return judged


def judge_rows(con: Any, rows: str) -> tuple[float, bool]:
    """Return which share of rows fails, and whether all user ids are spelt as integers.

    Only reasons that the mapping may be to blame for count.
    """
    fine = ", ".join(str(reason.code) for reason in _NOT_THE_MAPPING)
    failing, total, integers = con.execute(
        f"SELECT count_if(code NOT IN (0, {fine})), count(*), bool_and(code <> 0 OR "
        "coalesce(CAST(try_cast(user_id AS BIGINT) AS VARCHAR) = user_id, false)) "
        f"FROM ({rows})"
    ).fetchone()
    return (failing / total if total else 0.0), bool(integers)


def find_duplicates(con: Any, folder: Path, tick: Tick) -> None:
    """Write ``duplicates.parquet``: the numbers n of rows that repeat an earlier kept row."""
    raw = f"read_parquet({quote(folder / ROWS)}, file_row_number=true)"
    passes = -(-count(con, folder / ROWS) // _PASS_ROWS)
    con.execute("CREATE TEMP TABLE found (n BIGINT)")
    for i in range(passes):

        def share(done: float, i: int = i) -> None:
            tick((i + done) / passes)

        part = f"code = 0 AND same % {passes} = {i}" if passes > 1 else "code = 0"
        run(
            con,
            f"CREATE TEMP TABLE repeated AS SELECT same FROM {raw} WHERE {part} "
            "GROUP BY same HAVING count(*) > 1",
            share,
        )
        if con.execute("SELECT count(*) FROM repeated").fetchone()[0]:
            run(
                con,
                "INSERT INTO found SELECT n FROM (SELECT file_row_number AS n, "
                f"row_number() OVER (PARTITION BY {_SAME} ORDER BY file_row_number) AS k "
                f"FROM {raw} WHERE {part} AND same IN (FROM repeated)) WHERE k > 1",
                share,
            )
        con.execute("DROP TABLE repeated")
    con.execute(f"COPY (FROM found ORDER BY n) TO {quote(folder / DUPLICATES)} {PARQUET}")
    total = con.execute("SELECT count(*) FROM found").fetchone()[0]
    if total > MANY:  # too many to look up in every question: mark the rows themselves
        code = f"CASE WHEN n IS NULL THEN code ELSE {Reason.DUPLICATE.code} END::UTINYINT"
        _rewrite(
            con, folder, f"r.* EXCLUDE (file_row_number) REPLACE ({code} AS code)",
            "found ON file_row_number = n", total, tick,
        )  # fmt: skip
        no_duplicates(con, folder)
    con.execute("DROP TABLE found")


def no_duplicates(con: Any, folder: Path) -> None:
    """Write an empty ``duplicates.parquet``."""
    con.execute(
        f"COPY (SELECT 0::BIGINT AS n WHERE false) TO {quote(folder / DUPLICATES)} {PARQUET}"
    )


def number_users(con: Any, folder: Path, tick: Tick) -> None:
    """Write ``users.parquet``: the key of each user with a kept row, ascending in the users' order.

    Integer ids are their own keys. Text ids are numbered (by value if all are whole numbers, else
    by code point), and the rows are rewritten with the numbers, because text is slow to hand out.
    """
    raw = folder / ROWS
    kept = f"(SELECT DISTINCT user_id FROM read_parquet({quote(raw)}) WHERE code = 0)"
    users = quote(folder / USERS)
    kind = con.execute(f"SELECT typeof(user_id) FROM read_parquet({quote(raw)}) LIMIT 1").fetchone()
    if kind is None or kind[0] == "BIGINT":
        run(con, f"COPY (FROM {kept} ORDER BY user_id) TO {users} {PARQUET}", tick)
        return
    run(
        con,
        f"CREATE TEMP TABLE numbers AS WITH ids AS {kept}, whole AS (SELECT user_id, "
        "CASE WHEN (SELECT bool_and(regexp_full_match(user_id, '-?[0-9]{1,18}')) FROM ids) "
        "THEN CAST(user_id AS BIGINT) END AS number FROM ids) "
        "SELECT row_number() OVER (ORDER BY number, user_id) - 1 AS key, user_id FROM whole",
        tick,
    )
    con.execute(f"COPY (SELECT key AS user_id FROM numbers ORDER BY key) TO {users} {PARQUET}")
    _rewrite(
        con, folder, "r.* EXCLUDE (file_row_number) REPLACE (key AS user_id)",
        "numbers USING (user_id)", count(con, folder / USERS), tick,
    )  # fmt: skip
    con.execute("DROP TABLE numbers")


def _rewrite(con: Any, folder: Path, select: str, joined: str, size: int, tick: Tick) -> None:
    """Write the rows anew, joined to a table of some size, in the order they have."""
    new = folder / "new.parquet"
    # a join too large for memory loses the order
    order = "ORDER BY file_row_number" if size > MANY else ""
    run(
        con,
        f"COPY (SELECT {select} FROM read_parquet({quote(folder / ROWS)}, file_row_number=true) r "
        f"LEFT JOIN {joined} {order}) TO {quote(new)} {PARQUET}",
        tick,
    )
    new.replace(folder / ROWS)


def store_aside(con: Any, folder: Path, scan: Scan, tick: Tick) -> dict[Reason, int]:
    """Write ``aside.parquet`` (line, code; ascending) and return how many rows each reason has."""
    raw = f"read_parquet({quote(folder / ROWS)}, file_row_number=true)"
    duplicates = f"read_parquet({quote(folder / DUPLICATES)})"
    skipped = scan.skipped()
    before = skipped - np.arange(skipped.size)  # rows up to which a line shifts nothing
    steps, last = np.unique(before[::-1], return_index=True)
    con.execute("CREATE TEMP TABLE shifts (step BIGINT, shift BIGINT)")
    _insert(con, "shifts", [steps.tolist(), (skipped.size - last).tolist()])
    con.execute("CREATE TEMP TABLE odd (line BIGINT, code UTINYINT)")
    _insert(con, "odd", [[n for n, _ in scan.odd], [reason.code for _, reason in scan.odd]])
    bad = (
        f"SELECT file_row_number + 1 AS row, code FROM {raw} WHERE code <> 0 "
        f"UNION ALL SELECT n + 1, {Reason.DUPLICATE.code} FROM {duplicates}"
    )
    run(
        con,
        "COPY (SELECT line, code::UTINYINT AS code FROM (SELECT row + coalesce(shift, 0) AS line, "
        f"code FROM ({bad}) ASOF LEFT JOIN shifts ON row >= step UNION ALL FROM odd) "
        f"ORDER BY line) TO {quote(folder / ASIDE)} {PARQUET}",
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
    return f"read_parquet({quote(folder / ASIDE)})"


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
