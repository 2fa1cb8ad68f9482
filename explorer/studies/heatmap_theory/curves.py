"""The theory's numbers at the points of a sweep, each with its role."""

import math
from collections.abc import Callable

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.privacy.heatmaps import Schedule, Variant, depth_cap, schedule, start_level, theory
from explorer.privacy.heatmaps.shuffle_parameters import (
    Communication,
    communication,
    deficient_epsilon,
    modulus_at_least,
)
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.heatmap_theory import text
from explorer.studies.heatmap_theory.parameters import SALICON, SALICON_CELLS

TAIL = 45.0
"""τ in units of the widest noise scale: 45 B/ε_min."""
FEWEST = 19
PLANS = ("theory", "experiments", "capped")


def level_of(request: Request) -> int:
    """Return ℓ of the chosen resolution."""
    side = int(request["resolution"])
    return side.bit_length() - 1


def plan_of(key: str, epsilon: float, level: int, w: int, assumed: float) -> Schedule:
    """Return how a variant of the pyramid splits ε over the levels."""
    if key == "capped":
        last = depth_cap(epsilon, assumed, start_level(w, level), level)
        return schedule(epsilon, level, w, last=last)
    return schedule(epsilon, level, w, Variant(key))


def fits(request: Request, points: SweptPoints) -> BoolArray:
    """Return where the map has as many cells as are to have mass."""
    return np.asarray(points["k"] <= 4.0 ** level_of(request))


def error_bounds(request: Request, points: SweptPoints, context: Context) -> dict[str, Bound]:
    """Return upper and lower bounds on the expected error."""
    level = level_of(request)
    epsilon, n, k = points["epsilon"], points["n"], points["k"]
    assumed = points["guess"] * n
    inside = fits(request, points)
    found: dict[str, Bound] = {}
    for key in PLANS:
        context.check()
        values = pyramid_errors(key, epsilon, n, k, assumed, level, inside)
        found[key] = _where(inside, values, Role.UPPER, text.THEOREM_31)
    dense = [
        theory.dense_error(*point, level)
        for point in zip(epsilon.tolist(), assumed.tolist(), n.tolist(), strict=True)
    ]
    found["dense"] = Bound(np.array(dense), Role.UPPER, theory.DENSE_REFERENCE)
    lower = theory.sparse_lower_bound(k, epsilon, n)
    found["lower"] = _where(inside, lower.value, Role.LOWER, lower.reference)
    found["lower_dense"] = dense_lower(epsilon, n, level)
    order = 0.004 * np.sqrt(k) / (epsilon * n)
    printed = inside & (k >= epsilon) & (n * epsilon >= k)
    found["order"] = Bound(
        order, Role.ESTIMATE, text.ORDER, printed, "" if printed.all() else text.ORDER_FAILS
    )
    return found


def pyramid_errors(
    key: str,
    epsilon: FloatArray,
    n: FloatArray,
    k: FloatArray,
    assumed: FloatArray,
    level: int,
    inside: BoolArray,
) -> FloatArray:
    """Return `theory.sparse_error_bound` at all points with w = k.

    The noise's norm is inversely proportional to ε and depends on w and L beside: once for each
    different pair.
    """
    known: dict[tuple[int, int], tuple[float, float]] = {}

    def at(w: int, epsilon: float, assumed: float) -> tuple[float, float]:
        last = level
        if key == "capped":
            last = depth_cap(epsilon, assumed, start_level(w, level), level)
        if (w, last) not in known:
            variant = Variant.EXPERIMENTS if key == "capped" else Variant(key)
            plan = schedule(1.0, level, w, variant, last=last)
            known[w, last] = theory.sparse_noise_norm(plan, w), theory.flat_cells(plan)
        return known[w, last]

    cells = np.where(inside, k, 1.0).astype(int).tolist()
    points = zip(cells, epsilon.tolist(), assumed.tolist(), strict=True)
    norm, flat = np.array([at(*point) for point in points]).T
    values = np.where(inside, 2 / n * norm / epsilon + flat, np.nan)
    return np.asarray(np.minimum(values, theory.DIAMETER))


def dense_lower(epsilon: FloatArray, n: FloatArray, level: int) -> Bound:
    """Return the lower bound for maps of any sparsity: the sparse one at the best k ≤ 4^ℓ tried."""
    tried = [times * epsilon * n for times in (0.25, 0.5, 1.0, 2.0, 4.0, 16.0)]
    tried += [np.full(n.shape, cells) for cells in (2.0, 4.0, 16.0, 64.0, 256.0)]
    cells = np.clip(np.floor(np.stack(tried)), 1.0, 4.0**level)
    best = theory.sparse_lower_bound(cells, epsilon, n).value.max(axis=0)
    return Bound(best, Role.LOWER, text.COROLLARY_D2)


def _where(inside: BoolArray, values: FloatArray, role: Role, source: Reference) -> Bound:
    return Bound(values, role, source, inside, "" if inside.all() else text.TOO_MANY)


def metric_bounds(request: Request, points: SweptPoints) -> dict[str, Bound]:
    """Return what a distance of maps says of their heatmaps."""
    emd, sigma = points["emd"], points["sigma"]
    divergence = _swept(theory.kl_bound, emd, sigma)
    if request.quantity == "kl":
        return {"kl": divergence}
    # 1 − √(1 − x) for x = e^{−KL} without losing the digits of a small x.
    left = np.exp(-divergence.value)
    huber = left / (1 + np.sqrt(1 - left))
    return {
        "similarity": _swept(theory.similarity_bound, emd, sigma),
        "huber": Bound(huber, Role.LOWER, text.HUBER),
    }


def _swept(
    function: Callable[[FloatArray, float], Bound], emd: FloatArray, sigma: FloatArray
) -> Bound:
    """Return a bound at pairs of arrays from one that takes a single σ."""
    parts = {s: function(emd, float(s)) for s in np.unique(sigma)}
    value = np.empty(emd.shape)
    for s, bound in parts.items():
        value[sigma == s] = bound.value[sigma == s]
    first = next(iter(parts.values()))
    return Bound(value, first.role, first.reference)


def cells_sent(request: Request) -> int:
    """Return m, the cells of all levels."""
    if request["pyramid"] == SALICON:
        return SALICON_CELLS
    return sum(4**i for i in range(level_of(request) + 1))


def sent(
    request: Request, epsilon: float, n: int, resolution: int, delta: float, printed: bool
) -> Communication | None:
    """Return what a user sends; None with too few users."""
    if n < (2 if printed else FEWEST):
        return None
    least = min(e for e in schedule(epsilon, level_of(request), 20).epsilon if e > 0)
    tail = math.ceil(TAIL * resolution / least)
    modulus = resolution * n if printed else modulus_at_least(n, resolution, tail)
    return communication(n, cells_sent(request), modulus, epsilon, delta, printed)


def communication_bounds(request: Request, points: SweptPoints) -> dict[str, Bound]:
    """Return megabytes (10⁶ bytes) a user sends, by the corrected and the printed count."""
    found = {}
    for key, printed in (("corrected", False), ("printed", True)):
        values = np.full(points["n"].shape, math.nan)
        for j in range(values.size):
            message = sent(
                request,
                float(points["epsilon"][j]),
                int(points["n"][j]),
                int(points["B"][j]),
                float(points["delta"][j]),
                printed,
            )
            if message is not None:
                values[j] = message.bits / 8e6
        known = np.isfinite(values)
        role, source = (Role.BASELINE, text.PRINTED) if printed else (Role.EXACT, text.SHUFFLED)
        why = "" if known.all() else (text.TWO_USERS if printed else text.FEW_USERS)
        found[key] = Bound(values, role, source, known, why)
    return found


def missing_bounds(request: Request, points: SweptPoints, context: Context) -> dict[str, Bound]:
    """Return the level of all that is sent when a part of the noise is missing."""
    level = level_of(request)
    epsilon, resolution, missing = points["epsilon"], points["B"], points["missing"]
    w = min(int(points["k"][-1]), 4**level)
    shares = schedule(1.0, level, w).epsilon
    sent_levels = [i for i, share in enumerate(shares) if share]
    parts = np.array([shares[i] for i in sent_levels])[:, None] * epsilon
    spread = np.array([4.0**i for i in sent_levels])[:, None]
    near = deficient_epsilon(parts, resolution, missing, 1).value.sum(axis=0)
    context.check()
    worst = deficient_epsilon(parts, resolution, missing, spread).value.sum(axis=0)
    return {
        "worst": Bound(worst, Role.UPPER, text.MISSING),
        "one_place": Bound(near, Role.EXACT, text.MISSING),
        "full": Bound(epsilon, Role.EXACT, text.SHUFFLED),
    }
