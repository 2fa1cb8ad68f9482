"""Roots of increasing functions and minima of functions of one variable, many at once.

**Minima.** A grid finds the basin, shrinking grids around the best point so far do the rest. The
best point is always kept, so the answer never gets worse, and the ends of the range are tried
exactly, which matters where the objective jumps there.
"""

import math
from collections.abc import Callable

import numpy as np

from explorer.privacy.core.bound import FloatArray

_LEAST = -1e280
"""Stands for −∞ where numbers are reckoned with."""


def increasing_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    tolerance: float = 4e-15,
) -> tuple[FloatArray, FloatArray]:
    """Return brackets (a, b) with function(a) ≤ 0 ≤ function(b), narrow to relative `tolerance`.

    Chandrupatla's method (1997): inverse quadratic steps where they are safe, bisection elsewhere.

    Parameters
    ----------
    function : callable
        Element by element increasing; −inf and +inf are allowed values, NaN is not.
    low, high : array of float, the same shape
        Starting brackets. Where function(high) ≤ 0 the result is (high, high); where
        function(low) > 0 it is (low, low).
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = np.array(low, dtype=float), np.array(high, dtype=float)
        fa, fb = _clip(function(a)), _clip(function(b))
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
            fx = _clip(function(x))
            below = fx <= 0
            bottom = np.where(~done & below, x, bottom)
            top = np.where(~done & (fx >= 0), x, top)
            same = (fx > 0) == (fa > 0)
            c, fc = np.where(same, a, b), np.where(same, fa, fb)
            b, fb = np.where(same, b, a), np.where(same, fb, fa)
            a, fa = x, fx
            width = np.abs(b - a)
            unit = tolerance * np.maximum(np.abs(a), np.abs(b))
            done |= (width <= unit) | (fx == 0.0)
            floor = np.where(width > 0, np.minimum(0.5, 0.5 * unit / width), 0.5)
            step = _inverse_quadratic(a, b, c, fa, fb, fc)
            step = np.minimum(np.maximum(step, floor), 1 - floor)
    return np.where(all_above, low, bottom), np.where(all_below, high, top)


def _clip(values: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(np.maximum(values, _LEAST), -_LEAST))


def _inverse_quadratic(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> FloatArray:
    """Return the fraction of the way from a to b to try next, ½ where interpolation is unsafe."""
    xi = (a - b) / (c - b)
    phi = (fa - fb) / (fc - fb)
    safe = (phi * phi < xi) & ((1 - phi) * (1 - phi) < 1 - xi)
    t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.asarray(np.where(safe & np.isfinite(t), t, 0.5))


def rough_root(
    function: Callable[[float], float],
    low: float,
    high: float,
    near: float | None = None,
    tolerance: float = 1e-9,
) -> float:
    """Return about the root of an increasing, cheap function, or the nearer end.

    Chandrupatla's method as in `increasing_root`, for one root.

    Parameters
    ----------
    function : callable
        May take the value −∞.
    low, high : float
        Ends of the search.
    near : float, optional
        Where it may well be: the root of a function much like this one.
    tolerance : float
        Width of the bracket at the end.
    """
    a, fa, b, fb = _bracket(function, low, high, near)
    if fa >= 0 or fb <= 0:
        return a if fa >= 0 else b
    if fa == _LEAST and (x := a + 1e-9) < b:
        # Bisecting towards a jump takes thirty steps.
        if (fx := _finite(function(x))) >= 0:
            return x
        a, fa = x, fx
    c, fc, share = a, fa, 0.5
    for _ in range(100):
        x = a + share * (b - a)
        fx = _finite(function(x))
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        width = abs(b - a)
        if width <= tolerance or fx == 0:
            break
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        share = 0.5
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            share = fa / (fb - fa) * fc / (fb - fc)
            share += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        floor = 0.5 * tolerance / width
        share = min(max(share, floor), 1 - floor)
    return a if abs(fa) < abs(fb) else b


def _bracket(
    function: Callable[[float], float], low: float, high: float, near: float | None
) -> tuple[float, float, float, float]:
    """Return a bracket of an increasing function's root with its values, if it can a narrow one."""
    if near is not None and low < near < high:
        x, fx = near, _finite(function(near))
        up, step = fx < 0, 0.05
        while low < x < high:
            further = min(x + step, high) if up else max(x - step, low)
            value = _finite(function(further))
            if (value < 0) != up:
                return (x, fx, further, value) if up else (further, value, x, fx)
            x, fx, step = further, value, 4 * step
        return x, fx, x, fx
    return low, _finite(function(low)), high, _finite(function(high))


def _finite(value: float) -> float:
    """Return the value, −∞ as a number that can be reckoned with."""
    return max(value, _LEAST)


def root_near(
    function: Callable[[float], float],
    slope: Callable[[float], float],
    low: float,
    start: float,
    high: float,
) -> float:
    """Return a point with function ≤ 0, within 1e-11 below the root of an increasing function.

    Parameters
    ----------
    function : callable
        Expensive; may take the value −∞.
    slope : callable
        About its derivative, cheap.
    low, start, high : float
        `low` is taken to satisfy function ≤ 0 without being tried; `start` is near the root.
    """
    if function(high) <= 0:
        return high
    a, b = low, high
    x = min(max(start, low), high)
    rise, value, step = slope(x), math.nan, math.nan
    for _ in range(8):
        last, value = value, function(x)
        a, b = (x, b) if value <= 0 else (a, x)
        if not math.isfinite(value):
            break
        if math.isfinite(last) and abs(step) > 1e-7:
            # From the second point on the secant is better than the rough slope.
            rise = (value - last) / step
        # A slope of infinity says that the rough function ends nearby, not that this is the root.
        step = -value / rise if 0 < rise < math.inf else math.inf
        if value <= 0 and step <= 1e-11:
            return x
        # Aimed a little below the root: what is reached is safe, and need not be left again.
        step = step - 5e-12 if abs(step) < 1e-3 else step
        x += step
        if not a <= x <= b:
            break
    return bisect(function, a, b)[0]


def safe_side(
    function: Callable[[float], float],
    slope: Callable[[float], float],
    about: Callable[[float], float],
    low: float,
    start: float,
    high: float,
) -> float:
    """Return a point with function ≤ 0 not far below the root of an increasing function.

    As `root_near` for a function so expensive, or so coarse a bound, that some 1e-3 will do.
    `about` is roughly the function, and cheap.
    """
    rise, best = slope(start), low
    if 0 < rise < math.inf:
        x = start - 0.03 / rise
        # A first point that is good enough saves half of the time.
        expected = about(x)
        if math.isfinite(expected) and not -0.08 < expected <= 0:
            x -= (expected + 0.02) / rise
    else:
        x = start
    x, last = min(max(x, low), high), (math.nan, math.nan)
    for i in range(12):
        value = function(x)
        best = max(best, x) if value <= 0 else best
        if -0.08 < value <= 0 or (value > 0 and best == low and x - low <= 1e-6):
            break  # what may lie between `low` and here is too little to look for
        if abs(value - last[1]) > 0.2 and (value - last[1]) / (x - last[0]) > 0:
            # Of two points so far apart the secant is better than the rough slope.
            rise = (value - last[1]) / (x - last[0])
        else:
            rise = slope(x)
        last = x, value
        # Aimed a little below the root.
        step = -(value + 0.03) / rise if 0 < rise < math.inf else -math.copysign(1e-4 * 2**i, value)
        if value > 0 and i > 3:  # flatter here than the rough slope
            step *= 2 ** (i - 3)
        if not math.isfinite(step) or (value <= 0 and i > 3):
            break
        x = min(max(x + step, best), high)
    return best


def bisect(
    function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12
) -> tuple[float, float]:
    """Return a bracket (a, b) with function(a) ≤ 0 < function(b), or the ends, b − a ≤ tolerance.

    Regula falsi with the Illinois change, and every third step a bisection. The function may take
    the value −∞.
    """
    a, b = low, high
    fa, fb = function(a), function(b)
    side = 0
    for step in range(300):
        if b - a <= tolerance:
            break
        x = 0.5 * (a + b)
        if step % 3 != 2 and math.isfinite(fa) and math.isfinite(fb) and fa < 0 < fb:
            # Never closer to an end than a fraction: that end would not move.
            x = a + (b - a) * min(max(-fa / (fb - fa), 1e-4), 1 - 1e-4)
        if not a < x < b:
            break
        fx = function(x)
        if fx <= 0:
            a, fa, fb = x, fx, fb / 2 if side < 0 else fb
            side = -1
        else:
            b, fb, fa = x, fx, fa / 2 if side > 0 else fa
            side = 1
    return a, b


def highest_point(
    function: Callable[[float], float], low: float, high: float, width: float
) -> tuple[float, float]:
    """Return (x, function(x)) near the maximum of a function with one peak in [low, high].

    Golden section; of all points tried the best is returned, so that a function with small kinks
    does no harm.

    Parameters
    ----------
    function : callable
    low, high : float
    width : float
        Of the bracket at the end, above 0.
    """
    share = (math.sqrt(5) - 1) / 2
    a, b = low, high
    x, y = b - share * (b - a), a + share * (b - a)
    fx, fy = function(x), function(y)
    best = max((fx, x), (fy, y))
    while b - a > width:
        if fx >= fy:
            b, y, fy = y, x, fx
            x = b - share * (b - a)
            fx = function(x)
            best = max(best, (fx, x))
        else:
            a, x, fx = x, y, fy
            y = a + share * (b - a)
            fy = function(y)
            best = max(best, (fy, y))
    return best[1], best[0]


def certified_root(
    certified: Callable[[float], tuple[float, float]],
    log_delta: float,
    guess: float,
    lower: bool,
) -> float:
    """Return an ε ≥ 0 that is certainly on its side of where a falling δ is reached, and near it.

    Parameters
    ----------
    certified : callable
        From ε to a bound on ln δ, above it or, if `lower`, below it, and about −d ln δ/dε.
    log_delta : float
        ln of the target δ.
    guess : float
        Where it may well be.
    lower : bool
        Which side: the bound at the result is at least `log_delta` if so, at most that otherwise.

    Returns
    -------
    float
        Within some 1e-11 of itself where the bound is smooth there; NaN if none was found.
    """
    if not lower and certified(0.0)[0] <= log_delta:
        return 0.0
    low, high, eps, blind = 0.0, math.inf, max(guess, 0.0), 0
    for _ in range(60):
        value, slope = certified(eps)
        low, high = (eps, high) if value > log_delta else (low, eps)
        blind += low == 0 and not math.isfinite(value)
        step = (value - log_delta) / slope if slope > 0 else math.nan
        if value < -1 and log_delta < -1 and slope > 0:
            # √ln(1/δ) is all but linear in ε.
            root = math.sqrt(-value)
            step = 2 * root * (math.sqrt(-log_delta) - root) / slope
        narrow = math.isfinite(high) and high - low <= 1e-11 * high
        if abs(step) <= 1e-11 * eps or narrow or blind > 8:
            break
        new = eps + step
        if not low < new < high:
            new = 0.5 * (low + high) if math.isfinite(high) else 2 * eps + 1e-12
        eps = new
    side = -1 if lower else 1
    for part in (2e-11, 1e-9, 1e-7, 1e-5, 1e-3):
        shifted = max(eps * (1 + side * part), 0.0)
        if side * (log_delta - certified(shifted)[0]) >= 0:
            return shifted
    if lower:
        return low
    return high if math.isfinite(high) else math.nan


_OFFSETS = np.linspace(-1.0, 1.0, 33)
_SHRINK = 0.08
"""Of the window: a little more than the 1/16 between two of its points."""
_LAST_WINDOW = 1e-11
"""The last window's half; its points are a sixteenth of that apart."""


def minimise_interval(
    objective: Callable[[FloatArray], FloatArray],
    shape: tuple[int, ...],
    points: int = 513,
) -> tuple[FloatArray, FloatArray]:
    """Return where in [0, 1] an objective is least, and its value there, for a batch.

    Parameters
    ----------
    objective : callable
        Maps places of shape (*shape, k) to values of that shape; +inf where impossible.
    shape : tuple of int
        Of the batch.
    points : int
        Of the first grid.
    """
    first = np.broadcast_to(np.linspace(0.0, 1.0, points), (*shape, points))
    where, value = _smallest_of_row(objective, first)
    spread = 2.0 / (points - 1)
    while spread > _LAST_WINDOW:
        near = where[..., None] + spread * _OFFSETS
        where, value = _smallest_of_row(objective, np.minimum(np.maximum(near, 0.0), 1.0))
        spread *= _SHRINK
    return where, value


def _smallest_of_row(
    objective: Callable[[FloatArray], FloatArray], places: FloatArray
) -> tuple[FloatArray, FloatArray]:
    values = objective(places)
    rows = np.arange(values.size // values.shape[-1])
    best = values.reshape(rows.size, -1).argmin(axis=-1)
    where, value = (
        array.reshape(rows.size, -1)[rows, best].reshape(values.shape[:-1])
        for array in (places, values)
    )
    return where, value
