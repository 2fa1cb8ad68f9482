"""The curves of the amplification study at arrays of parameter points."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray
from explorer.privacy.core.checks import DELTA_MIN
from explorer.privacy.odds import clone_total_variation
from explorer.privacy.shuffle_rdp import RandomisedResponseRound, ThreeSymbolRound
from explorer.privacy.shuffling.clones import (
    ClonePair,
    Clones,
    clones_are_wide,
    clones_closed_delta,
    clones_closed_form,
    clones_condition,
    shuffled_delta,
    shuffled_epsilon,
)
from explorer.studies.amplification import text
from explorer.studies.base.study import Context
from explorer.studies.base.sweeping import SweptPoints

_AT_ONCE = 25
"""Values of ε or δ asked of one crowd between two looks at whether they are still wanted."""
_CROWDS = 13
"""Crowds asked one value each between two such looks."""
_KEPT = 20_000
_LEAST_COUNTS = 60_000
"""What the search for ε in a small crowd costs, as counts listed in a large one."""


def _bound(key: str, values: Any, valid: Any = None, reason: str = "", cut: Any = None) -> Bound:
    _, role, reference = text.CURVES[key]
    if valid is not None and np.all(valid):
        reason = ""
    return Bound(values, role, reference, valid, reason, cut)


def _crowds(points: SweptPoints) -> Iterator[tuple[float, float, Any]]:
    """Yield every distinct (ε₀, n) with the places where it stands, a few at a time."""
    rows, which = np.unique(
        np.stack([points["eps0"], points["n"]], axis=1), axis=0, return_inverse=True
    )
    for i, (eps0, n) in enumerate(rows):
        places = np.flatnonzero(which.ravel() == i)
        for start in range(0, places.size, _AT_ONCE):
            yield float(eps0), float(n), places[start : start + _AT_ONCE]


def exact(
    points: SweptPoints, what: str, variants: Sequence[Clones], context: Context
) -> dict[Clones, Bound]:
    """Return ε at δ, or δ at ε, of the clones' dominating pair, evaluated exactly."""
    eps0, n, at = points["eps0"], points["n"], points["delta" if what == "eps" else "eps"]
    solved = _of_one_crowd if _shared(points) else _of_many_crowds
    found = solved(eps0, n, at, what, variants, context)
    return {
        variant: _bound(f"exact_{variant.value}", values, cut=clones_are_wide(eps0, n, variant))
        for variant, values in zip(variants, found, strict=True)
    }


def _of_one_crowd(
    eps0: FloatArray,
    n: FloatArray,
    at: FloatArray,
    what: str,
    variants: Sequence[Clones],
    context: Context,
) -> FloatArray:
    out = np.empty((len(variants), at.size))
    for row, variant in zip(out, variants, strict=True):
        crowd = float(eps0[-1]), float(n[-1]), variant
        pair = context.memo(("amplification", "pair", *crowd), partial(ClonePair, *crowd))
        for start in range(0, at.size, _AT_ONCE):
            context.check()
            some = slice(start, start + _AT_ONCE)
            row[some] = pair.epsilon(at[some]) if what == "eps" else pair.delta(at[some])
        if what != "eps":
            row[:] = _some(row, at < eps0)
    return out


def _of_many_crowds(
    eps0: FloatArray,
    n: FloatArray,
    at: FloatArray,
    what: str,
    variants: Sequence[Clones],
    context: Context,
) -> FloatArray:
    """Ask each crowd one value; while the x axis' own slider moves, all but its crowd are kept."""
    kept: dict[tuple[object, ...], float] = context.memo(("amplification", "exact"), dict)
    if len(kept) > _KEPT:
        kept.clear()
    rows = [
        (what, variant, *point)
        for variant in variants
        for point in zip(eps0.tolist(), n.tolist(), at.tolist(), strict=True)
    ]
    missing = list(dict.fromkeys(row for row in rows if row not in kept))
    for start in range(0, len(missing), _CROWDS):
        context.check()
        some = missing[start : start + _CROWDS]
        for variant in variants:
            mine = [row for row in some if row[1] is variant]
            if mine:
                local, size, x = np.array([row[2:] for row in mine], float).T
                if what == "eps":
                    values = shuffled_epsilon(local, size, x, variant)
                else:
                    values = _some(shuffled_delta(x, local, size, variant), x < local)
                kept.update(zip(mine, np.atleast_1d(values).tolist(), strict=True))
    return np.array([kept[row] for row in rows]).reshape(len(variants), at.size)


def _some(delta: FloatArray, below: BoolArray) -> FloatArray:
    """Return an upper bound on δ that is not 0 where δ is only too small for a double.

    Below ε₀ no shuffle is (ε, 0)-DP: the messages of a crowd may all be the same.
    """
    return np.where(below, np.maximum(delta, DELTA_MIN), delta)


def lower(points: SweptPoints, what: str, context: Context) -> tuple[Bound, FloatArray]:
    """Return the larger ε at δ, or δ at ε, of shuffled 2RR and 3RR, and both: a row each."""
    pairs = np.empty((2, points.x.size + 1))
    shared = _shared(points)
    for eps0, n, places in _crowds(points):
        context.check()
        for row, kind in zip(pairs, (RandomisedResponseRound, ThreeSymbolRound), strict=True):
            make = partial(kind, eps0, n, n)
            key = ("amplification", kind.__name__, eps0, n)
            crowd: Any = context.memo(key, make) if shared else make()
            if what == "eps":
                row[places] = crowd.epsilon(points["delta"][places])
            else:
                row[places] = crowd.delta(points["eps"][places])
    values = pairs.max(axis=0)
    if what == "eps":
        return _bound("lower", values), pairs
    # Below ε₀ no shuffle has δ = 0; the list of counts ends before so rare ones.
    known = (values > 0) | (points["eps"] >= points["eps0"])
    return _bound("lower", values, known, text.TOO_SMALL), pairs


def lower_cost(points: SweptPoints) -> float:
    """Return about how many counts `lower` lists: it lists some 20√(np) a crowd, at least."""
    if _shared(points):
        return 0.0
    counts = 20 * np.sqrt(points["n"] / (1 + np.exp(points["eps0"])))
    return float(np.sum(np.maximum(counts, _LEAST_COUNTS)))


def _shared(points: SweptPoints) -> bool:
    """Whether all points of a sweep have one crowd."""
    return points.sweep.key in ("delta", "eps")


def closed(points: SweptPoints, what: str) -> Bound:
    """Return the closed form where its condition holds."""
    eps0, n = points["eps0"], points["n"]
    why = text.CLOSED_FAILS
    if what == "eps":
        values = clones_closed_form(eps0, n, points["delta"])
        holds = clones_condition(eps0, n, points["delta"])
    else:
        why += "; or it has no δ below 1 at so small an ε"
        values = np.maximum(clones_closed_delta(points["eps"], eps0, n), DELTA_MIN)
        # δ = 1 says nothing, and no condition is asked for it.
        holds = clones_condition(eps0, n, values) & (values < 1)
    return _bound("closed", values, holds, why)


def closed_delta(eps: float, eps0: float, n: float) -> float:
    """Return the δ of the closed form at one point, whatever its condition says."""
    return max(float(clones_closed_delta(eps, eps0, n)), DELTA_MIN)


def local(points: SweptPoints, what: str) -> Bound:
    """Return what every message has without the shuffle."""
    eps0 = points["eps0"]
    if what == "eps":
        return _bound("local", eps0)
    gap = np.maximum(eps0 - points["eps"], 0.0)
    # (e^ε₀ − e^ε)/(1 + e^ε₀), the divergence of randomised response on its own.
    return _bound("local", -np.expm1(-gap) / (1 + np.exp(-eps0)) + 0.0)


def apart(eps0: float, n: float, context: Context) -> float:
    """Return an upper bound on δ(0) of one shuffle, kept while δ or ε alone changes."""
    found: float = context.memo(
        ("amplification", "total variation", eps0, n),
        lambda: float(clone_total_variation(eps0, n).value),
    )
    return found


def outside(points: SweptPoints) -> Bound:
    """Return ε₀ where the closed form's condition fails."""
    holds: BoolArray = clones_condition(points["eps0"], points["n"], points["delta"])
    return _bound("outside", points["eps0"], ~holds, "condition (8) holds")


def region(points: SweptPoints) -> dict[str, Bound]:
    """Return the largest ε₀ of either closed form's condition."""
    n, delta = points["n"], points["delta"]
    eighth: FloatArray = np.log(n / (16 * np.log(2 / delta)))
    ninth: FloatArray = 0.5 * np.log(n / -np.log(delta))
    return {
        "condition_8": _bound("condition_8", eighth, eighth >= 0, text.NO_EPS0),
        "condition_9": _bound("condition_9", ninth, ninth >= 0, text.NO_EPS0),
    }
