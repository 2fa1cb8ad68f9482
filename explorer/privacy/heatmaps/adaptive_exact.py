"""Adaptive quadtree in exact integer arithmetic, for releases, and its transcript.

Like `explorer.privacy.heatmaps.integers`: users' distributions are whole numbers of total B or
less, the budgets multiples of 2⁻⁴⁰ of which every path of the tree spends ε exactly, and the noise
is discrete Laplace drawn from integers. No floating-point number touches the counts before the
noise; what is decided and fitted afterwards is a function of noisy whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.heatmaps.adaptive_quadtree import AdaptiveTree, fits, grow, grow_by
from explorer.privacy.heatmaps.adaptive_schedule import THRESHOLD, ExactBudgets
from explorer.privacy.heatmaps.integers import IntegerCounts, Sampler
from explorer.privacy.noise.demonstration import IntArray

WholeNoise = Callable[[int, int, IntArray, Fraction], NDArray[Any]]
"""(level, draw, Morton codes, scale) → whole numbers, one a cell."""
Noisy = tuple[int, int, int, int]
"""Level, Morton code, draw, noisy whole number."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactAdaptiveTree:
    """A tree and the noisy whole numbers it was made from.

    Attributes
    ----------
    tree : AdaptiveTree
        Counts in users: noisy whole numbers over B.
    noisy : tuple of (int, int, int, int)
        Level, Morton code, draw and noisy whole number of everything read, ascending. All that is
        released is a function of these and of public numbers.
    """

    tree: AdaptiveTree
    noisy: tuple[Noisy, ...]


def fresh_noise(sampler: Sampler, bits: Any) -> WholeNoise:
    """Return fresh noise for every cell and draw.

    Parameters
    ----------
    sampler : callable (scale, size, bits) → whole numbers
        Exact discrete Laplace: `explorer.privacy.noise.exact.discrete_laplace`.
    bits : source of random bits
        The operating system's, for a release.
    """
    return lambda level, draw, cells, scale: sampler(scale, len(cells), bits)


def adaptive_tree_exact(
    counts: IntegerCounts,
    budgets: ExactBudgets,
    noise: WholeNoise,
    threshold: float = THRESHOLD,
) -> ExactAdaptiveTree:
    """Read cells with discrete Laplace noise of scale B/budget and split those with enough mass.

    Exactly ε-DP for adding or removing one user, ε being `ExactBudgets.epsilon`, and 2ε for
    replacing one, if the noise is exact, secret and fresh for every cell and draw, and B, box, ℓ,
    budgets and threshold were fixed without the data. Every user's whole numbers are ≥ 0 with a
    total of at most B, each user's made without looking at others, so that p = z/B in the proof of
    `explorer.privacy.heatmaps.adaptive_quadtree`.

    Parameters
    ----------
    counts : IntegerCounts
    budgets : ExactBudgets
        With L ≤ ℓ.
    noise : callable (level, draw, codes, scale) → whole numbers
        See `fresh_noise`.
    threshold : float
        τ, as in `adaptive_tree`.

    Raises
    ------
    ValueError
        As `adaptive_tree`, before any noise is drawn.
    """
    rounded = budgets.rounded()
    fits(counts.level, rounded)
    noisy: list[Noisy] = []

    def read(level: int, draw: int, cells: IntArray) -> FloatArray:
        drawn = noise(level, draw, cells, counts.resolution / budgets.of(level, draw))
        # Counts are below 2^63 and noise may be of any size: their sum needs Python's integers.
        total = counts.at(level, cells).astype(object) + np.asarray(drawn).astype(object)
        noisy.extend(
            (level, cell, draw, int(value))
            for cell, value in zip(cells.tolist(), total.tolist(), strict=True)
        )
        return np.asarray(total / counts.resolution, dtype=float)

    tree = grow(read, rounded, threshold)
    return ExactAdaptiveTree(tree, tuple(sorted(noisy)))


def tree_of_readings(
    noisy: Iterable[Noisy], budgets: ExactBudgets, resolution: int
) -> AdaptiveTree:
    """Return the tree that noisy whole numbers were read by.

    Cells that were read once, above the deepest level, are those that were split: nothing is
    decided again, so that the tree is the same wherever this runs.

    Parameters
    ----------
    noisy : iterable of (int, int, int, int)
        As in `ExactAdaptiveTree`.
    budgets : ExactBudgets
    resolution : int
        B.

    Raises
    ------
    ValueError
        If a reading is missing.
    """
    found = {(level, cell, draw): value for level, cell, draw, value in noisy}

    def read(level: int, draw: int, cells: IntArray) -> FloatArray:
        keys = [(level, cell, draw) for cell in cells.tolist()]
        if missing := [key for key in keys if key not in found]:
            raise ValueError(f"readings: that of level, cell, draw {missing[0]} is missing")
        return np.array([found[key] / resolution for key in keys], dtype=float)

    def split(level: int, cells: IntArray, estimate: FloatArray) -> BoolArray:
        return np.array([(level, cell, 1) not in found for cell in cells.tolist()], dtype=bool)

    return grow_by(read, budgets.rounded(), split)


def transcript_loss(
    noisy: Iterable[Noisy], counts: IntegerCounts, neighbour: IntegerCounts, budgets: ExactBudgets
) -> Fraction:
    """Return ln P(noisy | counts) − ln P(noisy | neighbour) exactly.

    Every reading adds b·(|Y − s'| − |Y − s|)/B, with b its budget, Y the noisy number and s, s' the
    two counts: discrete Laplace noise of scale B/b has ln P(k) = −|k|·b/B + const. Which cells are
    read follows from the noisy numbers alone, so that nothing else tells the two apart. At most ε
    in absolute value if the data differ by one user.

    Parameters
    ----------
    noisy : iterable of (int, int, int, int)
        As in `ExactAdaptiveTree`.
    counts, neighbour : IntegerCounts
        Of one level and one B.
    budgets : ExactBudgets

    Raises
    ------
    ValueError
        If the two data sets differ in level or B.
    """
    for name in ("level", "resolution"):
        if getattr(counts, name) != getattr(neighbour, name):
            raise ValueError(
                f"neighbour: its {name} is {getattr(neighbour, name)}, not {getattr(counts, name)}"
            )
    loss = Fraction(0)
    for level, cell, draw, value in noisy:
        here, there = (int(data.at(level, np.array([cell]))[0]) for data in (counts, neighbour))
        loss += budgets.of(level, draw) * (abs(value - there) - abs(value - here))
    return loss / counts.resolution
