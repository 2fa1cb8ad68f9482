"""Item-wise release, shuffled: numerically exact hops and what they add up to.

When one item moves by d, the shuffled outputs differ by at most the pair of Lemma B.1, whose
hockey-stick divergence is summed here to rounding: no condition on α₀ and m. Moving a user's m
items is m such hops. It assumes one common item mechanism that is α₀·d-private for a symmetric d,
shuffled item by item, and distances of at most `diameter` between *any* two items of *any* users:
items outside the declared domain must be rejected. It is an upper bound for every such mechanism,
not attained by all.

Conventions: local model n = 1, central model n users with m items each; total = mn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.bounds import BoolArray, FloatArray
from explorer.privacy.user_metric.calibration import ALPHA_MAX
from explorer.privacy.user_metric.mean_excess import guess_log_mean_excess, log_mean_excess
from explorer.privacy.user_metric.roots import bisect, root_near, rough_root
from explorer.privacy.user_metric.shuffle_theorem import TOTAL_MAX

_TINY = 5e-324
_RANGE = 680.0
"""How many e-folds below its largest value a parameter is searched for."""


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


def hop_delta(
    total: ArrayLike,
    alpha0: ArrayLike,
    distance: ArrayLike,
    epsilon: ArrayLike,
    diameter: ArrayLike = 1.0,
) -> Any:
    """Return δ at ε when one of `total` shuffled items moves by a distance: Lemma B.1, exactly.

    tanh(a/2)(1+e^ε)/(total·p)·E[((U−V) − κ(U+V))_+] with a = α₀d, p = e^{−α₀·diameter},
    κ = tanh(ε/2)/tanh(a/2), U and V multinomial(total; p/2, p/2); 0 where ε ≥ a. Rounded up, by
    2e-11 of itself or to the smallest positive double.

    Parameters
    ----------
    total : array of float
        Items in the shuffle, whole, in [1, 1e24].
    alpha0 : array of float
        The item mechanism's parameter, in [0, 800].
    distance : array of float
        In [0, diameter].
    epsilon : array of float
        In [0, 800].
    diameter : array of float
        Largest distance of any two items, in [0, 1e6]. Ignoring one above 1 loses the guarantee.

    References
    ----------
    Imola et al., Lemma B.1; specification "Exact amplification by shuffling for metric DP".
    """
    arrays = _broadcast(
        domain.integers("total", total, 1, TOTAL_MAX),
        domain.reals("alpha0", alpha0, 0.0, domain.EPSILON_MAX),
        *_distances(distance, diameter),
        domain.reals("epsilon", epsilon, 0.0, domain.EPSILON_MAX),
    )
    return domain.simple(_each(lambda t, a0, d, far, e: _hop(t, a0, d, e, far), *arrays))


def _hop(total: float, alpha0: float, distance: float, epsilon: float, diameter: float) -> float:
    a = alpha0 * distance
    if epsilon >= a:
        return 0.0
    log_tanh = math.log(math.tanh(a / 2))
    excess, _ = log_mean_excess(total, *_log_clone(alpha0 * diameter), *_kappa(epsilon, a))
    log_value = (
        log_tanh + float(np.logaddexp(0.0, epsilon)) - math.log(total) + alpha0 * diameter + excess
    )
    return _up(min(log_value, 0.0))


def _kappa(epsilon: float, a: float) -> tuple[float, float]:
    """κ = tanh(ε/2)/tanh(a/2) and 1 − κ = sinh((a−ε)/2)/(cosh(ε/2)·sinh(a/2)), ε < a."""
    kappa = math.tanh(epsilon / 2) / math.tanh(a / 2)
    gap = 2 * math.exp(-epsilon) * math.expm1(epsilon - a)
    gap /= (1 + math.exp(-epsilon)) * math.expm1(-a)
    return min(kappa, 1.0), gap


def _log_clone(a: float) -> tuple[float, float]:
    """Ln p and ln(1−p) of p = e^−a."""
    return -a, (math.log(-math.expm1(-a)) if a > 0 else -math.inf)


def _up(log_value: float) -> float:
    """e^log_value, and no positive number rounded to 0."""
    value = math.exp(log_value) if log_value < 709.0 else math.inf
    return max(value, _TINY) if log_value > -math.inf else 0.0


def hop_epsilon(
    total: ArrayLike,
    alpha0: ArrayLike,
    distance: ArrayLike,
    delta: ArrayLike,
    diameter: ArrayLike = 1.0,
) -> Any:
    """Return the smallest ε ≥ 0 with `hop_delta` ≤ δ, never more than α₀·distance.

    Parameters as in `hop_delta`; delta in [1e-300, 1]. Rounded up, by 3e-12 of itself.
    """
    arrays = _broadcast(
        domain.integers("total", total, 1, TOTAL_MAX),
        domain.reals("alpha0", alpha0, 0.0, domain.EPSILON_MAX),
        *_distances(distance, diameter),
        domain.delta(delta),
    )

    def solve(t: float, a0: float, d: float, far: float, target: float) -> float:
        top = a0 * d
        if top == 0.0 or _hop(t, a0, d, 0.0, far) <= target:
            return 0.0
        log_target, log_top = math.log(target), math.log(top)

        def excess(x: float) -> float:
            return log_target - _log(_hop(t, a0, d, math.exp(x), far))

        # Rounded up by more than logarithm and exponential may take off.
        found = math.exp(bisect(excess, log_top - _RANGE, log_top)[1])
        return min(found * (1 + 2e-12), top)

    return domain.simple(_each(solve, *arrays))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def group_delta(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
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
    """
    return domain.simple(group_delta_certified(alpha, alpha0, m, n, min_distance, diameter).value)


def group_delta_certified(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
) -> Certified:
    """Return `group_delta` and where it is a closed-form bound (windows over 1.3e5 clones)."""
    a, a0, items, users, near, far = _group_arguments(alpha, alpha0, m, n, min_distance, diameter)
    value, cut = np.empty(a.shape), np.zeros(a.shape, dtype=bool)
    for at in np.ndindex(a.shape):
        hop = _Group(float(items[at]), float(users[at]), float(near[at]), float(far[at]))
        log_value, cut[at] = hop.log_delta(float(a[at]), float(a0[at]))
        value[at] = _up(log_value)
    return Certified(value, cut)


class _Group:
    """δ' of one (m, n) and geometry, in logarithms."""

    def __init__(self, m: float, n: float, near: float, far: float) -> None:
        self.m, self.total, self.near, self.far = m, m * n, near, far

    def kappa(self, alpha: float, alpha0: float) -> tuple[float, float]:
        reach = self.m * alpha0
        if alpha >= reach:
            return 1.0, 0.0
        if self.near > 0:
            return _kappa(alpha * self.near / self.m, alpha0 * self.near)
        return alpha / reach, (reach - alpha) / reach

    def log_delta(self, alpha: float, alpha0: float) -> tuple[float, bool]:
        kappa, gap = self.kappa(alpha, alpha0)
        if gap <= 0.0:
            return -math.inf, False
        spread = alpha0 * self.far
        excess, cut = log_mean_excess(self.total, *_log_clone(spread), kappa, gap)
        return self._scale(alpha, alpha0, kappa) + excess, cut

    def guess(self, alpha: float, alpha0: float) -> float:
        kappa, gap = self.kappa(alpha, alpha0)
        if gap <= 0.0:
            return -math.inf
        spread = alpha0 * self.far
        excess = guess_log_mean_excess(self.total, *_log_clone(spread), kappa, gap)
        return self._scale(alpha, alpha0, kappa) + excess

    def rough_alpha0(self, alpha: float, log_target: float) -> float:
        high = math.log(domain.EPSILON_MAX)
        low = min(math.log(max(alpha / self.m, 1e-290)), high)
        return math.exp(
            rough_root(lambda x: self.guess(alpha, math.exp(x)) - log_target, low, high)
        )

    def _scale(self, alpha: float, alpha0: float, kappa: float) -> float:
        """ln[(e^α − 1)/(total·p·κ)], with its limit at α = 0."""
        if alpha < 1e-200:
            # (e^α − 1)/κ → m·α₀, or 2m·tanh(α₀d_min/2)/d_min with a minimum distance.
            near = self.near
            steep = 2 * math.tanh(alpha0 * near / 2) / near if near > 0 else alpha0
            rise = math.log(self.m * steep)
        else:
            log_rise = (
                math.log(math.expm1(alpha)) if alpha < 30 else alpha + math.log1p(-math.exp(-alpha))
            )
            rise = log_rise - math.log(kappa)
        return rise - math.log(self.total) + alpha0 * self.far


def group_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
) -> Any:
    """Return the largest α₀ with `group_delta` ≤ δ': **the number to calibrate with**.

    Rounded down, by 1e-11 of itself; never below α/m, which plain composition allows, nor above
    800. Parameters as in `group_delta`; delta_prime in [1e-300, 1].
    """
    domain.delta(delta_prime, "delta_prime")
    a, _, items, users, near, far = _group_arguments(alpha, 0.0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = _broadcast(a, items, users, near, far, target)

    def solve(alpha: float, m: float, n: float, near: float, far: float, target: float) -> float:
        group, log_target = _Group(m, n, near, far), math.log(target)
        high = math.log(domain.EPSILON_MAX)
        low = math.log(max(alpha / m, 1e-290))
        if low >= high:
            return domain.EPSILON_MAX

        def excess(x: float) -> float:
            return group.log_delta(alpha, math.exp(x))[0] - log_target

        start = math.log(group.rough_alpha0(alpha, log_target))
        found = math.exp(root_near(excess, low, start, high))
        # At low itself only α/m is known to be enough, which may be less.
        known = found if group.log_delta(alpha, found)[0] <= log_target else 0.0
        return min(max(known, alpha / m), domain.EPSILON_MAX)

    return domain.simple(_each(solve, *arrays))


def group_alpha0_estimate(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
) -> Any:
    """Return about `group_alpha0`, from a normal approximation of the sum: an *estimate*.

    A fraction of a millisecond each, whatever m and n are: for a curve to follow a slider until
    the exact numbers are there. Not a bound. Parameters as in `group_alpha0`.
    """
    domain.delta(delta_prime, "delta_prime")
    a, _, items, users, near, far = _group_arguments(alpha, 0.0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = _broadcast(a, items, users, near, far, target)

    def solve(alpha: float, m: float, n: float, near: float, far: float, target: float) -> float:
        return _Group(m, n, near, far).rough_alpha0(alpha, math.log(target))

    return domain.simple(_each(solve, *arrays))


def group_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    min_distance: ArrayLike = 0.0,
    diameter: ArrayLike = 1.0,
) -> Any:
    """Return an α at which `group_delta` ≤ δ': what item-wise release at α₀ guarantees.

    Between 0 and m·α₀, rounded up. δ' rises with α before it falls; the crossing returned is the
    one on the falling side. Infinite where α would have to exceed 800. Parameters as in
    `group_delta`; delta_prime in [1e-300, 1].
    """
    domain.delta(delta_prime, "delta_prime")
    _, a0, items, users, near, far = _group_arguments(0.0, alpha0, m, n, min_distance, diameter)
    target = np.asarray(delta_prime, dtype=float)
    arrays = _broadcast(a0, items, users, near, far, target)

    def solve(a0: float, m: float, n: float, near: float, far: float, target: float) -> float:
        group, log_target = _Group(m, n, near, far), math.log(target)
        if a0 == 0.0:
            return 0.0
        top = min(m * a0, ALPHA_MAX)
        if group.log_delta(top, a0)[0] > log_target:
            return math.inf
        if group.log_delta(0.0, a0)[0] <= log_target:
            return 0.0

        def excess(x: float) -> float:
            return log_target - group.log_delta(math.exp(x), a0)[0]

        log_top = math.log(top)
        # Rounded up by more than logarithm and exponential may take off.
        found = math.exp(bisect(excess, log_top - _RANGE, log_top)[1])
        return min(found * (1 + 2e-12), top)

    return domain.simple(_each(solve, *arrays))


def _distances(distance: ArrayLike, diameter: ArrayLike) -> tuple[FloatArray, FloatArray]:
    far = domain.reals("diameter", diameter, 0.0, 1e6)
    near = domain.reals("distance", distance, 0.0, 1e6)
    a, b = np.broadcast_arrays(near, far)
    if (a > b).any():
        at = int(np.argmax(a > b))
        raise ValueError(f"distance: {a.flat[at]:g} is outside [0, {b.flat[at]:g}], the diameter")
    return near, far


def _group_arguments(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike,
    min_distance: ArrayLike,
    diameter: ArrayLike,
) -> list[FloatArray]:
    return _broadcast(
        domain.reals("alpha", alpha, 0.0, ALPHA_MAX),
        domain.reals("alpha0", alpha0, 0.0, domain.EPSILON_MAX),
        domain.integers("m", m, 1, domain.COUNT_MAX),
        domain.integers("n", n, 1, domain.COUNT_MAX),
        *_distances(min_distance, diameter),
    )


def _broadcast(*arrays: FloatArray) -> list[FloatArray]:
    return list(np.broadcast_arrays(*arrays))


def _each(function: Any, *arrays: FloatArray) -> FloatArray:
    out = np.empty(arrays[0].shape)
    for at in np.ndindex(out.shape):
        out[at] = function(*(float(a[at]) for a in arrays))
    return out
