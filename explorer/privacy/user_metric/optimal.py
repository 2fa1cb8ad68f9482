"""The item mechanism of least expected distance on a small space, by linear programming."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import FiniteSpace
from explorer.privacy.spaces.base import IntArray
from explorer.privacy.user_metric.itemwise import drawn_items, exponential_law

OPTIMAL_ITEMS = 40
"""Most items: the program has a variable for every pair of them."""
_ROUNDING = 1e-12
"""What a level computed in floats may be off by, of itself."""


class Optimal:
    """The α₀·d-private mechanism of least Σ π(x) Pr[y | x] d(x, y), whose answers are items.

    Solved by HiGHS, whose rows may miss their limits by 1e-7: negative chances are cut off, rows
    normalised, and as little as needed of the exponential mechanism at the rate α₀/2 is mixed in
    for the law itself to be α₀·d-private, whatever the solver did.

    Parameters
    ----------
    space : FiniteSpace
        Up to 40 items, different ones at distances above 0.
    alpha0 : float
        In (0, 800].
    prior : array_like of float, shape (size,), optional
        π, public and above 0 in sum; even if left out. It decides about the error, not about what
        is promised.

    Attributes
    ----------
    least : float
        The optimum of the program: what no α₀·d-private mechanism with these answers goes below,
        up to the solver's tolerance.
    """

    def __init__(self, space: FiniteSpace, alpha0: float, prior: ArrayLike | None = None) -> None:
        self.space, self.alpha0 = space, float(alpha0)
        d = space.matrix()
        even = np.full(len(d), 1 / len(d))
        weights = even if prior is None else np.asarray(prior, dtype=float)
        solved, self.least = _solved(d, weights, self.alpha0)
        self._law = _repaired(solved, d, self.alpha0)
        self.mean = float(weights @ (self._law * d).sum(axis=1))

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return one item of the space for every item."""
        return drawn_items(np.cumsum(self._law, axis=1), self.space.items(items), rng)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        return self._law


def lp_optimum(distances: ArrayLike, prior: ArrayLike, alpha0: float) -> float:
    """Return the least Σ π(x) Pr[y | x] d(x, y) of α₀·d-private laws whose answers are items.

    Parameters
    ----------
    distances : array_like of float, shape (k, k)
        Normalised distances of 1 to 40 items, different ones above 0.
    prior : array_like of float, shape (k,)
        π ≥ 0.
    alpha0 : float
        In (0, 800].
    """
    return _solved(np.asarray(distances, float), np.asarray(prior, float), float(alpha0))[1]


def level_of(law: FloatArray, distances: FloatArray) -> float:
    """Return the α₀ for which a law, all above 0, is α₀·d-private, rounded up; 0 for one item."""
    log, apart = np.log(law), distances > 0
    change = np.abs(log[:, None, :] - log[None, :, :]).max(axis=2)
    return float((change[apart] / distances[apart]).max(initial=0.0)) * (1 + _ROUNDING)


def _solved(d: FloatArray, prior: FloatArray, alpha0: float) -> tuple[FloatArray, float]:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    checks.reals("alpha0", alpha0, 0.0, checks.EPSILON_MAX, open_low=True)
    k = len(d)
    if d.shape != (k, k) or not 1 <= k <= OPTIMAL_ITEMS:
        raise ValueError(
            f"distances: shape {d.shape} must be square, of 1 to {OPTIMAL_ITEMS} items"
        )
    if prior.shape != (k,) or (prior < 0).any() or not prior.sum() > 0:
        raise ValueError(f"prior: it must be {k} numbers, none negative and not all 0")
    first, second = np.nonzero(_needed(d))
    pairs, answers = first.size, np.arange(k)
    row = np.arange(pairs * k)
    # A(x, y)·e^{−α₀d} − A(x′, y) ≤ 0: no coefficient is above 1.
    left = (first[:, None] * k + answers).ravel()
    right = (second[:, None] * k + answers).ravel()
    shrunk = np.repeat(np.exp(-alpha0 * d[first, second]), k)
    limits = csr_array(
        (
            np.concatenate([shrunk, -np.ones(row.size)]),
            (np.concatenate([row, row]), np.concatenate([left, right])),
        ),
        shape=(row.size, k * k),
    )
    sums = csr_array((np.ones(k * k), (np.repeat(answers, k), np.arange(k * k))), shape=(k, k * k))
    cost = prior[:, None] * d
    found: Any = linprog(
        cost.ravel(),
        A_ub=limits,
        b_ub=np.zeros(row.size),
        A_eq=sums,
        b_eq=np.ones(k),
        bounds=(0, 1),
        method="highs-ds",
    )
    if not found.success:
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    return np.asarray(found.x).reshape(k, k), float(found.fun)


def _needed(d: FloatArray) -> Any:
    """Return which ordered pairs have no third item on a shortest way between them.

    The limits of the others follow by multiplying those along the way.
    """
    through = d[:, :, None] + d[None, :, :]  # x to z, z to y
    k = np.arange(len(d))
    through[k, k, :] = np.inf
    through[:, k, k] = np.inf
    implied = (through.min(axis=1) <= d * (1 + 1e-12)) & (d > 0)
    return (d > 0) & ~implied


def _repaired(law: FloatArray, d: FloatArray, alpha0: float) -> FloatArray:
    law = np.maximum(law, 0.0)
    law /= law.sum(axis=1, keepdims=True)
    safe = exponential_law(d, alpha0 / 2)
    share = 1e-12
    while True:
        mixed = (1 - share) * law + share * safe
        if share >= 1 or level_of(mixed, d) <= alpha0:
            return mixed
        share = min(4 * share, 1.0)
