"""Noise: a reproducible draw for the screen, and the laws of the noise that is added elsewhere.

Demonstration noise is a pure function of (seed, mechanism, level, cell). Moving a slider keeps
the draw, a cell that is visited again has the noise it had before, and drawing lazily for a few
cells gives the same bits as drawing for all of them. It is neither secret nor of cryptographic
quality, and it is floating point: never release anything made with it (Mironov 2012).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

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


def demonstration_uniform(seed: int, mechanism: str, level: int, codes: IntArray) -> FloatArray:
    """Return one uniform draw for every cell of one level: multiples of 2⁻⁵³ plus 2⁻⁵⁴ in (0, 1).

    Parameters are those of `hashed_words`; the result has the shape of `codes`.
    """
    words = hashed_words(seed, mechanism, level, codes) >> np.uint64(11)
    return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)


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


def demonstration_gaussian(seed: int, mechanism: str, level: int, codes: IntArray) -> FloatArray:
    """Return one standard normal draw for every cell of one level.

    Parameters are those of `hashed_words`; the result has the shape of `codes`. The magnitude is
    the quantile of a tail probability that is a multiple of 2⁻⁵⁴ plus 2⁻⁵⁵ in (0, ½), the sign a
    bit that it does not use.
    """
    from scipy.special import ndtri

    words = hashed_words(seed, mechanism, level, codes)
    tail = (words >> np.uint64(11)).astype(np.float64)
    tail += 0.5
    tail *= 2.0**-54
    draws: FloatArray = ndtri(tail)
    np.negative(draws, out=draws, where=(words & np.uint64(1)).astype(np.bool_))
    return draws


def discrete_laplace_quantiles(unit_laplace: NDArray[Any], scale: float) -> FloatArray:
    """Turn Laplace draws of scale 1 into discrete Laplace draws of scale b, monotonically.

    The same quantile of the other law: of the same sign, and moving with b in steps. For the
    screen, like the draws themselves.

    Parameters
    ----------
    unit_laplace : ndarray of float64
        Independent draws of density e^{−|x|}/2.
    scale : float
        b > 0, finite.

    Returns
    -------
    ndarray of float64
        Whole numbers k with probability tanh(1/2b) e^{−|k|/b}.
    """
    checks.positive("scale", scale)
    # |Z| ≥ k ≥ 1 has probability 2p^k/(1+p) with p = e^{−1/b}, |x| ≥ y has e^{−y}.
    shift = math.log(2.0) - math.log1p(math.exp(-1 / scale))
    magnitude = np.abs(unit_laplace)
    magnitude += shift
    magnitude *= scale
    np.floor(magnitude, out=magnitude)
    signed: FloatArray = np.copysign(magnitude, unit_laplace, out=magnitude)
    return signed


@dataclass(frozen=True, slots=True)
class DemonstrationGaussian:
    """Standard normal noise of one seed and mechanism, as a function of level and cells."""

    seed: int
    mechanism: str

    def __call__(self, level: int, codes: NDArray[Any]) -> FloatArray:
        """Return the draws of standard deviation 1 for these Morton codes of this level."""
        return demonstration_gaussian(self.seed, self.mechanism, level, codes)


@dataclass(frozen=True, slots=True)
class DemonstrationNoise:
    """Unit Laplace noise of one seed and mechanism, as a function of level and cells."""

    seed: int
    mechanism: str

    def __call__(self, level: int, codes: NDArray[Any]) -> FloatArray:
        """Return the draws of scale 1 for these Morton codes of this level."""
        return demonstration_laplace(self.seed, self.mechanism, level, codes)


def discrete_laplace_pmf(k: ArrayLike, scale: float) -> FloatArray:
    """Return P(Z = k) = tanh(1/2b) e^{−|k|/b} of discrete Laplace noise of scale b.

    Added to an integer count of sensitivity 1 it gives 1/b-DP.

    Parameters
    ----------
    k : array_like of int
    scale : float
        b > 0, finite.
    """
    checks.positive("scale", scale)
    distance = np.abs(np.asarray(k, dtype=float))
    return np.asarray(math.tanh(0.5 / scale) * np.exp(-distance / scale))


def polya_pmf(k: ArrayLike, r: float, p: float) -> FloatArray:
    """Return P(X = k) = Γ(k+r)/(k! Γ(r)) p^k (1−p)^r of a Pólya variable.

    n independent copies with r = 1/n sum to a geometric variable, and the difference of two such
    sums is discrete Laplace of scale −1/ln p: that is how users share noise in the shuffle model
    (one sum alone is one-sided, errata heat-2).

    Parameters
    ----------
    k : array_like of int, ≥ 0
    r : float
        Shape, finite and > 0.
    p : float
        In (0, 1).
    """
    from scipy.special import gammaln, xlog1py

    count = checks.reals("k", k, 0)
    checks.positive("r", r)
    checks.open_unit("p", p)
    log_ways = gammaln(count + r) - gammaln(count + 1) - gammaln(r)
    return np.asarray(np.exp(log_ways + count * math.log(p) + xlog1py(r, -p)))


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least σ whose Gaussian noise is (ε, δ)-DP, the analytic Gaussian mechanism.

    The least σ with Φ(s/2σ − εσ/s) − e^ε Φ(−s/2σ − εσ/s) ≤ δ for ℓ2-sensitivity s, found by
    bisection; right to about 10⁻¹¹ of itself.

    Parameters
    ----------
    epsilon : float
        Finite, ≥ 0.
    delta : float
        In (0, 1).
    sensitivity : float
        Finite, > 0.

    References
    ----------
    Balle and Wang 2018, *Improving the Gaussian mechanism*, Theorem 8. That it adds more noise
    than Laplace for moderate δ (footnote 8 of the heatmap paper) is false for small ε: errata
    heat-18.
    """
    from scipy.special import log_ndtr, ndtr

    checks.reals("epsilon", epsilon, 0.0, open_high=True)
    checks.open_unit("delta", delta)
    checks.positive("sensitivity", sensitivity)

    def spent(sigma: float) -> float:
        middle, width = -epsilon * sigma, 1 / sigma
        if width * max(1.0, -middle) < 1e-3:
            # Φ at two nearly equal points: the difference as an integral, to fourth order.
            density = math.exp(-0.5 * middle**2) / math.sqrt(2 * math.pi)
            difference = density * width * (1 + (middle**2 - 1) * width**2 / 24)
            return difference - math.expm1(epsilon) * float(ndtr(middle - 0.5 * width))
        upper = float(log_ndtr(0.5 / sigma - epsilon * sigma))
        lower = epsilon + float(log_ndtr(-0.5 / sigma - epsilon * sigma))
        return -math.exp(upper) * math.expm1(min(lower - upper, 0.0))

    low = high = 1.0
    while spent(high) > delta:
        high *= 2
    while spent(low) <= delta:
        low /= 2
    while high - low > 1e-12 * high:
        middle = low * math.sqrt(high / low)
        low, high = (low, middle) if spent(middle) <= delta else (middle, high)
    return high * sensitivity
