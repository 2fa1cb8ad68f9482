"""E[((U−V) − κ(U+V))_+] for U, V multinomial(total; p/2, p/2): the core of the exact hops.

With N = U+V ~ Bin(total, p): Σ_N P(N)·2·E[(λN − Bin(N,½))_+], λ = (1−κ)/2. All terms are positive.
The sum is centred where it is largest, N* = mean of Bin(total, p̃), p̃ = pe/(1−p+pe) with
pe = p·e^−KL, KL = KL((1+κ)/2‖½). What is left out is bounded and added, so that the result is an
upper bound that is exact to about 1e-10.
"""

import math
from typing import NamedTuple

import numpy as np

from explorer.privacy.core.binomial import (
    log_half_pmf,
    log_half_pmf_at,
    log_pmf_at,
    log_pmf_run,
)
from explorer.privacy.core.bound import FloatArray

_WIDTH = 9.0
_MARGIN = 40.0
_MAX_POINTS = 1 << 17
"""Wider windows are bounded in closed form."""
_MAX_CLONES = 1e10
"""So are more clones than this: one binomial tail would take too long."""
_MIN_LOG = -1800.0
"""Below this the logarithm is only bounded: e^800 times it has no double."""
_DIRECT_KAPPA = 0.3
"""Above this κ tails have few terms and are summed directly."""
_BATCH_SIZE = 32
"""So many of these terms are computed together."""
_MIN_RUN = 1000
"""Windows from this size on are filled by recurrence."""
_ROWS, _MAX_TOGETHER = 8, 4096
"""So many κ are summed together, over windows up to this width,"""
_MAX_SPAN, _MIN_GAP = 600.0, 1e-3
"""where no number overflows, and κ is not so near 1 that a difference of two sums loses digits."""
_ROUNDING = 2e-11
_ROUNDING_STEP = 1e-15
_CANCELLED = 3e-13
"""Added to the logarithm, the second for each step from the mode of N and unit of its log-ratio,
the third κ²N times, the digits that E[X_+] loses to a difference: several times all rounding errors
together (measured against 40 digits)."""


class MeanExcess(NamedTuple):
    """ln of the expectation.

    Attributes
    ----------
    log : float
        Upper bound, −∞ if κ ≥ 1.
    truncated : bool
        Whether it is a closed-form bound, too large by a few per cent at most (`log` by less than
        0.05), and not the sum.
    """

    log: float
    truncated: bool


class _Tilt(NamedTuple):
    """The law of N under weights e^−KL·N."""

    kl: float
    log_mass: float
    """ln Σ_N P(N)e^{−KL·N} = total·ln(1 − p + p·e^−KL)."""
    mean: float
    deviation: float
    q: float


class _Window(NamedTuple):
    """The N that are summed, and a bound on the others."""

    tilt: _Tilt
    low: float
    high: float
    log_outside: float
    steps: float
    """From the mode of N to the end, times a step's log-ratio; rounding grows with it."""


def log_mean_excess(
    total: float, log_p: float, log_q: float, kappa: float, log_gap: float
) -> MeanExcess:
    """Return ln E[((U−V) − κ(U+V))_+].

    Parameters
    ----------
    total : float
        Items, whole, in [1, 1e24].
    log_p, log_q : float
        ln p and ln(1−p); log_q may be −∞.
    kappa, log_gap : float
        κ in [0, 1] and ln(1−κ), given apart so that neither loses digits.
    """
    window = _window(total, log_p, log_q, kappa, log_gap)
    if isinstance(window, MeanExcess):
        return window
    inside = _sum(total, log_p, log_q, kappa, math.exp(log_gap), window)
    lost = kappa * kappa * window.high if kappa <= _DIRECT_KAPPA else 0.0
    rounding = _ROUNDING + _ROUNDING_STEP * window.steps + _CANCELLED * lost
    return MeanExcess(float(np.logaddexp(inside, window.log_outside)) + rounding, False)


def log_mean_excesses(
    total: float, log_p: FloatArray, log_q: FloatArray, kappa: FloatArray, log_gap: FloatArray
) -> FloatArray:
    """Return `log_mean_excess(...).log` of many κ, each at one or more p, in a tenth of the time.

    Upper bounds, exact to about 1e-8 of the expectation.

    Parameters
    ----------
    total : float
    log_p, log_q : ndarray, shape (R, C)
    kappa, log_gap : ndarray, shape (R,)
        In an order in which neighbours are alike.

    Returns
    -------
    ndarray, shape (R, C)
    """
    out = np.empty(log_p.shape)
    for start in range(0, len(kappa), _ROWS):
        cells: list[tuple[int, int, _Window]] = []
        for i in range(start, min(start + _ROWS, len(kappa))):
            for j in range(log_p.shape[1]):
                at = total, log_p[i, j], log_q[i, j], kappa[i], log_gap[i]
                window = _window(*map(float, at))
                if isinstance(window, MeanExcess):
                    out[i, j] = window.log
                else:
                    cells.append((i, j, window))
        if not cells:
            continue
        low, high = min(w.low for *_, w in cells), max(w.high for *_, w in cells)
        steep = max(w.tilt.kl for *_, w in cells) * (high - low) > _MAX_SPAN
        narrow = math.exp(min(log_gap[i] for i, *_ in cells)) < _MIN_GAP
        if steep or narrow or high - low > _MAX_TOGETHER or any(w.tilt.q == 0 for *_, w in cells):
            for i, j, _ in cells:
                at = total, log_p[i, j], log_q[i, j], kappa[i], log_gap[i]
                out[i, j] = log_mean_excess(*map(float, at)).log
            continue
        rows = sorted({i for i, *_ in cells})
        inside = _sums(total, low, high, rows, cells, log_p, log_q, kappa, log_gap)
        for (i, j, window), value in zip(cells, inside.tolist(), strict=True):
            # Steps are as many as the windows together are wide, and as many again to a mode.
            rounding = _ROUNDING + _ROUNDING_STEP * (high - low + window.steps)
            rounding += _CANCELLED * (kappa[i] ** 2 * high + math.exp(-log_gap[i]))
            out[i, j] = float(np.logaddexp(value, window.log_outside)) + rounding
    return out


def _window(
    total: float, log_p: float, log_q: float, kappa: float, log_gap: float
) -> "_Window | MeanExcess":
    """Return which N are to be summed, or the answer where none need be."""
    if log_gap == -math.inf:
        return MeanExcess(-math.inf, False)
    # The expectation at N is at most N times that at 1, so few clones need no sum.
    rare = math.log(total) + log_p + log_gap - math.log(2)
    if math.log(total) + log_p < -34.0:
        return MeanExcess(rare + _ROUNDING, False)
    if math.log(total) + log_gap <= math.log(2):
        # λN ≤ 1 for every N: only Bin(N, ½) = 0 counts, and E[N·2^−N] is known.
        rest = (total - 1) * math.log1p(-math.exp(log_p) / 2)
        return MeanExcess(rare + rest + _ROUNDING - _ROUNDING_STEP * rest * (1 - log_p), False)
    gap = math.exp(log_gap)
    tilt = _tilt(total, log_p, log_q, kappa)
    # Chernoff, for each N: E[X_+] ≤ E[e^{sX}]/(es), s = artanh κ; and E[X_+] ≤ √N/2 + … at κ = 0.
    cap = math.log(total) + math.log(gap)
    slope = 0.5 * math.log((1 + kappa) / gap)
    crude = tilt.log_mass + min(cap, -1.0 - math.log(slope) if slope > 0 else cap)
    if crude < _MIN_LOG:
        return MeanExcess(crude, False)
    reach = _WIDTH * tilt.deviation + _MARGIN
    low = max(1.0, math.floor(tilt.mean - reach))
    high = min(total, math.ceil(tilt.mean + reach))
    if high - low > _MAX_POINTS or high > _MAX_CLONES:
        return MeanExcess(min(crude, _closed_form(tilt, kappa)), True)
    outside = -math.inf
    if low > 1.0 or high < total:
        # Bernstein: both tails, tilted, are less than 2e^−40.
        far = reach * reach / (2 * (tilt.deviation**2 + reach / 3))
        outside = tilt.log_mass + cap + math.log(2) - far
    ratio = 1.0 + (abs(log_p - log_q) if log_q > -math.inf else 0.0)
    steps = (reach + abs(tilt.mean - total * math.exp(log_p))) * ratio
    return _Window(tilt, low, high, outside, steps)


def guess_log_mean_excess(
    total: float, log_p: float, log_q: float, kappa: float, log_gap: float
) -> float:
    """Return about `log_mean_excess`, in microseconds: a start for inversions, not a bound."""
    rare = math.log(total) + log_p + log_gap - math.log(2)
    if math.log(total) + log_p < 0.0 or log_gap < -200.0:
        return rare
    tilt = _tilt(total, log_p, log_q, kappa)
    if tilt.mean < 1.0 or kappa > 0.999:
        return min(tilt.log_mass, rare)
    return _closed_form(tilt, kappa, margin=False)


def _tilt(total: float, log_p: float, log_q: float, kappa: float) -> _Tilt:
    kl = binary_kl_to_half(kappa)
    p = math.exp(log_p)
    drop = p * -math.expm1(-kl)
    tilted = math.exp(log_p - kl)
    rest = math.exp(log_q)
    share = tilted / (rest + tilted)
    mean = total * share
    other = rest / (rest + tilted)
    # p = 1 exactly: log1p would have to compute ln(1 − 1·(1 − e^−KL)) = −KL.
    log_mass = total * (math.log1p(-drop) if rest > 0 else -kl)
    return _Tilt(kl, log_mass, mean, math.sqrt(mean * other), other)


def binary_kl_to_half(kappa: float) -> float:
    """Return KL((1+κ)/2‖½) = κ·artanh κ + ½ln(1−κ²), which has no cancellation for small κ."""
    if kappa < 1e-3:
        square = kappa * kappa
        return square / 2 * (1 + square / 6 * (1 + square * 2 / 5))
    if kappa >= 1.0:
        return math.log(2)
    return kappa * math.atanh(kappa) + 0.5 * math.log1p(-kappa * kappa)


def _sum(
    total: float,
    log_p: float,
    log_q: float,
    kappa: float,
    gap: float,
    window: _Window,
) -> float:
    tilt, low, high, *_ = window
    N = np.arange(low, high + 1)
    if log_q == -math.inf:
        N, log_weight = np.array([total]), np.zeros(1)
    else:
        log_weight = log_pmf_run(low, high, total, log_p, log_q)
    level = gap / 2
    b = np.maximum(np.ceil(N * level) - 1, 0.0)
    # Everything is scaled so that the middle of the window has no extreme numbers.
    centre = float(min(max(np.rint(tilt.mean), N[0]), N[-1]))
    log_f = log_half_pmf(b, N) if N.size < _MIN_RUN else _half_run(N, b, int(centre - N[0]))
    shift = centre * tilt.kl
    f = np.exp(log_f + shift)
    if kappa > _DIRECT_KAPPA:
        excess = _direct(N, b, f, level, kappa)
    else:
        tail = _tails(N, b, f, shift)
        excess = 0.5 * (N - b) * f - (0.5 * kappa) * N * tail
    with np.errstate(divide="ignore"):
        terms = log_weight + np.log(np.maximum(excess, 0.0))
    top = float(terms.max())
    if top == -math.inf:
        return -math.inf
    return top + math.log(float(np.exp(terms - top).sum())) - shift + math.log(2.0)


def _sums(
    total: float,
    low: float,
    high: float,
    rows: list[int],
    cells: "list[tuple[int, int, _Window]]",
    log_p: FloatArray,
    log_q: FloatArray,
    kappas: FloatArray,
    log_gaps: FloatArray,
) -> FloatArray:
    """Return ln of the sum over N = low, …, high in every cell, as `_sum` does in one.

    What depends on κ alone is computed once a row, and the weights' ratios once.
    """
    N = np.arange(low, high + 1)
    kappa, gap = kappas[rows][:, None], np.exp(log_gaps[rows])[:, None]
    b = np.maximum(np.ceil(N * (gap / 2)) - 1, 0.0)
    centres = {i: (min(max(round(w.tilt.mean), low), high), w.tilt.kl) for i, _, w in cells}
    shift = np.array([centre * kl for centre, kl in map(centres.__getitem__, rows)])[:, None]
    # From the smallest N on each is a product, b rising by 0 or 1 as in `_half_run`.
    here, lower = b[:, :-1], b[:, 1:]
    stays = lower == here
    f = np.empty(b.shape)
    first = [log_half_pmf_at(at, low) for at in b[:, 0].tolist()]
    np.exp(first + shift[:, 0], out=f[:, 0])
    np.divide(0.5 * N[1:], np.where(stays, N[1:] - lower, lower), out=f[:, 1:])
    np.cumprod(f, axis=1, out=f)
    # The tail at the largest N, to e^−45 of itself or nine and a half deviations.
    at = b[:, -1:]
    reach = np.minimum(22.5 / np.maximum(np.arctanh(kappa), 1e-9), 4.8 * math.sqrt(high) + 2)
    below = np.arange(min(math.ceil(float(reach.max())), int(at.max())))
    ratios = np.maximum(at - below, 0.0) / (high - at + below + 1)
    edge = f[:, -1:] * (1 + np.cumprod(ratios, axis=1).sum(axis=1, keepdims=True))
    change = np.where(stays, 0.5, -0.5 * (N[:-1] - here) / (here + 1)) * f[:, :-1]
    tail = np.concatenate([edge + np.cumsum(change[:, ::-1], axis=1)[:, ::-1], edge], axis=1)
    with np.errstate(divide="ignore"):
        excess = np.log(np.maximum(0.5 * (N - b) * f - (0.5 * kappa) * N * tail, 0.0))
    runs = np.zeros(N.size)
    np.cumsum(np.log((total - N[:-1]) / N[1:]), out=runs[1:])
    lines = []
    for i, j, _ in cells:
        log_ps = float(log_p[i, j]), float(log_q[i, j])
        top = min(max(math.floor((total + 1) * math.exp(log_ps[0])), low), high)
        steps, slope = int(top - low), log_ps[0] - log_ps[1]
        lines.append((log_pmf_at(top, total, *log_ps) - float(runs[steps]) - steps * slope, slope))
    start, slopes = np.array(lines).T[..., None]
    own = [rows.index(i) for i, *_ in cells]
    terms = runs + (N - low) * slopes + start + excess[own]
    highest = terms.max(axis=1)
    sums = np.log(np.exp(terms - highest[:, None]).sum(axis=1))
    return np.asarray(highest + sums - shift[own, 0] + math.log(2.0))


def _half_run(N: FloatArray, b: FloatArray, anchor: int) -> FloatArray:
    """Return ln Pr[Bin(N, ½) = b] along consecutive N, b ≥ 1 rising by 0 or 1: a logarithm each."""
    trials, lower = N[1:], b[1:]
    steps = np.log(0.5 * trials / np.where(lower == b[:-1], trials - lower, lower))
    out = np.concatenate([[0.0], np.cumsum(steps)])
    exact = log_half_pmf_at(float(b[anchor]), float(N[anchor]))
    return np.asarray(out + (exact - out[anchor]))


def _direct(N: FloatArray, b: FloatArray, f: FloatArray, level: float, kappa: float) -> FloatArray:
    """Σ_{i≤b} (λN − i)·f(i), downwards from b; neighbours have ratio below (1−κ)/(1+κ)."""
    term, excess = f, (N * level - b) * f
    steps = min(math.ceil(45.0 / math.log((1 + kappa) / (2 * level))), int(b.max()))
    for start in range(0, steps, _BATCH_SIZE):
        below = np.maximum(b - np.arange(start, min(start + _BATCH_SIZE, steps))[:, None], 0.0)
        terms = term * np.cumprod(below / (N - below + 1), axis=0)
        excess = excess + ((N * level - below + 1) * terms).sum(axis=0)
        term = terms[-1]
    return np.asarray(excess)


def _tails(N: FloatArray, b: FloatArray, f: FloatArray, shift: float) -> FloatArray:
    """Pr[Bin(N, ½) ≤ b]·e^shift along consecutive N, from one tail at the largest N.

    Pr[Bin(N+1) ≤ b] = Pr[Bin(N) ≤ b] − ½f_N(b) and Pr[Bin(N+1) ≤ b+1] = Pr[Bin(N) ≤ b] +
    ½f_N(b+1). Towards smaller N the tail grows, and rounding errors do not.
    """
    last, at = float(N[-1]), float(b[-1])
    deviation = math.sqrt(last) / 2
    z = (last / 2 - at) / deviation
    floor = max(0.0, math.floor(last / 2 - deviation * math.sqrt(z * z + 90.0) - 2.0))
    grid = np.arange(floor, at + 1)
    edge = float(np.exp(log_half_pmf(grid, np.full(grid.shape, last)) + shift).sum())
    here, f_here = b[:-1], f[:-1]
    change = np.where(b[1:] == here, 0.5 * f_here, -0.5 * f_here * (N[:-1] - here) / (here + 1))
    return np.concatenate([edge + np.cumsum(change[::-1])[::-1], [edge]])


def _closed_form(tilt: _Tilt, kappa: float, *, margin: bool = True) -> float:
    """Ln of an upper bound for tilted means of 1e8 and more.

    Tilting Bin(N, ½) to Bin(N, (1+κ)/2) leaves e^{−KL·N}·E[X·e^{−sX}; X > 0], s = artanh κ, X on a
    lattice of step 2 with mean 0 and variance σ² = N(1−κ²). There Pr[X = x] ≤ (2/σ√2π)·e^{−x²/2σ²}
    up to the factor √(θ(1−θ)/ρ(1−ρ))e^{1/12N} at ρ = θ + x/2N, because KL(ρ‖θ) ≥
    (ρ−θ)²/(2θ(1−θ)) for ρ > θ ≥ ½. A unimodal sum exceeds its integral by one step times its
    largest term: σ·[1/√2π − y·e^{y²/2}Φ(−y)], y = sσ, plus 4/(σ√2π)·max x·e^{−sx−x²/2σ²}.
    """
    from scipy.special import erfcx

    s = math.atanh(min(kappa, 1 - 1e-16))
    sigma = math.sqrt(tilt.mean * (1 - kappa) * (1 + kappa))
    y = s * sigma
    if y < 50.0:
        body = 1 - y * math.sqrt(math.pi / 2) * float(erfcx(y / math.sqrt(2)))
    else:
        u = 1 / (y * y)
        body = u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u)))
    value = sigma / math.sqrt(2 * math.pi) * body
    if not margin:
        return tilt.log_mass + math.log(value)
    peak = sigma * (math.sqrt(y * y + 4) - y) / 2
    value += 4 / (sigma * math.sqrt(2 * math.pi)) * peak * math.exp(-s * peak)
    # N is within this of its mean but for e^−1000 of the mass (Bernstein), and the bracket changes
    # by at most a factor √(N/N*) either way; x is within 60σ likewise.
    drift = (45 * tilt.deviation + 2000) / tilt.mean
    theta, rho = (1 + kappa) / 2, (1 + kappa) / 2 + 30 * sigma / tilt.mean
    rest = math.log(theta * (1 - theta)) - math.log(rho * (1 - rho))
    factor = -0.5 * math.log1p(-drift) + 0.5 * max(rest, 0.0) + 1 / tilt.mean
    return tilt.log_mass + math.log(value) + factor + 1e-9
