"""How the numbers of a text file are written: its delimiter and its decimal sign.

Numbers are digits, a sign, an exponent; no words such as nan, no underscores; at most 1e100 in
size, and 0 or at least 1e-100, so that nothing that is computed from them leaves the range of
doubles.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

LARGEST, SMALLEST = 1e100, 1e-100
BLANKS = " \t\u00a0"
NUMBERS = {
    ".": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?"),
    ",": re.compile(r"[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]{1,6})?"),
}
LONGEST = 64
"""Characters of a number; longer fields are none, and no pattern sees them."""
_LIKE = re.compile(r"[+-]?([.,]?[0-9][0-9_.,]*([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class DecimalSign(StrEnum):
    """What stands before the decimals of a file's numbers."""

    AUTO = "auto"
    POINT = "point"
    COMMA = "comma"


@dataclass(frozen=True)
class Dialect:
    """How a file's numbers are written.

    Attributes
    ----------
    delimiter : str
        Tab, semicolon or comma.
    decimal : str
        Point or comma.
    fractions : bool
        Whether fractions such as 1/3 are numbers. Elsewhere they could be dates.
    """

    delimiter: str = ","
    decimal: str = "."
    fractions: bool = False

    def number(self, text: str) -> float | None:
        """Return the number a field holds; None if it holds none or one out of range."""
        if self.fractions and "/" in text:
            above, _, below = text.partition("/")
            parts = [number_field(part, self.delimiter, self.decimal) for part in (above, below)]
            return None if parts[0] is None or not parts[1] else parts[0] / parts[1]
        return number_field(text, self.delimiter, self.decimal)

    def number_like(self, text: str) -> bool:
        """Whether a field is a number or was meant as one: ``1e308``, ``1_000``, ``nan``."""
        plain = _CONTROL.sub("", text).strip(BLANKS)
        return fits(_LIKE, plain) or (self.fractions and self.number(plain) is not None)

    def why_none(self, text: str) -> str:
        """Return why a field has no number although it may look like one; empty for words."""
        kept = text.strip(BLANKS)
        if fits(NUMBERS[self.decimal], kept):
            if self.number(kept) is not None:
                return ""
            shown = kept if len(kept) <= 40 else f"{kept[:40]}…"
            if abs(float(kept.replace(",", "."))) > 1:
                return f"{shown} is too large (at most 1e100)"
            return f"{shown} is too small (at least 1e-100, or 0)"
        if self.decimal == "." and fits(NUMBERS[","], kept):
            if self.delimiter == ",":
                return f"{text!r} has a decimal comma; between commas write a decimal point"
            return f"{text!r} has a comma and the file's decimal sign is a point"
        if self.decimal == "," and fits(NUMBERS["."], kept):
            return f"{text!r} has a point and the file's decimal sign is a comma"
        return ""


def fits(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a whole field fits a pattern; one longer than `LONGEST` does not."""
    return len(text) <= LONGEST and pattern.fullmatch(text) is not None


def number_field(text: str, delimiter: str, decimal: str) -> float | None:
    """Return the number a field holds; None if it holds none or one out of range.

    Parameters
    ----------
    text : str
        Blanks around a number are allowed.
    delimiter : str
        Of the file; between commas the decimal sign can't be a comma.
    decimal : str
        ``.`` or ``,``.
    """
    kept = text.strip(BLANKS)
    if (delimiter == "," and decimal == ",") or not fits(NUMBERS[decimal], kept):
        return None
    value = float(kept.replace(",", "."))
    if value == 0.0:
        # What is too small for a double reads as 0, too.
        mantissa = re.split("[eE]", kept)[0]
        return None if re.search("[1-9]", mantissa) else value
    return value if SMALLEST <= abs(value) <= LARGEST else None
