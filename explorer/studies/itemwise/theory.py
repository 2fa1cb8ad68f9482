"""Routes from α to α₀ and back at the points of a sweep, and the randomisers of one item."""

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import (
    USER_METRIC as _PAPER,
    BoolArray,
    Bound,
    FloatArray,
    Reference,
    Role,
)
from explorer.privacy.shuffling import Clones
from explorer.privacy.spaces import Clustered, FiniteSpace, Square
from explorer.privacy.user_metric import Binding, Internal
from explorer.studies.base.builders import FILE, TYPED, table_key, table_of
from explorer.studies.base.curve_study import Points
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Context, Fidelity, Guarantee, Request
from explorer.studies.base.sweeping import SweptPoints, carry_bound
from explorer.studies.guarantees.audits import Audited
from explorer.studies.metric_space.space import RequestSpace, space_of

CENTRAL, LOCAL = "central", "local"
PLANAR, GKRR, EXPONENTIAL, OPTIMAL = "planar", "gkrr", "exponential", "optimal"
OWN = (TYPED, FILE)
"""Randomisers that are a table of the user's."""

EXACT = Reference(
    _PAPER,
    "Lemma B.1's pair, summed exactly, and group privacy over m hops",
    "no condition on α₀ and m",
)
SORTED = Reference(
    "our proof, on Lemma B.1 of " + _PAPER,
    "hops in increasing order, stronger clones",
    "a user's shortest hops first: δ′ = ∫H(max(x, d_min))·αe^(αx)dx; no condition on α₀ and m",
)
PRODUCT = Reference(
    "our proof, on Lemma B.1 of " + _PAPER,
    "hops side by side, 0/1 distances",
    "k changed items as k independent hops among ⌊(mn−k)/k⌋ others each, for every k ≤ m",
)
REFUTED = Reference(
    "our example",
    "three items, one pair of data sets",
    "no accountant that knows only α₀, m, n and the diameter can promise more; it says nothing of "
    "your own space or mechanism",
)
THEOREM_SIMPLE = Reference(
    _PAPER,
    "Theorem 4.4 with δ = δ′e^(−α)",
    "the limit w → 0, which is not attained: errata user-A1, user-A2",
)
THEOREM_TIGHT = Reference(
    _PAPER, "Theorem 4.4 with δ·e^h = δ′", "the largest δ inside: errata user-A2, user-A7"
)
THEOREM_PROOF = Reference(
    _PAPER, "Theorem 4.3, proof", "(δ/m)(e^h − 1)/(e^(h/m) − 1), less than claimed: errata user-A7"
)
THEOREM_43 = Reference(_PAPER, "Theorem 4.3 with δ·e^h = δ′", "any ‖v‖₀ and ‖v‖₁; errata user-A7")
LEMMA_B1 = Reference(
    _PAPER,
    "Lemma B.1, its pair summed exactly",
    "p = e^(−α₀); no condition on α₀ and the number of items; errata user-A8",
)
LEMMA_B1_STRONGER = Reference(
    "Lemma B.1 of " + _PAPER + ", with the clones of Feldman et al. 2023",
    "p = e^(−α₀)(1 + tanh(α₀d/2)), summed exactly",
)
REMARK_43 = Reference(
    _PAPER,
    "remark on Theorem 4.3, as printed",
    "drops a factor of 4e^(α₀/2)√ln(4‖v‖₀/δ): errata user-A11",
)
COMPOSED = Reference(_PAPER, "Section 4.2, plain composition", "α = m·α₀ without any δ")
PRINTED = Reference(
    _PAPER,
    "equations (6) and (7), as printed",
    "never to calibrate with: errata user-A3 to user-A6, user-F1",
)
NOISE = Reference(
    "Andrés et al. 2013 (planar Laplace); Imola et al. 2024, Section 6.2 (GKRR); McSherry & Talwar "
    "2007 (exponential mechanism)",
    "mean distance of an answer from its item",
)

MAX_ALPHA = 800.0
"""Largest α that any route is asked for."""
BEYOND = "more than α = 800"
_PRINTED_FAILS = (
    "the condition of the theorem behind the equation fails there, or α is not below m: the paper "
    "states neither"
)
_PRINTED_JUMPS = "the printed equations jump from α₀ = 1 to 2 ln 2 and give no α between"
_NOT_REFUTED = "the example refutes nothing there"
_NO_DELTA = "no δ of the theorem between 1e-300 and 1 gives this α at this α₀"
SOLVED_AT_REST = "the optimal mechanism is solved for when the sliders rest"

_WEAKER = {
    "alpha0": {"alpha": 1, "delta": 1, "n": 1},
    "alpha": {"alpha0": -1, "delta": 1, "n": 1},
    "delta": {"alpha": 1, "alpha0": -1, "n": 1},
}
"""For each quantity the axes along which a bound at one end holds at the other: a larger α or δ′,
a smaller α₀ and more users to hide among ask for no more."""
_LOWER_BETTER = (Role.UPPER, Role.LOWER)
_ROLES = {
    "alpha0": (Role.LOWER, Role.UPPER),
    "alpha": _LOWER_BETTER,
    "delta": _LOWER_BETTER,
}
"""Roles of certified and of refuted numbers."""
_SOLVERS: dict[str, dict[str, Callable[..., Any]]] = {
    "alpha0": {
        "hops": um.group_alpha0,
        "estimate": um.group_alpha0_estimate,
        "product": um.product_alpha0,
        "refuted": um.refuted_alpha0,
    },
    "alpha": {
        "hops": um.group_alpha,
        "estimate": um.group_alpha_estimate,
        "product": um.product_alpha,
        "refuted": um.refuted_alpha,
    },
    "delta": {"hops": um.least_group_delta, "refuted": um.refuted_delta},
}
_GIVEN = {
    "alpha0": ("alpha", "delta", "m", "n"),
    "alpha": ("alpha0", "delta", "m", "n"),
    "delta": ("alpha", "alpha0", "m", "n"),
}
_SOURCES = {"sorted": SORTED, "product": PRODUCT, "refuted": REFUTED}

_MAX_EXACT_POINTS = 48
"""Points of all exact curves together."""
_MAX_LONG_POINTS = 30
"""The same where each point is a sum of more than `_LONG` terms."""
_LONG = 30_000
_MAX_COARSE_POINTS = 30
_MAX_FIRST_POINTS = 4
"""Points of an exact curve that has no quick estimate, in the coarse answer."""
_MAX_FIRST_SORTED = 8
"""Points of the hops in increasing order while a slider moves: some milliseconds each."""
_MAX_HOPS = 24
"""Points of the hop of one item."""
_MAX_SLOW_POINTS = {"sorted": 32, "refuted": 5}
"""Points of curves that take tens or hundreds of milliseconds a point."""
_ESTIMATED = ("exact", "exact_near")
"""Routes that come after the claimed one; the second where items have a smallest distance."""
COMING = "it is being computed"
SOLVED_ROUTES = ("exact", "exact_near", "sorted", "product", "refuted")
"""Routes that are solved point by point; the others are closed forms."""


class ItemPoints(Points):
    """Points of a sweep with the routes of the quantity that is solved for."""

    def __init__(
        self,
        swept: SweptPoints,
        request: Request,
        context: Context,
        fidelity: Fidelity | None = None,
    ) -> None:
        super().__init__(swept, request, context, fidelity)
        self.first = False
        """Whether the claimed route alone is solved, at few points, while a slider moves."""
        self.routes: dict[str, Bound] = {}
        """α₀, α or δ′ by every route that is computed, by key; each at its own points."""

    def at(self, swept: SweptPoints, fidelity: Fidelity | None = None) -> Self:
        """Return the same request, and the same part of it, at other points."""
        other = super().at(swept, fidelity)
        other.first = self.first
        return other

    @property
    def solved(self) -> str:
        """Key of the quantity that the routes give: α₀ for its noise, α for one change."""
        return {"noise": "alpha0", "change": "alpha"}.get(
            self.request.quantity, self.request.quantity
        )

    @property
    def local(self) -> bool:
        """Whether every user shuffles only their own items."""
        return bool(self.request["model"] == LOCAL)

    @cached_property
    def own(self) -> um.ItemTable | str:
        """The user's own randomiser, or why there is none; empty where another one is chosen."""
        return own_table(self.request, self.space, self.context)

    @cached_property
    def n(self) -> FloatArray:
        """Users whose items are shuffled together: one in the local model."""
        return np.ones_like(self.swept["n"]) if self.local else self.swept["n"]

    @property
    def available(self) -> tuple[str, ...]:
        """Keys of the solved routes that this answer has."""
        if self.first:
            return ("sorted",)
        near, full = self.space.min_distance, not self.coarse
        has_product = near >= 1 and int(self.request["m"]) <= um.PRODUCT_ITEMS
        there = {
            "exact": True,
            "exact_near": near > 0,
            "sorted": full or self.solved != "delta",
            "product": full and has_product and self.solved != "delta",
            "refuted": full,
        }
        return tuple(key for key, present in there.items() if present)

    def for_route(self, key: str) -> Self:
        """Return the fewer points at which a solved route is computed."""
        exact = sum(k.startswith("exact") for k in self.available)
        limit = most = self._most_points() // max(exact, 1)
        if self.first:
            limit = _MAX_FIRST_SORTED
        elif not self.coarse:
            limit = _MAX_SLOW_POINTS.get(key, most)
        elif key == "sorted":
            limit = _MAX_FIRST_SORTED
        swept = self.swept.downsampled(min(limit, most))
        if key == "product":
            swept = swept.only_sliders()
        elif not self.coarse:
            swept = swept.with_sliders()
        fewer = self.at(swept)
        fewer.routes = self.routes
        return fewer

    def _most_points(self) -> int:
        """Return how many points all exact curves get: fewer where every sum is long."""
        if self.coarse:
            return _MAX_FIRST_POINTS if self.solved == "delta" else _MAX_COARSE_POINTS
        n = 1.0 if self.local else float(self.request["n"])
        m, alpha0 = float(self.request["m"]), float(self.request["alpha0"])
        if self.solved == "alpha0":
            alpha, delta = self.request["alpha"], self.request["delta"]
            alpha0 = float(um.group_alpha0_estimate(alpha, delta, m, n))
        # Clones number about mn·e^(−α₀); their sum has a length of some standard deviations.
        terms = 16 * math.sqrt(m * n * math.exp(-alpha0))
        return _MAX_EXACT_POINTS if terms < _LONG else _MAX_LONG_POINTS

    def _coming(self) -> Bound:
        """Return a bound that is known nowhere yet; it keeps its place among the curves."""
        nowhere = np.full(self.swept.x.size + 1, np.nan)
        role = self.closed["tight"].role
        return Bound(nowhere, role, EXACT, np.zeros(nowhere.shape, bool), COMING)

    @cached_property
    def closed(self) -> dict[str, Bound]:
        """Closed forms of the quantity that is solved for, by key."""
        closed = {"alpha0": closed_alpha0, "alpha": closed_alpha, "delta": closed_delta}
        return closed[self.solved](self)

    def route(self, key: str) -> Bound | None:
        """Return α₀, α or δ′ by one route at these points; None if this answer has none."""
        if key not in SOLVED_ROUTES:
            bound = self.closed[key]
        elif self.first and (
            key == "exact" or (key == "exact_near" and self.space.min_distance > 0)
        ):
            return self._coming()
        elif key not in self.available:
            return None
        elif self.coarse and self.solved != "delta":
            bound = _estimate(self, key)
        else:
            bound = _exact(self, key)
        self.routes[key] = _carry(key, bound, self)
        return self.routes[key]


NO_CHANGE = "no such change: at most m items move, by at most 1 each (‖v‖₁ ≤ ‖v‖₀ ≤ m)"


def _possible(p: ItemPoints) -> BoolArray:
    return np.asarray((p.v0 <= p.m) & (p.v1 <= p.v0))


def theorem43(p: ItemPoints) -> Bound:
    """Return the ε of a change of ‖v‖₀ items by ‖v‖₁ altogether, by Theorem 4.3 at δ′."""
    possible = _possible(p)
    moved, length = np.where(possible, p.v0, 1.0), np.where(possible, p.v1, 0.0)
    sure = um.theorem43_epsilon(p.alpha0, p.delta, p.m * p.n, moved, length)
    why = f"{_condition_fails(p.local)}; or {NO_CHANGE}"
    return _bound(sure.epsilon, Role.UPPER, THEOREM_43, possible & sure.valid, why)


def composed_change(p: ItemPoints) -> Bound:
    """Return α₀·‖v‖₁, by composition over the items that move."""
    return _bound(p.alpha0 * p.v1, Role.UPPER, COMPOSED, _possible(p), NO_CHANGE)


def rough_change(p: ItemPoints) -> Bound:
    """Return the paper's remark on Theorem 4.3, α₀‖v‖₁/√total."""
    rough = p.alpha0 * p.v1 / np.sqrt(p.m * p.n)
    return _bound(rough, Role.BASELINE, REMARK_43, _possible(p), NO_CHANGE)


def hops_change(p: ItemPoints) -> Bound | None:
    """Return α·‖v‖₁/m of the least α that hops prove; None in a coarse answer.

    A change of ‖v‖₁ altogether is at earth mover's distance at most ‖v‖₁/m.
    """
    if p.coarse:
        return None
    near = p.space.min_distance
    alpha = np.empty(p.m.shape)
    for i, row in enumerate(zip(p.alpha0, p.delta, p.m, p.n, strict=True)):
        p.context.check()
        key = (*(float(v) for v in row), near)
        alpha[i] = p.context.cached(("itemwise", "own alpha", key), partial(um.best_alpha, *key))
    return _bound(alpha * p.v1 / p.m, Role.UPPER, SORTED, _possible(p), f"{BEYOND}; or {NO_CHANGE}")


NOT_ONE = "Lemma B.1 is about a single item that moves: set ‖v‖₀ to 1; by at most 1, ‖v‖₁ ≤ 1"


def hop_change(p: ItemPoints, stronger: bool) -> Bound | None:
    """Return the ε of one item that moves by ‖v‖₁, by Lemma B.1; None in a coarse answer.

    Exact where that item is the only one: randomised response attains it then.
    """
    if p.coarse:
        return None
    reference = LEMMA_B1_STRONGER if stronger else LEMMA_B1
    total, there = p.m * p.n, _possible(p) & (p.v0 == 1)
    clones = Clones.STRONGER if stronger else Clones.PUBLISHED
    epsilon = np.full(total.shape, np.nan)
    for i in np.flatnonzero(there):
        p.context.check()
        hop = float(total[i]), float(p.alpha0[i]), float(p.v1[i]), float(p.delta[i])
        solve = partial(um.hop_epsilon, *hop, variant=clones)
        epsilon[i] = p.context.cached(("itemwise", "hop", clones, hop), solve)
    alone = bool((total == 1).all())
    return _bound(epsilon, Role.EXACT if alone else Role.UPPER, reference, there, NOT_ONE)


_EDGES = {"v1": ("v0",), "v0": ("v1", "m")}
"""By axis, the parameters at whose values changes begin or cease to be possible."""


def with_edges(p: ItemPoints) -> ItemPoints:
    """Return the points of a change with those at which it begins or ceases to be possible."""
    swept = p.swept
    for key in _EDGES.get(swept.sweep.key, ()):
        edge = float(swept[key][-1])
        swept = swept.with_point(math.ceil(edge) if swept.sweep.key == "v0" else edge)
    return p.at(swept)


def few(p: ItemPoints) -> ItemPoints:
    """Return the points at which an α is solved for: all where only the change is swept."""
    if p.swept.sweep.key in ("v0", "v1"):
        return p
    return p.at(p.swept.downsampled(_MAX_FIRST_SORTED).with_sliders())


def at_hops(p: ItemPoints) -> ItemPoints:
    """Return the points at which one item's hop is solved for, some ten milliseconds each."""
    return with_edges(p.at(p.swept.downsampled(_MAX_HOPS).with_sliders()))


def _carry(key: str, bound: Bound, p: ItemPoints) -> Bound:
    """Return a bound no worse than at a stricter promise; the paper's form as it is printed.

    A promise that is refuted is refuted with every stricter one too.
    """
    if bound.role is Role.BASELINE:
        return bound
    weaker, largest = _WEAKER[p.solved], p.solved == "alpha0"
    if key == "refuted":
        weaker, largest = {axis: -turn for axis, turn in weaker.items()}, not largest
    return carry_bound(bound, p.swept, weaker, largest=largest)


def _bound(
    value: FloatArray, role: Role, reference: Reference, valid: BoolArray | None, why: str
) -> Bound:
    known: BoolArray = np.isfinite(value) & (True if valid is None else valid)
    return Bound(np.where(known, value, np.nan), role, reference, known, "" if known.all() else why)


_THEOREM = (
    ("tight", Internal.TIGHT, THEOREM_TIGHT),
    ("simple", Internal.SIMPLE, THEOREM_SIMPLE),
)
"""Both choices of the inner δ of Theorem 4.4."""


def closed_alpha0(p: ItemPoints) -> dict[str, Bound]:
    """Return the closed forms of α₀ for a target α."""
    result: dict[str, Bound] = {}
    t = "m" if p.local else "mn"
    why = (
        f"the theorem's condition holds for no α₀ > 0: {t} is not above 16 ln(4{t}/δ) with the δ "
        "inside"
    )
    for key, rule, reference in _THEOREM:
        inverted = um.theorem44_alpha0(p.alpha, p.delta, p.m, p.n, rule)
        holds = inverted.binding != Binding.INFEASIBLE.value
        result[key] = _bound(inverted.alpha0, Role.LOWER, reference, holds, why)
    result["composed"] = Bound(np.minimum(p.alpha / p.m, MAX_ALPHA), Role.LOWER, COMPOSED)
    printed = um.closed_form(p.alpha, p.delta, p.m, p.n)
    result["printed"] = _bound(
        printed.alpha0, Role.BASELINE, PRINTED, printed.valid, _PRINTED_FAILS
    )
    return result


def closed_alpha(p: ItemPoints) -> dict[str, Bound]:
    """Return the closed forms of the α that α₀ is worth."""
    result: dict[str, Bound] = {}
    for key, rule, reference in _THEOREM:
        sure = um.theorem44_certificate(p.alpha0, p.delta, p.m, p.n, rule)
        result[key] = _bound(
            sure.alpha, Role.UPPER, reference, sure.valid, _condition_fails(p.local)
        )
    result["composed"] = Bound(p.m * p.alpha0, Role.UPPER, COMPOSED)
    claim = np.asarray(um.closed_form_claim(p.alpha0, p.delta, p.m, p.n))
    # Validity is that of the form at the α it is claimed for; beyond 800 no one would ask.
    request = np.where(np.isfinite(claim), np.minimum(claim, MAX_ALPHA), 1.0)
    holds = um.closed_form(request, p.delta, p.m, p.n).valid & (claim <= MAX_ALPHA)
    result["printed"] = _bound(
        claim,
        Role.BASELINE,
        PRINTED,
        holds,
        f"{_PRINTED_FAILS}; or {_PRINTED_JUMPS}; or {BEYOND}",
    )
    return result


def closed_delta(p: ItemPoints) -> dict[str, Bound]:
    """Return the closed forms of δ′ at α and α₀."""
    result = um.theorem44_delta_at(p.alpha, p.alpha0, p.m, p.n)
    why = f"{_condition_fails(p.local)}; or {_NO_DELTA}"
    return {
        "proof": _bound(result.tight, Role.UPPER, THEOREM_PROOF, result.valid, why),
        "claimed": _bound(result.claimed, Role.UPPER, THEOREM_TIGHT, result.valid, why),
    }


def _condition_fails(local: bool) -> str:
    t = "m" if local else "mn"
    return (
        f"the theorem's condition fails: α₀ must be below ln({t}/(16 ln(4{t}/δ))) with the δ inside"
    )


def _solver_options(key: str, p: ItemPoints) -> tuple[tuple[Any, ...], dict[str, bool]]:
    """Return the arguments of a solver after those of a point."""
    near = p.space.min_distance
    return {
        "exact": ((0.0, 1.0, Clones.PUBLISHED), {}),
        "exact_near": ((near, 1.0, Clones(p.request["clones"])), {}),
        "sorted": ((near, 1.0, Clones.STRONGER), {"in_order": True}),
        "product": ((), {}),
        "refuted": ((near,), {}),
    }[key]


def _exact(p: ItemPoints, key: str) -> Bound:
    """Return a numerically exact route, point by point."""
    solved = p.solved
    compute = _SOLVERS[solved][key if key in ("product", "refuted") else "hops"]
    more, named = _solver_options(key, p)
    columns = [getattr(p, name) for name in _GIVEN[solved]]
    rows = [tuple(float(v) for v in row) for row in zip(*columns, strict=True)]
    value = np.empty(p.m.shape)
    for i, arguments in enumerate(rows):
        p.context.check()
        # The number at the sliders is the same as at rest.
        quick = {"quick": True} if p.first and arguments != rows[-1] else {}
        value[i] = p.context.cached(
            ("itemwise", solved, key, more, arguments, *quick),
            partial(compute, *arguments, *more, **named, **quick),
        )
    role = _ROLES[solved][key == "refuted"]
    why = _NOT_REFUTED if key == "refuted" else BEYOND
    return _bound(value, role, _SOURCES.get(key, EXACT), None, why)


def _estimate(p: ItemPoints, key: str) -> Bound:
    """Return a normal approximation to an exact route, quick enough to follow a slider."""
    more, named = _solver_options(key, p)
    columns = [getattr(p, name) for name in _GIVEN[p.solved]]
    value = np.asarray(_SOLVERS[p.solved]["estimate"](*columns, *more, **named))
    return _bound(value, Role.ESTIMATE, _SOURCES.get(key, EXACT), None, BEYOND)


MAX_ITEMS = {EXPONENTIAL: 300, OPTIMAL: um.OPTIMAL_ITEMS}
"""Items of a space on which a law is summed, or solved for."""
_MECHANISM_NAMES = {EXPONENTIAL: "the exponential mechanism", OPTIMAL: "the optimal mechanism"}
_STEP = 1.05
"""Ratio of two successive α₀ for which the optimal mechanism is solved."""


def unusable_reason(randomiser: str, space: RequestSpace) -> str:
    """Return why a randomiser can't be used on a space; empty if it can."""
    if space.metric is None:
        return space.missing
    if randomiser == PLANAR and not isinstance(space.metric, Square):
        return "planar Laplace noise needs a square: choose one as metric space"
    if randomiser == GKRR and not isinstance(space.metric, Clustered):
        return "GKRR needs clusters or 0/1 distances: choose one of these as metric space"
    if randomiser in MAX_ITEMS:
        name, most = _MECHANISM_NAMES[randomiser], MAX_ITEMS[randomiser]
        if not isinstance(space.metric, FiniteSpace):
            return f"{name} needs finitely many items: choose such a space"
        if space.metric.size > most:
            return f"{name} is for up to {most} items; choose a smaller space"
    return ""


MAX_TABLE = (400, 400)
"""Most items and answers of a table."""


def own_table(request: Request, space: RequestSpace, context: Context) -> um.ItemTable | str:
    """Return the mechanism of a request's own table, or the reason why there is none; cached.

    The reason is empty if the request has another randomiser.

    Raises
    ------
    ValueError
        If the table is none of probabilities; names file or table, line, field and remedy.
    LookupError
        If its file is not open.
    """
    kind, metric = str(request["randomiser"]), space.metric
    if kind not in OWN:
        return ""
    if metric is None:
        return space.missing
    if not isinstance(metric, FiniteSpace) or metric.size > MAX_TABLE[0]:
        return f"a table needs a space of 2 to {MAX_TABLE[0]} items: choose a small grid, or yours"
    places = tuple((k, v) for k, v in request.values if k == "space" or k.startswith("space_"))

    def build() -> um.ItemTable | str:
        law = table_of(request, kind, "table", context, MAX_TABLE)
        if law is None:
            return "no file of the table is chosen: open a CSV file under “file of the table”"
        if len(law) != metric.size:
            return (
                f"the table has {len(law)} rows and the space {metric.size} items: give a row for "
                "each item, or choose the space that the table is of"
            )
        return um.ItemTable(metric, law)

    key = ("itemwise", "own table", *table_key(request, kind, "table"), places)
    own: um.ItemTable | str = context.cached(key, build)
    return own


def _own_distance(p: ItemPoints, alpha0: FloatArray) -> tuple[FloatArray, str]:
    """Return the mean distance of the user's own table where it is allowed, and why elsewhere."""
    own = p.own
    if isinstance(own, str):
        return np.full(alpha0.shape, np.nan), own
    if math.isnan(own.mean):
        return np.full(alpha0.shape, np.nan), (
            "the table's answers are no items: a distance needs as many columns as rows, in the "
            "order of the items"
        )
    why = f"the table needs α₀ = {at_most(own.alpha0)}, more than is allowed there"
    return np.where(alpha0 >= own.alpha0, own.mean, np.nan), why


def distance_at(alpha0: Bound, p: ItemPoints) -> Bound:
    """Return the mean distance of an answer from its item at the α₀ that a route allows."""
    randomiser, space = p.request["randomiser"], p.space
    if randomiser in OWN:
        allowed = np.where(alpha0.valid, alpha0.value, -np.inf)
        value, why = _own_distance(p, allowed)
        known = np.isfinite(value)
        return Bound(value, Role.EXACT, NOISE, known, "" if known.all() else why)
    why, optimal = unusable_reason(randomiser, space), randomiser == OPTIMAL
    if optimal and p.coarse:
        why = why or SOLVED_AT_REST
    role = Role.ESTIMATE if alpha0.role is Role.ESTIMATE else Role.EXACT
    known = alpha0.valid & (alpha0.value > 0) & (why == "")
    value = np.full(alpha0.value.shape, np.nan)
    if known.any():
        here = alpha0.value[known]
        value[known] = (
            optimal_distance(space, here, p.context)
            if optimal
            else mean_distance(randomiser, space, here)
        )
    reason = "" if known.all() else why or alpha0.reason
    return Bound(value, role, NOISE, known, reason, alpha0.truncated)


def optimal_distance(space: RequestSpace, alpha0: FloatArray, context: Context) -> FloatArray:
    """Return the mean normalised distance of the optimal mechanism, over items drawn evenly.

    It is solved for the next lower of α₀ 5 % apart, for which it promises more, and cached.
    """
    metric = space.metric
    if not isinstance(metric, FiniteSpace):
        raise TypeError(f"{space.name} has no optimal mechanism")
    apart = metric.matrix().tobytes()
    out = np.empty(alpha0.shape)
    for i, a0 in enumerate(alpha0):
        context.check()
        lower = min(_STEP ** math.floor(math.log(a0) / math.log(_STEP)), 800.0)
        key = ("itemwise", "optimal", apart, lower)
        out[i] = context.cached(key, partial(_optimal_mean, metric, lower))
    return out


def _optimal_mean(space: FiniteSpace, alpha0: float) -> float:
    return um.Optimal(space, alpha0).mean


def mean_distance(randomiser: str, space: RequestSpace, alpha0: FloatArray) -> FloatArray:
    """Return the mean normalised distance of an answer from its item, at each α₀ > 0.

    Planar Laplace: 2/α₀ (of Gamma(2, 1/α₀) for ℓ2; two coordinates of 1/α₀ each for ℓ1), before
    any clipping to the square. GKRR: from its three probabilities. Exponential mechanism: over
    items chosen evenly, at the rate α₀/2, which always suffices (α₀ where all items look alike).
    """
    metric = space.metric
    if randomiser == PLANAR:
        return np.asarray(2 / alpha0)
    if isinstance(metric, Clustered):
        s, t, r = metric.clusters, metric.each, metric.r
        near = (t - 1) * np.exp(-alpha0 * r)
        far = (s - 1) * t * np.exp(-alpha0)
        return np.asarray((r * near + far) / (1 + near + far))
    if not isinstance(metric, FiniteSpace):
        raise TypeError(f"{space.name} has no exponential mechanism")
    d = metric.matrix()
    out = np.empty(alpha0.shape)
    for i, a0 in enumerate(alpha0):
        weight = np.exp(-a0 / 2 * d)
        out[i] = ((weight * d).sum(axis=1) / weight.sum(axis=1)).mean()
    return out


NO_ALPHA0 = (
    "the table has no α₀: an answer has chance 0 for one item and more for another, or items at "
    "distance 0 have other rows"
)
_AUDITED = "one item at the slider's α₀, randomised but not shuffled; two items farthest apart"
_PROMISED = "promised of one item, α₀·d"
_AUDIT_RUNS = 10_000


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited | str:
    """Return the audit of one item's randomiser on two items far apart, before any shuffle."""
    space, alpha0 = space_of(request, context), float(request["alpha0"])
    kind, metric = request["randomiser"], space.metric
    own = own_table(request, space, context)
    if isinstance(own, um.ItemTable):
        if not math.isfinite(own.alpha0):
            return NO_ALPHA0
        return _audited_finite(own, own.law(), own.space, own.alpha0)
    if own:
        return own
    reason = space.missing or unusable_reason(kind, space)
    if reason:
        return reason
    if isinstance(metric, Square) and kind == PLANAR:
        return _audited_planar(metric, alpha0)
    if kind == GKRR and isinstance(metric, Clustered):
        gkrr = um.GKRR(metric, alpha0)
        return _audited_finite(gkrr, gkrr.law(), metric, alpha0)
    if kind == EXPONENTIAL and isinstance(metric, FiniteSpace):
        exponential = um.Exponential(metric, alpha0)
        return _audited_finite(exponential, exponential.law(), metric, alpha0)
    if kind == OPTIMAL and isinstance(metric, FiniteSpace):
        optimal = um.Optimal(metric, alpha0)
        return _audited_finite(optimal, optimal.law(), metric, alpha0)
    return "this randomiser does not run on this space"


def _audited_finite(
    mechanism: um.GKRR | um.Exponential | um.Optimal | um.ItemTable,
    law: FloatArray,
    space: FiniteSpace,
    alpha0: float,
) -> Audited:
    """Return the audit of answers that are items: the score is the log-likelihood ratio."""
    apart = space.matrix()
    first, second = np.unravel_index(int(np.argmax(apart)), apart.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.nan_to_num(np.log(law[second]) - np.log(law[first]), nan=0.0)

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        scores: FloatArray = score[mechanism.answer(np.full(runs, second if side else first), rng)]
        return scores

    eps = alpha0 * float(apart[first, second])
    return Audited(_AUDITED, run, eps, 0.0, _PROMISED, _AUDIT_RUNS)


def _audited_planar(space: Square, alpha0: float) -> Audited:
    """Return the audit of planar Laplace noise on two opposite corners."""
    mechanism = um.PlanarLaplace(space, alpha0)
    corners = np.array([[0.0, 0.0], [space.side, space.side]])
    apart = float(space.cross(corners[:1], corners[1:])[0, 0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = mechanism.answer(np.tile(corners[side], (runs, 1)), rng)
        with np.errstate(divide="ignore"):
            first, second = (np.log(mechanism.density(corner, seen)) for corner in corners)
        scores: FloatArray = second - first
        return scores

    return Audited(_AUDITED, run, alpha0 * apart, 0.0, _PROMISED, _AUDIT_RUNS)
