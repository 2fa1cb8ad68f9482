"""Error of a private heatmap, the split of its ε over levels, and what shuffling it costs."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from explorer.privacy.core.bound import BoolArray, Reference, Role
from explorer.privacy.heatmaps import start_level, theory as map_theory
from explorer.privacy.heatmaps.budget_schedule import SCHEDULE_REFERENCE
from explorer.studies.base.builders import choice, count, delta, epsilon, real, simulate, trials
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.plots import Curve, Plot
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
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap_theory import guarantee, theory
from explorer.studies.heatmap_theory.help import PAGE, PRESETS
from explorer.studies.heatmap_theory.simulation import simulated
from explorer.studies.heatmap_theory.theory import (
    COUNTS,
    MIN_USERS,
    SALICON,
    SQUARE,
    MapPoints,
    cells_sent,
    dense_lower,
    messages_per_user,
)

MAX_LEVEL = 11
"""ℓ of the finest map offered."""
_SIMULATED = (("simulate", ("True",)),)
_PYRAMID = ("error", "split", "centres", "bits", "missing")
_SHUFFLED = ("bits", "missing")

PARAMETERS = (
    epsilon(
        "privacy of the map",
        "How much the map may reveal about any one user, from all their check-ins together. "
        "Smaller is more private and noisier.",
        1.0,
        0.01,
        20.0,
        key="epsilon",
        quantities=_PYRAMID,
    ),
    count(
        "n",
        "n",
        "users",
        "Number of users in the map. The guarantee does not depend on it; with more users the "
        "map is more accurate.",
        100_000,
        1,
        1_000_000_000,
        unit="users",
        quantities=("error", "split", "centres", "bits"),
    ),
    count(
        "k",
        "k",
        "cells with mass",
        "Sparsity: the users are in at most this many cells. The pyramid keeps as many, w = k. "
        "Costs no privacy if it is chosen without looking at the data.",
        20,
        1,
        1_000_000,
        unit="cells",
        quantities=("error", "split", "centres", "missing"),
    ),
    choice(
        "resolution",
        "Δ",
        "resolution",
        "Cells on a side of the map.",
        "256",
        tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, MAX_LEVEL + 1)),
        latex=r"\Delta",
        quantities=_PYRAMID,
    ),
    real(
        "guess",
        "n₀/n",
        "guess of the number of users",
        "Ratio of the number of users assumed beforehand, n₀, to the true one; 1 is a perfect "
        "guess. n₀ sets how deep the capped pyramid and dense aggregation measure. It must not be "
        "computed from the data.",
        1.0,
        0.01,
        100.0,
        latex=r"n_0/n",
        quantities=("error", "split"),
    ),
    real(
        "optimum",
        "OPT",
        "distance of the best centres",
        "Mean distance of the users to the nearest of the centres that are best for them, as a "
        "part of the side: how well they can be clustered at all. It says nothing about privacy.",
        0.05,
        1e-4,
        1.0,
        unit="of the side",
        latex=r"OPT",
        quantities=("centres",),
    ),
    real(
        "factor",
        "f",
        "quality of the search",
        "The centres found cost at most f times the best ones on the private map. 1 is the best "
        "centres; a local search to its end has f ≤ 10. It says nothing about privacy.",
        1.0,
        1.0,
        20.0,
        quantities=("centres",),
    ),
    real(
        "lam",
        "λ",
        "share of the cost lost",
        "0 where at most k cells hold all users. Elsewhere the private map also loses a share λ of "
        "the cost, which falls as k grows over the number of centres; its constant is not known.",
        0.0,
        0.0,
        0.9,
        Scale.LINEAR,
        latex=r"\lambda",
        quantities=("centres",),
    ),
    real(
        "emd",
        "EMD",
        "distance of the maps",
        "Earth mover's distance of true and private map before blurring, as a part of the side. "
        "It says nothing about privacy.",
        0.05,
        1e-6,
        2.0,
        unit="of the side",
        quantities=("kl", "similarity"),
    ),
    real(
        "sigma",
        "σ",
        "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a part of the side. Costs "
        "no privacy.",
        0.1,
        0.005,
        0.5,
        unit="of the side",
        latex=r"\sigma",
        quantities=("kl", "similarity"),
    ),
    count(
        "B",
        "B",
        "units a user",
        "Shuffle model: into how many whole units a user's distribution is rounded. More is "
        "more accurate and takes more communication; privacy is the same.",
        256,
        1,
        1 << 30,
        unit="units",
        quantities=_SHUFFLED,
    ),
    delta(
        1e-5,
        quantities=("bits",),
        help="Shuffle model: with what probability the guarantee may fail. Smaller is more "
        "private and takes more messages.",
    ),
    choice(
        "pyramid",
        "",
        "what is sent",
        "Shuffle model: the cells of all levels of the square map, or of the 320 × 240 "
        "pictures of the paper's Figure 12.",
        SQUARE,
        ((SQUARE, "all levels of the Δ × Δ map"), (SALICON, "320 × 240 picture, m = 102,409")),
        quantities=("bits",),
    ),
    real(
        "missing",
        "φ",
        "noise that is missing",
        "Shuffle model: which part of the users who promised their share of the noise fail to "
        "add it. Less missing is more private.",
        0.1,
        0.0,
        0.99,
        Scale.LINEAR,
        unit="of nₘᵢₙ",
        more_private="low",
        latex=r"\varphi",
        quantities=("missing",),
    ),
    count(
        "i",
        "i",
        "level",
        "Level of the pyramid: its cells have the side 2⁻ⁱ.",
        0,
        0,
        MAX_LEVEL,
        Scale.LINEAR,
        axis_only=True,
        quantities=("split",),
    ),
    simulate(
        "Run the algorithms on maps with k random cells and mark the errors found.",
        quantities=("error",),
    ),
    trials(
        "How often each algorithm is run at each point of the simulation.",
        10,
        200,
        quantities=("error",),
        relevant_when=_SIMULATED,
    ),
    choice(
        "audited",
        "",
        "what is audited",
        "What is run on two neighbouring data sets: the noisy counts that the pyramid is made "
        "of, or a mechanism of the map from check-ins to map.",
        COUNTS,
        (
            (COUNTS, "The pyramid's noisy counts"),
            *((key, found.label) for key, found in MECHANISMS.items() if found.comparable),
        ),
        group="simulation",
        quantities=("tradeoff",),
        relevant_when=(("audit", ("True",)),),
    ),
)


_TOO_MANY = "a map of Δ × Δ cells has fewer than k cells"
_AT_LEAST_SO_MUCH = "every ε-DP algorithm has at least this expected error on some map"


def _pyramid(
    key: str, label: str, short: str, primary: int, claimable: int, note: str = ""
) -> Curve:
    return Curve(
        key,
        label,
        short,
        Role.UPPER,
        theory.THEOREM_31,
        partial(MapPoints.pyramid_error, key=key),
        where=_fits,
        why=_TOO_MANY,
        note=note,
        primary=primary,
        claimable=claimable,
        unit="of the side",
    )


def _fits(p: MapPoints) -> BoolArray:
    return p.fits


_PLAN_NAMES = {
    "theory": ("Theorem 3.1, its schedule", "Theorem 3.1"),
    "experiments": ("Theorem 3.1, schedule of the experiments", "schedule of experiments"),
    "capped": ("pyramid with capped depth", "capped depth"),
}
"""Label and short name of the variants of the pyramid."""


def _centres_headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    return Headline(
        claimed.text.number,
        "The centres: on average a user is at most "
        f"{at_most(claimed.value)} of the map's side from the nearest; with the best ones "
        f"{nearest(float(result.request['optimum']))}.",
        statistic=Statistic.MEAN,
    )


def _share_bars(curve: Curve, p: MapPoints) -> Series:
    """Return ε of every level by a variant's schedule, as bars."""
    x = p.swept.x[p.swept.x <= p.level]
    x = x if x.size else p.swept.x[:1]
    levels = np.rint(x).astype(int)
    there = levels <= p.level
    plan = p.plans[curve.key]
    parts = np.array(plan.epsilon)
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        x,
        np.where(there, parts[np.minimum(levels, p.level)], np.nan),
        curve.source,
        undefined_reason="" if there.all() else "there is no such level",
        note=f"levels {plan.start} to {plan.last} are measured",
        mark=Mark.BARS,
    )


def _headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    least = result.number("lower")
    if claimed is None or least is None:
        return None
    if claimed.value >= map_theory.DIAMETER:
        return Headline(
            claimed.text.number,
            f"Not informative: any map is within {at_most(map_theory.DIAMETER)} of its side; no "
            f"method can promise less than {at_least(least)}.",
        )
    return Headline(
        claimed.text.number,
        f"The map: {error_phrase(claimed.value, Statistic.MEAN, 'of its side')}; no method can "
        f"promise less than {at_least(least)}.",
        statistic=Statistic.MEAN,
    )


def _communication(
    key: str, label: str, role: Role, source: Reference, printed: bool, why: str, note: str
) -> Curve:
    return Curve(
        key,
        label,
        f"shares, {'as printed' if printed else 'corrected'}",
        role,
        source,
        partial(MapPoints.megabytes, printed=printed),
        where=lambda p: p.n >= (2 if printed else MIN_USERS),
        why=why,
        note=note,
        unit="MB",
    )


PLOTS = (
    Plot(
        Quantity(
            "error",
            "EMD",
            "expected error of the map",
            ("n", "epsilon", "k", "guess"),
            unit="of the side",
            scale=Scale.LOG,
            statistic=Statistic.MEAN,
        ),
        (
            _pyramid(
                "theory",
                *_PLAN_NAMES["theory"],
                primary=2,
                claimable=2,
                note="at most 2, the diameter: where it is 2 it says nothing",
            ),
            _pyramid("experiments", *_PLAN_NAMES["experiments"], primary=1, claimable=1),
            _pyramid("capped", *_PLAN_NAMES["capped"], primary=0, claimable=2),
            Curve(
                "dense",
                "Theorem D.1, dense aggregation",
                "dense aggregation",
                Role.UPPER,
                map_theory.DENSE_REFERENCE,
                MapPoints.dense_error,
                primary=2,
                claimable=2,
                unit="of the side",
            ),
            Curve(
                "lower",
                "Theorem C.1, maps of k cells",
                "no method below, k cells",
                Role.LOWER,
                theory.THEOREM_C1,
                lambda p: map_theory.sparse_lower_bound(p.k, p.epsilon, p.n).value,
                where=_fits,
                why=_TOO_MANY,
                note=f"{_AT_LEAST_SO_MUCH} of k cells",
                primary=2,
                unit="of the side",
            ),
            Curve(
                "lower_dense",
                "Corollary D.2, maps of any sparsity",
                "no method below, any map",
                Role.LOWER,
                theory.COROLLARY_D2,
                lambda p: dense_lower(p.epsilon, p.n, p.level),
                note=f"{_AT_LEAST_SO_MUCH}; on maps of few cells the error may be smaller",
                primary=2,
                unit="of the side",
            ),
            Curve(
                "order",
                "order of Theorem C.1 as printed",
                "order of Theorem C.1",
                Role.ESTIMATE,
                theory.ORDER,
                lambda p: 0.004 * np.sqrt(p.k) / (p.epsilon * p.n),
                where=lambda p: p.fits & (p.k >= p.epsilon) & (p.n * p.epsilon >= p.k),
                why="the theorem asks for k ≥ ε and n ≥ k/ε",
                note=(
                    "not proved by the printed packing, which needs a smaller constant; where it "
                    "lies below Theorem C.1 it holds nevertheless"
                ),
                primary=0,
                unit="of the side",
            ),
        ),
        sliders=("epsilon", "n", "k", "resolution"),
        kind="mechanisms",
        solves="n",
        headline=_headline,
    ),
    Plot(
        Quantity("split", "εᵢ", "privacy spent on each level", ("i",), latex=r"\varepsilon_i"),
        tuple(
            Curve(
                key,
                label,
                short,
                Role.EXACT,
                SCHEDULE_REFERENCE,
                mark=Mark.BARS,
                draw=_share_bars,
            )
            for key, (label, short) in _PLAN_NAMES.items()
        ),
        sliders=("epsilon", "resolution", "k"),
    ),
    Plot(
        Quantity(
            "centres",
            "d̄",
            "mean distance to the nearest centre",
            ("n", "epsilon", "k", "optimum"),
            unit="of the side",
            scale=Scale.LOG,
            latex=r"\overline{d}",
            statistic=Statistic.MEAN,
        ),
        (
            *(
                Curve(
                    f"centres_{key}",
                    f"Corollary A.2, {label}",
                    f"A.2, {short}",
                    Role.UPPER,
                    theory.COROLLARY_A2,
                    partial(MapPoints.clustering_cost, key=key),
                    where=_fits,
                    why=_TOO_MANY,
                    note="at most 2, the diameter: where it is 2 it says nothing",
                    claimable=1,
                    unit="of the side",
                )
                for key, label, short in (
                    ("experiments", "schedule of experiments", "experiments"),
                    ("theory", "schedule of Theorem 3.1", "Theorem 3.1"),
                )
            ),
            Curve(
                "without",
                "the same search without privacy, f·OPT",
                "without privacy",
                Role.UPPER,
                theory.K_MEDIAN,
                lambda p: np.minimum(float(p.request["factor"]) * p.optimum, 2.0),
                note="on the users' own points",
                unclaimed="the centres are found on the users' own points, without privacy",
                unit="of the side",
            ),
            Curve(
                "best",
                "the best centres, OPT",
                "best centres",
                Role.LOWER,
                theory.K_MEDIAN,
                lambda p: p.optimum,
                note="no centres are nearer to the users",
                unit="of the side",
            ),
            Curve(
                "centres_order",
                "order of Corollary A.2 as printed",
                "order of Corollary A.2",
                Role.ESTIMATE,
                theory.ORDER_A2,
                MapPoints.clustering_order,
                note="√k/ε for κ: the paper states no constant",
                primary=0,
                unit="of the side",
            ),
        ),
        sliders=("epsilon", "n", "k", "optimum"),
        kind="mechanisms",
        solves="n",
        headline=_centres_headline,
    ),
    Plot(
        Quantity(
            "kl", "KL", "divergence of the heatmaps", ("emd", "sigma"), unit="nats", scale=Scale.LOG
        ),
        (
            Curve(
                "kl",
                "Lemma B.3, EMD/(2σ²)",
                "Lemma B.3",
                Role.UPPER,
                theory.LEMMA_B3,
                lambda p: p.divergence,
                unit="nats",
            ),
        ),
        sliders=("emd", "sigma"),
    ),
    Plot(
        Quantity("similarity", "SIM", "similarity of the heatmaps", ("emd", "sigma")),
        (
            Curve(
                "similarity",
                "Corollary B.5, 1 − √EMD/(2σ)",
                "Corollary B.5",
                Role.LOWER,
                theory.LEMMA_B4,
                MapPoints.similarity,
                primary=2,
                claimable=1,
            ),
            Curve(
                "huber",
                "Lemma B.3 with Bretagnolle–Huber",
                "Bretagnolle–Huber",
                Role.LOWER,
                theory.HUBER,
                MapPoints.huber,
                claimable=2,
            ),
        ),
        sliders=("emd", "sigma"),
        better="high",
    ),
    Plot(
        Quantity(
            "bits",
            "",
            "communication of a user",
            ("B", "n", "epsilon", "delta"),
            unit="MB",
            scale=Scale.LOG,
        ),
        (
            _communication(
                "corrected",
                "worst-case shares (corrected)",
                Role.EXACT,
                theory.SHUFFLED,
                printed=False,
                why="nothing is known of the shares of fewer than 19 users",
                note="",
            ),
            _communication(
                "printed",
                "shares as printed",
                Role.BASELINE,
                theory.PRINTED,
                printed=True,
                why="the printed count divides by ln n, which needs two users",
                note="too few shares for the worst case: not to be used",
            ),
        ),
        sliders=("B", "n", "epsilon", "delta"),
    ),
    Plot(
        Quantity(
            "missing",
            "ε",
            "level when noise is missing",
            ("missing", "B", "epsilon"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        (
            Curve(
                "worst",
                "user spread over the map",
                "user spread over the map",
                Role.UPPER,
                theory.MISSING,
                partial(MapPoints.level_left, spread=True),
                note="each level at its own worst case",
            ),
            Curve(
                "one_place",
                "user in one place",
                "",
                Role.EXACT,
                theory.MISSING,
                partial(MapPoints.level_left, spread=False),
            ),
            Curve(
                "full",
                "nothing missing",
                "",
                Role.EXACT,
                theory.SHUFFLED,
                lambda p: p.epsilon,
            ),
        ),
        sliders=("missing", "B", "epsilon"),
    ),
)


def _audits(request: Request, promise: Guarantee, context: Context) -> Audited | str:
    # The mechanisms of the map are loaded when an audit is run.
    from explorer.studies.heatmap_theory.audits import audits

    return audits(request, promise, context)


_MAX_COARSE_POINTS = 32


@with_tradeoff(("epsilon",), also=("delta",), audits=_audits)
class HeatmapTheory(CurveStudy):
    """Error bounds of sparse and dense aggregation, schedules, Lemma B, shuffle communication."""

    id = "heatmap-theory"
    references = theory.REFERENCES
    parameters = PARAMETERS
    plots = PLOTS
    points = MapPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: MapPoints) -> tuple[MapPoints, ...]:
        """Return few points first where each takes half a millisecond."""
        if p.request.quantity != "missing":
            return (p,)
        return (p.thinned(_MAX_COARSE_POINTS, Fidelity.COARSE), p)

    def simulation(self, p: MapPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds simulated errors, if they are asked for."""
        if p.request.quantity != "error" or not p.request["simulate"]:
            return None
        return partial(simulated, p=p)

    def readouts(self, p: MapPoints) -> tuple[ScalarResult, ...]:
        """Return the curves' numbers; the levels that are measured; the size of messages."""
        numbers = super().readouts(p)
        if p.request.quantity == "split":
            k = int(p.request["k"])
            q = start_level(min(k, 4**p.level), p.level)
            return (
                *(
                    ScalarResult(f"last_{key}", f"deepest level: {_PLAN_NAMES[key][0]}", plan.last)
                    for key, plan in p.plans.items()
                ),
                ScalarResult("q", "q, finest level with at most w cells", q),
            )
        if p.request.quantity == "bits":
            numbers += (ScalarResult("m", "cells of all levels, m", cells_sent(p.request)),)
            here = (float(p.request["epsilon"]), int(p.request["n"]), int(p.request["B"]))
            for curve in self.curves(p):
                printed = curve.key == "printed"
                message = messages_per_user(p.request, *here, float(p.request["delta"]), printed)
                if message is not None:
                    key, label = curve.key, curve.label
                    numbers += (
                        ScalarResult(f"r_{key}", f"shares r: {label}", message.shares),
                        ScalarResult(
                            f"bits_{key}", f"a message: {label}", message.message_bits, unit="bits"
                        ),
                    )
        return numbers

    def tables(self, p: MapPoints) -> tuple[Table, ...]:
        """Return, level by level, what is measured and what it adds to the error."""
        return (_level_table(p),) if p.request.quantity in ("error", "split") else ()

    def conditions(self, p: MapPoints) -> tuple[Condition, ...]:
        """Return the premises of the numbers."""
        what, n = p.request.quantity, float(p.request["n"])
        if what == "error":
            uppers = {
                key: float(b.value[-1])
                for key, b in p.bounds.items()
                if b.role is Role.UPPER and b.valid[-1]
            }
            k, epsilon = float(p.request["k"]), float(p.request["epsilon"])
            return guarantee.error_conditions(k, 4.0**p.level, uppers, n, epsilon)
        if what == "centres":
            least = float(p.bounds["centres_experiments"].value[-1])
            lam = float(p.request["lam"])
            return guarantee.centres_conditions(float(p.request["k"]), 4.0**p.level, least, lam)
        if what == "split":
            room = Condition(
                "k does not exceed the number of cells, k ≤ Δ²",
                bool(p.fits[-1]),
                "w is at most Δ²",
                short="k does not exceed the number of cells",
            )
            return (room, guarantee.NOT_FROM_DATA)
        if what == "bits":
            return guarantee.shuffle_conditions(n)
        if what == "missing":
            return guarantee.shuffle_conditions(n, float(p.request["missing"]))[1:]
        return (guarantee.BLURRED,)

    def guarantee(self, p: MapPoints) -> Guarantee | None:
        """Return the guarantee of what is shown."""
        what, epsilon = p.request.quantity, float(p.request["epsilon"])
        if what in ("error", "split", "centres"):
            differences = [
                guarantee.schedules_differ(p.plans["theory"], p.plans["experiments"]),
                guarantee.CENTRES_DIFFER if what == "centres" else guarantee.CAPPED_DIFFERS,
            ]
            if what == "error":
                differences += [
                    guarantee.dense_differs(epsilon, p.level),
                    guarantee.bounds_differ(bool(p.request["simulate"])),
                ]
            return guarantee.central_guarantee(epsilon, tuple(differences))
        if what == "bits":
            if float(p.request["n"]) < MIN_USERS:
                return None
            return guarantee.shuffle_guarantee(epsilon, float(p.request["delta"]), False)
        if what == "missing":
            return guarantee.shuffle_guarantee(float(p.bounds["worst"].value[-1]), None, True)
        return guarantee.metric_guarantee()


def _level_table(p: MapPoints) -> Table:
    """Return the cells read, the noise and the part of the error of every level measured."""
    w, n = min(int(p.request["k"]), 4**p.level), float(p.request["n"])
    rows: list[tuple[str | float | None, ...]] = []
    for key, plan in p.plans.items():
        for i in plan.measured:
            cells = 4**i if i == plan.start else 4 * min(w, 4 ** (i - 1))
            part = plan.epsilon[i]
            rows.append(
                (
                    _PLAN_NAMES[key][0],
                    float(i),
                    part,
                    float(cells),
                    2**0.5 / part,
                    2 / n * 6 * 2.0**-i * cells / part,
                )
            )
    columns = ("variant", "level", "εᵢ", "cells read, at most", "s.d. of a count", "adds to error")
    note = (
        "ε exact; standard deviation of the Laplace noise in users; the last column is the level's "
        "part of the sum in Theorem 3.1, 2/n · 6 · 2⁻ⁱ · cells/εᵢ, an upper bound."
    )
    roles = (None, None, Role.EXACT, Role.UPPER, Role.EXACT, Role.UPPER)
    return Table("levels", "Level by level", columns, tuple(rows), note, roles)
