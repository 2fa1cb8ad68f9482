"""Cells of a quadtree as Morton codes.

The code of the cell in row r and column c of level i interleaves their bits, row first:
``code = 2·spread(r) + spread(c)``. The children of a cell are ``4·code + 0…3`` in row-major
order, and all descendants of a cell at a deeper level form one contiguous range of codes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
