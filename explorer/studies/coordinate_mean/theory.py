"""Mechanisms that meet demanded levels: budgets, channels, exact errors, bounds, and sources."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.coordinates.channel import SMALLEST_LEVEL
from explorer.privacy.coordinates.levels import bcdp_levels_from_logs
from explorer.privacy.core.bound import (
    COORDINATES as _PAPER,
    BoolArray,
    Bound,
    FloatArray,
    Reference,
    Role,
)
from explorer.studies.base.builders import TYPED
from explorer.studies.base.study import Context, Request, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean.demanded import OWN, OwnDemand

MECHANISM = Reference(
    _PAPER,
    "Mechanisms 1 and 2, Theorem 2",
    "B is half of what is printed: unbiased (errata coord-A1)",
)
BASELINE = Reference(_PAPER, "Appendix B.1, min δ-LDP", "Duchi et al.'s channel at level min δ")
BEST_ZETA = Reference(
    _PAPER, "Theorem 2, best ζ", "searched; the paper takes (1+q)/2 (errata coord-A2)"
)
EXACT = Reference(
    _PAPER,
    "Mechanism 1 under the sharpened Proposition 4",
    "log((1−q)e^c + q·e^L) ≤ δ instead of part 2; searched",
)
HYBRID = Reference(
    _PAPER,
    "Mechanism 2 on disjoint channels",
    "beyond the paper: channels that do not overlap meet the same certificate; searched",
)
THEOREM_2 = Reference(
    _PAPER,
    "Theorem 2, equation (17)",
    "constant unknown; false for large increments (errata coord-A3)",
)
COROLLARY_1 = Reference(_PAPER, "Corollary 1", "constant unknown (errata coord-A3, coord-A4)")
CENTRAL = Reference(
    "Own yardstick",
    "Laplace noise on each coordinate's mean",
    "in the spirit of partial DP (Ghazi et al. 2023), not their algorithms",
)
PRIV_UNIT = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018",
    "PrivUnit₂",
    "on corners drawn afresh with the record as mean, cap of smallest error; beyond the paper",
)
PROJECTED = Reference(_PAPER, "Theorem 2", "the average taken as normal, then clipped to [−1, 1]")
FIGURE_3 = Reference(_PAPER, "Figure 3", "drawn here from a seed")
PROPOSITION_3 = Reference(_PAPER, "Proposition 3")
PROPOSITION_4 = Reference(_PAPER, "Proposition 4, part 2")
CERTIFICATE = Reference(
    _PAPER, "Proposition 4, sharpened", "log((1−q)e^c + q·e^L); c and L add over releases"
)
PROPOSITION_6 = Reference(
    _PAPER,
    "Proposition 6, equation (53)",
    "one channel a coordinate with A_δ·c ≤ 1 and Σc ≤ ε, c in proportion to a power of min(δᵢ, ε)",
)
BRUTE_FORCE = Reference(
    _PAPER, "Definition 4 on the corners {−1, 1}^d", "exact for the prior (60) of Figure 3"
)
REFERENCES = (
    MECHANISM,
    PRIV_UNIT,
    BASELINE,
    BEST_ZETA,
    EXACT,
    HYBRID,
    THEOREM_2,
    COROLLARY_1,
    CERTIFICATE,
    PROPOSITION_6,
)

TWO, LINEAR, GEOMETRIC = "two", "linear", "geometric"
"""Profiles of the demanded levels."""
Subsets = tuple[tuple[int, ...], ...]
_POWERS = np.linspace(0.0, 1.0, 41)


@dataclass(frozen=True)
class Demand:
    """Levels demanded of a mechanism.

    Attributes
    ----------
    profile : str
        `TWO`, `LINEAR`, `GEOMETRIC`, or `TYPED` for the user's own levels.
    d, k : int
        Number of coordinates, and of those at the lowest of two levels (1 with more levels).
    level, eps, q : float
        Lowest coordinate level, level of the record, assumed coupling.
    zeta : float
        ζ of the paper's mechanism.
    channel : str
        Kind of report: `co.DUCHI` or `co.PRIV_UNIT`.
    own, couplings : tuple of float
        The user's own levels, in their order, and own couplings q_i, of which q is then the
        largest that a level rests on; empty if there are none.
    """

    profile: str
    d: int
    k: int
    level: float
    eps: float
    q: float
    zeta: float
    channel: str = co.DUCHI
    own: tuple[float, ...] = ()
    couplings: tuple[float, ...] = ()

    @property
    def levels(self) -> FloatArray:
        """Effective levels min(δ_i, ε), shape (d,).

        The most sensitive coordinate comes first, but for levels of the user's own.
        """
        if self.own:
            return np.minimum(self.own, self.eps)
        low = min(self.level, self.eps)
        if self.profile == TWO:
            return np.repeat([low, self.eps], [self.k, self.d - self.k])
        spread = np.linspace if self.profile == LINEAR else np.geomspace
        return np.clip(spread(low, self.eps, self.d), low, self.eps)

    @property
    def most(self) -> int:
        """Index of the most sensitive coordinate, the first of several."""
        return int(np.argmin(self.levels))

    @property
    def least(self) -> int:
        """Index of the least sensitive coordinate, the last of several."""
        return int(self.d - 1 - np.argmax(self.levels[::-1]))

    @property
    def coupling(self) -> FloatArray:
        """The q_i, shape (d,), or the q of all, shape ()."""
        return np.array(self.couplings or self.q)

    def coupling_of(self, place: int) -> float:
        """Return the bound on the coupling of one coordinate."""
        return self.couplings[place] if self.couplings else self.q

    @property
    def apart_from_zeta(self) -> Hashable:
        """All that mechanisms other than the paper's depend on."""
        return (
            self.profile,
            self.d,
            self.k,
            self.level,
            self.eps,
            self.q,
            self.channel,
            self.own,
            self.couplings,
        )


def sensitive(d: float, share: float) -> int:
    """Return the number of sensitive coordinates: a share of d, rounded, at least 1."""
    return int(min(max(round(share * d), 1), d))


@dataclass(frozen=True)
class Plan:
    """A mechanism that meets a demand, and the moments of one user's report.

    Attributes
    ----------
    c : ndarray of shape (d,)
        CDP levels.
    total : float
        LDP level L.
    second, squares : ndarray of shape (d,)
        The variance of coordinate i is second_i − x_i²·squares_i; infinite without a report.
    subsets, alphas : tuple
        Channels of a parallel design; empty for M_mean with budget c.
    rule : str
        Weights that combine M_mean's channels.
    truncated : bool
        Whether it was found on fewer levels than demanded: the guarantee holds, but the error may
        not be the smallest.
    channel : str
        Kind of report.
    """

    c: FloatArray
    total: float
    second: FloatArray
    squares: FloatArray
    subsets: Subsets = ()
    alphas: tuple[float, ...] = ()
    rule: str = "optimal"
    truncated: bool = False
    channel: str = co.DUCHI

    @property
    def worst(self) -> float:
        """Error of one user's report in the worst case x = 0, summed over coordinates."""
        return float(self.second.sum())


def mse(plan: Plan, x2: float, n: float) -> float:
    """Return the exact error of n users' average, not projected; infinite without a report."""
    return max(plan.worst - x2 * float(plan.squares.sum()), 0.0) / n


def finite(value: float) -> float | None:
    """Return an error for a table; None if it is infinite."""
    return value if np.isfinite(value) else None


def errors(plans: Sequence[Plan], x2: FloatArray, n: FloatArray) -> FloatArray:
    """Return `mse` of several plans, each with its own x² and n."""
    if len({plan.c.size for plan in plans}) > 1:
        return np.array([mse(*one) for one in zip(plans, x2, n, strict=True)])
    second, squares = (
        np.array([getattr(plan, name) for plan in plans]).sum(axis=-1)
        for name in ("second", "squares")
    )
    return np.asarray(np.maximum(second - x2 * squares, 0.0) / n)


def nested_plans(c: FloatArray, rule: str, channel: str, truncated: bool = False) -> list[Plan]:
    """Return M_mean with budgets c of shape (rows, d)."""
    second, squares = co.m_mean_moments(c, rule, channel)
    return [
        Plan(row, total, a, b, rule=rule, truncated=truncated, channel=channel)
        for row, total, a, b in zip(c, c.max(axis=-1).tolist(), second, squares, strict=True)
    ]


def parallel_plan(
    d: int, subsets: Subsets, alphas: Sequence[float], truncated: bool, channel: str = co.DUCHI
) -> Plan:
    """Return a parallel design, its channels combined with weights 1/V."""
    sizes = np.array([len(subset) for subset in subsets])
    weights = np.exp(-co.log_channel_moment(sizes, np.asarray(alphas, float), channel))
    totals, squares = np.zeros(d), np.zeros(d)
    for subset, weight in zip(subsets, weights, strict=True):
        totals[list(subset)] += weight
        squares[list(subset)] += weight**2
    with np.errstate(divide="ignore", invalid="ignore"):
        second = 1.0 / totals
        squares = np.where(totals > 0.0, squares / totals**2, 0.0)
    return Plan(
        co.design_cdp(d, subsets, alphas),
        float(co.design_ldp(subsets, alphas)),
        second,
        squares,
        subsets,
        tuple(float(a) for a in alphas),
        truncated=truncated,
        channel=channel,
    )


def with_channel(plan: Plan, channel: str) -> Plan:
    """Return the plan with another kind of report: as private, with another error."""
    if plan.subsets:
        return parallel_plan(plan.c.size, plan.subsets, plan.alphas, plan.truncated, channel)
    return nested_plans(plan.c[None], plan.rule, channel, plan.truncated)[0]


def _by(
    demands: Sequence[Demand], key: Callable[[Demand], Hashable]
) -> Iterable[tuple[list[int], list[Demand]]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, demand in enumerate(demands):
        groups[key(demand)].append(place)
    for places in groups.values():
        yield places, [demands[place] for place in places]


def _columns(demands: Sequence[Demand], *names: str) -> list[FloatArray]:
    return [np.array([getattr(x, name) for x in demands], float) for name in names]


def _levels(demands: Sequence[Demand]) -> FloatArray:
    """Return the levels of demands that have d, k and profile in common, shape (demands, d)."""
    first = demands[0]
    if first.profile != TWO:
        return np.stack([x.levels for x in demands])
    level, eps = _columns(demands, "level", "eps")
    pair = np.stack([np.minimum(level, eps), eps], axis=-1)
    return np.repeat(pair, [first.k, first.d - first.k], axis=-1)


def baseline_plans(demands: Sequence[Demand]) -> list[Plan]:
    """Return min δ-LDP: one channel for all coordinates at the lowest level."""
    plans: dict[int, Plan] = {}
    for places, group in _by(demands, lambda x: (x.d, x.channel)):
        lowest = np.array([min(x.level, x.eps) for x in group])
        c = np.repeat(lowest[:, None], group[0].d, axis=1)
        plans |= dict(zip(places, nested_plans(c, "paper", group[0].channel), strict=True))
    return [plans[place] for place in range(len(demands))]


def paper_plans(demands: Sequence[Demand]) -> list[Plan]:
    """Return M_mean with the budgets of Theorem 2 and the paper's weights."""
    plans: dict[int, Plan] = {}
    for places, group in _by(demands, lambda x: (x.d, x.k, x.channel, bool(x.couplings))):
        eps, zeta = _columns(group, "eps", "zeta")
        q = np.array([x.couplings or (x.q,) for x in group])
        c = co.budget_of_couplings(_levels(group), eps, q, zeta)
        plans |= dict(zip(places, nested_plans(c, "paper", group[0].channel), strict=True))
    return [plans[place] for place in range(len(demands))]


def best_zeta_plans(demands: Sequence[Demand], check: Callable[[], None]) -> list[Plan]:
    """Return M_mean with the budgets of Theorem 2 at the ζ of least error, 25 points at a time."""
    plan_at: dict[int, Plan] = {}
    for places, group in _by(demands, lambda x: replace(x, q=0.0, zeta=1.0)):
        for start in range(0, len(group), 25):
            check()
            piece = group[start : start + 25]
            first = piece[0]
            if first.couplings:
                best = co.best_budget_of_couplings(
                    first.levels, first.eps, first.couplings, first.channel
                )
                best = replace(best, c=np.tile(best.c, (len(piece), 1)))
            else:
                (q,) = _columns(piece, "q")
                best = co.best_zeta(first.levels, first.eps, q, first.channel)
            plans = nested_plans(best.c, "optimal", first.channel, best.truncated)
            plan_at |= dict(zip(places[start : start + 25], plans, strict=True))
    return [plan_at[place] for place in range(len(demands))]


def two_level_plans(
    demands: Sequence[Demand], check: Callable[[], None]
) -> tuple[list[Plan], list[Plan]]:
    """Return the best nested and the best hybrid designs under the exact constraint.

    For two levels only; the hybrid is the better of nested and disjoint channels.
    """
    exact: dict[int, Plan] = {}
    hybrid: dict[int, Plan] = {}
    for places, group in _by(demands, lambda x: (x.d, x.k, x.channel)):
        for start in range(0, len(group), 25):
            check()
            piece, where = group[start : start + 25], places[start : start + 25]
            d, k, channel = piece[0].d, piece[0].k, piece[0].channel
            level, eps, q = _columns(piece, "level", "eps", "q")
            level = np.minimum(level, eps)
            nested = co.best_two_levels(d, k, level, eps, q, channel=channel)
            c = np.repeat(
                np.stack([nested.c_sensitive, nested.c_rest], axis=-1), [k, d - k], axis=-1
            )
            exact |= dict(zip(where, nested_plans(c, "optimal", channel), strict=True))
            check()
            apart = co.best_two_levels_disjoint(d, k, level, eps, q, channel)
            for place, plan in zip(where, _disjoint_plans(d, k, apart, channel), strict=True):
                hybrid[place] = min(plan, exact[place], key=lambda x: x.worst)
    places_all = range(len(demands))
    return [exact[p] for p in places_all], [hybrid[p] for p in places_all]


def _disjoint_plans(d: int, k: int, best: co.DisjointTwoLevels, channel: str) -> list[Plan]:
    """Return the plans of `best_two_levels_disjoint`: every coordinate is in one channel."""
    rest = d - k
    # Coordinates in a channel of either kind, by layout.
    together = [np.array(sizes)[best.layout] for sizes in ((d, k, 1, k, 1), (d, rest, rest, 1, 1))]
    levels = [np.where(x < SMALLEST_LEVEL, 0.0, x) for x in (best.alpha_sensitive, best.alpha_rest)]
    moments = [
        np.exp(co.log_channel_moment(np.maximum(size, 1), level, channel))
        for size, level in zip(together, levels, strict=True)
    ]
    c, second = (
        np.repeat(np.stack(pair, axis=-1), [k, rest], axis=-1) for pair in (levels, moments)
    )
    plans = []
    for j, layout in enumerate(best.layout):
        subsets = _subsets(d, k, co.LAYOUTS[int(layout)])
        a, b = float(best.alpha_sensitive[j]), float(best.alpha_rest[j])
        alphas = tuple(a if subset[0] < k else b for subset in subsets)
        squares = np.where(np.isinf(second[j]), 0.0, 1.0)
        plans.append(
            Plan(c[j], float(np.sum(alphas)), second[j], squares, subsets, alphas, channel=channel)
        )
    return plans


@lru_cache(64)
def _subsets(d: int, k: int, layout: str) -> Subsets:
    """Return the channels of a layout of `best_two_levels_disjoint`."""
    if layout == "one channel":
        return (tuple(range(d)),)
    first, _, second = {"groups": "group and group", "singles": "singles and singles"}.get(
        layout, layout
    ).partition(" and ")
    parts: list[tuple[int, ...]] = []
    for kind, members in ((first, range(k)), (second, range(k, d))):
        if members:
            parts += [(i,) for i in members] if kind == "singles" else [tuple(members)]
    return tuple(parts)


def searched_plans(demands: Sequence[Demand]) -> list[tuple[Plan, Plan]]:
    """Return the best nested and hybrid designs for any levels, by SLSQP (in a worker process)."""
    designs = []
    for demand in demands:
        pair = []
        for family in ("nested", "hybrid"):
            best = co.best_design(
                demand.levels, demand.eps, demand.coupling, family, demand.channel
            )
            alphas = best.alphas.tolist()
            pair.append(
                parallel_plan(demand.d, best.subsets, alphas, best.truncated, demand.channel)
            )
        nested, hybrid = pair
        designs.append((nested, min(hybrid, nested, key=lambda x: x.worst)))
    return designs


def proposition6_plan(demand: Demand) -> Plan:
    """Return one channel a coordinate, with budgets that Proposition 6 and ε allow.

    A_δ·c ≤ 1 and Σc ≤ ε; c is the multiple of a power (0 to 1) of the demanded levels with the
    least error in the worst case.
    """
    levels = demand.levels
    ratios = (levels[:, None] / levels.min()) ** _POWERS
    used = (co.linear_budget_matrix(levels, demand.coupling) @ ratios).max(axis=0)
    c = ratios * np.minimum(1.0 / used, demand.eps / ratios.sum(axis=0))
    c = c[:, np.argmin((1.0 / np.tanh(0.5 * c) ** 2).sum(axis=0))]
    subsets = tuple((i,) for i in range(demand.d))
    second = co.m_ldp_second_moment(np.ones(demand.d, int), c)
    return Plan(c, float(c.sum()), second, np.ones(demand.d), subsets, tuple(c.tolist()))


def convex_plan(demand: Demand) -> Plan:
    """Return one M_LDP channel a group of equal levels, with the globally best levels (convex)."""
    groups: dict[float, list[int]] = defaultdict(list)
    for i, level in enumerate(demand.levels):
        groups[float(level)].append(i)
    subsets = tuple(tuple(group) for group in groups.values())
    best = co.best_disjoint_levels(demand.levels, demand.eps, demand.coupling, subsets)
    return parallel_plan(demand.d, best.subsets, best.alphas.tolist(), best.truncated)


HEURISTIC, FIXED = "heuristic", "fixed"
"""Rules for the paper's ζ."""
_MAX_BRUTE_FORCE_D = 4
_BRUTE_FORCE_POINTS = 26
NO_REPORT = "a coordinate with budget 0 has no report: its error is infinite"
_JUMPS = (
    "it jumps here: on one side (16) gives all coordinates one budget, on the other the sensitive "
    "ones less"
)


def demands_of(request: Request, points: SweptPoints, own: OwnDemand | None = None) -> list[Demand]:
    """Return the demand at every point.

    Where q is the x axis it is that of all coordinates, whatever their own couplings; these count
    at the sliders, the last point.
    """
    profile, fixed = request["profile"], request["zeta_rule"] != HEURISTIC
    if profile in OWN:
        profile = TWO if own is None else TYPED
    demands = [
        Demand(
            profile,
            int(d),
            sensitive(d, share) if profile == TWO else 1,
            float(level),
            float(eps),
            float(q),
            float(zeta) if fixed else 0.5 * (1.0 + float(q)),
            request["channel"],
            () if own is None else own.levels,
            () if own is None or points.sweep.key == "q" else own.couplings,
        )
        for d, share, level, eps, q, zeta in zip(
            *(points[key] for key in ("d", "share", "level", "eps", "q", "zeta")), strict=True
        )
    ]
    if own is not None:
        demands[-1] = replace(demands[-1], couplings=own.couplings)
    return demands


def with_own(points: SweptPoints, own: OwnDemand | None, q: float | None) -> SweptPoints:
    """Return the points with the number, lowest level and largest coupling of a demand.

    Where q is the x axis its line is kept, and only the coupling at the sliders replaced.

    Parameters
    ----------
    points : SweptPoints
    own : OwnDemand or None
    q : float or None
        Coupling of a public file; None without one.
    """
    ends: dict[str, float] = {}
    if own is not None:
        ends = {"d": len(own.levels), "level": min(own.levels)}
    if q is not None and points.sweep.key != "q":
        ends["q"] = q
    size = points.x.size + 1
    columns = points.columns | {key: np.full(size, float(end)) for key, end in ends.items()}
    if own is not None and own.largest_coupling is not None:
        largest = np.full(size, own.largest_coupling)
        columns["q"] = np.append(points.x, largest[-1]) if points.sweep.key == "q" else largest
    return replace(points, columns=columns)


def coordinates(points: SweptPoints, d: int) -> SweptPoints:
    """Return every existing coordinate within the sweep, or the start of the sweep."""
    key = points.sweep.key
    unit = 1.0 if key == "i" else 1.0 / d
    every = np.arange(1, d + 1) * unit
    slack = 1e-9 * unit
    x = every[(every >= points.x[0] - slack) & (every <= points.x[-1] + slack)]
    x = x if x.size else points.x[:1]
    columns = {k: np.full(x.size + 1, column[-1]) for k, column in points.columns.items()}
    number = np.append(x / unit, points["i"][-1])
    return SweptPoints(points.sweep, x, columns | {key: np.append(x, 1.0), "i": number})


def subset(points: SweptPoints, indices: Sequence[int]) -> SweptPoints:
    """Return some of the points and, last, the sliders' own."""
    places = np.append(np.asarray(indices, int), points.x.size)
    return SweptPoints(
        points.sweep, points.x[places[:-1]], {k: v[places] for k, v in points.columns.items()}
    )


def error_bound(
    plans: Sequence[Plan], points: SweptPoints, role: Role, reference: Reference
) -> Bound:
    """Return the exact errors of a mechanism, undefined where a coordinate is not reported."""
    value = errors(plans, points["x2"], points["n"])
    known = np.isfinite(value)
    cut = np.array([p.truncated for p in plans])
    reason = "" if known.all() else NO_REPORT
    return Bound(value, role, reference, known, reason, cut)


def projected_bound(plans: Sequence[Plan], points: SweptPoints) -> Bound:
    """Return the errors of the projected averages, by the central limit theorem, at mean 0."""
    value = []
    for plan, x2, n in zip(plans, points["x2"], points["n"], strict=True):
        variance = np.maximum(plan.second - x2 * plan.squares, 0.0) / n
        value.append(co.clipped_normal_mse(0.0, np.sqrt(variance)).sum())
    return Bound(np.array(value), Role.ESTIMATE, PROJECTED)


def central_error(demands: Sequence[Demand], points: SweptPoints) -> FloatArray:
    """Return the error Σ 8/(n·c_i)² of a trusted curator.

    The curator adds Laplace noise of scale 2/(n·c_i) to each mean, where c_i is the demanded level:
    changing one coordinate of one record costs c_i, changing a record Σc_i.
    """
    each = np.array([(8.0 / demand.levels**2).sum() for demand in demands])
    result: FloatArray = each / points["n"] ** 2
    return result


def theorem2_order(paper: Sequence[Plan], points: SweptPoints) -> FloatArray:
    """Return (17) without its constant."""
    n = points["n"]
    if len({p.c.size for p in paper}) == 1:
        return np.asarray(co.theorem2_bound(np.array([p.c for p in paper]), n))
    return np.array([float(co.theorem2_bound(p.c, m)) for p, m in zip(paper, n, strict=True)])


def corollary1_order(
    demands: Sequence[Demand], points: SweptPoints
) -> tuple[FloatArray, BoolArray]:
    """Return Corollary 1 without its constant, and where its assumption ε > 2δ holds."""
    d, k, eps, q = (np.array([getattr(x, key) for x in demands]) for key in ("d", "k", "eps", "q"))
    level = np.array([min(x.level, x.eps) for x in demands])
    _, value = co.corollary1_bound(points["n"], d, k, level, eps, q)
    return np.asarray(value), np.asarray(eps > 2.0 * level)


def jumps(demands: Sequence[Demand], paper: Sequence[Plan], points: SweptPoints) -> list[int]:
    """Return the places before which Theorem 2's budgets jump.

    There (16) changes between one budget for all coordinates and smaller ones for the sensitive
    coordinates, smaller by at least log(1 + q(e^δ − 1)) with any coupling (errata coord-B2). Over d
    and the share of sensitive coordinates every step is a jump, and none is marked.
    """
    if points.sweep.key in ("d", "share"):
        return []
    even = np.array([plan.c.min() == plan.c.max() for plan in paper[:-1]])
    coupled = np.array([demand.q > 0.0 for demand in demands[:-1]])
    changed = (even[1:] != even[:-1]) & coupled[1:] & coupled[:-1]
    return (np.flatnonzero(changed) + 1).tolist()


def with_gaps(series: Series, before: Sequence[int]) -> Series:
    """Return a curve with a gap before each of these places."""
    if not before:
        return series
    places = list(before)
    middle = 0.5 * (series.x[[i - 1 for i in places]] + series.x[places])
    reasons = [series.undefined_reason, _JUMPS]
    return replace(
        series,
        x=np.insert(series.x, places, middle),
        y=np.insert(series.y, places, np.nan),
        undefined_reason="; ".join(reason for reason in reasons if reason),
    )


def certified_level(plans: Sequence[Plan], points: SweptPoints, place: int) -> FloatArray:
    """Return the certified level of one coordinate at the true coupling, after T releases."""
    c = np.array([p.c[place] for p in plans])
    value = co.repeated_certificate(
        c[:, None], points["true_q"][:, None], totals(plans), points["releases"]
    )
    result: FloatArray = value[:, 0]
    return result


def proposition4_level(plans: Sequence[Plan], points: SweptPoints, place: int) -> FloatArray:
    """Return the level of one coordinate by Proposition 4, part 2."""
    count, c = points["releases"], np.array([p.c[place] for p in plans])
    value = co.bcdp_from_cdp_and_ldp(
        (count * c)[:, None], points["true_q"][:, None], count * totals(plans)
    )
    result: FloatArray = value[:, 0]
    return result


def totals(plans: Sequence[Plan]) -> FloatArray:
    """Return L of every plan."""
    return np.array([p.total for p in plans])


def brute_force(
    demands: Sequence[Demand],
    paper: Sequence[Plan],
    points: SweptPoints,
    place: int,
    context: Context,
) -> tuple[SweptPoints, Bound] | None:
    """Return exact levels on the corners for the prior (60) of the true coupling.

    For one release of the paper's budgets by M_LDP and d ≤ 4; None otherwise. The level of one
    prior is a lower bound on the largest level of all priors of that coupling.
    """
    if demands[-1].d > _MAX_BRUTE_FORCE_D or demands[-1].channel != co.DUCHI:
        return None
    size = points.x.size
    indices = evenly_spread(size, _BRUTE_FORCE_POINTS)
    fewer = subset(points, indices.tolist())
    value = np.empty(indices.size + 1)
    logs: dict[bytes, FloatArray] = {}
    for j, index in enumerate([*indices.tolist(), size]):
        context.check()
        demand, c = demands[index], paper[index].c
        if c.tobytes() not in logs:
            logs = {c.tobytes(): co.corner_log_likelihoods(c)}
        prior = co.copies_prior(demand.d, float(fewer["true_q"][j]))
        levels = bcdp_levels_from_logs([2] * demand.d, prior, logs[c.tobytes()])
        value[j] = levels[place]
    once = fewer["releases"] == 1.0
    reason = "" if once.all() else "brute force is about one release"
    return fewer, Bound(value, Role.LOWER, BRUTE_FORCE, once, reason)
