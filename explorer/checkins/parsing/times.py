r"""How times are written: one pattern a spelling, which the preview and the database both use.

A spelling is ``iso``, one of `COUNTED`, or a format of strptime made of `_PARTS`. A field is a time
in a spelling if it fits the spelling's pattern and names a day and an hour that exist. Patterns use
only what Python's ``re`` and the database's RE2 understand alike: ``\s`` and ``\d`` do not.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, lru_cache, partial
from typing import NamedTuple

from explorer.checkins.errors import CheckinError
from explorer.checkins.parsing.numbers import BLANKS, LONGEST, matched, number

FIRST_YEAR, LAST_YEAR = 1932, 2067
"""Whole years whose seconds, counted from 2000, fit into 32 bits; other times are not kept."""

_AROUND = r"[ \t\n\x0b\f\r]*"
_OFFSET = (
    r"[+](?:0[0-9]|1[0-3])(?::?[0-5][0-9])?|[+]14(?::?00)?|"
    r"-(?:0[0-9]|1[01])(?::?[0-5][0-9])?|-12(?::?00)?"
)
"""−12:00 … +14:00: there are no others on the Earth."""
_DAY = r"[0-9]{4}(?:-[0-9]{1,2}-[0-9]{1,2}|/[0-9]{1,2}/[0-9]{1,2})"
_HOUR = r"(?:T *| +)[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]{0,12})?)?"
ISO_PATTERN = (
    rf"{_AROUND}(?:({_DAY}{_HOUR})(?: *(?:[Zz]|UTC|GMT|(?:(?:UTC|GMT) *)?({_OFFSET})))?"
    rf"|({_DAY})){_AROUND}"
)
"""Times in ISO 8601, generously. Groups: time without offset, its offset, a day alone."""
PLAIN_ISO_PATTERN = rf"{_AROUND}{_DAY}(?:{_HOUR}(?:Z|{_OFFSET})?{_AROUND})?"
"""Those of them that the database casts as they are, which takes less time; not days before
blanks."""
NAIVE_ISO_PATTERN = rf"{_AROUND}{_DAY}(?:{_HOUR})?{_AROUND}"
"""Those of them that do not state their offset from UTC."""

_ISO, _NAIVE_ISO = re.compile(ISO_PATTERN), re.compile(NAIVE_ISO_PATTERN)
_ISO_SHAPE = re.compile(rf"({_DAY}(?:{_HOUR})?)( *(?:UTC|GMT)? *[+-][0-9:]+)?")
_ZONE_LETTERS = re.compile(rf"{_AROUND}{_DAY}{_HOUR} *([A-Za-z][A-Za-z_/]+){_AROUND}")

_DAY_S = 86_400
_FROM_1900_S, _FROM_1904_S = -25_569 * _DAY_S, -24_107 * _DAY_S


class Epoch(NamedTuple):
    """A unit of time and the instant that numbers count from.

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
}
# A spreadsheet keeps 15 digits: a whole second is off by some microseconds and would be floored.
SERIALS = {
    "excel_1900": Epoch(_DAY_S * 1e6, "days since 1900 (Excel)", _FROM_1900_S, 1000),
    "excel_1904": Epoch(_DAY_S * 1e6, "days since 1904 (Excel)", _FROM_1904_S, 1000),
}
"""Times of spreadsheets without a format, of either date system: clock times without an offset.
The system of 1900 counts the day 1900-02-29, so that later days are counted from 1899-12-30."""
COUNTED = {**EPOCHS, **SERIALS}
"""Spellings that are a number."""
_FIRST_EPOCH, _LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990 to 2100: else it is just a number
MAX_MICROSECONDS = 8e15
"""From the start of an epoch that are made an instant at all: of 1970, until the year 2223."""

_DATES = (
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", "%d.%m.%y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y", "%m/%d/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{2}", "%d/%m/%y", "%m/%d/%y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y", "%m-%d-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{2}", "%d-%m-%y", "%m-%d-%y"),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{2}", "%d-%b-%y"),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y"),
)
"""How dates look, and what that may mean: both orders where people write both."""

_DATE = re.compile(
    "|".join(rf"(?P<d{i}>{shape})(?!\d)" for i, (shape, *_) in enumerate(_DATES)), re.ASCII
)
_CLOCK = re.compile(
    r"(?:(?P<gap>, ?| +|T)\d{1,2}(?P<colon>[:.h])\d{2}"
    r"(?P<second>(?P=colon)\d{2}(?P<fraction>[.,]\d{1,6})?)?(?P<half>\s?[AaPp][Mm])?)?"
    r"(?P<zone> ?(?:Z|UTC|GMT|(?P<offset>[+-]\d{2}:?\d{2})))?",
    re.ASCII,
)
_WHOLE = ("%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z", "%Y%m%dT%H%M%SZ")
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
    *_WHOLE,
)
"""Common spellings, offered beside those found in a file."""

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
    """A part of a time: what it is called, its pattern, and that of the last minute of 2024."""

    meaning: str
    pattern: str
    example: str


_TWO = "[0-9]{1,2}"
_PARTS = {
    "%d": _Part("day", _TWO, "31"),
    "%m": _Part("month", _TWO, "12"),
    "%b": _Part("month", _any_of(_MONTHS, 3), "Dec"),
    "%B": _Part("month", _any_of(_MONTHS), "December"),
    "%Y": _Part("year", "[0-9]{4}", "2024"),
    "%y": _Part("year", "[0-9]{2}", "24"),
    "%H": _Part("hour", _TWO, "23"),
    "%I": _Part("hour", _TWO, "11"),
    "%M": _Part("minute", _TWO, "59"),
    "%S": _Part("second", _TWO, "58"),
    "%f": _Part("fraction", "[0-9]{1,6}", "000000"),
    "%p": _Part("AM/PM", "(?i:AM|PM)", "PM"),
    "%a": _Part("weekday", _any_of(_WEEKDAYS, 3), "Tue"),
    "%A": _Part("weekday", _any_of(_WEEKDAYS), "Tuesday"),
    "%z": _Part("offset", f"(?:Z|{_OFFSET})", "+0000"),
}
_EXAMPLE = datetime(2024, 12, 31, 23, 59, 58, tzinfo=UTC)


@lru_cache(256)
def pattern_of(spelling: str) -> str:
    """Return the pattern of a strptime format, with a group named after each of its letters.

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
    found = []
    for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        if piece in _PARTS:
            pattern = _PARTS[piece].pattern
            # digits without anything between them have the full number of digits
            if pattern == _TWO and (before in _PARTS or after in _PARTS):
                pattern = "[0-9]{2}"
            found.append(f"(?P<{piece[1]}>{pattern})")
        elif piece == " ":
            found.append(" +")
        else:
            found.append(re.escape("%" if piece == "%%" else piece))
    return _AROUND + "".join(found) + _AROUND


@lru_cache(256)
def _compiled(spelling: str) -> re.Pattern[str]:
    return re.compile(pattern_of(spelling))


def moment(text: str, spelling: str, decimal: str = ".") -> datetime | None:
    """Return the time that a field holds in a spelling of `Mapping.time_format`, or None.

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
        found = matched(_compiled(spelling), text)
    except (OverflowError, _NoSuchTime):
        return None
    try:
        return None if found is None else _parts_moment(found.groupdict(), spelling)
    except ValueError:  # there is no such day or hour
        return None


class _NoSuchTime(Exception):  # noqa: N818 - a signal inside this module
    """There is no such day or hour."""


def _iso_moment(text: str) -> datetime | None:
    found = matched(_ISO, text)
    if found is None:
        return None
    timed, offset, day = found.groups()
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
    if matched(_NAIVE_ISO, text):
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
    """Return the time of a format's parts, by their letters.

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
    found = datetime(
        year,
        month,
        int(parts["d"]),
        hour,
        int(parts.get("M") or 0),
        int(parts.get("S") or 0),
        int(fraction),
    )
    if "z" in parts:
        return found.replace(tzinfo=_zone(parts["z"]))
    return found if takes_zone(spelling) else found.replace(tzinfo=UTC)


def formats_of(text: str) -> tuple[str, ...]:
    """Return the strptime formats that a time may be written in; day first before month first."""
    return tuple(form for form in _shapes_of(text) if _parses(form, text))


def _shapes_of(text: str) -> tuple[str, ...]:
    """Return formats that look like a time, whether or not there is such a date."""
    text = text.strip(BLANKS)
    found = _DATE.match(text) if len(text) <= LONGEST else None
    if found is None or found.lastgroup is None:
        return tuple(form for form in (*_WHOLE, *_DIGITS_ONLY) if reads_time(text, form))
    clock = _CLOCK.fullmatch(text, found.end())
    if clock is None:
        return ()
    return tuple(form + _clock_format(clock) for form in _DATES[int(found.lastgroup[1:])][1:])


def _clock_format(clock: re.Match[str]) -> str:
    """Return the format of a time of day and of what stands behind it."""
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
    """Return the spellings that fit most of these fields equally well, or none.

    Parameters
    ----------
    values : sequence of str
    decimal : str
    serials : str
        Of a spreadsheet, which of `SERIALS` its dates are where they have no format.

    Returns
    -------
    tuple of str
        As in `Mapping.time_format`. Several if no field tells whether the day or the month comes
        first, or whether digits are a date or an instant since 1970.
    """
    values = [v for v in values if v.strip()]
    if not values:
        return ()
    if share(values, is_iso) > 0.5:
        return ("iso",)
    if share(values, lambda v: number(v, decimal) is not None) > 0.5:
        return _digit_formats(values, decimal, serials)
    # most columns are of something else, and there may be thousands of them
    if share(values[:20], lambda v: bool(_shapes_of(v))) == 0:
        return ()
    votes = Counter(form for v in values for form in formats_of(v))
    most = max(votes.values(), default=0)
    best = tuple(form for form, n in votes.items() if n == most and 2 * n > len(values))
    return best if len(best) < 2 or told_apart(values, best) else best[:1]


def _digit_formats(values: Sequence[str], decimal: str, serials: str) -> tuple[str, ...]:
    """Return the spellings that fit most of some numbers: dates first, then instants since 1970."""
    if serials and share(values, partial(_is_serial, spelling=serials, decimal=decimal)) > 0.9:
        return (serials,)
    dates = tuple(
        form for form in _DIGITS_ONLY if share(values, partial(reads_time, spelling=form)) > 0.5
    )

    def instant(text: str, spelling: str) -> bool:
        found = moment(text, spelling, decimal)
        if found is None:
            return False
        if dates:
            return found >= _FIRST_OTHER_EPOCH and _in_years(found)
        return _FIRST_EPOCH <= found.timestamp() < _LAST_EPOCH

    since = [name for name in EPOCHS if share(values, partial(instant, spelling=name)) > 0.5]
    return (*dates, *since) if dates else tuple(since[:1])


def _is_serial(text: str, spelling: str, decimal: str) -> bool:
    found = moment(text, spelling, decimal)
    return found is not None and 1990 <= found.year < 2100


def only_digits(spelling: str | None) -> bool:
    """Tell whether times written that way may be numbers of something else: ids or telephones."""
    return spelling in (*COUNTED, *_DIGITS_ONLY)


def told_apart(values: Sequence[str], formats: Sequence[str], decimal: str = ".") -> str:
    """Return the first field that is another time in another of some spellings, or nothing."""
    for value in values:
        found = {moment(value, form, decimal) for form in formats} - {None}
        if len(found) > 1:
            return value.strip()
    return ""


def time_format(values: Sequence[str], decimal: str = ".", serials: str = "") -> str | None:
    """Return the spelling that most of these fields share, or None if none of ours fits."""
    return next(iter(time_formats(values, decimal, serials)), None)


def format_of_example(text: str) -> str:
    """Return the spelling of a time typed as an example, such as ``31.12.2024 23:59``.

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
    found = time_formats([text])
    if not found:
        raise ValueError(
            f"“{text}” is no time that can be read; give an example such as 31.12.2024 23:59, or "
            f"iso, {', '.join(EPOCHS)}"
        )
    if only_digits(found[0]):
        return found[0]
    if len(found) > 1:
        raise ValueError(
            f"“{text}” does not tell the day from the month; give an example whose day is above "
            "12, such as " + " or ".join(example_of(form) for form in found)
        )
    return found[0]


def check_format(spelling: str) -> None:
    """Refuse a format that no time can be read with.

    Raises
    ------
    ValueError
        If it is too long, or `pattern_of` refuses it; the message says why.
    """
    if len(spelling) > LONGEST:
        shown = spelling[:LONGEST]
        raise ValueError(f"“{shown}”… is longer than {LONGEST} characters; give a shorter format")
    if spelling not in ("iso", *COUNTED):
        pattern_of(spelling)


def example_of(spelling: str) -> str:
    """Return the last minute of 2024 written that way."""
    if spelling in COUNTED:
        epoch = COUNTED[spelling]
        units = (_EXAMPLE.timestamp() - epoch.start) * 1e6 / epoch.microseconds
        text = f"{units:.6f}" if spelling in SERIALS else f"{units:.0f}"
        return f"{text} ({epoch.meaning})"
    if spelling == "iso":
        spelling = "%Y-%m-%d %H:%M:%S"
    return _with_parts(spelling, lambda part: part.example)


def meaning_of(spelling: str) -> str:
    """Return the parts of a spelling in words: ``day.month.year hour:minute``."""
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
    """Return the time that a field holds in a spelling, as ``2012-04-01 07:00``; or nothing."""
    found = moment(text, spelling, decimal)
    return "" if found is None else found.strftime("%Y-%m-%d %H:%M" + ":%S" * bool(found.second))


def takes_zone(spelling: str) -> bool:
    """Tell whether times written that way may say nothing about their offset from UTC."""
    said = spelling.endswith(("Z", "UTC", "GMT")) or "%z" in spelling
    return spelling not in EPOCHS and not said


def reads_time(text: str, spelling: str, decimal: str = ".") -> bool:
    """Tell whether a field is a time that is kept, in a spelling of `Mapping.time_format`."""
    found = moment(text, spelling, decimal)
    return found is not None and _in_years(found)


def _in_years(found: datetime) -> bool:
    utc = found if found.tzinfo is None else found.astimezone(UTC)
    return FIRST_YEAR <= utc.year <= LAST_YEAR


def time_fault(text: str, spelling: str, decimal: str = ".") -> tuple[str, str]:
    """Return what is wrong with a field that is no time in a spelling, and what to do."""
    if moment(text, spelling, decimal) is not None:
        return f"its year is outside {FIRST_YEAR}–{LAST_YEAR}", "correct it, or remove the row"
    if letters := matched(_ZONE_LETTERS, text):
        return (
            f"it names its time zone by letters ({letters[1]})",
            "write the offset from UTC instead, as in 2024-12-31 23:59:58-05:00",
        )
    other = formats_of(text)
    iso = matched(_ISO_SHAPE, text)
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
    """Tell whether a field is a time in ISO 8601, of a day and an hour that exist."""
    return moment(text, "iso") is not None


def _parses(spelling: str, value: str) -> bool:
    return moment(value, spelling) is not None


def share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    """Return which share of some fields passes a test."""
    return sum(1 for v in values if test(v)) / len(values)


RULE = (
    "A time that the clocks show twice is the first of the two; one that they skip is read as if "
    "they had not been put forward yet."
)
"""What becomes of times in the hour that is repeated or skipped: the rule of releases, too."""


@cache
def _known() -> dict[str, str]:
    """Return the names, by their lower-case forms."""
    import duckdb

    with duckdb.connect() as con:
        names = con.execute("SELECT name FROM pg_timezone_names() ORDER BY name").fetchall()
    return {name.lower(): name for (name,) in names}


def zone_name(text: str) -> str:
    """Return the name of a time zone as it is usually written.

    Raises
    ------
    CheckinError
        If there is none of that name; the message names one like it.
    """
    known = _known()
    asked = text.strip().replace(" ", "_").lower()
    if asked in known:
        return known[asked]
    cities = {name.rpartition("/")[2]: whole for name, whole in known.items() if "/" in name}
    near = difflib.get_close_matches(asked, known, 1) or difflib.get_close_matches(
        asked.rpartition("/")[2], cities, 1
    )
    like = known.get(near[0]) or cities[near[0]] if near else "Europe/Vienna"
    raise CheckinError(
        f"No time zone is called “{text[:60]}”; give a name of the IANA list such as {like}, or "
        "UTC."
    )


@cache
def fold_seconds(zone: str) -> tuple[int, ...]:
    """Return by how many seconds clocks of a zone were put back, ascending, each number once."""
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        found = con.execute(
            "SELECT DISTINCT CAST(epoch(before - ahead) AS BIGINT) AS seconds FROM (SELECT ahead, "
            "lag(ahead) OVER (ORDER BY day) AS before FROM (SELECT day, timezone($zone, day) - "
            "timezone('UTC', day) AS ahead FROM (SELECT unnest(generate_series("
            "TIMESTAMPTZ '1931-12-01', TIMESTAMPTZ '2068-02-01', INTERVAL 1 DAY)) AS day))) "
            "WHERE before > ahead ORDER BY seconds",
            {"zone": zone},
        ).fetchall()
    return tuple(int(seconds) for (seconds,) in found)
