"""How times are written: told from a column or from an example, and shown by examples."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time

from explorer.checkins.readers.cells.numbers import BLANKS, LONGEST, matched, number

ISO = re.compile(
    r"\s*(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})"
    r"([T ](?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})(\.\d+)?)?"
    r"(\s*(Z|UTC)|[+-]\d{2}:?\d{0,2})?)?\s*",
    re.ASCII,
)

NAIVE_ISO = r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?\s*"
"""Without an offset, as the database's regular expressions have it."""

EPOCHS = {
    "epoch_s": (1.0, "seconds since 1970"),
    "epoch_ms": (1e3, "milliseconds since 1970"),
    "epoch_us": (1e6, "microseconds since 1970"),
}
_FIRST_EPOCH, _LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990 to 2100: else it is just a number

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

_DIGITS_ONLY = "%Y%m%d%H%M%S"
"""The one that is a number, too."""

OFFERED = (
    "iso", *EPOCHS, "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M %p", _DIGITS_ONLY, *_WHOLE,
)  # fmt: skip
"""Common spellings, offered beside those found in a file."""

_MEANING = {
    "%d": "day", "%m": "month", "%b": "month", "%Y": "year", "%y": "year", "%H": "hour",
    "%I": "hour", "%M": "minute", "%S": "second", "%f": "fraction", "%p": "AM/PM",
    "%a": "weekday", "%z": "offset",
}  # fmt: skip
_DIRECTIVES = "aAbBdfHIjmMpSyYzZ"
"""Letters behind % that both this and the database's strptime read alike."""

_EXAMPLE = datetime(2024, 12, 31, 23, 59, 58, tzinfo=UTC)


def formats_of(text: str) -> tuple[str, ...]:
    """Return the strptime formats that a time may be written in; day first before month first."""
    return tuple(form for form in _shapes_of(text) if _parses(form, text))


def _shapes_of(text: str) -> tuple[str, ...]:
    """Return formats that look like a time, whether or not there is such a date."""
    text = text.strip(BLANKS)
    if len(text) > LONGEST:
        return ()
    found = _DATE.match(text)
    if found is None or found.lastgroup is None:
        return tuple(form for form in (*_WHOLE, _DIGITS_ONLY) if _parses(form, text))
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


def time_formats(values: Sequence[str], decimal: str = ".") -> tuple[str, ...]:
    """Return the spellings that fit most of these fields equally well, or none.

    Returns
    -------
    tuple of str
        As in `Mapping.time_format`. Two if no field tells whether the day or the month comes first.
    """
    values = [v for v in values if v.strip()]
    if not values:
        return ()
    if share(values, lambda v: matched(ISO, v) is not None) > 0.5:
        return ("iso",)
    for name, (unit, _) in EPOCHS.items():

        def since_1970(v: str, unit: float = unit) -> bool:
            n = number(v, decimal)
            return n is not None and _FIRST_EPOCH <= n / unit < _LAST_EPOCH

        if share(values, since_1970) > 0.5:
            return (name,)
    if share(values, lambda v: number(v, decimal) is not None) > 0.5:
        fits = share(values, lambda v: _parses(_DIGITS_ONLY, v))
        return (_DIGITS_ONLY,) if fits > 0.5 else ()
    # most columns are of something else, and there may be thousands of them
    if share(values[:20], lambda v: bool(_shapes_of(v))) == 0:
        return ()
    votes = Counter(form for v in values for form in formats_of(v))
    most = max(votes.values(), default=0)
    best = tuple(form for form, n in votes.items() if n == most and 2 * n > len(values))
    return best if len(best) < 2 or told_apart(values) else best[:1]


def told_apart(values: Sequence[str]) -> str:
    """Return the first field that is another time with the month first, or nothing."""
    for value in values:
        if len({datetime.strptime(value.strip(), form) for form in formats_of(value)}) > 1:
            return value.strip()
    return ""


def time_format(values: Sequence[str], decimal: str = ".") -> str | None:
    """Return the spelling that most of these fields share, or None if none of ours fits."""
    return next(iter(time_formats(values, decimal)), None)


def format_of_example(text: str) -> str:
    """Return the spelling of a time typed as an example, such as ``31.12.2024 23:59``.

    Raises
    ------
    ValueError
        If it is no time that can be read, or does not tell day from month; the message says so.
    """
    if text in ("iso", *EPOCHS):
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
    if len(found) > 1:
        raise ValueError(
            f"“{text}” does not tell the day from the month; give an example whose day is above "
            "12, such as " + " or ".join(example_of(form) for form in found)
        )
    return found[0]


def check_format(spelling: str) -> None:
    """Refuse a strptime format that no time can be read with.

    Raises
    ------
    ValueError
        If it is too long, has an unknown directive or one twice, or does not say each day; the
        message says so.
    """
    if spelling in ("iso", *EPOCHS):
        return
    shown, codes = f"“{spelling[:LONGEST]}”", re.findall("%(.?)", spelling.replace("%%", ""))
    if len(spelling) > LONGEST:
        raise ValueError(f"{shown}… is longer than {LONGEST} characters; give a shorter format")
    unknown = [code for code in codes if code not in _DIRECTIVES]
    if unknown:
        known = " ".join(f"%{code}" for code in _DIRECTIVES)
        raise ValueError(f"{shown}: there is no %{unknown[0]} in a time; use {known}")
    twice = [code for code in codes if codes.count(code) > 1]
    if twice:
        raise ValueError(f"{shown} has %{twice[0]} twice; name each part of a time once")
    try:
        there = datetime.strptime(_EXAMPLE.strftime(spelling), spelling)
    except (ValueError, re.error):
        there = None
    if there is None or there.date() != _EXAMPLE.date():
        raise ValueError(
            f"{shown} does not say each day; give a format such as %Y-%m-%d %H:%M:%S, or an "
            "example such as 31.12.2024 23:59"
        )


def example_of(spelling: str) -> str:
    """Return the last minute of 2024 written that way."""
    if spelling in EPOCHS:
        unit, words = EPOCHS[spelling]
        return f"{_EXAMPLE.timestamp() * unit:.0f} ({words})"
    return _EXAMPLE.strftime("%Y-%m-%d %H:%M:%S" if spelling == "iso" else spelling)


def meaning_of(spelling: str) -> str:
    """Return the parts of a spelling in words: ``day.month.year hour:minute``."""
    if spelling in EPOCHS:
        return EPOCHS[spelling][1]
    if spelling == "iso":
        return "year-month-day, ISO 8601"
    return re.sub("%[a-zA-Z]", lambda code: _MEANING.get(code[0], code[0]), spelling)


def takes_zone(spelling: str) -> bool:
    """Tell whether times written that way may say nothing about their offset from UTC."""
    said = spelling.endswith(("Z", "UTC", "GMT")) or "%z" in spelling or "%Z" in spelling
    return spelling not in EPOCHS and not said


def reads_time(text: str, spelling: str, decimal: str = ".") -> bool:
    """Tell whether a field is a time in a spelling of `Mapping.time_format`."""
    if spelling == "iso":
        return _is_iso(text)
    if spelling in EPOCHS:
        return number(text, decimal) is not None
    return _parses(spelling, text)


def time_fault(text: str, spelling: str) -> tuple[str, str]:
    """Return what is wrong with a field that is no time in a spelling, and what to do."""
    other = formats_of(text)
    iso = matched(ISO, text) is not None
    if (spelling == "iso" and iso) or (spelling in _shapes_of(text) and not other):
        return "there is no such day or hour", "correct it"
    if other or iso:
        return (
            f"it is written {meaning_of(other[0] if other else 'iso')}",
            f"write it {meaning_of(spelling)}, or choose another example of the times",
        )
    return "it is no time that can be read", f"write it as {example_of(spelling)}"


def _is_iso(text: str) -> bool:
    """Tell whether a field is a time in ISO 8601, of a date and an hour that there are."""
    found = matched(ISO, text)
    if found is None:
        return False
    year, month, day, *clock = (
        int(found[part] or 0) for part in ("year", "month", "day", "hour", "minute", "second")
    )
    try:
        date(year, month, day)
        if clock != [24, 0, 0]:
            time(clock[0], clock[1], clock[2])
    except ValueError:
        return False
    return True


def _parses(spelling: str, value: str) -> bool:
    value = value.strip()
    if len(value) > LONGEST:
        return False
    try:
        datetime.strptime(value, spelling)
    except (ValueError, re.error):  # re.error: a directive twice, as in "%Y %Y"
        return False
    return True


def share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    """Return which share of some fields passes a test."""
    return sum(1 for v in values if test(v)) / len(values)
