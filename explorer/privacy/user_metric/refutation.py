"""Lower bounds on the δ of item-wise release, from a mechanism that attains them.

Three items x, y (a distance d apart) and z (1 from both), answers +, − and ⊥. z answers + and −
with p/2 each, x with (1−η)s and (1−η)(1−s), y the other way round; s = 1/(1+e^{−α₀d}), η =
(1−p)e^{−α₀}, p = 2se^{−α₀}(1−e^{−α₀})/(1−2se^{−2α₀}): α₀·d-private ratio by ratio. One user has j
items at x or at y, the rest and those of all other users are at z. T = #+ − #− then has laws P and
Q, Q the mirror image of P, and

    δ ≥ Σ_T (P(T) − e^{αjd/m}P(−T))_+

for whatever (α, δ) is claimed with nothing known but α₀, m, n and the diameter (specification
"Better than e^α", III). It says nothing of one's own space or mechanism.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.hops import group_arguments, near_and_far

_ROUNDING = 1e-15


@dataclass(frozen=True)
class Counts:
    """The law of T: j answers for x and `others` for z."""

    moved: float
    others: float
    p: float
    eta: float
    lean: float
    """2s − 1 = tanh(α₀d/2)."""
    rest: float
    """1 − lean, with all its digits."""

    @classmethod
    def of(cls, alpha0: float, d: float, moved: float, others: float) -> "Counts":
        """Return the law at α₀ and a distance d of x and y."""
        a = alpha0 * d
        lean, rest = math.tanh(a / 2), 2 * math.exp(-a) / (1 + math.exp(-a))
        if others == 0:
            return cls(moved, 0.0, 0.0, 0.0, lean, rest)
        near = math.exp(-alpha0)
        # 2s = 1 + tanh(a/2).
        p = (1 + lean) * near * -math.expm1(-alpha0) / (1 - (1 + lean) * near * near)
        p = min(p, 1.0)
        return cls(moved, others, p, (1 - p) * near, lean, rest)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return K, K′ and K″ of T at a tilt."""
        ch, sh = math.cosh(tilt), math.sinh(tilt)
        rise = 2 * math.sinh(tilt / 2) ** 2
        f = (1 - self.eta) * (rise + self.lean * sh)
        g = self.p * rise
        up, down, whole = self._whole(tilt)
        f1, g1 = (1 - self.eta) * (up - down), self.p * sh
        f2, g2 = (1 - self.eta) * (up + down), self.p * ch
        first = self.moved * f1 / whole + self.others * g1 / (1 + g)
        second = self.moved * (f2 / whole - (f1 / whole) ** 2)
        second += self.others * (g2 / (1 + g) - (g1 / (1 + g)) ** 2)
        # Far out 1 + f itself would cancel.
        moved = math.log1p(f) if f > -0.5 and abs(tilt) < 1 else math.log(whole)
        value = self.moved * moved + self.others * math.log1p(g)
        return value, first, max(second, 0.0)

    def _whole(self, tilt: float, mirrored: bool = False) -> tuple[float, float, float]:
        """Return the weights of + and − of a moved item at a tilt, and of all its answers."""
        side = -tilt if mirrored else tilt
        up, down = (1 + self.lean) / 2 * math.exp(side), self.rest / 2 * math.exp(-side)
        if mirrored:
            up, down = down, up
        return up, down, self.eta + (1 - self.eta) * (up + down) + 1e-300

    def tilted(
        self, tilt: float, start: int, size: int, mirrored: bool
    ) -> tuple[FloatArray, float]:
        """Return the tilted probabilities of T from `start` on, or of −T, and by how much they err.

        Probabilities outside the window come back into it.
        """
        ch, sh = math.cosh(tilt), math.sinh(tilt)
        omega = 2 * np.pi * np.arange(self._frequencies(tilt, size)) / size
        real, imag = -2 * np.sin(omega / 2) ** 2, np.sin(omega)
        rise = 2 * math.sinh(tilt / 2) ** 2
        up, down, f = self._whole(tilt, mirrored)
        g = 1 + self.p * rise
        moved = (1 - self.eta) * ((up + down) * real + 1j * (up - down) * imag) / f
        others = self.p * (ch * real + 1j * sh * imag) / g
        log_phi = self.moved * _log1p(moved) + self.others * _log1p(others)
        turned = np.exp(np.conj(log_phi) + 1j * np.mod(omega * start, 2 * np.pi))
        law: FloatArray = np.fft.irfft(turned, size)
        # Angles reach π times these and have as many digits; the transform loses fewer.
        error = _ROUNDING * (100 + self.moved + abs(start) + size)
        return law, error * 2 * float(np.abs(turned).mean()) * turned.size / size + 1e-30

    def _frequencies(self, tilt: float, size: int) -> int:
        """Return how many of the transform's frequencies there are up to the last above e^−45."""
        stride = max(size // 2048, 1)
        omega = 2 * np.pi * np.arange(0, size // 2 + 1, stride) / size
        g = 1 + 2 * self.p * math.sinh(tilt / 2) ** 2
        step = -2 * np.sin(omega / 2) ** 2 * math.cosh(tilt) + 1j * math.sinh(tilt) * np.sin(omega)
        there = np.flatnonzero(self.others * _log1p(self.p * step / g).real >= -45)
        return min((int(there[-1]) + 1) * stride, size // 2) + 1


def _log1p(u: Any) -> Any:
    """ln(1+u) of complex u; numpy's loses the digits of a small one."""
    a, b = u.real, u.imag
    with np.errstate(divide="ignore"):
        return 0.5 * np.log1p(2 * a + a * a + b * b) + 1j * np.arctan2(b, 1 + a)


_MAX_WINDOW = 1 << 18
"""Longer laws are not summed: nothing is refuted then."""
_SHARES = np.geomspace(1e-3, 1.0, 61)
"""Ways w among which the worst is searched."""


def refuting_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike,
    distance: ArrayLike,
    moved: ArrayLike,
) -> Any:
    """Return a δ that (α, δ) of item-wise release at α₀ can't be below: one pair of data sets.

    Rounded down; 0 where the pair shows nothing.

    Parameters
    ----------
    alpha, alpha0 : array of float
        In [0, 800].
    m, n : array of float
        Items of every user, and users, as in `group_delta`.
    distance : array of float
        d in [0, 1].
    moved : array of float
        j, whole, in [1, m].

    References
    ----------
    Specification "Better than e^α", (III).
    """
    j = checks.integers("moved", moved, 1, checks.MAX_COUNT)
    items = checks.integers("m", m, 1, checks.MAX_COUNT)
    return vectorised(_delta)(
        checks.reals("alpha", alpha, 0.0, MAX_ALPHA),
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON),
        items,
        checks.integers("n", n, 1, checks.MAX_COUNT),
        near_and_far(distance, 1.0)[0],
        checks.at_most("moved", j, "m", items)[0],
    )


def _delta(alpha: float, alpha0: float, m: float, n: float, d: float, moved: float) -> float:
    counts = Counts.of(alpha0, d, moved, m * n - moved)
    epsilon = alpha * moved * d / m
    edge = _edge(counts, epsilon)
    if edge is None:
        return 0.0
    # Each law is tilted to where it matters, so that neither drowns in the other's rounding.
    tilt, tilt_q = max(_tilt_to(counts, edge), 0.0), -_tilt_to(counts, -edge)
    log_p, mean, variance = counts.cumulants(tilt)
    log_q, mean_q, variance_q = counts.cumulants(-tilt_q)
    low, high = min(mean, -mean_q), max(mean, -mean_q)
    # Both laws lie in the window but for 2e^−84 (Bernstein).
    reach = 13 * math.sqrt(max(variance, variance_q)) + 60
    size = _even_length(math.ceil(high - low + 2 * reach + 2))
    if size > _MAX_WINDOW:
        return 0.0
    start = round((low + high) / 2) - size // 2
    p, error_p = counts.tilted(tilt, start, size, mirrored=False)
    q, error_q = counts.tilted(tilt_q, start, size, mirrored=True)
    at = np.arange(start, start + size)
    turned = (tilt_q - tilt) * at
    rounding = 100 + moved * (1 + tilt + tilt_q) + epsilon + abs(log_p) + abs(log_q)
    ratio = epsilon + log_q - log_p - turned + _ROUNDING * (rounding + np.abs(turned))
    weight = np.exp(np.minimum(ratio, 700.0))
    surplus = p - error_p - weight * (q + error_q)
    positive = np.flatnonzero(surplus > 0)
    if not positive.size:
        return 0.0
    first = float(at[positive[0]])
    value = float((surplus[positive] * np.exp(-tilt * (at[positive] - first))).sum())
    log_value = math.log(value) + log_p - tilt * first
    rounding = 1e-11 + _ROUNDING * (rounding + abs(tilt * first))
    return min(math.exp(log_value - rounding), 1.0) if log_value > -700 else 0.0


def _even_length(least: int) -> int:
    """Return an even length of quick transforms, little longer than this."""
    from scipy.fft import next_fast_len

    return 2 * int(next_fast_len((least + 1) // 2, real=True))


def _edge(counts: Counts, epsilon: float) -> int | None:
    """Return about the least T with P(T) > e^ε·P(−T); None if there is none."""
    total = counts.moved + counts.others
    # A saddle point of P at T is one of Q at −T: the log-ratio in terms of both tilts.
    low, high = 0.0, total * (1 - 1e-9)
    mine = other = 0.0

    def ratio(t: float) -> tuple[float, float]:
        """Return about ln P(t)/P(−t), and its slope."""
        nonlocal mine, other
        mine, other = _tilt_to(counts, t, mine), _tilt_to(counts, -t, other)
        here, there = counts.cumulants(mine)[0], counts.cumulants(other)[0]
        return here - mine * t - (there + other * t), -mine - other

    if ratio(high)[0] <= epsilon:
        # Only the very ends may be left.
        return (
            None
            if counts.moved * math.log((1 + counts.lean) / max(counts.rest, 1e-300)) <= epsilon
            else (math.floor(total))
        )
    t, mine, other = 0.5 * high, 0.0, 0.0
    for _ in range(60):
        value, slope = ratio(t)
        low, high = (t, high) if value < epsilon else (low, t)
        step = (epsilon - value) / slope if slope > 0 else math.inf
        t = t + step if low < t + step < high else (low + high) / 2
        if high - low < 0.25 or abs(step) < 0.25:
            break
    return math.ceil(t)


def _tilt_to(counts: Counts, mean: float, tilt: float = 0.0) -> float:
    """Return the tilt under which T has this mean, searched from another tilt on."""
    low, high = -40.0, 40.0
    for _ in range(60):
        _, at, slope = counts.cumulants(tilt)
        if at < mean:
            low = tilt
        else:
            high = tilt
        if abs(at - mean) <= 1e-9 * (1 + abs(mean)):
            break
        step = tilt + (mean - at) / slope if slope > 0 else math.nan
        tilt = step if low < step < high else (low + high) / 2
    return tilt


def refuted_alpha0(
    alpha: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
) -> Any:
    """Return an α₀ from which on no accountant can certify (α, δ), the least that was found.

    Infinite where none was. Parameters as in `group_alpha0`; some 1e-4 above the pair's root.
    """

    def solve(alpha: float, target: float, m: float, n: float, near: float) -> float:
        def excess(x: float, way: tuple[float, float]) -> float:
            return _log(_delta(alpha, math.exp(x), m, n, *way)) - math.log(target)

        low, high = math.log(max(alpha / m, 1e-12)), math.log(50.0 + alpha / m)
        return math.exp(_best(excess, _Rough(m, n, near, alpha=alpha), target, low, high))

    return vectorised(solve)(*_check(alpha, delta, m, n, min_distance))


def refuted_alpha(
    alpha0: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
) -> Any:
    """Return an α that item-wise release at α₀ can't be (α, δ)-private for, the largest found.

    Neither for any smaller one. 0 where there is none. Parameters as in `group_alpha`.
    """

    def solve(alpha0: float, target: float, m: float, n: float, near: float) -> float:
        # −ln α, so that the excess rises.
        def excess(x: float, way: tuple[float, float]) -> float:
            return _log(_delta(math.exp(-x), alpha0, m, n, *way)) - math.log(target)

        if alpha0 == 0.0:
            return 0.0
        low, high = -math.log(min(m * alpha0, MAX_ALPHA)), 30.0
        return math.exp(-_best(excess, _Rough(m, n, near, alpha0=alpha0), target, low, high))

    return vectorised(solve)(*_check(alpha0, delta, m, n, min_distance))


def refuted_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
) -> Any:
    """Return the largest `refuting_delta` found over distances and numbers of items moved."""

    def solve(alpha: float, alpha0: float, m: float, n: float, near: float) -> float:
        rough = _Rough(m, n, near, alpha=alpha, alpha0=alpha0)
        best = int(np.argmax(rough.log_delta(0.0)))
        places = [i for i in range(best - 6, best + 7, 3) if 0 <= i < rough.d.size]
        return max(_delta(alpha, alpha0, m, n, *rough.way(i)) for i in places)

    ones = np.ones(())
    alphas, _, *others = _check(alpha, ones, m, n, min_distance)
    return vectorised(solve)(
        alphas, checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON), *others
    )


class _Rough:
    """About ln δ of every way w, by a normal law of T, with α = e^−x or α₀ = e^x left open."""

    def __init__(
        self, m: float, n: float, near: float, *, alpha: float = math.nan, alpha0: float = math.nan
    ) -> None:
        self.m, self.total, self.alpha, self.alpha0 = m, m * n, alpha, alpha0
        # The longer way that many items go costs as much as they show: few go only where the
        # shortest there is must be gone.
        far = np.maximum(_SHARES, near)
        ways = {
            (max(round(m * float(w / d)), 1.0), float(d)) for w, d in zip(_SHARES, far, strict=True)
        }
        self.moved, self.d = np.array(sorted(ways)).T

    def way(self, i: int) -> tuple[float, float]:
        """Return d and j of a way."""
        return float(self.d[i]), float(self.moved[i])

    def log_delta(self, x: float) -> FloatArray:
        """Return about ln δ of all ways."""
        from scipy.special import log_ndtr

        alpha = math.exp(-x) if math.isnan(self.alpha) else self.alpha
        alpha0 = math.exp(x) if math.isnan(self.alpha0) else self.alpha0
        lean = np.tanh(alpha0 * self.d / 2)
        others = self.total - self.moved
        near = math.exp(-alpha0)
        p = (1 + lean) * near * -math.expm1(-alpha0) / (1 - (1 + lean) * near * near)
        p = np.where(others > 0, np.minimum(p, 1.0), 0.0)
        seen = 1 - np.where(others > 0, (1 - p) * near, 0.0)
        mean = self.moved * seen * lean
        deviation = np.sqrt(others * p + self.moved * (seen - (seen * lean) ** 2) + 1e-12)
        gap = np.maximum(2 * mean / deviation, 1e-12)
        epsilon = alpha * self.moved * self.d / self.m
        up = log_ndtr(gap / 2 - epsilon / gap)
        down = np.minimum(epsilon + log_ndtr(-gap / 2 - epsilon / gap), up - 1e-12)
        with np.errstate(divide="ignore"):
            return np.asarray(up + np.log(-np.expm1(down - up)))


def _best(
    excess: Callable[..., float],
    rough: _Rough,
    target: float,
    low: float,
    high: float,
) -> float:
    """Return an x at which a way's δ is above its target, about the least; ∞ if none was found."""
    log_target = math.log(target)
    a, b = low, high
    for _ in range(40):
        middle = (a + b) / 2
        a, b = (middle, b) if rough.log_delta(middle).max() < log_target else (a, middle)
    best = int(np.argmax(rough.log_delta(b)))

    def above(i: int, start: float, end: float) -> float:
        slope = float((rough.log_delta(start + 1e-3) - rough.log_delta(start - 1e-3))[i]) / 2e-3
        return _above(partial(excess, way=rough.way(i)), low, start, end, slope)

    root = above(best, b, high)
    if math.isinf(root) or excess(root, rough.way(best)) > 0.1:
        # Not the target but what can be summed is the limit, which is another for every way.
        for step in (8, 4, 2, 1):
            for i in (best - step, best + step):
                if not 0 <= i < rough.d.size:
                    continue
                if math.isinf(root) or excess(root - 1e-4, rough.way(i)) > 0:
                    root = min(root, above(i, *((b, high) if math.isinf(root) else (root,) * 2)))
                    best = i
        return root
    # Ways in order have one best: what is exact beside what is rough changes little between them.
    for _ in range(6):
        at = rough.log_delta(root)
        near = [i for step in (-6, -2, 0, 2, 6) if 0 <= (i := best + step) < rough.d.size]
        apart = np.array([excess(root, rough.way(i)) for i in near]) - at[near]
        finite, reach = np.isfinite(apart), range(near[0], near[-1] + 1)
        if not finite.any():
            break
        exact = at[reach] + np.interp(reach, np.array(near)[finite], apart[finite])
        better = reach[int(np.argmax(exact))]
        lower = math.inf if better == best else above(better, root, root)
        if not lower < root:
            break
        root, best = lower, better
    return root


def _above(
    function: Callable[[float], float], low: float, start: float, high: float, slope: float
) -> float:
    """Return a point with function > 0 within some 1e-4 above its root; ∞ if there is none.

    `slope` is about the function's.
    """
    x, step = min(max(start, low), high), 0.02
    value = function(x)
    below, above = (x, math.inf) if value <= 0 else (low, x)
    last = (math.nan, math.nan)
    for _ in range(40):
        if (math.isfinite(above) and above - below < 1e-4) or 0 < value < 0.01:
            break
        if math.isfinite(value - last[1]) and x != last[0]:
            slope = (value - last[1]) / (x - last[0])
        last = (x, value)
        new = x - (value - 0.003) / slope if slope > 0 and math.isfinite(value) else math.nan
        if not below < new < above:
            step *= 2
            new = x + step if math.isinf(above) else max(x - step, (below + above) / 2)
        if new > high:
            if below >= high:
                break
            new = high
        x = new
        value = function(x)
        above, below = (x, below) if value > 0 else (above, x)
    return above


def _check(
    alpha: ArrayLike, delta: ArrayLike, m: ArrayLike, n: ArrayLike, min_distance: ArrayLike
) -> list[FloatArray]:
    first, _, items, users, near, _ = group_arguments(alpha, 0.0, m, n, min_distance, 1.0)
    return [first, checks.delta(delta), items, users, near]


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
