"""Numbers in text: decimal points and commas, and separators of thousands, which are refused."""

import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

BLANKS = " \t\n\v\f\r"
"""What the reader allows beside a number; Python's own notion has separators such as U+001F too."""

LONGEST = 64
"""Characters of a number or a time, blanks around it not counted. Longer fields are neither."""

# ASCII: neither other scripts' digits nor separators beside a number are numbers to the reader.
_NUMBERS = {
    sign: re.compile(
        rf"[+-]?(\d+({re.escape(sign)}\d*)?|{re.escape(sign)}\d+)([eE][+-]?\d+)?", re.ASCII
    )
    for sign in ".,"
}
_FRACTIONS = {sign: re.compile(rf"[+-]?\d+{re.escape(sign)}\d+", re.ASCII) for sign in ".,"}

THOUSANDS = r"[+-]?[0-9]{1,3}([.,'’ \x{00A0}\x{202F}][0-9]{3})+([.,][0-9]+)?"
"""A number with separators of thousands, as the database's regular expressions have it."""

_THOUSANDS = re.compile(THOUSANDS.replace(r"\x{00A0}\x{202F}", "\u00a0\u202f"))


def matched(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Match a pattern with a whole field, blanks around it left out.

    A field longer than `LONGEST` is refused before the pattern sees it, so that no pattern, however
    it is written, takes more than a bounded number of steps.
    """
    text = text.strip(BLANKS)
    return pattern.fullmatch(text) if len(text) <= LONGEST else None


def short_enough(column: str) -> str:
    """Return the SQL test that a field is not longer than `LONGEST`, as in `matched`."""
    blanks = " || ".join(f"chr({ord(c)})" for c in BLANKS)
    return f"(strlen({column}) <= {LONGEST} OR length(trim({column}, {blanks})) <= {LONGEST})"


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number a field holds, or None."""
    found = matched(_NUMBERS[decimal], text)
    return None if found is None else float(found[0].replace(decimal, "."))


def has_thousands(text: str) -> bool:
    """Tell whether a field looks like a number with separators of thousands: ``1.234,5``."""
    return matched(_THOUSANDS, text) is not None


def has_fraction(text: str, decimal: str) -> bool:
    """Tell whether a field is a number with a fraction behind this sign."""
    return matched(_FRACTIONS[decimal], text) is not None


def decimal_sign(rows: Rows) -> str:
    """Return what stands before most fractions of a file: a point or a comma.

    A comma with three digits behind it is no sign of thousands here: degrees have no thousands.
    Where commas separate fields, those inside one stand between quotes.
    """
    cells = [cell for row in rows for cell in row]
    found = {sign: sum(has_fraction(cell, sign) for cell in cells) for sign in _FRACTIONS}
    return "," if found[","] > found["."] else "."


LATITUDE_FIRST, LONGITUDE_FIRST = "latlon", "lonlat"
"""Values of `Mapping.order`."""

_NUMBER = r"([+-]?[0-9]{1,3}(?:[.][0-9]+)?)"
POINT = (
    r"\s*(?:(?:SRID=[0-9]+;)?\s*POINT\s*Z?)?\s*[(\[{]?\s*"
    + _NUMBER
    + r"\s*°?(?:\s*[,;]\s*|\s+)"
    + _NUMBER
    + r"\s*°?(?:[,; ]\s*[+-]?[0-9.]+)?\s*[)\]}]?\s*"
)
"""The regular expression, in what Python and the database have in common; case is ignored."""

_POINT = re.compile(POINT, re.IGNORECASE | re.ASCII)


def point_in(text: str) -> tuple[float, float] | None:
    """Return the two numbers of a field in their order, or None."""
    found = matched(_POINT, text)
    return None if found is None else (float(found[1]), float(found[2]))


def coordinate_in(text: str, order: str, role: str) -> float | None:
    """Return the latitude (``lat``) or longitude of a field with both, or None."""
    pair = point_in(text)
    return None if pair is None else pair[(order == LATITUDE_FIRST) == (role == "lon")]
