"""Parameters of the shuffle-model protocol: modulus, shares, messages, guarantee, failures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.papers import HEATMAPS as PAPER
from explorer.privacy.heatmaps.shuffle_model.cost import (
    Communication,
    communication,
    modulus_at_least,
)
from explorer.privacy.heatmaps.shuffle_model.missing_noise import deficient_epsilon

_PROTOCOL = Reference(
    PAPER,
    "Appendix F",
    "noise of scale B/ε, two Pólya shares a user, q ≥ Bn + 2τ + 1: errata heat-1, heat-2, heat-3",
)
_WORD = 1 << 63


@dataclass(frozen=True)
class ShufflePlan:
    """Everything the users, the shuffler and the analyzer agree on before any data are seen.

    Attributes
    ----------
    epsilons : tuple of Fraction, length ℓ+1
        ε_i of every level of the pyramid, 0 for levels that are not sent.
    users : int
        n, the largest number of users whose messages are summed; public.
    guaranteed : int
        n_min ≤ n, users who are relied on to add their noise.
    resolution : int
        B, whole units in every user's distribution.
    tail : int
        τ: noise within ±τ cannot wrap around. It concerns accuracy alone.
    delta : float
        δ of the claim for a user whose data are replaced by nothing.
    sent : Communication
        r shares, messages and bits of a user.
    """

    epsilons: tuple[Fraction, ...]
    users: int
    guaranteed: int
    resolution: int
    tail: int
    delta: float
    sent: Communication

    @property
    def level(self) -> int:
        """ℓ, the level of the users' cells."""
        return len(self.epsilons) - 1

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that are sent."""
        return tuple(i for i, part in enumerate(self.epsilons) if part > 0)

    @property
    def cells(self) -> int:
        """m, cells of all levels that are sent."""
        return sum(4**i for i in self.levels)

    @property
    def modulus(self) -> int:
        """The modulus q = Bn + 2τ + 1."""
        return modulus_at_least(self.users, self.resolution, self.tail)

    @property
    def epsilon(self) -> Fraction:
        """Σ ε_i, the level for a user whose data are replaced by nothing."""
        return sum(self.epsilons, Fraction(0))

    @property
    def replace_one(self) -> tuple[Fraction, float]:
        """(2ε, δ') for a user whose data are replaced by other data.

        The noise alone gives 2ε, as data and other data are 2B apart in ℓ1 on every level. What
        the shares leave open is a distance δ/(1 + e^ε) of two laws, which counts 1 + e^{2ε} times.
        """
        epsilon = float(self.epsilon)
        # (1 + e^{2ε})/(1 + e^ε) = e^ε (1 + e^{−2ε})/(1 + e^{−ε}).
        log_factor = epsilon + math.log1p(math.exp(-2 * epsilon)) - math.log1p(math.exp(-epsilon))
        return 2 * self.epsilon, min(1.0, math.exp(min(log_factor + math.log(self.delta), 0.0)))

    def scale(self, level: int) -> Fraction:
        """Return B/ε_i, the scale of the noise on one level."""
        return self.resolution / self.epsilons[level]


def shuffle_plan(
    epsilons: Sequence[Fraction],
    users: int,
    resolution: int,
    delta: float,
    guaranteed: int | None = None,
    failure: float = 1e-9,
    printed: bool = False,
) -> ShufflePlan:
    """Choose tail, modulus and shares for given levels.

    Parameters
    ----------
    epsilons : sequence of Fraction, length ℓ+1
        ε_i ≥ 0 of every level, at least one above 0 (`exact_epsilons`).
    users : int
        n ≥ 19 (≥ 2 with the printed count of shares).
    resolution : int
        B ≥ 1.
    delta : float
        In (0, 1).
    guaranteed : int, optional
        n_min in [19, n]; n if left out.
    failure : float
        In (0, 1): probability that any cell wraps around if exactly n_min users take part.
    printed : bool
        The paper's own, smaller count of shares (to compare with its Figure 12).

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.
    """
    parts = tuple(Fraction(part) for part in epsilons)
    if not parts or min(parts) < 0 or not any(parts):
        raise ValueError("epsilons: they must be at least 0, and one of them above 0")
    checks.reals("resolution", resolution, 1)
    relied = users if guaranteed is None else guaranteed
    if relied > users:
        raise ValueError(f"guaranteed: {relied} is above all {users} users")
    cells = sum(4**i for i, part in enumerate(parts) if part > 0)
    tail = least_tail(parts, resolution, failure)
    modulus = modulus_at_least(users, resolution, tail)
    total = float(sum(parts))
    sent = communication(relied, cells, modulus, total, delta, printed)
    if modulus * (sent.shares + 1) >= _WORD:
        raise ValueError(
            f"resolution: {resolution} makes the modulus {modulus}, whose sums of "
            f"{sent.shares} shares leave 63 bits"
        )
    return ShufflePlan(parts, users, relied, resolution, tail, delta, sent)


def least_tail(epsilons: Sequence[Fraction], resolution: int, failure: float) -> int:
    """Return the least τ with 2mβ^{τ+1}/(1 + β) ≤ failure, β = e^{−ε_min/B}.

    Parameters are those of `shuffle_plan`.
    """
    checks.open_unit("failure", failure)
    cells = sum(4**i for i, part in enumerate(epsilons) if part > 0)
    rate = float(min(part for part in epsilons if part > 0) / resolution)
    log_chance = math.log(2) + math.log(cells) - math.log1p(math.exp(-rate)) - math.log(failure)
    return max(0, math.ceil(log_chance / rate) - 1)


def wrap_probability(plan: ShufflePlan, present: int | None = None) -> Bound:
    """Return an upper bound on the probability that the noise of any cell leaves ±τ.

    With the noise of exactly n_min users a cell's chance is 2β_i^{τ+1}/(1 + β_i), and the sum over
    all cells is the bound. With that of other numbers the noise is a difference of negative
    binomials of shape ρ = present/n_min, and Chernoff's bound (with any t below a) replaces it.

    Parameters
    ----------
    plan : ShufflePlan
    present : int, optional
        Users who add their noise, in [1, n]; n_min if left out.
    """
    here = plan.guaranteed if present is None else present
    checks.reals("present", here, 1, plan.users)
    share = here / plan.guaranteed
    total = 0.0
    for i in plan.levels:
        a = float(plan.epsilons[i] / plan.resolution)
        if here == plan.guaranteed:
            log_chance = math.log(2) - (plan.tail + 1) * a - math.log1p(math.exp(-a))
        else:
            log_chance = math.log(2) + _log_chernoff(plan.tail + 1, share, a)
        total += 4**i * math.exp(min(log_chance, 0.0))
    return Bound(np.array(min(1.0, total)), Role.UPPER, _PROTOCOL)


def _log_chernoff(reach: int, share: float, a: float) -> float:
    """Return ln min_t e^{−t·reach} E e^{tN} over a grid of t in (0, a)."""
    gap = a * np.logspace(-12, 0, 400)[:-1]
    t = a - gap
    # (1 − p)²/((1 − pe^t)(1 − pe^{−t})) with p = e^{−a}.
    moment = 2 * np.log(-np.expm1(-a)) - np.log(-np.expm1(-gap)) - np.log(-np.expm1(-(a + t)))
    return float(np.min(share * moment - t * reach))


def deficient_levels(plan: ShufflePlan, missing: ArrayLike, one_place: bool = False) -> FloatArray:
    """Return the exact level of every pyramid level that is sent if part of the noise is missing.

    Parameters
    ----------
    plan : ShufflePlan
    missing : array_like of float
        Fraction of the n_min guaranteed users who add none, in [0, 1]; of any shape.
    one_place : bool
        For users whose data are in one cell; else for the worst possible user, spread over all.

    Returns
    -------
    ndarray, the shape of `missing` and one side more, for the levels
        Their sum is the level of what is sent, for a user whose data are replaced by nothing;
        replacing by other data costs at most twice that.
    """
    parts = [float(plan.epsilons[i]) for i in plan.levels]
    cells = [1 if one_place else 4**i for i in plan.levels]
    fraction = np.asarray(missing, dtype=float)[..., None]
    return deficient_epsilon(parts, plan.resolution, fraction, cells).value


def delta_with(plan: ShufflePlan, present: int, epsilon: float) -> float:
    """Return the δ that r shares give among fewer users than were counted on.

    The share count of `communication` solved for δ; 1 below 19 users, where nothing is known.

    Parameters
    ----------
    plan : ShufflePlan
    present : int
        Users who split and send honestly, ≥ 1.
    epsilon : float
        The level claimed with it, finite and > 0 (the sum of `deficient_levels`).
    """
    if present < 19 or not math.isfinite(epsilon):
        return 1.0
    spent = (plan.sent.shares - 2) * (math.log(present) - 1)
    log_delta = math.log(plan.cells) + epsilon + math.log1p(math.exp(-epsilon))
    log_delta -= 0.5 * (spent - math.log(plan.modulus))
    return math.exp(min(log_delta, 0.0))
