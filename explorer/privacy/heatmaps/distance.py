"""Earth mover's distances of two heatmaps, for a process that may compile and take its time.

The solvers in `explorer.privacy.transport` are compiled on first use; this module names the two
questions without importing them, so that the asking process needn't.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from explorer.privacy.heatmaps.metrics import normalise, quick_bounds


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

    def stretched(self, shortest: float, longest: float) -> Interval:
        """Return an interval for the same maps under a metric with sides between these two."""
        return Interval(self.low * shortest, self.high * longest)


def quick_intervals(
    p: NDArray[Any], q: NDArray[Any], width: float, height: float
) -> tuple[Interval, Interval]:
    """Return intervals that need no solver, in the unit square and under sides of these lengths.

    Marginals below, pyramid norm above (`explorer.privacy.heatmaps.metrics.quick_bounds`).
    """
    found = quick_bounds(p, q)
    return (
        Interval(found.lower(), found.upper()),
        Interval(found.lower(width, height), found.upper(width, height)),
    )


def block_interval(p: NDArray[Any], q: NDArray[Any], blocks: int) -> Interval:
    """Return an interval in the unit square from the transport of blocks × blocks sums."""
    from explorer.privacy import transport

    low, high = transport.block_interval(normalise(p, "p"), normalise(q, "q"), blocks)
    return Interval(float(low), float(high))


def exact_distance(
    p: NDArray[Any], q: NDArray[Any], width: float = 1.0, height: float = 1.0
) -> Interval:
    """Return the exact distance under |Δx|·width + |Δy|·height, with its certificate's ends."""
    from explorer.privacy import transport

    rows, columns = p.shape
    found = transport.grid_emd(normalise(p, "p"), normalise(q, "q"), width / columns, height / rows)
    return Interval(float(found.lower), float(found.upper), exact=True)
