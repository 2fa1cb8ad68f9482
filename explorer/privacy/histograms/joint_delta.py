"""The exact δ of the histogram protocol: two bins that change together.

A replaced user takes a message from one bin and adds it to another. What is seen of the two is
(Z₁+1, Z₂) before and (Z₁, Z₂+1) after, with independent Z₁, Z₂ ~ Bin(n, q); exchanging the bins
exchanges the two laws, so one direction is the whole δ. Over g = Bin(n+1, q) it is

    δ = Σ_b g(b) (N−b+e^ε b)/(N²q(1−q)) · E[(Y − A(b))₊],  A(b) = N·e^ε b/(N−b+e^ε b),

with Y ~ g and N = n+1: positive terms, and the expectation for every b from two running sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.binomial import log_pmf, log_pmf_run
from explorer.privacy.bounds import FloatArray
from explorer.privacy.histograms.binomial_sums import panels, reach

_SMALLEST = 745.0
_BELOW_PEAK = 60.0
_WHOLE = 40_000
_DIRECT_DEVIATION = 1e4


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
    Balcer & Cheu 2020, Theorem 3.2(i), which composes two counts to (2ε, 2δ) (errata A1); this is
    the exact worst case of the two bins together.
    """
    e = domain.reals("eps", eps, 0.0, domain.EPSILON_MAX)
    users = domain.integers("n", n, 1, domain.COUNT_MAX)
    rate = domain.reals("q", q, 0.0, 1.0)
    e, users, rate = np.broadcast_arrays(e, users, rate)
    out = np.empty(e.shape)
    for i in np.ndindex(e.shape):
        out[i] = joint_delta(float(e[i]), float(users[i]), float(rate[i]))
    return domain.simple(out)


def joint_delta(eps: float, n: float, q: float) -> float:
    """Return `histogram_delta` of one point, unchecked."""
    q = min(q, 1 - q)
    if q == 0.0:
        return 1.0
    N = n + 1
    # Two likelihood ratios inside the supports differ by at most n²: beyond it nothing changes.
    eps = min(eps, 2 * math.log(N) + 1)
    log_q, log_r = math.log(q), math.log1p(-q)
    mean, variance = N * q, N * q * (1 - q)
    if variance > _DIRECT_DEVIATION**2:
        return _smooth(eps, N, log_q, log_r, mean, variance)
    low = max(0.0, math.floor(mean - math.sqrt(2 * _SMALLEST * variance)))
    third = _SMALLEST / 3
    widest = mean + third + math.sqrt(third**2 + 2 * _SMALLEST * variance)
    high = min(N, float(math.ceil(widest)))
    first, last = low, min(high, N - 1)
    if last - first > _WHOLE:
        b = np.round(np.linspace(first, last, 4096))
        height = _height(b, eps, N, log_q, log_r, mean)
        if height.max() < -1.05 * _SMALLEST:
            return 0.0
        kept = np.flatnonzero(height > height.max() - _BELOW_PEAK)
        first, last = b[max(kept[0] - 1, 0)], b[min(kept[-1] + 1, b.size - 1)]
    b = np.arange(first, last + 1)
    log_first = log_pmf_run(first, last, N, log_q, log_r)
    return _summed(eps, N, log_q, log_r, high, b, log_first)


def _threshold(b: FloatArray, eps: float, N: float) -> tuple[FloatArray, FloatArray]:
    """Return A(b) and N − A(b)."""
    lift = math.exp(eps)
    below, above = lift * b, N - b
    return N * below / (above + below), N * above / (above + below)


def _height(
    b: FloatArray, eps: float, N: float, log_q: float, log_r: float, mean: float
) -> FloatArray:
    """Return about the logarithm of the summand at b."""
    edge, _ = _threshold(b, eps, N)
    return log_pmf(b, N, log_q, log_r) + log_pmf(np.ceil(np.clip(edge, mean, N)), N, log_q, log_r)


def _summed(
    eps: float,
    N: float,
    log_q: float,
    log_r: float,
    high: float,
    b: FloatArray,
    log_first: FloatArray,
) -> float:
    edge, left = _threshold(b, eps, N)
    start = np.minimum(np.floor(edge) + 1, N)
    # start − A from the nearer end, so that it keeps its digits where A is almost N.
    gap = np.where(edge > N / 2, left - (N - start), start - edge)
    base = start[0]
    if base > high:
        return 0.0
    far = float(start[-1])
    top = min(high, far + math.ceil(reach(0.0, far * (N - far) / N)))
    log_second = log_pmf_run(base, top, N, log_q, log_r)
    offset = float(log_second.max())
    second = np.exp(log_second - offset)
    tail = np.cumsum(second[::-1])[::-1]
    loss = np.concatenate([np.cumsum(tail[:0:-1])[::-1], [0.0]])
    index = (start - base).astype(np.int64)
    inside = index < tail.size
    index = np.minimum(index, tail.size - 1)
    expected = np.where(inside, loss[index] + np.maximum(gap, 0.0) * tail[index], 0.0)
    scale = offset - 2 * math.log(N) - log_q - log_r
    weights = np.exp(log_first + np.log(N - b + math.exp(eps) * b) + scale)
    return min(1.0, float(weights @ expected))


def _smooth(
    eps: float, N: float, log_q: float, log_r: float, mean: float, variance: float
) -> float:
    """Return the sum as an integral over both bins.

    The lattice changes E[(Y−A)₊] by at most g(A)/12, a part of 1/12σ² < 9e-10 where it does not
    average out over b (it does unless εσ is small).
    """
    deviation = math.sqrt(variance)
    b = np.linspace(max(mean - 40 * deviation, 0.0), min(mean + 40 * deviation, N - 1), 4096)
    b = np.round(b)
    height = _height(b, eps, N, log_q, log_r, mean)
    if height.max() < -1.05 * _SMALLEST:
        return 0.0
    kept = np.flatnonzero(height > height.max() - _BELOW_PEAK)
    first, last = b[max(kept[0] - 1, 0)], b[min(kept[-1] + 1, b.size - 1)]
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
