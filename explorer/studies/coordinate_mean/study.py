"""Study of the private mean when some coordinates are more private than others."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from explorer.privacy import coordinates as co
from explorer.privacy.coordinates import DUCHI, PRIV_UNIT
from explorer.privacy.core.bound import Role
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    epsilon,
    file,
    real,
    share,
    simulate,
    trials,
)
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Guarantee,
    Kind,
    Mark,
    Parameter,
    Result,
    ScalarResult,
    Scale,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean import guarantee, run_records, theory
from explorer.studies.coordinate_mean.demanded import (
    CHOICES,
    MAX_COORDINATES,
    OwnDemand,
    demand_parameters,
)
from explorer.studies.coordinate_mean.help import PAGE, PRESETS
from explorer.studies.coordinate_mean.plots import (
    BUDGETS,
    FILE,
    LEAST_SENSITIVE,
    MAX_SENSITIVE,
    MECHANISMS,
    PLOTS,
    SLIDER,
    MeanCurve,
    MeanPoints,
)
from explorer.studies.coordinate_mean.public_file import CAVEATS
from explorer.studies.coordinate_mean.run_records import RUN_BASELINE, RUN_BEST, RUN_PAPER
from explorer.studies.coordinate_mean.simulation import MEAN, MEDIAN, audits, simulated
from explorer.studies.coordinate_mean.theory import (
    FIXED,
    GEOMETRIC,
    HEURISTIC,
    LINEAR,
    TWO,
    Plan,
    convex_plan,
    finite,
    mse,
    with_channel,
)
from explorer.studies.guarantees.tradeoffs import with_tradeoff

_MAX_SEARCHES = 25
"""Most different numbers of coordinates in one sweep: each is a search of its own."""
_SEARCHED = ("exact", "hybrid", "exact_projected", "hybrid_projected")
"""Curves of designs that are searched for at few points, unless there are two levels."""
_SIMULATED = (("simulate", ("True",)),)
_FROM_FILE = (("q_from", (FILE,)),)
_SPREAD = (("profile", (TWO, LINEAR, GEOMETRIC)),)
"""Where levels are spread from δ₁ to ε, not demanded one by one."""

PARAMETERS = (
    share(
        "q",
        "q",
        "assumed dependence between coordinates",
        "How far knowing one coordinate may change an observer's beliefs about the others, in "
        "total variation: 0 is independence, 1 is anything. The budgets hold for observers "
        "who assume at most this much. It must be public and never computed from the protected "
        "records. A larger q is more private.",
        0.1,
        more_private="high",
        relevant_when=(("q_from", (SLIDER,)),),
    ),
    epsilon(
        "level of the sensitive coordinates",
        "Coordinate level: how much a report may reveal about a sensitive coordinate alone. A "
        "privacy level in nats, not the failure probability δ of approximate DP. Smaller is "
        "more private.",
        0.2,
        0.01,
        10.0,
        key="level",
        symbol="δ₁",
        unit="nats",
        relevant_when=_SPREAD,
    ),
    epsilon(
        "level of the whole record",
        "Local privacy of the report as a whole, whatever anybody believes. The least "
        "sensitive coordinates demand no more than this. Smaller is more private.",
        2.0,
        0.01,
        10.0,
        unit="nats",
    ),
    count(
        "d",
        "d",
        "coordinates",
        "How many numbers each user holds.",
        10,
        2,
        MAX_COORDINATES,
        relevant_when=_SPREAD,
    ),
    choice(
        "profile",
        "",
        "demanded levels",
        "How the coordinate levels are spread: some coordinates at δ₁ and the others at ε (as "
        "in Figure 3), all different, from δ₁ for the first to ε for the last, or as you list "
        "them, with a coupling for each if you know it.",
        TWO,
        (
            (TWO, "two levels: δ₁ and ε"),
            (LINEAR, "evenly from δ₁ to ε"),
            (GEOMETRIC, "geometrically from δ₁ to ε"),
            *CHOICES,
        ),
    ),
    *demand_parameters("coordinate", "0.2; 0.5; 1; 2"),
    share(
        "share",
        "k/d",
        "share of sensitive coordinates",
        "Which part of the coordinates has level δ₁: k is this times d, rounded, at least 1.",
        0.2,
        relevant_when=(("profile", (TWO,)),),
    ),
    count(
        "n",
        "n",
        "users",
        "Number of users who report. The guarantee does not depend on it.",
        10_000,
        1,
        1_000_000_000,
        unit="users",
        quantities=("mse", "run"),
    ),
    share(
        "x2",
        "x²",
        "mean square of the data",
        "Average of x² over users and coordinates, between 0 (the worst case) and 1 (all data "
        "±1). Costs no privacy.",
        0.0,
        latex=r"\overline{x^2}",
        quantities=("mse",),
    ),
    choice(
        "zeta_rule",
        "",
        "the paper's ζ",
        "How the free parameter of Theorem 2 is chosen: as in Figure 3, or fixed. The best ζ "
        "is drawn besides.",
        HEURISTIC,
        ((HEURISTIC, "ζ = (1+q)/2, as in Figure 3"), (FIXED, "ζ as set")),
        group="mechanism",
    ),
    share(
        "zeta",
        "ζ",
        "free parameter of Theorem 2",
        "Part of the sensitive level that correlation may use up. Any value in (0, 1] is as "
        "private; Corollary 1 takes ½.",
        0.5,
        0.01,
        latex=r"\zeta",
        group="mechanism",
        relevant_when=(("zeta_rule", (FIXED,)),),
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
    Parameter(
        "projected",
        "",
        "also the projected average",
        "Draw the errors of the averages clipped to [−1, 1] besides, by the central limit "
        "theorem, for data with mean 0. Costs no privacy.",
        Kind.FLAG,
        False,
        group="mechanism",
        quantities=("mse",),
    ),
    share(
        "true_q",
        "q′",
        "true coupling",
        "Coupling of the beliefs of the observer one wonders about, which may be more than what "
        "was assumed.",
        0.1,
        quantities=("level",),
        latex="q'",
    ),
    count(
        "releases",
        "T",
        "releases",
        "How often the same record is reported anew. Levels of coordinates do not add: they are "
        "computed again from the sums of c and L. Fewer is more private.",
        1,
        1,
        100,
        more_private="low",
        quantities=("level",),
    ),
    choice(
        "whose",
        "",
        "coordinate shown",
        "Whose level is drawn.",
        MAX_SENSITIVE,
        ((MAX_SENSITIVE, "the most sensitive"), (LEAST_SENSITIVE, "the least sensitive")),
        quantities=("level",),
    ),
    share(
        "place",
        "i/d",
        "place of the coordinate",
        "Number of the coordinate, the most sensitive first, as a part of d: all coordinates, "
        "however many, from left to right.",
        1.0,
        axis_only=True,
        quantities=("budget", "run"),
    ),
    count(
        "i",
        "i",
        "coordinate",
        "Number of the coordinate, the most sensitive first.",
        1,
        1,
        MAX_COORDINATES,
        Scale.LINEAR,
        axis_only=True,
        quantities=("budget", "run"),
    ),
    simulate(
        "Draw users' data and reports and mark the errors found, with the data's coupling q′ = q.",
        quantities=("mse",),
    ),
    trials(
        "How often the experiment is repeated at each point. Figure 3 has 1000.",
        20,
        1000,
        quantities=("mse",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "dots",
        "",
        "dots show",
        "What is marked of the trials.",
        MEAN,
        ((MEAN, "mean and its 95 % interval"), (MEDIAN, "median and quartiles")),
        group="simulation",
        quantities=("mse",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "run_by",
        "",
        "run",
        "Which mechanism is run on the records.",
        RUN_PAPER,
        (
            (RUN_PAPER, "M_mean, Theorem 2 with the paper's ζ"),
            (RUN_BEST, "M_mean, Theorem 2 with the best ζ"),
            (RUN_BASELINE, "M_LDP at the lowest level for all"),
        ),
        group="mechanism",
        quantities=("run",),
    ),
    file(
        "records",
        "your records",
        "A table of records (CSV, one user a line, numbers only), the most sensitive columns "
        "first. Public bounds stand in the first line, age [0:120]; without them they are −1 and "
        "1. Values beyond them are clipped.",
        (".csv", ".tsv", ".txt"),
        group="data",
        quantities=("run",),
    ),
    decimal_sign("records_decimal", group="data", quantities=("run",)),
    choice(
        "q_from",
        "",
        "coupling from",
        "Set the coupling by its slider, or take an upper confidence bound from a public file.",
        SLIDER,
        ((SLIDER, "the slider"), (FILE, "a public file")),
        group="data",
    ),
    file(
        "public",
        "public file",
        "A table of public records (CSV, one record a line) like the protected ones, whose "
        "coupling is bounded. Declare what columns can hold in the first line: smoker [yes|no], "
        "age [0:120]. Never the protected records themselves: the reports publish q.",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FROM_FILE,
    ),
    decimal_sign(group="data", relevant_when=_FROM_FILE),
    real(
        "beta",
        "β",
        "chance that the bound fails",
        "With this probability, over the draw of the public records, the coupling is above the "
        "upper bound that is used. Smaller is surer.",
        0.05,
        1e-9,
        0.5,
        more_private="low",
        group="data",
        latex=r"\beta",
        relevant_when=_FROM_FILE,
    ),
    count(
        "bins",
        "b",
        "bins",
        "Into how many bins a column of more different numbers is cut before its coupling is "
        "measured. Fewer bins can only hide coupling.",
        4,
        2,
        32,
        group="data",
        relevant_when=_FROM_FILE,
    ),
    Parameter(
        "reads_bins",
        "",
        "the mechanism reads the bins",
        "Users report the middle of their bin in place of their number, so that levels are about "
        "which bin. Only then is a bound on the bins' coupling one for the users' data.",
        Kind.FLAG,
        False,
        group="data",
        relevant_when=_FROM_FILE,
    ),
)


@with_tradeoff(
    (
        *("q", "level", "eps", "d", "profile", "demand", "demand_file", "demand_decimal"),
        *("share", "zeta_rule", "zeta", "q_from", "public"),
    ),
    also=("channel",),
    audits=audits,
)
class CoordinateMean(CurveStudy):
    """Error of M_mean and of better designs, their budgets, and the levels of coordinates."""

    id = "coordinate-mean"
    simulated = "local.coordinates/1"
    references = theory.REFERENCES
    parameters = PARAMETERS
    plots = PLOTS
    points = MeanPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: MeanPoints) -> tuple[MeanPoints, ...]:
        """Return points with closed forms and few searches, then those of whole curves."""
        swept = _with_demand(p)
        if p.request.quantity == "run":
            return (p.at(swept),)
        if p.request.quantity == "budget":
            swept = theory.coordinates(swept, int(swept["d"][-1]))
        elif swept.sweep.key in ("d", "share"):
            swept = swept.downsampled(_MAX_SEARCHES)
        return (p.at(swept, Fidelity.COARSE), p.at(swept, Fidelity.FULL))

    def claimed_number(self, p: MeanPoints) -> tuple[Curve, MeanPoints] | None:
        """Return the error of the hybrid design at the sliders' values, where it is quick."""
        few = p.swept.sweep.key in ("d", "share")
        if p.request.quantity != "mse" or p.request["profile"] != TWO or few:
            return None
        only = p.at(_with_demand(p).only_sliders(), Fidelity.COARSE)
        return next(c for c in self.curves(p) if c.key == "hybrid"), only

    def simulation(self, p: MeanPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds simulated errors, if they are asked for."""
        if p.request.quantity != "mse" or not p.request["simulate"]:
            return None
        labels = {key: m.label for key, m in MECHANISMS.items()}
        return lambda full: simulated(full, p.request, p.swept, p.known, labels, p.context)

    def curves(self, p: MeanPoints) -> Iterable[Curve]:
        """Return the curves; designs that are searched for at few points as dots."""
        curves = super().curves(p)
        if p.demand.profile == TWO or p.request.quantity == "budget":
            return curves
        return tuple(replace(c, mark=Mark.DOTS) if c.key in _SEARCHED else c for c in curves)

    def result(self, p: MeanPoints, *, complete: bool) -> Result:
        """Return the answer; that of a run on a file is for the curator only."""
        result = super().result(p, complete=complete)
        if p.request.quantity == "run":
            stamp = REAL_DATA if p.run.real else guarantee.SYNTHETIC
            return replace(result, stamp=stamp, curator_only=p.run.real)
        jumping = {c.key for c in self.curves(p) if isinstance(c, MeanCurve) and c.jumps}
        series = tuple(
            theory.with_gaps(s, p.jumps) if s.key in jumping else s for s in result.series
        )
        return replace(result, series=series)

    def readouts(self, p: MeanPoints) -> tuple[ScalarResult, ...]:
        """Return the errors, the levels L of all budgets, or the levels of the coordinate."""
        if p.request.quantity == "run":
            return run_records.readouts(p.run)
        if p.request.quantity != "budget":
            return super().readouts(p)
        return tuple(
            ScalarResult(
                f"total_{curve.key}",
                f"L of {MECHANISMS[curve.key].budget}",
                p.plans_here[curve.key].total,
                Role.EXACT,
                "nats",
                note="privacy of the report as a whole",
            )
            for curve in BUDGETS
            if curve.key in p.plans_here
        )

    def conditions(self, p: MeanPoints) -> tuple[Condition, ...]:
        """Return what must hold at the sliders' values."""
        wants_file = p.request["q_from"] == FILE
        if p.request.quantity == "run":
            users = float(p.run.outcome.users)
            return guarantee.conditions(p.run.demand, p.run.plans, 0.0, users, wants_file, p.public)
        return guarantee.conditions(
            p.demand, p.plans_here, p.here.x2, p.here.n, wants_file, p.public
        )

    def guarantee(self, p: MeanPoints) -> Guarantee:
        """Return the guarantee of all mechanisms shown."""
        if p.request.quantity == "run":
            return guarantee.guarantee(p.run.demand, p.run.plan, 1, p.public)
        releases = int(p.request["releases"]) if p.request.quantity == "level" else 1
        public = p.public if p.swept.sweep.key != "q" else None
        return guarantee.guarantee(p.demand, p.plans_here["paper"], releases, public)

    def tables(self, p: MeanPoints) -> tuple[Table, ...]:
        """Return the mechanisms side by side, and the coupling of a public file."""
        shown: tuple[Table, ...] = (_designs_table(p), _channels_table(p))
        if p.request.quantity == "run":
            shown = (run_records.table(p.run),)
        elif p.own is not None:
            shown += (_demand_table(p, p.own),)
        return shown if p.public is None else (*shown, p.public.table())

    def notes(self, p: MeanPoints) -> tuple[str, ...]:
        """Return notes on the kind of report, the public file, and the true coupling."""
        if p.request.quantity == "run":
            return p.run.notes
        notes = [] if p.demand.channel == co.DUCHI else [guarantee.CHANNEL_NOTE]
        if p.public is not None:
            notes += [p.public.summary, *CAVEATS]
            if p.swept.sweep.key == "q":
                notes.append(guarantee.on_the_axis(p.public))
        elif p.request["q_from"] == FILE:
            notes.append(guarantee.no_file(p.demand.q))
        if p.request.quantity == "level":
            notes.append(guarantee.levels_note(p.demand, p.here.true_q))
        notes += guarantee.own_notes(p.demand, p.request["profile"], p.swept.sweep.key, p.own)
        return tuple(note for note in notes if note)


def _with_demand(p: MeanPoints) -> SweptPoints:
    """Return the points with a public file's coupling, or the user's own demand."""
    return theory.with_own(p.swept, p.own, None if p.public is None else p.public.q)


def _designs_table(p: MeanPoints) -> Table:
    """Return the mechanisms side by side at the sliders' values."""
    rows = [(m.label, p.plans_here[key]) for key, m in MECHANISMS.items() if key in p.plans_here]
    demand = p.demand
    convex_known = demand.channel == co.DUCHI and p.request.quantity == "budget"
    if convex_known and not p.coarse:
        convex: Plan = p.context.cached(
            ("coordinate-mean", "convex", demand.apart_from_zeta),
            lambda: p.context.run_in_worker(convex_plan, demand),
        )
        rows.append(("one channel a level, globally best", convex))
    return Table(
        "designs",
        "Mechanisms at the current settings",
        ("mechanism", "c, most sensitive", "c, least sensitive", "L", "MSE"),
        tuple(
            (
                name,
                float(plan.c[demand.most]),
                float(plan.c[demand.least]),
                plan.total,
                finite(mse(plan, p.here.x2, p.here.n)),
            )
            for name, plan in rows
        ),
        "Levels in nats; exact errors, not projected, empty where a coordinate has no report. "
        f"Designs are searched for {guarantee.CHANNEL_NAMES[demand.channel]}; with the other kind "
        f"of report they keep their levels. All promise {guarantee.demand_sentence(demand)} at "
        f"{guarantee.couplings(demand)}.",
        (None, *[Role.EXACT] * 4),
    )


def _demand_table(p: MeanPoints, own: OwnDemand) -> Table:
    """Return every coordinate of the user's own demand with the budget that meets it."""
    demand = p.demand
    shown = [(m.label, p.plans_here[key]) for key, m in MECHANISMS.items() if key in p.plans_here]
    return Table(
        "demand",
        "Demanded levels, one by one",
        (
            "coordinate",
            "level demanded, min(δᵢ, ε)",
            "coupling qᵢ",
            *(f"c: {label}" for label, _ in shown),
        ),
        tuple(
            (
                own.names[i] if own.names else f"coordinate {i + 1}",
                float(level),
                demand.coupling_of(i),
                *(float(plan.c[i]) for _, plan in shown),
            )
            for i, level in enumerate(demand.levels)
        ),
        "In nats, couplings as probabilities. Of every mechanism "
        "log((1−qᵢ)e^{cᵢ} + qᵢ·e^L) is at most the level.",
        (None, Role.BASELINE, Role.UPPER, *[Role.EXACT] * len(shown)),
    )


def _channels_table(p: MeanPoints) -> Table:
    """Return every mechanism's error with both kinds of report, its levels kept."""
    rows = []
    for key, m in MECHANISMS.items():
        p.context.check()
        if key in p.plans_here:
            errors = (
                mse(with_channel(p.plans_here[key], channel), p.here.x2, p.here.n)
                for channel in guarantee.CHANNEL_NAMES
            )
            rows.append((m.label, *map(finite, errors)))
    return Table(
        "channels",
        "The same levels with other kinds of reports",
        ("mechanism", *(f"MSE by {name}" for name in guarantee.CHANNEL_NAMES.values())),
        tuple(rows),
        "Exact, at the current settings, not projected. Budgets and levels are those searched "
        f"for {guarantee.CHANNEL_NAMES[p.demand.channel]}, and as private by either.",
        (None, *[Role.EXACT] * 2),
    )
