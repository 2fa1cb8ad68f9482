"""The best parallel design for any demanded levels: which channels, at which levels.

Coordinates with the same demand are treated alike, so a design is described by classes: channels
that see whole classes, or one channel for every coordinate of a class. The error is minimised over
the channels' levels under the exact constraint log((1−q)e^{c_i} + q·e^L) ≤ δ̃_i and L ≤ ε.

In general this is not a convex problem: `best_design` runs SLSQP from several structures
(everything in one channel, nested, disjoint, hybrid) and keeps the best, so that its answer is
never worse than min δ-LDP or Theorem 2 with the best ζ; that no better one exists is not certified.

**Optimal levels of given disjoint channels, a convex problem: by a direct search or by cvxpy.** The
direct solution is one search over the total level. At a total level L every channel may have at
most u_j(L), and the error Σ_j a_j coth²(α_j/2) is least where what is left of L is shared so that
all derivatives agree (water filling). The problem is jointly convex in t_j = 1/(e^{α_j} − 1) and L,
so the error as a function of L has one minimum.
"""

import contextlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import (
    ZetaAllocation,
    best_budget_of_couplings,
    best_zeta,
    effective_levels,
    rounded_levels,
)
from explorer.privacy.coordinates.channel import log_second_moment
from explorer.privacy.coordinates.designs import (
    DUCHI,
    Subset,
    design_bcdp,
    design_ldp,
    design_mse,
    log_channel_moment,
    log_moment_slope,
)
from explorer.privacy.coordinates.levels import log_mix, log_mix_high, log_mix_low
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import increasing_root

FAMILIES = ("nested", "hybrid")
_MAX_LEVELS = 6
# coth(α/2) is 1 to the last digit from here on.
MAX_USEFUL_ALPHA = 80.0


# ("suffix", g): one channel of groups g and later; ("group", g): one channel of group g;
# ("singles", g): a channel for every coordinate of group g.
Kind = tuple[str, int]
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class BestDesign:
    """A design that meets its constraint, and its exact error.

    Attributes
    ----------
    groups : tuple of ndarray of int
        Coordinates that are treated alike, 0-based.
    kinds : tuple of (str, int)
        Classes of channels: ("suffix", g), ("group", g) or ("singles", g).
    levels : ndarray
        Level of each channel of a class, > 0.
    mse : float
        Exact error of one user's report at x = 0; divide by n. Infinite if a coordinate can have
        no report.
    truncated : bool
        Demands were rounded down to fewer levels to keep the search short: the guarantee holds, the
        error may be larger than it could be.
    """

    groups: tuple[checks.IntArray, ...]
    kinds: tuple[Kind, ...]
    levels: FloatArray
    mse: float
    truncated: bool = False

    @property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        """Coordinates of each channel, as `design_mse` and the samplers take them."""
        result: list[tuple[int, ...]] = []
        for kind, g in self.kinds:
            if kind == "singles":
                result += [(i,) for i in self.groups[g].tolist()]
            else:
                coordinates = self.groups[g:] if kind == "suffix" else self.groups[g : g + 1]
                result.append(tuple(np.sort(np.concatenate(coordinates)).tolist()))
        return tuple(result)

    @property
    def alphas(self) -> FloatArray:
        """Level of each channel of `subsets`."""
        return np.repeat(self.levels, [self._copies(kind) for kind in self.kinds])

    @property
    def c(self) -> FloatArray:
        """CDP levels c_i of all coordinates, without listing the channels."""
        result = np.zeros(sum(group.size for group in self.groups))
        for (kind, g), level in zip(self.kinds, self.levels, strict=True):
            for group in self.groups[g:] if kind == "suffix" else self.groups[g : g + 1]:
                result[group] += level
        return result

    @property
    def total(self) -> float:
        """LDP level L."""
        return float(sum(self._copies(k) * a for k, a in zip(self.kinds, self.levels, strict=True)))

    def _copies(self, kind: Kind) -> int:
        return self.groups[kind[1]].size if kind[0] == "singles" else 1


@dataclass(frozen=True)
class Classes:
    """Classes of coordinates (index g) and of channels (index j)."""

    levels: FloatArray  # (G,) demanded
    counts: checks.IntArray  # (G,) coordinates
    eps: float
    q: float | FloatArray
    seen: FloatArray  # (G, J) 1 where a coordinate of class g is in a channel of class j
    sizes: checks.IntArray  # (J,) coordinates in one channel
    copies: checks.IntArray  # (J,) channels
    channel: str = DUCHI

    def log_error(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the logarithm of the error and its gradient in z = log α."""
        alpha = np.exp(z)
        weights = -log_channel_moment(self.sizes, alpha, self.channel)
        with np.errstate(divide="ignore"):
            terms = np.where(self.seen > 0.0, weights, -np.inf)
            totals = np.logaddexp.reduce(terms, axis=1)
        errors = np.log(self.counts) - totals
        value = float(np.logaddexp.reduce(errors))
        shares = np.exp(terms - totals[:, None])
        slope = log_moment_slope(self.sizes, alpha, self.channel)
        return value, (np.exp(errors - value) @ shares) * slope

    def slack(self, z: FloatArray) -> FloatArray:
        """Return the rest of each level and of ε, as shares of them."""
        c, total = self._spent(np.exp(z))
        used = np.append(log_mix(self.q, c, total) / self.levels, total / self.eps)
        result: FloatArray = 1.0 - used
        return result

    def slack_gradient(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of `slack` in z, shape (G + 1, J)."""
        alpha = np.exp(z)
        c, total = self._spent(alpha)
        certificate = log_mix(self.q, c, total)
        own = (1.0 - self.q) * np.exp(c - certificate)
        other = self.q * np.exp(np.minimum(total - certificate, 700.0))
        rows = (own[:, None] * self.seen + other[:, None] * self.copies) / self.levels[:, None]
        rows = np.vstack([rows, self.copies / self.eps])
        return -rows * alpha

    def _spent(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.seen @ alpha, np.asarray(self.copies @ alpha)

    def feasible(self, z: FloatArray) -> FloatArray:
        """Return z scaled down, if need be, until no level is exceeded."""
        if (self.slack(z) >= 0.0).all():
            return z
        low, high = -50.0, 0.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if (self.slack(z + middle) >= 0.0).all():
                low = middle
            else:
                high = middle
        return z + low


def best_design(
    coordinate_levels: ArrayLike,
    eps: float,
    q: ArrayLike,
    family: str = "hybrid",
    channel: str = DUCHI,
) -> BestDesign:
    """Return the design of least error that a search over a family of designs finds.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Demanded levels δ_i in [0, ∞]; more than 6 distinct ones are rounded down to 6.
    eps : float
        Total level in [0, ∞).
    q : array_like of shape () or (d,)
        Coupling in [0, 1], public; of all coordinates or of each. Of more than 6 distinct pairs of
        level and coupling, those rounded to one level have the largest of their couplings.
    family : {"nested", "hybrid"}
        Channels of M_mean only, or also channels of single coordinates and of groups.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.
    """
    checks.one_of("family", family, FAMILIES)
    demanded = effective_levels(coordinate_levels, eps)
    if demanded.ndim != 1:
        raise ValueError(f"coordinate_levels must be a vector, got shape {demanded.shape}")
    couplings = checks.reals("q", q, 0.0, 1.0)
    if couplings.ndim and couplings.shape != demanded.shape:
        raise ValueError(f"q must be a number or {demanded.size} numbers, got {couplings.shape}")
    if couplings.ndim and np.ptp(couplings) == 0.0:
        couplings = couplings[0]
    values, place, counts, own = _classes(demanded, couplings, float(eps), channel)
    groups = _members(place, values.size)
    lowest = values.min()
    truncated = bool((values[place] < demanded).any() or (own[place] > couplings).any())
    if lowest == 0.0:
        return BestDesign(groups, (), np.zeros(0), math.inf)
    with np.errstate(over="ignore"):
        error = float(demanded.size * np.exp(log_channel_moment(demanded.size, lowest, channel)))
    designs = [BestDesign(groups, (("suffix", 0),), np.array([lowest]), error)]
    theorem2 = _best_budget(demanded, float(eps), couplings, channel)
    if np.isfinite(theorem2.mse):
        designs.append(_nested_design(theorem2.c, float(theorem2.mse)))
    one = own if couplings.ndim else couplings
    chain = _best_budget(values, float(eps), one, channel).c
    for kinds, start in _structures(values, counts, family, chain):
        problem = replace(_problem(kinds, values, counts, float(eps), one), channel=channel)
        designs.append(solve_locally(problem, groups, kinds, start))
    best = min(designs, key=lambda design: design.mse)
    return replace(best, truncated=truncated)


def _best_budget(
    demanded: FloatArray, eps: float, couplings: FloatArray, channel: str
) -> ZetaAllocation:
    """Return Theorem 2's budget of least error, for one coupling or one of each coordinate."""
    if couplings.ndim:
        return best_budget_of_couplings(demanded, eps, couplings, channel)
    return best_zeta(demanded, eps, couplings, channel)


def _classes(
    demanded: FloatArray, couplings: FloatArray, eps: float, channel: str
) -> tuple[FloatArray, checks.IntArray, checks.IntArray, FloatArray]:
    """Return coordinates of like demand: level, members, number and coupling of each class.

    With one coupling in the order of the levels, else of Theorem 2's budgets at their best: in this
    order nested channels leave out one class after the other.
    """
    values, place, counts = rounded_levels(demanded, _MAX_LEVELS)
    if not couplings.ndim:
        return values, place, counts, np.full(values.size, float(couplings))
    pairs, which = np.unique(np.stack([demanded, couplings]), axis=1, return_inverse=True)
    if pairs.shape[1] > _MAX_LEVELS:
        strictest = [couplings[place == g].max() for g in range(values.size)]
        pairs, which = np.stack([values, strictest]), place
    which = which.reshape(-1)
    order = np.argsort(best_budget_of_couplings(pairs[0], eps, pairs[1], channel).c, kind="stable")
    place = np.argsort(order)[which]
    return pairs[0][order], place, np.bincount(place), pairs[1][order]


def _members(place: checks.IntArray, groups: int) -> tuple[checks.IntArray, ...]:
    return tuple(np.flatnonzero(place == g).astype(np.int64) for g in range(groups))


def _nested_design(c: FloatArray, mse: float) -> BestDesign:
    """Return M_mean with budgets c > 0 as a design."""
    values, place = np.unique(c, return_inverse=True)
    kinds = tuple(("suffix", g) for g in range(values.size))
    return BestDesign(_members(place, values.size), kinds, np.diff(values, prepend=0.0), mse)


def _structures(
    values: FloatArray, counts: checks.IntArray, family: str, chain: FloatArray
) -> list[tuple[list[Kind], FloatArray]]:
    """Return sets of channel classes worth trying, each with levels to start from.

    `chain` is Theorem 2's budget of each group.
    """
    groups = values.size
    steps = np.maximum(np.diff(chain, prepend=0.0), 1e-3 * values[0])
    even = np.maximum(np.diff(values, prepend=0.0), 1e-3 * values[0])
    nested: list[Kind] = [("suffix", g) for g in range(groups)]
    structures: list[tuple[list[Kind], FloatArray]] = [(nested, steps), (nested, even)]
    if family == "nested":
        return structures
    for t in range(groups + 1):
        singles: list[Kind] = [("singles", g) for g in range(t)]
        small = values[:t] / 2.0
        structures.append(
            (singles + [("group", g) for g in range(t, groups)], np.append(small, values[t:] / 2.0))
        )
        if 0 < t < groups:
            structures.append(
                (singles + [("suffix", g) for g in range(t, groups)], np.append(small, even[t:]))
            )
    mixed = nested + [("group", g) for g in range(groups - 1)]
    mixed += [("singles", g) for g in range(groups) if counts[g] > 1]
    structures.append((mixed, np.full(len(mixed), values[0] / 4.0)))
    return structures


def _problem(
    kinds: list[Kind], values: FloatArray, counts: checks.IntArray, eps: float, q: FloatArray
) -> Classes:
    """Return the problem of finding the levels of these channel classes."""
    incidence = np.zeros((values.size, len(kinds)))
    sizes, copies = np.ones(len(kinds), np.int64), np.ones(len(kinds), np.int64)
    for j, (kind, g) in enumerate(kinds):
        if kind == "singles":
            incidence[g, j], copies[j] = 1.0, counts[g]
        else:
            stop = values.size if kind == "suffix" else g + 1
            incidence[g:stop, j], sizes[j] = 1.0, counts[g:stop].sum()
    return Classes(values, counts, eps, q, incidence, sizes, copies)


def solve_locally(
    problem: Classes,
    groups: tuple[checks.IntArray, ...],
    kinds: list[Kind],
    start: FloatArray,
) -> BestDesign:
    """Run SLSQP from a start, and return its answer or the start, whichever is better."""
    from scipy.optimize import minimize

    z0 = problem.feasible(np.log(np.minimum(start, MAX_USEFUL_ALPHA)))
    lowest = min(math.log(problem.levels[0]) - 30.0, float(z0.min()))
    answer = minimize(
        problem.log_error,
        z0,
        jac=True,
        method="SLSQP",
        bounds=[(lowest, math.log(MAX_USEFUL_ALPHA))] * z0.size,
        constraints={"type": "ineq", "fun": problem.slack, "jac": problem.slack_gradient},
        options={"maxiter": 200, "ftol": 1e-12},
    )
    candidates = [z0]
    if np.isfinite(answer.x).all():
        candidates.append(problem.feasible(answer.x))
    z = min(candidates, key=lambda point: problem.log_error(point)[0])
    with np.errstate(over="ignore"):
        error = float(np.exp(problem.log_error(z)[0]))
    return BestDesign(groups, tuple(kinds), np.exp(z), error)


def _levels_of_slope(log_slope: FloatArray) -> FloatArray:
    """Return α with coth(α/2)/sinh²(α/2) = e^log_slope."""
    # With s = 1/sinh²(α/2) it is s·√(1+s): in v = ln s a convex function, between v and 3v/2.
    v = np.where(log_slope > 0, log_slope / 1.5, log_slope)
    for _ in range(40):
        share = 1 / (1 + np.exp(-np.clip(v, -700, 700)))
        step = (v + 0.5 * np.logaddexp(0.0, v) - log_slope) / (1 + 0.5 * share)
        v = v - step
        if np.all(np.abs(step) < 1e-13 * (1 + np.abs(v))):
            break
    return np.asarray(2 * np.arcsinh(np.exp(np.clip(-v / 2, -700, 700))))


def filled_levels(log_cost: FloatArray, caps: FloatArray, total: float) -> FloatArray:
    """Return the α ≤ caps with Σα ≤ total that minimise Σ e^log_cost·coth²(α/2).

    Parameters
    ----------
    log_cost, caps : ndarray of shape (k,)
        Logarithms of the weights and largest levels, ≥ 0.
    total : float
        > 0.
    """
    if caps.sum() <= total:
        return caps

    def spare(log_slope: FloatArray) -> FloatArray:
        used = np.minimum(caps, _levels_of_slope(log_slope - log_cost))
        return np.array([total - float(used.sum())])

    # At slopes that give every channel its share of the total there is just enough.
    share = total / log_cost.size
    at = math.log1p(2 / math.expm1(share)) - 2 * math.log(math.sinh(min(share, 600.0) / 2))
    low, high = np.array([float(log_cost.min()) - 1400.0]), np.array([float(log_cost.max()) + at])
    _, slope = increasing_root(spare, low, high + 1e-9)
    return np.asarray(np.minimum(caps, _levels_of_slope(slope - log_cost)))


def direct_levels(
    demanded: FloatArray, eps: float, q: FloatArray, subsets: Sequence[Sequence[int]]
) -> FloatArray:
    """Return the best level of each disjoint channel, for `best_disjoint_levels`.

    Parameters
    ----------
    demanded : ndarray of shape (d,)
        min(δ_i, ε), > 0.
    eps : float
    q : ndarray of shape (d,)
    subsets : sequence of sequences of int
        Disjoint and together all coordinates.
    """
    sizes = np.array([len(subset) for subset in subsets])
    log_cost = np.log(sizes) + log_second_moment(sizes, math.inf)
    owner = np.empty(demanded.size, dtype=np.int64)
    for j, subset in enumerate(subsets):
        owner[list(subset)] = j

    def levels(log_total: float) -> FloatArray:
        total = math.exp(log_total)
        caps = np.full(sizes.size, MAX_USEFUL_ALPHA)
        np.minimum.at(caps, owner, np.nan_to_num(log_mix_low(q, demanded, total), nan=0.0))
        return filled_levels(log_cost, np.maximum(caps, 0.0), total)

    def log_error(log_total: float) -> float:
        with np.errstate(divide="ignore"):
            each = log_cost - 2 * np.log(np.tanh(levels(log_total) / 2))
        top = float(each.max())
        return top + math.log(float(np.exp(each - top).sum())) if top < math.inf else math.inf

    # No channel is worth more than USELESS, nor is a total beyond the sum of these.
    last = min(eps, float(log_mix_high(q, demanded).min()), MAX_USEFUL_ALPHA * sizes.size)
    high = math.log(last)
    # The least demand bounds what the total must at least be: half of it for every channel.
    low = min(math.log(float(demanded.min())) - math.log(4.0), high - 1.0)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = log_error(a), log_error(b)
    while high - low > 1e-9:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = log_error(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = log_error(b)
    return levels(min((low, a, b, high, math.log(last)), key=log_error))


def best_disjoint_levels(
    coordinate_levels: ArrayLike,
    eps: float,
    q: ArrayLike,
    subsets: Sequence[Subset],
    solver: str = "direct",
) -> BestDesign:
    """Return the best levels for given disjoint channels, a convex problem.

    With t = 1/(e^α − 1), coth(α/2) = 1 + 2t, and the relation α ≥ −log(1 − 1/(1+t)) is convex, as
    is the certificate; so the optimum is global, unless marked truncated:
    then cvxpy's solver gave up and a local search answered.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Demanded levels δ_i; min(δ_i, ε) must be at least 1e-3 (`best_design` has no such limit).
    eps : float
        Total level, at least 1e-3.
    q : array_like of shape () or (d,)
        Couplings in [0, 1].
    subsets : sequence of sequences of int
        Disjoint and together all coordinates.
    solver : str
        "direct" (water filling at the best total level, milliseconds a channel) or "cvxpy", the
        same problem for a general solver.
    """
    checks.one_of("solver", solver, ("direct", "cvxpy"))
    demanded = effective_levels(coordinate_levels, eps)
    checks.reals("min(δ_i, ε)", demanded, 1e-3, math.inf)
    couplings = np.broadcast_to(checks.reals("q", q, 0.0, 1.0), demanded.shape)
    if sorted(i for subset in subsets for i in subset) != list(range(demanded.size)):
        raise ValueError(f"subsets must be disjoint and cover all coordinates, got {subsets}")
    groups = tuple(np.array(subset, np.int64) for subset in subsets)
    kinds: list[Kind] = [("group", j) for j in range(len(subsets))]
    if solver == "direct":
        direct = direct_levels(demanded, float(eps), couplings, subsets)
        levels = _shrink(demanded, float(eps), couplings, subsets, direct)
        return BestDesign(
            groups, tuple(kinds), levels, float(design_mse(demanded.size, subsets, levels))
        )
    import cvxpy

    cp: Any = cvxpy
    sizes = np.array([len(subset) for subset in subsets])
    cost = sizes * np.exp(log_second_moment(sizes, math.inf))
    alpha, t = cp.Variable(len(subsets), nonneg=True), cp.Variable(len(subsets), nonneg=True)
    total = cp.sum(alpha)
    constraints = [
        alpha >= -cp.log(1.0 - cp.inv_pos(1.0 + t)),
        total <= eps,
        alpha <= MAX_USEFUL_ALPHA,
    ]
    # Coordinates of one channel share c_i; of equal demands one constraint is enough.
    rows = [
        (j, float(level), float(coupling))
        for j, subset in enumerate(subsets)
        for level, coupling in sorted({(demanded[i], couplings[i]) for i in subset})
    ]
    alone = [(j, level) for j, level, coupling in rows if coupling == 0.0]
    bound = [(j, level, coupling) for j, level, coupling in rows if 0.0 < coupling < 1.0]
    if alone:
        constraints.append(alpha[[j for j, _ in alone]] <= np.array([level for _, level in alone]))
    constraints += [total <= level for _, level, coupling in rows if coupling == 1.0]
    if bound:
        # One atom for all: as many small ones take cvxpy seconds.
        which, levels, share = (np.array(column) for column in zip(*bound, strict=True))
        own = alpha[which.astype(int)] + np.log1p(-share)
        parts = cp.vstack([own, total + np.log(share)])
        constraints.append(cp.log_sum_exp(parts, axis=0) <= levels)
    scale = float(cost.sum()) * (2.0 / float(demanded.min()) + 1.0) ** 2
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost / scale, cp.square(1.0 + 2.0 * t)))), constraints
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(cp.error.SolverError):
            problem.solve(solver=cp.CLARABEL)
    if problem.status == "optimal" and (alpha.value > 0.0).all():
        levels = _shrink(demanded, float(eps), couplings, subsets, alpha.value)
        error = float(design_mse(demanded.size, subsets, levels))
        return BestDesign(groups, tuple(kinds), levels, error)
    # Demands of very different sizes are beyond the solver's tolerances. The local method works in
    # logarithms; a channel takes the strictest demand and coupling of its coordinates.
    strictest = np.array([demanded[group].min() for group in groups])
    local = Classes(
        strictest,
        sizes,
        float(eps),
        np.array([couplings[group].max() for group in groups]),
        np.eye(len(subsets)),
        sizes,
        np.ones(len(subsets), np.int64),
    )
    return replace(solve_locally(local, groups, kinds, strictest / 2.0), truncated=True)


def _shrink(
    demanded: FloatArray,
    eps: float,
    q: FloatArray,
    subsets: Sequence[Subset],
    alphas: FloatArray,
) -> FloatArray:
    """Return levels scaled down by the solver's tolerance, so that nothing is exceeded."""

    def holds(scale: float) -> bool:
        levels = alphas * scale
        certified = design_bcdp(demanded.size, subsets, levels, q)
        return bool((certified <= demanded).all() and design_ldp(subsets, levels) <= eps)

    if holds(1.0):
        return alphas
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return alphas * low
