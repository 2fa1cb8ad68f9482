"""Detects and names text encodings.

A byte-order mark decides, then whether the bytes are valid UTF-8. Otherwise the encodings below are
compared: charset-normalizer rates how disordered the text would be, and the share of characters
that are usual in the encoding's languages says whether it would be words. Ratings that are close
are ambiguous: the user is asked if ids or names depend on the choice.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

UTF_8 = ("utf-8", "utf-8-sig")
"""Encodings that the database reads without conversion."""

NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte-order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32": "UTF-32",
    "latin-1": "ISO 8859-1 (Latin-1)",
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "cp932": "Shift-JIS (Japanese)",
    "euc-jp": "EUC-JP (Japanese)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
}
"""Codec → display name; common codecs first."""

MIN_SURE_RATING = 0.9
"""Ratings below are uncertain."""

RIVAL_MARGIN = 0.1
"""Rating difference within which encodings are rivals."""

MAX_RATED_BYTES = 1 << 16
"""Maximum bytes of non-ASCII lines that are rated."""

_FIELD = re.compile(rb'[^,;\t"\r]+')
"""A field, approximately. In no supported encoding are these delimiters parts of characters."""

_ADJACENT_LETTERS = re.compile(rb"[A-Za-z\x80-\xff][\x80-\xff]|[\x80-\xff][A-Za-z]")
"""Adjacent letters; stray bytes are isolated."""

WINDOWS = 64
"""Number of parts of a long file in which non-ASCII lines are searched."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)

_SIGNS = "€‚„…‘’“”–—«»°·§™©®±²³½¼¾¿¡ºª "
_LETTERS = {
    "cp1252": "àâäáãåæçèéêëìíîïñòóôõöøœùúûüÿßÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÓÔÕÖØŒÙÚÛÜšžŠŽ",
    "cp1250": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽöőüűÖŐÜŰăâîşţĂÂÎŞŢđĐäÄôľĺŕß",
    "cp1254": "çğıöşüÇĞİÖŞÜâîû",
    "cp1257": "ąčęėįšųūžĄČĘĖĮŠŲŪŽāēģīķļņĀĒĢĪĶĻŅõäöüÕÄÖÜ",
}
_ALPHABETS = {
    "cp1251": "Ѐ-ҕ№",
    "koi8-r": "Ѐ-ҕ",
    "cp1253": "Ά-ώ",
    "cp1255": "א-ת",
    "cp1256": "ء-ي",
}
_BLOCKS = {
    "cp932": ("euc-jp", 0xB0, 0xCF, "ぁ-んァ-ヶー々、。・（）「」０-９Ａ-Ｚａ-ｚ　－"),
    "euc-jp": ("euc-jp", 0xB0, 0xCF, "ぁ-んァ-ヶー々、。・（）「」０-９Ａ-Ｚａ-ｚ　－"),
    "gb18030": ("gb2312", 0xB0, 0xD7, "、。·（）“”０-９　－，"),
    "big5": ("big5", 0xA4, 0xC6, "、。·（）「」０-９　－，"),
    "cp949": ("euc-kr", 0xB0, 0xC8, "·（）０-９　"),
}
"""Encoding → character set, its rows of common characters, and common signs."""

CANDIDATES = (*_LETTERS, *_ALPHABETS, *_BLOCKS)


@dataclass(frozen=True)
class Detected:
    """A detected encoding.

    Attributes
    ----------
    encoding : str
        A codec of `NAMES`.
    confidence : float
        0…1.
    rivals : tuple of str
        Other encodings that fit about as well.
    lines : tuple of bytes
        The lines that decided.
    """

    encoding: str
    confidence: float = 1.0
    rivals: tuple[str, ...] = ()
    lines: tuple[bytes, ...] = ()


def codec_of(name: str) -> str:
    """Return the codec of an encoding from any of its common names.

    Raises
    ------
    ValueError
        If it is unknown, or no encoding of text.
    """
    try:
        codec = codecs.lookup(name.strip())
    except LookupError:
        raise ValueError(f"no encoding is called {name!r}, such as {_some()}") from None
    for known in NAMES:
        if codecs.lookup(known).name == codec.name:
            return known
    equal = {
        "iso8859-1": "latin-1",
        "ascii": "utf-8",
        "gb2312": "gb18030",
        "gbk": "gb18030",
        "shift_jis": "cp932",
        "euc_kr": "cp949",
        "iso8859-9": "cp1254",
    }
    if codec.name in equal:
        return equal[codec.name]
    try:
        "1,2;3\t4\n".encode(codec.name)
    except (LookupError, UnicodeError, TypeError):
        raise ValueError(f"{name!r} is no encoding of text; give one such as {_some()}") from None
    return codec.name


def shown_encoding(encoding: str) -> str:
    """Return the display name of an encoding."""
    return NAMES.get(encoding, encoding)


def codec_with_byte_order(head: bytes, encoding: str) -> str:
    """Return the codec of a chosen encoding, with the byte order of UTF-16."""
    if encoding == "utf-16" and mark_of(head) != encoding:
        return _utf_16(head) or encoding
    return encoding


def reread(text: str, encoding: str, other: str) -> str:
    """Reinterpret a text's bytes in another encoding; empty if that is impossible."""
    try:
        return text.encode(encoding).decode(other)
    except UnicodeError:
        return ""


def mark_of(head: bytes) -> str | None:
    """Detect the encoding of a file from its beginning, or other parts if that is ASCII."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def detect(head: bytes, more: Iterable[bytes] = ()) -> Detected:
    """Detect the encoding of a file from its beginning, or other parts if that is ASCII.

    Lines that are valid UTF-8 keep a file UTF-8 unless they are few: stray bytes in some lines are
    damage of these lines.

    Parameters
    ----------
    head : bytes
        The beginning of the file, decompressed; whole lines.
    more : iterable of bytes
        Whole lines from all over the file, taken only if the beginning is ASCII.
    """
    marked = mark_of(head)
    if marked is not None:
        return Detected(marked)
    wide = _utf_16(head)
    if wide is not None:
        return Detected(wide)
    parts = more if head.isascii() else (head,)
    parts = (part for part in parts if not part.isascii())
    lines = [line for part in parts for line in part.split(b"\n") if not line.isascii()]
    return detect_lines(lines)


def detect_lines(lines: Sequence[bytes]) -> Detected:
    """Detect the encoding of non-ASCII lines; UTF-8 if there are none."""
    invalid = [line for line in lines if not _decodes(line, "utf-8")]
    words_in = sum(bool(_ADJACENT_LETTERS.search(line)) for line in invalid)
    if words_in <= len(invalid) / 2 or len(invalid) <= MAX_INVALID_PER_VALID * (
        len(lines) - len(invalid)
    ):
        return Detected("utf-8")
    words: dict[bytes, None] = {}  # each once, as repetition is no further evidence
    size = 0
    for line in lines:
        for field in _FIELD.findall(line):
            if not field.isascii() and field not in words:
                words[field] = None
                size += len(field)
        if size > MAX_RATED_BYTES:
            break
    ratings = rate(b"\n".join(words))
    if not ratings:
        return Detected("utf-8", 0.0)
    best, confidence = ratings[0]
    rivals = tuple(name for name, rating in ratings[1:] if rating >= confidence - RIVAL_MARGIN)
    return Detected(best, confidence, rivals, tuple(lines[:1000]))


MAX_INVALID_PER_VALID = 20
"""Invalid lines per valid UTF-8 line above which a file is not UTF-8."""


def rate(text: bytes) -> list[tuple[str, float]]:
    """Return the possible encodings of a text with ratings, 0…1, best first."""
    from charset_normalizer import from_bytes

    fitting = [name for name in CANDIDATES if _decodes(text, name)]
    if not fitting:
        return []
    codecs_of = {codecs.lookup(name).name.replace("-", "_"): name for name in fitting}
    matches = from_bytes(text, cp_isolation=list(codecs_of), enable_fallback=False)
    order: dict[str, float] = {}
    for match in matches:
        for codec in match.could_be_from_charset:
            order.setdefault(codecs_of.get(codec, codec), 1 - match.chaos + match.coherence / 100)
    rated = []
    for name in fitting:
        tidy = order.get(name, 0.5 if name not in _LETTERS else 0.95)  # signs in short texts
        rated.append((name, min(tidy, 1.0) * _usual_share(text.decode(name), name), tidy))
    rated.sort(key=lambda item: (round(-item[1], 2), -item[2], CANDIDATES.index(item[0])))
    return [(name, rating) for name, rating, _ in rated if rating > 0]


def invalid_note(invalid: int, encoding: str, lines: Sequence[bytes]) -> str:
    """Return the note on rows that are invalid in an encoding.

    Parameters
    ----------
    invalid : int
        How many rows.
    encoding : str
        The one that the text was read in.
    lines : sequence of bytes
        Some of these rows, undecoded if the encoding is UTF-8.
    """
    detected = detect_lines(lines).encoding if encoding in UTF_8 else "utf-8"
    perhaps = f", perhaps {shown_encoding(detected)}" if detected != "utf-8" else ""
    return (
        f"{invalid:,} rows hold bytes that are not valid {shown_encoding(encoding)}: if the file "
        f"is in another encoding{perhaps}, open it again and choose that (--encoding)."
    )


def sampled_lines(path: Path, size: int) -> Iterable[bytes]:
    """Yield whole lines from evenly spaced parts of a file."""
    with path.open("rb") as file:
        for i in range(1, WINDOWS + 1):
            file.seek(i * size // (WINDOWS + 1))
            lines = file.read(MAX_RATED_BYTES).split(b"\n")
            yield b"\n".join(lines[1:-1])


def _decodes(text: bytes, encoding: str) -> bool:
    try:
        text.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _utf_16(head: bytes) -> str | None:
    """Return the byte order of UTF-16 from the zero bytes of delimiters and digits."""
    some = head[: 1 << 14]
    some = some[: len(some) & ~1]
    if len(some) < 8 or b"\0" not in some:
        return None
    pairs = len(some) // 2
    low, high = some[1::2].count(0) / pairs, some[0::2].count(0) / pairs
    for encoding, zeros, others in (("utf-16-le", low, high), ("utf-16-be", high, low)):
        if zeros > 0.4 and others < 0.05 and _decodes(some[:-2], encoding):
            return encoding
    return None


def _usual_share(text: str, encoding: str) -> float:
    """Return the share of non-ASCII characters common in the encoding's languages.

    Two letters of a word are not usual if only one is Latin, or if a capital comes behind a small
    one; nor is a Latin text most of whose letters have accents.
    """
    others = [c for c in text if not c.isascii()]
    if not others:
        return 1.0
    usual = _usual(encoding)
    fine = sum(c in usual for c in others)
    pairs = [(a, b) for a, b in pairwise(text) if not (a + b).isascii()]
    unusual = sum(a.islower() and b.isupper() for a, b in pairs)
    if encoding not in _LETTERS:
        unusual += sum(a.isalpha() and b.isalpha() and a.isascii() != b.isascii() for a, b in pairs)
    share = max(fine - unusual, 0) / len(others)
    letters = [c for c in text if c.isalpha()]
    accented = sum(not c.isascii() for c in letters)
    return 0.7 * share if encoding in _LETTERS and accented > len(letters) / 2 else share


@cache
def _usual(encoding: str) -> frozenset[str]:
    if encoding in _LETTERS:
        return frozenset(_LETTERS[encoding] + _SIGNS)
    if encoding in _ALPHABETS:
        pattern, more = _ALPHABETS[encoding], _SIGNS
    else:
        charset, first, last, pattern = _BLOCKS[encoding]
        rows = (bytes((a, b)) for a in range(first, last + 1) for b in range(0x40, 0xFF))
        more = "".join(row.decode(charset, "ignore") for row in rows)
    ranged = re.compile(f"[{pattern}]")
    return frozenset(more) | {chr(c) for c in range(0x80, 0x10000) if ranged.match(chr(c))}


def _some() -> str:
    return "utf-8, windows-1252, shift_jis, gb18030, utf-16-le"
