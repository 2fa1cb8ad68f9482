"""One hop of item-wise release, numerically exact: a single shuffled item moves.

The shuffled outputs differ by at most the pair of Lemma B.1, whose hockey-stick divergence is
summed here to rounding: no condition on α₀ and m. `group_hops` adds the hops of a user's items up.

It assumes one common item mechanism that is α₀·d-private for a symmetric d, shuffled item by item,
and distances of at most `diameter` between *any* two items of *any* users: items outside the
declared domain must be rejected. It is an upper bound for every such mechanism, not attained by
all.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import bisect
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffling.clones import Clones
from explorer.privacy.user_metric.hops.mean_excess import log_mean_excess
from explorer.privacy.user_metric.theorem44.theorem import TOTAL_MAX

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
        checks.integers("total", total, 1, TOTAL_MAX),
        checks.reals("alpha0", alpha0, 0.0, checks.EPSILON_MAX),
        *near_and_far(distance, diameter),
        checks.reals("epsilon", epsilon, 0.0, checks.EPSILON_MAX),
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
        checks.integers("total", total, 1, TOTAL_MAX),
        checks.reals("alpha0", alpha0, 0.0, checks.EPSILON_MAX),
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
