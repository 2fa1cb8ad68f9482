"""Functions of floats as functions of arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray


def vectorised(function: Callable[..., Any], row: int | None = None) -> Callable[..., Any]:
    """Return a function of floats as a function of arrays, which are broadcast together.

    Unlike ``numpy.vectorize`` it passes floats only, and needs no first result to determine
    the shape.

    Parameters
    ----------
    function : callable
        Takes floats, returns a float, or `row` of them.
    row : int, optional
        Length of what the function returns, if it is more than a number.

    Returns
    -------
    callable
        Its results have the shape of the arguments, with rows along a last axis; a float where
        that shape is ().
    """

    def everywhere(*arguments: ArrayLike) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arguments))
        out = np.empty(arrays[0].shape if row is None else (*arrays[0].shape, row))
        for place in np.ndindex(arrays[0].shape):
            out[place] = function(*(float(a[place]) for a in arrays))
        return scalar_if_0d(out)

    return everywhere


def columns(rows: FloatArray) -> tuple[Any, ...]:
    """Return the entries of rows, (…, m), as m arrays or floats."""
    return tuple(scalar_if_0d(rows[..., i]) for i in range(rows.shape[-1]))


def scalar_if_0d(array: FloatArray) -> Any:
    """Return a float for a 0-dimensional result, the array itself otherwise."""
    return float(array) if np.ndim(array) == 0 else array
