"""Privacy parameters in plain words: what an observer can make of an answer, at most."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from explorer.privacy.bounds import Role


def best_chance(epsilon: float, delta: float = 0.0) -> float:
    """Return how often, at best, an observer at 50:50 guesses right.

    The best test between two neighbouring inputs, equally likely beforehand, is right with
    probability (1 + TV)/2 ≤ (e^ε + δ)/(1 + e^ε) under (ε, δ)-DP (Kairouz, Oh & Viswanath 2015,
    Theorem 2.1); under pure ε-DP the same number bounds every posterior.
    """
    low = math.exp(-min(epsilon, 700.0))
    return (1 + delta * low) / (1 + low)


def odds(epsilon: float, delta: float = 0.0) -> str:
    """Return `best_chance` in 100 against the rest, rounded up: ``88:12``."""
    chance = 100 * best_chance(epsilon, delta)
    # One more digit as long as the smaller side would read 0 or the two sides alike.
    for digits in range(5):
        step = 10.0**-digits
        up = min(math.ceil(chance / step - 1e-9) * step, 100.0)
        if 50.0 < up < 100.0 and (100.0 - up) / step >= 0.999 and (up - chance) < (100.0 - chance):
            return f"{up:.{digits}f}:{100 - up:.{digits}f}"
    return "50:50" if chance < 51 else "100:0"


def guesses(epsilon: float, delta: float, what: str, seen: str) -> str:
    """Return one plain sentence about an observer who wants to know `what` and sees `seen`.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee.
    what : str
        After "thought it 50:50": ``which of two records a client holds``.
    seen : str
        After "times in 100": ``after seeing everything``.
    """
    best = odds(epsilon, delta)
    if best == "100:0":
        return (
            f"No protection worth the name: an observer who thought it 50:50 {what} may become "
            "practically certain."
        )
    right, wrong = best.split(":")
    return (
        f"An observer who thought it 50:50 {what} guesses right at most {right} times in 100 "
        f"{seen}: odds of {right}:{wrong}."
    )


def small(value: float) -> str:
    """Write a probability for reading: ``1e-8``, not ``1e-08``."""
    mantissa, e, exponent = f"{value:.2g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def signed(value: float, digits: int = 4) -> str:
    """Write a number that may be negative, with a minus sign and no hyphen: ``−27.63``."""
    return ("−" if value < 0 else "") + f"{abs(value):.{digits}g}"


def at_most(value: float, digits: int = 4) -> str:
    """Write an upper bound with a few digits, rounded up: ``0.04503``, ``2.9e-6``."""
    return _rounded(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 4) -> str:
    """Write a lower bound, or a number that may be used, rounded down: ``3.848``."""
    return _rounded(value, digits, ROUND_FLOOR)


def with_role(label: str, role: Role, joint: str) -> str:
    """Return a curve's name with what it is, unless the name says so itself.

    ``exact`` within a name is about something else: exact noise, an exact constraint.
    """
    names = label.lower()
    told = f"({role.value})" in names or (role is not Role.EXACT and role.value in names)
    return label if told else f"{label}{joint}{role.value}"


def safe_to_show(value: float, role: Role | None, digits: int = 4) -> float:
    """Return a number as it may be shown: bounds rounded to their safe side, others as they are."""
    if role is Role.UPPER:
        return float(at_most(value, digits))
    return float(at_least(value, digits)) if role is Role.LOWER else value


def times(ratio: float) -> str:
    """Write how many times as large something is: ``0.426 times``, ``1,360 times``, ``2e12 times``.

    Three digits; whole from 1000 on, a power of ten from a million on.
    """
    if math.isinf(ratio):
        return "infinitely many times"
    if 999.5 <= ratio < 999_500:
        step = 10 ** (math.floor(math.log10(ratio)) - 2)
        return f"{step * round(ratio / step):,.0f} times"
    mantissa, e, exponent = f"{ratio:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)} times" if e else f"{mantissa} times"


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    # What doubles add in the sixteenth digit is not to move the last one shown.
    exact = Context(prec=12).plus(Decimal(value))
    shown = Context(prec=digits, rounding=rounding).plus(exact)
    mantissa, e, exponent = f"{float(shown):.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa
