"""From one round to T: Theorem 3 (both parts), its lower counterpart, and the comparators.

**Rényi DP of one round of subsampled clones, certified: what adding up levels can give at best.**
Theorem 1 bounds the same levels through |χ|^α divergences of each order; here the dominating pair's
own divergence is summed, which is far smaller.
"""

import math
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray, Reference, Role
from explorer.privacy.core.composition import (
    kov_epsilon,
    kov_exact_epsilon,
    pure_dp_renyi,
    subsampled_epsilon,
)
from explorer.privacy.core.divergences import (
    Conversion,
    conversion_penalty,
    epsilon_from_rdp,
    orders_up_to,
)
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.shuffle_rdp.losses import BLOCK, clone_loss
from explorer.privacy.shuffle_rdp.lower import Direction, lower_rdp_table
from explorer.privacy.shuffle_rdp.upper import capped_rdp_table, pure_epsilon, upper_rdp_table
from explorer.privacy.shuffling import (
    Clones,
    clones_closed_form,
    clones_condition,
    shuffled_epsilon,
)

RDP_OF_CLONES = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "Rényi divergence of the subsampled clones",
    "one common, non-adaptive randomiser where k < n (2023: everywhere); rounded up",
)
_MIN_EPS0, _MAX_EPS0 = 1e-12, 100.0
LEVEL_CELLS = 1000
_DEPTHS = 50.0, 75.0, 100.0, 200.0, 400.0, 690.0
_SPARE = 60.0
"""Omitted terms weigh e^−60 of the largest likelihood ratio's power, where a depth allows and less
would count."""
_ROUNDING = 1e-11
_UNDERFLOW = 1e-300
"""More than all masses together that are too small for doubles."""
_EVERY, _RATIO = 32, 1.03
"""Orders up to 32 are all searched, then each is 3 % above the last; the best one's neighbours
after that."""


def upper_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    *,
    capped: bool = False,
    clip: bool = True,
) -> Conversion:
    """Return ε at δ after T rounds by Theorem 3: min over λ = 2…λ_max of Lemma 1 of Tε(λ).

    Parameters
    ----------
    eps0, k, n, T, delta : array of float, broadcast together
        ε₀ in [0, 800]; 1 ≤ k ≤ n ≤ 1e12; T in [1, 1e9]; δ in [1e-300, 1].
    lam_max : int
        Largest order searched; any is sound, a small one can be loose (errata shuf-A4): see
        `Conversion.at_edge`.
    capped : bool
        Use min(Theorem 1, Rényi cap) per order and min(…, T·ε_s) at the end (errata shuf-A6).
    clip : bool
        Report negative values as 0.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 3 (7).
    """
    table = (capped_rdp_table if capped else upper_rdp_table)(eps0, k, n, lam_max)
    conversion = epsilon_from_rdp(table, orders_up_to(lam_max), T, delta, clip=clip)
    if not capped:
        return conversion
    cap = checks.rounds(T) * np.asarray(pure_epsilon(eps0, k, n))
    return conversion._replace(epsilon=np.minimum(conversion.epsilon, cap))


def lower_rdp_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    direction: Direction | str = Direction.BOTH,
) -> Conversion:
    """Return Lemma 1 of T times the lower bound on the RDP, over integer orders 2…λ_max.

    No accountant that adds RDP at these orders and converts with Lemma 1 can report less. It is
    **not** a lower bound on ε: Lemma 1 only bounds from above (errata shuf-A3).
    """
    table = lower_rdp_table(eps0, k, n, lam_max, direction)
    return epsilon_from_rdp(table, orders_up_to(lam_max), T, delta)


class Shuffling(StrEnum):
    """Amplification of one round in Figures 2–4, before sampling and composition."""

    CLOSED = "closed"
    """Closed form where its condition holds for k and δ₀, else (ε₀, 0)."""
    CLOSED_UNCHECKED = "closed_nocond"
    """min(closed form, ε₀), the condition ignored; unsound (errata shuf-A9), to compare."""
    NUMERIC = "numeric"
    """Exact clones, 2021 analysis."""
    NUMERIC_STRONGER = "numeric_2023"
    """Exact clones, 2023 analysis."""
    NONE = "none"
    """No amplification by shuffling: (ε₀, 0)."""


def round_delta(
    k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike, share: float = 0.5
) -> FloatArray:
    """Return δ₀ = fδ/(Tγ), the δ of one shuffle before sampling; at most 1.

    Where fδ ≥ Tγ a record is hardly ever sampled and the trivial (0, 1) statement will do.
    """
    sampled, clients = checks.population(k, n)
    value = share * checks.delta(delta) * clients / (checks.rounds(T) * sampled)
    return np.asarray(np.clip(value, checks.MIN_DELTA, 1.0))


def pipeline_holds(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike, share: float = 0.5
) -> BoolArray:
    """Return where the clones' closed form is valid inside the pipeline, for k and δ₀ (shuf-A8)."""
    return clones_condition(eps0, k, round_delta(k, n, T, delta, share))


def pipeline_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    shuffle: Shuffling | str = Shuffling.CLOSED,
    share: float = 0.5,
) -> Any:
    """Return ε at δ by amplification, then sampling, then strong composition.

    Parameters
    ----------
    eps0, k, n, T, delta : array of float, broadcast together
        As in `upper_epsilon`.
    shuffle : Shuffling
    share : float
        f, the share of δ that the rounds get: δ₀ = fδ/(Tγ), slack (1−f)δ. All of δ is slack where
        no amplification is used. The paper names no split (errata shuf-B1).

    References
    ----------
    Feldman, McMillan & Talwar 2021; Ullman 2017; Kairouz, Oh & Viswanath 2015, Theorem 3.4.
    """
    how = Shuffling(shuffle)
    f = float(checks.reals("f", share, 0.0, 1.0))
    e = checks.epsilon0(eps0)
    sampled, clients = checks.population(k, n)
    rounds, d = checks.rounds(T), checks.delta(delta)
    e, sampled, clients, rounds, d = np.broadcast_arrays(e, sampled, clients, rounds, d)
    slack = np.maximum((1 - f) * d, checks.MIN_DELTA)
    per_round = round_delta(sampled, clients, rounds, d, f)
    if how is Shuffling.NONE:
        local, slack = e, d
    elif how is Shuffling.CLOSED:
        holds = clones_condition(e, sampled, per_round)
        local = np.where(holds, clones_closed_form(e, sampled, per_round), e)
        slack = np.where(holds, slack, d)
    elif how is Shuffling.CLOSED_UNCHECKED:
        local = np.minimum(clones_closed_form(e, sampled, per_round), e)
    else:
        variant = Clones.PUBLISHED if how is Shuffling.NUMERIC else Clones.STRONGER
        local = shuffled_epsilon(e, sampled, per_round, variant)
    return composed_shuffles(local, sampled / clients, rounds, slack)


def composed_shuffles(
    epsilon: ArrayLike, gamma: ArrayLike, T: ArrayLike, slack: ArrayLike, *, exact: bool = False
) -> Any:
    """Return ε of T sampled rounds by strong composition, from the ε of one shuffle.

    The last two steps of the pipeline, where the first was computed already.

    Parameters
    ----------
    epsilon : array of float
        ε of one shuffle at the δ₀ of `round_delta`.
    gamma : array of float
        Sampling rate, in (0, 1].
    T : array of float
        Rounds, in [1, 1e9].
    slack : array of float
        What of δ the rounds leave over, (1−f)δ.
    exact : bool
        Theorem 3.3 of Kairouz, Oh & Viswanath, rounded up, instead of their Theorem 3.4.
    """
    per_round = subsampled_epsilon(epsilon, gamma)
    if exact:
        return kov_exact_epsilon(per_round, T, slack, Role.UPPER)
    return kov_epsilon(per_round, T, slack)


def gradient_second_moment(
    p: float, L: ArrayLike, d: ArrayLike, eps0: ArrayLike, k: ArrayLike
) -> Any:
    """Return G² = max(d^{1−2/p}, 1)L² + G_p²/k of the averaged, locally randomised gradients.

    With A = ((e^ε₀+1)/(e^ε₀−1))²: G_1² = L²dA, G_∞² = L²d²A, and G_p² = 14L²dA·max(d^{1−2/p}, 1)
    between them.

    Parameters
    ----------
    p : float
        In [1, ∞]: norm of the gradient ball, radius L (the clipping threshold).
    L, d, eps0, k : array of float, broadcast together
        Lipschitz constant > 0, dimension ≥ 1, ε₀ in (0, 800], clients sampled.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 3 and Remark 1 (Lemma 8 prints other constants for p = 1 and ∞;
    errata shuf-B5); for other p Lemma 8.
    """
    checks.reals("p", p, 1.0)
    lipschitz = checks.reals("L", L, 0.0, np.inf, open_low=True)
    size = checks.integers("d", d, 1, 1e12)
    e = checks.reals("eps0", eps0, 0.0, checks.MAX_EPSILON, open_low=True)
    sampled = checks.integers("k", k, 1, checks.MAX_COUNT)
    widest = np.maximum(size ** (1.0 if p == np.inf else 1.0 - 2.0 / p), 1.0)
    factor = {1: size, np.inf: size**2}.get(p, 14 * size * widest) / sampled
    with np.errstate(over="ignore", divide="ignore"):
        # Infinite where it has no double.
        moment = widest * lipschitz**2 + factor * (lipschitz / np.tanh(e / 2)) ** 2
    return scalar_if_0d(moment)


def convergence_bound(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Any:
    """Return 2DG(2 + ln T)/√T, the bound on the expected excess risk after T steps.

    Parameters
    ----------
    p, L, d, eps0, k
        As in `gradient_second_moment`.
    D : array of float
        Diameter of the parameter set, > 0.
    T : array of float
        Steps with rates D/(G√t), in [1, 1e9].

    References
    ----------
    Girgis, Data & Diggavi, (36); Theorem 3 prints O(·) (errata shuf-B6).
    """
    diameter = checks.reals("D", D, 0.0, np.inf, open_low=True)
    rounds = checks.rounds(T)
    moment = np.asarray(gradient_second_moment(p, L, d, eps0, k))
    with np.errstate(over="ignore"):
        bound = 2 * diameter * np.sqrt(moment) * (2 + np.log(rounds)) / np.sqrt(rounds)
    return scalar_if_0d(bound)


def searched_orders(lam_max: int) -> FloatArray:
    """Return the whole orders from 2 to λ_max that are searched first."""
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
        cells: int = LEVEL_CELLS,
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
            self._known |= zip(new.tolist(), self._compute_levels(new).tolist(), strict=True)
        return np.array([self._known[order] for order in lam.tolist()])

    def epsilon(self, T: ArrayLike, delta: ArrayLike, lam_max: int = 512) -> Conversion:
        """Return ε at δ after T rounds by Lemma 1 at the best whole order up to λ_max.

        T and δ broadcast.
        """
        rounds, d = np.broadcast_arrays(checks.rounds(T), checks.delta(delta))
        orders = searched_orders(lam_max)
        depths = self._depths(orders)
        for depth in np.unique(depths):
            first_orders, rest = orders[depths <= depth], orders[depths > depth]
            levels = self.levels(first_orders)
            first = epsilon_from_rdp(levels, first_orders, rounds, d, clip=False)
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

    def _compute_levels(self, lam: FloatArray) -> FloatArray:
        cap = np.asarray(pure_dp_renyi(lam, self._pure)) * (1 + _ROUNDING)
        if not _MIN_EPS0 <= self._round[0] <= _MAX_EPS0:
            return cap
        depths = self._depths(lam)
        out = np.empty(lam.size)
        for depth in np.unique(depths):
            some = np.flatnonzero(depths == depth)
            step = max(1, BLOCK // self._law(depth)[0].size)
            for start in range(0, some.size, step):
                piece = some[start : start + step]
                out[piece] = self._sum_losses(lam[piece], float(depth))
        return np.minimum(out, cap)

    def _depths(self, lam: FloatArray) -> FloatArray:
        """Return how unlikely, as e^−depth, outcomes are that the sum of an order leaves out."""
        spare = np.where(self._is_wide & (lam * self._pure < 5), _DEPTHS[0] - 5, _SPARE)
        return np.array(_DEPTHS)[np.searchsorted(_DEPTHS[:-1], lam * self._pure + spare)]

    @cached_property
    def _is_wide(self) -> bool:
        """Whether even the least depth leaves out nothing that counts, of small orders."""
        if not _MIN_EPS0 <= self._round[0] <= _MAX_EPS0:
            return False
        log_q, loss, missing, _ = self._law(_DEPTHS[0])
        square = np.exp(log_q) @ (np.expm1(2 * loss) * -np.expm1(-loss))
        return bool(missing * math.exp(5) < 1e-9 * square)

    def _sum_losses(self, lam: FloatArray, depth: float) -> FloatArray:
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
        """Return ln q and L of the losses above 0, the missing mass, and their relative error."""
        if depth not in self._atoms:
            loss = clone_loss(*self._round, self._variant, self._cells, depth)
            positive = (loss.log_ratio > 0) & (loss.mass > 0)
            log_q, left_out = np.log(loss.mass[positive]), loss.missing + _UNDERFLOW
            self._atoms[depth] = log_q, loss.log_ratio[positive], left_out, loss.accuracy
        return self._atoms[depth]


def clone_rdp(
    lam: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
    cells: int = LEVEL_CELLS,
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
    cells: int = LEVEL_CELLS,
) -> Conversion:
    """Return ε at δ after T rounds: Lemma 1 of T times `clone_rdp`, best whole order to λ_max.

    A proved upper bound that needs no lattice; T and δ broadcast, conditions as in `CloneRenyi`.
    """
    e = float(checks.epsilon0(eps0))
    sampled, clients = (float(a) for a in checks.population(k, n))
    return CloneRenyi(e, sampled, clients, Clones(variant), cells).epsilon(T, delta, lam_max)
