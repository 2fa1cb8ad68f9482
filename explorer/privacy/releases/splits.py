"""Budgets of levels in whole units of 2⁻⁴⁰, from ratios whose square is a fraction."""

from __future__ import annotations

import math
from fractions import Fraction


def level_split(
    epsilon_units: int, gamma_squared: Fraction, first: int, last: int
) -> tuple[int, ...]:
    """Return ⌊E·w_i/Σw⌋ with w_i = γ^{i−first}, without rounding before the floor.

    Their sum is at most E. With γ² = g = p/q the weights are a rational number, or one times √g:
    E·w_i/Σw = X + Y·√g, whose floor a square root of whole numbers finds.

    Parameters
    ----------
    epsilon_units : int
        E ≥ 0.
    gamma_squared : Fraction
        In (0, 1].
    first, last : int
        Levels, first ≤ last.

    Raises
    ------
    ValueError
        If a number is outside its domain.
    """
    if not 0 < gamma_squared <= 1:
        raise ValueError(f"gamma_squared: {gamma_squared} is outside (0, 1]")
    if epsilon_units < 0 or not first <= last:
        raise ValueError(f"epsilon_units, levels: {epsilon_units}, {first}..{last} make no split")
    g, count = Fraction(gamma_squared), last - first + 1
    root = Fraction(math.isqrt(g.numerator), math.isqrt(g.denominator))
    if root**2 == g:
        whole = sum(root**k for k in range(count))
        return tuple(math.floor(epsilon_units * root**k / whole) for k in range(count))
    # Σw = even + odd·√g, and 1/Σw = (even − odd·√g)/(even² − odd²·g): √g is irrational.
    even = sum((g**k for k in range((count + 1) // 2)), Fraction(0))
    odd = sum((g**k for k in range(count // 2)), Fraction(0))
    norm = even**2 - odd**2 * g
    found = []
    for k in range(count):
        factor = epsilon_units * g ** (k // 2) / norm
        # w = g^(k//2), times √g where k is odd.
        plain, rooted = (even, -odd) if k % 2 == 0 else (-odd * g, even)
        found.append(_floor(factor * plain, factor * rooted, g))
    return tuple(found)


def _floor(x: Fraction, y: Fraction, g: Fraction) -> int:
    """Return ⌊x + y·√g⌋."""
    # y·√g = ±√(y²g); over a common denominator D it is ±√M/D up to whole numbers.
    square = y * y * g
    D = math.lcm(x.denominator, square.denominator)
    M = square * D * D
    assert M.denominator == 1
    base = int(x * D)
    root = math.isqrt(int(M))
    if y >= 0:
        return (base + root) // D
    return (base - root - (root * root != M)) // D
