"""A known randomiser: all that its shuffled messages are bounded by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.randomisers import blanket
from explorer.privacy.randomisers.blanket import Blanket
from explorer.privacy.randomisers.crowd import FINE, Crowd
from explorer.privacy.randomisers.tables import (
    local_epsilon,
    ordered_pairs,
    table_blanket,
    table_variation_ratio,
)

_SQUARE = 6
"""Most outcomes of k-ary randomised response that is also taken as a table."""


class Family(StrEnum):
    """A randomiser given by ε₀ and at most one number."""

    K_ARY = "krr"
    UNARY = "unary"
    LAPLACE = "laplace"
    TWO_LEVEL = "privunit"
    COORDINATE = "rinf"
    """R_∞ of Girgis, Data & Diggavi: a random coordinate's sign by randomised response."""


@dataclass(frozen=True)
class Known:
    """Bounds of a known randomiser's shuffled messages.

    Attributes
    ----------
    eps0 : float
        ε₀; may be infinite.
    blankets : tuple of Blanket
        Of every ordered pair of inputs, those likely to leak most first.
    ratios : tuple of Blanket
        The same by variation-ratio; empty where a ratio is infinite.
    table : ndarray of float or None
        Its probabilities, where they are few.
    """

    eps0: float
    blankets: tuple[Blanket, ...]
    ratios: tuple[Blanket, ...]
    table: FloatArray | None = None


def known_family(
    family: Family, eps0: float, outcomes: int = 2, kept: float = 0.5, theta: float = 0.5
) -> Known:
    """Return what is known of a family.

    Parameters
    ----------
    family : Family
    eps0 : float
        In (0, 50].
    outcomes : int
        k of k-ary randomised response.
    kept : float
        p of unary encoding; q follows from ε₀.
    theta : float
        Share of the sphere inside a cap.
    """
    ratio = math.exp(eps0)
    table = None
    if family is Family.UNARY:
        other = blanket.unary_set(eps0, kept)
        law, apart = blanket.unary(kept, other), kept - other
    elif family is Family.LAPLACE:
        law, apart = blanket.laplace(eps0), -math.expm1(-eps0 / 2)
    else:
        share = {Family.K_ARY: 1 / outcomes, Family.COORDINATE: 0.5}.get(family, theta)
        law = blanket.two_level(eps0, share)
        apart = (ratio - 1) * share / (1 + (ratio - 1) * share)
        if family is Family.K_ARY and outcomes <= _SQUARE:
            table = (np.ones((outcomes, outcomes)) + (ratio - 1) * np.eye(outcomes)) / (
                outcomes + ratio - 1
            )
    return Known(eps0, (law,), (blanket.variation_ratio(apart, ratio, ratio),), table)


def known_table(table: FloatArray) -> Known:
    """Return what is known of a table as `checked_table` returns it."""
    pairs = ordered_pairs(table)
    ratios = [table_variation_ratio(table, i, j) for i, j in pairs]
    return Known(
        local_epsilon(table),
        _unlike(table_blanket(table, i, j) for i, j in pairs),
        () if None in ratios else _unlike(law for law in ratios if law is not None),
        table,
    )


def worst_epsilon(
    laws: tuple[Blanket, ...], n: float, delta: float, blur: float = FINE, guess: float = 0.0
) -> float:
    """Return an upper bound on ε at δ of n messages, the largest of all laws; may be infinite.

    `guess`, where it is above 0, is about what it may be.
    """
    worst = 0.0
    for law in laws:
        crowd = Crowd(law, n, blur)
        # Most pairs leak less than the first.
        if worst == 0 or (math.isfinite(worst) and crowd.delta(worst) > delta):
            worst = max(worst, crowd.epsilon(delta, worst or guess))
    return worst


def worst_delta(laws: tuple[Blanket, ...], n: float, epsilon: float, blur: float = FINE) -> float:
    """Return an upper bound on δ at ε of n messages, the largest of all laws."""
    return max(Crowd(law, n, blur).delta(epsilon) for law in laws)


def _unlike(laws: Iterable[Blanket]) -> tuple[Blanket, ...]:
    """Return the laws without those that are others in another order of messages."""
    found: dict[bytes, Blanket] = {}
    for law in laws:
        rows = np.stack([law.first, law.second, law.mass])
        found.setdefault(rows[:, np.lexsort(rows)].tobytes(), law)
    return tuple(found.values())
