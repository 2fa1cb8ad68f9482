"""One round of randomised response on two or three symbols: exact δ for many ε, ε for many δ.

**Two symbols.** Q/P − 1 = γX is linear in the count m, so the hockey-stick divergences of both
directions are double running sums of P's masses: positive terms only, one pass for all ε.

**Three symbols (3RR): a lower bound for all randomisers.** R(own) = e^ε₀/(e^ε₀+2), 1/(e^ε₀+2) for
each other symbol. One client moves from symbol 1 to 2, all others hold 3. With N ~ Bin(k,
2/(e^ε₀+2)) messages in {1, 2}, of which Bin(N, ½) say 2, every divergence of the shuffled counts is
one of (N, V); an unsampled client is replaced by another holder of 3. Both directions are alike.
From e^ε₀ = 2 on this leaks more than binary randomised response, to first order in 1/√k the most
that any ε₀-LDP randomiser can if the others are alike.

**Two symbols, mixed others.** Without sampling a few clients leak more under 2RR if some of the
others hold the old value and some the new one: the count is a sum of two binomials.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import (
    SMOOTH_SAFETY,
    binomial_rows,
    direct_stop_loss,
    half_pmf_run,
    log_pmf,
    log_pmf_run,
    logistic_log_p,
    running_tail,
    smooth_stop_loss,
)
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.lower import RandomisedResponsePair
from explorer.privacy.shuffling import clone_guess

_MAX_EXPONENT = 700.0


class RandomisedResponseRound:
    """The larger of both hockey-stick divergences of one round of 2RR, and its inverse.

    No (ε, δ) statement about all ε₀-LDP randomisers can lie below it. Counts further out than
    e^−60 are left out, which errs downwards, as a lower bound may.

    Parameters
    ----------
    eps0 : float
        In (0, 800]; from 700 on that of 700, which is ε₀-LDP too, as e^ε₀ leaves the doubles.
    k, n : float
        Sampled and all clients, 1 ≤ k ≤ n; k up to 1e9 keeps every count.

    References
    ----------
    Girgis, Data & Diggavi, the pair of Theorem 2; errata shuf-A1, shuf-A2.
    """

    def __init__(self, eps0: float, k: float, n: float) -> None:
        pair = RandomisedResponsePair(min(eps0, _MAX_EXPONENT), k, n, 1.0, dense=True)
        mass = np.exp(pair.log_mass)
        slope = pair.gamma * np.exp(pair.log_s) / k
        self._x = slope * (pair.m - pair.mean)
        self._eps0 = eps0
        self._ratio = np.exp(pair.log_ratio)
        spacing = float(self._x[1] - self._x[0]) if self._x.size > 1 else 0.0
        # tail[i] = Σ_{j≥i} mass, above[i] = Σ_{j≥i} mass·(x_j − x_i); head and below likewise.
        self._tail = np.cumsum(mass[::-1])[::-1]
        self._above = spacing * (np.cumsum(self._tail[::-1])[::-1] - self._tail)
        self._head = np.cumsum(mass)
        self._below = spacing * (np.cumsum(self._head) - self._head)
        self._above[-1] = self._below[0] = 0.0

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return δ at each ε ≥ 0 (1-dimensional)."""
        eps = np.atleast_1d(np.asarray(epsilon, dtype=float))
        rise = np.expm1(np.minimum(eps, 700.0))
        i = np.searchsorted(self._x, rise, side="left")
        inside = i < self._x.size
        i = np.minimum(i, self._x.size - 1)
        up = np.where(inside, self._above[i] + self._tail[i] * (self._x[i] - rise), 0.0)
        least = np.exp(-eps)
        j = np.searchsorted(self._ratio, least, side="right") - 1
        reached = j >= 0
        j = np.maximum(j, 0)
        # e^−ε − (1+x), from whichever two are the difference of small numbers.
        room = np.where(eps < 1, np.expm1(-eps) - self._x[j], least - self._ratio[j])
        gap = self._below[j] + self._head[j] * room
        down = np.where(reached, np.exp(np.minimum(eps, 700.0)) * gap, 0.0)
        # From ε₀ on nothing is left but rounding.
        return np.where(eps < self._eps0, np.clip(np.maximum(up, down), 0.0, 1.0), 0.0)

    def epsilon(self, delta: ArrayLike) -> FloatArray:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, for each δ in (0, 1] (1-dimensional)."""
        target = np.atleast_1d(np.asarray(delta, dtype=float))
        # Q‖P: `above` falls; the first node at or below the target ends the segment.
        i = self._x.size - np.searchsorted(self._above[::-1], target, side="right")
        i = np.minimum(i, self._x.size - 1)
        rise = self._x[i] - (target - self._above[i]) / self._tail[i]
        up = np.log1p(np.maximum(rise, 0.0))
        # P‖Q: below/(1+x) rises; the last node at or below the target starts the segment.
        j = np.searchsorted(self._below / self._ratio, target, side="right") - 1
        head, below = self._head[j], self._below[j]
        slope = np.where(head > target, head - target, np.inf)
        near = (target - below + head * self._x[j]) / slope
        far = (head * self._ratio[j] - below) / slope
        with np.errstate(divide="ignore"):
            down = np.where(
                self._x[j] > -0.5, -np.log1p(np.clip(near, -0.9, 0.0)), -np.log(np.minimum(far, 1))
            )
        down = np.where(head > target, down, 0.0)
        # Rounding may lead past ε₀, which no bound exceeds.
        solved = np.minimum(np.maximum(up, down), self._eps0)
        return np.asarray(np.where(target >= 1, 0.0, solved) + 0.0)


def randomised_response_round_epsilon(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike
) -> Any:
    """Return ε at δ of one round of 2RR, the larger of both directions.

    Exact where δ ≥ e^−60 and k < 1e9. Below that δ, or from that k on, a lower value: outcomes of
    less than e^−60 are left out, counts are downsampled.

    Parameters
    ----------
    eps0 : array of float
        In [0, 800].
    k, n : array of int
        Sampled and all clients, 1 ≤ k ≤ n ≤ 1e12 (from 1e9 on counts are downsampled); k = n is the
        shuffle without sampling.
    delta : array of float
        In [1e-300, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data & Diggavi, the pair of Theorem 2; errata shuf-A1, shuf-A2.
    """
    d = checks.delta(delta)
    return by_round(lambda *one: RandomisedResponseRound(*one).epsilon, (eps0, k, n), d)


def by_round(
    prepare: Callable[[float, float, float], Callable[[FloatArray], FloatArray]],
    rounds: tuple[ArrayLike, ArrayLike, ArrayLike],
    x: FloatArray,
) -> Any:
    """Return the value of each round's curve at x, all broadcast; 0 where ε₀ is 0.

    Parameters
    ----------
    prepare : callable
        From ε₀, k and n to the curve, a function of 1-dimensional arrays.
    rounds : tuple
        ε₀, k and n, which are checked.
    x : array of float
    """
    eps0, k, n = rounds
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    e, sampled, clients, at = np.broadcast_arrays(e, sampled, clients, x)
    out = np.zeros(e.shape)
    flat = np.stack([e.ravel(), sampled.ravel(), clients.ravel()])
    chains, which = np.unique(flat, axis=1, return_inverse=True)
    for index, chain in enumerate(chains.T.tolist()):
        if chain[0] > 0:
            some = np.flatnonzero(which.ravel() == index)
            out.flat[some] = prepare(*chain)(at.ravel()[some])
    return scalar_if_0d(out)


MAX_EPS0 = 100.0
"""Above it the 3RR of 100, which is ε₀-LDP as well, and hardly ever says 1 or 2 already."""
_DEEP = 0.05
"""Below this share of N the tails have few terms and are summed directly."""
_NEGLIGIBLE = 42.0
"""Numbers N whose summands are below e^−42 of the largest are left out."""
_WIDE = 700.0
"""Deviation of N beyond which it is sampled and its tails are normal ones."""
_CELLS = 60_000
"""Summands worked on together."""
_ROUNDING = 1e-11
"""Relative error of sums, from above; δ is lowered by it."""

_Slopes = tuple[FloatArray, FloatArray]


class ThreeSymbolRound:
    """The hockey-stick divergence of one round of 3RR, and its inverse, rounded down.

    No (ε, δ) statement about all ε₀-LDP randomisers can lie below it, nor one about all that are
    common to the clients and not adaptive.

    Parameters
    ----------
    eps0 : float
        In (0, 800].
    k, n : float
        Sampled and all clients, 1 ≤ k ≤ n ≤ 1e12.
    """

    def __init__(self, eps0: float, k: float, n: float) -> None:
        self._eps0, self.k, self.n = min(eps0, MAX_EPS0), float(k), float(n)
        self._gamma = self.k / self.n
        self._log_p = three_symbol_log_p(self._eps0)
        self._log_q = -math.log1p(2 * math.exp(-self._eps0))
        p = math.exp(self._log_p)
        self._wide = math.sqrt(self.k * p * (1 - p)) > _WIDE
        rise = self._gamma * math.expm1(self._eps0)
        self._pure = math.log1p(rise)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return δ at each ε ≥ 0 (1-dimensional)."""
        return self.delta_and_slope(np.atleast_1d(np.asarray(epsilon, dtype=float)))[0]

    def delta_and_slope(self, eps: FloatArray) -> _Slopes:
        """Return δ and −dδ/dε = e^ε·Pr[loss > ε] under the second law, at each ε ≥ 0."""
        value, slope = np.zeros(eps.shape), np.zeros(eps.shape)
        inside = np.flatnonzero(eps < self._pure)
        if inside.size == 0:
            return value, slope
        share, less = self._line(eps[inside])
        low, high = self._window(share, less)
        order = np.argsort(high - low)
        start = 0
        while start < order.size:
            stop = start + 1
            while stop < order.size:
                widest = high[order[stop]] - low[order[stop]] + 1
                if (stop + 1 - start) * widest > _CELLS:
                    break
                stop += 1
            some = order[start:stop]
            at = inside[some]
            value[at], slope[at] = self._sums(
                eps[at], share[some], less[some], low[some], high[some]
            )
            start = stop
        return value, slope

    def epsilon(self, delta: ArrayLike) -> FloatArray:
        """Return a lower bound on the smallest ε ≥ 0 with δ(ε) ≤ δ, for each δ in (0, 1].

        δ is convex in e^ε, so that every tangent's root is one; the last is 1e-11 from the truth.
        """
        target = np.atleast_1d(np.asarray(delta, dtype=float))
        goal = np.log(target)
        solved, low, high = (np.zeros(target.shape) for _ in range(3))
        high += self._pure
        eps = self._guess(goal)
        active = np.flatnonzero(target < self.delta(0.0)[0])
        for _ in range(60):
            if active.size == 0:
                break
            at = eps[active]
            value, slope = self.delta_and_slope(at)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                # The tangent in e^ε − 1.
                root = np.expm1(at) + (value - target[active]) * np.exp(at) / slope
                tangent = np.where(slope > 0, np.log1p(np.maximum(root, 0.0)), 0.0)
                log_delta = np.log(value)
                # √ln(1/δ) is all but linear in ε.
                here, there = np.sqrt(-log_delta), np.sqrt(-goal[active])
                step = 2 * here * (there - here) * value / slope
            solved[active] = np.maximum(solved[active], tangent)
            above = value > target[active]
            low[active] = np.where(above, at, low[active])
            high[active] = np.where(above, high[active], at)
            new = at + step
            bad = ~((new > low[active]) & (new < high[active]))
            new[bad] = 0.5 * (low[active] + high[active])[bad]
            # What the tangent errs by is the square of the last step.
            near = (np.abs(step) <= 3e-7 * at) & ~bad
            near |= high[active] - low[active] <= 1e-13 * high[active]
            eps[active] = new
            active = active[~near]
        return np.minimum(solved * (1 - _ROUNDING), self._pure)

    def _guess(self, log_delta: FloatArray) -> FloatArray:
        """Return about the ε at which δ is reached, where messages are many."""
        whole = log_delta - math.log(self._gamma)
        some = np.full(log_delta.shape, 1.0)
        eps0 = some * max(self._eps0, 1e-6)
        with np.errstate(all="ignore"):
            clones = clone_guess(eps0, self.k * some, self._log_p * some, np.minimum(whole, -1e-3))
            # The guess is for two symbols of probability ½ each: E+1 stands where here is E+2.
            ratio = (1 + math.exp(-self._eps0)) / (1 + 2 * math.exp(-self._eps0))
            guess = np.log1p(self._gamma * np.expm1(np.minimum(clones * ratio, 700.0)))
        usable = np.isfinite(guess) & (guess > 1e-9 * self._pure) & (guess < self._pure)
        return np.where(usable, guess, 0.5 * self._pure)

    def _line(self, eps: FloatArray) -> _Slopes:
        """Return s and t of sN − t, which so many messages 2 among N must be fewer than."""
        far = np.exp(-self._eps0)
        rest = -np.expm1(-self._eps0)
        share = -np.expm1(eps - self._eps0) + np.expm1(eps) * far**2
        share /= (np.exp(eps) + 1) * rest
        less = np.tanh(eps / 2) * (self.k * far + (self.n - self.k)) * far / rest
        return np.minimum(share, 0.5), less

    def _window(self, share: FloatArray, less: FloatArray) -> _Slopes:
        """Return the least and the largest N that matter, around the largest summand.

        That is where the derivative of ln Pr[N] + ln Pr[Bin(N, ½) ≈ sN − t] is 0, which falls.
        """
        least = less / share
        a, b = np.minimum(least, self.k), np.full(share.shape, self.k)
        with np.errstate(divide="ignore", invalid="ignore"):
            # To a small part of a deviation of the most numbers that there can be.
            for _ in range(math.ceil(0.5 * math.log2(self.k)) + 8):
                N = 0.5 * (a + b)
                level = share - less / N
                rise = (
                    np.log((self.k - N) / N)
                    - self._eps0
                    - share * np.log(level)
                    - (1 - share) * np.log1p(-level)
                )
                up = rise > 0
                a, b = np.where(up, N, a), np.where(up, b, N)
            N = 0.5 * (a + b)
            x = share * N - less
            curvature = (
                1 / np.maximum(self.k - N, 0.5)
                + share**2 / np.maximum(x, 0.25)
                + (1 - share) ** 2 / (N - x)
            )
        spread = np.sqrt(np.maximum(1 / curvature, 1.0))
        reach = np.sqrt(2 * _NEGLIGIBLE) * spread
        low = np.maximum(np.floor(least) + 1, np.floor(N - reach - 2))
        high = np.minimum(self.k, np.ceil(N + reach + _NEGLIGIBLE))
        return np.minimum(low, self.k), np.maximum(high, np.minimum(low, self.k))

    def _sums(
        self,
        eps: FloatArray,
        share: FloatArray,
        less: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> _Slopes:
        size = np.full(eps.shape, self.k)
        step = 1.0
        if self._wide:
            # An odd step visits even and odd numbers alike.
            step = float(2 * math.floor(float((high - low).min()) / 300) + 1)
        N = low[:, None] + step * np.arange(int(((high - low) // step).max()) + 1)
        x = share[:, None] * N - less[:, None]
        if self._wide:
            log_w = log_pmf(np.minimum(N, high[:, None]), self.k, self._log_p, self._log_q)
            log_w += math.log(step)
            log_w[high[:, None] < N] = -np.inf
            log_c = log_w.max(axis=1)
            weight = np.exp(log_w - log_c[:, None])
            losses, tail = smooth_stop_loss(N, np.clip(x / N, 0, 0.5))
            losses = losses * (1 - 2 * SMOOTH_SAFETY)
        else:
            weight, log_c = binomial_rows(N, size, np.full(eps.shape, self._log_p), high)
            b = np.maximum(np.ceil(x) - 1, 0.0)
            f = half_pmf_run(N, b)
            level = x / N
            if float(level.max()) < _DEEP:
                tail, losses = direct_stop_loss(N, b, f, level)
            else:
                tail = running_tail(N, b, f)
                losses = (x - 0.5 * N) * tail + 0.5 * (N - b) * f
        weight[x <= 0] = 0.0
        rise = math.expm1(self._eps0)
        rest = (self.k - N) * math.exp(-self._eps0)
        apart = (1 - self._gamma) * tail + self._gamma / self.k * (
            (N + rest) * tail + rise * (x * tail - losses)
        )
        log_scale = np.log1p(np.exp(eps)) + math.log(rise) - math.log(self.n) + log_c
        total = np.einsum("ij,ij->i", weight, losses)
        reached = np.einsum("ij,ij->i", weight, apart)
        with np.errstate(divide="ignore"):
            value = np.exp(log_scale + np.log(np.maximum(total, 0.0))) * (1 - _ROUNDING)
            slope = np.exp(eps + log_c + np.log(np.maximum(reached, 0.0)))
        return np.minimum(value, 1.0), slope


def three_symbol_log_p(eps0: float) -> float:
    """Return ln(2/(e^ε₀+2)): probability that a client holding 3 reports 1 or 2."""
    return math.log(2.0) - eps0 - math.log1p(2 * math.exp(-eps0))


def three_symbol_delta(epsilon: ArrayLike, eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return the hockey-stick divergence of one round of 3RR at ε, rounded down.

    Parameters
    ----------
    epsilon, eps0 : array of float
        In [0, 800].
    k, n : array of int
        Sampled and all clients, 1 ≤ k ≤ n ≤ 1e12; k = n is the shuffle without sampling. All
        broadcast.
    """
    at = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    return by_round(lambda *one: ThreeSymbolRound(*one).delta, (eps0, k, n), at)


def three_symbol_round_epsilon(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike
) -> Any:
    """Return the ε at δ in [1e-300, 1] of one round of 3RR, rounded down; see above."""
    d = checks.delta(delta)
    return by_round(lambda *one: ThreeSymbolRound(*one).epsilon, (eps0, k, n), d)


def lower_round_epsilon(eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Any:
    """Return the largest ε at δ of one round that is known to be needed: of 2RR or of 3RR.

    No statement about all ε₀-LDP randomisers, nor about all that are common to the clients and not
    adaptive, can have a smaller ε; a particular randomiser may leak less. Arguments as in
    `three_symbol_round_epsilon`; 2RR in both directions.
    """

    def larger(*one: float) -> Any:
        pairs = RandomisedResponseRound(*one), ThreeSymbolRound(*one)
        return lambda d: np.maximum(*(pair.epsilon(d) for pair in pairs))

    return by_round(larger, (eps0, k, n), checks.delta(delta))


MAX_MIXED = 200
"""Clients up to which all mixtures of the others are tried."""


class MixedResponseRound:
    """The hockey-stick divergences of one unsampled round of 2RR, the others holding both values.

    Of n − 1 others m hold the changed client's old value. The largest δ over all m bounds every
    (ε, δ) statement about all ε₀-LDP randomisers from below. Exchanging the neighbours exchanges m
    and n − 1 − m, so that the largest over all m is that of both directions.

    Parameters
    ----------
    eps0 : float
        In (0, 800]; from 700 on that of 700.
    n : int
        1 to 200.
    """

    def __init__(self, eps0: float, n: int) -> None:
        self.eps0 = min(eps0, _MAX_EXPONENT)
        log_p, log_q = logistic_log_p(self.eps0)
        self._share = math.exp(log_q)
        laws = [_binomial(j, log_p, log_q) for j in range(n)]
        # Messages that say the new value, by m in rows, of the others alone.
        self._mass = np.array([np.convolve(laws[m], laws[n - 1 - m][::-1]) for m in range(n)])

    def deltas(self, epsilon: float) -> FloatArray:
        """Return δ at ε ≥ 0 from old to new for m = 0, …, n − 1, rounded down."""
        return self._deltas(epsilon, self._mass)

    def _deltas(self, epsilon: float, mass: FloatArray) -> FloatArray:
        if epsilon >= self.eps0:
            return np.zeros(mass.shape[0])
        gain = -self._share * math.expm1(epsilon - self.eps0)
        loss = self._share * (math.exp(epsilon) - math.exp(-self.eps0))
        # P − e^ε·Q: the changed client says the old value or the new one.
        gained = np.zeros((mass.shape[0], mass.shape[1] + 1))
        gained[:, :-1] = mass * gain
        gained[:, 1:] -= mass * loss
        return np.asarray(np.maximum(gained, 0.0).sum(axis=1) * (1 - _ROUNDING))

    def epsilon(self, delta: float) -> float:
        """Return the largest ε over all m at δ in (0, 1], rounded down."""
        low, high, mass = 0.0, self.eps0, self._mass
        if self.deltas(0.0).max() <= delta:
            return 0.0
        while high - low > 1e-11 * high:
            middle = 0.5 * (low + high)
            above = self._deltas(middle, mass) > delta
            if above.any():
                low, mass = middle, mass[above]  # no other m has a larger ε
            else:
                high = middle
        return low


def _binomial(trials: int, log_p: float, log_q: float) -> FloatArray:
    """Return all probabilities of Bin(trials, p)."""
    return np.exp(log_pmf_run(0.0, float(trials), float(trials), log_p, log_q))


def mixed_response_delta(epsilon: float, eps0: float, n: int, m: int) -> float:
    """Return the larger hockey-stick divergence of one unsampled round of 2RR with mixed others.

    Rounded down; a lower bound for all ε₀-LDP randomisers.

    Parameters
    ----------
    epsilon : float
        In [0, 800].
    eps0 : float
        In (0, 800].
    n : int
        Clients, 1 to 200.
    m : int
        Others that hold the changed client's old value, 0 to n − 1.

    Raises
    ------
    ValueError
        Outside these ranges.
    """
    eps = float(checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON))
    e = float(checks.reals("eps0", eps0, 0.0, checks.MAX_EPSILON, open_low=True))
    clients = int(checks.integers("n", n, 1, MAX_MIXED))
    alike = int(checks.integers("m", m, 0, clients - 1))
    deltas = MixedResponseRound(e, clients).deltas(eps)
    return float(max(deltas[alike], deltas[clients - 1 - alike]))


def mixed_response_epsilon(eps0: float, n: int, delta: float) -> float:
    """Return the largest ε at δ of one unsampled round of 2RR over all values of the others.

    Rounded down; a lower bound for all ε₀-LDP randomisers. Parameters as of
    `mixed_response_delta`; δ in [1e-300, 1].
    """
    e = float(checks.reals("eps0", eps0, 0.0, checks.MAX_EPSILON, open_low=True))
    clients = int(checks.integers("n", n, 1, MAX_MIXED))
    return MixedResponseRound(e, clients).epsilon(float(checks.delta(delta)))
