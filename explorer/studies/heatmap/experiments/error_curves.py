"""Error against ε, and against what else can be chosen: which trials, and the curves they make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Request
from explorer.studies.heatmap.contributions import RULE
from explorer.studies.heatmap.experiments.plan import Point, Row, Trials
from explorer.studies.heatmap.experiments.sources import Place, Source
from explorer.studies.heatmap.experiments.statistics import QUANTILES, summarise
from explorer.studies.heatmap.experiments.synthetic import FILLED_SHARES
from explorer.studies.heatmap.experiments.trial import LEAST, Found, Trial
from explorer.studies.heatmap.mechanisms import MECHANISMS

DRAWS = 20
"""Draws a point at first."""
MAX_CURVES = 5
"""Mechanisms that are compared at once."""
STAGES = (1, 3)
"""Every curve has so many draws a point before any has more: coarse first."""
OFTEN = 0.9
"""The share of draws that are to be at least as good as a target: 9 of 10."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What a curve may be drawn over.

    Attributes
    ----------
    key : str
        Parameter of the heatmap study, or ``users``.
    symbol, name : str
    values : tuple
        Where it is computed, from left to right.
    of_data : bool
        Whether it is no setting but tells one made data set from another.
    """

    key: str
    symbol: str
    name: str
    values: tuple[Any, ...]
    of_data: bool = False


EPSILONS = tuple(float(f"{x:.3g}") for x in np.geomspace(0.05, 12.8, 12))
AXES = {
    axis.key: axis
    for axis in (
        Axis("epsilon", "ε", "more private to the left", EPSILONS),
        Axis("users", "n", "users", (25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000)),
        Axis("resolution", "Δ", "cells on a side", ("32", "64", "128", "256", "512")),
        Axis("w", "w", "cells kept on a level", (5, 10, 20, 40, 80, 160)),
        Axis("sigma", "σ", "blur, in sides of the map", (0.005, 0.01, 0.02, 0.04, 0.08)),
        Axis("filled", "filled cells", "share with a point", FILLED_SHARES, of_data=True),
    )
}


@dataclass(frozen=True, slots=True)
class Measure:
    """What says how near a map is to the true one.

    Attributes
    ----------
    key : str
        One of `explorer.studies.heatmap.experiments.trial.MEASURES`.
    name, unit : str
    says : str
        What is said of a map that reaches a target, which stands for the braces.
    low_is_good : bool
    target : float
        What one might begin to ask for; of kilometres, on a map as large as a city
        (`first_target`).
    """

    key: str
    name: str
    unit: str
    says: str
    low_is_good: bool
    target: float

    @property
    def log(self) -> bool:
        """Whether it is drawn on a logarithmic axis."""
        return self.low_is_good

    def written(self, number: str) -> str:
        """Return a number with its unit."""
        return f"{number} {self.unit}".rstrip()

    @property
    def quantile(self) -> float:
        """Which quantile of the draws `OFTEN` of them are at least as good as."""
        return OFTEN if self.low_is_good else round(1 - OFTEN, 12)


MEASURES = {
    measure.key: measure
    for measure in (
        Measure("emd_km", "error in km", "km", "is off by less than {}", True, 1.0),
        Measure(
            "emd", "error in sides of the map", "of its side", "is off by less than {}", True, 0.05
        ),
        Measure("similarity", "similarity", "", "has a similarity of at least {}", False, 0.8),
        Measure("pearson", "Pearson r", "", "has a correlation of at least {}", False, 0.9),
        Measure("kl", "KL divergence", "nats", "has a KL divergence below {}", True, 0.5),
    )
}


def measure_of(key: str, region: Region | None) -> Measure:
    """Return a measure as it is called on the plane of a region: in its unit, not in kilometres."""
    measure = MEASURES[key]
    if key != "emd_km" or region is None or region.plane is None:
        return measure
    return replace(measure, name=f"error in {region.unit}", unit=region.unit)


CITY_KM = 35.0
"""Geometric mean of a map's sides on which one begins with `Measure.target` kilometres."""


def first_target(measure: Measure, sides_km: tuple[float, float] | None) -> float:
    """Return what one might begin to ask for on a map of this size: 1, 2 or 5 times 10ⁿ km."""
    if measure.key != "emd_km" or sides_km is None:
        return measure.target
    wanted = measure.target * math.sqrt(sides_km[0] * sides_km[1]) / CITY_KM
    round_numbers = (m * 10.0**n for n in range(-4, 5) for m in (1, 2, 5))
    return min(round_numbers, key=lambda number: abs(math.log(number / wanted)))


@dataclass(frozen=True)
class ErrorCurve:
    """What the draws of one mechanism say at every x; NaN where there is none yet.

    Attributes
    ----------
    mechanism : str
    x : ndarray of float, shape (N,)
    draws : tuple of int
        So far, at every x.
    mean, low, high : ndarray
        Mean over draws, and the 95 % interval of the mean over new noise.
    quantiles : ndarray, shape (5, N)
        Those of `explorer.studies.heatmap.experiments.statistics.QUANTILES`.
    values : tuple of tuples of float
        What was measured at every x, NaN where a draw has no such number.
    proved : bool
        Whether `mean` is a proved bound and nothing was drawn (`proved_curves`).
    """

    mechanism: str
    x: FloatArray
    draws: tuple[int, ...]
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    quantiles: FloatArray
    values: tuple[tuple[float, ...], ...] = ()
    proved: bool = False

    def quantile(self, q: float) -> FloatArray:
        """Return one of the quantiles at every x."""
        return np.asarray(self.quantiles[QUANTILES.index(q)])


def compared(chosen: str, axis: Axis) -> tuple[str, ...]:
    """Return the mechanisms whose curves are drawn over an axis: the chosen one first.

    Those that do not read what is on the axis are left out, and so is one that promises something
    else.
    """
    keys = dict.fromkeys([chosen, *(m.key for m in MECHANISMS.values() if m.compared)])
    if not MECHANISMS[chosen].comparable:
        del keys[chosen]
    return tuple(reading(axis, keys)[:MAX_CURVES])


def reading(axis: Axis, mechanisms: Iterable[str]) -> list[str]:
    """Return those of some mechanisms that read what is on an axis."""
    special = any(axis.key in mechanism.uses for mechanism in MECHANISMS.values())
    return [key for key in mechanisms if not special or axis.key in MECHANISMS[key].uses]


def curve_points(
    place: Place,
    source: Source,
    request: Request,
    axis: Axis,
    mechanisms: Sequence[str],
    users: int | None,
    draws: int,
    sources: Mapping[Any, Source] = MappingProxyType({}),
) -> list[Point]:
    """Return the points of the curves, a mechanism after the other, each from left to right.

    Parameters
    ----------
    request : Request
        Whose settings hold but for what is on the axis.
    users : int or None
        As the source counts them; with users on the axis, how many there are.
    sources : mapping
        Where each x of an axis that tells data apart comes from.
    """
    points = []
    for mechanism in mechanisms:
        reads = read_by(mechanism)
        fixed = {key: value for key, value in request.values if key in reads}
        for x in axis.values:
            values, asked = {**fixed, "mechanism": mechanism}, users
            if axis.key == "users":
                if users is not None and x > users:
                    continue
                asked = x
            elif not axis.of_data:
                values[axis.key] = x
            of = sources[x] if axis.of_data else source
            points.append(Point(place, of, asked, values, draws, axis=axis.key, x=float(x)))
    return points


def read_by(mechanism: str) -> frozenset[str]:
    """Return the parameters that a mechanism's heatmap and the true one depend on."""
    found = MECHANISMS[mechanism]
    own = (p.key for p in found.parameters)
    return frozenset(("epsilon", "resolution", "sigma", *RULE, *found.uses, *own))


@dataclass(frozen=True)
class CurveTrials(Trials):
    """The trials of curves; `keys` are those of every row's trials."""

    keys: tuple[tuple[str, ...], ...] = ()


def in_order(rows: Sequence[Row], key: Callable[[Trial], str]) -> CurveTrials:
    """Return the trials of curves in the order in which they are run: coarse first.

    Curve after curve gets its first draw, then each its first few, then all the others draw by
    draw: what shares a draw shares its noise.
    """
    keys = tuple(tuple(map(key, row.trials)) for row in rows)
    by_key: dict[str, Trial] = {}
    begun = 0
    for stop in STAGES:
        for row, own in zip(rows, keys, strict=True):
            by_key.update(zip(own[begun:stop], row.trials[begun:stop], strict=True))
        begun = stop
    for draw in range(begun, max((len(row.trials) for row in rows), default=0)):
        by_key.update((own[draw], row.trials[draw]) for row, own in zip(rows, keys, strict=True))
    return CurveTrials(tuple(rows), key, by_key, keys)


def first_curve(trials: CurveTrials) -> CurveTrials:
    """Return the trials that come first: one draw at every x of one mechanism."""
    mechanism = trials.rows[0].point.values["mechanism"]
    x = sum(row.point.values["mechanism"] == mechanism for row in trials.rows)
    return replace(trials, by_key=dict(islice(trials.by_key.items(), x)))


def error_curves(trials: CurveTrials, found: Mapping[str, Found], measure: str) -> list[ErrorCurve]:
    """Return the curves that the trials found so far make, in the order of the mechanisms."""
    points: dict[str, list[tuple[float, list[float]]]] = {}
    for row, keys in zip(trials.rows, trials.keys, strict=True):
        values = [found[key][measure] for key in keys if key in found]
        numbers = [np.nan if value is None else value for value in values]
        curve = points.setdefault(row.point.values["mechanism"], [])
        curve.append((float(row.point.x or 0.0), numbers))
    return [_curve(mechanism, of_it, LEAST[measure]) for mechanism, of_it in points.items()]


def _curve(mechanism: str, points: Sequence[tuple[float, list[float]]], least: float) -> ErrorCurve:
    count = len(points)
    mean, low, high = (np.full(count, np.nan) for _ in range(3))
    quantiles = np.full((len(QUANTILES), count), np.nan)
    for i, (_, values) in enumerate(points):
        summary = summarise([values], least)
        if summary is not None:
            mean[i] = summary.mean
            low[i], high[i] = summary.noise or (np.nan, np.nan)
            quantiles[:, i] = summary.quantiles
    x = np.array([x for x, _ in points])
    drawn = tuple(tuple(values) for _, values in points)
    draws = tuple(map(len, drawn))
    return ErrorCurve(mechanism, x, draws, mean, low, high, quantiles, drawn)
