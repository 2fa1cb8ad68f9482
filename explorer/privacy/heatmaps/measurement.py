"""Noisy counts of the few cells that are looked at, and which of them are kept.

Noise is drawn lazily: only the start level and the children of kept cells are ever read, at most
4^q + 4w(ℓ−q) cells, and that has exactly the output distribution of noise for all cells.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.heatmaps.budget_schedule import Schedule
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.quadtree import children, decode
from explorer.privacy.noise.demonstration import IntArray

Reader = Callable[[int, IntArray], FloatArray]
"""Something that gives a number for cells of a level: (level, Morton codes) → values."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Candidates, their noisy counts and the selection, for levels start..L.

    Attributes
    ----------
    level, start : int
        The deepest level measured (ℓ, or L with a depth cap) and the level whose cells are all
        measured.
    codes : tuple of ndarray of int64
        T_i, ascending; ``codes[0]`` is the whole start level, ``codes[k+1]`` the four children
        of every selected cell of ``codes[k]``, in order.
    values : tuple of ndarray of float64
        t of the candidates.
    selected : tuple of ndarray of bool
        Which candidates are in S_i.
    """

    level: int
    start: int
    codes: tuple[IntArray, ...]
    values: tuple[FloatArray, ...]
    selected: tuple[BoolArray, ...]

    @property
    def draws(self) -> int:
        """Number of cells read."""
        return sum(len(codes) for codes in self.codes)


def largest(values: FloatArray, codes: IntArray, w: int) -> BoolArray:
    """Mark the min(w, n) largest values; of equal ones the earliest in row-major order.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
    codes : ndarray of int64, shape (n,)
        Morton codes of the cells, all of one level.
    w : int
        ≥ 1.
    """
    n = len(values)
    if w >= n:
        return np.ones(n, bool)
    threshold = np.partition(values, n - w)[n - w]
    mask: BoolArray = values > threshold
    ties = np.flatnonzero(values == threshold)
    missing = w - int(np.count_nonzero(mask))
    if len(ties) > missing:
        row, column = decode(codes[ties])
        ties = ties[np.lexsort((column, row))[:missing]]
    mask[ties] = True
    return mask


def descend(read: Reader, start: int, level: int, w: int) -> Measurement:
    """Read the start level, keep the w largest children level by level.

    All cells of the start level are kept, whatever w is; S_{i+1} are the min(w, |T_{i+1}|)
    largest children of S_i.

    Parameters
    ----------
    read : callable (level, codes) → values
        Noisy counts; called once a level.
    start, level : int
        0 ≤ start ≤ ℓ.
    w : int
        ≥ 1.

    References
    ----------
    Algorithm 1 of the paper; Definition 3.2 with the child relation the right way round
    (errata heat-8), ties row-major (errata heat-26).
    """
    cells = np.arange(4**start, dtype=np.int64)
    codes, values, selected = [cells], [read(start, cells)], [np.ones(len(cells), bool)]
    for i in range(start + 1, level + 1):
        cells = children(codes[-1][selected[-1]])
        noisy = read(i, cells)
        codes.append(cells)
        values.append(noisy)
        selected.append(largest(noisy, cells, w))
    return Measurement(level, start, tuple(codes), tuple(values), tuple(selected))


def measure(counts: CellCounts, plan: Schedule, w: int, unit_noise: Reader) -> Measurement:
    """Add Laplace noise of scale 1/ε_i to the cells that are looked at, and select.

    For real-valued noise the result is ε-DP for adding or removing one user, since each level's
    counts have ℓ1-sensitivity 1 and Σε_i = ε; replacing one user costs 2ε.

    Parameters
    ----------
    counts : CellCounts
        With the plan's ℓ.
    plan : Schedule
    w : int
        Cells kept on every level.
    unit_noise : callable (level, codes) → noise
        Independent Laplace draws of scale 1, the same whenever a cell is evaluated again.

    Raises
    ------
    ValueError
        If counts and plan differ in ℓ.
    """
    if counts.level != plan.level:
        raise ValueError(f"level: counts have {counts.level}, the schedule {plan.level}")

    def read(level: int, cells: IntArray) -> FloatArray:
        return counts.at(level, cells) + unit_noise(level, cells) / plan.epsilon[level]

    return descend(read, plan.start, plan.last, w)
