"""Reader of Parquet files; DuckDB reads the columns as text or by type."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from explorer.bounded import in_worker
from explorer.checkins.database import (
    check,
    connect,
    identifier,
    limit_memory,
    parquet_table,
    quote,
    reachable,
    read_file,
    run,
)
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.memory import database_bytes, spill_bytes
from explorer.checkins.model import Box, Dialect, Format, IsCancelled, Mapping, Preview
from explorer.checkins.parsing.row_rules import TextColumns, text_columns, typed_rows
from explorer.checkins.parsing.times import FIRST_YEAR, LAST_YEAR
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    MAX_UNSAMPLED_BYTES,
    CheckHead,
    FileStart,
    Plan,
    Portion,
    ReaderOutput,
    Sample,
    check_width,
    evenly_spaced,
    table_preview,
    texts_by_number,
    write_table,
)
from explorer.checkins.store import ROWS, count
from explorer.checkins.workers import run_in_worker

FIRST_PIECES = 8
"""Number of pieces in the first portion. Whole pages are read, so many rows cost the same."""

SHARE, MAX_ROWS, READ_ON = 0.02, 64_000, 1500
"""First portion: share of the rows, maximum rows, rows read on for a piece's last user.
the rest of its last user, at most."""

NUMBER = "file_row_number"

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_NUMBERS = (*_INTEGERS, "UBIGINT", "FLOAT", "DOUBLE")
_MARGIN = 1e-4
"""Margin in degrees between a number and its text: 32-bit floats are shown shortened."""

_CHOICES_QUERY = "SELECT a.*, start, stop FROM around AS a ASOF JOIN pieces AS p ON a.n >= p.before"

_ROWS = f"SELECT * FROM ({_CHOICES_QUERY}) WHERE n >= start AND n < stop"

_WHOLE_USERS = (
    f"WITH told AS MATERIALIZED ({_CHOICES_QUERY}), ends AS (SELECT start, "
    "max(user_id) FILTER (WHERE n < start) AS before, "
    "arg_max(user_id, n) FILTER (WHERE n >= start AND n < stop) AS last FROM told GROUP BY start) "
    "SELECT told.* FROM told JOIN ends USING (start) "
    "WHERE user_id IS DISTINCT FROM before AND (n < stop OR user_id = last)"
)
"""Rows of users whose first row is in a piece, as `BlockReader.whole_users`."""


def _describe(con: Any, path: Path) -> list[tuple[str, str]]:
    described = con.execute(f"DESCRIBE FROM {parquet_table(path)}").fetchall()
    return [(name, _type(con, path, name, kind)) for name, kind, *_ in described]


def have_columns(
    paths: Sequence[Path], names: Sequence[str], cancelled: IsCancelled | None = None
) -> list[bool]:
    """Return for each file whether it is Parquet with these columns and no geometries."""
    if not in_worker():
        result: list[bool] = run_in_worker(
            have_columns, paths, names, name=shown_name(paths[0]), cancelled=cancelled
        )
        return result
    import duckdb

    def has_columns(path: Path) -> bool:
        check(cancelled)
        try:
            with reachable(con, path) as source:
                described = _describe(con, source)
        except (duckdb.Error, OSError):
            return False
        return [name for name, _ in described] == [*names] and not text_columns(described).fault

    with closing(connect()) as con:
        return [has_columns(path) for path in paths]


def count_rows(paths: Sequence[Path], cancelled: IsCancelled | None = None) -> int:
    """Return the total number of rows according to the files' metadata.

    Raises
    ------
    CheckinError
        If one is damaged.
    """
    if not in_worker():
        return int(run_in_worker(count_rows, paths, name=shown_name(paths[0]), cancelled=cancelled))
    import duckdb

    total = 0
    with closing(connect()) as con:
        for path in paths:
            check(cancelled)
            try:
                with reachable(con, path) as source:
                    table = parquet_table(source)
                    total += con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            except duckdb.Error as fault:
                raise damaged_file(shown_name(path), fault) from fault
    return total


def _type(con: Any, path: Path, name: str, kind: str) -> str:
    """Return a column's type for `text_columns`; GeoParquet metadata marks points."""
    if not kind.startswith("STRUCT(x DOUBLE, y DOUBLE"):
        return kind
    value = con.execute(
        f"SELECT value FROM parquet_kv_metadata({read_file(path)}) WHERE key = 'geo'"
    ).fetchone()
    try:
        column = json.loads(value[0])["columns"][name]
        if column["encoding"] != "point":
            return kind
    except (TypeError, ValueError, LookupError):  # nothing is said of it
        return kind
    crs = column.get("crs", "OGC:CRS84")
    text = crs if isinstance(crs, str) else json.dumps(crs) if crs else ""
    return "POINT('" + text.replace("'", "''") + "')"


def _as_text(path: Path, columns: TextColumns, limit: int | None = None) -> str:
    """Return a table expression with all columns as text, named ``c0…``."""
    ending = f" LIMIT {limit}" if limit is not None else ""
    return f"(SELECT {columns.select} FROM {parquet_table(path)}{ending})"


def damaged_file(name: str, fault: Exception) -> CheckinError:
    """Return the error for a damaged file; the message contains no path."""
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


def is_resource_error(fault: Exception) -> bool:
    """Return whether an error is caused by memory or disk rather than by the file."""
    import duckdb

    if isinstance(fault, duckdb.OutOfMemoryException):
        return True
    return isinstance(fault, duckdb.IOException) and "write" in str(fault).lower()


def _row_texts(con: Any, path: Path, numbers: list[int]) -> dict[int, str]:
    """Return the comma-separated cells of rows by number (from 1)."""
    described = _describe(con, path)
    columns, texts = [name for name, _ in described], text_columns(described)
    if "file_row_number" not in map(str.lower, columns):
        rows, number = parquet_table(path, numbered=True), "file_row_number + 1"
    else:  # counting is slower, but the reader's own column would clash with the file's
        number = next(
            n for n in ("n" * i for i in range(1, 99)) if n not in map(str.lower, columns)
        )
        rows = f"(SELECT *, row_number() OVER () AS {number} FROM {parquet_table(path)})"
    result = con.execute(
        f"SELECT number, {texts.line} FROM (SELECT {number} AS number, {texts.select} FROM {rows} "
        f"WHERE {number} IN (SELECT unnest(?::BIGINT[])))",
        [numbers],
    )
    return dict(result.fetchall())


def _row_groups(con: Any, path: Path) -> list[int]:
    """Return the first row number of each row group, and the number of rows."""
    counts = con.execute(
        f"SELECT row_group_num_rows FROM parquet_metadata({read_file(path)}) "
        "WHERE column_id = 0 ORDER BY row_group_id"
    ).fetchall()
    return list(accumulate((n for (n,) in counts), initial=0))


def _pieces(groups: list[int]) -> list[list[tuple[int, int]]]:
    """Return start and stop of the evenly spaced pieces of each portion.

    Where there are many row groups each piece is the beginning of one that no other piece is of.
    """
    total = groups[-1]
    rows = max(int(min(SHARE * total, MAX_ROWS)) // FIRST_PIECES, 1)
    portions = evenly_spaced(0, total, FIRST_PIECES, rows)
    if len(groups) > FIRST_PIECES:
        free = dict(pairwise(groups))
        for place, starts in enumerate(portions):
            near = {groups[bisect_right(groups, start) - 1] for start in starts} & free.keys()
            # The row before it is one of the same group: to read another takes as long again.
            portions[place] = sorted(g + 1 for g in near if free.pop(g) > g + 1)
    return [[(start, min(start + rows, total)) for start in starts] for starts in portions]


def _sorted_by_user(con: Any) -> bool:
    """Return whether users ascend, as numbers or as text, in the rows read."""
    by_number, by_text = con.execute(
        "SELECT count(*) FILTER (WHERE i IS NULL OR i < lag_i), count(*) FILTER (WHERE u < lag_u) "
        "FROM (SELECT u, i, lag(i) OVER (ORDER BY n) AS lag_i, lag(u) OVER (ORDER BY n) AS lag_u "
        "FROM (SELECT n, user_id AS u, try_cast(user_id AS BIGINT) AS i FROM around))"
    ).fetchone()
    return not (by_number and by_text)


def _of_pieces(path: Path, columns: str, groups: list[int], pieces: list[tuple[int, int]]) -> str:
    """Return a table expression of columns and row numbers of some row ranges.

    Queried by row group, since the reader skips others only for a single range.
    """
    conditions: dict[int, list[tuple[int, int]]] = {}
    for start, stop in pieces:
        conditions.setdefault(bisect_right(groups, start), []).append((start, stop))
    return (
        "("
        + " UNION ALL ".join(
            f"SELECT {columns}, {NUMBER} AS n FROM {parquet_table(path, numbered=True)} "
            f"WHERE {NUMBER} BETWEEN {ranges[0][0]} AND {ranges[-1][1] - 1} AND ("
            + " OR ".join(f"{NUMBER} BETWEEN {start} AND {stop - 1}" for start, stop in ranges)
            + ")"
            for ranges in conditions.values()
        )
        + ")"
    )


@dataclass(frozen=True)
class NearRows:
    """Query of a file's rows near a box, with typed columns where possible.

    Attributes
    ----------
    columns, test : str
        SQL of the columns ``c0…``, and of the test that all rows of a box of degrees pass, and
        perhaps others.
    typed : dict of int to str
        As `typed_rows` takes it.
    good_times : bool
        Whether the file's statistics show that all times are present and valid.
    """

    columns: str
    test: str
    typed: dict[int, str]
    good_times: bool

    def table(self, paths: Sequence[Path], numbered: bool = False) -> str:
        """Return a table expression of the rows of several files.

        Parameters
        ----------
        paths : sequence of Path
        numbered : bool
            Whether there is a column with the number of each row in its file, from 0.
        """
        columns = f"{self.columns}, {NUMBER}" if numbered else self.columns
        return (
            f"(SELECT {columns} FROM {parquet_table(*paths, numbered=numbered)} WHERE {self.test})"
        )


def near_rows(con: Any, plan: Plan, box: Box) -> NearRows | None:
    """Return the query of rows near a box; None if positions are not in such columns.

    Of columns of other types than `typed_rows` takes as they are the text is read.
    """
    described = _describe(con, plan.path)
    mapping, own = plan.mapping, plan.width
    typed_columns = _typed_columns(described, plan)
    taken = mapping.unit == "row" and NUMBER in [name.lower() for name, _ in described]
    if typed_columns is None or taken:
        return None
    columns, typed = typed_columns
    south, west, north, east = box
    sides = (mapping.lat, south, north), (mapping.lon, west, east)
    tests = " AND ".join(
        f"{identifier(described[i][0])} BETWEEN {low - _MARGIN!r} AND {high + _MARGIN!r}"
        for i, low, high in sides
        if i is not None and i < own and described[i][1] in _NUMBERS
    )
    time = mapping.time
    good = time in typed and _times_are_good(con, plan.path, described[time or 0][0])
    return NearRows(columns, tests or "true", typed, good)


def _typed_columns(
    described: list[tuple[str, str]], plan: Plan
) -> tuple[str, dict[int, str]] | None:
    """Return SQL of the mapped columns ``c0…``, and the values of typed ones.

    None if they must all be read as text. User ids are BIGINT.
    """
    mapping, texts = plan.mapping, text_columns(described)
    if texts.fault or mapping.crs or mapping.planar:
        return None
    columns, typed = [], {}
    for i in (i for i in mapping.columns if i < plan.width):
        name, kind = described[i]
        value = _value(f"c{i}", kind, i, mapping)
        columns.append(f"{identifier(name) if value else texts.texts[i]} AS c{i}")
        if value:
            typed[i] = value
    return ", ".join(columns), typed


def _value(column: str, kind: str, place: int, mapping: Mapping) -> str:
    """Return SQL of a typed column's value; empty if it must be read as text."""
    if place == mapping.user:
        return f"CAST({column} AS BIGINT)" if kind in _INTEGERS else ""
    if place in (mapping.lat, mapping.lon, mapping.weight):
        return f"CAST({column} AS DOUBLE)" if kind in (*_INTEGERS, "DOUBLE") else ""
    if place == mapping.time and mapping.time_format == "iso":
        if kind == "TIMESTAMP WITH TIME ZONE":
            return column
        if kind == "TIMESTAMP":
            return f"timezone({quote(mapping.zone or 'UTC')}, {column})"
    return ""


def _times_are_good(con: Any, path: Path, name: str) -> bool:
    """Return whether the file's statistics show that all times are present and valid."""
    first, last = (f"TIMESTAMPTZ '{year}-01-02'" for year in (FIRST_YEAR, LAST_YEAR))
    (good,) = con.execute(
        "SELECT bool_and(coalesce(stats_null_count = 0 AND try_cast(stats_min_value AS TIMESTAMPTZ)"
        f" >= {first} AND try_cast(stats_max_value AS TIMESTAMPTZ) < {last}, false)) "
        f"FROM parquet_metadata({read_file(path)}) WHERE path_in_schema = ?",
        [name],
    ).fetchone()
    return bool(good)


class ParquetReader:
    """Reader of Parquet."""

    name = "Parquet"
    suffixes = (".parquet",)

    def can_read(self, head: bytes) -> float:
        """Return 1 for Parquet's signature and a field's mark; 0.1 if it may be text: an id."""
        return max(head.startswith(b"PAR1\x15"), 0.1 * head.startswith(b"PAR1"))

    def preview(self, start: FileStart) -> Preview:
        """Guess the roles of the columns.

        Raises
        ------
        CheckinError
            If the file is damaged, or has too many columns.
        """
        import duckdb

        con = connect(memory=database_bytes())  # a page is read whole, however large it is
        try:
            with reachable(con, start.path) as source:
                columns = text_columns(_describe(con, source))
                check_width(start.name, len(columns.names))
                head = f"CREATE TEMP TABLE head AS FROM {_as_text(source, columns, 2000)}"
                run(con, head, lambda _: start.check())
                rows = con.execute(f"SELECT {columns.cells} FROM head").fetchall()
        except duckdb.Error as fault:
            raise damaged_file(start.name, fault) from fault
        finally:
            con.close()
        return table_preview(
            start, Dialect(Format.PARQUET, "", has_header=True), columns.names, rows, columns.crs
        )

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write all rows.

        Raises
        ------
        CheckinError
            If the file is damaged.
        """
        import duckdb

        limit_memory(con, database_bytes(), spill_bytes(folder))
        try:
            columns = text_columns(_describe(con, plan.path))
            scan = write_table(
                con,
                plan,
                folder,
                work,
                check_head,
                lambda limit: _as_text(plan.path, columns, limit),
                columns.fault_of(plan.mapping),
            )
        except duckdb.Error as fault:
            if is_resource_error(fault):
                raise
            raise damaged_file(plan.name, fault) from fault
        if count(con, folder / ROWS) != scan.lines:
            raise damaged_file(plan.name, ValueError("rows are missing"))
        return ReaderOutput(scan, lambda numbers: _row_texts(con, plan.path, numbers))

    def portions(
        self, con: Any, plan: Plan, folder: Path, whole_users: bool, cancelled: IsCancelled | None
    ) -> Iterator[Portion]:
        """Yield pieces of evenly spaced row groups."""
        described = _describe(con, plan.path)
        names = [name.lower() for name, _ in described]
        if plan.path.stat().st_size < MAX_UNSAMPLED_BYTES or NUMBER in names:
            return
        groups = _row_groups(con, plan.path)
        used, whole, user = 0, whole_users, plan.mapping.user
        columns, typed = _typed_columns(described, plan) or (text_columns(described).select, {})
        if user in typed:
            typed[user] = f"CAST({typed[user]} AS VARCHAR)"
        for portion, pieces in enumerate(_pieces(groups)):
            if not pieces:
                break
            around = [(max(a - 1, 0), min(b + READ_ON, groups[-1])) for a, b in pieces]
            rows = typed_rows(
                _of_pieces(plan.path, columns, groups, around),
                plan.mapping,
                None,
                decimal=plan.dialect.decimal,
                extra="n",
                typed=typed,
            )
            read = f"CREATE OR REPLACE TEMP TABLE around AS SELECT * EXCLUDE (same) FROM ({rows})"
            run(con, read, lambda _: check(cancelled))
            con.execute(
                "CREATE OR REPLACE TEMP TABLE pieces AS SELECT * FROM (VALUES "
                + ", ".join(f"({max(a - 1, 0)}, {a}, {b})" for a, b in pieces)
                + ") AS p(before, start, stop)"
            )
            whole = whole and (portion > 0 or _sorted_by_user(con))
            used += sum(b - a for a, b in pieces)
            sample = Sample.USERS if whole else Sample.ROWS
            yield Portion(_WHOLE_USERS if whole else _ROWS, sample, used / groups[-1])

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the comma-separated cells of requested rows."""
        with reachable(con, path) as source:
            yield from texts_by_number(batches, cancelled, partial(_row_texts, con, source))


READER = ParquetReader()
