"""Earth mover's distance on grids and on the line, with certificates.

Exact distances are solved from coarse to fine: grids at half and at double resolution.

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

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

Ints = NDArray[np.int64]
Grid = TypeVar("Grid", FloatArray, Ints)

_COARSEST = 8
# Slack allowed on unequal steps, as 2^−bits of the smaller cost; when to try to finish, and how
# many changes of labels a node that may take. Measured on smoothed check-ins and white noise: finer
# steps route the same flow again and again, and trying to finish earlier is mostly in vain.
_SLACK_BITS = (3, 8, 12, 16, 21)
_POLISH_BITS = 8
_POLISH_BUDGET = 300


def even(grid: Grid) -> Grid:
    """Add an empty row or column where a side is odd."""
    rows, columns = grid.shape
    padded: Grid = np.pad(grid, ((0, rows % 2), (0, columns % 2)))
    return padded


def merged(grid: Grid) -> Grid:
    """Sum 2 × 2 cells; both sides must be even."""
    merged: Grid = grid[::2, ::2] + grid[1::2, ::2] + grid[::2, 1::2] + grid[1::2, 1::2]
    return merged


def refined(grid: Grid) -> Grid:
    """Interpolate between the centres of cells to the centres of their quarters.

    If neighbours differ by at most 2c then so do the new ones by at most c, with integers as with
    reals: integers are rounded down, which keeps differences of at most c.
    """
    padded = np.pad(grid, 1, mode="edge")
    fine: Grid = np.empty((2 * grid.shape[0], 2 * grid.shape[1]), grid.dtype)
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


def prolonged(
    east: FloatArray, south: FloatArray, difference: FloatArray, step_x: float, step_y: float
) -> tuple[FloatArray, FloatArray, float]:
    """Carry a flow between blocks to one between their quarters.

    Parameters
    ----------
    east, south : ndarray of float, shape (r, c)
        Flow out of each block to its neighbour in the next column and in the next row.
    difference : ndarray of float, shape (2r, 2c)
        Supply of the quarters.
    step_x, step_y : float
        Distance of neighbouring quarters.

    Returns
    -------
    east, south : ndarray of float, shape (2r, 2c)
    left : float
        Mass that stays where it shouldn't because the blocks' flow was rounded.
    """
    rows, columns = difference.shape
    fine_east, fine_south = np.zeros((rows, columns)), np.zeros((rows, columns))
    for half in (0, 1):
        fine_east[half::2, 1::2] = east / 2
        fine_south[1::2, half::2] = south / 2
    rest = difference - fine_east - fine_south
    rest[:, 1:] += fine_east[:, :-1]
    rest[1:] += fine_south[:-1]
    a, b, c, d = rest[::2, ::2], rest[::2, 1::2], rest[1::2, ::2], rest[1::2, 1::2]
    # With x from a to b the other three are given; the cost is convex in x with these kinks.
    kinks = np.stack([np.zeros_like(a), a, -b, a + c])
    costs = step_x * (np.abs(kinks) + np.abs(a + c - kinks))
    costs += step_y * (np.abs(a - kinks) + np.abs(b + kinks))
    x = np.take_along_axis(kinks, costs.argmin(axis=0)[None], axis=0)[0]
    fine_east[::2, ::2] = x
    fine_south[::2, ::2] = a - x
    fine_south[::2, 1::2] = b + x
    fine_east[1::2, ::2] = a + c - x
    return fine_east, fine_south, float(np.abs(a + b + c + d).sum())


def _frame(grid: NDArray[Any], edge: Any = 0) -> NDArray[Any]:
    """Return a grid with a border of one cell, flat; `numpy.pad` takes longer for small ones."""
    framed = np.full((grid.shape[0] + 2, grid.shape[1] + 2), edge, grid.dtype)
    framed[1:-1, 1:-1] = grid
    return framed.ravel()


def solve(supply: Ints, unit_x: int, unit_y: int) -> tuple[Ints, Ints, Ints]:
    """Return potentials of the cells and flow to the east and to the south, on an even grid.

    Half the resolution first: its potentials, refined, are the start. With equal costs every level
    is solved exactly. With unequal ones exact potentials take many values and a primal–dual method
    as many rounds; there flow may use moves with slack below a fraction of the cost, ever smaller,
    until the flow is nearly or already the best one (usually at 1/256) and a label-correcting pass
    finds the potentials and the few cycles left to cancel. Should that never come to an end within
    its budget, slack of 2⁻²¹ of the cost remains, and the certificate says so.
    """
    # They compile with numba, which is slow to import and not needed for bounds.
    from explorer.privacy.transport import network_flow

    levels = [supply]
    while max(levels[-1].shape) > _COARSEST:
        levels[-1] = even(levels[-1])
        levels.append(merged(levels[-1]))
    potential: Ints = np.zeros(levels[-1].shape, np.int64)
    for level in range(len(levels) - 1, -1, -1):
        height, width = levels[level].shape
        if level < len(levels) - 1:
            potential = refined(potential)[:height, :width]
        excess, pi = _frame(levels[level]), _frame(potential)
        flow = np.zeros((2, excess.size), np.int64)
        border = _frame(np.zeros((height, width), np.bool_), True)
        cost = np.array([unit_x, unit_x, unit_y, unit_y], np.int64) << level
        grid = (border, width + 2, cost)
        if unit_x == unit_y:
            network_flow.route(excess, pi, flow, *grid, int(cost[0]))
        else:
            for bits in _SLACK_BITS if level == 0 else _SLACK_BITS[:2]:
                unit = max(int(cost.min()) >> bits, 1)
                network_flow.drop_loose(excess, pi, flow, *grid, unit)
                network_flow.route(excess, pi, flow, *grid, unit)
                if level == 0 and bits >= _POLISH_BITS:
                    exact = pi.copy()
                    if network_flow.polish(exact, flow, *grid, _POLISH_BUDGET * pi.size):
                        pi = exact
                        break
        potential = pi.reshape(height + 2, width + 2)[1:-1, 1:-1]
    rows, columns = supply.shape
    height, width = potential.shape
    east, south = (part.reshape(height + 2, width + 2)[1:-1, 1:-1] for part in flow)
    return potential[:rows, :columns], even(east), even(south)


_EPS = 2.0**-52
# Supplies are integers with positive part 2^60: sums of them stay below 2^63.
_SUPPLY_BITS = 60
_COST_BITS = 40


@dataclass(frozen=True)
class GridEmd:
    """An earth mover's distance with certified ends.

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

    Notes
    -----
    Time grows about as the square of the number of cells (256²: half a second, 512²: several,
    1024²: minutes; unequal steps three to five times that). From 512² on prefer `block_interval`
    with 256 blocks: under a second, and known to a thousandth.

    Raises
    ------
    ValueError
        If shapes differ or are empty, a mass is negative or not finite, sums differ, or a step is
        not positive or the steps differ more than 2³⁰-fold.
    """
    return _solve(*_check(p, q, step_x, step_y))[0]


def _solve(
    p: FloatArray, q: FloatArray, step_x: float, step_y: float
) -> tuple[GridEmd, FloatArray, FloatArray]:
    """Return the distance and the flow eastwards and southwards, as masses on an even grid."""
    difference = p - q
    height, width = difference.shape
    scale = float(np.clip(difference, 0, None).sum())
    # What normalising left over: moving it across the grid costs at most this.
    diameter = step_x * (width - 1) + step_y * (height - 1)
    rounding = (abs(_sum(difference)) + _EPS * float(p.sum() + q.sum())) * diameter
    if scale <= _EPS * float(p.sum()):
        still = np.zeros(even(difference).shape)
        nothing = GridEmd(0.0, 0.0, scale * diameter + rounding, np.zeros(difference.shape))
        return nothing, still, still

    supply, left_over = _integers(difference, scale)
    unit_x, unit_y, per_step = _integer_costs(step_x, step_y, height + width)
    potential, *flow = solve(supply, unit_x, unit_y)

    mass = scale / 2.0**_SUPPLY_BITS
    east, south = (part.astype(np.float64) * mass for part in flow)
    value = _cost(east, south, step_x, step_y)
    upper = value * (1 + 8 * _EPS) + left_over * diameter + rounding
    psi, lower = _dual(potential, per_step, difference)
    distance = GridEmd(
        value=min(max(value, lower), upper),
        lower=max(lower - rounding, 0.0),
        upper=upper,
        potential=psi,
    )
    return distance, east, south


def _cost(east: FloatArray, south: FloatArray, step_x: float, step_y: float) -> float:
    across, along = (_sum(np.abs(flow)) for flow in (east, south))
    return step_x * across + step_y * along


def block_interval(
    p: ArrayLike,
    q: ArrayLike,
    step_x: float | None = None,
    step_y: float | None = None,
    blocks: int = 64,
) -> EmdInterval:
    """Return a certified interval for `grid_emd` from the transport of block sums.

    The cells are merged 2 × 2 until no side has more than `blocks` blocks, and the blocks solved
    exactly. Below: Σψ(p − q) with ψ the blocks' potential refined to the cells, and
    `marginal_bound`. Above: the cost of the blocks' flow carried to the cells (half of it on either
    of two cells' sides, the rest evened out within each 2 × 2 as cheaply as can be), or the
    specification's bound if smaller: the blocks' distance plus the pyramid norm of levels below.
    On smoothed 256 × 256 maps 64 blocks give −0.5…+0.6 %; the pyramid norm alone +5…20 %.

    Parameters, units and errors as in `grid_emd`; `blocks` ≥ 1. With sides of at most `blocks`
    cells the interval is that of the exact distance.
    """
    p, q, step_x, step_y = _check(p, q, step_x, step_y)
    checks.reals("blocks", blocks, 1)
    grids, inside = [(p, q)], 0.0
    while max(grids[-1][0].shape) > blocks:
        side = 0.5 * 2.0 ** (len(grids) - 1) * (step_x + step_y)
        inside += side * float(np.abs(grids[-1][0] - grids[-1][1]).sum())
        grids.append((merged(even(grids[-1][0])), merged(even(grids[-1][1]))))
    far = 2.0 ** (len(grids) - 1)
    solved, east, south = _solve(*grids.pop(), far * step_x, far * step_y)
    if not grids:
        return EmdInterval(solved.lower, solved.upper, solved.value)

    # Refining may add rows and columns beyond a grid's own: they stay, as flow through them counts.
    psi, astray = np.pad(solved.potential, _missing(solved.potential, east), "edge"), 0.0
    for fine_p, fine_q in reversed(grids):
        psi, far = refined(psi), far / 2
        difference = np.pad(fine_p - fine_q, _missing(fine_p, psi))
        east, south, left = prolonged(east, south, difference, far * step_x, far * step_y)
        astray += left
    rows, columns = p.shape
    terms = psi[:rows, :columns] * (p - q)
    rounding = _EPS * float(p.sum() + q.sum()) + abs(_sum(p - q))
    rounding *= step_x * columns + step_y * rows
    carried = _cost(east, south, step_x, step_y) + astray * sum(
        step * side for step, side in zip((step_x, step_y), east.shape[::-1], strict=True)
    )
    upper = min(carried, solved.upper + inside) * (1 + 64 * _EPS) + rounding
    lower = max(
        _sum(terms) - 64 * _EPS * float(np.abs(terms).sum()) - rounding,
        _marginals(p - q, step_x, step_y) * (1 - 64 * _EPS) - rounding,
        0.0,
    )
    return EmdInterval(lower=min(lower, upper), upper=upper, block_emd=solved.value)


def marginal_bound(
    p: ArrayLike, q: ArrayLike, step_x: float | None = None, step_y: float | None = None
) -> float:
    """Return the sum of the marginals' distances, a lower bound of `grid_emd`.

    ℓ1 cost is the sum of the horizontal and the vertical one, and each is at least the optimal
    transport of the marginal on the line. Closed form; parameters as in `grid_emd`.
    """
    p, q, step_x, step_y = _check(p, q, step_x, step_y)
    return _marginals(p - q, step_x, step_y)


def _marginals(difference: FloatArray, step_x: float, step_y: float) -> float:
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
    p, q, step_x, step_y = _check(p, q, step_x, step_y)
    difference, side, total = p - q, 0.5 * (step_x + step_y), 0.0
    while max(difference.shape) > 1:
        total += side * float(np.abs(difference).sum())
        difference, side = merged(even(difference)), 2 * side
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


def _sum(grid: FloatArray) -> float:
    """Return the sum of all cells, rounded once: off by an ulp, and by 2⁻⁹⁰ of Σ|cell|, at most.

    Halves are added, and beside them what every addition rounds away (Knuth's TwoSum). `math.fsum`
    takes four times as long, which was a third of `block_interval`'s time at 256² and two thirds at
    2048².
    """
    total, lost = grid.ravel(), np.zeros(grid.size)
    while total.size > 1:
        if total.size % 2:
            total, lost = np.append(total, 0.0), np.append(lost, 0.0)
        (a, b), (c, d) = total.reshape(2, -1), lost.reshape(2, -1)
        total = a + b
        back = total - a
        lost = c + d + ((a - (total - back)) + (b - back))
    return float(total[0] + lost[0])


def _missing(small: FloatArray, large: FloatArray) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the widths by which `numpy.pad` extends a grid to the shape of a larger one."""
    return (0, large.shape[0] - small.shape[0]), (0, large.shape[1] - small.shape[1])


def _masses(p: ArrayLike, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"q: shape {b.shape} must be that of p, {a.shape}")
    for name, mass in (("p", a), ("q", b)):
        if mass.size == 0 or not np.isfinite(mass).all() or (mass < 0).any():
            raise ValueError(f"{name}: masses must be finite, at least 0 and at least one")
    with np.errstate(over="ignore", invalid="ignore"):
        sum_a, sum_b = _sum(a), _sum(b)
    for name, total in (("p", sum_a), ("q", sum_b)):
        if not math.isfinite(total):
            raise ValueError(f"{name}: its sum is larger than a float can be")
    if abs(sum_a - sum_b) > 1e-9 * max(sum_a, sum_b):
        raise ValueError(f"q: its sum {sum_b!r} must be that of p, {sum_a!r}")
    return a, (b * (sum_a / sum_b) if sum_b > 0 else b)


def _check(
    p: ArrayLike, q: ArrayLike, step_x: float | None, step_y: float | None
) -> tuple[FloatArray, FloatArray, float, float]:
    a, b = _masses(p, q)
    if a.ndim != 2:
        raise ValueError(f"p: shape {a.shape} must have two sides")
    steps = [1 / max(a.shape) if step is None else float(step) for step in (step_x, step_y)]
    for name, step in zip(("step_x", "step_y"), steps, strict=True):
        checks.positive(name, step)
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
    return psi, _sum(terms) - _EPS * float(np.abs(terms).sum())
