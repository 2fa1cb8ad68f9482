"""Base class of studies whose answers are curves.

`CurveStudy` evaluates the curves of its plots (`explorer.studies.base.plots`) at the points of a
request, in one or several stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray
from explorer.studies.base.plots import Curve, Text, name_at
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Request,
    Result,
    ScalarResult,
    Series,
    Study,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, scalar_from, series_from, swept_points
from explorer.studies.metric_space.space import RequestSpace, space_of


class Points:
    """Parameter values at the points of a sweep, numeric parameters as attributes.

    ``p.eps`` is an array with one entry a point; its last entry is the slider's value. Subclasses
    add derived quantities as cached properties, so that several curves share them.

    Parameters
    ----------
    swept : SweptPoints
    request : Request
    context : Context
    fidelity : Fidelity, optional
        That of the answer that is computed; the request's by default.
    """

    def __init__(
        self,
        swept: SweptPoints,
        request: Request,
        context: Context,
        fidelity: Fidelity | None = None,
    ) -> None:
        self.swept, self.request, self.context = swept, request, context
        self.fidelity = request.fidelity if fidelity is None else fidelity
        self.bounds: dict[str, Bound] = {}
        """Bounds of the curves of this answer, by key of the curve, once they are computed."""

    def __getattr__(self, key: str) -> FloatArray:
        # Not self.swept, which would recur without end before __init__ has run.
        swept = self.__dict__.get("swept")
        if swept is None or key not in swept.columns:
            raise AttributeError(f"{type(self).__name__} has no parameter or property {key!r}")
        return swept.columns[key]  # type: ignore[no-any-return]

    @property
    def coarse(self) -> bool:
        """Whether the answer is a coarse one."""
        return self.fidelity is Fidelity.COARSE

    @property
    def here(self) -> Any:
        """Values of the numeric parameters at the sliders, as floats: ``p.here.eps``."""
        return SimpleNamespace(**{k: float(v[-1]) for k, v in self.swept.columns.items()})

    @cached_property
    def space(self) -> RequestSpace:
        """The metric space of the request; only of studies that have space parameters."""
        return space_of(self.request, self.context)

    def at(self, swept: SweptPoints, fidelity: Fidelity | None = None) -> Self:
        """Return the same request at other points, or in an answer of other fidelity."""
        return type(self)(
            swept, self.request, self.context, self.fidelity if fidelity is None else fidelity
        )

    def thinned(self, count: int, fidelity: Fidelity | None = None) -> Self:
        """Return about so many of the points, both ends and the sliders' among them."""
        return self.at(self.swept.downsampled(count), fidelity)


class CurveStudy(Study):
    """A study whose answers are curves.

    Subclasses declare `plots` and what else `Study` asks for, and override the methods for the
    parts of an answer that they have: `conditions`, `guarantee`, `readouts`, `tables`, `notes`,
    `stages` if there are coarse answers, `simulation` if dots are simulated after the last one.
    """

    points: ClassVar[type[Points]] = Points

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "references" not in cls.__dict__:
            sources = [curve.source for plot in cls.plots for curve in plot.curves]
            cls.references = tuple(dict.fromkeys(sources))

    def stages(self, p: Any) -> Iterable[Any]:
        """Return the points of every answer to come, coarse ones first.

        A request for a coarse answer gets the first. By default there is one answer, at `p`.
        """
        return (p,)

    def claimed_number(self, p: Any) -> tuple[Curve, Any] | None:
        """Return the curve that is claimed by default, and its points at the sliders alone.

        For studies whose first stage would take longer than a frame, or lacks that curve: its
        number is then the first answer. None where there is no need.
        """
        return None

    def simulation(self, p: Any) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds simulated curves to the last answer; None without any."""
        return None

    def curves(self, p: Any) -> Iterable[Curve]:
        """Return the curves of an answer, in order: by default those of the quantity's plot."""
        (plot,) = (plot for plot in self.plots if plot.quantity.key == p.request.quantity)
        return plot.curves

    def readouts(self, p: Any) -> tuple[ScalarResult, ...]:
        """Return the numbers at the sliders: by default one a curve."""
        return tuple(
            scalar_from(c.key, _text(c.label, p), b, unit=c.unit, note=_text(c.note, p))
            for c in self.curves(p)
            if (b := p.bounds.get(c.key)) is not None
        )

    def conditions(self, p: Any) -> tuple[Condition, ...]:
        """Return what must hold at the sliders' values."""
        return ()

    def guarantee(self, p: Any) -> Guarantee | None:
        """Return what is guaranteed at the sliders' values."""
        return None

    def tables(self, p: Any) -> tuple[Table, ...]:
        """Return tables at the sliders' values."""
        return ()

    def notes(self, p: Any) -> tuple[str, ...]:
        """Return notes on the answer: by default those on its metric space."""
        if not self._has_space(p.request):
            return ()
        return tuple(note for note in (p.space.missing, *p.space.notes) if note)

    def result(self, p: Any, *, complete: bool) -> Result:
        """Return the answer at some points."""
        drawn = []
        for curve in self.curves(p):
            drawn.append(self._series(curve, p))
            p.context.check()  # a newer request's number is computed meanwhile
        parts: dict[str, Any] = {}
        for part in ("tables", "readouts", "conditions", "guarantee", "notes"):
            parts[part] = getattr(self, part)(p)
            p.context.check()
        return Result(
            p.request,
            p.fidelity,
            series=tuple(s for s in drawn if s is not None),
            space=p.space.picture if self._has_space(p.request) else None,
            complete=complete,
            **parts,
        )

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the claimed number, the answer of every stage, those with simulated curves."""
        p = self.points(swept_points(self, request), request, context)
        if request.fidelity is Fidelity.COARSE:
            stages = tuple(self.stages(p))[:1]
        else:
            if (number := self.claimed_number(p)) is not None:
                yield self._number(*number)
            stages = tuple(self.stages(p))
        for p in stages:
            context.check()
            last = p is stages[-1]
            simulation = self.simulation(p) if last and not p.coarse else None
            result = self.result(p, complete=last and simulation is None)
            yield result
            if simulation is not None:
                yield from simulation(result)

    def _number(self, curve: Curve, p: Any) -> Result:
        """Return an answer that has one number at the sliders, and its curve yet to come."""
        bound = curve.bound(p)
        assert bound is not None
        p.bounds[curve.key] = bound
        label, none = _text(curve.label, p), np.empty(0)
        p.context.check()
        return Result(
            p.request,
            Fidelity.COARSE,
            series=(
                Series(
                    curve.key,
                    label,
                    bound.role,
                    none,
                    none,
                    bound.reference,
                    mark=curve.mark,
                    formula=True,
                    grade=bound.grade,
                    assumes=curve.assumes,
                    computing=True,
                    colour=self._colour(curve, p, label),
                ),
            ),
            readouts=(
                scalar_from(curve.key, label, bound, unit=curve.unit, note=_text(curve.note, p)),
            ),
            curve_follows=True,
        )

    def _series(self, curve: Curve, p: Any) -> Series | None:
        """Draw a curve, and keep its bound in `p.bounds`."""
        drawn = p if curve.points is None else curve.points(p)
        if curve.draw is not None:
            series = curve.draw(curve, drawn)
        else:
            bound = curve.bound(drawn)
            if bound is None:
                return None
            p.bounds[curve.key] = bound
            series = series_from(
                curve.key,
                _text(curve.label, p),
                drawn.swept,
                bound,
                note=_text(curve.note, p),
                mark=curve.mark,
                assumes=curve.assumes,
            )
        return (
            None if series is None else replace(series, colour=self._colour(curve, p, series.label))
        )

    def _colour(self, curve: Curve, p: Any, label: str) -> int | None:
        return self.colours.get((p.request.quantity, name_at(curve, label)), curve.colour)

    @staticmethod
    def _has_space(request: Request) -> bool:
        return any(key == "space" for key, _ in request.values)


def with_late_curve(
    answer: Result,
    curve: Curve,
    p: Points,
    bound: Bound,
    lower: FloatArray | None = None,
) -> Result:
    """Return an answer with a curve that it only announced, or with its number alone.

    Parameters
    ----------
    answer : Result
        Has a series of the curve's key, if points are given.
    curve : Curve
        An upper bound.
    p : Points
        Where it was computed; the sliders' point last. With that point alone the curve is still to
        come.
    bound : Bound
    lower : ndarray of float, optional
        A lower bound at these points: the curve then has the bracket between them as its band.
    """
    label, note = _text(curve.label, p), _text(curve.note, p)
    number = scalar_from(curve.key, label, bound, unit=curve.unit, note=note)
    readouts = (*(r for r in answer.readouts if r.key != curve.key), number)
    if not p.swept.x.size:
        return replace(answer, readouts=readouts)
    series = series_from(curve.key, label, p.swept, bound, note=note, assumes=curve.assumes)
    if lower is not None:
        both = np.isfinite(lower[:-1]) & np.isfinite(series.y)
        low, high = (np.where(both, edge, np.nan) for edge in (lower[:-1], series.y))
        series = replace(series, low=low, high=high)
    drawn = tuple(
        replace(series, colour=s.colour) if s.key == curve.key else s for s in answer.series
    )
    return replace(answer, series=drawn, readouts=readouts)


def _text(text: Text, p: Any) -> str:
    return text if isinstance(text, str) else text(p)
