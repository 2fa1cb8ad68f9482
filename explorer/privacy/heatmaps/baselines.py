"""Mechanisms that add noise to all cells of one level: the leaves, or those of dense aggregation.

**Noise on every leaf: the paper's baselines, and two mechanisms that it leaves out.** Laplace noise
and only the largest leaves of it are the paper's baselines. Gaussian noise it leaves aside, as
adding more noise for moderate δ, which is false for small ε (errata heat-18). Discrete Laplace
noise on whole counts adds, at large ε, almost none (errata heat-35).

**Dense aggregation: noise on the cells of one level, then the nearest non-negative map.** "Nearest"
is in the paper's EMD norm: transport of a signed map whose total need not be 0.
"""

import math
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
from explorer.privacy.noise.demonstration import discrete_laplace_quantiles, gaussian_sigma

DEEPEST = 7
"""Deepest level whose nearest map is computed: a second for 4^7 cells, eight for 4^8."""


def unit_noise_grid(level: int, unit_noise: Reader) -> FloatArray:
    """Return the noise of scale 1 of all leaves, shape (2^ℓ, 2^ℓ) [row, column]."""
    return unit_noise(level, all_codes(level))


def laplace_grid(counts: CellCounts, epsilon: float, noise: FloatArray) -> FloatArray:
    """Return the positive part of s + Lap(1/ε) on every leaf.

    ε-DP for adding or removing one user (with real-valued noise): the ℓ1-sensitivity of s is 1,
    and dropping negative cells depends on the noisy counts only.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent Laplace draws of scale 1.

    References
    ----------
    *Baselines* in Section 4 of the paper, after Liu et al. 2019.
    """
    checks.positive("epsilon", epsilon)
    return _positive_part(counts, noise / epsilon)


def gaussian_grid(
    counts: CellCounts, epsilon: float, delta: float, noise: FloatArray
) -> FloatArray:
    """Return the positive part of s + N(0, σ²) on every leaf, with the least σ for (ε, δ).

    (ε, δ)-DP for adding or removing one user (with real-valued noise): a user moves s by at most 1
    in ℓ1, hence in ℓ2. Replacing one moves it by at most √2: see `gaussian_epsilon_of_replacement`.

    Parameters
    ----------
    counts : CellCounts
    epsilon : float
        Finite and > 0.
    delta : float
        In (0, 1).
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent standard normal draws.

    References
    ----------
    σ: Balle and Wang 2018, Theorem 8.
    """
    checks.positive("epsilon", epsilon)
    return _positive_part(counts, noise * gaussian_sigma(epsilon, delta))


def gaussian_epsilon_of_replacement(epsilon: float, delta: float) -> float:
    """Return the ε at the same δ that `gaussian_grid` keeps when one user is replaced.

    s then moves by at most √2 in ℓ2 (one cell gains what another loses), so this is the ε whose
    least σ for that sensitivity is the σ used; right to 10⁻⁹ and rounded up.
    """
    from scipy.special import log_ndtr

    checks.positive("epsilon", epsilon)
    sigma = gaussian_sigma(epsilon, delta)
    ratio = math.sqrt(2) / sigma

    def log_delta(level: float) -> float:
        upper = float(log_ndtr(ratio / 2 - level / ratio))
        lower = level + float(log_ndtr(-ratio / 2 - level / ratio))
        return upper + math.log(-math.expm1(min(lower - upper, -1e-300)))

    low, high = epsilon, 2 * epsilon + 1
    while log_delta(high) > math.log(delta):
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if log_delta(middle) <= math.log(delta) else (middle, high)
    return high * (1 + 1e-9)


def discrete_grid(votes: CellCounts, epsilon: float, noise: FloatArray) -> FloatArray:
    """Return the positive part of whole counts plus discrete Laplace noise of scale 1/ε.

    ε-DP for adding or removing one user who counts 1 in one cell (`one_cell_each`): the
    ℓ1-sensitivity is 1. The noise is 0 with probability tanh(ε/2): at ε = 10 in all but one cell of
    11,000, and there is no better ε-DP way to answer one count.

    Parameters
    ----------
    votes : CellCounts
        With whole masses.
    epsilon : float
        Finite and > 0.
    noise : ndarray of float64, shape (2^ℓ, 2^ℓ)
        Independent Laplace draws of scale 1.

    Raises
    ------
    ValueError
        If a mass isn't whole, and as `laplace_grid`.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan 2009 (the geometric mechanism); errata heat-35.
    """
    if (votes.masses != np.rint(votes.masses)).any():
        raise ValueError("votes: a mass is not a whole number")
    checks.positive("epsilon", epsilon)
    return _positive_part(votes, discrete_laplace_quantiles(noise, 1 / epsilon))


def _positive_part(counts: CellCounts, noise: FloatArray) -> FloatArray:
    """Return max(s + noise, 0), in the noise's own memory."""
    if noise.shape != (1 << counts.level,) * 2:
        raise ValueError(f"noise: shape {noise.shape} does not fit level {counts.level}")
    noise[counts.cells] += counts.masses
    return np.maximum(noise, 0.0, out=noise)


def cells_kept(side: int, percent: float) -> int:
    """Return how many leaves the top-t % baseline keeps: t % of Δ², rounded up, at least 1.

    The paper does not say how it rounds, and at its sizes rounding decides everything
    (errata heat-25).

    Raises
    ------
    ValueError
        If the percentage is outside [0, 100].
    """
    checks.reals("top_percent", percent, 0.0, 100.0)
    # 0.01 % of 256² must not become one more through rounding of the product.
    exact = side * side * percent / 100
    return min(side * side, max(1, math.ceil(exact * (1 - 1e-12))))


def top_grid(noisy: FloatArray, kept: int) -> FloatArray:
    """Keep the `kept` largest leaves of a noisy non-negative map, zero the rest.

    Of equal leaves the earliest in row-major order stay. It depends on the noisy counts only, so
    the guarantee is that of `laplace_grid`.
    """
    flat = noisy.ravel()
    if kept >= flat.size:
        return noisy.copy()
    threshold = np.partition(flat, flat.size - kept)[flat.size - kept]
    above = np.flatnonzero(flat > threshold)
    ties = np.flatnonzero(flat == threshold)[: kept - len(above)]
    result = np.zeros_like(flat)
    result[above] = flat[above]
    result[ties] = threshold
    return result.reshape(noisy.shape)


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
    return _least_cost(_check_grid(z), alpha, absorbing=False)[0]


def nearest_nonnegative(z: NDArray[Any], alpha: float = 2.0) -> tuple[float, FloatArray]:
    """Return min over ŝ ≥ 0 of ‖z − ŝ‖_EMD and a minimiser, the last step of dense aggregation.

    Parameters, limits and errors are those of `emd_norm`. The minimiser is not unique; its total
    is, where α ≥ 2.

    References
    ----------
    Appendix D of Ghazi et al. 2022, with z the noisy counts of the cells of one level.
    """
    return _least_cost(_check_grid(z), alpha, absorbing=True)


def _check_grid(z: NDArray[Any]) -> FloatArray:
    z = np.asarray(z, dtype=float)
    if z.ndim != 2 or z.shape[0] != z.shape[1] or not z.size or not np.isfinite(z).all():
        raise ValueError(f"z: shape {z.shape} is not square, or a mass is not finite")
    return z


def _least_cost(z: FloatArray, alpha: float, absorbing: bool) -> tuple[float, FloatArray]:
    """Return the cost of the cheapest transport and the mass absorbed, for free, in each cell."""
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
    fitted = nearest_map(noisy.values) if nearest is None else nearest
    masses = np.empty(4**noisy.level)
    masses[all_codes(noisy.level)] = fitted
    return FittedMap(noisy.level, masses)
