"""Choice of α: from "changes this large must be protected this well" to metric DP's α.

α has the inverse unit of a distance. An (α, δ)-d_EM-DP release protects a change of a user's data
by earth mover's distance w with ε = αw; moving a fraction τ of the data by q on average is a
change of w = qτ at most.

**Two data sets**: their earth mover's distance, and the bound of α on distinguishing them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.spaces import IntArray

MAX_ALPHA = checks.MAX_EPSILON
"""Largest α accepted, as the largest ε."""
MAX_ASSIGNMENT = 2000
"""Most items of each of two data sets of one size: an assignment takes half a second."""
MAX_PAIRS = 1_000_000
"""Most pairs of distinct points between which mass is moved."""


def alpha_from_requirements(epsilon: ArrayLike, q: ArrayLike, tau: ArrayLike) -> Any:
    """Return the α that meets requirements "τ of the data moved by q on average is protected at ε".

    min over the requirements of ε/(qτ). Requirements with qτ = 0 ask for nothing and are left out
    (errata user-C2).

    Parameters
    ----------
    epsilon, q, tau : array of float, broadcast together
        ε ≥ 0, the largest parameter that is acceptable (the paper prints "minimum"; errata
        user-C2); normalised distance q and fraction τ in [0, 1]. Requirements run along the last
        axis; the leading ones are swept.

    Returns
    -------
    float or array of float
        α per normalised distance, one for each leading index; infinite where no requirement asks
        for anything.

    Raises
    ------
    ValueError
        Outside these domains, or if there is no requirement.

    References
    ----------
    Imola, Roy Chowdhury & Chaudhuri, Section 3, "Setting the privacy parameters".
    """
    e = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)
    distance = checks.reals("q", q, 0.0, 1.0)
    fraction = checks.reals("tau", tau, 0.0, 1.0)
    e, distance, fraction = (np.atleast_1d(a) for a in np.broadcast_arrays(e, distance, fraction))
    if e.shape[-1] == 0:
        raise ValueError("epsilon: there must be at least one requirement")
    change = distance * fraction
    asks = change > 0
    with np.errstate(over="ignore"):
        alpha = np.where(asks, e / np.where(asks, change, 1.0), math.inf)
    return scalar_if_0d(alpha.min(axis=-1))


def alpha_from_distances(
    epsilon: ArrayLike, distance: ArrayLike, tau: ArrayLike, diameter: float
) -> Any:
    """Return `alpha_from_requirements` for distances in the unit of the space.

    Parameters
    ----------
    epsilon, tau
        As in `alpha_from_requirements`.
    distance : array of float
        Average distances moved, in [0, diameter].
    diameter : float
        Largest distance of the space, in the same unit. For the surface of the Earth this is half
        the circumference, 12,450.7 miles at the equator; the paper's 12,930 is inconsistent with
        its own q (errata user-C1).

    Returns
    -------
    float or array of float
        α per *normalised* distance; divide by `diameter` for α per unit.
    """
    largest = float(checks.reals("diameter", diameter, 0.0, open_low=True))
    change = checks.reals("distance", distance, 0.0, largest)
    return alpha_from_requirements(epsilon, change / largest, tau)


@dataclass(frozen=True)
class Plan:
    """An optimal plan of transport.

    Attributes
    ----------
    distance : float
        Σ mass·cost, the earth mover's distance.
    source, target : ndarray of int
        Places in the first and the second data set between which mass is moved.
    mass : ndarray of float
        How much, of a total of 1; what stays where it is is left out.
    cost : ndarray of float
        How far.
    """

    distance: float
    source: IntArray
    target: IntArray
    mass: FloatArray
    cost: FloatArray


def transport_plan(cost: ArrayLike) -> Plan:
    """Return an optimal plan between two data sets whose items weigh the same in each.

    Items at cost 0 are one point, and what both data sets have of it cancels, which is free for a
    metric. Then an assignment for equal sizes (Lemma 2.1), else a linear program on whole masses.

    Parameters
    ----------
    cost : array_like of float, shape (N, M)
        Distances of the first data set's items to the second's, at least 0.

    Raises
    ------
    ValueError
        If a data set is empty, a distance is below 0 or not finite, or there are more than 2000
        items of equally large data sets, or 1e6 pairs otherwise.
    """
    c = np.asarray(cost, dtype=float)
    if c.ndim != 2 or not c.size or not np.isfinite(c).all() or (c < 0).any():
        raise ValueError(f"cost: shape {c.shape} must be (N, M), N and M at least 1, all ≥ 0")
    rows, columns = c.shape
    divisor = math.gcd(rows, columns)
    # In whole units of 1/lcm: an item of the first has `left`, one of the second `right`.
    left = np.full(rows, columns // divisor, dtype=np.int64)
    right = np.full(columns, rows // divisor, dtype=np.int64)
    _cancel(c, left, right)
    i, j = np.flatnonzero(left), np.flatnonzero(right)
    if not i.size:
        nothing = np.zeros(0, dtype=np.int64)
        return Plan(0.0, nothing, nothing, np.zeros(0), np.zeros(0))
    rest = c[np.ix_(i, j)]
    total = rows * columns // divisor
    if rows == columns:
        if i.size > MAX_ASSIGNMENT:
            raise ValueError(f"cost: {i.size} items that moved are more than {MAX_ASSIGNMENT}")
        from scipy.optimize import linear_sum_assignment

        source, target = linear_sum_assignment(rest)
        mass = np.full(source.size, 1.0 / rows)
    else:
        source, target, units = _linear_program(rest, left[i], right[j])
        mass = units / total
    far = rest[source, target]
    return Plan(math.fsum(mass * far), i[source], j[target], mass, far)


def _cancel(c: FloatArray, left: IntArray, right: IntArray) -> None:
    """Remove mass that lies at the same point of both, in place."""
    for x in np.flatnonzero((c == 0.0).any(axis=1)).tolist():
        same = np.flatnonzero(c[x] == 0.0)
        # As much as there is of each of them in turn, until nothing is left to match.
        upto = np.minimum(np.cumsum(right[same]), left[x])
        right[same] -= np.diff(upto, prepend=0)
        left[x] -= upto[-1]


def _linear_program(
    cost: FloatArray, p: IntArray, q: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the places and whole amounts of an optimal plan."""
    if cost.size > MAX_PAIRS:
        raise ValueError(
            f"cost: {cost.size} pairs of items that moved are more than {MAX_PAIRS}; choose fewer "
            "users"
        )
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, m = cost.shape
    variable = np.arange(cost.size)
    one = np.ones(cost.size)
    constraints = coo_array(
        (
            np.concatenate([one, one]),
            (
                np.concatenate([variable // m, n + variable % m]),
                np.concatenate([variable, variable]),
            ),
        ),
        shape=(n + m, cost.size),
    )
    solution = linprog(
        cost.ravel(),
        A_eq=constraints.tocsr(),
        b_eq=np.concatenate([p, q]),
        bounds=(0, None),
        method="highs",
    )
    # A vertex of a transport polytope with whole masses is whole.
    units = np.rint(solution.x)
    pairs = np.flatnonzero(units)
    return pairs // m, pairs % m, units[pairs]


def power_bound(eps: ArrayLike, delta: ArrayLike, false_alarm: ArrayLike) -> Any:
    """Return the largest true positive rate of a test with false positive rate f.

    min(1, e^ε f + δ, 1 − e^{−ε}(1 − f − δ)): no test between two data sets does better if the
    probabilities of every event satisfy p ≤ e^ε p′ + δ both ways.

    Parameters
    ----------
    eps : array of float
        At least 0; infinity promises nothing.
    delta, false_alarm : array of float
        In [0, 1].
    """
    e = checks.reals("eps", eps, 0.0)
    d = checks.reals("delta", delta, 0.0, 1.0)
    f = checks.reals("false_alarm", false_alarm, 0.0, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        first = np.where(f > 0, np.exp(e) * f, 0.0) + d
    second = 1.0 - np.exp(-e) * np.maximum(1.0 - f - d, 0.0)
    return scalar_if_0d(np.minimum(first, second))


def several_users(alpha: float, w: Sequence[float], deltas: Sequence[float]) -> tuple[float, float]:
    """Return ε and the least δ of changing several users' data, by distances w.

    ε = αΣw. Users are changed one after the other: δ = Σ_k e^{αE_{k−1}}δ_k, E_k the sum of the
    first k distances. Every order is valid; cheapest is by rising (e^{αw} − 1)/δ, by exchanging
    neighbours.

    Parameters
    ----------
    alpha : float
        In [0, 800].
    w : sequence of float
        How far each user's data moved, at least 0.
    deltas : sequence of float
        The δ that each user is promised, in [0, 1].
    """
    a = float(checks.reals("alpha", alpha, 0.0, MAX_ALPHA))
    far = np.asarray(w, dtype=float)
    each = checks.reals("deltas", deltas, 0.0, 1.0)
    if far.ndim != 1 or far.shape != each.shape or not np.isfinite(far).all() or (far < 0).any():
        raise ValueError("w: one distance of at least 0 a user is needed, and as many deltas")
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rank = np.where(each > 0, np.expm1(a * far) / each, np.inf)
        order = np.argsort(rank, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(a * far[order])])[: len(order)]
        terms = np.where(each[order] > 0, np.exp(before) * each[order], 0.0)
    return a * math.fsum(far), math.fsum(terms)
