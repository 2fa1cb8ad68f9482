"""Text into typed rows: the pass over the lines and the database's reader, side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from explorer.checkins.database import run, written_file
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Reason
from explorer.checkins.readers.line_scanner import CopyNeeded, Scan, scan_lines
from explorer.checkins.readers.plan import Plan
from explorer.checkins.readers.quoted import FIELD_SEPARATOR
from explorer.checkins.readers.sql import TEXT_ID, text_source, typed_rows
from explorer.checkins.rows import PARQUET, ROWS, Tick, count

HEAD_ROWS = 10_000

MIN_FREE = 256_000_000
"""Bytes of disk that a copy of the lines leaves to others."""

_BETWEEN_LOOKS = 64_000_000
"""Bytes of the copy between two looks at the disk."""

_NOT_THE_MAPPING = (Reason.ZERO_ZERO, Reason.DUPLICATE)
"""Reasons that say nothing about whether the columns were told apart rightly."""


@dataclass(frozen=True)
class Judged:
    """How the first rows fare.

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
        """Share of the rows that fail."""
        return sum(self.failing.values()) / self.total if self.total else 0.0


Judge = Callable[[Judged], None]
"""Called with how the first rows fare; may raise."""


class _Copy:
    """The copy of the lines, which stops before the disk is full."""

    def __init__(self, file: IO[bytes], name: str, folder: Path) -> None:
        self._file, self._name, self._folder = file, name, folder
        self._left = 0

    def write(self, data: bytes) -> int:
        if self._left <= 0:
            free = shutil.disk_usage(self._folder).free
            if free < MIN_FREE + _BETWEEN_LOOKS:
                raise CheckinError(
                    f"{self._name} needs more room than there is: {free / 1e6:,.0f} MB are left "
                    "where its text is unpacked. Make room on that disk, or choose another one "
                    "with the environment variables XDG_CACHE_HOME and TMPDIR."
                )
            self._left = _BETWEEN_LOOKS
        self._left -= len(data)
        return self._file.write(data)


class TextReader:
    """Writes ``rows.parquet``: every line that is a row, in file order, typed and judged.

    Parameters
    ----------
    con : DuckDB connection
    plan : Plan
    folder : Path
        Where the files go.
    note : callable
        Called with bytes on disk and lines so far.
    stages : (tick, tick)
        Reporters of preparing a copy and of reading.
    judge : callable
        Called with how the first rows fare; may raise.

    Attributes
    ----------
    scan : Scan
        What the pass over the lines found.
    source : Path
        The file that the database was given.
    """

    def __init__(
        self,
        con: Any,
        plan: Plan,
        folder: Path,
        note: Callable[[int, int], None],
        stages: tuple[Tick, Tick],
        judge: Judge,
    ) -> None:
        self._con = con
        self._plan = plan
        self._folder = folder
        self._note = note
        self._preparing, self._reading = stages
        self._judge = judge
        self._size = plan.path.stat().st_size
        self._rows = folder / ROWS
        self.source = plan.path
        self.scan = Scan()

    @property
    def copied(self) -> bool:
        """Whether the database was given a copy."""
        return self.source != self._plan.path

    def read(self) -> None:
        """Read the file.

        Raises
        ------
        CheckinError
            If lines are lost on the way, or an archive does not fit on the disk.
        """
        plan, integers = self._plan, None
        if not plan.dialect.needs_copy:
            try:
                integers = self._look()
                run(
                    self._con, self._statement(integers), self._reading,
                    meanwhile=lambda: self._pass_over(None, self._follow_reader),
                )  # fmt: skip
            except CopyNeeded:
                integers = None
        if integers is None:
            self._write_copy()
            integers = self._look()
            run(self._con, self._statement(integers), self._reading)
        _, lengths = self.scan.skipped()
        expected = self.scan.lines - int(lengths.sum())
        if integers and self._count(f"code = {TEXT_ID}"):
            integers = False
            run(self._con, self._statement(integers), self._reading)
        if self._count() != expected:
            # in parallel, the reader may lose lines around the ends of its buffers
            run(self._con, self._statement(integers, parallel=False), self._reading)
        if self._count() != expected:
            raise CheckinError(
                f"{plan.name}: {expected} lines should be rows, but the reader returned "
                f"{self._count()}; convert the file to plain UTF-8 text with one row a line."
            )

    def _count(self, test: str = "true") -> int:
        return count(self._con, self._rows, test)

    def _write_copy(self) -> None:
        self.source = self._folder / "lines.txt"
        with self.source.open("wb") as file:
            copy = _Copy(file, self._plan.name, self._folder)
            self._pass_over(copy, lambda done: self._preparing(done / self._size))

    def _follow_reader(self, _done: int) -> None:
        self._reading(max(self._con.query_progress(), 0.0) / 100)

    def _pass_over(self, copy: _Copy | None, tick: Callable[[int], None]) -> None:
        def seen(done: int, lines: int) -> None:
            self._note(done, lines)
            tick(done)

        plan = self._plan
        self.scan = scan_lines(plan.path, plan.dialect, plan.shape, copy, seen, plan.fingerprint)

    def _table(self, file: Path, parallel: bool = True) -> str:
        plan, dialect = self._plan, self._plan.dialect
        separator = FIELD_SEPARATOR if dialect.quoted and self.copied else dialect.delimiter
        names = dialect.has_header and not self.copied
        return text_source(file, separator, names, plan.fields_read, parallel)

    def _typed(self, table: str, integers: bool) -> str:
        plan = self._plan
        return typed_rows(
            table,
            plan.mapping,
            None if plan.wide else plan.width,
            integers,
            plan.dialect.decimal,
            len(self.scan.joined) > 0,
        )

    def _statement(self, integers: bool, parallel: bool = True) -> str:
        rows = self._typed(self._table(self.source, parallel), integers)
        return f"COPY ({rows}) TO {written_file(self._rows)} {PARQUET}"

    def _look(self) -> bool:
        """Have the first rows judged, and return whether ids are integers.

        Raises
        ------
        CopyNeeded
            If there are quotes, which the reader does not understand.
        """
        dialect = self._plan.dialect
        head = self._folder / "head.txt"
        with self.source.open("rb") as file, head.open("wb") as copy:
            left = 8 << 20
            for _ in range(HEAD_ROWS + dialect.has_header):
                line = file.readline(left)
                left -= len(line)
                copy.write(line)
                if dialect.quoted and not self.copied and b'"' in line:
                    raise CopyNeeded
                if not line or left <= 0:
                    break
        typed = self._typed(self._table(head), integers=False)
        judged = judge_rows(self._con, typed, lambda _: self._reading(0.0))
        head.unlink()
        self._judge(judged)
        return judged.integers


def judge_rows(con: Any, rows: str, tick: Tick) -> Judged:
    """Judge some rows."""
    run(
        con,
        "CREATE OR REPLACE TEMP TABLE judged AS SELECT code, count(*) AS n, bool_and(coalesce("
        "CAST(try_cast(user_id AS BIGINT) AS VARCHAR) = user_id, false)) AS integers "
        f"FROM ({rows}) GROUP BY code",
        tick,
    )
    found = con.execute("FROM judged").fetchall()
    counts = {code: n for code, n, _ in found}
    failing = {Reason.of(code): n for code, n in counts.items() if code}
    return Judged(
        sum(counts.values()),
        {reason: n for reason, n in failing.items() if reason not in _NOT_THE_MAPPING},
        all(integers for code, _, integers in found if not code),
    )
