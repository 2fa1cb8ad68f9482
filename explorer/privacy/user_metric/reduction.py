"""From datasets of any size to datasets of one size, and guarantees for groups of hops.

BoundedEMDReduction draws s items of every user with replacement; a bounded (α, δ)-d_EM-DP mechanism
on the draws is (ε, ·, r)-*discrete* d_EM-DP: datasets within distance r are protected at ε, however
many items they have.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d


class Concentration(StrEnum):
    """Concentration bound on the distance of the draws."""

    PRINTED = "printed"
    """(1+√2)r + (3/s)ln(1/δ), Lemma 5.2 (Bernstein)."""
    CHERNOFF = "chernoff"
    """c with s·KL(c‖r) = ln(1/δ): tighter, and never above 1."""


@dataclass(frozen=True)
class Reduction:
    """Requirement on the bounded mechanism, and guarantee of the reduction.

    Attributes
    ----------
    alpha, delta : ndarray of float
        The (α, δ)-bounded d_EM-DP that the mechanism on the draws needs.
    threshold : ndarray of float
        Distance of the draws that is exceeded with probability at most δ, at most 1.
    certain : ndarray of bool
        Whether the threshold is the diameter, so that it is never exceeded.
    delta_total : ndarray of float
        The δ of the (ε, δ, r)-discrete guarantee: 2δ, or δ where `certain` (errata user-D5).
    """

    alpha: FloatArray
    delta: FloatArray
    threshold: FloatArray
    certain: BoolArray
    delta_total: FloatArray


def theorem53_alpha(epsilon: ArrayLike, delta: ArrayLike, r: ArrayLike, s: ArrayLike) -> Any:
    """Return ε/((1+√2)r + (3/s)ln(1/δ)), Theorem 5.3 as printed, without the cap at ε.

    Parameters
    ----------
    epsilon : array of float
        In [0, 800].
    delta : array of float
        In [1e-300, 1].
    r : array of float
        Distance protected, in [0, 1].
    s : array of float
        Draws from every user, in [1, 1e12].
    """
    e, log_d, distance, draws = _arguments(epsilon, delta, r, s)
    threshold = _printed_threshold(log_d, distance, draws)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return scalar_if_0d(np.where(threshold > 0, e / threshold, math.inf))


def theorem53_alpha_chernoff(
    epsilon: ArrayLike, delta: ArrayLike, r: ArrayLike, s: ArrayLike
) -> Any:
    """Return ε/c with s·KL(c‖r) = ln(1/δ), c at most 1: the Chernoff form of Theorem 5.3.

    Where r^s > δ there is no such c and c = 1. Parameters as in `theorem53_alpha`.
    """
    e, log_d, distance, draws = _arguments(epsilon, delta, r, s)
    threshold = _chernoff_threshold(log_d, distance, draws)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return scalar_if_0d(np.where(threshold > 0, e / threshold, math.inf))


def bounded_reduction(
    epsilon: ArrayLike,
    delta: ArrayLike,
    r: ArrayLike,
    s: ArrayLike,
    concentration: Concentration | str = Concentration.CHERNOFF,
) -> Reduction:
    """Return requirement and guarantee of BoundedEMDReduction (Theorem 5.3 with its cap).

    Distances are at most 1, so a threshold of 1 or more needs no concentration: α = ε, and the
    guarantee has δ instead of 2δ (errata user-D5). The informal Theorem 1.3 is wrong (errata
    user-D3).

    Parameters
    ----------
    epsilon, delta, r, s
        As in `theorem53_alpha`; `delta` is the mechanism's and the concentration's.
    concentration : Concentration
    """
    rule = Concentration(concentration)
    e, log_d, distance, draws = _arguments(epsilon, delta, r, s)
    e, log_d, distance, draws, d = np.broadcast_arrays(
        e, log_d, distance, draws, np.asarray(delta, dtype=float)
    )
    bound = _printed_threshold if rule is Concentration.PRINTED else _chernoff_threshold
    threshold = np.minimum(bound(log_d, distance, draws), 1.0)
    certain = threshold >= 1.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        alpha = np.where(threshold > 0, e / threshold, math.inf)
    return Reduction(alpha, d, threshold, certain, np.minimum(np.where(certain, d, 2 * d), 1.0))


def _printed_threshold(log_d: FloatArray, r: FloatArray, s: FloatArray) -> FloatArray:
    return np.asarray((1 + math.sqrt(2)) * r - 3 / s * log_d)


def _chernoff_threshold(log_d: FloatArray, r: FloatArray, s: FloatArray) -> FloatArray:
    log_d, r, s = np.broadcast_arrays(log_d, r, s)
    need = -log_d / s
    inner = (r > 0) & (r < 1) & (need > 0)
    rate = np.where(inner, r, 0.5)

    no_root = -np.log(rate) <= need
    target = np.where(inner & ~no_root, need, 0.0)
    # KL is convex in c: from anywhere Newton's step lands right of the root, and then comes down
    # to it. At 1 the slope is infinite, so a step there goes half the way.
    near = np.maximum(rate + np.sqrt(2 * rate * (1 - rate) * target), target / -np.log(rate))
    c = np.minimum(near, 0.5 * (1 + rate))
    for _ in range(100):
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.log(c) - np.log(rate) + np.log1p(-rate) - np.log1p(-c)
            step = np.where(slope > 0, (_kl_above(c, rate) - target) / slope, 0.0)
        c, last = np.minimum(np.maximum(c - step, rate), 0.5 * (1 + c)), c
        # It converges quadratically: the step after this one would be lost in rounding.
        if (np.abs(c - last) <= 1e-10 * c).all():
            break
    # Rounded up by more than the rounding of KL (against 50 digits).
    root = np.minimum(c * (1 + 8e-15), 1.0)
    # r = 0 keeps every draw at distance 0; δ = 1 promises nothing, so the mean itself will do.
    edge = np.where(r >= 1, 1.0, r)
    return np.where(inner, np.where(no_root, 1.0, root), edge)


def _kl_above(c: FloatArray, r: FloatArray) -> FloatArray:
    """KL(c‖r) of two coins for c ≥ r, without cancellation near c = r."""
    with np.errstate(over="ignore"):
        v = (c - r) / r
    rest = np.maximum(1 - c, 0.0)
    w = np.minimum((c - r) / (1 - r), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.minimum(v, 1.0)
        close = np.where(near < 1e-2, _log_ratio_series(near), (1 + near) * np.log1p(near) - near)
        # Far from r, and for r without an inverse, the logarithms are taken apart.
        up = np.where(v > 1.0, c * (np.log(c) - np.log(r)) - (c - r), r * close)
        down = np.where(
            np.abs(w) < 1e-2,
            _log_ratio_series(-w),
            np.where(rest > 0, (1 - w) * np.log1p(-w) + w, w),
        )
    return np.asarray(up + (1 - r) * down)


def _log_ratio_series(v: FloatArray) -> FloatArray:
    """(1+v)ln(1+v) − v for small v."""
    return np.asarray(
        v
        * v
        * (1 / 2 - v * (1 / 6 - v * (1 / 12 - v * (1 / 20 - v * (1 / 30 - v * (1 / 42 - v / 56))))))
    )


def lemma52_tail(mu: ArrayLike, delta: ArrayLike, s: ArrayLike) -> Any:
    """Return Pr[Bin(s, μ)/s ≥ (1+√2)μ + (3/s)ln(1/δ)] exactly, which Lemma 5.2 bounds by δ.

    Parameters
    ----------
    mu : array of float
        Mean distance of one draw, in [0, 1], for distances of 0 or 1. Others may have a larger
        tail: of 10 draws at mean 0.01, δ = 0.1, it is 4.4e-15 here and 1.07e-14 for distances of
        0 or 0.8955; Lemma 5.2 holds for all.
    delta, s
        As in `theorem53_alpha`.
    """
    from scipy.special import betainc

    mean = checks.reals("mu", mu, 0.0, 1.0)
    log_d = np.log(checks.delta(delta))
    draws = checks.integers("s", s, 1, checks.MAX_COUNT)
    first = np.ceil(draws * (1 + math.sqrt(2)) * mean - 3 * log_d)
    mean, draws, first = np.broadcast_arrays(mean, draws, first)
    inside = (first >= 1) & (first <= draws)
    at = np.where(inside, first, 1.0)
    tail = betainc(at, draws - at + 1, mean)
    return scalar_if_0d(np.where(inside, tail, np.where(first < 1, 1.0, 0.0)))


def binomial_threshold(delta: ArrayLike, r: ArrayLike, s: ArrayLike) -> Any:
    """Return the least c = k/s with Pr[Bin(s, r)/s > c] ≤ δ: the threshold of 0/1 distances.

    A lower bound on every threshold that holds for the coupled draws of Lemma 5.2, and the
    threshold itself where all distances are 0 or 1.

    Parameters
    ----------
    delta, r, s
        As in `theorem53_alpha`.
    """
    from scipy.special import betainc, ndtri

    d = checks.delta(delta)
    rate = checks.reals("r", r, 0.0, 1.0)
    draws = checks.integers("s", s, 1, checks.MAX_COUNT)
    d, rate, draws = np.broadcast_arrays(d, rate, draws)
    inner = (rate > 0) & (rate < 1) & (d < 1)
    safe = np.where(inner, rate, 0.5)
    # Pr[Bin > k] ≤ δ holds at high and not at low.
    low, high = np.full(d.shape, -1.0), np.array(draws, dtype=float)
    deviation = np.sqrt(draws * safe * (1 - safe))
    middle = np.floor(draws * safe - ndtri(d) * deviation)
    step = np.maximum(np.floor(0.02 * deviation), 2.0)
    while (open_ := high - low > 1).any():
        # Near the normal quantile first, further and further off, then between what is known.
        far_low, far_high = middle - step, middle + step
        middle = np.minimum(np.maximum(middle, low + 1), high - 1)
        at = np.clip(middle, 0.0, draws - 1)
        fits = betainc(at + 1, draws - at, safe) <= d
        high, low = np.where(open_ & fits, middle, high), np.where(open_ & ~fits, middle, low)
        between = np.floor((low + high) / 2)
        middle = np.where(fits, np.maximum(far_low, between), np.minimum(far_high, between))
        step = 4 * step
    edge = np.where(d >= 1, 0.0, np.where(rate >= 1, 1.0, 0.0))
    return scalar_if_0d(np.where(inner, high / draws, edge))


def group_privacy_delta(epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike) -> Any:
    """Return δ(e^{kε} − 1)/(e^ε − 1), the δ of k hops of (ε, δ): (kε, ·) follows and it is tight.

    kδ at ε = 0. Fact 5.1's δe^k and Table 1's δe^{kε} are both wrong (errata user-D1). Infinite
    beyond 1e308.

    Parameters
    ----------
    epsilon : array of float
        In [0, 800].
    delta : array of float
        In [1e-300, 1]. After the reduction use `Reduction.delta_total`.
    k : array of float
        Hops, ⌈d/r⌉ for datasets at distance d, in [1, 1e12].

    References
    ----------
    Lemma A.2, applied k − 1 times.
    """
    e = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)
    d = checks.delta(delta)
    hops = checks.integers("k", k, 1, checks.MAX_COUNT)
    some = np.where(e > 0, e, 1.0)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        small = hops * e < 30.0
        moderate = np.where(small, hops * some, 1.0)
        plain = d * (np.expm1(moderate) / np.expm1(np.where(small, some, 1.0)))
        # (e^{kε} − 1)/(e^ε − 1) = e^{(k−1)ε}·(1 − e^{−kε})/(1 − e^{−ε})
        steep = np.where(small, 1.0, some)
        logs = np.log(d) + (hops - 1) * steep + np.log1p(-np.exp(-hops * steep))
        large = np.exp(logs - np.log(-np.expm1(-steep)))
    return scalar_if_0d(np.where(e > 0, np.where(small, plain, large), hops * d))


def draw_items(users: Sequence[ArrayLike], s: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Return s items of every user, drawn uniformly with replacement (Algorithm 3).

    Parameters
    ----------
    users : sequence of array_like
        One array of items a user, items along the first axis.
    s : int
        Draws, in [1, 1e9].
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If a user has no items: a dataset to draw from must not be empty.
    """
    draws = int(checks.integers("s", s, 1, 1e9))
    out = []
    for i, items in enumerate(users):
        own = np.asarray(items)
        if own.ndim == 0 or own.shape[0] == 0:
            raise ValueError(f"users[{i}]: a user must have at least one item to draw from")
        out.append(own[rng.integers(0, own.shape[0], draws)])
    return out


def _arguments(
    epsilon: ArrayLike, delta: ArrayLike, r: ArrayLike, s: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Check the arguments of Theorem 5.3; δ is returned as its logarithm."""
    return (
        checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON),
        np.log(checks.delta(delta)),
        checks.reals("r", r, 0.0, 1.0),
        checks.integers("s", s, 1, checks.MAX_COUNT),
    )
