"""Dense aggregation: noise on the cells of one level, then the nearest non-negative map.

"Nearest" is in the paper's EMD norm: transport of a signed map whose total need not be 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.budget_schedule import depth_cap
from explorer.privacy.heatmaps.counts import CellCounts
from explorer.privacy.heatmaps.least_squares_fit import FittedMap
from explorer.privacy.heatmaps.measurement import Reader
from explorer.privacy.heatmaps.quadtree import all_codes


def emd_norm(z: NDArray[Any], alpha: float = 2.0) -> float:
    """Return ‖z‖_EMD = min over signed maps y of total 0 of EMD(y⁺, y⁻) + α‖z − y‖₁.

    Mass moves in the unit square under ℓ1, or is left unmatched at α a unit. Solved as a linear
    program on the grid's neighbour graph, along whose edges ℓ1 distances are shortest paths.

    Parameters
    ----------
    z : array, shape (Δ, Δ)
        Signed masses; meant for Δ up to 64.
    alpha : float
        Finite and > 0; the paper's is 2, with which everything that can be matched is.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If z is not a square array of finite numbers or α is not above 0.

    References
    ----------
    Section 2 of Ghazi et al. 2022.
    """
    return _least_cost(_checked(z), alpha, absorbing=False)[0]


def nearest_nonnegative(z: NDArray[Any], alpha: float = 2.0) -> tuple[float, FloatArray]:
    """Return min over ŝ ≥ 0 of ‖z − ŝ‖_EMD and a minimiser, the last step of dense aggregation.

    Parameters, limits and errors are those of `emd_norm`. The minimiser is not unique; its total
    is, where α ≥ 2.

    References
    ----------
    Appendix D of Ghazi et al. 2022, with z the noisy counts of the cells of one level.
    """
    return _least_cost(_checked(z), alpha, absorbing=True)


def _checked(z: NDArray[Any]) -> FloatArray:
    z = np.asarray(z, dtype=float)
    if z.ndim != 2 or z.shape[0] != z.shape[1] or not z.size or not np.isfinite(z).all():
        raise ValueError(f"z: shape {z.shape} is not square, or a mass is not finite")
    return z


def _least_cost(z: FloatArray, alpha: float, absorbing: bool) -> tuple[float, FloatArray]:
    """Return the cost of the cheapest transport and what is absorbed, for free, in each cell."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack

    checks.positive("alpha", alpha)
    side = z.shape[0]
    cells = side * side
    cell = np.arange(cells).reshape(side, side)
    tail = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    head = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    edges = len(tail)
    columns = np.arange(edges)
    along = coo_array(
        (
            np.concatenate([np.ones(edges), -np.ones(edges)]),
            (np.concatenate([tail, head]), np.concatenate([columns, columns])),
        ),
        shape=(cells, edges),
    )
    each = eye_array(cells)
    # What leaves a cell along its edges, stays unmatched or is absorbed there is its mass.
    balance = hstack([along, -along, each, -each, *([each] if absorbing else [])]).tocsr()
    cost = np.zeros(balance.shape[1])
    cost[: 2 * edges] = 1 / side
    cost[2 * edges : 2 * edges + 2 * cells] = alpha
    # The solver's tolerances are absolute, a map's masses may be of any size.
    unit = float(np.abs(z).max()) or 1.0
    result = linprog(cost, A_eq=balance, b_eq=z.ravel() / unit, method="highs")
    if result.status != 0:
        raise RuntimeError(f"the transport program did not end at an optimum: {result.message}")
    absorbed = result.x[2 * edges + 2 * cells :] * unit if absorbing else np.zeros(cells)
    cost_found = max(0.0, float(result.fun)) * unit
    return cost_found, np.asarray(absorbed, dtype=float).reshape(side, side)


DEEPEST = 7
"""Deepest level whose nearest map is looked for: a second for 4^7 cells, eight for 4^8."""


@dataclass(frozen=True, slots=True)
class DenseCounts:
    """Noisy counts of all cells of one level.

    Attributes
    ----------
    level : int
        ℓ*.
    values : ndarray of float64, shape (2^ℓ*, 2^ℓ*)
        [row, column], row 0 south.
    """

    level: int
    values: FloatArray


def dense_measurement_level(epsilon: float, assumed_users: float, level: int) -> int:
    """Return ℓ* = ½ log₂(ε n₀) rounded, between 0 and the smaller of ℓ and `DEEPEST`.

    n₀ is fixed before the data are seen, never the data's own count (see `depth_cap`); the paper
    uses n, which is not private unless n is public.
    """
    return depth_cap(epsilon, assumed_users, 0, min(level, DEEPEST))


def measure_dense(
    counts: CellCounts, epsilon: float, assumed_users: float, unit_noise: Reader
) -> DenseCounts:
    """Add Laplace noise of scale 1/ε to every cell of level ℓ*.

    For real-valued noise the result is ε-DP for adding or removing one user, since the counts have
    ℓ1-sensitivity 1 and ℓ* does not depend on the data; replacing one user costs 2ε.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    assumed_users : float
        n₀, finite and > 0.
    unit_noise : callable (level, codes) → noise
        Independent Laplace draws of scale 1.

    References
    ----------
    Appendix D of the paper; ℓ* rounded, G_t and P_t are the cells of level ℓ* (errata heat-16).
    """
    level = dense_measurement_level(epsilon, assumed_users, counts.level)
    codes = all_codes(level)
    return DenseCounts(level, counts.dense(level)[codes] + unit_noise(level, codes) / epsilon)


def nearest_map(values: FloatArray) -> FloatArray:
    """Return ŝ ≥ 0 with the least ‖ŝ − s̃‖_EMD; module-level, to run in another process."""
    return nearest_nonnegative(values)[1]


def dense_map(noisy: DenseCounts, nearest: FloatArray | None = None) -> FittedMap:
    """Return the map nearest to noisy counts in the EMD norm: post-processing.

    What a cell is below 0 is taken from cells near by that are above 0, along the cheapest
    transport; where the total is not above 0 nothing is left.

    Parameters
    ----------
    noisy : DenseCounts
    nearest : ndarray, optional
        What `nearest_map` returned for its values, if that ran elsewhere.
    """
    found = nearest_map(noisy.values) if nearest is None else nearest
    masses = np.empty(4**noisy.level)
    masses[all_codes(noisy.level)] = found
    return FittedMap(noisy.level, masses)
