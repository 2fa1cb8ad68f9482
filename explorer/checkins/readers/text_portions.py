"""Samples of a text file from evenly spaced blocks, of whole users where possible."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from explorer.checkins.database import check
from explorer.checkins.model import Dialect, IsCancelled
from explorer.checkins.parsing.header import HeaderLines
from explorer.checkins.parsing.line_scanner import LineScanner
from explorer.checkins.parsing.quoted import FIELD_SEPARATOR, split_quoted
from explorer.checkins.parsing.sql import text_source, typed_rows
from explorer.checkins.parsing.streams import MAX_LINE, blocks, decoded_chunks, raw_chunks
from explorer.checkins.readers.base import PORTIONS, SMALL, Plan, Portion, Sample, evenly_spaced
from explorer.checkins.scan import Damage, Scan

BLOCKS = 64
"""Number of blocks in the first portion."""

SHARE = 0.02
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


Part = tuple[list[bytes | int], Sample, float]
"""Blocks of whole lines, kind of sample, and share of the file read so far."""


def text_portions(
    plan: Plan, folder: Path, whole_users: bool, cancelled: IsCancelled | None
) -> Iterator[Portion]:
    """Yield growing samples of a text file; see `SampledReader.portions`."""
    size, dialect = plan.path.stat().st_size, plan.dialect
    if size < (SMALL // MIN_COMPRESSION if dialect.compressed else SMALL):
        return
    stream = (
        dialect.compressed
        or dialect.encoding.startswith(("utf-16", "utf-32"))
        or dialect.line_end != "\n"
    )

    def asked() -> None:
        check(cancelled)

    parts = _beginnings(plan, size, asked) if stream else _spread(plan, size, whole_users, asked)
    names = stream
    for lines, sample, share in parts:
        given = (
            dialect
            if names
            else replace(dialect, has_header=False, lines_before_header=0, lines_after_header=0)
        )
        yield Portion(_rows(plan, lines, given, folder / "portion.txt"), sample, share)
        names = False


def _spread(plan: Plan, size: int, whole_users: bool, asked: Callable[[], None]) -> Iterator[Part]:
    """Yield lines of evenly spaced blocks; whole users if the file is sorted by user."""
    with plan.path.open("rb") as file:
        user = plan.mapping.user or 0  # asked for with a user column only
        reader = BlockReader(file, size, plan.dialect, user, asked)
        room = size - reader.first
        block = max(int(min(SHARE * room, MAX_BYTES)) // BLOCKS, MIN_BLOCK)
        portions = evenly_spaced(reader.first, size, BLOCKS, block)
        whole = whole_users and bool(portions) and reader.sorted_by_user(portions[0])
        read = reader.whole_users if whole else reader.lines
        used = 0
        for starts in portions:
            pieces = []
            for start in starts:
                asked()
                text = read(start, start + block)
                pieces.append(text if text.endswith(b"\n") else text + b"\n")
            used += len(starts) * block
            lines = list(blocks(decoded_chunks(iter(pieces), plan.dialect)))
            yield lines, Sample.USERS if whole else Sample.ROWS, used / size


def _beginnings(plan: Plan, size: int, asked: Callable[[], None]) -> Iterator[Part]:
    """Yield growing beginnings of a stream."""
    lines: list[bytes | int] = []
    done, length, limit = 0, 0, MAX_BYTES

    def tick(place: int) -> None:
        nonlocal done
        done = place
        asked()

    chunks = raw_chunks(plan.path, plan.dialect, None, Damage(), tick)
    for block in blocks(decoded_chunks(chunks, plan.dialect)):
        if length >= limit:
            yield lines, Sample.BEGINNING, done / size
            if limit >= MAX_BYTES << len(PORTIONS) - 1:
                return
            lines, limit = [], 2 * limit
        lines.append(block)
        length += len(block) if isinstance(block, bytes) else 0


def _rows(plan: Plan, lines: list[bytes | int], dialect: Dialect, copy: Path) -> str:
    """Write the lines for the database, as a load does, and return the query."""
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
