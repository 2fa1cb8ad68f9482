"""Checks of arguments: a ValueError that names the parameter, the value and the domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray

EPSILON_MAX = 800.0
"""Largest ε and ε₀ accepted; beyond it e^ε₀ has no double and no one would call it private."""
COUNT_MAX = 1e12
"""Largest number of clients."""
ROUNDS_MAX = 1e9
"""Largest number of rounds."""
DELTA_MIN = 1e-300
"""Smallest δ."""
ORDER_MAX = 4096
"""Largest Rényi order searched."""


def reals(
    name: str, value: ArrayLike, low: float, high: float, *, open_low: bool = False
) -> FloatArray:
    """Return the value as an array of floats within [low, high].

    Raises
    ------
    ValueError
        If any entry is not a number of the domain (`open_low` excludes `low` itself).
    """
    array = np.asarray(value, dtype=float)
    good = (array <= high) & ((array > low) if open_low else (array >= low))
    if not np.all(good):
        worst = array[~good].flat[0] if array.ndim else float(array)
        raise ValueError(
            f"{name}: {worst:g} is outside {'(' if open_low else '['}{low:g}, {high:g}]"
        )
    return array


def integers(name: str, value: ArrayLike, low: float, high: float) -> FloatArray:
    """Return the value as an array of whole numbers (held as floats) within [low, high].

    Raises
    ------
    ValueError
        If any entry is not a whole number of the domain.
    """
    array = reals(name, value, low, high)
    if not np.all(array == np.floor(array)):
        worst = array[array != np.floor(array)].flat[0] if array.ndim else float(array)
        raise ValueError(f"{name}: {worst:g} is not a whole number in [{low:g}, {high:g}]")
    return array


def epsilon0(value: ArrayLike) -> FloatArray:
    """Check the local parameter ε₀."""
    return reals("eps0", value, 0.0, EPSILON_MAX)


def delta(value: ArrayLike, name: str = "delta") -> FloatArray:
    """Check a δ."""
    return reals(name, value, DELTA_MIN, 1.0)


def rounds(value: ArrayLike) -> FloatArray:
    """Check a number of rounds T."""
    return integers("T", value, 1, ROUNDS_MAX)


def population(k: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check the numbers of sampled and of all clients, 1 ≤ k ≤ n ≤ 10¹², and broadcast them."""
    sampled = integers("k", k, 1, COUNT_MAX)
    clients = integers("n", n, 1, COUNT_MAX)
    sampled, clients = np.broadcast_arrays(sampled, clients)
    if np.any(sampled > clients):
        worst = np.argmax(sampled > clients)
        raise ValueError(
            f"k: {sampled.flat[worst]:g} sampled clients are more than n = "
            f"{clients.flat[worst]:g}; k must be in [1, n]"
        )
    return sampled, clients
