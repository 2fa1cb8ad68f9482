"""Declared format of a data file. Nothing is detected from the file itself.

If it were (type of a column, delimiter, quoting), one user's row could change how the rows of other
users are parsed, and the sensitivity would be unbounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from explorer.release.errors import ParameterError

USER, TIME, LAT, LON = "user", "time", "lat", "lon"
"""Columns of these names are the user's id, the time, latitude and longitude in degrees; columns
of any other name are text, which a mechanism may read as exact decimals."""

DELIMITERS = {"tab": 9, "comma": 44, "semicolon": 59, "pipe": 124, "space": 32}
ENCODINGS = {
    "utf-8": "utf-8",
    "latin-1": "iso8859-1",
    "latin-9": "iso8859-15",
    "windows-1252": "cp1252",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
}
"""Codecs by name. In UTF-16, delimiters and row ends are units of two bytes, else single bytes."""

TIME_FORMATS = ("iso", "unix", "unix-ms")
"""Other formats are patterns of `PATTERN_PARTS` and ASCII characters, such as ``%d.%m.%Y``."""
PATTERN_PARTS = {
    "%Y": r"(?P<year>\d{4})",
    "%m": r"(?P<month>\d{2})",
    "%d": r"(?P<day>\d{2})",
    "%H": r"(?P<hour>\d{2})",
    "%M": r"(?P<minute>\d{2})",
    "%S": r"(?P<second>\d{2})",
    "%b": r"(?P<name>[A-Z][a-z]{2})",
    "%a": r"[A-Z][a-z]{2}",
    "%z": r"(?P<offset>Z|[+-]\d{2}(?::?\d{2})?)",
}
HEADERS = {"no": False, "yes": True}
QUOTES = {"none": False, "double": True}
DECIMALS = {"point": 46, "comma": 44}
TRAILING = {"no": 0, "yes": 1}
ROW_ENDS = {"lf": 10, "cr": 13}
"""Values of optional parameters; the first of each is the default."""
MAX_COLUMNS = 1000
FORMAT_DECLARED, FORMAT_TAKEN = "declared", "taken from the file"
"""Origin of a format: typed by the curator, or detected when the file was opened."""

MIN_OFFSET, MAX_OFFSET = -12 * 3600, 14 * 3600
"""Range of UTC offsets, in seconds."""
_OFFSET = re.compile(r"([+-])(\d\d):([0-5]\d)", re.ASCII)


@dataclass(frozen=True)
class FileFormat:
    """Format of a data file: rows are split first, then each is parsed independently.

    Attributes
    ----------
    columns : tuple of str
        A name for every field of a row, including `USER`. A row with another number of fields is
        unreadable.
    delimiter : str
        One of `DELIMITERS`.
    header : str
        "yes" if the file may have rows of column names. Rows without a readable place or time are
        then skipped wherever they are; in files without such columns, rows that repeat the
        declared names. A first row with data is read like any other.
    encoding : str
        One of `ENCODINGS`.
    time_format : str
        One of `TIME_FORMATS`, or a pattern.
    time_zone : str
        Of times without an offset: "UTC", an offset such as "+05:30", or the name of a zone.
    quotes : str
        "double" if fields may be in double quotes, with quotes inside doubled. Quoting never spans
        rows: a row with an unclosed quote is unreadable. With "none", quotes are text.
    decimal : str
        "comma" or "point": decimal mark of numbers.
    trailing_delimiter : str
        "yes" if a delimiter follows the last field of every row.
    row_end : str
        "lf" (a CR before it is left out) or "cr".
    """

    columns: tuple[str, ...]
    delimiter: str
    header: str = "no"
    encoding: str = "utf-8"
    time_format: str = "iso"
    time_zone: str = "UTC"
    quotes: str = "none"
    decimal: str = "point"
    trailing_delimiter: str = "no"
    row_end: str = "lf"

    def __post_init__(self) -> None:
        _check_columns(self.columns)
        for name, choices in FORMAT_CHOICES.items():
            _one_of(name, getattr(self, name), choices)
        if self.decimal == self.delimiter == "comma" and not QUOTES[self.quotes]:
            raise ParameterError(
                "decimal",
                "is a comma, and so is the delimiter",
                'give "quotes": "double" if numbers stand in quotes, or another delimiter',
            )
        if self.time_format not in TIME_FORMATS:
            time_pattern(self.time_format)
        fixed_offset(self.time_zone)

    @classmethod
    def parse(cls, parameters: Mapping[str, object]) -> FileFormat:
        """Return the format declared by a plan's parameters; other parameters are ignored.

        Raises
        ------
        ParameterError
            Naming the parameter and the allowed values.
        """
        given = {key: parameters[key] for key in FORMAT_KEYS if key in parameters}
        for key, what in (("columns", "a list of names"), ("delimiter", "one of its names")):
            if key not in given:
                raise ParameterError(
                    key, "is missing", f"declare it ({what}), as nothing is read off the file"
                )
        columns = given.pop("columns")
        if not isinstance(columns, list | tuple):
            raise ParameterError("columns", "is not a list", 'give names, such as ["user", "time"]')
        for key, value in given.items():
            if not isinstance(value, str):
                raise ParameterError(key, "is not a text", "give it in quotes")
        return cls(tuple(columns), **given)  # type: ignore[arg-type]  # checked just now

    def parameters(self) -> dict[str, str | list[str]]:
        """Return the format as parameters of a certificate.

        Parameters in `WRITTEN_IF_CHANGED` are omitted at their defaults, so that plans from
        earlier versions are written unchanged.
        """
        stated: dict[str, str | list[str]] = {
            key: value
            for key in FORMAT_KEYS
            if (value := getattr(self, key)) != WRITTEN_IF_CHANGED.get(key)
        }
        return stated | {"columns": list(self.columns)}


FORMAT_KEYS = tuple(field.name for field in fields(FileFormat))
FORMAT_CHOICES: Mapping[str, Mapping[str, object]] = {
    "delimiter": DELIMITERS,
    "header": HEADERS,
    "encoding": ENCODINGS,
    "quotes": QUOTES,
    "decimal": DECIMALS,
    "trailing_delimiter": TRAILING,
    "row_end": ROW_ENDS,
}
"""Parameters with a fixed set of values."""
WRITTEN_IF_CHANGED = {
    key: next(iter(FORMAT_CHOICES[key]))
    for key in ("quotes", "decimal", "trailing_delimiter", "row_end")
}


def time_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression for a pattern of times, with a group for every part.

    Raises
    ------
    ParameterError
        If the pattern does not state each day once, or has an unknown part.
    """
    what = "give iso, unix, unix-ms or a pattern such as '%d.%m.%Y %H:%M:%S'"
    pieces = re.findall(r"%.|[^%]", pattern, re.DOTALL)
    if "".join(pieces) != pattern or not pattern.isascii() or not pattern.isprintable():
        raise ParameterError("time_format", f"{pattern!r} can't be read", what)
    parts = [piece for piece in pieces if piece.startswith("%")]
    unknown = [part for part in parts if part not in PATTERN_PARTS]
    if unknown:
        known = " ".join(PATTERN_PARTS)
        raise ParameterError(
            "time_format", f"{unknown[0]!r} is not a part of a time", f"use {known}"
        )
    month = ("%m" in parts) + ("%b" in parts)
    if len(set(parts)) < len(parts) or month != 1 or not {"%Y", "%d"} <= set(parts):
        raise ParameterError("time_format", f"{pattern!r} does not say each day once", what)
    return re.compile(
        "".join(PATTERN_PARTS.get(piece) or re.escape(piece) for piece in pieces), re.ASCII
    )


def fixed_offset(zone: str) -> int | None:
    """Return the constant UTC offset of a zone in seconds, or None if it varies.

    Raises
    ------
    ParameterError
        If the zone is unknown.
    """
    if zone == "UTC":
        return 0
    result = _OFFSET.fullmatch(zone)
    if result is not None:
        seconds = int(result[2]) * 3600 + int(result[3]) * 60
        seconds = -seconds if result[1] == "-" else seconds
        if not MIN_OFFSET <= seconds <= MAX_OFFSET:
            raise ParameterError(
                "time_zone",
                f"{_short(zone)} is not an offset that exists",
                "give one from -12:00 to +14:00",
            )
        return seconds
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ParameterError(
            "time_zone",
            f"{_short(zone)} is not a time zone known here",
            "give UTC, an offset such as +05:30 or a name such as Europe/Berlin",
        ) from None
    return None


def _check_columns(columns: tuple[object, ...]) -> None:
    remedy = "give a name for every field of a row, 'user' among them, each once"
    if not 0 < len(columns) <= MAX_COLUMNS:
        raise ParameterError("columns", f"has {len(columns)} names", remedy)
    for name in columns:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ParameterError("columns", f"{_short(name)} is not a name", remedy)
        if len(name) > 200:
            raise ParameterError("columns", f"{_short(name)} is too long a name", remedy)
    if len(set(columns)) < len(columns):
        raise ParameterError("columns", "has a name twice", remedy)
    if USER not in columns:
        raise ParameterError("columns", f"has no {USER!r}", remedy)


def _one_of(field: str, value: str, choices: Mapping[str, object]) -> None:
    if value not in choices:
        remedy = f"give {', '.join(choices)}"
        raise ParameterError(field, f"{_short(value)} is not offered", remedy)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
