"""The best parallel design for any demanded levels: which channels, at which levels.

Coordinates with the same demand are treated alike, so a design is described by classes: channels
that see whole classes, or one channel for every coordinate of a class. The error is minimised over
the channels' levels under the exact constraint log((1−q)e^{c_i} + q·e^L) ≤ δ̃_i and L ≤ ε.

In general this is not a convex problem: `best_design` runs SLSQP from several structures
(everything in one channel, nested, disjoint, hybrid) and keeps the best, so that its answer is
never worse than min δ-LDP or Theorem 2 with the best ζ; that no better one exists is not certified.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import best_zeta, effective_levels, rounded_levels
from explorer.privacy.coordinates.designs import (
    DUCHI,
    log_channel_moment,
    log_moment_slope,
)
from explorer.privacy.coordinates.log_mixtures import log_mix
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

FAMILIES = ("nested", "hybrid")
_MOST_LEVELS = 6
# coth(α/2) is 1 to the last digit from here on.
USELESS = 80.0


# ("suffix", g): one channel of groups g and later; ("group", g): one channel of group g;
# ("singles", g): a channel for every coordinate of group g.
Kind = tuple[str, int]


@dataclass(frozen=True)
class BestDesign:
    """A design that meets its constraint, and its exact error.

    Attributes
    ----------
    groups : tuple of ndarray of int
        Coordinates that are treated alike, 0-based.
    kinds : tuple of (str, int)
        Classes of channels: ("suffix", g), ("group", g) or ("singles", g).
    levels : ndarray
        Level of each channel of a class, > 0.
    mse : float
        Exact error of one user's report at x = 0; divide by n. Infinite if a coordinate can have
        no report.
    truncated : bool
        Demands were rounded down to fewer levels to keep the search short: the guarantee holds, the
        error may be larger than it could be.
    """

    groups: tuple[checks.IntArray, ...]
    kinds: tuple[Kind, ...]
    levels: FloatArray
    mse: float
    truncated: bool = False

    @property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        """Coordinates of each channel, as `design_mse` and the samplers take them."""
        result: list[tuple[int, ...]] = []
        for kind, g in self.kinds:
            if kind == "singles":
                result += [(i,) for i in self.groups[g].tolist()]
            else:
                chosen = self.groups[g:] if kind == "suffix" else self.groups[g : g + 1]
                result.append(tuple(np.sort(np.concatenate(chosen)).tolist()))
        return tuple(result)

    @property
    def alphas(self) -> FloatArray:
        """Level of each channel of `subsets`."""
        return np.repeat(self.levels, [self._copies(kind) for kind in self.kinds])

    @property
    def c(self) -> FloatArray:
        """CDP levels c_i of all coordinates, without listing the channels."""
        result = np.zeros(sum(group.size for group in self.groups))
        for (kind, g), level in zip(self.kinds, self.levels, strict=True):
            for group in self.groups[g:] if kind == "suffix" else self.groups[g : g + 1]:
                result[group] += level
        return result

    @property
    def total(self) -> float:
        """LDP level L."""
        return float(sum(self._copies(k) * a for k, a in zip(self.kinds, self.levels, strict=True)))

    def _copies(self, kind: Kind) -> int:
        return self.groups[kind[1]].size if kind[0] == "singles" else 1


@dataclass(frozen=True)
class Classes:
    """Classes of coordinates (index g) and of channels (index j)."""

    levels: FloatArray  # (G,) demanded
    counts: checks.IntArray  # (G,) coordinates
    eps: float
    q: float | FloatArray
    seen: FloatArray  # (G, J) 1 where a coordinate of class g is in a channel of class j
    sizes: checks.IntArray  # (J,) coordinates in one channel
    copies: checks.IntArray  # (J,) channels
    channel: str = DUCHI

    def log_error(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the logarithm of the error and its gradient in z = log α."""
        alpha = np.exp(z)
        weights = -log_channel_moment(self.sizes, alpha, self.channel)
        with np.errstate(divide="ignore"):
            terms = np.where(self.seen > 0.0, weights, -np.inf)
            totals = np.logaddexp.reduce(terms, axis=1)
        errors = np.log(self.counts) - totals
        value = float(np.logaddexp.reduce(errors))
        shares = np.exp(terms - totals[:, None])
        slope = log_moment_slope(self.sizes, alpha, self.channel)
        return value, (np.exp(errors - value) @ shares) * slope

    def slack(self, z: FloatArray) -> FloatArray:
        """Return what is left of each level and of ε, as shares of them."""
        c, total = self._spent(np.exp(z))
        used = np.append(log_mix(self.q, c, total) / self.levels, total / self.eps)
        result: FloatArray = 1.0 - used
        return result

    def slack_gradient(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of `slack` in z, shape (G + 1, J)."""
        alpha = np.exp(z)
        c, total = self._spent(alpha)
        certificate = log_mix(self.q, c, total)
        own = (1.0 - self.q) * np.exp(c - certificate)
        other = self.q * np.exp(np.minimum(total - certificate, 700.0))
        rows = (own[:, None] * self.seen + other[:, None] * self.copies) / self.levels[:, None]
        rows = np.vstack([rows, self.copies / self.eps])
        return -rows * alpha

    def _spent(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.seen @ alpha, np.asarray(self.copies @ alpha)

    def feasible(self, z: FloatArray) -> FloatArray:
        """Return z scaled down, if need be, until no level is exceeded."""
        if (self.slack(z) >= 0.0).all():
            return z
        low, high = -50.0, 0.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if (self.slack(z + middle) >= 0.0).all():
                low = middle
            else:
                high = middle
        return z + low


def best_design(
    coordinate_levels: ArrayLike,
    eps: float,
    q: float,
    family: str = "hybrid",
    channel: str = DUCHI,
) -> BestDesign:
    """Return the design of least error that a search over a family of designs finds.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Demanded levels δ_i in [0, ∞]; more than 6 distinct ones are rounded down to 6.
    eps : float
        Total level in [0, ∞).
    q : float
        Coupling in [0, 1], public.
    family : {"nested", "hybrid"}
        Channels of M_mean only, or also channels of single coordinates and of groups.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.
    """
    checks.one_of("family", family, FAMILIES)
    demanded = effective_levels(coordinate_levels, eps)
    if demanded.ndim != 1:
        raise ValueError(f"coordinate_levels must be a vector, got shape {demanded.shape}")
    checks.reals("q", q, 0.0, 1.0)
    values, place, counts = rounded_levels(demanded, _MOST_LEVELS)
    groups = _grouped(place, values.size)
    if values[0] == 0.0:
        return BestDesign(groups, (), np.zeros(0), math.inf)
    with np.errstate(over="ignore"):
        error = float(demanded.size * np.exp(log_channel_moment(demanded.size, values[0], channel)))
    found = [BestDesign(groups, (("suffix", 0),), values[:1].copy(), error)]
    theorem2 = best_zeta(demanded, float(eps), q, channel)
    if np.isfinite(theorem2.mse):
        found.append(_nested(theorem2.c, float(theorem2.mse)))
    chain = best_zeta(values, float(eps), q, channel).c
    for kinds, start in _structures(values, counts, family, chain):
        problem = replace(_problem(kinds, values, counts, float(eps), float(q)), channel=channel)
        found.append(solve_locally(problem, groups, kinds, start))
    best = min(found, key=lambda design: design.mse)
    return replace(best, truncated=bool((values[place] < demanded).any()))


def _grouped(place: checks.IntArray, groups: int) -> tuple[checks.IntArray, ...]:
    return tuple(np.flatnonzero(place == g).astype(np.int64) for g in range(groups))


def _nested(c: FloatArray, mse: float) -> BestDesign:
    """Return M_mean with budgets c > 0 as a design."""
    values, place = np.unique(c, return_inverse=True)
    kinds = tuple(("suffix", g) for g in range(values.size))
    return BestDesign(_grouped(place, values.size), kinds, np.diff(values, prepend=0.0), mse)


def _structures(
    values: FloatArray, counts: checks.IntArray, family: str, chain: FloatArray
) -> list[tuple[list[Kind], FloatArray]]:
    """Return sets of channel classes worth trying, each with levels to start from.

    `chain` is Theorem 2's budget of each group.
    """
    groups = values.size
    steps = np.maximum(np.diff(chain, prepend=0.0), 1e-3 * values[0])
    even = np.maximum(np.diff(values, prepend=0.0), 1e-3 * values[0])
    nested: list[Kind] = [("suffix", g) for g in range(groups)]
    structures: list[tuple[list[Kind], FloatArray]] = [(nested, steps), (nested, even)]
    if family == "nested":
        return structures
    for t in range(groups + 1):
        singles: list[Kind] = [("singles", g) for g in range(t)]
        small = values[:t] / 2.0
        structures.append(
            (singles + [("group", g) for g in range(t, groups)], np.append(small, values[t:] / 2.0))
        )
        if 0 < t < groups:
            structures.append(
                (singles + [("suffix", g) for g in range(t, groups)], np.append(small, even[t:]))
            )
    mixed = nested + [("group", g) for g in range(groups - 1)]
    mixed += [("singles", g) for g in range(groups) if counts[g] > 1]
    structures.append((mixed, np.full(len(mixed), values[0] / 4.0)))
    return structures


def _problem(
    kinds: list[Kind], values: FloatArray, counts: checks.IntArray, eps: float, q: float
) -> Classes:
    """Return the problem of finding the levels of these channel classes."""
    seen = np.zeros((values.size, len(kinds)))
    sizes, copies = np.ones(len(kinds), np.int64), np.ones(len(kinds), np.int64)
    for j, (kind, g) in enumerate(kinds):
        if kind == "singles":
            seen[g, j], copies[j] = 1.0, counts[g]
        else:
            stop = values.size if kind == "suffix" else g + 1
            seen[g:stop, j], sizes[j] = 1.0, counts[g:stop].sum()
    return Classes(values, counts, eps, q, seen, sizes, copies)


def solve_locally(
    problem: Classes,
    groups: tuple[checks.IntArray, ...],
    kinds: list[Kind],
    start: FloatArray,
) -> BestDesign:
    """Run SLSQP from a start, and return its answer or the start, whichever is better."""
    from scipy.optimize import minimize

    z0 = problem.feasible(np.log(np.minimum(start, USELESS)))
    lowest = min(math.log(problem.levels[0]) - 30.0, float(z0.min()))
    answer = minimize(
        problem.log_error,
        z0,
        jac=True,
        method="SLSQP",
        bounds=[(lowest, math.log(USELESS))] * z0.size,
        constraints={"type": "ineq", "fun": problem.slack, "jac": problem.slack_gradient},
        options={"maxiter": 200, "ftol": 1e-12},
    )
    candidates = [z0]
    if np.isfinite(answer.x).all():
        candidates.append(problem.feasible(answer.x))
    z = min(candidates, key=lambda point: problem.log_error(point)[0])
    with np.errstate(over="ignore"):
        error = float(np.exp(problem.log_error(z)[0]))
    return BestDesign(groups, tuple(kinds), np.exp(z), error)
