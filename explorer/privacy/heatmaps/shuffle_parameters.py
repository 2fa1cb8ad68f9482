"""Parameters, costs and guarantees of the shuffle-model protocol (the paper's Appendix F).

**Missing noise: what the protocol guarantees when part of the noise shares are not sent.** Each of
n_min users sends a Pólya share of the noise. If only ρ·n_min of them do, ρ < 1, the noise of a cell
is the difference of two negative binomial variables of shape ρ with p = e^{−a}, a = ε/B, instead of
ρ = 1 (discrete Laplace). With f its probabilities, for k ≥ 0,

    f(k) ∝ e^{−ka} F(k),  F(k) = ∫₀^∞ e^{−(ρ+k)u} (1 − e^{−u})^{−ρ} (1 − e^{−2a−u})^{−ρ} du

(Euler's integral of the hypergeometric series Σ_j NB(j) NB(j+k)). So f is a mixture of
exponentials, hence log-convex on k ≥ 0, largest at 0 and symmetric. From this follow the exact
privacy losses: a change of one count by v has the loss g(v) = ln f(0)/f(v), attained where the
noise is 0; g is concave, so that a user whose B units are spread evenly over several cells loses
more than one whose units are in one cell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HEATMAPS, Bound, FloatArray, Reference, Role


@dataclass(frozen=True, slots=True)
class Communication:
    """Communication of one user.

    Attributes
    ----------
    shares : int
        r, shares of every cell.
    messages : int
        r·m.
    message_bits : int
        ⌈log₂(m·q)⌉.
    """

    shares: int
    messages: int
    message_bits: int

    @property
    def bits(self) -> int:
        """Bits a user sends."""
        return self.messages * self.message_bits


def modulus_at_least(users: int, resolution: int, tail: int) -> int:
    """Return Bn + 2τ + 1, the least q with room for the true counts and noise up to ±τ.

    The printed q = Bn wraps every negative count and the full root (errata heat-3). τ concerns
    accuracy alone, not privacy.

    Parameters
    ----------
    users, resolution, tail : int
        n, B and τ.
    """
    return resolution * users + 2 * tail + 1


def communication(
    users: int, cells: int, modulus: int, epsilon: float, delta: float, printed: bool = False
) -> Communication:
    """Return the number and size of messages of the protocol.

    r = ⌈(2 ln(e^ε + 1) + 2 ln(m/δ) + ln q)/(ln n − 1) + 2⌉ shares hide each user's cells for the
    worst case; the paper prints "/ ln n + 1", an average-case count that exact enumeration exceeds
    ninefold.

    Parameters
    ----------
    users : int
        n, those guaranteed to take part: ≥ 19, or ≥ 2 with the printed count.
    cells : int
        m ≥ 1, cells of all levels.
    modulus : int
        q ≥ 2, see `modulus_at_least`.
    epsilon : float
        The level claimed, finite and > 0.
    delta : float
        In (0, 1).
    printed : bool
        Use the paper's own count, to compare with its figures.

    Raises
    ------
    ValueError
        Naming the parameter, its value and the domain.
    """
    fewest = 2 if printed else 19
    checks.reals("users", users, fewest)
    checks.reals("cells", cells, 1)
    checks.reals("modulus", modulus, 2)
    checks.positive("epsilon", epsilon)
    checks.open_unit("delta", delta)
    # ln(e^ε + 1) without overflow.
    needed = 2 * (epsilon + math.log1p(math.exp(-epsilon)))
    needed += 2 * (math.log(cells) - math.log(delta)) + math.log(modulus)
    if printed:
        shares = math.ceil(needed / math.log(users) + 1)
    else:
        shares = math.ceil(needed / (math.log(users) - 1) + 2)
    return Communication(shares, shares * cells, (cells * modulus - 1).bit_length())


MAX_RESOLUTION = 2.0**40
"""Largest B."""
_STEP = 0.25


def deficient_epsilon(
    epsilon: ArrayLike, resolution: ArrayLike, missing: ArrayLike, cells: ArrayLike = 1
) -> Bound:
    """Return the exact level of one pyramid level when a fraction of the noise is missing.

    Parameters
    ----------
    epsilon : array_like of float
        ε_i of the level with all noise, in (0, 800].
    resolution : array_like of int
        B, in [1, 2⁴⁰].
    missing : array_like of float
        Fraction of the n_min guaranteed users who do not add their share, in [0, 1].
    cells : array_like of int
        Over how many cells of the level one user's data may be spread, in [1, 10¹²]; B at most
        matter. With 1 it is the level of a user who stays in one cell.

    Returns
    -------
    Bound
        sup of the privacy loss when a user's data are replaced by nothing, the shuffled sums being
        all that is seen: ε where nothing is missing, infinite where everything is. Exact; up to
        the n-th digit of a floating-point number.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Appendix F of Ghazi et al. 2022 with the noise of both errata heat-1 and heat-2. For ε_i = .32
    in one cell: .43 at 10 % missing, 1.7 at 50 % and B = 64 (there it grows like ln ln B without
    end).
    """
    eps = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON, open_low=True)
    scale = checks.integers("resolution", resolution, 1, MAX_RESOLUTION)
    share = 1 - checks.reals("missing", missing, 0.0, 1.0)
    spread = checks.integers("cells", cells, 1, checks.MAX_COUNT)
    eps, scale, share, spread = np.broadcast_arrays(eps, scale, share, spread)
    parts = np.minimum(spread, scale)
    # B units over h cells as evenly as whole numbers allow.
    low = np.floor(scale / parts)
    more = scale - low * parts
    value = (parts - more) * zero_loss(low, share, eps / scale)
    larger = more > 0
    if larger.any():
        extra = zero_loss((low + 1)[larger], share[larger], (eps / scale)[larger])
        value = np.asarray(value)
        value[larger] += more[larger] * extra
    # With all noise every split loses exactly ε; less noise never loses less.
    value = np.where(share == 1, eps, np.maximum(value, eps))
    where = Reference(
        HEATMAPS, "Appendix F", "difference of two Pólya shares, scale B/ε: errata heat-1, heat-2"
    )
    return Bound(value, Role.EXACT, where)


def zero_loss(k: ArrayLike, share: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return ln f(0)/f(k) of the difference of two negative binomials of shape ρ and p = e^{−a}.

    Parameters
    ----------
    k : array_like of int
        ≥ 1, up to 2⁴⁰.
    share : array_like of float
        ρ in [0, 1].
    rate : array_like of float
        a > 0.

    Returns
    -------
    ndarray
        ka at ρ = 1, infinite at ρ = 0.

    Notes
    -----
    The integral over ln u by the trapezoidal rule, whose error at this step is below 1e-15 as the
    integrand is analytic in a strip of half-width π/2; its left end, where the integrand is a
    power, is summed as a geometric series. F(0) − F(k) is integrated by itself, so that small
    losses keep their digits.
    """
    shift, rho, a = np.broadcast_arrays(
        np.asarray(k, float), np.asarray(share, float), np.asarray(rate, float)
    )
    out = np.where(rho > 0, shift * a, math.inf)
    part = (rho > 0) & (rho < 1)
    if part.any():
        out[part] += _excess(shift[part], rho[part], a[part])
    return out


def _excess(k: FloatArray, rho: FloatArray, a: FloatArray) -> FloatArray:
    """Return ln F(0)/F(k), one-dimensional."""
    # From where every part of the integrand is a power of u to where e^{−ρu} is nothing.
    first = np.log(np.minimum(np.minimum(2 * a, 1 / (k + 1)), 1.0)) - 40.0
    last = np.log(800 / rho)
    nodes = np.arange(math.ceil(float((last - first).max()) / _STEP))
    log_u = first[:, None] + _STEP * nodes
    with np.errstate(under="ignore", over="ignore"):
        u = np.exp(log_u)
        ratio = np.where(u < 1e-9, 1.0 - u / 2, -np.expm1(-u) / np.maximum(u, 1e-9))
        # u^{1−ρ} rather than u·u^{−ρ}: neither factor may leave the range of numbers by itself.
        log_f = (1 - rho[:, None]) * log_u - rho[:, None] * (
            u + np.log(ratio) + np.log(-np.expm1(-(2 * a[:, None] + u)))
        )
        peak = log_f.max(axis=1, keepdims=True)
        weight = np.exp(log_f - peak)
        tail = weight[:, 0] / np.expm1(_STEP * (1 - rho))
        gone = -np.expm1(-k[:, None] * u)
        all_of_it = weight.sum(axis=1) + tail
        # Below the first node 1 − e^{−ku} is ku, and the series begins one power higher.
        lost = (weight * gone).sum(axis=1)
        lost += weight[:, 0] * gone[:, 0] / np.expm1(_STEP * (2 - rho))
        left = (weight * np.exp(-k[:, None] * u)).sum(axis=1) + tail
    small = lost < 0.5 * all_of_it
    direct = np.log(all_of_it) - np.log(left)
    return np.where(small, -np.log1p(-np.where(small, lost / all_of_it, 0.0)), direct)


_PROTOCOL = Reference(
    HEATMAPS,
    "Appendix F",
    "noise of scale B/ε, two Pólya shares a user, q ≥ Bn + 2τ + 1: errata heat-1, heat-2, heat-3",
)
_WORD_MODULUS = 1 << 63


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
        n_min ≤ n, users assumed to add their noise.
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
    if modulus * (sent.shares + 1) >= _WORD_MODULUS:
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
    senders = plan.guaranteed if present is None else present
    checks.reals("present", senders, 1, plan.users)
    share = senders / plan.guaranteed
    total = 0.0
    for i in plan.levels:
        a = float(plan.epsilons[i] / plan.resolution)
        if senders == plan.guaranteed:
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
