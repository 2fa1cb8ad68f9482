"""Study of private regression: least squares from reports with coordinate levels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from explorer.privacy.coordinates import DUCHI, PRIV_UNIT
from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    epsilon,
    file,
    real,
    share,
    trials,
)
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy, Points
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.simulation import dots_series
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Headline,
    Mark,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Scale,
    Series,
    Statistic,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, evenly_spread, swept_points
from explorer.studies.coordinate_mean.demanded import (
    CHOICES,
    OwnDemand,
    demand_parameters,
    own_demand,
)
from explorer.studies.coordinate_mean.guarantee import own_notes
from explorer.studies.coordinate_mean.simulation import MEAN, MEDIAN, summary
from explorer.studies.coordinate_mean.theory import TWO, Demand, Plan
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.private_regression import guarantee, theory
from explorer.studies.private_regression.data import Columns, Source, describe
from explorer.studies.private_regression.help import PAGE, PRESETS
from explorer.studies.private_regression.simulation import (
    MAX_FEATURES,
    OPTIONS,
    Task,
    Trials,
    audits,
    run_trials,
    trials_per_call,
)
from explorer.studies.private_regression.theory import BASELINE, BEST_ZETA, EXACT, PAPER

SAMPLE, FILE = "sample", "file"
IN_SAMPLE, HELD_OUT = "in-sample", "held-out"
_MIN_USERS, _MAX_USERS = 100, 1_000_000
_MAX_DOTS = 7
_FROM_FILE = (("source", (FILE,)),)
_TWO_LEVELS = (("profile", (TWO,)),)
_BARS = {MEDIAN: "median and quartiles", MEAN: "mean and 95 % interval"}


class RegressionPoints(Points):
    """Points of a sweep with the records, the budgets and the trials drawn so far.

    Where a file has fewer users or features than asked for, all there are are used.
    """

    def __init__(
        self,
        swept: SweptPoints,
        request: Request,
        context: Context,
        fidelity: Fidelity | None = None,
    ) -> None:
        super().__init__(swept, request, context, fidelity)
        if self.own is not None:
            self.swept = swept = _with_all_features(swept, len(self.own.levels))
        limits = {"n": self.records, "features": self.available}
        self.holds = np.append(swept.x <= limits.get(swept.sweep.key, np.inf), True)
        """Whether there are as many users and features as a point asks for."""
        capped = {key: np.minimum(swept[key], limit) for key, limit in limits.items()}
        self.swept = replace(swept, columns=swept.columns | capped)
        self.trials: dict[int, Trials] = {}
        """Trials by index of the point."""

    @cached_property
    def source(self) -> Source:
        """Source of the records."""
        request, value = self.request, self.request["file"]
        if request["source"] != FILE or not value:
            return Source()
        return Source(
            self.context.file(value),
            value,
            request["target"],
            *(request[key] for key in ("x_low", "x_width", "y_low", "y_width", "decimal")),
        )

    @cached_property
    def columns(self) -> Columns | None:
        """Columns of the file; None for synthetic records."""
        if self.source.path is None:
            return None
        columns: Columns = self.context.cached(
            ("private-regression", "columns", self.source),
            lambda: self.context.run_in_worker(describe, self.source),
        )
        return columns

    @cached_property
    def own(self) -> OwnDemand | None:
        """Levels and couplings of the user's own; None without any."""
        own = own_demand(self.request, self.context, 1, MAX_FEATURES)
        there = len(self.columns.names) - 1 if self.columns else MAX_FEATURES
        if own is not None and len(own.levels) > there:
            raise ValueError(
                f"{self.source.value.partition('#')[0]}: {there} features, and "
                f"{len(own.levels)} levels are demanded; give one for each feature that is to be "
                "used, in the order of the columns and without the label"
            )
        return own

    @property
    def available(self) -> int:
        """Number of features that there are."""
        if self.own is not None:
            return len(self.own.levels)
        return len(self.columns.names) - 1 if self.columns else MAX_FEATURES

    @property
    def folds(self) -> int:
        """Number of parts that are held out in turn; 1 if none is."""
        return int(self.request["folds"]) if self.request["evaluation"] == HELD_OUT else 1

    @property
    def records(self) -> int:
        """Number of records that there are."""
        return self.columns.records if self.columns else _MAX_USERS

    @cached_property
    def demands(self) -> list[Demand]:
        """Demanded levels at every point."""
        return theory.demands_of(self.request, self.swept, self.available, self.own)

    @cached_property
    def plans(self) -> list[Plan]:
        """Budgets at every point."""
        return theory.plans_for(self.request["budget"], self.demands, self.context)

    @cached_property
    def orders(self) -> tuple[FloatArray, FloatArray]:
        """Theorem 3's order at every point: as printed, and with the reports' own r²."""
        return theory.orders(self.plans, self.swept)

    @property
    def capped(self) -> bool:
        """Whether Theorem 3 says no more than its cap at the sliders."""
        radius = self.here.radius
        cap = (radius**2 + radius) * self.plans[-1].c.size
        return bool(self.orders[0][-1] >= cap * (1.0 - 1e-12))

    @property
    def trials_here(self) -> Trials | None:
        """Trials at the sliders, once they are drawn."""
        return self.trials.get(self.swept.x.size)

    @property
    def drawn(self) -> list[int]:
        """Indices of the points of the axis whose trials are drawn."""
        return sorted(index for index in self.trials if index < self.swept.x.size)

    def jobs(self) -> list[int]:
        """Return the indices of the points to simulate, the sliders' (the last one) first."""
        inside = [i for i in np.flatnonzero(self.holds[:-1]) if (self.plans[i].c > 0.0).all()]
        last = [self.swept.x.size] if (self.plans[-1].c > 0.0).all() else []
        return last + [int(inside[j]) for j in evenly_spread(len(inside), _MAX_DOTS)]

    def draw(self, index: int) -> Trials:
        """Return the trials at a point, drawn in pieces between which work can be cancelled."""
        plan = self.plans[index]
        users = int(min(self.swept["n"][index], self.records))
        task = Task(
            self.source,
            plan.c.size - 1,
            users,
            tuple(float(c) for c in plan.c),
            plan.rule,
            float(self.swept["radius"][index]),
            self.request.seed,
            plan.channel,
            min(self.folds, users),
        )
        total = int(self.request["trials"])

        def run() -> Trials:
            per_call, pieces = trials_per_call(task), []
            for start in range(0, total, per_call):
                self.context.check()
                count = min(per_call, total - start)
                pieces.append(self.context.run_in_worker(run_trials, task, start, count))
            return Trials(
                pieces[0].truth,
                np.concatenate([piece.excess for piece in pieces]),
                sum(piece.indefinite for piece in pieces),
                pieces[0].theta,
            )

        self.context.check()
        drawn: Trials = self.context.cached(("private-regression", "trials", task, total), run)
        return drawn

    def error(self, trials: Trials, excess: float) -> float:
        """Return an excess risk, or the prediction error at it in the unit of the label."""
        if self.request.quantity == "excess":
            return max(excess, 0.0)
        unit = 1.0
        if self.columns is not None:
            unit = float(self.columns.high[-1] - self.columns.low[-1]) / 2.0
        return unit * float(np.sqrt(trials.truth.squared_error(excess)))

    def dot(self, trials: Trials, key: str) -> tuple[float, ...]:
        """Return the middle of an option's errors over the trials and the ends of its bar."""
        ends = summary(trials.excess[:, OPTIONS.index(key)], self.request["dots"])
        return tuple(self.error(trials, value) for value in ends)

    def caution(self, key: str) -> str:
        """Return the warning about the mean of heavy-tailed errors."""
        if key == "unprojected" and self.request["dots"] == MEAN:
            return "; so heavy-tailed that its mean need not exist: look at median and quartiles"
        return ""


def _with_all_features(points: SweptPoints, count: int) -> SweptPoints:
    """Return the points with the number of features of the user's own demand."""
    features = np.full(points.x.size + 1, float(count))
    if points.sweep.key == "features":
        features[:-1] = points.x
    return replace(points, columns=points.columns | {"features": features})


# Curves


def _order(place: int) -> Callable[[RegressionPoints], Bound]:
    """Return Theorem 3's order, undefined where the file has too few users or features."""

    def value(p: RegressionPoints) -> Bound:
        source = (theory.THEOREM_3, theory.THEOREM_3_HALF)[place]
        reason = "" if p.holds.all() else _why_undefined(p)
        return Bound(p.orders[place], Role.ESTIMATE, source, p.holds, reason)

    return value


def _why_undefined(p: RegressionPoints) -> str:
    if p.swept.sweep.key == "features":
        return f"there are {p.available} features"
    other = "fewer users, or something else," if p.records > _MIN_USERS else "something else"
    return (
        f"the file has {p.records:,} usable records, and no more users can be drawn; put {other} "
        "on the x axis"
    )


def _draw_dots(curve: Curve, p: RegressionPoints) -> Series | None:
    """Draw the errors of a way to minimise the estimated objective."""
    if not p.drawn:
        return None
    rows = [(float(p.swept.x[j]), *p.dot(p.trials[j], curve.key)) for j in p.drawn]
    note = f"{_BARS[p.request['dots']]} of {p.request['trials']} trials, seed {p.request.seed}"
    return dots_series(curve.key, str(curve.label), curve.source, rows, note + p.caution(curve.key))


def _draw_baseline(curve: Curve, p: RegressionPoints) -> Series | None:
    """Draw the error of a constant prediction or of least squares without privacy."""
    if not p.drawn:
        # The first answer has nothing to draw but its axes.
        first = curve.key == "nothing" and p.request.quantity == "rmse"
        return _baseline_series(curve, p.swept.x, [np.nan] * p.swept.x.size) if first else None
    errors = [_baseline_error(curve.key, p, p.trials[j]) for j in p.drawn]
    return _baseline_series(curve, p.swept.x[p.drawn], errors)


def _baseline_series(curve: Curve, x: FloatArray, y: Sequence[float]) -> Series:
    why = "nothing has been drawn here yet" if np.isnan(y).all() else ""
    return Series(
        curve.key, str(curve.label), curve.role, x, np.array(y), curve.source, undefined_reason=why
    )


def _baseline_error(key: str, p: RegressionPoints, trials: Trials) -> float:
    nothing = max(-trials.truth.least, 0.0)
    return p.error(trials, nothing if key == "nothing" else trials.truth.held_out)


_theorem = partial(Curve, role=Role.ESTIMATE, note="an order of magnitude: the constant is unknown")
_NOTHING = Curve(
    "nothing",
    "θ = 0: predict a constant",
    "predict a constant",
    Role.BASELINE,
    theory.NOTHING,
    draw=_draw_baseline,
    primary=2,
)
_NONPRIVATE = Curve(
    "nonprivate",
    "least squares without privacy",
    "without privacy",
    Role.BASELINE,
    theory.LEAST_SQUARES,
    draw=_draw_baseline,
    primary=3,
)
_dots = partial(Curve, role=Role.ESTIMATE, mark=Mark.DOTS, draw=_draw_dots)
_OPTIONS = (
    _dots(
        key="psd-clip",
        label="clipped to convex (cvxpy)",
        short="clipped to convex",
        source=theory.CLIPPED,
        primary=0,
    ),
    _dots(
        key="trust-region",
        label="exact over the ball (trust region)",
        short="exact over the ball",
        source=theory.TRUST_REGION,
        primary=1,
    ),
    _dots(
        key="unprojected",
        label="unprojected: A⁻¹b, no ball",
        short="unprojected",
        source=theory.UNPROJECTED,
        primary=0,
    ),
)


_SQUARED = "of the squared label in [−1, 1]"
"""Unit of the excess risk: labels are scaled to [−1, 1]."""


def _excess_headline(result: Result, _claimed: ClaimedBound | None) -> Headline | None:
    ours, constant = (result.number(key) for key in ("trust-region", "nothing"))
    if ours is None:
        return None
    median = result.request["dots"] == MEDIAN
    statistic = Statistic.MEDIAN if median else Statistic.MEAN
    text = f"{statistic.capitalize()} excess error of the trials about {nearest(ours, 2)}"
    if constant is not None:
        text += f"; predicting a constant gives {nearest(constant, 2)}"
    return Headline(f"f(θ̂) − f* ≈ {nearest(ours, 2)} {_SQUARED}", f"{text}.", statistic=statistic)


_AXES = ("n", "eps", "level", "q", "features")
PLOTS = (
    Plot(
        Quantity(
            "excess",
            "f(θ̂) − f*",
            "excess risk",
            _AXES,
            scale=Scale.LOG,
            unit=_SQUARED,
            latex=r"f(\hat\theta)-f^*",
        ),
        (
            _theorem(
                key="theorem3",
                label="Theorem 3, without its O(1)",
                short="Theorem 3, order only",
                source=theory.THEOREM_3,
                value=_order(0),
                primary=3,
            ),
            _theorem(
                key="theorem3_half",
                label="Theorem 3 with the reports' own r², without its O(1)",
                short="Theorem 3, own r², order",
                source=theory.THEOREM_3_HALF,
                value=_order(1),
                primary=0,
            ),
            _NOTHING,
            *_OPTIONS,
        ),
        sliders=("n", "eps", "level", "q"),
        headline=_excess_headline,
    ),
    Plot(
        Quantity(
            "rmse", "RMSE", "error of prediction", _AXES, scale=Scale.LOG, unit="of the label"
        ),
        (_NOTHING, _NONPRIVATE, *_OPTIONS),
        sliders=("n", "eps", "level", "q"),
    ),
)

PARAMETERS = (
    count(
        "n",
        "n",
        "users",
        "Number of users who report. The guarantee does not depend on it.",
        100_000,
        _MIN_USERS,
        _MAX_USERS,
        unit="users",
    ),
    epsilon(
        "level of the whole record",
        "Local privacy of both reports of a user together, whatever anybody believes. The "
        "label and the less sensitive features demand no more. Smaller is more private.",
        4.0,
        0.01,
        20.0,
        unit="nats",
    ),
    epsilon(
        "level of the sensitive features",
        "Coordinate level: how much a user's reports may reveal about a sensitive feature alone. "
        "A privacy level in nats, not the δ of approximate DP. Smaller is more private.",
        1.0,
        0.01,
        20.0,
        key="level",
        symbol="δ₁",
        unit="nats",
        relevant_when=_TWO_LEVELS,
    ),
    share(
        "q",
        "q",
        "assumed dependence between coordinates",
        "How far knowing one feature may change an observer's beliefs about all the rest, the "
        "label included, in total variation. Must be public. Assuming more is more private.",
        0.05,
        more_private="high",
    ),
    count(
        "features",
        "p",
        "features",
        "How many features predict the label: the first ones.",
        3,
        1,
        MAX_FEATURES,
        Scale.LINEAR,
        relevant_when=_TWO_LEVELS,
    ),
    choice(
        "profile",
        "",
        "demanded levels",
        "Which level each feature has: the first ones δ₁ and the others ε, or as you list them, "
        "with a coupling for each if you know it. The label has ε.",
        TWO,
        ((TWO, "two levels: δ₁ and ε"), *CHOICES),
    ),
    *demand_parameters("feature", "0.5; 1; 4"),
    share(
        "share",
        "k/p",
        "share of sensitive features",
        "Which part of the features has level δ₁: k is this times p, rounded, at least 1. They "
        "are the first ones.",
        0.35,
        relevant_when=_TWO_LEVELS,
    ),
    real(
        "radius",
        "R",
        "radius of the coefficients",
        "The coefficients are looked for in a ball of this radius. Must be public.",
        1.0,
        0.01,
        100.0,
    ),
    choice(
        "budget",
        "c",
        "budgets",
        "How the privacy of a record is spread over its coordinates; all are as private.",
        PAPER,
        (
            (PAPER, "Theorem 2 with the paper's ζ = (1+q)/2"),
            (BEST_ZETA, "Theorem 2 with the best ζ"),
            (EXACT, "exact constraint"),
            (BASELINE, "min δ-LDP: the lowest level for all"),
        ),
        group="mechanism",
    ),
    choice(
        "channel",
        "",
        "reports made by",
        "How a channel makes a report: the paper's M_LDP, or PrivUnit, whose reports vary 1.15 "
        "times less at level 1 and 10 times less at level 10 (10 coordinates). Both are as "
        "private: levels do not depend on it.",
        DUCHI,
        ((DUCHI, "M_LDP, the paper's"), (PRIV_UNIT, "PrivUnit")),
        group="mechanism",
    ),
    trials("How often the reports are drawn anew at each point.", 5, 50),
    choice(
        "dots",
        "",
        "dots show",
        "What is marked of the trials. Without the ball errors have so heavy tails that their "
        "mean says little.",
        MEDIAN,
        ((MEDIAN, "median and quartiles"), (MEAN, "mean and its 95 % interval")),
        group="simulation",
    ),
    choice(
        "evaluation",
        "",
        "errors on",
        "Whose records the errors are about: those of the users who reported, or of users held "
        "out. Then every part of the users is predicted from the reports of the others.",
        IN_SAMPLE,
        (
            (IN_SAMPLE, "the users who reported"),
            (HELD_OUT, "held-out users (cross-validation)"),
        ),
        group="simulation",
    ),
    count(
        "folds",
        "K",
        "parts held out in turn",
        "Into how many parts of like size the users are divided at random, by the seed.",
        5,
        2,
        20,
        Scale.LINEAR,
        group="simulation",
        relevant_when=(("evaluation", (HELD_OUT,)),),
    ),
    choice(
        "source",
        "",
        "records",
        "On what the regression is tried out.",
        SAMPLE,
        ((SAMPLE, "synthetic records, made from a seed"), (FILE, "your own file")),
        group="data",
    ),
    file(
        "file",
        "file",
        "A table of records (CSV, one user a line, numbers only). Its public bounds are set "
        "below, or column by column in the first line: age [0:120].",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FROM_FILE,
    ),
    decimal_sign(group="data", relevant_when=_FROM_FILE),
    count(
        "target",
        "",
        "label's column",
        "Number of the column to be predicted, the first being 1; 0 is the last one. The other "
        "columns, from the left, are the features.",
        0,
        0,
        200,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "x_low",
        "",
        "features: least value",
        "Public lower bound of all features without bounds of their own. Never taken from the "
        "data; values beyond it are clipped.",
        -1.0,
        -1e6,
        1e6,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "x_width",
        "",
        "features: range",
        "Public difference between the largest and the least value of a feature.",
        2.0,
        1e-6,
        1e7,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "y_low",
        "",
        "label: least value",
        "Public lower bound of the label. Never taken from the data; values beyond it are clipped.",
        -1.0,
        -1e6,
        1e6,
        Scale.LINEAR,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    real(
        "y_width",
        "",
        "label: range",
        "Public difference between the largest and the least value of the label.",
        2.0,
        1e-6,
        1e7,
        group="data",
        relevant_when=_FROM_FILE,
    ),
)


@with_tradeoff(
    (
        *("eps", "level", "q", "features", "share", "budget"),
        *("profile", "demand", "demand_file", "demand_decimal"),
    ),
    also=("channel",),
    audits=audits,
)
class PrivateRegression(CurveStudy):
    """Least squares by Algorithm 3 on synthetic records or on the user's own table."""

    id = "private-regression"
    simulated = "local.coordinates/1"
    references = theory.REFERENCES
    parameters = PARAMETERS
    plots = PLOTS
    points = RegressionPoints
    page = PAGE
    presets = PRESETS

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield Theorem 3 at once, then simulated errors, the sliders' own point first."""
        context.check()
        p = RegressionPoints(swept_points(self, request), request, context, Fidelity.COARSE)
        yield self.result(p, complete=request.fidelity is Fidelity.COARSE)
        if request.fidelity is Fidelity.COARSE:
            return
        p.fidelity = Fidelity.FULL
        if request.quantity == "excess":
            # Theorem 3 is final: whoever needs no more need not wait for the trials.
            yield self.result(p, complete=False)
        jobs = p.jobs()
        if not jobs:
            yield self.result(p, complete=True)
        for done, index in enumerate(jobs, 1):
            p.trials[index] = p.draw(index)
            result = self.result(p, complete=done == len(jobs))
            yield replace(result, progress=done / len(jobs))

    def result(self, p: RegressionPoints, *, complete: bool) -> Result:
        """Return the answer; on records of a file it is for the curator only."""
        result, real = super().result(p, complete=complete), p.columns is not None
        return replace(
            result,
            readouts=tuple(replace(r, curator_only=real) for r in result.readouts),
            stamp=REAL_DATA if real else guarantee.SYNTHETIC,
            curator_only=real,
        )

    def readouts(self, p: RegressionPoints) -> tuple[ScalarResult, ...]:
        """Return Theorem 3's order and, once drawn, the errors at the sliders."""
        readouts, trials = list(super().readouts(p)), p.trials_here
        if trials is None:
            return tuple(readouts)
        bars = "quartiles" if p.request["dots"] == MEDIAN else "95 % interval"
        for curve in _OPTIONS:
            middle, low, high = p.dot(trials, curve.key)
            note = f"{bars} {nearest(low)} to {nearest(high)}{p.caution(curve.key)}"
            readouts.append(
                ScalarResult(curve.key, str(curve.label), middle, curve.role, note=note)
            )
        for curve in (_NOTHING, _NONPRIVATE):
            error = _baseline_error(curve.key, p, trials)
            readouts.append(ScalarResult(curve.key, str(curve.label), error, curve.role))
        return tuple(readouts)

    def conditions(self, p: RegressionPoints) -> tuple[Condition, ...]:
        """Return what must hold at the sliders' values."""
        return guarantee.conditions(
            p.demands[-1],
            p.plans[-1],
            p.trials_here,
            int(p.request["trials"]),
            p.capped,
            p.columns,
            p.request["source"] == FILE,
        )

    def guarantee(self, p: RegressionPoints) -> Guarantee:
        """Return the guarantee of both reports together."""
        return guarantee.guarantee(p.demands[-1], p.plans[-1])

    def tables(self, p: RegressionPoints) -> tuple[Table, ...]:
        """Return the coefficients of one draw, and the columns of the file."""
        features, tables = p.plans[-1].c.size - 1, []
        if p.trials_here is not None:
            names = tuple(f"feature {i}" for i in range(1, features + 1))
            if p.columns is not None:
                names = p.columns.names[:features]
            labels = tuple(str(curve.label) for curve in _OPTIONS)
            tables.append(_coefficient_table(p.trials_here, names, labels))
        if p.columns is not None:
            tables.append(_column_table(p.columns, features))
        return tuple(tables)

    def notes(self, p: RegressionPoints) -> tuple[str, ...]:
        """Return notes on the records, the user's own demand and held-out users."""
        more = own_notes(p.demands[-1], p.request["profile"], p.swept.sweep.key, p.own)
        if p.folds > 1:
            more.append(guarantee.held_out(p.folds))
        if p.columns is None:
            missing = (guarantee.NO_FILE,) if p.request["source"] == FILE else ()
            return (*missing, guarantee.SYNTHETIC_NOTE, *more)
        notes = [p.columns.summary, *more]
        lost = guarantee.lost_columns(p.columns, p.plans[-1].c.size - 1)
        if lost:
            notes.insert(0, guarantee.out_of_bounds(lost))
        if p.request["n"] > p.records:
            notes.append(f"{p.request['n']:,} users were asked for; all {p.records:,} are used.")
        if p.own is None and p.request["features"] > p.available:
            notes.append(f"There are {p.available} features; all of them are used.")
        notes.append(
            "Errors and coefficients without privacy are computed from the records themselves: "
            "they are no release."
        )
        return tuple(notes)


def _column_table(columns: Columns, features: int) -> Table:
    """Return the use and the scaling of a file's columns."""
    count = len(columns.names)
    uses = ["feature" if i < features else "not used" for i in range(count - 1)] + ["label"]
    return Table(
        "columns",
        "Columns of the file",
        ("column", "use", "public minimum", "public maximum", "values clipped"),
        tuple(
            (name, use, float(low), float(high), float(beyond))
            for name, use, low, high, beyond in zip(
                columns.names, uses, columns.low, columns.high, columns.clipped, strict=True
            )
        ),
        "Scaled to [−1, 1] by these bounds, values beyond them clipped. Curator only.",
    )


def _coefficient_table(trials: Trials, names: tuple[str, ...], labels: tuple[str, ...]) -> Table:
    """Return the coefficients without privacy and those of one draw, for scaled columns."""
    return Table(
        "coefficients",
        "Coefficients at the current settings",
        ("feature", "without privacy", *labels),
        tuple(
            (name, float(best), *(float(theta) for theta in private))
            for name, best, private in zip(names, trials.truth.theta, trials.theta.T, strict=True)
        ),
        "For features and label scaled to [−1, 1]; the private ones are those of one draw.",
    )
