"""Simulated runs of P_hist, with intervals.

Functions that draw are module-level and take plain numbers, as they run in worker processes. Empty
bins have the estimate 0 with certainty, so only occupied bins are drawn: exact for the analyzer's
output, not for the view of the shuffled messages.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.histograms import Query, simulate_histogram
from explorer.studies.base.study import Context, Mark, Request, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.shuffled_histograms.theory import SIMULATED, Noise, Settings

_MAX_DRAWS = 4_000_000
"""Noises drawn in one call of a worker: some 0.3 s."""
_CONFIDENCE = 0.99
_DOTS = 8
MAX_VALUES = 100_000
"""Most values that occur in simulated data: a run draws one noise for each."""


class Dot(NamedTuple):
    """Simulated number with a 99 % confidence interval; NaN where the runs are too few."""

    value: float
    low: float
    high: float


_NO_DOT = Dot(math.nan, math.nan, math.nan)


def counts_of(shape: str, n: int, h: int, edge: float) -> NDArray[np.int64]:
    """Return how many users have each value that occurs; the sum is at most n.

    Parameters
    ----------
    shape : str
        ``zipf`` (count ∝ 1/rank), ``even``, or ``edge`` (counts at the truncation edge, the rest
        of the users in one bin).
    n, h : int
        Users, and values that may occur, h ≤ n.
    edge : float
        n(1−p), around which estimates are cut to 0.
    """
    if shape == "edge":
        level = max(1, round(edge))
        copies = max(1, min(h - 1, n // level)) if h > 1 else 1
        low = np.full(copies, min(level, n), dtype=np.int64)
        rest = n - int(low.sum())
        return np.append(low, rest) if rest > 0 and h > 1 else low
    weight = 1 / np.arange(1.0, h + 1) if shape == "zipf" else np.ones(h)
    counts = np.floor(weight / weight.sum() * n).astype(np.int64)
    counts[: n - int(counts.sum())] += 1
    return np.asarray(counts[counts > 0])


def largest_errors(
    shape: str, n: int, h: int, q: float, runs: int, seed: tuple[int, ...]
) -> FloatArray:
    """Return the largest error over all bins of every run, shape (runs,)."""
    rng = np.random.default_rng(seed)
    counts = counts_of(shape, n, h, n * q)
    out = np.empty(runs)
    size = max(1, 1_000_000 // counts.size)
    for start in range(0, runs, size):
        batch = min(size, runs - start)
        result = simulate_histogram(counts, n, 1 - q, rng, batch)
        out[start : start + batch] = np.abs(result - counts / n).max(axis=1)
    return out


def errors_of_bin(s: int, n: int, q: float, runs: int, seed: tuple[int, ...]) -> FloatArray:
    """Return the error (estimate − s/n) of one bin in every run, shape (runs,)."""
    result = simulate_histogram(np.array([s]), n, 1 - q, np.random.default_rng(seed), runs)
    return np.asarray(result[:, 0] - s / n)


def _batches(runs: int, width: int) -> Iterator[int]:
    """Yield numbers of runs that add up to `runs`, for calls of workers."""
    size = max(1, _MAX_DRAWS // width)
    while runs > 0:
        yield min(runs, size)
        runs -= size


def simulate(
    context: Context, shape: str, n: int, h: int, q: float, runs: int, seed: tuple[int, ...]
) -> Iterator[FloatArray]:
    """Yield batches of `largest_errors`, each from a worker process."""
    for i, batch in enumerate(_batches(runs, h)):
        context.check()
        yield context.run_in_worker(largest_errors, shape, n, h, q, batch, (*seed, i))


def quantile_dot(values: FloatArray, level: float) -> Dot:
    """Return the empirical quantile and its distribution-free interval by order statistics.

    The number of values at or below the true quantile is binomial; its 0.5 % and 99.5 % points are
    the ranks of the order statistics. NaN if the upper one is beyond the largest value.
    """
    size = values.size
    if level >= 1:
        return _NO_DOT
    ranks = np.arange(size + 1.0)
    law = np.exp(log_pmf(ranks, float(size), math.log(level), math.log1p(-level)))
    below = np.cumsum(law)
    tail = (1 - _CONFIDENCE) / 2
    low = int(np.searchsorted(below, tail, side="left"))
    high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    if high > size or low < 1:
        return _NO_DOT
    ordered = np.sort(values)
    return Dot(
        float(ordered[min(size - 1, math.ceil(level * size) - 1)]),
        float(ordered[low - 1]),
        float(ordered[high - 1]),
    )


def rmse_dot(errors: FloatArray) -> Dot:
    """Return the root mean square with its interval by the normal approximation.

    The coverage is about 99 %; the interval has no width where all errors are the same.
    """
    squares = errors**2
    mean = float(squares.mean())
    half = 2.576 * float(squares.std(ddof=1)) / math.sqrt(squares.size)
    return Dot(math.sqrt(mean), math.sqrt(max(mean - half, 0.0)), math.sqrt(mean + half))


def simulate_series(
    request: Request, swept: SweptPoints, points: Settings, noise: Noise, context: Context
) -> Iterator[tuple[Series, float]]:
    """Yield the series of the dots that are simulated so far, and the share that is done.

    Parameters
    ----------
    request : Request
    swept : SweptPoints
        The points at which noise is calibrated.
    points : Settings
        The same points.
    noise : Noise
    context : Context
    """
    what, kind = request.quantity, points.kind
    possible = noise.valid[:-1] & ((points.s <= points.n)[:-1] | (what == "error"))
    index = np.flatnonzero(possible)
    index = index[evenly_spread(index.size, _DOTS)]
    dots: list[Dot] = []
    runs = int(request["runs"])
    for done, i in enumerate(index, 1):
        n, q, seed = int(points.n[i]), float(noise.q[i]), (request.seed, int(i))
        level = 1 - float(points.beta[i])
        if what == "error":
            h, shape = int(min(points.h[i], MAX_VALUES)), str(request["shape"])
            h, shape = (h, shape) if kind is Query.HISTOGRAM else (1, "even")
            batches = list(simulate(context, shape, n, h, q, runs, seed))
            dot = quantile_dot(np.concatenate(batches), level)
        else:
            context.check()
            errors = context.run_in_worker(errors_of_bin, int(points.s[i]), n, q, 10 * runs, seed)
            dot = quantile_dot(np.abs(errors), level) if what == "query" else rmse_dot(errors)
        dots.append(dot)
        fewer = what == "error" and bool(np.any(points.h[index] > MAX_VALUES))
        yield _series(swept.x[index[:done]], dots, what, runs, fewer), done / index.size


def _series(x: FloatArray, dots: list[Dot], what: str, runs: int, fewer: bool) -> Series:
    value, low, high = np.array(dots).T
    statistic = "root mean square" if what == "rmse" else "(1−β)-quantile"
    times = runs if what == "error" else 10 * runs
    return Series(
        "simulated",
        f"simulated: {statistic} of {times} runs",
        Role.ESTIMATE,
        x,
        value,
        SIMULATED,
        low=low,
        high=high,
        undefined_reason=(
            "β is too small to be seen in so many runs: raise R or β"
            if np.isnan(value).any()
            else ""
        ),
        note=(
            "intervals by the normal approximation, about 99 in 100; of no width where all runs "
            "agree"
            if what == "rmse"
            else "intervals that hold the true number at least 99 times in 100"
            + f"; at most {MAX_VALUES:,} values occur in what is drawn" * fewer
        ),
        mark=Mark.DOTS,
    )
