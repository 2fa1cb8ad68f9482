"""Exact discrete Laplace noise added to counts, the last step before they are stored."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from explorer.privacy.noise.bits import BitSource, ByteBits
from explorer.privacy.noise.exact import discrete_laplace
from explorer.release.mechanisms.base import RandomBytes


def bits_of(random_bytes: RandomBytes) -> BitSource:
    """Return a bit source from random bytes."""
    return ByteBits(random_bytes)


def noisy(counts: NDArray[Any], sensitivity: int, epsilon: Fraction, bits: BitSource) -> list[int]:
    """Return counts plus independent discrete Laplace noise of scale sensitivity/ε.

    Counts in 64 bits are below 2⁶² in size; larger noise, and then the sum, is in Python integers.
    """
    drawn = discrete_laplace(sensitivity / epsilon, len(counts), bits)
    if drawn.dtype == object or counts.dtype == object:
        counts, drawn = counts.astype(object), drawn.astype(object)
    result: list[int] = (counts + drawn).tolist()
    return result
