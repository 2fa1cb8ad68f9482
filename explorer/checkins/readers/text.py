"""Reader of text files.

To load a file, line scanner and database run concurrently. For an early map, samples are taken from
evenly spaced blocks, of whole users where possible.
"""

from __future__ import annotations

import codecs
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from explorer.checkins.database import check, run, written_file
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, IsCancelled, Preview, Reason
from explorer.checkins.parsing.encodings import invalid_note
from explorer.checkins.parsing.header import HeaderLines
from explorer.checkins.parsing.line_scanner import CopyNeeded, LineScanner, scan_lines
from explorer.checkins.parsing.quoted import FIELD_SEPARATOR, LINE_SEPARATOR, split_quoted
from explorer.checkins.parsing.row_rules import TEXT_ID, text_source, typed_rows, with_added
from explorer.checkins.parsing.streams import MAX_LINE, blocks, decoded_chunks, raw_chunks
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    HEAD_ROWS,
    MAX_UNSAMPLED_BYTES,
    PORTIONS,
    CheckHead,
    FileStart,
    Plan,
    Portion,
    ReaderOutput,
    Sample,
    evenly_spaced,
    head_statistics,
)
from explorer.checkins.readers.text_preview import preview_text
from explorer.checkins.scan import EXAMPLE_LENGTH, EXAMPLES, Damage, LineArray, Scan, lines_up_to
from explorer.checkins.store import PARQUET, ROWS, Tick, count

MIN_FREE = 256_000_000
"""Free disk space in bytes that a copy must leave."""

_BETWEEN_LOOKS = 64_000_000
"""Bytes of the copy between two checks of the disk space."""

FIRST_BLOCKS = 64
"""Number of blocks in the first portion."""

FIRST_SHARE = 0.02
"""Share of the file's bytes in the first portion."""

MAX_BYTES, MIN_BLOCK = 7_000_000, 16_384
"""Maximum bytes of the first portion and minimum bytes of its blocks."""

MIN_COMPRESSION = 4
"""Minimum compression ratio of archives of check-ins."""

READ_ON = 1 << 20
"""Maximum bytes read beyond a block for its last user."""

PROBED = 100
"""Lines per block that decide whether the file is sorted by user."""

_STEP = 1 << 13


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
                    f"{self._name} needs more disk space: {free / 1e6:,.0f} MB are left where its "
                    "text is unpacked. Free space on that disk, or choose another one "
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
    check_head : callable
        Called with the statistics of the first rows; may raise.

    Attributes
    ----------
    scan : Scan
        Result of the pass over the lines.
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
        self._sample_query = folder / ROWS
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
        return count(self._con, self._sample_query, test)

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
        return f"COPY ({rows}) TO {written_file(self._sample_query)} {PARQUET}"

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
    texts: dict[int, bytes] = {}
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
            texts[number] = file.readline().rstrip(b"\r\n")
            line = number
    return texts


class BlockReader:
    """Reads whole lines, or whole histories of users, from a file.

    Parameters
    ----------
    file : binary file
        Of text whose lines end with a newline, one row a line.
    size : int
        Bytes of it.
    dialect : Dialect
        How a line is split; whether there are names above the rows.
    column : int
        Which field names the user.
    check : callable
        Called now and then; may raise to stop.
    """

    def __init__(
        self, file: BinaryIO, size: int, dialect: Dialect, column: int, check: Callable[[], None]
    ) -> None:
        self._file, self._size, self._check = file, size, check
        self._delimiter, self._quoted, self._column = dialect.delimiter, dialect.quoted, column
        self._separator = dialect.delimiter.encode()
        self.first = len(codecs.BOM_UTF8) if dialect.encoding == "utf-8-sig" else 0
        """Where the first row begins."""
        above, at = HeaderLines(dialect), 0
        if above.left:
            for line in self._lines(0):
                above.next(line.rstrip(b"\r\n"))
                at += len(line)
                if not above.left:
                    break
            self.first = at

    def lines(self, start: int, stop: int) -> bytes:
        """Return the rows that begin in [start, stop), in bytes."""
        begin, end = self._line_start(start), self._line_start(stop)
        self._file.seek(begin)
        return self._file.read(max(end - begin, 0))

    def whole_users(self, start: int, stop: int) -> bytes:
        """Return all rows of the users whose first row begins in [start, stop).

        The rows that the block starts with are dropped as long as they are of the user of the row
        before it, and those behind it are read as long as they are of its last user. In a file
        sorted by user, a user is then in a block wherever its first row begins there, and in no
        other: however many rows it has, its chance is that of one place in the file.
        """
        text = self.lines(start, stop)
        begin = self._line_start(start)
        before = self._user_before(begin)
        at = 0
        while at < len(text):
            end = text.find(b"\n", at) + 1 or len(text)
            user = self.user(text[at:end])
            if user is not None and user != before:
                break
            at = end
        if at == len(text):
            return b""
        last, behind = None, len(text)
        while last is None and behind > at:
            line_begin = text.rfind(b"\n", at, behind - 1) + 1 or at
            last, behind = self.user(text[line_begin:behind]), line_begin
        rest, length = [], 0
        for line in self._lines(begin + len(text)):
            if self.user(line) not in (last, None) or length > READ_ON:
                break
            rest.append(line)
            length += len(line)
        return text[at:] + b"".join(rest)

    def user(self, line: bytes) -> bytes | None:
        """Return the user of the last row before a row start."""
        line = line.rstrip(b"\r\n")
        if self._quoted and b'"' in line:
            fields = split_quoted(line.decode(errors="replace"), self._delimiter)
            if fields is None or self._column >= len(fields):
                return None
            return fields[self._column].encode() or None
        parts = line.split(self._separator, self._column + 1)
        return parts[self._column] or None if self._column < len(parts) else None

    def sorted_by_user(self, starts: list[int]) -> bool:
        """Return whether users ascend, as numbers or as text, in the rows inspected."""
        users: list[bytes] = []
        for start in sorted(starts):
            lines = self._lines(self._line_start(start))
            for _, line in zip(range(PROBED), lines, strict=False):
                user = self.user(line)
                if user is not None:
                    users.append(user)
        try:
            numbers = [int(user) for user in users]
        except ValueError:
            return users == sorted(users)
        return numbers == sorted(numbers) or users == sorted(users)

    def _line_start(self, at: int) -> int:
        """Return the position of the first row that begins at or after `at`."""
        if at <= self.first:
            return self.first
        at -= 1
        for chunk in self._chunks(at):
            end = chunk.find(b"\n")
            if end >= 0:
                return at + end + 1
            at += len(chunk)
        return self._size

    def _user_before(self, begin: int) -> bytes | None:
        """Return the user of the last row before a row start."""
        back = 4096
        while begin > self.first:
            start = max(begin - back, self.first)
            self._file.seek(start)
            lines = self._file.read(begin - start).split(b"\n")[:-1]
            for line in reversed(lines if start == self.first else lines[1:]):
                user = self.user(line)
                if user is not None:
                    return user
            if start == self.first or back > MAX_LINE:
                break
            back *= 4
        return None

    def _lines(self, at: int) -> Iterator[bytes]:
        rest = b""
        for chunk in self._chunks(at):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line + b"\n"
            if len(rest) > MAX_LINE:
                break
        if rest:
            yield rest

    def _chunks(self, at: int) -> Iterator[bytes]:
        while True:
            self._check()
            self._file.seek(at)
            chunk = self._file.read(_STEP)
            if not chunk:
                return
            yield chunk
            at += len(chunk)


SampledLines = tuple[list[bytes | int], Sample, float]
"""Blocks of whole lines, kind of sample, and share of the file read so far."""


def text_portions(
    plan: Plan, folder: Path, whole_users: bool, cancelled: IsCancelled | None
) -> Iterator[Portion]:
    """Yield growing samples of a text file; see `SampledReader.portions`."""
    size, dialect = plan.path.stat().st_size, plan.dialect
    if size < (
        MAX_UNSAMPLED_BYTES // MIN_COMPRESSION if dialect.compressed else MAX_UNSAMPLED_BYTES
    ):
        return
    stream = (
        dialect.compressed
        or dialect.encoding.startswith(("utf-16", "utf-32"))
        or dialect.line_end != "\n"
    )

    def check_cancelled() -> None:
        check(cancelled)

    parts = (
        _beginnings(plan, size, check_cancelled)
        if stream
        else _spread(plan, size, whole_users, check_cancelled)
    )
    body = replace(dialect, has_header=False, lines_before_header=0, lines_after_header=0)
    part_dialect = dialect if stream else body
    for lines, sample, share in parts:
        query = _sample_query(plan, lines, part_dialect, folder / "portion.txt")
        yield Portion(query, sample, share)
        part_dialect = body  # the header is in the first part of a stream


def _spread(
    plan: Plan, size: int, whole_users: bool, check_cancelled: Callable[[], None]
) -> Iterator[SampledLines]:
    """Yield lines of evenly spaced blocks; whole users if the file is sorted by user."""
    with plan.path.open("rb") as file:
        user = plan.mapping.user or 0  # whole users are requested only with a user column
        reader = BlockReader(file, size, plan.dialect, user, check_cancelled)
        room = size - reader.first
        block = max(int(min(FIRST_SHARE * room, MAX_BYTES)) // FIRST_BLOCKS, MIN_BLOCK)
        portions = evenly_spaced(reader.first, size, FIRST_BLOCKS, block)
        whole = whole_users and bool(portions) and reader.sorted_by_user(portions[0])
        read = reader.whole_users if whole else reader.lines
        used = 0
        for starts in portions:
            pieces = []
            for start in starts:
                check_cancelled()
                text = read(start, start + block)
                pieces.append(text if text.endswith(b"\n") else text + b"\n")
            used += len(starts) * block
            lines = list(blocks(decoded_chunks(iter(pieces), plan.dialect)))
            yield lines, Sample.USERS if whole else Sample.ROWS, used / size


def _beginnings(
    plan: Plan, size: int, check_cancelled: Callable[[], None]
) -> Iterator[SampledLines]:
    """Yield growing beginnings of a stream."""
    lines: list[bytes | int] = []
    done, length, limit = 0, 0, MAX_BYTES

    def tick(place: int) -> None:
        nonlocal done
        done = place
        check_cancelled()

    chunks = raw_chunks(plan.path, plan.dialect, None, Damage(), tick)
    for block in blocks(decoded_chunks(chunks, plan.dialect)):
        if length >= limit:
            yield lines, Sample.BEGINNING, done / size
            if limit >= MAX_BYTES << len(PORTIONS) - 1:
                return
            lines, limit = [], 2 * limit
        lines.append(block)
        length += len(block) if isinstance(block, bytes) else 0


def _sample_query(plan: Plan, lines: list[bytes | int], dialect: Dialect, copy: Path) -> str:
    """Write lines to a file for the database, as a load does, and return the query of its rows."""
    scan = Scan()
    with copy.open("wb") as file:
        scanner = LineScanner(dialect, plan.shape, scan, file, 0)
        for block in lines:
            scanner.feed(block)
        scanner.finish()
    separator = FIELD_SEPARATOR if dialect.quoted else dialect.delimiter
    source = text_source(copy, separator, 0, plan.fields_read)
    width = None if plan.wide else plan.width
    return typed_rows(
        source, plan.mapping, width, decimal=dialect.decimal, joined=len(scan.joined) > 0
    )


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
