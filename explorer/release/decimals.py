"""Decimals as people and files write them, read exactly."""

from __future__ import annotations

import re
from fractions import Fraction

MOST_DIGITS = 40
MOST_EXPONENT = 40
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?", re.ASCII)


def exact_decimal(text: str) -> Fraction | None:
    """Return the number that a text is, or None where it is none.

    Read are an optional sign, digits with at most one point among or beside them, and an exponent:
    ``-12.50``, ``.5``, ``3e-2``. More than `MOST_DIGITS` digits, an exponent beyond
    ±`MOST_EXPONENT`, nan, inf, spaces and digits that are not ASCII can't be read.
    """
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, exponent = found.groups()
    digits = whole + (part or "")
    power = int(exponent or 0)
    if not 0 < len(digits) <= MOST_DIGITS or abs(power) > MOST_EXPONENT:
        return None
    power -= len(part or "")
    value = Fraction(int(digits) * 10**power) if power >= 0 else Fraction(int(digits), 10**-power)
    return -value if sign == "-" else value
