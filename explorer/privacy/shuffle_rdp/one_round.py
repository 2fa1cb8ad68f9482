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
from typing import Any, NamedTuple

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
    peaked_tail,
    relative_error,
    smooth_stop_loss,
)
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.lower import RandomisedResponsePair
from explorer.privacy.shuffling import clone_guess

_MAX_EXPONENT = 700.0
_DIGITS = 7e-16
"""Rounding error of a ratio or of a share, in units of itself."""


class RandomisedResponseRound:
    """The larger of both hockey-stick divergences of one round of 2RR, and its inverse.

    No (ε, δ) statement about all ε₀-LDP randomisers can lie below it. Counts further out than
    e^−60 are left out and masses rounded down, which errs downwards, as a lower bound may.

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
        mass = np.exp(pair.log_mass) * (1 - relative_error(k))
        slope = pair.gamma * 2 * math.sinh(pair.eps0) / k
        self._x = slope * (pair.m - pair.mean)
        # By how much rounding of the mean may have moved them.
        self._moved = (1 + pair.eps0) * _DIGITS * slope * pair.mean
        self._eps0 = eps0
        self._ratio = pair.least + slope * pair.m
        spacing = float(np.diff(self._x[:2]).sum())
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
        # Near the largest ratio a difference is all that is left: what rounding may add is lost.
        past = self._x[i] - rise * (1 + _DIGITS) - self._moved
        up = np.where(inside, self._above[i] + self._tail[i] * past, 0.0)
        least = np.exp(-eps)
        j = np.searchsorted(self._ratio, least, side="right") - 1
        reached = j >= 0
        j = np.maximum(j, 0)
        # e^−ε − (1+x), from whichever two are the difference of small numbers.
        room = np.where(eps < 1, np.expm1(-eps) - self._x[j], least - self._ratio[j])
        room -= np.where(eps < 1, _DIGITS * eps + self._moved, _DIGITS * least)
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
_STEPS = 40
"""Most steps towards the largest summand; about six are taken."""
_WIDE = 700.0
"""Deviation of N beyond which it is sampled and its tails are normal ones."""
_CELLS = 60_000
"""Summands worked on together."""
_LAST_STEP = 3e-7
_ROUNDING = 1e-11
"""Relative error of sums, from above; δ is lowered by it."""

_Slopes = tuple[FloatArray, FloatArray]


class _Crowds(NamedTuple):
    """Rounds of 3RR: columns of one row for all ε, or of one for each.

    Attributes
    ----------
    eps0, k, n, gamma : array of float
        Of each round; γ = k/n.
    log_p : array of float
        ln of the probability that a client holding 3 reports 1 or 2.
    pure : array of float
        Smallest ε at which δ is 0.
    """

    eps0: FloatArray
    k: FloatArray
    n: FloatArray
    gamma: FloatArray
    log_p: FloatArray
    pure: FloatArray

    def at(self, rows: Any) -> "_Crowds":
        """Return some of the rows, or the only one."""
        return self if self.k.size == 1 else _Crowds(*(column[rows] for column in self))


class ThreeSymbolRound:
    """The hockey-stick divergence of one round of 3RR, and its inverse, rounded down.

    No (ε, δ) statement about all ε₀-LDP randomisers can lie below it, nor one about all that are
    common to the clients and not adaptive.

    Parameters
    ----------
    eps0 : float or array of float
        In (0, 800].
    k, n : float or array of float
        Sampled and all clients, 1 ≤ k ≤ n ≤ 1e12. Arrays (1-dimensional) are many rounds, one for
        each ε or δ that the methods are given.
    """

    def __init__(self, eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> None:
        columns = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (eps0, k, n))
        e, sampled, clients = np.broadcast_arrays(*columns)
        e = np.minimum(e, MAX_EPS0)
        gamma = sampled / clients
        log_p = math.log(2.0) - e - np.log1p(2 * np.exp(-e))
        pure = np.log1p(gamma * np.expm1(e))
        self._crowds = _Crowds(e, sampled, clients, gamma, log_p, pure)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return δ at each ε ≥ 0 (1-dimensional)."""
        return self.delta_and_slope(np.atleast_1d(np.asarray(epsilon, dtype=float)))[0]

    def delta_and_slope(self, eps: FloatArray) -> _Slopes:
        """Return δ and −dδ/dε = e^ε·Pr[loss > ε] under the second law, at each ε ≥ 0."""
        return _delta_and_slope(self._crowds, eps)

    def epsilon(self, delta: ArrayLike, within: ArrayLike = _LAST_STEP) -> FloatArray:
        """Return a lower bound on the smallest ε ≥ 0 with δ(ε) ≤ δ, for each δ in (0, 1].

        δ is convex in e^ε, so that every tangent's root is one; the last is 1e-11 from the truth.
        The search ends where a step is at most `within` of ε; the tangent errs by its square.
        """
        target = np.atleast_1d(np.asarray(delta, dtype=float))
        goal = np.log(target)
        solved, low, high = (np.zeros(target.shape) for _ in range(3))
        high += self._crowds.pure
        last = np.broadcast_to(within, target.shape)
        eps = _guess(self._crowds, goal)
        most = _delta_and_slope(self._crowds, np.zeros(self._crowds.k.shape))[0]
        active = np.flatnonzero(target < most)
        for _ in range(60):
            if active.size == 0:
                break
            at = eps[active]
            value, slope = _delta_and_slope(self._crowds.at(active), at)
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
            near = (np.abs(step) <= last[active] * at) & ~bad
            near &= tangent >= at * (1 - 2 * last[active])  # not so where δ all but vanishes
            near |= high[active] - low[active] <= 1e-13 * high[active]
            eps[active] = new
            active = active[~near]
        return np.asarray(np.minimum(solved * (1 - _ROUNDING), self._crowds.pure))


def _guess(crowds: _Crowds, log_delta: FloatArray) -> FloatArray:
    """Return about the ε at which each δ is reached, where messages are many."""
    far, pure = np.exp(-crowds.eps0), crowds.pure
    shape = np.ones(log_delta.shape)
    whole = np.minimum(log_delta - np.log(crowds.gamma), -1e-3)
    with np.errstate(all="ignore"):
        clones = clone_guess(
            shape * np.maximum(crowds.eps0, 1e-6), crowds.k * shape, crowds.log_p * shape, whole
        )
        # The guess is for two symbols of probability ½ each: E+1 stands where here is E+2.
        ratio = (1 + far) / (1 + 2 * far)
        guess = np.log1p(crowds.gamma * np.expm1(np.minimum(clones * ratio, 700.0)))
    usable = np.isfinite(guess) & (guess > 1e-9 * pure) & (guess < pure)
    return np.where(usable, guess, 0.5 * pure)


def _delta_and_slope(crowds: _Crowds, eps: FloatArray) -> _Slopes:
    """Return δ and −dδ/dε of each round at each ε ≥ 0."""
    value, slope = np.zeros(eps.shape), np.zeros(eps.shape)
    inside = np.flatnonzero(eps < crowds.pure)
    if inside.size == 0:
        return value, slope
    some = crowds.at(inside)
    share, less = _line(some, eps[inside])
    low, high = _window(some, share, less)
    p = np.exp(some.log_p)
    wide = np.broadcast_to(np.sqrt(some.k * p * (1 - p)) > _WIDE, share.shape)
    deep = share - less / high < _DEEP
    for kind in np.unique(np.stack([wide, deep]), axis=1).T:
        of_kind = np.flatnonzero((wide == kind[0]) & (deep == kind[1]))
        order = of_kind[np.argsort((high - low)[of_kind])]
        start = 0
        while start < order.size:
            stop = start + 1
            while stop < order.size:
                widest = high[order[stop]] - low[order[stop]] + 1
                if (stop + 1 - start) * widest > _CELLS:
                    break
                stop += 1
            rows = order[start:stop]
            at, start = inside[rows], stop
            line = share[rows], less[rows], low[rows], high[rows]
            value[at], slope[at] = _sums(some.at(rows), eps[at], *line, *kind)
    return value, slope


def _line(crowds: _Crowds, eps: FloatArray) -> _Slopes:
    """Return s and t of sN − t, which so many messages 2 among N must be fewer than."""
    far = np.exp(-crowds.eps0)
    rest = -np.expm1(-crowds.eps0)
    share = -np.expm1(eps - crowds.eps0) + np.expm1(eps) * far**2
    share /= (np.exp(eps) + 1) * rest
    less = np.tanh(eps / 2) * (crowds.k * far + (crowds.n - crowds.k)) * far / rest
    # So that rounding leaves no more below the line than there is.
    return np.minimum(share, 0.5) * (1 - 3 * _DIGITS), less * (1 + 3 * _DIGITS)


def _window(crowds: _Crowds, share: FloatArray, less: FloatArray) -> _Slopes:
    """Return the least and the largest N that matter, around the largest summand.

    That is where the derivative of ln Pr[N] + ln Pr[Bin(N, ½) ≈ sN − t] is 0, which falls; the
    curvature of this is at least what it is at the far end of a longer stretch.
    """
    k, least, other = crowds.k, less / share, 1 - share
    span = np.maximum(k - least, 1e-9)
    mean = k * np.exp(crowds.log_p)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Newton's method in ln (N − least)/(k − N), in which the derivative is concave.
        away = np.clip(mean - least, np.minimum(np.sqrt(mean), 0.5 * span), (1 - 1e-9) * span)
        t = np.log(away / (span - away))
        for _ in range(_STEPS):
            above, room = span / (1 + np.exp(-t)), span / (1 + np.exp(t))
            N = least + above
            level = share * above / N
            rise = np.log(room / N) - crowds.eps0
            rise -= share * np.log(level) + other * np.log1p(-level)
            fall = k * above / N + less * room / N * (1 - other * above / (N * (1 - level)))
            step = rise * span / fall
            t = np.clip(t + step, -100.0, 100.0)
            if np.all(np.abs(step) < 1e-6):
                break
        above, room = span / (1 + np.exp(-t)), np.maximum(span / (1 + np.exp(t)), 0.5)
        N = least + above
        x, rest = np.maximum(share * above, 0.25), less + other * N
        tails = share**2 / x + other**2 / rest
        down = np.minimum(_stretch(room), np.sqrt(2 * _NEGLIGIBLE / tails))
        down = np.minimum(down, np.sqrt(2 * _NEGLIGIBLE / (1 / (room + down) + tails)))
        up = np.minimum(_stretch(x) / share, _stretch(rest) / other)
        tails = share**2 / (x + share * up) + other**2 / (rest + other * up)
        up = np.minimum(up, np.sqrt(2 * _NEGLIGIBLE / (1 / room + tails)))
    low = np.maximum(np.floor(least) + 1, np.floor(N - down - 2))
    high = np.minimum(k, np.ceil(N + up + 2))
    return np.minimum(low, k), np.maximum(high, np.minimum(low, k))


def _stretch(count: FloatArray) -> FloatArray:
    """Return the r at which r²/(2(count + r)) is what makes a summand negligible."""
    return _NEGLIGIBLE + np.sqrt(_NEGLIGIBLE**2 + 2 * _NEGLIGIBLE * count)


def _sums(
    crowds: _Crowds,
    eps: FloatArray,
    share: FloatArray,
    less: FloatArray,
    low: FloatArray,
    high: FloatArray,
    wide: bool,
    deep: bool,
) -> _Slopes:
    """Return δ and −dδ/dε from the numbers N between `low` and `high` of each row.

    Parameters
    ----------
    wide : bool
        Whether N is sampled and its tails are normal ones.
    deep : bool
        Whether the tails are summed directly.
    """
    far, rise = np.exp(-crowds.eps0), np.expm1(crowds.eps0)
    step = np.ones(eps.shape)
    if wide:
        # An odd step visits even and odd numbers alike.
        step = 2 * np.floor((high - low) / 300) + 1
    N = low[:, None] + step[:, None] * np.arange(int(((high - low) // step).max()) + 1)
    x = share[:, None] * N - less[:, None]
    if wide:
        last = high[:, None]
        laws = zip(
            np.minimum(N, last),
            *np.broadcast_arrays(crowds.k, crowds.log_p, -np.log1p(2 * far), eps)[:3],
            strict=True,
        )
        log_w = np.stack([log_pmf(*law) for law in laws]) + np.log(step)[:, None]
        log_w[last < N] = -np.inf
        log_c = log_w.max(axis=1)
        weight = np.exp(log_w - log_c[:, None])
        losses, tail = smooth_stop_loss(N, np.clip(x / N, 0, 0.5))
        losses = losses * (1 - 2 * SMOOTH_SAFETY)
    else:
        of_row = np.ones(eps.shape)
        weight, log_c = binomial_rows(N, crowds.k * of_row, crowds.log_p * of_row, high)
        b = np.maximum(np.ceil(x) - 1, 0.0)
        f = half_pmf_run(N, b)
        if deep:
            level = np.minimum(x / N, (share - less / high)[:, None])
            tail, losses = direct_stop_loss(N, b, f, level)
        else:
            tail = peaked_tail(N, b, f, high)
            losses = (x - 0.5 * N) * tail + 0.5 * (N - b) * f
    weight[x <= 0] = 0.0
    apart = (1 - crowds.gamma)[:, None] * tail + (1 / crowds.n)[:, None] * (
        (N + (crowds.k[:, None] - N) * far[:, None]) * tail + rise[:, None] * (x * tail - losses)
    )
    log_scale = np.log1p(np.exp(eps)) + np.log(rise) - np.log(crowds.n) + log_c
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
    return _each(ThreeSymbolRound.delta, (eps0, k, n), at)


def three_symbol_round_epsilon(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike
) -> Any:
    """Return the ε at δ in [1e-300, 1] of one round of 3RR, rounded down; see above."""
    return _each(ThreeSymbolRound.epsilon, (eps0, k, n), checks.delta(delta))


def _each(
    curve: Callable[[ThreeSymbolRound, FloatArray], FloatArray],
    rounds: tuple[ArrayLike, ArrayLike, ArrayLike],
    x: FloatArray,
) -> Any:
    """Return the value of each round's curve at x, all broadcast; 0 where ε₀ is 0."""
    e, (k, n) = checks.epsilon0(rounds[0]), checks.population(*rounds[1:])
    e, k, n, at = np.broadcast_arrays(e, k, n, x)
    out, some = np.zeros(e.shape), e > 0
    out[some] = curve(ThreeSymbolRound(e[some], k[some], n[some]), at[some])
    return scalar_if_0d(out)


def lower_round_epsilon(eps0: ArrayLike, k: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Any:
    """Return the largest ε at δ of one round that is known to be needed: of 2RR or of 3RR.

    No statement about all ε₀-LDP randomisers, nor about all that are common to the clients and not
    adaptive, can have a smaller ε; a particular randomiser may leak less. Arguments as in
    `three_symbol_round_epsilon`; 2RR in both directions.
    """
    rounds = eps0, k, n, delta
    two, three = randomised_response_round_epsilon(*rounds), three_symbol_round_epsilon(*rounds)
    return scalar_if_0d(np.maximum(two, three))


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
