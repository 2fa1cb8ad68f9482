"""Study of frequency estimation: metric privacy of items against user-level privacy."""

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Role
from explorer.privacy.core.composition import kov_exact_delta
from explorer.studies.base.builders import choice, count, delta, epsilon, simulate, trials
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Guarantee,
    Result,
    ScalarResult,
    Table,
)
from explorer.studies.base.sweeping import scalar_from, series_from
from explorer.studies.frequency import theory
from explorer.studies.frequency.help import PAGE, PRESETS
from explorer.studies.frequency.plots import (
    BEST,
    ONE_ITEM_CURVES,
    PLOTS,
    FrequencyPoints,
    root_errors,
)
from explorer.studies.frequency.simulation import EVEN, ONE, SKEWED, audits, simulated
from explorer.studies.frequency.theory import CENTRAL, LOCAL, MAX_ALPHA
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.parameters import (
    CLUSTERED,
    DISCRETE,
    MATRIX,
    POINTS,
    TYPED,
    space_parameters,
)

_MECHANISMS = {
    "hadamard": "Hadamard response",
    "laplace": "Laplace",
    "one_item": "one drawn item a user",
}
_COARSE_POINTS = 12
_EXACT_POINTS, _FEW_POINTS = 48, 25
"""Points of an exact calibration; fewer where each takes long."""
_MANY_TERMS = 30_000
_CALIBRATION_AXES = ("alpha", "eps", "delta", "m", "n", "space_near")
"""Axes along which α₀ or ε₀ changes."""
_ERRORS = ("emd", "rmse", "cluster")
_SIMULATED = (("simulate", ("True",)),)

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Local: every user shuffles and sends their own randomised items. Central: the items of "
        "all users are shuffled together, and Laplace noise is added once by a curator.",
        LOCAL,
        (
            (LOCAL, "local: each user shuffles their own items"),
            (CENTRAL, "central: all users' items together"),
        ),
    ),
    epsilon(
        "metric privacy of a user",
        "The privacy of a user's whole data, per largest distance: a change by earth mover's "
        "distance w is protected at ε = αw, so that moving everything within its cluster is "
        "at αr. Smaller is more private.",
        25.0,
        1e-2,
        MAX_ALPHA,
        key="alpha",
        symbol="α",
        unit="1/diameter",
    ),
    epsilon(
        "privacy of one item",
        "The parameter with which GKRR randomises an item: an axis. The sliders' own α₀ "
        "follows from α.",
        1.0,
        1e-3,
        50.0,
        key="alpha0",
        symbol="α₀",
        unit="1/diameter",
        axis_only=True,
        replaces=("alpha",),
        quantities=_ERRORS,
    ),
    epsilon(
        "user-level privacy",
        "The parameter of user-level differential privacy, which protects all changes of a "
        "user's data alike: what Hadamard response and Laplace noise are set to. Smaller is "
        "more private.",
        1.0,
        1e-2,
        50.0,
    ),
    delta(
        1e-12,
        1e-40,
        help="What the shuffle (for GKRR) and composition (for Hadamard response) may fail by. "
        "Smaller is more private.",
    ),
    count(
        "m",
        "m",
        "items of a user",
        "How many items every user has: one public number for all.",
        1000,
        1,
        10**6,
    ),
    count("n", "n", "users", "How many users there are.", 100_000, 1, 10**9),
    choice(
        "compared",
        "",
        "compared by",
        "Which error decides where one mechanism beats another: the ℓ2 error, which is exact "
        "for all, or the mean earth mover's distance, which is exact for Laplace noise and "
        "estimated for the others.",
        "emd",
        (
            ("emd", "mean earth mover's distance (estimate)"),
            ("rmse", "root mean square error (exact)"),
        ),
        quantities=("wins",),
    ),
    choice(
        "rival",
        "",
        "compared with",
        "Which user-level mechanism GKRR must beat. The paper compares with Hadamard response "
        "in the local and with Laplace noise in the central model. One item drawn from each "
        "user's is a rival in the local model.",
        BEST,
        (
            (BEST, "the best of all"),
            ("hadamard", "Hadamard response"),
            ("laplace", "Laplace noise"),
            ("one_item", "one drawn item a user"),
        ),
        quantities=("wins",),
    ),
    *space_parameters(kinds=(CLUSTERED, DISCRETE, MATRIX, TYPED, POINTS), default=CLUSTERED),
    simulate(
        "Draw data, randomise them and mark the errors found: of the signed estimates and of "
        "those projected to a proper histogram.",
        quantities=_ERRORS,
    ),
    choice(
        "data",
        "",
        "data drawn",
        "How all users' items are spread over the space. GKRR's ℓ2 error is the same for all "
        "data; what a projection gains is not.",
        SKEWED,
        (
            (SKEWED, "skewed: the j-th item has a share like 1/j"),
            (EVEN, "even: all items alike"),
            (ONE, "one item only"),
        ),
        group="simulation",
        quantities=_ERRORS,
        relevant_when=_SIMULATED,
    ),
    trials(
        "How often each mechanism is run at each point of the simulation.",
        20,
        500,
        quantities=_ERRORS,
        relevant_when=_SIMULATED,
    ),
)


@with_tradeoff(audits=audits)
class Frequency(CurveStudy):
    """Errors of GKRR, Hadamard response and Laplace noise, and where each of them wins."""

    id = "frequency"
    simulated = "local.frequency/1"
    parameters = PARAMETERS
    plots = PLOTS
    points = FrequencyPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: FrequencyPoints) -> tuple[FrequencyPoints, ...]:
        """Return few points first, with a quick calibration where the exact one takes long."""
        if _why_none(p):
            return (p,)
        swept, long = p.swept, False
        if swept.sweep.key in _CALIBRATION_AXES or p.request.quantity == "wins":
            users = 1.0 if p.request["model"] == LOCAL else p.here.n
            alpha0 = float(um.group_alpha0_estimate(p.here.alpha, p.here.delta, p.here.m, users))
            long = bool(16 * math.sqrt(p.here.m * users * math.exp(-alpha0)) >= _MANY_TERMS)
            swept = swept.downsampled(_FEW_POINTS if long else _EXACT_POINTS)
        first = p.thinned(_COARSE_POINTS, Fidelity.COARSE)
        if not (long or p.coarse or p.request.quantity == "wins"):
            first = p.at(first.swept.with_sliders(), Fidelity.FULL)
        return (first, p.at(swept.with_sliders(), Fidelity.FULL))

    def claimed_number(self, p: FrequencyPoints) -> tuple[Curve, FrequencyPoints] | None:
        """Return the distance by GKRR at the sliders' values."""
        if p.request.quantity != "emd" or _why_none(p):
            return None
        only = p.at(p.swept.only_sliders(), Fidelity.FULL)
        key = "gkrr" if only.problem.metric is None else "own"
        return next(c for c in self.curves(p) if c.key == key), only

    def result(self, p: FrequencyPoints, *, complete: bool) -> Result:
        """Return the answer, or why there is none on a space of the user's own."""
        if why := _why_none(p):
            return _without_numbers(p, why, complete)
        return super().result(p, complete=complete)

    def simulation(self, p: FrequencyPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds simulated errors, if they are asked for."""
        if not p.request["simulate"] or p.request["space"] in theory.OWN:
            return None
        if p.request.quantity == "wins":
            return None
        return lambda full: simulated(full, p.request, p.swept, p.problem, p.calibration, p.context)

    def readouts(self, p: FrequencyPoints) -> tuple[ScalarResult, ...]:
        """Return the errors or the edge at the sliders, and the mechanisms' parameters."""
        c, here = p.calibration_here, p.problem.last
        role = Role.ESTIMATE if c.estimated else Role.LOWER
        return (
            *(_edge_readouts(p) if p.request.quantity == "wins" else super().readouts(p)),
            ScalarResult("alpha0", f"α₀ of {_name(p)}", float(c.alpha0[0]), role, "1/diameter"),
            ScalarResult("item", "ε₀ of Hadamard response", float(c.item[0]), role),
            ScalarResult("scale", "scale of Laplace noise", _laplace_scale(here), Role.EXACT),
            ScalarResult("k", "size of the domain, k", float(here.k[0])),
        )

    def conditions(self, p: FrequencyPoints) -> tuple[Condition, ...]:
        """Return what must hold at the sliders' values."""
        here = p.problem.last
        eps, m = p.here.eps, p.here.m
        item = float(p.calibration_here.item_printed[0])
        printed_delta = p.context.cached(
            ("frequency-printed-delta", eps, m, item), lambda: float(kov_exact_delta(eps, item, m))
        )
        conditions = _conditions(
            alpha=p.here.alpha,
            eps=eps,
            delta=p.here.delta,
            m=m,
            n=p.here.n,
            k=float(here.k[0]),
            r=float(here.r[0]),
            t=float(here.t[0]),
            hadamard_delta=printed_delta,
            local=here.local,
        )
        if here.metric is not None:
            square, _ = theory.own_errors(here, p.calibration_here.alpha0, p.context)
            apart = Condition(
                "Your items can be told apart: none are at distance 0, and the law of the answers "
                "can be inverted",
                math.isfinite(square[0]),
                f"α₀ = {nearest(float(p.calibration_here.alpha0[0]))}",
                short="Your items can be told apart",
            )
            conditions = (apart, *conditions[1:])
        return (_who_wins(p), *conditions) if p.request.quantity == "wins" else conditions

    def guarantee(self, p: FrequencyPoints) -> Guarantee:
        """Return the guarantees of all three mechanisms."""
        here = p.problem.last
        return _guarantee(
            alpha=p.here.alpha,
            eps=p.here.eps,
            delta=p.here.delta,
            near=float(here.near[0]),
            alpha0=float(p.calibration_here.alpha0[0]),
            item=float(p.calibration_here.item[0]),
            alone=float(here.t[0]) == 1,
            local=here.local,
            own=here.metric is not None,
        )

    def tables(self, p: FrequencyPoints) -> tuple[Table, ...]:
        """Return the errors of all mechanisms, once the calibration is exact."""
        return () if p.coarse else (_mechanisms_table(p),)

    def notes(self, p: FrequencyPoints) -> tuple[str, ...]:
        """Return notes on the space, and on what a metric of the user's own lacks."""
        if p.problem.metric is None:
            return super().notes(p)
        return (*super().notes(p), _OWN_NOTE)


_OWN_NOTE = (
    "On your own metric the exponential mechanism stands for GKRR, which it is on clusters; its "
    "errors, and d_EM of all mechanisms, are upper bounds for all data. They are not simulated."
)
_EDGE_ON_CLUSTERS = (
    "the edge is computed for GKRR: choose clusters or 0/1 distances, or another quantity"
)


def _why_none(p: FrequencyPoints) -> str:
    """Return why there are no numbers on the space of the request; empty if there are."""
    if p.request["space"] not in theory.OWN:
        return ""
    if p.request.quantity in ("wins", "cluster"):
        return _EDGE_ON_CLUSTERS if p.request.quantity == "wins" else _NO_CLUSTERS
    return theory.missing_reason(p.space)


_NO_CLUSTERS = "your own metric has no clusters: choose another quantity"


def _name(p: FrequencyPoints) -> str:
    return "GKRR" if p.problem.metric is None else "the exponential mechanism"


def _without_numbers(p: FrequencyPoints, why: str, complete: bool) -> Result:
    """Return an answer without numbers and the reason for it."""
    nowhere = np.full(p.swept.x.size + 1, np.nan)
    bound = Bound(nowhere, Role.UPPER, theory.EXPONENTIAL, np.zeros(nowhere.shape, bool), why)
    return Result(
        p.request,
        p.fidelity,
        series=(series_from("own", "exponential mechanism, best α₀ proved", p.swept, bound),),
        space=p.space.picture,
        conditions=(Condition("There are errors on this space", False, why),),
        notes=(f"{why[0].upper()}{why[1:]}.",),
        complete=complete,
    )


def _laplace_scale(here: theory.Problem) -> float:
    users = 1.0 if here.local else float(here.n[0])
    return float(um.laplace_scale(users, float(here.eps[0])))


def _edge_readouts(p: FrequencyPoints) -> tuple[ScalarResult, ...]:
    """Return the edge at the sliders, α₀ there, and its ratio to ε."""
    edge, in_l2 = p.edge_bound, p.request["compared"] == "rmse"
    note = (
        ""
        if in_l2
        else "an estimate: Laplace noise exactly, the others' d_EM by the normal limit of many "
        "items"
    )
    readouts = [scalar_from("edge", "α from which GKRR wins", edge, unit="1/diameter", note=note)]
    needed = float(p.edge.alpha0[-1])
    if math.isfinite(needed):
        role = Role.EXACT if in_l2 else Role.ESTIMATE
        readouts.append(ScalarResult("needed", "α₀ there", needed, role, "1/diameter"))
    if edge.valid[-1]:
        ratio = float(edge.value[-1]) / p.here.eps
        readouts.append(ScalarResult("ratio", "that α over ε", ratio, edge.role))
    return tuple(readouts)


def _who_wins(p: FrequencyPoints) -> Condition:
    """Return whether GKRR errs less at the sliders than the best rival."""
    edge = p.edge_bound
    about, by = (
        ("", "in ℓ2") if p.request["compared"] == "rmse" else ("about ", "in d_EM, estimated")
    )
    needed = (
        f"it wins from {about}α = {nearest(float(edge.value[-1]))}"
        if edge.valid[-1]
        else edge.reason
    )
    return Condition(
        f"GKRR errs less than {_MECHANISMS[str(p.edge.rival[-1])]} at these sliders ({by})",
        bool(edge.valid[-1]) and p.here.alpha >= float(edge.value[-1]),
        f"α = {nearest(p.here.alpha)}; {needed}",
        short="GKRR has the smaller error here",
    )


def _mechanisms_table(p: FrequencyPoints) -> Table:
    """Return all errors of all mechanisms at the sliders."""
    here, c = p.problem.last, p.calibration_here
    scale = _laplace_scale(here)
    parameters = {
        "gkrr": ("α₀", c.alpha0[0]),
        "gkrr_theorem": ("α₀", c.theorem[0]),
        "gkrr_printed": ("α₀", c.printed[0]),
        "hadamard": ("ε₀", c.item[0]),
        "hadamard_printed": ("ε₀", c.item_printed[0]),
        "laplace": ("scale", scale),
        "laplace_printed": ("scale", scale / 2),
    }
    # The curves of errors need nothing else of the points.
    at_sliders = SimpleNamespace(problem=here, calibration=c)
    own = None
    if here.metric is not None:
        own = [float(v[0]) for v in theory.own_errors(here, c.alpha0, p.context)]
    clusters = {curve.key: curve.bound(at_sliders) for curve in root_errors(clusters=True)}
    rows: list[tuple[str, str, *tuple[float | None, ...]]] = []
    for curve in (*root_errors(clusters=False), *ONE_ITEM_CURVES):
        items, key, label = curve.bound(at_sliders), curve.key, str(curve.label)
        if items is None:
            continue
        if key not in parameters:
            rows.append((label, "ε", p.here.eps, float(items.value[0]), None, None))
            continue
        symbol, parameter = parameters[key]
        root, across = (
            float(b.value[0]) if b is not None and b.valid[0] else None
            for b in (items, clusters[key])
        )
        distance = None
        if key in ("laplace", "laplace_printed"):
            distance = float(theory.laplace_distance(here, 1.0 if key == "laplace" else 2.0)[0])
        elif root is not None and across is not None:
            distance = float(um.emd_bound(here.s, here.t, here.r, root**2, across**2)[0])
            if here.metric is not None:
                distance = float(here.metric.distance_bound(root**2))
        there = key != "gkrr_theorem" or bool(c.theorem_holds[0])
        rows.append((label, symbol, float(parameter) if there else None, root, across, distance))
    if own is not None and math.isfinite(own[0]):
        level, root = float(c.alpha0[0]), math.sqrt(own[0])
        rows.insert(0, ("exponential mechanism, at most", "α₀", level, root, None, own[1]))
    return Table(
        "mechanisms",
        "Mechanisms at the current settings",
        ("mechanism", "its", "parameter", "RMSE", "RMSE of clusters", "d_EM, at most"),
        tuple(rows),
        note=(
            "Errors of the signed estimate; RMSE exact, that of clusters an upper bound for "
            "Hadamard response. d_EM by the halved Theorem 6.5, shifted to sum 1 where it is not; "
            "that of Laplace noise is exact. Empty cells: the calibration's condition fails "
            "(Theorem 4.4 has no α₀ then), or items can't be told apart."
            + (f" {_OWN_NOTE}" if here.metric is not None else "")
        ),
        roles=(
            None,
            None,
            [Role.UPPER if row[1] == "scale" else Role.LOWER for row in rows],
            Role.EXACT,
            Role.UPPER,
            Role.UPPER,
        ),
    )


def _conditions(
    *,
    alpha: float,
    eps: float,
    delta: float,
    m: float,
    n: float,
    k: float,
    r: float,
    t: float,
    hadamard_delta: float,
    local: bool,
) -> tuple[Condition, ...]:
    """Return the conditions of the numbers at the sliders."""
    root = math.sqrt(m)
    conditions = [
        Condition(
            "Items of a cluster can be told apart: r > 0, or one item a cluster",
            r > 0 or t == 1,
            f"r = {nearest(r)}, t = {t:.0f}",
            short="Items of a cluster can be told apart",
        ),
        Condition(
            "Only as printed: the budget ε/√(m ln(m/δ)) of Hadamard response is (ε, δ)-private",
            hadamard_delta <= delta,
            f"its exact δ is {nearest(hadamard_delta)}, asked is {nearest(delta)}",
            of_guarantee=False,
            short="Only printed Hadamard: it is private",
        ),
        Condition(
            "Only as printed: the Laplace scale 1/(nε) is ε-private",
            False,
            f"one user changes the histogram by 2/n in ℓ1: it is {at_most(2 * eps)}-private",
            of_guarantee=False,
            short="Only printed Laplace: it is private",
        ),
        Condition(
            "Only the paper's comparison: k, ε, α ≤ √m",
            max(k, eps, alpha) <= root,
            f"√m = {nearest(root)}, k = {k:,.0f}, α = {nearest(alpha)}",
            of_guarantee=False,
            short="Only paper's comparison: k, ε, α ≤ √m",
        ),
    ]
    if not local:
        conditions.append(
            Condition(
                "The paper's central comparison assumes n ≤ m/α",
                n <= m / alpha,
                f"n = {n:,.0f}, m/α = {nearest(m / alpha)}",
                short="Central comparison: n ≤ m/α",
            )
        )
    return (
        *conditions,
        Condition(
            "Every user has the same public number m of items (bounded data)",
            None,
            short="One public number m of items a user",
        ),
        Condition(
            "The shuffle hides which answer is whose, and in which order",
            None,
            short="The shuffle hides which answer is whose",
        ),
    )


def _guarantee(
    *,
    alpha: float,
    eps: float,
    delta: float,
    near: float,
    alpha0: float,
    item: float,
    alone: bool,
    local: bool,
    own: bool,
) -> Guarantee:
    """Return the guarantee at the sliders' values.

    `near` is the distance that items move in the sentence: the one inside a cluster, or the only
    one there is with one item a cluster (`alone`). `own` is whether the metric is the user's.
    """
    name = "the exponential mechanism" if own else "GKRR"
    start = name[0].upper() + name[1:]
    who = "their own" if local else "all users'"
    secret = (
        "which of two data sets a user holds"
        if alone
        else "to which places of their clusters a user's items belong"
    )
    if own:
        secret += f", {nearest(near)} of the largest distance apart"
    return Guarantee(
        unit=f"one user's whole data set; by {name} small changes are protected more",
        replace_one=(
            f"{start}: ({at_most(alpha)}·w, {at_most(delta)}) when one user's m items are "
            f"replaced by others at earth mover's distance w (bounded d_EM-DP, "
            f"α₀ = {at_least(alpha0)}); Hadamard response: ({at_most(eps)}, {at_most(delta)}) "
            f"for any replacement (ε₀ = {at_least(item)}); Laplace: ({at_most(eps)}, 0) for any "
            "replacement"
        ),
        add_remove="not covered: n and m are fixed and public",
        trust=(
            f"{start}: the items of {'one user' if local else 'all users'} are randomised and "
            f"shuffled; everybody else sees {who} shuffled answers. Hadamard response: each user "
            "sends randomised items. Laplace: "
            + (
                "each user adds noise to their own histogram."
                if local
                else "the curator sees all data and adds noise once."
            )
        ),
        sentence=f"{start}: "
        + guesses(alpha * near, delta, secret, f"after seeing {who} shuffled answers"),
        pairs=((alpha * near, delta),),
        qualified=True,
        about=f"{secret} ({name})",
        references=(theory.GKRR, theory.HADAMARD, theory.LAPLACE),
        differences=_DIFFERENCES,
    )


_DIFFERENCES = (
    "GKRR promises less than user-level DP for items moved between clusters when α > ε, and more "
    "for those moved within one when αr < ε: the curves compare errors, not equal promises.",
    "The halved form of Theorem 6.5 uses that d_EM is (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ on this space; "
    "the theorem as printed counts both terms twice, Theorem 6.6 bounds the matrix norms "
    "further, and its remark is a simplification that does not follow from it.",
    "The best α₀ proved and Theorem 4.4's calibrate the same mechanism: a larger α₀ is less noise "
    "at the same promise. The best is that of exact hops, which use the smallest distance of the "
    "space, in any order or in increasing order.",
    "GKRR and Hadamard response err by n^(−1/2) in the local model; Laplace noise of a trusted "
    "curator by 1/n, whatever m is.",
    "In the local model Laplace noise on each user's own histogram is user-level private too, "
    "without a δ: it errs less than Hadamard response by about √ln(1/δ), as composition over m "
    "items costs that much. The paper compares with Hadamard response only.",
    "One item drawn from each user's m, randomised at all of ε, is user-level private without a δ "
    "as well: nothing is paid for composition, and at small ε that is worth more than the other "
    "m − 1 items.",
)
