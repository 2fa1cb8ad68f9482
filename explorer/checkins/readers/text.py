"""Reader of text files: preview (format, encoding, header, columns), loading and samples.

To load a file, line scanner and database run concurrently. For an early map, samples are taken from
evenly spaced blocks, of whole users where possible.
"""

from __future__ import annotations

import codecs
import re
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from explorer.checkins.database import check, run, written_file
from explorer.checkins.errors import CheckinError, rows_readable
from explorer.checkins.model import (
    Candidate,
    Dialect,
    Format,
    IsCancelled,
    Mapping,
    Preview,
    Question,
    Reason,
    with_suggestions,
)
from explorer.checkins.parsing.ambiguities import NO_USER, Table, open_questions
from explorer.checkins.parsing.column_names import is_known_column
from explorer.checkins.parsing.encodings import (
    MIN_SURE_RATING,
    UTF_8,
    Detected,
    codec_with_byte_order,
    detect,
    invalid_note,
    reread,
    sampled_lines,
    shown_encoding,
)
from explorer.checkins.parsing.guess_columns import (
    fitting_share,
    guess_mapping,
    looks_like_header,
)
from explorer.checkins.parsing.header import (
    HeaderLines,
    HeaderRows,
    declared_delimiter,
    find_header,
    header_at,
    is_comment,
    strip_comment_mark,
    usual_number,
)
from explorer.checkins.parsing.line_scanner import CopyNeeded, LineScanner, scan_lines
from explorer.checkins.parsing.numbers import Rows, decimal_sign
from explorer.checkins.parsing.quoted import (
    FIELD_SEPARATOR,
    LINE_SEPARATOR,
    RecordJoiner,
    RowShape,
    split_quoted,
)
from explorer.checkins.parsing.row_rules import TEXT_ID, text_source, typed_rows, with_added
from explorer.checkins.parsing.streams import (
    MAX_LINE,
    blocks,
    decoded_chunks,
    decompress,
    raw_chunks,
)
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers import all_readers
from explorer.checkins.readers.base import (
    HEAD,
    HEAD_ROWS,
    MAX_UNSAMPLED_BYTES,
    PORTIONS,
    PREVIEW_ROWS,
    CheckHead,
    FileStart,
    Plan,
    Portion,
    ReaderOutput,
    Sample,
    check_width,
    evenly_spaced,
    head_statistics,
)
from explorer.checkins.scan import EXAMPLE_LENGTH, EXAMPLES, Damage, LineArray, Scan, lines_up_to
from explorer.checkins.store import PARQUET, ROWS, Tick, count

_JUDGED_ROWS = 2000
_OFFERED_BELOW, _MAX_OFFERED, _SHOWN_OF_LINE = 10, 80, 80
"""Number of lines below a header that may be chosen instead, of all such, and of their letters."""
_XML = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<(?:\?xml|!doctype|html)\b", re.IGNORECASE
)
MIN_CONFIDENCE = 0.5
"""Confidence above which a reader takes precedence over text."""
_GZIP = b"\x1f\x8b"
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".geojson")
_PACKED = {
    b"PK\x03\x04": "zip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a": "RAR",
}
"""Signatures of archives that must be unpacked first."""


Line = tuple[int, str]
"""Line number in the file, from 1, and text."""


@dataclass(frozen=True)
class _Record:
    """First and last line of a record, and its fields."""

    first: int
    last: int
    fields: list[str]


@dataclass(frozen=True)
class _Above:
    """Comments and delimiter declaration at the beginning of a file."""

    lines: list[Line]
    delimiter: str | None

    @classmethod
    def of(cls, lines: list[Line]) -> _Above:
        """Return the comment lines, unless most lines look like comments."""
        delimiter = declared_delimiter(lines[0][1])
        at = int(delimiter is not None)
        while at < len(lines) and is_comment(lines[at][1]):
            at += 1
        rest = lines[at:]
        if not rest or sum(is_comment(line) for _, line in rest) > len(rest) / 2:
            at = int(delimiter is not None and len(lines) > 1)
        return cls(lines[:at], delimiter if at else None)

    @property
    def number(self) -> int:
        return len(self.lines)

    @property
    def last(self) -> int:
        """Number of the last comment line; 0 if there is none."""
        return self.lines[-1][0] if self.lines else 0

    def header(self, rows: list[list[str]], delimiter: str) -> _Record | None:
        """Return the header if it is a comment: ``# user,time,lat,lon``."""
        usual = usual_number([len(row) for row in rows])
        for number, line in reversed(self.lines):
            text = strip_comment_mark(line)
            fields = split_quoted(text, delimiter) or text.split(delimiter)
            if is_comment(line) and len(fields) == usual and looks_like_header([fields, *rows]):
                mark = line[: len(line) - len(text)].strip()
                return _Record(number, number, [f"{mark} {fields[0]}", *fields[1:]])
        return None


def preview_text(start: FileStart) -> Preview:
    """Guess how a text file is read.

    Raises
    ------
    CheckinError
        If it is no text, packed other than by gzip, not in the encoding asked for, blank, or has
        too many columns.
    """
    head = start.head
    for beginning, kind in _PACKED.items():
        if head.startswith(beginning):
            raise CheckinError(
                f"{start.name} is packed ({kind}): unpack it, or pack it as .gz, then open that."
            )
    compressed = head.startswith(_GZIP)
    complete = len(head) == start.size
    if compressed:
        head, complete = _unzip_head(head, start.name, complete)
    start.check()
    _refuse_other_formats(start, head, compressed)
    if not head:
        raise CheckinError(
            f"{start.name} is an archive with nothing (readable) in it; fetch it again."
        )
    if start.encoding:
        detected = Detected(codec_with_byte_order(head, start.encoding))
    else:
        more = () if compressed or complete else sampled_lines(start.path, start.size)
        detected = detect(head if complete else head[: head.rfind(b"\n")], more)
    encoding = detected.encoding
    unfit = f"{start.name} is not text in the encoding {shown_encoding(encoding)}; choose another."
    try:
        text = decode_head(head, encoding)
    except UnicodeError:  # UTF-16 without its mark
        raise CheckinError(unfit) from None
    if encoding.startswith(("utf-16", "utf-32")) and b"\0" not in head:
        raise CheckinError(unfit)  # not even its digits are in that encoding
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    every = [line.removesuffix("\r") for line in text.split(line_end)]
    if not complete and len(every) > 1:
        every.pop()  # cut where the look ended
    lines = [(number, line) for number, line in enumerate(every, 1) if line.strip()]
    if not lines:
        raise CheckinError(f"{start.name} holds blank lines only; choose a file with check-ins.")
    if _looks_binary([line for _, line in lines]):
        raise CheckinError(
            unfit
            if start.encoding
            else (
                f"{start.name} is not a supported file. Supported: "
                f"{' or '.join(r.name for r in all_readers())}."
            )
        )
    dialect = Dialect(Format.CSV, "", encoding, compressed=compressed, line_end=line_end)
    if start.encoding and "\ufffd" in lines[0][1]:
        # There would be questions about its columns, although another encoding shows their names.
        other = preview_text(replace(start, encoding=None))
        if other.has_header and other.encoding != encoding:
            raise CheckinError(
                f"{start.name} is not text in the encoding {shown_encoding(encoding)}: its header "
                f"is not valid in it. Choose another, such as {shown_encoding(other.encoding)} "
                f"({other.encoding})."
            )
    return _preview(start, every, lines[:_JUDGED_ROWS], dialect, detected)


def _preview(
    start: FileStart, every: list[str], lines: list[Line], known: Dialect, detected: Detected
) -> Preview:
    problems: list[str] = []
    above = _Above.of(lines)
    lines = lines[above.number :]
    delimiter = start.delimiter or above.delimiter or guess_delimiter(lines, start.cancelled)
    quoted = delimiter != "\t"
    check_width(start.name, min(line.count(delimiter) for _, line in lines[:2]) + 1)
    records = _records(lines, delimiter, quoted, start.cancelled)
    rows = [record.fields for record in records]
    place, named = _header(start, above, records, delimiter)
    first = records[place.first].first if place.first < len(records) else len(every) + 1
    header, body = named is not None, rows[place.first :]
    names = tuple(named.fields) if named else ()
    last = named.first - 1 if named else above.last
    before = max((n for n in range(1, last + 1) if every[n - 1]), default=0)
    known = replace(
        known,
        has_header=header,
        lines_before_header=before,
        header_lines=named.last - named.first + 1 if named else 1,
        lines_after_header=sum(map(bool, every[named.last : first - 1])) if named else 0,
    )
    width = max(usual_number([len(row) for row in body]) if body else 0, len(names))
    check_width(start.name, width)
    columns = tuple(
        (" ".join(names[i].split()) if i < len(names) and names[i].strip() else f"column {i + 1}")
        for i in range(width)
    )
    decimal = start.decimal or decimal_sign(body)
    given = columns if header else ()
    guess = guess_mapping(given, body, width, decimal, start.check, NO_USER, delimiter == "\t")
    mapping = guess.mapping
    table = Table(columns, body, mapping, decimal, len(names))
    questions = open_questions(table, guess.questions)
    confidence = fitting_share(body, with_suggestions(mapping, questions), width, decimal)
    if delimiter == "\t":
        snap = mapping == Mapping(0, 1, 2, 3, 4 if width > 4 else None) and width in (4, 5)
        form = Format.SNAP if snap else Format.TSV
    else:
        form = Format.CSV
    if width < 3:
        problems.append(
            f"Lines have {width} field{'s' * (width != 1)}; a check-in needs user, latitude and "
            "longitude. Is the delimiter right?"
        )
    if body and not questions and confidence < 0.5:
        problems.append(rows_readable(confidence))
    if mapping.time is None and body and not any(one.key == "time" for one in questions):
        problems.append(
            "No column looks like a time: no time range can be chosen and no duplicates found."
        )
    if not body:
        problems.append("There is a header, but no row below it.")
    if known.encoding not in UTF_8:
        problems.append(f"The text is read as {shown_encoding(known.encoding)}.")
    question = _encoding_question(detected, names, body, delimiter, mapping.user)
    questions = (*([question] if question else []), *questions)
    dialect = replace(known, format=form, delimiter=delimiter, quoted=quoted, decimal=decimal)
    sample = tuple(map(tuple, body))
    starts = [number for number, _ in above.lines]
    starts += [record.first for record in records[: place.first + _OFFERED_BELOW]]
    return Preview(
        start.name,
        start.size,
        dialect,
        columns,
        sample[:PREVIEW_ROWS],
        mapping,
        confidence,
        tuple(problems),
        questions=questions,
        sample=sample,
        encoding_confidence=detected.confidence,
        header_line=named.first if named else 0,
        lines=tuple((n, every[n - 1][:_SHOWN_OF_LINE]) for n in sorted(starts)[-_MAX_OFFERED:]),
    )


def _header(
    start: FileStart, above: _Above, records: list[_Record], delimiter: str
) -> tuple[HeaderRows, _Record | None]:
    """Return the place and the record of the chosen or detected header.

    Raises
    ------
    CheckinError
        If the chosen line is none of the first.
    """
    rows = [record.fields for record in records]
    chosen = start.header
    if chosen is None:
        place = find_header(rows)
        named = records[place.header] if place.header is not None else None
        return place, named or above.header(rows, delimiter)
    if chosen == 0:
        return HeaderRows(None, 0), None
    for number, line in above.lines:
        if number == chosen:
            fields = split_quoted(line, delimiter) or line.split(delimiter)
            return HeaderRows(None, 0), _Record(number, number, fields)
    for i, record in enumerate(records):
        if record.first <= chosen <= record.last:
            return header_at(rows, i), record
    raise CheckinError(
        f"{start.name}: line {chosen} is blank or none of the first {_JUDGED_ROWS:,} lines, so it "
        "cannot be the header; choose another line, or none."
    )


def _refuse_other_formats(start: FileStart, head: bytes, compressed: bool) -> None:
    """Raise for text of another format, such as XML or JSON without objects."""
    if compressed:
        others = [r for r in all_readers() if r.can_read(head) >= MIN_CONFIDENCE]
        if others:
            raise CheckinError(
                f"{start.name} is packed {others[0].name}: unpack it, and open that."
            )
    beginning = head[:4096].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    if start.path.suffix.lower() in _JSON_SUFFIXES and beginning.startswith(
        (b"[", b"{", b'"', b"/")
    ):
        raise CheckinError(
            f"{start.name} holds no JSON objects with named values, one for each row: write it as "
            "an array of such objects or one on each line, or as CSV."
        )
    if _XML.match(head[:4096].replace(b"\0", b"")):
        raise CheckinError(
            f"{start.name} is XML or HTML, of which GPX and KML alone are read: convert it to one "
            "of these, or to CSV."
        )


def _records(
    lines: list[Line], delimiter: str, quoted: bool, cancelled: IsCancelled | None
) -> list[_Record]:
    """Return the first records; broken quotes are treated as letters."""
    records: list[_Record] = []

    def record(first: int, last: int, fields: list[str]) -> None:
        records.append(_Record(first, last, fields))

    def reject(number: int, _reason: Reason, line: bytes) -> None:
        records.append(_Record(number, number, line.decode().split(delimiter)))

    width = usual_number([line.count(delimiter) + 1 for _, line in lines])
    joiner = RecordJoiner(
        RowShape(width, delimiter), lambda _: None, record, lambda _: None, reject
    )
    for number, line in lines:
        check(cancelled)
        if quoted and (joiner.open or '"' in line):
            joiner.feed(number, line.encode())
        else:
            records.append(_Record(number, number, line.split(delimiter)))
    joiner.finish()
    return records


def _unzip_head(head: bytes, name: str, complete: bool) -> tuple[bytes, bool]:
    """Return up to `HEAD` decompressed bytes and whether they are all."""
    damage = Damage()
    out = b""
    for piece in decompress((head[at : at + 4096] for at in range(0, len(head), 4096)), damage):
        out += piece
        if len(out) > HEAD:
            break
    if not out and damage.notes and "damaged" in damage.notes[0]:
        raise CheckinError(f"{name} is a damaged archive with nothing readable; fetch it again.")
    return out[:HEAD], complete and not damage.cut and len(out) <= HEAD


def decode_head(head: bytes, encoding: str) -> str:
    """Decode a beginning that may end within a character."""
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)
    return text.removeprefix("\ufeff")


def _encoding_question(
    detected: Detected, names: Sequence[str], rows: Rows, delimiter: str, user: int | None
) -> Question | None:
    """Return the question for the encoding if it is uncertain and affects names or ids."""
    encoding = detected.encoding
    sure = detected.confidence >= MIN_SURE_RATING
    if sure and not detected.rivals:
        return None
    ids = [row[user] for row in rows if user is not None and user < len(row)]
    others: list[str] = []
    for line in detected.lines:
        text = line.decode(encoding, "replace").rstrip("\r")
        fields = split_quoted(text, delimiter) or text.split(delimiter)
        ids += fields[user : user + 1] if user is not None else []
        others += fields
    # A name that is known, such as Usuário, is none by chance; it is among the lines, too.
    known = set(filter(is_known_column, names))
    critical = [
        text for text in dict.fromkeys((*names, *ids)) if not (text.isascii() or text in known)
    ]
    differing = {
        name: text
        for name in detected.rivals
        for text in critical
        if reread(text, encoding, name) != text
    }
    if sure and not differing:
        return None
    shown = [text for text in (*differing.values(), *critical, *others) if not text.isascii()]
    example = shown[0][:40] if shown else ""
    candidates = [
        Candidate(shown_encoding(name), (("encoding", name),), reread(example, encoding, name))
        for name in dict.fromkeys((encoding, *(detected.rivals if not sure else differing)))
    ]
    why = (
        "It is not UTF-8, and in several encodings names or ids would be valid but different."
        if sure
        else f"It is not UTF-8; {shown_encoding(encoding)} fits best, but with a confidence of "
        f"{int(100 * detected.confidence)} % only."
    )
    return Question(
        "encoding", "In which encoding is the text?", why, ("encoding",), tuple(candidates)
    )


def guess_delimiter(lines: list[Line], cancelled: IsCancelled | None = None) -> str:
    """Return the delimiter that splits most lines into equally many (≥ 3, else 2) fields."""
    best, best_score = "\t", 0.0
    some = [line for _, line in lines[:200]]  # with the header: it has no decimal commas
    for delimiter in ("\t", ",", ";", "|", " "):
        check(cancelled)
        counts = [len(split_quoted(line, delimiter) or line.split(delimiter)) for line in some]
        usual = usual_number(counts[len(counts) // 2 :])  # below titles
        if usual < 2:
            continue
        score = counts.count(usual) / len(counts) * (1.0 if usual >= 3 else 0.3)
        if delimiter == " ":
            score *= 0.25  # a space is in most time stamps
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return best


def _looks_binary(lines: list[str]) -> bool:
    # blocks that were never written are zeros; they spoil one row
    text = "".join(line.strip("\0") for line in lines[:200])[:20000]
    strange = sum(1 for c in text if (c < " " and c not in "\t\x1f") or c == "\ufffd")
    return strange >= len(text) * 0.1


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
