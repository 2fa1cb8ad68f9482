"""The curves of the study of shuffled histograms at arrays of parameter points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray
from explorer.privacy.core.checks import DELTA_MIN
from explorer.privacy.histograms import (
    Query,
    calibrate,
    central_error,
    central_rmse,
    count_delta,
    count_messages,
    error_bound,
    error_law,
    histogram_delta,
    histogram_messages,
    local_error,
    local_rmse,
    noise_radius,
    stable_error,
)
from explorer.privacy.odds import count_total_variation, two_bin_total_variation
from explorer.studies.base.study import Context
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.shuffled_histograms import text
from explorer.studies.shuffled_histograms.paper_tables import table1_orders

_KEPT = 20_000
_AT_ONCE = 8
_WORK = 30.0
"""How much calibration goes on between two looks at whether it is still wanted: some 10 ms."""
_HUMPS_USERS = 1e5
_HUMPS = 0.02
_LEAST_BIAS = 1e-3
"""Share of the root mean square error from which on the bias is drawn."""
ORDERS = ("local_order", "cheu_order", "few_order", "fewest_order", "central_order")


@dataclass(frozen=True)
class Points:
    """Parameter points, arrays of one length, the sliders' own last.

    Attributes
    ----------
    kind : Query
    eps, delta, n, d, h, beta, s : ndarray of float
        h is cut to what n and d allow; for a count d = h = 1.
    held, adding : ndarray of float
        Users trusted to add noise, and users who do.
    """

    kind: Query
    eps: FloatArray
    delta: FloatArray
    n: FloatArray
    d: FloatArray
    h: FloatArray
    beta: FloatArray
    s: FloatArray
    held: FloatArray
    adding: FloatArray

    @classmethod
    def of(cls, swept: SweptPoints, kind: Query) -> Points:
        """Return the points of a sweep."""
        n = swept["n"]
        d = swept["d"] if kind is Query.HISTOGRAM else np.ones(n.shape)
        return cls(
            kind,
            swept["eps"],
            swept["delta"],
            n,
            d,
            np.minimum(np.minimum(swept["h"], n), d),
            swept["beta"],
            swept["s"],
            np.maximum(np.rint(swept["trusted"] * n), 1.0),
            np.maximum(np.rint(swept["adding"] * n), 1.0),
        )

    @property
    def sensitivity(self) -> float:
        """By how much a replaced user changes the counts, in ℓ1."""
        return 2.0 if self.kind is Query.HISTOGRAM else 1.0

    @property
    def local_eps(self) -> FloatArray:
        """The ε at which a one-hot bit is flipped at half: a single bit may use all of it."""
        return self.eps if self.kind is Query.HISTOGRAM else 2 * self.eps


@dataclass(frozen=True)
class Noise:
    """The noise of P_hist at every point: q = 1−p, NaN where there is none.

    Attributes
    ----------
    q : ndarray of float
    valid : ndarray of bool
    reason : str
    cut : ndarray of bool
        Where a little less noise might do: above 1e5 users humps of δ are not searched.
    """

    q: FloatArray
    valid: BoolArray
    reason: str
    cut: BoolArray

    @property
    def p(self) -> FloatArray:
        """Probability of a noise bit; ½ where there is none."""
        return np.where(self.valid, 1 - self.q, 0.5)


def calibrated(points: Points, context: Context) -> Noise:
    """Return the least noise by the exact δ, each distinct target calibrated once and kept."""
    kept: dict[tuple[Any, ...], float] = context.memo(("histograms", "calibrations"), dict)
    if len(kept) > _KEPT:
        kept.clear()
    rows, which = np.unique(
        np.stack([points.eps, points.delta, points.held]), axis=1, return_inverse=True
    )
    keys = [(points.kind, *row) for row in rows.T.tolist()]
    missing = [i for i, key in enumerate(keys) if key not in kept]
    eps, delta, held = rows
    for some in _in_pieces(missing, _calibration_work(eps, delta, held, points.kind)):
        context.check()
        found = calibrate(eps[some], delta[some], held[some], points.kind)
        values = np.where(found.feasible, 1 - found.p, math.nan)
        kept.update((keys[i], float(value)) for i, value in zip(some, values, strict=True))
    q = np.array([kept[key] for key in keys])[which.ravel()]
    valid = np.isfinite(q)
    cut = valid & (points.held > _HUMPS_USERS) & (np.nan_to_num(q) >= _HUMPS)
    return Noise(q, valid, "" if valid.all() else text.TOO_FEW, cut)


def _calibration_work(
    eps: FloatArray, delta: FloatArray, held: FloatArray, kind: Query
) -> FloatArray:
    """Return about how much work a calibration is: wide noise is more, and so are humps of δ."""
    spread = np.sqrt(np.maximum(-4 * np.log(delta), 1.0)) / eps
    share = spread**2 / held
    humps = (held <= _HUMPS_USERS) & (share > _HUMPS / 2) & (share < 0.5)
    one_bin = 2 if kind is Query.COUNT else 1
    return np.asarray(one_bin * (1 + spread * np.where(humps, 1 / 8, 1 / 40)))


def _in_pieces(items: list[int], work: FloatArray) -> Iterator[list[int]]:
    """Yield the items some at a time, none of them above `_WORK` unless it is one item."""
    piece: list[int] = []
    for item in items:
        if piece and work[[*piece, item]].sum() > _WORK:
            yield piece
            piece = []
        piece.append(item)
    if piece:
        yield piece


def printed(points: Points) -> Noise:
    """Return the paper's noise: 50 ln(2/δ)/ε² for a count, twice at half for a histogram."""
    if points.kind is Query.HISTOGRAM:
        noise, limit = 200 / points.eps**2 * np.log(4 / points.delta), 2.0
    else:
        noise, limit = 50 / points.eps**2 * np.log(2 / points.delta), 1.0
    valid = (points.eps <= limit) & (points.held >= 2 * noise)
    q = np.where(valid, noise / points.held, np.nan)
    reason = "" if valid.all() else text.PAPER_NEEDS[points.kind]
    return Noise(q, valid, reason, np.zeros(q.shape, bool))


def bound(
    key: str, points: Points, value: Any, valid: Any = True, reason: str = "", cut: Any = None
) -> Bound:
    """Return a bound under the key's role and source, infinities left out."""
    _, role, reference = text.named(key, points.kind)
    value = np.asarray(np.broadcast_to(value, points.n.shape), float)
    known = np.broadcast_to(valid, value.shape) & np.isfinite(value)
    return Bound(value, role, reference, known, "" if known.all() else reason, cut)


def error(key: str, points: Points, noise: Noise, bins: FloatArray) -> Bound:
    """Return α at β for P_hist with this noise, β shared among so many bins that can err."""
    found = error_bound(points.n, noise.p, np.maximum(points.beta / bins, DELTA_MIN))
    too_small = text.beta_too_small(bool(np.any(bins > 1)))
    why = _either(noise.reason, too_small * (not found.valid.all()))
    return bound(key, points, found.value, noise.valid & found.valid, why, noise.cut)


def printed_error(key: str, points: Points, paper: Noise, bins: FloatArray) -> Bound:
    """Return α as Theorem 3.1(ii) prints it, at a share of β for each of so many bins.

    50 ln(2/δ)/(ε²n) + √(200 ln(2/δ)ln(2/β))/(εn) is q + 2√(q·ln(2/β)/n) for the paper's q = 1−p.
    """
    share = np.maximum(points.beta / bins, DELTA_MIN)
    holds = paper.valid & error_bound(points.n, paper.p, share).valid
    q = np.where(paper.valid, paper.q, 0.5)
    too_small = text.beta_too_small(False) + " for its share of it"
    why = _either(paper.reason, too_small * bool(np.any(paper.valid & ~holds)))
    return bound(key, points, q + 2 * np.sqrt(q * np.log(2 / share) / points.n), holds, why)


def tails(points: Points, noise: Noise, bins: FloatArray, context: Context) -> Bound:
    """Return α at β from the binomial's own tails, which needs no condition on β.

    An estimate cut to 0 hides a count of at most W ≤ nq + r; any other is off by |W − nq| ≤ r.
    """
    q = np.where(noise.valid, noise.q, 0.5)
    share = np.maximum(points.beta / bins, DELTA_MIN)
    value = q + _each("radius", noise_radius, context, points.n, q, share) / points.n
    return bound("tails", points, value, noise.valid, noise.reason, noise.cut)


def _each(
    key: object, function: Callable[..., Any], context: Context, *arguments: FloatArray
) -> FloatArray:
    """Evaluate a slow function once for each distinct point, a few at a time, and keep it."""
    kept: dict[bytes, float] = context.memo(("histograms", "each", key), dict)
    if len(kept) > _KEPT:
        kept.clear()
    rows, which = np.unique(np.stack(arguments), axis=1, return_inverse=True)
    keys = [row.tobytes() for row in rows.T]
    out = np.array([kept.get(key, math.nan) for key in keys])
    missing = np.flatnonzero(np.isnan(out))
    for start in range(0, missing.size, _AT_ONCE):
        context.check()
        some = missing[start : start + _AT_ONCE]
        out[some] = function(*rows[:, some])
        kept.update((keys[i], float(out[i])) for i in some)
    return np.asarray(out[which.ravel()])


def _either(*reasons: str) -> str:
    return " or ".join(r for r in reasons if r)


def comparators(points: Points, what: str) -> dict[str, Bound]:
    """Return the other models' errors, with constants, then Table 1's orders of growth."""
    bins = points.d if what == "error" else np.ones(points.n.shape)
    local = local_error(points.n, bins, points.local_eps, points.beta)
    central = central_error(points.n, bins, points.eps, points.beta, points.sensitivity)
    out = {
        "local": bound("local", points, local.value),
        "central": bound("central", points, central.value),
    }
    if points.kind is Query.COUNT or what != "error":
        return out
    stable = stable_error(points.n, points.h, points.eps, points.delta, points.beta)
    out["stable"] = bound("stable", points, stable.value)
    rows = table1_orders(points.n, points.d, points.eps, points.delta)
    for key, row in zip(ORDERS, rows, strict=True):
        out[key] = bound(key, points, row.value.value, row.value.valid, text.TABLE_NEEDS)
    return out


def root_mean_square(key: str, points: Points, noise: Noise) -> dict[str, Bound]:
    """Return the exact root mean square error of a bin with s users, and its bias as ``bias``."""
    inside = points.s <= points.n
    law = error_law(points.n, noise.p, np.where(inside, points.s, 1.0))
    holds = noise.valid & inside
    why = _either(noise.reason, text.TOO_MANY * (not inside.all()))
    bias = np.abs(law.bias)
    # Down to 1e-300 it would take the axis along; the sliders' own is a number beside the plot.
    matters = bias >= _LEAST_BIAS * np.asarray(law.rmse)
    matters[-1] = True
    below = text.NO_BIAS * (not matters.all())
    return {
        key: bound(key, points, law.rmse, holds, why, noise.cut),
        "bias": bound("bias", points, bias, holds & matters, _either(why, below), noise.cut),
    }


def other_root_mean_squares(points: Points) -> dict[str, Bound]:
    """Return the exact root mean square errors of the other models: the same for every count."""
    inside = points.s <= points.n
    found = {
        "local_rmse": local_rmse(points.n, points.local_eps),
        "central_rmse": central_rmse(points.n, points.eps, points.sensitivity),
    }
    return {key: bound(key, points, v, inside, text.TOO_MANY) for key, v in found.items()}


def amount(key: str, points: Points, noise: Noise) -> Bound:
    """Return n(1−p), the expected number of noise bits that are not sent in a bin."""
    return bound(key, points, points.n * noise.q, noise.valid, noise.reason, noise.cut)


def sent(key: str, points: Points, noise: Noise) -> Bound:
    """Return the expected number of messages of a user."""
    if points.kind is Query.HISTOGRAM:
        value = histogram_messages(noise.p, points.d)
    else:
        value = count_messages(noise.p, 1.0)
    return bound(key, points, value, noise.valid, noise.reason)


def other_messages(points: Points) -> dict[str, Bound]:
    """Return the most messages a user of P_hist sends, and the other models' messages."""
    out = {
        "most_messages": bound("most_messages", points, 1 + points.d),
        "one_message": bound("one_message", points, 1.0),
    }
    if points.kind is Query.HISTOGRAM:
        rows = table1_orders(points.n, points.d, points.eps, points.delta)
        for key, row in zip(ORDERS[1:4], rows[1:4], strict=True):
            found = row.messages
            if found is not None:
                out[key] = bound(key, points, found.value, found.valid, text.TABLE_NEEDS)
    return out


def exact_delta(kind: Query, eps: Any, users: Any, q: Any) -> Any:
    """Return the exact δ of q-noise of so many users, for replaced users."""
    return (histogram_delta if kind is Query.HISTOGRAM else count_delta)(eps, users, q)


def apart(kind: Query, users: float, q: float, context: Context) -> float:
    """Return an upper bound on δ(0) of the noise of so many users, kept for the next answer."""
    find = two_bin_total_variation if kind is Query.HISTOGRAM else count_total_variation
    found: float = context.memo(
        ("histograms", "total variation", kind, users, q), lambda: float(find(users, q).value)
    )
    return found


def loss(key: str, points: Points, noise: Noise, context: Context) -> Bound:
    """Return the exact δ if only some users add the noise that was calibrated for others too."""
    exact = partial(exact_delta, points.kind)
    delta = _each(("exact", points.kind), exact, context, points.eps, points.adding, 1 - noise.p)
    return bound(key, points, delta, noise.valid, noise.reason)


def target(points: Points) -> Bound:
    """Return the δ that was asked for."""
    return bound("target", points, points.delta)
