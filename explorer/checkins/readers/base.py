"""Interface of the readers, and code they share.

To add a format, write a module with a `Reader` and add it to `readers.READERS`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from explorer.checkins.database import check, run, written_file
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import (
    Candidate,
    Dialect,
    IsCancelled,
    Mapping,
    Preview,
    Question,
    Reason,
    with_suggestions,
)
from explorer.checkins.parsing.ambiguities import NO_USER, Table, open_questions
from explorer.checkins.parsing.guess_columns import (
    fitting_share,
    guess_mapping,
)
from explorer.checkins.parsing.line_scanner import MIN_COUNTED
from explorer.checkins.parsing.numbers import decimal_sign
from explorer.checkins.parsing.quoted import RowShape
from explorer.checkins.parsing.row_rules import known_system, typed_rows, with_added
from explorer.checkins.parsing.streams import CHUNK
from explorer.checkins.progress import LoadProgress
from explorer.checkins.scan import Scan
from explorer.checkins.store import PARQUET, ROWS, Tick


@dataclass(frozen=True)
class Plan:
    """A file and how it is read.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    path : Path
        Where it can be read; perhaps a link.
    dialect : Dialect
    mapping : Mapping
        With user (or unit), lat and lon.
    width : int
        Fields of a line.
    duplicates : bool
        Whether rows that repeat an earlier one are rejected.
    fingerprint : bool
        Whether the sha256 is taken.
    added : tuple of (str or None)
        Columns after the fields, constant in the file: values from the names of its folders.
    text_ids : bool
        Whether user ids stay text even if all are whole numbers.
    part : int
        Which of several files it is, from 0.
    """

    name: str
    path: Path
    dialect: Dialect
    mapping: Mapping
    width: int
    duplicates: bool
    fingerprint: bool
    added: tuple[str | None, ...] = ()
    text_ids: bool = False
    part: int = 0

    def at(self, path: Path) -> Plan:
        """Return the plan for another path to the same file."""
        return replace(self, path=path)

    @property
    def wide(self) -> bool:
        """Whether the line scanner counts fields and the last columns are not read."""
        return self.width > MIN_COUNTED

    @property
    def fields_read(self) -> int:
        """Number of fields per line that the reader receives."""
        mapped = max(c for c in self.mapping.columns if c < self.width) + 1
        return mapped if self.wide else self.width

    @property
    def shape(self) -> RowShape:
        """Shape of a line that is a row."""
        mapping, dialect = self.mapping, self.dialect
        assert mapping.lat is not None
        assert mapping.lon is not None
        plane, limits = mapping.plane_there, (90.0, 180.0)
        if mapping.crs:
            limits = math.inf, math.inf
        if plane is not None:
            limits = max(-plane.low, plane.high), max(-plane.left, plane.right)
        if mapping.order:
            return RowShape(self.width, dialect.delimiter, dialect.decimal)
        degrees = ((mapping.lat, limits[0]), (mapping.lon, limits[1]))
        return RowShape(self.width, dialect.delimiter, dialect.decimal, degrees)


HEAD = 1 << 20
"""Files up to this size in bytes are not sampled."""

HEAD_ROWS = 10_000
"""Rows validated before the rest is read."""

PREVIEW_ROWS = 50
MAX_UNSAMPLED_BYTES = 4_000_000
"""Files up to this size in bytes are not sampled."""

MAX_FIELDS = 20_000

_NOT_THE_MAPPING = (Reason.ZERO_ZERO, Reason.DUPLICATE)
"""Reasons that do not indicate a wrong mapping."""


@dataclass(frozen=True)
class FileStart:
    """The beginning of a file, and the user's choices on how to read it.

    Attributes
    ----------
    path : Path
    size : int
        Bytes on disk.
    head : bytes
        The first `HEAD` bytes.
    delimiter, encoding, decimal : str or None
        Chosen by the user, for text; guessed if None.
    layer : str or None
        Layer or sheet chosen by the user, in files with several.
    cancelled : callable or None
        Called every few milliseconds; True stops.
    unpack : bool
        As in `Dialect`.
    header : int or None
        As in `Mapping`, for text.
    """

    path: Path
    size: int
    head: bytes
    delimiter: str | None = None
    encoding: str | None = None
    layer: str | None = None
    cancelled: IsCancelled | None = None
    decimal: str | None = None
    unpack: bool = False
    header: int | None = None

    @property
    def name(self) -> str:
        """File name for messages."""
        return shown_name(self.path)

    def check(self) -> None:
        """Raise `LoadCancelled` if the load is cancelled."""
        check(self.cancelled)


@dataclass(frozen=True)
class HeadStatistics:
    """Counts of invalid rows among the first rows of a file.

    Attributes
    ----------
    total : int
    failing : dict of Reason to int
        Rows that fail for reasons that the mapping may be to blame for.
    integers : bool
        Whether all user ids are spelt as 64-bit integers.
    """

    total: int
    failing: dict[Reason, int]
    integers: bool

    @property
    def share(self) -> float:
        """Share of invalid rows."""
        return sum(self.failing.values()) / self.total if self.total else 0.0


CheckHead = Callable[[HeadStatistics], None]
"""Callback with the statistics of the first rows; may raise."""


@dataclass(frozen=True)
class ReaderOutput:
    """Result of `Reader.write_rows`.

    Attributes
    ----------
    scan : Scan
        Account of the lines that are not in ``rows.parquet``.
    texts : callable
        Returns the texts of a few line numbers (ascending).
    """

    scan: Scan
    texts: Callable[[list[int]], dict[int, str]]


PHASES = (0.5, 0.0, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)
"""Offsets of later portions between two positions of the first."""

PORTIONS = ((0, 1), (1, 2), (2, 4), (4, 8))
"""Range of `PHASES` of each portion: each doubles the rows read."""


def evenly_spaced(first: int, stop: int, number: int, length: int) -> list[list[int]]:
    """Return evenly spaced start positions in [first, stop) for each portion.

    Parts of the given length do not overlap and cover at most half of the file; longer parts give
    fewer portions.
    """
    spacing = (stop - first) / number
    return [
        [first + int((i + phase) * spacing) for i in range(number) for phase in PHASES[low:high]]
        for low, high in PORTIONS
        if 2 * high * length <= spacing
    ]


class Sample(StrEnum):
    """Kind of sample that a portion is."""

    USERS = "users"
    ROWS = "rows"
    BEGINNING = "beginning"


@dataclass(frozen=True)
class Portion:
    """A sample of rows, available long before the whole file is read.

    Attributes
    ----------
    rows : str
        Query of `typed_rows`, without rows of earlier portions; valid until the next portion is
        requested.
    sample : Sample
        Users with all of their rows, each equally likely; rows; or the file's beginning.
    share : float
        Share of the file read for this portion and those before it, 0…1.
    """

    rows: str
    sample: Sample
    share: float


@runtime_checkable
class SampledReader(Protocol):
    """A reader that can sample rows from all over a file."""

    def portions(
        self, con: Any, plan: Plan, folder: Path, whole_users: bool, cancelled: IsCancelled | None
    ) -> Iterator[Portion]:
        """Yield growing samples from all over the file, the first soon; none of small files.

        Parameters
        ----------
        con : DuckDB connection
        plan : Plan
        folder : Path
            For temporary files.
        whole_users : bool
            Whether users are sampled with all of their rows if the file is sorted by user.
        cancelled : callable or None
            Called every few milliseconds; True stops.
        """
        ...


class Reader(Protocol):
    """Interface of a reader of one format.

    Attributes
    ----------
    name : str
        Display name of the format.
    suffixes : tuple of str
        Usual suffixes of such files: ``(".csv", ".tsv")``.
    """

    name: str
    suffixes: tuple[str, ...]

    def can_read(self, head: bytes) -> float:
        """Return the confidence, 0…1, that a file with this beginning has the format."""
        ...

    def preview(self, start: FileStart) -> Preview:
        """Guess the columns and how they are read. The dialect must name this reader.

        Raises
        ------
        CheckinError
            If the file can't be used; the message names file, fault and remedy.
        """
        ...

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write ``rows.parquet``: all rows in file order, typed and validated (`typed_rows`).

        Parameters
        ----------
        con : DuckDB connection
        plan : Plan
        folder : Path
            Where the file goes.
        work : LoadProgress
            Receives stages, bytes and lines; raises to stop the load.
        check_head : callable
            Called with the statistics of the first rows; may raise.
        """
        ...

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the text of requested lines (from 1, ascending, in batches)."""
        ...


def check_width(name: str, width: int) -> None:
    """Raise if a file has too many columns.

    Raises
    ------
    CheckinError
    """
    if width > MAX_FIELDS:
        raise CheckinError(
            f"{name} has {width:,} columns, more than {MAX_FIELDS:,}: it is no list of check-ins. "
            "Keep the columns with user, time, latitude and longitude, and open that."
        )


def head_statistics(con: Any, rows: str, tick: Tick) -> HeadStatistics:
    """Return the statistics of a query of typed rows."""
    run(
        con,
        "CREATE OR REPLACE TEMP TABLE judged AS SELECT code, count(*) AS n, bool_and(coalesce("
        "CAST(try_cast(user_id AS BIGINT) AS VARCHAR) = user_id, false)) AS integers "
        f"FROM ({rows}) GROUP BY code",
        tick,
    )
    groups = con.execute("FROM judged").fetchall()
    counts = {code: n for code, n, _ in groups}
    failing = {Reason.of(code): n for code, n in counts.items() if code}
    return HeadStatistics(
        sum(counts.values()),
        {reason: n for reason, n in failing.items() if reason not in _NOT_THE_MAPPING},
        all(integers for code, _, integers in groups if not code),
    )


def table_preview(
    start: FileStart,
    dialect: Dialect,
    columns: tuple[str, ...],
    rows: Sequence[Sequence[str | None]],
    crs: str | None = None,
    layers: tuple[str, ...] = (),
    serials: str = "",
) -> Preview:
    """Return the preview of a table with named columns and text cells.

    Parameters
    ----------
    start : FileStart
    dialect : Dialect
        With the reader's key, and the layer.
    columns : tuple of str
    rows : sequence of sequence of str or None
    crs : str or None
        Reference system of geometries as described by the file; the first two columns are then y
        and x. None without geometries.
    layers : tuple of str
        Layers that the user may select.
    serials : str
        As in `Preview`.
    """
    body = [tuple("" if cell is None else str(cell) for cell in row) for row in rows]
    decimal = start.decimal or decimal_sign(body)
    names = columns if crs is None else ("latitude", "longitude", *columns[2:])
    guess = guess_mapping(
        names if dialect.has_header else (),
        body,
        len(columns),
        decimal,
        start.check,
        NO_USER,
        serials=serials,
    )
    mapping, guessed_questions = guess.mapping, guess.questions
    if crs is not None:
        system = known_system(crs)
        guessed = None if mapping.crs is None else ""  # as guessed from the magnitudes
        mapping = replace(mapping, lat=0, lon=1, crs=guessed if system == "" else system)
        guessed_questions = tuple(one for one in guessed_questions if one.key != "position")
    named = len(columns) if dialect.has_header else 0
    table = Table(columns, body, mapping, decimal, named, serials)
    questions = open_questions(table, guessed_questions)
    if layers and not dialect.layer:
        questions = (_which_layer(layers),)  # what else is open depends on the answer
    return Preview(
        start.name,
        start.size,
        replace(dialect, decimal=decimal),
        columns,
        tuple(body[:PREVIEW_ROWS]),
        mapping,
        fitting_share(body, with_suggestions(mapping, questions), len(columns), decimal),
        layers=layers,
        questions=questions,
        sample=tuple(body),
        serials=serials,
    )


def _which_layer(layers: tuple[str, ...]) -> Question:
    return Question(
        "layer",
        "Which table holds the check-ins?",
        f"The file has several tables: {', '.join(layers)}; say which one.",
        ("layer",),
        tuple(Candidate(name, (("layer", name),)) for name in layers),
    )


def write_table(
    con: Any,
    plan: Plan,
    folder: Path,
    work: LoadProgress,
    check_head: CheckHead,
    table: Callable[[int | None], str],
    fault: str = "",
) -> Scan:
    """Write ``rows.parquet`` of a database table; line numbers are row numbers.

    Parameters
    ----------
    con, plan, folder, work, check_head
        As in `Reader.write_rows`.
    table : callable
        Returns a table expression with text columns ``c0…`` in file order: of at most so many
        rows, or of all for None.
    fault : str
        Column with the code of the reason to reject a row; empty if there is none.
    """
    scan, reading = Scan(), work.stage("Reading")

    def digest() -> None:
        sha256, done = hashlib.sha256(), 0
        with plan.path.open("rb") as file:
            while chunk := file.read(CHUNK):
                sha256.update(chunk)
                done += len(chunk)
                work.note(done, scan.lines)
        scan.fingerprint = sha256.hexdigest()

    def typed(limit: int | None = None) -> str:
        rows = with_added(table(limit), plan.width, plan.added)
        return typed_rows(
            rows, plan.mapping, None, decimal=plan.dialect.decimal, fault=fault, noted=True
        )

    scan.lines = con.execute(f"SELECT count(*) FROM {table(None)}").fetchone()[0]
    check_head(head_statistics(con, typed(HEAD_ROWS), reading))
    run(
        con,
        f"COPY ({typed()}) TO {written_file(folder / ROWS)} {PARQUET}",
        reading,
        meanwhile=digest if plan.fingerprint else None,
    )
    return scan


_Row = TypeVar("_Row")


class OneOfSeveral:
    """Base of readers of several similar formats.

    Parameters
    ----------
    key : str
        Its key in `readers.READERS`.
    name : str
    suffixes : tuple of str
    """

    def __init__(self, key: str, name: str, suffixes: tuple[str, ...]) -> None:
        self.key, self.name, self.suffixes = key, name, suffixes

    def can_read(self, head: bytes) -> float:
        """Return the confidence, 0…1, that a file with this beginning has the format."""
        raise NotImplementedError


class CopiedRows:
    """The temporary table ``copied_table``: row numbers, faults and text columns.

    Parameters
    ----------
    con : DuckDB connection
    width : int
        How many text columns ``c0…`` there are.
    """

    def __init__(self, con: Any, width: int) -> None:
        self._con, self._columns = con, [f"c{i}" for i in range(width)]
        texts = ", ".join(f"{name} VARCHAR" for name in self._columns)
        con.execute(f"CREATE OR REPLACE TEMP TABLE copied (line BIGINT, fault UTINYINT, {texts})")

    def add(
        self,
        numbers: list[int],
        faults: Sequence[Reason | None],
        cells: list[list[str | None]],
    ) -> None:
        """Add rows.

        Parameters
        ----------
        numbers : list of int
            Of the rows, from 1.
        faults : sequence of Reason or None
        cells : list of list of str or None
            Of each column.
        """
        self._con.execute(
            "INSERT INTO copied SELECT unnest(?::BIGINT[]), unnest(?::UTINYINT[]), "
            + ", ".join(["unnest(?::VARCHAR[])"] * len(self._columns)),
            [numbers, [fault.code if fault else None for fault in faults], *cells],
        )

    def texts(self, numbers: list[int]) -> dict[int, str]:
        """Return the comma-separated cells of rows by number."""
        line = ", ".join(f"coalesce({name}, '')" for name in self._columns)
        query = f"SELECT line, concat_ws(',', {line}) FROM copied WHERE line IN "
        result = self._con.execute(f"{query}(SELECT unnest(?::BIGINT[]))", [numbers])
        return dict(result.fetchall())


def copied_table(limit: int | None) -> str:
    """Return the table expression ``copied_table``, optionally limited to its first rows."""
    return "copied" if limit is None else f"(FROM copied LIMIT {limit})"


def select_rows(
    rows: Iterator[_Row],
    number: Callable[[_Row], int],
    batches: Iterator[list[int]],
    cancelled: IsCancelled | None,
) -> Iterator[_Row]:
    """Yield requested rows by number, in one pass over the file."""
    row: _Row | None = None
    for numbers in batches:
        check(cancelled)
        for wanted in numbers:
            while row is None or number(row) < wanted:
                row = next(rows)
            yield row


def texts_by_number(
    batches: Iterator[list[int]],
    cancelled: IsCancelled | None,
    texts: Callable[[list[int]], dict[int, str]],
) -> Iterator[str]:
    """Yield the texts of requested rows, looked up a batch at a time; empty for unknown numbers."""
    for numbers in batches:
        check(cancelled)
        known = texts(numbers)
        yield from (known.get(number, "") for number in numbers)


def join_cells(cells: Iterable[str | None]) -> str:
    """Return the comma-separated cells of a row."""
    return ",".join(cell or "" for cell in cells)
