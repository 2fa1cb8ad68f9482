"""Calibration from exact hops: the α₀ that a target allows, and the least α and δ′ of an α₀.

Whatever is (a, δ')-private is (α, δ')-private for every α ≥ a: so what `group_delta` allows at any
a ≤ α holds at α, and everything here is the best over such a (specification "Monotone envelope").
That matters with a minimum distance between items only. There κ = tanh(αd/2m)/tanh(α₀d/2) stops
growing with α once αd/m is about 1, so that the largest α₀ with `group_delta` ≤ δ' at α itself,
f(α), has a peak inside, and falls beyond it until α/m is more. Without one f rises throughout.
Every point tried is safe; the search only decides how much is found.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.roots import highest_point, root_near, rough_root, safe_side
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.hops import (
    SEARCHED,
    Group,
    QuickGroup,
    SortedGroup,
    group_arguments,
    rounded_up,
)

_FIRST, _LAST, _POINTS = 0.5, 8.0, 32
"""Range searched for peaks, αd/m, and number of points: those of 1,500 random settings were
between 0.53 and 5.9. A step is 9 %."""
_MIN_NORMAL_CLONES = 2000.0
"""Below so many clones the normal approximation does not see every peak, and exact sums are
short."""
_Target = tuple[float, float, float, float, Clones, type[Group], float]
"""m, n, smallest and largest distance, clones, how hops are added up, ln δ'."""


def group_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
    quick: bool = False,
) -> Any:
    """Return the largest α₀ with `group_delta` ≤ δ' at any a ≤ α: **the number to calibrate with**.

    Rounded down, by 1e-11 of itself; never below α/m, which plain composition allows, nor above
    800; 800 at δ' = 1, which promises nothing. It does not fall as α grows, but for the kinks of
    the sum where there is a minimum distance (1e-5 of itself, 1e-3 with a few hundred clones): a
    curve should carry the largest so far. Parameters as in `group_delta`; delta_prime in
    [1e-300, 1]. With hops `in_order` it is more, by up to a fifth; rounded down by some 1e-3. If it
    is to be `quick` (3 ms, in one of twenty random settings 50), by up to some 8 %: `QuickGroup`.
    """

    def solve(alpha: float, target: _Target) -> float:
        summits = (height for at, height in _summits(target, alpha) if at <= alpha)
        return max(_alpha0_at(alpha, target), *summits, 0.0)

    return _solve(
        solve, alpha, delta_prime, m, n, min_distance, diameter, variant, _kind(in_order, quick)
    )


def group_alpha0_at(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
) -> Any:
    """Return the largest α₀ with `group_delta` ≤ δ' at α itself, or α/m: f(α) of the module's text.

    With a minimum distance it may be less than what a smaller α allows: calibrate with
    `group_alpha0`, whose parameters these are.
    """
    return _solve(
        _alpha0_at, alpha, delta_prime, m, n, min_distance, diameter, variant, _kind(in_order)
    )


def group_alpha0_estimate(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
) -> Any:
    """Return about `group_alpha0`, from a normal approximation of the sum: an *estimate*.

    A fraction of a millisecond each, whatever m and n are: for a curve to follow a slider until
    the exact numbers are there. Not a bound. Parameters as in `group_alpha0`.
    """
    before: float | None = None

    def solve(alpha: float, target: _Target) -> float:
        nonlocal before
        # Along a curve the root is not far from that of the point before.
        before = _group(target).rough_log_alpha0(alpha, target[-1], before)
        peaks = (height for at, height in _peaks(target, alpha) if at <= alpha)
        return max(math.exp(before), *peaks, 0.0)

    return _solve(solve, alpha, delta_prime, m, n, min_distance, diameter, variant, _kind(in_order))


def group_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
    quick: bool = False,
) -> Any:
    """Return the least α at which `group_delta` ≤ δ': the guarantee of item-wise release at α₀.

    Between 0 and m·α₀, rounded up. δ' rises with α before it falls; the crossing returned is on a
    falling side, the first of them where there is a minimum distance. Infinite where α would have
    to exceed 800. Parameters as in `group_delta`, `quick` as in `group_alpha0`; delta_prime in
    [1e-300, 1].
    """

    def solve(a0: float, target: _Target) -> float:
        group, log_target = _group(target), target[-1]
        if a0 == 0.0 or log_target >= 0.0:
            return 0.0
        top = min(group.m * a0, MAX_ALPHA)
        for at, height in _summits(target, top):
            if height >= a0 and at < top and group.log_delta(at, a0)[0] <= log_target:
                top = at
                break
        if group.log_delta(top, a0)[0] > log_target:
            return math.inf
        if group.log_delta(0.0, a0)[0] <= log_target:
            return 0.0

        # In −ln α the falling side rises.
        def excess(y: float) -> float:
            return group.log_delta(math.exp(-y), a0)[0] - log_target

        def guess(y: float) -> float:
            return group.guess(math.exp(-y), a0) - log_target

        def slope(y: float) -> float:
            # Towards smaller α: at m·α₀ the sum ends.
            return (guess(y + 1e-4) - guess(y)) / 1e-4

        def about(y: float) -> float:
            return group.guess_bound(math.exp(-y), a0) - log_target

        low, high = -math.log(top), SEARCHED - math.log(top)
        start = rough_root(guess, low, high)
        if group.coarse:
            root = safe_side(excess, slope, about, low, start, high)
        else:
            root = root_near(excess, slope, low, start, high)
        # Rounded up by more than logarithm and exponential may take off.
        alpha = math.exp(-root)
        return min(alpha * (1 + 2e-12), top)

    return _solve(
        solve,
        alpha0,
        delta_prime,
        m,
        n,
        min_distance,
        diameter,
        variant,
        _kind(in_order, quick),
        "alpha0",
    )


def group_alpha_estimate(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
) -> Any:
    """Return about `group_alpha`, as quickly as `group_alpha0_estimate`: an *estimate*.

    Never above m·α₀, which is safe. Not a bound. Parameters as in `group_alpha`.
    """
    before: float | None = None

    def solve(a0: float, target: _Target) -> float:
        nonlocal before
        group, log_target = _group(target), target[-1]
        if a0 == 0.0 or log_target >= 0.0:
            return 0.0
        top = min(group.m * a0, MAX_ALPHA)
        for at, height in _peaks(target, top):
            if height >= a0:
                top = min(at, top)
                break
        if group.guess(top, a0) > log_target:
            return math.inf
        low, high = -math.log(top), SEARCHED - math.log(top)
        before = rough_root(lambda y: group.guess(math.exp(-y), a0) - log_target, low, high, before)
        return math.exp(-before)

    return _solve(
        solve, alpha0, delta_prime, m, n, min_distance, diameter, variant, _kind(in_order), "alpha0"
    )


def least_group_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
    *,
    in_order: bool = False,
) -> Any:
    """Return the least `group_delta` found at any a ≤ α, at most 1: the δ' to claim at α.

    Rounded up. Parameters as in `group_delta`.
    """
    which = Clones(variant)

    def solve(alpha: float, a0: float, m: float, n: float, near: float, far: float) -> float:
        group = _kind(in_order)(m, n, near, far, which)
        least = group.log_delta(alpha, a0)[0]
        low, high = _search_range(m, near)
        if low < (high := min(high, alpha, m * a0)) and not group.coarse:
            maxima = _sharp_maxima(
                lambda a: -group.log_delta(a, a0)[0],
                lambda a: -group.guess(a, a0),
                low,
                high,
                few=group.clones(a0) < _MIN_NORMAL_CLONES,
            )
            least = min(least, *(-value for _, value in maxima), math.inf)
        return min(rounded_up(least), 1.0)

    return vectorised(solve)(*group_arguments(alpha, alpha0, m, n, min_distance, diameter))


def _solve(
    solve: Callable[[float, _Target], float],
    given: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike,
    min_distance: ArrayLike,
    diameter: ArrayLike,
    variant: Clones | str,
    kind: type[Group],
    name: str = "alpha",
) -> Any:
    """Return a function of α (or of α₀: `name`) and a target at every place of the arguments."""
    which = Clones(variant)
    targets = checks.delta(delta_prime, "delta_prime")
    both = {"alpha": 0.0, "alpha0": 0.0, name: given}
    checked = group_arguments(both["alpha"], both["alpha0"], m, n, min_distance, diameter)
    del checked[1 if name == "alpha" else 0]

    def at(given: float, m: float, n: float, near: float, far: float, target: float) -> float:
        return solve(given, (m, n, near, far, which, kind, math.log(target)))

    return vectorised(at)(*checked, targets)


def _kind(in_order: bool, quick: bool = False) -> type[Group]:
    return (QuickGroup if quick else SortedGroup) if in_order else Group


def _group(target: _Target) -> Group:
    m, n, near, far, which, kind, _ = target
    return kind(m, n, near, far, which)


def _alpha0_at(alpha: float, target: _Target, start: float | None = None) -> float:
    """Return f(α), at least α/m; `start` is ln of its rough root, if known."""
    group, log_target = _group(target), target[-1]
    if log_target >= 0.0:
        # δ' = 1 promises nothing.
        return checks.MAX_EPSILON
    high = math.log(checks.MAX_EPSILON)
    low = math.log(max(alpha / group.m, 1e-290))
    if low >= high:
        return min(_per_item(alpha, group.m), checks.MAX_EPSILON)

    @lru_cache(maxsize=1)
    def log_delta(a0: float) -> float:
        # What the search ends with it has often just tried.
        return group.log_delta(alpha, a0)[0]

    def excess(x: float) -> float:
        return log_delta(math.exp(x)) - log_target

    def slope(x: float) -> float:
        below, above = (group.guess(alpha, math.exp(x + t)) for t in (-1e-4, 1e-4))
        return (above - below) / 2e-4

    def about(x: float) -> float:
        return group.guess_bound(alpha, math.exp(x)) - log_target

    plain, improves = (*target[:5], Group, log_target), group.coarse and not group.alone
    # The root of the argument that it improves on is quick to find, and near.
    rough = _group(plain).rough_log_alpha0(alpha, log_target) if improves else None
    if start is None:
        start = group.rough_log_alpha0(alpha, log_target, rough)
    if group.coarse:
        root = safe_side(excess, slope, about, low, start, high)
    else:
        root = root_near(excess, slope, low, start, high)
    alpha0 = math.exp(root)
    # The rough root may lie below that of the plainer argument.
    if rough is not None and math.exp(rough) > alpha0 * (1 - 3e-3):
        alpha0 = max(alpha0, _alpha0_at(alpha, plain, rough))
    # At low itself only α/m is known to be enough, which may be less.
    certified = alpha0 if log_delta(alpha0) <= log_target else 0.0
    return min(max(certified, _per_item(alpha, group.m)), checks.MAX_EPSILON)


def _per_item(alpha: float, m: float) -> float:
    """α/m, rounded so that m times it is not above α."""
    share = alpha / m
    return math.nextafter(share, 0.0) if share * m > alpha else share


def _search_range(m: float, near: float) -> tuple[float, float]:
    """Return between which α f may have peaks; none without a minimum distance."""
    return (_FIRST * m / near, min(_LAST * m / near, MAX_ALPHA)) if near > 0 else (math.inf, 0.0)


def _peaks(target: _Target, alpha: float) -> tuple[tuple[float, float], ...]:
    """Return about where f has peaks and how high they are; nothing if they can't be below α."""
    return _estimate(target) if alpha > _search_range(*target[:3:2])[0] else ()


def _summits(target: _Target, alpha: float) -> tuple[tuple[float, float], ...]:
    """Return positions and exact heights of the peaks of f; empty if they can't be below α."""
    return _exact(target) if alpha > _search_range(*target[:3:2])[0] else ()


# A curve over α asks for the same peaks at every point, a drag again and again.
@lru_cache(maxsize=1024)
def _estimate(target: _Target) -> tuple[tuple[float, float], ...]:
    low, high = _search_range(*target[:3:2])
    if low >= high or target[-1] >= 0.0:
        return ()
    group = _group(target)
    before: float | None = None

    def height(alpha: float) -> float:
        nonlocal before
        before = group.rough_log_alpha0(alpha, target[-1], before)
        return math.exp(before)

    return _maxima(height, np.geomspace(low, high, _POINTS), 0.01)


@lru_cache(maxsize=1024)
def _exact(target: _Target) -> tuple[tuple[float, float], ...]:
    low, high = _search_range(*target[:3:2])
    if low >= high or target[-1] >= 0.0:
        return ()

    def height(alpha: float) -> float:
        return _alpha0_at(alpha, target)

    group = _group(target)
    if group.coarse:
        return tuple((at, height(at)) for at, _ in _estimate(target))
    quick = group.rough_log_alpha0
    few = group.clones(math.exp(quick(low, target[-1]))) < _MIN_NORMAL_CLONES
    return _sharp_maxima(height, lambda a: quick(a, target[-1]), low, high, few=few)


def _sharp_maxima(
    height: Callable[[float], float],
    guess: Callable[[float], float],
    low: float,
    high: float,
    *,
    few: bool,
) -> tuple[tuple[float, float], ...]:
    """Return (x, height) of an expensive function's maxima, near those of a cheap guess.

    Where clones are few the guess is not asked.
    """
    if few:
        # Kinks are 3 to 4 % apart.
        return _maxima(height, np.geomspace(low, high, 2 * _POINTS), 2e-3)
    grid = np.geomspace(low, high, _POINTS)
    step = float(grid[1] / grid[0])
    return tuple(
        highest_point(height, at / step, min(at * step, high), 2e-3 * at)
        for at, _ in _maxima(guess, grid, 0.01)
    )


def _maxima(
    height: Callable[[float], float], grid: np.ndarray[Any, Any], width: float
) -> tuple[tuple[float, float], ...]:
    """Return (x, height) of the maxima inside a grid, each above all before it."""
    values = [height(float(a)) for a in grid]
    record, maxima = -math.inf, []
    for i in range(len(grid) - 1):
        if values[i] > record and values[i + 1] < values[i]:
            low, high = float(grid[max(i - 1, 0)]), float(grid[i + 1])
            between = highest_point(height, low, high, width * high)
            maxima.append(max(between, (float(grid[i]), values[i]), key=itemgetter(1)))
        record = max(record, values[i])
    return tuple(maxima)
