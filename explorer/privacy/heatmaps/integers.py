"""Exact integer pipeline of releases, from check-ins to noisy counts.

Every user's distribution becomes whole numbers with the sum B exactly, by cumulative floors; the
levels' ε become multiples of 2⁻⁴⁰ whose sum is at most ε exactly; discrete Laplace noise of scale
B/ε_i comes from a sampler that is passed in. No floating-point number touches the counts before the
noise. What follows the noise (selection, reconstruction) is post-processing and may be inexact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.heatmaps.budget_schedule import EPSILON_UNIT, Schedule
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution, cells_of, contributed
from explorer.privacy.heatmaps.least_squares_fit import LevelCounts
from explorer.privacy.heatmaps.measurement import Measurement, descend
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import EARTH_STEP, Box

RESOLUTION = 1 << 20
"""Default B: total weight of every user."""
_LIMIT = 1 << 63

Sampler = Callable[[Fraction, int, Any], NDArray[Any]]
"""(scale, size, bits) → whole numbers: `explorer.privacy.noise.exact.discrete_laplace`."""


@dataclass(frozen=True)
class IntegerCounts:
    """The users' whole-number distributions, summed over users and kept sparse.

    Attributes
    ----------
    level : int
        ℓ.
    codes : ndarray of int64
        Morton codes of the leaves with mass, ascending and unique.
    masses : ndarray of int64
        Σ_users z of those leaves, ≥ 1; their sum is B times the number of users.
    users : int
    resolution : int
        B: what adding or removing one user changes every level by, in ℓ1.
    """

    level: int
    codes: IntArray
    masses: IntArray
    users: int
    resolution: int

    def at(self, level: int, cells: IntArray) -> IntArray:
        """Return the exact counts of some cells (Morton codes) of a level ≤ ℓ."""
        prefix = np.zeros(len(self.masses) + 1, self.masses.dtype)
        np.cumsum(self.masses, out=prefix[1:])
        shift = 2 * (self.level - level)
        low = np.searchsorted(self.codes, cells << shift)
        high = np.searchsorted(self.codes, (cells + 1) << shift)
        return np.asarray(prefix[high] - prefix[low])


def cumulative_floors(visits: NDArray[Any], resolution: int) -> IntArray:
    """Return z_c = ⌊B·F_c/K⌋ − ⌊B·F_{c−1}/K⌋ for one user's visits in Morton order.

    With F the running sums of the visits and K their total: z ≥ 0, Σz = B exactly, and any run of
    neighbouring cells (every cell of every level is one) is within 1 of B times its share of the
    visits. Plain floors of B·visits/K lose up to all of a user who visits more than B cells.

    Parameters
    ----------
    visits : array of int, shape (cells,)
        ≥ 1 each.
    resolution : int
        B ≥ 1.
    """
    visits = np.asarray(visits)
    users = np.zeros(len(visits), np.int64)
    return _floors(users, visits.astype(np.int64), resolution)


def _floors(user: IntArray, visits: IntArray, resolution: int) -> IntArray:
    """Return the cumulative floors of all users' cells, each user's together and in order."""
    if not len(user):
        return np.zeros(0, np.int64)
    if visits.min() < 1:
        raise ValueError(f"visits: {int(visits.min())} is below 1")
    first = np.flatnonzero(np.diff(user, prepend=user[0] - 1) != 0)
    group = np.cumsum(np.diff(user, prepend=user[0]) != 0)
    _fits_int64(visits, resolution)
    running = np.cumsum(visits)
    before = running[first] - visits[first]
    ends = np.append(first[1:], len(visits)) - 1
    total = running[ends] - before
    floors = resolution * (running - before[group]) // total[group]
    z = np.diff(floors, prepend=0)
    z[first] = floors[first]
    return np.asarray(z)


def _fits_int64(visits: IntArray, resolution: int) -> None:
    """Refuse visits whose sum times B is 2⁶³ or more, in Python's integers."""
    if len(visits) and len(visits) * int(visits.max()) * resolution >= _LIMIT:
        total = sum(visits.tolist())
        if total * resolution >= _LIMIT:
            raise ValueError(f"resolution: {resolution} times all {total} visits is 2^63 or more")


def integer_counts(
    user: NDArray[Any],
    cell: NDArray[Any],
    visits: NDArray[Any],
    level: int,
    resolution: int = RESOLUTION,
) -> IntegerCounts:
    """Sum the users' whole-number distributions.

    Parameters
    ----------
    user : array of int, shape (rows,)
        Index ≥ 0 of the user of each row.
    cell : array of int, shape (rows,)
        Morton code of its leaf; a user's rows may repeat a cell.
    visits : array of int, shape (rows,)
        Check-ins, ≥ 1 each.
    level : int
        ℓ.
    resolution : int
        B ≥ 1, fixed before the data are seen.

    Returns
    -------
    IntegerCounts
        Adding or removing one user changes every level's counts by exactly B in ℓ1, and leaves all
        other users' numbers as they are.

    Raises
    ------
    TypeError
        If an array does not hold integers.
    ValueError
        If n·B or B times all visits reaches 2⁶³, or a number is outside its domain.
    """
    where, z, users = floors_by_user(user, cell, visits, level, resolution)
    if 4**level <= max(1 << 16, 4 * len(where)):
        dense = np.zeros(4**level, z.dtype)
        np.add.at(dense, where, z)
        where, z = np.arange(len(dense)), dense
    elif len(where):
        order = np.argsort(where, kind="stable")
        where, z = where[order], z[order]
        first = np.flatnonzero(np.diff(where, prepend=-1))
        where, z = where[first], np.add.reduceat(z, first)
    positive = np.asarray(z > 0, dtype=np.bool_)
    return IntegerCounts(level, where[positive], z[positive], users, resolution)


def floors_by_user(
    user: NDArray[Any], cell: NDArray[Any], visits: NDArray[Any], level: int, resolution: int
) -> tuple[IntArray, IntArray, int]:
    """Return the cells of every user and their whole-number masses, and how many users there are.

    Each user's numbers are made of their rows alone: ≥ 0, with the total B. Parameters and errors
    are those of `integer_counts`.
    """
    arrays = {"user": np.asarray(user), "cell": np.asarray(cell), "visits": np.asarray(visits)}
    for name, values in arrays.items():
        if values.dtype.kind not in "iu" and len(values):
            raise TypeError(f"{name}: {values.dtype} is not a type of whole numbers")
    if len({values.shape for values in arrays.values()}) != 1 or arrays["user"].ndim != 1:
        raise ValueError("user, cell, visits: must be one-dimensional and equally long")
    if not (isinstance(resolution, int) and resolution >= 1):
        raise ValueError(f"resolution: {resolution!r} is not a whole number of at least 1")
    who, where, times = (values.astype(np.int64) for values in arrays.values())
    if len(where) and not (where.min() >= 0 and where.max() < 4**level):
        raise ValueError(f"cell: a code is outside [0, 4^{level})")
    if len(times) and times.min() < 1:
        raise ValueError(f"visits: {int(times.min())} is below 1")
    _fits_int64(times, resolution)
    who, where, times = _merge(who, where, times, level)
    users = int(np.count_nonzero(np.diff(who, prepend=-1)))
    if users * resolution >= _LIMIT:
        raise ValueError(f"resolution: {resolution} times {users} users is 2^63 or more")
    return where, _floors(who, times, resolution), users


def _merge(
    who: IntArray, where: IntArray, times: IntArray, level: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return users' cells in order, every one once, with all its visits."""
    if not len(who):
        return who, where, times
    if who.min() < 0:
        raise ValueError(f"user: index {int(who.min())} is below 0")
    once = bool((times == 1).all())
    if int(who.max()).bit_length() + 2 * level > 62 or not once:
        order = np.lexsort((where, who))
        who, where, times = who[order], where[order], times[order]
        new = (np.diff(who, prepend=-1) != 0) | (np.diff(where, prepend=-1) != 0)
        first = np.flatnonzero(new)
        return who[first], where[first], np.add.reduceat(times, first)
    # Sorting both as one number is several times faster than sorting indices.
    keys = (who << (2 * level)) | where
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    times, keys = np.diff(first, append=len(keys)), keys[first]
    return keys >> (2 * level), keys & (4**level - 1), times


@dataclass(frozen=True)
class UserCells:
    """Leaves visited by each user, with whole numbers of visits.

    Attributes
    ----------
    level : int
        ℓ.
    user : ndarray of int64
        Ascending indices; each with its cells in Morton order, every cell once.
    codes, visits : ndarray of int64
        Morton codes of leaves, and weights ≥ 1.
    """

    level: int
    user: IntArray
    codes: IntArray
    visits: IntArray

    def counts(self, resolution: int) -> IntegerCounts:
        """Return the users' whole-number distributions, each of total B, summed over users."""
        return integer_counts(self.user, self.codes, self.visits, self.level, resolution)


WEIGHT_UNITS = 1 << 16
"""Whole number for a weight of 1 where not all weights are whole numbers."""


def user_cells(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    rule: Contribution = BY_CHECKINS,
    step: Fraction = EARTH_STEP,
) -> UserCells:
    """Return the cells of every user that count, on a grid that divides a box of degrees.

    Weights that are not whole are rounded down to multiples of 2⁻¹⁶ first, and up to 2⁻¹⁶ if that
    leaves nothing; whole ones lose nothing, so that no user's numbers depend on another's.

    Parameters and errors are those of `aggregate`.
    """
    user, codes, weights, _ = cells_of(user, latitude, longitude, weight, box, level, step)
    user, codes, weights = contributed(user, codes, weights, level, rule)
    if weights is None:
        visits = np.ones(len(codes), np.int64)
    elif (weights == np.rint(weights)).all():
        visits = weights.astype(np.int64)
    else:
        visits = np.maximum(np.floor(weights * WEIGHT_UNITS), 1).astype(np.int64)
    order = np.lexsort((codes, user))
    who, where, times = user[order].astype(np.int64), codes[order], visits[order]
    new = (np.diff(who, prepend=-1) != 0) | (np.diff(where, prepend=-1) != 0)
    first = np.flatnonzero(new)
    if len(codes):
        times = np.add.reduceat(times, first)
    return UserCells(level, who[first], where[first], times)


def integer_aggregate(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    resolution: int = RESOLUTION,
    rule: Contribution = BY_CHECKINS,
    step: Fraction = EARTH_STEP,
) -> IntegerCounts:
    """Return the whole-number counts of check-ins on a grid that divides a box of degrees.

    Check-ins outside the box are dropped first. Which cell a check-in falls into is decided for
    each by itself: that maps a user's data to a user's data and costs nothing.

    Parameters and errors are those of `aggregate` and `integer_counts`; weights must be whole,
    where the rule weighs check-ins.
    """
    user, codes, weights, _ = cells_of(user, latitude, longitude, weight, box, level, step)
    user, codes, weights = contributed(user, codes, weights, level, rule)
    if weights is None:
        visits = np.ones(len(codes), np.int64)
    elif (weights == np.rint(weights)).all() and (weights < 2.0**53).all():
        visits = weights.astype(np.int64)
    else:
        raise ValueError("weight: a release counts check-ins, but a weight is not a whole number")
    return integer_counts(user.astype(np.int64), codes, visits, level, resolution)


def exact_epsilons(plan: Schedule, epsilon: Fraction) -> tuple[Fraction, ...]:
    """Return the levels' ε rounded down to multiples of 2⁻⁴⁰, with a sum of at most ε exactly.

    Parameters
    ----------
    plan : Schedule
        Whose proportions are taken; they do not depend on the data.
    epsilon : Fraction
        The total that may be spent, > 0.

    Raises
    ------
    ValueError
        If a measured level would get nothing.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon: {epsilon} is not above 0")
    whole = sum((Fraction(part) for part in plan.epsilon), Fraction(0))
    parts = []
    for i, part in enumerate(plan.epsilon):
        units = epsilon * Fraction(part) / whole // EPSILON_UNIT
        if i in plan.measured and units < 1:
            raise ValueError(f"epsilon: {epsilon} leaves level {i} less than 2^-40")
        parts.append(units * EPSILON_UNIT)
    # Rounding exact shares down can only lose: Σ ⌊a_i⌋ ≤ Σ a_i = ε.
    return tuple(parts)


def release_measurement(
    counts: IntegerCounts,
    plan: Schedule,
    epsilons: Sequence[Fraction],
    w: int,
    sampler: Sampler,
    bits: Any,
) -> Measurement:
    """Add exact discrete Laplace noise to the cells that are looked at, and select.

    Exactly Σε_i-DP for adding or removing one user, 2Σε_i for replacing one, if the sampler is
    exact, `bits` are secret and fair, and B, w, region, Δ and plan were fixed without the data:
    every level's whole counts have ℓ1-sensitivity B, and noise of scale B/ε_i is drawn once for
    every cell that is read. Values come in users (divided by B after the noise).

    Parameters
    ----------
    counts : IntegerCounts
    plan : Schedule
        With the counts' ℓ.
    epsilons : sequence of Fraction
        From `exact_epsilons`.
    w : int
        Cells kept on every level.
    sampler : callable (scale, size, bits) → whole numbers
        Exact discrete Laplace noise.
    bits : source of random bits
        The operating system's, for a release.
    """
    _fits(counts, plan, epsilons)

    def read(level: int, cells: IntArray) -> NDArray[np.float64]:
        return _noisy(counts, level, cells, epsilons[level], sampler, bits)

    return descend(read, plan.start, plan.last, w)


def release_levels(
    counts: IntegerCounts,
    plan: Schedule,
    epsilons: Sequence[Fraction],
    sampler: Sampler,
    bits: Any,
) -> LevelCounts:
    """Add exact discrete Laplace noise to every cell of the measured levels.

    Guarantee and parameters are those of `release_measurement`.
    """
    _fits(counts, plan, epsilons)
    values = tuple(
        _noisy(counts, i, np.arange(4**i, dtype=np.int64), epsilons[i], sampler, bits)
        for i in plan.measured
    )
    variances = tuple(2.0 / float(epsilons[i]) ** 2 for i in plan.measured)
    return LevelCounts(plan.start, values, variances)


def _fits(counts: IntegerCounts, plan: Schedule, epsilons: Sequence[Fraction]) -> None:
    if counts.level != plan.level or len(epsilons) != plan.level + 1:
        raise ValueError(f"level: counts have {counts.level}, the schedule {plan.level}")


def _noisy(
    counts: IntegerCounts,
    level: int,
    cells: IntArray,
    epsilon: Fraction,
    sampler: Sampler,
    bits: Any,
) -> NDArray[np.float64]:
    """Return noisy counts in users; the sum is exact, whatever the noise's size."""
    exact = counts.at(level, cells)
    noise = np.asarray(sampler(counts.resolution / epsilon, len(cells), bits))
    # Counts are below 2^63 and noise may be of any size: their sum needs Python's integers.
    total = exact.astype(object) + noise.astype(object)
    return np.asarray(total / counts.resolution, dtype=float)
