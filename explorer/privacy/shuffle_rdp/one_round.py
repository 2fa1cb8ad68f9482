"""One round of randomised response as a curve: δ for many ε, ε for many δ, exactly.

Q/P − 1 = γX is linear in the count m, so the hockey-stick divergences of both directions are
double running sums of P's masses: positive terms only, one pass for all ε.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.lower import RandomisedResponsePair

_LARGEST = 700.0


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
        pair = RandomisedResponsePair(min(eps0, _LARGEST), k, n, 1.0, dense=True)
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
        found = np.minimum(np.maximum(up, down), self._eps0)
        return np.asarray(np.where(target >= 1, 0.0, found) + 0.0)


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
    """Return what a curve of each round is at x, all broadcast; 0 where ε₀ is 0.

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
