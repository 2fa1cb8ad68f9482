"""Search for the smallest ε that reaches a target error, from curves and by repeated draws.

Both use the true map. On the data that is to be released this is a look at the data, and the
guarantee of the release does not cover the choice of ε: use public, synthetic or past data.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.heatmaps import lower_rank, upper_rank
from explorer.studies.heatmap.experiments.error_curves import TARGET_SHARE

MAX_EPSILON = 20.0
"""The largest ε of the study."""
GRID = tuple(min(0.01 * 2 ** (j / 4), MAX_EPSILON) for j in range(45))
"""Range of a search."""
SIZES = (100, 200, 400, 800)
"""Draws at one ε: each time twice as many, the ones before among them."""
ERROR = Fraction(5, 100)
"""Largest probability that any statement of a search is wrong."""
RISK_PER_LOOK = ERROR / (len(GRID) * len(SIZES))
"""At every ε and number of draws, so that it does not matter which are looked at.

What is said there can be wrong on one side alone: either the ε is enough, or it is not. A plain
bisection looks at seven only, but would have to end where it finds the first undecided ε, which
may lie far from both ends of what is known by then."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where a fitted curve meets a target.

    Attributes
    ----------
    epsilon : float or None
        None if it does not between the curve's ends.
    beyond : int
        −1 if every ε of the curve reaches the target, 1 if none does, else 0.
    violations : int
        How many steps of the curve go the wrong way, against what is assumed.
    """

    epsilon: float | None
    beyond: int
    violations: int


def estimate_epsilon(
    epsilons: ArrayLike, errors: ArrayLike, target: float, low_is_good: bool = True
) -> Estimate | None:
    """Return the smallest ε at which a curve reaches a target.

    The curve is fitted by the nearest one that never rises with ε (isotonic regression: on
    logarithms where it is above 0) and interpolated on log ε.

    Parameters
    ----------
    epsilons : array_like, shape (N,)
        Ascending, > 0.
    errors : array_like, shape (N,)
        The quantile of draws that is to reach the target; NaN where it is not known.
    target : float
    low_is_good : bool
        Whether a smaller value is a better one.

    Returns
    -------
    Estimate or None
        None if fewer than two points are known.
    """
    x, y = np.log(np.asarray(epsilons, dtype=float)), np.asarray(errors, dtype=float)
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2:
        return None
    if low_is_good and target > 0 and (y > 0).all():
        y, target = np.log(y), math.log(target)
    if not low_is_good:
        y, target = -y, -target
    violations = int(np.count_nonzero(np.diff(y) > 0))
    y = _never_rising(y)
    if y[-1] > target:
        return Estimate(None, 1, violations)
    if y[0] <= target:
        return Estimate(None, -1, violations)
    i = int(np.argmax(y <= target))
    share = (y[i - 1] - target) / (y[i - 1] - y[i])
    return Estimate(math.exp(x[i - 1] + share * (x[i] - x[i - 1])), 0, violations)


def _never_rising(y: np.ndarray) -> np.ndarray:
    """Return the nearest values that never rise, by their max–min formula (isotonic regression).

    The window reads ε off with every report: scipy.optimize would take half a second of it.
    """
    sums = np.concatenate([[0.0], np.cumsum(-y)])
    first, last = np.ogrid[: y.size, : y.size]
    means = (sums[None, 1:] - sums[:-1, None]) / np.maximum(last - first + 1, 1)
    means = np.where(last >= first, means, math.inf)
    lowest = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(-np.where(first <= last, lowest, -math.inf).max(axis=0))


def quantile_interval(values: ArrayLike, quantile: float) -> tuple[float | None, float | None]:
    """Return between which draws a quantile lies with 95 % confidence; None for an open end.

    Parameters
    ----------
    values : array_like
        Independent draws of any law.
    quantile : float
        In (0, 1).
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if not ordered.size:
        return None, None
    q, sure = Fraction(str(quantile)), Fraction(39, 40)
    below, above = lower_rank(ordered.size, q, sure), upper_rank(ordered.size, q, sure)
    return (
        None if below is None else float(ordered[below - 1]),
        None if above is None else float(ordered[above - 1]),
    )


@dataclass(frozen=True)
class Found:
    """Result of a search.

    Attributes
    ----------
    enough : float or None
        At this ε the quantile reaches the target; None if at none of `GRID`.
    not_enough : float or None
        At this ε it does not; None if it does at all of them.
    draws : dict
        How many draws were looked at, by ε.

    Notes
    -----
    Either is certified at its own ε, both together with 95 % confidence. That nothing below
    `not_enough` would do either is assumed: that more privacy costs accuracy.
    """

    enough: float | None
    not_enough: float | None
    draws: dict[float, int] = field(default_factory=dict)


Asks = Generator[tuple[float, int], Sequence[float], Found]


def search(target: float, low_is_good: bool = True) -> Asks:
    """Find the smallest ε of `GRID` at which 9 of 10 maps reach a target, with 95 % confidence.

    Bisection. Where even the most draws leave an ε undecided, its neighbours are tried outwards.

    Yields
    ------
    (float, int)
        An ε and how many draws of the error there are wanted, and expects them to be sent: the
        first so many, the same ones each time.

    Returns
    -------
    Found
    """
    low, high, draws = -1, len(GRID), {}

    def decide(j: int) -> Generator[tuple[float, int], Sequence[float], bool | None]:
        for size in SIZES:
            draws[GRID[j]] = size
            enough = reaches((yield GRID[j], size), target, low_is_good)
            if enough is not None:
                return enough
        return None

    unclear = None
    while high - low > 1 and unclear is None:
        middle = (low + high) // 2
        enough = yield from decide(middle)
        if enough is None:
            unclear = middle
        elif enough:
            high = middle
        else:
            low = middle
    if unclear is not None:
        for j in range(unclear + 1, high):
            enough = yield from decide(j)
            if enough:
                high = j
                break
            if enough is False:
                low = j
        for j in range(unclear - 1, low, -1):
            if (yield from decide(j)) is False:
                low = j
                break
    return Found(GRID[high] if high < len(GRID) else None, GRID[low] if low >= 0 else None, draws)


def reaches(values: Sequence[float], target: float, low_is_good: bool = True) -> bool | None:
    """Return whether 9 of 10 maps reach a target; None if too few draws decide it.

    Wrong with a chance of at most `RISK_PER_LOOK`.
    """
    signed = np.asarray(values, dtype=float) * (1 if low_is_good else -1)
    ordered, aim = np.sort(signed), target if low_is_good else -target
    quantile, sure = Fraction(str(TARGET_SHARE)), 1 - RISK_PER_LOOK
    above = upper_rank(ordered.size, quantile, sure)
    if above is not None and ordered[above - 1] <= aim:
        return True
    below = lower_rank(ordered.size, quantile, sure)
    return False if below is not None and ordered[below - 1] > aim else None
