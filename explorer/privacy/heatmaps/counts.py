"""Per-user distributions and their sum over users, at every level at once: the curator's counts.

**Contributions: a user's check-ins as a distribution over cells.** Whatever a user does, what they
contribute is a function of their own check-ins alone, non-negative and of mass 1 at most, so that
adding or removing them changes the aggregate, at every level, by at most 1 in ℓ1: every mechanism
keeps its guarantee, whichever rule is chosen. The rule itself must be chosen without looking at the
data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.quadtree import SparseMap, decode, encode
from explorer.privacy.heatmaps.row_pass import (
    MAX_WEIGHT,
    CountedRows,
    cells_of_rows,
    mass_bits,
    row_masses,
)
from explorer.privacy.noise.demonstration import IntArray
from explorer.user_rows import EARTH_STEP, Box, GridBox, round_to_steps

Weights = Literal["checkins", "cells", "one-cell"]
WEIGHTS: tuple[Weights, ...] = ("checkins", "cells", "one-cell")
_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio, odd: the top bits of its products are spread evenly."""
_START_BITS = 12


@dataclass(frozen=True, slots=True)
class Contribution:
    """The rule by which a user's check-ins in the region become their distribution.

    Attributes
    ----------
    weights : str
        ``checkins``: every check-in that counts weighs the same (times its weight, if the file has
        weights). ``cells``: every cell of the grid with one that counts weighs the same.
        ``one-cell``: all mass lies in the cell with most of them (by weight); of equal ones it is
        the first in Morton order.
    cap : int or None
        So many check-ins of a user count at most, whatever they weigh; None counts all. Of a user
        with more, as many are taken at equal steps along their check-ins in Morton order
        (systematic sampling). The start within the first step is a hash of the user's own cells, so
        that none of their check-ins is preferred.

    Raises
    ------
    ValueError
        If there are no such weights, or the cap is below 1.
    """

    weights: Weights = "checkins"
    cap: int | None = None

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise ValueError(f"weights: {self.weights!r} is not one of {', '.join(WEIGHTS)}")
        if self.cap is not None and self.cap < 1:
            raise ValueError(f"cap: {self.cap} is below 1")


BY_CHECKINS = Contribution()
"""As the paper: each check-in weighs 1 divided by the number of its user's in the region."""


@dataclass(frozen=True)
class _Rows:
    """Check-ins in the order of users and their cells."""

    user: IntArray
    codes: IntArray
    weights: FloatArray | None

    def __getitem__(self, chosen: IntArray) -> _Rows:
        weights = None if self.weights is None else self.weights[chosen]
        return _Rows(self.user[chosen], self.codes[chosen], weights)

    @property
    def users_begin(self) -> IntArray:
        """Index of each user's first row."""
        return np.flatnonzero(np.diff(self.user, prepend=-1))

    @property
    def cells_begin(self) -> IntArray:
        """Index of each user's first row in each of their cells."""
        return np.flatnonzero(
            (np.diff(self.user, prepend=-1) != 0) | (np.diff(self.codes, prepend=-1) != 0)
        )


def contributed(
    user: NDArray[Any],
    codes: IntArray,
    weights: FloatArray | None,
    level: int,
    rule: Contribution,
) -> tuple[IntArray, IntArray, FloatArray | None]:
    """Return users, cells and weights whose normalised sums are the distributions of a rule.

    Parameters
    ----------
    user : array of int, shape (n,)
        Index ≥ 0 of each check-in's user.
    codes : ndarray of int64, shape (n,)
        Morton code of its cell.
    weights : ndarray of float64, shape (n,), or None
        Above 0; 1 each if None.
    level : int
        ℓ: codes are below 4^ℓ.
    rule : Contribution

    Returns
    -------
    user, codes, weights
        Of those check-ins (or cells) that count; to be divided by each user's total weight. They do
        not depend on the order of the rows, nor one user's on the others.
    """
    if not len(codes):
        return user, codes, weights
    if weights is not None and (weights == 1.0).all():
        weights = None
    most = int(np.bincount(user).max(initial=0)) if rule.cap is not None else 0
    if rule.weights == "checkins" and (rule.cap is None or most <= rule.cap):
        return user, codes, weights
    rows = _by_user(user, codes, weights, level)
    if rule.cap is not None and most > rule.cap:
        rows = rows[_cap_rows(rows, rule.cap)]
    if rule.weights == "checkins":
        return rows.user, rows.codes, rows.weights
    begin = rows.cells_begin
    if rule.weights == "one-cell":
        begin = _most_visited(rows, begin)
    return rows.user[begin], rows.codes[begin], None


def sizes(user: NDArray[Any], codes: IntArray, level: int) -> tuple[IntArray, IntArray]:
    """Return how many check-ins, and check-ins in how many distinct cells, each user has.

    Parameters are those of `contributed`. Users without a check-in are left out; in both arrays the
    users come in the order of their indices.
    """
    rows = _by_user(user, codes, None, level)
    checkins = np.diff(rows.users_begin, append=len(rows.user))
    cells = np.diff(rows[rows.cells_begin].users_begin, append=len(rows.cells_begin))
    return checkins, cells


def _by_user(user: NDArray[Any], codes: IntArray, weights: FloatArray | None, level: int) -> _Rows:
    """Return check-ins by user, then cell, then weight."""
    user = user.astype(np.int64, copy=False)
    shift = 2 * level
    if int(user.max(initial=0)).bit_length() + shift > 62:
        order = np.lexsort((codes if weights is None else weights, codes, user))
        return _Rows(user, codes, weights)[order]
    # Sorting both as one number is several times faster than sorting indices.
    keys = (user << shift) | codes
    if weights is None:
        keys.sort()
    else:
        order = np.lexsort((weights, keys))
        keys, weights = keys[order], weights[order]
    return _Rows(keys >> shift, keys & ((1 << shift) - 1), weights)


def _cap_rows(rows: _Rows, cap: int) -> IntArray:
    """Return which rows of a user with more than so many count: so many, at equal steps.

    With m of a user's check-ins in order and n = min(m, cap), the j-th that counts is number
    ⌊(j + s)·m/n⌋ for a start s in [0, 1): each counts with chance n/m over starts.
    """
    begin = rows.users_begin
    sizes = np.diff(begin, append=len(rows.user))
    capped = np.minimum(sizes, cap)
    # Of the user's own cells, not of their index: that changes when other users come or go.
    mixed = np.add.reduceat(rows.codes, begin).astype(np.uint64) * _MIXER
    start = (mixed >> np.uint64(64 - _START_BITS)).astype(np.int64)
    which = np.repeat(np.arange(len(begin)), capped)
    j = np.arange(len(which)) - np.repeat(np.cumsum(capped) - capped, capped)
    steps = (j << _START_BITS) + start[which]
    # Whole numbers, as every n ≤ m of them must be distinct; n·m·2¹² < 2⁶³ for m < 47 million.
    return np.asarray(begin[which] + steps * sizes[which] // (capped[which] << _START_BITS))


def _most_visited(rows: _Rows, begin: IntArray) -> IntArray:
    """Return where each user's first row in their most visited cell is."""
    if rows.weights is None:
        visits = np.diff(begin, append=len(rows.user)).astype(float)
    else:
        visits = np.add.reduceat(rows.weights, begin)
    users = rows.user[begin]
    first = np.flatnonzero(np.diff(users, prepend=-1))
    most = np.repeat(np.maximum.reduceat(visits, first), np.diff(first, append=len(users)))
    best = np.flatnonzero(visits == most)
    return begin[best[np.flatnonzero(np.diff(users[best], prepend=-1))]]


@dataclass(frozen=True)
class CellCounts:
    """The aggregate s = Σ_users p_user on a 2^ℓ × 2^ℓ grid, kept sparse.

    Attributes
    ----------
    level : int
        ℓ.
    codes : ndarray of int64
        Morton codes of the leaves with mass, ascending and unique.
    masses : ndarray of float64
        s of those leaves, > 0.
    users : int
        Users with mass; the total mass is this number up to rounding.
    rows : int
        Check-ins inside the region.
    """

    level: int
    codes: IntArray
    masses: FloatArray
    users: int
    rows: int
    _prefix: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        prefix = np.zeros(len(self.masses) + 1)
        np.cumsum(self.masses, out=prefix[1:])
        object.__setattr__(self, "_prefix", prefix)

    @property
    def total(self) -> float:
        """Mass of the whole region."""
        return float(self._prefix[-1])

    def at(self, level: int, cells: IntArray) -> FloatArray:
        """Return the mass of some cells of a level: two binary searches a cell.

        Parameters
        ----------
        level : int
            0 ≤ level ≤ ℓ.
        cells : ndarray of int64
            Morton codes of that level.
        """
        shift = 2 * (self.level - level)
        low = np.searchsorted(self.codes, cells << shift)
        high = np.searchsorted(self.codes, (cells + 1) << shift)
        return self._prefix[high] - self._prefix[low]

    def dense(self, level: int) -> FloatArray:
        """Return the mass of all cells of a level, in Morton order."""
        checks.reals("level", level, 0, self.level)
        cells = self.codes >> (2 * (self.level - level))
        dense = np.bincount(cells, weights=self.masses, minlength=4**level)
        return np.asarray(dense, dtype=float)

    def grid(self) -> FloatArray:
        """Return the leaves as a (2^ℓ, 2^ℓ) array [row, column], row 0 south."""
        dense = np.zeros((1 << self.level, 1 << self.level))
        dense[self.cells] = self.masses
        return dense

    def blocks(self) -> SparseMap:
        """Return the leaves as a map."""
        return SparseMap(self.level, np.full(len(self.codes), self.level), self.codes, self.masses)

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of the leaves with mass."""
        return decode(self.codes)

    def coarsened(self, level: int) -> CellCounts:
        """Return the same aggregate on a coarser grid."""
        checks.reals("level", level, 0, self.level)
        codes, masses = sum_by_code(self.codes >> (2 * (self.level - level)), self.masses)
        return CellCounts(level, codes, masses, self.users, self.rows)


def sum_by_code(sorted_codes: IntArray, masses: FloatArray) -> tuple[IntArray, FloatArray]:
    """Add up the masses of equal codes; the codes must be ascending."""
    if not len(sorted_codes):
        return sorted_codes, masses
    first = np.flatnonzero(np.diff(sorted_codes, prepend=-1))
    return sorted_codes[first], np.add.reduceat(masses, first)


def _sort_codes(codes: IntArray, level: int) -> tuple[IntArray, IntArray]:
    """Return the codes in ascending order and the stable permutation that sorts them."""
    bits = len(codes).bit_length()
    if 2 * level + bits > 62:
        order = np.argsort(codes, kind="stable")
        return codes[order], order
    # Sorting code and index as one number is several times faster than sorting indices.
    keys = (codes << bits) | np.arange(len(codes))
    keys.sort()
    return keys >> bits, keys & ((1 << bits) - 1)


def from_grid(grid: NDArray[Any], users: int | None = None) -> CellCounts:
    """Return the aggregate given as a dense grid [row, column] of non-negative masses.

    Parameters
    ----------
    grid : array, shape (2^ℓ, 2^ℓ)
    users : int, optional
        Number of users; the rounded total if left out.

    Raises
    ------
    ValueError
        If the grid is not square with a power of two as its side, or has a negative or infinite
        mass.
    """
    grid = np.asarray(grid, dtype=float)
    side = grid.shape[0] if grid.ndim else 0
    if grid.ndim != 2 or grid.shape[1] != side or side & (side - 1) or not side:
        raise ValueError(f"grid: shape {grid.shape} is not (2^ℓ, 2^ℓ)")
    if not (np.isfinite(grid).all() and (grid >= 0).all()):
        raise ValueError("grid: every mass must be finite and at least 0")
    row, column = np.nonzero(grid)
    codes = encode(row, column)
    order = np.argsort(codes)
    masses = grid[row, column][order]
    total = round(float(masses.sum())) if users is None else users
    return CellCounts(side.bit_length() - 1, codes[order], masses, total, len(codes))


def aggregate(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    rule: Contribution = BY_CHECKINS,
    step: Fraction = EARTH_STEP,
) -> CellCounts:
    """Sum the users' normalised distributions over a grid that divides a box of degrees.

    Check-ins outside the box are dropped first; then those of each user that count by the rule, or
    the cells they lie in, share a mass of 1, in proportion to the check-ins' weights if the rule
    weighs check-ins. So adding or removing one user changes the aggregate, at every level, by at
    most 1 in ℓ1, whatever the rule (errata heat-24, heat-30). Each check-in's mass is rounded down
    to a multiple of 2^-40, and sums are exact: `row_pass.count_rows` finds the same. (Only where
    weights are not whole numbers up to 2^22, masses are of double precision.)

    Parameters
    ----------
    user : array of int, shape (n,)
        Index ≥ 0 of the user of each check-in.
    latitude, longitude : array of float, shape (n,)
        Degrees.
    weight : array of float, shape (n,), or None
        Positive multiplicity of each row; 1 if None.
    box : (south, west, north, east)
        Degrees; all four sides belong to it.
    level : int
        ℓ.
    rule : Contribution
        How a user's check-ins become their distribution.
    step : Fraction
        Of coordinates: check-ins and the box's sides are taken to the nearest whole steps first.

    Returns
    -------
    CellCounts
        Row 0 is south, column 0 west.

    Raises
    ------
    ValueError
        If lengths differ, a user index is negative, or a weight is not finite and above 0.
    """
    user, codes, weights, rows = cells_of(user, latitude, longitude, weight, box, level, step)
    if not rows:
        return CellCounts(level, np.zeros(0, np.int64), np.zeros(0), 0, 0)
    user, codes, weights = contributed(user, codes, weights, level, rule)
    share = np.bincount(user, weights=weights)
    users = int(np.count_nonzero(share))
    masses, unit = _masses(share[user], weights, mass_bits(users))
    codes, order = _sort_codes(codes, level)
    codes, masses = sum_by_code(codes, masses[order])
    return CellCounts(level, codes, masses * unit, users, rows)


def _masses(
    share: NDArray[Any], weights: FloatArray | None, bits: int
) -> tuple[NDArray[Any], float]:
    """Return the weights of check-ins, in whole numbers if possible, and their unit."""
    if weights is None:
        return row_masses(share, bits), 2.0**-bits
    if (weights <= MAX_WEIGHT).all() and (weights == np.rint(weights)).all():
        return (weights.astype(np.int64) << bits) // share.astype(np.int64), 2.0**-bits
    return weights / share, 1.0


def from_rows(found: CountedRows) -> CellCounts:
    """Return the aggregate that a pass over rows has found."""
    codes = np.flatnonzero(found.cells)
    level = (len(found.cells).bit_length() - 1) // 2
    masses = found.cells[codes].astype(float) * 2.0**-found.bits
    return CellCounts(level, codes, masses, found.used, found.rows)


def contribution_sizes(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    box: Box,
    level: int,
    step: Fraction = EARTH_STEP,
) -> tuple[IntArray, IntArray]:
    """Return how many check-ins inside a box each user has, and in how many cells of a grid.

    Parameters and errors are those of `aggregate`. Users without a check-in inside are left out; in
    both arrays they come in the order of their indices.
    """
    user, codes, _, _ = cells_of(user, latitude, longitude, None, box, level, step)
    return sizes(user, codes, level)


def cells_of(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    step: Fraction = EARTH_STEP,
) -> tuple[NDArray[Any], IntArray, FloatArray | None, int]:
    """Return user, leaf and weight of every check-in inside a box, and how many there are.

    Parameters and errors are those of `aggregate`; rows keep their order.
    """
    user = np.asarray(user)
    y, x = round_to_steps(latitude, step), round_to_steps(longitude, step)
    edges = GridBox.of(box, step)
    if not (user.shape == y.shape == x.shape) or user.ndim != 1:
        raise ValueError("user, latitude, longitude: must be one-dimensional and equally long")
    inside = (y >= edges.south) & (y <= edges.north) & (x >= edges.west) & (x <= edges.east)
    if not inside.all():
        user, y, x = user[inside], y[inside], x[inside]
    if weight is not None:
        weight = np.asarray(weight, dtype=float)
        if weight.shape != inside.shape:
            raise ValueError("weight: must be as long as user")
        weight = weight[inside] if len(weight) != len(user) else weight
        if not (np.isfinite(weight).all() and (weight > 0).all()):
            raise ValueError("weight: every weight must be finite and above 0")
    if len(user) and user.min() < 0:
        raise ValueError(f"user: index {int(user.min())} is below 0")
    return user, cells_of_rows(y, x, edges, level), weight, len(user)


def one_cell_each(
    user: NDArray[Any],
    latitude: NDArray[Any],
    longitude: NDArray[Any],
    weight: NDArray[Any] | None,
    box: Box,
    level: int,
    cap: int | None = None,
    step: Fraction = EARTH_STEP,
) -> CellCounts:
    """Count every user once, in the cell of the grid where they checked in most often.

    Of cells visited equally often the first in Morton order counts. A user's cell depends on their
    own check-ins alone, so adding or removing one user changes one count by 1, at every level.
    What the map then shows is where users mostly are, not how they spread their check-ins.

    Parameters and errors are those of `aggregate`; at most ``cap`` check-ins of a user count.

    Returns
    -------
    CellCounts
        Whole masses; their sum is the number of users with a check-in inside the box.
    """
    rule = Contribution("one-cell", cap)
    return aggregate(user, latitude, longitude, weight, box, level, rule, step)
