"""Curves of the error of mechanisms against ε and other parameters: estimated and proved.

Estimates come from trials. The table of `explorer.studies.heatmap.mechanisms` names the proved
bounds: each bounds from above the expected earth mover's distance between the map before the blur
and the true one, in the unit square, for any data of so many users; those that need few cells with
mass are in `FEW_CELLS`. The blur increases no distance between maps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.heatmaps import depth_cap, level_of, schedule, start_level, theory
from explorer.privacy.heatmaps.theory import DIAMETER, kl_bound, similarity_bound
from explorer.studies.base.study import Request
from explorer.studies.heatmap.contributions import RULE
from explorer.studies.heatmap.experiments.plan import QUANTILES, Point, Row, Trials, summarise
from explorer.studies.heatmap.experiments.samples import FILLED_SHARES, Place, Source
from explorer.studies.heatmap.experiments.trial import MEASURE_MINIMA, Found, Trial
from explorer.studies.heatmap.mechanisms import MECHANISMS

DRAWS = 20
"""Draws a point in the first round."""
MAX_CURVES = 5
"""Mechanisms that are compared at once."""
STAGES = (1, 3)
"""Draws a point that every curve has before any has more."""
TARGET_SHARE = 0.9
"""The share of draws that are to be at least as good as a target: 9 of 10."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Parameter on the x axis of error curves.

    Attributes
    ----------
    key : str
        Parameter of the heatmap study, or ``users``.
    symbol, name : str
    values : tuple
        Values at which errors are computed, ascending.
    of_data : bool
        Whether it distinguishes synthetic data sets and is no setting of the map.
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
    """Measure of the distance or similarity of a map and the true one.

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
        """Which quantile of the draws `TARGET_SHARE` of them are at least as good as."""
        return TARGET_SHARE if self.low_is_good else round(1 - TARGET_SHARE, 12)


MEASURES = {
    measure.key: measure
    for measure in (
        Measure("emd_km", "error in km", "km", "have an average error below {}", True, 1.0),
        Measure(
            "emd",
            "error in sides of the map",
            "of its side",
            "have an average error below {}",
            True,
            0.05,
        ),
        Measure("similarity", "similarity", "", "have a similarity of at least {}", False, 0.8),
        Measure("pearson", "Pearson r", "", "have a correlation of at least {}", False, 0.9),
        Measure("kl", "KL divergence", "nats", "have a KL divergence below {}", True, 0.5),
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
    scaled = measure.target * math.sqrt(sides_km[0] * sides_km[1]) / CITY_KM
    round_numbers = (m * 10.0**n for n in range(-4, 5) for m in (1, 2, 5))
    return min(round_numbers, key=lambda number: abs(math.log(number / scaled)))


@dataclass(frozen=True)
class ErrorCurve:
    """Errors of the draws of one mechanism at every x; NaN where there is none yet.

    Attributes
    ----------
    mechanism : str
    x : ndarray of float, shape (N,)
    draws : tuple of int
        So far, at every x.
    mean, low, high : ndarray
        Mean over draws, and the 95 % interval of the mean over new noise.
    quantiles : ndarray, shape (5, N)
        Those of `explorer.studies.heatmap.experiments.plan.QUANTILES`.
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


def default_mechanisms(main: str, axis: Axis) -> tuple[str, ...]:
    """Return the mechanisms whose curves are drawn over an axis: the map's own first.

    Those that do not read what is on the axis are left out, and so is one that promises something
    else.
    """
    keys = dict.fromkeys([main, *(m.key for m in MECHANISMS.values() if m.compared)])
    if not MECHANISMS[main].comparable:
        del keys[main]
    return tuple(mechanisms_reading(axis, keys)[:MAX_CURVES])


def mechanisms_reading(axis: Axis, mechanisms: Iterable[str]) -> list[str]:
    """Return the mechanisms that depend on the parameter of an axis."""
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
        Its settings hold except for the parameter on the axis.
    users : int or None
        As the source counts them; with users on the axis, how many there are.
    sources : mapping
        Source of the data at each x of an axis of data.
    """
    points = []
    for mechanism in mechanisms:
        reads = parameters_read_by(mechanism)
        fixed = {key: value for key, value in request.values if key in reads}
        for x in axis.values:
            values, users_at = {**fixed, "mechanism": mechanism}, users
            if axis.key == "users":
                if users is not None and x > users:
                    continue
                users_at = x
            elif not axis.of_data:
                values[axis.key] = x
            of = sources[x] if axis.of_data else source
            points.append(Point(place, of, users_at, values, draws, axis=axis.key, x=float(x)))
    return points


def parameters_read_by(mechanism: str) -> frozenset[str]:
    """Return the parameters that a mechanism's heatmap and the true one depend on."""
    row = MECHANISMS[mechanism]
    own = (p.key for p in row.parameters)
    return frozenset(("epsilon", "resolution", "sigma", *RULE, *row.uses, *own))


@dataclass(frozen=True)
class CurveTrials(Trials):
    """The trials of curves; `keys` are those of every row's trials."""

    keys: tuple[tuple[str, ...], ...] = ()


def trials_in_order(rows: Sequence[Row], key: Callable[[Trial], str]) -> CurveTrials:
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


def error_curves(
    trials: CurveTrials, results: Mapping[str, Found], measure: str
) -> list[ErrorCurve]:
    """Return the curves of the trials done so far, in the order of the mechanisms."""
    points: dict[str, list[tuple[float, list[float]]]] = {}
    for row, keys in zip(trials.rows, trials.keys, strict=True):
        values = [results[key][measure] for key in keys if key in results]
        numbers = [np.nan if value is None else value for value in values]
        curve = points.setdefault(row.point.values["mechanism"], [])
        curve.append((float(row.point.x or 0.0), numbers))
    return [
        _curve(mechanism, of_it, MEASURE_MINIMA[measure]) for mechanism, of_it in points.items()
    ]


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
    errors = tuple(tuple(values) for _, values in points)
    draws = tuple(map(len, errors))
    return ErrorCurve(mechanism, x, draws, mean, low, high, quantiles, errors)


PROVED_EPSILONS = tuple(
    dict.fromkeys(float(f"{x:.3g}") for x in np.geomspace(0.05, 20.0, 241).tolist())
)
"""Values of ε at which bounds are evaluated."""


def proved_curves(
    request: Request, axis: Axis, measure: str, sides_km: tuple[float, float] | None
) -> tuple[ErrorCurve, ...]:
    """Return bounds on the mean over draws, for every mechanism that has one, and empty curves.

    Parameters
    ----------
    request : Request
        Its n₀ is the number of users, unless that is on the axis.
    axis : Axis
        One with ε on it is computed at `PROVED_EPSILONS`.
    measure : str
        A key of `explorer.studies.heatmap.experiments.error_curves.MEASURES`.
    sides_km : (width, height) or None

    Returns
    -------
    tuple of ErrorCurve
        Upper bounds on a mean error, lower ones on a mean similarity: `mean`. NaN where nothing is
        proved: other mechanisms, bounds that no map exceeds, the Pearson correlation, kilometres
        where there are none, a blur of 0 for similarity and KL divergence.
    """
    if axis.key == "epsilon":
        axis = replace(axis, values=PROVED_EPSILONS)
    able = mechanisms_reading(
        axis, (key for key, mechanism in MECHANISMS.items() if mechanism.proved)
    )
    keys = dict.fromkeys((*default_mechanisms(request["mechanism"], axis), *able))
    return tuple(_proved_curve(key, request, axis, measure, sides_km) for key in keys)


def _proved_curve(
    mechanism: str, request: Request, axis: Axis, measure: str, sides_km: Any
) -> ErrorCurve:
    bound, fixed = MECHANISMS[mechanism].proved, dict(request.values)
    bounds = []
    for x in axis.values if bound else ():
        users = x if axis.key == "users" else fixed["n0"]
        values = fixed if axis.key == "users" else {**fixed, axis.key: x}
        emd = float(resolve_name(bound)(values, users).value)
        bounds.append(_bound_of_measure(measure, emd, float(values["sigma"]), sides_km))
    mean = np.array(bounds) if bound else np.full(len(axis.values), np.nan)
    x = np.array([float(value) for value in axis.values])
    none = np.full((len(QUANTILES), len(x)), np.nan)
    return ErrorCurve(mechanism, x, (0,) * len(x), mean, mean, mean, none, proved=True)


def _bound_of_measure(measure: str, emd: float, sigma: float, sides_km: Any) -> float:
    """Return the bound on a measure's mean that follows from one on the distance; NaN without one.

    √ is concave: a lower bound of the mean similarity stays one.
    """
    if emd >= DIAMETER:
        return math.nan
    if measure == "emd_km" and sides_km is not None:
        return float(emd * max(sides_km))
    if measure in ("kl", "similarity") and sigma > 0:
        return float((kl_bound if measure == "kl" else similarity_bound)(emd, sigma).value)
    return emd if measure == "emd" else math.nan


Settings = Mapping[str, Any]


def pyramid_bound(values: Settings, users: float) -> Bound:
    """Bound the paper's algorithm (`theory.sparse_error_bound`)."""
    level, w = level_of(int(values["resolution"])), values["w"]
    plan = schedule(values["epsilon"], level, w, values["variant"])
    return theory.sparse_error_bound(plan, w, users)


def capped_bound(values: Settings, users: float) -> Bound:
    """Bound it down to the level that n₀ allows, flat cells below counted in."""
    epsilon, w = values["epsilon"], values["w"]
    level = level_of(int(values["resolution"]))
    last = depth_cap(epsilon, values["n0"], start_level(w, level), level)
    return theory.sparse_error_bound(schedule(epsilon, level, w, last=last), w, users)


def dense_bound(values: Settings, users: float) -> Bound:
    """Bound dense aggregation, on any map (`theory.dense_error_bound`)."""
    level = level_of(int(values["resolution"]))
    return theory.dense_error_bound(values["epsilon"], values["n0"], users, level)


FEW_CELLS = tuple(f"{__name__}:{bound.__name__}" for bound in (pyramid_bound, capped_bound))
"""Those, by name, that hold for maps with mass in at most w cells."""
