"""The beginning of a text file: format, encoding, header, and which column is which."""

import codecs
import re
from dataclasses import replace

from explorer.checkins.database import check
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Format, IsCancelled, Mapping, Preview, Reason
from explorer.checkins.readers import all_readers
from explorer.checkins.readers.archives import inflated
from explorer.checkins.readers.base import HEAD, PREVIEW_ROWS, Beginning, check_width
from explorer.checkins.readers.cells.numbers import decimal_sign
from explorer.checkins.readers.cells.questions import Table, open_questions
from explorer.checkins.readers.guess_columns import (
    fitting_share,
    guess_mapping,
    looks_like_header,
    mapping_problems,
)
from explorer.checkins.readers.quoted import RecordJoiner, RowShape, split_quoted
from explorer.checkins.scan import Damage

_JUDGED_ROWS = 2000
_GZIP = b"\x1f\x8b"
_PACKED = {
    b"PK\x03\x04": "zip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a": "RAR",
}
"""What files begin with that have to be unpacked first; a stored zip would pass for text."""
_LATIN = re.compile(rb"[A-Za-z][\xc0-\xff]|[\xc0-\xff][A-Za-z]")
_NO_LATIN = re.compile(rb"[\x80-\x9f]")
MOSTLY = 20
"""Lines that are no valid UTF-8 for each that is, in a file that is taken for Latin-1."""


def preview_text(look: Beginning) -> Preview:
    """Guess how a text file is to be read.

    Raises
    ------
    CheckinError
        If it is no text, packed other than by gzip, not in the encoding asked for, blank, or has
        too many columns.
    """
    head = look.head
    for beginning, kind in _PACKED.items():
        if head.startswith(beginning):
            raise CheckinError(
                f"{look.name} is packed ({kind}): unpack it, or pack it as .gz, then open that."
            )
    compressed = head.startswith(_GZIP)
    complete = len(head) == look.size
    if compressed:
        head, complete = _unzip_head(head, look.name, complete)
    look.check()
    if not head:
        raise CheckinError(
            f"{look.name} is an archive with nothing (readable) in it; fetch it again."
        )
    encoding = look.encoding or guess_encoding(head)
    unfit = f"{look.name} is not text in the encoding {encoding}; choose another."
    try:
        text = decode_head(head, encoding)
    except UnicodeError:  # UTF-16 without its mark
        raise CheckinError(unfit) from None
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    every = text.split(line_end)
    if not complete and len(every) > 1:
        every.pop()  # cut where the look ended
    lines = [line.removesuffix("\r") for line in every if line.strip()]
    if not lines:
        raise CheckinError(f"{look.name} holds blank lines only; choose a file with check-ins.")
    if _looks_binary(lines):
        raise CheckinError(
            unfit
            if look.encoding
            else f"{look.name} is not text: give {' or '.join(r.name for r in all_readers())}."
        )
    dialect = Dialect(Format.CSV, "", encoding, compressed=compressed, line_end=line_end)
    return _preview(look, lines, dialect)


def _preview(look: Beginning, lines: list[str], known: Dialect) -> Preview:
    problems: list[str] = []
    judged = lines[:_JUDGED_ROWS]
    delimiter = look.delimiter or guess_delimiter(judged, look.cancelled)
    quoted = delimiter != "\t"
    check_width(look.name, min(line.count(delimiter) for line in judged[:2]) + 1)
    rows = _rows(judged, delimiter, quoted, look.cancelled)
    header = looks_like_header(rows)
    names = tuple(rows[0]) if header else ()
    body = rows[1:] if header else rows
    width = max(_usual([len(row) for row in body]) if body else 0, len(names))
    check_width(look.name, width)
    columns = tuple(
        (names[i].strip() if i < len(names) and names[i].strip() else f"column {i + 1}")
        for i in range(width)
    )
    decimal = look.decimal or decimal_sign(body)
    mapping = guess_mapping(columns if header else (), body, width, decimal, look.check)
    questions = open_questions(Table(columns, body, mapping, decimal, len(names)))
    confidence = fitting_share(body, mapping, width, decimal)
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
    if body and not mapping.missing and confidence < 0.5:
        problems.append(f"Only {confidence:.0%} of the first rows can be read this way.")
    if mapping.time is None and body:
        problems.append(
            "No column looks like a time: no time range can be chosen and no duplicates found."
        )
    if not body:
        problems.append("There is a header, but no row below it.")
    if known.encoding == "latin-1":
        problems.append("The text is not UTF-8; it is read as Latin-1.")
    dialect = replace(
        known, format=form, delimiter=delimiter, has_header=header, quoted=quoted, decimal=decimal
    )
    sample = tuple(map(tuple, body))
    return Preview(
        look.name, look.size, dialect, columns, sample[:PREVIEW_ROWS], mapping, confidence,
        tuple(problems), questions=questions, sample=sample,
    )  # fmt: skip


def _rows(
    lines: list[str], delimiter: str, quoted: bool, cancelled: IsCancelled | None
) -> list[list[str]]:
    """Return the fields of the first records; where quotes are broken, they are letters."""
    rows: list[list[str]] = []

    def record(_first: int, _last: int, fields: list[str]) -> None:
        rows.append(fields)

    def aside(_number: int, _reason: Reason, line: bytes) -> None:
        rows.append(line.decode().split(delimiter))

    width = _usual([line.count(delimiter) + 1 for line in lines])
    joiner = RecordJoiner(RowShape(width, delimiter), lambda _: None, record, lambda _: None, aside)
    for number, line in enumerate(lines):
        check(cancelled)
        if quoted and (joiner.open or '"' in line):
            joiner.feed(number, line.encode())
        else:
            rows.append(line.split(delimiter))
    joiner.finish()
    return rows


def _unzip_head(head: bytes, name: str, complete: bool) -> tuple[bytes, bool]:
    """Return up to `HEAD` decompressed bytes and whether that was all."""
    damage = Damage()
    out = b""
    for piece in inflated((head[at : at + 4096] for at in range(0, len(head), 4096)), damage):
        out += piece
        if len(out) > HEAD:
            break
    if not out and damage.notes and "damaged" in damage.notes[0]:
        raise CheckinError(f"{name} is a damaged archive with nothing readable; fetch it again.")
    return out[:HEAD], complete and not damage.cut and len(out) <= HEAD


def guess_encoding(head: bytes) -> str:
    """Tell the encoding from a byte-order mark, else from whether UTF-8 fits.

    Invalid UTF-8 is taken for Latin-1 only if the bytes look like letters inside words, and next to
    no line is valid UTF-8: its letters would become others. Otherwise the file stays UTF-8, and the
    lines with the stray bytes will be rejected.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    valid = invalid = wordlike = 0
    for line in head.split(b"\n"):
        if line.isascii():
            continue
        try:
            line.decode()
            valid += 1
        except UnicodeDecodeError:
            invalid += 1
            wordlike += bool(_LATIN.search(line)) and not _NO_LATIN.search(line)
    return "latin-1" if wordlike > invalid / 2 and invalid > MOSTLY * valid else "utf-8"


def decode_head(head: bytes, encoding: str) -> str:
    """Decode a beginning that may end inside a character."""
    return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)


def guess_delimiter(lines: list[str], cancelled: IsCancelled | None = None) -> str:
    """Return the character that cuts most lines into the same number (≥ 3, else 2) of fields."""
    best, best_score = "\t", 0.0
    for delimiter in ("\t", ",", ";", "|", " "):
        check(cancelled)
        counts = [
            len(split_quoted(line, delimiter) or line.split(delimiter)) for line in lines[:200]
        ]
        usual = _usual(counts)
        if usual < 2:
            continue
        score = counts.count(usual) / len(counts) * (1.0 if usual >= 3 else 0.3)
        if delimiter == " ":
            score *= 0.5  # a space is in most time stamps
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return best


def _usual(counts: list[int]) -> int:
    return max(set(counts), key=lambda n: (counts.count(n), n)) if counts else 0


def _looks_binary(lines: list[str]) -> bool:
    text = "".join(lines[:200])[:20000]
    strange = sum(1 for c in text if (c < " " and c not in "\t\x1f") or c == "\ufffd")
    return strange > len(text) * 0.1
