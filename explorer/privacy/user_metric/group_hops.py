"""Item-wise release of whole datasets: exact hops, added up, and the calibration from them.

Moving a user's m items is m hops of `hops`, whose assumptions hold here too. Conventions: local
model n = 1, central model n users with m items each; total = mn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.amplification import Clones
from explorer.privacy.bounds import BoolArray, FloatArray
from explorer.privacy.roots import root_near, rough_root
from explorer.privacy.user_metric.calibration import ALPHA_MAX
from explorer.privacy.user_metric.hops import (
    SEARCHED,
    broadcast,
    each,
    kappa_and_gap,
    log_clone,
    near_and_far,
    rounded_up,
)
from explorer.privacy.user_metric.mean_excess import guess_log_mean_excess, log_mean_excess


@dataclass(frozen=True)
class Certified:
    """Numbers that err in the safe direction.

    Attributes
    ----------
    value : ndarray of float
    truncated : ndarray of bool
        Where a closed-form bound stood in for a sum too long: safe, and looser by a little.
    """

    value: FloatArray
    truncated: BoolArray


def group_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return δ' such that item-wise release is (α, δ')-bounded d_EM-DP: exact hops, added up.

    (e^α − 1)/(total·p·κ)·E[((U−V) − κ(U+V))_+] with κ = α/(m·α₀); 0 where α ≥ m·α₀. Valid for all
    pairs of equal size m, with no condition: at ε_i = αd_i/m each hop is at most
    (e^{ε_i}−1)·E_κ/(total·p·κ) and the hops telescope to e^{αw} − 1. With a minimum distance
    between different items κ = tanh(α·d_min/2m)/tanh(α₀·d_min/2), the worst hop being the
    shortest. May exceed 1; infinite beyond 1e308. Rounded up.

    Parameters
    ----------
    alpha : array of float
        In [0, 800], per normalised distance.
    alpha0 : array of float
        In [0, 800].
    m, n : array of float
        Items of every user and users (1: local model), whole, in [1, 1e12].
    min_distance : array of float
        In [0, diameter].
    diameter : array of float
        As in `hop_delta`.
    variant : Clones
        The stronger clones have p times 1 + tanh(α₀d_min/2): no gain without a minimum distance.
    """
    return domain.simple(
        group_delta_certified(alpha, alpha0, m, n, min_distance, diameter, variant).value
    )


def group_delta_certified(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Certified:
    """Return `group_delta` and where it is a closed-form bound (windows over 1.3e5 clones)."""
    a, a0, items, users, near, far = _group_arguments(alpha, alpha0, m, n, min_distance, diameter)
    which = Clones(variant)
    value, cut = np.empty(a.shape), np.zeros(a.shape, dtype=bool)
    for at in np.ndindex(a.shape):
        hop = _Group(float(items[at]), float(users[at]), float(near[at]), float(far[at]), which)
        log_value, cut[at] = hop.log_delta(float(a[at]), float(a0[at]))
        value[at] = rounded_up(log_value)
    return Certified(value, cut)


class _Group:
    """δ' of one (m, n) and geometry, in logarithms."""

    def __init__(self, m: float, n: float, near: float, far: float, variant: Clones) -> None:
        self.m, self.total, self.near, self.far = m, m * n, near, far
        self._gain = near if variant is Clones.STRONGER else 0.0

    def clone(self, alpha0: float) -> tuple[float, float]:
        return log_clone(alpha0 * self.far, alpha0 * self._gain)

    def kappa(self, alpha: float, alpha0: float) -> tuple[float, float]:
        reach = self.m * alpha0
        if alpha >= reach:
            return 1.0, -math.inf
        # Below 1e-8 a minimum distance makes no difference to 1e-16; where rounding has made the
        # two equal, leaving it out is the safe side.
        epsilon, a = alpha * self.near / self.m, alpha0 * self.near
        if a > 1e-8 and epsilon < a:
            return kappa_and_gap(epsilon, a)
        return alpha / reach, math.log((reach - alpha) / reach)

    def log_delta(self, alpha: float, alpha0: float) -> tuple[float, bool]:
        kappa, log_gap = self.kappa(alpha, alpha0)
        if log_gap == -math.inf:
            return -math.inf, False
        log_p, log_q = self.clone(alpha0)
        excess, cut = log_mean_excess(self.total, log_p, log_q, kappa, log_gap)
        return self._scale(alpha, alpha0, kappa) - log_p + excess, cut

    def guess(self, alpha: float, alpha0: float) -> float:
        kappa, log_gap = self.kappa(alpha, alpha0)
        if log_gap == -math.inf:
            return -math.inf
        log_p, log_q = self.clone(alpha0)
        excess = guess_log_mean_excess(self.total, log_p, log_q, kappa, log_gap)
        return self._scale(alpha, alpha0, kappa) - log_p + excess

    def rough_log_alpha0(self, alpha: float, log_target: float, near: float | None = None) -> float:
        high = math.log(domain.EPSILON_MAX)
        low = min(math.log(max(alpha / self.m, 1e-290)), high)
        return rough_root(lambda x: self.guess(alpha, math.exp(x)) - log_target, low, high, near)

    def _scale(self, alpha: float, alpha0: float, kappa: float) -> float:
        """ln[(e^α − 1)/(total·κ)], with its limit at α = 0."""
        if alpha < 1e-200:
            # (e^α − 1)/κ → m·α₀, or 2m·tanh(α₀d_min/2)/d_min with a minimum distance.
            near = self.near
            close = alpha0 * near <= 1e-8
            steep = alpha0 if close else 2 * math.tanh(alpha0 * near / 2) / near
            rise = math.log(self.m * steep)
        else:
            log_rise = (
                math.log(math.expm1(alpha)) if alpha < 30 else alpha + math.log1p(-math.exp(-alpha))
            )
            rise = log_rise - math.log(kappa)
        return rise - math.log(self.total)


def group_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return the largest α₀ with `group_delta` ≤ δ': **the number to calibrate with**.

    Rounded down, by 1e-11 of itself; never below α/m, which plain composition allows, nor above
    800; 800 at δ' = 1, which promises nothing. Parameters as in `group_delta`; delta_prime in
    [1e-300, 1].
    """
    which = Clones(variant)
    domain.delta(delta_prime, "delta_prime")
    a, _, items, users, near, far = _group_arguments(alpha, 0.0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = broadcast(a, items, users, near, far, target)

    def solve(alpha: float, m: float, n: float, near: float, far: float, target: float) -> float:
        group, log_target = _Group(m, n, near, far, which), math.log(target)
        if target >= 1.0:
            # δ' = 1 promises nothing.
            return domain.EPSILON_MAX
        high = math.log(domain.EPSILON_MAX)
        low = math.log(max(alpha / m, 1e-290))
        if low >= high:
            return min(_composed(alpha, m), domain.EPSILON_MAX)

        def excess(x: float) -> float:
            return group.log_delta(alpha, math.exp(x))[0] - log_target

        def slope(x: float) -> float:
            below, above = (group.guess(alpha, math.exp(x + t)) for t in (-1e-4, 1e-4))
            return (above - below) / 2e-4

        start = group.rough_log_alpha0(alpha, log_target)
        found = math.exp(root_near(excess, slope, low, start, high))
        # At low itself only α/m is known to be enough, which may be less.
        known = found if group.log_delta(alpha, found)[0] <= log_target else 0.0
        return min(max(known, _composed(alpha, m)), domain.EPSILON_MAX)

    return domain.simple(each(solve, *arrays))


def _composed(alpha: float, m: float) -> float:
    """α/m, rounded so that m times it is not above α."""
    share = alpha / m
    return math.nextafter(share, 0.0) if share * m > alpha else share


def group_alpha0_estimate(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return about `group_alpha0`, from a normal approximation of the sum: an *estimate*.

    A fraction of a millisecond each, whatever m and n are: for a curve to follow a slider until
    the exact numbers are there. Not a bound. Parameters as in `group_alpha0`.
    """
    which = Clones(variant)
    domain.delta(delta_prime, "delta_prime")
    a, _, items, users, near, far = _group_arguments(alpha, 0.0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = broadcast(a, items, users, near, far, target)

    before: float | None = None

    def solve(alpha: float, m: float, n: float, near: float, far: float, target: float) -> float:
        nonlocal before
        # Along a curve the root is not far from that of the point before.
        before = _Group(m, n, near, far, which).rough_log_alpha0(alpha, math.log(target), before)
        return math.exp(before)

    return domain.simple(each(solve, *arrays))


def group_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return an α at which `group_delta` ≤ δ': what item-wise release at α₀ guarantees.

    Between 0 and m·α₀, rounded up. δ' rises with α before it falls; the crossing returned is the
    one on the falling side. Infinite where α would have to exceed 800. Parameters as in
    `group_delta`; delta_prime in [1e-300, 1].
    """
    which = Clones(variant)
    domain.delta(delta_prime, "delta_prime")
    _, a0, items, users, near, far = _group_arguments(0.0, alpha0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = broadcast(a0, items, users, near, far, target)

    def solve(a0: float, m: float, n: float, near: float, far: float, target: float) -> float:
        group, log_target = _Group(m, n, near, far, which), math.log(target)
        if a0 == 0.0 or target >= 1.0:
            return 0.0
        top = min(m * a0, ALPHA_MAX)
        if group.log_delta(top, a0)[0] > log_target:
            return math.inf
        if group.log_delta(0.0, a0)[0] <= log_target:
            return 0.0

        # In −ln α the falling side rises.
        def excess(y: float) -> float:
            return group.log_delta(math.exp(-y), a0)[0] - log_target

        def guess(y: float) -> float:
            return group.guess(math.exp(-y), a0) - log_target

        def slope(y: float) -> float:
            # Towards smaller α: at m·α₀ the sum ends.
            return (guess(y + 1e-4) - guess(y)) / 1e-4

        low, high = -math.log(top), SEARCHED - math.log(top)
        start = rough_root(guess, low, high)
        # Rounded up by more than logarithm and exponential may take off.
        found = math.exp(-root_near(excess, slope, low, start, high))
        return min(found * (1 + 2e-12), top)

    return domain.simple(each(solve, *arrays))


def group_alpha_estimate(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return about `group_alpha`, as quickly as `group_alpha0_estimate`: an *estimate*.

    Never above m·α₀, which is safe. Not a bound. Parameters as in `group_alpha`.
    """
    which = Clones(variant)
    domain.delta(delta_prime, "delta_prime")
    _, a0, items, users, near, far = _group_arguments(0.0, alpha0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = broadcast(a0, items, users, near, far, target)

    before: float | None = None

    def solve(a0: float, m: float, n: float, near: float, far: float, target: float) -> float:
        nonlocal before
        if a0 == 0.0 or target >= 1.0:
            return 0.0
        group, log_target = _Group(m, n, near, far, which), math.log(target)
        top = min(m * a0, ALPHA_MAX)
        if group.guess(top, a0) > log_target:
            return math.inf
        low, high = -math.log(top), SEARCHED - math.log(top)
        before = rough_root(lambda y: group.guess(math.exp(-y), a0) - log_target, low, high, before)
        return math.exp(-before)

    return domain.simple(each(solve, *arrays))


def _group_arguments(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike,
    min_distance: ArrayLike,
    diameter: ArrayLike,
) -> list[FloatArray]:
    return broadcast(
        domain.reals("alpha", alpha, 0.0, ALPHA_MAX),
        domain.reals("alpha0", alpha0, 0.0, domain.EPSILON_MAX),
        domain.integers("m", m, 1, domain.COUNT_MAX),
        domain.integers("n", n, 1, domain.COUNT_MAX),
        *near_and_far(min_distance, diameter),
    )
