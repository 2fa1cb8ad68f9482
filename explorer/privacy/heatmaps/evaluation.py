"""Similarity, distance and loss of an estimated heatmap against the true one: curator only.

All of it is computed from raw data.

**Earth mover's distances** are intervals that shrink to a number. `quick_intervals` takes a few
milliseconds and needs no solver. The other two compile on their first call and take their time: run
them in another process.

**Ranks and thresholds of repeated draws** come from binomial tails in exact rational arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.quadtree import level_of
from explorer.privacy.transport import grid
from explorer.privacy.transport.grid import grid_emd

REGULARISER = 2.0**-52
EXACT_GAP = 1e-9
"""Largest certified gap of a distance that is called exact, in half perimeters of the map."""
MAX_WRONG = 0.25
"""The sentence speaks of the finest squares of which at most this share of the mass is wrong."""
BLOCKS = 64
"""Distances are those of 64 × 64 block sums: exact within milliseconds whatever Δ is."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Agreement of two sum-normalised maps.

    Attributes
    ----------
    similarity : float
        Σ min(P, Q) = 1 − total variation, in [0, 1].
    pearson : float
        Correlation over cells, in [−1, 1]; NaN if either map is constant.
    kl : float
        Σ Q ln(2⁻⁵² + Q/(P + 2⁻⁵²)), Q the truth.
    total_variation : float
    """

    similarity: float
    pearson: float
    kl: float
    total_variation: float


def normalise(grid: NDArray[Any], name: str = "map") -> FloatArray:
    """Return a map divided by its sum.

    Raises
    ------
    ValueError
        If a mass is negative or not finite, or all are 0.
    """
    grid = np.asarray(grid, dtype=float)
    total = float(grid.sum())
    if not np.isfinite(total) or (grid.size and float(grid.min()) < 0):
        raise ValueError(f"{name}: every mass must be finite and at least 0")
    if not total > 0:
        raise ValueError(f"{name}: it has no mass")
    return np.asarray(grid / total)


def compare(truth: NDArray[Any], estimate: NDArray[Any]) -> Metrics:
    """Return similarity, Pearson correlation and KL divergence of two maps of one shape.

    Both are normalised to sum 1 first; they must be non-negative with some mass.

    References
    ----------
    Section 4 of the paper; direction and regulariser of KL and the normalisation of similarity
    are not stated there (errata heat-23): KL(truth‖estimate) with 2⁻⁵², similarity of
    sum-normalised maps.
    """
    q, p = normalise(truth, "truth"), normalise(estimate, "estimate")
    if q.shape != p.shape:
        raise ValueError(f"estimate: shape {p.shape} differs from the truth's {q.shape}")
    # One buffer for everything: at Δ = 1024 fresh memory costs more than the arithmetic.
    work = q - p
    tv = 0.5 * float(np.abs(work, out=work).sum())
    # Where Q is 0 the logarithm is finite (2⁻⁵² inside), so that the term is 0 as it should be.
    np.add(p, REGULARISER, out=work)
    np.divide(q, work, out=work)
    work += REGULARISER
    kl = float(np.vdot(q, np.log(work, out=work)))
    q -= 1 / q.size  # both have mean 1/Δ²
    p -= 1 / p.size
    spread = math.sqrt(float(np.vdot(q, q)) * float(np.vdot(p, p)))
    pearson = min(1.0, max(-1.0, float(np.vdot(q, p)) / spread)) if spread > 0 else math.nan
    return Metrics(1.0 - tv, pearson, kl, tv)


def level_masses(z: FloatArray) -> list[float]:
    """Return Σ_c |z(c)| over the cells c of every level 0…ℓ of a signed 2^ℓ × 2^ℓ grid."""
    level_of(z.shape[0], "grid")
    sums = [float(np.abs(z).sum())]
    while z.shape[0] > 1:
        half = z[0::2] + z[1::2]
        z = half[:, 0::2] + half[:, 1::2]
        sums.append(float(np.abs(z).sum()))
    return sums[::-1]


def pyramid_norm(z: NDArray[Any]) -> float:
    """Return ‖P z‖₁ = Σ_i 2^{−i} Σ_{c of level i} |z(c)| of a signed square grid.

    For z with total 0 it is at least the earth mover's distance between z's positive and negative
    part in the unit square under ℓ1; for other z Lemma 3.5's claim fails as printed (errata
    heat-12).
    """
    sums = level_masses(np.asarray(z, dtype=float))
    return math.fsum(2.0**-i * value for i, value in enumerate(sums))


@dataclass(frozen=True, slots=True)
class QuickBounds:
    """Bounds of the earth mover's distance of two maps under |Δx|·width + |Δy|·height.

    Attributes
    ----------
    along_x, along_y : float
        1-d distances of the marginals, in sides of the map.
    pyramid : float
        Σ_{i≥1} 2^{−i} N_i with N_i = Σ |z(c)| over the cells c of level i and z the difference.
    """

    along_x: float
    along_y: float
    pyramid: float

    def lower(self, width: float = 1.0, height: float = 1.0) -> float:
        """Return a lower bound: each axis for itself, since projecting shortens every path."""
        return self.along_x * width + self.along_y * height

    def upper(self, width: float = 1.0, height: float = 1.0) -> float:
        """Return an upper bound: mass is matched inside ever larger cells.

        What is matched inside a cell of level i travels at most (width + height)·2^{−i} less one
        leaf; summing up gives (width + height)/2 times the pyramid norm.
        """
        return (width + height) / 2 * self.pyramid


def quick_bounds(p: NDArray[Any], q: NDArray[Any]) -> QuickBounds:
    """Return both bounds that need no solver, of two maps [row, column] normalised here.

    Raises
    ------
    ValueError
        If a map is negative, not finite or empty, shapes differ, or the side is no power of two.
    """
    z = normalise(p, "p")
    z -= normalise(q, "q")
    sums = level_masses(z)
    norm = math.fsum(2.0**-i * value for i, value in enumerate(sums) if i)
    along_x = float(np.abs(np.cumsum(z.sum(axis=0))).sum() / z.shape[1])
    along_y = float(np.abs(np.cumsum(z.sum(axis=1))).sum() / z.shape[0])
    return QuickBounds(along_x, along_y, norm)


@dataclass(frozen=True, slots=True)
class Interval:
    """Two numbers between which a distance is known to lie.

    `exact` says that they are the same number but for the solver's certified rounding.
    """

    low: float
    high: float
    exact: bool = False

    @property
    def value(self) -> float | None:
        """The distance if it is known, else None."""
        return (self.low + self.high) / 2 if self.exact else None

    def __and__(self, other: Interval) -> Interval:
        """Return the intersection of both intervals."""
        if self.exact or other.exact:
            return self if self.exact else other
        low, high = max(self.low, other.low), min(self.high, other.high)
        # Two certified intervals meet; rounding may leave a hair between their ends.
        return Interval(min(low, high), max(low, high))


def quick_intervals(
    p: NDArray[Any], q: NDArray[Any], width: float, height: float
) -> tuple[Interval, Interval]:
    """Return intervals that need no solver, in the unit square and under sides of these lengths.

    Marginals below, pyramid norm above (`quick_bounds`).
    """
    bounds = quick_bounds(p, q)
    return (
        Interval(bounds.lower(), bounds.upper()),
        Interval(bounds.lower(width, height), bounds.upper(width, height)),
    )


def block_interval(
    p: NDArray[Any], q: NDArray[Any], blocks: int, width: float = 1.0, height: float = 1.0
) -> Interval:
    """Return an interval from the transport of at most blocks × blocks sums of cells."""
    rows, columns = p.shape
    interval = grid.block_interval(
        normalise(p, "p"), normalise(q, "q"), width / columns, height / rows, blocks
    )
    return Interval(interval.lower, interval.upper)


def exact_distance(
    p: NDArray[Any], q: NDArray[Any], width: float = 1.0, height: float = 1.0
) -> Interval:
    """Return the distance under |Δx|·width + |Δy|·height between its certified ends.

    The ends are a rounding error apart; should they ever not be, the interval isn't called exact.
    """
    rows, columns = p.shape
    distance = grid.grid_emd(normalise(p, "p"), normalise(q, "q"), width / columns, height / rows)
    return Interval(
        distance.lower, distance.upper, exact=distance.gap <= EXACT_GAP * (width + height)
    )


@dataclass(frozen=True, slots=True)
class WrongSquares:
    """Share of the mass in wrong squares.

    Attributes
    ----------
    wrong_shares : tuple of float
        TV_i of levels 0..: the least share of the mass that must change its square of level i.
    level : int
        i*, the finest level ≥ 1 with TV_i ≤ ¼, or 1.
    square_km : (float, float)
        Width and height of its squares.
    wrong_share : float
        x: TV of that level, in [0, 1].
    """

    wrong_shares: tuple[float, ...]
    level: int
    square_km: tuple[float, float]
    wrong_share: float


@dataclass(frozen=True, slots=True)
class LossStatistics(WrongSquares):
    """Share of the mass in wrong squares, and its mean distance from the right ones.

    Attributes
    ----------
    emd_km : float
        E: earth mover's distance of the sums over those squares.
    mean_km : float
        y = E/x: how far what is wrong lies off on average, by any optimal plan; 0 if nothing is.
    """

    emd_km: float
    mean_km: float


def wrong_squares(
    truth: NDArray[Any],
    estimate: NDArray[Any],
    width_km: float,
    height_km: float,
    finest: int | None = None,
) -> WrongSquares:
    """Return how much of a map's mass lies in wrong squares; some milliseconds at level 8.

    Parameters and errors are those of `loss_statistics`.
    """
    p, q = normalise(truth, "truth"), normalise(estimate, "estimate")
    if p.shape != q.shape or p.ndim != 2 or p.shape[0] != p.shape[1] or len(p) < 2:
        raise ValueError(f"estimate: shapes {p.shape} and {q.shape} are not one (2^ℓ, 2^ℓ), ℓ ≥ 1")
    deepest = level_of(len(p), "truth")
    finest = deepest if finest is None else int(checks.whole("finest", finest, 1, deepest))
    shares = tuple(mass / 2 for mass in level_masses(p - q)[: finest + 1])
    level = max((i for i in range(1, finest + 1) if shares[i] <= MAX_WRONG), default=1)
    square_km = (width_km / (1 << level), height_km / (1 << level))
    return WrongSquares(shares, level, square_km, shares[level])


def loss_statistics(
    truth: NDArray[Any],
    estimate: NDArray[Any],
    width_km: float,
    height_km: float,
    finest: int | None = None,
    emd_km: float | None = None,
) -> LossStatistics:
    """Return how much of a map's mass lies elsewhere, and how far.

    The distance of the sums over squares is solved exactly and compiles on the first call: run it
    in another process.

    Parameters
    ----------
    truth, estimate : array, shape (2^ℓ, 2^ℓ)
        Heatmaps; each is normalised here.
    width_km, height_km : float
        Sides of the map, > 0.
    finest : int, optional
        Deepest level to speak of, in 1..ℓ; ℓ if left out. At level 6 the distance takes some tens
        of milliseconds, at level 8 more than half a second.
    emd_km : float, optional
        Earth mover's distance of the maps themselves, under the same sides, where it is known: it
        is not solved for again then, should ℓ be the level to speak of.

    Raises
    ------
    ValueError
        If a map has no mass or a negative one, shapes differ, or the side is below 2 or no power
        of two.
    """
    found = wrong_squares(truth, estimate, width_km, height_km, finest)
    squares = 1 << found.level
    if squares == len(truth) and emd_km is not None:
        distance = emd_km
    else:
        p, q = normalise(truth, "truth"), normalise(estimate, "estimate")
        sums = block_sums(p, squares), block_sums(q, squares)
        distance = grid_emd(*sums, *found.square_km).value
    wrong = found.wrong_share
    mean = distance / wrong if wrong > 0 else 0.0
    return LossStatistics(found.wrong_shares, found.level, found.square_km, wrong, distance, mean)


def block_sums(grid: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """Return the sums of blocks × blocks equal squares of a square grid; a coarser one as it is."""
    blocks = min(blocks, len(grid))
    size = len(grid) // blocks
    summed: NDArray[np.float64] = grid.reshape(blocks, size, blocks, size).sum(axis=(1, 3))
    return summed


@dataclass(frozen=True, slots=True)
class Quality:
    """One map against the truth.

    Attributes
    ----------
    emd : float
        Earth mover's distance of the block sums under ℓ1 in the unit square.
    emd_km : float or None
        The same under |Δx| + |Δy| in kilometres; None if no sides were given.
    similarity, pearson, kl : float
        Of the maps themselves (`Metrics`).
    """

    emd: float
    emd_km: float | None
    similarity: float
    pearson: float
    kl: float


def map_quality(
    truth: NDArray[Any],
    estimate: NDArray[Any],
    sides_km: tuple[float, float] | None = None,
    blocks: int = BLOCKS,
) -> Quality:
    """Return every measure of a heatmap's nearness to the true one.

    The distances are solved exactly and compile on the first call: run it in another process. Those
    of block sums are neither an upper nor a lower bound of the maps' own.

    Parameters
    ----------
    truth, estimate : array, shape (2^ℓ, 2^ℓ)
        Heatmaps with some mass and no negative one; each is normalised here.
    sides_km : (width, height), optional
        > 0. A distance in kilometres takes three to five times as long as one in the unit square.
    blocks : int
        A power of two; at most Δ are made.

    Raises
    ------
    ValueError
        If shapes differ or a map has no mass or a negative one.
    """
    metrics = compare(truth, estimate)
    squares = min(blocks, len(truth))
    p, q = (block_sums(normalise(grid), squares) for grid in (truth, estimate))
    kilometres = None
    if sides_km is not None:
        kilometres = grid_emd(p, q, *(side / squares for side in sides_km)).value
    return Quality(
        grid_emd(p, q).value, kilometres, metrics.similarity, metrics.pearson, metrics.kl
    )


@lru_cache(maxsize=64)
def upper_rank(draws: int, quantile: Fraction, confidence: Fraction) -> int | None:
    """Return the least k for which the k-th smallest of m draws is above a quantile, surely.

    The least k with P(Bin(m, q) ≤ k − 1) ≥ confidence: the k-th smallest of m independent draws of
    any law is then at least its q-quantile with that probability. No law is assumed (see David and
    Nagaraja 2003, *Order statistics*, section 7.1).

    Parameters
    ----------
    draws : int
        m ≥ 1.
    quantile : Fraction
        q in (0, 1).
    confidence : Fraction
        In (0, 1).

    Returns
    -------
    int or None
        In 1..m; None if there are too few draws.
    """
    _check(draws, quantile=quantile, confidence=confidence)
    for k, below in enumerate(_distribution(draws, quantile), 1):
        if k <= draws and below >= confidence:
            return k
    return None


@lru_cache(maxsize=64)
def lower_rank(draws: int, quantile: Fraction, confidence: Fraction) -> int | None:
    """Return the largest k for which the k-th smallest of m draws is below a quantile, surely.

    The largest k with P(Bin(m, q) ≤ k − 1) ≤ 1 − confidence: the k-th smallest is then at most the
    q-quantile with that probability. Parameters are those of `upper_rank`.

    Returns
    -------
    int or None
        In 1..m; None if there are too few draws.
    """
    _check(draws, quantile=quantile, confidence=confidence)
    rank = None
    for k, below in enumerate(_distribution(draws, quantile), 1):
        if k > draws or below > 1 - confidence:
            break
        rank = k
    return rank


@lru_cache(maxsize=64)
def too_noisy_threshold(
    draws: int = 20,
    tolerated: Fraction = Fraction(1, 10),
    false_alarm: Fraction = Fraction(1, 400),
) -> tuple[int, float]:
    """Return how many of so many draws must fail before a map is called too noisy.

    A draw fails if its map is no closer to the truth than a map without data. If
    that happens with a chance of at most `tolerated`, then K or more failures have a probability of
    at most `false_alarm`. Curator only: it compares with the truth.

    Parameters
    ----------
    draws : int
        ≥ 1.
    tolerated, false_alarm : Fraction
        In (0, 1).

    Returns
    -------
    (int, float)
        The least such K, `draws` + 1 if none is small enough, and the probability of K or more.
    """
    _check(draws, tolerated=tolerated, false_alarm=false_alarm)
    below = Fraction(0)
    for k, up_to in enumerate(_distribution(draws, tolerated)):
        if 1 - below <= false_alarm:
            return k, float(1 - below)
        below = up_to
    return draws + 1, 0.0


def _check(draws: int, **chances: Fraction) -> None:
    checks.integers("draws", draws, 1, checks.MAX_COUNT)
    for name, chance in chances.items():
        checks.open_unit(name, float(chance))


def _distribution(trials: int, chance: Fraction) -> Iterator[Fraction]:
    """Yield P(Bin(n, p) ≤ k) for k = 0..n."""
    chance = Fraction(chance)
    hit, whole = chance.numerator, chance.denominator
    missed, running = whole - hit, 0
    for k in range(trials + 1):
        running += comb(trials, k) * hit**k * missed ** (trials - k)
        yield Fraction(running, whole**trials)
