"""Content of a cache entry: rows, duplicates, user numbers, rejected lines and metadata."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.database import parquet_table, run, written_file
from explorer.checkins.errors import printable
from explorer.checkins.model import (
    COLUMN_FIELDS,
    Dialect,
    Example,
    LoadReport,
    Mapping,
    PartReport,
    Reason,
)
from explorer.checkins.scan import EXAMPLE_LENGTH, EXAMPLES, Scan, shifts

Tick = Callable[[float], None]

_ROW_ORDER = "same, user_id, time, lat, lon"
MAX_JOINED_ROWS = 200_000
"""Size of a joined table that fits into memory."""

_PASS_ROWS = 5_000_000
"""Rows per pass of the duplicate search, so that memory does not grow with the file."""

PARQUET = "(FORMAT parquet, COMPRESSION lz4, DICTIONARY_SIZE_LIMIT 1000)"
"""Optimised for writing speed: dictionaries cost more time than they save."""

ROWS, DUPLICATES, USERS, REJECTED = (
    "rows.parquet",
    "duplicates.parquet",
    "users.parquet",
    "aside.parquet",
)
"""Files of an entry. Rejected rows stay in ``rows.parquet`` with their code, because line numbers
follow from the order of its rows."""


def count(con: Any, file: Path, test: str = "true") -> int:
    """Return the number of rows of a Parquet file that satisfy a condition."""
    query = f"SELECT count(*) FROM {parquet_table(file)} WHERE {test}"
    return int(con.execute(query).fetchone()[0])


def find_duplicates(con: Any, folder: Path, tick: Tick) -> None:
    """Write ``duplicates.parquet``: numbers of rows that repeat an earlier valid row."""
    raw = parquet_table(folder / ROWS, numbered=True)
    passes = -(-count(con, folder / ROWS) // _PASS_ROWS)
    con.execute("CREATE OR REPLACE TEMP TABLE found (n BIGINT)")
    for i in range(passes):

        def share(done: float, i: int = i) -> None:
            tick((i + done) / passes)

        part = f"code = 0 AND same % {passes} = {i}" if passes > 1 else "code = 0"
        run(
            con,
            f"CREATE OR REPLACE TEMP TABLE repeated AS SELECT same FROM {raw} WHERE {part} "
            "GROUP BY same HAVING count(*) > 1",
            share,
        )
        if con.execute("SELECT count(*) FROM repeated").fetchone()[0]:
            run(
                con,
                "INSERT INTO found SELECT n FROM (SELECT file_row_number AS n, "
                f"row_number() OVER (PARTITION BY {_ROW_ORDER} ORDER BY file_row_number) AS k "
                f"FROM {raw} WHERE {part} AND same IN (FROM repeated)) WHERE k > 1",
                share,
            )
        con.execute("DROP TABLE repeated")
    con.execute(f"COPY (FROM found ORDER BY n) TO {written_file(folder / DUPLICATES)} {PARQUET}")
    total = con.execute("SELECT count(*) FROM found").fetchone()[0]
    if total > MAX_JOINED_ROWS:  # too many to look up in every question: mark the rows themselves
        code = f"CASE WHEN n IS NULL THEN code ELSE {Reason.DUPLICATE.code} END::UTINYINT"
        _rewrite(
            con,
            folder,
            f"r.* EXCLUDE (file_row_number) REPLACE ({code} AS code)",
            "found ON file_row_number = n",
            total,
            tick,
        )
        no_duplicates(con, folder)
    con.execute("DROP TABLE found")


def no_duplicates(con: Any, folder: Path) -> None:
    """Write an empty ``duplicates.parquet``."""
    con.execute(
        f"COPY (SELECT 0::BIGINT AS n WHERE false) TO {written_file(folder / DUPLICATES)} {PARQUET}"
    )


def count_spellings(con: Any, folder: Path) -> tuple[int, int]:
    """Return the number of valid rows without UTC offset and of merged id spellings.

    An id is merged if another spelling of it is the same user's, by `explorer.user_rows.id_text`.
    """
    rows = parquet_table(folder / ROWS)
    naive = count(con, folder / ROWS, "code = 0 AND naive")
    if not count(con, folder / ROWS, "code = 0 AND spelt IS NOT NULL"):
        return naive, 0
    several = f"SELECT user_id FROM {rows} WHERE code = 0 AND spelt IS NOT NULL"
    row = con.execute(
        "SELECT sum(n) FROM (SELECT count(DISTINCT coalesce(spelt, CAST(user_id AS VARCHAR))) - 1 "
        f"AS n FROM {rows} WHERE code = 0 AND user_id IN ({several}) GROUP BY user_id)"
    ).fetchone()
    return naive, int(row[0])


def row_id(part: int, number: str) -> str:
    """Return SQL for the id of a row where every row is its own user.

    It depends on nothing but the place of the row among those read from its file, whether kept or
    rejected, and on the place of the file among several: 2³² of file and row, counted from 1 in
    the first file.

    Parameters
    ----------
    part : int
        Which of several files, from 0.
    number : str
        SQL of the place of the row, from 0.
    """
    return f"({(part << 32) + 1}::BIGINT + {number})"


def number_rows(con: Any, folder: Path, part: int, text: bool, tick: Tick) -> None:
    """Replace user ids by row ids in ``rows.parquet``.

    Parameters
    ----------
    con : DuckDB connection
    folder : Path
        With the rows of one file.
    part : int
        Which of several files, from 0.
    text : bool
        Whether ids are text.
    tick : callable
    """
    own = row_id(part, "file_row_number")
    own = f"CAST({own} AS VARCHAR)" if text else own
    select = f"r.* EXCLUDE (file_row_number) REPLACE ({own} AS user_id)"
    _rewrite(con, folder, select, "", 0, tick)


def number_users(con: Any, folder: Path, tick: Tick) -> None:
    """Write ``users.parquet``: key and id of each user with a valid row, in order.

    Integer ids are their own keys. Text ids are numbered (by value if all are whole numbers, else
    by code point), and the rows are rewritten with the numbers, because text is slow to hand out.
    ``name`` is the id as it was read: samples of users depend on it and on nothing else.
    """
    raw = folder / ROWS
    valid = f"(SELECT DISTINCT user_id FROM {parquet_table(raw)} WHERE code = 0)"
    users = written_file(folder / USERS)
    kind = con.execute(f"SELECT typeof(user_id) FROM {parquet_table(raw)} LIMIT 1").fetchone()
    if kind is None or kind[0] == "BIGINT":
        named = f"SELECT user_id, CAST(user_id AS VARCHAR) AS name FROM {valid} ORDER BY user_id"
        run(con, f"COPY ({named}) TO {users} {PARQUET}", tick)
        return
    run(
        con,
        f"CREATE OR REPLACE TEMP TABLE numbers AS WITH ids AS {valid}, whole AS (SELECT user_id, "
        "CASE WHEN (SELECT bool_and(regexp_full_match(user_id, '-?[0-9]{1,18}')) FROM ids) "
        "THEN CAST(user_id AS BIGINT) END AS number FROM ids) "
        "SELECT row_number() OVER (ORDER BY number, user_id) - 1 AS key, user_id FROM whole",
        tick,
    )
    named = "SELECT key AS user_id, user_id AS name FROM numbers ORDER BY key"
    con.execute(f"COPY ({named}) TO {users} {PARQUET}")
    _rewrite(
        con,
        folder,
        "r.* EXCLUDE (file_row_number) REPLACE (key AS user_id)",
        "numbers USING (user_id)",
        count(con, folder / USERS),
        tick,
    )
    con.execute("DROP TABLE numbers")


def _rewrite(con: Any, folder: Path, select: str, joined: str, size: int, tick: Tick) -> None:
    """Rewrite ``rows.parquet``, optionally joined to a table, preserving the order."""
    new = folder / "new.parquet"
    # a join too large for memory loses the order
    order = "ORDER BY file_row_number" if size > MAX_JOINED_ROWS else ""
    run(
        con,
        f"COPY (SELECT {select} FROM {parquet_table(folder / ROWS, numbered=True)} r "
        f"{f'LEFT JOIN {joined}' if joined else ''} {order}) TO {written_file(new)} {PARQUET}",
        tick,
    )
    new.replace(folder / ROWS)


def store_rejected(con: Any, folder: Path, scan: Scan, tick: Tick) -> dict[Reason, int]:
    """Write ``aside.parquet`` (line, code; ascending); return the count of each reason."""
    raw = parquet_table(folder / ROWS, numbered=True)
    duplicates = parquet_table(folder / DUPLICATES)
    steps, shift = shifts(*scan.skipped())
    lines, codes = scan.malformed.arrays()
    _store(con, "shifts", {"step": steps, "shift": shift})
    _store(con, "malformed", {"line": lines, "code": codes})
    bad = (
        f"SELECT file_row_number + 1 AS row, code FROM {raw} WHERE code <> 0 "
        f"UNION ALL SELECT n + 1, {Reason.DUPLICATE.code} FROM {duplicates}"
    )
    run(
        con,
        "COPY (SELECT line, code::UTINYINT AS code FROM (SELECT row + coalesce(shift, 0) AS line, "
        f"code FROM ({bad}) ASOF LEFT JOIN shifts ON row >= step UNION ALL FROM malformed) "
        f"ORDER BY line) TO {written_file(folder / REJECTED)} {PARQUET}",
        tick,
    )
    counts = con.execute(
        f"SELECT code, count(*) FROM {_rejected_table(folder)} GROUP BY code ORDER BY code"
    ).fetchall()
    return {Reason.of(code): n for code, n in counts}


def _store(con: Any, table: str, columns: dict[str, np.ndarray[Any, Any]]) -> None:
    """Create a temporary table from arrays."""
    con.register("given", columns)
    try:
        con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS FROM given")
    finally:
        con.unregister("given")


def _rejected_table(folder: Path) -> str:
    return parquet_table(folder / REJECTED)


def first_lines(con: Any, folder: Path) -> dict[Reason, list[int]]:
    """Return the numbers of the first lines of each reason."""
    lines: dict[Reason, list[int]] = {}
    for code, line in con.execute(
        "SELECT code, line FROM (SELECT *, row_number() OVER (PARTITION BY code ORDER BY line) "
        f"AS k FROM {_rejected_table(folder)}) WHERE k <= {EXAMPLES} ORDER BY code, line"
    ).fetchall():
        lines.setdefault(Reason.of(code), []).append(line)
    return lines


def examples(
    con: Any, folder: Path, texts: Callable[[list[int]], dict[int, str]]
) -> dict[Reason, tuple[Example, ...]]:
    """Return the first lines of each reason with their text."""
    numbers = first_lines(con, folder)
    known = texts(sorted({n for lines in numbers.values() for n in lines}))
    return {
        reason: tuple(Example(n, known.get(n, "")[:EXAMPLE_LENGTH]) for n in lines)
        for reason, lines in numbers.items()
    }


MAX_NAME_LENGTH = 80
"""Maximum length of stored column names."""


def entry_metadata(
    report: LoadReport,
    sha256: str,
    mapping: Mapping,
    dialect: Dialect,
    name: str,
    dialects: Sequence[Dialect],
    size: int,
    state: list[list[int]],
    columns: Sequence[str],
) -> dict[str, Any]:
    """Return the metadata of a cache entry as JSON values.

    Parameters
    ----------
    report : LoadReport
    sha256 : str
        Fingerprint of the data set.
    mapping : Mapping
    dialect : Dialect
        Of the first file.
    name : str
        Of the data set.
    dialects : sequence of Dialect
        One a file.
    size : int
        Bytes of all files.
    state : list of [int, int]
        Size and modification time of every file.
    columns : sequence of str
        Names of all columns.
    """
    return {
        "fingerprint": sha256,
        "basename": name,
        "size": size,
        "has_times": mapping.time is not None,
        "has_weights": mapping.weight is not None,
        "dialect": asdict(dialect),
        "dialects": [asdict(one) for one in dialects],
        "mapping": mapping.stored(),
        "names": names_used(mapping, columns),
        "state": state,
        "report": {
            "physical_lines": report.physical_lines,
            "header": report.header,
            "before_header": report.before_header,
            "naive_times": report.naive_times,
            "merged_ids": report.merged_ids,
            "blank": report.blank,
            "kept": report.kept,
            "continued": report.continued,
            "seconds": report.seconds,
            "notes": report.notes,
            "set_aside": {reason.value: n for reason, n in report.rejected.items()},
            "examples": {
                reason.value: [[e.line, e.text, e.part] for e in examples]
                for reason, examples in report.examples.items()
            },
            "parts": [asdict(part) for part in report.parts],
        },
    }


def read_report(stored: dict[str, Any]) -> LoadReport:
    """Return the report from stored metadata."""
    return LoadReport(
        physical_lines=stored["physical_lines"],
        header=stored["header"],
        blank=stored["blank"],
        kept=stored["kept"],
        rejected={Reason(r): n for r, n in stored["set_aside"].items()},
        examples={
            Reason(r): tuple(Example(*example) for example in examples)
            for r, examples in stored["examples"].items()
        },
        notes=tuple(stored["notes"]),
        continued=stored["continued"],
        seconds=stored["seconds"],
        parts=tuple(PartReport(**part) for part in stored["parts"]),
        before_header=stored.get("before_header", 0),
        naive_times=stored["naive_times"],
        merged_ids=stored["merged_ids"],
    )


def names_used(mapping: Mapping, columns: Sequence[str]) -> dict[str, str]:
    """Return display names of the columns in use, by field of the mapping."""
    columns_used = {field: getattr(mapping, field) for field in COLUMN_FIELDS}
    return {
        field: printable(columns[i])[:MAX_NAME_LENGTH] if i < len(columns) else f"column {i + 1}"
        for field, i in columns_used.items()
        if i is not None
    }


def read_columns(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the column settings for recipes from stored metadata."""
    layer = stored["dialect"].get("layer")
    columns = {**stored["mapping"], "names": stored["names"]}
    return columns | ({"layer": layer} if layer else {})
