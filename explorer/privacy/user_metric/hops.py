"""Hops of item-wise release, numerically exact: one item moves, or a whole dataset item by item.

**One hop: a single shuffled item moves.** The shuffled outputs differ by at most the pair of Lemma
B.1, whose hockey-stick divergence is summed here to rounding: no condition on α₀ and m.
`group_delta` adds the hops of a user's items up.

It assumes one common item mechanism that is α₀·d-private for a symmetric d, shuffled item by item,
and distances of at most `diameter` between *any* two items of *any* users: items outside the
declared domain must be rejected. It is an upper bound for every such mechanism, not attained by
all.

**Whole datasets: exact hops, added up.** Moving a user's m items is m single hops, whose
assumptions hold here too. Conventions: local model n = 1, central model n users with m items each;
total = mn. `group_calibration` has what a target allows.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.roots import bisect, rough_root
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.shuffling import Clones
from explorer.privacy.user_metric.calibration import MAX_ALPHA
from explorer.privacy.user_metric.mean_excess import guess_log_mean_excess, log_mean_excess
from explorer.privacy.user_metric.theorem44 import MAX_TOTAL

_TINY = 5e-324
SEARCHED = 680.0
"""How many e-folds below its largest value a parameter is searched for."""


def hop_delta(
    total: ArrayLike,
    alpha0: ArrayLike,
    distance: ArrayLike,
    epsilon: ArrayLike,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return δ at ε when one of `total` shuffled items moves by a distance: Lemma B.1, exactly.

    tanh(a/2)(1+e^ε)/(total·p)·E[((U−V) − κ(U+V))_+] with a = α₀d, p = e^{−α₀·diameter},
    κ = tanh(ε/2)/tanh(a/2), U and V multinomial(total; p/2, p/2); 0 where ε ≥ a. Rounded up, by
    about 1e-10 of itself or to the smallest positive double.

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
    variant : Clones
        The stronger clones have p times 1 + tanh(a/2): at most twice as many, and hardly more
        for short hops.

    References
    ----------
    Imola et al., Lemma B.1; specification "Exact amplification by shuffling for metric DP".
    """
    stronger = Clones(variant) is Clones.STRONGER
    return vectorised(lambda t, a0, d, far, e: _hop(t, a0, d, e, far, stronger))(
        checks.integers("total", total, 1, MAX_TOTAL),
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON),
        *near_and_far(distance, diameter),
        checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON),
    )


def _hop(
    total: float, alpha0: float, distance: float, epsilon: float, diameter: float, stronger: bool
) -> float:
    a = alpha0 * distance
    if epsilon >= a:
        return 0.0
    log_tanh = math.log(math.tanh(a / 2)) if a > 1e-8 else math.log(a) - math.log(2)
    log_p, log_q = log_clone(alpha0 * diameter, a if stronger else 0.0)
    excess, _ = log_mean_excess(total, log_p, log_q, *kappa_and_gap(epsilon, a))
    log_value = log_tanh + float(np.logaddexp(0.0, epsilon)) - math.log(total) - log_p + excess
    return rounded_up(min(log_value, 0.0))


def kappa_and_gap(epsilon: float, a: float) -> tuple[float, float]:
    """κ = tanh(ε/2)/tanh(a/2) and ln(1−κ), 1−κ = sinh((a−ε)/2)/(cosh(ε/2)·sinh(a/2)), ε < a."""
    if a < 1e-8:
        return epsilon / a, math.log((a - epsilon) / a)
    log_gap = math.log(2) - epsilon + math.log(-math.expm1(epsilon - a))
    log_gap -= math.log1p(math.exp(-epsilon)) + math.log(-math.expm1(-a))
    return min(math.tanh(epsilon / 2) / math.tanh(a / 2), 1.0), min(log_gap, 0.0)


def log_clone(spread: float, a: float = 0.0) -> tuple[float, float]:
    """Return ln p and ln(1−p) of p = e^−spread·(1 + tanh(a/2)), 0 ≤ a ≤ spread."""
    log_p = math.log1p(math.tanh(a / 2)) - spread
    return log_p, (math.log(-math.expm1(log_p)) if log_p < 0 else -math.inf)


def rounded_up(log_value: float) -> float:
    """Return e^log_value, and no positive number rounded to 0."""
    value = math.exp(log_value) if log_value < 709.0 else math.inf
    return max(value, _TINY) if log_value > -math.inf else 0.0


def hop_epsilon(
    total: ArrayLike,
    alpha0: ArrayLike,
    distance: ArrayLike,
    delta: ArrayLike,
    diameter: ArrayLike = 1.0,
    variant: Clones | str = Clones.PUBLISHED,
) -> Any:
    """Return the smallest ε ≥ 0 with `hop_delta` ≤ δ, never more than α₀·distance.

    Parameters as in `hop_delta`; delta in [1e-300, 1]. Rounded up, by 3e-12 of itself.
    """
    stronger = Clones(variant) is Clones.STRONGER

    def solve(t: float, a0: float, d: float, far: float, target: float) -> float:
        top = a0 * d
        if top == 0.0 or _hop(t, a0, d, 0.0, far, stronger) <= target:
            return 0.0
        log_target, log_top = math.log(target), math.log(top)

        def excess(x: float) -> float:
            return log_target - _log(_hop(t, a0, d, math.exp(x), far, stronger))

        # Rounded up by more than logarithm and exponential may take off.
        found = math.exp(bisect(excess, log_top - SEARCHED, log_top)[1])
        return min(found * (1 + 2e-12), top)

    return vectorised(solve)(
        checks.integers("total", total, 1, MAX_TOTAL),
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON),
        *near_and_far(distance, diameter),
        checks.delta(delta),
    )


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def near_and_far(distance: ArrayLike, diameter: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check a distance and the diameter it may not exceed."""
    far = checks.reals("diameter", diameter, 0.0, 1e6)
    near = checks.reals("distance", distance, 0.0, 1e6)
    return checks.at_most("distance", near, "diameter", far)


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

    (e^αD − 1)/(total·p·κ)·E[((U−V) − κ(U+V))_+], κ = α/(m·α₀), D the diameter (mostly 1), so that
    datasets are at most D apart; 0 where α ≥ m·α₀. Valid for all
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
    return scalar_if_0d(
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
    which = Clones(variant)

    def certified(
        a: float, a0: float, m: float, n: float, near: float, far: float
    ) -> tuple[float, float]:
        log_value, cut = Group(m, n, near, far, which).log_delta(a, a0)
        return rounded_up(log_value), cut

    arguments = group_arguments(alpha, alpha0, m, n, min_distance, diameter)
    found = vectorised(certified, row=2)(*arguments)
    return Certified(found[..., 0], found[..., 1].astype(bool))


class Group:
    """δ' of one (m, n) and geometry, in logarithms; arguments are checked already."""

    coarse = False
    """Whether `log_delta` is too expensive, or too coarse, for its root to be found exactly."""

    def __init__(self, m: float, n: float, near: float, far: float, variant: Clones) -> None:
        self.m, self.total, self.near, self.far = m, m * n, near, far
        self._gain = near if variant is Clones.STRONGER else 0.0

    def clone(self, alpha0: float) -> tuple[float, float]:
        """Return ln p and ln(1−p) of an answer's chance to be a clone."""
        return log_clone(alpha0 * self.far, alpha0 * self._gain)

    def clones(self, alpha0: float) -> float:
        """Return how many answers are clones on average."""
        return self.total * math.exp(self.clone(alpha0)[0])

    def kappa(self, alpha: float, alpha0: float) -> tuple[float, float]:
        """Return κ and ln(1−κ) of the hop that costs most for its length."""
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
        """Return ln δ', rounded up, and whether it is a closed-form bound."""
        kappa, log_gap = self.kappa(alpha, alpha0)
        if log_gap == -math.inf:
            return -math.inf, False
        log_p, log_q = self.clone(alpha0)
        excess, cut = log_mean_excess(self.total, log_p, log_q, kappa, log_gap)
        return self._scale(alpha, alpha0, kappa) - log_p + excess, cut

    def guess(self, alpha: float, alpha0: float) -> float:
        """Return about ln δ', in microseconds."""
        kappa, log_gap = self.kappa(alpha, alpha0)
        if log_gap == -math.inf:
            return -math.inf
        log_p, log_q = self.clone(alpha0)
        excess = guess_log_mean_excess(self.total, log_p, log_q, kappa, log_gap)
        return self._scale(alpha, alpha0, kappa) - log_p + excess

    def rough_log_alpha0(self, alpha: float, log_target: float, near: float | None = None) -> float:
        """Return about the ln α₀ with ln δ' = log_target, near a guess of it if one is given."""
        high = math.log(checks.MAX_EPSILON)
        low = min(math.log(max(alpha / self.m, 1e-290)), high)
        return rough_root(lambda x: self.guess(alpha, math.exp(x)) - log_target, low, high, near)

    def _scale(self, alpha: float, alpha0: float, kappa: float) -> float:
        """ln[(e^αD − 1)/(total·κ)], with its limit at α = 0."""
        if self.far == 0.0:
            return -math.inf
        whole = alpha * self.far
        if whole < 1e-200:
            # (e^αD − 1)/(κD) → m·α₀, or 2m·tanh(α₀d_min/2)/d_min with a minimum distance.
            near = self.near
            close = alpha0 * near <= 1e-8
            steep = alpha0 if close else 2 * math.tanh(alpha0 * near / 2) / near
            rise = math.log(self.m * steep * self.far) if steep > 0 else -math.inf
        else:
            log_rise = (
                math.log(math.expm1(whole)) if whole < 30 else whole + math.log1p(-math.exp(-whole))
            )
            rise = log_rise - math.log(kappa)
        return rise - math.log(self.total)


def group_arguments(
    alpha: ArrayLike,
    alpha0: ArrayLike,
    m: ArrayLike,
    n: ArrayLike,
    min_distance: ArrayLike,
    diameter: ArrayLike,
) -> list[FloatArray]:
    """Check the arguments of `group_delta`."""
    return [
        checks.reals("alpha", alpha, 0.0, MAX_ALPHA),
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON),
        checks.integers("m", m, 1, checks.MAX_COUNT),
        checks.integers("n", n, 1, checks.MAX_COUNT),
        *near_and_far(min_distance, diameter),
    ]
