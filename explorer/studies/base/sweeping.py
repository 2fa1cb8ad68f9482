"""Points of a sweep, and curves and scalars from bounds at these points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, running_best
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.result import Mark
from explorer.studies.base.study import (
    Kind,
    Request,
    ScalarResult,
    Series,
    Study,
    Sweep,
    default_sweep,
    parameter,
    quantity,
)


def evenly_spread(count: int, most: int) -> IntArray:
    """Return at most so many of `count` indices, evenly spread, both ends among them."""
    return np.unique(np.rint(np.linspace(0, count - 1, min(count, most))).astype(int))


@dataclass(frozen=True)
class SweptPoints:
    """Points of a sweep, followed by the sliders' own point.

    The sliders' point is included so that the numbers beside a plot are those of the plot.

    Attributes
    ----------
    sweep : Sweep
    x : ndarray of float, shape (N,)
        Values on the x axis.
    columns : dict of ndarray of float, shape (N + 1,)
        Every numeric parameter's value at each point; the last entry is the sliders' value.
    """

    sweep: Sweep
    x: FloatArray
    columns: dict[str, FloatArray]

    def __getitem__(self, key: str) -> FloatArray:
        return self.columns[key]

    def downsampled(self, points: int) -> SweptPoints:
        """Return about so many of the points, both ends and the sliders' among them."""
        if self.x.size <= points:
            return self
        return self._kept(evenly_spread(self.x.size, points))

    def placed(self, points: int, value: Callable[[SweptPoints], FloatArray]) -> SweptPoints:
        """Return so many of the points, close together where a curve bends.

        Between few points curves are drawn as straight lines. Every third of the points is spread
        evenly, the others halve the gaps in which lines may err most, by the slopes beside them.

        Parameters
        ----------
        points : int
        value : callable
            From points to the curve there, the sliders' last; positive, drawn on a log scale.
        """
        if self.x.size <= points:
            return self
        kept = evenly_spread(self.x.size, max(points // 3, 3))
        while kept.size < points:
            gaps = np.diff(kept)
            with np.errstate(divide="ignore", invalid="ignore"):
                height = np.log(value(self._kept(kept))[:-1])
                bends = np.abs(np.diff(np.diff(height) / gaps)) / (gaps[:-1] + gaps[1:])
            # A bend within a gap shows at both of its ends, one beside it at the nearer one.
            beside = np.pad(np.nan_to_num(bends, nan=0.0, posinf=0.0), 1, "edge")
            errors = np.where(gaps > 1, np.minimum(beside[:-1], beside[1:]) * gaps**2, -1.0)
            most = np.argsort(-errors, kind="stable")[: min(2, points - kept.size)]
            most = most[errors[most] >= 0]
            kept = np.union1d(kept, kept[most] + gaps[most] // 2)
        return self._kept(kept)

    def _kept(self, places: Any) -> SweptPoints:
        """Return the points at these places, and the sliders' own."""
        both = np.append(places, self.x.size)
        columns = {key: column[both] for key, column in self.columns.items()}
        return SweptPoints(self.sweep, self.x[places], columns)

    def only_sliders(self) -> SweptPoints:
        """Return the sliders' own point alone."""
        own = {k: v[[-1, -1]] for k, v in self.columns.items()}
        return SweptPoints(self.sweep, own[self.sweep.key][:1], own)

    def with_sliders(self) -> SweptPoints:
        """Return the points with the sliders' own on the curve, too, if it lies between them.

        Between few points the interpolated value would differ from the number beside the plot.
        """
        return self.with_point(float(self[self.sweep.key][-1]))

    def with_point(self, x: float) -> SweptPoints:
        """Return the points with one more, if it lies between them; all else as at the sliders.

        Where a curve ends would else be known up to the distance of two points.
        """
        low, high = self.x[0], self.x[-1]
        if not low < x < high or (np.abs(self.x - x) <= 1e-12 * abs(x)).any():
            return self
        at = int(np.searchsorted(self.x, x))
        columns = {
            k: np.insert(v, at, x if k == self.sweep.key else v[-1])
            for k, v in self.columns.items()
        }
        return SweptPoints(self.sweep, np.insert(self.x, at, x), columns)


def swept_points(study: Study, request: Request) -> SweptPoints:
    """Return the points a request asks about.

    Raises
    ------
    ValueError
        If the quantity can't be swept over what is asked, or an axis-only parameter is set.
    """
    allowed = quantity(study, request.quantity).sweeps
    sweep = request.sweep or default_sweep(study, allowed[0])
    if sweep.key not in allowed:
        raise ValueError(
            f"sweep: {request.quantity} can be swept over {', '.join(allowed)}, "
            f"not over {sweep.key!r}"
        )
    for p in study.parameters:
        if p.axis_only and request[p.key] != p.default:
            raise ValueError(f"{p.key}: {p.symbol} can only be an axis; it can't be set")
    x = parameter(study, sweep.key).grid(sweep.low, sweep.high, sweep.points, sweep.scale)
    columns = {
        p.key: np.full(x.size + 1, float(request[p.key]))
        for p in study.parameters
        if p.kind in (Kind.REAL, Kind.INTEGER)
    }
    columns[sweep.key][:-1] = x
    return SweptPoints(sweep, x, columns)


def carry_bound(
    bound: Bound, points: SweptPoints, weaker: Mapping[str, int], *, largest: bool = False
) -> Bound:
    """Return a bound that is nowhere worse than at a point with a stricter promise.

    A bound under a stricter promise holds under a weaker one too: the better of the two numbers is
    used, and that of the stricter promise where the weaker one's own argument does not hold.

    Parameters
    ----------
    bound : Bound
        At `points`.
    points : SweptPoints
    weaker : mapping
        Along which axes the promise gets weaker: 1 as their number rises, −1 as it falls. On
        another axis the bound stays as it is.
    largest : bool
        Whether larger numbers are better, as of what may be used.
    """
    turn = weaker.get(points.sweep.key, 0)
    if not turn:
        return bound
    order = np.argsort(turn * points[points.sweep.key], kind="stable")
    values = bound.value[order]
    best = running_best(values, np.fmax if largest else np.fmin)
    # Index of the point that each best number comes from; unknown numbers keep their own.
    place = np.arange(values.size)
    own: BoolArray = (values == best) | np.isnan(best)
    source = order[np.maximum.accumulate(np.where(own, place, 0))]
    at = np.empty_like(source)
    at[order] = source
    valid = bound.valid[at]
    return replace(
        bound,
        value=bound.value[at],
        valid=valid,
        truncated=bound.truncated[at],
        reason="" if valid.all() else bound.reason,
    )


def series_from(
    key: str,
    label: str,
    points: SweptPoints,
    bound: Bound,
    *,
    note: str = "",
    mark: Mark = Mark.LINE,
    low: FloatArray | None = None,
    high: FloatArray | None = None,
    assumes: tuple[str, ...] = (),
) -> Series:
    """Return the curve of a bound evaluated at `points` (the sliders' point, last, left out)."""
    y = bound.value[:-1]
    cut = "in places a certified bound in the safe direction, not the sharpest"
    notes = [note, cut if bound.truncated[:-1].any() else ""]
    return Series(
        key,
        label,
        bound.role,
        points.x,
        y,
        bound.reference,
        low=None if low is None else low[:-1],
        high=None if high is None else high[:-1],
        undefined_reason=bound.reason if np.isnan(y).any() else "",
        note="; ".join(n for n in notes if n),
        mark=mark,
        formula=True,
        grade=bound.grade,
        assumes=assumes,
    )


def scalar_from(
    key: str, label: str, bound: Bound, *, unit: str = "", note: str = ""
) -> ScalarResult:
    """Return the number at the sliders' point (the last of a bound's values)."""
    value = float(bound.value[-1])
    if not bound.valid[-1]:
        return ScalarResult(key, label, None, bound.role, unit, note=bound.reason)
    cut = "certified in the safe direction, not the sharpest" if bound.truncated[-1] else ""
    notes = "; ".join(n for n in (note, cut) if n)
    return ScalarResult(key, label, value, bound.role, unit, note=notes)
