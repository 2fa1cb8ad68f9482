"""Privacy amplification by shuffling: k clients, each ε₀-LDP, seen only as a multiset.

The *clones* argument: every other client's message looks, with probability p_c, like one of the
changed client's two possible messages, and hides it. In closed form (valid under a condition) and
numerically exact for the dominating pair, in two published variants.

**The dominating pair** of shuffled messages, exactly: δ at ε and ε at δ, of many crowds at once.
The search for ε starts from a saddle-point estimate.
"""

import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import (
    binomial_rows,
    deviance,
    direct_stop_loss,
    half_pmf_run,
    running_tail,
    smooth_stop_loss,
    stirling_error,
)
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d

_DEEP = 0.9
"""Above this κ the tail sums have few terms and are summed directly."""
_WIDE = 700.0
"""Deviation of the number of clones beyond which it is sampled and its tails are normal ones."""
_CELLS = 60_000
"""Numbers of clones worked on together; points with similarly many share a table."""
_ROWS = 200
"""Wide crowds worked on together."""
_NEGLIGIBLE = 42.0
"""Numbers of clones whose summands are below e^−42 of the largest are left out."""
_SOME, _MANY = 25.0, 200.0
"""Deviations of the number of clones from which on the corners of δ are small, and very small."""
_RAISED = 1e-12, 1e-10, 1e-9
"""By how much of itself ε is raised: for rounding, and for a last small step that is saved where
corners are small and where they are very small. Newton's steps end from below, and near ε₀, where
ln δ falls without end, some 1e-14 too early."""
_TINY = 1e-290
"""Local parameters below this are reported as they are: their halves are no longer doubles."""
_FAR = 500.0
"""Local parameters above this leave no clones, e^−ε₀·10¹² of them: δ is that of ε₀ alone."""

_Slopes = tuple[FloatArray, FloatArray]


class Clones(StrEnum):
    """Analysis that gives the probability that another client's message is a clone."""

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
    """Return the closed-form ε of k shuffled ε₀-LDP messages at δ, *even where it is not valid*.

    log1p((e^ε₀−1)/(e^ε₀+1)·(8√(e^ε₀ ln(4/δ))/√k + 8e^ε₀/k)), arguments broadcast. It is a bound
    only where `clones_condition` holds; elsewhere it can be wrong (errata shuf-A9) and the bound is
    ε₀.

    References
    ----------
    Feldman, McMillan & Talwar 2021, Theorem 3.1.
    """
    e = checks.epsilon0(eps0)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)
    d = checks.delta(delta)
    # In logarithms, for e^ε₀ leaves the range of doubles before ε₀ leaves its domain.
    root = math.log(8) + 0.5 * (e + np.log(np.log(4 / d)) - np.log(clients))
    linear = math.log(8) + e - np.log(clients)
    with np.errstate(divide="ignore"):
        log_x = np.log(np.tanh(e / 2)) + np.logaddexp(root, linear)
    small = np.minimum(log_x, 30.0)
    return scalar_if_0d(np.where(log_x < 30.0, np.log1p(np.exp(small)), np.logaddexp(0.0, log_x)))


def clones_closed_delta(epsilon: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return the δ at which `clones_closed_form` is ε, *even where it is not valid*.

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
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    e = checks.reals("eps0", eps0, 0.0, checks.MAX_EPSILON, open_low=True)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)
    # Both terms divided by √(64e^ε₀/k), so that neither leaves the range of doubles.
    with np.errstate(divide="ignore", over="ignore"):
        log_x = np.log(-np.expm1(-eps)) + eps - np.log(np.tanh(e / 2))
        room = np.exp(log_x + 0.5 * (np.log(clients) - e)) / 8 - np.exp(0.5 * (e - np.log(clients)))
        value = np.where(room > 0, 4 * np.exp(-np.square(np.maximum(room, 0.0))), 1.0)
    return scalar_if_0d(np.minimum(value, 1.0))


def _by_crowd(
    arguments: tuple[FloatArray, ...], variant: Clones, evaluate: Callable[..., FloatArray]
) -> Any:
    """Evaluate on broadcast (ε₀, k, x), all crowds at once."""
    arrays = np.broadcast_arrays(*arguments)
    eps0, k, x = (a.ravel() for a in arrays)
    # Even without the shuffle δ ≤ tanh(ε₀/2) below ε₀.
    out = np.where(eps0 < _TINY, eps0, 0.0)
    rest = eps0 >= _TINY
    log_pc = log_clone_probability(eps0[rest], variant)
    out[rest] = evaluate(eps0[rest], k[rest], log_pc, x[rest])
    return scalar_if_0d(out.reshape(arrays[0].shape))


def clones_are_wide(eps0: ArrayLike, k: ArrayLike, variant: Clones | str) -> BoolArray:
    """Return where clones are so many that `ClonePair` samples them, at 1e-5 of δ too much."""
    return is_wide(np.asarray(k, float), log_clone_probability(eps0, Clones(variant)))


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
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    e = checks.epsilon0(eps0)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)

    delta = _by_crowd((e, clients, eps), which, lambda *points: clone_deltas(*points)[0])
    return scalar_if_0d(np.where(eps < e, delta, 0.0))


def shuffled_epsilon(
    eps0: ArrayLike, k: ArrayLike, delta: ArrayLike, variant: Clones | str = Clones.PUBLISHED
) -> Any:
    """Return ε at δ of k shuffled ε₀-LDP messages, by inverting `shuffled_delta`.

    Arguments broadcast; never more than ε₀; 0 where δ ≥ δ(0).
    """
    which = Clones(variant)
    e = checks.epsilon0(eps0)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)
    d = checks.delta(delta)

    return _by_crowd((e, clients, d), which, clone_epsilons)


class CloneCurve:
    """ε as a function of δ for one (ε₀, k), for many δ of the same shuffle.

    The hockey-stick divergence is convex in e^ε, so chords between exact points lie above it and
    what is read off them is an upper bound on ε, looser by 1e-5 to 1e-4 of itself, and by some 1e-3
    where a few hundred messages give the curve corners.

    Parameters
    ----------
    eps0, k, variant
        As in `ClonePair`; ε₀ may be 0.
    delta_low, delta_high : float
        Range of δ to be evaluated.
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
        d = checks.reals("delta", delta, self.delta_low, self.delta_high)
        if self.eps0 == 0:
            return np.zeros(d.shape)
        # Chords in e^ε, taken relative to the smallest ε so that they cannot overflow.
        base = float(self._eps[-1])
        rise = np.interp(d, self._delta, np.expm1(self._eps - base))
        return np.asarray(np.clip(base + np.log1p(rise), 0.0, self.eps0))


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
        self.k = float(k)
        self.log_pc = float(log_clone_probability(eps0, variant))
        self.wide = bool(is_wide(self.k, self.log_pc))

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Return δ at each ε ≥ 0 (1-dimensional)."""
        return self.delta_and_slope(epsilon)[0]

    def delta_and_slope(self, epsilon: ArrayLike) -> _Slopes:
        """Return δ and −dδ/dε at each ε ≥ 0 (1-dimensional)."""
        eps = np.atleast_1d(np.asarray(epsilon, dtype=float))
        return clone_deltas(*self._like(eps), eps)

    def _like(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ε₀, k and ln p_c as arrays."""
        shape = points.shape
        return np.full(shape, self.eps0), np.full(shape, self.k), np.full(shape, self.log_pc)

    def epsilon(self, delta: ArrayLike) -> FloatArray:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ, for each δ (1-dimensional).

        Never below it, and up to 2e-12 of itself above; up to 2e-10 where the number of clones
        varies by more than 25, and up to 2e-9 from 200 on.
        """
        d = np.atleast_1d(np.asarray(delta, dtype=float))
        return clone_epsilons(*self._like(d), d)


def log_clone_probability(eps0: ArrayLike, variant: Clones) -> FloatArray:
    """Return ln p_c of a variant."""
    e = np.asarray(eps0, dtype=float)
    if variant is Clones.PUBLISHED:
        return -e
    return np.asarray(math.log(2.0) - e - np.log1p(np.exp(-e)))


def _spread(k: ArrayLike, log_pc: ArrayLike) -> FloatArray:
    """Return the deviation of the number of clones."""
    p = np.exp(log_pc)
    return np.asarray(np.sqrt(k * p * np.maximum(1 - p, 0.0)))


def is_wide(k: ArrayLike, log_pc: ArrayLike) -> BoolArray:
    """Return where the number of clones is sampled, so that δ is a little too large."""
    return np.asarray(_spread(k, log_pc) > _WIDE)


def clone_deltas(eps0: FloatArray, k: FloatArray, log_pc: FloatArray, eps: FloatArray) -> _Slopes:
    """Return δ and −dδ/dε at ε ≥ 0 of a crowd each; 1-dimensional arrays of one length."""
    value, slope = np.zeros(eps.shape), np.zeros(eps.shape)
    far = (eps < eps0) & (eps0 > _FAR)
    less = (eps - eps0)[far]
    value[far], slope[far] = -np.expm1(less), np.exp(less)
    wide = is_wide(k, log_pc)
    inside = np.flatnonzero((eps < eps0) & wide)
    for start in range(0, inside.size, _ROWS):
        at = inside[start : start + _ROWS]
        gap = _kappa(eps0[at], eps[at])[1]
        sums = _sampled_sums(k[at], log_pc[at], gap / 2)
        value[at], slope[at] = _scale(eps0[at], k[at], log_pc[at], eps[at], sums)
    inside = np.flatnonzero((eps < eps0) & ~wide & ~far)
    if inside.size == 0:
        return value, slope
    kappa, gap = _kappa(eps0[inside], eps[inside])
    low, high = _reach(k[inside], log_pc[inside], kappa)
    deep = kappa > _DEEP
    # Values of one crowd share a table of its clones, and so lie beside each other by κ.
    one = bool((k[inside] == k[inside[0]]).all() and (log_pc[inside] == log_pc[inside[0]]).all())
    order = np.lexsort((kappa if one else high - low, deep))
    start = 0
    while start < order.size:
        stop, first = start + 1, order[start]
        most = 1.5 * (high[first] - low[first]) + 64
        bottom, top = low[first], high[first]
        while stop < order.size and deep[order[stop]] == deep[first]:
            at = order[stop]
            if one:
                bottom, top = min(bottom, low[at]), max(top, high[at])
            else:
                bottom, top = low[at], high[at]
            if top - bottom > most or (stop + 1 - start) * (top - bottom + 1) > _CELLS:
                break
            stop += 1
        batch = order[start:stop]
        at = inside[batch]
        rows = slice(0, 1) if one else slice(None)
        ends = low[batch], high[batch]
        if one:
            ends = ends[0].min(keepdims=True), ends[1].max(keepdims=True)
        sums = _sums(k[at][rows], log_pc[at][rows], *ends, gap[batch] / 2, bool(deep[first]))
        value[at], slope[at] = _scale(eps0[at], k[at], log_pc[at], eps[at], sums)
        start = stop
    return value, slope


def _sampled_sums(
    k: FloatArray, log_pc: FloatArray, level: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `_sums` of wide crowds, on numbers of clones a quarter of their deviation apart."""
    p = np.exp(log_pc)
    mean, spread = (k * p)[:, None], _spread(k, log_pc)[:, None]
    low = np.maximum(np.floor(mean - 12 * spread - 750.0), 1.0)
    high = np.minimum(np.ceil(mean + 12 * spread + 40.0), k[:, None])
    # An odd step visits even and odd numbers alike.
    step = 2 * np.floor(spread / 8) + 1
    N = low + step * np.arange(float(((high - low) // step).max()) + 1)
    beyond = high < N
    N = np.where(beyond, low, N)
    rest, size = k[:, None] - N, k[:, None]
    log_w = (
        stirling_error(size)
        - stirling_error(N)
        - stirling_error(rest)
        - deviance(N, mean)
        - deviance(rest, size - mean)
        + 0.5 * np.log(size / (2 * math.pi * N * rest))
        + np.log(step)
    )
    top = log_w.max(axis=1)
    weight = np.where(beyond, 0.0, np.exp(log_w - top[:, None]))
    stop_loss, tail = smooth_stop_loss(N, level[:, None])
    return (
        top,
        np.einsum("ij,ij->i", stop_loss, weight),
        np.einsum("ij,ij->i", tail, N * weight),
    )


def clone_epsilons(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, delta: FloatArray
) -> FloatArray:
    """Return the smallest ε ≥ 0 with δ(ε) ≤ δ of a crowd each; as `clone_deltas`.

    Never below it, and up to 2e-12 of itself above; up to 2e-10 where the number of clones varies
    by more than 25, and up to 2e-9 from 200 on.
    """

    def evaluate(rows: Any, eps: FloatArray) -> _Slopes:
        return clone_deltas(eps0[rows], k[rows], log_pc[rows], eps)

    return _invert(eps0, k, log_pc, delta, evaluate)


def _kappa(eps0: Any, eps: FloatArray) -> _Slopes:
    """Return κ and 1 − κ at ε < ε₀.

    1 − κ = sinh((ε₀−ε)/2)/(cosh(ε/2)·sinh(ε₀/2)), in a form that cannot overflow.
    """
    gap = 2 * np.exp(-eps) * np.expm1(eps - eps0) / ((1 + np.exp(-eps)) * np.expm1(-eps0))
    return np.tanh(eps / 2) / np.tanh(eps0 / 2), gap


def _rate(kappa: FloatArray) -> FloatArray:
    """Return D = lim −ln Pr[U ≤ (1−κ)N/2]/N, U ~ Bin(N, ½)."""
    up, down = (1 + kappa) / 2, np.maximum((1 - kappa) / 2, 1e-300)
    return np.asarray(math.log(2) + up * np.log(up) + down * np.log(down))


def _reach(k: FloatArray, log_pc: FloatArray, kappa: FloatArray) -> _Slopes:
    """Return the least and the largest number of clones that matter at κ.

    Tilted by e^−ND their number is binomial again; its tails by Chernoff's and Bernstein's bounds.
    """
    fall = np.exp(-_rate(np.minimum(kappa, 1.0)))
    p = np.exp(log_pc)
    mean = k * p * fall / (1 + p * (fall - 1))
    variance = mean * np.maximum(1 - mean / k, 0.0)
    third = _NEGLIGIBLE / 3
    reach = third + np.sqrt(third**2 + 2 * _NEGLIGIBLE * variance)
    low = np.floor(mean - np.minimum(np.sqrt(2 * _NEGLIGIBLE * mean), reach))
    low = np.where(p < 1, np.maximum(low, 1.0), k)
    return low, np.maximum(low, np.minimum(k, np.ceil(mean + reach)))


def _sums(
    k: FloatArray,
    log_pc: FloatArray,
    low: FloatArray,
    high: FloatArray,
    level: FloatArray,
    deep: bool,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ln c and E[(λN − U)_+]/c, E[N·1{U < λN}]/c with λ = (1−κ)/2 (`level`), a row each.

    The crowd (k, ln p_c) and its clones that matter, from low to high, are one for each row, or
    one for all. E[(λN − B)_+] = (λN − N/2)·F(b) + ½(N−b)·f(b) for B ~ Bin(N, ½), b the largest
    integer below λN.
    """
    N = low[:, None] + np.arange(int((high - low).max()) + 1)
    weight, log_c = binomial_rows(N, k, log_pc, high)
    level = level[:, None]
    b = np.maximum(np.ceil(N * level) - 1, 0.0)
    f = half_pmf_run(N, b)
    if deep:
        tail, stop_loss = direct_stop_loss(N, b, f, level)
    else:
        tail = running_tail(N, b, f)
        stop_loss = (level - 0.5) * N * tail + 0.5 * (N - b) * f
    weighted = N * weight
    if k.size == 1:
        return log_c, stop_loss @ weight[0], tail @ weighted[0]
    return (
        log_c,
        np.einsum("ij,ij->i", stop_loss, weight),
        np.einsum("ij,ij->i", tail, weighted),
    )


def _scale(
    eps0: FloatArray,
    k: FloatArray,
    log_pc: FloatArray,
    eps: FloatArray,
    sums: tuple[FloatArray | float, FloatArray, FloatArray],
) -> _Slopes:
    """Return δ and −dδ/dε from the sums of `_sums`."""
    log_c, stop_loss, reach = sums
    with np.errstate(divide="ignore"):
        log_total = log_c + np.log(np.maximum(stop_loss, 0.0))
        log_reach = log_c + np.log(np.maximum(reach, 0.0))
    log_t = np.log(np.tanh(eps0 / 2))
    log_scale = log_t + np.logaddexp(0.0, eps) - np.log(k) - log_pc
    value = np.exp(log_scale + math.log(2.0) + log_total)
    # dκ/dε = ½sech²(ε/2)/tanh(ε₀/2); the expectation falls by E[N·1{U−V > κN}] per unit of κ.
    log_dkappa = math.log(0.5) - 2 * (np.logaddexp(eps / 2, -eps / 2) - math.log(2.0)) - log_t
    slope = np.exp(log_scale + log_dkappa + log_reach) - value / (1 + np.exp(-eps))
    return np.minimum(value, 1.0), slope


def _invert(
    eps0: FloatArray,
    k: FloatArray,
    log_pc: FloatArray,
    delta: FloatArray,
    evaluate: Callable[[Any, FloatArray], _Slopes],
) -> FloatArray:
    """Return ε at δ by Newton steps between brackets; `evaluate` takes rows and their ε."""
    target = np.log(delta)
    low, high = np.zeros(target.shape), eps0.copy()
    with np.errstate(all="ignore"):
        # With hardly a clone the guess may be nothing.
        guess = clone_guess(eps0, k, log_pc, target)
        spread = _spread(k, log_pc)
        many = spread > _MANY
        bend = log_curvature(eps0, k, log_pc, guess) if many.any() else np.zeros(many.shape)
    many &= np.isfinite(bend)
    guess = np.where(np.isfinite(guess), guess, 0.5 * eps0)
    # δ falls from δ(0), which is worth asking for only where the target may be above it.
    todo = np.ones(target.shape, bool)
    near = np.flatnonzero(guess <= 1e-3 * eps0)
    if near.size:
        todo[near] = delta[near] < evaluate(near, np.zeros(near.size))[0]
    eps = np.where(todo, np.clip(guess, 1e-6 * eps0, 0.999 * eps0), 0.0)
    # With many clones the curvature is known, too; what a step leaves is the change of slope at the
    # corners of δ, some 1/(20·spread) of it.
    some = spread > _SOME
    last = np.where(many, 3e-5, np.where(some, 2e-8, 1e-13))
    active = np.flatnonzero(todo)
    for _ in range(80):
        if active.size == 0:
            break
        at, goal = eps[active], target[active]
        value, slope = evaluate(active, at)
        with np.errstate(divide="ignore"):
            log_value = np.log(value)
        above = log_value > goal
        low[active] = np.where(above, at, low[active])
        high[active] = np.where(above, high[active], at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # √ln(1/δ) is all but linear in ε; ln δ where δ is too large for that.
            deep = (log_value < -1) & (goal < -1)
            root = np.sqrt(np.where(deep, -log_value, 1.0))
            curved = 2 * root * (np.sqrt(np.where(deep, -goal, 1.0)) - root)
            step = np.where(deep, curved, log_value - goal) * value / slope
            off, fall = log_value - goal, slope / value
            bent = off / fall + 0.5 * bend[active] * off**2 / fall**3
            close = many[active] & (np.abs(off) < 0.1)
            step = np.where(close, bent, step)
            # δ is convex in e^ε, so its own tangent there never leads too far up: near ε₀,
            # where δ falls to 0 all but linearly, it leads all the way.
            plain = at + np.log1p(np.maximum((value - np.exp(goal)) / slope, -0.9))
            new = np.where(above & ~close & (plain > at + step), plain, at + step)
        done = np.abs(new - at) <= last[active] * at
        for other in (plain, 0.5 * (low[active] + high[active])):
            inside = np.isfinite(new) & (new > low[active]) & (new < high[active])
            new = np.where(done | inside, new, other)
        eps[active] = new
        done |= high[active] - low[active] <= 1e-13 * high[active]
        active = active[~done]
    tiny = np.flatnonzero((eps > 0) & (eps < 1e-9 * eps0))
    if tiny.size:  # on the way to a δ(0) that is not needed
        eps[tiny] *= evaluate(tiny, np.zeros(tiny.size))[0] > delta[tiny]
    raised = np.where(many, _RAISED[2], np.where(some, _RAISED[1], _RAISED[0]))
    # Anything below the true ε is no upper bound; ε₀ always is one.
    return np.asarray(np.minimum(eps * (1 + raised), eps0))


def clone_guess(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, log_delta: FloatArray
) -> FloatArray:
    """Return about the ε at which each crowd has δ; good for many clones, else about anything."""
    model = partial(_model, eps0, k, log_pc)
    # As if the loss were normal: with z = κ√(k·p_c) δ is near 2tanh(ε₀/2)/√(k·p_c)·φ(z)·S(z).
    steep, root = np.tanh(eps0 / 2), np.exp((np.log(k) + log_pc) / 2)
    room = 2 * (np.log(2 * steep / root) - 0.5 * math.log(2 * math.pi) - log_delta)
    room = np.maximum(room, 0.0)
    z = np.sqrt(room)
    for _ in range(3):
        z = np.sqrt(np.maximum(room - 2 * np.log1p(z * (math.sqrt(math.pi / 2) + z)), 0.0))
    kappa = np.clip(z / root, 1e-9, 0.98)
    for _ in range(5):
        value, slope = model(kappa)
        kappa = np.clip(kappa + (value - log_delta) / slope, 0.2 * kappa, 0.5 + kappa / 2)
    return np.asarray(2 * np.arctanh(kappa * steep))


def log_curvature(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, eps: FloatArray
) -> FloatArray:
    """Return about d² ln δ/dε² at each crowd's ε; good for many clones."""
    steep = np.tanh(eps0 / 2)
    below, here, above = (
        _model(eps0, k, log_pc, np.tanh(eps * share / 2) / steep)[0]
        for share in (0.999, 1.0, 1.001)
    )
    return np.asarray((below - 2 * here + above) / (1e-3 * eps) ** 2)


def _model(
    eps0: FloatArray, k: FloatArray, log_pc: FloatArray, kappa: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return about ln δ at κ, and about −d ln δ/dκ.

    With D as in `_rate` the expectation over N of e^−ND is (1 − p_c + p_c·e^−D)^k, and the rest of
    the summand is taken at the mean of the N so tilted: relative to δ that errs by about one over
    the number of clones.
    """
    p, steep = np.exp(log_pc), np.tanh(eps0 / 2)
    up, down = (1 + kappa) / 2, np.maximum((1 - kappa) / 2, 1e-300)
    twice = np.log(up) - np.log(down)
    rate = math.log(2) + np.log(up) - down * twice
    fall = np.exp(-rate)
    log_kept = np.log1p(p * np.expm1(-rate))
    clones = k * p * fall / np.exp(log_kept)
    variance = clones * up * down
    t = twice * np.sqrt(variance)
    epsilon = 2 * np.arctanh(np.minimum(kappa * steep, 1 - 1e-16))
    value = (
        np.log(2 * steep)
        + np.logaddexp(0.0, epsilon)
        - np.log(k)
        - log_pc
        + k * log_kept
        + 0.5 * np.log(variance / (2 * math.pi))
        - _log_curve(t)
    )
    bend = (1.2533 + 2 * t) / (1 + t * (1.2533 + t))
    return value, 0.5 * clones * twice + np.sqrt(clones) * bend


def _log_curve(t: FloatArray) -> FloatArray:
    """Return −ln(1 − t·R(t)), R the ratio of Mills, for t ≥ 0, within 1.2e-4."""
    over = 1 + t * (1.7345203 + t * (1.2812056 + t * (0.4820001 + t * 0.1029585)))
    return np.asarray(np.log(over / (1 + t * (0.4812066 + t * 0.1029585))))
