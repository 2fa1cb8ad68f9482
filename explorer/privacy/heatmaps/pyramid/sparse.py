"""A map made of few dyadic blocks, each with its mass spread evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.pyramid.morton import decode
from explorer.privacy.noise.demonstration import IntArray


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
