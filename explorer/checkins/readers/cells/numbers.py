"""Numbers in text: decimal points and commas, and separators of thousands, which are refused."""

import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

BLANKS = " \t\n\v\f\r"
"""What the reader allows beside a number; Python's own notion has separators such as U+001F too."""

# ASCII: neither other scripts' digits nor separators beside a number are numbers to the reader.
_NUMBERS = {
    sign: re.compile(rf"\s*[+-]?(\d+{re.escape(sign)}?\d*|{re.escape(sign)}\d+)([eE][+-]?\d+)?\s*",
                     re.ASCII)
    for sign in ".,"
}  # fmt: skip
_FRACTIONS = {sign: re.compile(rf"\s*[+-]?\d+{re.escape(sign)}\d+\s*", re.ASCII) for sign in ".,"}

THOUSANDS = r"[+-]?[0-9]{1,3}([.,'’ \x{00A0}\x{202F}][0-9]{3})+([.,][0-9]+)?"
"""A number with separators of thousands, as the database's regular expressions have it."""

_THOUSANDS = re.compile(THOUSANDS.replace(r"\x{00A0}\x{202F}", "\u00a0\u202f"))


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number a field holds, or None."""
    if not _NUMBERS[decimal].fullmatch(text):
        return None
    return float(text.strip(BLANKS).replace(decimal, "."))


def has_thousands(text: str) -> bool:
    """Tell whether a field looks like a number with separators of thousands: ``1.234,5``."""
    return _THOUSANDS.fullmatch(text.strip(BLANKS)) is not None


def has_fraction(text: str, decimal: str) -> bool:
    """Tell whether a field is a number with a fraction behind this sign."""
    return _FRACTIONS[decimal].fullmatch(text) is not None


def decimal_sign(rows: Rows) -> str:
    """Return what stands before most fractions of a file: a point or a comma.

    A comma with three digits behind it is no sign of thousands here: degrees have no thousands.
    Where commas separate fields, those inside one stand between quotes.
    """
    cells = [cell for row in rows for cell in row]
    found = {sign: sum(has_fraction(cell, sign) for cell in cells) for sign in _FRACTIONS}
    return "," if found[","] > found["."] else "."
