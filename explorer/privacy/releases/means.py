"""Decimals read exactly, and a user's mean of them as a whole number.

No float: what two typed decimals add up to must not depend on binary rounding, and what one user's
rows add up to not on other rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
MAX_DIGITS = 40
"""Of a readable decimal."""
_MAX_LENGTH = MAX_DIGITS + len("+.e+000")
"""Characters of a readable decimal: longer text never reaches the pattern."""
LARGEST_EXPONENT = 40
"""Written exponents are within ± this."""
DECIMAL_PLACES = MAX_DIGITS + LARGEST_EXPONENT
"""Decimal places that every readable decimal fits into: it is a whole number of 10⁻⁸⁰."""


def read_decimal(text: str) -> int | None:
    """Return a decimal as a whole number of 10⁻⁸⁰, exactly; None if it is not readable.

    Readable are digits with a sign, a point and an exponent, each optional, with at most 40 digits
    and an exponent within ±40; spaces around it don't count. Neither "nan" nor "inf" is.
    """
    text = text.strip()
    match = _DECIMAL.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return None
    sign, whole, part, exponent = match.groups("")
    power = int(exponent) if exponent else 0
    if not 1 <= len(whole) + len(part) <= MAX_DIGITS or abs(power) > LARGEST_EXPONENT:
        return None
    value: int = int(whole + part) * 10 ** (DECIMAL_PLACES + power - len(part))
    return -value if sign == "-" else value


def exact_decimal(name: str, text: str) -> Fraction:
    """Return a typed decimal.

    Raises
    ------
    ValueError
        Naming it, if it is not readable.
    """
    value = read_decimal(text) if isinstance(text, str) else None
    if value is None:
        raise ValueError(
            f'{name}: {text!r} is not a decimal of at most 40 digits; write one like "12.5"'
        )
    return Fraction(value, 10**DECIMAL_PLACES)


def centred_value(values: Iterable[int], low: int, high: int, B: int) -> int:
    """Return y = ⌊B·Σ(clip(x) − low)/(K·(high − low))⌋ of K ≥ 1 whole numbers of one unit.

    Parameters
    ----------
    values : iterable of int
        x of a user's rows.
    low, high : int
        In the same unit, low < high.
    B : int
        ≥ 1. The result is in 0…B.
    """
    total, rows = 0, 0
    for x in values:
        total += min(max(x, low), high) - low
        rows += 1
    return B * total // (rows * (high - low))


def user_value(rows: Iterable[str], low: str, high: str, B: int) -> int:
    """Return one user's mean between public bounds as a whole number in 0…B.

    Parameters
    ----------
    rows : iterable of str
        Decimals; unreadable ones are left out, and at least one is readable.
    low, high : str
        Decimals, low < high.
    B : int
        ≥ 1.

    Raises
    ------
    ValueError
        If no row is readable, or a bound is not.
    """
    scale = 10**DECIMAL_PLACES
    a, b = int(exact_decimal("low", low) * scale), int(exact_decimal("high", high) * scale)
    if not a < b or B < 1:
        raise ValueError(f"low, high, B: {low}, {high}, {B} leave no room")
    values = [value for row in rows if (value := read_decimal(row)) is not None]
    if not values:
        raise ValueError("rows: none is a readable decimal")
    return centred_value(values, a, b, B)


def mean_from_noisy(
    noisy_centred_sum: int, noisy_count: int, low: Fraction, high: Fraction, B: int
) -> Fraction:
    """Return the mean low + (high − low)·(½ + S/(2B·max(N, 1))), clipped to [low, high].

    Parameters
    ----------
    noisy_centred_sum : int
        S = Σ(2y − B) plus noise.
    noisy_count : int
        N = users plus noise.
    low, high : Fraction
        Public bounds.
    B : int
        ≥ 1.
    """
    share = Fraction(1, 2) + Fraction(noisy_centred_sum, 2 * B * max(noisy_count, 1))
    return low + (high - low) * min(max(share, Fraction(0)), Fraction(1))
