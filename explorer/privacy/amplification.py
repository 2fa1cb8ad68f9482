"""Privacy amplification by shuffling: k clients, each ε₀-LDP, seen only as a multiset.

The *clones* argument: every other client's message looks, with probability p_c, like one of the
changed client's two possible messages, and hides it. In closed form (valid under a condition) and
numerically exact for the dominating pair, in two published variants.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.binomial import log_half_pmf, log_pmf, log_pmf_run
from explorer.privacy.binomial_tails import direct_stop_loss, running_tail, smooth_stop_loss
from explorer.privacy.bounds import BoolArray, FloatArray

_TINY = 1e-290
"""Local parameters below this are reported as they are: their halves are no longer doubles."""
_DEEP = 0.9
"""Above this κ the tail sums have few terms and are summed directly."""
_WIDE = 700.0
"""Deviation of the number of clones beyond which it is sampled and its tails are normal ones."""
_CELLS = 2_000_000


class Clones(StrEnum):
    """Which analysis gives the probability that another client's message is a clone."""

    PUBLISHED = "2021"
    """p_c = e^−ε₀ (Feldman, McMillan & Talwar 2021), for all ε₀-LDP randomisers."""
    STRONGER = "2023"
    """p_c = 2/(e^ε₀+1) (the same authors, 2023), here for one common, non-adaptive randomiser."""


def clones_condition(eps0: ArrayLike, k: ArrayLike, delta: ArrayLike) -> BoolArray:
    """Return whether ε₀ ≤ ln(k/(16 ln(2/δ))), condition (8), with k and the per-round δ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.log(np.asarray(k, float) / (16 * np.log(2 / np.asarray(delta, float))))
    return np.asarray(np.asarray(eps0, float) <= limit)


def blanket_condition(eps0: ArrayLike, k: ArrayLike, delta: ArrayLike) -> BoolArray:
    """Return whether ε₀ ≤ ½ln(k/ln(1/δ)), condition (9) of the privacy blanket."""
    with np.errstate(divide="ignore"):
        limit = 0.5 * np.log(np.asarray(k, float) / -np.log(np.asarray(delta, float)))
    return np.asarray(np.asarray(eps0, float) <= limit)


def clones_closed_form(eps0: ArrayLike, k: ArrayLike, delta: ArrayLike) -> Any:
    """Return the closed-form ε of k shuffled ε₀-LDP messages at δ, *whatever its condition says*.

    log1p((e^ε₀−1)/(e^ε₀+1)·(8√(e^ε₀ ln(4/δ))/√k + 8e^ε₀/k)), arguments broadcast. It is a bound
    only where `clones_condition` holds; elsewhere it can be wrong (errata A9) and the bound is ε₀.

    References
    ----------
    Feldman, McMillan & Talwar 2021, Theorem 3.1.
    """
    e = domain.epsilon0(eps0)
    clients = domain.integers("k", k, 1, domain.COUNT_MAX)
    d = domain.delta(delta)
    # In logarithms, for e^ε₀ leaves the range of doubles before ε₀ leaves its domain.
    root = math.log(8) + 0.5 * (e + np.log(np.log(4 / d)) - np.log(clients))
    linear = math.log(8) + e - np.log(clients)
    with np.errstate(divide="ignore"):
        log_x = np.log(np.tanh(e / 2)) + np.logaddexp(root, linear)
    small = np.minimum(log_x, 30.0)
    return domain.simple(np.where(log_x < 30.0, np.log1p(np.exp(small)), np.logaddexp(0.0, log_x)))


def clones_closed_delta(epsilon: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return the δ at which `clones_closed_form` is ε, *whatever its condition says*.

    4·exp(−k(x − 8e^ε₀/k)²/(64e^ε₀)) with x = (e^ε−1)·coth(ε₀/2); at most 1, and 1 where the closed
    form is above ε for every δ. A bound only where `clones_condition` holds at this δ.

    Parameters
    ----------
    epsilon, eps0, k : array of float, broadcast together
        ε in [0, 800], ε₀ in (0, 800]; k whole, in [1, 1e12].

    References
    ----------
    Feldman, McMillan & Talwar 2021, Theorem 3.1, solved for δ.
    """
    eps = domain.reals("eps", epsilon, 0.0, domain.EPSILON_MAX)
    e = domain.reals("eps0", eps0, 0.0, domain.EPSILON_MAX, open_low=True)
    clients = domain.integers("k", k, 1, domain.COUNT_MAX)
    # Both terms divided by √(64e^ε₀/k), so that neither leaves the range of doubles.
    with np.errstate(divide="ignore", over="ignore"):
        log_x = np.log(-np.expm1(-eps)) + eps - np.log(np.tanh(e / 2))
        room = np.exp(log_x + 0.5 * (np.log(clients) - e)) / 8 - np.exp(0.5 * (e - np.log(clients)))
        value = np.where(room > 0, 4 * np.exp(-np.square(np.maximum(room, 0.0))), 1.0)
    return domain.simple(np.minimum(value, 1.0))


class ClonePair:
    """The dominating pair of k shuffled ε₀-LDP messages and its hockey-stick curve.

    With N ~ Bin(k, p_c), U ~ Bin(N, ½), V = N − U:
    δ(ε) = tanh(ε₀/2)(1+e^ε)/(k·p_c) · E[((U−V) − κN)_+], κ = tanh(ε/2)/tanh(ε₀/2), which equals
    the published expectation over C ~ Bin(k−1, p_c) and has positive terms only.

    Parameters
    ----------
    eps0 : float
        In (0, 800].
    k : float
        Shuffled clients. Where the number of clones varies by more than 700 it is sampled at a
        quarter of its deviation and δ raised by 1e-5 of itself to stay on the safe side.
    variant : Clones
    """

    def __init__(self, eps0: float, k: float, variant: Clones = Clones.PUBLISHED) -> None:
        self.eps0 = float(eps0)
        self.k = k
        if variant is Clones.PUBLISHED:
            self.log_pc = -eps0
        else:
            self.log_pc = math.log(2.0) - eps0 - math.log1p(math.exp(-eps0))
        pc = math.exp(self.log_pc)
        log_rest = math.log1p(-pc) if pc < 1 else -math.inf
        mean = self.k * pc
        spread = math.sqrt(mean * max(1 - pc, 0.0))
        self._low = max(1.0, math.floor(mean - 12 * spread - 750.0))
        self._high = min(self.k, math.ceil(mean + 12 * spread + 40.0))
        self.wide = spread > _WIDE
        if self.wide:
            # An odd step visits even and odd numbers alike.
            step = math.floor(spread / 4) | 1
            self._clones = np.arange(self._low, self._high + 1, step)
            self._log_weight = math.log(step) + log_pmf(self._clones, self.k, self.log_pc, log_rest)
        elif log_rest == -math.inf:
            self._clones = np.array([self.k])
            self._log_weight = np.zeros(1)
        else:
            self._clones = np.arange(self._low, self._high + 1)
            self._log_weight = log_pmf_run(self._low, self._high, self.k, self.log_pc, log_rest)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return δ at each ε ≥ 0 (1-dimensional)."""
        return self.delta_and_slope(epsilon)[0]

    def delta_and_slope(self, epsilon: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return δ and −dδ/dε at each ε ≥ 0 (1-dimensional)."""
        eps = np.atleast_1d(np.asarray(epsilon, dtype=float))
        value, slope = np.zeros(eps.shape), np.zeros(eps.shape)
        # The window is narrowed to what the ε asked for need, then worked through in pieces.
        inside = np.flatnonzero(eps < self.eps0)
        if inside.size == 0:
            return value, slope
        order = inside[np.argsort(eps[inside])]
        piece = max(1, _CELLS // self._clones.size)
        for start in range(0, order.size, piece):
            some = order[start : start + piece]
            value[some], slope[some] = self._evaluate(eps[some])
        return value, slope

    def _evaluate(self, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return δ and −dδ/dε at increasing ε below ε₀."""
        a, half = self.eps0, eps / 2
        # 1 − κ = sinh((ε₀−ε)/2)/(cosh(ε/2)·sinh(ε₀/2)), in a form that cannot overflow.
        gap = 2 * np.exp(-eps) * np.expm1(eps - a) / ((1 + np.exp(-eps)) * math.expm1(-a))
        kappa = np.tanh(half) / math.tanh(a / 2)
        N, log_w = self._window(float(kappa[0]), float(kappa[-1]))
        level = (gap / 2)[:, None]
        if self.wide:
            stop_loss, tail = smooth_stop_loss(N, level)
        else:
            fair_low = np.maximum(np.ceil(N * level) - 1, 0.0)
            log_f = log_half_pmf(fair_low, np.broadcast_to(N, fair_low.shape))
            stop_loss, tail = self._stop_loss(N, fair_low, log_f, level, kappa)
        with np.errstate(divide="ignore"):
            total = log_w + np.log(np.maximum(stop_loss, 0.0))
            reach = log_w + np.log(N) + np.log(np.maximum(tail, 0.0))
        log_total, log_reach = _logsumexp(total), _logsumexp(reach)
        log_t = math.log(math.tanh(a / 2))
        log_scale = log_t + np.logaddexp(0.0, eps) - math.log(self.k) - self.log_pc
        value = np.exp(log_scale + math.log(2.0) + log_total)
        # dκ/dε = ½sech²(ε/2)/tanh(ε₀/2); the expectation falls by E[N·1{U−V > κN}] per unit of κ.
        log_dkappa = math.log(0.5) - 2 * (np.logaddexp(half, -half) - math.log(2.0)) - log_t
        slope = np.exp(log_scale + log_dkappa + log_reach) - value / (1 + np.exp(-eps))
        return np.minimum(value, 1.0), slope

    def _window(self, kappa_low: float, kappa_high: float) -> tuple[FloatArray, FloatArray]:
        """Return the numbers of clones that matter for these κ, and their log-probabilities."""

        def exponent(kappa: float) -> FloatArray:
            up, down = (1 + kappa) / 2, max((1 - kappa) / 2, 1e-320)
            return np.asarray(
                self._log_weight
                - self._clones * (math.log(2) + up * math.log(up) + down * math.log(down))
            )

        keep = np.zeros(self._clones.size, dtype=bool)
        for kappa in {kappa_low, kappa_high}:
            score = exponent(kappa)
            keep |= score > score.max() - 42.0
        first, last = np.flatnonzero(keep)[[0, -1]]
        return self._clones[first : last + 1], self._log_weight[first : last + 1]

    def _stop_loss(
        self, N: FloatArray, b: FloatArray, log_f: FloatArray, level: FloatArray, kappa: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return E[(λN − B)_+] and Pr[B < λN] for B ~ Bin(N, ½), λ = (1−κ)/2, per ε and N.

        E[(λN − B)_+] = (λN − N/2)·F(b) + ½(N−b)·f(b), b the largest integer below λN.
        """
        f = np.exp(log_f)
        tail = np.empty_like(f)
        stop_loss = np.empty_like(f)
        deep = kappa > _DEEP
        if np.any(deep):
            tail[deep], stop_loss[deep] = direct_stop_loss(N, b[deep], f[deep], level[deep])
        if not np.all(deep):
            shallow = ~deep
            F = running_tail(N, b[shallow], f[shallow])
            tail[shallow] = F
            stop_loss[shallow] = (level[shallow] - 0.5) * N * F + 0.5 * (N - b[shallow]) * f[
                shallow
            ]
        return stop_loss, tail

    def epsilon(self, delta: ArrayLike) -> FloatArray:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, for each δ (1-dimensional), to 1e-12."""
        target = np.log(np.atleast_1d(np.asarray(delta, dtype=float)))
        low = np.zeros(target.shape)
        high = np.full(target.shape, self.eps0)
        eps = self._guess(target)
        todo = eps > 0
        if not np.all(todo & (eps < 0.9 * self.eps0)):
            todo = target < np.log(self.delta(np.zeros(1)))[0]
            eps = np.where(todo, np.clip(eps, 1e-6 * self.eps0, 0.5 * self.eps0), 0.0)
        active = np.flatnonzero(todo)
        for _ in range(80):
            if active.size == 0:
                break
            value, slope = self.delta_and_slope(eps[active])
            with np.errstate(divide="ignore"):
                log_value = np.log(value)
            above = log_value > target[active]
            low[active] = np.where(above, eps[active], low[active])
            high[active] = np.where(above, high[active], eps[active])
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = (log_value - target[active]) * value / slope
                # Near ε₀, where δ falls to 0 in a straight line, its own tangent serves better.
                plain = eps[active] + (value - np.exp(target[active])) / slope
            new = eps[active] + step
            for other in (plain, 0.5 * (low[active] + high[active])):
                lost = ~(np.isfinite(new) & (new > low[active]) & (new < high[active]))
                new = np.where(lost, other, new)
            moved = np.abs(new - eps[active])
            eps[active] = new
            done = (moved <= 1e-13 * new) | (high[active] - low[active] <= 1e-13 * high[active])
            active = active[~done]
        return eps

    def _guess(self, log_delta: FloatArray) -> FloatArray:
        """Return about the ε of each ln δ, as if the loss were normal; 0 where δ looks too large.

        With z = κ√(k·p_c) the divergence is near μ[φ(z) − zΦ(−z)], μ = 2tanh(ε₀/2)/√(k·p_c), and
        the bracket near φ(z)/(1 + z√(π/2) + z²).
        """
        root = math.exp(0.5 * (math.log(self.k) + self.log_pc))
        steep = math.tanh(self.eps0 / 2)
        if root < 3.0:
            return np.zeros(log_delta.shape)
        room = 2 * (math.log(2 * steep / root) - 0.5 * math.log(2 * math.pi) - log_delta)
        z = np.sqrt(np.maximum(room, 0.0))
        for _ in range(4):
            z = np.sqrt(np.maximum(room - 2 * np.log1p(z * (math.sqrt(math.pi / 2) + z)), 0.0))
        level = np.minimum(z / root, 0.999)
        return np.where(z > 0.3, 2 * np.arctanh(level * steep), 0.0)


def _logsumexp(terms: FloatArray) -> FloatArray:
    top = terms.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - top).sum(axis=-1)) + top[..., 0])


def _curve(function: Any, *arguments: FloatArray) -> FloatArray:
    """Apply function(eps0, k, xs) to broadcast arrays, once for each distinct (ε₀, k)."""
    eps0, k, x = np.broadcast_arrays(*arguments)
    out = np.empty(x.shape)
    flat = np.stack([eps0.ravel(), k.ravel()])
    pairs, inverse = np.unique(flat, axis=1, return_inverse=True)
    for i in range(pairs.shape[1]):
        some = np.flatnonzero(inverse.ravel() == i)
        out.flat[some] = function(float(pairs[0, i]), float(pairs[1, i]), x.ravel()[some])
    return out


def shuffled_delta(
    epsilon: ArrayLike, eps0: ArrayLike, k: ArrayLike, variant: Clones | str = Clones.PUBLISHED
) -> Any:
    """Return δ at ε of k shuffled ε₀-LDP messages: exact for the clones' dominating pair.

    Parameters
    ----------
    epsilon, eps0, k : array of float, broadcast together
        ε, ε₀ in [0, 800]; k whole, in [1, 1e12].
    variant : Clones

    References
    ----------
    Feldman, McMillan & Talwar 2021, Theorem 3.2; 2023, Theorem 3.1 with the proof for one common
    randomiser (its general proof carries an erratum, arXiv 2208.04591).
    """
    which = Clones(variant)
    eps = domain.reals("eps", epsilon, 0.0, domain.EPSILON_MAX)
    e = domain.epsilon0(eps0)
    clients = domain.integers("k", k, 1, domain.COUNT_MAX)

    def deltas(a: float, size: float, xs: FloatArray) -> FloatArray:
        if a < _TINY:
            # Even without the shuffle δ ≤ tanh(ε₀/2) below ε₀.
            return np.where(xs < a, a, 0.0)
        return ClonePair(a, size, which).delta(xs)

    return domain.simple(_curve(deltas, e, clients, eps))


def shuffled_epsilon(
    eps0: ArrayLike, k: ArrayLike, delta: ArrayLike, variant: Clones | str = Clones.PUBLISHED
) -> Any:
    """Return ε at δ of k shuffled ε₀-LDP messages, by inverting `shuffled_delta`.

    Arguments broadcast; never more than ε₀; 0 where δ ≥ δ(0).
    """
    which = Clones(variant)
    e = domain.epsilon0(eps0)
    clients = domain.integers("k", k, 1, domain.COUNT_MAX)
    d = domain.delta(delta)

    def epsilons(a: float, size: float, xs: FloatArray) -> FloatArray:
        return ClonePair(a, size, which).epsilon(xs) if a >= _TINY else np.full(xs.shape, a)

    return domain.simple(_curve(epsilons, e, clients, d))


class CloneCurve:
    """ε as a function of δ for one (ε₀, k), for when many δ are asked of the same shuffle.

    The hockey-stick divergence is convex in e^ε, so chords between exact points lie above it and
    what is read off them is an upper bound on ε, looser by 1e-5 to 1e-4 of itself, and by some 1e-3
    where a few hundred messages give the curve corners.

    Parameters
    ----------
    eps0, k, variant
        As in `ClonePair`; ε₀ may be 0.
    delta_low, delta_high : float
        Range of δ that will be asked for.
    """

    _NODES = 160

    def __init__(
        self, eps0: float, k: float, variant: Clones | str, delta_low: float, delta_high: float
    ) -> None:
        self.eps0 = float(eps0)
        self.delta_low, self.delta_high = delta_low, delta_high
        if self.eps0 == 0:
            return
        pair = ClonePair(self.eps0, k, Clones(variant))
        far, near = pair.epsilon(np.array([delta_low, delta_high]))
        # ε grows like √ln(1/δ): even steps of ε make the chords equally good everywhere.
        self._eps = np.linspace(far, near, self._NODES if far > near else 1)
        self._delta = pair.delta(self._eps)

    def epsilon(self, delta: ArrayLike) -> FloatArray:
        """Return an upper bound on ε at each δ.

        Raises
        ------
        ValueError
            If a δ is outside the range.
        """
        d = domain.reals("delta", delta, self.delta_low, self.delta_high)
        if self.eps0 == 0:
            return np.zeros(d.shape)
        # Chords in e^ε, taken relative to the smallest ε so that they cannot overflow.
        base = float(self._eps[-1])
        rise = np.interp(d, self._delta, np.expm1(self._eps - base))
        return np.asarray(np.clip(base + np.log1p(rise), 0.0, self.eps0))
