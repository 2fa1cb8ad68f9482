"""Optimal levels of given disjoint channels, a convex problem: by a direct search or by cvxpy.

The direct solution is one search over the total level. At a total level L every channel may have at
most u_j(L), and the error Σ_j a_j coth²(α_j/2) is least where what is left of L is shared so that
all derivatives agree (water filling). The problem is jointly convex in t_j = 1/(e^{α_j} − 1) and L,
so the error as a function of L has one minimum.
"""

import contextlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import effective_levels
from explorer.privacy.coordinates.channel import log_second_moment
from explorer.privacy.coordinates.design_search import (
    USELESS,
    BestDesign,
    Classes,
    Kind,
    solve_locally,
)
from explorer.privacy.coordinates.designs import Subset, design_bcdp, design_ldp, design_mse
from explorer.privacy.coordinates.log_mixtures import log_mix_high, log_mix_low
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import increasing_root

_GOLDEN = (math.sqrt(5) - 1) / 2


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
        caps = np.full(sizes.size, USELESS)
        np.minimum.at(caps, owner, np.nan_to_num(log_mix_low(q, demanded, total), nan=0.0))
        return filled_levels(log_cost, np.maximum(caps, 0.0), total)

    def log_error(log_total: float) -> float:
        with np.errstate(divide="ignore"):
            each = log_cost - 2 * np.log(np.tanh(levels(log_total) / 2))
        top = float(each.max())
        return top + math.log(float(np.exp(each - top).sum())) if top < math.inf else math.inf

    # No channel is worth more than USELESS, nor is a total beyond the sum of these.
    last = min(eps, float(log_mix_high(q, demanded).min()), USELESS * sizes.size)
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
        found = direct_levels(demanded, float(eps), couplings, subsets)
        levels = _shrink(demanded, float(eps), couplings, subsets, found)
        return BestDesign(
            groups, tuple(kinds), levels, float(design_mse(demanded.size, subsets, levels))
        )
    import cvxpy

    cp: Any = cvxpy
    sizes = np.array([len(subset) for subset in subsets])
    cost = sizes * np.exp(log_second_moment(sizes, math.inf))
    alpha, t = cp.Variable(len(subsets), nonneg=True), cp.Variable(len(subsets), nonneg=True)
    total = cp.sum(alpha)
    constraints = [alpha >= -cp.log(1.0 - cp.inv_pos(1.0 + t)), total <= eps, alpha <= USELESS]
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
