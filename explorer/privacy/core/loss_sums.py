"""The loss of many rounds where its values can be listed: δ at ε and ε at δ, on either side."""

import math

import numpy as np

from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import FloatArray, Role

_UNIT = 2.0**-53
_DEPTH = 45.0
"""Values whose probability is below e^−45 of what is asked for are not listed."""


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
            held = np.exp(np.logaddexp.accumulate(log_mass[:end] - loss) + loss)
            # From one loss down to the next δ grows by a positive term, and between them it is
            # δ_i + held_i·(1 − e^{ε−loss_i}): nothing cancels however small δ is.
            grown = np.concatenate([[0.0], np.cumsum(held[:-1] * -np.expm1(np.diff(loss)))])
            if end >= self.loss.size or grown[-1] > 1:
                break
            end *= 2
        at = int(np.searchsorted(grown, 1.0, side="right")) - 1
        share = (1 - float(grown[at])) / float(held[at]) if held[at] > 0 else 1.0
        if share >= 1:
            return 0.0
        found = float(self.loss[at]) + math.log1p(-share)
        return max(0.0, found + sign * (self.shift + 4 * _UNIT * abs(found)))

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
        Least ln δ that will be asked for: values that matter to none above it are not listed.
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
