"""Grids at half and at double resolution, and minimum-cost flow solved from coarse to fine."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

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


def _framed(grid: NDArray[Any], edge: Any = 0) -> NDArray[Any]:
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
    from explorer.privacy.transport import cycle_cancelling, network_flow

    levels = [supply]
    while max(levels[-1].shape) > _COARSEST:
        levels[-1] = even(levels[-1])
        levels.append(merged(levels[-1]))
    potential: Ints = np.zeros(levels[-1].shape, np.int64)
    for level in range(len(levels) - 1, -1, -1):
        height, width = levels[level].shape
        if level < len(levels) - 1:
            potential = refined(potential)[:height, :width]
        excess, pi = _framed(levels[level]), _framed(potential)
        flow = np.zeros((2, excess.size), np.int64)
        border = _framed(np.zeros((height, width), np.bool_), True)
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
                    if cycle_cancelling.polish(exact, flow, *grid, _POLISH_BUDGET * pi.size):
                        pi = exact
                        break
        potential = pi.reshape(height + 2, width + 2)[1:-1, 1:-1]
    rows, columns = supply.shape
    height, width = potential.shape
    east, south = (part.reshape(height + 2, width + 2)[1:-1, 1:-1] for part in flow)
    return potential[:rows, :columns], even(east), even(south)
