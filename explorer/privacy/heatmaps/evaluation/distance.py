"""Earth mover's distances of two heatmaps, as intervals that shrink to a number.

`quick_intervals` takes a few milliseconds and needs no solver. The other two compile on their first
call and take their time: run them in another process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from explorer.privacy.heatmaps.evaluation.metrics import normalise, quick_bounds
from explorer.privacy.transport import grid

EXACT_GAP = 1e-9
"""Largest certified gap of a distance that is called exact, in half perimeters of the map."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two numbers between which a distance is known to lie.

    `exact` says that they are the same number but for the solver's certified rounding.
    """

    low: float
    high: float
    exact: bool = False

    @property
    def value(self) -> float | None:
        """The distance if it is known, else None."""
        return (self.low + self.high) / 2 if self.exact else None

    def __and__(self, other: Interval) -> Interval:
        """Return what both intervals say together."""
        if self.exact or other.exact:
            return self if self.exact else other
        low, high = max(self.low, other.low), min(self.high, other.high)
        # Two certified intervals meet; rounding may leave a hair between their ends.
        return Interval(min(low, high), max(low, high))


def quick_intervals(
    p: NDArray[Any], q: NDArray[Any], width: float, height: float
) -> tuple[Interval, Interval]:
    """Return intervals that need no solver, in the unit square and under sides of these lengths.

    Marginals below, pyramid norm above
    (`explorer.privacy.heatmaps.evaluation.metrics.quick_bounds`).
    """
    found = quick_bounds(p, q)
    return (
        Interval(found.lower(), found.upper()),
        Interval(found.lower(width, height), found.upper(width, height)),
    )


def block_interval(
    p: NDArray[Any], q: NDArray[Any], blocks: int, width: float = 1.0, height: float = 1.0
) -> Interval:
    """Return an interval from the transport of at most blocks × blocks sums of cells."""
    rows, columns = p.shape
    found = grid.block_interval(
        normalise(p, "p"), normalise(q, "q"), width / columns, height / rows, blocks
    )
    return Interval(found.lower, found.upper)


def exact_distance(
    p: NDArray[Any], q: NDArray[Any], width: float = 1.0, height: float = 1.0
) -> Interval:
    """Return the distance under |Δx|·width + |Δy|·height between its certified ends.

    The ends are a rounding error apart; should they ever not be, the interval isn't called exact.
    """
    rows, columns = p.shape
    found = grid.grid_emd(normalise(p, "p"), normalise(q, "q"), width / columns, height / rows)
    return Interval(found.lower, found.upper, exact=found.gap <= EXACT_GAP * (width + height))
