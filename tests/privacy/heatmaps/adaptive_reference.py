"""The adaptive quadtree once more, cell by cell in plain Python: what the fast one must agree with.

Also its peer in the benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from explorer.privacy.heatmaps import Budgets


@dataclass
class Cell:
    """One cell, from its first reading to its mass."""

    level: int
    row: int
    column: int
    code: int
    first: float = 0.0
    estimate: float = 0.0
    spread: float = 0.0
    count: float = 0.0
    variance: float = 0.0
    mass: float = 0.0
    children: list[Cell] = field(default_factory=list)


def onto_simplex(values: list[float], total: float) -> list[float]:
    """The nearest non-negative numbers of that sum, by trying every number of positive ones."""
    ordered = sorted(values, reverse=True)
    for k in range(len(values), 0, -1):
        threshold = (sum(ordered[:k]) - total) / k
        if ordered[k - 1] > threshold:
            return [max(value - threshold, 0.0) for value in values]
    return [0.0] * len(values)


def reference_map(
    grid: np.ndarray, budgets: Budgets, noise: Callable[[int, int, int], float], threshold: float
) -> tuple[float, np.ndarray, dict[tuple[int, int], tuple[float, bool]]]:
    """The fitted total, the flat map and (count, split) of every cell read.

    `noise` is asked for one draw at a time: (level, draw, Morton code).
    """
    depth = len(grid).bit_length() - 1
    seen: dict[tuple[int, int], tuple[float, bool]] = {}

    def read(cell: Cell, draw: int, budget: float) -> float:
        size = 1 << (depth - cell.level)
        rows = slice(cell.row * size, (cell.row + 1) * size)
        exact = float(grid[rows, cell.column * size : (cell.column + 1) * size].sum())
        return exact + noise(cell.level, draw, cell.code) / budget

    def split_or_stop(cell: Cell) -> None:
        k = cell.level - budgets.start
        variance = 2 / budgets.spent[k] ** 2
        cell.count, cell.variance = cell.first, variance
        if cell.level == budgets.last:
            seen[cell.level, cell.code] = cell.count, False
            return
        after = budgets.left[k + 1]
        if cell.estimate * after > threshold:
            seen[cell.level, cell.code] = cell.count, True
            cell.children = family(cell)
            return
        again, second = read(cell, 1, after), 2 / after**2
        weight = 1 / variance + 1 / second
        cell.count = (cell.first / variance + again / second) / weight
        cell.variance = 1 / weight
        seen[cell.level, cell.code] = cell.count, False

    def family(parent: Cell) -> list[Cell]:
        four = [
            Cell(
                parent.level + 1,
                2 * parent.row + k // 2,
                2 * parent.column + k % 2,
                4 * parent.code + k,
            )
            for k in range(4)
        ]
        budget = budgets.spent[four[0].level - budgets.start]
        v = 2 / budget**2
        for cell in four:
            cell.first = read(cell, 0, budget)
        s, sum_variance = sum(cell.first for cell in four), 4 * v
        h = parent.spread
        fitted = (parent.estimate * sum_variance + s * h) / (sum_variance + h)
        for cell in four:
            cell.estimate = cell.first + (fitted - s) / 4
            cell.spread = 0.75 * v + sum_variance * h / (sum_variance + h) / 16
            split_or_stop(cell)
        return four

    def upwards(cell: Cell) -> None:
        for child in cell.children:
            upwards(child)
        if cell.children:
            s = sum(child.count for child in cell.children)
            v = sum(child.variance for child in cell.children)
            own = cell.variance
            cell.count = (cell.count * v + s * own) / (own + v)
            cell.variance = own * v / (own + v)

    def downwards(cell: Cell) -> None:
        if not cell.children:
            size = 1 << (depth - cell.level)
            rows = slice(cell.row * size, (cell.row + 1) * size)
            flat[rows, cell.column * size : (cell.column + 1) * size] = cell.mass / size**2
            return
        s = sum(child.count for child in cell.children)
        v = sum(child.variance for child in cell.children)
        moved = [c.count + (cell.mass - s) * c.variance / v for c in cell.children]
        for child, mass in zip(cell.children, onto_simplex(moved, cell.mass), strict=True):
            child.mass = mass
            downwards(child)

    start = []
    for code in range(4**budgets.start):
        row = sum((code >> 2 * b + 1 & 1) << b for b in range(budgets.start))
        column = sum((code >> 2 * b & 1) << b for b in range(budgets.start))
        cell = Cell(budgets.start, row, column, code)
        cell.first = cell.estimate = read(cell, 0, budgets.spent[0])
        cell.spread = 2 / budgets.spent[0] ** 2
        split_or_stop(cell)
        start.append(cell)
    for cell in start:
        upwards(cell)
    total = sum(cell.count for cell in start)
    flat = np.full(grid.shape, 1 / grid.size)
    if total > 0:
        for cell, mass in zip(
            start, onto_simplex([cell.count for cell in start], total), strict=True
        ):
            cell.mass = mass
            downwards(cell)
        flat /= total
    return total, flat, seen
