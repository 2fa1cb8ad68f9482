"""Earth mover's distance on grids and on the line, with certificates.

Mass is moved between the centres of cells of size step_x × step_y; moving one unit of mass costs
|Δx| + |Δy|. On a grid this is minimum-cost flow between neighbours (4 a cell, no capacities),
because ℓ1 paths can be cut into unit moves. `grid_emd` solves it exactly and proves it by duality;
`block_interval` gives a certified interval in a fraction of the time. Formulas: specification of
the heatmap paper (Ghazi et al., *Differentially private heatmaps*), "Exact grid EMD"; that the
pyramid norm bounds the distance from above is Indyk and Thaper, *Fast image retrieval via
embeddings*, 2003.

numba is imported on the first call that solves a flow and not before. It compiles for seconds once
(then from its cache on disk) and holds the interpreter while it does: call from a worker process.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.bounds import FloatArray

Ints = NDArray[np.int64]
_Grid = TypeVar("_Grid", FloatArray, Ints)

_EPS = 2.0**-52
# Supplies are integers with positive part 2^60: sums of them stay below 2^63.
_SUPPLY_BITS = 60
_COST_BITS = 40
_COARSEST = 8
# Slack allowed on unequal steps, as 2^−bits of the smaller cost; when to try to finish, and how
# many changes of labels a node that may take. Measured on smoothed check-ins and white noise.
_SLACK_BITS = (1, 3, 5, 7, 9, 12, 15, 18, 21)
_POLISH_BITS = 5
_POLISH_BUDGET = 300


@dataclass(frozen=True)
class GridEmd:
    """An earth mover's distance and what is known about it.

    Attributes
    ----------
    value : float
        Cost of the best flow found; the distance itself up to rounding if ``upper − lower`` is of
        that order, which is the normal case.
    lower, upper : float
        The distance lies between them. Both are certified: the lower one by potentials, the upper
        one by a flow, with all rounding counted against us.
    potential : ndarray of float, shape of the grids
        ψ with |ψ(x) − ψ(y)| ≤ distance(x, y) and Σψ(p − q) = lower up to rounding: where mass is
        too high and too low.
    """

    value: float
    lower: float
    upper: float
    potential: FloatArray

    @property
    def gap(self) -> float:
        """Width of the certified interval."""
        return self.upper - self.lower


@dataclass(frozen=True)
class EmdInterval:
    """A certified interval for an earth mover's distance.

    Attributes
    ----------
    lower, upper : float
        The distance lies between them.
    block_emd : float
        Distance of the block sums, between their centres: neither bound by itself.
    """

    lower: float
    upper: float
    block_emd: float


def grid_emd(
    p: ArrayLike, q: ArrayLike, step_x: float | None = None, step_y: float | None = None
) -> GridEmd:
    """Return the earth mover's distance of two mass distributions on a grid under ℓ1.

    Parameters
    ----------
    p, q : array_like of float, shape (rows, columns)
        Non-negative masses with equal sums (to 1e-9 relative; q is scaled to p's sum).
    step_x, step_y : float, optional
        Distance between neighbouring columns and rows, > 0. Both default to 1 over the larger
        side, so that a square grid is the unit square; width_km / columns and height_km / rows
        give kilometres.

    Returns
    -------
    GridEmd
        In units of the steps times mass. With equal steps the gap is rounding only (about 1e-13 of
        the total variation times the diameter); with unequal ones costs are rational
        approximations with relative error 2⁻⁴⁰, and the gap is about 1e-12.

    Raises
    ------
    ValueError
        If shapes differ or are empty, a mass is negative or not finite, sums differ, or a step is
        not positive or the steps differ more than 2³⁰-fold.
    """
    p, q, step_x, step_y = _checked(p, q, step_x, step_y)
    difference = p - q
    height, width = difference.shape
    scale = float(np.clip(difference, 0, None).sum())
    # What normalising left over: moving it across the grid costs at most this.
    diameter = step_x * (width - 1) + step_y * (height - 1)
    rounding = (abs(math.fsum(difference.ravel())) + _EPS * float(p.sum() + q.sum())) * diameter
    if scale <= _EPS * float(p.sum()):
        return GridEmd(0.0, 0.0, scale * diameter + rounding, np.zeros(difference.shape))

    supply, left_over = _integers(difference, scale)
    unit_x, unit_y, per_step = _integer_costs(step_x, step_y, height + width)
    potential, east, south = _solve(supply, unit_x, unit_y)

    mass = scale / 2.0**_SUPPLY_BITS
    value = mass * (step_x * east + step_y * south)
    upper = value * (1 + 8 * _EPS) + left_over * diameter + rounding
    psi, lower = _dual(potential, per_step, difference)
    return GridEmd(
        value=min(max(value, lower), upper),
        lower=max(lower - rounding, 0.0),
        upper=upper,
        potential=psi,
    )


def block_interval(
    p: ArrayLike,
    q: ArrayLike,
    step_x: float | None = None,
    step_y: float | None = None,
    blocks: int = 64,
) -> EmdInterval:
    """Return a certified interval for `grid_emd` from the distance of block sums.

    The cells are merged 2 × 2 until no side has more than `blocks` blocks. Below: Σψ(p − q) with ψ
    the blocks' potential refined to the cells, and `marginal_bound`. Above: the blocks' distance
    plus, for each merged level, the cost of moving what its cells have too much or too little to
    and from the centres of the cells above.

    Parameters, units and errors as in `grid_emd`; `blocks` ≥ 1. With sides of at most `blocks`
    cells the interval is that of the exact distance.
    """
    p, q, step_x, step_y = _checked(p, q, step_x, step_y)
    if blocks < 1:
        raise ValueError(f"blocks: {blocks} must be at least 1")
    difference = p - q
    halvings = 0
    total = abs(math.fsum(difference.ravel())) + _EPS * float(p.sum() + q.sum())
    shape = difference.shape
    inside = 0.0
    coarse_p, coarse_q = p, q
    while max(coarse_p.shape) > blocks:
        inside += 0.5 * 2.0**halvings * (step_x + step_y) * float(np.abs(coarse_p - coarse_q).sum())
        coarse_p, coarse_q = _merged(_even(coarse_p)), _merged(_even(coarse_q))
        halvings += 1
    far = 2.0**halvings
    solved = grid_emd(coarse_p, coarse_q, far * step_x, far * step_y)
    rounding = total * (step_x * shape[1] + step_y * shape[0])
    upper = (solved.upper + inside) * (1 + 8 * _EPS) + rounding
    psi = solved.potential
    for _ in range(halvings):
        psi = _refined(psi)
    psi = psi[: shape[0], : shape[1]]
    terms = psi * difference
    slack = 64 * _EPS * float(np.abs(terms).sum()) + rounding
    lower = max(
        math.fsum(terms.ravel()) - slack,
        marginal_bound(p, q, step_x, step_y) * (1 - 64 * _EPS) - rounding,
        0.0,
    )
    if halvings == 0:
        lower = max(lower, solved.lower)
    return EmdInterval(lower=min(lower, upper), upper=upper, block_emd=solved.value)


def marginal_bound(
    p: ArrayLike, q: ArrayLike, step_x: float | None = None, step_y: float | None = None
) -> float:
    """Return the sum of the marginals' distances, a lower bound of `grid_emd`.

    ℓ1 cost is the sum of the horizontal and the vertical one, and each is at least the optimal
    transport of the marginal on the line. Closed form; parameters as in `grid_emd`.
    """
    p, q, step_x, step_y = _checked(p, q, step_x, step_y)
    difference = p - q
    columns = np.cumsum(difference.sum(axis=0))[:-1]
    rows = np.cumsum(difference.sum(axis=1))[:-1]
    return float(step_x * np.abs(columns).sum() + step_y * np.abs(rows).sum())


def pyramid_bound(
    p: ArrayLike, q: ArrayLike, step_x: float | None = None, step_y: float | None = None
) -> float:
    """Return the weighted sum of differences on every level, an upper bound of `grid_emd`.

    Σ_i 2^{−i} Σ_c |(p − q)(c)| over the cells c of all levels, with 2^{−i} replaced by the mean of
    a cell's sides in the units of the steps. Parameters as in `grid_emd`; sides need not be powers
    of two.
    """
    p, q, step_x, step_y = _checked(p, q, step_x, step_y)
    difference, side, total = p - q, 0.5 * (step_x + step_y), 0.0
    while max(difference.shape) > 1:
        total += side * float(np.abs(difference).sum())
        difference, side = _merged(_even(difference)), 2 * side
    return total


def line_emd(positions: ArrayLike, p: ArrayLike, q: ArrayLike) -> float:
    """Return the earth mover's distance of masses at points of the line, ∫|F_p − F_q|.

    Parameters
    ----------
    positions : array_like of float, shape (n,)
        In any order, finite.
    p, q : array_like of float, shape (n,)
        Non-negative, equal sums.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, a mass is negative or sums differ.
    """
    x = np.asarray(positions, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise ValueError("positions: must be a list of finite numbers")
    a, b = _masses(p, q)
    if a.shape != x.shape:
        raise ValueError(f"p: shape {a.shape} must be that of positions, {x.shape}")
    order = np.argsort(x, kind="stable")
    ahead = np.abs(np.cumsum((a - b)[order]))[:-1]
    return float((ahead * np.diff(x[order])).sum())


def _masses(p: ArrayLike, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"q: shape {b.shape} must be that of p, {a.shape}")
    for name, mass in (("p", a), ("q", b)):
        if mass.size == 0 or not np.isfinite(mass).all() or (mass < 0).any():
            raise ValueError(f"{name}: masses must be finite, at least 0 and at least one")
    sum_a, sum_b = math.fsum(a.ravel()), math.fsum(b.ravel())
    if abs(sum_a - sum_b) > 1e-9 * max(sum_a, sum_b):
        raise ValueError(f"q: its sum {sum_b!r} must be that of p, {sum_a!r}")
    return a, (b * (sum_a / sum_b) if sum_b > 0 else b)


def _checked(
    p: ArrayLike, q: ArrayLike, step_x: float | None, step_y: float | None
) -> tuple[FloatArray, FloatArray, float, float]:
    a, b = _masses(p, q)
    if a.ndim != 2:
        raise ValueError(f"p: shape {a.shape} must have two sides")
    steps = [1 / max(a.shape) if step is None else float(step) for step in (step_x, step_y)]
    for name, step in zip(("step_x", "step_y"), steps, strict=True):
        if not (0 < step < math.inf):
            raise ValueError(f"{name}: {step!r} must be positive and finite")
    if max(steps) > 2.0**30 * min(steps):
        raise ValueError(f"step_x: {steps[0]:g} and step_y: {steps[1]:g} differ too much (2³⁰)")
    return a, b, steps[0], steps[1]


def _integers(difference: FloatArray, scale: float) -> tuple[Ints, float]:
    """Return supplies as integers of sum 0 and the mass that rounding misplaced."""
    exact = difference * (2.0**_SUPPLY_BITS / scale)
    supply = np.rint(exact).astype(np.int64)
    at = int(np.abs(supply).argmax())
    supply.flat[at] -= supply.sum()
    return supply, float(np.abs(exact - supply).sum()) * scale / 2.0**_SUPPLY_BITS


def _integer_costs(step_x: float, step_y: float, moves: int) -> tuple[int, int, float]:
    """Return integer costs with the steps' ratio, rounded down, and the length of one unit."""
    if step_x == step_y:
        return 1, 1, step_x
    low, high = min(step_x, step_y), max(step_x, step_y)
    # Potentials stay below cost · moves < 2⁶².
    bits = min(_COST_BITS, math.floor(60 - math.log2(4 * moves * high / low)))
    per_step = low / 2.0**bits
    return math.floor(step_x / per_step), math.floor(step_y / per_step), per_step


def _dual(potential: Ints, unit: float, difference: FloatArray) -> tuple[FloatArray, float]:
    """Return ψ in units of length and a lower bound that counts rounding against us."""
    centred = potential - (potential.max() + potential.min()) // 2
    psi = -centred.astype(np.float64) * (unit * (1 - 4 * _EPS))
    terms = psi * difference
    return psi, math.fsum(terms.ravel()) - _EPS * float(np.abs(terms).sum())


def _even(grid: _Grid) -> _Grid:
    rows, columns = grid.shape
    padded: _Grid = np.pad(grid, ((0, rows % 2), (0, columns % 2)))
    return padded


def _merged(grid: _Grid) -> _Grid:
    merged: _Grid = grid[::2, ::2] + grid[1::2, ::2] + grid[::2, 1::2] + grid[1::2, 1::2]
    return merged


def _refined(grid: _Grid) -> _Grid:
    """Interpolate between the centres of cells to the centres of their quarters.

    If neighbours differ by at most 2c then so do the new ones by at most c, with integers as with
    reals: integers are rounded down, which keeps differences of at most c.
    """
    padded = np.pad(grid, 1, mode="edge")
    fine: _Grid = np.empty((2 * grid.shape[0], 2 * grid.shape[1]), grid.dtype)
    near = {0: slice(0, -2), 1: slice(2, None)}
    for row in (0, 1):
        for column in (0, 1):
            weighted = (
                9 * grid
                + 3 * padded[near[row], 1:-1]
                + 3 * padded[1:-1, near[column]]
                + padded[near[row], near[column]]
            )
            integer = np.issubdtype(grid.dtype, np.integer)
            fine[row::2, column::2] = weighted // 16 if integer else weighted / 16
    return fine


def _solve(supply: Ints, unit_x: int, unit_y: int) -> tuple[Ints, float, float]:
    """Return potentials and how much flow goes east–west and north–south, in integers.

    Half the resolution first: its potentials, refined, are the start. With equal costs every level
    is solved exactly. With unequal ones exact potentials take many values and a primal–dual method
    as many rounds; there flow may use moves with slack below a fraction of the cost, ever smaller,
    until the flow is nearly or already the best one (usually at 1/32) and a label-correcting pass
    finds the potentials and the few cycles left to cancel. Should that never come to an end within
    its budget, slack of 2⁻²¹ of the cost remains, and the certificate says so.
    """
    from explorer.privacy.grid_cycles import polish
    from explorer.privacy.grid_flow import drop_loose, route

    levels = [supply]
    while max(levels[-1].shape) > _COARSEST:
        levels[-1] = _even(levels[-1])
        levels.append(_merged(levels[-1]))
    potential: Ints = np.zeros(levels[-1].shape, np.int64)
    for level in range(len(levels) - 1, -1, -1):
        height, width = levels[level].shape
        if level < len(levels) - 1:
            potential = _refined(potential)[:height, :width]
        excess = np.pad(levels[level], 1).ravel()
        pi = np.pad(potential, 1).ravel()
        flow = np.zeros((2, excess.size), np.int64)
        border = np.pad(np.zeros((height, width), np.bool_), 1, constant_values=True).ravel()
        cost = np.array([unit_x, unit_x, unit_y, unit_y], np.int64) << level
        grid = (border, width + 2, cost)
        if unit_x == unit_y:
            route(excess, pi, flow, *grid, int(cost[0]))
        else:
            for bits in _SLACK_BITS if level == 0 else _SLACK_BITS[:2]:
                unit = max(int(cost.min()) >> bits, 1)
                drop_loose(excess, pi, flow, *grid, unit)
                route(excess, pi, flow, *grid, unit)
                if level == 0 and bits >= _POLISH_BITS:
                    exact = pi.copy()
                    if polish(exact, flow, *grid, _POLISH_BUDGET * pi.size):
                        pi = exact
                        break
        potential = pi.reshape(height + 2, width + 2)[1:-1, 1:-1]
    rows, columns = supply.shape
    east, south = (math.fsum(np.abs(part).astype(np.float64)) for part in flow)
    return potential[:rows, :columns], east, south
