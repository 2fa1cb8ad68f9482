"""Item-wise release of whole datasets: exact hops, added up.

Moving a user's m items is m hops of `hops`, whose assumptions hold here too. Conventions: local
model n = 1, central model n users with m items each; total = mn. `group_calibration` has what a
target allows.
"""

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.roots import rough_root
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.shuffling.clones import Clones
from explorer.privacy.user_metric.calibration import ALPHA_MAX
from explorer.privacy.user_metric.hops.mean_excess import guess_log_mean_excess, log_mean_excess
from explorer.privacy.user_metric.hops.one_hop import (
    kappa_and_gap,
    log_clone,
    near_and_far,
    rounded_up,
)


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
        high = math.log(checks.EPSILON_MAX)
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
        checks.reals("alpha", alpha, 0.0, ALPHA_MAX),
        checks.reals("alpha0", alpha0, 0.0, checks.EPSILON_MAX),
        checks.integers("m", m, 1, checks.COUNT_MAX),
        checks.integers("n", n, 1, checks.COUNT_MAX),
        *near_and_far(min_distance, diameter),
    ]
