"""The exact divergences of one round for binary randomised response (Theorem 2, both directions).

Randomised response at ε₀ (2RR) is one ε₀-LDP randomiser; what it leaks bounds from below what any
statement about *all* ε₀-LDP randomisers may claim. With data all alike but for one record the
shuffled messages are a count m: P = Bin(k, p), p = 1/(e^ε₀+1), and Q/P = 1 + γX(m),
X = (s/k)(m − kp), s = e^ε₀ − e^−ε₀.
"""

import math
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf, log_pmf_at, log_pmf_run, logistic_log_p
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.divergences import orders_up_to, softplus
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffle_rdp.upper import pick_orders

_NODES = 1e6
"""Beyond this many counts only every h-th is taken, which a window 10⁶ wide does not notice."""
_TAIL = 60.0
"""Summands below e^−60 of the largest are left out; a lower bound may leave out positive terms."""


class Direction(StrEnum):
    """Direction of a divergence: the first argument among the two neighbours' laws."""

    QP = "QP"
    PQ = "PQ"
    BOTH = "both"
    """The larger of the two: the divergence of neighbours that may be swapped."""


class RandomisedResponsePair:
    """P and Q of one round on the counts m that matter.

    Attributes
    ----------
    log_mass : ndarray of float
        ln of P's mass at each node (times the node's spacing).
    log_ratio : ndarray of float
        ln(Q/P) = ln(1+γX).
    log_square : ndarray of float
        2·ln|γX|.
    """

    def __init__(
        self,
        eps0: float,
        k: float,
        n: float,
        top_power: float,
        *,
        dense: bool = False,
        tail: float = _TAIL,
    ) -> None:
        self.eps0, self.k, self.gamma = eps0, k, k / n
        # Where nearly all are sampled 1 − γ must not come from a rounded γ.
        self.least = (n - k) / n + self.gamma * math.exp(-eps0)
        self.log_p, self.log_q = logistic_log_p(eps0)
        self.log_s = eps0 + math.log(-math.expm1(-2 * eps0))
        self.mean = k * math.exp(self.log_p)
        low, high, step = self._window(top_power, dense, tail)
        self.m = np.arange(low, high + 1, step)
        if step == 1:
            self.log_mass = log_pmf_run(low, float(self.m[-1]), k, self.log_p, self.log_q)
        else:
            self.log_mass = log_pmf(self.m, k, self.log_p, self.log_q) + math.log(step)
        self.log_ratio = self._log_ratio(self.m)
        with np.errstate(divide="ignore"):
            self.log_square = 2 * (
                math.log(self.gamma) + self.log_s - math.log(k) + np.log(np.abs(self.m - self.mean))
            )

    def _log_ratio(self, m: FloatArray) -> FloatArray:
        # 1 + γX = (1−γ) + γ(e^−ε₀ + s·m/k): a sum of positive terms, since 1 − sp = e^−ε₀.
        with np.errstate(all="ignore"):
            rising = math.log(self.gamma) + self.log_s + np.log(m) - math.log(self.k)
            least = np.log(self.least) if self.least > 0 else -self.eps0
            # From the count itself where the ratio is so near 1 that the sum has no digits left.
            direct = self.gamma * np.exp(self.log_s) / self.k * (m - self.mean)
            near = np.abs(direct) < 0.5
            return np.where(near, np.log1p(direct), np.logaddexp(least, rising))

    def _window(self, power: float, dense: bool, tail: float) -> tuple[float, float, float]:
        """Return the first and last count that matter for (Q/P)^±power, and the step between.

        Far from the edges the summands are smooth on the scale σ, so the sum over every h-th
        count times h differs from the sum over all by e^{−2π²(σ/h)²}: nothing at h = σ/8.
        """
        k, mean = self.k, self.mean
        sigma = math.sqrt(mean)
        lowest = abs(self._log_ratio(np.zeros(1))[0])
        # Left: Pr[m ≤ mean − t] ≤ e^{−t²/2·mean}, against a weight of at most e^{power·lowest}.
        reach = math.sqrt(2 * mean * (power * lowest + tail))
        low = max(0.0, math.floor(mean - reach))
        # Right: the log-summand is concave; walk out until it has fallen far below its maximum.
        high, best, walk = mean, 0.0, 30.0 + 11 * sigma
        while high < k:
            high = min(k, mean + walk)
            at = float(math.floor(high))
            value = (
                log_pmf_at(at, k, self.log_p, self.log_q)
                + power * self._log_ratio(np.array([at]))[0]
            )
            if value < best - tail - 0.5 * math.log(k):
                break
            best = max(best, value)
            walk *= 1.5
        smooth = mean > max(2 * power * max(lowest, 1.0), 4096.0)
        step = 1.0 if dense or not smooth else max(1.0, math.floor(sigma / 8))
        step = max(step, math.floor((high - low) / _NODES))
        return low, min(k, math.ceil(high)), step

    def log_moments(self, count: int, sign: int) -> FloatArray:
        """Return ln E_P[(γX)²·(Q/P)^{sign·j}] for j = 0…count−1."""
        exponent = sign * self.log_ratio
        weight = self.log_mass + self.log_square
        span = float(exponent.max() - exponent.min())
        # Powers are taken in blocks: the first of each in logarithms, the others by a product of
        # matrices, whose entries must not leave the range of doubles.
        size = min(count, 32 if 32 * span <= 600 else max(1, int(600 / span)))
        firsts = np.arange(0, count, size)
        centre = 0.5 * float(exponent.max() + exponent.min())
        logs = weight + firsts[:, None] * exponent
        top = logs.max(axis=1, keepdims=True)
        powers = np.ones((size, exponent.size))
        done = 1
        while done < size:
            # As many more, from one exact power each time: no rounding error propagates.
            more = min(done, size - done)
            np.multiply(powers[:more], np.exp(done * (exponent - centre)), out=powers[done:][:more])
            done += more
        with np.errstate(divide="ignore"):
            block = np.log(np.exp(logs - top) @ powers.T) + top + np.arange(size) * centre
        return np.asarray(block.reshape(-1)[:count])

    def rdp(self, top: int, direction: Direction) -> FloatArray:
        """Return D_λ for λ = 2…top.

        (1+x)^λ − 1 − λx = x²Σ_{j≤λ−2}(λ−1−j)(1+x)^j and, with r = 1/(1+x) and ν = λ−1,
        r^ν − 1 + νx = x²Σ_{1≤j≤ν}(ν+1−j)r^j: all terms are positive and both double sums are two
        running sums over the moments E[x²(1+x)^{±j}].
        """
        orders = orders_up_to(top)
        if direction is Direction.BOTH:
            return np.maximum(self.rdp(top, Direction.QP), self.rdp(top, Direction.PQ))
        if direction is Direction.QP:
            moments = self.log_moments(top - 1, +1)
        else:
            moments = self.log_moments(top, -1)[1:]
        return np.asarray(softplus(_log_running_sum_twice(moments)) / (orders - 1))


def _log_running_sum_twice(logs: FloatArray) -> FloatArray:
    """Return ln of the running sums of the running sums of e^logs."""
    top = float(logs.max())
    if top - float(logs.min()) < 600.0:
        return np.asarray(np.log(np.cumsum(np.cumsum(np.exp(logs - top)))) + top)
    return np.asarray(np.logaddexp.accumulate(np.logaddexp.accumulate(logs)))


def lower_rdp_table(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    lam_max: int,
    direction: Direction | str = Direction.BOTH,
) -> FloatArray:
    """Return the Rényi divergences of 2RR's round for orders 2…λ_max: a lower bound on the RDP.

    Parameters
    ----------
    eps0, k, n : array of float
        As in `upper_rdp_table`.
    lam_max : int
        Largest order, in [2, 4096].
    direction : Direction
        ``QP`` is Theorem 2 as stated; the reverse ``PQ`` is a lower bound too and up to 6.6
        times larger (errata shuf-A2); ``both`` is their maximum.

    Returns
    -------
    ndarray of float, shape (broadcast shape of the parameters) + (λ_max−1,)

    References
    ----------
    Girgis, Data & Diggavi, Theorem 2; errata shuf-A1, shuf-A2, shuf-A5.
    """
    orders = orders_up_to(lam_max)
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    which = Direction(direction)

    def levels(eps0: float, k: float, n: float) -> Any:
        if eps0 == 0:
            return 0.0
        return RandomisedResponsePair(eps0, k, n, float(lam_max)).rdp(int(lam_max), which)

    table: FloatArray = vectorised(levels, row=orders.size)(e, sampled, clients)
    return table


def lower_rdp(
    lam: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Any:
    """Return the Rényi divergence of 2RR's round at broadcast orders; see `lower_rdp_table`."""
    return pick_orders(
        lambda e, s, c, top: lower_rdp_table(e, s, c, top, direction), lam, eps0, k, n
    )


def randomised_response_delta(
    epsilon: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Any:
    """Return the exact one-round hockey-stick divergence of 2RR at ε, arguments broadcast.

    ``QP`` is E_P[(1+γX − e^ε)_+], ``PQ`` is E_P[(1 − e^ε(1+γX))_+]. No (ε, δ) statement about all
    ε₀-LDP randomisers can have a smaller δ at ε. Counts further out than e^−60 are left out.
    """
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    which = Direction(direction)

    def delta(at: float, eps0: float, k: float, n: float) -> float:
        if eps0 == 0:
            return 0.0
        pair = RandomisedResponsePair(eps0, k, n, 1.0, dense=True)
        loss = pair.log_ratio
        forward = np.exp(pair.log_mass + loss) @ -np.expm1(np.minimum(at - loss, 0.0))
        backward = np.exp(pair.log_mass) @ -np.expm1(np.minimum(at + loss, 0.0))
        both = {Direction.QP: forward, Direction.PQ: backward}
        # A sum of probabilities may round to a little more than 1.
        return min(float(both.get(which, max(forward, backward))), 1.0)

    return vectorised(delta)(eps, e, sampled, clients)
