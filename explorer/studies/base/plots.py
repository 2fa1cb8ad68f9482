"""Declarations of plots: curves, the sliders and curves shown by default, and claims.

A `Curve` holds everything that is known about one line of a plot: formula, role, source, names,
unit, statistic, colour, whether it is drawn by default and whether it may be claimed. A `Plot` is a
quantity with its curves and sliders. Headline, legend, comparison, exports and the command line
read them from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.studies.base.parameters import Quantity, Statistic
from explorer.studies.base.phrases import Headline
from explorer.studies.base.result import Mark, Result, Series

MAX_SLIDERS = 4
MAX_DEFAULT_CURVES = 5
MAX_LETTERS = 26
"""Of a curve's short name."""

COLOURS: Mapping[str, int] = {
    "Theorem 1 (Rényi)": 0,
    "without shuffling": 3,
    "T·εₛ": 4,
    "exact clones 2021": 6,
    "exact clones 2023": 2,
    "clones 2021, closed form": 0,
    "lower bound": 7,
    "worst case": 1,
    "clones + KOV": 8,
    "from (ε, δ) alone": 2,
    "nobody can promise more": 3,
    "nothing is seen": 4,
    "promised, as run": 5,
    "a trusted curator": 5,
    "without privacy": 2,
    "Proposition 4, part 2": 5,
}
"""Places in the palette of names that several studies have, so that they look alike in all."""

Text = str | Callable[[Any], str]
"""A text, or a function from `Points` to it."""


@dataclass(frozen=True, slots=True)
class ClaimText:
    """Meaning of a claimed number.

    Attributes
    ----------
    number : str
        ``ε ≤ 0.2078``, rounded to its safe side.
    lines : tuple of str
        The best that an observer can do, then the basis of that statement. Empty where the claim is
        not about privacy.
    promise : str
        The guarantee if a record is replaced; empty where the claim is not about privacy.
    pairs : tuple of (float, float)
        As of `Guarantee`; empty where the claim is not about privacy.
    when : str
        After what each client's record has this ε or δ: ``after 100,000 rounds``. Empty where the
        first of `lines` is the headline's sentence.
    """

    number: str
    lines: tuple[str, ...] = ()
    promise: str = ""
    pairs: tuple[tuple[float, float], ...] = ()
    when: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """The bounds that may be claimed of one quantity of a study.

    Attributes
    ----------
    among : tuple of str
        Keys of the series that may be claimed; of equal ones the first is.
    text : callable, optional
        From an answer, the claimed series and its value at the slider to a `ClaimText`; by default
        the number alone.
    kind : str
        ``bounds`` on one mechanism, or ``mechanisms`` under one promise.
    better : str
        Whether ``low`` (upper bounds) or ``high`` (lower ones) numbers are better.
    solves : str
        The parameter that *Solve* offers first; empty for the one on the x axis.
    besides : mapping of str to str
        Why a bound that is drawn beside them is never claimed, by the key of its series: it is of
        another mechanism, or under another promise.
    """

    among: tuple[str, ...]
    text: Callable[[Result, Series, float], ClaimText] | None = None
    kind: Literal["bounds", "mechanisms"] = "bounds"
    better: Literal["low", "high"] = "low"
    solves: str = ""
    besides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Curve:
    """One curve of a plot.

    Attributes
    ----------
    key : str
        Stable id: CSV column, claim, style lookup.
    label : str or callable
        Legend text without the role.
    short : str or mapping of str to str
        Name of at most 26 letters; empty if the label is that short. By label, if both vary.
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
    remark : str
        What a reader of the legend must know of its number; ``{eps}`` stands for that parameter
        and its value.
    statistic : Statistic or None
        What an error is over the draws of the noise; None for the statistic of the quantity.
    unit : str
        Unit of its number at the sliders.
    colour : int or None
        Place in the palette; None for that of its name (`curve_colours`).
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
    short: str | Mapping[str, str]
    role: Role
    source: Reference
    value: Callable[[Any], Any] | None = None
    where: Callable[[Any], Any] | None = None
    why: str = ""
    note: Text = ""
    primary: int = 1
    claimable: int = 0
    unclaimed: str = ""
    remark: str = ""
    statistic: Statistic | None = None
    unit: str = ""
    colour: int | None = None
    mark: Mark = Mark.LINE
    assumes: tuple[str, ...] = ()
    points: Callable[[Any], Any] | None = None
    draw: Callable[[Curve, Any], Series | None] | None = None

    def series(self, x: FloatArray, y: FloatArray, **fields: Any) -> Series:
        """Return the curve through points that are computed elsewhere, drawn as declared."""
        return Series(
            self.key, str(self.label), self.role, x, y, self.source, mark=self.mark, **fields
        )

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
    claim_text : callable, optional
        From an answer, the claimed series and its value at the sliders to the text of the claim; by
        default the number alone.
    headline : callable, optional
        From an answer and its `ClaimedBound` (or None) to the headline; by default the text of the
        claim.
    """

    quantity: Quantity
    curves: tuple[Curve, ...]
    sliders: tuple[str, ...]
    better: Literal["low", "high"] = "low"
    kind: Literal["bounds", "mechanisms"] = "bounds"
    solves: str = ""
    claim_text: Callable[[Result, Series, float], ClaimText] | None = None
    headline: Callable[[Result, Any], Headline | None] | None = None

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


def curve_names(curve: Curve) -> tuple[str, ...]:
    """Return the names by which a curve is known in all plots; its key if only the label varies."""
    if isinstance(curve.short, str):
        return (curve.short or (curve.label if isinstance(curve.label, str) else curve.key),)
    return tuple(curve.short.values())


def name_at(curve: Curve, label: str) -> str:
    """Return the one of `curve_names` that goes with a label."""
    return curve_names(curve)[0] if isinstance(curve.short, str) else curve.short[label]


def name_without_variant(curve: Curve) -> str:
    """Return the words that all names of a curve share; empty if only its label varies."""
    if isinstance(curve.short, str):
        return curve.short or (curve.label if isinstance(curve.label, str) else "")
    first, *others = (name.split() for name in curve.short.values())
    return " ".join(word for word in first if all(word in other for other in others))


def short_names(plots: Sequence[Plot]) -> dict[str, str]:
    """Return short names of curves by key, or by label if several go with a key."""
    found: dict[str, str] = {}
    for curve in (curve for plot in plots for curve in plot.curves if curve.short):
        found |= {curve.key: curve.short} if isinstance(curve.short, str) else dict(curve.short)
    return found


def curve_colours(plots: Sequence[Plot]) -> dict[tuple[str, str], int]:
    """Return the place in the palette of every curve, by key of the quantity and name.

    A name has one place in all plots of a study, and that of `COLOURS` in all studies. Other names
    take the lowest place that no curve beside them has, in order of their first appearance.
    """
    beside: dict[str, set[str]] = {}
    for plot in plots:
        names = [name for curve in plot.curves for name in curve_names(curve)]
        for name in names:
            beside.setdefault(name, set()).update(names)
    declared = {
        name: c.colour
        for p in plots
        for c in p.curves
        for name in curve_names(c)
        if c.colour is not None
    }
    places = {name: COLOURS[name] for name in beside if name in COLOURS} | declared
    for name, others in beside.items():
        if name not in places:
            taken = {places[other] for other in others if other in places}
            places[name] = next(place for place in count() if place not in taken)
    return {
        (p.quantity.key, name): places[name]
        for p in plots
        for c in p.curves
        for name in curve_names(c)
    }
