"""Base class of studies whose answers are curves, each declared once.

A `Curve` holds everything that is known about one line of a plot: formula, role, source, names,
unit, statistic, colour, whether it is drawn by default and whether it may be claimed. A `Plot` is a
quantity with its curves and sliders. `CurveStudy` derives quantities, claims, defaults and short
names from its plots and evaluates the curves at the points of a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.studies.base.claims import ClaimedBound, number_text
from explorer.studies.base.result import Mark
from explorer.studies.base.study import (
    Claim,
    ClaimText,
    Condition,
    Context,
    Face,
    Fidelity,
    Guarantee,
    Headline,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Series,
    Statistic,
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


Text = str | Callable[[Any], str]
"""A text, or a function from `Points` to it."""


@dataclass(frozen=True)
class Curve:
    """One curve of a plot.

    Attributes
    ----------
    key : str
        Stable id: CSV column, claim, style lookup.
    label : str or callable
        Legend text without the role.
    short : str
        Name of at most 26 letters; empty if the label is that short.
    role : Role
    source : Reference
    value : callable
        From `Points` to y values, one a point, or to a `Bound`, which then takes the place of
        `role`, `source`, `where` and `why`; None if the curve is not part of this answer.
    where : callable, optional
        From `Points` to where the statement holds, a bool a point; everywhere by default.
    why : str
        Reason given where it does not hold.
    note : str or callable
        What else a reader must know.
    primary : int
        Rank among the curves that are drawn by default; 0 if it is not one of them. Equal ranks
        keep the order of the plot.
    claimable : int
        Rank among the curves that may be claimed, of which the lowest wins where values are equal;
        0 if it may not.
    unclaimed : str
        Why a bound beside claimable ones is never claimed: it is of another mechanism, or under
        another promise.
    statistic : Statistic or None
        What an error is over the draws of the noise; None for the statistic of the quantity.
    unit : str
        Unit of its number at the sliders.
    colour : int or None
        Place in the palette; None for its place among the curves of the answer.
    mark : Mark
    assumes : tuple of str
        Ids of the conditions that it needs beyond those of the whole answer.
    points : callable, optional
        From `Points` to the fewer ones at which it is computed.
    draw : callable, optional
        From the curve and `Points` to the `Series`, in place of `value`, for what is no function of
        the sweep's points (dots, bands); None if it is not part of this answer. A curve that is
        drawn so has no number at the sliders.
    """

    key: str
    label: Text
    short: str
    role: Role
    source: Reference
    value: Callable[[Any], Any] | None = None
    where: Callable[[Any], Any] | None = None
    why: str = ""
    note: Text = ""
    primary: int = 1
    claimable: int = 0
    unclaimed: str = ""
    statistic: Statistic | None = None
    unit: str = ""
    colour: int | None = None
    mark: Mark = Mark.LINE
    assumes: tuple[str, ...] = ()
    points: Callable[[Any], Any] | None = None
    draw: Callable[[Curve, Any], Series | None] | None = None

    def bound(self, p: Any) -> Bound | None:
        """Return its values at all points; None if it is not part of this answer."""
        value = None if self.value is None else self.value(p)
        if value is None or isinstance(value, Bound):
            return value
        value = np.asarray(value, float)
        valid = np.ones(value.shape, bool) if self.where is None else np.asarray(self.where(p))
        return Bound(value, self.role, self.source, valid, "" if valid.all() else self.why)


@dataclass(frozen=True)
class Plot:
    """A quantity, its curves, and which sliders are shown by default.

    Attributes
    ----------
    quantity : Quantity
    curves : tuple of Curve
        In the order in which they are drawn and take colours.
    sliders : tuple of str
        Keys of the three or four parameters that have a slider by default.
    better : str
        Whether ``low`` (upper bounds) or ``high`` (lower ones) numbers are better.
    kind : str
        Whether claimable curves are ``bounds`` on one mechanism, or ``mechanisms`` under one
        promise.
    solves : str
        The parameter that *Solve* offers first; empty for the one on the x axis.
    claim_text : callable
        From an answer, the claimed series and its value at the sliders to the text of the claim.
    headline : callable, optional
        From an answer and what is claimed of it (or None) to the headline; by default the text of
        the claim.
    """

    quantity: Quantity
    curves: tuple[Curve, ...]
    sliders: tuple[str, ...]
    better: Literal["low", "high"] = "low"
    kind: Literal["bounds", "mechanisms"] = "bounds"
    solves: str = ""
    claim_text: Callable[[Result, Series, float], ClaimText] = field(default=number_text)
    headline: Callable[[Result, ClaimedBound | None], Headline | None] | None = None

    @property
    def primary(self) -> tuple[str, ...]:
        """Keys of the curves that are drawn by default."""
        ranked = sorted((c for c in self.curves if c.primary), key=lambda c: c.primary)
        return tuple(c.key for c in ranked)

    @property
    def claim(self) -> Claim | None:
        """What may be claimed of the quantity; None if nothing may."""
        ranked = sorted((c for c in self.curves if c.claimable), key=lambda c: c.claimable)
        if not ranked:
            return None
        return Claim(
            tuple(c.key for c in ranked),
            self.claim_text,
            self.kind,
            self.better,
            self.solves,
            {c.key: c.unclaimed for c in self.curves if c.unclaimed},
        )


class CurveStudy(Study):
    """A study whose answers are curves.

    Subclasses declare `plots` and what else `Study` asks for, and override the methods for the
    parts of an answer that they have: `conditions`, `guarantee`, `readouts`, `tables`, `notes`,
    `stages` if there are coarse answers, `simulation` if dots are simulated after the last one.
    """

    plots: ClassVar[tuple[Plot, ...]]
    points: ClassVar[type[Points]] = Points

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        curves = [curve for plot in cls.plots for curve in plot.curves]
        cls.quantities = tuple(plot.quantity for plot in cls.plots)
        cls.short_names = {curve.key: curve.short for curve in curves if curve.short}
        cls.faces = {
            plot.quantity.key: Face(plot.sliders, plot.primary, plot.headline) for plot in cls.plots
        }
        cls.claims = {p.quantity.key: claim for p in cls.plots if (claim := p.claim) is not None}
        if "references" not in cls.__dict__:
            cls.references = tuple(dict.fromkeys(curve.source for curve in curves))

    def stages(self, p: Any) -> Iterable[Any]:
        """Return the points of every answer to come, coarse ones first.

        A request for a coarse answer gets the first. By default there is one answer, at `p`.
        """
        return (p,)

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
        series = tuple(s for curve in self.curves(p) if (s := self._series(curve, p)) is not None)
        p.context.check()
        return Result(
            p.request,
            p.fidelity,
            series=series,
            tables=self.tables(p),
            space=p.space.picture if self._has_space(p.request) else None,
            readouts=self.readouts(p),
            conditions=self.conditions(p),
            guarantee=self.guarantee(p),
            notes=self.notes(p),
            complete=complete,
        )

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the answer of every stage, then those with simulated curves."""
        stages = tuple(self.stages(self.points(swept_points(self, request), request, context)))
        if request.fidelity is Fidelity.COARSE:
            stages = stages[:1]
        for p in stages:
            context.check()
            last = p is stages[-1]
            simulation = self.simulation(p) if last and not p.coarse else None
            result = self.result(p, complete=last and simulation is None)
            yield result
            if simulation is not None:
                yield from simulation(result)

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
        return None if series is None else replace(series, colour=curve.colour)

    @staticmethod
    def _has_space(request: Request) -> bool:
        return any(key == "space" for key, _ in request.values)


def _text(text: Text, p: Any) -> str:
    return text if isinstance(text, str) else text(p)
