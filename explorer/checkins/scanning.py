"""One pass over a file's lines: fingerprint, count, and what a CSV reader can't be trusted with.

DuckDB's reader skips blank lines, replaces invalid bytes, splits at stray carriage returns and
loses lines longer than its buffer. This pass finds every such line by itself, so that line numbers
and counts never depend on the reader. A file without such lines is read where it is; otherwise a
copy without them is written on the way.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from explorer.checkins.model import Dialect, Reason
from explorer.checkins.streams import MAX_LINE, blocks, decoded_chunks, raw_chunks

FIELD_SEPARATOR = "\x1f"
"""Stands between fields in the copy of a quoted file (ASCII unit separator)."""

EXAMPLES = 20
"""Lines of each reason that a report shows."""

EXAMPLE_LENGTH = 500
"""Characters of a line that a report shows."""

_MAX_QUOTED_LINES = 100
"""A quoted field that has not ended after so many lines is taken to have lost its end."""

_STRAY_CR = re.compile(rb"\r(?!\n)")
_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)


@dataclass
class Scan:
    """What a pass over the lines found.

    Attributes
    ----------
    lines : int
        Physical lines; a last line without an end counts.
    blank : list of int
        Numbers (from 1) of lines with nothing on them.
    odd : list of (int, Reason)
        Lines that must not reach the reader.
    joined : list of int
        Lines that continue a quoted field begun on an earlier line; they are no rows of their own.
    header : int
        Number of the line with the names; 0 if there is none.
    odd_texts : dict of int to bytes
        Beginnings of the first odd lines of each reason.
    checkpoints : list of (int, int)
        Lines before a block, and where it begins in the file the reader is given.
    fingerprint : str
        sha256 of the file as it is on disk; empty if it was not asked for.
    notes : list of str
        What went wrong with an archive.
    """

    lines: int = 0
    blank: list[int] = field(default_factory=list)
    odd: list[tuple[int, Reason]] = field(default_factory=list)
    joined: list[int] = field(default_factory=list)
    header: int = 0
    odd_texts: dict[int, bytes] = field(default_factory=dict)
    checkpoints: list[tuple[int, int]] = field(default_factory=list)
    fingerprint: str = ""
    notes: list[str] = field(default_factory=list)

    def skipped(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Numbers of all lines that are no rows to the reader, ascending."""
        numbers = [*self.blank, *(line for line, _ in self.odd), *self.joined]
        if self.header:
            numbers.append(self.header)
        return np.sort(np.asarray(numbers, dtype=np.int64))


class CopyNeeded(Exception):  # noqa: N818  (a signal, not an error)
    """A line was found that the reader must not see."""


class LineScanner:
    """Looks at blocks of whole lines and passes on what the reader may see."""

    def __init__(self, dialect: Dialect, scan: Scan, copy: IO[bytes] | None, offset: int) -> None:
        self._dialect = dialect
        self._scan = scan
        self._copy = copy
        self._offset = offset
        self._pending: list[bytes] = []
        self._pending_line = 0
        self._delimiter = dialect.delimiter.encode()
        self._examples: dict[Reason, int] = {}

    def feed(self, block: bytes | int) -> None:
        """Take the next block of whole lines, or the length of a line that is too long.

        Raises
        ------
        CopyNeeded
            If there is a line the reader must not see and no copy is being written.
        """
        scan = self._scan
        if isinstance(block, int):
            self._flush_pending()
            scan.lines += 1
            self._aside(scan.lines, Reason.LINE_TOO_LONG, b"(%d bytes)" % block)
            return
        if self._dialect.has_header and not scan.header:
            block = self._take_header(block)
        if not block:
            return
        if not self._pending:
            scan.checkpoints.append((scan.lines, self._offset))
        if self._pending or self._is_odd(block):
            self._feed_lines(block)
            return
        ends = np.frombuffer(block, np.uint8) == ord("\n")
        if ends[0] or np.any(ends[1:] & ends[:-1]) or b"\r" in block:
            at, line = 0, scan.lines + 1
            for hit in _BLANK.finditer(block):
                line += block.count(b"\n", at, hit.start())
                at = hit.start()
                scan.blank.append(line)
        scan.lines += int(np.count_nonzero(ends)) + (not block.endswith(b"\n"))
        if self._copy is not None and self._dialect.quoted:
            block = block.replace(self._delimiter, FIELD_SEPARATOR.encode())
        self._pass_on(block)

    def finish(self) -> None:
        """Say that there are no more lines."""
        self._flush_pending()

    def cut_off(self, text: bytes) -> None:
        """Take a last line of which only the beginning is there."""
        self._flush_pending()
        self._scan.lines += 1
        self._aside(self._scan.lines, Reason.CUT_OFF, text)

    def _take_header(self, block: bytes) -> bytes:
        """Take lines up to and with the names off a block; a copy is written without them."""
        at = 0
        while at < len(block) and not self._scan.header:
            end = block.find(b"\n", at)
            stop = len(block) if end < 0 else end + 1
            line = block[at:stop].rstrip(b"\r\n")
            self._scan.lines += 1
            if line:
                self._scan.header = self._scan.lines
                if self._copy is None and (_fault(line) or self._scan.blank):
                    raise CopyNeeded
            else:
                self._scan.blank.append(self._scan.lines)
            at = stop
        if self._copy is None:
            self._offset += at
        return block[at:]

    def _is_odd(self, block: bytes) -> bool:
        if b"\0" in block or (self._dialect.quoted and b'"' in block):
            return True
        if b"\r" in block and _STRAY_CR.search(block):
            return True
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError:
                return True
        return False

    def _aside(self, line: int, reason: Reason, text: bytes) -> None:
        if self._copy is None:
            raise CopyNeeded
        self._scan.odd.append((line, reason))
        seen = self._examples.get(reason, 0)
        if seen < EXAMPLES:
            self._examples[reason] = seen + 1
            self._scan.odd_texts[line] = text[: 4 * EXAMPLE_LENGTH]

    def _feed_lines(self, block: bytes) -> None:
        """Judge each line by itself; slow, and only for blocks that hold an odd line."""
        if self._copy is None:
            raise CopyNeeded
        for line in block.split(b"\n")[: -1 if block.endswith(b"\n") else None]:
            self._scan.lines += 1
            self._feed_line(line.removesuffix(b"\r"))

    def _feed_line(self, line: bytes) -> None:
        scan, number = self._scan, self._scan.lines
        if self._pending:
            self._pending.append(line)
            whole = b"\n".join(self._pending)
            if whole.count(b'"') % 2 == 0:
                self._pending = []
                self._pass_on_quoted(whole, self._pending_line, number)
            elif len(self._pending) > _MAX_QUOTED_LINES or len(whole) > MAX_LINE:
                self._flush_pending()
            return
        reason = _fault(line)
        if reason is not None:
            self._aside(number, reason, line)
        elif not line:
            scan.blank.append(number)
            self._pass_on(b"\n")
        elif self._dialect.quoted and line.count(b'"') % 2:
            self._pending, self._pending_line = [line], number
        elif self._dialect.quoted:
            self._pass_on_quoted(line, number, number)
        else:
            self._pass_on(line + b"\n")

    def _flush_pending(self) -> None:
        """Give up on a quoted field that never ended: its line is broken, the next ones are not."""
        while self._pending:
            lines, first = self._pending, self._pending_line
            self._pending = []
            self._aside(first, Reason.BROKEN_QUOTES, lines[0])
            end = self._scan.lines
            for offset, line in enumerate(lines[1:], 1):
                self._scan.lines = first + offset
                self._feed_line(line)
            self._scan.lines = end

    def _pass_on_quoted(self, text: bytes, first: int, last: int) -> None:
        fields = split_quoted(text.decode(errors="replace"), self._dialect.delimiter)
        reason = _fault(text)
        if reason is None and fields is None:
            reason = Reason.BROKEN_QUOTES
        if reason is None and fields is not None and FIELD_SEPARATOR in "".join(fields):
            reason = Reason.CONTROL_CHARACTER
        if reason is not None or fields is None:
            for line, part in enumerate(text.split(b"\n"), first):
                self._aside(line, reason or Reason.BROKEN_QUOTES, part)
            return
        self._scan.joined.extend(range(first + 1, last + 1))
        self._pass_on(FIELD_SEPARATOR.join(fields).replace("\n", " ").encode() + b"\n")

    def _pass_on(self, text: bytes) -> None:
        self._offset += len(text)
        if self._copy is not None:
            self._copy.write(text)


def _fault(line: bytes) -> Reason | None:
    if b"\0" in line or b"\r" in line:
        return Reason.CONTROL_CHARACTER
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError:
            return Reason.INVALID_BYTES
    return None


def split_quoted(line: str, delimiter: str) -> list[str] | None:
    """Split one record at the delimiters outside double quotes; None if the quotes are broken.

    A field is either free of quotes or enclosed in them, with inner ones doubled (RFC 4180).
    """
    if '"' not in line:
        return line.split(delimiter)
    fields: list[str] = []
    at = 0
    while True:
        if line.startswith('"', at):
            parts: list[str] = []
            at += 1
            while True:
                end = line.find('"', at)
                if end < 0:
                    return None
                parts.append(line[at:end])
                at = end + 1
                if not line.startswith('"', at):
                    break
                parts.append('"')
                at += 1
            fields.append("".join(parts))
            if at == len(line):
                return fields
            if not line.startswith(delimiter, at):
                return None
            at += 1
        else:
            end = line.find(delimiter, at)
            text = line[at:] if end < 0 else line[at:end]
            if '"' in text:
                return None
            fields.append(text)
            if end < 0:
                return fields
            at = end + 1


def scan_lines(
    path: Path,
    dialect: Dialect,
    copy: IO[bytes] | None,
    tick: Callable[[int, int], None],
    fingerprint: bool = True,
) -> Scan:
    """Go through a text file once.

    Parameters
    ----------
    copy : binary file or None
        Where the lines that the reader may see are written.
    tick : callable
        Called with bytes on disk and lines so far; may raise to stop.

    Raises
    ------
    CopyNeeded
        If the reader must not see some line and `copy` is None.
    """
    scan = Scan()
    digest = hashlib.sha256() if fingerprint else None
    raw = raw_chunks(
        path, dialect.compressed, digest, scan.notes, lambda done: tick(done, scan.lines)
    )
    mark = len(codecs.BOM_UTF8) if copy is None and dialect.encoding == "utf-8-sig" else 0
    scanner = LineScanner(dialect, scan, copy, mark)
    for block in blocks(decoded_chunks(raw, dialect)):
        if scan.notes and isinstance(block, bytes) and not block.endswith(b"\n"):
            whole, newline, rest = block.rpartition(b"\n")
            scanner.feed(whole + newline)
            scanner.cut_off(rest)
        else:
            scanner.feed(block)
    scanner.finish()
    if digest is not None:
        scan.fingerprint = digest.hexdigest()
    return scan
