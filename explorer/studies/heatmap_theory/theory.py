"""Error bounds, distances of maps and shuffle communication at the points of a sweep."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from explorer.privacy.core.bound import HEATMAPS as PAPER, BoolArray, Bound, FloatArray, Reference
from explorer.privacy.heatmaps import Schedule, Variant, depth_cap, schedule, start_level, theory
from explorer.privacy.heatmaps.budget_schedule import SCHEDULE_REFERENCE
from explorer.privacy.heatmaps.clustering import clustering_bound, coreset_error, coreset_order
from explorer.privacy.heatmaps.shuffle_parameters import (
    Communication,
    communication,
    deficient_epsilon,
    modulus_at_least,
)
from explorer.studies.base.curve_study import Points
from explorer.studies.base.study import Request

THEOREM_31 = Reference(
    PAPER,
    "Theorem 3.1",
    "its proof's constants, at most w cells (errata heat-10, heat-11, heat-12, heat-21)",
)
THEOREM_D1 = Reference(PAPER, "Theorem D.1", "ℓ* rounded, from n₀: errata heat-16")
THEOREM_C1 = Reference(PAPER, "Theorem C.1", "constants worked out, errata heat-15")
COROLLARY_D2 = Reference(PAPER, "Corollary D.2", "Theorem C.1 worked out, at the best sparsity")
ORDER = Reference(PAPER, "Theorem C.1", "order only, .004 √k/(εn): errata heat-15")
LEMMA_B3 = Reference(PAPER, "Lemma B.3")
LEMMA_B4 = Reference(PAPER, "Lemma B.4, Corollary B.5")
HUBER = Reference(
    "Bretagnolle and Huber 1979", "TV ≤ √(1 − e^(−KL))", "with KL from Lemma B.3 of the paper"
)
COROLLARY_A2 = Reference(
    PAPER, "Corollary A.2", "written out, κ with its constants: errata heat-10, heat-12, heat-21"
)
ORDER_A2 = Reference(PAPER, "Corollary A.2", "order only, √k/ε without a constant")
K_MEDIAN = Reference(PAPER, "Appendix A", "objective of k-median, for each user")
SHUFFLED = Reference(
    PAPER, "Appendix F", "worst-case shares, q ≥ Bn + 2τ + 1: errata heat-1 to heat-5"
)
PRINTED = Reference(PAPER, "Appendix F, as printed", "an average-case count of shares; q = Bn")
MISSING = Reference(
    PAPER, "Appendix F", "difference of two Pólya shares, scale B/ε: errata heat-1, heat-2"
)
REFERENCES = (
    THEOREM_31,
    THEOREM_D1,
    THEOREM_C1,
    COROLLARY_D2,
    COROLLARY_A2,
    SCHEDULE_REFERENCE,
    LEMMA_B3,
    LEMMA_B4,
    HUBER,
    SHUFFLED,
    PRINTED,
)

TAIL = 45.0
"""τ in units of the widest noise scale: 45 B/ε_min."""
MIN_USERS = 19
"""Users from which on the shares of the shuffle protocol are proved to hide."""
PLANS = ("theory", "experiments", "capped")
"""Keys of the variants of the pyramid."""
COUNTS = "counts"
"""Choice of the pyramid's counts as what is audited; the others are mechanisms of the map."""
SQUARE, SALICON = "square", "salicon"
SALICON_CELLS: int = sum(math.ceil(320 / 2**i) * math.ceil(240 / 2**i) for i in range(10))
"""m of the paper's 320 × 240 pictures: all levels, sides halved with ceiling (errata heat-6)."""


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


def dense_lower(epsilon: FloatArray, n: FloatArray, level: int) -> FloatArray:
    """Return the lower bound for maps of any sparsity: the sparse one at the best k ≤ 4^ℓ tried."""
    tried = [times * epsilon * n for times in (0.25, 0.5, 1.0, 2.0, 4.0, 16.0)]
    tried += [np.full(n.shape, cells) for cells in (2.0, 4.0, 16.0, 64.0, 256.0)]
    cells = np.clip(np.floor(np.stack(tried)), 1.0, 4.0**level)
    return np.asarray(theory.sparse_lower_bound(cells, epsilon, n).value.max(axis=0))


def _for_each_sigma(
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


def messages_per_user(
    request: Request, epsilon: float, n: int, resolution: int, delta: float, printed: bool
) -> Communication | None:
    """Return the messages of a user; None with too few users."""
    if n < (2 if printed else MIN_USERS):
        return None
    least = min(e for e in schedule(epsilon, level_of(request), 20).epsilon if e > 0)
    tail = math.ceil(TAIL * resolution / least)
    modulus = resolution * n if printed else modulus_at_least(n, resolution, tail)
    return communication(n, cells_sent(request), modulus, epsilon, delta, printed)


class MapPoints(Points):
    """Points of a sweep with the errors of every variant of the pyramid."""

    @property
    def level(self) -> int:
        """ℓ of the map's resolution."""
        return level_of(self.request)

    @property
    def assumed(self) -> FloatArray:
        """n₀, the number of users assumed beforehand."""
        return self.guess * self.n

    @property
    def fits(self) -> BoolArray:
        """Where the map has as many cells as are to have mass."""
        return np.asarray(self.k <= 4.0**self.level)

    @cached_property
    def plans(self) -> dict[str, Schedule]:
        """Schedule of every variant at the sliders, with w = k."""
        level = self.level
        assumed = float(self.request["guess"]) * float(self.request["n"])
        w = min(int(self.request["k"]), 4**level)
        epsilon = float(self.request["epsilon"])
        return {key: plan_of(key, epsilon, level, w, assumed) for key in PLANS}

    def pyramid_error(self, key: str) -> FloatArray:
        """Return the upper bound on the expected error of a variant; NaN where k does not fit."""
        self.context.check()
        return pyramid_errors(
            key, self.epsilon, self.n, self.k, self.assumed, self.level, self.fits
        )

    def dense_error(self) -> FloatArray:
        """Return the upper bound on the expected error of dense aggregation."""
        columns = (self.epsilon.tolist(), self.assumed.tolist(), self.n.tolist())
        points = zip(*columns, strict=True)
        return np.array([theory.dense_error(*point, self.level) for point in points])

    def clustering_cost(self, key: str) -> FloatArray:
        """Return the upper bound on a user's expected distance to the nearest centre.

        Corollary A.2 with κ of the schedule; NaN where k does not fit.
        """
        self.context.check()
        points = zip(
            *(v.tolist() for v in (self.epsilon, self.n, np.where(self.fits, self.k, 1.0))),
            strict=True,
        )
        kappa = np.array(
            [
                float(
                    coreset_error(plan_of(key, level, self.level, int(w), n), int(w), n).value / n
                )
                for level, n, w in points
            ]
        )
        return np.where(self.fits, self._clustering(kappa), np.nan)

    def clustering_order(self) -> FloatArray:
        """Return the same with √k/ε, the order of κ, in its place."""
        kappa = coreset_order(self.epsilon, self.k).value / self.n
        factor, lam = (float(self.request[key]) for key in ("factor", "lam"))
        return np.asarray(factor * (1 + lam) / (1 - lam) * self.optimum + kappa)

    def _clustering(self, kappa: FloatArray) -> FloatArray:
        factor, lam = (float(self.request[key]) for key in ("factor", "lam"))
        bound = clustering_bound(self.optimum, factor, lam, kappa)
        return np.minimum(bound.value, theory.DIAMETER)

    @cached_property
    def divergence(self) -> Bound:
        """Upper bound on the KL divergence of the heatmaps."""
        return _for_each_sigma(theory.kl_bound, self.emd, self.sigma)

    def similarity(self) -> Bound:
        """Return Corollary B.5's lower bound on the similarity of the heatmaps."""
        return _for_each_sigma(theory.similarity_bound, self.emd, self.sigma)

    def huber(self) -> FloatArray:
        """Return Bretagnolle and Huber's lower bound on the similarity."""
        # 1 − √(1 − x) for x = e^{−KL} without losing the digits of a small x.
        left = np.exp(-self.divergence.value)
        return np.asarray(left / (1 + np.sqrt(1 - left)))

    def megabytes(self, printed: bool) -> FloatArray:
        """Return megabytes (10⁶ bytes) of a user, by the corrected or the printed count; or NaN."""
        values = np.full(self.n.shape, math.nan)
        for j in range(values.size):
            message = messages_per_user(
                self.request,
                float(self.epsilon[j]),
                int(self.n[j]),
                int(self.B[j]),
                float(self.delta[j]),
                printed,
            )
            if message is not None:
                values[j] = message.bits / 8e6
        return values

    def level_left(self, spread: bool) -> FloatArray:
        """Return ε of all messages when a part of the noise is missing.

        Parameters
        ----------
        spread : bool
            Whether the user is spread over all cells of every level, or is in one.
        """
        self.context.check()
        w = min(int(self.k[-1]), 4**self.level)
        shares = schedule(1.0, self.level, w).epsilon
        levels = [i for i, share in enumerate(shares) if share]
        parts = np.array([shares[i] for i in levels])[:, None] * self.epsilon
        cells = np.array([4.0**i for i in levels])[:, None] if spread else 1
        left = deficient_epsilon(parts, self.B, self.missing, cells)
        return np.asarray(left.value.sum(axis=0))
