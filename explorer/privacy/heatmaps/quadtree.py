"""Quadtree cells as Morton codes, and maps made of few dyadic blocks.

The code of the cell in row r and column c of level i interleaves their bits, row first:
``code = 2·spread(r) + spread(c)``. The children of a cell are ``4·code + 0…3`` in row-major
order, and all descendants of a cell at a deeper level form one contiguous range of codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.demonstration import IntArray

MAX_LEVEL = 24
"""Deepest level the codes are made for (Δ = 2²⁴); memory ends long before."""

_SPREAD = (
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)


def _spread(x: NDArray[Any]) -> IntArray:
    """Put a zero before every bit of numbers below 2³²."""
    x = np.asarray(x, dtype=np.int64)
    x = (x | (x << 16)) & 0x0000FFFF0000FFFF
    for shift, mask in _SPREAD:
        x = (x | (x << shift)) & mask
    return x


def _gather(x: IntArray) -> IntArray:
    """Keep every other bit, the inverse of `_spread`."""
    x = x & 0x5555555555555555
    for shift, mask in (
        (1, 0x3333333333333333),
        (2, 0x0F0F0F0F0F0F0F0F),
        (4, 0x00FF00FF00FF00FF),
        (8, 0x0000FFFF0000FFFF),
        (16, 0x00000000FFFFFFFF),
    ):
        x = (x | (x >> shift)) & mask
    return x


def encode(row: NDArray[Any], column: NDArray[Any]) -> IntArray:
    """Return the Morton codes of cells given by row and column, broadcast together."""
    return (_spread(row) << 1) | _spread(column)


def decode(code: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of cells given by Morton code."""
    code = np.asarray(code, dtype=np.int64)
    return _gather(code >> 1), _gather(code)


def all_codes(level: int) -> IntArray:
    """Return the codes of all cells of a level as a (2^level, 2^level) array [row, column]."""
    side = np.arange(1 << level, dtype=np.int64)
    return encode(side[:, None], side[None, :])


def children(code: IntArray) -> IntArray:
    """Return the four children of every cell, one cell's children after the other's."""
    return ((code[:, None] << 2) + np.arange(4, dtype=np.int64)).ravel()


def level_of(side: int, name: str = "resolution") -> int:
    """Return ℓ of a grid with 2^ℓ cells on a side.

    Raises
    ------
    ValueError
        If the side is not a power of two between 1 and 2^`MAX_LEVEL`.
    """
    if side < 1 or side & (side - 1) or side.bit_length() - 1 > MAX_LEVEL:
        raise ValueError(f"{name}: {side} is not a power of two in [1, {1 << MAX_LEVEL}]")
    return side.bit_length() - 1


@dataclass(frozen=True, slots=True)
class SparseMap:
    """Disjoint cells of a quadtree with their masses; no mass elsewhere.

    Attributes
    ----------
    level : int
        ℓ of the grid the map is drawn on.
    levels : ndarray of int
        Level of each block, at most ℓ.
    codes : ndarray of int64
        Morton code of each block on its level.
    masses : ndarray of float64
        Mass of each block, ≥ 0.
    is_uniform : bool
        Whether the map stands in for an answer without any mass.
    """

    level: int
    levels: IntArray
    codes: IntArray
    masses: FloatArray
    is_uniform: bool = False

    @classmethod
    def uniform(cls, level: int) -> SparseMap:
        """Return mass 1 spread over everything."""
        zero = np.zeros(1, np.int64)
        return cls(level, zero, zero, np.ones(1), is_uniform=True)

    def on(self, level: int) -> SparseMap:
        """Return the same blocks as a map of a grid at least as fine; ValueError if coarser."""
        if level < self.level:
            raise ValueError(f"level: {level} is below the map's {self.level}")
        return SparseMap(level, self.levels, self.codes, self.masses, self.is_uniform)

    def coarsened(self, level: int) -> SparseMap:
        """Return the map of a grid at most as fine, blocks finer than its cells added up."""
        if level >= self.level:
            return self if level == self.level else self.on(level)
        levels = np.minimum(self.levels, level)
        codes = self.codes >> (2 * (self.levels - levels))
        order = np.argsort(codes << (2 * (level - levels)), kind="stable")
        levels, codes, masses = levels[order], codes[order], self.masses[order]
        first = np.flatnonzero(
            (np.diff(codes, prepend=-1) != 0) | (np.diff(levels, prepend=-1) != 0)
        )
        sums = np.add.reduceat(masses, first) if len(first) else masses
        return SparseMap(level, levels[first], codes[first], sums, self.is_uniform)

    def spans(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return first row, first column and side length of every block, in leaves."""
        row, column = decode(self.codes)
        shift = self.level - self.levels
        return row << shift, column << shift, np.left_shift(1, shift)

    def normalised(self) -> SparseMap:
        """Return the map with total mass 1; ValueError if it has none."""
        total = float(self.masses.sum())
        if not total > 0:
            raise ValueError(f"masses: their sum {total:g} is not above 0")
        return SparseMap(self.level, self.levels, self.codes, self.masses / total, self.is_uniform)

    def grid(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return the masses of all leaves as a (2^ℓ, 2^ℓ) array [row, column], row 0 south."""
        side = 1 << self.level
        grid = np.zeros((side, side), dtype)
        row, column, size = self.spans()
        leaf = size == 1
        grid[row[leaf], column[leaf]] = self.masses[leaf]
        density = self.masses / (size.astype(float) ** 2)
        large = ~leaf
        for r, c, s, value in zip(
            row[large].tolist(),
            column[large].tolist(),
            size[large].tolist(),
            density[large].tolist(),
            strict=True,
        ):
            grid[r : r + s, c : c + s] = value
        return grid
