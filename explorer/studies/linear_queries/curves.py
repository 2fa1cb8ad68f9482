"""Errors of every mechanism as bounds at the points of a sweep."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.linear_queries import text
from explorer.studies.linear_queries.parameters import CELLS, GIVEN, LANDMARKS, LOCAL
from explorer.studies.linear_queries.queries import Query, query_of
from explorer.studies.linear_queries.sensitivity import ENTRIES_MAX, Sensitivity, sensitivity
from explorer.studies.metric_space.choice import ChosenSpace

NORMS = (("k1", 1.0), ("k2", 2.0), ("kinf", math.inf))


@dataclass(frozen=True)
class Moved:
    """How far the answer can move, one entry a point.

    Attributes
    ----------
    dim, lip, width : ndarray of float
        Dimension of the answer, Δ_EM and the most it can differ at all, in one norm.
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


def slider_query(request: Request, space: ChosenSpace, context: Context) -> Query:
    """Return the query at the sliders' values."""
    return query_of(request, space, context, int(request["landmarks"]), float(request["width"]))


def moved(
    points: SweptPoints, request: Request, space: ChosenSpace, context: Context, p: FloatArray
) -> Moved:
    """Return the sensitivity at every point, in the norm that `p` has there.

    Only where landmarks, cells or the norm itself are swept is there more than one query to look
    at; landmarks are nested, so that one look at the longest row of them serves all.
    """
    kind, swept = str(request["query"]), points.sweep.key
    if kind == GIVEN:
        dim, slope = points["dim"], points["slope"]
        inverse = 1 / p
        lip = slope * dim ** np.maximum(inverse - 0.5, 0.0)
        return Moved(dim, lip, lip, None, bool((p == 2).all()))
    last = slider_query(request, space, context)
    own = sensitivity(last, space, float(p[-1]), context)
    dim, lip, width = (np.full(p.shape, v) for v in (last.dim, own.lip[-1], own.width[-1]))
    if swept == "landmarks" and kind in (LANDMARKS, CELLS):
        found = _nested(points, request, space, context, float(p[-1]))
        at = np.minimum(points["landmarks"][:-1], found.lip.size).astype(int)
        dim[:-1], lip[:-1], width[:-1] = at, found.lip[at - 1], found.width[at - 1]
        own = replace(own, attained=own.attained and found.attained)
    elif swept == "width" and kind == CELLS:
        for i, h in enumerate(points["width"][:-1]):
            context.check()
            query = query_of(request, space, context, int(request["landmarks"]), float(h))
            found = sensitivity(query, space, float(p[i]), context, look=False)
            lip[i], width[i] = found.lip[-1], found.width[-1]
    elif swept == "p" and bool((p != p[0]).any()):
        for i, order in enumerate(p[:-1]):
            context.check()
            found = sensitivity(last, space, float(order), context, look=False)
            lip[i], width[i] = found.lip[-1], found.width[-1]
    exact = own.attained and (last.complete or swept not in ("landmarks", "width", "p"))
    return Moved(dim.astype(float), lip, width, own, exact)


def _nested(
    points: SweptPoints, request: Request, space: ChosenSpace, context: Context, p: float
) -> Sensitivity:
    """Return the sensitivity of all the rows of landmarks that are swept.

    Where there are too many pairs of items for the longest row, shorter ones are still gone
    through, and only the longer ones have a bound.
    """
    width = float(request["width"])
    most = int(points["landmarks"][:-1].max())
    long = query_of(request, space, context, most, width)
    found = sensitivity(long, space, p, context, look=False)
    if found.attained or not long.complete or long.first is None:
        return found
    short = query_of(request, space, context, max(1, ENTRIES_MAX // long.first.size), width)
    exact = sensitivity(short, space, p, context, look=False)
    lip, reach = found.lip.copy(), found.width.copy()
    lip[: short.dim], reach[: short.dim] = exact.lip, exact.width
    return replace(found, lip=lip, width=reach)


def norms_of(points: SweptPoints) -> dict[str, FloatArray]:
    """Return the norm of every K-norm curve, at every point."""
    shape = points["p"].shape
    found = {key: np.full(shape, p) for key, p in NORMS}
    if points.sweep.key == "p" or points["p"][-1] not in (1.0, 2.0):
        found["kp"] = points["p"]
    return found


@dataclass(frozen=True)
class _Noise:
    """A mechanism's arguments at every point; the guarantee is per `reach`."""

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
        found = um.k_norm_quantile(a.beta, a.dim, a.rate, a.reach, a.inside)
        return np.asarray(found), Role.EXACT
    variance = np.asarray(um.k_norm_coordinate_variance(*arguments)) / a.averaged
    if what == "coordinate" or (what == "euclid" and bool((a.dim == 1).all())):
        if laplace:
            found = um.averaged_laplace_mean(a.averaged, a.rate, a.reach, a.inside)
            return np.asarray(found), Role.EXACT
        if alone:
            return np.asarray(um.k_norm_coordinate_mean(*arguments)), Role.EXACT
        return np.sqrt(variance), Role.UPPER
    total = np.sqrt(a.dim * variance)
    if what == "euclid":
        if alone and bool((p == 1).all()):
            found = um.laplace_euclidean_mean(a.dim, a.rate, a.reach, a.inside)
            return np.asarray(found), Role.EXACT
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


def _bound(value: FloatArray, role: Role, reference: Reference, holds: Any, why: str) -> Bound:
    known = np.isfinite(value) & holds
    return Bound(np.where(known, value, np.nan), role, reference, known, "" if known.all() else why)


def errors(
    what: str, points: SweptPoints, request: Request, space: ChosenSpace, context: Context
) -> tuple[dict[str, Bound], Moved]:
    """Return an error of every mechanism, and the sensitivity in the ℓ2 norm."""
    local = request["model"] == LOCAL
    found: dict[str, Bound] = {}
    euclidean = None
    for key, p in norms_of(points).items():
        context.check()
        m = moved(points, request, space, context, p)
        euclidean = m if key == "k2" else euclidean
        noise = _noise(points, m.dim, points["alpha"], m.lip, local)
        value, role = _k_norm(what, noise, p)
        found[key] = _bound(value, role, text.K_NORM, np.isfinite(m.lip), text.DISAGREES)
    assert euclidean is not None
    finite = np.isfinite(euclidean.lip)
    noise = _noise(points, euclidean.dim, points["alpha"], euclidean.lip, local)
    found.update(_gaussians(what, points, noise, finite, context))
    whole = _noise(points, euclidean.dim, points["eps"], euclidean.width, local)
    found.update(_user_level(what, points, whole, context))
    return found, euclidean


def _noise(
    points: SweptPoints, dim: FloatArray, rate: FloatArray, reach: FloatArray, local: bool
) -> _Noise:
    """Return a mechanism's arguments; where nothing finite must be hidden 1 stands in."""
    finite = np.where(np.isfinite(reach), reach, 1.0)
    return _Noise(dim, rate, finite, points["n"], local, points["beta"])


def _gaussians(
    what: str, points: SweptPoints, noise: _Noise, finite: BoolArray, context: Context
) -> dict[str, Bound]:
    alpha, delta = points["alpha"], points["delta"]
    widths: dict[str, tuple[Callable[..., Any], Role, Reference]] = {
        "gauss": (um.gaussian_sigma, Role.EXACT, text.ANALYTIC),
        "textbook": (um.gaussian_sigma_textbook, Role.UPPER, text.TEXTBOOK),
        "printed": (um.gaussian_sigma_printed, Role.BASELINE, text.PRINTED),
    }
    found = {}
    for key, (width, role, reference) in widths.items():
        context.check()
        unit = analytic_sigma(alpha, delta, context) if key == "gauss" else width(alpha, delta)
        unit = np.asarray(unit)
        value = _gaussian(what, noise, unit * noise.reach / noise.inside)
        holds, why = finite, text.DISAGREES
        if key == "textbook":
            holds = finite & (np.asarray(um.gaussian_delta(unit, alpha)) <= delta)
            why = text.DISAGREES if not finite.all() else text.TOO_NARROW
        found[key] = _bound(value, role, reference, holds, why)
    return found


def analytic_sigma(alpha: FloatArray, delta: FloatArray, context: Context) -> FloatArray:
    """Return the analytic width for ℓ = n = 1; one that is the same everywhere is kept."""
    if (alpha == alpha[0]).all() and (delta == delta[0]).all():
        a, d = float(alpha[0]), float(delta[0])
        one = context.memo(("analytic-sigma", a, d), lambda: float(um.gaussian_sigma(a, d)))
        return np.full(alpha.shape, one)
    return np.asarray(um.gaussian_sigma(alpha, delta))


def _user_level(
    what: str, points: SweptPoints, whole: _Noise, context: Context
) -> dict[str, Bound]:
    """Return the errors of user-level DP: the same noise, for the whole width at ε."""
    eps, delta = points["eps"], points["delta"]
    value, _ = _k_norm(what, whole, np.full(eps.shape, 2.0))
    context.check()
    sigma = analytic_sigma(eps, delta, context) * whole.reach / whole.inside
    return {
        "user": _bound(value, Role.BASELINE, text.USER, True, text.DISAGREES),
        "user_gauss": _bound(
            _gaussian(what, whole, sigma), Role.BASELINE, text.USER, True, text.DISAGREES
        ),
    }


def true_deltas(points: SweptPoints) -> dict[str, Bound]:
    """Return the exact δ that each Gaussian width has at α, and the δ it was asked for."""
    alpha, delta = points["alpha"], points["delta"]
    found = {"asked": Bound(delta, Role.BASELINE, text.ANALYTIC)}
    for key, width, reference in (
        ("printed", um.gaussian_sigma_printed, text.PRINTED),
        ("textbook", um.gaussian_sigma_textbook, text.TEXTBOOK),
        ("gauss", um.gaussian_sigma, text.ANALYTIC),
    ):
        value = np.asarray(um.gaussian_delta(np.asarray(width(alpha, delta)), alpha))
        role = Role.EXACT if key == "gauss" else Role.BASELINE
        found[key] = Bound(value, role, reference)
    return {key: found[key] for key in ("printed", "textbook", "gauss", "asked")}


def slopes(
    points: SweptPoints, request: Request, space: ChosenSpace, context: Context
) -> tuple[dict[str, Bound], Moved]:
    """Return Δ_EM in every norm, and the width that user-level DP must hide."""
    found: dict[str, Bound] = {}
    euclidean = None
    for key, p in norms_of(points).items():
        m = moved(points, request, space, context, p)
        euclidean = m if key == "k2" else euclidean
        role = Role.EXACT if m.exact else Role.UPPER
        found[key] = _bound(m.lip, role, text.LIPSCHITZ, True, text.DISAGREES)
    assert euclidean is not None
    found["user"] = _bound(euclidean.width, Role.UPPER, text.USER, True, text.DISAGREES)
    return found, euclidean
