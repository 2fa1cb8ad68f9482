"""Scans the lines of a text file: sha256, line counts, lines unsafe for a CSV reader.

DuckDB's reader skips blank lines, replaces invalid bytes, splits at stray carriage returns, and
loses lines longer than its buffer and the row after a megabyte of blank lines. The scanner finds
all such lines itself, so that line numbers and counts never depend on the reader. A file without
them is read in place; otherwise a copy without them is written during the scan. Only a few bytes
are stored per line, because all lines of a file may be of this kind.
"""

import codecs
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from explorer.checkins.model import Dialect, Reason
from explorer.checkins.parsing.header import HeaderLines, Line
from explorer.checkins.parsing.quoted import FIELD_SEPARATOR, LINE_SEPARATOR, RecordJoiner, RowShape
from explorer.checkins.parsing.streams import blocks, decoded_chunks, raw_chunks
from explorer.checkins.scan import EXAMPLE_LENGTH, EXAMPLES, LineArray, Scan

MIN_COUNTED = 64
"""Number of fields above which the scanner counts them, to spare the reader."""

MAX_BLANK = 1000
"""Maximum number of consecutive blank lines passed to the reader."""

_STRAY_CR = re.compile(rb"\r(?!\n)")


class Copy(Protocol):
    """Target of the copy for the reader."""

    def write(self, data: bytes, /) -> int:
        """Append data."""
        ...


class CopyNeeded(Exception):  # noqa: N818  (a signal, not an error)
    """A line was found that the reader must not see."""


class LineScanner:
    """Scans blocks of whole lines and passes on those safe for the reader.

    Parameters
    ----------
    shape : RowShape
        Lines with another number of fields are malformed above `MIN_COUNTED` fields.
    copy : Copy or None
        Receives the lines for the reader.
    offset : int
        Where the first block begins in the file the reader is given.
    """

    def __init__(
        self, dialect: Dialect, shape: RowShape, scan: Scan, copy: Copy | None, offset: int
    ) -> None:
        self._dialect = dialect
        self._scan = scan
        self._copy = copy
        self._offset = offset
        self._above = HeaderLines(dialect)
        self._delimiter = dialect.delimiter.encode()
        self._fields = shape.width if shape.width > MIN_COUNTED else None
        self._examples: dict[Reason, int] = {}
        self._joiner = RecordJoiner(shape, self._fault, self._record, self._blank, self._reject)

    def feed(self, block: bytes | int) -> None:
        """Process the next block of whole lines, or the length of an overlong line.

        Raises
        ------
        CopyNeeded
            If there is a line the reader must not see and no copy is being written.
        """
        scan = self._scan
        if isinstance(block, int):
            self._joiner.finish()
            scan.lines += 1
            if self._above.left:
                self._take_above(b"(%d bytes)" % block)
                return
            self._reject(scan.lines, Reason.LINE_TOO_LONG, b"(%d bytes)" % block)
            return
        if self._above.left:
            block = self._take_header(block)
        if not block:
            return
        if not self._joiner.open:
            scan.checkpoints.append((scan.lines, self._offset))
        if self._joiner.open or self._is_malformed(block):
            self._feed_lines(block)
            return
        ends = np.frombuffer(block, np.uint8) == ord("\n")
        lines = int(np.count_nonzero(ends)) + (not block.endswith(b"\n"))
        if ends[0] or np.any(ends[1:] & ends[:-1]) or b"\r" in block:
            blank = np.flatnonzero(_blank(block, np.flatnonzero(ends)))
            scan.blank.add_many(blank + (scan.lines + 1))
            if blank.size == lines:  # of so many in a row the reader would lose the next one
                if self._copy is None and lines > MAX_BLANK:
                    raise CopyNeeded
                if self._copy is not None:
                    scan.dropped.add_many(blank + (scan.lines + 1))
                    block = b""
        scan.lines += lines
        if self._copy is not None and self._dialect.quoted:
            block = block.replace(self._delimiter, FIELD_SEPARATOR.encode())
        self._pass_on(block)

    def finish(self) -> None:
        """Signal the end of the input."""
        self._joiner.finish()

    def cut_off(self, text: bytes) -> None:
        """Process a truncated last line."""
        self._joiner.finish()
        self._scan.lines += 1
        self._reject(self._scan.lines, Reason.CUT_OFF, text.removesuffix(b"\r"))

    def _take_header(self, block: bytes) -> bytes:
        """Remove the lines above the first row from a block."""
        at = 0
        while at < len(block) and self._above.left:
            end = block.find(b"\n", at)
            stop = len(block) if end < 0 else end + 1
            self._scan.lines += 1
            self._take_above(block[at:stop].rstrip(b"\r\n"))
            at = stop
        if self._copy is None:
            self._offset += at
        return block[at:]

    def _take_above(self, line: bytes) -> None:
        """Count a line above the first row."""
        scan, kind = self._scan, self._above.next(line)
        ranges = {Line.BEFORE: scan.before, Line.BLANK: scan.blank, Line.NAMES: scan.names}
        ranges[kind].add(scan.lines)
        if self._copy is None and (scan.blank or self._fault(line)):
            raise CopyNeeded  # the reader would count lines in another way

    def _is_malformed(self, block: bytes) -> bool:
        if b"\0" in block:
            return True
        if self._dialect.quoted and (b'"' in block or _has_separator(block)):
            return True
        if b"\r" in block and _STRAY_CR.search(block):
            return True
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError:
                return True
        return self._fields is not None and self._is_ragged(block)

    def _is_ragged(self, block: bytes) -> bool:
        """Return whether a non-blank line has another number of fields."""
        if len(self._delimiter) > 1:
            return True
        places = np.flatnonzero(np.frombuffer(block, np.uint8) == self._delimiter[0])
        stops = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
        if not block.endswith(b"\n"):
            stops = np.append(stops, len(block))
        delimiters = np.diff(np.searchsorted(places, stops), prepend=0)
        assert self._fields is not None
        return bool(np.any((delimiters != self._fields - 1) & ~_blank(block, stops)))

    def _reject(self, line: int, reason: Reason, text: bytes) -> None:
        if self._copy is None:
            raise CopyNeeded
        self._scan.malformed.add(line, reason)
        seen = self._examples.get(reason, 0)
        if seen < EXAMPLES:
            self._examples[reason] = seen + 1
            self._scan.malformed_texts[line] = text[: 4 * EXAMPLE_LENGTH]

    def _feed_lines(self, block: bytes) -> None:
        """Process each line separately; slow, only for blocks with malformed lines."""
        if self._copy is None:
            raise CopyNeeded
        for line in block.split(b"\n")[: -1 if block.endswith(b"\n") else None]:
            self._scan.lines += 1
            line = line.removesuffix(b"\r")
            if self._dialect.quoted:
                self._joiner.feed(self._scan.lines, line)
            else:
                self._feed_line(self._scan.lines, line)

    def _feed_line(self, number: int, line: bytes) -> None:
        reason = self._fault(line)
        if reason is None and line and self._fields is not None:
            reason = self._ragged(line.count(self._delimiter) + 1)
        if reason is not None:
            self._reject(number, reason, line)
        elif not line:
            self._blank(number)
        else:
            self._pass_on(line + b"\n")

    def _ragged(self, fields: int) -> Reason | None:
        """Return the reason for a wrong number of fields, if the scanner counts them."""
        if self._fields is None or fields == self._fields:
            return None
        return Reason.TOO_MANY_FIELDS if fields > self._fields else Reason.TOO_FEW_FIELDS

    def _record(self, first: int, last: int, fields: list[str]) -> None:
        """Process a record of a quoted file."""
        text = FIELD_SEPARATOR.join(fields).replace("\n", LINE_SEPARATOR).encode() + b"\n"
        reason = self._ragged(len(fields))
        if text == b"\n":  # a pair of quotes and nothing else; the reader would skip it
            reason = Reason.TOO_FEW_FIELDS
        if reason is not None:
            self._reject(first, reason, self._dialect.delimiter.join(fields).encode())
        else:
            self._pass_on(text)
        if last > first:
            self._scan.joined.add(first + 1, last - first)

    def _blank(self, number: int) -> None:
        self._scan.blank.add(number)
        self._scan.dropped.add(number)

    def _pass_on(self, text: bytes) -> None:
        self._offset += len(text)
        if self._copy is not None:
            self._copy.write(text)

    def _fault(self, line: bytes) -> Reason | None:
        """Return why the reader must not see a line, apart from quotes and field counts."""
        if b"\0" in line or b"\r" in line:
            return Reason.CONTROL_CHARACTER
        if self._dialect.quoted and _has_separator(line):
            return Reason.CONTROL_CHARACTER
        if not line.isascii():
            try:
                line.decode()
            except UnicodeDecodeError:
                return Reason.INVALID_BYTES
        return None


def _has_separator(text: bytes) -> bool:
    return FIELD_SEPARATOR.encode() in text or LINE_SEPARATOR.encode() in text


def _blank(block: bytes, stops: LineArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of blank lines, given the positions of their ends."""
    lengths = np.diff(stops, prepend=-1) - 1
    blank: np.ndarray[Any, np.dtype[np.bool_]] = lengths == 0
    if b"\r" in block:
        text = np.frombuffer(block, np.uint8)
        blank |= (lengths == 1) & (text[np.maximum(stops - 1, 0)] == ord("\r"))
    return blank


def scan_lines(
    path: Path,
    dialect: Dialect,
    shape: RowShape,
    copy: Copy | None,
    tick: Callable[[int, int], None],
    fingerprint: bool = True,
) -> Scan:
    """Scan a text file once.

    Parameters
    ----------
    shape : RowShape
        What a line looks like that is a row.
    copy : Copy or None
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
    raw = raw_chunks(path, dialect, digest, scan.damage, lambda done: tick(done, scan.lines))
    mark = len(codecs.BOM_UTF8) if copy is None and dialect.encoding == "utf-8-sig" else 0
    scanner = LineScanner(dialect, shape, scan, copy, mark)
    for block in blocks(decoded_chunks(raw, dialect)):
        if scan.damage.cut and isinstance(block, bytes) and not block.endswith(b"\n"):
            whole, newline, rest = block.rpartition(b"\n")
            scanner.feed(whole + newline)
            scanner.cut_off(rest)
        else:
            scanner.feed(block)
    scanner.finish()
    if digest is not None:
        scan.fingerprint = digest.hexdigest()
    return scan
