"""Rényi DP of one round of subsampled clones, certified: what adding up levels can give at best.

Theorem 1 bounds the same levels through |χ|^α divergences of each order; here the dominating pair's
own divergence is summed, which is far smaller.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray, Reference
from explorer.privacy.core.composition import pure_dp_renyi
from explorer.privacy.core.divergences import Conversion, conversion_penalty, epsilon_from_rdp
from explorer.privacy.core.vectorised import vectorised
from explorer.privacy.shuffle_rdp.losses import clone_loss
from explorer.privacy.shuffle_rdp.upper import pure_epsilon
from explorer.privacy.shuffling import Clones

RDP_OF_CLONES = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "Rényi divergence of the subsampled clones",
    "one common, non-adaptive randomiser where k < n (2023: everywhere); rounded up",
)

_EPS0_MIN, _EPS0_MAX = 1e-12, 100.0
_CELLS = 1000
_DEPTHS = 75.0, 100.0, 200.0, 400.0, 690.0
_SPARE = 60.0
"""What is left out weighs e^−60 of the largest likelihood ratio's power, where a depth allows."""
_ROUNDING = 1e-11
_UNDERFLOW = 1e-300
"""More than all masses together that are too small for doubles."""
_EVERY, _RATIO = 32, 1.03
"""Orders up to 32 are all searched, then each is 3 % above the last; the best one's neighbours
after that."""
_AT_ONCE = 2_000_000


def searched_orders(lam_max: int) -> FloatArray:
    """Return whole orders from 2 to λ_max among which the best is looked for first."""
    steps = math.ceil(math.log(max(lam_max / _EVERY, 1.0)) / math.log(_RATIO))
    more = np.rint(_EVERY * _RATIO ** np.arange(1, steps + 1))
    every = np.concatenate([np.arange(2.0, _EVERY + 1), more, [lam_max]])
    return np.unique(every[every <= lam_max])


class CloneRenyi:
    """One round of subsampled clones, k of n: its Rényi level at any order, rounded up.

    With q the probability under Q of a loss ℓ > 0 of the clones and L = ln(1+γ(e^ℓ−1)),
    ε(λ) = ln(1 + Σ q(e^{λL}−1)(1−e^{(1−λ)L}))/(λ−1): every term is positive. Outcomes left out are
    paid for with the largest ratio there is, and no level exceeds that of randomised response at
    ε_s = ln(1+γ(e^ε₀−1)), which holds in any case.

    Parameters
    ----------
    eps0 : float
        In [0, 800]; above 100, where there are no clones, and below 1e-12 only ε_s counts.
    k, n : float
        1 ≤ k ≤ n ≤ 1e12.
    variant : Clones
        With sampling both variants need one common, non-adaptive randomiser a round; without it
        (k = n) `Clones.PUBLISHED` holds for any.
    cells : int
        Losses that the round is gathered on, upwards (`clone_loss`).

    Notes
    -----
    The curve of hockey-stick divergences of this pair dominates the sampled shuffle's in both
    orders (Zhu, Dong & Wang 2022), and Rényi divergence increases with that curve:
    E_Q[X^λ] − 1 = λ(λ−1)∫x^{λ−2}(H_x − (1−x)_+)dx.
    """

    def __init__(
        self,
        eps0: float,
        k: float,
        n: float,
        variant: Clones = Clones.PUBLISHED,
        cells: int = _CELLS,
    ) -> None:
        self._round, self._variant, self._cells = (eps0, k, n), variant, cells
        self._pure = float(pure_epsilon(eps0, k, n))
        self._atoms: dict[float, tuple[FloatArray, FloatArray, float, float]] = {}
        self._known: dict[float, float] = {}

    def levels(self, orders: ArrayLike) -> FloatArray:
        """Return ε(λ) for real orders λ > 1 (1-dimensional)."""
        lam = np.atleast_1d(checks.reals("lam", orders, 1.0, checks.MAX_ORDER, open_low=True))
        new = np.array([order for order in np.unique(lam) if float(order) not in self._known])
        if new.size:
            self._known |= zip(new.tolist(), self._computed(new).tolist(), strict=True)
        return np.array([self._known[order] for order in lam.tolist()])

    def epsilon(self, T: ArrayLike, delta: ArrayLike, lam_max: int = 512) -> Conversion:
        """Return ε at δ after T rounds by Lemma 1 at the best whole order up to λ_max.

        T and δ broadcast.
        """
        rounds, d = np.broadcast_arrays(checks.rounds(T), checks.delta(delta))
        orders = searched_orders(lam_max)
        depths = self._depths(orders)
        for depth in np.unique(depths):
            tried, rest = orders[depths <= depth], orders[depths > depth]
            levels = self.levels(tried)
            first = epsilon_from_rdp(levels, tried, rounds, d, clip=False)
            # Levels rise with the order: larger ones may be in vain, and need deeper sums.
            if rest.size:
                spared = np.min(conversion_penalty(rest, d[..., None]), axis=-1)
                if np.all(first.epsilon <= rounds * levels[-1] + spared):
                    break
        value, order = np.array(first.epsilon), np.array(first.order)
        for i, here in enumerate(order.ravel().tolist()):
            at = int(np.searchsorted(orders, here))
            low, high = orders[max(at - 1, 0)], orders[min(at + 1, orders.size - 1)]
            near = np.arange(low, high + 1)
            best = epsilon_from_rdp(self.levels(near), near, rounds.flat[i], d.flat[i], clip=False)
            value.flat[i], order.flat[i] = best.epsilon, best.order
        value = np.minimum(np.maximum(value, 0.0), rounds * self._pure)
        return Conversion(value, order, order == lam_max)

    def _computed(self, lam: FloatArray) -> FloatArray:
        cap = np.asarray(pure_dp_renyi(lam, self._pure)) * (1 + _ROUNDING)
        if not _EPS0_MIN <= self._round[0] <= _EPS0_MAX:
            return cap
        depths = self._depths(lam)
        out = np.empty(lam.size)
        for depth in np.unique(depths):
            some = np.flatnonzero(depths == depth)
            step = max(1, _AT_ONCE // self._law(depth)[0].size)
            for start in range(0, some.size, step):
                piece = some[start : start + step]
                out[piece] = self._summed(lam[piece], float(depth))
        return np.minimum(out, cap)

    def _depths(self, lam: FloatArray) -> FloatArray:
        """Return how unlikely, as e^−depth, outcomes are that the sum of an order leaves out."""
        return np.array(_DEPTHS)[np.searchsorted(_DEPTHS[:-1], lam * self._pure + _SPARE)]

    def _summed(self, lam: FloatArray, depth: float) -> FloatArray:
        log_q, loss, missing, error = self._law(depth)
        power = lam[:, None] * loss
        logs = log_q + power
        top = logs.max(axis=1, keepdims=True)
        # e^{λL} − 1 = e^{λL}(1 − e^{−λL}), and nothing overflows.
        terms = np.exp(logs - top) * np.expm1(-power) * np.expm1(loss - power)
        with np.errstate(divide="ignore"):
            log_sum = np.log(terms.sum(axis=1)) + top[:, 0] + math.log1p(error)
        paid = np.logaddexp(log_sum, math.log(missing) + lam * self._pure)
        return np.asarray(np.logaddexp(0.0, paid) / (lam - 1) * (1 + _ROUNDING))

    def _law(self, depth: float) -> tuple[FloatArray, FloatArray, float, float]:
        """Return ln q and L of the losses above 0, what is missing, and their relative error."""
        if depth not in self._atoms:
            made = clone_loss(*self._round, self._variant, self._cells, depth)
            some = (made.log_ratio > 0) & (made.mass > 0)
            log_q, left_out = np.log(made.mass[some]), made.missing + _UNDERFLOW
            self._atoms[depth] = log_q, made.log_ratio[some], left_out, made.accuracy
        return self._atoms[depth]


def clone_rdp(
    lam: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
    cells: int = _CELLS,
) -> Any:
    """Return the Rényi level of order λ > 1 of one round of subsampled clones, rounded up.

    Arguments broadcast; domains and conditions as in `CloneRenyi`.
    """
    which = Clones(variant)
    checks.epsilon0(eps0)
    checks.population(k, n)

    def level(order: float, e: float, s: float, c: float) -> float:
        return float(CloneRenyi(e, s, c, which, cells).levels(order)[0])

    return vectorised(level)(*(np.asarray(a, float) for a in (lam, eps0, k, n)))


def clone_rdp_epsilon(
    eps0: float,
    k: float,
    n: float,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    variant: Clones | str = Clones.PUBLISHED,
    cells: int = _CELLS,
) -> Conversion:
    """Return ε at δ after T rounds: Lemma 1 of T times `clone_rdp`, best whole order to λ_max.

    A proved upper bound that needs no lattice; T and δ broadcast, conditions as in `CloneRenyi`.
    """
    e = float(checks.epsilon0(eps0))
    sampled, clients = (float(a) for a in checks.population(k, n))
    return CloneRenyi(e, sampled, clients, Clones(variant), cells).epsilon(T, delta, lam_max)
