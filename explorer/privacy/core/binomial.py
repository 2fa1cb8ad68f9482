"""Binomial probabilities, sums over tails and stop-losses, accurate for any number of trials.

ln m! of a large m has an absolute error far above 1, so differences of log-gammas lose every
digit of a probability once there are 10¹⁰ trials. The deviance form (Loader 2000, *Fast and
accurate computation of binomial probabilities*) never forms them.

**Tails and stop-losses of Bin(N, ½) at λN, for many N at once, by three methods.** For B ~ Bin(N,
½) and λ < ½: the tail Pr[B < λN] and the stop-loss E[(λN − B)_+], with relative precision however
small they are.

**Sums Σ g(y)c(y) over y beyond an edge in the tail of g = Bin(N, q), with a polynomial c ≥ 0.**
Nothing cancels. A sum needs about 50/rate terms, where e^−rate is the ratio of neighbouring terms
at the edge, and at most about 10 deviations. Where even these are many the terms are smooth and the
sum is an integral with one correction.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray

_LOG_2PI = math.log(2 * math.pi)
_SMALL = 16
_STIRLING_TABLE = np.array(
    [0.0]
    + [
        math.lgamma(m + 1.0) - (m + 0.5) * math.log(m) + m - 0.5 * _LOG_2PI
        for m in range(1, _SMALL)
    ]
)


def stirling_error(m: ArrayLike) -> FloatArray:
    """Return ln m! − [(m+½)ln m − m + ½ln 2π] for m ≥ 1 (0 for m = 0), to machine precision.

    Raises
    ------
    ValueError
        If an m below 16 is not whole.
    """
    m = np.asarray(m, dtype=float)
    safe = np.maximum(m, _SMALL)
    u = 1.0 / (safe * safe)
    series: FloatArray = (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))
    ) / safe
    if m.size and m.min() < _SMALL:
        small = m < _SMALL
        if np.any(small & (m != np.floor(m))):
            raise ValueError("m: below 16 only whole numbers are known")
        table = _STIRLING_TABLE[np.minimum(m, _SMALL - 1).astype(int)]
        return np.asarray(np.where(small, table, series))
    return series


def deviance(x: FloatArray, mean: FloatArray | float) -> FloatArray:
    """Return x·ln(x/mean) + mean − x, without cancellation near x = mean.

    Parameters
    ----------
    x, mean : array of float
        x > 0, mean > 0.
    """
    v = (x - mean) / mean
    # (1+v)ln(1+v) − v; the series is used where the closed form would cancel.
    small = np.abs(v) < 0.03
    vs = np.where(small, v, 0.0)
    series = (
        vs
        * vs
        * (
            1 / 2
            - vs
            * (
                1 / 6
                - vs
                * (
                    1 / 12
                    - vs
                    * (
                        1 / 20
                        - vs * (1 / 30 - vs * (1 / 42 - vs * (1 / 56 - vs * (1 / 72 - vs / 90))))
                    )
                )
            )
        )
    )
    closed = (1 + v) * np.log1p(v) - v
    return np.asarray(mean * np.where(small, series, closed))


def log_pmf(m: ArrayLike, trials: ArrayLike, log_p: float, log_q: float) -> FloatArray:
    """Return ln Pr[Bin(trials, p) = m].

    Parameters
    ----------
    m : array of float
        Whole numbers in [0, trials].
    trials : float or array
        Number of trials, up to 10¹² and beyond.
    log_p, log_q : float
        ln p and ln(1−p), so that a p below the smallest double can still be told from 0.
    """
    m = np.asarray(m, dtype=float)
    trials = np.asarray(trials, dtype=float)
    rest = trials - m
    inner = (m > 0) & (rest > 0)
    ms = np.where(inner, m, 1.0)
    rs = np.where(inner, rest, 1.0)
    ts = np.where(inner, trials, 2.0)
    p, q = math.exp(log_p), math.exp(log_q)
    if p > 1e-290 and q > 1e-290:
        exponent = -deviance(ms, ts * p) - deviance(rs, ts * q)
    else:
        # Deviances would divide by zero; here one of m, trials − m is small and this is exact.
        exponent = ms * (log_p + np.log(ts / ms)) + rs * (log_q + np.log(ts / rs))
    body = (
        stirling_error(ts)
        - stirling_error(ms)
        - stirling_error(rs)
        + exponent
        + 0.5 * (np.log(ts / (ms * rs)) - _LOG_2PI)
    )
    return np.where(
        inner,
        body,
        np.where(m > 0, trials * log_p, trials * log_q),
    )


def log_pmf_at(m: float, trials: float, log_p: float, log_q: float) -> float:
    """Return `log_pmf` of one whole m: where a run starts, arrays of one element cost more."""
    rest = trials - m
    if m <= 0:
        return trials * log_q
    if rest <= 0:
        return trials * log_p
    p, q = math.exp(log_p), math.exp(log_q)
    if p > 1e-290 and q > 1e-290:
        exponent = -deviance_at(m, trials * p) - deviance_at(rest, trials * q)
    else:
        exponent = m * (log_p + math.log(trials / m)) + rest * (log_q + math.log(trials / rest))
    return (
        _stirling_error_at(trials)
        - _stirling_error_at(m)
        - _stirling_error_at(rest)
        + exponent
        + 0.5 * (math.log(trials / (m * rest)) - _LOG_2PI)
    )


def _stirling_error_at(m: float) -> float:
    if m < _SMALL:
        return float(_STIRLING_TABLE[int(m)])
    u = 1.0 / (m * m)
    return (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / m


def deviance_at(x: float, mean: float) -> float:
    """Return `deviance` of one number."""
    v = (x - mean) / mean
    if abs(v) >= 0.03:
        return mean * ((1 + v) * math.log1p(v) - v)
    terms = 0.0
    for j in range(10, 2, -1):
        terms = v * (1 / (j * (j - 1)) - terms)
    return mean * v * v * (1 / 2 - terms)


def log_half_pmf(m: FloatArray, trials: FloatArray) -> FloatArray:
    """Return ln Pr[Bin(trials, ½) = m] for whole 0 ≤ m < trials/2, broadcast together.

    With t = 1 − 2m/trials the two deviances are trials·[t·artanh t + ½ln(1−t²)], in which nothing
    cancels.
    """
    inner = m > 0
    ms = np.maximum(m, 1.0)
    rest = trials - ms
    t = np.where(inner, (trials - 2 * ms) / trials, 0.0)
    square = np.log1p(-t * t)
    body = (
        stirling_error(trials)
        - stirling_error(ms)
        - stirling_error(rest)
        - trials * (t * np.arctanh(t) + 0.5 * square)
        - 0.5 * (np.log(trials) + square - math.log(2 / math.pi))
    )
    return np.asarray(np.where(inner, body, -trials * math.log(2.0)))


def log_half_pmf_at(m: float, trials: float) -> float:
    """Return `log_half_pmf` of one m, as `log_pmf_at`."""
    if m <= 0:
        return -trials * math.log(2.0)
    rest, t = trials - m, (trials - 2 * m) / trials
    square = math.log1p(-t * t)
    return (
        _stirling_error_at(trials)
        - _stirling_error_at(m)
        - _stirling_error_at(rest)
        - trials * (t * math.atanh(t) + 0.5 * square)
        - 0.5 * (math.log(trials) + square - math.log(2 / math.pi))
    )


def log_pmf_run(first: float, last: float, trials: float, log_p: float, log_q: float) -> FloatArray:
    """Return ln Pr[Bin(trials, p) = m] for m = first, …, last: one logarithm each.

    Neighbours differ by the factor (trials−m)p/((m+1)q); the run starts from the exact value at
    its most likely member, so that rounding errors grow with the distance from there only.
    """
    m = np.arange(first, last)
    top = float(min(max(math.floor((trials + 1) * math.exp(log_p)), first), last))
    out = np.zeros(m.size + 1)
    np.cumsum(np.log((trials - m) / (m + 1)) + (log_p - log_q), out=out[1:])
    out += log_pmf_at(top, trials, log_p, log_q) - out[int(top - first)]
    return out


def relative_error(trials: float) -> float:
    """Return a bound on the relative error of these probabilities, 10 deviations out included."""
    return 1e-12 + 64 * math.sqrt(trials) * 2.0**-53


def logistic_log_p(eps0: float) -> tuple[float, float]:
    """Return ln p and ln(1−p) of p = 1/(e^ε₀+1)."""
    log_q = -math.log1p(math.exp(-eps0))
    return log_q - eps0, log_q


def mills_ratio(x: FloatArray) -> FloatArray:
    """Return Pr[Z > x]/φ(x) of a standard normal Z, for x ≥ 0."""
    flat = [
        # Beyond 25 the continued fraction x + 1/(x + 2/(x + 3/x)) has every digit.
        math.sqrt(math.pi / 2) * math.erfc(v / math.sqrt(2)) * math.exp(v * v / 2)
        if v < 25.0
        else 1 / (v + 1 / (v + 2 / (v + 3 / (v + 4 / v))))
        for v in x.ravel().tolist()
    ]
    return np.array(flat).reshape(x.shape)


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
    ½f_N(b+1). Where the tail grows towards smaller N the rounding errors do not.
    """
    out = np.empty(f.shape)
    out[:, :-1] = _steps(N, b, f)
    out[:, -1] = f[:, -1] * _left_ratio(N[:, -1], b[:, -1])
    back = out[:, ::-1]
    np.cumsum(back, axis=1, out=back)
    return out


def _steps(N: FloatArray, b: FloatArray, f: FloatArray) -> FloatArray:
    """Return by how much Pr[Bin(N, ½) ≤ b] falls from each column to the next."""
    here, trials = b[:, :-1], N[:, :-1]
    same = b[:, 1:] == here
    return np.asarray(0.5 * f[:, :-1] * np.where(same, 1.0, (here - trials) / (here + 1)))


def peaked_tail(N: FloatArray, b: FloatArray, f: FloatArray, high: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b] along rows of consecutive N up to `high`, where it may have a peak.

    As `running_tail`, from the tails at both ends: each is walked from where the tail grows. What
    is beyond `high` has no meaning.
    """
    steps, rows = _steps(N, b, f), np.arange(high.size)
    last = (high - N[:, 0]).astype(int)
    up, down = np.empty(f.shape), np.zeros(f.shape)
    up[:, 0] = f[:, 0] * _left_ratio(N[:, 0], b[:, 0])
    np.negative(steps, out=up[:, 1:])
    np.cumsum(up, axis=1, out=up)
    down[:, :-1] = np.where(N[:, :-1] < high[:, None], steps, 0.0)
    down[rows, last] = f[rows, last] * _left_ratio(high, b[rows, last])
    np.cumsum(down[:, ::-1], axis=1, out=down[:, ::-1])
    # Both err by the last digits of the largest value that they passed.
    rising = np.maximum.accumulate(up, axis=1)
    falling = np.maximum.accumulate(down[:, ::-1], axis=1)[:, ::-1]
    return np.where(rising < falling, up, down)


def _left_ratio(N: FloatArray, b: FloatArray) -> FloatArray:
    """Return Pr[Bin(N, ½) ≤ b]/Pr[Bin(N, ½) = b] for whole b < N/2: positive terms, all that count.

    Terms fall by b/(N−b+1) and ever faster; e^−42 further out the rest is nothing.
    """
    rate = np.log((N - b + 1) / np.maximum(b, 0.5))
    reach = np.minimum(np.minimum(42 / np.maximum(rate, 1e-9), np.sqrt(21 * N)), b)
    below = b[:, None] - np.arange(math.ceil(float(reach.max())) + 1)
    factors = np.maximum(below, 0.0) / (N[:, None] - below + 1)
    return np.asarray(1 + np.cumprod(factors, axis=1, out=factors).sum(axis=1))


Weight = Callable[[FloatArray], FloatArray]

DIRECT = 8192
"""Longest sum that is taken term by term."""
_NEGLIGIBLE = 50.0


@cache
def panels(number: int, nodes: int = 32) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1] of Gauss–Legendre on `number` equal panels."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    starts = np.arange(number)[:, np.newaxis]
    return (
        ((starts + (x + 1) / 2) / number).ravel(),
        np.tile(w / (2 * number), number),
    )


def reach(rate: float, variance: float) -> float:
    """Return after how many steps the terms beyond an edge have fallen by e^−50.

    Parameters
    ----------
    rate : float
        Logarithm of the ratio of the first two terms, ≥ 0.
    variance : float
        y(N−y)/N at the edge y; further out the terms fall faster by j²/2(variance + j).
    """
    bent = _NEGLIGIBLE + math.sqrt(_NEGLIGIBLE**2 + 2 * _NEGLIGIBLE * variance)
    return min(_NEGLIGIBLE / rate, bent) if rate > 0 else bent


def tail_sum(
    edge: float,
    step: int,
    trials: float,
    log_q: float,
    log_r: float,
    weight: Weight | None = None,
    log_scale: float = 0.0,
) -> float:
    """Return e^log_scale · Σ g(y)c(y) over y = edge, edge + step, … within [0, N].

    Parameters
    ----------
    edge : float
        A whole number on the far side of the mode, as seen from the tail that is summed.
    step : int
        +1 for an upper tail, −1 for a lower one.
    trials, log_q, log_r : float
        N, ln q and ln(1−q) of the law g.
    weight : callable, optional
        c(y) on arrays, not growing faster than y²; 1 if not given.
    log_scale : float
        Joined to the logarithm of g before anything can overflow or vanish.
    """
    if not 0 <= edge <= trials:
        return 0.0
    rest = trials - edge
    room = rest if step > 0 else edge
    if room == 0:
        rate = math.inf
    elif step > 0:
        rate = math.log((edge + 1) / rest) + log_r - log_q
    else:
        rate = math.log((rest + 1) / edge) + log_q - log_r
    count = min(math.ceil(reach(max(rate, 0.0), edge * rest / trials)), room)
    if count <= DIRECT:
        last = edge + step * count
        first, last = min(edge, last), max(edge, last)
        logs = log_pmf_run(first, last, trials, log_q, log_r) + log_scale
        weights = 1.0 if weight is None else weight(np.arange(first, last + 1))
        if log_scale > 600.0:
            with np.errstate(divide="ignore"):
                return float(np.exp(logs + np.log(np.maximum(weights, 0.0))).sum())
        return float((np.exp(logs) * weights).sum())

    def smooth(u: FloatArray) -> FloatArray:
        y = edge + step * u
        g = np.exp(log_pmf(y, trials, log_q, log_r) + log_scale)
        return g if weight is None else g * weight(y)

    # Midpoint rule read backwards: Σ F(j) = ∫ F from −½, plus F′(−½)/24, to 1e-11 and better
    # because F changes little within 150 steps.
    nodes, weights = panels(4)
    integral = (count + 1) * float(weights @ smooth(nodes * (count + 1) - 0.5))
    inside, outside = smooth(np.array([0.0, -1.0]))
    return float(integral + (inside - outside) / 24)


def upper_tail(threshold: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) ≥ t] for a whole t, with relative precision if it is below one half."""
    if threshold <= 0:
        return 1.0
    if threshold > trials or q == 0:
        return 0.0
    if q == 1:
        return 1.0
    log_q, log_r = math.log(q), math.log1p(-q)
    if threshold > trials * q:
        return min(1.0, tail_sum(threshold, 1, trials, log_q, log_r))
    return max(0.0, 1.0 - tail_sum(threshold - 1, -1, trials, log_q, log_r))


def lower_tail(threshold: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) ≤ t] for a whole t, with relative precision if it is below one half."""
    return (
        upper_tail(trials - threshold, trials, 1 - q) if q > 0.5 else _lower(threshold, trials, q)
    )


def _lower(threshold: float, trials: float, q: float) -> float:
    if threshold < 0:
        return 0.0
    if threshold >= trials or q == 0:
        return 1.0
    log_q, log_r = math.log(q), math.log1p(-q)
    if threshold < trials * q:
        return min(1.0, tail_sum(threshold, -1, trials, log_q, log_r))
    return max(0.0, 1.0 - tail_sum(threshold + 1, 1, trials, log_q, log_r))


def point(y: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) = y] for a whole y."""
    if not 0 <= y <= trials:
        return 0.0
    if q in (0.0, 1.0):
        return float(y == trials * q)
    return math.exp(log_pmf_at(y, trials, math.log(q), math.log1p(-q)))
