"""How the privacy budget is split over the levels of the pyramid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from explorer.privacy.bounds import Reference

PAPER = "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam and Valliappan 2022, DP heatmaps"

GAMMA_EXPERIMENTS = 1 / math.sqrt(2)
GAMMA_THEORY = 0.8


class Variant(StrEnum):
    """Which of the paper's two schedules."""

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
    epsilon : tuple of float, length ℓ+1
        ε_i of level i, 0 for levels that are not measured; the sum is ε.
    variant : Variant
    """

    level: int
    start: int
    q: int
    epsilon: tuple[float, ...]
    variant: Variant


def start_level(w: int, level: int) -> int:
    """Return q, the largest integer with 4^q ≤ w, but at most ℓ.

    In integers, since the printed ⌊log₂ √w⌋ can fall one short in floating point (errata 20).

    Raises
    ------
    ValueError
        If w < 1.
    """
    if w < 1:
        raise ValueError(f"w: {w} is below 1")
    return min((int(w).bit_length() - 1) // 2, level)


def schedule(
    epsilon: float,
    level: int,
    w: int,
    variant: Variant | str = Variant.EXPERIMENTS,
    gamma: float | None = None,
) -> Schedule:
    """Split ε over the levels.

    *Experiments*: ε_i ∝ γ^{i−q} for i = q..ℓ with γ = 1/√2; levels above q are not measured, and
    their rows are dropped from the reconstruction (errata 21). *Theory*: ε_i ∝ γ^{|i−q|} for
    i = 0..ℓ with γ = 0.8.

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
    (errata 7).
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon: {epsilon!r} is not a finite number above 0")
    if level < 0:
        raise ValueError(f"level: {level} is below 0")
    variant = Variant(variant)
    if gamma is None:
        gamma = GAMMA_EXPERIMENTS if variant is Variant.EXPERIMENTS else GAMMA_THEORY
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma: {gamma!r} is outside (0, 1]")
    q = start_level(w, level)
    start = q if variant is Variant.EXPERIMENTS else 0
    weights = [gamma ** abs(i - q) if i >= start else 0.0 for i in range(level + 1)]
    total = math.fsum(weights)
    parts = tuple(epsilon * weight / total for weight in weights)
    return Schedule(level, start, q, parts, variant)


SCHEDULE_REFERENCE = Reference(
    PAPER, "Section 4 (schedule) and Algorithm 1", "ε₀ added, rows above q dropped: errata 7, 21"
)
