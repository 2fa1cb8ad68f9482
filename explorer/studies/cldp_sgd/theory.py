"""Bounds on ε and on the excess risk of private learning, at arrays of parameter points."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy import learning, shuffle_rdp as rdp
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffle_rdp import Shuffling
from explorer.privacy.shuffling import Clones
from explorer.studies.base.study import Context, Request
from explorer.studies.cldp_sgd.guarantee import (
    CAP,
    COMPOSED,
    MORE_THAN_ALL,
    PRIVACY,
    SHUFFLED,
    UNAMPLIFIED,
)
from explorer.studies.guarantees.rounds import Five, clones_key, composed_bound, composed_lower

IntArray = np.ndarray[Any, np.dtype[np.intp]]

EPS, RISK, ACCURACY = "eps", "risk", "accuracy"
"""Keys of the quantities."""
R_INF, R_2, R_2_HALF, R_1, R_P = "r_inf", "r_2", "r_2_half", "r_1", "r_p"
"""Choices of the randomiser."""
_BATCH = 8


class Spending:
    """ε at δ at many points, by every accountant.

    Parameters
    ----------
    points : dict of ndarray
        ``eps0``, ``k``, ``n``, ``delta`` and ``epochs``, of one length.
    lam_max : int
    context : Context
    """

    def __init__(self, points: dict[str, FloatArray], lam_max: int, context: Context) -> None:
        self.valid = points["k"] <= points["n"]
        self.lam_max = lam_max
        self.pairs: FloatArray | None = None
        """2RR and 3RR of the lower bound, shape (2, valid points), once it is computed."""
        self._context = context
        here = {key: points[key][self.valid] for key in ("eps0", "k", "n", "delta", "epochs")}
        self._local, self._k, self._n = here["eps0"], here["k"], here["n"]
        self._delta = here["delta"]
        self.rounds = learning.rounds_of(here["epochs"], self._n, self._k)

    def theorem(self) -> tuple[Bound, FloatArray]:
        """Return Theorem 3 with its caps, and the best orders (NaN where not valid)."""
        value, order, edge = (np.zeros(self.rounds.size) for _ in range(3))
        rows, which = self._distinct_rounds()
        for start in range(0, len(rows), _BATCH):
            self._context.check()
            some = np.flatnonzero((which >= start) & (which < start + _BATCH))
            levels = self._levels(rows[start : start + _BATCH])
            if len(rows) > 1:
                levels = levels[which[some] - start]
            result = epsilon_from_rdp(
                levels, orders_up_to(self.lam_max), self.rounds[some], self._delta[some]
            )
            value[some], order[some], edge[some] = result.epsilon, result.order, result.at_edge
        value = np.minimum(value, self._cap())
        bound = Bound(value, Role.UPPER, PRIVACY, truncated=edge.astype(bool))
        orders = np.full(self.valid.shape, np.nan)
        orders[self.valid] = order
        return bound.spread(self.valid, MORE_THAN_ALL), orders

    def cap(self) -> Bound:
        """Return T·ε_s."""
        return self._bound(self._cap(), Role.UPPER, CAP)

    def unamplified(self) -> Bound:
        """Return (ε₀, 0), sampled and composed."""
        value = rdp.pipeline_epsilon(
            self._local, self._k, self._n, self.rounds, self._delta, Shuffling.NONE
        )
        return self._bound(value, Role.UPPER, UNAMPLIFIED)

    def clones(self) -> Bound:
        """Return the paper's comparator: exact clones of each round, sampled and composed."""
        value = np.empty(self.rounds.size)
        for start in range(0, value.size, _BATCH):
            self._context.check()
            some = slice(start, start + _BATCH)
            value[some] = rdp.pipeline_epsilon(
                self._local[some],
                self._k[some],
                self._n[some],
                self.rounds[some],
                self._delta[some],
                Shuffling.NUMERIC,
            )
        return self._bound(value, Role.UPPER, SHUFFLED)

    def numerical(self) -> Bound:
        """Return the certified upper bound: clones, sampled and composed."""
        side = Role.UPPER, COMPOSED
        key = clones_key(Clones.PUBLISHED)
        result = composed_bound(rdp.CloneRounds, self._five(), side, self._context, key)
        return result.spread(self.valid, MORE_THAN_ALL)

    def response(self) -> Bound:
        """Return the certified lower bound, the larger of 2RR and 3RR."""
        key = ("cldp-sgd", "composed", Role.LOWER)
        bound, self.pairs = composed_lower(self._five(), self._context, key)
        return bound.spread(self.valid, MORE_THAN_ALL)

    def _levels(self, rows: FloatArray) -> FloatArray:
        """Return Rényi levels of distinct rounds; those of a single one are cached."""

        def table() -> FloatArray:
            local, k, n = rows.T
            return np.asarray(rdp.capped_rdp_table(local, k, n, self.lam_max))

        if len(rows) > 1:
            return table()
        key = ("cldp-sgd", "levels", *map(float, rows[0]), self.lam_max)
        return np.asarray(self._context.cached(key, table))

    def _cap(self) -> FloatArray:
        return np.asarray(self.rounds * rdp.pure_epsilon(self._local, self._k, self._n))

    def _five(self) -> Five:
        return self._local, self._k, self._n, self.rounds, self._delta

    def _distinct_rounds(self) -> tuple[FloatArray, IntArray]:
        stacked = np.stack([self._local, self._k, self._n], axis=1)
        rows, which = np.unique(stacked, axis=0, return_inverse=True)
        return rows, which.ravel()

    def _bound(self, value: FloatArray, role: Role, reference: Reference) -> Bound:
        return Bound(value, role, reference).spread(self.valid, MORE_THAN_ALL)


def norm_of(request: Request) -> float:
    """Return p of the clipped norm."""
    norms: dict[str, float] = {R_INF: np.inf, R_1: 1.0, R_P: float(request["norm"])}
    return norms.get(str(request["randomiser"]), 2.0)


@dataclass(frozen=True)
class RiskSettings:
    """Parameters of the bounds on the risk, arrays of one length.

    Attributes
    ----------
    p : float
        Of the clipped norm.
    local, k, d, clip, diameter : ndarray of float
    rounds : ndarray of float
        T.
    """

    p: float
    local: FloatArray
    k: FloatArray
    d: FloatArray
    clip: FloatArray
    diameter: FloatArray
    rounds: FloatArray

    @property
    def widest(self) -> FloatArray:
        """Largest squared Euclidean norm in the unit ball of the clipped norm."""
        return np.asarray(learning.widest(self.p, self.d))

    def remark(self) -> FloatArray:
        """Return Theorem 3 with Remark 1."""
        return learning.excess_risk(
            self.p, self.clip, self.diameter, self.d, self.local, self.k, self.rounds
        ).value

    def trivial(self) -> FloatArray:
        """Return the excess risk of any model, by Lipschitz continuity alone."""
        return np.asarray(self.clip * self.diameter * np.sqrt(self.widest))

    def silent(self) -> FloatArray:
        """Return Theorem 3 without noise."""
        square = self.widest * self.clip**2
        return learning.excess_risk_exact(self.diameter, square, self.rounds).value

    def exact(self, request: Request, context: Context) -> FloatArray:
        """Return Theorem 3 with the exact error of the randomiser."""
        noise = _unit_moments(request, self.d, self.local, context) * self.clip**2 / self.k
        square = self.widest * self.clip**2 + noise
        return learning.excess_risk_exact(self.diameter, square, self.rounds).value


def _unit_moments(
    request: Request, d: FloatArray, local: FloatArray, context: Context
) -> FloatArray:
    """Return E‖R(x)‖² at radius 1 for each point, computed once for each distinct randomiser."""
    pairs, which = np.unique(np.stack([d, local]), axis=1, return_inverse=True)
    best, p = request["randomiser"] != R_2_HALF, norm_of(request)
    moments = np.empty(pairs.shape[1])
    for i, (size, level) in enumerate(pairs.T):
        context.check()
        randomiser = learning.randomiser_for(p, int(size), float(level), 1.0, best_cap=best)
        moments[i] = randomiser.second_moment
    return np.asarray(moments[which.ravel()])
