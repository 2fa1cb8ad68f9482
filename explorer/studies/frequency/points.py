"""What the formulas of frequency estimation take at the points of a sweep, and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.frequency.parameters import LOCAL
from explorer.studies.metric_space.parameters import DISCRETE

_LIMIT = 800.0
_ALPHA0_OF_AXIS = partial(um.best_alpha0, side_by_side=False)
_ALPHA_OF_AXIS = partial(um.best_alpha, side_by_side=False)
_ALPHA0_QUICKLY = partial(um.group_alpha0_estimate, variant=Clones.STRONGER, in_order=True)
_ALPHA_QUICKLY = partial(um.group_alpha_estimate, variant=Clones.STRONGER, in_order=True)


@dataclass(frozen=True)
class Points:
    """One entry a point, the sliders' own last.

    Attributes
    ----------
    alpha, eps, delta : ndarray of float
        Targets: metric and user-level privacy.
    m, n : ndarray of float
        Items of a user, users.
    s, t, r : ndarray of float
        Clusters, items in each, distance inside.
    """

    alpha: FloatArray
    eps: FloatArray
    delta: FloatArray
    m: FloatArray
    n: FloatArray
    s: FloatArray
    t: FloatArray
    r: FloatArray

    @property
    def k(self) -> FloatArray:
        """Return the size of the domain."""
        return self.s * self.t

    @property
    def near(self) -> FloatArray:
        """Return the smallest distance of two different items."""
        return np.where(self.t > 1, self.r, 1.0)

    def at(self, where: Any) -> Points:
        """Return some of the points."""
        return Points(
            self.alpha[where],
            self.eps[where],
            self.delta[where],
            self.m[where],
            self.n[where],
            self.s[where],
            self.t[where],
            self.r[where],
        )


def points_of(swept: SweptPoints, request: Request) -> Points:
    """Return the points of a sweep; 0/1 distances are clusters of one item."""
    if request["space"] == DISCRETE:
        s = swept["space_items"]
        t, r = np.ones_like(s), np.ones_like(s)
    else:
        s, t, r = (swept[f"space_{key}"] for key in ("clusters", "each", "near"))
    return Points(swept["alpha"], swept["eps"], swept["delta"], swept["m"], swept["n"], s, t, r)


def shuffled(p: Points, request: Request) -> FloatArray:
    """Return how many users' items are in one shuffle."""
    return np.ones_like(p.n) if request["model"] == LOCAL else p.n


def _each(
    function: Callable[..., float], key: str, context: Context, *columns: FloatArray
) -> FloatArray:
    """Return a function at every point, computed once for each row and kept."""
    out = np.empty(columns[0].shape)
    for i, row in enumerate(zip(*columns, strict=True)):
        context.check()
        arguments = tuple(float(v) for v in row)
        out[i] = context.memo((key, arguments), partial(function, *arguments))
    return out


def kept(
    function: Callable[..., Any], key: str, context: Context, *columns: FloatArray
) -> FloatArray:
    """Return a vectorised function at every point, kept apart for the axis and for the sliders.

    Dragging the slider of the axis leaves the axis' own points as they were; where all rows are
    the same one is enough.
    """

    def made(part: slice) -> FloatArray:
        rows = np.stack([column[part] for column in columns])
        if rows.shape[1] > 1 and (rows == rows[:, :1]).all():
            return np.full(rows.shape[1], made(slice(part.start, 1))[0])
        found: FloatArray = context.memo(
            (key, rows.shape, rows.tobytes()), lambda: np.asarray(function(*rows), dtype=float)
        )
        return found

    if columns[0].size == 1:
        return made(slice(0, 1))
    context.check()
    return np.append(made(slice(0, -1)), made(slice(-1, None)))


def best_alpha0(p: Points, request: Request, context: Context, full: bool) -> FloatArray:
    """Return the best α₀ that is proved; at first a quick estimate of it.

    Hops side by side, of 0/1 distances and few items, are added up at the sliders' values alone.
    """
    columns = (p.alpha, p.delta, p.m, shuffled(p, request), p.near)
    if not full:
        return kept(_ALPHA0_QUICKLY, "frequency-alpha0-quick", context, *columns)
    axis, own = ([column[part] for column in columns] for part in (slice(-1), slice(-1, None)))
    found = _each(_ALPHA0_OF_AXIS, "frequency-alpha0", context, *axis)
    return np.append(found, _each(um.best_alpha0, "frequency-alpha0-own", context, *own))


def certified_alpha(
    alpha0: FloatArray, p: Points, request: Request, context: Context, full: bool
) -> FloatArray:
    """Return the least α that is proved of α₀, but for hops side by side; infinite beyond 800."""
    columns = (alpha0, p.delta, p.m, shuffled(p, request), p.near)
    known = np.isfinite(alpha0)
    out = np.full(alpha0.shape, math.inf)
    if known.any():
        some = tuple(column[known] for column in columns)
        if full:
            out[known] = _each(_ALPHA_OF_AXIS, "frequency-alpha", context, *some)
        else:
            out[known] = kept(_ALPHA_QUICKLY, "frequency-alpha-quick", context, *some)
    return out


def theorem_alpha0(p: Points, request: Request, context: Context) -> tuple[FloatArray, BoolArray]:
    """Return the α₀ of Theorem 4.4 and where it has one."""

    def inverted(alpha: FloatArray, delta: FloatArray, m: FloatArray, n: FloatArray) -> FloatArray:
        return um.theorem44_alpha0(alpha, delta, m, n, um.Internal.TIGHT).alpha0

    columns = (p.alpha, p.delta, p.m, shuffled(p, request))
    found = kept(inverted, "frequency-theorem", context, *columns)
    return found, np.asarray(found > 0)


def printed_alpha0(p: Points, request: Request) -> tuple[FloatArray, BoolArray]:
    """Return the α₀ of equation (6) or (7) and where the theorem behind it holds."""
    found = um.closed_form(p.alpha, p.delta, p.m, shuffled(p, request))
    return np.minimum(found.alpha0, _LIMIT), np.asarray(found.valid)


def item_epsilon(p: Points, context: Context, full: bool) -> FloatArray:
    """Return ε₀ of Hadamard response for one of m items under (ε, δ)-user-level DP.

    Exactly by composition; at first the Gaussian limit of many small answers.
    """
    if full:
        return _each(um.per_item_epsilon, "frequency-item", context, p.m, p.eps, p.delta)

    def estimate(m: FloatArray, eps: FloatArray, delta: FloatArray) -> FloatArray:
        width = np.asarray(um.gaussian_sigma(eps, delta))
        return np.maximum(1 / (width * np.sqrt(m)), eps / m)

    found = kept(estimate, "frequency-item-quick", context, p.m, p.eps, p.delta)
    return np.minimum(found, _LIMIT)
