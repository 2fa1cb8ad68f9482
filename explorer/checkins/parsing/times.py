r"""Time formats: one pattern per format, used by both the preview and the database.

A format ("spelling") is ``iso``, one of `COUNTED`, or a strptime format made of `_PARTS`. A field
is valid if it matches the pattern and the date and time exist. Patterns use only syntax with the
same meaning in Python's ``re`` and the database's RE2, which excludes ``\s`` and ``\d``.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, lru_cache, partial
from typing import NamedTuple

from explorer.checkins.errors import CheckinError
from explorer.checkins.parsing.numbers import BLANKS, MAX_LENGTH, NO_BREAK, match_field, number

FIRST_YEAR, LAST_YEAR = 1932, 2067
"""Years whose seconds since 2000 fit into 32 bits; other times are rejected."""

_WHITE_SPACE = r"[ \t\n\x0b\f\r]*"
_OFFSET = (
    r"[+](?:0[0-9]|1[0-3])(?::?[0-5][0-9])?|[+]14(?::?00)?|"
    r"-(?:0[0-9]|1[01])(?::?[0-5][0-9])?|-12(?::?00)?"
)
"""−12:00 … +14:00: there are no others on the Earth."""
_DAY = r"[0-9]{4}(?:-[0-9]{1,2}-[0-9]{1,2}|/[0-9]{1,2}/[0-9]{1,2})"
_HOUR = r"(?:T *| +)[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]{0,12})?)?"
ISO_PATTERN = (
    rf"{_WHITE_SPACE}(?:({_DAY}{_HOUR})(?: *(?:[Zz]|UTC|GMT|(?:(?:UTC|GMT) *)?({_OFFSET})))?"
    rf"|({_DAY})){_WHITE_SPACE}"
)
"""ISO 8601 times, tolerant. Groups: time without offset, offset, day only."""
PLAIN_ISO_PATTERN = rf"{_WHITE_SPACE}{_DAY}(?:{_HOUR}(?:Z|{_OFFSET})?{_WHITE_SPACE})?"
"""Those of them that the database casts as they are, which takes less time; not days before
blanks."""
NAIVE_ISO_PATTERN = rf"{_WHITE_SPACE}{_DAY}(?:{_HOUR})?{_WHITE_SPACE}"
"""ISO 8601 times without offset."""

_ISO, _NAIVE_ISO = re.compile(ISO_PATTERN), re.compile(NAIVE_ISO_PATTERN)
_ISO_SHAPE = re.compile(rf"({_DAY}(?:{_HOUR})?)( *(?:UTC|GMT)? *[+-][0-9:]+)?")
_ZONE_LETTERS = re.compile(rf"{_WHITE_SPACE}{_DAY}{_HOUR} *([A-Za-z][A-Za-z_/]+){_WHITE_SPACE}")

_DAY_S = 86_400
_FROM_1900_S, _FROM_1904_S = -25_569 * _DAY_S, -24_107 * _DAY_S


class Epoch(NamedTuple):
    """A unit of time and the origin of numeric times.

    Attributes
    ----------
    microseconds : float
        Of one unit.
    meaning : str
    start : int
        The instant of 0, in seconds since 1970.
    step : int
        Microseconds to whose multiples instants are rounded.
    """

    microseconds: float
    meaning: str
    start: int = 0
    step: int = 1


EPOCHS = {
    "epoch_s": Epoch(1e6, "seconds since 1970"),
    "epoch_ms": Epoch(1e3, "milliseconds since 1970"),
    "epoch_us": Epoch(1.0, "microseconds since 1970"),
    "epoch_ns": Epoch(1e-3, "nanoseconds since 1970"),
}
# A spreadsheet stores 15 digits: a whole second is off by microseconds and would be floored.
SERIALS = {
    "excel_1900": Epoch(_DAY_S * 1e6, "days since 1900 (Excel)", _FROM_1900_S, 1000),
    "excel_1904": Epoch(_DAY_S * 1e6, "days since 1904 (Excel)", _FROM_1904_S, 1000),
}
"""Times of spreadsheets without a format, of either date system: clock times without an offset.
The system of 1900 counts the day 1900-02-29, so that later days are counted from 1899-12-30."""
COUNTED = {**EPOCHS, **SERIALS}
"""Numeric formats."""
_FIRST_EPOCH, _LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990 to 2100: else it is just a number
MAX_MICROSECONDS = 8e15
"""From the start of an epoch that are made an instant at all: of 1970, until the year 2223."""

_DATES = (
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", "%d.%m.%y", "%y.%m.%d"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y", "%m/%d/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{2}", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y", "%m-%d-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{2}", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d"),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{2}", "%d-%b-%y"),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y"),
)
"""Patterns of dates and their possible meanings."""

_DATE = re.compile(
    "|".join(rf"(?P<d{i}>{shape})(?!\d)" for i, (shape, *_) in enumerate(_DATES)), re.ASCII
)
_CLOCK = re.compile(
    r"(?:(?P<gap>, ?| +|T)\d{1,2}(?P<colon>[:.h])\d{2}"
    r"(?P<second>(?P=colon)\d{2}(?P<fraction>[.,]\d{1,6})?)?(?P<half>\s?[AaPp][Mm])?)?"
    r"(?P<zone> ?(?:Z|UTC|GMT|(?P<offset>[+-]\d{2}:?\d{2})))?",
    re.ASCII,
)
_WHOLE_FORMATS = (
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%dT%H%M%S%z",
)
"""Spellings that are not a date with a time of day behind it."""

_DIGITS_ONLY = (
    "%Y%m%d%H%M%S",
    "%Y%m%d%H%M",
    "%Y%m%d%H",
    "%Y%m%d",
    "%y%m%d%H%M%S",
    "%y%m%d%H%M",
)
"""Those that are a number, too; years of four digits before those of two."""
_FIRST_OTHER_EPOCH = datetime(1971, 1, 1, tzinfo=UTC)
"""Digits that are a date may be an instant since 1970, too, from here on."""

OFFERED = (
    "iso",
    *EPOCHS,
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
    *_DIGITS_ONLY[:4],
    *_WHOLE_FORMATS,
)
"""Common formats offered in addition to those of a file."""

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _any_of(names: Sequence[str], length: int | None = None) -> str:
    return f"(?i:{'|'.join(name[:length] for name in names)})"


class _Part(NamedTuple):
    """A part of a time: its name, its pattern, and its value in the last minute of 2024."""

    meaning: str
    pattern: str
    example: str


_TWO_DIGITS = "[0-9]{1,2}"
UTC_NAMES = ("Z", "UTC", "GMT")
"""Offsets that are not written in digits."""
_PARTS = {
    "%d": _Part("day", _TWO_DIGITS, "31"),
    "%m": _Part("month", _TWO_DIGITS, "12"),
    "%b": _Part("month", _any_of(_MONTHS, 3), "Dec"),
    "%B": _Part("month", _any_of(_MONTHS), "December"),
    "%Y": _Part("year", "[0-9]{4}", "2024"),
    "%y": _Part("year", "[0-9]{2}", "24"),
    "%H": _Part("hour", _TWO_DIGITS, "23"),
    "%I": _Part("hour", _TWO_DIGITS, "11"),
    "%M": _Part("minute", _TWO_DIGITS, "59"),
    "%S": _Part("second", _TWO_DIGITS, "58"),
    "%f": _Part("fraction", "[0-9]{1,6}", "000000"),
    "%p": _Part("AM/PM", "(?i:AM|PM)", "PM"),
    "%a": _Part("weekday", _any_of(_WEEKDAYS, 3), "Tue"),
    "%A": _Part("weekday", _any_of(_WEEKDAYS), "Tuesday"),
    "%z": _Part("offset", f"(?:Z|{_OFFSET})", "+0000"),
}
_EXAMPLE = datetime(2024, 12, 31, 23, 59, 58, tzinfo=UTC)


@lru_cache(256)
def pattern_of(spelling: str) -> str:
    """Return the regular expression of a strptime format, with a group per directive.

    Raises
    ------
    ValueError
        If the format has parts that are not known here, one part twice, or no whole day.
    """
    pieces = re.findall(r"%.?|[^%]", spelling, re.DOTALL)
    parts = [piece for piece in pieces if piece[0] == "%" and piece != "%%"]
    unknown = next((part for part in parts if part not in _PARTS), "")
    if unknown:
        raise ValueError(f"“{unknown}” is no part of a time; use {' '.join(_PARTS)}")
    meant = Counter(_PARTS[part].meaning for part in parts)
    twice = next((meaning for meaning, n in meant.items() if n > 1), "")
    if twice:
        raise ValueError(f"“{spelling}” has the {twice} twice; give each part of a time once")
    lacking = [meaning for meaning in ("year", "month", "day") if meaning not in meant]
    if lacking:
        raise ValueError(f"“{spelling}” has no {' and no '.join(lacking)}; times need a whole day")
    if ("%I" in parts) != ("%p" in parts):
        raise ValueError(f"“{spelling}” must have %I and %p together, or %H")
    parts_found = []
    for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        if piece in _PARTS:
            pattern = _PARTS[piece].pattern
            # digits without anything between them have the full number of digits
            if pattern == _TWO_DIGITS and (before in _PARTS or after in _PARTS):
                pattern = "[0-9]{2}"
            parts_found.append(f"(?P<{piece[1]}>{pattern})")
        elif piece == " ":
            parts_found.append(f"[ {NO_BREAK}]+")
        else:
            parts_found.append(re.escape("%" if piece == "%%" else piece))
    return _WHITE_SPACE + "".join(parts_found) + _WHITE_SPACE


@lru_cache(256)
def _compiled(spelling: str) -> re.Pattern[str]:
    return re.compile(pattern_of(spelling))


def moment(text: str, spelling: str, decimal: str = ".") -> datetime | None:
    """Parse a field in a format of `Mapping.time_format`; None if it is invalid.

    It has no time zone if neither the field nor the spelling states the offset from UTC.

    Raises
    ------
    ValueError
        If there is no such spelling.
    """
    try:
        if spelling == "iso":
            return _iso_moment(text)
        if spelling in COUNTED:
            return _epoch_moment(text, spelling, decimal)
        match = match_field(_compiled(spelling), text)
    except (OverflowError, _NoSuchTime):
        return None
    try:
        return None if match is None else _parts_moment(match.groupdict(), spelling)
    except ValueError:  # there is no such day or hour
        return None


class _NoSuchTime(Exception):  # noqa: N818 - a signal inside this module
    """The date or time of day does not exist."""


def _iso_moment(text: str) -> datetime | None:
    match = match_field(_ISO, text)
    if match is None:
        return None
    timed, offset, day = match.groups()
    year, month, date, *clock = re.split("[^0-9]+", timed or day)
    hour, minute, second, fraction = [*clock, *["0"] * 4][:4]
    midnight = int(hour) == 24 and int(minute) == int(second) == int(fraction or 0) == 0
    try:
        naive = datetime(
            int(year),
            int(month),
            int(date),
            0 if midnight else int(hour),
            int(minute),
            int(second),
            int(fraction[:6].ljust(6, "0")),
        ) + timedelta(days=midnight)
    except ValueError:
        raise _NoSuchTime from None
    if match_field(_NAIVE_ISO, text):
        return naive
    return naive.replace(tzinfo=_zone(offset or "Z"))


def _zone(offset: str) -> timezone:
    if offset == "Z":
        return UTC
    ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:].lstrip(":") or 0))
    return timezone(-ahead if offset[0] == "-" else ahead)


def _epoch_moment(text: str, spelling: str, decimal: str) -> datetime | None:
    value = number(text, decimal)
    if value is None:
        return None
    epoch = COUNTED[spelling]
    since = value * (epoch.microseconds / epoch.step)
    if not abs(since) < MAX_MICROSECONDS / epoch.step:
        return None
    whole = int(abs(since))  # the database rounds halves away from zero
    whole += abs(since) - whole >= 0.5
    start = datetime(1970, 1, 1, tzinfo=None if takes_zone(spelling) else UTC)
    microseconds = (whole if since > 0 else -whole) * epoch.step
    return start + timedelta(seconds=epoch.start, microseconds=microseconds)


def _parts_moment(parts: dict[str, str], spelling: str) -> datetime:
    """Return the time of the matched parts of a format.

    Raises
    ------
    ValueError
        If there is no such day or hour.
    """
    if "Y" in parts:
        year = int(parts["Y"])
    else:  # as POSIX has it
        year = int(parts["y"]) + (2000 if int(parts["y"]) < 69 else 1900)
    if "m" in parts:
        month = int(parts["m"])
    else:
        name = (parts.get("b") or parts["B"])[:3].title()
        month = 1 + [known[:3] for known in _MONTHS].index(name)
    hour = int(parts.get("H") or 0)
    if "I" in parts:
        hour = int(parts["I"])
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + 12 * (parts["p"].upper() == "PM")
    fraction = (parts.get("f") or "0").ljust(6, "0")
    instant = datetime(
        year,
        month,
        int(parts["d"]),
        hour,
        int(parts.get("M") or 0),
        int(parts.get("S") or 0),
        int(fraction),
    )
    if "z" in parts:
        return instant.replace(tzinfo=_zone(parts["z"]))
    return instant if takes_zone(spelling) else instant.replace(tzinfo=UTC)


def formats_of(text: str) -> tuple[str, ...]:
    """Return the strptime formats a time may be in; day first before month first."""
    return tuple(form for form in _shapes_of(text) if moment(text, form) is not None)


def _shapes_of(text: str) -> tuple[str, ...]:
    """Return formats with the shape of a time, whether or not the date exists."""
    text = text.strip(BLANKS).translate(dict.fromkeys(map(ord, NO_BREAK), " "))
    match = _DATE.match(text) if len(text) <= MAX_LENGTH else None
    if match is None or match.lastgroup is None:
        return tuple(form for form in (*_WHOLE_FORMATS, *_DIGITS_ONLY) if reads_time(text, form))
    clock = _CLOCK.fullmatch(text, match.end())
    if clock is None:
        return ()
    return tuple(form + _clock_format(clock) for form in _DATES[int(match.lastgroup[1:])][1:])


def _clock_format(clock: re.Match[str]) -> str:
    """Return the format of a time of day and its suffix."""
    parts = ""
    if clock["gap"]:
        colon, half = clock["colon"], clock["half"]
        parts = f"{'%I' if half else '%H'}{colon}%M"
        if clock["second"]:
            parts += f"{colon}%S" + (f"{clock['fraction'][0]}%f" if clock["fraction"] else "")
        parts = (" " if clock["gap"].isspace() else clock["gap"]) + parts
        if half:
            parts += " %p" if half[0].isspace() else "%p"
    zone, offset = clock["zone"] or "", clock["offset"]
    return parts + (zone.replace(offset, "%z") if offset else zone)


def time_formats(values: Sequence[str], decimal: str = ".", serials: str = "") -> tuple[str, ...]:
    """Return the formats that fit most of these fields equally well.

    Parameters
    ----------
    values : sequence of str
    decimal : str
    serials : str
        Of a spreadsheet, which of `SERIALS` its dates are where they have no format. Of texts
        beside dates it may have read day for month in the dates.

    Returns
    -------
    tuple of str
        As in `Mapping.time_format`. Several if fields do not tell, or not all the same, whether
        the day, the month or the year comes first, or whether digits are a date or an instant
        since 1970.
    """
    values = [v for v in values if v.strip()]
    if not values:
        return ()
    if share(values, is_iso) > 0.5:
        texts = {form for v in values if serials and not is_iso(v) for form in formats_of(v)}
        return ("iso", *sorted(texts))
    if share(values, lambda v: number(v, decimal) is not None) > 0.5:
        return _digit_formats(values, decimal, serials)
    # most columns are of something else, and there may be thousands of them
    if share(values[:20], lambda v: bool(_shapes_of(v))) == 0:
        return ()
    read = [formats_of(v) for v in values]
    votes = Counter(form for forms in read for form in forms)
    most = max(votes.values(), default=0)
    best = [form for form, n in votes.items() if n == most and 2 * n > len(values)]
    # fields that are dates in another order of day, month and year alone
    others = (form for forms in read if best and best[0] not in forms for form in forms)
    best += dict.fromkeys(form for form in others if sorted(form) == sorted(best[0]))
    # years of two digits are few: else days have been taken for them
    years = {form: len({t.year for v in values if (t := moment(v, form))}) for form in best}
    best = [form for form in best if years[form] <= 2 * min(years.values())]
    return tuple(best if distinguishing_value(values, best) else best[:1])


_ROUNDED = re.compile(r"\d[.,]\d{1,5}[eE]\+?\d+", re.ASCII)
"""Large numbers as spreadsheets show them, by hours off."""


def _digit_formats(values: Sequence[str], decimal: str, serials: str) -> tuple[str, ...]:
    """Return the formats that fit most numbers: dates first, then epochs."""
    if serials and share(values, partial(_is_serial, spelling=serials, decimal=decimal)) > 0.9:
        return (serials,)
    dates = tuple(
        form for form in _DIGITS_ONLY if share(values, partial(reads_time, spelling=form)) > 0.5
    )

    def instant(text: str, spelling: str) -> bool:
        reading = moment(text, spelling, decimal)
        if reading is None or match_field(_ROUNDED, text):
            return False
        if dates:
            return reading >= _FIRST_OTHER_EPOCH and _in_years(reading)
        return _FIRST_EPOCH <= reading.timestamp() < _LAST_EPOCH

    since = [name for name in EPOCHS if share(values, partial(instant, spelling=name)) > 0.5]
    return (*dates, *since) if dates else tuple(since[:1])


def _is_serial(text: str, spelling: str, decimal: str) -> bool:
    instant = moment(text, spelling, decimal)
    return instant is not None and 1990 <= instant.year < 2100


def only_digits(spelling: str | None) -> bool:
    """Return whether values of a format may also be ids or other numbers."""
    return spelling in (*COUNTED, *_DIGITS_ONLY)


def distinguishing_value(values: Sequence[str], formats: Sequence[str], decimal: str = ".") -> str:
    """Return the first field whose meaning differs between formats, or an empty text."""
    for value in values:
        instants = {moment(value, form, decimal) for form in formats} - {None}
        if len(instants) > 1:
            return value.strip()
    return ""


def time_format(values: Sequence[str], decimal: str = ".", serials: str = "") -> str | None:
    """Return the format that most fields share, or None."""
    return next(iter(time_formats(values, decimal, serials)), None)


def format_of_example(text: str) -> str:
    """Return the format of an example such as ``31.12.2024 23:59``.

    Raises
    ------
    ValueError
        If it is no time that can be read, or does not tell day from month; the message says so.
    """
    if text in ("iso", *COUNTED):
        return text
    if "%" in text:
        check_format(text)
        return text
    formats = time_formats([text])
    if not formats:
        raise ValueError(
            f"“{text}” is no time that can be read; give an example such as 31.12.2024 23:59, or "
            f"iso, {', '.join(EPOCHS)}"
        )
    formats = tuple(form for form in formats if example_of(form) == text) or formats
    if len(formats) > 1 and not only_digits(formats[0]):
        raise ValueError(
            f"“{text}” does not tell the day from the month; give an example whose day is above "
            "12, such as " + " or ".join(example_of(form) for form in formats)
        )
    return formats[0]


def check_format(spelling: str) -> None:
    """Raise for an invalid format.

    Raises
    ------
    ValueError
        If it is too long, or `pattern_of` refuses it; the message says why.
    """
    if len(spelling) > MAX_LENGTH:
        shown = spelling[:MAX_LENGTH]
        raise ValueError(
            f"“{shown}”… is longer than {MAX_LENGTH} characters; give a shorter format"
        )
    if spelling not in ("iso", *COUNTED):
        pattern_of(spelling)


def example_of(spelling: str) -> str:
    """Return the last minute of 2024 in a format."""
    if spelling in COUNTED:
        epoch = COUNTED[spelling]
        units = (_EXAMPLE.timestamp() - epoch.start) * 1e6 / epoch.microseconds
        text = f"{units:.6f}" if spelling in SERIALS else f"{units:.0f}"
        return f"{text} ({epoch.meaning})"
    if spelling == "iso":
        spelling = "%Y-%m-%d %H:%M:%S"
    return _with_parts(spelling, lambda part: part.example)


def meaning_of(spelling: str) -> str:
    """Return a format in words: ``day.month.year hour:minute``."""
    if spelling in COUNTED:
        return COUNTED[spelling].meaning
    if spelling == "iso":
        return "year-month-day, ISO 8601"
    if spelling in _DIGITS_ONLY:
        spelling = spelling.replace("%", " %").strip().replace("%y", "%y (two digits)")
    return _with_parts(spelling, lambda part: part.meaning)


def _with_parts(spelling: str, shown: Callable[[_Part], str]) -> str:
    return re.sub(
        "%.", lambda code: shown(_PARTS[code[0]]) if code[0] in _PARTS else code[0][1:], spelling
    )


def shown_moment(text: str, spelling: str, decimal: str = ".") -> str:
    """Return the time in a field as ``2012-04-01 07:00``; empty if it is invalid."""
    instant = moment(text, spelling, decimal)
    return (
        "" if instant is None else instant.strftime("%Y-%m-%d %H:%M" + ":%S" * bool(instant.second))
    )


def takes_zone(spelling: str) -> bool:
    """Return whether times of a format may lack an offset from UTC."""
    has_zone = spelling.endswith(UTC_NAMES) or "%z" in spelling
    return spelling not in EPOCHS and not has_zone


def reads_time(text: str, spelling: str, decimal: str = ".") -> bool:
    """Return whether a field is a valid time in a format of `Mapping.time_format`."""
    instant = moment(text, spelling, decimal)
    return instant is not None and _in_years(instant)


def _in_years(instant: datetime) -> bool:
    utc = instant if instant.tzinfo is None else instant.astimezone(UTC)
    return FIRST_YEAR <= utc.year <= LAST_YEAR


def time_fault(text: str, spelling: str, decimal: str = ".") -> tuple[str, str]:
    """Return fault and remedy of a field that is not a valid time in a format."""
    if moment(text, spelling, decimal) is not None:
        return f"its year is outside {FIRST_YEAR}–{LAST_YEAR}", "correct it, or remove the row"
    if letters := match_field(_ZONE_LETTERS, text):
        return (
            f"it names its time zone by letters ({letters[1]})",
            "write the offset from UTC instead, as in 2024-12-31 23:59:58-05:00",
        )
    other = formats_of(text)
    iso = match_field(_ISO_SHAPE, text)
    if spelling == "iso" and iso and iso[2] and is_iso(iso[1]):
        return "there is no such offset from UTC", "correct it"
    if (spelling == "iso" and iso) or (spelling in _shapes_of(text) and not other):
        return "there is no such day or hour", "correct it"
    if other or iso:
        return (
            f"it is written {meaning_of(other[0] if other else 'iso')}",
            f"write it {meaning_of(spelling)}, or choose another example of the times",
        )
    return "it is no time that can be read", f"write it as {example_of(spelling)}"


def is_iso(text: str) -> bool:
    """Return whether a field is an existing ISO 8601 time."""
    return moment(text, "iso") is not None


def share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    """Return the share of fields that pass a test."""
    return sum(1 for v in values if test(v)) / len(values)


RULE = (
    "A time that the clocks show twice is the first of the two; one that they skip is read as if "
    "they had not been put forward yet."
)
"""Treatment of repeated and skipped local times; the same in releases."""


@cache
def _zones_by_lower_case() -> dict[str, str]:
    """Return the zone names by their lower-case forms."""
    import duckdb

    with duckdb.connect() as con:
        names = con.execute("SELECT name FROM pg_timezone_names() ORDER BY name").fetchall()
    return {name.lower(): name for (name,) in names}


def zone_name(text: str) -> str:
    """Return the canonical spelling of a time zone.

    Raises
    ------
    CheckinError
        If there is none of that name; the message names one like it.
    """
    known = _zones_by_lower_case()
    wanted = text.strip().replace(" ", "_").lower()
    if wanted in known:
        return known[wanted]
    cities = {name.rpartition("/")[2]: whole for name, whole in known.items() if "/" in name}
    near = difflib.get_close_matches(wanted, known, 1) or difflib.get_close_matches(
        wanted.rpartition("/")[2], cities, 1
    )
    like = known.get(near[0]) or cities[near[0]] if near else "Europe/Vienna"
    raise CheckinError(
        f"No time zone is called “{text[:60]}”; give a name of the IANA list such as {like}, or "
        "UTC."
    )


@cache
def fold_seconds(zone: str) -> tuple[int, ...]:
    """Return the distinct numbers of seconds by which a zone's clocks were put back."""
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        folds = con.execute(
            "SELECT DISTINCT CAST(epoch(before - ahead) AS BIGINT) AS seconds FROM (SELECT ahead, "
            "lag(ahead) OVER (ORDER BY day) AS before FROM (SELECT day, timezone($zone, day) - "
            "timezone('UTC', day) AS ahead FROM (SELECT unnest(generate_series("
            "TIMESTAMPTZ '1931-12-01', TIMESTAMPTZ '2068-02-01', INTERVAL 1 DAY)) AS day))) "
            "WHERE before > ahead ORDER BY seconds",
            {"zone": zone},
        ).fetchall()
    return tuple(int(seconds) for (seconds,) in folds)
