"""The heatmap filter: every leaf's mass spread by a Gaussian that keeps it inside the square.

The paper's Z(x', y') factorises exactly, so H = A p Aᵀ with A column-normalised,
A[a, b] = exp(−((a−b)/Δ)²/2σ²) / Σ_a, summing over the output (errata heat-13).

A's numerator K is a positive definite kernel whose numerical rank is about 3/σ, whatever Δ is.
Pivoted Cholesky gives K ≈ L Lᵀ with no entry further off than the largest diagonal entry that
remains, so H ≈ L (LᵀD⁻¹ p D⁻¹L) Lᵀ costs a fraction of the dense product, and a map of few blocks
need never be rasterised: its inner matrix is a sum over blocks. Where the rank is too
high for that, the dense product or a zero-padded FFT is used.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.quadtree import SparseMap

Float32Array = NDArray[np.float32]

MAX_RANK = 256
"""Largest rank worth factoring for: beyond, finding the factor costs more than it saves."""
DENSE_SIDE = 128
"""Largest Δ at which the dense product beats the FFT."""
EXACT_ERROR = 1e-13
"""Largest entry of K − L Lᵀ for metrics; K's own largest entry is 1."""
PICTURE_ERROR = 1e-8
"""The same for pictures in single precision."""
NEGLIGIBLE = 1e-9
"""Factor entries below this are dropped in single precision: denormal numbers are very slow."""
NEGLIGIBLE_CORE = 1e-11
"""The same for entries of the inner matrix, as a share of its largest."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A ≈ left @ right in one precision, and prefix sums of `right` along its rows.

    Attributes
    ----------
    left : ndarray, shape (Δ, rank)
    right : ndarray, shape (rank, Δ)
    prefix : ndarray of float64, shape (Δ+1, rank)
        ``prefix[b] − prefix[a]`` is the sum of columns a…b−1 of `right`.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    prefix: FloatArray

    def apply(self, p: NDArray[Any]) -> NDArray[Any]:
        """Return H of a dense map."""
        return self._spread((self.right @ p) @ self.right.T)

    def apply_to_blocks(self, blocks: SparseMap) -> NDArray[Any]:
        """Return H of a map of blocks."""
        row, column, size = blocks.spans()
        by_row = (self.prefix[row + size] - self.prefix[row]) * (blocks.masses / size)[:, None]
        by_column = (self.prefix[column + size] - self.prefix[column]) / size[:, None]
        kind = self.left.dtype
        return self._spread(by_row.astype(kind).T @ by_column.astype(kind))

    def _spread(self, core: NDArray[Any]) -> NDArray[Any]:
        if core.dtype == np.float32 and core.size:
            core[np.abs(core) < NEGLIGIBLE_CORE * np.abs(core).max()] = 0
        heatmap = (self.left @ core) @ self.left.T
        return np.asarray(np.maximum(heatmap, 0, out=heatmap))


class Smoothing:
    """The filter for one grid and one σ.

    Parameters
    ----------
    side : int
        Δ ≥ 1.
    sigma : float
        Standard deviation as a fraction of the side; 0 leaves maps as they are.

    Raises
    ------
    ValueError
        If σ is negative or not finite, or Δ < 1.
    """

    def __init__(self, side: int, sigma: float) -> None:
        checks.reals("resolution", side, 1)
        checks.reals("sigma", sigma, 0.0, open_high=True)
        self.side = side
        self.sigma = sigma
        self._sums: dict[int, tuple[FloatArray, FloatArray]] = {}

    @property
    def identity(self) -> bool:
        """Whether the filter is the identity in double precision: no mass leaves its cell."""
        return self.sigma * self.side < 0.1

    @cached_property
    def kernel(self) -> FloatArray:
        """K at distances 0…Δ−1 cells."""
        distance = np.arange(self.side) / self.side
        if self.identity:
            return np.asarray(distance == 0, dtype=float)
        # Below exp(−200) it is as good as 0, and products of it would be denormal, thus slow.
        exponent = distance**2 / (2 * self.sigma**2)
        return np.asarray(np.where(exponent < 200, np.exp(-np.minimum(exponent, 200)), 0.0))

    @cached_property
    def column_sums(self) -> FloatArray:
        """Sum over rows of every column of K."""
        running = np.cumsum(self.kernel)
        above = running[::-1]  # rows a ≥ b: distances 0…Δ−1−b
        return np.asarray(running + above - self.kernel[0])

    @cached_property
    def matrix(self) -> FloatArray:
        """A, shape (Δ, Δ), columns summing to 1."""
        index = np.arange(self.side)
        return np.asarray(self.kernel[np.abs(index[:, None] - index)] / self.column_sums)

    @cached_property
    def _factors(self) -> tuple[Factor | None, Factor | None]:
        """Factors for metrics and for pictures; None where the rank is too high to be of use."""
        if self.identity:
            return None, None
        most = min(self.side * 5 // 8, MAX_RANK)
        if 2.0 / self.sigma > most:
            return None, None
        index = np.arange(self.side)
        remaining = np.ones(self.side)
        rows = np.zeros((most, self.side))
        coarse: Factor | None = None
        for k in range(most):
            pivot = int(remaining.argmax())
            if coarse is None and remaining[pivot] <= PICTURE_ERROR:
                coarse = self._factor(rows[:k], np.float32)
            if remaining[pivot] <= EXACT_ERROR:
                return self._factor(rows[:k], np.float64), coarse
            column = self.kernel[np.abs(index - pivot)] - rows[:k, pivot] @ rows[:k]
            column /= math.sqrt(remaining[pivot])
            rows[k] = column
            remaining -= column * column
            remaining[pivot] = 0.0
        return None, coarse

    def _factor(self, rows: FloatArray, kind: type[np.floating[Any]]) -> Factor:
        if kind is np.float32:
            rows = np.where(np.abs(rows) < NEGLIGIBLE, 0.0, rows)
        right = rows / self.column_sums
        prefix = np.zeros((self.side + 1, len(rows)))
        np.cumsum(right.T, axis=0, out=prefix[1:])
        left = np.ascontiguousarray(rows.T, dtype=kind)
        return Factor(left, np.ascontiguousarray(right, dtype=kind), prefix)

    @cached_property
    def _matrix_single(self) -> Float32Array:
        single = self.matrix.astype(np.float32)
        single[single < NEGLIGIBLE] = 0
        return single

    def exact(self, p: NDArray[Any] | SparseMap) -> FloatArray:
        """Return H = A p Aᵀ in double precision.

        Parameters
        ----------
        p : array, shape (Δ, Δ), or SparseMap
            Non-negative masses.

        Returns
        -------
        ndarray of float64, shape (Δ, Δ)
            Of the same total, never negative; wrong by at most about 10⁻¹² of what one cell
            holding all the mass would give.
        """
        fine, _ = self._factors
        self._fits(p)
        if isinstance(p, SparseMap):
            if fine is not None and len(p.masses) <= 4 * self.side:
                return fine.apply_to_blocks(p)
            p = p.grid()
        p = np.asarray(p, dtype=float)
        if self.identity:
            return p.copy()
        if self.side <= DENSE_SIDE:
            return np.asarray(self.matrix @ p @ self.matrix.T)
        return self._by_fft(p) if fine is None else fine.apply(p)

    def block_sums(self, p: NDArray[Any] | SparseMap, blocks: int) -> FloatArray:
        """Return the sums of blocks × blocks equal squares of H, without H.

        What distances of block sums need, for about a sixth of the work: a block's rows of A are
        summed first.

        Parameters
        ----------
        p : array, shape (Δ, Δ), or SparseMap
            Non-negative masses.
        blocks : int
            A divisor of Δ; at most Δ are made.

        Returns
        -------
        ndarray of float64, shape (blocks, blocks)
        """
        self._fits(p)
        blocks = min(blocks, self.side)
        summed, prefix = self._sum_blocks(blocks)
        if not isinstance(p, SparseMap):
            return np.asarray(summed @ np.asarray(p, dtype=float) @ summed.T)
        row, column, size = p.spans()
        by_row = (prefix[row + size] - prefix[row]) * (p.masses / size)[:, None]
        by_column = (prefix[column + size] - prefix[column]) / size[:, None]
        return np.asarray(np.maximum(by_row.T @ by_column, 0))

    def _sum_blocks(self, blocks: int) -> tuple[FloatArray, FloatArray]:
        """Return A with the rows of every block summed, and prefix sums along its columns."""
        if blocks not in self._sums:
            summed = self.matrix.reshape(blocks, -1, self.side).sum(axis=1)
            prefix = np.zeros((self.side + 1, blocks))
            np.cumsum(summed.T, axis=0, out=prefix[1:])
            self._sums[blocks] = summed, prefix
        return self._sums[blocks]

    def picture(self, p: NDArray[Any] | SparseMap) -> Float32Array:
        """Return H in single precision, wrong by less than 10⁻⁶ of its largest value.

        Parameters are those of `exact`.
        """
        _, coarse = self._factors
        self._fits(p)
        if isinstance(p, SparseMap):
            if coarse is not None and len(p.masses) <= 4 * self.side:
                return coarse.apply_to_blocks(p)
            p = p.grid(np.float32)
        p = np.asarray(p, dtype=np.float32)
        if self.identity:
            return p.copy()
        if coarse is not None:
            return coarse.apply(p)
        if self.side <= DENSE_SIDE:
            return np.asarray(self._matrix_single @ p @ self._matrix_single.T)
        return self._by_fft(p)

    def _fits(self, p: NDArray[Any] | SparseMap) -> None:
        shape = (1 << p.level,) * 2 if isinstance(p, SparseMap) else np.shape(p)
        if shape != (self.side, self.side):
            raise ValueError(f"p: shape {shape} is not ({self.side}, {self.side})")

    def _by_fft(self, p: NDArray[Any]) -> NDArray[Any]:
        from scipy import fft

        # Beyond 9σ the kernel is below 2⁻⁵³ of its peak, so nothing further can wrap round.
        reach = min(self.side - 1, math.ceil(9 * self.sigma * self.side))
        size = fft.next_fast_len(self.side + reach, real=True)
        around = np.zeros(size, p.dtype)
        around[: reach + 1] = self.kernel[: reach + 1]
        if reach:
            around[-reach:] = self.kernel[reach:0:-1]
        transform = fft.rfft(around).real
        inverse = (1 / self.column_sums).astype(p.dtype)
        spread = p * inverse * inverse[:, None]
        for axis in (0, 1):
            shape = (-1, 1) if axis == 0 else (1, -1)
            spectrum = fft.rfft(spread, n=size, axis=axis) * transform.reshape(shape)
            spread = fft.irfft(spectrum, n=size, axis=axis, overwrite_x=True)
            spread = spread[: self.side] if axis == 0 else spread[:, : self.side]
        return np.asarray(np.maximum(spread, 0.0))


@lru_cache(maxsize=12)
def smoothing(side: int, sigma: float) -> Smoothing:
    """Return the filter of one grid and σ, kept for the next call with the same two."""
    return Smoothing(side, sigma)
