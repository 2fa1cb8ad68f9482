"""Noise for the screen: a reproducible draw for every cell of every level.

Demonstration noise is a pure function of (seed, mechanism, level, cell). Moving a slider keeps
the draw, a cell that is visited again has the noise it had before, and drawing lazily for a few
cells gives the same bits as drawing for all of them. It is neither secret nor of cryptographic
quality, and it is floating point: never release anything made with it (Mironov 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.bounds import FloatArray

IntArray = NDArray[np.int64]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


def _mix_int(z: int) -> int:
    """Return SplitMix64's finaliser of a 64-bit integer (a bijection)."""
    z &= _MASK
    z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
    return z ^ (z >> 31)


def _stream_key(seed: int, mechanism: str, level: int) -> int:
    """Return the 64-bit start of the stream of one seed, mechanism and level."""
    key = _mix_int(_GOLDEN)
    # Every 64-bit word of the seed counts, so that seeds above 2^64 do not collide on purpose.
    word, sign = abs(seed), int(seed < 0)
    while True:
        key = _mix_int(key + _GOLDEN + (word & _MASK))
        word >>= 64
        if not word:
            break
    key = _mix_int(key + _GOLDEN + sign)
    for byte in mechanism.encode():
        key = _mix_int(key + _GOLDEN + byte)
    return _mix_int(key + _GOLDEN + level)


def hashed_words(seed: int, mechanism: str, level: int, codes: IntArray) -> NDArray[np.uint64]:
    """Return 64 pseudo-random bits for every cell of one level.

    Parameters
    ----------
    seed : int
        Any integer.
    mechanism : str
        Name of the mechanism; different names give unrelated noise.
    level : int
        Level of the cells, 0 for the root.
    codes : ndarray of int64
        Morton codes of the cells, any shape.

    Returns
    -------
    ndarray of uint64
        The words number ``code`` of a SplitMix64 stream that starts at a hash of the rest
        (Steele, Lea and Flood 2014, *Fast splittable pseudorandom number generators*).
    """
    z = np.ascontiguousarray(codes).astype(np.uint64)
    z *= np.uint64(_GOLDEN)
    z += np.uint64(_stream_key(seed, mechanism, level))
    z ^= z >> np.uint64(30)
    z *= np.uint64(_MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_MIX_2)
    z ^= z >> np.uint64(31)
    return z


def demonstration_laplace(seed: int, mechanism: str, level: int, codes: IntArray) -> FloatArray:
    """Return one Laplace draw of scale 1 for every cell of one level.

    Parameters are those of `hashed_words`; the result has the shape of `codes`. To get
    Laplace noise of scale b, multiply by b.

    The magnitude is −ln u with u a multiple of 2⁻⁵³ plus 2⁻⁵⁴ in (0, 1), hence at most 37.4; the
    sign is a bit that u does not use.
    """
    words = hashed_words(seed, mechanism, level, codes)
    magnitude = (words >> np.uint64(11)).astype(np.float64)
    magnitude += 0.5
    magnitude *= 2.0**-53
    np.log(magnitude, out=magnitude)
    negative: NDArray[np.bool_] = (words & np.uint64(1)).astype(np.bool_)
    # ln u is negative, so keeping it is one sign and flipping it the other.
    np.negative(magnitude, out=magnitude, where=~negative)
    return magnitude


@dataclass(frozen=True, slots=True)
class DemonstrationNoise:
    """Unit Laplace noise of one seed and mechanism, as a function of level and cells."""

    seed: int
    mechanism: str

    def __call__(self, level: int, codes: NDArray[Any]) -> FloatArray:
        """Return the draws of scale 1 for these Morton codes of this level."""
        return demonstration_laplace(self.seed, self.mechanism, level, codes)
