"""Preview of text files: format, encoding, header and columns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.checkins.database import check
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
from explorer.checkins.parsing.encodings import (
    MIN_SURE_RATING,
    UTF_8,
    Detected,
    codec_with_byte_order,
    detect,
    reread,
    sampled_lines,
    shown_encoding,
)
from explorer.checkins.parsing.guess_columns import (
    fitting_share,
    guess_mapping,
    looks_like_header,
    mapping_problems,
)
from explorer.checkins.parsing.header import (
    declared_delimiter,
    find_header,
    is_comment,
    strip_comment_mark,
    usual_number,
)
from explorer.checkins.parsing.numbers import Rows, decimal_sign
from explorer.checkins.parsing.quoted import RecordJoiner, RowShape, split_quoted
from explorer.checkins.parsing.streams import decompress
from explorer.checkins.readers import all_readers
from explorer.checkins.readers.base import HEAD, PREVIEW_ROWS, FileStart, check_width
from explorer.checkins.scan import Damage

_JUDGED_ROWS = 2000
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
    place = find_header(rows)
    named = records[place.header] if place.header is not None else None
    first = records[place.first].first if place.first < len(records) else len(every) + 1
    named = named or above.header(rows, delimiter)
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
    problems += mapping_problems(columns, body, mapping, decimal)
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
    critical = [text for text in dict.fromkeys((*names, *ids)) if not text.isascii()]
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
    text = "".join(lines[:200])[:20000]
    strange = sum(1 for c in text if (c < " " and c not in "\t\x1f") or c == "\ufffd")
    return strange > len(text) * 0.1
