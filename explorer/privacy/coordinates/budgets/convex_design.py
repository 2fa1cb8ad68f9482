"""The best levels of given disjoint channels, a convex problem: directly, or by cvxpy."""

import contextlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets.budget import effective_levels
from explorer.privacy.coordinates.budgets.design_search import (
    USELESS,
    BestDesign,
    Classes,
    Kind,
    solve_locally,
)
from explorer.privacy.coordinates.budgets.disjoint_levels import direct_levels
from explorer.privacy.coordinates.reports.channel import log_second_moment
from explorer.privacy.coordinates.reports.designs import Subset, design_bcdp, design_ldp, design_mse
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


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
