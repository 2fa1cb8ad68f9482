"""Sensitivity of linear queries, and the errors of every mechanism at the points of a sweep."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import USER_METRIC as _PAPER, Bound, FloatArray, Reference, Role
from explorer.privacy.spaces import Grid, Sphere, Square
from explorer.studies.base.curve_study import Points
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.guarantees.audits import Audited
from explorer.studies.linear_queries.queries import (
    CELLS,
    COORDINATE,
    GIVEN,
    LANDMARKS,
    POSITION,
    Query,
    query_of,
)
from explorer.studies.metric_space.space import RequestSpace

CENTRAL, LOCAL = "central", "local"

LIPSCHITZ = Reference(
    _PAPER, "Theorem 4.1", "with equality: two users with one item each attain it"
)
K_NORM = Reference(
    _PAPER,
    "Algorithm 1 and Lemma 4.2; Hardt & Talwar 2010",
    "scale ℓ/(αn) once, cone measure on the sphere: errata user-B2, user-B3",
)
ANALYTIC = Reference(
    "Balle & Wang 2018 (analytic Gaussian mechanism)",
    "Theorem 8 and Algorithm 1",
    "in place of the paper's width: errata user-B1",
)
PRINTED = Reference(
    _PAPER,
    "Section 4.1, remarks, and Lemma 6.2, as printed",
    "√(1.25 ln(1/δ))/α is not private in general: errata user-B1",
)
TEXTBOOK = Reference(
    "Dwork & Roth 2014 (The algorithmic foundations of differential privacy)",
    "Theorem A.1",
    "proved for α ≤ 1, false from about 9 on",
)
USER = Reference(
    _PAPER,
    "Table 2(a), Lemmas 6.1 and 6.3: the baseline",
    "same noise for the whole range of answers",
)

NOT_A_FUNCTION = (
    "the query differs on two items at distance 0: no noise can hide that, ℓ is infinite"
)
_TOO_NARROW = "the textbook width's true δ is above δ there"

MAX_ENTRIES = 10_000_000
"""Numbers compared to find the steepest pair, where a bound is known without."""
_HEAVY = 1_000_000
_TIES = 1e-9


@dataclass(frozen=True)
class Sensitivity:
    """Sensitivity in one norm, of the first 1, 2, … numbers of an answer.

    Attributes
    ----------
    lip : ndarray of float, shape (dim,)
        Δ_EM: the Lipschitz constant, or an upper bound on it; infinite where f differs on items
        at distance 0.
    attained : bool
        Whether it is exactly that of the whole answer.
    width : ndarray of float, shape (dim,)
        Upper bound on the range of answers: the sensitivity of user-level DP.
    found : float
        The steepest slope found for the whole answer; NaN where none was looked for.
    first, second : str
        The pair of items with that slope.
    """

    lip: FloatArray
    attained: bool
    width: FloatArray
    found: float
    first: str
    second: str


def sensitivity(
    query: Query, space: RequestSpace, p: float, context: Context, *, look: bool = True
) -> Sensitivity:
    """Return the sensitivity of a query that is not `GIVEN`, in the ℓp norm; cached.

    Parameters
    ----------
    query : Query
        Not missing.
    space : RequestSpace
    p : float
        In [1, ∞].
    context : Context
    look : bool
        Whether to search for a steep pair even where that does not change what is used, and for the
        exact range of answers.
    """
    cached: Sensitivity = context.cached(
        ("linear-sensitivity", query.key, p, look),
        lambda: _sensitivity(query, space, p, context, look),
    )
    return cached


def _sensitivity(
    query: Query, space: RequestSpace, p: float, context: Context, look: bool
) -> Sensitivity:
    bound = _lipschitz_bound(query, space, p)
    width = _answer_range(query, space, p)
    needless = not look and not query.complete
    if bound is not None and (needless or query.entries > MAX_ENTRIES):
        return Sensitivity(bound, False, np.minimum(width, bound), math.nan, "", "")
    slopes = _slopes(query, p, context, query.distance)
    top = float(slopes.lip[-1])
    pair = (query.names[int(slopes.first[-1])], query.names[int(slopes.second[-1])])
    if query.complete or bound is None:
        lip, attained = slopes.lip, True
    else:
        lip = bound
        attained = query.kind not in (LANDMARKS, CELLS) or top >= float(lip[-1]) * (1 - _TIES)
    # Curves of user-level DP are in ℓ2; on an axis of norms the others need no exact range.
    if query.all_pairs and query.distance is not None and (look or p == 2.0):
        width = _slopes(query, p, context, np.ones_like(query.distance)).lip
    # No two items are farther apart than 1.
    return Sensitivity(lip, attained, np.minimum(width, lip), top, *pair)


def _slopes(query: Query, p: float, context: Context, distance: FloatArray | None) -> um.Slopes:
    arguments = (query.values, query.first, query.second, distance, p)
    if query.entries > _HEAVY:
        slopes: um.Slopes = context.run_in_worker(um.prefix_lipschitz, *arguments)
        return slopes
    context.check()
    return um.prefix_lipschitz(*arguments)  # type: ignore[arg-type]  # made with values and pairs


def _norm_of_ones(count: FloatArray, p: float) -> FloatArray:
    return np.asarray(count ** (0.0 if math.isinf(p) else 1 / p), dtype=float)


def _lipschitz_bound(query: Query, space: RequestSpace, p: float) -> FloatArray | None:
    """Return a proved upper bound on Δ_EM; None where only going through all pairs helps.

    A distance is 1-Lipschitz and a tent 1/h; along a shortest path only cells in reach change.
    """
    metric = space.metric
    finite = space.size is not None and not isinstance(metric, Grid)
    ones = np.arange(1.0, query.dim + 1)
    if query.kind == LANDMARKS:
        return _norm_of_ones(ones, p)
    if query.kind == CELLS and query.overlaps is not None:
        # Without paths between, an item may leave as many cells as it enters.
        seen = np.minimum(ones, query.overlaps * (2.0 if finite else 1.0))
        return _norm_of_ones(seen, p) / query.cell
    if query.kind == COORDINATE and not finite:
        return np.ones(1)
    if query.kind == POSITION and not finite:
        # Positions: along any direction of ℓ2 length 1 (Euclidean spaces), or of ℓ1 length 1.
        euclidean = isinstance(metric, Sphere) or (isinstance(metric, Square) and metric.norm == 2)
        spread = max((0.0 if math.isinf(p) else 1 / p) - 0.5, 0.0) if euclidean else 0.0
        return np.asarray(ones**spread)
    return None


def _answer_range(query: Query, space: RequestSpace, p: float) -> FloatArray:
    """Return an upper bound on how much two items' answers differ, in the ℓp norm."""
    ones = np.arange(1.0, query.dim + 1)
    assert query.values is not None
    if query.kind == CELLS and query.overlaps is not None:
        return _norm_of_ones(np.minimum(ones, 2.0 * query.overlaps), p)
    metric = space.metric
    if query.kind == LANDMARKS:
        return _norm_of_ones(ones, p)
    if isinstance(metric, Sphere) and query.kind != COORDINATE:
        # Antipodes are 2/π apart through the globe.
        spread = max((0.0 if math.isinf(p) else 1 / p) - 0.5, 0.0)
        return np.asarray(2 / math.pi * ones**spread)
    # Every coordinate alone; the corners of a square or a grid attain it.
    reach = np.ptp(query.values, axis=0)
    if math.isinf(p):
        return np.maximum.accumulate(reach)
    top = float(reach.max()) or 1.0
    return np.asarray(np.cumsum((reach / top) ** p) ** (1 / p) * top)


NORMS = (("k1", 1.0), ("k2", 2.0), ("kinf", math.inf))


@dataclass(frozen=True)
class Sensitivities:
    """Sensitivity of the answer, one entry a point.

    Attributes
    ----------
    dim, lip, width : ndarray of float
        Dimension of the answer, Δ_EM and the range of answers, in one norm.
    last : Sensitivity or None
        That of the query at the sliders; None for a query that is only given by numbers.
    exact : bool
        Whether `lip` is Δ_EM everywhere, and not only a bound on it.
    """

    dim: FloatArray
    lip: FloatArray
    width: FloatArray
    last: Sensitivity | None
    exact: bool


def sensitivities(
    points: SweptPoints, request: Request, space: RequestSpace, context: Context, p: FloatArray
) -> Sensitivities:
    """Return the sensitivity at every point, in the norm that `p` has there.

    There is more than one query only where landmarks, cells or the norm itself are swept; landmarks
    are nested, so that the slopes of the longest row of them serve all.
    """
    kind, swept = str(request["query"]), points.sweep.key
    if kind == GIVEN:
        dim, slope = points["dim"], points["slope"]
        inverse = 1 / p
        lip = slope * dim ** np.maximum(inverse - 0.5, 0.0)
        return Sensitivities(dim, lip, lip, None, bool((p == 2).all()))
    last = query_of(request, space, context, int(request["landmarks"]), float(request["width"]))
    own = sensitivity(last, space, float(p[-1]), context)
    dim, lip, width = (np.full(p.shape, v) for v in (last.dim, own.lip[-1], own.width[-1]))
    if swept == "landmarks" and kind in (LANDMARKS, CELLS):
        result = _nested(points, request, space, context, float(p[-1]))
        at = np.minimum(points["landmarks"][:-1], result.lip.size).astype(int)
        dim[:-1], lip[:-1], width[:-1] = at, result.lip[at - 1], result.width[at - 1]
        own = replace(own, attained=own.attained and result.attained)
    elif swept == "width" and kind == CELLS:
        for i, h in enumerate(points["width"][:-1]):
            context.check()
            query = query_of(request, space, context, int(request["landmarks"]), float(h))
            result = sensitivity(query, space, float(p[i]), context, look=False)
            lip[i], width[i] = result.lip[-1], result.width[-1]
    elif swept == "p" and bool((p != p[0]).any()):
        for i, order in enumerate(p[:-1]):
            context.check()
            result = sensitivity(last, space, float(order), context, look=False)
            lip[i], width[i] = result.lip[-1], result.width[-1]
    exact = own.attained and (last.complete or swept not in ("landmarks", "width", "p"))
    return Sensitivities(dim.astype(float), lip, width, own, exact)


def _nested(
    points: SweptPoints, request: Request, space: RequestSpace, context: Context, p: float
) -> Sensitivity:
    """Return the sensitivity of all the rows of landmarks that are swept.

    Where there are too many pairs of items for the longest row, shorter ones are compared all the
    same, and only the longer ones have a bound.
    """
    width = float(request["width"])
    most = int(points["landmarks"][:-1].max())
    long = query_of(request, space, context, most, width)
    result = sensitivity(long, space, p, context, look=False)
    if result.attained or not long.complete or long.first is None:
        return result
    short = query_of(request, space, context, max(1, MAX_ENTRIES // long.first.size), width)
    exact = sensitivity(short, space, p, context, look=False)
    lip, reach = result.lip.copy(), result.width.copy()
    lip[: short.dim], reach[: short.dim] = exact.lip, exact.width
    return replace(result, lip=lip, width=reach)


@dataclass(frozen=True)
class _Noise:
    """Arguments of a mechanism at every point; the guarantee is per `reach`."""

    dim: FloatArray
    rate: FloatArray
    reach: FloatArray
    users: FloatArray
    local: bool
    beta: FloatArray

    @property
    def inside(self) -> FloatArray:
        """Return the n of the formulas: users whose answer gets the noise once."""
        return np.ones_like(self.users) if self.local else self.users

    @property
    def averaged(self) -> FloatArray:
        """Return how many noisy answers are averaged."""
        return self.users if self.local else np.ones_like(self.users)


def _k_norm(what: str, a: _Noise, p: FloatArray) -> tuple[FloatArray, Role]:
    """Return an error of K-norm noise and whether it is exact or Jensen's bound by the RMSE."""
    arguments = (a.dim, a.rate, p, a.reach, a.inside)
    alone = not a.local or bool((a.users == 1).all())
    laplace = bool((p == 1).all() or (a.dim == 1).all())
    if what == "own":
        return np.asarray(um.k_norm_mean(a.dim, a.rate, a.reach, a.inside)), Role.EXACT
    if what == "quantile":
        result = um.k_norm_quantile(a.beta, a.dim, a.rate, a.reach, a.inside)
        return np.asarray(result), Role.EXACT
    variance = np.asarray(um.k_norm_coordinate_variance(*arguments)) / a.averaged
    if what == "coordinate" or (what == "euclid" and bool((a.dim == 1).all())):
        if laplace:
            result = um.averaged_laplace_mean(a.averaged, a.rate, a.reach, a.inside)
            return np.asarray(result), Role.EXACT
        if alone:
            return np.asarray(um.k_norm_coordinate_mean(*arguments)), Role.EXACT
        return np.sqrt(variance), Role.UPPER
    total = np.sqrt(a.dim * variance)
    if what == "euclid":
        if alone and bool((p == 1).all()):
            result = um.laplace_euclidean_mean(a.dim, a.rate, a.reach, a.inside)
            return np.asarray(result), Role.EXACT
        if alone and bool((p == 2).all()):
            return np.asarray(um.k_norm_mean(a.dim, a.rate, a.reach, a.inside)), Role.EXACT
        return total, Role.UPPER
    return total, Role.EXACT


def _gaussian(what: str, a: _Noise, sigma: FloatArray) -> FloatArray:
    """Return an error of Gaussian noise of this width, exactly."""
    if what == "quantile":
        from scipy.special import gammaincinv

        return np.asarray(sigma * np.sqrt(2 * gammaincinv(a.dim / 2, a.beta)))
    if what == "own":
        return np.asarray(um.gaussian_euclidean_mean(sigma, a.dim))
    mean = sigma / np.sqrt(a.averaged)
    if what == "coordinate":
        return np.asarray(mean * math.sqrt(2 / math.pi))
    if what == "euclid":
        return np.asarray(um.gaussian_euclidean_mean(mean, a.dim))
    return np.asarray(mean * np.sqrt(a.dim))


def _known(value: FloatArray, role: Role, reference: Reference, holds: Any, why: str) -> Bound:
    known = np.isfinite(value) & holds
    return Bound(np.where(known, value, np.nan), role, reference, known, "" if known.all() else why)


def analytic_sigma(alpha: FloatArray, delta: FloatArray, context: Context) -> FloatArray:
    """Return the analytic width for ℓ = n = 1; cached where it is the same everywhere."""
    if (alpha == alpha[0]).all() and (delta == delta[0]).all():
        a, d = float(alpha[0]), float(delta[0])
        one = context.cached(("analytic-sigma", a, d), lambda: float(um.gaussian_sigma(a, d)))
        return np.full(alpha.shape, one)
    return np.asarray(um.gaussian_sigma(alpha, delta))


class LinearPoints(Points):
    """Points of a sweep with the query and its sensitivity in every norm."""

    @cached_property
    def query(self) -> Query:
        """The query at the sliders' values."""
        count, width = int(self.request["landmarks"]), float(self.request["width"])
        return query_of(self.request, self.space, self.context, count, width)

    @cached_property
    def norms(self) -> dict[str, FloatArray]:
        """The norm of every K-norm curve, at every point."""
        p = self.swept["p"]
        norms = {key: np.full(p.shape, norm) for key, norm in NORMS}
        if self.swept.sweep.key == "p" or p[-1] not in (1.0, 2.0):
            norms["kp"] = p
        return norms

    @cached_property
    def sensitivities(self) -> dict[str, Sensitivities]:
        """Sensitivity in the norm of every K-norm curve, by key of the curve."""
        return {
            key: sensitivities(self.swept, self.request, self.space, self.context, p)
            for key, p in self.norms.items()
        }

    @property
    def euclidean(self) -> Sensitivities:
        """Sensitivity in the ℓ2 norm."""
        return self.sensitivities["k2"]

    @cached_property
    def true_deltas(self) -> tuple[float, float]:
        """True δ of the printed and of the textbook width at the sliders."""
        return true_deltas_at(float(self.request["alpha"]), float(self.request["delta"]))

    def _noise(self, dim: FloatArray, rate: FloatArray, reach: FloatArray) -> _Noise:
        # Where the sensitivity is infinite the numbers are not valid, and 1 is as good as any.
        finite = np.where(np.isfinite(reach), reach, 1.0)
        local = self.request["model"] == LOCAL
        return _Noise(dim, rate, finite, self.n, local, self.beta)

    def k_norm(self, key: str) -> Bound | None:
        """Return the error of K-norm noise; None if the answer has no such curve."""
        if key not in self.norms:
            return None
        self.context.check()
        m = self.sensitivities[key]
        noise = self._noise(m.dim, self.alpha, m.lip)
        value, role = _k_norm(self.request.quantity, noise, self.norms[key])
        return _known(value, role, K_NORM, np.isfinite(m.lip), NOT_A_FUNCTION)

    def gaussian(self, key: str) -> Bound:
        """Return the error of Gaussian noise of one of the widths."""
        self.context.check()
        width, role, reference = _WIDTHS[key]
        m, finite = self.euclidean, np.isfinite(self.euclidean.lip)
        noise = self._noise(m.dim, self.alpha, m.lip)
        unit = (
            analytic_sigma(self.alpha, self.delta, self.context)
            if key == "gauss"
            else np.asarray(width(self.alpha, self.delta))
        )
        value = _gaussian(self.request.quantity, noise, unit * noise.reach / noise.inside)
        holds, why = finite, NOT_A_FUNCTION
        if key == "textbook":
            holds = finite & (np.asarray(um.gaussian_delta(unit, self.alpha)) <= self.delta)
            why = NOT_A_FUNCTION if not finite.all() else _TOO_NARROW
        return _known(value, role, reference, holds, why)

    def user_level(self, key: str) -> Bound:
        """Return the error under user-level DP: the same noise, for the range of answers at ε."""
        what, noise = self.request.quantity, self._user_noise
        if key == "user":
            value, _ = _k_norm(what, noise, np.full(self.eps.shape, 2.0))
        else:
            self.context.check()
            sigma = analytic_sigma(self.eps, self.delta, self.context)
            value = _gaussian(what, noise, sigma * noise.reach / noise.inside)
        return _known(value, Role.BASELINE, USER, True, NOT_A_FUNCTION)

    @property
    def _user_noise(self) -> _Noise:
        return self._noise(self.euclidean.dim, self.eps, self.euclidean.width)

    def true_delta(self, key: str) -> FloatArray:
        """Return the exact δ that a Gaussian width has at α."""
        sigma = np.asarray(_WIDTHS[key][0](self.alpha, self.delta))
        return np.asarray(um.gaussian_delta(sigma, self.alpha))

    def slope(self, key: str) -> Bound | None:
        """Return Δ_EM in the norm of a K-norm curve; None if the answer has no such curve."""
        if key not in self.norms:
            return None
        m = self.sensitivities[key]
        role = Role.EXACT if m.exact else Role.UPPER
        return _known(m.lip, role, LIPSCHITZ, True, NOT_A_FUNCTION)

    def answer_range(self) -> Bound:
        """Return the range of answers in ℓ2, which user-level DP must hide."""
        return _known(self.euclidean.width, Role.UPPER, USER, True, NOT_A_FUNCTION)


_WIDTHS: dict[str, tuple[Callable[..., Any], Role, Reference]] = {
    "gauss": (um.gaussian_sigma, Role.EXACT, ANALYTIC),
    "textbook": (um.gaussian_sigma_textbook, Role.UPPER, TEXTBOOK),
    "printed": (um.gaussian_sigma_printed, Role.BASELINE, PRINTED),
}
"""Gaussian widths for ℓ = n = 1, by key of the curve: formula, role of the error, source."""


def true_deltas_at(alpha: float, delta: float) -> tuple[float, float]:
    """Return the true δ of the printed and of the textbook width."""
    widths = [um.gaussian_sigma_printed(alpha, delta), um.gaussian_sigma_textbook(alpha, delta)]
    printed, textbook = np.asarray(um.gaussian_delta(widths, alpha)).tolist()
    return printed, textbook


def printed_private_up_to(delta: float) -> float | None:
    """Return the largest α at which the printed width is private; None if there is none."""

    def private(alpha: float) -> bool:
        sigma = um.gaussian_sigma_printed(alpha, delta)
        return bool(um.gaussian_delta(sigma, alpha) <= delta)

    low, high = 1e-6, 800.0
    if not private(low):
        return None
    if private(high):
        return high
    # Five times in 25 parts: to a part in a million.
    for _ in range(5):
        at = np.geomspace(low, high, 26)
        fine = np.asarray(um.gaussian_delta(um.gaussian_sigma_printed(at, delta), at)) <= delta
        last = int(np.flatnonzero(~fine)[0]) - 1
        low, high = float(at[last]), float(at[last + 1])
    return low


_AUDITED_NUMBERS = 2
"""Dimension of the answer that is audited."""


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return the audit of Algorithm 1 with the slider's norm, on two answers w apart."""
    alpha, w, p = (float(request[key]) for key in ("alpha", "w", "p"))
    apart = np.array([w, 0.0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = um.priv_emd_linear(np.tile(side * apart, (runs, 1)), alpha, 1.0, p, rng)
        lengths = [np.linalg.norm(seen - other, ord=p, axis=1) for other in (0 * apart, apart)]
        scores: FloatArray = alpha * (lengths[0] - lengths[1])
        return scores

    return Audited(
        f"K-norm noise, p of the slider, on a query of {_AUDITED_NUMBERS} numbers and slope 1, "
        "local; two data sets w apart",
        run,
        alpha * w,
        0.0,
        "promised of K-norm noise, α·w",
        10_000,
    )
