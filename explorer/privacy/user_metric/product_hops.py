"""Items all of which are one distance apart: the hops of a user side by side.

k changed items: deal the mn − k unchanged ones into k groups of M = ⌊(mn−k)/k⌋. Shuffling all
answers is a function of k separate shuffles, so the divergence is at most that of k *independent*
hops with M others each. Of one hop N clones are seen, N − 1 ~ Bin(M, p), and U of them on one
side: U | N ~ Bin(N, ½) weighted by 1 ± t·r, r = (2U−N)/N, t = tanh(α₀/2), p = 2/(e^α₀+1). Its
privacy loss 2·artanh(t·r) is rounded up to a lattice and added up k times by Fourier transform.
δ_k ≤ δ' is needed at ε = αk/m for every k ≤ m (specification "Better than e^α", II).

**The best that is proved here of item-wise release: the largest α₀, or the least α, of all ways.**
All are proofs about one mechanism, so that the best of their numbers holds: exact hops with the
stronger clones (`group_alpha0`), the same in increasing order, and for 0/1 distances hops side by
side (`product_alpha0`).

References
----------
Our proofs on Lemma B.1 of Imola, Roy Chowdhury & Chaudhuri, "Metric Differential Privacy at the
User-Level via the Earth Mover's Distance"; specification "Better than e^α", I and II, and
"Monotone envelope", which says why the largest may be taken.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.core.composition import LossSums
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.group_calibration import group_alpha, group_alpha0

_CLASSES_PER_DEVIATION = 12
"""Numbers of clones told apart in a deviation: fewer only show more."""

_LATTICE = 4096
"""Steps of the lattice over the losses of a hop when nothing else is known."""
_MAX_LATTICE = 1 << 17
_MAX_WINDOW = 1 << 18
_MAX_CLONES, _MAX_ITEMS = 4e3, 2000
"""With more clones a hop, or more items a user, the sums take too long: m·α₀ is returned."""
_FINE = 0.004
"""A step of the lattice, as a share of a hop's privacy loss."""
_MAX_DEPTH = 25.0
"""Largest α₀ of a hop whose loss is added up: 1 − tanh(α₀/2) loses its digits beyond, where there
are no clones to speak of."""
_SLACK = 1e-3
"""Relative; numbers of hops are not told apart more finely."""
PRODUCT_ITEMS = 30
"""Most items of a user whose hops are added up side by side in interactive use."""


class _Hop(NamedTuple):
    """The privacy loss of one hop on a lattice, rounded up: `mass[i]` at step·(first + i)."""

    step: float
    first: int
    mass: FloatArray

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return K, K′ and K″ of the loss at a tilt."""
        loss = self.loss
        exponent = tilt * loss
        top = float(exponent.max())
        weight = self.mass * np.exp(exponent - top)
        total = float(weight.sum())
        mean = float(weight @ loss) / total
        return top + math.log(total), mean, float(weight @ (loss - mean) ** 2) / total

    @property
    def loss(self) -> FloatArray:
        return np.asarray(self.step * (self.first + np.arange(self.mass.size)), dtype=float)


def _hop(others: float, p: float, t: float, step: float) -> _Hop:
    """Return the loss of one hop among so many others."""
    top = math.log1p(t) - math.log1p(-t)
    first, last = -math.ceil(top / step), math.ceil(top / step)
    deviation = math.sqrt(others * p * (1 - p))
    reach = 13 * deviation + 60
    low = max(math.floor(others * p - reach), 0)
    high = min(math.ceil(others * p + reach), int(others))
    counts = np.arange(low, high + 1.0)
    weight = (
        np.exp(log_pmf(counts, others, math.log(p), math.log1p(-p)))
        if p < 1
        else ((counts == others).astype(float))
    )
    # Numbers of clones are told apart to a twelfth of their deviation, rounded down.
    each = max(1, int(deviation / _CLASSES_PER_DEVIATION))
    starts = np.arange(0, counts.size, each)
    clones = counts[starts] + 1
    likely = np.add.reduceat(weight, starts)
    # Hoeffding: e^−72 of it lies outside.
    width = np.ceil(6 * np.sqrt(clones)) + 1
    lowest = np.maximum(0.0, np.floor(clones / 2 - width))
    sizes = (np.minimum(clones, np.ceil(clones / 2 + width)) - lowest + 1).astype(int)
    which = np.repeat(np.arange(clones.size), sizes)
    u = lowest[which] + np.arange(which.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tr = t * (2 * u - clones[which]) / clones[which]
    log_half = -math.log(2)
    masses = likely[which] * np.exp(log_pmf(u, clones[which], log_half, log_half)) * (1 + tr)
    loss = np.log1p(tr) - np.log1p(-tr)
    at = np.minimum(np.ceil(loss / step - 1e-12).astype(int) - first, last - first)
    mass: FloatArray = np.asarray(np.bincount(at, masses, last - first + 1), dtype=float)
    # Rounding is relative; what was left out is put where it counts most.
    mass *= 1 + 1e-11
    mass[-1] += math.exp(-69)
    return _Hop(step, first, mass)


def _sums(hop: _Hop, k: int, tilt: float) -> LossSums | None:
    """Return the loss of k independent hops, no less than it is, sharp where a tilt has its mean.

    None if that would take too long.
    """
    value, mean, variance = hop.cumulants(tilt)
    spread = math.sqrt(k * variance)
    top = hop.step * (hop.first + hop.mass.size - 1)
    # Chernoff: what lies above or below the window, tilted, is less than e^−37 of all.
    size = 64
    while True:
        reach = size * hop.step / 2
        outside = (
            max(
                min(
                    k * (hop.cumulants(tilt + s / spread)[0] - value)
                    - s / spread * (k * mean + reach)
                    for s in (4.0, 8.0, 12.0)
                ),
                min(
                    k * (hop.cumulants(tilt - s / spread)[0] - value)
                    + s / spread * (k * mean - reach)
                    for s in (4.0, 8.0, 12.0)
                ),
            )
            if spread > 0
            else -math.inf
        )
        if outside < -37 or size * hop.step > 2 * k * hop.mass.size * hop.step:
            break
        size *= 2
        if size > _MAX_WINDOW:
            return None
    tilted = hop.mass * np.exp(tilt * hop.loss - value)
    places = np.arange(hop.first, hop.first + hop.mass.size) % size
    phi = np.fft.rfft(np.bincount(places, tilted, size)) ** k
    law = np.fft.irfft(phi, size)
    error = 1e-15 * (100 + 4 * k) * 2 * float(np.abs(phi).mean()) + math.exp(-36)
    start = round(k * mean / hop.step) - size // 2
    at = np.arange(start, start + size)
    inside = at <= k * (hop.first + hop.mass.size - 1)
    loss = hop.step * at[inside]
    log_mass = k * value - tilt * loss + np.log(np.maximum(law[at[inside] % size], 0.0) + error)
    # Beyond the window: at most what Markov's inequality leaves at its end.
    beyond = k * value - tilt * (loss[-1] + hop.step) + math.log(error)
    loss = np.append(loss, max(k * top, loss[-1] + hop.step))[::-1]
    log_mass = np.append(log_mass, beyond)[::-1]
    return LossSums(
        np.asarray(loss, dtype=float), np.asarray(log_mass, dtype=float), 1e-12, 2e-15 * loss[0]
    )


def product_of_hops_delta(
    k: ArrayLike, epsilon: ArrayLike, others: ArrayLike, p: ArrayLike, t: ArrayLike
) -> Any:
    """Return δ at ε of k independent hops with so many others each; rounded up, by about 1e-3.

    Parameters
    ----------
    k : array of float
        Whole, in [1, 1e6].
    epsilon : array of float
        In [0, 800].
    others : array of float
        M, whole, in [0, 1e24].
    p : array of float
        Chance of an answer to be a clone, in (0, 1].
    t : array of float
        tanh(α₀/2) of the item that moves, in [0, 1).

    References
    ----------
    Specification "Better than e^α", (II).
    """

    def solve(k: float, epsilon: float, others: float, p: float, t: float) -> float:
        if t == 0.0:
            return 0.0
        top = math.log1p(t) - math.log1p(-t)
        if epsilon >= k * top:
            return 0.0
        hop = _hop(others, p, t, top / _LATTICE / 4)
        sums = _sums(hop, int(k), _tilt_to_mean(hop, epsilon / k))
        return 1.0 if sums is None else sums.delta(epsilon, Role.UPPER)

    return vectorised(solve)(
        checks.integers("k", k, 1, 1e6),
        checks.reals("epsilon", epsilon, 0.0, 800.0),
        checks.integers("others", others, 0, 1e24),
        checks.reals("p", p, 0.0, 1.0, open_low=True),
        checks.reals("t", t, 0.0, 1.0 - 1e-15),
    )


def _tilt_to_mean(hop: _Hop, mean: float) -> float:
    low, high = 0.0, 1.0
    while hop.cumulants(high)[1] < mean and high < 1e4:
        high *= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if hop.cumulants(middle)[1] < mean else (low, middle)
    return low


def _tilt_to_depth(hop: _Hop, depth: float) -> float | None:
    """Return the tilt λ with λK′ − K = depth, Chernoff's bound there; None if there is none."""
    low, high = 0.0, 1.0

    def deep(tilt: float) -> bool:
        value, mean, _ = hop.cumulants(tilt)
        return tilt * mean - value > depth

    while not deep(high):
        low, high = high, 2 * high
        if high > 1e4:
            return None
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if deep(middle) else (middle, high)
    return low


def _epsilon(k: int, alpha0: float, delta: float, total: float, step: float) -> float:
    """Return an ε at which k changed items have δ_k ≤ δ."""
    top = k * alpha0
    others = math.floor((total - k) / k)
    if others < 1 or alpha0 > _MAX_DEPTH:
        return top
    p = 2 / (math.exp(alpha0) + 1)
    if others * p > _MAX_CLONES:
        return top
    hop = _hop(others, p, math.tanh(alpha0 / 2), step)
    # δ is some hundredths of Chernoff's bound.
    tilt = _tilt_to_depth(hop, (-math.log(delta) - 3) / k)
    sums = None if tilt is None else _sums(hop, k, tilt)
    if sums is None:
        return top
    # Far below the target masses may add up to infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        return min(sums.epsilon(delta, Role.UPPER), top)


@lru_cache(maxsize=4096)
def _alpha(alpha0: float, delta: float, m: float, n: float, enough: float = math.inf) -> float:
    """Return α, or something above `enough` once it can't be less."""
    if alpha0 == 0.0 or delta >= 1.0:
        return 0.0
    reach, total = m * alpha0, m * n
    if n < 2 or m > _MAX_ITEMS:
        return reach
    rough = _epsilon(int(m), alpha0, delta, total, 2 * alpha0 / _LATTICE) / m
    step = max(min(_FINE * rough, 2 * alpha0 / _LATTICE), 2 * alpha0 / _MAX_LATTICE)
    epsilons: dict[int, float] = {}

    def epsilon(k: int) -> float:
        if k not in epsilons:
            epsilons[k] = _epsilon(k, alpha0, delta, total, step)
        return epsilons[k]

    # k hops for k in [a, b] cost no more than b of them, and may cost at least a·α/m.
    worst, blocks = epsilon(int(m)), [(1, int(m))]
    best = worst
    while blocks:
        a, b = blocks.pop()
        bound = epsilon(b) * m / a
        best = max(best, epsilon(b) * m / b)
        if best > enough:
            return best
        if a == b or bound <= best * (1 + _SLACK):
            worst = max(worst, bound)
            continue
        middle = max(a, min(b - 1, round(math.sqrt(a * b))))
        blocks += [(a, middle), (middle + 1, b)]
    return min(worst, reach)


def product_alpha(alpha0: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return an α of item-wise release on a space where different items are 1 apart.

    Rounded up, by some 1e-3 of itself, never above m·α₀; that itself in the local model, where a
    user's items leave no clones. Not always below `group_alpha`: take the smaller.

    Parameters
    ----------
    alpha0, delta_prime, m, n
        As in `group_alpha`; with more than 2000 items, or 4000 clones a hop, it is m·α₀.
    """
    return vectorised(
        lambda *a: min(_alpha(*a), MAX_ALPHA) if _alpha(*a) <= MAX_ALPHA else math.inf
    )(
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON),
        checks.delta(delta_prime, "delta_prime"),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
    )


def product_alpha0(alpha: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Any:
    """Return an α₀ with `product_alpha` ≤ α, near the largest; α/m where that is more."""

    def solve(alpha: float, delta: float, m: float, n: float) -> float:
        share = alpha / m
        if share * m > alpha:
            share = math.nextafter(share, 0.0)
        if n < 2 or delta >= 1 or m > _MAX_ITEMS or share == 0.0:
            return share
        # Near what one argument for all distances allows.
        x = math.log(float(group_alpha0(alpha, delta, m, n, 1.0, 1.0, Clones.STRONGER)))
        best, last = math.log(share), (math.nan, math.nan)
        for _ in range(10):
            value = math.log(_alpha(math.exp(x), delta, m, n)) - math.log(alpha)
            if value <= 0:
                best = max(best, x)
            slope = (value - last[1]) / (x - last[0]) if x != last[0] else math.nan
            slope = slope if 0.5 < slope < 50 else 5.0
            if -2e-3 < value <= 0:
                break
            last, x = (x, value), max(x - (value + 1e-3) / slope, best)
        return math.exp(best)

    return vectorised(solve)(
        checks.reals("alpha", alpha, 0.0, MAX_ALPHA),
        checks.delta(delta_prime, "delta_prime"),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
    )


def best_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    *,
    side_by_side: bool = True,
) -> Any:
    """Return the largest α₀ of which (α, δ')-bounded d_EM-DP is proved, where d is at most 1.

    Rounded down, by 1e-3 of itself at most. Arguments as in `group_alpha0`.

    Parameters
    ----------
    side_by_side : bool
        Whether `product_alpha0` is computed too, which takes up to some seconds: where the smallest
        distance is 1 and m at most 30.
    """

    def solve(alpha: float, delta: float, m: float, n: float, near: float) -> float:
        at = alpha, delta, m, n, near, 1.0, Clones.STRONGER
        # In order they are tried in any order as well, where that may allow more.
        candidates = [group_alpha0(*at, in_order=near < 1)]
        if side_by_side and near >= 1 and m <= PRODUCT_ITEMS:
            candidates.append(product_alpha0(alpha, delta, m, n))
        return float(max(candidates))

    return vectorised(solve)(*_arguments(alpha, delta_prime, m, n, min_distance))


def best_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    *,
    side_by_side: bool = True,
) -> Any:
    """Return the least α of which item-wise release at α₀ is proved: the inverse of `best_alpha0`.

    Rounded up; infinite beyond 800.
    """

    def solve(alpha0: float, delta: float, m: float, n: float, near: float) -> float:
        at = alpha0, delta, m, n, near, 1.0, Clones.STRONGER
        candidates = [group_alpha(*at)]
        if near < 1:  # else all hops are as long, and there is one order
            candidates.append(group_alpha(*at, in_order=True))
        if side_by_side and near >= 1 and m <= PRODUCT_ITEMS:
            candidates.append(product_alpha(alpha0, delta, m, n))
        return float(min(candidates))

    return vectorised(solve)(*_arguments(alpha0, delta_prime, m, n, min_distance))


def _arguments(
    level: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike, min_distance: ArrayLike
) -> tuple[np.ndarray[Any, Any], ...]:
    # What else they must be is checked by the functions that are asked.
    return (
        checks.reals("alpha", level, 0.0, checks.MAX_EPSILON),
        checks.delta(delta_prime, "delta_prime"),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
        checks.reals("min_distance", min_distance, 0.0, 1.0),
    )
