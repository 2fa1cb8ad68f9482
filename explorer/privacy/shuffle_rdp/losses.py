"""Privacy loss of one round as a list of atoms, the input of composition.

**A known randomiser with two levels of probability.** Messages are e^ε₀ times as likely inside a
set with the share θ ≤ ½ of all messages as outside: k-ary randomised response (θ = 1/k) and
PrivUnit (θ the share of the cap). Of k messages N₁ and N₂ come from the blanket and look like
either of the changed client's records, N₃ like neither; the shuffled laws have densities
(e^ε₀N₁ + N₂ + N₃)/k and (N₁ + e^ε₀N₂ + N₃)/k to theirs. That pair dominates every pair of inputs,
and each round's in any order, so it composes; sampled and composed as the clones are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_half_pmf, log_pmf, relative_error
from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.privacy.shuffle_rdp.lower import RandomisedResponsePair
from explorer.privacy.shuffle_rdp.one_round import three_symbol_log_p
from explorer.privacy.shuffling import Clones

_ROWS, _COLUMNS = 3.0, 200.0
"""Of very many clones so many numbers are listed on a deviation, and twice so many of U."""
_MERGED = 100.0
"""Merged counts of randomised response on a deviation."""
BLOCK = 8192
"""Numbers that are computed at once: of more, most of the time goes into memory."""
_SAFE_REACH = 1.6 * math.pi
"""A downsampled sum repeats the transform at 2π over the spacing of the losses that it takes: at
least eight of them lie on a deviation, so that nothing of that is left at 1.6π."""
_THINNED = 2e-8
"""Relative error of a sum by thinning: the fold of the losses at 0 is not smooth."""
_REST_STEPS = 0.5
"""Points of N₃ on a deviation."""
TWO_LEVEL_EPS0 = 0.01, 20.0
COMPOSED_BLANKET = Reference(
    "Balle, Bell, Gascón & Nissim 2019; Zhu, Dong & Wang 2022",
    "the randomiser's own blanket, sampled and composed",
    "rounded up",
)


@dataclass(frozen=True)
class RoundLoss:
    """The likelihood ratio 1 + x of one round's pair of laws, and its law under the second.

    Attributes
    ----------
    mass : ndarray of float
        Probabilities under the second law (Q in D(P‖Q)); they sum to 1 or a little less.
    excess : ndarray of float
        x = P/Q − 1, with mean 0 under `mass`.
    log_ratio : ndarray of float
        ln(1 + x).
    missing : float
        Probability that was left out and may have any loss; each round adds it to δ.
    accuracy : float
        Relative error of `mass` and `excess`, at most.
    reach : float
        Where atoms stand for several, the frequency t up to which they give the same
        E[(P/Q)^{c+it}]; infinite where all are listed.
    """

    mass: FloatArray
    excess: FloatArray
    log_ratio: FloatArray
    missing: float = 0.0
    accuracy: float = 1e-12
    reach: float = math.inf

    def reversed(self) -> RoundLoss:
        """Return the pair with its laws exchanged."""
        ratio = np.exp(-self.log_ratio)
        # Not 1 + x, which has no digits left where the ratio is near 0.
        return RoundLoss(
            self.mass * np.exp(self.log_ratio),
            -self.excess * ratio,
            -self.log_ratio,
            self.missing,
            self.accuracy,
            self.reach,
        )

    def log_first(self) -> FloatArray:
        """Return ln of the atoms' probabilities under the first law (P)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mass) + self.log_ratio)

    def tilted(self, c: float) -> FloatArray:
        """Return P's masses tilted by e^{c·loss}, normalised."""
        return tilted(self.mass, self.log_ratio, c)

    def sizes(self, c: float) -> tuple[float, float]:
        """Return the sums of the absolute terms of K(c) − 1, and of E_P[(P/Q)^c·L].

        `contour_integral` bounds rounding errors with them.
        """
        a = np.array([1 + c])
        curved = self._curved(a[:, None] * self.log_ratio)[0]
        with np.errstate(over="ignore"):
            weight = self.mass * np.exp((1 + c) * self.log_ratio)
        return (
            float(self.mass @ (np.abs(curved) + (1 + c) * np.abs(self._bend()))),
            float(weight @ np.abs(self.log_ratio)),
        )

    def growth(self, z: FloatArray) -> FloatArray:
        """Return K(z) − 1, K(z) = E_P[(P/Q)^z], for real z (1-dimensional).

        E_Q[(1+x)^{1+z} − 1 − (1+z)x], every summand formed without cancellation.
        """
        bend, a = self._bend(), (1 + np.asarray(z))[:, None]
        rows = max(1, BLOCK // bend.size)
        pieces = [a[start : start + rows] for start in range(0, len(a), rows)]
        return np.concatenate(
            [(self._curved(some * self.log_ratio) + some * bend) @ self.mass for some in pieces]
        )

    @staticmethod
    def _curved(w: FloatArray) -> FloatArray:
        """Return e^w − 1 − w."""
        out = np.expm1(w) - w
        small = np.abs(w) < 0.05
        s = w[small]
        out[small] = (
            s * s * (1 / 2 + s * (1 / 6 + s * (1 / 24 + s * (1 / 120 + s * (1 / 720 + s / 5040)))))
        )
        return out

    def lines(self, c: float, growth: float, step: float, first: int) -> Iterator[Any]:
        """Yield K(c+it) − 1 given K(c) − 1 at t = 0, step, …: `first` of them, then ever as many.

        What e^{itL} − 1 adds under the tilted masses, L the loss. Its values u at some multiples
        of the step give those at as many more: e^{i(s+t)L} − 1 = u + v + uv, v at s. Where angles
        are small the real parts are sums of negative terms, so no digits are lost.
        """
        weight = self.mass * np.exp((1 + c) * self.log_ratio)
        turns = turned(step * np.arange(first, dtype=np.float64), self.log_ratio)
        yield growth + turns @ weight
        while True:
            on = turned(np.array([step * turns.shape[0]]), self.log_ratio)
            more = turns * on
            more += turns
            more += on
            yield growth + more @ weight
            turns = np.concatenate([turns, more])

    def line(self, c: float, growth: float, t: FloatArray) -> Any:
        """Return K(c+it) − 1 given K(c) − 1."""
        weight = self.mass * np.exp((1 + c) * self.log_ratio)
        return growth + turned(t, self.log_ratio) @ weight

    def _bend(self) -> FloatArray:
        """Return ln(1+x) − x."""
        small = np.abs(self.excess) < 0.02
        x = np.where(small, self.excess, 0.0)
        series = (
            -x
            * x
            * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x * (1 / 6 - x * (1 / 7 - x / 8))))))
        )
        return np.asarray(np.where(small, series, self.log_ratio - self.excess))

    def tilted_moments(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the loss under P tilted by e^{c·loss}, for each c."""
        powers = np.stack([self.log_ratio, self.log_ratio**2], axis=1)
        rows = max(1, BLOCK // self.mass.size)
        mean, square = np.concatenate(
            [
                tilted(self.mass, self.log_ratio, c[start : start + rows, None]) @ powers
                for start in range(0, max(c.size, 1), rows)  # maybe of no tilt at all
            ]
        ).T
        return mean, np.maximum(square - mean**2, 1e-30)


def turned(t: FloatArray, loss: FloatArray) -> Any:
    """Return e^{itL} − 1 for every t and loss L."""
    # Numpy's tangent is several times as quick as its sine and cosine.
    half = np.tan(np.outer(t, 0.5 * loss))
    out = np.empty(half.shape, dtype=complex)
    out.imag = 2 * half / (1 + half * half)
    out.real = -half * out.imag
    return out


def tilted(mass: FloatArray, log_ratio: FloatArray, c: Any) -> FloatArray:
    """Return P's masses tilted by e^{c·loss}, normalised along the last axis."""
    with np.errstate(divide="ignore"):
        logs = np.log(mass) + (1 + c) * log_ratio
    weight = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def randomised_response_loss(
    eps0: float, k: float, n: float, *, depth: float = 50.0, thin: bool = True
) -> RoundLoss:
    """Return the law of one round of randomised response, Q = γμ₁+(1−γ)μ₀ against P = μ₀.

    Counts whose probability is below e^−depth are left out, which errs downwards. Of very many
    counts only some are taken for all (`RoundLoss.reach`), or, without `thin`, neighbours are
    merged, which an observer could do as well and errs downwards too.
    """
    pair = RandomisedResponsePair(eps0, k, n, 64.0, dense=not thin, tail=depth + 10)
    mass, log_ratio = np.exp(pair.log_mass), pair.log_ratio
    excess = np.expm1(log_ratio)
    step = float(pair.m[1] - pair.m[0]) if pair.m.size > 1 else 1.0
    block = 1 if thin else math.floor(math.sqrt(pair.mean) / _MERGED)
    if block > 1:
        starts = np.arange(0, mass.size, block)
        whole, sums = np.add.reduceat(mass, starts), np.add.reduceat(mass * excess, starts)
        positive = whole > 0
        mass, excess = whole[positive], sums[positive] / whole[positive]
        log_ratio = np.log1p(excess)
    reach = _SAFE_REACH / float(np.abs(np.diff(log_ratio)).max()) if step > 1 else math.inf
    return RoundLoss(mass, excess, log_ratio, accuracy=relative_error(k), reach=reach)


def clone_loss(
    eps0: float,
    k: float,
    n: float,
    variant: Clones = Clones.PUBLISHED,
    cells: int = 1500,
    depth: float = 50.0,
    *,
    thin: bool = True,
) -> RoundLoss:
    """Return the dominating law of one subsampled round by clones.

    For N clones of which U and N − U take either side, the shuffled pair has masses (N ± τW)m/(kp),
    W = 2U − N, τ = tanh(ε₀/2), m the probability of (N, U). Sampling without replacement turns a
    loss ℓ > 0 of mass q into L = ln(1+γ(e^ℓ−1)) with masses q and qe^L, mirrored, and the rest
    at 0 (Zhu, Dong & Wang 2022, replace relation). Losses are gathered on `cells` values by
    splitting each onto its two neighbours so that both laws keep their mass: a spread of the
    ratio, so the result still dominates. Numbers of clones of either side whose probability is
    below e^−depth are left out (`RoundLoss.missing`). Of very many numbers of clones only some are
    taken for all (`RoundLoss.reach`), unless `thin` is off.
    """
    gamma = k / n
    x, mass, apart = _clone_atoms(eps0, k, variant, cells, depth, thin)
    rise = gamma * x
    up = np.log1p(rise)
    rest = max(0.0, 1.0 - float(np.sum(mass * (2 + rise))))
    reach = _SAFE_REACH / (gamma * apart) if apart else math.inf
    return RoundLoss(
        np.concatenate([mass, mass * (1 + rise), [rest]]),
        np.concatenate([rise, -rise / (1 + rise), [0.0]]),
        np.concatenate([up, -up, [0.0]]),
        4 * math.exp(-depth),
        relative_error(k) + (_THINNED if apart else 0.0),
        reach,
    )


@lru_cache(maxsize=64)
def _clone_atoms(
    eps0: float, k: float, variant: Clones, cells: int, depth: float, thin: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Return e^ℓ − 1 and mass of the losses ℓ > 0 of one unsampled round, and their spacing.

    The spacing, at most, of the losses of one number of clones; 0 if all are listed.
    """
    tau = math.tanh(eps0 / 2)
    log_pc = (
        -eps0 if variant is Clones.PUBLISHED else math.log(2.0) - eps0 - math.log1p(math.exp(-eps0))
    )
    # At ε₀ = 0 all are clones; one in 10¹² fewer errs on the safe side and keeps ln(1−p) finite.
    pc = min(math.exp(log_pc), 1 - 1e-12)
    log_pc = min(log_pc, math.log(pc)) if pc > 0 else log_pc
    atoms, apart = list[_Atoms](), 0.0
    for N, fewer, mass, stride in _coins(k, log_pc, depth, thin, cells):
        # N − τW = N(1−τ) + 2τ(N−U), a sum of positive terms at any ε₀.
        few = N * (2 * math.exp(-eps0) / (1 + math.exp(-eps0))) + tau * 2 * fewer
        ratio = 2 * tau * (N - 2 * fewer) / few
        atoms.append(_Atoms(ratio, few * mass * (math.exp(-log_pc) / k)))
        # Of γx the logarithm of 1 + γx is no further apart.
        apart = max(apart, float(2 * stride * 2 * tau * (N / few**2).max()))
    return (*_gather(atoms, 2 * tau / math.sqrt(k * pc + 1), cells), apart)


class _Atoms(NamedTuple):
    """Some of a round's ratios less 1, and their masses."""

    x: FloatArray
    mass: FloatArray


class _Coins(NamedTuple):
    """Some numbers N ~ Bin(k, p) of coins tossed, and how many show the side that fewer show.

    Attributes
    ----------
    tossed, fewer : ndarray of float
    mass : ndarray of float
        Probability that *this* side shows so few, times what each entry stands for.
    stride : float
        Between the numbers listed of one N; 0 if all are listed, for every N.
    """

    tossed: FloatArray
    fewer: FloatArray
    mass: FloatArray
    stride: float


def _coins(k: float, log_p: float, depth: float, thin: bool, cells: int) -> Iterator[_Coins]:
    """Yield the numbers of coins, heads and tails, that have a probability above e^−depth.

    So many at once that adding them to `cells` numbers is no more work.
    """
    p = math.exp(log_p)
    mean, spread = k * p, math.sqrt(k * p * (1 - p))
    # Okamoto's bound below where p ≤ ½, Bernstein's on the other sides.
    away, more = math.sqrt(2 * depth) * spread, 0.7 * depth + 2
    low = max(1.0, math.floor(mean - away - (more if p > 0.5 else 2)))
    high = min(k, math.ceil(mean + away + more))
    # Sums over N and U are smooth on their deviations, the smallest of which is at the fewest
    # coins: where those are many, a part of it is as good as every whole number (Poisson's
    # formula). Odd steps visit even and odd N alike, whose losses lie on different lattices.
    least = math.sqrt(low * (1 - p))
    step = math.floor(least / _ROWS) | 1 if low > 512 and thin else 1
    stride = math.floor(math.sqrt(low) / _COLUMNS) | 1 if thin else 1
    N = np.arange(low, high + 1, step, dtype=float)[:, None]
    weight = step * stride * np.exp(log_pmf(N, k, log_p, math.log1p(-p)))
    reach = math.sqrt((depth + 35) / 2 * high) + 20
    below = (stride - 1) / 2 + stride * np.arange(math.ceil(reach / stride))
    rows = max(1, max(BLOCK, 2 * cells) // below.size)
    first = np.exp(log_half_pmf(np.ceil(N / 2) - 1 - below[0], N)) * weight
    for start in range(0, N.size, rows):
        tossed = N[start : start + rows]
        fewer = np.ceil(tossed / 2) - 1 - below
        # Of either side showing fewer only one case is listed; the other mirrors it. Neighbours
        # differ by rational factors, 0 beyond the end.
        mass = np.ones(fewer.shape)
        mass[:, :1] = first[start : start + rows]
        here = fewer[:, :-1]
        for i in range(stride):
            mass[:, 1:] *= np.maximum(here - i, 0.0) / (tossed - here + (1 + i))
        np.cumprod(mass, axis=1, out=mass)
        inside = fewer >= 0
        yield _Coins(
            np.broadcast_to(tossed, fewer.shape)[inside],
            fewer[inside],
            mass[inside],
            0.0 if step == stride == 1 else float(stride),
        )


def two_level_loss(
    eps0: float,
    theta: float,
    k: float,
    n: float,
    cells: int = 700,
    depth: float = 50.0,
    *,
    thin: bool = True,
) -> RoundLoss:
    """Return the dominating law of one round: k of n clients sampled and shuffled.

    N₃ is spread to few points, each value divided between its neighbours so that its mean is kept;
    that spreads both densities alike, so the result dominates. Other parameters as of `clone_loss`.

    Parameters
    ----------
    eps0 : float
        In [0.01, 20].
    theta : float
        In (0, ½].
    k, n : float
        1 ≤ k ≤ n ≤ 1e12.
    """
    e0 = float(checks.reals("eps0", eps0, *TWO_LEVEL_EPS0))
    share = float(checks.reals("theta", theta, 0.0, 0.5, open_low=True))
    checks.population(k, n)
    more, gamma = math.expm1(e0), k / n
    beta = 1 / (1 + more * share)
    other = min(max(beta * (1 - 2 * share) / (1 - 2 * beta * share), 0.0), 1.0)
    atoms, apart, most = list[_Atoms](), 0.0, 0.0
    for coins in _coins(k, math.log(2 * beta * share), depth, thin, cells):
        tossed, place = np.unique(coins.tossed, return_inverse=True)
        most = most or k - float(tossed[0])
        points, weight = _spread_rest(k - tossed, most, other, depth)
        rest, chance = points[place.ravel()], weight[place.ravel()]
        N, fewer = coins.tossed[:, None], coins.fewer[:, None]
        few = N + more * fewer + rest
        mass = few * chance * (coins.mass / k)[:, None]
        x = more * (N - 2 * fewer) / few
        wide = ((more + 2) * N + 2 * rest) / few**2
        apart = max(apart, float(coins.stride * more * wide.max()))
        if (positive := mass > 0).any():
            atoms.append(_Atoms(x[positive], mass[positive]))
    typical = more * math.sqrt(2 * beta * share / k) + more / k
    x, mass = _gather(atoms, typical, cells)
    rise = gamma * x
    up = np.log1p(rise)
    left = max(0.0, 1.0 - float(np.sum(mass * (2 + rise))))
    return RoundLoss(
        np.concatenate([mass, mass * (1 + rise), [left]]),
        np.concatenate([rise, -rise / (1 + rise), [0.0]]),
        np.concatenate([up, -up, [0.0]]),
        12 * math.exp(-depth),
        relative_error(k) + (_THINNED if apart else 0.0),
        _SAFE_REACH / (gamma * apart) if apart else math.inf,
    )


def _spread_rest(
    left: FloatArray, most: float, chance: float, depth: float
) -> tuple[FloatArray, FloatArray]:
    """Return points of N₃ ~ Bin(left, chance), left ≤ most, and their weights, a row for each."""
    deviation = math.sqrt(most * chance * (1 - chance))
    if chance in (0.0, 1.0) or deviation == 0:
        return (left * chance)[:, None], np.ones((left.size, 1))
    reach = math.sqrt(2 * depth) * deviation + 0.7 * depth + 2
    step = max(1.0, round(deviation / _REST_STEPS))
    half = math.ceil(reach / step) + 1
    j = np.arange(-half, half + 1)
    # Multiples of the step, 0 among them, so that nothing is split to below 0.
    points = step * (np.floor(left * chance / step)[:, None] + j)
    weight = np.zeros(points.shape)
    away = np.arange(-half * step, half * step + 1)
    low = np.floor(away / step).astype(int) + half
    up = away / step - np.floor(away / step)
    log_p, log_q = math.log(chance), math.log1p(-chance)
    for i, size in enumerate(left):
        n = points[i, half] + away
        inside = (n >= 0) & (n <= size)
        chances = np.zeros(n.shape)
        chances[inside] = np.exp(log_pmf(n[inside], size, log_p, log_q))
        weight[i] = np.bincount(low, chances * (1 - up), j.size)
        weight[i, 1:] += np.bincount(low, chances * up, j.size)[:-1]
    return np.maximum(points, 0.0), weight


def three_symbol_loss(
    eps0: float,
    k: float,
    n: float,
    side: Role = Role.LOWER,
    cells: int = 1500,
    depth: float = 50.0,
    *,
    thin: bool = True,
) -> RoundLoss:
    """Return the law of one round of randomised response on three symbols (`one_round`).

    Of N messages in {1, 2}, V of them 2, both laws have likelihood ratio 1 − γ + γ(EU + V +
    (k−N)/E)/k to that of 3 alone, U and V exchanged in the second. Losses are gathered on about
    `cells` values: merged, and with them all that is left out, which an observer could do as well,
    so that what comes out is dominated; for `Role.UPPER` split as in `clone_loss`, and dominating.
    Other parameters as there.
    """
    gamma = k / n
    x, mass, apart = _three_symbol_atoms(eps0, k, gamma, side, cells, depth, thin)
    up = np.log1p(x)
    rest = max(0.0, 1.0 - float(np.sum(mass * (2 + x))))
    return RoundLoss(
        np.concatenate([mass, mass * (1 + x), [rest]]),
        np.concatenate([x, -x / (1 + x), [0.0]]),
        np.concatenate([up, -up, [0.0]]),
        4 * math.exp(-depth),
        relative_error(k) + (_THINNED if apart else 0.0),
        _SAFE_REACH / apart if apart else math.inf,
    )


@lru_cache(maxsize=16)
def _three_symbol_atoms(
    eps0: float, k: float, gamma: float, side: Role, cells: int, depth: float, thin: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Return the ratios less 1 that are positive, their mass and spacing; see `_clone_atoms`."""
    far = math.exp(-eps0)
    atoms, apart = list[_Atoms](), 0.0
    for N, fewer, mass, stride in _coins(k, three_symbol_log_p(eps0), depth, thin, cells):
        # The second law's ratio to that of 3 alone; V shows more often in the mirrored half.
        own = gamma / k * (math.exp(eps0) * fewer + (N - fewer) + far * (k - N)) + (1 - gamma)
        atoms.append(_Atoms(gamma / k * math.expm1(eps0) * (N - 2 * fewer) / own, own * mass))
        apart = max(apart, float((2 * stride * gamma / k * math.expm1(eps0) / own).max()))
    scale = gamma * math.expm1(eps0) / k * math.sqrt(k * math.exp(three_symbol_log_p(eps0)) + 1)
    return (*(_merge if side is Role.LOWER else _gather)(atoms, scale, cells), apart)


def _cells(atoms: list[_Atoms], scale: float, cells: int) -> FloatArray:
    """Return edges between the values, even where they are small beside `scale`."""
    ends = min(x.min() for x, _ in atoms), max(x.max() for x, _ in atoms)
    bent = np.arcsinh(np.array(ends) / scale)
    grid = scale * np.sinh(np.linspace(bent[0], bent[1], cells))
    grid[0], grid[-1] = ends
    return np.asarray(grid)


def _merge(atoms: list[_Atoms], scale: float, cells: int) -> tuple[FloatArray, FloatArray]:
    """Return the masses on fewer values, keeping Σ mass and Σ mass·x, never more spread."""
    if sum(x.size for x, _ in atoms) <= cells:
        x, mass = (np.concatenate(parts) for parts in zip(*atoms, strict=True))
        return x, mass
    grid = _cells(atoms, scale, cells)
    whole, moment = np.zeros((2, cells + 1))
    for x, mass in atoms:
        i = np.searchsorted(grid, x, side="right")
        whole += np.bincount(i, mass, cells + 1)
        moment += np.bincount(i, mass * x, cells + 1)
    keep = whole > 0
    return moment[keep] / whole[keep], whole[keep]


def _gather(atoms: list[_Atoms], scale: float, cells: int) -> tuple[FloatArray, FloatArray]:
    """Return the masses on fewer values, keeping Σ mass and Σ mass·x, never less spread."""
    if sum(x.size for x, _ in atoms) <= cells:
        x, mass = (np.concatenate(parts) for parts in zip(*atoms, strict=True))
        return x, mass
    grid = _cells(atoms, scale, cells)
    width, out = np.diff(grid), np.zeros(cells)
    for x, mass in atoms:
        # No value lies outside of the grid.
        i = np.searchsorted(grid[1:-1], x, side="right")
        upper = (x - grid[i]) / width[i]
        out += np.bincount(i, mass * (1 - upper), cells)
        out[1:] += np.bincount(i, mass * upper, cells - 1)
    keep = out > 0
    return grid[keep], out[keep]
