"""The curves of the amplification study at arrays of parameter points."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from explorer.privacy.amplification import (
    ClonePair,
    Clones,
    clones_closed_delta,
    clones_closed_form,
    clones_condition,
)
from explorer.privacy.bounds import BoolArray, Bound, FloatArray
from explorer.privacy.domain import DELTA_MIN
from explorer.privacy.shuffle_rdp import RandomisedResponseRound
from explorer.studies.amplification import words as said
from explorer.studies.model import Context
from explorer.studies.sweeping import SweptPoints

_AT_ONCE = 25
"""Values of ε or δ asked of one crowd between two looks at whether they are still wanted."""


def _bound(key: str, values: Any, valid: Any = None, reason: str = "", cut: Any = None) -> Bound:
    _, role, reference = said.CURVES[key]
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


def _pair(eps0: float, n: float, variant: Clones, context: Context) -> ClonePair:
    made: ClonePair = context.memo(
        ("amplification", "pair", eps0, n, variant.value), partial(ClonePair, eps0, n, variant)
    )
    return made


def exact(points: SweptPoints, what: str, variant: Clones, context: Context) -> Bound:
    """Return ε at δ, or δ at ε, of the clones' dominating pair, evaluated exactly."""
    values, wide = np.empty(points.x.size + 1), np.zeros(points.x.size + 1, bool)
    shared = _shared(points)
    for eps0, n, places in _crowds(points):
        context.check()
        at = points["delta" if what == "eps" else "eps"][places]
        if shared:
            found = _solved(_pair(eps0, n, variant, context), what, at)
        else:
            # While the slider of the x axis moves, all crowds but its own stay.
            found = context.memo(
                ("amplification", "exact", what, eps0, n, variant.value, at.tobytes()),
                partial(_solved_apart, eps0, n, variant, what, at),
            )
        values[places], wide[places] = found
    return _bound(f"exact_{variant.value}", values, cut=wide)


def _some(delta: FloatArray, below: BoolArray) -> FloatArray:
    """Return an upper bound on δ that is not 0 where δ is only too small for a double.

    Below ε₀ no shuffle is (ε, 0)-DP: the messages of a crowd may all be the same.
    """
    return np.where(below, np.maximum(delta, DELTA_MIN), delta)


def _solved(pair: ClonePair, what: str, at: FloatArray) -> tuple[FloatArray, bool]:
    found = pair.epsilon(at) if what == "eps" else _some(pair.delta(at), at < pair.eps0)
    return found, pair.wide


def _solved_apart(
    eps0: float, n: float, variant: Clones, what: str, at: FloatArray
) -> tuple[FloatArray, bool]:
    return _solved(ClonePair(eps0, n, variant), what, at)


def lower(points: SweptPoints, what: str, context: Context) -> Bound:
    """Return ε at δ, or δ at ε, of shuffled binary randomised response."""
    values = np.empty(points.x.size + 1)
    shared = _shared(points)
    for eps0, n, places in _crowds(points):
        context.check()
        make = partial(RandomisedResponseRound, eps0, n, n)
        crowd = context.memo(("amplification", "2RR", eps0, n), make) if shared else make()
        if what == "eps":
            values[places] = crowd.epsilon(points["delta"][places])
        else:
            values[places] = crowd.delta(points["eps"][places])
    return _bound("lower", values)


def lower_cost(points: SweptPoints) -> float:
    """Return about how many counts `lower` lists: it lists some 20√(np) a crowd."""
    if _shared(points):
        return 0.0
    return float(np.sum(20 * np.sqrt(points["n"] / (1 + np.exp(points["eps0"])))))


def _shared(points: SweptPoints) -> bool:
    """Whether all points of a sweep have one crowd."""
    return points.sweep.key in ("delta", "eps")


def closed(points: SweptPoints, what: str) -> Bound:
    """Return the closed form where its condition holds."""
    eps0, n = points["eps0"], points["n"]
    why = said.CLOSED_FAILS
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
        "condition_8": _bound("condition_8", eighth, eighth >= 0, said.NO_EPS0),
        "condition_9": _bound("condition_9", ninth, ninth >= 0, said.NO_EPS0),
    }
