"""The heatmap filter: every leaf's mass spread by a Gaussian that keeps it inside the square.

The paper's Z(x', y') factorises exactly, so H = A p Aᵀ with A column-normalised,
A[a, b] = exp(−((a−b)/Δ)²/2σ²) / Σ_a, summing over the output (errata 13). Three ways to apply it:

* `Smoothing.exact`: double precision, dense up to Δ = 256, zero-padded FFT beyond; for metrics.
* `Smoothing.picture`: single precision through a low-rank factor; for dense maps on the screen.
* `Smoothing.picture_of_blocks`: the same without ever building p; for the pyramid's answers.

A's numerator K is a positive definite kernel of rank about 2.5/σ, whatever Δ is. Pivoted Cholesky
gives K ≈ L Lᵀ with every entry wrong by at most the largest remaining diagonal entry.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.bounds import FloatArray
from explorer.privacy.heatmaps.sparse import SparseMap

Float32Array = NDArray[np.float32]

DENSE_SIDE = 256
"""Largest Δ for which the dense double-precision product beats the FFT."""
FACTOR_ERROR = 1e-8
"""Largest entry of K − L Lᵀ, where K's largest entry is 1: single precision."""


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
        if side < 1:
            raise ValueError(f"resolution: {side} is below 1")
        if not (math.isfinite(sigma) and sigma >= 0):
            raise ValueError(f"sigma: {sigma!r} is not a finite number of at least 0")
        self.side = side
        self.sigma = sigma

    @property
    def identity(self) -> bool:
        """Whether neighbouring cells do not touch each other in double precision."""
        return self.sigma * self.side < 0.1

    @cached_property
    def kernel(self) -> FloatArray:
        """K at distances 0…Δ−1 cells."""
        distance = np.arange(self.side) / self.side
        if self.identity:
            return np.asarray(distance == 0, dtype=float)
        # Below exp(−745) the exponential is 0; clipping avoids a needless underflow.
        return np.asarray(np.exp(np.maximum(-(distance**2) / (2 * self.sigma**2), -745.0)))

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
    def factor(self) -> tuple[FloatArray, FloatArray] | None:
        """L and LᵀD⁻¹ with A ≈ L (LᵀD⁻¹), or None if K's rank is too high to be of use."""
        if self.identity:
            return None
        most = min(self.side // 2, 512)
        expected = 2.2 / self.sigma
        if expected > most:
            return None
        index = np.arange(self.side)
        diagonal = np.ones(self.side)
        rows = np.zeros((most, self.side))
        for k in range(most):
            pivot = int(diagonal.argmax())
            if diagonal[pivot] <= FACTOR_ERROR:
                left = rows[:k]
                return left.T.copy(), left / self.column_sums
            column = self.kernel[np.abs(index - pivot)] - rows[:k, pivot] @ rows[:k]
            column /= math.sqrt(diagonal[pivot])
            rows[k] = column
            diagonal -= column * column
            diagonal[pivot] = 0.0
        return None

    @cached_property
    def _single(self) -> tuple[Float32Array, Float32Array, FloatArray] | None:
        """The factors in single precision, and prefix sums over columns of the right one."""
        if self.factor is None:
            return None
        left, right = self.factor
        prefix = np.zeros((self.side + 1, len(right)))
        np.cumsum(right.T, axis=0, out=prefix[1:])
        return left.astype(np.float32), right.astype(np.float32), prefix

    @cached_property
    def _matrix_single(self) -> Float32Array:
        return self.matrix.astype(np.float32)

    def exact(self, p: NDArray[Any]) -> FloatArray:
        """Return H = A p Aᵀ in double precision.

        Parameters
        ----------
        p : array, shape (Δ, Δ)
            Non-negative masses.

        Returns
        -------
        ndarray of float64, shape (Δ, Δ)
            Of the same total; rounding never makes it negative.
        """
        p = np.asarray(p, dtype=float)
        if self.identity:
            return p.copy()
        if self.side <= DENSE_SIDE:
            return np.asarray(self.matrix @ p @ self.matrix.T)
        return self._by_fft(p)

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

    def picture(self, p: NDArray[Any]) -> Float32Array:
        """Return H in single precision, wrong by less than 10⁻⁶ of its largest value.

        Parameters are those of `exact`.
        """
        p = np.asarray(p, dtype=np.float32)
        if self.identity:
            return p.copy()
        if self._single is not None:
            left, right, _ = self._single
            core = (right @ p) @ right.T
            return self._spread_core(left, core)
        if self.side <= 2 * DENSE_SIDE:
            return np.asarray(self._matrix_single @ p @ self._matrix_single.T)
        return self._by_fft(p)

    def picture_of_blocks(self, blocks: SparseMap) -> Float32Array:
        """Return H of a map of few blocks in single precision, without building the map.

        Parameters
        ----------
        blocks : SparseMap
            On a grid of this Δ.
        """
        if self.side != 1 << blocks.level:
            raise ValueError(f"blocks: their grid has side {1 << blocks.level}, not {self.side}")
        if self._single is None or len(blocks.masses) > 8 * self.side:
            return self.picture(blocks.grid(np.float32))
        left, _, prefix = self._single
        row, column, size = blocks.spans()
        # Mean of A's right factor over a block's rows and over its columns.
        by_row = (prefix[row + size] - prefix[row]) * (blocks.masses / size)[:, None]
        by_column = (prefix[column + size] - prefix[column]) / size[:, None]
        core = by_row.astype(np.float32).T @ by_column.astype(np.float32)
        return self._spread_core(left, core)

    @staticmethod
    def _spread_core(left: Float32Array, core: Float32Array) -> Float32Array:
        picture = np.asarray((left @ core) @ left.T, dtype=np.float32)
        np.maximum(picture, 0.0, out=picture)
        return picture


@lru_cache(maxsize=12)
def smoothing(side: int, sigma: float) -> Smoothing:
    """Return the filter of one grid and σ, kept for the next call with the same two."""
    return Smoothing(side, sigma)
