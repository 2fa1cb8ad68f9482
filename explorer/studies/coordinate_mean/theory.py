"""Errors, budgets and levels of the mechanisms at the points of a sweep."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.coordinates.levels import bcdp_levels_from_logs
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.studies.base.study import Context, Request, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean import sources
from explorer.studies.coordinate_mean.plans import TWO, Demand, Plan, errors, sensitive

HEURISTIC, FIXED = "heuristic", "fixed"
"""Rules for the paper's ζ."""
_MAX_BRUTE_FORCE_D = 4
_BRUTE_FORCE_POINTS = 26
NO_REPORT = "a coordinate with budget 0 has no report: its error is infinite"
_JUMPS = (
    "it jumps here: on one side (16) gives all coordinates one budget, on the other the sensitive "
    "ones less"
)


def demands_of(request: Request, points: SweptPoints) -> list[Demand]:
    """Return the demand at every point."""
    profile, fixed = request["profile"], request["zeta_rule"] != HEURISTIC
    return [
        Demand(
            profile,
            int(d),
            sensitive(d, share) if profile == TWO else 1,
            float(level),
            float(eps),
            float(q),
            float(zeta) if fixed else 0.5 * (1.0 + float(q)),
            request["channel"],
        )
        for d, share, level, eps, q, zeta in zip(
            *(points[key] for key in ("d", "share", "level", "eps", "q", "zeta")), strict=True
        )
    ]


def with_coupling(points: SweptPoints, q: float | None) -> SweptPoints:
    """Return the points with another assumed coupling, unless that is the axis of the sweep."""
    if q is None or points.sweep.key == "q":
        return points
    return replace(points, columns=points.columns | {"q": np.full(points.x.size + 1, q)})


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
    return Bound(np.array(value), Role.ESTIMATE, sources.PROJECTED)


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
    even = np.array([plan.c[0] == plan.c[-1] for plan in paper[:-1]])
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
    return fewer, Bound(value, Role.LOWER, sources.BRUTE_FORCE, once, reason)
