"""Split of the privacy budget over the levels of the pyramid."""

import math
from dataclasses import dataclass
from enum import StrEnum

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS as PAPER, Reference

GAMMA_EXPERIMENTS = 1 / math.sqrt(2)
GAMMA_THEORY = 0.8


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


SCHEDULE_REFERENCE = Reference(
    PAPER,
    "Section 4 (schedule) and Algorithm 1",
    "ε₀ added, rows above q dropped: errata heat-7, heat-21",
)
