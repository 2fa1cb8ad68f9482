"""Where each mechanism wins: the α at which GKRR's error equals the best user-level one.

In ℓ2 errors are exact. In d_EM only that of Laplace noise is; where two upper bounds cross nothing
follows, the more so as Cauchy–Schwarz gives away √(π/2) for the nearly normal noise of GKRR and
Hadamard response, and √2 for one Laplace variable. So their normal limits are compared: estimates.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.studies.base.study import Context, Mark, Request, Series
from explorer.studies.base.sweeping import SweptPoints, series_from
from explorer.studies.frequency import points as found_at, text
from explorer.studies.frequency.curves import laplace_distance, laplace_mse, one_item_mse
from explorer.studies.frequency.parameters import ALPHA_MAX, BEST, LOCAL
from explorer.studies.frequency.points import Points

_NORMAL = math.sqrt(2 / math.pi)
"""Mean of |N| over its root mean square, for normal N."""
_ALPHA_LOW = 1e-2
_STEPS = 48
_RIVALS = {
    "hadamard": text.HADAMARD,
    "laplace": text.LAPLACE,
    "one_item": text.ONE_HADAMARD,
}
Rivals = np.ndarray[Any, np.dtype[np.str_]]


def user_level(p: Points, item: FloatArray, request: Request) -> dict[str, FloatArray]:
    """Return the errors by which user-level mechanisms are compared."""
    hadamard = np.asarray(um.hadamard_mse(p.k, item, p.m, p.n))
    one_item = one_item_mse(p) if request["model"] == LOCAL else {}
    if request["compared"] == "rmse":
        found = {"hadamard": np.sqrt(hadamard), "laplace": np.sqrt(laplace_mse(p, request))}
        if one_item:
            found["one_item"] = np.sqrt(np.min(list(one_item.values()), axis=0))
        return found

    def distance(whole: FloatArray, across: FloatArray) -> FloatArray:
        across = np.where(p.t > 1, across, whole)
        return _NORMAL * np.asarray(um.emd_bound(p.s, p.t, p.r, whole, across))

    found = {
        "hadamard": distance(
            hadamard, np.asarray(um.hadamard_cluster_mse_bound(p.k, item, p.m, p.n))
        ),
        "laplace": laplace_distance(p, request),
    }
    if one_item:
        # As Hadamard response with one item a user, whose own spread is in its error too.
        across = np.asarray(um.hadamard_cluster_mse_bound(p.k, p.eps, 1, p.n)) + 1 / p.n
        found["one_item"] = distance(one_item["one_hadamard"], across)
    return found


def _gkrr(p: Points, alpha0: FloatArray, request: Request) -> FloatArray:
    arguments = (p.s, p.t, p.r, alpha0, p.m, p.n)
    if request["compared"] == "rmse":
        return np.asarray(np.sqrt(um.gkrr_mse(*arguments)))
    return _NORMAL * np.asarray(um.gkrr_emd_bound(*arguments))


def alpha0_needed(p: Points, target: FloatArray, request: Request) -> FloatArray:
    """Return the smallest α₀ at which GKRR's error is at most the target; infinite if none is.

    The error falls as α₀ rises; bisection in ln α₀ over [1e-9, 800], from the side that wins.
    """
    low, high = np.full(target.shape, math.log(1e-9)), np.full(target.shape, math.log(800.0))
    with np.errstate(invalid="ignore"):
        ever = _gkrr(p, np.exp(high), request) <= target
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            wins = _gkrr(p, np.exp(middle), request) <= target
            low, high = np.where(wins, low, middle), np.where(wins, middle, high)
    return np.where(ever, np.minimum(np.exp(high), 800.0), math.inf)


def threshold(
    p: Points, item: FloatArray, request: Request, context: Context, full: bool
) -> tuple[FloatArray, FloatArray, Rivals]:
    """Return the α from which GKRR wins, the α₀ there, and which rival it must beat."""
    errors = user_level(p, item, request)
    if request["rival"] in errors:
        errors = {request["rival"]: errors[request["rival"]]}
    names, values = np.array(list(errors)), np.stack(list(errors.values()))
    which = values.argmin(axis=0)
    best, rival = values.min(axis=0), names[which]

    def needed(
        s: FloatArray,
        t: FloatArray,
        r: FloatArray,
        m: FloatArray,
        n: FloatArray,
        target: FloatArray,
    ) -> FloatArray:
        own = replace(p, s=s, t=t, r=r, m=m, n=n)
        return alpha0_needed(own, target, request)

    key = f"frequency-needed-{request['compared']}"
    alpha0 = found_at.kept(needed, key, context, p.s, p.t, p.r, p.m, p.n, best)
    alpha = found_at.certified_alpha(alpha0, p, request, context, full)
    return np.where(alpha <= ALPHA_MAX, alpha, math.inf), alpha0, rival


def regions(
    swept: SweptPoints,
    p: Points,
    item: FloatArray,
    request: Request,
    context: Context,
    full: bool,
) -> tuple[tuple[Series, ...], Bound, FloatArray, str]:
    """Return who wins where, with the paper's condition and its choice of α, and the edge.

    Also the α₀ at the edge, and which user-level mechanism GKRR must beat at the sliders.
    """
    alpha, alpha0, rival = threshold(p, item, request, context, full)
    never = ~np.isfinite(alpha)
    role = Role.UPPER if full and request["compared"] == "rmse" else Role.ESTIMATE
    x, top = swept.x, np.where(never, ALPHA_MAX, np.maximum(alpha, _ALPHA_LOW))[:-1]
    bottom = np.full(x.shape, _ALPHA_LOW)
    ceiling = np.full(x.shape, ALPHA_MAX)
    source = text.GKRR if request["compared"] == "rmse" else text.COMPARED
    edge = Bound(np.where(never, np.nan, alpha), role, source, ~never, text.NEVER)
    here = [_area("gkrr", x, top, top, ceiling, ~never[:-1], text.NEVER, role, source)]
    for key, reference in _RIVALS.items():
        local_only = key == "one_item" and request["model"] != LOCAL
        if request["rival"] in (BEST, key) and not local_only:
            # A better calibration of GKRR could only take from what is theirs.
            won = rival[:-1] == key
            here.append(_area(key, x, top, bottom, top, won, text.OTHER, Role.ESTIMATE, reference))
    lines = {"equal": p.eps, "choice": np.where(p.r > 0, p.eps / np.maximum(p.r, 1e-300), np.inf)}
    paper = (
        um.local_improvement_threshold
        if request["model"] == LOCAL
        else um.central_improvement_threshold
    )
    lines["paper"] = np.asarray(paper(p.eps, p.k, p.m, p.delta))
    for key, value in lines.items():
        shown: BoolArray = (value <= ALPHA_MAX) & (value >= _ALPHA_LOW)
        reference = text.THRESHOLD if key == "paper" else text.CHOICE
        reason = "" if shown.all() else text.OUTSIDE
        made = Bound(np.where(shown, value, np.nan), Role.BASELINE, reference, shown, reason)
        here.append(series_from(key, text.REGION_LABELS[key], swept, made, note=text.NOTES[key]))
    own = float(request[swept.sweep.key])
    if x[0] <= own <= x[-1]:
        here.append(
            Series(
                "here",
                text.REGION_LABELS["here"],
                Role.BASELINE,
                np.array([own]),
                np.array([float(p.alpha[-1])]),
                text.CHOICE,
                note=text.HERE,
                mark=Mark.DOTS,
            )
        )
    return tuple(here), edge, alpha0, str(rival[-1])


def _area(
    key: str,
    x: FloatArray,
    edge: FloatArray,
    low: FloatArray,
    high: FloatArray,
    there: BoolArray,
    why: str,
    role: Role,
    reference: Reference,
) -> Series:
    y, low, high = (np.where(there, v, np.nan) for v in (edge, low, high))
    return Series(
        f"{key}_wins",
        text.REGION_LABELS[key],
        role,
        x,
        y,
        reference,
        low=low,
        high=high,
        undefined_reason="" if there.all() else why,
        mark=Mark.AREA,
        formula=True,
    )
