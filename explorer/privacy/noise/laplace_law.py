"""The law of discrete Laplace noise of scale B/ε, for any exact ε: P(X = k) ∝ e^{−|k|ε/B}.

What release noise can be expected to be; see `explorer.privacy.noise.exact` for drawing it.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

_DIGITS = 60
"""Of logarithms that decide a whole number: they come out the same on every machine."""


def dlap_pmf(epsilon: Fraction, B: int, k: int) -> float:
    """Return P(X = k) = tanh(ε/2B)·e^{−|k|ε/B}.

    Parameters
    ----------
    epsilon : Fraction
        > 0.
    B : int
        ℓ1-sensitivity ≥ 1; the scale is B/ε.
    k : int

    Raises
    ------
    ValueError
        If ε or B is outside its domain.
    """
    x = _inverse_scale(epsilon, B)
    return math.tanh(x / 2) * math.exp(-float(abs(k) * Fraction(epsilon) / B))


def dlap_tail(epsilon: Fraction, B: int, m: int) -> float:
    """Return P(|X| ≥ m) = 2a^m/(1 + a) with a = e^{−ε/B}; 1 for m ≤ 0."""
    x = _inverse_scale(epsilon, B)
    if m <= 0:
        return 1.0
    return 2 * math.exp(-float(m * Fraction(epsilon) / B)) / (1 + math.exp(-x))


def dlap_sd(epsilon: Fraction, B: int) -> float:
    """Return the standard deviation √(2a)/(1 − a) = 1/(√2·sinh(ε/2B)), a = e^{−ε/B}."""
    x = _inverse_scale(epsilon, B)
    return 0.0 if x > 1400 else 1 / (math.sqrt(2) * math.sinh(x / 2))


def dlap_quantile(epsilon: Fraction, B: int, beta: Fraction) -> int:
    """Return the least m ≥ 0 with P(|X| > m) ≤ β.

    P(|X| > m) = 2a^{m+1}/(1 + a), so that m + 1 is the least whole number that is not below
    (B/ε)·ln(2/((1 + a)β)), found with decimals of 60 digits.

    Parameters
    ----------
    epsilon, B
        As in `dlap_pmf`.
    beta : Fraction
        In (0, 1).
    """
    _inverse_scale(epsilon, B)
    if not 0 < beta < 1:
        raise ValueError(f"beta: {beta} is outside (0, 1)")
    context = Context(prec=_DIGITS + len(str(B)))
    scale = decimal_of(B / Fraction(epsilon), context)
    a = context.exp(-context.divide(Decimal(1), scale))
    log = context.ln(context.divide(Decimal(2), context.add(Decimal(1), a)))
    log = context.subtract(log, context.ln(decimal_of(Fraction(beta), context)))
    least = context.multiply(scale, log)
    return max(int(least.to_integral_value(rounding=ROUND_CEILING)) - 1, 0)


def decimal_of(value: Fraction, context: Context) -> Decimal:
    """Return the decimal nearest to a fraction."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _inverse_scale(epsilon: Fraction, B: int) -> float:
    if not epsilon > 0:
        raise ValueError(f"epsilon: {epsilon} is not above 0")
    if B < 1:
        raise ValueError(f"B: {B} is below 1")
    return float(Fraction(epsilon) / B)
