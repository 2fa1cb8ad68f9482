"""Exact δ of the counting protocol and of the histogram protocol.

**One count hidden by binomial noise, for replaced and for removed users.** The counting protocol
shows exactly the number of messages, Σxᵢ + Bin(n, p). With q = 1−p (or p: both give the same
replace-one δ) the privacy of a replaced user is that of Z against Z + 1 for Z ~ Bin(n, q). Written
over g = Bin(n+1, q) both laws are g times a polynomial, so that δ is a sum of positive terms over a
tail.

**Two bins that change together.** A replaced user takes a message from one bin and adds it to
another. What is seen of the two is (Z₁+1, Z₂) before and (Z₁, Z₂+1) after, with independent Z₁, Z₂
~ Bin(n, q); exchanging the bins exchanges the two laws, so one direction is the whole δ. Over g =
Bin(n+1, q) it is

    δ = Σ_b g(b) (N−b+e^ε b)/(N²q(1−q)) · E[(Y − A(b))₊],  A(b) = N·e^ε b/(N−b+e^ε b),

with Y ~ g and N = n+1: positive terms, and the expectation for every b from two running sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf, log_pmf_at, panels, reach, tail_sum
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import columns, scalar_if_0d, vectorised

_LARGE = 300.0


class Adjacency(StrEnum):
    """Neighbouring relation of two noisy counts (n users take part before the change)."""

    REPLACE = "replace"
    """Z against Z+1, Z ~ Bin(n, q): a user's bit changes and n is public (the paper's)."""
    REMOVE = "addremove"
    """Bin(n−1, q) against 1 + Bin(n, q): a user holding 1 leaves and takes their noise along."""
    REMOVE_ZERO = "addremove0"
    """Bin(n−1, q) against Bin(n, q): a user holding 0 leaves and takes their noise along."""


class Directions(NamedTuple):
    """Both hockey-stick divergences of a pair of neighbouring counts.

    Attributes
    ----------
    up, down : float or array
        H(larger‖smaller) and H(smaller‖larger); the guarantee is the larger of the two.
    """

    up: Any
    down: Any


class _Pair(NamedTuple):
    """Two laws as g(y)·scale times `larger` and `smaller`, polynomials of y and z = N−y."""

    trials: float
    log_scale: float
    larger: Callable[[Any, Any], Any]
    smaller: Callable[[Any, Any], Any]
    excess: Callable[[Any, Any], Any]
    """larger − smaller, without cancellation."""


def _pair(n: float, q: float, adjacency: Adjacency) -> _Pair:
    N = n + 1
    r = 1 - q

    def above(y: Any, z: Any, trials: float) -> Any:
        """Return y − trials·q, from the end where it is the difference of small numbers."""
        return y - trials * q if q <= 0.5 else trials * r - z

    if adjacency is Adjacency.REMOVE_ZERO:
        return _Pair(
            n,
            0.0,
            lambda y, z: 1.0 + 0.0 * y,
            lambda y, z: z / (n * r),
            lambda y, z: above(y, z, n) / (n * r),
        )
    # The common factor 1/(Nq) is kept apart: it has no double for the smallest q.
    log_scale = -math.log(N) - math.log(q)
    if adjacency is Adjacency.REPLACE:
        return _Pair(
            N, log_scale, lambda y, z: y, lambda y, z: z * (q / r), lambda y, z: above(y, z, N) / r
        )

    def smaller(y: Any, z: Any) -> Any:
        return z * (z - 1) / (n * r * r) * q

    return _Pair(N, log_scale, lambda y, z: y, smaller, lambda y, z: y - smaller(y, z))


def _gain(first: Any, second: Any, difference: Any, eps: float) -> Any:
    """Return first − e^ε·second; beyond the range of doubles only its sign and its size count."""
    if eps <= _LARGE:
        return difference - math.expm1(eps) * second
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = eps + np.log(second) - np.log(first)
        return np.where(second == 0, first, first * -np.expm1(np.minimum(exponent, 700.0)))


def _last_true(holds: Callable[[float], bool], top: float) -> float:
    """Return the largest whole y ≤ top where a property holds that is lost once; −1 if none."""
    low, high = -1.0, top + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _divergence(eps: float, n: float, q: float, adjacency: Adjacency, up: bool) -> float:
    if q in (0.0, 1.0):
        return 0.0 if adjacency is Adjacency.REMOVE_ZERO and q == 0 else 1.0
    pair = _pair(n, q, adjacency)
    N = pair.trials

    def gain(y: Any) -> Any:
        larger, smaller = pair.larger(y, N - y), pair.smaller(y, N - y)
        excess = pair.excess(y, N - y)
        if up:
            return _gain(larger, smaller, excess, eps)
        return _gain(smaller, larger, -excess, eps)

    # The likelihood ratio larger/smaller grows with y, so the gain changes its sign once.
    if up:
        edge = _last_true(lambda y: not gain(y) > 0, N) + 1
    else:
        edge = _last_true(lambda y: bool(gain(y) > 0), N)
    log_q, log_r = math.log(q), math.log1p(-q)
    if q <= 0.5:
        value = tail_sum(edge, 1 if up else -1, N, log_q, log_r, gain, pair.log_scale)
    else:
        # Counted from the other end a tail beside N keeps its digits.
        value = tail_sum(
            N - edge, -1 if up else 1, N, log_r, log_q, lambda x: gain(N - x), pair.log_scale
        )
    return min(max(value, 0.0), 1.0)


def count_divergences(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, adjacency: Adjacency | str = Adjacency.REPLACE
) -> Directions:
    """Return both hockey-stick divergences of neighbouring noisy counts, exactly.

    Parameters
    ----------
    eps : array of float
        ε in [0, 800].
    n : array of int
        Users that add noise, in [1, 1e12].
    q : array of float
        Success probability of one user's noise bit, in [0, 1]. For replaced users p and 1−p give
        the same δ (directions exchanged); for removed users it must be the p that is run.
    adjacency : Adjacency
        Which counts are neighbours.

    Returns
    -------
    Directions
        Shapes broadcast from the arguments. Relative precision 1e-9 (2e-10 below n = 1e9),
        down to 1e-300.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.1(i), whose proof bounds this δ by 2e^{−nqε²/50}; errata hist-A4
    for removed users.
    """
    kind = Adjacency(adjacency)
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("q", q, 0.0, 1.0)

    def both(eps: float, n: float, q: float) -> tuple[float, float]:
        return _divergence(eps, n, q, kind, True), _divergence(eps, n, q, kind, False)

    return Directions(*columns(vectorised(both, row=2)(e, users, rate)))


def count_delta(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, adjacency: Adjacency | str = Adjacency.REPLACE
) -> Any:
    """Return the exact δ of the counting protocol: the larger of both directions.

    Parameters, shapes and errors as for `count_divergences`. If only n_h users can be trusted to
    add their noise, pass n = n_h: the others add nothing to the privacy. δ is not monotone in q
    (it has humps of up to 13 % near ½), so a q must be judged by its own δ.
    """
    both = count_divergences(eps, n, q, adjacency)
    return scalar_if_0d(np.maximum(both.up, both.down))


def replace_delta(eps: float, n: float, q: float) -> float:
    """Return `count_delta` for replaced users, one point and unchecked: for root finding."""
    up = _divergence(eps, n, q, Adjacency.REPLACE, True)
    return max(up, _divergence(eps, n, q, Adjacency.REPLACE, False))


_SMALLEST = 745.0
_BELOW_PEAK = 48.0
"""Terms below e^−48 of the largest are left out: together less than 1e-15 of the sum."""
_PROBE_POINTS = 96
"""Values of b at which the terms are estimated to find those that matter."""
_DIRECT_DEVIATION = 1e4
_CELLS = 400_000
"""Values of b and y that are worked on together; points of similar width share a table."""


def histogram_delta(eps: ArrayLike, n: ArrayLike, q: ArrayLike) -> Any:
    """Return the exact δ of the histogram protocol for a replaced user.

    Parameters
    ----------
    eps : array of float
        ε in [0, 800].
    n : array of int
        Users that add noise to every bin, in [1, 1e12]; those who can be trusted to.
    q : array of float
        1 − p (or p: both have the same δ), in [0, 1].

    Returns
    -------
    float or ndarray
        Shapes broadcast. Relative precision 1e-9, down to 1e-300.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.2(i), which composes two counts to (2ε, 2δ) (errata hist-A1); this
    is the exact worst case of the two bins together.
    """
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("q", q, 0.0, 1.0)
    e, users, rate = np.broadcast_arrays(e, users, rate)
    return scalar_if_0d(joint_deltas(e.ravel(), users.ravel(), rate.ravel()).reshape(e.shape))


def joint_delta(eps: float, n: float, q: float) -> float:
    """Return `histogram_delta` of one point, unchecked."""
    return float(joint_deltas(np.array([eps]), np.array([n]), np.array([q]))[0])


def joint_deltas(eps: FloatArray, n: FloatArray, q: FloatArray) -> FloatArray:
    """Return `histogram_delta` of 1-dimensional arrays of points of one length, unchecked."""
    q = np.minimum(q, 1 - q)
    N = n + 1
    # Two likelihood ratios inside the supports differ by at most n²: beyond it nothing changes.
    eps = np.minimum(eps, 2 * np.log(N) + 1)
    out = np.ones(q.shape)
    variance = N * q * (1 - q)
    wide = variance > _DIRECT_DEVIATION**2
    for i in np.flatnonzero(wide):
        log_q, log_r = math.log(q[i]), math.log1p(-q[i])
        out[i] = _smooth(
            float(eps[i]), float(N[i]), log_q, log_r, float(N[i] * q[i]), float(variance[i])
        )
    rest = np.flatnonzero(~wide & (q > 0))
    if rest.size == 0:
        return out
    windows = _Window.of(eps[rest], N[rest], q[rest])
    out[rest[windows.size == 0]] = 0.0
    order = np.flatnonzero(windows.size > 0)
    order = order[np.argsort(windows.size[order])]
    start = 0
    while start < order.size:
        least = windows.size[order[start]]
        stop = start + 1
        while (
            stop < order.size
            and windows.size[order[stop]] <= 1.5 * least + 64
            and (stop + 1 - start) * windows.size[order[stop]] <= _CELLS
        ):
            stop += 1
        batch = order[start:stop]
        at = rest[batch]
        out[at] = _sum_terms(eps[at], N[at], q[at], windows.at(batch))
        start = stop
    return out


class _Window(NamedTuple):
    """Relevant ranges of the two bins at each point: b from first to last, y from base to top."""

    first: FloatArray
    last: FloatArray
    base: FloatArray
    top: FloatArray

    @property
    def size(self) -> FloatArray:
        """Number of counts from the first b to the last y; 0 if the range is empty."""
        return np.asarray(np.maximum(self.top - self.first + 1, 0.0))

    def at(self, index: Any) -> _Window:
        return _Window(*(part[index] for part in self))

    @classmethod
    def of(cls, eps: FloatArray, N: FloatArray, q: FloatArray) -> _Window:
        r = 1 - q
        mean, variance = N * q, N * q * r
        low = np.maximum(np.floor(mean - np.sqrt(2 * _SMALLEST * variance)), 0.0)
        third = _SMALLEST / 3
        widest = mean + third + np.sqrt(third**2 + 2 * _SMALLEST * variance)
        high = np.minimum(N, np.ceil(widest))
        first, last = low, np.minimum(high, N - 1)
        share = np.linspace(0.0, 1.0, _PROBE_POINTS)
        b = np.rint(first[:, None] + (last - first)[:, None] * share)
        edge, _ = _threshold(b, eps[:, None], N[:, None])
        height = _exponent(b, N, q) + _exponent(np.maximum(edge, mean[:, None]), N, q)
        relevant = height > height.max(axis=1, keepdims=True) - _BELOW_PEAK
        rows = np.arange(q.size)
        lowest = np.maximum(np.argmax(relevant, axis=1) - 1, 0)
        largest = np.minimum(
            _PROBE_POINTS - np.argmax(relevant[:, ::-1], axis=1), _PROBE_POINTS - 1
        )
        first, last = b[rows, lowest], b[rows, largest]
        base, far = _start(first, eps, N), _start(last, eps, N)
        # From `far` on the terms in y fall by this rate and faster.
        with np.errstate(divide="ignore"):
            rate = np.log((far + 1) / (N - far)) + np.log(r) - np.log(q)
        spread = far * (N - far) / N
        bent = _BELOW_PEAK + np.sqrt(_BELOW_PEAK**2 + 2 * _BELOW_PEAK * spread)
        steps = np.minimum(bent, _BELOW_PEAK / np.maximum(rate, 1e-9))
        top = np.where(base > high, first - 1, np.minimum(high, far + np.ceil(steps)))
        return cls(first, last, base, top)


def _exponent(x: FloatArray, N: FloatArray, q: FloatArray) -> FloatArray:
    """Return about ln Pr[Bin(N, q) = x], as large deviations have it, x along the last axis."""
    mean, rest = (N * q)[:, None], (N * (1 - q))[:, None]
    x = np.maximum(x, 0.25)
    left = np.maximum(rest + mean - x, 0.25)
    # Past 1e10 the rounding errors are as large as a hundredth; this only finds the window.
    return np.asarray(-x * (np.log(x) - np.log(mean)) - left * np.log1p((left - rest) / rest))


def _threshold(b: FloatArray, eps: Any, N: Any) -> tuple[FloatArray, FloatArray]:
    """Return A(b) and N − A(b)."""
    below, above = np.exp(eps) * b, N - b
    unit = N / (above + below)
    return unit * below, unit * above


def _start(b: FloatArray, eps: Any, N: Any) -> FloatArray:
    """Return the first y above A(b)."""
    return np.asarray(np.minimum(np.floor(_threshold(b, eps, N)[0]) + 1, N))


def _sum_terms(eps: FloatArray, N: FloatArray, q: FloatArray, window: _Window) -> FloatArray:
    """Return δ of points whose windows are of similar size, a row each."""
    first, last, base, top = (part[:, None] for part in window)
    logs, log_q, log_r = _logs(N, q, window)
    eps, N = eps[:, None], N[:, None]
    y = first + np.arange(logs.shape[1])
    # What lies left of the base is not summed, but stands in the same table.
    logs_y = np.where(y > top, -np.inf, logs)
    offset = np.where(y >= base, logs_y, -np.inf).max(axis=1, keepdims=True)
    second = np.exp(np.minimum(logs_y - offset, 500.0))
    tail = np.cumsum(second[:, ::-1], axis=1)[:, ::-1]
    loss = np.zeros(tail.shape)
    np.cumsum(tail[:, :0:-1], axis=1, out=loss[:, -2::-1])
    b = y[:, : int((last - first).max()) + 1]
    edge, left = _threshold(b, eps, N)
    start = np.minimum(np.floor(edge) + 1, N)
    # start − A from the nearer end, so that it keeps its digits where A is almost N.
    gap = np.maximum(np.where(edge > N / 2, left - (N - start), start - edge), 0.0)
    width = logs.shape[1]
    index = np.minimum(start - first, width - 1).astype(np.int64)
    index += width * np.arange(index.shape[0])[:, None]
    expected = loss.ravel()[index] + gap * tail.ravel()[index]
    expected[(start > top) | (b > last)] = 0.0
    scale = offset - np.log(N) - log_q - log_r
    weights = np.exp(logs[:, : b.shape[1]] + scale) * ((N - b + np.exp(eps) * b) / N)
    return np.asarray(np.minimum(np.einsum("ij,ij->i", weights, expected), 1.0))


def _logs(
    N: FloatArray, q: FloatArray, window: _Window
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ln g(y) for y from each row's first to its top and further, ln q and ln(1−q).

    As `log_pmf_run`, all rows at once.
    """
    log_q, log_r = np.log(q)[:, None], np.log1p(-q)[:, None]
    m = window.first[:, None] + np.arange(int(window.size.max()) - 1)
    left = np.maximum(N[:, None] - m, 1.0)
    out = np.zeros((q.size, m.shape[1] + 1))
    np.cumsum(np.log(left / (m + 1)) + (log_q - log_r), axis=1, out=out[:, 1:])
    for i, (first, top) in enumerate(zip(window.first, window.top, strict=True)):
        at = float(min(max(math.floor((N[i] + 1) * q[i]), first), top))
        exact = log_pmf_at(at, float(N[i]), float(log_q[i, 0]), float(log_r[i, 0]))
        out[i] += exact - out[i, int(at - first)]
    return out, log_q, log_r


def _height(
    b: FloatArray, eps: float, N: float, log_q: float, log_r: float, mean: float
) -> FloatArray:
    """Return about the logarithm of the summand at b."""
    edge, _ = _threshold(b, eps, N)
    return log_pmf(b, N, log_q, log_r) + log_pmf(np.ceil(np.clip(edge, mean, N)), N, log_q, log_r)


def _smooth(
    eps: float, N: float, log_q: float, log_r: float, mean: float, variance: float
) -> float:
    """Return the sum as an integral over both bins.

    The lattice changes E[(Y−A)₊] by at most g(A)/12, a part of 1/12σ² < 9e-10 where it does not
    average out over b (it does unless εσ is small).
    """
    deviation = math.sqrt(variance)
    b = np.linspace(max(mean - 40 * deviation, 0.0), min(mean + 40 * deviation, N - 1), 512)
    b = np.round(b)
    height = _height(b, eps, N, log_q, log_r, mean)
    if height.max() < -1.05 * _SMALLEST:
        return 0.0
    relevant = np.flatnonzero(height > height.max() - 60.0)
    first, last = b[max(relevant[0] - 1, 0)], b[min(relevant[-1] + 1, b.size - 1)]
    nodes, weights = panels(4)
    b = first + (last - first) * nodes
    edge, _ = _threshold(b, eps, N)
    # Below the mean the terms rise first; from the mean on they fall.
    span = np.maximum(mean - edge, 0.0) + np.array(
        [reach(0.0, max(a, mean) * (N - max(a, mean)) / N) for a in edge]
    )
    u = span[:, np.newaxis] * nodes
    y = np.minimum(edge[:, np.newaxis] + u, N)
    inner = log_pmf(y, N, log_q, log_r)
    scale = log_pmf(b, N, log_q, log_r) + np.log(N - b + math.exp(eps) * b)
    scale = scale - 2 * math.log(N) - log_q - log_r
    losses = (u * np.exp(inner + scale[:, np.newaxis])) @ weights * span
    return min(1.0, float((losses @ weights) * (last - first)))
