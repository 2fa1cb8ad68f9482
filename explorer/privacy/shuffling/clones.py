"""Privacy amplification by shuffling: k clients, each ε₀-LDP, seen only as a multiset.

The *clones* argument: every other client's message looks, with probability p_c, like one of the
changed client's two possible messages, and hides it. In closed form (valid under a condition) and
numerically exact for the dominating pair, in two published variants.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffling.clone_pair import (
    ClonePair,
    Clones,
    clone_deltas,
    clone_epsilons,
    is_wide,
    log_clone_probability,
)

__all__ = [
    "CloneCurve",
    "ClonePair",
    "Clones",
    "blanket_condition",
    "clones_are_wide",
    "clones_closed_delta",
    "clones_closed_form",
    "clones_condition",
    "shuffled_delta",
    "shuffled_epsilon",
]

_TINY = 1e-290
"""Local parameters below this are reported as they are: their halves are no longer doubles."""


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

    found = _by_crowd((e, clients, eps), which, lambda *points: clone_deltas(*points)[0])
    return scalar_if_0d(np.where(eps < e, found, 0.0))


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
        d = checks.reals("delta", delta, self.delta_low, self.delta_high)
        if self.eps0 == 0:
            return np.zeros(d.shape)
        # Chords in e^ε, taken relative to the smallest ε so that they cannot overflow.
        base = float(self._eps[-1])
        rise = np.interp(d, self._delta, np.expm1(self._eps - base))
        return np.asarray(np.clip(base + np.log1p(rise), 0.0, self.eps0))
