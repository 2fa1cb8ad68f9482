"""Coupling of coordinates estimated from public data: a confidence bound, estimates, and caveats.

The certified levels need a q that bounds the coupling of the beliefs one wants to hold against.
Public records drawn independently from the population that the reader believes in give one, at a
stated confidence: `coupling_upper`, for coordinates of declared finite values. Whatever else they
give is an estimate, with caveats that have to be shown beside the number:

- never use the protected records: the reports' sphere publishes c, and c publishes q;
- on bins of x_i, or on pairs of features, the coupling of the binned data is a *lower* bound (a
  Gaussian pair with correlation 0.3 has 0.19 on two bins; an exclusive or has 0 on every pair);
- on many features the plug-in estimate tends to 1, every cell being its own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray


@dataclass(frozen=True)
class CouplingEstimate:
    """Estimate of the coupling of the (binned) coordinates from public data.

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
    checks.open_unit("confidence", confidence)
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


def coupling_upper(codes: ArrayLike, sizes: ArrayLike, beta: float) -> FloatArray:
    """Return upper confidence bounds on the coupling of every coordinate.

    q_i ≤ max over values s, s' of TV(p̂_s, p̂_s') + ρ_s + ρ_s', at most 1, for all coordinates at
    once with probability 1 − β. p̂_s is the empirical law of the other coordinates over the n_s
    records with x_i = s. With C the number of values that the others can have together and ℓ =
    ln(Σ|X_i|/β), ρ_s is the smaller of √((ln(2^C − 2) + ℓ)/2n_s), Hoeffding's inequality over all
    events, and ½√((C−1)/n_s) + √(ℓ/2n_s), McDiarmid's around the mean. A declared value without
    records gives 1. A column of one value says nothing at all: NaN.

    Parameters
    ----------
    codes : array_like of int, shape (n, d)
        Public records, drawn independently; entries of column i in [0, sizes_i). Never the
        protected ones.
    sizes : array_like of int, shape (d,)
        How many values each coordinate can have, declared without looking at the records.
    beta : float
        Probability of failure, in (0, 1).

    References
    ----------
    Specification "Coordinates", Upper-confidence q.
    """
    table = checks.whole("codes", codes, 0)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(f"codes must have shape (n ≥ 1, d ≥ 2), got {table.shape}")
    return coupling_upper_of_counts(table, np.ones(table.shape[0]), sizes, beta)


def coupling_upper_of_counts(
    cells: ArrayLike, counts: ArrayLike, sizes: ArrayLike, beta: float
) -> FloatArray:
    """Return `coupling_upper` of records given as cells, of shape (k, d), and how many are in each.

    Parameters
    ----------
    cells : array_like of int, shape (k, d)
    counts : array_like of int, shape (k,)
    sizes, beta
        As in `coupling_upper`.
    """
    table = checks.whole("cells", cells, 0)
    many = checks.whole("counts", counts, 0).astype(float)
    declared = checks.whole("sizes", sizes, 1)
    risk = float(checks.open_unit("beta", beta))
    if table.ndim != 2 or declared.shape != table.shape[1:] or many.shape != table.shape[:1]:
        raise ValueError(
            f"cells, counts and sizes must have shapes (k, d), (k,) and (d,), got {table.shape}, "
            f"{many.shape} and {declared.shape}"
        )
    if (table >= declared).any():
        raise ValueError("every entry of a column must be below the number of its values")
    occupied = many > 0
    table, many = table[occupied], many[occupied]
    log_risk = float(np.log(declared.sum()) - np.log(risk))
    out = np.empty(table.shape[1])
    for i in range(table.shape[1]):
        observed = np.unique(table[:, i])
        if observed.size < 2:
            out[i] = np.nan
        elif observed.size < declared[i]:
            out[i] = 1.0
        else:
            with np.errstate(over="ignore"):
                others = float(np.prod(np.delete(declared, i).astype(float)))
            out[i] = _upper(table, many, i, others, log_risk)
    return out


def _upper(
    table: checks.IntArray, many: FloatArray, i: int, cells: float, log_risk: float
) -> float:
    """Return the bound for a column all of whose values were seen; others have so many cells."""
    n = np.bincount(table[:, i], weights=many)
    # ln(2^C − 2), the events that are neither empty nor everything.
    log_events = cells * np.log(2.0) + np.log1p(-(2.0 ** (1.0 - cells))) if cells > 1 else -np.inf
    hoeffding = np.sqrt(np.maximum(log_events + log_risk, 0.0) / (2 * n))
    mcdiarmid = 0.5 * np.sqrt((cells - 1) / n) + np.sqrt(log_risk / (2 * n))
    margin = np.minimum(hoeffding, mcdiarmid) if cells > 1 else np.zeros(n.size)
    first, second = np.sort(margin)[-1], np.sort(margin)[-2]
    if first + second >= 1.0:
        # So many cells that no law needs to be compared.
        return 1.0
    place = np.unique(np.delete(table, i, axis=1), axis=0, return_inverse=True)[1].ravel()
    flat = np.bincount(
        table[:, i] * (place.max() + 1) + place,
        weights=many,
        minlength=n.size * (int(place.max()) + 1),
    )
    laws = flat.reshape(n.size, -1) / n[:, None]
    worst = 0.0
    for a in range(n.size - 1):
        distance = 0.5 * np.abs(laws[a + 1 :] - laws[a]).sum(axis=1)
        worst = max(worst, float((distance + margin[a + 1 :]).max() + margin[a]))
    # Rounded up by more than sums of shares may have lost.
    return min(worst + 1e-12, 1.0)


def _counts(
    value: checks.IntArray, cell: checks.IntArray, values: int, cells: int
) -> checks.IntArray:
    flat = np.bincount(value * cells + cell, minlength=values * cells)
    return flat.reshape(values, cells).astype(np.int64)


def _farthest(counts: checks.IntArray) -> tuple[float, int, int]:
    """Return the largest total variation between two rows' empirical laws, and the rows."""
    totals = counts.sum(axis=1)
    occupied = np.flatnonzero(totals)
    laws = counts[occupied] / totals[occupied, None]
    best = (0.0, int(occupied[0]), int(occupied[0]))
    for a in range(occupied.size):
        distances = 0.5 * np.abs(laws[a:] - laws[a]).sum(axis=1)
        b = int(np.argmax(distances))
        if distances[b] > best[0]:
            best = (float(distances[b]), int(occupied[a]), int(occupied[a + b]))
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
