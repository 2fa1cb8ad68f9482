"""Budget schedule of an adaptive quadtree: ε spent at each level and passed to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from explorer.privacy.core import checks
from explorer.privacy.heatmaps.integers import EPSILON_UNIT

START = 2
"""q unless chosen otherwise: 16 cells are read whatever the data are."""
SHARE = Fraction(3, 10)
"""ρ unless chosen otherwise."""
THRESHOLD = 10.0
"""τ unless chosen otherwise: a cell is split if its children can be told from noise."""


MIN_EPSILON = 1e-100

Share = TypeVar("Share", float, Fraction)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Budgets of a cell at each level q..L: e_i for its first reading, r_i in total.

    Attributes
    ----------
    start : int
        q.
    spent : tuple of float
        e_i of levels q..L; e_L = r_L.
    left : tuple of float
        r_i of levels q..L, r_q = ε and r_{i+1} = r_i − e_i.
    """

    start: int
    spent: tuple[float, ...]
    left: tuple[float, ...]

    @property
    def last(self) -> int:
        """L."""
        return self.start + len(self.spent) - 1

    def of(self, level: int, draw: int) -> float:
        """Return what one reading may spend: e_i of draw 0, r_{i+1} of draw 1.

        A cell is read a second time where it is not split, with what its children would have had.
        """
        k = level - self.start
        return self.left[k + 1] if draw else self.spent[k]


@dataclass(frozen=True, slots=True)
class ExactBudgets:
    """The same in whole multiples of a unit, so that every path spends ε exactly.

    Attributes
    ----------
    start : int
        q.
    spent, left : tuple of int
        e_i and r_i of levels q..L in units.
    unit : Fraction
        2⁻⁴⁰; ε itself where a single level is read and nothing is split.
    """

    start: int
    spent: tuple[int, ...]
    left: tuple[int, ...]
    unit: Fraction = EPSILON_UNIT

    @property
    def epsilon(self) -> Fraction:
        """Total ε spent: the requested ε, rounded down to a multiple of the unit."""
        return self.left[0] * self.unit

    def of(self, level: int, draw: int) -> Fraction:
        """Return what one reading may spend, as `Budgets.of` does."""
        k = level - self.start
        return (self.left[k + 1] if draw else self.spent[k]) * self.unit

    def rounded(self) -> Budgets:
        """Return the nearest doubles, for what is computed from noisy counts."""
        spent, left = (
            tuple(float(units * self.unit) for units in part) for part in (self.spent, self.left)
        )
        return Budgets(self.start, spent, left)


def measured_levels(level: int, start: int = START, last: int | None = None) -> tuple[int, int]:
    """Return q and L, clipped to 0 ≤ q ≤ L ≤ ℓ; L = ℓ if left out. None depends on the data.

    Raises
    ------
    ValueError
        If a level is negative or not whole.
    """
    for name, value in (("level", level), ("start", start), ("last", 0 if last is None else last)):
        checks.integers(name, value, 0, math.inf)
    last = level if last is None else min(last, level)
    return min(start, last), last


def adaptive_budgets(
    epsilon: float, start: int, last: int, share: float | Sequence[float] = float(SHARE)
) -> Budgets:
    """Split ε along every path of the tree: e_i = ρ_i·r_i, and the deepest level spends the rest.

    Parameters
    ----------
    epsilon : float
        Finite and at least 1e-100, so that variances are finite.
    start, last : int
        0 ≤ q ≤ L.
    share : float or sequence of float
        ρ in (0, 1), of all levels or of levels q, q+1, …; the last one repeats.

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.
    """
    checks.reals("epsilon", epsilon, MIN_EPSILON, open_high=True)
    left, spent = [float(epsilon)], []
    for part in _shares(start, last, share):
        spent.append(part * left[-1])
        left.append(left[-1] - spent[-1])
    return Budgets(start, (*spent, left[-1]), tuple(left))


def adaptive_budgets_exact(
    epsilon: Fraction, start: int, last: int, share: Fraction | Sequence[Fraction] = SHARE
) -> ExactBudgets:
    """Split ε in whole multiples of 2⁻⁴⁰: ε rounded down, e_i = ⌊ρ_i·r_i⌋.

    Parameters are those of `adaptive_budgets`, as exact fractions.

    Raises
    ------
    ValueError
        If a level would get nothing, or a number is outside its domain. No data are needed to know.
    """
    left, spent = [int(Fraction(epsilon) // EPSILON_UNIT)], []
    for part in _shares(start, last, share):
        spent.append(math.floor(Fraction(part) * left[-1]))
        left.append(left[-1] - spent[-1])
    spent.append(left[-1])
    for level, units in enumerate(spent, start):
        if units < 1:
            raise ValueError(
                f"epsilon: {float(epsilon):g} leaves level {level} less than 2^-40; "
                "spend more, or measure fewer levels"
            )
    return ExactBudgets(start, tuple(spent), tuple(left))


def check_threshold(threshold: float, budgets: Budgets) -> None:
    """Refuse thresholds at which a tree without data would grow, not die out, from level to level.

    An empty cell of the start level is split with chance ½e^{−τρ/(1−ρ)} and then has four children:
    fewer than one of them on average may be split again. A threshold that is refused would cost
    time and accuracy, not privacy. To be asked when parameters are chosen; no data are needed.

    Raises
    ------
    ValueError
        If 2e^{−τρ/(1−ρ)} ≥ 1 for the share of some level that can be split.
    """
    checks.reals("threshold", threshold, -math.inf, open_low=True, open_high=True)
    for spent, after in zip(budgets.spent, budgets.left[1:], strict=False):
        # e/r of the next level is ρ/(1 − ρ).
        if threshold * spent <= math.log(2) * after:
            raise ValueError(
                f"threshold: {threshold:g} is not above {math.log(2) * after / spent:g}, "
                "below which empty cells are split without end; raise it or the share"
            )


def _shares(start: int, last: int, share: Share | Sequence[Share]) -> list[Share]:
    """Return the shares of levels q..L−1."""
    checks.integers("last", last, 0, math.inf)
    checks.integers("start", start, 0, last)
    given = list(share) if isinstance(share, Sequence) else [share]
    if not given:
        raise ValueError("share: there is none")
    for part in given:
        if not 0 < part < 1:
            raise ValueError(f"share: {float(part):g} is outside (0, 1)")
    return [given[min(k, len(given) - 1)] for k in range(last - start)]
