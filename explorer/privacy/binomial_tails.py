"""Tails and stop-losses of Bin(N, ½) at λN for many N at once, three ways.

For B ~ Bin(N, ½) and λ < ½: the tail Pr[B < λN] and the stop-loss E[(λN − B)_+], with relative
precision however small they are.
"""

from __future__ import annotations

import math

import numpy as np

from explorer.privacy.binomial import log_half_pmf, mills_ratio
from explorer.privacy.bounds import FloatArray

SMOOTH_SAFETY = 1e-5
"""By how much the smooth form is raised: several times its error."""


def smooth_stop_loss(N: FloatArray, level: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return stop-loss and tail at λN for N in the hundreds of thousands, raised by 1e-5.

    Below x = λN the law falls like f(x)e^{−au−bu²/2}, a = ln((N−x)/x), b = N/(x(N−x)); what is
    left out, the lattice and the third derivative, is of the order (x/σ)²/N.
    """
    x = np.maximum(N * level, 16.0)
    f = np.exp(log_half_pmf(x, np.broadcast_to(N, x.shape)))
    root = np.sqrt(N / (x * (N - x)))
    ratio = mills_ratio(np.log((N - x) / x) / root)
    tail = f / root * ratio
    loss = f / root**2 * (1 - np.log((N - x) / x) / root * ratio)
    return loss * (1 + SMOOTH_SAFETY), tail * (1 + SMOOTH_SAFETY)


def direct_stop_loss(
    N: FloatArray, b: FloatArray, f: FloatArray, level: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return tail and stop-loss by summing down from b; the ratio of terms is below 0.053."""
    term, tail, loss = f.copy(), f.copy(), (N * level - b) * f
    for i in range(14):
        below = b - i
        term = term * below / (N - below + 1)
        tail += term
        loss += (N * level - below + 1) * term
    return tail, loss


def running_tail(N: FloatArray, b: FloatArray, f: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b] along consecutive N, from one tail at the largest N.

    Pr[Bin(N+1) ≤ b] = Pr[Bin(N) ≤ b] − ½f_N(b) and Pr[Bin(N+1) ≤ b+1] = Pr[Bin(N) ≤ b] +
    ½f_N(b+1). Walking towards smaller N the tail grows, so the rounding errors do not.
    """
    last = float(N[-1])
    edge = left_tail(last, b[:, -1])
    if N.size == 1:
        return edge[:, None]
    here, f_here = b[:, :-1], f[:, :-1]
    same = b[:, 1:] == here
    change = np.where(same, 0.5 * f_here, -0.5 * f_here * (N[:-1] - here) / (here + 1))
    steps = np.cumsum(change[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([edge[:, None] + steps, edge[:, None]], axis=1)


def left_tail(N: float, b: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b] for whole b < N/2, relative precision everywhere."""
    # Terms fall like a normal density: what is 9 deviations' worth of e^−x²/2 further is nothing.
    deviation = math.sqrt(N) / 2
    z = (N / 2 - float(b.min())) / deviation
    floor = max(0.0, math.floor(N / 2 - deviation * math.sqrt(z * z + 84.0) - 2.0))
    grid = np.arange(floor, float(b.max()) + 1)
    if grid.size == 0:
        return np.zeros(b.shape)
    sums = np.cumsum(np.exp(log_half_pmf(grid, np.full(grid.shape, N))))
    index = (b - floor).astype(int)
    return np.where(index >= 0, sums[np.maximum(index, 0)], 0.0)
