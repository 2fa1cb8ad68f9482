"""P_hist run many times: what the bounds are held against.

The functions here that draw are module-level and take plain numbers, for they run in a process of
their own. Empty bins have the estimate 0 for certain, so only occupied bins are drawn: exact for
the analyzer's output (not for the view of the shuffled messages).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.histograms import simulate_histogram
from explorer.studies.base.study import Context

DRAWS_AT_ONCE = 4_000_000
"""Noises drawn in one call to the worker: some 0.3 s."""
CONFIDENCE = 0.99


class Dot(NamedTuple):
    """A simulated number with an interval made to hold the true one in 99 of 100 simulations.

    NaN where the runs are too few to give it.
    """

    value: float
    low: float
    high: float


NOTHING = Dot(math.nan, math.nan, math.nan)


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
    at_once = max(1, 1_000_000 // counts.size)
    for start in range(0, runs, at_once):
        some = min(at_once, runs - start)
        found = simulate_histogram(counts, n, 1 - q, rng, some)
        out[start : start + some] = np.abs(found - counts / n).max(axis=1)
    return out


def errors_of_bin(s: int, n: int, q: float, runs: int, seed: tuple[int, ...]) -> FloatArray:
    """Return the error (estimate − s/n) of one bin in every run, shape (runs,)."""
    found = simulate_histogram(np.array([s]), n, 1 - q, np.random.default_rng(seed), runs)
    return np.asarray(found[:, 0] - s / n)


def in_pieces(runs: int, width: int) -> Iterator[int]:
    """Yield numbers of runs that add up, each a call of bearable length."""
    at_once = max(1, DRAWS_AT_ONCE // width)
    while runs > 0:
        yield min(runs, at_once)
        runs -= at_once


def simulate(
    context: Context, shape: str, n: int, h: int, q: float, runs: int, seed: tuple[int, ...]
) -> Iterator[FloatArray]:
    """Yield pieces of `largest_errors`, each from the worker process."""
    for i, some in enumerate(in_pieces(runs, h)):
        context.check()
        yield context.run_in_worker(largest_errors, shape, n, h, q, some, (*seed, i))


def quantile_dot(values: FloatArray, level: float) -> Dot:
    """Return the empirical quantile and its distribution-free interval by order statistics.

    The number of values at or below the true quantile is binomial; its own 0.5 % and 99.5 % points
    name the order statistics. NaN if the upper one is beyond the largest value.
    """
    size = values.size
    if level >= 1:
        return NOTHING
    ranks = np.arange(size + 1.0)
    law = np.exp(log_pmf(ranks, float(size), math.log(level), math.log1p(-level)))
    below = np.cumsum(law)
    tail = (1 - CONFIDENCE) / 2
    low = int(np.searchsorted(below, tail, side="left"))
    high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    if high > size or low < 1:
        return NOTHING
    ordered = np.sort(values)
    return Dot(
        float(ordered[min(size - 1, math.ceil(level * size) - 1)]),
        float(ordered[low - 1]),
        float(ordered[high - 1]),
    )


def rmse_dot(errors: FloatArray) -> Dot:
    """Return the root mean square with its interval from the spread of the squares.

    By the normal approximation: about 99 in 100, and no width where all errors are the same.
    """
    squares = errors**2
    mean = float(squares.mean())
    half = 2.576 * float(squares.std(ddof=1)) / math.sqrt(squares.size)
    return Dot(math.sqrt(mean), math.sqrt(max(mean - half, 0.0)), math.sqrt(mean + half))
