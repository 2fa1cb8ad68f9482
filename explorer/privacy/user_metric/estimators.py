"""Frequency estimation: samplers, unbiased estimates, and projection onto the simplex.

Estimates are *signed*: GKRR's sum to 1, Hadamard response's and Laplace's do not. "Normalising" by
the sum can make the error infinite (errata user-E2); projection onto the simplex costs no privacy
and never increases the ℓ2 error, but it can increase d_EM.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Clustered, IntArray, indices
from explorer.privacy.user_metric.frequency_errors import gkrr_inverse, laplace_scale
from explorer.privacy.user_metric.itemwise import GKRR

_MAX_DOMAIN = 1 << 24


def gkrr_estimate(answers: ArrayLike, mechanism: GKRR) -> FloatArray:
    """Return the unbiased estimate F̃ = ṽB of the normalised histogram (Algorithm 4).

    Parameters
    ----------
    answers : array_like of int, shape (N,)
        GKRR's answers to all items, N ≥ 1.
    mechanism : GKRR
        With α₀ > 0, and r > 0 unless clusters have one item.

    Returns
    -------
    ndarray, shape (size,)
        Signed, of sum 1.
    """
    space = mechanism.space
    v = space.histogram(answers)
    if mechanism.alpha0 == 0 or (space.r == 0 and space.each > 1):
        raise ValueError(
            f"mechanism: at alpha0 = {mechanism.alpha0:g}, r = {space.r:g} answers do not tell "
            "items apart and there is no unbiased estimate"
        )
    if space.size == 1:
        return v
    a, b, c = gkrr_inverse(space.clusters, space.each, max(space.r, 1e-300), mechanism.alpha0)
    per_cluster = v.reshape(space.clusters, space.each).sum(axis=1)
    if space.each == 1:
        # a' and b' act together: a' + b' = 1 − s·c'.
        return np.asarray((1 - space.clusters * c) * v + c)
    return np.asarray(a * v + b * np.repeat(per_cluster, space.each) + c)


class HadamardResponse:
    """ε₀-LDP answers in [0, K), K = 2^⌈log2(k+1)⌉: those where row x+1 of H is +1 are likelier.

    Parameters
    ----------
    k : int
        Size of the domain, in [1, 2^24 − 1].
    epsilon0 : float
        In [0, 800].

    References
    ----------
    Acharya, Sun & Zhang 2018, with the block structure left out; Lemma 6.4.
    """

    def __init__(self, k: int, epsilon0: float) -> None:
        self.k = int(checks.integers("k", k, 1, _MAX_DOMAIN - 1))
        self.epsilon0 = float(checks.epsilon0(epsilon0))
        self.K = 1 << self.k.bit_length()

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return one answer for every item."""
        row = indices(items, self.k) + 1
        y = rng.integers(0, self.K, len(row))
        agree = rng.random(len(row)) < 1 / (1 + math.exp(-self.epsilon0))
        # Flipping the lowest bit that the row has flips the sign, and keeps y uniform in a half.
        wrong = _signs(row, y) != np.where(agree, 1, -1)
        return np.where(wrong, y ^ (row & -row), y)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        x = np.arange(self.k)[:, None] + 1
        signs = _signs(x, np.arange(self.K)[None, :])
        likely = 1 / (1 + math.exp(-self.epsilon0))
        return np.where(signs > 0, likely, math.exp(-self.epsilon0) * likely) * (2 / self.K)

    def estimate(self, answers: ArrayLike) -> FloatArray:
        """Return the unbiased estimate of the normalised histogram, shape (k,); ε₀ > 0.

        F̃(x) = mean of H[x+1, y]/tanh(ε₀/2), by one fast Walsh–Hadamard transform of the counts.
        """
        if self.epsilon0 == 0:
            raise ValueError("epsilon0: at 0 answers do not tell items apart")
        y = indices(answers, self.K)
        if len(y) == 0:
            raise ValueError("answers: there must be at least one")
        counts = np.bincount(y, minlength=self.K).astype(float)
        h = 1
        while h < self.K:
            pairs = counts.reshape(-1, 2, h)
            counts = np.stack(
                [pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1
            ).ravel()
            h *= 2
        return np.asarray(counts[1 : self.k + 1] / (len(y) * math.tanh(self.epsilon0 / 2)))


def _signs(row: IntArray, column: IntArray) -> IntArray:
    """Return H[row, column] = (−1)^popcount(row & column)."""
    both = (row & column).astype(np.uint64)
    return np.asarray(1 - 2 * (np.bitwise_count(both).astype(np.int64) & 1))


def laplace_histogram(
    histogram: ArrayLike, n: int, epsilon: float, rng: np.random.Generator
) -> FloatArray:
    """Return K̃ plus Laplace noise of scale 2/(nε): user-level DP in the central model.

    Parameters
    ----------
    histogram : array_like of float, shape (k,)
        Normalised histogram of all users' items, equal numbers each.
    n : int
        Users.
    epsilon : float
        In (0, 800].

    References
    ----------
    Lemma 6.7, with the scale that is ε-DP (errata user-E1).
    """
    mass = np.asarray(histogram, dtype=float)
    if mass.ndim != 1 or not np.isfinite(mass).all() or abs(math.fsum(mass) - 1) > 1e-9:
        raise ValueError(f"histogram: shape {mass.shape} must be a list of masses of sum 1")
    checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON, open_low=True)
    return np.asarray(mass + rng.laplace(0.0, laplace_scale(n, epsilon), mass.shape))


def simplex_projection(estimate: ArrayLike) -> FloatArray:
    """Return the nearest point of the probability simplex in ℓ2.

    Parameters
    ----------
    estimate : array_like of float, shape (..., k)
        Finite.

    References
    ----------
    Held, Wolfe & Crowder 1974: subtract the threshold at which the positive part sums to 1.
    """
    f = np.asarray(estimate, dtype=float)
    if f.ndim == 0 or f.shape[-1] == 0 or not np.isfinite(f).all():
        raise ValueError(f"estimate: shape {f.shape} must have entries, all finite")
    # Relative to the largest entry, so that huge estimates keep a sum of 1.
    shifted = f - f.max(axis=-1, keepdims=True)
    down = -np.sort(-shifted, axis=-1)
    over = (np.cumsum(down, axis=-1) - 1) / np.arange(1, f.shape[-1] + 1)
    support = (down > over).sum(axis=-1, keepdims=True)
    threshold = np.take_along_axis(over, support - 1, axis=-1)
    return np.asarray(np.maximum(shifted - threshold, 0.0))


def emd_projection(estimate: ArrayLike, space: Clustered) -> FloatArray:
    """Return a histogram nearest to a signed estimate in d_EM on a clustered space.

    Its error is at most twice that of the estimate, by the triangle inequality; it costs no
    privacy. Solved in closed form: cluster masses first (only their sum over clusters with too
    little matters), then inside each cluster.

    Parameters
    ----------
    estimate : array_like of float, shape (size,)
        Of sum 1 (to 1e-9), such as `gkrr_estimate`.
    space : Clustered

    Raises
    ------
    ValueError
        If the shape or the sum is not as above.
    """
    f = np.asarray(estimate, dtype=float)
    space.emd_of_masses(f, np.full(space.size, 1.0 / space.size))
    inside = f.reshape(space.clusters, space.each)
    masses = _cut_to_sum(inside.sum(axis=1), 1.0)
    out = np.empty(inside.shape)
    for i, (row, mass) in enumerate(zip(inside, masses, strict=True)):
        out[i] = _cut_to_sum(row, mass)
    return out.ravel()


def _cut_to_sum(values: FloatArray, total: float) -> FloatArray:
    """Return a point ≥ 0 of this sum that is nearest in ℓ1: negatives to 0, the rest cut or raised.

    With P the positive part: if ΣP ≥ total entries of P are only lowered, else only raised, and
    either is the least that any point of the sum can do.
    """
    positive = np.maximum(values, 0.0)
    have = math.fsum(positive)
    if have >= total:
        return np.asarray(positive * (total / have) if have > 0 else positive)
    raised: FloatArray = positive + (total - have) / len(positive)
    return raised
