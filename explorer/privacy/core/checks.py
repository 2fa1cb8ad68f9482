"""Checks of arguments: a ValueError that names the parameter, the value and the domain."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core.bound import FloatArray

IntArray = NDArray[np.int64]

MAX_EPSILON = 800.0
"""Largest ε and ε₀ accepted; beyond it e^ε₀ has no double and no one would call it private."""
MAX_COUNT = 1e12
"""Largest number of clients."""
MAX_ROUNDS = 1e9
"""Largest number of rounds."""
MIN_DELTA = 1e-300
"""Smallest δ."""
MAX_ORDER = 4096
"""Largest Rényi order searched."""


def reals(
    name: str,
    value: ArrayLike,
    low: float,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> FloatArray:
    """Return the value as an array of floats within [low, high].

    Raises
    ------
    ValueError
        If any entry is not a number of the domain (`open_low` excludes `low` itself, `open_high`
        excludes `high`).
    """
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:  # much faster than below; curves check one number a point
        x = float(array)
        if (x > low if open_low else x >= low) and (x < high if open_high else x <= high):
            return array
    good = (array > low if open_low else array >= low) & (
        array < high if open_high else array <= high
    )
    if not good.all():
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        worst = array[~good].flat[0]
        raise ValueError(f"{name}: {worst:g} is outside {left}{low:g}, {high:g}{right}")
    return array


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Return the value as an array of finite floats above 0."""
    return reals(name, value, 0.0, math.inf, open_low=True, open_high=True)


def open_unit(name: str, value: ArrayLike) -> FloatArray:
    """Return the value as an array of floats strictly between 0 and 1."""
    return reals(name, value, 0.0, 1.0, open_low=True, open_high=True)


def integers(name: str, value: ArrayLike, low: float, high: float) -> FloatArray:
    """Return the value as an array of whole numbers (held as floats) within [low, high].

    Raises
    ------
    ValueError
        If any entry is not a whole number of the domain.
    """
    array = reals(name, value, low, high)
    if array.ndim == 0 and float(array).is_integer():
        return array
    if not np.all(array == np.floor(array)):
        worst = array[array != np.floor(array)].flat[0]
        raise ValueError(f"{name}: {worst:g} is not a whole number in [{low:g}, {high:g}]")
    return array


def whole(name: str, value: ArrayLike, low: int, high: float = math.inf) -> IntArray:
    """Return the value as an array of integers within [low, high]."""
    integers(name, value, low, high)
    return np.asarray(value).astype(np.int64)


def epsilon0(value: ArrayLike) -> FloatArray:
    """Check the local parameter ε₀."""
    return reals("eps0", value, 0.0, MAX_EPSILON)


def delta(value: ArrayLike, name: str = "delta") -> FloatArray:
    """Check a δ."""
    return reals(name, value, MIN_DELTA, 1.0)


def rounds(value: ArrayLike) -> FloatArray:
    """Check a number of rounds T."""
    return integers("T", value, 1, MAX_ROUNDS)


def at_most(
    name: str, value: NDArray[Any], limit_name: str, limit: NDArray[Any], low: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Check that no entry is above its limit, another argument, and broadcast the two."""
    array, limits = np.broadcast_arrays(value, limit)
    if (bad := array > limits).any():
        raise ValueError(
            f"{name}: {array[bad].flat[0]:g} is outside "
            f"[{low:g}, {limit_name} = {limits[bad].flat[0]:g}]"
        )
    return array, limits


def population(k: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check the numbers of sampled and of all clients, 1 ≤ k ≤ n ≤ 10¹², and broadcast them."""
    sampled, clients = integers("k", k, 1, MAX_COUNT), integers("n", n, 1, MAX_COUNT)
    return at_most("k", sampled, "n", clients, 1)


def positive_levels(name: str, value: ArrayLike) -> FloatArray:
    """Return privacy levels: an array of floats in [0, ∞], the last axis being the coordinate."""
    array = reals(name, value, 0.0, math.inf)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} must have at least one coordinate, got shape {array.shape}")
    return array


def records(name: str, value: ArrayLike, d: int) -> FloatArray:
    """Return users' data as an (n, d) array of finite floats in [−1, 1]."""
    array = reals(name, value, -1.0, 1.0)
    if array.ndim != 2 or array.shape[1] != d or array.shape[0] == 0:
        raise ValueError(f"{name} must have shape (n, {d}) with n ≥ 1, got {array.shape}")
    return array


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return the value if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(allowed)}")
    return value
