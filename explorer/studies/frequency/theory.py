"""Errors of GKRR, Hadamard response and Laplace noise, their calibration, and who wins where.

In ℓ2 all errors are exact. In d_EM only that of Laplace noise is. Where two upper bounds cross
nothing follows, and Cauchy–Schwarz loses √(π/2) for the nearly normal noise of GKRR and Hadamard
response but √2 for one Laplace variable. The α from which GKRR wins in d_EM is therefore computed
from the normal limits of their errors: an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import (
    USER_METRIC as _PAPER,
    BoolArray,
    Bound,
    FloatArray,
    Reference,
    Role,
)
from explorer.privacy.shuffling import Clones
from explorer.privacy.spaces import FiniteSpace
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints, carry_bound
from explorer.studies.metric_space.parameters import DISCRETE, MATRIX, POINTS, TYPED
from explorer.studies.metric_space.space import RequestSpace

GKRR = Reference(
    _PAPER,
    "Section 6.2, Algorithm 4 with GKRR; our proofs on Lemma B.1",
    "exact error; α₀ is the largest proved: of exact hops with stronger clones, of hops in "
    "increasing order, and at the sliders' values, for 0/1 distances and at most "
    f"{um.PRODUCT_ITEMS} items a user, of hops side by side",
)
THEOREM44 = Reference(
    _PAPER, "Section 6.2, Algorithm 4 with GKRR", "exact error; α₀ by Theorem 4.4, δ·e^h = δ′"
)
PRINTED_ALPHA0 = Reference(
    _PAPER,
    "Theorem 6.6 with α₀ of equation (6)/(7), as printed",
    "these equations are not to calibrate with: errata user-A3 to user-A6",
)
TIGHT = Reference(
    _PAPER,
    "Theorem 6.5, both terms halved",
    "d_EM is (r/2)‖·‖₁ + ((1−r)/2)‖·P‖₁ here: errata user-E4",
)
COMPARED = Reference(
    _PAPER,
    "Theorem 6.5, both terms halved, times √(2/π)",
    "the mean of |N| over its root mean square for normal N: an estimate, as where two "
    "upper bounds cross nothing follows",
)
THEOREM65 = Reference(_PAPER, "Theorem 6.5, equation (8), with the exact norms of GKRR's inverse")
THEOREM66 = Reference(_PAPER, "Theorem 6.6, with the best α₀ that is proved")
REMARK = Reference(
    _PAPER,
    "remarks after Theorem 6.6 and Corollary 6.8, as printed",
    "does not follow from the theorem: errata user-E6",
)
HADAMARD = Reference(
    "Acharya, Sun & Zhang 2018 (Hadamard response); Kairouz, Oh & Viswanath 2015 (composition)",
    "Lemma 6.4 with the exact budget of an item",
    "(ε, δ), not (ε, 0): errata user-E8",
)
HADAMARD_PRINTED = Reference(
    _PAPER, "remark after Lemma 6.4: ε/√(m ln(m/δ)) an item", "not private: errata user-E8"
)
LAPLACE = Reference(_PAPER, "Lemma 6.7, with scale 2/(nε)", "errata user-E1")
LAPLACE_DISTANCE = Reference(
    _PAPER,
    "Lemma 6.7, with scale 2/(nε)",
    "errata user-E1; its mean d_EM exactly, shifted to sum 1, by its characteristic function",
)
LAPLACE_PRINTED = Reference(
    _PAPER, "Lemma 6.7, with scale 1/(nε) as printed", "only 2ε-private: errata user-E1"
)
_ONE_ITEM = "one drawn item a user: pure user-level DP, a mixture of laws that are"
ONE_HADAMARD = Reference("Acharya, Sun & Zhang 2018 (Hadamard response)", "", _ONE_ITEM)
ONE_GRR = Reference("Kairouz, Bonawitz & Ramage 2016 (k-ary randomised response)", "", _ONE_ITEM)
ONE_PRIV_UNIT = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018",
    "PrivUnit₂",
    "of e_x − 1/k in the plane of histograms; " + _ONE_ITEM,
)
THRESHOLD = Reference(
    _PAPER,
    "Sections 6.2.1 and 6.2.2, conditions for an improvement",
    "up to the constants that O(·) drops",
)
CHOICE = Reference(_PAPER, "Section 6.2: α = ε/r", "")
EXPONENTIAL = Reference(
    "McSherry & Talwar 2007 (exponential mechanism); our proof",
    "Algorithm 4 of " + _PAPER + " with it, along trees",
    "on any finite metric and for all data: standard deviations on the arms of a star, or the "
    "edges of a spanning tree, nowhere shorter than the metric; α₀ is the largest proved",
)
REFERENCES = (
    GKRR,
    THEOREM44,
    PRINTED_ALPHA0,
    TIGHT,
    THEOREM65,
    THEOREM66,
    REMARK,
    HADAMARD,
    HADAMARD_PRINTED,
    LAPLACE,
    LAPLACE_PRINTED,
    ONE_HADAMARD,
    ONE_GRR,
    ONE_PRIV_UNIT,
    EXPONENTIAL,
    THRESHOLD,
)

CENTRAL, LOCAL = "central", "local"
MAX_ALPHA = 800.0
MIN_ALPHA = 1e-2
"""α below this is not drawn."""
_MAX_LEVEL = 800.0
"""Largest α₀ or ε₀ of an item."""
_NORMAL = math.sqrt(2 / math.pi)
"""Mean of |N| over its root mean square, for normal N."""
_BISECTIONS = 48
_ALPHA0_ON_AXIS = partial(um.best_alpha0, side_by_side=False)
_ALPHA_ON_AXIS = partial(um.best_alpha, side_by_side=False)
_ALPHA0_ESTIMATE = partial(um.group_alpha0_estimate, variant=Clones.STRONGER, in_order=True)
_ALPHA_ESTIMATE = partial(um.group_alpha_estimate, variant=Clones.STRONGER, in_order=True)


@dataclass(frozen=True)
class Problem:
    """Arguments of the formulas, one entry a point of the sweep, the sliders' own last.

    Attributes
    ----------
    alpha, eps, delta : ndarray of float
        Metric and user-level privacy.
    m, n : ndarray of float
        Items per user, users.
    s, t, r : ndarray of float
        Clusters, items per cluster, distance within a cluster.
    local : bool
        Whether each user's items are shuffled separately.
    metric : um.MetricFrequency or None
        Bounds of the user's own metric; its items are clusters of one for all that is known of
        other mechanisms, since no distance is above 1. None on clusters.
    """

    alpha: FloatArray
    eps: FloatArray
    delta: FloatArray
    m: FloatArray
    n: FloatArray
    s: FloatArray
    t: FloatArray
    r: FloatArray
    local: bool
    metric: um.MetricFrequency | None = None
    min_distance: float = 1.0

    @property
    def k(self) -> FloatArray:
        """Size of the domain."""
        return self.s * self.t

    @property
    def near(self) -> FloatArray:
        """Smallest distance of two different items."""
        if self.metric is not None:
            return np.full_like(self.t, self.min_distance)
        return np.where(self.t > 1, self.r, 1.0)

    @property
    def shuffled_users(self) -> FloatArray:
        """Users whose items are in one shuffle."""
        return np.ones_like(self.n) if self.local else self.n

    @property
    def distinguishable(self) -> BoolArray:
        """Whether the distance of items in a cluster is above 0."""
        return np.asarray((self.r > 0) | (self.t == 1))

    @property
    def last(self) -> Problem:
        """The sliders' own point."""
        columns = [f.name for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)]
        return replace(self, **{key: getattr(self, key)[-1:] for key in columns})


OWN = (MATRIX, TYPED, POINTS)
"""Spaces that are the user's own."""
_TOO_MANY = f"errors on a metric of your own are for 2 to {um.MAX_METRIC_ITEMS} items; choose fewer"


def missing_reason(space: RequestSpace) -> str:
    """Return why there are no errors on a space of the user's own; empty if there are."""
    if space.size is None:
        return space.missing
    return _TOO_MANY if space.size > um.MAX_METRIC_ITEMS else ""


def problem_of(
    swept: SweptPoints,
    request: Request,
    space: RequestSpace | None = None,
    context: Context | None = None,
) -> Problem:
    """Return the arguments of a sweep; 0/1 distances are clusters of one item.

    A space of the user's own, with which alone the last two arguments are needed, must be there.
    """
    metric, near = None, 1.0
    if request["space"] in OWN:
        assert space is not None
        assert context is not None
        assert isinstance(space.metric, FiniteSpace)
        chosen, near = space.metric, space.min_distance
        key = ("frequency-metric", chosen.matrix().tobytes())
        metric = context.cached(key, lambda: um.MetricFrequency(chosen))
        s = np.full_like(swept["m"], chosen.size)
        t, r = np.ones_like(s), np.ones_like(s)
    elif request["space"] == DISCRETE:
        s = swept["space_items"]
        t, r = np.ones_like(s), np.ones_like(s)
    else:
        s, t, r = (swept[f"space_{key}"] for key in ("clusters", "each", "near"))
    alpha, eps, delta, m, n = (swept[key] for key in ("alpha", "eps", "delta", "m", "n"))
    local = request["model"] == LOCAL
    return Problem(alpha, eps, delta, m, n, s, t, r, local, metric, near)


# Calibration


@dataclass(frozen=True)
class Calibration:
    """Parameters of the mechanisms, one entry a point.

    Attributes
    ----------
    alpha0 : ndarray of float
        Largest proved α₀ of GKRR, or an estimate of it.
    estimated : bool
    theorem, printed : ndarray of float
        α₀ of GKRR by Theorem 4.4 and by equation (6) or (7).
    theorem_holds, printed_holds : ndarray of bool
    item, item_printed : ndarray of float
        ε₀ of Hadamard response, exact and as printed.
    """

    alpha0: FloatArray
    estimated: bool
    theorem: FloatArray
    theorem_holds: BoolArray
    printed: FloatArray
    printed_holds: BoolArray
    item: FloatArray
    item_printed: FloatArray

    def carried(self, points: SweptPoints) -> Calibration:
        """Return parameters nowhere smaller than at a point with a stricter guarantee."""

        def best(bound: Bound, weaker: dict[str, int]) -> Bound:
            return carry_bound(bound, points, weaker, largest=True)

        gkrr = {"alpha": 1, "delta": 1, "n": 1}
        theorem = Bound(self.theorem, Role.LOWER, THEOREM44, self.theorem_holds)
        theorem = best(theorem, gkrr)
        item = Bound(self.item, Role.LOWER, HADAMARD)
        return replace(
            self,
            alpha0=best(Bound(self.alpha0, Role.LOWER, GKRR), gkrr).value,
            theorem=np.where(theorem.valid, theorem.value, 0.0),
            theorem_holds=theorem.valid,
            item=best(item, {"eps": 1, "delta": 1}).value,
        )

    @property
    def last(self) -> Calibration:
        """Parameters at the sliders' own point."""
        columns = [f.name for f in fields(self) if f.name != "estimated"]
        return replace(self, **{key: getattr(self, key)[-1:] for key in columns})


def calibrate(
    p: Problem,
    context: Context,
    *,
    exact: bool,
    theorem: bool = True,
    alpha0: FloatArray | None = None,
) -> Calibration:
    """Return the parameters of the mechanisms.

    Parameters
    ----------
    p : Problem
    context : Context
    exact : bool
        Whether to calibrate exactly rather than by quick estimates.
    theorem : bool
        Whether Theorem 4.4 is needed.
    alpha0 : ndarray of float, optional
        α₀ of GKRR at all points but the sliders', where it is the axis of the sweep.
    """
    own = p.last if alpha0 is not None else p
    best = best_alpha0(own, context, exact)
    if theorem:
        by_theorem, theorem_holds = theorem_alpha0(own, context)
    else:
        by_theorem, theorem_holds = np.zeros_like(own.m), np.zeros(own.m.shape, bool)
    printed, printed_holds = printed_alpha0(own)
    if alpha0 is not None:
        best = np.append(alpha0, best)
        # On the axis of α₀ there is one GKRR only, however it was calibrated.
        nowhere = np.zeros(alpha0.shape, bool)
        by_theorem, printed = np.append(alpha0, by_theorem), np.append(alpha0, printed)
        theorem_holds = np.append(nowhere, theorem_holds)
        printed_holds = np.append(nowhere, printed_holds)
    context.check()
    return Calibration(
        best,
        not exact and alpha0 is None,
        by_theorem,
        theorem_holds,
        printed,
        printed_holds,
        item_epsilon(p, context, exact),
        np.minimum(um.hadamard_epsilon_printed(p.eps, p.m, p.delta), _MAX_LEVEL),
    )


def best_alpha0(p: Problem, context: Context, exact: bool) -> FloatArray:
    """Return the largest proved α₀, or a quick estimate of it.

    Hops side by side, for 0/1 distances and few items, are added up at the sliders' values only.
    """
    columns = (p.alpha, p.delta, p.m, p.shuffled_users, p.near)
    if not exact:
        return _cached_columns(_ALPHA0_ESTIMATE, "frequency-alpha0-quick", context, *columns)
    axis, own = ([column[part] for column in columns] for part in (slice(-1), slice(-1, None)))
    on_axis = _cached_rows(_ALPHA0_ON_AXIS, "frequency-alpha0", context, *axis)
    if p.near[-1] >= 1 and p.m[-1] <= um.PRODUCT_ITEMS:
        here = _cached_rows(um.best_alpha0, "frequency-alpha0-own", context, *own)
    else:  # where a point of the axis is the sliders' own, it is not computed twice
        here = _cached_rows(_ALPHA0_ON_AXIS, "frequency-alpha0", context, *own)
    return np.append(on_axis, here)


def certified_alpha(alpha0: FloatArray, p: Problem, context: Context, exact: bool) -> FloatArray:
    """Return the smallest proved α of α₀ without hops side by side; infinite beyond 800."""
    columns = (alpha0, p.delta, p.m, p.shuffled_users, p.near)
    known = np.isfinite(alpha0)
    out = np.full(alpha0.shape, math.inf)
    if known.any():
        rows = tuple(column[known] for column in columns)
        if exact:
            out[known] = _cached_rows(_ALPHA_ON_AXIS, "frequency-alpha", context, *rows)
        else:
            out[known] = _cached_columns(_ALPHA_ESTIMATE, "frequency-alpha-quick", context, *rows)
    return out


def theorem_alpha0(p: Problem, context: Context) -> tuple[FloatArray, BoolArray]:
    """Return α₀ of Theorem 4.4 and where it exists."""

    def inverted(alpha: FloatArray, delta: FloatArray, m: FloatArray, n: FloatArray) -> FloatArray:
        return um.theorem44_alpha0(alpha, delta, m, n, um.Internal.TIGHT).alpha0

    columns = (p.alpha, p.delta, p.m, p.shuffled_users)
    alpha0 = _cached_columns(inverted, "frequency-theorem", context, *columns)
    return alpha0, np.asarray(alpha0 > 0)


def printed_alpha0(p: Problem) -> tuple[FloatArray, BoolArray]:
    """Return α₀ of equation (6) or (7) and where the theorem behind it holds."""
    inverse = um.closed_form(p.alpha, p.delta, p.m, p.shuffled_users)
    return np.minimum(inverse.alpha0, _MAX_LEVEL), np.asarray(inverse.valid)


def item_epsilon(p: Problem, context: Context, exact: bool) -> FloatArray:
    """Return ε₀ of Hadamard response for one of m items under (ε, δ)-user-level DP.

    By exact composition, or by the Gaussian limit of many small reports.
    """
    if exact:
        return _cached_rows(um.per_item_epsilon, "frequency-item", context, p.m, p.eps, p.delta)

    def estimate(m: FloatArray, eps: FloatArray, delta: FloatArray) -> FloatArray:
        width = np.asarray(um.gaussian_sigma(eps, delta))
        return np.maximum(1 / (width * np.sqrt(m)), eps / m)

    level = _cached_columns(estimate, "frequency-item-quick", context, p.m, p.eps, p.delta)
    return np.minimum(level, _MAX_LEVEL)


def _cached_rows(
    function: Callable[..., float], key: str, context: Context, *columns: FloatArray
) -> FloatArray:
    """Return a scalar function at every point, cached by row."""
    out = np.empty(columns[0].shape)
    for i, row in enumerate(zip(*columns, strict=True)):
        context.check()
        arguments = tuple(float(v) for v in row)
        out[i] = context.cached((key, arguments), partial(function, *arguments))
    return out


def _cached_columns(
    function: Callable[..., Any], key: str, context: Context, *columns: FloatArray
) -> FloatArray:
    """Return a vectorised function at every point, cached separately for axis and sliders.

    Dragging the slider of the axis then leaves the points of the axis cached. Where all rows are
    equal one is computed.
    """

    def evaluate(part: slice) -> FloatArray:
        rows = np.stack([column[part] for column in columns])
        if rows.shape[1] > 1 and (rows == rows[:, :1]).all():
            return np.full(rows.shape[1], evaluate(slice(part.start, 1))[0])
        values: FloatArray = context.cached(
            (key, rows.shape, rows.tobytes()), lambda: np.asarray(function(*rows), dtype=float)
        )
        return values

    if columns[0].size == 1:
        return evaluate(slice(0, 1))
    context.check()
    return np.append(evaluate(slice(0, -1)), evaluate(slice(-1, None)))


# Errors


def gkrr_squared_error(p: Problem, alpha0: FloatArray, clusters: bool = False) -> FloatArray:
    """Return E‖F̃ − K̃‖² of GKRR, of items or of cluster masses."""
    error = um.gkrr_cluster_mse if clusters else um.gkrr_mse
    return np.asarray(error(p.s, p.t, p.r, alpha0, p.m, p.n))


def own_errors(p: Problem, alpha0: FloatArray, context: Context) -> tuple[FloatArray, FloatArray]:
    """Return bounds on E‖F − K̃‖² and E d_EM of the exponential mechanism on the user's metric.

    Cached for each α₀; infinite where the law cannot be inverted.
    """
    metric = p.metric
    assert metric is not None
    bounds = metric.errors
    name = metric.space.matrix().tobytes()
    pairs = np.empty((alpha0.size, 2))
    for i, level in enumerate(alpha0.tolist()):
        context.check()
        key = ("frequency-own", name, level)
        pairs[i] = context.cached(key, partial(bounds, level))
    answers = p.m * p.n
    return pairs[:, 0] / answers, pairs[:, 1] / np.sqrt(answers)


def hadamard_squared_error(p: Problem, item: FloatArray, clusters: bool = False) -> FloatArray:
    """Return E‖F̃ − K̃‖² of Hadamard response; an upper bound for clusters of several items."""
    if clusters and bool((p.t > 1).any()):
        return np.asarray(um.hadamard_cluster_mse_bound(p.k, item, p.m, p.n))
    return np.asarray(um.hadamard_mse(p.k, item, p.m, p.n))


def laplace_squared_error(p: Problem, factor: float = 1.0) -> FloatArray:
    """Return E‖F̃ − K̃‖² of Laplace noise at ε times `factor`."""
    eps = p.eps * factor
    if p.local:
        return np.asarray(um.laplace_mse(p.k, np.ones_like(p.n), eps, p.n))
    return np.asarray(um.laplace_mse(p.k, p.n, eps))


def laplace_distance(p: Problem, factor: float = 1.0) -> FloatArray:
    """Return the mean d_EM of Laplace noise at ε times `factor`, shifted to sum 1.

    Exact on clusters, an upper bound on a metric of the user's.
    """
    if p.metric is not None:
        # The shift takes a k-th of the squared error away.
        square = laplace_squared_error(p, factor) * (1 - 1 / p.k)
        return np.asarray(p.metric.distance_bound(square))
    noisy, averaged = (np.ones_like(p.n), p.n) if p.local else (p.n, np.ones_like(p.n))
    return np.asarray(um.laplace_emd_mean(p.s, p.t, p.r, noisy, p.eps * factor, averaged))


def one_item_squared_errors(p: Problem) -> dict[str, FloatArray]:
    """Return the largest E‖F̃ − K̃‖² of the mechanisms by which users report one drawn item."""
    mechanisms = {
        "one_hadamard": um.one_item_hadamard_mse,
        "one_grr": um.one_item_grr_mse,
        "one_priv_unit": um.priv_unit_histogram_mse,
    }
    return {key: np.asarray(error(p.k, p.eps, p.n, 1 / p.k)) for key, error in mechanisms.items()}


def gkrr_distance_bound(p: Problem, alpha0: FloatArray, printed: bool = False) -> FloatArray:
    """Return Theorem 6.5's bound on the mean d_EM of GKRR, halved or as printed."""
    return np.asarray(um.gkrr_emd_bound(p.s, p.t, p.r, alpha0, p.m, p.n, printed=printed))


def theorem66_bound(p: Problem, alpha0: FloatArray) -> FloatArray:
    """Return Theorem 6.6's bound on the mean d_EM of GKRR."""
    return np.asarray(um.theorem66_bound(p.s, p.t, p.r, alpha0, p.m, p.n))


def theorem66_remark(p: Problem) -> FloatArray:
    """Return the paper's simplification of Theorem 6.6 or Corollary 6.8."""
    remark = um.theorem66_remark if p.local else um.corollary68_remark
    return np.asarray(remark(p.k, p.alpha, p.delta, p.m, p.n))


def hadamard_distance_bound(p: Problem, item: FloatArray) -> FloatArray:
    """Return the halved Theorem 6.5's bound on the mean d_EM of Hadamard response."""
    if p.metric is not None:
        return np.asarray(p.metric.distance_bound(hadamard_squared_error(p, item)))
    whole, across = (hadamard_squared_error(p, item, clusters) for clusters in (False, True))
    return np.asarray(um.emd_bound(p.s, p.t, p.r, whole, across))


# Comparison


@dataclass(frozen=True)
class Edge:
    """Smallest α at which GKRR wins, one entry a point.

    Attributes
    ----------
    alpha : ndarray of float
        Smallest α at which its error is at most that of the best rival; infinite above 800.
    alpha0 : ndarray of float
        α₀ there.
    rival : ndarray of str
        Key of the best rival.
    """

    alpha: FloatArray
    alpha0: FloatArray
    rival: np.ndarray[Any, np.dtype[np.str_]]


def edge_of(p: Problem, item: FloatArray, request: Request, context: Context, exact: bool) -> Edge:
    """Return where GKRR begins to win in the error and against the rival of a request."""
    compared = str(request["compared"])
    errors = user_level_errors(p, item, compared)
    if request["rival"] in errors:
        errors = {request["rival"]: errors[request["rival"]]}
    names, values = np.array(list(errors)), np.stack(list(errors.values()))
    best, rival = values.min(axis=0), names[values.argmin(axis=0)]

    def needed(
        s: FloatArray,
        t: FloatArray,
        r: FloatArray,
        m: FloatArray,
        n: FloatArray,
        target: FloatArray,
    ) -> FloatArray:
        return alpha0_needed(replace(p, s=s, t=t, r=r, m=m, n=n), target, compared)

    alpha0 = _cached_columns(
        needed, f"frequency-needed-{compared}", context, p.s, p.t, p.r, p.m, p.n, best
    )
    alpha = certified_alpha(alpha0, p, context, exact)
    return Edge(np.where(alpha <= MAX_ALPHA, alpha, math.inf), alpha0, rival)


def alpha0_needed(p: Problem, target: FloatArray, compared: str) -> FloatArray:
    """Return the smallest α₀ at which GKRR's error is at most the target; infinite if none is.

    The error falls as α₀ rises. Bisection in ln α₀ over [1e-9, 800], from the side that wins.
    """

    def error(alpha0: FloatArray) -> FloatArray:
        if compared == "rmse":
            return np.asarray(np.sqrt(gkrr_squared_error(p, alpha0)))
        return _NORMAL * gkrr_distance_bound(p, alpha0)

    low, high = np.full(target.shape, math.log(1e-9)), np.full(target.shape, math.log(_MAX_LEVEL))
    with np.errstate(invalid="ignore"):
        ever = error(np.exp(high)) <= target
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            wins = error(np.exp(middle)) <= target
            low, high = np.where(wins, low, middle), np.where(wins, middle, high)
    return np.where(ever, np.minimum(np.exp(high), _MAX_LEVEL), math.inf)


def user_level_errors(p: Problem, item: FloatArray, compared: str) -> dict[str, FloatArray]:
    """Return the errors by which user-level mechanisms are compared with GKRR."""
    hadamard = np.asarray(um.hadamard_mse(p.k, item, p.m, p.n))
    one_item = one_item_squared_errors(p) if p.local else {}
    if compared == "rmse":
        errors = {"hadamard": np.sqrt(hadamard), "laplace": np.sqrt(laplace_squared_error(p))}
        if one_item:
            errors["one_item"] = np.sqrt(np.min(list(one_item.values()), axis=0))
        return errors

    def distance(whole: FloatArray, across: FloatArray) -> FloatArray:
        across = np.where(p.t > 1, across, whole)
        return _NORMAL * np.asarray(um.emd_bound(p.s, p.t, p.r, whole, across))

    across = np.asarray(um.hadamard_cluster_mse_bound(p.k, item, p.m, p.n))
    errors = {"hadamard": distance(hadamard, across), "laplace": laplace_distance(p)}
    if one_item:
        # As Hadamard response with one item a user, whose own spread is in its error too.
        across = np.asarray(um.hadamard_cluster_mse_bound(p.k, p.eps, 1, p.n)) + 1 / p.n
        errors["one_item"] = distance(one_item["one_hadamard"], across)
    return errors


def printed_edge(p: Problem) -> FloatArray:
    """Return the paper's condition on α for an improvement."""
    edge = um.local_improvement_threshold if p.local else um.central_improvement_threshold
    return np.asarray(edge(p.eps, p.k, p.m, p.delta))
