"""How far a query's answer can move: per distance, and at all, in any norm."""

import math
from dataclasses import dataclass

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Grid, Sphere, Square
from explorer.studies.base.study import Context
from explorer.studies.linear_queries.parameters import CELLS, COORDINATE, LANDMARKS, POSITION
from explorer.studies.linear_queries.queries import Query
from explorer.studies.metric_space.choice import ChosenSpace

ENTRIES_MAX = 10_000_000
"""Most numbers gone through to find the steepest pair, where a bound is known without."""
_HEAVY = 1_000_000
_TIES = 1e-9


@dataclass(frozen=True)
class Sensitivity:
    """What the noise of one norm must hide, for the first 1, 2, … numbers of an answer.

    Attributes
    ----------
    lip : ndarray of float, shape (dim,)
        Δ_EM: the Lipschitz constant, or an upper bound on it; infinite where f differs on items
        at distance 0.
    attained : bool
        Whether it is exactly that of the whole answer.
    width : ndarray of float, shape (dim,)
        At most how much a user's answer can differ at all: the sensitivity of user-level DP.
    found : float
        The steepest slope found for the whole answer; NaN where none was looked for.
    first, second : str
        The pair of items that has it.
    """

    lip: FloatArray
    attained: bool
    width: FloatArray
    found: float
    first: str
    second: str


def sensitivity(
    query: Query, space: ChosenSpace, p: float, context: Context, *, look: bool = True
) -> Sensitivity:
    """Return the sensitivity of a query that is not `GIVEN`, in the ℓp norm; kept once found.

    Parameters
    ----------
    query : Query
        Not missing.
    space : ChosenSpace
    p : float
        In [1, ∞].
    context : Context
    look : bool
        Whether to look for a steep pair even where that can't change what is used, and for the
        exact range of answers.
    """
    made: Sensitivity = context.memo(
        ("linear-sensitivity", query.key, p, look), lambda: _found(query, space, p, context, look)
    )
    return made


def _found(query: Query, space: ChosenSpace, p: float, context: Context, look: bool) -> Sensitivity:
    bound = _bound(query, space, p)
    width = _width(query, space, p)
    needless = not look and not query.complete
    if bound is not None and (needless or query.entries > ENTRIES_MAX):
        return Sensitivity(bound, False, np.minimum(width, bound), math.nan, "", "")
    slopes = _slopes(query, p, context, query.distance)
    top = float(slopes.lip[-1])
    pair = (query.names[int(slopes.first[-1])], query.names[int(slopes.second[-1])])
    if query.complete or bound is None:
        lip, attained = slopes.lip, True
    else:
        lip = bound
        attained = query.kind not in (LANDMARKS, CELLS) or top >= float(lip[-1]) * (1 - _TIES)
    # Curves of user-level DP are in ℓ2; on an axis of norms the others need no exact range.
    if query.all_pairs and query.distance is not None and (look or p == 2.0):
        width = _slopes(query, p, context, np.ones_like(query.distance)).lip
    # No two items are farther apart than 1.
    return Sensitivity(lip, attained, np.minimum(width, lip), top, *pair)


def _slopes(query: Query, p: float, context: Context, distance: FloatArray | None) -> um.Slopes:
    arguments = (query.values, query.first, query.second, distance, p)
    if query.entries > _HEAVY:
        slopes: um.Slopes = context.run_in_worker(um.prefix_lipschitz, *arguments)
        return slopes
    context.check()
    return um.prefix_lipschitz(*arguments)  # type: ignore[arg-type]  # made with values and pairs


def _norm_of_ones(count: FloatArray, p: float) -> FloatArray:
    return np.asarray(count ** (0.0 if math.isinf(p) else 1 / p), dtype=float)


def _bound(query: Query, space: ChosenSpace, p: float) -> FloatArray | None:
    """Return a proved upper bound on Δ_EM; None where only going through all pairs helps.

    A distance is 1-Lipschitz and a tent 1/h; along a shortest path only cells in reach change.
    """
    metric = space.metric
    finite = space.size is not None and not isinstance(metric, Grid)
    ones = np.arange(1.0, query.dim + 1)
    if query.kind == LANDMARKS:
        return _norm_of_ones(ones, p)
    if query.kind == CELLS and query.overlaps is not None:
        # Without paths between, an item may leave as many cells as it enters.
        seen = np.minimum(ones, query.overlaps * (2.0 if finite else 1.0))
        return _norm_of_ones(seen, p) / query.cell
    if query.kind == COORDINATE and not finite:
        return np.ones(1)
    if query.kind == POSITION and not finite:
        # Positions: along any direction of ℓ2 length 1 (Euclidean spaces), or of ℓ1 length 1.
        euclidean = isinstance(metric, Sphere) or (isinstance(metric, Square) and metric.norm == 2)
        spread = max((0.0 if math.isinf(p) else 1 / p) - 0.5, 0.0) if euclidean else 0.0
        return np.asarray(ones**spread)
    return None


def _width(query: Query, space: ChosenSpace, p: float) -> FloatArray:
    """Return an upper bound on how much two items' answers differ, in the ℓp norm."""
    ones = np.arange(1.0, query.dim + 1)
    assert query.values is not None
    if query.kind == CELLS and query.overlaps is not None:
        return _norm_of_ones(np.minimum(ones, 2.0 * query.overlaps), p)
    metric = space.metric
    if query.kind == LANDMARKS:
        return _norm_of_ones(ones, p)
    if isinstance(metric, Sphere) and query.kind != COORDINATE:
        # Antipodes are 2/π apart through the globe.
        spread = max((0.0 if math.isinf(p) else 1 / p) - 0.5, 0.0)
        return np.asarray(2 / math.pi * ones**spread)
    # Every coordinate alone; the corners of a square or a grid attain it.
    reach = np.ptp(query.values, axis=0)
    if math.isinf(p):
        return np.maximum.accumulate(reach)
    top = float(reach.max()) or 1.0
    return np.asarray(np.cumsum((reach / top) ** p) ** (1 / p) * top)
