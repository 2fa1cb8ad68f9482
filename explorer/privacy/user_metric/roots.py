"""Roots of increasing functions: many at once, or one that is expensive."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.privacy.bounds import FloatArray


def increasing_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    tolerance: float = 4e-15,
) -> tuple[FloatArray, FloatArray]:
    """Return brackets (a, b) with function(a) ≤ 0 < function(b), narrow to relative `tolerance`.

    Chandrupatla's method (1997): inverse quadratic steps where they are safe, bisection elsewhere.

    Parameters
    ----------
    function : callable
        Element by element increasing; −inf and +inf are allowed values, NaN is not.
    low, high : array of float, the same shape
        Starting brackets. Where function(high) ≤ 0 the result is (high, high); where
        function(low) > 0 it is (low, low).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = np.array(low, dtype=float), np.array(high, dtype=float)
        fa, fb = _tame(function(a)), _tame(function(b))
        bottom, top = a.copy(), b.copy()
        all_below, all_above = fb <= 0, fa > 0
        bottom, top = np.where(all_below, b, bottom), np.where(all_above, a, top)
        c, fc = a.copy(), fa.copy()
        step = np.full(a.shape, 0.5)
        done = all_below | all_above
        for _ in range(120):
            if done.all():
                break
            x = np.where(done, bottom, a + step * (b - a))
            fx = _tame(function(x))
            below = fx <= 0
            bottom = np.where(~done & below, x, bottom)
            top = np.where(~done & ~below, x, top)
            same = (fx > 0) == (fa > 0)
            c, fc = np.where(same, a, b), np.where(same, fa, fb)
            b, fb = np.where(same, b, a), np.where(same, fb, fa)
            a, fa = x, fx
            width = np.abs(b - a)
            unit = tolerance * np.maximum(np.abs(a), np.abs(b))
            done |= (width <= unit) | (fx == 0.0)
            floor = np.minimum(
                0.5, np.where(width > 0, 0.5 * unit / np.where(width > 0, width, 1.0), 0.5)
            )
            step = np.clip(_inverse_quadratic(a, b, c, fa, fb, fc), floor, 1 - floor)
    return np.where(all_above, low, bottom), np.where(all_below, high, top)


def _tame(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.asarray(values, dtype=float), -1e280, 1e280))


def _inverse_quadratic(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> FloatArray:
    """Return the fraction of the way from a to b to try next, ½ where interpolation is unsafe."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        safe = (phi * phi < xi) & ((1 - phi) * (1 - phi) < 1 - xi)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.asarray(np.where(safe & np.isfinite(t), t, 0.5))


def rough_root(function: Callable[[float], float], low: float, top: float) -> float:
    """Return about the root of an increasing, cheap function in [low, top], or about `top`."""
    step = max(low, 1e-3)
    high = low + step
    while function(high) < 0 and high < top:
        step *= 2
        high = min(low + step, top)
    a, b = low, high
    for _ in range(60):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if function(middle) < 0 else (a, middle)
        if b - a <= 1e-10 * b:
            break
    return 0.5 * (a + b)


def root_near(function: Callable[[float], float], low: float, start: float, top: float) -> float:
    """Return the last point found with function ≤ 0, searching outwards from `start`."""
    if function(top) <= 0:
        return top
    x = min(max(start, low), top)
    value = function(x)
    reach = max(1e-4 * x, 1e-300)
    if value <= 0:
        a = x
        while True:
            b = min(a + reach, top)
            if function(b) > 0:
                break
            a, reach = b, 8 * reach
    else:
        b = x
        while True:
            a = max(b - reach, low)
            if a <= low or function(a) <= 0:
                break
            b, reach = a, 8 * reach
    return bisect(function, a, b)[0]


def bisect(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return a bracket (a, b) with function(a) ≤ 0 < function(b) or the ends, narrow to 1e-12.

    Regula falsi with the Illinois change and a bisection whenever that is slow.
    """
    a, b = low, high
    fa, fb = function(a), function(b)
    side = 0
    for step in range(200):
        if b - a <= 1e-12 * b:
            break
        middle = 0.5 * (a + b)
        if step % 4 != 3 and math.isfinite(fa) and math.isfinite(fb) and fb > fa:
            x = a + (b - a) * min(max(-fa / (fb - fa), 1e-3), 1 - 1e-3)
        else:
            x = middle
        if not a < x < b:
            break
        fx = function(x)
        if fx <= 0:
            a, fa = x, fx
            fb = fb / 2 if side == -1 else fb
            side = -1
        else:
            b, fb = x, fx
            fa = fa / 2 if side == 1 else fa
            side = 1
    return a, b
