"""The few exponentials of this paper, safe from overflow and from cancellation.

Each is the naive formula wherever that one is accurate, and an equal one elsewhere
(errata coord-B1, coord-B2, coord-B6).
"""

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray


def log_mix(q: ArrayLike, low: ArrayLike, high: ArrayLike) -> FloatArray:
    """Return log((1−q)·e^low + q·e^high) for q in [0, 1] and 0 ≤ low, high ≤ ∞.

    With ``low = 0`` it is log(1 + q(e^high − 1)), the correlation term of Proposition 4.
    """
    q, low, high = np.asarray(q, float), np.asarray(low, float), np.asarray(high, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # expm1 keeps relative accuracy where both levels are small, logaddexp where e^high is not
        # a number.
        small = np.log1p((1.0 - q) * np.expm1(low) + q * np.expm1(high))
        large = np.logaddexp(np.log1p(-q) + low, np.log(q) + high)
        mixed = np.where(np.maximum(low, high) < 30.0, small, large)
    # At q = 0 and 1 the other exponential must not be read at all: it may be infinite.
    mixed = np.where(q == 0.0, low, np.where(q == 1.0, high, mixed))
    result: FloatArray = np.asarray(mixed)
    return result


def log_mix_high(q: ArrayLike, target: ArrayLike) -> FloatArray:
    """Return the `high` at which log(1 + q(e^high − 1)) is `target`: log(1 + (e^target − 1)/q).

    Infinite at q = 0.
    """
    q, target = np.asarray(q, float), np.asarray(target, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = np.expm1(target) / q
        small = np.log1p(ratio)
        large = target - np.log(q) + np.log1p(-(1.0 - q) * np.exp(-target))
        value = np.where((ratio < 1e300) & (target < 30.0), small, large)
    value = np.where(q == 1.0, target, np.where(q == 0.0, np.inf, value))
    result: FloatArray = np.asarray(value)
    return result


def log_mix_low(q: ArrayLike, target: ArrayLike, high: ArrayLike) -> FloatArray:
    """Return the `low` at which log((1−q)e^low + q·e^high) is `target`, capped at `high`.

    NaN where none is at least 0: then q·e^high alone is too much.
    """
    q, target, high = np.asarray(q, float), np.asarray(target, float), np.asarray(high, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        small = np.log1p((np.expm1(target) - q * np.expm1(high)) / (1.0 - q))
        large = target + np.log1p(-np.exp(np.log(q) + high - target)) - np.log1p(-q)
        low = np.where(np.maximum(target, high) < 30.0, small, large)
        low = np.where(q == 0.0, target, low)
        low = np.where(low >= 0.0, low, np.nan)
    result: FloatArray = np.where(high <= target, high, np.minimum(low, high))
    return result


def log_mix_total(q: ArrayLike, target: ArrayLike, low: ArrayLike) -> FloatArray:
    """Return the `high` at which log((1−q)e^low + q·e^high) is `target`, for low ≤ target.

    Infinite at q = 0, `target` at low = target.
    """
    low = np.asarray(low, float)
    result: FloatArray = low + log_mix_high(q, np.maximum(np.asarray(target, float) - low, 0.0))
    return result
