"""Refusals that name the parameter, its value and its domain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core.bound import FloatArray

IntArray = NDArray[np.int64]


def real(
    name: str,
    value: ArrayLike,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> FloatArray:
    """Return `value` as an array of floats, all of them inside an interval.

    Raises
    ------
    ValueError
        If an entry is not a number or outside the interval; the message has the first such entry.
    """
    array = np.asarray(value, dtype=float)
    inside = (array > low if open_low else array >= low) & (
        array < high if open_high else array <= high
    )
    if not inside.all():
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        bad = array[~inside].flat[0]
        raise ValueError(f"{name} must be in {left}{low:g}, {high:g}{right}, got {bad:g}")
    return array


def positive_levels(name: str, value: ArrayLike) -> FloatArray:
    """Return privacy levels: an array of floats in [0, ∞], the last axis being the coordinate."""
    array = real(name, value, 0.0, math.inf)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} must have at least one coordinate, got shape {array.shape}")
    return array


def whole(name: str, value: ArrayLike, low: int, high: float = math.inf) -> IntArray:
    """Return `value` as an array of integers, all of them at least `low` and at most `high`."""
    array = np.asarray(value)
    real(name, array, low, high)
    if not np.array_equal(array, np.floor(array)):
        bad = array[array != np.floor(array)].flat[0]
        raise ValueError(f"{name} must be a whole number in [{low}, {high:g}], got {bad:g}")
    return array.astype(np.int64)


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def records(name: str, value: ArrayLike, d: int) -> FloatArray:
    """Return users' data as an (n, d) array of finite floats in [−1, 1]."""
    array = real(name, value, -1.0, 1.0)
    if array.ndim != 2 or array.shape[1] != d or array.shape[0] == 0:
        raise ValueError(f"{name} must have shape (n, {d}) with n ≥ 1, got {array.shape}")
    return array
