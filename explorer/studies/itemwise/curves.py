"""The routes from α to α₀ and back, as bounds at the points of a sweep."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.privacy.shuffling.clones import Clones
from explorer.privacy.user_metric import Binding, Internal
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.itemwise import text
from explorer.studies.itemwise.parameters import LOCAL
from explorer.studies.metric_space.choice import ChosenSpace

_LIMIT = 800.0
WEAKER = {
    "alpha0": {"alpha": 1, "delta": 1, "n": 1},
    "alpha": {"alpha0": -1, "delta": 1, "n": 1},
    "delta": {"alpha": 1, "alpha0": -1, "n": 1},
}
"""For each quantity the axes along which what holds at one end holds at the other: a larger α or
δ′, a smaller α₀ and more users to hide among ask for no more."""


@dataclass(frozen=True)
class Points:
    """What the formulas take, one entry a point, the sliders' own last."""

    alpha: FloatArray
    alpha0: FloatArray
    m: FloatArray
    n: FloatArray
    delta: FloatArray
    local: bool = False

    @property
    def total(self) -> FloatArray:
        """Return the items in one shuffle."""
        return self.m * self.n


def points_of(swept: SweptPoints, request: Request) -> Points:
    """Return the points of a sweep; in the local model n = 1."""
    local = request["model"] == LOCAL
    n = np.ones_like(swept["n"]) if local else swept["n"]
    return Points(swept["alpha"], swept["alpha0"], swept["m"], n, swept["delta"], local)


def _bound(
    value: FloatArray, role: Role, reference: Reference, valid: BoolArray | None, why: str
) -> Bound:
    known: BoolArray = np.isfinite(value) & (True if valid is None else valid)
    return Bound(np.where(known, value, np.nan), role, reference, known, "" if known.all() else why)


def closed_alpha0(p: Points) -> dict[str, Bound]:
    """Return the closed forms of α₀ for a target α."""
    found: dict[str, Bound] = {}
    routes = (
        ("tight", Internal.TIGHT, text.THEOREM_TIGHT),
        ("simple", Internal.SIMPLE, text.THEOREM_SIMPLE),
    )
    for key, rule, reference in routes:
        inverted = um.theorem44_alpha0(p.alpha, p.delta, p.m, p.n, rule)
        holds = inverted.binding != Binding.INFEASIBLE.value
        found[key] = _bound(inverted.alpha0, Role.LOWER, reference, holds, text.no_alpha0(p.local))
    found["composed"] = Bound(np.minimum(p.alpha / p.m, _LIMIT), Role.LOWER, text.COMPOSED)
    printed = um.closed_form(p.alpha, p.delta, p.m, p.n)
    found["printed"] = _bound(
        printed.alpha0, Role.BASELINE, text.PRINTED, printed.valid, text.PRINTED_FAILS
    )
    return found


def closed_alpha(p: Points) -> dict[str, Bound]:
    """Return the closed forms of the α that α₀ is worth."""
    found: dict[str, Bound] = {}
    routes = (
        ("tight", Internal.TIGHT, text.THEOREM_TIGHT),
        ("simple", Internal.SIMPLE, text.THEOREM_SIMPLE),
    )
    for key, rule, reference in routes:
        sure = um.theorem44_certificate(p.alpha0, p.delta, p.m, p.n, rule)
        found[key] = _bound(
            sure.alpha, Role.UPPER, reference, sure.valid, text.condition_fails(p.local)
        )
    found["composed"] = Bound(p.m * p.alpha0, Role.UPPER, text.COMPOSED)
    claim = np.asarray(um.closed_form_claim(p.alpha0, p.delta, p.m, p.n))
    # Validity is that of the form at the α it is claimed for; beyond 800 no one would ask.
    asked = np.where(np.isfinite(claim), np.minimum(claim, _LIMIT), 1.0)
    holds = um.closed_form(asked, p.delta, p.m, p.n).valid & (claim <= _LIMIT)
    found["printed"] = _bound(
        claim,
        Role.BASELINE,
        text.PRINTED,
        holds,
        f"{text.PRINTED_FAILS}; or {text.PRINTED_JUMPS}; or {text.BEYOND}",
    )
    return found


def closed_delta(p: Points) -> dict[str, Bound]:
    """Return the closed forms of δ′ at α and α₀."""
    found = um.theorem44_delta_at(p.alpha, p.alpha0, p.m, p.n)
    why = f"{text.condition_fails(p.local)}; or {text.NO_DELTA}"
    return {
        "proof": _bound(found.tight, Role.UPPER, text.THEOREM_PROOF, found.valid, why),
        "claimed": _bound(found.claimed, Role.UPPER, text.THEOREM_TIGHT, found.valid, why),
    }


_LOWER_BETTER = (Role.UPPER, Role.LOWER)
"""Of what is certified, and of what is refuted, where a smaller number promises more."""
_ROLES = {
    "alpha0": (Role.LOWER, Role.UPPER),
    "alpha": _LOWER_BETTER,
    "delta": _LOWER_BETTER,
}
_SOLVED: dict[str, dict[str, Callable[..., Any]]] = {
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
_SOURCES = {"sorted": text.SORTED, "product": text.PRODUCT, "refuted": text.REFUTED}
FEWER = {"sorted": 32, "refuted": 5}
"""Most points of curves each of which takes tens or hundreds of milliseconds."""
DOTS = {"product", "refuted"}
"""Curves of so few points that they are not joined."""
ONLY_ONE = {"product"}
"""Curves so slow that they are answered at the sliders' values alone."""


def exact_keys(what: str, space: ChosenSpace, m: int, full: bool) -> tuple[str, ...]:
    """Return the keys of the numerically exact curves there are on a space."""
    near = space.min_distance
    keys = ["exact", *(["exact_near"] if near > 0 else [])]
    keys += ["sorted"] if full or what != "delta" else []
    if full:
        keys += ["product"] if near >= 1 and m <= um.PRODUCT_ITEMS and what != "delta" else []
        keys += ["refuted"]
    return tuple(keys)


def _arguments(key: str, space: ChosenSpace, variant: Clones) -> tuple[tuple[Any, ...], bool]:
    """Return what a curve takes beside its point, and whether hops are in increasing order."""
    near = space.min_distance
    return {
        "exact": ((0.0, 1.0, Clones.PUBLISHED), False),
        "exact_near": ((near, 1.0, variant), False),
        "sorted": ((near, 1.0, Clones.STRONGER), True),
        "product": ((), False),
        "refuted": ((near,), False),
    }[key]


def exact(
    what: str, p: Points, key: str, space: ChosenSpace, variant: Clones, context: Context
) -> Bound:
    """Return a numerically exact `what` (``alpha0``, ``alpha`` or ``delta``), point by point."""
    compute = _SOLVED[what][key if key in ("product", "refuted") else "hops"]
    more, in_order = _arguments(key, space, variant)
    named = {"in_order": True} if in_order else {}
    columns = [getattr(p, name) for name in _GIVEN[what]]
    value = np.empty(p.m.shape)
    for i, row in enumerate(zip(*columns, strict=True)):
        context.check()
        arguments = tuple(float(v) for v in row)
        value[i] = context.memo(
            ("itemwise", what, key, more, arguments),
            partial(compute, *arguments, *more, **named),
        )
    role = _ROLES[what][key == "refuted"]
    why = text.NOT_REFUTED if key == "refuted" else text.BEYOND
    return _bound(value, role, _SOURCES.get(key, text.EXACT), None, why)


def estimate(what: str, p: Points, key: str, space: ChosenSpace, variant: Clones) -> Bound:
    """Return about `exact`, at once, for a curve to follow the sliders."""
    more, in_order = _arguments(key, space, variant)
    columns = [getattr(p, name) for name in _GIVEN[what]]
    named = {"in_order": True} if in_order else {}
    value = np.asarray(_SOLVED[what]["estimate"](*columns, *more, **named))
    return _bound(value, Role.ESTIMATE, _SOURCES.get(key, text.EXACT), None, text.BEYOND)
