"""Decimal notation with directed rounding, for certificates and messages."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Overflow
from fractions import Fraction

_CONTEXT = Context(prec=60, rounding=ROUND_CEILING)
_LN_10 = Context(prec=60, rounding=ROUND_FLOOR).next_minus(Decimal(10).ln(Context(prec=60)))
"""Lower bound of ln 10."""
_SLACK = 1e-9
"""Relative error allowed for in doubles."""


def rounded_up(value: Fraction | float, digits: int = 4) -> str:
    """Return a number ≥ 0 rounded up to at most `digits` decimals.

    A double is first increased by the relative error 10⁻⁹.
    """
    exact = value if isinstance(value, Fraction) else Fraction(value * (1 + _SLACK))
    return _plain(-(-exact.numerator * 10**digits // exact.denominator), digits)


def rounded_down(value: Fraction, digits: int = 4) -> str:
    """Return a number ≥ 0 rounded down to at most `digits` decimals.

    Small numbers get more decimals, so that four significant digits remain.
    """
    while 0 < value < Fraction(1, 10 ** (digits - 3)):
        digits += 1
    whole = value.numerator * 10**digits // value.denominator
    text = f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
    return text.rstrip("0").rstrip(".")


def fixed_up(value: float, digits: int = 6) -> str:
    """Return a double rounded up to exactly `digits` decimals, as `rounded_up`."""
    exact = Fraction(value * (1 + _SLACK))
    whole = -(-exact.numerator * 10**digits // exact.denominator)
    return f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"


def factor(epsilon: Fraction) -> str:
    """Return e^ε rounded up: two decimals below 100, integer below 10⁶, else three digits.

    Beyond the range of decimals it is a power of ten, with the exponent rounded up to an integer,
    or to three digits if it has more than 15.
    """
    exponent = _CONTEXT.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    try:
        value = _CONTEXT.next_plus(_CONTEXT.exp(exponent))
    except Overflow:
        power = _CONTEXT.next_plus(_CONTEXT.divide(exponent, _LN_10))
        whole = f"{power.to_integral_value(ROUND_CEILING):f}"
        return f"10^{whole}" if power < 10**15 else f"10^({_three_digits(power)})"
    if value < 100:
        return str(value.quantize(Decimal("0.01"), rounding=ROUND_CEILING))
    if value < 10**6:
        return str(value.to_integral_value(rounding=ROUND_CEILING))
    return _three_digits(value)


def _three_digits(value: Decimal) -> str:
    power = value.adjusted()
    lead = value.scaleb(-power).quantize(Decimal("0.01"), rounding=ROUND_CEILING)
    return f"{lead}·10^{power}"


def _plain(whole: int, digits: int) -> str:
    text = f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
    return text.rstrip("0").rstrip(".")
