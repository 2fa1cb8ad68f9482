"""Exact parsing of single values in the declared format."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from math import floor
from zoneinfo import ZoneInfo

from explorer.privacy.releases.means import DECIMAL_PLACES, read_decimal
from explorer.release.rows.format import (
    DECIMALS,
    ENCODINGS,
    MAX_OFFSET,
    MIN_OFFSET,
    TIME_FORMATS,
    FileFormat,
    fixed_offset,
    time_pattern,
)
from explorer.user_rows import compose_nfc, id_text

DEGREE = 10**7
"""Units of 10⁻⁷ degrees in a degree."""

BYTE_ORDER_MARK = "\ufeff"
"""Byte order mark, stripped from values like white space."""

MIN_TIME = int(datetime(1, 1, 2, tzinfo=UTC).timestamp())
MAX_TIME = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
"""Later times can't be read: their date in some time zones is not representable."""

_ONE = 10**DECIMAL_PLACES
Whole = Callable[[bytes], int | None]
"""Parses an integer from bytes; None if that fails."""

_ISO = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?"
    r"(?P<offset>Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
_MONTHS = {
    "Jan": 1,
    "Feb": 2,
    "Mar": 3,
    "Apr": 4,
    "May": 5,
    "Jun": 6,
    "Jul": 7,
    "Aug": 8,
    "Sep": 9,
    "Oct": 10,
    "Nov": 11,
    "Dec": 12,
}


def text_reader(form: FileFormat) -> Callable[[bytes], str | None]:
    """Return a parser of text, stripped and in normal form C.

    It returns None for invalid bytes and for texts that `compose_nfc` rejects. Rows of UTF-16
    files have been converted to UTF-8, in which lone surrogates and odd bytes are invalid.
    """
    encoding = _encoding(form)

    def read(raw: bytes) -> str | None:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            return None
        # twice, for marks inside white space and white space inside marks
        text = text.strip().strip(BYTE_ORDER_MARK).strip()
        return compose_nfc(text)

    return read


def id_reader(form: FileFormat) -> Callable[[bytes], str | None]:
    """Return a parser of user ids, normalised by `id_text`."""
    encoding = _encoding(form)

    def read(raw: bytes) -> str | None:
        try:
            return id_text(raw.decode(encoding))
        except UnicodeDecodeError:
            return None

    return read


def _encoding(form: FileFormat) -> str:
    return ENCODINGS["utf-8" if form.encoding.startswith("utf-16") else form.encoding]


def number_reader(form: FileFormat) -> Callable[[bytes], str | None]:
    """Return a parser of the text of a number, with the decimal mark converted to a point."""
    text = text_reader(form)
    if DECIMALS[form.decimal] == ord("."):
        return text

    def read(raw: bytes) -> str | None:
        result = text(raw)
        return None if result is None or "." in result else result.replace(",", ".")

    return read


def coordinate_reader(form: FileFormat, most: int) -> Whole:
    """Return a parser of degrees within ±most, rounded to 10⁻⁷ degrees, ties to even."""
    text = number_reader(form)

    def read(raw: bytes) -> int | None:
        value = read_decimal(text(raw) or "")
        if value is None or abs(value) > most * _ONE:
            return None
        return round(Fraction(value * DEGREE, _ONE))

    return read


def time_reader(form: FileFormat) -> Whole:
    """Return a parser of times as seconds since 1970 UTC, rounded down."""
    text, number = text_reader(form), number_reader(form)
    if form.time_format in TIME_FORMATS[1:]:
        unit = 1 if form.time_format == "unix" else 1000

        def since(raw: bytes) -> int | None:
            value = read_decimal(number(raw) or "")
            return None if value is None else in_time(value // (unit * _ONE))

        return since
    pattern = _ISO if form.time_format == "iso" else time_pattern(form.time_format)
    zone = zone_of(form)

    def read(raw: bytes) -> int | None:
        result = pattern.fullmatch(text(raw) or "")
        return None if result is None else _seconds(result.groupdict(), zone)

    return read


def zone_of(form: FileFormat) -> tzinfo:
    """Return the time zone of times without an offset."""
    offset = fixed_offset(form.time_zone)
    return ZoneInfo(form.time_zone) if offset is None else timezone(timedelta(seconds=offset))


def in_time(seconds: int) -> int | None:
    """Return the seconds if they are within `MIN_TIME` and `MAX_TIME`, else None."""
    return seconds if MIN_TIME <= seconds <= MAX_TIME else None


def zone_offset(local: int, zone: tzinfo) -> int:
    """Return the UTC offset in seconds of a zone at local seconds since 1970.

    An ambiguous local time is taken as the first of the two.
    """
    shown = datetime(1970, 1, 1) + timedelta(seconds=local)
    ahead = shown.replace(tzinfo=zone).utcoffset() or timedelta(0)
    return floor(ahead.total_seconds())


def _seconds(parts: dict[str, str | None], zone: tzinfo) -> int | None:
    month = parts.get("month")
    hour, minute, second = (int(parts.get(k) or 0) for k in ("hour", "minute", "second"))
    number = int(month) if month is not None else _MONTHS.get(parts.get("name") or "", 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        day = date(int(parts["year"] or 0), number, int(parts["day"] or 0))
    except ValueError:
        return None
    local = (day - date(1970, 1, 1)).days * 86_400 + hour * 3600 + minute * 60 + second
    if in_time(local) is None:
        return None
    offset = parts.get("offset")
    if offset is None:
        return in_time(local - zone_offset(local, zone))
    ahead = stated_offset(offset)
    return None if ahead is None else in_time(local - ahead)


def stated_offset(text: str) -> int | None:
    """Return the seconds of an offset such as ``Z``, ``+02``, ``-0330`` or ``+05:30``.

    None if it is outside `MIN_OFFSET` to `MAX_OFFSET`.
    """
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    ahead = (hours * 3600 + minutes * 60) * (-1 if text[0] == "-" else 1)
    return ahead if minutes <= 59 and MIN_OFFSET <= ahead <= MAX_OFFSET else None
