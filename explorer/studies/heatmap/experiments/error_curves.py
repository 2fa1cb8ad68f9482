"""Curves of the error of mechanisms against ε, and the smallest ε that reaches a target error.

Estimates come from trials. The table of `explorer.studies.heatmap.mechanisms` names the proved
bounds: each bounds from above the expected earth mover's distance between the map before the blur
and the true one, in the unit square, for any data of so many users; those that need few cells with
mass are in `FEW_CELLS`. The blur increases no distance between maps.

The smallest ε is searched from curves and by repeated draws. Both use the true map. On the data
that is to be released this is a look at the data, and the guarantee of the release does not cover
the choice of ε: use public, synthetic or past data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.geography.region import Box, Region
from explorer.polygon import Polygon
from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.heatmaps import (
    depth_cap,
    level_of,
    lower_rank,
    schedule,
    start_level,
    theory,
    upper_rank,
)
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.privacy.heatmaps.theory import DIAMETER, kl_bound, similarity_bound
from explorer.studies.base.request import worst
from explorer.studies.base.study import Origin, Request, Selection
from explorer.studies.heatmap.contributions import RULE
from explorer.studies.heatmap.experiments.figures import FIGURES, synthetic_sources
from explorer.studies.heatmap.experiments.plan import QUANTILES, Point, Row, Trials, summarise
from explorer.studies.heatmap.experiments.samples import (
    FILLED_SHARES,
    Mixtures,
    Place,
    Sample,
    Source,
    count_points,
    data_of,
)
from explorer.studies.heatmap.experiments.trial import MEASURE_MINIMA, Trial, TrialValues
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
    trials: CurveTrials, results: Mapping[str, TrialValues], measure: str
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


NO_CHECKINS = (
    "Nobody checked in inside region and time range, so that there is nothing to compare a map "
    "with: choose another region, or judge ε on a stand-in"
)
NO_CHECKINS_OF_FILE = (
    "{name}: nobody checked in inside the map's region; choose a file that covers it, or the "
    "synthetic people"
)
MAX_SYNTHETIC_USERS = 2000
"""Largest number of synthetic users: generating them takes time."""
THE_SAME = "{name} is the map's own file: a stand-in must be other people; choose another file"


@dataclass
class EvaluationData:
    """Samples of the users of an open check-in file (see `Source`).

    Parameters
    ----------
    checkins : CheckinData
    box : (south, west, north, east)
        Region in which they are counted; of a place only its sides in kilometres are used, as the
        data of a stand-in may be elsewhere.
    start, end, users, data_seed, share, image
        As `explorer.checkins.CheckinData.points` takes them; `users` or `share` hold where nobody
        asks for a number of users.
    check : callable
        Called now and then; may raise to stop.
    nobody : str
        Error message if there are no users.
    """

    checkins: Any
    box: Box
    start: str | None = None
    end: str | None = None
    users: int | None = None
    data_seed: int = 0
    share: Fraction | None = None
    check: Callable[[], None] = lambda: None
    nobody: str = NO_CHECKINS
    image: str | None = None
    polygon: Polygon | None = None
    _last: tuple[object, Any] = field(default=((), None), repr=False)

    @classmethod
    def of_selection(
        cls, checkins: Any, selection: Selection, check: Callable[[], None] = lambda: None
    ) -> EvaluationData:
        """Return the users of the map itself as evaluation data."""
        return cls(
            checkins,
            selection.region.box,
            selection.start,
            selection.end,
            selection.users,
            selection.data_seed,
            selection.exact_share,
            check,
            image=selection.image,
            polygon=selection.region.polygon,
        )

    @property
    def data(self) -> str:
        """The file's fingerprint, and its privacy unit if that is not a user."""
        return data_of(self.checkins)

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a sample of users, by default those of the map; it is the same for all numbers."""
        points = self._points(self.users if users is None else users)
        if not points.users_used:
            raise ValueError(self.nobody)
        return count_points(points, self.box, level, rule)

    def present(self) -> int:
        """Return the number of users that can be drawn from."""
        return int(self._points(self.users).users_in_region)

    def _points(self, users: int | None) -> Any:
        if self._last[0] != (users,):
            share = self.share if users is None else None
            points = self.checkins.points(
                self.box,
                self.start,
                self.end,
                users,
                self.data_seed,
                share,
                self.check,
                self.image,
                self.polygon,
            )
            self._last = ((users,), points)
        return self._last[1]


@dataclass(frozen=True)
class SyntheticUsers:
    """Synthetic data of a figure of the paper, as evaluation data (see `Source`).

    Attributes
    ----------
    name : str
        Name in exports and the window.
    place : str
        Name of the place of their samples.
    source : Source
    users : int
        Number of users in the figure.
    filled : mapping of float to Source
        Source for each share of cells that have a point; empty where there is only one.
    """

    name: str
    place: str
    source: Source
    users: int
    filled: Mapping[float, Source] = field(default_factory=dict)

    @property
    def data(self) -> str:
        """Description of the generator."""
        return self.source.data

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a sample of users, by default as many as the figure has."""
        return self.source.sample(place, users or self.users, level, number, rule)

    def present(self) -> int:
        """Return the largest number of users that can be generated."""
        return MAX_SYNTHETIC_USERS


def _synthetic_users() -> Iterator[tuple[str, SyntheticUsers]]:
    for key, kind in (("figure-8", "gazes"), ("figure-10", "mixtures"), ("figure-11", "mixtures")):
        figure = FIGURES[key]
        (place, source), *_ = sources = synthetic_sources(figure, 0)
        users = next(value for name, value in figure.panels[0].fixed if name == "users")
        filled = {x.share: x for _, x in sources if isinstance(x, Mixtures)}
        name = f"made {kind} ({key.replace('-', ' ')})"
        where = "square" if filled else place.name
        yield key, SyntheticUsers(name, where, source, int(users), filled)


SYNTHETIC_USERS = dict(_synthetic_users())
"""Synthetic evaluation data, by the figure that they are of."""


def axes_of(judged_on: str) -> tuple[Axis, ...]:
    """Return the axes that are available with some evaluation data."""
    filled = judged_on in SYNTHETIC_USERS and SYNTHETIC_USERS[judged_on].filled
    return tuple(axis for axis in AXES.values() if filled or not axis.of_data)


def request_at(request: Request, mechanism: str, axis: Axis, x: float, came: Origin) -> Request:
    """Return the request of a map at a point of a curve: its mechanism and its value on the axis.

    Parameters
    ----------
    request : Request
        With a selection, which records the origin of ε.
    came : Origin
        Origin of the value.
    """
    selection = request.selection
    assert selection is not None
    if axis.key == "epsilon":
        selection = replace(selection, epsilon_from=came)
    if axis.key != "epsilon" or mechanism != request["mechanism"]:
        # The worst origin counts: settings from other data revoke nothing found on these.
        came = worst((selection.settings_from, came))
        selection = replace(selection, settings_from=came)
    request = replace(request, selection=selection).with_value("mechanism", mechanism)
    if axis.of_data:
        return request
    if axis.key == "users":
        return replace(request, selection=replace(selection, users=int(x), share=None))
    kind = type(axis.values[0])
    return request.with_value(axis.key, str(int(x)) if kind is str else kind(x))


MAX_EPSILON = 20.0
"""The largest ε of the study."""
GRID = tuple(min(0.01 * 2 ** (j / 4), MAX_EPSILON) for j in range(45))
"""Range of a search."""
SIZES = (100, 200, 400, 800)
"""Draws at one ε: each time twice as many, the ones before among them."""
ERROR = Fraction(5, 100)
"""Largest probability that any statement of a search is wrong."""
RISK_PER_LOOK = ERROR / (len(GRID) * len(SIZES))
"""At every ε and number of draws, so that it does not matter which are looked at.

What is said there can be wrong on one side alone: either the ε is enough, or it is not. A plain
bisection looks at seven only, but would have to end where it finds the first undecided ε, which
may lie far from both ends of what is known by then."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where a fitted curve meets a target.

    Attributes
    ----------
    epsilon : float or None
        None if it does not between the curve's ends.
    beyond : int
        −1 if every ε of the curve reaches the target, 1 if none does, else 0.
    violations : int
        How many steps of the curve go the wrong way, against what is assumed.
    """

    epsilon: float | None
    beyond: int
    violations: int


def estimate_epsilon(
    epsilons: ArrayLike, errors: ArrayLike, target: float, low_is_good: bool = True
) -> Estimate | None:
    """Return the smallest ε at which a curve reaches a target.

    The curve is fitted by the nearest one that never rises with ε (isotonic regression: on
    logarithms where it is above 0) and interpolated on log ε.

    Parameters
    ----------
    epsilons : array_like, shape (N,)
        Ascending, > 0.
    errors : array_like, shape (N,)
        The quantile of draws that is to reach the target; NaN where it is not known.
    target : float
    low_is_good : bool
        Whether a smaller value is a better one.

    Returns
    -------
    Estimate or None
        None if fewer than two points are known.
    """
    x, y = np.log(np.asarray(epsilons, dtype=float)), np.asarray(errors, dtype=float)
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2:
        return None
    if low_is_good and target > 0 and (y > 0).all():
        y, target = np.log(y), math.log(target)
    if not low_is_good:
        y, target = -y, -target
    violations = int(np.count_nonzero(np.diff(y) > 0))
    y = _never_rising(y)
    if y[-1] > target:
        return Estimate(None, 1, violations)
    if y[0] <= target:
        return Estimate(None, -1, violations)
    i = int(np.argmax(y <= target))
    share = (y[i - 1] - target) / (y[i - 1] - y[i])
    return Estimate(math.exp(x[i - 1] + share * (x[i] - x[i - 1])), 0, violations)


def _never_rising(y: np.ndarray) -> np.ndarray:
    """Return the nearest values that never rise, by their max–min formula (isotonic regression).

    The window reads ε off with every report: scipy.optimize would take half a second of it.
    """
    sums = np.concatenate([[0.0], np.cumsum(-y)])
    first, last = np.ogrid[: y.size, : y.size]
    means = (sums[None, 1:] - sums[:-1, None]) / np.maximum(last - first + 1, 1)
    means = np.where(last >= first, means, math.inf)
    lowest = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(-np.where(first <= last, lowest, -math.inf).max(axis=0))


def quantile_interval(values: ArrayLike, quantile: float) -> tuple[float | None, float | None]:
    """Return between which draws a quantile lies with 95 % confidence; None for an open end.

    Parameters
    ----------
    values : array_like
        Independent draws of any law.
    quantile : float
        In (0, 1).
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if not ordered.size:
        return None, None
    q, sure = Fraction(str(quantile)), Fraction(39, 40)
    below, above = lower_rank(ordered.size, q, sure), upper_rank(ordered.size, q, sure)
    return (
        None if below is None else float(ordered[below - 1]),
        None if above is None else float(ordered[above - 1]),
    )


@dataclass(frozen=True)
class Found:
    """Result of a search.

    Attributes
    ----------
    enough : float or None
        At this ε the quantile reaches the target; None if at none of `GRID`.
    not_enough : float or None
        At this ε it does not; None if it does at all of them.
    draws : dict
        How many draws were looked at, by ε.

    Notes
    -----
    Either is certified at its own ε, both together with 95 % confidence. That nothing below
    `not_enough` would do either is assumed: that more privacy costs accuracy.
    """

    enough: float | None
    not_enough: float | None
    draws: dict[float, int] = field(default_factory=dict)


Asks = Generator[tuple[float, int], Sequence[float], Found]


def search(target: float, low_is_good: bool = True) -> Asks:
    """Find the smallest ε of `GRID` at which 9 of 10 maps reach a target, with 95 % confidence.

    Bisection. Where even the most draws leave an ε undecided, its neighbours are tried outwards.

    Yields
    ------
    (float, int)
        An ε and how many draws of the error there are wanted, and expects them to be sent: the
        first so many, the same ones each time.

    Returns
    -------
    Found
    """
    low, high, draws = -1, len(GRID), {}

    def decide(j: int) -> Generator[tuple[float, int], Sequence[float], bool | None]:
        for size in SIZES:
            draws[GRID[j]] = size
            enough = reaches((yield GRID[j], size), target, low_is_good)
            if enough is not None:
                return enough
        return None

    unclear = None
    while high - low > 1 and unclear is None:
        middle = (low + high) // 2
        enough = yield from decide(middle)
        if enough is None:
            unclear = middle
        elif enough:
            high = middle
        else:
            low = middle
    if unclear is not None:
        for j in range(unclear + 1, high):
            enough = yield from decide(j)
            if enough:
                high = j
                break
            if enough is False:
                low = j
        for j in range(unclear - 1, low, -1):
            if (yield from decide(j)) is False:
                low = j
                break
    return Found(GRID[high] if high < len(GRID) else None, GRID[low] if low >= 0 else None, draws)


def reaches(values: Sequence[float], target: float, low_is_good: bool = True) -> bool | None:
    """Return whether 9 of 10 maps reach a target; None if too few draws decide it.

    Wrong with a chance of at most `RISK_PER_LOOK`.
    """
    signed = np.asarray(values, dtype=float) * (1 if low_is_good else -1)
    ordered, aim = np.sort(signed), target if low_is_good else -target
    quantile, sure = Fraction(str(TARGET_SHARE)), 1 - RISK_PER_LOOK
    above = upper_rank(ordered.size, quantile, sure)
    if above is not None and ordered[above - 1] <= aim:
        return True
    below = lower_rank(ordered.size, quantile, sure)
    return False if below is not None and ordered[below - 1] > aim else None
