"""Reader of text: line scanner and database reader run side by side."""

import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from explorer.checkins.database import check, run, written_file
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, IsCancelled, Preview, Reason
from explorer.checkins.parsing.encodings import invalid_note
from explorer.checkins.parsing.line_scanner import CopyNeeded, scan_lines
from explorer.checkins.parsing.quoted import FIELD_SEPARATOR, LINE_SEPARATOR
from explorer.checkins.parsing.sql import TEXT_ID, text_source, typed_rows, with_added
from explorer.checkins.parsing.streams import blocks, decoded_chunks, raw_chunks
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    HEAD_ROWS,
    CheckHead,
    FileStart,
    Plan,
    Portion,
    ReaderOutput,
    head_statistics,
)
from explorer.checkins.readers.text_portions import text_portions
from explorer.checkins.readers.text_preview import preview_text
from explorer.checkins.scan import EXAMPLE_LENGTH, EXAMPLES, Damage, LineArray, Scan, lines_up_to
from explorer.checkins.store import PARQUET, ROWS, Tick, count

MIN_FREE = 256_000_000
"""Free disk space in bytes that a copy must leave."""

_BETWEEN_LOOKS = 64_000_000
"""Bytes of the copy between two checks of the disk space."""


class _Copy:
    """Writes the copy of the lines and stops before the disk is full."""

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


class _TextLoad:
    """Writes ``rows.parquet`` of one text file: all rows in file order, typed and validated.

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
        check_head: CheckHead,
    ) -> None:
        self._con = con
        self._plan = plan
        self._folder = folder
        self._note = note
        self._preparing, self._reading = stages
        self._check_head = check_head
        self._size = plan.path.stat().st_size
        self._rows = folder / ROWS
        self.source = plan.path
        self.scan = Scan()

    @property
    def copied(self) -> bool:
        """Whether the database reads a copy."""
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
                integers = self._check_first_rows()
                run(
                    self._con,
                    self._statement(integers),
                    self._reading,
                    meanwhile=lambda: self._pass_over(None, self._follow_reader),
                )
            except CopyNeeded:
                integers = None
        if integers is None:
            self._write_copy()
            integers = self._check_first_rows()
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

    def texts(self, lines: list[int]) -> dict[int, str]:
        """Return the text of lines, located by the checkpoints of the scan."""
        dialect, malformed = self._plan.dialect, self.scan.malformed_texts
        wanted = [line for line in lines if line not in malformed]
        missing = self.scan.not_copied() if self.copied else None
        given = _lines_of(self.source, self.scan.checkpoints, missing, wanted)

        def shown(line: int) -> str:
            raw = malformed.get(line) or given.get(line, b"")
            text = raw[: 4 * EXAMPLE_LENGTH].decode(errors="replace")
            if line in given and self.copied and dialect.quoted:
                text = text.replace(FIELD_SEPARATOR, dialect.delimiter)
                return text.replace(LINE_SEPARATOR, " ")
            return text

        return {line: shown(line) for line in lines}

    def note_invalid(self) -> None:
        """Add a note if lines are invalid in the encoding, which may be the wrong one."""
        scan, encoding = self.scan, self._plan.dialect.encoding
        lines, codes = scan.malformed.arrays()
        invalid = lines[codes == Reason.INVALID_BYTES.code]
        if invalid.size:
            texts = [scan.malformed_texts.get(int(line), b"") for line in invalid[:EXAMPLES]]
            scan.damage.notes.append(invalid_note(invalid.size, encoding, texts))

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
        above = 0 if self.copied else dialect.lines_above
        table = text_source(file, separator, above, plan.fields_read, parallel)
        return with_added(table, plan.width, plan.added)

    def _typed(self, table: str, integers: bool) -> str:
        plan = self._plan
        return typed_rows(
            table,
            plan.mapping,
            None if plan.wide else plan.width,
            integers,
            plan.dialect.decimal,
            len(self.scan.joined) > 0,
            noted=True,
        )

    def _statement(self, integers: bool, parallel: bool = True) -> str:
        rows = self._typed(self._table(self.source, parallel), integers)
        return f"COPY ({rows}) TO {written_file(self._rows)} {PARQUET}"

    def _check_first_rows(self) -> bool:
        """Check the first rows; return whether all ids are integers.

        Raises
        ------
        CopyNeeded
            If there are quotes, which the reader does not understand.
        """
        dialect = self._plan.dialect
        head = self._folder / "head.txt"
        with self.source.open("rb") as file, head.open("wb") as copy:
            left = 8 << 20
            for _ in range(HEAD_ROWS + dialect.lines_above):
                line = file.readline(left)
                left -= len(line)
                copy.write(line)
                if dialect.quoted and not self.copied and b'"' in line:
                    raise CopyNeeded
                if not line or left <= 0:
                    break
        typed = self._typed(self._table(head), integers=False)
        statistics = head_statistics(self._con, typed, lambda _: self._reading(0.0))
        head.unlink()
        self._check_head(statistics)
        return statistics.integers and not self._plan.text_ids


def _lines_of(
    source: Path,
    checkpoints: list[tuple[int, int]],
    missing: tuple[LineArray, LineArray] | None,
    wanted: list[int],
) -> dict[int, bytes]:
    """Return the bytes of lines of the file that the database read.

    Parameters
    ----------
    missing : (starts, lengths) or None
        Ranges of lines that are not in that file.
    """
    found: dict[int, bytes] = {}
    starts = [lines for lines, _ in checkpoints]

    def absent(line: int) -> int:
        return 0 if missing is None else lines_up_to(*missing, line)

    with source.open("rb") as file:
        at, line = -1, 0
        for number in wanted:
            block = bisect_right(starts, number - 1) - 1
            if block != at:
                at, line = block, starts[block]
                file.seek(checkpoints[block][1])
            for _ in range(number - line - (absent(number) - absent(line)) - 1):
                file.readline()
            found[number] = file.readline().rstrip(b"\r\n")
            line = number
    return found


class TextReader:
    """Reader of text, the fallback for unknown formats."""

    name = "SNAP text, CSV, TSV (plain or .gz)"
    suffixes = (".txt", ".tsv", ".csv", ".gz")

    def can_read(self, head: bytes) -> float:
        """Return 0.1: text has no signature."""
        return 0.1

    def preview(self, start: FileStart) -> Preview:
        """Guess encoding, delimiter, header and columns."""
        return preview_text(start)

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write all rows.

        Raises
        ------
        CheckinError
            If lines are lost on the way, or an archive does not fit on the disk.
        """
        stages = (work.stage("Preparing"), work.stage("Reading"))
        reading = _TextLoad(con, plan, folder, work.note, stages, check_head)
        reading.read()
        reading.note_invalid()
        return ReaderOutput(reading.scan, reading.texts)

    def portions(
        self, con: Any, plan: Plan, folder: Path, whole_users: bool, cancelled: IsCancelled | None
    ) -> Iterator[Portion]:
        """Yield blocks from all over the file; of archives, growing parts of the beginning."""
        return text_portions(plan, folder, whole_users, cancelled)

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield requested lines, in one pass over the file."""
        wanted = chain.from_iterable(batches)
        target = next(wanted, None)
        before = 0
        chunks = raw_chunks(path, dialect, None, Damage(), lambda _: check(cancelled))
        for block in blocks(decoded_chunks(chunks, dialect)):
            if target is None:
                break
            if isinstance(block, int):
                before += 1
                if target is not None and target == before:
                    yield f"({block} bytes)"
                    target = next(wanted, None)
                continue
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
            lines = int(ends.size) + (not block.endswith(b"\n"))
            while target is not None and target <= before + lines:
                at = target - before - 1
                start = int(ends[at - 1]) + 1 if at else 0
                stop = int(ends[at]) if at < ends.size else len(block)
                yield block[start:stop].removesuffix(b"\r").decode(errors="replace")
                target = next(wanted, None)
            before += lines


READER = TextReader()
