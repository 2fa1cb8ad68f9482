"""Split of the privacy budget over the levels of the pyramid and of the adaptive quadtree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS, Reference

EPSILON_UNIT = Fraction(1, 1 << 40)
"""Every level's ε is a multiple of it."""
GAMMA_EXPERIMENTS = 1 / math.sqrt(2)
GAMMA_THEORY = 0.8
SCHEDULE_REFERENCE = Reference(
    HEATMAPS,
    "Section 4 (schedule) and Algorithm 1",
    "ε₀ added, rows above q dropped: errata heat-7, heat-21",
)
START = 2
"""Default q of the adaptive quadtree: 16 cells are read whatever the data are."""
SHARE = Fraction(3, 10)
"""Default ρ of the adaptive quadtree."""
THRESHOLD = 10.0
"""Default τ of the adaptive quadtree: a cell is split if its children can be told from noise."""
MIN_EPSILON = 1e-100
Share = TypeVar("Share", float, Fraction)


class Variant(StrEnum):
    """Variant of the schedule: one of the paper's two."""

    EXPERIMENTS = "experiments"
    THEORY = "theory"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The ε of every level.

    Attributes
    ----------
    level : int
        ℓ: level of the leaves.
    start : int
        Level whose cells are all measured: q in the experimental variant, 0 in the other.
    q : int
        Largest integer with 4^q ≤ w, at most ℓ.
    last : int
        L: deepest measured level, ℓ unless the depth is capped.
    epsilon : tuple of float, length ℓ+1
        ε_i of level i, 0 for levels that are not measured; the sum is ε.
    variant : Variant
    """

    level: int
    start: int
    q: int
    last: int
    epsilon: tuple[float, ...]
    variant: Variant

    @property
    def measured(self) -> range:
        """The levels that are measured, start…last."""
        return range(self.start, self.last + 1)


def start_level(w: int, level: int) -> int:
    """Return q, the largest integer with 4^q ≤ w, but at most ℓ.

    In integers, since the printed ⌊log₂ √w⌋ can fall one short in floating point (errata heat-20).

    Raises
    ------
    ValueError
        If w < 1.
    """
    checks.reals("w", w, 1)
    return min((int(w).bit_length() - 1) // 2, level)


def depth_cap(epsilon: float, assumed_users: float, q: int, level: int) -> int:
    """Return L = ½ log₂(ε n₀) rounded and clipped to q…ℓ: how deep measuring is worth its noise.

    n₀ is a number fixed before the data are seen (or a private estimate whose ε is part of the
    total). It must never be the data's own count: at ε = 1, 127 users would be measured down to
    level 3 and 128 down to level 4, so that one user more or less could be told with certainty.
    A wrong n₀ costs accuracy and no privacy.

    Parameters
    ----------
    epsilon : float
        Finite and > 0.
    assumed_users : float
        n₀, finite and > 0.
    q, level : int
        0 ≤ q ≤ ℓ.

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.

    References
    ----------
    Not in the paper, whose algorithm measures all levels; the level is that of its Appendix D.
    """
    checks.positive("epsilon", epsilon)
    checks.positive("assumed_users", assumed_users)
    checks.reals("q", q, 0, level)
    # Two logarithms, as the product may leave the range of floating point.
    half = 0.5 * (math.log2(epsilon) + math.log2(assumed_users))
    return min(max(round(half), q), level)


def schedule(
    epsilon: float,
    level: int,
    w: int,
    variant: Variant | str = Variant.EXPERIMENTS,
    gamma: float | None = None,
    last: int | None = None,
) -> Schedule:
    """Split ε over the levels.

    *Experiments*: ε_i ∝ γ^{i−q} for i = q..ℓ with γ = 1/√2; levels above q are not measured, and
    their rows are dropped from the reconstruction (errata heat-21). *Theory*: ε_i ∝ γ^{|i−q|} for
    i = 0..ℓ with γ = 0.8. With a depth cap L stands for ℓ.

    Parameters
    ----------
    epsilon : float
        Total, finite and > 0.
    level : int
        ℓ ≥ 0, with Δ = 2^ℓ.
    w : int
        Cells kept on every level, ≥ 1.
    variant : Variant or str
    gamma : float, optional
        Decay in (0, 1]; the variant's own if left out.
    last : int, optional
        Deepest level to measure, between the start level and ℓ; ℓ if left out. See `depth_cap`.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.

    References
    ----------
    Section 4 and Theorem 3.1 of the paper; ε_0 is missing from the printed parameter list
    (errata heat-7).
    """
    checks.positive("epsilon", epsilon)
    checks.reals("level", level, 0)
    variant = Variant(variant)
    if gamma is None:
        gamma = GAMMA_EXPERIMENTS if variant is Variant.EXPERIMENTS else GAMMA_THEORY
    checks.reals("gamma", gamma, 0.0, 1.0, open_low=True)
    q = start_level(w, level)
    start = q if variant is Variant.EXPERIMENTS else 0
    last = level if last is None else last
    checks.reals("last", last, start, level)
    weights = [gamma ** abs(i - q) if start <= i <= last else 0.0 for i in range(level + 1)]
    total = math.fsum(weights)
    parts = tuple(epsilon * (weight / total) for weight in weights)
    return Schedule(level, start, q, last, parts, variant)


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
        """Return the budget of one reading: e_i of draw 0, r_{i+1} of draw 1.

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
        """Return the budget of one reading, as `Budgets.of` does."""
        k = level - self.start
        return (self.left[k + 1] if draw else self.spent[k]) * self.unit

    def rounded(self) -> Budgets:
        """Return the nearest doubles, for computations on noisy counts."""
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
        If a level would get nothing, or a number is outside its domain. The check uses no data.
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
    shares = list(share) if isinstance(share, Sequence) else [share]
    if not shares:
        raise ValueError("share: there is none")
    for part in shares:
        if not 0 < part < 1:
            raise ValueError(f"share: {float(part):g} is outside (0, 1)")
    return [shares[min(k, len(shares) - 1)] for k in range(last - start)]
