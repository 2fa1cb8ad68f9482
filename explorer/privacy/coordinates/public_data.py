"""How strongly coordinates are coupled in public data: an estimate, and what it cannot be.

The certified levels need a q that bounds the coupling of the beliefs one wants to hold against.
Public data can suggest one, with caveats that have to be shown beside the number:

- never use the protected records: the reports' sphere publishes c, and c publishes q;
- on bins of x_i, or on pairs of features, the coupling of the binned data is a *lower* bound (a
  Gaussian pair with correlation 0.3 has 0.19 on two bins; an exclusive or has 0 on every pair);
- on many features the plug-in estimate tends to 1, every cell being its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.bounds import BoolArray, FloatArray
from explorer.privacy.coordinates import checks


@dataclass(frozen=True)
class CouplingEstimate:
    """What public data say about the coupling of the (binned) coordinates.

    Attributes
    ----------
    plug_in : ndarray of shape (d,)
        Coupling of the empirical law: an estimate, biased upwards by sampling.
    lower : ndarray of shape (d,)
        At most the true coupling for all coordinates at once with probability `confidence`: a
        test of q, never a certificate.
    confidence : float
    saturated : ndarray of bool, shape (d,)
        Cells are so many for the data that the plug-in value says little.
    """

    plug_in: FloatArray
    lower: FloatArray
    confidence: float
    saturated: BoolArray


def coupling_of_public_data(codes: ArrayLike, confidence: float = 0.95) -> CouplingEstimate:
    """Return an estimate of the coupling from public records of categories or bins.

    The lower bound chooses, on the first half of the records, for each coordinate the two values
    and the event of the other coordinates that differ most, and on the second half bounds the
    difference of that event's two probabilities by Clopper and Pearson.

    Parameters
    ----------
    codes : array_like of int, shape (n, d)
        Public records in random order, d ≥ 2, n ≥ 2. Never the protected ones.
    confidence : float
        Of the lower bounds together, in (0, 1).
    """
    table = checks.whole("codes", codes, -(2**62), 2.0**62)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(f"codes must have shape (n ≥ 2, d ≥ 2), got {table.shape}")
    checks.real("confidence", confidence, 0.0, 1.0, open_low=True, open_high=True)
    d = table.shape[1]
    plug_in, lower, saturated = np.zeros(d), np.zeros(d), np.zeros(d, bool)
    for i in range(d):
        value = np.unique(table[:, i], return_inverse=True)[1]
        others = np.delete(table, i, axis=1)
        cell = np.unique(others, axis=0, return_inverse=True)[1].ravel()
        counts = _counts(value, cell, value.max() + 1, cell.max() + 1)
        plug_in[i] = _farthest(counts)[0]
        saturated[i] = counts.shape[1] > 0.1 * table.shape[0]
        lower[i] = _lower_bound(value, cell, counts.shape, (1.0 - confidence) / (2.0 * d))
    return CouplingEstimate(plug_in, lower, confidence, saturated)


def _counts(
    value: checks.IntArray, cell: checks.IntArray, values: int, cells: int
) -> checks.IntArray:
    flat = np.bincount(value * cells + cell, minlength=values * cells)
    return flat.reshape(values, cells).astype(np.int64)


def _farthest(counts: checks.IntArray) -> tuple[float, int, int]:
    """Return the largest total variation between two rows' empirical laws, and the rows."""
    totals = counts.sum(axis=1)
    seen = np.flatnonzero(totals)
    laws = counts[seen] / totals[seen, None]
    best = (0.0, int(seen[0]), int(seen[0]))
    for a in range(seen.size):
        distances = 0.5 * np.abs(laws[a:] - laws[a]).sum(axis=1)
        b = int(np.argmax(distances))
        if distances[b] > best[0]:
            best = (float(distances[b]), int(seen[a]), int(seen[a + b]))
    return best


def _lower_bound(
    value: checks.IntArray, cell: checks.IntArray, shape: tuple[int, ...], risk: float
) -> float:
    from scipy.special import betaincinv

    half = value.size // 2
    first = _counts(value[:half], cell[:half], *shape)
    _, a, b = _farthest(first)
    if a == b:
        return 0.0
    event = first[a] * first[b].sum() > first[b] * first[a].sum()
    hits = event[cell[half:]]
    bounds = []
    for row, upper in ((a, False), (b, True)):
        mine = hits[value[half:] == row]
        n, k = mine.size, int(mine.sum())
        if upper:
            bounds.append(1.0 if k == n else float(betaincinv(k + 1, n - k, 1.0 - risk)))
        else:
            bounds.append(0.0 if k == 0 else float(betaincinv(k, n - k + 1, risk)))
    return max(0.0, bounds[0] - bounds[1])
