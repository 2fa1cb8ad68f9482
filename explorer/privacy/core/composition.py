"""Composition of T rounds of an (ε, δ)-DP mechanism, and guarantees on a sample of clients.

Composition follows Kairouz, Oh & Viswanath 2015; subsampling draws k of n clients without
replacement (replace-one neighbours).

**Sums of losses.** Where the values of the privacy loss of many rounds can be listed, `LossSums`
returns δ at ε and ε at δ, on either side.

**Sampling of users by a keyed hash.** `sampling_guarantee` is the ε of a mechanism that is run on a
sample, towards the users of the whole file.
"""

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf, logistic_log_p
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised

_UNIT = 2.0**-53
_DEPTH = 45.0
"""Values whose probability is below e^−45 of the target are not listed."""
Scheme = Literal["all", "bottom_k", "poisson"]
Key = Literal["public", "secret"]
Adjacency = Literal["add_remove", "replace"]
SAMPLING = Reference(
    "Balle, Barthe and Gaboardi 2018",
    "Theorems 8 and 9",
    "sampled by the smallest keyed hashes (bottom-k) or below a threshold (Poisson)",
)
_ROUNDING_UP = 1 + 2.0**-49
"""More than the rounding of the few operations below, of which each errs by a unit or less in the
last place."""
_MAX_AMPLIFIED = 700.0
"""An ε above which nothing is taken off: its exponential is beyond a double's range."""
_MIN_AMPLIFIED = 1e-290
"""Least ε that is returned: below, intermediate numbers lose their digits."""


class LossSums:
    """Values of a privacy loss with their probabilities under the first law.

    Parameters
    ----------
    loss : ndarray of float
        Values, descending.
    log_mass : ndarray of float
        ln of their probabilities.
    error : float
        Relative error of each probability, at most.
    shift : float
        Error of each value, at most.
    """

    def __init__(
        self, loss: FloatArray, log_mass: FloatArray, error: float = 0.0, shift: float = 0.0
    ) -> None:
        self.loss, self.log_mass = loss, log_mass
        # Every term is positive, so sums err by no more than a unit for each of them.
        self.error = error + (64 + 8 * loss.size) * _UNIT
        self.shift = shift

    def delta(self, epsilon: float, side: Role = Role.EXACT) -> float:
        """Return the hockey-stick divergence at ε, or a number on one side of it."""
        epsilon -= self._sign(side) * self.shift
        count = int(np.searchsorted(-self.loss, -epsilon))
        loss, log_mass = self.loss[:count], self.log_mass[:count]
        value = float(np.sum(np.exp(log_mass) * -np.expm1(epsilon - loss)))
        return min(value * (1 + self._sign(side) * self.error), 1.0)

    def epsilon(self, delta: float, side: Role = Role.EXACT) -> float:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, or a number on one side of it."""
        sign = self._sign(side)
        goal = math.log(delta) - sign * 2 * self.error
        log_mass = self.log_mass - goal
        # δ is not reached before all the mass above is more than that.
        end = int(np.searchsorted(np.cumsum(np.exp(np.minimum(log_mass, 1.0))), 1.0)) + 64
        while True:
            loss = self.loss[:end] - self.loss[0]
            # Mass·e^{−loss} from the largest loss down to the i-th, in units of e^{−loss} there.
            cumulated = np.exp(np.logaddexp.accumulate(log_mass[:end] - loss) + loss)
            # From one loss down to the next δ grows by a positive term, and between them it is
            # δ_i + held_i·(1 − e^{ε−loss_i}): nothing cancels however small δ is.
            deltas = np.concatenate([[0.0], np.cumsum(cumulated[:-1] * -np.expm1(np.diff(loss)))])
            if end >= self.loss.size or deltas[-1] > 1:
                break
            end *= 2
        at = int(np.searchsorted(deltas, 1.0, side="right")) - 1
        share = (1 - float(deltas[at])) / float(cumulated[at]) if cumulated[at] > 0 else 1.0
        if share >= 1:
            return 0.0
        epsilon = float(self.loss[at]) + math.log1p(-share)
        return max(0.0, epsilon + sign * (self.shift + 4 * _UNIT * abs(epsilon)))

    @staticmethod
    def _sign(side: Role) -> int:
        return {Role.UPPER: 1, Role.LOWER: -1}.get(side, 0)


def two_losses(
    T: float, log_p: float, log_q: float, high: float, low: float, log_delta: float
) -> LossSums:
    """Return the sums of T losses that are `high` with probability p and `low` otherwise.

    Parameters
    ----------
    T : float
        Rounds, up to 1e9.
    log_p, log_q : float
        ln p and ln(1−p).
    high, low : float
        high > low.
    log_delta : float
        Least ln δ to be evaluated: values that matter to none above it are not listed.
    """
    mean = T * math.exp(log_p)
    variance = mean * math.exp(log_q)
    deep = _DEPTH - min(log_delta, 0.0)
    # Bernstein's bound on both tails.
    last = min(T, math.ceil(mean + math.sqrt(2 * deep * variance) + 2 * deep / 3))
    first = max(0.0, math.floor(mean - math.sqrt(2 * _DEPTH * variance) - 2 * _DEPTH / 3))
    count = np.arange(last, first - 1, -1.0)
    loss = count * high + (T - count) * low
    size = max(abs(float(count[0]) * high), abs(T * low), abs(T * (high - low)))
    # ln p errs by a unit or two, which moves the mean.
    error = 1e-12 + 64 * math.sqrt(T) * _UNIT
    return LossSums(loss, log_pmf(count, T, log_p, log_q), error, 8 * _UNIT * size)


def listed(log_mass: FloatArray, loss: FloatArray, T: int, error: float = 0.0) -> LossSums:
    """Return the sums of T independent losses, one for each way to share T among the values.

    Parameters
    ----------
    log_mass, loss : ndarray of float
        Values of one loss and ln of their probabilities, all above 0.
    T : int
    error : float
        Relative error of the probabilities, at most.
    """
    if T == 1:
        order = np.argsort(-loss)
        return LossSums(loss[order], log_mass[order], error, 8 * _UNIT * float(np.abs(loss).max()))
    rest, total = np.array([T]), np.zeros(1)
    log_total = np.array([math.lgamma(T + 1)])
    factorial = np.array([math.lgamma(i + 1) for i in range(T + 1)])
    for value, log_p in zip(loss[:-1].tolist(), log_mass[:-1].tolist(), strict=True):
        ways = rest + 1
        index = np.repeat(np.arange(rest.size), ways)
        count = np.arange(index.size) - np.repeat(np.cumsum(ways) - ways, ways)
        rest, total = rest[index] - count, total[index] + count * value
        log_total = log_total[index] + count * log_p - factorial[count]
    total = total + rest * float(loss[-1])
    log_total = log_total + rest * float(log_mass[-1]) - factorial[rest]
    order = np.argsort(-total)
    most = float(np.abs(loss).max())
    units = 16 * T * (loss.size + float(np.abs(log_mass).max())) * _UNIT
    return LossSums(total[order], log_total[order], T * error + units, 8 * T * most * _UNIT)


def kov_epsilon(epsilon: ArrayLike, T: ArrayLike, delta_slack: ArrayLike) -> Any:
    """Return the closed-form ε of T rounds that are (ε, ·)-DP each, at slack δ̃.

    The three-way minimum of Theorem 3.4: Tε; and tanh(ε/2)Tε + ε√(2T·ℓ) with
    ℓ = ln(e + √(Tε²)/δ̃) or ℓ = ln(1/δ̃). The δs of the rounds and δ̃ add up (at most). Arguments
    broadcast together.

    Parameters
    ----------
    epsilon : array of float
        ε ≥ 0 of one round.
    T : array of float
        Rounds, in [1, 1e9].
    delta_slack : array of float
        δ̃ in [1e-300, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.4.
    """
    eps = checks.reals("eps", epsilon, 0.0)
    rounds = checks.rounds(T)
    slack = checks.delta(delta_slack, "delta_slack")
    drift = np.tanh(eps / 2) * rounds * eps
    spread = eps * np.sqrt(2 * rounds)
    first = drift + spread * np.sqrt(np.log(math.e + np.sqrt(rounds) * eps / slack))
    with np.errstate(invalid="ignore"):  # ∞·0 at δ̃ = 1, where nothing is added
        second = drift + np.where(slack < 1, spread * np.sqrt(-np.log(slack)), 0.0)
    return scalar_if_0d(np.minimum(rounds * eps, np.minimum(first, second)))


def _responses(epsilon: float, T: float, log_delta: float) -> LossSums:
    """Return the sums of the losses of T independent randomised responses at ε."""
    log_q, log_p = logistic_log_p(epsilon)
    return two_losses(T, log_p, log_q, epsilon, -epsilon, log_delta)


def kov_exact_delta(epsilon_global: ArrayLike, epsilon: ArrayLike, T: ArrayLike) -> Any:
    """Return the exact δ at ε_g of T rounds of (ε, 0)-DP, worst case over mechanisms.

    Σ_l C(T,l)[e^{(T−l)ε} − e^{ε_g+lε}]_+/(1+e^ε)^T; arguments broadcast. Every term is positive.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.3.
    """
    eps_g = checks.reals("eps_g", epsilon_global, 0.0)
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    rounds = checks.rounds(T)
    delta = vectorised(lambda g, e, t: _responses(e, t, -800.0).delta(g))
    return delta(eps_g, eps, rounds)


def kov_exact_epsilon(
    epsilon: ArrayLike, T: ArrayLike, delta_slack: ArrayLike, side: Role = Role.EXACT
) -> Any:
    """Return the exact ε at δ̃ of T rounds of (ε, 0)-DP, worst case over mechanisms.

    The inverse of `kov_exact_delta` in ε_g, never more than Tε nor than `kov_epsilon`; with a
    `side`, `Role.UPPER` or `Role.LOWER`, proof against rounding on that side.
    """
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    rounds = checks.rounds(T)
    slack = checks.delta(delta_slack, "delta_slack")

    def epsilon_global(e: float, t: float, d: float) -> float:
        return _responses(e, t, math.log(d)).epsilon(d, side) if e else 0.0

    return vectorised(epsilon_global)(eps, rounds, slack)


def subsampled_epsilon(epsilon: ArrayLike, gamma: ArrayLike) -> Any:
    """Return ln(1 + γ(e^ε − 1)), the ε of a mechanism run on a secret sample of rate γ.

    Parameters
    ----------
    epsilon : array of float
        ε ≥ 0 of the mechanism on the sampled records.
    gamma : array of float
        Sampling rate in [0, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Ullman 2017 (lecture notes), Theorem; the mechanism's δ becomes γδ.
    """
    eps = checks.reals("eps", epsilon, 0.0)
    rate = checks.reals("gamma", gamma, 0.0, 1.0)
    eps, rate = np.broadcast_arrays(eps, rate)
    moderate = np.minimum(eps, 30.0)
    with np.errstate(divide="ignore"):
        # Above 30 the −γ inside the logarithm matters only if γe^ε is small as well.
        large = np.logaddexp(np.log1p(-rate), np.log(rate) + eps)
    out: FloatArray = np.where(eps <= 30.0, np.log1p(rate * np.expm1(moderate)), large)
    return scalar_if_0d(out)


def pure_dp_renyi(order: ArrayLike, epsilon: ArrayLike) -> Any:
    """Return the largest Rényi divergence of order λ that an (ε, 0)-DP mechanism can have.

    ln[(e^{λε} + e^{(1−λ)ε})/(1+e^ε)]/(λ−1), attained by randomised response; arguments broadcast.

    References
    ----------
    Randomised response dominates every (ε, 0)-DP pair (Kairouz, Oh & Viswanath 2015, Theorem 2.5).
    """
    lam = checks.reals("lam", order, 1.0, np.inf, open_low=True)
    eps = checks.reals("eps", epsilon, 0.0)
    lam, eps = np.broadcast_arrays(lam, eps)
    a, b = (lam - 0.5) * eps, 0.5 * eps
    # The ratio is cosh(a)/cosh(b) = 1 + 2·sinh(λε/2)·sinh((λ−1)ε/2)/cosh(b).
    small = a < 1.0
    e = np.where(small, eps, 0.0)
    near = np.log1p(2 * np.sinh(lam * e / 2) * np.sinh((lam - 1) * e / 2) / np.cosh(e / 2))
    far = (a - b) + np.log1p(np.exp(-2 * a)) - np.log1p(np.exp(-2 * b))
    # No order's level exceeds ε; near order 1 rounding would.
    return scalar_if_0d(np.minimum(np.where(small, near, far) / (lam - 1), eps))


def sampling_guarantee(
    epsilon: float, scheme: Scheme, key: Key, adjacency: Adjacency, rate: float = 1.0
) -> Bound:
    """Return the ε of an ε-DP mechanism run on a sample of users, towards those of the whole file.

    A user who comes or goes exchanges at most one of the k users with the smallest hashes, which is
    replacing one in the sample: 2ε. Below a threshold everyone is in or out on their own: ε. If
    nobody but the curator knows the hash's key, and it is used for one release, the sample
    amplifies privacy: with P = (1 − γ)P₀ + γP₁ where P₁ lies within e^{±ε} of P₀ (bottom-k: within
    e^{±2ε}, one exchange away), ε′ = ln(1 + γ(e^ε − 1)).

    Parameters
    ----------
    epsilon : float
        Of the mechanism, for adding or removing one of the users it is run on; replacing one costs
        twice as much. Above 0.
    scheme : str
        ``all``, ``bottom_k`` or ``poisson``.
    key : str
        ``public``, or ``secret``: fresh from the system's random source, never shown or used again.
    adjacency : str
        ``add_remove`` or ``replace``.
    rate : float
        γ in (0, 1]: Poisson's threshold; of bottom-k k/N, with N a *public* lower bound on the
        number of users there are on both sides. Without one γ = 1. Matters for a secret key only.

    Returns
    -------
    Bound
        Upper bound of shape (), rounded up.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    checks.positive("epsilon", epsilon)
    checks.reals("rate", rate, 0.0, 1.0, open_low=True)
    for name, word, allowed in (
        ("scheme", scheme, get_args(Scheme)),
        ("key", key, get_args(Key)),
        ("adjacency", adjacency, get_args(Adjacency)),
    ):
        checks.one_of(name, word, allowed)
    exchanged = scheme == "bottom_k" or adjacency == "replace"
    value = 2 * epsilon if exchanged else epsilon
    if key == "secret" and scheme != "all" and value < _MAX_AMPLIFIED:
        if scheme == "bottom_k" or adjacency == "add_remove":
            amplified = _log_mixture(rate, value)
        else:
            amplified = _log_mixture(rate, epsilon) - _log_mixture(rate, -epsilon)
        value = min(max(amplified * _ROUNDING_UP, _MIN_AMPLIFIED), value)
    return Bound(np.asarray(value), Role.UPPER, SAMPLING, grade=Grade.PROVED)


def _log_mixture(rate: float, epsilon: float) -> float:
    """Return ln(1 − γ + γe^ε) to a few units in the last place, for ε of either sign."""
    moved = rate * math.expm1(epsilon)
    return math.log1p(moved) if moved > -0.5 else math.log((1 - rate) + rate * math.exp(epsilon))
