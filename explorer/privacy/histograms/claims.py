"""The guarantees of this paper as they cross to studies: with their role, validity and source.

Errors, messages and tables are already `Bound`s (`printed_error`, `error_bound`, `table1`, …).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.privacy.histograms.calibration import Query, calibrate, least_users
from explorer.privacy.histograms.count_delta import Adjacency, count_delta
from explorer.privacy.histograms.joint_delta import histogram_delta

PAPER = "Balcer & Cheu 2020"
TOO_FEW = "too few users: the paper's constants need p ≥ ½"
NO_P = "too few users: at every p the exact δ is larger"


def exact_delta(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, query: Query | str = Query.HISTOGRAM
) -> Bound:
    """Return the exact δ at ε for replaced users, to 1e-9 of itself."""
    one = Query(query) is Query.COUNT
    value = count_delta(eps, n, q, Adjacency.REPLACE) if one else histogram_delta(eps, n, q)
    where = Reference(
        PAPER, f"Theorem {'3.1' if one else '3.2'} (i)", "exact, in place of its bound"
    )
    return Bound(value, Role.EXACT, where)


def proved_delta(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, query: Query | str = Query.HISTOGRAM
) -> Bound:
    """Return the δ that the paper proves for noise nq: 2e^{−nqε²/50}, twice at ε/2 for two bins.

    Proved for ε ≤ 1 and q ≤ ½.
    """
    e, users, rate = np.broadcast_arrays(
        np.asarray(eps, dtype=float), np.asarray(n, dtype=float), np.asarray(q, dtype=float)
    )
    two = Query(query) is Query.HISTOGRAM
    level, times = (e / 2, 4.0) if two else (e, 2.0)
    value = np.minimum(times * np.exp(-users * rate * level**2 / 50), 1.0)
    holds = (level > 0) & (level <= 1) & (rate <= 0.5) & (value < 1)
    where = Reference(PAPER, f"Theorem {'3.2' if two else '3.1'} (i)", "(2ε, 2δ) (errata A1)" * two)
    return Bound(
        value, Role.UPPER, where, holds,
        "" if holds.all() else "proved for 0 < ε ≤ 1 a bin and p ≥ ½, and where it says anything",
    )  # fmt: skip


def paper_noise(
    eps: ArrayLike, delta: ArrayLike, n: ArrayLike, query: Query | str = Query.HISTOGRAM
) -> Bound:
    """Return the paper's noise nq for a target of the release: enough, and far more than needed.

    ε in (0, 1] for a count, (0, 2] for a histogram.
    """
    two = Query(query) is Query.HISTOGRAM
    e = checks.reals("eps", eps, 0.0, 2.0 if two else 1.0, open_low=True)
    e, d, users = np.broadcast_arrays(
        e / 2 if two else e, checks.delta(delta), checks.integers("n", n, 1, checks.COUNT_MAX)
    )
    with np.errstate(over="ignore"):
        value = 50 * (math.log(4 if two else 2) - np.log(d)) / e / e
    least = 2 * value
    holds = users >= least
    where = Reference(PAPER, "Theorem 3.2" if two else "Theorem 3.1", "at (ε/2, δ/2)" * two)
    return Bound(value, Role.UPPER, where, holds, "" if holds.all() else TOO_FEW)


def least_noise(
    eps: ArrayLike, delta: ArrayLike, n: ArrayLike, query: Query | str = Query.HISTOGRAM
) -> Bound:
    """Return the least noise nq whose exact δ meets the target, under `CONDITION`."""
    found = calibrate(eps, delta, n, query)
    feasible = np.asarray(found.feasible, dtype=bool)
    where = Reference(PAPER, "the protocol of Theorems 3.1 and 3.2", "calibrated by the exact δ")
    value = np.asarray(found.noise, dtype=float)
    return Bound(value, Role.EXACT, where, feasible, "" if feasible.all() else NO_P)


def fewest_users(eps: ArrayLike, delta: ArrayLike, query: Query | str = Query.HISTOGRAM) -> Bound:
    """Return the least number of users with whom the target can be met at all."""
    value = np.asarray(least_users(eps, delta, query), dtype=float)
    known = np.isfinite(value)
    where = Reference(PAPER, "the protocol of Theorems 3.1 and 3.2", "calibrated by the exact δ")
    return Bound(value, Role.EXACT, where, known, "" if known.all() else "more than 10¹² users")
