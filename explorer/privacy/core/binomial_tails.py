"""Tails and stop-losses of Bin(N, ½) at λN for many N at once, three ways, and the law of N.

For B ~ Bin(N, ½) and λ < ½: the tail Pr[B < λN] and the stop-loss E[(λN − B)_+], with relative
precision however small they are.
"""

import math

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.log_binomial import log_half_pmf, log_pmf_at, mills_ratio

_RUN = 2048
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


def binomial_rows(
    N: FloatArray, k: FloatArray, log_p: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Pr[Bin(k, p) = N]/c along rows of consecutive N, 0 beyond `high`, and ln c of each.

    Neighbours differ by the factor (k−n)p/((n+1)(1−p)); one exact value sets the scale.

    Parameters
    ----------
    N : array, shape (P, M)
    k, log_p, high : array, shape (P,)
        Trials, ln p, and the last N of each row that matters, at most k.
    """
    with np.errstate(divide="ignore"):
        log_odds = np.minimum(log_p - np.log(-np.expm1(log_p)), 1e3)[:, None]
    factor = np.maximum(k[:, None] - N[:, :-1], 0.5) / N[:, 1:]
    ends = np.abs(np.log(factor[:, [0, -1]] if factor.size else 1.0) + log_odds)
    weight = np.ones(N.shape)
    if factor.size and float(ends.max()) * N.shape[1] < 600:
        # No product of these can leave the range of doubles.
        factor *= np.exp(log_odds)
        np.cumprod(factor, axis=1, out=weight[:, 1:])
        weight[high[:, None] < N] = 0.0
        peak = np.argmax(weight, axis=1)
        weight /= weight.max(axis=1, keepdims=True)
    else:
        log_w = np.zeros(N.shape)
        np.cumsum(np.log(factor) + log_odds, axis=1, out=log_w[:, 1:])
        log_w[high[:, None] < N] = -np.inf
        peak = np.argmax(log_w, axis=1)
        weight = np.exp(log_w - log_w.max(axis=1, keepdims=True))
    top = N[np.arange(k.size), peak]
    return weight, np.array([_log_pmf(*row) for row in zip(top, k, log_p, strict=True)])


def _log_pmf(n: float, k: float, log_p: float) -> float:
    """Return ln Pr[Bin(k, p) = n]; all succeed where p is 1 but for rounding."""
    p = math.exp(log_p)
    return log_pmf_at(float(n), float(k), float(log_p), math.log1p(-p)) if p < 1 else 0.0


def half_pmf_run(N: FloatArray, b: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) = b] along rows of consecutive N, b staying or growing by 1 with each.

    Parameters
    ----------
    N, b : array, shape (P, M)
        Whole, b below N/2.

    Notes
    -----
    Neighbours differ by a rational factor; runs of 2048 start from exact values.
    """
    out = np.empty(b.shape)
    here = b[:, :-1]
    ahead = np.where(b[:, 1:] == here, N[:, :-1] - here, here) + 1
    out[:, 1:] = 0.5 * N[:, 1:] / ahead
    for start in range(0, N.shape[1], _RUN):
        out[:, start] = np.exp(log_half_pmf(b[:, start], N[:, start]))
        piece = out[:, start : start + _RUN]
        np.cumprod(piece, axis=1, out=piece)
    return out


def direct_stop_loss(
    N: FloatArray, b: FloatArray, f: FloatArray, level: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return tail and stop-loss by summing down from b; the ratio of terms is below 0.053."""
    ratio = float(level.max() / (1 - level.max()))
    terms = 14 if ratio > 0 else 1
    if ratio > 0:
        terms = min(max(math.ceil(-42 / math.log(ratio)), 1), 14)
    term, tail, loss = f.copy(), f.copy(), (N * level - b) * f
    for i in range(terms):
        below = b - i
        term *= below / (N - below + 1)
        tail += term
        loss += (N * level - below + 1) * term
    return tail, loss


def running_tail(N: FloatArray, b: FloatArray, f: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b] along rows of consecutive N, from one tail at the largest N.

    Pr[Bin(N+1) ≤ b] = Pr[Bin(N) ≤ b] − ½f_N(b) and Pr[Bin(N+1) ≤ b+1] = Pr[Bin(N) ≤ b] +
    ½f_N(b+1). Walking towards smaller N the tail grows, so the rounding errors do not.
    """
    out = np.empty(f.shape)
    here, trials = b[:, :-1], N[:, :-1]
    same = b[:, 1:] == here
    out[:, :-1] = 0.5 * f[:, :-1] * np.where(same, 1.0, (here - trials) / (here + 1))
    out[:, -1] = f[:, -1] * _left_ratio(N[:, -1], b[:, -1])
    back = out[:, ::-1]
    np.cumsum(back, axis=1, out=back)
    return out


def _left_ratio(N: FloatArray, b: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b]/Pr[Bin(N, ½) = b] for whole b < N/2: positive terms, all that count.

    Terms fall by b/(N−b+1) and ever faster; e^−42 further out the rest is nothing.
    """
    rate = np.log((N - b + 1) / np.maximum(b, 0.5))
    reach = np.minimum(np.minimum(42 / np.maximum(rate, 1e-9), np.sqrt(21 * N)), b)
    below = b[:, None] - np.arange(math.ceil(float(reach.max())) + 1)
    factors = np.maximum(below, 0.0) / (N[:, None] - below + 1)
    return np.asarray(1 + np.cumprod(factors, axis=1, out=factors).sum(axis=1))
