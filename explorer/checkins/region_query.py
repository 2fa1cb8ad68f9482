"""Queries one region directly from the source files, without an import.

Rows are filtered by the region while they are read. Only those inside are validated, compared for
duplicates and counted, so that a file larger than memory takes about as long as one scan. Rows
outside are not validated and do not appear in the report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.checkins import cache
from explorer.checkins.data import CheckinData, open_entry
from explorer.checkins.database import (
    connect,
    limit_memory,
    parquet_table,
    reachable,
    run,
    written_file,
)
from explorer.checkins.errors import CheckinError
from explorer.checkins.layout import LAYOUT, Layout
from explorer.checkins.loading import check_plan, refuse_questions
from explorer.checkins.memory import database_bytes, out_of_memory, spill_bytes
from explorer.checkins.model import (
    Box,
    Dialect,
    IsCancelled,
    LoadReport,
    Mapping,
    OnProgress,
    Preview,
    Reason,
)
from explorer.checkins.multifile import accept, head_check_of, plans_for, write_part
from explorer.checkins.parsing.crs import crs_function
from explorer.checkins.parsing.row_rules import typed_rows, with_added
from explorer.checkins.parsing.streams import CHUNK
from explorer.checkins.progress import LoadProgress
from explorer.checkins.queries import EPOCH, seconds
from explorer.checkins.readers.base import Plan
from explorer.checkins.readers.parquet import (
    NUMBER,
    NearRows,
    damaged_file,
    is_resource_error,
    near_rows,
)
from explorer.checkins.sampling import hash_ids, sample_key
from explorer.checkins.sharding import find_repeated, max_rows_in_memory, shard_folder
from explorer.checkins.sources import (
    DataFiles,
    SniffedSource,
    SniffSettings,
    Source,
    check_readable,
    sniff_source,
)
from explorer.checkins.store import PARQUET, ROWS, USERS, Tick, entry_metadata, row_id
from explorer.checkins.workers import needs_worker, run_in_worker
from explorer.user_rows import EARTH_STEP, TURN, GridBox

Flags = NDArray[np.bool_]
Columns = dict[str, NDArray[Any]]

_STEPS = tuple(
    f"CAST(round({name} * {EARTH_STEP.denominator}e0) AS INTEGER) AS {axis}"
    for name, axis in (("lat", "y"), ("lon", "x"))
)
_SECOND = f"CAST(floor(epoch_us(time) / 1e6) - {int(EPOCH.timestamp())} AS INTEGER) AS t"

_PROBED = 50_000
"""Rows of the first file that decide whether times must be read for duplicates."""

_MIXED = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that multiplication is invertible: 2⁶⁴ divided by the golden ratio."""


@dataclass
class RowsInside:
    """Rows inside the region, in the order of the files.

    Attributes
    ----------
    columns : dict of ndarray
        ``y``, ``x``; ``same`` and ``t`` if times were read; perhaps ``weight``.
    user : ndarray of int32
        By place among the names.
    names : list of str
        Of the users.
    again : ndarray of bool
        Which of them repeat an earlier one.
    """

    columns: Columns
    user: NDArray[np.int32]
    names: list[str]
    again: Flags

    @property
    def facts(self) -> tuple[Any, ...]:
        """Columns by which duplicates are found.

        Without times it is users and places alone, with a hash of these that takes less time than
        the database's.
        """
        c = self.columns
        y, x = c["y"], c["x"]
        if "same" in c:
            return c["same"], self.user, y, x, c["t"]
        same = (y.astype(np.uint64) << np.uint64(32)) | x.view(np.uint32)
        same ^= self.user.astype(np.uint64) * _MIXED
        same *= _MIXED
        return same, self.user, y, x, np.zeros_like(y)

    @property
    def extremes(self) -> list[str] | None:
        """First and last instant, if times were read."""
        t = self.columns.get("t")
        if t is None or not len(t):
            return None
        ends = (EPOCH + timedelta(seconds=int(second)) for second in (t.min(), t.max()))
        return [f"{end:%Y-%m-%dT%H:%M:%SZ}" for end in ends]

    def layout(self) -> Layout:
        """Return the layout of the rows, without duplicates."""
        rows = slice(None) if not self.again.any() else ~self.again
        columns = {name: column[rows] for name, column in self.columns.items()}
        weight = columns.get("weight")
        if weight is not None and (weight == 1).all():
            weight = None
        hashes = hash_ids(self.names, sample_key(0))
        return Layout.build(
            self.user[rows], columns["y"], columns["x"], columns.get("t"), weight, None, hashes
        )


class RegionReader:
    """Reads the rows inside a region file by file."""

    def __init__(
        self,
        con: Any,
        plans: Sequence[Plan],
        folder: Path,
        box: Box,
        inside: str,
        work: LoadProgress,
        memory: int,
    ) -> None:
        self._con, self._plans, self._folder, self._inside = con, plans, folder, inside
        self._work, self._memory, self._most = work, memory, max_rows_in_memory(memory)
        self._near = [self._near_rows(plan, box) for plan in plans]
        self.good_times = all(near is not None and near.good_times for near in self._near)
        self._by_row = plans[0].mapping.unit == "row"
        user = plans[0].mapping.user
        self._integers = all(
            near is not None and (self._by_row or user in near.typed) for near in self._near
        )

    def _near_rows(self, plan: Plan, box: Box) -> NearRows | None:
        if plan.dialect.reader != "parquet":
            return None
        with _parquet_errors(plan), reachable(self._con, plan.path) as path:
            return near_rows(self._con, plan.at(path), box)

    def probe(self) -> bool:
        """Return whether some user occurs twice at one place, so that times will be needed."""
        plan = self._plans[0]
        with _parquet_errors(plan), reachable(self._con, plan.path) as path:
            query = self._query(self._typed_source([path], 0, timed=False), plan, timed=False)
            (repeated,) = self._con.execute(
                f"SELECT count(*) > count(DISTINCT hash(user_id, y, x)) FROM ({query} "
                f"LIMIT {_PROBED})"
            ).fetchone()
        return bool(repeated)

    def rows(self, timed: bool) -> RowsInside:
        """Return the rows inside the region, of all files.

        Raises
        ------
        CheckinError
            If they are more than memory holds, or a file is damaged.
        """
        con, pieces, done, total = self._con, list[Columns](), 0, 0
        con.execute("CREATE OR REPLACE TEMP TABLE ids (name VARCHAR, place INTEGER)")
        for numbers in self._alike():
            size = sum(self._plans[number].path.stat().st_size for number in numbers)
            self._work.begin_part(done, size, total)
            pieces.append(self._piece(numbers, timed))
            done, total = done + size, total + len(pieces[-1]["y"])
            if total > self._most:
                raise CheckinError(
                    f"{self._plans[0].name}: the region has more than {self._most:,} rows, the "
                    "maximum of a region query; choose a smaller one, or open the file."
                )
        columns = pieces[0]
        if len(pieces) > 1:  # a single piece needs no copy, which takes 0.2 s for 8 million rows
            columns = {
                name: np.concatenate([piece.pop(name) for piece in pieces])
                for name in tuple(columns)
            }
        user = columns.pop("user_id")
        if self._integers:
            ids, user = _numbered(user)
            names = [str(number) for number in ids.tolist()]
        else:
            id_rows = con.execute("SELECT name FROM ids ORDER BY place").fetchall()
            names = [name for (name,) in id_rows]
        user = user.astype(np.int32, copy=False)
        return RowsInside(columns, user, names, np.zeros(len(user), bool))

    def _alike(self) -> list[list[int]]:
        """Return groups of consecutive files that can be read by one query."""

        def how(number: int) -> Any:
            near = self._near[number]
            return (
                number
                if near is None or self._by_row
                else (near.columns, near.test, self._plans[number].added)
            )

        return [list(groups) for _, groups in groupby(range(len(self._plans)), how)]

    def store_names(self, names: list[str], target: Path) -> None:
        """Write the users' ids in their order, for samples under other seeds."""
        con = self._con
        if self._integers:
            con.register("found", {"number": np.array(names, np.int64)})
            con.execute(
                "CREATE OR REPLACE TEMP TABLE ids AS SELECT number::VARCHAR AS name, "
                "row_number() OVER () AS place FROM found"
            )
            con.unregister("found")
        con.execute(
            f"COPY (SELECT name FROM ids ORDER BY place) TO {written_file(target)} {PARQUET}"
        )

    def _piece(self, numbers: list[int], timed: bool) -> Columns:
        """Return the columns of the rows inside of one group of files."""
        con, reading, plan = self._con, self._work.stage("Reading"), self._plans[numbers[0]]
        place = self._folder / f"part-{numbers[0]:06}"
        with ExitStack() as stack:
            if self._near[numbers[0]] is None:
                if not (place / ROWS).exists():
                    check_head = head_check_of(plan, self._plans[0].name) if numbers[0] else accept
                    write_part(con, plan, place, self._work, check_head)
                    limit_memory(con, self._memory, spill_bytes(self._folder))
                query = self._query(parquet_table(place / ROWS), plan, timed)
            else:
                stack.enter_context(_parquet_errors(plan))
                paths = [self._plans[number].path for number in numbers]
                paths = [stack.enter_context(reachable(con, path)) for path in paths]
                query = self._query(self._typed_source(paths, numbers[0], timed), plan, timed)
            return self._fetched(query, reading)

    def _fetched(self, query: str, tick: Tick) -> Columns:
        """Return the columns of a query, with users as numbers."""
        con = self._con
        if not self._integers:
            run(con, f"CREATE OR REPLACE TEMP TABLE piece AS {query}", tick)
            con.execute(
                "INSERT INTO ids SELECT user_id, (SELECT count(*) FROM ids) + row_number() OVER () "
                "- 1 FROM (SELECT DISTINCT user_id FROM piece WHERE user_id NOT IN "
                "(SELECT name FROM ids))"
            )
            query = (
                "SELECT piece.* REPLACE (place AS user_id) FROM piece JOIN ids ON user_id = name "
                "ORDER BY piece.rowid"
            )
        columns = run(con, query, tick, fetch=lambda result: result.fetchnumpy())
        return {name: np.asarray(column) for name, column in columns.items()}

    def _typed_source(self, paths: list[Path], number: int, timed: bool) -> str:
        """Return the typed rows near the box of one group of files."""
        near, plan = self._near[number], self._plans[number]
        assert near is not None
        mapping, typed = plan.mapping, dict(near.typed)
        if mapping.user in typed and not self._integers:
            typed[mapping.user] = f"CAST({typed[mapping.user]} AS VARCHAR)"
        if not timed:
            mapping = replace(mapping, time=None, location=None)
        source = with_added(near.table(paths, self._by_row), plan.width, plan.added)
        own = ""
        if self._by_row:
            own = row_id(plan.part, NUMBER)
            own = own if self._integers else f"CAST({own} AS VARCHAR)"
        rows = typed_rows(
            source, mapping, None, decimal=plan.dialect.decimal, typed=typed, row_id=own
        )
        return f"({rows})"

    def _query(self, rows: str, plan: Plan, timed: bool) -> str:
        """Return the query of the valid rows inside, in the order of the files."""
        columns = ["user_id", *_STEPS]
        columns += ["same", _SECOND] * timed + ["weight"] * (plan.mapping.weight is not None)
        return f"SELECT {', '.join(columns)} FROM {rows} WHERE code = 0 AND {self._inside}"


def _numbered(user: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the distinct ids, ascending, and the index of each row's id among them.

    The array is overwritten.
    """
    low, high = (int(user.min()), int(user.max())) if len(user) else (0, 0)
    if high - low > 8 * len(user):
        ids, places = np.unique(user, return_inverse=True)
        return ids, places
    # Ids that are dense need no sorting.
    user -= low
    there = np.zeros(high - low + 1, bool)
    there[user] = True
    places = np.cumsum(there, dtype=np.int32)
    places -= 1
    return np.flatnonzero(there) + low if len(user) else user, places[user]


def sql_inside(edges: GridBox, start: str | None, end: str | None) -> str:
    """Return an SQL condition for a box and a time range in whole steps and seconds."""
    per_degree = f"{EARTH_STEP.denominator}e0"
    spans = (f"round(lon * {per_degree}) BETWEEN {a} AND {b}" for a, b in edges.spans)
    tests = [
        f"round(lat * {per_degree}) BETWEEN {edges.south} AND {edges.north}",
        f"({' OR '.join(spans)})",
    ]
    for name, instant, relation in (("start", start, ">="), ("end", end, "<")):
        if instant is not None:
            at = EPOCH + timedelta(seconds=seconds(name, instant))
            tests.append(f"time {relation} TIMESTAMPTZ '{at.isoformat()}'")
    return " AND ".join(tests)


@contextmanager
def _parquet_errors(plan: Plan) -> Iterator[None]:
    """Convert database errors on a Parquet file to `CheckinError`."""
    import duckdb

    try:
        yield
    except duckdb.Error as fault:
        if plan.dialect.reader != "parquet" or is_resource_error(fault):
            raise
        raise damaged_file(plan.name, fault) from fault


_INTERPRETER = 300_000_000
"""Bytes of a worker with all imports, besides the database and its arrays."""

REGION_QUERY_NOTE = (
    "Single query: only rows in the region were read and checked for duplicates. Other rows were "
    "not validated, so none of them is counted as rejected, and users are those in the region."
)


def query_region(
    source: Source,
    box: Box,
    start: str | None = None,
    end: str | None = None,
    mapping: Mapping | None = None,
    *,
    dialect: Dialect | None = None,
    timed: bool = False,
    fingerprint: bool = False,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
    memory: int | None = None,
    sniffed: SniffedSource | None = None,
) -> CheckinData:
    """Open the check-ins of one region and time range only.

    Parameters
    ----------
    source, mapping, dialect, progress, cancelled, sniffed
        As in `explorer.checkins.open_checkins`.
    box : (south, west, north, east)
        Degrees; closed.
    start, end : str or None
        ISO 8601 instants; rows with start ≤ time < end are read.
    timed : bool
        Whether times are needed; else they are read only to find duplicates.
    fingerprint : bool
        Whether to take the sha256, for which every byte is read.
    memory : int or None
        Bytes that the database may use; default: a share of the free memory.

    Returns
    -------
    CheckinData
        Which answers about this region and time range alone. Its users and rows are those inside.

    Raises
    ------
    CheckinError, MappingNeeded, LoadCancelled
        As `open_checkins`; also if the region has more rows than memory holds.
    """
    sniffed = sniff_source(source, SniffSettings.of(mapping, dialect), cancelled, sniffed)
    files, preview = sniffed.files, sniffed.preview
    if mapping is None:
        refuse_questions(preview)
    plan = Plan(
        files.name,
        files.parts[0].path,
        dialect or preview.dialect,
        mapping or preview.mapping,
        len(preview.columns),
        duplicates=True,
        fingerprint=fingerprint,
        text_ids=True,
    )
    plan = check_plan(plan, preview)
    if plan.mapping.planar:
        raise CheckinError(
            f"{files.name}: points in a plane can't be queried by region; open the file."
        )
    work = LoadProgress(preview.size, progress, cancelled, needs_copy=False)
    entry = cache.new_entry(None)
    try:
        request = _RegionRequest(files, preview, plan, box, (start, end), timed)
        memory = memory or database_bytes()
        if needs_worker(plan.dialect):
            run_in_worker(
                _fill_in_worker,
                request,
                entry.folder,
                memory,
                name=files.name,
                cancelled=cancelled,
                memory=2 * memory + _INTERPRETER,
                report=work.relay,
            )
        else:
            _RegionQuery(request, work).fill(entry, memory)
        return open_entry(entry, files, frozenset())
    except BaseException:
        cache.discard(entry)
        raise


@dataclass(frozen=True)
class _RegionRequest:
    """Source, reading plan, region and time range of a query."""

    files: DataFiles
    preview: Preview
    plan: Plan
    box: Box
    times: tuple[str | None, str | None]
    timed: bool


def _fill_in_worker(
    request: _RegionRequest, folder: Path, database: int, cancelled: IsCancelled, report: OnProgress
) -> None:
    """Fill a cache entry in a worker."""
    work = LoadProgress(request.preview.size, report, cancelled, needs_copy=False)
    entry = cache.Entry(folder, lasting=True)
    try:
        _RegionQuery(request, work).fill(entry, database)
    finally:
        entry.close()


class _RegionQuery:
    """Reads the rows of one region and time range into an entry."""

    def __init__(self, request: _RegionRequest, work: LoadProgress) -> None:
        self._request, self._work = request, work
        self._has_times = request.plan.mapping.time is not None
        limited = request.times != (None, None)
        if limited and not self._has_times:
            raise ValueError(f"{request.files.name} has no times; choose no time range")
        self._timed = request.timed or limited
        self._inside = sql_inside(GridBox.of(request.box, turn=TURN), *request.times)

    def fill(self, entry: cache.Entry, memory: int) -> None:
        """Read the rows and store them as one shard."""
        import duckdb

        request, work, folder = self._request, self._work, entry.folder
        plan, files = request.plan, request.files
        states, size = files.states(), sum(check_readable(part.path) for part in files.parts)
        spill = folder / "spill"
        con = connect(spill, memory)
        limit_memory(con, memory, spill_bytes(folder))
        try:
            with crs_function(con, plan.mapping.crs):
                plans = plans_for(plan, files, request.preview, work.check)
                reading = RegionReader(con, plans, folder, request.box, self._inside, work, memory)
                rows = self._read(reading)
            shard = shard_folder(folder, 0)
            shard.mkdir()
            reading.store_names(rows.names, shard / USERS)
        except duckdb.OutOfMemoryException as fault:
            message = out_of_memory(plan.name, str(fault), work.doing, memory)
            raise CheckinError(message) from fault
        finally:
            con.close()
        rows.layout().save(shard / LAYOUT)
        fingerprint = files.fingerprint([_digest(one, work) for one in plans])
        if files.states() != states:
            raise CheckinError(
                f"{plan.name} was changed while it was read; repeat the query once it is complete."
            )
        again = int(np.count_nonzero(rows.again))
        valid = len(rows.again) - again
        report = LoadReport(
            valid + again,
            0,
            0,
            valid,
            {Reason.DUPLICATE: again} if again else {},
            {},
            (REGION_QUERY_NOTE,),
            seconds=work.seconds,
        )
        dialects = [one.dialect for one in plans]
        facts = entry_metadata(
            report,
            fingerprint,
            plan.mapping,
            plan.dialect,
            files.name,
            dialects,
            size,
            states,
            request.preview.columns,
        )
        facts["shards"] = {"bits": 0, "extent": list(request.box), "times": rows.extremes}
        facts["once"] = [list(request.box), *request.times]
        entry.seal(facts, work.stage("Storing"))

    def _read(self, reading: RegionReader) -> RowsInside:
        """Return the rows inside the region, of all files."""
        if not self._request.plan.mapping.may_repeat:
            return reading.rows(timed=self._has_times and self._timed)
        if not self._timed and reading.good_times and not reading.probe():
            rows = reading.rows(timed=False)
            rows.again = find_repeated(*rows.facts)
            if not rows.again.any():  # no user was twice at one place, so no rows repeat
                return rows
        rows = reading.rows(timed=True)
        rows.again = find_repeated(*rows.facts)
        return rows


def _digest(plan: Plan, work: LoadProgress) -> str:
    """Return a file's sha256; empty if it is not requested."""
    if not plan.fingerprint:
        return ""
    digest = hashlib.sha256()
    with plan.path.open("rb") as file:
        while chunk := file.read(CHUNK):
            work.check()
            digest.update(chunk)
    return digest.hexdigest()
