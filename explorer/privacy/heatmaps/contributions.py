"""User contributions: turns a user's check-ins into a distribution over cells.

Whatever a user does, what they contribute is a function of their own check-ins alone, non-negative
and of mass 1 at most, so that adding or removing them changes the aggregate, at every level, by at
most 1 in ℓ1: every mechanism keeps its guarantee, whichever rule is chosen. The rule itself must be
chosen without looking at the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.demonstration import IntArray

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
    rows = _sorted(user, codes, weights, level)
    if rule.cap is not None and most > rule.cap:
        rows = rows[_capped(rows, rule.cap)]
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
    rows = _sorted(user, codes, None, level)
    checkins = np.diff(rows.users_begin, append=len(rows.user))
    cells = np.diff(rows[rows.cells_begin].users_begin, append=len(rows.cells_begin))
    return checkins, cells


def _sorted(user: NDArray[Any], codes: IntArray, weights: FloatArray | None, level: int) -> _Rows:
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


def _capped(rows: _Rows, cap: int) -> IntArray:
    """Return which rows of a user with more than so many count: so many, at equal steps.

    With m of a user's check-ins in order and n = min(m, cap), the j-th that counts is number
    ⌊(j + s)·m/n⌋ for a start s in [0, 1): each counts with chance n/m over starts.
    """
    begin = rows.users_begin
    there = np.diff(begin, append=len(rows.user))
    kept = np.minimum(there, cap)
    # Of the user's own cells, not of their index: that changes when other users come or go.
    mixed = np.add.reduceat(rows.codes, begin).astype(np.uint64) * _MIXER
    start = (mixed >> np.uint64(64 - _START_BITS)).astype(np.int64)
    which = np.repeat(np.arange(len(begin)), kept)
    j = np.arange(len(which)) - np.repeat(np.cumsum(kept) - kept, kept)
    steps = (j << _START_BITS) + start[which]
    # Whole numbers, as every n ≤ m of them must be distinct; n·m·2¹² < 2⁶³ for m < 47 million.
    return np.asarray(begin[which] + steps * there[which] // (kept[which] << _START_BITS))


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
