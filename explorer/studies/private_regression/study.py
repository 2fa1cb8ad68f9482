"""How well a label can be predicted from records that nobody but their owners has seen."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.simulation import dots_series
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Readout,
    Request,
    Result,
    Series,
    Study,
    Table,
)
from explorer.studies.base.sweeping import (
    SweptPoints,
    evenly_spread,
    readout_from,
    series_from,
    swept_points,
)
from explorer.studies.coordinate_mean.parameters import MEAN, MEDIAN
from explorer.studies.coordinate_mean.plans import Demand, Plan
from explorer.studies.coordinate_mean.simulation import summary
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.private_regression import text
from explorer.studies.private_regression.data import Columns, Source, describe
from explorer.studies.private_regression.face import FACES, SHORT_NAMES
from explorer.studies.private_regression.help import PAGE, PRESETS
from explorer.studies.private_regression.parameters import (
    FILE,
    LEAST_USERS,
    MAX_FEATURES,
    MAX_USERS,
    PARAMETERS,
    QUANTITIES,
)
from explorer.studies.private_regression.simulation import (
    OPTIONS,
    Task,
    Trials,
    run_trials,
    trials_a_call,
)
from explorer.studies.private_regression.theory import demands_of, plans_for, theorem_3
from explorer.studies.private_regression.tradeoff import audits

_PLACES = 7


@with_tradeoff(
    ("eps", "level", "q", "features", "share", "budget"), also=("channel",), audits=audits
)
class PrivateRegression(Study):
    """Least squares by Algorithm 3 on synthetic records or on the user's own table."""

    id = "private-regression"
    simulated = "local.coordinates/1"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield Theorem 3 at once, then simulated errors, the sliders' own point first."""
        context.check()
        points = swept_points(self, request)
        run = _Run(request, context, points)
        yield run.result({}, Fidelity.COARSE, complete=request.fidelity is Fidelity.COARSE)
        if request.fidelity is Fidelity.COARSE:
            return
        if request.quantity == "excess":
            # The theory is as good as it gets: who wants no more need not wait for the trials.
            yield run.result({}, Fidelity.FULL, complete=False)
        found: dict[int, Trials] = {}
        jobs = run.jobs()
        if not jobs:
            yield run.result({}, Fidelity.FULL, complete=True)
        for done, place in enumerate(jobs, 1):
            found[place] = run.trials(place)
            result = run.result(found, Fidelity.FULL, complete=done == len(jobs))
            yield replace(result, progress=done / len(jobs))


class _Run:
    """One request on its way."""

    def __init__(self, request: Request, context: Context, points: SweptPoints) -> None:
        self.request, self.context = request, context
        value = request["file"]
        self.wants_file = request["source"] == FILE
        self.source = Source()
        self.columns: Columns | None = None
        if self.wants_file and value:
            self.source = Source(
                context.file(value),
                value,
                request["target"],
                *(request[key] for key in ("x_low", "x_width", "y_low", "y_width", "decimal")),
            )
            self.columns = context.memo(
                ("private-regression", "columns", self.source),
                lambda: context.run_in_worker(describe, self.source),
            )
        real = self.columns is not None
        self.available = len(self.columns.names) - 1 if self.columns else MAX_FEATURES
        self.records = self.columns.records if self.columns else MAX_USERS
        self.stamp = text.REAL_DATA if real else text.SYNTHETIC
        most = {"n": self.records, "features": self.available}
        swept = most.get(points.sweep.key, np.inf)
        self.holds = np.append(points.x <= swept, True)
        # The sliders ask for all there is if they ask for more.
        capped = {key: np.minimum(points[key], value) for key, value in most.items()}
        points = replace(points, columns=points.columns | capped)
        self.points = points
        self.demands = demands_of(request, points, self.available)
        self.plans = plans_for(request["budget"], self.demands, context)

    @property
    def demand(self) -> Demand:
        """What the sliders demand."""
        return self.demands[-1]

    @property
    def plan(self) -> Plan:
        """What the sliders' budgets are."""
        return self.plans[-1]

    def jobs(self) -> list[int]:
        """Return the points to be tried out, the sliders' (the last one) first."""
        inside = [i for i in np.flatnonzero(self.holds[:-1]) if (self.plans[i].c > 0.0).all()]
        kept = evenly_spread(len(inside), _PLACES)
        last = [self.points.x.size] if (self.plan.c > 0.0).all() else []
        return last + [int(inside[place]) for place in kept]

    def trials(self, place: int) -> Trials:
        """Return the trials at a point, drawn in pieces that can be stopped in between."""
        plan = self.plans[place]
        task = Task(
            self.source,
            plan.c.size - 1,
            int(min(self.points["n"][place], self.records)),
            tuple(float(c) for c in plan.c),
            plan.rule,
            float(self.points["radius"][place]),
            self.request.seed,
            plan.channel,
        )
        wanted = int(self.request["trials"])

        def draw() -> Trials:
            at_once, pieces = trials_a_call(task), []
            for start in range(0, wanted, at_once):
                self.context.check()
                count = min(at_once, wanted - start)
                pieces.append(self.context.run_in_worker(run_trials, task, start, count))
            return Trials(
                pieces[0].truth,
                np.concatenate([piece.excess for piece in pieces]),
                sum(piece.indefinite for piece in pieces),
                pieces[0].theta,
            )

        self.context.check()
        found: Trials = self.context.memo(("private-regression", "trials", task, wanted), draw)
        return found

    def result(self, found: dict[int, Trials], fidelity: Fidelity, complete: bool) -> Result:
        """Return what is known once some points have been tried out."""
        here = found.get(self.points.x.size)
        bounds = theorem_3(self.plans, self.points, self.holds, self._why())
        series, readouts = [], []
        if self.request.quantity == "excess":
            for key, bound in bounds.items():
                label = text.NAMES[key][0]
                series.append(series_from(key, label, self.points, bound, note=text.ORDER_ONLY))
                readouts.append(readout_from(key, label, bound, note=text.ORDER_ONLY))
        series += self._simulated(found)
        readouts += self._numbers(here)
        capped = bool(bounds["theorem3"].value[-1] >= self._cap() * (1.0 - 1e-12))
        real = self.columns is not None
        return Result(
            self.request,
            fidelity,
            series=tuple(series),
            tables=self._tables(here),
            readouts=tuple(replace(r, curator_only=real) for r in readouts),
            conditions=text.conditions(
                self.demand,
                self.plan,
                here,
                int(self.request["trials"]),
                capped,
                self.columns,
                self.wants_file,
            ),
            guarantee=text.guarantee(self.demand, self.plan),
            notes=self._notes(),
            stamp=self.stamp,
            curator_only=real,
            complete=complete,
        )

    def _cap(self) -> float:
        radius = float(self.points["radius"][-1])
        return (radius**2 + radius) * self.plan.c.size

    def _why(self) -> str:
        if self.points.sweep.key == "features":
            return f"the file has {self.available} features"
        other = (
            "fewer users, or something else," if self.records > LEAST_USERS else "something else"
        )
        return (
            f"the file has {self.records:,} usable records, and no more users can be drawn; put "
            f"{other} on the x axis"
        )

    def _unit(self) -> float:
        """Return what one unit of the scaled label is in the label's own."""
        if self.columns is None:
            return 1.0
        return float(self.columns.high[-1] - self.columns.low[-1]) / 2.0

    def _error(self, trials: Trials, excess: float) -> float:
        """Return an excess risk, or the error of prediction that goes with it."""
        if self.request.quantity == "excess":
            return excess
        return self._unit() * float(np.sqrt(trials.truth.squared_error(excess)))

    def _dot(self, trials: Trials, j: int) -> tuple[float, ...]:
        """Return what is marked of an option's errors over the trials, and the bar's ends."""
        ends = summary(trials.excess[:, j], self.request["dots"])
        return tuple(self._error(trials, value) for value in ends)

    def _simulated(self, found: dict[int, Trials]) -> list[Series]:
        places = sorted(place for place in found if place < self.points.x.size)
        x = self.points.x[places]
        trials = f"{self.request['trials']} trials, seed {self.request.seed}"
        note = f"{text.BARS[self.request['dots']]} of {trials}"
        series = []
        if not places and self.request.quantity == "rmse":
            # The first answer has nothing to draw yet, but its axes.
            return [self._baseline("nothing", self.points.x, [None] * self.points.x.size)]
        if places:
            some = [found[place] for place in places]
            series.append(self._baseline("nothing", x, [-t.truth.least for t in some], some))
            if self.request.quantity == "rmse":
                series.append(self._baseline("nonprivate", x, [0.0] * len(some), some))
        for j, key in enumerate(OPTIONS):
            if places:
                label, source = text.OPTIONS[key]
                rows = [(float(self.points.x[p]), *self._dot(found[p], j)) for p in places]
                series.append(dots_series(key, label, source, rows, note + self._caution(key)))
        return series

    def _baseline(
        self,
        key: str,
        x: FloatArray,
        excess: Sequence[float | None],
        trials: Sequence[Trials] = (),
    ) -> Series:
        label, role, source = text.NAMES[key]
        y = [
            np.nan if value is None else self._error(trials[i], max(value, 0.0))
            for i, value in enumerate(excess)
        ]
        why = "nothing has been drawn here yet" if not trials else ""
        return Series(key, label, role, x, np.array(y), source, undefined_reason=why)

    def _numbers(self, here: Trials | None) -> list[Readout]:
        if here is None:
            return []
        readouts = []
        for j, key in enumerate(OPTIONS):
            shown, low, high = self._dot(here, j)
            bars = "quartiles" if self.request["dots"] == MEDIAN else "95 % interval"
            note = f"{bars} {nearest(low)} to {nearest(high)}{self._caution(key)}"
            readouts.append(Readout(key, text.OPTIONS[key][0], shown, Role.ESTIMATE, note=note))
        for key, excess in (("nothing", -here.truth.least), ("nonprivate", 0.0)):
            label, role, _ = text.NAMES[key]
            readouts.append(Readout(key, label, self._error(here, max(excess, 0.0)), role))
        return readouts

    def _caution(self, key: str) -> str:
        """Return what is to be said of an option's mean besides."""
        return text.HEAVY_TAILED if key == "unprojected" and self.request["dots"] == MEAN else ""

    def _tables(self, here: Trials | None) -> tuple[Table, ...]:
        count = self.plan.c.size - 1
        tables = []
        if here is not None:
            if self.columns is None:
                names = tuple(f"feature {i}" for i in range(1, count + 1))
            else:
                names = self.columns.names[:count]
            tables.append(text.coefficient_table(here, names))
        if self.columns is not None:
            tables.append(text.column_table(self.columns, count))
        return tuple(tables)

    def _notes(self) -> tuple[str, ...]:
        if self.columns is None:
            return ((text.NO_FILE,) if self.wants_file else ()) + (text.SYNTHETIC_NOTE,)
        notes = [self.columns.said]
        lost = text.lost_columns(self.columns, self.plan.c.size - 1)
        if lost:
            notes.insert(0, text.out_of_bounds(lost))
        if self.request["n"] > self.records:
            notes.append(
                f"{self.request['n']:,} users were asked for; all {self.records:,} are used."
            )
        if self.request["features"] > self.available:
            notes.append(f"There are {self.available} features; all of them are used.")
        notes.append(
            "Errors and coefficients without privacy are computed from the records themselves: "
            "they are no release."
        )
        return tuple(notes)
