"""Curves of CLDP-SGD that need no training: what it spends, and how it converges."""

from typing import Any

import numpy as np

from explorer.privacy import learning, shuffle_rdp as rdp
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.divergences import epsilon_from_rdp, orders_up_to
from explorer.privacy.shuffle_rdp import Shuffling
from explorer.studies.base.composing import Five, composed_bound, composed_lower
from explorer.studies.base.phrases import which_won
from explorer.studies.base.study import Context, Readout, Request, Series
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from
from explorer.studies.cldp_sgd import text
from explorer.studies.cldp_sgd.parameters import R_1, R_2_HALF, R_INF, R_P

IntArray = np.ndarray[Any, np.dtype[np.intp]]

_AT_ONCE = 8


class Spending:
    """ε at δ at an array of parameter points, by every route.

    Parameters
    ----------
    points : dict of ndarray
        ``eps0``, ``k``, ``n``, ``delta`` and ``epochs``, of one length.
    lam_max : int
    context : Context
    """

    def __init__(self, points: dict[str, FloatArray], lam_max: int, context: Context) -> None:
        self.valid = points["k"] <= points["n"]
        self.lam_max, self.won = lam_max, ""
        self._context = context
        here = {key: points[key][self.valid] for key in ("eps0", "k", "n", "delta", "epochs")}
        self._local, self._k, self._n = here["eps0"], here["k"], here["n"]
        self._delta = here["delta"]
        self.rounds = learning.rounds_of(here["epochs"], self._n, self._k)

    def theorem(self) -> tuple[Bound, FloatArray]:
        """Return Theorem 3 with its caps, and the best orders (NaN where not valid)."""
        value, order, edge = (np.zeros(self.rounds.size) for _ in range(3))
        rows, which = self._rounds_that_differ()
        for start in range(0, len(rows), _AT_ONCE):
            self._context.check()
            some = np.flatnonzero((which >= start) & (which < start + _AT_ONCE))
            levels = self._levels(rows[start : start + _AT_ONCE])
            if len(rows) > 1:
                levels = levels[which[some] - start]
            found = epsilon_from_rdp(
                levels, orders_up_to(self.lam_max), self.rounds[some], self._delta[some]
            )
            value[some], order[some], edge[some] = found.epsilon, found.order, found.at_edge
        value = np.minimum(value, self._in_any_case())
        bound = Bound(value, Role.UPPER, text.PRIVACY, truncated=edge.astype(bool))
        orders = np.full(self.valid.shape, np.nan)
        orders[self.valid] = order
        return bound.spread(self.valid, text.MORE_THAN_ALL), orders

    def cap(self) -> Bound:
        """Return T·ε_s."""
        return self._bound(self._in_any_case(), Role.UPPER, text.CAP)

    def unamplified(self) -> Bound:
        """Return (ε₀, 0), sampled and composed."""
        value = rdp.pipeline_epsilon(
            self._local, self._k, self._n, self.rounds, self._delta, Shuffling.NONE
        )
        return self._bound(value, Role.UPPER, text.UNAMPLIFIED)

    def clones(self) -> Bound:
        """Return exact clones of each round, sampled and composed: the paper's comparator."""
        value = np.empty(self.rounds.size)
        for start in range(0, value.size, _AT_ONCE):
            self._context.check()
            some = slice(start, start + _AT_ONCE)
            value[some] = rdp.pipeline_epsilon(
                self._local[some],
                self._k[some],
                self._n[some],
                self.rounds[some],
                self._delta[some],
                Shuffling.NUMERIC,
            )
        return self._bound(value, Role.UPPER, text.SHUFFLED)

    def numerical(self) -> Bound:
        """Return the universal upper bound: clones, sampled and composed, certified."""
        side = Role.UPPER, text.COMPOSED
        key = ("cldp-sgd", "composed", side[0])
        found = composed_bound(rdp.CloneRounds, self._five(), side, self._context, key)
        return found.spread(self.valid, text.MORE_THAN_ALL)

    def response(self) -> Bound:
        """Return the lower bound (2RR, 3RR), certified; `won` says which it is at the sliders."""
        key = ("cldp-sgd", "composed", Role.LOWER)
        found, pairs = composed_lower(self._five(), self._context, key)
        self.won = which_won(*pairs[:, -1].tolist()) if self.valid[-1] else ""
        return found.spread(self.valid, text.MORE_THAN_ALL)

    def _levels(self, rows: FloatArray) -> FloatArray:
        """Return Rényi levels of some kinds of round; those of a single one are kept."""

        def table() -> FloatArray:
            local, k, n = rows.T
            return np.asarray(rdp.capped_rdp_table(local, k, n, self.lam_max))

        if len(rows) > 1:
            return table()
        key = ("cldp-sgd", "levels", *map(float, rows[0]), self.lam_max)
        return np.asarray(self._context.memo(key, table))

    def _in_any_case(self) -> FloatArray:
        return np.asarray(self.rounds * rdp.pure_epsilon(self._local, self._k, self._n))

    def _five(self) -> Five:
        return self._local, self._k, self._n, self.rounds, self._delta

    def _rounds_that_differ(self) -> tuple[FloatArray, IntArray]:
        stacked = np.stack([self._local, self._k, self._n], axis=1)
        rows, which = np.unique(stacked, axis=0, return_inverse=True)
        return rows, which.ravel()

    def _bound(self, value: FloatArray, role: Role, reference: Reference) -> Bound:
        return Bound(value, role, reference).spread(self.valid, text.MORE_THAN_ALL)


def quick_bounds(spending: Spending) -> tuple[dict[str, Bound], FloatArray]:
    """Return the routes to ε that are quick, and Theorem 3's best orders."""
    theorem, orders = spending.theorem()
    cap, unamplified = spending.cap(), spending.unamplified()
    return {"theorem": theorem, "cap": cap, "unamplified": unamplified}, orders


def slow_bounds(spending: Spending) -> dict[str, Bound]:
    """Return the routes to ε that sum over clones or compose exactly."""
    return {
        "clones": spending.clones(),
        "numerical": spending.numerical(),
        "response": spending.response(),
    }


def spending_series(
    bounds: dict[str, Bound], points: SweptPoints, won: str = ""
) -> tuple[tuple[Series, ...], tuple[Readout, ...]]:
    """Return the curves of ε and the numbers at the sliders; `won` as in `Spending.response`."""
    about = dict(text.ABOUT)
    if "theorem" in bounds and bounds["theorem"].truncated.any():
        about["theorem"] = "the best order is λₘₐₓ in places: a larger one might give less"
    series = tuple(
        series_from(key, text.LABELS[key], points, bound, note=about.get(key, ""))
        for key, bound in bounds.items()
    )
    readouts = tuple(
        readout_from(
            key,
            text.LABELS[key],
            bound,
            note="; ".join(n for n in (won * (key == "response"), text.ABOUT.get(key, "")) if n),
        )
        for key, bound in bounds.items()
    )
    return series, readouts


def norm_of(request: Request) -> float:
    """Return p of the clipped norm."""
    norms: dict[str, float] = {R_INF: np.inf, R_1: 1.0, R_P: float(request["norm"])}
    return norms.get(str(request["randomiser"]), 2.0)


def risk_bounds(
    request: Request, points: SweptPoints, context: Context, *, full: bool
) -> dict[str, tuple[str, Bound]]:
    """Return label and bound of each curve of the excess risk."""
    p, valid = norm_of(request), points["k"] <= points["n"]
    names = ("eps0", "k", "n", "epochs", "d", "clip", "diameter")
    local, k, n, epochs, d, clip, diameter = (points[name][valid] for name in names)
    rounds = learning.rounds_of(epochs, n, k)
    widest = np.asarray(learning.widest(p, d))
    remark = learning.excess_risk(p, clip, diameter, d, local, k, rounds)
    silent = learning.excess_risk_exact(diameter, widest * clip**2, rounds)
    found = {
        "remark": ("Theorem 3 with Remark 1", remark.value, Role.UPPER, text.CONVERGENCE),
        "trivial": (
            "Lipschitz continuity alone, any model",
            clip * diameter * np.sqrt(widest),
            Role.UPPER,
            text.TRIVIAL,
        ),
        "silent": ("without privacy, same clipping", silent.value, Role.BASELINE, text.NO_NOISE),
    }
    if full:
        square = widest * clip**2 + _unit_moments(request, d, local, context) * clip**2 / k
        exact = learning.excess_risk_exact(diameter, square, rounds)
        label = "Theorem 3 with the exact error of the randomiser"
        found["exact"] = (label, exact.value, Role.UPPER, text.CONVERGENCE_EXACT)
    whole: dict[str, tuple[str, Bound]] = {}
    for key, (label, value, role, reference) in found.items():
        spread = np.full(valid.shape, np.nan)
        spread[valid] = value
        why = "" if valid.all() else text.MORE_THAN_ALL
        whole[key] = label, Bound(spread, role, reference, valid, why)
    return whole


def _unit_moments(
    request: Request, d: FloatArray, local: FloatArray, context: Context
) -> FloatArray:
    """Return E‖R(x)‖² at radius 1 for each point, making every distinct randomiser once."""
    pairs, which = np.unique(np.stack([d, local]), axis=1, return_inverse=True)
    best, p = request["randomiser"] != R_2_HALF, norm_of(request)
    found = np.empty(pairs.shape[1])
    for i, (size, level) in enumerate(pairs.T):
        context.check()
        made = learning.randomiser_for(p, int(size), float(level), 1.0, best_cap=best)
        found[i] = made.second_moment
    return np.asarray(found[which.ravel()])
