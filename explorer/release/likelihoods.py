"""How likely a stored output is, for people who are known: for audits on made-up ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.quadtree import all_codes
from explorer.privacy.releases.means import PLACES
from explorer.privacy.releases.selection import permute_and_flip_law
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.contributions import (
    bin_counts,
    heatmap_counts,
    mean_sums,
    one_cell_counts,
    region_counts,
    user_count,
)
from explorer.release.user_records import UserRecords

LogLikelihood = Callable[[Mapping[str, Any]], float]
"""From ``Output.stored`` to ln P, up to what does not depend on people."""


def log_likelihood(name: str, people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    """Return the log-likelihood of what a mechanism may store about some people.

    Parameters
    ----------
    name : str
        Id of the mechanism.
    people : People
    p : object
        Its checked parameters.
    epsilon : Fraction
    """
    return _LIKELIHOODS[name](people, p, epsilon)


def _laplace(values: ArrayLike, counts: ArrayLike, epsilon: Fraction, sensitivity: int) -> float:
    """Return −Σ|Y − s|·ε/B."""
    distance = np.abs(np.asarray(values, dtype=float) - np.asarray(counts, dtype=float))
    return -float(distance.sum()) * float(epsilon / sensitivity)


def _adaptive(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    budgets = MECHANISMS["heatmap.adaptive/1"].budgets(p, epsilon)  # type: ignore[attr-defined]
    counts = heatmap_counts(people, p.area, p.level, p.units)

    def of(stored: Mapping[str, Any]) -> float:
        found = 0.0
        table = np.array([row[:3] for row in stored["readings"]], dtype=np.int64)
        values = np.array([float(row[3]) for row in stored["readings"]])
        for level, draw in np.unique(table[:, [0, 2]], axis=0).tolist():
            at = (table[:, 0] == level) & (table[:, 2] == draw)
            exact = counts.at(level, table[at, 1])
            found += _laplace(values[at], exact, budgets.of(level, draw), p.units)
        return found

    return of


def _paper(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    parts = MECHANISMS["heatmap.paper/1"].parts(p, epsilon)
    counts = heatmap_counts(people, p.area, p.level, p.units)

    def of(stored: Mapping[str, Any]) -> float:
        table = np.array([row[:2] for row in stored["readings"]], dtype=np.int64)
        values = np.array([float(row[2]) for row in stored["readings"]])
        found = 0.0
        for level, part in enumerate(parts, p.start):
            at = table[:, 0] == level
            found += _laplace(values[at], counts.at(level, table[at, 1]), part.epsilon, p.units)
        return found

    return of


def _pyramid(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    parts = MECHANISMS["heatmap.pyramid/1"].parts(p, epsilon)
    counts = heatmap_counts(people, p.area, p.level, p.units)
    exact = [counts.at(k, np.arange(1 << 2 * k)) for k, _ in enumerate(parts, p.start)]

    def of(stored: Mapping[str, Any]) -> float:
        levels = zip(stored["levels"], exact, parts, strict=True)
        return sum(_laplace(one, s, part.epsilon, p.units) for one, s, part in levels)

    return of


def _cells(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = one_cell_counts(people, p.area, p.level)[all_codes(p.level).ravel()]
    return lambda stored: _laplace(stored["cells"], exact, epsilon, 1)


def _users(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = user_count(people, p.area)
    return lambda stored: _laplace([stored["noisy_users"]], exact, epsilon, 1)


def _regions(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    scores = region_counts(people, p.area, p.rows, p.columns).tolist()
    parts = MECHANISMS["select.region/1"].parts(p, epsilon)

    @cache
    def law(left: tuple[int, ...], share: Fraction) -> FloatArray:
        return permute_and_flip_law([scores[k] for k in left], share)

    def of(stored: Mapping[str, Any]) -> float:
        left, found = tuple(range(len(scores))), 0.0
        for region, part in zip(stored["regions"], parts, strict=True):
            found += float(np.log(law(left, part.epsilon)[left.index(region)]))
            left = tuple(k for k in left if k != region)
        return found

    return of


def _bins(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = bin_counts(people, p.area, p.column, p.bin_of(), p.count, p.units)
    return lambda stored: _laplace(stored["bins"], exact, epsilon, p.units)


def _means(people: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    *sums, count = MECHANISMS["mean/1"].parts(p, epsilon)
    scale = 10**PLACES
    bounds = [(int(low * scale), int(high * scale)) for low, high in p.bounds()]
    totals, users = mean_sums(people, p.area, p.columns, bounds, p.units)
    return lambda stored: (
        _laplace(stored["centred_sums"], totals, sums[0].epsilon, p.units)
        + _laplace([stored["noisy_users"]], users, count.epsilon, 1)
    )


_LIKELIHOODS: dict[str, Callable[[UserRecords, Any, Fraction], LogLikelihood]] = {
    "heatmap.adaptive/1": _adaptive,
    "heatmap.paper/1": _paper,
    "heatmap.pyramid/1": _pyramid,
    "counts.cells/1": _cells,
    "count.users/1": _users,
    "select.region/1": _regions,
    "histogram/1": _bins,
    "mean/1": _means,
}
