"""Histograms in the shuffled model: error, noise, users, messages, and users without noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from explorer.privacy import histograms as hg
from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.privacy.histograms import Adjacency, Query, count_delta, single_message_epsilon
from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
from explorer.studies.base.builders import (
    FILE,
    TYPED,
    choice,
    count,
    decimal_sign,
    delta,
    epsilon,
    file,
    real,
    share,
    simulate,
    table,
    table_key,
    table_of,
    table_parameters,
)
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.parameters import table_rows
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Request,
    Result,
    ScalarResult,
    Scale,
    Sweep,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, scalar_from, swept_points
from explorer.studies.coordinate_mean.guarantee import SYNTHETIC
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.tradeoffs import Law, with_tradeoff
from explorer.studies.shuffled_histograms import guarantee as words, own_column, tables, theory
from explorer.studies.shuffled_histograms.curves import PLOTS, SLOW_EPS, HistogramPoints
from explorer.studies.shuffled_histograms.help import PAGE, PRESETS
from explorer.studies.shuffled_histograms.simulation import simulate_series
from explorer.studies.shuffled_histograms.theory import (
    CLAIMS,
    EXACT,
    LAW,
    MESSAGES,
    TABLE_1,
    TABLE_2,
    THEOREM_31,
    THEOREM_32,
    Settings,
)

_USERS_POINTS, _SLOW_USERS_POINTS = 25, 7
_SUM_ERROR = 2e-9
"""Relative error of a δ computed as a sum, by which it is moved to its safe side."""
_MAX_WHOLE_USERS = 1_000
"""Users up to whom an audit draws every noise bit; of more, their sum."""
_ERRORS = ("error", "query", "rmse")
_HISTOGRAM = (("release", (Query.HISTOGRAM.value,)),)

PARAMETERS = (
    choice(
        "release",
        "",
        "what is released",
        "A histogram over d bins, or a single count: how many users have a certain property.",
        Query.HISTOGRAM.value,
        ((Query.HISTOGRAM.value, "histogram"), (Query.COUNT.value, "a single count")),
        quantities=("error", "query", "rmse", "noise", "users", "messages", "loss"),
    ),
    epsilon(
        "privacy",
        "Privacy of the whole release for one user. Smaller is more private.",
        1.0,
        0.1,
        5.0,
    ),
    delta(1e-6, 1e-20, name="failure probability of the privacy"),
    count(
        "n",
        "n",
        "users",
        "How many users take part; the number is public. With more users the same noise weighs "
        "less.",
        10_000,
        10,
        1_000_000_000,
        unit="users",
    ),
    count(
        "d",
        "d",
        "bins",
        "How many values a user may have. P_hist's error does not depend on it, the number of "
        "messages does.",
        1000,
        2,
        1e15,
        unit="bins",
        relevant_when=_HISTOGRAM,
    ),
    count(
        "h",
        "h",
        "values that occur",
        "At most this many different values occur among the users; empty bins have no error in "
        "P_hist. If nothing is known, use the smaller of n and d; larger values count as that.",
        100,
        1,
        1_000_000_000,
        unit="values",
        quantities=("error",),
        relevant_when=_HISTOGRAM,
    ),
    real(
        "beta",
        "β",
        "failure probability of the error",
        "With what probability the error may be larger than the bound says.",
        0.05,
        1e-9,
        0.5,
        latex=r"\beta",
    ),
    count(
        "s",
        "s",
        "true count of a bin",
        "How many users really have the value.",
        200,
        1,
        1_000_000_000,
        unit="users",
        quantities=("query", "rmse"),
    ),
    share(
        "trusted",
        "nₕ/n",
        "users trusted to add noise",
        "The noise is calibrated as if only this share of the users added theirs. Smaller is "
        "safer, and noisier.",
        1.0,
        0.05,
        more_private="low",
        latex=r"n_h/n",
        group="mechanism",
        quantities=("error", "query", "rmse", "noise", "messages", "loss", "run"),
    ),
    share(
        "adding",
        "m/n",
        "users who really add noise",
        "What if only this share of the users adds noise in the end? The others send their "
        "value alone. Larger is more private.",
        1.0,
        0.05,
        more_private="high",
        latex=r"m/n",
        group="mechanism",
        quantities=("loss",),
    ),
    share(
        "place",
        "i/d",
        "place of the bin",
        "Number of the bin as a part of d: all bins, however many, from left to right.",
        1.0,
        axis_only=True,
        quantities=("run",),
    ),
    file(
        "column_file",
        "your column",
        "A CSV file with a user in each line and names in the first. Declare what the column can "
        "hold in its name: smoker [yes|no], age [0:120]; other values are in a bin “other”.",
        (".csv", ".tsv", ".txt"),
        group="data",
        quantities=("run",),
    ),
    count(
        "column",
        "",
        "number of the column",
        "Which column of the file is used, the first being 1.",
        1,
        1,
        200,
        Scale.LINEAR,
        group="data",
        quantities=("run",),
    ),
    count(
        "column_bins",
        "b",
        "bins of a range",
        "Into how many bins a column of more different numbers is cut.",
        10,
        2,
        100,
        Scale.LINEAR,
        group="data",
        quantities=("run",),
    ),
    decimal_sign("column_decimal", group="data", quantities=("run",)),
    simulate(
        "Run the calibrated protocol many times and draw what comes out as dots.",
        True,
        quantities=_ERRORS,
    ),
    choice(
        "shape",
        "",
        "simulated data",
        "How the users spread over the values that occur.",
        "edge",
        (
            ("edge", "hardest: counts at n(1−p)"),
            ("zipf", "heavy-tailed: count ∝ 1/rank"),
            ("even", "even"),
        ),
        group="simulation",
        quantities=("error",),
        relevant_when=(*_HISTOGRAM, ("simulate", ("True",))),
    ),
    count(
        "runs",
        "R",
        "simulated runs",
        "How often the protocol is run for a dot.",
        400,
        50,
        2000,
        group="simulation",
        quantities=_ERRORS,
        relevant_when=(("simulate", ("True",)),),
    ),
    count(
        "levels",
        "h",
        "levels of the tree",
        "Multi-party pointer jumping: levels of the tree, each held by users of its own; also "
        "the size of the support in support identification.",
        5,
        2,
        12,
        Scale.LINEAR,
        group="reductions",
    ),
    count(
        "children",
        "s",
        "children of a node",
        "Multi-party pointer jumping: labels a node may have.",
        3,
        2,
        3,
        Scale.LINEAR,
        group="reductions",
    ),
    count(
        "length",
        "ℓ",
        "length of the permutations",
        "Pointer chasing: the domain has (ℓ!)² values; the number of users does not depend on it.",
        100,
        2,
        10_000,
        latex=r"\ell",
        group="reductions",
    ),
    count(
        "crowd",
        "",
        "users of the small protocols",
        "Number of users of the protocols whose messages the last table enumerates.",
        3,
        1,
        4,
        Scale.LINEAR,
        unit="users",
        group="reductions",
    ),
    choice(
        "own",
        "",
        "your own randomiser in the last table",
        "A randomiser of yours, at most 4 inputs and 6 outputs, beside those of the paper: "
        "whether shuffling makes it pure (Theorem 4.1).",
        "none",
        (("none", "none"), (TYPED, "a table, typed"), (FILE, "a table from a CSV file")),
        group="reductions",
    ),
    *table_parameters("own", "own_table", "0.75 0.25; 0.5 0.5", {"group": "reductions"}),
    table(
        "own_messages",
        "messages of its outputs",
        "A row for each output of the table, in it the messages that are sent, in order: whole "
        "numbers from 1, and 0 for none. 1 2; 2 1 sends two messages in either order. Empty: "
        "every output is one message.",
        "",
        group="reductions",
        relevant_when=(("own", (TYPED, FILE)),),
    ),
)


def _laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield the exact δ(ε) of the noise that is added."""
    kind, users, q = _noise(request, context)
    yield Law(
        "law",
        "exact law of the messages",
        lambda eps: np.minimum(theory.exact_delta(kind, eps, users, q) * (1 + _SUM_ERROR), 1.0),
        Role.UPPER,
        promise.pairs[0][0],
        EXACT,
    )


def _noise(request: Request, context: Context) -> tuple[Query, float, float]:
    """Return what is released, how many users are trusted to add noise, and 1 − p."""
    kind = Query(request["release"])
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    one = Settings.of(SweptPoints(Sweep("n", 1.0, 1.0, 1), np.empty(0), values), kind)
    noise = theory.calibrate_noise(one, context)
    return kind, float(one.held[0]), float(noise.q[0])


def _audits(request: Request, promise: Guarantee, context: Context) -> Audited:
    """Return the audit of the randomiser and the shuffler: one user's value is replaced."""
    kind, held, q = _noise(request, context)
    users, (eps, delta) = int(held), promise.pairs[0]
    two = kind is Query.HISTOGRAM

    def whole(side: int, rng: np.random.Generator) -> float:
        values = np.zeros(users, np.int64)
        values[0] = side
        if not two:
            return float(hg.count_randomizer(values, 1 - q, rng).messages.size)
        sent = hg.histogram_randomizer(values, 2, 1 - q, rng)
        seen = np.bincount(hg.shuffler(sent, rng), minlength=2)
        return float(seen[1] - seen[0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        if users <= _MAX_WHOLE_USERS:
            return np.array([whole(side, rng) for _ in range(runs)])
        noise: FloatArray = rng.binomial(users, 1 - q, runs).astype(float) + side
        if two:
            noise -= rng.binomial(users, 1 - q, runs) + (1 - side)
        return noise

    moved = "from one bin to another, both counts are seen" if two else "from 0 to 1"
    return Audited(
        f"{'P_hist' if two else 'P_zsum'} of {users:,} users; one of them moves {moved}",
        run,
        eps,
        delta,
        at_once=max(1, 2_000_000 // users) if users <= _MAX_WHOLE_USERS else 10_000,
    )


@with_tradeoff(
    ("release", "eps", "delta", "n", "trusted"),
    laws=_laws,
    promising=("law",),
    audits=_audits,
)
class ShuffledHistograms(CurveStudy):
    """P_hist and P_zsum, compared with the local and the central model."""

    id = "histograms"
    simulated = "shuffle.histogram/1"
    parameters = PARAMETERS
    plots = PLOTS
    points = HistogramPoints
    page = PAGE
    presets = PRESETS
    references = (
        THEOREM_32,
        THEOREM_31,
        EXACT,
        LAW,
        MESSAGES,
        TABLE_1,
        TABLE_2,
        CLAIMS,
        UNARY,
        LAPLACE,
        STABLE,
    )

    def stages(self, p: HistogramPoints) -> Iterable[HistogramPoints]:
        """Return few calibrations first, then all; of a run the bins alone."""
        if p.request.quantity == "run":
            return (p.at(own_column.points_of(p.swept, p.own)),)
        return (p.at(p.swept, Fidelity.COARSE), p)

    def claimed_number(self, p: HistogramPoints) -> tuple[Curve, HistogramPoints] | None:
        """Return the error by exact noise and tails at the sliders' values, where there is one."""
        curve = next((c for c in self.curves(p) if c.key == "tails"), None)
        return None if curve is None else (curve, p.at_sliders)

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves, then simulated dots, then the tables that take a moment.

        The least number of users takes long at each point; its curve grows from result to result.
        """
        if request.quantity != "users":
            yield from super().answer(request, context)
            return
        p = self.points(swept_points(self, request), request, context)
        fewer = p.thinned(_SLOW_USERS_POINTS if p.here.eps < 2 * SLOW_EPS else _USERS_POINTS)
        for users, progress in theory.exact_users(fewer.settings, context):
            index = np.append(np.flatnonzero(np.isfinite(users[:-1])), users.size - 1)
            columns = {key: column[index] for key, column in fewer.swept.columns.items()}
            stage = p.at(p.swept, Fidelity.COARSE if progress < 1 else Fidelity.FULL)
            stage.part = p.at(SweptPoints(p.swept.sweep, fewer.swept.x[index[:-1]], columns))
            stage.part.users = users[index]
            last = request.fidelity is Fidelity.COARSE and progress < 1
            result = replace(self.result(stage, complete=last), progress=progress)
            yield result
            if last:
                return
        yield from self._with_tables(result, context)

    def simulation(self, p: HistogramPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds simulated dots, then the tables that take a moment."""
        if p.request.quantity == "run":
            return None

        def later(result: Result) -> Iterator[Result]:
            curves, q = result.series, p.fewer
            if p.request.quantity in _ERRORS and p.request["simulate"]:
                dots = simulate_series(p.request, q.swept, q.settings, q.noise, p.context)
                for series, done in dots:
                    result = replace(result, series=(*curves, series), progress=0.9 * done)
                    yield result
            yield from self._with_tables(result, p.context)

        return later

    def _with_tables(self, result: Result, context: Context) -> Iterator[Result]:
        """Yield the answer with Table 2, the reductions and the views."""
        request = result.request
        eps, delta = float(request["eps"]), float(request["delta"])
        levels, length = int(request["levels"]), int(request["length"])
        children, crowd = int(request["children"]), int(request["crowd"])
        numbers = context.cached(
            ("histograms", "table 2", eps, delta, levels, length),
            lambda: context.run_in_worker(tables.table_2_cells, eps, delta, levels, length),
        )
        context.check()
        runs = context.cached(
            ("histograms", "reductions", eps, delta, levels, children, length, request.seed),
            lambda: context.run_in_worker(
                tables.reduction_rows, eps, delta, levels, children, length, request.seed
            ),
        )
        kind, own, key = str(request["own"]), None, tuple[object, ...]()
        if kind != "none":
            chances = table_of(request, kind, "own_table", context)
            sends = str(request["own_messages"])
            rows = table_rows(sends, "messages of your own randomiser")
            own = None if chances is None else tables.own_randomiser(chances, rows)
            key = (*table_key(request, kind, "own_table"), sends)
        views: Table = context.cached(
            ("histograms", "views", crowd, *key),
            lambda: context.run_in_worker(tables.views, crowd, own),
        )
        more = (
            tables.table_2(numbers, eps, delta),
            tables.separation(numbers, eps),
            tables.reductions(runs),
            views,
            tables.one_by_one(crowd, request.seed),
        )
        yield replace(result, tables=result.tables + more, complete=True, progress=1.0)

    def readouts(self, p: HistogramPoints) -> tuple[ScalarResult, ...]:
        """Return the curves at the sliders, then the noise of the protocol there."""
        if p.request.quantity == "run":
            return own_column.readouts(p)
        result = [
            scalar_from(curve.key, _label(curve, p), p.bounds[curve.key])
            for curve in self.curves(p)
            if curve.key in p.bounds
        ]
        one = p.at_sliders
        n, noise, label = float(one.settings.n[0]), one.noise, "1−p, a noise bit not sent"
        if noise.valid[0]:
            q = float(noise.q[0])
            result += [
                ScalarResult("q", label, q),
                ScalarResult("edge", "truncation edge n(1−p)", n * q),
            ]
        else:
            result.append(ScalarResult("q", label, None, note=noise.reason))
        alone = single_message_epsilon(float(one.settings.eps[0]), n)
        result.append(
            ScalarResult(
                "alone",
                "ε + ln n: ε of a message alone, if one is sent",
                alone,
                Role.UPPER,
                note=(
                    "Section 1.2: a protocol in which each user sends one message, (ε, δ)-DP "
                    "behind the shuffle, has a randomiser that is (ε + ln n, δ)-DP by itself; of "
                    "several messages it says nothing"
                ),
            )
        )
        return tuple(result)

    def conditions(self, p: HistogramPoints) -> tuple[Condition, ...]:
        """Return the conditions at the sliders' values."""
        one = p.at_sliders
        s, noise = one.settings, one.noise
        h, held = float(s.h[0]), float(s.held[0])
        errors = p.request.quantity in ("error", "query")
        return words.conditions(
            p.kind,
            float(s.eps[0]),
            float(s.delta[0]),
            float(s.n[0]),
            held,
            held * float(noise.q[0]) if noise.valid[0] else np.inf,
            beta=float(s.beta[0]) / (h if p.shared else 1) if errors else None,
            values=(h, float(min(s.n[0], s.d[0]))) if p.shared and errors else None,
            adding=p.adding_here,
            reached=p.delta_reached,
            unlisted=p.own.unlisted if p.request.quantity == "run" else "",
        )

    def tables(self, p: HistogramPoints) -> tuple[Table, ...]:
        """Return Table 1 at the sliders' values for a histogram, or the steps of a run."""
        if p.request.quantity == "run":
            return own_column.tables(p)
        if p.kind is not Query.HISTOGRAM:
            return ()
        one = p.at_sliders
        labels, errors = self._curves_of("error", one)
        _, messages = self._curves_of("messages", one)
        return (tables.table_1(labels, errors, messages, float(one.settings.h[0])),)

    def _curves_of(self, shown: str, p: HistogramPoints) -> tuple[dict[str, str], dict[str, Bound]]:
        """Return labels and values of the curves of a quantity."""
        q = HistogramPoints(p.swept, replace(p.request, quantity=shown), p.context)
        curves = self.curves(q)
        bounds = {curve.key: bound for curve in curves if (bound := curve.bound(q)) is not None}
        return {curve.key: _label(curve, q) for curve in curves}, bounds

    def notes(self, p: HistogramPoints) -> tuple[str, ...]:
        """Return that there is no noise at the sliders' values, where that is so."""
        run = own_column.notes(p) if p.request.quantity == "run" else ()
        if p.at_sliders.noise.valid[0]:
            return run
        return (
            *run,
            "at the sliders' values no noise reaches (ε, δ): raise n, ε or δ, or trust more users",
        )

    def result(self, p: HistogramPoints, *, complete: bool) -> Result:
        """Return the answer; that of a run on a file is for the curator only."""
        result = super().result(p, complete=complete)
        if p.request.quantity != "run":
            return result
        real = p.own.real
        return replace(result, stamp=REAL_DATA if real else SYNTHETIC, curator_only=real)

    def guarantee(self, p: HistogramPoints) -> Guarantee | None:
        """Return the guarantee at the sliders' values; None where no noise reaches (ε, δ)."""
        one, adding = p.at_sliders, p.adding_here
        s, noise, paper = one.settings, one.noise, one.paper_noise
        if not noise.valid[0]:
            return None
        n, eps, held, q = float(s.n[0]), float(s.eps[0]), float(s.held[0]), float(noise.q[0])
        users = held if adding is None else adding
        local = theory.local_comparator(s, one.ones).value[0]
        own = theory.tails(s, noise, one.ones, p.context).value[0]
        return words.guarantee(
            p.kind,
            eps,
            float(s.delta[0]) if p.delta_reached is None else p.delta_reached,
            held,
            adding,
            float(count_delta(eps, users, 1 - q, Adjacency.REMOVE)),
            theory.total_variation(p.kind, users, q, p.context),
            words.differences(
                p.kind,
                n * q,
                n * float(paper.q[0]) if paper.valid[0] else None,
                1 - q,
                float(s.d[0]),
                float(local / own),
            ),
        )


def _label(curve: Curve, p: HistogramPoints) -> str:
    return curve.label if isinstance(curve.label, str) else curve.label(p)
