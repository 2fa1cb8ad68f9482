"""Rounds of a known randomiser with two levels of probability, composed from above.

Messages are e^ε₀ times as likely inside a set with the share θ ≤ ½ of all messages as outside:
k-ary randomised response (θ = 1/k) and PrivUnit (θ the share of the cap). Of k messages N₁ and N₂
come from the blanket and look like either of the changed client's records, N₃ like neither; the
shuffled laws have densities (e^ε₀N₁ + N₂ + N₃)/k and (N₁ + e^ε₀N₂ + N₃)/k to theirs. That pair
dominates every pair of inputs, and each round's in any order, so it composes; sampled and composed
as the clones are.
"""

from __future__ import annotations

import math

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.privacy.shuffle_rdp.composition import FINE, Certified, Composition
from explorer.privacy.shuffle_rdp.from_below import depth_for
from explorer.privacy.shuffle_rdp.losses import (
    _REACH,
    _THINNED,
    RoundLoss,
    _accuracy,
    _coins,
    _gathered,
)
from explorer.privacy.shuffle_rdp.numerical import CloneRounds
from explorer.privacy.shuffling import Clones

COMPOSED_BLANKET = Reference(
    "Balle, Bell, Gascón & Nissim 2019; Zhu, Dong & Wang 2022",
    "the randomiser's own blanket, sampled and composed",
    "rounded up",
)
EPS0_RANGE = 0.01, 20.0
_MAX_MESSAGES = 1e7
"""Beyond so many messages a round the clones' bound stands alone."""
_STEPS = 0.5
"""Points of N₃ on a deviation."""


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
    e0 = float(checks.reals("eps0", eps0, *EPS0_RANGE))
    share = float(checks.reals("theta", theta, 0.0, 0.5, open_low=True))
    checks.population(k, n)
    more, gamma = math.expm1(e0), k / n
    beta = 1 / (1 + more * share)
    coins = _coins(k, math.log(2 * beta * share), depth, thin)
    other = min(max(beta * (1 - 2 * share) / (1 - 2 * beta * share), 0.0), 1.0)
    tossed, place = np.unique(coins.tossed, return_inverse=True)
    points, weight = _spread_rest(k - tossed, other, depth)
    rest, chance = points[place.ravel()], weight[place.ravel()]
    N, fewer = coins.tossed[:, None], coins.fewer[:, None]
    few = N + more * fewer + rest
    mass = few * chance * np.exp(coins.log_mass - math.log(k))[:, None]
    x = more * (N - 2 * fewer) / few
    apart = 0.0
    if coins.stride:
        apart = float(coins.stride * more * (((more + 2) * N + 2 * rest) / few**2).max())
    some = mass > 0
    typical = more * math.sqrt(2 * beta * share / k) + more / k
    x, mass = _gathered(x[some], mass[some], typical, cells)
    rise = gamma * x
    up = np.log1p(rise)
    left = max(0.0, 1.0 - float(np.sum(mass * (2 + rise))))
    return RoundLoss(
        np.concatenate([mass, mass * (1 + rise), [left]]),
        np.concatenate([rise, -rise / (1 + rise), [0.0]]),
        np.concatenate([up, -up, [0.0]]),
        12 * math.exp(-depth),
        _accuracy(k) + (_THINNED if apart else 0.0),
        _REACH / (gamma * apart) if apart else math.inf,
    )


def _spread_rest(left: FloatArray, chance: float, depth: float) -> tuple[FloatArray, FloatArray]:
    """Return points of N₃ ~ Bin(left, chance) and their weights, a row for each number left."""
    deviation = math.sqrt(float(left.max()) * chance * (1 - chance))
    if chance in (0.0, 1.0) or deviation == 0:
        return (left * chance)[:, None], np.ones((left.size, 1))
    reach = math.sqrt(2 * depth) * deviation + 0.7 * depth + 2
    step = max(1.0, round(deviation / _STEPS))
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
        found = np.zeros(n.shape)
        found[inside] = np.exp(log_pmf(n[inside], size, log_p, log_q))
        weight[i] = np.bincount(low, found * (1 - up), j.size)
        weight[i, 1:] += np.bincount(low, found * up, j.size)[:-1]
    return np.maximum(points, 0.0), weight


class TwoLevelRounds:
    """T rounds of one two-level randomiser, from above; never above the clones of 2023.

    Parameters
    ----------
    eps0, theta, k, n
        As of `two_level_loss`.
    """

    def __init__(self, eps0: float, theta: float, k: float, n: float) -> None:
        self._round = eps0, theta, k, n
        self._clones = CloneRounds(eps0, k, n, Clones.STRONGER)
        self._routes: dict[float, Composition] = {}

    def epsilon(self, delta: float, T: int) -> Certified:
        """Return an upper bound on ε at δ in (0, 1]."""
        general = self._clones.epsilon(delta, T)
        if delta >= 1 or not self._listed:
            return general
        found = self._composed(depth_for(delta, T)).epsilon(delta, T)
        return min(found, general, key=lambda known: known.value)

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified:
        """Return an upper bound on δ at ε ≥ 0."""
        general = self._clones.delta(epsilon, T, enough)
        if not self._listed:
            return general
        found = self._composed(depth_for(1e-12, T)).delta(epsilon, T, enough)
        return min(found, general, key=lambda known: known.value)

    @property
    def _listed(self) -> bool:
        """Whether the losses of a round can be listed."""
        eps0, _, k, _ = self._round
        return k <= _MAX_MESSAGES and EPS0_RANGE[0] <= eps0 <= EPS0_RANGE[1]

    def _composed(self, depth: float) -> Composition:
        if depth not in self._routes:
            self._routes[depth] = Composition(two_level_loss(*self._round, depth=depth), Role.UPPER)
        return self._routes[depth]
