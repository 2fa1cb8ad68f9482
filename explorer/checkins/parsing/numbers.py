"""Parsing of numbers and coordinate pairs in text; thousands separators are rejected."""

import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

BLANKS = " \t\n\v\f\r"
"""White space the reader allows around a number; Python's includes U+001F and others."""

NO_BREAK = "\u00a0\u202f"
"""Blanks in times and between thousands at which no line is broken."""

MAX_LENGTH = 64
"""Maximum length of numbers and times, without surrounding white space."""

# ASCII: the reader accepts neither other scripts' digits nor separators next to a number.
_NUMBERS = {
    sign: re.compile(
        rf"[+-]?(\d+({re.escape(sign)}\d*)?|{re.escape(sign)}\d+)([eE][+-]?\d+)?", re.ASCII
    )
    for sign in ".,"
}
_FRACTIONS = {sign: re.compile(rf"[+-]?\d+{re.escape(sign)}\d+", re.ASCII) for sign in ".,"}

THOUSANDS = rf"[+-]?[0-9]{{1,3}}([.,'’ {NO_BREAK}][0-9]{{3}})+([.,][0-9]+)?"
"""A number with thousands separators, in the database's regular expression syntax."""

_THOUSANDS = re.compile(THOUSANDS)


def match_field(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Match a pattern with a whole field, ignoring surrounding white space.

    A field longer than `MAX_LENGTH` is refused before the pattern sees it, so that every
    pattern takes a bounded number of steps.
    """
    text = text.strip(BLANKS)
    return pattern.fullmatch(text) if len(text) <= MAX_LENGTH else None


def short_enough(column: str) -> str:
    """Return an SQL condition that a field is not longer than `MAX_LENGTH`, as in `match_field`."""
    blanks = " || ".join(f"chr({ord(c)})" for c in BLANKS)
    return f"(strlen({column}) <= {MAX_LENGTH} OR length(trim({column}, {blanks})) <= {MAX_LENGTH})"


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number in a field, or None."""
    match = match_field(_NUMBERS[decimal], text)
    return None if match is None else float(match[0].replace(decimal, "."))


def has_thousands(text: str) -> bool:
    """Return whether a field looks like a number with thousands separators: ``1.234,5``."""
    return match_field(_THOUSANDS, text) is not None


def has_fraction(text: str, decimal: str) -> bool:
    """Return whether a field is a number with a fraction after this decimal sign."""
    return match_field(_FRACTIONS[decimal], text) is not None


def decimal_sign(rows: Rows) -> str:
    """Return the decimal sign of most fractions: a point or a comma.

    A comma with three digits behind it is no sign of thousands here: degrees have no thousands.
    If commas separate fields, a comma inside a field is quoted.
    """
    cells = [cell for row in rows for cell in row]
    counts = {sign: sum(has_fraction(cell, sign) for cell in cells) for sign in _FRACTIONS}
    return "," if counts[","] > counts["."] else "."


LATITUDE_FIRST, LONGITUDE_FIRST = "latlon", "lonlat"
"""Values of `Mapping.order`."""

_NUMBER = r"([+-]?[0-9]{1,3}(?:[.][0-9]+)?)"
POINT = (
    r"\s*(?:(?:SRID=[0-9]+;)?\s*POINT\s*Z?|geo:)?\s*[(\[{]?\s*"
    + _NUMBER
    + r"\s*°?(?:\s*[,;]\s*|\s+)"
    + _NUMBER
    + r"\s*°?(?:[,; ]\s*[+-]?[0-9.]+)?\s*[)\]}]?\s*"
)
"""Regular expression in the syntax common to Python and the database; ignores case."""

_POINT = re.compile(POINT, re.IGNORECASE | re.ASCII)


def point_in(text: str) -> tuple[float, float] | None:
    """Return the two numbers of a field in their order, or None."""
    match = match_field(_POINT, text)
    return None if match is None else (float(match[1]), float(match[2]))


def coordinate_in(text: str, order: str, role: str) -> float | None:
    """Return the latitude (``lat``) or longitude of a field with both, or None."""
    pair = point_in(text)
    return None if pair is None else pair[(order == LATITUDE_FIRST) == (role == "lon")]
