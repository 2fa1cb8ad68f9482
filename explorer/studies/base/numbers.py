"""Formatting of numbers for people, with directed rounding by role."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from explorer.privacy.core.bound import Role

DIGITS = 4
"""Significant digits of a number that is shown; what is typed or solved for has more."""
PARAMETER_DIGITS = 6
"""As many as its field shows: four would make 1.2345-DP out of ε = 1.234."""
APPROXIMATELY = "≈"
"""Before what is read between two computed points: on a straight line between two upper bounds
nothing is promised, so that such a number has no role and is rounded to nearest."""
_POWER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)e([-+]?\d+)\b")
_COMPARED = re.compile(r" ([≤≥<>=≈]) ")
SUPERSCRIPT = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_SIDE = {Role.UPPER: ROUND_CEILING, Role.LOWER: ROUND_FLOOR}
_DOUBLE = Context(prec=15)
"""Digits that doubles keep: 0.1 + 0.2 is 0.3, and is not to be shown as 0.3001."""
_LOWEST, _HIGHEST = Decimal("0.001"), 10**6
"""Between them a number is written without a power of ten."""
_WHOLE, _COUNT = 10**7, 10**13


def format_number(
    value: float | None, role: Role | None = None, digits: int = DIGITS, *, typeset: bool = True
) -> str:
    """Write a number for reading: ``0.25``, ``1,000,000``, ``2.5×10⁻⁸``.

    Parameters
    ----------
    value : float or None
        None and NaN are written as a dash.
    role : Role, optional
        An upper bound is rounded up, a lower bound down, everything else to nearest. An exact
        number that is claimed is a bound: see `explorer.studies.base.claims`.
    digits : int
        Significant digits. Whole numbers below 10⁷ are never rounded, and no digit before the
        decimal point is below 10⁶.
    typeset : bool
        Whether powers of ten are raised and a minus sign is one; else as one types: ``-2.5e-8``.
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if value == round(value) and (size < _WHOLE or _is_count(value)):
        text = f"{round(value):,}"
    else:
        text = _digits(_rounded(value, role, digits))
    if not typeset:
        return text
    mantissa, e, exponent = text.partition("e")
    if e:
        power = power_of_ten(int(exponent))
        text = {"1": power, "-1": f"-{power}"}.get(mantissa, f"{mantissa}×{power}")
    return text.replace("-", "−")


def at_most(value: float, digits: int = DIGITS) -> str:
    """Write an upper bound in a sentence, rounded up: ``0.04503``, ``2.9e-6``."""
    return _in_words(value, Role.UPPER, digits)


def at_least(value: float, digits: int = DIGITS) -> str:
    """Write a lower bound, or what may be used, in a sentence, rounded down: ``3.848``."""
    return _in_words(value, Role.LOWER, digits)


def nearest(value: float, digits: int = DIGITS) -> str:
    """Write a number that is no bound in a sentence: ``0.2078``, ``1e-8``, ``−27.63``."""
    return _in_words(value, None, digits)


def format_interval(low: float, high: float, digits: int = DIGITS) -> str:
    """Write an interval that holds a number, its ends rounded outwards: ``0.123 … 0.457``."""
    below, above = format_number(low, Role.LOWER, digits), format_number(high, Role.UPPER, digits)
    return below if below == above else f"{below} … {above}"


def _in_words(value: float, role: Role | None, digits: int) -> str:
    text = format_number(value, role, digits, typeset=False)
    return "−" + text[1:] if text.startswith("-") else text


def in_signs(text: str) -> str:
    """Return text with its numbers as they stand on axes and in tables: ``1.789×10⁻⁶``."""
    return _POWER.sub(
        lambda found: (f"{found[1]}×" if found[1] != "1" else "") + power_of_ten(int(found[2])),
        text,
    )


def unbroken(text: str) -> str:
    """Return text without line breaks around comparison signs: ``k ≤ n``."""
    return _COMPARED.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)


def power_of_ten(exponent: int) -> str:
    """Write a power of ten with its exponent raised: ``10⁻⁴``."""
    return "10" + str(exponent).translate(SUPERSCRIPT)


def _is_count(value: float) -> bool:
    """Whether a whole number is written with all its digits: no round one, and not too long."""
    return isinstance(value, int) and abs(value) < _COUNT and float(f"{value:.3g}") != value


def _rounded(value: float, role: Role | None, digits: int) -> Decimal:
    exact = _DOUBLE.plus(Decimal(value))
    before = exact.adjusted() + 1 if abs(value) < _HIGHEST else 0
    rounding = _SIDE.get(role, ROUND_HALF_EVEN) if role is not None else ROUND_HALF_EVEN
    return Context(prec=max(digits, before), rounding=rounding).plus(exact)


def _digits(number: Decimal) -> str:
    """Return a number's digits without zeros at the end; far from 1 with an exponent."""
    if _LOWEST <= abs(number) <= _HIGHEST:
        text = f"{number:,f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = f"{number:e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def seconds_left(elapsed: float, known: int, done: int, total: int) -> float | None:
    """Estimate how long the rest takes of which `known` items were there before.

    None until a twentieth of the others is done, and at the end.
    """
    if done >= total or done - known <= (total - known) / 20:
        return None
    return elapsed * (total - done) / (done - known)
