"""The paper's EMD norm: transport of a signed map whose total need not be 0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


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
