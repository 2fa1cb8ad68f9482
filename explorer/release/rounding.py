"""How a certificate writes numbers that are not exact: as decimals, on the safe side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Overflow
from fractions import Fraction

_CONTEXT = Context(prec=60, rounding=ROUND_CEILING)
_LN_10 = Context(prec=60, rounding=ROUND_FLOOR).next_minus(Decimal(10).ln(Context(prec=60)))
"""Not above the logarithm of 10."""
_SLACK = 1e-9
"""What a double may be off, relatively, after a computation of ours."""


def rounded_up(value: Fraction | float, digits: int = 4) -> str:
    """Write a non-negative number with at most so many decimals, never too small.

    A double counts as too small by 10⁻⁹ of itself.
    """
    exact = value if isinstance(value, Fraction) else Fraction(value * (1 + _SLACK))
    return _plain(-(-exact.numerator * 10**digits // exact.denominator), digits)


def fixed_up(value: float, digits: int = 6) -> str:
    """Write a double with exactly so many decimals, never too small, as `rounded_up` does."""
    exact = Fraction(value * (1 + _SLACK))
    whole = -(-exact.numerator * 10**digits // exact.denominator)
    return f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"


def factor(epsilon: Fraction) -> str:
    """Write e^ε, rounded up: two decimals below 100, whole below 10⁶, else three digits.

    Where a decimal can't hold it, a power of ten: its exponent is rounded up to a whole number, and
    to three digits where it has more than 15.
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
