"""Errors, noise, messages and users of shuffled histograms at parameter points, and sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import HISTOGRAMS as PAPER, BoolArray, FloatArray, Reference
from explorer.privacy.core.checks import MIN_DELTA
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
    least_users,
    local_error,
    local_rmse,
    noise_radius,
    printed_least_users,
    stable_error,
)
from explorer.privacy.odds import count_total_variation, two_bin_total_variation
from explorer.studies.base.study import Context
from explorer.studies.base.sweeping import SweptPoints

THEOREM_31 = Reference(PAPER, "Theorem 3.1", "errata hist-B1 to hist-B4")
THEOREM_32 = Reference(
    PAPER, "Theorem 3.2", "run at (ε/2, δ/2) for (ε, δ); errata hist-A1, hist-B6"
)
PROOF_31 = Reference(PAPER, "Theorem 3.1(ii), proof", "with √p; errata hist-B2, hist-B3")
PROOF_32 = Reference(
    PAPER,
    "Theorem 3.2, proof",
    "with √p, β/h for β/n, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6",
)
PRINTED_31 = Reference(PAPER, "Theorem 3.1(ii)", "as printed; errata hist-B2")
PRINTED_32 = Reference(
    PAPER, "Theorem 3.2(iii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6"
)
PRINTED_ONE = Reference(
    PAPER, "Theorem 3.2(ii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2"
)
EXACT = Reference(PAPER, "Theorem 3.1 and 3.2", "noise calibrated by the exact δ")
TAILS = Reference(PAPER, "Figure 1", "exact binomial tails instead of the Chernoff step")
LAW = Reference(PAPER, "Figure 1", "exact law of the analyzer's output; errata hist-B4")
MESSAGES = Reference(PAPER, "Theorem 3.2(iv)", "everyone pays the O(d); errata hist-B5")
TABLE_1 = Reference(PAPER, "Table 1", "order only")
TABLE_2 = Reference(PAPER, "Table 2 and Claim 3.4", "errata hist-A1 to hist-A3")
CLAIMS = Reference(PAPER, "Theorem 4.1, Claims 4.3 and 4.4")
SIMULATED = Reference(PAPER, "Figures 1 and 2, simulated", "noise calibrated by the exact δ")
WARNER = Reference("Warner 1965", "randomised response", "Hoeffding")


_MAX_CACHED = 20_000
_BATCH = 8
_MAX_WORK = 30.0
"""Work of calibration between two checks for cancellation: some 10 ms."""
_MAX_HUMPS_USERS = 1e5
_MIN_HUMPS_SHARE = 0.02
_MIN_BIAS = 1e-3
"""Share of the root mean square error from which on the bias is drawn."""
TOO_FEW = "too few users: even at p = ½ the exact δ is larger"
PAPER_NEEDS = {
    Query.HISTOGRAM: "the paper's constants need ε ≤ 2 and n ≥ (400/ε²) ln(4/δ)",
    Query.COUNT: "the paper's constants need ε ≤ 1 and n ≥ (100/ε²) ln(2/δ)",
}
_TOO_MANY = "a bin can't hold more users than there are (s > n)"


@dataclass(frozen=True)
class Settings:
    """Parameters of the protocol at many points, arrays of one length.

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
    def of(cls, swept: SweptPoints, kind: Query) -> Settings:
        """Return the parameters at the points of a sweep."""
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
        """Largest ℓ1 change of the counts if one user's value is replaced."""
        return 2.0 if self.kind is Query.HISTOGRAM else 1.0

    @property
    def local_eps(self) -> FloatArray:
        """ε of unary encoding, which flips each bit at half of it; a single bit may use it all."""
        return self.eps if self.kind is Query.HISTOGRAM else 2 * self.eps


@dataclass(frozen=True)
class Noise:
    """Noise of P_hist at every point.

    Attributes
    ----------
    q : ndarray of float
        1 − p; NaN where there is none.
    valid : ndarray of bool
    reason : str
        Why there is none where `valid` is False.
    truncated : ndarray of bool
        Where a little less noise might suffice: above 1e5 users humps of δ are not searched.
    """

    q: FloatArray
    valid: BoolArray
    reason: str
    truncated: BoolArray

    @property
    def p(self) -> FloatArray:
        """Probability of a noise bit; ½ where there is none."""
        return np.where(self.valid, 1 - self.q, 0.5)


def calibrate_noise(points: Settings, context: Context) -> Noise:
    """Return the least noise by the exact δ; each distinct target is calibrated once and cached."""
    cached: dict[tuple[Any, ...], float] = context.cached(("histograms", "calibrations"), dict)
    if len(cached) > _MAX_CACHED:
        cached.clear()
    rows, which = np.unique(
        np.stack([points.eps, points.delta, points.held]), axis=1, return_inverse=True
    )
    keys = [(points.kind, *row) for row in rows.T.tolist()]
    missing = [i for i, key in enumerate(keys) if key not in cached]
    eps, delta, held = rows
    for batch in _in_batches(missing, _calibration_work(eps, delta, held, points.kind)):
        context.check()
        result = calibrate(eps[batch], delta[batch], held[batch], points.kind)
        values = np.where(result.feasible, 1 - result.p, math.nan)
        cached.update((keys[i], float(value)) for i, value in zip(batch, values, strict=True))
    q = np.array([cached[key] for key in keys])[which.ravel()]
    valid = np.isfinite(q)
    truncated = valid & (points.held > _MAX_HUMPS_USERS) & (np.nan_to_num(q) >= _MIN_HUMPS_SHARE)
    return Noise(q, valid, "" if valid.all() else TOO_FEW, truncated)


def _calibration_work(
    eps: FloatArray, delta: FloatArray, held: FloatArray, kind: Query
) -> FloatArray:
    """Return about the work of calibrations; wide noise and humps of δ take more."""
    spread = np.sqrt(np.maximum(-4 * np.log(delta), 1.0)) / eps
    share = spread**2 / held
    humps = (held <= _MAX_HUMPS_USERS) & (share > _MIN_HUMPS_SHARE / 2) & (share < 0.5)
    one_bin = 2 if kind is Query.COUNT else 1
    return np.asarray(one_bin * (1 + spread * np.where(humps, 1 / 8, 1 / 40)))


def _in_batches(items: list[int], work: FloatArray) -> Iterator[list[int]]:
    """Yield the items in batches of at most `_MAX_WORK`, or of one item."""
    batch: list[int] = []
    for item in items:
        if batch and work[[*batch, item]].sum() > _MAX_WORK:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def paper_noise(points: Settings) -> Noise:
    """Return the paper's noise: 50 ln(2/δ)/ε² for a count, twice at half for a histogram."""
    if points.kind is Query.HISTOGRAM:
        noise, limit = 200 / points.eps**2 * np.log(4 / points.delta), 2.0
    else:
        noise, limit = 50 / points.eps**2 * np.log(2 / points.delta), 1.0
    valid = (points.eps <= limit) & (points.held >= 2 * noise)
    q = np.where(valid, noise / points.held, np.nan)
    reason = "" if valid.all() else PAPER_NEEDS[points.kind]
    return Noise(q, valid, reason, np.zeros(q.shape, bool))


@dataclass(frozen=True)
class Values:
    """Values of a curve at every point.

    Attributes
    ----------
    value : float or ndarray of float
        An infinite one counts as undefined.
    valid : bool or ndarray of bool
    reason : str
        Why it is undefined where `valid` is False.
    truncated : ndarray of bool or None
        As of `Noise`.
    """

    value: Any
    valid: Any = True
    reason: str = ""
    truncated: BoolArray | None = None


def beta_too_small(shared: bool) -> str:
    """Return why the formula of the error does not hold; `shared` if β is shared among h bins."""
    return f"β is too small for so little noise: ln({odds_of_failure(shared)}) > (9/4)np(1−p)"


def odds_of_failure(shared: bool) -> str:
    """Return the odds of failure of one bin as a formula."""
    return "2h/β" if shared else "2/β"


def error(points: Settings, noise: Noise, bins: FloatArray) -> Values:
    """Return α at β for P_hist with this noise, β shared among so many bins that can err."""
    result = error_bound(points.n, noise.p, np.maximum(points.beta / bins, MIN_DELTA))
    too_small = beta_too_small(bool(np.any(bins > 1)))
    why = _either(noise.reason, too_small * (not result.valid.all()))
    return Values(result.value, noise.valid & result.valid, why, noise.truncated)


def printed_error(points: Settings, paper: Noise, bins: FloatArray) -> Values:
    """Return α as Theorem 3.1(ii) prints it, at a share of β for each of so many bins.

    50 ln(2/δ)/(ε²n) + √(200 ln(2/δ)ln(2/β))/(εn) is q + 2√(q·ln(2/β)/n) for the paper's q = 1−p.
    """
    share = np.maximum(points.beta / bins, MIN_DELTA)
    holds = paper.valid & error_bound(points.n, paper.p, share).valid
    q = np.where(paper.valid, paper.q, 0.5)
    too_small = beta_too_small(False) + " for its share of it"
    why = _either(paper.reason, too_small * bool(np.any(paper.valid & ~holds)))
    return Values(q + 2 * np.sqrt(q * np.log(2 / share) / points.n), holds, why)


def tails(points: Settings, noise: Noise, bins: FloatArray, context: Context) -> Values:
    """Return α at β from the binomial's own tails, which needs no condition on β.

    An estimate cut to 0 hides a count of at most W ≤ nq + r; any other is off by |W − nq| ≤ r.
    """
    q = np.where(noise.valid, noise.q, 0.5)
    share = np.maximum(points.beta / bins, MIN_DELTA)
    value = q + _each("radius", noise_radius, context, points.n, q, share) / points.n
    return Values(value, noise.valid, noise.reason, noise.truncated)


def _each(
    key: object, function: Callable[..., Any], context: Context, *arguments: FloatArray
) -> FloatArray:
    """Evaluate a slow function once for each distinct point, in batches, and cache it."""
    cached: dict[bytes, float] = context.cached(("histograms", "each", key), dict)
    if len(cached) > _MAX_CACHED:
        cached.clear()
    rows, which = np.unique(np.stack(arguments), axis=1, return_inverse=True)
    keys = [row.tobytes() for row in rows.T]
    out = np.array([cached.get(key, math.nan) for key in keys])
    missing = np.flatnonzero(np.isnan(out))
    for start in range(0, missing.size, _BATCH):
        context.check()
        batch = missing[start : start + _BATCH]
        out[batch] = function(*rows[:, batch])
        cached.update((keys[i], float(out[i])) for i in batch)
    return np.asarray(out[which.ravel()])


def _either(*reasons: str) -> str:
    return " or ".join(r for r in reasons if r)


def local_comparator(points: Settings, bins: FloatArray) -> Values:
    """Return the error of unary encoding in the local model, over so many bins."""
    return Values(local_error(points.n, bins, points.local_eps, points.beta).value)


def central_comparator(points: Settings, bins: FloatArray) -> Values:
    """Return the error of a curator's Laplace noise, over so many bins."""
    result = central_error(points.n, bins, points.eps, points.beta, points.sensitivity)
    return Values(result.value)


def stable_comparator(points: Settings) -> Values:
    """Return the error of a curator's stability-based histogram."""
    return Values(stable_error(points.n, points.h, points.eps, points.delta, points.beta).value)


def root_mean_square(points: Settings, noise: Noise) -> tuple[Values, Values]:
    """Return the exact root mean square error of a bin with s users, and its bias."""
    inside = points.s <= points.n
    law = error_law(points.n, noise.p, np.where(inside, points.s, 1.0))
    holds = noise.valid & inside
    why = _either(noise.reason, _TOO_MANY * (not inside.all()))
    bias = np.abs(law.bias)
    # A bias of 1e-300 would stretch the axis; at the sliders it is a number beside the plot.
    matters = bias >= _MIN_BIAS * np.asarray(law.rmse)
    matters[-1] = True
    below = "the bias is below a thousandth of the rms error" * (not matters.all())
    return (
        Values(law.rmse, holds, why, noise.truncated),
        Values(bias, holds & matters, _either(why, below), noise.truncated),
    )


def local_root_mean_square(points: Settings) -> Values:
    """Return the exact root mean square error in the local model, the same for every count."""
    return Values(local_rmse(points.n, points.local_eps), points.s <= points.n, _TOO_MANY)


def central_root_mean_square(points: Settings) -> Values:
    """Return the exact root mean square error of a curator, the same for every count."""
    result = central_rmse(points.n, points.eps, points.sensitivity)
    return Values(result, points.s <= points.n, _TOO_MANY)


def missing_bits(points: Settings, noise: Noise) -> Values:
    """Return n(1−p), the expected number of noise bits that are not sent in a bin."""
    return Values(points.n * noise.q, noise.valid, noise.reason, noise.truncated)


def messages(points: Settings, noise: Noise) -> Values:
    """Return the expected number of messages of a user."""
    if points.kind is Query.HISTOGRAM:
        value = histogram_messages(noise.p, points.d)
    else:
        value = count_messages(noise.p, 1.0)
    return Values(value, noise.valid, noise.reason)


def exact_delta(kind: Query, eps: Any, users: Any, q: Any) -> Any:
    """Return the exact δ of q-noise of so many users, for replaced users."""
    return (histogram_delta if kind is Query.HISTOGRAM else count_delta)(eps, users, q)


def total_variation(kind: Query, users: float, q: float, context: Context) -> float:
    """Return an upper bound on δ(0) of the noise of so many users; cached."""
    find = two_bin_total_variation if kind is Query.HISTOGRAM else count_total_variation
    result: float = context.cached(
        ("histograms", "total variation", kind, users, q), lambda: float(find(users, q).value)
    )
    return result


def loss(points: Settings, noise: Noise, context: Context) -> Values:
    """Return the exact δ if fewer users add the noise than it was calibrated for."""
    exact = partial(exact_delta, points.kind)
    delta = _each(("exact", points.kind), exact, context, points.eps, points.adding, 1 - noise.p)
    return Values(delta, noise.valid, noise.reason)


def printed_users(points: Settings) -> Values:
    """Return the least number of users by the paper's constants."""
    half = 2 if points.kind is Query.HISTOGRAM else 1
    holds = points.eps <= half
    # Computed at ε = half where it does not hold; these values are marked undefined.
    users = printed_least_users(np.where(holds, points.eps, half) / half, points.delta / half)
    return Values(users, holds, PAPER_NEEDS[points.kind])


def exact_users(points: Settings, context: Context) -> Iterator[tuple[FloatArray, float]]:
    """Yield the least number of users by the exact δ, NaN where not computed yet.

    Yields
    ------
    users : ndarray of float
        The sliders' own first, then both ends, then what lies between; the same array each time.
    progress : float
        Share of the points that is done.
    """
    users = np.full(points.n.size, math.nan)
    cached: dict[tuple[object, ...], float] = context.cached(("histograms", "least users"), dict)
    order = [points.n.size - 1, 0, *range(points.n.size - 2, 0, -1)]
    for done, i in enumerate(order, 1):
        context.check()
        key = (points.kind, float(points.eps[i]), float(points.delta[i]))
        if key not in cached:
            cached[key] = float(least_users(key[1], key[2], points.kind))
        users[i] = cached[key]
        if done % 4 == 2 or done == len(order):
            yield users, done / len(order)
