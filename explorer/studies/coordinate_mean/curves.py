"""Curves of errors, budgets and levels from the mechanisms compared."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.coordinates.levels import bcdp_levels_from_logs
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Mark, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean import text
from explorer.studies.coordinate_mean.parameters import MAX_SENSITIVE, TWO
from explorer.studies.coordinate_mean.plans import Demand, Plan, errors

_BRUTE_FORCE_D = 4
_BRUTE_FORCE_POINTS = 26


def chosen(points: SweptPoints, indices: Sequence[int]) -> SweptPoints:
    """Return some of the sweep's points and, last, the sliders' own."""
    kept = np.append(np.asarray(indices, int), points.x.size)
    return SweptPoints(
        points.sweep, points.x[kept[:-1]], {k: v[kept] for k, v in points.columns.items()}
    )


def error_bound(
    plans: Sequence[Plan], points: SweptPoints, role: Role, reference: Reference
) -> Bound:
    """Return the exact errors of a mechanism at the points, absent where nothing is reported."""
    value = errors(plans, points["x2"], points["n"])
    known = np.isfinite(value)
    cut = np.array([p.truncated for p in plans])
    return Bound(value, role, reference, known, "" if known.all() else text.NO_REPORT, cut)


def projected_bound(plans: Sequence[Plan], points: SweptPoints) -> Bound:
    """Return the errors of the projected averages, by the central limit theorem, at mean 0."""
    value = []
    for plan, x2, n in zip(plans, points["x2"], points["n"], strict=True):
        variance = np.maximum(plan.second - x2 * plan.squares, 0.0) / n
        value.append(co.clipped_normal_mse(0.0, np.sqrt(variance)).sum())
    return Bound(np.array(value), Role.ESTIMATE, text.PROJECTED)


def central_bound(demands: Sequence[Demand], points: SweptPoints) -> Bound:
    """Return the error of a trusted curator who adds Laplace noise of 2/(n·c_i) to each mean.

    Changing one attribute of one record costs c_i, here the level demanded, a record Σc_i. It is
    Σ 8/(n·c_i)².
    """
    each = np.array([(8.0 / demand.levels**2).sum() for demand in demands])
    return Bound(each / points["n"] ** 2, Role.BASELINE, text.CENTRAL)


def order_bounds(
    demands: Sequence[Demand], paper: Sequence[Plan], points: SweptPoints
) -> dict[str, Bound]:
    """Return (17) and, for two levels, Corollary 1, both without their constants."""
    n = points["n"]
    if len({p.c.size for p in paper}) == 1:
        value = co.theorem2_bound(np.array([p.c for p in paper]), n)
    else:
        value = np.array([float(co.theorem2_bound(p.c, m)) for p, m in zip(paper, n, strict=True)])
    found = {"theorem2": Bound(value, Role.ESTIMATE, text.THEOREM_2)}
    if demands[0].profile == TWO:
        d, k, eps, q = (
            np.array([getattr(x, key) for x in demands]) for key in ("d", "k", "eps", "q")
        )
        level = np.array([min(x.level, x.eps) for x in demands])
        _, value = co.corollary1_bound(n, d, k, level, eps, q)
        holds = eps > 2.0 * level
        reason = "" if holds.all() else "Corollary 1 assumes ε > 2δ"
        found["corollary1"] = Bound(value, Role.ESTIMATE, text.COROLLARY_1, holds, reason)
    return found


def jumps(demands: Sequence[Demand], paper: Sequence[Plan], points: SweptPoints) -> list[int]:
    """Return the places before which Theorem 2's budgets jump.

    There (16) changes between one budget for all coordinates and less for the sensitive ones,
    which with any coupling is less by log(1 + q(e^δ − 1)) at least (errata coord-B2). Over d and
    the share of sensitive coordinates every step is a jump, and none is told.
    """
    if points.sweep.key in ("d", "share"):
        return []
    even = np.array([plan.c[0] == plan.c[-1] for plan in paper[:-1]])
    coupled = np.array([demand.q > 0.0 for demand in demands[:-1]])
    changed = (even[1:] != even[:-1]) & coupled[1:] & coupled[:-1]
    return (np.flatnonzero(changed) + 1).tolist()


def broken(series: Series, before: Sequence[int]) -> Series:
    """Return a curve with a gap before each of these places, where it jumps."""
    if not before:
        return series
    places = list(before)
    middle = 0.5 * (series.x[[i - 1 for i in places]] + series.x[places])
    reasons = [series.undefined_reason, text.JUMPS]
    return replace(
        series,
        x=np.insert(series.x, places, middle),
        y=np.insert(series.y, places, np.nan),
        undefined_reason="; ".join(reason for reason in reasons if reason),
    )


def budget_bars(demand: Demand, plans: dict[str, Plan], points: SweptPoints) -> tuple[Series, ...]:
    """Return the demanded levels and every mechanism's budgets as bars over the coordinates."""
    x = points.x
    at = np.rint(points["i"][:-1]).astype(int) - 1
    inside = (at >= 0) & (at < demand.d)
    reason = "" if inside.all() else f"there is no such coordinate: d = {demand.d}"

    def bars(
        key: str, label: str, role: Role, values: FloatArray, source: Reference, note: str = ""
    ) -> Series:
        y = np.where(inside, values[np.clip(at, 0, demand.d - 1)], np.nan)
        return Series(
            key, label, role, x, y, source, undefined_reason=reason, note=note, mark=Mark.BARS
        )

    series = [bars("demanded", "min(δᵢ, ε)", Role.BASELINE, demand.levels, text.MECHANISM)]
    for key, plan in plans.items():
        label, role, source = text.NAMES[key]
        series.append(bars(key, f"c: {label}", role, plan.c, source, f"L = {nearest(plan.total)}"))
    return tuple(series)


def looked_at(demand: Demand, whose: str) -> int:
    """Return the index of the coordinate whose level is drawn."""
    return 0 if whose == MAX_SENSITIVE else demand.d - 1


def level_bounds(
    demands: Sequence[Demand],
    plans: dict[str, Sequence[Plan]],
    points: SweptPoints,
    whose: str,
) -> dict[str, Bound]:
    """Return certified levels of one coordinate at the true coupling, after T releases."""
    true_q, count = points["true_q"], points["releases"]
    place = looked_at(demands[0], whose)
    found: dict[str, Bound] = {}
    for key, some in plans.items():
        c = np.array([p.c[place] for p in some])
        total = np.array([p.total for p in some])
        value = co.repeated_certificate(c[:, None], true_q[:, None], total, count)[:, 0]
        found[key] = Bound(value, Role.UPPER, text.CERTIFICATE)
        if key == "paper":
            printed = co.bcdp_from_cdp_and_ldp(
                (count * c)[:, None], true_q[:, None], count * total
            )[:, 0]
            found["proposition4"] = Bound(printed, Role.UPPER, text.PROPOSITION_4)
            found["total"] = Bound(count * total, Role.UPPER, text.PROPOSITION_3)
    demanded = np.array([x.levels[place] for x in demands])
    found["demanded"] = Bound(demanded, Role.BASELINE, text.MECHANISM)
    return found


LEVEL_NAMES = {
    "paper": "δᵢ certified, the paper's budgets",
    "proposition4": "δᵢ by Proposition 4, part 2, the paper's budgets",
    "total": "L-LDP, whatever the beliefs (Proposition 3), the paper's budgets",
    "best_zeta": "δᵢ certified, best ζ",
    "exact": "δᵢ certified, exact constraint",
    "hybrid": "δᵢ certified, hybrid channels",
    "demanded": "demanded level",
}


def brute_force(
    demands: Sequence[Demand],
    paper: Sequence[Plan],
    points: SweptPoints,
    whose: str,
    context: Context,
) -> tuple[SweptPoints, Bound] | None:
    """Return exact levels on the corners for the prior (60) of the true coupling.

    One release of the paper's budgets by M_LDP, d ≤ 4; None if there is nothing to say. What one
    prior has is a lower bound on what all priors of that coupling can have.
    """
    if demands[-1].d > _BRUTE_FORCE_D or demands[-1].channel != co.DUCHI:
        return None
    size = points.x.size
    kept = evenly_spread(size, _BRUTE_FORCE_POINTS)
    some = chosen(points, kept.tolist())
    value = np.empty(kept.size + 1)
    logs: dict[bytes, FloatArray] = {}
    for j, place in enumerate([*kept.tolist(), size]):
        context.check()
        demand, c = demands[place], paper[place].c
        if c.tobytes() not in logs:
            logs = {c.tobytes(): co.corner_log_likelihoods(c)}
        prior = co.copies_prior(demand.d, float(some["true_q"][j]))
        levels = bcdp_levels_from_logs([2] * demand.d, prior, logs[c.tobytes()])
        value[j] = levels[looked_at(demand, whose)]
    once = some["releases"] == 1.0
    reason = "" if once.all() else "brute force is about one release"
    return some, Bound(value, Role.LOWER, text.BRUTE_FORCE, once, reason)
